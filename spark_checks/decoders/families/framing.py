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
from generators.model import Deployment, Table
from spark_checks.decoders.families.canal import COORDINATES, MISFIT, UNREADABLE, decompressed, message, read, whole
from spark_checks.decoders.families.mysql import misfit

CellSql = Callable[[ColumnOf, str], str]
"""SQL of a column's cell, from the SQL of its image."""


def messages(records: DataFrame, envelope: StructType, deployment: Deployment | None = None) -> DataFrame:
    """Coordinates, `m` (the message as `envelope`, NULL if it is not one JSON object) and `whole`: whether it is one, and every
    member that `envelope` names has the right kind of JSON value."""
    records = decompressed(records, deployment.compression if deployment else "none")
    parsed = records.select(*COORDINATES, read(F.col("value").cast("string"), envelope).alias("j"))
    return parsed.select(*COORDINATES, message(F.col("j")).alias("m"), whole(F.col("j")).alias("whole"))


def name(text: str) -> str:
    """A column's name in SQL."""
    return "`" + text.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text in SQL that means the same under every setting."""
    return f"CAST(X'{text.encode().hex()}' AS string)"


def error(kind: Column) -> Column:
    """Why a message is CORRUPT, at level one."""
    return F.when(kind == "CORRUPT", UNREADABLE)


def before(op: Column, image: Column) -> Column:
    """The before image, where the op has one."""
    return F.when(op.isin("UPDATE", "DELETE"), image)


def after(op: Column, image: Column) -> Column:
    """The after image, where the op has one."""
    return F.when(op.isin("INSERT", "UPDATE"), image)


def images(table: Table, text: CellSql, value: CellSql, texts: str = "images") -> Column:
    """The images of `texts`, an array of structs, as structs `value` (typed) and `unfit`: whether a cell is not of its type.

    `value` is a cell's typed value, `text` the text that `misfit` judges: NULL for SQL NULL alone.
    """
    values = ", ".join(f"{value(c, 't')} AS {name(c.name)}" for c in table.columns)
    tests = (misfit(text(c, "i.t"), f"i.value.{name(c.name)}", c.type) for c in table.columns)
    unfit = " OR ".join(filter(None, tests)) or "false"
    typed = f"transform({texts}, t -> struct(t, CASE WHEN t IS NOT NULL THEN struct({values}) END AS value))"
    # NULL, which a comparison with a NULL cell gives, is no misfit.
    judged = f"i.t IS NOT NULL AND coalesce({unfit}, false)"
    return F.expr(f"transform({typed}, i -> struct(i.value AS value, {judged} AS unfit))")


def rows(frame: DataFrame) -> DataFrame:
    """Level two of coordinates, `op` (CORRUPT for what cannot be read, NULL for what is not the table's) and
    `typed`: the result of `images` for the images before and after."""
    op, read, typed = F.col("op"), F.col("at.read"), F.col("typed")
    unfit = F.coalesce(F.get(typed, F.lit(0))["unfit"] | F.get(typed, F.lit(1))["unfit"], F.lit(False))
    fits = F.coalesce((op != "CORRUPT") & ~unfit, F.lit(False))
    # Out of a generator: Spark would push a filter on it down to where the cells are made, and make them once for each name.
    single = F.explode_outer(F.when(op.isNotNull(), F.array(F.struct(F.lit(0).alias("row"), fits.alias("read")))))
    return (
        frame.select(*COORDINATES, "op", "typed", single.alias("at"))
        .where(F.col("at").isNotNull())
        .select(
            *COORDINATES,
            "at.row",
            F.when(read, "ROW").otherwise("CORRUPT").alias("kind"),
            F.when(read, op).alias("op"),
            F.when(read, F.get(typed, F.lit(0))["value"]).alias("before"),
            F.when(read, F.get(typed, F.lit(1))["value"]).alias("after"),
            F.when(op == "CORRUPT", UNREADABLE).when(~read, MISFIT).alias("error"),
        )
    )
