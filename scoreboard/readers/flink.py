"""Flink's table formats."""

from __future__ import annotations

from typing import Final

from scoreboard.readers.base import Reader, jars
from scoreboard.readers.claims import LABELS, MYSQL, POSTGRESQL, UNCOMPRESSED, WITH_SCHEMA

FLINK_RELEASE: Final = "2.2.0"
_FLINK: Final = "org.apache.flink"
_FLINK_BUNDLE: Final = jars(
    "flink-2.2.0",
    "Flink",
    "48 jars, 87 MB",
    "flink-json-",
    *((_FLINK, name, FLINK_RELEASE) for name in ("flink-json", "flink-table-common", "flink-table-runtime", "flink-core")),
)
_FLINK_SOURCE: Final = "https://github.com/apache/flink/tree/release-2.2.0/flink-formats/flink-json"
_FLINK_TYPES: Final = (
    "Columns are declared as the documentation of Flink CDC maps MySQL and PostgreSQL: BOOLEAN, TINYINT(1) and BIT(1) are"
    " BOOLEAN,"
    " BINARY and BLOB are BYTES, DECIMAL above 38 digits, ENUM and JSON are STRING; but SET is STRING. "
)
_FLINK_DEBEZIUM: Final = (
    "Of Debezium the topic of the table is read; of CloudCanal the rows whose metadata columns source.database and"
    " source.table name"
    " the table. Option timestamp-format.standard is ISO-8601 for Debezium, so that TIMESTAMP can be TIMESTAMP_LTZ; bits,"
    " which are"
    " bytes there, are not claimed."
)
_DEBEZIUM_TYPES: Final = (*MYSQL, *LABELS, *POSTGRESQL)
FLINK: Final = (
    Reader(
        "flink",
        "Flink SQL, canal-json and debezium-json",
        FLINK_RELEASE,
        {
            "alibaba-canal-json": {"types": (*MYSQL, "bit")},
            "ticdc-canal-json": {"types": (*MYSQL, "bit"), "profiles": UNCOMPRESSED},
            "cloudcanal-canal-json": {"types": (*MYSQL, "bit")},
            "cloudcanal-debezium": {"types": (*MYSQL, *LABELS), "profiles": ("2022", "2022+sample")},
            "debezium-json": {
                "types": _DEBEZIUM_TYPES,
                "conventions": ("read-as-insert",),
                "profiles": WITH_SCHEMA,
            },
        },
        _FLINK_SOURCE,
        _FLINK_TYPES
        + "Of Canal, BIT above one bit is BIGINT or DECIMAL(20,0); ENUM and SET are numbers, which that mapping lacks, and"
        " are not"
        " claimed; TIMESTAMP, a wall clock, is cast to an instant in the server's zone, as table.local-time-zone does. Options"
        " database.include and table.include name the table. " + _FLINK_DEBEZIUM,
        _FLINK_BUNDLE,
        "flink.FlinkReader",
    ),
    Reader(
        "flink-schemaless",
        "Flink SQL, debezium-json without schemas",
        FLINK_RELEASE,
        {
            "cloudcanal-debezium": {"types": (*MYSQL, *LABELS), "profiles": ("2022+schemaless",)},
            "debezium-json": {"types": _DEBEZIUM_TYPES, "conventions": ("read-as-insert",), "profiles": ("*+schemaless*",)},
        },
        _FLINK_SOURCE,
        _FLINK_TYPES + _FLINK_DEBEZIUM,
        _FLINK_BUNDLE,
        "flink.FlinkReader$Schemaless",
    ),
)
