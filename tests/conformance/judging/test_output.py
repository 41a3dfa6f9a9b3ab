"""Arrow tables as a decoder returns them, read into rows."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from conformance.judging.compare import Typed
from conformance.judging.output import ENVELOPE, REQUIRED, OutputRow, check_columns, read
from generators.errors import UsageError

TEXTS = pa.map_(pa.string(), pa.string())
MOMENT_US = 1_700_000_000_123_456


NO_ENVELOPE = {"database": None, "table": None, "keys": None, "sql": None}


def table(level=1, image=TEXTS, **columns):
    """One row in the contract's shape; keyword arguments replace or add columns as (values,
    type).
    """
    given = {
        "topic": (["cdc"], pa.string()),
        "partition": ([0], pa.int32()),
        "offset": ([7], pa.int64()),
        "row": ([0], pa.int32()),
        "kind": (["ROW"], pa.string()),
        "op": (["INSERT"], pa.string()),
        "before": ([None], image),
        "after": ([None], image),
        "error": ([None], pa.string()),
    }
    envelope = {name: ([None], pa.string()) for name in ("database", "table", "sql")} | {
        "keys": ([None], pa.list_(pa.string()))
    }
    given |= (envelope if level == 1 else {}) | columns
    return pa.table({name: pa.array(*pair) for name, pair in given.items() if pair is not None})


def only_row(rows, place=("cdc", 0, 7)):
    (row,) = rows[place]
    return row


def test_images_of_level_one_tell_null_empty_and_null_values_apart():
    arrow = table(before=([[("a", None), ("b", "x")]], TEXTS), after=([[]], TEXTS))
    row = only_row(read(arrow, 1))
    assert row == OutputRow(0, "ROW", "INSERT", NO_ENVELOPE, {"a": None, "b": "x"}, {}, None)
    assert only_row(read(table(), 1)).before is None


def test_a_null_column_is_a_null_image():
    row = only_row(read(table(before=([None], pa.null()), after=([[("a", "1")]], TEXTS)), 1))
    assert (row.before, row.after) == (None, {"a": "1"})


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (
            pa.timestamp("us", "UTC"),
            dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=MOMENT_US),
        ),
        (pa.timestamp("ms", "UTC"), dt.datetime.fromtimestamp(1_700_000_000, dt.UTC)),
        (pa.timestamp("us"), dt.datetime(2023, 11, 14, 22, 13, 20, 123456)),
    ],
    ids=str,
)
def test_commit_time_is_microseconds(kind, value):
    row = only_row(read(table(commit_time=([value], kind)), 1))
    assert row.fields["commit_time"] == (MOMENT_US if value.microsecond else 1_700_000_000_000_000)


def test_the_session_time_zone_does_not_move_a_timestamp():
    utc = pa.array([MOMENT_US], pa.timestamp("us", "UTC"))
    tokyo = utc.cast(pa.timestamp("us", "Asia/Tokyo"))
    for array in (utc, tokyo):
        arrow = table().append_column("commit_time", array)
        assert only_row(read(arrow, 1)).fields["commit_time"] == MOMENT_US


def test_envelope_columns_that_are_returned_and_no_others():
    texts = {
        name: ([text], pa.string())
        for name, text in (("database", "d"), ("mine", "x"), ("error", "why"))
    }
    others = {
        "keys": ([["id", "b"]], pa.list_(pa.string())),
        "types": ([[("id", "int")]], TEXTS),
        "sql": ([None], pa.null()),
    }
    row = only_row(read(table(**texts, **others), 1))
    assert row.fields == {
        "database": "d",
        "table": None,
        "keys": ["id", "b"],
        "types": {"id": "int"},
        "sql": None,
    }
    assert row.error == "why"
    assert set(row.fields) <= set(ENVELOPE)


def test_rows_are_grouped_by_message_and_ordered_by_row():
    last, first, none = (table(row=([number], pa.int32())) for number in (1, 0, None))
    arrow = pa.concat_tables([last, table(offset=([8], pa.int64())), first, none])
    rows = read(arrow, 1)
    assert ([r.row for r in rows["cdc", 0, 7]], [r.row for r in rows["cdc", 0, 8]]) == (
        [None, 0, 1],
        [0],
    )
    assert arrow.column("row").num_chunks == 4


def test_no_rows_at_all():
    assert read(table().slice(0, 0), 1) == {}
    struct = pa.struct([("a", pa.int32())])
    assert (
        read(table(2, struct).slice(0, 0), 2),
        read(table(2, struct).schema.empty_table(), 2),
    ) == ({}, {})


LEAVES = [
    *((pa.bool_(), True, Typed("boolean", True)), (pa.int8(), -1, Typed("int", -1))),
    (pa.int64(), (1 << 62) + 1, Typed("int", (1 << 62) + 1)),
    (pa.decimal128(20, 0), Decimal(1 << 63), Typed("decimal", 1 << 63)),
    (pa.decimal128(38, 10), Decimal("1234567890123456789012345678.0123456789"), None),
    *((pa.float32(), 0.5, Typed("float", 0.5)), (pa.float64(), 0.1, Typed("double", 0.1))),
    *((pa.string(), "汉", Typed("string", "汉")), (pa.large_string(), "汉", Typed("string", "汉"))),
    (pa.binary(), b"\xff", Typed("binary", b"\xff")),
    (pa.date32(), dt.date(9999, 12, 31), Typed("date", dt.date(9999, 12, 31))),
    (pa.date32(), dt.date(1582, 10, 4), Typed("date", dt.date(1582, 10, 4))),
    (pa.timestamp("us"), dt.datetime(1970, 1, 1, 0, 0, 0, 1), Typed("timestamp_ntz", 1)),
    (
        pa.timestamp("us", "Asia/Tokyo"),
        dt.datetime(1970, 1, 1, 0, 0, 0, 1, dt.UTC),
        Typed("timestamp", 1),
    ),
    (pa.duration("us"), dt.timedelta(hours=-838), Typed("interval", -838 * 3600 * 1_000_000)),
    (pa.list_(pa.string()), ["a", "c"], Typed("array", ["a", "c"])),
    (pa.struct([("x", pa.int32())]), {"x": 1}, Typed("struct<x: int32>", {"x": 1})),
]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    LEAVES,
    ids=[str(kind) + str(i) for i, (kind, _, _) in enumerate(LEAVES)],
)
def test_level_two_keeps_each_value_with_the_family_of_its_type(kind, value, expected):
    image = pa.struct([("c", kind), ("none", kind)])
    row = only_row(read(table(2, image, after=([{"c": value, "none": None}], image)), 2))
    assert row.before is None
    assert row.after == {"c": expected or Typed("decimal", value), "none": None}


def test_a_null_struct_is_no_image_and_a_struct_of_nulls_is_one():
    image = pa.struct([("c", pa.int32())])
    arrow = pa.concat_tables(
        [table(2, image), table(2, image, row=([1], pa.int32()), after=([{"c": None}], image))]
    )
    assert [r.after for r in read(arrow, 2)["cdc", 0, 7]] == [None, {"c": None}]


def test_dates_beyond_the_calendar_of_python_are_values_too():
    days = pa.array([-719_529, 2_932_897], pa.int32()).cast(pa.date32())
    image = pa.StructArray.from_arrays([days], ["c"])
    arrow = pa.concat_tables(
        [table(2, image.type), table(2, image.type, row=([1], pa.int32()))]
    ).drop_columns(["after"])
    rows = read(arrow.append_column("after", image), 2)["cdc", 0, 7]
    assert [r.after["c"] for r in rows] == [
        Typed("date", f"{n} days from 1970-01-01") for n in ("-719529", "2932897")
    ]


def broken_text(*values):
    """A string array with bytes that are no UTF-8, which Spark's strings may hold."""
    binary = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(binary), binary.buffers())


def test_text_that_is_no_utf_8_is_shown_by_its_bytes():
    text = broken_text(b"a\xff")
    image = pa.MapArray.from_arrays([0, 1], pa.array(["k"]), text)
    arrow = table(after=None, error=None).append_column("after", image).append_column("error", text)
    row = only_row(read(arrow, 1))
    assert (row.after, row.error) == ({"k": "a\\xff"}, "a\\xff")
    struct = pa.StructArray.from_arrays([text], ["c"])
    arrow = table(2, struct.type, after=None).append_column("after", struct)
    assert only_row(read(arrow, 2)).after == {"c": Typed("string", "a\\xff")}


def test_text_that_is_no_utf_8_is_shown_wherever_it_stands():
    texts = broken_text(b"\xff", b"y")
    keys, image = (
        pa.ListArray.from_arrays([0, 2], texts),
        pa.MapArray.from_arrays([0, 2], pa.array(["a", "b"]), texts),
    )
    row = only_row(
        read(
            table(after=None, keys=None).append_column("after", image).append_column("keys", keys),
            1,
        )
    )
    assert (row.after, row.fields["keys"]) == ({"a": "\\xff", "b": "y"}, ["\\xff", "y"])
    inner = pa.StructArray.from_arrays([texts.slice(0, 1), pa.array([7])], ["x", "n"])
    nested = pa.StructArray.from_arrays([inner], ["c"])
    row = only_row(read(table(2, nested.type, after=None).append_column("after", nested), 2))
    assert row.after["c"].value == {"x": "\\xff", "n": 7}


def test_the_columns_of_the_contract_are_required():
    common = {"topic", "partition", "offset", "row", "kind", "op", "before", "after", "error"}
    assert (set(REQUIRED[1]), set(REQUIRED[2])) == (
        common | {"database", "table", "keys", "sql"},
        common,
    )


@pytest.mark.parametrize(
    ("level", "name"), [(level, name) for level in REQUIRED for name in REQUIRED[level]]
)
def test_a_missing_column_is_named(level, name):
    image = TEXTS if level == 1 else pa.struct([("a", pa.int32())])
    schema = table(level, image).schema
    check_columns(schema, level, "mine.py:decode")
    with pytest.raises(
        UsageError, match=rf"mine\.py:decode.*level-{level}.*no column '{name}'.*--map"
    ):
        check_columns(schema.remove(schema.get_field_index(name)), level, "mine.py:decode")


def test_all_missing_columns_are_named_at_once():
    with pytest.raises(
        UsageError, match="no column 'topic'; no column 'partition'; no column 'offset'"
    ):
        check_columns(pa.schema([("value", pa.binary())]), 1, "d")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(
            ("partition", pa.string()),
            ("row", pa.float64()),
            ("kind", pa.int32()),
            ("before", pa.string()),
        ),
        *(
            ("after", pa.struct([("a", pa.string())])),
            ("after", pa.map_(pa.string(), pa.int32())),
            ("database", pa.int32()),
        ),
        *(
            ("keys", pa.string()),
            ("keys", pa.list_(pa.int32())),
            ("types", pa.string()),
            ("commit_time", pa.int64()),
        ),
        ("position", pa.int64()),
    ],
)
def test_a_column_of_another_type_is_named_with_its_type(name, kind):
    schema = table(**{name: ([None], kind)}).schema
    with pytest.raises(UsageError) as caught:
        check_columns(schema, 1, "d")
    assert f"column '{name}' is {kind}" in str(caught.value)


@pytest.mark.parametrize("name", ["op", "before", "types", "keys", "commit_time"])
def test_a_column_of_nulls_may_have_no_type(name):
    check_columns(table(**{name: ([None], pa.null())}).schema, 1, "d")


def test_level_two_wants_structs():
    with pytest.raises(UsageError, match="column 'before' is map<string, string>"):
        check_columns(table().schema, 2, "d")


def test_a_column_that_is_there_twice_is_refused():
    schema = table().schema.append(pa.field("row", pa.int32()))
    with pytest.raises(UsageError, match="2 columns 'row'"):
        check_columns(schema, 1, "d")
