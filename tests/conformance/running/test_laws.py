"""The laws on an engine that answers from memory: what differs in which circumstance, and what that
counts as.
"""

from concurrent.futures import Future
from dataclasses import replace

import pytest
from remembered import Memory

from conformance.cases.catalogue import Budget, group_calls, named_cases
from conformance.engines.engine import (
    ChildDied,
    DecodeRaised,
    DecodeTimeout,
    Loaded,
    Request,
    assign_places,
)
from conformance.judging.capabilities import Capabilities
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.rules.rules import Aspect, rules
from conformance.running import laws
from conformance.running.prepared import Prepared, Settings
from generators.model import Case, Deployment
from generators.wire_format import get

NAME = "ticdc-canal-json"
BATCH, ENVIRONMENT = f"{NAME}/law/batch-independence", f"{NAME}/law/environment-independence"
CASE = Case("c", NAME, "v7.1.6", Deployment(), 1, (), ())
CHATHAM, CARACAS = {"zone": "Pacific/Chatham"}, {"zone": "America/Caracas"}
PLACES = tuple(("cdc", 0, offset) for offset in range(6))
OWNERS = {place: (CASE, number) for number, place in enumerate(PLACES)}
PLAIN = Request("handle", (("cdc", 0, 0, 5),), "d", 1, Deployment())
FIELDS = {"table": "t", "commit_time": 0, "types": {"a": "int"}, "schema_version": "1"}
ROW = OutputRow(0, "ROW", "INSERT", FIELDS, None, {"a": "1"})
JUDGED = {place: [ROW] for place in PLACES}


def memory(lie=lambda request, rows: rows):
    """An engine that gives one row a message; `lie` alters the rows of a request."""
    environments = {"Chatham": CHATHAM, "Caracas": CARACAS}
    return Memory(
        lambda request, places: lie(request, {place: [ROW] for place in places}), environments
    )


@pytest.fixture(autouse=True)
def no_arrow(monkeypatch):
    """The engine's answers are rows already."""
    monkeypatch.setattr(laws, "read", lambda rows, _level: rows)


def tried(lie=lambda request, rows: rows, alone=None):
    """The findings of the laws, tried one by one, and the judge that counted."""
    judge = Judge(rules(NAME))
    return laws.try_each_circumstance(memory(lie), PLAIN, OWNERS, judge, alone), judge


def with_row(rows, **changed):
    return {place: [replace(row, **changed) for row in some] for place, some in rows.items()}


def test_a_decoder_that_always_answers_alike_breaks_no_law():
    findings, judge = tried()
    assert findings == []
    assert not judge.broken
    assert judge.compared == {BATCH: 3 * len(PLACES), ENVIRONMENT: 2 * len(PLACES)}


LATE = {"table": "t", "commit_time": 9 * 10**6}


@pytest.mark.parametrize(
    ("changed", "want", "got"),
    [
        ({"after": {"a": "2"}}, "after['a'] = 1", "after['a'] = 2"),
        *(
            ({"after": None}, "after = {a: 1}", "after = NULL"),
            ({"before": {}}, "before = NULL", "before = {}"),
        ),
        *(
            ({"op": "READ"}, "op = INSERT", "op = READ"),
            ({"kind": "DDL"}, "kind = ROW", "kind = DDL"),
        ),
        ({"after": {}}, "after['a'] = 1", "after['a'] = absent"),
        ({"after": {"a": "1", "b": None}}, "after['b'] = absent", "after['b'] = NULL"),
        ({"fields": {"table": "u"}}, "table = t", "table = u"),
        (
            {"fields": LATE},
            "commit_time = 1970-01-01T00:00:00Z",
            "commit_time = 1970-01-01T00:00:09Z",
        ),
    ],
)
def test_rows_that_differ_in_an_environment_break_its_law_message_by_message(changed, want, got):
    findings, judge = tried(
        lambda request, rows: with_row(rows, **changed) if request.conf == CHATHAM else rows
    )
    assert [(f.case, f.rule, f.message, f.aspect) for f in findings] == [
        ("c", ENVIRONMENT, n, Aspect.VALUE) for n in range(6)
    ]
    assert ({(f.expected, f.actual) for f in findings}, judge.broken) == (
        {(want, f"Chatham: {got}")},
        {ENVIRONMENT: 6},
    )


@pytest.mark.parametrize(
    "changed",
    [{"error": "other words"}, {"fields": {**ROW.fields, "types": {}, "schema_version": "2"}}],
)
def test_texts_of_errors_and_what_only_the_whole_stream_tells_may_differ(changed):
    assert tried(lambda request, rows: with_row(rows, **changed) if request.conf else rows)[0] == []


@pytest.mark.parametrize(
    ("differs", "circumstances"),
    [
        *(
            (lambda request, rows: len(rows) == 1, {"alone"}),
            (lambda request, rows: len(rows) == 3, {"in other batches"}),
        ),
        (lambda request, rows: request.repartition, {"in 3 partitions"}),
    ],
)
def test_batches_and_partitions_are_tried_apart(differs, circumstances):
    findings, _ = tried(
        lambda request, rows: with_row(rows, op="READ") if differs(request, rows) else rows
    )
    assert ({f.rule for f in findings}, {f.actual.partition(":")[0] for f in findings}) == (
        {BATCH},
        circumstances,
    )
    assert len(findings) == len(PLACES)


def test_a_message_that_is_lost_or_doubled_breaks_the_law():
    lost, _ = tried(
        lambda request, rows: (
            {p: r for p, r in rows.items() if p != PLACES[4]} if request.conf else rows
        )
    )
    wanted = {(4, "1 rows", f"{name}: 0 rows") for name in ("Chatham", "Caracas")}
    assert {(f.message, f.expected, f.actual) for f in lost} == wanted
    doubled, _ = tried(
        lambda request, rows: {p: r * 2 for p, r in rows.items()} if request.repartition else rows
    )
    assert {f.actual for f in doubled} == {"in 3 partitions: 2 rows"}


def test_only_some_messages_are_decoded_alone_where_all_would_cost_too_much():
    _, judge = tried(alone=[[place] for place in PLACES[:2]])
    assert judge.compared[BATCH] == 2 * len(PLACES) + 2


@pytest.mark.parametrize("error", [DecodeRaised("cannot\nat line 3"), ChildDied("gone")])
def test_a_decoder_that_fails_in_a_circumstance_breaks_its_law_once(error):
    def fails(request, rows):
        if request.conf == CARACAS:
            raise error
        return rows

    (finding,), judge = tried(fails)
    assert (finding.rule, finding.message, finding.expected) == (ENVIRONMENT, 0, "the same rows")
    assert (finding.actual, judge.broken) == (
        f"Caracas: {str(error).splitlines()[0]}",
        {ENVIRONMENT: 1},
    )


def test_a_decoder_that_fails_in_the_plain_call_has_nothing_to_be_compared_with():
    def fails(request, rows):
        if not request.conf and not request.repartition and len(rows) == 6:
            raise DecodeRaised("cannot")
        return rows

    findings, judge = tried(fails)
    assert findings == []
    assert not judge.compared


def without_records(request, rows):
    if not rows:
        raise DecodeRaised("no record")
    return rows


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        (without_records, "no record"),
        (lambda request, rows: rows or {("cdc", None, None): [ROW]}, "1 rows"),
    ],
)
def test_a_batch_without_messages_gives_no_rows(lie, said):
    (finding,), judge = tried(lie)
    assert (finding.rule, finding.actual, judge.broken) == (
        BATCH,
        f"a batch without messages: {said}",
        {BATCH: 1},
    )


@pytest.mark.parametrize(("covering", "levels"), [(False, {1, 2}), (True, {1}), (True, {2})])
def test_a_run_tries_one_message_and_none_at_both_levels_or_at_one_by_the_seed(covering, levels):
    cases = [
        c
        for c in named_cases(get(NAME), get(NAME).profiles[:1])
        if c.scenario.startswith(("shape/", "fault/", "int/"))
    ]
    grouped = group_calls(get(NAME), cases, (1, 2), 0)
    sent = [w.message for call in grouped for case in call.cases for w in case.written]
    places = dict(zip(map(id, sent), assign_places(sent), strict=True))
    seen, loaded = [], Loaded((1, 2), Capabilities())
    for seed in range(8):
        engine, settings = (
            memory(),
            Settings((NAME,), Budget("tiny", 0, 40, covering=covering), seed),
        )
        prepared = Prepared(
            settings,
            get(NAME),
            "d",
            loaded,
            grouped,
            places,
            "handle",
            futures=[Future() for _ in grouped],
        )
        drawn = [
            (len(sample.owners), sample.plain.level)
            for sample in laws.submit_trials(engine, prepared)
        ]
        tried = [
            (sum(high - low + 1 for _, _, low, high in r.ranges), r.level) for r in engine.asked
        ]
        alone = {level for size, level in tried if size == 1}
        assert sorted(tried) == sorted(
            [*drawn * 2, *((size, level) for level in alone for size in (0, 1))]
        )
        seen.append(alone)
    assert levels in seen and (covering or all(chosen == levels for chosen in seen))


def sampled(lie=lambda request, rows: rows, judged=JUDGED, failed=False):
    """The findings of the trials of a run whose call gave these rows, or failed and then gave these
    rows.
    """
    engine, judge = memory(lie), Judge(rules(NAME))
    asked = replace(PLAIN, conf=CHATHAM, repartition=3)
    trial = laws.Trial(
        ("environment", "batch"), "Chatham, in 3 partitions", PLACES, (engine.decode(asked),)
    )
    sample = laws.Sample("call", PLAIN, OWNERS, PLACES, [trial])
    failed = {"call"} if failed else set()
    return (
        laws.collect_findings(engine, [sample], {"call": judged}, failed, judge, 120),
        judge,
        engine,
    )


def test_trials_are_compared_with_the_judged_call_and_count_for_each_law():
    findings, judge, engine = sampled()
    assert (findings, judge.compared, len(engine.asked)) == ([], {ENVIRONMENT: 6, BATCH: 6}, 1)


def test_where_a_trial_differs_the_circumstances_are_tried_one_by_one():
    findings, _, engine = sampled(
        lambda request, rows: with_row(rows, op="READ") if request.repartition else rows
    )
    assert {f.rule for f in findings} == {BATCH}
    assert len(engine.asked) > 5


def test_what_differs_only_in_combination_is_a_finding_of_the_first_law():
    def lie(request, rows):
        return with_row(rows, op="READ") if request.repartition and request.conf else rows

    findings, judge, _ = sampled(lie)
    assert {f.rule for f in findings} == {ENVIRONMENT}
    assert len(findings) == judge.broken[ENVIRONMENT] == len(PLACES)


def test_a_call_that_failed_is_tried_one_by_one_without_the_messages_to_blame():
    _, judge, engine = sampled(
        judged={place: [ROW] for place in PLACES if place != PLACES[2]}, failed=True
    )
    assert judge.compared[ENVIRONMENT] == 2 * (len(PLACES) - 1)
    retried = engine.asked[1:]
    assert len(retried) > 5
    assert not [
        request for request in retried for _, _, low, high in request.ranges if low <= 2 <= high
    ]


def test_a_call_that_failed_as_a_whole_is_not_tried_again():
    findings, judge, engine = sampled(judged={}, failed=True)
    assert (findings, judge.compared, len(engine.asked)) == ([], {}, 1)


def hanging(guilty, conf):
    """A decoder that hangs on some messages in an environment."""

    def lie(request, rows):
        if request.conf == conf and any(place in rows for place in guilty):
            raise DecodeTimeout("no end")
        return rows

    return lie


def test_a_message_that_hangs_in_a_circumstance_is_found_and_left_out_of_the_others():
    engine, judge = memory(hanging([PLACES[3]], CARACAS)), Judge(rules(NAME))
    findings = laws.try_each_circumstance(engine, PLAIN, OWNERS, judge)
    assert [(f.rule, f.message, f.actual) for f in findings] == [
        (ENVIRONMENT, 3, "Caracas: no end")
    ]
    hung = [request for request in engine.asked if request.conf == CARACAS]
    assert [request.limit_s for request in hung] == [0, *[0] * 6, 0], (
        "six messages stand alone at once"
    )
    last = [request for request in engine.asked if request.limit_s == 0][-1]
    assert not [1 for _, _, low, high in last.ranges if low <= 3 <= high]
    assert judge.compared[ENVIRONMENT] == 1 + 2 * (len(PLACES) - 1)


def test_a_hang_on_every_message_of_a_circumstance_is_one_finding():
    engine, judge = memory(hanging(PLACES, CARACAS)), Judge(rules(NAME))
    findings = laws.try_each_circumstance(engine, PLAIN, OWNERS, judge)
    assert [(f.rule, f.message, f.actual) for f in findings] == [
        (ENVIRONMENT, 0, "Caracas: no end")
    ]


@pytest.mark.parametrize("error", [DecodeTimeout("late"), ChildDied("gone")])
def test_what_hangs_withdraws_what_has_not_begun(error):
    first, running, waiting = Future(), Future(), Future()
    running.set_running_or_notify_cancel()
    laws._cancel_others_after_loss([first, running, waiting])
    first.set_exception(error)
    assert (running.cancelled(), waiting.cancelled()) == (False, True)
    trial, judge = laws.Trial(("batch",), "alone", PLACES, (waiting,)), Judge(rules(NAME))
    assert laws._compare_rows(judge, trial, {}, 1, OWNERS) == []
    laws._count_comparisons(judge, trial, [])
    assert not judge.compared
