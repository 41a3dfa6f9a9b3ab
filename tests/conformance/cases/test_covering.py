"""The selection of budget smoke keeps what all named cases cover, and takes turns."""

import pytest

from conformance.cases.catalogue import named_cases
from conformance.cases.covering import EACH, covering
from generators.wire_format import get

FMT = get("aliyun-dts-avro")


@pytest.fixture(scope="module")
def every():
    return list(named_cases(FMT, FMT.profiles))


def test_each_scenario_of_a_deployment_stays_and_each_tag_of_a_profile(every):
    chosen = covering(every, 1)
    assert len(chosen) < len(every) / 2
    ids = {case.id for case in chosen}
    assert [case for case in every if case.id in ids] == chosen
    for pairs in (
        lambda case: {(case.deployment, case.level, case.scenario, case.fault)},
        lambda case: {(case.profile, case.level, tag) for tag in case.tags},
        lambda case: {(case.profile, change.kind, change.op) for written in case.written for change in written.changes},
    ):
        assert set().union(*map(pairs, chosen)) == set().union(*map(pairs, every))


def test_seeds_choose_other_profiles_and_together_all(every):
    turns = [{case.id for case in covering(every, seed)} for seed in range(len(FMT.profiles))]
    assert turns[0] != turns[1]
    assert set().union(*turns) == {case.id for case in every}
    assert {case.id for case in covering(every, 3)} == turns[3]


def test_what_few_profiles_have_stays_whole(every):
    few = [case for case in every if case.profile in {profile.name for profile in FMT.profiles[:EACH]}]
    assert covering(few, 1) == few
