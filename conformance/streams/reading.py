"""The command `stream`: tables built from a decoder's changes must become the source's tables,
under every nemesis.

Each profile and nemesis has one history, with its own table and partitions, so that many streams
share a topic and a query. `conformance.streams.kept` compares the tables.
"""

from __future__ import annotations

import contextlib
import itertools
import json
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

from conformance.cases.catalogue import select_profiles
from conformance.cases.tables import profiles_of_source, usable_tables
from conformance.engines.asking import convert_result
from conformance.engines.child import SMALL, ChildEngine
from conformance.engines.engine import AnswerTimeout, ChildDied, DecodeRaised
from conformance.engines.specs import decoder_spec
from conformance.lanes import by_name
from conformance.rules.order import order_of
from conformance.sheets import sheet_of_results
from conformance.streams.kept import KeptTables, by_profile, judge, read_state
from conformance.streams.recipes import (
    OURS,
    RESTART,
    Group,
    StreamResult,
    Subject,
    choose_for_restarts,
    group_of,
    why_not_kept,
)
from conformance.streams.written import WrittenTopics
from generators.errors import HarnessError
from generators.garbage.nemesis import STAGES, select_nemeses
from generators.profiles import Profile
from generators.publishing import kafka
from generators.publishing.cluster import Target
from generators.storage import codec
from generators.tables.streams import why_not_keyed
from generators.tables.user_values import Values
from generators.wire_format import Format, get

BATCHES: Final = 4
"""Micro-batches of a query whose processes are killed; few, since after a cold start each costs
seconds of planning.
"""
LIMIT_S: Final = 240.0
"""Limit for one reading of a topic, in seconds, if a user names no other."""
ALONE: Final = 3
"""Streams of one deployment that are read alone and end, before no more are read."""
CONSUMERS: Final[Mapping[str, str]] = {"spark.kafka.consumer.cache.capacity": "1024"}
"""Settings of a session that reads many partitions: each has a consumer, which serves all stages.
"""
NO_KEYS: Final = (
    "its records do not have the key of their row: compaction would remove rows, or nothing"
)
"""Why a compacted topic is not judged with a format."""
NO_ORDER: Final = (
    "its messages do not tell their order: a change that comes again behind a newer one undoes that"
)
"""Why a nemesis that brings changes again is not judged with a format."""
ENDED: Final = "the query ended: "
"""How the difference of a stream begins whose query ended with an error."""
EACH_ENDED: Final = f"the query of all streams ended, and so did those of {ALONE} alone"
"""Why the streams that are left are not judged, after ALONE streams ended one by one."""
NO_STATEMENTS: Final = "its messages do not tell the statements"
"""Why a nemesis on statements (ADD COLUMN ...) is not judged with a format."""
NO_UNSENT: Final = "its messages have a placeholder for no value that was not sent"
"""Why a nemesis on values that are not sent is not judged with a format."""
REFERENCE: Final = "reference"
"""The name of the right keeper of tables, and of the folder with its state."""
BROKER: Final = "broker-restart"
"""The name of the run in which the broker is killed and restarted."""


@dataclass(frozen=True, slots=True)
class GroupReader:
    """Reads the topics of a group of streams into tables below `directory`, by the child's service
    `stream`. `makers` are the names of the keepers that make the tables; `names` has each topic's
    full name by the end of its name.
    """

    engine: ChildEngine
    group: Group
    decoder: str
    source: Mapping[str, Any]
    directory: Path
    makers: tuple[str, ...] = (REFERENCE,)
    names: Mapping[str, str] = field(default_factory=dict)
    limit_s: float = LIMIT_S

    def read(
        self, stage: int = 0, hold: Mapping[str, Any] | None = None
    ) -> Future[Mapping[str, Any]]:
        """Asks the child to read from where it stopped to the present end of the source; the tables
        then are those after `stage`. `hold` says in which batch, and where in it, the child has to
        wait (MOMENTS), so that it can be killed there; without it, it does not wait. The future
        raises the errors of `ChildEngine.ask_service`, but HarnessError when the time limit
        expires: slowness is no verdict on a decoder.
        """
        request = {
            "source": dict(self.source),
            "format": self.group.fmt.name,
            "decoder": self.decoder,
            "parts": [
                (codec.dump_deployment(part.deployment), part.first, part.end)
                for part in self.group.parts
            ],
            "lanes": by_name(self.group.lanes(self.names)),
            "tables": [codec.dump_table(stream.story.table) for stream in self.group.streams],
            "directory": str(self.directory),
            "makers": list(self.makers),
            "stage": stage,
            "hold": dict(hold or {}),
            "conf": dict(SMALL),
        }
        return convert_result(
            self.engine.ask_service("stream", request, self.limit_s),
            lambda answer: answer,
            self._in_time,
        )

    def _in_time(self, error: BaseException) -> BaseException:
        """The error to raise in place of this one: for an expired time limit a HarnessError that
        tells the user how to raise the limit, any other error itself.
        """
        if not isinstance(error, AnswerTimeout):
            return error
        return HarnessError(
            f"{self.group.fmt.name}: {len(self.group.streams)} streams were not read within"
            f" {self.limit_s:g} s, {batch_under_way(self.directory)}: no verdict. A lakehouse that"
            " starts cold takes a minute; --limit SECONDS gives more"
        )

    def read_tables(self, maker: str = REFERENCE) -> KeptTables:
        """The tables that a maker (a keeper of tables, by name) has kept so far."""
        return read_state(self.directory / maker)


def error_line(error: BaseException) -> str:
    """The message of the error that ended a query, on one line."""
    return " ".join(str(error).split())[:900]


def batch_under_way(directory: Path) -> str:
    """Says in words which batch the query below a folder was running, as its checkpoint tells."""
    begun = [int(path.name) for path in directory.rglob("offsets/*") if path.name.isdigit()]
    return f"in batch {max(begun)}" if begun else "before the first batch"


def unjudged_results(group: Group, how: str, why: str) -> list[StreamResult]:
    """A result "not judged" for every stream of a group, with the reason `why`; `how` names what
    was killed while it was read ("restart", "broker-restart"), "" for nothing.
    """
    return by_profile(
        group,
        [
            StreamResult(
                group.fmt.name,
                stream.profile.name,
                stream.nemesis.name + (f"+{how}" if how else ""),
                lost=why,
                table=stream.table,
            )
            for stream in group.streams
        ],
    )


def failed_results(group: Group, how: str, error: BaseException) -> list[StreamResult]:
    """A result "differs" for every stream of a group whose query ended with this error; `how` names
    what was killed while it was read ("restart", "broker-restart"), "" for nothing.
    """
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
            f"{ENDED}{error_line(error)}",
        )
        outcomes.append(outcome)
    return by_profile(group, outcomes)


def read_streams(
    engine: ChildEngine,
    group: Group,
    decoder: str,
    bootstrap: Target | None,
    home: Path,
    *,
    used: bool = False,
    limit_s: float = LIMIT_S,
) -> list[StreamResult]:
    """Publishes and reads one stage of the streams after the other, and compares the tables at the
    end. Without a broker (`bootstrap` None) the messages come from Spark's source `cdc`. With
    `used` the topics look used: they have aborted messages, and begin above offset 0.

    If the query fails, the streams of each deployment are read again by a query of their own; if
    that fails, too, each stream is read alone. So one stream that fails does not fail the others.
    """
    home.mkdir(parents=True, exist_ok=True)
    written: WrittenTopics | None = None
    with contextlib.ExitStack() as stack:
        if bootstrap is None:
            source = feed_options(group, home / "streams")
            reader = GroupReader(engine, group, decoder, source, home / "tables", limit_s=limit_s)
        else:
            names = stack.enter_context(
                kafka.run_topics(bootstrap, group.topics, append_time=group.append_time)
            )
            written = WrittenTopics(bootstrap, group, names, used)
            reader = GroupReader(
                engine,
                group,
                decoder,
                topic_options(written),
                home / "tables",
                names=names,
                limit_s=limit_s,
            )
        try:
            for stage in range(STAGES):
                if written is not None:
                    written.publish(group.messages(stage))
                    reader.read(stage).result()
            if written is None:
                reader.read().result()
        except (DecodeRaised, ChildDied) as error:
            if len(group.streams) == 1:
                return failed_results(group, "", error)
        else:
            kept_tables = reader.read_tables()
            return judge(
                group, written.with_message_numbers(kept_tables) if written else kept_tables
            )

    def again(part: Group, name: str) -> list[StreamResult]:
        """Reads some of the streams once more, by a query of their own, and returns their
        results.
        """
        return read_streams(
            engine, part, decoder, bootstrap, home / name, used=used, limit_s=limit_s
        )

    if len(group.by_deployment) > 1:
        parts = (again(part, f"deployment-{n}") for n, part in enumerate(group.by_deployment))
        return list(itertools.chain.from_iterable(parts))
    outcomes: list[StreamResult] = []
    ends = 0
    for number, stream in enumerate(group.streams):
        alone = Group.of_streams(group.fmt, (stream,))
        if ends == number == ALONE:
            remaining_group = Group.of_streams(group.fmt, group.streams[number:])
            return outcomes + unjudged_results(remaining_group, "", EACH_ENDED)
        results = again(alone, f"stream-{number}")
        differences = itertools.chain.from_iterable(result.wrong for result in results)
        ends += any(difference.startswith(ENDED) for _, difference in differences)
        outcomes += results
    return outcomes


def feed_options(group: Group, path: Path) -> dict[str, Any]:
    """The options with which Spark's source `cdc` makes the streams' messages, one stage in each
    micro-batch. Writes their recipes to the file `path`.
    """
    path.write_bytes(pickle.dumps(group.staged))
    count = len(group.streams)
    return {"kept": str(path), "batch": count, "count": STAGES * count}


def topic_options(written: WrittenTopics) -> dict[str, Any]:
    """The options with which the child reads published topics."""
    return {"kafka": dict(written.options), "topic": ",".join(written.names.values())}


def _per_trigger(group: Group) -> int:
    """The limit of records in a micro-batch (`maxOffsetsPerTrigger`) that splits the topics into
    BATCHES micro-batches. Spark rounds each partition's share down; one record for each partition
    is added, so that none is left over.
    """
    return sum(len(group.messages(stage)) for stage in range(STAGES)) // BATCHES + group.partitions


@contextlib.contextmanager
def _publish_streams(
    engine: ChildEngine, group: Group, decoder: str, bootstrap: Target, home: Path, limit_s: float
) -> Iterator[tuple[GroupReader, Callable[[str], list[StreamResult]]]]:
    """A context in which all stages of the streams are on the broker. It gives a reader that reads
    them in small micro-batches, and the function that compares the tables after that; it takes the
    name of what was killed while reading.
    """
    with kafka.run_topics(bootstrap, group.topics, append_time=group.append_time) as names:
        written = WrittenTopics(bootstrap, group, names)
        for stage in range(STAGES):
            written.publish(group.messages(stage))
        source = {**topic_options(written), "per_trigger": _per_trigger(group)}
        reader = GroupReader(
            engine, group, decoder, source, home / "tables", names=names, limit_s=limit_s
        )
        yield (
            reader,
            lambda how: judge(group, written.with_message_numbers(reader.read_tables()), how),
        )


MOMENTS: Final = (
    ("before", 1, "before the state of batch 1"),
    ("after", 1, "after the state of batch 1"),
    ("commit", 2, "after batch 2"),
)
"""When the process is killed: the place in a batch, the batch, and words for it."""


def read_while_killed(
    engine: ChildEngine,
    group: Group,
    decoder: str,
    bootstrap: Target,
    home: Path,
    note: Callable[[str], None],
    limit_s: float = LIMIT_S,
) -> list[StreamResult]:
    """Publishes all stages, then reads them and kills the process three times: before a batch's
    state is written, after it but before the batch is committed, and after a commit. If a reading
    ends before its kill, the streams are not judged.

    A decoder that keeps its own tables (level three) is watched through its query's checkpoint
    (`spark_checks.services.checkpoints`), where the second moment is not seen: the process is
    killed after the commit, and the commit is then removed, as if it had not happened.
    """
    with _publish_streams(engine, group, decoder, bootstrap, home, limit_s) as (reader, judged):
        try:
            for place, batch, words in MOMENTS:
                note(f"{group.fmt.name}: the query is killed {words}")
                reading = reader.read(hold={"batch": batch, "at": place})
                mark = reader.directory / f"held-{batch}-{place}"
                states = [reader.directory / REFERENCE / str(batch)] if place == "commit" else []
                if not kill_when(engine, reading, (mark, *states), limit_s):
                    return unjudged_results(
                        group, RESTART, f"the query ended before its kill {words}"
                    )
                if place == "after":
                    undo_commit(mark, batch)
            note(f"{group.fmt.name}: the query reads to the end")
            reader.read().result()
        except (DecodeRaised, ChildDied) as error:
            return failed_results(group, RESTART, error)
        return judged(RESTART)


def undo_commit(mark: Path, batch: int) -> None:
    """Removes from a query's checkpoint the commit of `batch` and all that is later, so that Spark
    runs the batch again. The file `mark` names the checkpoint; nothing is removed if it names none.
    """
    checkpoint = json.loads(mark.read_text("utf-8")).get("checkpoint")
    if checkpoint is None:
        return
    # The batch's own offsets stay, so that Spark reads the same records again. A file may have a
    # checksum beside it, whose name begins with a dot.
    for part, first in (("commits", batch), ("offsets", batch + 1)):
        for path in Path(checkpoint, part).iterdir():
            number = path.name.removeprefix(".").partition(".")[0]
            if number.isdigit() and int(number) >= first:
                path.unlink()


def kill_when(
    engine: ChildEngine,
    reading: Future[Mapping[str, Any]],
    paths: Sequence[Path],
    limit_s: float = LIMIT_S,
) -> bool:
    """Waits until one of the files exists, then kills the child's processes. Returns False, and
    kills nothing, if the reading ended before.

    Raises the error of a reading that failed before, and HarnessError when the time limit expires.
    """
    if not _await_file(reading, paths, limit_s):
        return False
    pid = engine.pid
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ChildDied, DecodeRaised):
        reading.result()
    return True


def _await_file(reading: Future[Mapping[str, Any]], paths: Sequence[Path], limit_s: float) -> bool:
    """Waits until one of the files exists, by which the query says that it is where it, or its
    broker, is to be killed; returns False if the reading ended before. Raises the error of a
    reading that failed before, and HarnessError when the time limit expires.
    """
    deadline = time.monotonic() + limit_s
    while not any(path.exists() for path in paths):
        if reading.done():
            reading.result()
            return False
        if time.monotonic() > deadline:
            raise HarnessError(
                f"the query did not come to the moment of its kill within {limit_s:g} s; is the"
                " machine busy? --limit SECONDS gives more"
            )
        time.sleep(0.02)
    return True


def read_while_broker_killed(
    engine: ChildEngine,
    group: Group,
    decoder: str,
    home: Path,
    note: Callable[[str], None],
    limit_s: float = LIMIT_S,
) -> list[StreamResult]:
    """Reads the streams from a broker of their own, which is killed and restarted while the query
    reads. If the query had read everything before, the streams are not judged.
    """
    from conformance.brokers.embedded import EmbeddedKafka

    with (
        EmbeddedKafka(note) as broker,
        _publish_streams(engine, group, decoder, broker.bootstrap, home, limit_s) as (
            reader,
            judged,
        ),
    ):
        try:
            reading = reader.read(hold={"batch": 1, "at": "commit"})
            marks = (reader.directory / REFERENCE / "1", reader.directory / "held-1-commit")
            if not _await_file(reading, marks, limit_s):
                why = "the query had read everything before its broker was killed"
                return unjudged_results(group, BROKER, why)
            note(f"{group.fmt.name}: the broker is killed and started")
            broker.kill()
            broker.start()
            with contextlib.suppress(DecodeRaised):
                # The query may end with its broker; it must resume where it was.
                reading.result()
            reader.read().result()
        except (DecodeRaised, ChildDied) as error:
            return failed_results(group, BROKER, error)
        return judged(BROKER)


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """The settings of the command `stream`.

    `decoder` None is the reference decoder; `tables` None is the harness's own table. `used`:
    topics that look used, see `read_streams`. `pattern` names the topic of each message. `limit_s` is
    the time limit of each reading.
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
    limit_s: float = LIMIT_S


def run(
    settings: StreamSettings,
    engine: ChildEngine,
    bootstrap: Target | None,
    note: Callable[[str], None],
) -> Iterator[StreamResult]:
    """Runs the command `stream` and yields a result for each stream. Without a broker (`bootstrap`
    None) the messages come from Spark's source `cdc`. Raises NothingSelected and UsageError.
    """
    nemeses = select_nemeses(settings.nemesis)
    with contextlib.ExitStack() as stack:
        # The reader that is killed is another child, which starts while the streams are made.
        victim = (
            stack.enter_context(engine.make_twin())
            if settings.restart and bootstrap is not None
            else None
        )
        for name in settings.formats:
            fmt = get(name)
            selected_profiles, subjects = _select_subjects(fmt, settings)
            for profile in selected_profiles:
                if why := why_not_kept(fmt, profile):
                    yield StreamResult(name, profile.name, "-", lost=why)
            group = group_of(
                fmt, selected_profiles, nemeses, settings.seed, subjects, settings.pattern
            )
            decoder = decoder_spec(fmt.name, settings.decoder)
            if all(nemesis.compacted for nemesis in nemeses) and not order_of(name).compacted:
                yield StreamResult(name, "*", nemeses[0].name, lost=NO_KEYS)
            if all(nemesis.ordered for nemesis in nemeses) and order_of(name).arrival:
                yield StreamResult(name, "*", nemeses[0].name, lost=NO_ORDER)
            lacking = {nemesis.name: NO_STATEMENTS for nemesis in nemeses if nemesis.statements}
            lacking |= {nemesis.name: NO_UNSENT for nemesis in nemeses if nemesis.unsent}
            if len(lacking) == len(nemeses):
                nemeses_present = {stream.nemesis.name for stream in group.streams}
                for missing in lacking.keys() - nemeses_present:
                    yield StreamResult(name, "*", missing, lost=lacking[missing])
            yield from group.lost
            if not group.streams:
                continue
            if victim is None or bootstrap is None:
                note(f"{name}: {len(group.streams)} streams, {len(group.parts)} deployments")
                yield from read_streams(
                    engine,
                    group,
                    decoder,
                    bootstrap,
                    _make_home(engine),
                    used=settings.used,
                    limit_s=settings.limit_s,
                )
            else:
                yield from _with_restarts(engine, victim, group, decoder, bootstrap, note, settings)


def _select_subjects(
    fmt: Format[Any], settings: StreamSettings
) -> tuple[Sequence[Profile], Sequence[Subject]]:
    """The profiles that the user selects, and the tables whose changes the streams carry: the
    harness's own, or, of the user's tables, those that have a key and that the format can write.
    """
    selected_profiles, values = select_profiles(fmt, settings.glob), settings.tables
    if values is None:
        return selected_profiles, OURS
    users = [user for user in usable_tables(fmt, values.schema).users if not why_not_keyed(user)]
    return profiles_of_source(fmt, selected_profiles, values.schema), tuple(
        Subject(values.fill_pools(), user) for user in users
    )


def _make_home(engine: ChildEngine) -> Path:
    """Makes a new folder for a query, which would resume from another topic's checkpoint in a used
    one.
    """
    return Path(tempfile.mkdtemp(prefix="stream-", dir=engine.directory))


def _with_restarts(
    engine: ChildEngine,
    victim: ChildEngine,
    group: Group,
    decoder: str,
    bootstrap: Target,
    note: Callable[[str], None],
    settings: StreamSettings,
) -> Iterator[StreamResult]:
    """Yields the results of a format's streams: read without a kill, then some of them read while
    the reader's process is killed, and while the broker is. The child process `victim`, which is
    killed, reads at the same time as the first reading.
    """
    name, killed_group, limit_s = group.fmt.name, choose_for_restarts(group), settings.limit_s
    with ThreadPoolExecutor(1) as pool:
        try:
            killing = pool.submit(
                read_while_killed,
                victim,
                killed_group,
                decoder,
                bootstrap,
                _make_home(engine),
                note,
                limit_s,
            )
            note(
                f"{name}: {len(group.streams)} streams, {len(group.parts)} deployments; beside them"
                f" {len(killed_group.streams)} are killed"
            )
            yield from read_streams(
                engine,
                group,
                decoder,
                bootstrap,
                _make_home(engine),
                used=settings.used,
                limit_s=limit_s,
            )
            note(f"{name}: {len(killed_group.streams)} streams, a broker killed and restarted")
            broken = read_while_broker_killed(
                engine, killed_group, decoder, _make_home(engine), note, limit_s
            )
            yield from killing.result()
            yield from broken
        except BaseException:
            # The pool would wait for the victim.
            victim.close()
            raise


def render(outcomes: Sequence[StreamResult], *, markdown: bool = False) -> Any:
    """The results as a table with a line for each stream, and the differences below it; for a
    terminal, or as Markdown.
    """
    names_tables = any(o.table for o in outcomes)
    results = list(map(_result_word, outcomes))
    numbers = [map(str, (o.rows, o.messages, o.repeats, o.corrupt)) for o in outcomes]
    lines = [
        [o.format, o.profile, *([o.table] if names_tables else []), o.nemesis, *counts, result]
        for o, counts, result in zip(outcomes, numbers, results, strict=True)
    ]
    head = (*_HEAD[:2], *(["table"] if names_tables else []), *_HEAD[2:])
    words = [f"{o.format}/{o.profile}, {_which(o)}: {o.lost}" for o in outcomes if o.lost]
    for outcome in outcomes:
        stream_name = f"{outcome.profile}, {_which(outcome)}"
        words += (f"{rule}: {stream_name}: {difference}" for rule, difference in outcome.wrong)
    words.append(
        f"{results.count('converged')} of {len(results) - results.count('not judged')} streams"
        " converged"
    )
    return sheet_of_results(head, lines, words, markdown=markdown)


def _result_word(outcome: StreamResult) -> str:
    """The result of a stream in a word or two: not judged, converged or differs."""
    if outcome.lost:
        return "not judged"
    return "converged" if outcome.converged else "differs"


def _which(outcome: StreamResult) -> str:
    """The table, if it is a user's, and the nemesis of a result, in words."""
    return f"{outcome.table}, {outcome.nemesis}" if outcome.table else outcome.nemesis


_HEAD: Final = ("format", "profile", "nemesis", "rows", "messages", "repeats", "corrupt", "result")
"""The columns of the table of results."""
