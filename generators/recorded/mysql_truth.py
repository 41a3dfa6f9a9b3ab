"""MySQL's, MariaDB's and TiDB's truth: tables from SHOW CREATE TABLE, values from the text that
SELECT prints.

Values: binaries `hex:...`; spatial values `srid:0;wkb:...`, or as they are stored, `hex:...`; BIT
as an unsigned integer or `b:0101`; ENUM and SET as labels, or by index and mask; TIMESTAMP in the
zone of the session that read it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from generators.errors import HarnessError
from generators.model import (
    Column,
    Default,
    Index,
    Json,
    Logical,
    Row,
    SourceType,
    Table,
    Value,
    ZeroDate,
)
from generators.sources import mysql

_NAME: Final = r"`((?:[^`]|``)+)`"
"""A name in back quotes; the group is what stands between them."""
_COLUMN: Final = re.compile(rf"\s*{_NAME} (.+?),?$")
"""A line that defines a column; the groups are its name and its definition."""
_PART: Final = re.compile(r"`((?:[^`]|``)+)`(?:\(\d+\))?|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
"""A column of an index, with back quotes, or an expression of TiDB's in brackets."""
_KEY: Final = re.compile(rf"\s*(PRIMARY KEY|(?:UNIQUE )?KEY {_NAME}) \((.+?)\)[^)]*$")
"""A line that defines a key or an index; the groups are its kind, its name (none for a primary key)
and its columns.
"""
_PARAMETERS: Final = r"\(((?:'(?:[^'\\]|''|\\.)*'|[^')])*)\)"
"""The parameters of a type in parentheses; the group is what stands between them."""
_TYPE: Final = re.compile(
    rf"(\w+)(?:{_PARAMETERS})?((?: unsigned)?)((?: zerofill)?)(?: /\* mariadb-5\.3 \*/)?(.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""The type at the start of a column's definition; the groups are its name, its parameters, `
unsigned`, ` zerofill`, and the attributes behind it.
"""
_DEFAULT: Final = re.compile(
    r" DEFAULT ((?:[bxX]|_\w+ ?)?'(?:[^'\\]|''|\\.)*'|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\S+)"
)
"""The default among a column's attributes; the group is its literal or expression."""
_HEXADECIMAL: Final = re.compile(r"(?:x'|0x)((?:[0-9a-f]{2})*)'?", re.IGNORECASE)
"""A literal in hexadecimal digits; the group are the digits."""
_INTRODUCER: Final = re.compile(r"_\w+ ?(?=')")
"""The character set before a literal, as in `_binary'a'`."""
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_CHARSET: Final = re.compile(r" CHARACTER SET (\w+)")
_COLLATION: Final = re.compile(r" COLLATE (\w+)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


class Unsupported(HarnessError):
    """A column type that the model does not have."""


def unquote(literal: str) -> str:
    """A text literal's text: quotes off, doubled quotes and backslash escapes resolved."""
    return re.sub(
        r"''|\\(.)",
        lambda m: "'" if m[1] is None else _ESCAPES.get(m[1], m[1]),
        literal[1:-1],
        flags=re.DOTALL,
    )


def source_type(spelling: str) -> SourceType:
    """The type of a column as SHOW CREATE TABLE spells it. Raises Unsupported for a type that the
    model does not have.
    """
    match = _TYPE.match(spelling)
    assert match is not None
    name = match[1].lower()
    parameters = match[2]
    unsigned = bool(match[3])
    zerofill = bool(match[4])
    numbers = [int(n) for n in re.findall(r"\d+", parameters or "")]
    first = numbers[0] if numbers else None
    match name:
        case "tinyint" if first == 1 and not unsigned:
            return mysql.boolean()
        case "tinyint" | "smallint" | "mediumint" | "int" | "bigint":
            type = mysql.integer(name, unsigned=unsigned, zerofill=zerofill)
            return replace(type, length=first or type.length)
        case "decimal":
            precision, scale = (*numbers, 0)[:2] if numbers else (10, 0)
            type = mysql.decimal(precision, min(scale, 30), unsigned=unsigned)
            return replace(type, scale=scale, zerofill=zerofill)  # MariaDB has 38 decimal places
        case "float" | "double":
            type = replace(mysql.real(name, unsigned=unsigned), zerofill=zerofill)
            return (
                replace(type, precision=numbers[0], scale=numbers[1]) if len(numbers) == 2 else type
            )
        case "bit":
            return mysql.bit(first or 1)
        case "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext":
            return mysql.text(name, first if "char" in name else None)
        case "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob":
            return mysql.binary(name, first if "binary" in name else None)
        case "date" | "datetime" | "timestamp" | "time":
            return mysql.temporal(name, first or 0)
        case "year":
            return mysql.year()
        case "enum" | "set":
            members = [unquote(m) for m in re.findall(r"'(?:[^'\\]|''|\\.)*'", parameters or "")]
            return (mysql.enum_of if name == "enum" else mysql.set_of)(*members)
        case "json":
            return mysql.json()
        case "vector":
            return mysql.vector(first)
        case _ if name in mysql.SPATIAL:
            return mysql.spatial(name)
    raise Unsupported(f"column type {spelling!r}")


def parse_table(show_create: str, database: str, name: str) -> Table:
    """The table of a SHOW CREATE TABLE text. Raises Unsupported for a column type that this project
    does not have.
    """
    columns: list[Column] = []
    primary: tuple[str, ...] = ()
    indexes: list[Index] = []
    for line in show_create.splitlines()[1:]:
        if key := _KEY.match(line):
            label = (key[2] or "PRIMARY").replace("``", "`")
            parts = _PART.finditer(key[3])
            # An expression is indexed by a hidden column, to which TiDB gives such a name.
            names = tuple(
                part[1].replace("``", "`") if part[1] else f"_V$_{label}_{i}"
                for i, part in enumerate(parts)
            )
            if key[1] == "PRIMARY KEY":
                primary = names
            clustered = "] CLUSTERED */" in line
            if key[1] != "PRIMARY KEY" or "NONCLUSTERED" in line or clustered:
                indexes.append(Index(label, names, not key[1].startswith("KEY"), clustered))
        elif column := _COLUMN.match(line):
            columns.append(_parse_column(column[1].replace("``", "`"), column[2]))
    unique = tuple(index.columns for index in indexes if index.unique and index.name != "PRIMARY")
    has_integer_key = len(primary) == 1 and next(
        c.type.logical is Logical.INT for c in columns if c.name == primary[0]
    )
    # TiDB finds the rows of a clustered integer key by the key itself, without an index.
    listed_indexes = tuple(index for index in indexes if not (index.clustered and has_integer_key))
    return Table(database, name, tuple(columns), primary, unique, indexes=listed_indexes)


def _parse_column(name: str, definition: str) -> Column:
    """The column that a line of SHOW CREATE TABLE defines; `definition` is what follows
    its name.
    """
    match = _TYPE.match(definition)
    assert match is not None
    attributes = match[5]
    if re.search(r" (STORED|PERSISTENT)\b", attributes):
        generated = "stored"
    elif re.search(r" GENERATED ALWAYS|^ AS \(", attributes):
        generated = "virtual"
    else:
        generated = ""
    type = source_type(definition)
    default = None
    if (default_match := _DEFAULT.search(attributes)) and default_match[1] != "NULL":
        default = Default(default_match[1], _default_value(type, default_match[1]))
    charset, collation = (
        hit[1] if (hit := word.search(attributes)) else "" for word in (_CHARSET, _COLLATION)
    )
    nullable = " NOT NULL" not in attributes
    return Column(
        name,
        type,
        nullable,
        default=default,
        charset=charset,
        collation=collation,
        generated=generated,
    )


def _default_value(type: SourceType, literal: str) -> Value:
    """The value of a column's default, from the literal that SHOW CREATE TABLE prints; None for an
    expression.
    """
    if literal.startswith("b'"):
        # b'' has no digits; as a number it is 0.
        return int(literal[2:-1] or "0", 2)
    if digits := _HEXADECIMAL.fullmatch(literal):
        return _value_of_bytes(type, bytes.fromhex(digits[1]))
    literal = _INTRODUCER.sub("", literal)
    if not literal.startswith("'"):
        # MariaDB prints a number without quotes.
        return cell_value(type, literal) if _NUMBER.fullmatch(literal) else None
    if type.logical is Logical.BINARY:
        return unquote(literal).encode()
    return cell_value(type, unquote(literal))


def _value_of_bytes(type: SourceType, value: bytes) -> Value:
    """The value of a default that is spelled in hexadecimal digits: the bytes of a binary, the
    number of an integer or a BIT, of another type the text that they are in UTF-8.
    """
    if type.logical is Logical.BINARY:
        return value
    if type.logical in (Logical.INT, Logical.BIT):
        return int.from_bytes(value, "big")
    return cell_value(type, value.decode())


def cell_value(
    type: SourceType, cell_text: str | None, number: str | None = None, zone: str = "UTC"
) -> Value:
    """The value of a cell, from the text that SELECT prints. `number` is ENUM's index or SET's
    mask, if the truth has it; `zone` is the time zone in which a TIMESTAMP was printed.
    """
    if cell_text is None:
        return None
    match type.logical:
        case Logical.INT | Logical.YEAR:
            return int(cell_text)
        case Logical.DECIMAL:
            return Decimal(cell_text)
        case Logical.FLOAT:
            return mysql.to_float32(float(cell_text))
        case Logical.DOUBLE:
            return float(cell_text)
        case Logical.BIT:
            return int(cell_text.replace("b:", "0b"), 0)
        case Logical.BINARY:
            return bytes.fromhex(cell_text.removeprefix("hex:"))
        case Logical.ENUM:
            if number is not None:
                return int(number)
            return type.members.index(cell_text) + 1 if cell_text else 0
        case Logical.SET:
            if number is not None:
                return int(number)
            return sum(1 << type.members.index(label) for label in cell_text.split(",") if label)
        case Logical.JSON if type.name in mysql.SPATIAL and cell_text.startswith("hex:"):
            stored = bytes.fromhex(cell_text.removeprefix("hex:"))
            return Json({"srid": int.from_bytes(stored[:4], "little"), "wkb": stored[4:].hex()})
        case Logical.JSON if type.name in mysql.SPATIAL:
            srid, _, wkb = cell_text.removeprefix("srid:").partition(";wkb:")
            return Json({"srid": int(srid), "wkb": wkb})
        case Logical.JSON:
            return Json(
                json.loads(
                    cell_text, parse_int=lambda digits: -0.0 if digits == "-0" else int(digits)
                )
            )
        case Logical.DATE:
            return _parse_date(cell_text)
        case Logical.TIME:
            return _parse_time(cell_text)
        case Logical.DATETIME | Logical.TIMESTAMP:
            return _parse_moment(cell_text, zone if type.logical is Logical.TIMESTAMP else None)
        case _:
            return cell_text


def _parse_date(date_text: str) -> date | ZeroDate:
    """A date as SELECT prints it; a ZeroDate for one that the calendar does not have."""
    year, month, day = (int(part) for part in date_text.split("-"))
    try:
        return date(year, month, day)
    except ValueError:
        return ZeroDate(year, month, day)


def _parse_time(time_text: str) -> int:
    """A TIME as SELECT prints it, in microseconds; it may be negative or longer than a day."""
    hours, minutes, seconds = time_text.lstrip("-").split(":")
    whole_seconds, _, fraction = seconds.partition(".")
    micros = ((int(hours) * 60 + int(minutes)) * 60 + int(whole_seconds)) * mysql.MICROS + int(
        fraction.ljust(6, "0")
    )
    return -micros if time_text.startswith("-") else micros


def _parse_moment(moment_text: str, zone: str | None) -> int | ZeroDate:
    """The microseconds since 1970 of a DATETIME that SELECT prints, or of a TIMESTAMP that it
    prints in the time zone `zone`; a ZeroDate for a date that no calendar has.
    """
    day, _, clock = moment_text.partition(" ")
    calendar_date, micros = _parse_date(day), _parse_time(clock or "00:00:00")
    if isinstance(calendar_date, ZeroDate):
        return ZeroDate(calendar_date.year, calendar_date.month, calendar_date.day, micros)
    wall = mysql.wall(day) + micros
    if zone is None:
        return wall
    offset = (mysql.EPOCH + timedelta(microseconds=wall)).replace(tzinfo=ZoneInfo(zone)).utcoffset()
    assert offset is not None
    return wall - offset // timedelta(microseconds=1)


def row_cells(
    table_definition: Table,
    texts: Mapping[str, str | None],
    numbers: Mapping[str, str | None] | None = None,
    zone: str = "UTC",
) -> Row:
    """A row's values by column, from the texts that SELECT prints. `numbers` has, by column, ENUM's
    index or SET's mask, if the truth has it; `zone` is the time zone of printed TIMESTAMPs. Columns
    without a text are left out.
    """
    number_by_column = numbers or {}
    return {
        c.name: cell_value(c.type, texts[c.name], number_by_column.get(c.name), zone)
        for c in table_definition.columns
        if c.name in texts
    }
