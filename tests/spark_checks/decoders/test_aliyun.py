"""The reference decoder of Aliyun DTS's Avro Record."""

import datetime as dt
import io
import json
from decimal import Decimal
from typing import Any

import fastavro
import pytest
from decoded import MISFIT, assert_corrupt, assert_typed, by_offset, instant
from grouped import cells
from literals import literal

from generators.model import Column, Deployment, Table
from generators.sources import mysql, postgresql
from spark_checks.decoders import aliyun_dts_avro as aliyun

VECTOR = literal("aliyun-dts-insert.hex")
"""An INSERT that an independent Avro library encoded."""
SMALLEST = "00000000000000001e00000000000000"
"""A NOOP with everything empty (aliyun#short-records)."""

_NAMESPACE = "com.alibaba.dts.formats.avro"


*NAMED, RECORD = json.loads(literal("aliyun-dts.avsc"))
"""The published schema (aliyun#editions): its named types, and the record."""
BRANCHES = {type_["name"]: [field["name"] for field in type_.get("fields", ())] for type_ in NAMED}


def schema(fields: list[Any]) -> Any:
    """The record of these fields as fastavro reads it."""
    named: dict[str, Any] = {}
    for type_ in NAMED:
        fastavro.parse_schema(type_, named)
    return fastavro.parse_schema({**RECORD, "fields": fields}, named)


NEWER, OLDER = schema(RECORD["fields"]), schema(RECORD["fields"][:-1])
NONE, NULLED = ("EmptyObject", "NONE"), ("EmptyObject", "NULL")


def cell(branch: str, *values: object, **parts: object) -> tuple[str, Any]:
    """A cell of that branch, its fields in order or by name."""
    names = BRANCHES[branch]
    return branch, {**dict.fromkeys(names), **dict(zip(names, values, strict=False)), **parts}


def number(text: object, size: int = 8) -> tuple[str, Any]:
    """An Integer."""
    return cell("Integer", size, str(text))


def chars(text: str, charset: str = "utf8mb4", codec: str = "utf-8") -> tuple[str, Any]:
    """A Character."""
    return cell("Character", charset, text.encode(codec))


def clock(*parts: int | None, **named: int) -> tuple[str, Any]:
    """A DateTime."""
    return cell("DateTime", *parts, **named)


def branched(value: Any) -> Any:
    """A cell as fastavro takes it, with the branch's full name."""
    if isinstance(value, tuple):
        return f"{_NAMESPACE}.{value[0]}", value[1]
    return value


def record(
    operation: str,
    names: Any = None,
    before: Any = None,
    after: Any = None,
    *,
    source: str = "MySQL",
    older: bool = False,
    **other: Any,
) -> bytes:
    """A Record of `db.t`; `names` are its columns, or the array itself, images lists of cells or a
    string.
    """
    columns = (
        [{"name": n, "dataTypeNumber": i} for i, n in enumerate(names.split())]
        if isinstance(names, str)
        else names
    )
    value: dict[str, Any] = {
        "version": 0,
        "id": 1,
        "sourceTimestamp": 1696984408,
        "sourcePosition": "72469@78",
    }
    value |= {
        "safeSourcePosition": "72347@78",
        "sourceTxid": "0",
        "source": {"sourceType": source, "version": "8.0.28"},
    }
    value |= {"operation": operation, "objectName": "db.t", "processTimestamps": None}
    value |= {
        "tags": {
            "pk_uk_info": '{"uk":["b"],"PRIMARY":["id"]}',
            "readerThroughoutTime": "1696984408123",
        },
        "fields": columns,
    }
    for side, image in (("beforeImages", before), ("afterImages", after)):
        value[side] = [branched(v) for v in image] if isinstance(image, list) else image
    out = io.BytesIO()
    fastavro.schemaless_writer(
        out, OLDER if older else NEWER, {**value, "bornTimestamp": 1696984408, **other}
    )
    return out.getvalue()


SMALL = Table("db", "t", (Column("id", mysql.integer("int")), Column("b", mysql.text())), ("id",))


def test_the_literal_vectors(records):
    """The writer of this file gives the same bytes, so that its schema is held to them too."""
    written = record(
        "INSERT",
        [{"name": "a", "dataTypeNumber": 8}, {"name": "b", "dataTypeNumber": 253}],
        None,
        [number(123456789), chars("test")],
        id=1700382,
        objectName="mydb.t1",
        tags={"pk_uk_info": '{"PRIMARY":["a"]}'},
    )
    assert written.hex() == VECTOR
    out = by_offset(aliyun.decode(records(written, bytes.fromhex(SMALLEST))))
    row = out[0]
    assert (row.kind, row.op, row.database, row.schema, row.table) == (
        "ROW",
        "INSERT",
        "mydb",
        None,
        "t1",
    )
    assert (row["keys"], row.position, row.types) == (["a"], "72469@78", {"a": "8", "b": "253"})
    assert instant(row.commit_time) == dt.datetime(2023, 10, 11, 0, 33, 28, tzinfo=dt.UTC)
    cells = {
        "a": '{"precision":8,"value":"123456789"}',
        "b": '{"charset":"utf8mb4","value":"74657374"}',
    }
    assert (row.before, row.after) == (None, cells)
    assert (out[1].kind, out[1].op, out[1].database, out[1].after) == ("CONTROL", None, None, None)


def test_names_of_objects(records):
    """Dots join the parts, a dot inside one is six characters (aliyun#dots); tags have the logical
    names, of any source.
    """
    logical = {"l_db_name": "logical", "l_tb_name": "orders"}
    names: tuple[
        tuple[str | None, str, dict[str, str], tuple[str | None, str | None, str | None]], ...
    ] = (
        *(("db", "MySQL", {}, ("db", None, None)), ("db.t", "MySQL", {}, ("db", None, "t"))),
        *(
            ("db.s.t", "PostgreSQL", {}, ("db", "s", "t")),
            ("d\\u002Eb.t\\u002E\\u002E1", "MySQL", {}, ("d.b", None, "t..1")),
        ),
        *(
            ("d\\u002eb.t", "MySQL", {}, ("d\\u002eb", None, "t")),
            ("库.表", "MySQL", {}, ("库", None, "表")),
        ),
        *(
            ("db.t.", "MySQL", {}, ("db", None, "t")),
            ("db_0005.orders_aeje_11", "DRDS", logical, ("logical", None, "orders")),
        ),
        ("db_0005.orders_aeje_11", "DRDS", {}, ("db_0005", None, "orders_aeje_11")),
        *(
            ("db_0005.orders_aeje_11", "MySQL", logical, ("logical", None, "orders")),
            (None, "MySQL", {}, (None, None, None)),
        ),
    )
    values = [
        record("DDL", after="x", objectName=n, source=source, tags=tags)
        for n, source, tags, _ in names
    ]
    out = by_offset(aliyun.decode(records(*values, record("DDL", after="x", objectName="a.b.c.d"))))
    assert [(r.database, r.schema, r.table) for r in out.values()] == [
        *(parts for *_, parts in names),
        (None, None, None),
    ]
    assert [r.kind for r in out.values()] == [*["DDL"] * len(names), "CORRUPT"]


@pytest.mark.parametrize(
    ("database", "schema_name", "table", "wire"),
    [
        *(
            ("d.b", None, "t", "d\\u002Eb.t"),
            ("db", "s", "t", "db.s.t"),
            ("logical", None, "orders", "db_0005.orders_aeje_11"),
        ),
        ("db", None, "t`\"'", "db.t`\"'"),
    ],
)
def test_level_two_knows_the_table_by_its_name(records, database, schema_name, table, wire):
    tags = {"l_db_name": "logical", "l_tb_name": "orders"} if database == "logical" else {}
    kept = record("INSERT", "id b", None, [number(1), None], objectName=wire, tags=tags)
    others = ("db.t", "other.t", f"{wire}x", f"x{wire}", "db.s.u", "db.u.t", "db.t.s")
    values = [record("INSERT", "id b", None, [number(1), None], objectName=n) for n in others]
    frame = aliyun.decode_rows(
        records(kept, *values), Table(database, table, SMALL.columns, schema=schema_name)
    )
    assert set(by_offset(frame)) == {0}


def test_cells_belong_to_columns_by_position(records):
    """NONE, and NULL of EmptyObject, is a column that was not captured; null is SQL NULL; an empty
    array is no image.
    """
    n, x = number(1), chars("x")
    i, c = '{"precision":8,"value":"1"}', '{"charset":"utf8mb4","value":"78"}'
    vectors = (
        *(record("INSERT", "id b", None, [n, x]), record("INSERT", "b id", None, [x, n])),
        *(
            record("INSERT", "id b", None, [None, None]),
            record("UPDATE", "id b", [n, NONE], [n, x]),
        ),
        *(
            record("UPDATE", "id b", [n, NULLED], [NONE, None]),
            record("UPDATE", "id b", [NONE, NONE], [n, x]),
        ),
        *(record("UPDATE", "id b", [], [n, x]), record("UPDATE", "id b", None, [n, x])),
        *(record("DELETE", "id b", [n, None], []), record("INIT", "id b", None, [n, x])),
    )
    out, full = by_offset(aliyun.decode(records(*vectors))), {"id": i, "b": c}
    assert [(r.op, r.before, r.after) for r in out.values()] == [
        *(
            ("INSERT", None, full),
            ("INSERT", None, {"b": c, "id": i}),
            ("INSERT", None, {"id": None, "b": None}),
        ),
        *(
            ("UPDATE", {"id": i}, full),
            ("UPDATE", {"id": i}, {"b": None}),
            ("UPDATE", {}, full),
            ("UPDATE", None, full),
        ),
        *(("UPDATE", None, full), ("DELETE", {"id": i, "b": None}, None), ("READ", None, full)),
    ]
    rows = by_offset(aliyun.decode_rows(records(*vectors), SMALL))
    assert [
        (r.kind, r.op, r.before and tuple(r.before), r.after and tuple(r.after))
        for r in rows.values()
    ] == [
        *(
            ("ROW", "INSERT", None, (1, "x")),
            ("ROW", "INSERT", None, (1, "x")),
            ("ROW", "INSERT", None, (None, None)),
        ),
        *(("ROW", "UPDATE", (1, None), (1, "x")), ("ROW", "UPDATE", (1, None), (None, None))),
        *(
            ("ROW", "UPDATE", (None, None), (1, "x")),
            ("ROW", "UPDATE", None, (1, "x")),
            ("ROW", "UPDATE", None, (1, "x")),
        ),
        *(("ROW", "DELETE", (1, None), None), ("ROW", "READ", None, (1, "x"))),
    ]


ONE = [number(1), None]
GOOD = record("INSERT", "id b", None, ONE)
UNREADABLE: tuple[bytes | None, ...] = (
    *(
        None,
        b"",
        b"{}",
        b"\x00",
        GOOD * 2,
        GOOD + b"\x00",
        GOOD + b"\xff",
        GOOD + b"\ntrailing",
        b"Obj\x01" + GOOD,
    ),
    *(b"\x00\x00\x00\x00\x07" + GOOD, b"\x1a" + GOOD),
    *(
        record("INSERT", "id b", None, ONE, older=True) + b"\x00\x00",
        record("INSERT", "id b", None, ONE, objectName=None),
    ),
    *(record("INSERT", "id b", None, ONE, objectName="a.b.c.d"), record("INSERT", None, None, ONE)),
    *(
        record("INSERT", None, None, ONE, fields="id b"),
        record("INSERT", "id b", None, None),
        record("INSERT", "id b", None, []),
    ),
    *(record("INSERT", "id b", None, "a string"), record("INSERT", "id b", "a string", ONE)),
    *(record("INSERT", "id b", None, [number(1)]), record("INSERT", "id b", None, [*ONE, None])),
    *(
        record("UPDATE", "id b", [number(1)], ONE),
        record("UPDATE", "id b", ONE, None),
        record("DELETE", "id b", None, ONE),
    ),
    *(
        record("INSERT", "id id", None, ONE),
        record("INIT", "id b", ONE, None),
        record("DDL"),
        record("DDL", "id b", None, ONE),
    ),
)


def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records):
    for frame in (
        aliyun.decode(records(*UNREADABLE)),
        aliyun.decode_rows(records(*UNREADABLE), SMALL),
    ):
        assert_corrupt(frame, len(UNREADABLE))


@pytest.mark.parametrize("older", [False, True])
def test_every_truncation_is_corrupt(records, older):
    """But one: a newer message without its last field is an older one."""
    whole = record("UPDATE", "id b", [number(1), chars("x")], ONE, older=older)
    born = 0 if older else 5
    out = by_offset(aliyun.decode(records(*(whole[:i] for i in range(len(whole) + 1)))))
    assert [i for i, r in out.items() if r.kind != "CORRUPT"] == sorted(
        {len(whole) - born, len(whole)}
    )


def test_both_generations_of_the_record(records):
    older, values, kinds = record("INSERT", "id b", None, ONE, older=True), [], []
    for born in (0, -1, 1696984408, 1696984408000, 2**62, 2**63 - 1, -(2**63)):
        newer = record("INSERT", "id b", None, ONE, bornTimestamp=born)
        values += [older, newer, newer[:-1], newer + newer[len(older) :]]
        kinds += ["ROW", "ROW", "ROW" if len(newer) == len(older) + 1 else "CORRUPT", "CORRUPT"]
    out = by_offset(aliyun.decode(records(*values)))
    assert [r.kind for r in out.values()] == kinds
    for at in range(0, len(values), 4):
        assert out[at].asDict() | {"offset": at + 1} == out[at + 1].asDict()


NOON = dt.datetime(2024, 10, 24, 12, 34, 56, tzinfo=dt.UTC)
WALL = dt.datetime(2024, 10, 24, 12, 34, 56)
C1252 = "€‚ƒäÿ\x81\x9d"
DATE = postgresql.temporal("date")


def _zoned(zone: str, **parts: int) -> tuple[str, Any]:
    wall = clock(2024, 10, 24, 20, 34, 56)[1]
    return cell("TimestampWithTimeZone", {**wall, **parts}, zone)


def _text(text: str, kind: str = "TEXT") -> tuple[str, Any]:
    return cell("TextObject", kind, text)


def _object(value: bytes, kind: str = "BLOB") -> tuple[str, Any]:
    return cell("BinaryObject", kind, value)


CELLS = cells(
    (
        mysql.integer("int"),
        (number("-2147483648"), -(2**31)),
        (number("2147483648"), MISFIT),
        (number("1.5"), MISFIT),
    ),
    (
        mysql.integer("int"),
        (number(""), MISFIT),
        (chars("1"), MISFIT),
        (cell("Float", 1.0, 1, 0), MISFIT),
    ),
    (mysql.integer("int"), (cell("Decimal", "1", 1, 0), MISFIT), (None, None), (NONE, None)),
    (mysql.integer("tinyint", unsigned=True), (number("255"), 255), (number("256"), MISFIT)),
    (
        mysql.integer("bigint", unsigned=True),
        (number("18446744073709551615"), Decimal(2**64 - 1)),
        (number("-1"), MISFIT),
    ),
    (
        mysql.decimal(10, 2),
        (cell("Decimal", "1050.00", 6, 2), Decimal("1050.00")),
        (cell("Decimal", "-1", 1, 0), Decimal(-1)),
    ),
    (
        mysql.decimal(10, 2),
        (cell("Decimal", "1.234", 4, 3), MISFIT),
        (cell("Decimal", "NaN", 0, 0), MISFIT),
    ),
    (
        mysql.decimal(10, 2),
        (cell("Decimal", "Infinity", 0, 0), MISFIT),
        (cell("Decimal", "~", 0, 0), MISFIT),
    ),
    (
        mysql.decimal(65, 30),
        (cell("Decimal", "9" * 35 + "." + "9" * 30, 65, 30), "9" * 35 + "." + "9" * 30),
    ),
    (mysql.real("float"), (cell("Float", 0.10000000149011612, 12, 31), mysql.to_float32(0.1))),
    (mysql.real("float"), (cell("Float", 1e39, 12, 31), MISFIT)),
    (mysql.real("double"), (cell("Float", 1.7976931348623157e308, 12, 31), 1.7976931348623157e308)),
    (
        mysql.real("double"),
        (cell("Float", float("nan"), 12, 31), MISFIT),
        (cell("Float", float("inf"), 12, 31), MISFIT),
    ),
    (postgresql.real("double precision"), (cell("Float", float("-inf"), 12, 31), float("-inf"))),
    (postgresql.real("real"), (cell("Float", 1e39, 12, 31), MISFIT)),
    (mysql.bit(1), (number(1), True)),
    (mysql.bit(8), (number(255), 255), (number(256), MISFIT)),
    (mysql.bit(64), (number(2**64 - 1), Decimal(2**64 - 1))),
    (
        *(
            mysql.text("varchar"),
            (chars("汉字 😀"), "汉字 😀"),
            (chars(""), ""),
            (chars("é", "utf8mb3"), "é"),
        ),
        (chars("é", "utf8"), "é"),
    ),
    (mysql.text("varchar"), (cell("Character", "utf8mb4", b"\xff"), MISFIT)),
    (mysql.text("varchar"), (cell("Character", "latin1", b"\x80\x82\x83\xe4\xff\x81\x9d"), C1252)),
    (
        mysql.text("varchar"),
        (chars("汉字 abc%+", "gbk", "gbk"), "汉字 abc%+"),
        (cell("Character", "gbk", b"\x81"), MISFIT),
    ),
    (
        mysql.text("varchar"),
        (chars("😀", "gb18030", "gb18030"), "😀"),
        (chars("漢字", "big5", "big5"), "漢字"),
    ),
    (
        mysql.text("varchar"),
        (chars("日本", "sjis", "shift_jis"), "日本"),
        (chars("Привет", "cp1251", "cp1251"), "Привет"),
    ),
    (
        mysql.text("varchar"),
        (chars("é😀", "utf16", "utf-16-be"), "é😀"),
        (chars("é", "ucs2", "utf-16-be"), "é"),
    ),
    (
        mysql.text("varchar"),
        (chars("é", "ascii"), MISFIT),
        (chars("x", "binary"), MISFIT),
        (chars("x", ""), MISFIT),
    ),
    (mysql.text("varchar"), (chars("x", "klingon"), MISFIT), (number(1), MISFIT)),
    (
        mysql.text("text"),
        (_object("é".encode(), "TEXT"), "é"),
        (_object(b"\xe9", "TEXT"), MISFIT),
        (_text("é"), "é"),
    ),
    (mysql.binary("blob"), (_object(bytes(range(256))), bytes(range(256))), (_object(b""), b"")),
    (
        mysql.binary("blob"),
        (cell("Character", "binary", b"\x00\xff"), b"\x00\xff"),
        (_text("00ff", "BLOB"), MISFIT),
    ),
    (
        mysql.temporal("date"),
        (clock(2024, 2, 29), dt.date(2024, 2, 29)),
        (clock(2023, 2, 29), MISFIT),
        (clock(2024, 2), MISFIT),
    ),
    (
        mysql.temporal("date"),
        (clock(2024, 2, 29, 1, 0, 0), MISFIT),
        (clock(2024, 2, 29, 0, 0, 0, 0), dt.date(2024, 2, 29)),
        (clock(2024, 2, 29, 0, 1, 0), MISFIT),
        (clock(2024, 2, 29, 0, 0, 1), MISFIT),
        (clock(2024, 2, 29, 0, 0, 0, 1), MISFIT),
        (clock(0, 0, 0), None),
        (clock(2024, 0, 1), None),
    ),
    (mysql.temporal("date"), (clock(0, 13, 1), MISFIT), (clock(10000, 1, 1), MISFIT)),
    (
        mysql.temporal("datetime", 6),
        (clock(2024, 10, 24, 12, 34, 56, 123456), WALL.replace(microsecond=123456)),
    ),
    (mysql.temporal("datetime", 6), (clock(2024, 10, 24, 12, 34, 56), WALL)),
    (
        mysql.temporal("datetime", 6),
        (clock(9999, 12, 31, 23, 59, 59, 999999), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),
    ),
    (mysql.temporal("datetime", 6), (clock(2024, 10, 24, 12, 34, 56, 1000000), MISFIT)),
    (
        mysql.temporal("datetime", 6),
        (clock(2024, 10, 24, 12, 34, 60), MISFIT),
        (clock(2024, 10, 24, 24, 0, 0), MISFIT),
    ),
    (
        mysql.temporal("datetime", 6),
        (clock(0, 0, 0, 0, 0, 0), None),
        (cell("Timestamp", 1, 0), MISFIT),
    ),
    (
        mysql.temporal("timestamp", 6),
        (cell("Timestamp", 1729773296, 123456), NOON.replace(microsecond=123456)),
    ),
    (
        mysql.temporal("timestamp", 6),
        (cell("Timestamp", 1729773296, 0), NOON),
        (cell("Timestamp", 0, 0), None),
    ),
    (
        mysql.temporal("timestamp", 6),
        (clock(0, 0, 0, 0, 0, 0), None),
        (cell("Timestamp", 1729773296, 1000000), MISFIT),
    ),
    (
        mysql.temporal("timestamp", 6),
        (cell("Timestamp", 1729773296000, 0), MISFIT),
        (clock(2024, 10, 24, 12, 34, 56), MISFIT),
    ),
    (
        postgresql.temporal("timestamptz"),
        (_zoned("+08:00"), NOON),
        (_zoned("+08"), NOON),
        (_zoned("+8"), NOON),
    ),
    (postgresql.temporal("timestamptz"), (_zoned("+0800"), NOON)),
    (
        postgresql.temporal("timestamptz"),
        (_zoned("Asia/Shanghai", millis=5), NOON.replace(microsecond=5)),
    ),
    (
        postgresql.temporal("timestamptz"),
        (_zoned("-03:30", hour=9, minute=4), NOON),
        (_zoned(""), MISFIT),
    ),
    (postgresql.temporal("timestamptz"), (_zoned("Mars/Olympus"), MISFIT)),
    (
        postgresql.temporal("timestamptz"),
        (cell("Timestamp", 0, 0), dt.datetime(1970, 1, 1, tzinfo=dt.UTC)),
    ),
    (
        postgresql.temporal("timestamp"),
        (clock(2024, 10, 24, 12, 34, 56, 7), WALL.replace(microsecond=7)),
    ),
    (postgresql.temporal("timestamp"), (clock(0, 0, 0), MISFIT)),
    (
        mysql.temporal("time", 6),
        (clock(hour=12, minute=34, second=56, millis=789), "12:34:56.000789"),
    ),
    (mysql.temporal("time", 6), (clock(hour=838, minute=59, second=59), "838:59:59")),
    (mysql.temporal("time", 6), (clock(hour=-838, minute=-59, second=-59), "-838:59:59")),
    (mysql.temporal("time", 6), (clock(hour=0, minute=0, second=-1), "-00:00:01")),
    (
        mysql.temporal("time", 6),
        (clock(hour=-1, minute=-2, second=-3, millis=-400000), "-01:02:03.400000"),
    ),
    (
        mysql.temporal("time", 6),
        (clock(hour=7), "07:00:00"),
        (clock(hour=-1, minute=2, second=3), MISFIT),
    ),
    (mysql.temporal("time", 6), (clock(hour=839, minute=0, second=0), MISFIT)),
    (mysql.temporal("time", 6), (clock(hour=838, minute=59, second=59, millis=1), MISFIT)),
    (mysql.temporal("time", 6), (clock(hour=1, minute=60, second=0), MISFIT), (clock(), MISFIT)),
    (mysql.temporal("time", 6), (clock(2024, 1, 1, 1, 1, 1), MISFIT)),
    (
        postgresql.temporal("time"),
        (clock(hour=24, minute=0, second=0), "24:00:00"),
        (clock(hour=-1, minute=0, second=0), MISFIT),
    ),
    (
        mysql.year(),
        (clock(2024), 2024),
        (clock(0), 0),
        (clock(1900), MISFIT),
        (clock(2024, 1, 1), MISFIT),
    ),
    (mysql.year(), (number(2155, 2), 2155)),
    (
        mysql.enum_of("a", "2", "汉"),
        (_text("汉", "ENUM"), 3),
        (_text("2", "ENUM"), 2),
        (_text("", "ENUM"), 0),
    ),
    (
        mysql.enum_of("a", "2", "汉"),
        (_text("3", "ENUM"), MISFIT),
        (_object("汉".encode(), "ENUM"), 3),
        (number(3), 3),
    ),
    (mysql.enum_of("a", "2", "汉"), (number(4), MISFIT)),
    (
        mysql.set_of("a", "b", "c"),
        (_text("a,c", "SET"), Decimal(5)),
        (_text("", "SET"), Decimal(0)),
    ),
    (mysql.set_of("a", "b", "c"), (_text("a,d", "SET"), MISFIT), (number(8), MISFIT)),
    (
        mysql.set_of(*(f"m{i}" for i in range(64))),
        (_text(",".join(f"m{i}" for i in range(64)), "SET"), Decimal(2**64 - 1)),
    ),
    (mysql.json(), (_text('{"a": 1}', "JSON"), '{"a": 1}'), (_text('{"a": 1', "JSON"), MISFIT)),
    (postgresql.json("jsonb"), (_object(b'{"a": 1}', "JSON"), '{"a": 1}')),
    (
        postgresql.boolean(),
        (_text("t", "BOOL"), True),
        (_text("false", "BOOL"), False),
        (_text("maybe", "BOOL"), MISFIT),
    ),
    (postgresql.bit(8), (_text("00000101", "XTYPE"), 5), (_text("2", "XTYPE"), MISFIT)),
    (
        postgresql.uuid(),
        (
            _text("c7c98333-6006-11ed-bfc9-b8cef6e1a231", "UUID"),
            "c7c98333-6006-11ed-bfc9-b8cef6e1a231",
        ),
    ),
    (postgresql.bytea(), (_object(b"\x00", "BYTEA"), b"\x00")),
    (DATE, (clock(2024, 2, 29), dt.date(2024, 2, 29))),
    (postgresql.numeric(), (cell("Decimal", "1" * 60 + ".5", 61, 1), "1" * 60 + ".5")),
)


def test_cells_are_typed_exactly(records, spark):
    deployment = Deployment(time_zone="Asia/Shanghai")
    assert_typed(
        spark,
        records,
        aliyun,
        CELLS,
        lambda name, value: record("DELETE", name, [value], None),
        deployment,
    )


FRACTIONS = (
    *(
        ("MySQL", "1@2", False),
        ("MySQL", "1<->2", False),
        ("PostgreSQL", "1@2", False),
        ("PostgreSQL", "1<->2", True),
    ),
    *(("Oracle", "1", True), ("OTHER", "1", True)),
)
"""A source, a position, and whether its fractions are nanoseconds."""


def test_fractions_are_microseconds_or_nanoseconds_by_source(records):
    """aliyun#datetime-nanos: DateTime, not Timestamp. Nanoseconds between two microseconds are lost
    by no column type.
    """
    kinds = {
        "d": mysql.temporal("datetime", 6),
        "t": mysql.temporal("time", 6),
        "i": mysql.temporal("timestamp", 6),
    }
    table = Table("db", "t", tuple(Column(n, kind) for n, kind in kinds.items()))
    cells = [
        [
            clock(2024, 10, 24, 12, 34, 56, f),
            clock(hour=-1, minute=-2, second=-3, millis=-f),
            cell("Timestamp", 1729773296, 7),
        ]
        for f in (123000, 123456, 123456000)
    ]
    wire = [
        record("INSERT", "d t i", None, image, source=source, sourcePosition=position)
        for source, position, _ in FRACTIONS
        for image in cells
    ]
    out = by_offset(aliyun.decode_rows(records(*wire), table))
    read = [
        r.kind if r.after is None else (r.after.d.microsecond, r.after.t, instant(r.after.i))
        for r in out.values()
    ]
    at = NOON.replace(microsecond=7)
    fine = [(123, "-01:02:03.000123", at), "CORRUPT", (123456, "-01:02:03.123456", at)]
    coarse = [(123000, "-01:02:03.123000", at), (123456, "-01:02:03.123456", at), "CORRUPT"]
    assert len(read) == len(wire)
    for i, (source, position, nanos) in enumerate(FRACTIONS):
        assert read[3 * i : 3 * i + 3] == (fine if nanos else coarse), (source, position)


def test_one_misfit_among_other_charsets_is_corrupt(records):
    """An image in several charsets: every cell by its own."""
    table = Table(
        "db",
        "t",
        (Column("a", mysql.text()), Column("b", mysql.text()), Column("c", mysql.binary())),
    )
    raw = cell("Character", "binary", b"\xff")
    images = (
        *(
            [chars("汉", "gbk", "gbk"), chars("汉"), raw],
            [None, chars("ä", "latin1", "cp1252"), NONE],
        ),
        *([chars("ä"), chars("x", "klingon"), raw], [raw, None, None]),
    )
    out = by_offset(
        aliyun.decode_rows(
            records(*(record("DELETE", "a b c", image, None) for image in images)), table
        )
    )
    assert [r.before and tuple(r.before) for r in out.values()] == [
        ("汉", "汉", b"\xff"),
        (None, "ä", None),
        None,
        None,
    ]
    assert [r.kind for r in out.values()] == ["ROW", "ROW", "CORRUPT", "CORRUPT"]


def test_tags_and_times(records):
    infos = ('{"PRIMARY":["b","a"],"uk":["c"]}', '{"uk":["c"]}', "{}", "no json", None)
    values = [
        record("INSERT", "id b", None, ONE, tags={} if info is None else {"pk_uk_info": info})
        for info in infos
    ]
    times = (0, -1, 253402300799, 253402300800, 1696984408000, 2**63 - 1)
    values += [record("INSERT", "id b", None, ONE, sourceTimestamp=seconds) for seconds in times]
    out = by_offset(aliyun.decode(records(*values)))
    assert [r["keys"] for r in list(out.values())[: len(infos)]] == [
        ["b", "a"],
        None,
        None,
        None,
        None,
    ]
    instants = [instant(r.commit_time) for r in list(out.values())[len(infos) :]]
    last = dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=dt.UTC)
    assert instants == [dt.datetime(1970, 1, 1, tzinfo=dt.UTC), None, last, None, None, None]


def test_arrays_and_maps_in_several_blocks(records):
    """aliyun#blocks: legal Avro that fastavro does not write. Both arrays are in two blocks, one
    with its bytes counted.
    """
    value, head = (
        record("INSERT", "id b", None, [number(1), chars("x")], tags={}),
        b"\x04\x04\x04id\x00\x02b\x02\x00",
    )
    assert value.count(head) == 1
    cut = value.replace(head, b"\x04\x02\x04id\x00\x01\x06\x02b\x02\x00")
    image = b"\x04\x04\x02\x10\x021\x04\x0eutf8mb4\x02x\x00"
    assert cut.count(image) == 1
    cut = cut.replace(image, b"\x04\x01\x08\x02\x10\x021\x02\x04\x0eutf8mb4\x02x\x00")
    plain, blocked = by_offset(aliyun.decode(records(value, cut))).values()
    assert (plain.kind, plain.asDict() | {"offset": 1}) == ("ROW", blocked.asDict())


_OPERATIONS = "INSERT UPDATE DELETE DDL BEGIN COMMIT ROLLBACK ABORT HEARTBEAT CHECKPOINT COMMAND FILL FINISH CONTROL RDB NOOP INIT"


def test_every_operation_has_its_kind(records):
    """INIT are a full load's rows (aliyun#init), COMMAND is MongoDB's DDL (aliyun#command); a row's
    op is the operation.
    """
    rows = {"INSERT": "INSERT", "UPDATE": "UPDATE", "DELETE": "DELETE", "INIT": "READ"}
    kinds = (
        dict.fromkeys(_OPERATIONS.split(), "CONTROL")
        | dict.fromkeys(rows, "ROW")
        | {"DDL": "DDL", "COMMAND": "DDL"}
    )
    kinds |= dict.fromkeys(("BEGIN", "COMMIT", "ROLLBACK", "ABORT"), "TRANSACTION") | {
        "HEARTBEAT": "HEARTBEAT"
    }
    image, statement = [number(1), None], "alter table t add c int"
    values = []
    for operation, kind in kinds.items():
        after = image if kind == "ROW" else statement if kind == "DDL" else None
        bare = {
            "names": "id b" if kind == "ROW" else None,
            "objectName": "db.t" if kind in ("ROW", "DDL") else None,
        }
        values += [
            record(
                operation, before=image if kind == "ROW" else None, after=after, older=older, **bare
            )
            for older in (0, 1)
        ]
    out = by_offset(aliyun.decode(records(*values)))
    assert [r.kind for r in out.values()] == [kind for kind in kinds.values() for _ in range(2)]
    assert [r.op for r in out.values()] == [
        rows.get(operation) for operation in kinds for _ in range(2)
    ]
    assert [r.sql for r in out.values()] == [
        statement if kind == "DDL" else None for kind in kinds.values() for _ in range(2)
    ]
    heads = {
        (
            r.kind,
            r.database,
            r.table,
            r.types and tuple(sorted(r.types.items())),
            r["keys"] and tuple(r["keys"]),
        )
        for r in out.values()
    }
    assert heads == {
        *(("ROW", "db", "t", (("b", "1"), ("id", "0")), ("id",)), ("DDL", "db", "t", None, None)),
        *((kind, None, None, None, None) for kind in ("TRANSACTION", "HEARTBEAT", "CONTROL")),
    }
    assert {r.position for r in out.values()} == {"72469@78"}
    assert {instant(r.commit_time) for r in out.values()} == {
        dt.datetime(2023, 10, 11, 0, 33, 28, tzinfo=dt.UTC)
    }
    typed = by_offset(aliyun.decode_rows(records(*values), SMALL))
    assert [
        (r.op, r.before and tuple(r.before), r.after and tuple(r.after)) for r in typed.values()
    ] == [
        *[("INSERT", None, (1, None))] * 2,
        *[("UPDATE", (1, None), (1, None))] * 2,
        *[("DELETE", (1, None), None)] * 2,
        *[("READ", None, (1, None))] * 2,
    ]
