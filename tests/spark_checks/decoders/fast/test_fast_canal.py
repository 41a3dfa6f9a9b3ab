"""The fast decoders of Canal's formats without Spark: boundaries of messages, and nothing depends on the batch."""

import datetime as dt
import json
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.engines.specs import FAST_FORMATS, decoder_of
from generators.errors import UsageError
from generators.model import Column, Table
from generators.sources import mysql
from generators.wire_format import FORMATS
from spark_checks.decoders.fast import alibaba_canal_json, canal, ticdc_canal_json
from spark_checks.decoders.fast.documents import Documents

TABLE = Table(
    "shop",
    "orders",
    (
        Column("id", mysql.integer("int"), nullable=False),
        Column("note", mysql.text("varchar", 9)),
        Column("at", mysql.temporal("date")),
    ),
    primary_key=("id",),
)
TICDC, ALIBABA = ticdc_canal_json.DIALECT, alibaba_canal_json.DIALECT


def message(op="INSERT", data=({"id": "1", "note": "a", "at": "2024-01-01"},), old=None, **others):
    body = {"id": 0, "database": "shop", "table": "orders", "isDdl": False, "type": op, "es": 1, "ts": 1, "sql": ""}
    return json.dumps(body | {"data": data and list(data), "old": old} | others).encode()


def batch(values):
    places = range(len(values))
    return pa.RecordBatch.from_pydict(
        {
            "topic": pa.array(["t"] * len(values), pa.string()),
            "partition": pa.array([0] * len(values), pa.int32()),
            "offset": pa.array(places, pa.int64()),
            "value": pa.array(values, pa.binary()),
        }
    )


def rows(values, dialect=TICDC, parts=1):
    """(offset, row, op or error, before, after) of each row, sorted; `parts`: into how many batches the messages are divided."""
    step = max(1, len(values) // parts)
    whole = batch(values)
    out = canal.Reader(TABLE, dialect, "UTC").batches(whole.slice(at, step) for at in range(0, len(values), step))
    found = [row for each in out for row in each.to_pylist()]
    short = [(r["offset"], r["row"], r["op"] or r["error"], r["before"], r["after"]) for r in found]
    return sorted(short, key=lambda row: row[:2])


def row(number, note="a", at=None):
    return {"id": number, "note": note, "at": at}


UNREADABLE = "not one well-formed message of this format"
MISFIT = "a cell does not fit its column's type"
RIGHT = message(data=[{"id": "1", "note": "a", "at": None}])

BROKEN = [
    b"",
    b" ",
    b"null",
    b"{}",
    b"{",
    RIGHT[:-1],
    RIGHT + RIGHT,
    RIGHT + b"," + RIGHT,
    RIGHT + b"}",
    RIGHT + b'}\n{"m":{}',
    RIGHT + b'}\n{"m":null',
    RIGHT + b',"x":1',
    RIGHT + b'],"x":[0',
    RIGHT + b"\n" + RIGHT,
    b'{"a":"',
    b'"}',
    b'{"data":[{"id":{',
    RIGHT + b"x",
    b"[" + RIGHT + b"]",
    b"\xef\xbb\xbf" + RIGHT,
    RIGHT.replace(b'"id": 0', b'"id": NaN'),
    RIGHT.replace(b'"id": 0', b'"id": "0"'),
    RIGHT.replace(b'"es": 1', b'"es": 1.5'),
    RIGHT.replace(b'"isDdl": false', b'"isDdl": 0'),
    RIGHT.replace(b'"isDdl": false, ', b""),
    RIGHT.replace(b'"1"', b'["1"]'),
    message(op="REPLACE"),
    message(data=[]),
    message(data=None),
    message(data=[None]),
    message(data=[{"id": "1"}, None]),
    message(data={"id": "1"}),
    message(mysqlType="int"),
    message(_tidb={"commitTs": "1"}),
]


@pytest.mark.parametrize("value", BROKEN)
def test_a_broken_message_moves_no_other(value):
    first, last = (message(data=[{"id": str(n), "note": "a"}]) for n in (7, 9))
    assert rows([first, value, last]) == [
        (0, 0, "INSERT", None, row(7)),
        (1, 0, UNREADABLE, None, None),
        (2, 0, "INSERT", None, row(9)),
    ]


def test_bytes_that_are_no_utf_8_are_replaced():
    assert rows([RIGHT, RIGHT.replace(b'"a"', b'"\xff"'), RIGHT]) == [
        (0, 0, "INSERT", None, row(1)),
        (1, 0, "INSERT", None, row(1, "\ufffd")),
        (2, 0, "INSERT", None, row(1)),
    ]


def test_what_is_no_row_of_the_table_gives_none():
    others = [
        message(table="other"),
        message(database="SHOP"),
        message("CREATE", None, isDdl=True, sql="create table t (id int)"),
        message("TIDB_WATERMARK", None, _tidb={"watermarkTs": 5}),
    ]
    assert rows([*others, RIGHT]) == [(4, 0, "INSERT", None, row(1))]


def test_images_of_each_op():
    data = [{"id": "1", "note": "b", "at": None}]
    values = [
        message("INSERT", data, [None]),
        message("DELETE", data, data),
        message("UPDATE", data, [{"id": "1", "note": "a", "at": "2024-01-01"}]),
        # A member that `old` lacks is unchanged, a null was NULL.
        message("UPDATE", data, [{"id": "2"}]),
        message("UPDATE", data, [{"note": None}]),
        # `old` of other rows says nothing.
        message("UPDATE", data, None),
        message("UPDATE", data, [None]),
        message("UPDATE", [*data, {"id": "3", "note": "c"}], [{"id": "0"}, {"note": None}]),
    ]
    now = row(1, "b")
    assert rows(values) == [
        (0, 0, "INSERT", None, now),
        (1, 0, "DELETE", now, None),
        (2, 0, "UPDATE", row(1, "a", dt.date(2024, 1, 1)), now),
        (3, 0, "UPDATE", row(2, "b"), now),
        (4, 0, "UPDATE", row(1, None), now),
        (5, 0, "UPDATE", None, now),
        (6, 0, "UPDATE", None, now),
        (7, 0, "UPDATE", row(0, "b"), now),
        (7, 1, "UPDATE", row(3, None), row(3, "c")),
    ]


def test_a_misfit_makes_its_message_corrupt_and_no_other():
    values = [RIGHT, message(data=[{"id": "1"}, {"id": "x"}]), message("UPDATE", [{"id": "2"}], [{"at": "2024-13-01"}]), RIGHT]
    assert rows(values) == [
        (0, 0, "INSERT", None, row(1)),
        (1, 0, MISFIT, None, None),
        (2, 0, MISFIT, None, None),
        (3, 0, "INSERT", None, row(1)),
    ]


def test_canal_leaves_is_ddl_out_and_writes_statements_of_rows():
    values = [
        RIGHT.replace(b'"isDdl": false, ', b""),
        message("INSERT", None, sql="insert into t values (1)"),
        message("QUERY", None, sql="begin"),
        message("XACOMMIT", None),
        message("INSERT", None),
        RIGHT.replace(b'"a"', b'"\t"'),
    ]
    assert rows(values, ALIBABA) == [
        (0, 0, "INSERT", None, row(1)),
        (4, 0, UNREADABLE, None, None),
        (5, 0, "INSERT", None, row(1, "\t")),
    ]


TEXT = st.sampled_from([None, "a", "é", "null", '"old":[', "1"])
IMAGE = st.fixed_dictionaries(
    {"id": st.sampled_from(["1", "07", "x"])}, optional={"note": TEXT, "at": st.sampled_from([None, "2024-01-01", "0000-00-00"])}
)
CHANGE = st.builds(
    message,
    st.sampled_from(["INSERT", "UPDATE", "DELETE"]),
    st.lists(IMAGE, min_size=1, max_size=2),
    st.none() | st.lists(st.none() | IMAGE, max_size=2),
)
FRAGMENT = st.sampled_from(
    [b"{", b"}", b"[", b"]", b",", b'"', b"\\", b"\n", b"null", b',"x":1', b'],"x":[', b'},"x":{', b"\xff"]
)


@st.composite
def altered(draw):
    """A change with a fragment put in, or with some bytes less."""
    value = draw(CHANGE)
    at, length = draw(st.integers(0, len(value))), draw(st.integers(0, 9))
    return value[:at] + draw(FRAGMENT | st.just(b"")) + value[at + length :]


MESSAGE = st.one_of(CHANGE, altered(), st.sampled_from(BROKEN))


@given(st.lists(MESSAGE, min_size=1, max_size=6), st.sampled_from([TICDC, ALIBABA]))
def test_a_message_is_read_as_if_it_were_alone(values, dialect):
    batched = rows(values, dialect)
    assert rows(values, dialect, parts=len(values)) == batched
    # Arrow refuses every message, so that plain Python reads it.
    with patch.object(Documents, "parsed", lambda *_: None):
        assert rows(values, dialect) == batched


@pytest.mark.parametrize("fmt", FORMATS)
def test_fast_names_the_decoders_that_there_are(fmt):
    from importlib.util import find_spec

    there = find_spec(f"spark_checks.decoders.fast.{fmt.replace('-', '_')}") is not None
    assert there == (fmt in FAST_FORMATS)
    if there:
        assert decoder_of(fmt, "fast") == f"spark_checks.decoders.fast.{fmt.replace('-', '_')}"
    else:
        with pytest.raises(
            UsageError, match=r"has no fast decoder; these have: ticdc-canal-json, alibaba-canal-json, debezium-json"
        ):
            decoder_of(fmt, "fast")
