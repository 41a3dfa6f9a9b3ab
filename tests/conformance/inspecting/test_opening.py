import gzip
import random

import cramjam
import pytest

from conformance.inspecting.opening import ReadRecord, open_record
from generators.wire_format import get

TEXT = b'{"version":1,"type":"WATERMARK","commitTs":447984074911121409,"buildTs":1708936343598}'


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("none", TEXT),
        ("gzip", gzip.compress(TEXT, mtime=0)),
        ("zstd", bytes(cramjam.zstd.compress(TEXT))),
        ("lz4", bytes(cramjam.lz4.compress(TEXT))),
        ("snappy", bytes(cramjam.snappy.compress_raw(TEXT))),
    ],
)
def test_compressed_values_are_opened(name, value):
    seen = open_record(ReadRecord(value))
    assert (seen.container, seen.compression, seen.text) == ("json", name, TEXT.decode())
    assert seen.members["commitTs"] == 447984074911121409


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (b"", "the value has no bytes"),
        (TEXT[:40], "begins as JSON and is none"),
        (b'{"a":"\xff"}', "no UTF-8 at byte 6"),
        (b"plain text", "neither JSON nor Avro of a published schema"),
        (b"\x00\x00\x00\x00\x07abc", "a schema registry's header"),
        (b"Obj\x01abc", "an Avro file"),
        (b"\xc3\x01abcdefgh", "Avro's single-object encoding"),
        (gzip.compress(b"no message", mtime=0), "behind gzip: neither JSON nor Avro of a published schema"),
        (b"{" * 100_000, "begins as JSON and is none"),
    ],
)
def test_what_is_no_message_says_why(value, problem):
    seen = open_record(ReadRecord(value))
    assert seen.container == "unreadable"
    assert seen.problem.startswith(problem)


def test_nulls_control_characters_and_columns_named_like_an_envelope_are_no_problem():
    assert [open_record(ReadRecord(value)).container for value in (None, b"null")] == ["null", "null"]
    seen = open_record(ReadRecord(b'{"a":"\x01"}'))
    assert (seen.container, seen.members) == ("json", {"a": "\x01"})
    assert open_record(ReadRecord(b'{"schema":{"type":"struct"},"payload":{"a":1}}')).payload == {"a": 1}
    assert open_record(ReadRecord(b'{"schema":1,"payload":{"a":1}}')).payload == {"schema": 1, "payload": {"a": 1}}


@pytest.mark.parametrize("name", ["aliyun-dts-avro", "ticdc-simple-avro"])
def test_avro_that_is_cut_or_altered_is_never_an_exception(name):
    from generators.drawing.cases import as_case, boundary_scenarios

    fmt, chance = get(name), random.Random(1)
    written = [
        x
        for s, _ in zip(boundary_scenarios(fmt, fmt.profiles[0]), range(6), strict=False)
        for x in as_case(fmt, fmt.profiles[0], s).written
    ]
    assert written
    for one in written:
        value = one.message.value
        assert open_record(ReadRecord(value)).schema == name
        assert open_record(ReadRecord(value[:-1])).schema != name
        for _ in range(40):
            altered = bytearray(value)
            altered[chance.randrange(len(altered))] = chance.randrange(256)
            assert open_record(ReadRecord(bytes(altered))).container in ("avro", "unreadable", "json")
