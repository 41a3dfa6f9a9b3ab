"""The adapter of kafka2delta, a package for Spark that reads Debezium's Avro: the package's functions
take the framing off and make the columns of a row.

The package reads the one row that ExtractNewRecordState leaves of a change: the image after it, of
a DELETE the image before it. The adapter takes this row out of the envelope, by the envelope's
schema, and alters no value of it.
"""

from __future__ import annotations

import json
import os
import re
from functools import reduce
from typing import Any, Final
from urllib.request import urlopen

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from generators.model import Table

CAPABILITIES: Final = {
    "types": [
        *("smallint*", "integer", "bigint", "real", "double*", "decimal*", "numeric"),
        *("char", "varchar", "text", "json", "jsonb", "uuid", "boolean", "bytea", "timestamptz"),
    ],
    "profiles": ["3.5.0.Final+postgresql"],
    "conventions": ["read-as-insert", "stops-on-unreadable"],
}
_OPS: Final = {"c": "INSERT", "r": "INSERT", "u": "UPDATE", "d": "DELETE"}
_DIGITS: Final = 38
"""The digits of Spark's longest DECIMAL."""
_POSITION: Final = ("topic", "partition", "offset")


def decode_rows_kafka2delta(records: DataFrame, table: Table) -> DataFrame:
    """The rows of each schema of the values apart, as `merge_micro_batch` reads them."""
    from kafka2delta.udf import get_confluent_avro_value, get_schema_id

    framed = _select_topic(records, table).select(
        *_POSITION,
        get_schema_id("value").alias("schema_id"),
        get_confluent_avro_value("value").alias("avro"),
    )
    every_id = framed.select("schema_id").distinct().sort("schema_id").collect()
    parts = [
        _read_rows(framed.where(F.col("schema_id") == schema_id), schema_id, table)
        for (schema_id,) in every_id
    ]
    return reduce(_union_rows, parts) if parts else _make_empty_rows(framed, table)


def _union_rows(rows: DataFrame, other_rows: DataFrame) -> DataFrame:
    """Rows of two schemas; a column that one of them has not is NULL in its rows."""
    return rows.unionByName(other_rows, allowMissingColumns=True)


def _select_topic(records: DataFrame, table: Table) -> DataFrame:
    """The records of a table's topic but for tombstones, which the transform leaves out."""
    outer = table.schema or table.database
    topic = re.sub(r"[^A-Za-z0-9._-]", "_", f".{outer}.{table.name}")
    return records.where(F.col("topic").endswith(topic) & F.col("value").isNotNull())


def _read_rows(framed: DataFrame, schema_id: int, table: Table) -> DataFrame:
    """The contract's rows of the messages of one schema."""
    from kafka2delta.utils import cast_debezium_columns

    envelope = json.dumps(_replace_long_decimals(json.loads(_fetch_schema(schema_id))))
    change = from_avro(F.col("avro"), envelope, {"mode": "FAILFAST"}).alias("change")
    op_code = F.col("change.op")
    op = F.create_map(*(F.lit(code) for pair in _OPS.items() for code in pair))[op_code]
    image = F.when(op_code == "d", F.col("change.before")).otherwise(F.col("change.after"))
    flat = framed.select(*_POSITION, change).select(
        *(F.col(name).alias(f"__{name}") for name in _POSITION),
        op.alias("__op"),
        image.alias("row"),
    )
    flat = flat.select("__topic", "__partition", "__offset", "__op", "row.*")
    row_schema = json.dumps(_find_row_schema(json.loads(envelope)))
    columns = cast_debezium_columns(row_schema)
    return _shape_changes(
        flat.select("__topic", "__partition", "__offset", "__op", *columns), table
    )


def _fetch_schema(schema_id: int) -> str:
    """The text of a schema in the run's registry."""
    with urlopen(f"{os.environ['CDC_CONFORMANCE_REGISTRY']}/schemas/ids/{schema_id}") as answer:  # noqa: S310 - the run's own registry
        return str(json.load(answer)["schema"])


def _replace_long_decimals(schema: Any) -> Any:
    """A schema in which a decimal of more than 38 digits, which Spark has not, is plain bytes: one
    such column would keep the others from being read.
    """
    if isinstance(schema, list):
        return [_replace_long_decimals(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("logicalType") == "decimal" and schema["precision"] > _DIGITS:
        return schema["type"]
    return {name: _replace_long_decimals(member) for name, member in schema.items()}


def _find_row_schema(envelope: dict[str, Any]) -> dict[str, Any]:
    """The record of a row: an envelope's schema defines it where it is named first."""
    [before] = [field["type"] for field in envelope["fields"] if field["name"] == "before"]
    return next(branch for branch in before if isinstance(branch, dict))


def _shape_changes(typed: DataFrame, table: Table) -> DataFrame:
    """The contract's columns. A column's name in Avro has an underscore for what Avro has not."""
    cells = []
    for column in table.columns:
        name = re.sub(r"[^A-Za-z0-9_]", "_", re.sub(r"^(?=[0-9])", "_", column.name))
        if name in typed.columns:
            cells.append(F.col(name).alias(column.name))
    row, op = F.struct(*cells), F.col("__op")
    return typed.where(op.isNotNull()).select(
        *(F.col(f"__{name}").alias(name) for name in _POSITION),
        F.lit(0).alias("row"),
        F.lit("ROW").alias("kind"),
        op.alias("op"),
        F.when(op == "DELETE", row).alias("before"),
        F.when(op != "DELETE", row).alias("after"),
        F.lit(None).cast("string").alias("error"),
    )


def _make_empty_rows(framed: DataFrame, table: Table) -> DataFrame:
    """The contract's columns of a batch without messages of the table."""
    cells = [F.lit(None).cast(column.type.spark).alias(column.name) for column in table.columns]
    places = (F.col(name).alias(f"__{name}") for name in _POSITION)
    return _shape_changes(
        framed.select(*places, F.lit(None).cast("string").alias("__op"), *cells), table
    )
