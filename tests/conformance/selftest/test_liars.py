"""The table of liars: the rules that bind have liars. The self test shows that each is convicted by
the rule that it names.
"""

import re

import pytest
from text_tables import of_lines, rows

from conformance.rules.rules import Obligation, Provenance, rules
from conformance.rules.tables import TableFile
from conformance.selftest.liars import table
from conformance.selftest.liars.table import liars, lines
from generators.errors import UsageError
from generators.sources import mysql, postgresql
from generators.wire_format import FORMATS, get
from spark_checks.liars import liar
from spark_checks.liars.liar import liars as in_spark

SIMPLE = {"ticdc-simple-json", "ticdc-simple-avro"}
COMMON = {
    *(
        "failfast",
        "phantom-places",
        "nowhere",
        "offset-as-int",
        "no-reason",
        "corrupt-image",
        "database-ignored",
    ),
    *(
        "cut-at-a-million",
        "envelope-names-lost",
        "names-as-paths",
        "names-in-lower-case",
        "null-as-delete",
        "no-message-as-row",
    ),
    *(
        "unknown-type-as-insert",
        "cell-outside-domain-as-null",
        "rows-before-the-error",
        "rows-before-the-bad-cell",
    ),
    "double-unescape",
}
"""Liars that know nothing of a format: they show less than one that misreads it."""


@pytest.mark.parametrize("name", FORMATS)
def test_every_documented_rule_is_broken_by_a_liar_and_of_simple_every_rule_that_binds(
    name: str,
) -> None:
    pairs = [
        *((liar.name, liar.convicts) for liar in liars(name)),
        *((liar.name, liar.convicts) for liar in in_spark(name)),
    ]
    broken, binding = (
        {convicts for _, convicts in pairs},
        [rule for rule in rules(name) if rule.obligation is Obligation.MUST],
    )
    documented = {rule.id for rule in binding if rule.provenance is Provenance.DOCUMENTED}
    assert not [
        rule.id
        for rule in binding
        if rule.id not in broken and (name in SIMPLE or rule.id in documented)
    ]
    assert not documented - {convicts for liar, convicts in pairs if liar not in COMMON}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_the_liars_of_its_faults(name: str) -> None:
    names = {liar.name for liar in liars(name)}
    assert len(liars(name)) > 25
    assert ("null-as-delete" in names) is (name != "ticdc-avro")  # whose deletes have no value
    assert ("no-message-as-row" in names) is (get(name).container == "json")
    supports_binaries = any(
        map(get(name).supports, (mysql.TYPES["blob"], postgresql.TYPES["bytea"]))
    )
    typed = get(name).container == "confluent"  # Avro's types hold no cell of another shape
    assert names >= {
        "letters-as-null",
        "empty-as-null",
        *(() if typed else ("outside-as-null", "another-shape-as-null")),
    }
    assert names >= {
        "cell-outside-domain-as-null",
        "bad-timestamp-as-null",
        *(() if typed or not supports_binaries else ("bad-binary-as-null",)),
    }


def test_every_line_names_rules_of_formats() -> None:
    mine = {(liar.name, liar.why) for name in FORMATS for liar in liars(name)}
    assert [liar.name for _, liar in lines() if (liar.name, liar.why) not in mine] == []


@pytest.mark.parametrize(("line", "message"), rows(__file__, "wrong_liars.txt"))
def test_a_mistyped_line_is_told_with_its_place(
    monkeypatch: pytest.MonkeyPatch, line: str, message: str
) -> None:
    text = f'level = 1\nliars = [\n  {{name = "x", by = "*", why = "w", {line}}},\n]\n'
    assert wrong(monkeypatch, text).startswith(f"3: x: {message}")


@pytest.mark.parametrize(("text", "message"), of_lines(__file__, "wrong_files.txt"))
def test_a_wrong_file_is_told_with_its_place(
    monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    assert wrong(monkeypatch, text).startswith(message)


def wrong(monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    """What is said of a table behind its name."""
    monkeypatch.setattr(table, "read_package_toml", lambda _package, name: (f"{name}.toml", text))
    with pytest.raises(UsageError) as caught:
        lines.__wrapped__()
    return re.sub(r"^[\w-]+\.toml:", "", str(caught.value))


@pytest.mark.parametrize("name", FORMATS)
def test_no_rule_has_one_liar_twice(name: str) -> None:
    triples = [(liar.name, liar.convicts, liar.level) for liar in liars(name)]
    assert len(set(triples)) == len(triples)


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_a_liar_in_spark_and_names_rules_that_are_there(name: str) -> None:
    spark_liars = in_spark(name)
    assert spark_liars and {liar.convicts for liar in spark_liars} <= {
        rule.id for rule in rules(name)
    }


@pytest.mark.parametrize(("own", "message"), rows(__file__, "wrong_liars_in_spark.txt"))
def test_a_mistyped_line_of_a_liar_in_spark_is_told(
    monkeypatch: pytest.MonkeyPatch, own: str, message: str
) -> None:
    shared = liar._file("shared")
    mine = TableFile("ogg-json.toml", own, liar.PARTS)
    monkeypatch.setattr(liar, "_file", lambda name: mine if name == "ogg-json" else shared)
    with pytest.raises(UsageError, match=re.escape(f"ogg-json.toml:{message}")):
        in_spark("ogg-json")
