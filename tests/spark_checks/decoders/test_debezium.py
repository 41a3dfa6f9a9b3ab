"""The reference decoder of Debezium's JSON against literals of the releases, and against what
breaks naive readers.
"""

import base64
import datetime as dt
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from decoded import DOCUMENT_004, MISFIT, RECORDS, assert_corrupt, assert_typed, by_offset
from grouped import cells
from pyspark.sql import Row

from generators.model import Column, Deployment, Table
from generators.sources import mysql, postgresql, sqlserver
from spark_checks.decoders import debezium_json as decoder
from spark_checks.decoders.families.connect.values import typed

Value = str | bytes | None

MYSQL_SOURCE = json.loads(
    '{"version":"1.9.7.Final","connector":"mysql","name":"dbserver1","ts_ms":1669796261000,"snapshot":"false","db":"db","sequence":null,'
    '"table":"t","server_id":223344,"gtid":null,"file":"mysql-bin.000003","pos":154,"row":2,"thread":null,"query":null}'
)
POSTGRESQL_SOURCE = json.loads(
    '{"version":"1.4.0.Final","connector":"postgresql","name":"cdl","ts_ms":1707048891235,"snapshot":"false","db":"db",'
    '"schema":"public","table":"t","txId":57227663,"lsn":163955586912,"xmin":null}'
)

KEY = (
    '{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],"optional":false,'
    '"name":"dbserver1.inventory.customers.Key"},"payload":{"id":1004}}'
)
"""debezium#record-key."""
LEGACY_TOMBSTONE = '{"schema":null,"payload":null}'
HEARTBEAT = '{"ts_ms":1669796261933}'
BEGIN = (
    '{"status":"BEGIN","id":"571","event_count":null,"data_collections":null,"ts_ms":1669796261933}'
)
END = (
    '{"status":"END","id":"571:53195832","event_count":2,"data_collections":'
    '[{"data_collection":"public.t","event_count":2}],"ts_ms":1669796261933}'
)

PG = postgresql
PRECISE, STRING, DOUBLE = Deployment(), Deployment(decimal="string"), Deployment(decimal="double")
CONNECT, ISO = Deployment(temporal="connect"), Deployment(temporal="isostring")
MICROS, NANOS = Deployment(temporal="microseconds"), Deployment(temporal="nanoseconds")
STRUCTS = Deployment(temporal="structured")
LEAP_DAY = {"year": 2024, "month": 2, "day": 29}
EVENING = {"hour": 22, "minute": 13, "second": 20, "nanos": 123456000}
NO_PARTS = dict.fromkeys((*LEAP_DAY, *EVENING))
"""The parts of a struct of time.precision.mode=structured (debezium#structured-times)."""


def envelope(
    op: object,
    before: object = None,
    after: object = None,
    *,
    source: object = None,
    **more: object,
) -> dict[str, Any]:
    """The payload of a row change of `db`.`t`."""
    members = {
        "before": before,
        "after": after,
        "source": MYSQL_SOURCE if source is None else source,
        "op": op,
    }
    return {**members, "ts_ms": 1669796261933, "transaction": None, **more}


def text(document: object) -> str:
    """A value without schema."""
    return json.dumps(document, ensure_ascii=False)


def with_schema(payload: object, *fields: Mapping[str, object]) -> str:
    """A value with a schema whose rows have these fields."""
    row = {"type": "struct", "fields": list(fields), "optional": True, "name": "s.db.t.Value"}
    both = [{**row, "field": "before"}, {**row, "field": "after"}]
    schema = {"type": "struct", "fields": both, "optional": False, "name": "s.db.t.Envelope"}
    return text({"schema": schema, "payload": payload})


def b64(number: int) -> str:
    """BigInteger.toByteArray in base64."""
    size = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return base64.b64encode(number.to_bytes(size, "big", signed=True)).decode()


def test_sample_of_document_004(records):
    """The vendor's envelope has members more and a schema of other names, which are no reason to
    refuse it.
    """
    out = by_offset(decoder.decode(records((KEY, DOCUMENT_004))))[0]
    assert (out.kind, out.op, out.database, out.schema, out.table) == (
        "ROW",
        "INSERT",
        "cdl",
        "public",
        "ct_pg2hudi",
    )
    assert (out["keys"], out.position, out.before) == (["id"], "163955586912", None)
    assert out.commit_time.astimezone(dt.UTC) == dt.datetime(2024, 2, 4, 12, 14, 51, 235000, dt.UTC)
    assert out.after == {"count1": "14", "id": "35", "time1": None, "decimalNum": None}
    columns = (
        Column("count1", PG.integer("bigint")),
        Column("id", PG.integer()),
        Column("time1", PG.temporal("timestamp")),
    )
    table = Table(
        "cdl",
        "ct_pg2hudi",
        (*columns, Column("decimalNum", PG.numeric(10, 2))),
        ("id",),
        schema="public",
    )
    filled = DOCUMENT_004.replace(
        '"time1":null,"decimalNum":null', '"time1":"2024-02-04 12:00:00.5","decimalNum":"12.30"'
    )
    rows = by_offset(decoder.decode_rows(records(DOCUMENT_004, filled), table))
    assert tuple(rows[0].after) == (14, 35, None, None)
    assert tuple(rows[1].after) == (
        14,
        35,
        dt.datetime(2024, 2, 4, 12, 0, 0, 500000),
        Decimal("12.30"),
    )


def test_images_are_exactly_what_the_wire_carries(records):
    wire = {
        "a": 5,
        "b": 1.5,
        "c": True,
        "d": None,
        "e": {"scale": 4, "value": "AY/J"},
        "f": [1, None],
        "g": "AY/J",
        "h": 2**64,
    }
    read = {
        "a": "5",
        "b": "1.5",
        "c": "true",
        "d": None,
        "e": '{"scale":4,"value":"AY/J"}',
        "f": "[1,null]",
        "g": "AY/J",
    }
    read |= {"h": str(2**64)}
    part = {"a": 4}
    vectors = (
        envelope("c", {}, wire),
        envelope("u", part, wire),
        envelope("u", {}, wire),
        envelope("d", wire, {}),
    )
    out = by_offset(decoder.decode(records(*map(text, vectors))))
    assert [(r.before, r.after) for r in out.values()] == [
        (None, read),
        ({"a": "4"}, read),
        ({}, read),
        (read, None),
    ]


def test_keys_are_the_record_keys_columns(records):
    row, composite = text(envelope("c", None, {"id": 1})), '{"b \\"q\\"":"x","a":null}'
    vectors: tuple[tuple[Value, Value, list[str] | None], ...] = (
        *((KEY, row, ["id"]), (composite, row, ['b "q"', "a"])),
        (f'{{"schema":{{"fields":[]}},"payload":{composite}}}', row, ['b "q"', "a"]),
        ('{"schema":"x","payload":"y"}', row, ["schema", "payload"]),
        ('{"schema":1,"payload":"{}"}', row, ["schema", "payload"]),
        *(
            ('{"schema":"{}","payload":{"scale":0,"value":"AQ=="}}', row, ["schema", "payload"]),
            (None, row, None),
        ),
        *(
            ('{"schema":null,"payload":null}', row, None),
            ("no json", row, None),
            (KEY, None, ["id"]),
        ),
        *(
            (KEY, LEGACY_TOMBSTONE, ["id"]),
            ('{"serverName":"s"}', HEARTBEAT, None),
            ('{"id":"571"}', BEGIN, None),
        ),
    )
    out = by_offset(decoder.decode(records(*((key, value) for key, value, _ in vectors))))
    assert [r["keys"] for r in out.values()] == [wanted for _, _, wanted in vectors]


def test_position_and_commit_time(records):
    pg, incremental = (
        {**POSTGRESQL_SOURCE, "lsn": 2**53 + 1, "ts_ms": -1},
        {**POSTGRESQL_SOURCE, "lsn": None, "ts_ms": 2**62},
    )
    vectors = [
        envelope("c", None, {"id": 1}, source=source) for source in (MYSQL_SOURCE, pg, incremental)
    ]
    out = by_offset(decoder.decode(records(*map(text, vectors))))
    assert [r.position for r in out.values()] == [
        "mysql-bin.000003:154:2",
        "9007199254740993",
        None,
    ]
    assert [r.commit_time is None for r in out.values()] == [False, True, True]
    assert [r.schema for r in out.values()] == [None, "public", "public"]


GOOD = text(envelope("c", None, {"a": 1}))
UNREADABLE: tuple[Value, ...] = (
    *(
        LEGACY_TOMBSTONE * 2,
        LEGACY_TOMBSTONE + "x",
        '{"schema":{"type":"struct"}}',
        '{"schema":{"type":"struct"},"payload":[]}',
    ),
    *(
        '{"schema":{"type":"struct"},"payload":{}}',
        '{"schema":[],"payload":' + GOOD + "}",
        '{"payload":"null}"}',
    ),
    *(
        text(envelope("x", None, {"a": 1})),
        text(envelope("a", None, {"a": 1})),
        text(envelope("", None, {"a": 1})),
    ),
    *(
        text(envelope(5, None, {"a": 1})),
        text(envelope(None, None, {"a": 1})),
        text(envelope({"c": 1}, None, {"a": 1})),
    ),
    *(
        text(envelope("c", {"a": 1})),
        text(envelope("r")),
        text(envelope("u", {"a": 1})),
        text(envelope("c", None, [])),
    ),
    *(
        text(envelope("c", None, "row")),
        text(envelope("u", [], {"a": 1})),
        text(envelope("c", None, {"a": 1}, source="db")),
    ),
    *(text({"op": "c", "after": {"a": 1}}), text({"op": "m", "source": POSTGRESQL_SOURCE})),
    *(
        text({"status": "PAUSED", "id": "5"}),
        text({"status": "BEGIN"}),
        text({"ddl": "drop table t"}),
        text({"ts_ms": "soon"}),
    ),
    '{"before":null,"after":{"a":' + "[" * 2000 + "]" * 2000 + "}}",
)


def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records):
    table = Table("db", "t", (Column("a", mysql.integer("int")),))
    for frame in (
        decoder.decode(records(*UNREADABLE)),
        decoder.decode_rows(records(*UNREADABLE), table),
    ):
        assert_corrupt(frame, len(UNREADABLE))


def test_a_time_beyond_all_times_never_raises_and_never_vanishes(records):
    far = text(envelope("c", None, {"a": "x"})).replace("1669796261000", "9223372036854775807")
    table = Table("db", "t", (Column("a", mysql.text()),))
    for frame in (decoder.decode(records(far)), decoder.decode_rows(records(far), table)):
        assert set(by_offset(frame)) == {0}


FLAT = {
    "id": 1,
    "a": "x",
    "__deleted": "false",
    "__op": "c",
    "__table": "t",
    "__lsn": 7,
    "__source_ts_ms": 1669796261000,
    "__schema": "public",
    "__ts_ms": 1669796261001,
}


def test_flattened_rows_are_the_row_that_their_operation_leaves(spark):
    """debezium#flattened."""
    headers = [("__op", b"c"), ("__db", b"db")]
    schema = {
        "type": "struct",
        "fields": [{"type": "int32", "optional": False, "field": "id"}],
        "optional": False,
    }
    values = (
        text(FLAT),
        text({**FLAT, "__op": "d", "__deleted": "true"}),
        "null",
        text({"schema": schema, "payload": FLAT}),
    )
    rows = [
        (b'{"id":1}', value.encode(), "cdc", 1, i, None, 0, headers)
        for i, value in enumerate(values)
    ]
    frame = spark.createDataFrame(rows, RECORDS)
    new, old, gone, wrapped = (
        row.asDict(recursive=True) for _, row in sorted(by_offset(decoder.decode(frame)).items())
    )
    assert (new["kind"], new["op"], new["database"], new["table"], new["position"]) == (
        "ROW",
        "INSERT",
        "db",
        "t",
        "7",
    )
    assert (new["before"], new["after"], new["keys"]) == (None, {"id": "1", "a": "x"}, ["id"])
    assert (old["op"], old["before"], old["after"]) == ("DELETE", {"id": "1", "a": "x"}, None)
    assert (gone["kind"], gone["keys"], wrapped["after"]) == (
        "TOMBSTONE",
        ["id"],
        {"id": "1", "a": "x"},
    )
    table = Table(
        "db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text())), ("id",)
    )
    typed = by_offset(decoder.decode_rows(frame, table))
    assert [(typed[i].op, typed[i].before, typed[i].after) for i in (0, 1, 3)] == [
        *(
            ("INSERT", None, Row(id=1, a="x")),
            ("DELETE", Row(id=1, a="x"), None),
            ("INSERT", None, Row(id=1, a="x")),
        )
    ]
    assert by_offset(decoder.decode_rows(frame, Table("other", "t", table.columns, ("id",)))) == {}


def test_a_cell_longer_than_the_parsers_default_limit_is_read(records):
    out = by_offset(decoder.decode(records(text(envelope("c", None, {"a": "x" * 25_000_000})))))
    assert len(out[0].after["a"]) == 25_000_000


DEC = "org.apache.kafka.connect.data."
TIME = "io.debezium.time."
DATA = "io.debezium.data."
PLACEHOLDER = "__debezium_unavailable_value"
WALL = dt.datetime
YEAR = mysql.year()
BLOB, BYTEA = mysql.binary("blob"), PG.bytea()
ENUM = mysql.enum_of("a,b", "c", "x\\y")
SET64 = mysql.set_of(*(f"m{i}" for i in range(64)))


def field(kind: str, name: str | None = None, **parameters: str) -> dict[str, object]:
    """A field's schema."""
    return {
        "type": kind,
        "optional": True,
        **({"name": name, "version": 1} if name else {}),
        "parameters": parameters,
    }


def utc(*parts: int) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=dt.UTC)  # type: ignore[misc,arg-type]


def dec(scale: int) -> dict[str, object]:
    return field("bytes", DEC + "Decimal", scale=str(scale))


D2, D4, D38, D65 = (
    mysql.decimal(10, 2),
    mysql.decimal(10, 4),
    mysql.decimal(38, 0),
    mysql.decimal(65, 0),
)
D6530, D2010, D200 = mysql.decimal(65, 30), mysql.decimal(20, 10), mysql.decimal(20, 0)
UBIG, BIG = mysql.integer("bigint", unsigned=True), mysql.integer("bigint")
DT0, DT3, DT6 = (mysql.temporal("datetime", f) for f in (0, 3, 6))
TS6, T0, T6 = mysql.temporal("timestamp", 6), mysql.temporal("time"), mysql.temporal("time", 6)
PTS, PTS3, PTZ = PG.temporal("timestamp"), PG.temporal("timestamp", 3), PG.temporal("timestamptz")
PT, PT3 = PG.temporal("time"), PG.temporal("time", 3)
DATE = mysql.temporal("date")

CELLS = cells(
    # Decimals: the column's scale, the schema's, the computed vectors.
    (
        D38,
        PRECISE,
        (None, "AA==", Decimal(0)),
        (None, "AQ==", Decimal(1)),
        (None, "/w==", Decimal(-1)),
    ),
    (
        D38,
        PRECISE,
        (None, "fw==", Decimal(127)),
        (None, "AIA=", Decimal(128)),
        (None, "gA==", Decimal(-128)),
    ),
    (D38, PRECISE, (None, "/38=", Decimal(-129)), (None, "AP8=", Decimal(255))),
    (D38, PRECISE, (None, "SztMqFqGxHoJiiI//////w==", Decimal(10**38 - 1))),
    (
        D38,
        PRECISE,
        (None, "tMSzV6V5O4X2dd3AAAAAAQ==", Decimal(1 - 10**38)),
        (None, b64(10**38), MISFIT),
    ),
    (D38, PRECISE, (None, b64(2**127 - 1), MISFIT), (None, "AP//////////", Decimal(2**64 - 1))),
    (
        D38,
        PRECISE,
        (None, "AIAAAAAAAAAA", Decimal(2**63)),
        (None, b64(-(2**63)), Decimal(-(2**63))),
    ),
    (
        D38,
        PRECISE,
        (None, b64(-(2**63) - 1), Decimal(-(2**63) - 1)),
        (None, "", MISFIT),
        (None, "12.5", MISFIT),
    ),
    (
        D38,
        PRECISE,
        (None, "A", MISFIT),
        (None, "1234", Decimal(-2658824)),
        (None, "1111", Decimal(-2663051)),
    ),
    (
        D38,
        PRECISE,
        (None, "0000", Decimal(-2929356)),
        (dec(0), "1e10", Decimal(-2757260)),
        (dec(0), "+123", Decimal(-303689)),
    ),
    (D38, PRECISE, (dec(0), "Infinity", Decimal(37898298469234))),
    (
        D2,
        PRECISE,
        (None, "MDk=", Decimal("123.45")),
        (dec(2), "z8c=", Decimal("-123.45")),
        (dec(2), "AxY=", Decimal("7.90")),
    ),
    (
        D2,
        PRECISE,
        (dec(4), "AY/J", MISFIT),
        (dec(4), b64(123400), Decimal("12.34")),
        (None, b64(10**10), MISFIT),
    ),
    (D2, PRECISE, (None, "7654321.75", MISFIT), (None, "MDk", MISFIT), (None, "MD k=", MISFIT)),
    (D2, STRING, (dec(2), "ATo=", Decimal("3.14"))),
    (D4, PRECISE, (dec(4), "AY/J", Decimal("10.2345")), (dec(2), "MDk=", Decimal("123.45"))),
    (
        D65,
        PRECISE,
        (None, "APMWJxx/w5CKi+9GTjlF73olNgn//////////w==", "9" * 65),
        (None, b64(1 - 10**65), "-" + "9" * 65),
    ),
    (
        D65,
        PRECISE,
        (None, b64(10**65), MISFIT),
        (None, "AA==", "0"),
        (None, "/w==", "-1"),
        (None, b64(-(2**64)), str(-(2**64))),
    ),
    (
        D65,
        PRECISE,
        (None, b64(2**112), str(2**112)),
        (None, b64(10**18), str(10**18)),
        (None, b64(-(10**36)), str(-(10**36))),
    ),
    (
        D6530,
        PRECISE,
        (dec(30), b64(-(10**65 - 1)), "-" + "9" * 35 + "." + "9" * 30),
        (None, b64(-1), "-0." + "0" * 29 + "1"),
    ),
    (mysql.decimal(5, 2, unsigned=True), PRECISE, (dec(2), b64(-1), MISFIT)),
    (
        PG.numeric(),
        PRECISE,
        (field("struct", DATA + "VariableScaleDecimal"), {"scale": 4, "value": "AY/J"}, "10.2345"),
    ),
    (PG.numeric(), PRECISE, (None, {"scale": 0, "value": "Cg=="}, "10")),
    (
        PG.numeric(),
        PRECISE,
        (None, {"value": b64(-(10**200) - 7), "scale": 3}, "-1" + "0" * 197 + ".007"),
    ),
    (PG.numeric(), PRECISE, (None, {"scale": 0}, MISFIT)),
    (
        PG.numeric(),
        STRING,
        (None, "0.0000000000", "0.0000000000"),
        (field("string"), "NAN", MISFIT),
    ),
    (PG.money(), PRECISE, (dec(2), b64(-(2**63)), Decimal("-92233720368547758.08"))),
    (D2010, STRING, (None, "0E-10", Decimal(0)), (field("string"), "1E-7", Decimal("0.0000001"))),
    (
        D2010,
        STRING,
        (None, "0.0000000000", Decimal(0)),
        (None, "1E-11", MISFIT),
        (None, "NAN", MISFIT),
    ),
    (D2010, STRING, (None, "POSITIVE_INFINITY", MISFIT)),
    (
        D6530,
        STRING,
        (None, "-" + "9" * 35 + "." + "9" * 30, "-" + "9" * 35 + "." + "9" * 30),
        (None, "1E-30", "1E-30"),
    ),
    (
        D2,
        DOUBLE,
        (None, 123.45, Decimal("123.45")),
        (field("double"), 7.9, Decimal("7.90")),
        (None, 7654321.755, MISFIT),
    ),
    (D2, DOUBLE, (None, "NaN", MISFIT)),
    (mysql.decimal(38, 10), DOUBLE, (None, 1e28, Decimal("9" * 28 + "." + "9" * 10))),
    (
        mysql.decimal(38, 10),
        DOUBLE,
        (None, -1e28, Decimal("-" + "9" * 28 + "." + "9" * 10)),
        (None, 2e28, MISFIT),
    ),
    (
        D200,
        Deployment(decimal="numeric"),
        (None, 12345678901234567890, Decimal(12345678901234567890)),
    ),
    (D200, Deployment(decimal="numeric"), (dec(0), 1234, Decimal(1234))),
    # Integers.
    (
        BIG,
        PRECISE,
        (field("int64"), 2**63 - 1, 2**63 - 1),
        (None, 2**63, MISFIT),
        (None, 1.5, MISFIT),
        (None, "x", MISFIT),
    ),
    (UBIG, PRECISE, (None, -1, Decimal(2**64 - 1)), (field("int64"), -(2**63), Decimal(2**63))),
    (
        UBIG,
        PRECISE,
        (None, 2**63 - 1, Decimal(2**63 - 1)),
        (None, -(2**63) - 1, MISFIT),
        (None, 2**64, MISFIT),
    ),
    (UBIG, PRECISE, (dec(0), "AIAAAAAAAAAA", Decimal(2**63)), (dec(0), "/w==", MISFIT)),
    (UBIG, Deployment(bigint_unsigned="precise"), (None, "AP//////////", Decimal(2**64 - 1))),
    (mysql.integer("tinyint", unsigned=True), PRECISE, (field("int16"), 256, MISFIT)),
    (mysql.boolean(), PRECISE, (field("boolean"), True, 1), (field("int16"), 1, 1)),
    (YEAR, PRECISE, (field("int32", TIME + "Year"), 2155, 2155), (None, 1899, MISFIT)),
    # Floats.
    (mysql.real("float"), PRECISE, (field("float"), 3.3, mysql.to_float32(3.3))),
    (
        mysql.real("float"),
        PRECISE,
        (field("double"), 123.98999786376953, mysql.to_float32(123.99)),
        (None, 1e39, MISFIT),
    ),
    (
        mysql.real("double"),
        PRECISE,
        (None, 1.7976931348623157e308, 1.7976931348623157e308),
        (None, "Infinity", MISFIT),
    ),
    (mysql.real("double"), PRECISE, (None, "1d", MISFIT)),
    (PG.real("double precision"), PRECISE, (None, "-Infinity", float("-inf"))),
    (PG.real("real"), PRECISE, (field("float"), "Infinity", float("inf")), (None, 1e39, MISFIT)),
    # Bits: MySQL padded, PostgreSQL trimmed.
    (
        mysql.bit(1),
        PRECISE,
        (None, True, True),
        (field("boolean"), False, False),
        (None, "yes", MISFIT),
    ),
    (
        mysql.bit(8),
        PRECISE,
        (None, "AA==", 0),
        (None, "AAE=", MISFIT),
        (None, "173", MISFIT),
        (None, "", MISFIT),
    ),
    (mysql.bit(10), PRECISE, (field("bytes", DATA + "Bits", length="10"), "AgE=", 0b0100000010)),
    (mysql.bit(64), PRECISE, (None, "AQAAAAAAAAA=", Decimal(1))),
    (PG.bit(64), PRECISE, (None, "AQ==", Decimal(1)), (None, "AAAAAAAAAIA=", Decimal(2**63))),
    (PG.bit(2), PRECISE, (field("bytes", DATA + "Bits", length="2"), "", 0), (None, "Aw==", 3)),
    (PG.bit(24), PRECISE, (None, "AQID", 0x030201)),
    (PG.bit(40, varying=True), PRECISE, (None, "AQIj2gE=", 0x01DA230201)),
    (PG.boolean(), PRECISE, (None, True, True)),
    # Strings, binaries, labels.
    (mysql.text(), PRECISE, (None, "null", "null"), (None, PLACEHOLDER, PLACEHOLDER)),
    (PG.text(), PRECISE, (None, PLACEHOLDER, None)),
    (PG.uuid(), PRECISE, (field("string", DATA + "Uuid"), "", "")),
    (
        BLOB,
        PRECISE,
        (field("bytes"), "1234", b"\xd7\x6d\xf8"),
        (None, "", b""),
        (None, "+/8=", b"\xfb\xff"),
    ),
    (BLOB, PRECISE, (None, "-_8=", MISFIT)),
    (BLOB, Deployment(binary="hex"), (field("bytes"), "1234", b"\xd7\x6d\xf8")),
    (
        BLOB,
        Deployment(binary="hex"),
        (field("string"), "00fF1234", b"\x00\xff\x12\x34"),
        (None, "", b""),
        (None, "123", MISFIT),
    ),
    (BLOB, Deployment(binary="hex"), (None, PLACEHOLDER, MISFIT)),
    (BLOB, Deployment(binary="base64"), (field("string"), "+/8=", b"\xfb\xff")),
    (
        BLOB,
        Deployment(binary="base64-url-safe"),
        (field("string"), "-_8=", b"\xfb\xff"),
        (None, "+/8=", MISFIT),
    ),
    (BYTEA, Deployment(binary="hex"), (None, PLACEHOLDER, None)),
    (BYTEA, PRECISE, (None, "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==", None)),
    (
        ENUM,
        PRECISE,
        (None, "a,b", 1),
        (None, "a\\,b", 1),
        (field("string", DATA + "Enum", allowed="a\\,b,c,x\\\\y"), "c", 2),
    ),
    (ENUM, PRECISE, (None, "x\\\\y", 3), (None, "x\\y", 3), (None, "", 0), (None, "b", MISFIT)),
    (mysql.enum_of("a", ""), PRECISE, (None, "", 2)),
    (
        SET64,
        PRECISE,
        (None, ",".join(SET64.members), Decimal(2**64 - 1)),
        (None, "m63", Decimal(2**63)),
    ),
    (SET64, PRECISE, (None, "m2,m0", Decimal(5)), (None, "", Decimal(0)), (None, "m0,m64", MISFIT)),
    (
        mysql.json(),
        PRECISE,
        (field("string", DATA + "Json"), '{"a": 1}', '{"a": 1}'),
        (None, '{"a": 1', MISFIT),
    ),
    (mysql.json(), PRECISE, (None, PLACEHOLDER, MISFIT)),
    (PG.json("jsonb"), PRECISE, (None, PLACEHOLDER, None), (None, "", "")),
    (PG.array("integer"), PRECISE, (field("array"), [1, None], "[1,null]")),
    (PG.array("text"), PRECISE, (None, ["a\nb"], '["a\\nb"]')),
    (PG.hstore(), PRECISE, (None, '{"a":null}', '{"a":null}')),
    # Temporals: without schema by mode and precision, with one by name.
    (
        DATE,
        PRECISE,
        (None, 0, dt.date(1970, 1, 1)),
        (None, -719162, dt.date(1, 1, 1)),
        (None, 2932896, dt.date(9999, 12, 31)),
    ),
    (DATE, PRECISE, (None, 2932897, MISFIT), (None, 9223372036854775807, MISFIT)),
    (
        DATE,
        PRECISE,
        (field("string", TIME + "IsoDate"), "2017-09-15Z", dt.date(2017, 9, 15)),
        (None, "2017-09-15Z", MISFIT),
    ),
    (DATE, CONNECT, (field("int32", DEC + "Date"), 19000, dt.date(2022, 1, 8))),
    (PG.temporal("date"), PRECISE, (None, -2147472692, MISFIT)),
    (DATE, ISO, (None, "2017-09-15Z", dt.date(2017, 9, 15)), (None, "2017-02-30Z", MISFIT)),
    (DT0, PRECISE, (None, 1000, WALL(1970, 1, 1, 0, 0, 1))),
    (DT0, PRECISE, (field("int64", TIME + "NanoTimestamp"), 10**9, WALL(1970, 1, 1, 0, 0, 1))),
    (DT3, PRECISE, (None, -1, WALL(1969, 12, 31, 23, 59, 59, 999000))),
    (
        DT6,
        PRECISE,
        (None, 1000, WALL(1970, 1, 1, 0, 0, 0, 1000)),
        (None, "2024-03-10T02:30:00Z", MISFIT),
    ),
    (DT6, CONNECT, (None, 1000, WALL(1970, 1, 1, 0, 0, 1))),
    (DT0, MICROS, (None, 1000, WALL(1970, 1, 1, 0, 0, 0, 1000))),
    (DT6, NANOS, (None, -1000, WALL(1969, 12, 31, 23, 59, 59, 999999)), (None, 1001, MISFIT)),
    (
        PTS,
        PRECISE,
        (
            field("int64", TIME + "MicroTimestamp"),
            -1047174587392000,
            WALL(1936, 10, 25, 22, 10, 12, 608000),
        ),
    ),
    (PTS, PRECISE, (field("int64", DEC + "Timestamp"), 1000, WALL(1970, 1, 1, 0, 0, 1))),
    (
        PTS,
        PRECISE,
        (None, -62135596800000000, WALL(1, 1, 1)),
        (None, 253402300799999999, WALL(9999, 12, 31, 23, 59, 59, 999999)),
    ),
    (
        PTS,
        PRECISE,
        (None, 253402300800000000, MISFIT),
        (None, 9223371331199999999, MISFIT),
        (None, 9223372036825200000, MISFIT),
    ),
    (PTS, PRECISE, (None, -9223372036832400000, MISFIT)),
    (PTS3, PRECISE, (None, 1000, WALL(1970, 1, 1, 0, 0, 1))),
    (PTS, NANOS, (None, 9223372036854775807, MISFIT)),
    (DT6, ISO, (None, "2024-03-10T02:30:00.5Z", WALL(2024, 3, 10, 2, 30, 0, 500000))),
    (DT6, ISO, (None, "2024-03-10T02:30:00+02:00", MISFIT)),
    (TS6, PRECISE, (None, "2020-01-01T00:00:00Z", utc(2020, 1, 1))),
    (
        TS6,
        CONNECT,
        (
            field("string", TIME + "ZonedTimestamp"),
            "2020-01-01T00:00:00.123456Z",
            utc(2020, 1, 1, 0, 0, 0, 123456),
        ),
    ),
    (PTZ, PRECISE, (None, "2020-01-01T00:00:00.1+02:00", utc(2019, 12, 31, 22, 0, 0, 100000))),
    (PTZ, PRECISE, (None, "2020-01-01T00:00:00.123456000Z", utc(2020, 1, 1, 0, 0, 0, 123456))),
    (
        PTZ,
        PRECISE,
        (None, "2020-01-01T00:00:00.123456789Z", MISFIT),
        (None, "+21016-11-04T06:51:30.123456Z", MISFIT),
    ),
    (
        PTZ,
        PRECISE,
        (None, "+294247-01-01T23:59:59.999999Z", MISFIT),
        (None, "-4712-01-01T00:00:00Z", MISFIT),
    ),
    (PTZ, PRECISE, (None, "infinity", MISFIT), (None, 1000, MISFIT)),
    (PTZ, PRECISE, (field("int64", DEC + "Timestamp"), 1000, utc(1970, 1, 1, 0, 0, 1))),
    (T0, PRECISE, (None, 3020399000000, "838:59:59")),
    (
        T6,
        PRECISE,
        (field("int64", TIME + "MicroTime"), -3020399000000, "-838:59:59"),
        (None, -1, "-00:00:00.000001"),
    ),
    (T6, PRECISE, (None, 86400000000, "24:00:00"), (None, 3020400000000, MISFIT)),
    (T0, CONNECT, (None, 37230000, "10:20:30")),
    (T6, NANOS, (None, 37230120000000, "10:20:30.120000")),
    (T0, ISO, (None, "15:30:00Z", "15:30:00")),
    (PT, PRECISE, (None, 86400000000, "24:00:00"), (None, 86400000001, MISFIT), (None, -1, MISFIT)),
    (PT, PRECISE, (field("int32", TIME + "Time"), 1000, "00:00:01")),
    (PT, PRECISE, (field("int64", TIME + "NanoTime"), 1000, "00:00:00.000001")),
    (PT3, PRECISE, (None, 1000, "00:00:01")),
    (
        PG.temporal("date"),
        STRUCTS,
        (None, {**LEAP_DAY, "specialValue": None}, dt.date(2024, 2, 29)),
        (None, {**LEAP_DAY, "year": 2023}, MISFIT),
        (None, {**LEAP_DAY, "year": 1, "day": 1}, dt.date(1, 2, 1)),
        (None, {**LEAP_DAY, "year": 0}, MISFIT),
        (None, {**LEAP_DAY, "year": 12024}, MISFIT),
        (None, {**LEAP_DAY, "month": 102}, MISFIT),
        (None, {**LEAP_DAY, "day": None}, MISFIT),
        (None, {**NO_PARTS, "specialValue": "POSITIVE_INFINITY"}, MISFIT),
        (None, 19000, MISFIT),
        (None, "2024-02-29", MISFIT),
    ),
    (
        PG.temporal("date"),
        PRECISE,
        (field("struct", TIME + "StructuredDate"), LEAP_DAY, dt.date(2024, 2, 29)),
    ),
    (
        PT,
        STRUCTS,
        (None, EVENING, "22:13:20.123456"),
        (None, {**EVENING, "nanos": 0}, "22:13:20"),
        (None, {**EVENING, "hour": 24}, MISFIT),
        (None, {**EVENING, "minute": 60}, MISFIT),
        (None, {**EVENING, "nanos": -1}, MISFIT),
    ),
    (
        PTS,
        STRUCTS,
        (None, LEAP_DAY | EVENING, WALL(2024, 2, 29, 22, 13, 20, 123456)),
        (None, {**LEAP_DAY, **EVENING, "year": 9999}, MISFIT),
        (None, {**NO_PARTS, "specialValue": "NEGATIVE_INFINITY", "precision": 6}, MISFIT),
        (None, EVENING, MISFIT),
    ),
    (
        PTZ,
        STRUCTS,
        (
            None,
            {**LEAP_DAY, **EVENING, "offsetSeconds": 0, "zoneId": "Z"},
            utc(2024, 2, 29, 22, 13, 20, 123456),
        ),
        (
            None,
            {**LEAP_DAY, **EVENING, "offsetSeconds": -9000, "zoneId": None},
            utc(2024, 3, 1, 0, 43, 20, 123456),
        ),
        (None, LEAP_DAY | EVENING, MISFIT),
    ),
    (
        PG.temporal("timetz"),
        STRUCTS,
        (
            None,
            {**EVENING, "offsetSeconds": 7200},
            '{"hour":22,"minute":13,"second":20,"nanos":123456000,"offsetSeconds":7200}',
        ),
    ),
    (
        PG.temporal("timetz"),
        PRECISE,
        (field("string", TIME + "ZonedTime"), "11:51:30.123789Z", "11:51:30.123789Z"),
    ),
    (
        PG.temporal("interval"),
        PRECISE,
        (field("int64", TIME + "MicroDuration"), 37091106780000, "37091106780000"),
    ),
    common=2,
)


DEPLOYMENTS = list(dict.fromkeys(c[1] for c in CELLS))


@pytest.mark.parametrize("deployment", DEPLOYMENTS)
def test_cells_are_typed_exactly(records, spark, deployment):
    def write(name: str, cell: Any) -> str:
        schema, payload = cell[0], envelope("d", {name: cell[1]})
        return with_schema(payload, {**schema, "field": name}) if schema else text(payload)

    chosen = [
        (kind, (schema, wire), wanted)
        for kind, of, schema, wire, wanted in CELLS
        if of == deployment
    ]
    assert_typed(spark, records, decoder, chosen, write, deployment)


@pytest.mark.parametrize(
    "number", [-(1 << 63), -(1 << 63) + 807, -(1 << 63) + 808, -1_001, -1, 1_999]
)
def test_nanoseconds_of_sql_server_are_rounded_down_to_the_smallest_long(spark, number):
    sql = typed("t", "'ns'", sqlserver.temporal("datetime2", 7), NANOS)
    (row,) = spark.createDataFrame([(str(number),)], "t string").selectExpr(f"{sql} AS v").collect()
    assert row.v == dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=number // 1_000)


def test_a_number_of_many_thousand_digits(records):
    number, table = 7**6_000, Table("db", "t", (Column("n", PG.numeric()),), schema="public")
    cells = [{"scale": scale, "value": b64(sign * number)} for scale, sign in ((0, 1), (4_000, -1))]
    out = by_offset(
        decoder.decode_rows(
            records(
                *(text(envelope("c", None, {"n": c}, source=POSTGRESQL_SOURCE)) for c in cells)
            ),
            table,
        )
    )
    with_digits = out[1].after.n.replace(".", "").lstrip("-")
    assert (out[0].after.n, with_digits) == (_digits(number), _digits(number))


def _digits(number: int) -> str:
    """Python refuses to print so many digits at once."""
    parts: list[str] = []
    while number:
        number, low = divmod(number, 10**1000)
        parts.append(f"{low:01000d}")
    return "".join(reversed(parts)).lstrip("0")


def test_each_kind_of_message(records):
    row = {"id": 1}
    logical = {
        "op": "m",
        "ts_ms": 1,
        "source": POSTGRESQL_SOURCE,
        "message": {"prefix": "p", "content": "aGk="},
    }
    ddl_1_4 = {
        "source": {**MYSQL_SOURCE, "table": None},
        "databaseName": "db",
        "ddl": "create table t (id int)",
    }
    change = {"type": "ALTER", "id": '"db"."with""quote"', "table": {"columns": []}}
    ddl_2_0 = {
        "source": {**MYSQL_SOURCE, "table": ""},
        "ts_ms": 5,
        "databaseName": "db",
        "schemaName": None,
    }
    ddl_2_0 |= {"ddl": "alter table t add c int", "tableChanges": [change]}
    heartbeat = {
        "schema": {"type": "struct", "name": "io.debezium.connector.common.Heartbeat"},
        "payload": {"ts_ms": 1},
    }
    vectors: dict[str, tuple[str, str | None]] = {
        text(envelope("c", None, row)): ("ROW", "INSERT"),
        text(envelope("r", None, row)): ("ROW", "READ"),
        text(envelope("u", row, row)): ("ROW", "UPDATE"),
        text(envelope("u", None, row)): ("ROW", "UPDATE"),
        text(envelope("U", row, row)): ("ROW", "UPDATE"),
        text(envelope("d", row)): ("ROW", "DELETE"),
        text(envelope("d", None)): ("ROW", "DELETE"),
        text(envelope("t")): ("ROW", "TRUNCATE"),
        with_schema(envelope("c", None, row)): ("ROW", "INSERT"),
        text({"schema": None, "payload": envelope("c", None, row)}): ("ROW", "INSERT"),
        text({**envelope("c", None, row), "LOB_COLUMNS": None, "unique": {"id": 1}}): (
            "ROW",
            "INSERT",
        ),
        text(logical): ("CONTROL", None),
        HEARTBEAT: ("HEARTBEAT", None),
        text(heartbeat): ("HEARTBEAT", None),
        BEGIN: ("TRANSACTION", None),
        END: ("TRANSACTION", None),
        text(ddl_1_4): ("DDL", None),
        text(ddl_2_0): ("DDL", None),
        LEGACY_TOMBSTONE: ("TOMBSTONE", None),
        text({"schema": {"type": "struct", "optional": True}, "payload": None}): (
            "TOMBSTONE",
            None,
        ),
    }
    out = by_offset(decoder.decode(records(*vectors, None)))
    assert [(r.kind, r.op) for r in out.values()] == [*vectors.values(), ("TOMBSTONE", None)]
    assert all((r.error is None) and (r.row == 0) for r in out.values())
    first, second = (r for r in out.values() if r.kind == "DDL")
    assert (first.database, first.table, first.sql) == ("db", None, "create table t (id int)")
    assert (second.database, second.table, second.sql) == (
        "db",
        'with"quote',
        "alter table t add c int",
    )
    assert second.position == "mysql-bin.000003:154:2"
    assert [(r.before, r.after) for r in out.values() if r.kind != "ROW"] == [(None, None)] * 10
