"""TiCDC's releases and options as facts about Simple messages in Avro: what they have in common
with JSON, and two facts more.

Facts: ticdc#avro-bits-and-sets, #avro-map-order, #simple-timestamp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from generators.families.ticdc_simple.profiles import SimpleProfile
from generators.profile_tables import read_choices


@dataclass(frozen=True, slots=True)
class AvroProfile(SimpleProfile):
    """A TiCDC release and its Simple options as facts about messages in Avro."""

    bits: Literal["long", "string"] = "long"
    """The branch of a BIT column's value (ticdc#avro-bits-and-sets)."""
    timestamp_decimal: bool = False
    """A TIMESTAMP column's `decimal` is its fraction digits, not null."""


CHOICES: Final = read_choices("ticdc-simple-avro", AvroProfile)
