"""The fast decoder of Debezium: what Arrow reads, what it leaves to the reference decoder, and that both agree."""

import json
import random
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.model import Column, Deployment, Table
from generators.sources import mysql
from spark_checks.decoders import debezium_json as reference
from spark_checks.decoders.fast import debezium_json as fast

TABLE = Table(
    "db",
    "t",
    (
        Column("id", mysql.integer("int"), nullable=False),
        Column("note", mysql.text("varchar", 9)),
        Column("price", mysql.decimal(5, 2)),
    ),
    primary_key=("id",),
)
DECIMAL = "org.apache.kafka.connect.data.Decimal"
FIELDS = (
    {"type": "int32", "field": "id"},
    {"type": "string", "field": "note"},
    {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "2"}, "field": "price"},
)
ROW = {"id": 1, "note": "a", "price": "AGQ="}
CORRUPT = "CORRUPT"


def payload(op="c", before=None, after=ROW, **others):
    source = {"ts_ms": 1, "db": "db", "table": "t", "file": "f", "pos": 4, "row": 0}
    return {"before": before, "after": after, "source": source | others.pop("source", {}), "op": op, "ts_ms": 2} | others


def message(op="c", before=None, after=ROW, fields=FIELDS, **others):
    """With a schema; without it where there are no fields."""
    inner = payload(op, before, after, **others)
    if fields is None:
        return json.dumps(inner).encode()
    row = {"type": "struct", "fields": list(fields)}
    schema = {"type": "struct", "fields": [{**row, "field": "before"}, {**row, "field": "after"}]}
    return json.dumps({"schema": schema, "payload": inner}, separators=(",", ":")).encode()


def batch(values):
    count = len(values)
    return pa.RecordBatch.from_pydict(
        {
            "topic": pa.array(["t"] * count, pa.string()),
            "partition": pa.array([0] * count, pa.int32()),
            "offset": pa.array(range(count), pa.int64()),
            "value": pa.array(values, pa.binary()),
            "header": pa.nulls(count, pa.binary()),
        }
    )


def read(values, parts=1):
    """By offset: (op, before, after) of each row that Arrow read, and the value of each message that it left."""
    step = max(1, len(values) // parts)
    out = fast.Reader(TABLE, Deployment()).batches(batch(values).slice(at, step) for at in range(0, len(values), step))
    found = [row for each in out for row in each.to_pylist()]
    assert len({row["offset"] for row in found}) == len(found)
    return {row["offset"]: row["value"] if row["fast"] is None else tuple(row["fast"].values()) for row in found}


def row(number, note="a", price="1.00"):
    return {"id": number, "note": note, "price": price and Decimal(price)}


RIGHT = message()
LEFT = [
    b"",
    b"null",
    b"{}",
    b"{",
    RIGHT[:-1],
    RIGHT[: len(RIGHT) // 2],
    RIGHT + RIGHT,
    RIGHT + b'},{"payload":{}',
    RIGHT + b',"x":1',
    RIGHT + b"x",
    b"[" + RIGHT + b"]",
    b"\xef\xbb\xbf" + RIGHT,
    RIGHT[:-1] + b',"schema":{}}',
    RIGHT[:-1] + b',"schema":"x"}',
    RIGHT.replace(b'"a"', b'"\xff"'),
    RIGHT.replace(b'"scale":"2"', b'"scale":"3"'),
    RIGHT.replace(b'"scale":"2"', b'"scale":2'),
    RIGHT.replace(b'"scale":"2"', b'"scale":"0_2"'),
    RIGHT.replace(b'"schema":{', b'"schema":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b","),
    RIGHT.replace(b'"type":"bytes"', b'"type":"struct"'),
    RIGHT.replace(b'"parameters":{"scale":"2"}', b'"parameters":"x"'),
    RIGHT.replace(b'"field":"note"', b'"field":"id"'),
    RIGHT.replace(b'"schema":{', b'"schema":{"fields":[],'),
    RIGHT.replace(b'"id":1', b'"id":"1"'),
    RIGHT.replace(b'"id":1', b'"id":1.0'),
    RIGHT.replace(b'"id":1', b'"id":2147483648'),
    RIGHT.replace(b'"id":1', b'"id":1,"id":2'),
    RIGHT.replace(b'"AGQ="', b'"AGQ"'),
    RIGHT.replace(b'"op":"c"', b'"op":"C"'),
    RIGHT.replace(b'"ts_ms":2', b'"ts_ms":"2"'),
    RIGHT.replace(b'"pos":4', b'"pos":"4"'),
    message("x"),
    message("t", None, None),
    message("c", ROW, None),
    message(source={"db": None}),
    message(source={"table": ""}),
    json.dumps({"ts_ms": 5}).encode(),
    json.dumps({"schema": None, "payload": payload()}).encode(),
    json.dumps(ROW | {"__op": "c", "__table": "t", "__db": "db"}).encode(),
]


@pytest.mark.parametrize("value", LEFT)
def test_what_is_out_of_the_usual_is_left_and_moves_no_other(value):
    first, last = (message(after=ROW | {"id": number}) for number in (7, 9))
    assert read([first, value, last]) == {0: ("INSERT", None, row(7)), 1: value, 2: ("INSERT", None, row(9))}


def test_images_of_each_op():
    old, new = ROW | {"note": None}, {"price": None, "id": 2}
    values = [
        message("r", None, new),
        message("u", old, new),
        message("u", None, new),
        message("d", old, None),
        message("d", None, None),
        message("d", old, new),
        message("c", old, new),
    ]
    was, now = row(1, None), row(2, None, None)
    assert read(values) == {
        0: ("READ", None, now),
        1: ("UPDATE", was, now),
        2: ("UPDATE", None, now),
        3: ("DELETE", was, None),
        4: ("DELETE", None, None),
        5: ("DELETE", was, None),
        6: ("INSERT", None, now),
    }


def test_what_is_no_row_of_the_table_gives_none():
    assert read([message(source={"table": "T"}), None, message(source={"db": "DB"}), RIGHT, None]) == {
        3: ("INSERT", None, row(1))
    }


def test_each_message_is_read_with_its_own_schema():
    days = ({"type": "int32", "field": "id"}, {"type": "int32", "name": "io.debezium.time.Date", "field": "note"})
    few = ({"type": "int16", "field": "id"},)
    payload_column = (*FIELDS, {"type": "string", "field": "payload"})
    values = [
        RIGHT,
        message(after={"id": 2, "note": 3}, fields=days),
        message(after={"id": 3}, fields=few),
        message(fields=None),
        message(after=ROW | {"payload": '"payload":'}, fields=payload_column),
        RIGHT,
    ]
    assert read(values) == {
        0: ("INSERT", None, row(1)),
        # A text in a column of days.
        1: values[1],
        2: ("INSERT", None, row(3, None, None)),
        3: ("INSERT", None, row(1)),
        4: ("INSERT", None, row(1)),
        5: ("INSERT", None, row(1)),
    }


def test_many_schemas_are_read_and_far_too_many_left():
    values = [message(fields=(*FIELDS, {"type": "string", "field": f"c{n}"})) for n in range(70)]
    found = read(values)
    assert [n for n, value in found.items() if value == values[n]] == list(range(64, 70))
    assert set(found) == set(range(70))
    # The count is a batch's.
    assert all(value != values[n] for n, value in read(values, parts=70).items())


FRAGMENT = [b"{", b"}", b"[", b"]", b",", b'"', b"\\", b"\n", b"null", b',"x":1', b'},"x":{', b"\xff", b"1", b"-", b"a"]
FRAGMENT += [b"AA==", b""]
USUAL = [
    RIGHT,
    message("u", ROW, ROW | {"note": "é"}),
    message("d", ROW, None),
    message("r", fields=None),
    message("u", None, ROW | {"price": "/w=="}),
    message(source={"table": "other"}),
]


def altered(rng):
    """A message with a fragment put in, or with some bytes less."""
    value = rng.choice(USUAL)
    at = rng.randrange(len(value) + 1) if rng.random() < 0.3 else rng.randrange(value.rfind(b'"before":'), len(value) + 1)
    return value[:at] + rng.choice(FRAGMENT) + value[at + rng.choice((0, 0, 1, 2, 9)) :]


@given(st.lists(st.sampled_from([*USUAL, *LEFT]) | st.randoms(use_true_random=False).map(altered), min_size=1, max_size=6))
def test_a_message_is_read_as_if_it_were_alone(values):
    assert read(values) == read(values, parts=len(values))


@pytest.mark.spark
def test_altered_messages_are_read_as_the_reference_decoder_reads_them(spark):
    rng = random.Random(19)
    values = [*USUAL, *LEFT, None, *(altered(rng) for _ in range(1_500))]
    schema = (
        "value binary, topic string, partition int, offset bigint, key binary, headers array<struct<key: string, value: binary>>"
    )
    records = spark.createDataFrame([(value, "t", 0, at, None, None) for at, value in enumerate(values)], schema)
    both = [
        {found["offset"]: found for found in decoder.decode_rows(records, TABLE).toArrow().to_pylist()}
        for decoder in (fast, reference)
    ]
    assert len(both[1]) > 1_000
    for at, value in enumerate(values):
        assert both[0].get(at) == both[1].get(at), value
