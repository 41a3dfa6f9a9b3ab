"""Values of Debezium's JSON against vectors that were computed from the sources, and output of the releases."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

import pytest

from generators.families.debezium import mysql as _debezium_mysql
from generators.families.debezium import postgresql as _debezium_postgresql
from generators.families.debezium.mysql import label
from generators.families.debezium.postgresql import UNAVAILABLE, unavailable
from generators.families.debezium.values import Modes, civil, iso_date, java_decimal, two_complement, zoned_text
from generators.model import Cell, Json, SourceType, State, Value, ZeroDate
from generators.sources import mysql, postgresql


def of(type: SourceType, value: Value, modes: Modes | None = None, **more: Any) -> Any:
    """The JSON value on the wire."""
    wire = _debezium_mysql.wire if type.source == "mysql" else _debezium_postgresql.wire
    return json.loads(wire(type, value, modes or Modes(), **more).json)


def cell(type: SourceType, value: Value, modes: Modes | None = None, **more: Any) -> Cell:
    wire = _debezium_mysql.wire if type.source == "mysql" else _debezium_postgresql.wire
    return wire(type, value, modes or Modes(), **more).cell


# Decimals

BASE64 = dict(
    [
        *((0, "AA=="), (1, "AQ=="), (-1, "/w=="), (127, "fw=="), (128, "AIA="), (-128, "gA=="), (-129, "/38="), (255, "AP8=")),
        *((10**38 - 1, "SztMqFqGxHoJiiI//////w=="), (-(10**38 - 1), "tMSzV6V5O4X2dd3AAAAAAQ=="), ((1 << 64) - 1, "AP//////////")),
        *((1 << 63, "AIAAAAAAAAAA"), (10**65 - 1, "APMWJxx/w5CKi+9GTjlF73olNgn//////////w=="), (-2658824, "1234")),
        *((-2663051, "1111"), (-2929356, "0000"), (-2757260, "1e10"), (-303689, "+123"), (37898298469234, "Infinity")),
    ]
)


@pytest.mark.parametrize("number", BASE64)
def test_base64_of_unscaled_values(number: int) -> None:
    assert base64.b64encode(two_complement(number)).decode() == BASE64[number]


@pytest.mark.parametrize(
    ("precision", "scale", "text", "wire"),
    [
        *((10, 2, "123.45", "MDk="), (10, 2, "-123.45", "z8c="), (10, 2, "3.14", "ATo="), (10, 2, "7.90", "AxY=")),
        *((10, 4, "10.2345", "AY/J"), (10, 4, "101.2345", "D3J5")),
    ],
)
def test_decimals_of_a_scale(precision: int, scale: int, text: str, wire: str) -> None:
    assert of(mysql.decimal(precision, scale), Decimal(text)) == wire
    assert of(postgresql.numeric(precision, scale), Decimal(text)) == wire


def test_decimals_as_text_have_an_exponent_up_to_1_8() -> None:
    kind = mysql.decimal(20, 10)
    assert of(kind, Decimal("0E-10"), Modes((1, 4), "string")) == "0E-10"
    assert of(kind, Decimal("0E-10"), Modes((1, 9), "string")) == "0.0000000000"
    assert [java_decimal(1, scale, plain=False) for scale in (6, 7, 20, 100)] == ["0.000001", "1E-7", "1E-20", "1E-100"]
    assert java_decimal(-12345, 12, plain=False) == "-1.2345E-8"
    assert of(kind, Decimal("-1.5"), Modes(decimal="string")) == "-1.5000000000"


def test_decimals_as_doubles() -> None:
    modes = Modes(decimal="double")
    exact = cell(mysql.decimal(10, 2), Decimal("123.45"), modes)
    assert (exact.state, exact.text, exact.json, exact.value) == (State.VALUE, "123.45", True, Decimal("123.45"))
    lost = cell(mysql.decimal(20, 10), Decimal("1234567890.1234567890"), modes)
    assert lost.state is State.ONE_OF
    assert Decimal("1234567890.1234567890") not in lost.options
    assert lost.reason
    wide = _debezium_mysql.wire(mysql.decimal(20, 10), Decimal("9999999999.9999999999"), modes)
    assert (wide.cell.state, wide.corrupt) == (State.ANY, True)


def test_variable_scale_decimals_lose_trailing_zeros() -> None:
    kind = postgresql.numeric()
    assert of(kind, Decimal("10.00")) == {"scale": 0, "value": "Cg=="}
    assert of(kind, Decimal("-123.45")) == {"scale": 2, "value": "z8c="}
    assert of(kind, Decimal("10.00"), Modes(decimal="string")) == "10.00"


@pytest.mark.parametrize(
    ("name", "srid", "wkb", "shown"),
    [
        (
            *("point", 4326, "010100000000000000000024400000000000003440"),
            '{"x":10.0,"y":20.0,"wkb":"AQEAAAAAAAAAAAAkQAAAAAAAADRA","srid":4326}',
        ),
        (
            *("linestring", 0, "01020000000200000000000000000000000000000000000000000000000000f83f00000000000004c0"),
            '{"wkb":"AQIAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPg/AAAAAAAABMA=","srid":null}',
        ),
    ],
)
def test_a_spatial_value_is_a_struct_with_its_binary(name: str, srid: int, wkb: str, shown: str) -> None:
    """debezium#spatial, as recorded."""
    kind = mysql.spatial(name)
    for snapshot in (False, True):
        found = _debezium_mysql.wire(kind, Json({"srid": srid, "wkb": wkb}), Modes(), snapshot=snapshot)
        assert (found.json, found.schema.type, found.cell.state) == (shown, "struct", State.VALUE)
    assert _debezium_mysql.wire(kind, None, Modes()).json == "null"


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("box", "(1,1),(0,0)", "(1.0,1.0),(0.0,0.0)"),
        ("circle", "<(-1.5,2.5),1e+300>", "<(-1.5,2.5),1.0E300>"),
        ("composite", '(1,"a,b")', '(1,"a,b")'),
    ],
)
def test_a_type_that_the_connector_does_not_know_is_bytes(name: str, text: str, shown: str) -> None:
    """debezium#unknown-types."""
    kind = postgresql.other(name)
    found = _debezium_postgresql.wire(kind, text, Modes())
    assert (found.schema.type, found.schema.name, found.value, found.cell.cls) == ("bytes", "", shown.encode(), "unknown-type")
    assert found.json == f'"{base64.b64encode(shown.encode()).decode()}"'
    assert of(kind, text, Modes(binary="hex")) == shown.encode().hex()
    assert of(kind, None) is None


@pytest.mark.parametrize(
    ("digits", "text", "wire", "meant"),
    [
        *((2, "2.50", b"\x00\xfa", "2.50"), (0, "2.50", b"\x03", "3"), (0, "-2.50", b"\xfd", "-3"), (0, "0.49", b"\x00", "0")),
        (0, "92233720368547758.07", (92233720368547758).to_bytes(8, "big"), "92233720368547758"),
        *((4, "2.50", (25000).to_bytes(2, "big"), "2.50"), (4, "-0.01", (-100).to_bytes(1, "big", signed=True), "-0.01")),
    ],
)
def test_money_is_rounded_half_up_to_its_fraction_digits(digits: int, text: str, wire: bytes, meant: str) -> None:
    """debezium#money."""
    found = _debezium_postgresql.wire(postgresql.money(), Decimal(text), Modes(money_digits=digits))
    assert (found.value, found.cell.value, found.schema.parameters) == (wire, Decimal(meant), (("scale", str(digits)),))
    doubled = _debezium_postgresql.wire(postgresql.money(), Decimal(text), Modes(money_digits=digits), snapshot=True)
    assert text.startswith("9") or doubled.value == wire
    shown = _debezium_postgresql.wire(postgresql.money(), Decimal(text), Modes(decimal="string", money_digits=digits))
    assert shown.value == text


def test_money_follows_the_mode_from_1_8() -> None:
    assert of(postgresql.money(), Decimal("123.45"), Modes((1, 4), "string")) == "MDk="
    assert of(postgresql.money(), Decimal("123.45"), Modes((3, 5), "string")) == "123.45"


def test_unsigned_bigint() -> None:
    kind, largest = mysql.integer("bigint", unsigned=True), (1 << 64) - 1
    assert (of(kind, largest), cell(kind, largest).value) == (-1, largest)
    assert of(kind, 1 << 63) == -(1 << 63)
    assert of(kind, largest, Modes(bigint_unsigned="precise")) == "AP//////////"
    parameters = [_debezium_mysql.schema(kind, Modes(r, bigint_unsigned="precise")).parameters for r in ((1, 9), (2, 4))]
    assert parameters == [(("scale", "0"),), (("scale", "0"), ("connect.decimal.precision", "20"))]


# Dates and times

EPOCH_MICROS = mysql.wall("1936-10-25T22:10:12.608")


def test_temporals_by_mode() -> None:
    assert EPOCH_MICROS == -1047174587392000
    date, wall3, wall6 = mysql.temporal("date"), mysql.temporal("datetime", 3), mysql.temporal("datetime", 6)
    day = dt.date(2017, 9, 15)
    assert (of(date, day), of(date, day, Modes(temporal="isostring"))) == (17424, "2017-09-15Z")
    assert (of(wall3, EPOCH_MICROS), of(wall6, EPOCH_MICROS)) == (-1047174587392, -1047174587392000)
    assert of(wall6, -1, Modes(temporal="connect")) == -1
    assert of(wall6, EPOCH_MICROS, Modes(temporal="nanoseconds")) == -1047174587392000000
    assert of(wall6, EPOCH_MICROS + 1, Modes(temporal="isostring")) == "1936-10-25T22:10:12.608001Z"
    names = {
        "adaptive_time_microseconds": ("Date", "MicroTime", "Timestamp", "MicroTimestamp"),
        "isostring": ("IsoDate", "IsoTime", "IsoTimestamp", "IsoTimestamp"),
        "microseconds": ("Date", "MicroTime", "MicroTimestamp", "MicroTimestamp"),
        "nanoseconds": ("Date", "NanoTime", "NanoTimestamp", "NanoTimestamp"),
    }
    for mode, expected in names.items():
        kinds = (date, mysql.temporal("time", 3), wall3, wall6)
        shown = tuple(_debezium_mysql.schema(kind, Modes(temporal=mode)).name for kind in kinds)
        assert shown == tuple(f"io.debezium.time.{name}" for name in expected)
    connect = [_debezium_mysql.schema(kind, Modes(temporal="connect")).name for kind in (date, mysql.temporal("time"), wall6)]
    assert connect == [f"org.apache.kafka.connect.data.{name}" for name in ("Date", "Time", "Timestamp")]


def test_postgresql_adaptive_times() -> None:
    modes = Modes(temporal="adaptive")
    assert _debezium_postgresql.schema(postgresql.temporal("time", 3), modes).name == "io.debezium.time.Time"
    assert of(postgresql.temporal("time", 3), 1_000, modes) == 1
    assert of(postgresql.temporal("time", 6), mysql.DAY, modes) == 86_400_000_000
    with pytest.raises(ValueError, match="adaptive"):
        _debezium_mysql.schema(mysql.temporal("time", 3), modes)


def test_mysql_time_beyond_a_day() -> None:
    kind = mysql.temporal("time", 6)
    assert (of(kind, -mysql.TIME_LIMIT), of(kind, mysql.TIME_LIMIT)) == (-3_020_399_000_000, 3_020_399_000_000)
    for mode in ("connect", "isostring"):
        modes = Modes(temporal=mode)
        assert [of(kind, v, modes) for v in (-1, mysql.DAY + 1, mysql.TIME_LIMIT)] == [None, None, None]
    assert of(kind, mysql.DAY, Modes(temporal="connect")) == 86_400_000
    assert of(kind, mysql.DAY, Modes(temporal="isostring")) == "00:00:00Z"


def test_zoned_timestamps_have_a_fixed_width_from_2_2() -> None:
    noon = mysql.wall("2020-01-01")
    kind = postgresql.temporal("timestamptz", 6)
    assert of(kind, noon, Modes((1, 4))) == "2020-01-01T00:00:00Z"
    assert of(kind, noon) == "2020-01-01T00:00:00.000000Z"
    assert [zoned_text(noon + f, None) for f in (100_000, 123_000, 123_456)] == [
        "2020-01-01T00:00:00.1Z",
        "2020-01-01T00:00:00.123Z",
        "2020-01-01T00:00:00.123456Z",
    ]
    assert of(mysql.temporal("timestamp"), noon) == "2020-01-01T00:00:00Z"
    assert of(mysql.temporal("timestamp", 3), noon) == "2020-01-01T00:00:00.000Z"


def test_years_beyond_four_digits() -> None:
    """debezium#datetime-units: 294247-01-01T23:59:59.999999 is 9223371331199999999 microseconds."""
    assert zoned_text(9223371331199999999, None) == "+294247-01-01T23:59:59.999999Z"
    assert civil(-719_528) == (0, 1, 1)
    assert (iso_date(-719_529), iso_date(-719_162)) == ("-0001-12-31", "0001-01-01")


def test_zero_dates_and_years() -> None:
    """debezium#year, debezium#two-digit-years."""
    zero = ZeroDate()
    for name in ("date", "datetime-0", "datetime-6"):
        assert of(mysql.TYPES[name], zero) is None
        assert of(mysql.TYPES[name], zero, nullable=False) == 0
    assert of(mysql.temporal("timestamp"), zero) == "1970-01-01T00:00:00Z"
    assert of(mysql.temporal("timestamp"), zero, Modes((3, 6))) is None
    assert of(mysql.temporal("timestamp"), zero, snapshot=True) is None
    assert (of(mysql.year(), 0), set(cell(mysql.year(), 0).options)) == (1900, {0, 1900})
    for year, shown in ((1, 2001), (69, 2069), (70, 1970), (99, 1999), (100, 100)):
        assert cell(mysql.temporal("date"), dt.date(year, 1, 2)).value == dt.date(shown, 1, 2)


def test_intervals_and_zoned_times() -> None:
    every = "1 year 2 mons 3 days 04:05:06.78"
    kind = postgresql.temporal("interval")
    assert of(kind, every) == 37091106780000
    assert of(kind, every, Modes(interval="string")) == "P1Y2M3DT4H5M6.78S"
    assert of(kind, "00:00:00", Modes(interval="string")) == "P0Y0M0DT0H0M0S"
    assert of(kind, "-1 days", Modes(interval="string")).startswith("P0Y0M-1DT")
    assert of(postgresql.temporal("timetz"), "13:51:30.123789+02") == "11:51:30.123789Z"


# Numbers and bits


def test_integers_and_floats_by_release() -> None:
    expected = dict(
        [
            *(("tinyint", "int16"), ("bool", "int16"), ("unsigned-tinyint", "int16"), ("smallint", "int16")),
            *(("unsigned-smallint", "int32"), ("mediumint", "int32"), ("unsigned-mediumint", "int32"), ("int", "int32")),
            *(("unsigned-int", "int64"), ("bigint", "int64"), ("unsigned-bigint", "int64")),
        ]
    )
    assert {name: _debezium_mysql.schema(mysql.TYPES[name], Modes()).type for name in expected} == expected
    number = mysql.to_float32(3.3)
    (new, old) = (_debezium_mysql.wire(mysql.real("float"), number, Modes(r)) for r in ((2, 0), (1, 9)))
    assert (new.schema.type, new.json) == ("float", "3.3")
    assert (old.schema.type, old.json) == ("double", "3.299999952316284")
    assert [_debezium_mysql.wire(mysql.real("float"), v, Modes()).json for v in (1e10, 1.401298464324817e-45)] == [
        "1.0E10",
        "1.4E-45",
    ]
    assert [of(postgresql.real("double precision"), v) for v in (math.inf, -math.inf)] == ["Infinity", "-Infinity"]


@pytest.mark.parametrize(
    ("type", "value", "wire"),
    [
        *((postgresql.bit(2), 0b11, "Aw=="), (postgresql.bit(7), 0b1000000, "QA==")),
        *((postgresql.bit(24), 0b000000110000001000000001, "AQID"), (postgresql.bit(64), 1 << 63, "AAAAAAAAAIA=")),
        *((postgresql.bit(64), 1, "AQ=="), (postgresql.bit(2), 0, ""), (postgresql.bit(8), 0, "")),
        (postgresql.bit(3, varying=True), 0b101, "BQ=="),
        (postgresql.bit(33, varying=True), 0b111011010001000110000001000000001, "AQIj2gE="),
        *((mysql.bit(64), 1, "AQAAAAAAAAA="), (mysql.bit(8), 0, "AA=="), (mysql.bit(10), 0b0100000010, "AgE=")),
        *((mysql.bit(1), 1, True), (postgresql.boolean(), 0, False)),
    ],
)
def test_bits(type: SourceType, value: int, wire: Any) -> None:
    assert of(type, value) == wire


# Texts, binaries, composites, the placeholder


def test_binaries_by_mode() -> None:
    kind, raw = mysql.binary("varbinary", 8), b"\xfb\xff\xfe"
    shown = [of(kind, raw, Modes(binary=mode)) for mode in ("bytes", "base64", "base64-url-safe", "hex")]
    assert shown == ["+//+", "+//+", "-__-", "fbfffe"]
    types = [_debezium_mysql.schema(kind, Modes(binary=mode)).type for mode in ("bytes", "base64")]
    assert types == ["bytes", "string"]
    assert (of(mysql.binary("binary", 4), b"ab"), cell(mysql.binary("binary", 4), b"ab").value) == ("YWIAAA==", b"ab\x00\x00")


def test_labels_are_escaped_when_streamed() -> None:
    """debezium#enum-label."""
    kind = mysql.enum_of("a", "b,c", "")
    assert dict(_debezium_mysql.schema(kind, Modes()).parameters) == {"allowed": "a,b\\,c,"}
    assert (of(kind, 2), of(kind, 2, snapshot=True), of(kind, 0)) == ("b\\,c", "b,c", "")
    assert set(cell(kind, 0).options) == {0, 3}
    assert [of(mysql.set_of("a", "b", "c"), v) for v in (0, 5, 7)] == ["", "a,c", "a,b,c"]
    labels = postgresql.enum_of("a", "b,c")
    assert dict(_debezium_postgresql.schema(labels, Modes()).parameters) == {"allowed": "a,b,c"}
    assert of(labels, "b,c") == "b,c"


def test_json_is_text_and_differs_between_stream_and_snapshot() -> None:
    value = Json({"bb": [1.0, None], "a": 2})
    assert of(mysql.json(), value) == '{"a":2,"bb":[1.0,null]}'
    assert of(mysql.json(), value, snapshot=True) == '{"a": 2, "bb": [1.0, null]}'
    assert of(mysql.json(), Json(1e20)) == "1.0E20"
    assert of(mysql.json(), Json(1e20), snapshot=True) == "1e20"


def test_arrays_and_hstore() -> None:
    assert of(postgresql.array("integer"), Json([1, None])) == [1, None]
    assert of(postgresql.array("text"), Json(["a", None])) == ["a", None]
    assert of(postgresql.hstore(), Json({"a": "x", "b": None})) == '{"a":"x","b":null}'
    assert of(postgresql.hstore(), Json({"k": "v", "n": None, 'q"x': "é"})) == '{"q\\"x":"é","k":"v","n":null}'
    assert of(postgresql.hstore(), Json({"a": "1"}), Modes(hstore="map")) == {"a": "1"}


def test_arrays_have_their_elements_forms() -> None:
    """debezium#arrays: literals of recorded messages."""

    def shown(element: SourceType, *items: Any, modes: Modes | None = None) -> Any:
        return of(postgresql.array_of(element), Json(list(items)), modes or Modes())

    assert shown(postgresql.numeric(10, 2), Decimal("1.50"), Decimal("-0.01"), None) == ["AJY=", "/w==", None]
    assert shown(postgresql.numeric(), Decimal("1.5")) == [{"scale": 1, "value": "Dw=="}]
    assert shown(postgresql.temporal("date"), "1970-01-01", "2020-02-29") == [0, 18321]
    assert shown(postgresql.temporal("timestamp"), "2020-01-01 00:00:00.123456") == [1577836800123456]
    assert shown(postgresql.temporal("timestamptz"), "2020-01-01 00:00:00.1+00") == ["2020-01-01T00:00:00.100000Z"]
    assert shown(postgresql.temporal("timestamptz"), "2020-01-01 00:00:00.1+00", modes=Modes((1, 4))) == [
        "2020-01-01T00:00:00.1Z"
    ]
    assert shown(postgresql.bytea(), "\\x00ff", "\\x") == ["AP8=", ""]
    assert shown(postgresql.boolean(), True, False, None) == [True, False, None]
    assert shown(postgresql.real(), 1.1, math.nan, math.inf) == [1.1, "NaN", "Infinity"]
    assert shown(postgresql.integer(), [1, 2], [3, 4]) == [None, None]
    labels = _debezium_postgresql.schema(postgresql.array_of(postgresql.enum_of("a")), Modes())
    assert labels.items is not None and not labels.items.optional
    uuids = unavailable(postgresql.array_of(postgresql.uuid()), Modes(), True)
    assert uuids.json == '["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]'


def test_what_no_type_of_python_holds() -> None:
    """debezium#infinite-dates, debezium#special-numerics, debezium#negative-scale, debezium#point."""
    assert of(postgresql.temporal("date"), "infinity") == -2147472692
    assert of(postgresql.temporal("timestamp", 3), "-infinity") == -9223372036832400
    assert of(postgresql.temporal("timestamptz"), "infinity") == "infinity"
    assert of(postgresql.temporal("date"), -735160) == -735160
    assert of(postgresql.temporal("timestamptz", 3), -62135683200000000) == "0000-12-31T00:00:00.000Z"
    assert cell(postgresql.temporal("date"), "infinity").state is State.ANY
    assert of(postgresql.numeric(), Decimal("NaN")) is None
    assert of(postgresql.numeric(), Decimal("-Infinity"), Modes(decimal="string")) == "NEGATIVE_INFINITY"
    negative = postgresql.numeric(5, -2)
    assert dict(_debezium_postgresql.schema(negative, Modes()).parameters) == {"scale": "2046", "connect.decimal.precision": "5"}
    assert of(negative, Decimal(0), Modes((1, 4), decimal="string")) == "0E-2046"
    assert negative.spark == "decimal(7,0)"
    assert [postgresql.fits(negative, Decimal(number)) for number in (1200, 1210)] == [True, False]
    point = {"x": 1.5, "y": -2.0, "wkb": "AQEAAAAAAAAAAAD4PwAAAAAAAADA", "srid": None}
    assert of(postgresql.point(), Json({"x": 1.5, "y": -2.0})) == point
    assert (of(postgresql.bit(1, varying=True), ""), of(postgresql.bit(None, varying=True), "")) == (None, "")


def test_decimals_as_json_numbers() -> None:
    """connect#decimal-numeric."""
    found = _debezium_mysql.wire(mysql.decimal(65, 30), Decimal("1E-30"), Modes(decimal="numeric"))
    assert (found.json, found.cell.value) == ("1E-30", Decimal("1E-30"))
    assert _debezium_mysql.wire(mysql.decimal(10, 4), Decimal(0), Modes(decimal="numeric")).json == "0.0000"


def test_the_placeholder_of_unavailable_values() -> None:
    """debezium#unavailable-value."""

    def shown(name: str, modes: Modes | None = None) -> Any:
        return json.loads(unavailable(postgresql.TYPES[name], modes or Modes(), True).json)

    assert [shown(name) for name in ("text", "json", "jsonb")] == ["__debezium_unavailable_value"] * 3
    assert shown("hstore") == '{"__debezium_unavailable_value":"__debezium_unavailable_value"}'
    assert shown("hstore", Modes((1, 9))) == "__debezium_unavailable_value"
    assert [shown("bytea", Modes(binary=mode)) for mode in ("base64", "base64-url-safe")] == [None, None]
    assert [shown(name) for name in ("numeric", "numeric-65-30")] == [None, None]
    assert shown("numeric", Modes(decimal="string")) == "__debezium_unavailable_value"
    assert shown("bytea") == "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
    assert shown("bytea", Modes(binary="hex")) == "__debezium_unavailable_value"
    assert shown("text-array") == ["__debezium_unavailable_value"]
    numbers = "95 95 100 101 98 101 122 105 117 109 95 117 110 97 118 97 105 108 97 98 108 101 95 118 97 108 117 101"
    assert shown("integer-array") == list(map(int, numbers.split()))
    assert shown("text-array", Modes((1, 9))) is None
    genuine = cell(postgresql.text("text"), UNAVAILABLE)
    assert (genuine.state, genuine.text, genuine.cls) == (State.ANY, UNAVAILABLE, "unavailable")


NEW = Modes()


def test_what_the_statement_spells_while_it_is_streamed() -> None:
    """debezium#declared-types."""

    def shown(type: SourceType, declared: str, value: Value, modes: Modes = NEW, snapshot: bool = False) -> Any:
        return json.loads(_debezium_mysql.wire(type, value, modes, snapshot=snapshot, declared=declared).json)

    old, double, single = Modes((1, 4)), mysql.real("double"), mysql.real("float")
    zerofill = mysql.integer("int", zerofill=True)
    assert _debezium_mysql.schema(double, NEW, True, "REAL").type == "float"
    assert shown(double, "REAL", 123456789012345678.0) == 1.23456791e17
    assert shown(double, "REAL", -1.7976931348623157e308) == "-Infinity"
    assert _debezium_mysql.schema(single, NEW, True, "FLOAT(7,3)").type == "double"
    assert shown(single, "FLOAT(7,3)", mysql.to_float32(1.1)) == 1.100000023841858
    assert shown(single, "FLOAT(7,3)", mysql.to_float32(1.1), snapshot=True) == 1.100000023841858
    assert (shown(zerofill, "INT ZEROFILL", 4294967295, old), shown(zerofill, "INT ZEROFILL", 4294967295)) == (-1, 4294967295)
    assert shown(mysql.binary("binary", 6), "CHAR", b"\xff\xfe\0\0\0\0") == "\xff\xfe"
    assert _debezium_mysql.schema(mysql.text("longtext"), NEW, True, "JSON").name == "io.debezium.data.Json"
    assert label("a,b\\c", True) == "a\\,b\\\\c"
    assert shown(mysql.set_of("a", "b\\c"), "SET", 3) == "a,b\\\\c"
    assert shown(mysql.set_of("a", "b\\c"), "SET", 3, snapshot=True) == "a,b\\c"


def test_an_interval_beyond_64_bits_is_their_limit() -> None:
    """debezium#interval."""
    years = "-178000000 years"
    assert of(postgresql.temporal("interval"), years) == -(1 << 63)


def test_a_decoder_may_refuse_what_nanoseconds_made_of_a_datetime_beyond_64_bits() -> None:
    """Recorded of 3.5: 1000-01-01 00:00:00.000001 is 6283264147419104232 nanoseconds, which no DATETIME(6) has."""
    modes = Modes(temporal="nanoseconds")
    kind = mysql.temporal("datetime", 6)
    beyond = _debezium_mysql.wire(kind, -30_610_223_999_999_999, modes)
    assert (beyond.value, beyond.cell.state, beyond.corrupt) == (6_283_264_147_419_104_232, State.ANY, True)
    assert not _debezium_mysql.wire(kind, 1, modes).corrupt


@pytest.mark.parametrize(
    ("fsp", "value", "wrong"),
    [
        *((0, -3600, -3843000000), (1, -3600, -3845147483), (6, -3600, -3844048576), (0, -3723, -3723000000)),
        *((4, -3723, -3724147483), (5, -3723, -3723048576), (3, -1, -2147483), (6, 3600, 3600000000)),
    ],
)
def test_negative_times_without_a_fraction_up_to_1_9(fsp: int, value: int, wrong: int) -> None:
    """debezium#negative-time: literals of what the releases wrote."""
    kind = mysql.temporal("time", fsp)
    values = {}
    for release in ((1, 9), (2, 5)):
        values[release] = json.loads(_debezium_mysql.wire(kind, value * 1_000_000, Modes(release)).json or "")
    assert values == {(1, 9): wrong, (2, 5): value * 1_000_000}


def test_binary_without_a_length_is_not_padded_in_a_stream() -> None:
    """debezium#declared-types: x'00' is stored as no byte."""
    type = mysql.binary("binary", 1)
    shown = [
        _debezium_mysql.wire(type, value, Modes(), declared=text).json
        for value in (b"\0", b"a")
        for text in ("BINARY", "BINARY(1)")
    ]
    assert shown == ['""', '"AA=="', '"YQ=="', '"YQ=="']
