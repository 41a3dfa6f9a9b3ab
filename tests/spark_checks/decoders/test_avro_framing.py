"""What Spark really does with bytes that are no Avro record, or not one, and what `_avro.messages`
makes of it.
"""

import io
from collections.abc import Callable
from typing import Any

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_checks.decoders.families import avro as _avro

SCHEMA = _avro.record(
    "Probe",
    name="string",
    data="bytes",
    choice=["null", "string", _avro.array("long")],
    kind=_avro.enum("Kind", "A", "B"),
    numbers=_avro.array("int"),
    tags={"type": "map", "values": "string"},
)
VALUE = {
    "name": "n",
    "data": b"\x00\xff",
    "choice": "c",
    "kind": "B",
    "numbers": [1, 2],
    "tags": {"k": "v"},
}
WHOLE = bytes.fromhex("026e" + "0400ff" + "020263" + "02" + "04020400" + "02026b027600")
"""VALUE by hand: the Avro 1.12 specification, "Binary encoding"."""
LONGEST = b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
"""The largest long."""


@pytest.fixture(scope="module")
def messages(spark: SparkSession) -> Callable[..., list[Any]]:
    """Each value's message, NULL where it is not whole."""

    def read(*values: bytes | None, **options: Any) -> list[Any]:
        rows = [(v, "cdc", 0, i) for i, v in enumerate(values)]
        frame: DataFrame = spark.createDataFrame(
            rows, "value binary, topic string, partition int, offset bigint"
        )
        by_offset = {r.offset: r for r in _avro.messages(frame, SCHEMA, **options).collect()}
        assert len(by_offset) == len(values)
        assert all(r.whole is not None for r in by_offset.values())
        return [by_offset[i].m if by_offset[i].whole else None for i in range(len(values))]

    return read


def test_a_whole_record_is_read(messages):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMA), VALUE)
    assert out.getvalue() == WHOLE
    (m,) = messages(WHOLE)
    assert (m.name, bytes(m.data), m.kind, m.numbers, m.tags) == (
        "n",
        b"\x00\xff",
        "B",
        [1, 2],
        {"k": "v"},
    )
    assert (m.choice.member0, m.choice.member1) == ("c", None)


def test_every_cut_and_everything_behind_is_seen(messages):
    cut = [WHOLE[:i] for i in range(len(WHOLE))]
    behind = [
        WHOLE + tail for tail in (b"\x00", b"\xff", b"\ntrailing", WHOLE, bytes(8), bytes(64))
    ]
    assert messages(*cut, *behind, None, b"") == [None] * (len(cut) + len(behind) + 2)


def wire(number: int) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", number)
    return out.getvalue()


def spoiled(number: int) -> dict[str, bytes]:
    """The record with the number in place of each length, index and count."""
    places = {"string": 0, "bytes": 2, "branch": 5, "symbol": 8, "items": 9, "entries": 13}
    return {name: WHOLE[:at] + wire(number) + WHOLE[at + 1 :] for name, at in places.items()}


def test_a_length_or_count_that_cannot_be_is_no_record(messages):
    """No such length takes the JVM with it: the session limits what Avro believes."""
    sizes = (2**20, 2**26, 2**31 - 1, 2**31, 2**40, 2**63 - 1, -1, -(2**31), -(2**63))
    # Avro's Java reader keeps 32 bits of an index, and a count of -1 is one item behind its size in
    # bytes: pinned below.
    legal = {(2**31, "symbol"), (-1, "items")}
    values = [
        value
        for size in sizes
        for name, value in spoiled(size).items()
        if (size, name) not in legal
    ]
    *unread, whole = messages(*values, WHOLE)
    assert (unread, whole is None) == ([None] * len(values), False)


def test_a_symbol_beyond_an_int_is_cut_to_one_and_a_negative_count_has_its_size_behind_it(messages):
    cut, counted = messages(spoiled(2**31)["symbol"], spoiled(-1)["items"])
    assert (cut.kind, cut.numbers, counted.kind, counted.numbers) == ("A", [1, 2], "B", [2])


def test_branches_and_symbols_out_of_range_are_no_record(messages):
    branch = [WHOLE[:5] + bytes([2 * i]) + WHOLE[6:] for i in (3, 4, 20)]
    symbol, wrong = (
        [WHOLE[:8] + bytes([2 * i]) + WHOLE[9:] for i in (2, 3, 20)],
        WHOLE[:5] + b"\x04" + WHOLE[6:],
    )
    assert messages(*branch, *symbol, wrong) == [None] * 7


def test_long_spellings_of_numbers_are_read_and_too_long_ones_are_not(messages):
    """The specification wants no shortest spelling; a varint of an int ends with five bytes."""
    two, eleven = (
        WHOLE[:10] + b"\x82\x80\x00" + WHOLE[11:],
        WHOLE[:10] + b"\x82" + b"\x80" * 9 + b"\x00" + WHOLE[11:],
    )
    decoded = messages(two, eleven)
    assert (decoded[0].numbers, decoded[1]) == ([1, 2], None)


def test_text_that_is_not_utf_8_is_passed_on_as_it_is(messages, spark):
    """Whoever hands it over must look: from_avro does not."""
    wrong = WHOLE[:1] + b"\xff" + WHOLE[2:]
    assert messages(wrong)[0] is not None
    frame = spark.createDataFrame(
        [(wrong, "cdc", 0, 0)], "value binary, topic string, partition int, offset bigint"
    )
    (row,) = (
        _avro.messages(frame, SCHEMA)
        .selectExpr("hex(m.name) AS raw", "is_valid_utf8(m.name) AS valid")
        .collect()
    )
    assert (row.raw, row.valid) == ("FF", False)


def test_fields_that_are_not_wanted_are_skipped_and_still_must_fit(messages):
    wanted = _avro.record("Probe", kind=_avro.enum("Kind", "A", "B"))
    cut, branch = [WHOLE[:i] for i in range(len(WHOLE))], WHOLE[:5] + b"\x06" + WHOLE[6:]
    whole, *others = messages(WHOLE, *cut, WHOLE + b"\x00", branch, reader_schema=wanted)
    assert (whole.asDict(), others) == ({"kind": "B"}, [None] * (len(cut) + 2))


def test_a_last_long_may_be_there_or_not(messages):
    """One that is cut would be ended by what is appended, were that shorter than any number may
    be.
    """
    longs = (b"\x00", b"\x02", b"\xb0\xb5\xaf\xd2\x0c", b"\x80" * 9 + b"\x01", LONGEST)
    wrong = [WHOLE[:i] for i in range(len(WHOLE))] + [
        WHOLE + last[:i] for last in longs for i in range(1, len(last))
    ]
    wrong += [WHOLE + last + tail for last in longs for tail in (b"\x00", b"\xff", last, WHOLE)]
    decoded = messages(WHOLE, *(WHOLE + last for last in longs), *wrong, newer_long=True)
    assert decoded[0] is not None
    assert decoded == [decoded[0]] * (1 + len(longs)) + [None] * len(wrong)
