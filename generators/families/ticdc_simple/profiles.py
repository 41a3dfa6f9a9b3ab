"""TiCDC's releases and the options of its Simple protocol as facts about the messages, and which of
them go together.

Facts: ticdc#simple-pre-table-schema, #simple-timestamp, #simple-checksum, #float-exponent,
#simple-reduced, #compression, #column-selectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from generators.families.ticdc.sink import (
    COMPRESSION,
    DISPATCHERS,
    NEWEST,
    REDUCED,
    ROUTES,
    delivered,
)
from generators.families.ticdc.text import Doubles
from generators.model import Deployment
from generators.wire_format import Choices, Limit, Profile, meanings


@dataclass(frozen=True, slots=True)
class SimpleProfile(Profile):
    """A TiCDC release and its Simple options as facts about the messages.

    `location` is the zone name in TIMESTAMP objects, "" the host's own, which is the deployment's `time_zone`; "Local" is what Go
    calls the host's zone. `column_order` orders a tableSchema's columns ("id": by column id). `float_verb` is Go's: "f" fixed
    notation, "g" exponents from 1e6 on and below 1e-4; it concerns JSON only, as `short_escapes`, which tells
    that \\b and \\f have escapes of two characters (Go since 1.22). `auto_bootstrap` sends a BOOTSTRAP before a table's first
    row and again after 120 s or 10000 rows; without it one is sent where the history has one. `max_message_bytes` is compared
    only when `reduce` says what becomes of a larger message. `dispatcher` chooses the partitions of rows; `raw_change`
    tells that TiCDC itself splits no UPDATE; `json_doubles` is how the TiDB inside spells doubles of JSON documents.
    """

    new: bool = False
    location: str = ""
    pre_table_schema: bool = True
    column_order: Literal["id", "table"] = "id"
    float_verb: Literal["f", "g"] = "f"
    short_escapes: bool = True
    checksum: bool = False
    auto_bootstrap: bool = False
    bootstrap_to_all: bool = True
    max_message_bytes: int = 10 * 1024 * 1024
    reduce: str = ""
    dispatcher: str = "table"
    raw_change: bool = False
    json_doubles: Doubles = "go"


_NEW: Final = SimpleProfile(
    "new-8.5.6",
    assumed="no preTableSchema for ordinary DDL (read in the source)",
    new=True,
    pre_table_schema=False,
    column_order="table",
)

RELEASES: Final[Mapping[str, SimpleProfile]] = {
    "v7.5.7": SimpleProfile("v7.5.7", short_escapes=False),
    "v8.5.7": SimpleProfile("v8.5.7"),
    "new-8.5.4": replace(
        _NEW,
        release="new-8.5.4",
        float_verb="g",
        assumed=f"{_NEW.assumed}; floats by Go's rule for %v",
    ),
    "new-8.5.6": _NEW,
    NEWEST: replace(_NEW, release=NEWEST),
}
"""Each release without options."""


CHOICES: Final = Choices(
    "ticdc-simple",
    tuple(RELEASES),
    meanings("ticdc-simple-json"),
    (("tz", "local-zone"), REDUCED, COMPRESSION, DISPATCHERS),
    (
        ROUTES,
        Limit("selected", "leaves out columns that columns takes", without=("columns",)),
        Limit("selected", "is refused by TiCDC beside checksum", without=("checksum",)),
    ),
)
SERVER_ZONE: Final = "America/New_York"

DEPLOYMENTS: Final[Mapping[str, Deployment]] = {
    "none": Deployment("Asia/Shanghai"),
    "snappy": Deployment("America/New_York", compression="snappy"),
    "lz4": Deployment("UTC", compression="lz4"),
}
"""`time_zone` is the host's zone: what a location `Local` stands for."""


def profile(release: str, *options: str) -> SimpleProfile:
    """The profile of a release with options; they are named in one fixed order, whatever the order
    of the arguments.

    Raises UnknownName for an unknown release or option, UsageError for two options that exclude
    each other.
    """
    made = CHOICES.made(RELEASES, release, *options)
    location = SERVER_ZONE if "tz" in options else "Local" if "local-zone" in options else ""
    facts = delivered(options, DEPLOYMENTS, made.max_message_bytes)
    return replace(
        made, location=location, bootstrap_to_all="one-partition" not in options, **facts
    )
