"""MySQL's text forms as typed Spark expressions, one per logical type.

`typed` makes a value of a cell's text, `misfit` is true if the text is not of the type; a misfit is
NULL or a value outside the domain. SQL NULL and the zero dates, which no calendar type holds, give
NULL and fit. Neither function's SQL raises, or depends on the session's time zone, ANSI mode or
case sensitivity.

Both give SQL text: a table has many columns, and building each node of each expression through the
gateway to the JVM takes longer than decoding thousands of messages. Patterns stand behind a test of
the usual shape where there is one, since they cost more than the casts; they are raw literals,
which no setting reads differently.
"""

from __future__ import annotations

from typing import Final

from generators.model import Logical, SourceType
from spark_checks.decoders.families.sql import literal

_PLAIN_STRING_CODES: Final = (1, 12)
"""The codes CHAR and VARCHAR of java.sql.Types: if a binary column has one of them in sqlType, its
cell is a text in UTF-8.
"""

_ZERO_DATE: Final = r"^(0000-\d\d-\d\d|\d{4}-00-\d\d|\d{4}-\d\d-00)"
_DATE: Final = r"^\d{4}-\d\d-\d\d"
_CLOCK: Final = r" \d\d:\d\d:\d\d(\.\d{1,6})?\z"
_TIME: Final = r"^-?([0-7]?\d\d|8[0-2]\d|83[0-8]):[0-5]\d:[0-5]\d(\.\d{1,6})?\z"
"""A TIME, from -838:59:59 to 838:59:59."""
_JSON_SCALAR: Final = r"^(-?\d[0-9.eE+-]*|true|false|null|)\z"
"""The number, the constant, or the empty text that a JSON cell may be."""
_ZERO_FORMS: Final = {
    Logical.DATE: _ZERO_DATE + r"\z",
    Logical.DATETIME: _ZERO_DATE + _CLOCK,
    Logical.TIMESTAMP: _ZERO_DATE + _CLOCK,
}
"""The patterns of zero dates (a year, month or day of 0), for the types that may have them."""
_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
"""The number of bits of Spark's integer types."""


def mysql_typed(
    cell_text: str, type: SourceType, time_zone: str = "UTC", code: str | None = None
) -> str:
    """SQL of a cell's value in the column's Spark type, from the SQL of its text as MySQL spells
    it; NULL if the text is not of the type. `time_zone` is the zone of TIMESTAMP texts. `code` is
    the SQL of the cell's java.sql.Types code, by which binaries are read; None if the message has
    none.
    """
    match type.logical:
        case Logical.TEXT:
            return cell_text
        case Logical.TIME:
            return f"CASE WHEN {cell_text} RLIKE r'{_TIME}' THEN {cell_text} END"
        case Logical.JSON:
            ends = f"concat(left({cell_text}, 1), right({cell_text}, 1))"
            return (
                f"CASE WHEN {ends} IN ('{{}}', '[]', '\"\"') OR {cell_text} RLIKE r'{_JSON_SCALAR}' THEN"
                f" {cell_text} END"
            )
        case Logical.BINARY:
            return _bytes(cell_text, code)
        case Logical.DATE:
            return _calendar(
                cell_text,
                f"length({cell_text}) = 10 AND right({cell_text}, 1) >= '0'",
                f"try_cast({cell_text} AS date)",
            )
        case Logical.DATETIME:
            return _calendar(
                cell_text, _clock(cell_text, type.fsp), f"try_cast({cell_text} AS timestamp_ntz)"
            )
        case Logical.TIMESTAMP:
            # A cast without a zone would use the session's.
            instant = _calendar(
                cell_text,
                _clock(cell_text, type.fsp),
                f"try_cast(concat({cell_text}, 'Z') AS timestamp)",
            )
            return instant if time_zone == "UTC" else f"to_utc_timestamp({instant}, '{time_zone}')"
        case Logical.DECIMAL:
            return _decimal(cell_text, type)
        case Logical.BIT if type.spark == "boolean":
            return (
                f"CASE {cell_text} WHEN '1' THEN true WHEN '0' THEN false WHEN 'true' THEN true WHEN"
                " 'false' THEN false END"
            )
        case Logical.FLOAT | Logical.DOUBLE:
            # Java's suffixes (`1d`) and names (`NaN`) end in a letter.
            return f"CASE WHEN right({cell_text}, 1) <= '9' THEN try_cast({cell_text} AS {type.spark}) END"
        case _:
            return (
                exact_decimal(cell_text, 20, 0)
                if type.spark.startswith("decimal")
                else f"try_cast({cell_text} AS {type.spark})"
            )


def misfit(cell_text: str, value: str, type: SourceType) -> str | None:
    """SQL of the test whether a cell is not of its column's type, from the SQL of its text and of
    the value that was made of the text. A zero date is of its type, although its value is NULL.
    None for a type that every text fits.
    """
    if type.logical is Logical.TEXT:
        return None
    zero = _ZERO_FORMS.get(type.logical)
    none = f"({value} IS NULL AND {cell_text} IS NOT NULL" + (
        f" AND NOT {cell_text} RLIKE r'{zero}')" if zero else ")"
    )
    outside = _outside(value, type)
    return f"{none} OR {outside}" if outside else none


def index(cell_text: str, type: SourceType) -> str:
    """SQL of the index of an ENUM's label; 0 for the empty text, unless that is a label; NULL for
    an unknown label.
    """
    labels = ", ".join(map(literal, type.members))
    return (
        f"CAST(coalesce(nullif(array_position(array({labels}), {cell_text}), 0), CASE WHEN {cell_text} = ''"
        f" THEN 0 END) AS {type.spark})"
    )


def mask(cell_text: str, type: SourceType) -> str:
    """SQL of a SET's bit mask from the text of its labels, which commas separate; NULL if one is
    unknown.
    """
    labels = f"split({cell_text}, ',')"
    return (
        f"CASE WHEN {cell_text} = '' THEN CAST(0 AS {type.spark}) ELSE {mask_of(labels, type)} END"
    )


def mask_of(labels: str, type: SourceType) -> str:
    """SQL of a SET's bit mask from the SQL of an array of its labels; NULL if one is unknown."""
    bits = ", ".join(
        f"{literal(label)}, CAST({1 << i} AS {type.spark})" for i, label in enumerate(type.members)
    )
    bit, zero = f"try_element_at(map({bits}), label)", f"CAST(0 AS {type.spark})"
    return (
        f"aggregate(array_distinct({labels}), {zero}, (sum, label) -> CAST(sum + {bit} AS"
        f" {type.spark}))"
    )


def _outside(value: str, type: SourceType) -> str | None:
    """SQL of whether a value, which has the column's Spark type, is outside of the source type's
    domain; None if no value can be.
    """
    low, high = type.low or 0, type.high or 0
    match type.logical:
        case Logical.YEAR:
            return f"({value} <> 0 AND {value} NOT BETWEEN 1901 AND {high})"
        case Logical.INT | Logical.BIT | Logical.ENUM | Logical.SET:
            covers_type = type.spark == "boolean" or (low, high) == _domain(type.spark)
            return None if covers_type else f"{value} NOT BETWEEN {low} AND {high}"
        case Logical.FLOAT | Logical.DOUBLE:
            infinite = f"abs({value}) = {type.spark}('Infinity')"
            return f"{infinite} OR {value} < 0" if type.unsigned else infinite
        case Logical.DECIMAL if type.unsigned and type.spark != "string":
            return f"{value} < 0"
        case _:
            return None


def _domain(spark: str) -> tuple[int, int] | None:
    """The lowest and highest number of a Spark integer type, which `spark` names, such as `int`;
    None for another type.
    """
    if spark not in _BITS:
        return None
    half = 1 << _BITS[spark] - 1
    return -half, half - 1


def _decimal(cell_text: str, type: SourceType) -> str:
    """SQL that turns a cell's text into a DECIMAL without loss, NULL if it does not fit; of more
    than 38 digits, which no Spark decimal holds, the value is the text.
    """
    precision, scale = type.precision or 0, type.scale or 0
    if precision <= 38:
        return exact_decimal(cell_text, precision, scale)
    sign = "" if type.unsigned else "-?"
    digits = rf"^{sign}0*\d{{1,{precision - scale}}}(\.\d{{0,{scale}}}0*)?\z"
    return f"CASE WHEN {cell_text} RLIKE r'{digits}' THEN {cell_text} END"


def exact_decimal(cell_text: str, precision: int, scale: int) -> str:
    """SQL of a text as decimal(precision, scale) if it fits without rounding, which try_cast would
    do silently; else NULL.
    """
    value = f"try_cast({cell_text} AS decimal({precision},{scale}))"
    point = f"instr({cell_text}, '.')"
    has_few_digits = f"({point} = 0 OR length({cell_text}) - {point} <= {scale})"
    has_no_exponent = f"NOT contains({cell_text}, 'E') AND NOT contains({cell_text}, 'e')"
    mantissa = rf"regexp_extract({cell_text}, r'^[+-]?(\d*\.?\d*)(?:[eE][+-]?\d+)?\z', 1)"
    exponent = rf"coalesce(try_cast(regexp_extract({cell_text}, r'[eE](.*)\z', 1) AS int), 0)"
    digits = f"trim(TRAILING '0' FROM replace({mantissa}, '.', ''))"
    # Below zero where zeros end the number before its point.
    fraction_digits = f"length({digits}) - length(substring_index({mantissa}, '.', 1)) - {exponent}"
    is_in_scale = f"{mantissa} <> '' AND ({digits} = '' OR {fraction_digits} <= {scale})"
    return f"CASE WHEN {has_few_digits} AND {has_no_exponent} OR {is_in_scale} THEN {value} END"


def _calendar(cell_text: str, shape: str, value: str) -> str:
    """SQL of a date or time: the SQL `value`, which reads the text `cell_text`, if the SQL
    condition `shape` holds and the text begins with a year of four digits from 0001 on; else NULL.
    The year 0000 is MySQL's zero date, and Python has no other years.
    """
    return f"CASE WHEN {cell_text} >= '0001' AND substring({cell_text}, 5, 1) = '-' AND {shape} THEN {value} END"


def _clock(cell_text: str, fsp: int) -> str:
    """SQL of whether a text may be `YYYY-MM-DD HH:MM:SS` with a fraction of up to six digits, to be
    asked before a try_cast, which would cut further digits. A text of the length that `fsp`
    fraction digits give passes without a look at its digits, but for the last character: a
    try_cast ignores a blank or a line feed there.
    """
    usual = (
        f"length({cell_text}) = {20 + fsp} AND substring({cell_text}, 20, 1) = '.'"
        if fsp
        else f"length({cell_text}) = 19"
    )
    usual = f"{usual} AND right({cell_text}, 1) >= '0'"
    return f"({usual} OR {cell_text} RLIKE r'{_DATE}{_CLOCK}')"


def _bytes(cell_text: str, code: str | None) -> str:
    """SQL of the bytes of a text in Latin-1; NULL for characters beyond it, on which `encode` would
    raise. A text in ASCII, or whose java.sql.Types code (the SQL `code`, None without one) is that
    of a string, becomes its bytes in UTF-8. So does U+FFFD, which stands for a byte that the writer
    lost, so that the loss can be seen.
    """
    plain = f"octet_length({cell_text}) = length({cell_text})"
    if code:
        plain = f"{plain} OR {code} IN {_PLAIN_STRING_CODES}"
    repaired = f"replace({cell_text}, '\ufffd', '\u00ef\u00bf\u00bd')"
    latin = rf"{repaired} RLIKE r'^[\x00-\xff]*\z' THEN encode({repaired}, 'ISO-8859-1')"
    return f"CASE WHEN {plain} THEN cast({cell_text} AS binary) WHEN {latin} END"
