"""A run made by hand, with one rule of each standing, and what the tests of every report change in
it.
"""

from dataclasses import replace

import pytest

from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.known import Entry, EntryResult, State
from conformance.judging.results import (
    CallResult,
    Failure,
    FormatResult,
    Header,
    RuleResult,
    RunResult,
)
from conformance.rules.rules import Aspect, Citation, Effect, Obligation, Provenance, Rule
from generators.model import Case, Column, Deployment, Message, Table, Written
from generators.model import State as CellState
from generators.sources import mysql

HOSTILE = "[red]x[/red] \x1b[2J\x07 \u202e<script>alert(1)</script> | `a` \\ \x00 \ud800 @someone #1 http://evil.test \"'&]]>"
TABLE = Table("db", "t", (Column("c", mysql.TYPES["unsigned-bigint"]),))


def rule(name, obligation=Obligation.MUST, effect=Effect.WRONG_SIGN, fmt="x-json"):
    cited = (Citation("harness#every-offset"), Citation("harness#deployment"))
    return Rule(
        f"{fmt}/{name}",
        f"The statement of {name}.",
        obligation,
        Provenance.DOCUMENTED,
        cited,
        effect,
    )


def case(name, profile="v1", value=b'{"c":"9"}', fmt="x-json"):
    message = Message("cdc", 0, b"", value, case=name)
    return Case(
        f"{fmt}/{profile}/{name}", fmt, profile, Deployment(), 1, (TABLE,), (Written(message, ()),)
    )


def finding(
    made, broken, expected="9223372036854775808", actual="-9223372036854775808", path="after['c']"
):
    return Finding(made.id, broken.id, 0, 0, Aspect.VALUE, path, expected, actual, "after", "c")


UNSIGNED, SHOULD = rule("value/unsigned"), rule("value/soft", Obligation.SHOULD)
KNOWN, KEPT, OUT = rule("value/known"), rule("value/kept"), rule("value/out")
NO_LONGER = "it no longer has the verdict fail; remove the entry"
VALUE = b'{"schema":{"c":1},"data":[{"id":"1","c":"9223372036854775808"}],"old":[{"c":"1"}]}'


def bad(name, broken, verdict=Verdict.FAIL, known=(), profile="v1", value=VALUE, **changes):
    made = case(name, profile, value)
    return CaseResult(
        made, verdict, (finding(made, broken, **changes),), known=frozenset(r.id for r in known)
    )


@pytest.fixture
def hostile():
    """Text that wants to be obeyed."""
    return HOSTILE


@pytest.fixture
def full():
    """A run that does not conform: broken, soft, known, kept and unreached rules, and a record with
    each kind of entry.
    """
    cases = (
        *(CaseResult(case("good"), Verdict.PASS), bad("bad", UNSIGNED), bad("bad-too", UNSIGNED)),
        *(bad("soft", SHOULD, Verdict.NON_STRICT), bad("old", KNOWN, known=(KNOWN,), profile="v2")),
        CaseResult(case("no", "v3"), Verdict.UNSUPPORTED, note="profile not claimed"),
    )
    rules = (
        *(
            RuleResult(UNSIGNED, 9, 2),
            RuleResult(SHOULD, 4, 1),
            RuleResult(KNOWN, 4, 1),
            RuleResult(KEPT, 3, 0),
        ),
        RuleResult(OUT, 0, 0, reachable=False),
    )
    raised = CallResult("x-json UTC level 1 again", 1, 1, 1, 0.25, "the decoder raised")
    calls = (CallResult("x-json UTC level 1", 1, 6, 6, 0.5), raised)
    places = {result.case.id: (("cdc", 0, n),) for n, result in enumerate(cases)}
    fmt = FormatResult(
        "x-json",
        "mine.py:decode",
        (1,),
        cases,
        rules,
        calls,
        places,
        0,
        {CellState.VALUE: 97, CellState.ANY: 3},
    )
    failures = (
        Failure(
            UNSIGNED,
            cases[1].findings[0],
            cases[1],
            2,
            "out/failures/u.json",
            reduced="reduced from 3 rows to 1 row",
        ),
        Failure(SHOULD, cases[3].findings[0], cases[3], 1),
        Failure(
            KNOWN,
            cases[4].findings[0],
            cases[4],
            1,
            on_record=1,
            reason="upstream 7",
            link="https://example.test/7",
        ),
    )
    entries = (
        EntryResult(Entry(KNOWN.id, Verdict.FAIL, reason="upstream 7"), State.KNOWN, 1),
        EntryResult(Entry(KEPT.id, Verdict.FAIL, ("v1*",)), State.UNEXPECTED_PASS, hint=NO_LONGER),
        EntryResult(
            Entry("x-json/nonsense", Verdict.FAIL), State.MATCHES_NOTHING, hint="no such rule"
        ),
        EntryResult(
            Entry(OUT.id, Verdict.FAIL, drawn=True),
            State.NOT_REACHED,
            hint="its rule was not exercised",
        ),
    )
    arguments = ("run", "x-json", "--decoder", "mine.py:decode")
    header = Header(7, "smoke", "mine.py:decode", "none", "", {"python": "3.11.2"}, arguments)
    return RunResult(header, (fmt,), failures, 12.345, entries=entries)


@pytest.fixture
def good(full):
    """A run that conforms."""
    fmt = full.formats[0]
    fine = replace(fmt, cases=fmt.cases[:1], rules=fmt.rules[3:4], calls=fmt.calls[:1])
    return replace(full, formats=(fine,), failures=(), entries=())


@pytest.fixture
def with_finding(full):
    """A function that changes the finding of the broken rule, in the failure and in its case."""

    def change(value=VALUE, **changes):
        first = full.failures[0]
        made, result = replace(first.finding, **changes), bad("bad", UNSIGNED, value=value)
        result, fmt = (
            replace(result, case=replace(result.case, id=made.case), findings=(made,)),
            full.formats[0],
        )
        cases = (fmt.cases[0], result, *fmt.cases[2:])
        failures = (replace(first, finding=made, result=result), *full.failures[1:])
        return replace(full, formats=(replace(fmt, cases=cases),), failures=failures)

    return change


@pytest.fixture
def many(full):
    """A function that makes a run of `formats` formats, each of `rules` broken rules with a message
    of `size` bytes.
    """

    def build(formats, rules, size):
        results, failures = [], []
        for number in range(formats):
            name = f"x{number}-json"
            broken, cases = [rule(f"value/r{n}", fmt=name) for n in range(rules)], []
            for r in broken:
                made = case(
                    r.id.rpartition("/")[2],
                    value=b'{"data":[{"c":"' + b"y" * size + b'"}]}',
                    fmt=name,
                )
                cases.append(CaseResult(made, Verdict.FAIL, (finding(made, r),)))
            counted = tuple(RuleResult(r, 5, 1) for r in broken)
            results.append(replace(full.formats[0], format=name, cases=tuple(cases), rules=counted))
            failures += [
                Failure(r, c.findings[0], c, 1, f"out/{r.id}.json")
                for r, c in zip(broken, cases, strict=True)
            ]
        return replace(full, formats=tuple(results), failures=tuple(failures), entries=())

    return build
