"""GoldenGate's writer prints what Oracle's samples and Flink's documentation and test data
print.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from literals import literal
from writing import Writing

from generators.formats.ogg_json import FORMAT, OggProfile, supports, write
from generators.model import Column, Instant, Op, Row, Table
from generators.sources import boundaries, mysql

COLUMNS = (
    Column("CUST_CODE", mysql.text()),
    Column("ORDER_DATE", mysql.temporal("datetime")),
    Column("PRODUCT_CODE", mysql.text()),
    Column("ORDER_ID", mysql.text()),
    Column("PRODUCT_PRICE", mysql.decimal(8, 2)),
    Column("PRODUCT_AMOUNT", mysql.integer("int")),
    Column("TRANSACTION_ID", mysql.text()),
)
ORDERS = Table("GG", "TCUSTORD", COLUMNS, ("CUST_CODE", "ORDER_DATE", "PRODUCT_CODE", "ORDER_ID"))
VALUES = ("BILL", mysql.wall("1995-12-31 15:00:00"), "CAR", "765", Decimal(15000), 3, "100")
texts = Writing(write).texts
OF_THE_SERVER = re.compile(r'"(?:current_ts|pos|R)":"[^"]+"')


def test_an_update_of_oracles_samples() -> None:
    before: Row = dict(zip((c.name for c in COLUMNS), VALUES, strict=True))
    after = {**before, "PRODUCT_PRICE": Decimal(14000)}
    at = Instant(1370211281000)
    (text,) = texts(
        FORMAT.build("19.1", "tokens", "colons"),
        boundaries.change(ORDERS, Op.UPDATE, (before, after), at=at),
    )
    documented = literal("oracle-ogg-update.json")
    assert OF_THE_SERVER.sub("", text) == OF_THE_SERVER.sub("", documented)
    assert [len(part) for part in OF_THE_SERVER.findall(text)] == [
        len(part) for part in OF_THE_SERVER.findall(documented)
    ]


FLINK = literal("flink-ogg.json")


def test_the_example_of_flinks_documentation() -> None:
    columns = (
        Column("id", mysql.integer("bigint")),
        Column("name", mysql.text()),
        Column("description", mysql.text()),
    )
    table = Table("db", "PRODUCTS", (*columns, Column("weight", mysql.decimal(10, 2))), ("id",))
    before: Row = {
        "id": 111,
        "name": "scooter",
        "description": "Big 2-wheel scooter",
        "weight": Decimal("5.18"),
    }
    change = boundaries.change(
        table, Op.UPDATE, (before, {**before, "weight": Decimal("5.15")}), at=Instant(1589384406000)
    )
    (text,) = texts(FORMAT.build("19.1", "primary-keys"), change)
    own, documented = json.loads(text), json.loads(FLINK)
    assert own.keys() == documented.keys()
    assert {n: own[n] for n in own if n not in ("table", "current_ts", "pos")} == {
        n: documented[n] for n in own if n not in ("table", "current_ts", "pos")
    }


@pytest.mark.parametrize("of", FORMAT.profiles, ids=lambda of: of.name)
def test_a_deleted_row_stands_in_before(of: OggProfile) -> None:
    table = Table("d", "t", (Column("id", mysql.integer("int")),), ("id",))
    (text,) = texts(of, boundaries.change(table, Op.DELETE, ({"id": 1}, None)))
    message = json.loads(text)
    assert (message["op_type"], message["before"]) == ("D", {"id": "1" if of.strings else 1})
    assert message.get("after", "none") == (None if of.null_images else "none")


def test_types_whose_form_no_page_tells_are_left_out() -> None:
    assert not any(
        map(
            supports,
            (mysql.bit(8), mysql.enum_of("a"), mysql.set_of("a"), mysql.json(), mysql.year()),
        )
    )
