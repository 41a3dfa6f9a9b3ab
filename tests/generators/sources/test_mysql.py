"""MySQL's domains, value classes, boundaries and texts, as literals."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest

from generators.model import Json, Logical, SourceType, ZeroDate
from generators.sources import mysql

D = Decimal


@pytest.mark.parametrize(
    ("type", "inside", "outside"),
    [
        (mysql.integer("tinyint"), [-128, 0, 127], [-129, 128, True, 1.0, "1"]),
        (mysql.integer("mediumint"), [-8388608, 8388607], [-8388609, 8388608]),
        (mysql.integer("int", zerofill=True), [0, 4294967295], [-1, 4294967296]),
        (mysql.integer("bigint"), [-(2**63), 2**63 - 1], [-(2**63) - 1, 2**63]),
        (mysql.integer("bigint", unsigned=True), [0, 2**63, 2**64 - 1], [-1, 2**64]),
        (mysql.boolean(), [0, 1, -128, 127], [128]),
        (
            mysql.decimal(5, 2),
            [D("999.99"), D("-999.99"), D("0.00"), D(1)],
            [D("1000"), D("0.001"), D("NaN"), D("Infinity"), 1],
        ),
        (mysql.decimal(5, 2, unsigned=True), [D("0.00"), D("999.99")], [D("-0.01")]),
        (
            mysql.decimal(65, 30),
            [D("9" * 35 + "." + "9" * 30)],
            [D("1" + "0" * 35), D("0." + "0" * 30 + "1")],
        ),
        (
            mysql.real("float"),
            [0.0, 0.5, mysql.to_float32(0.1)],
            [0.1, 1e39, math.inf, math.nan, 1],
        ),
        (mysql.real("double"), [0.1, 1.7976931348623157e308, -5e-324], [math.inf, math.nan, 1]),
        (mysql.real("double", unsigned=True), [0.0, 0.1], [-0.1]),
        (mysql.bit(1), [0, 1], [2, -1, True]),
        (mysql.bit(64), [0, 2**64 - 1], [2**64]),
        (mysql.text("varchar", 2), ["", "汉字", "😀😀"], ["abc", b"a", 1]),
        (mysql.text("tinytext"), ["a" * 255, "汉" * 85], ["a" * 256, "汉" * 86]),
        (mysql.binary("binary", 2), [b"", b"\x00\xff"], [b"abc", "ab"]),
        (
            mysql.temporal("date"),
            [dt.date(1000, 1, 1), ZeroDate(), ZeroDate(2024, 2, 0)],
            ["2024-01-01", 0],
        ),
        (
            mysql.temporal("datetime"),
            [0, mysql.wall("9999-12-31 23:59:59"), ZeroDate()],
            [1, ZeroDate(micros=1), dt.date(2024, 1, 1)],
        ),
        (mysql.temporal("datetime", 3), [1000, ZeroDate(2024, 0, 0, 1000)], [1, 1001]),
        (mysql.temporal("datetime", 6), [1, -1], [mysql.wall("9999-12-31 23:59:59") + 1_000_000]),
        (
            mysql.temporal("timestamp"),
            [1_000_000, 2_147_483_647_000_000, ZeroDate()],
            [0, 2_147_483_648_000_000, ZeroDate(2024, 0, 0)],
        ),
        (mysql.temporal("time"), [3_020_399_000_000, -3_020_399_000_000], [3_020_400_000_000, 1]),
        (mysql.year(), [0, 1901, 2155], [1, 1900, 2156]),
        (mysql.enum_of("a", "b"), [0, 1, 2], [3, -1, "a"]),
        (mysql.set_of("a", "b"), [0, 3], [4]),
        (mysql.json(), [Json(None), Json({"a": [1]})], [{}, "1"]),
    ],
    ids=lambda value: (
        f"{value.key}({value.length or value.precision or value.fsp})"
        if isinstance(value, SourceType)
        else ""
    ),
)
def test_fits(type: SourceType, inside: list[Any], outside: list[Any]) -> None:
    assert mysql.fits(type, None)
    assert [value for value in inside if not mysql.fits(type, value)] == []
    assert [value for value in outside if mysql.fits(type, value)] == []


@pytest.mark.parametrize("slug", list(mysql.TYPES))
def test_boundary_values_fit_and_differ(slug: str) -> None:
    values = mysql.boundary_values(slug)
    assert len(values) >= 2
    assert [
        label for label, value in values.items() if not mysql.fits(mysql.TYPES[slug], value)
    ] == []
    assert None not in values.values()


@pytest.mark.parametrize(
    ("slug", "expected"),
    [
        ("tinyint", {"min": -128, "max": 127, "one": 1, "zero": 0, "minus-one": -1}),
        (
            "unsigned-tinyint",
            {"min": 0, "max": 255, "one": 1, "signed-max": 127, "one-over-signed-max": 128},
        ),
        (
            "bit-64",
            {
                "zero": 0,
                "one": 1,
                "all-ones": 2**64 - 1,
                "signed-max": 2**63 - 1,
                "one-over-signed-max": 2**63,
            },
        ),
        ("enum", {"empty": 0, "member-1": 1, "member-2": 2, "member-3": 3}),
        ("set", {"zero": 0, "one": 1, "all-ones": 7, "two-members": 5}),
        ("year", {"zero": 0, "min": 1901, "max": 2155, "plain": 2024}),
        (
            "unsigned-decimal-5-2",
            {
                "zero": D("0.00"),
                "unit": D("0.01"),
                "max": D("999.99"),
                "integral": D("123.00"),
                "trailing-zeros": D("123.45"),
            },
        ),
    ],
)
def test_boundary_values(slug: str, expected: dict[str, Any]) -> None:
    assert dict(mysql.boundary_values(slug)) == expected


def test_unsigned_bigint_crosses_the_signed_half() -> None:
    values = mysql.boundary_values("unsigned-bigint")
    shown = [values[label] for label in ("signed-max", "one-over-signed-max", "max")]
    assert shown == [9223372036854775807, 9223372036854775808, 18446744073709551615]


def test_boundary_values_of_an_unknown_type() -> None:
    with pytest.raises(KeyError, match="bigint unsigned"):
        mysql.boundary_values("bigint unsigned")


@pytest.mark.parametrize(
    ("type", "classes"),
    [
        (
            mysql.integer("bigint"),
            {0: "zero", -1: "negative", 1: "plain", 2**53: "plain", 2**53 + 1: "beyond-double"},
        ),
        (mysql.integer("tinyint", unsigned=True), {0: "zero", 127: "plain", 128: "over-signed"}),
        (
            mysql.integer("bigint", unsigned=True),
            {2**63 - 1: "beyond-double", 2**63: "over-signed"},
        ),
        (mysql.decimal(10, 2), {D("1.50"): "plain"}),
        (mysql.decimal(20, 10), {D("123456.1234567890"): "long", D("0E-10"): "plain"}),
        (mysql.decimal(65, 30), {D("1"): "wide"}),
        (
            mysql.real("double"),
            {
                0.0: "zero",
                1.0: "integral",
                1.5: "fraction",
                1e7: "exponent",
                1e-4: "exponent",
                9999999.0: "integral",
            },
        ),
        (mysql.bit(64), {0: "zero", 1: "plain", 2**63: "over-signed"}),
        (mysql.enum_of("a"), {0: "empty", 1: "plain"}),
        (mysql.year(), {0: "zero", 1999: "plain"}),
        (
            mysql.text(),
            dict(
                [
                    *(
                        ("", "empty"),
                        ("null", "literal-null"),
                        ("a", "plain"),
                        ("😀<", "astral"),
                        ("\u2028", "separator"),
                    ),
                    *(("\x7f", "control"), ("<", "html"), ('"', "quote"), ("é", "non-ascii")),
                ]
            ),
        ),
        (
            mysql.binary(),
            {
                b"": "empty",
                b"\x80": "high",
                b"a\0": "trailing-zero",
                b"\x01a": "control",
                b"abcd": "base64-like",
                b"ab-!": "ascii",
            },
        ),
        (
            mysql.temporal("date"),
            {
                ZeroDate(): "zero",
                ZeroDate(2024, 0, 1): "partial-zero",
                dt.date(2024, 1, 1): "whole",
            },
        ),
        (
            mysql.temporal("datetime", 6),
            {ZeroDate(): "zero", 0: "whole", 1000: "millis", 1: "micros"},
        ),
        (
            mysql.temporal("time", 6),
            {-1: "negative", 86_400_000_000: "over-24h", 0: "plain", 1000: "millis", 1: "micros"},
        ),
    ],
    ids=lambda value: value.key if isinstance(value, SourceType) else "",
)
def test_value_class(type: SourceType, classes: dict[Any, str]) -> None:
    assert {value: mysql.value_class(type, value) for value in classes} == classes


def test_value_class_of_negative_zero() -> None:
    assert mysql.value_class(mysql.real("double"), -0.0) == "negative-zero"


@pytest.mark.parametrize(
    ("value", "cls"),
    [
        (None, "null-literal"),
        (True, "bool"),
        (1, "number"),
        (1.5, "number"),
        ("", "string"),
        ({}, "object"),
        ([], "array"),
    ],
)
def test_value_class_of_json(value: object, cls: str) -> None:
    assert mysql.value_class(mysql.json(), Json(value)) == cls


def test_date_text_and_quote() -> None:
    assert mysql.date_text(dt.date(1000, 1, 2)) == "1000-01-02"
    assert mysql.date_text(ZeroDate(0, 0, 0)) == "0000-00-00"
    assert mysql.quote("a`b") == "`a``b`"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mysql.decimal(66, 0), r"decimal\(66,0\): precision is 1 to 65"),
        *(
            (lambda: mysql.decimal(5, 6), r"decimal\(5,6\)"),
            (lambda: mysql.decimal(40, 31), r"decimal\(40,31\)"),
        ),
        *(
            (lambda: mysql.bit(0), r"bit\(0\): length is 1 to 64"),
            (lambda: mysql.bit(65), r"bit\(65\)"),
        ),
        (lambda: mysql.temporal("time", 7), r"time\(7\): fractional digits are 0 to 6"),
    ],
)
def test_impossible_types(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_float32() -> None:
    assert mysql.to_float32(3.14) == 3.140000104904175
    assert mysql.to_float32(1e39) == math.inf
    assert mysql.to_float32(-1e39) == -math.inf


def test_the_catalogue_has_every_logical_type() -> None:
    assert {kind.logical for kind in mysql.TYPES.values()} == set(Logical)


@pytest.mark.parametrize(
    ("type", "shown"),
    [
        (mysql.real("double"), "double"),
        (mysql.real("double", precision=8, scale=3), "double(8,3)"),
        (mysql.real("float", unsigned=True, precision=6, scale=0), "float(6,0) unsigned"),
    ],
)
def test_a_float_is_shown_with_its_digits(type: SourceType, shown: str) -> None:
    assert mysql.declared(type) == shown
