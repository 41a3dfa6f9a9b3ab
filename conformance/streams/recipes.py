"""The streams that the command `stream` reads, and their results. A recipe (format, profile,
nemesis, seed, number) makes the same stream on any machine.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple

import pyarrow as pa

from conformance.lanes import Lanes, lanes_of
from conformance.rules.order import order_of
from conformance.streams.differences import RuleDifference
from generators.drawing.shared_history import streamed
from generators.drawing.streams import START_MS, STATEMENTS, Streamed
from generators.garbage.nemesis import Nemesis, Stages, Stream, is_removed, select_nemeses
from generators.model import (
    Deployment,
    Image,
    Kind,
    Message,
    Op,
    RowChange,
    Value,
    Written,
)
from generators.profiles import Profile
from generators.publishing.layouts import topic_of
from generators.storage import records
from generators.tables.schema import UserTable
from generators.tables.user_values import Values
from generators.wire_format import Format, get

CHANGES: Final = 90
"""Approximate number of row changes per history."""
PARTITIONS: Final = 3
"""Partitions of each stream."""
SHOWN: Final = 5
"""Limit of the recorded differences of a stream."""
RESTART: Final = "restart"
"""The name of the run in which the reader's process is killed, and of the rule that it may break.
"""
APPEND_TIME: Final = "append-time"
"""The end of the names of topics whose broker sets the timestamps."""


@dataclass(slots=True)
class StreamResult:
    """How the tables of one stream compare with the source's. `nemesis` is the nemesis's name,
    followed by `+restart` or `+broker-restart` where processes were killed.

    `rows` counts the source's rows at the end, `messages` all messages of the topic, `repeats`
    those that came before, `corrupt` the unreadable ones. `lost` says why the profile is not
    judged, "" if it is. `table` is the user's table, "" for the harness's own. `wrong` has the
    first differences; `broken` counts all of them by rule.
    """

    format: str
    profile: str
    nemesis: str
    rows: int = 0
    messages: int = 0
    repeats: int = 0
    corrupt: int = 0
    cells: int = 0
    lost: str = ""
    table: str = ""
    wrong: list[RuleDifference] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)

    @property
    def converged(self) -> bool:
        """Whether the tables equal the source's."""
        return not self.broken and not self.lost

    def differ(self, rule: str, what: str) -> None:
        """Counts a difference that breaks the stream rule `rule` (the last part of its id), and
        keeps its description `what` if it is among the first SHOWN of all rules.
        """
        name = f"{self.format}/stream/{rule}"
        self.broken[name] += 1
        if len(self.wrong) < SHOWN:
            self.wrong.append(RuleDifference(name, what))

    def as_json(self) -> dict[str, Any]:
        """The result of a stream as a JSON object, for `--format json`."""
        facts: dict[str, Any] = {
            "format": self.format,
            "profile": self.profile,
            "nemesis": self.nemesis,
        }
        facts |= {"table": self.table} if self.table else {}
        if self.lost:
            return {**facts, "result": "not judged", "because": self.lost}
        facts |= {
            "result": "converged" if self.converged else "differs",
            "rows": self.rows,
            "cells": self.cells,
        }
        facts |= {"messages": self.messages, "repeats": self.repeats, "corrupt": self.corrupt}
        if self.broken:
            facts["broken"] = dict(self.broken)
            facts["differences"] = [{"rule": rule, "what": what} for rule, what in self.wrong]
        return facts


ONE_TOPIC: Final = (("", PARTITIONS),)
"""The topics of a stream that has one topic: (end of its name, number of partitions)."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The table whose changes a stream carries: a user's table, or, without one, the
    harness's own.
    """

    values: Values | None = None
    user: UserTable | None = None

    @property
    def table(self) -> str:
        """The name of the user's table; "" for the harness's own."""
        return self.user.table.name if self.user else ""

    @property
    def label(self) -> str:
        """How the name of the table begins that a stream has; the stream's number follows. At most
        50 characters, lest the whole be too long for a name.
        """
        return self.table[:50] or "t"

    def streamed(
        self,
        fmt: Format[Any],
        profile: Profile,
        seed: int,
        name: str,
        statements: tuple[str, ...] | None = None,
        *,
        within_millisecond: bool = True,
        unsent: bool = False,
    ) -> Streamed:
        """Makes a history of the table under the name `name`, and the profile's messages of it.
        `statements` are the statements (ADD COLUMN ...) that the history has, None for all that are
        possible. `within_millisecond`: some rows change twice within a millisecond, if positions
        order such changes. `unsent`: most UPDATEs leave a long value as it is, so that it is not
        sent; for the harness's own table alone.
        """
        within_millisecond = within_millisecond and bool(order_of(fmt.name).positions)
        if self.values is None or self.user is None:
            return streamed(
                fmt,
                profile,
                seed,
                name,
                CHANGES,
                PARTITIONS,
                STATEMENTS if statements is None else statements,
                within_millisecond,
                unsent,
            )
        # Workers of a cluster need Hypothesis for a user's tables only.
        from generators.tables.streams import stream_table

        return stream_table(
            self.values,
            self.user,
            fmt,
            profile,
            seed,
            name,
            CHANGES,
            PARTITIONS,
            statements,
            within_millisecond,
        )


OURS: Final = (Subject(),)
"""The subjects of a run without tables of the user: the harness's own table."""
ALONE: Final = "orders"
"""The harness's own table, where a stream is alone."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that determines a stream, so that any machine can make it: the history that `seed` and
    `number` give, under a nemesis. The table's name ends in `number`, unless `alone` says that no
    other stream shares the topic. `pattern` names the topic of each message
    (`generators.publishing.layouts`).
    """

    format: str
    profile: str
    nemesis: str
    seed: int
    number: int
    subject: Subject = OURS[0]
    pattern: str = ""
    alone: bool = False

    def stream(self) -> ReadStream:
        """Makes the stream that the recipe describes: history, messages, and their stages (parts
        that are published one after the other) under the nemesis. The same recipe always gives the
        same stream.
        """
        fmt, (nemesis,) = get(self.format), select_nemeses(self.nemesis)
        profile, stream_seed = fmt.profile(self.profile), self.seed * 1000 + self.number
        story = self._make_history(fmt, profile, nemesis, stream_seed)
        # From here on a message has a lane (a partition's number over all topics) as its partition.
        written, topics = assign_lanes(
            story, self.pattern, APPEND_TIME if nemesis.append_time else ""
        )
        stages = nemesis(Stream(written, fmt.faults, profile.deployment.compression), stream_seed)
        return ReadStream(
            profile, nemesis, story, stages, table=self.subject.table, topics=topics, recipe=self
        )

    def _make_history(
        self, fmt: Format[Any], profile: Profile, nemesis: Nemesis, seed: int
    ) -> Streamed:
        """Makes the history for a nemesis. A `quiet` nemesis needs one without statements: then it
        tries several table names, until no row is in the first partition, where the schemas are; if
        all fail, it takes the first name.
        """
        name = f"{self.subject.label}_{self.number}"
        if self.alone:
            name = self.subject.table or ALONE
        if not nemesis.quiet:
            # None: the usual statements; () below: none.
            statements = nemesis.statements or None
            return self.subject.streamed(
                fmt,
                profile,
                seed,
                name,
                statements,
                within_millisecond=nemesis.fine,
                unsent=nemesis.unsent,
            )
        for suffix in ("", "_b", "_c"):
            story = self.subject.streamed(
                fmt, profile, seed, name + suffix, (), within_millisecond=nemesis.fine
            )
            if all(map(_is_elsewhere, story.written)):
                return story
        return self.subject.streamed(fmt, profile, seed, name, (), within_millisecond=nemesis.fine)


@dataclass(frozen=True, slots=True)
class ReadStream:
    """A stream as it is read: a history whose messages a nemesis has disturbed. The profiles `also`
    write the same messages as `profile`. `table` is the user's table, "" for the harness's own.

    A lane is a partition of one of the stream's `topics` (end of the name, number of partitions),
    counted over all topics. Streams of a group share topics: this stream has the partitions from
    `first_partitions` on in each topic, and the lanes from `first` on among all lanes of the group.
    """

    profile: Profile
    nemesis: Nemesis
    story: Streamed
    stages: Stages
    first: int = 0
    also: tuple[Profile, ...] = ()
    table: str = ""
    topics: tuple[tuple[str, int], ...] = ONE_TOPIC
    first_partitions: tuple[int, ...] = (0,)
    recipe: Recipe | None = field(default=None, compare=False)

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """The topic and partition of each lane of the stream, in the order of lanes."""
        places: list[tuple[str, int]] = []
        for (topic, count), first in zip(self.topics, self.first_partitions, strict=True):
            places += ((topic, first + number) for number in range(count))
        return tuple(places)

    def placed_messages(self, stage: int) -> Iterator[Message]:
        """The messages of a stage, each with the topic and the partition of its lane."""
        places = self.places
        for written in self.stages[stage]:
            topic, partition = places[written.message.partition]
            yield replace(written.message, topic=topic, partition=partition)

    def messages_with_offsets(self, stage: int) -> list[tuple[Message, int]]:
        """The messages of a stage with their offsets. Removed messages are left out, but take up an
        offset.
        """
        ends = Counter[tuple[str, int]]()
        for number in range(stage):
            ends.update(
                (message.topic, message.partition) for message in self.placed_messages(number)
            )
        messages = []
        for message in self.placed_messages(stage):
            if not is_removed(message):
                messages.append((message, ends[message.topic, message.partition]))
            ends[message.topic, message.partition] += 1
        return messages


class DeploymentLanes(NamedTuple):
    """The lanes of a group's streams that have one deployment: from lane `first` to the lane before
    `end`.
    """

    deployment: Deployment
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Group:
    """Streams of one format that share topics and are read by one query; the records of one
    deployment (time zone, charset ... of a source) are decoded in one call. `lost` are results of
    tables that cannot be judged.
    """

    fmt: Format[Any]
    streams: tuple[ReadStream, ...]
    lost: tuple[StreamResult, ...] = ()

    @classmethod
    def of_streams(cls, fmt: Format[Any], streams: Iterable[ReadStream]) -> Group:
        """Makes a group of streams that are read together, and gives each its partitions and lanes;
        those of one deployment are neighbours, since they share a decode call.
        """
        by_deployment: dict[Deployment, list[ReadStream]] = {}
        for stream in streams:
            by_deployment.setdefault(stream.profile.deployment, []).append(stream)
        placed_streams, used_partitions, first = [], Counter[str](), 0
        for stream in itertools.chain.from_iterable(by_deployment.values()):
            placed_streams.append(
                replace(
                    stream,
                    first=first,
                    first_partitions=tuple(used_partitions[topic] for topic, _ in stream.topics),
                )
            )
            used_partitions.update(dict(stream.topics))
            first += len(placed_streams[-1].places)
        return cls(fmt, tuple(placed_streams))

    @property
    def partitions(self) -> int:
        """The number of partitions of all topics."""
        return sum(self.topics.values())

    @property
    def topics(self) -> Mapping[str, int]:
        """The topics that the group's streams need: by the end of the topic's name its number of
        partitions, the sum over the streams, each of which has its own partitions in a topic that
        several share.
        """
        counts = Counter[str]()
        for stream in self.streams:
            counts.update(dict(stream.topics))
        return counts

    @property
    def append_time(self) -> frozenset[str]:
        """The ends of the names of the topics in which the broker sets the timestamps."""
        topics: set[str] = set()
        for stream in self.streams:
            if stream.nemesis.append_time:
                topics.update(topic for topic, _ in stream.topics)
        return frozenset(topics)

    def lanes(self, names: Mapping[str, str] = MappingProxyType({})) -> Lanes:
        """The lanes of all streams. `names` has the full name of a topic by the end of its name."""
        places = itertools.chain.from_iterable(stream.places for stream in self.streams)
        return lanes_of((names.get(topic, topic), number) for topic, number in places)

    @property
    def compacted(self) -> bool:
        """Whether the topics of a stream lack offsets, as after compaction."""
        return any(stream.nemesis.compacted for stream in self.streams)

    @property
    def by_deployment(self) -> list[Group]:
        """The group split into one group for each deployment (time zone, charset ... of a source),
        since a decode call has only one.
        """
        parts = itertools.groupby(self.streams, key=lambda stream: stream.profile.deployment)
        return [Group.of_streams(self.fmt, streams) for _, streams in parts]

    @property
    def parts(self) -> list[DeploymentLanes]:
        """For each deployment the range of lanes (partitions, numbered through all topics) whose
        records are decoded under it.
        """
        ends = itertools.accumulate((part.partitions for part in self.by_deployment), initial=0)
        return [
            DeploymentLanes(part.streams[0].profile.deployment, first, end)
            for part, (first, end) in zip(self.by_deployment, itertools.pairwise(ends), strict=True)
        ]

    def messages(self, stage: int) -> list[Message]:
        """The messages of all streams of the group in one stage (what arrives before one look of
        the reader), each with the topic and partition to which it is published.
        """
        messages: list[Message] = []
        for stream in self.streams:
            messages += stream.placed_messages(stage)
        return messages

    @property
    def staged(self) -> Staged:
        """The group as a feed for Spark's source `cdc`: of each stream that has a recipe (how to
        make its messages anew) the recipe, and the stream's first partition in each of its topics.
        Streams without a recipe are left out.
        """
        return Staged(
            tuple(
                (stream.recipe, stream.first_partitions) for stream in self.streams if stream.recipe
            )
        )


@dataclass(frozen=True)
class Staged:
    """A feed of streams for Spark's source `cdc`, which reads it in units. A unit is one stage of
    one stream: first come the first stages of all streams, then the second stages, and so on.
    `made` has the recipe of each stream and its first partition in each of its topics.
    """

    made: tuple[tuple[Recipe, tuple[int, ...]], ...]
    step: ClassVar[int] = 1

    def batches(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The messages of the units from `start` to `end - 1`, an Arrow batch for each unit (one
        stage of one stream).
        """
        for unit in range(start, end):
            stage, number = divmod(unit, len(self.made))
            recipe, first_partitions = self.made[number]
            stream = _make_stream(recipe)
            placed_stream = replace(stream, first_partitions=first_partitions)
            placed_messages = placed_stream.messages_with_offsets(stage)
            append_ms = START_MS + stage if stream.nemesis.append_time else None
            yield records.batch(
                [message for message, _ in placed_messages],
                [offset for _, offset in placed_messages],
                append_ms,
            )


@lru_cache(maxsize=1024)
def _make_stream(recipe: Recipe) -> ReadStream:
    """Makes a recipe's stream; the process caches it for the stages that follow."""
    return recipe.stream()


def why_not_kept(fmt: Format[Any], profile: Profile) -> str:
    """Why no table can be kept from the profile's messages; "" if one can."""
    return next(
        (
            f"{loss.statement} ({loss.citation})"
            for loss in fmt.losses(profile)
            if loss.left is None
        ),
        "",
    )


def why_key_unsure(story: Streamed) -> str:
    """Why a reader cannot identify the rows of the stream's table by the key columns that the
    messages name and the values that they hold; "" if it can.
    """
    names = story.table.primary_key
    texts_of_key: dict[tuple[Value, ...], tuple[str | None, ...]] = {}
    for written in story.written:
        for change in written.changes:
            image = change.before if change.op is Op.DELETE else change.after
            if change.kind is not Kind.ROW or image is None:
                continue
            if change.keys and set(change.keys) != set(names):
                return (
                    f"the messages name the key {', '.join(change.keys)}, the table has"
                    f" {', '.join(names)}"
                )
            values = tuple(
                image[name].value if name in image and image[name].text is not None else None
                for name in names
            )
            event_rows = getattr(story.history.events[written.message.event], "rows", ())
            keys: list[tuple[Value, ...]] = []
            for event_image in itertools.chain.from_iterable(
                (r.before, r.after) for r in event_rows
            ):
                if event_image is not None:
                    keys.append(tuple(event_image[name] for name in names))
            if values not in keys:
                return f"the messages do not tell every value of the key {', '.join(names)}"
            texts = tuple(image[name].text for name in names)
            if texts_of_key.setdefault(values, texts) != texts:
                return f"the messages spell the key {', '.join(names)} in several ways"
    return ""


def why_not_told_apart(story: Streamed) -> str:
    """The reason, in words, why a reader cannot distinguish the history's table from other tables
    in its topic; "" if it can.
    """
    changes = itertools.chain.from_iterable(written.changes for written in story.written)
    if all(change.table for change in changes if change.kind is Kind.ROW):
        return ""
    return "the messages do not name their table, and the tables of a run share a topic"


def why_updates_split(story: Streamed) -> str:
    """Why a right table may lack a row, from one message to the next, that the source has all the
    time; "" if it never does.
    """
    for written in story.written:
        event = story.history.events[written.message.event]
        if not isinstance(event, RowChange) or event.op is not Op.UPDATE:
            continue
        for change in written.changes:
            deleted_row = change.before if change.op is Op.DELETE else None
            if deleted_row is not None and _is_inserted_again(deleted_row, event):
                return (
                    "an UPDATE is a DELETE and an INSERT: between them a right table lacks the row"
                )
    return ""


def _is_inserted_again(deleted_row: Image, update: RowChange) -> bool:
    """Whether an UPDATE leaves a row under the key of a row that one of its messages shows as
    deleted. Such a message does not delete a row: with the next one it stands for the UPDATE.
    """
    key = update.table.primary_key
    deleted_key = {column: deleted_row[column].value for column in key if column in deleted_row}
    for images in update.rows:
        updated_row = images.after or {}
        if deleted_key == {column: updated_row.get(column) for column in key}:
            return True
    return False


def is_possible(
    fmt: Format[Any], profile: Profile, nemesis: Nemesis, subject: Subject, seed: int
) -> bool:
    """Whether a profile's messages of this table have what the nemesis disturbs (such as a
    statement or a placeholder), so that the nemesis can be tried.
    """
    order = order_of(fmt.name)
    if (nemesis.compacted and not order.compacted) or (nemesis.ordered and order.arrival):
        return False
    if nemesis.unsent:
        from_postgresql = profile.source == "postgresql"
        return subject.user is None and from_postgresql and bool(order.placeholders)
    if not nemesis.statements:
        return True
    story = subject.streamed(fmt, profile, seed, subject.label, nemesis.statements)
    return nemesis.statements[0] in story.statements


def group_of(
    fmt: Format[Any],
    profiles: Sequence[Profile],
    nemeses: Sequence[Nemesis],
    seed: int,
    subjects: Sequence[Subject] = OURS,
    pattern: str = "",
) -> Group:
    """Makes a group of streams: each of the `profiles` with each of the tables `subjects` under
    each nemesis. Left out are profiles whose tables cannot be kept (`why_not_kept`), and nemeses
    that the format's messages cannot have. `pattern` names the topic of each message.

    Profiles of one deployment that write the same messages share a stream.
    """

    def make_stream(
        profile: Profile, nemesis: Nemesis, number: int, subject: Subject
    ) -> ReadStream:
        """The stream of a profile with one subject's tables under a nemesis; `number` is its number
        in the group.
        """
        return Recipe(fmt.name, profile.name, nemesis.name, seed, number, subject, pattern).stream()

    streams: list[ReadStream] = []
    lost: list[StreamResult] = []
    for subject in subjects:
        profiles_of_content: dict[object, list[Profile]] = {}
        for profile in profiles:
            if why_not_kept(fmt, profile):
                continue
            story = subject.streamed(fmt, profile, seed, subject.label)
            if why := why_not_told_apart(story) or why_key_unsure(story):
                lost.append(
                    StreamResult(fmt.name, profile.name, "-", lost=why, table=subject.table)
                )
            else:
                profiles_of_content.setdefault(
                    (profile.deployment, hash(repr(story.written))), []
                ).append(profile)
        for first, *further_profiles in profiles_of_content.values():
            for nemesis in nemeses:
                if not is_possible(fmt, first, nemesis, subject, seed):
                    continue
                stream = make_stream(first, nemesis, len(streams), subject)
                profiles_with_same_messages = [
                    further
                    for further in further_profiles
                    if make_stream(further, nemesis, len(streams), subject)
                    == replace(stream, profile=further)
                ]
                streams.append(replace(stream, also=tuple(profiles_with_same_messages)))
                differing_profiles = (
                    further
                    for further in further_profiles
                    if further not in profiles_with_same_messages
                )
                streams += [
                    make_stream(further, nemesis, len(streams) + n, subject)
                    for n, further in enumerate(differing_profiles)
                ]
    return replace(Group.of_streams(fmt, streams), lost=tuple(lost))


def assign_lanes(
    story: Streamed, pattern: str, kind: str
) -> tuple[tuple[Written, ...], tuple[tuple[str, int], ...]]:
    """Distributes a history's messages over topics. Returns the messages, each with its lane (the
    number of its partition, counted over all topics) in place of its partition, and the topics as
    (end of the name, number of partitions). `pattern` names the topic of each message, "" for one
    topic; the ends of all names end in `kind`.
    """
    if not pattern:
        return story.written, ((kind, PARTITIONS),)
    names = [
        topic_of(pattern, w.message.topic, story.table) + (kind and f".{kind}")
        for w in story.written
    ]
    sizes: dict[str, int] = {}
    for name, w in zip(names, story.written, strict=True):
        sizes[name] = max(sizes.get(name, 0), w.message.partition + 1)
    first_lanes = dict(zip(sizes, itertools.accumulate(sizes.values(), initial=0), strict=False))
    lanes = (
        first_lanes[name] + w.message.partition
        for name, w in zip(names, story.written, strict=True)
    )
    placed_messages = (
        replace(w, message=replace(w.message, partition=lane))
        for lane, w in zip(lanes, story.written, strict=True)
    )
    return tuple(placed_messages), tuple(sizes.items())


def choose_for_restarts(group: Group) -> Group:
    """Chooses the streams that are read while processes are killed: one for each nemesis, all of
    the deployment with the most streams, with different profiles. A restart endangers the reader's
    state, which does not depend on the profile.
    """
    by_nemesis: dict[str, list[ReadStream]] = {}
    for stream in max(group.by_deployment, key=lambda part: len(part.streams)).streams:
        by_nemesis.setdefault(stream.nemesis.name, []).append(stream)
    return Group.of_streams(
        group.fmt,
        (streams[number % len(streams)] for number, streams in enumerate(by_nemesis.values())),
    )


def _is_elsewhere(written: Written) -> bool:
    """Whether the message is not a row in the first partition, where the schemas are."""
    return written.message.partition > 0 or all(c.kind is not Kind.ROW for c in written.changes)
