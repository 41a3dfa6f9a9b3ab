"""Toy CDC's JSON: one message for each row, with the columns of an UPDATE that changed beside the
row.

Source: Toy CDC, Message format (docs/adding-a-format.md). Values are MySQL's texts; a message names
the table, not the database.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from generators.families.flat import OLD, ROW, Flat
from generators.families.mysql_texts import TextForms
from generators.model import History, Layout, Logical, Scenario, SourceType, Written
from generators.profile_tables import read_choices
from generators.profiles import Profile
from generators.wire_format import Format, about

__all__ = ["FORMAT", "ToyProfile", "write"]

NAME: Final = "toy-json"


@dataclass(frozen=True, slots=True)
class ToyProfile(Profile):
    """A release of Toy CDC with its options."""

    whole_old: bool = False
    """`old` holds the whole row."""


CHOICES: Final = read_choices(NAME, ToyProfile)

_SUPPORTED: Final = frozenset(
    {Logical.INT, Logical.DECIMAL, Logical.TEXT, Logical.DATE, Logical.TIME, Logical.DATETIME}
)


def supports(type: SourceType) -> bool:
    """Whether the document has a form for the type. INT, TEXT and DATETIME are in every case's
    tables.
    """
    return type.logical in _SUPPORTED


_FLAT: Final = Flat(
    members=(
        ("op", lambda event, _: event.op.lower()),
        ("ts", lambda event, _: event.at.ms),
        ("table", lambda event, _: event.table.name),
        ("row", ROW),
        ("old", OLD),
    ),
    forms=TextForms("UTC"),
    more_fields=lambda event: {"table": event.table.name},
)
"""The members of a message in the document's order, and what they tell a decoder: no more than the
text holds.
"""


def write(history: History, profile: ToyProfile, layout: Layout) -> list[Written]:
    """The messages of a history's row changes, one for each row, in order."""
    return replace(_FLAT, complete_before=profile.whole_old).write(history, layout)


def scenarios(profile: ToyProfile, database: str) -> Iterator[Scenario]:
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
