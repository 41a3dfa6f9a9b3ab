"""The lies that CloudCanal Json and CloudCanal's Canal Json share."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._fastjson import FASTJSON_2
from conformance.selftest.lies.altering import drop, in_json, placed, put, respelled, shift
from conformance.selftest.lies.lie import Alter, Lie
from generators.model import Deployment

_ZONE: Final = Deployment(time_zone="Asia/Tokyo")


def cell(text: str) -> Alter:
    """Column `c` of the first row has this text."""
    return in_json(put(text, "data", 0, "c"))


def shared(numbered: str, rule: str, old: str, sent: str, zeros: str) -> tuple[Lie, ...]:
    """The lies for a format: `numbered` is a profile with numbers, `rule` that of an UPDATE's old row.

    `old` and `sent` are the members for old rows and the time of sending, `zeros` is BINARY(4) with two zero bytes in the
    format's spelling.
    """
    partial = in_json(drop("id", old, 0), drop("b", old, 0))
    return (
        Lie("other escapes", "2022", None, "varchar/*", alter=respelled(FASTJSON_2)),
        Lie("one partition", "2022", None, "envelope/*", alter=placed(0)),
        Lie("later send time", "2022", None, "envelope/*", alter=in_json(shift(3_600_000, sent))),
        Lie("commit time in milliseconds", "2022", "envelope/commit-time", "envelope/commit-time-*", "milliseconds", True),
        Lie("types without width", "2022", "envelope/types", "int/max", "bare_integers", True),
        Lie("changed columns alone", "2022", rule, "shape/update-one-column", "partial_old", True),
        Lie("numbered", "2022", "envelope/position", "envelope/three-messages", "numbered", True),
        Lie("not numbered", numbered, "envelope/position", "envelope/three-messages", "numbered", False),
        Lie("partial old row", "2022", rule, "shape/update-one-column", alter=partial),
        Lie("another zone", "2022", "value/wire", "timestamp-0/plain", "deployment", _ZONE),
        Lie("decimal scale dropped", "2022", "value/decimal", "decimal-10-2/zero", alter=cell("0.0")),
        Lie("zeros kept", "2022", "value/wire", "binary/trailing-zeros", alter=cell(zeros)),
    )
