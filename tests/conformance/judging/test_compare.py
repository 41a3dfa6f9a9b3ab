"""Literal tables: what equals what, and which Spark types a logical type may be returned in."""

import datetime as dt
import math
from decimal import Decimal

import pytest
from grouped import cells

from conformance.judging import compare
from conformance.judging.compare import (
    ACCEPTED,
    Typed,
    null_is_fine,
    only_zones_apart,
    same_digits,
    same_text,
    same_value,
)
from generators.model import Cell, Json, Logical, State, ZeroDate
from generators.sources import mysql, postgresql, postgresql_values

TYPES = mysql.TYPES
SECOND = mysql.MICROS
MOMENT = mysql.wall("2024-02-29 23:59:59.123456")

EQUAL = cells(
    ("tinyint", (-128, Typed("int", -128)), (-128, Typed("decimal", -128))),
    ("unsigned-bigint", ((1 << 64) - 1, Typed("decimal", (1 << 64) - 1))),
    ("bigint", ((1 << 53) + 1, Typed("int", (1 << 53) + 1))),
    ("bool", (1, Typed("int", 1))),
    ("year", (2155, Typed("int", 2155))),
    (
        "decimal-10-2",
        (Decimal("1.50"), Typed("decimal", Decimal("1.5"))),
        (Decimal("2.00"), Typed("decimal", 2)),
    ),
    ("decimal-10-0", (Decimal(123), Typed("int", 123))),
    ("decimal-38-10", (Decimal("1.1234567890"), Typed("decimal", Decimal("1.123456789")))),
    ("decimal-65-30", (Decimal("1.5"), Typed("string", "1.500"))),
    ("decimal-65-30", (Decimal("1" + "0" * 33 + "1"), Typed("string", "1" + "0" * 33 + "1"))),
    (
        "float",
        (mysql.to_float32(3.14), Typed("float", mysql.to_float32(3.14))),
        (mysql.to_float32(3.14), Typed("double", 3.14)),
    ),
    ("double", (1 / 3, Typed("double", 1 / 3)), (5e-324, Typed("double", 5e-324))),
    ("bit-1", (1, Typed("boolean", True)), (0, Typed("boolean", False)), (1, Typed("int", 1))),
    ("bit-8", (255, Typed("int", 255))),
    ("bit-64", ((1 << 64) - 1, Typed("decimal", (1 << 64) - 1))),
    ("varchar", ("汉\x00😀", Typed("string", "汉\x00😀")), ("", Typed("string", ""))),
    ("blob", (b"\xff\x00", Typed("binary", b"\xff\x00"))),
    (
        "date",
        (dt.date(1582, 10, 4), Typed("date", dt.date(1582, 10, 4))),
        (dt.date(2024, 2, 29), Typed("string", "2024-02-29")),
    ),
    (
        "date",
        (ZeroDate(), Typed("string", "0000-00-00")),
        (ZeroDate(2024), Typed("string", "2024-00-00")),
    ),
    (
        "datetime-6",
        (MOMENT, Typed("timestamp_ntz", MOMENT)),
        (MOMENT, Typed("string", "2024-02-29 23:59:59.123456")),
    ),
    ("datetime-0", (ZeroDate(), Typed("string", "0000-00-00 00:00:00"))),
    ("datetime-3", (ZeroDate(2024, 0, 0, 500_000), Typed("string", "2024-00-00 00:00:00.500"))),
    ("timestamp-6", (MOMENT, Typed("timestamp", MOMENT))),
    ("timestamp-0", (ZeroDate(), Typed("string", "0000-00-00 00:00:00"))),
    (
        "time-0",
        (-mysql.TIME_LIMIT, Typed("string", "-838:59:59")),
        (SECOND, Typed("string", "00:00:01")),
    ),
    (
        "time-3",
        (-500_000, Typed("string", "-00:00:00.500")),
        (500_000, Typed("string", "00:00:00.5")),
    ),
    (
        "time-6",
        (mysql.TIME_LIMIT, Typed("interval", mysql.TIME_LIMIT)),
        (-1, Typed("interval", -1)),
    ),
    (
        "enum-quoted",
        (2, Typed("int", 2)),
        (2, Typed("string", "a,b")),
        (0, Typed("string", "")),
        (0, Typed("int", 0)),
    ),
    (
        "set",
        (0b101, Typed("int", 5)),
        (0b101, Typed("string", "a,c")),
        (0b101, Typed("array", ["a", "c"])),
    ),
    ("set", (0, Typed("string", "")), (0, Typed("array", []))),
    ("set-64", (1 << 63, Typed("decimal", 1 << 63))),
    (
        "json",
        (Json({"a": [1, None, True], "b": "x"}), Typed("string", '{ "b":"x", "a":[1,null,true] }')),
    ),
    (
        "json",
        (Json(9007199254740993), Typed("string", "9007199254740993")),
        (Json(1.5), Typed("string", "1.50")),
    ),
    (
        "json",
        (Json(1e20), Typed("string", "100000000000000000000")),
        (Json(None), Typed("string", "null")),
    ),
)

UNEQUAL = cells(
    ("unsigned-bigint", ((1 << 64) - 1, Typed("int", -1))),
    ("bigint", ((1 << 53) + 1, Typed("int", 1 << 53))),
    ("int", (1, Typed("decimal", Decimal("1.5")))),
    ("year", (2024, Typed("int", 24))),
    ("decimal-10-2", (Decimal("1.50"), Typed("decimal", Decimal("1.51")))),
    (
        "decimal-65-30",
        (Decimal("1.5"), Typed("string", "1.6")),
        (Decimal("1.5"), Typed("string", "one and a half")),
    ),
    (
        "decimal-65-30",
        (Decimal("1.5"), Typed("string", "NaN")),
        (Decimal(15), Typed("string", "1_5")),
        (Decimal(15), Typed("string", " 15")),
        (Decimal(15), Typed("string", "１５")),
        (Decimal(15), Typed("string", "x")),
    ),
    (
        "float",
        (mysql.to_float32(3.14), Typed("float", mysql.to_float32(3.1400003))),
        (-0.0, Typed("float", 0.0)),
    ),
    (
        "double",
        (1 / 3, Typed("double", mysql.to_float32(1 / 3))),
        (0.1 + 0.2, Typed("double", 0.3)),
    ),
    ("double", (-0.0, Typed("double", 0.0)), (0.0, Typed("double", -0.0))),
    ("bit-1", (1, Typed("boolean", False))),
    ("bit-8", (1, Typed("boolean", True)), (1, Typed("decimal", Decimal("1.5")))),
    ("varchar", ("a", Typed("string", "a ")), ("é", Typed("string", "e\u0301"))),
    ("blob", (b"ab", Typed("binary", b"ab\x00"))),
    (
        "date",
        (dt.date(2024, 2, 29), Typed("date", dt.date(2024, 2, 28))),
        (ZeroDate(), Typed("date", dt.date(1, 1, 1))),
    ),
    ("date", (ZeroDate(), Typed("string", "0002-11-30"))),
    (
        "datetime-6",
        (MOMENT, Typed("timestamp_ntz", MOMENT - 456)),
        (MOMENT, Typed("string", "2024-02-29 23:59:59.123")),
    ),
    ("datetime-0", (ZeroDate(), Typed("timestamp_ntz", 0))),
    ("timestamp-6", (MOMENT, Typed("timestamp", MOMENT + 3600 * SECOND))),
    ("timestamp-0", (ZeroDate(), Typed("timestamp", 0))),
    ("time-0", (SECOND, Typed("string", "0:00:01")), (SECOND, Typed("string", "00:00:01\n"))),
    ("time-0", (-SECOND, Typed("string", "00:00:01"))),
    ("time-0", (90 * SECOND, Typed("string", "00:00:90"))),
    ("time-0", (4500 * SECOND, Typed("string", "00:75:00"))),
    ("time-6", (-1, Typed("interval", 1))),
    ("enum-quoted", (2, Typed("string", "2")), (2, Typed("int", 1))),
    (
        "set",
        (0b101, Typed("string", "c,a")),
        (0b101, Typed("string", "5")),
        (0b101, Typed("int", 4)),
    ),
    ("json", (Json({"a": 1}), Typed("string", '{"a":1,"b":null}'))),
    ("json", (Json(9007199254740993), Typed("string", "9007199254740992"))),
    (
        "json",
        (Json(9007199254740993), Typed("string", "9.007199254740992E15")),
        (Json("1"), Typed("string", "1")),
    ),
    (
        "json",
        (Json(True), Typed("string", "1")),
        (Json(1), Typed("string", "true")),
        (Json(None), Typed("string", "")),
    ),
    (
        "json",
        (Json({"a": 1}), Typed("string", '{"a":1')),
        (Json(1.5), Typed("string", "1" + "0" * 400)),
    ),
    ("json", (Json([]), Typed("string", "[" * 200_000))),
)

FOREIGN_FAMILIES = cells(
    ("int", (1, Typed("string", "1")), (1, Typed("double", 1.0))),
    ("bool", (1, Typed("boolean", True))),
    ("year", (2024, Typed("date", dt.date(2024, 1, 1)))),
    (
        "decimal-10-2",
        (Decimal("1.50"), Typed("string", "1.50")),
        (Decimal("2.00"), Typed("int", 2)),
    ),
    ("decimal-10-2", (Decimal("1.50"), Typed("double", 1.5))),
    ("decimal-38-10", (Decimal("1.5"), Typed("string", "1.5"))),
    ("double", (1.0, Typed("float", 1.0)), (1.0, Typed("string", "1.0"))),
    ("bit-8", (5, Typed("string", "5")), (5, Typed("binary", b"\x05"))),
    ("varchar", ("a", Typed("binary", b"a"))),
    ("blob", (b"a", Typed("string", "a"))),
    ("date", (dt.date(2024, 2, 29), Typed("timestamp", MOMENT))),
    ("datetime-6", (MOMENT, Typed("timestamp", MOMENT))),
    (
        "timestamp-6",
        (MOMENT, Typed("timestamp_ntz", MOMENT)),
        (MOMENT, Typed("string", "2024-02-29 23:59:59.123456")),
    ),
    ("time-0", (SECOND, Typed("int", SECOND))),
    ("enum-quoted", (2, Typed("decimal", 2))),
    ("json", (Json({"a": 1}), Typed("struct<a: int32>", {"a": 1}))),
)


POSTGRESQL = cells(
    ("boolean", (1, Typed("boolean", True), True), (0, Typed("boolean", True), False)),
    ("varbit-63", (5, Typed("int", 5), True)),
    ("bit-64", (1 << 63, Typed("decimal", 1 << 63), True)),
    (
        "numeric",
        (Decimal("10.00"), Typed("string", "10"), True),
        (Decimal(10), Typed("string", "1E+1"), True),
    ),
    (
        "numeric",
        (Decimal(10), Typed("string", "10.01"), False),
        (Decimal(10), Typed("decimal", 10), True),
    ),
    ("money", (Decimal("-12.34"), Typed("decimal", Decimal("-12.34")), True)),
    ("money", (Decimal("-12.34"), Typed("string", "-$12.34"), False)),
    (
        "real",
        (math.nan, Typed("float", math.nan), True),
        (math.inf, Typed("float", -math.inf), False),
    ),
    (
        "double-precision",
        (math.nan, Typed("double", math.nan), True),
        (math.nan, Typed("double", 0.0), False),
    ),
    (
        "double-precision",
        (0.0, Typed("double", math.nan), False),
        (math.inf, Typed("double", math.inf), True),
    ),
    (
        "char",
        ("a".ljust(16), Typed("string", "a".ljust(16)), True),
        ("a".ljust(16), Typed("string", "a"), False),
    ),
    (
        "uuid",
        (
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            Typed("string", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
            True,
        ),
    ),
    ("interval", ("1 mon", Typed("string", "30 days"), False)),
    ("time-6", (mysql.DAY, Typed("string", "24:00:00"), True)),
    ("date", (dt.date(1, 1, 1), Typed("date", dt.date(1, 1, 1)), True)),
    (
        "timestamp-6",
        (
            postgresql_values.TIMESTAMP_MIN,
            Typed("timestamp_ntz", postgresql_values.TIMESTAMP_MIN),
            True,
        ),
    ),
    (
        "timestamp-6",
        (postgresql_values.TIMESTAMP_MIN, Typed("string", "0001-01-01 00:00:00.000000"), True),
    ),
    ("timestamptz-6", (-1, Typed("timestamp", -1), True)),
    ("jsonb", (Json({"a": [1]}), Typed("string", '{"a" : [ 1 ]}'), True)),
    (
        "integer-array",
        (Json([1, None]), Typed("string", "[1,null]"), True),
        (Json([1, None]), Typed("array", [1, None]), False),
    ),
    ("hstore", (Json({"a": None}), Typed("string", '{"a":"null"}'), False)),
)


def cell(slug, value):
    return Cell(State.VALUE, TYPES[slug], value)


def name(row):
    slug, value, typed = row
    return (
        f"{slug}-{value!r}-{typed.family}-{typed.value!r}"[:80]
        .encode("ascii", "backslashreplace")
        .decode()
    )


@pytest.mark.parametrize(("slug", "value", "typed"), EQUAL, ids=map(name, EQUAL))
def test_equal(slug, value, typed):
    assert mysql.fits(TYPES[slug], value)
    assert same_value(cell(slug, value), typed)


@pytest.mark.parametrize(("slug", "value", "typed"), UNEQUAL, ids=map(name, UNEQUAL))
def test_not_equal_although_the_spark_type_is_accepted(slug, value, typed):
    assert typed.family in ACCEPTED[TYPES[slug].logical]
    assert not same_value(cell(slug, value), typed)


@pytest.mark.parametrize(
    ("slug", "value", "typed"), FOREIGN_FAMILIES, ids=map(name, FOREIGN_FAMILIES)
)
def test_a_spark_type_off_the_list_is_a_mismatch_whatever_it_holds(slug, value, typed):
    assert not same_value(cell(slug, value), typed)


@pytest.mark.parametrize(("slug", "value", "typed", "same"), POSTGRESQL)
def test_values_of_postgresql(slug, value, typed, same):
    kind = postgresql.TYPES[slug]
    assert postgresql.fits(kind, value)
    assert same_value(Cell(State.VALUE, kind, value), typed) is same


def test_every_logical_type_has_accepted_families_and_is_in_the_tables():
    assert set(ACCEPTED) == set(Logical)
    for rows in (EQUAL, UNEQUAL):
        assert {TYPES[slug].logical for slug, _, _ in rows} == set(Logical)


@pytest.mark.parametrize(
    "kind", [*mysql.TYPES.values(), *postgresql.TYPES.values()], ids=lambda kind: kind.key
)
def test_the_default_spark_type_is_accepted(kind):
    family = kind.spark.partition("(")[0]
    family = "int" if family in ("tinyint", "smallint", "bigint") else family
    assert family in ACCEPTED[kind.logical]


def test_one_of_takes_any_of_its_options():
    either = Cell(State.ONE_OF, TYPES["timestamp-0"], options=(0, 3600 * SECOND))
    assert same_value(either, Typed("timestamp", 0))
    assert same_value(either, Typed("timestamp", 3600 * SECOND))
    assert not same_value(either, Typed("timestamp", 1))
    assert not same_value(either, Typed("int", 0))


@pytest.mark.parametrize(
    ("cell", "fine"),
    [
        *((cell("date", ZeroDate()), True), (cell("datetime-0", ZeroDate(2024)), True)),
        *((cell("date", dt.date(1970, 1, 1)), False), (cell("int", 0), False)),
        (Cell(State.ONE_OF, TYPES["timestamp-0"], options=(0, ZeroDate())), True),
        (Cell(State.ONE_OF, TYPES["timestamp-0"], options=(0, 1)), False),
    ],
)
def test_null_is_fine_for_zero_dates_alone(cell, fine):
    assert null_is_fine(cell) is fine


@pytest.mark.parametrize(
    ("text", "json", "actual", "same"),
    [
        *(
            ("1.50", False, "1.50", True),
            ("1.50", False, "1.5", False),
            ("", False, "", True),
            ("null", False, "null", True),
        ),
        *(
            ("a\u2028", False, "a\u2028", True),
            ("1.50", True, "1.5", True),
            ("1.50", True, "1.51", False),
        ),
        *(
            ("9007199254740993", True, "9007199254740993", True),
            ("9007199254740993", True, "9007199254740992", False),
        ),
        *(
            ("9007199254740993", True, "9.007199254740992E15", False),
            ("true", True, "true", True),
            ("true", True, "1", False),
        ),
        *(
            ('{"a":1,"b":[]}', True, '{"b": [], "a": 1}', True),
            ('{"a":1}', True, "{a=1}", False),
            ("1", True, "", False),
        ),
        ("[]", True, "[" * 200_000, False),
    ],
)
def test_level_one_compares_text_as_text_and_json_as_json(text, json, actual, same):
    assert same_text(Cell(State.VALUE, TYPES["varchar"], text=text, json=json), actual) is same


@pytest.mark.parametrize(
    ("type", "value", "text", "actual", "same"),
    [
        ("decimal-10-2", "12.30", "12.30", "12.3", True),
        ("decimal-10-2", "10000000000", "10000000000", "1.0E10", True),
        ("decimal-20-10", "9999999999.9999999999", "9999999999.9999999999", "1.0E10", False),
        ("decimal-20-10", "0.1", "0.1", "0.1000000000000000055511151231257827", False),
        ("decimal-20-10", "0.0000001", "1E-7", "0.0000001000", True),
        (
            "decimal-65-30",
            "0.1234567890123456789",
            "0.1234567890123456789",
            "0.1234567890123456",
            False,
        ),
        # The writer printed a double: its digits are not the value's.
        ("decimal-20-10", "9999999999.9999999999", "1.0E10", "10000000000", True),
        ("double", 0.1, "0.1", "0.1000000000000000055511151231257827", True),
        ("double", 2e23, "2.0E23", "2.1E23", False),
        ("float", 0.1, "0.1", "0.2", False),
    ],
)
def test_a_decimals_number_is_compared_exactly_and_a_doubles_as_a_double(
    type, value, text, actual, same
):
    stored = Decimal(value) if isinstance(value, str) else value
    assert same_text(Cell(State.VALUE, TYPES[type], stored, text, json=True), actual) is same


@pytest.mark.parametrize(
    ("text", "actual", "same"),
    [
        ('{"a":[0.1]}', '{"a":[0.1000000000000000055511151231257827]}', True),
        ('{"a":12345678901234567890.123}', '{"a":12345678901234567890.123}', True),
        ('{"a":12345678901234567890.123}', '{"a":1.2345678901234567E19}', False),
        ('{"a":0.30000000000000004}', '{"a":0.3}', False),
        ('{"a":1e400}', '{"a":1e400}', True),
        ('{"a":1e400}', '{"a":1e401}', False),
        ('{"a":1.5e400}', '{"a":2.5e400}', False),
    ],
)
def test_a_documents_number_is_exact_unless_a_double_prints_it(text, actual, same):
    assert same_text(Cell(State.VALUE, TYPES["json"], text=text, json=True), actual) is same


@pytest.mark.parametrize("number", ["1e99999999999999999999", "-1E-99999999999999999999"])
def test_a_number_with_an_exponent_that_no_decimal_has_is_another_number(number):
    document, wide = f'{{"a":{number}}}', TYPES["decimal-65-30"]
    cell = Cell(State.VALUE, TYPES["json"], Json({"a": 1.5}), '{"a":1.5}', json=True)
    assert not same_text(cell, document)
    assert not same_value(cell, Typed("string", document))
    assert not same_value(Cell(State.VALUE, wide, Decimal("1.5")), Typed("string", number))


def test_a_cell_whose_text_is_unknown_accepts_any_text():
    assert same_text(Cell(State.ANY, TYPES["varchar"], reason="U+FFFD"), "whatever")


def test_exact_json_keeps_every_digit():
    numbers = [Decimal("1.10000000000000000001"), 18446744073709551615]
    assert compare.exact_json("[1.10000000000000000001, 18446744073709551615]") == numbers


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        *(
            (1, Decimal("1.0"), True),
            (1.0, 1, True),
            (Decimal("0.1"), 0.1, True),
            (False, 0, False),
            (None, False, False),
        ),
        *(
            (None, None, True),
            ((1, 2), [1, 2], True),
            ([1, 2], [2, 1], False),
            ([1], [1, 2], False),
            ({"a": None}, {}, False),
        ),
        *(("1", 1, False), ({}, [], False)),
    ],
)
def test_same_json(expected, actual, same):
    assert compare.same_json(expected, actual) is same


HOUR = 3600 * SECOND
WALL = mysql.wall


@pytest.mark.parametrize(
    ("expected", "actual", "is_zone"),
    [
        *(
            (MOMENT, MOMENT, True),
            (MOMENT, MOMENT + 8 * HOUR, True),
            (MOMENT, MOMENT - 45 * 60 * SECOND, True),
        ),
        *((MOMENT, MOMENT - MOMENT % SECOND, False), (MOMENT, MOMENT + SECOND, False)),
        (MOMENT, MOMENT + 10 * 60 * SECOND, False),
        *(
            (MOMENT, MOMENT + 32 * HOUR, True),
            (MOMENT, MOMENT + 33 * HOUR, False),
            (MOMENT, MOMENT // 1000, False),
        ),
        (WALL("1979-06-01 00:00:00"), WALL("1979-05-31 13:20:00"), True),
        (WALL("1900-06-01 00:00:00.5"), WALL("1900-06-01 08:05:43.5"), True),
        (WALL("1900-06-01 00:00:00.5"), WALL("1900-06-01 08:05:43"), False),
    ],
    ids=str,
)
def test_zones_move_a_clock_by_quarters_of_an_hour_and_before_1980_by_seconds(
    expected, actual, is_zone
):
    assert only_zones_apart(expected, actual) is is_zone


def test_a_moment_keeps_its_digits_in_another_zone_and_a_zero_date_has_none():
    timestamp = TYPES["timestamp-6"]

    def of(value, *options):
        return Cell(State.ONE_OF if options else State.VALUE, timestamp, value, "", options=options)

    assert same_digits(of(MOMENT), Typed("timestamp_ntz", MOMENT + HOUR))
    assert same_digits(of(MOMENT, MOMENT, MOMENT + 1), Typed("timestamp", MOMENT + 1 + HOUR))
    assert same_digits(of(ZeroDate()), Typed("timestamp", 0))
    assert not same_digits(of(MOMENT), Typed("int", MOMENT))
