"""Episodes of Debezium's recordings whose messages hold no row: statements, transaction marks,
heartbeats, logical messages.

The truth has the SQL statements in order. A statement's message is found by the statement's text;
statements that the server logs in other words are left out. The statements of a snapshot are
written by the connector itself, for the tables that it found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from generators.families import confluent
from generators.model import (
    Event,
    Heartbeat,
    History,
    LogicalMessage,
    Message,
    SchemaChange,
    Table,
    TransactionMark,
)
from generators.recorded import store
from generators.recorded.episodes import Episode, Recording
from generators.sources.boundaries import START
from generators.sources.mysql import quote

_TEXTUAL: Final = re.compile(r"pg_logical_emit_message\(\w+, '([^']*)', '([^']*)'\)")
"""A call that makes a logical message of a text; the groups are its prefix and its content."""
_BINARY: Final = re.compile(r"pg_logical_emit_message\(\w+, '([^']*)', '\\x([0-9a-f]*)'::bytea\)")
"""A call that makes a logical message of bytes; the groups are its prefix and its hex digits."""
_ACTIONS: Final = (
    (re.compile(r"(CREATE|DROP) (DATABASE|TABLE|INDEX)\b"), ""),
    (re.compile(r"RENAME TABLE"), "rename table"),
    (re.compile(r"ALTER TABLE"), "modify column"),
)
"""How a statement begins, and its action; "" is for the two words that matched."""
_RENAMES: Final = re.compile(r"RENAME TABLE (?:\w+\.)?(\w+) TO ")
"""The beginning of a RENAME TABLE; the group is the table's old name."""
DATABASE: Final = "inv"
"""The current database of the session that ran the statements."""
UNREAD: Final = ("t_maria", "t_maria4", "t_mcompressed")
"""Tables whose statements the connector's parser does not read (UUID, INET4, COMPRESSED)."""
SETUP: Final = 6
"""Transactions of the recorded database before the truth begins, of which the recording has both
marks.
"""


def logical_messages(recording: Recording, messages: Sequence[Message]) -> Iterator[Episode]:
    """One episode of all messages that PostgreSQL's pg_logical_emit_message caused, in order; none
    without such messages.
    """
    events: list[Event] = []
    for statement in _statements("postgresql"):
        if text_match := _TEXTUAL.search(statement["sql"]):
            prefix, content = text_match.groups()
            in_transaction = "(true," in statement["sql"]
            events.append(LogicalMessage(START, prefix, content.encode(), DATABASE, in_transaction))
        elif binary_match := _BINARY.search(statement["sql"]):
            prefix, digits = binary_match.groups()
            events.append(LogicalMessage(START, prefix, bytes.fromhex(digits), DATABASE))
    if messages:
        yield Episode(recording, "logical-messages", History(tuple(events)), tuple(messages))


def heartbeats(recording: Recording, messages: Sequence[Message]) -> Iterator[Episode]:
    """One episode of all heartbeats of a recording, which are equal to each other; none without
    heartbeats.
    """
    if messages:
        yield Episode(
            recording,
            "heartbeats",
            History(tuple(Heartbeat(START) for _ in messages)),
            tuple(messages),
        )


def transactions(
    recording: Recording, messages: Sequence[Message], tables: frozenset[str]
) -> Iterator[Episode]:
    """One episode of PostgreSQL's transaction marks, BEGIN and COMMIT, for the transactions that
    changed one of `tables`; none without messages. The recording has both marks of its first SETUP
    transactions. Of later ones it has BEGIN alone: their COMMITs are `unrecorded` in the episode.
    """
    if not messages:
        return
    marks: list[TransactionMark] = []
    for number in range(SETUP):
        marks.append(TransactionMark(START, "BEGIN", str(number)))
        marks.append(TransactionMark(START, "COMMIT", str(number)))
    setup_mark_count = len(marks)
    inside = False
    for statement in _statements("postgresql"):
        if statement["kind"] == "note":
            inside = statement["sql"] == "BEGIN" or (inside and statement["sql"] != "COMMIT")
            begins = statement["sql"] == "BEGIN"
        else:
            begins = not inside and _is_transaction(statement, tables)
        if begins:
            marks += [TransactionMark(START, mark, str(len(marks))) for mark in ("BEGIN", "COMMIT")]
    unrecorded = frozenset(range(setup_mark_count + 1, len(marks), 2))
    yield Episode(
        recording, "transactions", History(tuple(marks)), tuple(messages), unrecorded=unrecorded
    )


def _is_transaction(statement: Mapping[str, Any], tables: frozenset[str]) -> bool:
    """Whether a statement outside of BEGIN and COMMIT is a transaction of its own, whose BEGIN mark
    is recorded: it changes rows of one of these tables, truncates any table, or sends a logical
    message that belongs to a transaction.
    """
    match statement["kind"]:
        case "dml":
            return statement["table"] in tables
        case "message":
            return "(true," in statement["sql"]
        case kind:
            return bool(kind == "truncate")


def _action(sql: str) -> str:
    """The kind of a MySQL statement as events name it, such as `create table`; "" for a statement
    whose message is not compared with ours. Any ALTER TABLE counts as `modify column`.
    """
    # A pattern without a name of its own has the two words that name the action.
    return next(
        (
            name or f"{m[1]} {m[2]}".lower()
            for pattern, name in _ACTIONS
            if (m := pattern.match(sql))
        ),
        "",
    )


def schema_change(sql: str, database: str, table: str, after: Table | None) -> SchemaChange:
    """The event of a MySQL statement. `database` and `table` are the names in its message, `after`
    is the table after it, None where it is not known.
    """
    renamed = _RENAMES.match(sql)
    return SchemaChange(
        START,
        _action(sql),
        sql,
        database,
        table,
        None,
        after,
        old_name=renamed[1] if renamed else None,
    )


def statements(
    recording: Recording, messages: Sequence[Message], versions: Mapping[int, Table]
) -> Iterator[Episode]:
    """An episode for each database, with its MySQL statements in the order of the binlog.
    `versions` has the table after each statement, by the statement's number.
    """
    by_database: dict[str, tuple[list[Event], list[Message]]] = {}
    message_by_sql = {_statement_text(message): message for message in reversed(messages)}
    for number, entry in enumerate(_statements("mariadb")):
        sql = entry["sql"]
        message = message_by_sql.get(sql)
        if message is None or not _action(sql):
            continue
        database, _, table = entry.get("table", sql.split()[2]).partition(".")
        after = None if table in UNREAD else versions.get(number)
        if table and after is None and table not in UNREAD:
            continue  # a table with a type that the model does not have
        database_key = DATABASE if _action(sql).endswith("index") else database
        event = replace(
            schema_change(sql, database_key, after.name if after else table, after), before=after
        )
        events, statement_messages = by_database.setdefault(database_key, ([], []))
        events.append(event)
        statement_messages.append(message)
    for database, (events, statement_messages) in by_database.items():
        yield Episode(
            _without_rows(recording),
            f"statements-{database}",
            History(tuple(events)),
            tuple(statement_messages),
        )


def snapshot_statements(
    recording: Recording, messages: Sequence[Message], tables: Mapping[str, Table | None]
) -> Iterator[Episode]:
    """One episode of the statements that a snapshot writes for the tables that it found. A table is
    None if the connector's parser cannot read it.
    """
    message_by_sql = {_statement_text(message): message for message in messages}
    quoted_database = quote(DATABASE)
    events = [
        SchemaChange(
            START, "set", "SET character_set_server=utf8mb4, collation_server=utf8mb4_bin", ""
        )
    ]
    for name, table in tables.items():
        dropped = table or Table(DATABASE, name, ())
        events.append(
            SchemaChange(
                START,
                "drop table",
                f"DROP TABLE IF EXISTS {quoted_database}.{quote(name)}",
                DATABASE,
                name,
                dropped,
            )
        )
    events.append(
        SchemaChange(START, "drop database", f"DROP DATABASE IF EXISTS {quoted_database}", DATABASE)
    )
    create_database = (
        f"CREATE DATABASE {quoted_database} CHARSET utf8mb4 COLLATE utf8mb4_general_ci"
    )
    events += [
        SchemaChange(START, "create database", create_database, DATABASE),
        SchemaChange(START, "use", f"USE {quoted_database}", DATABASE),
    ]
    for name, table in tables.items():
        versions = store.truth("debezium")["mariadb"]["tables"][f"{DATABASE}.{name}"]["versions"]
        events.append(
            SchemaChange(
                START, "create table", versions[-1]["show_create"], DATABASE, name, None, table
            )
        )
    published = [event for event in events if event.sql in message_by_sql]
    yield Episode(
        recording,
        "statements",
        History(tuple(published)),
        tuple(message_by_sql[event.sql] for event in published),
        writer_gaps=(SNAPSHOT_STATEMENTS,),
    )


SNAPSHOT_STATEMENTS: Final = (
    "A statement that a snapshot makes is marked as one, without a place in the log: our writer has"
    " statements of the log alone."
)
"""What our writer cannot do yet for the messages of a snapshot's statements."""


def _without_rows(recording: Recording) -> Recording:
    """The recording with the member `row` blanked, too: in the message of a statement it is the row
    number that the connector had at the row change before it.
    """
    blank = recording.volatile
    return replace(recording, volatile=lambda data: re.sub(rb'"row":\d+', b'"row":0', blank(data)))


def _statements(server: str) -> Sequence[Mapping[str, Any]]:
    """The SQL statements that ran on a server while Debezium's recordings were made, in order."""
    listed: Sequence[Mapping[str, Any]] = store.truth("debezium")[server]["statements"]
    return listed


def _statement_text(message: Message) -> str:
    """The SQL in the message of a schema change: its member `ddl`, which stands in `payload` if the
    message has its schema with it. An Avro message is read as JSON first (`confluent.readable`).
    """
    body = json.loads(confluent.readable(message.value or b"{}"))
    return str(body.get("payload", body)["ddl"])
