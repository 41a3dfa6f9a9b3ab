"""A decoder's output for garbage: mutated messages decoded at level one, and tallied in place.

Only the tallies are gathered. The decoder's output is kept on disk for the time of the check, so
that every column of every row has been computed: a query for the columns that the check reads would
leave the rest undone, and their exceptions unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from generators.model import Kind
from generators.storage import codec
from spark_checks.services import cluster
from spark_checks.services.engine import Decoder, DecoderError

RECORD: Final = (
    "key",
    "value",
    "topic",
    "partition",
    "offset",
    "timestamp",
    "timestampType",
    "headers",
)
"""The columns of Spark's Kafka source with headers."""
PLACE: Final = ("topic", "partition", "offset")
"""The columns that identify a message."""
NEEDED: Final = (*PLACE, "row", "kind")
"""The columns that the decoder's output must have."""


def handle(
    spark: SparkSession, request: Mapping[str, Any], load: Callable[[str], Decoder]
) -> dict[str, Any]:
    """Answers the request `fuzz`: decodes mutated messages and counts how the decoder took them.

    It has `records` (Parquet files in the shape of Spark's Kafka source), `expected` (Parquet files
    with `topic`, `partition`, `offset` and `size` of each record, the `way` in which it was
    mutated, and the `state` that leaves it readable, unreadable or doubtful, with the `reason`),
    `low` and `high` (the offsets to look at, inclusive), `decoder` and `deployment`. The answer's
    `tallies` are those of `tally`. Raises DecoderError for a decoder without level one, which gives
    a row for each change, with the images as texts.
    """
    decoder = load(request["decoder"])
    if 1 not in decoder.functions:
        raise DecoderError(
            f"decoder {decoder.name} has no level-one function, which garbage is read with"
        )
    in_range = F.col("offset").between(request["low"], request["high"])
    records = cluster.table(spark, *request["records"]).select(*RECORD).where(in_range)
    expected = cluster.table(spark, *request["expected"]).where(in_range)
    changes = decoder(1, records, None, codec.load_deployment(request["deployment"]))
    missing = [name for name in NEEDED if name not in changes.columns]
    if missing:
        raise DecoderError(f"decoder {decoder.name} does not return {', '.join(missing)}")
    cached = changes.persist(StorageLevel.DISK_ONLY)
    try:
        return {"tallies": tally(expected, cached)}
    finally:
        cached.unpersist(blocking=True)


def tally(expected: DataFrame, changes: DataFrame) -> list[dict[str, Any]]:
    """Counts how the decoder took the messages. `expected` has each message (see `handle`),
    `changes` is the decoder's output. Gives an entry for each combination of `way`, `state`,
    `reason`, `outcome` and `kinds` (those of the message's rows, joined by +), with the `count` of
    messages, and `size` and `offset` of the smallest.

    An outcome is `lost` (no row), `foreign` (rows at a place that no message has), `misnumbered`
    (`row` does not count from 0); for an unreadable message `rejected` (exactly one CORRUPT row) or
    `accepted` (any other), for others `corrupt` (only CORRUPT rows) or `rows`.
    """
    kind = F.when(F.col("kind").isin([k.value for k in Kind]), F.col("kind")).otherwise("?")
    ordinal = F.col("row")
    answered = changes.groupBy(*PLACE).agg(
        F.count(F.lit(1)).alias("n"),
        F.count_if(F.col("kind") == Kind.CORRUPT.value).alias("corrupt"),
        F.array_join(F.array_sort(F.collect_set(kind)), "+").alias("kinds"),
        (F.size(F.collect_set(ordinal)).alias("distinct")),
        F.min(ordinal).alias("first"),
        F.max(ordinal).alias("last"),
    )
    joined = expected.join(answered, list(PLACE), "full_outer")
    groups = joined.select(
        "way", "state", "reason", _outcome().alias("outcome"), "kinds", "size", "offset"
    )
    outcomes = groups.groupBy("way", "state", "reason", "outcome", "kinds").agg(
        F.count(F.lit(1)).alias("count"), F.min(F.struct("size", "offset")).alias("smallest")
    )
    return [
        {
            **{name: group[name] or "" for name in ("way", "state", "reason", "outcome", "kinds")},
            "count": group["count"],
            "size": group["smallest"]["size"] or 0,
            "offset": group["smallest"]["offset"] or 0,
        }
        for group in outcomes.collect()
    ]


def _outcome() -> Column:
    """The outcome of one message, in a word, from its expected `state` (NULL for rows at a place
    that no message has) and from what was counted of the decoder's rows for it: their number `n`,
    how many are CORRUPT, and the `first`, the `last` and the `distinct` ones of the column `row`,
    which must count from 0.
    """
    n, corrupt = F.col("n"), F.col("corrupt")
    is_numbered = (F.col("first") == 0) & (F.col("last") == n - 1) & (F.col("distinct") == n)
    unreadable = F.col("state") == "unreadable"
    return (
        F.when(F.col("state").isNull(), "foreign")
        .when(n.isNull(), "lost")
        .when(~F.coalesce(is_numbered, F.lit(False)), "misnumbered")
        .when(unreadable & (n == 1) & (corrupt == 1), "rejected")
        .when(unreadable, "accepted")
        .when(corrupt == n, "corrupt")
        .otherwise("rows")
    )
