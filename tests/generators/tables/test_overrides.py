"""The override file: what each key does, and how its errors read."""

import datetime as dt
import re
from contextlib import suppress
from decimal import Decimal

import pytest
from faker import Faker

from generators.errors import UsageError
from generators.model import Column, Json, Table
from generators.sources import mysql, postgresql
from generators.tables import overrides, realistic, scenarios
from generators.tables.overrides import load_overrides, parse_overrides
from generators.tables.schema import Schema, UserTable
from generators.tables.user_values import Values


@pytest.fixture
def asked(shop):
    """A function from a column and its override to the pool, the boundaries and what drawn rows
    choose from.
    """

    def values(column, **override):
        user = shop.customers if column in ("tier", "since") else shop.orders
        pools = Values(
            shop.schema, parse_overrides({user.table.name: {column: override}}, shop.schema)
        )
        target = user.table.column(column)
        return (
            pools.pool(user, target),
            pools.boundaries(user, target),
            pools.drawing_pool(user, target),
        )

    return values


def test_a_range_bounds_drawn_values_and_boundaries(asked):
    drawn, named, wide = asked("amount", range=[1, "500.50"])
    assert all(1 <= value <= Decimal("500.50") for value in (*drawn, *wide))
    assert len(set(drawn)) > 20
    assert named == {
        "integral": Decimal("123.00"),
        "trailing-zeros": Decimal("123.45"),
        "asked-low": Decimal("1.00"),
        "asked-high": Decimal("500.50"),
    }


def test_choices_are_all_there_is(asked):
    drawn, named, wide = asked("tier", choices=["gold"])
    assert set(drawn) == set(named.values()) == set(wide) == {2}


def test_zipf_takes_the_first_choice_most_often(asked):
    drawn, _, _ = asked("note", choices=["a", "b", "c", "d"], distribution="zipf")
    assert drawn.count("a") > drawn.count("c") + drawn.count("d")


def test_normal_gathers_in_the_middle(asked):
    drawn, _, _ = asked("quantity", range=[1, 99], distribution="normal")
    assert sum(33 <= value <= 67 for value in drawn) > len(drawn) / 2


def test_a_regex_makes_and_limits_texts(asked):
    drawn, named, _ = asked("note", regex="[A-Z]{2}-[0-9]{3}", null=0)
    assert len(set(drawn)) > 20
    assert all(len(text) == 6 and text[2] == "-" for text in drawn)
    assert not named


def test_a_provider_of_faker_names_the_texts(asked):
    drawn, named, _ = asked("note", provider="country_code")
    assert all(len(text) == 2 and text.isupper() for text in drawn)
    assert "emoji" in named


@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_a_share_of_null(asked, share):
    _, named, wide = asked("note", null=share)
    assert ("null" in named) == (share > 0)
    assert abs(wide.count(None) / len(wide) - share) < 0.02


def test_dates_of_toml(asked):
    drawn, named, _ = asked("since", range=[dt.date(2020, 1, 1), "2020-01-31"])
    assert all((value.year, value.month) == (2020, 1) for value in drawn)
    assert set(named.values()) == {dt.date(2020, 1, 1), dt.date(2020, 1, 31), None}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"order": {}}, "values: unknown table 'order'. Did you mean 'orders'?"),
        (
            {"orders": 1},
            "values: orders = 1: expected a table for each column, such as [orders.id]",
        ),
        (
            {"orders": {"amout": {}}},
            "values: unknown column 'amout' of orders. Did you mean 'amount'?",
        ),
        (
            {"orders": {"amount": {"ranges": [1, 2]}}},
            "values: unknown key 'ranges' of orders.amount. Did you mean 'range'?",
        ),
        (
            {"orders": {"amount": {"range": [2, 1]}}},
            "values: orders.amount.range = [2, 1]: expected the lower bound first",
        ),
        (
            {"orders": {"amount": {"range": [1]}}},
            "values: orders.amount.range = [1]: expected [low, high], both included",
        ),
        (
            {"orders": {"amount": {"range": [0, 10**11]}}},
            "orders.amount.range = 100000000000: expected a value of decimal",
        ),
        (
            {"orders": {"note": {"range": [0, 1]}}},
            "values: orders.note.range: a text column has no range; numbers, dates",
        ),
        (
            {"orders": {"quantity": {"null": 0.5}}},
            "values: orders.quantity.null = 0.5: expected 0: the column is NOT NULL",
        ),
        (
            {"orders": {"note": {"null": 2}}},
            "values: orders.note.null = 2: expected a share from 0 to 1",
        ),
        (
            {"customers": {"tier": {"choices": ["silver"]}}},
            "tier.choices = 'silver': expected a value of enum: basic, gold",
        ),
        (
            {"orders": {"note": {"regex": "("}}},
            "values: orders.note.regex = '(': expected a regular expression",
        ),
        (
            {"orders": {"amount": {"regex": "1"}}},
            "values: orders.amount.regex: a decimal column takes no regex",
        ),
        (
            {"orders": {"note": {"provider": "citty"}}},
            "values: orders.note.provider: unknown provider 'citty'. Did you mean 'city'?",
        ),
        *(
            (
                {"orders": {"note": {"provider": provider}}},
                f"values: orders.note.provider: unknown provider '{provider}'. Did you mean '{near}'?",
            )
            for provider, near in (
                ("locales", "locale"),
                ("image", "image_url"),
                ("pytimezone", "timezone"),
                ("xml", "email"),
            )
        ),
        (
            {"orders": {"note": {"distribution": "zip"}}},
            "unknown distribution 'zip'. Did you mean 'zipf'?",
        ),
        (
            {"orders": {"note": {"choices": ["a"], "regex": "a"}}},
            "values: orders.note: choices and regex exclude each other",
        ),
        ({"strict": 1}, "values: strict = 1: expected true or false"),
    ],
)
def test_an_error_names_the_key_the_value_and_what_is_legal(shop, data, message):
    with pytest.raises(UsageError) as caught:
        parse_overrides(data, shop.schema)
    assert message in str(caught.value)


def test_a_file_is_read_and_its_errors_name_it(shop, tmp_path):
    file, orders = tmp_path / "values.toml", shop.orders.table
    file.write_text('strict = true\n["shop.orders".note]\nchoices = ["x"]\n', "utf-8")
    overrides = load_overrides(file, shop.schema)
    assert overrides.strict
    assert overrides.find(orders, orders.column("note")).choices == ("x",)
    assert not overrides.find(orders, orders.column("amount")).choices
    file.write_text("[orders", "utf-8")
    with pytest.raises(UsageError, match=r"values\.toml"):
        load_overrides(file, shop.schema)
    with pytest.raises(UsageError, match="No such file"):
        load_overrides(tmp_path / "none.toml", shop.schema)


def test_two_tables_of_one_name_need_their_database():
    columns = (Column("id", mysql.integer("int"), False),)
    schema = Schema(
        "mysql", tuple(UserTable(Table(database, "t", columns, ("id",))) for database in ("a", "b"))
    )
    with pytest.raises(UsageError, match="unknown table 't'"):
        parse_overrides({"t": {}}, schema)
    assert (
        parse_overrides({"a.t": {"id": {"range": [1, 2]}}}, schema)
        .find(schema.tables[0].table, columns[0])
        .high
        == 2
    )


@pytest.mark.parametrize(
    ("kind", "written", "held"),
    [
        *(
            (mysql.integer("int"), "3.0", 3),
            (mysql.integer("int"), "3.5", None),
            (mysql.integer("int"), "'3'", None),
        ),
        *(
            (mysql.bit(4), "15", 15),
            (mysql.bit(4), "16", None),
            (mysql.year(), "1999", 1999),
            (mysql.year(), "1900", None),
        ),
        *((mysql.decimal(5, 2), "'1.005'", Decimal("1.00")), (mysql.decimal(5, 2), "nan", None)),
        (postgresql.numeric(), "1.25", Decimal("1.25")),
        *((mysql.real("float"), "0.1", 0.10000000149011612), (mysql.real("double"), "inf", None)),
        *((postgresql.text("char", 3), "'a'", "a  "), (mysql.text("varchar", 3), "1", None)),
        *(
            (mysql.binary("blob"), "'0xff00'", b"\xff\x00"),
            (mysql.binary("blob"), "'a'", b"a"),
            (mysql.binary("blob"), "'0xf'", None),
        ),
        *(
            (mysql.binary("blob"), "1", None),
            (mysql.set_of("a", "b"), "1", None),
            (mysql.enum_of("a", "b"), "1", None),
        ),
        *(
            (mysql.set_of("a", "b"), "'b,a'", 3),
            (mysql.set_of("a", "b"), "''", 0),
            (mysql.set_of("a", "b"), "'c'", None),
        ),
        *(
            (mysql.temporal("date"), "'2020-02-30'", None),
            (mysql.temporal("date"), "2020-01-31T00:00:00", None),
        ),
        *(
            (mysql.temporal("datetime", 3), "2020-01-31", mysql.wall("2020-01-31")),
            (mysql.temporal("datetime"), "1", None),
        ),
        (mysql.temporal("datetime"), "2020-01-31T02:00:00+02:00", mysql.wall("2020-01-31")),
        *(
            (mysql.temporal("time", 1), "'00:00:01.5'", 1_500_000),
            (mysql.temporal("time"), "00:00:01", 1_000_000),
        ),
        *(
            (mysql.json(), "{a = [1]}", Json({"a": [1]})),
            (mysql.json(), "2020-01-31", None),
            (mysql.json(), "[nan]", None),
        ),
        *((postgresql.array(), "[1, 2]", Json([1, 2])), (postgresql.array(), "['a']", None)),
    ],
    ids=str,
)
def test_a_choice_is_a_value_of_the_column_or_an_error(kind, written, held, tmp_path):
    """As TOML writes it: its dates, times and floats too."""
    file = tmp_path / "values.toml"
    file.write_text(f"[t]\nc = {{choices = [{written}]}}\n", "utf-8")
    schema = Schema(kind.source, (UserTable(Table("d", "t", (Column("c", kind),))),))
    if held is None:
        with pytest.raises(
            UsageError, match=re.escape("values.toml: t.c.choices = ") + ".*: expected a value of "
        ):
            load_overrides(file, schema)
    else:
        (override,) = load_overrides(file, schema).columns.values()
        assert [(type(choice), choice) for choice in override.choices] == [(type(held), held)]


def test_every_provider_that_is_taken_gives_values(asked, monkeypatch):
    """Also those that only some locales have, such as `zipcode`."""
    monkeypatch.setattr(realistic, "SIZE", 4)
    names = [name for name in dir(Faker()) if name.islower()]
    taken_names = []
    for name in names:
        with suppress(UsageError):
            taken_names.append(
                overrides._provider("values", "t.c", Column("c", mysql.text("text")), name)
            )
    assert len(taken_names) > 200 and {"city", "zipcode", "bank"} <= set(taken_names)
    assert [name for name in taken_names if not realistic._fake_values(name, "a seed")] == []


TWO_DATABASES = r"""
\connect a
CREATE TABLE t (id int PRIMARY KEY, note text);
CREATE SCHEMA s;
CREATE TABLE s.u (id int PRIMARY KEY);
\connect b
CREATE TABLE t (id int PRIMARY KEY, note text);
CREATE TABLE "—" (id int PRIMARY KEY);
CREATE TABLE " 14" (id int PRIMARY KEY);
"""


def test_a_table_is_named_by_what_tells_it_from_all_others(reads):
    schema = reads(TWO_DATABASES, dialect="postgresql")
    override = {"note": {"null": 1}}
    columns = parse_overrides({"a.public.t": override}, schema).columns
    assert [*columns] == [(("a", "public", "t"), "note")]
    assert [*parse_overrides({"b.t": override}, schema).columns] == [(("b", "public", "t"), "note")]
    for name in ("t", "public.t"):
        with pytest.raises(UsageError, match=rf"unknown table '{name}'.* Known: .*a\.public\.t"):
            parse_overrides({name: override}, schema)


def test_no_two_tables_have_one_name_in_case_ids(reads):
    schema = reads(TWO_DATABASES, dialect="postgresql")
    assert scenarios.table_labels(schema) == {
        0: "a%2epublic%2et",
        1: "u",
        2: "b%2epublic%2et",
        3: "%e2%80%94",
        4: "%2014",
    }
