"""PostgreSQL's truth: tables from the catalogue's columns, values from the text that SELECT prints.

Values: binaries `hex:...`, bit strings `b:0101`, booleans true and false; everything else in
PostgreSQL's own text, UTC.
"""

from __future__ import annotations

import functools
import ipaddress
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final

from generators.model import Column, Json, Logical, Row, SourceType, Table, Value
from generators.recorded.mysql_truth import Unsupported
from generators.sources import mysql, postgresql, postgresql_text

_TYPE: Final = re.compile(
    r'("?[a-z0-9_ ]+?"?)(?:\(([\d,-]+)\))?( with(?:out)? time zone)?((?:\[\])*)$'
)
"""A column's type as PostgreSQL spells it; the groups are its name, its parameters, its words on
the time zone, and the brackets of an array.
"""
_PRIMARY: Final = re.compile(r"PRIMARY KEY \(([^)]*)\)")
"""The primary key in a CREATE TABLE; the group are its columns."""
_MOMENT: Final = re.compile(r"(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,6})?)(?:\+00)?( BC)?$")
"""A timestamp in PostgreSQL's text; the groups are the date, the time and ` BC`."""
_DAY: Final = re.compile(r"(\d{4,})-(\d\d)-(\d\d)( BC)?$")
"""A date in PostgreSQL's text; the groups are the year, the month, the day and ` BC`."""
_CLOCK: Final = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?$")
"""A time in PostgreSQL's text; the groups are hours, minutes, seconds and the fraction's digits."""
_TOKEN: Final = re.compile(r'([{}])|"((?:[^"\\]|\\.)*)"|([^,{}"]+)')
"""A token of an array's text; the groups are a brace, an element in quotes, a bare element."""
_POINT: Final = re.compile(r"\(([^,]+),([^)]+)\)$")
"""The text of a point; the groups are x and y."""
_CYCLE: Final = 146_097
"""Days of 400 years."""
_PAIR: Final = re.compile(r'"((?:[^"\\]|\\.)*)"=>(?:"((?:[^"\\]|\\.)*)"|NULL)')
"""A pair in an hstore's text; the groups are the name and the value, which NULL has not."""

_NAMED: Final[Mapping[str, Callable[[], SourceType]]] = {
    "money": postgresql.money,
    "real": lambda: postgresql.real("real"),
    "double precision": lambda: postgresql.real("double precision"),
    "boolean": postgresql.boolean,
    "text": lambda: postgresql.text("text"),
    "bytea": postgresql.bytea,
    "date": lambda: postgresql.temporal("date"),
    "uuid": postgresql.uuid,
    "inet": postgresql.inet,
    "json": lambda: postgresql.json("json"),
    "jsonb": lambda: postgresql.json("jsonb"),
    "hstore": postgresql.hstore,
    "oid": postgresql.oid,
    "point": postgresql.point,
    **{name: functools.partial(postgresql.other, name) for name in postgresql.OTHERS},
}
"""The types without parameters: the function that makes each, by PostgreSQL's name."""


_BOUNDS: Final = re.compile(r"^(?:\[[+-]?\d+:[+-]?\d+\])+=")
"""The bounds of an array that does not begin with 1, as in `[0:1]={a,b}`."""


def source_type(
    spelling: str, enums: Mapping[str, Sequence[str]], domains: Mapping[str, str]
) -> SourceType:
    """The type of a column as PostgreSQL's format_type() spells it. `enums` has the labels of enums
    by name, `domains` the base type of each domain, as which a domain is taken. Raises Unsupported
    for a type that the model does not have.
    """
    spelling = domains.get(spelling, spelling)
    match = _TYPE.match(spelling)
    if match is None:
        raise Unsupported(f"column type {spelling!r}")
    name, zone = match[1].strip(), bool(match[3]) and "out" not in match[3]
    numbers = [int(number) for number in match[2].split(",")] if match[2] else []
    first = numbers[0] if numbers else None
    if match[4]:
        if spelling in ("integer[]", "text[]"):
            return postgresql.array(name)
        return postgresql.array_of(source_type(spelling.removesuffix("[]"), enums, domains))
    if name in enums:
        return postgresql.enum_of(*enums[name])
    if name in _NAMED:
        return _NAMED[name]()
    match name:
        case "smallint" | "integer" | "bigint":
            return postgresql.integer(name)
        case "numeric":
            return postgresql.numeric(*numbers)
        case "bit":
            return postgresql.bit(first or 1)
        case "bit varying":
            return postgresql.bit(first, varying=True)
        case "character":
            return postgresql.text("char", first or 1)
        case "character varying":
            return postgresql.text("varchar", first or postgresql.SIZE_LIMIT)
        case "time" | "timestamp":
            return postgresql.temporal(f"{name}tz" if zone else name, 6 if first is None else first)
        case "interval":
            return postgresql.temporal("interval", 6 if first is None else first)
    raise Unsupported(f"column type {spelling!r}")


def make_table(
    database: str,
    schema: str,
    name: str,
    columns: Iterable[Mapping[str, Any]],
    statement: str = "",
    enums: Mapping[str, Sequence[str]] | None = None,
    domains: Mapping[str, str] | None = None,
) -> Table:
    """A table made of the columns that PostgreSQL's catalogue shows. `statement` is its CREATE
    TABLE, which gives the declared order of the key; `enums` and `domains` are those of
    `source_type`. Raises Unsupported for a type that this project does not have.
    """
    table_columns = tuple(
        Column(
            entry["name"],
            source_type(entry["type"], enums or {}, domains or {}),
            not entry["not_null"],
        )
        for entry in columns
    )
    key = tuple(entry["name"] for entry in columns if entry["pk"])
    declared = _PRIMARY.search(statement)
    if declared and {part.strip() for part in declared[1].split(",")} == set(key):
        key = tuple(part.strip() for part in declared[1].split(","))
    return Table(database, name, table_columns, key, (), schema)


def cell_value(type: SourceType, cell_text: str | None) -> Value:
    """The value of a cell, from the text that SELECT prints. Raises Unsupported for a value that
    the model does not have.
    """
    if cell_text is None:
        return None
    match type.logical:
        case Logical.INT:
            return int(cell_text)
        case Logical.DECIMAL:
            return Decimal(re.sub(r"[$,]", "", cell_text))
        case Logical.FLOAT:
            return mysql.to_float32(float(cell_text))
        case Logical.DOUBLE:
            return float(cell_text)
        case Logical.BIT if cell_text == "b:":
            return ""
        case Logical.BIT:
            return (
                {"true": 1, "false": 0}[cell_text]
                if type.name == "boolean"
                else int(f"0{cell_text.replace(':', '')}", 2)
            )
        case Logical.BINARY:
            return bytes.fromhex(cell_text.removeprefix("hex:"))
        case Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP if cell_text.endswith("infinity"):
            return cell_text
        case Logical.DATE:
            return (
                date.fromisoformat(cell_text)
                if re.fullmatch(r"\d{4}-\d\d-\d\d", cell_text)
                else _parse_days(cell_text)
            )
        case Logical.TIME:
            return _parse_clock(cell_text)
        case Logical.DATETIME | Logical.TIMESTAMP:
            moment = _MOMENT.match(cell_text)
            assert moment is not None, cell_text
            return _parse_days(moment[1] + (moment[3] or "")) * mysql.DAY + _parse_clock(moment[2])
        case Logical.JSON:
            return Json(
                _parse_document(type, cell_text),
                cell_text if type.name in ("json", "jsonb") else "",
            )
        case _ if type.name == "inet":
            # SELECT as text has a host's prefix length, too.
            return postgresql_text.inet_text(ipaddress.ip_interface(cell_text))
        case _ if type.name == "char":
            # SELECT as text strips what the column has.
            return cell_text.ljust(type.length or 0)
        case _:
            return cell_text


def row_cells(table_definition: Table, texts: Mapping[str, str | None]) -> Row:
    """A row's values by column, from the texts that SELECT prints; columns without a text are left
    out. Raises Unsupported for a value that this project does not have.
    """
    return {
        c.name: cell_value(c.type, texts[c.name])
        for c in table_definition.columns
        if c.name in texts
    }


def _parse_clock(clock_text: str) -> int:
    """A time as SELECT prints it in PostgreSQL, in microseconds."""
    match = _CLOCK.match(clock_text)
    assert match is not None, clock_text
    whole_seconds = (int(match[1]) * 60 + int(match[2])) * 60 + int(match[3])
    return whole_seconds * mysql.MICROS + int((match[4] or "").ljust(6, "0"))


def _parse_days(date_text: str) -> int:
    """Days since 1970-01-01 of a date of any year; 1 BC is the year 0."""
    match = _DAY.match(date_text)
    assert match is not None, date_text
    year = 1 - int(match[1]) if match[4] else int(match[1])
    cycles = (year - 2000) // 400
    return (
        cycles * _CYCLE
        + (date(year - 400 * cycles, int(match[2]), int(match[3])) - date(1970, 1, 1)).days
    )


def _parse_document(type: SourceType, document_text: str) -> Any:
    """The contents of an hstore, point, array or JSON value, from the text that SELECT prints: of
    an hstore texts (or None) by name, of a point the floats `x` and `y`, of an array a list, nested
    for several dimensions, and of any other type what the JSON says.
    """
    if type.name == "hstore":
        return {
            _unescape(pair[1]): None if pair[2] is None else _unescape(pair[2])
            for pair in _PAIR.finditer(document_text)
        }
    if type.name == "point":
        match = _POINT.match(document_text)
        assert match is not None, document_text
        return {"x": float(match[1]), "y": float(match[2])}
    # Bounds of an array before its items (`[0:1]=`) are dropped, as is the first brace.
    return (
        _parse_items(postgresql.element(type), _TOKEN.finditer(_BOUNDS.sub("", document_text)[1:]))
        if type.name.endswith("[]")
        else json.loads(document_text)
    )


def _parse_items(type: SourceType, tokens: Iterator[re.Match[str]]) -> list[Any]:
    """The items of an array, from the tokens of its text up to its closing brace."""
    items: list[Any] = []
    for token in tokens:
        if token[1] == "}":
            return items
        items.append(
            _parse_items(type, tokens) if token[1] else _item_value(type, token[2], token[3])
        )
    raise ValueError("an array without end")


def _item_value(type: SourceType, quoted: str | None, bare: str | None) -> Any:
    """The value of an array's element, whose text stands in quotes (`quoted`) or not (`bare`).

    Dates, timestamps and bytes stay text: an array is a JSON value of the model, and that is how
    `generators.sources.postgresql.array_item` puts them into it.
    """
    if bare == "NULL":
        return None
    item_text = bare if quoted is None else _unescape(quoted)
    assert item_text is not None
    match type.logical:
        case Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP | Logical.BINARY:
            return item_text
        case Logical.BIT if type.name == "boolean":
            return item_text == "t"
        case Logical.BIT:
            # A bit string outside of an array stands as `b:0101` in the recorded truth.
            return cell_value(type, f"b:{item_text}")
    return cell_value(type, item_text)


def _unescape(escaped: str) -> str:
    """A text without the back-slashes that escape its characters."""
    return re.sub(r"\\(.)", r"\1", escaped, flags=re.DOTALL)
