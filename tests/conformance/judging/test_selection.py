"""What a selection leaves, and what a decoder claims."""

from dataclasses import replace

import pytest

from conformance.cases.catalogue import BUDGETS
from conformance.judging.capabilities import Capabilities
from conformance.judging.findings import Verdict
from conformance.judging.selection import Selection, split_by_claims
from conformance.rules.rules import rules
from generators.errors import NothingSelected
from generators.model import (
    Case,
    Change,
    Column,
    Deployment,
    Kind,
    Message,
    Op,
    Origin,
    Table,
    Written,
)
from generators.sources import mysql
from generators.wire_format import get

NAME = "ticdc-canal-json"
TABLE = Table(
    "db", "t", (Column("id", mysql.TYPES["int"]), Column("a", mysql.TYPES["varchar"])), ("id",)
)


def case(name, *changes, level=1, profile="v7.1.6"):
    written = tuple(Written(Message("cdc", 0, None, b"{}"), (change,)) for change in changes)
    return Case(f"{NAME}/{profile}/{name}", NAME, profile, Deployment(), level, (TABLE,), written)


INSERT, DDL = (
    case("shape/insert", Change(0, Kind.ROW, Op.INSERT)),
    case("ddl/drop", Change(0, Kind.DDL)),
)
FAULT = case("fault/empty", Change(0, Kind.CORRUPT))
CASES = [INSERT, DDL, FAULT]


def left(*select, exclude=()):
    """The names of the cases that are left, and the rules."""
    selection = Selection(select, exclude)
    patterns = selection.rule_patterns(rules(NAME), CASES)
    kept = selection.rules(patterns, rules(NAME))
    return [c.id.rpartition("/")[2] for c in selection.cases(patterns, CASES)], kept


EVERY_RULE = frozenset(rule.id for rule in rules(NAME))
LAWS = frozenset(rule.id for rule in rules(NAME) if rule.law)
VALUES = frozenset(rule.id for rule in rules(NAME) if rule.id.startswith(f"{NAME}/value/"))


@pytest.mark.parametrize(
    ("select", "exclude", "cases", "kept"),
    [
        *(
            ((), (), ["insert", "drop", "empty"], EVERY_RULE),
            ((f"{NAME}/v7.1.6/shape",), (), ["insert"], EVERY_RULE),
        ),
        *(
            (("*/ddl/*", "*/shape/*"), (), ["insert", "drop"], EVERY_RULE),
            ((), ("*/ddl/*",), ["insert", "empty"], EVERY_RULE),
        ),
        *(
            (("*/ddl/*",), ("*/drop",), [], EVERY_RULE),
            ((f"{NAME}/law",), (), ["insert", "drop", "empty"], LAWS),
        ),
        ((), (f"{NAME}/law/*",), ["insert", "drop", "empty"], EVERY_RULE - LAWS),
        (("*/ddl/*", f"{NAME}/law"), (), ["drop"], LAWS),
        (
            (f"{NAME}/value",),
            (f"{NAME}/value/integer",),
            ["insert", "drop", "empty"],
            VALUES - {f"{NAME}/value/integer"},
        ),
    ],
)
def test_patterns_keep_cases_or_rules(select, exclude, cases, kept):
    assert left(*select, exclude=exclude) == (cases, kept)
    assert bool(Selection(select, exclude)) is bool(select or exclude)


@pytest.mark.parametrize(
    ("selection", "patterns"),
    [
        (
            Selection(("*/ddl/drop", f"{NAME}/v7.1.6/shape"), ("*/insert",)),
            ("*/ddl/drop", f"{NAME}/v7.1.6/shape"),
        ),
        *((Selection(), ()), (Selection(("*/ddl/drop", f"{NAME}/law")), ())),
        (Selection(("*/ddl/drop",), (f"{NAME}/value/json",)), ()),
    ],
)
def test_only_patterns_of_cases_tell_which_are_needed(selection, patterns):
    assert selection.of_cases(rules(NAME)) == patterns


@pytest.mark.parametrize(
    "selection",
    [
        Selection(("nonsense",)),
        Selection(("nosuch*",)),
        Selection((), ("nonsense/x",)),
        Selection(("*/x", "ticdc/y")),
    ],
)
def test_a_pattern_of_no_format_is_refused(selection):
    with pytest.raises(NothingSelected, match="unknown case or rule"):
        selection.check([NAME])


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        (f"{NAME}/v7.1.6/ddl/droptable", f"Did you mean '{NAME}/v7.1.6/ddl/drop-table'?"),
        (f"{NAME}/value/jsn", f"Did you mean '{NAME}/value/json'?"),
        (f"{NAME}/v7.1.6/shpae", f"Did you mean '{NAME}/v7.1.6/shape'?"),
        (f"{NAME}/v7.1.6/shpae/insret", f"Did you mean '{NAME}/v7.1.6/shape/insert'?"),
        (f"{NAME}/v7.1.6/falt/emty", f"Did you mean '{NAME}/v7.1.6/fault/empty'?"),
        (f"{NAME}/v7.1.6/op", f"Did you mean '{NAME}/op'?"),
        (f"{NAME}/v7.1.6/op/delete-row-in-data", f"Did you mean '{NAME}/op/delete-row-in-data'?"),
        (f"{NAME}/v7.1.7/ddl/drop-table", f"Did you mean '{NAME}/v7.1.6/ddl/drop-table'?"),
        ("*/no-such-case", "no case matches --select */no-such-case"),
        (f"{NAME}/v7.1.6/drawn/2/*", "no case matches"),
    ],
)
def test_a_pattern_of_no_case_is_refused_with_what_is_near(pattern, near):
    with pytest.raises(NothingSelected) as refused:
        Selection((pattern,)).check_cases([get(NAME)], "v7.1.6", BUDGETS["smoke"], 1)
    assert near in str(refused.value)


@pytest.mark.parametrize("name", ["v7.1.6/ddl/drop-table", "v7.1.6/drawn/1/5", "law", "recorded/*"])
def test_a_pattern_of_a_case_a_rule_a_draw_or_a_recording_may_stand(name):
    selection = Selection((f"{NAME}/{name}",))
    assert selection.check_cases([get(NAME)], "*", BUDGETS["smoke"], 1) is None


@pytest.mark.parametrize(
    "selection",
    [Selection((NAME,)), Selection(("*anything",)), Selection((), ("debezium-json/x",))],
)
def test_a_pattern_of_a_format_or_a_glob_may_stand(selection):
    assert selection.check([NAME]) is None


@pytest.mark.parametrize(
    ("claims", "mine", "why"),
    [
        *(
            ({}, ["insert", "drop", "empty"], ""),
            ({"profiles": ("v7*",)}, ["insert", "drop", "empty"], ""),
        ),
        *(
            ({"profiles": ("v8*",)}, [], "profile not claimed"),
            ({"kinds": ("ROW",)}, ["insert", "empty"], "kind not claimed"),
        ),
        *(
            ({"types": ("varchar*",)}, ["insert", "drop", "empty"], ""),
            ({"types": ("int",)}, [], "column type not claimed"),
        ),
    ],
)
def test_what_a_decoder_does_not_claim_is_unsupported(claims, mine, why):
    kept, unsupported = split_by_claims(CASES, Capabilities(**claims), (1, 2))
    assert [c.id.rpartition("/")[2] for c in kept] == mine
    assert [(result.verdict, result.note) for result in unsupported] == [
        (Verdict.UNSUPPORTED, why)
    ] * (3 - len(mine))


def test_types_narrow_level_one_alone_and_levels_that_a_decoder_has_not_are_nowhere():
    typed = replace(INSERT, level=2)
    assert split_by_claims([typed], Capabilities(types=("int",)), (1, 2)) == ([typed], [])
    assert split_by_claims([typed], Capabilities(profiles=("v8*",)), (1,)) == ([], [])


def test_recorded_rows_have_the_columns_that_they_have():
    recorded = replace(INSERT, level=2, origin=Origin.RECORDED)
    assert split_by_claims([recorded], Capabilities(types=("varchar",)), (2,)) == ([recorded], [])
    kept, unsupported = split_by_claims([recorded], Capabilities(types=("int",)), (2,))
    assert (kept, [result.note for result in unsupported]) == ([], ["column type not claimed"])


def test_a_recorded_case_that_our_writer_does_not_match_has_failed():
    reason = "our writer does not match this recording: 9 messages, 11 recorded"
    case = Case("f/recorded/r/t", "f", "p", Deployment("UTC"), 1, (), (), unmatched=reason)
    kept, (result,) = split_by_claims([case], Capabilities(), (1,))
    assert (kept, result.verdict, result.note) == ([], Verdict.ERRORED, reason)
