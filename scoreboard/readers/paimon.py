"""Paimon's ingestion."""

from __future__ import annotations

from typing import Final

from scoreboard.readers.claims import INTEGERS, LABELS, MYSQL_TYPES, POSTGRESQL_TYPES, SNAPSHOTS, STOPS, TEXTS, UNCOMPRESSED
from scoreboard.readers.reader import Reader, jars

_PAIMON_RELEASE: Final = "1.3.1"
_DEBEZIUM: Final = ("1.9.*", "2.5.*", "3.5.0.Final", "*.Final+postgresql", "*.Final+postgresql+[!sfb]*")
"""Profiles with a schema block in which numbers, bytes and times are not sent as text."""
_BUILT: Final = (
    "org.apache.paimon.flink.action.cdc.kafka.KafkaDebeziumJsonDeserializationSchema on key and value, then the format's record "
    "parser with type_mapping tinyint1-not-bool"
)
_SOURCE: Final = (
    f"https://github.com/apache/paimon/blob/release-{_PAIMON_RELEASE}/paimon-flink/paimon-flink-cdc/src/main/java/org/apache/paimon"
    "/flink/action/cdc/format/AbstractJsonDataFormat.java#L37-L40"
)
_BUNDLE: Final = jars(
    "paimon",
    "Paimon's CDC ingestion",
    "about 20 jars, 60 MB",
    "paimon-flink",
    ("org.apache.paimon", "paimon-flink-1.20", _PAIMON_RELEASE),
    ("org.apache.flink", "flink-core", "1.20.1"),
    ("org.apache.flink", "flink-sql-connector-kafka", "3.2.0-1.19"),
    ("org.apache.avro", "avro", "1.11.4"),
    without=("paimon-bundle", "paimon-service-client", "paimon-service-runtime", "kryo", "commons-compress"),
)
_CASTS: Final = (
    "A row that cannot be cast to the table's types stops the job and is reported as refused. The DELETE and the INSERT of one "
    "UPDATE are reported as an UPDATE. "
)
_WITH_SCHEMA: Final = Reader(
    "paimon",
    "Apache Paimon: CDC ingestion from Kafka",
    _PAIMON_RELEASE,
    {
        "alibaba-canal-json": {"types": (*MYSQL_TYPES, *LABELS), "conventions": STOPS},
        "ticdc-canal-json": {
            "types": (*MYSQL_TYPES, *LABELS),
            "profiles": UNCOMPRESSED,
            "conventions": STOPS,
        },
        "debezium-json": {
            "types": (*MYSQL_TYPES, *LABELS, *POSTGRESQL_TYPES),
            "profiles": _DEBEZIUM,
            "conventions": SNAPSHOTS,
        },
    },
    _BUILT,
    _SOURCE,
    "The table is the one that kafka_sync_table creates: the parser takes the types from mysqlType or from Debezium's schema "
    "block, with the option tinyint1-not-bool, which the documentation gives for numbers. Messages without a schema block are "
    "judged apart; Debezium's modes that send decimals, bytes or times as text, which are STRING columns, are not claimed. "
    f"{_CASTS}Rows of other "
    "tables of a Canal topic are dropped by the names that the parser gives, as kafka_sync_database does; for Debezium the user "
    "names the table's topic. TIMESTAMP is a wall clock: it is taken in the source's time zone, in UTC for Debezium. A recorded "
    "table is not asked whose column is BINARY, but char(8) in Canal's mysqlType: its statement said CHARACTER SET binary; nor "
    "texts that a wrong connectionCharset of Canal made longer than their columns.",
    _BUNDLE,
    "paimon.PaimonReader$Factory",
    options=("--exclude", "*/recorded/*/h_live.t_bin/*", "--exclude", "*/recorded/gbk-*/*.t_str/*"),
)
_SCHEMALESS: Final = Reader(
    "paimon-schemaless",
    "Apache Paimon: CDC ingestion from Kafka, without schemas",
    _PAIMON_RELEASE,
    {
        "debezium-json": {
            "types": (*INTEGERS[1:], "bigint", "year", *TEXTS, *LABELS, "uuid"),
            "profiles": ("*+schemaless", "*+schemaless+*"),
            "conventions": SNAPSHOTS,
        },
    },
    _BUILT,
    _SOURCE,
    "Messages without a schema block: the documentation says that all columns are STRING then. Only types whose text is the "
    "value are claimed: integers but TINYINT, which may be true and false, texts and labels; cells of a wrong type, which a "
    f"STRING cannot refuse, are not asked. {_CASTS}The user names the table's topic.",
    _BUNDLE,
    "paimon.PaimonReader$Factory",
    options=("--exclude", "*/fault/cell-*"),
    faults="paimon",
)
PAIMON: Final = (_WITH_SCHEMA, _SCHEMALESS)
