"""Statements of MySQL, each a case."""

from __future__ import annotations

from dataclasses import replace

from generators.model import Column, Instant, Op, Row, Scenario, SchemaChange, Table
from generators.sources import mysql
from generators.sources.boundaries import ID, START, change, insert, named, neutral


def ddl_name(action: str) -> str:
    """The name of the scenario of a statement's action, such as `ddl/add-column`."""
    return f"ddl/{action.replace(' ', '-')}"


def ddl_event(
    action: str,
    database: str,
    ddl: mysql.DdlAction | None = None,
    old_name: str = "_b",
    name: str = "",
) -> SchemaChange:
    """The event of a MySQL statement of the kind `action`, such as "add column". Its text is that
    of `ddl`, by default the action's own. The name of its table or database is a checksum of
    `name`, by default of the action. `old_name` is the end of a renamed table's old name, which is
    otherwise like the new one.
    """
    ddl, table = ddl or mysql.DDL_ACTIONS[action], neutral(name or ddl_name(action))
    where, table_name = (
        (f"{database}_{table}", "") if ddl.level == "database" else (database, table)
    )
    sql = ddl.sql.format(
        db=mysql.quote(where), table=mysql.quote(table), other=mysql.quote(f"{table}{old_name}")
    )
    return SchemaChange(
        START,
        action,
        sql,
        where,
        table_name,
        old_name=f"{table}{old_name}" if ddl.renames else None,
    )


def of_statement(event: SchemaChange, *tags: str) -> Scenario:
    """The scenario of one statement and nothing else, named and tagged by its action."""
    return named(ddl_name(event.action), event, tags=(f"ddl:{event.action}", *tags))


def rename_between_rows(database: str) -> Scenario:
    """The scenario of a row under the table's old name, the RENAME, and rows under the new name:
    the old row is updated there, and deleted.
    """
    name = "ddl/rename-between-rows"
    renamed = ddl_event("rename table", database, name=name)
    columns = (ID, Column("a", mysql.text("varchar", 64)))
    new = Table(database, renamed.table, columns, ("id",))
    old = replace(new, name=renamed.old_name or "")
    first_row: Row = {"id": 1, "a": "x"}
    changed_row: Row = {"id": 1, "a": "y"}
    moments = [Instant(START.ms + 1000 * second) for second in range(5)]
    return named(
        name,
        insert(old, first_row, moments[0]),
        replace(renamed, at=moments[1], before=old, after=new),
        insert(new, {"id": 2, "a": None}, moments[2]),
        change(new, Op.UPDATE, (first_row, changed_row), at=moments[3]),
        change(new, Op.DELETE, (changed_row, None), at=moments[4]),
        tags=(f"ddl:{renamed.action}",),
    )
