"""The hidden columns that TiDB adds to a table for the expressions of its indexes
(ticdc#simple-hidden-column), as far as the statements of a history tell their types.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field, replace
from typing import Final

from generators.errors import Refused
from generators.families.ticdc.ddl import parse
from generators.model import Column, Logical, SchemaChange, SourceType, Table
from generators.sources import mysql

CASE_CHANGED: Final = re.compile(r"(?:LOWER|UPPER)\((`(?:[^`]|``)+`)\)")
"""An expression LOWER or UPPER of a column, as TiDB prints it."""
ARITHMETIC: Final = re.compile(r"(`(?:[^`]|``)+`)[-+*](?:\d+|(`(?:[^`]|``)+`))")
"""A sum, difference or product of a column with a number or another column, as TiDB prints it."""
MULTIVALUED: Final = re.compile(r"CAST\(.* AS (?:CHAR\((\d+)\)|[^()]*(?:\([\d, ]*\))?) ARRAY\)")
"""The expression of an index over the values of a JSON array, as TiDB prints it; the group is the
length of texts.
"""


def expression_type(expression: str, table: Table) -> SourceType | None:
    """The type of the column that TiDB adds to a table, hidden, for an expression of an index: of
    an array's values, of LOWER or UPPER of a short text, of sums, differences and products of
    signed integers. None for any other expression, whose type is not known here.
    """
    columns = {mysql.quote(column.name): column.type for column in table.columns}
    if MULTIVALUED.fullmatch(expression):
        return mysql.json()
    if case_changed := CASE_CHANGED.fullmatch(expression):
        type = columns.get(case_changed[1])
        is_short_text = type is not None and type.name in ("char", "varchar")
        return replace(type, name="var_string") if type and is_short_text else None
    if arithmetic := ARITHMETIC.fullmatch(expression):
        operands = [columns.get(quoted) for quoted in arithmetic.groups() if quoted]
        if all(type and type.logical is Logical.INT and not type.unsigned for type in operands):
            return mysql.integer("bigint")
    return None


def is_never_null(expression: str, table: Table) -> bool:
    """Whether the column that TiDB adds to a table for an expression of an index is NOT NULL: that
    of a sum, difference or product of columns that are (ticdc#simple-hidden-column).
    """
    arithmetic = ARITHMETIC.fullmatch(expression)
    if not arithmetic:
        return False
    solid = {
        mysql.quote(column.name)
        for column in table.columns
        if not column.nullable or column.name in table.primary_key
    }
    return all(quoted in solid for quoted in arithmetic.groups() if quoted)


@dataclass(slots=True)
class HiddenColumns:
    """The columns that TiDB has added to tables, hidden, for the expressions of indexes: by the
    table's database and name, and the column's name, the expression.
    """

    _expressions: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    def follow(self, event: SchemaChange) -> None:
        """Takes account of a statement: one that makes a table or an index may add hidden columns,
        and a renamed table keeps those that it has. A statement whose form is not known here adds
        none.
        """
        table_key = (event.database, event.table)
        if event.old_name:
            self._expressions[table_key] = self._expressions.pop(
                (event.database, event.old_name), {}
            )
        if event.action == "create table":
            self._expressions.pop(table_key, None)
        names = tuple(index.name for index in event.before.indexes) if event.before else ()
        try:
            new_expressions = parse(event.sql, table_indexes=names).hidden
        except Refused:
            return
        if new_expressions:
            old_expressions = {
                name: expression
                for name, expression in self._expressions.get(table_key, {}).items()
                if name not in new_expressions
            }
            self._expressions[table_key] = {**old_expressions, **new_expressions}

    def columns(self, table: Table) -> tuple[Column, ...]:
        """The hidden columns of the table's indexes, in the order in which statements made them,
        without those whose type is not known.
        """
        expressions = self._expressions.get((table.database, table.name), {})
        in_use = set(itertools.chain.from_iterable(index.columns for index in table.indexes))
        typed = {
            name: expression_type(expression, table)
            for name, expression in expressions.items()
            if name in in_use
        }
        return tuple(
            Column(name, type, not is_never_null(expressions[name], table))
            for name, type in typed.items()
            if type is not None
        )
