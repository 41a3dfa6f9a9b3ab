"""Debezium's recordings as episodes: the life of one version of a table in one recording.

Connectors 3.5.0 (MariaDB, PostgreSQL) and 1.4.0 (MySQL's on MariaDB, PostgreSQL) read real databases; keys and values are those of
Kafka Connect's JsonConverter. A snapshot's rows are those at the end of the truth. Messages are given to the truth's events by
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
    Table,
    Value,
)
from generators.recorded import mysql_truth, postgresql_truth, store
from generators.recorded.base import Episode, Lost, Recording
from generators.recorded.mysql_truth import Unsupported
from generators.sources.boundaries import START, slug

PRODUCT: Final = "debezium"
ENUMS: Final[Mapping[str, Sequence[str]]] = {"mood": ("sad", "ok", "ha,ppy", "it's")}
DOMAINS: Final[Mapping[str, str]] = {"posint": "integer", "money2": "numeric(10,2)"}
"""PostgreSQL's types of the recorded database, which the truth names and does not define."""

OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "bin-base64": ("base64",),
    "bin-base64-url-safe": ("base64-url-safe",),
    "decstring": ("string",),
    "decstring-bigprecise": ("string", "unsigned-precise"),
    "default": (),
    "notomb": ("no-tombstone",),
    "numeric-replacenullfalse": ("nulls-kept",),
    "snapshot": (),
    "time-adaptive_time_microseconds": ("adaptive_time_microseconds",),
    "time-connect": ("connect",),
    "time-microseconds": ("microseconds",),
    "time-nanoseconds": ("nanoseconds",),
    "txmeta": ("transaction",),
}
"""Options of our profiles by what the recording calls its set of options. The sets that are left out are flattened records,
propagated source types, and types that are unknown to the connector, which the format does not have."""

_CONNECTORS: Final = {"mdb": "mariadb", "my": "", "pg": "postgresql"}
_NAME: Final = re.compile(r"(mdb|my|pg)(\d)(\d)-(.*?)(-noschema)?$")
_OPS: Final = {"insert": Op.INSERT, "update": Op.UPDATE, "delete": Op.DELETE}

_NUMBERS: Final = re.compile(
    rb'"(ts_ms|ts_us|ts_ns|pos|lsn|txId|xmin|server_id|thread|total_order|data_collection_order)":(?:-?\d+|null)'
)
_TEXTS: Final = re.compile(
    rb'"(gtid|file|sequence|id)":(?:"(?:mysql-bin\.|\[|\d+-\d+-\d+|\d+:\d+|[0-9a-f-]{36}:)(?:[^"\\]|\\.)*"|null)'
)
_PREFIXES: Final = re.compile(rb'"(?:mdb|my|pg|cdc)(["._])')


def blank(data: bytes) -> bytes:
    """A key or value without positions, ids, clock times, and the connector's own name."""
    return _PREFIXES.sub(rb'"P\1', _TEXTS.sub(rb'"\1":""', _NUMBERS.sub(rb'"\1":0', data)))


@dataclass(frozen=True, slots=True)
class _Change:
    """What the truth says of a statement: the table's version, and the rows of one operation."""

    statement: int
    table: str
    op: Op
    rows: tuple[tuple[Mapping[str, str | None] | None, Mapping[str, str | None] | None, bool], ...]


def episodes() -> Iterator[Episode]:
    """The episodes of every recording whose options the format has."""
    for recording in store.recordings(PRODUCT):
        match = _NAME.match(recording.name)
        assert match is not None
        if match[4] in OPTIONS:
            options = (*filter(None, (_CONNECTORS[match[1]],)), *(("schemaless",) if match[5] else ()), *OPTIONS[match[4]])
            yield from _episodes(recording, match[1] != "pg", options, match[4] == "snapshot")


def _episodes(recording: Recording, is_mysql: bool, options: tuple[str, ...], snapshot: bool) -> Iterator[Episode]:
    from generators.wire_format import get

    fmt = get(recording.format)
    server = "mariadb" if is_mysql else "postgresql"
    by_topic: dict[str, list[Message]] = {}
    for message in store.messages(recording):
        by_topic.setdefault(message.topic, []).append(message)
    for name, told in store.truth(PRODUCT)[server]["tables"].items():
        database, table = _names(name, is_mysql)
        topic = re.sub(r"[^A-Za-z0-9._-]", "_", f"{recording.name[:3].rstrip('0123456789-')}.{database}.{table}")
        queue = by_topic.get(topic, [])
        if not queue:
            continue
        try:
            versions = _versions(server, name, told)
        except Unsupported:
            continue
        changes = _final(server, name) if snapshot else _changes(server, name)
        for number, (since, until, found, identity) in enumerate(versions, 1):
            chosen = [one for one in changes if since <= one.statement < until]
            if (not is_mysql and identity == "n") or not chosen:
                continue
            tombstones = "no-tombstone" not in options
            full = (*options, "full") if identity == "f" else options
            profile = fmt.profile("+".join((recording.release, *full)))
            events, messages = _aligned(found, chosen, queue, tombstones, identity)
            if not messages:
                continue
            yield Episode(
                replace(recording, profile=profile.name, volatile=blank),
                f"{slug(name)}-{number}" if len(versions) > 1 else slug(name),
                History(tuple(events)),
                tuple(messages),
                2,
                _lost(found),
                tuple(_limits(found)),
            )


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


def _final(server: str, table: str) -> tuple[_Change, ...]:
    rows = store.truth(PRODUCT)[server]["final"].get(table, ())
    last = len(_statements(server))
    return (_Change(last, table, Op.READ, tuple((None, row, False) for row in rows)),) if rows else ()


def _versions(server: str, name: str, told: Mapping[str, Any]) -> list[tuple[int, int, Table, str]]:
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
            found.append((start, end, made, version["replica_identity"]))
    return found


def _declared(statement: str) -> dict[str, str]:
    """The types of columns as a CREATE TABLE spells them, where SHOW CREATE TABLE spells others."""
    return {
        m[1] or m[2]: m[3].upper()
        for m in re.finditer(r"[(,\n]\s*(?:`([^`]+)`|(\w+)) (BOOLEAN|BOOL|REAL)\b", statement, re.IGNORECASE)
    }


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
            except Unsupported:
                continue
            if len(taken) == count:
                rows.append(images)
                messages.extend(taken)
        if rows:
            events.append(RowChange(Instant(START.ms, number), table, change.op, tuple(rows)))
    return events, messages


def _row(table: Table, texts: Mapping[str, str | None] | None) -> Row | None:
    if texts is None:
        return None
    return (postgresql_truth if table.schema else mysql_truth).row(table, texts)


def _lost(table: Table) -> tuple[Lost, ...]:
    return ()


def _limits(table: Table) -> Iterator[str]:
    return iter(())
