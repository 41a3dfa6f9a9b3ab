"""A change feed: the messages of units on whatever machine, as rows of Spark's Kafka source
(`spark_checks.services.feed`).

Units are addressed by position, so that tasks make ranges of them side by side, and a query goes on
from its checkpoint. The messages are those of `cdc-conformance publish` for the same seed. Offsets
rise in each partition and have gaps, as in a topic that is compacted.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa

from generators.bulk import orders
from generators.bulk.orders import LoadOptions
from generators.errors import HarnessError, NothingSelected, UnknownName, UsageError
from generators.garbage.faults import MUST, Fault, applicable
from generators.garbage.nemesis import Nemesis, Stream, select_nemeses
from generators.model import Change, Layout, Message, Written
from generators.profiles import Profile
from generators.storage import bulk, codec, records
from generators.storage.jsonform import to_line
from generators.tables.load import TableLoad, restore
from generators.wire_format import Format, get

STEP: Final = 64
"""Units (short scenarios of changes) that nemeses disturb together."""
WIDTH: Final = 32
"""Offsets that are reserved for each unit (a short scenario of changes) where its messages are not
counted beforehand.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of Spark's source `cdc`, as texts; "" is one that was not given. `count` is the
    number of units (short scenarios of changes), in a stream without end if it is empty; `batch` is
    the most units of a micro-batch, `rate` the units a second; `slices` is the number of tasks of a
    batch. `kept` is a file with a feed that the commands `load` and `stream` made, in place of a
    format.
    """

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
    kept: str = ""

    @classmethod
    def parse_options(cls, option_values: Mapping[str, str]) -> Options:
        """The options of the source `cdc` by name, in upper or lower case. Raises UnknownName for
        an unknown option, UsageError if neither `format` nor `kept` is given.
        """
        option_names = [field.name for field in fields(cls)]
        for name in option_values:
            if name.lower() not in option_names:
                raise UnknownName("option", name, option_names, of="the source cdc")
        options = cls(**{name.lower(): value for name, value in option_values.items()})
        if not (options.format or options.kept):
            raise UsageError("the source cdc needs the option format")
        return options

    def number(self, name: str, least: int = 1) -> int:
        """An option's value as a whole number, of at most 40 digits. Raises UsageError if it is no
        such number, or below `least`.
        """
        number_text = getattr(self, name)
        if not re.fullmatch(r"-?[0-9]{1,40}", number_text) or int(number_text) < least:
            raise UsageError(
                f"option {name} is {number_text[:60]!r}; it must be a whole number from {least} on"
            )
        return int(number_text)

    def units_per_second(self) -> float | None:
        """The option `rate` as a number; None if it is empty: then units (short scenarios) are made
        as fast as they can be. Raises UsageError if it is no finite number above 0.
        """
        if not self.rate:
            return None
        try:
            rate = float(self.rate)
        except ValueError:
            rate = math.nan
        if not (math.isfinite(rate) and rate > 0):
            raise UsageError(f"option rate is {self.rate[:60]!r}; it must be a number above 0")
        return rate


def _lines_of_changes(changes: Iterable[Change]) -> list[str]:
    """The changes that a decoder must return for a message, each as a line of JSON."""
    return [to_line(codec.dump_change(change)).rstrip("\n") for change in changes]


class FeedMessage(NamedTuple):
    """A message of a feed, its offset in the topic, and the changes that a decoder owes of it (none
    where a feed does not say what is owed).
    """

    offset: int
    message: Message
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Feed:
    """A change feed: it makes the messages of any range of units (short scenarios of changes,
    numbered from 0), on any machine, from its fields alone. `faults` are globs of faults, separated
    by commas; `nemeses` are the names of disturbances of the stream; `expected` asks for the
    expected changes beside each message; `topic` replaces the writer's topic, unless it is "".
    `pickled_tables` is a pickled TableLoad of a user's tables, b"" for the harness's table of
    orders.
    """

    format: str
    profile_name: str
    seed: int
    layout: Layout
    options: LoadOptions
    topic: str
    faults: str
    nemeses: tuple[str, ...]
    expected: bool
    pickled_tables: bytes

    @classmethod
    def make_feed(cls, options: Options) -> Feed:
        """The feed that options of Spark's source `cdc` describe. Raises UsageError and UnknownName
        for options that cannot be, NothingSelected if no fault matches.
        """
        fmt, seed, pickled_tables = get(options.format), options.number("seed", -(2**63)), b""
        if options.tables:
            # What reads tables needs more than workers have.
            from conformance.cases.tables import profiles_matching, read_tables, table_load

            sources = [source.strip() for source in options.tables.split(",")]
            overrides = Path(options.values) if options.values else None
            values = read_tables(
                sources,
                options.dialect or None,
                options.database or None,
                overrides,
                seed,
                profiles_matching((options.format,), options.profile or ()),
            )
            profile, load = table_load(fmt, options.profile or None, values)
            if options.ops:
                load = replace(load, ops=orders.parse_ops(options.ops))
            pickled_tables = load.pickled
        else:
            profile = fmt.profile(options.profile) if options.profile else fmt.profiles[-1]
        ops = orders.parse_ops(options.ops) if options.ops else orders.DEFAULT.ops
        names = [name.strip() for name in options.nemeses.split(",")] if options.nemeses else []
        if options.faults and not {"corrupt", "all"} & set(names):
            names.insert(0, "corrupt")
        feed = cls(
            fmt.name,
            profile.name,
            seed,
            Layout(partitions=options.number("partitions")),
            LoadOptions(ops, rows=options.number("rows")),
            options.topic,
            options.faults,
            tuple(names),
            options.expected.lower() == "true",
            pickled_tables,
        )
        feed.selected_nemeses  # noqa: B018 - raises what it raises
        return feed

    @cached_property
    def selected_nemeses(self) -> tuple[Nemesis, ...]:
        """The nemeses (disturbances of the stream) that the feed's options name, in order. Raises
        UsageError for one that a feed cannot have, since it needs a broker or a history of its own,
        NothingSelected if no fault matches.
        """
        selected = tuple(
            itertools.chain.from_iterable(select_nemeses(name) for name in self.nemeses)
        )
        for nemesis in selected:
            if nemesis.append_time or nemesis.compacted or nemesis.statements or nemesis.unsent:
                needed = (
                    "a history of its own" if nemesis.statements or nemesis.unsent else "a broker"
                )
                raise UsageError(
                    f"nemesis {nemesis.name} needs {needed}: cdc-conformance stream --nemesis"
                    f" {nemesis.name}"
                )
        if not self._selected_faults:
            fault_names = ", ".join(fault.name for fault in self._unreadable)
            raise NothingSelected(
                f"no fault of {self.format} matches {self.faults!r}; there are {fault_names}"
            )
        return selected

    @property
    def _unreadable(self) -> tuple[Fault, ...]:
        """The faults (ways to damage a message) that make a message unreadable, so that a decoder
        must refuse it.
        """
        fmt = get(self.format)
        faults = applicable(fmt.faults, fmt.profile(self.profile_name).deployment.compression)
        return tuple(fault for fault in faults if fault.obligation == MUST and not fault.accept)

    @property
    def _selected_faults(self) -> tuple[Fault, ...]:
        """Those faults after which a decoder must return a CORRUPT row, and whose names match
        one of the globs in `faults` (separated by commas); all of them without globs.
        """
        globs = self.faults.split(",") if self.faults else ["*"]

        def is_selected(fault: Fault) -> bool:
            """Whether a glob matches the fault's name."""
            return any(fnmatchcase(fault.name, glob.strip()) for glob in globs)

        return tuple(filter(is_selected, self._unreadable))

    @property
    def step(self) -> int:
        """The number of units (short scenarios) that nemeses (disturbances of the stream) disturb
        together, 1 without a nemesis. A range of units must begin and end at a multiple of it.
        """
        return STEP if self.selected_nemeses else 1

    def batches(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The messages of a range of units (short scenarios) as batches in the columns of Spark's
        Kafka source; with a column of the expected changes if the feed is asked for them.
        """
        messages_with_offsets = self.messages(start, end)
        while group := list(itertools.islice(messages_with_offsets, bulk.BATCH)):
            messages = [
                replace(fed.message, topic=self.topic) if self.topic else fed.message
                for fed in group
            ]
            batch = records.batch(messages, [fed.offset for fed in group])
            if self.expected:
                texts = [_lines_of_changes(fed.changes) for fed in group]
                column = pa.array(texts, pa.list_(pa.string()))
                batch = pa.RecordBatch.from_arrays(
                    [*batch.columns, column], [*batch.schema.names, "expected"]
                )
            yield batch

    @property
    def from_templates(self) -> bool:
        """Whether templates can make the messages, which is faster than the writer: they are plain
        messages on the harness's table, without nemeses (disturbances of the stream) and without
        expected changes.
        """
        return not (self.pickled_tables or self.selected_nemeses or self.expected)

    @property
    def owing(self) -> Feed:
        """The same feed, but with the expected changes beside each message."""
        return replace(self, expected=True)

    @property
    def width(self) -> int:
        """The number of offsets that each unit of the feed (a short scenario) takes up, whether or
        not it has so many messages: WIDTH for a user's tables and for nemeses (disturbances of a
        stream), where the messages are not counted beforehand.
        """
        if self.pickled_tables or self.selected_nemeses:
            return WIDTH
        fmt = get(self.format)
        return bulk.shape(fmt, fmt.profile(self.profile_name), self.options).width

    @cached_property
    def is_even(self) -> bool:
        """Whether each unit (a short scenario) has as many messages as offsets, so that no offset
        stays unused.
        """
        fmt = get(self.format)
        profile = fmt.profile(self.profile_name)
        return self.from_templates and bulk.shape(fmt, profile, self.options).is_even

    def messages(self, start: int, end: int) -> Iterator[FeedMessage]:
        """The messages of the units (short scenarios) from `start` up to, but without, `end`, each
        with its offset and, unless templates make them, with the changes that are expected of it.
        """
        fmt = get(self.format)
        profile = fmt.profile(self.profile_name)
        if self.from_templates:
            numbered = bulk.numbered_messages(
                fmt, profile, self.seed, start, end - start, self.layout, self.options
            )
            yield from (FeedMessage(offset, message, ()) for offset, message in numbered)
            return
        load = restore(self.pickled_tables) if self.pickled_tables else None
        width = self.width
        for first in range(start, end, self.step):
            group: list[Written] = []
            for unit in range(first, min(end, first + self.step)):
                group += self._write_unit(fmt, profile, load, unit)
            for place, written in enumerate(self._disturb_units(profile, group, first)):
                if place >= width * self.step:
                    raise HarnessError(f"unit {first} has more than {width * self.step} messages")
                yield FeedMessage(first * width + place, written.message, written.changes)

    def _write_unit(
        self, fmt: Format[Any], profile: Profile, load: TableLoad | None, unit: int
    ) -> Iterator[Written]:
        """The messages of one unit, a short scenario that the seed and the unit's number determine:
        of a user's tables (`load`) if given, else of the harness's table of orders.
        """
        scenario = (
            load.scenario(self.seed, unit)
            if load
            else orders.load_scenario(fmt, profile, self.seed, unit, self.options)
        )
        yield from fmt.write(scenario.history, profile, self.layout)

    def _disturb_units(
        self, profile: Profile, group: Sequence[Written], first: int
    ) -> Sequence[Written]:
        """The messages `group` of a range of units (short scenarios) after each nemesis
        (disturbance) of the feed, one after the other; `first` is the range's first unit, from
        which their randomness is seeded.
        """
        stream = Stream(tuple(group), self._selected_faults, profile.deployment.compression)
        for nemesis in self.selected_nemeses:
            stages = nemesis(stream, self.seed * 1_000_003 + first)
            stream = replace(stream, written=tuple(itertools.chain.from_iterable(stages)))
        return stream.written
