"""SeaTunnel's formats."""

from __future__ import annotations

from typing import Final

from scoreboard.readers.claims import LABELS, MYSQL_TYPES, POSTGRESQL_TYPES, SNAPSHOTS, STOPS, UNCOMPRESSED
from scoreboard.readers.reader import Reader, jars

_SEATUNNEL_RELEASE: Final = "2.3.8"
SEATUNNEL: Final = Reader(
    "seatunnel",
    "Apache SeaTunnel: formats canal_json and debezium_json",
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
    f"https://github.com/apache/seatunnel/tree/{_SEATUNNEL_RELEASE}/seatunnel-formats/seatunnel-format-json",
    "The table is declared by the type mapping that SeaTunnel documents for MySQL-CDC, but TINYINT(1) as TINYINT, and BIT(n) of "
    "Canal as a number. ENUM and SET of Canal are not claimed: SeaTunnel has no type for an index. TIMESTAMP is a wall clock: it "
    "is taken in the source's time zone, in UTC for Debezium. canal_json.database.include and canal_json.table.include name the "
    "table; debezium_json has no such option: the user names the table's topic. debezium_record_include_schema is set as the "
    "message needs it. Parse errors are not ignored, which is the documented default. SeaTunnel's Kafka source always ignores "
    "them (KafkaSourceConfig.java, lines 262 to 286): there a message that is refused here is dropped, or a cell of it is NULL.",
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
