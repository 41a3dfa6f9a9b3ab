"""MySQL's text forms as typed Spark expressions, one per logical type (DESIGN 4; reference/ticdc.md 2.1, reference/canal.md 3.2).

`typed` makes a value of a cell's text, `misfit` tells whether the text was not of the type; what does not fit may have any
value. SQL NULL and the zero dates, which no calendar type holds, give NULL and fit. Neither raises, and neither depends on
the session's time zone, ANSI mode or case sensitivity.

Both give SQL text: a table has many columns, and building each node of each expression through the gateway to the JVM takes
longer than decoding thousands of messages. Patterns stand behind a test of the usual shape where there is one, since they
cost more than the casts; they are raw literals, which no setting reads differently.
"""

from __future__ import annotations

from typing import Final

from generators.model import Logical, SourceType

PLAIN_STRING_CODES: Final = (1, 12)
"""java.sql.Types CHAR and VARCHAR: with them a binary column is on the wire as text in UTF-8 (reference/ticdc.md 2.2, 2.4)."""

_ZERO_DATE: Final = r"^(0000-\d\d-\d\d|\d{4}-00-\d\d|\d{4}-\d\d-00)"
_DATE: Final = r"^\d{4}-\d\d-\d\d"
_CLOCK: Final = r" \d\d:\d\d:\d\d(\.\d{1,6})?$"
_TIME: Final = r"^(?!-?838:59:59\.0*[1-9])-?([0-7]?\d\d|8[0-2]\d|83[0-8]):[0-5]\d:[0-5]\d(\.\d{1,6})?$"
_JSON_SCALAR: Final = r"^(-?\d[0-9.eE+-]*|true|false|null|)$"
_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


def typed(text: str, kind: SourceType, time_zone: str = "UTC", code: str | None = None) -> str:
    """The value of the cell's text as `kind.spark`; `time_zone` is the zone of TIMESTAMP texts, `code` the cell's sqlType."""
    match kind.logical:
        case Logical.TEXT | Logical.TIME | Logical.JSON:
            return text
        case Logical.BINARY:
            return _bytes(text, code)
        case Logical.TIMESTAMP:
            instant = _calendar(text, f"try_cast(concat({text}, 'Z') AS timestamp)")
            return instant if time_zone == "UTC" else f"to_utc_timestamp({instant}, '{time_zone}')"
        case Logical.DATE | Logical.DATETIME:
            return _calendar(text, f"try_cast({text} AS {kind.spark})")
        case _:
            return text if kind.spark == "string" else f"try_cast({text} AS {kind.spark})"


def misfit(text: str, value: str, kind: SourceType) -> str | None:
    """Whether the text, of which `typed` made `value`, is not of the type; None when every text is."""
    wrong = _wrong(text, value, kind)
    return wrong and f"({text} IS NOT NULL AND ({wrong}))"


def _wrong(text: str, value: str, kind: SourceType) -> str | None:
    low, high = kind.low or 0, kind.high or 0
    none = f"{value} IS NULL"
    match kind.logical:
        case Logical.TEXT:
            return None
        case Logical.BINARY:
            return none
        case Logical.YEAR:
            return f"{none} OR {value} <> 0 AND {value} NOT BETWEEN 1901 AND {high}"
        case Logical.INT | Logical.BIT | Logical.ENUM | Logical.SET:
            if kind.spark == "boolean":
                return f"{text} NOT IN ('0', '1', 'true', 'false')"
            if (low, high) == _domain(kind.spark):
                return none
            outside = f"{none} OR {value} NOT BETWEEN {low} AND {high}"
            return f"{outside} OR {_rounded(text, value, 20, 0)}" if kind.spark.startswith("decimal") else outside
        case Logical.DECIMAL:
            return _wrong_decimal(text, value, kind)
        case Logical.FLOAT | Logical.DOUBLE:
            # Java's suffixes (`1d`) and names (`NaN`) end in a letter; an overflow is infinite.
            least = f"{value} < 0" if kind.unsigned else f"{value} = {kind.spark}('-Infinity')"
            return f"{none} OR right({text}, 1) > '9' OR {least} OR {value} = {kind.spark}('Infinity')"
        case Logical.DATE:
            return f"CASE WHEN {none} THEN NOT {text} RLIKE r'{_ZERO_DATE}$' ELSE length({text}) <> 10 END"
        case Logical.DATETIME | Logical.TIMESTAMP:
            # try_cast would also take other shapes, drop a zone, and cut what follows six digits.
            point = f" AND substring({text}, 20, 1) = '.'" if kind.fsp else ""
            usual = f"length({text}) = {20 + kind.fsp if kind.fsp else 19} AND substring({text}, 11, 1) = ' '{point}"
            odd = f"NOT ({usual}) AND NOT {text} RLIKE r'{_DATE}{_CLOCK}'"
            return f"CASE WHEN {none} THEN NOT {text} RLIKE r'{_ZERO_DATE}{_CLOCK}' ELSE {odd} END"
        case Logical.TIME:
            return f"NOT {text} RLIKE r'{_TIME}'"
        case Logical.JSON:
            ends = f"concat(left({text}, 1), right({text}, 1))"
            return f"{ends} NOT IN ('{{}}', '[]', '\"\"') AND NOT {text} RLIKE r'{_JSON_SCALAR}'"


def _domain(spark: str) -> tuple[int, int] | None:
    if spark not in _BITS:
        return None
    half = 1 << _BITS[spark] - 1
    return -half, half - 1


def _wrong_decimal(text: str, value: str, kind: SourceType) -> str:
    precision, scale = kind.precision or 0, kind.scale or 0
    if precision > 38:
        sign = "" if kind.unsigned else "-?"
        return rf"NOT {text} RLIKE r'^{sign}0*\d{{1,{precision - scale}}}(\.\d{{0,{scale}}}0*)?$'"
    negative = f" OR {value} < 0" if kind.unsigned else ""
    return f"{value} IS NULL{negative} OR {_rounded(text, value, precision, scale)}"


def _rounded(text: str, value: str, precision: int, scale: int) -> str:
    """Whether decimal(precision, scale) lost digits of the text, which try_cast does silently."""
    short = f"(instr({text}, '.') = 0 OR length({text}) - instr({text}, '.') <= {scale})"
    plain = f"NOT contains({text}, 'E') AND NOT contains({text}, 'e')"
    wide = f"try_cast({text} AS decimal(38,{38 - precision + scale}))"
    return rf"NOT ({short} AND {plain} OR {text} RLIKE r'^[+-]?\d*\.?\d{{0,{scale}}}0*$' OR ifnull({wide} = {value}, false))"


def _calendar(text: str, value: str) -> str:
    """Years of four digits from 0001 on: the year 0000 is MySQL's zero, and Python has no others."""
    return f"CASE WHEN {text} >= '0001' AND substring({text}, 5, 1) = '-' THEN {value} END"


def _bytes(text: str, code: str | None) -> str:
    """Bytes of a Latin-1 text; U+FFFD, to which the writer had lost a byte, becomes `?`. A text in ASCII is its own bytes.

    `encode` raises on characters beyond Latin-1, hence the pattern.
    """
    plain = f"octet_length({text}) = length({text})"
    if code:
        plain = f"{plain} OR {code} IN {PLAIN_STRING_CODES}"
    repaired = f"replace({text}, '\ufffd', '?')"
    latin = rf"{repaired} RLIKE r'^[\x00-\xff]*$' THEN encode({repaired}, 'ISO-8859-1')"
    return f"CASE WHEN {plain} THEN cast({text} AS binary) WHEN {latin} END"
