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


_MYSQL_TYPES: Final = (
    *("bit", "tinyint*", "smallint*", "mediumint*", "int*", "bigint*", "float*", "double*", "decimal*", "year"),
    *("date", "time", "datetime", "timestamp", "char", "varchar", "*text", "binary", "varbinary", "*blob", "json"),
)
_LABELLED: Final = ("enum", "set")
_POSTGRESQL_TYPES: Final = ("boolean", "real", "numeric", "money", "character*", "uuid", "jsonb", "bytea", "timestamptz")
_TICDC_UNCOMPRESSED: Final = (
    *("v5.3.4", "v5.4.3", "v6.5.1", "v6.5.11", "v7.1.6", "v8.5.7", "new-8.5.4", "new-8.5.6", "*+extension"),
    *("*+content-compatible", "*+only-updated", "*+handle-key-only", "*+claim-check", "*+delete-handle-key", "*+row-key"),
)
_WITH_SCHEMAS: Final = (
    *("1.4.0.Final", "1.4.0.Final+legacy-*", "1.9.7.Final+minimal", "2.5.4.Final+plain-key+*", "3.5.0.Final"),
    *("3.5.0.Final+double+*", "*.Final+mariadb", "*.Final+mariadb+string+*", "*.Final+mariadb+[!s]*"),
    *("*.Final+postgresql", "*.Final+postgresql+string+*", "*.Final+postgresql+[!fs]*"),
)
_STOPS: Final = ("stops-on-unreadable",)
_SNAPSHOTS: Final = ("read-as-insert", *_STOPS)

_SEATUNNEL_RELEASE: Final = "2.3.8"
SEATUNNEL: Final = Reader(
    "seatunnel",
    "Apache SeaTunnel: formats canal_json and debezium_json",
    _SEATUNNEL_RELEASE,
    {
        "alibaba-canal-json": {"types": _MYSQL_TYPES, "conventions": _STOPS},
        "ticdc-canal-json": {"types": _MYSQL_TYPES, "profiles": _TICDC_UNCOMPRESSED, "conventions": _STOPS},
        "debezium-json": {
            "types": (*_MYSQL_TYPES, *_LABELLED, *_POSTGRESQL_TYPES),
            "profiles": ("?*",),
            "conventions": _SNAPSHOTS,
        },
    },
    f"https://github.com/apache/seatunnel/tree/{_SEATUNNEL_RELEASE}/seatunnel-formats/seatunnel-format-json",
    "The table is declared by the type mapping that SeaTunnel documents for MySQL-CDC, but TINYINT(1) as TINYINT, and BIT(n) of "
    "Canal as a number. ENUM and SET of Canal are not claimed: SeaTunnel has no type for an index. TIMESTAMP is a wall clock: it "
    "is taken in the source's time zone, in UTC for Debezium. canal_json.database.include and canal_json.table.include name the "
    "table; debezium_json has no such option: the user names the table's topic. debezium_record_include_schema is set as the "
    "message needs it. Parse errors are not ignored, which is the documented default. SeaTunnel's Kafka source always ignores "
    "them (KafkaSourceConfig.java, lines 262 to 286): there a message that is refused here is dropped, or a cell of it is NULL.",
    _jars(
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

_PAIMON_RELEASE: Final = "1.3.1"
PAIMON: Final = Reader(
    "paimon",
    "Apache Paimon: CDC ingestion from Kafka",
    _PAIMON_RELEASE,
    {
        "alibaba-canal-json": {"types": (*_MYSQL_TYPES, *_LABELLED), "conventions": _STOPS},
        "ticdc-canal-json": {
            "types": (*_MYSQL_TYPES, *_LABELLED),
            "profiles": _TICDC_UNCOMPRESSED,
            "conventions": _STOPS,
        },
        "debezium-json": {
            "types": (*_MYSQL_TYPES, *_LABELLED, *_POSTGRESQL_TYPES),
            "profiles": _WITH_SCHEMAS,
            "conventions": _SNAPSHOTS,
        },
    },
    f"https://github.com/apache/paimon/tree/release-{_PAIMON_RELEASE}/paimon-flink/paimon-flink-cdc",
    "The table is the one that kafka_sync_table creates: the parser takes the types from mysqlType or from Debezium's schema "
    "block, with the option tinyint1-not-bool, which the documentation gives for numbers. Messages without a schema block are "
    "not claimed: the documentation says that all their columns are STRING. A row that cannot be cast to the table's types "
    "stops the job and is reported as refused. The DELETE and the INSERT of one UPDATE are reported as an UPDATE. Rows of other "
    "tables are dropped by the names that the parser gives, as kafka_sync_database does. TIMESTAMP is a wall clock: it is taken "
    "in the source's time zone, in UTC for Debezium.",
    _jars(
        "paimon",
        "Paimon's CDC ingestion",
        "about 20 jars, 60 MB",
        "paimon-flink",
        ("org.apache.paimon", "paimon-flink-1.20", _PAIMON_RELEASE),
        ("org.apache.flink", "flink-core", "1.20.1"),
        without=("paimon-bundle", "paimon-service-client", "paimon-service-runtime", "kryo", "commons-compress"),
    ),
    "paimon.PaimonReader$Factory",
)

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

READERS: Final[tuple[Reader, ...]] = (PAIMON, SEATUNNEL, *SPARK)


def named(name: str) -> Reader:
    """The reader of that name. Raises UnknownName."""
    from generators.errors import UnknownName

    for reader in READERS:
        if reader.name == name:
            return reader
    raise UnknownName("reader", name, [reader.name for reader in READERS])
