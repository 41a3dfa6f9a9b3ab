"""The reference decoders of Flink's changelog formats read what Flink's own serializers wrote of one
table: (1, 'x', 100.00, an instant) inserted, changed to (1, NULL, 1.50, the same), and deleted.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from types import ModuleType

import pytest
from pyspark.sql import DataFrame, SparkSession

from generators.model import Column, Table
from generators.sources import mysql
from spark_checks.decoders import (
    alibaba_canal_json,
    debezium_json,
    flink_canal_json,
    flink_debezium_json,
    flink_maxwell_json,
    flink_ogg_json,
    maxwell_json,
    ogg_json,
)
from spark_checks.liars.liar import liars

COLUMNS = (
    Column("id", mysql.integer("int")),
    Column("a", mysql.text()),
    Column("d", mysql.decimal(10, 2)),
    Column("t", mysql.temporal("timestamp", 3)),
)
TABLE = Table("db", "t", COLUMNS, ("id",))
OLD = '{"id":1,"a":"x","d":1E+2,"t":"2024-02-29 01:02:03.5Z"}'
NEW = '{"id":1,"a":null,"d":1.5,"t":"2024-02-29 01:02:03.5Z"}'
NEW_ISO_WITHOUT_NULLS = '{"id":1,"d":1.50,"t":"2024-02-29T01:02:03.5Z"}'
MESSAGES: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (
        flink_canal_json,
        (
            f'{{"data":[{OLD}],"type":"INSERT"}}',
            f'{{"data":[{OLD}],"type":"DELETE"}}',
            f'{{"data":[{NEW}],"type":"INSERT"}}',
            f'{{"data":[{NEW_ISO_WITHOUT_NULLS}],"type":"DELETE"}}',
        ),
    ),
    (
        flink_debezium_json,
        (
            f'{{"before":null,"after":{OLD},"op":"c"}}',
            f'{{"before":{OLD},"after":null,"op":"d"}}',
            f'{{"before":null,"after":{NEW},"op":"c"}}',
            f'{{"before":{NEW_ISO_WITHOUT_NULLS},"op":"d"}}',
        ),
    ),
    (
        flink_maxwell_json,
        (
            f'{{"data":{OLD},"type":"insert"}}',
            f'{{"data":{OLD},"type":"delete"}}',
            f'{{"data":{NEW},"type":"insert"}}',
            f'{{"data":{NEW_ISO_WITHOUT_NULLS},"type":"delete"}}',
        ),
    ),
    (
        flink_ogg_json,
        (
            f'{{"before":null,"after":{OLD},"op_type":"I"}}',
            f'{{"before":{OLD},"after":null,"op_type":"D"}}',
            f'{{"before":null,"after":{NEW},"op_type":"I"}}',
            f'{{"before":{NEW_ISO_WITHOUT_NULLS},"op_type":"D"}}',
        ),
    ),
)
INSTANT = dt.datetime(2024, 2, 29, 1, 2, 3, 500_000)
OLD_VALUES = (1, "x", Decimal("100.00"), INSTANT)
NEW_VALUES = (1, None, Decimal("1.50"), INSTANT)


def records(spark: SparkSession, texts: tuple[str, ...]) -> DataFrame:
    rows = [(text.encode(), "cdc", 0, offset) for offset, text in enumerate(texts)]
    columns = "value binary, topic string, partition int, offset bigint"
    return spark.createDataFrame(rows, columns).selectExpr("*", "CAST(NULL AS binary) AS key")


@pytest.mark.parametrize(("decoder", "texts"), MESSAGES)
def test_level_one_reads_inserts_and_deletes(
    spark: SparkSession, decoder: ModuleType, texts: tuple[str, ...]
) -> None:
    rows = decoder.decode(records(spark, texts)).orderBy("offset").collect()
    assert [row.op for row in rows] == ["INSERT", "DELETE", "INSERT", "DELETE"]
    assert [row.after and row.after["d"] for row in rows] == ["100.0", None, "1.5", None]
    assert [row.before and row.before.get("a", "left out") for row in rows] == [
        None,
        "x",
        None,
        "left out",
    ]
    assert {(row.database, row.table, row.keys, row.commit_time) for row in rows} == {
        (None, None, None, None)
    }


@pytest.mark.parametrize(("decoder", "texts"), MESSAGES)
def test_level_two_types_the_cells(
    spark: SparkSession, decoder: ModuleType, texts: tuple[str, ...]
) -> None:
    rows = decoder.decode_rows(records(spark, texts), TABLE).orderBy("offset").collect()
    assert [row.after and tuple(row.after) for row in rows] == [OLD_VALUES, None, NEW_VALUES, None]
    assert [row.before and tuple(row.before) for row in rows] == [
        None,
        OLD_VALUES,
        None,
        NEW_VALUES,
    ]


@pytest.mark.parametrize(
    ("decoder", "text"),
    [
        (flink_canal_json, f'{{"data":[{OLD}],"type":"UPDATE"}}'),
        (flink_canal_json, f'{{"data":[{OLD},{NEW}],"type":"INSERT"}}'),
        (flink_canal_json, '{"data":null,"type":"DELETE"}'),
        (flink_debezium_json, f'{{"before":{OLD},"after":{NEW},"op":"u"}}'),
        (flink_debezium_json, f'{{"before":{OLD},"after":null,"op":"c"}}'),
        (flink_maxwell_json, f'{{"data":{OLD},"type":"update"}}'),
        (flink_ogg_json, f'{{"before":null,"after":{OLD},"op_type":"D"}}'),
    ],
)
def test_what_flink_does_not_write_is_corrupt(
    spark: SparkSession, decoder: ModuleType, text: str
) -> None:
    (row,) = decoder.decode(records(spark, (text,))).collect()
    assert row.kind == "CORRUPT"


PRODUCTS = ((debezium_json, 1), (maxwell_json, 2), (ogg_json, 3))
"""Decoders of the products' own messages that refuse Flink's, each with the place of these in MESSAGES."""


@pytest.mark.parametrize(
    ("decoder", "texts"),
    [(product, MESSAGES[place][1]) for product, place in PRODUCTS],
)
def test_a_decoder_of_the_product_s_own_messages_refuses_flink_s(
    spark: SparkSession, decoder: ModuleType, texts: tuple[str, ...]
) -> None:
    with_headers = records(spark, texts).selectExpr(
        "*", "CAST(NULL AS array<struct<key string, value binary>>) AS headers"
    )
    rows = decoder.decode(with_headers).collect()
    assert [row.kind for row in rows] == ["CORRUPT"] * 4


def test_canal_s_decoder_reads_rows_without_a_table(spark: SparkSession) -> None:
    rows = alibaba_canal_json.decode(records(spark, MESSAGES[0][1])).orderBy("offset").collect()
    assert [(row.kind, row.op, row.table) for row in rows] == [
        ("ROW", "INSERT", None),
        ("ROW", "DELETE", None),
        ("ROW", "INSERT", None),
        ("ROW", "DELETE", None),
    ]


@pytest.mark.parametrize(("decoder", "texts"), MESSAGES)
def test_the_baseline_reads_an_insert(
    spark: SparkSession, decoder: ModuleType, texts: tuple[str, ...]
) -> None:
    row = decoder.BASELINE.decode(records(spark, texts)).orderBy("offset").first()
    assert row is not None
    assert (row.op, row.after["a"]) == ("INSERT", "x")


@pytest.mark.parametrize("decoder", [decoder for decoder, _ in MESSAGES])
def test_there_are_liars_at_both_levels(decoder: ModuleType) -> None:
    name = decoder.__name__.rpartition(".")[2].replace("_", "-")
    assert {liar.level for liar in liars(name)} == {1, 2}
