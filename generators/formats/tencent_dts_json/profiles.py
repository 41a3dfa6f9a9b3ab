"""Tencent DTS JSON's message version and the choices that its documents leave open, as the facts
that change what is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from generators.families.mysql_texts import PREFIXED_HEX, TextForms
from generators.model import Deployment
from generators.wire_format import Choices, Profile, meanings

NAME: Final = "tencent-dts-json"
RELEASE: Final = "version-1"
"""The value of `version`; the vendor names no release."""

ASSUMED: Final = (
    "JSON types and shapes, record key, partition hash, year, bit, enum, set, json, zero dates,"
    " TIME beyond a day, number texts, time zone of TIMESTAMP, empty binaries, fields of HEARTBEAT"
    " and CHECKPOINT, names in a DDL record"
)


@dataclass(frozen=True, slots=True)
class TencentProfile(Profile):
    """Message version 1 with an edition's and a deployment's choices.

    `absent` leaves out fields that do not apply, else they are null. `short_lists` ends a value
    list after its last value that is not NULL. `upper_hex` is the letter case of binaries.
    `padded_time` writes TIME with six fraction digits. `pk_hash` places a row by its table and key.
    `epoch_ms` writes TIMESTAMP as a number of milliseconds, `index_is_total` reads `index` as the
    older edition does. `binlog_codes` are the binlog's own type numbers, else the protocol's.
    `source_type` is the field's text. `own_digits` gives TIMESTAMP the fraction digits of its
    column, up to three.
    """

    absent: bool = False
    short_lists: bool = False
    upper_hex: bool = False
    padded_time: bool = False
    pk_hash: bool = False
    epoch_ms: bool = False
    index_is_total: bool = False
    binlog_codes: bool = True
    source_type: str = "MySQL"
    tags: str = "null"
    own_digits: bool = False

    @property
    def forms(self) -> TextForms:
        """How this profile spells values."""
        return TextForms(
            self.deployment.time_zone,
            PREFIXED_HEX,
            self.upper_hex,
            True,
            "epoch" if self.epoch_ms else "cut" if self.own_digits else "millis",
            6 if self.padded_time else None,
        )


_SHANGHAI: Final = Deployment(time_zone="Asia/Shanghai")


CHOICES: Final = Choices(
    NAME,
    (RELEASE,),
    meanings(NAME),
    facts={
        "own-digits": {"deployment": {"time_zone": "Asia/Kolkata"}},
        "sparse": {
            **dict.fromkeys(("absent", "short_lists"), True),
            "binlog_codes": False,
            "source_type": "TDSQL-C MySQL",
            "deployment": {"time_zone": "America/New_York"},
        },
        "older-edition": {
            **dict.fromkeys(("epoch_ms", "index_is_total"), True),
            "tags": '{"lowerCaseTableNames":"0"}',
        },
    },
)
build: Final = partial(
    CHOICES.made, {RELEASE: TencentProfile(RELEASE, deployment=_SHANGHAI, assumed=ASSUMED)}
)
profile: Final = partial(build, RELEASE)
