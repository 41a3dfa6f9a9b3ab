"""CHECKs that values can honour: bounds and choices of single columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from typing import TYPE_CHECKING, Final, NamedTuple

from generators.model import Column, Logical, SourceType, Table, Value
from generators.sources import databases, oracle
from generators.tables.ddl_text import WordKind, find_column, parse_expression
from generators.tables.ddl_types import literal_value
from generators.tables.schema import Check

if TYPE_CHECKING:
    from sqlglot import exp

_ORDERED: Final = frozenset(
    {
        *(Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE, Logical.DATE),
        *(Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME, Logical.YEAR, Logical.BIT),
    }
)
"""Types that are compared as their canonical values are; a text's order depends on its collation.
"""

_FLIPPED: Final = {"gt": "lt", "gte": "lte", "lt": "gt", "lte": "gte", "eq": "eq"}
"""By comparison: the one that says the same when its sides are exchanged."""


def read_checks(
    table: Table, dialect: str, condition_text: str, value_column: str, note: Callable[[str], None]
) -> list[Check]:
    """The CHECKs that a condition makes, one for each column that it gives bounds or choices; its
    other parts are noted. `value_column` is the column that VALUE stands for in a domain's
    condition.
    """
    condition = parse_expression(condition_text, dialect)
    if condition is None:
        note("left out: not understood")
        return []
    checks: dict[str, Check] = {}
    unread_parts = 0
    for part in _conjuncts(condition):
        check = _ConditionReader(table, value_column, condition_text).read_comparison(part)
        combined = check and (
            _intersect(checks[check.column], check) if check.column in checks else check
        )
        if check is None or combined is None:
            unread_parts += 1
        else:
            assert combined is not None
            checks[check.column] = combined
    if unread_parts:
        note(
            "left out in part: values do not honour all of it"
            if checks
            else "left out: values do not honour it"
        )
    return list(checks.values())


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that a CHECK joins by AND, without their parentheses."""
    from sqlglot import exp

    node = node.unnest()
    if isinstance(node, exp.And):
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield node


def _intersect(first: Check, second: Check) -> Check | None:
    """The CHECK that says as much as both of these CHECKs of one column; None if no single one
    does.
    """
    if first.choices or second.choices:
        return None
    low = max((c.low for c in (first, second) if c.low is not None), default=None, key=_sort_key)
    high = min((c.high for c in (first, second) if c.high is not None), default=None, key=_sort_key)
    return Check(first.column, first.condition, low, high)


def _sort_key(value: Value) -> tuple[int, int | float | Decimal]:
    """A key by which the values of one column, numbers or dates, are sorted."""
    assert isinstance(value, int | float | Decimal | date)
    return (0, value.toordinal()) if isinstance(value, date) else (1, value)


class _ConditionReader:
    """Reads the comparisons of one condition."""

    def __init__(self, table: Table, value_column: str, condition_text: str) -> None:
        self.table, self.value_column, self.condition_text = table, value_column, condition_text

    def read_comparison(self, node: exp.Expr) -> Check | None:
        """The CHECK that a comparison of one column with constants makes (BETWEEN, IN, `<`, or
        choices of one column joined by OR); None for anything else.
        """
        from sqlglot import exp

        node = node.unnest()
        match node:
            case exp.Between() if not node.args.get("symmetric"):
                return self._bounds(
                    node.this, ("gte", node.args["low"]), ("lte", node.args["high"])
                )
            case exp.In() if node.args.get("query") is None and node.expressions:
                return self._choices(node.this, node.expressions)
            case exp.EQ() if isinstance(node.expression.unnest(), exp.Any):
                array = _unwrap(node.expression.unnest().this)
                return (
                    self._choices(node.this, array.expressions)
                    if isinstance(array, exp.Array)
                    else None
                )
            case exp.Or():
                first_choices, second_choices = (
                    self.read_comparison(node.left),
                    self.read_comparison(node.right),
                )
                if (
                    first_choices
                    and second_choices
                    and first_choices.column == second_choices.column
                    and first_choices.choices
                    and second_choices.choices
                ):
                    return Check(
                        first_choices.column,
                        self.condition_text,
                        choices=tuple(
                            dict.fromkeys((*first_choices.choices, *second_choices.choices))
                        ),
                    )
                return None
            case exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.EQ():
                compared, constant, operation = node.left, node.right, node.key
                if self._column(compared) is None:
                    compared, constant, operation = constant, compared, _FLIPPED[operation]
                return (
                    self._choices(compared, [constant])
                    if operation == "eq"
                    else self._bounds(compared, (operation, constant))
                )
        return None

    def _column(self, node: exp.Expr) -> Column | None:
        """The table's column that this expression is; None for any other expression."""
        from sqlglot import exp

        cast = isinstance(node.unnest(), exp.Cast)
        node = _unwrap(node)
        if not isinstance(node, exp.Column):
            return None
        name = (
            self.value_column if self.value_column and node.name.lower() == "value" else node.name
        )
        column = find_column(self.table, name)
        # a cast of anything but a text may change the value
        return column if column and (not cast or column.type.logical is Logical.TEXT) else None

    def _choices(self, side: exp.Expr, constants: list[exp.Expr]) -> Check | None:
        """The CHECK that the column on this side has one of the constants; None if the side is no
        column, or a constant is no value of its type.
        """
        column = self._column(side)
        if column is None:
            return None
        values = [_constant(column.type, constant) for constant in constants]
        if any(value is None or not databases.fits(column.type, value) for value in values):
            return None
        return Check(column.name, self.condition_text, choices=tuple(dict.fromkeys(values)))

    def _bounds(self, side: exp.Expr, *bounds: tuple[str, exp.Expr]) -> Check | None:
        """The CHECK that the column on this side lies within bounds, each a comparison (`gt`, `lte`
        ...) and a constant; None if the side is no column with an order, or a bound is not
        understood. The limits of the CHECK are included: `_bound` makes of `> 5` the next value.
        """
        column = self._column(side)
        if column is None or column.type.logical not in _ORDERED:
            return None
        low: Value = None
        high: Value = None
        for operation, constant in bounds:
            limit = _bound(column.type, operation, constant)
            if limit is None:
                return None
            if operation in ("lt", "lte"):
                high = limit
            else:
                low = limit
        return Check(column.name, self.condition_text, low, high)


def _unwrap(node: exp.Expr) -> exp.Expr:
    """A node without parentheses, casts and introducers of character sets."""
    from sqlglot import exp

    while isinstance(node, exp.Paren | exp.Cast | exp.Introducer):
        node = node.expression if isinstance(node, exp.Introducer) else node.this
    return node


def _constant(type: SourceType, node: exp.Expr) -> Value:
    """The value that a constant of an expression has in a column of the type; None for anything
    else.
    """
    literal = _literal(node)
    return literal_value(type, *literal) if literal else None


_ISO_FORMATS: Final = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f")
"""Formats of moments whose texts mean the same to every reader of literals: Oracle's TIMESTAMP
literal, and TO_DATE and STR_TO_DATE of such a text.
"""


class _Constant(NamedTuple):
    """A constant of an expression: its text, with the sign, and what it is."""

    text: str
    kind: WordKind


def _literal(node: exp.Expr) -> _Constant | None:
    """The constant that a node of an expression is, without casts around it; None for any other
    node.
    """
    from sqlglot import exp

    node = _unwrap(node)
    sign = ""
    if isinstance(node, exp.Neg):
        node = _unwrap(node.this)
        sign = "-"
    if isinstance(node, exp.DateStrToDate):
        node = node.this
    if isinstance(node, exp.StrToTime | exp.StrToDate) and node.args["format"].name in _ISO_FORMATS:
        node = node.this
    if isinstance(node, exp.Boolean):
        return _Constant(str(int(node.this)), "number")
    if isinstance(node, exp.National):
        return _Constant(node.name, "string")
    if isinstance(node, exp.Literal):
        return _Constant(f"{sign}{node.name}", "string" if node.is_string else "number")
    return None


def _bound(type: SourceType, operation: str, node: exp.Expr) -> Value:
    """The greatest or the least value of the type for which a comparison (`lt`, `lte`, `gt` or
    `gte`) with the constant `node` holds; None if it is unknown.
    """
    has_decimal_steps = type.logical in (Logical.INT, Logical.YEAR, Logical.BIT, Logical.DECIMAL)
    literal = _literal(node)
    if literal is None:
        return None
    if has_decimal_steps:
        value: Value = _finite_number(literal.text)
    else:
        value = literal_value(type, *literal)
    step = -1 if operation[0] == "l" else 1
    included = operation.endswith("e")
    match value:
        case Decimal():
            # without a declared scale the bound is one of ten digits
            is_free = (type.scale or 0) > 1000 or oracle.is_free(type)
            unit = Decimal(1).scaleb(-min(type.scale or 0, 10 if is_free else 1000))
            with localcontext(prec=MAX_PREC_OF_NUMERIC):
                nearest_step = value.quantize(unit, ROUND_FLOOR if step < 0 else ROUND_CEILING)
                nearest_step += 0 if included or nearest_step != value else step * unit
            if type.logical is Logical.DECIMAL:
                return nearest_step
            return min(max(int(nearest_step), type.low or 0), type.high or 0)
        case int() if not included:
            return value + step * int(10 ** (6 - type.fsp))
        case float() if not math.isfinite(value):
            return None
        case float() if not included:
            return math.nextafter(value, math.inf * step)
        case date() if not included:
            edge = date.max if step > 0 else date.min
            return None if value == edge else value + timedelta(days=step)
    return value if isinstance(value, int | float | date) else None


def _finite_number(number_text: str) -> Decimal | None:
    """The number that a text spells; None for NaN, an infinity, a text that is no number, and a
    number of more digits than a bound can have.
    """
    try:
        number = Decimal(number_text)
    except ArithmeticError:
        return None
    is_bounded = number.is_finite() and abs(number.adjusted()) < MAX_PREC_OF_NUMERIC // 2
    return number if is_bounded else None


MAX_PREC_OF_NUMERIC: Final = 2000
"""Digits that are enough for a bound: numeric has 1000 before and after the point."""
