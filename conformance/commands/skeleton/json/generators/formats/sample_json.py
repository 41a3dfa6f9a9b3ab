"""Sample's JSON: to write: what one message is, and the document that says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from generators.errors import UsageError
from generators.families.mysql_texts import TextForms, cell
from generators.model import (
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
    Table,
    Written,
)
from generators.wire_format import Choices, Format, KindRow, Profile

__all__ = ["FORMAT", "PROFILES", "SampleProfile", "write"]

NAME: Final = "sample-json"


@dataclass(frozen=True, slots=True)
class SampleProfile(Profile):
    """A release of the product. To write: a field for each of its options that changes the bytes."""


CHOICES: Final = Choices("sample-json", ("1.0",))
"""Releases, and what each option means."""


def profile(release: str, *options: str) -> SampleProfile:
    """The profile of a release with options. Raises UnknownName, or UsageError for options that do not go together."""
    return SampleProfile(release, CHOICES.checked(release, options))


PROFILES: Final = (profile("1.0"),)

_SUPPORTED: Final = frozenset({Logical.INT, Logical.TEXT, Logical.DATETIME})


def supports(kind: SourceType) -> bool:
    """Whether the document has a form for the type. INT, TEXT and DATETIME are in every case's tables."""
    return kind.logical in _SUPPORTED


def write(history: History, profile: SampleProfile, layout: Layout) -> list[Written]:
    """The messages of a history's row changes, one for each row, in order."""
    return [
        Written(Message(layout.topic, 0, None, value.encode(), timestamp_ms=event.at.ms, event=number), (change,))
        for number, event in enumerate(history.events)
        if isinstance(event, RowChange)
        for value, change in (_message(event, images, profile) for images in event.rows)
    ]


def _message(event: RowChange, images: RowImages, profile: SampleProfile) -> tuple[str, Change]:
    """The text of a row's message, and what a perfect decoder makes of it: no more than the text holds."""
    op = Op.INSERT if event.op is Op.READ else event.op
    before, after = (_image(event.table, row) for row in (images.before, images.after))
    change = Change(
        0,
        Kind.ROW,
        op,
        table=event.table.name,
        commit_time_us=event.at.ms * 1000,
        before=before,
        after=after,
        accept=((Kind.ROW, Op.READ),) if event.op is Op.READ else (),
    )
    return _text(change, profile), change


def _text(change: Change, profile: SampleProfile) -> str:
    """To write: the message's JSON, member by member, in the document's order."""
    where = "generators/formats/sample_json.py, _text"
    raise UsageError(f"{where}: write the JSON of a row change, as the document prints it")


def _image(table: Table, row: Row | None) -> Image | None:
    return None if row is None else {c.name: cell(c.type, row.get(c.name), _FORMS) for c in table.columns}


_FORMS: Final = TextForms("UTC")
"""How MySQL's values are spelled as texts."""

KINDS: Final = (
    KindRow("to write: an insert", "ROW", "INSERT"),
    KindRow("to write: an update", "ROW", "UPDATE"),
    KindRow("to write: a delete", "ROW", "DELETE"),
)
"""What a message is, by what stands in it."""


def scenarios(profile: SampleProfile, database: str) -> Iterator[Scenario]:
    """The cases that only this format has: its options, its control messages, its document's contradictions."""
    yield from ()


FORMAT: Final = Format(
    name=NAME,
    title="Sample JSON",
    source="mysql",
    profiles=PROFILES,
    write=write,
    kinds=KINDS,
    position="none",
    scenarios=scenarios,
    choices=CHOICES,
    build=profile,
    supports=supports,
)
