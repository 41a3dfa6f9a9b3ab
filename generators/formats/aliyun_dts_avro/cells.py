"""Values as Aliyun DTS writes them: the Avro branch, its record, and what a perfect decoder has of
it.

Beside the types of MySQL and PostgreSQL there are types for what only a wire can hold:
`charset:<name>`, `geometry`, `geometry-text`, `special-numeric`, `empty-null` and `empty-none`
(`wire_type`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeAlias

from generators.families.java_text import java_decimal, unscaled
from generators.families.mysql_texts import TYPE_NUMBERS, TextForms, json_text
from generators.families.mysql_texts import cell as text_cell
from generators.formats.aliyun_dts_avro.profiles import AliyunProfile
from generators.formats.aliyun_dts_avro.schema import DATE_PARTS, Datum, cell_text
from generators.model import Cell, Logical, SourceType, State, Value, ZeroDate
from generators.sources import mysql, postgresql, postgresql_text, postgresql_values
from generators.sources.postgresql_types import postgresql_types

Written: TypeAlias = tuple[Datum, Cell]
"""A value on the wire (`Datum`), and the cell that a decoder owes for it."""
Writer: TypeAlias = Callable[[Value], Written]
"""Writes a value of one type."""
_Maker: TypeAlias = Callable[[SourceType, AliyunProfile, Value], Written]
"""Writes a value, which is not NULL, of a type as a profile does."""

ZERO_DOUBT: Final = (
    "nothing says how a zero TIMESTAMP is written: zero seconds are the zero value or 1970-01-01"
    " 00:00:00"
)
"""Why more than one value is right for a zero TIMESTAMP."""
EMPTY_DOUBT: Final = "EmptyObject NULL is read in several ways, and documented in none"
"""Why any value is right for an EmptyObject NULL."""
CHARSET_DOUBT: Final = "the character set is none that a reader can know"
"""Why any value is right for a text in an unknown character set."""
NOT_A_NUMBER: Final = "JSON has no text for a number that is not finite"
"""Why an infinite number or NaN has no text at level one (values as text)."""

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
"""Python's codec for MySQL's character sets. latin1 is Windows-1252 (MySQL 8.0 Reference Manual
12.10.2).
"""

_BMP_ONLY: Final = ("utf8mb3", "utf8", "ucs2")
"""Character sets without characters beyond U+FFFF."""

_OIDS: Final[Mapping[str, int]] = {
    **{name: row.oid for name, row in postgresql_types().items() if row.oid is not None},
    "special-numeric": 1700,
}
"""PostgreSQL's own numbers (pg_type.dat); a numeric without digits is a type of its own here."""

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
"""The width in bytes of integer types, by name."""


def supports(type: SourceType) -> bool:
    """Whether the writer has the type: all of MySQL's, and those of PostgreSQL whose number (OID)
    is known, and enums.
    """
    return type.source == "mysql" or type.name == "enum" or type.name in _OIDS


def wire_type(name: str, logical: Logical, source: str = "mysql") -> SourceType:
    """A column type that only this format has, for values that no database's type holds."""
    return SourceType(name, logical, length=255, source=source)


def type_number(type: SourceType) -> int:
    """The dataTypeNumber of a type: the OID of PostgreSQL's type, ENUM_OID for one without; the
    number of MySQL's type in its protocol, 253 (VAR_STRING) for one without. A type of this format
    alone, `geometry-text`, has the number of the one before `-text`.
    """
    if type.source == "postgresql":
        return _OIDS.get(type.name, ENUM_OID)
    return TYPE_NUMBERS.get(type.name.removesuffix("-text"), 253)


def writer_of(type: SourceType, profile: AliyunProfile) -> Writer:
    """The function that writes a value of a type as a profile does: it returns the Avro datum and
    the owed cell. A type named "charset:NAME" is a text in that character set.
    """
    if type.name in _WIRE_TYPES:
        make = _WIRE_TYPES[type.name]
    elif type.name.startswith("charset:"):
        make = partial(_character, charset=type.name.partition(":")[2])
    else:
        postgresql_maker = _POSTGRESQL.get(type.name) if type.source == "postgresql" else None
        make = postgresql_maker or _LOGICAL[type.logical]
    null: Written = None, Cell(State.NULL, type)
    return lambda value: null if value is None else make(type, profile, value)


def _of_datum(type: SourceType, value: Value, datum: Datum) -> Written:
    """The datum with the cell expected of a decoder: the value, or at level one (without types) the
    datum as JSON, compared as a JSON value and not as text.
    """
    return datum, Cell(
        State.VALUE, type, value, cell_text(datum), postgresql.value_class(type, value), json=True
    )


def _integer(type: SourceType, _profile: AliyunProfile, value: Value) -> Written:
    """An integer or a BIT as the branch Integer, with its width in bytes, and the expected cell."""
    width = _BYTES.get(type.name) or ((type.length or 1) + 7) // 8
    return _of_datum(type, value, ("Integer", {"precision": width, "value": str(value)}))


def _decimal(type: SourceType, _profile: AliyunProfile, value: Value) -> Written:
    """A decimal as the branch Decimal, with the expected cell. Its scale is the column's, or that
    of the value in a numeric of PostgreSQL without precision and scale (`free`); `precision` counts
    the value's digits, as java.math.BigDecimal does. The text has all digits of the scale, and no
    exponent (`plain`).
    """
    assert isinstance(value, Decimal)
    free = type.source == "postgresql" and postgresql_values.unconstrained(type)
    scale = max(-int(value.as_tuple().exponent), 0) if free else type.scale or 0
    number = unscaled(value, scale)
    parts = {
        "value": java_decimal(number, scale, plain=True),
        "precision": len(str(abs(number))),
        "scale": scale,
    }
    return _of_datum(type, value, ("Decimal", parts))


def _float(type: SourceType, _profile: AliyunProfile, value: Value) -> Written:
    """A float as the branch Float, with the expected cell."""
    datum, cell = _of_datum(type, value, ("Float", {"value": value, "precision": 0, "scale": 0}))
    return datum, (
        replace(cell, text=None, reason=NOT_A_NUMBER) if cell.cls == "not-finite" else cell
    )


def _character(type: SourceType, _profile: AliyunProfile, value: Value, charset: str) -> Written:
    """A text as the branch Character of the Avro union, in `charset`, and the cell that a decoder
    owes: any value, if the character set is not known here. A text that `charset` cannot hold is
    written in utf8mb4, and bytes are written as they are.
    """
    if isinstance(value, bytes):
        return _of_datum(type, value, ("Character", {"charset": charset, "value": value}))
    assert isinstance(value, str)
    codec = CODECS.get(charset)
    if codec is None:
        datum, cell = _of_datum(
            type, value, ("Character", {"charset": charset, "value": value.encode()})
        )
        return datum, replace(cell, state=State.ANY, reason=CHARSET_DOUBT)
    try:
        raw = value.encode(codec)
    except UnicodeEncodeError:
        raw = b""
    if (value and not raw) or (charset in _BMP_ONLY and any(c > "\uffff" for c in value)):
        charset, raw = "utf8mb4", value.encode()
    return _of_datum(type, value, ("Character", {"charset": charset, "value": raw}))


def _object(
    branch: str,
    name: str,
    content_of: Callable[[SourceType, Any], str | bytes] = lambda _type, value: value,
) -> _Maker:
    """A function that writes a value as the branch TextObject or BinaryObject of the type `name`;
    `content_of` makes its content from the source type and the value.
    """
    return lambda type, _profile, value: _of_datum(
        type, value, (branch, {"type": name, "value": content_of(type, value)})
    )


def _write_text(type: SourceType, profile: AliyunProfile, value: Value) -> Written:
    """A text column's value as Character, TextObject or BinaryObject, whichever the profile writes
    for its type, and the expected cell.
    """
    if (
        type.source == "postgresql"
        or type.name in ("char", "varchar")
        or profile.text == "character"
    ):
        return _character(
            type, profile, value, dict(profile.charsets).get(type.name, profile.charset)
        )
    if profile.text == "text-object":
        return _object("TextObject", "TEXT")(type, profile, value)
    return _object("BinaryObject", "TEXT", lambda _type, value_text: value_text.encode())(
        type, profile, value
    )


def _binary(type: SourceType, profile: AliyunProfile, value: Value) -> Written:
    """A binary column's value as BinaryObject, or as Character for a BINARY or VARBINARY where the
    profile says so, and the expected cell.
    """
    short = type.name in ("binary", "varbinary")
    if short and profile.binary == "character":
        return _character(type, profile, value, "binary")
    if short:
        name = "BINARY"
    elif type.source == "postgresql":
        name = "BYTEA"
    else:
        name = "BLOB"
    return _object("BinaryObject", name)(type, profile, value)


def date_time(*parts: int | None) -> dict[str, int | None]:
    """A DateTime record of the given parts from the year on; the parts behind them are null."""
    return dict(zip(DATE_PARTS, (*parts, *[None] * (7 - len(parts))), strict=True))


def _fraction(micros: int, profile: AliyunProfile) -> int | None:
    """The fraction of a second in the profile's unit, nanoseconds or microseconds; None for no
    fraction, where the profile writes null.
    """
    if profile.null_fraction and not micros:
        return None
    return micros * 1000 if profile.fraction == "nanos" else micros


def _clock(micros: int, profile: AliyunProfile) -> tuple[int | None, ...]:
    """Hour, minute, second and fraction of a time in microseconds, each with the sign of the
    whole.
    """
    seconds, fraction = divmod(abs(micros), mysql.MICROS)
    parts = (seconds // 3600, seconds // 60 % 60, seconds % 60, _fraction(fraction, profile))
    return tuple(None if part is None else -part for part in parts) if micros < 0 else parts


def _wall(value: int | ZeroDate, profile: AliyunProfile) -> dict[str, int | None]:
    """The parts of a DateTime record for microseconds of wall-clock time since 1970, or for a zero
    date.
    """
    if isinstance(value, ZeroDate):
        return date_time(value.year, value.month, value.day, *_clock(value.micros, profile))
    days, micros = divmod(value, mysql.DAY)
    day = mysql.EPOCH + timedelta(days=days)
    return date_time(day.year, day.month, day.day, *_clock(micros, profile))


def _temporal(type: SourceType, profile: AliyunProfile, value: Value) -> Written:
    """A DATE, DATETIME, TIME or YEAR as the branch DateTime, with null for the parts that its type
    lacks, and the expected cell.
    """
    match type.logical, value:
        case Logical.DATE, date() | ZeroDate():
            parts = date_time(value.year, value.month, value.day)
        case Logical.YEAR, int():
            parts = date_time(value)
        case Logical.TIME, int():
            parts = date_time(None, None, None, *_clock(value, profile))
        case _:
            assert isinstance(value, int | ZeroDate)
            parts = _wall(value, profile)
    return _of_datum(type, value, ("DateTime", parts))


def _timestamp(type: SourceType, profile: AliyunProfile, value: Value) -> Written:
    """A MySQL TIMESTAMP as the branch Timestamp, PostgreSQL's timestamptz as TimestampWithTimeZone,
    and the expected cell. The field `millis` of Timestamp has microseconds, whatever its name says
    (aliyun#timestamp). A zero date is written as 0; to read it as the epoch is right too.
    """
    if isinstance(value, ZeroDate):
        datum, cell = _of_datum(type, value, ("Timestamp", {"timestamp": 0, "millis": 0}))
        return datum, replace(cell, state=State.ONE_OF, options=(value, 0), reason=ZERO_DOUBT)
    assert isinstance(value, int)
    if type.source == "postgresql":
        return _timestamp_with_offset(type, profile, value)
    seconds, micros = divmod(value, mysql.MICROS)
    return _of_datum(type, value, ("Timestamp", {"timestamp": seconds, "millis": micros}))


def offset_text(minutes: int) -> str:
    """An offset from Greenwich as in `+08:00`, without GMT before it."""
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


_LAST: Final = mysql.wall("9999-12-31") + mysql.DAY
"""The end of the year 9999, in microseconds."""


def _timestamp_with_offset(type: SourceType, profile: AliyunProfile, value: int) -> Written:
    """PostgreSQL's timestamptz, in microseconds, as wall-clock time at the profile's offset (in
    minutes); in UTC if that would leave the years 1 to 9999.
    """
    shift = profile.offset * 60 * mysql.MICROS
    minutes = profile.offset if mysql.wall("0001-01-01") <= value + shift < _LAST else 0
    wall = _wall(value + minutes * 60 * mysql.MICROS, profile)
    return _of_datum(
        type, value, ("TimestampWithTimeZone", {"value": wall, "timezone": offset_text(minutes)})
    )


_LABELS: Final = TextForms(time_zone="UTC", labels=True)
"""How ENUM and SET are spelled: by their labels."""


def _label(type: SourceType, _profile: AliyunProfile, value: Value) -> Written:
    """An ENUM or SET as the branch TextObject of its labels, with the expected cell."""
    cell = text_cell(type, value, _LABELS)
    datum: Datum = ("TextObject", {"type": type.logical.name, "value": cell.text})
    return datum, replace(cell, text=cell_text(datum), json=True)


def _boolean(type: SourceType, profile: AliyunProfile, value: Value) -> Written:
    """PostgreSQL's boolean as the branch TextObject of the type BOOL, with the expected cell."""
    return _of_datum(
        type, value, ("TextObject", {"type": "BOOL", "value": profile.booleans[bool(value)]})
    )


def _format_value(type: SourceType, value: Value, datum: Datum, cls: str) -> Written:
    """A value of a type that only this format has, as that datum, with the expected cell of the
    class `cls`.
    """
    return datum, Cell(State.VALUE, type, value, cell_text(datum), cls, json=True)


def _geometry(branch: str) -> _Maker:
    """The function that writes a spatial value as that branch of the union."""
    return lambda type, _, value: _format_value(
        type, value, (branch, {"type": "GEOMETRY", "value": value}), "geometry"
    )


def _special(type: SourceType, _profile: AliyunProfile, value: Value) -> Written:
    """A branch Decimal whose text is no number, such as NaN, with the expected cell."""
    return _format_value(
        type, value, ("Decimal", {"value": value, "precision": 0, "scale": 0}), "special"
    )


NONE: Final[Datum] = ("EmptyObject", "NONE")
"""What stands for a column that was not captured."""


_WIRE_TYPES: Final[Mapping[str, _Maker]] = {
    "geometry": _geometry("BinaryGeometry"),
    "geometry-text": _geometry("TextGeometry"),
    "special-numeric": _special,
    "empty-null": lambda type, *_: (
        ("EmptyObject", "NULL"),
        Cell(State.ANY, type, reason=EMPTY_DOUBT),
    ),
    "empty-none": lambda type, *_: (NONE, Cell(State.ABSENT, type)),
}
"""What writes the types that only this format has, by their name."""

_POSTGRESQL: Final[Mapping[str, _Maker]] = {
    "boolean": _boolean,
    "enum": _object("TextObject", "ENUM"),
    "uuid": _object("TextObject", "UUID"),
    "json": _object(
        "TextObject", "JSON", lambda type, document: postgresql_text.json_text(type, document.value)
    ),
    "jsonb": _object(
        "BinaryObject",
        "JSON",
        lambda type, document: postgresql_text.json_text(type, document.value).encode(),
    ),
}
"""What writes those types of PostgreSQL that are written in another way than MySQL's, by their
name.
"""

_LOGICAL: Final[Mapping[Logical, _Maker]] = {
    **dict.fromkeys((Logical.INT, Logical.BIT), _integer),
    Logical.DECIMAL: _decimal,
    **dict.fromkeys((Logical.FLOAT, Logical.DOUBLE), _float),
    Logical.TEXT: _write_text,
    Logical.BINARY: _binary,
    **dict.fromkeys((Logical.DATE, Logical.DATETIME, Logical.TIME, Logical.YEAR), _temporal),
    Logical.TIMESTAMP: _timestamp,
    **dict.fromkeys((Logical.ENUM, Logical.SET), _label),
    Logical.JSON: _object("TextObject", "JSON", lambda _type, document: json_text(document.value)),
}
"""What writes all other types, by their logical type."""
