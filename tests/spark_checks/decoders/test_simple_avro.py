"""The reference decoder of TiCDC Simple in Avro: the known vectors, and messages that fastavro
encodes.
"""

import datetime as dt
import io
import json
from decimal import Decimal
from typing import Any

import fastavro
from decoded import MISFIT, assert_corrupt, assert_typed, by_offset, instant
from grouped import cells
from literals import literal
from simple_images import assert_images

from generators.model import Column, Deployment, Table
from generators.sources import mysql
from spark_checks.decoders import ticdc_simple_avro as simple

WATERMARK = bytes.fromhex(literal("ticdc-simple-watermark.hex"))
INSERT = bytes.fromhex(literal("ticdc-simple-row.hex"))
"""The two known vectors."""

VERSION = 447984074911121426
COMMIT = 447984084414103554

SCHEMA = fastavro.parse_schema(json.loads(literal("ticdc-simple.avsc")))
"""TiCDC's own (pkg/sink/codec/simple/message.json)."""

LONG, FLOAT, DOUBLE, STRING, BYTES, TIMESTAMP, UNSIGNED = (
    *("long", "float", "double", "string", "bytes", "Timestamp", "UnsignedBigint"),
)


def message(kind: str, payload: str, **fields: Any) -> bytes:
    """A message of the type with a payload of that record."""
    out = io.BytesIO()
    body = (payload, {"version": 1, "buildTs": 1708923662983} | fields)
    fastavro.schemaless_writer(out, SCHEMA, ("Message", {"type": kind, "payload": body}))
    return out.getvalue()


def row(
    op: str,
    *,
    database: str = "db",
    table: str = "t",
    version: int = VERSION,
    commit: int = COMMIT,
    **fields: Any,
) -> bytes:
    """A row change; cells are (branch, value)."""
    place = {
        "database": database,
        "table": table,
        "tableID": 1,
        "type": op,
        "commitTs": commit,
        "schemaVersion": version,
    }
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
    kinds = [
        (name, {"mysqlType": kind, "charset": "binary", "collate": "binary", "length": 11})
        for name, kind in columns
    ]
    return {
        "database": database,
        "table": table,
        "tableID": 148,
        "version": version,
        "columns": [
            {"name": name, "dataType": kind, "nullable": name not in keys, "default": default}
            for name, kind in kinds
        ],
        "indexes": [
            {"name": "k", "unique": True, "primary": False, "nullable": True, "columns": ["k"]},
            {
                "name": "primary",
                "unique": True,
                "primary": True,
                "nullable": False,
                "columns": list(keys),
            },
        ],
    }


def bootstrap(schema: dict[str, Any]) -> bytes:
    """A BOOTSTRAP."""
    return message("BOOTSTRAP", "Bootstrap", tableSchema=schema)


def ddl(
    kind: str, sql: str, schema: dict[str, Any] | None, before: dict[str, Any] | None = None
) -> bytes:
    """A DDL."""
    return message(
        "DDL",
        "DDL",
        type=kind,
        sql=sql,
        commitTs=447987408682614795,
        tableSchema=schema,
        preTableSchema=before,
    )


def at(location: str, value: str) -> tuple[str, dict[str, str]]:
    """A TIMESTAMP."""
    return TIMESTAMP, {"location": location, "value": value}


def test_the_printed_vectors(records):
    insert, watermark = by_offset(simple.decode(records(INSERT, WATERMARK))).values()
    assert (insert.kind, insert.op, insert.database, insert.table, insert.before) == (
        "ROW",
        "INSERT",
        "simple",
        "user",
        None,
    )
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
    assert insert.commit_time.astimezone(dt.UTC) == dt.datetime(
        2024, 2, 26, 5, 1, 1, 858000, dt.UTC
    )
    assert (watermark.kind, watermark.op, watermark.position) == (
        "WATERMARK",
        None,
        "447984124732375041",
    )
    assert (watermark.database, watermark.table, watermark.schema_version) == (None, None, None)
    assert watermark.commit_time.astimezone(dt.UTC) == dt.datetime(
        2024, 2, 26, 5, 3, 35, 660000, dt.UTC
    )


def test_a_printed_row_is_typed(records):
    kinds = {
        "id": mysql.integer("int"),
        "name": mysql.text(),
        "u": mysql.integer("bigint", unsigned=True),
    }
    kinds |= {
        "ts": mysql.temporal("timestamp"),
        "n": mysql.integer("int"),
        "b": mysql.binary("blob"),
    }
    table = Table(
        "simple", "user", tuple(Column(name, kind) for name, kind in kinds.items()), ("id",)
    )
    (out,) = by_offset(simple.decode_rows(records(INSERT, WATERMARK), table)).values()
    after = {name: instant(value) for name, value in out.after.asDict().items()}
    midnight = dt.datetime(2023, 12, 31, 16, tzinfo=dt.UTC)
    wanted = {
        "id": 1,
        "name": "John Doe",
        "u": Decimal(2**64 - 1),
        "ts": midnight,
        "n": None,
        "b": bytearray(b"\0\xff"),
    }
    assert (out.kind, out.op, out.before, after) == ("ROW", "INSERT", None, wanted)


def test_a_default_that_is_no_text_costs_nothing(records):
    value = bootstrap(table_schema("t", ("b", "bit"), default="MARK")).replace(
        b"MARK", b"\xff\x00\xfe\x80"
    )
    (out,) = by_offset(simple.decode(records(value))).values()
    assert (out.kind, out.types) == ("BOOTSTRAP", {"b": "bit"})


TEXTS: tuple[tuple[Any, str | None], ...] = (
    *(
        (None, None),
        ((LONG, 0), "0"),
        ((LONG, -(2**63)), "-9223372036854775808"),
        ((STRING, ""), ""),
    ),
    *(
        ((STRING, 'q"\\\n<汉>'), 'q"\\\n<汉>'),
        ((BYTES, b""), ""),
        ((BYTES, b"\x00\xfeA"), "00fe41"),
    ),
    *(
        ((UNSIGNED, {"value": 5}), '{"value":5}'),
        ((UNSIGNED, {"value": -(2**63)}), '{"value":-9223372036854775808}'),
    ),
    (
        at("Local", "2024-01-01 00:00:00.000000"),
        '{"location":"Local","value":"2024-01-01 00:00:00.000000"}',
    ),
    (at("", ""), '{"location":"","value":""}'),
)
REALS = (
    0.0,
    0.1,
    90.5,
    -1234567.0,
    16777216.0,
    2.0**-20,
    1e-45,
    1.1754944e-38,
    3.4028234663852886e38,
    33554432.0,
    8.41e21,
)


def test_cells_as_text(records):
    data = {f"c{i}": cell for i, (cell, _) in enumerate(TEXTS)}
    (out,) = by_offset(simple.decode(records(row("INSERT", data=data)))).values()
    assert out.after == {f"c{i}": text for i, (_, text) in enumerate(TEXTS)}


def test_a_float_is_the_shortest_text_of_its_binary32(records):
    held = [mysql.to_float32(value) for value in REALS]
    data = {f"f{i}": (FLOAT, value) for i, value in enumerate(held)} | {
        f"d{i}": (DOUBLE, value) for i, value in enumerate(REALS)
    }
    (out,) = by_offset(simple.decode(records(row("INSERT", data=data)))).values()
    for i, value in enumerate(held):
        shortest = next(
            t for t in (f"{value:.{n}e}" for n in range(9)) if mysql.to_float32(float(t)) == value
        )
        assert float(out.after[f"f{i}"]) == float(shortest), value
        assert float(out.after[f"d{i}"]) == REALS[i]


def test_images_are_exactly_what_the_wire_carries(records):
    assert_images(
        simple.decode,
        records,
        row,
        lambda value: value and ("long" if value in (1, 2) else "string", value),
    )


UNREADABLE: tuple[bytes | None, ...] = (
    *(
        None,
        b"",
        b"\x16",
        INSERT[1:],
        b"\x00" + INSERT,
        b"\x00\x00\x00\x00\x01" + INSERT,
        b"Obj\x01" + INSERT,
    ),
    *(
        INSERT + b"\x00",
        INSERT * 2,
        WATERMARK * 2,
        WATERMARK + INSERT,
        b"{}",
        b'{"type":"WATERMARK"}',
    ),
    *(bytes((index,)) + INSERT[1:] for index in (0, 10, 0x12, 0x14, 0x15, 0x18)),
    *(b"\x16\x06" + bytes((branch,)) + INSERT[3:] for branch in (0, 2, 4, 8, 1)),
    *(b"\x16" + bytes((kind,)) + INSERT[2:] for kind in (0, 2, 4, 8, 1)),
    *(b"\x16\x06\x00" + WATERMARK[3:], INSERT.replace(b"\x02u\x0e\x01", b"\x02u\x10\x01")),
    *(
        INSERT.replace(b"\x10John Doe", b"\x11John Doe"),
        INSERT.replace(b"\x10John Doe", b"\xfe\xff\xff\xff\x0fJohn Doe"),
    ),
    *(row("INSERT"), row("INSERT", old={"a": (LONG, 1)}), row("UPDATE", old={"a": (LONG, 1)})),
    *(row("DELETE", data={"a": (LONG, 1)}), row("DELETE", handleKeyOnly=False)),
    bootstrap(table_schema("t", ("id", "int"), ("id", "int"))),
    ddl("CREATE", "create", table_schema("t", ("id", "int"), ("id", "int"))),
)


def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records):
    table = Table("db", "t", (Column("a", mysql.integer("int")),))
    for frame in (
        simple.decode(records(*UNREADABLE)),
        simple.decode_rows(records(*UNREADABLE), table),
    ):
        assert_corrupt(frame, len(UNREADABLE))


WINTER = dt.datetime(2024, 1, 1, 0, 0, 0, tzinfo=dt.UTC)
CELLS = cells(
    (
        mysql.integer("tinyint"),
        ((LONG, -128), -128),
        ((LONG, 128), MISFIT),
        ((LONG, 2**32), MISFIT),
    ),
    (
        mysql.integer("int"),
        ((STRING, "1"), MISFIT),
        ((DOUBLE, 1.0), MISFIT),
        ((BYTES, b"1"), MISFIT),
    ),
    (
        mysql.integer("int"),
        ((UNSIGNED, {"value": 1}), MISFIT),
        (at("UTC", "2024-01-01 00:00:00"), MISFIT),
    ),
    (
        mysql.integer("int", unsigned=True),
        ((LONG, 4294967295), 4294967295),
        ((LONG, -1), MISFIT),
        ((LONG, 4294967296), MISFIT),
    ),
    (mysql.integer("bigint"), ((LONG, 2**63 - 1), 2**63 - 1)),
    (mysql.integer("bigint", unsigned=True), ((UNSIGNED, {"value": -1}), Decimal(2**64 - 1))),
    (mysql.integer("bigint", unsigned=True), ((UNSIGNED, {"value": -(2**63)}), Decimal(2**63))),
    (
        mysql.integer("bigint", unsigned=True),
        ((UNSIGNED, {"value": 0}), Decimal(0)),
        ((LONG, 5), Decimal(5)),
    ),
    (
        mysql.integer("bigint", unsigned=True),
        ((LONG, -1), MISFIT),
        ((STRING, "18446744073709551615"), Decimal(2**64 - 1)),
    ),
    (mysql.integer("bigint", unsigned=True), ((STRING, "18446744073709551616"), MISFIT)),
    (
        mysql.decimal(10, 4),
        ((STRING, "123.4560"), Decimal("123.456")),
        ((STRING, "1.23456"), MISFIT),
        ((DOUBLE, 1.5), MISFIT),
    ),
    (
        mysql.decimal(65, 30),
        ((STRING, "-" + "9" * 35 + "." + "9" * 30), "-" + "9" * 35 + "." + "9" * 30),
    ),
    (
        mysql.real("float"),
        ((FLOAT, mysql.to_float32(0.1)), mysql.to_float32(0.1)),
        ((DOUBLE, 0.5), MISFIT),
    ),
    (mysql.real("float"), ((FLOAT, float("inf")), MISFIT), ((FLOAT, float("nan")), MISFIT)),
    (mysql.real("float", unsigned=True), ((FLOAT, -0.5), MISFIT)),
    (
        mysql.real("double"),
        ((DOUBLE, 1e308), 1e308),
        ((DOUBLE, 5e-324), 5e-324),
        ((FLOAT, 0.5), MISFIT),
    ),
    (
        mysql.real("double"),
        ((DOUBLE, float("-inf")), MISFIT),
        ((DOUBLE, float("nan")), MISFIT),
        ((STRING, "1.5"), MISFIT),
    ),
    (mysql.bit(1), ((LONG, 1), True), ((STRING, "0"), False), ((LONG, 2), MISFIT)),
    (
        mysql.bit(8),
        ((LONG, 255), 255),
        ((STRING, "255"), 255),
        ((LONG, 256), MISFIT),
        ((LONG, -1), MISFIT),
    ),
    (mysql.bit(8), ((BYTES, b"\x01"), MISFIT)),
    (mysql.bit(64), ((LONG, -1), Decimal(2**64 - 1)), ((LONG, 7), Decimal(7))),
    (
        mysql.bit(64),
        ((STRING, "18446744073709551615"), Decimal(2**64 - 1)),
        ((STRING, "-1"), MISFIT),
    ),
    (
        mysql.text("varchar"),
        ((STRING, "null"), "null"),
        ((LONG, 1), MISFIT),
        ((BYTES, b"x"), MISFIT),
    ),
    (
        mysql.binary("blob"),
        ((BYTES, bytes(range(256))), bytes(range(256))),
        ((BYTES, b""), b""),
        ((STRING, "AP8="), MISFIT),
    ),
    (
        mysql.temporal("date"),
        ((STRING, "2024-02-29"), dt.date(2024, 2, 29)),
        ((STRING, "0000-00-00"), None),
    ),
    (mysql.temporal("date"), ((STRING, "2024-02-30"), MISFIT), ((LONG, 19000), MISFIT)),
    (
        mysql.temporal("datetime", 6),
        ((STRING, "2024-03-10 02:30:00.000000"), dt.datetime(2024, 3, 10, 2, 30)),
    ),
    (mysql.temporal("datetime"), (at("UTC", "2024-03-10 02:30:00"), MISFIT)),
    (mysql.temporal("timestamp"), (at("UTC", "2024-01-01 00:00:00"), WINTER)),
    (mysql.temporal("timestamp"), (at("Asia/Shanghai", "2024-01-01 08:00:00"), WINTER)),
    (mysql.temporal("timestamp"), (at("America/New_York", "2023-12-31 19:00:00"), WINTER)),
    (mysql.temporal("timestamp"), (at("Local", "2024-01-01 09:00:00"), WINTER)),
    (mysql.temporal("timestamp"), (at("Asia/Shanghai", "0000-00-00 00:00:00"), None)),
    (
        mysql.temporal("timestamp"),
        (at("Nowhere/Else", "2024-01-01 00:00:00"), MISFIT),
        (at("", "2024-01-01 00:00:00"), MISFIT),
    ),
    (
        mysql.temporal("timestamp"),
        (at("UTC", "2024-01-01 25:00:00"), MISFIT),
        ((STRING, "2024-01-01 00:00:00"), MISFIT),
    ),
    (mysql.temporal("timestamp"), ((LONG, 0), MISFIT)),
    (
        mysql.temporal("timestamp", 6),
        (at("Asia/Kolkata", "2024-01-01 05:30:00.123456"), WINTER.replace(microsecond=123456)),
    ),
    (mysql.temporal("time", 6), ((STRING, "-838:59:58.999999"), "-838:59:58.999999")),
    (mysql.temporal("time"), ((LONG, 1), MISFIT)),
    (mysql.year(), ((LONG, 0), 0), ((LONG, 1900), MISFIT), ((STRING, "2024"), MISFIT)),
    (mysql.enum_of("a", "b"), ((LONG, 2), 2), ((LONG, 3), MISFIT), ((STRING, "a"), MISFIT)),
    (mysql.set_of(*map(str, range(64))), ((LONG, -1), Decimal(2**64 - 1))),
    (mysql.set_of("a", "b"), ((LONG, 3), Decimal(3)), ((LONG, -1), MISFIT)),
    (
        mysql.json(),
        ((STRING, '{"a": 1, "b": null}'), '{"a": 1, "b": null}'),
        ((STRING, '{"a": 1'), MISFIT),
    ),
)


def test_cells_are_typed_exactly(records, spark):
    deployment = Deployment(time_zone="Asia/Tokyo")
    assert_typed(
        spark,
        records,
        simple,
        CELLS,
        lambda name, cell: row("DELETE", old={name: cell}),
        deployment,
    )
