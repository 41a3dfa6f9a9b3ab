"""Which cases a call that hangs, ends its process or returns rows of no message convicts; the
engine answers from memory.
"""

import itertools
from concurrent.futures import Future
from dataclasses import replace

import pytest
from remembered import Memory

from conformance.cases.catalogue import BUDGETS, Call
from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, Loaded
from conformance.judging.capabilities import Capabilities
from conformance.judging.findings import Verdict
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.rules.rules import rules
from conformance.running import isolating
from conformance.running.prepared import Prepared, Settings
from generators.model import Case, Deployment, Message, Written
from generators.wire_format import get

NAME = "ticdc-canal-json"
COUNT = 64
SETTINGS = Settings((NAME,), BUDGETS["smoke"], 1, timeout_s=120)
ROW = OutputRow(0, "ROW", "INSERT")
MESSAGES = [Message("cdc", 0, None, b"%d" % i) for i in range(COUNT)]
CASES = tuple(
    Case(f"c{i}", NAME, "p", Deployment(), 1, (), (Written(m, ()),)) for i, m in enumerate(MESSAGES)
)
PLACES = {id(m): ("cdc", 0, i) for i, m in enumerate(MESSAGES)}
CALL = Call(NAME, Deployment(), 1, CASES)


def memory(fail=lambda offsets: None, stray=None):
    """Gives a row for each message; `fail` gives the error of some offsets, `stray` the offset of a
    row of no message.
    """

    def answer(_request, places):
        offsets = [offset for _, _, offset in places]
        if (error := fail(offsets)) is not None:
            raise error
        return {place: [ROW] for place in places} | (
            {(None, 0, 5): [ROW]} if stray in offsets else {}
        )

    return Memory(answer)


def limits(engine):
    """Of each call the number of its messages and its limit."""
    return [
        (sum(high - low + 1 for _, _, low, high in request.ranges), request.limit_s)
        for request in engine.asked
    ]


@pytest.fixture(autouse=True)
def no_arrow(monkeypatch):
    """The engine's answers are rows already."""
    monkeypatch.setattr(isolating, "read", lambda rows, _level: rows)


def prepared():
    return Prepared(SETTINGS, get(NAME), "d", Loaded((1,), Capabilities()), [CALL], PLACES, "h")


@pytest.mark.parametrize(
    ("error", "verdict"),
    [(DecodeTimeout("late"), Verdict.TIMEOUT), (ChildDied("gone"), Verdict.ERRORED)],
)
def test_the_message_that_hangs_or_ends_the_process_stands_alone(error, verdict):
    engine = memory(lambda offsets: error if 37 in offsets else None)
    outputs, blamed = isolating.isolate_failing_cases(engine, prepared(), CALL, error)
    assert [(blame.case.id, blame.verdict, blame.why, blame.alone) for blame in blamed] == [
        ("c37", verdict, str(error), True)
    ]
    assert (sorted(offset for _, _, offset in outputs), len(limits(engine))) == (
        [i for i in range(COUNT) if i != 37],
        1 + 16,
    )


def test_cases_that_raise_are_found_by_halving_and_the_search_gives_up_after_its_calls(monkeypatch):
    raised = DecodeRaised("no")
    engine = memory(lambda offsets: raised if {3, 41} & set(offsets) else None)
    outputs, blamed = isolating.isolate_failing_cases(engine, prepared(), CALL)
    assert ({(blame.case.id, blame.why) for blame in blamed}, len(outputs)) == (
        {("c3", "no"), ("c41", "no")},
        COUNT - 2,
    )
    assert len(engine.asked) <= 2 * 2 * 7
    monkeypatch.setattr(isolating, "CALLS", 3)
    outputs, blamed = isolating.isolate_failing_cases(
        memory(lambda _offsets: raised), prepared(), CALL
    )
    assert (outputs, {blame.case.id for blame in blamed}) == ({}, {case.id for case in CASES})
    assert any("not isolated within 3 calls" in blame.why and not blame.alone for blame in blamed)


@pytest.mark.parametrize("guilty", [37, 32, None])
def test_a_case_that_is_late_in_a_cold_process_is_asked_again_before_it_is_convicted(guilty):
    late, asked = DecodeTimeout("late"), []

    def fail(offsets):
        asked.append(offsets)
        busy = offsets in ([32], list(range(32, 40))) and asked.count(offsets) == 1
        return late if busy or guilty in offsets else None

    engine = memory(fail)
    outputs, blamed = isolating.isolate_failing_cases(engine, prepared(), CALL, late)
    convicted = [] if guilty is None else [(f"c{guilty}", "late", True)]
    assert [(blame.case.id, blame.why, blame.alone) for blame in blamed] == convicted
    assert (len(outputs), asked.count([32])) == (COUNT - len(blamed), 2)


def test_a_case_alone_is_asked_again_even_if_nothing_else_is_left():
    late = DecodeTimeout("late")
    engine = memory(lambda _offsets: late)
    _, blamed = isolating.isolate_failing_cases(
        engine, prepared(), replace(CALL, cases=CASES[:1]), late
    )
    assert ([(blame.case.id, blame.why) for blame in blamed], limits(engine)) == (
        [("c0", "late")],
        [(1, 0.0), (1, 0.0)],
    )


def test_parts_of_a_call_that_hung_have_less_time_than_a_case_alone():
    late = DecodeTimeout("late")
    engine = memory(lambda offsets: late if 37 in offsets else None)
    isolating.isolate_failing_cases(engine, prepared(), CALL, late)
    assert limits(engine)[0] == (1, 60.0), "whether every call ends so"
    assert set(limits(engine)[1:]) == {(8, 15.0), (1, 0.0)}


def test_the_time_lost_is_limited_and_the_rest_is_not_blamed_alone(monkeypatch):
    clock = iter(range(0, 100_000, 100))
    monkeypatch.setattr(isolating.time, "monotonic", lambda: next(clock))
    late = DecodeTimeout("late")
    engine = memory(lambda offsets: None if offsets == [COUNT - 1] else late)
    outputs, blamed = isolating.isolate_failing_cases(engine, prepared(), CALL, late)
    assert (outputs, len(limits(engine)), [blame.case.id for blame in blamed if blame.alone]) == (
        {},
        2 + 4,
        ["c0", "c1", "c2"],
    )
    assert ({blame.why for blame in blamed if blame.alone}, len(blamed)) == (
        {f"late, {isolating.COLD}"},
        COUNT,
    )
    assert all("not isolated within 4 calls" in blame.why for blame in blamed if not blame.alone)


@pytest.mark.parametrize(
    ("error", "verdict"),
    [(DecodeTimeout("late"), Verdict.TIMEOUT), (ChildDied("gone"), Verdict.ERRORED)],
)
def test_a_decoder_that_ends_so_on_every_call_is_asked_twice_more_and_never_again(error, verdict):
    engine, work, waits = memory(lambda _offsets: error), prepared(), Future()
    work.futures = [Future(), waits]
    work.futures[0].set_exception(error)
    outputs, blamed = isolating.isolate_failing_cases(engine, work, CALL, error)
    within = 60.0 if verdict is Verdict.TIMEOUT else 0.0
    assert (outputs, limits(engine), waits.cancelled()) == ({}, [(1, within)] * 2, True)
    why = f"{error}\nSo ends every call: one of many messages, and 2 of one case each."
    assert {(blame.verdict, blame.why) for blame in blamed} == {(verdict, why)}
    assert [blame.case.id for blame in blamed if blame.alone] == ["c0", f"c{COUNT - 1}"]
    assert (
        isolating.isolate_failing_cases(engine, work, CALL, work.always)[1] == blamed
        and len(limits(engine)) == 2
    )


@pytest.mark.parametrize(
    ("limit_s", "calls"), [(0.5, 3), (2, 3), (9.5, 3), (15, 2.4), (20, 2), (300, 2)]
)
def test_a_decoder_that_hangs_costs_twice_its_limit_and_one_retry_of_a_short_one(limit_s, calls):
    late = DecodeTimeout("late")
    engine, work = memory(lambda _offsets: late), prepared()
    work.settings = replace(work.settings, timeout_s=limit_s)
    isolating.isolate_failing_cases(engine, work, CALL, late)
    waited = limit_s + sum(asked or limit_s for _, asked in limits(engine))
    assert waited / limit_s == pytest.approx(calls, abs=0.1)


def test_calls_that_were_withdrawn_in_vain_are_asked_for_again():
    gone = ChildDied("gone")
    engine, work = memory(lambda offsets: gone if 37 in offsets else None), prepared()
    work.calls = [CALL, replace(CALL, cases=CASES[:5])]
    work.futures = [Future(), Future()]
    work.futures[0].set_exception(gone)
    isolating.isolate_failing_cases(engine, work, CALL, gone)
    assert len(work.futures[1].result()) == 5


def test_rows_of_no_message_are_a_finding_at_the_case_that_has_them():
    engine, fine = memory(stray=37), {("cdc", 0, i): [ROW] for i in range(COUNT)}
    assert (
        list(isolating.find_stray_rows(engine, prepared(), CALL, fine, Judge(rules(NAME)))),
        limits(engine),
    ) == ([], [])
    outputs = fine | {(None, 0, 5): [ROW]}
    (finding,) = isolating.find_stray_rows(engine, prepared(), CALL, outputs, Judge(rules(NAME)))
    assert (finding.case, finding.rule) == ("c37", f"{NAME}/law/places")
    assert finding.actual == "1 of 2 rows, the first at NULL/0/5: ROW INSERT"


@pytest.mark.parametrize("fine", [(), (0,), (COUNT - 1,), tuple(range(1, COUNT, 2))])
def test_an_error_that_every_message_raises_is_not_searched_for(fine):
    error = DecodeRaised("KeyError: 'old'\nat mine.py, line 7")
    engine = memory(lambda offsets: error if set(offsets) - set(fine) else None)
    outputs, blamed = isolating.isolate_failing_cases(engine, prepared(), CALL, error)
    if fine:
        assert not any("Each of" in blame.why for blame in blamed)
        return
    assert (outputs, len(limits(engine)), len(blamed)) == ({}, isolating.ALIKE, COUNT)
    assert all(
        blame.why.startswith("KeyError: 'old'\nat mine.py, line 7\nEach of 6 messages")
        for blame in blamed
    )


@pytest.mark.parametrize(
    ("text", "alike"), [("Lost task 0.0 in stage {0}.0 (TID {0}): gone", True), ("no {0}", False)]
)
def test_numbers_of_spark_s_tasks_make_no_other_error(text, alike):
    numbers = itertools.count(1)
    engine = memory(lambda _offsets: DecodeRaised(text.format(next(numbers))))
    isolating.isolate_failing_cases(engine, prepared(), CALL, DecodeRaised(text.format(0)))
    assert (len(limits(engine)) == isolating.ALIKE) == alike
