"""The products that can be recorded, as data: their jars, their database, and how an option of a
profile is set.

Debezium runs in its embedded engine, Canal in its embedded server with its own Kafka producer.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from conformance.brokers import apicurio
from conformance.brokers.apicurio import EmbeddedRegistry
from conformance.brokers.jars import LOGGING, Bundle, Note
from conformance.brokers.registry import Remote
from generators.errors import UnknownName, UsageError
from generators.families import confluent
from generators.model import Message, RowChange, SchemaChange
from generators.profiles import Profile
from generators.wire_format import Format, get
from recorders import running
from recorders.databases import BINLOG, DATABASE, PUBLICATION, SLOT, USER, Database
from recorders.running import SENTINEL, ProducedRecord
from recorders.sql import Plan

TOPIC: Final = "cdc"

Record = TypeVar("Record", Message, ProducedRecord)
Prepared = tuple[Bundle, str, Mapping[str, str]]
"""What runs a product: its jars, the name of the Java program, and that program's properties."""


@dataclass(frozen=True, slots=True)
class Product:
    """A product that can be recorded. `format` is our format of its messages. `releases` begins
    with the default one; `refused` are options that cannot be recorded, with the reasons. `prepare`
    gives what runs the product on a database for a profile, `database` the options of the database
    server.

    `stops` are reasons for which the product stops or goes wrong. The keys are regular expressions
    for the beginning of a text such as `mysql table NAME`, `mysql column NAME`, `postgresql key
    NAME` or `mysql ddl ACTION`, before which a release or an option may stand.

    The system's server for MySQL's profiles is a MariaDB. `mariadb` are the releases that have an
    option of this name for it; `old` those that can read only an older server; `misled` those that
    take MariaDB's version number for MySQL's and then use statements that only MySQL 8.4 has;
    `postgresql` those of whose connectors the registry has PostgreSQL's alone.
    `field` gives the name that a column gets in the product's schemas: a table in which two columns
    get one name cannot be recorded.
    """

    name: str
    format: str
    releases: tuple[str, ...]
    refused: Mapping[str, str]
    prepare: Callable[[Any, Database], Prepared]
    database: Callable[[Any], Mapping[str, str]]
    stops: Mapping[str, str]
    mariadb: tuple[str, ...]
    old: tuple[str, ...] = ()
    misled: tuple[str, ...] = ()
    postgresql: tuple[str, ...] = ()
    field: Callable[[str], str] = str

    def server_options(self, release: str, options: tuple[str, ...]) -> tuple[str, ...]:
        """The options to add to a profile's `options`: `mariadb` where the server that is used, a
        MariaDB of the system, has messages of its own and the release has an option for them.
        Nothing where an option names the source already. "" is the default release.
        """
        sources = {"mariadb", "mysql", "postgresql"} & set(options)
        return () if sources or (release or self.releases[0]) not in self.mariadb else ("mariadb",)

    def stopped_by(self, profile: Profile, plan: Plan) -> str:
        """The reason why the product stops at, or goes wrong with, a statement, table, column or
        key of the plan (`stops`, and columns whose names become one); "" if there is none.
        """
        tables = {event.table for event in plan.history.events if isinstance(event, RowChange)}
        created_tables = {
            event.after
            for event in plan.history.events
            if isinstance(event, SchemaChange) and event.after
        }
        for table in tables | created_tables:
            fields = {self.field(column.name) for column in table.columns}
            if len(fields) < len(table.columns):
                return f"{self.name} stops: two columns have one name in its schema"
        actions = {
            f"{profile.source} ddl {event.action}"
            for event in plan.history.events
            if isinstance(event, SchemaChange)
        }
        subjects = set(actions)
        for table in tables:
            source = table.columns[0].type.source
            keys = (*table.primary_key, *itertools.chain(*table.unique))
            subjects.add(f"{source} table {table.name}")
            subjects.update(f"{source} column {column.name}" for column in table.columns)
            subjects.update(f"{source} key {column}" for column in keys)
        parts = (profile.release, *profile.options)
        subjects.update(
            [f"{part} {subject}" for part, subject in itertools.product(parts, subjects)]
        )
        for subject in subjects:
            for pattern, why in self.stops.items():
                if re.match(pattern, subject):
                    return why
        return ""

    @property
    def wire_format(self) -> Format[Any]:
        """The format of the product's messages."""
        return get(self.format)

    def profile(self, release: str, options: tuple[str, ...]) -> Profile:
        """The profile of a release with options; "" is the default release. Raises UnknownName, and
        UsageError for what cannot be recorded.
        """
        release = release or self.releases[0]
        if release not in self.releases:
            releases = [p.release for p in self.wire_format.profiles]
            if release in releases:
                raise UsageError(
                    f"{self.name} {release} cannot be recorded: {_UNRECORDED.get(self.name, '')}"
                )
            raise UnknownName("release", release, self.releases, of=self.name)
        for option in options:
            if option in self.refused:
                raise UsageError(
                    f"{self.name} with option {option} cannot be recorded: {self.refused[option]}"
                )
        if release in self.postgresql and "postgresql" not in options:
            raise UsageError(
                f"{self.name} {release} cannot be recorded without the option postgresql: of its"
                " connectors the registry has PostgreSQL's alone"
            )
        profile: Profile = self.wire_format.build(release, *options)
        return profile

    def record(
        self, profile: Profile, database: Database, note: Note, limit_s: int = running.LIMIT_S
    ) -> list[ProducedRecord]:
        """Runs the product on a database whose statements were executed before, and returns the
        records that it writes of them. A product that writes Avro gets a registry of schemas, and
        its records come back as JSON. Raises Stopped if the last record does not come within
        `limit_s` seconds.
        """
        bundle, program, properties = self.prepare(profile, database)
        if self.wire_format.container != "confluent":
            return running.run_product(program, bundle, properties, note, limit_s=limit_s)
        with EmbeddedRegistry(note) as registry:
            address = {
                f"{side}.converter.apicurio.registry.url": registry.api for side in ("key", "value")
            }
            records = running.run_product(
                program, bundle, {**properties, **address}, note, limit_s=limit_s
            )
            schemas = partial(_schema, Remote(registry.url), {})
            return [json_record(record, schemas) for record in records]


def _version(profile: Profile) -> tuple[int, int]:
    """The major and minor number of a release of the product, such as 3 and 5 of `3.5.0.Final`."""
    major, minor, *_ = profile.release.split(".")
    return int(major), int(minor)


def json_record(
    record: Record, schemas: confluent.SchemaOf = confluent.SCHEMAS.__getitem__
) -> Record:
    """A record of a format with a schema registry, whose key and value are turned from Avro into
    JSON, which an audit can compare. `schemas` gives a schema by its id.
    """
    key, value = (data and confluent.readable(data, schemas) for data in (record.key, record.value))
    return replace(record, key=key, value=value)


def _schema(
    registry: Remote, schemas: confluent.Schemas, number: int
) -> tuple[tuple[str, ...], str]:
    """The subjects and the text of the Avro schema with this id, fetched from a registry, once for
    all records: `schemas` holds those that were fetched.
    """
    if number not in schemas:
        path = f"{registry.path}/schemas/ids/{number}"
        versions, document = (
            json.loads(registry.request("GET", f"{path}{suffix}")) for suffix in ("/versions", "")
        )
        schemas[number] = (
            tuple(sorted({version["subject"] for version in versions})),
            document["schema"],
        )
    return schemas[number]


_UNRECORDED: Final = {
    "canal": "the servers of 1.1.6 and 1.1.8 are not in the Maven registry",
    "debezium": "only releases of the MariaDB and PostgreSQL connectors can",
}
"""Why a product's other releases cannot be recorded."""


# Debezium

_MODES: Final = {
    "decimal": "decimal.handling.mode",
    "temporal": "time.precision.mode",
    "binary": "binary.handling.mode",
    "bigint_unsigned": "bigint.unsigned.handling.mode",
}
"""Debezium's options by the field of a profile's deployment that says how they are set."""


_FLATTENED: Final = {
    "transforms": "unwrap",
    "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.unwrap.add.headers": "op,db",
}
"""The properties of messages that are rows without an envelope."""
_MODULES: Final = {"postgresql": "postgres"}
"""The names of connectors in Debezium's modules, where they differ from the source's."""
_CLASSES: Final = {
    "mariadb": "io.debezium.connector.mariadb.MariaDbConnector",
    "mysql": "io.debezium.connector.mysql.MySqlConnector",
}
"""The Java classes of the connectors that read a binlog."""


_RENAMED: Final = {
    True: {
        "topic.prefix": TOPIC,
        "schema.history.internal": "io.debezium.relational.history.MemorySchemaHistory",
    },
    False: {
        "database.server.name": TOPIC,
        "database.history": "io.debezium.relational.history.MemoryDatabaseHistory",
    },
}
"""Properties that got other names in Debezium 2.0, by whether the release is 2.0 or later."""
_BASED: Final = "snapshot.mode.configuration.based"
_UNREAD: Final[Mapping[bool, Mapping[str, str]]] = {
    False: {"snapshot.mode": "never"},
    True: {
        "snapshot.mode": "configuration_based",
        **{
            f"{_BASED}.{part}": "false"
            for part in ("snapshot.data", "snapshot.schema", "snapshot.on.schema.error")
        },
        f"{_BASED}.start.stream": "true",
    },
}
"""No snapshot: the whole binlog is read, from its first statement. By whether the connector is
MySQL's of 3.6 or later.
"""


_ENGINES: Final = {"3.7.0.Final": "3.6.1.Final"}
"""By the release of a connector of which the registry has no engine, the release of the engine that
runs it.
"""


def debezium_bundle(connector: str, release: str, *, plugins: bool = False) -> Bundle:
    """The jars of a connector with its embedded engine; with `plugins` Debezium's own
    transforms.
    """
    parts = (f"connector-{connector}", "embedded", *(("connect-plugins",) if plugins else ()))
    releases = {"embedded": _ENGINES.get(release, release)}
    modules = tuple(
        ("io.debezium", f"debezium-{part}", releases.get(part, release)) for part in parts
    )
    return Bundle(
        f"debezium-{connector}-{release}{'-flat' if plugins else ''}",
        f"Debezium's {connector} connector",
        (*modules, LOGGING),
        main="debezium-embedded",
        download="up to 78 jars",
        # Another backend of the same logging interface, which has no configuration.
        without=("slf4j-log4j12",),
    )


def _debezium(profile: Any, database: Database) -> Prepared:
    """Jars, Java program and properties that run Debezium's connector of the profile's database:
    converters, modes and options as the profile says.
    """
    connector = _MODULES.get(profile.connector, profile.connector)
    plugins = profile.flat and _version(profile) > (2, 5)  # up to then the core has them
    bundle = debezium_bundle(connector, profile.release, plugins=bool(plugins))
    properties = {
        "name": "recorder",
        **_RENAMED[_version(profile) >= (2, 0)],
        **({"skipped.operations": "none"} if _version(profile) > (1, 4) else {}),
        "database.hostname": "127.0.0.1",
        "database.port": str(database.port),
        "database.user": USER,
        "database.password": USER,
        "offset.storage": "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
        "offset.flush.interval.ms": "60000",
        "recorder.sentinel": SENTINEL,
        "key.converter.schemas.enable": str(profile.key_schemas).lower(),
        "value.converter.schemas.enable": str(profile.schemas).lower(),
        "value.converter.replace.null.with.default": str(not profile.nulls_kept).lower(),
        "key.converter.replace.null.with.default": str(not profile.nulls_kept).lower(),
        "tombstones.on.delete": str(profile.tombstones).lower(),
        **{
            name: getattr(profile.deployment, field)
            for field, name in _MODES.items()
            if getattr(profile.deployment, field)
        },
    }
    if profile.modes.decimal == "numeric":
        properties["decimal.handling.mode"] = "precise"
        properties |= {f"{part}.converter.decimal.format": "NUMERIC" for part in ("key", "value")}
    if profile.source_types:
        properties["column.propagate.source.type"] = (
            "(?s).*"  # a name may have an end of a line in it
        )
    if profile.queries:
        properties["include.query"] = "true"
    if profile.flat:
        is_old = _version(profile) < (2, 0)
        name = f"transforms.unwrap.delete.{'' if is_old else 'tombstone.'}handling.mode"
        mode_without_rewrite = "none" if is_old else "tombstone"
        mode = "rewrite" if profile.flat == "flat-rewrite" else mode_without_rewrite
        fields = "op,table,source.ts_ms" if profile.is_mysql else "op,table,lsn,source.ts_ms"
        properties |= {
            **_FLATTENED,
            "transforms.unwrap.add.fields": fields,
            name: mode,
        }
    if connector != "postgres":
        properties |= {
            "connector.class": _CLASSES[connector],
            "database.server.id": "4242",
            **_UNREAD[connector == "mysql" and _version(profile) >= (3, 6)],
        }
        if connector == "mysql" and _version(profile) > (2, 5):
            # MariaDB's connector has comments without it (debezium#comments).
            properties["include.schema.comments"] = "true"
    else:
        properties |= {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "database.dbname": DATABASE,
            "plugin.name": "pgoutput",
            "slot.name": SLOT,
            "publication.name": PUBLICATION,
            "publication.autocreate.mode": "disabled",
            "snapshot.mode": "no_data" if _version(profile) >= (2, 6) else "never",
            "interval.handling.mode": profile.modes.interval,
            "hstore.handling.mode": profile.modes.hstore,
            "money.fraction.digits": str(profile.modes.money_digits),
            "include.unknown.datatypes": str(profile.unknown_types).lower(),
        }
        properties.pop("bigint.unsigned.handling.mode", None)
    return bundle, "DebeziumRecorder", properties


_CONVERTER: Final = {
    "": "io.apicurio.registry.utils.converter.AvroConverter",
    ".apicurio.registry.auto-register": "true",
    ".apicurio.registry.as-confluent": "true",
    ".apicurio.registry.use-id": "contentId",
    ".apicurio.registry.headers.enabled": "false",
}
"""The properties of Apicurio's converter to Avro, behind `key.converter` or `value.converter`."""
_AVRO_NAMES: Final = {
    "schema.name.adjustment.mode": "avro",
    "field.name.adjustment.mode": "avro",
    "sanitize.field.names": "true",
}
"""The properties that make names of columns and tables legal in Avro."""


def _debezium_avro(profile: Any, database: Database) -> Prepared:
    """Jars, Java program and properties that run Debezium's connector with Apicurio's Avro
    converter for keys and values.
    """
    bundle, program, properties = _debezium(profile, database)
    module = "io.apicurio", "apicurio-registry-utils-converter", apicurio.VERSION
    bundle = replace(bundle, name=f"{bundle.name}-avro", modules=(*bundle.modules, module))
    converters: dict[str, str] = {}
    for side in ("key", "value"):
        converters |= {f"{side}.converter{name}": value for name, value in _CONVERTER.items()}
    return bundle, program, {**properties, **_AVRO_NAMES, **converters}


def _debezium_database(profile: Any) -> Mapping[str, str]:
    """The options of the MySQL or MariaDB server that Debezium reads: metadata and image of rows in
    the binary log, and queries if the profile has them; none for other databases.
    """
    if profile.source != "mysql":
        return {}
    # The client of 1.4 stops at metadata that are younger than itself.
    metadata = {"binlog_row_metadata": "FULL"} if _version(profile) > (1, 4) else {}
    # MariaDB's name of the option and MySQL's: each server passes over the other's.
    names = ("annotate_row", "rows_query_log") if profile.queries else ()
    queries = {f"loose-binlog_{name}_events": "ON" for name in names}
    return {**metadata, **queries, "binlog_row_image": profile.image.upper()}


# Canal


_CANAL_OLD: Final = ("1.1.5", "1.1.4")
"""The releases of Canal that can read only a server older than the system's."""


def _canal(profile: Any, database: Database) -> Prepared:
    """Jars, Java program and properties that run Canal of the profile's release on the database,
    with its partitions and topics.
    """
    # The producer of 1.1.4 is a part of the server.
    parts = (
        ("canal.instance.spring",)
        if profile.release == "1.1.4"
        else ("connector.core", "connector.kafka")
    )
    modules = tuple(
        ("com.alibaba.otter", name, profile.release) for name in ("canal.server", *parts)
    )
    slf4j = ("org.slf4j", "slf4j-api", LOGGING[2])
    bundle = Bundle(
        f"canal-{profile.release}",
        "Canal",
        (*modules, LOGGING, slf4j),
        main="canal.server",
        download="75 jars",
        # Two other backends of the same logging interface, and three modules of another, which the
        # registry lacks.
        without=("slf4j-log4j12", "logback-classic", "logback-core", "jms", "jmxtools", "jmxri"),
    )
    properties = {
        "canal.mq.servers": "127.0.0.1:1",
        "canal.mq.flatMessage": "true",
        "recorder.topic": TOPIC,
        "recorder.port": str(database.port),
        "recorder.user": USER,
        "recorder.password": USER,
        "recorder.file": f"{BINLOG}.000001",
        "recorder.stall": "25",
        "recorder.zone": profile.time_zone,
        "recorder.charset": profile.connection_charset.upper() or "UTF-8",
        "canal.mq.database.hash": str(profile.database_hash).lower(),
        "recorder.tsdb": str(profile.live).lower(),
        "recorder.sentinel": f'"sqlType":{{"id":4}},"table":"{SENTINEL}"',
    }
    columns = "$pk$" if profile.pk_hash else "^".join(profile.hash_columns)
    if columns or profile.table_hash:
        properties |= {
            "recorder.partitions": "3",
            "recorder.partitionHash": rf".*\..*{':' if columns else ''}{columns}",
        }
    if profile.dynamic_topic:
        properties["recorder.dynamicTopic"] = r".*\..*"
    return bundle, "CanalRecorder", properties


def _canal_database(profile: Any) -> Mapping[str, str]:
    """The options of the server that Canal reads: the image of rows in the binlog."""
    return {"binlog_row_image": profile.image.upper()}


_CANAL_STOPS: Final = {
    "tsdb-off mysql ddl (?!create table$)": (
        "without tsdb Canal asks for tables, which are at the end no longer what they were"
    ),
    r"mysql (table|column) \s": (
        "Canal stops: it loses the blank that a name begins with (not found in db, unknow column)"
    ),
    r"1\.1\.4 mysql table .*[^ -~]": (
        "Canal stops: it reads a table's name as ISO-8859-1 (fetch failed by table meta)"
    ),
    "mysql table .*`": (
        "Canal stops: it does not double the back-tick in a table's name (fetch failed by table"
        " meta)"
    ),
}
"""What Canal stops at (see `Product.stops`)."""
_DEBEZIUM_STOPS: Final = {
    r"flat(-rewrite)? \w+ column __(op|table|lsn|source_ts_ms)$": (
        "Debezium stops: an added member has the column's name"
    ),
    "postgresql ddl rename table": (
        "the connector looks for the table's key after the rename, under the old name"
    ),
    'postgresql key .*"': (
        "Debezium stops: it doubles the quote in a key column's name (referenced as PRIMARY KEY)"
    ),
}
"""What Debezium stops at (see `Product.stops`)."""

_DEBEZIUM: Final = Product(
    "debezium",
    "debezium-json",
    ("3.5.0.Final", "3.6.1.Final", "3.7.0.Final", "2.5.4.Final", "1.9.7.Final", "1.4.0.Final"),
    {
        "transaction": "the drawn histories have no transactions",
        "legacy-tombstone": "it needs a Kafka Connect before 2.2",
        "sqlserver": "this command starts no SQL Server",
        "oracle": "this command starts no Oracle",
        "minimal": (
            "the connector refuses a server whose binlog_row_image is not FULL; that of a session"
            " would do, with event.processing.failure.handling.mode=warn, and this command sets"
            " neither"
        ),
    },
    _debezium,
    _debezium_database,
    _DEBEZIUM_STOPS,
    ("3.5.0.Final",),
    misled=("3.6.1.Final",),
    postgresql=("3.7.0.Final",),
)

PRODUCTS: Final[Mapping[str, Product]] = {
    "debezium": _DEBEZIUM,
    "debezium-avro": replace(
        _DEBEZIUM,
        name="debezium-avro",
        format="debezium-avro",
        field=lambda name: re.sub(r"^(?=\d)|\W", "_", name, flags=re.ASCII),
        prepare=_debezium_avro,
        refused={
            **_DEBEZIUM.refused,
            "nulls-kept": "Apicurio's converter has no ignore.default.for.nullables",
            **dict.fromkeys(confluent.STRATEGIES, "Apicurio's client has strategies of its own"),
        },
    ),
    "canal": Product(
        "canal",
        "alibaba-canal-json",
        ("1.1.7", *_CANAL_OLD),
        {
            "old-time": "no server that it starts has the storage of TIME from before 5.6",
        },
        _canal,
        _canal_database,
        _CANAL_STOPS,
        ("1.1.7", *_CANAL_OLD),
        old=_CANAL_OLD,
    ),
}
TICDC: Final = (
    "ticdc cannot be recorded here: TiCDC and TiDB are built from Go modules, which this command"
    " does not fetch. The messages that were recorded from a real TiCDC serve instead"
    " (generators.recorded)."
)


def product(name: str) -> Product:
    """The product of that name. Raises UnknownName for an unknown one, and UsageError for
    `ticdc`.
    """
    if name == "ticdc":
        raise UsageError(TICDC)
    if name not in PRODUCTS:
        raise UnknownName("product", name, [*PRODUCTS, "ticdc"])
    return PRODUCTS[name]
