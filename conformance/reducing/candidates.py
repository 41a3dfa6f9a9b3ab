"""Candidates of a reduction: scenarios with fewer events, rows and columns, simpler values and
shorter names.

The most promising candidates come first. A candidate need not fail, and a writer may refuse it, but
it is always smaller than its origin by `measure_scenario`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from conformance.reducing.hints import Hint
from conformance.reducing.measure import measure_scenario
from conformance.reducing.orders import interleave
from conformance.reducing.scenario_parts import (
    row_changes,
    row_images,
    scenario_tables,
    with_events,
)
from conformance.reducing.shorter_names import find_short_names, rename_table, with_short_names
from conformance.reducing.simpler_cells import plainest_cells, set_cells, with_simpler_values
from conformance.reducing.smaller_columns import cut_columns, with_fewer_columns, with_one_image
from conformance.reducing.smaller_rows import with_fewer_events, with_fewer_rows, with_one_row
from generators.model import RowChange, RowImages, Scenario, Table
from generators.tables.scenarios import TABLES_TAG
from generators.tables.schema import table_name

_WIDE: Final = 8
"""Columns of a table above which simpler values and shorter names are tried only after all
scenarios with fewer columns, events and rows.
"""
_VALUED: Final = 2
"""The most rows of a scenario for which simpler values and shorter names are tried: of more rows,
leaving out rows does more.
"""


def smaller_scenarios(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """Smaller scenarios to try in place of a failing one, the smallest first as far as that can be
    guessed. `where` tells where the case failed. Each is smaller by `measure_scenario`; of a user's
    tables it also has only names and values that the scenario has. Some may come twice.
    """
    size_of_failing = measure_scenario(scenario)
    for smaller in _propose(scenario, where):
        if measure_scenario(smaller) < size_of_failing and (
            TABLES_TAG not in scenario.tags or _has_only_parts_of(smaller, scenario)
        ):
            yield smaller


def _has_only_parts_of(smaller: Scenario, scenario: Scenario) -> bool:
    """Whether a smaller scenario has only tables and cell values that the scenario has. Asked of
    users' tables, which keep their names and values.
    """
    names = set(map(table_name, scenario_tables(smaller)))
    if not names <= set(map(table_name, scenario_tables(scenario))):
        return False
    return _spelled_cells(smaller) <= _spelled_cells(scenario)


def _spelled_cells(scenario: Scenario) -> set[tuple[str, str]]:
    """The (column, value as text) pairs of all cells in the row changes of a scenario."""
    cells: set[tuple[str, str]] = set()
    for event in row_changes(scenario):
        for image in row_images(event):
            cells.update((name, repr(value)) for name, value in image.items())
    return cells


def _propose(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """Scenarios to try in place of a failing one, in which `where` shows the failure: single rows
    first, then fewer columns, events and rows, and of few rows also simpler values and shorter
    names. Not all are smaller: `smaller_scenarios` drops the others.
    """
    structure = (
        with_fewer_columns(scenario, where),
        with_fewer_events(scenario, where),
        with_fewer_rows(scenario),
    )
    details: tuple[Iterator[Scenario], ...] = ()
    if sum(len(event.rows) for event in row_changes(scenario)) <= _VALUED:
        details = (with_simpler_values(scenario, where.column), with_short_names(scenario))
    yield from interleave(_with_failing_row_alone(scenario, where), with_one_row(scenario, where))
    if max((len(table.columns) for table in scenario_tables(scenario)), default=0) > _WIDE:
        yield from interleave(*structure)
        yield from interleave(*details)
    else:
        yield from interleave(*structure, *details)


def _with_failing_row_alone(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """The failing row, cut to the key and the failing column, with short names and with its own;
    then with simpler values and a plainer op, all at once. Without a failing column: the key alone,
    or with a column that the row changes.
    """
    event = next(iter(scenario.history.events[where.event : where.event + 1]), None)
    if not isinstance(event, RowChange) or not event.rows:
        return
    images = event.rows[min(where.row_number, len(event.rows) - 1)]
    single = with_events(scenario, (replace(event, rows=(images,)),))
    if where.column is None:
        cut_rows = [_cut_to(single, None)]
        cut_rows += [_cut_to(single, column) for column in _likely_columns(event.table, images)]
    else:
        cut_rows = [_cut_to(single, where.column)]
    for cut_row in cut_rows:
        yield cut_row.short_named
        yield cut_row.long_named
    for cut_row in cut_rows:
        for variant in (cut_row.short_named, *with_one_image(cut_row.short_named)):
            yield variant
            plainer = set_cells(variant, plainest_cells(variant, cut_row.column))
            yield plainer
            yield from with_simpler_values(plainer, cut_row.column)


class _CutRow(NamedTuple):
    """A row cut to its key and one column, under its own names and under short ones; `column` is
    the short name of that column, None for the key alone.
    """

    long_named: Scenario
    short_named: Scenario
    column: str | None


def _cut_to(single: Scenario, column: str | None) -> _CutRow:
    """The scenario of a single row cut to its key and the column; to the key alone for None."""
    long_named = cut_columns(single, () if column is None else {column})
    names = find_short_names(long_named)
    short_column = None if column is None else names.columns.get(column, column)
    return _CutRow(long_named, rename_table(long_named, names), short_column)


def _likely_columns(table: Table, images: RowImages) -> list[str]:
    """The columns that a failure without a known column most likely needs: of those outside of the
    key (the primary key, or else a unique one that cannot be NULL) up to two whose values change,
    and the first one.
    """
    other_columns = [c.name for c in table.columns if c.name not in table.handle_key]
    before, after = images.before or {}, images.after or {}
    changed = [
        name
        for name in other_columns
        if name in before and name in after and before[name] != after[name]
    ]
    return list(dict.fromkeys((*changed[:2], *other_columns[:1])))
