"""Candidates with simpler values in their cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from conformance.reducing._plain_values import simpler_values
from conformance.reducing.orders import interleave
from conformance.reducing.scenario_parts import replace_event
from generators.model import SIDES, Column, Row, RowChange, Scenario, Side, Value


@dataclass(frozen=True, slots=True)
class CellSite:
    """A cell of a row change: the number of its event in the scenario, of its row in the event, its
    image and column, and its value.
    """

    event: int
    row_number: int
    side: Side
    column: Column
    value: Value


class NewValue(NamedTuple):
    """A cell, and the value to try in its place."""

    cell: CellSite
    value: Value


def with_simpler_values(scenario: Scenario, column: str | None) -> Iterator[Scenario]:
    """Scenarios with simpler values. First all cells at their plainest values at once, but for
    those of `column` (the failing one; None if it is unknown); then each cell at every simpler
    value, in both images of a row together if they have the same value; last, those cells one at a
    time.
    """
    plainest = plainest_cells(scenario, column)
    if len(plainest) > 1:
        yield set_cells(scenario, plainest)
    changes_by_column: dict[str, list[list[NewValue]]] = {}
    for change in _equal_changes(scenario):
        changes_by_column.setdefault(change[0].cell.column.name, []).append(change)
    failing_first = sorted(changes_by_column, key=lambda name: name != column)
    yield from interleave(
        *(map(partial(set_cells, scenario), changes_by_column[name]) for name in failing_first)
    )
    for changes in changes_by_column.values():
        for change in changes:
            if len(change) > 1:
                yield from (set_cells(scenario, [single]) for single in change)


def _equal_changes(scenario: Scenario) -> list[list[NewValue]]:
    """Every change of a cell to a simpler value, as a list of the cells that change: both cells of
    a row's column if its two images have the same value there, else one.
    """
    grouped: dict[tuple[int, int, str, str, str], list[NewValue]] = {}
    for cell in cell_sites(scenario):
        for value in simpler_cell_values(cell):
            # By their texts, since 1 and True, or 0.0 and -0.0, are equal as values.
            texts = repr(cell.value), repr(value)
            key = (cell.event, cell.row_number, cell.column.name, *texts)
            grouped.setdefault(key, []).append(NewValue(cell, value))
    return list(grouped.values())


def plainest_cells(scenario: Scenario, column: str | None) -> list[NewValue]:
    """The plainest value of every cell that has a plainer one than its own, but for the cells of
    `column`, the failing one.
    """
    plainest: list[NewValue] = []
    for cell in cell_sites(scenario):
        values = simpler_cell_values(cell)
        if values and cell.column.name != column:
            plainest.append(NewValue(cell, values[0]))
    return plainest


def cell_sites(scenario: Scenario) -> Iterator[CellSite]:
    """The cells whose values may be replaced, with their places: all cells of row changes, but no
    cell of a key where a change has several rows, which their keys must tell apart.
    """
    for number, event in enumerate(scenario.history.events):
        if not isinstance(event, RowChange):
            continue
        fixed_columns = event.table.handle_key if len(event.rows) > 1 else ()
        for row_number, images in enumerate(event.rows):
            for side in SIDES:
                image = images.before if side == "before" else images.after
                for name, value in (image or {}).items():
                    if name not in fixed_columns:
                        column = event.table.column(name)
                        yield CellSite(number, row_number, side, column, value)


def simpler_cell_values(cell: CellSite) -> list[Value]:
    """The values to try in place of a cell's: NULL first, if the column may hold it, then simpler
    values of its type.
    """
    null: list[Value] = [None] if cell.column.nullable and cell.value is not None else []
    return [*null, *simpler_values(cell.column.type, cell.value)]


def set_cells(scenario: Scenario, cells: Iterable[NewValue]) -> Scenario:
    """The scenario with another value in each of these cells."""
    for cell, value in cells:
        event = scenario.history.events[cell.event]
        assert isinstance(event, RowChange)
        images = event.rows[cell.row_number]
        image: Row | None = getattr(images, cell.side)
        assert image is not None
        changed = replace(images, **{cell.side: {**image, cell.column.name: value}})
        changed_rows = (*event.rows[: cell.row_number], changed, *event.rows[cell.row_number + 1 :])
        scenario = replace_event(scenario, cell.event, replace(event, rows=changed_rows))
    return scenario
