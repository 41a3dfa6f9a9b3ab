"""Definitions of tables in Transact-SQL: columns, constraints, options, as SQL Server Management
Studio prints them and as they are written by hand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from generators.model import Column
from generators.tables.ddl_batches import add_unique_key, read_column_name, skip_default
from generators.tables.ddl_definitions import (
    CONSTRAINT_STAYS,
    UNREAD,
    VERSIONS,
    leave_column_out,
    note_leftover,
    read_key_columns,
    read_reference,
)
from generators.tables.ddl_tables import Draft, Pending
from generators.tables.ddl_text import Cursor
from generators.tables.ddl_tsql_types import read_tsql_type, resolve_charset
from generators.tables.ddl_types import UNDRAWN_COLUMN, Unsupported

_COMPUTED: Final = (
    "left out: change data capture has NULL of a computed column; messages are those of the table"
    " without it"
)
_FOREIGN_INDEX: Final = "left out: the model has no such index"
_NO_COLUMN: Final = "left out: it changes no column"

_CONSTRAINTS: Final = (
    "CONSTRAINT",
    "PRIMARY KEY",
    "UNIQUE",
    "FOREIGN KEY",
    "CHECK",
    "DEFAULT",
    "INDEX",
    "PERIOD FOR",
)
"""The words with which a definition begins that is none of a column."""
_ATTRIBUTES: Final = (
    *("NOT", "NULL", "DEFAULT", "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES"),
    *("FOREIGN", "FOR", "WITH", "COLLATE", "IDENTITY", "ROWGUIDCOL", "SPARSE", "PERSISTED"),
    *("MASKED", "GENERATED", "HIDDEN", "INDEX", "ON"),
)
"""Words that end a default, and a column type that the model does not have."""

_IGNORED: Final = ("NOT FOR REPLICATION", "ROWGUIDCOL", "SPARSE", "HIDDEN", "FILESTREAM", "NULL")
"""Attributes of a column that no message shows."""

_ALTERATIONS: Final = {
    "CHECK/NOCHECK CONSTRAINT": "",
    "ENABLE/DISABLE": "",
    "SET ( LOCK_ESCALATION": "",
    "SET ( SYSTEM_VERSIONING": VERSIONS,
    "DROP PERIOD": VERSIONS,
    "REBUILD": "",
    "SWITCH": "left out: the table is taken without partitions",
}
"""Actions of ALTER TABLE that change no column, and what is noted of them; "" of those that no
message shows.
"""


def read_definition(draft: Draft, cursor: Cursor) -> None:
    """Reads what follows the table's name in CREATE TABLE: columns, keys and options."""
    body = list(cursor.take_parentheses().split_at_commas())
    for item in body:
        read_item(draft, item)
    while not cursor.done:
        start = cursor.at
        if cursor.accept("AS NODE", "AS EDGE", "AS FILETABLE"):
            draft.leave_out(cursor, start, "left out: it has columns that no statement defines")
        elif cursor.accept("WITH ( SYSTEM_VERSIONING"):
            # Back behind WITH, to take all of its parentheses.
            cursor.at = start + 1
            cursor.take_parentheses()
            cursor.note(start, VERSIONS)
        elif not _skip_storage(cursor):
            cursor.take()
            cursor.note(start, UNREAD)


def read_item(draft: Draft, cursor: Cursor) -> None:
    """Reads one definition of CREATE TABLE, or of ALTER TABLE ... ADD: a column or a constraint."""
    if any(map(cursor.next_is, _CONSTRAINTS)):
        read_constraint(draft, cursor)
    else:
        read_column(draft, cursor)
    note_leftover(cursor)


def _skip_storage(cursor: Cursor) -> bool:
    """Skips one clause of how a table or an index is stored, if one comes next, since no message
    shows it. Returns whether one came.
    """
    if cursor.accept("CLUSTERED", "NONCLUSTERED", "HASH", "NOT FOR REPLICATION"):
        return True
    if cursor.next_is("WITH/INCLUDE ("):
        cursor.take()
        cursor.take_parentheses()
        return True
    if cursor.accept("WITH FILLFACTOR ="):
        cursor.take()
        return True
    if not cursor.next_is("ON DELETE/UPDATE") and cursor.accept(
        "ON", "TEXTIMAGE_ON", "FILESTREAM_ON"
    ):
        cursor.take_name()
        cursor.skip_parentheses()
        return True
    return False


def _skip_kind(cursor: Cursor) -> None:
    """Skips the words CLUSTERED, NONCLUSTERED and HASH, which say how an index is kept."""
    cursor.accept("CLUSTERED", "NONCLUSTERED")
    cursor.accept("HASH")


def _skip_all_storage(cursor: Cursor) -> None:
    """Skips all clauses at the cursor of how a table or an index is stored."""
    while _skip_storage(cursor):
        pass


def read_column(draft: Draft, cursor: Cursor, position: int | None = None) -> None:
    """Reads a column's definition at the cursor into the draft; `position` is its number among the
    columns, None for the last. A computed column and one of a type that the model lacks are noted
    and left out. Raises UsageError for a second column of that name.
    """
    name = cursor.take_name()
    if draft.column_name(name):
        raise cursor.script.error(cursor.words[0].start, f"column {name} is defined twice")
    start = cursor.at
    if cursor.accept("AS"):
        cursor.skip_until("PERSISTED", "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK")
        leave_column_out(draft, cursor, start, name, _COMPUTED)
        return
    try:
        type = read_tsql_type(cursor)
    except Unsupported:
        cursor.at = start
        cursor.skip_until(*_ATTRIBUTES)
        leave_column_out(draft, cursor, start, name, UNDRAWN_COLUMN)
        return
    new_column = Column(name, type, nullable=cursor.words[start].text.lower() != "sysname")
    while not cursor.done:
        new_column = _read_attribute(draft, cursor, new_column)
    charset = resolve_charset(cursor, start, type, new_column.collation)
    new_column = replace(new_column, charset=charset)
    draft.columns.insert(len(draft.columns) if position is None else position, new_column)


def _read_attribute(draft: Draft, cursor: Cursor, new_column: Column) -> Column:
    """Reads one attribute of a column at the cursor: returns the column with it, or puts the key or
    constraint that it makes into the draft. One that is not understood is noted.
    """
    start, name = cursor.at, new_column.name
    constraint_name = cursor.take_name() if cursor.accept("CONSTRAINT") else ""
    if cursor.accept("NOT NULL"):
        return replace(new_column, nullable=False)
    if cursor.accept("IDENTITY"):
        cursor.skip_parentheses()
        return replace(new_column, nullable=False)
    if cursor.accept("COLLATE"):
        return replace(new_column, collation=cursor.take_name())
    if cursor.accept("DEFAULT"):
        _skip_column_default(cursor, start)
    elif cursor.accept("PRIMARY KEY"):
        draft.primary, draft.primary_name = (name,), constraint_name
        _skip_all_storage(cursor)
    elif cursor.accept("UNIQUE"):
        add_unique_key(draft, constraint_name, (name,))
        _skip_all_storage(cursor)
    elif cursor.accept("FOREIGN KEY REFERENCES", "REFERENCES"):
        read_reference(draft, cursor, (name,), start)
    elif cursor.accept("CHECK"):
        _read_check(draft, cursor, start)
    elif cursor.accept("GENERATED ALWAYS AS ROW START/END"):
        cursor.note(start, VERSIONS)
        return replace(new_column, nullable=False)
    elif cursor.accept("MASKED WITH"):
        cursor.take_parentheses()
    elif cursor.accept("INDEX"):
        index_name = cursor.take_name()
        unique = bool(cursor.accept("UNIQUE"))
        _skip_kind(cursor)
        draft.add_index(index_name, (name,), unique)
        _skip_all_storage(cursor)
    elif not cursor.accept(*_IGNORED):
        cursor.take()
        cursor.skip_parentheses()
        cursor.note(start, UNREAD)
    return new_column


def _skip_column_default(cursor: Cursor, start: int) -> None:
    """Skips a default at the cursor, whose definition begins at the word of number `start`."""
    skip_default(cursor, start, _ATTRIBUTES)
    cursor.accept("WITH VALUES")


def _read_check(draft: Draft, cursor: Cursor, start: int) -> None:
    """Reads the condition of a CHECK at the cursor into the draft; its definition begins at the
    word of number `start`.
    """
    cursor.accept("NOT FOR REPLICATION")
    condition_text = cursor.take_parentheses().source_text()
    draft.checks.append(Pending.since(cursor, start, condition_text))


def read_constraint(draft: Draft, cursor: Cursor) -> None:
    """Reads the definition of a key, an index, a foreign key, a CHECK or a default at the cursor
    into the table's draft.
    """
    start = cursor.at
    name = cursor.take_name() if cursor.accept("CONSTRAINT") else ""
    if cursor.accept("PRIMARY KEY"):
        _skip_kind(cursor)
        draft.primary, draft.primary_name = read_key_columns(draft, cursor, start), name
    elif cursor.accept("UNIQUE"):
        _skip_kind(cursor)
        if columns := read_key_columns(draft, cursor, start):
            add_unique_key(draft, name, columns)
    elif cursor.accept("FOREIGN KEY"):
        columns = read_key_columns(draft, cursor, start)
        cursor.expect("REFERENCES")
        read_reference(draft, cursor, columns, start)
    elif cursor.accept("CHECK"):
        _read_check(draft, cursor, start)
    elif cursor.accept("DEFAULT"):
        _skip_column_default(cursor, start)
        if cursor.accept("FOR"):
            cursor.take_name()
        cursor.accept("WITH VALUES")
    elif cursor.accept("INDEX"):
        index_name = cursor.take_name()
        unique = bool(cursor.accept("UNIQUE"))
        _skip_kind(cursor)
        read_index(draft, cursor, index_name, unique=unique)
    elif cursor.accept("PERIOD FOR SYSTEM_TIME"):
        cursor.skip_rest(start, VERSIONS)
    else:
        cursor.skip_rest(start, UNREAD)
    _skip_all_storage(cursor)


def read_index(draft: Draft, cursor: Cursor, name: str, *, unique: bool) -> None:
    """Reads the rest of an index's definition, from its columns on, into the table's draft. An
    index without columns (such as a clustered columnstore), or over a column that is left out, is
    only noted. One over some rows alone (WHERE) is noted, too, because it is no key. Each note
    shows all of the cursor's words (from word 0 on).
    """
    if not cursor.next_is("("):
        cursor.skip_rest(0, _FOREIGN_INDEX)
        return
    columns: list[str] = []
    for part in cursor.take_parentheses().split_at_commas():
        written_name = part.next_name
        column_name = read_column_name(draft, part)
        if not column_name:
            cursor.skip_rest(0, f"left out: it has the column {written_name}")
            return
        columns.append(column_name)
    _skip_all_storage(cursor)
    partial = cursor.next_is("WHERE")
    if partial:
        cursor.skip_until("WITH", "ON")
        note = "taken as no key: a unique index over some rows"
        cursor.note(0, note if unique else "left out: an index over some rows")
    _skip_all_storage(cursor)
    if unique or not partial:
        draft.add_index(name, tuple(columns), unique, partial=partial)


def read_alterations(draft: Draft, cursor: Cursor) -> None:
    """Applies the action of an ALTER TABLE at the cursor to the table's draft. One that is not
    understood leaves the table out.
    """
    start = cursor.at
    if phrase := cursor.accept(*_ALTERATIONS):
        cursor.skip_until()
        if _ALTERATIONS[phrase]:
            cursor.note(start, _ALTERATIONS[phrase])
        return
    cursor.accept("WITH CHECK", "WITH NOCHECK")
    if phrase := cursor.accept("CHECK/NOCHECK CONSTRAINT"):
        cursor.skip_until()
    elif cursor.accept("ADD"):
        for item in cursor.split_at_commas():
            read_item(draft, item)
    elif cursor.accept("ALTER COLUMN"):
        _alter_column(draft, cursor)
    elif cursor.accept("DROP"):
        _drop_parts(draft, cursor)
    else:
        cursor.skip_until()
        draft.leave_out(cursor, 0, UNREAD)


def _alter_column(draft: Draft, cursor: Cursor) -> None:
    """Gives a column of the draft the type and the attributes at the cursor. The column is read
    anew at its old place, and keeps the spelling of its name. A table is left out if its primary
    key has a column whose new type is not read. Raises UsageError if the table has no such column.
    """
    written_name = cursor.next_name
    name = read_column_name(draft, cursor)
    if not name:
        cursor.skip_rest(0, "left out: the column is left out")
        return
    if cursor.accept("ADD", "DROP"):
        cursor.skip_rest(0, _NO_COLUMN)
        return
    position = [column.name for column in draft.columns].index(name)
    draft.columns.pop(position)
    # A column's definition begins with its name, which was taken already.
    definition = Cursor(cursor.script, cursor.words[cursor.at - 1 :], cursor.end)
    read_column(draft, definition, position)
    cursor.at = len(cursor.words)
    draft.columns = [
        replace(column, name=name) if column.name == written_name else column
        for column in draft.columns
    ]
    if draft.column_name(name) is None and name in draft.primary:
        draft.leave_out(cursor, 0, f"left out: its key has the column {name}")


def _drop_parts(draft: Draft, cursor: Cursor) -> None:
    """Drops the columns and constraints at the cursor from the draft. A constraint that it does not
    know by its name is noted: it stays. Raises UsageError if the table has no such column.
    """
    kind = "CONSTRAINT"
    for part in cursor.split_at_commas():
        kind = part.accept("COLUMN", "CONSTRAINT") or kind
        part.accept("IF EXISTS")
        at, name = part.peek(), part.take_name()
        column_name = draft.column_name(name)
        if kind == "COLUMN" and column_name:
            draft.drop_column(column_name)
        elif kind == "COLUMN" and not draft.lacks_column(name):
            raise cursor.script.error(at.start, f"table {draft.name} has no column {name}")
        elif kind == "CONSTRAINT" and name.lower() == draft.primary_name.lower():
            draft.drop_primary_key()
        elif kind == "CONSTRAINT" and not draft.drop_index(name):
            part.note(0, CONSTRAINT_STAYS)
        _skip_all_storage(part)
        note_leftover(part)
