"""The labels of PostgreSQL's enums that a running connector knows: those of the first row, not the
ones that ALTER TYPE adds or renames later (debezium#added-labels). A column that ALTER TABLE gives
another enum has that one's own labels. A default that is a label keeps its old name until a
statement on the table itself. From 3.7 on a row with a label that the connector does not know makes
it read the labels of that enum again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from generators.model import Column, Default, Row, SchemaChange, Table

_NAME: Final = r"(\"(?:[^\"]|\"\")+\"|\w+)"
"""A name in SQL, in quotes or without."""
_RETYPED: Final = re.compile(
    rf"\bALTER\s+(?:COLUMN\s+)?{_NAME}\s+(?:SET\s+DATA\s+)?TYPE\b"
    rf"|\bDROP\s+(?:COLUMN\s+)?(?:IF\s+EXISTS\s+)?{_NAME}",
    re.IGNORECASE,
)
"""A clause of ALTER TABLE that gives a column another type, or drops it; one of the two groups is
the column's name.
"""
_RENAMED: Final = re.compile(
    rf"\bRENAME\s+(?:COLUMN\s+)?(?!TO\b|CONSTRAINT\b){_NAME}\s+TO\s+{_NAME}", re.IGNORECASE
)
"""A clause of ALTER TABLE that renames a column; the groups are the old name and the new one."""
_Place = tuple[str, str | None, str, str]
"""A column: the names of its database, schema, table and itself."""


@dataclass(frozen=True, slots=True)
class _Enum:
    """The labels of a column's enum: those of the database, and those that the connector knows."""

    labels: tuple[str, ...]
    known_labels: tuple[str, ...]


@dataclass(slots=True)
class KnownLabels:
    """The labels of enums as a running connector knows them. `enums` has those of each column that
    the writer has met, by the column's place; `defaults` the label that is the column's default, as
    it was when the connector last read the table's columns. `altered` has, by the present labels of
    an enum that ALTER TYPE changed, those that the connector knows of it, so that a column of that
    enum in another table has them, too. `reread` has the present labels of each enum that the connector has
    read again (`refresh`), and `rebuilt` the columns whose table a statement was on since their
    last row, so that they take what was read again.
    """

    enums: dict[_Place, _Enum] = field(default_factory=dict)
    defaults: dict[_Place, Default] = field(default_factory=dict)
    altered: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    reread: set[tuple[str, ...]] = field(default_factory=set)
    rebuilt: set[_Place] = field(default_factory=set)

    def table(self, table: Table) -> Table:
        """The table whose enums have the labels that the connector knows."""
        columns = tuple(self._column(table, column) for column in table.columns)
        return table if columns == table.columns else replace(table, columns=columns)

    def refresh(self, table: Table, new_row: Row) -> bool:
        """Reads the labels of the table's enums again if the row has one that the connector does
        not know, and says whether it did; in an array no label is looked for
        (debezium#refreshed-labels).
        """
        is_read = False
        for column in table.columns:
            place = (table.database, table.schema, table.name, column.name)
            known_enum = self.enums.get(place)
            if column.type.name != "enum" or known_enum is None:
                continue
            labels, label = column.type.members, new_row.get(column.name)
            if label is None or label in self.altered.get(labels, labels):
                continue
            self.enums[place] = _Enum(labels, labels)
            self.defaults.pop(place, None)
            self.altered.pop(labels, None)
            self.reread.add(labels)
            is_read = True
        return is_read

    def known_defaults(self, table: Table, defaults: Mapping[str, Default]) -> dict[str, Default]:
        """The defaults of the table's columns, by name, as the running connector knows them:
        `defaults`, but a label that ALTER TYPE ... RENAME VALUE renamed since the last statement on
        the table under its old name.
        """
        known_defaults = dict(defaults)
        for column in table.columns:
            default = defaults.get(column.name)
            if column.type.name != "enum" or default is None:
                continue
            place = (table.database, table.schema, table.name, column.name)
            labels, met_enum = column.type.members, self.enums.get(place)
            met_default = self.defaults.setdefault(place, default)
            is_altered = met_enum is not None and _is_altered(met_enum.labels, labels)
            if is_altered and met_default.value not in labels:
                known_defaults[column.name] = met_default
            else:
                self.defaults[place] = default
        return known_defaults

    def follow_statement(self, event: SchemaChange) -> None:
        """Forgets the enums of columns that a statement drops, or gives another type: what the
        connector knows of the new enum is not that of the old one, however alike the labels are. A
        table or column that gets another name keeps its enums, and so does a table that gets
        another schema. DROP TABLE forgets none. Of each table that a statement is on the connector
        reads the defaults again.
        """
        table = event.after or event.before
        if table is None:
            return
        old_schema = (event.before or table).schema
        old_table = (table.database, old_schema, event.old_name or table.name)
        self.defaults = {
            place: default for place, default in self.defaults.items() if place[:3] != old_table
        }
        columns = {place[3]: place for place in self.enums if place[:3] == old_table}
        for match in _RETYPED.finditer(event.sql):
            retyped_place = columns.pop(bare_column_name(match[1] or match[2]), None)
            if retyped_place is not None:
                del self.enums[retyped_place]
        renamed = {
            bare_column_name(match[1]): bare_column_name(match[2])
            for match in _RENAMED.finditer(event.sql)
        }
        moved_enums: dict[_Place, _Enum] = {}
        for name, place in columns.items():
            new_name = renamed.get(name, name)
            new_place = (table.database, table.schema, table.name, new_name)
            moved_enums[new_place] = self.enums.pop(place)
        self.enums.update(moved_enums)
        self.rebuilt.update(moved_enums)

    def _column(self, table: Table, column: Column) -> Column:
        """The column with the labels that the running connector knows of its enum. If the enum is
        the one that the column had before, changed by ALTER TYPE at most, they are those that the
        connector met first. Else they are its own, unless another column showed that ALTER TYPE
        made these labels (`altered`).
        """
        if column.type.name not in ("enum", "enum[]"):
            return column
        place = (table.database, table.schema, table.name, column.name)
        labels = column.type.members
        met_enum = self.enums.get(place)
        if place in self.rebuilt and labels in self.reread:
            known_labels = labels
        elif met_enum is not None and _is_altered(met_enum.labels, labels):
            known_labels = met_enum.known_labels
        else:
            known_labels = self.altered.get(labels, labels)
        self.rebuilt.discard(place)
        self.enums[place] = _Enum(labels, known_labels)
        if known_labels == labels:
            return column
        if labels not in self.reread:
            self.altered[labels] = known_labels
        return replace(column, type=replace(column.type, members=known_labels))


def bare_column_name(written_name: str) -> str:
    """The column that a name in SQL means: in quotes as it stands, else in lower case."""
    if written_name.startswith('"'):
        return written_name[1:-1].replace('""', '"')
    return written_name.lower()


def _is_altered(old_labels: Sequence[str], new_labels: Sequence[str]) -> bool:
    """Whether ALTER TYPE makes the new labels of the old ones: it adds some anywhere, and renames
    one at most, which then may stand elsewhere, since the catalogue's order is that of its writes.
    More than one that is gone, or others whose order changed, are taken for another enum's.
    """
    kept_labels = [label for label in old_labels if label in new_labels]
    remaining_labels = iter(new_labels)
    in_order = all(label in remaining_labels for label in kept_labels)
    gone = len(old_labels) - len(kept_labels)
    return in_order and gone <= 1 and len(new_labels) >= len(old_labels)
