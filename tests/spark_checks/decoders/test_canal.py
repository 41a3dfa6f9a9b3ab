"""The reference decoders of both Canal-JSON formats against literals of the documents, and against
what breaks naive readers.
"""

import datetime as dt
import json
from decimal import Decimal

import pytest
from decoded import MISFIT, assert_corrupt, assert_typed, rows_by_offset
from grouped import cells
from literals import literal

from generators.model import Column, Deployment, Table
from generators.sources import mysql
from spark_checks.decoders import alibaba_canal_json, ticdc_canal_json

TICDC, ALIBABA = ticdc_canal_json, alibaba_canal_json

DOCUMENT_DDL = literal("ticdc-canal-ddl.json")
DOCUMENT_INSERT = literal("ticdc-canal-insert.json")
DOCUMENT_WATERMARK = literal("ticdc-canal-watermark.json")

UNREADABLE: tuple[bytes | str | None, ...] = (
    *(None, b"null"),
    b'{"type":"INSERT","isDdl":false,"data":[{"a":' + b"[" * 2000 + b"]" * 2000 + b"}]}",
)
"""The last is nested deeply."""


def message(type_: object, data: object = None, old: object = None, **fields: object) -> str:
    """A flat message of `db`.`t`; `fields` replace or add members of the envelope."""
    common = {
        "id": 7,
        "database": "db",
        "table": "t",
        "pkNames": None,
        "isDdl": False,
        "type": type_,
        "es": 1000,
        "ts": 1000,
    }
    common |= {"sql": "", "sqlType": None, "mysqlType": None, "data": data, "old": old}
    return json.dumps(common | fields, ensure_ascii=False)


def test_samples_of_document_000(records):
    out = rows_by_offset(
        TICDC.decode(
            records(DOCUMENT_DDL, DOCUMENT_INSERT, DOCUMENT_WATERMARK, DOCUMENT_INSERT + "\r\n")
        )
    )
    (ddl,), (insert,), (watermark,), (with_terminator,) = (out[i] for i in range(4))
    assert (ddl.kind, ddl.op, ddl.database, ddl.sql) == (
        "DDL",
        None,
        "test",
        "drop database if exists test",
    )
    assert ddl.position == "163963309467037594"
    assert (insert.kind, insert.op, insert.table, insert["keys"]) == (
        "ROW",
        "INSERT",
        "tp_int",
        ["id"],
    )
    assert insert.before is None
    assert (insert.after["c_bigint"], insert.types["c_mediumint"]) == (
        "9223372036854775807",
        "mediumint",
    )
    assert insert.commit_time.astimezone(dt.UTC) == dt.datetime(
        2021, 12, 16, 5, 39, 1, 221000, dt.UTC
    )
    assert (watermark.kind, watermark.op, watermark.position) == (
        "WATERMARK",
        None,
        "429918007904436226",
    )
    assert with_terminator.after == insert.after


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_images_are_exactly_what_the_wire_carries(records, module):
    first, second = {"id": "1", "a": "y", "b": "k"}, {"id": "2", "a": "q", "b": "z"}
    vectors = (
        message(
            "UPDATE", [first, second], [{"a": "x"}, {"a": "q", "b": None}]
        ),  # canal#flink-old-by-name
        *(
            message("UPDATE", [first], [{}]),
            message("UPDATE", [first], None),
            message("UPDATE", [first], [None]),
        ),
        *(message("UPDATE", [first, second], [{"a": "x"}]), message("DELETE", [first], [first])),
        *(
            message("INSERT", [first], [None]),
            message("INSERT", [{"a": 5, "b": 1.5, "c": True, "d": None, "e": {"x": [1]}}]),
        ),
    )
    out = rows_by_offset(module.decode(records(*vectors)))
    assert [(r.row, r.before, r.after) for r in out[0]] == [
        (0, {"a": "x"}, first),
        (1, {"a": "q", "b": None}, second),
    ]
    assert [r.before for i in range(1, 5) for r in out[i]] == [{}, None, None, None, None]
    assert [(r.op, r.before, r.after) for r in out[5]] == [("DELETE", first, None)]
    assert [(r.op, r.before, r.after) for r in out[6]] == [("INSERT", None, first)]
    assert [r.after for r in out[7]] == [
        {"a": "5", "b": "1.5", "c": "true", "d": None, "e": '{"x":[1]}'}
    ]


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records, module):
    values = [
        *UNREADABLE,
        *(message("INSERT", {"a": "1"}), message("INSERT", "[]"), message("INSERT", ["x"])),
        *(message("INSERT", [{"a": "1"}, None]), message("INSERT", []), message("INSERT", None)),
        *(
            message("UPDATE", [{"a": "1"}], {"a": "2"}),
            message({"INSERT": 1}, [{"a": "1"}]),
            message(["INSERT"], [{"a": "1"}]),
        ),
        *(
            message(5, [{"a": "1"}]),
            message("UPSERT", [{"a": "1"}]),
            message("INSERT", [{"a": "1"}], pkNames={"a": 1}),
        ),
        *(
            message("INSERT", [{"a": "1"}], isDdl="no"),
            message("INSERT", [{"a": "1"}], mysqlType=[]),
        ),
        message("INSERT", [{"a": "1"}], es={}),
    ]
    for frame in (module.decode(records(*values)), module.decode_rows(records(*values), PARTIAL)):
        assert_corrupt(frame, len(values))


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_a_time_beyond_all_times_never_raises_and_never_vanishes(records, module):
    far = message("INSERT", [{"a": "1"}]).replace('"es": 1000', '"es": 9223372036854775807')
    for frame in (module.decode(records(far)), module.decode_rows(records(far), PARTIAL)):
        assert set(rows_by_offset(frame)) == {0}


PARTIAL = Table(
    "db",
    "t",
    (Column("id", mysql.integer("int")), Column("a", mysql.text()), Column("b", mysql.text())),
)


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_before_is_old_of_the_same_row_over_data(records, module):
    first, second = {"id": "1", "a": "y", "b": "k"}, {"id": "2", "a": "q", "b": "z"}
    vectors = (
        message("UPDATE", [first, second], [{"a": "x"}, {"a": "q", "b": None}]),
        *(message("UPDATE", [first, second], [{"a": "x"}]), message("UPDATE", [{"a": "y"}], [{}])),
        message("UPDATE", [first], [None]),
    )
    out = rows_by_offset(module.decode_rows(records(*vectors), PARTIAL))
    assert ([tuple(r.before) for r in out[0]], [r.before for r in out[1]]) == (
        [(1, "x", "k"), (2, "q", None)],
        [None, None],
    )
    assert [tuple(r.before) for r in out[2]] == [(None, "y", None)]
    assert [(r.op, r.before, tuple(r.after)) for r in out[3]] == [("UPDATE", None, (1, "y", "k"))]


DOCUMENT_BYTES = bytes([5, 7, 10, 15, 36, 50, 43, 99, 120, 60, 38, 255, 254, 45, 55, 70])
CELLS = cells(
    (mysql.integer("tinyint"), ("-128", -128), ("128", MISFIT)),
    (mysql.integer("tinyint", unsigned=True), ("255", 255), ("256", MISFIT), ("-1", MISFIT)),
    (mysql.integer("mediumint"), ("8388608", MISFIT)),
    (mysql.integer("bigint"), ("9223372036854775807", 2**63 - 1), ("12.9", MISFIT), ("", MISFIT)),
    (
        mysql.integer("bigint", unsigned=True),
        ("18446744073709551615", Decimal(2**64 - 1)),
        ("18446744073709551616", MISFIT),
    ),
    (mysql.integer("bigint", unsigned=True), ("1.5", MISFIT)),
    (
        mysql.decimal(10, 4),
        ("123.4560", Decimal("123.456")),
        ("123.45600", Decimal("123.456")),
        ("1.23456", MISFIT),
    ),
    (
        mysql.decimal(10, 4),
        ("1234567.0", MISFIT),
        ("1.0E-4", Decimal("0.0001")),
        ("1.0E-5", MISFIT),
    ),
    (mysql.decimal(10, 0), ("-7", Decimal(-7))),
    (mysql.decimal(38, 10), ("9" * 28 + "." + "9" * 10, Decimal("9" * 28 + "." + "9" * 10))),
    (
        mysql.decimal(65, 30),
        ("-" + "9" * 35 + "." + "9" * 30, "-" + "9" * 35 + "." + "9" * 30),
        ("9" * 36, MISFIT),
    ),
    (mysql.decimal(5, 2, unsigned=True), ("-1", MISFIT)),
    (
        mysql.real("float"),
        ("3.14", mysql.to_float32(3.14)),
        ("123.98999786376953", mysql.to_float32(123.99)),
        ("1.0E10", 1e10),
    ),
    (mysql.real("float"), ("1e39", MISFIT)),
    (
        mysql.real("double"),
        ("1.7976931348623157E308", 1.7976931348623157e308),
        ("4.9E-324", 5e-324),
        ("1" + "0" * 308, 1e308),
    ),
    (mysql.real("double"), ("NaN", MISFIT), ("1d", MISFIT)),
    (mysql.bit(1), ("1", True), ("2", MISFIT)),
    (mysql.bit(63), (str(2**63 - 1), 2**63 - 1)),
    (mysql.bit(64), ("18446744073709551615", Decimal(2**64 - 1))),
    (mysql.bit(8), ("256", MISFIT)),
    (mysql.text("varchar"), ("null", "null")),
    (mysql.binary("blob"), (DOCUMENT_BYTES.decode("latin-1"), DOCUMENT_BYTES)),
    (
        mysql.binary("blob"),
        (bytes(range(256)).decode("latin-1"), bytes(range(256))),
        ("abcd", b"abcd"),
        ("汉", MISFIT),
    ),
    (mysql.binary("blob"), ("a\ufffd\xff", b"a\xef\xbf\xbd\xff")),
    (
        mysql.temporal("date"),
        ("2024-02-29", dt.date(2024, 2, 29)),
        ("1582-10-04", dt.date(1582, 10, 4)),
        ("2024-00-00", None),
    ),
    (
        mysql.temporal("date"),
        ("0000-00-00", None),
        ("2024-02-30", MISFIT),
        ("2024-2-9", MISFIT),
        ("12024-1-01", MISFIT),
    ),
    (
        mysql.temporal("datetime", 6),
        ("9999-12-31 23:59:59.999999", dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),
    ),
    (
        mysql.temporal("datetime", 6),
        ("2024-03-10 02:30:00.000000", dt.datetime(2024, 3, 10, 2, 30)),
    ),
    (mysql.temporal("datetime", 6), ("2024-01-01 00:00:00.1234567", MISFIT)),
    (mysql.temporal("datetime", 3), ("0000-00-00 00:00:00.000", None)),
    (mysql.temporal("datetime"), ("2024-00-00 00:00:00", None), ("2024-01-01 00:00:00Z", MISFIT)),
    (
        mysql.temporal("datetime"),
        ("2024-01-01 00:00:00+08:00", MISFIT),
        ("2024-01-01 00:00:00 UTC", MISFIT),
    ),
    (mysql.temporal("datetime"), ("2024-01-01", MISFIT)),
    (
        mysql.temporal("timestamp", 3),
        ("2024-06-15 12:34:56.789", dt.datetime(2024, 6, 15, 4, 34, 56, 789000, dt.UTC)),
    ),
    (
        mysql.temporal("timestamp"),
        ("0000-00-00 00:00:00", None),
        ("2024-06-15 12:34:56 CST", MISFIT),
    ),
    (
        mysql.temporal("time", 6),
        ("-838:59:58.999999", "-838:59:58.999999"),
        ("839:00:00.000000", MISFIT),
    ),
    (
        mysql.temporal("time"),
        ("838:59:59", "838:59:59"),
        ("839:00:00", MISFIT),
        ("12:60:00", MISFIT),
    ),
    (mysql.year(), ("0000", 0), ("2155", 2155), ("1900", MISFIT)),
    (mysql.enum_of("a", "b"), ("0", 0), ("3", MISFIT), ("a", MISFIT)),
    (mysql.set_of(*map(str, range(64))), ("18446744073709551615", Decimal(2**64 - 1))),
    (mysql.set_of("a", "b"), ("4", MISFIT)),
    (
        mysql.json(),
        ('{"a": 1, "b": null}', '{"a": 1, "b": null}'),
        ("null", "null"),
        ("-1.0E20", "-1.0E20"),
        ('{"a": 1', MISFIT),
    ),
    (mysql.json(), ("JSON_REPLACE(c, '$.a', 1)", MISFIT)),
)


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_cells_are_typed_exactly(records, spark, module):
    deployment = Deployment(time_zone="Asia/Shanghai")
    assert_typed(
        spark,
        records,
        module,
        CELLS,
        lambda name, cell: message("DELETE", [{name: cell}]),
        deployment,
    )


def test_binaries_of_ticdc_before_5_4_are_utf_8_text(records):
    """Their sqlType is VARCHAR; blobs were in Latin-1 already."""
    table = Table(
        "db", "t", (Column("v", mysql.binary("varbinary")), Column("b", mysql.binary("blob")))
    )
    old = message("INSERT", [{"v": "é汉", "b": "é"}], [None], sqlType={"v": 12, "b": 2004})
    new = message("INSERT", [{"v": "é", "b": "é"}], sqlType={"v": 2004, "b": 2004})
    out = rows_by_offset(TICDC.decode_rows(records(old, new), table))
    assert [tuple(map(bytes, rows[0].after)) for rows in out.values()] == [
        ("é汉".encode(), b"\xe9"),
        (b"\xe9", b"\xe9"),
    ]


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_an_object_or_a_list_is_no_text_of_bytes(records, module):
    table = Table("db", "t", (Column("data", mysql.binary("varbinary")), Column("s", mysql.text())))
    plain, text = {"data": "x", "s": "{}"}, {"data": '{"x":"y"}', "s": None}
    vectors = (
        *(
            message("INSERT", [plain, {"data": {"x": "y"}, "s": "x"}]),
            message("INSERT", [text, {"data": "[1]", "s": "x"}]),
        ),
        *(message("UPDATE", [plain], [{"data": [1]}]), message("UPDATE", [text], [text])),
    )
    out = rows_by_offset(module.decode_rows(records(*vectors), table))
    assert [[row.kind for row in rows] for rows in out.values()] == [
        ["CORRUPT"],
        ["ROW", "ROW"],
        ["CORRUPT"],
        ["ROW"],
    ]
    assert [bytes(row.after.data) for row in out[1]] == [b'{"x":"y"}', b"[1]"]


CANAL_DDL = (
    '{"data":null,"database":"","es":null,"gtid":"","id":-1,"isDdl":true,"mysqlType":null,"old":null,"pkNames":null,'
    '"sql":"create database x","sqlType":null,"table":"","ts":null,"type":"QUERY"}'
)
"""An empty FlatMessage, as Canal's JSON library writes it."""


def test_canal_statements_are_no_rows(records):
    values = {
        CANAL_DDL: "DDL",
        message("ALTER", isDdl=False, sql="alter table t add c int"): "DDL",
        message("QUERY", database="mytest", table="", sql="create database mytest"): "DDL",
        message("QUERY", database="", sql="insert into t values (1)"): "CONTROL",
        message("INSERT", sql="insert into t values (1)"): "CONTROL",
        message("XACOMMIT", database="", table="", sql="XA COMMIT X'61'"): "TRANSACTION",
        message("XAROLLBACK", database="", table="", sql="XA ROLLBACK X'61'"): "TRANSACTION",
    }
    out = rows_by_offset(ALIBABA.decode(records(*values)))
    assert [[r.kind for r in rows] for rows in out.values()] == [[kind] for kind in values.values()]
    assert all(
        rows[0].sql and rows[0].before is None and rows[0].after is None for rows in out.values()
    )
    assert out[0][0].position == "-1"
