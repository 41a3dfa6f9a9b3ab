"""Partitions of rows by the statement that made the table, and which UPDATEs TiDB splits for
them.
"""

import datetime as dt
import json

import pytest

from generators.families.ticdc.ddl import parse
from generators.families.ticdc.placing import place_of_rows
from generators.formats.ticdc_canal_json import FORMAT, write
from generators.model import Column, History, Layout, Op, SchemaChange, Table
from generators.sources import mysql
from generators.sources.boundaries import START, change

COLUMNS = (
    Column("a", mysql.integer("int")),
    Column("d", mysql.temporal("date")),
    Column("s", mysql.text("varchar", 9)),
    Column("t", mysql.temporal("datetime")),
)
TABLE = Table("d", "t", COLUMNS)
DECLARED = "create table t (a int, d date, s varchar(9), t datetime) partition by "


@pytest.mark.parametrize(
    ("partitions", "rows", "expected"),
    [
        ("hash (a) partitions 4", ({"a": 1}, {"a": 5}, {"a": -2}), [1, 1, 2]),
        (
            "range (a) (partition p0 values less than (10), partition p1 values less than maxvalue)",
            ({"a": 9}, {"a": 10}),
            [0, 1],
        ),
        ("range (a) (partition p0 values less than (10))", ({"a": None}, {"a": 10}), [0, None]),
        (
            "range (year(d)) (partition p0 values less than (2020), partition p1 values less than (2021))",
            ({"d": dt.date(2019, 5, 1)}, {"d": dt.date(2020, 5, 1)}),
            [0, 1],
        ),
        (
            "list columns (s) (partition p0 values in ('a','b'), partition p1 values in ('c'))",
            ({"s": "b"}, {"s": "c"}),
            [0, 1],
        ),
        ("key (a) partitions 2", ({"a": 1}, {"a": 2}), [None, None]),
        (
            "range (to_days(d)) (partition p0 values less than (10))",
            ({"d": dt.date(2020, 5, 1)},),
            [None],
        ),
        ("list (a) (partition p0 values in (--5))", ({"a": 5},), [None]),
        ("list (a) (partition p0 default, partition p1 values in (1))", ({"a": 1},), [None]),
        (
            "range (year(t)) (partition p0 values less than (2000), partition p1 values less than (2030))",
            (
                {"t": mysql.wall("1999-12-31")},
                {"t": mysql.wall("2024-05-01")},
                {"t": None},
                {"t": mysql.wall("0001-01-01") - 1},
            ),
            [0, 1, 0, None],
        ),
        (
            "range columns (s) (partition p0 values less than ('MAXVALUE'), partition p1 values less than (maxvalue))",
            ({"s": "A"}, {"s": "z"}),
            [0, 1],
        ),
    ],
)
def test_places(partitions, rows, expected):
    place = place_of_rows(TABLE, parse(DECLARED + partitions))
    assert [place({"a": None, "d": None, "s": None, "t": None} | row) for row in rows] == expected


def test_an_update_that_moves_a_row_to_another_partition_is_split_though_it_has_no_key():
    sql = (
        DECLARED
        + "range (a) (partition p0 values less than (10), partition p1 values less than (20))"
    )
    row = {"a": 1, "d": None, "s": "x", "t": None}
    updates = (
        change(TABLE, Op.UPDATE, (row, {**row, "a": 2})),
        change(TABLE, Op.UPDATE, (row, {**row, "a": 12})),
    )
    history = History((SchemaChange(START, "create table", sql, "d", "t", after=TABLE), *updates))
    for name in ("v8.5.7", "v8.5.7+raw-change"):
        written = write(history, FORMAT.profile(name), Layout("t", 1))
        assert [json.loads(w.message.value)["type"] for w in written] == [
            "CREATE",
            "UPDATE",
            "DELETE",
            "INSERT",
        ]
