"""PostgreSQL's columns as Debezium's PostgreSQL connector writes them: `wire(kind, value, modes)`
gives schema, value and Cell.

Source: the page debezium of the sources. `modes` are those of `values`. A cell that holds the
placeholder of unavailable values has the class `unavailable`, whether the connector or a user put
it there; a struct of scale and value `variable-scale`; of an old row that was not sent, nulls have
`not-sent` and fallbacks `fallback`.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any, Final

from generators.errors import Refused
from generators.families.connect import Schema, payload_text
from generators.families.debezium import values
from generators.families.debezium.structured import (
    struct_fallback,
    struct_kind,
    struct_parts,
    struct_schema,
)
from generators.families.debezium.values import DebeziumCell, Meaning, Modes, semantic, wired
from generators.families.java_text import (
    double_text,
    hash_order,
    java_decimal,
    two_complement,
    unscaled,
)
from generators.model import Column, Json, Logical, Row, SourceType, Value
from generators.sources import (
    mysql,
    postgresql,
    postgresql_text,
    postgresql_toast,
    postgresql_values,
)
from generators.sources.mysql import DAY, MICROS
from generators.sources.postgresql_toast import Stored
from generators.sources.postgresql_types import postgresql_types

UNAVAILABLE: Final = postgresql_values.UNAVAILABLE
_FIXED: Final = {
    **dict.fromkeys(("bigint", "double precision", "time", "timestamp", "timestamptz"), (8, 8)),
    **dict.fromkeys(("integer", "real", "date", "enum", "oid"), (4, 4)),
    **dict.fromkeys(("interval", "point"), (16, 8)),
    "smallint": (2, 2),
    "boolean": (1, 1),
    "money": (8, 8),
    "timetz": (12, 8),
    "uuid": (16, 1),
    "name": (64, 1),
    "macaddr": (6, 4),
}
"""How many bytes a value takes in a row, and at multiples of how many bytes it begins, by type:
those whose values all take the same.
"""

MONTH: Final = DAY * 30 + DAY * 4375 // 10_000
"""Microseconds of a month in `io.debezium.time.MicroDuration`: 365.25 / 12 days."""

_EPOCH_DATE: Final = date(1970, 1, 1)
_HIDDEN: Final = (
    "the placeholder of an unchanged TOASTed value, or the same as genuine data: the bytes do not"
    " tell"
)
"""Why a cell with the placeholder may hold anything."""


@lru_cache(maxsize=4096)
def schema(type: SourceType, modes: Modes, nullable: bool = True) -> Schema:
    """The Connect schema of a column of that type. Raises KeyError for a type that this module does
    not know.
    """
    if kind := struct_kind(type, modes):
        return struct_schema(kind, nullable)
    match type.logical:
        case Logical.INT:
            return Schema(postgresql_types()[type.name].integer_schema, nullable)
        case Logical.DECIMAL if type.name == "money":
            return values.decimal_schema(
                None, modes.money_digits, modes, nullable, mode=_money(modes)
            )
        case Logical.DECIMAL if postgresql_values.unconstrained(type) and modes.precise:
            fields = (("scale", Schema("int32")), ("value", Schema("bytes")))
            name = "io.debezium.data.VariableScaleDecimal"
            return Schema("struct", nullable, name, 1, "Variable scaled decimal", fields=fields)
        case Logical.DECIMAL:
            return values.decimal_schema(type.precision, _wire_scale(type), modes, nullable)
        case Logical.FLOAT:
            return Schema("float", nullable)
        case Logical.JSON if _is_single(type):
            return schema(postgresql.element(type), modes, nullable)
        case Logical.JSON if type.name.endswith("[]"):
            element = _element(type)
            return Schema("array", nullable, items=schema(element, modes, element.name != "enum"))
        case Logical.JSON if type.name == "point":
            return values.point_schema(nullable)
        case Logical.JSON if type.name == "hstore" and modes.hstore == "map":
            return Schema("map", nullable, items=Schema("string", True))
    if common := values.common_schema(type, modes, nullable):
        return common
    match type.name:
        case "interval" if modes.interval == "numeric":
            return semantic("int64", "io.debezium.time.MicroDuration", nullable)
        case "interval":
            return semantic("string", "io.debezium.time.Interval", nullable)
        case "timetz":
            return semantic("string", "io.debezium.time.ZonedTime", nullable)
        case "uuid":
            return semantic("string", "io.debezium.data.Uuid", nullable)
        case "enum":
            return semantic(
                "string", "io.debezium.data.Enum", nullable, ("allowed", ",".join(type.members))
            )
    if _is_shape(type.name, modes):
        return values.circle_schema() if type.name == "circle" else values.geometry_schema(modes)
    if _is_unknown(type.name, modes):
        return values.binary_schema(modes, nullable)
    if semantic_type := postgresql_types()[type.name].debezium_semantic:
        return semantic("string", f"io.debezium.data.{semantic_type}", nullable)
    return Schema("string", nullable)


def _is_unknown(name: str, modes: Modes) -> bool:
    """Whether the connector knows no schema for a type of that name, and writes its bytes if
    `include.unknown.datatypes` is set.
    """
    return (name in postgresql.UNKNOWN and not _is_shape(name, modes)) or (
        name == "tsvector" and not modes.has_tsvector
    )


def _is_shape(name: str, modes: Modes) -> bool:
    """Whether the connector has a schema of its own for a shape of that name (debezium#shapes)."""
    return modes.knows_shapes and name in _SHAPES


_SHAPES: Final = ("box", "circle")
"""The shapes that recorded tables have, which have schemas since 3.7."""


def _is_document(type: SourceType, modes: Modes) -> bool:
    """Whether the connector writes a struct for a value that the model keeps as text: a shape, or
    in mode structured a time with zone or an interval.
    """
    if type.logical is not Logical.TEXT:
        return False
    return _is_shape(type.name, modes) or struct_kind(type, modes) is not None


def is_left_out(type: SourceType, modes: Modes, unknown_types: bool) -> bool:
    """Whether the connector leaves columns of that type out of schemas and rows
    (debezium#left-out).
    """
    name = type.name.removesuffix("[]")
    if type.name.endswith("[]"):
        arrays = postgresql_types()[name].debezium_array
        if arrays == "never" or (arrays == "bytea-arrays" and not modes.has_bytea_arrays):
            return True
    return not unknown_types and _is_unknown(name, modes)


def _is_single(type: SourceType) -> bool:
    """Whether the connector takes an array of that type for one value (debezium#bit-arrays)."""
    name, brackets, _ = type.name.partition("[]")
    return bool(brackets) and postgresql_types()[name].debezium_array == "single"


def _wire_scale(type: SourceType) -> int:
    """The scale of a numeric as the connector reads it, from the 11 bits in which PostgreSQL keeps
    it: a scale of -2 is read as 2046 (debezium#negative-scale).
    """
    return (type.scale or 0) & 0x7FF


def _money(modes: Modes) -> str:
    """The mode in which the type money is written: `decimal.handling.mode` from release 1.8 on,
    before that precise. `modes.decimal` may also be `numeric`, which the connector takes for
    precise (`modes.precise`): it is an option of the converter, and holds in every release.
    """
    return modes.decimal if modes.precise or modes.money_follows_decimal else "precise"


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
    in a NOT NULL column is replaced by a fallback (`not_sent`). `snapshot` says that a snapshot
    reads the value, not the log. `declared` changes nothing: PostgreSQL's types have one spelling.
    Raises TypeError for a value that is none of the type's, Refused for a value at which the
    connector stops: a NaN, an infinity or an array of bits in a NOT NULL column.
    """
    if value is None:
        return (
            not_sent(type, modes, nullable)
            if not nullable
            else wired(schema(type, modes, True), type, "", Meaning(None), modes)
        )
    if _is_placeholder(value) and not (isinstance(value, bytes) and modes.binary == "hex"):
        return _placeholder_cell(type, modes, nullable)
    lost_name = not snapshot and (
        type.name == "name" or (type.name == "ltree" and modes.loses_streamed_ltree)
    )
    meaning = (
        Meaning(None if nullable else "", None, _NAME, lost=True)
        if lost_name
        else _meaning(type, value, modes, snapshot)
    )
    if not nullable and isinstance(value, Decimal) and meaning.value is None:
        raise Refused(
            f"Debezium stops at {value} in a NOT NULL column of {type.key}"
            " (debezium#special-numerics)"
        )
    if not nullable and _is_single(type):
        raise Refused(
            f"Debezium stops at a value in a NOT NULL column of {type.name} (debezium#bit-arrays)"
        )
    schema_ = schema(type, modes, nullable)
    cls = _class(type, value, modes, schema_, meaning)
    if _is_document(type, modes):
        type = replace(type, logical=Logical.JSON)
    return wired(schema_, type, cls, meaning, modes)


def _class(type: SourceType, value: Value, modes: Modes, schema_: Schema, meaning: Meaning) -> str:
    """The class of a value, by which rules select cells. It is PostgreSQL's own, but for forms of
    the connector: decimals of `variable-scale`, times in `unit-millis`, dates `beyond` what
    readers' types hold, `empty` bits, values of an `unknown-type`. A time that PostgreSQL's own
    classes call `over-24h` keeps that class in milliseconds, too.
    """
    if _is_unknown(type.name, modes):
        return "unknown-type"
    if _is_shape(type.name, modes):
        return "spatial"
    if meaning.reason in (_BEYOND, _NO_BITS):
        return "beyond" if meaning.reason == _BEYOND else "empty"
    if schema_.name == "io.debezium.data.VariableScaleDecimal":
        return "variable-scale"
    plain = postgresql.value_class(type, value)
    return (
        "unit-millis" if schema_.name == "io.debezium.time.Time" and plain != "over-24h" else plain
    )


def not_sent(type: SourceType, modes: Modes, nullable: bool) -> DebeziumCell:
    """The cell of a column of which the server sent no old value: null, or in a NOT NULL column a
    fallback by type, such as 0, false, "", the epoch or empty bytes (debezium#before-fallback).
    """
    schema_ = schema(type, modes, nullable)
    if nullable:
        return wired(
            schema_,
            type,
            "not-sent",
            Meaning(None, None, "the server sends the old key alone"),
            modes,
        )
    fallback_value: Any = (
        {}
        if schema_.type == "map"
        else _JSON_OBJECT
        if type.name == "hstore"
        else _fallback(schema_, modes)
    )
    if _is_shape(type.name, modes):
        fallback_value = _shape(type.name, _FALLBACKS[type.name])
    elif struct_kind(type, modes):
        fallback_value = struct_fallback(type)
    if type.logical is Logical.DECIMAL and schema_.type == "string":
        scale = 0 if postgresql_values.unconstrained(type) else _wire_scale(type)
        fallback_value = java_decimal(0, scale, plain=modes.plain_decimals)
    return wired(
        schema_,
        type,
        "fallback",
        Meaning(fallback_value, None, "a fallback for a value that was not sent", lost=True),
        modes,
    )


_JSON_OBJECT: Final = "{}"
"""The fallback of an hstore that is written as text."""


def _fallback(schema_: Schema, modes: Modes) -> Any:
    """The value that the connector writes in a NOT NULL column for which it has no value, by the
    column's Connect schema.
    """
    match schema_.name.rpartition(".")[2]:
        case "Point":
            return {"x": 0.0, "y": 0.0, "wkb": struct.pack("<BIdd", 1, 1, 0.0, 0.0), "srid": None}
        case "VariableScaleDecimal":
            return {"scale": 0, "value": b"\x00"}
        case "Decimal":
            return values.zero_decimal(schema_, modes)
        case "ZonedTimestamp" | "IsoTimestamp":
            return "1970-01-01T00:00:00Z"
        case "ZonedTime" | "IsoTime":
            return "00:00:00Z"
        case "IsoDate":
            return "1970-01-01Z"
        case "Interval":
            return "P0Y0M0DT0H0M0S"
    return {
        "string": "",
        "bytes": b"",
        "boolean": False,
        "float": 0.0,
        "double": 0.0,
        "array": [],
    }.get(schema_.type, 0)


def out_of_line(columns: Iterable[Column], source_row: Row, target: int) -> frozenset[str]:
    """The names of the columns whose values PostgreSQL stores outside of the row (TOAST), so that
    the row has at most `target` bytes. The log does not have such a value for an UPDATE that leaves
    it as it is. How arrays, numbers, hstore and bit strings are compressed is not known here: of
    these, a value counts if it alone has more than `target` bytes.
    """
    values = [(column, source_row.get(column.name)) for column in columns]
    stored = [_stored(column, value, target) for column, value in values if value is not None]
    return postgresql_toast.out_of_line(stored, len(values) - len(stored), target)


def _stored(column: Column, value: Value, target: int) -> Stored:
    """A column's value as PostgreSQL stores it in a row that is to have at most `target` bytes: its
    size, or its bytes where these may be compressed. A value of another type that alone is larger
    than `target` counts as stored outside of the row, which has a pointer to it.
    """
    name, type, storage = column.name, column.type, column.storage or "extended"
    if fixed := _FIXED.get(type.name):
        size, alignment = fixed
        return Stored(name, None, size, alignment)
    match value:
        case str():
            return Stored.of_bytes(name, value.encode("utf-8", "surrogatepass"), storage)
        case bytes():
            return Stored.of_bytes(name, value, storage)
        case Json() if type.name in ("json", "jsonb"):
            json_text = value.text or postgresql_text.json_text(type, value.value)
            return Stored.of_bytes(name, json_text.encode(), storage)
    size = _rough_size(type, value)
    if size > target:
        return Stored(name, None, postgresql_toast.POINTER, 1, external=True)
    return Stored(name, None, size, 4)


def _rough_size(type: SourceType, value: Value) -> int:
    """About how many bytes a value takes whose stored form is not computed here."""
    match value:
        case Decimal():
            return len(value.as_tuple().digits) // 2
        case int():
            return value.bit_length() // 8
        case Json():
            items = value.value
            size = postgresql_types()[type.name.removesuffix("[]")].bytes
            return len(items) * size if size else len(json.dumps(items, default=str))
    return 0


def unavailable(type: SourceType, modes: Modes, nullable: bool) -> DebeziumCell:
    """The cell of a value that is stored outside of the row and did not change, so that the server
    does not send it: the placeholder (debezium#unavailable-value) in the column's type. Where the
    connector has none for the type, up to release 2.0 for all arrays, it is null, or the empty
    value in a NOT NULL column.
    """
    if type.name.endswith("[]") and (
        not modes.unavailable_arrays or _has_no_placeholder(type, modes)
    ):
        empty: Any = []
        lost = (
            "the connector leaves an unchanged TOASTed array null up to 2.0, one of texts of bytes"
            " always"
        )
    elif _has_no_placeholder(type, modes):
        empty, lost = b"", _UNWRITTEN
    else:
        return _placeholder_cell(type, modes, nullable)
    meaning = Meaning(None if nullable else empty, None, lost, lost=True)
    return wired(schema(type, modes, nullable), type, "unavailable", meaning, modes)


_NAME: Final = "a streamed column of the type name is always null, up to 1.9 one of ltree"
"""Why a value of the type name, or of ltree, is lost."""
_UNWRITTEN: Final = (
    "the connector has no placeholder of this type: an unchanged value out of line is null"
)
"""Why a value that was not sent is null, in types without a placeholder."""


def _has_no_placeholder(type: SourceType, modes: Modes) -> bool:
    """Whether the connector has no placeholder for a value of this type that the server did not
    send (debezium#unavailable-value).
    """
    return (
        (type.logical is Logical.DECIMAL and modes.decimal != "string")
        or (type.name == "bytea" and modes.binary.startswith("base64"))
        or (type.name == "bytea[]" and modes.binary != "bytes")
        or type.logical is Logical.BIT
    )


def _placeholder_cell(type: SourceType, modes: Modes, nullable: bool) -> DebeziumCell:
    """The cell that holds the placeholder: for a value stored outside of the row (TOAST), which an
    UPDATE did not change and the server does not send, or for a user's value that looks the same.
    """
    placeholder: Any = UNAVAILABLE
    match type.name:
        case "bytea":
            placeholder = (
                UNAVAILABLE
                if modes.binary == "hex"
                else values.binary_value(UNAVAILABLE.encode(), modes)
            )
        case "text[]" | "varchar[]" | "json[]" | "jsonb[]":
            placeholder = [UNAVAILABLE]
        case "bytea[]":
            placeholder = [values.binary_value(UNAVAILABLE.encode(), modes)]
        case "uuid[]":
            placeholder = [_UUID]
        case "hstore" if modes.hstore == "map":
            placeholder = {UNAVAILABLE: UNAVAILABLE}
        case "hstore" if modes.unavailable_hstore_is_object:
            placeholder = json.dumps({UNAVAILABLE: UNAVAILABLE}, separators=(",", ":"))
        case "integer[]" | "bigint[]" | "date[]":
            placeholder = list(UNAVAILABLE.encode())
    # a JSON column whose text is no JSON, a number's whose text is no number
    corrupt = type.logical is Logical.DECIMAL or (
        type.logical is Logical.JSON and placeholder == UNAVAILABLE
    )
    meaning = Meaning(
        placeholder,
        None,
        _HIDDEN,
        (_typed_placeholder(type, placeholder),),
        lost=True,
        corrupt=corrupt,
    )
    return wired(schema(type, modes, nullable), type, "unavailable", meaning, modes)


def _typed_placeholder(type: SourceType, placeholder: Any) -> Value:
    """The placeholder as a value of the column's type: what a decoder returns that does not know it
    as a placeholder.
    """
    if type.name.endswith("[]"):
        return Json(
            [
                base64.b64encode(element).decode() if isinstance(element, bytes) else element
                for element in placeholder
            ]
        )
    return UNAVAILABLE.encode() if type.name == "bytea" else UNAVAILABLE


_UUID: Final = "b68a35a7-17ad-35b3-af2a-ae46edb4545a"
"""`UUID.nameUUIDFromBytes` of the placeholder."""


def _is_placeholder(value: Value) -> bool:
    """Whether a value that a user stored looks like the connector's placeholder: the text, its
    bytes, or of an array of texts the one item. A JSON document that is that text does not, since
    it is in quotes on the wire; other types' placeholders are not looked for.
    """
    match value:
        case str():
            return value == UNAVAILABLE
        case bytes():
            return value == UNAVAILABLE.encode()
        case Json([str() as text]):
            return text == UNAVAILABLE
    return False


def _meaning(type: SourceType, value: Value, modes: Modes, snapshot: bool = False) -> Meaning:
    """What the connector writes for a value that is not NULL, and what a reader gets of it.
    `snapshot` says that a snapshot reads the value, not the log. Raises TypeError for a value that
    is none of the type's.
    """
    if struct_kind(type, modes):
        return _struct_meaning(type, value, modes)
    match type.logical, value:
        case Logical.INT, int():
            return Meaning(value, value)
        case Logical.DECIMAL, Decimal():
            return _decimal(type, value, modes, snapshot)
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return Meaning(value, value)
        case Logical.BIT, "":
            return Meaning(
                None if type.length == 1 else b"", None if type.length == 1 else 0, _NO_BITS
            )
        case Logical.BIT, int() if (
            snapshot and modes.snapshot_loses_varbit and (type.name, type.length) == ("varbit", 1)
        ):
            return Meaning(None, None, _NO_BIT, lost=True)
        case Logical.BIT, int():
            bits = (
                bool(value)
                if type.length == 1
                else value.to_bytes(value.bit_length() + 7 >> 3, "little")
            )
            return Meaning(bits, value)
        case Logical.BINARY, bytes():
            return Meaning(values.binary_value(value, modes), value)
        case ((Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP), str()):
            return _unreadable_moment(_infinite_moment(type, value, modes, snapshot))
        case Logical.DATE, date():
            return Meaning(values.date_value((value - _EPOCH_DATE).days, modes), value)
        case Logical.DATE, int():
            return _unreadable_moment(values.date_value(value, modes))
        case Logical.DATETIME, int():
            meaning = values.datetime_value(value, type.fsp, modes)
            return meaning if _is_common(value) else _unreadable_moment(meaning.value)
        case Logical.TIMESTAMP, int():
            width = type.fsp if type.fsp and modes.pads_timestamps else None
            zoned = values.zoned_text(value, width)
            return Meaning(zoned, value) if _is_common(value) else _unreadable_moment(zoned)
        case Logical.TIME, int():
            return values.time_value(value, type.fsp, modes)
        case Logical.JSON, Json() if type.name.endswith("[]"):
            return _array(type, value, modes)
        case Logical.JSON, Json():
            return _document(type, value, modes)
        case Logical.TEXT, str():
            return _text_meaning(type, value, modes)
    raise TypeError(f"{value!r} is no value of {type.key}")


def _struct_meaning(type: SourceType, value: Value, modes: Modes) -> Meaning:
    """What the connector writes in mode structured for a date, time or interval, and what a reader
    gets of it: of a time with zone or an interval the struct itself. Raises TypeError for a value
    that is none of the type's.
    """
    parts = struct_parts(type, value)
    if parts is None:
        return Meaning(None, None, _NO_END_OF_DAY)
    match type.logical, value:
        case Logical.TEXT, _:
            return Meaning(
                parts, Json(json.loads(payload_text(schema(type, modes), parts))), _PARTS
            )
        case (Logical.TIME, int()) | (Logical.DATE, date()):
            return Meaning(parts, value)
        case ((Logical.DATETIME | Logical.TIMESTAMP), int()) if _is_common(value):
            return Meaning(parts, value)
    return _unreadable_moment(parts)


_NO_END_OF_DAY: Final = "a time of 24:00:00 is null in mode structured"
_PARTS: Final = "a time with zone and an interval are structs of their parts"
_NO_BITS: Final = "an empty bit string is written as zero, a varbit(1) as null"
_NO_BIT: Final = "a snapshot reads a varbit(1) as null, up to 3.5"
_BEYOND: Final = "an infinite date, or one that is not of the years 1 to 9999"
_SPECIAL: Final = "NaN and infinities of numeric are null in mode precise, names in mode string"
_INFINITE_DATES: Final = {"infinity": -2_147_472_692, "-infinity": -2_147_472_691}
"""The days since 1970 that a streamed infinite date has."""
_INFINITE_READ: Final = {"infinity": -622_191_234, "-infinity": -625_821_272}
"""The days since 1970 that an infinite date has in a snapshot, or in an array."""
_INFINITE_MOMENTS: Final = {
    "infinity": 9_223_372_036_825_200_000,
    "-infinity": -9_223_372_036_832_400_000,
}
"""The driver's numbers for infinite timestamps, which are milliseconds since 1970. Up to 3.6 the
connector takes them for microseconds.
"""
_NAMES: Final = {"NaN": "NAN", "Infinity": "POSITIVE_INFINITY", "-Infinity": "NEGATIVE_INFINITY"}
"""What the connector writes in mode string for a numeric that is no finite number."""


def _is_common(micros: int) -> bool:
    """Whether a moment, in microseconds since 1970, is one of those that readers' types hold."""
    return postgresql_values.TIMESTAMP_MIN <= micros <= postgresql_values.TIMESTAMP_MAX


def _unreadable_moment(wire_value: Any) -> Meaning:
    """The meaning of a written moment that the types of Python and Spark cannot hold: a reader may
    return anything for it, or refuse the message.
    """
    return Meaning(wire_value, None, _BEYOND, lost=True, corrupt=True)


def unreadable_cell(
    type: SourceType, wire_value: str, modes: Modes, nullable: bool
) -> DebeziumCell:
    """The cell of a written date or time that the types of Python and Spark cannot hold."""
    schema_ = schema(type, modes, nullable)
    return wired(schema_, type, "beyond", _unreadable_moment(wire_value), modes)


def _infinite_moment(type: SourceType, value: str, modes: Modes, snapshot: bool) -> Any:
    """What the connector writes for the date or timestamp `infinity` or `-infinity`: a timestamp
    with zone as that text, a date as a day of its own, which differs in a `snapshot`, a timestamp
    without zone as a moment of its own (debezium#infinite-dates).
    """
    if type.logical is Logical.TIMESTAMP:
        return value
    if type.logical is Logical.DATE:
        streamed = {**_INFINITE_DATES, "infinity": modes.infinite_day}
        return values.date_value((_INFINITE_READ if snapshot else streamed)[value], modes)
    moment = _INFINITE_MOMENTS[value]
    if not modes.infinities_are_millis:
        return values.datetime_value(moment, type.fsp, modes).value
    return values.datetime_value(moment * 1000, type.fsp, modes).value


def _decimal(type: SourceType, value: Decimal, modes: Modes, snapshot: bool) -> Meaning:
    """What the connector writes for a numeric or money, and what a reader gets of it. In mode
    precise a numeric without a declared scale is a struct of scale and value, and NaN and
    infinities are null. Money goes through a double in some releases.
    """
    precision, scale = type.precision or 0, type.scale or 0
    if not value.is_finite():
        if modes.precise:
            return Meaning(None, None, _SPECIAL)
        return Meaning(
            _NAMES[str(value)] if modes.decimal == "string" else float(value),
            None,
            _SPECIAL,
            lost=True,
            corrupt=True,
        )
    if type.name == "money":
        double = modes.money_is_double or (snapshot and modes.snapshot_money_is_double)
        read = Decimal(double_text(float(value))) if double else value
        if double and _money(modes) == "string":
            printed_double = double_text(float(value))
            lost = Decimal(printed_double) != value
            return Meaning(printed_double, None if lost else value, _MONEY, lost=lost, corrupt=lost)
        digits = modes.money_digits if modes.precise else 2
        rounded = read.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        meaning = values.decimal_value(rounded, precision, digits, modes, mode=_money(modes))
        if not double:
            return (
                replace(meaning, canonical=value)
                if rounded == value
                else replace(meaning, reason=_ROUNDED)
            )
        lost = abs(rounded) > Decimal(type.high or 0) / 100
        return replace(meaning, reason=_MONEY, lost=lost, corrupt=lost)
    if not postgresql_values.unconstrained(type):
        wire_scale = scale if modes.decimal == "double" else _wire_scale(type)
        return values.decimal_value(value, precision, wire_scale, modes)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    stored = max(-exponent, 0)
    if not modes.precise:
        return values.decimal_value(value, precision, stored, modes)
    number = unscaled(value, stored)
    while stored and number % 10 == 0:
        number, stored = number // 10, stored - 1
    return Meaning({"scale": stored, "value": two_complement(number)}, value)


_ROUNDED: Final = "money.fraction.digits rounds money, half up"
_MONEY: Final = "money goes through a double in snapshots up to 3.5, and up to 1.9 in streams"
"""Why a value of money may not be the source's."""


def _array(type: SourceType, value: Json, modes: Modes) -> Meaning:
    """What the connector writes for an array, and what a reader gets of it: each element as its
    type is written; an array inside of it is null (debezium#arrays). Three kinds of arrays are lost
    as a whole: those of bits, which the connector takes for one value, those of an enum with a
    NULL, those of numeric with NaN or infinity.
    """
    items = value.value
    if _is_single(type):
        return Meaning(None, None, _SINGLE, lost=True)
    if type.name in ("integer[]", "text[]") and not any(isinstance(item, list) for item in items):
        return Meaning(items, value)
    element = _element(type)
    if element.name == "enum" and any(item is None or isinstance(item, list) for item in items):
        return Meaning(None, None, _ENUM_ELEMENTS, lost=True)
    if any(isinstance(item, Decimal) and not item.is_finite() for item in items):
        return Meaning(None, None, _INFINITE_ELEMENTS, lost=True)
    if (
        modes.keeps_end_of_day
        and element.name == "timetz"
        and any(isinstance(item, list) for item in items)
    ):
        return Meaning(None, None, _NESTED_TIMES, lost=True)
    elements = [
        (
            None
            if item is None or isinstance(item, list)
            else _element_value(element, postgresql.item_value(element, item), modes)
        )
        for item in items
    ]
    return Meaning(elements, Json(json.loads(payload_text(schema(type, modes), elements))), _FORMS)


def _element(type: SourceType) -> SourceType:
    """The type of an array's elements as the connector knows it: a time of the most fraction
    digits, whatever its column declares (debezium#arrays).
    """
    element = postgresql.element(type)
    return replace(element, fsp=6) if element.name in _TIMES else element


_TIMES: Final = ("time", "timetz", "timestamp", "timestamptz")
"""The types whose number is that of their fraction digits."""


_LAST_JULIAN: Final = -141_428
"""The day of 1582-10-04 by the Julian calendar, after which the Gregorian one begins."""
_EPOCH_JDN: Final = 2_440_588
"""The Julian day number of 1970-01-01."""


def _element_value(element: SourceType, value: Value, modes: Modes) -> Any:
    """The Connect value of an array's element, which the driver reads through Java's own classes of
    dates: the day of a timestamp before 1582-10-15 is one of the Julian calendar, a date and a
    timestamp with zone keep year, month and day, a time has milliseconds, a time with zone seconds
    (debezium#arrays).
    """
    match element.logical, value:
        case Logical.DATE, date() if struct_kind(element, modes):
            return struct_parts(element, _shown_day((value - _EPOCH_DATE).days))
        case Logical.DATE, str() if struct_kind(element, modes):
            return struct_parts(element, value)
        case Logical.DATE, date():
            return values.date_value(_shown_day((value - _EPOCH_DATE).days), modes)
        case Logical.DATE, str():
            return values.date_value(_INFINITE_READ[value], modes)
        case Logical.DATETIME, int():
            day, micros_of_day = divmod(value, DAY)
            value = _julian_day(day) * DAY + micros_of_day
        case Logical.TIMESTAMP, int():
            day, micros_of_day = divmod(value, DAY)
            value = _shown_day(day) * DAY + micros_of_day
        case Logical.TIME, int():
            value = value % DAY // 1000 * 1000
    if element.name == "timetz" and isinstance(value, str):
        if modes.keeps_end_of_day:
            return _meaning(element, value, modes).value
        micros, offset = postgresql_text.timetz_parts(value)
        return f"{values.iso_time((micros // MICROS * MICROS - offset * MICROS) % DAY)}Z"
    return _meaning(element, value, modes).value


_MISSING_DAYS: Final = range(-141_437, -141_427)
"""1582-10-05 to 1582-10-14, which the calendar of java.sql does not have."""


def _shown_day(day: int) -> int:
    """The day that java.sql shows for a day since 1970: ten days later for one of the days that its
    calendar does not have, else the same.
    """
    return day + 10 if day in _MISSING_DAYS else day


def _julian_day(day: int) -> int:
    """The day, since 1970, that has the same year, month and day by the Julian calendar as `day`
    has by the Gregorian one; for days before 1582-10-15.
    """
    if day > _LAST_JULIAN or not _is_common(day * DAY):
        return day
    gregorian = _EPOCH_DATE + timedelta(days=day)
    # The usual formula of the Julian day number, for a year that begins in March of 4801 BC.
    since_march = (gregorian.month + 9) % 12
    year = gregorian.year + 4800 - (gregorian.month < 3)
    number = gregorian.day + (153 * since_march + 2) // 5 + 365 * year + year // 4 - 32_083
    return number - _EPOCH_JDN


_ENUM_ELEMENTS: Final = (
    "the schema of an enum's array lets no element be null, so the connector leaves out the array"
)
_INFINITE_ELEMENTS: Final = "the driver reads no NaN or infinity in an array of numeric, so the connector leaves out the array"
_NESTED_TIMES: Final = "an array of times with zone that has arrays in it is null, since 3.7"
_SINGLE: Final = "the connector's schema of an array of bits is that of one, so it writes null"
_FORMS: Final = "an array has its elements' forms; one within it is null"


def _document(type: SourceType, value: Json, modes: Modes) -> Meaning:
    """What the connector writes for a value that the model keeps as `Json`, and what a reader gets
    of it: a point, an hstore, or a JSON column.
    """
    match type.name:
        case "point":
            x, y = float(value.value["x"]), float(value.value["y"])
            wkb = struct.pack("<BIdd", 1, 1, x, y)
            fields = {"x": x, "y": y, "wkb": wkb, "srid": None}
            return Meaning(
                fields,
                Json({**fields, "wkb": base64.b64encode(wkb).decode()}),
                "a point is a struct with its WKB",
            )
        case "hstore":
            stored = sorted(value.value, key=mysql.key_order)
            members = {key: value.value[key] for key in hash_order(stored)}
            if modes.hstore == "map":
                return Meaning(members, value)
            return Meaning(json.dumps(members, ensure_ascii=False, separators=(",", ":")), value)
    return Meaning(value.text or postgresql_text.json_text(type, value.value), value)


def _text_meaning(type: SourceType, value: str, modes: Modes) -> Meaning:
    """What the connector writes for a value that the model keeps as text, and what a reader gets of
    it: a time with zone is in UTC, an interval is microseconds or an ISO duration, a type that the
    connector does not know is bytes, any other is the text.
    """
    match type.name:
        case "timetz":
            micros, offset = postgresql_text.timetz_parts(value)
            moment = micros - offset * MICROS
            if not (modes.keeps_end_of_day and (micros, offset) == (DAY, 0)):
                moment %= DAY
            utc = f"{values.iso_time(moment)}Z"
            return Meaning(utc, utc, "a time with zone is written in UTC")
        case "interval":
            months, days, micros = postgresql_text.interval_parts(value)
            if modes.interval == "string":
                iso = interval_text(months, days, micros)
                return Meaning(iso, iso, "an interval is written as an ISO duration")
            duration = micro_duration(months, days, micros)
            limit = _INT64_MAX if duration > 0 else -_INT64_MAX - 1
            if abs(duration) >= _INT64_MAX:
                return Meaning(
                    limit,
                    None,
                    "the interval is beyond 64 bits of microseconds: their limit stands for it",
                    lost=True,
                )
            return Meaning(
                duration,
                str(duration),
                "an interval is written as microseconds, a month as 30.4375 days",
            )
    if _is_shape(type.name, modes):
        shape_fields = _shape(type.name, [float(n[0]) for n in _NUMBER.finditer(value)])
        document = json.loads(payload_text(schema(type, modes), shape_fields))
        return Meaning(shape_fields, Json(document), "a shape is a struct")
    if _is_unknown(type.name, modes):
        # The driver prints the numbers of the shapes that it knows as doubles
        # (debezium#unknown-types).
        driver_text = (
            _NUMBER.sub(lambda m: double_text(float(m[0])), value)
            if type.name in ("box", "circle")
            else value
        )
        return Meaning(
            values.binary_value(driver_text.encode(), modes),
            driver_text,
            "the text of a type that the connector does not know",
        )
    return Meaning(value, value)


_FALLBACKS: Final = {"box": (0.0, 0.0, 1.0, 1.0), "circle": (0.0, 0.0, 0.0)}
"""The numbers of the shapes that stand in NOT NULL columns for a value that was not sent."""


def _shape(name: str, numbers: Sequence[float]) -> dict[str, Any]:
    """The struct of a box or a circle, from the numbers of its text in their order: a box is the
    well-known binary of its ring, with its type beside it, a circle its center and its radius
    (debezium#shapes).
    """
    if name == "circle":
        x, y, radius = numbers
        center = {"x": x, "y": y, "wkb": struct.pack("<BIdd", 1, 1, x, y), "srid": None}
        return {"center": center, "radius": radius}
    x1, y1, x2, y2 = numbers
    ring = (x1, y1, x1, y2, x2, y2, x2, y1, x1, y1)
    wkb = struct.pack("<BIII10d", 1, 3, 1, 5, *ring)
    return {"wkb": wkb, "srid": None, "extensions": {"type": "box"}}


_NUMBER: Final = re.compile(r"-?(?:\d[\d.]*(?:e[-+]?\d+)?|Infinity)|NaN")
"""A number in the text of a box or a circle."""


_INT64_MAX: Final = (1 << 63) - 1
_DAYS_OF_MONTH: Final = 365.25 / 12.0
"""The days of a month in Debezium's intervals."""


def micro_duration(months: int, days: int, micros: int) -> int:
    """The microseconds of an interval by `io.debezium.time.MicroDuration`, which computes in
    doubles and cuts: 00:00:01.001 gives 1000999 (debezium#interval). A month is 365.25 / 12 days.
    `micros` are the interval's time, whose hours, minutes and seconds all have its sign.
    """
    sign = -1 if micros < 0 else 1
    seconds, fraction = divmod(abs(micros), MICROS)
    hours, minutes = sign * (seconds // 3600), sign * (seconds // 60 % 60)
    seconds_of_minute = sign * float(f"{seconds % 60}.{fraction:06d}")
    all_days = months * _DAYS_OF_MONTH + days
    return int((((all_days * 24 + hours) * 60 + minutes) * 60 + seconds_of_minute) * 1e6)


def interval_text(months: int, days: int, micros: int) -> str:
    """The text of an interval by `io.debezium.time.Interval`: an ISO duration with every field,
    each with its sign (debezium#interval).
    """
    years, months_of_year = divmod(abs(months), 12)
    sign, clock = (-1 if months < 0 else 1), (-1 if micros < 0 else 1)
    seconds, fraction = divmod(abs(micros), MICROS)
    seconds_text = str(seconds % 60) + (f".{fraction:06d}".rstrip("0") if fraction else "")
    minus = "-" if clock < 0 and (seconds % 60 or fraction) else ""
    hours, minutes = clock * (seconds // 3600), clock * (seconds // 60 % 60)
    return (
        f"P{sign * years}Y{sign * months_of_year}M{days}DT{hours}H{minutes}M{minus}{seconds_text}S"
    )
