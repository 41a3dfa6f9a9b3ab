"""Toy CDC's JSON: one message for each row, with the columns of an UPDATE that changed beside the row.

Source: Toy CDC, Message format (docs/adding-a-format.md). Values are MySQL's texts; a message names the table, not the database.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from generators.families.mysql_texts import TextForms, cell
from generators.model import (
    Cell,
    Change,
    History,
    Image,
    Kind,
    Layout,
    Logical,
    Message,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SourceType,
    State,
    Table,
    Written,
)
from generators.wire_format import Choices, Format, KindRow, Profile

__all__ = ["FORMAT", "PROFILES", "ToyProfile", "write"]

NAME: Final = "toy-json"


@dataclass(frozen=True, slots=True)
class ToyProfile(Profile):
    """A release of Toy CDC. `whole_old` writes the whole row into `old`."""

    whole_old: bool = False


CHOICES: Final = Choices("toy-json", ("1.0",), {"whole-old": "old.columns=all: `old` holds the whole row, not what changed."})


def profile(release: str, *options: str) -> ToyProfile:
    """The profile of a release with options. Raises UnknownName, or UsageError for options that do not go together."""
    chosen = CHOICES.checked(release, options)
    return ToyProfile(release, chosen, whole_old="whole-old" in chosen)


PROFILES: Final = (profile("1.0"), profile("1.0", "whole-old"))

_SUPPORTED: Final = frozenset({Logical.INT, Logical.DECIMAL, Logical.TEXT, Logical.DATE, Logical.TIME, Logical.DATETIME})


def supports(kind: SourceType) -> bool:
    """Whether the document has a form for the type. INT, TEXT and DATETIME are in every case's tables."""
    return kind.logical in _SUPPORTED


def write(history: History, profile: ToyProfile, layout: Layout) -> list[Written]:
    """The messages of a history's row changes, one for each row, in order."""
    return [
        Written(Message(layout.topic, 0, None, value.encode(), timestamp_ms=event.at.ms, event=number), (change,))
        for number, event in enumerate(history.events)
        if isinstance(event, RowChange)
        for value, change in (_message(event, images, profile) for images in event.rows)
    ]


def _message(event: RowChange, images: RowImages, profile: ToyProfile) -> tuple[str, Change]:
    """The text of a row's message, and what a perfect decoder makes of it: no more than the text holds."""
    op = Op.INSERT if event.op is Op.READ else event.op
    before, after = (_image(event.table, row) for row in (images.before, images.after))
    old = before
    if before and after and not profile.whole_old:
        old = {name: found if found != after[name] else Cell(State.ABSENT, found.type) for name, found in before.items()}
    change = Change(
        0,
        Kind.ROW,
        op,
        table=event.table.name,
        commit_time_us=event.at.ms * 1000,
        before=old,
        after=after,
        full_before=before,
        accept=((Kind.ROW, Op.READ),) if event.op is Op.READ else (),
    )
    return _text(change), change


def _text(change: Change) -> str:
    """The message's JSON in the document's order; `old` is there in an update only."""
    assert change.op is not None
    row = change.before if change.after is None else change.after
    members = {"op": change.op.lower(), "ts": (change.commit_time_us or 0) // 1000, "table": change.table, "row": _texts(row)}
    if change.op is Op.UPDATE:
        members["old"] = _texts(change.before)
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))


def _texts(image: Image | None) -> dict[str, str | None]:
    """The columns that the image has, with their texts."""
    return {name: found.text for name, found in (image or {}).items() if found.state is not State.ABSENT}


def _image(table: Table, row: Row | None) -> Image | None:
    return None if row is None else {c.name: cell(c.type, row.get(c.name), _FORMS) for c in table.columns}


_FORMS: Final = TextForms("UTC")
"""How MySQL's values are spelled as texts."""

KINDS: Final = (
    KindRow("op insert", "ROW", "INSERT"),
    KindRow("op update", "ROW", "UPDATE", "old holds the columns that changed, or all of them with whole-old"),
    KindRow("op delete", "ROW", "DELETE", "the deleted row stands in row"),
)
"""What a message is, by what stands in it."""


def scenarios(profile: ToyProfile, database: str) -> Iterator[Scenario]:
    """The cases that only this format has: its options, its control messages, its document's contradictions."""
    yield from ()


FORMAT: Final = Format(
    name=NAME,
    title="Toy CDC JSON",
    source="mysql",
    profiles=PROFILES,
    write=write,
    kinds=KINDS,
    position="none: `ts` orders commits",
    scenarios=scenarios,
    choices=CHOICES,
    build=profile,
    supports=supports,
)
