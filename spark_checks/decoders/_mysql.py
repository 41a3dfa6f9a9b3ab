"""MySQL's text forms as typed Spark expressions, one per logical type (DESIGN 4; reference/ticdc.md 2.1, reference/canal.md 3.2).

`typed` gives NULL for SQL NULL, for a text that is not of the type, and for the zero dates, which no calendar type holds;
`misfit` tells the second from the others. Both are native expressions whose results do not depend on the session's time zone,
ANSI mode or case sensitivity. Where a cheap test of the text's shape says as much as a pattern, it is used: patterns cost more
than the casts that they guard.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from generators.model import Logical, SourceType

REPLACEMENT: Final = "\ufffd"
PLAIN_STRING_CODES: Final = (1, 12)
"""java.sql.Types CHAR and VARCHAR: with them a binary column stands on the wire as text in UTF-8 (reference/ticdc.md 2.2, 2.4)."""

_ZERO_DATE: Final = r"^(0000-\d\d-\d\d|\d{4}-00-\d\d|\d{4}-\d\d-00)"
_ZERO_FORMS: Final = {
    Logical.DATE: _ZERO_DATE + "$",
    Logical.DATETIME: _ZERO_DATE + r" \d\d:\d\d:\d\d(\.\d{1,6})?$",
    Logical.TIMESTAMP: _ZERO_DATE + r" \d\d:\d\d:\d\d(\.\d{1,6})?$",
}
_TIME: Final = r"^(?!-?838:59:59\.0*[1-9])-?([0-7]?\d\d|8[0-2]\d|83[0-8]):[0-5]\d:[0-5]\d(\.\d{1,6})?$"
_JSON_SCALAR: Final = r"^(-?\d[0-9.eE+-]*|true|false|null|)$"


def typed(text: Column, kind: SourceType, time_zone: str = "UTC", code: Column | None = None) -> Column:
    """The value of a cell's text as `kind.spark`; `time_zone` is the zone of TIMESTAMP texts, `code` the cell's sqlType."""
    match kind.logical:
        case Logical.INT | Logical.YEAR | Logical.ENUM | Logical.SET:
            value = _integer(text, kind)
            return F.when(value.isin(0) | value.between(1901, 2155), value) if kind.logical is Logical.YEAR else value
        case Logical.BIT:
            if kind.spark == "boolean":
                return F.when(text.isin("1", "true"), True).when(text.isin("0", "false"), False)
            return _integer(text, kind)
        case Logical.DECIMAL:
            return _decimal(text, kind)
        case Logical.FLOAT | Logical.DOUBLE:
            return _real(text, kind)
        case Logical.TEXT:
            return text
        case Logical.BINARY:
            return _binary(text, code)
        case Logical.DATE:
            shape = (F.length(text) == 10) & _is(text, 5, "-") & _is(text, 8, "-") & ~text.startswith("0000")
            return F.when(shape, text.try_cast("date"))
        case Logical.DATETIME:
            return F.when(_wall_clock(text), text.try_cast("timestamp_ntz"))
        case Logical.TIMESTAMP:
            return _timestamp(text, time_zone)
        case Logical.TIME:
            return F.when(text.rlike(_TIME), text)
        case Logical.JSON:
            ends = F.concat(F.substring(text, 1, 1), F.substring(text, -1, 1))
            return F.when(ends.isin("{}", "[]", '""') | text.rlike(_JSON_SCALAR), text)


def misfit(text: Column, value: Column, kind: SourceType) -> Column:
    """Whether `value`, made of `text` by `typed`, is NULL because the text is not of the type."""
    if kind.logical is Logical.TEXT:
        return F.lit(False)
    lost = text.isNotNull() & value.isNull()
    zero = _ZERO_FORMS.get(kind.logical)
    return lost & ~text.rlike(zero) if zero else lost


def _integer(text: Column, kind: SourceType) -> Column:
    """An integer in its domain; Spark's type may be wider than the domain."""
    low, high = kind.low or 0, kind.high or 0
    if kind.spark.startswith("decimal"):
        value = _exact(text, 20, 0)
    else:
        bits = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}[kind.spark]
        value = text.try_cast(kind.spark)
        if (low, high) == (-(1 << bits - 1), (1 << bits - 1) - 1):
            return value
    return F.when(value.between(F.lit(low), F.expr(f"{high}{'BD' if high >> 63 else 'L'}")), value)


def _exact(text: Column, precision: int, scale: int) -> Column:
    """decimal(precision, scale) when the text fits without rounding, which try_cast would do silently."""
    value = text.try_cast(f"decimal({precision},{scale})")
    wide = text.try_cast(f"decimal(38,{38 - precision + scale})")
    point = F.instr(text, ".")
    short = (point == 0) | (F.length(text) - point <= scale)
    plain = ~F.contains(text, F.lit("E")) & ~F.contains(text, F.lit("e"))
    zeros = F.length(F.rtrim(text, F.lit("0"))) - point <= scale
    return F.when((short | zeros) & plain, value).when(~plain & (wide == value), value)


def _decimal(text: Column, kind: SourceType) -> Column:
    precision, scale = kind.precision or 0, kind.scale or 0
    if precision > 38:
        sign = "" if kind.unsigned else "-?"
        return F.when(text.rlike(rf"^{sign}0*\d{{1,{precision - scale}}}(\.\d{{0,{scale}}}0*)?$"), text)
    value = _exact(text, precision, scale)
    return F.when(value >= 0, value) if kind.unsigned else value


def _real(text: Column, kind: SourceType) -> Column:
    """A finite float; Java's suffixes (`1d`) and names (`NaN`) end in a letter, an overflow is infinite."""
    value = text.try_cast(kind.spark)
    finite = (F.substring(text, -1, 1) <= "9") & (F.abs(value) < F.lit(float("inf")).cast(kind.spark))
    return F.when(finite & (value >= 0) if kind.unsigned else finite, value)


def _binary(text: Column, code: Column | None) -> Column:
    """Bytes of a Latin-1 text; U+FFFD, to which the writer had lost a byte, becomes `?`. A text in ASCII is its own bytes."""
    repaired = F.replace(text, F.lit(REPLACEMENT), F.lit("?"))
    latin = F.when(F.octet_length(text) == F.length(text), text.cast("binary")).when(
        repaired.rlike(r"^[\x00-\xff]*$"), F.encode(repaired, "ISO-8859-1")
    )
    return latin if code is None else F.when(code.isin(*PLAIN_STRING_CODES), text.cast("binary")).otherwise(latin)


def _timestamp(text: Column, time_zone: str) -> Column:
    """The text's instant in that zone, read as UTC first: a cast without a zone would use the session's."""
    utc = F.when(_wall_clock(text), F.concat(text, F.lit("Z")).try_cast("timestamp"))
    return utc if time_zone == "UTC" else F.to_utc_timestamp(utc, time_zone)


def _wall_clock(text: Column) -> Column:
    """`YYYY-MM-DD HH:MM:SS[.f]`: try_cast would also take other shapes, drop a zone, and cut what follows
    six digits; the year 0000 is none, and none of Python's."""
    fixed = _is(text, 5, "-") & _is(text, 8, "-") & _is(text, 11, " ") & _is(text, 14, ":") & _is(text, 17, ":")
    zone = F.contains(text, F.lit("+")) | (F.locate("-", text, 11) > 0) | (F.substring(text, -1, 1) > "9")
    size = F.length(text).between(19, 26) & F.substring(text, 20, 1).isin("", ".")
    return size & fixed & ~zone & ~text.startswith("0000")


def _is(text: Column, position: int, character: str) -> Column:
    return F.substring(text, position, 1) == character
