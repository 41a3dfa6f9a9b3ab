"""The catalogue of cases and how they are grouped into decode calls."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cases import catalogue
from conformance.cases.catalogue import (
    drawn_cases,
    group_calls,
    matches_pattern,
    may_match,
    named_cases,
    pool_tables,
    recorded_cases,
    select_profiles,
)
from generators.drawing.cases import as_case
from generators.errors import UnknownName, UsageError
from generators.model import Change, Kind, Message, Origin, RowChange, Written
from generators.profiles import Choices, Profile
from generators.sources.databases import of_table
from generators.wire_format import FORMATS, Format, KindRow, get

SOME = ("ticdc-canal-json", "debezium-json", "aliyun-dts-avro")
"""A format of each container, one of them of two sources; how cases are drawn and grouped is no
matter of a format.
"""
PROFILES = {"ticdc-canal-json": ("v5.4.3", "v7.1.6")}

KEYLESS = "v7.1.6+force-replicate"
"""The profile of ticdc-avro that writes tables without a key."""
KEYED = "ticdc-debezium-avro"
"""The format that has no tables without a key."""
STAYS = {"ticdc-canal-json": "v7.1.6", "alibaba-canal-json": "1.1.8", "ticdc-avro": KEYLESS}
"""Profiles whose names of cases stand in tests; of other formats the first."""


def some(name):
    """A format and two of its profiles, of two sources where it reads two."""
    fmt = get(name)
    by_source = {profile.source: profile for profile in fmt.profiles}
    two = [fmt.profile(p) for p in PROFILES.get(name, ())] or [
        fmt.profiles[0],
        by_source[list(by_source)[-1]],
    ]
    return fmt, tuple(dict.fromkeys(two))


@pytest.fixture(scope="module", params=FORMATS)
def named(request):
    """A format, some of its profiles, and their named cases; a whole run has those of all."""
    fmt = get(request.param)
    named = STAYS.get(fmt.name, fmt.profiles[0].name)
    some = [profile for n, profile in enumerate(fmt.profiles) if not n % 4 or profile.name == named]
    return fmt, some, list(named_cases(fmt, some))


@pytest.fixture(scope="module", params=SOME)
def grouped(request):
    """The calls of two profiles' named cases and sixty drawn ones."""
    fmt, selected = some(request.param)
    cases = [*named_cases(fmt, selected), *drawn_cases(fmt, selected, 60, 3)]
    return cases, group_calls(fmt, cases, (1, 2), 3)


def test_ids_are_unique_and_say_format_profile_and_scenario(named):
    fmt, _, cases = named
    assert [case_id for case_id, n in Counter(case.id for case in cases).items() if n > 1] == []
    known = {profile.name for profile in fmt.profiles}
    for case in cases:
        name, profile, scenario = case.id.split("/", 2)
        assert (name, profile) == (fmt.name, case.profile)
        assert profile in known
        assert scenario
        assert {written.message.case for written in case.written} == {case.id}


def test_every_profile_has_boundaries_at_both_levels_and_faults(named):
    fmt, some, cases = named
    for profile in some:
        mine = [case for case in cases if case.profile == profile.name]
        assert {case.level for case in mine} == {1, 2}
        assert any(tag.startswith("fault:") for case in mine for tag in case.tags)
    # A registry's framing leaves nothing open: an id is known or it is not; but a value of no bytes
    # is TiCDC's DELETE, too.
    open_ended = any(
        change.anything for case in cases for w in case.written for change in w.changes
    )
    assert open_ended is (fmt.container != "confluent" or fmt.name == "ticdc-avro")


def test_a_case_name_stays(named):
    fmt, _, cases = named
    kept = fmt.profile(STAYS.get(fmt.name, fmt.profiles[0].name))
    ids = {case.id for case in cases}
    of_source = {
        "mysql": "unsigned-bigint/one-over-signed-max",
        "postgresql": "numeric-20-0/max",
        "mongodb": "decimal/exponent",
    }
    keyless = [] if fmt.name == KEYED else ["rows/keyless/multi-row-insert"]
    for scenario in (
        *(of_source[kept.source], "shape/update-one-column"),
        *("fault/truncated/insert", *keyless),
    ):
        assert f"{fmt.name}/{kept.name}/{scenario}" in ids


def test_level_two_has_one_table_each_and_no_statements(named):
    _, _, cases = named
    tables = {}
    for case in cases:
        if case.level == 2:
            (table,) = case.tables
            tables.setdefault(of_table(table).name, set()).add(table)
            kinds = {change.kind for w in case.written for change in w.changes}
            assert kinds & {Kind.ROW, Kind.CORRUPT}, case.id
            # what a writer adds to rows (transactions, schemas, tombstones) stays beside them
            assert Kind.DDL not in kinds or "default-for-null" in case.tags, case.id
    assert all(1 <= len(some) <= 5 for some in tables.values())


def test_a_namesake_of_the_asked_table_elsewhere_owes_no_row(named):
    fmt, some, cases = named
    namesakes = [case for case in cases if case.scenario == "rows/keyless/same-name-elsewhere"]
    with_keyless = {"ticdc-avro": {KEYLESS}, KEYED: set()}
    assert {case.profile for case in namesakes} == with_keyless.get(
        fmt.name, {p.name for p in some}
    )
    for case in namesakes:
        (table,) = case.tables
        assert (table.database, table.schema) in {
            ("pool", None),
            ("pool_pg", "public"),
            ("pool_mongo", None),
            ("pool_ms", "dbo"),
            ("pool_ora", "SHOP"),
        }
        owed = [
            (w.message.event, change.op)
            for w in case.written
            for change in w.changes
            if change.kind is Kind.ROW
        ]
        # Messages that name no table are rows of the asked one, wherever they come from.
        names_table = all(change.table for w in case.written for change in w.changes)
        expected = owed[:1] if names_table else owed
        assert expected == [(0, "INSERT"), *expected[1:]], case.id
        assert owed == expected, case.id
        assert {w.message.event for w in case.written} > {0}


def test_level_one_cases_of_one_call_never_share_a_table(grouped):
    _, groups = grouped
    for call in groups:
        if call.level == 1:
            owners = Counter()
            for case in call.cases:
                owners.update({(table.database, table.name) for table in case.tables})
            assert [place for place, n in owners.items() if n > 1] == []


def test_a_call_has_one_deployment_level_and_table(grouped):
    cases, groups = grouped
    assert [
        c.id
        for call in groups
        for c in call.cases
        if c.deployment != call.deployment or c.level != call.level
    ] == []
    assert sorted(c.id for call in groups for c in call.cases) == sorted(c.id for c in cases)
    assert len({call.name for call in groups}) == len(groups)
    for call in groups:
        assert (call.table is None) is (call.level == 1)
        assert all(call.table is None or case.tables == (call.table,) for case in call.cases)


def test_level_two_asks_for_few_tables(grouped):
    _, groups = grouped
    for place in {(call.deployment, call.source) for call in groups}:
        assert (
            1
            <= len(
                {
                    call.table
                    for call in groups
                    if call.level == 2 and (call.deployment, call.source) == place
                }
            )
            <= 6
        )


def test_messages_of_other_tables_are_mixed_into_level_two(grouped):
    _, groups = grouped
    for call in groups:
        mine = {id(w.message) for case in call.cases for w in case.written}
        assert not mine & {id(message) for message in call.foreign}
        assert (len(call.foreign) == 0) is (call.level == 1)
        assert len(call.foreign) <= catalogue.FOREIGN
        assert not any("/fault/" in message.case for message in call.foreign)


def test_calls_of_one_level_only():
    fmt, selected = some(FORMATS[0])
    cases = list(named_cases(fmt, selected))
    assert {call.level for call in group_calls(fmt, cases, (1,), 1)} == {1}
    assert (
        {call.level for call in group_calls(fmt, cases, (2,), 1)},
        group_calls(fmt, cases, (), 1),
    ) == (
        {2},
        [],
    )


@pytest.mark.parametrize("name", SOME)
def test_the_same_seed_draws_the_same_cases(name):
    fmt, selected = some(name)
    first, second = (list(drawn_cases(fmt, selected, 40, 7)) for _ in range(2))
    assert first == second
    other = list(drawn_cases(fmt, selected, 40, 8))
    assert [case.written for case in other] != [case.written for case in first]


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("count", [0, 1, 45])
def test_as_many_are_drawn_as_were_asked_for(name, count):
    fmt, selected = some(name)
    cases = list(drawn_cases(fmt, selected, count, 5))
    assert (len(cases), len({case.id for case in cases})) == (count, count)
    assert all(case.id.split("/")[2:4] == ["drawn", "5"] and "drawn" in case.tags for case in cases)
    if count == 45:
        assert Counter(case.level for case in cases) == {1: 30, 2: 15}
        assert {case.profile for case in cases} == {profile.name for profile in selected}


_HEAD = b'{"type":"b","c":1234567891,"data":[{"d":'


def _write(history, profile, layout):
    """A message for each change of rows; each must be of a table of the profile's source."""
    written = []
    for number, event in enumerate(history.events):
        if not isinstance(event, RowChange):
            continue
        assert of_table(event.table).name == profile.source
        change = Change(
            0, Kind.ROW, event.op, event.table.database, event.table.schema, event.table.name
        )
        value = json.dumps(repr((profile.name, event.table, event.rows))).encode()
        written.append(
            Written(Message(layout.topic, 0, None, _HEAD + value + b"}]}", event=number), (change,))
        )
    return written


MIXED = Format(
    name="mixed",
    title="Two profiles of MySQL, one of PostgreSQL",
    source="any",
    profiles=(Profile("my"), Profile("our"), Profile("pg", source="postgresql")),
    write=_write,
    kinds=(KindRow("row", "ROW"),),
    position="none",
    scenarios=lambda _profile, _database: (),
    choices=Choices("mixed", {name: Profile(name) for name in ("my", "our", "pg")}),
    cell_faults=lambda _profile: (),
    unfit=lambda _profile, _fits: (),
)


def test_a_profile_gets_cases_of_its_source():
    """The writer refuses any other."""
    cases = [*named_cases(MIXED, MIXED.profiles), *drawn_cases(MIXED, MIXED.profiles, 90, 4)]
    groups = group_calls(MIXED, cases, (1, 2), 4)
    assert sum(len(call.cases) for call in groups) == len(cases)
    for call in groups:
        profiles = {MIXED.profile(case.profile) for case in call.cases}
        assert {profile.source for profile in profiles} == {call.source}
        assert {of_table(table).name for case in call.cases for table in case.tables} == {
            call.source
        }
        assert (call.source == "postgresql") is ("postgresql" in call.name)
        written = {id(w.message): case for case in cases for w in case.written}
        assert {MIXED.profile(written[id(m)].profile).source for m in call.foreign} <= {call.source}
    assert len({call.name for call in groups}) == len(groups) == 10
    assert {call.table.name for call in groups if call.table} == {
        "ledger",
        "plant `x`",
        "visits",
        "people",
    }
    assert "mixed/pg/fault/rows/truncated" in {case.id for case in cases}


@pytest.mark.parametrize("count", [1, 2, 45, 100])
def test_sources_share_what_is_drawn(count):
    cases = list(drawn_cases(MIXED, MIXED.profiles, count, 5))
    assert len({case.id for case in cases}) == len(cases) == count
    assert Counter(case.level for case in cases)[2] == count // 3
    if count >= 45:
        shares = Counter(case.profile for case in cases)
        assert max(shares.values()) - min(shares.values()) <= 3
    alone = list(drawn_cases(MIXED, MIXED.profiles[2:], count, 5))
    assert (len(alone), {case.profile for case in alone}) == (count, {"pg"})


def test_a_drawn_case_is_found_again():
    for case in drawn_cases(MIXED, MIXED.profiles, 45, 5):
        scenario = catalogue.find_scenario(MIXED, MIXED.profiles, case, 45, 5)
        profile = MIXED.profile(case.profile)
        assert catalogue.spoil_some_drawn(MIXED, profile, as_case(MIXED, profile, scenario)) == case
    named = next(
        case for case in named_cases(MIXED, MIXED.profiles[2:]) if case.id == "mixed/pg/uuid/nil"
    )
    assert (
        as_case(
            MIXED, MIXED.profiles[2], catalogue.find_scenario(MIXED, MIXED.profiles, named, 45, 5)
        )
        == named
    )


def test_the_pool_of_each_source():
    mine, theirs = pool_tables(MIXED, 1), pool_tables(MIXED, 1, "postgresql")
    assert (mine, [table.name for table in mine]) == (
        pool_tables(MIXED, 1, "mysql"),
        [table.name for table in theirs],
    )
    assert {table.database for table in mine} == {"pool"}
    assert {(table.database, table.schema) for table in theirs} == {("pool_pg", "public")}
    with pytest.raises(UnknownName):
        pool_tables(MIXED, 1, "db2")


def test_the_drawn_table_of_the_pool_depends_on_the_seed():
    fmt = get(FORMATS[0])
    *fixed, drawn = pool_tables(fmt, 1)
    assert ([table.name for table in fixed], drawn.name) == (
        ["ledger", "plant `x`", "visits"],
        "people",
    )
    assert drawn.primary_key
    assert len({pool_tables(fmt, seed)[3] for seed in range(4)}) > 1


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        *(
            ("f/v1.0", True),
            ("f/v1.0/", True),
            ("f/v1", False),
            ("f", True),
            ("f/v1.0/int", True),
            ("f/v1.0/int/max", True),
        ),
        *(
            ("f/v1.0/int/ma", False),
            ("f/v1.0/*", True),
            ("*/max", True),
            ("*/min", False),
            ("f/v?.0/int/[a-m]*", True),
        ),
        ("F/v1.0", False),
    ],
)
def test_selection_by_prefix_and_glob(pattern, matched):
    assert matches_pattern("f/v1.0/int/max", pattern) is matched
    assert may_match([pattern], "f/*/int") >= matched


@given(st.integers(0, 14), st.integers(0, 14), st.sampled_from(["*", "?*", "[!x]*", "/", ""]))
def test_what_a_pattern_matches_it_may_match(start, end, between):
    name = "f/v1/drawn/1/7"
    pattern = name[:start] + between + name[max(start, end) :]
    assert may_match([pattern], "f/*/drawn") >= matches_pattern(name, pattern)
    assert may_match([f"f/v1/int/{pattern}", f"g/{pattern}"], "f/*/drawn") is False


@pytest.mark.parametrize("name", SOME)
def test_patterns_write_the_matching_cases_alone(name):
    """Of every kind: a boundary's, a spoiled message's, an unfit cell's, those of three rows."""
    fmt, (profile, *_) = some(name)
    patterns = (f"{name}/{profile.name}/bigint", "*/fault/*")
    written = []

    def write(history, *arguments):
        written.append(history)
        return fmt.write(history, *arguments)

    watched = replace(fmt, write=write)
    every = [
        c
        for c in named_cases(fmt, (profile,))
        if any(matches_pattern(c.id, pattern) for pattern in patterns)
    ]
    assert list(named_cases(watched, (profile,), patterns)) == every
    assert {c.origin for c in every} == {Origin.NAMED, Origin.FAULT}
    assert len(every) <= len(written) < len(list(named_cases(fmt, (profile,)))) / 2


def test_profiles_by_glob():
    fmt = get("ticdc-canal-json")
    assert (select_profiles(fmt), [p.name for p in select_profiles(fmt, "v7.1.6")]) == (
        fmt.profiles,
        ["v7.1.6"],
    )
    assert all(p.name.startswith("v5.") for p in select_profiles(fmt, "v5.*"))
    with pytest.raises(
        UnknownName,
        match=r"unknown profile 'v7\.1\.7' of ticdc-canal-json\. Did you mean 'v7\.1\.6'\?",
    ):
        select_profiles(fmt, "v7.1.7")
    assert [p.name for p in select_profiles(fmt, "v7.1.6+only-updated+extension")] == [
        "v7.1.6+extension+only-updated"
    ]
    with pytest.raises(UnknownName, match="Did you mean 'extension'"):
        select_profiles(fmt, "v7.1.6+extnsion")
    with pytest.raises(UsageError, match="is an option of"):
        select_profiles(fmt, "v5.3.4+extension")


def test_budgets():
    assert catalogue.find_budget("ci").drawn >= 1000
    assert catalogue.find_budget("nightly").drawn == 10 * catalogue.find_budget("ci").drawn
    # `quick` judges each of its cases and samples nothing.
    budgets = [entry for name, entry in catalogue.BUDGETS.items() if name != "quick"]
    assert all(0 < entry.sampled <= 200 for entry in budgets)
    with pytest.raises(UnknownName, match="Did you mean 'nightly'"):
        catalogue.find_budget("nightlly")


def test_recorded_cases_are_sampled_by_budget_and_selected_by_profile_and_name():
    fmt = get("alibaba-canal-json")
    every = recorded_cases(fmt, "*", None)
    assert len(every) == len({case.id for case in every}) == 736
    sample = recorded_cases(fmt, "*", catalogue.BUDGETS["smoke"].recorded)
    assert (len(sample), {case.level for case in sample}) == (12, {1, 2})
    assert {case.id for case in sample} < {case.id for case in every}
    assert recorded_cases(fmt, "*", 12, ("alibaba-canal-json/v1",)) == sample
    assert recorded_cases(fmt, "*", 12, ("*/recorded/*",)) == every
    names = {
        "1.1.7+minimal+mariadb+utc",
        "1.1.7+mariadb+shanghai",
        "1.1.7+mariadb+old-time+shanghai",
    }
    assert {case.profile for case in recorded_cases(fmt, "1.1.7*", None)} == names
    assert recorded_cases(get("tencent-dts-json"), "*", None) == ()


def test_a_typed_call_of_recorded_cases_has_one_table_at_one_version_and_no_foreign_version_of_it():
    fmt = get("alibaba-canal-json")
    grouped = group_calls(fmt, recorded_cases(fmt, "1.1.8+mariadb", None), (1, 2), 1)
    assert (len({call.name for call in grouped}), [call.level for call in grouped].count(1)) == (
        len(grouped),
        1,
    )
    versions = [
        call
        for call in grouped
        if call.table and (call.table.database, call.table.name) == ("h_ddl", "a1")
    ]
    assert len(versions) > 5
    for call in grouped:
        assert {case.tables for case in call.cases} == {(call.table,)} or call.table is None
        for message in call.foreign:
            owner = next(
                case
                for case in recorded_cases(fmt, "1.1.8+mariadb", None)
                if case.id == message.case
            )
            assert (owner.tables[0].database, owner.tables[0].name) != (
                call.table.database,
                call.table.name,
            )
    named = group_calls(fmt, named_cases(fmt, (fmt.profile("1.1.8"),)), (2,), 1)
    both = group_calls(
        fmt,
        (*named_cases(fmt, (fmt.profile("1.1.8"),)), *recorded_cases(fmt, "1.1.8+mariadb", None)),
        (2,),
        1,
    )
    assert [call for call in both if not call.version] == named
