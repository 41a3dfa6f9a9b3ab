"""Calls that differ in their deployment alone are decoded together first; a group acquits, and only
a call alone convicts.
"""

from concurrent.futures import Future
from dataclasses import replace

import pytest
import right
from remembered import Memory

from conformance.cases.catalogue import Budget, group_calls, named_cases
from conformance.engines.engine import DecodeRaised, Loaded, assign_places
from conformance.judging.capabilities import Capabilities
from conformance.judging.output import OutputRow
from conformance.rules.rules import rules
from conformance.running import finishing, isolating, mixing, preparing
from conformance.running.mixing import group_compatible, merge_calls
from conformance.running.prepared import Prepared, Settings, decode_request
from generators.wire_format import get

NAME = "alibaba-canal-json"
FMT = get(NAME)
SETTINGS = Settings((NAME,), Budget("tiny", 0, 0), 7)
NEW_YORK, SHANGHAI = "America/New_York", "Asia/Shanghai"


@pytest.fixture(scope="module")
def written():
    """A few cases of two deployments, a call each, the messages' places, and the rows that they
    owe.
    """
    chosen = [
        profile for profile in FMT.profiles if profile.deployment.time_zone in (NEW_YORK, SHANGHAI)
    ]
    several = [
        next(p for p in chosen if p.deployment.time_zone == zone) for zone in (NEW_YORK, SHANGHAI)
    ]
    cases = [case for case in named_cases(FMT, several) if case.level == 1 and "/shape/" in case.id]
    # The call of New York is the larger.
    grouped = group_calls(FMT, [case for case in cases if case.id != cases[-1].id], (1,), 0)
    sent = [w for call in grouped for case in call.cases for w in case.written]
    laid = assign_places([w.message for w in sent])
    places = {id(w.message): place for w, place in zip(sent, laid, strict=True)}
    return (
        grouped,
        places,
        {
            place: [right.row_of_change(c, 1) for c in w.changes]
            for w, place in zip(sent, laid, strict=True)
        },
    )


@pytest.fixture
def judged(written, monkeypatch):
    """A function that judges a decoder's lie, mixed or not: the deployments asked for, and what
    came of each case.
    """
    grouped, places, truth = written
    for module in (finishing, mixing, isolating):
        monkeypatch.setattr(module, "read", lambda rows, _level: rows)

    def judge(lie, *, together_first=True):
        engine = Memory(
            lambda request, places: lie(request, {place: truth[place] for place in places})
        )
        kept = frozenset(rule.id for rule in rules(NAME))
        work = Prepared(
            SETTINGS,
            FMT,
            "mine",
            Loaded((1,), Capabilities()),
            list(grouped),
            places,
            "handle",
            [],
            0,
            counted_rules=kept,
        )
        alike = [[0, 1]] if together_first else []
        work.mixed = preparing._submit_groups(engine, work, alike)
        for number, call in enumerate(work.calls):
            work.futures.append(
                Future()
                if number in work.mixed
                else engine.decode(decode_request(work, call, call.cases))
            )
        result = finishing.finish_format(engine, work)
        outcome = {case.case.id: (case.verdict, case.findings) for case in result.cases}
        counted = {rule.rule.id: (rule.compared, rule.broken) for rule in result.rules}
        return [asked.deployment.time_zone for asked in engine.asked], outcome, counted

    return judge


def honest(_request, rows):
    return rows


def without_deletes(_request, rows):
    return {place: [row for row in some if row.op != "DELETE"] for place, some in rows.items()}


def test_one_call_acquits_a_right_decoder_and_counts_as_much(judged):
    asked, outcome, counted = judged(honest)
    assert (len(asked), (outcome, counted)) == (1, judged(honest, together_first=False)[1:])
    assert {str(verdict) for verdict, _ in outcome.values()} <= {"pass", "informational"}


def test_what_a_group_does_not_acquit_is_decoded_alone_and_comes_out_as_if_there_were_no_group(
    judged,
):
    asked, outcome, counted = judged(without_deletes)
    assert (asked[1:], (outcome, counted)) == (
        [NEW_YORK, SHANGHAI],
        judged(without_deletes, together_first=False)[1:],
    )
    assert "fail" in {str(verdict) for verdict, _ in outcome.values()}


def test_only_the_calls_that_the_group_does_not_acquit_are_decoded_again(judged, written):
    grouped, places, _ = written
    second = {places[id(w.message)] for case in grouped[1].cases for w in case.written}
    asked, _, _ = judged(
        lambda _request, rows: {p: [] if p in second else some for p, some in rows.items()}
    )
    assert asked[1:] == [SHANGHAI]


def test_an_error_under_one_deployment_alone_is_seen_without_groups_only(judged):
    lead = judged(honest)[0][0]
    (other,) = {NEW_YORK, SHANGHAI} - {lead}

    def wrong(request, rows):
        return without_deletes(request, rows) if request.deployment.time_zone == other else rows

    assert "fail" not in {str(verdict) for verdict, _ in judged(wrong)[1].values()}
    assert "fail" in {
        str(verdict) for verdict, _ in judged(wrong, together_first=False)[1].values()
    }


def test_rows_at_places_of_no_message_send_all_calls_back(judged):
    stray = {("cdc", 9, 9): [OutputRow(0, "ROW", "INSERT", {}, None, {})]}
    asked, _, counted = judged(lambda _request, rows: {**rows, **stray})
    assert (asked[1:3], counted[f"{NAME}/law/places"][1]) == ([NEW_YORK, SHANGHAI], 2)


def test_a_group_that_raises_sends_all_calls_back(judged, written):
    size = len(written[1])

    def raises(_request, rows):
        if len(rows) == size:
            raise DecodeRaised("too many")
        return rows

    asked, outcome, _ = judged(raises)
    assert asked[1:] == [NEW_YORK, SHANGHAI]
    assert {str(verdict) for verdict, _ in outcome.values()} <= {"pass", "informational"}


def test_compression_and_schemas_stay_apart_and_so_does_one_group_by_the_seed(written):
    first, second = written[0]
    packed = [
        replace(call, deployment=replace(call.deployment, compression="lz4"))
        for call in (first, second)
    ]
    schemas = [
        replace(call, deployment=replace(call.deployment, schemas="none"))
        for call in (first, second)
    ]
    alike, chosen = (
        [[0, 1], [2, 3], [4, 5]],
        [group_compatible([first, second, *packed, *schemas], (), seed) for seed in range(20)],
    )
    assert all(
        len(grouping) == 2 and all(pair in alike for pair in grouping) for grouping in chosen
    )
    assert {tuple(map(tuple, grouping)) for grouping in chosen} == {
        ((0, 1), (2, 3)),
        ((0, 1), (4, 5)),
        ((2, 3), (4, 5)),
    }
    assert group_compatible([first, second, *packed], (first.name,), 1) == []


def test_a_group_has_the_deployment_of_its_largest_call_and_each_foreign_message_once(written):
    first, second = written[0]
    message = first.cases[0].written[0].message
    some = (
        replace(first, cases=first.cases[:2], foreign=(message,)),
        replace(second, foreign=(message,)),
    )
    group = merge_calls(some)
    assert (group.deployment, group.cases, group.foreign) == (
        second.deployment,
        (*some[0].cases, *some[1].cases),
        (message,),
    )
