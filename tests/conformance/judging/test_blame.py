"""Findings of a whole format get their causes: suspects that other rows clear, traits that are not
guilty, failures by cause.
"""

from dataclasses import replace
from functools import cache

import pytest
import right

from conformance.cases.catalogue import named_cases
from conformance.judging.blame import name_causes
from conformance.judging.causes import Cause, Symptom, cause, key_text, may_have_cause
from conformance.judging.clusters import SHOWN, merged, smallest_failures, worth_reducing
from conformance.judging.findings import BAD, Finding, Verdict
from conformance.judging.judge import Judge
from conformance.judging.known import Entry, EntryTracker, Expectations
from conformance.judging.known_files import mark_by_record, updated
from conformance.judging.output import OutputRow
from conformance.judging.results import FormatResult, Header, RuleResult, RunResult
from conformance.rules.rules import Aspect, Obligation, rules
from generators.model import Kind, Origin, State
from generators.wire_format import FORMATS, get

NAME = "ticdc-canal-json"
FMT = get(NAME)
SCENARIOS = ("bit-1/", "year/", "int/", "varchar/", "shape/insert", "shape/delete", "shape/multi")
PROFILES = ("v5.3.4", "v5.4.3", "v6.5.1")
CORRUPT = f"{NAME}/change/corrupt"
INSERTS = f"{NAME}/old/insert-null-array"
CRLF = f"{NAME}/framing/crlf"
BIT, YEAR = "refused: cell bit value plain", "refused: cell year value"


@cache
def cases(profiles=PROFILES, prefixes=SCENARIOS):
    """Level-one cases of a few types and shapes in releases with and without traits."""
    selected = []
    for name in profiles:
        profile = FMT.profile(name)
        some = (
            case
            for case in named_cases(FMT, (profile,))
            if case.level == 1 and case.origin is Origin.NAMED
        )
        selected += [case for case in some if case.scenario.startswith(prefixes)]
    return tuple(selected)


def judged(spoil, some=None):
    """The blamed results of a decoder that `spoil` makes wrong: told case, change and its right
    row, it gives a row or None.
    """
    judge, results = Judge(rules(NAME)), []
    for case in some or cases():
        rows = [
            [
                row
                for c in w.changes
                if (row := spoil(case, c, right.row_of_change(c, 1))) is not None
            ]
            for w in case.written
        ]
        results.append(judge.judge(case, rows))
    return judge, name_causes(judge, results)


def causes(results):
    """Rule and cause of every finding."""
    return {(f.rule, f.cause) for result in results for f in result.findings}


def cells(change):
    return [cell for side in (change.before, change.after) for cell in (side or {}).values()]


def holds(change, kind, *texts):
    """Whether a row has a cell of the type, with one of these texts if some are given."""
    return any(
        c.type.key == kind and c.state is State.VALUE and (not texts or c.text in texts)
        for c in cells(change)
    )


def refusing(bad):
    """A decoder that refuses some rows."""
    return lambda case, change, row: (
        OutputRow(change.row, Kind.CORRUPT, None, error="no") if bad(case, change) else row
    )


BIT_OR_YEAR = refusing(lambda _case, change: holds(change, "bit", "1") or holds(change, "year"))


def outcome(spoil, entries=(), some=None):
    """A run of a decoder under a record of known failures, without reduction."""
    judge, results = judged(spoil, some)
    return outcome_of(judge, results, entries)


def outcome_of(judge, results, entries=()):
    """The run of these results."""
    record = EntryTracker(Expectations(tuple(entries)))
    known = tuple(record.mark(results, rules(NAME), judge.compared))
    fmt_rules = tuple(
        RuleResult(rule, judge.compared[rule.id], judge.broken[rule.id], False)
        for rule in rules(NAME)
    )
    fmt = FormatResult(NAME, "mine", (1,), known, fmt_rules, (), {}, 0, {})
    failures, states = (
        tuple(smallest_failures(fmt, record)),
        record.results([NAME], [rule.id for rule in rules(NAME)], True),
    )
    return RunResult(Header(1, "smoke", "mine", "none", ""), (fmt,), failures, 0.0, entries=states)


def test_a_right_decoder_has_no_cause():
    _, results = judged(lambda _case, _change, row: row)
    assert {result.verdict for result in results} == {Verdict.PASS}


def test_another_class_of_values_has_the_cause_only_if_the_run_broke_its_rule_too():
    """A reduced case has the value class of the failure: what is right elsewhere shows nothing."""
    (case,) = cases(("v6.5.1",), ("int/max",))
    finding = wrong_value(case)
    plain, odd = ("cell", "int", "value", "plain"), ("cell", "int", "value", "odd")
    assert cause(finding, case).subjects == (plain,)
    assert may_have_cause(Cause(Symptom.WRONG, (plain,)), finding, case)
    assert may_have_cause(Cause(Symptom.WRONG, (("cell", "int", "value"),)), finding, case)
    assert not may_have_cause(Cause(Symptom.WRONG, (odd,)), finding, case)
    assert may_have_cause(Cause(Symptom.WRONG, (odd,)), finding, case, {plain})
    assert not may_have_cause(
        Cause(Symptom.WRONG, (("cell", "year", "value", "x"),)), finding, case, {plain}
    )


def wrong_value(case):
    """The finding of a wrong value in the case's column that is no key."""

    def spoil(_case, _change, row):
        return replace(
            row, after={name: "12" if name != "id" else text for name, text in row.after.items()}
        )

    _, (result,) = judged(spoil, [case])
    (finding,) = result.findings
    return finding


def test_refusals_of_two_types_are_two_causes_and_no_trait_is_blamed():
    judge, results = judged(BIT_OR_YEAR)
    assert causes(results) == {(CORRUPT, BIT), (CORRUPT, YEAR)}
    assert {f.instead for result in results for f in result.findings} >= {"", INSERTS, CRLF}
    assert judge.broken[INSERTS] == judge.broken[CRLF] == 0
    assert (
        judge.broken[CORRUPT]
        == sum(len(result.findings) for result in results)
        <= judge.compared[CORRUPT]
    )


def test_each_cause_is_a_failure_with_its_smallest_message_its_cases_and_its_words():
    year, bit = outcome(BIT_OR_YEAR).failures
    assert (year.cause.key, bit.cause.key) == (YEAR, BIT)
    assert bit.cause.words == "refuses a row whose bit(1) cell is '1'"
    assert year.cause.words.startswith("refuses every row with a value in a year cell, here '")
    assert (bit.finding.case, bit.cases, bit.profiles, bit.judged) == (
        f"{NAME}/v5.3.4/bit-1/one",
        15,
        PROFILES,
        3,
    )
    assert year.cases > bit.cases


def test_a_cause_is_shown_by_a_case_that_no_other_cause_may_explain():
    judge, results = judged(BIT_OR_YEAR)
    year, bit = outcome_of(judge, results).failures

    def doubtful(result):
        findings = [replace(f, causes=(*f.causes, year.cause.key)) for f in result.findings]
        return (
            replace(result, findings=tuple(findings))
            if result.case.id == bit.finding.case
            else result
        )

    _, other = outcome_of(judge, [doubtful(result) for result in results]).failures
    assert (other.cause.key, other.cases) == (bit.cause.key, bit.cases)
    assert other.finding.case != bit.finding.case


@pytest.mark.parametrize(
    ("bad", "rule", "cause"),
    [
        (lambda case, change: case.profile == "v6.5.1", CRLF, "refused: release v6.5.1"),
        (
            lambda case, change: case.profile == "v5.3.4" and change.op == "INSERT",
            INSERTS,
            "refused: row INSERT",
        ),
        (lambda case, change: change.op == "DELETE", CORRUPT, "refused: row DELETE"),
        (lambda case, change: case.profile == "v5.3.4" and holds(change, "year"), CORRUPT, YEAR),
    ],
)
def test_a_trait_is_blamed_only_if_the_same_rows_pass_without_it(bad, rule, cause):
    _, results = judged(refusing(bad))
    assert causes(results) >= {(rule, cause)}


def test_a_cell_that_one_option_alone_lets_pass_is_blamed_in_drawn_rows_and_no_trait():
    lenient = "v7.1.6+extension+content-compatible"
    some = cases(("v5.4.3", "v6.5.1", lenient), ("bit-1/", "int/"))
    drawn = tuple(
        replace(c, origin=Origin.DRAWN, scenario="drawn") if c.profile == "v6.5.1" else c
        for c in some
    )
    _, results = judged(
        refusing(lambda case, change: case.profile != lenient and holds(change, "bit", "1")), drawn
    )
    assert causes(results) == {(CORRUPT, BIT)}


def altered(case, alter):
    """The case with each of its changes altered."""
    return replace(
        case, written=tuple(replace(w, changes=tuple(map(alter, w.changes))) for w in case.written)
    )


def numbered(case, key):
    """The case with another value of its rows' key."""

    def image(cells):
        return cells and {
            c: replace(cell, value=key, text=str(key)) if c == "id" else cell
            for c, cell in cells.items()
        }

    return altered(case, lambda c: replace(c, before=image(c.before), after=image(c.after)))


def test_a_key_whose_value_is_new_in_each_refused_row_is_a_bystander():
    lenient = "v7.1.6+extension+content-compatible"
    some = tuple(
        numbered(case, key)
        for key, case in enumerate(cases(("v5.4.3", "v6.5.1", lenient), ("bit-1/", "int/")), 100)
    )
    _, results = judged(
        refusing(lambda case, change: case.profile != lenient and holds(change, "bit", "1")), some
    )
    assert causes(results) == {(CORRUPT, BIT)}


def test_a_row_that_may_be_refused_clears_nothing_when_it_is():
    some, may = cases(("v6.5.1",), ("bit-1/", "int/")), ((Kind.CORRUPT, None),)
    some += tuple(
        replace(altered(case, lambda c: replace(c, accept=may)), id=f"{case.id}/lenient")
        for case in some
    )
    _, results = judged(refusing(lambda case, change: holds(change, "bit", "1")), some)
    assert causes(results) == {(CORRUPT, BIT)}


@pytest.mark.parametrize(
    ("origin", "cause"),
    [
        (Origin.DRAWN, "cell int value plain"),
        (Origin.RECORDED, "cell bigint value plain | cell int value plain"),
    ],
)
def test_a_recorded_row_which_nothing_makes_smaller_names_every_suspect(origin, cause):
    some = [numbered(case, key) for key, case in enumerate(cases(("v6.5.1",), ("int/",)), 100)]
    some = [replace(case, origin=origin) if case.scenario == "int/max" else case for case in some]
    _, results = judged(refusing(lambda case, change: case.scenario == "int/max"), some)
    assert {key for _, key in causes(results)} == {f"refused: {cause}"}


def test_without_other_profiles_the_other_rows_of_the_release_decide():
    only = cases(("v6.5.1",))
    _, results = judged(BIT_OR_YEAR, only)
    assert causes(results) == {(CORRUPT, BIT), (CORRUPT, YEAR)}


def test_a_row_that_does_not_come_out_is_lost_for_the_same_reasons():
    _, results = judged(lambda _case, change, row: None if holds(change, "bit", "1") else row)
    assert {cause for _, cause in causes(results)} == {"lost: cell bit value plain"}


def test_a_cell_is_named_by_type_and_class_and_by_type_if_all_of_its_values_are_wrong():
    def wrong(_case, change, row):
        after = {
            c: "9" if cell.type.key == "int" or cell.text == "" else cell.text
            for c, cell in (change.after or {}).items()
        }
        return replace(row, after=after) if row.after and None not in row.after.values() else row

    _, results = judged(wrong)
    broad = {cause for _, cause in causes(results)}
    assert broad == {"wrong: cell int value", "wrong: cell varchar value empty"}
    narrow = {key for result in results for f in result.findings for key in f.causes[1:]}
    assert narrow >= {"wrong: cell int value plain", "wrong: cell int value negative"}


def test_null_for_a_value_and_a_value_for_null_are_two_causes():
    def swapped(_case, change, row):
        for column, cell in (change.after or {}).items():
            if cell.type.key == "varchar":
                row.after[column] = "x" if cell.state is State.NULL else None
        return row

    failures = [
        f for f in outcome(swapped, some=cases(("v5.4.3",))).failures if f.finding.side == "after"
    ]
    words = {failure.cause.words.partition(", here")[0] for failure in failures}
    assert words == {
        "gives NULL where a value is owed for varchar(255) cells",
        "gives a value where NULL is owed for a varchar(255) cell",
    }


@pytest.mark.parametrize(
    ("bad", "cause", "words"),
    [
        (lambda case: True, "wrong: kind DDL", "gives another kind or op for every DDL message"),
        (
            *(lambda case: "rename table" in str(case.tags), "wrong: statement rename table"),
            "gives another kind or op for the statement rename table",
        ),
    ],
)
def test_a_statement_is_named_or_all_of_them(bad, cause, words):
    def wrong(case, change, row):
        return replace(row, op="INSERT") if change.kind is Kind.DDL and bad(case) else row

    failures = outcome(wrong, some=cases(("v7.1.6",), ("ddl/",))).failures
    (failure,) = (failure for failure in failures if not failure.rule.law)
    assert (failure.rule.id, failure.cause.key, failure.cause.words) == (
        f"{NAME}/ddl/kind",
        cause,
        words,
    )


def test_a_record_of_causes_makes_another_refusal_new():
    bit = refusing(lambda _case, change: holds(change, "bit", "1"))
    entry = Entry(CORRUPT, Verdict.FAIL, causes=(BIT,))
    assert outcome(bit, [entry]).exit_code == 0
    worse = outcome(BIT_OR_YEAR, [entry])
    assert worse.exit_code == 1
    assert {failure.cause.key: failure.known for failure in worse.failures} == {
        BIT: True,
        YEAR: False,
    }


def test_a_record_without_causes_covers_every_cause():
    assert outcome(BIT_OR_YEAR, [Entry(CORRUPT, Verdict.FAIL)]).exit_code == 0


def test_a_recorded_cause_covers_narrower_ones_and_a_run_over_fewer_cases():
    year = Entry(CORRUPT, Verdict.FAIL, causes=(YEAR,))
    some = refusing(lambda _case, change: holds(change, "year", "1901"))
    assert outcome(some, [year]).exit_code == 0
    bit = Entry(CORRUPT, Verdict.FAIL, causes=(BIT,))
    few = tuple(case for case in cases() if case.id.endswith("bit-1/one"))
    assert outcome(BIT_OR_YEAR, [bit], few).exit_code == 0


def test_update_records_each_cause_and_the_next_run_conforms():
    first = outcome(BIT_OR_YEAR)
    made = updated(first)
    assert {(entry.rule, entry.causes) for entry in made.added} == {
        (CORRUPT, (BIT,)),
        (CORRUPT, (YEAR,)),
    }
    assert outcome(BIT_OR_YEAR, made.added).exit_code == 0
    again = mark_by_record(first, Expectations(made.added))
    assert [failure.known for failure in again.failures] == [True, True]


def test_failures_that_reduce_to_one_cause_are_one():
    result = outcome(BIT_OR_YEAR)
    year, bit = result.failures
    both = replace(
        year,
        cause=replace(
            year.cause, subjects=(("cell", "year", "value"), ("cell", "bit", "value", "plain"))
        ),
    )
    small = replace(both, finding=bit.finding, result=bit.result)
    (failure,) = merged([small, bit], result.formats[0], EntryTracker(Expectations()))
    assert (failure.cause.key, failure.keys) == (BIT, (*year.keys, *bit.keys))
    assert failure.cases == year.cases + bit.cases


def test_value_classes_that_reduce_to_one_value_are_the_type():
    def wrong(_case, change, row):
        if (
            row.after
            and "int" in {cell.type.key for cell in change.after.values()}
            and "minus" not in _case.id
        ):
            row.after["c"] = "7"
        return row

    result = outcome(wrong)
    failures = [f for f in result.failures if f.cause.symptom is Symptom.WRONG]
    assert {f.cause.key for f in failures} == {
        f"wrong: cell int value {cls}" for cls in ("plain", "zero", "negative")
    }
    zero = next(f for f in failures if f.cause.key.endswith("zero"))
    small = [
        replace(f, finding=zero.finding, result=zero.result, reduced="reduced") for f in failures
    ]
    (failure,) = merged(small, result.formats[0], EntryTracker(Expectations()))
    assert (failure.cause.key, failure.cases) == (
        "wrong: cell int value",
        sum(f.cases for f in failures),
    )


@pytest.mark.parametrize(
    ("suspects", "key"),
    [
        ([("cell", "bit", "value", "plain")], "refused: cell bit value plain"),
        ([("cell", "bigint-unsigned", "value")], "refused: cell bigint-unsigned value"),
        ([("cell", "time", "null")], "refused: cell time null"),
        ([("cell", "time", "absent")], "refused: cell time absent"),
        ([("cell", "json")], "refused: cell json"),
        ([("cells", "after", "INSERT")], "refused: cells after INSERT"),
        ([("image", "before", "UPDATE")], "refused: image before UPDATE"),
        ([("option", "minimal")], "refused: option minimal"),
        ([("release", "1.1.8")], "refused: release 1.1.8"),
        ([("trait", "ddl:create")], "refused: trait ddl:create"),
        ([("several",)], "refused: shape several rows in a message"),
        ([("keys", "without a key")], "refused: shape no key"),
        ([("no-before",)], "refused: shape no before image"),
        ([("unknown-before",)], "refused: shape a before image that cannot be told"),
        ([("quoted",)], "refused: shape a column name that needs quotes"),
        ([("long-text",)], "refused: shape a long value"),
        ([("many-columns",)], "refused: shape many columns"),
        ([("member", "keys")], "refused: member keys"),
        ([("member", "keys", "of", "DDL")], "refused: member keys of DDL"),
        ([("fault", "truncated")], "refused: fault truncated"),
        ([("statement", "truncate")], "refused: statement truncate"),
        ([("kind", "WATERMARK")], "refused: kind WATERMARK"),
        ([("kind", "none")], "refused: kind none"),
        ([("op", "DELETE")], "refused: row DELETE"),
        ([("foreign",)], "refused: foreign"),
        ([("circumstance", "in other batches")], "refused: circumstance in other batches"),
        ([("option", "x"), ("op", "DELETE")], "refused: option x | row DELETE"),
    ],
)
def test_the_key_of_every_sort_of_suspect_stays(suspects, key):
    """Records of known failures hold these texts."""
    assert key_text(Symptom.REFUSED, suspects) == key


def test_few_causes_of_a_rule_are_failures_of_their_own_and_fewer_are_reduced():
    first = outcome(BIT_OR_YEAR)
    fmt, types = first.formats[0], [f"x{n}" for n in range(SHOWN + 3)]
    names = [f"refused: cell {type} value" for type in types]
    spread = iter(types * 1000)

    def blame_next_type(finding):
        type = next(spread)
        return replace(
            finding,
            causes=(f"refused: cell {type} value",),
            suspects=(("cell", type, "value"),),
        )

    cases_ = tuple(
        replace(r, findings=tuple(map(blame_next_type, r.findings[:1])))
        for r in fmt.cases
        if r.findings
    )
    failures = smallest_failures(replace(fmt, cases=cases_), EntryTracker(Expectations()))
    assert (len(failures), sorted(failure.others for failure in failures)[-2:]) == (
        SHOWN + 1,
        [0, 2],
    )
    every = smallest_failures(replace(fmt, cases=cases_), EntryTracker(Expectations()), SHOWN + 3)
    assert {failure.cause.key for failure in every} == set(names)
    tried, left = worth_reducing(failures)
    assert (len(tried), len(left)) == (4, SHOWN - 3)
    assert {failure.reduced for failure in left} == {"not reduced: only 4 causes of a rule are"}


def test_a_decoder_that_raises_is_named_as_one_that_refuses():
    judge, results = judged(lambda _case, _change, row: row)
    law, finding = (
        f"{NAME}/law/returns",
        next(f for f in judged(BIT_OR_YEAR)[1] if f.findings).findings[0],
    )
    raised = replace(finding, rule=law, aspect="missing", path="decoding", causes=())

    def spoiled(r):
        year = any(holds(c, "year") for w in r.case.written for c in w.changes)
        return (
            replace(r, verdict=Verdict.ERRORED, findings=(replace(raised, case=r.case.id),))
            if year
            else r
        )

    assert causes(name_causes(judge, [spoiled(r) for r in results])) == {
        (law, f"{Symptom.RAISED}: cell year value")
    }


def test_a_case_that_raises_names_what_its_messages_hold():
    def raised(case):
        finding = Finding(
            case.id, f"{NAME}/law/returns", 0, 0, Aspect.MISSING, "decoding", "an end", "ValueError"
        )
        return cause(finding, case)

    several = next(
        c for c in cases() if len(c.written) > 1 and {len(w.changes) for w in c.written} == {1}
    )
    assert ("op", "INSERT") in raised(several).subjects
    assert ("several",) not in raised(several).subjects
    whole = replace(
        several.written[0], changes=(*several.written[0].changes, *several.written[1].changes)
    )
    assert ("several",) in raised(replace(several, written=(whole,))).subjects
    nothing = replace(
        several, written=tuple(replace(w, changes=()) for w in several.written), tags=frozenset()
    )
    assert raised(nothing).words == "raises, or does not end, on a message that gives no row"


@pytest.mark.parametrize("readable", [Obligation.MUST, Obligation.SHOULD])
@pytest.mark.parametrize("name", FORMATS)
def test_blame_acquits_no_decoder_that_returns_no_row(name, readable):
    """A decoder that refuses every row fails in each format, after blame as before, whatever the
    rules of rows bind.
    """
    fmt = get(name)
    some = [
        case
        for case in named_cases(fmt, fmt.profiles[::4], (f"{name}/*/shape/*",))
        if case.level == 1
    ]
    weak = {
        rule.id
        for rule in rules(name)
        if rule.id.endswith(("/rows/readable", "/rows/every-row", "/rows/one-each"))
    }
    judge = Judge(
        tuple(
            replace(rule, obligation=readable) if rule.id in weak else rule for rule in rules(name)
        )
    )
    corrupt = OutputRow(0, Kind.CORRUPT, None, error="no")
    before = [
        judge.judge(case, [[corrupt] if w.changes else [] for w in case.written]) for case in some
    ]
    after = {result.case.id: result.verdict for result in name_causes(judge, before)}
    assert {result.case.id for result in before if result.verdict in BAD} <= {
        case for case, v in after.items() if v in BAD
    }
    assert readable is not Obligation.MUST or Verdict.FAIL in after.values()


def test_a_trait_is_blamed_although_another_row_of_the_case_lacks_it():
    """An INSERT in the same case is no release in which the UPDATE fails as well."""
    fmt = get("debezium-json")
    profile = fmt.profile("2.5.4.Final+postgresql+include-unknown")
    (case,) = named_cases(fmt, (profile,), (f"{fmt.name}/{profile.name}/rows/keyless/all-null",))
    judge = Judge(rules(fmt.name))
    rows = [
        [right.row_of_change(change, 2) for change in written.changes] for written in case.written
    ]
    assert {row.op for [row] in rows} == {"INSERT", "UPDATE"}
    wrong = [
        [replace(row, before=dict.fromkeys(row.after)) if row.op == "UPDATE" else row]
        for [row] in rows
    ]
    (result,) = name_causes(judge, [judge.judge(case, wrong)])
    assert {finding.rule for finding in result.findings} == {f"{fmt.name}/before/update-without"}
