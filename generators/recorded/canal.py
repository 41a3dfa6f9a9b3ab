"""The recordings of Canal: an episode per version of a table for its rows, and one per table for
its statements.

The truth lists statements in order with the rows that they changed; the messages are cut along it.
The server splits the rows of a statement into events of some kilobytes, so a message's number of
rows is taken from the message, and nothing else.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

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
    Table,
)
from generators.recorded import canal_ddl as ddl
from generators.recorded import mysql_truth, store
from generators.recorded.episodes import Episode, Lost, Recording
from generators.sources import mysql

_VOLATILE: Final = re.compile(rb'"(id|es|ts)":\d+')


def _blanked(data: bytes) -> bytes:
    """Without the number of the batch and the two clock times."""
    return _VOLATILE.sub(rb'"\1":0', data)


_OLD_VIRTUAL: Final = Lost(
    "MariaDB 10.2 logs NULL in virtual columns", "canal#virtual-columns", column="b"
)
_UNREADABLE: Final = Lost(
    "bytes that are no GBK become one U+FFFD or two", "canal#connection-charset", column="l1t"
)
_READ: Final = (
    "MariaDB 10.2 logs columns that the statement reads in the before image, though they are not in"
    " the key"
)
_READING: Final = re.compile(r"\bIF\(|ON DUPLICATE|^REPLACE|t_gen SET")


@dataclass(slots=True)
class _Part:
    """An episode in the making."""

    events: list[Event] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    rows: bool = True


def episodes() -> Iterator[Episode]:
    """The episodes of every recording."""
    for recording in store.recordings("canal"):
        yield from _Cut(replace(recording, volatile=_blanked)).episodes()


class _Cut:
    """Cuts one recording along its truth."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.truth: Mapping[str, Any] = store.truth("canal", recording.truth)
        self.messages = store.messages(recording)
        self.bodies = [json.loads(message.value or b"", strict=False) for message in self.messages]
        self.present = {(body["database"], body["table"]) for body in self.bodies}
        self.at = 0
        self.clock = itertools.count(1)
        self.live: dict[ddl.Name, ddl.Spellings] = {}
        self.origins: dict[ddl.Name, ddl.Name] = {}
        self.parts: dict[str, _Part] = {}
        self.versions = {name: list(versions) for name, versions in self.truth["tables"].items()}
        self.old_server = recording.server.startswith("MariaDB 10.2")
        self.filtered = "field" in recording.name

    def episodes(self) -> Iterator[Episode]:
        """The episodes in the order of their first message."""
        for statement in self.truth["statements"]:
            if statement["kind"] == "DDL":
                self._schema(statement)
                self._rows(statement)
            elif "STATEMENT" in statement.get("note", ""):
                self._logged_as_text(statement)
            else:
                self._rows(statement)
        if self.at != len(self.messages):
            body = self.bodies[self.at]
            where = (
                f"{self.recording.name}, message {self.at}: {body['type']}"
                f" {body['database']}.{body['table']} {body['sql']}"
            )
            raise HarnessError(f"the truth of {where} is missing")
        for name, part in self.parts.items():
            if part.messages:
                yield self._episode(name, part)

    def _episode(self, name: str, part: _Part) -> Episode:
        recording, lost = self.recording, []
        table = name.partition("/")[0].partition(".")[2]
        if table == "t_oldtime":
            recording = replace(recording, profile=f"{recording.profile}+old-time")
        if table == "t_gen" and self.old_server:
            lost.append(_OLD_VIRTUAL)
        if table == "t_charset" and "gbk" in recording.profile:
            lost.append(_UNREADABLE)
        reading = name.endswith("/read")
        limits = (*(fact.loss for fact in lost), *([_READ] if reading else []))
        history = History(tuple(part.events))
        spatial = any(
            isinstance(e, RowChange) and any(c.type.name in mysql.SPATIAL for c in e.table.columns)
            for e in part.events
        )
        level = 2 if part.rows and not spatial else 1  # no Spark type holds a spatial value
        return Episode(
            recording,
            name,
            history,
            tuple(part.messages),
            level,
            tuple(lost),
            limits,
            judged=not reading,
        )

    def _take(self, count: int = 1) -> tuple[Message, ...]:
        taken = self.messages[self.at : self.at + count]
        self.at += count
        return taken

    def _next(self, database: str, table: str) -> Mapping[str, Any] | None:
        """The next message's body if it is of that table."""
        body = self.bodies[self.at] if self.at < len(self.bodies) else None
        return (
            body
            if body and (body["database"].strip("`"), body["table"]) == (database, table)
            else None
        )

    def _add(self, name: str, events: Iterable[Event], count: int, rows: bool = False) -> None:
        part = self.parts.setdefault(name, _Part(rows=rows))
        part.events += events
        part.messages += self._take(count)

    def _now(self) -> Instant:
        """An instant of its own second: every event is a commit of its own."""
        return Instant(1_700_000_000_000 + 1000 * next(self.clock))

    # ---- statements

    def _schema(self, statement: Mapping[str, Any]) -> None:
        parsed = ddl.parse(statement["sql"], statement["default_db"] or "")
        if parsed is None or statement.get("error"):
            return
        if not self._exists_already(parsed):
            ddl.apply(self.live, self.origins, parsed)
        body, sql = self._next(parsed.database, parsed.table), self._sql(parsed, statement)
        if body is None or body["sql"] != sql:
            return
        event = SchemaChange(self._now(), parsed.action, sql, parsed.database, parsed.table)
        self._add(f"ddl/{parsed.database}{'.' if parsed.table else ''}{parsed.table}", [event], 1)

    def _exists_already(self, parsed: ddl.Statement) -> bool:
        return (
            "if not exists" in parsed.sql.lower() and (parsed.database, parsed.table) in self.live
        )

    def _sql(self, parsed: ddl.Statement, statement: Mapping[str, Any]) -> str:
        """The text that the server logs: its own for DROP TABLE and CREATE ... SELECT."""
        if parsed.action == "drop table":
            return parsed.server_text
        if re.search(r"\bas select\b", parsed.sql, re.IGNORECASE):
            columns = self._version(parsed.database, parsed.table, statement["s"])["show_create"]
            return re.sub(r"\n\) .*$", "\n)", columns, flags=re.DOTALL)
        return parsed.sql

    def _logged_as_text(self, statement: Mapping[str, Any]) -> None:
        kind = statement["kind"].lower()
        if kind == "replace":
            return  # Canal publishes nothing for it
        for sql in _SETTINGS.get(statement["s"], ()):
            self._add("statements", [SourceStatement(self._now(), "rows-query", sql)], 1)
        if statement["s"] == _RANDOM:
            self._take()  # the seeds of RAND() are not in the truth
        change = statement["changes"][0]
        event = SourceStatement(
            self._now(), f"statement-{kind}", statement["sql"], change["db"], change["table"]
        )
        self._add("statements", [event], 1)

    def _rows(self, statement: Mapping[str, Any]) -> None:
        note = statement.get("note", "")
        if "annotate" in note:
            self._add(
                "statements", [SourceStatement(self._now(), "rows-query", statement["sql"])], 1
            )
        changes = [
            c for c in statement["changes"] if c["rows"] and (c["db"], c["table"]) in self.present
        ]
        pending = {(c["db"], c["table"]): c for c in changes}
        while pending:
            body = self.bodies[self.at] if self.at < len(self.bodies) else {}
            change = pending.pop((body.get("database", ""), body.get("table", "")), None)
            if change is None:
                raise HarnessError(
                    f"{self.recording.name}, message {self.at}: rows of {sorted(pending)} expected"
                )
            self._table_rows(statement, change)
        if "XA" in note and not self.old_server:
            self._transactions(statement)

    def _transactions(self, statement: Mapping[str, Any]) -> None:
        """The end of the XA transaction, and a second one that is rolled back: its row is
        published, and is in no truth.
        """
        self._add("xa", [SourceStatement(self._now(), "xa-commit", "XA COMMIT X'7831',X'',1")], 1)
        change = statement["changes"][0]
        table, _ = self._table(change["db"], change["table"], statement["s"])
        assert table is not None
        texts: dict[str, str | None] = dict.fromkeys(c.name for c in table.columns)
        row = mysql_truth.row(table, {**texts, "id": "7", "a": "xa rolled "})
        self._add("xa", [RowChange(self._now(), table, Op.INSERT, (RowImages(None, row),))], 1)
        self._add(
            "xa", [SourceStatement(self._now(), "xa-rollback", "XA ROLLBACK X'7832',X'',1")], 1
        )

    # ---- rows

    def _version(self, database: str, table: str, s: int) -> Mapping[str, Any]:
        versions: Sequence[Mapping[str, Any]] = self.versions.get(f"{database}.{table}", ())
        known = [version for version in versions if version["as_of_s"] <= s]
        if not known:
            source = self.origins.get((database, table))
            assert source is not None, (database, table)
            return self._version(*source, s)
        return known[-1]

    def _table(self, database: str, name: str, s: int) -> tuple[Table | None, int]:
        """The table as its statements spelled it, and its version; None if the model lacks one of
        its types.
        """
        version = self._version(database, name, s)
        try:
            table = mysql_truth.table(version["show_create"], database, name)
        except mysql_truth.Unsupported:
            return None, 0
        spelled = self.live.get((database, name), {})
        shown = {column["name"]: column["column_type"] for column in version["columns"]}
        columns = tuple(
            replace(c, declared=spelled.get(c.name) or ddl.own_spelling(c, shown[c.name]))
            for c in table.columns
        )
        if self.filtered:
            columns = tuple(c for c in columns if c.name in ("id", "a"))
        return replace(table, columns=columns), version["as_of_s"]

    def _unnamed(self, table: Table, statement: Mapping[str, Any]) -> frozenset[str]:
        """The columns that an INSERT does not name and the server does not log then: under MINIMAL
        all but numbers that the server gives and stored columns, under NOBLOB large ones.
        """
        listed = re.match(r"(?:INSERT|REPLACE) INTO \S+ ?\(([^)]*)\)", statement["sql"])
        options = self.recording.profile.split("+")
        if listed is None or not {"minimal", "noblob"} & set(options):
            return frozenset()
        named = {name.strip("` ") for name in listed[1].split(",")}
        shown = self._version(table.database, table.name, statement["s"])["show_create"]
        given = set(re.findall(r"`(\w+)` [^\n]* AUTO_INCREMENT", shown)) | {
            c.name for c in table.columns if c.generated == "stored"
        }
        large = {c.name for c in table.columns if c.type.name.endswith(("text", "blob"))}
        left = {c.name for c in table.columns} - named - given
        return frozenset(left & large if "noblob" in options else left)

    def _table_rows(self, statement: Mapping[str, Any], change: Mapping[str, Any]) -> None:
        database, name = change["db"], change["table"]
        table, version = self._table(database, name, statement["s"])
        many = len(self.versions.get(f"{database}.{name}", ())) > 1
        episode = f"{database}.{name}" + (f"/{version}" if many else "")
        if (
            self.old_server
            and "minimal" in self.recording.profile
            and _READING.search(statement["sql"])
        ):
            episode += "/read"
        unnamed = self._unnamed(table, statement) if table else frozenset()
        rows = [
            _images(table, row, unnamed) if table else (_op(row), None) for row in change["rows"]
        ]
        for op, run in itertools.groupby(rows, key=lambda pair: pair[0]):
            images = [pair[1] for pair in run]
            while images:
                body = self._next(database, name)
                if body is None or body["type"] != op or not body["data"]:
                    raise HarnessError(
                        f"{self.recording.name}, message {self.at}: {op} of {database}.{name}"
                        " expected"
                    )
                here, images = images[: len(body["data"])], images[len(body["data"]) :]
                if table is None:
                    self._take()
                else:
                    self._add(
                        episode,
                        [RowChange(self._now(), table, op, tuple(filter(None, here)))],
                        1,
                        rows=True,
                    )


def _op(row: Mapping[str, Any]) -> Op:
    return Op.INSERT if row["before"] is None else Op.DELETE if row["after"] is None else Op.UPDATE


def _images(table: Table, row: Mapping[str, Any], unnamed: frozenset[str]) -> tuple[Op, RowImages]:
    def side(name: str) -> Row | None:
        return (
            None if row[name] is None else mysql_truth.row(table, row[name], row.get(f"{name}_num"))
        )

    before, after = (
        side("before"),
        side("after"),
    )  # a row that an INSERT or a REPLACE updates has both
    if after is not None:
        after = {name: value for name, value in after.items() if name not in unnamed}
    return _op(row), RowImages(before, after)


_SETTINGS: Final[Mapping[int, tuple[str, ...]]] = {
    9: ("SET INSERT_ID = 1",),
    10: ("SET @uv := 'user var'",),
}
"""What the server logs before a statement, by the statement's number, in the recordings of
statements.
"""

_RANDOM: Final = 11
