"""The most telling named cases of a format, for budget quick: one profile, a few dozen cases.

A case tells as much as it has traits that no case before it has: tags, kinds of changes with their
operations, cells' types with their states, classes and forms (conformance.cases.covering). Of each
level the cases that tell the most are taken one after the other, of level two those of a few
tables, since each table is a decode call of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from conformance.cases.covering import Trait, list_traits
from generators.model import Case, Table
from generators.profiles import Profile

TABLES: Final = 2
"""The most tables that the chosen cases of level two (typed rows) have together: each costs a
decode call.
"""
TAG: Final = 8
"""A tag tells as much as so many cells."""
ROWS: Final = 3
"""One chosen case of so many is of level two (typed rows)."""


def plainest_profile(profiles: Sequence[Profile]) -> Profile:
    """The profile on which a quick run judges a format: the newest without options, else the last.
    Profiles are in the order of releases.
    """
    plain = [profile for profile in profiles if "+" not in profile.name]
    return (plain or list(profiles))[-1]


def select_telling(cases: Iterable[Case], limit: int) -> list[Case]:
    """At most `limit` cases for a quick run, each chosen for the traits (operations, types, classes
    of values) that no earlier one has. One in ROWS is of level two (typed rows), on TABLES tables
    at most. Returned in the order of `cases`.
    """
    all_cases = list(cases)
    row_cases = [case for case in all_cases if case.level == 2 and len(case.tables) == 1]
    change_cases = [case for case in all_cases if case.level == 1]
    telling = _choose_by_traits(row_cases, limit // ROWS if change_cases else limit, TABLES)
    telling += _choose_by_traits(change_cases, limit - len(telling), len(change_cases))
    ids = {case.id for case in telling}
    return [case for case in all_cases if case.id in ids]


def _weigh(traits: Iterable[Trait]) -> int:
    """How much new traits count when the next case is chosen. A tag, which says what a case is
    about, counts more than a cell, since a case may have a hundred cells.
    """
    return sum(TAG if isinstance(trait, str) else 1 for _, _, trait in traits)


def _choose_by_traits(cases: Sequence[Case], limit: int, table_limit: int) -> list[Case]:
    """Chooses up to `limit` cases one after the other: each time the one whose traits (what it
    covers) that no chosen case has weigh most, of equal ones the one with the smaller messages.
    Stops when no case has a new trait. Once the chosen cases have `table_limit` tables, only cases
    of these tables follow.
    """
    traits_left = {case.id: set(list_traits(case)) for case in cases}
    sizes = {case.id: sum(written.message.size for written in case.written) for case in cases}
    selected_cases: list[Case] = []
    tables: set[Table] = set()
    eligible = list(cases)
    while eligible and len(selected_cases) < limit:
        best = max(eligible, key=lambda case: (_weigh(traits_left[case.id]), -sizes[case.id]))
        if not traits_left[best.id]:
            break
        selected_cases.append(best)
        tables.update(best.tables)
        new_traits = set(traits_left[best.id])
        eligible = [
            case
            for case in eligible
            if case is not best and (len(tables) < table_limit or tables.issuperset(case.tables))
        ]
        for case in eligible:
            traits_left[case.id] -= new_traits
    return selected_cases
