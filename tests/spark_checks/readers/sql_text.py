"""A statement over a view, as it would stand in a notebook's SQL cell."""

from pyspark.sql import DataFrame

CAPABILITIES = {"kinds": ["ROW"]}
STATEMENT = """
    WITH texts AS (SELECT topic, partition, offset, CAST(value AS string) AS json FROM {records}),
    messages AS (
        SELECT *, from_json(json, 'type string, database string, `table` string, ts bigint,
            position string, primary_key_columns array<string>, data map<string,string>,
            old map<string,string>') AS m
        FROM texts
    )
    SELECT topic, partition, offset, 0 AS row, 'ROW' AS kind,
        CASE m.type WHEN 'bootstrap-insert' THEN 'READ' ELSE upper(m.type) END AS op,
        m.database, m.`table`, m.primary_key_columns AS keys, m.position,
        timestamp_seconds(m.ts) AS commit_time,
        CASE m.type WHEN 'update' THEN m.old WHEN 'delete' THEN m.data END AS before,
        CASE WHEN m.type <> 'delete' THEN m.data END AS after,
        CAST(NULL AS string) AS sql, CAST(NULL AS string) AS error
    FROM messages
"""


def decode(records: DataFrame) -> DataFrame:
    return records.sparkSession.sql(STATEMENT, records=records)
