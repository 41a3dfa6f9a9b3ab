"""CloudCanal's Debezium Envelope: its schemas, named cases and unfit cells.

Source: the page cloudcanal-envelope of the sources; for Connect's schemas, to which the vendor's
page refers, the page debezium.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from generators.families.cases import OWN, Cases, deleted, inserted, read, updated
from generators.families.cloudcanal.messages import jdbc_type
from generators.families.connect import Schema, fields
from generators.garbage.cell_faults import CellFault
from generators.model import Column, Instant, Op, Row, Scenario, SchemaChange, Table
from generators.profiles import Profile
from generators.sources import mysql
from generators.sources.boundaries import ID, START, change, named
from generators.sources.ddl import ddl_event, ddl_name, of_statement, rename_between_rows

_SOURCE: Final = Schema(
    "struct",
    name="io.debezium.connector.mysql.Source",
    fields=fields(
        "ts_ms:int64 db:string table:string? connector:string gtid:string? file:string pos:int64"
        " server_id:int64"
    ),
)
"""The Connect schema of the member `source`."""
_COLUMN: Final = Schema(
    "struct",
    fields=fields(
        "jdbcType:int32 name:string position:int32 typeExpression:string typeName:string"
    ),
)
"""The Connect schema of a column in `tableChanges`."""
_LISTS: Final = {
    "columns": Schema("array", items=_COLUMN),
    "primaryKeyColumnNames": Schema("array", items=Schema("string")),
}
"""The Connect schemas of the two lists in a table's description."""
_TABLE: Final = Schema("struct", fields=fields("columns primaryKeyColumnNames", **_LISTS))
"""The Connect schema of a table in `tableChanges`."""
_CHANGES: Final = Schema("struct", True, fields=fields("type:string table", table=_TABLE))
"""The Connect schema of the member `tableChanges`."""


@lru_cache(maxsize=1024)
def row_schema(table: Table, columns: tuple[tuple[str, Schema], ...]) -> Schema:
    """The Connect schema of the messages of a table's rows, with members in the order of the
    example of the page cloudcanal-envelope.
    """
    name = f"cloudcanal.{table.database}.{table.name}"
    columns_schema = Schema("struct", True, f"{name}.Value", fields=columns)
    members = fields(
        "op:string ts_ms:int64? after before source",
        after=columns_schema,
        before=columns_schema,
        source=_SOURCE,
    )
    return Schema("struct", name=f"{name}.Envelope", fields=members)


@lru_cache(maxsize=2)
def ddl_schema(with_op: bool) -> Schema:
    """The Connect schema of a DDL message, with members in the order of the example of the page
    cloudcanal-envelope; `with_op` says whether `op` is among them.
    """
    op = "op:string " if with_op else ""
    declared = f"{op}databaseName:string ddl:string ts_ms:int64 source tableChanges"
    members = fields(declared, source=_SOURCE, tableChanges=_CHANGES)
    return Schema("struct", name="io.debezium.connector.mysql.SchemaChangeValue", fields=members)


@lru_cache(maxsize=1024)
def own_schema(table: Table) -> dict[str, Any]:
    """CloudCanal's own schema of a table's rows, with the members that the vendor's article shows
    (cloudcanal-envelope#values-as-text), which spells `jdbType` so: the columns of both images.
    """
    columns = [
        {
            "field": c.name,
            "isPK": c.name in table.primary_key,
            "jdbType": jdbc_type(c.type),
            "type": mysql.declared(c.type),
        }
        for c in table.columns
    ]
    return {
        "fields": [
            {"field": side, "fields": columns, "type": "struct"} for side in ("after", "before")
        ],
        "type": "struct",
    }


def own_ddl_schema() -> dict[str, Any]:
    """CloudCanal's own schema of a DDL message, which the article does not show: no fields."""
    return {"fields": [], "type": "struct"}


def table_changes(table: Table, action: str) -> dict[str, Any]:
    """The member `tableChanges` of a DDL message: one object that describes the table as it is
    after the statement, with positions from 0.
    """
    columns = [
        {
            "jdbcType": jdbc_type(c.type),
            "name": c.name,
            "position": i,
            "typeExpression": mysql.declared(c.type),
            "typeName": c.type.name,
        }
        for i, c in enumerate(table.columns)
    ]
    return {
        "type": action,
        "table": {"columns": columns, "primaryKeyColumnNames": list(table.primary_key)},
    }


_STRING: Final = mysql.text("varchar", 22)
_ABC: Final = (ID, Column("a", _STRING), Column("b", _STRING))
"""The columns of most cases."""
_ROW: Final[Row] = {"id": 1, "a": "x", "b": None}
"""The row that most cases begin with."""


def scenarios(profile: Profile, database: str) -> Iterator[Scenario]:
    """Every named case of this format alone. `database` is that of the tables of level one (cases
    whose values are compared as texts).
    """
    cases = Cases(database, _ABC)
    yield from _documents(database)
    yield from _ddl(database)
    yield cases.case("snapshot/read", read(_ROW), tags={"snapshot"})
    # A new file begins with every 1000 commits (COMMITS_PER_FILE).
    later = Instant(START.ms, 1000)
    yield cases.case(
        "position/next-file",
        inserted(_ROW),
        change(OWN, Op.DELETE, (_ROW, None), at=later),
        tags={"position"},
    )
    awkward_row: Row = {"id": 1, "ddl": "drop table t", "op": "d"}
    yield cases.of(ID, Column("ddl", _STRING), Column("op", _STRING)).case(
        "op/a-column-named-ddl", inserted(awkward_row), tags={"names"}
    )
    yield cases.case(
        "image/orientation",
        updated({**_ROW, "b": "old"}, {**_ROW, "b": "new"}),
        tags={"orientation"},
    )
    lone = Cases(database, (Column("a", _STRING),), ()).table("image/one-null-column")
    for label, event in (("insert", inserted({"a": None})), ("delete", deleted({"a": None}))):
        event = replace(event, table=replace(lone, name=f"{lone.name}_{label}"))
        yield named(f"image/one-null-column-{label}", event, tags={"image:null-row"})


def _documents(database: str) -> Iterator[Scenario]:
    """Yields the cases of the row and of the statement that the vendor's examples show, with the
    vendor's names and values.
    """
    at = Instant(1_669_796_261_933, 0)
    columns = tuple(
        Column(name, _STRING, nullable=name != "col_pk") for name in ("col1", "col2", "col_pk")
    )
    table = Table(database, "table_test", columns, ("col_pk",))
    example_row: Row = {"col1": "11", "col2": "11", "col_pk": "11"}
    yield named(
        "document/insert", change(table, Op.INSERT, (None, example_row), at=at), tags={"document"}
    )
    sql = "alter table table_test add col2 varchar(22) null"
    altered = replace(table, name="table_test_ddl")
    event = SchemaChange(
        at,
        "add column",
        sql,
        database,
        altered.name,
        replace(altered, columns=columns[::2]),
        altered,
    )
    yield named("document/ddl", event, tags={"ddl:add column", "document"})


def _ddl(database: str) -> Iterator[Scenario]:
    """Yields the DDL cases: a rename between rows, and one statement for each action on tables,
    with the table before and after it (no table after DROP TABLE).
    """
    yield rename_between_rows(database)
    for event in (
        ddl_event(action, database)
        for action, ddl in mysql.DDL_ACTIONS.items()
        if ddl.level == "table"
    ):
        table = Cases(database, _ABC).table(ddl_name(event.action))
        before = replace(table, name=event.old_name or table.name)
        yield of_statement(
            replace(event, before=before, after=None if event.action == "drop table" else table)
        )


TYPED_FAULTS: Final = (
    CellFault("cell-int", "c_int", 1234567891, "1234567891", '"12x4"'),
    CellFault("cell-int-over", "c_int", 1234567892, "1234567892", "2147483648"),
    CellFault(
        "cell-bigint-over",
        "c_bigint",
        1234567890123456789,
        "1234567890123456789",
        "9223372036854775808",
    ),
    CellFault("cell-unsigned-int-negative", "c_unsigned_int", 3234567893, "3234567893", "-5"),
    CellFault(
        "cell-decimal-digits",
        "c_decimal_10_2",
        Decimal("7654321.25"),
        '"LZ+RPQ=="',
        '"At/cHE0="',
        kept_value=Decimal("123456789.25"),
    ),
    CellFault("cell-double", "c_double", 54321.25, "54321.25", '"5432x"'),
    CellFault("cell-date", "c_date", date(2021, 7, 19), "18827", '"2021-13-45"'),
)
"""JSON that a column's type cannot hold, in place of a typed value."""
