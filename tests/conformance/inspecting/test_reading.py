import base64
import json
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.inspecting.opening import ReadRecord
from conformance.inspecting.reading import from_path
from generators.errors import UsageError


def read(path):
    return list(from_path(path))


def test_lines_are_messages(tmp_path):
    file = tmp_path / "lines.txt"
    file.write_bytes(b'{"a":1}\r\n\n{"topic":"t","value":2}\nnonsense\n')
    assert read(file) == [
        ReadRecord(b'{"a":1}', place="lines.txt:1", exact=False),
        ReadRecord(b'{"topic":"t","value":2}', place="lines.txt:3", exact=False),
        ReadRecord(b"nonsense", place="lines.txt:4", exact=False),
    ]


def test_lines_may_be_records(tmp_path):
    value = base64.b64encode(b"\x16\xff").decode()
    lines = [
        {"topic": "t", "partition": 2, "offset": 7, "key": {"text": "k"}, "value": {"base64": value}},
        {"n": 1, "topic": "t", "partition": 0, "key": "k", "value": '{"a":1}'},
        {"n": 2, "topic": "t", "partition": 0, "value_b64": value},
        {"topic": "t", "partition": 1, "offset": 3, "key": None, "payload": '{"a":2}'},
        {"topic": "t", "partition": 1, "offset": 4, "value": None},
        {"topic": "t", "partition": 1, "value": {"a": 3}},
    ]
    file = tmp_path / "messages.jsonl.xz"
    file.write_bytes(lzma.compress("\n".join(map(json.dumps, lines)).encode()))
    found = read(tmp_path)
    assert [one.value for one in found] == [b"\x16\xff", b'{"a":1}', b"\x16\xff", b'{"a":2}', None, b'{"a":3}']
    assert [one.key for one in found] == [b"k", b"k", None, None, None, None]
    assert [(one.partition, one.offset) for one in found] == [(2, 7), (0, -1), (0, -1), (1, 3), (1, 4), (1, -1)]
    assert all(one.exact for one in found)


def test_a_table_of_spark_s_kafka_source(tmp_path):
    table = {"value": pa.array([b"a", None], pa.binary()), "key": [b"k", None], "partition": [1, 1], "offset": [5, 6]}
    pq.write_table(pa.table(table), tmp_path / "part.parquet")
    assert read(tmp_path / "part.parquet") == [
        ReadRecord(b"a", b"k", "", 1, 5, "part.parquet, row 0"),
        ReadRecord(None, None, "", 1, 6, "part.parquet, row 1"),
    ]


def test_a_binary_file_is_one_message(tmp_path):
    file = tmp_path / "one.avro"
    file.write_bytes(b"\x16\x06\n\xff")
    assert [one.value for one in read(file)] == [b"\x16\x06\n\xff"]


def test_files_that_cannot_be_read(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1abc")
    (tmp_path / "cut.xz").write_bytes(lzma.compress(b"abc" * 1000)[:40])
    (tmp_path / "empty").mkdir()
    (tmp_path / "nothing").touch()
    bad = {"other.parquet": r"no column `value`.*its columns: a", "empty": r"no file messages\.jsonl"}
    for name, told in (bad | {"cut.parquet": r"cut\.parquet", "cut.xz": r"cut\.xz"}).items():
        with pytest.raises(UsageError, match=told):
            read(tmp_path / name)
    assert read(tmp_path / "nothing") == []
