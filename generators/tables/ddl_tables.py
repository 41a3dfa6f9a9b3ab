"""Tables while their statements are read, and the schema that they make in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from generators.model import Column, Index, Table
from generators.tables.computed import computable
from generators.tables.ddl_checks import checks_of
from generators.tables.ddl_text import Cursor, Script
from generators.tables.schema import (
    Check,
    ForeignKey,
    Note,
    Place,
    Schema,
    UserTable,
    place,
    referred,
)


@dataclass(slots=True)
class Pending:
    """A constraint that waits until all tables are known: its place in a script, and the column of
    a domain's VALUE.
    """

    script: Script
    start: int
    end: int
    text: str
    value_column: str = ""

    @classmethod
    def since(cls, cursor: Cursor, start: int, text: str) -> Self:
        """The construct from a word, by its number, up to the cursor's place, of which `text`
        counts.
        """
        return cls(cursor.script, cursor.words[start].start, cursor.words[cursor.at - 1].end, text)

    def note(self, action: str) -> None:
        """Notes it."""
        self.script.note(self.start, self.end, action)


@dataclass(slots=True)
class Draft:
    """A table that statements still change. `left_out`: a note says why it is left out."""

    database: str
    schema: str | None
    name: str
    script: Script
    at: int
    columns: list[Column] = field(default_factory=list)
    primary: tuple[str, ...] = ()
    indexes: list[Index] = field(default_factory=list)
    foreign: list[tuple[ForeignKey, Pending]] = field(default_factory=list)
    checks: list[Pending] = field(default_factory=list)
    generated: dict[str, Pending] = field(default_factory=dict)
    comment: str = ""
    charset: str = ""
    collation: str = ""
    left_out: bool = False

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.database, self.schema, self.name

    @property
    def mysql(self) -> bool:
        """Whether it is of MySQL, MariaDB or TiDB."""
        return self.schema is None

    def sibling(self, names: tuple[str, ...]) -> Place:
        """Where a table is that a statement on this one names."""
        *qualifier, name = names
        within = qualifier[-1] if qualifier else self.schema or self.database
        return (within, None, name) if self.mysql else (self.database, within, name)

    def leave_out(self, cursor: Cursor, start: int, why: str) -> None:
        """Leaves it out, and notes why at the construct from a word, by its number, up to the
        cursor's place.
        """
        cursor.note(start, f"table {self.name} {why}")
        self.left_out = True

    def column_name(self, name: str) -> str | None:
        """The name of a column as the table has it, None if it has none; MySQL takes upper and
        lower case alike.
        """
        for column in self.columns:
            if column.name == name or (self.mysql and column.name.lower() == name.lower()):
                return column.name
        return None

    def change(self, name: str, **facts: object) -> None:
        """Changes a column that the table has."""
        self.columns = [replace(c, **facts) if c.name == name else c for c in self.columns]  # type: ignore[arg-type]

    def drop(self, name: str) -> None:
        """Drops a column, and what it is part of."""
        self.columns = [c for c in self.columns if c.name != name]
        self.primary = () if name in self.primary else self.primary
        self.indexes = [index for index in self.indexes if name not in index.columns]
        self.foreign = [(key, pending) for key, pending in self.foreign if name not in key.columns]

    def index(self, name: str, columns: tuple[str, ...], unique: bool) -> None:
        """Adds an index; without a name it gets its first column's, as the database does."""
        taken = {index.name.lower() for index in self.indexes}
        made = name or columns[0]
        for number in range(2, len(taken) + 3):
            if name or made.lower() not in taken:
                break
            made = f"{columns[0]}_{number}"
        self.indexes.append(Index(made, columns, unique))

    def table(self) -> Table:
        """The table."""
        primary = tuple(self.primary)
        columns = tuple(
            replace(c, nullable=False) if c.name in primary else c for c in self.columns
        )
        unique = tuple(
            index.columns for index in self.indexes if index.unique and index.name != "PRIMARY"
        )
        indexes = tuple(self.indexes)
        return Table(
            self.database, self.name, columns, primary, unique, self.schema, indexes, self.comment
        )


def finished(drafts: Mapping[Place, Draft], dialect: str, scripts: list[Script]) -> Schema:
    """The schema of all tables that are not left out."""
    taken = {at: draft for at, draft in drafts.items() if not draft.left_out}
    users = []
    for draft in taken.values():
        table = draft.table()
        resolved = (_resolved(key, taken, pending) for key, pending in draft.foreign)
        keys = tuple(key for key in resolved if key)
        checks: list[Check] = []
        for pending in draft.checks:
            checks += checks_of(table, dialect, pending.text, pending.value_column, pending.note)
        users.append(UserTable(table, keys, tuple(checks)))
    users = [
        replace(user, computed=_computed(user, users, taken[place(user.table)], dialect))
        for user in users
    ]
    notes: list[Note] = [
        note
        for script in scripts
        for note in sorted(script.notes, key=lambda n: (n.line, n.column))
    ]
    return Schema(dialect, tuple(users), tuple(notes))


def _computed(
    user: UserTable, users: list[UserTable], draft: Draft, dialect: str
) -> tuple[tuple[str, str], ...]:
    """The generated columns that can be computed, in the table's order; the others are noted. A
    column of a key is not computed, since rows have free keys before they have their values.
    """
    keys = user.identifying | user.referring | referred(users, draft.place)
    computed = []
    for column in user.table.columns:
        pending = draft.generated.get(column.name) if column.generated else None
        if (
            pending
            and column.name not in keys
            and computable(user.table, column, pending.text, dialect)
        ):
            computed.append((column.name, pending.text))
    for name, pending in draft.generated.items():
        if name not in dict(computed):
            pending.note(
                "taken as a generated column; its values are drawn, the expression is not computed"
            )
    return tuple(computed)


def _resolved(key: ForeignKey, taken: Mapping[Place, Draft], pending: Pending) -> ForeignKey | None:
    """A foreign key with the parent's columns as the parent has them; None, and a note, if the
    parent is not there.
    """
    parent = taken.get(key.parent)
    shown = ".".join(part for part in key.parent if part)
    if parent is None:
        pending.note(f"left out: table {shown} is not among the tables that are taken")
        return None
    columns = tuple(parent.column_name(name) for name in key.parent_columns or parent.primary)
    known = tuple(name for name in columns if name)
    if len(known) != len(columns) or len(known) != len(key.columns):
        pending.note(f"left out: table {shown} has not all of these columns")
        return None
    return replace(key, parent_columns=known)
