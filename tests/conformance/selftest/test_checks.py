"""The self test on an engine that answers from memory: what it shows is shown, and what it cannot
show fails it.
"""

import json
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from command_lines import performed
from remembered import done
from shown import shown

from conformance.cases.catalogue import named_cases
from conformance.engines import child
from conformance.engines.engine import ChildDied, DecodeRaised
from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.judge import Judge
from conformance.rules.rules import Aspect, Obligation, rules
from conformance.selftest import bench, checks, memory, staging
from conformance.selftest.bench import bench_of_cases
from conformance.selftest.checks import Check
from conformance.selftest.keeping import LAST_ARRIVAL_WINS
from conformance.selftest.liars.table import Liar
from conformance.selftest.measuring import Measured
from conformance.selftest.memory import Memory
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.operator import Operator
from conformance.selftest.shown import WHAT, render
from generators.wire_format import get
from spark_checks.liars.streams import LIARS

NAME = "ticdc-canal-json"
FMT = get(NAME)
PROFILE = FMT.profile("v7.1.6")
NAMES = f"{NAME}/envelope/names"
HONEST = Operator("honest", (), lambda rows, _seen: list(rows))


@pytest.fixture(scope="module")
def tried():
    """A few named cases of every kind, answered rightly."""
    shapes = ("/shape/", "/fault/truncated/", "/fault/empty/", "/fault/duplicate-key/")
    return bench_of_cases(
        FMT,
        [
            c
            for c in named_cases(FMT, [PROFILE])
            if c.level == 1 and any(word in c.id for word in shapes)
        ],
    )


def with_obligation(tried, rule, obligation):
    """The cases under the format's rules, one of them with another obligation."""
    listed = tuple(replace(r, obligation=obligation) if r.id == rule else r for r in rules(NAME))
    return replace(tried, judge=replace(tried.judge, rules=listed, _owners={}, _about={}, plans={}))


def check_of(monkeypatch, tried, convicts, operator=None, scenario="", breach=""):
    """The check of one liar of the table."""
    liar = Liar("liar", NAME, 1, convicts, "why", operator, scenario, breach)
    monkeypatch.setattr(checks, "liars", lambda _fmt: (liar,))
    (check,) = checks.check_table_liars(tried, 1)
    assert (check.format, check.name) == (NAME, "liar")
    return check


def test_a_liar_is_convicted_by_the_rule_that_it_names(monkeypatch, tried):
    check = check_of(monkeypatch, tried, NAMES, OPERATORS["table-null"])
    assert (check.kind, check.ok, check.detail) == (
        "liar",
        True,
        f"convicted by {NAMES} (2 times): fail",
    )


@pytest.mark.parametrize(
    ("convicts", "operator", "said"),
    [
        (NAMES, HONEST, f"NOT convicted by {NAMES}; by nobody"),
        (
            f"{NAME}/envelope/keys",
            OPERATORS["table-null"],
            f"NOT convicted by {NAME}/envelope/keys; by ['{NAMES}']",
        ),
        (f"{NAME}/no/such", HONEST, f"NOT convicted by {NAME}/no/such (no such rule); by nobody"),
    ],
)
def test_a_liar_that_its_rule_does_not_convict_fails_the_self_test(
    monkeypatch, tried, convicts, operator, said
):
    check = check_of(monkeypatch, tried, convicts, operator)
    assert (check.kind, check.ok, check.detail) == ("liar", False, said)


def test_a_liar_that_a_should_rule_convicts_is_non_strict_and_said_to_be(monkeypatch, tried):
    loose = with_obligation(tried, NAMES, Obligation.SHOULD)
    check = check_of(monkeypatch, loose, NAMES, OPERATORS["table-null"])
    assert (check.kind, check.ok) == ("non-strict", True)
    assert check.detail.endswith(": pass-non-strict")
    check = check_of(monkeypatch, loose, NAMES, HONEST)
    assert (check.kind, check.ok) == ("non-strict", False)


@pytest.mark.parametrize("obligation", [Obligation.MAY, Obligation.UNSPECIFIED])
def test_a_liar_that_no_binding_rule_convicts_fails_the_self_test(monkeypatch, tried, obligation):
    check = check_of(
        monkeypatch, with_obligation(tried, NAMES, obligation), NAMES, OPERATORS["table-null"]
    )
    assert not check.ok
    assert check.detail == f"NOT convicted by {NAMES}, whose cases are informational; by nobody"


def test_a_liar_that_names_a_scenario_is_tried_on_its_cases(monkeypatch, tried):
    assert check_of(monkeypatch, tried, NAMES, OPERATORS["table-null"], "shape/update-key").ok
    assert not check_of(monkeypatch, tried, NAMES, OPERATORS["table-null"], "shape/nowhere").ok


@pytest.mark.parametrize(
    ("breach", "law"),
    [
        *(("raises", "returns"), ("rows-elsewhere", "places"), ("rows-nowhere", "places")),
        *(
            ("offsets-of-32-bits", "environment-independence"),
            ("table-of-the-batch", "batch-independence"),
        ),
        ("raises-on-nothing", "batch-independence"),
        ("time-of-the-session", "environment-independence"),
    ],
)
def test_a_breach_of_a_law_is_convicted_by_it_and_an_honest_decoder_is_not(
    monkeypatch, tried, breach, law
):
    check = check_of(monkeypatch, tried, f"{NAME}/law/{law}", breach=breach)
    assert check.ok and check.detail.startswith(f"convicted by {NAME}/law/{law} (")
    assert not check_of(monkeypatch, tried, f"{NAME}/law/{law}", breach="none").ok


def test_the_law_that_decoding_returns_is_broken_by_unreadable_messages_alone(monkeypatch, tried):
    def raises_always(_request, _rows):
        raise DecodeRaised("malformed")

    def forgets(request, rows):
        return memory.BREACHES["raises"](request, rows) and []

    monkeypatch.setattr(
        memory, "BREACHES", {**memory.BREACHES, "always": raises_always, "forgets": forgets}
    )
    law = f"{NAME}/law/returns"
    assert (
        check_of(monkeypatch, tried, law, breach="raises").detail
        == f"convicted by {law} (1 times): errored"
    )
    assert not check_of(monkeypatch, tried, law, breach="always").ok
    assert not check_of(monkeypatch, tried, law, breach="forgets").ok


def altered(tried):
    return {check.name: check for check in checks.check_altered_outputs(tried)}


def test_a_blame_that_acquits_fails_the_self_test(monkeypatch, tried):
    monkeypatch.setattr(
        checks, "OPERATORS", {name: OPERATORS[name] for name in ("keys-null", "delete-lost")}
    )
    (check,) = checks.check_blame(tried)
    assert check.ok and check.detail.endswith(" liars and operators, 0 weaker verdicts")
    monkeypatch.setattr(
        bench,
        "replace_rules",
        lambda _judge, results, _known: [replace(r, verdict=Verdict.PASS) for r in results],
    )
    (check,) = checks.check_blame(tried)
    assert not check.ok and "; keys-null; " in f"{check.detail}; "


@pytest.mark.parametrize(
    ("typed", "some"),
    [
        (False, {"envelope/names", "fault/unreadable"}),
        (True, {"value/integer", "value/decimal", "value/binary"}),
    ],
)
def test_every_altered_output_is_answered_by_its_rule_alone(tried, typed, some):
    if typed:
        tried = bench_of_cases(FMT, named_cases(FMT, [PROFILE], ("*/rows/every-type/alone-*",)))
    by_rule, shown = (
        altered(tried),
        {rule for rule, sites in tried.judge.sites.items() if sites and "/law/" not in rule},
    )
    assert (
        {name for name, check in by_rule.items() if check.ok}
        == shown
        >= {f"{NAME}/{rule}" for rule in some}
    )
    assert {by_rule[name].detail for name in by_rule.keys() - shown} == {
        "nothing to alter: the rule owned no comparison"
    }
    assert by_rule.keys() == {rule.id for rule in rules(NAME) if not rule.law}


def test_an_altered_output_that_nobody_notices_fails_the_self_test(tried, monkeypatch):
    monkeypatch.setattr(checks, "alter", lambda rows, _site, _level: rows)
    by_rule = altered(tried)
    assert not any(check.ok for check in by_rule.values())
    assert by_rule[NAMES].detail.endswith("pass by nobody")


def test_an_altered_output_that_another_rule_answers_too_fails_the_self_test(tried, monkeypatch):
    honest = checks.alter

    def twice(rows, site, level):
        return [
            replace(row, fields={**row.fields, "keys": ["other"]})
            for row in honest(rows, site, level)
        ]

    monkeypatch.setattr(checks, "alter", twice)
    assert not altered(tried)[NAMES].ok


def test_the_answer_must_have_the_weight_of_the_rule(tried, monkeypatch):
    class Lenient(Judge):
        def verdict(self, case, findings, nulled=0):
            return Verdict.NON_STRICT

    monkeypatch.setattr(checks, "Judge", Lenient)
    assert not altered(tried)[NAMES].ok


def answered(rule, compared, broken):
    """A bench whose judge counted these comparisons of one rule."""
    judge = SimpleNamespace(
        rules=(rule,), compared=Counter({rule.id: compared}), broken=Counter({rule.id: broken})
    )
    return SimpleNamespace(fmt=FMT, cases={1: 1, 2: 2}, judge=judge)


def test_right_rows_that_are_accused_of_nothing_are_right():
    (check,) = checks.check_right_rows(answered(rules(NAME)[0], 7, 0))
    assert check == Check(
        "reference", NAME, "no false alarm", True, "2 cases, 1 rules, 7 comparisons, 0 accusations"
    )


@pytest.mark.parametrize("obligation", [Obligation.MUST, Obligation.SHOULD])
def test_right_rows_that_break_a_rule_fail_the_self_test(obligation):
    rule = replace(rules(NAME)[0], obligation=obligation)
    first, last = checks.check_right_rows(answered(rule, 7, 2))
    assert (first.ok, first.name, first.detail) == (False, rule.id, "broken 2 times by right rows")
    assert not last.ok


def test_a_rule_that_compared_nothing_fails_the_self_test():
    first, _ = checks.check_right_rows(answered(rules(NAME)[0], 0, 0))
    assert (first.ok, first.detail) == (False, "the rule owned no comparison")


class Spark(Memory):
    """An engine with liars; `lies` are breaches by the name of the liar."""

    def __init__(self, truth, known, dies=False):
        super().__init__(truth)
        self.known, self.dies, self.released = known, dies, []

    def liars(self, _fmt):
        return done(list(self.known))

    def keep_records(self, handle, source):
        return done(1)

    def release(self, handle):
        self.released.append(handle)

    def decode(self, request):
        liar = request.decoder.rpartition("/")[2] if request.decoder.startswith("liar:") else ""
        died = done(ChildDied("the child died\nwith a trace"))
        return died if liar and self.dies else super().decode(replace(request, decoder=liar))


def in_spark(monkeypatch, tried, dies=False, **names):
    """The checks of liars in an engine, by name; each names a rule."""
    known = [
        {"name": n.replace("_", "-"), "level": 1, "convicts": f"{NAME}/{rule}", "scenario": ""}
        for n, rule in names.items()
    ]
    engine = Spark({}, known, dies)

    def opened(_engine, placed):
        engine.truth = staging.right_rows_by_place(tried, placed)
        return placed

    monkeypatch.setattr(checks, "_keep_records", opened)
    by_name = {check.name: check for check in checks.check_liars_in_spark(engine, tried, 1)}
    assert engine.released == [NAME]
    return by_name


def test_liars_in_spark_are_convicted_and_the_reference_is_not(monkeypatch, tried):
    by_name = in_spark(
        monkeypatch,
        tried,
        raises="law/returns",
        rows_nowhere="law/places",
        table_of_the_batch="envelope/names",
    )
    names = ("in Spark", "raises", "rows-nowhere", "table-of-the-batch")
    assert {name: check.ok for name, check in by_name.items()} == dict.fromkeys(names, True)
    assert {check.kind for check in by_name.values()} == {"reference", "spark"}


def test_a_liar_in_spark_that_is_honest_or_cannot_be_run_fails_the_self_test(monkeypatch, tried):
    assert not in_spark(monkeypatch, tried, honest="envelope/names")["honest"].ok
    check = in_spark(monkeypatch, tried, dies=True, honest="envelope/names")["honest"]
    assert (check.ok, check.detail) == (False, "the child died")


def test_a_reference_that_is_accused_in_spark_fails_the_self_test(monkeypatch, tried):
    monkeypatch.setattr(checks, "decoder_spec", lambda *_: "rows-elsewhere")
    breach = "table-of-the-batch"
    monkeypatch.setattr(
        Spark, "decode", lambda self, request: Memory.decode(self, replace(request, decoder=breach))
    )
    check = in_spark(monkeypatch, tried)["in Spark"]
    assert not check.ok and check.detail.endswith(f"the first by {NAMES}")


def lying(tried, monkeypatch, convicts, findings, changed=1):
    """The check of one lie of a writer, for which the decoder's output has these findings."""
    case = next(iter(tried.cases.values())).case
    lie = SimpleNamespace(name="lie", convicts=convicts, profile=PROFILE.name)
    made = tuple(Finding(case.id, rule, 0, 0, Aspect.FIELD, "table", "", "") for rule in findings)
    engine = Spark({}, ())
    monkeypatch.setattr(checks, "lies", lambda _name: (lie,), raising=False)
    monkeypatch.setattr(checks, "_cases_of_lie", lambda _fmt, _lie, _unsent: [case][:changed])
    monkeypatch.setattr(checks, "_keep_records", lambda _engine, placed: placed)
    monkeypatch.setattr(staging, "judge_cases", lambda *_: [CaseResult(case, Verdict.FAIL, made)])
    (check,) = checks.check_lying_writers(engine, tried)
    assert engine.released == [NAME]
    return check


@pytest.mark.parametrize(
    ("convicts", "findings", "changed", "ok"),
    [
        *(
            (NAMES, [NAMES], 1, True),
            (NAMES, [], 1, False),
            (NAMES, [f"{NAME}/envelope/keys"], 1, False),
            (None, [], 1, True),
        ),
        *((None, [NAMES], 1, False), (None, [], 0, False)),
    ],
)
def test_a_lying_writer_must_be_seen_by_its_rule_and_a_harmless_change_by_none(
    tried, monkeypatch, convicts, findings, changed, ok
):
    check = lying(tried, monkeypatch, convicts, findings, changed)
    assert (check.kind, check.name, check.ok) == ("writer", "lie (v7.1.6)", ok)


def test_a_lie_that_breaks_another_rule_too_is_told(tried, monkeypatch):
    check = lying(tried, monkeypatch, NAMES, [NAMES, f"{NAME}/envelope/keys", NAMES])
    assert check.detail == f"{NAMES}: 2 findings in 1 cases; also broken: {NAME}/envelope/keys"
    assert check.as_json()["also_broken"] == [f"{NAME}/envelope/keys"]
    assert f"ok   writer {NAME} lie (v7.1.6): {check.detail}" in shown(render([check]), 200)
    alone = lying(tried, monkeypatch, NAMES, [NAMES])
    assert "ok   writer" not in shown(render([alone]), 200)


STOPPED = DecodeRaised("stopped after a batch")


class Query:
    """A streaming query whose reads end as told; every maker kept tables."""

    def __init__(self, *ends):
        self.ends = list(ends)

    def __call__(self, *_):
        return self

    def read(self, hold=None):
        return done(self.ends.pop(0))

    def read_tables(self, maker="reference"):
        return maker


TRAPS = SimpleNamespace(streams=("a stream",), fmt=FMT)
RIGHT = [("right keeper under none", True)]


def keepers(monkeypatch, **wrong):
    """The checks of a right keeper and of one that lets what arrives last win; `wrong` are the
    stream rules that each breaks.
    """

    def judged(_group, maker, _rule):
        broken = Counter(f"{NAME}/stream/{rule}" for rule in wrong.get(maker, ()))
        sentences = [(rule, "so") for rule in broken]
        return [
            SimpleNamespace(
                nemesis="none",
                rows=1,
                messages=2,
                wrong=sentences,
                broken=broken,
                converged=not broken,
            )
        ]

    monkeypatch.setattr(checks, "judge", judged)
    monkeypatch.setattr(
        checks, "keep_tables", lambda _group, mistake=None: "liar" if mistake else "reference"
    )
    monkeypatch.setattr(checks, "mistakes_of", lambda _name: [LAST_ARRIVAL_WINS])
    monkeypatch.setattr(checks, "IN_SPARK", {NAME: [LAST_ARRIVAL_WINS]})
    return [(check.name, check.ok) for check in checks.check_keepers(TRAPS)]


def kept_in_spark(monkeypatch, tmp_path, query=None, **wrong):
    """The same of keepers in Spark."""
    keepers(monkeypatch, **{LAST_ARRIVAL_WINS.name: wrong.pop("liar", ()), **wrong})
    engine = Spark({}, ())
    engine.directory = tmp_path
    monkeypatch.setattr(checks.reading, "feed_options", lambda *_: {})
    monkeypatch.setattr(checks, "decoder_spec", lambda *_: "honest")
    monkeypatch.setattr(checks.reading, "GroupReader", query or Query(STOPPED, {}))
    return [(check.name, check.ok) for check in checks.check_keepers_in_spark(engine, TRAPS)]


def test_a_wrong_keeper_is_convicted_by_its_rule_and_the_right_one_by_none(monkeypatch, tmp_path):
    assert keepers(monkeypatch, liar=["order"]) == [*RIGHT, (LAST_ARRIVAL_WINS.name, True)]
    wanted = [("reference under none", True), (f"{LAST_ARRIVAL_WINS.name} in Spark", True)]
    assert kept_in_spark(monkeypatch, tmp_path, liar=["order"]) == wanted


def test_a_wrong_keeper_that_nobody_notices_fails_the_self_test(monkeypatch, tmp_path):
    assert keepers(monkeypatch) == [*RIGHT, (LAST_ARRIVAL_WINS.name, False)]
    assert kept_in_spark(monkeypatch, tmp_path, liar=["delete"])[1] == (
        f"{LAST_ARRIVAL_WINS.name} in Spark",
        False,
    )


def test_a_right_keeper_that_does_not_converge_fails_the_self_test(monkeypatch, tmp_path):
    assert keepers(monkeypatch, reference=["order"], liar=["order"])[0] == (
        "right keeper under none",
        False,
    )
    assert kept_in_spark(monkeypatch, tmp_path, reference=["order"], liar=["order"])[0] == (
        "reference under none",
        False,
    )


def test_a_query_that_fails_fails_the_self_test(monkeypatch, tmp_path):
    assert kept_in_spark(monkeypatch, tmp_path, Query(STOPPED, DecodeRaised("again"))) == [
        ("the query", False)
    ]
    assert kept_in_spark(monkeypatch, tmp_path, Query({}, {})) == [("the query", False)]


def test_spark_has_the_keepers_that_are_tried_in_it():
    assert list(LIARS) == [mistake.name for some in checks.IN_SPARK.values() for mistake in some]


PARTS = {
    "check_right_rows": "reference",
    "check_altered_outputs": "altered",
    "check_table_liars": "liar",
    "check_blame": "blame",
    "check_operators": "operator",
    "check_liars_in_spark": "spark",
    "check_lying_writers": "writer",
    "check_keepers": "stream",
    "check_keepers_in_spark": "stream",
}


@pytest.fixture
def parts(monkeypatch):
    """Every part of the self test shows one thing; what fails is named in the set."""
    failing = set()
    monkeypatch.setattr(checks, "make_bench", lambda *_: SimpleNamespace(fmt=FMT))
    monkeypatch.setattr(checks, "streams_for_keepers", lambda *_: TRAPS)
    monkeypatch.setattr(checks, "IN_SPARK", {NAME: ()})
    for part, kind in PARTS.items():
        monkeypatch.setattr(
            checks, part, lambda *_, kind=kind: [Check(kind, NAME, "it", kind not in failing, "so")]
        )
    return failing


def test_the_self_test_shows_all_of_it_and_keepers_in_spark_where_they_are_tried(parts):
    shown = [(c.kind, c.ok) for c in checks.selftest(Spark({}, ()), [NAME], 1, lambda _text: None)]
    assert shown == [(kind, True) for kind in PARTS.values()]
    shown = [
        c.kind for c in checks.selftest(Spark({}, ()), ["huawei-cdl-json"], 1, lambda _text: None)
    ]
    assert shown == list(PARTS.values())[:-1]
    shown = [c.kind for c in checks.without_spark([NAME], 1, lambda _text: None)]
    assert shown == ["reference", "altered", "liar", "blame", "operator", "stream"]


@pytest.mark.parametrize("style", ["json", "pretty"])
@pytest.mark.parametrize("failing", [None, *PARTS.values()])
def test_whatever_is_not_shown_makes_the_command_fail(parts, monkeypatch, failing, style):
    class Engine(Spark):
        def __init__(self, **_):
            super().__init__({}, ())

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(child, "ChildEngine", Engine)
    parts.update({failing} - {None})
    done = performed("selftest", NAME, "--format", style)
    assert done.exit_code == (1 if failing else 0)
    if style == "json":
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert {line["kind"] for line in lines if not line["ok"]} == (
            {failing} if failing else set()
        )
    else:
        assert (f"FAIL {failing} {NAME} it: so" in done.stdout) == (failing is not None)


def test_what_is_printed_tells_conviction_from_non_strict():
    without_effect = "four at level 1: without effect: no case has it"
    measured = Measured(
        NAME,
        1,
        OPERATORS["keys-null"],
        0,
        must_in_named_cases=Counter(),
        must_in_drawn_cases=Counter(),
        should_rules=Counter(),
        may_rules=Counter(),
        example="",
    )
    results = [
        *(
            Check("liar", NAME, "one", True, "convicted"),
            Check("liar", NAME, "two", False, "NOT convicted"),
        ),
        Check("non-strict", NAME, "three", True, "pass-non-strict"),
        Check(
            "operator",
            NAME,
            "four/1",
            True,
            f"{without_effect} in 0 cases; for example nowhere",
            measured,
        ),
    ]
    text = shown(render(results), 200)
    rows = {what: line for what in WHAT.values() for line in text.splitlines() if what in line}
    assert [part.strip() for part in rows[WHAT["liar"]].split("│")][-3:-1] == ["1", "2"]
    assert [part.strip() for part in rows[WHAT["non-strict"]].split("│")][-3:-1] == ["1", "1"]
    assert f"FAIL liar {NAME} two: NOT convicted" in text
    assert f"ok   operator {NAME} four/1: {without_effect}" in text
