"""The reference decoder reads what Maxwell's documentation and its own tests print."""

import datetime as dt
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from generators.model import Column, Table
from generators.sources import mysql
from spark_checks.decoders import maxwell_json as reference

INSERT = (
    '{"database":"test","table":"e","type":"insert","ts":1477053217,"xid":23396,"commit":true,"position":"master.000006:800911",'
    '"server_id":23042,"thread_id":108,"primary_key": [1, "2016-10-21 05:33:37.523000"],"primary_key_columns": ["id", "c"],'
    '"data":{"id":1,"m":4.2341,"c":"2016-10-21 05:33:37.523000","comment":"I am a creature of light."}}'
)
CHANGED = '"data":{"id":1,"m":5.444,"c":"2016-10-21 05:33:54.631000","comment":"I am a creature of light."}'
OLD = '"old":{"m":4.2341,"c":"2016-10-21 05:33:37.523000"}'
DOCUMENTED = (
    INSERT,
    f'{{"database":"test","table":"e","type":"update","ts":1477053234,{CHANGED},{OLD}}}',
    f'{{"database":"test","table":"e","type":"delete","ts":1477053235,{CHANGED}}}',
    '{"type":"table-drop","database":"test","table":"e","ts":1477053308000,"sql":"drop table test.e","position":"a.000006:8"}',
    '{"database":"test","table":"e","type":"bootstrap-start","ts":1477053309,"data":{}}',
    '{"database":"test","table":"e","type":"bootstrap-insert","ts":1477053309,"data":{"id":1,"m":null,"c":null,"comment":null}}',
)
COLUMNS = (
    Column("id", mysql.integer("int")),
    Column("m", mysql.TYPES["double"]),
    Column("c", mysql.temporal("timestamp", 6)),
    Column("comment", mysql.text()),
)
TABLE = Table("test", "e", COLUMNS, ("id", "c"))


def records(spark: SparkSession, *values: str) -> DataFrame:
    rows = [(text.encode(), "cdc", 0, offset) for offset, text in enumerate(values)]
    return spark.createDataFrame(rows, "value binary, topic string, partition int, offset bigint")


def test_level_one_reads_what_the_document_prints(spark):
    rows = reference.decode(records(spark, *DOCUMENTED)).orderBy("offset").collect()
    assert [(row.kind, row.op) for row in rows] == [
        *(("ROW", op) for op in ("INSERT", "UPDATE", "DELETE")),
        *(("DDL", None), ("CONTROL", None), ("ROW", "READ")),
    ]
    assert (rows[0].keys, rows[0].position) == (["id", "c"], "master.000006:800911")
    assert rows[1].before == {"m": "4.2341", "c": "2016-10-21 05:33:37.523000"}
    assert (rows[2].before["m"], rows[2].after) == ("5.444", None)
    assert [row.commit_time.timestamp() for row in rows[2:4]] == [1477053235, 1477053308]
    assert (rows[3].sql, rows[3].before) == ("drop table test.e", None)


def test_level_two_completes_the_row_before(spark):
    rows = reference.decode_rows(records(spark, *DOCUMENTED), TABLE).orderBy("offset").collect()
    assert [row.op for row in rows] == ["INSERT", "UPDATE", "DELETE", "READ"]
    assert (rows[1].before.m, rows[1].before.comment, rows[1].after.m) == (
        4.2341,
        "I am a creature of light.",
        5.444,
    )
    assert rows[0].after.c.astimezone(dt.UTC).isoformat() == "2016-10-21T05:33:37.523000+00:00"
    assert (rows[2].before.id, rows[2].after, rows[3].after.m) == (1, None, None)


VALUES: tuple[tuple[Any, str, Any], ...] = (
    (mysql.integer("bigint", unsigned=True), "18446744073709551615", Decimal(18446744073709551615)),
    (
        mysql.decimal(38, 10),
        "1234567890123456789012345678.1234567890",
        Decimal("1234567890123456789012345678.1234567890"),
    ),
    (mysql.decimal(20, 10), "1.000E-7", Decimal("0.0000001")),
    (mysql.set_of("foo", "bar", "baz"), '["foo","baz"]', Decimal(5)),
    (mysql.set_of("foo", "bar", "baz"), "[]", Decimal(0)),
    (mysql.enum_of("foo", "bar", "baz"), '"bar"', 2),
    (mysql.binary("blob"), '"AAECAw=="', b"\x00\x01\x02\x03"),
    (mysql.json(), '"text"', '"text"'),
    (mysql.json(), '{"a":[1,"x",null]}', '{"a":[1,"x",null]}'),
    (mysql.json(), "null", None),
    (mysql.temporal("time", 6), '"23:59:58.-500000"', "23:59:58.-500000"),
)


def test_level_two_types_what_the_product_prints(spark):
    table = Table("d", "t", tuple(Column(f"c{i}", type) for i, (type, _, _) in enumerate(VALUES)))
    data = ",".join(f'"c{i}":{text}' for i, (_, text, _) in enumerate(VALUES))
    message = f'{{"database":"d","table":"t","type":"insert","ts":1700000000,"data":{{{data}}}}}'
    (row,) = reference.decode_rows(records(spark, message), table).collect()
    assert row.kind == "ROW"
    assert [bytes(cell) if isinstance(cell, bytearray) else cell for cell in row.after] == [
        value for _, _, value in VALUES
    ]
