"""The writers of Canal's dialects print what the vendors' pages print."""

from __future__ import annotations

import json

import pytest
from literals import literal
from writing import Writing

from generators.formats.canal_dialects_json import FORMAT, DialectProfile, write
from generators.model import Column, Instant, Op, SchemaChange, SourceType, Table, Value
from generators.sources import boundaries, mysql

texts = Writing(write).texts
CKAFKA = literal("tencent-ckafka-ddl.json")


def test_the_statement_of_ckafkas_page() -> None:
    sql = "CREATE DATABASE `dip_test` CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci"
    event = SchemaChange(Instant(1655812326000), "create database", sql, "dip_test")
    assert texts(FORMAT.build("tencent-ckafka"), event) == [CKAFKA]


HUAWEI = {
    "id": (mysql.integer("int"), 4),
    "c1": (mysql.text(), 12),
    "c2": (mysql.binary(), -3),
    "c3": (mysql.integer("int"), 4),
    "c4": (mysql.temporal("datetime"), 94),
    "c5": (mysql.temporal("timestamp"), 93),
    "c6": (mysql.text("char"), 1),
    "c8": (mysql.TYPES["double"], 8),
    "c9": (mysql.decimal(10, 2), 3),
}
"""Columns of the example of Huawei's page with their sqlType, but those of c7, c10 to c14, which
follow no rule that it tells.
"""


def test_the_members_of_huaweis_example() -> None:
    columns = tuple(Column(name, type) for name, (type, _) in HUAWEI.items())
    row: dict[str, Value] = {"id": 1, "c2": b"jg"}
    (text,) = texts(
        FORMAT.build("huawei-drs"),
        boundaries.change(Table("test01", "test ", columns, ("id",)), Op.DELETE, (row, None)),
    )
    message = json.loads(text)
    order = [
        "mysqlType",
        "id",
        "es",
        "ts",
        "database",
        "table",
        "type",
        "isDdl",
        "sql",
        "sqlType",
        "data",
        "old",
        "pkNames",
    ]
    assert list(message) == order
    assert message["mysqlType"] == {name: type.name for name, (type, _) in HUAWEI.items()}
    # No code of JDBC stands for a binary there that Canal has, too.
    assert {n: c for n, c in message["sqlType"].items() if n != "c2"} == {
        n: c for n, (_, c) in HUAWEI.items() if n != "c2"
    }
    assert (message["data"], message["old"][0]["c2"], message["pkNames"]) == (
        None,
        "[106, 103]",
        ["id"],
    )


VALUES: tuple[tuple[str, SourceType, Value, str], ...] = (
    (
        "tencent-dts",
        mysql.temporal("timestamp"),
        mysql.wall("2021-05-17 07:22:42"),
        "2021-05-17 07:22:42 +00:00",
    ),
    (
        "tencent-dts+compatible+gtid",
        mysql.temporal("timestamp"),
        mysql.wall("2021-05-17 07:22:42"),
        "2021-05-17 15:22:42",
    ),
    ("tencent-dts", mysql.binary(), b"\x00\xff", "00ff"),
    ("tencent-dts+compatible+gtid", mysql.binary(), b"\x00\xff", "\x00\xff"),
    ("huawei-drs", mysql.binary(), b"", "[]"),
    ("huawei-drs", mysql.binary(), b"jg", "[106, 103]"),
)


@pytest.mark.parametrize(("of", "type", "value", "text"), VALUES)
def test_a_value_as_the_page_prints_it(of: str, type: SourceType, value: Value, text: str) -> None:
    table = Table("d", "t", (Column("c", type),))
    (message,) = texts(FORMAT.profile(of), boundaries.insert(table, {"c": value}))
    assert json.loads(message)["data"] == [{"c": text}]


@pytest.mark.parametrize("of", FORMAT.profiles, ids=lambda of: of.name)
def test_a_row_of_a_full_load(of: DialectProfile) -> None:
    table = Table("d", "t", (Column("id", mysql.integer("int")),), ("id",))
    (message,) = texts(of, boundaries.change(table, Op.READ, (None, {"id": 1})))
    assert json.loads(message)["type"] == {"tencent-dts": "INIT", "huawei-drs": "INIT"}.get(
        of.release, "INSERT"
    )
