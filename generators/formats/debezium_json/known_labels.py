"""The labels of PostgreSQL's enums that a running connector knows: those of the first row, not the
ones that ALTER TYPE adds later (debezium#added-labels).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from generators.model import Column, Table

_Place = tuple[str, str | None, str, str]


@dataclass(slots=True)
class KnownLabels:
    """The labels of the enum of each column that the writer has met, by the column's place;
    `grown` has the labels that the connector knows of an enum which has grown to those of the key,
    so that a column of that enum in another table is known alike.
    """

    labels: dict[_Place, tuple[str, ...]] = field(default_factory=dict)
    grown: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)

    def table(self, table: Table) -> Table:
        """The table whose enums have the labels that the connector knows."""
        columns = tuple(self._column(table, column) for column in table.columns)
        return table if columns == table.columns else replace(table, columns=columns)

    def _column(self, table: Table, column: Column) -> Column:
        """The column with the labels that its enum had at first, if it has them all still; those of
        another enum are new.
        """
        if column.type.name not in ("enum", "enum[]"):
            return column
        place = (table.database, table.schema, table.name, column.name)
        members = column.type.members
        known_members = self.labels.setdefault(place, self.grown.get(members, members))
        if not _is_part(known_members, members):
            known_members = self.labels[place] = members
        if known_members == members:
            return column
        self.grown[members] = known_members
        return replace(column, type=replace(column.type, members=known_members))


def _is_part(part: Sequence[str], every: Sequence[str]) -> bool:
    """Whether all of `part` are among `every`, in their order."""
    remaining_labels = iter(every)
    return all(label in remaining_labels for label in part)
