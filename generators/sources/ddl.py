"""Statements of MySQL, each a case."""

from __future__ import annotations

from generators.model import Scenario, SchemaChange
from generators.sources import mysql
from generators.sources.boundaries import START, named, neutral


def ddl_name(action: str) -> str:
    """The name of an action's scenario."""
    return f"ddl/{action.replace(' ', '-')}"


def ddl_event(
    action: str,
    database: str,
    ddl: mysql.DdlAction | None = None,
    old_name: str = "_b",
    name: str = "",
) -> SchemaChange:
    """A statement of MySQL on a table or database of its own, which `name` names; `old_name` ends a
    renamed table's old name.
    """
    ddl, table = ddl or mysql.DDL_ACTIONS[action], neutral(name or ddl_name(action))
    where, shown = (f"{database}_{table}", "") if ddl.level == "database" else (database, table)
    sql = ddl.sql.format(
        db=mysql.quote(where), table=mysql.quote(table), other=mysql.quote(f"{table}{old_name}")
    )
    return SchemaChange(
        START, action, sql, where, shown, old_name=f"{table}{old_name}" if ddl.renames else None
    )


def of_statement(event: SchemaChange, *tags: str) -> Scenario:
    """A statement alone."""
    return named(ddl_name(event.action), event, tags=(f"ddl:{event.action}", *tags))
