"""A selection of named cases that covers what all of them cover, for budget smoke.

Profiles write most scenarios alike. Of each scenario (with its fault) `PROFILES_EACH` profiles of
every deployment and source that owe the same kinds of changes and the same columns stay, in turns
by the seed, and beside them the first case of every pair of a profile and a trait: a tag, a kind of
change with its operation, a class of a field of the envelope (`list_field_classes`), a cell's
logical type with its state, its class and its form. The self test tries its liars and operators on
this selection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Final, NamedTuple, TypeAlias
from zlib import crc32

from generators.model import SIDES, Case, Cell, Change, Image, Kind, Logical, State

PROFILES_EACH: Final = 2
"""Profiles of a deployment that keep a scenario."""
Trait: TypeAlias = tuple[str, int, object]
"""What cases have in common: the profile, the level, and what the case has there: a tag (a text), a
kind of change with its operation, a class of a field, or the type, state, class and form of a cell.
"""
_NUMBERS: Final = (Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE)
"""Types of numbers whose text may have other signs than digits."""
_DIGITS: Final = frozenset("0123456789")
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz_") | _DIGITS
"""Characters of a name that no decoder stumbles over."""
_SECOND: Final = 1_000_000
"""Microseconds of a second."""
_BITS: Final = (32, 53)
"""Widths that a number of a position may pass: of an int, and of the digits of a double."""


class FieldClass(NamedTuple):
    """A class of the values that a field of the envelope has in changes of a kind."""

    kind: Kind
    field: str
    name: str


def select_covering(cases: Iterable[Case], seed: int) -> list[Case]:
    """A selection of cases that together has every trait that any of them has. Of each scenario it
    has the cases of a few profiles, chosen by the seed, and beside these the first case of each
    trait that is missing then. Returned in the order of `cases`.
    """
    groups: dict[tuple[object, ...], list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.deployment, case.level, case.scenario, case.fault, _shape(case)].append(case)
    selected_ids: set[str] = set()
    for (_, _, scenario, fault, _), group in groups.items():
        start = (seed + crc32(f"{scenario}/{fault}".encode())) % len(group)
        selected_ids.update(case.id for case in (group * 2)[start : start + PROFILES_EACH])
    ordered = list(chain.from_iterable(groups.values()))
    covered: set[Trait] = set()
    for case in ordered:
        if case.id in selected_ids:
            covered.update(list_traits(case))
    for case in ordered:
        if case.id not in selected_ids and not covered.issuperset(
            case_traits := set(list_traits(case))
        ):
            selected_ids.add(case.id)
            covered |= case_traits
    return [case for case in cases if case.id in selected_ids]


def _shape(case: Case) -> tuple[object, ...]:
    """A key that is equal for two profiles' cases of a scenario if they are written alike: the
    sources of the cells' types (such as mysql), and for each change its kind (ROW, DDL ...), its
    operation, and for the before and the after image the columns that the message lacks there.
    """
    sources = frozenset(cell.type.source for cell in _cells(case))
    changes = []
    for change in _changes(case):
        absent = [_absent(change.image(side, case.level)) for side in SIDES]
        changes.append((change.kind, change.op, *absent))
    return (sources, *changes)


def _changes(case: Case) -> Iterator[Change]:
    """The expected changes of all messages of a case."""
    return chain.from_iterable(written.changes for written in case.written)


def _cells(case: Case) -> Iterator[Cell]:
    """The expected cells of both images of each change of a case, as a decoder of the case's level
    owes them: texts of the message, or at level two typed values.
    """
    for change in _changes(case):
        for side in SIDES:
            yield from (change.image(side, case.level) or {}).values()


def _absent(image: Image | None) -> tuple[str, ...] | None:
    """The names of the columns that an image lacks in the message (their expected cell is ABSENT);
    None if there is no image.
    """
    return (
        None
        if image is None
        else tuple(name for name, cell in image.items() if cell.state is State.ABSENT)
    )


def list_traits(case: Case) -> Iterator[Trait]:
    """The traits that a case covers, each with its profile and level: its tags, its changes' kinds
    with their operations, the classes of the changes' fields (at level one alone), and the type,
    state, class and signs (such as `.` and `e` of a number) of their cells.
    """
    operations = {(change.kind, change.op) for change in _changes(case)}
    cells = {
        (cell.type.logical, cell.state, cell.cls, _number_signs(cell)) for cell in _cells(case)
    }
    field_classes: set[FieldClass] = set()
    if case.level == 1:
        for change in _changes(case):
            field_classes.update(list_field_classes(change))
    for trait in (*case.tags, *operations, *field_classes, *cells):
        yield case.profile, case.level, trait


def list_field_classes(change: Change) -> Iterator[FieldClass]:
    """The classes of a change's fields that a reader may take for something else: the order and the
    number of key columns, signs in names, a fraction of a commit's second, and the size of a
    position.
    """
    keys, position = change.keys, change.position or ""
    names = {"database": change.database, "schema": change.schema, "table": change.table}
    texts = [(field, name) for field, name in names.items() if name is not None]
    texts += [("keys", key) for key in keys or ()]
    for field, text in texts:
        for sign in _name_signs(text):
            yield FieldClass(change.kind, field, sign)
    if keys is not None:
        yield FieldClass(change.kind, "keys", "several" if len(keys) > 1 else f"{len(keys)}")
        if keys != tuple(sorted(keys)):
            yield FieldClass(change.kind, "keys", "unsorted")
    if (change.commit_time_us or 0) % _SECOND:
        yield FieldClass(change.kind, "commit_time", "fraction")
    if position.isdigit():
        for bits in _BITS:
            if int(position) >> bits:
                yield FieldClass(change.kind, "position", f"over {bits} bits")


@cache
def _name_signs(name: str) -> frozenset[str]:
    """The characters of a table's or column's name that a decoder may stumble over: all but small
    letters, digits and `_`. Capitals count as one sign, and so do all characters beyond ASCII.
    """
    signs: set[str] = set()
    for character in name:
        if not character.isascii():
            signs.add("beyond")
        elif character.isupper():
            signs.add("capital")
        else:
            signs.add(character)
    return frozenset(signs) - _PLAIN


def _number_signs(cell: Cell) -> str:
    """The characters of a number's text that are no digits, such as `.` and `e`: releases write
    them differently. "" for a cell that is no number.
    """
    return "".join(sorted(set(cell.text or "") - _DIGITS)) if cell.type.logical in _NUMBERS else ""
