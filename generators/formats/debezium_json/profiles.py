"""Debezium releases and their options, as the facts that change what is written.

Source: the pages debezium and connect of the sources.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from generators.families.debezium.postgresql import TOASTED
from generators.families.debezium.values import Modes
from generators.model import Deployment, SourceType
from generators.profile_tables import read_choices
from generators.profiles import Profile


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
    image: str = "full"
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
    """Names of columns have underscores for what Avro's names have not."""
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
    connector: Literal["mysql", "mariadb", "postgresql"] = "mysql"
    """The connector's own name."""
    toasted: int = TOASTED
    """The bytes beyond which PostgreSQL keeps a value out of line."""
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
    subjects: Literal["", "record-name", "topic-record-name"] = ""
    """The strategy of the registry's subjects, "" for the topic's name (confluent)."""

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor number of the release."""
        return self.modes.release

    @property
    def is_mysql(self) -> bool:
        """Whether the connector is MySQL's."""
        return self.source == "mysql"


CHOICES: Final = read_choices("debezium-json", DebeziumProfile)
"""Deployments: the defaults; string, connect, base64; double, isostring, hex, unsigned-precise; and
what has schemas. A profile whose deployment another has costs no decode call of its own.
"""


def supports(type: SourceType) -> bool:
    """Whether a connector has the type: every type of `generators.sources.mysql` and
    `generators.sources.postgresql`.
    """
    return type.source in ("mysql", "postgresql")
