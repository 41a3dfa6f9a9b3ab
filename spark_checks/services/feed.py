"""A change feed as a DataFrame: a Python data source of Spark 4 whose rows are those of its Kafka source, without a broker.

Units are addressed by position, so that tasks make ranges of them side by side, and a query goes on from its checkpoint. The
messages are those of `cdc-conformance publish` for the same seed. Offsets rise in each partition and have gaps, as in a topic
that is compacted.
"""

from __future__ import annotations

import itertools
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from conformance.cases.tables import load_of, read_tables
from conformance.streams.told import Recipe, Told
from generators.bulk import orders
from generators.bulk.orders import LoadOptions
from generators.drawing.streams import START_MS
from generators.errors import HarnessError, NothingSelected, UnknownName, UsageError
from generators.garbage import nemesis
from generators.garbage.faults import MUST, Fault, applicable
from generators.garbage.nemesis import STAGES, Nemesis, Stream
from generators.model import Layout, Message, Written
from generators.storage import bulk, codec, records
from generators.storage.jsonform import to_line
from generators.tables import load as tables
from generators.wire_format import Format, Profile, get
from spark_checks.services.corpora import DDL

STEP: Final = 64
"""Units that are disturbed together."""
WIDTH: Final = 32
"""Offsets of a unit where its messages are not counted beforehand."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the source, as texts. `count` are units, without end in a stream if it is empty; `batch` are units of a
    micro-batch at most, `rate` units a second; `slices` are the tasks of a batch. `streams` is the file that `Group.save` wrote,
    for the command `stream`, in place of a format."""

    format: str = ""
    profile: str = ""
    tables: str = ""
    dialect: str = ""
    database: str = ""
    values: str = ""
    seed: str = "1"
    count: str = ""
    rate: str = ""
    batch: str = "10000"
    slices: str = "2"
    partitions: str = "3"
    topic: str = ""
    ops: str = ""
    rows: str = "1"
    faults: str = ""
    nemeses: str = ""
    expected: str = "false"
    streams: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Options:
        """Raises UsageError and UnknownName."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name.lower() not in known:
                raise UnknownName("option", name, known, of="the source cdc")
        asked = cls(**{name.lower(): value for name, value in given.items()})
        if not (asked.format or asked.streams):
            raise UsageError("the source cdc needs the option format")
        return asked

    def number(self, name: str, least: int = 1) -> int:
        """A whole number. Raises UsageError."""
        text = getattr(self, name)
        if not text.lstrip("-").isdecimal() or int(text) < least:
            raise UsageError(f"option {name} is {text!r}; it must be a whole number from {least} on")
        return int(text)


@dataclass(frozen=True)
class Feed:
    """The messages of units, on whatever machine. `own` is a kept TableLoad, if the tables are a user's."""

    format: str
    profile_name: str
    seed: int
    layout: Layout
    options: LoadOptions
    topic: str
    faults: str
    nemeses: tuple[str, ...]
    expected: bool
    own: bytes

    @classmethod
    def of(cls, asked: Options) -> Feed:
        """The feed that is asked for. Raises UsageError, UnknownName and NothingSelected."""
        fmt, seed, own = get(asked.format), asked.number("seed", -(2**63)), b""
        if asked.tables:
            sources = [one.strip() for one in asked.tables.split(",")]
            overrides = Path(asked.values) if asked.values else None
            values = read_tables(sources, asked.dialect or None, asked.database or None, overrides, seed)
            profile, load = load_of(fmt, asked.profile or None, values)
            load = replace(load, ops=orders.parse_ops(asked.ops)) if asked.ops else load
            own = pickle.dumps((load.values.filled(), load.users, load.ops))
        else:
            profile = fmt.profile(asked.profile) if asked.profile else fmt.profiles[-1]
        ops = orders.parse_ops(asked.ops) if asked.ops else orders.DEFAULT.ops
        names = [one.strip() for one in asked.nemeses.split(",")] if asked.nemeses else []
        if asked.faults and not {"corrupt", "all"} & set(names):
            names.insert(0, "corrupt")
        made = cls(
            fmt.name,
            profile.name,
            seed,
            Layout(partitions=asked.number("partitions")),
            LoadOptions(ops, rows=asked.number("rows")),
            asked.topic,
            asked.faults,
            tuple(names),
            asked.expected.lower() == "true",
            own,
        )
        made.disturbances  # noqa: B018 - raises what it raises
        return made

    @cached_property
    def disturbances(self) -> tuple[Nemesis, ...]:
        """The nemeses, in order. Raises UsageError for one that only a broker can do."""
        found = tuple(one for name in self.nemeses for one in nemesis.named(name))
        for one in found:
            if one.append_time or one.compacted:
                raise UsageError(f"nemesis {one.name} needs a broker: cdc-conformance stream --nemesis {one.name}")
        if not self._spoiling:
            known = ", ".join(one.name for one in self._unreadable)
            raise NothingSelected(f"no fault of {self.format} matches {self.faults!r}; there are {known}")
        return found

    @property
    def _unreadable(self) -> tuple[Fault, ...]:
        """The faults after which a decoder must refuse a message."""
        fmt = get(self.format)
        fit = applicable(fmt.faults, fmt.profile(self.profile_name).deployment.compression)
        return tuple(one for one in fit if one.obligation == MUST and not one.accept)

    @property
    def _spoiling(self) -> tuple[Fault, ...]:
        globs = self.faults.split(",") if self.faults else ["*"]
        return tuple(one for one in self._unreadable if any(fnmatchcase(one.name, glob.strip()) for glob in globs))

    @property
    def step(self) -> int:
        """A range of units begins and ends at a multiple of it."""
        return STEP if self.disturbances else 1

    def batches(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The rows of a range of units."""
        rows = self._rows(start, end)
        while some := list(itertools.islice(rows, bulk.BATCH)):
            messages = [replace(one, topic=self.topic) if self.topic else one for _, one, _ in some]
            batch = records.batch(messages, [offset for offset, _, _ in some])
            if self.expected:
                column = pa.array([list(changes) for _, _, changes in some], pa.list_(pa.string()))
                batch = pa.RecordBatch.from_arrays([*batch.columns, column], [*batch.schema.names, "expected"])
            yield batch

    def _rows(self, start: int, end: int) -> Iterator[tuple[int, Message, tuple[str, ...]]]:
        fmt = get(self.format)
        profile = fmt.profile(self.profile_name)
        if not (self.own or self.disturbances or self.expected):
            plain = bulk.numbered(fmt, profile, self.seed, start, end - start, self.layout, self.options)
            yield from ((offset, message, ()) for offset, message in plain)
            return
        load = tables.restored(self.own) if self.own else None
        width = bulk.shape(fmt, profile, self.options)[0] if not (self.own or self.disturbances) else WIDTH
        for first in range(start, end, self.step):
            found = [one for unit in range(first, min(end, first + self.step)) for one in self._written(fmt, profile, load, unit)]
            for place, (written, texts) in enumerate(self._disturbed(fmt, profile, found, first)):
                if place >= width * self.step:
                    raise HarnessError(f"unit {first} has more than {width * self.step} messages")
                yield first * width + place, written.message, texts

    def _written(
        self, fmt: Format[Any], profile: Profile, load: tables.TableLoad | None, unit: int
    ) -> Iterator[tuple[Written, tuple[str, ...]]]:
        scenario = load.scenario(self.seed, unit) if load else orders.load_scenario(fmt, profile, self.seed, unit, self.options)
        for one in fmt.write(scenario.history, profile, self.layout):
            yield one, self._texts(one)

    def _disturbed(
        self, fmt: Format[Any], profile: Profile, found: list[tuple[Written, tuple[str, ...]]], first: int
    ) -> Sequence[tuple[Written, tuple[str, ...]]]:
        if not self.disturbances:
            return found
        stream = Stream(tuple(one for one, _ in found), self._spoiling, profile.deployment.compression)
        for one in self.disturbances:
            stages = one(stream, self.seed * 1_000_003 + first)
            stream = replace(stream, written=tuple(itertools.chain.from_iterable(stages)))
        return [(one, self._texts(one)) for one in stream.written]

    def _texts(self, one: Written) -> tuple[str, ...]:
        """The changes that a decoder owes for a message, each as JSON."""
        return tuple(to_line(codec.dump_change(change)).rstrip("\n") for change in one.changes) if self.expected else ()


@dataclass(frozen=True)
class Staged:
    """The streams of the command `stream`: unit n is a stage of one of them, and all streams' first stages come first."""

    made: tuple[tuple[Recipe, tuple[int, ...]], ...]
    step: Final = 1

    def batches(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The rows of a range of units."""
        for unit in range(start, end):
            stage, number = divmod(unit, len(self.made))
            recipe, bases = self.made[number]
            told = _told(recipe)
            laid = replace(told, bases=bases).laid(stage)
            append_ms = START_MS + stage if told.nemesis.append_time else None
            yield records.batch([message for message, _ in laid], [offset for _, offset in laid], append_ms)


@lru_cache(maxsize=1024)
def _told(recipe: Recipe) -> Told:
    """A stream, kept for its next stage by the process that made it."""
    return recipe.told()


class Units(InputPartition):
    """A range of units."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


def _parts(start: int, end: int, slices: int, step: int) -> list[Units]:
    """The range in parts that begin at multiples of `step`."""
    size = -(-max(0, end - start) // slices)
    size = max(1, -(-size // step)) * step
    return [Units(low, min(end, low + size)) for low in range(start, end, size)]


class _Batch(DataSourceReader):
    def __init__(self, asked: Options) -> None:
        self._feed = Feed.of(asked)
        self._parts = _parts(0, int(asked.count or 10_000), asked.number("slices"), self._feed.step)

    def partitions(self) -> Sequence[InputPartition]:
        return self._parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Units)
        return self._feed.batches(partition.start, partition.end)


class _Stream(DataSourceStreamReader):
    """An offset is the first unit that is still to come."""

    def __init__(self, asked: Options) -> None:
        self._feed: Feed | Staged
        self._count: int | None
        self._slices = asked.number("slices")
        if asked.streams:
            self._feed = staged = Staged(tuple(pickle.loads(Path(asked.streams).read_bytes())))  # noqa: S301 - we wrote it
            self._batch, self._count = len(staged.made), STAGES * len(staged.made)
        else:
            self._feed, self._batch = Feed.of(asked), asked.number("batch")
            self._count = asked.number("count") if asked.count else None
        self._rate = float(asked.rate) if asked.rate else None
        self._first: int | None = None
        self._at, self._began = 0, time.monotonic()

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"unit": 0}

    def latestOffset(self) -> dict[str, int]:  # noqa: N802
        # A query that goes on asks for the last range first.
        if self._first is None:
            self._first, self._began = 0, time.monotonic()
        due = self._at + self._batch
        if self._rate is not None:
            due = min(due, self._first + int((time.monotonic() - self._began) * self._rate))
        if self._count is not None:
            due = min(due, self._count)
        if due != self._count:
            due -= due % self._feed.step
        self._at = max(self._at, due)
        return {"unit": self._at}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        if self._first is None:
            self._first = self._at = end["unit"]
            self._began = time.monotonic()
        return _parts(start["unit"], end["unit"], self._slices, self._feed.step)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Units)
        return self._feed.batches(partition.start, partition.end)


class ChangeFeed(DataSource):
    """The messages of a format as rows of Spark's Kafka source: `spark.dataSource.register(ChangeFeed)`, then
    `spark.read.format("cdc")` or `spark.readStream.format("cdc")`. docs/change-feed.md has the options."""

    @classmethod
    def name(cls) -> str:
        """The source's name."""
        return "cdc"

    def schema(self) -> str:
        """The columns of Spark's Kafka source; with `expected` one more."""
        return DDL + (", expected array<string>" if Options.of(self.options).expected.lower() == "true" else "")

    def reader(self, schema: StructType) -> DataSourceReader:
        """See DataSource."""
        return _Batch(Options.of(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """See DataSource."""
        return _Stream(Options.of(self.options))
