"""The table of what differs between the releases of a format."""

from __future__ import annotations

from conformance.pages.releases import fact_docs, flat_facts, release_table
from generators.formats.debezium_json import DebeziumProfile
from generators.wire_format import get


def test_a_fact_stands_with_its_meaning_and_its_value_in_each_release() -> None:
    lines = list(release_table(get("ticdc-avro")))
    assert lines == [
        "## What differs between releases",
        "",
        "|fact|meaning|`v7.1.6`|`v8.5.7`|`new-8.5.7`|",
        "|---|---|---|---|---|",
        "|`vectors`|TiDB has the type VECTOR (since v8.4).|no|yes|yes|",
        (
            "|`new_architecture`|The new architecture, whose keys are primary keys and whose BITs have the"
            " column's width.|no|no|yes|"
        ),
        "|`checksum_version`|The version that the checksum's field names.|`1`|`2`|`2`|",
        "",
    ]


def test_a_format_of_one_release_has_no_table() -> None:
    assert not list(release_table(get("maxwell-json")))


def test_facts_of_a_nested_dataclass_are_named_by_their_path() -> None:
    new, old = (get("debezium-json").build(r) for r in ("3.6.1.Final", "1.4.0.Final"))
    name = "modes.plain_decimals"
    assert (flat_facts(new)[name], flat_facts(old)[name]) == (True, False)
    assert fact_docs(DebeziumProfile)[name] == "A decimal as text has no exponent (since 1.9)."


def test_every_fact_that_differs_between_releases_of_debezium_is_described() -> None:
    lines = [line.split("|") for line in release_table(get("debezium-json")) if "|`" in line]
    assert len(lines) > 40
    assert [cells[1] for cells in lines if not cells[2]] == []
