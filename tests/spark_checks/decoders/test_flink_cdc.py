"""The reference decoders of Flink CDC's two JSON formats read what its own serializers wrote of one
table: (1, 'x', 100.00) inserted, changed to (1, NULL, 1.50), and deleted, in two releases.
"""

from __future__ import annotations

from decimal import Decimal
from types import ModuleType

import pytest
from pyspark.sql import DataFrame, SparkSession

from generators.model import Column, Table
from generators.sources import mysql
from spark_checks.decoders import (
    alibaba_canal_json,
    debezium_json,
    flinkcdc_canal_json,
    flinkcdc_debezium_json,
)

COLUMNS = (
    Column("id", mysql.integer("int")),
    Column("a", mysql.text()),
    Column("d", mysql.decimal(10, 2)),
)
TABLE = Table("db", "t", COLUMNS, ("id",))
OLD = '{"id":1,"a":"x","d":1E+2}'
NEW = '{"id":1,"a":null,"d":1.5}'
NEW_WITHOUT_NULLS = '{"id":1,"d":1.50}'
NAMES = '"database":"db","table":"t","pkNames":["id"]'
SOURCE = '"source":{"db":"db","table":"t"}'
CANAL = (
    f'{{"old":null,"data":[{OLD}],"type":"INSERT",{NAMES}}}',
    f'{{"old":[{OLD}],"data":[{NEW}],"type":"UPDATE",{NAMES}}}',
    f'{{"old":null,"data":[{NEW}],"type":"DELETE",{NAMES}}}',
    f'{{"old":[{NEW}],"data":null,"type":"DELETE",{NAMES}}}',
    f'{{"data":[{NEW_WITHOUT_NULLS}],"type":"DELETE",{NAMES}}}',
)
DEBEZIUM = (
    f'{{"before":null,"after":{OLD},"op":"c",{SOURCE}}}',
    f'{{"before":{OLD},"after":{NEW},"op":"u",{SOURCE}}}',
    f'{{"before":{NEW},"after":null,"op":"d",{SOURCE}}}',
    f'{{"before":{NEW_WITHOUT_NULLS},"op":"d",{SOURCE}}}',
)
OLD_VALUES = (1, "x", Decimal("100.00"))
NEW_VALUES = (1, None, Decimal("1.50"))
DECODERS = ((flinkcdc_canal_json, CANAL), (flinkcdc_debezium_json, DEBEZIUM))

pytestmark = pytest.mark.spark


def records_of(spark: SparkSession, *values: str) -> DataFrame:
    """Records with these values, in order, in one partition."""
    rows = [(bytearray(value.encode()), place) for place, value in enumerate(values)]
    return spark.createDataFrame(rows, "value binary, offset long").selectExpr(
        "CAST(NULL AS binary) key",
        "value",
        "'t' topic",
        "0 partition",
        "offset",
        "CAST(0 AS timestamp) timestamp",
        "0 timestampType",
        "CAST(NULL AS array<struct<key: string, value: binary>>) headers",
    )


@pytest.mark.parametrize(("decoder", "messages"), DECODERS)
def test_changes_and_rows_are_read(
    spark: SparkSession, decoder: ModuleType, messages: tuple[str, ...]
) -> None:
    records = records_of(spark, *messages)
    ops = ["INSERT", "UPDATE", *["DELETE"] * (len(messages) - 2)]
    rows = decoder.decode_rows(records, TABLE).orderBy("offset").collect()
    assert [row.op for row in rows] == ops
    assert [row.before and tuple(row.before) for row in rows] == [
        None,
        OLD_VALUES,
        *[NEW_VALUES] * (len(messages) - 2),
    ]
    assert [row.after and tuple(row.after) for row in rows[:2]] == [OLD_VALUES, NEW_VALUES]
    changes = decoder.decode(records).orderBy("offset").collect()
    assert [(change.op, change.database, change.table) for change in changes] == [
        (op, "db", "t") for op in ops
    ]
    assert all(change.before["id"] == "1" for change in changes[1:])


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        (flinkcdc_canal_json, f'{{"old":null,"data":null,"type":"DELETE",{NAMES}}}'),
        (flinkcdc_canal_json, f'{{"old":[{OLD}],"data":[{OLD}],"type":"DELETE",{NAMES}}}'),
        (flinkcdc_canal_json, f'{{"old":null,"data":[{OLD}],"type":"UPDATE",{NAMES}}}'),
        (flinkcdc_canal_json, f'{{"old":null,"data":[{OLD},{OLD}],"type":"INSERT",{NAMES}}}'),
        (flinkcdc_debezium_json, f'{{"before":null,"after":{OLD},"op":"u",{SOURCE}}}'),
        (flinkcdc_debezium_json, f'{{"before":{OLD},"after":{OLD},"op":"d",{SOURCE}}}'),
        (flinkcdc_debezium_json, f'{{"before":null,"after":{OLD},"op":"c","source":{{}}}}'),
    ],
)
def test_a_message_without_the_rows_or_names_that_its_operation_needs_is_corrupt(
    spark: SparkSession, decoder: ModuleType, message: str
) -> None:
    records = records_of(spark, message)
    assert [row.kind for row in decoder.decode(records).collect()] == ["CORRUPT"]
    assert [row.kind for row in decoder.decode_rows(records, TABLE).collect()] == ["CORRUPT"]


@pytest.mark.parametrize(
    ("decoder", "messages", "kinds"),
    [
        (alibaba_canal_json, CANAL, ["ROW", "ROW", "ROW", "CORRUPT", "ROW"]),
        (debezium_json, DEBEZIUM, ["ROW"] * 4),
    ],
)
def test_what_a_reader_of_the_product_s_own_messages_makes_of_them(
    spark: SparkSession, decoder: ModuleType, messages: tuple[str, ...], kinds: list[str]
) -> None:
    changes = decoder.decode(records_of(spark, *messages)).orderBy("offset").collect()
    assert [change.kind for change in changes] == kinds
    assert {change.commit_time for change in changes} == {None}
