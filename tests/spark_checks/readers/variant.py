"""A VARIANT of the message, its members by their paths."""

from pyspark.sql import DataFrame

CAPABILITIES = {"kinds": ["ROW"]}


def decode(records: DataFrame) -> DataFrame:
    parsed = records.selectExpr("*", "try_parse_json(CAST(value AS string)) AS v")
    member = "variant_get(v, '$.{}', '{}')".format
    return parsed.selectExpr(
        *("topic", "partition", "offset", "0 AS row", "'ROW' AS kind"),
        f"decode({member('type', 'string')}, 'insert', 'INSERT', 'update', 'UPDATE', 'delete',"
        " 'DELETE', 'bootstrap-insert', 'READ') AS op",
        f"{member('database', 'string')} AS database",
        f"{member('table', 'string')} AS table",
        f"{member('primary_key_columns', 'array<string>')} AS keys",
        f"{member('position', 'string')} AS position",
        f"timestamp_seconds({member('ts', 'bigint')}) AS commit_time",
        f"CASE {member('type', 'string')} WHEN 'delete' THEN {member('data', 'map<string,string>')}"
        f" WHEN 'update' THEN {member('old', 'map<string,string>')} END AS before",
        f"CASE WHEN {member('type', 'string')} <> 'delete' THEN"
        f" {member('data', 'map<string,string>')} END AS after",
        *("CAST(NULL AS string) AS sql", "CAST(NULL AS string) AS error"),
    )
