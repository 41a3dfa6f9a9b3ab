"""The rows of a change as SQL Server's change data capture has them: without old values of large
columns.

Source: debezium#sqlserver-large-values.
"""

from __future__ import annotations

from typing import NamedTuple

from generators.families.debezium.sqlserver import is_large, not_logged, placeholder
from generators.families.debezium.values import Modes
from generators.formats.debezium_json.rows import Wires
from generators.model import RowImages, Table
from generators.sources.sqlserver_types import sqlserver_types


class LoggedRows(NamedTuple):
    """Both rows of an UPDATE, as the connector writes them."""

    before: Wires
    after: Wires


def logged_delete(table: Table, before: Wires, modes: Modes) -> Wires:
    """The old row of a DELETE as the connector writes it: change data capture has no values of
    text, ntext and image in it.
    """
    unsent = {column.name: sqlserver_types()[column.type.name].unsent for column in table.columns}
    return {
        column.name: (
            not_logged(column.type, modes, column.nullable)
            if unsent[column.name] == "old"
            else before[column.name]
        )
        for column in table.columns
    }


def logged_update(
    table: Table, images: RowImages, before: Wires, after: Wires, modes: Modes
) -> LoggedRows:
    """Both rows of an UPDATE as SQL Server's connector writes them. The old row lacks values of
    large columns. Since 3.6 the connector's placeholder stands for each NULL of text, ntext, image
    and xml that the UPDATE did not change, in both rows.
    """
    old_row, new_row = dict(before), dict(after)
    assert images.before is not None and images.after is not None
    for column in table.columns:
        type, name = column.type, column.name
        unsent = sqlserver_types()[type.name].unsent
        old_value, new_value = images.before.get(name), images.after.get(name)
        is_changed = old_value != new_value
        if unsent == "old" or (unsent and not is_changed):
            old_row[name] = not_logged(type, modes, column.nullable)
            old_value = None
        if modes.unavailable_large_values and is_large(type):
            hidden = placeholder(type, modes, column.nullable)
            if old_value is None and not is_changed:
                old_row[name] = hidden
            if new_value is None and not is_changed:
                new_row[name] = hidden
    return LoggedRows(old_row, new_row)
