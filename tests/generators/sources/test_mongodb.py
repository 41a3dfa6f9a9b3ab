"""MongoDB's fields: which values they hold, and tables as collections of documents."""

from __future__ import annotations

import math
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from generators.model import Column, History, Json, Op, RowChange, Table, Value
from generators.sources import databases, mongodb
from generators.sources.boundaries import START, change, insert
from generators.sources.collections import as_collections, collection_of
from generators.sources.mongodb import TYPES, fits

ROWS = tomllib.loads((Path(__file__).parents[3] / mongodb.FILE).read_text("utf-8"))["types"]


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        ("int", 2**31 - 1, True),
        ("int", 2**31, False),
        ("long", 2**63, False),
        ("double", math.nan, False),
        ("double", 1, False),
        ("decimal", Decimal("1E+3"), True),
        ("decimal", Decimal("1E-11"), False),
        ("decimal", Decimal("-0"), False),
        ("decimal", Decimal("NaN"), False),
        ("decimal", Decimal(10**24), False),
        ("string", "\0", True),
        ("string", "\ud800", False),
        ("bool", 2, False),
        ("date", 1000, True),
        ("date", 1, False),
        ("objectId", "5f43a1b2c3d4e5f601234567", True),
        ("objectId", "5F43A1B2C3D4E5F601234567", False),
        ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", True),
        ("uuid", "a0eebc99", False),
        ("binData", b"", True),
        ("object", Json({}), True),
        ("object", Json([]), False),
        ("object", Json({"a": math.inf}), False),
        ("object", Json({"a\0": 1}), False),
        ("array", Json([]), True),
        ("array", Json({}), False),
    ],
)
def test_what_a_field_holds(type: str, value: Value, expected: bool) -> None:
    assert fits(TYPES[type], value) is expected


def test_every_type_has_a_row_with_its_logical_type() -> None:
    logical = {name: row["logical"] for name, row in ROWS.items()}
    assert {name: type.logical.value for name, type in TYPES.items()} == logical


def test_a_text_of_a_grammar_for_every_number() -> None:
    assert mongodb.text_at(TYPES["objectId"], 255) == "0" * 22 + "ff"
    assert mongodb.text_at(TYPES["uuid"], 1) == "00000000-0000-0000-0000-000000000001"
    assert not databases.spelled(TYPES["string"])


KEYED = Table(
    "shop.eu",
    "or$ders",
    (Column("a", TYPES["string"]), Column("id", TYPES["long"], nullable=False)),
    ("id",),
)
BAG = Table("shop", "bag", (Column("a", TYPES["string"]), Column("d", TYPES["date"])))


def test_the_key_of_a_table_is_the_field_id_of_its_documents() -> None:
    collection = collection_of(KEYED)
    assert (collection.database, collection.name) == ("shop_eu", "or_ders")
    assert [column.name for column in collection.columns] == ["_id", "a"]
    assert collection.primary_key == ("_id",)
    assert collection_of(collection) is collection


def test_a_change_of_a_key_is_a_delete_and_an_insert() -> None:
    history = History((change(KEYED, Op.UPDATE, ({"a": "x", "id": 1}, {"a": "x", "id": 2})),))
    events = [event for event in as_collections(history).events if isinstance(event, RowChange)]
    assert [(event.op, event.rows[0].before, event.rows[0].after) for event in events] == [
        (Op.DELETE, {"_id": 1, "a": "x"}, None),
        (Op.INSERT, None, {"_id": 2, "a": "x"}),
    ]


def test_a_row_without_a_key_keeps_its_object_id() -> None:
    old, new = {"a": "x", "d": 1_234_567}, {"a": "y", "d": None}
    history = History(
        (
            insert(BAG, old),
            insert(BAG, old),
            change(BAG, Op.UPDATE, (old, new)),
            change(BAG, Op.DELETE, (new, None)),
        )
    )
    rows = [
        event.rows[0] for event in as_collections(history).events if isinstance(event, RowChange)
    ]
    first, second, updated, deleted = rows
    assert first.after is not None
    assert second.after is not None
    assert updated.before is not None
    assert updated.after is not None
    assert deleted.before is not None
    assert first.after["d"] == 1_234_000
    identity = first.after["_id"]
    assert identity != second.after["_id"]
    assert updated.before["_id"] == updated.after["_id"] == deleted.before["_id"] == identity


def test_collections_stay_as_they_are() -> None:
    history = History((insert(collection_of(KEYED), {"_id": 1}, START),))
    assert as_collections(history) is history
