"""The partition of a row, as far as the statement that made its table tells it: TiDB moves a row
whose partition changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Final, TypeAlias

from generators.families.ticdc.ddl import Statement, unquoted
from generators.model import Row, SchemaChange, Table, Value
from generators.sources import mysql

Place: TypeAlias = Callable[[Row], int | None]
"""The number of a row's partition, None where it is not known."""

_METHOD: Final = re.compile(
    r"(?P<kind>HASH|RANGE|LIST)(?: COLUMNS)? \((?P<year>YEAR\()?(?P<column>`(?:[^`]|``)+`)\)?\)"
)


def place_nowhere(_source_row: Row) -> int | None:
    """The function of tables of which no row's partition is known: it always gives None."""
    return None


def unplaced(event: SchemaChange, place: Place) -> Place:
    """How rows are placed in partitions after a statement, if that is not computed anew: as before,
    or not known after a statement that changes partitions.
    """
    return place_nowhere if "partition" in event.action else place


def place_of_rows(table: Table, statement: Statement) -> Place:
    """The function that gives the number of a row's partition, from the statement that partitioned
    the table by a column of whole numbers or texts, or by the year of a date. For other ways of
    partitioning it always gives None.
    """
    matched = _METHOD.fullmatch(statement.method)
    names = [
        column.name
        for column in table.columns
        if matched and mysql.quote(column.name) == matched["column"]
    ]
    limits = [_limits(values) for values in statement.values]
    if not matched or not names or any(limit is None for limit in limits):
        return place_nowhere
    kind = matched["kind"]
    name = names[0]
    yearly = bool(matched["year"])
    count = statement.partitions

    def place(source_row: Row) -> int | None:
        """The number of the partition that holds the row; None if it does not follow from the row's
        value.
        """
        value = source_row[name]
        if yearly:
            value = value.year if isinstance(value, date) else None
        if kind == "HASH":
            return abs(value) % count if isinstance(value, int) else None
        for number, limit in enumerate(limits):
            if limit is None or (kind == "LIST" and value in limit):
                return number
            if kind == "RANGE" and (
                limit == ["MAXVALUE"] or value is None or _is_below(value, limit[0])
            ):
                return number
        return None

    return place


def _is_below(value: Value, limit: Value) -> bool:
    """Whether the value is less than the limit of a RANGE partition; dates are compared as ISO
    texts.
    """
    if isinstance(value, date):
        value = value.isoformat()
    return isinstance(limit, str) == isinstance(value, str) and value < limit  # type: ignore[operator]


def _limits(values: str) -> list[Value] | None:
    """The values of the literals in the brackets of a partition's definition; None if it holds
    anything else.
    """
    literals: list[Value] = []
    for literal in re.findall(r"_UTF8MB4'(?:[^']|'')*'|[^,() ]+", values):
        if literal.startswith("_UTF8MB4"):
            literals.append(unquoted(literal.removeprefix("_UTF8MB4")))
        elif literal in ("MAXVALUE", "NULL"):
            literals.append(None if literal == "NULL" else literal)
        elif re.fullmatch(r"-?[0-9]+", literal):
            literals.append(int(literal))
        else:
            return None
    return literals
