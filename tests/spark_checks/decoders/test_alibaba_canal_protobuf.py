"""alibaba-canal-protobuf's reference decoder reads packets of Canal's own classes."""

from __future__ import annotations

import json

import pytest
from literals import literal
from pyspark.sql import DataFrame, SparkSession

from generators.model import Column, Table
from generators.sources import mysql
from spark_checks.decoders import alibaba_canal_protobuf as reference
from spark_checks.liars.liar import liars

TABLE = Table("db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text())), ("id",))
CANAL_PACKETS = literal("alibaba-canal-packets.hex").split()
"""An INSERT of (1, ''), its UPDATE to (1, NULL) and the DELETE of that, in hex: bytes of
canal.protocol 1.1.8.
"""


def records(spark: SparkSession) -> DataFrame:
    rows = [(bytes.fromhex(text), "cdc", 0, offset) for offset, text in enumerate(CANAL_PACKETS)]
    return spark.createDataFrame(rows, "value binary, topic string, partition int, offset bigint")


def test_a_packet_becomes_json() -> None:
    text = reference.packet_json(bytes.fromhex(CANAL_PACKETS[1]))
    assert text is not None
    assert json.loads(text) == {
        "changes": [
            {
                "database": "db",
                "table": "t",
                "position": "mysql-bin.999999:13",
                "ms": 1700000000000,
                "kind": "ROW",
                "op": "UPDATE",
                "before": {"id": "1", "a": ""},
                "after": {"id": "1", "a": None},
                "keys": ["id"],
                "types": {"id": "int(11)", "a": "varchar(255)"},
            }
        ]
    }


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        bytes.fromhex(CANAL_PACKETS[0])[:-1],
        bytes.fromhex(CANAL_PACKETS[0]) + b"\xff",
        b"\x18\x03",
        b"\x18\x07",
        b'{"type":"INSERT"}',
    ],
)
def test_what_is_no_packet_of_entries_is_none(value: bytes | None) -> None:
    assert reference.packet_json(value) is None


@pytest.mark.spark
def test_level_one_reads_an_insert_an_update_and_a_delete(spark: SparkSession) -> None:
    rows = reference.decode(records(spark)).orderBy("offset").collect()
    assert [(row.op, row.before, row.after) for row in rows] == [
        ("INSERT", None, {"id": "1", "a": ""}),
        ("UPDATE", {"id": "1", "a": ""}, {"id": "1", "a": None}),
        ("DELETE", {"id": "1", "a": None}, None),
    ]


@pytest.mark.spark
def test_level_two_types_the_cells(spark: SparkSession) -> None:
    rows = reference.decode_rows(records(spark), TABLE).orderBy("offset").collect()
    images = [[side and tuple(side) for side in (row.before, row.after)] for row in rows]
    assert images == [[None, (1, "")], [(1, ""), (1, None)], [(1, None), None]]


@pytest.mark.spark
def test_the_baseline_reads_an_insert(spark: SparkSession) -> None:
    row = reference.BASELINE.decode(records(spark)).orderBy("offset").first()
    assert row is not None
    assert (row.op, row.after) == ("INSERT", {"id": "1", "a": ""})


def test_there_are_liars() -> None:
    assert {liar.level for liar in liars("alibaba-canal-protobuf")} == {1, 2}
