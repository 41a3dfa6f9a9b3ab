"""Candidates with fewer events and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from conformance.reducing.hints import Hint
from conformance.reducing.orders import put_first, without_parts
from conformance.reducing.scenario_parts import replace_event, row_changes, with_events
from conformance.reducing.smaller_columns import cut_columns
from generators.model import Event, RowChange, Scenario

_ROWS: Final = 12
"""Limit of an event's rows that are tried alone."""


class _SingleRow(NamedTuple):
    """A row change with one of its rows alone, and the number of its event in the scenario."""

    number: int
    event: RowChange


def with_one_row(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """Scenarios with one row of `scenario` alone; rows of the event in which the failure is, as
    `where` has it, come first. All rows are tried cut to the key and the failing column, then all
    with all columns, then all cut and together with the events that are no row changes. Last, each
    of these other events is tried alone. Nothing if the scenario is just one row already.
    """
    events = scenario.history.events
    columns = {where.column} if where.column is not None else set()
    single_rows = _single_rows(events, where)
    if len(events) == 1 and single_rows and len(row_changes(scenario)[0].rows) == 1:
        return
    for _, event in single_rows:
        yield cut_columns(with_events(scenario, (event,)), columns)
    for _, event in single_rows:
        yield with_events(scenario, (event,))
    other_events = [event for event in events if not isinstance(event, RowChange)]
    if other_events:
        for single_row in single_rows:
            yield cut_columns(with_events(scenario, _with_others(events, single_row)), columns)
    for other_event in other_events:
        yield with_events(scenario, (other_event,))


def _single_rows(events: Sequence[Event], where: Hint) -> list[_SingleRow]:
    """The first rows of every row change, each alone; those of the failing event first."""
    single_rows: list[_SingleRow] = []
    for number, event in put_first(list(enumerate(events)), where.event):
        if isinstance(event, RowChange):
            for images in event.rows[:_ROWS]:
                single_rows.append(_SingleRow(number, replace(event, rows=(images,))))
    return single_rows


def _with_others(events: Sequence[Event], single_row: _SingleRow) -> list[Event]:
    """The events that are no row changes, and among them, in its place, the single row."""
    with_others: list[Event] = []
    for number, event in enumerate(events):
        if number == single_row.number:
            with_others.append(single_row.event)
        elif not isinstance(event, RowChange):
            with_others.append(event)
    return with_others


def with_fewer_events(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """Scenarios without a half, a quarter ... of the events, down to without a single event; each
    first cut to the failing column (if it is known), then with all columns.
    """
    events = scenario.history.events
    for remaining in without_parts(events):
        smaller = with_events(scenario, remaining)
        if where.column is not None:
            yield cut_columns(smaller, {where.column})
        yield smaller


def with_fewer_rows(scenario: Scenario) -> Iterator[Scenario]:
    """Scenarios without a half, a quarter ... of one event's rows, down to without a single row."""
    for number, event in enumerate(scenario.history.events):
        if isinstance(event, RowChange):
            for remaining in without_parts(event.rows):
                yield replace_event(scenario, number, replace(event, rows=tuple(remaining)))
