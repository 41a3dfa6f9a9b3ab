"""Turns scenarios into cases: the messages that one profile of one format writes for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from generators.model import Case, History, Layout, Origin, RowChange, Scenario, Table, Written
from generators.profiles import Profile
from generators.sources import boundaries
from generators.wire_format import Format

LAYOUT = Layout()
"""The layout of every case: the default topic and number of partitions."""


def tables_of(history: History) -> tuple[Table, ...]:
    """The distinct tables of the history's row changes, in order of appearance; two schema versions
    are two tables.
    """
    return tuple(
        dict.fromkeys(event.table for event in history.events if isinstance(event, RowChange))
    )


def of_asked(scenario: Scenario, written: Iterable[Written]) -> tuple[Written, ...]:
    """The rows that a decoder owes at the scenario's level: level two asks for the first change's
    table, other tables owe no row.

    Without database and schema in the message a decoder cannot distinguish a namesake from the
    table, so its rows are owed.
    """
    places = {
        n: (e.table.database, e.table.schema, e.table.name)
        for n, e in enumerate(scenario.history.events)
        if isinstance(e, RowChange)
    }
    asked = next(iter(places.values()), None)
    others = {n for n, place in places.items() if scenario.level == 2 and place != asked}
    return tuple(
        replace(w, changes=())
        if w.message.event in others and any(c.database or c.schema for c in w.changes)
        else w
        for w in written
    )


def case_id(fmt: Format[Any], profile: Profile, scenario: Scenario) -> str:
    """The id of the scenario's case: `<format>/<profile>/<scenario>`."""
    return f"{fmt.name}/{profile.name}/{scenario.name}"


def as_case(
    fmt: Format[Any], profile: Profile, scenario: Scenario, layout: Layout = LAYOUT
) -> Case:
    """The scenario as that profile writes it, under its id, which its messages carry too.

    Raises Refused on a history that its source cannot have.
    """
    name = case_id(fmt, profile, scenario)
    written = of_asked(scenario, fmt.write(scenario.history, profile, layout))
    named = tuple(replace(w, message=replace(w.message, case=name)) for w in written)
    return case_of(
        fmt,
        profile,
        scenario,
        name,
        named,
        Origin.DRAWN if "drawn" in scenario.tags else Origin.NAMED,
    )


def case_of(
    fmt: Format[Any],
    profile: Profile,
    scenario: Scenario,
    name: str,
    written: tuple[Written, ...],
    origin: Origin,
) -> Case:
    """The scenario as a case of that id, with messages that have been written."""
    tables = tables_of(scenario.history)
    return Case(
        id=name,
        format=fmt.name,
        profile=profile.name,
        deployment=profile.deployment,
        level=scenario.level,
        tables=tables if scenario.level == 1 else tables[:1],
        written=written,
        tags=scenario.tags,
        origin=origin,
        scenario=scenario.name,
    )


def boundary_scenarios(fmt: Format[Any], profile: Profile) -> Iterator[Scenario]:
    """Every named scenario of a profile: the generic ones of its source in their fixed order, then
    the format's own.
    """
    yield from boundaries.scenarios(profile.database, fmt.supports, profile.source)
    if profile is fmt.profiles[0]:
        yield boundaries.megabyte(profile.database, profile.source)
        yield boundaries.many_rows(profile.database, profile.source)
        if not fmt.source.startswith("TiDB"):
            yield boundaries.same_name_in_capitals(profile.source)
    yield from fmt.scenarios(profile, profile.database)
