"""The reference decoder of TiCDC Simple in JSON against the documentation's messages, and against
what breaks naive readers.
"""

import base64
import datetime as dt
import json

import cramjam
from decoded import MISFIT, assert_corrupt, assert_typed, by_offset
from grouped import cells
from literals import literal
from simple_images import assert_images

from generators.model import Column, Deployment, Table
from generators.sources import mysql
from spark_checks.decoders import ticdc_simple_json as simple

INSERT, UPDATE, DELETE, WATERMARK, *_ = literal("ticdc-simple-samples.jsonl").splitlines()
COLUMNS = ("id", "int", 11), ("name", "varchar", 255), ("age", "int", 11), ("score", "float", 12)
CREATE_TIME = ("createTime", "timestamp", 19)
VERSION = 447984074911121426


def table_schema(
    table: str,
    *columns: tuple[str, str, int],
    version: object = VERSION,
    keys: tuple[str, ...] = ("id",),
    schema: str = "simple",
) -> dict[str, object]:
    """A tableSchema as the documentation prints it."""
    columns = [
        {
            "name": name,
            "dataType": {
                "mysqlType": kind,
                "charset": "binary",
                "collate": "binary",
                "length": length,
            },
        }
        | {"nullable": name not in keys, "default": None}
        for name, kind, length in columns
    ]
    indexes = [
        {"name": "k", "unique": True, "primary": False, "nullable": True, "columns": ["k"]},
        {
            "name": "primary",
            "unique": True,
            "primary": True,
            "nullable": False,
            "columns": list(keys),
        },
    ]
    return {
        "schema": schema,
        "table": table,
        "tableID": 148,
        "version": version,
        "columns": columns,
        "indexes": indexes,
    }


def bootstrap(schema: dict[str, object]) -> str:
    """BOOTSTRAP of the documentation."""
    return json.dumps(
        {
            "version": 1,
            "type": "BOOTSTRAP",
            "commitTs": 0,
            "buildTs": 1708924603278,
            "tableSchema": schema,
        }
    )


def ddl(
    kind: str, sql: str, schema: dict[str, object] | None, before: dict[str, object] | None = None
) -> str:
    """The DDL of the documentation."""
    message = {
        "version": 1,
        "type": kind,
        "sql": sql,
        "commitTs": 447987408682614795,
        "buildTs": 1708936343598,
    }
    schemas = {"tableSchema": schema, "preTableSchema": before}
    return json.dumps(
        message | {name: carried for name, carried in schemas.items() if carried is not None}
    )


ALTER = ddl(
    "ALTER",
    "ALTER TABLE `user` ADD COLUMN `createTime` TIMESTAMP",
    table_schema("user", *COLUMNS, CREATE_TIME, version=447987408682614791),
    table_schema("user", *COLUMNS),
)
TYPES = {"id": "int", "name": "varchar", "age": "int", "score": "float"}


def row(kind: str, **fields: object) -> str:
    """A row change of `db`.`t`; `fields` replace or add members."""
    common: dict[str, object] = {
        "version": 1,
        "database": "db",
        "table": "t",
        "tableID": 1,
        "type": kind,
    }
    common |= {"commitTs": 447984084414103554, "buildTs": 1708923662983, "schemaVersion": VERSION}
    return json.dumps(common | fields, ensure_ascii=False)


def at(location: str, value: str) -> dict[str, str]:
    """A TIMESTAMP on the wire."""
    return {"location": location, "value": value}


def test_samples_of_document_002(records):
    known = bootstrap(table_schema("user", *COLUMNS))
    out = by_offset(simple.decode(records(INSERT, UPDATE, DELETE, WATERMARK, known, ALTER)))
    insert, update, delete, watermark, boot, alter = out.values()
    old, new = (
        {"age": "25", "id": "1", "name": "John Doe", "score": score} for score in ("90.5", "95")
    )
    assert [
        (r.kind, r.op, r.database, r.table, r.before, r.after) for r in (insert, update, delete)
    ] == [
        *(
            ("ROW", "INSERT", "simple", "user", None, old),
            ("ROW", "UPDATE", "simple", "user", old, new),
        ),
        ("ROW", "DELETE", "simple", "user", new, None),
    ]
    assert [r.position for r in (insert, update, delete)] == [
        "447984084414103554",
        "447984099186180098",
        "447984114259722243",
    ]
    assert {r.schema_version for r in (insert, update, delete, boot)} == {"447984074911121426"}
    assert insert.types == update.types == delete.types == boot.types == TYPES
    assert insert["keys"] is None
    assert insert.commit_time.astimezone(dt.UTC) == dt.datetime(
        2024, 2, 26, 5, 1, 1, 858000, dt.UTC
    )
    assert (watermark.kind, watermark.op, watermark.position) == (
        "WATERMARK",
        None,
        "447984124732375041",
    )
    assert watermark.commit_time.astimezone(dt.UTC) == dt.datetime(
        2024, 2, 26, 5, 3, 35, 660000, dt.UTC
    )
    assert (boot.kind, boot.op, boot.database, boot.table, boot["keys"]) == (
        "BOOTSTRAP",
        None,
        "simple",
        "user",
        ["id"],
    )
    assert boot.commit_time is None
    assert (alter.kind, alter.op, alter.database, alter.table, alter["keys"]) == (
        "DDL",
        None,
        "simple",
        "user",
        ["id"],
    )
    assert alter.sql == "ALTER TABLE `user` ADD COLUMN `createTime` TIMESTAMP"
    assert (alter.schema_version, alter.types) == (
        "447987408682614791",
        TYPES | {"createTime": "timestamp"},
    )
    assert alter.commit_time.astimezone(dt.UTC) == dt.datetime(
        2024, 2, 26, 8, 32, 22, 936000, dt.UTC
    )


def test_types_come_from_the_schema_of_the_rows_own_version(records):
    """Before the row or after it, from BOOTSTRAP, DDL or what a DDL found; never of another
    version, table or database.
    """

    def insert(table: str, version: int, database: str = "simple") -> str:
        return row(
            "INSERT", database=database, table=table, schemaVersion=version, data={"id": "1"}
        )

    values = (
        *(insert("a", 1), bootstrap(table_schema("a", ("id", "int", 11), version=1))),
        bootstrap(table_schema("a", ("id", "bigint", 20), version=2)),
        bootstrap(table_schema("a", ("id", "text", 20), version=1)),
        *(
            insert("a", 2),
            insert("a", 1),
            insert("a", 3),
            insert("b", 1),
            insert("A", 1),
            insert("a", 1, "Simple"),
        ),
        ddl(
            "ALTER",
            "",
            table_schema("c", ("id", "int", 11), version=2),
            table_schema("c", ("id", "char", 1), version=1),
        ),
        *(insert("c", 2), insert("c", 1)),
        json.dumps(
            {"type": "NONSENSE", "tableSchema": table_schema("d", ("id", "int", 11), version=1)}
        ),
        *(insert("d", 1), row("INSERT", table="a", schemaVersion=1, data={"id": '"tableSchema"'})),
    )
    out = by_offset(simple.decode(records(*values)))
    types = {offset: r.types and r.types["id"] for offset, r in out.items() if r.kind == "ROW"}
    known = {0: "int", 4: "bigint", 5: "int", 11: "int", 12: "char"}
    assert (types, out[2].types) == (known | dict.fromkeys((6, 7, 8, 9, 14, 15)), {"id": "bigint"})
    assert (out[3].types, out[13].kind) == ({"id": "text"}, "CORRUPT")


def test_images_are_exactly_what_the_wire_carries(records):
    assert_images(simple.decode, records, row, lambda value: value and str(value))


UNREADABLE: tuple[str | bytes | None, ...] = (
    bootstrap(table_schema("t", *COLUMNS))[:-1],
    *(None, "null"),
    WATERMARK * 2,
    *(
        row("UPSERT", data={"a": "1"}),
        row("insert", data={"a": "1"}),
        row("INSERT", data=[{"a": "1"}]),
        row("INSERT", data="x"),
    ),
    *(
        row("INSERT", data=None),
        row("INSERT", old={"a": "1"}),
        row("UPDATE", old={"a": "1"}),
        row("DELETE", data={"a": "1"}),
    ),
    *(row("DELETE", handleKeyOnly=False), row("INSERT", data={"a": "1"}, table=None)),
    *(
        row("INSERT", data={"a": "1"}, database=None),
        row("INSERT", data={"a": "1"}, type={"INSERT": 1}),
    ),
    *(row("INSERT", data={"a": "1"}, type=5), row("INSERT", data={"a": "1"}, commitTs="x")),
    *(
        row("INSERT", data={"a": "1"}, schemaVersion={}),
        row("INSERT", data={"a": "1"}, handleKeyOnly="yes"),
    ),
    *(
        row("INSERT", data={"a": "1"}, tableSchema=[]),
        row("INSERT", data={"a": "1"}, preTableSchema="x"),
    ),
    *(
        '{"version":1,"type":"WATERMARK","buildTs":1}',
        '{"version":1,"type":"BOOTSTRAP","commitTs":0,"buildTs":1}',
    ),
    *(
        '{"version":1,"type":"CREATE","commitTs":1,"buildTs":1}',
        bootstrap(table_schema("t", *COLUMNS, *COLUMNS)),
    ),
    *(
        bootstrap(table_schema("t", *COLUMNS) | {"columns": [None]}),
        bootstrap(table_schema("t", *COLUMNS) | {"columns": None}),
    ),
    *(
        bootstrap(table_schema("t", *COLUMNS) | {"version": None}),
        bootstrap(table_schema("t", *COLUMNS) | {"version": "x"}),
    ),
    bootstrap(table_schema("t", *COLUMNS) | {"indexes": "x"}),
    ddl(
        "CREATE",
        "create",
        table_schema("t", *COLUMNS),
        table_schema("t", *COLUMNS) | {"columns": "x"},
    ),
    ddl("CREATE", "create", table_schema("t", *COLUMNS, *COLUMNS)),
)


def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records):
    table = Table("db", "t", (Column("a", mysql.integer("int")),))
    for frame in (
        simple.decode(records(*UNREADABLE)),
        simple.decode_rows(records(*UNREADABLE), table),
    ):
        assert_corrupt(frame, len(UNREADABLE))


def test_unspecified_input_never_raises_and_never_vanishes(records):
    boot = bootstrap(table_schema("t", ("id", "int", 11), schema="db"))
    values = [
        row("INSERT", data={"a": "1"}).replace("447984084414103554", "18446744073709551615"),
        *(
            boot.replace('"id"', '"\\ud800"'),
            boot.replace('"table": "t"', '"table": "t", "table": "u"'),
        ),
    ]
    out = by_offset(simple.decode(records(*values)))
    assert (set(out), out[0].position, out[0].commit_time) == (
        set(range(len(values))),
        "18446744073709551615",
        None,
    )
    table = Table("db", "t", (Column("a", mysql.text()),))
    assert set(by_offset(simple.decode_rows(records(*values), table))) == {0}


def b64(raw: bytes) -> str:
    """Standard base64 with padding."""
    return base64.b64encode(raw).decode()


WINTER = dt.datetime(2024, 1, 1, 0, 0, 0, tzinfo=dt.UTC)
CELLS = cells(
    # What has no form of its own here is typed by the function that types Canal's, with its cells.
    (
        mysql.real("float"),
        ("1e+06", 1e6),
        ("1.234567e+06", 1234567.0),
        ("1e-05", mysql.to_float32(1e-5)),
    ),
    (
        mysql.real("double"),
        ("1" + "0" * 308, 1e308),
        ("-0", -0.0),
        ("1e+400", MISFIT),
        ("+Inf", MISFIT),
    ),
    (
        mysql.binary("blob"),
        (b64(bytes(range(256))), bytes(range(256))),
        ("", b""),
        ("abcd", base64.b64decode("abcd")),
    ),
    (
        mysql.binary("blob"),
        ("1234", base64.b64decode("1234")),
        ("AP8", MISFIT),
        ("A_-=", MISFIT),
        ("汉字汉字", MISFIT),
    ),
    (mysql.binary("blob"), ("!!!!", MISFIT)),
    (mysql.temporal("datetime"), (at("UTC", "2024-03-10 02:30:00"), MISFIT)),
    (mysql.temporal("timestamp"), (at("UTC", "2024-01-01 00:00:00"), WINTER)),
    (mysql.temporal("timestamp"), (at("Asia/Shanghai", "2024-01-01 08:00:00"), WINTER)),
    (mysql.temporal("timestamp"), (at("America/New_York", "2023-12-31 19:00:00"), WINTER)),
    (
        mysql.temporal("timestamp"),
        (at("America/Argentina/ComodRivadavia", "2023-12-31 21:00:00"), WINTER),
    ),
    (mysql.temporal("timestamp"), (at("America/Port-au-Prince", "2023-12-31 19:00:00"), WINTER)),
    (
        mysql.temporal("timestamp"),
        (at("Etc/GMT+8", "2023-12-31 16:00:00"), WINTER),
        (at("GMT", "2024-01-01 00:00:00"), WINTER),
    ),
    (
        mysql.temporal("timestamp"),
        (at("EST", "2023-12-31 19:00:00"), WINTER),
        (at("Local", "2024-01-01 09:00:00"), WINTER),
    ),
    (mysql.temporal("timestamp"), ({"value": "2024-01-01 00:00:00", "location": "UTC"}, WINTER)),
    (mysql.temporal("timestamp"), (at("Asia/Shanghai", "0000-00-00 00:00:00"), None)),
    (
        mysql.temporal("timestamp"),
        (at("Nowhere/Else", "2024-01-01 00:00:00"), MISFIT),
        (at("", "2024-01-01 00:00:00"), MISFIT),
    ),
    (
        mysql.temporal("timestamp"),
        (at(" \t", "2024-01-01 00:00:00"), MISFIT),
        (at("UTC", "2024-01-01 25:00:00"), MISFIT),
    ),
    (
        mysql.temporal("timestamp"),
        (at("UTC", "2024-01-01 00:00:00 CST"), MISFIT),
        ({"value": "2024-01-01 00:00:00"}, MISFIT),
    ),
    (
        mysql.temporal("timestamp"),
        ({"location": "UTC"}, MISFIT),
        ({}, MISFIT),
        ([], MISFIT),
        ("2024-01-01 00:00:00", MISFIT),
    ),
    (mysql.temporal("timestamp"), ("", MISFIT)),
    (
        mysql.temporal("timestamp", 3),
        (at("UTC", "2024-01-01 00:00:00.123"), WINTER.replace(microsecond=123000)),
    ),
    (
        mysql.temporal("timestamp", 6),
        (at("Asia/Kolkata", "2024-01-01 05:30:00.123456"), WINTER.replace(microsecond=123456)),
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


def test_a_compressed_schema_types_its_rows(records):
    packed = [
        bytes(cramjam.snappy.compress_raw(value.encode()))
        for value in (INSERT, bootstrap(table_schema("user", *COLUMNS)))
    ]
    insert, boot = by_offset(
        simple.decode(records(*packed), deployment=Deployment(compression="snappy"))
    ).values()
    assert (insert.types, boot.kind) == (TYPES, "BOOTSTRAP")


def test_kinds_and_the_table_of_each_ddl_type(records):
    kinds = ("CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY")
    values = [
        ddl(kind, f"{kind} it", table_schema("t", *COLUMNS, keys=("id", "age"))) for kind in kinds
    ]
    out = by_offset(simple.decode(records(*values, ddl("QUERY", "CREATE DATABASE `simple`", None))))
    *tables, database = out.values()
    assert [(r.kind, r.op, r.database, r.table, r["keys"], r.sql) for r in tables] == [
        ("DDL", None, "simple", "t", ["id", "age"], f"{kind} it") for kind in kinds
    ]
    assert (database.kind, database.database, database.table, database.sql) == (
        "DDL",
        None,
        None,
        "CREATE DATABASE `simple`",
    )
    assert (database.types, database.schema_version, database["keys"]) == (None, None, None)
