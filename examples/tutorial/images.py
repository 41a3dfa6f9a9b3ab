"""A decoder of TiCDC's Canal-JSON: the members of the message, under the names of the columns."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

MESSAGE = """
    type string, isDdl boolean, database string, `table` string, pkNames array<string>, sql string,
    data array<map<string, string>>, old array<map<string, string>>
"""

CHANGE = {
    "row": "0",
    "kind": "if(m.isDdl, 'DDL', 'ROW')",
    "op": "if(m.isDdl, NULL, m.type)",
    "database": "m.database",
    "table": "m.table",
    "keys": "m.pkNames",
    "before": "if(m.type = 'DELETE', m.data[0], m.old[0])",
    "after": "if(m.type = 'DELETE', NULL, m.data[0])",
    "sql": "m.sql",
    "error": "CAST(NULL AS string)",
}


def decode(records: DataFrame) -> DataFrame:
    """One row per message."""
    read = records.withColumn("m", F.from_json(F.col("value").cast("string"), MESSAGE))
    return read.select(
        "topic", "partition", "offset", *(F.expr(sql).alias(name) for name, sql in CHANGE.items())
    )
