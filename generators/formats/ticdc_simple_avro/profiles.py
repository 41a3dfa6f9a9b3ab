"""TiCDC's releases and options as facts about Simple messages in Avro: what they have in common
with JSON, and two facts more.

Facts: ticdc#avro-bits-and-sets, #avro-map-order, #simple-timestamp.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final, Literal

from generators.families.ticdc_simple import profiles as simple
from generators.families.ticdc_simple.profiles import SimpleProfile


@dataclass(frozen=True, slots=True)
class AvroProfile(SimpleProfile):
    """A TiCDC release and its Simple options as facts about messages in Avro.

    `bits` is the branch of a BIT column's value. `timestamp_decimal` tells that a TIMESTAMP
    column's `decimal` is its fraction digits and not null.
    """

    bits: Literal["long", "string"] = "long"
    timestamp_decimal: bool = False


_ASSUMED: Final = "an empty map for a row without a handle key"
_ASSUMED_NEW: Final = f"{_ASSUMED}; no preTableSchema for ordinary DDL (read in the source)"


def profile(release: str, *options: str) -> AvroProfile:
    """The profile of a release with options; they are named in one fixed order, whatever the order
    of the arguments.

    Raises UnknownName for an unknown release or option, UsageError for two options that exclude
    each other.
    """
    common = simple.profile(release, *options)
    facts = {field.name: getattr(common, field.name) for field in fields(common)}
    facts["deployment"] = replace(common.deployment, schemas="published")
    facts["assumed"] = _ASSUMED_NEW if common.new else _ASSUMED
    return AvroProfile(
        **facts, bits="string" if common.new else "long", timestamp_decimal=common.new
    )
