"""Cells as TiCDC's Debezium protocol writes them: Debezium's types, in Go's and TiDB's spelling, with TiCDC's own choices.

Source: the facts ticdc-debezium#... and ticdc#json-text. What the types have in common with Debezium's own is
`generators.families.debezium.mysql`; here stands what differs.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Final

from generators.families.connect import Raw, Schema
from generators.families.debezium import mysql as debezium
from generators.families.debezium.values import DebeziumCell, Meaning, Modes, double_of, wired
from generators.families.ticdc import text
from generators.model import Column, Default, Json, Logical, SourceType, Value, ZeroDate

_EPOCH: Final = "1970-01-01T00:00:00Z"
_REPLACED: Final = "a column's default stands in place of NULL: the two cannot be told apart"
_ZERO: Final = "a zero TIMESTAMP is written as the epoch, which no other TIMESTAMP is"


def modes(*, adjusts_years: bool) -> Modes:
    """What of Debezium 2.4, whose version TiCDC names, its cells are like."""
    return Modes((2, 4), decimal="double", escapes_labels=False, year_zero=0, adjusts_years=adjusts_years)


def schema(type: SourceType, nullable: bool) -> Schema:
    """A column's schema: a binary is a string, as its base64 is, and a DECIMAL a double."""
    if type.logical is Logical.FLOAT and type.precision is not None:
        return Schema("double", nullable)
    if type.logical is Logical.BINARY:
        return Schema("string", nullable)
    if type.name == "vector":
        return Schema("string", nullable, "io.debezium.data.TiDBVectorFloat32")
    found = debezium.schema(type, modes(adjusts_years=True), nullable)
    if type.logical is Logical.ENUM:
        return replace(found, parameters=(("allowed", ",".join(m.replace(",", "\\,") for m in type.members)),))
    return replace(found, parameters=(("allowed", ",".join(type.members)),)) if type.logical is Logical.SET else found


def cell(column: Column, stored: Value, *, new: bool, years: bool) -> DebeziumCell:
    """A column of a row; `new`: as from v8.5 on, where a default stands for NULL; `years`: two-digit years are moved."""
    type, nullable = column.type, column.nullable
    if stored is None and new and column.default is not None:
        return _default(column, column.default, years)
    value = None if stored is None else text.canonical(type, stored)
    found = debezium.wire(type, value, modes(adjusts_years=years), nullable=nullable)
    told = replace(found, schema=schema(type, nullable))
    cls = text.value_class(type, value) if value is not None else ""
    match type.logical, value:
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return wired(
                told.schema, type, cls, Meaning(Raw(text.json_number(value, single=type.logical is Logical.FLOAT)), value)
            )
        case Logical.DECIMAL, Decimal():
            meant = double_of(value, type.precision or 0, type.scale or 0, repr)
            return wired(told.schema, type, cls, replace(meant, value=Raw(text.json_number(meant.value))))
        case Logical.TIMESTAMP, ZeroDate():
            if nullable and not new:
                return wired(told.schema, type, cls, Meaning(None, None, "a zero TIMESTAMP is null"))
            return wired(told.schema, type, cls, Meaning(_EPOCH, 0, _ZERO, options=(0, value)))
        case Logical.YEAR, int():
            return wired(told.schema, type, cls, Meaning(value, value))
        case Logical.JSON, Json():
            shown = text.json_text(value.value)
            return replace(wired(told.schema, type, cls, Meaning(shown, value)), json=text.iterator_string(shown))
        case _:
            return replace(told, json=text.iterator_string(found.value)) if isinstance(found.value, str) else told


def _default(column: Column, default: Default, years: bool) -> DebeziumCell:
    """What stands for NULL in a column with a default; of an expression, as CURRENT_TIMESTAMP, the epoch or null."""
    value = 0 if default.value is None and column.type.logical is Logical.DATETIME else default.value
    shown = cell(replace(column, default=None), value, new=True, years=years)
    return replace(shown, cell=replace(shown.cell, cls="default", reason=_REPLACED))
