"""debezium-mongodb-avro's reference decoder reads what the writer's schemas and Apache's encoder
make of the members that the document prints.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from avro.io import BinaryEncoder, DatumWriter
from avro.schema import parse
from pyspark.sql import DataFrame, SparkSession

from generators.families.confluent import frame_schema
from generators.model import Column, Table
from generators.sources.mongodb import TYPES
from spark_checks.decoders import debezium_mongodb_avro as reference
from spark_checks.liars.liar import liars

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
RECORDS = Path(__file__).parents[2] / "generators/formats/debezium_mongodb_avro_records.jsonl"
"""Records of the connector's and the converter's own classes, as JSON of schema and datum."""
INSERTED = (
    '{"_id": {"$numberLong": "1004"},"first_name": "Anne","email": "annek@noanswer.org",'
    '"since": {"$date": 1500}}'
)
OLD = '{"_id": {"$numberLong": "1004"},"first_name": "Anne","email": "e"}'


def schema_texts() -> tuple[str, str]:
    """The schemas of a key and of a value, as the converter makes them."""
    key, value = json.loads(RECORDS.read_text("utf-8").splitlines()[0])[3:]
    return json.dumps(json.loads(key)["schema"]), json.dumps(json.loads(value)["schema"])


def framed(schema_text: str, subject: str, members: Any) -> bytes:
    """A datum in Confluent's framing, by Apache's encoder."""
    out = io.BytesIO()
    DatumWriter(parse(schema_text)).write(members, BinaryEncoder(out))
    return frame_schema(subject, schema_text) + out.getvalue()


def message(op: str, **members: Any) -> bytes:
    """A message with the members that the document prints."""
    source = {
        **dict.fromkeys(("sequence", "ts_us", "ts_ns", "lsid", "txnNumber", "wallTime")),
        "version": "3.6.1.Final",
        "connector": "mongodb",
        "name": "cdc",
        "snapshot": "false",
        "db": "inventory",
        "collection": "customers",
        "ts_ms": 1558965508000,
        "ord": 1,
    }
    payload = {
        **dict.fromkeys(("before", "after", "updateDescription", "transaction")),
        **members,
        "source": source,
        "op": op,
        "ts_ms": 1558965515240,
    }
    return framed(schema_texts()[1], "cdc-value", payload)


def description(updated: str, removed: list[str] | None = None) -> dict[str, Any]:
    return {"removedFields": removed, "updatedFields": updated, "truncatedArrays": None}


def values() -> Iterator[bytes | None]:
    """An INSERT; an UPDATE without a document, and one with the old document; a DELETE without its
    document and the tombstone behind it; a document that is cut off; a datum that is cut off.
    """
    yield message("c", after=INSERTED)
    yield message("u", updateDescription=description('{"first_name": "Anne Marie"}', ["email"]))
    since = '{"since": {"$date": "1970-01-01T00:00:01.5Z"}}'
    yield message("u", before=OLD, updateDescription=description(since))
    yield message("d")
    yield None
    yield message("c", after=INSERTED[:-1])
    yield message("c", after=INSERTED)[:-1]


def records(spark: SparkSession) -> DataFrame:
    key = framed(schema_texts()[0], "cdc-key", {"id": "1004"})
    rows = [(key, value, "cdc", 0, offset) for offset, value in enumerate(values())]
    schema = "key binary, value binary, topic string, partition int, offset bigint"
    return spark.createDataFrame(rows, schema)


def test_level_one_reads_each_message(spark: SparkSession) -> None:
    rows = reference.decode(records(spark)).orderBy("offset").collect()
    assert [(row.kind, row.op) for row in rows] == [
        ("ROW", "INSERT"),
        ("ROW", "UPDATE"),
        ("ROW", "UPDATE"),
        ("ROW", "DELETE"),
        ("TOMBSTONE", None),
        ("CORRUPT", None),
        ("CORRUPT", None),
    ]
    assert json.loads(rows[0].after["_id"]) == {"$numberLong": "1004"}
    assert rows[1].after == {"_id": "1004", "first_name": "Anne Marie", "email": None}
    assert sorted(rows[2].after) == ["_id", "since"]
    assert (rows[3].before, rows[3].after) == ({"_id": "1004"}, None)
    assert (rows[0].database, rows[0].table, rows[0].keys) == ("inventory", "customers", ["_id"])


def test_level_two_types_the_fields(spark: SparkSession) -> None:
    decoded = reference.decode_rows(records(spark), TABLE)
    texts = decoded.selectExpr(
        "offset", "op", "after._id", "after.first_name", "CAST(unix_millis(after.since) AS int)"
    )
    rows = {row[0]: tuple(row)[1:] for row in texts.collect()}
    assert rows == {
        0: ("INSERT", 1004, "Anne", 1500),
        1: ("UPDATE", 1004, "Anne Marie", None),
        2: ("UPDATE", 1004, "Anne", 1500),
        3: ("DELETE", None, None, None),
        5: (None, None, None, None),
        6: (None, None, None, None),
    }


@pytest.mark.parametrize("level", [1, 2])
def test_the_baseline_reads_an_insert(spark: SparkSession, level: int) -> None:
    given = records(spark)
    baseline = reference.BASELINE
    decoded = baseline.decode(given) if level == 1 else baseline.decode_rows(given, TABLE)
    row = decoded.orderBy("offset").first()
    assert row is not None
    assert (row.op, row.after["first_name"]) == ("INSERT", "Anne")


def test_there_are_liars() -> None:
    assert {liar.level for liar in liars("debezium-mongodb-avro")} == {1, 2}
