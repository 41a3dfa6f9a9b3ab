"""Sample's JSON: to write: what one message is, and the document that says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from generators.errors import UsageError
from generators.families.flat import OLD, ROW, Flat
from generators.families.mysql_texts import TextForms
from generators.model import (
    Change,
    History,
    Layout,
    Logical,
    RowChange,
    Scenario,
    SourceType,
    Written,
)
from generators.profile_tables import read_choices
from generators.profiles import Profile
from generators.wire_format import Format, about

__all__ = ["FORMAT", "SampleProfile", "write"]

NAME: Final = "sample-json"


@dataclass(frozen=True, slots=True)
class SampleProfile(Profile):
    """A release of the product. To write: a field for each of its options that changes the
    bytes.
    """


CHOICES: Final = read_choices(NAME, SampleProfile)

_SUPPORTED: Final = frozenset({Logical.INT, Logical.TEXT, Logical.DATETIME})


def supports(type: SourceType) -> bool:
    """Whether the document has a form for the type. INT, TEXT and DATETIME are in every case's
    tables.
    """
    return type.logical in _SUPPORTED


def _due(_event: RowChange, _change: Change) -> str:
    """To write: a line of `members` for each member of a message."""
    where = "generators/formats/sample_json.py, _FLAT"
    raise UsageError(f"{where}: write the members of a row change, as the document prints them")


_FLAT: Final = Flat(
    members=(("to write", _due), ("row", ROW), ("old", OLD)),
    forms=TextForms("UTC"),
    more_fields=lambda event: {"table": event.table.name},
)
"""The members of a message in the document's order, and what they tell a decoder: no more than the
text holds.
"""


def write(history: History, profile: SampleProfile, layout: Layout) -> list[Written]:
    """The messages of a history's row changes, one for each row, in order."""
    return _FLAT.write(history, layout)


def scenarios(profile: SampleProfile, database: str) -> Iterator[Scenario]:
    """The cases that only this format has: its options, its control messages, its document's
    contradictions.
    """
    yield from ()


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=scenarios,
    supports=supports,
)
