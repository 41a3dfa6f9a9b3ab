"""Runs a pipeline in the child process under each nemesis, a stage of its stream at a time, and
judges what its table shows after each.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, Protocol

from conformance.cases.catalogue import select_profiles
from conformance.cases.tables import profiles_of_source, usable_tables
from conformance.engines.engine import AnswerTimeout, ChildDied, DecodeRaised
from conformance.files import put
from conformance.pipelines.costs import cpu_seconds
from conformance.pipelines.judging import judge
from conformance.pipelines.results import PipelineResult
from conformance.pipelines.rows import OwnTypes
from conformance.pipelines.snapshots import Snapshot, SnapshotFiles, read_snapshot
from conformance.rules.order import order_of
from conformance.streams.reading import (
    MOMENTS,
    batch_under_way,
    error_line,
    feed_options,
    kill_when,
    topic_options,
    undo_commit,
)
from conformance.streams.recipes import (
    OURS,
    Group,
    ReadStream,
    Recipe,
    Subject,
    is_possible,
    why_key_unsure,
    why_not_kept,
    why_updates_split,
)
from conformance.streams.written import WrittenTopics
from generators.errors import HarnessError, NothingSelected, UsageError
from generators.garbage.nemesis import STAGES, Nemesis, select_nemeses
from generators.profiles import Profile
from generators.publishing import kafka
from generators.publishing.cluster import Target
from generators.storage import codec
from generators.tables.streams import why_not_keyed
from generators.tables.user_values import Values
from generators.wire_format import Format, get

SMOKE: Final = (
    *("none", "duplicate", "stale", "behind-deletes", "replay", "reorder", "changed-columns"),
    *("unsent", "compacted", "corrupt"),
)
"""The nemeses of a run that names none."""
LIMIT_S: Final = 300.0
"""Limit of a batch, in seconds."""
DATABASE: Final = "conformance"
"""The database of the target tables, if a user names no other."""
START_UNDER_WAY: Final = "start-under-way"
"""The file in a run's folder that is there while `start` has not returned."""
FULL_REFRESH: Final = "full-refresh"
"""The name of the run that reads all messages once more into the same table, and of the rule that
it may break.
"""
RESTART: Final = "restart"
"""The name of the run in which the reader's process is killed, and of the rule that it may break.
"""
CARDINALITY: Final = ("MULTIPLE_SOURCE_ROW", "MERGE_CARDINALITY_VIOLATION")
"""What Delta's and Spark's errors say if a MERGE has several rows for one of the table."""


IN_FUNCTION: Final = "[FOREACH_BATCH_USER_FUNCTION_ERROR]"
"""How Spark's error of a user's function begins, behind its cause."""


class PipelineReader(Protocol):
    """An engine, as far as judging a pipeline needs one."""

    directory: Path

    def ask_service(self, service: str, request: Mapping[str, Any], limit_s: float) -> Any:
        """Asks a service of the child process; the future that is returned has its answer."""


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """The settings of `pipeline`. An empty `nemesis` stands for the nemeses of SMOKE, an empty
    `profile` for one whose messages tell the order of changes. The target tables are in the
    `database` of a `catalogue`. `away`: the Spark session may run on other machines, and decides
    itself where the database is stored.
    """

    format: str
    pipeline: str
    profile: str | tuple[str, ...] = ""
    nemesis: str = ""
    seed: int = 1
    restart: bool = False
    tables: Values | None = None
    limit_s: float = LIMIT_S
    catalogue: str = ""
    database: str = DATABASE
    away: bool = False

    @property
    def place(self) -> str:
        """The database with its catalogue, as SQL names it."""
        return f"{self.catalogue}.{self.database}" if self.catalogue else self.database


def streams_of(settings: PipelineSettings) -> tuple[list[ReadStream], list[PipelineResult]]:
    """The streams on which the pipeline is judged, one for each nemesis and profile, and the
    results of nemeses that cannot be judged. Raises NothingSelected.
    """
    fmt = get(settings.format)
    subjects: Sequence[Subject] = OURS
    if settings.tables is not None:
        users = usable_tables(fmt, settings.tables.schema).users
        keyed_users = [user for user in users if not why_not_keyed(user)]
        subjects = [Subject(settings.tables.fill_pools(), user) for user in keyed_users]
    streams, lost = [], []
    nemeses = _nemeses(settings.nemesis)
    for profile in _profiles(fmt, settings):
        for subject in subjects:
            why = why_not_kept(fmt, profile)
            if not why:
                story = subject.streamed(fmt, profile, settings.seed, subject.label)
                why = why_key_unsure(story) or why_updates_split(story)
            if why:
                lost.append(PipelineResult(fmt.name, profile.name, "-", subject.table, lost=why))
                continue
            for nemesis in nemeses:
                if is_possible(fmt, profile, nemesis, subject, settings.seed):
                    recipe = Recipe(
                        fmt.name, profile.name, nemesis.name, settings.seed, 0, subject, alone=True
                    )
                    (stream,) = Group.of_streams(fmt, (recipe.stream(),)).streams
                    streams.append(stream)
    if not streams and not lost:
        raise NothingSelected(
            f"{fmt.name}: its messages have nothing that {settings.nemesis or 'a run'} disturbs"
        )
    return streams, lost


def _nemeses(glob: str) -> list[Nemesis]:
    """The nemeses (disturbances of a stream) whose names match a glob; those of SMOKE for an empty
    one.
    """
    if glob:
        return list(select_nemeses(glob))
    return [nemesis for name in SMOKE for nemesis in select_nemeses(name)]


def _profiles(fmt: Format[Any], settings: PipelineSettings) -> Sequence[Profile]:
    """The profiles on which a pipeline is judged: all that the user's pattern selects. Without a
    pattern it is one whose messages can keep a table: the one that the format names since its first
    does not exercise every stream rule (`profile_for_wrong_keepers`), or else the first. With
    tables of the user only profiles that write from their database count. [] if there is none.
    """
    default_profile = order_of(fmt.name).profile_for_wrong_keepers
    chosen = select_profiles(fmt, settings.profile or default_profile or "*")
    if settings.tables is not None:
        if default_profile and not settings.profile:
            # The named profile may write from another database than that of the tables.
            chosen = tuple(dict.fromkeys((*chosen, *select_profiles(fmt, "*"))))
        chosen = profiles_of_source(fmt, chosen, settings.tables.schema)
    if settings.profile:
        return chosen
    return [profile for profile in chosen if not why_not_kept(fmt, profile)][:1]


@dataclass(slots=True)
class Run:
    """A stream that a pipeline reads into a table of its own, with all its files in the folder
    `home`. `bootstrap` is the broker, None for Spark's source that makes the messages. `lake` is
    the folder for the target tables, "" where the session decides. `written` are the topics on the
    broker, `source` the options to read them, `answer` the child's last answer.
    """

    engine: PipelineReader
    settings: PipelineSettings
    stream: ReadStream
    bootstrap: Target | None
    home: Path
    lake: str
    written: WrittenTopics | None = None
    source: Mapping[str, Any] = field(default_factory=dict)
    answer: Mapping[str, Any] = field(default_factory=dict)

    @property
    def group(self) -> Group:
        """A group of this stream alone."""
        return Group(get(self.settings.format), (self.stream,))

    @property
    def target(self) -> str:
        """The name of the table in which the pipeline is to keep its rows."""
        nemesis = self.stream.nemesis.name.replace("-", "_")
        # Another run in the same process has a table of its own, too.
        run = f"{self.home.parent.name.removeprefix('pipeline-')}_{self.home.name}"
        name = f"{self.stream.story.table.name}_{nemesis}_{run}"
        return f"{self.settings.place}.{name.lower()}"

    @contextlib.contextmanager
    def publish_stream(self) -> Iterator[Run]:
        """A context in which the stream can be read: with its topics on the broker, or, without a
        broker, through Spark's source that makes the messages.
        """
        self.home.mkdir(parents=True, exist_ok=True)
        if self.bootstrap is None:
            self.source = feed_options(self.group, self.home / "stream")
            yield self
            return
        group = self.group
        with kafka.run_topics(self.bootstrap, group.topics, append_time=group.append_time) as names:
            self.written = WrittenTopics(self.bootstrap, group, names)
            self.source = topic_options(self.written)
            yield self

    def release(self, stage: int) -> None:
        """Publishes the messages of one stage of the stream, or, without a broker, lets Spark's
        source give them.
        """
        if self.written is None:
            # The reader looks at any time: it must never see a file that is not yet written.
            path = Path(f"{self.source['kept']}.released")
            put(path, lambda: [str(stage + 1).encode()], "a stage")
        else:
            self.written.publish(self.group.messages(stage))

    def read(self, stage: int, **more: Any) -> Any:
        """Asks the child to run the pipeline on all messages that are there now, and to write what
        its table shows then; the future has the child's answer. `more` are further members of the
        request.
        """
        files = SnapshotFiles.of_stage(self.home, stage)
        request = {
            "pipeline": self.settings.pipeline,
            "source": dict(self.source),
            "target": self.target,
            "lake": self.lake,
            "table": codec.dump_table(self.stream.story.table),
            "deployment": codec.dump_deployment(self.stream.profile.deployment),
            "checkpoint": str(self.home / "checkpoint"),
            "directory": str(self.home),
            "under_way": str(self.home / START_UNDER_WAY),
            "out": str(files.rows),
            "history": str(files.history),
            "errors": str(files.errors),
            "conf": {},
            **more,
        }
        return self.engine.ask_service("pipeline", request, self.settings.limit_s)

    def await_answer(self, future: Any) -> Mapping[str, Any]:
        """Waits for the child's answer and returns it. Raises HarnessError if the time limit
        expires, which is no verdict on the pipeline; the error says whether `start` or a batch took
        so long.
        """
        try:
            answer: Mapping[str, Any] = future.result()
        except AnswerTimeout as error:
            what = f"a batch did not end within {self.settings.limit_s:g} s"
            if (self.home / START_UNDER_WAY).exists():
                what = (
                    f"start did not return within {self.settings.limit_s:g} s: it must return its"
                    " query, not wait for it (awaitTermination)"
                )
            raise HarnessError(
                f"{self.settings.pipeline}, {self.stream.nemesis.name}: {what},"
                f" {batch_under_way(self.home)}: no verdict. A lakehouse that starts cold takes a"
                " minute; --limit SECONDS gives more"
            ) from error
        self.answer = answer
        return answer

    def snapshot(self, stage: int) -> Snapshot:
        """What the pipeline's table showed after a stage. Raises UsageError if its key is not the
        source's.
        """
        return self._check(read_snapshot(SnapshotFiles.of_stage(self.home, stage)))

    def _check(self, snapshot: Snapshot) -> Snapshot:
        """Returns the snapshot. Raises UsageError if the pipeline's KEY is not the primary key of
        the table, or the kept table lacks a column of it.
        """
        names = self.stream.story.table.primary_key
        named_key = tuple(self.answer.get("key", ()))
        if named_key and {n.lower() for n in named_key} != {n.lower() for n in names}:
            raise UsageError(
                f"KEY is {', '.join(named_key)}; the key of {self.stream.story.table.name} is"
                f" {', '.join(names)}"
            )
        if missing := [name for name in names if name.lower() not in snapshot.columns]:
            raise UsageError(
                f"the table that {self.settings.pipeline} keeps has no column"
                f" {', '.join(missing)}, the key of {self.stream.story.table.name}; it has"
                f" {', '.join(sorted(snapshot.columns)) or 'none'}"
            )
        return snapshot

    def judge_snapshots(self, snapshots: Sequence[Snapshot]) -> PipelineResult:
        """Judges the snapshots that were taken of the table after each stage. The child's answer
        has the pipeline's variable TYPES: the columns that it keeps as another type on purpose.
        """
        claims = OwnTypes.parse(self.answer.get("types", {}))
        return judge(self.settings.format, self.stream, snapshots, claims)

    def result_after_error(
        self, stage: int, error: BaseException, *, plain: bool
    ) -> PipelineResult:
        """The result of a pipeline whose query ended with an error in this stage: which rule that
        breaks. `plain` says that the pipeline was right without a nemesis.
        """
        result = PipelineResult(
            self.settings.format,
            self.stream.profile.name,
            self.stream.nemesis.name,
            self.stream.table,
            rows=len(self.stream.story.rows),
        )
        words = cause_line(error)
        rule = "convergence"
        if any(name in words for name in CARDINALITY):
            rule = "one-per-batch"
        elif plain and self.stream.nemesis.name == "corrupt":
            rule = "unreadable"
        result.differ(rule, f"the query ended in batch {stage}: {words}")
        return result


def cause_line(error: BaseException) -> str:
    """The error that ended a query, on one line: the cause, then the line of the user's code;
    without the frames of Python between Spark and the user's function.
    """
    cause, marker, frames = str(error).partition(IN_FUNCTION)
    if not marker:
        return error_line(error)
    # The place in the user's code stands on a line of its own (`spark_checks.services.errors`).
    places = re.findall(r"^at .+, line \d+$", frames, re.MULTILINE)
    return " ".join([*cause.split(), *places[-1:]])


def read_plainly(run: Run, *, plain: bool) -> Iterator[PipelineResult]:
    """Reads the stages of a stream one after the other and yields the result; if the stream is
    undisturbed, also that of reading all of it again without the checkpoint. `plain` says that
    nothing differed without a nemesis.
    """
    began = time.monotonic()
    snapshots: list[Snapshot] = []
    stage = 0
    with run.publish_stream():
        try:
            for stage in range(STAGES):
                run.release(stage)
                refreshed = run.stream.nemesis.name == "none"
                run.await_answer(run.read(stage, last=stage == STAGES - 1 and not refreshed))
                snapshots.append(run.snapshot(stage))
        except (DecodeRaised, ChildDied) as error:
            result = run.result_after_error(stage, error, plain=plain)
            result.seconds = time.monotonic() - began
            yield result
            return
        result = run.judge_snapshots(snapshots)
        result.seconds = time.monotonic() - began
        yield result
        if run.stream.nemesis.name == "none":
            yield _refresh_result(run, result)


def _refresh_result(run: Run, plain: PipelineResult) -> PipelineResult:
    """The result after the pipeline has read all messages once more into the same table, its
    checkpoint removed; the table must stay right. `plain` is the result of the run before, without
    a nemesis: a table that was wrong then is not judged here.
    """
    began = time.monotonic()
    result = PipelineResult(
        plain.format,
        plain.profile,
        FULL_REFRESH,
        plain.table,
        rows=plain.rows,
        messages=plain.messages,
        repeats=plain.messages,
    )
    if plain.broken:
        result.lost = "the table was wrong before"
        return result
    try:
        # One stage more than the stream has: nothing is published, all is read anew.
        answer = run.await_answer(run.read(STAGES, last=True, refresh=True))
        if not answer["refreshed"]:
            result.lost = "the checkpoint of its query is not known"
            return result
        result.reached = frozenset({FULL_REFRESH})
        again = run.judge_snapshots([run.snapshot(STAGES)])
        for _, what in again.wrong:
            result.differ(FULL_REFRESH, what)
    except (DecodeRaised, ChildDied) as error:
        result.differ(FULL_REFRESH, f"the query ended: {cause_line(error)}")
    result.seconds = time.monotonic() - began
    return result


def read_killed(run: Run, victim: Any, note: Callable[[str], None]) -> PipelineResult:
    """The result after the reader's process was killed three times: as batch 1 begins, after its
    commit, which is taken back, and after batch 2. `victim` is the engine that is killed.
    """
    began = time.monotonic()
    name = f"{run.stream.nemesis.name}+{RESTART}"
    story = run.stream.story
    result = PipelineResult(
        run.settings.format, run.stream.profile.name, name, run.stream.table, rows=len(story.rows)
    )
    with run.publish_stream():
        try:
            run.release(0)
            run.await_answer(run.read(0))
            for place, batch, _ in MOMENTS:
                if place != "after":
                    run.release(batch)
                mark = run.home / f"held-{batch}-{place}"
                future = run.read(batch, hold={"batch": batch, "at": place})
                if not kill_when(victim, future, (mark,), run.settings.limit_s):
                    result.lost = f"the query's checkpoint shows no batch {batch} to kill it in"
                    return result
                pid = json.loads(mark.read_text("utf-8"))["process"]
                note(f"{name}: process {pid} was killed {KILLS[place]}")
                result.notes.append(f"process {pid} was killed {KILLS[place]}")
                if place == "after":
                    undo_commit(mark, batch)
            run.release(STAGES - 1)
            run.await_answer(run.read(STAGES - 1, last=True))
            judged = run.judge_snapshots([run.snapshot(STAGES - 1)])
        except (DecodeRaised, ChildDied) as error:
            result.differ(RESTART, f"the query ended: {cause_line(error)}")
            return result
    result.messages, result.repeats = judged.messages, judged.repeats
    result.reached = frozenset({RESTART})
    result.seconds = time.monotonic() - began
    for _, what in judged.wrong:
        result.differ(RESTART, what)
    return result


KILLS: Final = {
    "before": "as batch 1 began",
    "after": "after batch 1, whose commit was taken back",
    "commit": "after batch 2",
}
"""Words for when the process is killed, by the moment's place in MOMENTS."""


def run_pipeline(
    settings: PipelineSettings,
    engine: Any,
    bootstrap: Target | None,
    note: Callable[[str], None],
) -> Iterator[PipelineResult]:
    """Judges the pipeline under one nemesis after the other and yields the results. Raises
    NothingSelected, UsageError, and HarnessError where a limit expired.
    """
    streams, lost = streams_of(settings)
    yield from lost
    home = Path(mkdtemp(prefix="pipeline-", dir=engine.directory))
    lake = "" if settings.away else str(home / "lake")
    make = partial(Run, settings=settings, bootstrap=bootstrap, lake=lake)
    is_plain_right: dict[tuple[str, str], bool] = {}
    cpu_before = cpu_seconds()
    for number, stream in enumerate(streams):
        note(f"{settings.format}, {stream.profile.name}: {stream.nemesis.name}")
        run = make(engine=engine, stream=stream, home=home / f"s{number}")
        place = (stream.profile.name, stream.table)
        for result in read_plainly(run, plain=is_plain_right.get(place, True)):
            if result.nemesis == "none":
                is_plain_right[place] = result.converged
            now = cpu_seconds()
            result.cpu_seconds, cpu_before = now - cpu_before, now
            yield result
    if settings.restart:
        first = next((stream for stream in streams if stream.nemesis.name == "none"), streams[0])
        with engine.make_twin() as victim:
            run = make(engine=victim, stream=first, home=home / "killed")
            yield read_killed(run, victim, note)
