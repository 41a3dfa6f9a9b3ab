"""A decoder that hangs on one message, or ends its process: the verdict names that message, within
the documented budget.
"""

import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.cases.catalogue import Budget
from conformance.engines.command import CommandEngine
from conformance.engines.engine import DecodeRaised, DecodeTimeout
from conformance.judging.findings import Verdict
from conformance.running.events import noting
from conformance.running.hangs import HANGS, find_culprits
from conformance.running.prepared import Settings
from conformance.running.run import run_formats

NAME = "ticdc-canal-json"
GUILTY = f"{NAME}/v7.1.6/int/max"
SLACK_S = 15
"""For what is no hang: starts, calls that return, judging."""


def failing(when, what, folder):
    """A command that refuses every message, and fails on the guilty one (`one record`) or on each
    (`record`).
    """
    return "cmd:" + shlex.join(
        [
            sys.executable,
            str(Path(__file__).with_name("hostile.py")),
            when,
            what,
            str(folder / "reached"),
        ]
    )


@pytest.mark.parametrize(
    ("what", "verdict", "limit_s"), [("hang", Verdict.TIMEOUT, 4), ("exit", Verdict.ERRORED, 60)]
)
def test_a_command_that_fails_on_one_message_costs_the_budget_and_no_more(
    tmp_path, what, verdict, limit_s
):
    spec = failing("one record", what, tmp_path)
    chosen = {
        "writer_profile": "v7.1.6",
        "select": ("*/int/*", f"{NAME}/law/*"),
        "timeout_s": limit_s,
    }
    settings, began = (
        Settings((NAME,), Budget("tiny", 0, 300), 7, decoder=spec, level="changes", **chosen),
        time.monotonic(),
    )
    with CommandEngine(fmt=NAME, timeout_s=limit_s) as started:
        result = run_formats(settings, started)
    assert time.monotonic() - began < (1 + HANGS + 1) * limit_s + SLACK_S
    (fmt,) = result.formats
    assert [case.case.id for case in fmt.cases if case.verdict is verdict] == [GUILTY]
    (failure,) = [
        failure for failure in result.failures if failure.rule.id == f"{NAME}/law/returns"
    ]
    assert failure.result.case.id == GUILTY and len(failure.result.case.written) == 1
    compared = {rule.rule.law: rule.compared for rule in fmt.rules if rule.rule.law}
    assert compared["batch"] and compared["environment"], (
        "the laws are judged on the other messages"
    )


class Counting(CommandEngine):
    """Counts the decode calls."""

    calls = 0

    def decode(self, request):
        self.calls += 1
        return super().decode(request)


@pytest.mark.parametrize(
    ("what", "verdict", "limit_s"), [("hang", "timeout", 3), ("exit", "errored", 60)]
)
def test_a_command_that_fails_on_every_message_is_asked_three_times_before_the_verdict(
    tmp_path, what, verdict, limit_s
):
    spec = failing("record", what, tmp_path)
    settings = Settings(
        (NAME,), Budget("tiny", 0, 300), 7, decoder=spec, level="changes", writer_profile="v7.1.6"
    )
    settings = replace(settings, timeout_s=limit_s, reduce=False)
    events = []
    with Counting(fmt=NAME, timeout_s=limit_s) as started:
        result = run_formats(settings, started, events.append)
        assert started.calls == 3
    lines = []
    for event in events:
        noting(lambda _text: None, line=lines.append)(event)
    (line,) = lines
    ends = "did not end within 3 s" if verdict == "timeout" else "ended with exit code 3"
    assert ends in line and line.endswith("; looking for the messages that do it"), (
        "at once, and not in the verdict alone"
    )
    (fmt,) = result.formats
    assert {case.verdict.value for case in fmt.cases} == {verdict}
    why = {case.note for case in fmt.cases}.pop()
    assert why.endswith("So ends every call: one of many messages, and 2 of one case each.")
    assert ends in why


def test_the_items_to_blame_are_found_among_many():
    asked = []

    def ask(items, limit_s):
        asked.append((len(items), limit_s))
        if {3, 41} & set(items):
            raise DecodeTimeout("late")

    assert (list(find_culprits(ask, range(64), 120)), set(asked), len(asked)) == (
        [3, 41],
        {(8, 15.0), (1, 0.0)},
        8 + 2 * 8,
    )


def test_an_item_that_raises_is_not_searched_further():
    def ask(items, _limit_s):
        raise DecodeRaised("no")

    assert find_culprits(ask, range(64), 120) == {}
