"""The command line: exit codes, what is said to whom, corpora, interrupts, and a failure from its
finding to FIXED.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from text_tables import rows

from conformance.cases.catalogue import BUDGETS
from conformance.commands import cli
from conformance.judging.clusters import SHOWN
from conformance.reports import records
from conformance.running.prepared import Settings
from generators.publishing.topics import visible
from generators.wire_format import FORMATS, get

TICDC = "ticdc-canal-json"
MODULE = [sys.executable, "-m", "conformance"]
ROOT = Path(__file__).resolve().parents[3]


def test_a_run_shows_as_many_causes_as_the_others_unless_it_is_told():
    option = next(param for param in cli.run.params if param.name == "causes")
    assert option.default == SHOWN == Settings((), BUDGETS["smoke"], 1).causes


SHOP = str(ROOT / "examples" / "tables" / "shop.sql")
USAGE = [
    (shlex.split(argv.replace("SHOP", SHOP)), int(code), said)
    for argv, code, said in rows(__file__, "usage.txt")
]


@pytest.mark.parametrize(
    ("argv", "exits", "said"), USAGE, ids=[" ".join(argv) for argv, *_ in USAGE]
)
def test_wrong_usage_is_exit_2_a_selection_of_nothing_4_and_what_is_near_is_named(
    command, fake, folder, argv, exits, said
):
    code, out, err = command(*argv)
    assert (code, out) == (exits, "")
    assert said in err
    # Nothing has started, but for a decoder that only a child can load, for messages, which are
    # read beside Spark's start, and where every case is excluded, which is known once they are
    # drawn.
    assert not (folder / "log").exists() or not {"x.usage", "--messages", "--exclude"}.isdisjoint(
        argv
    )


def test_several_profiles_are_judged_in_the_writers_order(command):
    profiles = ("--writer-profile", "v7.1.6", "--writer-profile", "v5.4.*")
    words = ("cases", TICDC, *profiles, "--select", "*/shape/insert", "--format", "json")
    code, out, _ = command(*words)
    wanted = [
        p.name for p in get(TICDC).profiles if p.name == "v7.1.6" or p.name.startswith("v5.4.")
    ]
    assert (code, [case["id"].split("/")[1] for case in json.loads(out)], len(wanted) > 1) == (
        0,
        wanted,
        True,
    )


def test_a_report_that_cannot_be_written_is_exit_3_before_anything_is_started(
    command, fake, tmp_path
):
    (tmp_path / "file").write_text("", "utf-8")
    for place in (tmp_path / "file", tmp_path / "file" / "below", "/proc/no-such-directory"):
        code, out, err = command("run", TICDC, "--broker", "none", "--report", place)
        assert (code, out) == (3, "")
        assert "cannot write a report to" in err
        assert "Choose another --report" in err
    assert not (tmp_path / "log").exists()


def test_a_session_that_does_not_start_is_exit_3_with_what_to_do(command, fake, monkeypatch):
    monkeypatch.setenv("FAKE_SAYS", '{"start": "exit"}')
    code, out, err = command("run", TICDC, "--broker", "none", "--writer-profile", "v7.1.6")
    assert (code, out) == (3, "")
    assert "Spark did not start: " in err
    assert "Try `cdc-conformance doctor`" in err


def test_java_is_checked_before_anything_starts(command, fake, monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text(
        "#!/bin/sh\necho 'openjdk version \"26.0.1\" 2026' >&2\n", "utf-8"
    )
    (tmp_path / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    code, out, err = command("run", TICDC, "--broker", "embedded", "--writer-profile", "v7.1.6")
    assert (code, out) == (3, "")
    assert re.search(r"is Java 26; Spark 4\.\S+ runs on Java 17(, 21)? or 2\d", err)
    assert not (tmp_path / "log").exists()


def test_a_fault_of_the_harness_is_no_verdict(command, monkeypatch):
    def fault(*_):
        raise AssertionError("no rule owns it")

    monkeypatch.setattr("conformance.commands.catalogue.print_rows", fault)
    code, out, err = command("formats")
    assert (code, out) == (3, "")
    assert "no rule owns it" in err
    assert "bug of the harness" in err


def test_formats(command):
    code, out, err = command("formats", "--format", "json")
    assert (code, err) == (0, "")
    formats = json.loads(out)
    assert [row["name"] for row in formats] == list(FORMATS)
    for row in formats:
        assert row["title"] and row["profiles"] == [p.name for p in get(row["name"]).profiles]
        assert all(kind["wire"] and kind["kind"] for kind in row["kinds"])
    # A pipe has what a terminal has.
    as_table = command("formats")[1]
    assert as_table == command("formats", "--format", "pretty")[1]
    assert as_table.splitlines()[1].strip("┃ ").startswith("name")


def test_rules(command):
    code, out, _ = command("rules", TICDC, "--format", "json")
    rules = json.loads(out)
    assert (code, len(rules) >= 20) == (0, True)
    for row in rules:
        assert row.keys() == {"id", "statement", "obligation", "provenance", "effect", "citations"}
        assert row["id"].startswith(f"{TICDC}/") and row["citations"]
    assert f"{TICDC}/stream/watermark" in {row["id"] for row in rules}
    every = json.loads(command("rules", "--format", "json")[1])
    assert {row["id"].partition("/")[0] for row in every} == set(FORMATS)


def test_a_stream_rule_is_explained(command):
    code, out, _ = command("rules", "--explain", f"{TICDC}/stream/watermark", "--format", "pretty")
    lines = out.splitlines()
    assert (code, lines[0]) == (0, f"{TICDC}/stream/watermark")
    assert (
        "exercised by streams of changes, read under disturbances: cdc-conformance stream" in lines
    )
    assert lines[-1].startswith("broken by late-rows-applied (Rows below the watermark are applied")
    assert "ticdc#watermark-order: A watermark says that" in out


@pytest.mark.parametrize(
    ("rule", "liar"),
    [
        ("maxwell-json/rows/snapshot", "bootstrap-refused"),
        ("debezium-avro/framing/magic", "magic-passed-over"),
        ("flink-canal-json/rows/readable", "product-form-alone"),
    ],
)
def test_the_liars_in_spark_that_break_a_rule_are_named(command, rule, liar):
    code, out, _ = command("rules", "--explain", rule, "--format", "json")
    assert (code, liar in {line["decoder"] for line in json.loads(out)["broken_by"]}) == (0, True)


def test_cases(command):
    prefix = f"{TICDC}/v7.1.6/unsigned-bigint"
    selected = ("--writer-profile", "v7.1.6", "--select", prefix)
    code, out, _ = command("cases", TICDC, *selected, "--format", "json")
    cases = json.loads(out)
    assert code == 0
    assert f"{prefix}/one-over-signed-max" in {row["id"] for row in cases}
    assert all(
        row["id"].startswith(f"{prefix}/") and row["level"] == 1 and row["messages"] >= 1
        for row in cases
    )


@pytest.mark.parametrize(
    "argv",
    [
        ["formats"],
        ["rules", TICDC],
        ["cases", TICDC, "--writer-profile", "v7.1.6", "--select", "*/shape/*"],
    ],
)
def test_a_catalogue_as_markdown_and_as_a_table(command, argv):
    rows = json.loads(command(*argv, "--format", "json")[1])
    code, out, err = command(*argv, "--format", "markdown")
    lines = out.splitlines()
    assert (code, err, len(lines)) == (0, "", len(rows) + 2)
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1
    code, out, err = command(*argv, "--format", "pretty")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert len(out.splitlines()) > len(rows)


@pytest.fixture
def corpus(command, tmp_path):
    """A folder with a small corpus."""
    options = ("--writer-profile", "v7.1.6", "--no-boundaries", "--count", "5")
    code, out, err = command("corpus", "write", TICDC, "--out", tmp_path / "c", *options)
    assert (code, out, "v7.1.6" in err) == (0, "", True)
    return tmp_path / "c" / TICDC / "v7.1.6"


def test_a_corpus_is_written_and_verified_and_a_damaged_one_refused(command, corpus, tmp_path):
    assert {p.name for p in corpus.iterdir()} == {
        "manifest.json",
        "tables.json",
        "messages.jsonl",
        "expected.jsonl",
    }
    assert command("corpus", "verify", tmp_path / "c") == (0, f"{corpus}: ok\n", "")
    (corpus / "expected.jsonl").unlink()
    code, out, err = command("corpus", "verify", tmp_path / "c")
    assert (code, "missing" in out, "1 of 1 corpora are damaged" in err) == (2, True, True)
    for place in ("empty", "no-such-directory"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        code, out, err = command("corpus", "verify", tmp_path / place)
        assert (code, out, "no corpus here" in err) == (2, "", True)


SPEC = f"cmd:{shlex.quote(sys.executable)} mine.py"
SELECTED = (
    "--broker",
    "none",
    "--writer-profile",
    "v7.1.6",
    "--select",
    f"{TICDC}/v7.1.6/shape/insert",
)


def test_a_failure_is_found_replayed_and_fixed(command, beside, tmp_path):
    import jsonschema

    beside("MORE = '_x'\n")
    judging = ("run", TICDC, "--decoder", SPEC, *SELECTED)
    code, out, err = command(*judging, "--report", "out", "--format", "json")
    assert code == 1, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert {line["type"] for line in lines} == {"header", "rule", "failure", "footer"}
    (failure,) = (line for line in lines if line["type"] == "failure")
    assert failure["rule"] == f"{TICDC}/envelope/names"
    assert failure["path"] == "table"
    assert failure["actual"] == f"{failure['expected']}_x"
    assert lines[-1]["exit_code"] == 1
    _, as_it_broke, _ = command(*judging, "--no-reduce", "--format", "json")
    (whole,) = (
        record
        for line in as_it_broke.splitlines()
        if (record := json.loads(line))["type"] == "failure"
    )
    assert (whole["rule"], whole["case"], whole["cases"]) == (
        failure["rule"],
        failure["case"],
        failure["cases"],
    )
    assert (bool(failure["reduced"]), bool(whole["reduced"])) == (True, False)
    # the case, and its message that comes again
    assert lines[-1]["formats"][TICDC]["cases"] == 2

    report = [
        json.loads(line)
        for line in (tmp_path / "out" / "report.jsonl").read_text("utf-8").splitlines()
    ]
    validator = jsonschema.Draft202012Validator(records.schema())
    for line in report:
        validator.validate(line)
    verdicts = {line["id"]: line["verdict"] for line in report if line["type"] == "case"}
    assert verdicts == dict.fromkeys(
        (f"{TICDC}/v7.1.6/shape/insert", f"{TICDC}/v7.1.6/shape/insert#again"), "fail"
    )
    assert report[-1]["type"] == "footer"

    # Beside JSON the log has the failure and the closing line as text, and the result of the
    # format.
    log = err.splitlines()
    (first,) = (line for line in log if line.startswith(f"✗ {failure['rule']}: "))
    assert first.endswith(" (the first broken rule; all follow)")
    assert f"✗ {TICDC}: 2 cases, 14/14 rules in reach exercised; fails: envelope/names" in log
    assert f"    expected  {failure['expected']}" in err
    assert "1. the column table is wrong for every row: 2 cases" in err
    assert f"cdc-conformance replay {failure['file']} --decoder {shlex.quote(SPEC)}" in err
    assert any(line.startswith(f"decoder {SPEC}: does NOT conform") for line in log)

    # Without --format the output is text, wherever it goes, and there once.
    _, out, err = command(*judging)
    assert "1. the column table is wrong for every row: 2 cases" in out
    assert any(line.startswith(f"decoder {SPEC}: does NOT conform") for line in out.splitlines())
    assert "does NOT conform" not in err and "1. the column" not in err

    spec = json.loads((tmp_path / failure["file"]).read_text("utf-8"))["decoder"]
    code, out, err = command("replay", failure["file"])
    assert (code, out) == (2, "")
    assert (
        f"only the saved files name what would run: decoder {spec!r}. Name it with --decoder" in err
    )
    code, out, _ = command("replay", failure["file"], "--decoder", SPEC, "--format", "pretty")
    assert (code, out.partition("\n")[0]) == (1, f"FAILED {failure['rule']} {failure['case']}")

    beside("MORE = ''\n")
    code, out, err = command("replay", failure["file"], "--yes", "--format", "pretty")
    assert (code, out) == (0, f"FIXED {failure['rule']} {failure['case']}\n")
    assert "1 of 1 FIXED: remove their files with --remove-fixed" in err


def test_a_run_s_topic_has_the_prefix_that_is_asked_for_and_is_deleted(command, beside, kafka):
    through = ("--broker", kafka.bootstrap, "--topic-prefix", "team-a", *SELECTED[2:])
    code, out, err = command("run", TICDC, "--decoder", SPEC, *through, "--format", "json")
    head = json.loads(out.splitlines()[0])
    assert (code, head["topic"].startswith("team-a-")) == (0, True), err
    assert head["topic"] not in visible(kafka.bootstrap)


@pytest.mark.parametrize(("report", "code"), [((), 1), (("--report", "out"), 3)])
def test_a_folder_that_cannot_be_written_costs_the_files_and_not_the_verdict(
    command, beside, tmp_path, report, code
):
    beside("MORE = '_x'\n")
    (tmp_path / ".cdc-conformance").write_text("", "utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "failures").write_text("", "utf-8")
    judging = ("run", TICDC, "--decoder", SPEC, *SELECTED)
    ended, out, err = command(*judging, *report, "--format", "json")
    assert ended == code, err
    assert json.loads(out.splitlines()[-1])["exit_code"] == 1
    assert err.index("does NOT conform") < err.index("cannot write the failure to")
    assert "cdc-conformance replay" not in out + err
    # What can be saved is saved.
    assert (tmp_path / "out" / "report.html").exists() == bool(report)


def test_a_reader_that_leaves_early_costs_no_file(beside, tmp_path):
    beside("MORE = '_x'\n")
    argv = [
        *MODULE,
        "run",
        TICDC,
        "--decoder",
        SPEC,
        *SELECTED,
        "--report",
        "out",
        "--format",
        "markdown",
    ]
    env, pipes = (
        {**os.environ, "PYTHONPATH": str(ROOT)},
        {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE},
    )
    with subprocess.Popen(argv, cwd=tmp_path, env=env, text=True, **pipes) as done:
        done.stdout.close()
        words = done.stderr.read()
        assert (done.wait(), "Traceback" in words) == (1, False)
    assert (tmp_path / "out" / "junit.xml").exists()


def test_known_failures_are_recorded_kept_and_removed(tmp_path, command, beside):
    known = tmp_path / "known.toml"

    def performed(*more):
        code, _, err = command(
            "run",
            TICDC,
            "--decoder",
            SPEC,
            *SELECTED,
            "--format",
            "json",
            "--expect",
            "known.toml",
            *more,
        )
        return code, err

    beside("MORE = '_x'\n")
    missing, words = performed()
    assert (missing, "write one with --update" in words) == (2, True)
    code, words = performed("--update")
    assert (code, f"recorded  {TICDC}/envelope/names, fail, profile v7.1.6" in words) == (0, True)
    assert performed()[0] == 0
    # A narrow run shows that its own cases pass only to entries that name them.
    known.write_text(known.read_text("utf-8") + f'case = "{TICDC}/v7.1.6/shape/insert"\n', "utf-8")
    beside("MORE = ''\n")
    assert performed()[0] == 5
    code, words = performed("--update")
    assert (code, "known.toml: 0 known failures; 0 new, 1 removed" in words) == (0, True)
