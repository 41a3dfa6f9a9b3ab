"""What a liar in Spark is, and the few ways to make one of a correct decoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Column, Deployment, SourceType, Table

Decode = Callable[..., DataFrame]

IMAGES: Final = ("before", "after")


@dataclass(frozen=True, slots=True)
class Liar:
    """A decoder that is wrong on purpose in one way.

    `level` is 1 or 2, and `decode` has the signature of that level's decoder; `convicts` is the rule of its format
    that must catch it, `why` the decoder or the mistake of the real world that it stands for. The self test tries it on cases in
    which that rule owns something, or on those of `scenario`, a glob.
    """

    name: str
    level: int
    convicts: str
    why: str
    decode: Decode
    scenario: str = ""


def quoted(name: str) -> str:
    """A column name in SQL."""
    return "`" + name.replace("`", "``") + "`"


def on_bytes(decode: Decode, sql: str) -> Decode:
    """The decoder on other bytes: `sql` gives the value from `value`; other columns stay."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        return decode(records.withColumn("value", F.expr(sql)), *args, deployment=deployment)

    return lie


def latest_schema(decode: Decode) -> Liar:
    """The decoder that reads every message of a batch by one schema, the last one's: what Spark's own `from_avro` asks for."""
    last = "max_by(substring(value, 2, 4), struct(partition, offset)) OVER (PARTITION BY topic)"
    return Liar(
        "latest-schema",
        1,
        "schema/evolved",
        "from_avro takes one schema for a column: five bytes are cut off, and all messages read by the latest schema.",
        on_bytes(decode, f"CASE WHEN value IS NOT NULL THEN concat(X'00', {last}, substring(value, 6)) END"),
    )


def on_input(decode: Decode, sql: str) -> Decode:
    """The decoder on other bytes: `sql` gives the value as text, from the value as text `t`; other columns stay."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        with_text = records.withColumn("t", F.col("value").cast("string"))
        return decode(with_text.withColumn("value", F.expr(sql).cast("binary")).drop("t"), *args, deployment=deployment)

    return lie


def on_columns(decode: Decode, **sql: str) -> Decode:
    """The decoder with columns of its output replaced by SQL over its output."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        return decode(records, *args, deployment=deployment).withColumns({name: F.expr(text) for name, text in sql.items()})

    return lie


def on_cells(decode_rows: Decode, which: Callable[[SourceType], bool], sql: Callable[[str, SourceType], str]) -> Decode:
    """The level-two decoder with the cells of some types replaced: `sql` is given the cell and its type."""

    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        def cell(side: str, c: Column) -> str:
            text = f"{side}.{quoted(c.name)}"
            return f"{sql(text, c.type) if which(c.type) else text} AS {quoted(c.name)}"

        def image(side: str) -> str:
            return f"CASE WHEN {side} IS NOT NULL THEN struct({', '.join(cell(side, c) for c in table.columns)}) END"

        decoded = decode_rows(records, table, deployment=deployment)
        return decoded.withColumns({side: F.expr(image(side)) for side in IMAGES})

    return lie


def deployed(decode: Decode, **options: str) -> Decode:
    """The decoder that takes the deployment for another one."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        other = replace(deployment or Deployment(), **options)
        return decode(records, *args, deployment=other)

    return lie
