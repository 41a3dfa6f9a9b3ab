"""Turns scenarios into cases: the messages that one profile of one format writes for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from generators.model import (
    Case,
    History,
    Kind,
    Layout,
    Origin,
    RowChange,
    Scenario,
    Table,
    Written,
)
from generators.profiles import Profile
from generators.sources import boundaries
from generators.sources.collections import scenario_of_collections
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


def owed_at_level(scenario: Scenario, written: Iterable[Written]) -> tuple[Written, ...]:
    """The messages, each with the changes that a decoder must return for it at the scenario's
    level. At level one (one output row for each change) these are all changes of the message. At
    level two (typed rows of one table) the decoder is asked for the table of the first row change,
    and must return nothing for messages of other tables. But a message that has neither database
    nor schema cannot be told from one of the requested table: the decoder must return its rows if
    the table has the same name, or if the message has no table's name either.
    """
    table_by_event = {
        number: (event.table.database, event.table.schema, event.table.name)
        for number, event in enumerate(scenario.history.events)
        if isinstance(event, RowChange)
    }
    requested_table = next(iter(table_by_event.values()), None)
    with_rows: list[Written] = []
    for written_message in written:
        table = table_by_event.get(written_message.message.event, requested_table)
        is_requested = scenario.level == 1 or table == requested_table
        changes = written_message.changes
        names_its_table = any(change.database or change.schema for change in changes)
        if not is_requested and names_its_table:
            changes = ()
        elif not is_requested and requested_table is not None:
            changes = tuple(
                replace(change, tables=(requested_table[-1],))
                if change.kind is Kind.ROW and not change.table
                else change
                for change in changes
            )
        with_rows.append(replace(written_message, changes=changes))
    return tuple(with_rows)


def case_id(fmt: Format[Any], profile: Profile, scenario: Scenario) -> str:
    """The id of the scenario's case: `<format>/<profile>/<scenario>`."""
    return f"{fmt.name}/{profile.name}/{scenario.name}"


def as_case(
    fmt: Format[Any], profile: Profile, scenario: Scenario, layout: Layout = LAYOUT
) -> Case:
    """The scenario as a case: the messages that the profile writes for it, each with the case's id
    and the changes expected of a decoder at the scenario's level (one: values as text, two: typed
    rows of one table). For MongoDB the tables become collections first. Raises Refused for a
    history that is impossible at the profile's source.
    """
    scenario = scenario_of_collections(scenario, profile.source)
    name = case_id(fmt, profile, scenario)
    written = owed_at_level(scenario, fmt.write(scenario.history, profile, layout))
    written_with_id = tuple(replace(w, message=replace(w.message, case=name)) for w in written)
    return case_of(
        fmt,
        profile,
        scenario,
        name,
        written_with_id,
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
    """A case with the id `name`, made of a scenario and messages that have been written already.
    `origin` says where it comes from, such as a drawn or a named scenario.
    """
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
    """All named scenarios of a profile, in a fixed order: first those of its source (the large ones
    only for the format's first profile), then the format's own.
    """
    yield from boundaries.scenarios(profile.database, fmt.supports, profile.source)
    if profile is fmt.profiles[0]:
        yield boundaries.megabyte(profile.database, profile.source)
        yield boundaries.scenario_of_many_rows(profile.database, profile.source)
        yield boundaries.many_commits(profile.database, profile.source)
        if not fmt.source.startswith("TiDB"):
            yield boundaries.same_name_in_capitals(profile.source)
    yield from fmt.scenarios(profile, profile.database)
