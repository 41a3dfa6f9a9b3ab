"""The end of an engine on a session of the user's, whose other side is made up here; with Spark: tests/spark_checks/services."""

import threading
from types import SimpleNamespace

import pytest

from conformance.engines import live


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
    monkeypatch.setattr(live, "importlib", SimpleNamespace(import_module=lambda _name: SimpleNamespace(LiveSession=Side)))
    return live.LiveEngine(None, None)


def test_an_idle_session_is_left_without_an_interruption(engine):
    engine.close()
    assert engine._side.said == ["left", "restored"]
    assert not engine.directory.exists()


def test_what_runs_is_interrupted_and_what_waits_is_withdrawn(engine):
    running, waiting = (engine.put({"op": "release", "handle": name}) for name in "ab")
    assert engine._side.asked.wait(20)
    engine.close()
    assert engine._side.said == ["interrupted", "left", "restored"]
    assert (running.result(), waiting.cancelled()) == ({"rows": 1}, True)
    assert not engine.directory.exists()
