"""debezium-mongodb-json's reference decoder reads what the document prints, and liars stand beside
it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from generators.model import Column, Deployment, Table
from generators.sources.mongodb import TYPES
from spark_checks.decoders import debezium_mongodb_json as reference
from spark_checks.liars.liar import liars

BARE = Deployment(schemas="none")
TABLE = Table(
    "inventory",
    "customers",
    (
        Column("_id", TYPES["long"], nullable=False),
        *(Column(name, TYPES["string"]) for name in ("first_name", "email")),
        Column("since", TYPES["date"]),
    ),
    ("_id",),
)
INSERTED = (
    '{"_id": {"$numberLong": "1004"},"first_name": "Anne","email": "annek@noanswer.org",'
    '"since": {"$date": 1500}}'
)
OLD = '{"_id": {"$numberLong": "1004"},"first_name": "Anne","email": "e"}'
KEY = b'{"id":"1004"}'


def message(op: str, **members: Any) -> bytes:
    """A payload as the document prints it, without schema."""
    source = {"db": "inventory", "collection": "customers", "ts_ms": 1558965508000, "ord": 1}
    payload = {"before": None, "after": None, "updateDescription": None, **members}
    return json.dumps({**payload, "source": source, "op": op, "ts_ms": 1558965515240}).encode()


def description(updated: str, removed: list[str] | None = None) -> dict[str, Any]:
    return {"removedFields": removed, "updatedFields": updated, "truncatedArrays": None}


DOCUMENTED = (
    message("c", after=INSERTED),
    message("u", updateDescription=description('{"first_name": "Anne Marie"}', ["email"])),
    message(
        "u",
        before=OLD,
        updateDescription=description('{"since": {"$date": "1970-01-01T00:00:01.5Z"}}'),
    ),
    message("d"),
    None,
    b'{"ts_ms":1558965515240}',
    message("c", after=INSERTED[:-1]),
)
"""An INSERT; an UPDATE without a document, and one with the old document; a DELETE without its
document and the tombstone behind it; a heartbeat; and a document that is cut off.
"""


def records(spark: SparkSession) -> DataFrame:
    rows = [(KEY, value, "cdc", 0, offset) for offset, value in enumerate(DOCUMENTED)]
    schema = "key binary, value binary, topic string, partition int, offset bigint"
    return spark.createDataFrame(rows, schema)


def test_level_one_reads_each_message(spark: SparkSession) -> None:
    rows = reference.decode(records(spark), deployment=BARE).orderBy("offset").collect()
    assert [(row.kind, row.op) for row in rows] == [
        ("ROW", "INSERT"),
        ("ROW", "UPDATE"),
        ("ROW", "UPDATE"),
        ("ROW", "DELETE"),
        ("TOMBSTONE", None),
        ("HEARTBEAT", None),
        ("CORRUPT", None),
    ]
    assert rows[0].after["first_name"] == "Anne"
    assert json.loads(rows[0].after["_id"]) == {"$numberLong": "1004"}
    assert rows[1].after == {"_id": "1004", "first_name": "Anne Marie", "email": None}
    assert sorted(rows[2].after) == ["_id", "since"]
    assert (rows[3].before, rows[3].after) == ({"_id": "1004"}, None)
    assert (rows[0].database, rows[0].table, rows[0].keys) == ("inventory", "customers", ["_id"])


def test_level_two_types_the_fields(spark: SparkSession) -> None:
    decoded = reference.decode_rows(records(spark), TABLE, deployment=BARE)
    texts = decoded.selectExpr(
        "offset",
        "op",
        "struct(before._id, before.first_name, before.email)",
        "struct(after._id, after.first_name, after.email, CAST(unix_millis(after.since) AS int))",
    )
    rows = {row[0]: tuple(row)[1:] for row in texts.collect()}
    nothing = (None, None, None)
    assert rows == {
        0: ("INSERT", nothing, (1004, "Anne", "annek@noanswer.org", 1500)),
        1: ("UPDATE", nothing, (1004, "Anne Marie", None, None)),
        2: ("UPDATE", (1004, "Anne", "e"), (1004, "Anne", "e", 1500)),
        3: ("DELETE", (1004, None, None), (None, None, None, None)),
        6: (None, nothing, (None, None, None, None)),
    }


@pytest.mark.parametrize("level", [1, 2])
def test_the_baseline_reads_an_insert(spark: SparkSession, level: int) -> None:
    baseline = reference.BASELINE.bare
    given = records(spark)
    decoded = baseline.decode(given) if level == 1 else baseline.decode_rows(given, TABLE)
    row = decoded.orderBy("offset").first()
    assert row is not None
    assert (row.op, row.after["first_name"]) == ("INSERT", "Anne")


def test_there_are_liars() -> None:
    assert {liar.level for liar in liars("debezium-mongodb-json")} == {1, 2}
