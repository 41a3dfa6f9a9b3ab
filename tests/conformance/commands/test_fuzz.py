import base64
import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import Future
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from rich.console import Console

from conformance.commands import fuzz
from conformance.commands.cli import cli
from conformance.engines.base import ChildDied, DecodeRaised
from conformance.rules.base import Obligation
from conformance.running import fuzzing as _fuzzing
from conformance.running.fuzzing import (
    HUGE_START,
    OFFENDERS,
    PROBE_S,
    Finding,
    Fuzzed,
    Fuzzer,
    FuzzSettings,
    Tally,
    owner,
    peak_memory,
    save,
)
from generators.bulk.mutations import HUGE, Mutants, by_deployment
from generators.errors import HarnessError
from generators.wire_format import get

FORMAT = "huawei-cdl-json"
SPARK = "ticdc-canal-json"


class Engine:
    """An engine that answers as a perfect decoder would, except for what `spoil` does to the offsets asked for."""

    def __init__(self, directory, spoil=lambda _offsets: None, change=lambda tally: tally):
        self.directory, self.asked, self.pid = directory, [], None
        self._spoil, self._change = spoil, change
        self.started = Future()
        self.started.set_result({})

    def ask(self, service, request, limit_s):
        assert service == "fuzz"
        answer = Future()
        rows = [
            row
            for path in request["expected"]
            for row in pq.read_table(path).to_pylist()
            if request["low"] <= row["offset"] <= request["high"]
        ]
        self.asked.append((request, [row["offset"] for row in rows], limit_s))
        try:
            self._spoil([row["offset"] for row in rows])
        except (DecodeRaised, ChildDied) as error:
            answer.set_exception(error)
            return answer
        tallies = [
            {
                **{name: row[name] for name in ("way", "state", "reason", "size", "offset")},
                "outcome": "rejected" if row["state"] == "unreadable" else "rows",
                "kinds": "CORRUPT",
                "count": 1,
            }
            for row in rows
        ]
        answer.set_result({"tallies": [self._change(t) for t in tallies]})
        return answer


def raises_on(*bad, error=DecodeRaised):
    def spoil(offsets):
        if found := set(bad) & set(offsets):
            raise error(f"cannot read {sorted(found)}\nat somewhere")

    return spoil


def run(tmp_path, spoil=lambda _offsets: None, change=lambda tally: tally, **settings):
    engine = Engine(tmp_path, spoil, change)
    chosen = FuzzSettings(**{"count": 300, "huge": False} | settings)
    return Fuzzer(engine, FORMAT, chosen, lambda _text: None).run(), engine


def test_a_perfect_decoder_passes_and_every_mutant_is_counted_once(tmp_path):
    result, engine = run(tmp_path)
    assert result.ok
    told = result.as_json()
    assert told["mutants"] == 300
    assert told["verdict"] == "ok"
    assert told["readable"] + told["unreadable"] + sum(told["doubtful"].values()) == 300
    assert told["rejected"] == told["unreadable"] > 100
    assert told["accepted"] == {}
    assert [told[name] for name in ("lost", "foreign", "misnumbered", "raised", "hung", "died", "unjudged")] == [0] * 7
    assert list(tmp_path.iterdir()) == []
    assert engine.asked[0][2] == 300


def test_records_have_the_shape_of_sparks_kafka_source(tmp_path):
    seen = []

    class Looking(Engine):
        def ask(self, service, request, limit_s):
            seen.append(pq.read_table(request["records"][0]))
            return super().ask(service, request, limit_s)

    Fuzzer(Looking(tmp_path), FORMAT, FuzzSettings(count=50, huge=False), lambda _text: None).run()
    names = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers"]
    assert seen[0].column_names == names
    assert set(seen[0].column("partition").to_pylist()) == {0, 1, 2}


def test_a_chunk_that_raises_is_halved_until_the_messages_stand_alone(tmp_path):
    result, engine = run(tmp_path, raises_on(17, 201))
    raised = {t.offset: t for t in result.tallies if t.outcome == "raised"}
    assert sorted(raised) == [17, 201]
    assert all(t.count == 1 and t.error.startswith(f"cannot read [{n}]") for n, t in raised.items())
    assert result.as_json()["mutants"] == 300
    assert result.as_json()["raised"] == 2
    assert not result.ok
    fmt = get(FORMAT)
    mutants = Mutants(fmt, by_deployment(fmt.profiles)[0], 1)
    assert {f.message.value for f in result.findings} == {mutants(n).message.value for n in (17, 201)}
    assert len(engine.asked) < 40


def test_the_search_for_messages_that_raise_is_bounded(tmp_path):
    result, engine = run(tmp_path, raises_on(*range(0, 300, 3)))
    assert result.as_json()["raised"] == OFFENDERS
    assert result.as_json()["unjudged"] > 0
    assert result.as_json()["mutants"] == 300
    assert not result.ok
    assert len(engine.asked) < 100


def test_a_call_that_ends_the_child_or_hangs_is_told_apart(tmp_path):
    result, _ = run(tmp_path, raises_on(5, error=ChildDied))
    assert {t.outcome for t in result.tallies} >= {"died"}

    def hangs(offsets):
        if 5 in offsets:
            raise ChildDied("did not end within 300 s:\nlast words")

    result, engine = run(tmp_path, hangs)
    assert result.as_json()["hung"] == 1
    assert not result.ok
    limits = [limit for _, _, limit in engine.asked]
    assert limits[0] == 300
    assert limits[1] == 150
    assert min(limits) == PROBE_S


def test_the_words_of_an_expired_limit_are_the_engines(fake):
    make, _ = fake
    with pytest.raises(ChildDied, match=r"^did not end within"):
        make().ask("fuzz", {"decoder": "hang"}, 1).result()


def accepting(tally):
    return {**tally, "outcome": "accepted", "kinds": "ROW"} if tally["outcome"] == "rejected" else tally


def test_silent_acceptance_is_listed_by_rule_and_way_with_the_smallest_message(tmp_path):
    result, _ = run(tmp_path, change=accepting)
    places = [(f.tally.way, f.rule.id) for f in result.findings]
    assert len(set(places)) == len(places) > 10
    assert sum(f.tally.count for f in result.findings) == result.as_json()["unreadable"]
    assert sum(result.as_json()["accepted"].values()) == result.as_json()["unreadable"]
    sizes = [f.tally.size for f in result.findings]
    assert sizes == sorted(sizes)
    assert all(f.message.size == f.tally.size for f in result.findings)
    assert {f.rule.id for f in result.findings if not f.fails} == {f"{FORMAT}/fault/after-the-document"}
    assert not result.ok


@pytest.mark.parametrize("outcome", ["lost", "foreign", "misnumbered"])
def test_an_offset_without_its_rows_fails_whatever_the_message_was(tmp_path, outcome):
    result, _ = run(tmp_path, change=lambda t: {**t, "outcome": outcome} if t["offset"] == 3 else t)
    assert [(f.tally.outcome, f.tally.offset) for f in result.findings] == [(outcome, 3)]
    assert not result.ok


def test_doubtful_messages_are_counted_by_class_and_never_fail(tmp_path):
    result, _ = run(tmp_path, change=lambda t: {**t, "outcome": "corrupt"} if t["state"] == "doubtful" else t, count=3000)
    doubtful = result.as_json()["doubtful"]
    assert {"duplicate-key", "invalid-utf-8", "bom", "lone-surrogate", "raw-control", "null", "wrapped"} == set(doubtful)
    assert result.ok


@pytest.mark.parametrize(
    ("fmt", "reason", "outcome", "rule", "obligation"),
    [
        (FORMAT, "truncated", "accepted", "fault/must-reject", Obligation.MUST),
        (FORMAT, "syntax", "accepted", "fault/must-reject", Obligation.MUST),
        (FORMAT, "packing", "accepted", "fault/must-reject", Obligation.MUST),
        (FORMAT, "bom", "lost", "garbage/every-offset", Obligation.MUST),
        (FORMAT, "", "misnumbered", "garbage/every-offset", Obligation.MUST),
        (FORMAT, "", "hung", "garbage/no-exception", Obligation.MUST),
        (FORMAT, "", "lost", "garbage/every-offset", Obligation.MUST),
        (SPARK, "trailing-content", "accepted", "fault/trailing-content", Obligation.MUST),
        (SPARK, "truncated", "accepted", "fault/unreadable", Obligation.MUST),
    ],
)
def test_a_finding_belongs_to_the_rule_of_its_fault(fmt, reason, outcome, rule, obligation):
    state = "doubtful" if reason == "bom" else "unreadable" if reason else "readable"
    found = owner(fmt, get(fmt).profiles[0].name, Tally("way", state, reason, outcome, "ROW", 1, 1, 1))
    assert (found.id, found.obligation) == (f"{fmt}/{rule}", obligation)


def test_only_acceptance_that_no_must_forbids_is_forgiven():
    def finding(outcome, obligation):
        rule = owner(FORMAT, "1.0", Tally("way", "unreadable", "truncated", outcome, "", 1, 1, 1))
        tally = Tally("way", "unreadable", "truncated", outcome, "", 1, 1, 1)
        return Finding(FORMAT, ("1.0",), replace(rule, obligation=obligation), tally, None)

    assert finding("accepted", Obligation.MUST).fails
    assert not finding("accepted", Obligation.SHOULD).fails
    assert finding("lost", Obligation.UNSPECIFIED).fails


def test_findings_are_saved_as_data_the_smallest_first(tmp_path):
    result, _ = run(tmp_path, change=accepting)
    path = save(tmp_path / "report", result)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert path.name == f"fuzz-{FORMAT}.jsonl"
    assert [line["size"] for line in lines] == sorted(line["size"] for line in lines)
    sized = [line for line in lines if line["value"] is not None]
    assert all(len(base64.b64decode(x["value"])) + len(base64.b64decode(x["key"] or "")) == x["size"] for x in sized)
    assert {"rule", "obligation", "way", "reason", "number", "profiles", "count"} <= set(lines[0])
    (tmp_path / "file").write_text("")
    with pytest.raises(HarnessError, match="cannot write the report to"):
        save(tmp_path / "file", result)


def test_huge_messages_are_written_one_to_a_file(tmp_path, monkeypatch):
    monkeypatch.setitem(HUGE, "json", {"huge-string": lambda v: v + b" " * 10, "huge-number": lambda _v: b"[" * 10})
    result, engine = run(tmp_path, huge=True, count=10)
    request, offsets, _ = engine.asked[-1]
    assert len(request["records"]) == 2
    assert sorted(offsets) == [HUGE_START + 1, HUGE_START + 2]
    assert result.as_json()["mutants"] == 12


def test_an_interrupt_gives_what_has_been_seen(tmp_path, monkeypatch):
    class Interrupting(Engine):
        def ask(self, service, request, limit_s):
            if len(self.asked) == 1:
                raise KeyboardInterrupt
            return super().ask(service, request, limit_s)

    monkeypatch.setattr(_fuzzing, "CHUNK", 100)
    result = Fuzzer(Interrupting(tmp_path), FORMAT, FuzzSettings(count=300, huge=False), lambda _text: None).run()
    assert result.interrupted
    assert result.as_json()["verdict"] == "interrupted"
    assert result.as_json()["mutants"] < 300


def test_memory_of_a_session_is_that_of_its_processes():
    own = peak_memory(os.getsid(0))
    if own is None:
        pytest.skip("needs /proc")
    assert own > 10_000_000
    assert peak_memory(2**30) is None


def fuzzed(**changes):
    tally = Tally("tail", "unreadable", "trailing-content", "rejected", "CORRUPT", 40, 5, 9)
    values = {"format": FORMAT, "seed": 1, "decoder": "d", "tallies": (tally,), "findings": (), "seconds": 2.0}
    return Fuzzed(**values | {"peak_bytes": 1 << 30, "limit_bytes": 2 << 30} | changes)


def test_memory_beyond_the_limit_fails():
    assert fuzzed().ok
    assert not fuzzed(peak_bytes=3 << 30).ok
    assert fuzzed(peak_bytes=None).ok


@pytest.mark.parametrize("style", ["pretty", "markdown"])
def test_verdicts_are_printed(style):
    tally = Tally("tail", "unreadable", "truncated", "accepted", "ROW", 3, 5, 9)
    rule = owner(FORMAT, "1.0", tally)
    result = fuzzed(tallies=(tally,), findings=(Finding(FORMAT, ("1.0",), rule, tally, None),), peak_bytes=3 << 30)
    if style == "markdown":
        assert fuzz.markdown([result]).splitlines()[2].startswith(f"| {FORMAT} | failed | 3 | 3 | 0 | 3 |")
        return
    console = Console(width=200, file=None)
    with console.capture() as capture:
        console.print(fuzz.render([result, fuzzed(interrupted=True)]))
    text = capture.get()
    for part in (
        f"{FORMAT}/fault/must-reject: 3 accepted as ROW by tail",
        "the smallest, 9",
        "3,072 MB of memory, limit 2,048 MB",
        "interrupted",
    ):
        assert part in text


@pytest.fixture
def command(monkeypatch, tmp_path):
    """A function that runs the command on results given beforehand."""

    class Child:
        def __init__(self, **_options):
            self.directory = tmp_path

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    def invoke(results, *arguments):
        from conformance.engines import child as engine

        waiting = list(results)
        monkeypatch.setattr(engine, "ChildEngine", Child)
        monkeypatch.setattr(Fuzzer, "__init__", lambda *_: None)
        monkeypatch.setattr(Fuzzer, "run", lambda _self: waiting.pop(0))
        return CliRunner().invoke(cli, ["fuzz", FORMAT, "--format", "json", *arguments])

    return invoke


@pytest.mark.parametrize(("changes", "code"), [({}, 0), ({"peak_bytes": 3 << 30}, 1), ({"interrupted": True}, 130)])
def test_the_exit_code_is_the_verdict(command, changes, code):
    done = command([fuzzed(**changes)])
    assert done.exit_code == code
    assert json.loads(done.stdout)["format"] == FORMAT


@pytest.mark.parametrize(
    "arguments",
    [["fuzz", "--count", "0"], ["fuzz", "huawei"], ["fuzz", FORMAT, SPARK, "--decoder", "x:y"], ["fuzz", FORMAT, "--all"]],
)
def test_a_wrong_call_is_told(arguments):
    assert CliRunner().invoke(cli, arguments).exit_code != 0


def convicted(engine, decoder, count, name=SPARK, profile="v7.1.6"):
    settings = FuzzSettings(count=count, decoder=decoder, huge=False, writer_profile=profile)
    return Fuzzer(engine, name, settings, lambda _text: None).run()


@pytest.mark.spark
@pytest.mark.slow
def test_the_reference_decoder_answers_every_mutant(engine):
    result = convicted(engine, "", 3000)
    assert [f.as_json() for f in result.findings] == []
    assert result.ok
    assert result.as_json()["mutants"] == 3000
    assert result.peak_bytes is None or result.peak_bytes > 100 << 20


@pytest.mark.spark
@pytest.mark.slow
def test_a_decoder_that_swallows_corrupt_messages_is_convicted(engine):
    result = convicted(engine, f"liar:{SPARK}/corrupt-dropped", 600)
    assert not result.ok
    assert result.as_json()["lost"] > 200
    assert result.as_json()["rejected"] == 0


@pytest.mark.spark
@pytest.mark.slow
def test_a_decoder_that_accepts_truncated_messages_is_convicted(engine):
    result = convicted(engine, f"liar:{SPARK}/truncated-as-nulls", 600)
    assert not result.ok
    assert result.as_json()["accepted"][f"{SPARK}/fault/unreadable"] > 20
    assert {f.tally.way for f in result.findings} >= {"truncate", "truncate-end"}


@pytest.mark.spark
@pytest.mark.slow
def test_a_decoder_that_raises_or_hangs_on_one_message_is_named_with_it(engine, tmp_path):
    path = tmp_path / "raising.py"
    path.write_text(
        "from pyspark.sql import functions as F\nfrom spark_checks.decoders import huawei_cdl_json as reference\n"
        "def decode(records):\n"
        "    bad = F.when(F.col('offset') == 77, F.raise_error(F.lit('cannot read this'))).cast('string')\n"
        "    return reference.decode(records).withColumn('sql', F.coalesce(bad, F.col('sql')))\n"
    )
    result = convicted(engine, f"{path}:decode", 100, FORMAT, "1.0")
    assert [(f.tally.outcome, f.tally.offset) for f in result.findings] == [("raised", 77)]
    assert "cannot read this" in result.findings[0].tally.error
    assert result.as_json()["mutants"] == 100


IMPATIENT = """
# The command line; chunks are small, and what it does is said at once and not every ten seconds.
import sys
from _cdc_conformance_pytest import main
from conformance.commands import shell
from conformance.running import fuzzing

fuzzing.CHUNK = 2_000
shell.Progress.__call__ = lambda _self, text: print(text, file=sys.stderr, flush=True)
main()
"""


@pytest.mark.spark
@pytest.mark.slow
def test_an_interrupt_leaves_a_summary_and_no_process(children, session_processes, eventually):
    arguments = [sys.executable, "-c", IMPATIENT, "fuzz", FORMAT, "--count", "10000000", "--format", "json"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            seen = ""
            while not re.search(rf"{FORMAT}: [1-9]\d* of", seen) and (line := process.stderr.readline()):
                seen += line
            leaders = children(process.pid)
            assert leaders, seen
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    told = json.loads(out)
    assert told["verdict"] == "interrupted"
    assert told["mutants"] >= 2_000
    eventually(lambda: not any(session_processes(leader) for leader in leaders))
