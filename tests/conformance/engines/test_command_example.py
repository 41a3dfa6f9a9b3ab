"""The example decoder in JavaScript through the real judge: it conforms, and a spoiled copy is
convicted by the right rule.
"""

import json
import re
import shlex
import shutil
import sys
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.cases.catalogue import Budget, find_budget
from conformance.engines import command
from conformance.engines.child import QUICK
from conformance.engines.command import CommandEngine
from conformance.engines.engine import Loaded
from conformance.judging.capabilities import Capabilities
from conformance.judging.findings import Verdict
from conformance.judging.results import Header, RunResult
from conformance.reports import facts
from conformance.rules.rules import Obligation
from conformance.running.prepared import Part, Settings
from conformance.running.preparing import _draw_telling_cases
from conformance.running.run import run_formats
from generators.errors import UsageError
from generators.wire_format import get

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "node"
NAME = "ticdc-canal-json"
node = pytest.mark.skipif(shutil.which("node") is None, reason="no node program on PATH")


def judged(spec, profile="v7.1.6", trace=None, **options):
    settings = Settings(
        (NAME,), Budget("tiny", 0, 12), 7, decoder=spec, writer_profile=profile, **options
    )
    with CommandEngine(fmt=NAME, trace=trace) as started:
        return run_formats(settings, started)


def broken(result):
    return {
        rule.rule.id.removeprefix(f"{NAME}/")
        for fmt in result.formats
        for rule in fmt.rules
        if rule.broken
    }


PROFILES = (
    "v5.3.4",
    "v8.5.7+extension+snappy",
    "v8.5.7+extension+only-updated+handle-key-only+lz4",
    "new-8.5.6+extension+handle-key-only",
)


@node
@pytest.mark.parametrize("profile", PROFILES)
def test_the_example_in_javascript_conforms(profile):
    result = judged(f"cmd:node {shlex.quote(str(EXAMPLE / 'decoder.js'))}", profile)
    fmt = result.formats[0]
    binding = {
        rule.rule.id
        for rule in fmt.rules
        if rule.broken and rule.rule.obligation is Obligation.MUST
    }
    assert (binding, result.exit_code, fmt.levels) == (set(), 0, (1, 2))
    assert set(fmt.verdicts) <= {
        Verdict.PASS,
        Verdict.REJECTED,
        Verdict.INFORMATIONAL,
        Verdict.NON_STRICT,
    }
    assert fmt.verdicts[Verdict.PASS] > 400


@node
def test_a_quick_run_judges_forty_cases_of_one_profile_and_says_what_it_leaves_out():
    settings = Settings(
        (NAME,),
        find_budget("quick"),
        7,
        decoder=f"cmd:node {shlex.quote(str(EXAMPLE / 'decoder.js'))}",
        reduce=False,
    )
    with CommandEngine(fmt=NAME) as started:
        result = run_formats(settings, started)
    (fmt,) = result.formats
    assert (result.exit_code, len(fmt.cases)) == (0, 40)
    assert {case.case.profile for case in fmt.cases} == {"new-8.5.6"}
    assert [rule.rule.id for rule in fmt.rules if rule.rule.law == "batch" and rule.compared] == []
    said = facts.sums(result)
    assert [part for part in said if part.startswith("a first look")] == [facts.LEFT_OUT]
    assert result.spent.keys() == {part.value for part in Part}
    assert result.spent[Part.LAWS] < 1


@pytest.mark.parametrize(("claims", "profile"), [("v7.1.6*", "v7.1.6"), ("v8.*", "v8.5.7")])
def test_a_quick_run_takes_a_profile_that_the_decoder_claims(claims, profile):
    loading = Future()
    loading.set_result(Loaded((1,), Capabilities(profiles=(claims,))))
    settings = Settings((NAME,), find_budget("quick"), 7)
    # No rule is missed where most cases are left out.
    assert (settings.is_partial, replace(settings, budget=find_budget("ci")).is_partial) == (
        True,
        False,
    )
    notes = []
    cases = _draw_telling_cases(settings, get(NAME), (), loading, notes.append)
    assert {(case.profile, case.level) for case in cases} == {(profile, 1)}
    assert len(cases) == 40
    assert re.fullmatch(rf"{NAME}: 40 of \d+ named cases of {re.escape(profile)}", notes[0])


def test_a_long_run_says_what_took_long_and_a_short_one_does_not():
    spent = {Part.DECODING.value: 60.0, Part.LAWS.value: 25.0, Part.ALONE.value: 3.0}
    header = Header(1, "smoke", "mine", "none", "")
    long = RunResult(header, (), (), 100.0, spent=spent)
    assert facts.sums(long)[-1] == (
        "100.0 s (60 s decoding and judging all cases; 25 s laws: some messages again, alone, in"
        " other orders and environments; 0 decode calls)"
    )
    assert facts.sums(replace(long, seconds=19.0))[-1] == "19.0 s"
    assert facts.sums(replace(long, spent={}))[-1] == "100.0 s"


def test_a_run_offers_the_tables_of_the_messages_to_a_decoder_that_asks(tmp_path):
    trace, liar = tmp_path / "trace", Path(__file__).parent / "command_liars" / "liar.py"
    spec, select = (
        f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(liar))} tables",
        ("*/shape/*", f"{NAME}/law/*"),
    )
    judged(spec, trace=trace, level="changes", select=select)
    batches = []
    for line in map(bytes.decode, trace.read_bytes().splitlines()):
        fields = json.loads(line[2:])
        if fields["type"] == "begin":
            batches.append(({(t["database"], t["name"]) for t in fields["tables"]}, set()))
        if fields["type"] == "record":
            value = json.loads(fields["value"]["text"])
            batches[-1][1].add((value["database"], value["table"]))
    assert len([read for _, read in batches if read]) > 3
    assert all(read <= offered for offered, read in batches)


@node
def test_the_example_serves_its_own_format_only():
    with (
        CommandEngine(fmt="debezium-json") as started,
        pytest.raises(UsageError, match="reads ticdc-canal-json, not debezium-json"),
    ):
        started.load(f"cmd:node {shlex.quote(str(EXAMPLE / 'decoder.js'))}", "auto").result(60)


CANAL, CELLS = "canal-json.js", "typed-cells.js"
FLAWS = {
    "values": [
        # A DELETE's row as after, binary as UTF-8, no time zone.
        (
            CANAL,
            "case 'DELETE': return { ...named, before:",
            "case 'DELETE': return { ...named, after:",
            "op/delete-row-in-data",
        ),
        (
            CELLS,
            "Buffer.from(bytes, 'latin1')",
            "Buffer.from(bytes, 'utf8')",
            "value/binary-latin-1",
        ),
        (CELLS, "timestamp(text, zone);", "timestamp(text, 'UTC');", "value/timestamp-zone"),
    ],
    "local time, and a memory": [
        (
            CANAL,
            "(BigInt(integer(message, 'es')) * 1000n)",
            "(BigInt(integer(message, 'es')) * 1000n + BigInt(new Date(0).getTimezoneOffset()))",
            "law/environment-independence",
        ),
        (
            CANAL,
            "[change(textOf(record.value, deployment.compression))]",
            "[{ ...change(textOf(record.value, deployment.compression)), ...remembered(deployment) }]",
            "law/batch-independence",
        ),
    ],
    "the locale's numbers": [
        (
            CANAL,
            "database: string(message, 'database'),",
            "database: string(message, 'database') + (1234.5).toLocaleString().replace('1,234.5', ''),",
            "law/environment-independence",
        )
    ],
}


def spoiled(folder, flaws):
    """The command of a copy of the example with these texts in place of others."""
    shutil.copytree(EXAMPLE, folder / "node")
    with (folder / "node" / CANAL).open("a", encoding="utf-8") as file:
        file.write(
            "function remembered(deployment) { return deployment.n ? {} : { table: (deployment.n = 'x') }; }\n"
        )
    for name, before, after, *_ in flaws:
        path = folder / "node" / name
        text = path.read_text("utf-8")
        assert text.count(before) == 1
        path.write_text(text.replace(before, after), "utf-8")
    return f"cmd:node {folder}/node/decoder.js"


@node
@pytest.mark.parametrize("flaws", FLAWS)
def test_a_spoiled_copy_of_the_example_is_convicted_by_the_rule(tmp_path, monkeypatch, flaws):
    monkeypatch.setenv("TZ", "UTC")
    chosen = ("*/shape/*", "*/rows/*") if flaws == "values" else ("*/shape/*", f"{NAME}/law/*")
    result = judged(
        spoiled(tmp_path, FLAWS[flaws]), "v7.1.6+extension", select=chosen, reduce=False
    )
    assert broken(result) >= {rule for *_, rule in FLAWS[flaws]} and result.exit_code == 1


def test_the_engine_is_chosen_by_the_specification(monkeypatch):
    monkeypatch.setattr(command, "ChildEngine", lambda **options: options)
    asked = {
        "packages": ("kafka",),
        "timeout_s": 120,
        "conf": QUICK,
        "note": print,
        "pickled_decoders": {},
    }
    assert command.engine_for("mine.py:decode", (NAME,), kafka=True, note=print) == asked
    with command.engine_for("cmd:x", (NAME,)) as started:
        assert isinstance(started, CommandEngine)
