"""Values as Aliyun DTS writes them: the Avro branch, its record, and what a perfect decoder has of it.

Beside the types of MySQL and PostgreSQL there are types for what only a wire can hold: `charset:<name>`, `geometry`,
`geometry-text`, `special-numeric`, `empty-null` and `empty-none` (`wire_type`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias

from generators.families.canal import json_text
from generators.families.mysql_texts import TYPE_NUMBERS, TextForms
from generators.families.mysql_texts import cell as text_cell
from generators.formats.aliyun_dts_avro.profiles import AliyunProfile
from generators.formats.aliyun_dts_avro.schema import DATE_PARTS, Datum, cell_text
from generators.model import Cell, Json, Logical, SourceType, State, Value, ZeroDate
from generators.sources import mysql, postgresql

Writer: TypeAlias = Callable[[Value], tuple[Datum, Cell]]

ZERO_DOUBT: Final = "nothing says how a zero TIMESTAMP is written: zero seconds are the zero value or 1970-01-01 00:00:00"
EMPTY_DOUBT: Final = "EmptyObject NULL is read in several ways, and documented in none"
CHARSET_DOUBT: Final = "the character set is none that a reader can know"
NOT_A_NUMBER: Final = "JSON has no text for a number that is not finite"

CODECS: Final[Mapping[str, str]] = {
    "utf8mb4": "utf-8",
    "utf8mb3": "utf-8",
    "utf8": "utf-8",
    "ascii": "ascii",
    "latin1": "cp1252",
    "latin2": "iso8859-2",
    "cp1251": "cp1251",
    "koi8r": "koi8-r",
    "gbk": "gbk",
    "gb2312": "gb2312",
    "gb18030": "gb18030",
    "big5": "big5",
    "sjis": "shift_jis",
    "euckr": "euc-kr",
    "ucs2": "utf-16-be",
    "utf16": "utf-16-be",
    "utf32": "utf-32-be",
}
"""Python's codec for MySQL's character sets. latin1 is Windows-1252 (MySQL 8.0 Reference Manual 12.10.2)."""

_BMP_ONLY: Final = ("utf8mb3", "utf8", "ucs2")

_OIDS: Final[Mapping[str, int]] = {
    "boolean": 16,
    "bytea": 17,
    "bigint": 20,
    "smallint": 21,
    "integer": 23,
    "text": 25,
    "json": 114,
    "real": 700,
    "double precision": 701,
    "char": 1042,
    "varchar": 1043,
    "date": 1082,
    "time": 1083,
    "timestamp": 1114,
    "timestamptz": 1184,
    "numeric": 1700,
    "special-numeric": 1700,
    "uuid": 2950,
    "jsonb": 3802,
}
"""PostgreSQL's own numbers (pg_type.dat)."""

ENUM_OID: Final = 16_400
"""Above FirstNormalObjectId: a type that a user made has a number of its own."""

_BYTES: Final[Mapping[str, int]] = {
    "tinyint": 1,
    "smallint": 2,
    "mediumint": 3,
    "int": 4,
    "integer": 4,
    "bigint": 8,
}


def supports(type: SourceType) -> bool:
    """Whether the writer has the type: MySQL's all, PostgreSQL's those that the sources tell anything of."""
    return type.source == "mysql" or type.name == "enum" or type.name in _OIDS


def wire_type(name: str, logical: Logical, source: str = "mysql") -> SourceType:
    """A column type of this format alone."""
    return SourceType(name, logical, length=255, source=source)


def type_number(type: SourceType) -> int:
    """dataTypeNumber: MySQL's protocol number or PostgreSQL's OID."""
    if type.source == "postgresql":
        return _OIDS.get(type.name, ENUM_OID)
    return 255 if type.name.startswith("geometry") else TYPE_NUMBERS.get(type.name, 253)


@lru_cache(maxsize=4096)
def writer_of(type: SourceType, profile: AliyunProfile) -> Writer:
    """How a profile writes values of a type."""
    make = _make(type, profile)
    absent: tuple[Datum, Cell] = None, Cell(State.NULL, type)

    def write(value: Value) -> tuple[Datum, Cell]:
        return absent if value is None else make(value)

    return write


def _make(type: SourceType, profile: AliyunProfile) -> Writer:
    if type.name in _WIRE_TYPES:
        return _WIRE_TYPES[type.name](type, profile)
    if type.name.startswith("charset:"):
        return _character(type, type.name.partition(":")[2])
    if type.source == "postgresql" and type.name in _POSTGRESQL:
        return _POSTGRESQL[type.name](type, profile)
    return _LOGICAL[type.logical](type, profile)


def _told(type: SourceType, value: Value, datum: Datum) -> tuple[Datum, Cell]:
    return datum, Cell(State.VALUE, type, value, cell_text(datum), postgresql.value_class(type, value), json=True)


def _integer(type: SourceType, _profile: AliyunProfile) -> Writer:
    width = _BYTES.get(type.name) or ((type.length or 1) + 7) // 8
    return lambda value: _told(type, value, ("Integer", {"precision": width, "value": str(value)}))


def decimal_parts(value: Decimal, scale: int | None) -> dict[str, Any]:
    """A Decimal's record: precision and scale are the value's, as java.math.BigDecimal has them. `scale` is the column's, if it
    has one, with which its text is written."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    places = max(-exponent, 0) if scale is None else scale
    unscaled = "".join(map(str, digits)) + "0" * (exponent + places)
    unscaled = (unscaled[: exponent + places] if exponent + places < 0 else unscaled).lstrip("0") or "0"
    padded = unscaled.zfill(places + 1)
    text = f"{padded[:-places]}.{padded[-places:]}" if places else padded
    minus = "-" if sign and unscaled != "0" else ""
    return {"value": f"{minus}{text}", "precision": len(unscaled), "scale": places}


def _decimal(type: SourceType, _profile: AliyunProfile) -> Writer:
    scale = None if type.source == "postgresql" and postgresql.unconstrained(type) else type.scale or 0

    def write(value: Value) -> tuple[Datum, Cell]:
        assert isinstance(value, Decimal)
        return _told(type, value, ("Decimal", decimal_parts(value, scale)))

    return write


def _float(type: SourceType, _profile: AliyunProfile) -> Writer:
    def write(value: Value) -> tuple[Datum, Cell]:
        datum, cell = _told(type, value, ("Float", {"value": value, "precision": 0, "scale": 0}))
        return datum, replace(cell, text=None, reason=NOT_A_NUMBER) if cell.cls == "not-finite" else cell

    return write


def _character(type: SourceType, charset: str) -> Writer:
    codec = CODECS.get(charset)

    def write(value: Value) -> tuple[Datum, Cell]:
        if isinstance(value, bytes):
            return _told(type, value, ("Character", {"charset": charset, "value": value}))
        assert isinstance(value, str)
        if codec is None:
            datum, cell = _told(type, value, ("Character", {"charset": charset, "value": value.encode()}))
            return datum, replace(cell, state=State.ANY, reason=CHARSET_DOUBT)
        found = charset
        try:
            raw = value.encode(codec)
        except UnicodeEncodeError:
            raw = b""
        if (value and not raw) or (charset in _BMP_ONLY and any(c > "\uffff" for c in value)):
            found, raw = "utf8mb4", value.encode()
        return _told(type, value, ("Character", {"charset": found, "value": raw}))

    return write


def _object(type: SourceType, branch: str, name: str, text: Callable[[Value], str | bytes]) -> Writer:
    return lambda value: _told(type, value, (branch, {"type": name, "value": text(value)}))


def _utf8(value: Value) -> bytes:
    assert isinstance(value, str)
    return value.encode()


def _same(value: Value) -> Any:
    return value


def _text(type: SourceType, profile: AliyunProfile) -> Writer:
    if type.source == "postgresql" or type.name in ("char", "varchar") or profile.text == "character":
        return _character(type, dict(profile.charsets).get(type.name, profile.charset))
    if profile.text == "text-object":
        return _object(type, "TextObject", "TEXT", _same)
    return _object(type, "BinaryObject", "TEXT", _utf8)


def _binary(type: SourceType, profile: AliyunProfile) -> Writer:
    if type.name in ("binary", "varbinary"):
        if profile.binary == "character":
            return _character(type, "binary")
        return _object(type, "BinaryObject", "BINARY", _same)
    return _object(type, "BinaryObject", "BYTEA" if type.source == "postgresql" else "BLOB", _same)


def date_time(*parts: int | None) -> dict[str, int | None]:
    """A DateTime of these parts, null for those behind them."""
    return dict(zip(DATE_PARTS, (*parts, *[None] * (7 - len(parts))), strict=True))


def _fraction(micros: int, profile: AliyunProfile) -> int | None:
    return None if profile.null_fraction and not micros else micros * (1000 if profile.fraction == "nanos" else 1)


def _clock(micros: int, profile: AliyunProfile) -> tuple[int | None, ...]:
    """Hour, minute, second and fraction, each with the sign of the whole."""
    seconds, fraction = divmod(abs(micros), mysql.MICROS)
    found = (seconds // 3600, seconds // 60 % 60, seconds % 60, _fraction(fraction, profile))
    return tuple(None if part is None else -part for part in found) if micros < 0 else found


def _wall(value: int | ZeroDate, profile: AliyunProfile) -> dict[str, int | None]:
    if isinstance(value, ZeroDate):
        return date_time(value.year, value.month, value.day, *_clock(value.micros, profile))
    days, micros = divmod(value, mysql.DAY)
    day = mysql.EPOCH + dt.timedelta(days=days)
    return date_time(day.year, day.month, day.day, *_clock(micros, profile))


def _temporal(type: SourceType, profile: AliyunProfile) -> Writer:
    def write(value: Value) -> tuple[Datum, Cell]:
        match type.logical, value:
            case Logical.DATE, dt.date() | ZeroDate():
                parts = date_time(value.year, value.month, value.day)
            case Logical.YEAR, int():
                parts = date_time(value)
            case Logical.TIME, int():
                parts = date_time(None, None, None, *_clock(value, profile))
            case _:
                assert isinstance(value, int | ZeroDate)
                parts = _wall(value, profile)
        return _told(type, value, ("DateTime", parts))

    return write


def _timestamp(type: SourceType, _profile: AliyunProfile) -> Writer:
    def write(value: Value) -> tuple[Datum, Cell]:
        if isinstance(value, ZeroDate):
            datum, cell = _told(type, value, ("Timestamp", {"timestamp": 0, "millis": 0}))
            return datum, replace(cell, state=State.ONE_OF, options=(value, 0), reason=ZERO_DOUBT)
        assert isinstance(value, int)
        seconds, micros = divmod(value, mysql.MICROS)
        return _told(type, value, ("Timestamp", {"timestamp": seconds, "millis": micros}))

    return write


def offset_text(minutes: int) -> str:
    """`+08:00`: the offset alone, without GMT before it."""
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


_LAST: Final = mysql.wall("9999-12-31") + mysql.DAY


def _zoned(type: SourceType, profile: AliyunProfile) -> Writer:
    def write(value: Value) -> tuple[Datum, Cell]:
        assert isinstance(value, int)
        shift = profile.offset * 60 * mysql.MICROS
        minutes = profile.offset if mysql.wall("0001-01-01") <= value + shift < _LAST else 0
        wall = _wall(value + minutes * 60 * mysql.MICROS, profile)
        return _told(type, value, ("TimestampWithTimeZone", {"value": wall, "timezone": offset_text(minutes)}))

    return write


_LABELS: Final = TextForms(time_zone="UTC", labels=True)


def _label(type: SourceType, _profile: AliyunProfile) -> Writer:
    name = type.logical.name

    def write(value: Value) -> tuple[Datum, Cell]:
        found = text_cell(type, value, _LABELS)
        datum: Datum = ("TextObject", {"type": name, "value": found.text})
        return datum, replace(found, text=cell_text(datum), json=True)

    return write


def _document(value: Value) -> str:
    assert isinstance(value, Json)
    return json_text(value.value)


def _printed(type: SourceType) -> Callable[[Value], str]:
    def text(value: Value) -> str:
        assert isinstance(value, Json)
        return postgresql.json_text(type, value.value)

    return text


def _jsonb(type: SourceType, _profile: AliyunProfile) -> Writer:
    text = _printed(type)
    return _object(type, "BinaryObject", "JSON", lambda value: text(value).encode())


def _geometry(type: SourceType, branch: str) -> Writer:
    def write(value: Value) -> tuple[Datum, Cell]:
        datum: Datum = (branch, {"type": "GEOMETRY", "value": value})
        return datum, Cell(State.VALUE, type, value, cell_text(datum), "geometry", json=True)

    return write


def _boolean(type: SourceType, profile: AliyunProfile) -> Writer:
    return _object(type, "TextObject", "BOOL", lambda value: profile.booleans[bool(value)])


def _empty(type: SourceType, symbol: str) -> Writer:
    if symbol == "NONE":
        return lambda _value: (("EmptyObject", symbol), Cell(State.ABSENT, type))
    return lambda _value: (("EmptyObject", symbol), Cell(State.ANY, type, reason=EMPTY_DOUBT))


NONE: Final[Datum] = ("EmptyObject", "NONE")
"""What stands for a column that was not captured."""


def _special(type: SourceType, _profile: AliyunProfile) -> Writer:
    """A Decimal's text that is no number."""

    def write(value: Value) -> tuple[Datum, Cell]:
        datum: Datum = ("Decimal", {"value": value, "precision": 0, "scale": 0})
        return datum, Cell(State.VALUE, type, value, cell_text(datum), "special", json=True)

    return write


_Maker: TypeAlias = Callable[[SourceType, AliyunProfile], Writer]

_WIRE_TYPES: Final[Mapping[str, _Maker]] = {
    "geometry": lambda type, _: _geometry(type, "BinaryGeometry"),
    "geometry-text": lambda type, _: _geometry(type, "TextGeometry"),
    "special-numeric": _special,
    "empty-null": lambda type, _: _empty(type, "NULL"),
    "empty-none": lambda type, _: _empty(type, "NONE"),
}

_POSTGRESQL: Final[Mapping[str, _Maker]] = {
    "boolean": _boolean,
    "enum": lambda type, _: _object(type, "TextObject", "ENUM", _same),
    "uuid": lambda type, _: _object(type, "TextObject", "UUID", _same),
    "json": lambda type, _: _object(type, "TextObject", "JSON", _printed(type)),
    "jsonb": _jsonb,
}

_LOGICAL: Final[Mapping[Logical, _Maker]] = {
    Logical.INT: _integer,
    Logical.BIT: _integer,
    Logical.DECIMAL: _decimal,
    Logical.FLOAT: _float,
    Logical.DOUBLE: _float,
    Logical.TEXT: _text,
    Logical.BINARY: _binary,
    Logical.DATE: _temporal,
    Logical.DATETIME: _temporal,
    Logical.TIME: _temporal,
    Logical.YEAR: _temporal,
    Logical.TIMESTAMP: lambda type, profile: (_zoned if type.source == "postgresql" else _timestamp)(type, profile),
    Logical.ENUM: _label,
    Logical.SET: _label,
    Logical.JSON: lambda type, _: _object(type, "TextObject", "JSON", _document),
}
