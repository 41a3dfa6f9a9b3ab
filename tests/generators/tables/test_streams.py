"""Streams of a user's tables: rows that the tables can hold at every moment, keys that move,
statements that they can have.
"""

from dataclasses import replace

import pytest

from generators.model import Column, Op, RowChange, SchemaChange, Table
from generators.sources import mysql, postgresql
from generators.tables import streams
from generators.tables.histories import ADDED
from generators.tables.schema import Schema, UserTable, table_name
from generators.tables.user_values import Values, identity
from generators.wire_format import get

CANAL = get("ticdc-canal-json")


def stream(schema, user, name="t", seed=1, **wanted):
    return streams.stream_table(
        Values(schema), user, CANAL, CANAL.profile("v7.1.6+extension"), seed, name, **wanted
    )


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("seed", range(1, 6))
def test_the_table_could_hold_every_row_at_every_moment(shop, number, seed):
    values, user = shop.values, shop.schema.tables[number]
    story = stream(shop.schema, user, seed=seed)
    live, ops = {}, set()
    for event in story.history.events:
        if isinstance(event, SchemaChange) and event.action == "truncate table":
            live.clear()
        for images in event.rows if isinstance(event, RowChange) else ():
            ops.add(event.op)
            key = user.table.primary_key
            if images.before is not None:
                assert (
                    live.pop(tuple(images.before[name] for name in key)) == images.before
                    or ADDED in images.before
                )
            if images.after is None:
                continue
            for column in user.table.columns:
                assert (
                    column.name not in images.after
                    or column.generated
                    or values.can_hold(user, column, images.after[column.name])
                )
            for unique in user.unique_keys:
                assert identity(user, unique, images.after) not in [
                    identity(user, unique, other) for other in live.values()
                ]
            live[tuple(images.after[name] for name in key)] = images.after
    assert live.keys() == story.rows.keys()
    assert ops == {Op.INSERT, Op.UPDATE, Op.DELETE}
    assert story.moved and story.gone


def test_a_table_has_the_statements_that_its_database_would_take(shop):
    values = Values(shop.schema)
    statements = {
        user.table.name: streams.possible_statements(values, user) for user in shop.schema.tables
    }
    assert statements == {
        "items": ("add column", "truncate table", "drop column"),
        "orders": ("add column",),
        "customers": ("add column", "drop column"),
    }
    items = shop.schema.tables[0]
    taken = replace(
        items,
        table=replace(
            items.table, columns=(*items.table.columns, Column("Added", mysql.integer("int")))
        ),
    )
    assert "add column" not in streams.possible_statements(values, taken)
    story = stream(shop.schema, items, "items_7")
    assert story.statements == statements["items"]
    assert [column.name for column in story.table.columns] == ["order_id", "line", "code", ADDED]
    assert {event.table.name for event in story.history.events if isinstance(event, RowChange)} == {
        "items_7"
    }
    assert stream(shop.schema, items, asked_statements=()).statements == ()


def test_no_value_is_what_stands_for_one_that_was_not_sent():
    columns = [
        Column("id", postgresql.integer(), False),
        Column("raw", postgresql.bytea()),
        Column("tags", postgresql.array("text")),
    ]
    user = UserTable(
        Table(
            "shop",
            "t",
            (*columns, Column("note", postgresql.text("text"))),
            ("id",),
            schema="public",
        )
    )
    schema, debezium = Schema("postgresql", (user,)), get("debezium-json")
    assert any(
        b"__debezium_unavailable" in (value or b"")
        for value in Values(schema).drawing_pool(user, columns[1])
    )
    for seed in range(1, 9):
        story = streams.stream_table(
            Values(schema), user, debezium, debezium.profile("3.5.0.Final+postgresql"), seed, "t_1"
        )
        assert b"unavailable" not in b"".join(
            record.message.value or b"" for record in story.written
        )
        assert "X19kZWJleml1bV91bmF2YWls" not in repr(story.written)


def test_few_keys_make_a_small_table(shop):
    items = shop.schema.tables[0]
    tier = Column("tier", mysql.enum_of("basic", "gold"), False)
    small = replace(
        items,
        table=replace(items.table, columns=(tier, *items.table.columns[2:]), primary_key=("tier",)),
    )
    small = replace(small, foreign_keys=(), checks=())
    story = stream(Schema("mysql", (small,)), small)
    assert {*story.rows, *story.gone, *story.moved} == {(1,), (2,)}


def test_a_table_without_a_primary_key_is_not_kept(shop):
    (user,) = (user for user in shop.schema.tables if table_name(user.table)[2] == "customers")
    assert streams.why_not_keyed(user) == ""
    without = replace(user, table=replace(user.table, primary_key=()))
    assert (
        streams.why_not_keyed(without)
        == "table customers has no primary key, by which rows are kept"
    )
