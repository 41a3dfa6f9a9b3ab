"""The stream check without Spark: a state that is right, each way to be wrong and the rule that
owns it, and the command.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command_lines import performed
from remembered import done

from conformance.engines.child import ChildEngine
from conformance.engines.engine import AnswerTimeout, ChildDied, DecodeRaised
from conformance.lanes import by_name
from conformance.rules.order import base_of, order_of
from conformance.rules.streams import rules
from conformance.selftest import checks as selftest
from conformance.selftest import keeping
from conformance.streams import kept
from conformance.streams import reading as streams
from conformance.streams.kept import KeptTables, judge
from conformance.streams.recipes import PARTITIONS, Group, Recipe, StreamResult
from generators.drawing.shared_history import streamed
from generators.errors import HarnessError
from generators.garbage.nemesis import NEMESES, select_nemeses
from generators.model import Kind, Op, RowChange
from generators.storage import codec
from generators.wire_format import FORMATS, get


def group_of(name: str, profile: str, nemesis: str, seed: int = 1) -> Group:
    fmt = get(name)
    return streams.group_of(fmt, (fmt.profile(profile),), select_nemeses(nemesis), seed)


def rules_of(outcomes: list[StreamResult]) -> set[str]:
    return {rule.rpartition("/")[2] for outcome in outcomes for rule in outcome.broken}


def spoil(how: str, group: Group, state: KeptTables) -> dict[str, list[Any]]:
    """The rows of the first table with one fault."""
    rows = {
        table: [(key, dict(image)) for key, image in pairs] for table, pairs in state.rows.items()
    }
    story = group.streams[0].story
    first = rows[story.table.name]
    match how:
        case "drop":
            first.pop()
        case "double":
            first.append(first[0])
        case "cell":
            first[0][1]["id"] = "-999"
        case "old key" | "deleted":
            key = min(story.moved if how == "old key" else story.gone, key=repr)
            first.append((tuple(map(str, key)), {}))
    return rows


@pytest.mark.parametrize(
    ("nemesis", "how", "fault", "rule"),
    [
        *(("none", "", fault, "convergence") for fault in ("drop", "cell", "deleted")),
        *(("none", "", "double", "at-least-once"), ("none", "", "old key", "key-change")),
        *(("none", "restart", "drop", "restart"), ("none", "restart", "cell", "restart")),
        *(("replay", "", "cell", "order"), ("duplicate", "", "deleted", "order")),
        *(
            ("late-watermarks", "", "deleted", "watermark"),
            ("schema-lags", "", "drop", "schema-cache"),
        ),
    ],
)
def test_each_wrong_table_is_owned_by_its_rule(
    nemesis: str, how: str, fault: str, rule: str
) -> None:
    group = group_of("ticdc-simple-json", "v7.5.7+auto-bootstrap+one-partition", nemesis)
    state = keeping.keep_tables(group)
    assert rules_of(judge(group, replace(state, rows=spoil(fault, group, state)), how)) == {rule}


def test_what_is_wrong_without_the_trait_is_no_matter_of_the_trait() -> None:
    fmt = get("debezium-json")
    nemeses = [
        nemesis
        for nemesis in NEMESES
        if nemesis.name in ("none", "copied", "append-time", "compacted")
    ]
    group = streams.group_of(fmt, (fmt.profile("3.5.0.Final"),), nemeses, 1)
    state = keeping.keep_tables(group)
    tables = {stream.nemesis.name: stream.story.table.name for stream in group.streams}

    def broken(*spoiled: str) -> dict[str, set[str]]:
        rows = {
            table: [] if table in map(tables.get, spoiled) else pairs
            for table, pairs in state.rows.items()
        }
        return {
            outcome.nemesis: rules_of([outcome])
            for outcome in judge(group, replace(state, rows=rows))
            if outcome.wrong
        }

    assert broken("append-time") == {"append-time": {"record-time"}}
    assert broken("append-time", "copied") == {"append-time": {"order"}, "copied": {"order"}}
    assert broken("compacted") == {"compacted": {"compaction"}}
    assert broken("compacted", "none") == {"compacted": {"convergence"}, "none": {"convergence"}}


def test_a_pattern_gives_the_tables_of_a_stream_their_topics() -> None:
    fmt = get("debezium-json")
    group = streams.group_of(
        fmt, (fmt.profile("3.5.0.Final"),), select_nemeses("*o*"), 1, pattern="{topic}"
    )
    names = {
        stream.story.table.name: {topic for topic, _ in stream.topics} for stream in group.streams
    }
    assert all(f"cdc.differential.{table}" in " ".join(topics) for table, topics in names.items())
    assert group.topics["__debezium-heartbeat.cdc"] > 1 and len(group.topics) > len(names)
    assert len(group.lanes()) == group.partitions
    lanes = by_name(group.lanes({"__debezium-heartbeat.cdc": "run.beat"}))
    assert sorted(lanes.values()) == list(range(group.partitions)) and "run.beat/0" in lanes
    for stream in group.streams:
        assert {
            (m.topic, m.partition) for stage in range(4) for m in stream.placed_messages(stage)
        } <= set(stream.places)
    assert [outcome.wrong for outcome in judge(group, keeping.keep_tables(group))] == [[]] * len(
        names
    )
    alone = streams.group_of(
        fmt, fmt.profiles[:1], select_nemeses("none"), 1, pattern="{database}_{table}"
    )
    assert set(alone.topics) == {"differential_t_0"}


def test_offsets_garbage_and_watermarks_have_rules_of_their_own() -> None:
    group = group_of("ticdc-canal-json", "v7.1.6+extension", "corrupt")
    state = keeping.keep_tables(group)
    assert state.corrupt
    partition, (count, last) = next(iter(state.seen.items()))
    spoiled: list[tuple[dict[str, Any], str]] = [
        ({"seen": {**state.seen, partition: (count - 1, last)}}, "every-offset"),
        ({"corrupt": frozenset()}, "corrupt-kept"),
        ({"corrupt": state.corrupt | {(0, 10**6)}}, "corrupt-kept"),
        ({"watermarks": {p: mark - 1 for p, mark in state.watermarks.items()}}, "watermark"),
    ]
    for changes, rule in spoiled:
        assert rules_of(judge(group, replace(state, **changes))) == {rule}
    own = KeptTables(state.rows, frozenset(), {}, {}, rows_alone=True)
    assert [outcome.converged for outcome in judge(group, own)] == [True], (
        "rows alone are judged by rows alone"
    )


def test_a_message_that_may_be_refused_is_no_message_that_is_lost() -> None:
    group = group_of("alibaba-canal-json", "1.1.6", "none")
    (stream,) = group.streams
    state, table, key = (
        keeping.keep_tables(group),
        stream.story.table.name,
        stream.story.table.primary_key,
    )
    places: Counter[int] = Counter()
    doubtful, certain, keys = set(), set(), set()
    for written in (written for stage in stream.stages for written in stage):
        place = (stream.first + written.message.partition, places[written.message.partition])
        places[written.message.partition] += 1
        open_ = any((Kind.CORRUPT, None) in change.accept for change in written.changes)
        (doubtful if open_ else certain).add(place)
        images = [
            image for c in written.changes for image in (c.before, c.after) if open_ and image
        ]
        keys |= {
            tuple(image[name].text for name in key) for image in images if image.keys() >= set(key)
        }
    left = {table: [row for row in state.rows[table] if row[0] not in keys]}
    assert doubtful and certain and len(left[table]) < len(state.rows[table])
    assert rules_of(judge(group, replace(state, rows=left, corrupt=frozenset(doubtful)))) == set()
    assert rules_of(judge(group, replace(state, rows=left))) == {"convergence"}
    assert rules_of(judge(group, replace(state, corrupt=frozenset({min(certain)})))) == {
        "corrupt-kept"
    }


def test_streams_share_a_topic_and_no_partition_and_those_of_a_deployment_stand_together() -> None:
    fmt = get("debezium-json")
    first, last = (
        {profile.deployment: profile for profile in some}
        for some in (fmt.profiles[::-1], fmt.profiles)
    )
    some = dict.fromkeys((*first.values(), *last.values(), fmt.profile("1.9.7.Final+minimal")))
    group = streams.group_of(
        fmt,
        list(some),
        [*select_nemeses("none"), *select_nemeses("replay"), *select_nemeses("append-time")],
        1,
    )
    for stage in range(4):
        for stream in group.streams:
            assert {(m.topic, m.partition) for m in stream.placed_messages(stage)} <= set(
                stream.places
            )
        assert tuple(group.lanes())[stream.first : stream.first + PARTITIONS] == stream.places
    assert len(group.lanes()) == group.partitions
    assert {stream.nemesis.name for stream in group.streams if stream.places[0][0]} == {
        "append-time"
    }
    assert group.append_time == {"append-time"}
    assert len({stream.first for stream in group.streams}) == len(
        {stream.story.table.name for stream in group.streams}
    )
    parts = group.parts
    assert (
        len({deployment for deployment, _, _ in parts})
        == len(parts)
        == len(group.by_deployment)
        == 9
    )
    for stream in group.streams:
        (deployment,) = (mine for mine, low, high in parts if low <= stream.first < high)
        assert deployment == stream.profile.deployment
    assert [low for _, low, _ in parts] == [0, *(high for _, _, high in parts[:-1])]
    assert not any(stream.profile.name == "1.9.7.Final+minimal" for stream in group.streams)


def test_profiles_that_write_a_stream_just_alike_share_it_and_each_has_a_result() -> None:
    fmt, names = get("ticdc-canal-json"), ("v6.5.1", "v5.4.3", "v6.5.11")
    group = streams.group_of(fmt, [fmt.profile(name) for name in names], select_nemeses("re*"), 1)
    shared = {
        (stream.profile.name, *(profile.name for profile in stream.also))
        for stream in group.streams
    }
    assert shared == {("v6.5.1", "v6.5.11"), ("v5.4.3",)}
    for stream in group.streams:
        written = [message.value for stage in range(4) for message in stream.placed_messages(stage)]
        number = int(stream.story.table.name.removeprefix("t_"))
        for profile in stream.also:
            again = Recipe(fmt.name, profile.name, stream.nemesis.name, 1, number).stream()
            assert [
                message.value for stage in range(4) for message in again.placed_messages(stage)
            ] == written
    outcomes = judge(group, keeping.keep_tables(group))
    order = ["v5.4.3", "v6.5.1", "v6.5.11"]
    assert [(outcome.profile, outcome.nemesis) for outcome in outcomes] == [
        (n, m.name) for n in order for m in select_nemeses("re*")
    ]
    assert [outcome.wrong for outcome in outcomes] == [[]] * 9


def test_a_query_that_ends_is_asked_again_by_deployment_before_it_is_a_verdict(
    tmp_path: Path,
) -> None:
    fmt = get("debezium-json")
    group = streams.group_of(fmt, fmt.profiles[:2], select_nemeses("none"), 1)
    bad = group.by_deployment[0].parts[0][0]
    asked = []

    class Raising:
        directory = tmp_path

        def ask_service(
            self, _service: str, request: Mapping[str, Any], _limit: float
        ) -> Future[Any]:
            asked.append(request["parts"])
            mine = codec.dump_deployment(bad) in [part[0] for part in request["parts"]]
            return done(DecodeRaised("cannot read it") if mine else ChildDied("gone"))

    outcomes = streams.read_streams(Raising(), group, "x:y", None, tmp_path / "home")
    assert [len(parts) for parts in asked] == [2, 1, 1]
    assert [(outcome.profile, outcome.wrong[0][1]) for outcome in outcomes] == [
        (group.streams[0].profile.name, "the query ended: cannot read it"),
        (group.streams[1].profile.name, "the query ended: gone"),
    ]


def test_every_format_has_an_order_and_cited_rules() -> None:
    for name in FORMATS:
        book = {rule.id.rpartition("/")[2]: rule for rule in rules(name)}
        assert {
            "convergence",
            "order",
            "at-least-once",
            "restart",
            "corrupt-kept",
            "every-offset",
            "key-change",
        } <= set(book)
        assert all(
            rule.citations and rule.id.startswith(f"{name}/stream/") for rule in book.values()
        )
        kinds = {row.kind for row in get(name).kinds}
        assert ("watermark" in book) == (Kind.WATERMARK in kinds)
        assert ("schema-cache" in book) == (Kind.BOOTSTRAP in kinds)
        assert ("compaction" in book) == (name.startswith("debezium-") or name == "ticdc-avro")
        assert ("record-time" in book) == (not order_of(name).arrival)
        assert {
            nemesis.rule for nemesis in NEMESES if not (nemesis.ordered and order_of(name).arrival)
        } <= {*book, "compaction"}


def test_where_arrival_orders_nothing_comes_again_behind_what_is_newer() -> None:
    fmt = get("ticdc-avro")
    group = streams.group_of(fmt, fmt.profiles[:1], NEMESES, 2)
    names = {stream.nemesis.name for stream in group.streams}
    assert names >= {"none", "replay", "reorder", "corrupt", "compacted"}
    assert not names & {"duplicate", "copied", "append-time", "all", "late-watermarks"}


@pytest.mark.parametrize("name", [name for name in FORMATS if not order_of(name).arrival])
def test_the_order_of_a_format_is_the_order_of_the_source(name: str) -> None:
    """One form of position in a history, or none at all; and then it never goes back from one
    change to the next. Of three profiles: the right tables of every format converge in the self
    test.
    """
    fmt, order = get(name), order_of(name)
    kept_ = [profile for profile in fmt.profiles if not streams.why_not_kept(fmt, profile)]
    for profile in dict.fromkeys((kept_[0], kept_[len(kept_) // 2], kept_[-1])):
        forms, last = set(), (0,)
        for change in (
            c for written in streamed(fmt, profile, 4, "t").written for c in written.changes
        ):
            if change.kind not in (Kind.ROW, Kind.DDL, Kind.WATERMARK):
                continue
            matches = (
                (re.search(pattern, change.position or ""), groups)
                for pattern, groups in order.positions
            )
            matched, groups = next(
                ((match, groups) for match, groups in matches if match), (None, ())
            )
            forms.add(groups)
            assert (
                order.keys != "change"
                or change.kind is not Kind.ROW
                or change.op is Op.TRUNCATE
                or change.keys
            )
            now = (
                (change.commit_time_us,)
                if matched is None
                else tuple(int(matched[group], base_of(matched.re.pattern)) for group in groups)
            )
            assert now[0] is not None and now >= last
            last = now
        assert len(forms) == 1, profile.name


@pytest.mark.parametrize("name", selftest.IN_SPARK)
def test_the_streams_of_the_selftest_set_every_trap(name: str) -> None:
    group = selftest.streams_for_keepers(get(name), 1)
    by_nemesis = {stream.nemesis.name: stream for stream in group.streams}
    order = order_of(name)
    left_out = {
        n.name
        for n in NEMESES
        if (n.compacted and not order.compacted) or (n.ordered and order.arrival)
    }
    assert set(by_nemesis) == set(selftest.STREAM_NEMESES) - left_out
    assert by_nemesis["none"].story.moved and (
        order.arrival or by_nemesis["late-watermarks"].story.gone
    )
    assert kept._schemas_late(by_nemesis["schema-lags"])
    for stream in (stream for stream in group.streams if stream.nemesis.fine):
        commits = Counter(
            event.at.ms for event in stream.story.history.events if isinstance(event, RowChange)
        )
        assert sum(number > 1 for number in commits.values()) > 5, stream.nemesis.name
    flat = [
        w
        for stage in by_nemesis["duplicate"].stages
        for w in stage
        if w.changes[0].kind is Kind.ROW
    ]
    stale = (
        (newer, again)
        for newer, again in pairwise(flat)
        if newer.message.event > again.message.event
    )
    assert (
        sum(
            newer.changes[0].commit_time_us == again.changes[0].commit_time_us
            for newer, again in stale
        )
        > 5
    )


def test_an_interrupted_check_leaves_nothing_running(
    fake: Any,
    children: Callable[[int], list[int]],
    eventually: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = []

    def interrupted(engine: ChildEngine, *_: object, **__: object) -> list[StreamResult]:
        engine.started.result()
        begun.append(engine.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(streams, "read_streams", interrupted)
    result = performed("stream", "huawei-cdl-json", "--broker", "none", "--nemesis", "none")
    assert result.exit_code != 0
    assert begun[0] is not None
    eventually(lambda: begun[0] not in children(os.getpid()))


def test_no_check_goes_on_from_the_checkpoint_of_another(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, homes = fake[0](), []
    monkeypatch.setattr(
        streams, "read_streams", lambda *arguments, **_: homes.append(arguments[-1]) or []
    )
    for _ in range(2):
        list(
            streams.run(
                streams.StreamSettings(("huawei-cdl-json",), "1.0", "none"),
                engine,
                None,
                lambda _text: None,
            )
        )
    assert len(set(homes)) == len(homes) == 2


class Engine:
    """An engine of which only the folder is used; `twin` gives the reader that is killed."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.closed = directory, False
        self.victim: Engine | None = None

    def make_twin(self) -> Engine:
        self.victim = Engine(self.directory)
        return self.victim

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.closed = True


def passes(
    monkeypatch: pytest.MonkeyPatch, engine: Any, fake_read: Callable[..., list[StreamResult]]
) -> Any:
    """The results of a run with restarts whose passes are stubs: each result names its pass and its
    engine.
    """

    def result(name: str, asked: Engine) -> list[StreamResult]:
        return [StreamResult("f", "victim" if asked is engine.victim else "engine", name)]

    monkeypatch.setattr(streams, "read_streams", fake_read)
    monkeypatch.setattr(streams, "read_while_killed", lambda asked, *_: result("restart", asked))
    monkeypatch.setattr(
        streams, "read_while_broker_killed", lambda asked, *_: result("broker", asked)
    )
    settings = streams.StreamSettings(("huawei-cdl-json",), "1.0", "none", restart=True)
    return streams.run(settings, engine, "127.0.0.1:1", lambda _text: None)


def test_the_reader_that_is_killed_is_a_child_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(tmp_path)
    results = list(
        passes(monkeypatch, engine, lambda *_, **__: [StreamResult("f", "engine", "plain")])
    )
    assert [(r.profile, r.nemesis) for r in results] == [
        ("engine", "plain"),
        ("victim", "restart"),
        ("engine", "broker"),
    ]
    assert engine.victim is not None and engine.victim.closed and not engine.closed


def test_an_interrupt_closes_the_reader_that_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, states = Engine(tmp_path), []

    def interrupted(*_: object, **__: object) -> list[StreamResult]:
        raise KeyboardInterrupt

    closed = ThreadPoolExecutor.__exit__
    monkeypatch.setattr(
        ThreadPoolExecutor,
        "__exit__",
        lambda pool, *rest: (states.append(engine.victim.closed), closed(pool, *rest))[1],
    )
    with pytest.raises(KeyboardInterrupt):
        list(passes(monkeypatch, engine, interrupted))
    assert states == [True]


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (["huawei-cdl-json", "--writer-profile", "1.0", "--nemesis", "none"], 3, "left no state"),
        (["ticdc-canal-json", "--nemesis", "compacted"], 4, "no stream was judged"),
    ],
)
def test_what_convicts_nobody_has_a_code_of_its_own(
    fake: Any, argv: list[str], code: int, words: str
) -> None:
    error = performed("stream", "--broker", "none", *argv).exception
    assert isinstance(error, HarnessError)
    assert (error.exit_code, words in str(error)) == (code, True)


def test_the_reader_is_killed_as_soon_as_its_mark_is_there(
    fake: Any, eventually: Any, tmp_path: Path
) -> None:
    make, asked = fake
    engine = make()
    engine.started.result()
    reading = engine.ask_service("stream", {"decoder": "x.hang"}, 60)
    # A child that is killed before it is asked is replaced.
    eventually(lambda: "stream" in {op for _, op, *_ in asked()})
    (tmp_path / "mark").write_text("")
    victim = engine.pid
    assert streams.kill_when(engine, reading, (tmp_path / "mark",))
    assert "exit code -9" in str(reading.exception())
    assert engine.ask_service("stream", {"decoder": "x.fine"}, 60).result()["rows"] == 3
    assert engine.pid not in (None, victim)


def test_what_differs_is_told_in_every_style() -> None:
    good = StreamResult("f", "p", "none", rows=3, messages=9, cells=12)
    bad = StreamResult("f", "p", "replay", rows=3, messages=12)
    bad.differ("order", "row 7 is missing")
    lost = StreamResult("f", "minimal", "-", lost="parts of rows")
    assert (good.as_json()["result"], bad.as_json()["broken"]) == (
        "converged",
        {"f/stream/order": 1},
    )
    wanted = {
        "format": "f",
        "profile": "minimal",
        "nemesis": "-",
        "result": "not judged",
        "because": "parts of rows",
    }
    assert list(lost.as_json().items()) == list(wanted.items())
    text = streams.render([good, bad, lost], markdown=True)
    assert "| f | p | replay | 3 | 12 | 0 | 0 | differs |" in text
    assert "f/stream/order: p, replay: row 7 is missing" in text
    assert text.endswith("1 of 2 streams converged")


def test_processes_are_killed_under_one_stream_of_each_nemesis_and_the_profiles_take_turns():
    fmt = get("huawei-cdl-json")
    group = streams.group_of(fmt, fmt.profiles[:2], NEMESES, 1)
    few = streams.choose_for_restarts(group)
    nemeses = [
        nemesis
        for nemesis in NEMESES
        if not (nemesis.compacted or nemesis.statements or nemesis.unsent)
    ]
    assert [stream.nemesis for stream in few.streams] == nemeses
    assert (
        len({stream.profile.name for stream in few.streams})
        == len({stream.profile.name for stream in group.streams})
        > 1
    )
    assert [stream.first for stream in few.streams] == [
        3 * number for number in range(len(nemeses))
    ]
    assert {(message.topic, message.partition) for message in few.messages(0)} <= set(few.lanes())


def test_a_query_that_does_not_come_to_its_kill_is_no_verdict(tmp_path, monkeypatch):
    with pytest.raises(HarnessError, match="did not come to the moment of its kill"):
        streams.kill_when(None, Future(), (tmp_path / "never",), 0.1)
    with pytest.raises(ChildDied):
        streams.kill_when(None, done(ChildDied("gone")), (tmp_path / "never",))


class Answering:
    """An engine whose requests `stream` end as they are told to, and the parts that were asked."""

    def __init__(self, directory: Path, answer: Callable[[Mapping[str, Any]], Future[Any]]) -> None:
        self.directory, self.answer, self.pid = directory, answer, None
        self.limits: list[float] = []

    def ask_service(self, _service: str, request: Mapping[str, Any], limit_s: float) -> Future[Any]:
        self.limits.append(limit_s)
        return self.answer(request)


def test_a_limit_that_expires_is_no_verdict_and_names_the_batch(tmp_path):
    group = group_of("huawei-cdl-json", "1.0", "none")

    def late(request: Mapping[str, Any]) -> Future[Any]:
        offsets = Path(request["directory"], "own-0", "query", "offsets")
        offsets.mkdir(parents=True)
        for name in ("0", "1", ".1.crc"):
            (offsets / name).write_text("")
        return done(AnswerTimeout("did not end within 7 s: the log of a start"))

    engine = Answering(tmp_path, late)
    with pytest.raises(HarnessError) as raised:
        streams.read_streams(engine, group, "x:y", None, tmp_path / "home", limit_s=7)
    assert engine.limits == [7]
    assert raised.value.exit_code == 3
    assert str(raised.value) == (
        "huawei-cdl-json: 1 streams were not read within 7 s, in batch 1: no verdict. A lakehouse"
        " that starts cold takes a minute; --limit SECONDS gives more"
    )


def test_a_stream_whose_query_ends_is_no_matter_of_the_other_streams_of_its_deployment(
    tmp_path, monkeypatch
):
    fmt = get("huawei-cdl-json")
    nemeses = [n for n in NEMESES if n.name in ("none", "replay", "corrupt", "stale")]
    group = streams.group_of(fmt, (fmt.profile("1.0"),), nemeses, 1)
    bad = next(s.story.table.name for s in group.streams if s.nemesis.name == "corrupt")

    def ends(request: Mapping[str, Any]) -> Future[Any]:
        names = [codec.load_table(table).name for table in request["tables"]]
        return done(DecodeRaised("cannot read it") if bad in names else {})

    monkeypatch.setattr(streams, "read_state", lambda _: None)
    monkeypatch.setattr(streams, "judge", lambda part, _: judge(part, keeping.keep_tables(part)))
    outcomes = streams.read_streams(
        Answering(tmp_path, ends), group, "x:y", None, tmp_path / "home"
    )
    assert {o.nemesis: [what for _, what in o.wrong] for o in outcomes if o.broken} == {
        "corrupt": ["the query ended: cannot read it"]
    }
    assert [o.nemesis for o in outcomes if o.converged] == ["none", "replay", "stale"]


def test_a_query_that_ends_under_everything_is_not_tried_stream_by_stream_for_ever(tmp_path):
    fmt = get("huawei-cdl-json")
    group = streams.group_of(fmt, (fmt.profile("1.0"),), NEMESES, 1)
    engine = Answering(tmp_path, lambda _: done(DecodeRaised("cannot read it")))
    outcomes = streams.read_streams(engine, group, "x:y", None, tmp_path / "home")
    assert len(engine.limits) == 1 + streams.ALONE
    assert [bool(o.broken) for o in outcomes] == [n < 3 for n in range(len(group.streams))]
    assert {o.lost for o in outcomes[3:]} == {
        "the query of all streams ended, and so did those of 3 alone"
    }


def test_a_reading_that_ends_before_its_kill_is_not_judged(tmp_path, monkeypatch):
    group = group_of("huawei-cdl-json", "1.0", "none")
    read = []

    def ends(request: Mapping[str, Any]) -> Future[Any]:
        read.append(request["hold"])
        return done({})

    @contextlib.contextmanager
    def published(*_: Any) -> Any:
        reader = streams.GroupReader(Answering(tmp_path, ends), group, "x:y", {}, tmp_path)  # type: ignore[arg-type]
        yield reader, lambda how: judge(group, keeping.keep_tables(group), how)

    monkeypatch.setattr(streams, "_publish_streams", published)
    (outcome,) = streams.read_while_killed(
        Answering(tmp_path, ends), group, "x:y", "127.0.0.1:1", tmp_path, lambda _: None
    )
    assert read == [{"batch": 1, "at": "before"}]
    assert outcome.as_json() == {
        "format": "huawei-cdl-json",
        "profile": "1.0",
        "nemesis": "none+restart",
        "result": "not judged",
        "because": "the query ended before its kill before the state of batch 1",
    }


def test_a_commit_is_taken_back_with_all_that_came_behind_it(tmp_path):
    for name in ("0", "1", "2", ".1.crc", ".2.crc"):
        for part in ("offsets", "commits"):
            (tmp_path / part).mkdir(exist_ok=True)
            (tmp_path / part / name).write_text("")
    mark = tmp_path / "held-1-after"
    mark.write_text(json.dumps({"checkpoint": str(tmp_path)}))
    streams.undo_commit(mark, 1)
    names = {
        part: sorted(p.name for p in (tmp_path / part).iterdir()) for part in ("offsets", "commits")
    }
    assert names == {"offsets": [".1.crc", "0", "1"], "commits": ["0"]}
