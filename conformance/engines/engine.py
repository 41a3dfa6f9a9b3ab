"""The engine's interface: records in, an Arrow table of changes out; and the layout of messages at
offsets.
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
from conformance.judging.judge import Capabilities
from conformance.judging.output import Place
from generators.model import Case, Deployment, Message, Table
from generators.publishing.cluster import Target
from generators.storage import records

GROUP: Final = 500
"""Records of a group of a file."""
Ranges = tuple[tuple[str, int, int, int], ...]
"""(topic, partition, first offset, last offset), both inclusive."""


class DecodeRaised(Exception):
    """The decoder raised; the message is the decoder's error."""


class PlanFailed(DecodeRaised):
    """Spark refused the decoder's plan before it read a message."""


class ProcessLost(Exception):
    """The decoder's process is lost. `lost_s` is the time of the call, without starts of the
    process, if the engine knows it.
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
    """A place of records: a Kafka topic with ranges, or a Parquet file in the schema of Spark's
    Kafka source.
    """

    ranges: Ranges
    bootstrap: Target = ""
    topic: str = ""
    parquet: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One decode call on opened records. `conf` are session settings for this call only; `table`
    None means level one, `tables` are those of the records' rows for decoders that ask for them at
    level one; `limit_s` replaces the engine's time limit, if not 0.
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
    """A loaded decoder: its levels and claims."""

    levels: tuple[int, ...]
    capabilities: Capabilities


class Engine(Protocol):
    """Records in, Arrow table of changes out.

    `directory` holds its files. `environments` are those that environment independence varies:
    `Request.conf` by description.
    """

    directory: Path
    environments: Mapping[str, Mapping[str, str]]

    def load(self, decoder: str, level: str) -> Future[Loaded]:
        """Loads a decoder. The future raises UsageError if it cannot be loaded."""
        ...

    def open_records(self, handle: str, source: RecordSource) -> Future[int]:
        """Reads records once, keeps them under a name; returns their number."""
        ...

    def release(self, handle: str) -> None:
        """Forgets opened records."""
        ...

    def decode(self, request: Request) -> Future[pa.Table]:
        """Decodes. The future raises DecodeRaised, DecodeTimeout, ChildDied or UsageError."""
        ...

    def renew(self) -> Future[Any]:
        """A new process for the decoder once all earlier requests are answered. Spark's child keeps
        its JVM if it can, with a session of its own.
        """
        ...

    def close(self) -> None:
        """Stops everything."""
        ...


def write_records(path: Path, messages: Sequence[Message], offsets: Sequence[int]) -> None:
    """Writes messages as Parquet in the form of Spark's Kafka source with headers; the registry has
    their schemas then. A call's messages lie together, and Spark reads the groups alone that may
    hold some of them.
    """
    import pyarrow.parquet as pq

    registry.register_schemas(messages)
    pq.write_table(
        pa.Table.from_pydict(records.columns(messages, offsets), records.schema()),
        path,
        row_group_size=GROUP,
    )


def assign_places(messages: Sequence[Message]) -> list[Place]:
    """The address of each message, if its partition holds only these messages, in order."""
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
    """Writes messages as an engine's table; returns their places and the source."""
    places = assign_places(messages)
    path = directory / f"{handle}.parquet"
    write_records(path, messages, [offset for _, _, offset in places])
    return places, RecordSource(ranges_of(places), parquet=str(path))


def tables_of_cases(cases: Iterable[Case]) -> tuple[Table, ...]:
    """The tables of some cases, in order of appearance, with repetitions."""
    return tuple(itertools.chain.from_iterable(case.tables for case in cases))


def ranges_of(places: Iterable[Place]) -> Ranges:
    """The fewest inclusive (topic, partition, low, high) ranges of exactly these places."""
    ranges: list[tuple[str, int, int, int]] = []
    for topic, partition, offset in sorted(set(places)):
        if ranges and ranges[-1][:2] == (topic, partition) and ranges[-1][3] + 1 == offset:
            ranges[-1] = (*ranges[-1][:3], offset)
        else:
            ranges.append((topic, partition, offset, offset))
    return tuple(ranges)
