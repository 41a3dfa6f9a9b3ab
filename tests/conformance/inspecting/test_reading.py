"""Records of files and of values: lines, tables, compressed and cut ones; and the signs by which
writers are told.
"""

import base64
import gzip
import json
import lzma
import random
from functools import partial
from itertools import islice
from typing import NamedTuple

import confluent_kafka
import cramjam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import KafkaError

from conformance.inspecting import opening, reading, table
from conformance.inspecting.books import BOOKS
from conformance.inspecting.evidence import Watched
from conformance.inspecting.opening import ReadRecord, open_record
from conformance.inspecting.reading import read_path
from conformance.inspecting.table import PARTS, condition
from conformance.rules.sources import fact
from conformance.rules.tables import TableFile
from generators.errors import UsageError
from generators.families import confluent
from generators.model import Column, Default, History, Layout, Table
from generators.sources import mysql
from generators.sources.boundaries import insert
from generators.wire_format import FORMATS, get


def read(path):
    return list(read_path(path))


def test_lines_are_messages(tmp_path):
    file = tmp_path / "lines.txt"
    file.write_bytes(b'{"a":1}\r\n\n{"topic":"t","value":2}\nnonsense\n')
    assert read(file) == [
        ReadRecord(b'{"a":1}', place="lines.txt:1", exact=False),
        ReadRecord(b'{"topic":"t","value":2}', place="lines.txt:3", exact=False),
        ReadRecord(b"nonsense", place="lines.txt:4", exact=False),
    ]


def test_lines_of_the_console_consumer_have_a_key_before_a_tab(tmp_path):
    file = tmp_path / "printed.txt"
    lines = (
        '{"id":1}\t{"op":"c","a":"x\\ty"}',
        '{"id":1}\tnull',
        'null\t{"op":"c"}',
        'key one\t{"op":"c"}',
        '\t{"op":"c"}',
        '{"a":"x\ty"}',
        "a\tb",
    )
    file.write_text("\n".join(lines))
    assert [(record.key, record.value) for record in read_path(file)] == [
        (b'{"id":1}', b'{"op":"c","a":"x\\ty"}'),
        (b'{"id":1}', None),
        (None, b'{"op":"c"}'),
        (b"key one", b'{"op":"c"}'),
        (b"", b'{"op":"c"}'),
        (None, b'{"a":"x\ty"}'),
        (None, b"a\tb"),
    ]


def test_lines_may_be_records(tmp_path):
    value = base64.b64encode(b"\x16\xff").decode()
    lines = [
        {
            "topic": "t",
            "partition": 2,
            "offset": 7,
            "key": {"text": "k"},
            "value": {"base64": value},
        },
        {"n": 1, "topic": "t", "partition": 0, "key": "k", "value": '{"a":1}'},
        {"n": 2, "topic": "t", "partition": 0, "value_b64": value},
        {"topic": "t", "partition": 1, "offset": 3, "key": None, "payload": '{"a":2}'},
        {"topic": "t", "partition": 1, "offset": 4, "value": None},
        {"topic": "t", "partition": 1, "value": {"a": 3}},
        {"topic": "t", "partition": 1, "value": {"id": 1, "text": "hello"}},
        {"topic": "t", "partition": 1, "value": {"base64": "AA==", "text": ""}},
    ]
    file = tmp_path / "messages.jsonl.xz"
    file.write_bytes(lzma.compress("\n".join(map(json.dumps, lines)).encode()))
    records = read(tmp_path)
    objects = [b'{"a":3}', b'{"id":1,"text":"hello"}', b'{"base64":"AA==","text":""}']
    assert [record.value for record in records] == [
        b"\x16\xff",
        b'{"a":1}',
        b"\x16\xff",
        b'{"a":2}',
        None,
        *objects,
    ]
    assert [record.key for record in records] == [b"k", b"k", *[None] * 6]
    places = [(2, 7), (0, -1), (0, -1), (1, 3), (1, 4), *[(1, -1)] * 3]
    assert [(record.partition, record.offset) for record in records] == places
    assert all(record.exact for record in records)


def test_a_table_of_spark_s_kafka_source(tmp_path):
    table = {
        "value": pa.array([b"a", None], pa.binary()),
        "key": [b"k", None],
        "partition": [1, 1],
        "offset": [5, 6],
    }
    pq.write_table(pa.table(table), tmp_path / "part.parquet")
    assert read(tmp_path / "part.parquet") == [
        ReadRecord(b"a", b"k", "", 1, 5, "part.parquet, row 0"),
        ReadRecord(None, None, "", 1, 6, "part.parquet, row 1"),
    ]


def test_a_binary_file_is_one_message(tmp_path):
    file = tmp_path / "one.avro"
    file.write_bytes(b"\x16\x06\n\xff")
    assert [record.value for record in read(file)] == [b"\x16\x06\n\xff"]


def test_files_that_cannot_be_read(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1abc")
    (tmp_path / "cut.xz").write_bytes(lzma.compress(b"abc" * 1000)[:40])
    (tmp_path / "empty").mkdir()
    (tmp_path / "nothing").touch()
    bad = {
        "other.parquet": r"no column `value`.*its columns: a",
        "empty": r"no file messages\.jsonl",
    }
    for name, message in (bad | {"cut.parquet": r"cut\.parquet", "cut.xz": r"cut\.xz"}).items():
        with pytest.raises(UsageError, match=message):
            read(tmp_path / name)
    assert read(tmp_path / "nothing") == []


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
        (
            gzip.compress(b"no message", mtime=0),
            "behind gzip: neither JSON nor Avro of a published schema",
        ),
        pytest.param(b"{" * 100_000, "begins as JSON and is none", id="deep"),
        (
            gzip.compress(TEXT, mtime=0)[:-9],
            "begins as gzip, and is damaged, cut, or longer than 64 MiB",
        ),
        (
            bytes(cramjam.zstd.compress(TEXT))[:-9],
            "begins as zstd, and is damaged, cut, or longer than 64 MiB",
        ),
    ],
)
def test_what_is_no_message_says_why(value, problem, monkeypatch):
    monkeypatch.setattr(confluent, "SCHEMAS", {})  # other tests register schemas by these numbers
    seen = open_record(ReadRecord(value))
    assert seen.container == "unreadable"
    assert seen.problem.startswith(problem)


@pytest.mark.parametrize(
    ("compress", "problem"),
    [
        (partial(gzip.compress, compresslevel=1), "begins as gzip, and is damaged"),
        (cramjam.zstd.compress, "begins as zstd, and is damaged"),
        (cramjam.lz4.compress, "begins as lz4, and is damaged"),
        (cramjam.snappy.compress_raw, "neither JSON nor Avro"),
    ],
    ids=["gzip", "zstd", "lz4", "snappy"],
)
def test_what_is_longer_than_the_limit_is_not_opened(compress, problem):
    seen = open_record(ReadRecord(bytes(compress(b'"' + b"a" * opening.LIMIT + b'"'))))
    assert seen.container == "unreadable"
    assert seen.problem.startswith(problem)


def test_a_value_in_gzip_of_several_members_is_read_whole():
    value = gzip.compress(b'{"a":') + gzip.compress(b"1}")
    opened = open_record(ReadRecord(value))
    assert (opened.container, opened.compression) == ("json", "gzip")
    damaged = open_record(ReadRecord(value + b"\x1f\x8b"))
    assert damaged.problem.startswith("begins as gzip, and is damaged")


def test_a_registered_schema_may_have_a_whole_number_as_the_default_of_a_double():
    """As TiCDC registers a DOUBLE DEFAULT 0."""
    columns = (
        Column("id", mysql.integer("int"), False),
        Column("c", mysql.real("double"), default=Default("0", 0.0)),
    )
    fmt, event = get("ticdc-avro"), insert(Table("d", "t", columns, ("id",)), {"id": 1, "c": 1.5})
    (record,) = fmt.write(History((event,)), fmt.build("v8.5.7"), Layout())
    assert (
        b'"default":0,' in confluent.SCHEMAS[int.from_bytes(record.message.value[1:5])][1].encode()
    )
    assert open_record(ReadRecord(record.message.value)).document["payload"] == {"id": 1, "c": 1.5}


def test_nulls_control_characters_and_columns_named_like_an_envelope_are_no_problem():
    assert [open_record(ReadRecord(value)).container for value in (None, b"null")] == [
        "null",
        "null",
    ]
    seen = open_record(ReadRecord(b'{"a":"\x01"}'))
    assert (seen.container, seen.members) == ("json", {"a": "\x01"})
    assert open_record(ReadRecord(b'{"schema":{"type":"struct"},"payload":{"a":1}}')).payload == {
        "a": 1
    }
    assert open_record(ReadRecord(b'{"schema":1,"payload":{"a":1}}')).payload == {
        "schema": 1,
        "payload": {"a": 1},
    }


def test_a_json_value_of_eight_bytes_with_the_key_1_is_not_open_protocol():
    seen = open_record(ReadRecord(b'{"a": 1}', key=b"\0\0\0\0\0\0\0\1"))
    assert (seen.container, seen.document) == ("json", {"a": 1})


@pytest.mark.parametrize("name", ["aliyun-dts-avro", "ticdc-simple-avro"])
def test_avro_that_is_cut_or_altered_is_never_an_exception(name):
    from generators.drawing.cases import as_case, boundary_scenarios

    fmt, chance = get(name), random.Random(1)
    scenarios = islice(boundary_scenarios(fmt, fmt.profiles[0]), 6)
    written = [
        sent for scenario in scenarios for sent in as_case(fmt, fmt.profiles[0], scenario).written
    ]
    assert written
    for sent in written:
        value = sent.message.value
        assert open_record(ReadRecord(value)).schema == name
        assert open_record(ReadRecord(value[:-1])).schema != name
        for _ in range(40):
            altered = bytearray(value)
            altered[chance.randrange(len(altered))] = chance.randrange(256)
            assert open_record(ReadRecord(bytes(altered))).container in (
                "avro",
                "unreadable",
                "json",
            )


SIGNS = [(book, sign) for book in BOOKS for sign in book.signs]


def test_every_format_has_its_evidence_in_words_of_its_own():
    assert sorted(book.format for book in BOOKS) == sorted(FORMATS)
    for book in BOOKS:
        words = [sign.says for sign in book.signs]
        assert len(words) == len(set(words)), book.format


def test_signs_cite_facts_and_say_something():
    assert len(SIGNS) > 100
    for _, sign in SIGNS:
        assert fact(sign.citation) if sign.citation else sign.given or sign.without, sign
        assert not (sign.never and (sign.releases or sign.given or sign.without)), sign
        assert sign.never or sign.releases or sign.given or sign.without, sign
        assert not set(sign.given) & set(sign.without), sign


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("type=INSERT|UPDATE; old=null", True),
        ("type=INSERT; old?", False),
        ("id=0", False),
        ("not id=0; flag=false", True),
        ("flag=5|true|0", False),
        ("id=5|true", False),
        ("inner.a; inner.b?; not inner.b; not inner.c?", True),
        ("missing|type?", True),
        ("inner~^x|^yes$", True),
        ("type~UPD", False),
        ("json|avro in container()", True),
        ("twice()=[2, 4]; 4 in twice(); not 3|5 in twice()", True),
        (["id=1", "id=2"], True),
        ((), False),
    ],
)
def test_conditions_of_signs(when, holds):
    seen = open_record(
        ReadRecord(b'{"type":"INSERT","id":1,"flag":false,"inner":{"a":"yes","b":""}}')
    )
    facts = {"twice": lambda _: [2, 4]}
    assert condition(when, lambda seen: seen.members, facts)(seen) is holds


def read_tables(text, facts):
    return tuple(table.read([(TableFile("x.toml", text, PARTS), facts)]))


TABLE = """[books.maxwell-json]
product = "Maxwell"
marks = "type?"
[signs.maxwell-json]
"it is a row" = { when = "type?", means = "never" }
"""


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("[signs.", "[sings.", "x.toml:4: unknown part 'sings'. Did you mean 'signs'?"),
        ("product", "produkt", "x.toml:1: unknown field 'produkt'. Did you mean 'product'?"),
        ('product = "Maxwell"', "", "x.toml:1: it does not say product"),
        ('marks = "type?"', "marks = 1", "x.toml:1: marks is 1, not of type"),
        (
            "[signs.maxwell",
            "[signs.maxwel",
            "x.toml:1: unknown group of signs 'maxwell-json'. Did you mean 'maxwel-json'?",
        ),
        ("marks =", "shapes_of = 'ogg'\nmarks =", "x.toml:1: unknown book 'ogg'"),
        (
            "marks =",
            "describe = 'tabel'\nmarks =",
            "x.toml:1: unknown fact 'tabel'. Did you mean 'table'? Known: table.",
        ),
        ('when = "type?", ', "", "x.toml:5: it is a row: a sign says either when"),
        (
            'when = "type?"',
            'watched = "tombstone"',
            "x.toml:5: it is a row: maxwell-json has no watch",
        ),
        (
            'when = "type?"',
            'wen = "type?"',
            "x.toml:5: it is a row: unknown field 'wen'. Did you mean 'when'?",
        ),
        (
            'when = "type?"',
            'when = "tabel()"',
            "x.toml:5: it is a row: unknown fact 'tabel'. Did you mean 'table'?",
        ),
        (
            'when = "type?"',
            'when = "id ! 0"',
            "x.toml:5: it is a row: no term of a condition: id ! 0",
        ),
        ('when = "type?"', 'when = "id~("', "x.toml:5: it is a row: ( is no pattern"),
        ('"never"', '"+javascript"', "x.toml:5: it is a row: unknown option 'javascript'"),
        ('"never"', '"1.29.2"', "x.toml:5: it is a row: unknown release '1.29.2'"),
        ('"never"', '"..1.29.2"', "x.toml:5: it is a row: unknown release '1.29.2'"),
        ('"never"', '"never", each = "option"', "x.toml:5: it is a row: unknown each 'option'"),
    ],
)
def test_what_is_wrong_in_a_table_is_told_with_its_line(old, new, wrong):
    assert TABLE.count(old) == 1
    with pytest.raises(UsageError) as error:
        read_tables(TABLE.replace(old, new), {"table": lambda _seen: None, "_own": 1})
    assert str(error.value).startswith(wrong)


def test_a_sign_of_each_release_and_one_that_a_watch_tells():
    signs = """"it is {}" = { when = "type={}", means = "{}", each = "release" }
"a null follows" = { watched = "tombstone", means = "never" }
"""
    text = TABLE.replace('marks = "type?"', 'marks = "type?"\nwatch = "table"') + signs
    (book,) = read_tables(text, {"table": lambda: None})
    releases = get("maxwell-json").choices.releases
    assert [(sign.says, sign.releases) for sign in book.signs[1:-1]] == [
        (f"it is {name}", (name,)) for name in releases
    ]
    seen = open_record(ReadRecord(json.dumps({"type": releases[0]}).encode()))
    assert [sign.seen(seen) for sign in book.signs] == [True, True, *[False] * len(releases)]
    assert book.signs[-1].watched is Watched.TOMBSTONE


def test_what_a_watch_tells_is_a_sign_of_its_book():
    assert {sign.watched for _, sign in SIGNS} == {None, *Watched}


class PolledMessage(NamedTuple):
    """A record, or the end of a partition, as Kafka's client gives it."""

    number: int
    offset_of_it: int
    is_end: bool = False

    def partition(self) -> int:
        return self.number

    def offset(self) -> int:
        return self.offset_of_it

    def error(self) -> KafkaError | None:
        return KafkaError(KafkaError._PARTITION_EOF) if self.is_end else None

    def topic(self) -> str:
        return "t"

    def value(self) -> bytes:
        return b"{}"

    def key(self) -> None:
        return None


def test_an_end_before_the_one_that_was_told_at_first_is_waited_past():
    ends_ahead = {0: 3, 1: 1}
    polled = [PolledMessage(0, 1), PolledMessage(0, 2, is_end=True), PolledMessage(1, 0)]
    read = list(reading._read_messages(polled, ends_ahead, confluent_kafka))
    assert ([record.place for record in read], ends_ahead) == (["t-0@1", "t-1@0"], {0: 3})
    read = list(reading._read_messages([PolledMessage(0, 2)], ends_ahead, confluent_kafka))
    assert ([record.place for record in read], ends_ahead) == (["t-0@2"], {})


def test_a_partition_whose_last_place_has_no_record_ends_there():
    ends_ahead = {0: 3}
    polled = [PolledMessage(0, 1), PolledMessage(0, 3, is_end=True)]
    assert len(list(reading._read_messages(polled, ends_ahead, confluent_kafka))) == 1
    assert ends_ahead == {}
