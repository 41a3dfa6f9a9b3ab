"""Parts of a run without Spark: what its header has of a user's tables, where its messages lie,
which rules it must exercise.
"""

from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace

import pytest

from conformance.cases.catalogue import BUDGETS, Budget
from conformance.cases.tables import read_tables
from conformance.engines.engine import Loaded
from conformance.judging.capabilities import Capabilities
from conformance.judging.findings import CaseResult, Verdict
from conformance.judging.judge import Judge
from conformance.judging.results import FormatResult, Header, RunResult
from conformance.rules.rules import rules
from conformance.running import preparing
from conformance.running.finishing import _judge_call, _rule_result
from conformance.running.prepared import Settings
from conformance.running.run import _own_tables
from generators.errors import HarnessError
from generators.model import Case, Deployment, Message
from generators.publishing import kafka
from generators.wire_format import get


def test_the_header_has_the_notes_of_the_reading_and_what_a_format_cannot_write(tmp_path):
    (tmp_path / "a.sql").write_text(
        "CREATE TABLE `t` (`id` int, `b` int AS (`id` / 2));\nCREATE TABLE `z` (`t` datetime(6), `b` bit(3));\n"
        "CREATE VIEW v AS SELECT 1;"
    )
    values = read_tables([str(tmp_path / "a.sql")], "mysql", "shop", None, 1, ())
    settings = Settings(
        ("ticdc-canal-json", "huawei-cdl-json"), Budget("tiny", 0, 1), 1, tables=values
    )
    own = _own_tables(settings)
    assert own.names == ("shop.t", "shop.z")
    assert [note.construct for note in own.notes] == ["AS (`id` / 2)", "CREATE VIEW v AS SELECT 1"]
    assert own.left_out and all(line.startswith("huawei-cdl-json: table ") for line in own.left_out)
    assert _own_tables(Settings(("ticdc-canal-json",), Budget("tiny", 0, 1), 1)) is None


NAME = "ticdc-canal-json"
SETTINGS = Settings(
    (NAME,), BUDGETS["smoke"], 1, writer_profile="v7.1.6", bootstrap="127.0.0.1:1", topic="run-1"
)
MESSAGES = [Message("cdc", partition, None, b"{}") for partition in (0, 2, 2)]


def published(monkeypatch, placed, *errors):
    """`publish` with a broker that gives these places."""
    places = [SimpleNamespace(topic="run-1", partition=p, offset=o) for p, o in placed]
    result = SimpleNamespace(placed=places, failed=len(errors), errors=errors)
    monkeypatch.setattr(kafka, "publish", lambda bootstrap, topic, messages: result)
    return preparing.publish(SETTINGS, SimpleNamespace(), NAME, MESSAGES)


def test_places_are_the_broker_s_and_ranges_hold_them(monkeypatch):
    places, source = published(monkeypatch, [(0, 5), (2, 7), (2, 9)])
    assert [places[id(message)] for message in MESSAGES] == [
        ("run-1", 0, 5),
        ("run-1", 2, 7),
        ("run-1", 2, 9),
    ]
    assert (source.ranges, source.bootstrap, source.topic) == (
        (("run-1", 0, 5, 5), ("run-1", 2, 7, 9)),
        "127.0.0.1:1",
        "run-1",
    )


def test_a_message_that_is_not_delivered_ends_the_run(monkeypatch):
    with pytest.raises(
        HarnessError, match=r"1 of 3 messages were not delivered to run-1: too large"
    ):
        published(monkeypatch, [(0, 5), (2, 7), (2, 9)], "too large")


def test_claimed_types_leave_tables_of_these_types_at_level_two():
    settings, claims = (
        replace(SETTINGS, budget=replace(BUDGETS["smoke"], drawn=0)),
        Capabilities(types=("int", "varchar")),
    )
    cases = preparing._cases_of_claimed_types(settings, get(NAME), claims, frozenset())
    assert {case.level for case in cases} == {2}
    # A format's own cases have tables of their own, which `claimed` leaves out.
    every = [case for case in cases if case.scenario.startswith("rows/every-type/")]
    types = {column.type.key for case in every for table in case.tables for column in table.columns}
    assert types == {"bigint", "int", "varchar"}


@pytest.mark.parametrize(
    ("changed", "levels", "claims", "kept", "code"),
    [
        *(
            ({}, (1, 2), {}, True, 1),
            ({}, (1, 2), {"columns": ("sql",)}, True, 0),
            ({}, (1, 2), {"profiles": ("v7*",)}, True, 0),
        ),
        *(
            ({}, (1, 2), {"kinds": ("ROW",)}, True, 0),
            ({}, (1, 2), {"types": ("int",)}, True, 0),
            ({}, (1,), {}, True, 0),
        ),
        *(({}, (1, 2), {}, False, 0), ({"select": ("*/ddl/*",)}, (1, 2), {}, True, 0)),
        *(
            ({"exclude": ("*/ddl/*",)}, (1, 2), {}, True, 0),
            ({"writer_profile": "v7*"}, (1, 2), {}, True, 0),
        ),
        ({"decoder": "mine.py:decode"}, (1, 2), {}, True, 0),
    ],
)
def test_a_rule_that_compared_nothing_fails_a_whole_run_of_a_reference_decoder(
    changed, levels, claims, kept, code
):
    first, second = rules(NAME)[:2]
    judge = Judge(rules(NAME))
    judge.compared[first.id] = 3
    settings = replace(Settings((NAME,), Budget("tiny", 0, 12), 7), **changed)
    prepared = SimpleNamespace(settings=settings, loaded=Loaded(levels, Capabilities(**claims)))
    results = tuple(_rule_result(prepared, judge, rule, kept) for rule in (first, second))
    assert [(rule.compared, rule.reachable) for rule in results] == [(3, code == 1), (0, code == 1)]
    case = CaseResult(Case("c", NAME, "v7.1.6", Deployment(), 1, (), ()), Verdict.PASS)
    judged = FormatResult(NAME, "d", levels, (case,), results, (), {}, 0, {})
    assert judged.unexercised == ((second.id,) if code else ())
    assert RunResult(Header(1, "smoke", "d", "none", ""), (judged,), (), 0.0).exit_code == code


def test_a_call_that_the_harness_cancelled_accuses_nobody():
    future = Future()
    assert future.cancel()
    cases = (Case("c", NAME, "v7.1.6", Deployment(), 1, (), ()),)
    prepared = SimpleNamespace(calls=[SimpleNamespace(cases=cases, level=1)], futures={0: future})
    judge = Judge(rules(NAME))
    judged = _judge_call(None, prepared, 0, judge, lambda event: None)
    assert [(result.verdict, result.findings) for result in judged.results] == [
        (Verdict.ERRORED, ())
    ]
    assert not judge.broken.total()
