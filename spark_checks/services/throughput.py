"""Batch throughput of decoders beside the baseline: one session, cached records, noop sink,
interleaved rounds.

The time of a query includes its optimisation and execution. The DataFrame is built for every round,
else Spark would reuse its plan, and before the clock starts: building costs the same for ten
messages as for ten million.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from generators.model import Deployment, Table
from generators.storage import codec
from spark_checks.services import cluster
from spark_checks.services.engine import Decoder

WARM_UP: Final = 4
"""Untimed rounds: with two the JVM still favours whoever comes later."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A decoder at one level, with all its arguments except the records."""

    name: str
    decoder: Decoder
    level: int
    table: Table
    deployment: Deployment

    def frame(self, records: DataFrame) -> DataFrame:
        """Builds the DataFrame of the decoder's output anew."""
        return self.decoder(self.level, records, self.table, self.deployment)

    def count_rows(self, records: DataFrame) -> int:
        """Decodes the records and returns the number of ROW changes. They are counted in the plan
        that is timed, because a filter would change the plan.
        """
        observation = Observation()
        execute(
            self.frame(records).observe(
                observation, F.count_if(F.col("kind") == "ROW").alias("rows")
            )
        )
        return int(observation.get["rows"])


def execute(frame: DataFrame) -> float:
    """Runs a DataFrame into the noop sink and returns the seconds that it took."""
    writer = frame.write.format("noop").mode("overwrite")
    began = time.perf_counter()
    writer.save()
    return time.perf_counter() - began


def cache_records(spark: SparkSession, parquet: str) -> DataFrame:
    """The records of a Parquet file in the shape of Spark's Kafka source, in memory, one partition
    per core.
    """
    frame = cluster.table(spark, parquet).repartition(cluster.parallelism(spark)).persist()
    frame.count()
    return frame


def time_rounds(
    contestants: Sequence[Contestant], records: DataFrame, rounds: int, warm_up: int = WARM_UP
) -> dict[str, list[float]]:
    """The seconds of each round, by the name of the contestant. A round runs all contestants once,
    every second round in reverse order. The first `warm_up` rounds are not timed.
    """
    seconds: dict[str, list[float]] = {c.name: [] for c in contestants}
    for number in range(-warm_up, rounds):
        for contestant in contestants if number % 2 == 0 else reversed(contestants):
            elapsed = execute(contestant.frame(records))
            if number >= 0:
                seconds[contestant.name].append(elapsed)
    return seconds


def ratio(yardstick: Sequence[float], seconds: Sequence[float]) -> dict[str, float]:
    """The speed relative to `yardstick`, round by round: median, minimum, maximum. Above 1 is
    faster.
    """
    ratios = [base / elapsed for base, elapsed in zip(yardstick, seconds, strict=True)]
    return {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)}


def handle(
    spark: SparkSession, request: Mapping[str, Any], load: Callable[[str], Decoder]
) -> dict[str, Any]:
    """Answers the request `bench`.

    It has `parquet`, `messages` (their number), `table`, `deployment`, `rounds`, `baseline` (a
    decoder) and `decoders` (decoders by name). The answer's `results` has an entry for each level
    that the baseline and at least one decoder have: `level`, `baseline` and `decoders` by name,
    each with `per_second` (messages, by the median round), `seconds` (of every round) and `rows`
    (ROW changes found), decoders with their `ratio` too.
    """
    baseline = load(request["baseline"])
    decoders = {name: load(spec) for name, spec in request["decoders"].items()}
    table = codec.load_table(request["table"])
    deployment = codec.load_deployment(request["deployment"])
    records = cache_records(spark, request["parquet"])
    try:
        results = []
        for level in sorted(baseline.functions):
            able = {
                name: decoder for name, decoder in decoders.items() if level in decoder.functions
            }
            contestants = [
                Contestant(n, d, level, table, deployment)
                for n, d in (("", baseline), *able.items())
            ]
            if able:
                results.append(
                    _contest(contestants, records, request["messages"], request["rounds"])
                )
        return {"results": results}
    finally:
        records.unpersist()


def _contest(
    contestants: Sequence[Contestant], records: DataFrame, messages: int, rounds: int
) -> dict[str, Any]:
    """The throughput of the contestants, measured in interleaved rounds over the same records: the
    baseline, whose name is "", and decoders of the same level. Each decoder has its speed as a
    ratio to the baseline's; above 1 is faster.
    """
    row_counts = {c.name: c.count_rows(records) for c in contestants}
    seconds = time_rounds(contestants, records, rounds)
    measured: dict[str, dict[str, Any]] = {
        name: {
            "per_second": messages / statistics.median(rounds_s),
            "seconds": rounds_s,
            "rows": row_counts[name],
        }
        for name, rounds_s in seconds.items()
    }
    yardstick = measured.pop("")
    for figures in measured.values():
        figures["ratio"] = ratio(yardstick["seconds"], figures["seconds"])
    return {"level": contestants[0].level, "baseline": yardstick, "decoders": measured}
