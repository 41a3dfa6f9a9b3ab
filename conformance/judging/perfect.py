"""The rows of a right decoder, made of what a case owes: no decoder runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from generators.model import (
    SIDES,
    Case,
    Cell,
    Change,
    Image,
    Json,
    Kind,
    Logical,
    SourceType,
    State,
    Value,
    Written,
    ZeroDate,
)
from generators.sources import mysql


def owed_changes(case: Case, written: Written) -> tuple[Change, ...]:
    """The changes for which a right decoder returns rows of a message: all of them at level one
    (changes of any table), at level two (typed rows of one table) the row changes of the case's
    first table, told by its name, and unreadable messages.
    """
    if case.level == 1:
        return written.changes
    table = case.tables[0].name
    return tuple(c for c in written.changes if c.kind is Kind.CORRUPT or c.is_row_of(table))


def perfect_rows(case: Case, written: Written) -> list[OutputRow]:
    """The rows that a right decoder returns for a message."""
    return [row_of_change(change, case.level) for change in owed_changes(case, written)]


def row_of_change(change: Change, level: int) -> OutputRow:
    """The row that a right decoder returns for a change: at level one texts and the fields of the
    envelope, at level two typed values alone. Where several answers are right it has the first.
    """
    fields = {
        "database": change.database,
        "schema": change.schema,
        "table": change.table,
        "keys": change.keys and list(change.keys),
        "sql": change.sql,
        "position": change.position,
        "commit_time": change.commit_time_us,
        "types": change.types and dict(change.types),
        "schema_version": change.schema_version,
    }
    before, after = (_decoded_image(change.image(side, level), level) for side in SIDES)
    error = "unreadable" if change.kind is Kind.CORRUPT else None
    return OutputRow(
        change.row,
        change.kind.value,
        change.op and change.op.value,
        fields if level == 1 else {},
        before,
        after,
        error,
    )


def _decoded_image(image: Image | None, level: int) -> Mapping[str, Any] | None:
    """The image as a perfect decoder returns it: at level two typed values; at level one texts,
    without the absent columns. None for no image.
    """
    if image is None:
        return None
    if level == 2:
        return {name: _typed_value(cell) for name, cell in image.items()}
    return {
        name: _text_of_cell(cell) for name, cell in image.items() if cell.state is not State.ABSENT
    }


def _text_of_cell(cell: Cell) -> str | None:
    """The text that a right decoder returns for a cell at level one (cells as texts): None for
    NULL, and `?` where any text is right.
    """
    if cell.state is State.NULL:
        return None
    return "?" if cell.text is None else cell.text


_DIGITS: Final = 4_000
"""Digits up to which a whole DECIMAL is made an int, which Python can still print."""
_FAMILIES: Final = {"tinyint": "int", "smallint": "int", "bigint": "int"}
"""The family of a Spark type whose name is not the family's."""


def _typed_value(cell: Cell) -> Typed | None:
    """The value that a perfect decoder returns for a cell at level two (typed columns), or the
    first one of several right answers. None for NULL, an absent cell, a cell that may be anything,
    and a zero date.
    """
    value = cell.options[0] if cell.state is State.ONE_OF else cell.value
    if (
        cell.state not in (State.VALUE, State.ONE_OF)
        or value is None
        or isinstance(value, ZeroDate)
    ):
        return None
    spark = cell.type.spark.partition("(")[0]
    return Typed(_FAMILIES.get(spark, spark), _spark_value(cell.type, value, spark))


def _spark_value(type: SourceType, value: Value, spark: str) -> Any:
    """A value as the harness reads it out of a Spark row (conformance.judging.output), such as a
    whole DECIMAL as int and a TIME as text. `spark` is the name of the column's Spark type.
    """
    match type.logical, value:
        case Logical.JSON, Json():
            return json.dumps(value.value, ensure_ascii=False, default=float)
        case Logical.TIME, int():
            # A writer may send fewer digits of a fraction than its column has, or round the last;
            # a value with more digits than the column is given with all six.
            return mysql.time_text(value, type.fsp if value % 10 ** (6 - type.fsp) == 0 else 6)
        case Logical.BIT, int() if spark == "boolean":
            return bool(value)
        case Logical.DECIMAL, Decimal() if spark == "string":
            return f"{value:f}"
        case Logical.DECIMAL, Decimal():
            small = value.adjusted() < _DIGITS
            return int(value) if small and value == value.to_integral_value() else value
    return value
