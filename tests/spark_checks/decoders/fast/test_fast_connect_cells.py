"""Cells of the fast decoder of Debezium: literals, what is left to the reference decoder, and numbers of any bytes."""

import base64
import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.sources import mysql, postgresql
from spark_checks.decoders.debezium_json import UNSENT
from spark_checks.decoders.fast.connect_cells import cells, form_of

LEFT = object()
"""The reference decoder has to read the cell."""

KINDS = {
    "tinyint(1)": mysql.integer("tinyint"),
    "int": mysql.integer("int"),
    "int unsigned": mysql.integer("int", unsigned=True),
    "bigint unsigned": mysql.integer("bigint", unsigned=True),
    "year": mysql.year(),
    "decimal(5,2)": mysql.decimal(5, 2),
    "decimal(5,2) unsigned": mysql.decimal(5, 2, unsigned=True),
    "decimal(30,2)": mysql.decimal(30, 2),
    "float": mysql.real("float"),
    "double": mysql.real("double"),
    "double unsigned": mysql.real("double", unsigned=True),
    "bit(1)": mysql.bit(1),
    "bit(12)": mysql.bit(12),
    "date": mysql.temporal("date"),
    "datetime(3)": mysql.temporal("datetime", 3),
    "timestamp": mysql.temporal("timestamp"),
    "time": mysql.temporal("time"),
    "varchar": mysql.text("varchar", 9),
    "json": mysql.json(),
    "varbinary": mysql.binary("varbinary", 9),
    "enum": mysql.enum_of("a", "b,c"),
    "set": mysql.set_of("a", "b", "c"),
    "pg text": postgresql.text("text"),
}
SECOND = dt.datetime(2024, 2, 29, 23, 59, 59)

READ = [
    ("int", "number", -5, -5),
    ("int", "number", 1 << 31, LEFT),
    ("int unsigned", "number", (1 << 32) - 1, (1 << 32) - 1),
    ("int unsigned", "number", -1, LEFT),
    ("bigint unsigned", "number", -1, Decimal((1 << 64) - 1)),
    ("bigint unsigned", "decimal", "AQ==", Decimal(1)),
    ("bigint unsigned", "decimal", "AP//////////", LEFT),
    ("bigint unsigned", "decimal", "/w==", LEFT),
    ("tinyint(1)", "boolean", True, 1),
    ("year", "number", 0, 0),
    ("year", "number", 1900, 1900),
    ("year", "number", 1899, LEFT),
    ("decimal(5,2)", "decimal", "MDk=", Decimal("123.45")),
    ("decimal(5,2)", "decimal", "AYaf", Decimal("999.99")),
    ("decimal(5,2)", "decimal", "AYag", LEFT),
    ("decimal(5,2)", "decimal", "/w==", Decimal("-0.01")),
    ("decimal(5,2)", "decimal", "/x==", LEFT),
    ("decimal(5,2)", "decimal", "", LEFT),
    ("decimal(5,2)", "decimal", "/w", LEFT),
    ("decimal(5,2)", "decimal", "/w==\n", LEFT),
    ("decimal(5,2)", "decimal", "-w==", LEFT),
    ("decimal(5,2) unsigned", "decimal", "/w==", LEFT),
    ("decimal(30,2)", "decimal", base64.b64encode((10**29).to_bytes(13, "big")).decode(), Decimal(10**27)),
    ("decimal(30,2)", "decimal", base64.b64encode((10**30).to_bytes(13, "big")).decode(), LEFT),
    ("float", "double", 1.5, 1.5),
    ("float", "double", 3.402823466385288598e38, LEFT),
    ("float", "double", 1e-45, LEFT),
    # The middle between 1 and the next float.
    ("float", "double", 1.0 + 2.0**-24, LEFT),
    ("double", "double", -0.0, -0.0),
    ("double unsigned", "double", -0.5, LEFT),
    ("bit(1)", "boolean", False, False),
    ("bit(12)", "bits", "AQI=", 0x201),
    ("bit(12)", "bits", "ABA=", LEFT),
    ("date", "days", 19_782, dt.date(2024, 2, 29)),
    ("date", "days", 1 << 31, LEFT),
    ("datetime(3)", "ms", 1_709_251_199_120, SECOND.replace(microsecond=120_000)),
    ("datetime(3)", "us", -1, dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
    ("datetime(3)", "ns", 1_709_251_199_120_000_000, SECOND.replace(microsecond=120_000)),
    ("datetime(3)", "ns", 1, LEFT),
    ("datetime(3)", "ms", 253_402_300_800_000, LEFT),
    ("datetime(3)", "ms", 1 << 62, LEFT),
    ("timestamp", "text", "2024-02-29T23:59:59Z", SECOND.replace(tzinfo=dt.UTC)),
    ("timestamp", "text", "2024-03-01T01:59:59.000001+02:00", SECOND.replace(microsecond=1, tzinfo=dt.UTC)),
    ("timestamp", "text", "2024-02-29T23:59:59", LEFT),
    ("timestamp", "text", "0000-00-00T00:00:00Z", LEFT),
    ("time", "us", 3_723_000_000, "01:02:03"),
    ("time", "us", 3_723_000_100, "01:02:03.000100"),
    ("time", "ms", 3_723_004, "01:02:03.004000"),
    ("time", "us", 86_400_000_000, LEFT),
    ("time", "us", -1, LEFT),
    ("varchar", "text", "é", "é"),
    ("varchar", "text", UNSENT[0], UNSENT[0]),
    ("json", "text", '{"a":\n1}', '{"a":\n1}'),
    ("json", "text", "1", LEFT),
    ("varbinary", "base64", "AP8=", b"\x00\xff"),
    ("varbinary", "base64", "", b""),
    ("varbinary", "base64", "AP8", LEFT),
    ("enum", "text", "b\\,c", 2),
    ("enum", "text", "b,c", 2),
    ("enum", "text", "", 0),
    ("enum", "text", "x", LEFT),
    ("set", "text", "a,c", Decimal(5)),
    ("set", "text", "", Decimal(0)),
    ("set", "text", "a,x", LEFT),
    ("pg text", "text", UNSENT[0], None),
]


def read(kind, form, values):
    cell = cells(KINDS[kind], form, KINDS[kind].scale or 0, UNSENT)
    found, left = cell.read(pa.array(values, cell.wire))
    assert found.type == cell.type
    assert left is None or (left.null_count == 0 and len(left) == len(found))
    return found.to_pylist(), left.to_pylist() if left is not None else [False] * len(values)


@pytest.mark.parametrize(("kind", "form", "value", "expected"), READ)
def test_a_cell_is_read_or_left(kind, form, value, expected):
    try:
        assert read(kind, form, [None, value]) == ([None, None if expected is LEFT else expected], [False, expected is LEFT])
    except pa.ArrowInvalid:
        # The kernel does not say which cell it is: the messages are divided until this one stands alone.
        assert expected is LEFT


@pytest.mark.parametrize(
    ("kind", "name", "form"),
    [
        ("int32", None, "number"),
        ("int32", "io.debezium.time.Date", "days"),
        ("int64", "io.debezium.time.Timestamp", "ms"),
        ("int64", "io.debezium.time.MicroTimestamp", "us"),
        ("int64", "com.xxx.NanoTime", "ns"),
        ("int16", "io.debezium.time.Year", "number"),
        ("bytes", "org.apache.kafka.connect.data.Decimal", "decimal"),
        ("bytes", "io.debezium.data.Bits", "bits"),
        ("bytes", None, "base64"),
        ("string", "io.debezium.time.ZonedTimestamp", "text"),
        ("double", None, "double"),
        ("boolean", None, "boolean"),
        ("struct", "io.debezium.data.VariableScaleDecimal", ""),
        ("array", None, ""),
    ],
)
def test_the_schema_of_a_field_tells_the_form(kind, name, form):
    assert form_of(kind, name) == form


@pytest.mark.parametrize(
    ("kind", "form", "scale"),
    [("decimal(5,2)", "decimal", 3), ("decimal(5,2)", "text", 2), ("varbinary", "hex", 0), ("date", "text", 0), ("int", "", 0)],
)
def test_other_forms_are_left_to_the_reference_decoder(kind, form, scale):
    assert cells(KINDS[kind], form, scale) is None


def encoded(number):
    size = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return base64.b64encode(number.to_bytes(size, "big", signed=True)).decode()


@given(st.lists(st.none() | st.integers(-(1 << 71), 1 << 71), min_size=1, max_size=20))
def test_numbers_in_base64_are_their_digits_or_left(numbers):
    found, left = read("decimal(5,2)", "decimal", [None if n is None else encoded(n) for n in numbers])
    inside = [n is not None and abs(n) < 10**5 for n in numbers]
    assert found == [Decimal(n).scaleb(-2) if fits else None for n, fits in zip(numbers, inside, strict=True)]
    assert left == [n is not None and not fits for n, fits in zip(numbers, inside, strict=True)]


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_a_double_is_the_float_of_its_digits_or_left(numbers):
    found, left = read("float", "double", numbers)
    for number, value, is_left in zip(numbers, found, left, strict=True):
        if number is None:
            assert (value, is_left) == (None, False)
        elif not is_left:
            assert value == pa.scalar(repr(number)).cast(pa.float32()).as_py()
