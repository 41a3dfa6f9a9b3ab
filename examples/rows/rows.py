"""A decoder of TiCDC Canal-JSON to typed rows, for a table of numbers, texts and times."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Table

MESSAGE = """
    type string, isDdl boolean, database string, `table` string,
    data array<map<string, string>>, old array<map<string, string>>
"""
# By default from_json also reads what is no JSON: 'a' for "a", a bare NaN.
STRICT = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false"}


def decode_rows(records: DataFrame, table: Table, *, deployment: Deployment) -> DataFrame:
    """One row per change of `table`, and a CORRUPT row per message that cannot be read."""

    def image(text_of: Callable[[str], Column]) -> Column:
        return F.struct(*(cell(text_of(c.name), c.type.spark).alias(c.name) for c in table.columns))

    def cell(text: Column, spark: str) -> Column:
        if spark == "timestamp":  # the message has wall-clock time; its zone is the deployment's
            text = F.concat(text, F.lit(f" {deployment.time_zone}"))
        return text.try_cast(spark)

    m = F.col("m")
    row, old = F.get(m["data"], F.lit(0)), F.get(m["old"], F.lit(0))
    after = image(lambda name: row[name])
    # `old` has the changed columns only; NULL in it is a value.
    before = image(
        lambda name: F.when(F.map_contains_key(old, name), old[name]).otherwise(row[name])
    )
    corrupt = m["type"].isNull()
    mine = ~m["isDdl"] & (m["database"] == table.database) & (m["table"] == table.name)
    return (
        records.withColumn("m", F.from_json(F.col("value").cast("string"), MESSAGE, STRICT))
        .where(corrupt | mine)
        .select(
            *("topic", "partition", "offset"),
            F.lit(0).alias("row"),
            F.when(corrupt, "CORRUPT").otherwise("ROW").alias("kind"),
            m["type"].alias("op"),
            F.when(m["type"] == "UPDATE", before)
            .when(m["type"] == "DELETE", after)
            .alias("before"),
            F.when(m["type"].isin("INSERT", "UPDATE"), after).alias("after"),
            F.when(corrupt, "no Canal-JSON message").alias("error"),
        )
    )
