"""TiCDC Debezium JSON: what PingCAP TiCDC writes to Kafka with `protocol=debezium`.

Releases: v8.1.2 and v8.5.7 of the classic architecture (pingcap/tiflow), new-8.5.6 and new-8.5.7 of the new one (pingcap/ticdc).
Source of truth: PingCAP's TiCDC Debezium Protocol, corrected by TiCDC's source (the facts ticdc-debezium#...).

The envelope is that of Debezium's MySQL connector 2.4, and it is not: the payload stands before its schema, and alone in an
object where the schema is left out; `source` has `commit_ts` and `cluster_id`, and file, pos and row are always empty; no
tombstone follows a DELETE; rows of a table go to one partition, chosen as for ticdc-canal-json, whatever their key; DECIMAL is
always a double and BIGINT UNSIGNED a signed number. Classic TiCDC writes rows alone; the new architecture also writes DDL (to
every partition) and, with the extension, watermarks of op `m`. A statement of a kind that the encoder does not know is left out.

Not written: large-message-handle-compression, which packs the key too; a server zone with hours that occur twice, in which the
classic architecture may move a TIMESTAMP by an hour; the duplicate member that the classic architecture writes for NULL of a
binary column with a default; most of a column in `tableChanges`, and `start_ts` of later releases.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from generators.families.connect import Schema
from generators.families.debezium.unfit import cell_faults
from generators.families.debezium.values import DebeziumCell
from generators.families.ticdc import text
from generators.families.ticdc.instants import at, declared_columns
from generators.families.ticdc.scenarios import key_updates, selected, statements
from generators.families.ticdc.sink import (
    NEWEST,
    ROUTED,
    ROUTES,
    SELECTED,
    columns_of_rows,
    partition_of,
    source_of,
    split_rows,
    statement,
)
from generators.formats.ticdc_debezium_json.cells import cell, schema
from generators.model import (
    Cell,
    Change,
    Column,
    Default,
    Deployment,
    History,
    Image,
    Instant,
    Kind,
    Layout,
    Logical,
    Message,
    Op,
    Row,
    RowChange,
    Scenario,
    SchemaChange,
    SourceType,
    State,
    Table,
    Value,
    Watermark,
    Written,
    ZeroDate,
)
from generators.sources import mysql
from generators.sources.boundaries import ID, change, insert, named, neutral, scenario
from generators.wire_format import Choices, Format, KindRow, Limit, Loss, Profile

__all__ = ["FORMAT", "PROFILES", "TicdcDebeziumProfile", "profile", "write"]

NAME: Final = "ticdc-debezium-json"
CLUSTER: Final = "default"
_OLD: Final = "v8.1.2"
_NEW: Final = "new-8.5.6"


@dataclass(frozen=True, slots=True)
class TicdcDebeziumProfile(Profile):
    """A TiCDC release and its options as facts about the bytes.

    `keyed`: records have the row's key. `filled`: a column's default stands for NULL, and the epoch for a zero TIMESTAMP.
    `years`: years 1 to 99 are moved to 1970 to 2069. `statements`: DDL is written, and watermarks where `extension` says so.
    `schemas` writes the schema block, `before` the before image of an UPDATE.
    """

    keyed: bool = True
    filled: bool = True
    years: bool = True
    statements: bool = False
    extension: bool = False
    schemas: bool = True
    before: bool = True


RELEASES: Final[Mapping[str, TicdcDebeziumProfile]] = {
    _OLD: TicdcDebeziumProfile(_OLD, keyed=False, filled=False, years=False),
    "v8.5.7": TicdcDebeziumProfile("v8.5.7"),
    _NEW: TicdcDebeziumProfile(_NEW, statements=True),
    NEWEST: TicdcDebeziumProfile(NEWEST, statements=True),
}
OPTIONS: Final[Mapping[str, str]] = {
    "schemaless": "debezium-disable-schema: key and value are objects of a payload alone.",
    "without-before": "output-old-value=false: an UPDATE has no member `before`; a DELETE has its row there all the same.",
    "extension": "enable-tidb-extension: watermark messages, of op `m`.",
    **SELECTED,
    **ROUTED,
}
CHOICES: Final = Choices(
    NAME, tuple(RELEASES), OPTIONS, (), (Limit("extension", f"is an option of {_NEW}, {NEWEST} alone", (_NEW, NEWEST)), ROUTES)
)


def profile(release: str, *options: str) -> TicdcDebeziumProfile:
    """The profile of a release with options. Raises UnknownName, or UsageError for what does not go together."""
    made, schemas = CHOICES.made(RELEASES, release, *options), "schemaless" not in options
    deployment = Deployment(
        binary="base64",
        decimal="double",
        temporal="adaptive_time_microseconds",
        bigint_unsigned="long",
        schemas=("message" if made.keyed else "value") if schemas else "none",
    )
    return replace(made, deployment=deployment, schemas=schemas)


PROFILES: Final = (
    profile(_NEW, "extension"),
    profile(_OLD),
    profile("v8.5.7"),
    profile("v8.5.7", "schemaless", "without-before"),
    profile(_NEW, "schemaless", "extension"),
)

_OPS: Final = {Op.INSERT: "c", Op.UPDATE: "u", Op.DELETE: "d"}
_ACTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("create database", "create table", "create tables", "create view"), "CREATE"),
    **dict.fromkeys(("drop database", "drop table", "drop index", "drop view", "truncate table"), "DROP"),
    **dict.fromkeys(("add column", "drop column", "modify column", "change column", "multi schema change"), "ALTER"),
    **dict.fromkeys(("add partition", "drop partition", "truncate partition", "reorganize partition"), "ALTER"),
    **dict.fromkeys(("alter partitioning", "remove partitioning", "exchange partition", "rebase auto id"), "ALTER"),
    **dict.fromkeys(("set default", "table comment", "table charset", "alter database", "create index"), "ALTER"),
    **dict.fromkeys(("index visibility", "rename index", "rename table", "add primary key", "drop primary key"), "ALTER"),
}
"""The type of a table's change by the action of the statement (ticdc-debezium#ddl-kinds)."""


def write(history: History, profile: TicdcDebeziumProfile, layout: Layout) -> list[Written]:
    """Every message of the history with its expectation, in the order of publication; other events have none."""
    chance = random.Random(history.seed)
    written: list[Written] = []
    for number, event in enumerate(history.events):
        sent = event.at.ms + chance.randint(5, 2_000)
        places: Iterator[int] | range = range(layout.partitions)
        match event:
            case RowChange():
                found = [
                    (_row(event, op, before, after, profile, sent), (after or before or {}))
                    for op, before, after in split_rows(event, split_keys=True)
                ]
                for (key, value, told), row in found:
                    place = partition_of("table", source_of(event.table, profile.options), row, event.at.tso, layout.partitions)
                    written.append(Written(Message(layout.topic, place, key, value, (), sent, number), (told,)))
                continue
            case SchemaChange() if profile.statements and event.action in _ACTIONS:
                key, value, told = _statement(event, profile, sent)
            case Watermark() if profile.statements and profile.extension:
                key, value, told = _watermark(event, profile, sent)
            case _:
                continue
        for place in places:
            written.append(Written(Message(layout.topic, place, key, value, (), sent, number), (told,)))
    return written


def _json(value: Any) -> str:
    return text.iterator_string(value) if isinstance(value, str) else json.dumps(value)


def _object(members: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{text.iterator_string(name)}:{shown}" for name, shown in members.items()) + "}"


def _message(profile: TicdcDebeziumProfile, payload: str, shape: str) -> bytes:
    return (f'{{"payload":{payload},"schema":{shape}}}' if profile.schemas else f'{{"payload":{payload}}}').encode()


def _field(found: Schema, field: str = "", fields: str = "") -> str:
    """A schema in TiCDC's order of members."""
    told: dict[str, Any] = {"type": found.type, "optional": found.optional}
    told |= {"name": found.name} if found.name else {}
    told |= {"version": found.version} if found.version else {}
    told |= {"parameters": dict(found.parameters)} if found.parameters else {}
    told |= {"field": field} if field else {}
    members = {name: json.dumps(one, ensure_ascii=False) if isinstance(one, dict) else _json(one) for name, one in told.items()}
    return _object(members | ({"fields": f"[{fields}]"} if found.type == "struct" else {}))


def _column(column: Column, profile: TicdcDebeziumProfile) -> str:
    """The schema of a column; its default stands behind its name, its TiDB type before everything."""
    kind, told = column.type, _field(schema(column.type, column.nullable), column.name)
    if profile.filled and column.default is not None:
        told = f'{told[:-1]},"default":{cell(column, None, new=True, years=profile.years).json}}}'
    if profile.extension:
        unsigned = kind.unsigned and kind.logical not in (Logical.DECIMAL, Logical.BIT, Logical.YEAR)
        told = f'{{"tidb_type":"{kind.name}{" unsigned" if unsigned else ""}",{told[1:]}'
    return told


def _named(*parts: str) -> str:
    """The name of a schema: what Avro's names do not have is an underscore (ticdc-debezium#schema-names)."""
    return ".".join(re.sub(r"[^A-Za-z0-9_]", "_", part) for part in (CLUSTER, *parts))


_SNAPSHOT: Final = (
    '{"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,'
    '"parameters":{"allowed":"true,last,false,incremental"},"default":"false","field":"snapshot"}'
)
_SOURCE: Final = _field(
    Schema("struct", name="io.debezium.connector.mysql.Source"),
    "source",
    ",".join(
        _SNAPSHOT if name == "snapshot" else _field(Schema(kind, optional == "?"), name)
        for name, kind, optional in (
            *(("version", "string", ""), ("connector", "string", ""), ("name", "string", ""), ("ts_ms", "int64", "")),
            *(("snapshot", "", ""), ("db", "string", ""), ("sequence", "string", "?"), ("table", "string", "?")),
            *(("server_id", "int64", ""), ("gtid", "string", "?"), ("file", "string", ""), ("pos", "int64", "")),
            *(("row", "int32", ""), ("thread", "int64", "?"), ("query", "string", "?")),
        )
    ),
)
_TAIL: Final = ",".join(
    (
        _SOURCE,
        _field(Schema("string"), "op"),
        _field(Schema("int64", True), "ts_ms"),
        _field(
            Schema("struct", True, "event.block", 1),
            "transaction",
            ",".join(
                _field(Schema(kind), name)
                for name, kind in (("id", "string"), ("total_order", "int64"), ("data_collection_order", "int64"))
            ),
        ),
    )
)


def _source(instant: Instant, database: str, table: str) -> str:
    told: dict[str, Any] = {"version": "2.4.0.Final", "connector": "TiCDC", "name": CLUSTER, "ts_ms": instant.ms}
    told |= {"snapshot": "false", "db": database, "table": table, "server_id": 0, "gtid": None, "file": "", "pos": 0, "row": 0}
    told |= {"thread": 0, "query": None, "commit_ts": instant.tso, "cluster_id": CLUSTER}
    return _object({name: _json(value) for name, value in told.items()})


def _row(
    event: RowChange, op: Op, before: Row | None, after: Row | None, profile: TicdcDebeziumProfile, sent: int
) -> tuple[bytes, bytes, Change]:
    table = event.table
    columns = columns_of_rows(table, profile.options)

    def cells(row: Row | None) -> Mapping[str, DebeziumCell] | None:
        return None if row is None else {c.name: cell(c, row[c.name], new=profile.filled, years=profile.years) for c in columns}

    old, new = cells(before), cells(after)
    sides = {"before": old, "after": new}
    shown = {side: "null" if row is None else _object({n: one.json for n, one in row.items()}) for side, row in sides.items()}
    if op is Op.DELETE:
        shown = {"after": "null", "before": shown["before"]}
    elif op is Op.UPDATE and not profile.before:
        old = None
        del shown["before"]
    rest = {"ts_ms": str(sent), "transaction": "null", "op": f'"{_OPS[op]}"', **shown}
    payload = _object({"source": _source(event.at, table.database, table.name), **rest})
    # A virtual column stands in the schema though no row has it (ticdc-debezium#virtual-columns).
    virtual = [c for c in table.columns if c.generated == "virtual"]
    listed = [*(c for c in table.columns if c in columns or (profile.statements and c in virtual)), *virtual]
    fields = ",".join(_column(c, profile) for c in listed)
    name = _named(table.database, table.name)
    images = ",".join(_field(Schema("struct", True, f"{name}.Value"), side, fields) for side in sides)
    value = _message(profile, payload, _field(Schema("struct", name=f"{name}.Envelope", version=1), "", f"{images},{_TAIL}"))
    keys = [c for c in table.columns if c.name in table.handle_key]
    row = new if new is not None else old
    assert row is not None
    told = _object({c.name: row[c.name].json for c in keys})
    shape = _field(Schema("struct", name=f"{name}.Key"), "", ",".join(_column(c, profile) for c in keys))
    lossy = any(one.corrupt for side in (old, new) for one in (side or {}).values())
    found = Change(
        0,
        Kind.ROW,
        op,
        database=table.database,
        table=table.name,
        keys=tuple(c.name for c in keys) if profile.keyed else None,
        position=str(event.at.tso),
        commit_time_us=event.at.ms * 1000,
        before=_image(table, old),
        after=_image(table, new),
        accept=((Kind.CORRUPT, None),) if lossy else (),
    )
    return _message(profile, told, shape) if profile.keyed else b"", value, found


def _image(table: Table, row: Mapping[str, DebeziumCell] | None) -> Image | None:
    if row is None:
        return None
    return {c.name: row[c.name].cell if c.name in row else Cell(State.ABSENT, c.type) for c in table.columns}


def _statement(event: SchemaChange, profile: TicdcDebeziumProfile, sent: int) -> tuple[bytes, bytes, Change]:
    """A DDL; `tableChanges` has the columns where the history knows the table."""
    sql = statement(event, profile)
    changed: list[dict[str, Any]] = []
    if event.table and event.action != "truncate table":
        one = ".".join(f'"{part}"' for part in (event.database, event.table))
        renamed = f'"{event.database}"."{event.old_name}",{one}' if event.old_name else one
        shape = None if event.action == "drop table" else _shape(event.after)
        changed.append({"type": _ACTIONS[event.action], "id": renamed, "table": shape})
    payload = {
        "source": _source(event.at, event.database, event.table),
        "ts_ms": str(sent),
        "databaseName": text.iterator_string(event.database),
        "schemaName": "null",
        "ddl": text.iterator_string(sql),
        "tableChanges": json.dumps(changed, ensure_ascii=False, separators=(",", ":")),
    }
    name = "io.debezium.connector.mysql.SchemaChange"
    strings = [_field(Schema("string", True), one) for one in ("databaseName", "schemaName", "ddl")]
    fields = ",".join((_SOURCE, _field(Schema("int64"), "ts_ms"), *strings))
    key = _message(
        profile,
        _object({"databaseName": text.iterator_string(event.database)}),
        _field(Schema("struct", name=f"{name}Key", version=1), "", _field(Schema("string"), "databaseName")),
    )
    value = _message(profile, _object(payload), _field(Schema("struct", name=f"{name}Value", version=1), "", fields))
    return key, value, _told(Kind.DDL, event.at, event.database, event.table, sql)


def _shape(table: Table | None) -> dict[str, Any]:
    columns = [
        {
            "name": c.name,
            "jdbcType": text.sql_type(c.type, None),
            "typeName": c.type.name.upper(),
            "position": i,
            "optional": c.nullable,
        }
        for i, c in enumerate(table.columns if table else (), 1)
    ]
    keys = list(table.primary_key) if table else []
    return {"defaultCharsetName": "utf8mb4", "primaryKeyColumnNames": keys, "columns": columns, "comment": None}


def _watermark(event: Watermark, profile: TicdcDebeziumProfile, sent: int) -> tuple[bytes, bytes, Change]:
    payload = {"source": _source(event.at, "", ""), "ts_ms": str(sent), "transaction": "null", "op": '"m"'}
    key = _message(profile, "{}", _field(Schema("struct", name=f"{CLUSTER}.watermark.Key")))
    shape = _field(Schema("struct", name=f"{CLUSTER}.watermark.Envelope", version=1), "", _TAIL)
    return key, _message(profile, _object(payload), shape), _told(Kind.WATERMARK, event.at, "", "")


def _told(kind: Kind, instant: Instant, database: str, table: str, sql: str | None = None) -> Change:
    micros = instant.ms * 1000
    return Change(0, kind, database=database, table=table, position=str(instant.tso), commit_time_us=micros, sql=sql)


def scenarios(profile: TicdcDebeziumProfile, database: str) -> Iterator[Scenario]:
    """The format's own cases: statements, watermarks, keys, defaults, virtual columns, two-digit years, zero dates."""
    if profile.statements:
        yield from statements(database, profile, _ACTIONS)
    if profile.extension:
        yield named("control/watermark", Watermark(at(429918007904436226)), tags=("control",))
    yield from key_updates(database)
    yield from selected(database, profile)
    string_, whole = mysql.text("varchar", 64), mysql.integer("int")
    name = "values/default-for-null"
    columns: tuple[Column, ...] = (
        ID,
        Column("a", string_, default=Default("'d'", "d")),
        Column("n", whole, default=Default("5", 5)),
    )
    row: Row = {"id": 1, "a": None, "n": None}
    table = Table(database, neutral(name), columns, ("id",))
    yield named(name, insert(table, row), change(table, Op.UPDATE, (row, {**row, "a": "x"})), tags=("default-for-null",))
    known = declared_columns(profile.release)
    if profile.release == _OLD:
        known = {n: one for n, one in known.items() if n != "v"}
    name = "values/declared"
    columns = (ID, *(column for column, _ in known.values()), Column("w", whole, generated="virtual"))
    row = {"id": 1, **{n: value for n, (_, value) in known.items()}, "w": 2}
    yield scenario(name, insert(Table(database, neutral(name), columns, ("id",)), row))
    name = "values/zero-not-null"
    types = {n: mysql.TYPES[n] for n in ("date", "datetime-6", "timestamp-3")}
    table = Table(database, neutral(name), (ID, *(Column(neutral(n), type, False) for n, type in types.items())), ("id",))
    zeros: dict[str, Value] = {"id": 1, **{neutral(n): ZeroDate() for n in types}}
    yield named(name, insert(table, zeros), tags=("zero-not-null",))
    name = "values/two-digit-year"
    table = Table(database, neutral(name), (ID, Column("c", mysql.temporal("datetime"))), ("id",))
    moments = (mysql.wall("0018-02-03 04:05:06"), mysql.wall("0099-02-03 04:05:06"))
    rows = ((None, {"id": i, "c": moment}) for i, moment in enumerate(moments))
    yield named(name, change(table, Op.INSERT, *rows), tags=("two-digit-year",))
    name = "key/named-schema-and-payload"
    columns = (Column("schema", whole, False), Column("payload", string_, False), Column("a", string_))
    odd = Table(database, neutral(name), columns, ("schema", "payload"))
    row = {"schema": 1, "payload": "{}", "a": "x"}
    yield named(name, insert(odd, row), change(odd, Op.DELETE, (row, None)), tags=("key-look-alike",))


def losses(profile: TicdcDebeziumProfile) -> tuple[Loss, ...]:
    """What the messages do not hold of a row."""

    def left(type: SourceType, value: Value) -> Value:
        found = _wire(profile, type, value).cell
        return found.options[0] if found.state is State.ONE_OF else found.value

    dates = (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP)
    return (
        Loss((Logical.DECIMAL,), "DECIMAL is a double, which keeps some 17 digits", "ticdc-debezium#decimal-double", left),
        Loss(dates, "zero dates are NULL or the epoch, and years 1 to 99 may move", "ticdc-debezium#zero-dates", left),
    )


def _wire(profile: TicdcDebeziumProfile, type: SourceType, value: Value) -> DebeziumCell:
    return cell(Column("c", type), value, new=profile.filled, years=profile.years)


KINDS: Final = (
    KindRow("payload.op c", "ROW", "INSERT"),
    KindRow("payload.op u", "ROW", "UPDATE", "both images whole; no before with output-old-value=false"),
    KindRow("payload.op d", "ROW", "DELETE", "the row stands in before; no tombstone follows"),
    KindRow("payload.op m", "WATERMARK", note="new architecture with the extension; Debezium's m is a logical message"),
    KindRow("payload.ddl, no op", "DDL", note="new architecture"),
)

FORMAT: Final = Format(
    name=NAME,
    title="TiCDC Debezium JSON",
    source="TiDB, TiCDC Debezium Protocol",
    profiles=PROFILES,
    choices=CHOICES,
    build=profile,
    write=write,
    kinds=KINDS,
    position="`source.commit_ts` as decimal text",
    scenarios=scenarios,
    losses=losses,
    cell_faults=lambda profile: cell_faults(lambda type, value: _wire(profile, type, value), profile.source),
)
