"""Nothing in a message tells what is expected of its decoder, and what budget smoke selects keeps
what all cases cover.

Ids say what a case is about. A word of an id, a fault or a release that stands in messages is only
innocent if as many messages have it whose ids have not.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest

from conformance.cases.catalogue import drawn_cases, find_scenario, named_cases
from conformance.cases.covering import PROFILES_EACH, list_field_classes, select_covering
from conformance.reducing.recipes import make_recipe
from generators.model import Case, Change, Kind, Op, Origin
from generators.wire_format import FORMATS, get


def words(text: str) -> set[str]:
    """The words of a text, those of two letters left out."""
    return set(re.findall(r"[a-z]{3,}", text.lower()))


SQL = words(
    "add auto change column comment commit convert create database default drop exchange exists first foreign identity index key"
    " modify not partition primary recover rename replica rollback sequence truncate view virtual"
)
"""Words of statements, which stand in the message as it is."""
PROTOCOL = words(
    "bootstrap checkpoint ddl delete heartbeat incremental init insert message null transaction update watermark"
)
"""Words by which formats call their messages, and what stands for no value."""
TYPES = words(
    "ascii back big box circle decimal euckr gbk geometry infinity koi latin nan none point serial sjis"
    " slash ucs unheard"
)
"""Words of column types, of character sets, of labels, of what a vendor prints for a number or no
value.
"""


def texts(case: Case) -> bytes:
    """All that a decoder gets of the case."""
    parts: list[bytes] = []
    for written in case.written:
        message = written.message
        headers = (part for name, value in message.headers for part in (name.encode(), value))
        parts += (message.topic.encode(), message.key or b"", message.value or b"", *headers)
    return b"\n".join(parts).lower()


@pytest.mark.parametrize("name", FORMATS)
def test_no_word_of_an_id_a_fault_or_a_release_is_in_a_message(name: str) -> None:
    fmt = get(name)
    telling, innocent = Counter[str](), Counter[str]()
    profiles = fmt.profiles[-1::-3]
    for case in (*named_cases(fmt, profiles), *drawn_cases(fmt, profiles, 30, 1)):
        mine, content = words(f"{case.scenario} {case.fault and 'fault'} {case.fault}"), texts(case)
        for word in map(bytes.decode, set(re.findall(rb"[a-z]{3,}", content))):
            (telling if word in mine else innocent)[word] += 1
        release = fmt.profile(case.profile).release.lower()
        spelled = {release, re.sub(r"\W", "_", release)}
        # Debezium's messages have the connector's version; `2.0` is many things.
        if release.count(".") > 1 and not name.startswith("debezium"):
            assert [text for text in spelled if text.encode() in content] == [], case.id
    assert telling
    assert {
        word for word, count in telling.items() if count >= innocent[word]
    } - SQL - PROTOCOL - TYPES == set()


@pytest.mark.parametrize("name", FORMATS)
def test_drawn_cases_are_spoiled_too(name: str) -> None:
    fmt = get(name)
    drawn = list(drawn_cases(fmt, fmt.profiles, 70, 1))
    spoiled = [case for case in drawn if case.fault]
    assert 1 <= len(spoiled) <= 18
    for case in spoiled:
        # A DELETE of ticdc-avro has no value to be spoiled.
        kinds = [
            {change.kind for change in written.changes}
            for written in case.written
            if written.message.value is not None
        ]
        assert (case.origin, {Kind.CORRUPT} in kinds, Kind.ROW in set().union(*kinds)) == (
            Origin.DRAWN,
            True,
            False,
        )
        assert any(tag.startswith("fault:") for tag in case.tags)
    again = next(case for case in spoiled if case.level == 1)
    scenario = find_scenario(fmt, fmt.profiles, again, 70, 1)
    assert scenario
    rebuilt = make_recipe(fmt, fmt.profile(again.profile), again).case(scenario)
    assert [w.message.value for w in rebuilt.written] == [w.message.value for w in again.written]


FMT = get("aliyun-dts-avro")


@pytest.fixture(scope="module")
def every():
    return list(named_cases(FMT, FMT.profiles))


def test_each_scenario_of_a_deployment_stays_and_each_tag_of_a_profile(every):
    chosen = select_covering(every, 1)
    assert len(chosen) < len(every) / 2
    ids = {case.id for case in chosen}
    assert [case for case in every if case.id in ids] == chosen
    for pairs in (
        lambda case: {(case.deployment, case.level, case.scenario, case.fault)},
        lambda case: {(case.profile, case.level, tag) for tag in case.tags},
        lambda case: {
            (case.profile, change.kind, change.op)
            for written in case.written
            for change in written.changes
        },
        lambda case: {
            (case.profile, field_class)
            for written in case.written
            for change in written.changes
            for field_class in list_field_classes(change)
            if case.level == 1
        },
    ):
        assert set().union(*map(pairs, chosen)) == set().union(*map(pairs, every))


def field_classes(**fields):
    """The classes of the fields of an inserted row, without its kind."""
    change = Change(0, Kind.ROW, Op.INSERT, **fields)
    return {(found.field, found.name) for found in list_field_classes(change)}


@pytest.mark.parametrize(
    ("fields", "classes"),
    [
        ({}, set()),
        ({"keys": ()}, {("keys", "0")}),
        ({"keys": ("id",)}, {("keys", "1")}),
        ({"keys": ("a", "b")}, {("keys", "several")}),
        (
            {"keys": ("zeta", "Alpha")},
            {("keys", "several"), ("keys", "unsorted"), ("keys", "capital")},
        ),
        ({"keys": ("e,f",)}, {("keys", "1"), ("keys", ",")}),
        (
            {"database": "UP_1", "table": "汉 é"},
            {("database", "capital"), ("table", "beyond"), ("table", " ")},
        ),
        ({"schema": "a.b"}, {("schema", ".")}),
        ({"commit_time_us": 1_000_000}, set()),
        ({"commit_time_us": 1_001_000}, {("commit_time", "fraction")}),
        ({"position": "4294967295"}, set()),
        ({"position": "4294967296"}, {("position", "over 32 bits")}),
        (
            {"position": "9007199254740992"},
            {("position", "over 32 bits"), ("position", "over 53 bits")},
        ),
        ({"position": "binlog.000001:4"}, set()),
    ],
)
def test_classes_of_fields(fields, classes):
    assert field_classes(**fields) == classes


def test_seeds_choose_other_profiles_and_together_all(every):
    turns = [
        {case.id for case in select_covering(every, seed)} for seed in range(len(FMT.profiles))
    ]
    assert turns[0] != turns[1]
    assert set().union(*turns) == {case.id for case in every}
    assert {case.id for case in select_covering(every, 3)} == turns[3]


def test_what_few_profiles_have_stays_whole(every):
    few = [
        case
        for case in every
        if case.profile in {profile.name for profile in FMT.profiles[:PROFILES_EACH]}
    ]
    assert select_covering(few, 1) == few


@pytest.mark.parametrize("seed", [5, 7])
def test_each_scenario_of_a_source_stays_and_a_database_in_capitals_of_a_profile(every, seed):
    source = {profile.name: profile.source for profile in FMT.profiles}

    def scenarios(cases):
        valued = (
            case
            for case in cases
            if any(change.after for written in case.written for change in written.changes)
        )
        return {(source[case.profile], case.level, case.scenario) for case in valued}

    chosen = select_covering(every, seed)
    capitals = {case.profile for case in chosen if named_in_capitals(case)}
    assert capitals == {case.profile for case in every if named_in_capitals(case)} != set()
    assert scenarios(chosen) == scenarios(every)
    assert len({origin for origin, _, _ in scenarios(every)}) == 2


def named_in_capitals(case):
    return any(
        (change.database or "").startswith("UP_")
        for written in case.written
        for change in written.changes
    )
