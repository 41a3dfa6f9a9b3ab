"""The rules of every format, as a catalogue: complete, cited, and closed by rules that own whatever
is left.
"""

import fnmatch
import os
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.judging.output import ENVELOPE
from conformance.rules import pipelines, streams
from conformance.rules import rules as book
from conformance.rules.rules import Aspect, Citation, Obligation, Selector, Subject, owner, rules
from generators.model import Kind
from generators.sources.databases import source
from generators.wire_format import FORMATS, get

LAWS = ["batch", "environment", "places", "returns", "row-shape", "one-form", "one-zone", "own-row"]

CHANGE = (Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT, Aspect.ACCEPTED, Aspect.KIND, Aspect.OP)
PLACES = [
    *(("change", aspect, "") for aspect in CHANGE),
    *((name, Aspect.FIELD, "") for name in ENVELOPE),
    *(("image", Aspect.IMAGE, side) for side in ("before", "after")),
    *(
        ("cell", aspect, side)
        for aspect in (Aspect.PRESENCE, Aspect.NULL, Aspect.VALUE)
        for side in ("before", "after")
    ),
]
"""Every (field, aspect, side) that the judge compares."""


IDS = Path(__file__).parent / "ids.txt"
"""Every rule of every format in its order: id, obligation, effect."""


def listed_rules(name):
    """A line for each rule of a format."""
    return [
        f"{rule.id} {rule.obligation} {rule.effect}"
        for rule in (*rules(name), *streams.rules(name))
    ]


def test_the_rules_of_a_format_and_their_order_stay():
    """Ids are kept for good: users write them into their records of known failures."""
    listed = [line for name in FORMATS for line in listed_rules(name)]
    if os.environ.get("UPDATE_SNAPSHOTS"):
        IDS.write_text("\n".join(listed) + "\n", "utf-8")
    assert listed == IDS.read_text("utf-8").splitlines(), "UPDATE_SNAPSHOTS=1 writes ids.txt anew"


def test_the_rules_of_pipelines_and_their_order_stay():
    names = [
        "order",
        "no-way-back",
        "tombstone",
        "at-least-once",
        "one-per-batch",
        "delete",
        "key-change",
        "truncate",
        "unsent",
        "null-overwrites",
        "new-column",
        "dropped-column",
        "columns",
        "types",
        "unreadable",
        "restart",
        "full-refresh",
        "one-open",
        "no-overlap",
        "no-gap",
        "versions",
        "convergence",
    ]
    listed = {name: [rule.id for rule in pipelines.rules(name)] for name in FORMATS}
    assert listed["debezium-json"] == [f"debezium-json/pipeline/{name}" for name in names]
    sinks = [name for name in FORMATS if name.startswith(("flink", "seatunnel"))]
    without = {key: {"tombstone", "unsent"} for key in ("ticdc-avro", "aws-dms-json", *sinks)}
    for name, ids in listed.items():
        lacking = {f"{name}/pipeline/{last}" for last in without.get(name, {"unsent"})}
        if not name.startswith("debezium-"):
            assert ids == [i for n in names if (i := f"{name}/pipeline/{n}") not in lacking]


@pytest.mark.parametrize("name", FORMATS)
def test_a_rule_is_a_sentence_and_only_laws_own_nothing_by_selector(name):
    for rule in (*rules(name), *streams.rules(name), *pipelines.rules(name)):
        assert rule.statement.endswith("."), rule.id
        assert rule.law in ("", "stream", "pipeline", *LAWS), rule.id
        assert not rule.law or rule.selector == Selector(), rule.id


@pytest.mark.parametrize("name", FORMATS)
def test_a_selector_s_globs_match_what_the_format_has(name):
    fmt = get(name)
    profiles = [profile.name for profile in fmt.profiles]
    types = [
        kind.key
        for origin in {p.source for p in fmt.profiles}
        for kind in source(origin).types.values()
    ]
    for rule in rules(name):
        assert [
            glob for glob in rule.selector.profiles if not fnmatch.filter(profiles, glob)
        ] == [], rule.id
        assert [glob for glob in rule.selector.types if not fnmatch.filter(types, glob)] == [], (
            rule.id
        )


def test_what_selectors_may_name_is_what_is_compared():
    assert set(book.FIELDS) == {field for field, _, _ in PLACES}


@pytest.mark.parametrize("name", FORMATS)
def test_the_closing_rules_ask_for_an_aspect_and_nothing_else(name):
    """Without tags, types or classes every place is owned, too."""
    for kind in Kind:
        for field, aspect, side in PLACES:
            for level in (1, 2):
                subject = Subject("no such profile", level, kind.value, "", field, aspect, side)
                closing = owner(rules(name), subject)
                assert closing is not None and not closing.law, subject


CLOCK = Subject(
    "p",
    2,
    "ROW",
    "INSERT",
    "cell",
    Aspect.VALUE,
    "after",
    "timestamp",
    "timestamp",
    "micros",
    "VALUE",
)
COMMITTED = Subject("p", 1, "ROW", "INSERT", "commit_time", Aspect.FIELD)


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        *((f"cloudcanal-{name}", CLOCK) for name in ("json", "canal-json", "debezium")),
        *(
            ("tencent-dts-json", CLOCK),
            ("huawei-cdl-debezium", CLOCK),
            ("ogg-json", CLOCK),
            ("ogg-json", COMMITTED),
        ),
        ("huawei-cdl-debezium", replace(CLOCK, type="datetime", logical="datetime")),
    ],
)
def test_where_no_source_tells_the_zone_what_no_zone_changes_is_owed(name, subject):
    owners = [
        owner(rules(name), replace(subject, aspect=aspect))
        for aspect in (Aspect.DIGITS, subject.aspect)
    ]
    assert [rule and rule.obligation for rule in owners] == [Obligation.MUST, Obligation.SHOULD]


NAMING = [
    "debezium-json",
    "debezium-avro",
    "ticdc-debezium-json",
    "ticdc-open-protocol",
    "tencent-dts-json",
]


@pytest.mark.parametrize("name", NAMING)
def test_a_statement_s_database_stands_in_its_message_and_its_table_may_not(name):
    owners = [
        owner(rules(name), Subject("p", 1, "DDL", "", field, Aspect.FIELD))
        for field in ("database", "table")
    ]
    assert [rule and rule.obligation for rule in owners] == [Obligation.MUST, Obligation.SHOULD]


def test_a_list_that_is_not_closed_is_seen():
    open_ended = tuple(
        rule for rule in rules(FORMATS[0]) if Aspect.PRESENCE not in rule.selector.aspects
    )
    subject = Subject(
        "v7.1.6",
        1,
        "ROW",
        "INSERT",
        "cell",
        Aspect.PRESENCE,
        "after",
        "int",
        "int",
        "plain",
        "VALUE",
    )
    assert owner(open_ended, subject) is None
    assert owner(rules(FORMATS[0]), subject) is not None


SUBJECT = Subject(
    "v7.1.6+extension", 1, "ROW", "UPDATE", "cell", Aspect.VALUE, "before", "bigint unsigned", "int", "plain", "VALUE",
    frozenset({"boundary", "ddl:add column"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        *(({}, True), ({"profiles": ("v7.1.6*",)}, True), ({"profiles": ("v7.1.6",)}, False)),
        *(
            ({"profiles": ("v5*", "*+extension")}, True),
            ({"types": ("* unsigned",)}, True),
            ({"types": ("bigint",)}, False),
        ),
        *(
            ({"classes": ("pla?n",)}, True),
            ({"tags": ("ddl:*",)}, True),
            ({"tags": ("ddl:drop*", "fault:*")}, False),
        ),
        ({"fields": ("image", "cell"), "aspects": (Aspect.VALUE,)}, True),
        *(({"fields": ("cell",), "aspects": (Aspect.NULL,)}, False), ({"kinds": ("DDL",)}, False)),
        *(
            ({"ops": ("UPDATE",), "sides": ("before",)}, True),
            ({"sides": ("after",)}, False),
            ({"levels": (2,)}, False),
        ),
        *(({"logicals": ("int",), "states": ("VALUE",)}, True), ({"states": ("NULL",)}, False)),
    ],
)
def test_every_given_condition_must_hold(conditions, matches):
    assert Selector(**conditions).matches(SUBJECT) is matches


def test_citations_print_with_their_section():
    citation = Citation("standards#mysql-time-range")
    assert (
        str(citation)
        == "Oracle, MySQL 8.0 Reference Manual, 13.2.3 The TIME Type, 13.2.3 [standards#mysql-time-range]"
    )
    assert citation.address == "https://dev.mysql.com/doc/refman/8.0/en/time.html"
    assert str(Citation("harness#every-offset")).endswith(", and 1 more [harness#every-offset]")
    assert Citation("harness#every-offset").address == ""


def test_the_first_rule_owns():
    def rule(name, **conditions):
        cited = (Citation("x"),)
        standing = (Obligation.MUST, book.Provenance.ASSUMED, cited, book.Effect.WRONG_VALUE)
        return book.Rule(name, "S.", *standing, Selector(**conditions))

    listed = (rule("no", kinds=("DDL",)), rule("first", tags=("boundary",)), rule("second"))
    assert owner(listed, SUBJECT) is listed[1]
    assert owner(listed[:1], SUBJECT) is None
