"""A value that a column cannot hold is never given, and each that bounds its type is."""

import datetime as dt
from decimal import Decimal

import pytest

from generators.model import Column, Json, Op, RowChange, Table, ZeroDate
from generators.sources import mysql, postgresql
from generators.sources.boundaries import change
from generators.tables import realistic, scenarios
from generators.tables.overrides import Override, Overrides
from generators.tables.schema import (
    Check,
    ForeignKey,
    Schema,
    TableName,
    UserTable,
    table_name,
)
from generators.tables.user_values import Values, encodable


def named(values, user, column):
    return values.boundaries(user, user.table.column(column))


def values_of(kind, *checks, nullable=True, overrides=None, **more):
    table = Table(
        "d",
        "t",
        (Column("id", mysql.integer("int"), False), Column("c", kind, nullable, **more)),
        ("id",),
    )
    user = UserTable(table, checks=checks)
    return Values(Schema(kind.source, (user,)), overrides or Overrides()), user


def test_boundaries_of_a_decimal_that_may_not_be_negative(shop):
    assert named(shop.values, shop.orders, "amount") == {
        "zero": Decimal("0.00"),
        "unit": Decimal("0.01"),
        "max": Decimal("9999999999.99"),
        "integral": Decimal("123.00"),
        "trailing-zeros": Decimal("123.45"),
    }


def test_a_check_bounds_the_boundaries_and_adds_its_own(shop):
    assert named(shop.values, shop.orders, "quantity") == {"one": 1, "check-1-high": 99}


def test_a_foreign_key_holds_only_what_the_parent_can_hold(shop):
    assert named(shop.values, shop.items, "order_id") == named(shop.values, shop.orders, "id")
    parent = UserTable(Table("d", "p", (Column("id", mysql.integer("tinyint"), False),), ("id",)))
    table = Table("d", "c", (Column("p", mysql.integer("bigint")),))
    child = UserTable(table, (ForeignKey(("p",), table_name(parent.table), ("id",)),))
    values = Values(Schema("mysql", (child, parent)))
    assert set(named(values, child, "p").values()) == {None, 0, 1, -1}
    assert all(-128 <= value <= 127 for value in values.pool(child, table.columns[0]))


def test_a_generated_column_has_no_boundaries_and_no_change_of_its_own(shop):
    assert named(shop.values, shop.orders, "total") == {}
    names = [
        scenario.name
        for scenario in scenarios.named_scenarios(shop.values, shop.schema.tables, ddl=False)
    ]
    assert not [name for name in names if name.startswith("tables/orders/total/")]
    assert [name for name in names if name.startswith("tables/orders/amount/")]


def test_null_only_where_the_column_may_be_null(shop):
    assert "null" in named(shop.values, shop.orders, "note")
    assert "null" not in named(shop.values, shop.orders, "amount")


@pytest.mark.parametrize(
    ("charset", "held", "refused"),
    [
        ("latin1", "é€", "汉"),
        ("ascii", "abc", "é"),
        ("utf8mb3", "汉", "😀"),
        ("gbk", "汉", "😀"),
        ("koi8r", "я", "é"),
        ("dec8", "abc", "é"),
    ],
)
def test_a_character_set_decides(charset, held, refused):
    values, user = values_of(mysql.text("varchar", 20), charset=charset)
    column = user.table.column("c")
    assert values.can_hold(user, column, held)
    assert not values.can_hold(user, column, refused)
    wide = [value for value in values.drawing_pool(user, column) if value is not None]
    assert len(wide) > 60
    assert all(encodable(charset, value) for value in wide)


def test_a_float_with_digits_holds_no_more_of_them():
    values, user = values_of(mysql.real("double", precision=7, scale=2))
    assert set(named(values, user, "c").values()) == {None, 0.0, 1.0, -2.5}


def test_zero_dates_and_the_empty_enum_are_left_out_under_strict():
    for kind, loose in ((mysql.temporal("date"), ZeroDate()), (mysql.enum_of("a", "b"), 0)):
        values, user = values_of(kind)
        assert loose in named(values, user, "c").values()
        strict, user = values_of(kind, overrides=Overrides(strict=True))
        assert loose not in named(strict, user, "c").values()
        assert loose not in strict.drawing_pool(user, user.table.column("c"))


def test_choices_of_a_check_are_all_that_is_held():
    values, user = values_of(
        mysql.text("varchar", 9), Check("c", "c in (...)", choices=("red", "blue")), nullable=False
    )
    assert set(named(values, user, "c").values()) == {"red", "blue"}
    assert set(values.drawing_pool(user, user.table.column("c"))) == {"red", "blue"}


def test_realistic_values_follow_the_column_s_name(shop):
    values, orders, customers = shop.values, shop.orders, shop.customers
    assert all("@" in email for email in values.pool(customers, customers.table.column("email")))
    assert all(
        0 <= amount < 10_000 for amount in values.pool(orders, orders.table.column("amount"))
    )
    since = values.pool(customers, customers.table.column("since"))
    assert all(dt.date(2022, 1, 1) <= day <= dt.date(2025, 1, 1) for day in since)
    moments, user = values_of(mysql.temporal("datetime", 3))
    assert all(value % 1000 == 0 for value in moments.pool(user, user.table.column("c")))


def test_a_type_with_a_grammar_has_only_its_own_texts():
    values, user = values_of(postgresql.other("macaddr"))
    assert set(named(values, user, "c").values()) == {
        None,
        "08:00:2b:01:02:03",
        "ff:ff:ff:ff:ff:ff",
    }
    values, user = values_of(postgresql.uuid())
    assert all(len(token) == 36 for token in values.pool(user, user.table.column("c")))
    values, user = values_of(postgresql.array_of(postgresql.numeric(4, 1)))
    arrays = list(named(values, user, "c").values())
    assert Json([]) in arrays
    assert Json([Decimal("999.9")]) in arrays


def test_rows_before_a_history_refer_to_such_rows_of_the_parents(shop):
    for number in range(20):
        item, order, customer = (
            shop.values.base_row(user, number) for user in (shop.items, shop.orders, shop.customers)
        )
        assert item["order_id"] == order["id"]
        assert order["customer_id"] == customer["id"]
        assert order["replaces"] is None


def test_named_rows_pass_the_database_once_their_parents_are_there(shop):
    tried = 0
    for scenario in scenarios.named_scenarios(shop.values, shop.schema.tables, ddl=False):
        first = scenario.history.events[0]
        assert isinstance(first, RowChange)
        if scenario.level == 2 or first.op is not Op.INSERT or len(scenario.history.events) > 1:
            continue
        with shop.database() as database:
            for number, images in enumerate(first.rows):
                insert_parents(shop, database, first.table.name, images.after, number)
            database.apply(first)
        tried += 1
    assert tried > 60


def insert_parents(shop, database, table, row, number):
    above = {"items": ("order_id", shop.orders), "orders": ("customer_id", shop.customers)}.get(
        table
    )
    if above is None:
        return
    column, parent = above
    referred = {**shop.values.base_row(parent, number), "id": row[column]}
    insert_parents(shop, database, parent.table.name, referred, number)
    database.apply(change(parent.table, Op.INSERT, (None, referred)))
    if row.get("replaces") not in (None, row.get("id")):
        other = {
            **shop.values.base_row(shop.orders, 40),
            "id": row["replaces"],
            "customer_id": row["customer_id"],
        }
        database.apply(change(shop.orders.table, Op.INSERT, (None, other)))


def test_rows_of_one_statement_have_different_keys(shop):
    for user in shop.schema.tables:
        rows = scenarios.distinct_rows(shop.values, user, 6)
        assert len({tuple(row[name] for name in user.table.primary_key) for row in rows}) == 6


def test_a_bound_of_more_than_28_digits_is_taken_exactly():
    axis = realistic.axis(Column("c", mysql.decimal(40, 2)))
    assert axis is not None
    low, high = (Decimal(f"{'9' * 35}.0{digit}") for digit in (1, 4))
    assert axis.window(low, high) == (int(f"{'9' * 35}01"), int(f"{'9' * 35}04"))


def test_a_float_of_two_digits_holds_what_a_binary32_has_of_them():
    kind = mysql.real("float", precision=10, scale=2)
    price = mysql.to_float32(3.14)
    overrides = Overrides({(TableName("d", None, "t"), "c"): Override(choices=(price,))})
    values, user = values_of(kind, nullable=False, overrides=overrides)
    assert set(values.pool(user, user.table.column("c"))) == {price}
