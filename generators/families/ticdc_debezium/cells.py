"""The cells of TiCDC's Debezium messages: a column's schema and value, and what stands for a NULL
in a column with a default.

Facts: ticdc-debezium#default-for-null, #zero-dates, ticdc#json-text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache, lru_cache, partial
from typing import Final

from generators.errors import Refused
from generators.families.connect import Schema
from generators.families.debezium import mysql as debezium_mysql
from generators.families.debezium.values import DebeziumCell, Meaning, Modes, double_of, wired
from generators.families.ticdc import sink, text
from generators.families.ticdc.defaults import stored_default, stored_expression
from generators.families.wire_messages import Raw, json_text
from generators.model import Column, Default, Json, Logical, SourceType, State, Value, ZeroDate

json_value: Final = partial(json_text, quote=text.iterator_string)
"""The JSON of a value, in which texts are quoted as Go's library json-iterator does."""


@cache
def modes(*, adjusts_years: bool) -> Modes:
    """The way in which Debezium 2.4, whose version TiCDC's messages name, writes values;
    `adjusts_years` says that years of two digits are moved.
    """
    return Modes(
        decimal="double",
        binary="base64",
        escapes_labels=False,
        year_zero=0,
        adjusts_years=adjusts_years,
    )


@lru_cache(maxsize=4096)
def schema(type: SourceType, nullable: bool) -> Schema:
    """The Connect schema of a column of that type. It is that of Debezium's MySQL connector but for
    FLOAT(M,D), VECTOR, and the list of labels (`allowed`) of ENUM and SET: only that of an ENUM has
    a backslash before a comma in a label.
    """
    if type.logical is Logical.FLOAT and type.precision is not None:
        return Schema("double", nullable)
    if type.name == "vector":
        return Schema("string", nullable, "io.debezium.data.TiDBVectorFloat32")
    shape = debezium_mysql.schema(type, modes(adjusts_years=True), nullable)
    if type.logical is Logical.ENUM:
        labels = ",".join(label.replace(",", "\\,") for label in type.members)
        return replace(shape, parameters=(("allowed", labels),))
    if type.logical is Logical.SET:
        return replace(shape, parameters=(("allowed", ",".join(type.members)),))
    return shape


def tidb_type(type: SourceType) -> str:
    """The `tidb_type` of a column's schema, which says `unsigned` of no DECIMAL, BIT or YEAR."""
    unsigned = type.unsigned and type.logical not in (Logical.DECIMAL, Logical.BIT, Logical.YEAR)
    return f"{type.name}{' unsigned' if unsigned else ''}"


def cell(
    column: Column, stored: Value, *, fills_nulls: bool, years: bool, classic: bool = False
) -> DebeziumCell:
    """A column's value as TiCDC writes it, with its schema and what a decoder owes for it.
    `fills_nulls`: as from v8.5 on, where a default stands for NULL and the epoch for a zero
    TIMESTAMP; `years`: years of two digits are moved; `classic`: as the classic architecture writes
    it. Raises Stopped for what the encoder refuses (ticdc-debezium#zero-dates).
    """
    type, nullable, meaning = column.type, column.nullable, None
    if stored is None and fills_nulls and column.default is not None:
        return _for_null(column, column.default, years=years, classic=classic)
    value = None if stored is None else text.canonical(type, stored)
    match type.logical, value:
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            meaning = Meaning(
                Raw(text.iterator_number(value, single=type.logical is Logical.FLOAT)), value
            )
        case Logical.DECIMAL, Decimal():
            meaning = double_of(value, type.precision or 0, type.scale or 0, repr)
            meaning = replace(meaning, value=Raw(text.iterator_number(meaning.value)))
        case Logical.DATETIME, ZeroDate() if fills_nulls and classic and is_partly_zero(value):
            raise sink.Stopped
        case Logical.TIMESTAMP, ZeroDate() if nullable and not fills_nulls:
            meaning = Meaning(None, None, "a zero TIMESTAMP is null")
        case Logical.TIMESTAMP, ZeroDate():
            reason = "a zero TIMESTAMP is written as the epoch, which no other TIMESTAMP is"
            meaning = Meaning("1970-01-01T00:00:00Z", 0, reason, options=(0, value))
        case Logical.YEAR, int():
            meaning = Meaning(value, value)
        case Logical.JSON, Json():
            meaning = Meaning(text.json_text(value.value), value)
    shape, cell_modes = schema(type, nullable), modes(adjusts_years=years)
    mysql_cell = debezium_mysql.wire(type, value, cell_modes, nullable=nullable)
    wire = (
        wired(shape, type, text.value_class(type, value), meaning, cell_modes)
        if meaning
        else replace(mysql_cell, schema=shape)
    )
    return replace(wire, json=json_value(wire.value)) if isinstance(wire.value, str) else wire


def is_partly_zero(date: ZeroDate) -> bool:
    """Whether a zero date has a year, month or day that is not 0."""
    return bool(date.year or date.month or date.day)


def default_for_null(column: Column, default: Default, *, classic: bool) -> Value:
    """The value that TiCDC writes for a NULL in a column with this default
    (ticdc-debezium#default-for-null); `classic` says that the architecture is the classic one.
    Raises Stopped for a default at which the encoder stops.
    """
    type, value = column.type, default.value
    if type.logical is Logical.DATE and not classic:
        # The default is a text, which the encoder takes for a time.
        raise sink.Stopped
    if value is None:
        return _expression_for_null(type, stored_expression(default.text), classic=classic)
    if isinstance(value, ZeroDate):
        # The default is a text, which both architectures parse.
        if type.logical is Logical.DATETIME and is_partly_zero(value):
            raise sink.Stopped
        return None if type.logical is Logical.TIMESTAMP else value
    if classic:
        return value
    match type.logical, value:
        case Logical.TIME, _:
            return 0
        case Logical.INT, int() if value >= 1 << 63:
            return 0
        case Logical.YEAR, _:
            return int(stored_default(type, default.text, value))
    return value


_ZEROS: Final[Mapping[Logical, Value]] = {
    **dict.fromkeys((Logical.FLOAT, Logical.DOUBLE), 0.0),
    **dict.fromkeys((Logical.INT, Logical.YEAR, Logical.TIME, Logical.ENUM, Logical.SET), 0),
}
"""What the new architecture makes of the text of an expression in columns of these types."""


def _expression_for_null(type: SourceType, expression: str, *, classic: bool) -> Value:
    """The value that TiCDC writes for a NULL in a column whose default is an expression, which TiDB
    stores as this text; None for null, and where a text stands that is no value of the type
    (`text_for_null`). Raises Stopped where the encoder reads the text and cannot, and Refused for a
    BIT, of which it takes the text's bytes for bits.
    """
    match type.logical:
        case Logical.DATETIME | Logical.TIMESTAMP if expression == "CURRENT_TIMESTAMP":
            return 0 if type.logical is Logical.DATETIME else None
        case Logical.TEXT if type.name != "vector":
            return expression
        case Logical.BINARY:
            return expression.encode()
        case Logical.DATE | Logical.JSON:
            return None
        case Logical.ENUM | Logical.SET | Logical.YEAR if classic:
            return None
        case kind if kind in _ZEROS and not classic:
            return _ZEROS[kind]
        case Logical.BIT:
            raise Refused(f"what bits TiCDC makes of the default {expression} is not known here")
    raise sink.Stopped


def text_for_null(column: Column, default: Default, *, classic: bool) -> str | None:
    """The text that TiCDC writes for a NULL in a column with this default, where that is no value
    of the column's type: of a YEAR in the classic architecture the stored default, of a JSON, and
    there of an ENUM or SET, an expression. None elsewhere.
    """
    match column.type.logical:
        case Logical.YEAR if classic:
            return str(stored_default(column.type, default.text, default.value))
        case Logical.ENUM | Logical.SET if classic and default.value is None:
            return stored_expression(default.text)
        case Logical.JSON:
            return stored_expression(default.text)
    return None


def mark_default(written: DebeziumCell) -> DebeziumCell:
    """The cell of a default that stands in place of NULL, marked as such for the rules."""
    reason = "a column's default stands in place of NULL: the two cannot be told apart"
    return replace(written, cell=replace(written.cell, cls="default", reason=reason))


def _for_null(column: Column, default: Default, *, years: bool, classic: bool) -> DebeziumCell:
    """The cell of a NULL in a column with a default, in place of which TiCDC writes the default
    (ticdc-debezium#default-for-null); `years` and `classic` are those of `cell`. The classic
    architecture writes two members for a binary.
    """
    type = column.type
    value = default_for_null(column, default, classic=classic)
    written = mark_default(
        cell(replace(column, default=None), value, fills_nulls=True, years=years, classic=classic)
    )
    if (words := text_for_null(column, default, classic=classic)) is not None:
        return any_cell(written, json_value(words), words)
    stored = None if value is None else text.canonical(type, value)
    if classic and isinstance(stored, bytes):
        member = json_value(stored.decode(errors="replace"))
        return any_cell(written, f"{written.json},{json_value(column.name)}:{member}", None)
    return written


def any_cell(default_cell: DebeziumCell, json: str, value: str | None) -> DebeziumCell:
    """The cell of a default with what is written in its place, as Connect value and JSON: it does
    not fit the column, so that a decoder may return anything, and may refuse the message.
    """
    return replace(
        default_cell,
        value=value,
        json=json,
        corrupt=True,
        cell=replace(default_cell.cell, state=State.ANY, text=None),
    )
