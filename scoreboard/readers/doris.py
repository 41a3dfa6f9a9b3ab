"""Doris' connector for Flink."""

from __future__ import annotations

from typing import Final

from scoreboard.readers.claims import INTEGERS, LABELS, REALS, SNAPSHOTS, TEXTS
from scoreboard.readers.reader import Reader, jars

_RELEASE: Final = "25.0.0"
DORIS: Final = Reader(
    "doris",
    "Apache Doris: JsonDebeziumSchemaSerializer of its Flink connector",
    _RELEASE,
    {
        "debezium-json": {
            "types": (*INTEGERS, "bigint", *REALS, *TEXTS, *LABELS[:1], "year", "uuid"),
            "profiles": ("*+schemaless", "*+schemaless+[!b]*"),
            "conventions": SNAPSHOTS,
        },
    },
    "org.apache.doris.flink.sink.writer.serializer.JsonDebeziumSchemaSerializer as DatabaseSync builds it: tables by "
    "tableMapping, options with their defaults (sink.ignore.update-before=true, sink.enable-delete=true)",
    f"https://github.com/apache/doris-flink-connector/blob/{_RELEASE}/flink-doris-connector/src/main/java/org/apache/doris/flink/tools"
    "/cdc/DatabaseSync.java#L334-L347",
    "It makes lines of JSON for Stream Load, which Doris reads by the types of its columns: only types are claimed whose JSON "
    "value is the value, in messages without schemas. There is no image before an UPDATE (its default).",
    jars(
        "doris",
        "Doris' Flink connector",
        "26 jars, 67 MB",
        "flink-doris-connector",
        ("org.apache.doris", "flink-doris-connector-1.20", _RELEASE),
        ("org.apache.flink", "flink-core", "1.20.4"),
        ("org.apache.flink", "flink-table-common", "1.20.4"),
        ("org.apache.flink", "flink-connector-base", "1.20.4"),
    ),
    "doris.DorisReader",
)
