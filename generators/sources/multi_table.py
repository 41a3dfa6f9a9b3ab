"""Statements on several tables: a DROP TABLE or DROP VIEW taken apart into one statement for each,
and the clauses of a RENAME TABLE.

A server logs such a statement once, and some products write a message for each table of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from generators.model import Event, SchemaChange, Table

_NAME: Final = r"(?:`(?:[^`]|``)+`|[\w$]+)"
_DROP: Final = re.compile(
    r"\s*DROP\s+(?:TABLES?|VIEW)\s+(?:IF\s+EXISTS\s+)?(.*?)(?:\s+(?:RESTRICT|CASCADE))?\s*;?\s*",
    re.IGNORECASE | re.DOTALL,
)
_TICKED_OR_COMMENT: Final = re.compile(r"(`(?:[^`]|``)+`)|/\*.*?\*/", re.DOTALL)
_QUALIFIED_NAME: Final = re.compile(rf"(?:({_NAME})\s*\.\s*)?({_NAME})\s*(?:,|$)")
_RENAME: Final = re.compile(r"\s*RENAME\s+TABLES?\s+(?:IF\s+EXISTS\s+)?", re.IGNORECASE)
_RENAME_CLAUSE: Final = re.compile(
    rf"(?:{_NAME}\s*\.\s*)?({_NAME})\s+TO\s+(?:{_NAME}\s*\.\s*)?({_NAME})", re.IGNORECASE
)


class DroppedTable(NamedTuple):
    """The database and the name of a table that a statement drops."""

    database: str
    name: str


def parse_dropped_tables(event: SchemaChange) -> tuple[DroppedTable, ...]:
    """The tables that a DROP TABLE or DROP VIEW names, in its order, each once; none of another
    statement. A name without a database is of the event's.
    """
    if event.action not in ("drop table", "drop view"):
        return ()
    match = _DROP.fullmatch(_TICKED_OR_COMMENT.sub(r"\1", event.sql).strip())
    if match is None:
        return ()
    named_tables = (
        DroppedTable(_without_ticks(database) or event.database, _without_ticks(name))
        for database, name in _QUALIFIED_NAME.findall(match[1])
    )
    return tuple(dict.fromkeys(named_tables))


def _without_ticks(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def split_drop(event: SchemaChange) -> tuple[SchemaChange, ...]:
    """One event for each table that a DROP TABLE or DROP VIEW names, in its order and with its
    text; another statement alone, as it is. The table before it is known of the event's own table
    alone.
    """
    dropped_tables = parse_dropped_tables(event)
    if len(dropped_tables) < 2:
        return (event,)
    event_table = DroppedTable(event.database, event.table)
    return tuple(
        replace(
            event,
            database=dropped.database,
            table=dropped.name,
            before=event.before if dropped == event_table else None,
        )
        for dropped in dropped_tables
    )


class RenameClause(NamedTuple):
    """A clause of a RENAME TABLE: the table's names before and after it, and the text of a RENAME
    TABLE that has this clause alone.
    """

    old_name: str
    new_name: str
    sql: str


def parse_renames(sql: str) -> tuple[RenameClause, ...]:
    """The clauses of a RENAME TABLE in their order; none of another statement."""
    start = _RENAME.match(sql)
    if start is None:
        return ()
    return tuple(
        RenameClause(_without_ticks(clause[1]), _without_ticks(clause[2]), f"{start[0]}{clause[0]}")
        for clause in _RENAME_CLAUSE.finditer(sql, start.end())
    )


def clauses_of(events: Sequence[Event], number: int) -> Sequence[SchemaChange]:
    """The events of one statement of a history, from event `number` on, which is a statement: of a
    RENAME TABLE of several tables that event and those of the clauses behind it; any other
    statement alone.
    """
    event = events[number]
    assert isinstance(event, SchemaChange)
    names = [(clause.old_name, clause.new_name) for clause in parse_renames(event.sql)]
    own_names = (event.old_name, event.table)
    later_names = names[names.index(own_names) + 1 :] if own_names in names else []
    clauses = [event]
    for later, clause_names in zip(events[number + 1 :], later_names, strict=False):
        if not isinstance(later, SchemaChange) or later.sql != event.sql:
            break
        if (later.old_name, later.table) != clause_names:
            break
        clauses.append(later)
    return clauses


def tables_after_renames(clauses: Iterable[SchemaChange]) -> dict[str, Table | None]:
    """The tables that have the new names of the clauses of a RENAME TABLE after the statement, None
    for a name that a later clause takes away.
    """
    tables: dict[str, Table | None] = {}
    for clause in clauses:
        if clause.old_name in tables:
            tables[clause.old_name] = None
        tables[clause.table] = clause.after
    return tables
