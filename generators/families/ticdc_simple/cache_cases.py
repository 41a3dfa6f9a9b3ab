"""The schema cache's cases: rows before, between and after the messages that carry their table's
schema (ticdc#simple-schema-cache, #simple-schema-late).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from generators.families.cases import OWN, Cases
from generators.model import (
    Bootstrap,
    Column,
    Event,
    Instant,
    Op,
    Row,
    Scenario,
    SchemaChange,
    Table,
)
from generators.sources import mysql
from generators.sources.boundaries import ID, START, change, insert, named, slug

_STRING: Final = mysql.text("varchar", 64)
_N: Final = Column("n", mysql.integer("int"))
_S: Final = Column("s", _STRING)
_A: Final = Column("a", mysql.integer("int"))
_ADD: Final = "ALTER TABLE {t} ADD COLUMN `a` int"
_MODIFY: Final = "ALTER TABLE {t} MODIFY COLUMN `n` varchar(64)"
_RENAME: Final = "RENAME TABLE {db}.{old} TO {db}.{t}"
"""SQL of statements for `_ddl`, which puts names in the place of {t}, {db} and {old}."""
_ROW: Final[Row] = {"id": 1, "n": 5, "s": "x"}
_WIDE: Final[Row] = {**_ROW, "a": 9}


def _at(second: int) -> Instant:
    """The commit time at that second of a history."""
    return Instant(START.ms + 1000 * second, 1 + second)


def _ddl(
    second: int, action: str, before: Table | None, after: Table | None, sql: str
) -> SchemaChange:
    """The event of a DDL statement at that second of a history. In `sql` {t} stands for the table's
    name, {db} for the database's, {old} for the table's name before a RENAME. `before` and `after`
    are the table before and after the statement, None if it does not exist then.
    """
    table = after or before
    assert table is not None
    old = before.name if before and after and before.name != after.name else None
    quoted = {
        "t": mysql.quote(table.name),
        "db": mysql.quote(table.database),
        "old": mysql.quote(old or ""),
    }
    return SchemaChange(
        _at(second), action, sql.format(**quoted), table.database, table.name, before, after, old
    )


def _alter_table(
    cases: Cases, name: str, second: int, action: str, sql: str, *columns: Column, suffix: str = ""
) -> tuple[Table, Table, SchemaChange]:
    """Three things for a case of the name `name`: its table before a statement, its table after it
    (with other columns, or `suffix` behind its name), and the event of the statement.
    """
    old = cases.table(name)
    new = replace(old, columns=columns or old.columns, name=f"{old.name}{suffix}")
    return old, new, _ddl(second, action, old, new, sql)


def schemas(database: str) -> Iterator[Scenario]:
    """The cases on a decoder's cache of table schemas: a row names its schema by a version, and
    another message has that schema. Their tables are in the database `database`.
    """
    cases = Cases(database, (ID, _N, _S))
    yield from _order(cases)
    yield from _versions(cases)
    yield from _names(cases)
    yield from _special(cases)


def _order(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases on when the message with a table's schema comes: before the rows, behind
    them, never, or twice; and the case of a table with a column of every type.
    """
    updated = change(OWN, Op.UPDATE, (_ROW, {**_ROW, "n": None}), at=_at(2))
    yield cases.case(
        "schema/bootstrap-first",
        Bootstrap(_at(0), OWN),
        insert(OWN, _ROW, _at(1)),
        updated,
        tags=("schema",),
    )
    deleted = change(OWN, Op.DELETE, (_ROW, None), at=_at(1))
    yield cases.case(
        "schema/row-first",
        insert(OWN, _ROW, _at(0)),
        deleted,
        Bootstrap(_at(2), OWN),
        tags=("schema:late",),
    )
    name = "schema/row-first-of-two"
    table = cases.table(name)
    other_table = cases.of(ID, Column("n", _STRING)).table(f"{name}-other")
    events: tuple[Event, ...] = (
        insert(table, _ROW, _at(0)),
        Bootstrap(_at(1), other_table),
        Bootstrap(_at(2), table),
    )
    yield named(
        name, *events, insert(other_table, {"id": 1, "n": "y"}, _at(3)), tags=("schema:late",)
    )
    name = "schema/none"
    table = cases.table(name)
    other_table = cases.of(ID, Column("n", _STRING)).table(f"{name}-other")
    yield named(
        name, insert(table, _ROW, _at(0)), Bootstrap(_at(1), other_table), tags=("schema:none",)
    )
    yield cases.case(
        "schema/repeated",
        Bootstrap(_at(0), OWN),
        Bootstrap(_at(1), OWN),
        insert(OWN, _ROW, _at(2)),
        tags=("schema",),
    )
    columns = (ID, *(Column(f"c_{slug(label)}", type) for label, type in mysql.TYPES.items()))
    wide_row: Row = {"id": 1, **dict.fromkeys(c.name for c in columns[1:])}
    yield cases.of(*columns).case(
        "schema/every-type", Bootstrap(_at(0), OWN), insert(OWN, wide_row, _at(1)), tags=("schema",)
    )


def _versions(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases on several versions of a table's schema: columns added or modified between
    rows, TRUNCATE, and DROP with a new table of the same name.
    """
    texts = (ID, Column("n", _STRING), _S)
    name = "schema/two-versions"
    narrow, wide, added = _alter_table(cases, name, 2, "add column", _ADD, ID, _N, _S, _A)
    events: tuple[Event, ...] = (
        insert(narrow, _ROW, _at(1)),
        added,
        insert(wide, {**_WIDE, "id": 2}, _at(3)),
    )
    yield named(name, Bootstrap(_at(0), narrow), *events, tags=("schema:version",))
    name = "schema/modified-column"
    number, text_table, modified = _alter_table(cases, name, 2, "modify column", _MODIFY, *texts)
    events = (
        insert(number, _ROW, _at(1)),
        modified,
        change(text_table, Op.UPDATE, (dict(_ROW, n="5"), dict(_ROW, n="five")), at=_at(3)),
    )
    yield named(
        name,
        Bootstrap(_at(0), number),
        *events,
        Bootstrap(_at(4), text_table),
        tags=("schema:version",),
    )
    name = "schema/new-before-old"
    number, text_table, modified = _alter_table(cases, name, 1, "modify column", _MODIFY, *texts)
    events = (
        insert(number, _ROW, _at(0)),
        modified,
        insert(text_table, {"id": 2, "n": "y", "s": None}, _at(2)),
    )
    yield named(name, *events, Bootstrap(_at(3), text_table), tags=("schema:pre",))
    name = "schema/only-new"
    narrow, wide, added = _alter_table(cases, name, 1, "add column", _ADD, ID, _N, _S, _A)
    yield named(name, insert(narrow, _ROW, _at(0)), added, tags=("schema:pre", "schema:none"))
    name = "schema/add-column-first"
    narrow, first, added = _alter_table(
        cases, name, 1, "add column", f"{_ADD} FIRST", _A, ID, _N, _S
    )
    yield named(
        name, added, Bootstrap(_at(2), first), insert(first, _WIDE, _at(3)), tags=("schema",)
    )
    name = "schema/truncate"
    table, _, cut = _alter_table(cases, name, 2, "truncate table", "TRUNCATE TABLE {t}")
    events = (insert(table, _ROW, _at(1)), cut, insert(table, _ROW, _at(3)))
    yield named(name, Bootstrap(_at(0), table), *events, tags=("schema:version",))
    name = "schema/drop-and-create"
    old = cases.table(name)
    new = cases.of(ID, Column("n", _STRING)).table(name)
    dropped = _ddl(2, "drop table", old, None, "DROP TABLE {db}.{t}")
    created = _ddl(
        3,
        "create table",
        None,
        new,
        "CREATE TABLE {t} (`id` bigint NOT NULL, `n` varchar(64), PRIMARY KEY (`id`))",
    )
    events = (insert(old, _ROW, _at(1)), dropped, created, insert(new, {"id": 1, "n": "x"}, _at(4)))
    yield named(name, Bootstrap(_at(0), old), *events, tags=("schema:version",))


def _names(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases on tables whose schemas a decoder may confuse: renamed tables, one name in
    two databases, and names that differ in case.
    """
    name = "schema/rename"
    old, new, renamed = _alter_table(cases, name, 2, "rename table", _RENAME, suffix="_new")
    history_events = (insert(old, _ROW, _at(1)), renamed, insert(new, {**_ROW, "id": 2}, _at(3)))
    yield named(name, Bootstrap(_at(0), old), *history_events, tags=("schema:rename",))
    name = "schema/rename-two-tables"
    pairs = [(cases.table(f"{name}-old-{i}"), cases.table(f"{name}-{i}")) for i in (1, 2)]
    both = (_ddl(1, "rename table", *pair, _RENAME) for pair in pairs)
    later = (insert(new, {**_ROW, "id": 2}, _at(2 + i)) for i, (_, new) in enumerate(pairs))
    yield named(
        name, *(Bootstrap(_at(0), old) for old, _ in pairs), *both, *later, tags=("schema:rename",)
    )
    name = "schema/rename-then-bootstrap"
    old, new, renamed = _alter_table(cases, name, 0, "rename table", _RENAME, suffix="_new")
    yield named(
        name, renamed, Bootstrap(_at(1), new), insert(new, _ROW, _at(2)), tags=("schema:rename",)
    )
    name = "schema/same-table-name"
    table = cases.table(name)
    namesake = replace(table, database=f"{cases.database}_2", columns=(ID, Column("n", _STRING)))
    events: tuple[Event, ...] = (
        Bootstrap(_at(0), table),
        Bootstrap(_at(1), namesake),
        insert(table, _ROW, _at(2)),
        insert(namesake, {"id": 1, "n": "x"}, _at(3)),
    )
    yield named(name, *events, tags=("schema",))
    name = "schema/name-case"
    lower, upper = cases.table(name), cases.of(ID, Column("n", _STRING)).table(name)
    upper = replace(upper, name=lower.name.upper())
    events = (Bootstrap(_at(0), lower), Bootstrap(_at(1), upper), insert(lower, _ROW, _at(2)))
    yield named(name, *events, insert(upper, {"id": 1, "n": "x"}, _at(3)), tags=("schema",))


def _special(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases on schemas of a partitioned table, a table with a virtual column, and a
    table that gets and loses an index.
    """
    name = "schema/partitioned"
    table = cases.table(name)
    sql = (
        "CREATE TABLE {t} (`id` bigint NOT NULL, `n` int, `s` varchar(64), PRIMARY KEY (`id`))"
        " PARTITION BY RANGE (`id`) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS"
        " THAN (20))"
    )
    inserts = tuple(insert(table, {**_ROW, "id": i}, _at(i)) for i in (1, 11))
    yield named(
        name, _ddl(0, "create table", None, table, sql), *inserts, tags=("schema:partitioned",)
    )
    name = "schema/virtual-column"
    table = cases.of(ID, _N, Column("v", mysql.integer("int"), generated="virtual")).table(name)
    sql = (
        "CREATE TABLE {t} (`id` bigint NOT NULL, `n` int, `v` int GENERATED ALWAYS AS (`n` + 1)"
        " VIRTUAL, PRIMARY KEY (`id`))"
    )
    inserts = (insert(table, {"id": 1, "n": 1, "v": 2}, _at(1)),)
    updated = change(
        table, Op.UPDATE, ({"id": 1, "n": 1, "v": 2}, {"id": 1, "n": 2, "v": 3}), at=_at(2)
    )
    yield named(
        name, _ddl(0, "create table", None, table, sql), *inserts, updated, tags=("virtual",)
    )
    name = "schema/index"
    table = cases.table(name)
    created_index = _ddl(0, "create index", table, table, "CREATE INDEX `i` ON {t} (`n`, `s`)")
    dropped = _ddl(2, "drop index", table, table, "DROP INDEX `i` ON {t}")
    inserts = (insert(table, _ROW, _at(1)), insert(table, {**_ROW, "id": 2}, _at(3)))
    yield named(name, created_index, inserts[0], dropped, inserts[1], tags=("schema:version",))
