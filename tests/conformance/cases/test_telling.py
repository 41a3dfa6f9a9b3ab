"""The cases of budget quick: few, of one profile, and most rules are compared on them."""

import pytest

from conformance.cases.catalogue import named_cases
from conformance.cases.telling import plainest_profile, select_telling
from conformance.judging.judge import Judge
from conformance.judging.perfect import perfect_rows
from conformance.rules.rules import rules
from generators.wire_format import get


@pytest.mark.parametrize(
    ("name", "newest"),
    [
        ("maxwell-json", "1.45.0"),
        ("debezium-json", "3.5.0.Final"),
        ("ticdc-canal-json", "new-8.5.6"),
    ],
)
def test_the_profile_is_the_newest_one_without_options(name, newest):
    profiles = get(name).profiles
    assert plainest_profile(profiles).name == newest
    with_options = [profile for profile in profiles if "+" in profile.name]
    assert plainest_profile(with_options) is with_options[-1]


def compared_rules(name, cases):
    judge = Judge(rules(name))
    for case in cases:
        judge.judge(case, [perfect_rows(case, written) for written in case.written])
    return {rule for rule, times in judge.compared.items() if times}


@pytest.mark.parametrize("name", ["maxwell-json", "ticdc-canal-json"])
def test_forty_cases_compare_most_rules_in_few_decode_calls(name):
    fmt = get(name)
    cases = list(named_cases(fmt, [plainest_profile(fmt.profiles)]))
    telling = select_telling(cases, 40)
    assert len(telling) == 40
    assert [case.id for case in cases if case in telling] == [case.id for case in telling]
    assert {case.level for case in telling} == {1, 2}
    assert len({case.tables for case in telling if case.level == 2}) <= 2
    assert any(case.fault for case in telling)
    all_rules = compared_rules(name, cases)
    assert len(compared_rules(name, telling)) > 0.75 * len(all_rules)
    assert select_telling(cases, 40) == telling
    assert len(select_telling(cases, 10)) == 10
    assert select_telling(cases[:1], 40) == cases[:1]
    for level in (1, 2):
        of_one_level = [case for case in cases if case.level == level]
        assert len(select_telling(of_one_level, 40)) == 40
