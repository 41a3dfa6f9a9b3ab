"""DDL of MySQL, MariaDB and TiDB: SHOW CREATE TABLE, mysqldump, mariadb-dump, Dumpling, phpMyAdmin, and statements by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from generators.model import Column, Default, Logical
from generators.tables.ddl_tables import Draft, Pending
from generators.tables.ddl_text import Cursor
from generators.tables.ddl_types import UNDRAWN, Unsupported, mysql_default, mysql_type
from generators.tables.schema import ForeignKey

CHARSETS: Final = ("utf8mb4", "utf8", "utf8mb3", "latin1", "ascii", "gbk", "utf16")
"""Character sets that the writers have."""

_SILENT_COLUMN: Final = ("AUTO_INCREMENT", "VISIBLE", "NULL", "ASCII", "UNICODE")
"""Attributes of a column that no message shows."""

_SILENT_VALUED: Final = ("COLUMN_FORMAT", "STORAGE", "SRID", "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE")
_OPTIONS: Final = re.compile(
    r"ENGINE|TYPE|AUTO_INCREMENT|AVG_ROW_LENGTH|\w*CHECKSUM|\w*COMPRESS(?:ION|ED)|CONNECTION|DELAY_KEY_WRITE|ENCRYPT(?:ION|ED)"
    r"|ENCRYPTION_KEY_ID|INSERT_METHOD|KEY_BLOCK_SIZE|M(?:AX|IN)_ROWS|PACK_KEYS|PAGE_COMPRESSION_LEVEL|ROW_FORMAT|STATS_\w+"
    r"|TABLESPACE|STORAGE|\w*ENGINE_ATTRIBUTE|SECONDARY_ENGINE|AUTOEXTEND_SIZE|TRANSACTIONAL|IETF_QUOTES|SEQUENCE|PASSWORD"
    r"|SHARD_ROW_ID_BITS|PRE_SPLIT_REGIONS|AUTO_ID_CACHE|AUTO_RANDOM_BASE|AFFINITY"
)
"""Options of a table that no message shows."""

_TEXTS: Final = (Logical.TEXT, Logical.ENUM, Logical.SET)
_CONSTRAINTS: Final = (
    *("PRIMARY KEY", "UNIQUE", "KEY/INDEX", "FULLTEXT/SPATIAL", "VECTOR KEY/INDEX", "CHECK", "FOREIGN KEY", "CONSTRAINT"),
)


def definition(draft: Draft, cursor: Cursor) -> None:
    """Reads what follows the table's name in CREATE TABLE: columns, keys and options."""
    body = list(cursor.parens().items())
    _options(draft, cursor)
    for item in body:
        element(draft, item)
        leftover(item)


def leftover(cursor: Cursor) -> None:
    """Notes the words that no parser took."""
    if not cursor.done:
        start = cursor.at
        cursor.at = len(cursor.words)
        cursor.note(start, "left out: not understood")


def element(draft: Draft, cursor: Cursor) -> None:
    """A column or a constraint of a table."""
    if cursor.next_is("PERIOD FOR"):
        cursor.at = len(cursor.words)
        cursor.note(0, "left out: the table is taken without system versions")
    elif any(map(cursor.next_is, _CONSTRAINTS)):
        constraint(draft, cursor)
    else:
        column(draft, cursor)


def column(draft: Draft, cursor: Cursor, place: int | None = None) -> None:
    """A column's definition; `place` is its number, None for the last."""
    name = cursor.name()
    if draft.column_name(name, folded=True):
        raise cursor.script.error(cursor.words[0].start, f"column {name} is defined twice")
    serial = cursor.next_is("SERIAL") or None
    spelling = cursor.at
    try:
        type, declared = mysql_type(cursor, draft.charset)
    except Unsupported:
        cursor.until(
            "NOT", "NULL", "DEFAULT", "COMMENT", "COLLATE", "GENERATED", "CHECK", "INVISIBLE", "REF_SYSTEM_ID", "SRID", "AS"
        )
        cursor.note(spelling, f"table {draft.name} {UNDRAWN}")
        draft.left_out = True
        cursor.at = len(cursor.words)
        return
    made = Column(name, type, nullable=not serial, declared=declared)
    if serial:
        draft.index("", (name,), unique=True)
    charset = collation = ""
    while not cursor.done:
        start = cursor.at
        if cursor.accept("NOT NULL"):
            made = replace(made, nullable=False)
        elif cursor.accept("DEFAULT"):
            made = replace(made, default=mysql_default(cursor, type))
            _check_default(made.default, cursor, start)
        elif cursor.accept("ON UPDATE"):
            cursor.take()
            if cursor.next_is("("):
                cursor.parens()
        elif cursor.accept("COMMENT"):
            made = replace(made, comment=cursor.take().text)
        elif cursor.accept("CHARACTER SET", "CHARSET"):
            charset = cursor.name().lower()
        elif cursor.accept("COLLATE"):
            collation = cursor.name().lower()
        elif cursor.accept("BINARY"):
            collation = "binary"
        elif cursor.accept("PRIMARY KEY", "KEY"):
            draft.primary = (name,)
            _clustered(draft, cursor)
        elif cursor.accept("UNIQUE"):
            cursor.accept("KEY")
            draft.index("", (name,), unique=True)
        elif cursor.accept("GENERATED ALWAYS AS", "AS"):
            expression = cursor.parens().text()
            stored = cursor.accept("STORED", "PERSISTENT", "VIRTUAL") in ("STORED", "PERSISTENT")
            made = replace(made, generated="stored" if stored else "virtual")
            draft.generated[name] = Pending.since(cursor, start, expression)
        elif cursor.next_is("CHECK") or cursor.next_is("CONSTRAINT"):
            _check(draft, cursor)
        elif cursor.accept("REFERENCES"):
            _reference(draft, cursor, (name,), start, inline=True)
        elif cursor.accept("AUTO_RANDOM"):
            if cursor.next_is("("):
                cursor.parens()
        elif cursor.accept("INVISIBLE"):
            cursor.note(start, "taken as a visible column, since row events hold it")
        elif cursor.accept("COMPRESSED"):
            if cursor.accept("="):
                cursor.take()
        elif cursor.accept("WITH SYSTEM VERSIONING", "WITHOUT SYSTEM VERSIONING"):
            cursor.note(start, "left out: the table is taken without system versions")
        elif cursor.accept(*_SILENT_VALUED):
            cursor.accept("=")
            cursor.take()
        elif cursor.accept("FIRST"):
            place = 0
        elif cursor.accept("AFTER"):
            behind = draft.column_name(cursor.name(), folded=True)
            place = next((i for i, c in enumerate(draft.columns, 1) if c.name == behind), None)
        elif not cursor.accept(*_SILENT_COLUMN):
            cursor.take()
            if cursor.next_is("("):
                cursor.parens()
            cursor.note(start, "left out: not understood")
    own_collation = collation if collation != "binary" else ""
    charset = charset or own_collation.partition("_")[0] or draft.charset
    if type.logical in _TEXTS and type.name != "vector":
        if charset and charset not in CHARSETS:
            cursor.note(0, f"character set {charset} is taken as utf8mb4")
            charset = ""
        inherits = draft.collation.startswith(f"{charset}_")
        if collation == "binary":
            own_collation = f"{charset or 'utf8mb4'}_bin"
        own_collation = own_collation or (draft.collation if inherits else "")
        made = replace(
            made,
            charset="" if charset == "utf8mb4" else charset,
            collation="" if own_collation == "utf8mb4_bin" else own_collation,
        )
    draft.columns.insert(len(draft.columns) if place is None else place, made)


def _check_default(default: Default | None, cursor: Cursor, start: int) -> None:
    if default and default.value is None and default.text.startswith(("'", "0x", "x'")):
        cursor.note(start, "taken as an expression: no value of the column's type")


def constraint(draft: Draft, cursor: Cursor) -> None:
    """A key, an index, a foreign key or a CHECK of a table."""
    start = cursor.at
    name = ""
    if cursor.accept("CONSTRAINT") and not cursor.next_is("PRIMARY/UNIQUE/FOREIGN/CHECK"):
        name = cursor.name()
    if cursor.accept("PRIMARY KEY"):
        _using(cursor, named=True)
        columns = _key_columns(draft, cursor, start)
        draft.primary = columns or ()
        _clustered(draft, cursor)
        _index_options(cursor)
    elif cursor.accept("FOREIGN KEY"):
        if not cursor.next_is("("):
            cursor.name()
        columns = _key_columns(draft, cursor, start)
        cursor.expect("REFERENCES")
        _reference(draft, cursor, columns or (), start)
    elif cursor.next_is("CHECK"):
        _check(draft, cursor)
    elif cursor.accept("FULLTEXT", "SPATIAL", "VECTOR"):
        cursor.at = len(cursor.words)
        cursor.note(start, "left out: the model has no such index")
    else:
        unique = bool(cursor.accept("UNIQUE"))
        cursor.accept("KEY", "INDEX")
        cursor.accept("IF NOT EXISTS")
        name = _using(cursor, named=True) or name
        columns = _key_columns(draft, cursor, start)
        if columns:
            draft.index(name, columns, unique)
        _index_options(cursor)


def _using(cursor: Cursor, *, named: bool = False) -> str:
    """An index's name, which may be missing, and its kind."""
    name = ""
    if named and not cursor.next_is("(") and not cursor.next_is("USING"):
        name = cursor.name()
    if cursor.accept("USING", "TYPE"):
        cursor.take()
    return name


def _key_columns(draft: Draft, cursor: Cursor, start: int) -> tuple[str, ...] | None:
    """The columns of a key; None, and a note, if one is an expression."""
    columns: list[str] = []
    prefix = False
    for part in cursor.parens().items():
        if part.next_is("("):
            cursor.note(start, "left out: an index over an expression")
            return None
        at, name = part.peek(), part.name()
        known = draft.column_name(name, folded=True)
        if known is None:
            if draft.left_out:
                return None
            raise cursor.script.error(at.start, f"table {draft.name} has no column {name}")
        columns.append(known)
        if part.next_is("("):
            part.parens()
            prefix = True
        part.accept("ASC", "DESC")
        leftover(part)
    if prefix and cursor.words[start].upper in ("UNIQUE", "CONSTRAINT", "PRIMARY"):
        cursor.note(start, "taken as a key over whole columns: the model has no prefixes")
    return tuple(columns)


def _clustered(draft: Draft, cursor: Cursor) -> None:
    """TiDB's word on how it finds rows: NONCLUSTERED means by an index."""
    if cursor.accept("CLUSTERED", "NONCLUSTERED") == "NONCLUSTERED":
        draft.index("PRIMARY", draft.primary, unique=True)


def _index_options(cursor: Cursor) -> None:
    while not cursor.done:
        start = cursor.at
        if cursor.accept("USING", "COMMENT", "KEY_BLOCK_SIZE", "ENGINE_ATTRIBUTE", "WITH PARSER"):
            cursor.accept("=")
            cursor.take()
        elif not cursor.accept("VISIBLE", "INVISIBLE", "IGNORED", "NOT IGNORED", "GLOBAL", "LOCAL"):
            cursor.at = start
            return


def _check(draft: Draft, cursor: Cursor) -> None:
    start = cursor.at
    if cursor.accept("CONSTRAINT") and not cursor.next_is("CHECK"):
        cursor.name()
    cursor.expect("CHECK")
    text = cursor.parens().text()
    if cursor.accept("NOT ENFORCED"):
        cursor.note(start, "left out: the database does not enforce it")
    else:
        cursor.accept("ENFORCED")
        draft.checks.append(_pending(cursor, start, text))


def _pending(cursor: Cursor, start: int, text: str) -> Pending:
    return Pending(cursor.script, cursor.words[start].start, cursor.words[cursor.at - 1].end, text)


def _reference(draft: Draft, cursor: Cursor, columns: tuple[str, ...], start: int, *, inline: bool = False) -> None:
    """The parent of a foreign key, and what happens to children."""
    *qualifier, parent = cursor.names()
    parents = tuple(part.name() for part in cursor.parens().items()) if cursor.next_is("(") else ()
    actions = cursor.at
    while event := cursor.accept("ON DELETE", "ON UPDATE", "MATCH"):
        if event == "MATCH":
            cursor.take()
        else:
            cursor.accept("CASCADE", "RESTRICT", "SET NULL", "SET DEFAULT", "NO ACTION")
    acts = cursor.since(actions)
    if "CASCADE" in acts.upper() or "SET" in acts.upper():
        cursor.note(actions, "left out: no history relies on it")
    if inline and cursor.script.dialect != "mariadb":
        cursor.note(start, "left out: the database ignores a reference in a column's definition")
        return
    place = (qualifier[0] if qualifier else draft.database, None, parent)
    if columns:
        draft.foreign.append((ForeignKey(columns, place, parents), _pending(cursor, start, "")))


def _options(draft: Draft, cursor: Cursor) -> None:
    """The options of a table, and its partitions."""
    while not cursor.done:
        cursor.accept(",")
        start = cursor.at
        default = cursor.accept("DEFAULT")
        if cursor.accept("CHARACTER SET", "CHARSET"):
            cursor.accept("=")
            draft.charset = cursor.name().lower()
        elif cursor.accept("COLLATE"):
            cursor.accept("=")
            draft.collation = cursor.name().lower()
            draft.charset = draft.charset or draft.collation.partition("_")[0]
        elif cursor.accept("COMMENT"):
            cursor.accept("=")
            draft.comment = cursor.take().text
        elif cursor.accept("PARTITION BY"):
            cursor.until()
            cursor.note(start, "left out: the table is taken without partitions")
        elif cursor.accept("WITH SYSTEM VERSIONING"):
            cursor.note(start, "left out: the table is taken without system versions")
        elif cursor.accept("TTL_ENABLE", "TTL_JOB_INTERVAL"):
            cursor.accept("=")
            cursor.take()
        elif cursor.accept("TTL"):
            cursor.until("INTERVAL")
            _ = cursor.take(), cursor.take(), cursor.take()  # INTERVAL 1 YEAR
            cursor.note(start, "left out: no history deletes by age")
        elif cursor.accept("PLACEMENT POLICY", "DATA DIRECTORY", "INDEX DIRECTORY"):
            cursor.accept("=")
            cursor.take()
        elif cursor.accept("UNION"):
            cursor.accept("=")
            cursor.parens()
        elif _OPTIONS.fullmatch(cursor.peek().upper):
            cursor.take()
            cursor.accept("=")
            cursor.take()
        elif cursor.accept("AS", "SELECT", "IGNORE", "REPLACE") and not default:
            cursor.until()
            cursor.note(start, f"table {draft.name} left out: its columns come from a query")
            draft.left_out = True
        else:
            cursor.take()
            if cursor.accept("="):
                cursor.take()
            cursor.note(start, "left out: not understood")


def altered(draft: Draft, cursor: Cursor) -> None:
    """The actions of ALTER TABLE."""
    for action in cursor.items():
        if action.accept("ADD"):
            if not action.accept("COLUMN") and any(action.next_is(phrase) for phrase in _CONSTRAINTS):
                constraint(draft, action)
            else:
                action.accept("IF NOT EXISTS")
                for part in list(action.parens().items()) if action.next_is("(") else [action]:
                    column(draft, part)
        elif action.accept("MODIFY"):
            action.accept("COLUMN")
            changed(draft, action, action.peek().text)
        elif action.accept("CHANGE"):
            action.accept("COLUMN")
            changed(draft, action, action.name())
        elif action.accept("DROP COLUMN", "DROP") and (known := draft.column_name(action.peek().text, folded=True)):
            action.take()
            draft.drop(known)
        elif action.accept(*_SILENT_ALTER):
            action.until()
        elif action.accept(*_OF_TIDB):
            action.until()
            action.note(0, "left out: it changes no column")
        else:
            action.until()
            action.note(0, f"table {draft.name} left out: not understood")
            draft.left_out = True
        leftover(action)


_OF_TIDB: Final = (
    "SET TIFLASH REPLICA",
    "CACHE",
    "NOCACHE",
    "ATTRIBUTES",
    "PLACEMENT POLICY",
    "REMOVE TTL",
    "TTL",
    "ALTER INDEX",
)
_SILENT_ALTER: Final = ("DISABLE KEYS", "ENABLE KEYS", "AUTO_INCREMENT")


def changed(draft: Draft, cursor: Cursor, old: str) -> None:
    """A column's new definition."""
    known = draft.column_name(old, folded=True)
    if known is None:
        raise cursor.script.error(cursor.peek().start, f"table {draft.name} has no column {old}")
    place = [c.name for c in draft.columns].index(known)
    before = draft.columns.pop(place)
    renamed = cursor.peek().text
    column(draft, cursor, place)
    draft.primary = tuple(renamed if name == before.name else name for name in draft.primary)
    draft.indexes = [
        replace(index, columns=tuple(renamed if name == before.name else name for name in index.columns))
        for index in draft.indexes
    ]
