"""The defaults of columns that a running Debezium connector knows: those of the table, and those
that later statements gave.

Source: debezium#defaults.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from generators.formats.debezium_json.column_definitions import text_definitions
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.formats.debezium_json.rows import defaults_of
from generators.model import Default, SchemaChange, Table

_DEFAULT: Final = re.compile(
    r"""(?:ADD COLUMN|ALTER COLUMN) (?:`([^`]+)`|"([^"]+)") .*DEFAULT (\d+)$"""
)
"""A clause that gives a column a number as its default: the column's name in back-ticks or in
quotes, and the number.
"""


@dataclass(slots=True)
class KnownDefaults:
    """The defaults of columns as a running connector knows them. `by_table` has those that
    statements gave, by the names of database and table and then by the column's.
    """

    profile: DebeziumProfile
    by_table: dict[tuple[str, str], dict[str, Default]] = field(default_factory=dict)

    def follow_statement(self, event: SchemaChange) -> None:
        """Remembers what a statement says of defaults, for the messages that follow; a renamed
        table keeps what is known of it under its new name.
        """
        table_key = (event.database, event.table)
        if event.old_name:
            self.by_table[table_key] = self.by_table.pop((event.database, event.old_name), {})
        self._follow_definitions(event)
        default_clause = _DEFAULT.search(event.sql)
        if default_clause and event.action in ("add column", "set default"):
            name = default_clause[1] or default_clause[2]
            self.by_table[table_key] = {
                **self.by_table.get(table_key, {}),
                name: Default(default_clause[3], int(default_clause[3])),
            }

    def _follow_definitions(self, event: SchemaChange) -> None:
        """Follows a statement that defines columns of texts anew: forgets the defaults that earlier
        statements gave to them, and, in releases that read a COLLATE as part of a default,
        remembers the default so.
        """
        if not self.profile.is_mysql or event.after is None:
            return
        table_key = (event.database, event.table)
        known_defaults = dict(self.by_table.get(table_key, {}))
        for name, definition in text_definitions(event.sql, event.after.columns).items():
            known_defaults.pop(name, None)
            if definition.collated_default and self.profile.keeps_collations_of_defaults:
                # The text of a default stands in quotes: in double ones here, as it has single
                # ones.
                spelled = definition.collated_default
                known_defaults[name] = Default(f'"{spelled}"', spelled)
        if known_defaults or table_key in self.by_table:
            self.by_table[table_key] = known_defaults

    def of_table(self, table: Table, snapshot: bool) -> Mapping[str, Default]:
        """The defaults of the table's columns that the connector knows, by the columns' names:
        those that later statements gave, else the table's own. `snapshot`: a snapshot reads the
        table's rows.
        """
        return defaults_of(
            table, self.profile, self.by_table.get((table.database, table.name), {}), snapshot
        )

    def with_defaults(self, table: Table) -> Table:
        """The table with the defaults that ALTER statements have given its columns since it was
        made.
        """
        defaults_by_column = self.by_table.get((table.database, table.name), {})
        return replace(
            table,
            columns=tuple(
                replace(c, default=defaults_by_column.get(c.name, c.default)) for c in table.columns
            ),
        )
