"""What the Avro formats share: blocks that any reader puts together again, and faults of raw
records.
"""

from __future__ import annotations

import io
import json
from typing import Any

import avro.io
import avro.schema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.families.avro import FAULTS, LONG, Encoder, blocks
from generators.garbage.faults import MUST, NULL

ARRAY = {"type": "array", "items": "long"}
MAP = {"type": "map", "values": "string"}
RECORD = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "a", "type": "string"}, {"name": "b", "type": ["null", "long"]}],
}
VALUE = {"a": "text of some length", "b": 1_700_000_000}


def apache(schema: Any, value: bytes) -> Any:
    """What Apache's library reads, which must come to the end."""
    source = io.BytesIO(value)
    datum = avro.io.DatumReader(avro.schema.parse(json.dumps(schema))).read(
        avro.io.BinaryDecoder(source)
    )
    assert source.tell() == len(value)
    return datum


@pytest.mark.parametrize(
    ("number", "encoded"),
    [
        *(
            (0, "00"),
            (-1, "01"),
            (1, "02"),
            (-64, "7f"),
            (64, "8001"),
            ((1 << 63) - 1, "feffffffffffffffff01"),
        ),
        (-(1 << 63), "ff" * 9 + "01"),
    ],
)
def test_numbers_are_zigzag_and_variable_in_length(number: int, encoded: str) -> None:
    """Avro 1.12 specification, "Binary encoding", primitive types."""
    assert LONG(number).hex() == encoded
    assert LONG.read(bytes.fromhex(encoded) + b"rest") == (number, len(encoded) // 2)


def test_blocks_are_counted_and_may_tell_their_sizes() -> None:
    """The specification's own array of 3 and 27, in one block and in two."""
    items = [LONG(3), LONG(27)]
    assert blocks(items).hex() == "04063600"
    assert blocks(items, (1,)).hex() == "0206023600"
    assert blocks(items, sized=True).hex() == "0304063600"
    assert blocks([]).hex() == "00"


@given(
    st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=12),
    st.lists(st.integers(0, 4), max_size=4),
    st.booleans(),
)
def test_any_blocks_are_the_same_array(numbers: list[int], sizes: list[int], sized: bool) -> None:
    encoded = blocks([LONG(n) for n in numbers], sizes, sized=sized)
    assert apache(ARRAY, encoded) == numbers
    assert Encoder(ARRAY).read(encoded) == (numbers, len(encoded))


@given(
    st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=6),
    st.lists(st.integers(1, 3), max_size=3),
    st.booleans(),
)
def test_any_blocks_are_the_same_map(
    members: dict[str, str], sizes: list[int], sized: bool
) -> None:
    text = Encoder("string")
    assert (
        apache(MAP, blocks([text(k) + text(v) for k, v in members.items()], sizes, sized=sized))
        == members
    )


def test_an_encoder_writes_what_apaches_library_reads_and_tells_branches() -> None:
    encoder = Encoder(RECORD)
    encoded = encoder(VALUE)
    assert apache(RECORD, encoded) == VALUE
    assert encoder.read(encoded + b"more") == (VALUE, len(encoded))
    with pytest.raises((TypeError, ValueError, KeyError)):
        encoder({"a": 5})


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault is not NULL], ids=lambda fault: fault.name
)
def test_every_fault_makes_bytes_that_are_no_whole_record(fault: Any) -> None:
    assert fault.obligation == MUST
    encoded = Encoder(RECORD)(VALUE)
    spoiled = fault.apply(encoded)
    assert spoiled is not None and spoiled != encoded
    with pytest.raises(Exception):  # noqa: B017, PT011 - each kind of damage has its own
        apache(RECORD, spoiled)


def test_a_record_of_one_byte_cannot_be_cut() -> None:
    cut = {fault.name: fault.apply(b"\x00") for fault in FAULTS if fault.tag == "truncated"}
    assert cut == {"truncated": None, "truncated-last": None}
