"""Values of generated columns: expressions of texts, integers and decimals, as MySQL and PostgreSQL
both compute them.

Known are columns, constants, `+`, `-`, `*`, CONCAT, CONCAT_WS, `||` of PostgreSQL, UPPER, LOWER,
COALESCE, IFNULL, and casts of PostgreSQL to text and numeric. Anything else, and any value on which
databases may differ, is not computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal, Inexact, InvalidOperation, localcontext
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
from generators.tables.ddl_text import find_column, parse_expression
from generators.tables.schema import UserTable, table_name

if TYPE_CHECKING:
    from sqlglot import exp

_TEXTS: Final = frozenset({"varchar", "text", "tinytext", "mediumtext", "longtext"})
"""Types whose values are texts to the last blank."""
_INTEGER_LIMIT: Final = 1 << 64
"""Integers beyond 64 bits, of which databases make different types, are not computed."""
_MOST_SCALE: Final = 30
"""Digits behind the point that every database keeps."""
_DIGITS: Final = 200
"""The most digits of a number that is computed."""


class _Unknown(Exception):
    """Raised where the value of an expression is not computed: an operation or a column's type is
    not known here, or databases may give different values.
    """


def is_computable(table: Table, column: Column, expression_text: str, dialect: str) -> bool:
    """Whether the expression of a generated column can be computed, tried on sample values of the
    columns' types.
    """
    sample_row = {c.name: _sample_value(c.type) for c in table.columns}
    try:
        _assign(
            column.type,
            _evaluate(parse_expression(expression_text, dialect), table, sample_row, dialect),
        )
    except (_Unknown, RecursionError):  # nested too deeply for us, not for the database
        return False
    return True


def _sample_value(type: SourceType) -> object:
    """A value with which a generated column's expression is tried: a number, a text, or, for a type
    that no expression may use, the type itself, which is no value.
    """
    if type.logical is Logical.INT and not type.zerofill:
        return 1
    if type.logical is Logical.DECIMAL and not type.zerofill:
        return Decimal(1)
    return "a" if type.name in _TEXTS else type


def _assign(type: SourceType, value: object) -> object:
    """The computed value as a column of the type keeps it: a number is rounded half up to the
    column's scale. Raises _Unknown where databases may keep different values, and for more than
    _DIGITS digits.
    """
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
            return int(_round(value, 0))
        case int() | Decimal(), Logical.DECIMAL if type.scale is not None:
            rounded = _round(value, type.scale)
            return rounded or rounded.copy_abs()  # databases have no negative zero
    raise _Unknown


def _round(number: int | Decimal, scale: int) -> Decimal:
    """The number rounded half up to `scale` decimal places. Raises _Unknown for a result of more
    than _DIGITS digits.
    """
    with localcontext(prec=_DIGITS):
        try:
            return Decimal(number).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        except InvalidOperation:
            raise _Unknown from None


def _evaluate(
    node: exp.Expr | None, table: Table, cells: Mapping[str, object], dialect: str
) -> object:
    """The value of a generated column's expression, or of a part of it, on a row. Raises _Unknown
    where it is not computed.
    """
    from sqlglot import exp

    def evaluate(part: exp.Expr) -> object:
        """The value of a part of the expression on the same row."""
        return _evaluate(part, table, cells, dialect)

    match node:
        case exp.Paren():
            return evaluate(node.this)
        case exp.Introducer():
            return evaluate(node.expression)
        case exp.Null():
            return None
        case exp.Literal():
            return node.this if node.is_string else _number(node.this)
        case exp.Column() if not node.table:
            return _column_value(node.name, table, cells)
        case exp.Neg():
            return _compute(lambda operands: -operands[0], [evaluate(node.this)])
        case exp.Add():
            return _compute(
                lambda operands: operands[0] + operands[1],
                [evaluate(node.left), evaluate(node.right)],
            )
        case exp.Sub():
            return _compute(
                lambda operands: operands[0] - operands[1],
                [evaluate(node.left), evaluate(node.right)],
            )
        case exp.Mul():
            return _compute(
                lambda operands: operands[0] * operands[1],
                [evaluate(node.left), evaluate(node.right)],
            )
        case exp.Upper():
            return _change_case(str.upper, evaluate(node.this))
        case exp.Lower():
            return _change_case(str.lower, evaluate(node.this))
        case exp.Coalesce():
            values = [evaluate(part) for part in (node.this, *node.expressions)]
            return next((value for value in values if value is not None), None)
        case exp.ConcatWs():
            separator, *parts = (evaluate(part) for part in node.expressions)
            if separator is None:
                return None
            return _concatenate(_as_text(separator), [part for part in parts if part is not None])
        case exp.Concat():
            return _concatenate("", [evaluate(part) for part in node.expressions])
        case exp.DPipe():
            return _concatenate("", [evaluate(node.left), evaluate(node.right)])
        # DECIMAL without digits is decimal(10,0) in MySQL.
        case exp.Cast() if dialect == "postgresql":
            return _cast(node, evaluate(node.this))
    raise _Unknown


def _column_value(name: str, table: Table, cells: Mapping[str, object]) -> object:
    """The value of the column that an expression names by `name`. One of a type with which nothing
    is computed is a _Copy, which may only be copied. Raises _Unknown for an unknown column, and for
    NaN and infinities.
    """
    column = find_column(table, name)
    if not column or column.name not in cells:
        raise _Unknown
    value = cells[column.name]
    is_computable_type = isinstance(_sample_value(column.type), int | Decimal | str)
    if isinstance(value, Decimal) and not value.is_finite():
        raise _Unknown
    if is_computable_type or value is None or isinstance(value, SourceType):
        return value
    return _Copy(value)


class _Copy:
    """A value that can only be copied: no operation takes it."""

    def __init__(self, value: object) -> None:
        self.value = value


def _number(digits: str) -> int | Decimal:
    """The number of a constant in an expression, exact. Raises _Unknown for one that is not digits
    with at most one point.
    """
    if not digits.replace(".", "", 1).isdecimal():
        raise _Unknown
    return Decimal(digits) if "." in digits else int(digits)


def _compute(
    operation: Callable[[list[int | Decimal]], int | Decimal], parts: list[object]
) -> object:
    """The exact result of an arithmetic operation; None if an operand is NULL. Raises _Unknown for
    a result that the database may round, or that has more than _DIGITS digits.
    """
    if None in parts:
        return None
    numbers = [part for part in parts if isinstance(part, int | Decimal)]
    if len(numbers) < len(parts):
        raise _Unknown
    with localcontext(prec=_DIGITS) as context:
        context.traps[Inexact] = True
        try:
            number = operation(numbers)
        except Inexact:
            raise _Unknown from None
    exponent = number.as_tuple().exponent if isinstance(number, Decimal) else 0
    if (
        not isinstance(exponent, int)
        or exponent < -_MOST_SCALE
        or (isinstance(number, int) and abs(number) >= _INTEGER_LIMIT)
    ):
        raise _Unknown
    return number


def _as_text(value: object) -> str:
    """The text that both databases make of a text or an integer. Raises _Unknown for other
    values.
    """
    if isinstance(value, str | int):
        return str(value)
    raise _Unknown


def _concatenate(separator: str, parts: list[object]) -> object:
    """The texts of the parts, with the separator between them; None if a part is NULL. Raises
    _Unknown for a part that is neither a text nor an integer.
    """
    return None if None in parts else separator.join(map(_as_text, parts))


def _change_case(change: Callable[[str], str], value: object) -> object:
    """The text in the case that `change` gives; None for NULL. Raises _Unknown for letters outside
    of ASCII, in which databases differ.
    """
    if value is not None and not (isinstance(value, str) and value.isascii()):
        raise _Unknown
    return None if value is None else change(value)


def _cast(node: exp.Expr, value: object) -> object:
    """The value of PostgreSQL's CAST to a text or a numeric without precision. Raises _Unknown for
    other casts.
    """
    from sqlglot import exp

    to = node.args["to"]
    if isinstance(to, exp.DataType) and not to.expressions:
        if to.this in (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR):
            return None if value is None else _as_text(value)
        if to.this is exp.DataType.Type.DECIMAL and (
            value is None or isinstance(value, int | Decimal)
        ):
            return None if value is None else Decimal(value)
    raise _Unknown


def complete_row(
    user: UserTable, dialect: str, cells: Row, can_hold: Callable[[Column, Value], bool]
) -> dict[str, Value]:
    """The row with the values of its generated columns as their expressions give them. A column
    keeps the value that the row has if its expression is not computed, or if the column cannot hold
    the result.
    """
    completed_cells = dict(cells)
    for name, expression_text in user.computed:
        if name not in cells:
            continue
        column = user.table.column(name)
        try:
            computed = _evaluate(
                parse_expression(expression_text, dialect), user.table, completed_cells, dialect
            )
            value = (
                computed.value if isinstance(computed, _Copy) else _assign(column.type, computed)
            )
        except _Unknown:
            continue
        if can_hold(column, value):  # type: ignore[arg-type]
            completed_cells[name] = value  # type: ignore[assignment]
    return completed_cells


def complete_history(
    history: History, users: Iterable[UserTable], complete: Callable[[UserTable, Row], Row]
) -> History:
    """The history with the values of generated columns in every row, as `complete` gives them for a
    row of a table; a table that a statement renames keeps its generated columns.
    """
    users_by_name = {table_name(user.table): user for user in users if user.computed}
    if not users_by_name:
        return history
    events = []
    for event in history.events:
        if (
            isinstance(event, SchemaChange)
            and event.before
            and event.after
            and table_name(event.before) in users_by_name
        ):
            users_by_name[table_name(event.after)] = users_by_name[table_name(event.before)]
        if isinstance(event, RowChange) and (user := users_by_name.get(table_name(event.table))):
            images = tuple(
                RowImages(
                    image.before and complete(user, image.before),
                    image.after and complete(user, image.after),
                )
                for image in event.rows
            )
            event = replace(event, rows=images)
        events.append(event)
    return replace(history, events=tuple(events))
