"""PostgreSQL's columns as Debezium's PostgreSQL connector writes them: `wire(kind, value, modes)` gives schema, value and Cell.

Source: the page debezium of the sources. `modes` are those of `values`. A cell that holds the placeholder of unavailable values
has the class `unavailable`, whether the connector or a user put it there; a struct of scale and value `variable-scale`; of an
old row that was not sent, nulls have `not-sent` and fallbacks `fallback`.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from generators.families.connect import Schema
from generators.families.debezium import values
from generators.families.debezium.values import DebeziumCell, Meaning, Modes, semantic, wired
from generators.families.java_text import double_text
from generators.model import Json, Logical, SourceType, Value
from generators.sources import postgresql
from generators.sources.mysql import DAY, MICROS

UNAVAILABLE: Final = postgresql.UNAVAILABLE
TOASTED: Final = 2000
"""Bytes of a value beyond which PostgreSQL stores it out of line (TOAST_TUPLE_THRESHOLD, about)."""

MONTH: Final = DAY * 30 + DAY * 4375 // 10_000
"""Microseconds of a month in `io.debezium.time.MicroDuration`: 365.25 / 12 days."""

_EPOCH_DATE: Final = dt.date(1970, 1, 1)
_INTEGERS: Final = {"smallint": "int16", "integer": "int32", "bigint": "int64", "oid": "int64"}
_NAMED: Final = {"xml": "Xml", "ltree": "Ltree", "tsvector": "Tsvector"}
"""Texts with a semantic type of their own."""
_HIDDEN: Final = "the placeholder of an unchanged TOASTed value, or the same as genuine data: the bytes do not tell"


@lru_cache(maxsize=4096)
def schema(kind: SourceType, modes: Modes, nullable: bool = True) -> Schema:
    """The Connect schema of a column of that type. Raises KeyError for a type that the module does not know."""
    match kind.logical:
        case Logical.INT:
            return Schema(_INTEGERS[kind.name], nullable)
        case Logical.DECIMAL if kind.name == "money":
            return values.decimal_schema(None, 2, modes, nullable, mode=_money(modes))
        case Logical.DECIMAL if postgresql.unconstrained(kind) and modes.decimal == "precise":
            fields = (("scale", Schema("int32")), ("value", Schema("bytes")))
            name = "io.debezium.data.VariableScaleDecimal"
            return Schema("struct", nullable, name, 1, "Variable scaled decimal", fields=fields)
        case Logical.DECIMAL:
            return values.decimal_schema(kind.precision, kind.scale or 0, modes, nullable)
        case Logical.FLOAT:
            return Schema("float", nullable)
        case Logical.DOUBLE:
            return Schema("double", nullable)
        case Logical.BIT if kind.length == 1:
            return Schema("boolean", nullable)
        case Logical.BIT:
            return semantic("bytes", "io.debezium.data.Bits", nullable, ("length", str(kind.length)))
        case Logical.BINARY:
            return values.binary_schema(modes, nullable)
        case Logical.DATE:
            return values.date_schema(modes, nullable)
        case Logical.DATETIME:
            return values.datetime_schema(kind.fsp, modes, nullable)
        case Logical.TIME:
            return values.time_schema(kind.fsp, modes, nullable)
        case Logical.TIMESTAMP:
            return semantic("string", "io.debezium.time.ZonedTimestamp", nullable)
        case Logical.JSON if kind.name.endswith("[]"):
            return Schema("array", nullable, items=Schema(_ITEMS[kind.name], True))
        case Logical.JSON:
            return semantic("string", "io.debezium.data.Json", nullable)
    match kind.name:
        case "interval" if modes.interval == "numeric":
            return semantic("int64", "io.debezium.time.MicroDuration", nullable)
        case "interval":
            return semantic("string", "io.debezium.time.Interval", nullable)
        case "timetz":
            return semantic("string", "io.debezium.time.ZonedTime", nullable)
        case "uuid":
            return semantic("string", "io.debezium.data.Uuid", nullable)
        case "enum":
            return semantic("string", "io.debezium.data.Enum", nullable, ("allowed", ",".join(kind.members)))
    if kind.name in _NAMED:
        return semantic("string", f"io.debezium.data.{_NAMED[kind.name]}", nullable)
    return Schema("string", nullable)


_ITEMS: Final = {"integer[]": "int32", "text[]": "string"}


def _money(modes: Modes) -> str:
    """`money` followed `decimal.handling.mode` from 1.8 on."""
    return modes.decimal if modes.release >= (1, 8) else "precise"


def wire(
    kind: SourceType, value: Value, modes: Modes, *, nullable: bool = True, snapshot: bool = False, declared: str = ""
) -> DebeziumCell:
    """A column's value on the wire; NULL of a NOT NULL column takes a fallback (`not_sent`). Raises TypeError for a value that is
    none of the type's. `declared` changes nothing: types have one spelling."""
    if value is None:
        return not_sent(kind, modes, nullable) if not nullable else wired(schema(kind, modes, True), kind, "", Meaning(None))
    if _is_placeholder(value):
        return _hidden(kind, modes, nullable)
    streamed_name = kind.name == "name" and not snapshot
    meaning = Meaning(None, None, _NAME, lost=True) if streamed_name else _meaning(kind, value, modes)
    found = schema(kind, modes, nullable)
    return wired(found, kind, _class(kind, value, found, meaning), meaning)


def _class(kind: SourceType, value: Value, found: Schema, meaning: Meaning) -> str:
    """The value's class as written: `variable-scale` decimals, times in `unit-millis`."""
    if isinstance(meaning.value, dict):
        return "variable-scale"
    plain = postgresql.value_class(kind, value)
    return "unit-millis" if found.name == "io.debezium.time.Time" and plain != "over-24h" else plain


def not_sent(kind: SourceType, modes: Modes, nullable: bool) -> DebeziumCell:
    """A column of which the server sent no old value: null, or the type's fallback in a NOT NULL column
    (debezium#before-fallback: 0, false, "", the epoch, empty bytes)."""
    found = schema(kind, modes, nullable)
    if nullable:
        return wired(found, kind, "not-sent", Meaning(None, None, "the server sends the old key alone"))
    shown: Any = _fallback(found)
    if kind.logical is Logical.DECIMAL and found.type == "string" and not postgresql.unconstrained(kind):
        shown = values.java_decimal(0, kind.scale or 0, plain=modes.release >= (1, 9))
    return wired(found, kind, "fallback", Meaning(shown, None, "a fallback for a value that was not sent", lost=True))


def _fallback(found: Schema) -> Any:
    match found.name.rpartition(".")[2]:
        case "VariableScaleDecimal":
            return {"scale": 0, "value": b"\x00"}
        case "Decimal":
            return b"\x00"
        case "ZonedTimestamp" | "IsoTimestamp":
            return "1970-01-01T00:00:00Z"
        case "ZonedTime" | "IsoTime":
            return "00:00:00Z"
        case "IsoDate":
            return "1970-01-01Z"
        case "Interval":
            return "P0Y0M0DT0H0M0S"
    return {"string": "", "bytes": b"", "boolean": False, "float": 0.0, "double": 0.0, "array": []}.get(found.type, 0)


def is_toasted(kind: SourceType, value: Value) -> bool:
    """Whether the server keeps the value out of line, and so leaves it out of an UPDATE that does not change it."""
    match value:
        case str():
            return len(value.encode("utf-8", "surrogatepass")) > TOASTED
        case bytes():
            return len(value) > TOASTED
        case Decimal():
            return len(value.as_tuple().digits) > TOASTED * 2
        case Json():
            items = value.value
            return len(items) * 4 > TOASTED if kind.name == "integer[]" else len(json.dumps(items)) > TOASTED
    return False


def unavailable(kind: SourceType, modes: Modes, nullable: bool) -> DebeziumCell:
    """An unchanged TOASTed value: debezium#unavailable-value in the column's own type; arrays up to 2.0 null."""
    if kind.name.endswith("[]") and modes.release < (2, 1):
        lost = "the connector leaves an unchanged TOASTed array null up to 2.0"
        return wired(schema(kind, modes, nullable), kind, "unavailable", Meaning(None if nullable else [], None, lost, lost=True))
    if _unwritten(kind, modes):
        return wired(
            schema(kind, modes, nullable), kind, "unavailable", Meaning(None if nullable else b"", None, _UNWRITTEN, lost=True)
        )
    return _hidden(kind, modes, nullable)


_NAME: Final = "a streamed column of the type name is always null"
_UNWRITTEN: Final = "the connector has no placeholder of this type: an unchanged value out of line is null"


def _unwritten(kind: SourceType, modes: Modes) -> bool:
    """Whether an unchanged value out of line has no placeholder (debezium#unavailable-value)."""
    return (kind.logical is Logical.DECIMAL and modes.decimal != "string") or (
        kind.logical is Logical.BINARY and modes.binary.startswith("base64")
    )


def _hidden(kind: SourceType, modes: Modes, nullable: bool) -> DebeziumCell:
    shown: Any = UNAVAILABLE
    match kind.name:
        case "bytea":
            shown = UNAVAILABLE if modes.binary == "hex" else values.binary_value(UNAVAILABLE.encode(), modes)
        case "text[]":
            shown = [UNAVAILABLE]
        case "hstore" if modes.release >= (2, 5):
            shown = json.dumps({UNAVAILABLE: UNAVAILABLE}, separators=(",", ":"))
        case "integer[]":
            shown = list(UNAVAILABLE.encode())
    # a JSON column whose text is no JSON, a number's whose text is no number
    corrupt = kind.logical is Logical.DECIMAL or (kind.logical is Logical.JSON and shown == UNAVAILABLE)
    meaning = Meaning(shown, None, _HIDDEN, (_typed(kind),), lost=True, corrupt=corrupt)
    return wired(schema(kind, modes, nullable), kind, "unavailable", meaning)


def _typed(kind: SourceType) -> Value:
    """The placeholder as the typed value of a column, which the column does not have."""
    match kind.name:
        case "bytea":
            return UNAVAILABLE.encode()
        case "text[]":
            return Json([UNAVAILABLE])
        case "integer[]":
            return Json(list(UNAVAILABLE.encode()))
    return UNAVAILABLE


def _is_placeholder(value: Value) -> bool:
    """Whether a user's value looks like the placeholder; JSON's string of that text does not, as it has quotes."""
    match value:
        case str():
            return value == UNAVAILABLE
        case bytes():
            return value == UNAVAILABLE.encode()
        case Json([str() as one]):
            return one == UNAVAILABLE
    return False


def _meaning(kind: SourceType, value: Value, modes: Modes) -> Meaning:
    match kind.logical, value:
        case Logical.INT, int():
            return Meaning(value, value)
        case Logical.DECIMAL, Decimal():
            return _decimal(kind, value, modes)
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return Meaning(value, value)
        case Logical.BIT, int():
            shown = bool(value) if kind.length == 1 else value.to_bytes(value.bit_length() + 7 >> 3, "little")
            return Meaning(shown, value)
        case Logical.BINARY, bytes():
            return Meaning(values.binary_value(value, modes), value)
        case Logical.DATE, dt.date():
            return Meaning(values.date_value((value - _EPOCH_DATE).days, modes), value)
        case Logical.DATETIME, int():
            return values.datetime_value(value, kind.fsp, modes)
        case Logical.TIMESTAMP, int():
            width = kind.fsp if kind.fsp and modes.release >= (2, 2) else None
            return Meaning(values.zoned_text(value, width), value)
        case Logical.TIME, int():
            return values.time_value(value, kind.fsp, modes)
        case Logical.JSON, Json():
            return _document(kind, value)
        case Logical.TEXT, str():
            return _text(kind, value, modes)
    raise TypeError(f"{value!r} is no value of {kind.key}")


def _decimal(kind: SourceType, value: Decimal, modes: Modes) -> Meaning:
    precision, scale = kind.precision or 0, kind.scale or 0
    if kind.name == "money" and modes.release < (2, 0):
        value = Decimal(double_text(float(value))).quantize(Decimal("0.01"))
        lost = abs(value) > Decimal(kind.high or 0) / 100
        found = values.decimal_value(value, precision, scale, modes, mode=_money(modes))
        return replace(found, reason=_MONEY, lost=lost, corrupt=lost)
    if kind.name == "money":
        return values.decimal_value(value, precision, scale, modes, mode=_money(modes))
    if not postgresql.unconstrained(kind):
        return values.decimal_value(value, precision, scale, modes)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    stored = max(-exponent, 0)
    if modes.decimal != "precise":
        return values.decimal_value(value, precision, stored, modes)
    number = values.unscaled(value, stored)
    while stored and number % 10 == 0:
        number, stored = number // 10, stored - 1
    return Meaning({"scale": stored, "value": values.two_complement(number)}, value)


_MONEY: Final = "up to 1.9 money goes through a double"


def _document(kind: SourceType, value: Json) -> Meaning:
    match kind.name:
        case "integer[]" | "text[]":
            return Meaning(value.value, value)
        case "hstore":
            keys = sorted(value.value, key=lambda key: (len(key.encode()), key.encode()))
            text = json.dumps({key: value.value[key] for key in keys}, ensure_ascii=False, separators=(",", ":"))
            return Meaning(text, value)
    return Meaning(postgresql.json_text(kind, value.value), value)


def _text(kind: SourceType, value: str, modes: Modes) -> Meaning:
    match kind.name:
        case "timetz":
            micros, offset = postgresql.timetz_parts(value)
            utc = f"{values.iso_time((micros - offset * MICROS) % DAY)}Z"
            return Meaning(utc, utc, "a time with zone is written in UTC")
        case "interval":
            months, days, micros = postgresql.interval_parts(value)
            if modes.interval == "string":
                iso = interval_text(months, days, micros)
                return Meaning(iso, iso, "an interval is written as an ISO duration")
            duration = months * MONTH + days * DAY + micros
            if values.wrap(duration) != duration:
                limit = (1 << 63) - 1 if duration > 0 else -(1 << 63)
                return Meaning(
                    limit, None, "the interval is beyond 64 bits of microseconds: their limit stands for it", lost=True
                )
            return Meaning(duration, str(duration), "an interval is written as microseconds, a month as 30.4375 days")
    return Meaning(value, value)


def interval_text(months: int, days: int, micros: int) -> str:
    """`io.debezium.time.Interval`: every field, each with its sign (debezium#interval)."""
    years, rest = divmod(abs(months), 12)
    sign, clock = (-1 if months < 0 else 1), (-1 if micros < 0 else 1)
    seconds, fraction = divmod(abs(micros), MICROS)
    shown = str(seconds % 60) + (f".{fraction:06d}".rstrip("0") if fraction else "")
    minus = "-" if clock < 0 and (seconds % 60 or fraction) else ""
    hours, minutes = clock * (seconds // 3600), clock * (seconds // 60 % 60)
    return f"P{sign * years}Y{sign * rest}M{days}DT{hours}H{minutes}M{minus}{shown}S"
