"""The text of a column's DEFAULT as TiDB stores it, which schemas of messages have.

Facts: ticdc#stored-defaults.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from generators.families.ticdc import text
from generators.families.ticdc.sql import number, unquoted
from generators.model import Logical, SourceType, Value
from generators.sources import mysql

_QUOTED_OR_CODE: Final = re.compile(r"'(?:[^']|'')*'|`(?:[^`]|``)*`|[^'`]+")


_NOW: Final = re.compile(
    r"[(\s]*(?:CURRENT_TIMESTAMP|LOCALTIME(?:STAMP)?|NOW(?=\s*\())(?:\s*\(\s*\d*\s*\))?[)\s]*",
    re.IGNORECASE,
)
"""CURRENT_TIMESTAMP under any of its names."""
_TODAY: Final = re.compile(
    r"[(\s]*(?:CURRENT_DATE|CURDATE(?=\s*\())(?:\s*\(\s*\))?[)\s]*", re.IGNORECASE
)
"""CURRENT_DATE under any of its names."""
_TRUTHS: Final = {"TRUE": "1", "FALSE": "0"}
"""What TiDB stores for the defaults TRUE and FALSE."""
_BITS: Final = re.compile(r"(?:0b|[bB]')([01]+)'?")
_HEX: Final = re.compile(r"(?:0x|[xX]')([0-9a-fA-F]+)'?")
_DATES: Final = (
    re.compile(
        r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})"
        r"(?:[ T](?P<H>\d{1,2}):(?P<M>\d{1,2})(?::(?P<S>\d{1,2})(?:\.(?P<f>\d+))?)?)?"
    ),
    re.compile(
        r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)"
        r"(?:(?P<H>\d\d)(?P<M>\d\d)(?P<S>\d\d)(?:\.(?P<f>\d+))?)?"
    ),
)
"""The forms of dates that are read: with signs between the parts, and digits alone."""
_TIMES: Final = (
    re.compile(r"(?P<sign>-?)(?P<H>\d{1,3}):(?P<M>\d{1,2})(?::(?P<S>\d{1,2})(?:\.(?P<f>\d+))?)?"),
    re.compile(
        r"(?P<sign>-?)(?:(?:(?P<H>\d{1,3})(?=\d{4}))?(?P<M>\d{1,2})(?=\d\d))?"
        r"(?P<S>\d{1,2})(?:\.(?P<f>\d+))?"
    ),
)
"""The forms of times that are read, as _DATES has those of dates."""
_TEMPORAL: Final = (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME)
"""The kinds of types whose defaults `_temporal_text` prints."""


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
    DECIMAL or YEAR, and of a text, stays as it is. Of dates and times the forms with all digits of
    the year are read (`_temporal_text`).
    """
    literal = re.sub(r"^_\w+\s*(?=['\"])", "", literal)
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
    if raw := _bytes_of(literal):
        unsigned = int.from_bytes(raw)
        if type.logical is Logical.BIT:
            return unsigned
        if type.logical in (Logical.TEXT, Logical.BINARY, Logical.ENUM, Logical.SET):
            return _padded(type, raw)
        return str(unsigned)
    if literal.startswith(("'", '"')):
        content = unquoted(literal)
        if type.logical in _TEMPORAL:
            return _temporal_text(type, content)
        return _padded(type, content.encode())
    if _TODAY.fullmatch(literal) or literal.endswith(")") or is_current_timestamp(literal):
        return stored_expression(literal)
    if type.logical in _TEMPORAL:
        is_zero = not literal.strip("0") and type.logical is not Logical.TIME
        zero = "0000-00-00" if type.logical is Logical.DATE else "0000-00-00 00:00:00"
        return zero if is_zero else _temporal_text(type, literal)
    sign = literal[0] if literal[0] in "+-" else ""
    digits = literal.removeprefix(sign)
    if not digits[:1].isdigit() and digits[:1] != ".":
        return literal
    plain = text.fixed(float(digits)) if "e" in digits.lower() else number(digits)
    return _padded(type, (plain if sign == "+" else sign + plain).encode())


def stored_bits(literal: str, value: Value = None) -> bytes:
    """The default of a BIT column as TiDB stores it: the bytes of a literal of bits or hexadecimal
    digits as it is spelled, of a number as few bytes as hold it. `value` is the literal's value,
    None where that is not known.
    """
    if raw := _bytes_of(literal):
        return raw
    stored = stored_default(mysql.bit(64), literal, value)
    if isinstance(stored, str):
        stored = int(stored)
    return stored.to_bytes(max(1, (stored.bit_length() + 7) // 8))


def _bytes_of(literal: str) -> bytes:
    """The bytes of a literal of bits or of hexadecimal digits, whose first byte has zeros in front
    where digits lack; b"" for any other literal.
    """
    if bits := _BITS.fullmatch(literal):
        return int(bits[1], 2).to_bytes((len(bits[1]) + 7) // 8)
    if digits := _HEX.fullmatch(literal):
        return int(digits[1], 16).to_bytes((len(digits[1]) + 1) // 2)
    return b""


def _padded(type: SourceType, raw: bytes) -> str:
    """The text of a default's bytes, in a BINARY with zero bytes up to the type's length."""
    length = type.length or 0 if type.name == "binary" else 0
    return raw.ljust(length, b"\0").decode(errors="replace")


def _temporal_text(type: SourceType, content: str) -> str:
    """A date or time as the type prints it: with all its parts, with two digits each, and the
    type's fraction digits, to which it is rounded. What has another form stays as it is, such as a
    date whose year has two digits; so does a date that is rounded up and is none.
    """
    patterns = _TIMES if type.logical is Logical.TIME else _DATES
    match = next(filter(None, (pattern.fullmatch(content) for pattern in patterns)), None)
    if match is None:
        return content
    # TiDB rounds by the one digit behind those that stay.
    tenths = int(f"{match['f'] or '':0<{type.fsp + 1}}"[: type.fsp + 1])
    carried, units = divmod((tenths + 5) // 10, 10**type.fsp)
    fraction = f".{units:0{type.fsp}}" if type.fsp else ""
    hours, minutes, seconds = (int(match[part] or 0) for part in "HMS")
    if type.logical is Logical.TIME:
        minutes, seconds = divmod(hours * 3600 + minutes * 60 + seconds + carried, 60)
        hours, minutes = divmod(minutes, 60)
        return f"{match['sign']}{hours:02}:{minutes:02}:{seconds:02}{fraction}"
    date = f"{match['y']}-{match['m']:0>2}-{match['d']:0>2}"
    clock = f"{hours:02}:{minutes:02}:{seconds:02}"
    if carried:
        try:
            moment = datetime.fromisoformat(f"{date} {clock}") + timedelta(seconds=carried)
        except (ValueError, OverflowError):
            return content
        date, clock = moment.isoformat(" ").split(" ")
    return date if type.logical is Logical.DATE else f"{date} {clock}{fraction}"


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
