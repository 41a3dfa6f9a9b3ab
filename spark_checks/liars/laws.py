"""Decoders that break a law of decoding in Spark: the same eight of any format at level one."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Table
from spark_checks.liars.liar import Decode, Liar, on_columns


def _elsewhere(decode: Decode) -> Decode:
    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        decoded = decode(records, *args, deployment=deployment)
        return decoded.unionByName(decoded.withColumn("offset", F.col("offset") + 1_000_000))

    return lie


def _after_the_first(decode: Decode) -> Decode:
    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        first = records.first()
        assert first is not None, "no record to tell the schema of"
        return decode(records, *args, deployment=deployment)

    return lie


def _one_of_an_offset(decode: Decode) -> Decode:
    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        return decode(records, *args, deployment=deployment).dropDuplicates(["offset", "row"])

    return lie


def laws(decode: Decode) -> Iterator[Liar]:
    """The liars of a format's decoder."""
    raised = "IF(kind = 'CORRUPT', CAST(raise_error(concat('malformed record at offset ', offset)) AS string), kind)"
    for name, rule, why, lie in (
        (
            "failfast",
            "returns",
            "from_json with mode FAILFAST: one unreadable message stops the batch, and the query with it.",
            on_columns(decode, kind=raised),
        ),
        (
            "needs-a-record",
            "batch-independence",
            "records.first().value tells the schema: right until a batch is empty, as the first of a new topic is.",
            _after_the_first(decode),
        ),
        (
            "phantom-places",
            "places",
            "A join on the offset within a batch: each row occurs again, elsewhere.",
            _elsewhere(decode),
        ),
        (
            "nowhere",
            "places",
            "An outer join loses the coordinates of an unreadable message.",
            on_columns(decode, offset="IF(kind = 'CORRUPT', NULL, offset)"),
        ),
        (
            "offset-as-int",
            "environment-independence",
            "Offsets are cast to 32 bits: right until a partition has had 2^31 messages.",
            on_columns(decode, offset="IF(offset & 2147483648 = 0, 0, -2147483648) + (offset & 2147483647)"),
        ),
        (
            "one-of-an-offset",
            "environment-independence",
            "Of the messages of several partitions one with each offset is left.",
            _one_of_an_offset(decode),
        ),
        (
            "batch-dependent",
            "batch-independence",
            "What is the message's is taken from the batch: every change is given the table that the batch names last.",
            on_columns(decode, table="max(table) OVER ()"),
        ),
        (
            "session-zone",
            "environment-independence",
            "The commit time is read through a wall clock, hence in the session's time zone: right only where that is UTC.",
            on_columns(decode, commit_time="to_utc_timestamp(commit_time, current_timezone())"),
        ),
    ):
        yield Liar(name, 1, f"law/{rule}", why, lie)


def law(decode: Decode, *names: str) -> tuple[Liar, ...]:
    """Those of these names."""
    return tuple(liar for liar in laws(decode) if liar.name in names)
