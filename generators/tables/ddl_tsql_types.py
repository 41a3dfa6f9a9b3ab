"""Column types and literals as Transact-SQL spells them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from generators.model import Logical, SourceType, Value
from generators.recorded.mysql_truth import Unsupported
from generators.sources import mysql, sqlserver
from generators.sources.sqlserver_types import sqlserver_types
from generators.tables.ddl_text import Cursor, parse_whole_number

_PHRASES: Final = {
    "DOUBLE PRECISION": "float",
    **dict.fromkeys(("NATIONAL CHARACTER VARYING", "NATIONAL CHAR VARYING"), "nvarchar"),
    **dict.fromkeys(("NATIONAL CHARACTER", "NATIONAL CHAR"), "nchar"),
    "NATIONAL TEXT": "ntext",
    **dict.fromkeys(("CHARACTER VARYING", "CHAR VARYING"), "varchar"),
    "BINARY VARYING": "varbinary",
}
"""Names of types of several words, and the names by which SQL Server shows them."""
_ALIASES: Final = {
    "integer": "int",
    "dec": "decimal",
    "character": "char",
    "timestamp": "rowversion",
    "sysname": "nvarchar",
}
"""Other names of types, and the names by which SQL Server shows them."""
_LONGEST: Final = {
    **dict.fromkeys(("char", "varchar", "binary", "varbinary"), 8000),
    **dict.fromkeys(("nchar", "nvarchar"), 4000),
}
"""The greatest length that a type's argument may be."""

_WITHOUT_ARGUMENTS: Final = frozenset(
    {
        *("tinyint", "smallint", "int", "bigint", "bit", "money", "smallmoney", "real"),
        *("text", "ntext", "image", "uniqueidentifier", "rowversion", "hierarchyid"),
        *("date", "smalldatetime", "datetime"),
    }
)
"""Types whose name no parentheses may follow."""
_CODE_PAGE_TYPES: Final = frozenset({"char", "varchar", "varchar(max)", "text"})
"""Types whose texts have the characters of their collation's code page alone."""

_LATIN_COLLATIONS: Final = re.compile(
    r"Latin1_General_|SQL_Latin1_General_CP1_|DATABASE_DEFAULT$|$", re.IGNORECASE
)
"""Collations whose code page is 1252, and none, which is taken for one of them."""

_SYSNAME_LENGTH: Final = 128
"""Characters of sysname, which is an nvarchar."""
_DIGITS_OF_REAL: Final = 24
"""The greatest n with which float(n) has 32 bits."""


def read_tsql_type(cursor: Cursor) -> SourceType:
    """Reads Transact-SQL's type of a column at the cursor, whose name may stand in brackets. A name
    that SQL Server shows as another is noted. Raises Unsupported for a type that this project does
    not have, UsageError for arguments that the type cannot have.
    """
    start = cursor.at
    if phrase := cursor.accept(*_PHRASES):
        name, word = _PHRASES[phrase], phrase.lower()
    else:
        *schema, word = (part.lower() for part in cursor.take_names())
        if schema not in ([], ["sys"]):
            cursor.skip_parentheses()
            raise Unsupported(f"column type {cursor.text_since(start)!r}")
        name = _ALIASES.get(word, word)
    arguments = (
        [part.source_text() for part in cursor.take_parentheses().split_at_commas()]
        if cursor.next_is("(")
        else []
    )
    if word == "sysname" and not arguments:
        arguments = [str(_SYSNAME_LENGTH)]
    try:
        type = _make_type(name, arguments)
    except ValueError as error:
        raise cursor.script.error(cursor.words[start].start, str(error)) from error
    if word not in (name, "timestamp") or (name == "float" and arguments):
        cursor.note(start, f"taken as {sqlserver.declared(type)}, as the database shows it")
    return type


def _make_type(name: str, arguments: Sequence[str]) -> SourceType:
    """The type of that name with the arguments in its parentheses. Raises Unsupported for a name
    that this project does not have, ValueError for arguments that the type cannot have.
    """
    spelled = f"{name}({','.join(arguments)})" if arguments else name
    if name in _WITHOUT_ARGUMENTS and arguments:
        raise ValueError(f"{spelled}: {name} has no arguments")
    if name in ("varchar", "nvarchar", "varbinary") and [a.lower() for a in arguments] == ["max"]:
        long_name = f"{name}(max)"
        is_binary = name == "varbinary"
        return sqlserver.binary(long_name) if is_binary else sqlserver.text(long_name)
    if name == "xml":  # its argument is a collection of schemas
        return sqlserver.text("xml")
    if not all(argument.isascii() and argument.isdigit() for argument in arguments):
        raise ValueError(f"{spelled}: numbers expected")
    numbers = [int(argument) for argument in arguments]
    match name, numbers:
        case "tinyint" | "smallint" | "int" | "bigint", []:
            return sqlserver.integer(name)
        case "bit", []:
            return sqlserver.bit()
        case "decimal" | "numeric", ([] | [_] | [_, _]):
            precision, scale = (*numbers, 0)[:2] if numbers else (18, 0)
            return sqlserver.decimal(precision, scale, name)
        case "money" | "smallmoney", []:
            return sqlserver.money(name)
        case "float", ([] | [_]):
            is_short = bool(numbers) and numbers[0] <= _DIGITS_OF_REAL
            return sqlserver.real("real" if is_short else "float")
        case "real", []:
            return sqlserver.real("real")
        case "text" | "ntext", []:
            return sqlserver.text(name)
        case "image" | "rowversion" | "hierarchyid", []:
            return sqlserver.binary(name)
        case "uniqueidentifier", []:
            return sqlserver.uniqueidentifier()
        case "date" | "smalldatetime" | "datetime", []:
            return sqlserver.temporal(name)
        case "time" | "datetime2" | "datetimeoffset", ([] | [_]):
            return sqlserver.temporal(name, *numbers)
        case "char" | "varchar" | "nchar" | "nvarchar" | "binary" | "varbinary", ([] | [_]):
            length = numbers[0] if numbers else 1
            if not 1 <= length <= _LONGEST[name]:
                raise ValueError(f"{spelled}: the length is 1 to {_LONGEST[name]}")
            is_binary = name in ("binary", "varbinary")
            return (sqlserver.binary if is_binary else sqlserver.text)(name, length)
    if name in sqlserver_types():
        raise ValueError(f"{spelled}: too many arguments")
    raise Unsupported(f"column type {spelled!r}")


def resolve_charset(cursor: Cursor, start: int, type: SourceType, collation: str) -> str:
    """The character set to which a collation restricts the texts of a column: "" for one of every
    character, "latin1" for code page 1252. Of another code page ASCII is taken, which every code
    page has; that is noted at the words from number `start` on.
    """
    if type.name not in _CODE_PAGE_TYPES or "_UTF8" in collation.upper():
        return ""
    if _LATIN_COLLATIONS.match(collation):
        return "latin1"
    cursor.note(start, f"values are ASCII's, which the code page of {collation} has")
    return "ascii"


_MOMENT: Final = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d)|(\d{4})(\d\d)(\d\d))(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,6})?)?)?"
)
"""A date, `2024-01-02` or `20240102`, with or without a time, in ISO 8601's spellings."""
_CLOCK: Final = re.compile(r"(\d\d:\d\d)(:\d\d(?:\.\d{1,6})?)?")
"""A time of day in ISO 8601's spelling."""
_DAY_ONE: Final = "1970-01-01"
"""The day whose microseconds since 1970 are those of the time of day."""


def tsql_value(type: SourceType, literal_text: str) -> Value:
    """The value that a literal of Transact-SQL, a string or a number, has in a column of the type;
    None if the type cannot hold it, or if its meaning depends on settings of the server.
    """
    try:
        match type.logical:
            case Logical.INT | Logical.BIT:
                return parse_whole_number(literal_text, type.low, type.high)
            case Logical.DECIMAL:
                number = Decimal(literal_text)
                scaled = number.quantize(Decimal(1).scaleb(-(type.scale or 0)))
                return scaled if scaled == number else None
            case Logical.DOUBLE:
                return float(literal_text)
            case Logical.FLOAT:
                return mysql.to_float32(float(literal_text))
            case Logical.TEXT if type.name == "uniqueidentifier":
                return literal_text.upper()
            case Logical.TEXT:
                return sqlserver.stored_text(type, literal_text)
    except (ValueError, ArithmeticError):
        return None
    return _moment(type, literal_text)


def _moment(type: SourceType, literal_text: str) -> Value:
    """The date, time or moment of a literal in ISO 8601's spellings; None for another spelling and
    for a type of other values.
    """
    pattern = _CLOCK if type.logical is Logical.TIME else _MOMENT
    match = pattern.fullmatch(literal_text)
    if match is None:
        return None
    try:
        if type.logical is Logical.TIME:
            return mysql.wall(f"{_DAY_ONE} {match[1]}{match[2] or ':00'}")
        day = "-".join(part for part in match.groups()[:6] if part)
        if type.logical is Logical.DATE:
            return date.fromisoformat(day)
        if type.logical in (Logical.DATETIME, Logical.TIMESTAMP):
            return mysql.wall(f"{day} {match[7] or '00:00'}{match[8] or ':00'}")
    except ValueError:
        return None
    return None
