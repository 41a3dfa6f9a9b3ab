"""How TiCDC prints values and types in Canal-JSON: pure functions from the model's values to wire
text.

Facts: ticdc#text-escapes, #json-text, #integers, #decimals, #floats, #labels-as-numbers,
#dates-and-times, #canal-binary, #canal-sql-type, #canal-mysql-type, #ddl-types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_UP, Context, Decimal
from functools import cache, lru_cache, partial
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from generators.errors import Refused
from generators.families.java_text import document_text
from generators.model import Cell, Json, Logical, SourceType, State, Value, ZeroDate
from generators.sources import mysql
from generators.sources.type_numbers import type_numbers

_GO: Final[dict[int, str]] = {
    **{c: f"\\u{c:04x}" for c in range(0x20)},
    ord("\t"): "\\t",
    ord("\r"): "\\r",
    ord("\n"): "\\n",
    ord('"'): '\\"',
    ord("\\"): "\\\\",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
    # surrogateescape's stand-ins for bytes that are no UTF-8
    **dict.fromkeys(range(0xDC80, 0xDD00), "\\ufffd"),
}
"""What Go's JSON libraries write for characters in a string without HTML escapes, by code point."""
_GO_HTML: Final = _GO | {ord(c): f"\\u{ord(c):04x}" for c in "<>&"}
"""The same as _GO with the HTML escapes of `<`, `>` and `&`."""
_ITERATOR: Final = {code: shown for code, shown in _GO.items() if code not in (0x2028, 0x2029)}
"""What the library json-iterator writes for characters in a string, by code point."""
_GO_SHORT: Final = _GO_HTML | {8: "\\b", 12: "\\f"}
"""The same as _GO_HTML with escapes of two characters for backspace and form feed."""
_EXACT: Final = Context(prec=100)
"""A decimal context that rounds no number of TiDB."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def escape(value: str, *, html: bool = True, short: bool = False) -> str:
    """The text as a JSON string with its quotes, as easyjson and Go's encoding/json write it; with
    `html` `<`, `>` and `&` are escaped. `short` is Go since 1.22, with `html`: it has escapes of
    two characters for backspace and form feed, too.
    """
    if short:
        return f'"{value.translate(_GO_SHORT)}"'
    return f'"{value.translate(_GO_HTML if html else _GO)}"'


def iterator_string(value: str) -> str:
    """The text as a JSON string with its quotes, as the library json-iterator writes it: without
    HTML escapes, U+2028 and U+2029 as they are.
    """
    return f'"{value.translate(_ITERATOR)}"'


@lru_cache(4096)
def escape_name(name: str) -> str:
    """A column's name or type as a JSON string; cached, since the same few stand in every
    message.
    """
    return escape(name)


@lru_cache(64)
def _long_class(type: SourceType, value: str) -> str:
    """The class of a long text, cached."""
    return mysql.value_class(type, value)


def value_class(type: SourceType, value: Value) -> str:
    """The class of a value (`mysql.value_class`). It is cached, because it reads every character
    and a long text is written many times.
    """
    if isinstance(value, str) and len(value) > 1000:
        return _long_class(type, value)
    return mysql.value_class(type, value)


def canonical(type: SourceType, value: Value) -> Value:
    """The value as TiDB stores it: BINARY(n) padded with 0x00, CHAR(n) without trailing spaces, no
    negative zero.
    """
    match value:
        case bytes() if type.name == "binary":
            return value.ljust(type.length or 0, b"\0")
        case str() if type.name == "char":
            return value.rstrip(" ")
        case float() if value == 0:
            return 0.0
        case Decimal() if value == 0:
            return value.copy_abs()
        case Json():
            return Json(_json_canonical(value.value))
        case _:
            return value


def _json_canonical(value: Any) -> Any:
    """The JSON value as TiDB keeps it, whose numbers may be others than those that were typed."""
    # TiDB's binary JSON has int64, uint64 and float64 numbers, nothing else
    match value:
        case bool():
            return value
        case int() if not -(1 << 63) <= value < 1 << 64:
            return float(value)
        case Decimal():
            return float(value)
        case list():
            return [_json_canonical(item) for item in value]
        case dict():
            return {key: _json_canonical(item) for key, item in value.items()}
        case _:
            return value


def fixed(value: float) -> str:
    """The shortest text that reads back as the same binary64, without an exponent (Go's `'f', -1,
    64`).
    """
    return _plain(repr(value))


def fixed32(value: float) -> str:
    """The shortest text that reads back as the same binary32, without an exponent (Go's `'f', -1,
    32`).
    """
    exact = Decimal(value)
    for digits in range(1, 10):
        # Not only the nearest: below a power of two the numbers lie closer together than above it,
        # so that the nearer neighbour may be another number, and the farther one not.
        ways = (ROUND_HALF_EVEN, ROUND_DOWN, ROUND_UP)
        neighbours = [Context(digits, way).create_decimal(exact) for way in ways]
        same_binary32 = [n for n in neighbours if mysql.to_float32(float(n)) == value]
        if same_binary32:
            return _plain(str(min(same_binary32, key=lambda number: abs(number - exact))))
    raise ValueError(f"{value!r} is no binary32")


_PLAIN: Final = {False: (1e-6, 1e21), True: (mysql.to_float32(1e-6), mysql.to_float32(1e21))}
"""From the first number on and below the second one a float has no exponent; True is the key for
binary32.
"""


def json_number(value: float, *, single: bool = False) -> str:
    """A float as Go's encoding/json writes it: the fewest digits that read back as the same number,
    with an exponent below 1e-6 and from 1e21 on. `single` says that the number is a binary32.
    """
    plain = fixed32(value) if single else fixed(value)
    low, high = _PLAIN[single]
    if value == 0 or low <= abs(value) < high:
        return plain
    exact = Decimal(plain)
    digits = "".join(map(str, exact.as_tuple().digits)).strip("0")
    return f"{'-' if value < 0 else ''}{digits[0]}{'.' + digits[1:] if digits[1:] else ''}e{exact.adjusted():+d}"


def iterator_number(value: float, *, single: bool = False) -> str:
    """A float as the library json-iterator writes it: as encoding/json does (`json_number`), but an
    exponent has two digits at least. `single` says that the number is a binary32.
    """
    return re.sub(r"(?<=e[+-])(?=\d$)", "0", json_number(value, single=single))


def _plain(digits: str) -> str:
    """The text of a number without an exponent; of a whole one without point and zero."""
    plain = format(Decimal(digits), "f")
    return plain.removesuffix(".0")


def decimal_text(value: Decimal, scale: int) -> str:
    """The number with exactly the column's scale."""
    return format(value.quantize(Decimal(1).scaleb(-scale), context=_EXACT), "f")


@cache
def zone(name: str) -> ZoneInfo:
    """The zone of an IANA name."""
    return ZoneInfo(name)


def timestamp_text_and_instants(
    micros: int, fsp: int, time_zone: str
) -> tuple[str, tuple[int, ...]]:
    """The text of a TIMESTAMP, its wall clock in the server's time zone, and the moments, in
    microseconds since 1970, that this clock may mean: one, or two in an hour that occurs twice.
    """
    local = (_EPOCH + timedelta(microseconds=micros)).astimezone(zone(time_zone))
    wall = (local.replace(tzinfo=None) - mysql.EPOCH) // timedelta(microseconds=1)
    offsets = sorted(
        {local.replace(fold=fold).utcoffset() or timedelta() for fold in (0, 1)}, reverse=True
    )
    instants = tuple(wall - offset // timedelta(microseconds=1) for offset in offsets)
    return mysql.datetime_text(wall, fsp), instants


def zoned(cell: Cell, micros: int, time_zone: str) -> Cell:
    """The cell of a TIMESTAMP with its text, the wall clock in the server's time zone. In an hour
    that occurs twice a decoder may return either of the two moments.
    """
    wall_clock, instants = timestamp_text_and_instants(micros, cell.type.fsp, time_zone)
    if len(instants) > 1:
        cell = replace(
            cell,
            state=State.ONE_OF,
            options=instants,
            reason=f"{wall_clock} occurs twice in {time_zone}",
        )
    return replace(cell, text=wall_clock)


Doubles = Literal["go", "mysql"]
"""How the TiDB inside TiCDC spells a double of a JSON document: as Go's encoding/json, or (TiDB
after v8.5) as MySQL.
"""


def json_text(value: Any, doubles: Doubles = "go") -> str:
    """A JSON document as TiDB prints it: keys sorted bytewise, a space after `:` and `,`
    (ticdc#json-text).
    """
    number = _go_double if doubles == "go" else _mysql_double
    return document_text(value, number, partial(escape, html=False), lambda key: str(key).encode())


def _go_double(value: float) -> str:
    """A double of a JSON document as Go's encoding/json writes it: with an exponent only below 1e-6
    and from 1e21 on.
    """
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        return fixed(value)
    return re.sub(r"e-0(\d)$", r"e-\1", repr(value))


def _mysql_double(value: float) -> str:
    """A double of a JSON document as MySQL prints it: plain with a decimal point from 1e-15 to
    below 1e15, else with an exponent that has neither plus sign nor leading zeros.
    """
    if value == 0 or 1e-15 <= abs(value) < 1e15:
        plain_digits = fixed(value)
        return plain_digits if "." in plain_digits else f"{plain_digits}.0"
    digits, _, exponent = f"{Decimal(repr(value)).normalize(_EXACT):e}".partition("e")
    return f"{digits}e{int(exponent)}"


def go_utf8(value: bytes) -> str:
    """The text that Go makes of bytes which it prints as a string: each byte that is no UTF-8
    becomes a lone surrogate, which `escape` writes as U+FFFD.
    """
    return value.decode("utf-8", "surrogateescape")


def value_text(
    type: SourceType,
    value: Value,
    *,
    time_zone: str = "UTC",
    float_via_double: bool = False,
    json_doubles: Doubles = "go",
) -> str:
    """The text of a value that is not NULL, before it is escaped for JSON; the value is as TiDB
    stores it (`canonical`). `time_zone` is that of TIMESTAMP, `json_doubles` the spelling of
    doubles in JSON documents. `float_via_double` prints a FLOAT with the digits of a double. Raises
    TypeError for a value that the type does not have.
    """
    match type.logical, value:
        case Logical.FLOAT, float():
            return fixed(value) if float_via_double else fixed32(value)
        case Logical.DOUBLE, float():
            return fixed(value)
        case Logical.DECIMAL, Decimal():
            return decimal_text(value, type.scale or 0)
        case Logical.TEXT, str():
            return value
        case Logical.BINARY, bytes():
            return value.decode("latin-1")
        case Logical.DATE, date() | ZeroDate():
            return mysql.date_text(value)
        case ((Logical.DATETIME | Logical.TIMESTAMP), ZeroDate()):
            return mysql.datetime_text(value, type.fsp)
        case Logical.DATETIME, int():
            return mysql.datetime_text(value, type.fsp)
        case Logical.TIMESTAMP, int():
            return timestamp_text_and_instants(value, type.fsp, time_zone)[0]
        case Logical.TIME, int():
            return mysql.time_text(value, type.fsp)
        case Logical.JSON, Json():
            return json_text(value.value, json_doubles)
        case _, int():
            return str(value)
        case _:
            raise TypeError(f"{type.key}: {value!r}")


_JAVA: Final = type_numbers("ticdc_java")
"""The `java.sql.Types` number of each type that TiCDC can write."""
_JAVA_LEGACY: Final = type_numbers("ticdc_java_v5_3")
"""The `java.sql.Types` number of each type that TiCDC up to v5.3 can write."""
_OVER_SIGNED: Final = type_numbers("java_over_signed")
"""The numbers of unsigned integer types for values above the signed maximum."""


def supports(type: SourceType) -> bool:
    """Whether TiCDC can write the type: it is one of TiDB's types that have a java.sql.Types
    number.
    """
    return type.source == "mysql" and type.name in _JAVA


def sql_type(type: SourceType, value: Value, *, legacy: bool = False) -> int:
    """The java.sql.Types code of a value in a column of that type: an unsigned integer above the
    signed maximum gets the next wider type's code, NULL does not. `legacy` is the table of v5.3 and
    older, where signed and unsigned share promoted codes.
    """
    if legacy:
        return _JAVA_LEGACY[type.name]
    if (
        type.logical is Logical.INT
        and type.unsigned
        and isinstance(value, int)
        and value > (type.high or 0) >> 1
    ):
        return _OVER_SIGNED[type.name]
    return _JAVA[type.name]


def mysql_type(
    type: SourceType, *, unsigned: bool = True, zerofill: bool = True, parameters: bool = False
) -> str:
    """The text of a column's type in the member `mysqlType`: the name with unsigned and zerofill
    where the release writes these; with `parameters` (the option content-compatible) TiDB's full
    description, such as `decimal(10,2)`.
    """
    type_text = type.name + (_parameters(type) if parameters else "")
    if type.logical not in (Logical.BIT, Logical.YEAR):
        type_text += " unsigned" if unsigned and type.unsigned else ""
        type_text += " zerofill" if zerofill and type.zerofill else ""
    return type_text


def _parameters(type: SourceType) -> str:
    """What stands in parentheses behind a type's name in TiDB's full description, with the
    parentheses, such as `(10,2)` or `('a','b')`; "" for a type that has nothing there.
    """
    match type.logical:
        case Logical.DECIMAL | Logical.FLOAT | Logical.DOUBLE:
            return "" if type.precision is None else f"({type.precision},{type.scale})"
        case Logical.ENUM | Logical.SET:
            escaped = ("".join(_LABEL.get(c, c) for c in member) for member in type.members)
            return "(" + ",".join(f"'{label}'" for label in escaped) + ")"
        case Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME:
            return f"({type.fsp})" if type.fsp else ""
        case Logical.INT | Logical.BIT | Logical.YEAR:
            return f"({type.length})"
    return (
        f"({type.length})"
        if type.name in ("char", "varchar", "binary", "varbinary", "vector") and type.length
        else ""
    )


_LABEL: Final = {"'": "''", "\0": "\\0", "\n": "\\n", "\r": "\\r"}
"""What TiDB escapes in the labels of a type's description; a backslash stands as it is."""

DDL_TYPES: Final[Mapping[str, str]] = {
    "create table": "CREATE",
    "rename table": "RENAME",
    "drop table": "ERASE",
    "truncate table": "TRUNCATE",
    **dict.fromkeys(("create index", "add foreign key", "add primary key"), "CINDEX"),
    **dict.fromkeys(("drop index", "drop foreign key", "drop primary key"), "DINDEX"),
    **dict.fromkeys(
        ("add column", "drop column", "modify column", "change column", "set default"), "ALTER"
    ),
    **dict.fromkeys(
        ("table comment", "table charset", "rebase auto id", "rename index", "index visibility"),
        "ALTER",
    ),
    **dict.fromkeys(
        ("add partition", "drop partition", "truncate partition", "reorganize partition"), "ALTER"
    ),
    **dict.fromkeys(("alter partitioning", "remove partitioning", "multi schema change"), "ALTER"),
    **dict.fromkeys(
        ("alter index visibility", "alter table partition by", "alter table reorganize partition"),
        "ALTER",
    ),
    **dict.fromkeys(
        ("alter table remove partitioning", "alter table multi-schema change"), "ALTER"
    ),
    **dict.fromkeys(("create database", "drop database", "alter database"), "QUERY"),
    **dict.fromkeys(
        ("alter table cache", "alter table nocache", "alter table ttl", "alter table no_ttl"),
        "QUERY",
    ),
    **dict.fromkeys(
        ("shard row ID", "modify auto id cache", "rebase auto_random ID", "set tiflash replica"),
        "QUERY",
    ),
    **dict.fromkeys(
        ("add check constraint", "drop check constraint", "alter check constraint"), "QUERY"
    ),
    **dict.fromkeys(
        ("create view", "drop view", "create sequence", "recover table", "exchange partition"),
        "QUERY",
    ),
}
"""Canal's type of each DDL action, some of them under TiDB's name too."""


def ddl_type(action: str, *, new_architecture: bool) -> str:
    """The member `type` of a statement's message in TiCDC's Canal-JSON and Simple, by the event's
    action (a key of `DDL_TYPES`).

    TiCDC's new architecture writes a batch "create tables" otherwise than the classic one. Raises
    Refused for an action that is not in the table.
    """
    if action == "create tables":
        return "CREATE" if new_architecture else "QUERY"
    if action not in DDL_TYPES:
        raise Refused(
            f"TiCDC's type of the action {action!r} is not known; known are: {', '.join(DDL_TYPES)}"
        )
    return DDL_TYPES[action]
