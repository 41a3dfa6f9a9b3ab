"""The rows of a change as Oracle's redo log has them: without large values that no statement set.

Source: debezium#oracle-large-values.
"""

from __future__ import annotations

from typing import NamedTuple

from generators.families.debezium.oracle import placeholder
from generators.families.debezium.values import Modes
from generators.formats.debezium_json.rows import Wires
from generators.model import RowImages, Table
from generators.sources.oracle_types import oracle_types


class LoggedRows(NamedTuple):
    """Both rows of an UPDATE, as the connector writes them."""

    before: Wires
    after: Wires


def logged_row(table: Table, before: Wires, modes: Modes) -> Wires:
    """An old row as Oracle's connector writes it: with its placeholder in each column of large
    values (LOBs), also where the value was NULL.
    """
    return {
        column.name: (
            placeholder(column.type, modes, column.nullable)
            if oracle_types()[column.type.name].lob
            else before[column.name]
        )
        for column in table.columns
        if column.name in before
    }


def logged_rows(
    table: Table, images: RowImages, before: Wires, after: Wires, modes: Modes
) -> LoggedRows:
    """Both rows of an UPDATE as Oracle's connector writes them: its placeholder stands for the
    large values (LOBs) of the old row, and for those of the new row that the UPDATE did not change.
    """
    assert images.before is not None and images.after is not None
    new_row = dict(after)
    for column in table.columns:
        is_changed = images.before.get(column.name) != images.after.get(column.name)
        if oracle_types()[column.type.name].lob and not is_changed:
            new_row[column.name] = placeholder(column.type, modes, column.nullable)
    return LoggedRows(logged_row(table, before, modes), new_row)
