"""What a liar is, and the few ways to make one of a correct decoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Column, Deployment, SourceType, Table

Decode = Callable[..., DataFrame]


@dataclass(frozen=True, slots=True)
class Liar:
    """A decoder that is wrong on purpose in one way.

    `level` is 1 or 2, and `decode` has the signature of that level's decoder; `convicts` is the id of the rule
    that must catch it, `why` the decoder or the mistake of the real world that it stands for.
    """

    name: str
    format: str
    level: int
    convicts: str
    why: str
    decode: Decode


def quoted(name: str) -> str:
    """A column name in SQL."""
    return "`" + name.replace("`", "``") + "`"


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


def on_rows(decode: Decode, keep: str) -> Decode:
    """The decoder without the rows for which `keep` does not hold."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        return decode(records, *args, deployment=deployment).where(keep)

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
        return decoded.withColumns({side: F.expr(image(side)) for side in ("before", "after")})

    return lie


def common(fmt: str, decode: Decode) -> tuple[Liar, ...]:
    """The liars that every format has, at level one."""

    def shifted(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        decoded = decode(records, *args, deployment=deployment)
        return decoded.unionByName(decoded.withColumn("offset", F.col("offset") + 1_000_000))

    def law(name: str, rule: str, why: str, lie: Decode) -> Liar:
        return Liar(name, fmt, 1, f"{fmt}/law/{rule}", why, lie)

    return (
        failfast(fmt, decode),
        law("phantom-places", "places", "A join on the offset within a batch: each row occurs again, elsewhere.", shifted),
        law(
            "nowhere",
            "places",
            "An outer join loses the coordinates of an unreadable message.",
            on_columns(decode, offset="IF(kind = 'CORRUPT', NULL, offset)"),
        ),
        law("no-reason", "row-shape", "A CORRUPT row without its reason.", on_columns(decode, error="CAST(NULL AS string)")),
        law(
            "corrupt-image",
            "row-shape",
            "A half-read message is CORRUPT and has an image: whoever reads images writes it downstream.",
            on_columns(decode, after="IF(kind = 'CORRUPT', map('id', '1'), after)"),
        ),
    )


def failfast(fmt: str, decode: Decode) -> Liar:
    """It raises where the decoder says CORRUPT."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        raised = "IF(kind = 'CORRUPT', CAST(raise_error(concat('malformed record at offset ', offset)) AS string), kind)"
        return decode(records, *args, deployment=deployment).withColumn("kind", F.expr(raised))

    why = "from_json with mode FAILFAST: one unreadable message stops the batch, and the query with it."
    return Liar("failfast", fmt, 1, f"{fmt}/law/returns", why, lie)
