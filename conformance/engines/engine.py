"""The interface of an engine: it reads records and returns a decoder's output as an Arrow table.
Also assigns offsets to messages.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa

from conformance.brokers import registry
from conformance.judging.capabilities import Capabilities
from conformance.judging.output import Place
from generators.model import Case, Deployment, Message, Table
from generators.publishing.cluster import Target
from generators.storage import records

GROUP: Final = 500
"""Records in each row group of a Parquet file: what Spark can skip, or must read, as a whole."""
Ranges = tuple[tuple[str, int, int, int], ...]
"""Ranges of records, each (topic, partition, first offset, last offset), where both offsets belong
to the range.
"""


class DecodeRaised(Exception):
    """The decoder raised; the message is the decoder's error."""


class PlanFailed(DecodeRaised):
    """Spark refused the decoder's plan before any message was read."""


class ProcessLost(Exception):
    """The process that ran the decoder is lost. `lost_s` is how long the call had run, not counting
    starts of the process, if the engine knows it.
    """

    lost_s: float | None = None


class DecodeTimeout(ProcessLost):
    """The decoder exceeded its time limit; the child was killed."""


class ChildDied(ProcessLost):
    """The child process ended during decoding."""


class AnswerTimeout(ChildDied):
    """A service beside decoding did not answer within its time limit; the child was killed."""


@dataclass(frozen=True, slots=True)
class RecordSource:
    """Where records come from: ranges of a Kafka topic, or a Parquet file with the columns of
    Spark's Kafka source.
    """

    ranges: Ranges
    bootstrap: Target = ""
    topic: str = ""
    parquet: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a decoder on the records that the engine keeps under the name `handle`, those in
    `ranges`. `conf` are session settings for this call only. `table` is the requested table of
    level two (typed rows), None for level one. `repartition` is the number of partitions, or
    batches, into which the records are divided, 0 to leave them. `mapping` has SQL expressions for
    columns of the decoder's output, by name (`--map`). `limit_s` replaces the engine's time limit,
    unless it is 0. `tables` are the tables of the records' rows, for decoders of level one that ask
    for them.
    """

    handle: str
    ranges: Ranges
    decoder: str
    level: int
    deployment: Deployment
    table: Table | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    repartition: int = 0
    mapping: Mapping[str, str] = field(default_factory=dict)
    limit_s: float = 0.0
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded decoder: which levels it has, and the capabilities that it declares."""

    levels: tuple[int, ...]
    capabilities: Capabilities


class Engine(Protocol):
    """Reads records and runs decoders on them. `directory` holds its files. `environments` are the
    session settings (`Request.conf`) in which a decoder must give the same rows, by their
    description.
    """

    directory: Path
    environments: Mapping[str, Mapping[str, str]]

    def load(self, decoder: str, level: str) -> Future[Loaded]:
        """Loads a decoder. The future raises UsageError if it cannot be loaded."""
        ...

    def keep_records(self, handle: str, source: RecordSource) -> Future[int]:
        """Reads records once and keeps them under the name `handle`. The future has their
        number.
        """
        ...

    def release(self, handle: str) -> None:
        """Forgets the records that it keeps under the name `handle`."""
        ...

    def decode(self, request: Request) -> Future[pa.Table]:
        """Runs the decoder on records; the future has its rows as an Arrow table. It raises
        DecodeRaised, DecodeTimeout, ChildDied or UsageError.
        """
        ...

    def renew(self) -> Future[Any]:
        """Runs the decoder in a new process once all earlier requests are answered. Spark's child
        keeps its JVM, with a new session, if it can.
        """
        ...

    def close(self) -> None:
        """Ends the decoder's process and everything else that the engine started, and removes its
        directory.
        """
        ...


def write_records(path: Path, messages: Sequence[Message], offsets: Sequence[int]) -> None:
    """Writes messages to a Parquet file with the columns of Spark's Kafka source, and registers
    their schemas. The messages of a call are neighbours in the file, so that Spark reads only the
    row groups with some of them.
    """
    import pyarrow.parquet as pq

    registry.register_schemas(messages)
    pq.write_table(
        pa.Table.from_pydict(records.columns(messages, offsets), records.schema()),
        path,
        row_group_size=GROUP,
    )


def assign_places(messages: Sequence[Message]) -> list[Place]:
    """The (topic, partition, offset) that each message gets in partitions that hold only these
    messages, in order.
    """
    ends: Counter[tuple[str, int]] = Counter()
    places: list[Place] = []
    for message in messages:
        partition = (message.topic, message.partition)
        places.append((*partition, ends[partition]))
        ends[partition] += 1
    return places


def write_table(
    directory: Path, handle: str, messages: Sequence[Message]
) -> tuple[list[Place], RecordSource]:
    """Writes messages as a table that the engine can open. Returns the place of each message, and
    the source.
    """
    places = assign_places(messages)
    path = directory / f"{handle}.parquet"
    write_records(path, messages, [offset for _, _, offset in places])
    return places, RecordSource(ranges_of(places), parquet=str(path))


def tables_of_cases(cases: Iterable[Case]) -> tuple[Table, ...]:
    """The tables of the cases, in order of appearance; a table may come several times."""
    return tuple(itertools.chain.from_iterable(case.tables for case in cases))


def ranges_of(places: Iterable[Place]) -> Ranges:
    """The smallest number of ranges that hold exactly these places: (topic, partition, first
    offset, last offset).
    """
    ranges: list[tuple[str, int, int, int]] = []
    for topic, partition, offset in sorted(set(places)):
        if ranges:
            last_topic, last_partition, first, last = ranges[-1]
            if (last_topic, last_partition, last + 1) == (topic, partition, offset):
                ranges[-1] = (topic, partition, first, offset)
                continue
        ranges.append((topic, partition, offset, offset))
    return tuple(ranges)
