"""The reference decoders of Huawei CDL's two versions against the vendor's samples, and against
what breaks naive readers.
"""

import datetime as dt
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from decoded import DOCUMENT_004, MISFIT, Records, assert_corrupt, assert_typed, by_offset
from grouped import cells
from literals import literal

from generators.model import Column, Deployment, Table
from generators.sources import postgresql
from spark_checks.decoders import huawei_cdl_debezium, huawei_cdl_json

OWN, DEBEZIUM = huawei_cdl_json, huawei_cdl_debezium
PG = postgresql

SAMPLE_OWN = literal("huawei-cdl-1.0.json")
SAMPLE_DEBEZIUM = DOCUMENT_004
"""Document 004, the two examples as they stand there."""
SAMPLES = pytest.mark.parametrize(
    ("module", "sample"), [(OWN, SAMPLE_OWN), (DEBEZIUM, SAMPLE_DEBEZIUM)], ids=["1.0", "2.0"]
)
EACH = pytest.mark.parametrize("module", [OWN, DEBEZIUM], ids=["1.0", "2.0"])

SAMPLE_COLUMNS = (
    Column("count1", PG.integer("bigint")),
    Column("id", PG.integer()),
    Column("time1", PG.temporal("timestamp")),
)
SAMPLE_TABLE = Table(
    None,
    "ct_pg2hudi",
    (*SAMPLE_COLUMNS, Column("decimalNum", PG.numeric(10, 2))),
    ("id",),
    schema="public",
)

Field = Mapping[str, object]
DECIMAL: Field = {"type": "string", "name": "com.xxx.cdc.data.Decimal"}
STAMP_TEXT: Field = {"type": "string", "name": "com.xxx.cdc.data.timestamp"}
ZONED: Field = {"type": "string", "name": "io.debezium.time.ZonedTimestamp", "version": 1}


def connect(name: str, kind: str = "int64") -> Field:
    """A field of one of Connect's logical types."""
    return {"type": kind, "name": f"org.apache.kafka.connect.data.{name}", "version": 1}


def debezium(name: str, kind: str = "int64") -> Field:
    """A field of one of Debezium's logical types."""
    return {"type": kind, "name": f"io.debezium.time.{name}", "version": 1}


def message(
    module: Any,
    op: str,
    before: object = None,
    after: object = None,
    fields: Mapping[str, Field] | None = None,
    **more: object,
) -> str:
    """A message of public.t in database db; `fields` are those of the rows' schema, without which
    there is none. `more` are members that replace others, or are left out if they are `...`.
    """
    own = module is OWN
    payload: dict[str, object] = {
        "message_version": "1.0" if own else "2.0",
        "message_type": "0",
        "LOB_COLUMNS": None,
    }
    payload |= {"unique": {"id": 1}, "before": before}
    if own:
        operation, lsn = (
            {"c": "INSERT", "u": "UPDATE", "d": "DELETE"}.get(op, op),
            {"name": "lsn", "value": 163955221008},
        )
        payload |= {
            "DATA_STORE": "POSTGRESQL",
            "SEG_OWNER": "public",
            "TABLE_NAME": "t",
            "TIMESTAMP": 1707047996013,
        }
        payload |= {
            "OPERATION": operation,
            "transaction": {"properties": [lsn, {"name": "txId", "value": 57227595}]},
        }
        payload |= {"data": after, "HEARTBEAT_IDENTIFIER": "279fb050-0143-45c1-b184-50bc48c2461c"}
    else:
        source = {
            "version": "1.4.0.Final",
            "connector": "postgresql",
            "name": "cdl",
            "ts_ms": 1707048891235,
            "snapshot": "false",
        }
        source |= {
            "db": "db",
            "schema": "public",
            "table": "t",
            "txId": 57227663,
            "lsn": 163955586912,
        }
        payload |= {"after": after, "source": source, "op": op, "ts_ms": 1707048984208}
    payload = {name: value for name, value in (payload | more).items() if value is not ...}
    if fields is None:
        return json.dumps(payload, ensure_ascii=False)
    row = {
        "type": "struct",
        "fields": [{"optional": True, **f, "field": n} for n, f in fields.items()],
        "optional": True,
    }
    sides = [
        {**row, "name": "before", "field": "before"},
        {**row, "name": "data", "field": "data" if own else "after"},
    ]
    schema = {"type": "struct", "fields": sides, "optional": False, "name": "public.t"}
    return json.dumps({"schema": schema, "payload": payload}, ensure_ascii=False)


@pytest.fixture
def records(records: Records) -> Records:
    """Records with a key that is none of a row."""
    return lambda *values: records(*((b"no key of a row", value) for value in values))


@SAMPLES
def test_samples_of_document_004(records, module, sample):
    (out,) = module.decode(records(sample)).collect()
    assert (out.kind, out.op, out.schema, out.table, out["keys"]) == (
        "ROW",
        "INSERT",
        "public",
        "ct_pg2hudi",
        ["id"],
    )
    expected = {
        OWN: (None, "163955221008", dt.datetime(2024, 2, 4, 11, 59, 56, 13000, dt.UTC), "13", "34"),
        DEBEZIUM: (
            "cdl",
            "163955586912",
            dt.datetime(2024, 2, 4, 12, 14, 51, 235000, dt.UTC),
            "14",
            "35",
        ),
    }
    database, position, committed, count, key = expected[module]
    assert (out.database, out.position, out.commit_time.astimezone(dt.UTC)) == (
        database,
        position,
        committed,
    )
    assert (out.before, out.after) == (
        None,
        {"count1": count, "id": key, "time1": None, "decimalNum": None},
    )
    assert (out.types, out.schema_version, out.sql, out.error) == (None, None, None, None)


@SAMPLES
def test_samples_of_document_004_at_level_two(records, module, sample):
    nulls, time1 = (
        '"time1":null,"decimalNum":null',
        {OWN: "1707048000500", DEBEZIUM: '"2024-02-04 12:00:00.5"'}[module],
    )
    filled = sample.replace(nulls, f'"time1":{time1},"decimalNum":"12.30"')
    repackaged = filled.replace("com.xxx.", "com.huawei.cdl.")
    assert nulls in sample and "com.huawei.cdl.cdc.data.Decimal" in repackaged
    table = (
        SAMPLE_TABLE
        if module is OWN
        else Table("cdl", "ct_pg2hudi", SAMPLE_TABLE.columns, ("id",), schema="public")
    )
    out = by_offset(module.decode_rows(records(sample, filled, repackaged), table))
    count, key = {OWN: (13, 34), DEBEZIUM: (14, 35)}[module]
    assert [(row.kind, row.op, row.before) for row in out.values()] == [("ROW", "INSERT", None)] * 3
    assert tuple(out[0].after) == (count, key, None, None)
    assert tuple(out[1].after) == (
        count,
        key,
        dt.datetime(2024, 2, 4, 12, 0, 0, 500000),
        Decimal("12.30"),
    )
    assert out[2].after == out[1].after


@EACH
def test_operations_and_their_images(records, module):
    """A DELETE has its row in `before`, the key alone under REPLICA IDENTITY DEFAULT; images are
    the wire's.
    """
    old, new = {"id": 1, "a": "x"}, {"id": 1, "a": "null"}
    wire = [
        *(
            message(module, "c", None, new),
            message(module, "u", old, new),
            message(module, "u", None, new),
        ),
        *(message(module, "d", old, None), message(module, "d", {"id": 1, "a": None}, None)),
        *(
            message(module, "d", {"id": 1}, None),
            message(module, "u", old, None),
            message(module, "c", old, None),
        ),
        *(
            message(module, "x", None, new),
            message(module, "u", {}, {"id": 1.5, "a": [1, {"b": None}], "c": True}),
        ),
    ]
    out = by_offset(module.decode(records(*wire)))
    had, has = {"id": "1", "a": "x"}, {"id": "1", "a": "null"}
    assert [(r.kind, r.op, r.before, r.after) for _, r in sorted(out.items())] == [
        *(
            ("ROW", "INSERT", None, has),
            ("ROW", "UPDATE", had, has),
            ("ROW", "UPDATE", None, has),
            ("ROW", "DELETE", had, None),
        ),
        *(
            ("ROW", "DELETE", {"id": "1", "a": None}, None),
            ("ROW", "DELETE", {"id": "1"}, None),
            ("CORRUPT", None, None, None),
        ),
        *(("CORRUPT", None, None, None), ("CORRUPT", None, None, None)),
        ("ROW", "UPDATE", {}, {"id": "1.5", "a": '[1,{"b":null}]', "c": "true"}),
    ]


def test_a_snapshots_row(records):
    (out,) = DEBEZIUM.decode(records(message(DEBEZIUM, "r", None, {"id": 1}))).collect()
    assert (out.kind, out.op, out.after) == ("ROW", "READ", {"id": "1"})


@EACH
def test_keys_are_the_members_of_unique(records, module):
    row = {"a": 1, "b": 2, "c": 3}
    uniques: list[object] = [{"c": 3, "a": 1}, None, {}, ..., {"dot.ted": 1, "汉`字": 2}, [1]]
    out = by_offset(
        module.decode(records(*(message(module, "c", None, row, unique=u) for u in uniques)))
    )
    assert [out[i]["keys"] or None for i in range(6)] == [
        ["c", "a"],
        None,
        None,
        None,
        ["dot.ted", "汉`字"],
        None,
    ]
    assert [out[i].kind for i in range(6)] == ["ROW"] * 5 + ["CORRUPT"]


@EACH
def test_heartbeats_are_rows(records, module):
    """Neither the identifier nor the heartbeat's table makes another kind of a row, nor does the
    type of message.
    """
    row = {"cdl_job_id": 7}
    named: dict[str, object] = (
        {"SEG_OWNER": "cdc_cdl", "TABLE_NAME": "cdc_heartbeat"}
        if module is OWN
        else {
            "source": {
                "ts_ms": 1,
                "db": "db",
                "schema": "cdc_cdl",
                "table": "cdc_heartbeat",
                "lsn": 2,
            }
        }
    )
    variants: list[dict[str, object]] = [
        *(
            {"HEARTBEAT_IDENTIFIER": "x"},
            {"HEARTBEAT_IDENTIFIER": None},
            {"HEARTBEAT_IDENTIFIER": ...},
            {"message_type": "1"},
        ),
        *({"message_type": ..., "message_version": ...}, {"LOB_COLUMNS": "a,b"}, named),
    ]
    out = by_offset(
        module.decode(records(*(message(module, "c", None, row, **v) for v in variants)))
    )
    assert [(r.kind, r.op, r.after) for r in out.values()] == [
        ("ROW", "INSERT", {"cdl_job_id": "7"})
    ] * len(variants)
    assert (out[6].schema, out[6].table) == ("cdc_cdl", "cdc_heartbeat")


def test_position_is_the_property_called_lsn(records):
    """By its name wherever it stands in the array, with all its digits."""
    lsn, tx = {"name": "lsn", "value": (1 << 63) - 1}, {"name": "txId", "value": 5}
    lists: list[Any] = [[lsn, tx], [tx, lsn], [lsn], [tx], [], None]
    out = by_offset(
        OWN.decode(
            records(*(message(OWN, "c", None, {}, transaction={"properties": p}) for p in lists))
        )
    )
    assert [out[i].position for i in range(6)] == ["9223372036854775807"] * 3 + [None] * 3
    assert [out[i].kind for i in range(6)] == ["ROW"] * 6


def test_position_and_time_of_version_2(records):
    source = {
        "ts_ms": 1,
        "db": "d",
        "schema": "s",
        "table": "t",
        "lsn": 9007199254740993,
        "txId": 1,
        "xmin": None,
    }
    (out,) = DEBEZIUM.decode(records(message(DEBEZIUM, "c", None, {}, source=source))).collect()
    assert (out.database, out.schema, out.table, out.position) == (
        "d",
        "s",
        "t",
        "9007199254740993",
    )
    assert out.commit_time.astimezone(dt.UTC) == dt.datetime(1970, 1, 1, 0, 0, 0, 1000, dt.UTC)


@SAMPLES
def test_what_is_no_message_is_corrupt_at_both_levels(records, module, sample):
    other = SAMPLE_DEBEZIUM if module is OWN else SAMPLE_OWN
    truncated = [sample[:n] for n in range(1, len(sample), 97)]
    bad = [
        "",
        " ",
        "null",
        "[]",
        f"[{sample}]",
        "1",
        "{}",
        '{"schema":null,"payload":{}}',
        sample + "}",
        sample + sample,
    ]
    bad += [
        sample + " x",
        sample[:-1],
        other,
        sample.replace('"before":null', '"before":[]'),
        *truncated,
    ]
    for frame in (module.decode(records(*bad)), module.decode_rows(records(*bad), SAMPLE_TABLE)):
        assert_corrupt(frame, len(bad))


@EACH
def test_a_record_without_value_is_a_tombstone(records, module):
    (out,) = module.decode(records(None)).collect()
    assert (out.kind, out.op, out.table, out.position) == ("TOMBSTONE", None, None, None)
    assert module.decode_rows(records(None), SAMPLE_TABLE).collect() == []


NAN = math.nan
MS = connect("Timestamp")
NOON = dt.datetime(2024, 2, 4, 12, 0, 0, 500000)

BOTH = cells(
    (PG.boolean(), ({"type": "boolean"}, True, True), ({"type": "boolean"}, 2, MISFIT)),
    (
        PG.integer("smallint"),
        ({"type": "int16"}, -32768, -32768),
        ({"type": "int16"}, 32768, MISFIT),
    ),
    (
        PG.integer(),
        ({"type": "int32"}, 2147483647, 2147483647),
        ({"type": "int32"}, 2147483648, MISFIT),
    ),
    (PG.integer(), ({"type": "int32"}, 1.5, MISFIT), ({"type": "int32"}, {}, MISFIT)),
    (
        PG.integer("bigint"),
        ({"type": "int64"}, 9007199254740993, 9007199254740993),
        ({"type": "int64"}, 1 << 63, MISFIT),
    ),
    (
        PG.numeric(38, 10),
        (
            DECIMAL,
            "-1234567890123456789012345678.9012345678",
            Decimal("-1234567890123456789012345678.9012345678"),
        ),
    ),
    (
        PG.numeric(10, 2),
        ({"type": "string", "name": "org.other.pack.Decimal"}, "1.50", Decimal("1.50")),
    ),
    (
        PG.numeric(10, 2),
        (DECIMAL, "123456789", MISFIT),
        (DECIMAL, "0.001", MISFIT),
        (DECIMAL, "AQ==", MISFIT),
    ),
    (
        PG.numeric(65, 30),
        (DECIMAL, "9" * 35 + "." + "9" * 30, "9" * 35 + "." + "9" * 30),
        (DECIMAL, "9" * 36, MISFIT),
    ),
    (PG.real(), ({"type": "float"}, 1.5, 1.5)),
    (
        PG.real("double precision"),
        ({"type": "double"}, 4.9e-324, 4.9e-324),
        ({"type": "double"}, "-Infinity", -math.inf),
    ),
    (
        PG.real("double precision"),
        ({"type": "double"}, "NaN", NAN),
        ({"type": "double"}, "much", MISFIT),
    ),
    (PG.text("text"), ({"type": "string"}, "null", "null")),
    (PG.text("varchar", 16), ({"type": "string"}, "", "")),
    (PG.text("char", 4), ({"type": "string"}, "a   ", "a   ")),
    (
        PG.uuid(),
        (
            {"type": "string"},
            "12345678-1234-1234-1234-123456789012",
            "12345678-1234-1234-1234-123456789012",
        ),
    ),
    (PG.bytea(), ({"type": "bytes"}, "1234", b"\xd7\x6d\xf8"), ({"type": "bytes"}, "", b"")),
    (PG.bytea(), ({"type": "bytes"}, "/+8=", b"\xff\xef"), ({"type": "bytes"}, "\\x00", MISFIT)),
    (
        PG.json(),
        ({"type": "string"}, '{"n": 12345678901234567890.1}', '{"n": 12345678901234567890.1}'),
    ),
    (PG.json(), ({"type": "string"}, "{", MISFIT)),
    (PG.json("jsonb"), ({"type": "string"}, "null", "null")),
    (PG.temporal("date"), (connect("Date", "int32"), -1, dt.date(1969, 12, 31))),
    (PG.temporal("date"), (debezium("Date", "int32"), 19757, dt.date(2024, 2, 4))),
    (PG.temporal("date"), (debezium("Date", "int32"), 1707048000500, MISFIT)),
    (PG.temporal("time", 3), (connect("Time", "int32"), 43200500, "12:00:00.500000")),
    (
        PG.temporal("time"),
        (debezium("MicroTime"), 86399999999, "23:59:59.999999"),
        (connect("Time", "int32"), 86400001, MISFIT),
    ),
    (
        PG.temporal("timestamp"),
        (MS, 1707048000500, NOON),
        (MS, -1, dt.datetime(1969, 12, 31, 23, 59, 59, 999000)),
    ),
    (PG.temporal("timestamp"), (MS, 1.5, MISFIT), (STAMP_TEXT, "2024-02-04 12:00:00.5", NOON)),
    (PG.temporal("timestamp"), (STAMP_TEXT, "2024-02-04T12:00:00.500Z", NOON)),
    (
        PG.temporal("timestamp"),
        (
            {"type": "string", "name": "com.x.timestamp"},
            "2024-02-04 12:00:00",
            NOON.replace(microsecond=0),
        ),
    ),
    (PG.temporal("timestamp"), (STAMP_TEXT, "2024-02-30 12:00:00", MISFIT)),
    (
        PG.temporal("timestamptz"),
        (MS, 1707048000500, NOON),
        (ZONED, "2024-02-04T12:00:00.5Z", NOON),
    ),
    (
        PG.temporal("timestamptz"),
        (ZONED, "2024-02-04T20:00:00.5+08:00", NOON),
        (ZONED, "noon", MISFIT),
    ),
)
BARE = cells(
    *(
        (PG.temporal("date"), ({}, 19757, dt.date(2024, 2, 4))),
        (PG.numeric(10, 2), ({}, "1.50", Decimal("1.50"))),
    ),
    *((PG.bytea(), ({}, "AQ==", b"\x01")), (PG.boolean(), ({}, False, False))),
)
SCHEMALESS = {
    OWN: cells(
        *((PG.temporal(kind), ({}, 1707048000500, NOON)) for kind in ("timestamp", "timestamptz")),
        (PG.temporal("time"), ({}, 43200500, "12:00:00.500000")),
    ),
    DEBEZIUM: cells(
        (PG.temporal("timestamp"), ({}, "2024-02-04 12:00:00.5", NOON)),
        (PG.temporal("timestamptz"), ({}, "2024-02-04T12:00:00.5Z", NOON)),
        (PG.temporal("time"), ({}, 43200500000, "12:00:00.500000")),
    ),
}
"""Cells of messages without schema: of both versions, and of each."""


@EACH
def test_cells_are_typed_by_the_messages_schema(records, spark, module):
    """One misfit spoils the message, and only it."""

    def write(name: str, cell: Any) -> str:
        return message(module, "d", {name: cell[1]}, None, {name: cell[0]} if cell[0] else None)

    instants = [
        (
            kind,
            (field, wire),
            wanted.replace(tzinfo=dt.UTC)
            if kind.name == "timestamptz" and wanted is not MISFIT
            else wanted,
        )
        for kind, field, wire, wanted in (*BOTH, *SCHEMALESS[module], *BARE)
    ]
    assert_typed(spark, records, module, instants, write, Deployment(), "public")


@EACH
def test_a_key_only_image_is_passed_as_it_is(records, module):
    table = Table(
        "db", "t", (Column("id", PG.integer()), Column("a", PG.text())), ("id",), schema="public"
    )
    wire = [
        message(module, "d", {"id": 1, "a": None}),
        message(module, "u", {"id": 1, "a": None}, {"id": 2, "a": "x"}),
    ]
    out = by_offset(
        module.decode_rows(records(*wire, message(module, "u", None, {"id": 2, "a": "x"})), table)
    )
    assert (tuple(out[0].before), out[0].after) == ((1, None), None)
    assert (tuple(out[1].before), tuple(out[1].after)) == ((1, None), (2, "x"))
    assert (out[2].op, out[2].before, tuple(out[2].after)) == ("UPDATE", None, (2, "x"))
