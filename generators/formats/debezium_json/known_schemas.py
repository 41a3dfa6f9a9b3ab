"""The schemas under which a running PostgreSQL connector knows tables: ALTER SCHEMA ... RENAME TO
is not in the stream, so that rows come under the old name until a statement on their table or a
TRUNCATE tells the new one (debezium#renamed-schemas).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Self

from generators.formats.debezium_json.known_labels import bare_column_name
from generators.model import SchemaChange, Table

_NAME: Final = r"(\"(?:[^\"]|\"\")+\"|\w+)"
"""A name in SQL, in quotes or without."""
_RENAMED: Final = re.compile(
    rf"\s*ALTER\s+SCHEMA\s+{_NAME}\s+RENAME\s+TO\s+{_NAME}\s*;?\s*", re.IGNORECASE
)
"""A statement that renames a schema; the groups are the old name and the new one."""


class RenamedSchema(NamedTuple):
    """A schema's names before and after a statement that renames it."""

    old_name: str
    new_name: str

    @classmethod
    def parse(cls, sql: str) -> Self | None:
        """Reads an ALTER SCHEMA ... RENAME TO; None for another statement."""
        match = _RENAMED.fullmatch(sql)
        return cls(bare_column_name(match[1]), bare_column_name(match[2])) if match else None


class _Place(NamedTuple):
    """A table: the names of its database, its schema and itself."""

    database: str
    schema: str | None
    table: str

    @classmethod
    def of_table(cls, table: Table) -> Self:
        """The place of a table."""
        return cls(table.database, table.schema, table.name)


@dataclass(slots=True)
class KnownSchemas:
    """The schemas of tables as a running connector knows them: `schemas` has, by the present place
    of each table that had a row, the schema under which the connector knows it.
    """

    schemas: dict[_Place, str | None] = field(default_factory=dict)

    def follow_statement(self, event: SchemaChange) -> None:
        """Follows a statement that renames a schema, whose tables the connector goes on to know
        under the old name; a statement on a table tells it the table's own.
        """
        renamed = RenamedSchema.parse(event.sql)
        if renamed is None:
            for table in filter(None, (event.before, event.after)):
                self.schemas.pop(_Place.of_table(table), None)
            return
        for place in [*self.schemas]:
            if (place.database, place.schema) == (event.database, renamed.old_name):
                new_place = place._replace(schema=renamed.new_name)
                self.schemas[new_place] = self.schemas.pop(place)

    def table(self, table: Table, *, truncated: bool) -> Table:
        """The table of a row with the schema that the connector knows; a TRUNCATE (`truncated`)
        tells it the table's own.
        """
        place = _Place.of_table(table)
        if truncated:
            self.schemas[place] = table.schema
        known_schema = self.schemas.setdefault(place, table.schema)
        return table if known_schema == table.schema else replace(table, schema=known_schema)
