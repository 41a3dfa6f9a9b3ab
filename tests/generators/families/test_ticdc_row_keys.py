"""TiKV's keys of rows, in hexadecimal after the table's id: flags and groups as TiDB's codec writes
them.
"""

import base64
import datetime as dt

import pytest

from generators.errors import Refused
from generators.families.ticdc.row_keys import row_key
from generators.model import Column, Index, Table
from generators.sources import mysql

CLUSTERED = (Index("PRIMARY", ("k",), True, clustered=True),)
ROW_ID = (Index("PRIMARY", ("k",), True),)


def handle(type, value, indexes=(), collation=""):
    table = Table(
        "d", "t", (Column("k", type, False, collation=collation),), ("k",), indexes=indexes
    )
    raw = base64.b64decode(row_key(table, {"k": value}))
    assert (raw[:1], raw[9:11]) == (b"t", b"_r")
    return raw[11:].hex()


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        *(
            (mysql.integer("int"), 1, "8000000000000001"),
            (mysql.integer("bigint"), -1, "7fffffffffffffff"),
        ),
        (mysql.integer("bigint", unsigned=True), (1 << 64) - 1, "7fffffffffffffff"),
        (mysql.text("varchar", 10), "abc", "01" + "6162630000000000" + "fa"),
        (
            mysql.text("varchar", 10),
            "abcdefgh",
            "01" + "6162636465666768" + "ff" + "0000000000000000" + "f7",
        ),
        (mysql.binary("varbinary", 4), b"\x00\xff", "01" + "00ff000000000000" + "f9"),
        # ((2024 * 13 + 1) * 32 + 2) * 2 ** 41
        (mysql.temporal("date"), dt.date(2024, 1, 2), "04" + f"{842018 << 41:016x}"),
    ],
)
def test_handles(type, value, expected):
    assert handle(type, value, () if type.name in ("int", "bigint") else CLUSTERED) == expected


def test_key_of_two_columns_has_a_flag_for_each():
    columns = (
        Column("a", mysql.integer("int"), False),
        Column("b", mysql.integer("int", unsigned=True), False),
    )
    table = Table("d", "t", columns, ("b", "a"))
    assert (
        base64.b64decode(row_key(table, {"a": 1, "b": 2}))[11:].hex()
        == "04" + "0000000000000002" + "03" + "8000000000000001"
    )


def test_case_does_not_count_where_the_collation_says_so():
    kind = mysql.text("varchar", 9)
    keys = [handle(kind, value, CLUSTERED, "utf8mb4_general_ci") for value in ("Aa", "aA ")]
    assert keys[0] == keys[1] == "01" + "0041004100000000" + "fb"


def test_a_key_that_is_not_clustered_has_a_number_of_tidbs_own():
    assert (
        len(handle(mysql.integer("int"), 1, ROW_ID))
        == len(handle(mysql.text("varchar", 9), "x", ROW_ID))
        == 16
    )
    assert handle(mysql.integer("int"), 1, ROW_ID) != "8000000000000001"


def test_a_clustered_key_of_an_unknown_form_is_refused():
    with pytest.raises(Refused, match="clustered key is not known"):
        handle(mysql.decimal(5, 2), mysql.boundary_values("decimal-10-4")["max"], CLUSTERED)
