"""Alters one compared field of a correct output, for `selftest`: only the rule that owns it must
break.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from conformance.judging.compare import Typed
from conformance.judging.judge import Site
from conformance.judging.output import OutputRow
from conformance.rules.rules import Aspect
from conformance.selftest.operators.operator import with_image

_FILLED: Final[Mapping[str, Any]] = {
    "keys": ["altered"],
    "types": {"altered": "altered"},
    "commit_time": 1,
}
"""Replacements for NULL in envelope fields that are no text."""

_DAY: Final = 86_400_000_000
"""What moves a time and leaves its digits below an hour as they are, which may be another rule's.
"""


def alter(rows: Sequence[OutputRow], site: Site, level: int) -> list[OutputRow]:
    """The message's rows with only the site's aspect broken."""
    match site.aspect:
        case Aspect.MISSING:
            return [r for r in rows if r.row != site.row] if len({r.row for r in rows}) > 1 else []
        case Aspect.EXTRA:
            last = max((r.row or 0 for r in rows), default=-1)
            return [
                *rows,
                replace(rows[-1], row=last + 1) if rows else OutputRow(0, "ROW", "INSERT"),
            ]
        case Aspect.ACCEPTED:
            return [OutputRow(0, "ROW", "INSERT", after={})]
    return [_altered(r, site, level) if r.row == site.row or len(rows) == 1 else r for r in rows]


def _altered(row: OutputRow, site: Site, level: int) -> OutputRow:
    match site.aspect:
        case Aspect.CORRUPT:
            return replace(row, kind="CORRUPT", op=None, before=None, after=None, error="altered")
        case Aspect.KIND:
            return replace(row, kind="HEARTBEAT" if row.kind != "HEARTBEAT" else "BOOTSTRAP")
        case Aspect.OP:
            return replace(row, op="TRUNCATE" if row.op != "TRUNCATE" else "READ")
        case Aspect.FIELD | Aspect.DIGITS if not site.side:
            held = row.fields[site.name]
            moved = (
                held + _DAY
                if site.name == "commit_time" and site.aspect is Aspect.FIELD and held is not None
                else _other(held)
            )
            other = _FILLED.get(site.name, "altered") if held is None else moved
            return replace(row, fields={**row.fields, site.name: other})
    image: Mapping[str, Any] | None = row.before if site.side == "before" else row.after
    if site.aspect is Aspect.IMAGE:
        return with_image(row, site.side, {} if image is None else None)
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
            held = changed[site.name]
            # A zero date may be NULL at level two; a value of a foreign family is wrong for every
            # type.
            changed[site.name] = (
                Typed("altered", None) if held is None and level == 2 else _other(held)
            )
    return with_image(row, site.side, changed)


def _other(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case None:
            return "altered"
        case Typed(family="timestamp" | "timestamp_ntz" as family, value=int(micros)):
            return Typed(family, micros + _DAY)
        case Typed(family=family, value=inner):
            return Typed(
                family, _other_float(inner, family) if isinstance(inner, float) else _other(inner)
            )
        case bool():
            return not value
        case int():
            return value + 1
        case Decimal():
            return value + Decimal(1).scaleb(int(value.as_tuple().exponent))
        case str():
            return f"{value}x"
        case bytes():
            return value + b"x"
        case dt.date():
            return (
                value - dt.timedelta(days=1)
                if value > dt.date(2000, 1, 1)
                else value + dt.timedelta(days=1)
            )
        case dict():
            return {**value, "altered": "altered"}
        case list() | tuple():
            return [*value, "altered"]
        case _:
            raise TypeError(f"cannot alter {value!r}")


def _other_float(value: float, family: str) -> float:
    if value != value:  # NaN, next to which is NaN again
        return 1.0
    if family == "float":
        return -value if value else 1.0
    return math.nextafter(value, 0.0) if value else 5e-324
