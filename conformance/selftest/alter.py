"""Changes one compared part of a right output, for `selftest`: exactly the rule that owns the part
must then be broken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import MAX_PREC, Decimal, localcontext
from typing import Any, Final

from conformance.judging.compare import Typed
from conformance.judging.ledger import Site
from conformance.judging.output import OutputRow
from conformance.rules.rules import Aspect
from conformance.selftest.operators.operator import with_image
from generators.model import Side

_INSTEAD_OF_NULL: Final[Mapping[str, Any]] = {
    "keys": ["altered"],
    "types": {"altered": "altered"},
    "commit_time": 1,
}
"""What replaces NULL in fields of the envelope (those of a row beside its images) that are no
text.
"""

_DAY: Final = 86_400_000_000
"""A day in microseconds: what is added to a time, since it leaves the digits below an hour as they
are, for which another rule may be responsible.
"""


def alter(output_rows: Sequence[OutputRow], site: Site, level: int) -> list[OutputRow]:
    """A right decoder's rows of one message, changed in the one part that one comparison of the
    judge (`site`) looks at, so that only the rule which owns that comparison may be broken.

    MISSING takes away the rows with the site's number (all, if no other number is there), EXTRA
    adds a row behind the last, and ACCEPTED gives an INSERT in place of a refusal. Any other aspect
    changes the row with the site's number, and a row that is alone whatever its number.
    """
    match site.aspect:
        case Aspect.MISSING:
            row_numbers = {output_row.row for output_row in output_rows}
            if len(row_numbers) < 2:
                return []
            return [output_row for output_row in output_rows if output_row.row != site.row]
        case Aspect.EXTRA:
            if not output_rows:
                return [OutputRow(0, "ROW", "INSERT")]
            last_number = max(output_row.row or 0 for output_row in output_rows)
            return [*output_rows, replace(output_rows[-1], row=last_number + 1)]
        case Aspect.ACCEPTED:
            return [OutputRow(0, "ROW", "INSERT", after={})]
    if len(output_rows) == 1:
        return [_alter_row(output_rows[0], site, level)]
    return [
        _alter_row(output_row, site, level) if output_row.row == site.row else output_row
        for output_row in output_rows
    ]


def _alter_row(output_row: OutputRow, site: Site, level: int) -> OutputRow:
    """The row, changed in the part that the comparison `site` of the judge looks at: its error,
    kind, op, a field, an image, or a cell of an image.
    """
    match site.aspect:
        case Aspect.CORRUPT:
            return replace(
                output_row, kind="CORRUPT", op=None, before=None, after=None, error="altered"
            )
        case Aspect.KIND:
            return replace(
                output_row, kind="HEARTBEAT" if output_row.kind != "HEARTBEAT" else "BOOTSTRAP"
            )
        case Aspect.OP:
            return replace(output_row, op="TRUNCATE" if output_row.op != "TRUNCATE" else "READ")
        case Aspect.FIELD | Aspect.DIGITS if not site.side:
            value = output_row.fields[site.name]
            if value is None:
                replacement = _INSTEAD_OF_NULL.get(site.name, "altered")
            elif site.name == "commit_time" and site.aspect is Aspect.FIELD:
                replacement = value + _DAY
            else:
                replacement = _change_value(value)
            return replace(output_row, fields={**output_row.fields, site.name: replacement})
    side: Side = site.side or "after"
    image: Mapping[str, Any] | None = output_row.before if side == "before" else output_row.after
    if site.aspect is Aspect.IMAGE:
        return with_image(output_row, side, {} if image is None else None)
    assert image is not None
    changed = dict(image)
    match site.aspect:
        case Aspect.PRESENCE:
            if site.name in changed:
                del changed[site.name]
            else:
                changed[site.name] = None
        case Aspect.NULL:
            changed[site.name] = (
                None
                if changed[site.name] is not None
                else ("altered" if level == 1 else Typed("string", "altered"))
            )
        case Aspect.DIGITS:
            changed[site.name] = replace(changed[site.name], value=changed[site.name].value + 1)
        case Aspect.VALUE:
            value = changed[site.name]
            # A zero date may be NULL at level two; a value of a foreign family is wrong for every
            # type.
            changed[site.name] = (
                Typed("altered", None) if value is None and level == 2 else _change_value(value)
            )
    return with_image(output_row, side, changed)


def _change_value(value: Any) -> Any:
    """A wrong value in place of a right one: of the same type where that is possible, and a text in
    place of NULL.
    """
    match value:
        case None:
            return "altered"
        case Typed(family="timestamp" | "timestamp_ntz" as family, value=int(micros)):
            return Typed(family, micros + _DAY)
        case Typed(family=family, value=inner):
            return Typed(
                family,
                _change_float(inner, family) if isinstance(inner, float) else _change_value(inner),
            )
        case bool():
            return not value
        case int():
            return value + 1
        case Decimal():
            with localcontext(prec=MAX_PREC):
                return value + Decimal((0, (1,), int(value.as_tuple().exponent)))
        case str():
            return f"{value}x"
        case bytes():
            return value + b"x"
        case date():
            return (
                value - timedelta(days=1) if value > date(2000, 1, 1) else value + timedelta(days=1)
            )
        case dict():
            return {**value, "altered": "altered"}
        case list() | tuple():
            return [*value, "altered"]
        case _:
            raise TypeError(f"cannot alter {value!r}")


def _change_float(value: float, family: str) -> float:
    """Another float than `value`. Of 64 bits it is the next one towards 0, and for 0 the smallest
    one. Of 32 bits (`family` "float") it is the one with the other sign, and 1.0 for 0: the next
    double may be the same number once it is rounded to 32 bits. For NaN it is 1.0.
    """
    if value != value:  # NaN, next to which is NaN again
        return 1.0
    if family == "float":
        return -value if value else 1.0
    return math.nextafter(value, 0.0) if value else 5e-324
