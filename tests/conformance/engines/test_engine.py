"""Decoders that misbehave, in a real Spark child; and the parent's side of the protocol against a
child without Spark.
"""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from conformance.engines import child
from conformance.engines import engine as interface
from conformance.engines.child import ChildEngine
from conformance.engines.engine import (
    ChildDied,
    DecodeRaised,
    DecodeTimeout,
    Loaded,
    RecordSource,
    Request,
    write_records,
)
from conformance.engines.spark_conf import FIRST_OFFSET, IN_PARTITION
from conformance.judging.capabilities import Capabilities
from conformance.judging.output import read
from generators.errors import HarnessError, UsageError
from generators.model import Column, Deployment, Message, Table
from generators.sources.mysql import TYPES

COUNT = 12
RANGES = (("cdc", 0, 0, COUNT - 1),)
TABLE = Table("db", "t", (Column("v", TYPES["varchar"]),))
CONTRACT = '''
import os, sys, time
from pyspark.sql import functions as F

def rows(records, after=None):
    value = F.col("value").cast("string")
    image = F.create_map(F.lit("v"), value) if after is None else after(value)
    return records.select(
        "topic", "partition", "offset", F.lit(0).alias("row"), F.lit("ROW").alias("kind"), F.lit("INSERT").alias("op"),
        F.lit(None).cast("map<string,string>").alias("before"), image.alias("after"),
        *(F.lit(None).cast("string").alias(name) for name in ("database", "table", "sql", "error")),
        F.lit(None).cast("array<string>").alias("keys"),
    )
'''  # fmt: skip


def asking(decoder, handle="h"):
    return Request(handle, RANGES, decoder, 1, Deployment())


def test_after_a_death_the_next_request_opens_again_what_was_open(fake):
    make, asked = fake
    engine = make()
    assert engine.keep_records("h", RecordSource(RANGES, parquet="p")).result(60) == 3
    engine.keep_records("gone", RecordSource(RANGES, parquet="q")).result(60)
    engine.release("gone")
    with pytest.raises(ChildDied, match=r"exit code 7(.|\n)*last words"):
        engine.decode(asking("exit")).result(60)
    with pytest.raises(DecodeRaised, match="told so"):
        engine.decode(asking("raised")).result(60)
    first, second = sorted({pid for pid, *_ in asked()}, key=[pid for pid, *_ in asked()].index)
    assert [op for pid, op, *_ in asked() if pid == first] == [
        "start",
        "open",
        "open",
        "release",
        "decode",
    ]
    assert [(op, handle) for pid, op, handle, _ in asked() if pid == second] == [
        ("start", ""),
        ("open", "h"),
        ("decode", "h"),
    ]


@pytest.mark.parametrize(
    ("word", "same"),
    [("", True), ("exit", False), ("hang", False), ("harness", False), ("spoil", False)],
)
def test_a_child_is_renewed_or_else_replaced(fake, monkeypatch, word, same):
    make, asked = fake
    monkeypatch.setenv("FAKE_SAYS", json.dumps({"renew": word}))
    monkeypatch.setattr(child, "RENEWAL_S", 1.0)
    engine = make()
    engine.keep_records("h", RecordSource(RANGES, parquet="p")).result(60)
    assert engine.renew().result(60) is None
    with pytest.raises(DecodeRaised, match="told so"):
        engine.decode(asking("raised")).result(60)
    refused = ["start"] if word == "spoil" else []
    assert [op for _, op, *_ in asked()] == [
        "start",
        "open",
        "renew",
        *refused,
        "start",
        "open",
        "decode",
    ]
    assert (len({pid for pid, *_ in asked()}) == 1) is same


def test_the_start_of_a_child_is_not_the_decoder_s_time(fake, monkeypatch):
    make, _ = fake
    monkeypatch.setenv("FAKE_SAYS", '{"renew": "exit"}')
    engine, began = make(), time.monotonic()
    monkeypatch.setattr(child, "WORKER", "slow_worker")
    Path(os.environ["PYTHONPATH"], "slow_worker.py").write_text(
        "import time\ntime.sleep(3)\nimport fake_worker\n", "utf-8"
    )
    engine.renew().result(60)
    with pytest.raises(ChildDied) as caught:
        engine.decode(asking("fake.exit")).result(60)
    assert time.monotonic() - began > 3 and caught.value.lost_s < 2


def test_a_call_that_does_not_end_is_a_timeout_and_its_child_is_gone(fake, session_processes):
    make, asked = fake
    engine, began = make(timeout_s=0.3), time.monotonic()
    with pytest.raises(DecodeTimeout, match=r"hang did not end within 0\.3 s"):
        engine.decode(asking("hang")).result(60)
    assert time.monotonic() - began < 15
    assert session_processes(asked()[0][0]) == []
    with pytest.raises(DecodeRaised):
        engine.decode(asking("raised")).result(60)


@pytest.mark.parametrize(
    ("word", "said"), [("exit", "exit code 7"), ("hang", "did not end"), ("usage", "told so")]
)
def test_a_decoder_that_cannot_be_loaded_is_a_usage_error(fake, word, said):
    engine = fake[0](timeout_s=0.3)
    with pytest.raises(UsageError, match=said):
        engine.load(word, "auto").result(60)
    assert engine.load("fine", "auto").result(60) == Loaded((1,), Capabilities(kinds=("ROW",)))


@pytest.mark.parametrize("word", ["exit", "hang", "harness"])
def test_a_session_that_does_not_start_is_told_with_a_remedy_by_every_request(
    fake, monkeypatch, word
):
    monkeypatch.setenv("FAKE_SAYS", json.dumps({"start": word}))
    engine = fake[0](start_s=0.5)
    requests = (
        engine.load("fine", "auto"),
        engine.keep_records("h", RecordSource(RANGES)),
        engine.decode(asking("fine")),
    )
    for future in (engine.started, *requests):
        with pytest.raises(
            HarnessError, match=r"Spark did not start: .*Try `cdc-conformance doctor`"
        ):
            future.result(60)


@pytest.mark.parametrize("word", ["exit", "hang", "harness"])
def test_records_that_cannot_be_read_fail_the_calls_that_need_them(fake, word):
    engine = fake[0](start_s=0.5)
    engine.started.result(60)
    engine.keep_records("h", RecordSource(RANGES, parquet=word))
    for _ in range(2):
        with pytest.raises(HarnessError, match="Spark"):
            engine.decode(asking("fine")).result(60)
    with pytest.raises(DecodeRaised):
        engine.decode(asking("raised", "other")).result(60)


def test_a_session_starts_with_the_given_settings_jars_and_decoders(fake, tmp_path):
    make, _ = fake
    for name in ("a.jar", "b.jar"):
        (tmp_path / name).touch()
    jars = [str(tmp_path / "a.jar"), str(tmp_path / "b.jar")]
    given = {"mine:decode": "pickled"}
    engine = make(
        conf={"spark.driver.memory": "4g", "spark.jars": ",".join(jars)}, pickled_decoders=given
    )
    engine.started.result(60)
    started = json.loads((tmp_path / "log-start").read_text("utf-8"))
    assert (started["conf"], started["jars"], started["given"]) == (
        {"spark.driver.memory": "4g"},
        jars,
        given,
    )
    with pytest.raises(UsageError, match=r"none\.jar is neither a jar nor a folder with jars"):
        make(conf={"spark.jars": str(tmp_path / "none.jar")})


def test_the_output_of_a_child_is_bounded_and_its_end_is_shown(fake):
    engine = fake[0]()
    with pytest.raises(ChildDied) as died:
        engine.decode(asking("flood")).result(60)
    assert str(died.value).splitlines()[-1] == "last words"
    assert len(str(died.value)) < 100 * 15 * 10
    assert (
        sum(path.stat().st_size for path in engine.directory.rglob("*") if path.is_file())
        < 1_000_000
    )


def test_garbage_in_place_of_an_answer_is_the_decoders_fault_and_leaves_nothing(fake):
    engine = fake[0]()
    with pytest.raises(ChildDied, match="wrote to the descriptor of the harness's answers"):
        engine.decode(asking("garbage")).result(60)
    assert engine.load("fine", "auto").result(60).levels == (1,)
    engine.close()
    assert not engine.directory.exists()


def test_a_process_in_a_session_of_its_own_ends_with_its_child(fake, eventually, tmp_path):
    engine = fake[0]()
    with pytest.raises(ChildDied):
        engine.decode(asking("daemon")).result(60)
    (pid,) = (tmp_path / "daemon").read_text("utf-8").split()
    eventually(
        lambda: (
            not Path("/proc", pid).exists()
            or "Z" in Path("/proc", pid, "stat").read_text("utf-8").split()[2]
        )
    )
    home = engine.directory
    engine.close()
    assert not home.exists()


def test_closing_ends_what_runs_and_cancels_what_waits(
    fake, session_processes, eventually, tmp_path
):
    make, asked = fake
    engine = make(timeout_s=600)
    running, waiting = engine.decode(asking("hang")), engine.decode(asking("fine"))
    eventually(
        lambda: (tmp_path / "log").exists() and '"decode"' in (tmp_path / "log").read_text("utf-8")
    )
    directory, began = engine.directory, time.monotonic()
    engine.close()
    engine.close()
    assert time.monotonic() - began < 10
    assert waiting.cancelled()
    with pytest.raises(Exception, match=r"Spark process ended|negative|descriptor|closed"):
        running.result(5)
    assert session_processes(asked()[0][0]) == []
    assert not directory.exists()


def test_no_child_is_started_after_the_closing(fake, monkeypatch, eventually):
    gate, ensure = threading.Event(), ChildEngine._ensure_child
    monkeypatch.setattr(ChildEngine, "_ensure_child", lambda self: gate.wait(10) and ensure(self))
    engine = fake[0]()
    eventually(engine.started.running)
    closing = threading.Thread(target=engine.close)
    closing.start()
    eventually(lambda: engine._closed)
    gate.set()
    closing.join()
    assert engine._child is None
    with pytest.raises(HarnessError, match="closed"):
        engine.started.result(5)


@pytest.fixture(scope="module")
def engine(engine, tmp_path_factory):
    """The child of the session with twelve records, whose values are the numbers 0 to 11."""
    path = tmp_path_factory.mktemp("records") / "records.parquet"
    write_records(
        path,
        [Message("cdc", 0, None, b"%d" % i, (("h", b"x"),) if i % 2 else ()) for i in range(COUNT)],
        range(COUNT),
    )
    assert engine.keep_records("h", RecordSource(RANGES, parquet=str(path))).result(120) == COUNT
    yield engine
    engine.release("h")


@pytest.fixture
def decoder(tmp_path):
    """A function that writes a decoder file and gives its specification."""

    def write(text, name="decode", stem="mine"):
        path = tmp_path / f"{stem}.py"
        path.write_text(CONTRACT + textwrap.dedent(text), "utf-8")
        return f"{path}:{name}" if name else str(path)

    return write


def values(engine, spec, ranges=RANGES, **more):
    """The decoded value of each offset."""
    decoded = read(engine.decode(Request("h", ranges, spec, 1, Deployment(), **more)).result(), 1)
    return {offset: rows[0].after["v"] for (_, _, offset), rows in sorted(decoded.items())}


LEGAL = "; a decoder is module:function, path/file.py:function or cmd:COMMAND"
NUMBERS = {i: str(i) for i in range(COUNT)}
FINE = "def decode(records):\n    return rows(records)\n"


def test_a_decoder_gets_the_records_asked_for_by_topic_partition_and_offset(
    engine, decoder, tmp_path
):
    path, spec = tmp_path / "topics.parquet", decoder(FINE)
    assert engine.load(spec, "auto").result() == Loaded((1,), Capabilities())
    assert values(engine, spec, (("cdc", 0, 2, 3), ("cdc", 0, 7, 7))) == {2: "2", 3: "3", 7: "7"}
    assert values(engine, spec, (), repartition=7) == {}
    write_records(
        path,
        [Message(topic, 0, None, b"%d" % i) for i in range(3) for topic in ("a", "it's")],
        [0, 0, 1, 1, 2, 2],
    )
    assert engine.keep_records("topics", RecordSource((), parquet=str(path))).result() == 6
    wanted = (("a", 0, 0, 1), ("it's", 0, 2, 2))
    decoded = read(engine.decode(Request("topics", wanted, spec, 1, Deployment())).result(), 1)
    assert sorted(decoded) == [("a", 0, 0), ("a", 0, 1), ("it's", 0, 2)]
    engine.release("topics")


def test_offsets_beyond_32_bits_are_raised_for_the_decoder_and_lowered_in_its_output(
    engine, decoder
):
    first, head = {FIRST_OFFSET: str(1 << 31)}, "def decode(records):\n    return rows(records"
    shown = decoder(
        f"{head}, lambda value: F.create_map(F.lit('v'), F.col('offset').cast('string')))\n"
    )
    assert values(engine, shown, conf=first) == {i: str((1 << 31) + i) for i in range(COUNT)}
    assert values(engine, shown) == NUMBERS
    short = decoder(f"{head}.withColumn('offset', F.expr('offset & 2147483647')))\n", stem="short")
    assert values(engine, short) == NUMBERS
    assert list(values(engine, short, conf=first)) == [i - (1 << 31) for i in range(COUNT)]


def test_records_come_in_other_partitions_and_go_back_to_their_own(engine, decoder):
    pairs, at = (
        {IN_PARTITION: "2", FIRST_OFFSET: "9"},
        "F.format_string('%d:%d', F.col('partition'), F.col('offset'))",
    )
    shown = decoder(
        f"def decode(records):\n    return rows(records, lambda value: F.create_map(F.lit('v'), {at}))\n"
    )
    assert values(engine, shown, conf=pairs) == {
        i: f"{i // 2 * 64}:{i % 2 + 9}" for i in range(COUNT)
    }
    distinct = decoder(
        "def decode(records):\n    return rows(records).dropDuplicates(['offset'])\n",
        stem="distinct",
    )
    assert values(engine, distinct) == NUMBERS
    assert len(values(engine, distinct, conf=pairs)) == 2


def test_a_file_that_is_written_anew_is_read_anew(engine, decoder, tmp_path):
    path, spec = tmp_path / "again.parquet", decoder(FINE)
    for handle, text in (("again", b"old"), ("again", b"new"), ("other", b"newer")):
        write_records(path, [Message("cdc", 0, None, text)], [0])
        assert (
            engine.keep_records(
                handle, RecordSource((("cdc", 0, 0, 0),), parquet=str(path))
            ).result()
            == 1
        )
        decoded = read(
            engine.decode(Request(handle, (("cdc", 0, 0, 0),), spec, 1, Deployment())).result(), 1
        )
        assert decoded["cdc", 0, 0][0].after == {"v": text.decode()}
    engine.release("again")
    with pytest.raises(DecodeRaised, match="KeyError: 'again'"):
        engine.decode(Request("again", RANGES, spec, 1, Deployment())).result()


def test_records_have_the_shape_of_the_kafka_source(engine, decoder):
    spec = decoder("""
        def decode(records):
            return rows(records, lambda value: F.create_map(F.lit("v"), F.concat(
                F.lit(records.schema.simpleString()), F.when(F.col("headers").isNull(), " none").otherwise(" some"))))
    """)
    shape = (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,timestampType:int,"
        "headers:array<struct<key:string,value:binary>>>"
    )
    shapes = values(engine, spec)
    assert (shapes[0], shapes[1]) == (f"{shape} none", f"{shape} some")


def test_noise_on_standard_output_disturbs_nothing(engine, decoder):
    spec = decoder("""
        print('{"rows": 1}')
        def decode(records, deployment=None):
            print('{"error": "usage"}', flush=True)
            os.write(1, b'{"x":1}\\n')
            sys.stderr.write("\\x1b[31mred\\n")
            return rows(records, lambda value: F.create_map(F.lit("v"), F.lit(deployment.time_zone)))
    """)
    assert set(values(engine, spec).values()) == {"UTC"}


def test_a_column_is_renamed_by_mapping(engine, decoder):
    spec = decoder(
        "def decode(records):\n    return rows(records).withColumn('image', F.struct('after')).drop('after')\n"
    )
    with pytest.raises(UsageError, match=r"no column 'after'.*--map"):
        values(engine, spec)
    assert values(engine, spec, mapping={"after": "image.after"}) == NUMBERS


@pytest.mark.parametrize(
    ("text", "name", "level", "said"),
    [
        ("def decode(records:\n", "decode", "auto", r"cannot be imported: SyntaxError"),
        (
            "import no_such\n",
            "decode",
            "auto",
            "cannot be imported: ModuleNotFoundError: No module named 'no_such'",
        ),
        ("raise SystemExit(3)\n", "decode", "auto", "cannot be imported: SystemExit: 3"),
        ("1 / 0\n", "decode", "auto", "cannot be imported: ZeroDivisionError"),
        (FINE, "decoed", "auto", "has no 'decoed'; it has decode"),
        ("x = 1\n", "", "auto", "nothing for --level auto"),
        ("decode = 5\n", "decode", "auto", "is int, not a function"),
        (
            "def decode():\n    return None\n",
            "decode",
            "auto",
            r"signature \(\) does not take \(records\)",
        ),
        (
            "def decode(records, other):\n    return None\n",
            "decode",
            "auto",
            r"does not take \(records\)",
        ),
        (
            "def decode_rows(records):\n    return None\n",
            "decode_rows",
            "auto",
            r"does not take \(records, table\)",
        ),
        (FINE, "decode", "rows", r"does not take \(records, table\)"),
        (
            "from builtins import max as decode\n",
            "decode",
            "auto",
            r"no signature found for builtin .*; a decoder is a function of Python",
        ),
        (
            "class D:\n    def __init__(self, x): ...\n    def decode(self, r): ...\n",
            "D",
            "auto",
            r"D\(\) raised TypeError",
        ),
        ("", "none.py:decode", "auto", r"there is no file .*none\.py"),
        (
            "",
            "fast",
            "auto",
            f"decoder fast cannot be imported: ModuleNotFoundError: No module named 'fast'{LEGAL}",
        ),
        ("", "no.such.module:decode", "auto", f"No module named 'no'{LEGAL}"),
        (
            "CAPABILITIES = {'kind': ['ROW']}\n" + FINE,
            "decode",
            "auto",
            r"CAPABILITIES has \['kind'\]",
        ),
        ("CAPABILITIES = 5\n" + FINE, "decode", "auto", "CAPABILITIES must map"),
        ("CAPABILITIES = {'kinds': 'ROW'}\n" + FINE, "decode", "auto", "CAPABILITIES must map"),
    ],
)
def test_a_decoder_that_cannot_be_loaded_is_told_in_words(engine, decoder, text, name, level, said):
    with pytest.raises(UsageError, match=said) as caught:
        engine.load(decoder(text, name) if text else name, level).result()
    assert "Traceback" not in str(caught.value)


def test_both_levels_in_a_class_a_module_and_a_file(engine, decoder):
    both = (
        "def decode_rows(self_or_records, *more, deployment=None): ...\ndef decode(*records): ...\n"
    )
    assert engine.load(decoder(both, "", "both"), "auto").result().levels == (1, 2)
    assert engine.load(decoder(both, "", "both"), "rows").result().levels == (2,)
    methods = "def decode(self, records): ...\n    def decode_rows(self, records, table): ...\n"
    kind = f"CAPABILITIES = {{'profiles': ('v7*',)}}\nclass D:\n    {methods}"
    assert engine.load(decoder(kind, "D", "kind"), "changes").result() == Loaded(
        (1,), Capabilities(profiles=("v7*",))
    )


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("None", "returned NoneType, not a DataFrame of Spark"),
        ("rows(records).collect()", "returned list, not a DataFrame of Spark"),
        (
            "rows(records).toPandas()",
            r"returned pandas\.(core\.frame\.)?DataFrame, not a DataFrame of Spark",
        ),
        ("rows(records).select('*', 'row')", "2 columns 'row'"),
    ],
)
def test_a_decoder_that_returns_something_else(engine, decoder, result, said):
    with pytest.raises(UsageError, match=said):
        values(engine, decoder(f"def decode(records):\n    return {result}\n"))


def test_text_that_is_no_utf_8_comes_back_as_its_bytes(engine, decoder):
    image = "F.create_map(F.lit('v'), F.unhex(F.lit('61FF')).cast('string'))"
    spec = decoder(f"def decode(records):\n    return rows(records, lambda value: {image})\n")
    assert set(values(engine, spec).values()) == {"a\\xff"}


RAISED = "F.create_map(F.lit('v'), F.raise_error('told so')"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("raise AssertionError('told so')", interface.PlanFailed),
        ("return records.select('told so')", interface.PlanFailed),
        (
            "return 1 / 0 if records.count() else rows(records, lambda value: F.create_map(F.lit('v'), value))",
            DecodeRaised,
        ),
        ("seen = records.first().value\n    raise RuntimeError('told so')", DecodeRaised),
        (f"return rows(records, lambda value: {RAISED}.cast('string')))", DecodeRaised),
        (f"return rows(records, lambda value: {RAISED}))", None),
    ],
    ids=["raises", "plan", "counts", "needs", "executes", "untyped"],
)
def test_what_raises_without_a_record_is_no_message_s_fault(engine, decoder, body, kind):
    with pytest.raises(DecodeRaised, match=r"told so|division") as caught:
        values(engine, decoder(f"def decode(records):\n    {body}\n"))
    assert kind is None or type(caught.value) is kind
    assert "\tat " not in str(caught.value)
    assert values(engine, decoder(FINE, stem="after")) == NUMBERS


HANGING = """
    @F.udf("binary")
    def read(value):
        time.sleep(600 if value == b"7" else 0)
        return value

    def decode(records):
        return rows(records.withColumn("value", read("value")))
"""


def test_a_decoder_that_hangs_costs_its_call_alone(engine, decoder, session_processes):
    child = engine._child.pid
    assert session_processes(child)
    with pytest.raises(DecodeTimeout, match="did not end within 8 s"):
        values(engine, decoder(HANGING, stem="hangs"), limit_s=8)
    assert values(engine, decoder(FINE, stem="after")) == NUMBERS
    assert session_processes(child) == []


STATEFUL = """
    SEEN = []
    os.environ["STATE"] = "kept"
    os.chdir("/")

    @F.udf("string")
    def counted(value):
        import sys
        sys.seen = getattr(sys, "seen", 0) + 1
        return str(sys.seen)

    def decode(records):
        SEEN.append(1)
        text = f"{len(SEEN)} {records.sparkSession.conf.get('spark.sql.leftBehind', 'no')} "
        records.sparkSession.conf.set("spark.sql.leftBehind", "yes")
        return rows(records.coalesce(1), lambda value: F.create_map(F.lit("v"), F.concat(F.lit(text), counted(value))))

    def decode_place(records):
        java = records.sparkSession._jvm.java.lang.ProcessHandle.current().pid()
        text = f"{os.getcwd()} {os.environ.get('STATE')} {os.getpid()} {java}"
        return rows(records, lambda value: F.create_map(F.lit("v"), F.lit(text)))
"""
EXITING = """
    def decode(records):
        records.sparkSession._jvm.java.lang.System.exit(3)
        return rows(records)
"""


def test_a_renewed_child_keeps_its_jvm_and_nothing_of_a_decoder_s_until_one_kills_the_jvm(
    engine, decoder, session_processes
):
    def first(spec):
        return values(engine, spec, (("cdc", 0, 0, 0),))[0]

    state = decoder(STATEFUL)
    place = decoder(
        "".join(STATEFUL.partition("    def decode_place")[1:]), "decode_place", "other"
    )
    before = first(place)
    assert [first(state), first(state)] == ["1 no 1", "2 yes 2"]
    assert first(place).startswith("/ kept ")
    engine.renew().result(60)
    assert first(place) == before
    assert first(state) == "1 no 1"
    engine.renew().result(60)
    child = engine.pid
    with pytest.raises(ChildDied, match="exit code 70"):
        values(engine, decoder(EXITING, stem="ends"))
    assert values(engine, decoder(FINE, stem="after")) == NUMBERS
    assert session_processes(child) == []


PARENT = """
import sys, threading
from conformance.engines.child import ChildEngine
from conformance.engines.engine import RecordSource, Request
from generators.model import Deployment
engine = ChildEngine(timeout_s=600)
engine.keep_records("h", RecordSource((), parquet=sys.argv[1])).result()
print(engine._child.pid, flush=True)
if sys.argv[2]:
    engine.decode(Request("h", (("cdc", 0, 0, 0),), sys.argv[2], 1, Deployment()))
threading.Event().wait()
"""


@pytest.mark.spark
def test_nothing_outlives_a_parent_that_is_killed(decoder, tmp_path, session_processes, eventually):
    records, started = tmp_path / "r.parquet", tmp_path / "started"
    write_records(records, [Message("cdc", 0, None, b"0")], [0])
    spec = decoder(f"""
        def decode(records):
            open({str(started)!r}, "w").close()
            time.sleep(600)
    """)
    argv = [sys.executable, "-c", PARENT, str(records), spec]
    parent = subprocess.Popen(
        argv, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    try:
        child = int(parent.stdout.readline())
        eventually(started.exists)
        assert len(session_processes(child)) >= 2
    finally:
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        parent.stdout.close()
    eventually(lambda: session_processes(child) == [])
    eventually(lambda: list(tmp_path.glob("cdc-conformance-*")) == [])
