"""MySQL's columns as Debezium's MySQL connector writes them: `wire(kind, value, modes)` gives
Connect schema, value and Cell.

Source: the page debezium of the sources. `modes` are those of `values`; what
reads the binlog and what takes a snapshot (`snapshot=True`) differ in a few types.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from generators.errors import Refused
from generators.families.connect import Schema, quoted
from generators.families.debezium import values
from generators.families.debezium.mysql_columns import (
    ColumnReading,
    find_reading,
    spelling_words,
)
from generators.families.debezium.values import DebeziumCell, Meaning, Modes, semantic, wired
from generators.families.java_text import document_text, double_text, float_text
from generators.model import Json, Logical, SourceType, Value, ZeroDate
from generators.sources import mysql

_INTEGERS: Final = {
    "tinyint": "int16",
    "smallint": "int16",
    "mediumint": "int32",
    "int": "int32",
    "bigint": "int64",
}
"""The Connect type of each signed integer type."""
_UNSIGNED: Final = {
    "tinyint": "int16",
    "smallint": "int32",
    "mediumint": "int32",
    "int": "int64",
    "bigint": "int64",
}
"""The Connect type of each unsigned integer type."""


@lru_cache(maxsize=4096)
def spelled_reading(type: SourceType, modes: Modes, declared: str) -> ColumnReading | None:
    """What the connector makes of a column whose type a streamed statement spells as `declared`
    (debezium#declared-types), if that is something else than for the type in its usual spelling;
    else None. Raises Refused for a spelling at which the connector stops.
    """
    reading = find_reading(declared, modes.columns) if declared else None
    if reading is None or (_is_int8(type, modes) and _TINYINT.match(declared)):
        return None
    if reading.refused:
        raise Refused(f"Debezium {modes.columns} cannot read the column type {declared!r}")
    # The table was read with the connector's default options.
    defaults = replace(
        modes,
        decimal="precise",
        temporal="adaptive_time_microseconds",
        binary="bytes",
        bigint_unsigned="long",
    )
    plain = _type_schema(type, defaults, True)
    is_narrow = type.logical is Logical.INT and type.unsigned and type.name != "bigint"
    decides = (
        reading.type_and_name != (plain.type, plain.name)
        or reading.unfit
        or (is_narrow and reading.is_signed)
        or (type.name == "binary" and reading.empty == _NO_BYTES)
    )
    return reading if decides else None


def reads_zerofill_signed(modes: Modes) -> bool:
    """Whether the connector takes a ZEROFILL column for a signed one, since it does not know that
    ZEROFILL implies UNSIGNED (up to 1.9).
    """
    reading = find_reading("SMALLINT ZEROFILL", modes.columns)
    return reading is not None and reading.is_signed


def _is_int8(type: SourceType, modes: Modes) -> bool:
    """Whether the connector writes the type as int8: a signed TINYINT under the release that does
    so.
    """
    return modes.signed_tinyint == "int8" and type.name == "tinyint" and not type.unsigned


_TINYINT: Final = re.compile(r"(?:TINYINT|INT1)\b", re.IGNORECASE)
"""The spellings of TINYINT at the beginning of a declared type."""
_NO_BYTES: Final = '""'
"""The JSON of no bytes."""


_EPOCH_DATE: Final = date(1970, 1, 1)
_ZERO: Final = "a zero date is null, or the epoch in a NOT NULL column"
_ZERO_TIMESTAMP: Final = (
    "a streamed zero TIMESTAMP is written as the epoch (up to 3.5), which no other TIMESTAMP is"
)
_MISREAD_TIME: Final = "a streamed negative TIME without a fraction is read wrong (up to 1.9)"
_TWO_DIGITS: Final = "years 1 to 99 are taken for two-digit years (enable.time.adjuster)"


@lru_cache(maxsize=4096)
def schema(type: SourceType, modes: Modes, nullable: bool = True, declared: str = "") -> Schema:
    """The Connect schema of a column of that type; `declared` is the type as a streamed statement
    spells it, "" for the usual spelling.

    Raises ValueError for the mode of times `adaptive`, which the MySQL connector refuses.
    """
    if modes.temporal == "adaptive":
        raise ValueError("time.precision.mode adaptive is refused by the MySQL connector")
    reading = spelled_reading(type, modes, declared)
    if reading is None:
        return _type_schema(type, modes, nullable)
    schema_type, name = reading.type_and_name
    return semantic(schema_type, name, nullable) if name else Schema(schema_type, nullable)


def _type_schema(type: SourceType, modes: Modes, nullable: bool) -> Schema:
    """The Connect schema of a column of that type in its usual spelling."""
    match type.logical:
        case Logical.INT if (
            type.name == "bigint" and type.unsigned and modes.bigint_unsigned == "precise"
        ):
            return values.decimal_schema(
                modes.unsigned_precision or None, 0, modes, nullable, mode="precise"
            )
        case Logical.INT if _is_int8(type, modes):
            return Schema("int8", nullable)
        case Logical.INT:
            return Schema((_UNSIGNED if type.unsigned else _INTEGERS)[type.name], nullable)
        case Logical.DECIMAL:
            return values.decimal_schema(type.precision, type.scale or 0, modes, nullable)
        case Logical.FLOAT:
            return Schema(modes.float_schema, nullable)
        case Logical.YEAR:
            return semantic("int32", "io.debezium.time.Year", nullable)
        case Logical.ENUM | Logical.SET:
            name = (
                "io.debezium.data.Enum"
                if type.logical is Logical.ENUM
                else "io.debezium.data.EnumSet"
            )
            return semantic(
                "string",
                name,
                nullable,
                ("allowed", ",".join(_listed_label(m, modes) for m in type.members)),
            )
        case Logical.JSON if type.name in mysql.SPATIAL:
            return (
                values.point_schema(nullable)
                if type.name == "point"
                else values.geometry_schema(modes)
            )
    return values.common_schema(type, modes, nullable) or Schema("string", nullable)


def wire(
    type: SourceType,
    value: Value,
    modes: Modes,
    *,
    nullable: bool = True,
    snapshot: bool = False,
    declared: str = "",
) -> DebeziumCell:
    """A column's value as the connector writes it, with the cell that a decoder must return. NULL
    in a NOT NULL column is replaced by a fallback by type. `snapshot` says that a snapshot reads
    the value, not the binlog. `declared` is the type as a streamed statement spells it. Raises
    TypeError for a value that is none of the type's, KeyError for a type that MySQL does not have,
    Refused for a spelling or a value at which the connector stops.
    """
    declared = shown_spelling(declared) if snapshot else declared
    schema_ = schema(type, modes, nullable, declared)
    if value is None:
        return wired(
            schema_,
            type,
            "",
            Meaning(None if nullable else fallback(schema_, modes), lost=not nullable),
            modes,
        )
    cls = mysql.value_class(type, value)
    reading = spelled_reading(type, modes, declared)
    if reading and reading.unfit and not nullable:
        raise Refused(f"Debezium {modes.columns} stops at a value of {declared} NOT NULL")
    meaning = (reading and _meaning_by_spelling(schema_, type, value, reading, modes)) or _meaning(
        type, value, modes, snapshot
    )
    if meaning.value is None and not nullable:
        meaning = _not_null_fallback(type, schema_, meaning, modes)
    return wired(
        schema_,
        type,
        _class(type, cls, meaning, modes.escapes_labels and not snapshot),
        meaning,
        modes,
    )


def _class(type: SourceType, cls: str, meaning: Meaning, escapes: bool) -> str:
    """The class of a value, by which rules select cells: `cls`, but for forms of the connector:
    `escaped` labels of ENUM, decimals as text with an `exponent`, `spatial` values, and binaries,
    whose class is that of the padded value.
    """
    match type.logical, meaning.value:
        case Logical.ENUM, str() if escapes and "\\" in meaning.value:
            return "escaped"
        case Logical.JSON, _ if type.name in mysql.SPATIAL:
            return "spatial"
        case Logical.DECIMAL, str() if "E" in meaning.value:
            return "exponent"
        case Logical.BINARY, _ if isinstance(meaning.canonical, bytes):
            return mysql.value_class(type, meaning.canonical)
    return cls


def _not_null_fallback(
    type: SourceType, schema_: Schema, meaning: Meaning, modes: Modes
) -> Meaning:
    """What the connector writes in a NOT NULL column in place of a value that becomes null, and
    what a reader gets of it; `meaning` says why it becomes null.
    """
    zero: Value = _EPOCH_DATE if type.logical is Logical.DATE else 0
    return Meaning(fallback(schema_, modes), zero, meaning.reason)


def fallback(schema_: Schema, modes: Modes) -> Any:
    """The value that the connector writes in a NOT NULL column which has none: 0, false, "", the
    epoch, empty bytes (debezium#before-fallback).
    """
    match schema_.name.rpartition(".")[2]:
        case "ZonedTimestamp" | "IsoTimestamp":
            return "1970-01-01T00:00:00Z"
        case "IsoDate":
            return "1970-01-01Z"
        case "IsoTime":
            return "00:00:00Z"
        case "Json":
            return "{}"
        case "Decimal":
            return values.zero_decimal(schema_, modes)
    return {"string": "", "bytes": b"", "boolean": False, "float": 0.0, "double": 0.0}.get(
        schema_.type, 0
    )


_FLOAT_MAX: Final = 3.4028235677973366e38
"""Beyond this number Java rounds a double to an infinite float."""
_SIGNED: Final = "the connector takes the column, as the statement spells it, for a signed one"
_REAL: Final = "REAL is written as binary32"
_BARE: Final = "BINARY without a length is not padded: the server strips its zero byte"
_AS_TEXT: Final = "a text in the character set binary is written as text"
_UNFIT: Final = "the connector leaves out a value that does not fit the schema of this spelling"
_LATIN: Final = json.dumps("a\xff\0\xc3\xa9")
"""The JSON of the text that the bytes in the table of readings are in Latin-1."""


def shown_spelling(declared: str) -> str:
    """The spelling of a type by which a snapshot reads it, that of SHOW CREATE TABLE: of a FLOAT
    with digits, which `spelling_words` calls FLOAT(M,D), the declared one; "" for any other type,
    which MySQL shows in its usual spelling.
    """
    return declared if spelling_words(declared).startswith("FLOAT(M,D)") else ""


def _meaning_by_spelling(
    schema_: Schema, type: SourceType, value: Value, reading: ColumnReading, modes: Modes
) -> Meaning | None:
    """What the connector writes for a value whose form depends on how a streamed statement spells
    the type (debezium#declared-types), and what a reader gets of it; None for a value whose form
    does not depend on that. `reading` is what the connector makes of the spelling.
    """
    if reading.unfit:
        return Meaning(None, None, _UNFIT, lost=True)
    if schema_.type == "boolean":
        return Meaning(
            bool(value),
            int(bool(value)),
            "" if value in (0, 1) else "BOOLEAN is true or false: other numbers are true",
        )
    match value:
        case float() if type.logical is Logical.DOUBLE and schema_.type == "float":
            if abs(value) > _FLOAT_MAX:
                return Meaning(math.copysign(math.inf, value), None, _REAL, lost=True, corrupt=True)
            near = mysql.to_float32(value)
            shortest = float(values.shortest(near))
            more = (shortest, mysql.to_float32(shortest)) if modes.avro else ()
            return Meaning(
                near,
                value,
                "" if near == value else _REAL,
                options=(near, float(float_text(near)), *more),
            )
        case float():
            return Meaning(value, value)
        case int() if reading.is_signed and value > (high := type.high or 0) >> 1:
            return Meaning(value - high - 1, value, _SIGNED, lost=True, corrupt=True)
        case bytes() if schema_.type == "string":
            stored = value.rstrip(b"\0") if type.name == "binary" else value
            as_text = stored.decode("latin-1" if reading.value == _LATIN else "utf-8", "replace")
            # A VARBINARY may hold the bytes that the text would stand for; a BINARY(n) cannot.
            misreadings = _bytes_of_text(as_text, modes) if type.name == "binary" else ()
            return Meaning(as_text, None, _AS_TEXT, misreadings, lost=True, corrupt=True)
        case bytes() if not value.rstrip(b"\0"):
            return Meaning(values.binary_value(b"", modes), b"", _BARE, options=(b"", b"\0"))
    return None


def _bytes_of_text(wire_text: str, modes: Modes) -> tuple[Value, ...]:
    """The bytes for which a decoder may take a text that is no binary, since the text is also valid
    in the mode's form of binaries: hex, else base64 of whole groups. () if it is not valid, or
    empty: an empty text stands for the same bytes in every form.
    """
    if modes.binary == "hex":
        return (bytes.fromhex(wire_text),) if re.fullmatch("(?:[0-9a-f]{2})+", wire_text) else ()
    return (
        (base64.b64decode(wire_text, b"-_"),)
        if re.fullmatch("(?:[\\w-]{4})+", wire_text, re.ASCII)
        else ()
    )


def _meaning(type: SourceType, value: Value, modes: Modes, snapshot: bool) -> Meaning:
    """What the connector writes for a value that is not NULL, and what a reader gets of it.
    `snapshot` says that a snapshot reads the value, not the binlog. Raises TypeError for a value
    that is none of the type's.
    """
    match type.logical, value:
        case Logical.INT, int():
            return _integer(type, value, modes)
        case Logical.DECIMAL, Decimal():
            return values.decimal_value(value, type.precision or 0, type.scale or 0, modes)
        case Logical.FLOAT, float() if snapshot:
            single = mysql.to_float32(float(f"{value:.6g}"))
            return Meaning(
                single,
                single,
                "" if single == value else "a snapshot reads FLOAT with six significant digits",
            )
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return Meaning(value, value)
        case Logical.BIT, int() if type.length == 1:
            return Meaning(bool(value), value)
        case Logical.BIT, int():
            return Meaning(value.to_bytes((type.length or 1) + 7 >> 3, "little"), value)
        case Logical.TEXT, str():
            stored = value.rstrip(" ") if type.name == "char" else value
            stored = (
                "".join("?" if "\ud800" <= c <= "\udfff" else c for c in stored)
                if not _fits_utf8(stored)
                else stored
            )
            return Meaning(
                stored,
                stored,
                "" if stored == value else "MySQL strips the trailing spaces of CHAR",
            )
        case Logical.BINARY, bytes():
            padded = value.ljust(type.length or 0, b"\0") if type.name == "binary" else value
            return Meaning(
                values.binary_value(padded, modes),
                padded,
                "" if padded == value else "BINARY is padded with zero bytes",
            )
        case ((Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP), ZeroDate()):
            if type.logical is Logical.TIMESTAMP and not snapshot and modes.zero_timestamp_is_epoch:
                zoned = values.zoned_text(0, _fraction_digits(type, modes, snapshot))
                return Meaning(zoned, 0, _ZERO_TIMESTAMP, options=(0, value))
            return Meaning(None, None, _ZERO)
        case Logical.DATE, date():
            adjusted, reason = _adjust_date(value, modes)
            return Meaning(
                values.date_value((adjusted - _EPOCH_DATE).days, modes), adjusted, reason
            )
        case Logical.DATETIME, int():
            return _datetime(value, type.fsp, modes)
        case Logical.TIMESTAMP, int():
            return Meaning(values.zoned_text(value, _fraction_digits(type, modes, snapshot)), value)
        case Logical.TIME, int():
            shown_time = (
                misread_time(value, type.fsp) if modes.misreads_time and not snapshot else value
            )
            meaning = values.time_value(shown_time, type.fsp, modes)
            if shown_time == value:
                return meaning
            return replace(
                meaning,
                reason=meaning.reason or _MISREAD_TIME,
                corrupt=not mysql.fits(type, shown_time),
            )
        case Logical.YEAR, int():
            return _year(value, modes, snapshot)
        case Logical.ENUM, int():
            label_text = (
                label(type.members[value - 1], modes.escapes_labels and not snapshot, modes)
                if value
                else ""
            )
            options = (
                (0, type.members.index("") + 1) if not label_text and "" in type.members else ()
            )
            return Meaning(
                label_text,
                value,
                "the empty label and the empty value are written alike" if options else "",
                options,
            )
        case Logical.SET, int():
            escapes = modes.escapes_labels and not snapshot
            return Meaning(
                ",".join(
                    label(m, escapes, modes) for i, m in enumerate(type.members) if value >> i & 1
                ),
                value,
            )
        case Logical.JSON, Json() if type.name in mysql.SPATIAL:
            return _spatial(type, value)
        case Logical.JSON, Json():
            return Meaning(
                stored_json(value.value) if snapshot else streamed_json(value.value), value
            )
    raise TypeError(f"{value!r} is no value of {type.key}")


def misread_time(value: int, fsp: int) -> int:
    """The microseconds that connectors up to 1.9 read for a streamed TIME of so many: a negative
    one without a fraction is wrong (debezium#negative-time). The binlog has it in two's complement,
    from which they take 1 twice: once field by field, once of a fraction that is 0.

    `fsp` is the column's number of fraction digits. Of a fraction of 0 they read too much (`over`):
    2.147483 seconds with 1 to 4 digits, 1.048576 with more.
    """
    seconds, fraction = divmod(abs(value), mysql.MICROS)
    if value >= 0 or fraction:
        return value
    packed = (seconds // 3600 << 12 | seconds // 60 % 60 << 6 | seconds % 60) - 1
    hours, minutes, second = packed >> 12, packed >> 6 & 63, packed & 63
    if not fsp and second < 59:
        second += 1
    over = 0 if not fsp else _LARGEST_INT // 1000 if fsp <= 4 else 1 << 20
    return -(((hours * 60 + minutes) * 60 + second) * mysql.MICROS + over)


_LARGEST_INT: Final = (1 << 31) - 1
"""The largest int of Java."""


def _integer(type: SourceType, value: int, modes: Modes) -> Meaning:
    """What the connector writes for an integer, and what a reader gets of it: the number itself,
    but of a BIGINT UNSIGNED a decimal in mode precise, and in mode long a signed number of 64 bits,
    in which large numbers become negative.
    """
    if type.name != "bigint" or not type.unsigned:
        return Meaning(value, value)
    if modes.bigint_unsigned == "precise":
        return Meaning(values.connect_decimal(value, 0, modes), value)
    return Meaning(values.wrap(value), value)


def _fits_utf8(value: str) -> bool:
    """Whether UTF-8 can hold the text: it has no lone surrogate."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fraction_digits(type: SourceType, modes: Modes, snapshot: bool) -> int | None:
    """How many fraction digits the text of a TIMESTAMP has: as many as the column declares in
    streams from release 2.2 on; None, which is as many as needed, before that, in snapshots, and
    where the column declares none.
    """
    return type.fsp if type.fsp and modes.pads_timestamps and not snapshot else None


def _adjust_date(value: date, modes: Modes) -> tuple[date, str]:
    """The date that the connector makes of a date: it moves years of up to two digits to 1970 to
    2069, if its option enable.time.adjuster is set. Also why it changed, "" if it did not.
    """
    if value.year > 99 or not modes.adjusts_years:
        return value, ""
    return value.replace(year=value.year + (2000 if value.year < 70 else 1900)), _TWO_DIGITS


def _datetime(value: int, fsp: int, modes: Modes) -> Meaning:
    """What the connector writes for a DATETIME of `fsp` fraction digits, and what a reader gets of
    it; `value` are the microseconds since 1970. Years up to 99 are moved to 1970 to 2069 if the
    connector adjusts years.
    """
    days, micros_of_day = divmod(value, mysql.DAY)
    adjusted, reason = _adjust_date(_EPOCH_DATE + timedelta(days=days), modes)
    moved = (adjusted - _EPOCH_DATE).days * mysql.DAY + micros_of_day
    meaning = values.datetime_value(moved, fsp, modes)
    return replace(meaning, reason=reason or meaning.reason)


def _year(value: int, modes: Modes, snapshot: bool) -> Meaning:
    """What the connector writes for a YEAR, and what a reader gets of it. The year 0 is written as
    another one: in snapshots as 2000, else as `modes.year_zero`. A reader may return 0 or the year
    that is written (`options`).
    """
    if value:
        return Meaning(value, value)
    if snapshot:
        return Meaning(
            2000, 0, "YEAR 0 of a snapshot is taken for the two-digit year 2000", options=(0, 2000)
        )
    year = modes.year_zero
    return Meaning(
        year,
        0,
        f"YEAR 0 of the binlog is written as {year}, which no other YEAR is",
        options=(0, year),
    )


def _spatial(type: SourceType, value: Json) -> Meaning:
    """What the connector writes for a spatial value: a struct of the well-known binary, before
    which a point's coordinates stand (debezium#spatial).
    """
    wkb = bytes.fromhex(value.value["wkb"])
    x, y = struct.unpack("<dd", wkb[5:]) if type.name == "point" else (None, None)
    fields: dict[str, Any] = {"wkb": wkb, "srid": value.value["srid"] or None}
    if type.name == "point":
        fields = {"x": x, "y": y, **fields}
    return Meaning(
        fields,
        Json({**fields, "wkb": base64.b64encode(wkb).decode()}),
        "a spatial value is a struct with its WKB",
    )


def label(text: str, escapes: bool, modes: Modes) -> str:
    """A label of ENUM or SET as the connector's DDL parser keeps it. With `escapes` (in streams,
    not in snapshots) each backslash is doubled and, where `modes` says so, a backslash stands
    before each comma (debezium#enum-label); without, it is unchanged.
    """
    spelled = text.replace("\\", "\\\\") if escapes else text
    return spelled.replace(",", "\\,") if escapes and modes.escapes_commas else spelled


def _listed_label(text: str, modes: Modes) -> str:
    """A label as it stands in the list of labels in a schema (debezium#enum-label): as the DDL
    parser keeps it. Releases whose parser does not escape commas (since 3.7) escape the label again
    for the list, backslashes and commas.
    """
    spelled = label(text, True, modes)
    if modes.escapes_commas:
        return spelled
    return spelled.replace("\\", "\\\\").replace(",", "\\,")


def streamed_json(value: Any) -> str:
    """A JSON document as the binlog client prints it: no spaces, keys as MySQL stores them, doubles
    as Java prints them.
    """
    return document_text(value, double_text, quoted, comma=",", colon=":")


def stored_json(value: Any) -> str:
    """A JSON document as MySQL prints it, which snapshots read: a space after `,` and `:`."""
    return document_text(
        value, lambda number: json.dumps(number).replace("e+", "e").replace("e-0", "e-"), quoted
    )
