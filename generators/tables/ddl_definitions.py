"""Definitions of tables, in CREATE TABLE and ALTER TABLE: columns, constraints, options.

What MySQL, MariaDB, TiDB and PostgreSQL have is read alike: SHOW CREATE TABLE, mysqldump,
mariadb-dump, Dumpling, phpMyAdmin, pg_dump, and statements by hand. A word that one of them does
not have does not come there.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from generators.model import Column, Default, Logical, SourceType
from generators.tables.ddl_postgresql import DEFERRING, ENDS, Types, expression, parameters, typed
from generators.tables.ddl_tables import Draft, Pending
from generators.tables.ddl_text import Cursor
from generators.tables.ddl_types import (
    UNDRAWN,
    Unsupported,
    mysql_default,
    mysql_type,
    postgresql_default,
)
from generators.tables.schema import ForeignKey

CHARSETS: Final = ("utf8mb4", "utf8", "utf8mb3", "latin1", "ascii", "gbk", "utf16")
"""Character sets that the writers have."""

_SILENT: Final = ("AUTO_INCREMENT", "VISIBLE", "NULL", "ASCII", "UNICODE", *DEFERRING)
"""Attributes of a column that no message shows."""

_SILENT_VALUED: Final = (
    "COLUMN_FORMAT",
    "STORAGE",
    "SRID",
    "ENGINE_ATTRIBUTE",
    "SECONDARY_ENGINE_ATTRIBUTE",
    "COMPRESSION",
)
_OPTIONS: Final = re.compile(
    r"ENGINE|TYPE|AUTO_INCREMENT|AVG_ROW_LENGTH|\w*CHECKSUM|\w*COMPRESS(?:ION|ED)|CONNECTION|DELAY_KEY_WRITE|ENCRYPT(?:ION|ED)"
    r"|ENCRYPTION_KEY_ID|INSERT_METHOD|KEY_BLOCK_SIZE|M(?:AX|IN)_ROWS|PACK_KEYS|PAGE_COMPRESSION_LEVEL|ROW_FORMAT|STATS_\w+"
    r"|TABLESPACE|STORAGE|\w*ENGINE_ATTRIBUTE|SECONDARY_ENGINE|AUTOEXTEND_SIZE|TRANSACTIONAL|IETF_QUOTES|SEQUENCE|PASSWORD"
    r"|SHARD_ROW_ID_BITS|PRE_SPLIT_REGIONS|AUTO_ID_CACHE|AUTO_RANDOM_BASE|AFFINITY|TTL_ENABLE|TTL_JOB_INTERVAL|USING"
)
"""Options of a table that no message shows."""

_TEXTS: Final = (Logical.TEXT, Logical.ENUM, Logical.SET)
_KEYS: Final = ("PRIMARY KEY", "FOREIGN KEY", "CONSTRAINT")
_CONSTRAINTS: Final = (
    *_KEYS,
    "UNIQUE",
    "KEY/INDEX",
    "FULLTEXT/SPATIAL",
    "VECTOR KEY/INDEX",
    "CHECK",
)
_CONSTRAINTS_POSTGRESQL: Final = (
    *_KEYS,
    "UNIQUE (/NULLS/USING",
    "CHECK (",
    "EXCLUDE (/USING",
    "LIKE",
)
_QUERIES: Final = ("AS", "SELECT", "IGNORE", "REPLACE", "WITH", "TABLE", "VALUES")
"""Words that begin the query from which a table is made."""

_OF_KEYS: Final = "INDEX/KEY/CHECK/CONSTRAINT/PRIMARY/FOREIGN/PARTITION"
"""What MySQL drops beside columns; no column has such a name without quotes."""

_DROPS: Final = ("DROP COLUMN IF EXISTS", "DROP COLUMN", "DROP IF EXISTS", "DROP")
_VERSIONS: Final = "left out: the table is taken without system versions"
_UNREAD: Final = "left out: not understood"
_NO_COLUMN: Final = "left out: it changes no column"
_ALTERATIONS: Final = {
    "ALTER CHECK/CONSTRAINT": "left out: the check stays as it was defined",
    **dict.fromkeys(
        ("SET TIFLASH REPLICA", "CACHE", "NOCACHE", "ATTRIBUTES", "PLACEMENT POLICY"), _NO_COLUMN
    ),
    **dict.fromkeys(("REMOVE TTL", "TTL", "ALTER INDEX/KEY"), _NO_COLUMN),
    **dict.fromkeys(("AUTO_INCREMENT", "ENABLE KEYS", "DISABLE KEYS", "FORCE"), ""),
}
_ALTERATIONS_POSTGRESQL: Final = {
    "REPLICA IDENTITY DEFAULT": "",
    # NOTHING leaves updates and deletes without a before image.
    "REPLICA IDENTITY": (
        "left out: the option image of a writer's profile says what a before image holds"
    ),
    "ATTACH PARTITION": "left out: values do not honour the bounds of partitions",
    **dict.fromkeys(
        (
            "OWNER TO",
            "CLUSTER ON",
            "SET (/TABLESPACE/ACCESS/WITHOUT/LOGGED",
            "RESET",
            "ENABLE",
            "DISABLE",
        ),
        "",
    ),
    **dict.fromkeys(("NO FORCE", "FORCE", "VALIDATE", "ALTER CONSTRAINT"), ""),
}
"""Actions of ALTER TABLE that change no column, and what is noted of them; "" of those that no
message shows.
"""


def _is_constraint(draft: Draft, cursor: Cursor) -> bool:
    return any(map(cursor.next_is, _CONSTRAINTS if draft.mysql else _CONSTRAINTS_POSTGRESQL))


def definition(draft: Draft, cursor: Cursor, types: Types) -> None:
    """Reads what follows the table's name in CREATE TABLE: columns, keys and options."""
    if cursor.next_is("PARTITION OF") or cursor.accept("OF"):
        cursor.until()
        draft.leave_out(cursor, 0, "left out: its columns are another table's or a type's")
        return
    body = list(cursor.parens().items())
    _options(draft, cursor)
    for item in body:
        if draft.mysql and item.next_is("PERIOD FOR"):
            item.rest(0, _VERSIONS)
        elif _is_constraint(draft, item):
            constraint(draft, item)
        else:
            column(draft, item, types)
        _leftover(item)


def _leftover(cursor: Cursor) -> None:
    """Notes the words that no parser took."""
    if not cursor.done:
        cursor.rest(cursor.at, _UNREAD)


def column(draft: Draft, cursor: Cursor, types: Types, place: int | None = None) -> None:
    """A column's definition; `place` is its number, None for the last."""
    name = cursor.name()
    if draft.column_name(name):
        raise cursor.script.error(cursor.words[0].start, f"column {name} is defined twice")
    start = cursor.at
    try:
        made = _typed(draft, cursor, name) if draft.mysql else typed(draft, cursor, types, name)
    except Unsupported:
        cursor.at = start
        cursor.until(*ENDS)
        draft.leave_out(cursor, start, UNDRAWN)
        cursor.at = len(cursor.words)
        return
    while not cursor.done:
        start = cursor.at
        named = _named(cursor)
        if cursor.accept("NOT NULL"):
            made = replace(made, nullable=False)
        elif cursor.accept("DEFAULT"):
            made = replace(made, default=_default(draft, cursor, made.type, start))
        elif cursor.accept("ON UPDATE"):
            cursor.take()
            cursor.enclosed()
        elif cursor.accept("COMMENT"):
            made = replace(made, comment=cursor.take().text)
        elif cursor.accept("CHARACTER SET", "CHARSET"):
            made = replace(made, charset=cursor.name().lower())
        elif cursor.accept("COLLATE"):
            made = replace(made, collation=cursor.names()[-1])
        elif cursor.accept("BINARY"):
            made = replace(made, collation="binary")
        elif cursor.accept("PRIMARY KEY", "KEY"):
            draft.primary = (name,)
            _clustered(draft, cursor)
            parameters(cursor)
        elif cursor.accept("UNIQUE"):
            cursor.accept("KEY", "NULLS NOT DISTINCT", "NULLS DISTINCT")
            parameters(cursor)
            _unique(draft, named, (name,))
        elif cursor.accept("GENERATED ALWAYS AS IDENTITY", "GENERATED BY DEFAULT AS IDENTITY"):
            made = replace(made, nullable=False)
            cursor.enclosed()
        elif cursor.accept("GENERATED ALWAYS AS ROW START/END", "AS ROW START/END"):
            cursor.note(start, _VERSIONS)
            made = replace(made, nullable=False)
        elif cursor.accept("GENERATED ALWAYS AS", "AS"):
            text = cursor.parens().text()
            kind = cursor.accept("STORED", "PERSISTENT", "VIRTUAL") or (
                "VIRTUAL" if draft.mysql else "STORED"
            )
            made = replace(made, generated="virtual" if kind == "VIRTUAL" else "stored")
            draft.generated[name] = Pending.since(cursor, start, text)
        elif cursor.next_is("CHECK"):
            _check(draft, cursor, start)
        elif cursor.accept("REFERENCES"):
            _reference(draft, cursor, (name,), start, inline=True)
        elif cursor.accept("AUTO_RANDOM"):
            cursor.enclosed()
        elif cursor.accept("INVISIBLE"):
            cursor.note(start, "taken as a visible column, since row events hold it")
        elif cursor.accept("COMPRESSED"):
            if cursor.accept("="):
                cursor.take()
        elif cursor.accept("WITH SYSTEM VERSIONING", "WITHOUT SYSTEM VERSIONING"):
            cursor.note(start, _VERSIONS)
        elif cursor.accept(*_SILENT_VALUED):
            cursor.accept("=")
            cursor.take()
        elif cursor.accept("FIRST"):
            place = 0
        elif cursor.accept("AFTER"):
            behind = draft.column_name(cursor.name())
            place = next((i for i, c in enumerate(draft.columns, 1) if c.name == behind), None)
        elif not cursor.accept(*_SILENT):
            cursor.take()
            cursor.enclosed()
            cursor.note(start, _UNREAD)
    made = _spelled(draft, cursor, made) if draft.mysql else made
    draft.columns.insert(len(draft.columns) if place is None else place, made)


def _typed(draft: Draft, cursor: Cursor, name: str) -> Column:
    """A column of the type of MySQL that comes next. Raises Unsupported."""
    serial = cursor.next_is("SERIAL")
    type, declared = mysql_type(cursor, draft.charset)
    if serial:
        draft.index("", (name,), unique=True)
    return Column(name, type, nullable=not serial, declared=declared)


def _spelled(draft: Draft, cursor: Cursor, made: Column) -> Column:
    """A column of MySQL with the character set and the collation that differ from the table's
    default.
    """
    charset, collation = made.charset, made.collation.lower()
    own = collation if collation != "binary" else ""
    charset = charset or own.partition("_")[0] or draft.charset
    if made.type.logical not in _TEXTS or made.type.name == "vector":
        return replace(made, charset="", collation="")
    if charset and charset not in CHARSETS:
        cursor.note(0, f"character set {charset} is taken as utf8mb4")
        charset = ""
    if collation == "binary":
        own = f"{charset or 'utf8mb4'}_bin"
    own = own or (draft.collation if draft.collation.startswith(f"{charset}_") else "")
    charset = "" if charset == "utf8mb4" else charset
    return replace(made, charset=charset, collation="" if own == "utf8mb4_bin" else own)


def _default(draft: Draft, cursor: Cursor, type: SourceType, start: int) -> Default | None:
    """The default that comes next; None for NULL."""
    if not draft.mysql:
        return postgresql_default(expression(cursor), type)
    default = mysql_default(cursor, type)
    if default and default.value is None and default.text.startswith(("'", "0x", "x'")):
        cursor.note(start, "taken as an expression: no value of the column's type")
    return default


def _named(cursor: Cursor) -> str:
    """The name of a constraint, "" if it has none."""
    return (
        cursor.name()
        if cursor.accept("CONSTRAINT") and not cursor.next_is("PRIMARY/UNIQUE/FOREIGN/CHECK")
        else ""
    )


def _unique(draft: Draft, name: str, columns: tuple[str, ...]) -> None:
    """A unique key, by the name that the database gives it without one."""
    draft.index(
        name or ("" if draft.mysql else "_".join((draft.name, *columns, "key"))),
        columns,
        unique=True,
    )


def constraint(draft: Draft, cursor: Cursor) -> None:
    """A key, an index, a foreign key or a CHECK of a table."""
    start = cursor.at
    name = _named(cursor)
    if cursor.accept("PRIMARY KEY USING INDEX"):
        index = cursor.name()
        draft.primary = next((i.columns for i in draft.indexes if i.name == index), ())
        draft.indexes = [i for i in draft.indexes if i.name != index]
    elif cursor.accept("PRIMARY KEY"):
        _index_name(cursor)
        draft.primary = _columns(draft, cursor, start)
        _clustered(draft, cursor)
    elif cursor.accept("FOREIGN KEY"):
        if not cursor.next_is("("):
            cursor.name()
        columns = _columns(draft, cursor, start)
        cursor.expect("REFERENCES")
        _reference(draft, cursor, columns, start)
    elif cursor.next_is("CHECK"):
        _check(draft, cursor, start)
    elif cursor.accept("FULLTEXT", "SPATIAL", "VECTOR"):
        cursor.rest(start, "left out: the model has no such index")
    elif cursor.accept("LIKE"):
        cursor.until()
        draft.leave_out(cursor, start, "left out: some of its columns are another table's")
    elif cursor.accept("UNIQUE USING INDEX"):
        cursor.name()
    elif kind := cursor.accept("UNIQUE", "KEY", "INDEX"):
        cursor.accept("KEY", "INDEX", "NULLS NOT DISTINCT", "NULLS DISTINCT")
        cursor.accept("IF NOT EXISTS")
        name = _index_name(cursor) or name
        columns = _columns(draft, cursor, start)
        if columns and kind == "UNIQUE":
            _unique(draft, name, columns)
        elif columns:
            draft.index(name, columns, unique=False)
    else:
        cursor.rest(start, "left out: values do not honour it")
    parameters(cursor)
    while not cursor.done:
        if cursor.accept("USING", "COMMENT", "KEY_BLOCK_SIZE", "ENGINE_ATTRIBUTE", "WITH PARSER"):
            cursor.accept("=")
            cursor.take()
        elif not cursor.accept("VISIBLE", "INVISIBLE", "IGNORED", "NOT IGNORED", "GLOBAL", "LOCAL"):
            break


def _index_name(cursor: Cursor) -> str:
    """An index's name, which may be missing, and its kind."""
    name = "" if cursor.next_is("(/USING") else cursor.name()
    if cursor.accept("USING", "TYPE"):
        cursor.take()
    return name


def _columns(draft: Draft, cursor: Cursor, start: int) -> tuple[str, ...]:
    """The columns of a key; none, and a note, if one is an expression."""
    columns: list[str] = []
    prefix = False
    for part in cursor.parens().items():
        if part.next_is("("):
            cursor.note(start, "left out: an index over an expression")
            return ()
        at, name = part.peek(), part.name()
        known = draft.column_name(name)
        if known is None:
            if draft.left_out:
                return ()
            raise cursor.script.error(at.start, f"table {draft.name} has no column {name}")
        columns.append(known)
        if part.next_is("("):
            part.parens()
            prefix = True
        part.accept("ASC", "DESC")
        _leftover(part)
    if prefix and cursor.words[start].upper in ("UNIQUE", "CONSTRAINT", "PRIMARY"):
        cursor.note(start, "taken as a key over whole columns: the model has no prefixes")
    return tuple(columns)


def _clustered(draft: Draft, cursor: Cursor) -> None:
    """TiDB's word on how it finds rows: NONCLUSTERED means by an index."""
    if cursor.accept("CLUSTERED", "NONCLUSTERED") == "NONCLUSTERED":
        draft.index("PRIMARY", draft.primary, unique=True)


def _check(draft: Draft, cursor: Cursor, start: int) -> None:
    cursor.expect("CHECK")
    text = cursor.parens().text()
    if cursor.accept("NOT ENFORCED"):
        cursor.note(start, "left out: the database does not enforce it")
    else:
        cursor.accept("ENFORCED")
        draft.checks.append(Pending.since(cursor, start, text))


def _reference(
    draft: Draft, cursor: Cursor, columns: tuple[str, ...], start: int, *, inline: bool = False
) -> None:
    """The parent of a foreign key, and what happens to children."""
    place = draft.sibling(cursor.names())
    parents = tuple(part.name() for part in cursor.parens().items()) if cursor.next_is("(") else ()
    actions = cursor.at
    while event := cursor.accept("ON DELETE", "ON UPDATE", "MATCH"):
        if event == "MATCH":
            cursor.take()
        else:
            cursor.accept("CASCADE", "RESTRICT", "SET NULL", "SET DEFAULT", "NO ACTION")
            cursor.enclosed()
    acts = cursor.since(actions)
    if "CASCADE" in acts.upper() or "SET" in acts.upper():
        cursor.note(actions, "left out: no history relies on it")
    if inline and draft.mysql and cursor.script.dialect != "mariadb":
        cursor.note(start, "left out: the database ignores a reference in a column's definition")
    elif columns:
        draft.foreign.append(
            (ForeignKey(columns, place, parents), Pending.since(cursor, start, ""))
        )


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
            cursor.until("TABLESPACE", "USING", *_QUERIES)
            cursor.note(start, "left out: the table is taken without partitions")
        elif cursor.accept("INHERITS"):
            cursor.parens()
            draft.leave_out(cursor, start, "left out: some of its columns are another table's")
        elif cursor.accept("WITH SYSTEM VERSIONING"):
            cursor.note(start, _VERSIONS)
        elif cursor.accept("WITH (", "WITH OIDS", "WITHOUT OIDS", "ON COMMIT"):
            cursor.until("TABLESPACE", "USING")
        elif cursor.accept("TTL"):
            cursor.until("INTERVAL")
            _ = cursor.take(), cursor.take(), cursor.take()  # INTERVAL 1 YEAR
            cursor.note(start, "left out: no history deletes by age")
        elif cursor.accept("UNION"):
            cursor.accept("=")
            cursor.parens()
        elif cursor.accept("(", *_QUERIES) and not default:
            cursor.until()
            draft.leave_out(cursor, start, "left out: its columns come from a query")
        else:
            two_words = cursor.accept("PLACEMENT POLICY", "DATA DIRECTORY", "INDEX DIRECTORY")
            known = two_words or _OPTIONS.fullmatch(cursor.take().upper)
            if cursor.accept("=") or known:
                cursor.take()
            if not known:
                cursor.note(start, _UNREAD)


def altered(draft: Draft, cursor: Cursor, types: Types) -> None:
    """The actions of ALTER TABLE."""
    alterations = _ALTERATIONS if draft.mysql else _ALTERATIONS_POSTGRESQL
    for action in cursor.items():
        if action.accept("ADD"):
            if not action.accept("COLUMN") and _is_constraint(draft, action):
                constraint(draft, action)
            else:
                action.accept("IF NOT EXISTS")
                for part in list(action.parens().items()) if action.next_is("(") else [action]:
                    column(draft, part, types)
        elif action.accept(
            "MODIFY COLUMN IF EXISTS", "MODIFY COLUMN", "MODIFY IF EXISTS", "MODIFY"
        ):
            _changed(draft, action, types, action.peek().text)
        elif action.accept(
            "CHANGE COLUMN IF EXISTS", "CHANGE COLUMN", "CHANGE IF EXISTS", "CHANGE"
        ):
            _changed(draft, action, types, action.name())
        elif (
            action.accept(*_DROPS)
            and not (draft.mysql and action.next_is(_OF_KEYS))
            and (known := draft.column_name(action.next_name))
        ):
            action.take()
            draft.drop(known)
            action.accept("CASCADE", "RESTRICT")
        elif phrase := action.accept(*alterations):
            action.until()
            if alterations[phrase]:
                action.note(0, alterations[phrase])
        elif not (
            action.accept("ALTER COLUMN IF EXISTS", "ALTER COLUMN", "ALTER")
            and _altered_column(draft, action)
        ):
            action.until()
            draft.leave_out(action, 0, _UNREAD)
        _leftover(action)


def _altered_column(draft: Draft, cursor: Cursor) -> bool:
    """Changes a column, where the action is known. Raises UsageError."""
    at, name = cursor.peek(), cursor.name()
    known = next((c for c in draft.columns if c.name == draft.column_name(name)), None)
    if known is None:
        raise cursor.script.error(at.start, f"table {draft.name} has no column {name}")
    start = cursor.at
    if cursor.accept("SET DEFAULT"):
        draft.change(known.name, default=_default(draft, cursor, known.type, start))
    elif action := cursor.accept("SET NOT NULL", "DROP NOT NULL"):
        draft.change(known.name, nullable=action == "DROP NOT NULL")
    elif cursor.accept("DROP DEFAULT"):
        draft.change(known.name, default=None)
    elif cursor.accept("ADD GENERATED"):
        cursor.until()
        draft.change(known.name, nullable=False)
    elif cursor.accept("SET STORAGE", "SET STATISTICS", "SET COMPRESSION", "SET (", "RESET"):
        cursor.until()
    else:
        return False
    return True


def _changed(draft: Draft, cursor: Cursor, types: Types, old: str) -> None:
    """A column's new definition."""
    known = draft.column_name(old)
    if known is None:
        raise cursor.script.error(cursor.peek().start, f"table {draft.name} has no column {old}")
    place = [c.name for c in draft.columns].index(known)
    before = draft.columns.pop(place)
    renamed = cursor.peek().text
    column(draft, cursor, types, place)
    draft.primary = tuple(renamed if name == before.name else name for name in draft.primary)
    draft.indexes = [
        replace(
            index, columns=tuple(renamed if name == before.name else name for name in index.columns)
        )
        for index in draft.indexes
    ]
