"""Debezium releases and their options, as the facts that change what is written.

Source: the pages debezium and connect of the sources.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from generators.families.debezium.values import Modes
from generators.model import Deployment, SourceType
from generators.profile_tables import read_choices
from generators.profiles import Profile
from generators.sources.postgresql_toast import TARGET


@dataclass(frozen=True, slots=True)
class DebeziumProfile(Profile):
    """A Debezium release, its connector's options and the converter's, as the facts that change
    bytes.

    Releases from 2.0 on run with `skipped.operations=none`, so that TRUNCATE is written, and
    MySQL's connector of 3.5 runs with `include.schema.comments=true`, which MariaDB's does not
    need.
    """

    deployment: Deployment = replace(Modes().deployment, schemas="message")
    modes: Modes = Modes()
    """How values are written."""
    image: Literal["full", "minimal", "index", "default"] = "full"
    """The row image of the database: full or minimal of MySQL's binlog, full, index or default of
    PostgreSQL's REPLICA IDENTITY."""
    schemas: bool = True
    """`schemas.enable` of the value's converter."""
    key_schemas: bool = True
    """`schemas.enable` of the key's converter."""
    transactions: bool = False
    """`provide.transaction.metadata`."""
    nulls_kept: bool = False
    """`replace.null.with.default=false`."""
    legacy_tombstones: bool = False
    """A Kafka Connect before 2.2, which writes null as an object."""
    mangles_names: bool = False
    """A name that is not ASCII is another text in a stream (debezium#mangled-names)."""
    doubles_ticks: bool = False
    """A back-tick in the name of a column stays doubled."""
    context_headers: bool = False
    """Records have the headers of the connector's context."""
    transaction_first: bool = False
    """The transaction's block stands before `op`."""
    step_ms: int = 1
    """The resolution of `source.ts_ms` (debezium#gtid-times)."""
    tombstones: bool = True
    """`tombstones.on.delete`."""
    defaults: bool = True
    """The connector knows the defaults of columns."""
    connector: Literal["mysql", "mariadb", "postgresql", "sqlserver", "oracle"] = "mysql"
    """The connector's own name."""
    toasted: int = TARGET
    """The bytes beyond which PostgreSQL compresses a row's values and keeps them out of line."""
    source_types: bool = False
    """`column.propagate.source.type`."""
    flat: Literal["", "flat", "flat-rewrite"] = ""
    """The option that takes the envelope away, "" for none."""
    queries: bool = False
    """`include.query`."""
    unknown_types: bool = False
    """`include.unknown.datatypes`."""
    avro_names: bool = False
    """The adjustment of names to what Avro allows."""
    snapshot_markers: str = (
        "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"
    )
    """What the schema allows for `source.snapshot`."""
    marks_tables: bool = True
    """`source.snapshot` marks the first and last row of each table (debezium#snapshot-markers)."""
    incremental_snapshots: bool = True
    """There are incremental snapshots (debezium#incremental)."""
    logical_messages: bool = True
    """PostgreSQL's logical decoding messages are written, of op `m`."""
    knows_truncate: bool = True
    """The connector knows TRUNCATE."""
    writes_truncate: bool = True
    """TRUNCATE is written, of op `t`."""
    truncate_has_statement: bool = False
    """A TRUNCATE of MySQL is written as a schema change, too."""
    views_have_statement: bool = False
    """MySQL's statements on views are written (debezium#views)."""
    sequence: bool = True
    """`source` has `sequence`."""
    fine_stamps: bool = True
    """`ts_us` and `ts_ns` stand beside `ts_ms`."""
    origins: bool = True
    """PostgreSQL's `source` has `origin` and `origin_lsn`."""
    oracle_starts: bool = True
    """Oracle's `source` tells where the transaction began, and of the row (since 3)."""
    keeps_schema_names: bool = True
    """A schema's name is as it is, else it has `_` for what Avro's names cannot have
    (debezium#schema-names)."""
    names_of_topics: bool = True
    """Schemas of rows are named as their topics are, with `_` for what Kafka does not allow."""
    source_version: int = 1
    """The version of `source`'s schema, 0 for none."""
    struct_version: int = 1
    """The version of schemas that are neither `source`'s nor a row's, 0 for none."""
    envelope_version: int = 2
    """The version of an envelope's schema, 0 for none."""
    deleted_first: bool = True
    """`__deleted` stands before the other members that flattening adds."""
    flat_stops_at_heartbeats: bool = False
    """ExtractNewRecordState stops at messages without source
    (debezium#flattened-without-source).
    """
    flat_headers_everywhere: bool = False
    """ExtractNewRecordState adds headers to messages that are no row's, too
    (debezium#flattened).
    """
    tombstone_headers: bool = True
    """A tombstone of MySQL's has the headers of its delete."""
    transaction_lsn: bool = True
    """The id of a transaction of PostgreSQL has the place in the log behind it."""
    key_in_table_order: bool = False
    """Streamed keys of PostgreSQL have the table's order (debezium#record-key)."""
    keys_have_included: bool = False
    """PostgreSQL's record keys have the columns that INCLUDE adds to a primary key
    (debezium#included-columns)."""
    nullable_keys: bool = False
    """A unique key of columns that may be NULL is taken for a key (debezium#unique-keys)."""
    enum_defaults: Literal["", "public", "every"] = "public"
    """The schemas of whose enums PostgreSQL's connector knows the defaults (debezium#defaults)."""
    doubled_quotes: bool = False
    """A quote that is doubled in a default of PostgreSQL is one, and a default may have an end of a
    line (3.7), else it ends at the first quote (debezium#defaults)."""
    names_serials: bool = False
    """A streamed column of PostgreSQL whose default is a sequence's has the type SERIAL in
    `column.propagate.source.type` (3.7)."""
    hexadecimal_defaults: bool = False
    """A default in hexadecimal digits is read, if wrongly (since 3.6)."""
    short_time_defaults: bool = True
    """A TIME without seconds is read as a default (since 2.0)."""
    localtime_defaults: bool = False
    """LOCALTIMESTAMP as a default is read as the current time (since 3.6)."""
    binary_defaults: bool = True
    """The default of BINARY is known; no source says what older connectors make of it."""
    edits_modified: bool = False
    """MODIFY edits the column that the connector knows (debezium#kept-lengths)."""
    zero_length: int = 0
    """The length of a type with 0 in parentheses, but for a time (debezium#zero-lengths)."""
    refreshes_labels: bool = False
    """A label that is not known makes the connector read its enum again
    (debezium#refreshed-labels).
    """
    counts_updates: bool = False
    """Each ON UPDATE is taken for a counter (debezium#counters)."""
    keeps_collations_of_defaults: bool = False
    """A COLLATE behind a default is read as a part of it (debezium#collated-defaults)."""
    comments: bool = True
    """Comments are known (`include.schema.comments`, debezium#comments)."""
    describes_comments: bool = True
    """Columns in tableChanges have the member `comment`."""
    describes_drops: bool = True
    """tableChanges has a dropped table."""
    follows_conversions: bool = True
    """CONVERT TO CHARACTER SET changes the table's character set (debezium#converted-tables)."""
    short_schema_changes: bool = False
    """A schema change has four members, and no table but those that change; a RENAME has both, in
    the order of a HashSet (debezium#schema-change-names)."""
    subjects: Literal["", "record-name", "topic-record-name"] = ""
    """The strategy of the registry's subjects, "" for the topic's name (confluent)."""

    @property
    def is_mysql(self) -> bool:
        """Whether the connector is MySQL's."""
        return self.source == "mysql"

    @property
    def is_sqlserver(self) -> bool:
        """Whether the connector is SQL Server's."""
        return self.source == "sqlserver"

    @property
    def is_oracle(self) -> bool:
        """Whether the connector is Oracle's."""
        return self.source == "oracle"


CHOICES: Final = read_choices("debezium-json", DebeziumProfile)
"""Deployments: the defaults; string, connect, base64; double, isostring, hex, unsigned-precise; and
what has schemas. A profile whose deployment another has costs no decode call of its own.
"""


def supports(type: SourceType) -> bool:
    """Whether a connector has the type: every type of `generators.sources.mysql`,
    `generators.sources.postgresql`, `generators.sources.sqlserver` and `generators.sources.oracle`.
    """
    return type.source in ("mysql", "postgresql", "sqlserver", "oracle")
