"""The partition of a row, as far as the statement that made its table tells it: TiDB moves a row
whose partition changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, TypeAlias

from generators.families.ticdc.ddl import Statement, unquoted
from generators.model import Row, SchemaChange, Table, Value
from generators.sources import mysql

Place: TypeAlias = Callable[[Row], int | None]
"""The function that gives the number of the partition in which a row is stored, None where that is
not known.
"""

_METHOD: Final = re.compile(
    r"(?P<kind>HASH|RANGE|LIST)(?: COLUMNS)? \((?P<year>YEAR\()?(?P<column>`(?:[^`]|``)+`)\)?\)"
)
"""How a table is partitioned, in TiDB's spelling: by a column, or by the year of one."""
_MAX_VALUE: Final = math.inf
"""Stands for MAXVALUE, which every value is below."""


def place_nowhere(_source_row: Row) -> int | None:
    """Always gives None: the function that places rows of a table whose rows' partitions are not
    known.
    """
    return None


def unplaced(event: SchemaChange, place: Place) -> Place:
    """The function that places rows after a statement that does not say how: `place`, the one
    before it, or, if the statement changes partitions, one that knows no row's partition.
    """
    return place_nowhere if "partition" in event.action else place


def place_of_rows(table: Table, statement: Statement) -> Place:
    """The function that gives the number of a row's partition, from the parsed statement that
    partitioned the table. It knows partitioning by a column of whole numbers or texts, and by the
    year of a date; for any other it always gives None.
    """
    matched = _METHOD.fullmatch(statement.method)
    names = [
        column.name
        for column in table.columns
        if matched and mysql.quote(column.name) == matched["column"]
    ]
    limits_or_none = [_limits(values) for values in statement.values]
    limits = [limit for limit in limits_or_none if limit is not None]
    if not matched or not names or len(limits) < len(limits_or_none):
        return place_nowhere
    kind = matched["kind"]
    name = names[0]
    yearly = bool(matched["year"])
    count = statement.partitions

    def place(source_row: Row) -> int | None:
        """The number of the partition that holds the row, in the statement's order; None if no
        partition takes the row's value, or the value is of another type.
        """
        # `limits` has the values of each partition: of RANGE the one limit, of LIST all members.
        value = source_row[name]
        if yearly and value is not None:
            value = _year(value)
            if value is None:
                return None
        if kind == "HASH":
            return abs(value) % count if isinstance(value, int) else None
        for number, limit in enumerate(limits):
            if kind == "LIST" and value in limit:
                return number
            # NULL is below every limit: it lies in the first partition.
            if kind == "RANGE" and (
                limit == [_MAX_VALUE] or value is None or _is_below(value, limit[0])
            ):
                return number
        return None

    return place


def _year(value: Value) -> int | None:
    """The year of a DATE or a DATETIME (microseconds since 1970); None for a value of another type,
    for a date with zeros, and for a year that Python's dates do not have.
    """
    if isinstance(value, date):
        return value.year
    if not isinstance(value, int):
        return None
    try:
        return (date(1970, 1, 1) + timedelta(microseconds=value)).year
    except OverflowError:
        return None


def _is_below(value: Value, limit: Value) -> bool:
    """Whether a row's value is less than the limit of a RANGE partition. Dates are compared as ISO
    texts; values of two types are never below each other.
    """
    if isinstance(value, date):
        value = value.isoformat()
    return isinstance(limit, str) == isinstance(value, str) and value < limit  # type: ignore[operator]


def _limits(values: str) -> list[Value] | None:
    """The values in a partition's definition, such as `(10)` or `(1,NULL)`; None if it has anything
    but numbers, texts, NULL and MAXVALUE. NULL is None, MAXVALUE is _MAX_VALUE.
    """
    literals: list[Value] = []
    for literal in re.findall(r"_UTF8MB4'(?:[^']|'')*'|[^,() ]+", values):
        if literal.startswith("_UTF8MB4"):
            literals.append(unquoted(literal.removeprefix("_UTF8MB4")))
        elif literal in ("MAXVALUE", "NULL"):
            literals.append(None if literal == "NULL" else _MAX_VALUE)
        elif re.fullmatch(r"-?[0-9]+", literal):
            literals.append(int(literal))
        else:
            return None
    return literals
