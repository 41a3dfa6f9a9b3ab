"""What the producers of a load publish, in this process or in Spark's tasks, and what each of them
counts.
"""

from __future__ import annotations

import base64
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from conformance.lanes import Lanes, lanes_of
from generators.bulk import orders, traffic
from generators.model import Layout, Message, Table, Written
from generators.profiles import Profile
from generators.publishing.cluster import Cluster
from generators.publishing.layouts import topic_of
from generators.publishing.pacing import Delivered, Published, PublishStopped, publish_paced
from generators.tables.load import TableLoad, restore
from generators.wire_format import Format, get

COMMITTED_S: Final = 0.2
"""Interval of commits, and of aborted transactions, in seconds."""
PROBED: Final = 256
"""Units (short scenarios of changes) that are written beforehand, to see whether each is one
message; every kind of change is among them.
"""


def place_hash(partition: int, offset: int) -> int:
    """A number that stands for one (partition, offset). The sum of these numbers over the messages
    that were sent is compared with the sum over the rows that the decoder returned, which Spark
    adds up by the same formula in SQL.
    """
    return (offset * 2654435761 + partition * 40503) % 4294967291


@dataclass(frozen=True, slots=True)
class Routes:
    """Chooses the topic of each message. `names` has a topic's name by the route that `pattern`
    gives the message, "" without a pattern.
    """

    names: Mapping[str, str]
    pattern: str
    partitions: int
    _topics_by_table: dict[tuple[str, str], str] = field(default_factory=dict)

    def with_topic(self, message: Message, table: Table) -> Message:
        """The message with the name of the topic to which it is published, which follows from the
        pattern, from the topic that the writer gave it, and from its table.
        """
        origin = message.topic, table.name
        if origin not in self._topics_by_table:
            self._topics_by_table[origin] = self.names[
                topic_of(self.pattern, message.topic, table) if self.pattern else ""
            ]
        return replace(message, topic=self._topics_by_table[origin])

    @property
    def lanes(self) -> Lanes:
        """The lane of each (topic, partition): a number from 0 on that counts the partitions of all
        topics, topic by topic.
        """
        return lanes_of(
            (name, number) for name in self.names.values() for number in range(self.partitions)
        )


class MessageId(NamedTuple):
    """A message among those of a load: the number of its unit, and its ordinal in the unit."""

    unit: int
    ordinal: int


class Part(NamedTuple):
    """The share of one of several producers, which divide the messages evenly among them: its
    `number`, from 0 on, of so many `producers`.
    """

    number: int
    producers: int

    def of_count(self, count: int) -> range:
        """The numbers, of 0 to `count - 1`, that this producer has."""
        first, end = (count * number // self.producers for number in (self.number, self.number + 1))
        return range(first, end)


WHOLE: Final = Part(0, 1)
"""The share of a producer that is alone."""


class PooledMessage(NamedTuple):
    """A message that was made before the publishing began, with its unit and ordinal, and whether
    a decoder must return a row for it.
    """

    message: Message
    id: MessageId
    has_row: bool


class Identified(NamedTuple):
    """Which of a load's messages one is, and whether a decoder must return a row for it."""

    message_id: MessageId
    has_row: bool


class ProducerSource:
    """An endless iterator over the messages that one producer publishes, of one seed in order; of a
    user's tables if `user_tables` is given. `identify` tells of each the unit (the short scenario
    that it belongs to) and whether a decoder must return a row for it at `level`. `drawn` is the
    number of messages given since the beginning.

    If every unit is one message and the profile has templates (`from_templates`), messages are made
    one by one, from unit `start` on. Otherwise the writer, which is slower than the rate, makes a
    pool of `pool` units beforehand, which is repeated; of several producers each makes its `part`
    of the pool. `routes` give each message its topic; None leaves the topic to the caller.
    """

    def __init__(
        self,
        fmt: Format[Any],
        profile: Profile,
        seed: int,
        layout: Layout,
        level: int,
        pool: int,
        user_tables: TableLoad | None = None,
        routes: Routes | None = None,
        part: Part = WHOLE,
    ) -> None:
        self._pool: list[PooledMessage] = []
        self.drawn = self._start = 0
        first_table = user_tables.table if user_tables else orders.load_table(profile.source)
        table = first_table.name

        def write_units(units: range) -> Iterator[tuple[int, tuple[Written, ...]]]:
            """Each unit (a short scenario), by its number, with the messages that the writer makes
            of its scenario.
            """
            for unit in units:
                scenario = (
                    user_tables.scenario(seed, unit)
                    if user_tables
                    else orders.load_scenario(fmt, profile, seed, unit)
                )
                yield unit, tuple(fmt.write(scenario.history, profile, layout))

        self.from_templates = (
            user_tables is None
            and traffic.why_not_learned(fmt, profile, layout) is None
            and all(
                len(group) == 1 and _has_row_of_table(group[0], level, table)
                for _, group in write_units(range(PROBED))
            )
        )

        def make_messages(start: int) -> Iterator[Message]:
            """The messages from unit `start` on, with their topics, where each unit is one."""
            generated = traffic.messages(fmt, profile, seed, start, layout=layout)
            if routes is None:
                return generated
            return (routes.with_topic(message, first_table) for message in generated)

        self._make_messages = make_messages
        if self.from_templates:
            self._messages = make_messages(0)
            return
        for unit, group in write_units(part.of_count(pool)):
            unit_table = (
                user_tables.users[unit % len(user_tables.users)].table
                if user_tables
                else first_table
            )
            for ordinal, written in enumerate(group):
                message = written.message
                if routes:
                    message = routes.with_topic(message, unit_table)
                has_row = _has_row_of_table(written, level, table)
                self._pool.append(PooledMessage(message, MessageId(unit, ordinal), has_row))
        self._messages = itertools.cycle([pooled.message for pooled in self._pool])

    def begin(self, unit: int) -> None:
        """Makes the message of unit (short scenario) number `unit` the next one, if messages are
        made from templates (one for each unit); `drawn` counts from there again. A pool of
        messages made beforehand is not rewound: it goes on where it is.
        """
        if self.from_templates:
            self._messages, self._start, self.drawn = self._make_messages(unit), unit, 0

    def __iter__(self) -> Iterator[Message]:
        return self

    def __next__(self) -> Message:
        message = next(self._messages)
        self.drawn += 1
        return message

    def identify(self, number: int) -> Identified:
        """Which message the iterator gave as number `number` since its beginning, counted from 0,
        and whether a decoder must return a row for it.
        """
        # With templates each unit is one message (its ordinal is 0), and each owes a row.
        if self.from_templates:
            return Identified(MessageId(self._start + number, 0), True)
        pooled = self._pool[number % len(self._pool)]
        return Identified(pooled.id, pooled.has_row)


def _has_row_of_table(written: Written, level: int, table: str) -> bool:
    """Whether a decoder must return a row for a message: at level one (changes as texts) for any
    change, at level two (typed rows) only for a row of the table of this name.
    """
    return any(level == 1 or change.is_row_of(table) for change in written.changes)


LAGS: Final = 10_000
"""Messages of a step, at most, whose times of sending all producers together report."""
SAMPLES: Final = 2_000
"""Messages of a step, at most, whose rows are judged, of all producers together."""
TICK_S: Final = 0.1
"""Interval of the reported acknowledgement counts, in seconds."""
TICKS: Final = 600
"""Intervals at most for which acknowledgements are counted, each at least TICK_S long."""


@dataclass(frozen=True, slots=True)
class Task:
    """What the producers of a load publish, in values that fit into JSON: the messages of a format,
    profile and seed. `names` are the names of their topics, by what `pattern` makes of a message
    ("" without a pattern).

    Messages whose offsets are multiples of `every` are sampled for the judge; `pool` units are made
    beforehand where the writer makes the messages. `encoded_tables` are a user's tables (a pickled
    TableLoad in base 64), "" for none. With `used` messages are sent in transactions, beside
    unreadable ones in transactions that are aborted. In figures each partition has the number of
    its lane, which counts the partitions of all topics in the order of `names`.
    """

    format: str
    profile: str
    seed: int
    partitions: int
    level: int
    bootstrap: str
    properties: Mapping[str, str] = field(repr=False)
    prefix: str
    names: Mapping[str, str]
    pattern: str
    used: bool
    every: int
    pool: int
    encoded_tables: str
    producers: int = 1

    @property
    def cluster(self) -> Cluster:
        """The broker."""
        return Cluster(self.bootstrap, self.properties, self.prefix)

    @property
    def routes(self) -> Routes:
        """The topics."""
        return Routes(self.names, self.pattern, self.partitions)

    @property
    def topic(self) -> str | None:
        """The topic of all messages, if there is only one; None if each message has its own."""
        return next(iter(self.names.values())) if len(self.names) == 1 else None

    def source(self, number: int = 0) -> ProducerSource:
        """The messages that producer `number` of the task publishes."""
        fmt = get(self.format)
        profile, layout = fmt.profile(self.profile), Layout(partitions=self.partitions)
        user_tables = None
        if self.encoded_tables:
            user_tables = restore(base64.b64decode(self.encoded_tables))
        routes, pool = None if self.topic else self.routes, max(self.pool, self.producers)
        return ProducerSource(
            fmt,
            profile,
            self.seed,
            layout,
            self.level,
            pool,
            user_tables,
            routes,
            Part(number, self.producers),
        )


class Lag(NamedTuple):
    """When a message that stands for `weight` messages was due, in seconds since the epoch."""

    lane: int
    offset: int
    due_s: float
    weight: int


class SampledMessage(NamedTuple):
    """A message whose rows are judged: where the broker put it, and which one it is."""

    lane: int
    offset: int
    unit: int
    ordinal: int


class Tally:
    """Counts the acknowledged messages of one producer for one command (see `publish`). Of what it
    collects only `ticks` grow with the time that the command takes; the other lists have a limit.

    `producers` is the number of producers that share the limits; messages whose offset is a
    multiple of `every` are sampled. In `command`, every `thin`-th message is one of `lags`, and
    `ticks` counts acknowledgements by interval: the first begins at `base`, each is `width` seconds
    long. `lanes` numbers the partitions of several topics; without it a partition's own number
    counts.
    """

    def __init__(
        self,
        source: ProducerSource,
        producers: int,
        command: Mapping[str, Any],
        every: int,
        lanes: Lanes = MappingProxyType({}),
    ) -> None:
        self._source, self._first, self._every, self._lanes = source, source.drawn, every, lanes
        self._thin, self._base, self._width = command["thin"], command["base"], command["width"]
        self._sample_limit = -(-SAMPLES // producers)
        self._owed = self._places = 0
        self.first_s = 0.0
        self.ticks: Counter[int] = Counter()
        self.lags: list[Lag] = []
        self._samples: list[SampledMessage] = []
        self._ends: dict[int, int] = {}

    def __call__(self, delivered: Delivered) -> None:
        """Counts an acknowledged message, and keeps it if it is one of the samples."""
        offset, number = delivered.offset, delivered.number
        lane = self._lanes.get((delivered.topic, delivered.partition), delivered.partition)
        (unit, ordinal), has_row = self._source.identify(self._first + number)
        if has_row:
            self._owed += 1
            self._places += place_hash(lane, offset)
        if offset % self._every == 0 and len(self._samples) < self._sample_limit:
            self._samples.append(SampledMessage(lane, offset, unit, ordinal))
        if number % self._thin == 0:
            self.lags.append(Lag(lane, offset, delivered.intended_s, self._thin))
        self.first_s = self.first_s or delivered.acked_s
        self.ticks[int((delivered.acked_s - self._base) // self._width)] += 1
        self._ends[lane] = offset + 1

    def figures(self, done: Published, stopped: str = "") -> dict[str, Any]:
        """What one producer has counted, at the end of a command, as JSON values. `done` are the
        figures of the publisher itself. `stopped` says why the publishing ended early, "" if it did
        not. `owed` is for how many messages a decoder owes a row, `places` the sum of the hashes of
        their places (lane and offset), `ticks` the acknowledged messages by interval, `ends` the
        next offset of each lane.
        """
        now = time.time()
        return {
            **asdict(done),
            "owed": self._owed,
            "places": self._places,
            "began": now - done.seconds,
            "first": self.first_s,
            "ended": now,
            "ticks": list(self.ticks.items()),
            "lags": self.lags,
            "samples": self._samples,
            "ends": list(self._ends.items()),
            "stopped": stopped,
        }


def publish(
    task: Task,
    source: ProducerSource,
    command: Mapping[str, Any],
    *,
    part: Part = WHOLE,
    stop: Callable[[], bool] | None = None,
    ready: Callable[[], None] | None = None,
    tally: Tally,
) -> dict[str, Any]:
    """Publishes one producer's `part` of a command, counts it in `tally`, and returns the figures.
    The command `{"count": N}` publishes N messages as fast as possible, `{"rate": R, "count": N,
    "duration_s": S}` on a schedule, for S seconds at most; N and R are those of all producers
    together. `stop` is asked again and again whether to end early; `ready` is called once the
    broker is reached, and may wait for other producers.
    """
    rate = command.get("rate")
    stopped = ""
    try:
        done = publish_paced(
            task.cluster,
            task.topic,
            source,
            rate=rate and rate / part.producers,
            count=len(part.of_count(command["count"])),
            duration_s=command.get("duration_s"),
            stamp=rate is not None,
            delivered=tally,
            stop=stop,
            ready=ready,
            commit_s=COMMITTED_S if task.used else None,
        )
    except PublishStopped as error:
        done, stopped = error.published, str(error)
    return tally.figures(done, stopped)
