"""Flink's table formats."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scoreboard.readers.claims import BINARIES, INTEGERS, LABELS, MYSQL, POSTGRESQL, REALS, TEXTS, UNCOMPRESSED
from scoreboard.readers.reader import Reader, jars

FLINK_RELEASE: Final = "2.3.0"
_FLINK: Final = "org.apache.flink"


def _modules(name: str) -> list[tuple[str, str, str]]:
    """A module of Flink's formats, with those that a table needs."""
    return [(_FLINK, one, FLINK_RELEASE) for one in (name, "flink-table-common", "flink-table-runtime", "flink-core")]


_FLINK_BUNDLE: Final = jars("flink-2.3.0", "Flink", "48 jars, 87 MB", "flink-json-", *_modules("flink-json"))
_FLINK_SOURCE: Final = (
    "https://github.com/apache/flink/blob/release-2.3.0/flink-formats/flink-json/src/main/java/org/apache/flink/formats/json"
)
_FLINK_TYPES: Final = (
    "Columns are declared by the types that hold their values; no document of these formats maps a database's types. BINARY and"
    " BLOB are BYTES; DECIMAL above 38 digits, ENUM, SET and JSON are STRING. "
)
_FLINK_DEBEZIUM: Final = (
    "The topic of the table is read. Option timestamp-format.standard is ISO-8601, so that TIMESTAMP can be TIMESTAMP_LTZ;"
    " bits, which are bytes here, are not claimed, nor hex and URL-safe base64, which BYTES is not."
)
_WITH_SCHEMA: Final = ("3.5.0.Final", "3.5.0.Final+postgresql", "2.5.*", "1.9.*", "1.4.0.Final+*")
_SCHEMALESS: Final = ("*+schemaless", "*+schemaless+[!b]*")
_DEBEZIUM_TYPES: Final = (*MYSQL, *LABELS, *POSTGRESQL)
_AVRO_TYPES: Final = (
    *(*INTEGERS, "bigint", "decimal*", *REALS, *TEXTS, *BINARIES),
    *(*LABELS, "json", "jsonb", "date", "boolean", "uuid"),
)
_CDL_TYPES: Final = (*(name for name in _DEBEZIUM_TYPES if name != "timestamp*"), "timestamptz")
_CANAL: Final = Reader(
    "flink-canal",
    "Flink SQL, canal-json",
    FLINK_RELEASE,
    {
        "alibaba-canal-json": {"types": (*MYSQL, "bit")},
        "ticdc-canal-json": {"types": (*MYSQL, "bit"), "profiles": UNCOMPRESSED},
        "cloudcanal-canal-json": {"types": (*MYSQL, "bit")},
    },
    "CanalJsonDeserializationSchema, made by CanalJsonFormatFactory; options database.include and table.include name the table",
    f"{_FLINK_SOURCE}/canal/CanalJsonFormatFactory.java#L66-L78",
    _FLINK_TYPES
    + "BIT is BIGINT or DECIMAL(20,0); ENUM and SET, which are numbers, are not claimed; TIMESTAMP, a wall clock, is cast to an"
    " instant in the server's zone, as table.local-time-zone does.",
    _FLINK_BUNDLE,
    "flink.FlinkReader",
    {"format": "canal-json"},
    faults="flink",
)
_DEBEZIUM: Final = Reader(
    "flink-debezium",
    "Flink SQL, debezium-json with schema-include",
    FLINK_RELEASE,
    {
        "debezium-json": {"types": _DEBEZIUM_TYPES, "conventions": ("read-as-insert",), "profiles": _WITH_SCHEMA},
        "huawei-cdl-debezium": {"types": _CDL_TYPES, "conventions": ("read-as-insert",)},
    },
    "DebeziumJsonDeserializationSchema, made by DebeziumJsonFormatFactory with schema-include=true",
    f"{_FLINK_SOURCE}/debezium/DebeziumJsonFormatFactory.java#L63-L77",
    _FLINK_TYPES
    + _FLINK_DEBEZIUM
    + " CDL's topic holds all tables: of it the rows are kept whose metadata columns source.database, source.schema and"
    " source.table name the table; timestamps without a zone, whose text no document of CDL shows, are not claimed.",
    _FLINK_BUNDLE,
    "flink.FlinkReader",
    {"format": "debezium-json", "schema-include": "true"},
    faults="flink",
)
_PLAIN: Final = replace(
    _DEBEZIUM,
    name="flink-schemaless",
    title="Flink SQL, debezium-json without schemas",
    formats={
        "cloudcanal-debezium": {"types": (*MYSQL, *LABELS), "profiles": ("2022+schemaless",)},
        "debezium-json": {"types": _DEBEZIUM_TYPES, "conventions": ("read-as-insert",), "profiles": _SCHEMALESS},
    },
    built="DebeziumJsonDeserializationSchema, made by DebeziumJsonFormatFactory with its defaults",
    note=_FLINK_TYPES
    + _FLINK_DEBEZIUM
    + " CloudCanal's topic holds all tables: of it the rows are kept whose metadata columns source.database and"
    " source.table name the table, and the timestamp format is SQL.",
    settings={"format": "debezium-json"},
)
_MAXWELL: Final = Reader(
    "flink-maxwell",
    "Flink SQL, maxwell-json",
    FLINK_RELEASE,
    {"maxwell-json": {"types": (*MYSQL, "bit", "enum")}},
    "MaxwellJsonDeserializationSchema, made by MaxwellJsonFormatFactory with its defaults",
    f"{_FLINK_SOURCE}/maxwell/MaxwellJsonFormatFactory.java#L63-L74",
    _FLINK_TYPES + "BIT is BIGINT or DECIMAL(20,0); SET, which is a list, is not claimed. Each table has a topic (Maxwell's"
    " kafka_topic=%{database}_%{table}): the messages are given that name the table.",
    _FLINK_BUNDLE,
    "flink.FlinkReader",
    {"format": "maxwell-json"},
    faults="flink",
)
_OGG: Final = replace(
    _MAXWELL,
    name="flink-ogg",
    title="Flink SQL, ogg-json",
    formats={"ogg-json": {"types": MYSQL}},
    built="OggJsonDeserializationSchema, made by OggJsonFormatFactory with its defaults",
    source=f"{_FLINK_SOURCE}/ogg/OggJsonFormatFactory.java#L73-L86",
    note=_FLINK_TYPES + "Each table has a topic (GoldenGate's topicMappingTemplate): the messages are given that name the table.",
    settings={"format": "ogg-json"},
)
_REGISTRY: Final = "flink-sql-avro-confluent-registry"
_AVRO: Final = Reader(
    "flink-avro",
    "Flink SQL with a schema registry, debezium-avro-confluent",
    FLINK_RELEASE,
    {
        "debezium-avro": {
            "types": _AVRO_TYPES,
            "conventions": ("read-as-insert",),
            "profiles": ("3.5.0.Final", "3.5.0.Final+postgresql", "2.5.*", "1.9.*"),
        }
    },
    "DebeziumAvroDeserializationSchema, made by DebeziumAvroFormatFactory with the registry's url",
    "https://github.com/apache/flink/blob/release-2.3.0/flink-formats/flink-avro-confluent-registry/src/main/java/org/apache/flink"
    "/formats/avro/registry/confluent/debezium/DebeziumAvroFormatFactory.java#L78-L103",
    f"{_FLINK_TYPES}FLOAT is DOUBLE, which it is in Avro up to 1.9. What is a bare number in Avro without a type of Flink's own"
    " (BIGINT UNSIGNED, TIME, DATETIME, bits) is neither declared nor claimed, nor TIMESTAMP, which is a text. The topic of the"
    " table is read; its columns are declared by the schema's names.",
    jars("flink-avro-2.3.0", "Flink's Avro", "50 jars, 75 MB", f"{_REGISTRY}-", *_modules(_REGISTRY)),
    "flink.FlinkReader",
    {"format": "debezium-avro-confluent"},
)
"""Flink's debezium-avro-confluent, which has no option ignore-parse-errors."""


def _ignoring(reader: Reader) -> Reader:
    """The same with the option by which a job goes on behind a message that cannot be read."""
    option = "ignore-parse-errors"
    changes = {"name": f"{reader.name}-ignore", "title": f"{reader.title}, {option}", "built": f"{reader.built}; {option}=true"}
    return replace(reader, **changes, settings={**reader.settings, option: "true"})  # type: ignore[arg-type]


_JSON: Final = (_CANAL, _DEBEZIUM, _PLAIN, _MAXWELL, _OGG)
FLINK: Final = (*(one for reader in _JSON for one in (reader, _ignoring(reader))), _AVRO)
