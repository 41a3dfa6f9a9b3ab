"""A decoder of TiCDC's Canal-JSON: the members of the message, under the names of the columns."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

MESSAGE = """
    type string, isDdl boolean, database string, `table` string, pkNames array<string>, sql string,
    data array<map<string, string>>, old array<map<string, string>>
"""

# By default from_json also reads what is no JSON: 'a' for "a", a bare NaN.
STRICT = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false"}

# A statement, or rows of an operation that Canal has; NULL stands for any other document.
KNOWN = "m.isDdl OR (m.type IN ('INSERT', 'UPDATE', 'DELETE') AND size(m.data) > 0)"

CHANGE = {
    "row": "0",
    "kind": "CASE WHEN m.type IS NULL THEN 'CORRUPT' WHEN m.isDdl THEN 'DDL' ELSE 'ROW' END",
    "op": "if(m.isDdl, NULL, m.type)",
    "database": "m.database",
    "table": "m.table",
    "keys": "m.pkNames",
    "before": "if(m.type = 'DELETE', m.data[0], m.old[0])",
    "after": "if(m.type = 'DELETE', NULL, m.data[0])",
    "sql": "m.sql",
    "error": "if(m.type IS NULL, 'no Canal-JSON message', NULL)",
}


def decode(records: DataFrame) -> DataFrame:
    """One row per message."""
    read = records.withColumn("m", F.from_json(F.col("value").cast("string"), MESSAGE, STRICT))
    known = read.withColumn("m", F.expr(f"if({KNOWN}, m, NULL)"))
    return known.select(
        "topic", "partition", "offset", *(F.expr(sql).alias(name) for name, sql in CHANGE.items())
    )
