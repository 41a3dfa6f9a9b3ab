"""aws-dms-json's reference decoder reads what the document prints, and liars stand beside it.

What is still to be written fails with a sentence that names the file and the next thing to write in
it.
"""

from __future__ import annotations

from typing import NoReturn

import pytest
from pyspark.sql import DataFrame, SparkSession

from generators.model import Column, Table
from generators.sources import mysql
from spark_checks.decoders import aws_dms_json as reference
from spark_checks.liars.liar import liars

DECODER = "spark_checks/decoders/aws_dms_json.py"
WRONG = "spark_checks/liars/aws-dms-json.toml"
TESTS = "tests/spark_checks/decoders/test_aws_dms_json.py"
TABLE = Table("db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text())), ("id",))
METADATA = (
    '"metadata":{"timestamp":"2023-01-16T06:25:34.444953Z","record-type":"data",'
    '"operation":"OPERATION","partition-key-type":"primary-key","schema-name":"db",'
    '"table-name":"t","transaction-id":12884904641}}'
)
DOCUMENTED: tuple[str, ...] = (
    '{"data":{"id":1,"a":"x"},' + METADATA.replace("OPERATION", "insert"),
    '{"data":{"id":1},"before-image":{"id":1,"a":"x"},' + METADATA.replace("OPERATION", "update"),
    '{"data":{"id":1},' + METADATA.replace("OPERATION", "delete"),
)
"""An INSERT of (1, x) into TABLE, its UPDATE to (1, NULL) and the DELETE of that, as the document
prints such messages.
"""


def due(sentence: str) -> NoReturn:
    """Ends a test that has something to be written first."""
    pytest.fail(sentence, pytrace=False)


def records(spark: SparkSession) -> DataFrame:
    if not DOCUMENTED:
        due(
            f"{TESTS}: put an INSERT, an UPDATE and a DELETE as the document prints them into"
            " DOCUMENTED"
        )
    rows = [(text.encode(), "cdc", 0, offset) for offset, text in enumerate(DOCUMENTED)]
    return spark.createDataFrame(rows, "value binary, topic string, partition int, offset bigint")


def test_level_one_reads_an_insert_an_update_and_a_delete(spark: SparkSession) -> None:
    rows = reference.decode(records(spark)).orderBy("offset").collect()
    if any(row.kind == "CORRUPT" for row in rows):
        due(f"{DECODER}, _op and FLAT: read the members that the document names")
    assert [row.op for row in rows] == ["INSERT", "UPDATE", "DELETE"]
    assert [row.after and row.after.get("a") for row in rows] == ["x", None, None]


def test_level_two_types_the_cells(spark: SparkSession) -> None:
    rows = reference.decode_rows(records(spark), TABLE).orderBy("offset").collect()
    if any(row.after is None or row.after.id is None for row in rows[:2]):
        due(f"{DECODER}, FLAT: name the members that hold the row and the old row")
    assert [row.before and (row.before.id, row.before.a) for row in rows] == [
        None,
        (1, "x"),
        (1, None),
    ]
    assert [row.after and (row.after.id, row.after.a) for row in rows] == [
        (1, "x"),
        (1, None),
        None,
    ]


def test_the_baseline_reads_an_insert(spark: SparkSession) -> None:
    row = reference.BASELINE.decode(records(spark)).orderBy("offset").first()
    if row is None or row.op != "INSERT" or not row.after:
        due(f"{DECODER}, BASELINE: say where op, table and images stand in a message")
    assert row.after["a"] == "x"


def test_there_are_liars() -> None:
    decoders = liars("aws-dms-json")
    if not decoders:
        due(f"{WRONG}: write a wrong decoder for each mistake that the document invites")
    assert {liar.level for liar in decoders} == {1, 2}
