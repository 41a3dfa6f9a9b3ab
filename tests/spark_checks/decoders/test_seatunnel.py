"""The reference decoder of SeaTunnel's canal_json reads what SeaTunnel's own serializer wrote of one
table: (1, 'x', 100.00, an instant) inserted, changed to (1, NULL, 1.50, the same), and deleted.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from types import ModuleType

import pytest
from pyspark.sql import DataFrame, SparkSession

from generators.model import Column, Deployment, Table
from generators.sources import mysql
from spark_checks.decoders import alibaba_canal_json, flink_canal_json, seatunnel_canal_json
from spark_checks.liars.liar import liars

COLUMNS = (
    Column("id", mysql.integer("int")),
    Column("a", mysql.text()),
    Column("d", mysql.decimal(10, 2)),
    Column("t", mysql.temporal("timestamp", 3)),
)
TABLE = Table("db", "t", COLUMNS, ("id",))
OLD = '{"id":1,"a":"x","d":1E+2,"t":"2024-02-29T09:02:03.5"}'
NEW = '{"id":1,"a":null,"d":1.5,"t":"2024-02-29T09:02:03.5"}'
MESSAGES = (
    f'{{"data":{OLD},"type":"INSERT"}}',
    f'{{"data":{OLD},"type":"DELETE"}}',
    f'{{"data":{NEW},"type":"INSERT"}}',
    f'{{"data":{NEW},"type":"DELETE"}}',
)
SHANGHAI = Deployment("Asia/Shanghai")
INSTANT = dt.datetime(2024, 2, 29, 1, 2, 3, 500_000)
OLD_VALUES = (1, "x", Decimal("100.00"), INSTANT)
NEW_VALUES = (1, None, Decimal("1.50"), INSTANT)


def records(spark: SparkSession, texts: tuple[str, ...]) -> DataFrame:
    rows = [(text.encode(), "cdc", 0, offset) for offset, text in enumerate(texts)]
    columns = "value binary, topic string, partition int, offset bigint"
    return spark.createDataFrame(rows, columns).selectExpr("*", "CAST(NULL AS binary) AS key")


def test_level_one_reads_inserts_and_deletes(spark: SparkSession) -> None:
    rows = seatunnel_canal_json.decode(records(spark, MESSAGES)).orderBy("offset").collect()
    assert [row.op for row in rows] == ["INSERT", "DELETE", "INSERT", "DELETE"]
    assert [row.before and row.before["a"] for row in rows] == [None, "x", None, None]
    assert {(row.database, row.table, row.keys, row.commit_time) for row in rows} == {
        (None, None, None, None)
    }


def test_level_two_types_the_cells_in_the_zone_of_the_source(spark: SparkSession) -> None:
    decoded = seatunnel_canal_json.decode_rows(records(spark, MESSAGES), TABLE, deployment=SHANGHAI)
    rows = decoded.orderBy("offset").collect()
    assert [row.after and tuple(row.after) for row in rows] == [OLD_VALUES, None, NEW_VALUES, None]
    assert [row.before and tuple(row.before) for row in rows] == [
        None,
        OLD_VALUES,
        None,
        NEW_VALUES,
    ]


@pytest.mark.parametrize(
    "text",
    [
        f'{{"data":{OLD},"type":"UPDATE"}}',
        f'{{"data":[{OLD}],"type":"INSERT"}}',
        '{"data":null,"type":"DELETE"}',
        '{"type":"DELETE"}',
    ],
)
def test_what_seatunnel_does_not_write_is_corrupt(spark: SparkSession, text: str) -> None:
    (row,) = seatunnel_canal_json.decode(records(spark, (text,))).collect()
    assert row.kind == "CORRUPT"


@pytest.mark.parametrize("decoder", [alibaba_canal_json, flink_canal_json])
def test_a_decoder_of_a_list_of_rows_refuses_every_message(
    spark: SparkSession, decoder: ModuleType
) -> None:
    rows = decoder.decode(records(spark, MESSAGES)).collect()
    assert [row.kind for row in rows] == ["CORRUPT"] * 4


def test_the_baseline_reads_an_insert(spark: SparkSession) -> None:
    baseline = seatunnel_canal_json.BASELINE.decode(records(spark, MESSAGES))
    row = baseline.orderBy("offset").first()
    assert row is not None
    assert (row.op, row.after["a"]) == ("INSERT", "x")


def test_there_are_liars_at_both_levels() -> None:
    assert {liar.level for liar in liars("seatunnel-canal-json")} == {1, 2}
