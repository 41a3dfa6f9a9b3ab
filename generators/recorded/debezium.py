"""Debezium's recordings as episodes: the life of one version of a table in one recording.

Connectors 3.5.0 (MariaDB, PostgreSQL) and 1.4.0 (MySQL's on MariaDB, PostgreSQL) read real
databases; keys and values are those of Kafka Connect's JsonConverter, or Avro of Apicurio's
converter in Confluent's framing. A snapshot's rows are those at the end of the truth. Messages are
given to the truth's events by their table and their order: an insert or update is a message, a
delete one and a tombstone, an update of the key three.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, NamedTuple

from generators.families import confluent
from generators.model import (
    Column,
    Default,
    History,
    Instant,
    Logical,
    Message,
    Op,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    Table,
    Value,
    ZeroDate,
)
from generators.recorded import debezium_control, mysql_truth, postgresql_truth, store
from generators.recorded.episodes import Episode, Recording
from generators.recorded.mysql_truth import Unsupported
from generators.sources import postgresql
from generators.sources.boundaries import START, slug
from generators.sources.mysql import SPATIAL, wall

PRODUCT: Final = "debezium"
ENUMS: Final[Mapping[str, Sequence[str]]] = {"mood": ("sad", "ok", "ha,ppy", "it's")}
DOMAINS: Final[Mapping[str, str]] = {
    "posint": "integer",
    "money2": "numeric(10,2)",
    "pair": "composite",
}
"""PostgreSQL's types of the recorded database, which the truth names and does not define."""

FOREIGN: Final = ("inv.t_json", "inv.t_zero")
"""Tables on which MySQL's connector fails because the server is MariaDB: JSON is LONGTEXT there,
and a date that no calendar has loses its row.
"""
PLACEHOLDER: Final = "pg35-unknown"
"""The recording with a placeholder of its own in place of TOASTed values that are not sent:
unavailable.value.placeholder.
"""
SMALL: Final = 128
"""toast_tuple_target of the tables with values out of line."""

_OPS: Final = {"insert": Op.INSERT, "update": Op.UPDATE, "delete": Op.DELETE}
"""The operation of a row change, by the truth's word."""

_NUMBERS: Final = re.compile(
    rb'"(ts_ms|ts_us|ts_ns|pos|lsn|__lsn|__source_ts_ms|txId|xmin|server_id|thread|total_order|data_collection_order)":-?\d+'
)
"""Members of a message that are positions, ids or clock times; the group is the member's name."""
_ID: Final = rb"mysql-bin\.|\[|\d+-\d+-\d+|\d+:\d+|[0-9a-f-]{36}:"
"""How the texts of positions and of transaction ids begin."""
_TEXTS: Final = re.compile(rb'"(gtid|file|sequence|id)":"(?:' + _ID + rb')(?:[^"\\]|\\.)*"')
"""Members of a message that are such texts; the group is the member's name."""
_CONTEXT: Final = re.compile(rb'"(__debezium\.context\.(?:connectorLogicalName|runId))":[^,]*')
"""Headers that Debezium adds on the run; the group is the header's name."""
_PREFIXES: Final = re.compile(rb'"(?:mdb|my|pg|cdc)(["._])')
"""The recordings' prefixes of topics and schemas; the group is what stands behind one."""


def blank(data: bytes) -> bytes:
    """A key or value without what differs from run to run: 0 in place of positions, ids and clock
    times that are numbers, "" in place of those that are texts and of the connector's own headers,
    P in place of the recordings' prefixes of names. Avro in Confluent's framing becomes readable
    text first. A null stays, because a decoder sees the difference.
    """
    data = _CONTEXT.sub(rb'"\1":""', confluent.readable(data, _schemas))
    return _PREFIXES.sub(rb'"P\1', _TEXTS.sub(rb'"\1":""', _NUMBERS.sub(rb'"\1":0', data)))


def _schemas(number: int) -> tuple[tuple[str, ...], str]:
    """The schema with this id from the recordings, with its members sorted, because the registry
    orders them in another way than our writer; without subjects.
    """
    return (), json.dumps(json.loads(confluent.SCHEMAS[number][1]), sort_keys=True)


def _blank_marker(data: bytes) -> bytes:
    """A key or value with blanks in place of what differs from run to run (`blank`), and of the
    marker `snapshot` of rows that a snapshot read: it depends on the tables of other episodes.
    """
    return re.sub(rb'"snapshot":"(?!false")\w+"', b'"snapshot":""', blank(data))


class _TruthRow(NamedTuple):
    """A row that a statement changed, as SQL showed it: the texts of its columns before and after,
    None where there is no row, and whether its key changed.
    """

    before: Mapping[str, str | None] | None
    after: Mapping[str, str | None] | None
    is_key_changed: bool


@dataclass(frozen=True, slots=True)
class _Change:
    """What one statement did to a table with one operation, as SQL showed it: the statement's
    number, the table's name, and the changed rows.
    """

    statement: int
    table: str
    op: Op
    rows: tuple[_TruthRow, ...]


def episodes() -> Iterator[Episode]:
    """The episodes of every recording that has a profile of our writers."""
    # A profile's name is its release, then its options, each behind a plus sign. PostgreSQL is
    # such an option; without it the database is MySQL or MariaDB.
    for recording in store.recordings(PRODUCT):
        if recording.profile:
            is_mysql = "postgresql" not in recording.profile
            yield from _episodes(
                recording,
                is_mysql,
                recording.profile.split("+")[1:],
                recording.name.endswith("-snapshot"),
            )


def _episodes(
    recording: Recording, is_mysql: bool, options: Sequence[str], snapshot: bool
) -> Iterator[Episode]:
    """The episodes of one recording: those without rows, then one for each version of a table of
    the truth that has messages. Tables with types that the model lacks are left out. `options` are
    those of the profile; `snapshot` says that the recording is a snapshot of the rows at the end.
    """
    from generators.wire_format import get

    fmt = get(recording.format)
    recording = replace(recording, volatile=_blank_marker if snapshot else blank)
    server = "mariadb" if is_mysql else "postgresql"
    truncates = recording.release != "1.4.0.Final"
    by_topic: dict[str, list[Message]] = {}
    for message in store.messages(recording):
        # The engine has no partition.
        placed_message = replace(message, partition=message.partition or 0)
        by_topic.setdefault(message.topic, []).append(placed_message)
    yield from _control_episodes(recording, by_topic, is_mysql, snapshot)
    for name, truth in store.truth(PRODUCT)[server]["tables"].items():
        database, table = _split_name(name, is_mysql)
        full_name = f"{recording.name[:3].rstrip('0123456789-')}.{database}.{table}"
        # PostgreSQL's 1.4 streams each byte of a letter beyond ASCII as a letter of its own
        # (debezium#mangled-names).
        letters = (
            full_name.encode().decode("latin-1") if recording.name.startswith("pg14") else full_name
        )
        topic = re.sub(r"[^A-Za-z0-9._-]", "_", letters)
        queue = by_topic.get(topic, [])
        foreign = recording.name.startswith("my14") and name in FOREIGN
        if not queue or foreign or (recording.name == PLACEHOLDER and "toast" in name):
            continue
        try:
            versions = _table_versions(server, name, truth, snapshot)
        except Unsupported:
            continue
        changes = _final_changes(server, name) if snapshot else _table_changes(server, name)
        if snapshot:
            queue.sort(key=_key_number)
        for number, (since, until, version, identity) in enumerate(versions, 1):
            version_changes = [
                c
                for c in changes
                if since <= c.statement < until and (c.op is not Op.TRUNCATE or truncates)
            ]
            if not version_changes:
                continue
            tombstones = not {"no-tombstone", "flat", "flat-rewrite"} & set(options)
            adjusts = "odd" in name and "source-type" in options
            profile = fmt.profile(recording.profile + _IDENTITIES.get(identity, ""))
            before = _statements_with_comments(name, since) if is_mysql and not snapshot else []
            events, messages = _match_messages(
                version, version_changes, queue, tombstones, identity
            )
            if not messages:
                continue
            yield Episode(
                replace(
                    recording,
                    profile=profile.name,
                    facts={"toasted": SMALL} if "toast" in name else {},
                ),
                f"{slug(name)}-{number}" if len(versions) > 1 else slug(name),
                History((*before, *events)),
                tuple(messages),
                1 + all(map(_has_spark_type, version.columns)),
                limits=(_ADJUSTED,) if adjusts else (),
                judged=not adjusts,
                unrecorded=frozenset(range(len(before))),
            )


def _statements_with_comments(name: str, until: int) -> list[SchemaChange]:
    """The CREATE and ALTER statements of a table, also under its old names, up to the statement of
    number `until`. The history needs them because the connector repeats comments of columns; so
    none are returned for a table without comments.
    """
    # From the last statement back, so that a RENAME gives the name that statements before it have.
    events: list[SchemaChange] = []
    for number, table in sorted(_made_tables().items(), reverse=True):
        sql = _statements("mariadb")[number]["sql"]
        if number > until or f"{table.database}.{table.name}" != name:
            continue
        event = debezium_control.schema_change(sql, table.database, table.name, table)
        events.append(event)
        name = f"{table.database}.{event.old_name}" if event.old_name else name
    return events[::-1] if any(" COMMENT '" in event.sql for event in events) else []


def _control_episodes(
    recording: Recording, by_topic: Mapping[str, Sequence[Message]], is_mysql: bool, snapshot: bool
) -> Iterator[Episode]:
    """The episodes of a recording's messages that hold no row: statements of MySQL; logical
    messages, heartbeats and marks of transactions of PostgreSQL. `by_topic` has all messages of the
    recording.
    """
    if not is_mysql:
        yield from debezium_control.logical_messages(recording, by_topic.get("pg.message", ()))
        yield from debezium_control.heartbeats(
            recording, by_topic.get("__debezium-heartbeat.pg", ())
        )
        tables = frozenset(topic.rpartition(".")[2] for topic in by_topic)
        yield from debezium_control.transactions(
            recording, by_topic.get("pg.transaction", ()), tables
        )
        return
    messages = next((queue for topic, queue in by_topic.items() if "." not in topic), ())
    if snapshot:
        yield from debezium_control.snapshot_statements(
            recording, messages, _final_tables(messages)
        )
    elif messages:
        yield from debezium_control.statements(recording, messages, _made_tables())


@cache
def _made_tables() -> Mapping[int, Table]:
    """The tables after each of MariaDB's recorded statements that created or changed one, by the
    statement's number; for a DROP, the table that was dropped. Tables that this project cannot
    model (Unsupported) are left out.
    """
    tables: dict[int, Table] = {}
    for name, truth in store.truth(PRODUCT)["mariadb"]["tables"].items():
        try:
            versions = _table_versions("mariadb", name, truth, False)
        except Unsupported:
            continue
        tables |= {since: table for since, _, table, _ in versions}
    return tables


def _final_tables(messages: Sequence[Message]) -> dict[str, Table | None]:
    """The MariaDB tables that a snapshot finds, as they are at the end, by name, in the order of
    the names; None for those that the connector's parser cannot read.
    """
    tables: dict[str, Table | None] = {}
    for name, truth in sorted(store.truth(PRODUCT)["mariadb"]["tables"].items()):
        database, table = _split_name(name, True)
        try:
            final_table = _table_versions("mariadb", name, truth, True)[-1].table
        except Unsupported:
            final_table = None
        if database == debezium_control.DATABASE and (final_table or "maria" in name):
            tables[table] = final_table
    return tables


def _has_spark_type(column: Column) -> bool:
    """Whether a Spark type holds every value of the column. None does for spatial types, types that
    the connector does not know, arrays other than of integers and texts, varbit without a length,
    and negative scales.
    """
    type = column.type
    if type.name.endswith("[]"):
        return type.name in ("integer[]", "text[]")
    return (
        type.name not in (*SPATIAL, *postgresql.UNKNOWN)
        and type.length != postgresql.UNBOUNDED
        and (type.scale or 0) >= 0
    )


_IDENTITIES: Final = {"f": "+full", "i": "+index"}
"""Options of the profile by PostgreSQL's letter of a replica identity."""


def _split_name(name: str, is_mysql: bool) -> tuple[str, str]:
    """A table's name in the truth (what SQL showed), as (database, table) of MySQL, or as (schema,
    table) of PostgreSQL, where `public` is the default.
    """
    if is_mysql:
        database, _, table = name.partition(".")
        return database, table
    if '"' in name:
        schema, table = re.findall(r'"([^"]+)"', name)
        return schema, table
    return "public", name


@cache
def _statements(server: str) -> tuple[Mapping[str, Any], ...]:
    """The statements that a recorded server executed, in order."""
    return tuple(store.truth(PRODUCT)[server]["statements"])


@cache
def _table_changes(server: str, table: str) -> tuple[_Change, ...]:
    """What the statements of a recorded server did to one table, in order. Rows that one statement
    changed with one operation are one change.
    """
    changes: list[_Change] = []
    for number, statement in enumerate(_statements(server)):
        if _truncates(statement, table):
            changes.append(_Change(number, table, Op.TRUNCATE, ()))
        if statement.get("table") != table:
            continue
        for event in statement.get("events", ()):
            truth_row = _TruthRow(event["before"], event["after"], bool(event.get("key_changed")))
            op = _OPS[event["op"]]
            if changes and (changes[-1].statement, changes[-1].op) == (number, op):
                changes[-1] = replace(changes[-1], rows=(*changes[-1].rows, truth_row))
            else:
                changes.append(_Change(number, table, op, (truth_row,)))
    return tuple(changes)


def _truncates(statement: Mapping[str, Any], table: str) -> bool:
    """Whether a recorded statement of PostgreSQL truncates the table, alone or among others."""
    match = re.match(r"TRUNCATE (?:TABLE )?(.*?)( RESTART.*)?$", statement["sql"])
    return match is not None and table in match[1].split(", ")


def _key_number(message: Message) -> int:
    """The number in a message's key, by which a snapshot's messages are sorted, because SQL does
    not show in which order the snapshot read the rows.
    """
    match = re.search(rb'"payload":\{"id":(\d+)', message.key or b"")
    return int(match[1]) if match else 0


def _final_changes(server: str, table: str) -> tuple[_Change, ...]:
    """The table's rows at the end of the recording as one change of operation READ, as a snapshot
    reads them, behind the last statement; nothing if the table is empty. The rows are in the order
    of their column `id`. `server` is the name of the database in the truth (what SQL showed).
    """
    final_rows = sorted(
        store.truth(PRODUCT)[server]["final"].get(table, ()),
        key=lambda final_row: int(final_row.get("id") or 0),
    )
    if not final_rows:
        return ()
    read_rows = tuple(_TruthRow(None, final_row, False) for final_row in final_rows)
    return (_Change(len(_statements(server)), table, Op.READ, read_rows),)


class TableVersion(NamedTuple):
    """A table as it was from one statement of the recording to another: the numbers of its first
    statement and of the first after it, the table, and PostgreSQL's letter of its replica identity
    ("" for MariaDB).
    """

    start: int
    end: int
    table: Table
    replica_identity: str


def _table_versions(
    server: str, name: str, truth: Mapping[str, Any], snapshot: bool
) -> list[TableVersion]:
    """The versions of a table in the truth, in the order of their statements."""
    starts = [version["after_statement"] for version in truth["versions"]]
    ends = [*starts[1:], len(_statements(server)) + 1]
    versions = []
    for start, end, version in zip(starts, ends, truth["versions"], strict=True):
        if server == "mariadb":
            database, table = _split_name(name, True)
            version_table = mysql_truth.parse_table(version["show_create"], database, table)
            versions.append(
                TableVersion(
                    start,
                    end,
                    _with_spellings(
                        version_table, version["show_create"], "" if snapshot else truth["ddl"]
                    ),
                    "",
                )
            )
        else:
            schema, table = _split_name(name, False)
            version_table = postgresql_truth.make_table(
                "inv", schema, table, version["columns"], truth["ddl"], ENUMS, DOMAINS
            )
            version_table = _with_defaults(version_table, truth["ddl"])
            published = tuple(
                c
                for c in version_table.columns
                if snapshot or c.name not in _GENERATED.findall(truth["ddl"])
            )
            unique = tuple(
                tuple(m[1].split(", "))
                for s in _statements(server)
                if (m := _unique_index_pattern(table).match(s["sql"]))
            )
            versions.append(
                TableVersion(
                    start,
                    end,
                    replace(version_table, columns=published, unique=unique),
                    version["replica_identity"],
                )
            )
    return versions


_TYPE: Final = (
    r"\w+(?:\((?:'(?:[^'\\]|''|\\.)*'|[^()'])*\))?(?: UNSIGNED)?(?: ZEROFILL)?(?: CHARACTER SET"
    r" \w+)?"
)
"""A type of MariaDB with its parameters and attributes."""
_SPELLED: Final = re.compile(rf"[(,\n]\s*(?:`((?:[^`]|``)+)`|(\w+)) ({_TYPE})", re.IGNORECASE)
"""A column in a CREATE TABLE; the groups are its name in back quotes, its bare name, its type."""
_DEFAULT: Final = re.compile(r"[^,]*? DEFAULT (b?'(?:[^']|'')*'|[^\s,)]+)")
"""The default behind a column's type; the group is its literal."""
_SHOWN: Final = re.compile(rf"^\s*`((?:[^`]|``)+)` ({_TYPE})(.*)$", re.IGNORECASE | re.MULTILINE)
"""A column's line of SHOW CREATE TABLE; the groups are its name, its type, and what is behind it.
"""
_COMMENT: Final = re.compile(r" COMMENT ?=?'((?:[^']|'')*)'")
"""The comment of a column or a table; the group is its text."""
_UPDATED: Final = re.compile(
    r"(?: DEFAULT current_timestamp\(\d*\))? ON UPDATE current_timestamp\(\d*\)"
)
"""The clause of a column that the server sets at each UPDATE."""
_WIDTH: Final = re.compile(r"^(tinyint|smallint|mediumint|int|bigint|year)\((?!1\))\d+\)")
"""An integer type with a display width other than 1; the group is the type without it."""
_GENERATED: Final = re.compile(r"(\w+) \w+ GENERATED ALWAYS AS")
"""Columns that PostgreSQL's log does not hold."""
_LITERAL: Final = r"'(?:[^']|'')*'(?:::\w+)?|[^\s,)]+"
"""A default in PostgreSQL's CREATE TABLE: a text, also with a cast, or a bare word."""
_QUOTED: Final = re.compile(r"'((?:[^']|'')*)'(?:::\w+)?")
"""A text in quotes, also with a cast; the group is the text."""
_GIVEN: Final = re.compile(
    rf"""[(,]\s*(?:"([^"]+)"|(\w+)) (?:(\w*serial)\b|(?:[^,(]|\([^)]*\))*?DEFAULT ({_LITERAL}))"""
)
"""A column with a default in PostgreSQL's CREATE TABLE; the groups are its name in quotes, its bare
name, a serial type, and the default.
"""


def _unique_index_pattern(table: str) -> re.Pattern[str]:
    """The pattern of a statement that makes a unique index on the table. Its one group is the list
    of the index's columns.
    """
    return re.compile(rf"CREATE UNIQUE INDEX \w+ ON {re.escape(table)} \((.+)\)$")


def _with_spellings(mariadb_table: Table, show_create: str, statement: str) -> Table:
    """A table of MariaDB with the types, defaults and comments of its columns spelled as in
    `statement`, the CREATE TABLE that the connector streamed, or, if that is "", as in SHOW CREATE
    TABLE.
    """
    types: dict[str, str] = {}
    auto_increments: dict[str, str] = {}
    literals: dict[str, str] = {}
    comments: dict[str, str | None] = {}
    for m in _SHOWN.finditer(show_create):
        name = m[1].replace("``", "`")
        auto_increments[name] = " AUTO_INCREMENT" if "AUTO_INCREMENT" in m[3] else ""
        if update_clause := _UPDATED.search(m[3]):
            auto_increments[name] = update_clause[0].upper()
        types[name] = (_WIDTH.sub(r"\1", m[2]) if statement else m[2]) + auto_increments[name]
        comment = _COMMENT.search(m[3])
        comments[name] = comment[1] if comment else None
    for m in _SPELLED.finditer(statement):
        name = (m[1] or m[2]).replace("``", "`")
        if name in types:
            types[name] = m[3] + auto_increments[name]
            if default_match := _DEFAULT.match(statement, m.end()):
                literals[name] = default_match[1]
    columns = tuple(
        replace(
            c,
            declared=types.get(c.name, ""),
            default=_column_default(c, literals.get(c.name)),
            comment=comments.get(c.name),
        )
        for c in mariadb_table.columns
    )
    comment = _COMMENT.search(show_create.splitlines()[-1])
    return replace(mariadb_table, columns=columns, comment=comment[1] if comment else None)


def _with_defaults(table: Table, statement: str) -> Table:
    """A table of PostgreSQL with the defaults that `statement`, its CREATE TABLE, gives its
    columns. The default of a serial column is an expression, with the text "nextval(" and no value.
    Columns for which the statement has no default stay as they are.
    """
    defaults = {
        m[1] or m[2]: m[4] or "nextval(" for m in _GIVEN.finditer(statement) if m[3] or m[4]
    }
    columns = tuple(
        replace(c, default=_default_of_literal(c, defaults[c.name])) if c.name in defaults else c
        for c in table.columns
    )
    return replace(table, columns=columns)


def _default_of_literal(column: Column, default_text: str) -> Default:
    """A PostgreSQL column's default from what stands behind DEFAULT in CREATE TABLE: a literal,
    also with a cast (`'a'::text`), or the beginning of a call, up to its opening parenthesis. The
    default's value is None for a call and for bytes.
    """
    quoted = _QUOTED.fullmatch(default_text)
    plain = quoted[1].replace("''", "'") if quoted else default_text
    if default_text.endswith("("):
        return Default(default_text)
    if column.type.logical is Logical.BINARY:
        return Default(default_text)
    # The recorded truth has bit strings as `b:0101`, and `cell_value` reads them so.
    if column.type.logical is Logical.BIT and column.type.name != "boolean":
        plain = f"b:{plain}"
    return Default(default_text, postgresql_truth.cell_value(column.type, plain))


def _column_default(column: Column, literal: str | None) -> Default | None:
    """A column's default with the text `literal`, which the streamed statement has for it; None
    keeps the text of SHOW CREATE TABLE. Its value is known for a literal, and None for an
    expression. None for a column without a default.
    """
    if column.default is None:
        return None
    if column.default.value is not None:
        return replace(column.default, text=literal or column.default.text)
    default_text = column.default.text
    try:
        value: Value = mysql_truth.cell_value(
            column.type, re.sub(r"^b'([01]*)'$", r"b:\1", default_text)
        )
    except (ValueError, ArithmeticError, AssertionError):
        if column.type.logical is Logical.BINARY and default_text.startswith("'"):
            value = mysql_truth.unquote(default_text).encode("latin-1")
        else:
            value = None
    return Default(literal or default_text, value)


def _match_messages(
    table: Table, changes: Sequence[_Change], queue: list[Message], tombstones: bool, identity: str
) -> tuple[list[RowChange], list[Message]]:
    """Takes the messages of all these changes of a table from the front of `queue`. Returns the row
    changes whose values the model can hold, and their messages; the messages of other changes are
    dropped. `tombstones` says that a DELETE has a second message without a value; `identity` is
    PostgreSQL's letter of the replica identity: with `d` (default) a table without a key has no
    messages of UPDATE and DELETE.
    """
    events: list[RowChange] = []
    messages: list[Message] = []
    for number, change in enumerate(changes):
        matched_images: list[RowImages] = []
        for before, after, is_key_changed in change.rows:
            if identity == "d" and not table.primary_key and change.op is not Op.INSERT:
                count = 0
            elif change.op is Op.DELETE:
                count = 1 + tombstones
            elif change.op is Op.UPDATE and is_key_changed:
                count = 2 + tombstones
            else:
                count = 1
            row_messages, queue[:count] = queue[:count], []
            try:
                images = RowImages(_cells(table, before), _cells(table, after))
                if (
                    change.op is Op.READ
                    and table.schema
                    and any(map(_is_early, _datetime_values(table, images.after or {})))
                ):
                    raise Unsupported(
                        "a snapshot reads a timestamp before 1582-10-15 by the Julian calendar"
                        " (debezium#julian-timestamps)"
                    )
            except Unsupported:
                continue
            if len(row_messages) == count:
                matched_images.append(images)
                messages.extend(row_messages)
        truncated = (
            change.op is Op.TRUNCATE
            and bool(queue)
            and b'"op":"t"' in confluent.readable(queue[0].value or b"")
        )
        if truncated:
            messages.append(queue.pop(0))
        if matched_images or truncated:
            events.append(
                RowChange(Instant(START.ms, number), table, change.op, tuple(matched_images))
            )
    return events, messages


def _cells(table: Table, texts: Mapping[str, str | None] | None) -> Row | None:
    """The row of a table from the texts that SQL shows; None for no row. Raises Unsupported for a
    date that stops the connector.
    """
    if texts is None:
        return None
    cells = (
        postgresql_truth.row_cells(table, texts)
        if table.schema
        else mysql_truth.row_cells(table, texts)
    )
    if any(isinstance(value, ZeroDate) and value.month and value.day for value in cells.values()):
        raise Unsupported(
            "a date that no calendar has stops the connector, unless it is told to warn"
        )
    return cells


_GREGORIAN: Final = wall("1582-10-15")
"""The first day of the Gregorian calendar, in microseconds since 1970."""
_ADJUSTED: Final = "this run adjusts the names of schemas and columns for Avro"
"""Why messages of a recording that changes names differ from ours."""


def _datetime_values(table: Table, cells: Row) -> Iterator[Value]:
    """The row's values in columns with date and time, whether with a time zone or without."""
    return (
        cells[c.name]
        for c in table.columns
        if c.type.logical in (Logical.DATETIME, Logical.TIMESTAMP)
    )


def _is_early(value: Value) -> bool:
    """Whether a value is a number of microseconds before the Gregorian calendar."""
    return isinstance(value, int) and value < _GREGORIAN
