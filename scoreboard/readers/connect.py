"""Kafka Connect's converter."""

from __future__ import annotations

from typing import Final

from scoreboard.readers.claims import BINARIES, INTEGERS, REALS, TEXTS
from scoreboard.readers.reader import Reader, jars

CONNECT_RELEASE: Final = "4.3.1"
_CONNECT_SOURCE: Final = "https://github.com/apache/kafka/blob/4.3.1/connect/runtime/src/main/java/org/apache/kafka/connect/runtime/isolation/Plugins.java"
_CONNECT_BUILT: Final = "org.apache.kafka.connect.json.JsonConverter as a worker configures it, schemas.enable=true (its default)"
_CONNECT_NOTE: Final = (
    "The converter with its defaults; the adapter reads op, before and after of the envelope, from the topic of the table."
    " Connect's own logical types are kept. The placeholder for a large value that was not sent is Debezium's: it is not asked."
    " Debezium's types (io.debezium.*) are not Connect's: only types whose physical value is the value"
)
_CONNECT_BUNDLE: Final = jars(
    "connect-4.3.1", "Kafka Connect", "14 jars, 23 MB", "connect-json-", ("org.apache.kafka", "connect-json", CONNECT_RELEASE)
)
_CONNECT_TYPES: Final = (*INTEGERS, "bigint", *REALS, *TEXTS, "json", "jsonb", "year", "set", "boolean")
CONNECT: Final = (
    Reader(
        "connect",
        "Kafka Connect, JsonConverter",
        CONNECT_RELEASE,
        {
            "debezium-json": {
                "types": (*_CONNECT_TYPES, "decimal*", *BINARIES),
                "profiles": (
                    *("3.5.0.Final", "3.5.0.Final+mariadb", "3.5.0.Final+mariadb+[!bs]*", "2.5.*", "1.9.*", "1.4.0.Final"),
                    *("*+postgresql", "*+postgresql+[!bfs]*", "*+postgresql+full", "*+postgresql+full+no-tombstone"),
                ),
            },
        },
        _CONNECT_BUILT,
        _CONNECT_SOURCE,
        f"{_CONNECT_NOTE} are claimed, and of Debezium the defaults for decimals and binaries.",
        _CONNECT_BUNDLE,
        "connect.ConnectReader",
        options=("--exclude", "*/toast*"),
    ),
    Reader(
        "connect-times",
        "Kafka Connect, JsonConverter, time.precision.mode connect",
        CONNECT_RELEASE,
        {
            "debezium-json": {
                "types": (*_CONNECT_TYPES, "date", "datetime", "time"),
                "profiles": ("1.4.0.Final+legacy*", "3.5.0.Final+mariadb+connect", "3.5.0.Final+postgresql+connect"),
            },
        },
        _CONNECT_BUILT,
        _CONNECT_SOURCE,
        f"{_CONNECT_NOTE} are claimed, and dates and times, which are Connect's under this option of Debezium.",
        _CONNECT_BUNDLE,
        "connect.ConnectReader",
        options=("--exclude", "*/toast*"),
        faults="connect",
    ),
)
