"""What every reference decoder keeps: columns and names, and what becomes of a message of its
writer that is spoilt.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import cramjam
import pytest
from decoded import assert_contract, by_offset, parses

from conformance.load.bench import plain_profile
from generators.model import Column, Deployment, History, Kind, Layout, Op, Table
from generators.sources import boundaries
from generators.sources.collections import collection_of
from generators.sources.databases import source
from generators.wire_format import FORMATS, get
from spark_checks import reference
from spark_checks.decoders import ticdc_canal_json
from spark_checks.decoders.families import framing

AVRO = ("aliyun-dts-avro", "ticdc-simple-avro")
PROTOBUF = ("alibaba-canal-protobuf",)
CONFLUENT = ("debezium-avro", "ticdc-avro", "debezium-mongodb-avro", "ticdc-debezium-avro")
BINARY = (*AVRO, *PROTOBUF, "ticdc-open-protocol", *CONFLUENT)
MODULES = {**{name: reference(name) for name in FORMATS}, "a baseline": ticdc_canal_json.BASELINE}
DOCUMENTS = ("debezium-mongodb-json", "debezium-mongodb-avro")
"""Formats whose rows are JSON in a text of JSON."""
ROW_ALONE = {"alibaba-canal-protobuf": "1.1.8+filtered"}
"""The profile of a format whose plain one writes other changes into the message of a row."""
TEXT = 'q"uo\\te\n\u0001汉x'
BEHIND = (b"x", b" x", b"}", b"]", b"\x00")
PACKED = {"snappy": cramjam.snappy.compress_raw, "lz4": cramjam.lz4.compress}
NAMELESS = (
    *("flink-canal-json", "flink-debezium-json", "flink-maxwell-json", "flink-ogg-json"),
    "seatunnel-canal-json",
)
"""Formats whose messages name no table."""
PARSES = {
    "debezium-json": ([2], [2]),
    "debezium-avro": ([2], [2]),
    **dict.fromkeys(DOCUMENTS, ([5], [5])),
    "ticdc-simple-json": ([1, 1], [1]),
    **dict.fromkeys(("maxwell-json", "ogg-json", "aws-dms-json"), ([4], [1])),
    **dict.fromkeys(NAMELESS, ([4], [1])),
    "flinkcdc-canal-json": ([5], [1]),
    "flinkcdc-debezium-json": ([4], [1]),
}
"""How often the lines of a plan parse a message, at level one and at level two, where it is not
once: Simple's schemas are read apart; where values are JSON numbers, level one parses the images
again, of messages alone that may have a number of which a double loses digits. MongoDB's has four
texts of documents in it.
"""


WIDE = ("ticdc-canal-json", "debezium-json")
"""Formats whose columns of every type are looked at: the others' are made by the same functions,
and typed in every run.
"""
SECONDS = 90
"""An expression that doubles with every layer takes hours to plan; all others take seconds on a
busy machine.
"""


def update(name: str, /, **place: str) -> tuple[Table, bytes | None, bytes]:
    """A table, and an update to it as a plain profile of the format writes it, with its key where a
    value is nothing without; `s` becomes "y". `place` are other names of the table.
    """
    fmt = get(name)
    profile = fmt.profile(ROW_ALONE[name]) if name in ROW_ALONE else plain_profile(fmt)
    origin = source(profile.source)
    columns = (Column("id", origin.number, nullable=False), Column("s", origin.string))
    table = replace(Table("db", "t", columns, ("id",), schema=origin.schema), **place)
    change = boundaries.change(
        table, Op.UPDATE, ({"id": 7, "s": TEXT + "was"}, {"id": 7, "s": "y"})
    )
    written = fmt.write(History((change,)), profile, Layout())
    *_, message = (  # Flink writes the DELETE of the old row before the INSERT of the new one
        w.message for w in written if any(change.kind is Kind.ROW for change in w.changes)
    )
    assert message.value is not None
    written_table = collection_of(table) if profile.source == "mongodb" else table
    return written_table, message.key if fmt.container == "frames" else None, message.value


@pytest.mark.parametrize("name", MODULES)
def test_columns_parsing_and_planning(records, name):
    """Both levels have the contract's columns and parse a message as often as PARSES says. A user's
    filter on them is planned: Spark copies an expression into it as often as named.
    """
    decoder, none = MODULES[name], records(b"{}")
    table = update(name)[0] if name in FORMATS else update("ticdc-canal-json")[0]
    assert_contract(decoder, records, table)
    if name in WIDE:
        assert_contract(
            decoder, records, boundaries.every_type(lambda _: True, get(name).profiles[0].source)
        )
    word = (
        "from_avro("
        if name in AVRO
        else "from_json(StructField(m"
        if name == "ticdc-simple-json"
        else "from_json("
    )
    level_one, level_two = PARSES.get(name, ([1], [1]))
    for frame, often in (
        (decoder.decode(none), level_one),
        (decoder.decode_rows(none, table), level_two),
    ):
        assert name == "ticdc-simple-avro" or parses(frame, word) == often
        filtered, pool = (
            frame.where("kind = 'ROW' AND op IN ('INSERT', 'UPDATE') AND offset > 7"),
            ThreadPoolExecutor(1),
        )
        planned = pool.submit(parses, filtered, word)
        pool.shutdown(wait=False)
        assert planned.result(timeout=SECONDS)


@pytest.mark.parametrize("name", FORMATS)
def test_what_becomes_of_messages_of_other_tables_and_of_spoilt_ones(records, name):
    """Level two gives the rows of its table alone: not those of a table whose name, schema or
    database is another, if only in the case of a letter. A message that is cut, at each of the last
    bytes or at every fifth before, or that goes on, is one corrupt row at both levels; but for the
    last field of the newer edition of Aliyun's record, which the older lacks: a test of its own has
    it. Unspecified input never raises and never vanishes.
    """
    table, key, whole = update(name)
    elsewhere = [{"name": "T"}, {"name": "u"}, *([{"schema": "Public"}] if table.schema else [])]
    elsewhere += (
        [{"database": "DB"}] if name != "huawei-cdl-json" else []
    )  # which names no database
    if name in NAMELESS:
        elsewhere = []
    others = [update(name, **place)[1:] for place in elsewhere]
    last = len(whole) - 8 * (name == "aliyun-dts-avro")
    cut = [whole[:end] for end in sorted({*range(0, last, 5), *range(max(0, last - 40), last)})]
    wrong = [
        *cut,
        *(whole + more for more in BEHIND),
        *([whole * 2] * (name not in PROTOBUF)),  # of a field that occurs twice the last counts
        whole + b"," + whole,
        b"[" + whole + b"]",
        b" \r\n",
        b"5",
    ]
    wrong += [b'"INSERT"', b"{}"]
    quote = b'\\"' if name in DOCUMENTS else b'"'
    texts = [b'y","s":"z', b"\\ud800", b"\xff\xfe", b"\t\x01"]
    spoilt_texts = [quote + text.replace(b'"', quote) + quote for text in texts]
    odd = [
        b"\xef\xbb\xbf" + whole,
        *(whole.replace(quote + b"y" + quote, text) for text in spoilt_texts),
    ] * (name not in BINARY)
    assert whole not in odd and len(set(odd)) == len(odd)
    sent = records((key, whole), *others, *((key, value) for value in (*wrong, *odd)))
    first = 1 + len(others)
    corrupt, doubtful = (
        range(first, first + len(wrong)),
        range(first + len(wrong), first + len(wrong) + len(odd)),
    )
    changes = by_offset(reference(name).decode(sent))
    rows = by_offset(reference(name).decode_rows(sent, table))
    assert (set(changes), set(rows)) == (
        {*range(first), *corrupt, *doubtful},
        {0, *corrupt, *doubtful},
    )
    assert (rows[0].kind, tuple(rows[0].after)) == ("ROW", (7, "y"))
    for level in (changes, rows):
        spoilt = [level[offset] for offset in corrupt]
        assert {(r.kind, bool(r.error), r.op, r.before, r.after) for r in spoilt} == {
            ("CORRUPT", True, None, None, None)
        }
    assert not odd or changes[doubtful[-1]].after["s"] == "\t\x01"


@pytest.mark.parametrize("compression", ["snappy", "lz4"])
def test_a_value_of_more_than_the_limit_is_not_decompressed(monkeypatch, compression):
    monkeypatch.setattr(framing, "DECOMPRESSED_LIMIT", 1 << 20)
    undo = framing._DECOMPRESS[compression]
    sizes = {}
    for size in (1, 1 << 20, (1 << 20) + 1):
        value = framing._decompressed(undo, bytes(PACKED[compression](bytes(size))))
        sizes[size] = None if value is None else len(value)
    assert sizes == {1: 1, 1 << 20: 1 << 20, (1 << 20) + 1: None}


@pytest.mark.parametrize(
    ("name", "compression"),
    [
        ("ticdc-canal-json", "snappy"),
        ("ticdc-canal-json", "lz4"),
        ("ticdc-simple-json", "snappy"),
        ("ticdc-simple-avro", "lz4"),
    ],
)
def test_compressed_values(records, name, compression):
    *_, whole = update(name)
    packed = bytes(PACKED[compression](whole))
    frame = reference(name).decode(
        records(packed, packed[:-3], None, whole), deployment=Deployment(compression=compression)
    )
    out = by_offset(frame)
    assert ([r.kind for r in out.values()], out[0].after["s"]) == (
        ["ROW", "CORRUPT", "CORRUPT", "CORRUPT"],
        "y",
    )
