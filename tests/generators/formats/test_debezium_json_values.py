"""Values of Debezium's JSON against vectors that were computed from the sources, and output of the
releases.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

import pytest

from generators.errors import Refused
from generators.families.debezium import mysql as _debezium_mysql
from generators.families.debezium import postgresql as _debezium_postgresql
from generators.families.debezium.postgresql import UNAVAILABLE, unavailable
from generators.families.debezium.values import Modes
from generators.families.java_text import java_decimal
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


def test_decimals_as_text_have_an_exponent_up_to_1_8() -> None:
    kind = mysql.decimal(20, 10)
    assert of(kind, Decimal("0E-10"), Modes("string", plain_decimals=False)) == "0E-10"
    assert of(kind, Decimal("0E-10"), Modes("string")) == "0.0000000000"
    assert [java_decimal(1, scale, plain=False) for scale in (6, 7, 20, 100)] == [
        "0.000001",
        "1E-7",
        "1E-20",
        "1E-100",
    ]
    assert java_decimal(-12345, 12, plain=False) == "-1.2345E-8"
    assert of(kind, Decimal("-1.5"), Modes(decimal="string")) == "-1.5000000000"


def test_decimals_as_doubles() -> None:
    modes = Modes(decimal="double")
    exact = cell(mysql.decimal(10, 2), Decimal("123.45"), modes)
    assert (exact.state, exact.text, exact.json, exact.value) == (
        State.VALUE,
        "123.45",
        True,
        Decimal("123.45"),
    )
    lost = cell(mysql.decimal(20, 10), Decimal("1234567890.1234567890"), modes)
    assert lost.state is State.ONE_OF
    assert Decimal("1234567890.1234567890") not in lost.options
    assert lost.reason
    wide = _debezium_mysql.wire(mysql.decimal(20, 10), Decimal("9999999999.9999999999"), modes)
    assert (wide.cell.state, wide.corrupt) == (State.ANY, True)


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
    wire = _debezium_postgresql.wire(kind, text, Modes())
    assert (wire.schema.type, wire.schema.name, wire.value, wire.cell.cls) == (
        "bytes",
        "",
        shown.encode(),
        "unknown-type",
    )
    assert wire.json == f'"{base64.b64encode(shown.encode()).decode()}"'
    assert of(kind, text, Modes(binary="hex")) == shown.encode().hex()
    assert of(kind, None) is None


# Dates and times

EPOCH_MICROS = mysql.wall("1936-10-25T22:10:12.608")


def test_temporals_by_mode() -> None:
    assert EPOCH_MICROS == -1047174587392000
    date, wall3, wall6 = (
        mysql.temporal("date"),
        mysql.temporal("datetime", 3),
        mysql.temporal("datetime", 6),
    )
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
    connect = [
        _debezium_mysql.schema(kind, Modes(temporal="connect")).name
        for kind in (date, mysql.temporal("time"), wall6)
    ]
    assert connect == [
        f"org.apache.kafka.connect.data.{name}" for name in ("Date", "Time", "Timestamp")
    ]


def test_postgresql_adaptive_times() -> None:
    modes = Modes(temporal="adaptive")
    assert (
        _debezium_postgresql.schema(postgresql.temporal("time", 3), modes).name
        == "io.debezium.time.Time"
    )
    assert of(postgresql.temporal("time", 3), 1_000, modes) == 1
    assert of(postgresql.temporal("time", 6), mysql.DAY, modes) == 86_400_000_000
    with pytest.raises(ValueError, match="adaptive"):
        _debezium_mysql.schema(mysql.temporal("time", 3), modes)


def test_microseconds_beyond_64_bits_stop_at_the_limit_and_wrap() -> None:
    """debezium#beyond-micros."""
    kind = postgresql.temporal("timestamp", 6)
    limit = (1 << 63) - 1
    assert [of(kind, micros) for micros in (limit, limit + 1, 9_224_318_015_999_999_999)] == [
        9223372036854775807,
        -9223372036854775808,
        -9223372036853775810,
    ]
    assert of(kind, 9_224_318_015_000_000_000) == 9223372036854775807


def test_mysql_time_beyond_a_day() -> None:
    kind = mysql.temporal("time", 6)
    assert (of(kind, -mysql.TIME_LIMIT), of(kind, mysql.TIME_LIMIT)) == (
        -3_020_399_000_000,
        3_020_399_000_000,
    )
    for mode in ("connect", "isostring"):
        modes = Modes(temporal=mode)
        assert [of(kind, v, modes) for v in (-1, mysql.DAY + 1, mysql.TIME_LIMIT)] == [
            None,
            None,
            None,
        ]
    assert of(kind, mysql.DAY, Modes(temporal="connect")) == 86_400_000
    assert of(kind, mysql.DAY, Modes(temporal="isostring")) == "00:00:00Z"


def test_binaries_by_mode() -> None:
    kind, raw = mysql.binary("varbinary", 8), b"\xfb\xff\xfe"
    shown = [
        of(kind, raw, Modes(binary=mode)) for mode in ("bytes", "base64", "base64-url-safe", "hex")
    ]
    assert shown == ["+//+", "+//+", "-__-", "fbfffe"]
    types = [_debezium_mysql.schema(kind, Modes(binary=mode)).type for mode in ("bytes", "base64")]
    assert types == ["bytes", "string"]
    assert (of(mysql.binary("binary", 4), b"ab"), cell(mysql.binary("binary", 4), b"ab").value) == (
        "YWIAAA==",
        b"ab\x00\x00",
    )


def test_json_is_text_and_differs_between_stream_and_snapshot() -> None:
    value = Json({"bb": [1.0, None], "a": 2})
    assert of(mysql.json(), value) == '{"a":2,"bb":[1.0,null]}'
    assert of(mysql.json(), value, snapshot=True) == '{"a": 2, "bb": [1.0, null]}'
    assert of(mysql.json(), Json(1e20)) == "1.0E20"
    assert of(mysql.json(), Json(1e20), snapshot=True) == "1e20"


def test_a_decoder_may_refuse_what_nanoseconds_made_of_a_datetime_beyond_64_bits() -> None:
    """Recorded of 3.5: 1000-01-01 00:00:00.000001 is 6283264147419104232 nanoseconds, which no
    DATETIME(6) has.
    """
    modes = Modes(temporal="nanoseconds")
    kind = mysql.temporal("datetime", 6)
    beyond = _debezium_mysql.wire(kind, -30_610_223_999_999_999, modes)
    assert (beyond.value, beyond.cell.state, beyond.corrupt) == (
        6_283_264_147_419_104_232,
        State.ANY,
        True,
    )
    assert not _debezium_mysql.wire(kind, 1, modes).corrupt


@pytest.mark.parametrize(
    ("fsp", "value", "wrong"),
    [
        *(
            (0, -3600, -3843000000),
            (1, -3600, -3845147483),
            (6, -3600, -3844048576),
            (0, -3723, -3723000000),
        ),
        *(
            (4, -3723, -3724147483),
            (5, -3723, -3723048576),
            (3, -1, -2147483),
            (6, 3600, 3600000000),
        ),
    ],
)
def test_negative_times_without_a_fraction_up_to_1_9(fsp: int, value: int, wrong: int) -> None:
    """debezium#negative-time: literals of what the releases wrote."""
    kind = mysql.temporal("time", fsp)
    time = value * 1_000_000
    assert of(kind, time, Modes(misreads_time=True)) == wrong
    assert of(kind, time, Modes()) == time


def test_binary_without_a_length_is_not_padded_in_a_stream() -> None:
    """debezium#declared-types: x'00' is stored as no byte."""
    type = mysql.binary("binary", 1)
    shown = [
        _debezium_mysql.wire(type, value, Modes(), declared=text).json
        for value in (b"\0", b"a")
        for text in ("BINARY", "BINARY(1)")
    ]
    assert shown == ['""', '"AA=="', '"YQ=="', '"YQ=="']


@pytest.mark.parametrize(
    ("digits", "text", "wire", "meant"),
    [
        *(
            (2, "2.50", b"\x00\xfa", "2.50"),
            (0, "2.50", b"\x03", "3"),
            (0, "-2.50", b"\xfd", "-3"),
            (0, "0.49", b"\x00", "0"),
        ),
        (0, "92233720368547758.07", (92233720368547758).to_bytes(8, "big"), "92233720368547758"),
        *(
            (4, "2.50", (25000).to_bytes(2, "big"), "2.50"),
            (4, "-0.01", (-100).to_bytes(1, "big", signed=True), "-0.01"),
        ),
    ],
)
def test_money_is_rounded_half_up_to_its_fraction_digits(
    digits: int, text: str, wire: bytes, meant: str
) -> None:
    """debezium#money."""
    rounded = _debezium_postgresql.wire(
        postgresql.money(), Decimal(text), Modes(money_digits=digits)
    )
    assert (rounded.value, rounded.cell.value, rounded.schema.parameters) == (
        wire,
        Decimal(meant),
        (("scale", str(digits)),),
    )
    doubled = _debezium_postgresql.wire(
        postgresql.money(), Decimal(text), Modes(money_digits=digits), snapshot=True
    )
    assert text.startswith("9") or doubled.value == wire
    shown = _debezium_postgresql.wire(
        postgresql.money(), Decimal(text), Modes(decimal="string", money_digits=digits)
    )
    assert shown.value == text


def test_money_follows_the_mode_from_1_8() -> None:
    assert (
        of(postgresql.money(), Decimal("123.45"), Modes("string", money_follows_decimal=False))
        == "MDk="
    )
    assert of(postgresql.money(), Decimal("123.45"), Modes("string")) == "123.45"


def test_unsigned_bigint() -> None:
    kind, largest = mysql.integer("bigint", unsigned=True), (1 << 64) - 1
    assert (of(kind, largest), cell(kind, largest).value) == (-1, largest)
    assert of(kind, 1 << 63) == -(1 << 63)
    assert of(kind, largest, Modes(bigint_unsigned="precise")) == "AP//////////"
    parameters = [
        _debezium_mysql.schema(
            kind, Modes(bigint_unsigned="precise", unsigned_precision=precision)
        ).parameters
        for precision in (0, 20)
    ]
    assert parameters == [(("scale", "0"),), (("scale", "0"), ("connect.decimal.precision", "20"))]


def test_zero_dates_and_years() -> None:
    """debezium#year, debezium#two-digit-years."""
    zero = ZeroDate()
    for name in ("date", "datetime-0", "datetime-6"):
        assert of(mysql.TYPES[name], zero) is None
        assert of(mysql.TYPES[name], zero, nullable=False) == 0
    assert of(mysql.temporal("timestamp"), zero) == "1970-01-01T00:00:00Z"
    assert of(mysql.temporal("timestamp"), zero, Modes(zero_timestamp_is_epoch=False)) is None
    assert of(mysql.temporal("timestamp"), zero, snapshot=True) is None
    assert (of(mysql.year(), 0), set(cell(mysql.year(), 0).options)) == (1900, {0, 1900})
    for year, shown in ((1, 2001), (69, 2069), (70, 1970), (99, 1999), (100, 100)):
        assert cell(mysql.temporal("date"), dt.date(year, 1, 2)).value == dt.date(shown, 1, 2)


def test_integers_and_floats_by_release() -> None:
    expected = dict(
        [
            *(
                ("tinyint", "int16"),
                ("bool", "int16"),
                ("unsigned-tinyint", "int16"),
                ("smallint", "int16"),
            ),
            *(
                ("unsigned-smallint", "int32"),
                ("mediumint", "int32"),
                ("unsigned-mediumint", "int32"),
                ("int", "int32"),
            ),
            *(("unsigned-int", "int64"), ("bigint", "int64"), ("unsigned-bigint", "int64")),
        ]
    )
    assert {
        name: _debezium_mysql.schema(mysql.TYPES[name], Modes()).type for name in expected
    } == expected
    number = mysql.to_float32(3.3)
    (new, old) = (
        _debezium_mysql.wire(mysql.real("float"), number, Modes(float_schema=schema))
        for schema in ("float", "double")
    )
    assert (new.schema.type, new.json) == ("float", "3.3")
    assert (old.schema.type, old.json) == ("double", "3.299999952316284")
    assert [
        _debezium_mysql.wire(mysql.real("float"), v, Modes()).json
        for v in (1e10, 1.401298464324817e-45)
    ] == [
        "1.0E10",
        "1.4E-45",
    ]
    assert [of(postgresql.real("double precision"), v) for v in (math.inf, -math.inf)] == [
        "Infinity",
        "-Infinity",
    ]


def test_the_placeholder_of_unavailable_values() -> None:
    """debezium#unavailable-value."""

    def shown(name: str, modes: Modes | None = None) -> Any:
        return json.loads(unavailable(postgresql.TYPES[name], modes or Modes(), True).json)

    assert [shown(name) for name in ("text", "json", "jsonb")] == [
        "__debezium_unavailable_value"
    ] * 3
    assert shown("hstore") == '{"__debezium_unavailable_value":"__debezium_unavailable_value"}'
    assert (
        shown("hstore", Modes(unavailable_hstore_is_object=False)) == "__debezium_unavailable_value"
    )
    assert [shown("bytea", Modes(binary=mode)) for mode in ("base64", "base64-url-safe")] == [
        None,
        None,
    ]
    assert [shown(name) for name in ("numeric", "numeric-65-30")] == [None, None]
    assert shown("numeric", Modes(decimal="string")) == "__debezium_unavailable_value"
    assert shown("bytea") == "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
    assert shown("bytea", Modes(binary="hex")) == "__debezium_unavailable_value"
    assert shown("text-array") == ["__debezium_unavailable_value"]
    numbers = "95 95 100 101 98 101 122 105 117 109 95 117 110 97 118 97 105 108 97 98 108 101 95 118 97 108 117 101"
    assert shown("integer-array") == list(map(int, numbers.split()))
    assert shown("text-array", Modes(unavailable_arrays=False)) is None
    genuine = cell(postgresql.text("text"), UNAVAILABLE)
    assert (genuine.state, genuine.text, genuine.cls) == (State.ANY, UNAVAILABLE, "unavailable")


def test_a_numeric_that_is_no_number_stops_the_connector_in_a_column_that_is_not_null() -> None:
    """debezium#special-numerics."""
    kind, nan = postgresql.numeric(12, 4), Decimal("NaN")
    assert of(kind, nan) is None
    assert of(kind, nan, Modes(decimal="string"), nullable=False) == "NAN"
    with pytest.raises(Refused, match="Debezium stops at NaN in a NOT NULL column of numeric"):
        of(kind, nan, nullable=False)
