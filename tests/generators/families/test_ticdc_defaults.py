"""Defaults as TiDB stores them, by TiDB's own getDefaultValue (ticdc#stored-defaults)."""

from decimal import Decimal

import pytest

from generators.families.ticdc.defaults import is_current_timestamp, stored_default
from generators.sources import mysql


@pytest.mark.parametrize(
    ("type", "literal", "value", "stored"),
    [
        (mysql.temporal("datetime"), "'2020-01-01'", None, "2020-01-01 00:00:00"),
        (mysql.temporal("datetime", 3), "'2020-1-5 1:02'", None, "2020-01-05 01:02:00.000"),
        (mysql.temporal("timestamp", 2), "'2020-1-5 1:2:3.4567'", None, "2020-01-05 01:02:03.46"),
        (mysql.temporal("datetime"), "'2020-12-31 23:59:59.9'", None, "2021-01-01 00:00:00"),
        (mysql.temporal("datetime", 1), "'2020-1-5 1:2:3.94999'", None, "2020-01-05 01:02:03.9"),
        (mysql.temporal("datetime"), "'0000-00-00 00:00:00.9'", None, "0000-00-00 00:00:00.9"),
        (mysql.temporal("datetime", 3), "0", None, "0000-00-00 00:00:00"),
        (mysql.temporal("timestamp"), "20200105101112", None, "2020-01-05 10:11:12"),
        (mysql.temporal("date"), "0", None, "0000-00-00"),
        (mysql.temporal("date"), "20200105", None, "2020-01-05"),
        (mysql.temporal("date"), "'20200105'", None, "2020-01-05"),
        (mysql.temporal("date"), "_UTF8MB4'2020-1-5'", None, "2020-01-05"),
        (mysql.temporal("date"), "_utf8mb4 '2020-1-5'", None, "2020-01-05"),
        (mysql.temporal("date"), "'unreadable'", None, "unreadable"),
        (mysql.temporal("time"), "'10:00'", None, "10:00:00"),
        (mysql.temporal("time", 3), "'-1:2:3'", None, "-01:02:03.000"),
        (mysql.temporal("time"), "'9:59:59.5'", None, "10:00:00"),
        (mysql.temporal("time"), "101112", None, "10:11:12"),
        (mysql.temporal("time"), "-10112", None, "-01:01:12"),
        (mysql.temporal("time"), "'10'", None, "00:00:10"),
        (mysql.temporal("time"), "0", None, "00:00:00"),
        (mysql.temporal("datetime"), "NOW()", None, "CURRENT_TIMESTAMP"),
        (mysql.temporal("datetime", 3), "( current_timestamp (3) )", None, "CURRENT_TIMESTAMP"),
        (mysql.temporal("date"), "(curdate ())", None, "CURRENT_DATE"),
        (mysql.temporal("datetime", 6), "(localtimestamp(6))", None, "CURRENT_TIMESTAMP"),
        (mysql.temporal("date"), "(CurDate())", None, "CURRENT_DATE"),
        (mysql.integer("int"), "00012", 12, "12"),
        (mysql.integer("int"), "'007'", 7, "7"),
        (mysql.integer("int"), "+1", 1, "1"),
        (mysql.integer("int"), "0x41", None, "65"),
        (mysql.integer("tinyint"), "false", None, "0"),
        (mysql.decimal(10, 2), "0", Decimal("0.00"), "0"),
        (mysql.decimal(10, 2), "+1.5", Decimal("1.50"), "1.5"),
        (mysql.decimal(10, 2), "'1.500'", Decimal("1.50"), "1.500"),
        (mysql.decimal(10, 2), "-1e1", Decimal("-10.00"), "-10"),
        (mysql.TYPES["double"], "1e3", 1000.0, "1000"),
        (mysql.TYPES["float"], ".1", 0.1, "0.1"),
        (mysql.text("varchar", 9), "TRUE", "1", "1"),
        (mysql.text("varchar", 9), "1.50", "1.50", "1.50"),
        (mysql.text("varchar", 9), "x'4142'", None, "AB"),
        (mysql.text("varchar", 9), "b'1000001'", "A", "A"),
        (mysql.text("varchar", 9), "_utf8mb4 'x'", "x", "x"),
        (mysql.text("varchar", 9), "'it''s'", "it's", "it's"),
        (mysql.decimal(10, 2), "b'101'", Decimal("5.00"), "5"),
        (mysql.binary("binary", 3), "X'41'", b"A\0\0", "A\0\0"),
        (mysql.binary("binary", 3), "0b01000001", b"A\0\0", "A\0\0"),
        (mysql.binary("binary", 3), "12", b"12\0", "12\0"),
        (mysql.binary("binary", 3), "'a'", b"a\0\0", "a\0\0"),
        (mysql.binary("varbinary", 9), "0x4142", b"AB", "AB"),
        (mysql.bit(8), "b'101'", None, 5),
        (mysql.bit(8), "5", 5, 5),
        (mysql.bit(16), "0x0101", None, 257),
        (mysql.enum_of("a", "b"), "'b'", 2, "b"),
        (mysql.set_of("a", "b"), "'b,a'", 3, "a,b"),
        (mysql.set_of("a", "b"), "''", 0, ""),
        (mysql.TYPES["year"], "'99'", 1999, "99"),
        (mysql.TYPES["year"], "2020", 2020, "2020"),
    ],
)
def test_default_is_stored_as_tidb_stores_it(type, literal, value, stored):
    assert stored_default(type, literal, value) == stored


@pytest.mark.parametrize(
    ("literal", "is_now"),
    [
        ("now()", True),
        ("NOW(6)", True),
        ("current_timestamp", True),
        ("CURRENT_TIMESTAMP(3)", True),
        ("LOCALTIME", True),
        ("CURRENT_TIMESTAMP (3)", True),
        ("now ( )", True),
        ("now", False),
        ("(localtimestamp())", True),
        ("'now()'", False),
        ("(now() + interval 1 day)", False),
        ("nowhere()", False),
    ],
)
def test_current_timestamp_has_several_names(literal, is_now):
    assert is_current_timestamp(literal) is is_now
