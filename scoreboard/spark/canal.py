"""Ways in which Spark jobs read Canal-JSON, as guides and questions show them: one decoder of typed
rows for each way.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from generators.model import Table

# All but what TiCDC compresses: profiles that end in snappy or lz4.
CAPABILITIES = {"conventions": ["read-as-insert"], "profiles": ["*[!y4]", "*[!p]y", "*[!z]4"]}

MESSAGE = (
    "database string, `table` string, type string, data array<map<string, string>>, old"
    " array<map<string, string>>"
)


def _typed_row(table: Table, cell_text: Callable[[str], Column]) -> Column:
    return F.struct(
        *(
            cell_text(column.name).try_cast(column.type.spark).alias(column.name)
            for column in table.columns
        )
    )


def _decoded_rows(
    frame: DataFrame, table: Table, kind: Column, ordinal: Column, before: Column, after: Column
) -> DataFrame:
    """The contract's columns; a message that is no Canal-JSON has no type."""
    of_table = (F.col("m.database") == table.database) & (F.col("m.table") == table.name)
    dml = kind.isin("INSERT", "UPDATE", "DELETE")
    return frame.where(kind.isNull() | (of_table & dml)).select(
        *("topic", "partition", "offset"),
        F.coalesce(ordinal, F.lit(0)).alias("row"),
        F.when(kind.isNull(), "CORRUPT").otherwise("ROW").alias("kind"),
        kind.alias("op"),
        F.when(kind == "UPDATE", before).when(kind == "DELETE", after).alias("before"),
        F.when(kind.isin("INSERT", "UPDATE"), after).alias("after"),
        F.when(kind.isNull(), "no Canal-JSON").alias("error"),
    )


def _parsed(records: DataFrame) -> DataFrame:
    return records.withColumn("m", F.from_json(F.col("value").cast("string"), MESSAGE))


def decode_rows_explode(records: DataFrame, table: Table) -> DataFrame:
    """`from_json` and `posexplode_outer`; a column of `old` that is NULL counts as unchanged."""
    frame = _parsed(records).select("*", F.posexplode_outer("m.data").alias("row", "new"))
    old = F.try_element_at("m.old", F.col("row") + 1)
    before = _typed_row(table, lambda name: F.coalesce(old[name], F.col("new")[name]))
    return _decoded_rows(
        frame,
        table,
        F.col("m.type"),
        F.col("row"),
        before,
        _typed_row(table, lambda name: F.col("new")[name]),
    )


def decode_rows_zip(records: DataFrame, table: Table) -> DataFrame:
    """`arrays_zip` of `data` and `old`, exploded: an INSERT and a DELETE have no `old`."""
    frame = _parsed(records).select(
        "*", F.posexplode_outer(F.arrays_zip("m.data", "m.old")).alias("row", "pair")
    )
    before = _typed_row(
        table, lambda name: F.coalesce(F.col("pair.old")[name], F.col("pair.data")[name])
    )
    return _decoded_rows(
        frame,
        table,
        F.col("m.type"),
        F.col("row"),
        before,
        _typed_row(table, lambda name: F.col("pair.data")[name]),
    )


def decode_rows_get_json_object(records: DataFrame, table: Table) -> DataFrame:
    """`get_json_object` with a path to each column of the first row."""
    json_text = F.col("value").cast("string")
    members = [
        F.get_json_object(json_text, f"$.{name}").alias(name)
        for name in ("database", "table", "type")
    ]
    frame = records.withColumn("m", F.struct(*members))

    def at(array: str) -> Callable[[str], Column]:
        return lambda name: F.get_json_object(json_text, f"$.{array}[0]['{name}']")

    before = _typed_row(table, lambda name: F.coalesce(at("old")(name), at("data")(name)))
    return _decoded_rows(
        frame, table, F.col("m.type"), F.lit(0), before, _typed_row(table, at("data"))
    )


def decode_rows_variant(records: DataFrame, table: Table) -> DataFrame:
    """VARIANT: `try_parse_json`, the rows as an array of VARIANT, `try_variant_get` with each
    column's type.
    """
    parsed = records.withColumn("v", F.try_parse_json(F.col("value").cast("string")))
    members = [
        F.try_variant_get("v", f"$.{name}", "string").alias(name)
        for name in ("database", "table", "type")
    ]
    frame = parsed.withColumn("m", F.struct(*members)).select(
        "*",
        F.posexplode_outer(F.try_variant_get("v", "$.data", "array<variant>")).alias("row", "new"),
    )
    old = F.try_element_at(F.try_variant_get("v", "$.old", "array<variant>"), F.col("row") + 1)

    def get(value: Column, name: str, kind: str) -> Column:
        return F.try_variant_get(value, f"$['{name}']", kind)

    kinds = {column.name: column.type.spark for column in table.columns}
    after = F.struct(*(get(F.col("new"), name, kind).alias(name) for name, kind in kinds.items()))
    before = F.struct(
        *(
            F.coalesce(get(old, name, kind), get(F.col("new"), name, kind)).alias(name)
            for name, kind in kinds.items()
        )
    )
    return _decoded_rows(frame, table, F.col("m.type"), F.col("row"), before, after)
