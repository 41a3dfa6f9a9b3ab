"""Tables while their statements are read, and the schema that they make in the end."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from generators.model import Column, Index, Table
from generators.sources import mysql, postgresql
from generators.tables.computed import is_computable
from generators.tables.ddl_checks import read_checks
from generators.tables.ddl_text import Cursor, Script
from generators.tables.schema import (
    Check,
    ForeignKey,
    Note,
    Schema,
    TableName,
    UserTable,
    referred_columns,
    table_name,
)


@dataclass(slots=True)
class Pending:
    """A CHECK, a foreign key or the expression of a generated column, which waits until all tables
    are known: its place in a script, from `start` to `end`, and its condition or expression ("" for
    a foreign key). `value_column` is the column that VALUE stands for in a domain's CHECK, else "".
    """

    script: Script
    start: int
    end: int
    condition: str
    value_column: str = ""

    @classmethod
    def since(cls, cursor: Cursor, start: int, condition_text: str) -> Self:
        """The constraint that goes from the word of number `start` to the cursor's place; its
        condition is `condition_text`.
        """
        return cls(
            cursor.script,
            cursor.words[start].start,
            cursor.words[cursor.at - 1].end,
            condition_text,
        )

    def rename_column(self, name: str, new_name: str, is_mysql: bool) -> Self:
        """The constraint after a column was renamed: its condition names the column by its new
        name, between quotes.
        """

        def spell(word: re.Match[str]) -> str:
            """The new name in place of a word that names the column, else the word."""
            return quote(new_name) if _names_column(word[0], name, is_mysql) else word[0]

        quote = mysql.quote if is_mysql else postgresql.quote
        return replace(
            self,
            condition=_WORD.sub(spell, self.condition),
            value_column=new_name if self.value_column == name else self.value_column,
        )

    def note(self, action: str) -> None:
        """Adds a note to the script on what was done with this constraint."""
        self.script.note(self.start, self.end, action)


_WORD: Final = re.compile(
    r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|[^\W\d]\w*(?!\w|\s*\()""", re.DOTALL
)
"""A text, a quoted name, or a plain one that is no function's."""


def _names_column(word: str, name: str, is_mysql: bool) -> bool:
    """Whether a word of an expression is the name of a column. PostgreSQL reads a name without
    quotes in lower case; in MySQL upper and lower case do not matter, and double quotes are a
    text's.
    """
    if is_mysql:
        return word[0] not in "'\"" and word.strip("`").lower() == name.lower()
    return word == f'"{name}"' or word.lower() == name


@dataclass(slots=True)
class Draft:
    """A table that statements still change. `at` is the place of its name in `script`. `primary` is
    its primary key, `primary_name` the name of that constraint, "" if it is not known, `included`
    the columns that INCLUDE adds to it. `foreign` are the foreign keys, `generated` the expressions
    of generated columns by name. `search_path` is the schema of names without one. `left_out`: a
    note says why the table is left out; `missing` are columns that are left out of it.
    """

    database: str
    schema: str | None
    name: str
    script: Script
    at: int
    columns: list[Column] = field(default_factory=list)
    primary: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    indexes: list[Index] = field(default_factory=list)
    foreign: list[tuple[ForeignKey, Pending]] = field(default_factory=list)
    checks: list[Pending] = field(default_factory=list)
    generated: dict[str, Pending] = field(default_factory=dict)
    comment: str | None = None
    charset: str = ""
    collation: str = ""
    search_path: str = ""
    primary_name: str = ""
    left_out: bool = False
    missing: set[str] = field(default_factory=set)
    new_names: dict[str, str] = field(default_factory=dict)
    """The present name of each column that a statement renamed, by each of its former names."""

    @property
    def table_name(self) -> TableName:
        """The table's full name, with its database and, of PostgreSQL, its schema."""
        return TableName(self.database, self.schema, self.name)

    @property
    def mysql(self) -> bool:
        """Whether the table is MySQL's, MariaDB's or TiDB's, which have no schemas."""
        return self.schema is None

    def resolve_name(self, names: tuple[str, ...]) -> TableName:
        """The full name of a table that a statement on this table names. A schema or database that
        is missing there is this table's.
        """
        *qualifier, name = names
        if self.mysql:
            return TableName(qualifier[-1] if qualifier else self.database, None, name)
        return TableName(self.database, qualifier[-1] if qualifier else self.search_path, name)

    def copy_definition(self, template: Self) -> None:
        """Takes over from the table `template` all that MySQL's CREATE TABLE ... LIKE copies:
        columns, keys, conditions and options, not the foreign keys.
        """
        self.columns, self.primary = list(template.columns), template.primary
        self.indexes, self.checks = list(template.indexes), list(template.checks)
        self.generated, self.comment = dict(template.generated), template.comment
        self.charset, self.collation = template.charset, template.collation
        self.missing, self.new_names = set(template.missing), dict(template.new_names)

    def leave_out(self, cursor: Cursor, start: int, why: str) -> None:
        """Leaves the table out, and notes why at the words from number `start` to the cursor's
        place.
        """
        cursor.note(start, f"table {self.name} {why}")
        self.left_out = True

    def column_name(self, name: str) -> str | None:
        """The name of a column as the table spells it, None if it has no such column. In MySQL and
        SQL Server upper and lower case do not matter.
        """
        return next((c.name for c in self.columns if self._is_name(name, c.name)), None)

    def _is_name(self, name: str, column_name: str) -> bool:
        """Whether a statement that says `name` means the column."""
        same_letters = name.lower() == column_name.lower()
        return name == column_name or (self.script.spelling.ignores_case and same_letters)

    def lacks_column(self, name: str) -> bool:
        """Whether the column that a statement calls `name` is left out of the table."""
        return any(self._is_name(name, column_name) for column_name in self.missing)

    def present_name(self, name: str) -> str | None:
        """The present name of the column that a foreign key calls `name`, maybe by a name that the
        column had before; None if the table has no such column.
        """
        renamed = (new for former, new in self.new_names.items() if self._is_name(name, former))
        return self.column_name(name) or self.column_name(next(renamed, name))

    def change_column(self, name: str, **facts: object) -> None:
        """Gives a column of the table other values of the fields in `facts`."""
        self.columns = [replace(c, **facts) if c.name == name else c for c in self.columns]  # type: ignore[arg-type]

    def drop_column(self, name: str) -> None:
        """Drops a column, and the foreign keys of which it is part. PostgreSQL drops each key and
        index of which it is part, too; MySQL takes it out of them, and drops those that have no
        other column.
        """
        self.columns = [c for c in self.columns if c.name != name]
        self.generated.pop(name, None)
        # A column of INCLUDE is part of the key, too: the key is dropped with it.
        if name in self.included:
            self.primary = self.included = ()
        self.primary = self._without_column(self.primary, name)
        if not self.primary:
            self.included = ()
        indexes = [
            replace(index, columns=self._without_column(index.columns, name))
            for index in self.indexes
            if name not in index.included
        ]
        self.indexes = [index for index in indexes if index.columns]
        self.foreign = [(key, pending) for key, pending in self.foreign if name not in key.columns]

    def _without_column(self, columns: tuple[str, ...], name: str) -> tuple[str, ...]:
        """The columns of a key or index after the column `name` was dropped. PostgreSQL drops the
        key with any of its columns (`()`), MySQL keeps it with the others.
        """
        if name in columns and not self.mysql:
            return ()
        return tuple(column for column in columns if column != name)

    def drop_primary_key(self) -> None:
        """Drops the primary key, and TiDB's index PRIMARY of one that is NONCLUSTERED. Its columns
        stay NOT NULL.
        """
        for name in self.primary:
            self.change_column(name, nullable=False)
        self.forget_lost_keys()
        self.primary = self.included = ()
        self.primary_name = ""
        if self.mysql:
            self.drop_index("PRIMARY")

    def inline_primary_columns(self) -> set[str]:
        """The columns whose present definitions say PRIMARY KEY themselves."""
        return {column.name for column in self.columns if column.inline_primary}

    def forget_lost_keys(self) -> None:
        """Forgets which columns' earlier definitions said PRIMARY KEY: the table's key is another
        one from here on.
        """
        for column in self.columns:
            if column.inline_primary is False:
                self.change_column(column.name, inline_primary=None)

    @property
    def default_primary_name(self) -> str:
        """The name that PostgreSQL gives a primary key without one, from the table's present name;
        a later RENAME of the table leaves it as it is.
        """
        return postgresql.primary_key_name(self.name)

    def is_primary_key(self, name: str) -> bool:
        """Whether the table's primary key has this name: in MySQL always PRIMARY."""
        return name.upper() == "PRIMARY" if self.mysql else name == self.primary_name

    def rename_column(self, name: str, new_name: str) -> None:
        """Renames a column, also in keys, indexes, foreign keys, CHECKs and the expressions of
        generated columns. Foreign keys that refer to it find it by `new_names`.
        """

        def rename(columns: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(new_name if column == name else column for column in columns)

        self.columns = [replace(c, name=new_name) if c.name == name else c for c in self.columns]
        self.primary, self.included = rename(self.primary), rename(self.included)
        self.indexes = [
            replace(index, columns=rename(index.columns), included=rename(index.included))
            for index in self.indexes
        ]
        self.foreign = [
            (replace(key, columns=rename(key.columns)), pending) for key, pending in self.foreign
        ]
        if name in self.generated:
            self.generated[new_name] = self.generated.pop(name)
        self.checks = [pending.rename_column(name, new_name, self.mysql) for pending in self.checks]
        self.generated = {
            column: pending.rename_column(name, new_name, self.mysql)
            for column, pending in self.generated.items()
        }
        self.new_names = {
            former: new_name if present == name else present
            for former, present in self.new_names.items()
        }
        self.new_names[name] = new_name

    def rename_index(self, name: str, new_name: str) -> None:
        """Gives the index of this name another name; drops it if `new_name` is "". Upper and lower
        case matter in PostgreSQL alone. Does nothing if there is no such index.
        """
        fold = str if self.script.dialect == "postgresql" else str.lower
        self.indexes = [
            replace(index, name=new_name) if fold(index.name) == fold(name) else index
            for index in self.indexes
            if new_name or fold(index.name) != fold(name)
        ]

    def drop_index(self, name: str) -> bool:
        """Drops an index. Returns whether the table had one of that name."""
        count = len(self.indexes)
        self.rename_index(name, "")  # the empty name drops it
        return len(self.indexes) < count

    def add_index(
        self,
        name: str,
        columns: tuple[str, ...],
        unique: bool,
        *,
        partial: bool = False,
        included: tuple[str, ...] = (),
    ) -> None:
        """Adds an index over these columns: a `partial` one is over some rows alone, `included` are
        the columns that INCLUDE adds. If its name is "", it gets that of its first column, with a
        number from 2 on if that is taken, as MySQL does.
        """
        used_names = {index.name.lower() for index in self.indexes}
        free_name = name or columns[0]
        for number in range(2, len(used_names) + 3):
            if name or free_name.lower() not in used_names:
                break
            free_name = f"{columns[0]}_{number}"
        self.indexes.append(Index(free_name, columns, unique, partial=partial, included=included))

    def build_table(self) -> Table:
        """The table of the draft as `generators.model` has it: columns of the primary key are NOT
        NULL, unique indexes over all rows are keys.
        """
        primary = tuple(self.primary)
        columns = tuple(
            replace(c, nullable=False) if c.name in primary else c for c in self.columns
        )
        unique = tuple(
            index.columns for index in self.indexes if index.is_key and index.name != "PRIMARY"
        )
        indexes = tuple(self.indexes)
        return Table(
            self.database,
            self.name,
            columns,
            primary,
            unique,
            self.schema,
            indexes,
            self.comment,
            self.included,
        )


NANOSECONDS: Final = "BETWEEN '1677-09-22' AND '2262-04-11T23:47:16'"
"""The condition that a time's nanoseconds since 1970 fit 64 bits, from the first whole day to the
last whole second.
"""
_MICROSECOND_DIGITS: Final = 6


def bound_nanoseconds(draft: Draft, type_name: str, quote: Callable[[str], str]) -> None:
    """Adds a CHECK to the draft, and a note, for each NOT NULL column of the type `type_name` that
    has nanoseconds or hundreds of them: its values are those whose nanoseconds fit 64 bits. For
    other values Debezium writes null or another number (debezium#sqlserver-nanos,
    debezium#oracle-nanos). `quote` puts a column's name between the dialect's quotes.
    """
    end = draft.script.code.index("(", draft.at)
    for column in draft.columns:
        is_required = not column.nullable or column.name in draft.primary
        is_finer_than_micros = (column.type.scale or 0) > _MICROSECOND_DIGITS
        if is_required and is_finer_than_micros and column.type.name == type_name:
            condition = f"{quote(column.name)} {NANOSECONDS}"
            draft.checks.append(Pending(draft.script, draft.at, end, condition))
            draft.script.note(
                draft.at,
                end,
                f"values of {column.name} are those of 64 bits of nanoseconds: in a NOT NULL column"
                " Debezium has no value for others",
            )


def finish_schema(drafts: Mapping[TableName, Draft], dialect: str, scripts: list[Script]) -> Schema:
    """The schema after the last statement: all tables that were read and not left out, with their
    constraints.
    """
    read_drafts = {
        name: draft for name, draft in drafts.items() if draft.columns and not draft.left_out
    }
    users = []
    for draft in read_drafts.values():
        table = draft.build_table()
        resolved = (
            _resolve_foreign_key(key, read_drafts, pending) for key, pending in draft.foreign
        )
        keys = tuple(key for key in resolved if key)
        checks: list[Check] = []
        for pending in draft.checks:
            checks += read_checks(
                table, dialect, pending.condition, pending.value_column, pending.note
            )
        users.append(UserTable(table, keys, tuple(checks)))
    users = [
        replace(
            user,
            computed=_computed_columns(user, users, read_drafts[table_name(user.table)], dialect),
        )
        for user in users
    ]
    notes: list[Note] = []
    for script in scripts:
        notes += sorted(script.notes, key=lambda note: (note.line, note.column))
    return Schema(dialect, tuple(users), tuple(notes))


def _computed_columns(
    user: UserTable, users: list[UserTable], draft: Draft, dialect: str
) -> tuple[tuple[str, str], ...]:
    """The generated columns of a table whose values can be computed, with their expressions, in the
    table's order. `draft.generated` has the expressions of all of them (`Pending.condition`); for
    each of the others a note is added. A column of a key is not computed, because keys are made
    unique before values are computed.
    """
    keys = (
        user.unique_columns | user.foreign_key_columns | referred_columns(users, draft.table_name)
    )
    computed = []
    for column in user.table.columns:
        pending = draft.generated.get(column.name) if column.generated else None
        if (
            pending
            and column.name not in keys
            and is_computable(user.table, column, pending.condition, dialect)
        ):
            computed.append((column.name, pending.condition))
    for name, pending in draft.generated.items():
        if name not in dict(computed):
            pending.note(
                "taken as a generated column; its values are drawn, the expression is not computed"
            )
    return tuple(computed)


def _resolve_foreign_key(
    key: ForeignKey, read_drafts: Mapping[TableName, Draft], pending: Pending
) -> ForeignKey | None:
    """The foreign key with the names of its parent's columns as the parent's table has them now. A
    key without names of columns refers to the parent's primary key. Returns None, and notes at the
    place of `pending` that the key is left out, if the parent or one of its columns was not read,
    or the two lists of columns differ in length.
    """
    parent = read_drafts.get(key.parent)
    parent_label = ".".join(part for part in key.parent if part)
    if parent is None:
        pending.note(f"left out: table {parent_label} is not among the tables that are taken")
        return None
    columns = tuple(parent.present_name(name) for name in key.parent_columns or parent.primary)
    found_columns = tuple(name for name in columns if name)
    if len(found_columns) != len(columns) or len(found_columns) != len(key.columns):
        pending.note(f"left out: table {parent_label} has not all of these columns")
        return None
    return replace(key, parent_columns=found_columns)
