"""Known failures on record: what an entry covers, when it is out of date, what --update makes of a
file, and wrong files.
"""

from dataclasses import replace

import pytest

from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.known import Entry, EntryTracker, Expectations, State, load
from conformance.judging.known_files import mark_by_record, updated, write
from conformance.judging.results import FormatResult, Header, RuleResult, RunResult
from conformance.rules.rules import Aspect, Effect, Obligation, Provenance, Rule
from generators.errors import UsageError
from generators.model import Case, Deployment, Origin
from generators.wire_format import get

NAME = "ticdc-canal-json"
SIGNED, NAMES, SPACE = (
    Rule(
        f"{NAME}/{name}", "A statement.", obligation, Provenance.DOCUMENTED, (), Effect.WRONG_VALUE
    )
    for name, obligation in (
        *(
            ("value/signed", Obligation.MUST),
            ("envelope/names", Obligation.MUST),
            ("value/space", Obligation.SHOULD),
        ),
    )
)
RULES = (SIGNED, NAMES, SPACE)


def judged(name, *broken, profile="v7.1.6", verdict=None, aspect=Aspect.VALUE):
    origin = Origin.DRAWN if name.startswith("drawn/") else Origin.NAMED
    case = Case(f"{NAME}/{profile}/{name}", NAME, profile, Deployment(), 1, (), (), origin=origin)
    findings = tuple(
        Finding(case.id, rule.id, 0, 0, aspect, "after['c']", "1", "2") for rule in broken
    )
    verdict = verdict or (Verdict.FAIL if findings else Verdict.PASS)
    return CaseResult(case, verdict, findings)


def run(*cases, entries=(), strict=False, compared=1, narrowed=False, profiles=True):
    """A run of these cases, and of a good one of every other profile unless told not to."""
    record, there = (
        EntryTracker(Expectations(tuple(entries))),
        {case.case.profile for case in cases},
    )
    cases += tuple(
        judged("other", profile=p.name)
        for p in get(NAME).profiles
        if profiles and p.name not in there
    )
    counts = {rule.id: compared for rule in RULES}
    marked = tuple(record.mark(cases, RULES, counts))
    rules = tuple(RuleResult(rule, compared, 0, reachable=False) for rule in RULES)
    fmt = FormatResult(NAME, "mine.py", (1,), marked, rules, (), {}, 0, {})
    entry_results = record.results([NAME], [rule.id for rule in RULES], narrowed)
    return RunResult(
        Header(1, "smoke", "mine.py", "none", ""), (fmt,), (), 1.0, strict, False, entry_results
    )


def known(rule=SIGNED, verdict=Verdict.FAIL, **more):
    return Entry(rule.id, verdict, **more)


BAD = judged("bad", SIGNED)
GOOD = judged("good")


def test_a_failure_on_record_does_not_fail_the_run():
    assert run(BAD, GOOD).exit_code == 1
    result = run(BAD, GOOD, entries=[known()])
    assert (result.exit_code, result.entries[0].state, result.entries[0].cases) == (
        0,
        State.KNOWN,
        1,
    )


def test_a_case_that_also_breaks_another_rule_still_fails():
    result = run(judged("bad", SIGNED, NAMES), entries=[known()])
    assert (result.exit_code, result.formats[0].cases[0].known) == (1, {SIGNED.id})
    assert run(judged("bad", SIGNED, NAMES), entries=[known(), known(NAMES)]).exit_code == 0


@pytest.mark.parametrize(
    "entry",
    [
        known(verdict=Verdict.ACCEPTED),
        known(profiles=("v5.*",)),
        known(cases=(f"{NAME}/v7.1.6/other",)),
        known(NAMES),
    ],
)
def test_an_entry_covers_only_its_own_rule_verdict_profile_and_case(entry):
    assert run(BAD, judged("good", profile="v5.3.4"), entries=[entry]).exit_code == 1


@pytest.mark.parametrize(
    "pattern", [SIGNED.id, f"{NAME}/value", f"{NAME}/value/*", "*/value/signed", "*"]
)
def test_rules_are_named_by_prefix_or_glob(pattern):
    assert run(BAD, entries=[Entry(pattern, Verdict.FAIL)]).exit_code == 0


@pytest.mark.parametrize("verdict", [Verdict.ERRORED, Verdict.TIMEOUT])
def test_errors_and_timeouts_can_be_on_record(verdict):
    case = judged("bad", SIGNED, verdict=verdict)
    assert (run(case).exit_code, run(case, entries=[known(verdict=verdict)]).exit_code) == (1, 0)


def test_an_error_without_a_finding_is_never_known():
    assert (
        run(judged("bad", verdict=Verdict.ERRORED), entries=[Entry("*", Verdict.ERRORED)]).exit_code
        == 1
    )


def test_an_unexpected_pass_fails_with_five():
    result = run(GOOD, entries=[known()])
    assert result.exit_code == 5
    assert result.entries[0].state is State.UNEXPECTED_PASS


@pytest.mark.parametrize(
    ("entry", "more"),
    [
        (known(profiles=("v7.1.6",)), {"profiles": False}),
        (known(cases=(f"{NAME}/v7.1.6/good",)), {"narrowed": True}),
    ],
)
def test_a_pass_is_unexpected_once_all_that_the_entry_is_about_was_judged(entry, more):
    assert run(GOOD, entries=[entry], **more).exit_code == 5


def test_a_new_failure_weighs_more_than_an_unexpected_pass():
    assert run(judged("bad", NAMES), entries=[known()]).exit_code == 1


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Entry(f"{NAME}/value/singed", Verdict.FAIL), f"no such rule; did you mean '{SIGNED.id}'?"),
        (known(profiles=("v9.*",)), "no case of this run is of its profile and case"),
    ],
)
def test_an_entry_that_matches_nothing_fails_with_five(entry, words):
    result = run(GOOD, entries=[entry])
    assert result.exit_code == 5
    assert result.entries[0].state is State.MATCHES_NOTHING
    assert words in result.entries[0].hint


@pytest.mark.parametrize(
    ("entries", "more"),
    [
        *(([known(drawn=True)], {}), ([known()], {"compared": 0}), ([known()], {"narrowed": True})),
        *(([known()], {"profiles": False}), ([known(profiles=("v5.3.4",))], {"profiles": False})),
        *(
            ([known(profiles=("v9.*",))], {"narrowed": True}),
            ([Entry("debezium-json/row/key", Verdict.FAIL)], {}),
        ),
        ([known(cases=(f"{NAME}/v7.1.6/good", f"{NAME}/v7.1.6/not-judged"))], {"narrowed": True}),
    ],
)
def test_what_a_run_could_not_show_is_no_unexpected_pass(entries, more):
    result = run(GOOD, entries=entries, **more)
    assert result.exit_code == 0
    assert result.entries[0].state is State.NOT_REACHED


def test_a_broken_should_needs_an_entry_only_under_strict():
    lax = judged("lax", SPACE, verdict=Verdict.NON_STRICT)
    assert (run(lax).exit_code, run(lax, strict=True).exit_code) == (0, 1)
    assert run(lax, strict=True, entries=[known(SPACE, Verdict.NON_STRICT)]).exit_code == 0


def test_update_records_what_is_new_and_removes_what_passes(tmp_path):
    everywhere = [judged("bad", SIGNED, profile=p.name) for p in get(NAME).profiles]
    first = run(*everywhere, judged("names", NAMES))
    made = updated(first)
    assert made.added == (
        Entry(NAMES.id, Verdict.FAIL, ("v7.1.6",)),
        Entry(SIGNED.id, Verdict.FAIL),
    )
    path = tmp_path / "known.toml"
    write(path, made)
    again = mark_by_record(first, load(path))
    assert (again.exit_code, [entry.state for entry in again.entries]) == (
        0,
        [State.KNOWN, State.KNOWN],
    )

    repaired = run(judged("names", NAMES), GOOD, entries=load(path).entries)
    assert repaired.exit_code == 5
    write(path, updated(repaired))
    assert load(path).entries == (Entry(NAMES.id, Verdict.FAIL, ("v7.1.6",)),)

    write(path, updated(run(GOOD, entries=load(path).entries)))
    assert load(path).entries == ()
    write(path, updated(first))
    assert len(load(path).entries) == 2


def test_update_enters_what_only_drawn_cases_show_as_such():
    made = updated(
        run(judged("drawn/17", SIGNED), judged("drawn/18", NAMES), judged("names", NAMES))
    )
    only = ("v7.1.6",)
    assert made.added == (
        Entry(NAMES.id, Verdict.FAIL, only),
        Entry(SIGNED.id, Verdict.FAIL, only, drawn=True),
    )


def test_update_of_a_run_over_some_profiles_speaks_of_those_only():
    assert updated(run(BAD, profiles=False)).added == (Entry(SIGNED.id, Verdict.FAIL, ("v7.1.6",)),)


def test_update_keeps_comments_reasons_and_order(tmp_path):
    path = tmp_path / "known.toml"
    text = f"""# Ours.
version = 1

[[known]]
rule = "{SIGNED.id}"
verdict = "fail"
reason = "waits for 2.0"  # see the tracker
link = "https://example.org/1"

[[known]]
rule = "{NAME}/value/space"
verdict = "fail"
"""
    path.write_text(text, "utf-8")
    result = run(BAD, judged("names", NAMES), entries=load(path).entries)
    write(path, updated(result))
    now = path.read_text("utf-8")
    assert now.startswith(
        text.split(f'[[known]]\nrule = "{NAME}/value/space"', maxsplit=1)[0].rstrip()
    )
    assert "value/space" not in now
    entries = load(path).entries
    assert [e.rule for e in entries] == [SIGNED.id, NAMES.id]
    assert (entries[0].reason, entries[0].link) == ("waits for 2.0", "https://example.org/1")


def test_entries_that_overlap_are_all_known():
    result = run(
        BAD,
        judged("bad", SIGNED, profile="v5.3.4"),
        entries=[Entry(f"{NAME}/value", Verdict.FAIL), known()],
    )
    assert (result.exit_code, [(entry.state, entry.cases) for entry in result.entries]) == (
        0,
        [(State.KNOWN, 2)] * 2,
    )


def test_the_reason_is_told_with_the_failure():
    entry = known(reason="waits for 2.0", link="https://example.org/1")
    record = EntryTracker(Expectations((entry,)))
    record.mark([BAD], RULES, {SIGNED.id: 1})
    assert (record.find_reason(SIGNED.id), record.find_reason(NAMES.id)) == (
        ("waits for 2.0", "https://example.org/1"),
        ("", ""),
    )


OF_RULE = f"version = 1\n[[known]]\nrule = '{SIGNED.id}'\n"
OF_ENTRY = (
    *(
        ("verdict = 'fial'", "unknown verdict 'fial'. Did you mean 'fail'?"),
        ("verdict = 'pass'", "unknown verdict 'pass'"),
    ),
    ("verdict = 'fail'\nreson = ''", "unknown key 'reson'. Did you mean 'reason'?"),
    ("verdict = 'fail'\ncause = ''", "cause = '' must be a text or a list of texts, none empty"),
    ("verdict = 'fail'\nprofile = 3", "profile = 3 must be a text or a list of texts, none empty"),
    ("verdict = 'fail'\nprofile = []", "profile = [] must be"),
    ("verdict = 'fail'\ndrawn = 'yes'", "drawn = 'yes' must be true or false"),
    ("verdict = 'fail'\nreason = 1", "reason = 1 must be a text"),
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *(("version = 2", "version is 2; this release reads version = 1"), ("", "version is None")),
        ("version = 1\nknwon = []", "unknown key 'knwon'. Did you mean 'known'?"),
        *(
            ("version = 1\nknown = 3", "known must be an array of tables, [[known]]"),
            ("version = ", "is not TOML"),
        ),
        *(
            ("version = " + "[" * 100_000, "is not TOML: nested too deeply"),
            ("version = " + "9" * 6_000, "is not TOML"),
        ),
        ("version = 1\n[[known]]\nverdict = 'fail'", "[[known]] number 1: rule is missing"),
        (f"version = 1\n[[known]]\nrule = '{SIGNED.id}'", "verdict is missing"),
        *((f"{OF_RULE}{line}", words) for line, words in OF_ENTRY),
        (
            "version = 1\n[[known]]\nrule = 'ticdc-canal-jsn/x'\nverdict = 'fail'",
            "unknown format 'ticdc-canal-jsn'. Did you mean '",
        ),
    ],
)
def test_a_wrong_file_is_told_by_place_value_and_nearest_match(tmp_path, text, words):
    path = tmp_path / "known.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError) as caught:
        load(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_told_with_what_to_do(tmp_path):
    with pytest.raises(UsageError, match="write one with --update"):
        load(tmp_path / "none.toml")


def test_what_a_marked_case_knows_is_only_what_is_covered_wholly():
    mixed = judged("bad", SIGNED, NAMES)
    marked = run(mixed, entries=[known()]).formats[0].cases[0]
    assert (marked.known, marked.covered) == ({SIGNED.id}, {(SIGNED.id, "")})
    assert replace(marked, known=frozenset(), covered=frozenset()) == mixed


def test_a_rule_is_known_only_if_all_of_its_breaches_in_a_case_are():
    lost = judged("bad", SIGNED)
    both = replace(
        lost, findings=(*lost.findings, *judged("bad", SIGNED, aspect=Aspect.ACCEPTED).findings)
    )
    assert (
        run(both, entries=[known()]).exit_code,
        run(both, entries=[known(verdict=Verdict.ACCEPTED)]).exit_code,
    ) == (1, 1)
    assert run(both, entries=[known(), known(verdict=Verdict.ACCEPTED)]).exit_code == 0
