"""Candidates with shorter names of tables, databases and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from conformance.reducing.measure import byte_length
from conformance.reducing.scenario_parts import (
    move_event,
    row_changes,
    scenario_tables,
    with_events,
)
from generators.model import Scenario, Table


class ShortNames(NamedTuple):
    """New names of the one table of a scenario: the table's, its database's, and those of columns
    by their old names, without the columns that keep theirs.
    """

    table: str
    database: str
    columns: Mapping[str, str]


def with_short_names(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario with short names for its table, database and columns: all at once, then each
    alone. Nothing for a scenario of several tables, or of other events than row changes.
    """
    tables = {(table.database, table.name) for table in scenario_tables(scenario)}
    changes = row_changes(scenario)
    if len(tables) != 1 or len(changes) < len(scenario.history.events):
        return
    table = changes[0].table
    short = find_short_names(scenario)
    yield rename_table(scenario, short)
    yield rename_table(scenario, ShortNames(short.table, short.database, {}))
    yield rename_table(scenario, ShortNames(short.table, table.database, {}))
    yield rename_table(scenario, ShortNames(table.name, short.database, {}))
    names_in_use = {column.name.casefold() for column in table.columns}
    for old, new in short.columns.items():
        if new not in names_in_use:
            yield rename_table(scenario, ShortNames(table.name, table.database, {old: new}))


def find_short_names(scenario: Scenario) -> ShortNames:
    """Short names for the table of the first row change: `t`, its database `d`, the column of a key
    of one column `id`, and all other columns, also those of a longer key, `c`, `c1` ... A name is
    only changed if the new one is shorter, and a column's only if no column that keeps its name has
    the new one. At level two the database keeps its name.
    """
    table = row_changes(scenario)[0].table
    other_columns = [c.name for c in table.columns if (c.name,) != table.handle_key]
    columns = {name: f"c{i or ''}" for i, name in enumerate(other_columns)}
    columns |= {c.name: "id" for c in table.columns if c.name not in other_columns}
    columns = {old: new for old, new in columns.items() if len(new) < byte_length(old)}
    names_in_use = {c.name.casefold() for c in table.columns} - {old.casefold() for old in columns}
    columns = {old: new for old, new in columns.items() if new not in names_in_use}
    renames_database = scenario.level == 1 and byte_length(table.database) > 1
    return ShortNames(
        "t" if byte_length(table.name) > 1 else table.name,
        "d" if renames_database else table.database,
        columns,
    )


def rename_table(scenario: Scenario, names: ShortNames) -> Scenario:
    """The scenario, which has one table, with that table, its database and columns renamed."""
    new_names = names.columns

    def rename(table: Table) -> Table:
        """The table with the new names, also in its keys."""
        return replace(
            table,
            database=names.database,
            name=names.table,
            columns=tuple(replace(c, name=new_names.get(c.name, c.name)) for c in table.columns),
            primary_key=tuple(new_names.get(key, key) for key in table.primary_key),
            unique=tuple(tuple(new_names.get(key, key) for key in keys) for keys in table.unique),
        )

    events = (move_event(event, rename, columns=new_names) for event in scenario.history.events)
    return with_events(scenario, events)
