"""ticdc-debezium-avro's reference decoder reads what Apache's encoder makes of the members that
TiCDC's tests expect, by the schemas of TiCDC's own converter.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from avro.io import BinaryEncoder, DatumWriter
from avro.schema import parse
from pyspark.sql import DataFrame, SparkSession

from generators.families.confluent import frame_schema
from generators.model import Column, Table
from generators.sources import mysql
from spark_checks.decoders import ticdc_debezium_avro as reference
from spark_checks.liars.liar import liars

TABLE = Table(
    "test-db",
    "foo",
    (
        Column("id", mysql.integer("int"), nullable=False),
        Column("the-name", mysql.text("varchar", 16)),
        Column("bin", mysql.binary("varbinary", 16)),
        Column("price", mysql.decimal(10, 4)),
        Column("ubig", mysql.integer("bigint", unsigned=True)),
    ),
    ("id",),
)
RECORDS = Path(__file__).parents[2] / "generators/formats/ticdc_debezium_avro_records.jsonl"
"""Schemas and data of TiCDC's own converter."""
SOURCE = {
    **dict.fromkeys(("snapshot", "gtid", "thread", "query")),
    "version": "2.4.0.Final",
    "connector": "TiCDC",
    "name": "dbserver1",
    "ts_ms": 1700000000123,
    "db": "test-db",
    "table": "foo",
    "server_id": 0,
    "file": "",
    "pos": 0,
    "row": 0,
    "commit_ts": 445644800032243713,
    "cluster_id": "dbserver1",
}


def nullable(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", kind], "default": None, **more}


DECIMAL = {
    "type": "bytes",
    "logicalType": "decimal",
    "precision": 10,
    "scale": 4,
    "connect.name": "org.apache.kafka.connect.data.Decimal",
    "connect.parameters": {"precision": "10", "scale": "4"},
}
ROW = {
    "type": "record",
    "name": "foo",
    "namespace": "dbserver1.test_db",
    "fields": [
        nullable("id", "int"),
        nullable("the_name", "string", **{"connect.field": "the-name"}),
        nullable("bin", "bytes"),
        nullable("price", DECIMAL),
        nullable("ubig", "string"),
    ],
}


def envelope() -> str:
    """The schema of a row, with the block source of TiCDC's own record of a row."""
    recorded = json.loads(schemas()["shape/delete"][1])
    (source,) = (field for field in recorded["fields"] if field["name"] == "source")
    fields = [
        nullable("before", ROW),
        nullable("after", "dbserver1.test_db.foo"),
        source,
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": "long"},
    ]
    members = {"name": "fooEnvelope", "namespace": "dbserver1.test_db", "fields": fields}
    return json.dumps({"type": "record", **members})


def schemas() -> dict[str, tuple[str, str]]:
    """Of each recorded case the schemas of its first key and value."""
    lines = [json.loads(line) for line in RECORDS.read_text("utf-8").splitlines()]
    return {name: (key, value) for _, name, number, key, _, value, _ in lines if not number}


def framed(schema_text: str, subject: str, members: Any) -> bytes:
    """A datum in Confluent's framing, by Apache's encoder."""
    out = io.BytesIO()
    DatumWriter(parse(schema_text)).write(members, BinaryEncoder(out))
    return frame_schema(subject, schema_text) + out.getvalue()


def row(op: str, before: Any = None, after: Any = None) -> bytes:
    members = {"before": before, "after": after, "source": SOURCE, "op": op, "ts_ms": 1}
    return framed(envelope(), "t-value", members)


ALICE = {
    "id": 1,
    "the_name": "alice",
    "bin": b"\x01\x02\x03",
    "price": Decimal("12.3400"),
    "ubig": "18446744073709551615",
}


def values() -> Iterator[bytes | None]:
    """Rows, a statement, a watermark; no value, an unknown operation, and a datum that is cut."""
    yield row("c", None, ALICE)
    yield row("u", ALICE, {**ALICE, "the_name": None})
    yield row("d", ALICE)
    members: dict[str, Any] = {
        "source": SOURCE,
        "ts_ms": 1,
        "databaseName": "test-db",
        "schemaName": None,
        "ddl": "DROP DATABASE `x`",
        "tableChanges": [],
    }
    yield framed(schemas()["ddl/add-column"][1], "t-value", members)
    members = {"source": {**SOURCE, "db": "", "table": ""}, "op": "m", "ts_ms": 1}
    watermark = framed(
        schemas()["control/watermark"][1], "t-value", {**members, "transaction": None}
    )
    yield watermark
    yield None
    yield row("r", None, ALICE)
    yield row("c", None, ALICE)[:-1]


def records(spark: SparkSession) -> DataFrame:
    schema = {"type": "record", "name": "fooKey", "fields": [nullable("id", "int")]}
    key = framed(json.dumps(schema), "t-key", {"id": 1})
    rows = [(key, value, "t", 0, offset) for offset, value in enumerate(values())]
    columns = "key binary, value binary, topic string, partition int, offset bigint"
    return spark.createDataFrame(rows, columns)


def test_level_one_reads_each_message(spark: SparkSession) -> None:
    rows = reference.decode(records(spark)).orderBy("offset").collect()
    assert [(one.kind, one.op) for one in rows] == [
        ("ROW", "INSERT"),
        ("ROW", "UPDATE"),
        ("ROW", "DELETE"),
        ("DDL", None),
        ("WATERMARK", None),
        ("TOMBSTONE", None),
        ("CORRUPT", None),
        ("CORRUPT", None),
    ]
    alice = {
        "id": "1",
        "the_name": "alice",
        "bin": "AQID",
        "price": "12.3400",
        "ubig": "18446744073709551615",
    }
    assert (rows[0].before, rows[0].after) == (None, alice)
    assert (rows[1].before, rows[1].after) == (alice, {**alice, "the_name": None})
    assert (rows[2].before, rows[2].after) == (alice, None)
    assert (rows[0].database, rows[0].table, rows[0].keys) == ("test-db", "foo", ["id"])
    assert rows[0].position == "445644800032243713"
    assert rows[3].sql == "DROP DATABASE `x`"
    assert (rows[4].database, rows[4].table, rows[4].position) == ("", "", rows[0].position)
    instant = reference.decode(records(spark)).selectExpr(
        "offset", "unix_millis(commit_time) AS ms"
    )
    assert {one.ms for one in instant.collect() if one.offset < 5} == {1700000000123}


def test_level_two_types_the_columns_under_their_own_names(spark: SparkSession) -> None:
    decoded = reference.decode_rows(records(spark), TABLE).orderBy("offset").collect()
    told = {one.offset: (one.op, one.before, one.after) for one in decoded}
    assert [told[offset][0] for offset in range(3)] == ["INSERT", "UPDATE", "DELETE"]
    alice = told[0][2].asDict()
    assert alice == {
        "id": 1,
        "the-name": "alice",
        "bin": b"\x01\x02\x03",
        "price": Decimal("12.3400"),
        "ubig": Decimal((1 << 64) - 1),
    }
    assert told[1][2]["the-name"] is None
    assert told[2][1].asDict() == alice
    assert {one.offset for one in decoded if one.kind == "CORRUPT"} == {6, 7}


@pytest.mark.parametrize("level", [1, 2])
def test_the_baseline_reads_an_insert(spark: SparkSession, level: int) -> None:
    given, baseline = records(spark), reference.BASELINE
    decoded = baseline.decode(given) if level == 1 else baseline.decode_rows(given, TABLE)
    first = decoded.orderBy("offset").first()
    assert first is not None
    assert (first.op, str(first.after["id"])) == ("INSERT", "1")


def test_there_are_liars() -> None:
    assert {liar.level for liar in liars("ticdc-debezium-avro")} == {1}
