"""Ways in which Spark jobs read Debezium's JSON envelope, as guides and questions show them: a
decoder of typed rows for each.
"""

from __future__ import annotations

from itertools import chain

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from generators.model import Column as Declared
from generators.model import Logical, Table

CAPABILITIES = {"conventions": ["read-as-insert"]}

_OPS = {"c": "INSERT", "r": "INSERT", "u": "UPDATE", "d": "DELETE"}


def _type(column: Declared) -> str:
    """The type that a user declares: that of the harness, but STRING for a label."""
    return "string" if column.type.logical in (Logical.ENUM, Logical.SET) else column.type.spark


def _decoded_rows(frame: DataFrame, table: Table, before: Column, after: Column) -> DataFrame:
    """The contract's columns, of `op` and the envelope's source; a tombstone gives nothing."""
    codes = chain.from_iterable(_OPS.items())
    op = F.create_map(*map(F.lit, codes))[F.col("m.op")]
    where = F.coalesce(F.col("m.source.schema"), F.col("m.source.db"))
    of_table = (F.col("m.source.table") == table.name) & (where == (table.schema or table.database))
    corrupt = F.col("m.source.table").isNull()
    return frame.where(F.col("value").isNotNull() & (corrupt | (of_table & op.isNotNull()))).select(
        *("topic", "partition", "offset"),
        F.lit(0).alias("row"),
        F.when(corrupt, "CORRUPT").otherwise("ROW").alias("kind"),
        op.alias("op"),
        F.when(~corrupt, before).alias("before"),
        F.when(~corrupt, after).alias("after"),
        F.when(corrupt, "no envelope").alias("error"),
    )


def decode_rows_typed(records: DataFrame, table: Table) -> DataFrame:
    """`from_json` with the table's own types in the images, the form without a schema."""
    row_ddl = ", ".join(
        f"`{column.name.replace('`', '``')}` {_type(column)}" for column in table.columns
    )
    source = "struct<db string, `schema` string, `table` string>"
    schema = f"op string, source {source}, before struct<{row_ddl}>, after struct<{row_ddl}>"
    json_text = F.col("value").cast("string")
    frame = records.withColumn(
        "m",
        F.coalesce(
            F.from_json(F.get_json_object(json_text, "$.payload"), schema),
            F.from_json(json_text, schema),
        ),
    )
    return _decoded_rows(frame, table, F.col("m.before"), F.col("m.after"))


def decode_rows_get_json_object(records: DataFrame, table: Table) -> DataFrame:
    """`get_json_object` with a path to each column, and a cast."""
    message_text = F.col("value").cast("string")
    payload_text = F.coalesce(F.get_json_object(message_text, "$.payload"), message_text)
    places = [
        F.get_json_object(payload_text, f"$.source.{name}").alias(name)
        for name in ("db", "schema", "table")
    ]
    frame = records.withColumn(
        "m",
        F.struct(
            F.get_json_object(payload_text, "$.op").alias("op"), F.struct(*places).alias("source")
        ),
    )

    def image(member: str) -> Column:
        cells = [
            F.get_json_object(payload_text, f"$.{member}['{column.name}']")
            .try_cast(_type(column))
            .alias(column.name)
            for column in table.columns
        ]
        return F.when(F.get_json_object(payload_text, f"$.{member}").isNotNull(), F.struct(*cells))

    return _decoded_rows(frame, table, image("before"), image("after"))
