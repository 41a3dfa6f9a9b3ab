"""Debezium releases and their options, as the facts that change what is written.

Source: the pages debezium and connect of the sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from generators.errors import UsageError
from generators.families.debezium.postgresql import TOASTED
from generators.families.debezium.values import BINARIES, DECIMALS, TEMPORALS, UNSIGNEDS, Modes
from generators.model import SourceType
from generators.wire_format import Choices, Limit, Profile, meanings

RELEASES: Final = ("1.4.0.Final", "1.9.7.Final", "2.5.4.Final", "3.5.0.Final", "3.6.1.Final")


@dataclass(frozen=True, slots=True)
class DebeziumProfile(Profile):
    """A Debezium release, its connector's options and the converter's, as the facts that change
    bytes.

    `image` is the row image of the database: full or minimal of MySQL's binlog, full, index or
    default of PostgreSQL's REPLICA IDENTITY. `toasted` are the bytes beyond which PostgreSQL keeps
    a value out of line. `schemas` and `key_schemas` are `schemas.enable` of the value's and the
    key's converter; `transactions` is `provide.transaction.metadata`; `nulls_kept` is
    `replace.null.with.default=false`; `legacy_tombstones` a Kafka Connect before 2.2, which writes
    null as an object. Releases from 2.0 on run with `skipped.operations=none`, so that TRUNCATE is
    written, and MySQL's connector of 3.5 runs with `include.schema.comments=true`, which MariaDB's
    does not need. `source_types` is `column.propagate.source.type`; `flat` the option that takes
    the envelope away, "" for none; `queries` is `include.query`, `unknown_types`
    `include.unknown.datatypes`, `avro_names` the adjustment of names to what Avro allows.
    `mangles_names`, `doubles_ticks`, `context_headers`, `transaction_first` and `step_ms` (the
    resolution of `source.ts_ms`) follow from release and connector; `tombstones` is
    `tombstones.on.delete`, `connector` the connector's own name, `defaults` says whether it knows
    the defaults of columns.
    """

    modes: Modes = Modes()
    image: str = "full"
    schemas: bool = True
    key_schemas: bool = True
    transactions: bool = False
    nulls_kept: bool = False
    legacy_tombstones: bool = False
    mangles_names: bool = False
    doubles_ticks: bool = False
    context_headers: bool = False
    transaction_first: bool = False
    step_ms: int = 1
    tombstones: bool = True
    defaults: bool = True
    connector: str = "mysql"
    toasted: int = TOASTED
    source_types: bool = False
    flat: str = ""
    queries: bool = False
    unknown_types: bool = False
    avro_names: bool = False

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor number of the release."""
        return self.modes.release

    @property
    def is_mysql(self) -> bool:
        """Whether the connector is MySQL's."""
        return self.source == "mysql"


FLATTENED: Final = ("flat", "flat-rewrite")
MONEY_DIGITS: Final = (0, 4)
"""Values of `money.fraction.digits` beside 2, one that rounds and one that does not."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "source": ("postgresql", "mariadb"),
    "image": ("full", "index", "minimal"),
    "schemas": ("schemaless", "plain-key"),
    "transactions": ("transaction",),
    "nulls": ("nulls-kept",),
    "tombstones": ("legacy-tombstone", "no-tombstone"),
    "decimal": DECIMALS[1:],
    "temporal": TEMPORALS,
    "binary": BINARIES[1:],
    "unsigned": ("unsigned-precise",),
    "interval": ("interval-string",),
    "hstore": ("hstore-map",),
    "propagated": ("source-type",),
    "queries": ("include-query",),
    "unknown": ("include-unknown",),
    "money": tuple(f"money-digits-{digits}" for digits in MONEY_DIGITS),
    "flattened": FLATTENED,
}
"""Options by what they set, in the order of a profile's name; at most one of each."""


_SINCE_2: Final = ("2.5.4.Final", "3.5.0.Final", "3.6.1.Final")
_SINCE_3_1: Final = ("3.5.0.Final", "3.6.1.Final")
_ONLY_3_5: Final = ("3.5.0.Final",)
_FINE: Final = "came with 3.1"

CHOICES: Final = Choices(
    "debezium-json",
    RELEASES,
    meanings("debezium-json"),
    tuple(GROUPS.values()),
    (
        Limit("mariadb", "came with 2.7, and is not known of 3.6", _ONLY_3_5),
        Limit(
            "nanoseconds", "is not known of 3.6, which refuses a moment beyond 64 bits", _ONLY_3_5
        ),
        Limit("full", "is PostgreSQL's REPLICA IDENTITY", needs=("postgresql",)),
        Limit("index", "is PostgreSQL's REPLICA IDENTITY", needs=("postgresql",)),
        Limit("minimal", "is MySQL's binlog_row_image", without=("postgresql",)),
        Limit(
            "minimal",
            "is known of 1.9.7 alone: 2.5.4 and 3.5.0 stop on the first row",
            ("1.9.7.Final",),
        ),
        Limit("nulls-kept", "needs Kafka Connect 3.5, later than this release", _SINCE_2),
        Limit(
            "legacy-tombstone",
            "needs Kafka Connect before 2.2, older than this release",
            ("1.4.0.Final",),
        ),
        Limit(
            "include-query",
            "is MySQL's: PostgreSQL's log has no statements",
            without=("postgresql",),
        ),
        *(
            limit
            for option in GROUPS["money"]
            for limit in (
                Limit(option, "is PostgreSQL's: MySQL has no money", needs=("postgresql",)),
                Limit(option, "came with 1.8", RELEASES[1:]),
                Limit(
                    option,
                    "acts in decimal.handling.mode precise alone",
                    without=("double", "string"),
                ),
                Limit(option, "changes a scale that schemas alone tell", without=("schemaless",)),
            )
        ),
        Limit(
            "include-unknown",
            "is known of PostgreSQL's connector of 2.5 and later alone",
            _SINCE_2,
            needs=("postgresql",),
        ),
        Limit("source-type", "changes schemas alone", without=("schemaless",)),
        *(Limit(option, "is not known of 1.4 and 3.6", RELEASES[1:-1]) for option in FLATTENED),
        *(Limit(option, "has no tombstones", without=("no-tombstone",)) for option in FLATTENED),
        Limit("legacy-tombstone", "needs schemas in key and value", without=GROUPS["schemas"]),
        Limit("adaptive", "is refused by the MySQL connector", needs=("postgresql",)),
        *(Limit(option, _FINE, _SINCE_3_1) for option in ("isostring", "microseconds")),
        Limit("base64-url-safe", "came with 2.0", _SINCE_2),
        Limit(
            "unsigned-precise",
            "is MySQL's: PostgreSQL has no unsigned types",
            without=("postgresql",),
        ),
        Limit("hstore-map", "is PostgreSQL's: MySQL has no hstore", needs=("postgresql",)),
        Limit("interval-string", "is PostgreSQL's: MySQL has no intervals", needs=("postgresql",)),
    ),
)
"""What goes together (debezium#minimal-image)."""

_SCHEMAS: Final = {"": "message", "plain-key": "value", "schemaless": "none"}
_MYSQL_ASSUMED: Final = (
    "the MySQL connector behaves as MariaDB's was seen to; ids of transactions are GTIDs; columns"
    " of tableChanges"
)
_POSTGRESQL_ASSUMED: Final = "24:00:00 in connect and isostring"


def profile(release: str, *options: str) -> DebeziumProfile:
    """The profile of a release with options, in any order. Raises UnknownName, or UsageError for a
    pair that cannot be.
    """
    ordered = CHOICES.checked(release, options)
    chosen = {
        group: option
        for group, members in GROUPS.items()
        for option in members
        if option in options
    }
    major, minor = map(int, release.split(".")[:2])
    version = (major, minor)
    if version == (2, 5) and {"transactions", "flattened"} <= chosen.keys():
        raise UsageError(
            f"debezium-json {release}: ExtractNewRecordState stops at the first message without"
            " source, as BEGIN is"
        )
    postgresql, mariadb = (chosen.get("source") == name for name in ("postgresql", "mariadb"))
    modes = Modes(
        version,
        decimal=chosen.get("decimal", DECIMALS[0]),
        temporal=chosen.get("temporal", TEMPORALS[postgresql]),
        binary=chosen.get("binary", BINARIES[0]),
        bigint_unsigned=UNSIGNEDS["unsigned" in chosen],
        interval="string" if "interval" in chosen else "numeric",
        hstore="map" if "hstore" in chosen else "json",
        money_digits=int(chosen.get("money", "2").rpartition("-")[2]),
    )
    return DebeziumProfile(
        release,
        ordered,
        replace(modes.deployment, schemas=_SCHEMAS[chosen.get("schemas", "")]),
        _POSTGRESQL_ASSUMED if postgresql else _MYSQL_ASSUMED,
        "postgresql" if postgresql else "mysql",
        modes,
        image=chosen.get("image", "default" if postgresql else "full"),
        schemas=chosen.get("schemas") != "schemaless",
        key_schemas="schemas" not in chosen,
        transactions="transactions" in chosen,
        nulls_kept="nulls" in chosen,
        legacy_tombstones=chosen.get("tombstones") == "legacy-tombstone",
        tombstones=chosen.get("tombstones") != "no-tombstone",
        defaults=not postgresql or version >= (1, 9),
        connector="mariadb" if mariadb else "postgresql" if postgresql else "mysql",
        mangles_names=postgresql and version <= (2, 5),
        doubles_ticks=not postgresql and version <= (2, 5),
        context_headers=version >= (3, 5),
        source_types="propagated" in chosen,
        flat=chosen.get("flattened", ""),
        queries="queries" in chosen,
        unknown_types="unknown" in chosen,
        transaction_first=version >= (3, 5),
        # MySQL's connector takes the microseconds of a GTID's commit (debezium#gtid-times).
        step_ms=(
            1
            if postgresql or ("transactions" in chosen and not mariadb and version >= (2, 5))
            else 1000
        ),
    )


"""Deployments: the defaults; string, connect, base64; double, isostring, hex, unsigned-precise; and
what has schemas. A profile whose deployment another has costs no decode call of its own.
"""


def supports(type: SourceType) -> bool:
    """Whether a connector has the type: every type of `generators.sources.mysql` and
    `generators.sources.postgresql`.
    """
    return type.source in ("mysql", "postgresql")
