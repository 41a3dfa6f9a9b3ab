import json
import re
import threading
import time
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import ANY

import pytest
from command_lines import performed
from remembered import done
from shown import shown

from conformance.engines.engine import AnswerTimeout, DecodeRaised
from conformance.judging.capabilities import Capabilities
from conformance.judging.findings import Verdict
from conformance.load import _producers, _topics
from conformance.load import sustained as loading
from conformance.load._fed import Fed
from conformance.load._producers import Executors, Producer
from conformance.load.feed import Feed
from conformance.load.figures import DRAIN_S, Batch, SentSample, Step, quantile, slope
from conformance.load.source import ProducerSource, Routes, Tally, Task, place_hash
from conformance.load.sustained import Lane, LoadResult, LoadSettings, next_rate
from conformance.reports import load_page as report
from generators.bulk import orders
from generators.bulk.orders import LoadOptions
from generators.errors import HarnessError, UsageError
from generators.model import Kind, Layout, Message
from generators.publishing.cluster import Cluster
from generators.publishing.kafka import publish, records_in
from generators.publishing.pacing import Delivered, Histogram, Published, publish_paced
from generators.publishing.topics import create_topic, delete_topics
from generators.tables.load import TableLoad
from generators.tables.reading import read_schema
from generators.tables.user_values import Values
from generators.wire_format import get

FORMAT = "ticdc-canal-json"
BEGAN = 1_000.0


@pytest.mark.parametrize(("share", "expected"), [(0.5, 1.0), (0.99, 5.0), (1.0, 9.0)])
def test_a_quantile_is_of_the_weight_not_of_the_number(share, expected):
    assert quantile([(9.0, 1.0), (1.0, 98.0), (5.0, 1.0)], share) == expected
    assert quantile([], share) is None


def test_a_slope_is_that_of_the_fitted_line():
    assert slope([(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) == 2.0
    assert slope([(0.0, 0.0), (1.0, 2.0), (2.0, 0.0)]) == 0.0
    assert slope([(3.0, 1.0)]) == slope([]) == 0.0


def made(rate, capacity, seconds=10, each=0.5, drained=1.0):
    """A step with a decoder that takes up to `capacity` messages a second, in batches of `each`
    seconds.
    """
    step = Step(rate, 500, drained_s=drained)
    step.ticks = [(BEGAN + t / 10, round(rate * t / 10)) for t in range(seconds * 10 + 1)]
    step.published = {"acked": rate * seconds, "per_second": rate}
    for offset in range(0, rate * seconds, 10):
        step.table.add(0, offset, BEGAN + offset / rate, 10)
    done = 0
    for number in range(1, int((seconds + (drained or 0)) / each) + 1):
        ended = BEGAN + number * each
        there = min(rate * seconds, round(rate * (number - 1) * each))
        upto = min(there, done + round(capacity * each))
        if upto > done:
            kinds = {"ROW": upto - done}
            step.batches.append(
                Batch(
                    number,
                    ended - each,
                    ended,
                    {0: (done, upto)},
                    upto - done,
                    upto - done,
                    0,
                    kinds,
                )
            )
            done = upto
    return step


def test_a_decoder_that_takes_all_that_there_is_keeps_up():
    step = made(1_000, 100_000)
    assert (step.judgement(), step.send_rate, step.is_producer_slow) == ((True, ""), 1_000, False)
    assert (quantile(step.lags(), 0.5), quantile(step.lags(), 1.0)) == pytest.approx(
        (0.75, 1.0), abs=0.05
    )
    step.rate = 2_000
    assert step.is_producer_slow, "a producer that comes to less than the rate is noticed"


@pytest.mark.parametrize(
    ("step", "growth", "reason"),
    [
        ({"rate": 1_000, "capacity": 600}, 400, "backlog grows by "),
        ({"rate": 1_000, "capacity": 930, "seconds": 60}, None, ""),
        ({"rate": 1_000, "capacity": 500, "seconds": 60}, 500, "backlog grows by "),
        (
            {"rate": 100, "capacity": 10_000, "seconds": 60, "each": 7.0, "drained": 14.0},
            None,
            "more than the 6 s allowed",
        ),
        (
            {"rate": 1_000, "capacity": 100_000, "drained": None},
            None,
            f"not all were decoded in {DRAIN_S:g} s",
        ),
    ],
    ids=["too little", "a little too slow", "much too slow", "long batches", "not drained"],
)
def test_what_does_not_keep_up_is_told_with_the_reason(step, growth, reason):
    step = made(**step)
    fine, why = step.judgement()
    assert not fine and reason in why
    assert growth is None or step.growth == pytest.approx(growth, rel=0.05)


@pytest.mark.parametrize(
    ("capacity", "low", "high"),
    [
        (0.0, 10, 20),
        (37.0, 32, 37),
        (1_500.0, 1_300, 1_500),
        (64_000.0, 55_600, 64_000),
        (90_000.0, 78_200, 90_000),
        (1e9, 500_000, 1_000_000),
    ],
)
def test_a_search_comes_near_the_highest_rate_and_has_an_end(capacity, low, high):
    tried = {}
    while (rate := next_rate(tried, 1_000.0)) is not None:
        tried[rate] = rate <= capacity
    assert low <= max((rate for rate, fine in tried.items() if fine), default=min(tried)) <= high
    assert len(tried) <= 16


@pytest.mark.parametrize(
    ("tried", "expected"),
    [
        ({1.0: True, 2.0: False}, 1.5),
        ({0.3: True, 0.6: False}, 0.45),
        ({5.0: True, 6.0: False}, 5.5),
        ({100.0: True, 201.0: False}, 150.0),
    ],
)
def test_a_search_tries_no_rate_twice_and_none_of_no_messages(tried, expected):
    assert next_rate(tried, min(tried)) == pytest.approx(expected)


def two_tables(folder):
    """The load of two tables, shop.a and shop.b."""
    (folder / "two.sql").write_text(
        "".join(f"CREATE TABLE {name} (id INT PRIMARY KEY, v TEXT);" for name in "ab"), "utf-8"
    )
    schema = read_schema([str(folder / "two.sql")], "mysql", "shop")
    return TableLoad(Values(schema), schema.tables)


def test_messages_are_sent_to_the_topics_of_their_tables_and_a_partition_is_told_as_its_lane(
    tmp_path,
):
    fmt = get("debezium-json")
    own = two_tables(tmp_path)
    ends = _topics.find_routes(fmt, fmt.profiles[0], 1, 2, own, "{topic}")
    assert ends == ("cdc.shop.a", "cdc.shop.b")
    assert _topics.find_routes(fmt, fmt.profiles[0], 1, 2) == ("",)
    routes = Routes({end: f"run.{end}" for end in ends}, "{topic}", 2)
    source = ProducerSource(fmt, fmt.profiles[0], 1, Layout(partitions=2), 1, 10, own, routes)
    sent = [next(source) for _ in range(20)]
    assert {message.topic for message in sent} == {"run.cdc.shop.a", "run.cdc.shop.b"}
    assert routes.lanes[sent[0].topic, 0] == 0 and sorted(routes.lanes.values()) == [0, 1, 2, 3]
    topics = _topics.Topics("h:1", routes.names, 2, used=True, starting={})
    assert topics.source["lanes"] == {
        f"{topic}/{number}": lane for (topic, number), lane in routes.lanes.items()
    }
    assert topics.source["kafka"]["kafka.isolation.level"] == "read_committed"
    tally = Tally(Numbered(), 1, {"thin": 1, "base": BEGAN, "width": 1.0}, 1, routes.lanes)
    tally(Delivered(0, 1, 7, BEGAN, BEGAN, "run.cdc.shop.b"))
    figures = tally.figures(published(1))
    assert (figures["samples"], figures["ends"], figures["lags"]) == (
        [(3, 7, 0, 0)],
        [(3, 8)],
        [(3, 7, BEGAN, 1)],
    )


def test_messages_from_a_later_unit_on_have_the_topics_of_their_table():
    fmt, layout = get("ticdc-canal-json"), Layout(partitions=2)
    profile = fmt.profiles[-1]
    ends = _topics.find_routes(fmt, profile, 1, 2, pattern="{table}")
    routes = Routes({end: f"run.{end}" for end in ends}, "{table}", 2)
    source = ProducerSource(fmt, profile, 1, layout, 1, 10, None, routes)
    sent = [next(source) for _ in range(8)]
    source.begin(3)
    assert [next(source) for _ in range(5)] == sent[3:]
    assert {message.topic for message in sent} == {f"run.{end}" for end in ends}


def test_of_offsets_with_gaps_the_records_count_and_the_last_one_is_waited_for():
    assert Batch(0, 0.0, 1.0, {0: (1, 11)}, 4, 4, 0, {}, read=4).messages_read == 4
    assert Batch(0, 0.0, 1.0, {0: (1, 11)}, 4, 4, 0, {}).messages_read == 10
    lane = Lane(None, "h:1", LoadResult(replace(SMALL, used=True), "1.0", 1), print)
    lane.producer = SimpleNamespace(ends={0: 8, 1: 3}, acked=2)
    lane._reached = {0: 9, 1: 2}
    assert not lane.caught_up
    lane._reached[1] = 3
    assert lane.caught_up


TASK = Task(
    FORMAT,
    "v7.1.6",
    1,
    2,
    2,
    "127.0.0.1:1",
    {},
    "p",
    {"": "t"},
    "",
    False,
    every=4,
    pool=10,
    encoded_tables="",
    producers=2,
)


class Numbered:
    """A source whose message n is unit n; every third owes no row."""

    drawn = 0

    def identify(self, number):
        return (number, 0), number % 3 != 2


class Answering:
    """An engine whose session runs two producers at once."""

    pid = 1

    def __init__(self, *commands):
        self.asked, self._commands = [], iter(commands)

    def ask_service(self, service, request, _limit_s):
        assert service == "produce"
        self.asked.append(request)
        return done(next(self._commands) if request["do"] == "status" else {})


def published(count, **more):
    latencies = Histogram()
    for _ in range(count):
        latencies.add(0.25)
    return Published(
        count, count, 0, 2.0, count / 2.0, 250.0, 250.0, 250.0, latencies=latencies, **more
    )


def test_what_several_producers_count_is_added_up_and_their_lags_are_a_sample(monkeypatch):
    monkeypatch.setattr("conformance.load._producers.LAGS", 5)
    engine = Answering({"done": False}, "later")
    with Executors(engine, TASK) as producers:
        assert producers.take() == [{"ready": True}]
        producers.begin_command({"count": 20, "rate": 10.0, "duration_s": 3.0})
        command = engine.asked[-1]
        assert (command["do"], command["first"], command["thin"], command["width"]) == (
            "begin",
            0,
            4,
            0.1,
        )
        tallies = [Tally(Numbered(), 2, command, 10) for _ in range(2)]
        for number in range(20):
            at = command["base"] + number * 0.1 + 0.05
            tallies[number % 2](Delivered(number // 2, 0, 50 + number, at - 0.02, at))
        assert producers.take() == []
        figures = json.loads(
            json.dumps([{**tally.figures(published(10)), "cpu_s": 0.25} for tally in tallies])
        )
        engine._commands = iter([{"done": True, "figures": figures}])
        *events, sent, done = producers.take()
        engine._commands = iter(
            [{"done": True, "figures": [tallies[0].figures(published(10), "no broker")]}]
        )
        producers.begin_command({"count": 8})
        assert engine.asked[-1]["first"] == 20
        with pytest.raises(HarnessError, match="no broker"):
            producers.take()
    owed = [50 + number for number in range(20) if number // 2 % 3 != 2]
    assert [done["done"][name] for name in ("sent", "acked", "failed", "cpu_s")] == [20, 20, 0, 0.5]
    assert (producers.acked, producers.owed, producers.places) == (
        20,
        len(owed),
        sum(place_hash(0, offset) for offset in owed),
    )
    assert producers.samples == {(0, 50): (0, 0), (0, 60): (5, 0)}
    assert done["done"]["max_ms"] == pytest.approx(done["done"]["p50_ms"], rel=0.01) == 250.0
    assert [acked for event in events for _, acked in event.values()] == list(range(21))
    assert [offset for _, offset, _, weight in sorted(sent["sent"]) if weight == 4] == [
        50,
        51,
        58,
        59,
        66,
        67,
    ]


def test_what_ends_the_tasks_is_an_error_of_the_environment_and_not_the_decoders():
    with Executors(Answering(DecodeRaised("executor lost")), TASK) as producers:
        producers.take()
        producers.begin_command({"count": 8})
        with pytest.raises(HarnessError, match="publishing on executors failed: executor lost"):
            producers.take()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            "TimeoutException: Timeout of 60000ms expired before the position for partition a-0",
            HarnessError,
        ),
        ("org.apache.kafka.common.errors.UnknownTopicOrPartitionException: no topic", HarnessError),
        ("TimeoutError: the decoder's own service did not answer", loading.DecoderFailed),
    ],
)
def test_a_topic_that_is_gone_is_an_error_of_the_environment_and_not_the_decoders(error, expected):
    class Ended:
        def ask_service(self, _service, _request, _limit_s):
            raise DecodeRaised(error)

    lane = object.__new__(Lane)
    lane._engine = Ended()
    with pytest.raises(expected, match=re.escape(error)):
        lane._request("look")


def test_a_query_that_does_not_start_in_time_is_no_verdict():
    class Slow:
        def ask_service(self, _service, _request, _limit_s):
            raise AnswerTimeout("did not end within 120 s")

    lane = object.__new__(Lane)
    lane._engine = Slow()
    with pytest.raises(HarnessError, match="did not start: no verdict; did not end within 120 s"):
        lane._request("start")
    with pytest.raises(loading.DecoderFailed):
        lane._request("status")


@pytest.mark.parametrize(
    ("batches", "expected"), [([], HarnessError), (["a batch"], loading.DecoderFailed)]
)
def test_a_cold_start_that_takes_too_long_is_no_verdict_and_a_slow_decoder_is_one(
    monkeypatch, batches, expected
):
    monkeypatch.setattr(Lane, "decoded", 0)
    lane = object.__new__(Lane)
    lane.settings, lane.batches, lane._doing = LoadSettings("x"), batches, "Initializing sources"
    lane._note = lambda _line: None
    lane.producer = SimpleNamespace(begin_command=lambda _command: None, acked=500)
    lane._await_producer = lambda *_waiting: None
    lane.drain = lambda _limit_s: None
    with pytest.raises(expected, match=r"500 of 500 messages wait; Spark says: Initializing"):
        lane.warm_up()


def test_sampled_times_are_those_of_the_messages_in_the_range_whoever_sent_them():
    table = SentSample()
    for offset, at in ((10, 100.0), (14, 99.0), (12, 101.0)):
        table.add(0, offset, at, 3)
    assert table.times_within({0: (10, 14), 1: (0, 99)}) == [(100.0, 3.0), (101.0, 3.0)]
    assert table.times_within({0: (14, 15)}) == [(99.0, 3.0)]


def test_what_a_producer_is_doing_is_told_while_it_does_it(monkeypatch, eventually):
    """Each message is told once: what is counted while others are published, and the rest at the
    end.
    """
    going, over = threading.Event(), threading.Event()

    def publish(task, source, command, *, stop, tally):
        for number in range(9):
            at = command["base"] - 1.0 + number * 0.004
            tally(Delivered(number, 0, 50 + number, at, at + 0.001))
        going.set()
        over.wait(60)
        tally(Delivered(9, 1, 7, command["base"], command["base"] + 0.01))
        return tally.figures(published(10))

    monkeypatch.setattr(_producers, "publish", publish)
    monkeypatch.setattr(Task, "source", lambda _task: Numbered())
    with Producer(replace(TASK, producers=1)) as producer:
        eventually(lambda: producer.take() == [{"ready": True}])
        producer.begin_command({"count": 10})
        assert going.wait(60)
        *ticks, sent = producer.take()
        assert [tick["tick"][1] for tick in ticks] == [0, 9]
        assert [offset for _, offset, _, _ in sent["sent"]] == list(range(50, 59))
        over.set()
        events = []
        eventually(
            lambda: events.extend(producer.take()) or any("done" in event for event in events)
        )
    assert [tick["tick"][1] for tick in events if "tick" in tick] == [10]
    assert [sent for event in events for sent in event.get("sent", ())] == [(1, 7, ANY, 1)]
    owed = [50 + n for n in range(9) if n % 3 != 2] + [7 * 1]
    assert (producer.acked, producer.owed, producer.ends) == (10, len(owed), {0: 59, 1: 8})
    assert producer.samples == {(0, 52): (2, 0), (0, 56): (6, 0)}


def test_a_producer_that_is_closed_ends_what_publishes_and_what_aborts(monkeypatch, eventually):
    going, ended = threading.Event(), []

    def publish(task, source, command, *, stop, tally):
        going.set()
        while not stop():
            time.sleep(0.001)
        ended.append("publishing")
        return tally.figures(published(0))

    def aborting(_cluster, _routes, stopping):
        stopping.wait(60)
        ended.append("aborting")

    monkeypatch.setattr(_producers, "publish", publish)
    monkeypatch.setattr(_producers, "_abort_transactions", aborting)
    monkeypatch.setattr(Task, "source", lambda _task: Numbered())
    with Producer(replace(TASK, producers=1, used=True)) as producer:
        eventually(lambda: producer.take() == [{"ready": True}])
        producer.begin_command({"count": 10})
        assert going.wait(60) and not ended
    assert sorted(ended) == ["aborting", "publishing"]


def test_what_is_counted_late_is_told_with_the_last_interval():
    producer = Executors(Answering("opened"), TASK)
    producer._command_with_account({"count": 10})
    *early, _ = producer._progress_events({0: 2, 1: 3}, [], producer._base, producer._base + 9)
    *late, _ = producer._progress_events({0: 3, 1: 3, 5: 4}, [], producer._base, producer._base + 9)
    assert [event["tick"][1] for event in early] == [0, 2, 5]
    assert [event["tick"][1] for event in late] == [6, 10]


def test_a_producer_without_a_broker_fails(monkeypatch, eventually):
    with Producer(replace(TASK, producers=1, names={"": "none"})) as producer:
        seen = []
        eventually(
            lambda: seen.extend(producer.take()) or any("ready" in event for event in seen), 60
        )
        monkeypatch.setitem(publish_paced.__kwdefaults__, "timeout_s", 1)
        producer.begin_command({"count": 1})
        with pytest.raises(HarnessError, match=r"no Kafka broker answers at 127\.0\.0\.1:1"):
            eventually(lambda: producer.take() == ["never"])


@pytest.fixture
def outcome():
    """A load that went well."""
    good = LoadResult(
        LoadSettings(FORMAT, 1_000.0), "v7.1.6", 2, "embedded 127.0.0.1:9092", "stream"
    )
    good.steps.append(made(1_000, 100_000))
    good.kinds, good.owed, good.messages, good.accounted = Counter(ROW=10_000), 10_000, 10_000, True
    good.sample.messages = good.sample.verdicts[Verdict.PASS] = 400
    return good


def sampled(rows):
    fmt = get(FORMAT)
    profile = fmt.profile("v7.1.6")
    outcome = LoadResult(LoadSettings(FORMAT), profile.name, 2)
    return loading.judge_sample(
        fmt, profile, outcome, Capabilities(), {(0, 8): (3, 0), (1, 4): (5, 0)}, rows
    )


def test_a_sampled_message_without_rows_breaks_a_must():
    sample = sampled({})
    assert (sample.messages, sample.breaks_must, sum(sample.findings.values())) == (2, True, 2)
    assert sample.failures[0].finding.actual == "no output row"
    assert "load/1/" in sample.failures[0].finding.case


SLOW, SHORT = {"steps": [made(1_000, 600)]}, made(1_000, 100_000)
SHORT.rate = 5_000


@pytest.mark.parametrize(
    ("changes", "verdict", "words", "code"),
    [
        ({}, "keeps up", "keeps up at 1,000/s", 0),
        (
            {"messages": 9_990},
            "wrong",
            "keeps up at 1,000/s, but 10 of 10,000 messages have no row",
            1,
        ),
        (
            {"messages": 20_000},
            "wrong",
            "keeps up at 1,000/s, but 10,000 messages have two rows numbered 0",
            1,
        ),
        (
            {"places": 5},
            "wrong",
            "keeps up at 1,000/s, but some messages have no row and others have two",
            1,
        ),
        (
            {"kinds": Counter(ROW=9_997, CORRUPT=3)},
            "wrong",
            "keeps up at 1,000/s, but 3 are read as CORRUPT",
            1,
        ),
        (
            {"steps": [SHORT]},
            "not offered",
            "keeps up at 1,000/s, all that the producer offered of 5,000/s",
            3,
        ),
        (SLOW, "falls behind", "falls behind at 1,000/s: backlog grows by ", 1),
        (
            {**SLOW, "failed": "ValueError: no\nmore"},
            "failed",
            "the decoder fails at 1,000/s: ValueError: no",
            1,
        ),
        (
            {**SLOW, "failed": "no", "interrupted": True},
            "interrupted",
            "interrupted at 1,000/s",
            130,
        ),
    ],
)
def test_the_headline_and_the_exit_code_say_what_it_came_to(outcome, changes, verdict, words, code):
    for name, value in changes.items():
        setattr(outcome, name, value)
    word, text = report.headline(outcome)
    assert (word, outcome.exit_code) == (verdict, code)
    assert text.startswith(words) if verdict == "falls behind" else text == words


def test_a_run_that_ends_before_it_falls_behind_says_so(outcome):
    outcome.steps[0].batches = [
        replace(batch, ended=batch.began + batch.messages_read / 800)
        for batch in outcome.steps[0].batches
    ]
    said = "keeps up at 1,000/s; the run is too short to be sure, since a batch decodes 800/s while it runs"
    assert report.headline(outcome) == ("keeps up", said)


def test_what_executors_have_not_told_is_not_known(outcome):
    outcome.settings = replace(outcome.settings, producers=4)
    outcome.steps[0].ticks, outcome.steps[0].published, outcome.interrupted = [], {}, True
    figures = json.loads(json.dumps(report.record(outcome)))["figures"]
    names = ("sent", "acknowledged", "not_delivered", "offered_per_second", "backlog_max")
    assert [figures[name] for name in names] == [None] * 5
    assert figures["decoded"] == 10_000
    text = report.markdown(outcome)
    assert (
        "| messages | an unknown number acknowledged, an unknown number not delivered, 10,000 decoded |"
        in text
    )
    assert "| backlog | not known; the rest in 1.0 s |" in text
    assert "4 on executors publish" in text


def test_a_search_tells_the_highest_rate_that_keeps_up(outcome):
    outcome.settings = replace(outcome.settings, search=True)
    outcome.steps += [made(2_000, 100_000), made(4_000, 2_500), made(3_000, 2_500)]
    assert report.headline(outcome) == ("keeps up", "keeps up at up to 2,000/s")
    record = report.record(outcome)
    search = [(step["rate"], step["keeps_up"]) for step in record["search"]]
    assert search == [(1000, True), (2000, True), (4000, False), (3000, False)]
    assert record["rate"] == 2_000
    outcome.steps = [made(1_000, 10), made(500, 10)]
    assert report.headline(outcome)[1] == "falls behind at every rate tried, down to 500/s"
    assert outcome.exit_code == 1


def test_the_record_has_the_figures_and_is_json(outcome, tmp_path):
    report.write(outcome, tmp_path / "new" / "folder")
    record = json.loads((tmp_path / "new/folder/load.json").read_text("utf-8"))
    assert (tmp_path / "new/folder/load.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    figures, lag, timeline = record["figures"], record["figures"]["lag_s"], record["timeline"]
    assert (record["verdict"], figures["decoded"], figures["batch_s"]["max"]) == (
        "keeps up",
        10_000,
        0.5,
    )
    assert lag["p50"] == pytest.approx(0.75, abs=0.05)
    assert lag["p50"] <= lag["p95"] <= lag["p99"] <= lag["max"]
    assert figures["decoded_per_busy_second"] == 1_000
    assert (sum(point["in"] for point in timeline), timeline[-1]["backlog"]) == (10_000, 0)
    assert sum(point["out"] for point in timeline) == pytest.approx(10_000, rel=0.01)


def test_of_a_long_load_few_points_are_drawn_and_the_longest_batch_stays(outcome):
    step = made(100, 10_000, seconds=1_000)
    longest = step.batches[77] = replace(step.batches[77], began=step.batches[77].began - 3)
    outcome.steps = [step]
    record = report.record(outcome)
    assert len(record["timeline"]) <= report.POINTS
    assert len(record["batches"]) <= report.POINTS
    assert max(batch["seconds"] for batch in record["batches"]) == longest.seconds == 3.5


HOSTILE = "</title><script>alert('x')</script>\x1b[2J|`"


def test_the_page_is_one_file_without_scripts_and_escapes_what_it_is_told(outcome):
    failure = sampled({}).failures[0]
    outcome.sample.failures = [
        replace(failure, finding=replace(failure.finding, actual=HOSTILE, expected=HOSTILE))
    ]
    outcome.settings, outcome.failed = replace(outcome.settings, decoder=HOSTILE), HOSTILE
    page = report.html(report.record(outcome))
    assert not any(
        word in page
        for word in ("<script", "src=", "href=", "url(", "@import", "<link", "javascript:")
    )
    assert (page.count("&lt;script&gt;") >= 4, page.count("<svg")) == (True, 4)
    assert "prefers-color-scheme: dark" in page and "width=device-width" in page
    outcome.steps, outcome.interrupted = [], True
    page = report.html(report.record(outcome))
    assert "interrupted before the load began" in page and "<svg" not in page


def test_a_terminal_gets_findings_figures_and_the_verdict_last(outcome):
    outcome.sample, outcome.settings = sampled({}), replace(outcome.settings, decoder=HOSTILE)
    text = shown(report.render(outcome))
    assert "no output row" in text and "every one, once" in text and "\x1b[2J" not in text
    assert text.strip().endswith("keeps up at 1,000/s, but 2 findings in 2 sampled messages")


def test_markdown_has_the_same_figures(outcome):
    outcome.settings = replace(outcome.settings, decoder=HOSTILE)
    text = report.markdown(outcome)
    assert text.startswith("**ticdc-canal-json: keeps up at 1,000/s**")
    assert "| offsets accounted for | every one, once |" in text
    assert "<script" not in text


@pytest.mark.parametrize(
    ("name", "profile", "level"),
    [(FORMAT, "v7.1.6", 2), ("debezium-json", "3.5.0.Final", 2), (FORMAT, "", 1)],
)
def test_what_the_source_owes_is_counted_for_each_query_without_the_source(
    name, profile, level, tmp_path
):
    """Of a plain profile, of one with messages that owe no typed row, and of two tables."""
    own, fmt = ("" if profile else two_tables(tmp_path)), get(name)
    chosen = fmt.profile(profile) if profile else fmt.profiles[-1]
    feed = Feed(
        name,
        chosen.name,
        3,
        Layout(partitions=2),
        LoadOptions(),
        "",
        "",
        (),
        False,
        own.pickled if own else b"",
    )
    table = own.table.name if own else orders.load_table(chosen.source).name
    began, acked = [], []
    fed = Fed(feed, level, table, 8, [], began.append)
    for count in (30, 80):
        fed.begin_command({"count": count})
        ((done,),) = [event.values() for event in fed.take()]
        assert fed.take() == []
        acked.append(done["acked"])
    fed.settle()
    scenarios = [
        own.scenario(3, unit) if own else orders.load_scenario(fmt, chosen, 3, unit)
        for unit in range(80)
    ]
    first_units, units = (options["count"] for options in began)
    messages = [
        (unit, w)
        for unit, scenario in enumerate(scenarios[:units])
        for w in fmt.write(scenario.history, chosen, Layout(partitions=2))
    ]
    owed = [
        (u, w)
        for u, w in messages
        if level == 1 or any(c.kind is Kind.ROW and c.table == table for c in w.changes)
    ]
    assert fed.owed == len(owed) + sum(unit < first_units for unit, _ in owed)
    assert acked == [sum(unit < first_units for unit, _ in messages), len(messages)]
    assert (fed.acked, acked[0] >= 30, acked[1] >= 80) == (sum(acked), True, True)
    placed = {(w.message.partition, w.message.value) for _, w in messages}
    made = {offset: (m.partition, m.value) for offset, m, _ in feed.messages(0, units)}
    assert set(made.values()) == placed
    assert fed.samples
    for (partition, offset), (unit, place) in fed.samples.items():
        assert (offset % 8, offset) == (0, unit * feed.width + place)
        written = [w.message for number, w in messages if number == unit][place]
        assert made[offset] == (partition, written.value) == (written.partition, written.value)


def test_the_schedule_of_the_source_begins_where_its_first_batch_says(monkeypatch):
    began, batches = [], []
    feed = Feed(FORMAT, "v7.1.6", 1, Layout(partitions=2), LoadOptions(), "", "", (), False, b"")
    fed = Fed(feed, 1, "orders", 8, batches, began.append)
    fed.begin_command({"rate": 100.0, "count": 1_000})
    assert (began, fed.take()) == ([{"count": 1_000, "batch": 1_000, "rate": 100.0}], [])
    batches.append(Batch(0, BEGAN + 1, BEGAN + 2, {0: (0, 100)}, 100, 100, 0, {}))
    monkeypatch.setattr(time, "time", lambda: BEGAN + 4.0)
    assert fed.take() == [
        {"tick": [BEGAN + 4.0, 400]},
        {"sent": [(0, unit, pytest.approx(BEGAN + unit / 100), 1) for unit in range(1_000)]},
    ]
    monkeypatch.setattr(time, "time", lambda: BEGAN + 30.0)
    last, done = fed.take()
    assert (last["tick"], done["done"]["acked"], fed.acked) == ([BEGAN + 10.0, 1_000], 1_000, 1_000)


def test_counts_and_rates_of_the_source_are_in_messages_where_a_statement_gives_several(
    monkeypatch,
):
    began, batches, options = [], [], LoadOptions()
    feed = Feed(
        "flink-canal-json", "1.20.3", 1, Layout(partitions=2), options, "", "", (), False, b""
    )
    offsets = [fed.offset for fed in feed.messages(0, 1_000)]
    sizes = Counter(offset // feed.width for offset in offsets)
    units = next(n for n in range(1_000) if sum(sizes[unit] for unit in range(n)) >= 1_000)
    count = sum(sizes[unit] for unit in range(units))
    fed = Fed(feed, 1, "orders", 8, batches, began.append)
    fed.begin_command({"count": 1_000, "rate": 100.0})
    (source_options,) = began
    unit_rate = source_options["rate"]
    assert source_options == {"count": units, "batch": units, "rate": unit_rate}
    assert (units < 1_000, units / unit_rate) == (True, pytest.approx(count / 100))
    lane = Lane(
        None, None, LoadResult(replace(SMALL, format="flink-canal-json"), "1.20.3", 1), print
    )
    lane.producer = fed
    batch = {"number": 0, "began": BEGAN + 1, "ended": BEGAN + 2, "offsets": {"0": [0, 100]}}
    figures = {"rows": 9, "messages": 9, "places": 0, "kinds": {}, "read": 9}
    answer = {"doing": "", "batches": [{**batch, **figures}], "failure": None, "active": True}
    monkeypatch.setattr(lane, "_request", lambda _what: answer)
    lane.poll()
    assert lane.decoded == sum(sizes[unit] for unit in range(100)) > 100
    batches += lane.batches
    monkeypatch.setattr(time, "time", lambda: BEGAN + 60.0)
    tick, sent, done = fed.take()
    assert tick["tick"][1] == done["done"]["acked"] == count == fed.acked
    assert done["done"]["per_second"] == pytest.approx(100)
    assert [weight for *_, weight in sent["sent"]] == [sizes[unit] for unit in range(units)]


@pytest.mark.parametrize(
    "option",
    [
        ("--producers", "2"),
        ("--used-topics",),
        ("--topic-pattern", "{topic}"),
        ("--log-append-time",),
    ],
)
def test_without_a_broker_there_are_no_topics_to_choose(option):
    error = performed("load", FORMAT, "--broker", "none", *option).exception
    assert isinstance(error, UsageError)
    assert str(error) == f"{option[0]} needs a broker; --broker none has no topics"


@pytest.mark.parametrize(
    ("more", "cores", "wait"), [((), 2, None), (("--producers", "3"), 5, "0s")]
)
def test_producers_get_cores_of_their_own_and_no_task_waits_for_theirs(
    monkeypatch, more, cores, wait
):
    given = {}

    def started(**options):
        given.update(options)
        raise HarnessError("enough")

    monkeypatch.setattr("conformance.engines.child.ChildEngine", started)
    assert str(performed("load", FORMAT, *more).exception) == "enough"
    assert (given["cores"], given["conf"].get("spark.locality.wait")) == (cores, wait)


def test_ctrl_c_leaves_the_lane_keeps_what_was_measured_and_ends_the_engine(
    fake, session_processes, monkeypatch, tmp_path
):
    left = []

    class Interrupted(loading.Lane):
        def __enter__(self):
            return self

        def __exit__(self, *_):
            left.append(self)

        def warm_up(self):
            self.outcome.kinds["ROW"] += 5

        def hold_rate(self, rate, duration_s):
            self.outcome.steps.append(made(1_000, 100_000))
            raise KeyboardInterrupt

    engine = fake[0]()
    monkeypatch.setattr(loading, "Lane", Interrupted)
    monkeypatch.setattr("conformance.engines.child.ChildEngine", lambda **_: engine)
    words = (
        "--level",
        "changes",
        "--broker",
        "none",
        "--format",
        "json",
        "--report",
        str(tmp_path / "out"),
    )
    done = performed("load", FORMAT, *words)
    record = json.loads(done.stdout)
    assert (len(left), done.exit_code, record["verdict"], record["exit_code"]) == (
        1,
        130,
        "interrupted",
        130,
    )
    assert (left[0].outcome.kinds["ROW"], record["figures"]["decoded"]) == (5, 10_000)
    assert report.headline(left[0].outcome) == ("interrupted", "interrupted at 1,000/s")
    assert (
        "all started processes have been stopped" in done.stderr
        and (tmp_path / "out" / "load.html").exists()
    )
    assert session_processes(fake[1]()[0][0]) == []


# The format whose decoder Spark plans fastest.
SMALL = LoadSettings("huawei-cdl-json", rate=800.0, duration_s=1.0, profile="1.0", warm_up=(100,))

DECODERS = """
import time
from pyspark.sql import functions as F
from spark_checks.decoders import huawei_cdl_json as ours

def decode_rows(records, table, deployment):
    return ours.decode_rows(records, table, deployment=deployment)

def decode_rows_by_batch(records, table, deployment):
    if records.isStreaming:
        records.count()
    return ours.decode_rows(records, table, deployment=deployment)

def decode_rows_losing(records, table, deployment):
    return decode_rows(records, table, deployment).where("offset % 50 <> 7").withColumn("op", F.lit("DELETE"))

def decode_rows_raising(records, table, deployment):
    rows = decode_rows(records, table, deployment)
    return rows.withColumn("op", F.expr("IF(offset > 150, raise_error('cannot go on'), op)"))

@F.udf("string")
def late(op):
    time.sleep(0.05)
    return op

def decode_rows_slow(records, table, deployment):
    return decode_rows(records, table, deployment).withColumn("op", late.asNondeterministic()("op"))

def decode_rows_bare(records, table, deployment):
    return decode_rows(records, table, deployment).drop("row", "kind")
"""


@pytest.fixture(scope="module")
def under_load(kafka, engine, tmp_path_factory):
    """A function that loads a decoder of DECODERS, or the reference, in one session; gives the
    outcome.
    """
    path = tmp_path_factory.mktemp("decoders") / "mine.py"
    path.write_text(DECODERS, "utf-8")
    return lambda name=None, at=None, **changed: loading.run_load(
        replace(SMALL, decoder=name and f"{path}:{name}", **changed), engine, at or kafka.bootstrap
    )


def topics(kafka):
    from confluent_kafka.admin import AdminClient

    metadata = AdminClient({"bootstrap.servers": kafka.bootstrap}).list_topics(timeout=60)
    return [name for name in metadata.topics if name.startswith("cdc-conformance")]


def good(outcome, *verdicts):
    assert (outcome.failed, outcome.accounted, outcome.missing, outcome.complete) == (
        "",
        True,
        0,
        True,
    )
    assert (
        set(outcome.sample.verdicts) <= set(verdicts or (Verdict.PASS,))
        and outcome.sample.messages > 0
    )


def all_arrived(outcome):
    """Those of the warm-up, too. A busy machine sends fewer than 800 in the second."""
    (step,) = outcome.steps
    acked = step.published["acked"]
    assert outcome.owed == outcome.messages == outcome.kinds["ROW"] == 100 + acked > 100
    assert (step.published["sent"], step.published["failed"], step.ticks[-1][1]) == (
        acked,
        0,
        acked,
    )
    assert sum(batch.messages_read for batch in step.batches) == acked
    assert sum(weight for _, weight in step.lags()) == pytest.approx(acked)


class TestWithoutABroker:
    def test_the_source_is_accounted_for_and_its_sample_passes(self, engine):
        outcome = loading.run_load(SMALL, engine, None)
        good(outcome)
        assert (outcome.mode, outcome.level, outcome.broker) == ("stream", 2, "")
        all_arrived(outcome)

    def test_a_burst_that_is_not_decoded_is_told_with_what_spark_is_doing(
        self, engine, monkeypatch
    ):
        def drain_one_batch(lane, *_):
            while not lane.batches:
                lane.poll()
                time.sleep(0.1)

        monkeypatch.setattr(loading.Lane, "drain", drain_one_batch)
        waiting = (
            re.escape("warming up did not end within 120 s: ")
            + r"\d+ of 100 messages wait; Spark says: \w+"
        )
        assert re.match(waiting, loading.run_load(SMALL, engine, None).failed)

    def test_lost_offsets_are_counted_and_wrong_rows_are_found(self, engine, tmp_path):
        path = tmp_path / "mine.py"
        path.write_text(DECODERS, "utf-8")
        outcome = loading.run_load(
            replace(SMALL, decoder=f"{path}:decode_rows_losing"), engine, None
        )
        assert (outcome.accounted, outcome.complete, outcome.exit_code) == (True, False, 1)
        assert outcome.missing == outcome.owed - outcome.messages > 10
        assert outcome.sample.breaks_must and "op" in {
            failure.finding.path for failure in outcome.sample.failures
        }


class TestUnderLoad:
    @pytest.fixture(autouse=True)
    def no_topic_stays(self, kafka):
        yield
        assert topics(kafka) == []

    def test_a_topic_that_is_there_is_read_from_its_end_on(self, under_load, kafka):
        create_topic(kafka.bootstrap, "loaded", 2)
        there = [Message("", number % 2, None, b"not ours", timestamp_ms=1) for number in range(31)]
        publish(kafka.bootstrap, "loaded", there)
        outcome = under_load(
            at=Cluster(kafka.bootstrap, {"compression.type": "zstd"}, topic="loaded")
        )
        good(outcome)
        all_arrived(outcome)
        assert records_in(kafka.bootstrap, "loaded") == 31 + outcome.owed
        delete_topics(kafka.bootstrap, ["loaded"])

    @pytest.mark.parametrize(
        ("producers", "mode", "name"), [(1, "stream", None), (None, "batches", "by_batch")]
    )
    def test_every_offset_is_accounted_for_and_the_sample_passes(
        self, under_load, producers, mode, name
    ):
        """By a producer beside the session and by one on an executor; with a decoder that no stream
        takes, for each batch.
        """
        outcome = under_load(name and f"decode_rows_{name}", producers=producers)
        good(outcome)
        assert (outcome.mode, outcome.level) == (mode, 2)
        all_arrived(outcome)
        assert outcome.owed / 3 <= outcome.sample.messages <= 500
        step = outcome.steps[0]
        assert step.drained_s is not None
        assert quantile(step.lags(), 1.0) < 60

    @pytest.mark.parametrize(
        ("name", "options", "error"),
        [
            (
                None,
                {"producers": 2},
                "--producers 2: the session runs 2 tasks at once; the decoder needs one",
            ),
            ("decode_rows_bare", {}, "does not return row, kind"),
            ("decode_rows", {"level": 1}, "has no level 1"),
        ],
    )
    def test_what_cannot_be_loaded_is_a_mistake_of_its_author(
        self, under_load, name, options, error
    ):
        with pytest.raises(UsageError, match=error):
            under_load(name, **options)

    def test_only_what_is_committed_is_owed_in_each_of_several_topics(self, under_load, tmp_path):
        asked = {
            "tables": two_tables(tmp_path),
            "pattern": "{topic}",
            "used": True,
            "append_time": True,
            "level": 1,
        }
        outcome = under_load(format="debezium-json", profile="3.5.0.Final", **asked)
        good(outcome, Verdict.PASS, Verdict.INFORMATIONAL)
        assert outcome.owed == outcome.messages > 100
        assert outcome.corrupt == 0

    def test_a_decoder_that_raises_is_a_verdict(self, under_load):
        outcome = under_load("decode_rows_raising")
        assert "cannot go on" in outcome.failed
        assert (outcome.exit_code, report.headline(outcome)[0]) == (1, "failed")

    def test_a_decoder_slower_than_the_producer_falls_behind_in_bounded_time(
        self, under_load, monkeypatch
    ):
        monkeypatch.setattr(loading, "DRAIN_S", 2.0)
        began = time.monotonic()
        outcome = under_load("decode_rows_slow", warm_up=(), rate=400.0, duration_s=2.0)
        assert time.monotonic() - began < 90
        assert (
            outcome.failed,
            outcome.steps[0].judgement()[0],
            outcome.accounted,
            outcome.exit_code,
        ) == ("", False, False, 1)
