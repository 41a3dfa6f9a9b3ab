"""Decoders as subprocesses: an honest one, and one that breaks the protocol in every way that we
know.
"""

import base64
import datetime as dt
import json
import os
import re
import shlex
import signal
import sys
import threading
import time
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest

from conformance.engines import command
from conformance.engines.command import CommandEngine, ProtocolBreak, RecordsRaised
from conformance.engines.engine import (
    ChildDied,
    DecodeRaised,
    DecodeTimeout,
    Loaded,
    RecordSource,
    Request,
    write_records,
)
from conformance.judging.capabilities import Capabilities
from conformance.judging.output import OutputRow, check_columns, read
from generators.errors import HarnessError, UsageError
from generators.model import Column, Deployment, Message, Table
from generators.sources.mysql import TYPES

ROOT = Path(__file__).resolve().parents[3]
LIAR = Path(__file__).parent / "command_liars" / "liar.py"
SCHEMA = jsonschema.Draft202012Validator(command.protocol_schema())
VALUES = (b"a", b"lie", b"\xff\x00", b"", None, "\u2028 é".encode(), b"c")
EVERYTHING = (("cdc", 0, 0, 99),)
WITHOUT_LIE = (("cdc", 0, 0, 0), ("cdc", 0, 2, 99))


def liar(lie):
    return f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(LIAR))} {lie}"


def schema_of(part):
    return jsonschema.Draft202012Validator(
        {**command.protocol_schema(), "oneOf": [{"$ref": f"#/$defs/{part}"}]}
    )


def asking(decoder, ranges=EVERYTHING, **options):
    return Request(
        **{
            "handle": "h",
            "ranges": ranges,
            "decoder": decoder,
            "level": 1,
            "deployment": Deployment(),
        }
        | options
    )


def put(engine, values=VALUES, handle="h"):
    """Opens records with these values, one partition, and gives their number."""
    path = engine.directory / f"{handle}.parquet"
    headers = ((), (("h", b"\xfe"),))
    messages = [
        Message("cdc", 0, b"k", value, headers[i % 2], 1_700_000_000_123)
        for i, value in enumerate(values)
    ]
    write_records(path, messages, range(len(messages)))
    return engine.keep_records(handle, RecordSource(EVERYTHING, parquet=str(path))).result(60)


@pytest.fixture
def engine():
    """A function that makes an engine with records open."""
    made = []

    def make(values=VALUES, **options):
        made.append(CommandEngine(**{"fmt": "any", "timeout_s": 20} | options))
        put(made[-1], values)
        return made[-1]

    yield make
    for started in made:
        started.close()


def seen(table):
    """The v of each record's after image, by offset."""
    return {place[2]: [row.after["v"] for row in rows] for place, rows in read(table, 1).items()}


HONEST = {0: ["a"], 1: ["lie"], 2: ["\xff\x00"], 3: [""], 4: [None], 5: ["\u2028 é"], 6: ["c"]}


def test_an_honest_decoder_gives_the_level_one_columns(engine):
    table = engine().decode(asking(liar("honest"))).result(60)
    check_columns(table.schema, 1, "honest")
    assert seen(table) == HONEST
    fields = dict.fromkeys(("database", "schema", "table", "keys", "sql"))
    assert read(table, 1)["cdc", 0, 0] == [
        OutputRow(0, "ROW", "INSERT", fields, None, {"v": "a"}, None)
    ]


def test_a_lone_surrogate_in_an_answer_is_read_as_a_replacement_character(engine):
    assert seen(engine().decode(asking(liar("lone-surrogate"))).result(60))[1] == ["a\ufffdb"]


_LINES = Path(__file__).with_name("breaches.txt").read_text("utf-8").splitlines()[1:]
_OUTCOMES = {
    lie: (kind, text) for lie, kind, text in (re.split("  +", line, maxsplit=2) for line in _LINES)
}
KINDS = {kind.__name__: kind for kind in (ProtocolBreak, ChildDied, DecodeTimeout)}
BREACHES = {lie: (KINDS[kind], text) for lie, (kind, text) in _OUTCOMES.items() if kind in KINDS}
REFUSALS = {lie: text for lie, (kind, text) in _OUTCOMES.items() if kind not in KINDS}


SHOWN = (
    "unknown-kind",
    "cell-no-text",
    "image-no-map",
    "unknown-field",
    "no-row",
    "unknown-type",
    "sequence-as-text",
)
SHOWN += ("negative-row", "no-list", "unknown-op")


@pytest.mark.parametrize("lie", BREACHES)
def test_a_breach_is_told_and_the_next_call_has_a_fresh_process(
    engine, session_processes, lie, tmp_path
):
    kind, text = BREACHES[lie]
    started = engine(
        timeout_s=3 if lie == "hang" else 20, line_limit=1_000_000, trace=tmp_path / "trace"
    )
    assert started.load(liar(lie), "auto").result(60) == Loaded((1,), Capabilities())
    first = started.pid
    with pytest.raises(kind, match=text) as raised:
        started.decode(asking(liar(lie))).result(60)
    assert type(raised.value) is kind
    assert session_processes(first) == []
    if lie in (*SHOWN, "repeated", "wrong-sequence"):
        said = [line for mark, line in traffic(tmp_path / "trace") if mark == "<"]
        assert all(map(schema_of("decoder").is_valid, said)) is (lie not in SHOWN), (
            "the schema sees what one line shows"
        )
    assert seen(started.decode(asking(liar(lie), WITHOUT_LIE)).result(60)) == {
        n: v for n, v in HONEST.items() if n != 1
    }
    assert started.pid not in (None, first)


def test_an_end_before_the_end_is_a_breach_while_records_are_still_sent(engine):
    started = engine([b"lie", *[b"x" * 100_000] * 100])
    with pytest.raises(ProtocolBreak, match=r"type: 'ended' came before the batch's end was sent"):
        started.decode(asking(liar("ended-early"))).result(60)


@pytest.mark.parametrize(
    ("lie", "failure"),
    [("no-answer", "seq 2 (cdc/0/1): no answer"), ("error", "seq 2 (cdc/0/1): cannot read that")],
)
def test_a_record_that_is_given_up_is_named_and_the_others_keep_their_answers(engine, lie, failure):
    started = engine()
    started.load(liar(lie), "auto").result(60)
    first = started.pid
    with pytest.raises(RecordsRaised) as raised:
        started.decode(asking(liar(lie))).result(60)
    assert isinstance(raised.value, DecodeRaised)
    assert (
        str(raised.value)
        == f"the decoder gave an error, or no answer, for 1 of 7 records: {failure}"
    )
    assert raised.value.errors == {("cdc", 0, 1): failure.partition(": ")[2]}
    assert seen(raised.value.table) == {n: v for n, v in HONEST.items() if n != 1}
    assert started.pid == first, "it kept the protocol, and goes on"


def test_an_error_without_end_is_cut(engine):
    with pytest.raises(
        RecordsRaised, match=r"for 30 of 30 records: (seq \d+ [^;]*; ){8}and 22 more$"
    ):
        engine([b"lie"] * 30).decode(asking(liar("error"))).result(60)


@pytest.mark.parametrize("lie", REFUSALS)
def test_a_decoder_that_does_not_shake_hands_cannot_be_loaded(engine, lie):
    started = engine(timeout_s=1 if lie == "silent" else 20)
    with pytest.raises(UsageError, match=REFUSALS[lie]):
        started.load(liar(lie), "auto").result(60)
    assert started.pid is None


def test_levels_are_what_is_asked_for_and_there(engine):
    started = engine()
    assert started.load(liar("level-two-only"), "auto").result(60).levels == (2,)
    assert started.load(liar("honest"), "changes").result(60).levels == (1,)
    with pytest.raises(UsageError, match="the decoder has level 2, asked for is level 1"):
        started.load(liar("level-two-only"), "changes").result(60)
    with pytest.raises(UsageError, match="the decoder has level 1, asked for is level 2"):
        started.load(liar("honest"), "rows").result(60)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (
            "cmd:no-such-here --x",
            r"there is no program 'no-such-here' on PATH .*\['no-such-here', '--x'\]",
        ),
        ("cmd:./no/such/file", r"there is no file \./no/such/file"),
        ("cmd:{tmp}/plain", r"plain is not executable"),
        ("cmd:{tmp}/bare", r"is no program: a script needs a first line"),
        ("cmd:'open", r"No closing quotation"),
        ("cmd:  ", r"names no program"),
        ("mine.py:decode", r"this engine runs commands"),
    ],
)
def test_a_command_that_cannot_start_is_told_with_what_was_tried(engine, tmp_path, spec, problem):
    (tmp_path / "plain").write_text("x", "utf-8")
    (tmp_path / "bare").write_text("x", "utf-8")
    (tmp_path / "bare").chmod(0o755)
    with pytest.raises(UsageError, match=problem):
        engine().load(spec.format(tmp=tmp_path), "auto").result(60)


def test_no_shell_sees_the_command(engine, tmp_path):
    spec = f"{liar('honest')} ; touch {tmp_path}/made"
    engine().load(spec, "auto").result(60)
    assert not (tmp_path / "made").exists()


def test_a_mapping_is_refused(engine):
    with pytest.raises(UsageError, match="--map renames columns of a Spark decoder"):
        engine().decode(asking(liar("honest"), mapping={"after": "x"})).result(60)


def test_records_that_cannot_be_read_fail_the_calls_that_need_them(engine):
    started = engine()
    opened = started.keep_records("gone", RecordSource(EVERYTHING, parquet="/no/such.parquet"))
    for future in (opened, started.decode(asking("cmd:x", handle="gone"))):
        with pytest.raises(HarnessError, match=r"cannot read records from /no/such\.parquet"):
            future.result(60)
    started.release("h")
    with pytest.raises(HarnessError, match="no records are open under the name 'h'"):
        started.decode(asking(liar("honest"))).result(60)


def test_many_and_large_messages_do_not_block(engine):
    big, binary = ["x" * 25_000_000, *("é" * 2000 for _ in range(3000))], b"\xff" * 25_000_000
    started = engine([binary, *(text.encode() for text in big)], timeout_s=60)
    values = seen(started.decode(asking(liar("honest"), (("cdc", 0, 0, 9999),))).result(60))
    assert [values[n] for n in range(3002)] == [
        [binary.decode("latin-1")],
        *([text] for text in big),
    ]


def test_a_process_that_dies_between_calls_is_told_once_and_replaced(
    engine, eventually, session_processes
):
    started = engine()
    started.load(liar("honest"), "auto").result(60)
    first = started.pid
    os.killpg(first, signal.SIGKILL)
    eventually(lambda: session_processes(first) == [])
    with pytest.raises(
        ProtocolBreak,
        match="the decoder was killed by SIGKILL; it closed its standard output between two calls",
    ):
        started.decode(asking(liar("honest"))).result(60)
    assert seen(started.decode(asking(liar("honest"))).result(60)) == HONEST


def test_what_is_said_between_calls_is_told_once(engine):
    started = engine()
    assert seen(started.decode(asking(liar("afterthought"))).result(60)) == HONEST
    time.sleep(0.6)
    with pytest.raises(ProtocolBreak, match="the decoder spoke between two calls: 'by the way"):
        started.decode(asking(liar("afterthought"))).result(60)
    assert seen(started.decode(asking(liar("afterthought"))).result(60)) == HONEST


def test_the_environment_of_a_call_is_a_process_with_other_variables(engine, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    started = engine([b"x"])

    def zone(**conf):
        return read(started.decode(asking(liar("zone"), conf=conf)).result(60), 1)["cdc", 0, 0][
            0
        ].after["zone"]

    assert zone() == "Europe/Berlin"
    assert (
        zone(**{"spark.sql.session.timeZone": "Asia/Kolkata", "spark.sql.ansi.enabled": "true"})
        == "Asia/Kolkata"
    )
    assert zone(TZ="America/New_York", LC_ALL="C.UTF-8") == "America/New_York"
    assert zone() == "Europe/Berlin"


def traffic(path):
    """The lines of a trace: direction and object."""
    return [(line[:1].decode(), json.loads(line[2:])) for line in path.read_bytes().splitlines()]


def valid(path):
    """The same, once each line is as the schema says."""
    for mark, line in traffic(path):
        schema_of("harness" if mark == ">" else "decoder").validate(line)
    return traffic(path)


def test_a_repartition_deals_the_records_out_to_batches(engine, tmp_path):
    started = engine(trace=tmp_path / "trace")
    assert seen(started.decode(asking(liar("honest"), repartition=3)).result(60)) == HONEST
    batches = []
    for _, line in traffic(tmp_path / "trace"):
        if line["type"] == "begin":
            batches.append([])
        if line["type"] == "record":
            batches[-1].append(line["offset"])
    assert batches == [[2, 5], [1, 4], [0, 3, 6], []]


@pytest.mark.parametrize(
    "way", ["honest", "base64", "error", "claims", "backwards", "late", "loud", "stubborn"]
)
def test_what_the_protocol_allows_changes_nothing_and_every_line_is_as_the_schema_says(
    engine, tmp_path, way
):
    started = engine(trace=tmp_path / "trace")
    capabilities = started.load(liar(way), "auto").result(60).capabilities
    assert capabilities == (
        Capabilities(profiles=("v7*",), kinds=("ROW",)) if way == "claims" else Capabilities()
    )
    decoded = started.decode(
        asking(liar(way), deployment=Deployment("Asia/Shanghai", compression="lz4"))
    )
    assert decoded.exception(20) if way == "error" else seen(decoded.result(60)) == HONEST
    lines = valid(tmp_path / "trace")
    assert {mark for mark, _ in lines} == {"<", ">"}
    assert {line["type"] for _, line in lines} >= {
        "start",
        "started",
        "begin",
        "record",
        "changes",
        "end",
        "ended",
    }
    values = [line["value"] for mark, line in lines if line["type"] == "record"]
    held = [
        None if v is None else v["text"].encode() if "text" in v else base64.b64decode(v["base64"])
        for v in values
    ]
    assert held == [*VALUES]
    assert [v is None or "base64" in v for v in values] == [
        way == "base64" or v in (None, b"\xff\x00") for v in VALUES
    ]


def test_the_conversation_of_the_documentation_is_as_the_schema_says():
    text = (ROOT / "docs" / "any-language.md").read_text("utf-8")
    spoken = (
        text.split("## A conversation")[1].split("```")[1].strip().replace("\n   ", "").splitlines()
    )
    lines = [(line[0], json.loads(line[2:])) for line in spoken]
    assert [line["type"] for _, line in lines].count("record") == 2
    assert {line["type"] for _, line in lines} == {
        "start",
        "started",
        "begin",
        "record",
        "end",
        "changes",
        "ended",
    }
    for mark, line in lines:
        schema_of("harness" if mark == ">" else "decoder").validate(line)


def test_the_trace_can_be_asked_for_by_a_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("CDC_CONFORMANCE_TRACE", str(tmp_path / "trace"))
    with CommandEngine(fmt="any") as started:
        started.load(liar("honest"), "auto").result(60)
    assert traffic(tmp_path / "trace")[0] == (
        ">",
        {"cdc": 1, "type": "start", "format": "any", "levels": [1, 2]},
    )


def test_closing_ends_everything_even_what_ignores_sigterm(session_processes):
    started = CommandEngine(timeout_s=60)
    put(started)
    started.decode(asking(liar("stubborn"))).result(60)
    pid, directory, began = started.pid, started.directory, time.monotonic()
    assert session_processes(pid) == [pid]
    started.close()
    started.close()
    assert session_processes(pid) == [] and not directory.exists()
    assert time.monotonic() - began < 10
    with pytest.raises(HarnessError, match="the engine is closed"):
        started.decode(asking(liar("honest"))).result(5)


def test_closing_stops_what_runs_and_cancels_what_waits(session_processes, eventually):
    started = CommandEngine(timeout_s=600)
    put(started)
    running, waiting = started.decode(asking(liar("hang"))), started.decode(asking(liar("honest")))
    eventually(lambda: started.pid is not None)
    pid, began = started.pid, time.monotonic()
    time.sleep(0.3)
    started.close()
    assert time.monotonic() - began < 10
    with pytest.raises(HarnessError, match="the engine is closed"):
        running.result(5)
    assert waiting.cancelled()
    assert session_processes(pid) == []


def test_no_thread_is_left_behind():
    before = threading.active_count()
    with CommandEngine() as started:
        started.load(liar("honest"), "auto").result(60)
    assert threading.active_count() == before


TYPED = {
    "tiny": ("tinyint", -128, pa.int8(), ("int", -128)),
    "big": ("bigint", "9223372036854775807", pa.int64(), ("int", 9223372036854775807)),
    "huge": (
        "unsigned-bigint",
        "18446744073709551615",
        pa.decimal128(20, 0),
        ("decimal", 18446744073709551615),
    ),
    "f": ("float", 0.1, pa.float32(), ("float", 0.10000000149011612)),
    "d": ("double", "-Infinity", pa.float64(), ("double", float("-inf"))),
    "s": ("varchar", "é", pa.string(), ("string", "é")),
    "b": ("blob", {"base64": "AP8="}, pa.binary(), ("binary", b"\x00\xff")),
    "day": ("date", "2024-02-29", pa.date32(), ("date", dt.date(2024, 2, 29))),
    "wall": (
        "datetime-6",
        "2024-02-29T23:59:59.123456",
        pa.timestamp("us"),
        ("timestamp_ntz", 1709251199123456),
    ),
    "at": (
        "timestamp-3",
        "1969-12-31T23:59:59.9Z",
        pa.timestamp("us", "UTC"),
        ("timestamp", -100000),
    ),
    "left_out": ("int", None, pa.int32(), None),
}
"""By column its type, what the decoder says, Arrow's type, and what is read."""
TYPED_TABLE = Table(
    "db", "t", tuple(Column(name, TYPES[kind]) for name, (kind, *_) in TYPED.items()), ("tiny",)
)
TYPED_DECODER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"type": "ended", "batch": asked.get("batch")}
    if asked["type"] == "start":
        answer = {"type": "started", "cdc": 1, "levels": [2, 1]}
    elif asked["type"] == "begin":
        columns = [column["name"] for column in asked["table"]["columns"]]
        continue
    elif asked["type"] == "record":
        image = json.loads(asked["value"]["text"])
        assert image.keys() <= set(columns), columns
        answer = {"type": "rows", "seq": asked["seq"], "rows": [{"row": 0, "kind": "ROW", "op": "INSERT", "after": image}]}
    print(json.dumps(answer), flush=True)
"""


def test_level_two_has_typed_cells(engine, tmp_path):
    (tmp_path / "typed.py").write_text(TYPED_DECODER, "utf-8")
    spec = f"cmd:{sys.executable} {tmp_path}/typed.py"
    value = json.dumps({name: cell for name, (_, cell, *_) in TYPED.items() if name != "left_out"})
    started = engine([value.encode(), b'{"tiny": 128}'], trace=tmp_path / "trace")
    assert started.load(spec, "auto").result(60).levels == (1, 2)
    table = started.decode(asking(spec, (("cdc", 0, 0, 0),), level=2, table=TYPED_TABLE)).result(60)
    check_columns(table.schema, 2, "typed")
    assert [(field.name, field.type) for field in table.schema.field("after").type] == [
        (n, row[2]) for n, row in TYPED.items()
    ]
    row = read(table, 2)["cdc", 0, 0][0]
    assert row.before is None
    cells = {name: cell and (cell.family, cell.value) for name, cell in row.after.items()}
    assert cells == {name: held for name, (*_, held) in TYPED.items()}
    valid(tmp_path / "trace")


def begun(path):
    return [line for mark, line in traffic(path) if line["type"] == "begin"]


def test_level_one_has_the_tables_of_its_rows_for_a_decoder_that_asks(engine, tmp_path):
    started = engine(trace=tmp_path / "trace")
    wider = Table("db", "t", (*TYPED_TABLE.columns, Column("more", TYPES["int"])), ("tiny",))
    asked = asking(liar("tables"), tables=(TYPED_TABLE, wider, TYPED_TABLE))
    assert seen(started.decode(asked).result(60)) == HONEST
    first, last = begun(tmp_path / "trace")
    assert [(table["name"], len(table["columns"])) for table in first["tables"]] == [
        ("t", 11),
        ("t", 12),
    ]
    assert first["tables"][1]["primary_key"] == ["tiny"]
    more = first["tables"][1]["columns"][-1]
    assert (more["name"], more["nullable"], more["spark"], more["type"]["name"]) == (
        "more",
        True,
        "int",
        "int",
    )
    assert last["tables"] == [], "the empty batch has no rows"
    valid(tmp_path / "trace")


def test_a_decoder_that_does_not_ask_gets_no_tables(engine, tmp_path):
    started = engine(trace=tmp_path / "trace")
    assert seen(started.decode(asking(liar("honest"), tables=(TYPED_TABLE,))).result(60)) == HONEST
    assert [sorted(line) for line in begun(tmp_path / "trace")] == [
        ["batch", "deployment", "level", "type"]
    ] * 2


def test_level_two_has_its_table_alone(engine, tmp_path):
    (tmp_path / "typed.py").write_text(
        TYPED_DECODER.replace('"cdc": 1', '"cdc": 1, "tables": True'), "utf-8"
    )
    spec = f"cmd:{sys.executable} {tmp_path}/typed.py"
    started = engine([b"{}"], trace=tmp_path / "trace")
    started.decode(
        asking(spec, (("cdc", 0, 0, 0),), level=2, table=TYPED_TABLE, tables=(TYPED_TABLE,))
    ).result(60)
    assert all(
        "tables" not in line and line["table"]["name"] == "t" for line in begun(tmp_path / "trace")
    )


def test_records_come_from_a_broker_as_they_come_from_a_file(kafka, engine):
    from generators.publishing import kafka as publishing

    started, headers = engine(), (("h", b"\xfe"),)
    messages = [
        Message("cdc", n % 2, b"k" if n else None, v, headers, 1_700_000_000_123 + n)
        for n, v in enumerate(VALUES)
    ]
    with publishing.run_topic(kafka.bootstrap, 2) as topic:
        placed = publishing.publish(kafka.bootstrap, topic, messages).placed
        ranges = tuple(
            (topic, p, 0, max(record.offset for record in placed if record.partition == p))
            for p in (0, 1)
        )
        assert started.keep_records(
            "k", RecordSource(ranges, bootstrap=kafka.bootstrap, topic=topic)
        ).result(60) == len(VALUES)
        rows = read(started.decode(asking(liar("honest"), ranges, handle="k")).result(60), 1)
        wanted = {
            (topic, record.partition, record.offset): HONEST[n][0]
            for n, record in enumerate(placed)
        }
        assert {place: row.after["v"] for place, (row, *_) in rows.items()} == wanted
        opened = started._open_tables["k"]
        first = opened.in_ranges(ranges)[0]
        assert (first.timestamp_ms, first.timestamp_type, first.headers) == (
            1_700_000_000_123,
            0,
            headers,
        )
        beyond = ((topic, 0, 0, 1000),)
        with pytest.raises(HarnessError, match=rf"offsets 0 to 1000 of {topic}/0 ends at offset 4"):
            started.keep_records(
                "far", RecordSource(beyond, bootstrap=kafka.bootstrap, topic=topic)
            ).result(60)
