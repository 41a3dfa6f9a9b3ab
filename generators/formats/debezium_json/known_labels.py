"""The labels of PostgreSQL's enums that a running connector knows: those of the first row, not the
ones that ALTER TYPE adds or renames later (debezium#added-labels).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from generators.model import Column, Table

_Place = tuple[str, str | None, str, str]


@dataclass(frozen=True, slots=True)
class _Enum:
    """The labels of a column's enum: those of the database, and those that the connector knows."""

    labels: tuple[str, ...]
    known: tuple[str, ...]


@dataclass(slots=True)
class KnownLabels:
    """The labels of the enum of each column that the writer has met, by the column's place;
    `altered` has the labels that the connector knows of an enum which ALTER TYPE gave those of the
    key, so that a column of that enum in another table is known alike.
    """

    enums: dict[_Place, _Enum] = field(default_factory=dict)
    altered: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)

    def table(self, table: Table) -> Table:
        """The table whose enums have the labels that the connector knows."""
        columns = tuple(self._column(table, column) for column in table.columns)
        return table if columns == table.columns else replace(table, columns=columns)

    def _column(self, table: Table, column: Column) -> Column:
        """The column with the labels that its enum had at first, if it is the same enum still; the
        labels of another enum are new.
        """
        if column.type.name not in ("enum", "enum[]"):
            return column
        place = (table.database, table.schema, table.name, column.name)
        labels = column.type.members
        met = self.enums.get(place)
        if met is not None and _is_altered(met.labels, labels):
            known = met.known
        else:
            known = self.altered.get(labels, labels)
        self.enums[place] = _Enum(labels, known)
        if known == labels:
            return column
        self.altered[labels] = known
        return replace(column, type=replace(column.type, members=known))


def _is_altered(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether ALTER TYPE makes `new` labels of the `old` ones: it adds some, or renames one; more
    than one at once are taken for another enum's.
    """
    remaining_labels = iter(new)
    if all(label in remaining_labels for label in old):
        return True
    return len(old) == len(new) and len(set(old) - set(new)) == 1
