"""A right history of type 2 breaks no rule under any nemesis, in any format; each wrong one
breaks the rule of its habit.
"""

from __future__ import annotations

import pytest

from conformance.pipelines.running import PipelineSettings, streams_of
from conformance.rules.order import order_of
from conformance.rules.pipelines import rules
from conformance.selftest.folds import fold, shows
from conformance.selftest.histories import HISTORIES, HISTORY_HABITS, HistoryFold
from generators.wire_format import FORMATS

TRIED = [
    *((name, "") for name in FORMATS if not order_of(name).arrival),
    ("debezium-json", "3.5.0.Final+postgresql"),
]


@pytest.mark.parametrize(("name", "profile"), TRIED, ids=[" ".join(pair) for pair in TRIED])
def test_a_right_history_breaks_nothing_and_each_wrong_one_its_rule(
    name: str, profile: str
) -> None:
    streams, _ = streams_of(PipelineSettings(name, "mine.py", profile))
    assert {s.nemesis.name: r.wrong for s in streams if (r := fold(s, HistoryFold)).broken} == {}
    missed = {}
    for habit in HISTORY_HABITS.values():
        trapped = [stream for stream in streams if shows(habit, stream)]
        results = [fold(stream, HISTORIES[habit.name]) for stream in trapped]
        broken = {rule.rpartition("/")[2] for result in results for rule in result.broken}
        if trapped and habit.convicts not in broken:
            missed[habit.name] = broken
    assert missed == {}


def test_every_history_has_a_habit_and_every_habit_a_rule() -> None:
    assert HISTORIES.keys() == HISTORY_HABITS.keys()
    known = {rule.id.rpartition("/")[2] for rule in rules("maxwell-json")}
    assert {habit.convicts for habit in HISTORY_HABITS.values()} <= known


WORDS = {
    "deletes-ignored": (
        "none",
        (
            "row 4 was removed by DELETE at 445644820709376002 (message 145: partition 1, offset 116),"
            " and a version of it is open"
        ),
    ),
    "newest-of-batch": (
        "none",
        (
            "row 1: the version of INSERT at 445644807864320001 (message 54: partition 1, offset 43) is"
            " missing"
        ),
    ),
    "not-closed": (
        "none",
        (
            "row 1: the version from ((445644800524288001,), (1, 0, 0, 1)) ends at"
            " ((445644807864320002,), (0, 44, 0, 0)), and the next one begins at"
            " ((445644807864320001,), (1, 43, 0, 1))"
        ),
    ),
    "late-open": (
        "stale",
        (
            "row 1 was removed by DELETE at 445644807864320002 (message 55: partition 1, offset 44),"
            " and a version of it is open"
        ),
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_name_the_version_and_the_message(name: str) -> None:
    nemesis, words = WORDS[name]
    settings = PipelineSettings("ticdc-canal-json", "mine.py", nemesis=nemesis)
    (stream,), _ = streams_of(settings)
    rule = f"ticdc-canal-json/pipeline/{HISTORY_HABITS[name].convicts}"
    told = [what for broken, what in fold(stream, HISTORIES[name]).wrong if broken == rule]
    assert told[0] == words
