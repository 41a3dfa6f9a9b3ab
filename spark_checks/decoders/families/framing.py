"""What formats with one JSON object and at most one row change a message share.

A message is parsed once, inside a wrapping (`families.canal` says why). One pair of lambdas types both images of a row: Spark
interprets lambdas, while generated code for a wide table grows past what the JVM compiles.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from generators.model import Column as ColumnOf
from generators.model import Table
from spark_checks.decoders.families.canal import COORDINATES, MISFIT, UNREADABLE, message, read, whole
from spark_checks.decoders.families.mysql import misfit
from spark_checks.decoders.families.sql import given, let, literal, name

CellSql = Callable[[ColumnOf, str], str]
"""SQL of a column's cell, from the SQL of its image."""


def message_of(envelope: StructType, told: Callable[[Column, Column], Column]) -> Column:
    """What `told` makes of a record's message (as `envelope`, NULL if it is not one JSON object), and of whether it is one, and
    every member that `envelope` names has the right kind of JSON value."""
    text = F.col("value").cast("string")
    return given(read(text, envelope), lambda j: given(message(j), lambda m: told(m, whole(j))))


def error(kind: Column) -> Column:
    """Why a message is CORRUPT, at level one."""
    return F.when(kind == "CORRUPT", UNREADABLE)


def before(op: Column, image: Column) -> Column:
    """The before image, where the op has one."""
    return F.when(op.isin("UPDATE", "DELETE"), image)


def after(op: Column, image: Column) -> Column:
    """The after image, where the op has one."""
    return F.when(op.isin("INSERT", "UPDATE"), image)


def images(table: Table, text: CellSql, value: CellSql, texts: str = "told.images") -> str:
    """SQL of the images of `texts`, an array of structs, as structs `value`, typed, and `unfit`: whether a cell does not fit.

    `value` is a cell's typed value, `text` the text that `misfit` judges: NULL for SQL NULL alone.
    """
    values = ", ".join(f"{value(c, 't')} AS {name(c.name)}" for c in table.columns)
    tests = (misfit(text(c, "i.t"), f"i.value.{name(c.name)}", c.type) for c in table.columns)
    unfit = " OR ".join(filter(None, tests)) or "false"
    typed = f"transform({texts}, t -> struct(t, CASE WHEN t IS NOT NULL THEN struct({values}) END AS value))"
    # NULL, which a comparison with a NULL cell gives, is no misfit.
    judged = f"i.t IS NOT NULL AND coalesce({unfit}, false)"
    return f"transform({typed}, i -> struct(i.value AS value, {judged} AS unfit))"


def row(typed: str) -> str:
    """SQL of a message's row in an array, NULL without one, from the SQL of its typed images before and after (`images`).

    Both are over `told`: its `op` is CORRUPT for what cannot be read, NULL for what is not the table's."""
    fits = "NOT (told.op = 'CORRUPT' OR coalesce(array_contains(typed.unfit, true), false))"
    members = {
        "row": "0",
        "kind": "CASE WHEN fits THEN 'ROW' ELSE 'CORRUPT' END",
        "op": "CASE WHEN fits THEN told.op END",
        "before": "CASE WHEN fits THEN get(typed, 0).value END",
        "after": "CASE WHEN fits THEN get(typed, 1).value END",
        "error": f"CASE WHEN told.op = 'CORRUPT' THEN {literal(UNREADABLE)} WHEN NOT fits THEN {literal(MISFIT)} END",
    }
    row = f"array(struct({', '.join(f'{value} AS {member}' for member, value in members.items())}))"
    return f"CASE WHEN told.op IS NOT NULL THEN {let(typed, 'typed', let(fits, 'fits', row))} END"


def rows(records: DataFrame, told: Column, typed: str) -> DataFrame:
    """Level two of what is `told` of each record's message, and the SQL of its typed images over it (`row`)."""
    # Out of a generator: Spark would push a filter on it down to where the cells are made, and make them once for each name.
    named = records.select(*COORDINATES, told.alias("told"))
    return named.select(*COORDINATES, F.inline_outer(F.expr(row(typed)))).where(F.col("kind").isNotNull())
