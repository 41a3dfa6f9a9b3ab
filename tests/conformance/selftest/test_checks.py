"""The self test on an engine that answers from memory: what it shows is shown, and what it cannot show fails it."""

import io
import json
from collections import Counter
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from rich.console import Console

from conformance.cases.catalogue import Budget, calls, named_cases
from conformance.commands.cli import cli
from conformance.engines import child
from conformance.engines.base import ChildDied, DecodeRaised, Loaded, lay
from conformance.judging.judge import Capabilities, CaseResult, Finding, Judge, Verdict
from conformance.judging.output import OutputRow
from conformance.judging.results import FormatResult, RuleResult
from conformance.rules.base import Aspect, Obligation, rules
from conformance.running import isolating, laws, run
from conformance.running.prepared import Prepared, Settings
from conformance.running.run import Evidence, finish
from conformance.selftest import checks
from conformance.selftest.checks import Check
from generators.model import Kind, State
from generators.wire_format import get

NAME = "ticdc-canal-json"
FMT = get(NAME)
PROFILE = FMT.profile("v7.1.6")
NAMES = f"{NAME}/envelope/names"
SETTINGS = Settings((NAME,), Budget("none", 0, 0), 1)


def output(change):
    """The row of a perfect decoder at level one."""

    def image(cells):
        return None if cells is None else {name: cell.text for name, cell in cells.items() if cell.state is not State.ABSENT}

    fields = {
        "database": change.database,
        "schema": change.schema,
        "table": change.table,
        "keys": change.keys,
        "sql": change.sql,
        "position": change.position,
        "commit_time": change.commit_time_us,
        "types": change.types,
        "schema_version": change.schema_version,
    }
    error = "unreadable" if change.kind is Kind.CORRUPT else None
    return OutputRow(change.row, change.kind, change.op, fields, image(change.before), image(change.after), error)


def done(value):
    """A future that has its value, or its error."""
    future = Future()
    if isinstance(value, Exception):
        future.set_exception(value)
    else:
        future.set_result(value)
    return future


class Memory:
    """An engine that gives what the cases owe, by place; `lie` alters the answer to a request."""

    def __init__(self, truth, lie=lambda request, rows: rows, liars=()):
        self.truth, self.lie, self.told, self.released = truth, lie, liars, []
        self.environments = {"Chatham": {"zone": "Pacific/Chatham"}, "Caracas": {"zone": "America/Caracas"}}

    def decode(self, request):
        places = [(t, p, offset) for t, p, low, high in request.ranges for offset in range(low, high + 1)]
        rows = {place: list(self.truth[place]) for place in places}
        try:
            return done(self.lie(request, rows) if request.decoder != "honest" else rows)
        except (DecodeRaised, ChildDied) as error:
            return done(error)

    def liars(self, _fmt):
        return done(list(self.told))

    def release(self, handle):
        self.released.append(handle)


@pytest.fixture(autouse=True)
def no_arrow(monkeypatch):
    """The engine's answers are rows already."""
    for module in (checks, run, laws, isolating):
        monkeypatch.setattr(module, "read", lambda rows, _level: rows)


@pytest.fixture(scope="module")
def prepared():
    """A few named cases of every kind, laid out; the rows that they owe by place."""
    shapes = ("/shape/", "/fault/truncated/", "/fault/empty/", "/fault/duplicate-key/")
    cases = [c for c in named_cases(FMT, [PROFILE]) if c.level == 1 and any(word in c.id for word in shapes)]
    grouped = calls(FMT, cases, (1,), 0)
    written = [w for call in grouped for case in call.cases for w in case.written]
    laid = lay([w.message for w in written])
    places = {id(w.message): place for w, place in zip(written, laid, strict=True)}
    truth = {place: [output(change) for change in w.changes] for w, place in zip(written, laid, strict=True)}
    loaded = Loaded((1,), Capabilities())
    kept = frozenset(rule.id for rule in rules(NAME))
    return Prepared(FMT, "honest", loaded, grouped, places, "handle", [], 0, [], 0.0, kept), truth


@pytest.fixture
def evidence(prepared):
    """The reference's run over the cases: what was judged, and the result."""
    one, truth = prepared
    engine = Memory(truth)
    one.futures[:] = [engine.decode(run.request(SETTINGS, one, call, call.cases)) for call in one.calls]
    found = Evidence(Judge(rules(NAME), remembers=True))
    return found, finish(SETTINGS, engine, one, lambda _text: None, found)


def with_obligation(rule, obligation):
    """The format's rules, one of them with another obligation."""
    return tuple(replace(r, obligation=obligation) if r.id == rule else r for r in rules(NAME))


def tried(prepared, evidence, convicts, lie, found=None, **more):
    """The check of one liar."""
    one, truth = prepared
    seen = evidence[0]
    if found is not None:
        seen = replace(seen, judge=replace(seen.judge, rules=found, _owners={}, _plans={}))
    told = {"name": "liar", "convicts": convicts, "level": 1, **more}
    (check,) = checks.liars(Memory(truth, lie, [told]), one, seen, SETTINGS, lambda _text: None)
    assert (check.format, check.name) == (NAME, "liar")
    return check


def upper_table(_request, rows):
    def upper(row):
        return replace(row, fields={**row.fields, "table": (row.fields["table"] or "").upper() or None})

    return {place: [upper(row) for row in some] for place, some in rows.items()}


def truth_telling(_request, rows):
    return rows


def test_the_reference_is_right_on_the_cases_of_these_tests(evidence):
    _, result = evidence
    assert set(result.verdicts) == {Verdict.PASS, Verdict.REJECTED, Verdict.INFORMATIONAL}
    assert len(result.cases) > 20


def test_a_liar_is_convicted_by_the_rule_that_it_names(prepared, evidence):
    check = tried(prepared, evidence, NAMES, upper_table)
    assert (check.kind, check.ok) == ("liar", True)
    assert check.detail.startswith(f"convicted by {NAMES} (")
    assert check.detail.endswith(" times): fail")


@pytest.mark.parametrize(
    ("convicts", "lie", "said"),
    [
        (NAMES, truth_telling, f"NOT convicted by {NAMES}; by nobody"),
        (f"{NAME}/envelope/keys", upper_table, f"NOT convicted by {NAME}/envelope/keys; by ['{NAMES}']"),
        (f"{NAME}/no/such", upper_table, f"NOT convicted by {NAME}/no/such (no such rule); by nobody"),
        (f"{NAME}/law/batch-independence", truth_telling, "NOT convicted by ticdc-canal-json/law/batch-independence; by nobody"),
        (f"{NAME}/law/returns", truth_telling, "NOT convicted by ticdc-canal-json/law/returns; by nobody"),
    ],
)
def test_a_liar_that_its_rule_does_not_convict_fails_the_self_test(prepared, evidence, convicts, lie, said):
    check = tried(prepared, evidence, convicts, lie)
    assert (check.kind, check.ok, check.detail) == ("liar", False, said)


def test_a_liar_that_a_should_rule_convicts_is_non_strict_and_said_to_be(prepared, evidence):
    check = tried(prepared, evidence, NAMES, upper_table, with_obligation(NAMES, Obligation.SHOULD))
    assert (check.kind, check.ok) == ("non-strict", True)
    assert check.detail.endswith(": pass-non-strict")
    check = tried(prepared, evidence, NAMES, truth_telling, with_obligation(NAMES, Obligation.SHOULD))
    assert (check.kind, check.ok) == ("non-strict", False)


@pytest.mark.parametrize("obligation", [Obligation.MAY, Obligation.UNSPECIFIED])
def test_a_liar_that_no_binding_rule_convicts_fails_the_self_test(prepared, evidence, obligation):
    check = tried(prepared, evidence, NAMES, upper_table, with_obligation(NAMES, obligation))
    assert not check.ok
    assert check.detail == f"NOT convicted by {NAMES}, whose cases are informational; by nobody"


def test_a_liar_that_cannot_be_run_fails_the_self_test(prepared, evidence):
    def dies(_request, _rows):
        raise ChildDied("the child died\nwith a trace")

    check = tried(prepared, evidence, NAMES, dies)
    assert (check.ok, check.detail) == (False, "the child died")


def test_a_liar_is_tried_on_the_cases_in_which_its_rule_owns_something(prepared, evidence):
    asked = []

    def noted(request, rows):
        asked.append((request.decoder, len(rows)))
        return rows

    tried(prepared, evidence, NAMES, noted)
    tried(prepared, evidence, f"{NAME}/fault/unreadable", noted)
    assert {decoder for decoder, _ in asked} == {f"liar:{NAME}/liar"}
    (_, names), (_, faults) = asked
    assert 0 < faults < names


def test_a_liar_that_names_a_scenario_is_tried_on_its_cases(prepared, evidence):
    asked = []

    def noted(request, rows):
        asked.append(len(rows))
        return upper_table(request, rows)

    assert tried(prepared, evidence, NAMES, noted, scenario="shape/update-key").ok
    assert not tried(prepared, evidence, NAMES, noted, scenario="shape/nowhere").ok
    (case,) = (case for call in prepared[0].calls for case in call.cases if case.scenario == "shape/update-key")
    assert asked == [len(case.written)]


def test_the_law_that_decoding_returns_is_broken_by_unreadable_messages_alone(prepared, evidence):
    one, _ = prepared
    unreadable = {
        one.place(w.message)
        for call in one.calls
        for case in call.cases
        for w in case.written
        if w.changes[0].kind is Kind.CORRUPT
    }

    def raises(request, rows):
        if unreadable & set(rows):
            raise DecodeRaised("malformed")
        return rows

    def raises_always(_request, _rows):
        raise DecodeRaised("malformed")

    def forgets(request, rows):
        raises(request, rows)
        return {}

    law = f"{NAME}/law/returns"
    check = tried(prepared, evidence, law, raises)
    assert (check.ok, check.detail) == (True, f"convicted by {law} (1 times): errored")
    assert not tried(prepared, evidence, law, raises_always).ok
    assert not tried(prepared, evidence, law, forgets).ok


@pytest.mark.parametrize(
    ("law", "changed"),
    [
        ("environment-independence", lambda request, _rows: bool(request.conf)),
        ("batch-independence", lambda _request, rows: len(rows) == 1),
        ("batch-independence", lambda request, _rows: request.repartition > 0),
    ],
)
def test_a_liar_that_breaks_a_law_is_convicted_by_it(prepared, evidence, law, changed):
    def lie(request, rows):
        return upper_table(request, rows) if changed(request, rows) else rows

    rule = f"{NAME}/law/{law}"
    check = tried(prepared, evidence, rule, lie)
    assert check.ok and check.detail.startswith(f"convicted by {rule} (")
    other = next(r.id for r in rules(NAME) if r.law and r.law != "returns" and r.id != rule)
    assert not tried(prepared, evidence, other, lie).ok


def altered(prepared, evidence):
    return {check.name: check for check in checks.altered(prepared[0], *evidence)}


def test_every_altered_output_is_answered_by_its_rule_alone(prepared, evidence):
    found = altered(prepared, evidence)
    shown = {rule for rule, sites in evidence[0].judge.sites.items() if sites and "/law/" not in rule}
    assert {name for name, check in found.items() if check.ok} == shown >= {NAMES, f"{NAME}/fault/unreadable"}
    assert {found[name].detail for name in found.keys() - shown} == {"nothing to alter: the rule owned no comparison"}
    assert found.keys() == {rule.id for rule in rules(NAME) if not rule.law}


def test_an_altered_output_that_nobody_notices_fails_the_self_test(prepared, evidence, monkeypatch):
    monkeypatch.setattr(checks, "alter", lambda rows, _site, _level: rows)
    found = altered(prepared, evidence)
    assert not any(check.ok for check in found.values())
    assert found[NAMES].detail.endswith("pass by nobody")


def test_an_altered_output_that_another_rule_answers_too_fails_the_self_test(prepared, evidence, monkeypatch):
    honest = checks.alter

    def twice(rows, site, level):
        return [replace(row, fields={**row.fields, "keys": ["other"]}) for row in honest(rows, site, level)]

    monkeypatch.setattr(checks, "alter", twice)
    assert not altered(prepared, evidence)[NAMES].ok


def test_the_answer_must_have_the_weight_of_the_rule(prepared, evidence, monkeypatch):
    class Lenient(Judge):
        def verdict(self, case, findings, nulled=0):
            return Verdict.NON_STRICT

    monkeypatch.setattr(checks, "Judge", Lenient)
    assert not altered(prepared, evidence)[NAMES].ok


def judged(*pairs, cases=()):
    """A format's result: rules with how often each was compared and broken."""
    found = tuple(RuleResult(rule, compared, broken) for rule, compared, broken in pairs)
    return FormatResult(NAME, "d", (1, 2), tuple(cases), found, (), {}, 0, {})


def test_a_reference_that_is_accused_of_nothing_is_right(evidence):
    one = rules(NAME)[0]
    (check,) = checks.reference(judged((one, 7, 0), cases=evidence[1].cases[:3]))
    assert check == Check("reference", NAME, "no false alarm", True, "3 cases, 1 rules, 7 comparisons, 0 accusations")


@pytest.mark.parametrize("obligation", [Obligation.MUST, Obligation.SHOULD])
def test_a_reference_that_breaks_a_rule_fails_the_self_test(obligation):
    one = replace(rules(NAME)[0], obligation=obligation)
    first, _ = checks.reference(judged((one, 7, 2)))
    assert (first.ok, first.name, first.detail) == (False, one.id, "broken 2 times by the reference decoder")


@pytest.mark.parametrize("obligation", [Obligation.MAY, Obligation.UNSPECIFIED])
def test_a_reference_may_differ_where_nothing_binds(obligation):
    one = replace(rules(NAME)[0], obligation=obligation)
    assert [check.ok for check in checks.reference(judged((one, 7, 2)))] == [True]


def test_a_rule_that_compared_nothing_fails_the_self_test():
    first, _ = checks.reference(judged((rules(NAME)[0], 0, 0)))
    assert (first.ok, first.detail) == (False, "the rule owned no comparison")


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.ACCEPTED, Verdict.ERRORED, Verdict.TIMEOUT])
def test_a_reference_with_a_bad_case_fails_the_self_test(evidence, verdict):
    case = replace(evidence[1].cases[0], verdict=verdict)
    (check,) = checks.reference(judged((rules(NAME)[0], 7, 0), cases=[case]))
    assert (check.ok, check.name) == (False, "no false alarm")


def lying(prepared, monkeypatch, convicts, findings, changed=1):
    """The check of one lie of a writer, for which the decoder's output has these findings."""
    one, truth = prepared
    case = one.calls[0].cases[0]
    lie = SimpleNamespace(name="lie", convicts=convicts, profile=PROFILE.name)
    fmt = SimpleNamespace(name=NAME, switches=(lie,))
    found = tuple(Finding(case.id, rule, 0, 0, Aspect.FIELD, "table", "", "") for rule in findings)
    engine = Memory(truth)
    engine.directory, engine.open = None, lambda _handle, _source: done(1)
    monkeypatch.setattr(checks, "lies", lambda _name: (lie,), raising=False)
    monkeypatch.setattr(checks, "_lie", lambda _fmt, _lie, _unsent: ([case], changed))
    monkeypatch.setattr(checks, "calls", lambda _fmt, cases, _levels, _seed: calls(FMT, cases, (1,), 0))
    monkeypatch.setattr(checks, "lay_out", lambda _directory, _handle, messages: (lay(messages), None))
    monkeypatch.setattr(checks, "_judge", lambda *_: {case.id: CaseResult(case, Verdict.FAIL, found)})
    (check,) = checks.writers(engine, fmt, "honest")
    assert engine.released == ["writers"]
    return check


@pytest.mark.parametrize(
    ("convicts", "findings", "changed", "ok"),
    [
        (NAMES, [NAMES], 1, True),
        (NAMES, [], 1, False),
        (NAMES, [f"{NAME}/envelope/keys"], 1, False),
        (None, [], 1, True),
        (None, [NAMES], 1, False),
        (None, [], 0, False),
    ],
)
def test_a_lying_writer_must_be_seen_by_its_rule_and_a_harmless_change_by_none(
    prepared, monkeypatch, convicts, findings, changed, ok
):
    check = lying(prepared, monkeypatch, convicts, findings, changed)
    assert (check.kind, check.name, check.ok) == ("writer", "lie (v7.1.6)", ok)


STOPPED = DecodeRaised("stopped after a batch")


class Query:
    """A streaming query whose reads end as told; every maker kept tables."""

    def __init__(self, *ends):
        self.ends = list(ends)

    def __call__(self, *_):
        return self

    def read(self, hold=None):
        return done(self.ends.pop(0))

    def kept(self, maker="reference"):
        return maker


def streamed(monkeypatch, tmp_path, query=None, **wrong):
    """The checks of streams; `wrong` are the stream rules that each maker breaks."""
    engine = Memory({})
    engine.directory = tmp_path
    engine.ask = lambda *_: done({"liars": [{"name": "liar", "convicts": "order"}]})

    def judged(_group, maker, _rule):
        broken = Counter(f"{NAME}/stream/{rule}" for rule in wrong.get(maker, ()))
        told = [(rule, "so") for rule in broken]
        return [SimpleNamespace(nemesis="none", rows=1, messages=2, wrong=told, broken=broken, converged=not broken)]

    monkeypatch.setattr(checks, "judge", judged)
    monkeypatch.setattr(checks.streams, "group_of", lambda *_: "group")
    monkeypatch.setattr(checks.streams, "write_stages", lambda *_: None)
    monkeypatch.setattr(checks.streams, "decoder_of", lambda *_: "honest")
    monkeypatch.setattr(checks.streams, "Reader", query or Query(STOPPED, {}))
    return [(check.name, check.ok) for check in checks.stream_liars(engine, FMT, 1)]


def test_a_wrong_keeper_is_convicted_by_its_rule_and_the_reference_by_none(monkeypatch, tmp_path):
    assert streamed(monkeypatch, tmp_path, liar=["order"]) == [("reference under none", True), ("liar", True)]


def test_a_wrong_keeper_that_nobody_notices_fails_the_self_test(monkeypatch, tmp_path):
    assert streamed(monkeypatch, tmp_path) == [("reference under none", True), ("liar", False)]
    assert streamed(monkeypatch, tmp_path, liar=["delete"])[1] == ("liar", False)


def test_a_reference_that_does_not_converge_fails_the_self_test(monkeypatch, tmp_path):
    assert streamed(monkeypatch, tmp_path, reference=["order"], liar=["order"])[0] == ("reference under none", False)


def test_a_query_that_fails_fails_the_self_test(monkeypatch, tmp_path):
    assert streamed(monkeypatch, tmp_path, Query(STOPPED, DecodeRaised("again"))) == [("the query", False)]
    assert streamed(monkeypatch, tmp_path, Query({}, {})) == [("the query", False)]


PARTS = {"reference": "reference", "altered": "altered", "liars": "liar", "writers": "writer", "stream_liars": "stream"}


@pytest.fixture
def parts(monkeypatch):
    """Every part of the self test shows one thing; what fails is named in the set."""
    failing = set()
    one = SimpleNamespace(handle="handle", decoder="honest", fmt=FMT)
    monkeypatch.setattr(checks, "prepare", lambda *_: one)
    monkeypatch.setattr(checks, "finish", lambda *_: None)
    for part, kind in PARTS.items():
        monkeypatch.setattr(checks, part, lambda *_, kind=kind: [Check(kind, NAME, "it", kind not in failing, "so")])
    return failing


def test_the_self_test_shows_all_of_it_and_streams_where_their_liars_are_tried(parts):
    engine = Memory({})
    shown = [(c.kind, c.ok) for c in checks.selftest(engine, [NAME], 1, lambda _text: None)]
    assert shown == [(kind, True) for kind in PARTS.values()]
    assert engine.released == ["handle"]
    shown = [c.kind for c in checks.selftest(engine, ["huawei-cdl-json"], 1, lambda _text: None)]
    assert shown == [kind for kind in PARTS.values() if kind != "stream"]


@pytest.mark.parametrize("style", ["json", "pretty"])
@pytest.mark.parametrize("failing", [None, *PARTS.values()])
def test_whatever_is_not_shown_makes_the_command_fail(parts, monkeypatch, failing, style):
    class Engine(Memory):
        def __init__(self, **_):
            super().__init__({})

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(child, "ChildEngine", Engine)
    parts.update({failing} - {None})
    done = CliRunner().invoke(cli, ["selftest", NAME, "--format", style])
    assert done.exit_code == (1 if failing else 0)
    if style == "json":
        told = [json.loads(line) for line in done.stdout.splitlines()]
        assert {one["kind"] for one in told if not one["ok"]} == ({failing} if failing else set())
    else:
        assert (f"FAIL {failing} {NAME} it: so" in done.stdout) == (failing is not None)


def test_what_is_printed_tells_conviction_from_non_strict():
    found = [
        Check("liar", NAME, "one", True, "convicted"),
        Check("liar", NAME, "two", False, "NOT convicted"),
        Check("non-strict", NAME, "three", True, "pass-non-strict"),
    ]
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(checks.render(found))
    text = console.export_text()
    (convicted,) = (line for line in text.splitlines() if "convicted by the rule they name" in line)
    (lax,) = (line for line in text.splitlines() if "only with --strict" in line)
    assert [part.strip() for part in convicted.split("│")][-3:-1] == ["1", "2"]
    assert [part.strip() for part in lax.split("│")][-3:-1] == ["1", "1"]
    assert f"FAIL liar {NAME} two: NOT convicted" in text
    assert f"ok   non-strict {NAME} three: pass-non-strict" in text
