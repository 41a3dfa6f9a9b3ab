import base64
import json
import os
from contextlib import nullcontext
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from command_lines import performed
from remembered import done
from shown import shown

from conformance.commands import fuzz
from conformance.engines.engine import ChildDied, DecodeRaised
from conformance.rules.rules import Obligation
from conformance.running import fuzzing as _fuzzing
from conformance.running.fuzzing import (
    HUGE_START,
    Finding,
    Fuzzed,
    Fuzzer,
    FuzzSettings,
    Tally,
    owning_rule,
    peak_memory,
    save,
)
from generators.bulk.mutations import HUGE, Mutants, by_deployment
from generators.errors import HarnessError
from generators.model import Message
from generators.wire_format import get

FORMAT = "huawei-cdl-json"
SPARK = "ticdc-canal-json"


class Engine:
    """An engine that answers as a perfect decoder would, except for what `spoil` does to the
    offsets asked for.
    """

    def __init__(self, directory, spoil=lambda _offsets: None, change=lambda tally: tally):
        self.directory, self.asked, self.pid = directory, [], None
        self._spoil, self._change = spoil, change
        self.started = done({})

    def ask_service(self, service, request, limit_s):
        assert service == "fuzz"
        every = [row for path in request["expected"] for row in pq.read_table(path).to_pylist()]
        rows = [row for row in every if request["low"] <= row["offset"] <= request["high"]]
        self.asked.append((request, [row["offset"] for row in rows], limit_s))
        try:
            self._spoil([row["offset"] for row in rows])
        except (DecodeRaised, ChildDied) as error:
            return done(error)
        tallies = []
        for row in rows:
            outcome = {
                "outcome": "rejected" if row["state"] == "unreadable" else "rows",
                "kinds": "CORRUPT",
                "count": 1,
            }
            tallies.append(
                {name: row[name] for name in ("way", "state", "reason", "size", "offset")} | outcome
            )
        return done({"tallies": [self._change(t) for t in tallies]})


def raises_on(*bad, error=DecodeRaised):
    def spoil(offsets):
        if offenders := set(bad) & set(offsets):
            raise error(f"cannot read {sorted(offenders)}\nat somewhere")

    return spoil


def run(tmp_path, spoil=lambda _offsets: None, change=lambda tally: tally, **settings):
    engine = Engine(tmp_path, spoil, change)
    chosen = FuzzSettings(**{"count": 300, "huge": False} | settings)
    return Fuzzer(engine, FORMAT, chosen, lambda _text: None).run(), engine


def test_a_perfect_decoder_passes_and_every_mutant_is_counted_once(tmp_path):
    result, engine = run(tmp_path)
    report = result.as_json()
    assert (result.ok, report["mutants"], report["verdict"], report["accepted"]) == (
        True,
        300,
        "ok",
        {},
    )
    assert report["readable"] + report["unreadable"] + sum(report["doubtful"].values()) == 300
    assert report["rejected"] == report["unreadable"] > 100
    assert [
        report[name]
        for name in ("lost", "foreign", "misnumbered", "raised", "hung", "died", "unjudged")
    ] == [0] * 7
    assert list(tmp_path.iterdir()) == []
    assert engine.asked[0][2] == 300


class Looking(Engine):
    """Keeps the records of its first call; a second one is interrupted."""

    def ask_service(self, service, request, limit_s):
        if self.asked:
            raise KeyboardInterrupt
        self.seen = pq.read_table(request["records"][0])
        return super().ask_service(service, request, limit_s)


def test_records_have_the_shape_of_sparks_kafka_source_and_an_interrupt_gives_what_has_been_seen(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(_fuzzing, "CHUNK", 100)
    engine = Looking(tmp_path)
    result = Fuzzer(engine, FORMAT, FuzzSettings(count=300, huge=False), lambda _text: None).run()
    assert result.interrupted
    assert result.as_json()["verdict"] == "interrupted"
    assert result.as_json()["mutants"] < 300
    names = [
        "key",
        "value",
        "topic",
        "partition",
        "offset",
        "timestamp",
        "timestampType",
        "headers",
    ]
    assert engine.seen.column_names == names
    assert set(engine.seen.column("partition").to_pylist()) == {0, 1, 2}


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
    assert {f.message.value for f in result.findings} == {
        mutants(n).message.value for n in (17, 201)
    }
    assert len(engine.asked) < 40


def test_the_search_for_messages_that_raise_is_bounded(tmp_path):
    result, engine = run(tmp_path, raises_on(*range(0, 300, 3)))
    report = result.as_json()
    assert (report["raised"], report["unjudged"] > 0, report["mutants"], result.ok) == (
        _fuzzing.OFFENDERS,
        True,
        300,
        False,
    )
    assert len(engine.asked) < 100


def test_a_call_that_ends_the_child_or_hangs_is_told_apart(tmp_path):
    assert {t.outcome for t in run(tmp_path, raises_on(5, error=ChildDied))[0].tallies} >= {"died"}

    def hangs(offsets):
        if 5 in offsets:
            raise ChildDied("did not end within 300 s:\nlast words")

    result, engine = run(tmp_path, hangs)
    assert (result.as_json()["hung"], result.ok) == (1, False)
    limits = [limit for _, _, limit in engine.asked]
    assert (*limits[:2], min(limits)) == (300, 150, _fuzzing.PROBE_S)


def test_the_words_of_an_expired_limit_are_the_engines(fake):
    make, _ = fake
    with pytest.raises(ChildDied, match=r"^did not end within"):
        make().ask_service("fuzz", {"decoder": "hang"}, 1).result()


def accepting(tally):
    return (
        {**tally, "outcome": "accepted", "kinds": "ROW"}
        if tally["outcome"] == "rejected"
        else tally
    )


def test_silent_acceptance_is_listed_by_rule_and_way_with_the_smallest_message(tmp_path):
    result, _ = run(tmp_path, change=accepting)
    places = [(f.tally.way, f.rule.id) for f in result.findings]
    assert len(set(places)) == len(places) > 10
    assert sum(f.tally.count for f in result.findings) == result.as_json()["unreadable"]
    assert sum(result.as_json()["accepted"].values()) == result.as_json()["unreadable"]
    sizes = [f.tally.size for f in result.findings]
    assert sizes == sorted(sizes)
    assert all(f.message.size == f.tally.size for f in result.findings)
    assert {f.rule.id for f in result.findings if not f.fails} == {
        f"{FORMAT}/fault/after-the-document"
    }
    assert not result.ok


@pytest.mark.parametrize("outcome", ["lost", "foreign", "misnumbered"])
def test_an_offset_without_its_rows_fails_whatever_the_message_was(tmp_path, outcome):
    result, _ = run(tmp_path, change=lambda t: {**t, "outcome": outcome} if t["offset"] == 3 else t)
    assert [(f.tally.outcome, f.tally.offset) for f in result.findings] == [(outcome, 3)]
    assert not result.ok


def test_doubtful_messages_are_counted_by_class_and_never_fail(tmp_path):
    result, _ = run(
        tmp_path,
        change=lambda t: {**t, "outcome": "corrupt"} if t["state"] == "doubtful" else t,
        count=3000,
    )
    doubtful = result.as_json()["doubtful"]
    assert {
        "duplicate-key",
        "invalid-utf-8",
        "bom",
        "lone-surrogate",
        "raw-control",
        "null",
        "wrapped",
    } == set(doubtful)
    assert result.ok


@pytest.mark.parametrize(
    ("fmt", "reason", "outcome", "rule"),
    [
        *(
            (FORMAT, reason, "accepted", "fault/must-reject")
            for reason in ("truncated", "syntax", "packing")
        ),
        (FORMAT, "bom", "lost", "garbage/every-offset"),
        (FORMAT, "", "misnumbered", "garbage/every-offset"),
        (FORMAT, "", "hung", "garbage/no-exception"),
        (FORMAT, "", "lost", "garbage/every-offset"),
        (SPARK, "trailing-content", "accepted", "fault/trailing-content"),
        (SPARK, "truncated", "accepted", "fault/unreadable"),
        (SPARK, "syntax", "accepted", "fault/unreadable"),
        ("ticdc-avro", "syntax", "accepted", "fault/must-reject"),
    ],
)
def test_a_finding_belongs_to_the_rule_of_its_fault(fmt, reason, outcome, rule):
    state = "doubtful" if reason == "bom" else "unreadable" if reason else "readable"
    culprit = owning_rule(
        fmt, get(fmt).profiles[0].name, Tally("way", state, reason, outcome, "ROW", 1, 1, 1)
    )
    assert (culprit.id, culprit.obligation) == (f"{fmt}/{rule}", Obligation.MUST)


@pytest.mark.parametrize(
    ("outcome", "obligation", "fails"),
    [
        ("accepted", Obligation.MUST, True),
        ("accepted", Obligation.SHOULD, False),
        ("lost", Obligation.UNSPECIFIED, True),
    ],
)
def test_only_acceptance_that_no_must_forbids_is_forgiven(outcome, obligation, fails):
    tally = Tally("way", "unreadable", "truncated", outcome, "", 1, 1, 1)
    assert (
        Finding(
            FORMAT,
            ("1.0",),
            replace(owning_rule(FORMAT, "1.0", tally), obligation=obligation),
            tally,
            None,
        ).fails
        is fails
    )


def test_findings_are_saved_as_data_the_smallest_first(tmp_path):
    result, _ = run(tmp_path, change=accepting)
    path = save(tmp_path / "report", result)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert path.name == f"fuzz-{FORMAT}.jsonl"
    assert [line["size"] for line in lines] == sorted(line["size"] for line in lines)
    sized = [line for line in lines if line["value"] is not None]
    assert all(
        len(base64.b64decode(x["value"])) + len(base64.b64decode(x["key"] or "")) == x["size"]
        for x in sized
    )
    assert {"rule", "obligation", "way", "reason", "number", "profiles", "count"} <= set(lines[0])
    (tmp_path / "file").write_text("")
    with pytest.raises(HarnessError, match="cannot write the report to"):
        save(tmp_path / "file", result)


def test_huge_messages_are_written_one_to_a_file(tmp_path, monkeypatch):
    monkeypatch.setitem(
        HUGE, "json", {"huge-string": lambda v: v + b" " * 10, "huge-number": lambda _v: b"[" * 10}
    )
    result, engine = run(tmp_path, huge=True, count=10)
    request, offsets, _ = engine.asked[-1]
    assert len(request["records"]) == 2
    assert sorted(offsets) == [HUGE_START + 1, HUGE_START + 2]
    assert result.as_json()["mutants"] == 12


def test_memory_of_a_session_is_that_of_its_processes():
    own = peak_memory(os.getsid(0))
    if own is None:
        pytest.skip("needs /proc")
    assert own > 10_000_000
    assert peak_memory(2**30) is None


def fuzzed(**changes):
    tally = Tally("tail", "unreadable", "trailing-content", "rejected", "CORRUPT", 40, 5, 9)
    values = {
        "format": FORMAT,
        "seed": 1,
        "decoder": "d",
        "tallies": (tally,),
        "findings": (),
        "seconds": 2.0,
    }
    return Fuzzed(**values | {"peak_bytes": 1 << 30, "limit_bytes": 2 << 30} | changes)


def test_memory_beyond_the_limit_fails():
    assert [fuzzed(peak_bytes=size).ok for size in (1 << 30, 3 << 30, None)] == [True, False, True]


def test_verdicts_are_printed():
    tally = Tally("tail", "unreadable", "truncated", "accepted", "ROW", 3, 5, 9)
    message = Message("cdc", 0, None, b'{"a":-Infinity}')
    finding = Finding(FORMAT, ("1.0",), owning_rule(FORMAT, "1.0", tally), tally, message)
    result = fuzzed(tallies=(tally,), findings=(finding,), peak_bytes=3 << 30)
    (of_message,) = [part for part in fuzz.render([result]).renderables if "-Infinity" in str(part)]
    assert of_message.plain == '    message {"a":-Infinity}'
    assert [of_message.plain[span.start : span.end] for span in of_message.spans] == ["-Infinity"]
    assert (
        fuzz.markdown([result]).splitlines()[2].startswith(f"| {FORMAT} | failed | 3 | 3 | 0 | 3 |")
    )
    text = shown(fuzz.render([result, fuzzed(interrupted=True)]), 200)
    accepted = f"{FORMAT}/fault/must-reject: 3 accepted as ROW by tail"
    for part in (accepted, "the smallest, 9", "3,072 MB of memory, limit 2,048 MB", "interrupted"):
        assert part in text


@pytest.mark.parametrize(
    ("changes", "code"), [({}, 0), ({"peak_bytes": 3 << 30}, 1), ({"interrupted": True}, 130)]
)
def test_the_exit_code_is_the_verdict(monkeypatch, changes, code):
    monkeypatch.setattr("conformance.engines.child.ChildEngine", lambda **_options: nullcontext())
    monkeypatch.setattr(Fuzzer, "__init__", lambda *_: None)
    monkeypatch.setattr(Fuzzer, "run", lambda _self: fuzzed(**changes))
    done = performed("fuzz", FORMAT, "--format", "json")
    assert (done.exit_code, json.loads(done.stdout)["format"]) == (code, FORMAT)


def convicted(engine, decoder, count, name=SPARK, profile="v7.1.6"):
    settings = FuzzSettings(count=count, decoder=decoder, huge=False, writer_profile=profile)
    return Fuzzer(engine, name, settings, lambda _text: None).run()


def test_the_reference_decoder_answers_every_mutant(engine):
    result = convicted(engine, "", 300)
    assert [f.as_json() for f in result.findings] == []
    assert result.ok
    assert result.as_json()["mutants"] == 300
    assert result.peak_bytes is None or result.peak_bytes > 100 << 20


SWALLOWING = """
from spark_checks.decoders import ticdc_canal_json as reference

def decode(records, *, deployment=None):
    return reference.decode(records, deployment=deployment).where("kind <> 'CORRUPT'")
"""
RAISING = """
from pyspark.sql import functions as F
from spark_checks.decoders import huawei_cdl_json as reference

def decode(records):
    bad = F.when(F.col('offset') == 7, F.raise_error(F.lit('cannot read this'))).cast('string')
    return reference.decode(records).withColumn('sql', F.coalesce(bad, F.col('sql')))
"""


def test_a_wrong_decoder_is_convicted_with_the_messages(engine, tmp_path):
    """One swallows what is corrupt, one accepts what is cut short, and one raises on one
    message.
    """
    for name, text in (("swallowing", SWALLOWING), ("raising", RAISING)):
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    report = convicted(engine, f"{tmp_path}/swallowing.py:decode", 100).as_json()
    assert (report["verdict"], report["lost"] > 30, report["rejected"]) == ("failed", True, 0)
    result = convicted(engine, f"liar:{SPARK}/truncated-as-nulls", 150)
    assert not result.ok and result.as_json()["accepted"][f"{SPARK}/fault/unreadable"] > 5
    assert {f.tally.way for f in result.findings} >= {"truncate", "truncate-end"}
    result = convicted(engine, f"{tmp_path}/raising.py:decode", 16, FORMAT, "1.0")
    assert [(f.tally.outcome, f.tally.offset) for f in result.findings] == [("raised", 7)]
    assert (
        "cannot read this" in result.findings[0].tally.error and result.as_json()["mutants"] == 16
    )
