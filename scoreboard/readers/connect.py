"""Kafka Connect's converter."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scoreboard.readers.claims import BINARIES, INTEGERS, REALS, TEXTS
from scoreboard.readers.reader import Reader, jars

CONNECT_RELEASE: Final = "4.3.1"
_CONNECT_SOURCE: Final = "https://github.com/apache/kafka/blob/4.3.1/connect/json/src/main/java/org/apache/kafka/connect/json/JsonConverterConfig.java#L35"
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
_JSON: Final = (
    Reader(
        "connect",
        "Kafka Connect, JsonConverter",
        CONNECT_RELEASE,
        {
            "debezium-json": {
                "types": (*_CONNECT_TYPES, "decimal*", *BINARIES),
                "profiles": ("3.5.0.Final", "2.5.*", "1.9.*", "*.Final+postgresql"),
            },
        },
        _CONNECT_BUILT,
        _CONNECT_SOURCE,
        f"{_CONNECT_NOTE} are claimed, and of Debezium the defaults for decimals and binaries.",
        _CONNECT_BUNDLE,
        "connect.ConnectReader",
        {"schemas.enable": "true"},
        options=("--exclude", "*/toast*"),
    ),
    Reader(
        "connect-times",
        "Kafka Connect, JsonConverter, time.precision.mode connect",
        CONNECT_RELEASE,
        {
            "debezium-json": {
                "types": (*_CONNECT_TYPES, "date", "datetime", "time"),
                "profiles": ("1.4.0.Final+legacy*",),
            },
        },
        _CONNECT_BUILT,
        _CONNECT_SOURCE,
        f"{_CONNECT_NOTE} are claimed, and dates and times, which are Connect's under this option of Debezium.",
        _CONNECT_BUNDLE,
        "connect.ConnectReader",
        {"schemas.enable": "true"},
        options=("--exclude", "*/toast*"),
        faults="connect",
    ),
)
_ICEBERG: Final = "1.12.0"
_TRANSFORM: Final = "org.apache.iceberg.connect.transforms.DebeziumTransform"
ICEBERG: Final = replace(
    _JSON[0],
    name="iceberg",
    title="Apache Iceberg: DebeziumTransform of its Kafka Connect sink",
    release=_ICEBERG,
    formats={"debezium-json": {**_JSON[0].formats["debezium-json"], "conventions": ("read-as-insert",)}},
    built=f"{_TRANSFORM} with its defaults, behind {_CONNECT_BUILT} and replace.null.with.default=false",
    source=(
        "https://github.com/apache/iceberg/blob/apache-iceberg-1.12.0/kafka-connect/kafka-connect-transforms/src/main/java/org/apache"
        "/iceberg/connect/transforms/DebeziumTransform.java#L65-L73"
    ),
    note=(
        "The row is the transform's, whose member _cdc.op is the operation; it has no image before an UPDATE."
        f" {_CONNECT_NOTE} are claimed."
    ),
    bundle=jars(
        f"iceberg-{_ICEBERG}",
        "Iceberg's transforms",
        "20 jars, 30 MB",
        "iceberg-kafka-connect-transforms-",
        ("org.apache.iceberg", "iceberg-kafka-connect-transforms", _ICEBERG),
        ("org.apache.kafka", "connect-json", CONNECT_RELEASE),
        ("org.apache.kafka", "connect-transforms", CONNECT_RELEASE),
    ),
    settings={"schemas.enable": "true", "replace.null.with.default": "false", "transform": _TRANSFORM},
    faults="iceberg",
)
CONNECT: Final = (*_JSON, ICEBERG)
