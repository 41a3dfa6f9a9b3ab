"""A decoder under load: a producer at a rate, structured streaming with the decoder, lag, backlog,
and a judged sample.

`conformance.load.figures` defines when a decoder keeps up.
"""

from __future__ import annotations

import base64
import contextlib
import math
import pickle
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

from conformance.brokers import registry
from conformance.engines.asking import take_output
from conformance.engines.child import ChildEngine
from conformance.engines.engine import AnswerTimeout, ChildDied, DecodeRaised, DecodeTimeout
from conformance.engines.specs import decoder_spec
from conformance.judging.capabilities import Capabilities
from conformance.judging.findings import BAD, CaseResult, Finding
from conformance.judging.judge import Judge
from conformance.judging.output import read
from conformance.judging.results import Failure
from conformance.load._fed import Fed
from conformance.load._producers import ANSWER_S, Executors, Producer, stop_service
from conformance.load._topics import Topics, create_topics, find_routes
from conformance.load.bench import plain_profile
from conformance.load.feed import Feed
from conformance.load.figures import DRAIN_S, Batch, Step
from conformance.load.source import PROBED, MessageId, Task
from conformance.rules.rules import rules
from generators.bulk import orders
from generators.bulk.orders import LoadOptions
from generators.drawing.cases import LAYOUT, as_case
from generators.errors import HarnessError, UsageError
from generators.model import Layout, Table
from generators.profiles import Profile
from generators.publishing import kafka
from generators.publishing.cluster import Target, as_cluster, fields
from generators.storage import codec
from generators.tables.load import TableLoad
from generators.wire_format import Format, get

SAMPLED: Final = 400
"""Approximate number of judged messages."""
POOL: Final = 20_000
"""Limit of prepared units, for formats whose writer is slower than the rate."""
WARM_UP: Final = (500, 2_000, 4_000, 8_000, 8_000)
"""Messages of each warm-up burst, at most those of two seconds. A burst starts when the previous
one is decoded.
"""
START_S: Final = 120.0
"""Limit for the start of producer and query, and for each warm-up burst, in seconds."""
POLL_S: Final = 0.2
"""Interval at which producer and query are asked for news, in seconds."""
SEARCH_EVERY: Final = 997
"""In a search, offsets that are multiples of it are sampled, since the number of messages is
unknown.
"""
SEARCH_LEAST: Final = 10.0
"""A search tries no rate below this, in messages per second."""
SEARCH_TO: Final = 1_000_000.0
"""A search tries no doubled rate above this, in messages per second."""
SEARCH_WITHIN: Final = 0.1
"""A search ends when the lowest failing rate is within this share of the highest rate that keeps
up.
"""

BESIDE: Final[Mapping[str, str]] = {"spark.locality.wait": "0s"}
"""Settings of a session with producers: the decoder's tasks wait for no executor that a producer
occupies.
"""

Note = Callable[[str], None]
"""Receives lines about the progress."""


class DecoderFailed(Exception):
    """The decoder raised, hung, or ended its process under load."""


SOURCE_GONE: Final = (
    "the query could not read its topic, which is not the decoder's doing; was the topic deleted, or"
    " the broker stopped?"
)
"""The error for a query whose topic or broker is gone."""
_OF_SOURCE: Final = re.compile(
    r"org\.apache\.kafka\.common\.errors\."
    r"|UnknownTopicOrPartition"
    r"|Timeout of \d+ms expired before the position for partition"
    r"|Failed to get metadata for topic"
)
"""What Kafka's client says inside Spark when a topic is no more there to be read."""


def is_of_source(error: str) -> bool:
    """Whether a query's error comes from the topic that it reads, not from the decoder."""
    return _OF_SOURCE.search(error) is not None


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """The settings of a load. `profile` None is the format's plain one, `decoder` None the
    reference, `level` None the highest.

    `rate` is messages/s, in a search the first rate; `duration_s` is the time per step. `tables`
    are a user's, in place of `shop.orders`. `producers` is the number of Spark's tasks that
    publish, None for this process. `pattern` names the topic of each message; `used` topics begin
    above 0 and have aborted messages beside committed ones; in topics of `append_time` the broker
    sets the timestamps.
    """

    format: str
    rate: float = 2_000.0
    duration_s: float = 10.0
    decoder: str | None = None
    profile: str | None = None
    level: int | None = None
    trigger_ms: int = 500
    partitions: int = 2
    seed: int = 1
    search: bool = False
    warm_up: tuple[int, ...] = WARM_UP
    tables: TableLoad | None = None
    producers: int | None = None
    pattern: str = ""
    used: bool = False
    append_time: bool = False

    @property
    def bursts(self) -> tuple[int, ...]:
        """The number of messages of each burst before the measurement."""
        return tuple(min(most, math.ceil(2 * self.rate)) for most in self.warm_up)


@dataclass(slots=True)
class Sampled:
    """The judge's results on a sample of the load's messages: their number, verdicts and findings
    (by rule), and the first failure of each rule.
    """

    messages: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    @property
    def breaks_must(self) -> bool:
        """Whether a verdict says that a MUST rule is broken."""
        return any(verdict in BAD for verdict in self.verdicts)


@dataclass(slots=True)
class LoadResult:
    """The result of a load. `steps` holds the one step (the measurements at one rate), or every
    step of a search in order.

    `owed` is the number of messages for which the decoder owes a row, `messages` the number of
    those that it returned (rows numbered 0); `owed_places` and `places` are the sums of their
    hashes (`conformance.load.source.place_hash`), which differ if others were returned than were
    owed. They are known if `accounted`. `kinds` counts the returned rows by kind. `failed` says
    what the decoder failed with, "" if it did not.
    """

    settings: LoadSettings
    profile: str
    level: int
    broker: str = ""
    mode: str = ""
    steps: list[Step] = field(default_factory=list)
    sample: Sampled = field(default_factory=Sampled)
    owed: int = 0
    owed_places: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    places: int = 0
    accounted: bool = False
    failed: str = ""
    interrupted: bool = False

    @property
    def missing(self) -> int:
        """The number of messages for which the decoder returned no row numbered 0 although it owes
        one (negative if it returned more than it owes); 0 if it is not known.
        """
        return self.owed - self.messages if self.accounted else 0

    @property
    def complete(self) -> bool:
        """Whether the decoder returned the row numbered 0 of every message for which it must return
        one, once, and of no other; also True if that is not known.
        """
        return not self.accounted or (self.missing == 0 and self.places == self.owed_places)

    @property
    def best(self) -> Step | None:
        """The step with the highest rate that keeps up; None if none does."""
        sufficient = [step for step in self.steps if step.judgement().keeps_up]
        return max(sufficient, key=lambda step: step.rate, default=None)

    @property
    def step(self) -> Step | None:
        """The step (the measurements at one rate) whose figures the result shows: of a search the
        one with the highest rate that keeps up; else, or if none does, the last one. None before
        the first.
        """
        return (self.best if self.settings.search else None) or (
            self.steps[-1] if self.steps else None
        )

    @property
    def corrupt(self) -> int:
        """Messages that were read as CORRUPT."""
        return self.kinds["CORRUPT"]

    @property
    def exit_code(self) -> int:
        """The exit code of `load`: 130 interrupted; 1 the decoder falls behind, raises, loses a
        message or breaks a MUST rule; 3 the producer never reached the rate; else 0.
        """
        if self.interrupted:
            return 130
        if (
            self.failed
            or not self.complete
            or self.corrupt
            or self.sample.breaks_must
            or self.best is None
        ):
            return 1
        return 3 if not self.settings.search and self.best.is_producer_slow else 0


class Lane:
    """One decoder under load: a topic, its producer, and the query that reads it. A context manager
    that starts and stops all three. Its measurements go into `outcome`; `bootstrap` is the broker,
    None for Spark's source `cdc`, which makes the messages itself.
    """

    def __init__(
        self, engine: ChildEngine, bootstrap: Target | None, outcome: LoadResult, note: Note
    ) -> None:
        self._engine, self._bootstrap, self._note = engine, bootstrap, note
        self.outcome, self.settings = outcome, outcome.settings
        self.fmt: Format[Any] = get(self.settings.format)
        self.profile: Profile = self.fmt.profile(outcome.profile)
        total = sum(self.settings.bursts) + math.ceil(self.settings.rate * self.settings.duration_s)
        self.every = SEARCH_EVERY if self.settings.search else max(1, total // SAMPLED)
        self._pool = POOL if self.settings.search else min(POOL, total)
        self.batches: list[Batch] = []
        self._source: Mapping[str, Any] = {}
        self._reached: dict[int, int] = {}
        self._doing = ""
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self.producer: Producer | Executors | Fed = (
                self._make_feed_source(stack)
                if self._bootstrap is None
                else self._make_producer(stack, self._bootstrap)
            )
            stack.callback(stop_service, self._engine, "sustain")
            if self._source:
                self._start(self._source)
            self._await_producer(
                lambda events: any("ready" in event for event in events), START_S, "making messages"
            )
            self._stack = stack.pop_all()
        return self

    def _make_producer(
        self, stack: contextlib.ExitStack, bootstrap: Target
    ) -> Producer | Executors:
        """Creates the topics, for as long as `stack` is open, and returns a producer for them: a
        thread of this process, or Spark's executors if the settings ask for them.
        """
        topics = stack.enter_context(self._create_topics(bootstrap))
        self._source = topics.source
        pickled_tables = self.settings.tables.pickled if self.settings.tables else b""
        task = Task(
            format=self.fmt.name,
            profile=self.profile.name,
            seed=self.settings.seed,
            partitions=self.settings.partitions,
            level=self.outcome.level,
            **fields(bootstrap),
            prefix=as_cluster(bootstrap).prefix,
            names=dict(topics.names),
            pattern=self.settings.pattern,
            used=self.settings.used,
            every=self.every,
            pool=self._pool,
            encoded_tables=base64.b64encode(pickled_tables).decode(),
            producers=self.settings.producers or 1,
        )
        producer = Executors(self._engine, task) if self.settings.producers else Producer(task)
        stack.enter_context(producer)
        return producer

    def _make_feed_source(self, stack: contextlib.ExitStack) -> Fed:
        """Returns the source whose messages Spark's tasks make themselves."""
        settings = self.settings
        pickled_tables = settings.tables.pickled if settings.tables else b""
        layout = Layout(partitions=settings.partitions)
        feed = Feed(
            self.fmt.name,
            self.profile.name,
            settings.seed,
            layout,
            LoadOptions(),
            "",
            "",
            (),
            False,
            pickled_tables,
        )
        # Its tasks are other processes.
        feed_file = (
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cdc-conformance-")))
            / "kept"
        )
        feed_file.write_bytes(pickle.dumps(feed))

        def begin(options: Mapping[str, Any]) -> None:
            """Starts the query on Spark's source that makes the feed's messages."""
            self._start({"feed": {"kept": str(feed_file), **options}})

        return Fed(
            feed,
            self.outcome.level,
            _table(settings, self.profile).name,
            self.every,
            self.batches,
            begin,
        )

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _create_topics(self, bootstrap: Target) -> contextlib.AbstractContextManager[Topics]:
        """A context in which the topics of the load exist; those that it creates are deleted at its
        end.
        """
        settings = self.settings
        ends = find_routes(
            self.fmt,
            self.profile,
            settings.seed,
            settings.partitions,
            settings.tables,
            settings.pattern,
        )
        return create_topics(
            bootstrap,
            ends,
            settings.partitions,
            self._note,
            used=settings.used,
            append_time=settings.append_time,
        )

    def _start(self, source: Mapping[str, Any]) -> None:
        """Starts the streaming query with the decoder on these options of Spark's source. Raises
        HarnessError or DecoderFailed.
        """
        settings = self.settings
        request = {
            **source,
            "decoder": decoder_spec(settings.format, settings.decoder),
            "level": self.outcome.level,
            "table": codec.dump_table(_table(self.settings, self.profile)),
            "deployment": codec.dump_deployment(self.profile.deployment),
            "trigger_ms": settings.trigger_ms,
            "every": self.every,
        }
        self.outcome.mode = self._request("start", START_S, **request)["mode"]

    def _request(self, action: str, limit_s: float = ANSWER_S, **request: Any) -> Mapping[str, Any]:
        """Sends a request to the Spark service that runs the query, and returns its answer. Raises
        HarnessError if the source is gone or the query does not start, DecoderFailed for any other
        failure.
        """
        try:
            return self._engine.ask_service("sustain", {"do": action, **request}, limit_s).result()
        except (DecodeRaised, DecodeTimeout, ChildDied) as error:
            if is_of_source(str(error)):
                raise HarnessError(f"{SOURCE_GONE}: {error}") from None
            if action == "start" and isinstance(error, AnswerTimeout):
                raise HarnessError(f"the query did not start: no verdict; {error}") from None
            raise DecoderFailed(str(error)) from None

    @property
    def decoded(self) -> int:
        """Messages read by batches that have ended."""
        return sum(batch.messages_read for batch in self.batches)

    @property
    def caught_up(self) -> bool:
        """Whether all acknowledged messages are decoded, by number, or, where offsets have gaps, by
        offset.
        """
        if self.settings.used:
            return all(
                self._reached.get(lane, 0) >= end for lane, end in self.producer.ends.items()
            )
        return self.decoded >= self.producer.acked

    def poll(self) -> None:
        """Asks the child for the state of the query, and adds the batches that have ended to the
        measurements. Raises DecoderFailed if the query has failed.
        """
        answer = self._request("status")
        self._doing = answer["doing"]
        for batch_fields in answer["batches"]:
            row_count = batch_fields.pop("rows")
            spans = batch_fields.pop("offsets").items()
            offsets = {int(lane): tuple(span) for lane, span in spans}
            batch = Batch(**batch_fields, row_count=row_count, offsets=offsets)
            batch = replace(batch, read=self._count_read(batch))
            self._reached |= {lane: end for lane, (_, end) in batch.offsets.items()}
            self.batches.append(batch)
            self.outcome.kinds.update(batch.kinds)
            self.outcome.messages += batch.messages
            self.outcome.places += batch.places
        if answer["failure"] is not None or not answer["active"]:
            raise DecoderFailed(answer["failure"] or "the query ended by itself")

    def _count_read(self, batch: Batch) -> int:
        """The number of messages that a batch read, where that is not the number of its offsets;
        else -1. Spark counts some messages again if a decoder reads its input twice, so that its
        count is no more than the number of offsets at most.
        """
        if isinstance(self.producer, Fed):
            counts = self.producer.counts
            return sum(
                counts.count_before(end) - counts.count_before(start)
                for start, end in batch.offsets.values()
            )
        return min(batch.offset_count, batch.read) if self.settings.used else -1

    def _await_producer(
        self,
        is_done: Callable[[list[dict[str, Any]]], bool],
        limit_s: float,
        task: str,
        after_poll: Callable[[], None] = lambda: None,
    ) -> None:
        """Polls the query until the events of the producer fulfil `is_done`. `task` names the work
        for the HarnessError that is raised after `limit_s` seconds.
        """
        deadline = time.monotonic() + limit_s
        while not is_done(self.producer.take()):
            if time.monotonic() > deadline:
                raise HarnessError(f"{task} did not end within {limit_s:g} s")
            time.sleep(POLL_S)
            self.poll()
            after_poll()

    def drain(self, limit_s: float, after_poll: Callable[[], None] = lambda: None) -> float | None:
        """Waits until all acknowledged messages are decoded; the seconds that it took, or None
        after `limit_s`.
        """
        began = time.monotonic()
        while True:
            self.poll()
            after_poll()
            if self.caught_up:
                return time.monotonic() - began
            if time.monotonic() - began > limit_s:
                return None
            time.sleep(POLL_S)

    def warm_up(self) -> None:
        """Warms up the JVM with unmeasured bursts. Raises DecoderFailed if a burst takes too
        long, HarnessError if not even the first batch has ended until then: a cold start may be so
        slow, and is no verdict.
        """
        for count in self.settings.bursts:
            self._note(f"warming up: {self.decoded:,} messages decoded")
            self.producer.begin_command({"count": count})
            self._await_producer(
                lambda events: any("done" in event for event in events),
                START_S,
                "publishing to warm up",
            )
            if self.drain(START_S) is None:
                waiting = (
                    f"{self.producer.acked - self.decoded:,} of {self.producer.acked:,} messages"
                    " wait"
                )
                words = (
                    f"warming up did not end within {START_S:g} s: {waiting}; Spark says:"
                    f" {self._doing}"
                )
                if not self.batches:
                    raise HarnessError(f"{words}. No batch has ended: no verdict")
                raise DecoderFailed(words)

    def hold_rate(self, rate: float, duration_s: float) -> Step:
        """Publishes at a rate for some seconds, then waits until the rest is decoded, for DRAIN_S
        seconds at most. Returns the step (the measurements), which the result has from the
        beginning on.
        """
        step = Step(rate, self.settings.trigger_ms)
        self.outcome.steps.append(step)
        first = len(self.batches)

        def report_progress() -> None:
            """Adds the batches since the rate began to the step, and notes how many messages are
            acknowledged and waiting, or only how many are decoded while producers in Spark tasks
            have not yet reported.
            """
            step.batches = self.batches[first:]
            decoded = sum(batch.messages_read for batch in step.batches)
            if self.settings.producers and not step.published:
                self._note(f"{rate:,.0f}/s: {decoded:,} decoded")
                return
            acked = step.ticks[-1][1] if step.ticks else 0
            self._note(
                f"{rate:,.0f}/s: {acked:,} acknowledged, {max(0, acked - decoded):,} waiting"
            )

        def take(events: list[dict[str, Any]]) -> bool:
            """Adds the producer's events to the step: `tick`, a time and the messages acknowledged
            until then; `sent`, when sampled messages were due; `done`, the final figures. Returns
            whether those have come.
            """
            for event in events:
                if "tick" in event:
                    step.ticks.append((event["tick"][0], event["tick"][1]))
                for sample in event.get("sent", ()):
                    step.table.add(*sample)
                if "done" in event:
                    step.published = event["done"]
            return bool(step.published)

        # A slow producer gets some extra time to send all messages; then it is stopped.
        count = math.ceil(rate * duration_s)
        self.producer.begin_command(
            {"rate": rate, "count": count, "duration_s": duration_s * 1.25 + 1}
        )
        self._await_producer(take, duration_s + START_S, "publishing", report_progress)
        step.drained_s = self.drain(DRAIN_S, report_progress)
        return step

    def settle(self) -> None:
        """At the end of a load, if the decoder has decoded all messages: records for how many of
        them it owes (must return) a row, and the sum of their hashes (`owed_places`), to compare
        both with the rows that it returned. `accounted` says that these are known. Spark's source
        (`Fed`) counts only now what is owed; other producers count while they publish.
        """
        outcome = self.outcome
        if isinstance(self.producer, Fed):
            self.producer.settle()
        if self.caught_up:
            outcome.owed = self.producer.owed
            outcome.owed_places = self.producer.places
            outcome.accounted = True

    def judge(self, capabilities: Capabilities) -> None:
        """Judges the rows of those sampled messages that the query has read, into `outcome.sample`.
        Raises UsageError if the decoder's columns violate the contract.
        """
        self._note("judging the sample")
        path = self._engine.directory / f"sample-{time.monotonic_ns()}.arrow"
        answer = self._request("sample", ANSWER_S, out=str(path))
        table = take_output(path, self.outcome.level, self.settings.decoder or "reference")
        until = {int(p): offset for p, offset in answer["until"].items()}
        # The source `cdc` counts units, not offsets, in one partition.
        counts_units = isinstance(self.producer, Fed)
        sampled: dict[tuple[int, int], MessageId] = {}
        for (lane, offset), message_id in self.producer.samples.items():
            position, end = (
                (message_id.unit, until.get(0, 0)) if counts_units else (offset, until.get(lane, 0))
            )
            if position < end:
                sampled[lane, offset] = message_id
        outputs = {
            (p, o): output_rows
            for (_, p, o), output_rows in read(table, self.outcome.level).items()
        }
        self.outcome.sample = judge_sample(
            self.fmt, self.profile, self.outcome, capabilities, sampled, outputs
        )


def _table(settings: LoadSettings, profile: Profile) -> Table:
    """The table whose rows are asked for at level two (typed rows): a user's, else the harness's
    table of orders.
    """
    return settings.tables.table if settings.tables else orders.load_table(profile.source)


def judge_sample(
    fmt: Format[Any],
    profile: Profile,
    outcome: LoadResult,
    capabilities: Capabilities,
    sampled: Mapping[tuple[int, int], MessageId],
    outputs: Mapping[tuple[int, int], Sequence[Any]],
) -> Sampled:
    """Judges a decoder's rows of sampled messages. `sampled` says, by (lane, offset) of a message,
    which of the load's messages it is; `outputs` has, by (lane, offset), the rows that the decoder
    returned. A lane is a partition's number among those of all topics.
    """
    settings, judge, sample = outcome.settings, Judge(rules(fmt.name), capabilities), Sampled()
    by_id = {rule.id: rule for rule in judge.rules}
    table = _table(settings, profile).name
    layout = Layout(partitions=settings.partitions)
    user_tables = settings.tables
    smallest: dict[str, tuple[int, Finding, CaseResult]] = {}
    for place, (unit, ordinal) in sorted(sampled.items()):
        scenario = (
            user_tables.scenario(settings.seed, unit)
            if user_tables
            else orders.load_scenario(fmt, profile, settings.seed, unit)
        )
        full_case = as_case(fmt, profile, scenario, layout)
        case = replace(full_case, level=outcome.level, written=(full_case.written[ordinal],))
        result = judge.judge(case, [outputs.get(place, ())], table)
        sample.messages += 1
        sample.verdicts[result.verdict] += 1
        size = case.written[0].message.size
        for finding in result.findings:
            sample.findings[finding.rule] += 1
            if finding.rule not in smallest or size < smallest[finding.rule][0]:
                smallest[finding.rule] = size, finding, result
    sample.failures = [
        Failure(by_id[rule], finding, result, sample.findings[rule])
        for rule, (_, finding, result) in smallest.items()
    ]
    return sample


def _register_schemas(settings: LoadSettings, profile: Profile) -> None:
    """Registers the schemas that producer processes will use, by writing sample messages here."""
    fmt = get(settings.format)
    if registry.names_schemas((fmt.name,)):
        for unit in range(PROBED):
            user_tables = settings.tables
            scenario = (
                user_tables.scenario(settings.seed, unit)
                if user_tables
                else orders.load_scenario(fmt, profile, settings.seed, unit)
            )
            registry.register_schemas(
                [written.message for written in fmt.write(scenario.history, profile, LAYOUT)]
            )


def run_load(
    settings: LoadSettings,
    engine: ChildEngine,
    bootstrap: Target | None,
    note: Note = lambda _line: None,
    broker: str = "",
    note_step: Note = lambda _line: None,
) -> LoadResult:
    """Loads a decoder, holds the rate or searches for the highest, judges the sample. `bootstrap`
    None reads the source `cdc`.

    `note` receives progress, `note_step` the result of each step of a search.

    The result also records the decoder's failures and Ctrl-C. Raises UsageError for invalid
    settings and for a decoder that cannot be loaded, HarnessError if the broker fails.
    """
    check_settings(settings)
    profile = _profile(settings)
    spec = decoder_spec(settings.format, settings.decoder)
    loaded = engine.load(spec, "auto").result()
    level = settings.level or max(loaded.levels)
    if level not in loaded.levels:
        raise UsageError(
            f"decoder {spec} has no level {level}; it has {', '.join(map(str, loaded.levels))}"
        )
    outcome = LoadResult(settings, profile.name, level, broker)
    _register_schemas(settings, profile)
    try:
        with Lane(engine, bootstrap, outcome, note) as lane:
            lane.warm_up()
            if settings.search:
                search_rate(lane, note_step)
            else:
                lane.hold_rate(settings.rate, settings.duration_s)
            lane.settle()
            lane.judge(loaded.capabilities)
    except (DecoderFailed, ChildDied) as error:
        # A query also ends with its broker, which is not the decoder's fault.
        if bootstrap is not None:
            kafka.check_reachable(bootstrap)
        outcome.failed = str(error)
        if outcome.steps and not outcome.steps[-1].problem:
            outcome.steps[-1].problem = "the decoder failed"
    except KeyboardInterrupt:
        # The lane is closed: nothing of it runs any more.
        outcome.interrupted = True
        if outcome.steps:
            outcome.steps[-1].problem = outcome.steps[-1].problem or "interrupted"
    return outcome


def check_settings(settings: LoadSettings) -> None:
    """Raises UsageError for invalid settings, UnknownName for an unknown format or profile."""
    for name, value in (("rate", settings.rate), ("duration", settings.duration_s)):
        if not 0 < value < math.inf:
            raise UsageError(f"--{name} {value:g}: more than 0")
    if settings.partitions < 1 or settings.trigger_ms < 0:
        raise UsageError(
            f"--partitions {settings.partitions} --trigger {settings.trigger_ms}: at least 1"
            " partition, 0 ms"
        )
    if settings.producers and (settings.pattern or settings.used):
        raise UsageError("--producers cannot be combined with --topic-pattern or --used-topics")
    _profile(settings)


def _profile(settings: LoadSettings) -> Profile:
    """The profile whose messages are published: the one in the settings, else the format's plain
    one.
    """
    fmt = get(settings.format)
    profile: Profile = fmt.profile(settings.profile) if settings.profile else plain_profile(fmt)
    return profile


def search_rate(lane: Lane, note_step: Note) -> None:
    """Finds the highest rate that keeps up; `note_step` receives the result of each step."""
    verdicts: dict[float, bool] = {}
    while (rate := next_rate(verdicts, lane.settings.rate)) is not None:
        step = lane.hold_rate(rate, lane.settings.duration_s)
        verdicts[rate], why = step.judgement()
        note_step(f"{rate:,.0f}/s: {'keeps up' if verdicts[rate] else f'falls behind, {why}'}")
        if step.is_producer_slow:
            note_step(f"the producer reaches only {step.send_rate:,.0f}/s; the search ends")
            return
        if step.drained_s is None and lane.drain(3 * DRAIN_S) is None:
            note_step("the backlog is still not decoded; the search ends")
            return


def next_rate(verdicts: Mapping[float, bool], first: float) -> float | None:
    """The next rate of a search for the highest one that keeps up; `verdicts` tells of each rate
    tried whether it kept up. The first is `first`, then it is doubled or halved, then the middle is
    taken; None ends the search.
    """
    if not verdicts:
        return first
    highest_sufficient = max((rate for rate, ok in verdicts.items() if ok), default=0.0)
    lowest_insufficient = min(
        (rate for rate, ok in verdicts.items() if not ok and rate > highest_sufficient),
        default=math.inf,
    )
    if math.isinf(lowest_insufficient):
        return highest_sufficient * 2 if highest_sufficient * 2 <= SEARCH_TO else None
    if not highest_sufficient:
        return lowest_insufficient / 2 if lowest_insufficient / 2 >= SEARCH_LEAST else None
    if lowest_insufficient <= highest_sufficient * (1 + SEARCH_WITHIN):
        return None
    middle = (highest_sufficient + lowest_insufficient) / 2
    # A whole number of so few messages may be one of the two rates, which were tried.
    return float(round(middle)) if middle > SEARCH_LEAST else middle
