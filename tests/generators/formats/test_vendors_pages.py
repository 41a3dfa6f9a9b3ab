"""What the pages of CloudCanal and Tencent DTS contradict or leave open, and what the rules make of
it.
"""

from __future__ import annotations

import pytest

from conformance.rules.rules import Obligation, rules
from generators.drawing.cases import LAYOUT
from generators.families.cloudcanal.messages import RELEASE
from generators.model import Column, History, SchemaChange, Table
from generators.sources import mysql
from generators.sources.boundaries import START, insert
from generators.wire_format import get

NAMES = ("cloudcanal-json", "cloudcanal-canal-json", "tencent-dts-json")


CONTRADICTIONS = {
    "cloudcanal-json": (
        *(f"cloudcanal#{n}" for n in ("table-changes", "keys-empty", "types-after", "ddl-key")),
        *(
            f"cloudcanal#{n}"
            for n in (
                "action",
                "ddl-example",
                "bid",
                "pairing-open",
                "delete-open",
                "before-whole-open",
            )
        ),
    ),
    "cloudcanal-canal-json": (
        *(
            f"cloudcanal#canal-{n}"
            for n in ("ddl-example", "keys", "types-after", "type", "id", "old-open")
        ),
        *("cloudcanal#pairing-open", "cloudcanal#before-whole-open"),
    ),
    "tencent-dts-json": (
        *(
            f"tencent#{n}"
            for n in (
                "heartbeat",
                "checkpoint",
                "ddl-names",
                "position-number",
                "fragments",
                "source-type",
                "null",
            )
        ),
        *(
            f"tencent#{n}"
            for n in (
                "absent-fields",
                "json-shapes",
                "type-numbers",
                "pairing",
                "datetime-example",
                "day-first",
            )
        ),
        *(
            f"tencent#{n}"
            for n in ("timestamp-epoch", "not-covered", "zero-dates", "binary-trailing-zeros")
        ),
    ),
}
"""What a vendor's page contradicts or leaves open, as facts."""


@pytest.mark.parametrize("name", NAMES)
def test_every_contradiction_is_cited_by_a_rule(name: str) -> None:
    cited = {citation.where for rule in rules(name) for citation in rule.citations}
    assert [fact for fact in CONTRADICTIONS[name] if fact not in cited] == []


def test_what_the_vendor_leaves_open_is_no_must() -> None:
    open_ = {
        "cloudcanal-json/value/bits": Obligation.UNSPECIFIED,
        "cloudcanal-json/value/enum": Obligation.UNSPECIFIED,
        "cloudcanal-json/value/binary": Obligation.SHOULD,
        "cloudcanal-json/rows/deleted-in-before": Obligation.SHOULD,
        "cloudcanal-canal-json/value/set": Obligation.UNSPECIFIED,
        "tencent-dts-json/fault/odd-nibble": Obligation.UNSPECIFIED,
        "tencent-dts-json/value/datetime-day-first": Obligation.UNSPECIFIED,
        "tencent-dts-json/value/binary": Obligation.MUST,
        "tencent-dts-json/value/timestamp": Obligation.SHOULD,
    }
    obligations = {rule.id: rule.obligation for name in NAMES for rule in rules(name)}
    assert {name: obligations[name] for name in open_} == open_


@pytest.mark.parametrize(
    "name", ["cloudcanal-json", "cloudcanal-canal-json", "cloudcanal-debezium"]
)
def test_ddl_goes_to_the_topic_that_the_parameter_names(name: str) -> None:
    """cloudcanal#ddl-partition."""
    fmt = get(name)
    table = Table("d", "t", (Column("id", mysql.integer("bigint")),), ("id",))
    added = SchemaChange(
        START, "add column", "ALTER TABLE t ADD COLUMN d int", "d", "t", table, table
    )
    events = (added, insert(table, {"id": 1}))
    topics = {
        option: [
            sent.message.topic
            for sent in fmt.write(History(events), fmt.profile(f"{RELEASE}{option}"), LAYOUT)
        ]
        for option in ("", "+ddl-topic")
    }
    assert topics == {"": [LAYOUT.topic] * 2, "+ddl-topic": [f"{LAYOUT.topic}_ddl", LAYOUT.topic]}
