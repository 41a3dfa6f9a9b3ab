"""CHECKs that values can honour: bounds and choices of single columns."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from typing import TYPE_CHECKING, Final

from generators.model import Column, Logical, SourceType, Table, Value
from generators.sources import registry as sources
from generators.tables.ddl_text import column_of, expression
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


def checks_of(
    table: Table, dialect: str, text: str, value_column: str, note: Callable[[str], None]
) -> list[Check]:
    """The bounds and choices of a condition, one CHECK per column; notes the other parts.

    `value_column` is the column that VALUE of a domain's condition stands for.
    """
    condition = expression(text, dialect)
    if condition is None:
        note("left out: not understood")
        return []
    checks: dict[str, Check] = {}
    missed = 0
    for part in _conjuncts(condition):
        made = _Reading(table, value_column, text).check(part)
        both = made and (_narrowed(checks[made.column], made) if made.column in checks else made)
        if made is None or both is None:
            missed += 1
        else:
            assert both is not None
            checks[made.column] = both
    if missed:
        note(
            "left out in part: values do not honour all of it"
            if checks
            else "left out: values do not honour it"
        )
    return list(checks.values())


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    from sqlglot import exp

    node = node.unnest()
    if isinstance(node, exp.And):
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield node


def _narrowed(check: Check, other: Check) -> Check | None:
    """Both CHECKs of a column as one; None if no single CHECK says the same."""
    if check.choices or other.choices:
        return None
    low = max((c.low for c in (check, other) if c.low is not None), default=None, key=_order)
    high = min((c.high for c in (check, other) if c.high is not None), default=None, key=_order)
    return Check(check.column, check.text, low, high)


def _order(value: Value) -> tuple[int, int | float | Decimal]:
    assert isinstance(value, int | float | Decimal | dt.date)
    return (0, value.toordinal()) if isinstance(value, dt.date) else (1, value)


class _Reading:
    """Reads the comparisons of one condition."""

    def __init__(self, table: Table, value_column: str, text: str) -> None:
        self.table, self.value_column, self.text = table, value_column, text

    def check(self, node: exp.Expr) -> Check | None:
        """A comparison of one column with constants; None for anything else."""
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
                array = _bare(node.expression.unnest().this)
                return (
                    self._choices(node.this, array.expressions)
                    if isinstance(array, exp.Array)
                    else None
                )
            case exp.Or():
                left, right = self.check(node.left), self.check(node.right)
                if (
                    left
                    and right
                    and left.column == right.column
                    and left.choices
                    and right.choices
                ):
                    return Check(
                        left.column,
                        self.text,
                        choices=tuple(dict.fromkeys((*left.choices, *right.choices))),
                    )
                return None
            case exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.EQ():
                side, constant, operation = node.left, node.right, node.key
                if self._column(side) is None:
                    side, constant, operation = constant, side, _FLIPPED[operation]
                return (
                    self._choices(side, [constant])
                    if operation == "eq"
                    else self._bounds(side, (operation, constant))
                )
        return None

    def _column(self, node: exp.Expr) -> Column | None:
        from sqlglot import exp

        cast = isinstance(node.unnest(), exp.Cast)
        node = _bare(node)
        if not isinstance(node, exp.Column):
            return None
        name = (
            self.value_column if self.value_column and node.name.lower() == "value" else node.name
        )
        same = column_of(self.table, name)
        # a cast of anything but a text may change the value
        return same if same and (not cast or same.type.logical is Logical.TEXT) else None

    def _choices(self, side: exp.Expr, constants: list[exp.Expr]) -> Check | None:
        column = self._column(side)
        if column is None:
            return None
        values = [_constant(column.type, constant) for constant in constants]
        if any(value is None or not sources.fits(column.type, value) for value in values):
            return None
        return Check(column.name, self.text, choices=tuple(dict.fromkeys(values)))

    def _bounds(self, side: exp.Expr, *bounds: tuple[str, exp.Expr]) -> Check | None:
        column = self._column(side)
        if column is None or column.type.logical not in _ORDERED:
            return None
        limits: dict[str, Value] = {"l": None, "g": None}
        for operation, constant in bounds:
            limits[operation[0]] = _bound(column.type, operation, constant)
            if limits[operation[0]] is None:
                return None
        return Check(column.name, self.text, limits["g"], limits["l"])


def _bare(node: exp.Expr) -> exp.Expr:
    """A node without parentheses, casts and introducers of character sets."""
    from sqlglot import exp

    while isinstance(node, exp.Paren | exp.Cast | exp.Introducer):
        node = node.expression if isinstance(node, exp.Introducer) else node.this
    return node


def _constant(type: SourceType, node: exp.Expr) -> Value:
    """The canonical value of a constant; None for what is no constant of the type."""
    literal = _literal(node)
    return literal_value(type, *literal) if literal else None


def _literal(node: exp.Expr) -> tuple[str, str] | None:
    """The text of a constant, and whether it is a string or a number."""
    from sqlglot import exp

    node, sign = _bare(node), ""
    if isinstance(node, exp.Neg):
        node, sign = _bare(node.this), "-"
    if isinstance(node, exp.Boolean):
        return str(int(node.this)), "number"
    return (
        (f"{sign}{node.name}", "string" if node.is_string else "number")
        if isinstance(node, exp.Literal)
        else None
    )


def _bound(type: SourceType, operation: str, node: exp.Expr) -> Value:
    """The first or last value of the type that satisfies a comparison; None if unknown."""
    grid = type.logical in (Logical.INT, Logical.YEAR, Logical.BIT, Logical.DECIMAL)
    literal = _literal(node)
    if literal is None:
        return None
    if grid:
        try:
            value: Value = Decimal(literal[0])
        except ArithmeticError:
            return None
    else:
        value = literal_value(type, *literal)
    step = -1 if operation[0] == "l" else 1
    included = operation.endswith("e")
    match value:
        case Decimal():
            # without a declared scale the bound is one of ten digits
            unit = Decimal(1).scaleb(
                -min(type.scale or 0, 10 if (type.scale or 0) > 1000 else 1000)
            )
            with localcontext(prec=MAX_PREC_OF_NUMERIC):
                near = value.quantize(unit, ROUND_FLOOR if step < 0 else ROUND_CEILING)
                near += 0 if included or near != value else step * unit
            if type.logical is Logical.DECIMAL:
                return near
            return min(max(int(near), type.low or 0), type.high or 0)
        case int() if not included:
            return value + step * int(10 ** (6 - type.fsp))
        case float() if not included:
            return math.nextafter(value, math.inf * step)
        case dt.date() if not included:
            return value + dt.timedelta(days=step)
    return value if isinstance(value, int | float | dt.date) else None


MAX_PREC_OF_NUMERIC: Final = 2000
"""Digits that are enough for a bound: numeric has 1000 before and after the point."""
