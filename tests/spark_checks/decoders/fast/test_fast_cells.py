"""Cells of the fast decoders: literals, and kernels that agree with the plain reading of a text."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.sources import mysql
from spark_checks.decoders.fast.cells import MISFIT, Cells, arrow_type

UTC = dt.UTC
NAIVE = dt.datetime(2024, 2, 29, 23, 59, 59, 120_000)

KINDS = {
    "tinyint": mysql.integer("tinyint"),
    "tinyint unsigned": mysql.integer("tinyint", unsigned=True),
    "int": mysql.integer("int"),
    "int unsigned": mysql.integer("int", unsigned=True),
    "bigint": mysql.integer("bigint"),
    "bigint unsigned": mysql.integer("bigint", unsigned=True),
    "year": mysql.year(),
    "decimal(10,2)": mysql.decimal(10, 2),
    "decimal(10,2) unsigned": mysql.decimal(10, 2, unsigned=True),
    "decimal(5,0) unsigned": mysql.decimal(5, 0, unsigned=True),
    "decimal(50,2)": mysql.decimal(50, 2),
    "decimal(65,30)": mysql.decimal(65, 30),
    "float": mysql.real("float"),
    "double": mysql.real("double"),
    "double unsigned": mysql.real("double", unsigned=True),
    "bit(1)": mysql.bit(1),
    "bit(64)": mysql.bit(64),
    "date": mysql.temporal("date"),
    "datetime": mysql.temporal("datetime"),
    "datetime(2)": mysql.temporal("datetime", 2),
    "datetime(3)": mysql.temporal("datetime", 3),
    "timestamp": mysql.temporal("timestamp"),
    "time": mysql.temporal("time"),
    "time(3)": mysql.temporal("time", 3),
    "varchar(9)": mysql.text("varchar", 9),
    "json": mysql.json(),
    "varbinary(9)": mysql.binary("varbinary", 9),
}

READ = [
    ("int", "-5", -5),
    ("int", "007", 7),
    ("int", "+7", 7),
    ("bigint unsigned", "18446744073709551615", Decimal(18446744073709551615)),
    ("year", "0", 0),
    ("year", "2024", 2024),
    ("decimal(10,2)", "-0.5", Decimal("-0.5")),
    ("decimal(10,2)", "1.500", Decimal("1.5")),
    ("decimal(10,2)", "1e3", Decimal(1000)),
    ("decimal(65,30)", "1.50", "1.50"),
    ("float", "1.4E-45", 1.401298464324817e-45),
    ("double", "-0", -0.0),
    ("bit(1)", "1", True),
    ("bit(1)", "false", False),
    ("date", "2024-02-29", dt.date(2024, 2, 29)),
    ("date", "0000-00-00", None),
    ("date", "2024-00-10", None),
    ("datetime(2)", "2024-02-29 23:59:59.12", NAIVE),
    ("datetime(2)", "2024-02-29 23:59:59.120000", NAIVE),
    ("datetime", "0000-00-00 00:00:00", None),
    ("time(3)", "-838:59:59.000", "-838:59:59.000"),
    ("varchar(9)", "é", "é"),
    ("json", '{"a": "\n"}', '{"a": "\n"}'),
    ("varbinary(9)", "a\u00ff", b"a\xff"),
    ("varbinary(9)", "a\u00ff\ufffd", b"a\xff\xef\xbf\xbd"),
]
WRONG = [
    ("int", "2147483648"),
    ("int", "0x10"),
    ("int", " 1"),
    ("int", "1.5"),
    ("int", ""),
    ("int", "１"),
    ("tinyint unsigned", "-1"),
    ("year", "1900"),
    ("decimal(10,2)", "0.001"),
    ("decimal(10,2)", "100000000"),
    ("decimal(10,2) unsigned", "-1"),
    ("decimal(65,30)", "x"),
    ("float", "NaN"),
    ("float", "1e39"),
    ("double", "inf"),
    ("double unsigned", "-1"),
    ("bit(1)", "2"),
    ("date", "2024-02-30"),
    ("date", "24-02-20"),
    ("date", "2024-02-20 00:00:00"),
    ("datetime", "2024-02-29T00:00:00"),
    ("datetime", "2024-02-29 24:00:00"),
    ("datetime", "2024-02-29 00:00:00Z"),
    ("timestamp", "2024-02-29"),
    ("time", "839:00:00"),
    ("time", "12:00:60"),
    ("json", "{"),
    ("varbinary(9)", "\u0100"),
]


def cells(spelling, zone="UTC"):
    return Cells(KINDS[spelling], zone)


@pytest.mark.parametrize(("spelling", "text", "value"), READ)
def test_texts_are_read(spelling, text, value):
    read, wrong = cells(spelling).column(pa.array([text, None]))
    assert (read.to_pylist(), wrong) == ([value, None], None)
    assert read.type == cells(spelling).type


@pytest.mark.parametrize(("spelling", "text"), WRONG)
def test_misfits_are_told(spelling, text):
    read, wrong = cells(spelling).column(pa.array([text, None, text]))
    assert (read.to_pylist(), wrong.to_pylist()) == ([None] * 3, [True, False, True])
    with pytest.raises(MISFIT):
        cells(spelling).cell(text)


@pytest.mark.parametrize(
    ("zone", "text", "instant"),
    [
        ("UTC", "2024-06-01 12:00:00", dt.datetime(2024, 6, 1, 12, tzinfo=UTC)),
        ("Asia/Shanghai", "2024-06-01 12:00:00", dt.datetime(2024, 6, 1, 4, tzinfo=UTC)),
        ("+05:30", "2024-06-01 12:00:00", dt.datetime(2024, 6, 1, 6, 30, tzinfo=UTC)),
        # Twice on that day: the first counts. Never on that day: the clock goes on without the change.
        ("America/New_York", "2024-11-03 01:30:00", dt.datetime(2024, 11, 3, 5, 30, tzinfo=UTC)),
        ("America/New_York", "2024-03-10 02:30:00", dt.datetime(2024, 3, 10, 7, 30, tzinfo=UTC)),
    ],
)
def test_a_timestamp_is_in_the_zone_of_the_deployment(zone, text, instant):
    each = cells("timestamp", zone)
    assert each.column(pa.array([text]))[0].to_pylist() == [instant]
    assert each.cell(text) == instant


def test_a_binary_under_a_character_code_is_its_text():
    read, wrong = cells("varbinary(9)").column(pa.array(["é", "é"]), pa.array([12, -3], pa.int32()))
    assert (read.to_pylist(), wrong) == (["é".encode(), b"\xe9"], None)


TEXTS = st.one_of(
    st.integers(-(1 << 65), 1 << 65).map(str),
    st.decimals(-1000, 1000, places=3).map(str),
    st.floats().map(repr),
    st.datetimes(dt.datetime.min, dt.datetime.max).map(str),  # noqa: DTZ901 - texts without a zone
    st.dates().map(str),
    st.from_regex(r"\A[-+ 0-9.:eExXTZ]{0,20}\Z"),
    st.sampled_from(["0000-00-00", "0000-01-01 00:00:00", "0001-01-01", "true", "1", "0", "", "null", "é", "\ufffd"]),
)


@given(
    spelling=st.sampled_from([spelling for spelling in KINDS if spelling != "json"]),
    texts=st.lists(TEXTS, min_size=1, max_size=4),
)
def test_a_column_reads_as_its_cells_do(spelling, texts):
    each = cells(spelling)
    expected = []
    for text in texts:
        try:
            expected.append((each.cell(text), False))
        except MISFIT:
            expected.append((None, True))
    values, wrong = each.column(pa.array(texts))
    alone = pa.array([value for value, _ in expected], each.type)
    # As texts: NaN equals nothing, and 0.0 equals -0.0.
    assert list(map(repr, values.to_pylist())) == list(map(repr, alone.to_pylist()))
    assert (wrong.to_pylist() if wrong is not None else [False] * len(texts)) == [misfit for _, misfit in expected]


def test_types_are_those_of_spark():
    assert arrow_type("decimal(10,2)") == pa.decimal128(10, 2)
    assert arrow_type("timestamp") == pa.timestamp("us", "UTC")
