"""The reference decoders of both Canal-JSON formats against literals of the documents, and against what breaks naive readers."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import cramjam
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import DataType, StructType

from generators.model import Column, Deployment, SourceType, Table
from generators.sources import boundaries, mysql
from spark_checks.decoders import alibaba_canal_json, ticdc_canal_json
from spark_checks.decoders.baselines import ticdc_canal_json as baseline

RECORDS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int, "
    "headers array<struct<key: string, value: binary>>"
)
CHANGES = (
    "topic string, partition int, offset bigint, row int, kind string, op string, database string, schema string, table string, "
    "keys array<string>, position string, commit_time timestamp, before map<string,string>, after map<string,string>, "
    "types map<string,string>, schema_version string, sql string, error string"
)
TICDC, ALIBABA = ticdc_canal_json, alibaba_canal_json

DOCUMENT_DDL = (
    '{"id":0,"database":"test","table":"","pkNames":null,"isDdl":true,"type":"QUERY","es":1639633094670,"ts":1639633095489,'
    '"sql":"drop database if exists test","sqlType":null,"mysqlType":null,"data":null,"old":null,'
    '"_tidb":{"commitTs":163963309467037594}}'
)
DOCUMENT_INSERT = (
    '{"id":0,"database":"test","table":"tp_int","pkNames":["id"],"isDdl":false,"type":"INSERT","es":1639633141221,'
    '"ts":1639633142960,"sql":"","sqlType":{"c_bigint":-5,"c_int":4,"c_mediumint":4,"c_smallint":5,"c_tinyint":-6,"id":4},'
    '"mysqlType":{"c_bigint":"bigint","c_int":"int","c_mediumint":"mediumint","c_smallint":"smallint","c_tinyint":"tinyint",'
    '"id":"int"},"data":[{"c_bigint":"9223372036854775807","c_int":"2147483647","c_mediumint":"8388607","c_smallint":"32767",'
    '"c_tinyint":"127","id":"2"}],"old":null,"_tidb":{"commitTs":163963314122145239}}'
)
DOCUMENT_WATERMARK = (
    '{"id":0,"database":"","table":"","pkNames":null,"isDdl":false,"type":"TIDB_WATERMARK","es":1640007049196,'
    '"ts":1640007050284,"sql":"","sqlType":null,"mysqlType":null,"data":null,"old":null,'
    '"_tidb":{"watermarkTs":429918007904436226}}'
)
CANAL_DDL = (
    '{"data":null,"database":"","es":null,"gtid":"","id":-1,"isDdl":true,"mysqlType":null,"old":null,"pkNames":null,'
    '"sql":"create database x","sqlType":null,"table":"","ts":null,"type":"QUERY"}'
)
"""An empty FlatMessage, as Canal's JSON library writes it."""

UNREADABLE: Mapping[str, bytes | None] = {
    "null value": None,
    "empty value": b"",
    "white space": b" \r\n",
    "an array": f"[{DOCUMENT_INSERT}]".encode(),
    "a number": b"5",
    "a string": b'"INSERT"',
    "null": b"null",
    "an empty object": b"{}",
    "trailing text": DOCUMENT_INSERT.encode() + b" x",
    "trailing brace": DOCUMENT_INSERT.encode() + b"}",
    "trailing bracket": DOCUMENT_INSERT.encode() + b"]",
    "a second document": DOCUMENT_INSERT.encode() * 2,
    "a second document behind a comma": (DOCUMENT_INSERT + "," + DOCUMENT_INSERT).encode(),
    "deep nesting": b'{"type":"INSERT","isDdl":false,"data":[{"a":' + b"[" * 2000 + b"]" * 2000 + b"}]}",
}


def message(type_: object, data: object = None, old: object = None, **fields: object) -> str:
    """A flat message of `db`.`t`; `fields` replace or add members of the envelope."""
    common: dict[str, object] = {
        "id": 7,
        "database": "db",
        "table": "t",
        "pkNames": None,
        "isDdl": False,
        "type": type_,
        "es": 1000,
        "ts": 1000,
        "sql": "",
        "sqlType": None,
        "mysqlType": None,
        "data": data,
        "old": old,
    }
    return json.dumps(common | fields, ensure_ascii=False)


@pytest.fixture(scope="module")
def records(spark: SparkSession) -> Callable[..., DataFrame]:
    """Kafka records of these values, offsets counting from 0."""

    def make(*values: str | bytes | None) -> DataFrame:
        raw = [v.encode("utf-8", "surrogatepass") if isinstance(v, str) else v for v in values]
        return spark.createDataFrame([(None, v, "cdc", 1, i, None, 0, None) for i, v in enumerate(raw)], RECORDS)

    return make


def by_offset(frame: DataFrame) -> dict[int, list[Row]]:
    """Output rows by offset, in the order of `row`."""
    found: dict[int, list[Row]] = {}
    for row in sorted(frame.collect(), key=lambda r: (r.offset, r.row)):
        found.setdefault(row.offset, []).append(row)
    return found


def one(frame: DataFrame) -> Row:
    """The only row."""
    rows = frame.collect()
    assert len(rows) == 1
    return rows[0]


def fields(struct: DataType) -> list[tuple[str, DataType]]:
    """Names and types of a struct's fields."""
    assert isinstance(struct, StructType)
    return [(f.name, f.dataType) for f in struct]


@pytest.mark.parametrize("module", [TICDC, ALIBABA, baseline.BASELINE])
def test_output_has_the_contracts_columns(records: Callable[..., DataFrame], module: Any) -> None:
    table = boundaries.every_type(lambda _: True)
    changes, rows = module.decode(records("{}")).schema, module.decode_rows(records("{}"), table).schema
    assert fields(changes) == fields(StructType.fromDDL(CHANGES))
    assert rows.names == ["topic", "partition", "offset", "row", "kind", "op", "before", "after", "error"]
    wanted = fields(StructType.fromDDL(table.spark_ddl()))
    assert fields(rows["before"].dataType) == wanted
    assert fields(rows["after"].dataType) == wanted


def test_samples_of_document_000(records: Callable[..., DataFrame]) -> None:
    out = by_offset(TICDC.decode(records(DOCUMENT_DDL, DOCUMENT_INSERT, DOCUMENT_WATERMARK, DOCUMENT_INSERT + "\r\n")))
    (ddl,), (insert,), (watermark,), (with_terminator,) = (out[i] for i in range(4))
    assert (ddl.kind, ddl.op, ddl.database, ddl.sql) == ("DDL", None, "test", "drop database if exists test")
    assert ddl.position == "163963309467037594"
    assert (insert.kind, insert.op, insert.table, insert["keys"]) == ("ROW", "INSERT", "tp_int", ["id"])
    assert insert.before is None
    assert insert.after["c_bigint"] == "9223372036854775807"
    assert insert.types["c_mediumint"] == "mediumint"
    assert insert.commit_time.astimezone(dt.UTC) == dt.datetime(2021, 12, 16, 5, 39, 1, 221000, dt.UTC)
    assert (watermark.kind, watermark.op, watermark.position) == ("WATERMARK", None, "429918007904436226")
    assert with_terminator.after == insert.after


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_images_are_exactly_what_the_wire_carries(records: Callable[..., DataFrame], module: Any) -> None:
    first, second = {"id": "1", "a": "y", "b": "k"}, {"id": "2", "a": "q", "b": "z"}
    vectors = (
        message("UPDATE", [first, second], [{"a": "x"}, {"a": "q", "b": None}]),  # canal#flink-old-by-name
        message("UPDATE", [first], [{}]),
        message("UPDATE", [first], None),
        message("UPDATE", [first], [None]),
        message("UPDATE", [first, second], [{"a": "x"}]),
        message("DELETE", [first], [first]),
        message("INSERT", [first], [None]),
        message("INSERT", [{"a": 5, "b": 1.5, "c": True, "d": None, "e": {"x": [1]}}]),
    )
    out = by_offset(module.decode(records(*vectors)))
    assert [(r.row, r.before, r.after) for r in out[0]] == [(0, {"a": "x"}, first), (1, {"a": "q", "b": None}, second)]
    assert [r.before for i in range(1, 5) for r in out[i]] == [{}, None, None, None, None]
    assert [(r.op, r.before, r.after) for r in out[5]] == [("DELETE", first, None)]
    assert [(r.op, r.before, r.after) for r in out[6]] == [("INSERT", None, first)]
    assert [r.after for r in out[7]] == [{"a": "5", "b": "1.5", "c": "true", "d": None, "e": '{"x":[1]}'}]


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records: Callable[..., DataFrame], module: Any) -> None:
    values = [
        *UNREADABLE.values(),
        message("INSERT", {"a": "1"}),
        message("INSERT", "[]"),
        message("INSERT", ["x"]),
        message("INSERT", [{"a": "1"}, None]),
        message("INSERT", []),
        message("INSERT", None),
        message("UPDATE", [{"a": "1"}], {"a": "2"}),
        message({"INSERT": 1}, [{"a": "1"}]),
        message(["INSERT"], [{"a": "1"}]),
        message(5, [{"a": "1"}]),
        message("UPSERT", [{"a": "1"}]),
        message("INSERT", [{"a": "1"}], pkNames={"a": 1}),
        message("INSERT", [{"a": "1"}], isDdl="no"),
        message("INSERT", [{"a": "1"}], mysqlType=[]),
        message("INSERT", [{"a": "1"}], es={}),
    ]
    table = Table("db", "t", (Column("a", mysql.integer("int")),))
    for frame in (module.decode(records(*values)), module.decode_rows(records(*values), table)):
        rows = frame.collect()
        assert {r.offset: r.kind for r in rows} == dict.fromkeys(range(len(values)), "CORRUPT")
        assert len(rows) == len(values)
        assert all(r.error and r.row == 0 and r.op is None and r.before is None and r.after is None for r in rows)


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_every_truncation_is_corrupt(records: Callable[..., DataFrame], module: Any) -> None:
    whole = message("INSERT", [{"a": 'q"uo\\te\u0001', "b": None}]).encode()
    rows = module.decode(records(*(whole[:i] for i in range(len(whole))))).collect()
    assert [r.kind for r in rows] == ["CORRUPT"] * len(whole)


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_unspecified_input_never_raises_and_never_vanishes(records: Callable[..., DataFrame], module: Any) -> None:
    good = message("INSERT", [{"a": "1"}])
    values = [
        "\ufeff" + good,
        good.replace('"a": "1"', '"a": "1", "a": "2"'),
        good.replace('"1"', '"\\ud800"'),
        good.encode().replace(b'"1"', b'"\xff\xfe"'),
        good.replace('"1"', '"\t\x01"'),
        good.replace('"es": 1000', '"es": 9223372036854775807'),
    ]
    table = Table("db", "t", (Column("a", mysql.text()),))
    for frame in (module.decode(records(*values)), module.decode_rows(records(*values), table)):
        out = by_offset(frame)
        assert set(out) == set(range(len(values)))
        assert out[4][0].after["a"] == "\t\x01"


def test_a_cell_longer_than_the_parsers_default_limit_is_read(records: Callable[..., DataFrame]) -> None:
    out = one(TICDC.decode(records(message("INSERT", [{"a": "x" * 25_000_000}]))))
    assert len(out.after["a"]) == 25_000_000


def test_canal_statements_are_no_rows(records: Callable[..., DataFrame]) -> None:
    values = {
        CANAL_DDL: "DDL",
        message("ALTER", isDdl=False, sql="alter table t add c int"): "DDL",
        message("QUERY", database="mytest", table="", sql="create database mytest"): "DDL",
        message("QUERY", database="", sql="insert into t values (1)"): "CONTROL",
        message("INSERT", sql="insert into t values (1)"): "CONTROL",
        message("XACOMMIT", database="", table="", sql="XA COMMIT X'61'"): "TRANSACTION",
        message("XAROLLBACK", database="", table="", sql="XA ROLLBACK X'61'"): "TRANSACTION",
    }
    out = by_offset(ALIBABA.decode(records(*values)))
    assert [[r.kind for r in rows] for rows in out.values()] == [[kind] for kind in values.values()]
    assert all(rows[0].sql and rows[0].before is None and rows[0].after is None for rows in out.values())
    assert out[0][0].position == "-1"


PARTIAL = Table("db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text()), Column("b", mysql.text())))


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_before_is_old_of_the_same_row_over_data(records: Callable[..., DataFrame], module: Any) -> None:
    first, second = {"id": "1", "a": "y", "b": "k"}, {"id": "2", "a": "q", "b": "z"}
    vectors = (
        message("UPDATE", [first, second], [{"a": "x"}, {"a": "q", "b": None}]),
        message("UPDATE", [first, second], [{"a": "x"}]),
        message("UPDATE", [{"a": "y"}], [{}]),
        message("UPDATE", [first], [None]),
    )
    out = by_offset(module.decode_rows(records(*vectors), PARTIAL))
    assert [tuple(r.before) for r in out[0]] == [(1, "x", "k"), (2, "q", None)]
    assert [r.before for r in out[1]] == [None, None]
    assert [tuple(r.before) for r in out[2]] == [(None, "y", None)]
    assert [(r.op, r.before, tuple(r.after)) for r in out[3]] == [("UPDATE", None, (1, "y", "k"))]


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_level_two_gives_the_tables_rows_and_nothing_else(records: Callable[..., DataFrame], module: Any) -> None:
    row = {"id": "1", "a": None, "b": "x"}
    values = (
        message("INSERT", [row]),
        message("INSERT", [row], table="T"),
        message("INSERT", [{"id": "x"}], table="other"),
        message("INSERT", [row], database="DB"),
        message("ALTER", isDdl=True, sql="alter table t"),
        message("INSERT", [row, {**row, "id": "x"}, row]),
        message("UPDATE", [row, row], [{}, {"id": "2147483648"}]),
        message("UPDATE", [row], [{"id": "1.5"}]),
    )
    out = by_offset(module.decode_rows(records(*values), PARTIAL))
    assert {offset: [r.kind for r in rows] for offset, rows in out.items()} == {
        0: ["ROW"],
        5: ["CORRUPT"],
        6: ["CORRUPT"],
        7: ["CORRUPT"],
    }
    assert tuple(out[0][0].after) == (1, None, "x")


def test_column_names_that_need_escaping(records: Callable[..., DataFrame]) -> None:
    table = boundaries.COMPOSITE
    row = {c.name: str(i) for i, c in enumerate(table.columns)}
    wire = message("UPDATE", [row], [{table.columns[3].name: None}], database=table.database, table=table.name)
    out = one(ALIBABA.decode_rows(records(wire), table))
    assert out.after.asDict() == {**row, table.columns[0].name: 0}
    assert out.before.asDict() == {**out.after.asDict(), table.columns[3].name: None}
    assert one(ALIBABA.decode(records(wire))).after == row


DOCUMENT_BYTES = bytes([5, 7, 10, 15, 36, 50, 43, 99, 120, 60, 38, 255, 254, 45, 55, 70])
MISFIT = object()
CELLS: tuple[tuple[SourceType, str, object], ...] = (
    (mysql.integer("tinyint"), "-128", -128),
    (mysql.integer("tinyint"), "128", MISFIT),
    (mysql.integer("tinyint", unsigned=True), "255", 255),
    (mysql.integer("tinyint", unsigned=True), "256", MISFIT),
    (mysql.integer("tinyint", unsigned=True), "-1", MISFIT),
    (mysql.integer("mediumint"), "8388608", MISFIT),
    (mysql.integer("bigint"), "9223372036854775807", 2**63 - 1),
    (mysql.integer("bigint"), "12.9", MISFIT),
    (mysql.integer("bigint"), "", MISFIT),
    (mysql.integer("bigint", unsigned=True), "18446744073709551615", Decimal(2**64 - 1)),
    (mysql.integer("bigint", unsigned=True), "18446744073709551616", MISFIT),
    (mysql.integer("bigint", unsigned=True), "1.5", MISFIT),
    (mysql.decimal(10, 4), "123.4560", Decimal("123.456")),
    (mysql.decimal(10, 4), "123.45600", Decimal("123.456")),
    (mysql.decimal(10, 4), "1.23456", MISFIT),
    (mysql.decimal(10, 4), "1234567.0", MISFIT),
    (mysql.decimal(10, 4), "1.0E-4", Decimal("0.0001")),
    (mysql.decimal(10, 4), "1.0E-5", MISFIT),
    (mysql.decimal(10, 0), "-7", Decimal(-7)),
    (mysql.decimal(38, 10), "9" * 28 + "." + "9" * 10, Decimal("9" * 28 + "." + "9" * 10)),
    (mysql.decimal(65, 30), "-" + "9" * 35 + "." + "9" * 30, "-" + "9" * 35 + "." + "9" * 30),
    (mysql.decimal(65, 30), "9" * 36, MISFIT),
    (mysql.decimal(5, 2, unsigned=True), "-1", MISFIT),
    (mysql.real("float"), "3.14", mysql.to_float32(3.14)),
    (mysql.real("float"), "123.98999786376953", mysql.to_float32(123.99)),
    (mysql.real("float"), "1.0E10", 1e10),
    (mysql.real("float"), "1e39", MISFIT),
    (mysql.real("double"), "1.7976931348623157E308", 1.7976931348623157e308),
    (mysql.real("double"), "4.9E-324", 5e-324),
    (mysql.real("double"), "1" + "0" * 308, 1e308),
    (mysql.real("double"), "NaN", MISFIT),
    (mysql.real("double"), "1d", MISFIT),
    (mysql.bit(1), "1", True),
    (mysql.bit(1), "2", MISFIT),
    (mysql.bit(63), str(2**63 - 1), 2**63 - 1),
    (mysql.bit(64), "18446744073709551615", Decimal(2**64 - 1)),
    (mysql.bit(8), "256", MISFIT),
    (mysql.text("varchar"), "null", "null"),
    (mysql.binary("blob"), DOCUMENT_BYTES.decode("latin-1"), DOCUMENT_BYTES),
    (mysql.binary("blob"), bytes(range(256)).decode("latin-1"), bytes(range(256))),
    (mysql.binary("blob"), "abcd", b"abcd"),
    (mysql.binary("blob"), "汉", MISFIT),
    (mysql.binary("blob"), "a\ufffd\xff", b"a\xef\xbf\xbd\xff"),
    (mysql.temporal("date"), "2024-02-29", dt.date(2024, 2, 29)),
    (mysql.temporal("date"), "1582-10-04", dt.date(1582, 10, 4)),
    (mysql.temporal("date"), "2024-00-00", None),
    (mysql.temporal("date"), "0000-00-00", None),
    (mysql.temporal("date"), "2024-02-30", MISFIT),
    (mysql.temporal("date"), "2024-2-9", MISFIT),
    (mysql.temporal("date"), "12024-1-01", MISFIT),
    (mysql.temporal("datetime", 6), "9999-12-31 23:59:59.999999", dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),
    (mysql.temporal("datetime", 6), "2024-03-10 02:30:00.000000", dt.datetime(2024, 3, 10, 2, 30)),
    (mysql.temporal("datetime", 3), "0000-00-00 00:00:00.000", None),
    (mysql.temporal("datetime"), "2024-00-00 00:00:00", None),
    (mysql.temporal("datetime"), "2024-01-01 00:00:00Z", MISFIT),
    (mysql.temporal("datetime"), "2024-01-01 00:00:00+08:00", MISFIT),
    (mysql.temporal("datetime"), "2024-01-01 00:00:00 UTC", MISFIT),
    (mysql.temporal("datetime", 6), "2024-01-01 00:00:00.1234567", MISFIT),
    (mysql.temporal("datetime"), "2024-01-01", MISFIT),
    (mysql.temporal("timestamp", 3), "2024-06-15 12:34:56.789", dt.datetime(2024, 6, 15, 4, 34, 56, 789000, dt.UTC)),
    (mysql.temporal("timestamp"), "0000-00-00 00:00:00", None),
    (mysql.temporal("timestamp"), "2024-06-15 12:34:56 CST", MISFIT),
    (mysql.temporal("time", 6), "-838:59:58.999999", "-838:59:58.999999"),
    (mysql.temporal("time"), "838:59:59", "838:59:59"),
    (mysql.temporal("time", 6), "839:00:00.000000", MISFIT),
    (mysql.temporal("time"), "839:00:00", MISFIT),
    (mysql.temporal("time"), "12:60:00", MISFIT),
    (mysql.year(), "0000", 0),
    (mysql.year(), "2155", 2155),
    (mysql.year(), "1900", MISFIT),
    (mysql.enum_of("a", "b"), "0", 0),
    (mysql.enum_of("a", "b"), "3", MISFIT),
    (mysql.enum_of("a", "b"), "a", MISFIT),
    (mysql.set_of(*map(str, range(64))), "18446744073709551615", Decimal(2**64 - 1)),
    (mysql.set_of("a", "b"), "4", MISFIT),
    (mysql.json(), '{"a": 1, "b": null}', '{"a": 1, "b": null}'),
    (mysql.json(), "null", "null"),
    (mysql.json(), "-1.0E20", "-1.0E20"),
    (mysql.json(), '{"a": 1', MISFIT),
    (mysql.json(), "JSON_REPLACE(c, '$.a', 1)", MISFIT),
)


@contextmanager
def settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """SQL settings for the time of a block."""
    kept = {key: spark.conf.get(key, None) for key in wanted}
    try:
        for key, value in wanted.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in kept.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def instant(value: object) -> object:
    """Spark's local datetime as an aware one."""
    return value.astimezone(dt.UTC) if isinstance(value, dt.datetime) else value


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_cells_are_typed_exactly(records: Callable[..., DataFrame], spark: SparkSession, module: Any) -> None:
    """Of each type one column; every cell alone in a row of NULLs, in DELETE, so that `before` is typed too."""
    kinds = list(dict.fromkeys(kind for kind, _, _ in CELLS))
    table = Table("db", "t", tuple(Column(f"c{i}", kind) for i, kind in enumerate(kinds)))
    names = [f"c{kinds.index(kind)}" for kind, _, _ in CELLS]
    wire = [message("DELETE", [{name: text}]) for name, (_, text, _) in zip(names, CELLS, strict=True)]
    deployment = Deployment(time_zone="Asia/Shanghai")
    for zone, ansi in (("UTC", "true"), ("America/New_York", "false")):
        with settings(spark, {"spark.sql.session.timeZone": zone, "spark.sql.ansi.enabled": ansi}):
            out = by_offset(module.decode_rows(records(*wire), table, deployment=deployment))
        for i, (kind, text, wanted) in enumerate(CELLS):
            (row,) = out[i]
            if wanted is MISFIT:
                assert row.kind == "CORRUPT", (kind, text)
                continue
            assert row.kind == "ROW", (kind, text)
            got = row.before[names[i]]
            got = bytes(got) if isinstance(got, bytearray) else got
            assert (instant(got) if isinstance(wanted, dt.datetime) and wanted.tzinfo else got) == wanted, (kind, text)


def test_binaries_of_ticdc_before_5_4_are_utf_8_text(records: Callable[..., DataFrame]) -> None:
    """Their sqlType is VARCHAR; blobs were in Latin-1 already."""
    table = Table("db", "t", (Column("v", mysql.binary("varbinary")), Column("b", mysql.binary("blob"))))
    old = message("INSERT", [{"v": "é汉", "b": "é"}], [None], sqlType={"v": 12, "b": 2004})
    new = message("INSERT", [{"v": "é", "b": "é"}], sqlType={"v": 2004, "b": 2004})
    out = by_offset(TICDC.decode_rows(records(old, new), table))
    assert [tuple(map(bytes, rows[0].after)) for rows in out.values()] == [("é汉".encode(), b"\xe9"), (b"\xe9", b"\xe9")]


@pytest.mark.parametrize(
    ("compression", "compress"), [("snappy", cramjam.snappy.compress_raw), ("lz4", cramjam.lz4.compress)], ids=["snappy", "lz4"]
)
def test_compressed_values(records: Callable[..., DataFrame], compression: str, compress: Callable[[bytes], Any]) -> None:
    packed = bytes(compress(DOCUMENT_INSERT.encode()))
    values = (packed, packed[:-3], None, DOCUMENT_INSERT)
    out = by_offset(TICDC.decode(records(*values), deployment=Deployment(compression=compression)))
    assert [[r.kind for r in rows] for rows in out.values()] == [["ROW"], ["CORRUPT"], ["CORRUPT"], ["CORRUPT"]]
    assert out[0][0].after["id"] == "2"


def plans(frame: DataFrame) -> Iterator[str]:
    """The lines of the executed plan that parse JSON."""
    plan = frame._jdf.queryExecution().executedPlan().toString()
    yield from (line for line in plan.splitlines() if "from_json" in line)


@pytest.mark.parametrize("module", [TICDC, ALIBABA, baseline.BASELINE])
def test_a_message_is_parsed_once(records: Callable[..., DataFrame], module: Any) -> None:
    for frame in (module.decode(records("{}")), module.decode_rows(records("{}"), PARTIAL)):
        (line,) = plans(frame)
        assert line.count("from_json(") == 1
