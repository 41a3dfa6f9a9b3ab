"""Definitions of tables in Oracle's SQL: columns, constraints, storage, as DBMS_METADATA.GET_DDL
prints them and as they are written by hand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from generators.model import Column
from generators.tables.ddl_batches import add_unique_key, read_column_name, skip_default
from generators.tables.ddl_definitions import (
    CONSTRAINT_STAYS,
    PARTITIONS,
    UNREAD,
    leave_column_out,
    note_leftover,
    read_key_columns,
    read_reference,
)
from generators.tables.ddl_oracle_types import read_oracle_type
from generators.tables.ddl_tables import Draft, Pending
from generators.tables.ddl_text import Cursor
from generators.tables.ddl_types import UNDRAWN_COLUMN, Unsupported

_VIRTUAL: Final = (
    "left out: the redo log has no value of a virtual column; messages are those of the table"
    " without it"
)
_DISABLED: Final = "taken as enabled: values honour it all the same"
_EXPRESSION: Final = "left out: an index over an expression"
_NO_COLUMN: Final = "left out: it changes no column"

_CONSTRAINTS: Final = (
    "CONSTRAINT",
    "PRIMARY KEY",
    "UNIQUE (",
    "FOREIGN KEY",
    "CHECK (",
    "SUPPLEMENTAL LOG",
    "PERIOD FOR",
)
"""The words with which a definition begins that is none of a column."""
_ATTRIBUTES: Final = (
    *("NOT", "NULL", "DEFAULT", "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES"),
    *("GENERATED", "AS", "ENABLE", "DISABLE", "COLLATE", "VISIBLE", "INVISIBLE", "VIRTUAL"),
    *("ENCRYPT", "SORT"),
)
"""Words that end a default, the options of an identity, and a type that the model does not have."""

_IGNORED: Final = ("NULL", "VISIBLE", "SORT", "VIRTUAL", "WITH ROWID")
"""Attributes of a column that no message shows."""

_STATES: Final = (
    *("ENABLE", "VALIDATE", "NOVALIDATE", "RELY", "NORELY", "NOT DEFERRABLE", "DEFERRABLE"),
    *("INITIALLY DEFERRED", "INITIALLY IMMEDIATE"),
)
"""The words behind a constraint that say how the database keeps it, beside DISABLE; no message
shows them.
"""
_VALUED: Final = (
    *("PCTFREE", "PCTUSED", "INITRANS", "MAXTRANS", "PCTTHRESHOLD", "TABLESPACE", "INCLUDING"),
    *("SEGMENT CREATION", "DEFAULT COLLATION", "COMPRESS FOR OLTP/QUERY/ARCHIVE/ALL/DIRECT_LOAD"),
    *("STORE AS SECUREFILE/BASICFILE", "STORE AS", "FLASHBACK ARCHIVE", "CLUSTER", "INDEXING"),
    *("ENABLE ROW", "DISABLE ROW", "ON COMMIT", "PCTVERSION", "CHUNK", "MEMCOMPRESS FOR"),
)
"""Clauses of storage that have a value, a name or a word more."""

_STORAGE: Final = (
    *("NOCOMPRESS", "COMPRESS", "COMPRESSION", "LOGGING", "NOLOGGING", "STORAGE", "LOB"),
    *("CACHE", "NOCACHE", "PARALLEL", "NOPARALLEL", "MONITORING", "NOMONITORING", "BASIC"),
    *("ORGANIZATION HEAP", "ORGANIZATION INDEX", "OVERFLOW", "INMEMORY", "NO INMEMORY"),
    *("RESULT_CACHE", "ROWDEPENDENCIES", "NOROWDEPENDENCIES", "ROW STORE", "COLUMN STORE"),
    *("ROW ARCHIVAL", "READ WRITE", "READ ONLY", "REVERSE", "COMPUTE STATISTICS", "ONLINE"),
    *(
        "LOCAL",
        "GLOBAL",
        "INVISIBLE",
        "VISIBLE",
        "UNUSABLE",
        "USABLE",
        "NOSORT",
        "SORT",
        "ADVANCED",
    ),
    *(
        "FILESYSTEM_LIKE_LOGGING",
        "LOW",
        "HIGH",
        "NO DUPLICATE",
        "ROW LEVEL LOCKING",
    ),
    *("NOMAPPING", "MAPPING TABLE", "NO FLASHBACK ARCHIVE", "SUPPLEMENTAL LOG", "ADVANCED LOW"),
    *("XMLTYPE COLUMN", "XMLTYPE", "ENABLE", "DISABLE", "NO"),
)
"""Clauses of storage of one or two words, and maybe parentheses or a number after them."""

_ALTERATIONS: Final = {
    "ADD SUPPLEMENTAL LOG": "",
    "DROP SUPPLEMENTAL LOG": "",
    "ADD/DROP PARTITION/SUBPARTITION": PARTITIONS,
    "TRUNCATE/SPLIT/MERGE/MOVE/EXCHANGE/COALESCE PARTITION/SUBPARTITION": PARTITIONS,
    "MODIFY PARTITION/SUBPARTITION": PARTITIONS,
    "ENABLE/DISABLE": "",
    "RENAME CONSTRAINT": "",
    "MODIFY CONSTRAINT/PRIMARY/UNIQUE": CONSTRAINT_STAYS,
    "MODIFY LOB": "",
    "MOVE": "",
    "SHRINK": "",
    "DEALLOCATE": "",
    "DROP UNUSED": "",
}
"""Actions of ALTER TABLE that change no column, and what is noted of them; "" of those that no
message shows.
"""


def read_definition(draft: Draft, cursor: Cursor) -> None:
    """Reads what follows the table's name in CREATE TABLE: columns, keys and storage."""
    body = list(cursor.take_parentheses().split_at_commas())
    for item in body:
        read_item(draft, item)
    while not cursor.done:
        start = cursor.at
        if cursor.accept("AS"):
            cursor.skip_until()
            draft.leave_out(cursor, start, "left out: its columns come from a query")
        elif cursor.accept("ORGANIZATION EXTERNAL"):
            cursor.skip_until()
            draft.leave_out(cursor, start, "left out: the redo log has no rows of a file")
        elif cursor.accept("PARTITION BY"):
            cursor.skip_until("AS", "ENABLE", "DISABLE", "PARALLEL", "NOPARALLEL", "CACHE")
            cursor.note(start, PARTITIONS)
        elif not _skip_storage(cursor):
            cursor.take()
            cursor.skip_parentheses()
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
    if cursor.accept(*_VALUED):
        if not cursor.next_is("("):
            cursor.take()
        cursor.skip_parentheses()
        return True
    if cursor.accept("VARRAY", "NESTED TABLE"):
        cursor.take_names()
        return True
    if cursor.accept(*_STORAGE):
        if cursor.peek().kind in ("number", "quoted"):
            cursor.take()
        cursor.skip_parentheses()
        return True
    return False


def _skip_all_storage(cursor: Cursor) -> None:
    """Skips all clauses at the cursor of how a table or an index is stored."""
    while _skip_storage(cursor):
        pass


def _read_states(cursor: Cursor, start: int, disabled: str = _DISABLED) -> bool:
    """Skips the index and the states behind a constraint whose definition begins at the word of
    number `start`. Returns whether the constraint is enabled; of a disabled one the text `disabled`
    is noted.
    """
    is_enabled = True
    while not cursor.done:
        if cursor.accept("USING INDEX"):
            if cursor.next_is("("):
                cursor.take_parentheses()
            elif cursor.peek().kind == "quoted":
                cursor.take_names()
            _skip_all_but_states(cursor)
        elif cursor.accept("EXCEPTIONS INTO"):
            cursor.take_names()
        elif cursor.accept("DISABLE"):
            is_enabled = False
            cursor.note(start, disabled)
        elif not cursor.accept(*_STATES):
            break
    return is_enabled


def _skip_all_but_states(cursor: Cursor) -> None:
    """Skips the storage of a constraint's index, up to ENABLE or DISABLE, which are states of the
    constraint itself.
    """
    while not cursor.next_is("ENABLE/DISABLE") and _skip_storage(cursor):
        pass


def read_column(draft: Draft, cursor: Cursor, position: int | None = None) -> None:
    """Reads a column's definition at the cursor into the draft; `position` is its number among the
    columns, None for the last. A virtual column and one of a type that the model lacks are noted
    and left out. Raises UsageError for a second column of that name.
    """
    place, name = cursor.peek(), cursor.take_name()
    if draft.column_name(name):
        raise cursor.script.error(place.start, f"column {name} is defined twice")
    start = cursor.at
    if _is_virtual(cursor):
        cursor.skip_until("PRIMARY", "UNIQUE", "NOT", "CONSTRAINT", "CHECK")
        leave_column_out(draft, cursor, start, name, _VIRTUAL)
        return
    try:
        spelling = read_oracle_type(cursor)
    except Unsupported:
        cursor.at = start
        cursor.skip_until(*_ATTRIBUTES)
        leave_column_out(draft, cursor, start, name, UNDRAWN_COLUMN)
        return
    new_column = Column(name, spelling.type, declared=spelling.declared)
    while not cursor.done:
        new_column = _read_attribute(draft, cursor, new_column)
    draft.columns.insert(len(draft.columns) if position is None else position, new_column)


def _is_virtual(cursor: Cursor) -> bool:
    """Whether the column whose type comes next, or is missing, is computed from an expression."""
    ahead = Cursor(cursor.script, cursor.words[cursor.at :], cursor.end)
    ahead.skip_until("AS")
    return ahead.next_is("AS (")


def _read_attribute(draft: Draft, cursor: Cursor, new_column: Column) -> Column:
    """Reads one attribute of a column at the cursor: returns the column with it, or puts the key or
    constraint that it makes into the draft. One that is not understood is noted.
    """
    start, name = cursor.at, new_column.name
    constraint_name = cursor.take_name() if cursor.accept("CONSTRAINT") else ""
    if cursor.accept("NOT NULL"):
        _read_states(cursor, start)
        return replace(new_column, nullable=False)
    if cursor.accept("GENERATED"):
        cursor.accept("ALWAYS", "BY DEFAULT ON NULL", "BY DEFAULT")
        cursor.expect("AS IDENTITY")
        cursor.skip_parentheses()
        cursor.skip_until(*_ATTRIBUTES)
        return replace(new_column, nullable=False)
    if cursor.accept("DEFAULT"):
        is_required = bool(cursor.accept("ON NULL"))
        cursor.accept("FOR INSERT ONLY", "FOR INSERT AND UPDATE")
        skip_default(cursor, start, _ATTRIBUTES)
        return replace(new_column, nullable=new_column.nullable and not is_required)
    if cursor.accept("PRIMARY KEY"):
        draft.primary, draft.primary_name = (name,), constraint_name
        _read_states(cursor, start)
    elif cursor.accept("UNIQUE"):
        add_unique_key(draft, constraint_name, (name,))
        _read_states(cursor, start)
    elif cursor.accept("REFERENCES"):
        read_reference(draft, cursor, (name,), start)
        _read_states(cursor, start)
    elif cursor.accept("CHECK"):
        _read_check(draft, cursor, start)
    elif cursor.accept("COLLATE"):
        cursor.take_name()
    elif cursor.accept("INVISIBLE"):
        cursor.note(start, "taken as a visible column")
    elif cursor.accept("ENCRYPT"):
        cursor.skip_until(*_ATTRIBUTES)
    elif not cursor.accept(*_IGNORED, *_STATES):
        cursor.take()
        cursor.skip_parentheses()
        cursor.note(start, UNREAD)
    return new_column


def _read_check(draft: Draft, cursor: Cursor, start: int) -> None:
    """Reads a CHECK at the cursor, from its condition on, into the draft; its definition begins at
    the word of number `start`. A disabled one is noted and left out.
    """
    condition_text = cursor.take_parentheses().source_text()
    check = Pending.since(cursor, start, condition_text)  # ends before the states behind it
    not_enforced = "left out: the database does not enforce it"
    is_enabled = _read_states(cursor, start, disabled=not_enforced)
    if is_enabled:
        draft.checks.append(check)


def read_constraint(draft: Draft, cursor: Cursor) -> None:
    """Reads the definition of a key, a foreign key or a CHECK at the cursor into the table's
    draft.
    """
    start = cursor.at
    name = cursor.take_name() if cursor.accept("CONSTRAINT") else ""
    if cursor.accept("PRIMARY KEY"):
        draft.primary, draft.primary_name = read_key_columns(draft, cursor, start), name
    elif cursor.accept("UNIQUE"):
        if columns := read_key_columns(draft, cursor, start):
            add_unique_key(draft, name, columns)
    elif cursor.accept("FOREIGN KEY"):
        columns = read_key_columns(draft, cursor, start)
        cursor.expect("REFERENCES")
        read_reference(draft, cursor, columns, start)
    elif cursor.accept("CHECK"):
        _read_check(draft, cursor, start)
    elif cursor.accept("SUPPLEMENTAL LOG"):
        cursor.skip_until()
    else:
        cursor.skip_rest(start, UNREAD)
    _read_states(cursor, start)


def read_index(draft: Draft, cursor: Cursor, name: str, *, unique: bool) -> None:
    """Reads the rest of an index's definition, from its columns on, into the table's draft. One
    over an expression or over a column that is left out is noted.
    """
    columns: list[str] = []
    for part in cursor.take_parentheses().split_at_commas():
        place = part.peek()
        written_name = part.take_name() if place.kind in ("word", "quoted") else ""
        part.accept("ASC", "DESC")
        if not written_name or not part.done:
            cursor.skip_rest(0, _EXPRESSION)
            return
        column_name = draft.column_name(written_name)
        if column_name is None and draft.lacks_column(written_name):
            cursor.skip_rest(0, f"left out: it has the column {written_name}")
            return
        if column_name is None:
            message = f"table {draft.name} has no column {written_name}"
            raise cursor.script.error(place.start, message)
        columns.append(column_name)
    draft.add_index(name, tuple(columns), unique)
    cursor.skip_until()


def read_alterations(draft: Draft, cursor: Cursor) -> None:
    """Applies the actions of an ALTER TABLE at the cursor to the table's draft, one after the
    other. Nothing stands between Oracle's actions: each goes up to the next ADD, MODIFY or DROP.
    One that is not understood leaves the table out.
    """
    while not cursor.done:
        start = cursor.at
        cursor.take()
        cursor.skip_until("ADD", "MODIFY", "DROP")
        action = Cursor(cursor.script, cursor.words[start : cursor.at], cursor.peek().start)
        _read_alteration(draft, action)


def _read_alteration(draft: Draft, cursor: Cursor) -> None:
    """Applies one action of an ALTER TABLE to the table's draft."""
    if phrase := cursor.accept(*_ALTERATIONS):
        cursor.skip_until()
        if _ALTERATIONS[phrase]:
            cursor.note(0, _ALTERATIONS[phrase])
    elif cursor.accept("ADD"):
        for item in _items_of(cursor):
            read_item(draft, item)
        _skip_all_storage(cursor)
    elif cursor.accept("MODIFY"):
        for item in _items_of(cursor):
            _modify_column(draft, item)
    elif cursor.accept("RENAME COLUMN"):
        name = read_column_name(draft, cursor)
        cursor.expect("TO")
        place, new_name = cursor.peek(), cursor.take_name()
        if draft.column_name(new_name):
            raise cursor.script.error(place.start, f"table {draft.name} has a column {new_name}")
        if name:
            draft.rename_column(name, new_name)
    elif cursor.accept("DROP", "SET UNUSED"):
        _drop_parts(draft, cursor)
    elif not _skip_storage(cursor):
        cursor.skip_until()
        draft.leave_out(cursor, 0, UNREAD)
    _skip_all_storage(cursor)
    note_leftover(cursor)


def _items_of(cursor: Cursor) -> list[Cursor]:
    """The definitions in the parentheses at the cursor, each as a cursor; without parentheses the
    one that the rest of the words is.
    """
    if cursor.next_is("("):
        return list(cursor.take_parentheses().split_at_commas())
    definition = Cursor(cursor.script, cursor.words[cursor.at :], cursor.end)
    cursor.at = len(cursor.words)
    return [definition]


def _modify_column(draft: Draft, cursor: Cursor) -> None:
    """Gives a column of the draft the type or the attributes at the cursor. Raises UsageError if
    the table has no such column.
    """
    name = read_column_name(draft, cursor)
    if not name:
        cursor.skip_rest(0, "left out: the column is left out")
        return
    position = [column.name for column in draft.columns].index(name)
    column = draft.columns.pop(position)
    if any(map(cursor.next_is, _ATTRIBUTES)):
        if cursor.accept("NULL"):
            column = replace(column, nullable=True)
        while not cursor.done:
            column = _read_attribute(draft, cursor, column)
        draft.columns.insert(position, column)
        return
    cursor.at -= 1  # read_column takes the name again
    read_column(draft, cursor, position)
    if not column.nullable and draft.column_name(name):
        draft.change_column(name, nullable=False)
    elif draft.column_name(name) is None and name in draft.primary:
        draft.leave_out(cursor, 0, f"left out: its key has the column {name}")


def _drop_parts(draft: Draft, cursor: Cursor) -> None:
    """Drops the columns, the key or the constraint at the cursor from the draft. A constraint that
    it does not know by its name is noted: it stays.
    """
    if cursor.accept("PRIMARY KEY"):
        draft.drop_primary_key()
    elif cursor.accept("CONSTRAINT"):
        name = cursor.take_name()
        if name == draft.primary_name:
            draft.drop_primary_key()
        elif not draft.drop_index(name):
            cursor.note(0, CONSTRAINT_STAYS)
    elif cursor.accept("UNIQUE"):
        columns = read_key_columns(draft, cursor, 0)
        draft.indexes = [i for i in draft.indexes if not (i.unique and i.columns == columns)]
    elif cursor.accept("INDEX"):
        pass
    elif cursor.accept("COLUMN") or cursor.next_is("("):
        in_parentheses = cursor.next_is("(")
        named_columns = cursor.take_parentheses() if in_parentheses else cursor
        while not named_columns.done:
            if name := read_column_name(draft, named_columns):
                draft.drop_column(name)
            if not in_parentheses:
                break
            named_columns.accept(",")
    else:
        cursor.skip_rest(0, _NO_COLUMN)
    cursor.accept("CASCADE CONSTRAINTS", "CASCADE", "INVALIDATE")
    cursor.accept("KEEP INDEX", "ONLINE")
