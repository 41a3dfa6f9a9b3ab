"""Values of generated columns: expressions of texts, integers and decimals, as MySQL and PostgreSQL
both compute them.

Known are columns, constants, `+`, `-`, `*`, CONCAT, CONCAT_WS, `||` of PostgreSQL, UPPER, LOWER,
COALESCE, IFNULL, and casts of PostgreSQL to text and numeric. Anything else, and any value on which
databases may differ, is not computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import TYPE_CHECKING, Final

from generators.model import (
    Column,
    History,
    Logical,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    SourceType,
    Table,
    Value,
)
from generators.tables.ddl_text import column_of, expression
from generators.tables.schema import UserTable, place

if TYPE_CHECKING:
    from sqlglot import exp

_TEXTS: Final = frozenset({"varchar", "text", "tinytext", "mediumtext", "longtext"})
"""Types whose values are texts to the last blank."""
_BITS: Final = 1 << 64
_SCALE: Final = 30
"""Digits behind the point that every database keeps."""


class _Unknown(Exception):
    """The value is not computed."""


def computable(table: Table, column: Column, text: str, dialect: str) -> bool:
    """Whether the expression of a generated column can be computed, tried on sample values of the
    columns' types.
    """
    witness = {c.name: _witness(c.type) for c in table.columns}
    try:
        _assigned(column.type, _value(expression(text, dialect), table, witness))
    except (_Unknown, RecursionError):  # nested too deeply for us, not for the database
        return False
    return True


def _witness(type: SourceType) -> object:
    if type.logical is Logical.INT and not type.zerofill:
        return 1
    if type.logical is Logical.DECIMAL and not type.zerofill:
        return Decimal(1)
    return "a" if type.name in _TEXTS else type


def _assigned(type: SourceType, value: object) -> object:
    """The value as a column of the type keeps it."""
    match value, type.logical:
        case None, _:
            return None
        case SourceType(), _ if value == type:
            return value
        case str(), Logical.TEXT if type.name in _TEXTS:
            return value
        case int(), Logical.TEXT if type.name in _TEXTS:
            return str(value)
        case int() | Decimal(), Logical.INT:
            return int(Decimal(value).quantize(Decimal(1), ROUND_HALF_UP))
        case int() | Decimal(), Logical.DECIMAL if type.scale is not None:
            with localcontext(prec=200):
                return Decimal(value).quantize(Decimal(1).scaleb(-type.scale), ROUND_HALF_UP)
    raise _Unknown


def _value(node: exp.Expr | None, table: Table, row: Mapping[str, object]) -> object:
    """The value of an expression on a row. Raises _Unknown."""
    from sqlglot import exp

    def of(part: exp.Expr) -> object:
        return _value(part, table, row)

    match node:
        case exp.Paren():
            return of(node.this)
        case exp.Introducer():
            return of(node.expression)
        case exp.Null():
            return None
        case exp.Literal():
            return node.this if node.is_string else _number(node.this)
        case exp.Column() if not node.table:
            return _held(node.name, table, row)
        case exp.Neg():
            return _numeric(lambda some: -some[0], [of(node.this)])
        case exp.Add():
            return _numeric(lambda some: some[0] + some[1], [of(node.left), of(node.right)])
        case exp.Sub():
            return _numeric(lambda some: some[0] - some[1], [of(node.left), of(node.right)])
        case exp.Mul():
            return _numeric(lambda some: some[0] * some[1], [of(node.left), of(node.right)])
        case exp.Upper():
            return _cased(str.upper, of(node.this))
        case exp.Lower():
            return _cased(str.lower, of(node.this))
        case exp.Coalesce():
            values = [of(part) for part in (node.this, *node.expressions)]
            return next((value for value in values if value is not None), None)
        case exp.ConcatWs():
            between, *parts = (of(part) for part in node.expressions)
            return (
                between
                if between is None
                else _joined(_text(between), [part for part in parts if part is not None])
            )
        case exp.Concat():
            return _joined("", [of(part) for part in node.expressions])
        case exp.DPipe():
            return _joined("", [of(node.left), of(node.right)])
        case exp.Cast():
            return _cast(node, of(node.this))
    raise _Unknown


def _held(name: str, table: Table, row: Mapping[str, object]) -> object:
    column = column_of(table, name)
    if not column or column.name not in row:
        raise _Unknown
    value = row[column.name]
    known = isinstance(_witness(column.type), int | Decimal | str)
    if isinstance(value, Decimal) and not value.is_finite():
        raise _Unknown
    # A value of another type can only be copied.
    return value if known or value is None or isinstance(value, SourceType) else _Copy(value)


class _Copy:
    """A value that can only be copied: no operation takes it."""

    def __init__(self, value: object) -> None:
        self.value = value


def _number(text: str) -> int | Decimal:
    if not text.replace(".", "", 1).isdigit():
        raise _Unknown
    return Decimal(text) if "." in text else int(text)


def _numeric(
    operation: Callable[[list[int | Decimal]], int | Decimal], parts: list[object]
) -> object:
    if None in parts:
        return None
    numbers = [part for part in parts if isinstance(part, int | Decimal)]
    if len(numbers) < len(parts):
        raise _Unknown
    with localcontext(prec=200):
        number = operation(numbers)
    exponent = number.as_tuple().exponent if isinstance(number, Decimal) else 0
    if (
        not isinstance(exponent, int)
        or exponent < -_SCALE
        or (isinstance(number, int) and abs(number) >= _BITS)
    ):
        raise _Unknown
    return number


def _text(value: object) -> str:
    if isinstance(value, str | int):
        return str(value)
    raise _Unknown


def _joined(between: str, parts: list[object]) -> object:
    return None if None in parts else between.join(map(_text, parts))


def _cased(change: Callable[[str], str], value: object) -> object:
    """A text in another case; databases differ in letters outside of ASCII."""
    if value is not None and not (isinstance(value, str) and value.isascii()):
        raise _Unknown
    return None if value is None else change(value)


def _cast(node: exp.Expr, value: object) -> object:
    from sqlglot import exp

    to = node.args["to"]
    if isinstance(to, exp.DataType) and not to.expressions:
        if to.this in (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR):
            return None if value is None else _text(value)
        if to.this is exp.DataType.Type.DECIMAL and (
            value is None or isinstance(value, int | Decimal)
        ):
            return None if value is None else Decimal(value)
    raise _Unknown


def completed(
    user: UserTable, dialect: str, row: Row, holds: Callable[[Column, Value], bool]
) -> dict[str, Value]:
    """The row with its computed columns. Where the value is not computed or the column cannot hold
    it, the row keeps its own.
    """
    made = dict(row)
    for name, text in user.computed:
        if name not in row:
            continue
        column = user.table.column(name)
        try:
            computed = _value(expression(text, dialect), user.table, made)
            value = (
                computed.value if isinstance(computed, _Copy) else _assigned(column.type, computed)
            )
        except (_Unknown, InvalidOperation):
            continue
        if holds(column, value):  # type: ignore[arg-type]
            made[name] = value  # type: ignore[assignment]
    return made


def completed_history(
    history: History, users: Iterable[UserTable], complete: Callable[[UserTable, Row], Row]
) -> History:
    """The history with the computed columns of every row, also of tables that it renames."""
    known = {place(user.table): user for user in users if user.computed}
    if not known:
        return history
    events = []
    for event in history.events:
        if (
            isinstance(event, SchemaChange)
            and event.before
            and event.after
            and place(event.before) in known
        ):
            known[place(event.after)] = known[place(event.before)]
        if isinstance(event, RowChange) and (user := known.get(place(event.table))):
            rows = tuple(
                RowImages(*(row and complete(user, row) for row in (r.before, r.after)))
                for r in event.rows
            )
            event = replace(event, rows=rows)
        events.append(event)
    return replace(history, events=tuple(events))
