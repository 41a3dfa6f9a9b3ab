"""A selection of named cases that covers what all of them cover, for budget smoke.

Profiles write most scenarios alike. Of each scenario (with its fault) `EACH` profiles of every
deployment and source that owe the same kinds of changes and the same columns stay, in turns by the
seed, and beside them the first case of every pair of a profile and a trait: a tag, a kind of change
with its operation, a cell's logical type with its state, its class and its form. The self test
tries its liars and operators on this selection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final
from zlib import crc32

from generators.model import Case, Cell, Image, Logical, State

EACH: Final = 2
"""Profiles of a deployment that keep a scenario."""
_NUMBERS: Final = (Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE)
_DIGITS: Final = frozenset("0123456789")


def covering(cases: Iterable[Case], seed: int) -> list[Case]:
    """The cases that stay, in their order."""
    alike: dict[tuple[object, ...], list[Case]] = defaultdict(list)
    for case in cases:
        alike[case.deployment, case.level, case.scenario, case.fault, _shape(case)].append(case)
    kept: set[str] = set()
    for (_, _, scenario, fault, _), some in alike.items():
        first = (seed + crc32(f"{scenario}/{fault}".encode())) % len(some)
        kept.update(case.id for case in (some * 2)[first : first + EACH])
    every = [case for some in alike.values() for case in some]
    seen = {pair for case in every if case.id in kept for pair in _traits(case)}
    for case in every:
        if case.id not in kept and not seen.issuperset(of_case := set(_traits(case))):
            kept.add(case.id)
            seen |= of_case
    return [case for case in cases if case.id in kept]


def _shape(case: Case) -> tuple[object, ...]:
    """What a decoder owes for the case, without values, and of which source: profiles that differ
    in it do not write it alike.
    """
    changes = [change for written in case.written for change in written.changes]
    images = [
        (change, [change.image(side, case.level) for side in ("before", "after")])
        for change in changes
    ]
    sources = frozenset(
        cell.type.source for _, some in images for image in some if image for cell in image.values()
    )
    return (sources, *((change.kind, change.op, *map(_absent, some)) for change, some in images))


def _absent(image: Image | None) -> tuple[str, ...] | None:
    return (
        None
        if image is None
        else tuple(name for name, cell in image.items() if cell.state is State.ABSENT)
    )


def _traits(case: Case) -> Iterator[tuple[str, int, object]]:
    changes = [change for written in case.written for change in written.changes]
    images = (
        change.image(side, case.level) or {} for change in changes for side in ("before", "after")
    )
    cells = {
        (cell.type.logical, cell.state, cell.cls, _form(cell))
        for image in images
        for cell in image.values()
    }
    for trait in (*case.tags, *{(change.kind, change.op) for change in changes}, *cells):
        yield case.profile, case.level, trait


def _form(cell: Cell) -> str:
    """The signs beside a number's digits, which depend on the release."""
    return "".join(sorted(set(cell.text or "") - _DIGITS)) if cell.type.logical in _NUMBERS else ""
