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
from generators.sources import mysql, postgresql
from generators.tables.ddl_postgresql import (
    DEFERRING,
    ENDS,
    Types,
    read_parameters,
    read_postgresql_column,
    take_expression,
)
from generators.tables.ddl_tables import Draft, Pending
from generators.tables.ddl_text import Cursor
from generators.tables.ddl_types import (
    UNDRAWN,
    UNDRAWN_COLUMN,
    Unsupported,
    mysql_default,
    mysql_type,
    postgresql_default,
)
from generators.tables.schema import ForeignKey

CHARSETS: Final = tuple(mysql.CODECS)
"""Character sets that the writers have."""

_IGNORED: Final = ("VISIBLE", "NULL", "ASCII", "UNICODE", *DEFERRING)
"""Attributes of a column that no message shows."""

_IGNORED_VALUED: Final = (
    "COLUMN_FORMAT",
    "STORAGE",
    "SRID",
    "ENGINE_ATTRIBUTE",
    "SECONDARY_ENGINE_ATTRIBUTE",
    "COMPRESSION",
)
"""Attributes of a column that have a value, and that no message shows."""
_OPTIONS: Final = re.compile(
    r"ENGINE|TYPE|AUTO_INCREMENT|AVG_ROW_LENGTH|\w*CHECKSUM|\w*COMPRESS(?:ION|ED)|CONNECTION|DELAY_KEY_WRITE|ENCRYPT(?:ION|ED)"
    r"|ENCRYPTION_KEY_ID|INSERT_METHOD|KEY_BLOCK_SIZE|M(?:AX|IN)_ROWS|PACK_KEYS|PAGE_COMPRESSION_LEVEL|ROW_FORMAT|STATS_\w+"
    r"|TABLESPACE|STORAGE|\w*ENGINE_ATTRIBUTE|SECONDARY_ENGINE|AUTOEXTEND_SIZE|TRANSACTIONAL|IETF_QUOTES|SEQUENCE|PASSWORD"
    r"|SHARD_ROW_ID_BITS|PRE_SPLIT_REGIONS|AUTO_ID_CACHE|AUTO_RANDOM_BASE|AFFINITY|TTL_ENABLE|TTL_JOB_INTERVAL|USING"
)
"""Options of a table that no message shows."""

_TEXTS: Final = (Logical.TEXT, Logical.ENUM, Logical.SET)
"""The logical types whose columns have a character set."""
_KEYS: Final = ("PRIMARY KEY", "FOREIGN KEY", "CONSTRAINT")
_CONSTRAINTS: Final = (
    *_KEYS,
    "UNIQUE",
    "KEY/INDEX",
    "FULLTEXT/SPATIAL",
    "VECTOR KEY/INDEX",
    "CHECK",
)
"""The words with which the definition of a key, an index or a constraint begins in MySQL; a slash
separates alternatives of one word.
"""
_CONSTRAINTS_POSTGRESQL: Final = (
    *_KEYS,
    "UNIQUE (/NULLS/USING",
    "CHECK (",
    "EXCLUDE (/USING",
    "LIKE",
)
"""The words with which the definition of a key or a constraint begins in PostgreSQL."""
_QUERIES: Final = ("AS", "SELECT", "IGNORE", "REPLACE", "WITH", "TABLE", "VALUES")
"""Words that begin the query from which a table is made."""

_OF_KEYS: Final = "INDEX/KEY/CHECK/CONSTRAINT/PRIMARY/FOREIGN/PARTITION"
"""What MySQL drops beside columns; no column has such a name without quotes."""

_DROPS: Final = ("DROP COLUMN IF EXISTS", "DROP COLUMN", "DROP IF EXISTS", "DROP")
"""How the action that drops a column begins."""
VERSIONS: Final = "left out: the table is taken without system versions"
UNREAD: Final = "left out: not understood"
_NO_COLUMN: Final = "left out: it changes no column"
PARTITIONS: Final = "left out: the table is taken without partitions"
CONSTRAINT_STAYS: Final = "left out: the constraint stays as it was defined"
_ALTERATIONS: Final = {
    "ALTER CHECK/CONSTRAINT": "left out: the check stays as it was defined",
    "DROP FOREIGN/CHECK/CONSTRAINT": CONSTRAINT_STAYS,
    "ADD/DROP/TRUNCATE/REORGANIZE/EXCHANGE/COALESCE/REBUILD/ANALYZE/CHECK/OPTIMIZE PARTITION": (
        PARTITIONS
    ),
    **dict.fromkeys(("DISCARD PARTITION", "IMPORT PARTITION", "REMOVE PARTITIONING"), PARTITIONS),
    **dict.fromkeys(("PARTITION BY", "REPAIR PARTITION", "FIRST PARTITION"), PARTITIONS),
    **dict.fromkeys(
        ("SET TIFLASH REPLICA", "CACHE", "NOCACHE", "ATTRIBUTES", "PLACEMENT POLICY"), _NO_COLUMN
    ),
    **dict.fromkeys(("REMOVE TTL", "TTL", "ALTER INDEX/KEY"), _NO_COLUMN),
    **dict.fromkeys(("AUTO_INCREMENT", "ENABLE KEYS", "DISABLE KEYS", "FORCE"), ""),
    **dict.fromkeys(("ORDER BY", "WITH/WITHOUT VALIDATION", "DISCARD/IMPORT TABLESPACE"), ""),
    **dict.fromkeys(("ALGORITHM", "LOCK"), ""),
}
"""MySQL's actions of ALTER TABLE that change no column, and what is noted of them; "" of those that
no message shows.
"""
_ENDS_WITH_LIST: Final = re.compile("PARTITION|ORDER BY")
"""MySQL's last actions of ALTER TABLE, behind which commas part the names of a list."""
_ALTERATIONS_POSTGRESQL: Final = {
    "REPLICA IDENTITY DEFAULT": "",
    # NOTHING leaves updates and deletes without a before image.
    "REPLICA IDENTITY": (
        "left out: the option image of a writer's profile says what a before image holds"
    ),
    "ATTACH/DETACH PARTITION": "left out: values do not honour the bounds of partitions",
    "DROP CONSTRAINT": CONSTRAINT_STAYS,
    "RENAME CONSTRAINT": "",
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
"""PostgreSQL's actions of ALTER TABLE that change no column, and what is noted of them; "" of those
that no message shows.
"""


def _is_constraint(draft: Draft, cursor: Cursor) -> bool:
    """Whether the definition at the cursor is that of a key, an index or a constraint, not a
    column.
    """
    return any(map(cursor.next_is, _CONSTRAINTS if draft.mysql else _CONSTRAINTS_POSTGRESQL))


def read_definition(draft: Draft, cursor: Cursor, types: Types) -> None:
    """Reads what follows the table's name in CREATE TABLE: columns, keys and options."""
    if cursor.next_is("PARTITION OF") or cursor.accept("OF"):
        cursor.skip_until()
        draft.leave_out(cursor, 0, "left out: its columns are another table's or a type's")
        return
    body = list(cursor.take_parentheses().split_at_commas())
    _read_options(draft, cursor)
    for item in body:
        if draft.mysql and item.next_is("PERIOD FOR"):
            item.skip_rest(0, VERSIONS)
        elif _is_constraint(draft, item):
            read_constraint(draft, item)
        else:
            read_column(draft, item, types)
        note_leftover(item)


def note_leftover(cursor: Cursor) -> None:
    """Adds a note on the words of a definition that no function has read, if there are any."""
    if not cursor.done:
        cursor.skip_rest(cursor.at, UNREAD)


def leave_column_out(draft: Draft, cursor: Cursor, start: int, name: str, why: str) -> None:
    """Leaves the column `name` out of the table, and the table itself if the column's own
    definition makes it a key. A note says `why`, with the words from number `start` on. The cursor
    is at its end then.
    """
    draft.missing.add(name)
    cursor.note(start, f"column {name} {why}")
    cursor.skip_until("PRIMARY", "UNIQUE")
    if not cursor.done:
        draft.leave_out(cursor, start, f"left out: its key has the column {name}")
    cursor.at = len(cursor.words)


def read_column(draft: Draft, cursor: Cursor, types: Types, position: int | None = None) -> None:
    """Reads a column's definition at the cursor into the draft; `position` is its number among the
    columns, None for the last. A type that the model lacks is noted, and the column (PostgreSQL) or
    the table (MySQL) left out. Raises UsageError for a second column of that name.
    """
    name = cursor.take_name()
    if draft.column_name(name):
        raise cursor.script.error(cursor.words[0].start, f"column {name} is defined twice")
    start = cursor.at
    try:
        new_column = (
            _read_mysql_column(draft, cursor, name)
            if draft.mysql
            else read_postgresql_column(draft, cursor, types, name)
        )
    except Unsupported:
        cursor.at = start
        cursor.skip_until(*ENDS)
        if draft.mysql:
            draft.leave_out(cursor, start, UNDRAWN)
        else:
            cursor.note(start, f"column {name} {UNDRAWN_COLUMN}")
            draft.missing.add(name)
            cursor.skip_until("PRIMARY KEY", "UNIQUE")
            if not cursor.done:
                draft.leave_out(cursor, start, f"left out: its key has the column {name}")
        cursor.at = len(cursor.words)
        return
    while not cursor.done:
        start = cursor.at
        constraint_name = _read_constraint_name(cursor)
        if cursor.accept("NOT NULL"):
            new_column = replace(new_column, nullable=False)
        elif cursor.accept("DEFAULT"):
            default = _read_default(draft, cursor, new_column.type, start)
            new_column = replace(new_column, default=default)
            if default and default.text.lower().startswith(_CURRENT_TIMES):
                has_on_update = new_column.has_on_update or _skip_update(cursor)
                new_column = replace(new_column, has_on_update=has_on_update)
        elif cursor.accept("AUTO_INCREMENT"):
            new_column = replace(new_column, is_counter=True)
        elif _skip_update(cursor):
            new_column = replace(new_column, is_counter=True, has_on_update=True)
        elif cursor.accept("COMMENT"):
            new_column = replace(new_column, comment=cursor.take().text)
        elif cursor.accept("CHARACTER SET", "CHARSET"):
            new_column = replace(new_column, charset=cursor.take_name().lower())
        elif cursor.accept("COLLATE"):
            new_column = replace(new_column, collation=cursor.take_names()[-1])
        elif cursor.accept("BINARY"):
            spelled = new_column.declared or mysql.declared(new_column.type)
            new_column = replace(new_column, collation="binary", declared=f"{spelled} BINARY")
        elif cursor.accept("PRIMARY KEY", "KEY"):
            draft.primary, draft.included = (name,), ()
            draft.primary_name = constraint_name or draft.default_primary_name
            new_column = replace(new_column, inline_primary=True if draft.mysql else None)
            _read_clustering(draft, cursor)
            read_parameters(draft, cursor)
        elif draft.mysql and cursor.accept("SERIAL DEFAULT VALUE"):
            _add_unique_key(draft, constraint_name, (name,))
            new_column = replace(new_column, nullable=False, inline_unique=True, is_counter=True)
        elif cursor.accept("UNIQUE"):
            cursor.accept("KEY", "NULLS NOT DISTINCT", "NULLS DISTINCT")
            read_parameters(draft, cursor)
            _add_unique_key(draft, constraint_name, (name,))
            new_column = replace(new_column, inline_unique=draft.mysql)
        elif cursor.accept("GENERATED ALWAYS AS IDENTITY", "GENERATED BY DEFAULT AS IDENTITY"):
            new_column = replace(new_column, nullable=False)
            cursor.skip_parentheses()
        elif cursor.accept("GENERATED ALWAYS AS ROW START/END", "AS ROW START/END"):
            cursor.note(start, VERSIONS)
            new_column = replace(new_column, nullable=False)
        elif cursor.accept("GENERATED ALWAYS AS", "AS"):
            expression_text = cursor.take_parentheses().source_text()
            kind = cursor.accept("STORED", "PERSISTENT", "VIRTUAL") or (
                "VIRTUAL" if draft.mysql else "STORED"
            )
            new_column = replace(new_column, generated="virtual" if kind == "VIRTUAL" else "stored")
            draft.generated[name] = Pending.since(cursor, start, expression_text)
        elif cursor.next_is("CHECK"):
            _read_check(draft, cursor, start)
        elif cursor.accept("REFERENCES"):
            read_reference(draft, cursor, (name,), start, inline=True)
        elif cursor.accept("AUTO_RANDOM"):
            cursor.skip_parentheses()
        elif cursor.accept("INVISIBLE"):
            cursor.note(start, "taken as a visible column, since row events hold it")
        elif cursor.accept("COMPRESSED"):
            if cursor.accept("="):
                cursor.take()
        elif cursor.accept("WITH SYSTEM VERSIONING", "WITHOUT SYSTEM VERSIONING"):
            cursor.note(start, VERSIONS)
        elif not draft.mysql and cursor.accept("STORAGE"):
            new_column = replace(new_column, storage=_take_storage(cursor))
        elif cursor.accept(*_IGNORED_VALUED):
            cursor.accept("=")
            cursor.take()
        elif cursor.accept("FIRST"):
            position = 0
        elif cursor.accept("AFTER"):
            previous_column = draft.column_name(cursor.take_name())
            position = next(
                (i for i, c in enumerate(draft.columns, 1) if c.name == previous_column), None
            )
        elif not cursor.accept(*_IGNORED):
            cursor.take()
            cursor.skip_parentheses()
            cursor.note(start, UNREAD)
    new_column = _resolve_charset(draft, cursor, new_column) if draft.mysql else new_column
    draft.columns.insert(len(draft.columns) if position is None else position, new_column)


_CURRENT_TIMES: Final = ("current_timestamp", "now", "localtime")
"""How the defaults begin that are the time of the statement; ON UPDATE behind one of them makes no
counter of the column.
"""


def _skip_update(cursor: Cursor) -> bool:
    """Skips ON UPDATE and the function behind it, if they are next. Returns whether they were."""
    if not cursor.accept("ON UPDATE"):
        return False
    cursor.take()
    cursor.skip_parentheses()
    return True


def _read_mysql_column(draft: Draft, cursor: Cursor, name: str) -> Column:
    """Reads MySQL's type of a column at the cursor; the rest of the definition is not read. Raises
    Unsupported for a type that this project does not have.
    """
    serial = cursor.next_is("SERIAL")
    type, declared = mysql_type(cursor, draft.charset)
    if serial:
        draft.add_index("", (name,), unique=True)
    return Column(name, type, nullable=not serial, declared=declared, inline_unique=serial)


_NATIONAL: Final = re.compile(r"national\b|nchar\b|nvarchar\b", re.IGNORECASE)
"""The spellings of a text type whose character set is utf8mb3, whatever the table's is."""


def _resolve_charset(draft: Draft, cursor: Cursor, new_column: Column) -> Column:
    """The column with the character set and the collation that its definition or else the table
    gives it; "" stands for utf8mb4 and utf8mb4_bin. Columns that hold no text get neither.
    """
    charset, collation = new_column.charset, new_column.collation.lower()
    own_collation = collation if collation != "binary" else ""
    if _NATIONAL.match(new_column.declared):
        return replace(new_column, charset="utf8mb3", collation="")
    charset = charset or own_collation.partition("_")[0] or draft.charset
    if new_column.type.logical not in _TEXTS or new_column.type.name == "vector":
        return replace(new_column, charset="", collation="")
    if charset and charset not in CHARSETS:
        cursor.note(0, f"character set {charset} is taken as utf8mb4")
        charset = ""
    if collation == "binary":
        own_collation = f"{charset or 'utf8mb4'}_bin"
    own_collation = own_collation or (
        draft.collation if draft.collation.startswith(f"{charset}_") else ""
    )
    charset = "" if charset == "utf8mb4" else charset
    return replace(
        new_column,
        charset=charset,
        collation="" if own_collation == "utf8mb4_bin" else own_collation,
    )


def _read_default(draft: Draft, cursor: Cursor, type: SourceType, start: int) -> Default | None:
    """Reads a column's default at the cursor; None for DEFAULT NULL, and a default whose value is
    None for an expression. A MySQL literal that is no value of the type is taken as an expression,
    with a note at the words from number `start` on.
    """
    if not draft.mysql:
        return postgresql_default(take_expression(cursor), type)
    default = mysql_default(cursor, type)
    if default and default.value is None and default.text.startswith(("'", "0x", "x'")):
        cursor.note(start, "taken as an expression: no value of the column's type")
    return default


def _read_constraint_name(cursor: Cursor) -> str:
    """Reads CONSTRAINT and a name at the cursor. Returns the name, "" if there is none."""
    return (
        cursor.take_name()
        if cursor.accept("CONSTRAINT") and not cursor.next_is("PRIMARY/UNIQUE/FOREIGN/CHECK")
        else ""
    )


def _add_unique_key(
    draft: Draft, name: str, columns: tuple[str, ...], included: tuple[str, ...] = ()
) -> None:
    """Adds a unique key to the table's draft, with the columns that INCLUDE adds. One without a
    name gets a default name: in PostgreSQL TABLE_COLUMNS_key, of all these columns, in MySQL that
    of its first column.
    """
    if not name and not draft.mysql:
        used = {index.name for index in draft.indexes}
        name = postgresql.index_name(draft.name, (*columns, *included), "key", used)
    draft.add_index(name, columns, unique=True, included=included)


def read_constraint(draft: Draft, cursor: Cursor) -> None:
    """Reads the definition of a key, an index, a foreign key or a CHECK at the cursor into the
    table's draft.
    """
    start = cursor.at
    name = _read_constraint_name(cursor)
    if cursor.accept("PRIMARY KEY USING INDEX"):
        index = cursor.take_name()
        draft.primary_name = name or index
        draft.primary = next((i.columns for i in draft.indexes if i.name == index), ())
        draft.included = next((i.included for i in draft.indexes if i.name == index), ())
        draft.indexes = [i for i in draft.indexes if i.name != index]
    elif cursor.accept("PRIMARY KEY"):
        _read_index_name(cursor)
        draft.primary = read_key_columns(draft, cursor, start)
        draft.forget_lost_keys()
        draft.primary_name = name or draft.default_primary_name
        _read_clustering(draft, cursor)
        draft.included = read_parameters(draft, cursor)
    elif cursor.accept("FOREIGN KEY"):
        if not cursor.next_is("("):
            cursor.take_name()
        columns = read_key_columns(draft, cursor, start)
        cursor.expect("REFERENCES")
        read_reference(draft, cursor, columns, start)
    elif cursor.next_is("CHECK"):
        _read_check(draft, cursor, start)
    elif cursor.accept("FULLTEXT", "SPATIAL", "VECTOR"):
        cursor.skip_rest(start, "left out: the model has no such index")
    elif cursor.accept("LIKE"):
        cursor.skip_until()
        draft.leave_out(cursor, start, "left out: some of its columns are another table's")
    elif cursor.accept("UNIQUE USING INDEX"):
        cursor.take_name()
    elif kind := cursor.accept("UNIQUE", "KEY", "INDEX"):
        cursor.accept("KEY", "INDEX", "NULLS NOT DISTINCT", "NULLS DISTINCT")
        cursor.accept("IF NOT EXISTS")
        name = _read_index_name(cursor) or name
        columns = read_key_columns(draft, cursor, start)
        if columns and kind == "UNIQUE":
            _add_unique_key(draft, name, columns, read_parameters(draft, cursor))
        elif columns:
            draft.add_index(name, columns, unique=False)
    else:
        cursor.skip_rest(start, "left out: values do not honour it")
    read_parameters(draft, cursor)
    while not cursor.done:
        if cursor.accept("USING", "COMMENT", "KEY_BLOCK_SIZE", "ENGINE_ATTRIBUTE", "WITH PARSER"):
            cursor.accept("=")
            cursor.take()
        elif not cursor.accept("VISIBLE", "INVISIBLE", "IGNORED", "NOT IGNORED", "GLOBAL", "LOCAL"):
            break


def _read_index_name(cursor: Cursor) -> str:
    """Reads the name and the kind (USING ...) of an index at the cursor. Returns the name, "" if
    there is none.
    """
    name = "" if cursor.next_is("(/USING") else cursor.take_name()
    if cursor.accept("USING", "TYPE"):
        cursor.take()
    return name


def read_key_columns(draft: Draft, cursor: Cursor, start: int) -> tuple[str, ...]:
    """Reads the columns of a key in parentheses at the cursor. Returns (), and adds a note at the
    words from number `start` on, if one is an expression or was left out of the table. Raises
    UsageError for a column that the table does not have.
    """
    columns: list[str] = []
    has_prefix = False
    for part in cursor.take_parentheses().split_at_commas():
        if part.next_is("("):
            cursor.note(start, "left out: an index over an expression")
            return ()
        at, name = part.peek(), part.take_name()
        column_name = draft.column_name(name)
        if column_name is None:
            if draft.left_out:
                return ()
            if draft.lacks_column(name):
                draft.leave_out(cursor, start, f"left out: its key has the column {name}")
                return ()
            raise cursor.script.error(at.start, f"table {draft.name} has no column {name}")
        columns.append(column_name)
        if part.next_is("("):
            part.take_parentheses()
            has_prefix = True
        part.accept("ASC", "DESC")
        note_leftover(part)
    # With a prefix, as in KEY (name(10)), a plain index stays right: it makes nothing unique.
    if has_prefix and cursor.words[start].upper in ("UNIQUE", "CONSTRAINT", "PRIMARY"):
        cursor.note(start, "taken as a key over whole columns: the model has no prefixes")
    return tuple(columns)


def _read_clustering(draft: Draft, cursor: Cursor) -> None:
    """Reads TiDB's word CLUSTERED or NONCLUSTERED behind a primary key. With NONCLUSTERED, TiDB
    finds rows by an index, which is added to the draft.
    """
    if cursor.accept("CLUSTERED", "NONCLUSTERED") == "NONCLUSTERED":
        draft.add_index("PRIMARY", draft.primary, unique=True)


def _read_check(draft: Draft, cursor: Cursor, start: int) -> None:
    """Reads a CHECK constraint at the cursor into the table's draft; one that the database does not
    enforce is noted and left out. `start` is the number of the definition's first word.
    """
    cursor.expect("CHECK")
    condition_text = cursor.take_parentheses().source_text()
    if cursor.accept("NOT ENFORCED"):
        cursor.note(start, "left out: the database does not enforce it")
    else:
        cursor.accept("ENFORCED")
        draft.checks.append(Pending.since(cursor, start, condition_text))


def read_reference(
    draft: Draft, cursor: Cursor, columns: tuple[str, ...], start: int, *, inline: bool = False
) -> None:
    """Reads what follows REFERENCES at the cursor: the parent of a foreign key of `columns`, and
    the key's actions; those that change children (CASCADE, SET ...) are noted. `start` is the
    number of the definition's first word. With `inline` it stands in a column's definition, where
    MySQL and TiDB ignore it: it is noted and left out.
    """
    parent_name = draft.resolve_name(cursor.take_names())
    parent_columns = (
        tuple(part.take_name() for part in cursor.take_parentheses().split_at_commas())
        if cursor.next_is("(")
        else ()
    )
    actions = cursor.at
    while event := cursor.accept("ON DELETE", "ON UPDATE", "MATCH"):
        if event == "MATCH":
            cursor.take()
        else:
            cursor.accept("CASCADE", "RESTRICT", "SET NULL", "SET DEFAULT", "NO ACTION")
            cursor.skip_parentheses()
    actions_text = cursor.text_since(actions)
    if "CASCADE" in actions_text.upper() or "SET" in actions_text.upper():
        cursor.note(actions, "left out: no history relies on it")
    if inline and draft.mysql and cursor.script.dialect != "mariadb":
        cursor.note(start, "left out: the database ignores a reference in a column's definition")
    elif columns:
        draft.foreign.append(
            (ForeignKey(columns, parent_name, parent_columns), Pending.since(cursor, start, ""))
        )


def _read_options(draft: Draft, cursor: Cursor) -> None:
    """Reads the options behind a table's definition, such as character set and comment, into the
    draft. Partitions and system versions are noted and left out; so are options that are not known.
    """
    while not cursor.done:
        cursor.accept(",")
        start = cursor.at
        default = cursor.accept("DEFAULT")
        if cursor.accept("CHARACTER SET", "CHARSET"):
            cursor.accept("=")
            draft.charset = cursor.take_name().lower()
        elif cursor.accept("COLLATE"):
            cursor.accept("=")
            draft.collation = cursor.take_name().lower()
            draft.charset = draft.charset or draft.collation.partition("_")[0]
        elif cursor.accept("COMMENT"):
            cursor.accept("=")
            draft.comment = cursor.take().text
        elif cursor.accept("PARTITION BY"):
            cursor.skip_until("TABLESPACE", "USING", *_QUERIES)
            cursor.note(start, "left out: the table is taken without partitions")
        elif cursor.accept("INHERITS"):
            cursor.take_parentheses()
            draft.leave_out(cursor, start, "left out: some of its columns are another table's")
        elif cursor.accept("WITH SYSTEM VERSIONING"):
            cursor.note(start, VERSIONS)
        elif cursor.accept("WITH (", "WITH OIDS", "WITHOUT OIDS", "ON COMMIT"):
            cursor.skip_until("TABLESPACE", "USING")
        elif cursor.accept("TTL"):
            cursor.skip_until("INTERVAL")
            _ = cursor.take(), cursor.take(), cursor.take()  # INTERVAL 1 YEAR
            cursor.note(start, "left out: no history deletes by age")
        elif cursor.accept("UNION"):
            cursor.accept("=")
            cursor.take_parentheses()
        elif cursor.accept("(", *_QUERIES) and not default:
            cursor.skip_until()
            draft.leave_out(cursor, start, "left out: its columns come from a query")
        else:
            two_words = cursor.accept("PLACEMENT POLICY", "DATA DIRECTORY", "INDEX DIRECTORY")
            is_known_option = two_words or _OPTIONS.fullmatch(cursor.take().upper)
            if cursor.accept("=") or is_known_option:
                cursor.take()
            if not is_known_option:
                cursor.note(start, UNREAD)


def read_alterations(draft: Draft, cursor: Cursor, types: Types) -> tuple[str, ...]:
    """Applies the actions of an ALTER TABLE at the cursor to the table's draft, one after the
    other. Returns the name that MySQL's RENAME TO gives the table, with its database if the
    statement says one; () if no action renames it.
    """
    alterations = _ALTERATIONS if draft.mysql else _ALTERATIONS_POSTGRESQL
    new_name: tuple[str, ...] = ()
    for action in cursor.split_at_commas():
        if _read_key_alteration(draft, action) or _read_table_alteration(draft, action):
            pass
        elif draft.mysql and action.accept("RENAME TO", "RENAME AS", "RENAME =", "RENAME"):
            new_name = action.take_names()
        elif action.next_is("ADD") and not action.next_is("ADD PARTITION"):
            action.take()
            if not action.accept("COLUMN") and _is_constraint(draft, action):
                read_constraint(draft, action)
            else:
                if action.accept("IF NOT EXISTS") and draft.column_name(action.next_name):
                    action.skip_until()
                    action.note(0, "left out: the column is there")
                    continue
                for part in (
                    list(action.take_parentheses().split_at_commas())
                    if action.next_is("(")
                    else [action]
                ):
                    if _is_constraint(draft, part):
                        read_constraint(draft, part)
                    else:
                        read_column(draft, part, types)
        elif action.accept(
            "MODIFY COLUMN IF EXISTS", "MODIFY COLUMN", "MODIFY IF EXISTS", "MODIFY"
        ):
            _read_column_change(draft, action, types, action.peek().text)
        elif action.accept(
            "CHANGE COLUMN IF EXISTS", "CHANGE COLUMN", "CHANGE IF EXISTS", "CHANGE"
        ):
            _read_column_change(draft, action, types, action.take_name())
        elif phrase := action.accept(*alterations):
            action.skip_until()
            if alterations[phrase]:
                action.note(0, alterations[phrase])
            if draft.mysql and _ENDS_WITH_LIST.search(phrase):
                break
        elif (
            action.accept(*_DROPS)
            and not (draft.mysql and action.next_is(_OF_KEYS))
            and (column_name := draft.column_name(action.next_name))
        ):
            action.take()
            draft.drop_column(column_name)
            action.accept("CASCADE", "RESTRICT")
        elif not (
            action.accept("ALTER COLUMN IF EXISTS", "ALTER COLUMN", "ALTER")
            and _read_column_action(draft, action, types)
        ):
            action.skip_until()
            draft.leave_out(action, 0, UNREAD)
        note_leftover(action)
    return new_name


def _read_key_alteration(draft: Draft, cursor: Cursor) -> bool:
    """Drops or renames a key or an index of the draft, if the words at the cursor say so. MySQL's
    primary key is also the index `PRIMARY`. In MySQL an index that the draft does not have, such as
    that of a foreign key, is passed over. Returns whether the words were such an action.
    """
    start = cursor.at
    if draft.mysql and cursor.accept("DROP PRIMARY KEY"):
        draft.drop_primary_key()
        return True
    index_verbs = ("DROP INDEX/KEY", "RENAME INDEX/KEY") if draft.mysql else ("RENAME CONSTRAINT",)
    verb = cursor.accept(*index_verbs, "DROP CONSTRAINT")
    if verb:
        cursor.accept("IF EXISTS")
        name = cursor.take_name()
        new_name = cursor.take_name() if cursor.accept("TO") else ""
        cursor.accept("CASCADE", "RESTRICT")
        if draft.is_primary_key(name):
            if new_name:
                draft.primary_name = new_name
            else:
                draft.drop_primary_key()
            return True
        if any(index.name.lower() == name.lower() for index in draft.indexes):
            draft.rename_index(name, new_name)  # the name "" drops it
            return True
        if draft.mysql and verb != "DROP CONSTRAINT":
            return True
    cursor.at = start
    return False


def _read_table_alteration(draft: Draft, cursor: Cursor) -> bool:
    """Renames a column, or changes the table's character set or options, if the words at the cursor
    say so. Returns whether the words were such an action.
    """
    start = cursor.at
    if cursor.accept("RENAME COLUMN") or (
        not draft.mysql and not cursor.next_is("RENAME CONSTRAINT/TO") and cursor.accept("RENAME")
    ):
        cursor.accept("IF EXISTS")
        at, written_name = cursor.peek(), cursor.take_name()
        name = draft.column_name(written_name)
        if name is None:
            raise cursor.script.error(at.start, f"table {draft.name} has no column {written_name}")
        cursor.expect("TO")
        at, new_name = cursor.peek(), cursor.take_name()
        if draft.column_name(new_name) not in (None, name):
            raise cursor.script.error(at.start, f"table {draft.name} has a column {new_name}")
        draft.rename_column(name, new_name)
        return True
    if draft.mysql and cursor.accept("CONVERT TO CHARACTER SET", "CONVERT TO CHARSET"):
        draft.charset = cursor.take_name().lower()
        draft.collation = cursor.take_name().lower() if cursor.accept("COLLATE") else ""
        draft.columns = [
            _resolve_charset(draft, cursor, replace(column, charset="", collation=""))
            for column in draft.columns
        ]
        return True
    is_option = cursor.next_is("DEFAULT CHARACTER/CHARSET/COLLATE") or cursor.next_is(
        "CHARACTER/CHARSET/COLLATE/COMMENT"
    )
    if draft.mysql and (is_option or _OPTIONS.fullmatch(cursor.peek().upper)):
        _read_options(draft, cursor)
        return True
    cursor.at = start
    return False


def _read_type_change(draft: Draft, cursor: Cursor, types: Types, column: Column) -> None:
    """Reads PostgreSQL's new type of a column at the cursor and changes the column; its default
    becomes a value of the new type, and its storage that of the type.
    """
    new_column = read_postgresql_column(draft, cursor, types, column.name)
    if cursor.accept("COLLATE"):
        cursor.take_names()
    if cursor.accept("USING"):
        cursor.skip_until()
    default = column.default and postgresql_default(column.default.text, new_column.type)
    draft.change_column(
        column.name,
        type=new_column.type,
        declared=new_column.declared,
        default=default,
        storage="",
    )


def _take_storage(cursor: Cursor) -> str:
    """Reads the name of a storage of PostgreSQL; "" for DEFAULT, which is that of the type."""
    storage = cursor.take().text.lower()
    return "" if storage == "default" else storage


def _read_column_action(draft: Draft, cursor: Cursor, types: Types) -> bool:
    """Applies one action of ALTER COLUMN at the cursor to the draft. Returns False for an unknown
    action. Raises UsageError if the table has no such column.
    """
    at, name = cursor.peek(), cursor.take_name()
    old_column = next((c for c in draft.columns if c.name == draft.column_name(name)), None)
    if old_column is None:
        raise cursor.script.error(at.start, f"table {draft.name} has no column {name}")
    start = cursor.at
    if cursor.accept("SET DEFAULT"):
        draft.change_column(
            old_column.name, default=_read_default(draft, cursor, old_column.type, start)
        )
    elif action := cursor.accept("SET NOT NULL", "DROP NOT NULL"):
        draft.change_column(old_column.name, nullable=action == "DROP NOT NULL")
    elif cursor.accept("DROP DEFAULT"):
        draft.change_column(old_column.name, default=None)
    elif cursor.accept("SET DATA TYPE", "TYPE"):
        _read_type_change(draft, cursor, types, old_column)
    elif cursor.accept("SET VISIBLE", "SET INVISIBLE", "DROP IDENTITY", "RESTART"):
        cursor.skip_until()
    elif cursor.accept("DROP EXPRESSION"):
        cursor.skip_until()
        draft.generated.pop(old_column.name, None)
        draft.change_column(old_column.name, generated="")
    elif cursor.accept("ADD GENERATED"):
        cursor.skip_until()
        draft.change_column(old_column.name, nullable=False)
    elif cursor.accept("SET STORAGE"):
        draft.change_column(old_column.name, storage=_take_storage(cursor))
    elif cursor.accept("SET STATISTICS", "SET COMPRESSION", "SET (", "RESET"):
        cursor.skip_until()
    else:
        return False
    return True


def _read_column_change(draft: Draft, cursor: Cursor, types: Types, written_name: str) -> None:
    """Gives a column of the draft the new definition at the cursor (MODIFY, CHANGE), which may
    rename it. Raises UsageError if the table has no such column.
    """
    old_name = draft.column_name(written_name)
    if old_name is None:
        raise cursor.script.error(
            cursor.peek().start, f"table {draft.name} has no column {written_name}"
        )
    position = [c.name for c in draft.columns].index(old_name)
    old_column = draft.columns.pop(position)
    draft.generated.pop(old_name, None)
    new_name = cursor.peek().text
    read_column(draft, cursor, types, position)
    if old_column.inline_unique:  # the key stays when a definition without UNIQUE follows
        draft.change_column(new_name, inline_unique=True)
    if old_column.inline_primary is not None and new_name not in draft.inline_primary_columns():
        draft.change_column(new_name, inline_primary=False)
    draft.rename_column(old_column.name, new_name)
