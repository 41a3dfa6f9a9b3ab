"""Toy CDC's JSON: one message for each row, with the columns of an UPDATE that changed beside the
row.

Source: Toy CDC, Message format (docs/adding-a-format.md). Values are MySQL's texts; a message names
the table, not the database.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from generators.families.flat import OLD, ROW, Flat
from generators.families.mysql_texts import TextForms
from generators.model import History, Layout, Logical, Scenario, SourceType, Written
from generators.wire_format import Choices, Format, Profile, about, meanings

__all__ = ["FORMAT", "ToyProfile", "write"]

NAME: Final = "toy-json"


@dataclass(frozen=True, slots=True)
class ToyProfile(Profile):
    """A release of Toy CDC. `whole_old` writes the whole row into `old`."""

    whole_old: bool = False


CHOICES: Final = Choices(NAME, ("1.0",), meanings(NAME))


profile: Final = partial(CHOICES.made, {"1.0": ToyProfile("1.0")})

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
    tells=lambda event: {"table": event.table.name},
)
"""The members of a message in the document's order, and what they tell a decoder: no more than the
text holds.
"""


def write(history: History, profile: ToyProfile, layout: Layout) -> list[Written]:
    """The messages of a history's row changes, one for each row, in order."""
    return replace(_FLAT, whole_old=profile.whole_old).write(history, layout)


def scenarios(profile: ToyProfile, database: str) -> Iterator[Scenario]:
    """The cases that only this format has: its options, its control messages, its document's
    contradictions.
    """
    yield from ()


FORMAT: Final = Format(
    **about(NAME, CHOICES, profile),
    write=write,
    scenarios=scenarios,
    supports=supports,
)
