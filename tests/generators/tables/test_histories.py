"""Drawn and named histories keep the constraints of a user's tables, by the judgement of SQLite."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.model import Op, RowChange
from generators.sources.boundaries import START
from generators.tables import scenarios
from generators.tables.histories import histories
from generators.tables.user_values import Values


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_no_event_breaks_a_constraint(shop, data):
    history = data.draw(histories(shop.values, shop.schema.tables, START, ddl=True, events=12))
    with shop.database() as database:
        for event in history.events:
            database.apply(event)


def test_drawn_histories_touch_every_table_in_every_way(shop):
    seen = Counter()
    for scenario in scenarios.drawn_scenarios(shop.values, shop.schema.tables, 240, 1, ddl=True):
        if scenario.level == 1:
            with shop.database() as database:
                for event in scenario.history.events:
                    database.apply(event)
            seen += database.ops
    for table in ("customers", "orders", "items"):
        for op in (Op.INSERT, Op.UPDATE, Op.DELETE):
            assert seen[table, op] > 2, (table, op, seen)


def test_a_seed_gives_the_same_scenarios(shop):
    first = scenarios.drawn_scenarios(Values(shop.schema), shop.schema.tables, 30, 7, ddl=True)
    assert first == scenarios.drawn_scenarios(
        Values(shop.schema), shop.schema.tables, 30, 7, ddl=True
    )
    assert first != scenarios.drawn_scenarios(
        Values(shop.schema), shop.schema.tables, 30, 8, ddl=True
    )


def test_the_family_is_inserted_parents_first_and_deleted_children_first(shop):
    named = scenarios.named_scenarios(shop.values, shop.schema.tables, ddl=False)
    (family,) = (s for s in named if s.name == "tables/histories/parents-first")
    with shop.database() as database:
        for event in family.history.events:
            database.apply(event)
    steps = [(event.op, event.table.name) for event in family.history.events]
    assert [table for op, table in steps if op is Op.INSERT] == ["customers", "orders", "items"]
    assert [table for op, table in steps if op is Op.DELETE] == ["items", "orders", "customers"]
    assert {table for op, table in steps if op is Op.UPDATE} == {"customers", "orders", "items"}


def test_scenarios_that_alter_a_table_share_no_instant(shop):
    users = shop.schema.tables
    everything = [
        *scenarios.named_scenarios(shop.values, users, ddl=True),
        *scenarios.drawn_scenarios(shop.values, users, 90, 1, ddl=True),
    ]
    clocks = [
        (s.name, event.at)
        for s in everything
        for event in s.history.events
        if not isinstance(event, RowChange)
    ]
    assert len({name for name, _ in clocks}) > 15
    assert len({at for _, at in clocks}) == len(clocks)


@pytest.mark.parametrize("level", [1, 2])
def test_ids_differ_and_say_the_level(shop, level):
    users = shop.schema.tables
    everything = [
        *scenarios.named_scenarios(shop.values, users, ddl=True),
        *scenarios.drawn_scenarios(shop.values, users, 90, 1, ddl=True),
    ]
    names = [s.name for s in everything if s.level == level]
    assert len(set(names)) == len(names) > 90
    assert all(
        name.startswith("tables/") and name.endswith("/typed") == (level == 2) for name in names
    )
    assert ("tables/orders/amount/max" + ("/typed" if level == 2 else "")) in names
