"""The recordings of Canal: an episode for the rows of each version of a table, and one for the
statements of each table.

The truth lists the statements in order, with the rows that they changed; the messages are split in
the same order. The server splits a statement's rows into events of some kilobytes. So a message
says how many rows it has, and nothing else is taken from messages.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from generators.errors import HarnessError
from generators.model import (
    Event,
    History,
    Instant,
    Message,
    Op,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    SourceStatement,
    StatementFamily,
    Table,
)
from generators.recorded import canal_ddl as ddl
from generators.recorded import mysql_truth, store
from generators.recorded.episodes import Episode, Lost, Recording
from generators.sources import mysql

_VOLATILE: Final = re.compile(rb'"(id|es|ts)":\d+')
"""Members of a message that differ from run to run."""


def _blank_volatile(data: bytes) -> bytes:
    """A message without the number of its batch and its two clock times."""
    return _VOLATILE.sub(rb'"\1":0', data)


_OLD_VIRTUAL: Final = Lost(
    "MariaDB 10.2 logs NULL in virtual columns", "canal#virtual-columns", column="b"
)
"""The values that MariaDB 10.2 loses, in the table of generated columns."""
_UNREADABLE: Final = Lost(
    "bytes that are no GBK become one U+FFFD or two", "canal#connection-charset", column="l1t"
)
"""The values that a connection in GBK loses, in the table of character sets."""
_READ: Final = (
    "MariaDB 10.2 logs columns that the statement reads in the before image, though they are not in"
    " the key"
)
"""Why messages of the episodes `.../read` differ from ours."""
_READING: Final = re.compile(r"\bIF\(|ON DUPLICATE|^REPLACE|t_gen SET")
"""Statements that read columns of the row which they change."""


class _ChangedRow(NamedTuple):
    """A row that a statement changed: the operation and the row's images, None if the model lacks a
    type of its table.
    """

    op: Op
    images: RowImages | None


@dataclass(slots=True)
class _EpisodeDraft:
    """The parts of an episode, while it is collected."""

    events: list[Event] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    has_rows: bool = True


def episodes() -> Iterator[Episode]:
    """The episodes of every recording of Canal. Each is a history made of the truth (what SQL
    showed at the source), with its recorded messages. `volatile` blanks what differs from run to
    run in a message's bytes.
    """
    for recording in store.recordings("canal"):
        yield from _RecordingCutter(replace(recording, volatile=_blank_volatile)).episodes()


class _RecordingCutter:
    """Splits one recording into episodes, statement by statement of its truth (what SQL showed).
    `bodies` are the messages as JSON, `position` the number of the next message that no episode has
    yet. `present` are the tables that have messages. `live` has how the statements so far spelled
    the types of each table's columns, `origins` the table from which each was copied or renamed.
    `versions` has the truth's descriptions of each table; `filtered` says that Canal was set to
    publish some columns alone.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.truth: Mapping[str, Any] = store.truth("canal", recording.truth)
        self.messages = store.messages(recording)
        self.bodies = [json.loads(message.value or b"", strict=False) for message in self.messages]
        self.present = {(body["database"], body["table"]) for body in self.bodies}
        self.position = 0
        self.clock = itertools.count(1)
        self.live: dict[ddl.TableName, ddl.Spellings] = {}
        self.origins: dict[ddl.TableName, ddl.TableName] = {}
        self.drafts: dict[str, _EpisodeDraft] = {}
        self.versions = {name: list(versions) for name, versions in self.truth["tables"].items()}
        self.old_server = recording.server.startswith("MariaDB 10.2")
        self.filtered = "field" in recording.name

    def episodes(self) -> Iterator[Episode]:
        """The episodes of the recording, in the order of their first message. Raises HarnessError
        if messages are left that no statement of the truth explains.
        """
        # The methods named _cut_* take the statement's messages from `self.position` on. A note
        # with "STATEMENT" marks a row change that the binlog has as its SQL text, not as rows. A
        # DDL statement may change rows, too (CREATE ... SELECT).
        for statement in self.truth["statements"]:
            if statement["kind"] == "DDL":
                self._cut_ddl(statement)
                self._cut_rows(statement)
            elif "STATEMENT" in statement.get("note", ""):
                self._cut_statement_logged_as_text(statement)
            else:
                self._cut_rows(statement)
        if self.position != len(self.messages):
            body = self.bodies[self.position]
            where = (
                f"{self.recording.name}, message {self.position}: {body['type']}"
                f" {body['database']}.{body['table']} {body['sql']}"
            )
            raise HarnessError(f"the truth of {where} is missing")
        for name, draft in self.drafts.items():
            if draft.messages:
                yield self._make_episode(name, draft)

    def _make_episode(self, name: str, draft: _EpisodeDraft) -> Episode:
        """The episode of a draft, which is named after its table (`database.table`, then what
        follows a slash). Which values the product loses, and what explains differing bytes, follow
        from the recording and the table.
        """
        recording = self.recording
        lost: list[Lost] = []
        table = name.partition("/")[0].partition(".")[2]
        if table == "t_oldtime":
            recording = replace(recording, profile=f"{recording.profile}+old-time")
        if table == "t_gen" and self.old_server:
            lost.append(_OLD_VIRTUAL)
        if table == "t_charset" and "gbk" in recording.profile:
            lost.append(_UNREADABLE)
        limits = [fact.loss for fact in lost]
        logs_read_columns = name.endswith("/read")
        if logs_read_columns:
            limits.append(_READ)
        history = History(tuple(draft.events))
        is_spatial = any(isinstance(e, RowChange) and _is_spatial(e.table) for e in draft.events)
        level = 2 if draft.has_rows and not is_spatial else 1  # no Spark type holds a spatial value
        return Episode(
            recording,
            name,
            history,
            tuple(draft.messages),
            level,
            tuple(lost),
            tuple(limits),
            judged=not logs_read_columns,
        )

    def _take_messages(self, count: int = 1) -> tuple[Message, ...]:
        """Takes the next `count` messages of the recording, which no other episode then gets."""
        messages = self.messages[self.position : self.position + count]
        self.position += count
        return messages

    def _next_body(self, database: str, table: str) -> Mapping[str, Any] | None:
        """The JSON of the recording's next message, which stays to be taken; None if there is none,
        or if it is not of this table.
        """
        body = self.bodies[self.position] if self.position < len(self.bodies) else None
        return (
            body
            if body and (body["database"].strip("`"), body["table"]) == (database, table)
            else None
        )

    def _add_messages(
        self, name: str, events: Iterable[Event], count: int, has_rows: bool = False
    ) -> None:
        """Adds these events, and the next `count` messages of the recording, to the draft of the
        episode `name` (a history made from the truth, with its recorded messages). If that draft is
        new, `has_rows` says whether its messages hold rows.
        """
        draft = self.drafts.setdefault(name, _EpisodeDraft(has_rows=has_rows))
        draft.events += events
        draft.messages += self._take_messages(count)

    def _next_instant(self) -> Instant:
        """A new commit time, a second after the last one, because each event of an episode is a
        commit of its own.
        """
        return Instant(1_700_000_000_000 + 1000 * next(self.clock))

    # ---- statements

    def _cut_ddl(self, statement: Mapping[str, Any]) -> None:
        """Adds the message of a DDL statement to the episode of the statement's table, if Canal
        published one. The statement's effect on the spelling of column types is noted in any case.
        """
        parsed = ddl.parse_statement(statement["sql"], statement["default_db"] or "")
        if parsed is None or statement.get("error"):
            return
        if not self._exists_already(parsed):
            ddl.apply_statement(self.live, self.origins, parsed)
        body = self._next_body(parsed.database, parsed.table)
        sql = self._logged_sql(parsed, statement)
        if body is None or body["sql"] != sql:
            return
        event = SchemaChange(
            self._next_instant(), parsed.action, sql, parsed.database, parsed.table
        )
        self._add_messages(
            f"ddl/{parsed.database}{'.' if parsed.table else ''}{parsed.table}", [event], count=1
        )

    def _exists_already(self, parsed: ddl.Statement) -> bool:
        """Whether a statement does nothing: CREATE ... IF NOT EXISTS of a table that exists."""
        return (
            "if not exists" in parsed.sql.lower() and (parsed.database, parsed.table) in self.live
        )

    def _logged_sql(self, parsed: ddl.Statement, statement: Mapping[str, Any]) -> str:
        """The text of a statement in the server's log. For DROP TABLE and CREATE ... SELECT the
        server writes its own text.
        """
        if parsed.action == "drop table":
            return parsed.server_text
        if re.search(r"\bas select\b", parsed.sql, re.IGNORECASE):
            columns = self._table_version(parsed.database, parsed.table, statement["s"])[
                "show_create"
            ]
            return re.sub(r"\n\) .*$", "\n)", columns, flags=re.DOTALL)
        return parsed.sql

    def _cut_statement_logged_as_text(self, statement: Mapping[str, Any]) -> None:
        """Adds the messages of an INSERT, UPDATE or DELETE that the binlog has as text, not as
        rows, to the episode of such statements.
        """
        kind = statement["kind"].lower()
        if kind == "replace":
            return  # Canal publishes nothing for it
        for sql in _SETTINGS.get(statement["s"], ()):
            self._add_messages(
                "statements", [SourceStatement(self._next_instant(), "rows-query", sql)], count=1
            )
        if statement["s"] == _RANDOM:
            self._take_messages()  # the seeds of RAND() are not in the truth
        change = statement["changes"][0]
        event = SourceStatement(
            self._next_instant(),
            _FAMILIES[kind],
            statement["sql"],
            change["db"],
            change["table"],
        )
        self._add_messages("statements", [event], count=1)

    def _cut_rows(self, statement: Mapping[str, Any]) -> None:
        """Puts the messages of the rows that a statement changed into the episodes of their tables,
        table by table in the order in which the messages were published.
        """
        # The truth's `note` says how a statement was run. With annotations the server logs the
        # statement's text before its rows.
        note = statement.get("note", "")
        if "annotate" in note:
            self._add_messages(
                "statements",
                [SourceStatement(self._next_instant(), "rows-query", statement["sql"])],
                count=1,
            )
        changes = [
            c for c in statement["changes"] if c["rows"] and (c["db"], c["table"]) in self.present
        ]
        pending = {(c["db"], c["table"]): c for c in changes}
        while pending:
            body = self.bodies[self.position] if self.position < len(self.bodies) else {}
            change = pending.pop((body.get("database", ""), body.get("table", "")), None)
            if change is None:
                raise HarnessError(
                    f"{self.recording.name}, message {self.position}: rows of {sorted(pending)}"
                    " expected"
                )
            self._cut_table_rows(statement, change)
        if "XA" in note and not self.old_server:
            self._cut_ends_of_xa_transactions(statement)

    def _cut_ends_of_xa_transactions(self, statement: Mapping[str, Any]) -> None:
        """Adds the messages at the end of two XA transactions to the episode `xa`: the COMMIT of
        the first, named x1, then the row and the ROLLBACK of the second, named x2. Canal publishes
        the row of a transaction that is rolled back, although SQL never shows it.
        """
        self._add_messages(
            "xa",
            [SourceStatement(self._next_instant(), "xa-commit", "XA COMMIT X'7831',X'',1")],
            count=1,
        )
        change = statement["changes"][0]
        table, _ = self._table_at(change["db"], change["table"], statement["s"])
        assert table is not None
        null_texts: dict[str, str | None] = dict.fromkeys(c.name for c in table.columns)
        # The text that the INSERT gave, cut to the ten characters of the column.
        cells = mysql_truth.row_cells(table, {**null_texts, "id": "7", "a": "xa rolled "})
        self._add_messages(
            "xa",
            [RowChange(self._next_instant(), table, Op.INSERT, (RowImages(None, cells),))],
            count=1,
        )
        self._add_messages(
            "xa",
            [SourceStatement(self._next_instant(), "xa-rollback", "XA ROLLBACK X'7832',X'',1")],
            count=1,
        )

    # ---- rows

    def _table_version(self, database: str, table: str, statement_number: int) -> Mapping[str, Any]:
        """The last description of a table that the truth (what SQL showed) has at or before the
        statement of that number. A table without one has the description of the table from which it
        was copied or renamed.
        """
        versions: Sequence[Mapping[str, Any]] = self.versions.get(f"{database}.{table}", ())
        earlier_versions = [
            version for version in versions if version["as_of_s"] <= statement_number
        ]
        if not earlier_versions:
            source = self.origins.get((database, table))
            assert source is not None, (database, table)
            return self._table_version(*source, statement_number)
        return earlier_versions[-1]

    def _table_at(
        self, database: str, name: str, statement_number: int
    ) -> tuple[Table | None, int]:
        """The table after the statement of that number, with its types spelled as its own
        statements spelled them, and the number of the statement since which the truth shows it so.
        The table is None, and the number 0, if the model lacks one of its types.
        """
        version = self._table_version(database, name, statement_number)
        try:
            table = mysql_truth.parse_table(version["show_create"], database, name)
        except mysql_truth.Unsupported:
            return None, 0
        spellings = self.live.get((database, name), {})
        shown_types = {column["name"]: column["column_type"] for column in version["columns"]}
        columns = tuple(
            replace(
                c, declared=spellings.get(c.name) or ddl.display_spelling(c, shown_types[c.name])
            )
            for c in table.columns
        )
        if self.filtered:
            columns = tuple(c for c in columns if c.name in ("id", "a"))
        return replace(table, columns=columns), version["as_of_s"]

    def _unlogged_columns(self, table: Table, statement: Mapping[str, Any]) -> frozenset[str]:
        """The columns that an INSERT does not name and that the server then does not log. With the
        row image MINIMAL that is every column but stored ones and numbers that the server assigns;
        with NOBLOB only large columns.
        """
        column_list = re.match(r"(?:INSERT|REPLACE) INTO \S+ ?\(([^)]*)\)", statement["sql"])
        options = self.recording.profile.split("+")
        if column_list is None or not {"minimal", "noblob"} & set(options):
            return frozenset()
        named_columns = {name.strip("` ") for name in column_list[1].split(",")}
        show_create = self._table_version(table.database, table.name, statement["s"])["show_create"]
        filled_by_server = set(re.findall(r"`(\w+)` [^\n]* AUTO_INCREMENT", show_create)) | {
            c.name for c in table.columns if c.generated == "stored"
        }
        large_columns = {c.name for c in table.columns if c.type.name.endswith(("text", "blob"))}
        unlogged = {c.name for c in table.columns} - named_columns - filled_by_server
        return frozenset(unlogged & large_columns if "noblob" in options else unlogged)

    def _cut_table_rows(self, statement: Mapping[str, Any], change: Mapping[str, Any]) -> None:
        """Divides the rows that a statement changed in one table into row changes, one for each of
        the next messages of the recording, and adds both to the table's episode. Raises
        HarnessError if the next message is not of this table and operation.
        """
        database, name = change["db"], change["table"]
        table, version = self._table_at(database, name, statement["s"])
        has_versions = len(self.versions.get(f"{database}.{name}", ())) > 1
        episode = f"{database}.{name}" + (f"/{version}" if has_versions else "")
        if (
            self.old_server
            and "minimal" in self.recording.profile
            and _READING.search(statement["sql"])
        ):
            episode += "/read"
        unnamed = self._unlogged_columns(table, statement) if table else frozenset()
        changed_rows = [
            _ChangedRow(
                _row_op(truth_row), _row_images(table, truth_row, unnamed) if table else None
            )
            for truth_row in change["rows"]
        ]
        for op, run in itertools.groupby(changed_rows, key=lambda changed_row: changed_row.op):
            images = [changed_row.images for changed_row in run]
            while images:
                body = self._next_body(database, name)
                if body is None or body["type"] != op or not body["data"]:
                    raise HarnessError(
                        f"{self.recording.name}, message {self.position}: {op} of {database}.{name}"
                        " expected"
                    )
                published_images, images = images[: len(body["data"])], images[len(body["data"]) :]
                if table is None:
                    self._take_messages()
                else:
                    self._add_messages(
                        episode,
                        [
                            RowChange(
                                self._next_instant(),
                                table,
                                op,
                                tuple(filter(None, published_images)),
                            )
                        ],
                        1,
                        has_rows=True,
                    )


def _is_spatial(table: Table) -> bool:
    """Whether a column of the table has a spatial type."""
    return any(column.type.name in mysql.SPATIAL for column in table.columns)


def _row_op(truth_row: Mapping[str, Any]) -> Op:
    """The operation of a row in the truth (what SQL showed at the source): INSERT without a row
    before, DELETE without one after, else UPDATE.
    """
    if truth_row["before"] is None:
        return Op.INSERT
    return Op.DELETE if truth_row["after"] is None else Op.UPDATE


def _row_images(table: Table, truth_row: Mapping[str, Any], unnamed: frozenset[str]) -> RowImages:
    """The images of a row in the truth (what SQL showed at the source). The after image lacks the
    columns `unnamed`, which an INSERT does not name and the server does not log.
    """

    def side(name: str) -> Row | None:
        """The row before or after the change (`name` is "before" or "after"), from the texts that
        SQL showed, as values of the table's columns; None if there is none. The member `NAME_num`
        of the truth has ENUM's index or SET's mask, by column.
        """
        return (
            None
            if truth_row[name] is None
            else mysql_truth.row_cells(table, truth_row[name], truth_row.get(f"{name}_num"))
        )

    # A row that an INSERT or a REPLACE updates has both.
    before = side("before")
    after = side("after")
    if after is not None:
        after = {name: value for name, value in after.items() if name not in unnamed}
    return RowImages(before, after)


_SETTINGS: Final[Mapping[int, tuple[str, ...]]] = {
    9: ("SET INSERT_ID = 1",),
    10: ("SET @uv := 'user var'",),
}
"""What the server logs before a statement, by the statement's number, in the recordings of
statements.
"""

_FAMILIES: Final[Mapping[str, StatementFamily]] = {
    "insert": "statement-insert",
    "update": "statement-update",
    "delete": "statement-delete",
}
"""The family of a statement that the binlog has as text, by its kind in the truth."""
_RANDOM: Final = 11
"""The number of the statement before which the server logs the seeds of RAND()."""
