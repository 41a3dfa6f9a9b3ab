"""The cases of a user's tables: which tables a format has, and what each profile writes of them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command_lines import performed

from conformance.cases import tables
from conformance.cases.catalogue import group_calls
from conformance.cases.tables import (
    drawn_cases,
    find_scenario,
    named_cases,
    profiles_matching,
    profiles_of_source,
    read_tables,
    table_histories,
    usable_tables,
)
from conformance.judging.capabilities import Capabilities
from conformance.judging.findings import Verdict
from conformance.judging.selection import split_by_claims
from conformance.load.feed import Feed, Options
from generators.bulk.mutations import Mutants
from generators.errors import UsageError
from generators.model import Bootstrap, Column, Kind, Logical, Origin, RowChange, SourceType, Table
from generators.sources import mysql
from generators.tables.reading import read_schema
from generators.tables.schema import Schema, UserTable
from generators.tables.user_values import Values
from generators.wire_format import get

SHOP = Values(read_schema([str(Path(__file__).parents[3] / "examples" / "tables" / "shop.sql")]))
TICDC = get("ticdc-canal-json")
V716 = TICDC.profile("v7.1.6")


@pytest.fixture(scope="module")
def named():
    return {case.scenario: case for case in named_cases(TICDC, [V716], SHOP)}


def test_the_ids_of_a_table_s_cases(named):
    assert {case.id for case in named.values()} == {
        f"ticdc-canal-json/v7.1.6/{name}" for name in named
    }
    expected = {
        "insert",
        "update-key",
        "delete-rows",
        "amount/max",
        "amount/max/typed",
        "note/null",
        "note/update-from-null",
    }
    assert {f"tables/orders/{name}" for name in expected} < set(named)
    assert {
        "tables/customers/rename-table",
        "tables/histories/parents-first",
        "tables/orders/fault/truncated",
    } < set(named)
    assert "tables/orders/quantity/max" not in named
    assert "tables/orders/quantity/check-1-high" in named


def test_a_message_is_one_of_the_user_s_table(named):
    (written,) = named["tables/orders/amount/max"].written
    body = json.loads(written.message.value)
    assert (body["database"], body["table"], body["type"]) == ("app", "orders", "INSERT")
    assert (body["data"][0]["amount"], body["mysqlType"]["customer_id"]) == (
        "9999999999999999.9999",
        "bigint unsigned",
    )


def test_a_fault_spoils_an_insert_of_each_table(named):
    spoiled = [case for case in named.values() if case.origin is Origin.FAULT]
    assert {case.tables[0].name for case in spoiled} == {"customers", "orders"}
    assert {
        change.kind for case in spoiled for written in case.written for change in written.changes
    } == {Kind.CORRUPT}
    assert len({case.fault for case in spoiled}) > 8


def test_level_two_has_a_call_for_each_table(named):
    groups = group_calls(TICDC, named.values(), (1, 2), 1)
    assert [(call.level, call.table and call.table.name) for call in groups] == [
        (1, None),
        (2, "customers"),
        (2, "orders"),
    ]
    assert all(len(call.foreign) == 12 for call in groups if call.level == 2)


def test_tables_of_one_name_in_two_databases_have_calls_of_their_own():
    (user, *_) = SHOP.schema.tables
    both = Values(
        Schema("mysql", (user, replace(user, table=replace(user.table, database="archive"))))
    )
    groups = group_calls(TICDC, named_cases(TICDC, [V716], both), (2,), 1)
    assert [call.table.database for call in groups] == ["app", "archive"]


def test_drawn_cases_are_found_again_by_their_scenario_and_drawn_once(monkeypatch):
    honest, drawn = tables.scenarios.drawn_scenarios, []
    tables._drawn_scenarios.cache_clear()
    monkeypatch.setattr(
        tables.scenarios,
        "drawn_scenarios",
        lambda *args, **ddl: drawn.append(args) or honest(*args, **ddl),
    )
    cases = list(drawn_cases(TICDC, [V716], SHOP, 30, 5))
    assert len(cases) > 25
    assert ({case.level for case in cases}, {case.origin for case in cases}) == (
        {1, 2},
        {Origin.DRAWN},
    )
    for case in (cases[0], cases[-1]):
        scenario = find_scenario(TICDC, SHOP, case, 30, 5)
        assert scenario.name == case.scenario
    assert len(drawn) == 1


def test_a_named_case_is_found_by_its_scenario_and_a_fault_is_not(named):
    assert (
        find_scenario(TICDC, SHOP, named["tables/orders/insert"], 0, 1).name
        == "tables/orders/insert"
    )
    assert find_scenario(TICDC, SHOP, named["tables/orders/fault/truncated"], 0, 1) is None


def test_schemas_are_sent_ahead_where_the_format_sends_them():
    formats = (get("ticdc-simple-json"), TICDC)
    ahead, plain = (
        [event for history in table_histories(fmt, SHOP, 6, 1) for event in history.events]
        for fmt in formats
    )
    assert [any(isinstance(event, Bootstrap) for event in events) for events in (ahead, plain)] == [
        True,
        False,
    ]
    assert len({event.table.name for event in plain if isinstance(event, RowChange)}) >= 2


def test_garbage_is_made_of_the_tables_messages():
    mutants = Mutants(TICDC, [V716], 1, table_histories(TICDC, SHOP, 6, 1))
    values = [mutant.message.value or b"" for mutant in mutants.mutants_from(0, 200)]
    assert sum(b'"orders"' in value or b'"customers"' in value for value in values) > 100
    assert not any(b'"database":"pool"' in value for value in values)


def test_a_table_with_a_type_that_the_format_has_not_is_left_out_and_told():
    strange = Column("place", SourceType("geometry", Logical.BINARY, length=100))
    odd = UserTable(
        Table("app", "places", (Column("id", mysql.integer("int"), False), strange), ("id",))
    )
    fmt = replace(TICDC, supports=lambda kind: kind.name != "geometry")
    choice = usable_tables(fmt, Schema("mysql", (odd, *SHOP.schema.tables)))
    assert [user.table.name for user in choice.users] == ["customers", "orders"]
    assert choice.notes == (
        "ticdc-canal-json: table places is left out: the format has not this type: place geometry",
    )


def test_the_profiles_must_read_the_database_of_the_tables():
    assert profiles_of_source(TICDC, TICDC.profiles, SHOP.schema) == TICDC.profiles
    with pytest.raises(
        UsageError,
        match="ticdc-canal-json: the tables are of postgresql, the selected profiles read mysql",
    ):
        profiles_of_source(TICDC, TICDC.profiles, replace(SHOP.schema, dialect="postgresql"))
    debezium = get("debezium-json")
    profiles = profiles_of_source(
        debezium, debezium.profiles, replace(SHOP.schema, dialect="postgresql")
    )
    assert {profile.source for profile in profiles} == {"postgresql"}
    mongodb = get("debezium-mongodb-json")
    with pytest.raises(UsageError) as refusal:
        profiles_of_source(mongodb, mongodb.profiles, SHOP.schema)
    assert str(refusal.value) == (
        "debezium-mongodb-json: the tables are of mysql, the selected profiles read mongodb."
        " No DDL declares tables of mongodb"
    )


def test_tables_of_a_database_whose_ddl_is_not_read_are_refused():
    mongodb = get("debezium-mongodb-json")
    with pytest.raises(UsageError) as caught:
        read_tables(["shop.sql"], None, None, None, 1, mongodb.profiles)
    assert str(caught.value) == (
        "the selected profiles read mongodb, whose DDL is not read; select profiles that read one"
        " of: mysql, postgresql, sqlserver, oracle"
    )
    with pytest.raises(UsageError, match="unknown dialect 'mongodb'"):
        read_tables(["shop.sql"], "mongodb", None, None, 1, get("debezium-json").profiles)


@pytest.mark.parametrize("name", ["debezium-json", "debezium-avro"])
def test_the_source_oracle_tells_the_dialect_and_every_case_can_be_written(tmp_path, name):
    file = tmp_path / "shop.sql"
    file.write_text(
        "CREATE TABLE t (id int PRIMARY KEY, made timestamp(9) NOT NULL, r rowid, n number)",
        "utf-8",
    )
    debezium = get(name)
    profiles = [profile for profile in debezium.profiles if profile.source == "oracle"]
    values = read_tables([str(file)], None, None, None, 1, profiles)
    assert values.schema.dialect == "oracle"
    cases = {
        case.id.partition("/tables/T/")[2] for case in named_cases(debezium, profiles[:1], values)
    }
    assert {"insert", "MADE/epoch", "MADE/check-1-low", "R/slashes", "N/small"} <= cases
    assert {"add-column", "fault/truncated"} <= cases
    assert not {"MADE/min", "MADE/max", "rename-table", "truncate-table"} & cases
    assert len(list(drawn_cases(debezium, profiles, values, 60, 1))) == 60


def test_the_profiles_source_tells_the_dialect_and_no_value_is_one_at_which_it_stops(tmp_path):
    file = tmp_path / "shop.sql"
    file.write_text("CREATE TABLE t (id int PRIMARY KEY, made datetime2 NOT NULL)", "utf-8")
    debezium = get("debezium-json")
    profiles = [profile for profile in debezium.profiles if profile.source == "sqlserver"]
    values = read_tables([str(file)], None, None, None, 1, profiles)
    assert values.schema.dialect == "sqlserver"
    cases = {
        case.id.partition("/tables/t/")[2] for case in named_cases(debezium, profiles[:1], values)
    }
    assert {"insert", "made/epoch", "made/check-1-low", "made/last-in-nanoseconds"} <= cases
    assert {"add-column", "fault/truncated"} <= cases
    assert not {"made/min", "made/max", "rename-table", "truncate-table"} & cases
    assert len(list(drawn_cases(debezium, profiles, values, 60, 1))) == 60


def test_a_decoder_that_does_not_claim_a_column_s_type_is_not_asked_for_its_table(named):
    claims = Capabilities(
        types=frozenset({"bigint", "bigint unsigned", "varchar", "enum", "datetime"})
    )
    kept, left = split_by_claims(list(named.values()), claims, (1, 2))
    assert {case.tables[0].name for case in kept if case.level == 2} == {"customers"}
    assert {result.verdict for result in left} == {Verdict.UNSUPPORTED}


NEUTRAL = "CREATE TABLE q (id bigint PRIMARY KEY, n smallint[]);"
"""PostgreSQL's, as an array shows to readers, but no word that tells the dialect."""


@pytest.mark.parametrize(
    ("globs", "dialect"), [("3.5.0.Final+postgresql", "postgresql"), ("3.5.0.Final", None)]
)
def test_the_dialect_is_that_of_the_selected_profiles_where_they_have_one(globs, dialect, tmp_path):
    path = tmp_path / "q.sql"
    path.write_text(NEUTRAL, "utf-8")
    readers = profiles_matching(("debezium-json",), globs)
    if dialect is None:
        with pytest.raises(UsageError, match="the text does not tell its dialect"):
            read_tables((str(path),), None, None, None, 1, readers)
    else:
        values = read_tables((str(path),), None, None, None, 1, readers)
        assert values.schema.dialect == dialect


def test_commands_take_the_dialect_of_their_profiles(tmp_path):
    path = tmp_path / "q.sql"
    path.write_text(NEUTRAL, "utf-8")
    words = ("debezium-json", "--tables", path, "--writer-profile", "3.5.0.Final+postgresql")
    listed = performed("cases", *words, "--format", "json")
    assert (listed.exit_code, "tables/q/" in listed.output) == (0, True), listed.output
    written = performed("corpus", "write", *words, "--out", tmp_path / "corpus", "--count", 1)
    assert written.exit_code == 0, written.output
    options = Options("debezium-json", "3.5.0.Final+postgresql", str(path))
    assert Feed.make_feed(options).profile_name == "3.5.0.Final+postgresql"
