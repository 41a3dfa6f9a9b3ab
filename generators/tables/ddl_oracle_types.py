"""Column types and literals as Oracle spells them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from generators.model import Logical, SourceType, Value
from generators.recorded.mysql_truth import Unsupported
from generators.sources import mysql, oracle
from generators.tables.ddl_text import Cursor, parse_whole_number

_PHRASES: Final = {
    "DOUBLE PRECISION": "double precision",
    "LONG RAW": "long raw",
    **dict.fromkeys(("NATIONAL CHARACTER VARYING", "NATIONAL CHAR VARYING"), "nvarchar2"),
    **dict.fromkeys(("NCHAR VARYING",), "nvarchar2"),
    **dict.fromkeys(("NATIONAL CHARACTER", "NATIONAL CHAR"), "nchar"),
    **dict.fromkeys(("CHARACTER VARYING", "CHAR VARYING"), "varchar2"),
}
"""Names of types of several words, and the names by which the types are known here."""
_ALIASES: Final = {
    "varchar": "varchar2",
    "character": "char",
    **dict.fromkeys(("integer", "int", "smallint", "numeric", "decimal", "dec"), "number"),
    **dict.fromkeys(("real", "double precision"), "float"),
}
"""Other names of types, and the names by which Oracle shows them."""
_WHOLE: Final = frozenset({"integer", "int", "smallint"})
"""Names of NUMBER that have no arguments: NUMBER(38)."""
_LONGEST: Final = {"varchar2": 32767, "nvarchar2": 32767, "raw": 32767, "char": 2000, "nchar": 2000}
"""The greatest length that a type's argument may be, with MAX_STRING_SIZE = EXTENDED."""

_COUNTED: Final = frozenset({"char", "varchar2"})
"""Types whose length is in bytes or in characters."""

_PLAIN: Final = frozenset({"binary_float", "binary_double", "clob", "nclob", "blob", "rowid"})
"""Types without arguments, beside DATE."""

_BINARY_DIGITS: Final = 126
"""Binary digits of FLOAT without an argument."""
_REAL_DIGITS: Final = 63
"""Binary digits of REAL."""
_MOST_SCALE: Final = 127
"""The greatest scale of a NUMBER in Oracle."""
_SIZE: Final = re.compile(r"([0-9]{1,9})(?:\s+(BYTE|CHAR))?", re.IGNORECASE)
"""A length, and its unit if it has one."""


@dataclass(frozen=True, slots=True)
class OracleSpelling:
    """A column's type, and its spelling where that bounds the values further than the type does:
    `VARCHAR2(20 BYTE)`, `FLOAT(63)`, `INTERVAL DAY(2) TO SECOND(6)`; else "".
    """

    type: SourceType
    declared: str = ""


def read_oracle_type(cursor: Cursor) -> OracleSpelling:
    """Reads Oracle's type of a column at the cursor. A name that Oracle shows as another is noted.
    Raises Unsupported for a type that this project does not have, UsageError for arguments that the
    type cannot have.
    """
    start = cursor.at
    if cursor.next_is("INTERVAL YEAR/DAY"):
        return _read_interval(cursor)
    if phrase := cursor.accept(*_PHRASES):
        name, word = _PHRASES[phrase], phrase.lower()
    else:
        *schema, word = (part.lower() for part in cursor.take_names())
        if schema:
            cursor.skip_parentheses()
            raise Unsupported(f"column type {cursor.text_since(start)!r}")
        name = word
    arguments = (
        [part.source_text() for part in cursor.take_parentheses().split_at_commas()]
        if cursor.next_is("(")
        else []
    )
    if name == "timestamp":
        name = _read_zone(cursor)
    try:
        spelling = _spell(name, arguments)
    except ValueError as error:
        raise cursor.script.error(cursor.words[start].start, str(error)) from error
    if word in _ALIASES or word.upper() in _PHRASES:
        shown_type = spelling.declared or oracle.declared(spelling.type)
        cursor.note(start, f"taken as {shown_type}, as the database shows it")
    return spelling


def _read_zone(cursor: Cursor) -> str:
    """Reads the zone of a TIMESTAMP at the cursor; returns the name of its type."""
    if cursor.accept("WITH TIME ZONE"):
        return "timestamptz"
    return "timestampltz" if cursor.accept("WITH LOCAL TIME ZONE") else "timestamp"


def _read_interval(cursor: Cursor) -> OracleSpelling:
    """Reads an INTERVAL at the cursor. Raises UsageError for digits that it cannot have."""
    field = cursor.accept("INTERVAL YEAR", "INTERVAL DAY")
    digits = _read_digits(cursor, 2)
    if field == "INTERVAL YEAR":
        cursor.expect("TO MONTH")
        return OracleSpelling(oracle.interval("interval-year"), f"INTERVAL YEAR({digits}) TO MONTH")
    cursor.expect("TO SECOND")
    fraction = _read_digits(cursor, 6)
    return OracleSpelling(
        oracle.interval("interval-day"), f"INTERVAL DAY({digits}) TO SECOND({fraction})"
    )


_MOST_DIGITS: Final = 9
"""Digits of an interval's first field, and of its fraction."""


def _read_digits(cursor: Cursor, default: int) -> int:
    """Reads the digits of a field of an interval at the cursor; `default` if there are none."""
    if not cursor.next_is("("):
        return default
    place = cursor.peek().start
    number_text = cursor.take_parentheses().source_text()
    if not (number_text.isascii() and number_text.isdigit()) or int(number_text) > _MOST_DIGITS:
        raise cursor.script.error(place, f"({number_text}): digits are 0 to {_MOST_DIGITS}")
    return int(number_text)


_TIMESTAMPS: Final = ("timestamp", "timestamptz", "timestampltz")
"""Types of moments with fraction digits, as this project calls them."""


def _spell(name: str, arguments: Sequence[str]) -> OracleSpelling:
    """The type of that name with the arguments in its parentheses. Raises Unsupported for a name
    that this project does not have, ValueError for arguments that the type cannot have.
    """
    spelled = f"{name.upper()}({','.join(arguments)})" if arguments else name.upper()
    kind = _ALIASES.get(name, name)
    if kind in _LONGEST:
        return _spell_sized(kind, arguments, spelled)
    if kind == "number":
        return OracleSpelling(_make_number(name, arguments, spelled))
    if kind in (*_PLAIN, "date") and arguments:
        raise ValueError(f"{spelled}: {name.upper()} has no arguments")
    if kind == "float" or kind in _TIMESTAMPS:
        numbers = _whole_numbers(arguments, spelled)
        if len(numbers) > 1:
            raise ValueError(f"{spelled}: too many arguments")
        if kind == "float":
            return _spell_float(name, numbers, spelled)
        return OracleSpelling(oracle.temporal(kind, *numbers))
    match kind:
        case "date":
            return OracleSpelling(oracle.temporal("date"))
        case "binary_float" | "binary_double":
            return OracleSpelling(oracle.real(kind))
        case "clob" | "nclob":
            return OracleSpelling(oracle.string(kind))
        case "blob":
            return OracleSpelling(oracle.binary("blob"))
        case "rowid":
            return OracleSpelling(oracle.rowid())
    raise Unsupported(f"column type {spelled!r}")


def _whole_numbers(arguments: Sequence[str], spelled: str) -> list[int]:
    """The arguments of a type as numbers. `spelled` is the type for the error. Raises ValueError
    for an argument that is no whole number.
    """
    if not all(re.fullmatch("-?[0-9]+", argument) for argument in arguments):
        raise ValueError(f"{spelled}: numbers expected")
    return [int(argument) for argument in arguments]


def _spell_sized(kind: str, arguments: Sequence[str], spelled: str) -> OracleSpelling:
    """A type of texts or bytes that has a length; `spelled` is the type for errors. Bytes are the
    unit of CHAR and VARCHAR2 where none is named, as NLS_LENGTH_SEMANTICS is by default. Raises
    ValueError for another length than the type can have.
    """
    is_short = kind in ("char", "nchar")
    if not arguments and is_short:
        arguments = ["1"]
    match = _SIZE.fullmatch(arguments[0]) if len(arguments) == 1 else None
    if match is None or not 1 <= int(match[1]) <= _LONGEST[kind]:
        raise ValueError(f"{spelled}: the length is 1 to {_LONGEST[kind]}")
    length, unit = int(match[1]), match[2]
    if unit and kind not in _COUNTED:
        raise ValueError(f"{spelled}: {kind.upper()} has a length without a unit")
    if kind == "raw":
        return OracleSpelling(oracle.binary("raw", length))
    type = oracle.string(kind, length)
    is_counted_in_bytes = kind in _COUNTED and (unit or "byte").lower() == "byte"
    return OracleSpelling(type, f"{kind.upper()}({length} BYTE)" if is_counted_in_bytes else "")


def _make_number(name: str, arguments: Sequence[str], spelled: str) -> SourceType:
    """The type of a NUMBER, or of a name that stands for one; `spelled` is the type for errors.
    Raises Unsupported for a scale beyond the precision, ValueError for arguments that a NUMBER
    cannot have.
    """
    if name in _WHOLE and arguments:
        raise ValueError(f"{spelled}: {name.upper()} has no arguments")
    if not arguments:
        return oracle.number() if name == "number" else oracle.number(oracle.MOST_DIGITS)
    if len(arguments) > len(("precision", "scale")):
        raise ValueError(f"{spelled}: too many arguments")
    is_starred = arguments[0] == "*"
    if is_starred and len(arguments) == 1:
        return oracle.number()
    first = str(oracle.MOST_DIGITS) if is_starred else arguments[0]
    precision, scale = (*_whole_numbers([first, *arguments[1:]], spelled), 0)[:2]
    if 1 <= precision <= oracle.MOST_DIGITS and precision < scale <= _MOST_SCALE:
        raise Unsupported(f"column type {spelled!r}")
    return oracle.number(precision, scale)


def _spell_float(name: str, numbers: Sequence[int], spelled: str) -> OracleSpelling:
    """The type FLOAT of so many binary digits as `numbers` has, or of as many as REAL or FLOAT has
    without an argument; `spelled` is the type for the error. The spelling is "" for a FLOAT of all
    digits, which has no bound of its own. Raises ValueError for more digits than FLOAT has, and for
    an argument of another name.
    """
    digits = _REAL_DIGITS if name == "real" else _BINARY_DIGITS
    if numbers:
        digits = numbers[0]
    if not 1 <= digits <= _BINARY_DIGITS or (numbers and name != "float"):
        raise ValueError(f"{spelled}: FLOAT has 1 to {_BINARY_DIGITS} binary digits")
    declared = "" if digits == _BINARY_DIGITS else f"FLOAT({digits})"
    return OracleSpelling(oracle.floating(), declared)


_MOMENT: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,6})?)?)?", re.ASCII
)
"""A date, with or without a time, in ISO 8601's spelling."""


def oracle_value(type: SourceType, literal_text: str) -> Value:
    """The value that a literal of Oracle, a string, a number or a date, has in a column of the
    type; None if the type cannot hold it, if its meaning depends on settings of the session, or if
    the type's texts have a grammar (`is_sampled`).
    """
    try:
        match type.logical:
            case Logical.INT:
                return parse_whole_number(literal_text, type.low, type.high)
            case Logical.DECIMAL:
                return Decimal(literal_text)
            case Logical.DOUBLE:
                return float(literal_text)
            case Logical.FLOAT:
                return mysql.to_float32(float(literal_text))
            case Logical.TEXT if not oracle.is_sampled(type):
                return oracle.stored_text(type, literal_text)
            case Logical.DATETIME if match := _MOMENT.fullmatch(literal_text):
                return mysql.wall(f"{match[1]} {match[2] or '00:00'}{match[3] or ':00'}")
    except (ValueError, ArithmeticError):
        pass
    return None
