"""How the recorded DDL statements change the spelling of column types, which Canal's messages
repeat.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from generators.model import Column, Logical

Spellings: TypeAlias = dict[str, str]
"""Type by column, as the statements spell it; a column that is missing is as SHOW CREATE TABLE
spells it.
"""

TableName: TypeAlias = tuple[str, str]
"""A table's database and its own name."""

_PART: Final = r"(?:`(?:[^`]|``)+`|[\w$]+)"
"""A name in a statement, in back quotes or bare."""
_NAME: Final = rf"({_PART}(?:\.{_PART})?)"
"""A name with or without its database; the group is the whole."""
_TYPE: Final = re.compile(
    r"\s*(\w+(?:\s+precision)?(?:\s*\((?:'(?:[^'\\]|''|\\.)*'|[^')])*\))?"
    r"(?:\s+(?:unsigned|zerofill))*(?:\s+character set binary)?)",
    re.IGNORECASE,
)
"""A type as a statement spells it, with its parameters and attributes; the group is the whole."""
_INDEX: Final = rf"index (?:if (?:not )?exists )?{_PART}(?: using \w+)? on "
"""What follows CREATE or DROP in a statement of an index, up to its table."""
_ACTIONS: Final = (
    (r"create (?:database|schema)(?: if not exists)? ", "create database"),
    (r"drop (?:database|schema)(?: if exists)? ", "drop database"),
    (r"create table(?: if not exists)? ", "create table"),
    (r"drop table(?: if exists)? ", "drop table"),
    (r"truncate(?: table)? ", "truncate table"),
    (r"rename table ", "rename table"),
    (rf"create (?:unique |fulltext |spatial )?{_INDEX}", "create index"),
    (rf"drop {_INDEX}", "drop index"),
    (r"alter table ", ""),
)
"""How a statement begins, and its action; "" for ALTER TABLE, whose action its clauses tell."""
_VIEW_OPTION: Final = r"(?:algorithm ?= ?\w+|definer ?= ?\S+|sql security \w+) "
"""What may stand between ALTER and VIEW."""
_UNREAD: Final = re.compile(
    rf"create or replace table |alter (?:{_VIEW_OPTION})*view |alter table \S+ rename ?=",
    re.IGNORECASE,
)
"""How statements begin that Canal's SQL parser does not read."""
_SILENT: Final = (
    rf"add (?:constraint (?:{_PART} )?)?(?:foreign key|check)\b",
    r"partition by\b",
    r"remove partitioning\b",
)
"""How clauses of an ALTER TABLE begin that add nothing to Canal's list of a statement's actions."""
_OPTIONS: Final = (
    r"(?:default )?(?:character set|charset|collate)\b",
    r"comment\b",
    r"(?:engine|auto_increment|row_format|key_block_size|stats_\w+|max_rows|min_rows)\b",
)
"""How options of the table begin among the clauses. Canal 1.1.7 puts their action, which is ALTER,
before those of all other clauses.
"""
_ALTERS: Final = (
    (r"rename (?:column|index|key) ", "modify column"),
    (r"rename ", "rename table"),
    (r"add (?:unique |fulltext |spatial )?(?:index|key)\b", "create index"),
    (rf"add (?:constraint (?:{_PART} )?)?unique\b", "create index"),
    (r"drop (?:index|key|constraint) ", "drop index"),
    (rf"add (?:constraint (?:{_PART} )?)?primary key", "add primary key"),
    (r"drop primary key", "drop primary key"),
    (r"exchange partition ", "exchange partition"),
    (r"(?:add|truncate|drop|reorganize|coalesce|analyze|rebuild) partition\b", "add partition"),
    (r"add ", "add column"),
    (r"drop (?:column )?", "drop column"),
    (r"modify |change ", "modify column"),
    (r"alter (?:column )?", "set default"),
    (r"convert to ", "modify column"),
)
"""How a clause of an ALTER TABLE begins, and the action. `convert to character set`, foreign keys
that are dropped, and partition statements are ALTER in every release, like the actions that stand
for them.
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """A DDL statement. `table_pairs` are: for a rename, the old and the new names; for LIKE, the
    given table and the new one; for DROP, each table twice. `server_text` is MariaDB's own text of
    a DROP.
    """

    action: str
    sql: str
    database: str
    table: str = ""
    definition: str = ""
    table_pairs: tuple[tuple[TableName, TableName], ...] = ()
    server_text: str = ""


def parse_statement(sql: str, default: str) -> Statement | None:
    """Parses the SQL of a DDL statement. `default` is the database of names without one. Returns
    None for a statement of which Canal sends no message, since the server logs it without a table
    or Canal does not list its clauses. One that Canal's SQL parser does not read has the action of
    CREATE DATABASE, which is a QUERY, and no database.
    """
    statement_text = sql.strip().rstrip("; ")
    normalized = re.sub(r"^/\*.*?\*/\s*|--[^\n]*\n", " ", statement_text).strip()
    normalized = re.sub(r"\s+", " ", normalized)
    if _UNREAD.match(normalized):
        return Statement("create database", statement_text, "")
    for pattern, action in _ACTIONS:
        match = re.match(f"{pattern}{_NAME}(.*)$", normalized, re.IGNORECASE)
        if match is None:
            continue
        if action.endswith("database"):
            return Statement(action, statement_text, match[1].strip("`"))
        database, table = _split_name(match[1], default)
        definition = match[2].strip()
        if action == "rename table":
            pairs = re.findall(rf"{_NAME} to {_NAME}", normalized, re.IGNORECASE)
            renames = tuple(
                (_split_name(old, default), _split_name(new, default)) for old, new in pairs
            )
            return Statement(action, statement_text, *renames[0][1], "", renames)
        if action == "drop table":
            names = re.sub(r"/\*.*?\*/", "", f"{match[1]}{match[2]}").split(",")
            dropped_tables = [_split_name(name.strip(), default) for name in names]
            exists = " IF EXISTS" if "if exists" in normalized.lower() else ""
            server_text = (
                f"DROP TABLE{exists} {','.join(f'`{name}`' for _, name in dropped_tables)} /* generated by"
                " server */"
            )
            return Statement(
                action,
                statement_text,
                database,
                table,
                "",
                tuple((name, name) for name in dropped_tables),
                server_text,
            )
        if action == "":
            listed_clauses = _listed_clauses(definition)
            action = _alter_action(listed_clauses)
            first_rename = action == "rename table" and re.match(
                rf"rename (?:to |as )?{_NAME}", listed_clauses[0], re.IGNORECASE
            )
            if first_rename:
                new = _split_name(first_rename[1], default)
                return Statement(action, statement_text, *new, "", (((database, table), new),))
        elif like := re.match(rf"like {_NAME}", definition, re.IGNORECASE):
            return Statement(
                action,
                statement_text,
                database,
                table,
                "",
                ((_split_name(like[1], default), (database, table)),),
            )
        return Statement(action, statement_text, database, table, definition) if action else None
    return None


def _begins(clause: str, patterns: Iterable[str]) -> bool:
    """Whether a clause begins with one of these patterns."""
    return any(re.match(pattern, clause, re.IGNORECASE) for pattern in patterns)


def _listed_clauses(definition: str) -> list[str]:
    """The clauses of an ALTER TABLE that Canal's parser lists as actions."""
    clauses = [clause.strip() for clause in _split_clauses(definition)]
    return [clause for clause in clauses if not _begins(clause, _SILENT)]


def _alter_action(listed_clauses: Sequence[str]) -> str:
    """The action of an ALTER TABLE with these clauses: that of the first one, "" without any.
    Options of the table come before the others (DruidDdlParser of 1.1.7).
    """
    options = [clause for clause in listed_clauses if _begins(clause, _OPTIONS)]
    if options:
        return "table comment" if len(options) == len(listed_clauses) else "modify column"
    first_clause = listed_clauses[0] if listed_clauses else ""
    return next((a for p, a in _ALTERS if re.match(p, first_clause, re.IGNORECASE)), "")


def _split_name(name: str, default: str) -> TableName:
    """A name in a statement as database and table; `default` is the database of a bare name."""
    parts = [part.strip("`") for part in re.findall(_PART, name)]
    return (parts[0], parts[1]) if len(parts) == 2 else (default, parts[0])


def apply_statement(
    live: dict[TableName, Spellings], origins: dict[TableName, TableName], statement: Statement
) -> None:
    """Notes the effect of a statement in both mappings. `live` has, by existing table, how
    statements spelled the types of its columns; `origins` has, by table, the table from which it
    was copied or renamed.
    """
    table_name = (statement.database, statement.table)
    if statement.action == "drop database":
        for table in [table for table in live if table[0] == statement.database]:
            del live[table]
    elif statement.action == "drop table":
        for table, _ in statement.table_pairs:
            live.pop(table, None)
    elif statement.table_pairs:
        for old, new in statement.table_pairs:
            live[new] = dict(live.get(old, {}))
            origins.setdefault(new, old)
            if statement.action == "rename table":
                live.pop(old, None)
    elif statement.action == "create table":
        live[table_name] = (
            dict(_column_spellings(statement.definition))
            if statement.definition.startswith("(")
            else {}
        )
    elif statement.table:
        spellings = live.setdefault(table_name, {})
        for clause in _split_clauses(statement.definition):
            match = re.match(
                rf"(add|modify|change|rename column)(?: column)? {_NAME}(.*)$",
                clause.strip(),
                re.IGNORECASE,
            )
            if match is None or re.match(r"(index|primary|unique)$", match[2], re.IGNORECASE):
                continue
            name, definition = match[2].strip("`"), match[3]
            if match[1].lower() == "rename column":
                spellings[definition.strip().split()[-1].strip("`")] = spellings.pop(name, "")
                continue
            if match[1].lower() == "change":
                spellings.pop(name, None)
                name, definition = re.match(rf"\s*{_NAME}(.*)$", definition).groups()  # type: ignore[union-attr]
            kind = _TYPE.match(definition)
            if kind is not None:
                spellings[name.strip("`")] = kind[1]


def _column_spellings(body: str) -> Iterator[tuple[str, str]]:
    """The name and the type, as it is spelled, of each column in the body of a CREATE TABLE."""
    # Strings are blanked to their lengths, so that parentheses inside them do not count.
    bare = re.sub(r"'(?:[^'\\]|''|\\.)*'", lambda quoted: "'" * len(quoted[0]), body)
    depths = itertools.accumulate((c == "(") - (c == ")") for c in bare)
    end = next(i for i, depth in enumerate(depths) if not depth)
    for clause in _split_clauses(body[1:end]):
        match = re.match(rf"\s*{_NAME}(.*)$", clause, re.DOTALL)
        if (
            match
            and match[1].lower() not in ("primary", "unique", "key", "constraint")
            and (kind := _TYPE.match(match[2]))
        ):
            yield match[1].strip("`"), kind[1]


def _split_clauses(definition: str) -> Iterator[str]:
    """Splits an ALTER TABLE, or the inside of a CREATE TABLE's parentheses, at the commas that are
    outside of quotes and inner parentheses.
    """
    yield from re.findall(
        r"(?:'(?:[^'\\]|''|\\.)*'|\((?:'(?:[^'\\]|''|\\.)*'|[^()']|\([^()]*\))*\)|[^,'(])+",
        definition,
    )


def display_spelling(column: Column, shown_type: str) -> str:
    """The type of a column as SHOW CREATE TABLE spells it, where a source type does not hold all of
    that: digits of FLOAT and DOUBLE, ZEROFILL.
    """
    real = column.type.logical in (Logical.FLOAT, Logical.DOUBLE) and shown_type != column.type.key
    return shown_type if real or "zerofill" in shown_type else ""
