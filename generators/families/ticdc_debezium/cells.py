"""The cells of TiCDC's Debezium messages: a column's schema and value, and what stands for a NULL
in a column with a default.

Facts: ticdc-debezium#default-for-null, #zero-dates, ticdc#json-text.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache, lru_cache, partial
from typing import Final

from generators.families.connect import Schema
from generators.families.debezium import mysql as debezium_mysql
from generators.families.debezium.values import DebeziumCell, Meaning, Modes, double_of, wired
from generators.families.ticdc import sink, text
from generators.families.wire_messages import Raw, json_text
from generators.model import Column, Json, Logical, SourceType, State, Value, ZeroDate

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
        return _for_null(column, column.default.value, years=years, classic=classic)
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


def default_for_null(column: Column, default: Value, *, classic: bool) -> Value:
    """The value that TiCDC writes for a NULL in a column with a default
    (ticdc-debezium#default-for-null). `default` is the default's value, None if it is an
    expression; `classic` says that the architecture is the classic one. Raises Stopped for a
    default at which the encoder stops.
    """
    kind = column.type.logical
    if default is None:  # of an expression, as CURRENT_TIMESTAMP, the epoch or null stands there
        return 0 if kind is Logical.DATETIME else None
    if isinstance(default, ZeroDate):
        # A default is a text, which both architectures parse.
        if (kind is Logical.DATE and not classic) or (
            kind is Logical.DATETIME and is_partly_zero(default)
        ):
            raise sink.Stopped
        return None if kind is Logical.TIMESTAMP else default
    if not classic and (
        kind is Logical.TIME
        or (kind is Logical.INT and isinstance(default, int) and default >= 1 << 63)
    ):
        return 0
    return default


def mark_default(written: DebeziumCell) -> DebeziumCell:
    """The cell of a default that stands in place of NULL, marked as such for the rules."""
    reason = "a column's default stands in place of NULL: the two cannot be told apart"
    return replace(written, cell=replace(written.cell, cls="default", reason=reason))


def _for_null(column: Column, default: Value, *, years: bool, classic: bool) -> DebeziumCell:
    """The cell of a NULL in a column with a default, in place of which TiCDC writes the default
    (ticdc-debezium#default-for-null). `default` is the default's value, None if it is an
    expression; `years` and `classic` are those of `cell`.
    """
    kind, default = column.type.logical, default_for_null(column, default, classic=classic)
    default_cell = mark_default(
        cell(
            replace(column, default=None),
            default,
            fills_nulls=True,
            years=years,
            classic=classic,
        )
    )
    if default is None or not classic or kind not in (Logical.BINARY, Logical.YEAR):
        return default_cell
    stored = text.canonical(column.type, default)
    written = json_value(
        stored.decode(errors="replace") if isinstance(stored, bytes) else str(stored)
    )
    members = (
        written
        if kind is Logical.YEAR
        else f"{default_cell.json},{json_value(column.name)}:{written}"
    )
    return replace(
        default_cell,
        json=members,
        corrupt=True,
        cell=replace(default_cell.cell, state=State.ANY, text=None),
    )
