"""What statements told MySQL's connector of columns, where that is not what the server has
(debezium#kept-comments).

For CHANGE the connector edits the column that it knows: what the new definition does not say stays.
MODIFY makes it anew. A definition that does not say NOT NULL makes a column of the key optional.
CREATE TABLE LIKE takes the columns, not the comment. RENAME keeps what was known. DROP INDEX is
not read, so that a unique key which is a table's record key stays it (debezium#dropped-keys). A
unique key is taken for a record key in the statement that makes it or not at all
(debezium#unique-keys).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from generators.formats.debezium_json.envelope import is_counted, literal
from generators.model import Column, SchemaChange, Table

_NAME: Final = r"(`(?:[^`]|``)+`|\w+)"
_DEFINITION: Final = r"((?:[^,(']|\([^)]*\)|'(?:[^']|'')*')*)"
_CHANGE: Final = rf"CHANGE (?:COLUMN )?{_NAME} {_NAME} {_DEFINITION}"
_MODIFY: Final = rf"MODIFY (?:COLUMN )?{_NAME} {_DEFINITION}"
_CLAUSE: Final = re.compile(
    rf"\b(?:{_CHANGE}|{_MODIFY}|RENAME COLUMN {_NAME} TO {_NAME})", re.IGNORECASE
)
_LIKE: Final = re.compile(rf"\bLIKE (?:{_NAME}\.)?{_NAME}\s*$", re.IGNORECASE)
_DROPS_INDEX: Final = re.compile(r"\bDROP\s+(?:INDEX|KEY)\b", re.IGNORECASE)
_SOLID: Final = re.compile(r"\bNOT NULL\b|\bPRIMARY KEY\b|^SERIAL\b", re.IGNORECASE)

_Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Known:
    """A column as the connector knows it: its comment, whether it is `counted` (AUTO_INCREMENT),
    and the `labels` of an ENUM or SET. `optional` tells that it does not know the column of a key
    to be NOT NULL.
    """

    comment: str
    counted: bool
    labels: tuple[str, ...]
    optional: bool = False

    @classmethod
    def of(cls, column: Column) -> _Known:
        return cls(column.comment, is_counted(column.declared), column.type.members)

    def edited(self, new: _Known) -> _Known:
        """What the connector knows of the column after a CHANGE clause whose definition says `new`:
        its comment, counter and labels stay where the definition has none, `optional` is that of
        `new`.
        """
        return _Known(
            new.comment or self.comment,
            new.counted or self.counted,
            new.labels or self.labels,
            new.optional,
        )


@dataclass(slots=True)
class KnownColumns:
    """The columns and unique keys that the connector knows. The writer tells it of each statement
    (`follow_statement`) and asks it how the connector describes a table (`table`, `described`).

    `refused_keys` are the unique keys that had nullable columns when they were made: none, where
    the connector takes such keys (`nullable_keys`). `taken_keys` are the unique keys that the
    connector took for their table's key, which stay that when a column becomes nullable.
    `without_known_comment` are the tables whose comment the connector does not know, since they
    were made LIKE others.
    """

    nullable_keys: bool = False
    columns: dict[_Place, dict[str, _Known]] = field(default_factory=dict)
    unique: dict[_Place, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    refused_keys: dict[_Place, set[tuple[str, ...]]] = field(default_factory=dict)
    taken_keys: dict[_Place, tuple[str, ...]] = field(default_factory=dict)
    without_known_comment: set[_Place] = field(default_factory=set)

    def follow_statement(self, event: SchemaChange) -> None:
        """Changes what the connector knows of the statement's table as the statement makes the
        connector do: its name, its columns and unique keys, and whether its comment is known.
        """
        table_key = (event.database, event.table)
        if event.old_name:
            self._rename((event.database, event.old_name), table_key)
        if event.after is None:
            return
        self._follow_keys(event, event.after)
        self._refuse_keys(event, event.after)
        self._take_key(event, event.after)
        created = event.action == "create table"
        like = _LIKE.search(event.sql) if created else None
        before: Mapping[str, _Known] = {}
        if like:
            # A name without a database is one of the statement's own database.
            template_key = (_bare(like[1]) if like[1] else event.database, _bare(like[2]))
            before = self.columns.get(template_key, {})
        elif not created:
            before = self.columns.get(table_key, {})
        self.columns[table_key] = dict(_known_after(event, event.after.columns, before))
        if like:
            self.without_known_comment.add(table_key)
        elif event.action in ("create table", "table comment"):
            self.without_known_comment.discard(table_key)

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

    def _follow_keys(self, event: SchemaChange, after: Table) -> None:
        """Follows what a statement does to the unique keys: those that DROP INDEX drops stay."""
        table_key = (event.database, event.table)
        if event.action == "create table":
            self.unique.pop(table_key, None)
            return
        if table_key not in self.unique and not _DROPS_INDEX.search(event.sql):
            return
        known_keys = self.unique.get(table_key, event.before.unique if event.before else ())
        new_keys = tuple(key for key in after.unique if key not in known_keys)
        self.unique[table_key] = (*known_keys, *new_keys)

    def _refuse_keys(self, event: SchemaChange, after: Table) -> None:
        """Follows which unique keys of the table after a statement the connector refuses: of those
        that the statement makes, the ones with nullable columns.
        """
        if self.nullable_keys:
            return
        table_key = (event.database, event.table)
        if event.action == "create table":
            self.refused_keys.pop(table_key, None)
        nullable = {column.name for column in after.columns if column.nullable}
        inline_keys = {(column.name,) for column in after.columns if column.inline_unique}
        old_keys = event.before.unique if event.before else ()
        refused_keys = self.refused_keys.setdefault(table_key, set())
        for key in after.unique:
            if key in old_keys:
                continue
            if key in inline_keys or nullable.isdisjoint(key):
                refused_keys.discard(key)
            else:
                refused_keys.add(key)

    def _take_key(self, event: SchemaChange, after: Table) -> None:
        """Follows which unique key the connector takes for the key of a table without a primary
        key: the first one, if its columns are NOT NULL when it is made.
        """
        table_key = (event.database, event.table)
        taken_key = () if event.action == "create table" else self.taken_keys.get(table_key, ())
        for version in (event.before, after):
            if version is None or taken_key:
                continue
            nullable = {column.name for column in version.columns if column.nullable}
            refused_keys = self.refused_keys.get(table_key, ())
            first = next((key for key in version.unique if key not in refused_keys), ())
            taken_key = first if nullable.isdisjoint(first) else ()
        names = {column.name for column in after.columns}
        is_left = not after.primary_key and names.issuperset(taken_key)
        self.taken_keys[table_key] = taken_key if is_left else ()

    def table(self, table: Table) -> Table:
        """The table with comments and nullability of its columns as the connector knows them."""
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
        return replace(table, comment="") if table_key in self.without_known_comment else table

    def described(self, table: Table, columns: Iterable[dict[str, Any]]) -> None:
        """Corrects the descriptions of columns in `tableChanges`: counters and labels that the
        connector knows from earlier statements.
        """
        known = self.columns.get((table.database, table.name), {})
        for column in columns:
            if (kept := known.get(column["name"])) is not None:
                counted = column["autoIncremented"] or kept.counted
                labels = (
                    column["enumValues"] or [f"'{literal(label)}'" for label in kept.labels] or None
                )
                column |= {"autoIncremented": counted, "generated": counted, "enumValues": labels}


def _known_after(
    event: SchemaChange, columns: Iterable[Column], before: Mapping[str, _Known]
) -> Iterable[tuple[str, _Known]]:
    """Yields the name of each of `columns` and what the connector knows of it after a statement,
    from the statement's clause on that column and from `before`, what it knew of each column.
    """
    clauses = {_bare(m[2] or m[4] or m[7]): m for m in _CLAUSE.finditer(event.sql)}
    for column in columns:
        new, clause = _Known.of(column), clauses.get(column.name)
        old = before.get(_bare(clause[1] or clause[6] or "") if clause else column.name)
        definition = (clause[3] or clause[5]) if clause else None
        if definition is not None:
            new = replace(new, optional=not column.nullable and not _SOLID.search(definition))
        if old is None:
            yield column.name, new
        elif definition is not None:
            yield column.name, old.edited(new)
        else:
            yield (
                column.name,
                replace(
                    old,
                    comment=column.comment or old.comment,
                    optional=old.optional and "key" not in event.action,
                ),
            )


def _complete_column(column: Column, known: _Known) -> Column:
    """The column with the comment and the nullability that the connector knows, where its own
    definition has none.
    """
    return replace(
        column, comment=column.comment or known.comment, nullable=column.nullable or known.optional
    )


def _bare(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
