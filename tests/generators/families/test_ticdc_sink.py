"""Partitions as TiCDC's own tests of its dispatchers have them (pingcap/tiflow, dispatcher/partition/*_test.go), of 16."""

import pytest

from generators.families.ticdc.sink import pack, partition_of, unpack
from generators.model import Column, Table
from generators.sources import mysql

NUMBER = mysql.integer("int")
SINGLE = Table("test", "t1", (Column("a", NUMBER, False), Column("b", NUMBER)), ("a",))
COMPOSITE = Table("test", "t2", SINGLE.columns, ("a", "b"))


@pytest.mark.parametrize(("name", "expected"), [("t1", 15), ("t2", 5), ("t3", 3)])
def test_default_dispatcher_takes_the_names(name, expected):
    table = Table("test", name, ())
    assert [partition_of("table", table, {}, tso, 16) for tso in (1, 2, 3)] == [expected] * 3


@pytest.mark.parametrize(
    ("table", "a", "b", "expected"),
    [
        (SINGLE, 11, 22, 2),
        (SINGLE, 22, 22, 11),
        (SINGLE, 11, 33, 2),
        (COMPOSITE, 11, 22, 5),
        (COMPOSITE, 11, 0, 14),
        (COMPOSITE, 11, 33, 2),
    ],
)
def test_index_value_dispatcher_takes_the_handle_key_too(table, a, b, expected):
    assert partition_of("index-value", table, {"a": a, "b": b}, 1, 16) == expected


def test_ts_dispatcher_takes_the_commit():
    assert [partition_of("ts", SINGLE, {}, tso, 16) for tso in (1, 2, 17)] == [1, 2, 1]


@pytest.mark.parametrize("compression", ["none", "snappy", "lz4"])
def test_what_is_packed_is_unpacked(compression):
    assert unpack(compression, pack(compression, b"value" * 9)) == b"value" * 9
