"""How soon `run --watch` answers a save: what is saved, which time counts, and the command."""

import compileall
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.load import watched
from conformance.rules.rules import rules
from conformance.running.events import Broken
from generators.errors import HarnessError

NAME = "ticdc-canal-json"


@pytest.fixture
def watching(monkeypatch):
    """A watching that breaks a rule whenever the decoder has its mistake; it gives the texts that were saved."""
    clock, saved = iter(range(1000)), []
    monkeypatch.setattr(watched, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    monkeypatch.setattr(watched, "changed", lambda _seen: None)

    def start(judge):
        def turns(settings, _engine, listen, wait):
            path = Path(settings.decoder.rpartition(":")[0])
            while True:
                saved.append(path.read_text("utf-8"))
                judge(saved[-1], listen)
                listen(SimpleNamespace())
                yield SimpleNamespace(result=SimpleNamespace(formats=[SimpleNamespace(cases=[1, 2])]), error="")
                wait({})

        monkeypatch.setattr(watched, "turns", turns)
        return saved

    return start


def broken_if_wrong(text, listen):
    if "DELETE" in text:
        for rule in rules(NAME)[:2]:
            listen(Broken(NAME, rule, None, None))


def test_a_round_saves_a_mistake_twice_and_takes_the_time_to_the_first_rule(watching, tmp_path):
    saved = watching(broken_if_wrong)
    found = watched.measure(None, NAME, tmp_path, 2, lambda _text: None)
    assert ["DELETE" in text for text in saved] == [False, True, True, False, True, True]
    assert len(set(saved)) == len(saved)
    assert all("reference.decode(records, deployment=deployment)" in text for text in saved)
    assert compileall.compile_dir(tmp_path, quiet=1)
    # Each reading of this clock is a second later: one at the save, the next at the first rule, none at the second rule.
    one = {"median": 1.0, "min": 1.0, "max": 1.0}
    assert found == {
        "type": "bench-watch",
        "format": NAME,
        "profile": found["profile"],
        "cases": 2,
        "rounds": 2,
        "first": one,
        "again": one,
    }
    assert watched.markdown([found]).endswith(f"| {NAME} | {found['profile']} | 2 | 2 | 1.0 s (1.0..1.0) | 1.0 s (1.0..1.0) |")


def test_a_mistake_that_breaks_no_rule_is_no_endless_loop(watching, tmp_path):
    watching(lambda _text, _listen: None)
    with pytest.raises(HarnessError, match="a decoder that loses DELETEs broke no rule"):
        watched.measure(None, NAME, tmp_path, 3, lambda _text: None)
