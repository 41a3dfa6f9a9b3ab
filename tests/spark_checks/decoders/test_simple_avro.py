"""The reference decoder of TiCDC Simple in Avro: the known vectors, and messages that fastavro encodes."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable
from decimal import Decimal
from itertools import product
from typing import Any

import cramjam
import fastavro
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import DataType, StructType

from generators.model import Column, Deployment, SourceType, Table
from generators.sources import boundaries, mysql
from spark_checks.decoders import ticdc_simple_avro as simple
from spark_checks.decoders.baselines.ticdc_simple_avro import BASELINE

RECORDS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int, "
    "headers array<struct<key: string, value: binary>>"
)
CHANGES = (
    "topic string, partition int, offset bigint, row int, kind string, op string, database string, schema string, table string, "
    "keys array<string>, position string, commit_time timestamp, before map<string,string>, after map<string,string>, "
    "types map<string,string>, schema_version string, sql string, error string"
)

WATERMARK = bytes.fromhex("16 00 00 02 82 80 80 bb 83 cc c7 b7 0c 9e af e0 bc bc 63")
INSERT = bytes.fromhex(
    "16 06 06 02 0c 73 69 6d 70 6c 65 08 75 73 65 72 a8 02 00 84 80 c0 88 d7 c9 c7 b7 0c 8e ca cd bc bc 63 a4 80 e0 a1 "
    "90 c9 c7 b7 0c 00 00 00 02 0c 04 69 64 02 02 08 6e 61 6d 65 08 10 4a 6f 68 6e 20 44 6f 65 02 75 0e 01 04 74 73 0c "
    "1a 41 73 69 61 2f 53 68 61 6e 67 68 61 69 26 32 30 32 34 2d 30 31 2d 30 31 20 30 30 3a 30 30 3a 30 30 02 6e 00 02 "
    "62 0a 04 00 ff 00 00 "
)
"""The two known vectors."""

VERSION = 447984074911121426
COMMIT = 447984084414103554


def record(name: str, **fields: Any) -> dict[str, Any]:
    """A record of TiCDC's schema (pkg/sink/codec/simple/message.json)."""
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields.items()]}


def enum(name: str, symbols: str) -> dict[str, Any]:
    """An enumeration of it."""
    return {"type": "enum", "name": name, "symbols": symbols.split()}


def array(items: Any) -> dict[str, Any]:
    """An array of it."""
    return {"type": "array", "items": items}


IMAGE = ["null", {"type": "map", "values": ["null", "long", "float", "double", "string", "bytes", "Timestamp", "UnsignedBigint"]}]
DATA_TYPE = {"mysqlType": "string", "charset": "string", "collate": "string", "length": "long", "decimal": ["null", "int"]}
DATA_TYPE |= {"elements": ["null", array("string")], "unsigned": ["null", "boolean"], "zerofill": ["null", "boolean"]}
SCHEMA = fastavro.parse_schema(
    [
        record("DataType", **DATA_TYPE),
        {
            "type": "record",
            "name": "ColumnSchema",
            "fields": [
                {"name": "name", "type": "string"},
                {"name": "dataType", "type": "DataType"},
                {"name": "nullable", "type": "boolean"},
                {"name": "default", "type": ["null", "string"]},
            ],
        },
        {
            "type": "record",
            "name": "IndexSchema",
            "fields": [
                {"name": "name", "type": "string"},
                *({"name": n, "type": "boolean"} for n in ("unique", "primary", "nullable")),
                {"name": "columns", "type": array("string")},
            ],
        },
        record(
            "TableSchema",
            database="string",
            table="string",
            tableID="long",
            version="long",
            columns=array("ColumnSchema"),
            indexes=array("IndexSchema"),
        ),
        record("Checksum", version="int", corrupted="boolean", current="long", previous="long"),
        record("Watermark", version="int", commitTs="long", buildTs="long"),
        record("Bootstrap", version="int", buildTs="long", tableSchema="TableSchema"),
        record(
            "DDL",
            version="int",
            type=enum("DDLType", "CREATE ALTER ERASE RENAME TRUNCATE CINDEX DINDEX QUERY"),
            sql="string",
            commitTs="long",
            buildTs="long",
            tableSchema=["null", "TableSchema"],
            preTableSchema=["null", "TableSchema"],
        ),
        record("Timestamp", location="string", value="string"),
        record("UnsignedBigint", value="long"),
        record(
            "DML",
            version="int",
            database="string",
            table="string",
            tableID="long",
            type=enum("DMLType", "INSERT UPDATE DELETE"),
            commitTs="long",
            buildTs="long",
            schemaVersion="long",
            claimCheckLocation=["null", "string"],
            handleKeyOnly=["null", "boolean"],
            checksum=["null", "Checksum"],
            data=IMAGE,
            old=IMAGE,
        ),
        record(
            "Message",
            type=enum("MessageType", "WATERMARK BOOTSTRAP DDL DML"),
            payload=["Watermark", "Bootstrap", "DDL", "DML"],
        ),
    ]
)

LONG, FLOAT, DOUBLE, STRING, BYTES, TIMESTAMP, UNSIGNED = (
    "long",
    "float",
    "double",
    "string",
    "bytes",
    "Timestamp",
    "UnsignedBigint",
)


def message(kind: str, payload: str, **fields: Any) -> bytes:
    """A message of the type with a payload of that record."""
    out = io.BytesIO()
    body = (payload, {"version": 1, "buildTs": 1708923662983} | fields)
    fastavro.schemaless_writer(out, SCHEMA, ("Message", {"type": kind, "payload": body}))
    return out.getvalue()


def row(op: str, *, database: str = "db", table: str = "t", version: int = VERSION, commit: int = COMMIT, **fields: Any) -> bytes:
    """A row change; cells are (branch, value)."""
    place = {"database": database, "table": table, "tableID": 1, "type": op, "commitTs": commit, "schemaVersion": version}
    return message("DML", "DML", **place, **fields)


def table_schema(
    table: str,
    *columns: tuple[str, str],
    version: int = VERSION,
    keys: tuple[str, ...] = ("id",),
    database: str = "simple",
    default: str | None = None,
) -> dict[str, Any]:
    """A tableSchema of these columns and types."""
    kinds = [(name, {"mysqlType": kind, "charset": "binary", "collate": "binary", "length": 11}) for name, kind in columns]
    return {
        "database": database,
        "table": table,
        "tableID": 148,
        "version": version,
        "columns": [{"name": name, "dataType": kind, "nullable": name not in keys, "default": default} for name, kind in kinds],
        "indexes": [
            {"name": "k", "unique": True, "primary": False, "nullable": True, "columns": ["k"]},
            {"name": "primary", "unique": True, "primary": True, "nullable": False, "columns": list(keys)},
        ],
    }


def bootstrap(schema: dict[str, Any]) -> bytes:
    """A BOOTSTRAP."""
    return message("BOOTSTRAP", "Bootstrap", tableSchema=schema)


def ddl(kind: str, sql: str, schema: dict[str, Any] | None, before: dict[str, Any] | None = None) -> bytes:
    """A DDL."""
    return message("DDL", "DDL", type=kind, sql=sql, commitTs=447987408682614795, tableSchema=schema, preTableSchema=before)


def at(location: str, value: str) -> tuple[str, dict[str, str]]:
    """A TIMESTAMP."""
    return TIMESTAMP, {"location": location, "value": value}


@pytest.fixture(scope="module")
def records(spark: SparkSession) -> Callable[..., DataFrame]:
    """Kafka records of these values, offsets counting from 0."""

    def make(*values: bytes | None) -> DataFrame:
        return spark.createDataFrame([(None, v, "cdc", 1, i, None, 0, None) for i, v in enumerate(values)], RECORDS)

    return make


def by_offset(frame: DataFrame) -> dict[int, Row]:
    """Output rows by offset, of which there is one each."""
    rows = frame.collect()
    found = {row.offset: row for row in rows}
    assert len(found) == len(rows)
    assert all(row.row == 0 for row in rows)
    return dict(sorted(found.items()))


def instant(value: object) -> object:
    """Spark's local datetime as an aware one."""
    return value.astimezone(dt.UTC) if isinstance(value, dt.datetime) else value


def fields(struct: DataType) -> list[tuple[str, DataType]]:
    """Names and types of a struct's fields."""
    assert isinstance(struct, StructType)
    return [(f.name, f.dataType) for f in struct]


def test_output_has_the_contracts_columns(records: Callable[..., DataFrame]) -> None:
    table = boundaries.every_type(lambda _: True)
    changes, rows = simple.decode(records(INSERT)).schema, simple.decode_rows(records(INSERT), table).schema
    assert fields(changes) == fields(StructType.fromDDL(CHANGES))
    assert rows.names == ["topic", "partition", "offset", "row", "kind", "op", "before", "after", "error"]
    wanted = fields(StructType.fromDDL(table.spark_ddl()))
    assert fields(rows["before"].dataType) == wanted
    assert fields(rows["after"].dataType) == wanted


def test_the_printed_vectors(records: Callable[..., DataFrame]) -> None:
    insert, watermark = by_offset(simple.decode(records(INSERT, WATERMARK))).values()
    assert (insert.kind, insert.op, insert.database, insert.table, insert.before) == ("ROW", "INSERT", "simple", "user", None)
    assert insert.after == {
        "id": "1",
        "name": "John Doe",
        "u": '{"value":-1}',
        "ts": '{"location":"Asia/Shanghai","value":"2024-01-01 00:00:00"}',
        "n": None,
        "b": "00ff",
    }
    assert (insert.position, insert.schema_version) == ("447984084414103554", "447984074911121426")
    assert (insert["keys"], insert.types, insert.sql, insert.error) == (None, None, None, None)
    assert insert.commit_time.astimezone(dt.UTC) == dt.datetime(2024, 2, 26, 5, 1, 1, 858000, dt.UTC)
    assert (watermark.kind, watermark.op, watermark.position) == ("WATERMARK", None, "447984124732375041")
    assert (watermark.database, watermark.table, watermark.schema_version) == (None, None, None)
    assert watermark.commit_time.astimezone(dt.UTC) == dt.datetime(2024, 2, 26, 5, 3, 35, 660000, dt.UTC)


def test_a_printed_row_is_typed(records: Callable[..., DataFrame]) -> None:
    kinds = {"id": mysql.integer("int"), "name": mysql.text(), "u": mysql.integer("bigint", unsigned=True)}
    kinds |= {"ts": mysql.temporal("timestamp"), "n": mysql.integer("int"), "b": mysql.binary("blob")}
    table = Table("simple", "user", tuple(Column(name, kind) for name, kind in kinds.items()), ("id",))
    (out,) = by_offset(simple.decode_rows(records(INSERT, WATERMARK), table)).values()
    found = {name: instant(value) for name, value in out.after.asDict().items()}
    midnight = dt.datetime(2023, 12, 31, 16, tzinfo=dt.UTC)
    wanted = {"id": 1, "name": "John Doe", "u": Decimal(2**64 - 1), "ts": midnight, "n": None, "b": bytearray(b"\0\xff")}
    assert (out.kind, out.op, out.before, found) == ("ROW", "INSERT", None, wanted)


def test_kinds_and_the_table_of_each_ddl_type(records: Callable[..., DataFrame]) -> None:
    kinds = ("CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY")
    schema = table_schema("t", ("id", "int"), ("age", "int"), keys=("id", "age"))
    values = [ddl(kind, f"{kind} it", schema, table_schema("s", ("id", "int"))) for kind in kinds]
    out = by_offset(simple.decode(records(*values, ddl("QUERY", "CREATE DATABASE `simple`", None), bootstrap(schema))))
    *tables, database, boot = out.values()
    assert [(r.kind, r.op, r.database, r.table, r["keys"], r.types, r.sql) for r in tables] == [
        ("DDL", None, "simple", "t", ["id", "age"], {"id": "int", "age": "int"}, f"{kind} it") for kind in kinds
    ]
    assert {(r.position, r.schema_version) for r in tables} == {("447987408682614795", "447984074911121426")}
    assert tables[0].commit_time.astimezone(dt.UTC) == dt.datetime(2024, 2, 26, 8, 32, 22, 936000, dt.UTC)
    assert (database.kind, database.database, database.table) == ("DDL", None, None)
    assert database.sql == "CREATE DATABASE `simple`"
    assert (database.types, database.schema_version, database["keys"]) == (None, None, None)
    assert (boot.kind, boot.op, boot.database, boot.table, boot["keys"]) == ("BOOTSTRAP", None, "simple", "t", ["id", "age"])
    assert (boot.position, boot.commit_time, boot.sql, boot.schema_version) == (None, None, None, "447984074911121426")


def test_types_come_from_the_schema_of_the_rows_own_version(records: Callable[..., DataFrame]) -> None:
    """Before the row or after it, from BOOTSTRAP, DDL or what a DDL found; never of another version, table or database."""

    def insert(table: str, version: int, database: str = "simple") -> bytes:
        return row("INSERT", database=database, table=table, version=version, data={"id": (LONG, 1)})

    values = (
        insert("a", 1),
        bootstrap(table_schema("a", ("id", "int"), version=1)),
        bootstrap(table_schema("a", ("id", "bigint"), version=2)),
        bootstrap(table_schema("a", ("id", "text"), version=1)),
        insert("a", 2),
        insert("a", 1),
        insert("a", 3),
        insert("b", 1),
        insert("A", 1),
        insert("a", 1, "Simple"),
        ddl("ALTER", "", table_schema("c", ("id", "int"), version=2), table_schema("c", ("id", "char"), version=1)),
        insert("c", 2),
        insert("c", 1),
        bootstrap(table_schema("d", ("id", "int"), version=-1)),
        insert("d", -1),
        bootstrap(table_schema("e", ("id", "int")))[:-1],
        insert("e", VERSION),
        bootstrap(table_schema("f", ("id", "int"), ("id", "text"))),
        insert("f", VERSION),
    )
    out = by_offset(simple.decode(records(*values)))
    types = {offset: r.types and r.types["id"] for offset, r in out.items() if r.kind == "ROW"}
    known = {0: "int", 4: "bigint", 5: "int", 11: "int", 12: "char", 14: "int"}
    assert types == known | dict.fromkeys((6, 7, 8, 9, 16, 18))
    assert out[3].types == {"id": "text"}
    assert out[14].schema_version == "18446744073709551615"
    assert {offset for offset, r in out.items() if r.kind == "CORRUPT"} == {15, 17}


def test_a_default_that_is_no_text_costs_nothing(records: Callable[..., DataFrame]) -> None:
    value = bootstrap(table_schema("t", ("b", "bit"), default="MARK")).replace(b"MARK", b"\xff\x00\xfe\x80")
    (out,) = by_offset(simple.decode(records(value))).values()
    assert (out.kind, out.types) == ("BOOTSTRAP", {"b": "bit"})


TEXTS: tuple[tuple[Any, str | None], ...] = (
    (None, None),
    ((LONG, 0), "0"),
    ((LONG, -(2**63)), "-9223372036854775808"),
    ((STRING, ""), ""),
    ((STRING, 'q"\\\n<汉>'), 'q"\\\n<汉>'),
    ((BYTES, b""), ""),
    ((BYTES, b"\x00\xfeA"), "00fe41"),
    ((UNSIGNED, {"value": 5}), '{"value":5}'),
    ((UNSIGNED, {"value": -(2**63)}), '{"value":-9223372036854775808}'),
    (at("Local", "2024-01-01 00:00:00.000000"), '{"location":"Local","value":"2024-01-01 00:00:00.000000"}'),
    (at("", ""), '{"location":"","value":""}'),
)
REALS = (0.0, 0.1, 90.5, -1234567.0, 16777216.0, 2.0**-20, 1e-45, 1.1754944e-38, 3.4028234663852886e38, 33554432.0, 8.41e21)


def test_cells_as_text(records: Callable[..., DataFrame]) -> None:
    data = {f"c{i}": cell for i, (cell, _) in enumerate(TEXTS)}
    (out,) = by_offset(simple.decode(records(row("INSERT", data=data)))).values()
    assert out.after == {f"c{i}": text for i, (_, text) in enumerate(TEXTS)}


def test_a_float_is_the_shortest_text_of_its_binary32(records: Callable[..., DataFrame]) -> None:
    held = [mysql.to_float32(value) for value in REALS]
    data = {f"f{i}": (FLOAT, value) for i, value in enumerate(held)} | {f"d{i}": (DOUBLE, value) for i, value in enumerate(REALS)}
    (out,) = by_offset(simple.decode(records(row("INSERT", data=data)))).values()
    for i, value in enumerate(held):
        shortest = next(t for t in (f"{value:.{n}e}" for n in range(9)) if mysql.to_float32(float(t)) == value)
        assert float(out.after[f"f{i}"]) == float(shortest), value
        assert float(out.after[f"d{i}"]) == REALS[i]


def test_images_are_exactly_what_the_wire_carries(records: Callable[..., DataFrame]) -> None:
    one, two = {"id": (LONG, 1)}, {"id": (LONG, 2)}
    checksum = {"version": 2, "corrupted": True, "current": 4294967295, "previous": 0}
    vectors = (
        row("INSERT", data=one | {"n": None}),
        row("UPDATE", data=one | {"a": (STRING, "y")}, old=one),
        row("UPDATE", data=one, old={"id": None}),
        row("UPDATE", data=one),
        row("DELETE", old=one, data=two),
        row("INSERT", data=one, old=two),
        row("INSERT", data={}),
        row("INSERT", data=one, handleKeyOnly=True, claimCheckLocation="s3://bucket/a.json"),
        row("UPDATE", data=two, old=one, handleKeyOnly=True),
        row("DELETE", handleKeyOnly=True),
        row("INSERT", data=one, checksum=checksum),
    )
    out = by_offset(simple.decode(records(*vectors)))
    assert [(r.op, r.before, r.after) for r in out.values()] == [
        ("INSERT", None, {"id": "1", "n": None}),
        ("UPDATE", {"id": "1"}, {"id": "1", "a": "y"}),
        ("UPDATE", {"id": None}, {"id": "1"}),
        ("UPDATE", None, {"id": "1"}),
        ("DELETE", {"id": "1"}, None),
        ("INSERT", None, {"id": "1"}),
        ("INSERT", None, {}),
        ("INSERT", None, {"id": "1"}),
        ("UPDATE", {"id": "1"}, {"id": "2"}),
        ("DELETE", None, None),
        ("INSERT", None, {"id": "1"}),
    ]


UNREADABLE: tuple[bytes | None, ...] = (
    *(None, b"", b"\x16", INSERT[1:], b"\x00" + INSERT, b"\x00\x00\x00\x00\x01" + INSERT, b"Obj\x01" + INSERT),
    *(INSERT + b"\x00", INSERT * 2, WATERMARK * 2, WATERMARK + INSERT, b"{}", b'{"type":"WATERMARK"}'),
    *(bytes((index,)) + INSERT[1:] for index in (0, 10, 0x12, 0x14, 0x15, 0x18)),
    *(b"\x16\x06" + bytes((branch,)) + INSERT[3:] for branch in (0, 2, 4, 8, 1)),
    *(b"\x16" + bytes((kind,)) + INSERT[2:] for kind in (0, 2, 4, 8, 1)),
    b"\x16\x06\x00" + WATERMARK[3:],
    INSERT.replace(b"\x02u\x0e\x01", b"\x02u\x10\x01"),
    INSERT.replace(b"\x10John Doe", b"\x11John Doe"),
    INSERT.replace(b"\x10John Doe", b"\xfe\xff\xff\xff\x0fJohn Doe"),
    row("INSERT"),
    row("INSERT", old={"a": (LONG, 1)}),
    row("UPDATE", old={"a": (LONG, 1)}),
    row("DELETE", data={"a": (LONG, 1)}),
    row("DELETE", handleKeyOnly=False),
    bootstrap(table_schema("t", ("id", "int"), ("id", "int"))),
    ddl("CREATE", "create", table_schema("t", ("id", "int"), ("id", "int"))),
)


def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records: Callable[..., DataFrame]) -> None:
    table = Table("db", "t", (Column("a", mysql.integer("int")),))
    for frame in (simple.decode(records(*UNREADABLE)), simple.decode_rows(records(*UNREADABLE), table)):
        out = by_offset(frame)
        assert {offset: r.kind for offset, r in out.items()} == dict.fromkeys(range(len(UNREADABLE)), "CORRUPT")
        assert all(r.error and r.op is None and r.before is None and r.after is None for r in out.values())


def test_every_truncation_is_corrupt(records: Callable[..., DataFrame]) -> None:
    whole = (
        INSERT,
        WATERMARK,
        bootstrap(table_schema("t", ("id", "int"))),
        ddl("ALTER", "alter", table_schema("t", ("id", "int"))),
    )
    cut = [text[:i] for text in whole for i in range(len(text))]
    out = by_offset(simple.decode(records(*cut)))
    assert len(out) == len(cut)
    assert {r.kind for r in out.values()} == {"CORRUPT"}


USER = Table(
    "simple",
    "user",
    (
        Column("id", mysql.integer("int")),
        Column("name", mysql.text()),
        Column("age", mysql.integer("int")),
        Column("score", mysql.real()),
    ),
    ("id",),
)
CELLS_OF_USER = {"id": (LONG, 1), "name": (STRING, "John Doe"), "age": (LONG, 25), "score": (FLOAT, 90.5)}


def test_level_two_gives_the_tables_rows_and_nothing_else(records: Callable[..., DataFrame]) -> None:
    def user(op: str, *, database: str = "simple", table: str = "user", **fields: Any) -> bytes:
        return row(op, database=database, table=table, **fields)

    old, bad = CELLS_OF_USER, CELLS_OF_USER | {"age": (STRING, "25")}
    new = {"score": (FLOAT, 95.0)} | {name: old[name] for name in ("age", "name", "id")}
    values = (
        user("INSERT", data=old),
        user("UPDATE", data=new, old=old),
        user("DELETE", old=new),
        *(WATERMARK, bootstrap(table_schema("user", ("id", "int"))), ddl("ALTER", "", table_schema("user", ("id", "int")))),
        user("INSERT", table="USER", data=old),
        user("INSERT", database="Simple", data=bad),
        user("INSERT", data=bad),
        user("UPDATE", data=new, old=bad),
        user("DELETE", old=new | {"age": None}),
        user("INSERT", data=old | {"name": (BYTES, b"John Doe")}),
        user("INSERT", data={"id": (LONG, 1)}, handleKeyOnly=True),
        user("DELETE", handleKeyOnly=True),
        user("INSERT", data=old | {"other": (STRING, "x")}),
    )
    out = by_offset(simple.decode_rows(records(*values), USER))
    shown = {offset: (r.kind, r.op, r.before and tuple(r.before), r.after and tuple(r.after)) for offset, r in out.items()}
    first, second = (1, "John Doe", 25, 90.5), (1, "John Doe", 25, 95.0)
    corrupt = ("CORRUPT", None, None, None)
    assert shown == {
        0: ("ROW", "INSERT", None, first),
        1: ("ROW", "UPDATE", first, second),
        2: ("ROW", "DELETE", second, None),
        8: corrupt,
        9: corrupt,
        10: ("ROW", "DELETE", (1, "John Doe", None, 95.0), None),
        11: corrupt,
        12: ("ROW", "INSERT", None, (1, None, None, None)),
        13: ("ROW", "DELETE", None, None),
        14: ("ROW", "INSERT", None, first),
    }


def test_column_names_that_need_escaping(records: Callable[..., DataFrame]) -> None:
    table = boundaries.COMPOSITE
    cells = {c.name: (LONG, i) if c.type.spark == "int" else (STRING, str(i)) for i, c in enumerate(table.columns)}
    wire = row("INSERT", database=table.database, table=table.name, data=cells)
    (out,) = by_offset(simple.decode_rows(records(wire), table)).values()
    assert out.kind == "ROW"
    assert out.after.asDict() == {c.name: cells[c.name][1] for c in table.columns}


MISFIT = object()
WINTER = dt.datetime(2024, 1, 1, 0, 0, 0, tzinfo=dt.UTC)
CELLS: tuple[tuple[SourceType, Any, object], ...] = (
    (mysql.integer("tinyint"), (LONG, -128), -128),
    (mysql.integer("tinyint"), (LONG, 128), MISFIT),
    (mysql.integer("tinyint"), (LONG, 2**32), MISFIT),
    (mysql.integer("int"), (STRING, "1"), MISFIT),
    (mysql.integer("int"), (DOUBLE, 1.0), MISFIT),
    (mysql.integer("int"), (BYTES, b"1"), MISFIT),
    (mysql.integer("int"), (UNSIGNED, {"value": 1}), MISFIT),
    (mysql.integer("int"), at("UTC", "2024-01-01 00:00:00"), MISFIT),
    (mysql.integer("int", unsigned=True), (LONG, 4294967295), 4294967295),
    (mysql.integer("int", unsigned=True), (LONG, -1), MISFIT),
    (mysql.integer("int", unsigned=True), (LONG, 4294967296), MISFIT),
    (mysql.integer("bigint"), (LONG, 2**63 - 1), 2**63 - 1),
    (mysql.integer("bigint", unsigned=True), (UNSIGNED, {"value": -1}), Decimal(2**64 - 1)),
    (mysql.integer("bigint", unsigned=True), (UNSIGNED, {"value": -(2**63)}), Decimal(2**63)),
    (mysql.integer("bigint", unsigned=True), (UNSIGNED, {"value": 0}), Decimal(0)),
    (mysql.integer("bigint", unsigned=True), (LONG, 5), Decimal(5)),
    (mysql.integer("bigint", unsigned=True), (LONG, -1), MISFIT),
    (mysql.integer("bigint", unsigned=True), (STRING, "18446744073709551615"), Decimal(2**64 - 1)),
    (mysql.integer("bigint", unsigned=True), (STRING, "18446744073709551616"), MISFIT),
    (mysql.decimal(10, 4), (STRING, "123.4560"), Decimal("123.456")),
    (mysql.decimal(10, 4), (STRING, "1.23456"), MISFIT),
    (mysql.decimal(10, 4), (DOUBLE, 1.5), MISFIT),
    (mysql.decimal(65, 30), (STRING, "-" + "9" * 35 + "." + "9" * 30), "-" + "9" * 35 + "." + "9" * 30),
    (mysql.real("float"), (FLOAT, mysql.to_float32(0.1)), mysql.to_float32(0.1)),
    (mysql.real("float"), (DOUBLE, 0.5), MISFIT),
    (mysql.real("float"), (FLOAT, float("inf")), MISFIT),
    (mysql.real("float"), (FLOAT, float("nan")), MISFIT),
    (mysql.real("float", unsigned=True), (FLOAT, -0.5), MISFIT),
    (mysql.real("double"), (DOUBLE, 1e308), 1e308),
    (mysql.real("double"), (DOUBLE, 5e-324), 5e-324),
    (mysql.real("double"), (FLOAT, 0.5), MISFIT),
    (mysql.real("double"), (DOUBLE, float("-inf")), MISFIT),
    (mysql.real("double"), (DOUBLE, float("nan")), MISFIT),
    (mysql.real("double"), (STRING, "1.5"), MISFIT),
    (mysql.bit(1), (LONG, 1), True),
    (mysql.bit(1), (STRING, "0"), False),
    (mysql.bit(1), (LONG, 2), MISFIT),
    (mysql.bit(8), (LONG, 255), 255),
    (mysql.bit(8), (STRING, "255"), 255),
    (mysql.bit(8), (LONG, 256), MISFIT),
    (mysql.bit(8), (LONG, -1), MISFIT),
    (mysql.bit(8), (BYTES, b"\x01"), MISFIT),
    (mysql.bit(64), (LONG, -1), Decimal(2**64 - 1)),
    (mysql.bit(64), (LONG, 7), Decimal(7)),
    (mysql.bit(64), (STRING, "18446744073709551615"), Decimal(2**64 - 1)),
    (mysql.bit(64), (STRING, "-1"), MISFIT),
    (mysql.text("varchar"), (STRING, "null"), "null"),
    (mysql.text("varchar"), (LONG, 1), MISFIT),
    (mysql.text("varchar"), (BYTES, b"x"), MISFIT),
    (mysql.binary("blob"), (BYTES, bytes(range(256))), bytes(range(256))),
    (mysql.binary("blob"), (BYTES, b""), b""),
    (mysql.binary("blob"), (STRING, "AP8="), MISFIT),
    (mysql.temporal("date"), (STRING, "2024-02-29"), dt.date(2024, 2, 29)),
    (mysql.temporal("date"), (STRING, "0000-00-00"), None),
    (mysql.temporal("date"), (STRING, "2024-02-30"), MISFIT),
    (mysql.temporal("date"), (LONG, 19000), MISFIT),
    (mysql.temporal("datetime", 6), (STRING, "2024-03-10 02:30:00.000000"), dt.datetime(2024, 3, 10, 2, 30)),
    (mysql.temporal("datetime"), at("UTC", "2024-03-10 02:30:00"), MISFIT),
    (mysql.temporal("timestamp"), at("UTC", "2024-01-01 00:00:00"), WINTER),
    (mysql.temporal("timestamp"), at("Asia/Shanghai", "2024-01-01 08:00:00"), WINTER),
    (mysql.temporal("timestamp"), at("America/New_York", "2023-12-31 19:00:00"), WINTER),
    (mysql.temporal("timestamp"), at("Local", "2024-01-01 09:00:00"), WINTER),
    (mysql.temporal("timestamp", 6), at("Asia/Kolkata", "2024-01-01 05:30:00.123456"), WINTER.replace(microsecond=123456)),
    (mysql.temporal("timestamp"), at("Asia/Shanghai", "0000-00-00 00:00:00"), None),
    (mysql.temporal("timestamp"), at("Nowhere/Else", "2024-01-01 00:00:00"), MISFIT),
    (mysql.temporal("timestamp"), at("", "2024-01-01 00:00:00"), MISFIT),
    (mysql.temporal("timestamp"), at("UTC", "2024-01-01 25:00:00"), MISFIT),
    (mysql.temporal("timestamp"), (STRING, "2024-01-01 00:00:00"), MISFIT),
    (mysql.temporal("timestamp"), (LONG, 0), MISFIT),
    (mysql.temporal("time", 6), (STRING, "-838:59:58.999999"), "-838:59:58.999999"),
    (mysql.temporal("time"), (LONG, 1), MISFIT),
    (mysql.year(), (LONG, 0), 0),
    (mysql.year(), (LONG, 1900), MISFIT),
    (mysql.year(), (STRING, "2024"), MISFIT),
    (mysql.enum_of("a", "b"), (LONG, 2), 2),
    (mysql.enum_of("a", "b"), (LONG, 3), MISFIT),
    (mysql.enum_of("a", "b"), (STRING, "a"), MISFIT),
    (mysql.set_of(*map(str, range(64))), (LONG, -1), Decimal(2**64 - 1)),
    (mysql.set_of("a", "b"), (LONG, 3), Decimal(3)),
    (mysql.set_of("a", "b"), (LONG, -1), MISFIT),
    (mysql.json(), (STRING, '{"a": 1, "b": null}'), '{"a": 1, "b": null}'),
    (mysql.json(), (STRING, '{"a": 1'), MISFIT),
)


@pytest.mark.parametrize(("zone", "ansi"), list(product(("UTC", "America/New_York"), ("true", "false"))))
def test_cells_are_typed_exactly(records: Callable[..., DataFrame], spark: SparkSession, zone: str, ansi: str) -> None:
    """Of each type one column; every cell alone in a row of NULLs, in DELETE, so that `before` is typed too."""
    kinds = list(dict.fromkeys(kind for kind, _, _ in CELLS))
    table = Table("db", "t", tuple(Column(f"c{i}", kind) for i, kind in enumerate(kinds)))
    names = [f"c{kinds.index(kind)}" for kind, _, _ in CELLS]
    wire = [row("DELETE", old={name: cell}) for name, (_, cell, _) in zip(names, CELLS, strict=True)]
    wanted = {"spark.sql.session.timeZone": zone, "spark.sql.ansi.enabled": ansi}
    before = {key: spark.conf.get(key) for key in wanted}
    try:
        for key, value in wanted.items():
            spark.conf.set(key, value)
        out = by_offset(simple.decode_rows(records(*wire), table, deployment=Deployment(time_zone="Asia/Tokyo")))
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)
    for i, (kind, cell, expected) in enumerate(CELLS):
        if expected is MISFIT:
            assert out[i].kind == "CORRUPT", (kind, cell)
            continue
        assert out[i].kind == "ROW", (kind, cell)
        got = out[i].before[names[i]]
        got = bytes(got) if isinstance(got, bytearray) else got
        aware = isinstance(expected, dt.datetime) and expected.tzinfo
        assert (instant(got) if aware else got) == expected, (kind, cell)


@pytest.mark.parametrize(
    ("compression", "compress"), [("snappy", cramjam.snappy.compress_raw), ("lz4", cramjam.lz4.compress)], ids=["snappy", "lz4"]
)
def test_compressed_values(records: Callable[..., DataFrame], compression: str, compress: Callable[[bytes], Any]) -> None:
    boot = bootstrap(table_schema("user", ("id", "int")))
    packed, known = (bytes(compress(value)) for value in (INSERT, boot))
    values = (packed, packed[:-3], None, INSERT, known)
    out = by_offset(simple.decode(records(*values), deployment=Deployment(compression=compression)))
    assert [r.kind for r in out.values()] == ["ROW", "CORRUPT", "CORRUPT", "CORRUPT", "BOOTSTRAP"]
    assert out[0].types == {"id": "int"}


def test_the_baseline_reads_plain_rows_at_both_levels(records: Callable[..., DataFrame]) -> None:
    frame = records(
        row("UPDATE", database="simple", table="user", data=CELLS_OF_USER | {"name": None}, old=CELLS_OF_USER), WATERMARK
    )
    change, watermark = by_offset(BASELINE.decode(frame)).values()
    typed, nothing = by_offset(BASELINE.decode_rows(frame, USER)).values()
    texts = {"id": "1", "name": "John Doe", "age": "25", "score": "90.5"}
    assert (change.kind, change.op, change.database, change.table) == ("ROW", "UPDATE", "simple", "user")
    assert (change.before, change.after) == (texts, texts | {"name": None})
    assert (typed.kind, typed.op, typed.before, typed.after) == ("ROW", "UPDATE", (1, "John Doe", 25, 90.5), (1, None, 25, 90.5))
    assert (watermark.kind, nothing.kind) == (None, None)
    assert BASELINE.decode(frame).schema.names == simple.decode(frame).schema.names
    assert BASELINE.decode_rows(frame, USER).schema.names == simple.decode_rows(frame, USER).schema.names
