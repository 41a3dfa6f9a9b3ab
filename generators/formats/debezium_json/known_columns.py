"""What statements told MySQL's connector of columns, where that is not what the server has
(debezium#kept-comments).

For CHANGE the connector edits the column that it knows: what the new definition does not say stays.
MODIFY makes it anew. A definition that does not say NOT NULL makes a column of the key optional.
In ADD COLUMN (...) NOT NULL goes on to the next column (debezium#listed-columns).
CREATE TABLE LIKE takes the columns, not the comment. RENAME keeps what was known. DROP INDEX is
not read, so that a unique key which is a table's record key stays it (debezium#dropped-keys). A
unique key is taken for a record key in the statement that makes it or not at all: one that was
taken keeps its columns under their new names without those that are dropped, and where none is left
no other key is taken (debezium#unique-keys).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from generators.formats.debezium_json.column_definitions import (
    bare_name,
    copied_table,
    listed_columns,
    read_nullability,
)
from generators.formats.debezium_json.envelope import declared_size, is_counted, literal
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.model import Column, SchemaChange, Table

_NAME: Final = r"(`(?:[^`]|``)+`|\w+)"
"""A name in SQL, with or without back-ticks."""
_DEFINITION: Final = r"((?:[^,(']|\([^)]*\)|'(?:[^']|'')*')*)"
"""The definition of a column, up to the next clause."""
_CHANGE: Final = rf"CHANGE\s+(?:COLUMN\s+)?{_NAME}\s+{_NAME}\s+{_DEFINITION}"
"""The clause CHANGE: its groups are the old name, the new name and the definition."""
_MODIFY: Final = rf"MODIFY\s+(?:COLUMN\s+)?{_NAME}\s+{_DEFINITION}"
"""The clause MODIFY: its groups are the column's name and the definition."""
_CLAUSE: Final = re.compile(
    rf"\b(?:{_CHANGE}|{_MODIFY}|RENAME\s+COLUMN\s+{_NAME}\s+TO\s+{_NAME})", re.IGNORECASE
)
"""A clause that changes or renames a column. Groups: of CHANGE 1 old name, 2 new name, 3
definition; of MODIFY 4 name, 5 definition; of RENAME COLUMN 6 old name, 7 new name.
"""
_DROPS_INDEX: Final = re.compile(r"\bDROP\s+(?:INDEX|KEY)\b", re.IGNORECASE)
"""A clause that drops an index or a key."""
_DROPS_COLUMN: Final = re.compile(rf"\bDROP\s+COLUMN\s+{_NAME}", re.IGNORECASE)
"""A clause that drops a column; the group is its name."""
_SOLID: Final = re.compile(r"\bNOT NULL\b|\bPRIMARY KEY\b|^SERIAL\b", re.IGNORECASE)
"""Words of a definition that make its column NOT NULL."""

_Place = tuple[str, str]
"""A table: the names of its database and of itself."""
_Key = tuple[str, ...]
"""The columns of a unique key."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A column as the connector knows it: its comment, whether it is `counted` (AUTO_INCREMENT),
    the `labels` of an ENUM or SET, and the numbers behind its type, None without any. `optional`:
    it takes a NOT NULL column for a nullable one; `required`: it takes a nullable column for NOT
    NULL; `kept_size`: one of the numbers is left over from an earlier definition.
    """

    comment: str | None
    counted: bool
    labels: tuple[str, ...]
    optional: bool = False
    length: int | None = None
    scale: int | None = None
    kept_size: bool = False
    required: bool = False

    @classmethod
    def of(cls, column: Column, profile: DebeziumProfile) -> _Known:
        """What the connector knows of a column that it has just read as the server has it."""
        size = declared_size(column)
        return cls(
            column.comment,
            is_counted(column, profile),
            column.type.members,
            length=size.length,
            scale=size.scale,
        )

    def edited(self, new: _Known, keeps_size: bool) -> _Known:
        """What the connector knows of the column after a clause that gives it a new definition,
        `new`, if it edits the column rather than making it anew: comment, counter and labels stay
        where the new definition has none, with `keeps_size` also length and scale.
        """
        lacks_number = new.length is None or new.scale is None
        kept_size = keeps_size and lacks_number and (self.length, self.scale) != (None, None)
        return _Known(
            self.comment if new.comment is None else new.comment,
            new.counted or self.counted,
            new.labels or self.labels,
            new.optional,
            self.length if kept_size and new.length is None else new.length,
            self.scale if kept_size and new.scale is None else new.scale,
            kept_size,
        )


@dataclass(frozen=True, slots=True)
class _Carrier:
    """How a statement changes the names of a table's columns: `renamed` has the new name by the old
    one, `lost` the old names of columns that are gone, `names` all names after the statement.
    """

    renamed: Mapping[str, str]
    lost: Collection[str]
    names: Collection[str]

    @classmethod
    def read_statement(cls, sql: str, after: Table) -> _Carrier:
        """What a statement makes of the names of its table's columns. `after` is the table after
        it.
        """
        # The groups of _CLAUSE: 1 and 2 are the old and the new name in CHANGE, 6 and 7 those in
        # RENAME COLUMN. A MODIFY, which has neither, changes no name.
        clauses = [m for m in _CLAUSE.finditer(sql) if m[1] or m[6]]
        renamed = {bare_name(m[1] or m[6]): bare_name(m[2] or m[7]) for m in clauses}
        # A column that takes the name of another one, in whose place it is.
        lost = {new for new in renamed.values() if new not in renamed}
        lost |= {bare_name(m[1]) for m in _DROPS_COLUMN.finditer(sql)}
        return cls(renamed, lost, {column.name for column in after.columns})

    def carry_keys(self, keys: Iterable[_Key]) -> tuple[_Key, ...]:
        """The keys with the columns that the statement leaves them; those without a column are left
        out.
        """
        return tuple(filter(None, map(self._carry_key, keys)))

    def _carry_key(self, key: _Key) -> _Key:
        """A key's columns under their names after the statement, without those that are gone."""
        new_names = (self.renamed.get(name, name) for name in key if name not in self.lost)
        return tuple(name for name in new_names if name in self.names)


@dataclass(slots=True)
class KnownColumns:
    """The columns and unique keys that the connector knows. The writer tells it of each statement
    (`follow_statement`) and asks it how the connector describes a table (`table`, `described`).

    `refused_keys` are the unique keys that the connector does not take for a record key: those that
    had nullable columns when they were made, unless it takes such keys (`profile.nullable_keys`),
    and those of a table that has lost its key. `taken_keys` has, by table, the unique key that the
    connector took for the table's key, which stays that when a column becomes nullable.
    `without_known_comment` are the tables whose comment the connector does not know, since they
    were made LIKE others. A connector with `profile.edits_modified` edits a column for MODIFY as
    for CHANGE, and keeps its length and scale, too (debezium#kept-lengths).
    """

    profile: DebeziumProfile
    columns: dict[_Place, dict[str, _Known]] = field(default_factory=dict)
    unique: dict[_Place, tuple[_Key, ...]] = field(default_factory=dict)
    refused_keys: dict[_Place, set[_Key]] = field(default_factory=dict)
    taken_keys: dict[_Place, _Key] = field(default_factory=dict)
    without_known_comment: set[_Place] = field(default_factory=set)

    def follow_statement(self, event: SchemaChange) -> None:
        """Follows what the connector learns from a statement of its table: a new name, its columns
        and unique keys, and whether its comment is known. Nothing more is learnt where the table
        after it is None, as after a DROP.

        What was known of a column before comes from the table itself; for a CREATE TABLE from none,
        but for CREATE TABLE LIKE from the table that it copies, without that table's comment
        (`without_known_comment`).
        """
        table_key = (event.database, event.table)
        if event.old_name:
            self._rename((event.database, event.old_name), table_key)
        if event.after is None:
            return
        created = event.action == "create table"
        if created:
            self._forget_keys(table_key)
        old_keys = self._carry_keys(event, event.after)
        self._follow_keys(event, old_keys, event.after)
        self._refuse_keys(table_key, old_keys, event.after)
        self._take_key(table_key, event.after)
        copied = copied_table(event)
        before: Mapping[str, _Known] = {}
        if copied:
            before = self.columns.get(copied, {})
        elif not created:
            before = self.columns.get(table_key, {})
        known_after = _known_after(event, event.after.columns, before, self.profile)
        self.columns[table_key] = dict(known_after)
        comment_before = event.before.comment if event.before else None
        tells_comment = event.action in ("create table", "table comment") or (
            event.after.comment != comment_before
        )
        if copied:
            self.without_known_comment.add(table_key)
        elif tells_comment:
            self.without_known_comment.discard(table_key)

    def _forget_keys(self, table_key: _Place) -> None:
        """Forgets the keys of a table, as its CREATE TABLE does."""
        self.unique.pop(table_key, None)
        self.refused_keys.pop(table_key, None)
        self.taken_keys.pop(table_key, None)

    def _rename(self, old: _Place, new: _Place) -> None:
        """Moves all that the connector knows of the table `old` to the name `new`, as RENAME TABLE
        does: also that it does not know the table's comment.
        """
        self.columns[new] = self.columns.pop(old, {})
        self.unique[new] = self.unique.pop(old, ())
        self.refused_keys[new] = self.refused_keys.pop(old, set())
        self.taken_keys[new] = self.taken_keys.pop(old, ())
        self.without_known_comment.discard(new)
        if old in self.without_known_comment:
            self.without_known_comment.remove(old)
            self.without_known_comment.add(new)

    def _carry_keys(self, event: SchemaChange, after: Table) -> tuple[_Key, ...]:
        """Gives the keys that the connector knows the columns that a statement leaves them: renamed
        ones have their new names, dropped ones are no longer there. Returns the unique keys of the
        table before the statement, so carried.
        """
        table_key = (event.database, event.table)
        if event.before is not None:
            self._take_key(table_key, event.before)
        carrier = _Carrier.read_statement(event.sql, after)
        old_keys = carrier.carry_keys(event.before.unique if event.before else ())
        if table_key in self.unique:
            self.unique[table_key] = carrier.carry_keys(self.unique[table_key])
        refused_keys = set(carrier.carry_keys(self.refused_keys.get(table_key, ())))
        taken_key = self.taken_keys.get(table_key, ())
        left_key = next(iter(carrier.carry_keys((taken_key,))), ())
        had_key = taken_key or (event.before is not None and event.before.primary_key)
        if had_key and not (left_key or after.primary_key):
            # Without its key the connector looks for no other one among those that are there.
            refused_keys.update(old_keys, self.unique.get(table_key, ()))
        self.refused_keys[table_key], self.taken_keys[table_key] = refused_keys, left_key
        return old_keys

    def _follow_keys(self, event: SchemaChange, old_keys: tuple[_Key, ...], after: Table) -> None:
        """Follows what a statement does to the unique keys: those that it makes are added, those
        that DROP INDEX drops stay, since the connector does not read it.
        """
        table_key = (event.database, event.table)
        if table_key not in self.unique and not _DROPS_INDEX.search(event.sql):
            return
        known_keys = self.unique.get(table_key, old_keys)
        new_keys = tuple(key for key in after.unique if key not in known_keys)
        self.unique[table_key] = (*known_keys, *new_keys)

    def _refuse_keys(self, table_key: _Place, old_keys: tuple[_Key, ...], after: Table) -> None:
        """Decides whether the connector refuses, as the record key, each unique key that a
        statement makes, that is, each of the table `after` it that is not among `old_keys`. It
        refuses a key with a nullable column, unless the column's own definition has UNIQUE, or the
        release takes such keys.
        """
        nullable = {column.name for column in after.columns if column.nullable}
        inline_keys = {(column.name,) for column in after.columns if column.inline_unique}
        refused_keys = self.refused_keys.setdefault(table_key, set())
        for key in after.unique:
            if key in old_keys:
                continue
            if self.profile.nullable_keys or key in inline_keys or nullable.isdisjoint(key):
                refused_keys.discard(key)
            else:
                refused_keys.add(key)

    def _take_key(self, table_key: _Place, version: Table) -> None:
        """Follows which unique key the connector takes for the key of a table without a primary
        key, whose present version is `version`: the first one that it does not refuse, if its
        columns are NOT NULL when it is made. A key that was taken stays so as long as the table has
        its columns and no primary key; () says that none is taken.
        """
        taken_key = self.taken_keys.get(table_key, ())
        if not taken_key:
            nullable = {column.name for column in version.columns if column.nullable}
            refused_keys = self.refused_keys.get(table_key, ())
            first = next((key for key in version.unique if key not in refused_keys), ())
            taken_key = first if nullable.isdisjoint(first) else ()
        names = {column.name for column in version.columns}
        is_left = not version.primary_key and names.issuperset(taken_key)
        self.taken_keys[table_key] = taken_key if is_left else ()

    def table(self, table: Table) -> Table:
        """The table as the connector knows it: with the unique keys that it has not forgotten or
        refused, the comments and nullability of columns that it knows, the unique key that it took
        for the record key, and without a comment where it does not know that of the table.
        """
        table_key = (table.database, table.name)
        if table_key in self.unique:
            names = {column.name for column in table.columns}
            kept_keys = tuple(key for key in self.unique[table_key] if names.issuperset(key))
            table = replace(table, unique=kept_keys or table.unique)
        if refused_keys := self.refused_keys.get(table_key):
            taken_keys = tuple(key for key in table.unique if key not in refused_keys)
            table = replace(table, unique=taken_keys)
        if known := self.columns.get(table_key):
            table = replace(
                table,
                columns=tuple(
                    _complete_column(c, known[c.name]) if c.name in known else c
                    for c in table.columns
                ),
            )
        taken_key = self.taken_keys.get(table_key, ())
        names = {column.name for column in table.columns}
        if names.issuperset(taken_key) and any(table.column(name).nullable for name in taken_key):
            table = replace(table, primary_key=table.primary_key or taken_key)
        return replace(table, comment=None) if table_key in self.without_known_comment else table

    def described(self, table: Table, columns: Iterable[dict[str, Any]]) -> None:
        """Corrects the descriptions of columns in `tableChanges`, in place: counters
        (AUTO_INCREMENT) and labels that the connector knows from earlier statements, and length and
        scale where one of them is left over from an earlier definition (`kept_size`;
        debezium#kept-lengths). An ENUM or SET has no length of its own.
        """
        known = self.columns.get((table.database, table.name), {})
        for column in columns:
            if (kept := known.get(column["name"])) is not None:
                counted = column["autoIncremented"] or kept.counted
                labels = (
                    column["enumValues"] or [f"'{literal(label)}'" for label in kept.labels] or None
                )
                column |= {"autoIncremented": counted, "generated": counted, "enumValues": labels}
                if kept.kept_size and not labels:
                    column["length"] = kept.length if kept.length is not None else column["length"]
                    column["scale"] = kept.scale if kept.scale is not None else column["scale"]


def _known_after(
    event: SchemaChange,
    columns: Iterable[Column],
    before: Mapping[str, _Known],
    profile: DebeziumProfile,
) -> Iterable[tuple[str, _Known]]:
    """For each of `columns` its name and what the connector knows of it after a statement. That
    follows from the clause of the statement on the column, and from `before`, what the connector
    knew of each column. With `profile.edits_modified` MODIFY edits a column, as CHANGE does,
    rather than making it anew.
    """
    clauses = {bare_name(m[2] or m[4] or m[7]): m for m in _CLAUSE.finditer(event.sql)}
    nullability: dict[str, bool] = {}
    for listed in listed_columns(event.sql):
        nullability |= read_nullability(listed)
    for column in columns:
        new, clause = _Known.of(column, profile), clauses.get(column.name)
        if (nullable := nullability.get(column.name)) is not None:
            new = replace(
                new,
                optional=nullable and not column.nullable,
                required=column.nullable and not nullable,
            )
        clause_name = (
            (clause[1] or clause[6] or (profile.edits_modified and clause[4]) or "")
            if clause
            else ""
        )
        old = before.get(bare_name(clause_name) if clause else column.name)
        definition = (clause[3] or clause[5]) if clause else None
        if definition is not None:
            new = replace(new, optional=not column.nullable and not _SOLID.search(definition))
        if old is None:
            yield column.name, new
        elif definition is not None:
            yield column.name, old.edited(new, profile.edits_modified)
        else:
            yield (
                column.name,
                replace(
                    old,
                    comment=old.comment if column.comment is None else column.comment,
                    optional=old.optional and "key" not in event.action,
                ),
            )


def _complete_column(column: Column, known: _Known) -> Column:
    """The column with the comment that the connector knows where its own definition has none, and
    with the nullability that the connector takes it for: `optional` makes a NOT NULL column
    nullable, `required` a nullable one NOT NULL. A DATETIME has the fraction digits that are left
    over from an earlier definition (`kept_size`), if it is a number that a DATETIME can have, 0 to
    6.
    """
    type, declared = column.type, column.declared
    if known.kept_size and type.name == "datetime" and known.length in range(7):
        type, declared = replace(type, fsp=known.length or 0), f"DATETIME({known.length})"
    return replace(
        column,
        type=type,
        declared=declared,
        comment=known.comment if column.comment is None else column.comment,
        nullable=(column.nullable or known.optional) and not known.required,
    )
