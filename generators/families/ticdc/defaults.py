"""The text of a column's DEFAULT as TiDB stores it, which schemas of messages have.

Facts: ticdc#stored-defaults.
"""

from __future__ import annotations

import re
from typing import Final

from generators.families.ticdc import text
from generators.families.ticdc.sql import number, unquoted
from generators.model import Logical, SourceType, Value
from generators.sources import mysql

_QUOTED_OR_CODE: Final = re.compile(r"'(?:[^']|'')*'|`(?:[^`]|``)*`|[^'`]+")


_NOW: Final = re.compile(
    r"\(*(?:CURRENT_TIMESTAMP|LOCALTIME(?:STAMP)?|NOW(?=\())(?:\(\d*\))?\)*", re.IGNORECASE
)
"""CURRENT_TIMESTAMP under any of its names."""
_TODAY: Final = re.compile(r"\(*(?:CURRENT_DATE|CURDATE(?=\())(?:\(\))?\)*", re.IGNORECASE)
"""CURRENT_DATE under any of its names."""
_TRUTHS: Final = {"TRUE": "1", "FALSE": "0"}
"""What TiDB stores for the defaults TRUE and FALSE."""
_BITS: Final = re.compile(r"[bB]'([01]+)'")
_HEX: Final = re.compile(r"(?:0x|[xX]')([0-9a-fA-F]+)'?")
_DATE: Final = re.compile(
    r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})"
    r"(?:[ T](?P<H>\d{1,2}):(?P<M>\d{1,2})(?::(?P<S>\d{1,2})(?:\.(?P<f>\d{1,6}))?)?)?"
)
_TIME: Final = re.compile(
    r"(?P<sign>-?)(?P<H>\d{1,3}):(?P<M>\d{1,2})(?::(?P<S>\d{1,2})(?:\.(?P<f>\d{1,6}))?)?"
)


def is_current_timestamp(literal: str) -> bool:
    """Whether a default is CURRENT_TIMESTAMP under any of its names, with or without a number of
    fraction digits.
    """
    return _NOW.fullmatch(literal) is not None


def stored_default(type: SourceType, literal: str, value: Value = None) -> str | int:
    """The default of a column as TiDB stores it, from its spelling in a statement: bits are a
    number, all else is a text. `value` is the value that the literal has in the column, None where
    that is not known. A TIMESTAMP stays in the time zone in which it is spelled.

    Numbers, dates, times and labels are stored as the column's type prints them; the literal of a
    DECIMAL or YEAR, and of a text, stays as it is.
    """
    literal = re.sub(r"^_\w+(?=['\"])", "", literal)
    literal = _TRUTHS.get(literal.upper(), literal)
    match type.logical, value:
        case ((Logical.BIT | Logical.INT), int()):
            return value if type.logical is Logical.BIT else str(value)
        case Logical.FLOAT, float():
            return text.fixed32(mysql.to_float32(value))
        case Logical.DOUBLE, float():
            return text.fixed(value)
        case Logical.ENUM, int() if value:
            return type.members[value - 1]
        case Logical.SET, int():
            return ",".join(label for i, label in enumerate(type.members) if value >> i & 1)
    if bits := _BITS.fullmatch(literal):
        return int(bits[1], 2)
    if hexadecimal := _HEX.fullmatch(literal):
        digits = hexadecimal[1]
        if type.logical is Logical.BIT:
            return int(digits, 16)
        if type.logical in (Logical.TEXT, Logical.BINARY, Logical.ENUM, Logical.SET):
            return bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2)).decode(
                errors="replace"
            )
        return str(int(digits, 16))
    if literal.startswith(("'", '"')):
        content = unquoted(literal)
        if type.name == "binary":
            return content + "\0" * ((type.length or 0) - len(content.encode()))
        temporal = (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME)
        return _temporal_text(type, content) if type.logical in temporal else content
    if _TODAY.fullmatch(literal) or literal.endswith(")") or is_current_timestamp(literal):
        return stored_expression(literal)
    sign = literal[0] if literal[0] in "+-" else ""
    digits = literal.removeprefix(sign)
    if not digits[:1].isdigit() and digits[:1] != ".":
        return literal
    plain = text.fixed(float(digits)) if "e" in digits.lower() else number(digits)
    return plain if sign == "+" else sign + plain


def _temporal_text(type: SourceType, content: str) -> str:
    """A date or time as the type prints it: with all its parts, with two digits each, and the
    type's fraction digits. What has another form stays as it is.
    """
    if type.logical is Logical.TIME:
        match = _TIME.fullmatch(content)
        return f"{match['sign']}{_clock(match, type.fsp)}" if match else content
    match = _DATE.fullmatch(content)
    if not match:
        return content
    date = f"{match['y']}-{match['m']:0>2}-{match['d']:0>2}"
    return date if type.logical is Logical.DATE else f"{date} {_clock(match, type.fsp)}"


def _clock(match: re.Match[str], fsp: int) -> str:
    """The time of day of a match of `_DATE` or `_TIME`, with `fsp` fraction digits."""
    hours, minutes, seconds = ((match[part] or "").zfill(2) for part in "HMS")
    fraction = f".{(match['f'] or '')[:fsp]:0<{fsp}}" if fsp else ""
    return f"{hours}:{minutes}:{seconds}{fraction}"


def stored_expression(literal: str) -> str:
    """The stored text of a default that is an expression, from its spelling in SHOW CREATE TABLE.

    CURRENT_TIMESTAMP is stored without its fraction digits, CURRENT_DATE without brackets; any
    other expression in lower case but for its texts and names, without the brackets around it.
    """
    if is_current_timestamp(literal):
        return "CURRENT_TIMESTAMP"
    if _TODAY.fullmatch(literal):
        return "CURRENT_DATE"
    expression = literal[1:-1] if literal.startswith("(") else literal
    return _QUOTED_OR_CODE.sub(_lower_code, expression)


def _lower_code(match: re.Match[str]) -> str:
    """A piece of an expression in lower case; a text or a name in quotes as it is."""
    matched = match[0]
    return matched if matched[0] in "'`" else matched.lower()
