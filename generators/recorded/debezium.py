"""Debezium's recordings as episodes: the life of one version of a table in one recording.

Connectors 3.5.0 (MariaDB, PostgreSQL) and 1.4.0 (MySQL's on MariaDB, PostgreSQL) read real databases; keys and values are those
of Kafka Connect's JsonConverter. A snapshot's rows are those at the end of the truth. Messages are given to the truth's events by
their table and their order: an insert or update is a message, a delete one and a tombstone, an update of the key three.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

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
    SourceStatement,
    Table,
    Value,
    ZeroDate,
)
from generators.recorded import mysql_truth, postgresql_truth, store
from generators.recorded.base import Episode, Lost, Recording
from generators.recorded.mysql_truth import Unsupported
from generators.sources.boundaries import START, slug
from generators.sources.mysql import wall

PRODUCT: Final = "debezium"
ENUMS: Final[Mapping[str, Sequence[str]]] = {"mood": ("sad", "ok", "ha,ppy", "it's")}
DOMAINS: Final[Mapping[str, str]] = {"posint": "integer", "money2": "numeric(10,2)"}
"""PostgreSQL's types of the recorded database, which the truth names and does not define."""

FOREIGN: Final = ("inv.t_json", "inv.t_zero")
"""Tables on which MySQL's connector fails because the server is MariaDB: JSON is LONGTEXT there, and a date that no calendar has
loses its row."""

_UNSAID: Final = "the model does not say whether a logical message is in a transaction"
_OPS: Final = {"insert": Op.INSERT, "update": Op.UPDATE, "delete": Op.DELETE}

_NUMBERS: Final = re.compile(
    rb'"(ts_ms|ts_us|ts_ns|pos|lsn|txId|xmin|server_id|thread|total_order|data_collection_order)":(?:-?\d+|null)'
)
_ID: Final = rb"mysql-bin\.|\[|\d+-\d+-\d+|\d+:\d+|[0-9a-f-]{36}:"
_TEXTS: Final = re.compile(rb'"(gtid|file|sequence|id)":(?:"(?:' + _ID + rb')(?:[^"\\]|\\.)*"|null)')
_PREFIXES: Final = re.compile(rb'"(?:mdb|my|pg|cdc)(["._])')


def blank(data: bytes) -> bytes:
    """A key or value without positions, ids, clock times, and the connector's own name."""
    return _PREFIXES.sub(rb'"P\1', _TEXTS.sub(rb'"\1":""', _NUMBERS.sub(rb'"\1":0', data)))


def _blank_marker(data: bytes) -> bytes:
    """The same without the marker of a snapshot's row, which depends on the tables that other episodes have."""
    return re.sub(rb'"snapshot":"\w+"', b'"snapshot":""', blank(data))


@dataclass(frozen=True, slots=True)
class _Change:
    """What the truth says of a statement: the table's version, and the rows of one operation."""

    statement: int
    table: str
    op: Op
    rows: tuple[tuple[Mapping[str, str | None] | None, Mapping[str, str | None] | None, bool], ...]


def episodes() -> Iterator[Episode]:
    """The episodes of every recording whose options the format has: the others have no profile."""
    for recording in store.recordings(PRODUCT):
        if recording.profile:
            is_mysql = "postgresql" not in recording.profile
            yield from _episodes(recording, is_mysql, recording.profile.split("+")[1:], recording.name.endswith("-snapshot"))


def _episodes(recording: Recording, is_mysql: bool, options: Sequence[str], snapshot: bool) -> Iterator[Episode]:
    from generators.wire_format import get

    fmt = get(recording.format)
    server = "mariadb" if is_mysql else "postgresql"
    truncates = not is_mysql and recording.release != "1.4.0.Final"
    by_topic: dict[str, list[Message]] = {}
    for message in store.messages(recording):
        by_topic.setdefault(message.topic, []).append(replace(message, partition=message.partition or 0))  # the engine has none
    yield from _logical_messages(recording, by_topic.get("pg.message", []))
    for name, told in store.truth(PRODUCT)[server]["tables"].items():
        database, table = _names(name, is_mysql)
        topic = re.sub(r"[^A-Za-z0-9._-]", "_", f"{recording.name[:3].rstrip('0123456789-')}.{database}.{table}")
        queue = by_topic.get(topic, [])
        if not queue or (recording.name.startswith("my14") and name in FOREIGN):
            continue
        try:
            versions = _versions(server, name, told, snapshot)
        except Unsupported:
            continue
        changes = _final(server, name) if snapshot else _changes(server, name)
        if snapshot:
            queue.sort(key=_number)
        for number, (since, until, found, identity) in enumerate(versions, 1):
            chosen = [c for c in changes if since <= c.statement < until and (c.op is not Op.TRUNCATE or truncates)]
            if not chosen or identity in ("n", "i"):
                continue
            tombstones = "no-tombstone" not in options
            profile = fmt.profile(recording.profile + ("+full" if identity == "f" else ""))
            events, messages = _aligned(found, chosen, queue, tombstones, identity)
            if not messages:
                continue
            yield Episode(
                replace(recording, profile=profile.name, volatile=_blank_marker if snapshot else blank),
                f"{slug(name)}-{number}" if len(versions) > 1 else slug(name),
                History(tuple(events)),
                tuple(messages),
                2,
                _lost(found),
                _limits(server, name),
            )


def _logical_messages(recording: Recording, messages: Sequence[Message]) -> Iterator[Episode]:
    """PostgreSQL's logical messages whose content is text, in order; those of bytes come last."""
    texts = (_EMITTED.search(statement["sql"]) for statement in _statements("postgresql") if statement["kind"] == "message")
    events = [SourceStatement(START, "logical-message", text[2], "inv", text[1]) for text in texts if text]
    if messages:
        yield Episode(
            replace(recording, volatile=blank),
            "logical-messages",
            History(tuple(events)),
            tuple(messages[: len(events)]),
            limits=(_UNSAID,) if "transaction" in recording.profile else (),
        )


_EMITTED: Final = re.compile(r"pg_logical_emit_message\(\w+, '([^']*)', '([^']*)'\)")


def _names(name: str, is_mysql: bool) -> tuple[str, str]:
    if is_mysql:
        database, _, table = name.partition(".")
        return database, table
    if '"' in name:
        schema, table = re.findall(r'"([^"]+)"', name)
        return schema, table
    return "public", name


@cache
def _statements(server: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(store.truth(PRODUCT)[server]["statements"])


@cache
def _changes(server: str, table: str) -> tuple[_Change, ...]:
    """The changes of a table in order; the rows of a statement together."""
    found: list[_Change] = []
    for number, statement in enumerate(_statements(server)):
        if _truncates(statement, table):
            found.append(_Change(number, table, Op.TRUNCATE, ()))
        if statement.get("table") != table:
            continue
        for event in statement.get("events", ()):
            row = (event["before"], event["after"], bool(event.get("key_changed")))
            op = _OPS[event["op"]]
            if found and (found[-1].statement, found[-1].op) == (number, op):
                found[-1] = replace(found[-1], rows=(*found[-1].rows, row))
            else:
                found.append(_Change(number, table, op, (row,)))
    return tuple(found)


def _truncates(statement: Mapping[str, Any], table: str) -> bool:
    match = re.match(r"TRUNCATE (?:TABLE )?(.*?)( RESTART.*)?$", statement["sql"])
    return match is not None and table in match[1].split(", ")


def _number(message: Message) -> int:
    """The number in a key: rows are read in the order in which they are stored, which SQL does not tell."""
    match = re.search(rb'"payload":\{"id":(\d+)', message.key or b"")
    return int(match[1]) if match else 0


def _final(server: str, table: str) -> tuple[_Change, ...]:
    rows = sorted(store.truth(PRODUCT)[server]["final"].get(table, ()), key=lambda row: int(row.get("id") or 0))
    last = len(_statements(server))
    return (_Change(last, table, Op.READ, tuple((None, row, False) for row in rows)),) if rows else ()


def _versions(server: str, name: str, told: Mapping[str, Any], snapshot: bool) -> list[tuple[int, int, Table, str]]:
    """The versions of a table: the statements from which and until which they are, and PostgreSQL's replica identity."""
    starts = [version["after_statement"] for version in told["versions"]]
    ends = [*starts[1:], len(_statements(server)) + 1]
    found = []
    for start, end, version in zip(starts, ends, told["versions"], strict=True):
        if server == "mariadb":
            database, table = _names(name, True)
            made = mysql_truth.table(version["show_create"], database, table)
            declared = _declared(told["ddl"])
            columns = tuple(replace(c, declared=declared.get(c.name, ""), default=_default(c)) for c in made.columns)
            found.append((start, end, replace(made, columns=columns), ""))
        else:
            schema, table = _names(name, False)
            made = postgresql_truth.table("inv", schema, table, version["columns"], told["ddl"], ENUMS, DOMAINS)
            made = _with_defaults(made, told["ddl"])
            published = tuple(c for c in made.columns if snapshot or c.name not in _GENERATED.findall(told["ddl"]))
            found.append((start, end, replace(made, columns=published), version["replica_identity"]))
    return found


_SPELLINGS: Final = r"BOOLEAN|BOOL|REAL|JSON|INT\(\d+\) ZEROFILL|FLOAT\(\d+,\d+\)|CHAR(?=\(\d+\) CHARACTER SET binary)"
_SPELLED: Final = re.compile(rf"[(,\n]\s*(?:`([^`]+)`|(\w+)) ({_SPELLINGS})", re.IGNORECASE)
_GENERATED: Final = re.compile(r"(\w+) \w+ GENERATED ALWAYS AS")
"""Columns that PostgreSQL's log does not hold."""
_LITERAL: Final = r"'(?:[^']|'')*'(?:::\w+)?|[^\s,)]+"
_GIVEN: Final = re.compile(rf"""[(,]\s*(?:"([^"]+)"|(\w+)) (?:(\w*serial)\b|(?:[^,(]|\([^)]*\))*?DEFAULT ({_LITERAL}))""")


def _declared(statement: str) -> dict[str, str]:
    """The types of columns as a CREATE TABLE spells them, where SHOW CREATE TABLE spells others."""
    found = {m[1] or m[2]: m[3].upper() for m in _SPELLED.finditer(statement)}
    return {name: "INT ZEROFILL" if text.endswith("ZEROFILL") else text for name, text in found.items()}


def _with_defaults(table: Table, statement: str) -> Table:
    """PostgreSQL's table with the defaults of its CREATE TABLE; a serial column has an expression."""
    given = {m[1] or m[2]: m[4] or "nextval" for m in _GIVEN.finditer(statement) if m[3] or m[4]}
    columns = tuple(replace(c, default=_literal(c, given[c.name])) if c.name in given else c for c in table.columns)
    return replace(table, columns=columns)


def _literal(column: Column, text: str) -> Default:
    plain = text[1:-1].replace("''", "'") if text.startswith("'") else text
    if text.endswith(("nextval", "(")):
        return Default(text)
    if column.type.logical is Logical.BINARY:
        return Default(text)
    if column.type.logical is Logical.BIT and column.type.name != "boolean":
        plain = f"b:{plain}"
    return Default(text, postgresql_truth.value(column.type, plain))


def _default(column: Column) -> Default | None:
    """The default with its value, as the statement's literal has it; an expression has none."""
    if column.default is None or column.default.value is not None:
        return column.default
    text = column.default.text
    try:
        value: Value = mysql_truth.value(column.type, re.sub(r"^b'([01]*)'$", r"b:\1", text))
    except (ValueError, ArithmeticError, AssertionError):
        if column.type.logical is Logical.BINARY and text.startswith("'"):
            value = mysql_truth.unquoted(text).encode("latin-1")
        else:
            value = None
    return Default(text, value)


def _aligned(
    table: Table, changes: Sequence[_Change], queue: list[Message], tombstones: bool, identity: str
) -> tuple[list[RowChange], list[Message]]:
    """The events whose values the model has, and their messages; the queue loses the messages of all."""
    events: list[RowChange] = []
    messages: list[Message] = []
    for number, change in enumerate(changes):
        rows: list[RowImages] = []
        for before, after, moved in change.rows:
            keyless = identity == "d" and not table.primary_key and change.op is not Op.INSERT
            count = 0 if keyless else {Op.DELETE: 1 + tombstones, Op.UPDATE: 2 + tombstones if moved else 1}.get(change.op, 1)
            taken, queue[:count] = queue[:count], []
            try:
                images = RowImages(_row(table, before), _row(table, after))
                if change.op is Op.READ and table.schema and any(map(_is_early, _moments(table, images.after or {}))):
                    raise Unsupported(
                        "a snapshot reads a timestamp before 1582-10-15 by the Julian calendar (debezium#julian-timestamps)"
                    )
            except Unsupported:
                continue
            if len(taken) == count:
                rows.append(images)
                messages.extend(taken)
        truncated = change.op is Op.TRUNCATE and bool(queue) and b'"op":"t"' in (queue[0].value or b"")
        if truncated:
            messages.append(queue.pop(0))
        if rows or truncated:
            events.append(RowChange(Instant(START.ms, number), table, change.op, tuple(rows)))
    return events, messages


def _row(table: Table, texts: Mapping[str, str | None] | None) -> Row | None:
    if texts is None:
        return None
    row = postgresql_truth.row(table, texts) if table.schema else mysql_truth.row(table, texts)
    if any(isinstance(value, ZeroDate) and value.month and value.day for value in row.values()):
        raise Unsupported("a date that no calendar has stops the connector, unless it is told to warn")
    return row


_GREGORIAN: Final = wall("1582-10-15")
_UTF16: Final = "a character set utf16 loses a leading byte order mark"


def _moments(table: Table, row: Row) -> Iterator[Value]:
    return (row[c.name] for c in table.columns if c.type.logical in (Logical.DATETIME, Logical.TIMESTAMP))


def _is_early(value: Value) -> bool:
    return isinstance(value, int) and value < _GREGORIAN


def _lost(table: Table) -> tuple[Lost, ...]:
    marked = (c.name for c in table.columns if c.charset == "utf16")
    return tuple(Lost(_UTF16, "debezium#utf16-mark", table.name, name, lambda v: str(v).startswith("\ufeff")) for name in marked)


def _limits(server: str, name: str) -> tuple[str, ...]:
    """What of the table the model does not have, or the product loses."""
    tables = store.truth(PRODUCT)[server]["tables"]
    text = " ".join(told["ddl"] for other, told in tables.items() if name.startswith(other))  # a renamed table's too
    limits = (
        (" COMMENT '" in text, "the model has no comments of columns, which are docs of schemas"),
        ("utf16" in text, _UTF16),
    )
    return tuple(limit for there, limit in limits if there)
