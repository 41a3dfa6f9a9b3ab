"""Dates and times that Debezium writes as structs of their parts (debezium#structured-times), as
typed Spark expressions.

A cell is the JSON of an object with `year`, `month`, `day`, `hour`, `minute`, `second`, `nanos`,
`offsetSeconds`: of these the ones that the type has. This gives SQL text, in which nothing raises.
An object without a part that the type needs, such as that of an infinite date, is NULL, and so is
one with a part out of its range.
"""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.families.sql import let

_SCHEMA: Final = ", ".join(
    f"{name} int"
    for name in ("year", "month", "day", "hour", "minute", "second", "nanos", "offsetSeconds")
)
_YEAR: Final = "CASE WHEN p.year BETWEEN 1 AND 9999 THEN right(concat('000', p.year), 4) END"
_MONTH: Final = "CASE WHEN p.month BETWEEN 1 AND 12 THEN right(concat('0', p.month), 2) END"
_DAY: Final = "CASE WHEN p.day BETWEEN 1 AND 31 THEN right(concat('0', p.day), 2) END"
_DATE: Final = f"concat({_YEAR}, '-', {_MONTH}, '-', {_DAY})"
"""SQL of the ISO text of a date."""
_IS_CLOCK: Final = (
    "p.hour BETWEEN 0 AND 23 AND p.minute BETWEEN 0 AND 59 AND p.second BETWEEN 0 AND 59 AND"
    " p.nanos BETWEEN 0 AND 999999999"
)
_MICROS: Final = (
    f"CASE WHEN {_IS_CLOCK} THEN ((p.hour * 60L + p.minute) * 60L + p.second) * 1000000L + p.nanos"
    " DIV 1000 END"
)
"""SQL of the microseconds since midnight; digits of nanoseconds beyond them are cut off."""


def _parsed(cell_text: str, body: str) -> str:
    """SQL of `body`, in which `p` is the struct of the parts that the JSON object `cell_text`
    has.
    """
    return let(f"from_json({cell_text}, '{_SCHEMA}')", "p", body)


def date_of_parts(cell_text: str) -> str:
    """SQL of a date from the text of its object."""
    return _parsed(cell_text, f"try_cast({_DATE} AS date)")


def micros_of_parts(cell_text: str) -> str:
    """SQL of the microseconds since midnight from the text of a time's object."""
    return _parsed(cell_text, _MICROS)


def wall_clock_of_parts(cell_text: str) -> str:
    """SQL of a date and time without zone from the text of its object."""
    midnight = f"try_cast({_DATE} AS timestamp_ntz)"
    return _parsed(cell_text, f"timestampadd(MICROSECOND, {_MICROS}, {midnight})")


def instant_of_parts(cell_text: str) -> str:
    """SQL of a moment from the text of its object, which has the distance from UTC in seconds."""
    midnight = f"try_cast(concat({_DATE}, 'T00:00:00Z') AS timestamp)"
    micros = f"{_MICROS} - p.offsetSeconds * 1000000L"
    return _parsed(cell_text, f"timestampadd(MICROSECOND, {micros}, {midnight})")
