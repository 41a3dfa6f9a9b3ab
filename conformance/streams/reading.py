"""The command `stream`: tables built from a decoder's changes must become the source's tables,
under every nemesis.

Each profile and nemesis has one history, with its own table and partitions, so that many streams
share a topic and a query. `conformance.streams.kept` compares the tables.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from conformance.cases.catalogue import profiles
from conformance.cases.tables import reading, usable
from conformance.engines.child import SMALL, ChildEngine
from conformance.engines.engine import ChildDied, DecodeRaised
from conformance.engines.specs import decoder_of
from conformance.lanes import by_name
from conformance.rules.order import order_of
from conformance.sheets import grid, marked
from conformance.streams.kept import Kept, by_profile, judge, read_state
from conformance.streams.recipes import (
    OURS,
    RESTART,
    Group,
    StreamResult,
    Subject,
    for_restarts,
    group_of,
    not_kept,
)
from conformance.streams.written import Written
from generators.errors import HarnessError
from generators.garbage.nemesis import STAGES, named
from generators.publishing import kafka
from generators.publishing.cluster import Target
from generators.storage import codec
from generators.tables import streams as of_tables
from generators.tables.user_values import Values
from generators.wire_format import Format, Profile, get

BATCHES: Final = 4
"""Micro-batches of a query whose processes are killed; few, since after a cold start each costs
seconds of planning.
"""
LIMIT_S: Final = 240.0
"""Limit for one reading of a topic, in seconds."""
CONSUMERS: Final[Mapping[str, str]] = {"spark.kafka.consumer.cache.capacity": "1024"}
"""Settings of a session that reads many partitions: each has a consumer, which serves all stages.
"""
NO_KEYS: Final = (
    "its records do not have the key of their row: compaction would remove rows, or nothing"
)
NO_ORDER: Final = (
    "its messages do not tell their order: a change that comes again behind a newer one undoes that"
)
REFERENCE: Final = "reference"
BROKER: Final = "broker-restart"


@dataclass(frozen=True, slots=True)
class GroupReader:
    """Reads a group's source into tables in `directory`, by the child's service `stream`."""

    engine: ChildEngine
    group: Group
    decoder: str
    source: Mapping[str, Any]
    directory: Path
    makers: tuple[str, ...] = (REFERENCE,)
    names: Mapping[str, str] = field(default_factory=dict)

    def read(
        self, stage: int = 0, hold: Mapping[str, Any] | None = None
    ) -> Future[Mapping[str, Any]]:
        """Starts reading to the present end. The future raises the errors of `ChildEngine.ask`."""
        request = {
            "source": dict(self.source),
            "format": self.group.fmt.name,
            "decoder": self.decoder,
            "parts": [
                (codec.dump_deployment(deployment), *span) for deployment, *span in self.group.parts
            ],
            "lanes": by_name(self.group.lanes(self.names)),
            "tables": [codec.dump_table(stream.story.table) for stream in self.group.streams],
            "directory": str(self.directory),
            "makers": list(self.makers),
            "stage": stage,
            "hold": dict(hold or {}),
            "conf": dict(SMALL),
        }
        return self.engine.ask("stream", request, LIMIT_S)

    def kept(self, maker: str = REFERENCE) -> Kept:
        """The current tables."""
        return read_state(self.directory / maker)


def failed(group: Group, how: str, error: BaseException) -> list[StreamResult]:
    """Every stream's result after the query failed."""
    outcomes = []
    for stream in group.streams:
        name = stream.nemesis.name + (f"+{how}" if how else "")
        outcome = StreamResult(
            group.fmt.name,
            stream.profile.name,
            name,
            rows=len(stream.story.rows),
            table=stream.table,
        )
        outcome.differ(
            "restart" if how else "convergence",
            f"the query ended: {' '.join(str(error).split())[:900]}",
        )
        outcomes.append(outcome)
    return by_profile(group, outcomes)


def plainly(
    engine: ChildEngine,
    group: Group,
    decoder: str,
    bootstrap: Target | None,
    home: Path,
    *,
    used: bool = False,
) -> list[StreamResult]:
    """Reads all stages, each to its end before the next; without a broker from the source `cdc`.
    The topic is new, or `used`.

    If the query fails, each deployment's streams are read again by a query of their own: the
    failure is no verdict on them.
    """
    home.mkdir(parents=True, exist_ok=True)
    written: Written | None = None
    with contextlib.ExitStack() as stack:
        if bootstrap is None:
            reader = GroupReader(
                engine, group, decoder, made(group, home / "streams"), home / "tables"
            )
        else:
            names = stack.enter_context(
                kafka.run_topics(bootstrap, group.topics, append_time=group.append_time)
            )
            written = Written(bootstrap, group, names, used)
            reader = GroupReader(
                engine, group, decoder, source_of(written), home / "tables", names=names
            )
        try:
            for stage in range(STAGES):
                if written is not None:
                    written.publish(group.messages(stage))
                    reader.read(stage).result()
            if written is None:
                reader.read().result()
        except (DecodeRaised, ChildDied) as error:
            if len(apart := group.apart) == 1:
                return failed(group, "", error)
        else:
            return judge(group, written.numbered(reader.kept()) if written else reader.kept())
    return [
        outcome
        for number, part in enumerate(apart)
        for outcome in plainly(
            engine, part, decoder, bootstrap, home / f"deployment-{number}", used=used
        )
    ]


def made(group: Group, path: Path) -> dict[str, Any]:
    """The options with which the child reads streams that tasks make, a stage a micro-batch; `path`
    keeps their recipes.
    """
    path.write_bytes(pickle.dumps(group.staged))
    count = len(group.streams)
    return {"kept": str(path), "batch": count, "count": STAGES * count}


def source_of(written: Written) -> dict[str, Any]:
    """The options with which the child reads the topics."""
    return {"kafka": dict(written.options), "topic": ",".join(written.names.values())}


def _per_trigger(group: Group) -> int:
    """The bound that makes BATCHES of a topic; Spark rounds each partition's share down, which
    would leave a message of each.
    """
    return sum(len(group.messages(stage)) for stage in range(STAGES)) // BATCHES + group.partitions


@contextlib.contextmanager
def _published(
    engine: ChildEngine, group: Group, decoder: str, bootstrap: Target, home: Path
) -> Iterator[tuple[GroupReader, Callable[[str], list[StreamResult]]]]:
    """All stages in topics; who reads them in small micro-batches, and what judges that by how it
    was disturbed.
    """
    with kafka.run_topics(bootstrap, group.topics, append_time=group.append_time) as names:
        written = Written(bootstrap, group, names)
        for stage in range(STAGES):
            written.publish(group.messages(stage))
        source = {**source_of(written), "per_trigger": _per_trigger(group)}
        reader = GroupReader(engine, group, decoder, source, home / "tables", names=names)
        yield reader, lambda how: judge(group, written.numbered(reader.kept()), how)


def killed(
    engine: ChildEngine,
    group: Group,
    decoder: str,
    bootstrap: Target,
    home: Path,
    note: Callable[[str], None],
) -> list[StreamResult]:
    """Publishes all stages, then reads them and kills the process three times: before a batch's
    state is written, after it but before the commit, and at a later moment.
    """
    with _published(engine, group, decoder, bootstrap, home) as (reader, judged):
        try:
            for batch, place in ((1, "before"), (1, "after")):
                note(f"{group.fmt.name}: the query is killed {place} the state of batch {batch}")
                _kill_when(
                    engine,
                    reader.read(hold={"batch": batch, "at": place}),
                    reader.directory / f"held-{batch}-{place}",
                )
            note(f"{group.fmt.name}: the query is killed after batch 2")
            _kill_when(engine, reader.read(), reader.directory / REFERENCE / "2")
            note(f"{group.fmt.name}: the query reads to the end")
            reader.read().result()
        except (DecodeRaised, ChildDied) as error:
            return failed(group, RESTART, error)
        return judged(RESTART)


def _kill_when(engine: ChildEngine, reading: Future[Mapping[str, Any]], path: Path) -> None:
    """Kills the child's processes once a file exists. Raises the reading's error if it fails
    before, HarnessError if neither happens in time.
    """
    deadline = time.monotonic() + LIMIT_S
    while not path.exists():
        if reading.done():
            reading.result()
            return
        if time.monotonic() > deadline:
            raise HarnessError(
                f"the query did not come to the moment of its kill within {LIMIT_S:g} s; is the"
                " machine busy?"
            )
        time.sleep(0.02)
    pid = engine.pid
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ChildDied, DecodeRaised):
        reading.result()


def broker_killed(
    engine: ChildEngine, group: Group, decoder: str, home: Path, note: Callable[[str], None]
) -> list[StreamResult]:
    """Kills and restarts a separate broker while the query reads."""
    from conformance.brokers.embedded import EmbeddedKafka

    with (
        EmbeddedKafka(note) as broker,
        _published(engine, group, decoder, broker.bootstrap, home) as (reader, judged),
    ):
        try:
            reading = reader.read()
            path, deadline = reader.directory / REFERENCE / "1", time.monotonic() + LIMIT_S
            while not path.exists() and not reading.done() and time.monotonic() < deadline:
                time.sleep(0.02)
            note(f"{group.fmt.name}: the broker is killed and started")
            broker.kill()
            broker.start()
            with contextlib.suppress(DecodeRaised):
                # The query may end with its broker; it must resume where it was.
                reading.result()
            reader.read().result()
        except (DecodeRaised, ChildDied) as error:
            return failed(group, BROKER, error)
        return judged(BROKER)


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """The settings of `stream`.

    `decoder` None is the reference, `tables` None the harness's own table. `used` reads topics that
    were used before. `pattern` names the topic of each message.
    """

    formats: tuple[str, ...]
    glob: str | tuple[str, ...] = "*"
    nemesis: str = "*"
    seed: int = 1
    decoder: str | None = None
    restart: bool = False
    used: bool = False
    tables: Values | None = None
    pattern: str = ""


def run(
    settings: StreamSettings,
    engine: ChildEngine,
    bootstrap: Target | None,
    note: Callable[[str], None],
) -> Iterator[StreamResult]:
    """Yields the results; `bootstrap` None reads the source `cdc`. Raises NothingSelected,
    UsageError.
    """
    nemeses = named(settings.nemesis)
    with contextlib.ExitStack() as stack:
        # The reader that is killed is another child, which starts while the streams are made.
        victim = (
            stack.enter_context(engine.twin())
            if settings.restart and bootstrap is not None
            else None
        )
        for name in settings.formats:
            fmt = get(name)
            chosen, of = _chosen(fmt, settings)
            for profile in chosen:
                if why := not_kept(fmt, profile):
                    yield StreamResult(name, profile.name, "-", lost=why)
            group = group_of(fmt, chosen, nemeses, settings.seed, of, settings.pattern)
            decoder = decoder_of(fmt.name, settings.decoder)
            if all(nemesis.compacted for nemesis in nemeses) and not order_of(name).compacted:
                yield StreamResult(name, "*", nemeses[0].name, lost=NO_KEYS)
            if all(nemesis.ordered for nemesis in nemeses) and order_of(name).arrival:
                yield StreamResult(name, "*", nemeses[0].name, lost=NO_ORDER)
            yield from group.lost
            if not group.streams:
                continue
            if victim is None or bootstrap is None:
                note(f"{name}: {len(group.streams)} streams, {len(group.parts)} deployments")
                yield from plainly(
                    engine, group, decoder, bootstrap, _home(engine), used=settings.used
                )
            else:
                yield from _with_restarts(
                    engine, victim, group, decoder, bootstrap, note, used=settings.used
                )


def _chosen(
    fmt: Format[Any], settings: StreamSettings
) -> tuple[Sequence[Profile], Sequence[Subject]]:
    """The profiles, and the tables of their streams: of a user's, those that have a key and that
    the format can write.
    """
    chosen, values = profiles(fmt, settings.glob), settings.tables
    if values is None:
        return chosen, OURS
    users = [user for user in usable(fmt, values.schema).users if not of_tables.unkept(user)]
    return reading(fmt, chosen, values.schema), tuple(
        Subject(values.filled(), user) for user in users
    )


def _home(engine: ChildEngine) -> Path:
    """A new folder: a query would resume from another topic's checkpoint."""
    return Path(tempfile.mkdtemp(prefix="stream-", dir=engine.directory))


def _with_restarts(
    engine: ChildEngine,
    victim: ChildEngine,
    group: Group,
    decoder: str,
    bootstrap: Target,
    note: Callable[[str], None],
    *,
    used: bool,
) -> Iterator[StreamResult]:
    """All passes over a format's streams: the victim reads and dies while the engine reads."""
    name, few = group.fmt.name, for_restarts(group)
    with ThreadPoolExecutor(1) as pool:
        try:
            killing = pool.submit(killed, victim, few, decoder, bootstrap, _home(engine), note)
            note(
                f"{name}: {len(group.streams)} streams, {len(group.parts)} deployments; beside them"
                f" {len(few.streams)} are killed"
            )
            yield from plainly(engine, group, decoder, bootstrap, _home(engine), used=used)
            note(f"{name}: {len(few.streams)} streams, a broker killed and restarted")
            broken = broker_killed(engine, few, decoder, _home(engine), note)
            yield from killing.result()
            yield from broken
        except BaseException:
            # The pool would wait for the victim.
            victim.close()
            raise


def render(outcomes: Sequence[StreamResult], *, markdown: bool = False) -> Any:
    """A line per stream, then the differences; for a terminal, or as Markdown."""
    from rich.console import Group as Together
    from rich.text import Text

    own = any(o.table for o in outcomes)
    results = [
        "not judged" if o.lost else "converged" if o.converged else "differs" for o in outcomes
    ]
    numbers = [map(str, (o.rows, o.messages, o.repeats, o.corrupt)) for o in outcomes]
    lines = [
        [o.format, o.profile, *([o.table] if own else []), o.nemesis, *counts, result]
        for o, counts, result in zip(outcomes, numbers, results, strict=True)
    ]
    head = (*_HEAD[:2], *(["table"] if own else []), *_HEAD[2:])
    words = [f"{o.format}/{o.profile}, {_which(o)}: {o.lost}" for o in outcomes if o.lost]
    words += [
        f"{rule}: {o.profile}, {_which(o)}: {what}" for o in outcomes for rule, what in o.wrong
    ]
    words.append(
        f"{results.count('converged')} of {len(results) - results.count('not judged')} streams"
        " converged"
    )
    if markdown:
        return "\n".join([*marked(head, lines), "", *words])
    colours = {"converged": "green", "differs": "red"}
    coloured: Iterator[list[str | Text]] = (
        [*line[:-1], Text(line[-1], colours.get(line[-1], "yellow"))] for line in lines
    )
    return Together(grid(head, coloured), *map(Text, words))


def _which(outcome: StreamResult) -> str:
    return f"{outcome.table}, {outcome.nemesis}" if outcome.table else outcome.nemesis


_HEAD: Final = ("format", "profile", "nemesis", "rows", "messages", "repeats", "corrupt", "result")
