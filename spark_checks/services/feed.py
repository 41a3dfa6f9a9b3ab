"""A change feed as a DataFrame: a Python data source of Spark 4 whose rows are those of its Kafka
source, without a broker.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StructType

from conformance.load.feed import Feed, Options
from conformance.streams.recipes import Staged
from spark_checks.services.corpora import DDL


class Units(InputPartition):
    """A task of Spark that reads the units from `start` up to `end`. A unit is one SQL statement of
    a load or, in a feed of streams, one stage of one stream.
    """

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


def _divide_units(start: int, end: int, slices: int, step: int) -> list[Units]:
    """Divides the range of units (statements of a load, or stages of streams) from `start` to `end`
    into about `slices` parts that begin at multiples of `step`.
    """
    size = -(-max(0, end - start) // slices)
    size = max(1, -(-size // step)) * step
    return [Units(low, min(end, low + size)) for low in range(start, end, size)]


class _Batch(DataSourceReader):
    """The reader of a change feed as a table: its first `count` units, in about `slices` tasks."""

    def __init__(self, options: Options) -> None:
        self._feed = Feed.make_feed(options)
        self._parts = _divide_units(
            0,
            options.number("count") if options.count else 10_000,
            options.number("slices"),
            self._feed.step,
        )

    def partitions(self) -> Sequence[InputPartition]:
        """The tasks that read the feed, each some of its units."""
        return self._parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The messages of a task's units."""
        assert isinstance(partition, Units)
        return self._feed.batches(partition.start, partition.end)


class _Stream(DataSourceStreamReader):
    """The reader of a change feed as a stream. An offset of the stream is the number of the first
    unit that is still to come.
    """

    def __init__(self, options: Options) -> None:
        # A kept feed is one of our own process.
        self._feed: Feed | Staged = (
            pickle.loads(Path(options.kept).read_bytes())  # noqa: S301
            if options.kept
            else Feed.make_feed(options)
        )
        # Who reads a stream stage by stage says in a file how many units are there.
        self._released = Path(f"{options.kept}.released") if options.kept else None
        self._slices, self._batch = options.number("slices"), options.number("batch")
        self._count = options.number("count") if options.count else None
        self._rate = options.units_per_second()
        self._first: int | None = None
        self._at, self._began = 0, time.monotonic()

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """The offset before the first unit."""
        return {"unit": 0}

    def latestOffset(self) -> dict[str, int]:  # noqa: N802
        """The offset where the next batch ends: one batch of units (statements of a load, or stages
        of streams) further, but no more than the feed's rate and its count allow, nor than the file
        beside a kept feed has released to be read.
        """
        # A query that goes on asks for the last range first.
        if self._first is None:
            self._first, self._began = 0, time.monotonic()
        due = self._at + self._batch
        if self._rate is not None:
            due = min(due, self._first + int((time.monotonic() - self._began) * self._rate))
        if self._count is not None:
            due = min(due, self._count)
        if self._released is not None and self._released.exists():
            due = min(due, int(self._released.read_text("ascii")))
        if due != self._count:
            due -= due % self._feed.step
        self._at = max(self._at, due)
        return {"unit": self._at}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """The tasks that read the units (statements of a load, or stages of streams) from one
        offset to another. The rate is counted from the first call, since a query that goes on after
        a restart asks for its last range first.
        """
        if self._first is None:
            self._first = self._at = end["unit"]
            self._began = time.monotonic()
        return _divide_units(start["unit"], end["unit"], self._slices, self._feed.step)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The messages of a task's units."""
        assert isinstance(partition, Units)
        return self._feed.batches(partition.start, partition.end)


class ChangeFeed(DataSource):
    """The messages of a format as rows of Spark's Kafka source:
    `spark.dataSource.register(ChangeFeed)`, then `spark.read.format("cdc")` or
    `spark.readStream.format("cdc")`. docs/change-feed.md has the options.
    """

    @classmethod
    def name(cls) -> str:
        """The source's name."""
        return "cdc"

    def schema(self) -> str:
        """The columns of the source `cdc` for Spark: those of its Kafka source, and one with the
        expected changes if the option `expected` asks for it.
        """
        return DDL + (
            ", expected array<string>"
            if Options.parse_options(self.options).expected.lower() == "true"
            else ""
        )

    def reader(self, schema: StructType) -> DataSourceReader:
        """See DataSource."""
        return _Batch(Options.parse_options(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """See DataSource."""
        return _Stream(Options.parse_options(self.options))
