"""The table of liars: the rules that bind have liars. The self test shows that each is convicted by the rule that it names."""

import re
from typing import Any

import pytest

from conformance.rules.rules import Obligation, Provenance, rules
from conformance.selftest.liars.table import liars, lines
from conformance.selftest.memory import BREACHES
from generators.errors import UnknownName
from generators.wire_format import FORMATS, get
from spark_checks.liars import liar
from spark_checks.liars.liar import liars as in_spark

SIMPLE = {"ticdc-simple-json", "ticdc-simple-avro"}
COMMON = {
    *(
        *("failfast", "phantom-places", "nowhere", "offset-as-int", "no-reason", "corrupt-image", "database-ignored"),
        "double-unescape",
    ),
    *("cut-at-a-million", "envelope-names-lost", "names-as-paths", "names-in-lower-case", "null-as-delete", "no-message-as-row"),
    *("unknown-type-as-insert", "cell-outside-domain-as-null", "rows-before-the-error", "rows-before-the-bad-cell"),
}
"""Liars that know nothing of a format: they show less than one that misreads it."""


@pytest.mark.parametrize("name", FORMATS)
def test_every_documented_rule_is_broken_by_a_liar_and_of_simple_every_rule_that_binds(name: str) -> None:
    told = [*((liar.name, liar.convicts) for liar in liars(name)), *((liar.name, liar.convicts) for liar in in_spark(name))]
    broken, binding = {convicts for _, convicts in told}, [rule for rule in rules(name) if rule.obligation is Obligation.MUST]
    documented = {rule.id for rule in binding if rule.provenance is Provenance.DOCUMENTED}
    assert not [rule.id for rule in binding if rule.id not in broken and (name in SIMPLE or rule.id in documented)]
    assert not documented - {convicts for liar, convicts in told if liar not in COMMON}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_the_liars_of_its_faults(name: str) -> None:
    names = {liar.name for liar in liars(name)}
    assert len(liars(name)) > 25
    assert ("null-as-delete" in names) is (name != "ticdc-avro")  # whose deletes have no value
    assert ("no-message-as-row" in names) is (get(name).container == "json")
    typed = get(name).container == "confluent"  # Avro's types hold no cell of another shape
    assert names >= {"letters-as-null", "empty-as-null", *(() if typed else ("outside-as-null", "another-shape-as-null"))}
    assert names >= {"cell-outside-domain-as-null", "bad-timestamp-as-null", *(() if typed else ("bad-binary-as-null",))}


@pytest.mark.parametrize("line", lines(), ids=lambda line: f"{line['name']}: {line['by'][:40]}")
def test_a_line_names_rules_of_formats_and_is_one_liar_of_each(line: dict[str, str]) -> None:
    mine = [liar.format for name in FORMATS for liar in liars(name) if liar.name == line["name"] and liar.why == line["why"]]
    assert mine
    assert ("does" in line) != (line.get("breaks") in BREACHES)
    assert set(line) <= {"name", "level", "does", "breaks", "when", "scenario", "by", "why"}


@pytest.mark.parametrize("name", FORMATS)
def test_no_rule_has_one_liar_twice(name: str) -> None:
    told = [(liar.name, liar.convicts, liar.level) for liar in liars(name)]
    assert len(set(told)) == len(told)


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_a_liar_in_spark_and_names_rules_that_are_there(name: str) -> None:
    found = in_spark(name)
    assert found and {liar.convicts for liar in found} <= {rule.id for rule in rules(name)}


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"shared": "nowher"}, "unknown shared liar 'nowher' of ogg-json. Did you mean 'nowhere'?"),
        (
            {"liars": [{"name": "x", "convicts": "op/a", "why": "", "texts": "t"}]},
            "unknown way 'texts' of the liar x of ogg-json. Did you mean 'text'?",
        ),
    ],
)
def test_a_mistyped_line_of_a_liar_in_spark_is_told(monkeypatch: pytest.MonkeyPatch, own: dict[str, Any], told: str) -> None:
    read = liar._lines
    monkeypatch.setattr(liar, "_lines", lambda name: own if name == "ogg-json" else read(name))
    with pytest.raises(UnknownName, match=re.escape(told)):
        in_spark("ogg-json")
