"""The readers of the scoreboard, as data: release, jars, adapter, formats, and what each claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from conformance.brokers.jars import LOGGING, Bundle

JACKSON: Final = ("com.fasterxml.jackson.core", "jackson-databind", "2.18.2")
"""What the adapters write the protocol with, beside the reader's own (often relocated) copy."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader at a release. `formats` maps each of our formats that it claims to its capabilities there.

    A Java reader has `bundle`, its jars, and `factory`, the class in `java/` that opens it; a Spark reader has `module`, a
    function in `spark/` whose module tells its capabilities. `source` is the address of its source at the release, `note` what
    the adapter had to choose.
    """

    name: str
    title: str
    release: str
    formats: Mapping[str, Mapping[str, tuple[str, ...]]]
    source: str
    note: str
    bundle: Bundle | None = None
    factory: str = ""
    module: str = ""
    options: tuple[str, ...] = ()
    faults: str = ""

    @property
    def record(self) -> str:
        """The file of its proved faults; several readers may share one."""
        return self.faults or self.name


def _jars(name: str, title: str, size: str, main: str, *modules: tuple[str, str, str], without: tuple[str, ...] = ()) -> Bundle:
    return Bundle(f"scoreboard-{name}", title, (*modules, JACKSON, LOGGING), main, size, without)


_SPARK: Final = "4.0.0"
_SPARK_SOURCE: Final = "https://github.com/apache/spark/tree/v4.0.0"


def _spark(way: str, title: str, module: str, *formats: str) -> Reader:
    return Reader(
        f"spark-{way}",
        f"Spark: {title}",
        _SPARK,
        {fmt: {} for fmt in formats},
        _SPARK_SOURCE,
        "A few lines of PySpark as guides show them, with the table's types that the harness offers and try_cast.",
        module=module,
        faults=f"spark-{way.partition('-')[0]}",
    )


_CANALS: Final = ("alibaba-canal-json", "ticdc-canal-json")

SPARK: Final = (
    _spark("canal-explode", "from_json and posexplode", "canal.py:decode_rows_explode", *_CANALS),
    _spark("canal-zip", "from_json, arrays_zip and posexplode", "canal.py:decode_rows_zip", *_CANALS),
    _spark("canal-get-json-object", "get_json_object", "canal.py:decode_rows_get_json_object", *_CANALS),
    _spark("canal-variant", "VARIANT", "canal.py:decode_rows_variant", *_CANALS),
    _spark("debezium-typed", "from_json with the table's types", "debezium.py:decode_rows_typed", "debezium-json"),
    _spark("debezium-get-json-object", "get_json_object", "debezium.py:decode_rows_get_json_object", "debezium-json"),
)

_INTEGERS: Final = ("tinyint*", "smallint*", "mediumint*", "int", "int unsigned", "integer")
_REALS: Final = ("float*", "double*", "real")
_TEXTS: Final = ("char", "varchar", "*text")
_BINARIES: Final = ("binary", "varbinary", "*blob", "bytea")
_TIMES: Final = ("date", "datetime", "timestamp*", "time")
_MYSQL: Final = (*_INTEGERS, "bigint*", "decimal*", *_REALS, *_TEXTS, "json", *_BINARIES, *_TIMES, "year")
_LABELS: Final = ("enum", "set")
_POSTGRESQL: Final = ("numeric", "boolean", "uuid", "jsonb")

FLINK_RELEASE: Final = "2.2.0"
_FLINK: Final = "org.apache.flink"
_FLINK_BUNDLE: Final = _jars(
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
_UNCOMPRESSED: Final = ("*[!y4]", "*[!p]y", "*[!z]4")
"""TiCDC's profiles but those that end in snappy or lz4."""
_WITH_SCHEMA: Final = (
    *("3.5.0.Final", "3.5.0.Final+mariadb", "3.5.0.Final+mariadb+[!s]*", "3.5.0.Final+mariadb+string*", "3.5.0.Final+double*"),
    *("*+postgresql", "*+postgresql+[!fs]*", "*+postgresql+string*", "*+postgresql+full", "*+postgresql+full+no-tombstone"),
    *("2.5.*", "1.9.*", "1.4.0.Final", "1.4.0.Final+legacy*"),
)
"""Debezium's profiles but those with the option schemaless."""
_DEBEZIUM_TYPES: Final = (*_MYSQL, *_LABELS, *_POSTGRESQL)
FLINK: Final = (
    Reader(
        "flink",
        "Flink SQL, canal-json and debezium-json",
        FLINK_RELEASE,
        {
            "alibaba-canal-json": {"types": (*_MYSQL, "bit")},
            "ticdc-canal-json": {"types": (*_MYSQL, "bit"), "profiles": _UNCOMPRESSED},
            "cloudcanal-canal-json": {"types": (*_MYSQL, "bit")},
            "cloudcanal-debezium": {"types": (*_MYSQL, *_LABELS), "profiles": ("2022", "2022+sample")},
            "debezium-json": {
                "types": _DEBEZIUM_TYPES,
                "conventions": ("read-as-insert",),
                "profiles": _WITH_SCHEMA,
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
            "cloudcanal-debezium": {"types": (*_MYSQL, *_LABELS), "profiles": ("2022+schemaless",)},
            "debezium-json": {"types": _DEBEZIUM_TYPES, "conventions": ("read-as-insert",), "profiles": ("*+schemaless*",)},
        },
        _FLINK_SOURCE,
        _FLINK_TYPES + _FLINK_DEBEZIUM,
        _FLINK_BUNDLE,
        "flink.FlinkReader$Schemaless",
    ),
)

CONNECT_RELEASE: Final = "4.1.1"
_CONNECT_SOURCE: Final = "https://github.com/apache/kafka/tree/4.1.1/connect/json"
_CONNECT_NOTE: Final = (
    "The converter with its defaults; the adapter reads op, before and after of the envelope, from the topic of the table."
    " Connect's"
    " own logical types are kept. Those of Debezium (io.debezium.*) are not Connect's: only types whose physical value is the"
    " value"
)
_CONNECT_BUNDLE: Final = _jars(
    "connect-4.1.1", "Kafka Connect", "14 jars, 23 MB", "connect-json-", ("org.apache.kafka", "connect-json", CONNECT_RELEASE)
)
_CONNECT_TYPES: Final = (*_INTEGERS, "bigint", *_REALS, *_TEXTS, "json", "jsonb", "year", "set", "boolean")
CONNECT: Final = (
    Reader(
        "connect",
        "Kafka Connect, JsonConverter",
        CONNECT_RELEASE,
        {
            "debezium-json": {
                "types": (*_CONNECT_TYPES, "decimal*", *_BINARIES),
                "profiles": (
                    *("3.5.0.Final", "3.5.0.Final+mariadb", "3.5.0.Final+mariadb+[!bs]*", "2.5.*", "1.9.*", "1.4.0.Final"),
                    *("*+postgresql", "*+postgresql+[!bfs]*", "*+postgresql+full", "*+postgresql+full+no-tombstone"),
                ),
            },
        },
        _CONNECT_SOURCE,
        f"{_CONNECT_NOTE} are claimed, and of Debezium the defaults for decimals and binaries.",
        _CONNECT_BUNDLE,
        "connect.ConnectReader",
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
        _CONNECT_SOURCE,
        f"{_CONNECT_NOTE} are claimed, and dates and times, which are Connect's under this option of Debezium.",
        _CONNECT_BUNDLE,
        "connect.ConnectReader",
    ),
)

READERS: Final[tuple[Reader, ...]] = (*FLINK, *CONNECT, *SPARK)


def named(name: str) -> Reader:
    """The reader of that name. Raises UnknownName."""
    from generators.errors import UnknownName

    for reader in READERS:
        if reader.name == name:
            return reader
    raise UnknownName("reader", name, [reader.name for reader in READERS])
