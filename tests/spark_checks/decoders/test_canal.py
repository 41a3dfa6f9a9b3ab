"""The reference decoders of both Canal-JSON formats against literals of the documents, and against what breaks naive readers."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from decoded import Records, assert_corrupt, assert_typed, cells, rows_by_offset
from literals import literal
from pyspark.sql import SparkSession

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
    common = {"id": 7, "database": "db", "table": "t", "pkNames": None, "isDdl": False, "type": type_, "es": 1000, "ts": 1000}
    common |= {"sql": "", "sqlType": None, "mysqlType": None, "data": data, "old": old}
    return json.dumps(common | fields, ensure_ascii=False)


def test_samples_of_document_000(records: Records) -> None:
    out = rows_by_offset(TICDC.decode(records(DOCUMENT_DDL, DOCUMENT_INSERT, DOCUMENT_WATERMARK, DOCUMENT_INSERT + "\r\n")))
    (ddl,), (insert,), (watermark,), (with_terminator,) = (out[i] for i in range(4))
    assert (ddl.kind, ddl.op, ddl.database, ddl.sql) == ("DDL", None, "test", "drop database if exists test")
    assert ddl.position == "163963309467037594"
    assert (insert.kind, insert.op, insert.table, insert["keys"]) == ("ROW", "INSERT", "tp_int", ["id"])
    assert insert.before is None
    assert (insert.after["c_bigint"], insert.types["c_mediumint"]) == ("9223372036854775807", "mediumint")
    assert insert.commit_time.astimezone(dt.UTC) == dt.datetime(2021, 12, 16, 5, 39, 1, 221000, dt.UTC)
    assert (watermark.kind, watermark.op, watermark.position) == ("WATERMARK", None, "429918007904436226")
    assert with_terminator.after == insert.after


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_images_are_exactly_what_the_wire_carries(records: Records, module: Any) -> None:
    first, second = {"id": "1", "a": "y", "b": "k"}, {"id": "2", "a": "q", "b": "z"}
    vectors = (
        message("UPDATE", [first, second], [{"a": "x"}, {"a": "q", "b": None}]),  # canal#flink-old-by-name
        *(message("UPDATE", [first], [{}]), message("UPDATE", [first], None), message("UPDATE", [first], [None])),
        *(message("UPDATE", [first, second], [{"a": "x"}]), message("DELETE", [first], [first])),
        *(message("INSERT", [first], [None]), message("INSERT", [{"a": 5, "b": 1.5, "c": True, "d": None, "e": {"x": [1]}}])),
    )
    out = rows_by_offset(module.decode(records(*vectors)))
    assert [(r.row, r.before, r.after) for r in out[0]] == [(0, {"a": "x"}, first), (1, {"a": "q", "b": None}, second)]
    assert [r.before for i in range(1, 5) for r in out[i]] == [{}, None, None, None, None]
    assert [(r.op, r.before, r.after) for r in out[5]] == [("DELETE", first, None)]
    assert [(r.op, r.before, r.after) for r in out[6]] == [("INSERT", None, first)]
    assert [r.after for r in out[7]] == [{"a": "5", "b": "1.5", "c": "true", "d": None, "e": '{"x":[1]}'}]


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records: Records, module: Any) -> None:
    values = [
        *UNREADABLE,
        *(message("INSERT", {"a": "1"}), message("INSERT", "[]"), message("INSERT", ["x"])),
        *(message("INSERT", [{"a": "1"}, None]), message("INSERT", []), message("INSERT", None)),
        *(message("UPDATE", [{"a": "1"}], {"a": "2"}), message({"INSERT": 1}, [{"a": "1"}]), message(["INSERT"], [{"a": "1"}])),
        *(message(5, [{"a": "1"}]), message("UPSERT", [{"a": "1"}]), message("INSERT", [{"a": "1"}], pkNames={"a": 1})),
        *(message("INSERT", [{"a": "1"}], isDdl="no"), message("INSERT", [{"a": "1"}], mysqlType=[])),
        message("INSERT", [{"a": "1"}], es={}),
    ]
    for frame in (module.decode(records(*values)), module.decode_rows(records(*values), PARTIAL)):
        assert_corrupt(frame, len(values))


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_a_time_beyond_all_times_never_raises_and_never_vanishes(records: Records, module: Any) -> None:
    far = message("INSERT", [{"a": "1"}]).replace('"es": 1000', '"es": 9223372036854775807')
    for frame in (module.decode(records(far)), module.decode_rows(records(far), PARTIAL)):
        assert set(rows_by_offset(frame)) == {0}


PARTIAL = Table("db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text()), Column("b", mysql.text())))


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_before_is_old_of_the_same_row_over_data(records: Records, module: Any) -> None:
    first, second = {"id": "1", "a": "y", "b": "k"}, {"id": "2", "a": "q", "b": "z"}
    vectors = (
        message("UPDATE", [first, second], [{"a": "x"}, {"a": "q", "b": None}]),
        *(message("UPDATE", [first, second], [{"a": "x"}]), message("UPDATE", [{"a": "y"}], [{}])),
        message("UPDATE", [first], [None]),
    )
    out = rows_by_offset(module.decode_rows(records(*vectors), PARTIAL))
    assert ([tuple(r.before) for r in out[0]], [r.before for r in out[1]]) == ([(1, "x", "k"), (2, "q", None)], [None, None])
    assert [tuple(r.before) for r in out[2]] == [(None, "y", None)]
    assert [(r.op, r.before, tuple(r.after)) for r in out[3]] == [("UPDATE", None, (1, "y", "k"))]


CELLS = cells(__file__, "canal_cells.txt")


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_cells_are_typed_exactly(records: Records, spark: SparkSession, module: Any) -> None:
    deployment = Deployment(time_zone="Asia/Shanghai")
    assert_typed(spark, records, module, CELLS, lambda name, cell: message("DELETE", [{name: cell}]), deployment)


def test_binaries_of_ticdc_before_5_4_are_utf_8_text(records: Records) -> None:
    """Their sqlType is VARCHAR; blobs were in Latin-1 already."""
    table = Table("db", "t", (Column("v", mysql.binary("varbinary")), Column("b", mysql.binary("blob"))))
    old = message("INSERT", [{"v": "é汉", "b": "é"}], [None], sqlType={"v": 12, "b": 2004})
    new = message("INSERT", [{"v": "é", "b": "é"}], sqlType={"v": 2004, "b": 2004})
    out = rows_by_offset(TICDC.decode_rows(records(old, new), table))
    assert [tuple(map(bytes, rows[0].after)) for rows in out.values()] == [("é汉".encode(), b"\xe9"), (b"\xe9", b"\xe9")]


@pytest.mark.parametrize("module", [TICDC, ALIBABA])
def test_an_object_or_a_list_is_no_text_of_bytes(records: Records, module: Any) -> None:
    table = Table("db", "t", (Column("data", mysql.binary("varbinary")), Column("s", mysql.text())))
    plain, text = {"data": "x", "s": "{}"}, {"data": '{"x":"y"}', "s": None}
    vectors = (
        *(message("INSERT", [plain, {"data": {"x": "y"}, "s": "x"}]), message("INSERT", [text, {"data": "[1]", "s": "x"}])),
        *(message("UPDATE", [plain], [{"data": [1]}]), message("UPDATE", [text], [text])),
    )
    out = rows_by_offset(module.decode_rows(records(*vectors), table))
    assert [[row.kind for row in rows] for rows in out.values()] == [["CORRUPT"], ["ROW", "ROW"], ["CORRUPT"], ["ROW"]]
    assert [bytes(row.after.data) for row in out[1]] == [b'{"x":"y"}', b"[1]"]


CANAL_DDL = (
    '{"data":null,"database":"","es":null,"gtid":"","id":-1,"isDdl":true,"mysqlType":null,"old":null,"pkNames":null,'
    '"sql":"create database x","sqlType":null,"table":"","ts":null,"type":"QUERY"}'
)
"""An empty FlatMessage, as Canal's JSON library writes it."""


def test_canal_statements_are_no_rows(records: Records) -> None:
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
    assert all(rows[0].sql and rows[0].before is None and rows[0].after is None for rows in out.values())
    assert out[0][0].position == "-1"
