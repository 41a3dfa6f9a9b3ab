"""The first verdict comes from a few cases, before the format's calls are judged, and counts for
nothing.
"""

from dataclasses import replace

import pytest

from conformance.cases.catalogue import Budget
from conformance.judging.findings import Verdict
from conformance.reports.console import FirstBroken
from conformance.running import early
from conformance.running.events import Broken, Decoded, Started, ignore
from conformance.running.prepared import Settings
from conformance.running.run import run_formats
from generators.wire_format import get

NAME = "ticdc-canal-json"
SETTINGS = Settings(
    (NAME,), Budget("tiny", 0, 0), 7, writer_profile="v7.1.6", level="changes", reduce=False
)
WRONG = """
from pyspark.sql import functions as F
from spark_checks.decoders import ticdc_canal_json as reference


def decode(records, *, deployment=None):
    return reference.decode(records, deployment=deployment).where(F.expr("op IS DISTINCT FROM 'DELETE'"))
"""
RAISES = """
def decode(records, *, deployment=None):
    raise ValueError("a fault of the decoder")
"""


@pytest.fixture
def judged(tmp_path, engine):
    """A function that runs a decoder: its result, and the events by name."""

    def judge(text):
        path = tmp_path / "mine.py"
        path.write_text(text, "utf-8")
        events = []
        result = run_formats(replace(SETTINGS, decoder=f"{path}:decode"), engine, events.append)
        return result, events

    return judge


def first(events):
    """The first that tells of a broken rule or of a judged call."""
    return next(type(event) for event in events if isinstance(event, Broken | Decoded))


def test_a_wrong_decoder_is_told_before_its_calls_are_judged_in_one_line(judged):
    result, events = judged(WRONG)
    assert first(events) is Broken
    wrong = [event for event in events if isinstance(event, Broken)]
    named = [event.rule.id for event in wrong]
    assert len(named) == len(set(named))
    assert set(named) >= {rule.rule.id for rule in result.formats[0].rules if rule.broken}
    cases = [case.case.id for case in result.formats[0].cases]
    assert len(cases) == len(set(cases))
    notes = []
    tell = FirstBroken(lambda rule, seconds: notes.append((rule, seconds > 0)))
    for event in (
        replace(wrong[0], result=replace(wrong[0].result, verdict=Verdict.PASS)),
        Started(None, ()),
        *wrong,
    ):
        tell(event)
    assert notes == [(wrong[0].rule, True)]


def test_a_decoder_that_raises_is_told_by_its_own_calls(judged):
    result, events = judged(RAISES)
    assert [rule.rule.law for rule in result.formats[0].rules if rule.broken] == ["returns"]
    assert first(events) is Decoded


def test_a_selection_has_no_first_cases():
    chosen = replace(SETTINGS, decoder="mine.py:decode", select=(f"{NAME}/v7.1.6/shape/*",))
    assert early.start_early(chosen, None, get(NAME), ignore) is None
