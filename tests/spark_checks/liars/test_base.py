"""The liars that every format has."""

import importlib
from fnmatch import fnmatchcase

import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging.judge import Judge
from conformance.rules.base import Obligation, Provenance, rules
from conformance.selftest.ideas import perfect
from generators.wire_format import FORMATS, get, module_name
from spark_checks.services.engine import liars

AVRO = {"aliyun-dts-avro", "ticdc-simple-avro"}
NARROW = {"huawei-cdl-json", "huawei-cdl-debezium"}
SIMPLE = {"ticdc-simple-json", "ticdc-simple-avro"}


@pytest.mark.parametrize("name", FORMATS)
def test_every_fault_of_a_format_has_a_liar(name):
    found = {liar.name: liar for liar in liars(name)}
    owners = {rule.id: rule for rule in rules(name)}
    assert ("null-as-delete" in found, "no-message-as-row" in found) == (True, name not in AVRO)
    assert ("cell-outside-domain-as-null" in found) is (name not in NARROW)
    assert {found[n].convicts for n in ("null-as-delete", "no-message-as-row") if n in found} <= owners.keys()
    if name not in NARROW:
        assert owners[found["cell-outside-domain-as-null"].convicts].obligation is Obligation.SHOULD


@pytest.mark.parametrize("name", FORMATS)
def test_a_liar_of_a_scenario_names_a_rule_that_compares_something_there(name):
    fmt, tried = get(name), [liar for liar in liars(name) if liar.scenario]
    first_of_source = {profile.source: profile for profile in reversed(fmt.profiles)}
    cases = list(named_cases(fmt, (*fmt.profiles[:2], *first_of_source.values())))
    assert tried
    for liar in tried:
        judge = Judge(rules(name))
        for case in (case for case in cases if case.level == liar.level and fnmatchcase(case.scenario, liar.scenario)):
            rows = [[perfect.row(change, case.level) for change in perfect.owed(case, w)] for w in case.written]
            judge.judge(case, rows, case.tables[0].name if case.level == 2 else None)
        assert judge.compared[liar.convicts], f"{liar.name} names {liar.convicts}; there, {sorted(judge.compared)} compare"


@pytest.mark.parametrize("name", FORMATS)
def test_every_documented_rule_is_broken_by_a_liar_and_of_simple_every_rule_that_binds(name):
    broken = {liar.convicts for liar in liars(name)}
    binding = (rule for rule in rules(name) if rule.obligation is Obligation.MUST and rule.id not in broken)
    assert not [rule.id for rule in binding if name in SIMPLE or rule.provenance is Provenance.DOCUMENTED]


@pytest.mark.parametrize("name", FORMATS)
def test_a_documented_rule_is_broken_by_a_liar_that_knows_the_format(name):
    """Those of every format break a few rules without reading a message: they show less than a decoder that misreads it."""
    own = {liar.convicts for liar in importlib.import_module(f"spark_checks.liars.{module_name(name)}").LIARS}
    documented = {r.id for r in rules(name) if (r.obligation, r.provenance) == (Obligation.MUST, Provenance.DOCUMENTED)}
    assert not documented - own
