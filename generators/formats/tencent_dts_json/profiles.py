"""Tencent DTS JSON's message version and the choices that its documents leave open, as the facts
that change what is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from generators.families.mysql_texts import PREFIXED_HEX, TextForms
from generators.profile_tables import read_choices
from generators.profiles import Profile

NAME: Final = "tencent-dts-json"


@dataclass(frozen=True, slots=True)
class TencentProfile(Profile):
    """Message version 1 with an edition's and a deployment's choices."""

    absent: bool = False
    """Members that do not apply are left out; else they are null."""
    short_lists: bool = False
    """A value list ends after its last value that is not NULL."""
    upper_hex: bool = False
    """Binaries are in upper-case hex digits."""
    padded_time: bool = False
    """TIME has six fraction digits, whatever its column declares."""
    pk_hash: bool = False
    """A row's partition follows from its table and key."""
    epoch_ms: bool = False
    """TIMESTAMP is a number of milliseconds."""
    index_is_total: bool = False
    """`index` is the number of rows, as the older edition of the page reads it."""
    binlog_codes: bool = True
    """Type numbers are the binlog's own; else the protocol's."""
    source_type: str = "MySQL"
    """The text of the member sourceType."""
    tags: str = "null"
    """The JSON of the member tags."""
    own_digits: bool = False
    """TIMESTAMP has the fraction digits of its column, up to three."""

    @property
    def forms(self) -> TextForms:
        """How this profile spells MySQL's values as texts."""
        timestamp = "cut" if self.own_digits else "millis"
        if self.epoch_ms:
            timestamp = "epoch"
        return TextForms(
            time_zone=self.deployment.time_zone,
            binary=PREFIXED_HEX,
            upper_hex=self.upper_hex,
            labels=True,
            timestamp=timestamp,
            time_digits=6 if self.padded_time else None,
        )


CHOICES: Final = read_choices(NAME, TencentProfile)
