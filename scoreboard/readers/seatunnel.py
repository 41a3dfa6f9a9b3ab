"""SeaTunnel's formats."""

from __future__ import annotations

from typing import Final

from scoreboard.readers.claims import LABELS, MYSQL_TYPES, POSTGRESQL_TYPES, SNAPSHOTS, STOPS, UNCOMPRESSED
from scoreboard.readers.reader import Reader, jars

_SEATUNNEL_RELEASE: Final = "2.3.8"
SEATUNNEL: Final = Reader(
    "seatunnel",
    "Apache SeaTunnel: Kafka source, canal_json and debezium_json",
    _SEATUNNEL_RELEASE,
    {
        "alibaba-canal-json": {"types": MYSQL_TYPES, "conventions": STOPS},
        "ticdc-canal-json": {"types": MYSQL_TYPES, "profiles": UNCOMPRESSED, "conventions": STOPS},
        "debezium-json": {
            "types": (*MYSQL_TYPES, *LABELS, *POSTGRESQL_TYPES),
            "profiles": ("?*",),
            "conventions": SNAPSHOTS,
        },
    },
    "CanalJsonDeserializationSchema and DebeziumJsonDeserializationSchema as the Kafka source builds them: parse errors are "
    "ignored (ignoreParseErrors=true), no database or table is named; debezium_record_include_schema as the message needs it",
    f"https://github.com/apache/seatunnel/blob/{_SEATUNNEL_RELEASE}/seatunnel-connectors-v2/connector-kafka/src/main/java/org/apache"
    "/seatunnel/connectors/seatunnel/kafka/source/KafkaSourceConfig.java#L263-L286",
    "The table is declared by the type mapping that SeaTunnel documents for MySQL-CDC, but TINYINT(1) as TINYINT, and BIT of "
    "Canal as a number. ENUM and SET of Canal are not claimed: SeaTunnel has no type for an index. TIMESTAMP is a wall clock: it "
    "is taken in the source's time zone, in UTC for Debezium. Canal's topic is the one of the harness, which holds messages of "
    "other tables, too; of Debezium the user names the table's topic.",
    jars(
        "seatunnel",
        "SeaTunnel's JSON formats",
        "about 30 jars, 14 MB",
        "seatunnel-format-json",
        ("org.apache.seatunnel", "seatunnel-format-json", _SEATUNNEL_RELEASE),
        ("org.apache.seatunnel", "seatunnel-api", _SEATUNNEL_RELEASE),
        without=("log4j-slf4j-impl", "log4j-core", "log4j-api", "log4j-1.2-api", "jcl-over-slf4j", "scala-library"),
    ),
    "seatunnel.SeaTunnelReader$Factory",
)
