"""The reference decoder of TiCDC Simple in Avro: the known vectors, and messages that fastavro encodes."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from typing import Any

import cramjam
import fastavro
from decoded import MISFIT, USER, Records, assert_corrupt, assert_typed, by_offset, instant
from grouped import cells
from pyspark.sql import SparkSession

from generators.model import Column, Deployment, Table
from generators.sources import mysql
from spark_checks.decoders import ticdc_simple_avro as simple

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
        *(record("Timestamp", location="string", value="string"), record("UnsignedBigint", value="long")),
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
            "Message", type=enum("MessageType", "WATERMARK BOOTSTRAP DDL DML"), payload=["Watermark", "Bootstrap", "DDL", "DML"]
        ),
    ]
)

LONG, FLOAT, DOUBLE, STRING, BYTES, TIMESTAMP, UNSIGNED = (
    *("long", "float", "double", "string", "bytes", "Timestamp", "UnsignedBigint"),
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


def test_the_printed_vectors(records: Records) -> None:
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


def test_a_printed_row_is_typed(records: Records) -> None:
    kinds = {"id": mysql.integer("int"), "name": mysql.text(), "u": mysql.integer("bigint", unsigned=True)}
    kinds |= {"ts": mysql.temporal("timestamp"), "n": mysql.integer("int"), "b": mysql.binary("blob")}
    table = Table("simple", "user", tuple(Column(name, kind) for name, kind in kinds.items()), ("id",))
    (out,) = by_offset(simple.decode_rows(records(INSERT, WATERMARK), table)).values()
    found = {name: instant(value) for name, value in out.after.asDict().items()}
    midnight = dt.datetime(2023, 12, 31, 16, tzinfo=dt.UTC)
    wanted = {"id": 1, "name": "John Doe", "u": Decimal(2**64 - 1), "ts": midnight, "n": None, "b": bytearray(b"\0\xff")}
    assert (out.kind, out.op, out.before, found) == ("ROW", "INSERT", None, wanted)


def test_kinds_and_the_table_of_each_ddl_type(records: Records) -> None:
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
    assert (database.kind, database.database, database.table, database.sql) == ("DDL", None, None, "CREATE DATABASE `simple`")
    assert (database.types, database.schema_version, database["keys"]) == (None, None, None)
    assert (boot.kind, boot.op, boot.database, boot.table, boot["keys"]) == ("BOOTSTRAP", None, "simple", "t", ["id", "age"])
    assert (boot.position, boot.commit_time, boot.sql, boot.schema_version) == (None, None, None, "447984074911121426")


def test_types_come_from_the_schema_of_the_rows_own_version(records: Records) -> None:
    """Before the row or after it, from BOOTSTRAP, DDL or what a DDL found; never of another version, table or database."""

    def insert(table: str, version: int, database: str = "simple") -> bytes:
        return row("INSERT", database=database, table=table, version=version, data={"id": (LONG, 1)})

    values = (
        *(insert("a", 1), bootstrap(table_schema("a", ("id", "int"), version=1))),
        *(bootstrap(table_schema("a", ("id", "bigint"), version=2)), bootstrap(table_schema("a", ("id", "text"), version=1))),
        *(insert("a", 2), insert("a", 1), insert("a", 3), insert("b", 1), insert("A", 1), insert("a", 1, "Simple")),
        ddl("ALTER", "", table_schema("c", ("id", "int"), version=2), table_schema("c", ("id", "char"), version=1)),
        *(insert("c", 2), insert("c", 1), bootstrap(table_schema("d", ("id", "int"), version=-1)), insert("d", -1)),
        *(bootstrap(table_schema("e", ("id", "int")))[:-1], insert("e", VERSION)),
        *(bootstrap(table_schema("f", ("id", "int"), ("id", "text"))), insert("f", VERSION)),
    )
    out = by_offset(simple.decode(records(*values)))
    types = {offset: r.types and r.types["id"] for offset, r in out.items() if r.kind == "ROW"}
    known = {0: "int", 4: "bigint", 5: "int", 11: "int", 12: "char", 14: "int"}
    assert (types, out[3].types) == (known | dict.fromkeys((6, 7, 8, 9, 16, 18)), {"id": "text"})
    assert out[14].schema_version == "18446744073709551615"
    assert {offset for offset, r in out.items() if r.kind == "CORRUPT"} == {15, 17}


def test_a_default_that_is_no_text_costs_nothing(records: Records) -> None:
    value = bootstrap(table_schema("t", ("b", "bit"), default="MARK")).replace(b"MARK", b"\xff\x00\xfe\x80")
    (out,) = by_offset(simple.decode(records(value))).values()
    assert (out.kind, out.types) == ("BOOTSTRAP", {"b": "bit"})


TEXTS: tuple[tuple[Any, str | None], ...] = (
    *((None, None), ((LONG, 0), "0"), ((LONG, -(2**63)), "-9223372036854775808"), ((STRING, ""), "")),
    *(((STRING, 'q"\\\n<汉>'), 'q"\\\n<汉>'), ((BYTES, b""), ""), ((BYTES, b"\x00\xfeA"), "00fe41")),
    *(((UNSIGNED, {"value": 5}), '{"value":5}'), ((UNSIGNED, {"value": -(2**63)}), '{"value":-9223372036854775808}')),
    (at("Local", "2024-01-01 00:00:00.000000"), '{"location":"Local","value":"2024-01-01 00:00:00.000000"}'),
    (at("", ""), '{"location":"","value":""}'),
)
REALS = (0.0, 0.1, 90.5, -1234567.0, 16777216.0, 2.0**-20, 1e-45, 1.1754944e-38, 3.4028234663852886e38, 33554432.0, 8.41e21)


def test_cells_as_text(records: Records) -> None:
    data = {f"c{i}": cell for i, (cell, _) in enumerate(TEXTS)}
    (out,) = by_offset(simple.decode(records(row("INSERT", data=data)))).values()
    assert out.after == {f"c{i}": text for i, (_, text) in enumerate(TEXTS)}


def test_a_float_is_the_shortest_text_of_its_binary32(records: Records) -> None:
    held = [mysql.to_float32(value) for value in REALS]
    data = {f"f{i}": (FLOAT, value) for i, value in enumerate(held)} | {f"d{i}": (DOUBLE, value) for i, value in enumerate(REALS)}
    (out,) = by_offset(simple.decode(records(row("INSERT", data=data)))).values()
    for i, value in enumerate(held):
        shortest = next(t for t in (f"{value:.{n}e}" for n in range(9)) if mysql.to_float32(float(t)) == value)
        assert float(out.after[f"f{i}"]) == float(shortest), value
        assert float(out.after[f"d{i}"]) == REALS[i]


def test_images_are_exactly_what_the_wire_carries(records: Records) -> None:
    one, two = {"id": (LONG, 1)}, {"id": (LONG, 2)}
    checksum = {"version": 2, "corrupted": True, "current": 4294967295, "previous": 0}
    vectors = (
        *(row("INSERT", data=one | {"n": None}), row("UPDATE", data=one | {"a": (STRING, "y")}, old=one)),
        *(row("UPDATE", data=one, old={"id": None}), row("UPDATE", data=one), row("DELETE", old=one, data=two)),
        *(row("INSERT", data=one, old=two), row("INSERT", data={})),
        row("INSERT", data=one, handleKeyOnly=True, claimCheckLocation="s3://bucket/a.json"),
        *(row("UPDATE", data=two, old=one, handleKeyOnly=True), row("DELETE", handleKeyOnly=True)),
        row("INSERT", data=one, checksum=checksum),
    )
    out = by_offset(simple.decode(records(*vectors)))
    assert [(r.op, r.before, r.after) for r in out.values()] == [
        *(("INSERT", None, {"id": "1", "n": None}), ("UPDATE", {"id": "1"}, {"id": "1", "a": "y"})),
        *(("UPDATE", {"id": None}, {"id": "1"}), ("UPDATE", None, {"id": "1"}), ("DELETE", {"id": "1"}, None)),
        *(("INSERT", None, {"id": "1"}), ("INSERT", None, {}), ("INSERT", None, {"id": "1"})),
        *(("UPDATE", {"id": "1"}, {"id": "2"}), ("DELETE", None, None), ("INSERT", None, {"id": "1"})),
    ]


UNREADABLE: tuple[bytes | None, ...] = (
    *(None, b"", b"\x16", INSERT[1:], b"\x00" + INSERT, b"\x00\x00\x00\x00\x01" + INSERT, b"Obj\x01" + INSERT),
    *(INSERT + b"\x00", INSERT * 2, WATERMARK * 2, WATERMARK + INSERT, b"{}", b'{"type":"WATERMARK"}'),
    *(bytes((index,)) + INSERT[1:] for index in (0, 10, 0x12, 0x14, 0x15, 0x18)),
    *(b"\x16\x06" + bytes((branch,)) + INSERT[3:] for branch in (0, 2, 4, 8, 1)),
    *(b"\x16" + bytes((kind,)) + INSERT[2:] for kind in (0, 2, 4, 8, 1)),
    *(b"\x16\x06\x00" + WATERMARK[3:], INSERT.replace(b"\x02u\x0e\x01", b"\x02u\x10\x01")),
    *(INSERT.replace(b"\x10John Doe", b"\x11John Doe"), INSERT.replace(b"\x10John Doe", b"\xfe\xff\xff\xff\x0fJohn Doe")),
    *(row("INSERT"), row("INSERT", old={"a": (LONG, 1)}), row("UPDATE", old={"a": (LONG, 1)})),
    *(row("DELETE", data={"a": (LONG, 1)}), row("DELETE", handleKeyOnly=False)),
    bootstrap(table_schema("t", ("id", "int"), ("id", "int"))),
    ddl("CREATE", "create", table_schema("t", ("id", "int"), ("id", "int"))),
)


def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records: Records) -> None:
    table = Table("db", "t", (Column("a", mysql.integer("int")),))
    for frame in (simple.decode(records(*UNREADABLE)), simple.decode_rows(records(*UNREADABLE), table)):
        assert_corrupt(frame, len(UNREADABLE))


CELLS_OF_USER = {"id": (LONG, 1), "name": (STRING, "John Doe"), "age": (LONG, 25), "score": (FLOAT, 90.5)}


def test_level_two_gives_the_tables_rows_and_nothing_else(records: Records) -> None:
    def user(op: str, *, database: str = "simple", table: str = "user", **fields: Any) -> bytes:
        return row(op, database=database, table=table, **fields)

    old, bad = CELLS_OF_USER, CELLS_OF_USER | {"age": (STRING, "25")}
    new = {"score": (FLOAT, 95.0)} | {name: old[name] for name in ("age", "name", "id")}
    values = (
        *(user("INSERT", data=old), user("UPDATE", data=new, old=old), user("DELETE", old=new)),
        *(WATERMARK, bootstrap(table_schema("user", ("id", "int"))), ddl("ALTER", "", table_schema("user", ("id", "int")))),
        *(user("INSERT", table="USER", data=old), user("INSERT", database="Simple", data=bad), user("INSERT", data=bad)),
        *(user("UPDATE", data=new, old=bad), user("DELETE", old=new | {"age": None})),
        *(user("INSERT", data=old | {"name": (BYTES, b"John Doe")}), user("INSERT", data={"id": (LONG, 1)}, handleKeyOnly=True)),
        *(user("DELETE", handleKeyOnly=True), user("INSERT", data=old | {"other": (STRING, "x")})),
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


WINTER = dt.datetime(2024, 1, 1, 0, 0, 0, tzinfo=dt.UTC)
CELLS = cells(
    (mysql.integer("tinyint"), ((LONG, -128), -128), ((LONG, 128), MISFIT), ((LONG, 2**32), MISFIT)),
    (mysql.integer("int"), ((STRING, "1"), MISFIT), ((DOUBLE, 1.0), MISFIT), ((BYTES, b"1"), MISFIT)),
    (mysql.integer("int"), ((UNSIGNED, {"value": 1}), MISFIT), (at("UTC", "2024-01-01 00:00:00"), MISFIT)),
    (mysql.integer("int", unsigned=True), ((LONG, 4294967295), 4294967295), ((LONG, -1), MISFIT), ((LONG, 4294967296), MISFIT)),
    (mysql.integer("bigint"), ((LONG, 2**63 - 1), 2**63 - 1)),
    (mysql.integer("bigint", unsigned=True), ((UNSIGNED, {"value": -1}), Decimal(2**64 - 1))),
    (mysql.integer("bigint", unsigned=True), ((UNSIGNED, {"value": -(2**63)}), Decimal(2**63))),
    (mysql.integer("bigint", unsigned=True), ((UNSIGNED, {"value": 0}), Decimal(0)), ((LONG, 5), Decimal(5))),
    (mysql.integer("bigint", unsigned=True), ((LONG, -1), MISFIT), ((STRING, "18446744073709551615"), Decimal(2**64 - 1))),
    (mysql.integer("bigint", unsigned=True), ((STRING, "18446744073709551616"), MISFIT)),
    (mysql.decimal(10, 4), ((STRING, "123.4560"), Decimal("123.456")), ((STRING, "1.23456"), MISFIT), ((DOUBLE, 1.5), MISFIT)),
    (mysql.decimal(65, 30), ((STRING, "-" + "9" * 35 + "." + "9" * 30), "-" + "9" * 35 + "." + "9" * 30)),
    (mysql.real("float"), ((FLOAT, mysql.to_float32(0.1)), mysql.to_float32(0.1)), ((DOUBLE, 0.5), MISFIT)),
    (mysql.real("float"), ((FLOAT, float("inf")), MISFIT), ((FLOAT, float("nan")), MISFIT)),
    (mysql.real("float", unsigned=True), ((FLOAT, -0.5), MISFIT)),
    (mysql.real("double"), ((DOUBLE, 1e308), 1e308), ((DOUBLE, 5e-324), 5e-324), ((FLOAT, 0.5), MISFIT)),
    (mysql.real("double"), ((DOUBLE, float("-inf")), MISFIT), ((DOUBLE, float("nan")), MISFIT), ((STRING, "1.5"), MISFIT)),
    (mysql.bit(1), ((LONG, 1), True), ((STRING, "0"), False), ((LONG, 2), MISFIT)),
    (mysql.bit(8), ((LONG, 255), 255), ((STRING, "255"), 255), ((LONG, 256), MISFIT), ((LONG, -1), MISFIT)),
    (mysql.bit(8), ((BYTES, b"\x01"), MISFIT)),
    (mysql.bit(64), ((LONG, -1), Decimal(2**64 - 1)), ((LONG, 7), Decimal(7))),
    (mysql.bit(64), ((STRING, "18446744073709551615"), Decimal(2**64 - 1)), ((STRING, "-1"), MISFIT)),
    (mysql.text("varchar"), ((STRING, "null"), "null"), ((LONG, 1), MISFIT), ((BYTES, b"x"), MISFIT)),
    (mysql.binary("blob"), ((BYTES, bytes(range(256))), bytes(range(256))), ((BYTES, b""), b""), ((STRING, "AP8="), MISFIT)),
    (mysql.temporal("date"), ((STRING, "2024-02-29"), dt.date(2024, 2, 29)), ((STRING, "0000-00-00"), None)),
    (mysql.temporal("date"), ((STRING, "2024-02-30"), MISFIT), ((LONG, 19000), MISFIT)),
    (mysql.temporal("datetime", 6), ((STRING, "2024-03-10 02:30:00.000000"), dt.datetime(2024, 3, 10, 2, 30))),
    (mysql.temporal("datetime"), (at("UTC", "2024-03-10 02:30:00"), MISFIT)),
    (mysql.temporal("timestamp"), (at("UTC", "2024-01-01 00:00:00"), WINTER)),
    (mysql.temporal("timestamp"), (at("Asia/Shanghai", "2024-01-01 08:00:00"), WINTER)),
    (mysql.temporal("timestamp"), (at("America/New_York", "2023-12-31 19:00:00"), WINTER)),
    (mysql.temporal("timestamp"), (at("Local", "2024-01-01 09:00:00"), WINTER)),
    (mysql.temporal("timestamp"), (at("Asia/Shanghai", "0000-00-00 00:00:00"), None)),
    (mysql.temporal("timestamp"), (at("Nowhere/Else", "2024-01-01 00:00:00"), MISFIT), (at("", "2024-01-01 00:00:00"), MISFIT)),
    (mysql.temporal("timestamp"), (at("UTC", "2024-01-01 25:00:00"), MISFIT), ((STRING, "2024-01-01 00:00:00"), MISFIT)),
    (mysql.temporal("timestamp"), ((LONG, 0), MISFIT)),
    (mysql.temporal("timestamp", 6), (at("Asia/Kolkata", "2024-01-01 05:30:00.123456"), WINTER.replace(microsecond=123456))),
    (mysql.temporal("time", 6), ((STRING, "-838:59:58.999999"), "-838:59:58.999999")),
    (mysql.temporal("time"), ((LONG, 1), MISFIT)),
    (mysql.year(), ((LONG, 0), 0), ((LONG, 1900), MISFIT), ((STRING, "2024"), MISFIT)),
    (mysql.enum_of("a", "b"), ((LONG, 2), 2), ((LONG, 3), MISFIT), ((STRING, "a"), MISFIT)),
    (mysql.set_of(*map(str, range(64))), ((LONG, -1), Decimal(2**64 - 1))),
    (mysql.set_of("a", "b"), ((LONG, 3), Decimal(3)), ((LONG, -1), MISFIT)),
    (mysql.json(), ((STRING, '{"a": 1, "b": null}'), '{"a": 1, "b": null}'), ((STRING, '{"a": 1'), MISFIT)),
)


def test_cells_are_typed_exactly(records: Records, spark: SparkSession) -> None:
    deployment = Deployment(time_zone="Asia/Tokyo")
    assert_typed(spark, records, simple, CELLS, lambda name, cell: row("DELETE", old={name: cell}), deployment)


def test_a_compressed_schema_types_its_rows(records: Records) -> None:
    packed = [bytes(cramjam.snappy.compress_raw(value)) for value in (INSERT, bootstrap(table_schema("user", ("id", "int"))))]
    insert, boot = by_offset(simple.decode(records(*packed), deployment=Deployment(compression="snappy"))).values()
    assert (insert.types, boot.kind) == ({"id": "int"}, "BOOTSTRAP")
