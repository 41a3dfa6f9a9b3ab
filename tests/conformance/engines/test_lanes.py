"""Several calls under way in one child, whose fault it is when the child is lost, and the end of a
session of the user's.
"""

import io
import json
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from conformance.engines import live
from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, RecordSource, Request
from conformance.engines.specs import DECODERS, LIAR
from generators.errors import HarnessError
from generators.model import Deployment
from spark_checks.services import worker

RANGES = (("cdc", 0, 0, 0),)
LATE = f"{DECODERS}.late"
RAISED = f"{DECODERS}.raised"
CONF = {"spark.sql.ansi.enabled": "false"}


def asking(decoder, **more):
    return replace(Request("h", RANGES, decoder, 1, Deployment()), **more)


def outcome(future):
    """The error that a request came to, all of those here do: its type and first words."""
    error = future.exception(20)
    return type(error), str(error).splitlines()[0].split(" Spark")[0]


SAID_SO, SAID_LATE = (DecodeRaised, "told so"), (DecodeRaised, "late")


@pytest.mark.parametrize(
    "second", [asking(RAISED), asking(f"{LIAR}x/y.raised"), asking(RAISED, level=2)]
)
def test_calls_of_our_own_decoders_go_together(fake, second):
    engine = fake[0]()
    first, other = engine.decode(asking(LATE)), engine.decode(second)
    assert (outcome(first), outcome(other)) == (SAID_LATE, SAID_SO)


def test_calls_go_together_under_settings_that_are_equal(fake):
    engine = fake[0]()
    assert outcome(engine.decode(asking(RAISED))) == SAID_SO
    first, other = (engine.decode(asking(decoder, conf=CONF)) for decoder in (LATE, RAISED))
    assert (outcome(first), outcome(other)) == (SAID_LATE, SAID_SO)


def test_other_records_are_read_beside_a_call(fake):
    engine = fake[0]()
    first = engine.decode(asking(LATE))
    assert engine.keep_records("other", RecordSource(RANGES, parquet="p")).result(60) == 3
    assert outcome(first) == SAID_LATE


@pytest.mark.parametrize(
    "second", [asking("mine.raised"), asking(RAISED, conf=CONF), "open the same", "load", "release"]
)
def test_what_does_not_go_together_waits(fake, second):
    make, asked = fake
    engine = make(timeout_s=0.5)
    first = engine.decode(asking(LATE))
    match second:
        case Request():
            other = engine.decode(second)
            assert (outcome(first)[0], outcome(other)) == (DecodeTimeout, SAID_SO)
        case "open the same":
            assert engine.keep_records("h", RecordSource(RANGES, parquet="p")).result(60) == 3
        case "load":
            assert engine.load("fine", "auto").result(60).levels == (1,)
        case "release":
            engine.release("h")
            assert outcome(engine.decode(asking("mine.raised"))) == SAID_SO
    assert outcome(first)[0] is DecodeTimeout
    children = list(dict.fromkeys(pid for pid, *_ in asked()))
    assert [op for pid, op, *_ in asked() if pid == children[0]] == ["start", "decode"]


def test_no_more_calls_than_queues_are_under_way(fake):
    make, asked = fake
    engine = make(timeout_s=0.5)
    futures = [engine.decode(asking(LATE)) for _ in range(3)]
    for future in futures:
        assert outcome(future)[0] is DecodeTimeout
    children = list(dict.fromkeys(pid for pid, *_ in asked()))
    # Two at once, then each of them by itself, then the third, which was never under way with
    # another.
    assert [
        sum(pid == child and op == "decode" for pid, op, *_ in asked()) for child in children
    ] == [2, 1, 1, 1]


@pytest.mark.parametrize(("word", "error"), [("exit", ChildDied), ("hang", DecodeTimeout)])
@pytest.mark.parametrize("first", [True, False])
def test_of_two_calls_the_one_that_loses_the_child_is_told_from_the_other(
    fake, session_processes, word, error, first
):
    make, asked = fake
    engine = make(timeout_s=0.5)
    assert engine.keep_records("h", RecordSource(RANGES, parquet="p")).result(60) == 3
    guilty, other = f"{DECODERS}.{word}", LATE if not first else RAISED
    futures = {
        name: engine.decode(asking(name))
        for name in ((guilty, other) if first else (other, guilty))
    }
    assert outcome(futures[guilty])[0] is error
    # `late` is never answered when it is by itself.
    assert outcome(futures[other])[0] is (DecodeRaised if first else DecodeTimeout)
    for pid in {pid for pid, *_ in asked()}:
        mine = [(op, name) for child, op, _, name in asked() if child == pid]
        assert mine[:2] == [("start", ""), ("open", "")]
    calls = [(pid, name) for pid, op, _, name in asked() if op == "decode"]
    # The child may be lost before the other call is under way; then no other can be to blame.
    together = {name for pid, name in calls if pid == calls[0][0]} == {guilty, other}
    assert 1 + together <= [name for _, name in calls].count(guilty) <= 2
    assert outcome(engine.decode(asking(RAISED))) == SAID_SO
    engine.close()
    assert session_processes(asked()[0][0]) == []


def test_closing_ends_both_calls(fake, eventually):
    make, asked = fake
    engine = make(timeout_s=600)
    engine.started.result(60)
    futures = [engine.decode(asking(LATE)) for _ in range(2)]
    eventually(lambda: len(asked()) == 3)
    engine.close()
    for future in (*futures, engine.decode(asking(LATE))):
        with pytest.raises(HarnessError, match="closed"):
            future.result(5)


@pytest.mark.parametrize("busy", [True, False])
def test_a_worker_whose_parent_is_gone_finishes_only_what_is_short(monkeypatch, busy):
    """The request has been read and not yet begun when standard input ends: a moment at which the
    worker seems idle.
    """
    killed, served, released = [], threading.Event(), threading.Event()

    def serve(requests):
        served.set()
        while (request := requests.get()) is not None:
            assert request["queue"] == 1
            released.wait(10)
            requests.task_done()

    monkeypatch.setattr(worker, "GRACE_S", 0.5)
    monkeypatch.setattr(worker.os, "killpg", lambda group, signal: killed.append(signal))
    monkeypatch.setattr(
        worker.sys, "stdin", io.StringIO(json.dumps({"id": 1, "op": "decode", "queue": 1}) + "\n")
    )
    first = worker.queue.Queue()
    if not busy:
        released.set()
    worker._dispatch_requests(first, serve)
    assert served.is_set()
    assert bool(killed) is busy
    assert first.get(timeout=1) is None
    released.set()


class Side:
    """Answers when it is interrupted."""

    def __init__(self, *_given):
        self.said, self.asked, self.interrupted = [], threading.Event(), threading.Event()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.said.append("left")

    def answer(self, _request, _limit_s):
        self.asked.set()
        assert self.interrupted.wait(20)
        return {"rows": 1}

    def interrupt(self):
        self.said.append("interrupted")
        self.interrupted.set()

    def restore(self):
        self.said.append("restored")


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.setattr(
        live,
        "importlib",
        SimpleNamespace(import_module=lambda _name: SimpleNamespace(LiveSession=Side)),
    )
    return live.LiveEngine(None, None)


def test_an_idle_session_is_left_without_an_interruption(engine):
    engine.close()
    assert engine._session.said == ["left", "restored"]
    assert not engine.directory.exists()


def test_what_runs_is_interrupted_and_what_waits_is_withdrawn(engine):
    running, waiting = (engine.put({"op": "release", "handle": name}) for name in "ab")
    assert engine._session.asked.wait(20)
    engine.close()
    assert engine._session.said == ["interrupted", "left", "restored"]
    assert (running.result(), waiting.cancelled()) == ({"rows": 1}, True)
    assert not engine.directory.exists()
