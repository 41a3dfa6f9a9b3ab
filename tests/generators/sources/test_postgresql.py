"""PostgreSQL's domains, boundaries and texts, as literals (those of section 8 of its documentation
where it has them).
"""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest
from text_tables import rows

from generators.model import Json, Logical, SourceType
from generators.sources import mysql, postgresql, postgresql_text, postgresql_values
from generators.sources.mysql import DAY, wall
from generators.sources.postgresql_values import spelled, text_at
from generators.storage import codec

D = Decimal
DOUBLE = postgresql.real("double precision")


@pytest.mark.parametrize(
    ("type", "inside", "outside"),
    [
        (postgresql.integer("smallint"), [-32768, 0, 32767], [-32769, 32768, True, 1.0, "1"]),
        (postgresql.integer(), [-(2**31), 2**31 - 1], [2**31]),
        (postgresql.integer("bigint"), [-(2**63), 2**63 - 1], [2**63, -(2**63) - 1]),
        (
            postgresql.numeric(5, 2),
            [D("999.99"), D("-999.99"), D("0.00"), D(1)],
            [D(1000), D("0.001"), D("NaN"), D("Infinity"), 1],
        ),
        (postgresql.numeric(2, 2), [D("0.99"), D("-0.01"), D("0")], [D("1.00")]),
        (postgresql.numeric(2, 5), [D("0.00099"), D("-0.00001"), D("0")], [D("0.001")]),
        (
            postgresql.numeric(40, -3),
            [D("0"), D("1E+3"), D(f"{'7' * 40}000")],
            [D("1"), D(f"{'7' * 40}001"), D("1500.0"), D(f"{'7' * 41}000")],
        ),
        (
            postgresql.numeric(),
            [
                D(0),
                D("1E+131071"),
                D((0, (1,), -16383)),
                D("12345678901234567890123456789012345678901234567890.5"),
            ],
            [D("1E+131072"), D((0, (1,), -16384)), D("NaN"), 1.5],
        ),
        (
            postgresql.money(),
            [D("92233720368547758.07"), D("-92233720368547758.08"), D("0.01")],
            [D("92233720368547758.08"), D("-92233720368547758.09"), D("0.001")],
        ),
        (postgresql.real(), [0.5, -0.0, math.inf, math.nan], [0.1, 1e39, 1]),
        (DOUBLE, [0.1, -math.inf, math.nan, 5e-324], [1]),
        (postgresql.boolean(), [0, 1], [2, -1, True]),
        (postgresql.bit(8), [0, 255], [256]),
        (postgresql.bit(64, varying=True), [2**64 - 1], [2**64]),
        (postgresql.text("char", 4), ["ab  ", "    ", "汉字😀x"], ["ab", "abcde", b"abcd"]),
        (postgresql.text("varchar", 2), ["", "汉字", " "], ["abc", "a\0", "\ud800"]),
        (postgresql.text("text"), ["", "x" * 100_000], ["\0", 1]),
        (postgresql.bytea(), [b"", bytes(range(256))], ["a"]),
        (postgresql.temporal("date"), [dt.date(1, 1, 1), dt.date(9999, 12, 31)], ["2024-01-01", 0]),
        (postgresql.temporal("time", 3), [0, DAY, 1000], [1, -1000, DAY + 1000]),
        (
            postgresql.temporal("timestamp"),
            [wall("0001-01-01"), -1, wall("9999-12-31 23:59:59.999999")],
            [wall("9999-12-31") + DAY],
        ),
        (postgresql.temporal("timestamp", 0), [0, -1_000_000], [1]),
        (
            postgresql.temporal("timestamptz"),
            [wall("0001-01-02"), 0],
            [wall("0001-01-01"), wall("9999-12-31")],
        ),
        (postgresql.enum_of("sad", "ok"), ["sad", "ok"], ["happy", "", 1]),
        (
            postgresql.uuid(),
            ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
            ["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99", ""],
        ),
        (
            postgresql.inet(),
            ["192.168.0.1", "10.1.0.0/16", "::1", "::1/64"],
            ["192.168.0.1/32", "1.2.3", "0:0:0:0:0:0:0:1"],
        ),
        (
            postgresql.temporal("timetz"),
            ["00:00:00+00", "13:51:30.123789-08", "10:20:30.1+05:30", "24:00:00+00"],
            ["13:51:30", "13:51:30.120+00", "24:00:00.1+00", "10:00:00+02:00"],
        ),
        (postgresql.temporal("timetz", 0), ["13:51:30+02"], ["13:51:30.5+02"]),
        (
            postgresql.temporal("interval"),
            ["00:00:00", "1 year 2 mons 3 days 04:05:06.78", "-1 years -2 mons +3 days -04:05:06"],
            ["", "P1Y", "14 months", "1 day 00:00:00", "1 years"],
        ),
        (
            postgresql.json(),
            [Json(None), Json({"a": [1, True, 1.5]})],
            [{}, "1", Json("\0"), Json({"\0": 1}), Json(math.nan)],
        ),
        (postgresql.hstore(), [Json({}), Json({"a": None, "b": "x"})], [Json({"a": 1}), Json([])]),
        (
            postgresql.array("integer"),
            [Json([]), Json([1, None])],
            [Json([2**31]), Json(["1"]), Json([[1]]), Json([True])],
        ),
        (postgresql.array("text"), [Json(["", None])], [Json([1]), Json(["\0"]), Json({})]),
    ],
    ids=lambda value: value.name if isinstance(value, SourceType) else "",
)
def test_fits(type: SourceType, inside: list[Any], outside: list[Any]) -> None:
    assert postgresql.fits(type, None)
    assert [value for value in inside if not postgresql.fits(type, value)] == []
    assert [value for value in outside if postgresql.fits(type, value)] == []


@pytest.mark.parametrize("slug", list(postgresql.TYPES))
def test_boundary_values_fit_and_differ(slug: str) -> None:
    values = postgresql.boundary_values(slug)
    assert len({repr(value) for value in values.values()}) == len(values) >= 2
    assert [
        label
        for label, value in values.items()
        if not postgresql.fits(postgresql.TYPES[slug], value)
    ] == []
    assert None not in values.values()


@pytest.mark.parametrize(
    ("slug", "expected"),
    [
        ("smallint", {"min": -32768, "max": 32767, "zero": 0, "one": 1, "minus-one": -1}),
        ("boolean", {"false": 0, "true": 1}),
        ("bit-8", {"zero": 0, "one": 1, "all-ones": 255, "highest": 128}),
        ("enum", {"label-1": "sad", "label-2": "ok", "label-3": "happy"}),
        (
            "numeric-10-2",
            {
                "zero": D("0.00"),
                "unit": D("0.01"),
                "minus-unit": D("-0.01"),
                "max": D("99999999.99"),
                "min": D("-99999999.99"),
                "integral": D("123.00"),
                "trailing-zeros": D("123.45"),
            },
        ),
    ],
)
def test_boundary_values(slug: str, expected: dict[str, Any]) -> None:
    assert dict(postgresql.boundary_values(slug)) == expected


@pytest.mark.parametrize(
    ("slug", "label", "value"),
    [
        *(
            ("bigint", "two-to-53-plus-one", 9007199254740993),
            ("double-precision", "negative-infinity", -math.inf),
        ),
        ("text", "unavailable-text", "__debezium_unavailable_value"),
        *(
            ("bytea", "unavailable-text", b"__debezium_unavailable_value"),
            ("char", "empty", " " * 16),
        ),
        *(
            ("timestamp-6", "before-epoch", -1),
            ("timestamp-3", "pre-1970-fraction", -1047174587392000),
        ),
        *(
            ("timestamp-6", "max", wall("9999-12-31 23:59:59.999999")),
            ("timestamptz-0", "min", wall("0001-01-02 00:00:00")),
        ),
        *(("time-3", "end-of-day", 86_400_000_000), ("date", "min", dt.date(1, 1, 1))),
    ],
)
def test_named_boundaries(slug: str, label: str, value: Any) -> None:
    assert postgresql.boundary_values(slug)[label] == value


def test_no_boundary_is_nan_and_the_char_has_no_long_text() -> None:
    """NaN is equal to nothing, rows that hold it to no row."""
    values = [
        value for slug in postgresql.TYPES for value in postgresql.boundary_values(slug).values()
    ]
    assert not any(isinstance(value, float) and math.isnan(value) for value in values)
    assert "unavailable-text" not in postgresql.boundary_values("char")


def test_boundary_values_of_an_unknown_type() -> None:
    with pytest.raises(KeyError, match="int4"):
        postgresql.boundary_values("int4")


@pytest.mark.parametrize(
    ("type", "value", "cls"),
    [
        *(
            (DOUBLE, math.nan, "not-finite"),
            (postgresql.real(), -math.inf, "not-finite"),
            (DOUBLE, 1.5, "fraction"),
        ),
        *(
            (postgresql.boolean(), 1, "plain"),
            (postgresql.numeric(), D(1), "wide"),
            (postgresql.numeric(10, 2), D(1), "plain"),
        ),
        *(
            (postgresql.uuid(), "00000000-0000-0000-0000-000000000000", "plain"),
            (postgresql.temporal("timestamp"), 1, "micros"),
        ),
        (postgresql.array(), Json([]), "array"),
    ],
)
def test_value_class(type: SourceType, value: Any, cls: str) -> None:
    assert postgresql.value_class(type, value) == cls


@pytest.mark.parametrize(("slug", "spark", "declared"), rows(__file__, "postgresql_names.txt"))
def test_names_of_types(slug: str, spark: str, declared: str) -> None:
    kind = postgresql.TYPES[slug]
    assert (kind.spark, postgresql.declared(kind)) == (spark, declared)


def test_every_type_is_postgresqls_and_survives_a_file() -> None:
    assert {kind.source for kind in postgresql.TYPES.values()} == {"postgresql"}
    assert len(set(postgresql.TYPES.values())) == len(postgresql.TYPES)
    for kind in postgresql.TYPES.values():
        assert codec.load_type(codec.dump_type(kind)) == kind
    # MySQL's own
    assert set(Logical) - {kind.logical for kind in postgresql.TYPES.values()} == {
        Logical.YEAR,
        Logical.ENUM,
        Logical.SET,
    }


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        *(((0, 0, 0), "00:00:00"), ((14, 3, 14_706_780_000), "1 year 2 mons 3 days 04:05:06.78")),
        *(
            ((-14, 3, -14_706_000_000), "-1 years -2 mons +3 days -04:05:06"),
            ((12, 0, 0), "1 year"),
        ),
        *(
            ((1, -1, 1), "1 mon -1 days +00:00:00.000001"),
            ((0, 1, 0), "1 day"),
            ((0, 0, 360_062_000_000), "100:01:02"),
        ),
        ((-25, 0, 0), "-2 years -1 mons"),
    ],
)
def test_interval(parts: tuple[int, int, int], text: str) -> None:
    assert postgresql_text.interval_text(*parts) == text
    assert postgresql_text.interval_parts(text) == parts


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        *(((0, 0), "00:00:00+00"), ((49_890_123_789, 7200), "13:51:30.123789+02")),
        *(
            ((37_230_120_000, 19_800), "10:20:30.12+05:30"),
            ((86_399_000_000, -28_800), "23:59:59-08"),
        ),
        ((0, -1), "00:00:00-00:00:01"),
    ],
)
def test_timetz(parts: tuple[int, int], text: str) -> None:
    assert postgresql_text.timetz_text(*parts) == text
    assert postgresql_text.timetz_parts(text) == parts


@pytest.mark.parametrize("text", ["", "1 hour", "04:05", "1 mon 1 year"])
def test_no_interval(text: str) -> None:
    with pytest.raises(ValueError, match="is no interval"):
        postgresql_text.interval_parts(text)
    with pytest.raises(ValueError, match="is no time with time zone"):
        postgresql_text.timetz_parts(text)


@pytest.mark.parametrize(
    ("micros", "zone", "text"),
    [
        (0, "UTC", "1970-01-01 00:00:00+00"),
        (wall("2024-06-01 00:00:00.5"), "Asia/Kolkata", "2024-06-01 05:30:00.5+05:30"),
        (wall("2024-11-03 05:30:00"), "America/New_York", "2024-11-03 01:30:00-04"),
        (wall("2024-11-03 06:30:00"), "America/New_York", "2024-11-03 01:30:00-05"),
        (postgresql_values.TIMESTAMPTZ_MIN, "America/New_York", "0001-01-01 19:03:58-04:56:02"),
        (postgresql_values.TIMESTAMPTZ_MAX, "Asia/Shanghai", "9999-12-31 07:59:59.999999+08"),
    ],
)
def test_timestamptz_text(micros: int, zone: str, text: str) -> None:
    assert postgresql_text.timestamptz_text(micros, zone) == text


def test_date_and_time_texts() -> None:
    assert mysql.date_text(dt.date(1, 2, 3)) == "0001-02-03"
    assert [postgresql_text.time_text(micros) for micros in (0, DAY, 37_230_120_000)] == [
        "00:00:00",
        "24:00:00",
        "10:20:30.12",
    ]
    assert postgresql_text.timestamp_text(-1) == "1969-12-31 23:59:59.999999"
    assert postgresql_text.timestamp_text(0) == "1970-01-01 00:00:00"


@pytest.mark.parametrize(
    ("value", "double", "single"),
    [
        *(
            (0.0, "0", "0"),
            (-0.0, "-0", "-0"),
            (1.5, "1.5", "1.5"),
            (100.0, "100", "100"),
            (1e5, "100000", "100000"),
        ),
        *(
            (1e6, "1000000", "1e+06"),
            (1e14, "100000000000000", "1e+14"),
            (1e15, "1e+15", "1e+15"),
            (1e-4, "0.0001", "0.0001"),
        ),
        *(
            (1e-5, "1e-05", "1e-05"),
            (0.1 + 0.2, "0.30000000000000004", "0.3"),
            (math.inf, "Infinity", "Infinity"),
        ),
        *((-math.inf, "-Infinity", "-Infinity"), (math.nan, "NaN", "NaN")),
    ],
)
def test_real_text(value: float, double: str, single: str) -> None:
    assert postgresql_text.real_text(DOUBLE, value) == double
    assert postgresql_text.real_text(postgresql.real(), postgresql.to_float32(value)) == single


def test_other_texts() -> None:
    assert postgresql_text.numeric_text(D("0E-10")) == "0.0000000000"
    assert postgresql_text.bytea_text(b"\x00\xffa") == "\\x00ff61"
    assert postgresql_text.bit_text(postgresql.bit(4), 5) == "0101"
    assert postgresql_text.bit_text(postgresql.bit(4, varying=True), 5) == "101"
    assert [postgresql_text.bit_text(postgresql.boolean(), n) for n in (0, 1)] == ["f", "t"]
    assert postgresql_text.hstore_text({"bb": None, 'a"': "1\\"}) == '"a\\""=>"1\\\\", "bb"=>NULL'
    assert (
        postgresql_text.array_text([None, 1, "NULL", "a b", "x", 'q"', ""])
        == '{NULL,1,"NULL","a b",x,"q\\"",""}'
    )
    assert postgresql.quote('a"b') == '"a""b"'


def test_json_text() -> None:
    document = {"bb": 1e20, "a": [1, "汉\n", None]}
    assert (
        postgresql_text.json_text(postgresql.json(), document)
        == '{"bb" : 1e+20 ,"a" : [1 ,"汉\\n" ,null]}'
    )
    assert (
        postgresql_text.json_text(postgresql.json("jsonb"), document)
        == '{"a": [1, "汉\\n", null], "bb": 100000000000000000000}'
    )


@pytest.mark.parametrize(
    "type",
    [kind for kind in postgresql.TYPES.values() if spelled(kind)],
    ids=lambda kind: kind.name,
)
def test_texts_of_numbers_fit(type: SourceType) -> None:
    numbers = [0, 1, 2, 3, 7, (1 << 128) - 1, *(3**n % (1 << 128) for n in range(200))]
    texts = [text_at(type, number) for number in numbers]
    assert [text for text in texts if not postgresql.fits(type, text)] == []
    assert len(set(texts)) > 2


@pytest.mark.parametrize("name", ["interval", "timetz"])
@pytest.mark.parametrize("fsp", [0, 3])
def test_texts_of_numbers_have_the_types_fraction(name: str, fsp: int) -> None:
    kind = postgresql.temporal(name, fsp)
    assert all(postgresql.fits(kind, text_at(kind, 7**n)) for n in range(45))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: postgresql.numeric(1001, 0), r"numeric\(1001,0\): precision is 1 to 1000"),
        (lambda: postgresql.numeric(5, 1001), r"numeric\(5,1001\)"),
        (lambda: postgresql.bit(0), r"bit\(0\): length is 1 to 64"),
        (lambda: postgresql.bit(65, varying=True), r"bit\(65\)"),
        (lambda: postgresql.temporal("time", 7), r"time\(7\): fractional digits are 0 to 6"),
    ],
)
def test_impossible_types(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


LONG = "customer_subscription_billing_addresses_of_the_european_region_x"


@pytest.mark.parametrize(
    ("table", "columns", "label", "name"),
    [
        ("t", ("a",), "key", "t_a_key"),
        ("t", ("a", "b"), "idx", "t_a_b_idx"),
        (LONG, ("a",), "key", "customer_subscription_billing_addresses_of_the_european_r_a_key"),
        (
            "t",
            ("first_name_of_the_customer", "last_name_of_the_customer", "date_of_birth_of_it"),
            "key",
            "t_first_name_of_the_customer_last_name_of_the_customer_date_key",
        ),
        (LONG, ("é" * 30,), "key", "customer_subscription_billing_" + "é" * 14 + "_key"),
        ("短" * 21, ("a", "b"), "key", "短" * 18 + "_a_b_key"),
    ],
)
def test_an_index_without_a_name_gets_that_of_postgresql(table, columns, label, name):
    """Each name is what PostgreSQL 15.18 gave."""
    assert postgresql.index_name(table, columns, label) == name


def test_the_second_index_of_a_name_has_a_number():
    assert postgresql.index_name("t", ("a",), "idx", {"t_a_idx"}) == "t_a_idx1"
    columns = ("first_name_of_the_customer", "last_name_of_the_customer", "date_of_birth_of_it")
    first = postgresql.index_name("t", columns, "idx")
    assert postgresql.index_name("t", columns, "idx", {first}) == (
        "t_first_name_of_the_customer_last_name_of_the_customer_dat_idx1"
    )
