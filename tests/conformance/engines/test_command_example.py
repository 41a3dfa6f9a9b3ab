"""The example decoder in JavaScript through the real judge: it conforms, and a spoiled copy is convicted by the right rule."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cases.catalogue import Budget
from conformance.commands.cli import cli
from conformance.engines import command
from conformance.engines.child import QUICK
from conformance.engines.command import CommandEngine
from conformance.judging.judge import Verdict
from conformance.running.prepared import Settings
from conformance.running.run import run
from generators.errors import UsageError

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "node"
NAME = "ticdc-canal-json"
node = pytest.mark.skipif(shutil.which("node") is None, reason="no node program on PATH")


def judged(spec, profile="v7.1.6", **options):
    settings = Settings(
        **{"formats": (NAME,), "budget": Budget("tiny", 0, 12), "seed": 7, "decoder": spec, "writer_profile": profile} | options
    )
    with CommandEngine(fmt=NAME) as started:
        return run(settings, started)


def broken(result):
    return {rule.rule.id.removeprefix(f"{NAME}/") for found in result.formats for rule in found.rules if rule.broken}


@node
@pytest.mark.parametrize(
    "profile",
    [
        "v5.3.4",
        "v7.1.6+extension",
        "v8.5.7+extension+snappy",
        "v8.5.7+extension+only-updated+handle-key-only+lz4",
        "new-8.5.6+extension+handle-key-only",
    ],
)
def test_the_example_in_javascript_conforms(profile):
    result = judged(f"cmd:node {shlex.quote(str(EXAMPLE / 'decoder.js'))}", profile)
    verdicts = result.formats[0].verdicts
    assert broken(result) == set() and result.exit_code == 0
    assert result.formats[0].levels == (1, 2)
    assert set(verdicts) <= {Verdict.PASS, Verdict.REJECTED, Verdict.INFORMATIONAL}
    assert verdicts[Verdict.PASS] > 400


def test_a_run_offers_the_tables_of_the_messages_to_a_decoder_that_asks(tmp_path):
    trace, liar = tmp_path / "trace", Path(__file__).parent / "command_liars" / "liar.py"
    settings = Settings(
        (NAME,),
        Budget("tiny", 0, 12),
        7,
        decoder=f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(liar))} tables",
        level="changes",
        writer_profile="v7.1.6",
        select=("*/shape/*", f"{NAME}/law/*"),
    )
    with CommandEngine(fmt=NAME, trace=trace) as started:
        run(settings, started)
    batches = []
    for line in map(bytes.decode, trace.read_bytes().splitlines()):
        told = json.loads(line[2:])
        if told["type"] == "begin":
            batches.append(({(t["database"], t["name"]) for t in told["tables"]}, set()))
        if told["type"] == "record":
            value = json.loads(told["value"]["text"])
            batches[-1][1].add((value["database"], value["table"]))
    assert len([read for _, read in batches if read]) > 3
    assert all(read <= offered for offered, read in batches)


@node
def test_the_example_serves_its_own_format_only():
    with (
        CommandEngine(fmt="debezium-json") as started,
        pytest.raises(UsageError, match="this decoder reads ticdc-canal-json, not debezium-json"),
    ):
        started.load(f"cmd:node {shlex.quote(str(EXAMPLE / 'decoder.js'))}", "auto").result(20)


CANAL, CELLS = "canal-json.js", "typed-cells.js"
FLAWS = {
    "a DELETE's row as after": (
        CANAL,
        "case 'DELETE': return { ...named, before:",
        "case 'DELETE': return { ...named, after:",
        {"op/delete-row-in-data"},
    ),
    "images swapped": (
        CANAL,
        "before: row(message, 'old'), after: row(message, 'data')",
        "after: row(message, 'old'), before: row(message, 'data')",
        {"cell/value"},
    ),
    "a position through binary64": (
        CANAL,
        "? integer(extension, name) : null",
        "? String(Number(integer(extension, name))) : null",
        {"envelope/position", "watermark/position"},
    ),
    "ts for es": (CANAL, "integer(message, 'es')", "integer(message, 'ts')", {"envelope/commit-time", "watermark/position"}),
    "no DDL": (CANAL, "if (isDdl) return", "if (isDdl) throw new Unreadable('DDL');\n  if (isDdl) return", {"ddl/not-dropped"}),
    "local time": (
        CANAL,
        "(BigInt(integer(message, 'es')) * 1000n)",
        "(BigInt(integer(message, 'es')) * 1000n + BigInt(new Date(0).getTimezoneOffset()))",
        {"law/environment-independence"},
    ),
    "the locale's numbers": (
        CANAL,
        "database: string(message, 'database'),",
        "database: string(message, 'database') + (1234.5).toLocaleString().replace('1,234.5', ''),",
        {"law/environment-independence"},
    ),
    "a memory": (
        CANAL,
        "[change(textOf(record.value, deployment.compression))]",
        "[{ ...change(textOf(record.value, deployment.compression)), ...(deployment.n ? {} : { table: (deployment.n = 'x') }) }]",
        {"law/batch-independence"},
    ),
    "unsigned numbers through binary64": (
        CELLS,
        "  return text;\n}\n\nfunction decimal",
        "  return value >> 63n ? String(BigInt(Math.min(Number(text), 18446744073709549568))) : text;\n}\n\nfunction decimal",
        {"value/unsigned-bigint"},
    ),
    "binary as UTF-8": (CELLS, "latin ? 'latin1' : 'utf8'", "'utf8'", {"value/binary-latin-1"}),
    "no time zone": (CELLS, "timestamp(text, zone);", "timestamp(text, 'UTC');", {"value/timestamp-zone"}),
}


@node
@pytest.mark.parametrize("flaw", FLAWS)
def test_a_spoiled_copy_of_the_example_is_convicted_by_the_rule(tmp_path, monkeypatch, flaw):
    monkeypatch.setenv("TZ", "UTC")
    name, before, after, expected = FLAWS[flaw]
    shutil.copytree(EXAMPLE, tmp_path / "node")
    path = tmp_path / "node" / name
    text = path.read_text("utf-8")
    assert text.count(before) == 1
    path.write_text(text.replace(before, after), "utf-8")
    result = judged(f"cmd:node {tmp_path}/node/decoder.js", "v7.1.6+extension")
    assert broken(result) >= expected and result.exit_code == 1


DEATHS = {
    "process.exit(3)": "ended with exit code 3",
    "process.kill(process.pid, 'SIGKILL')": "was killed by SIGKILL",
    "setImmediate(() => { throw new TypeError('later'); })": "ended with exit code 1(.|\\n)*TypeError: later",
    "console.log('a DDL')": "a line that is no JSON .*'a DDL'",
}


@node
@pytest.mark.parametrize("death", DEATHS)
def test_a_case_that_the_decoder_does_not_survive_is_errored_and_the_others_are_judged(tmp_path, death):
    shutil.copytree(EXAMPLE, tmp_path / "node")
    path = tmp_path / "node" / CANAL
    spoiled = f"if (type === 'RENAME') {death};\n  if (isDdl) return"
    path.write_text(path.read_text("utf-8").replace("if (isDdl) return", spoiled), "utf-8")
    found = judged(f"cmd:node {tmp_path}/node/decoder.js").formats[0]
    bad = [case for case in found.cases if case.verdict is Verdict.ERRORED]
    assert bad and all("rename" in case.case.id for case in bad)
    assert all(re.search(DEATHS[death], case.note) for case in bad), bad[0].note
    assert found.verdicts[Verdict.PASS] > 400


def test_the_engine_is_chosen_by_the_specification(monkeypatch):
    monkeypatch.setattr(command, "ChildEngine", lambda **options: options)
    asked = {"packages": ("kafka",), "timeout_s": 120, "conf": QUICK, "note": print}
    assert command.engine_for("mine.py:decode", (NAME,), kafka=True, note=print) == asked
    with command.engine_for("cmd:x", (NAME,)) as started:
        assert isinstance(started, CommandEngine)


@node
def test_the_command_line_takes_a_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["run", NAME, "--decoder", f"cmd:node {EXAMPLE / 'decoder.js'}", "--broker", "none", "--writer-profile", "v7.1.6"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    shutil.copytree(EXAMPLE, tmp_path / "node")
    path = tmp_path / "node" / CANAL
    path.write_text(path.read_text("utf-8").replace("integer(message, 'es')", "integer(message, 'ts')"), "utf-8")
    done = CliRunner().invoke(cli, [*asked[:3], "cmd:node node/decoder.js", *asked[4:]])
    assert done.exit_code == 1
    saved = next((tmp_path / ".cdc-conformance").rglob("*.json"))
    again = CliRunner().invoke(cli, ["replay", str(saved), "--yes"])
    assert again.exit_code == 1 and "FAILED" in again.output
    fixed = CliRunner().invoke(cli, ["replay", str(saved), "--decoder", f"cmd:node {EXAMPLE / 'decoder.js'}"])
    assert fixed.exit_code == 0 and "FIXED" in fixed.output


@node
def test_a_case_that_makes_the_decoder_raise_is_errored_and_the_others_are_judged(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "node")
    path = tmp_path / "node" / "canal-json.js"
    text = path.read_text("utf-8")
    path.write_text(
        text.replace("if (isDdl) return", "if (type === 'RENAME') throw new TypeError('no such type');\n  if (isDdl) return"),
        "utf-8",
    )
    found = judged(f"cmd:node {tmp_path}/node/decoder.js").formats[0]
    bad = [case for case in found.cases if case.verdict is Verdict.ERRORED]
    assert bad and all("rename" in case.case.id for case in bad)
    assert all("TypeError: no such type" in case.note for case in bad)
    assert found.verdicts[Verdict.PASS] > 400
