"""Completion: what each place of a command line is offered, by what little, and the scripts that
three shells load.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cases.catalogue import BUDGETS
from conformance.commands import cli as command_line
from conformance.commands.cli import cli
from conformance.commands.completion import PROGRAM, SHELLS, VARIABLE
from generators.garbage.nemesis import NEMESES
from generators.wire_format import FORMATS, get

TICDC = "ticdc-canal-json"
ROOT = Path(command_line.__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("folder")
HERE = [name for name in SHELLS if shutil.which(name)]


def items(*words, shell="bash"):
    """What is offered for the last word, as (value, type)."""
    *args, incomplete = words
    completions = SHELLS[shell](cli, {}, PROGRAM, VARIABLE).get_completions(list(args), incomplete)
    return [(item.value, item.type) for item in completions]


def offered(*words):
    pairs = items(*words)
    assert {kind for _, kind in pairs} <= {"plain"}
    return [value for value, _ in pairs]


OFFERED = [
    (("con",), ["config"]),
    (("corpus", ""), ["audit", "list", "verify", "write"]),
    (("completion", ""), ["bash", "zsh", "fish"]),
    (("--no-c",), ["--no-config"]),
    (
        ("run", TICDC, "ticdc-"),
        [name for name in FORMATS if name.startswith("ticdc-") and name != TICDC],
    ),
    (("corpus", "write", TICDC, "ticdc-c"), []),
    (("run", "--budget", ""), list(BUDGETS)),
    (("run", "--broker", ""), ["auto", "embedded", "container", "none"]),
    (("load", TICDC, "--broker", ""), ["auto", "embedded", "container", "none"]),
    (("run", "--level", "r"), ["rows"]),
    (("publish", TICDC, "--keys", ""), ["uniform", "zipf", "hot"]),
    (("stream", "--nemesis", ""), [nemesis.name for nemesis in NEMESES]),
    (("run", TICDC, "--select", ""), [f"{TICDC}/"]),
    (("run", "--select", "ticdc-s"), ["ticdc-simple-json/", "ticdc-simple-avro/"]),
    (("cases", "--select", f"{TICDC}/v7.1.6/unsigned-b"), [f"{TICDC}/v7.1.6/unsigned-bigint/"]),
    (("run", "--select", "no-such-format/v1"), []),
    (("run", "--select", f"{TICDC}/no-such-profile/"), []),
]


@pytest.mark.parametrize(("words", "expected"), OFFERED)
def test_each_place_is_offered_what_fits(words, expected):
    assert offered(*words) == expected


@pytest.mark.parametrize(
    "name",
    ["run", "rules", "cases", "selftest", "bench", "load", "stream", "fuzz", "publish", "decode"],
)
def test_formats(name):
    assert offered(name, "") == list(FORMATS)
    assert offered(name, "ticdc-s") == ["ticdc-simple-json", "ticdc-simple-avro"]


@pytest.mark.parametrize("name", ["run", "cases", "stream", "fuzz", "load", "publish"])
def test_profiles_are_those_of_the_formats_given(name):
    mine = [p.name for p in get("huawei-cdl-json").profiles]
    assert offered(name, "huawei-cdl-json", "--writer-profile", "") == mine
    assert (
        offered(name, "--seed", "2", "huawei-cdl-json", "--writer-profile", "") == mine
        or name == "cases"
    )
    assert set(mine) < set(offered(name, "--writer-profile", ""))


def test_ids_are_offered_a_segment_at_a_time():
    second = offered("run", "--select", f"{TICDC}/")
    assert {f"{TICDC}/{p.name}/" for p in get(TICDC).profiles} | {f"{TICDC}/value/"} < set(second)
    assert len(second) == len(set(second))
    assert all(prefix.endswith("/") and prefix.count("/") == 2 for prefix in second)
    fourth = offered("run", "--exclude", f"{TICDC}/v7.1.6/unsigned-bigint/")
    assert f"{TICDC}/v7.1.6/unsigned-bigint/one-over-signed-max" in fourth
    assert f"{TICDC}/value/unsigned" in offered("run", "--select", f"{TICDC}/value/u")


def test_every_id_of_a_profile_is_reached():
    from conformance.cases.catalogue import named_cases
    from conformance.rules.rules import rules

    fmt = get("huawei-cdl-json")
    profile, *rest = fmt.profiles
    others = {p.name for p in rest}
    wanted = {case.id for case in named_cases(fmt, (profile,))} | {
        rule.id for rule in rules(fmt.name)
    }
    reached, open_ = set(), [f"{fmt.name}/"]
    while open_:
        for value in offered("run", "--select", open_.pop()):
            if not value.endswith("/"):
                reached.add(value)
            elif value.split("/")[1] not in others:
                open_.append(value)
    assert reached == wanted


def test_saved_failures_by_id_else_files(folder):
    assert items("replay", "x") == [("x", "file")]
    saved = folder / ".cdc-conformance" / "failures"
    saved.mkdir(parents=True)
    for name in ("b-1", "a-2", "a-1"):
        (saved / f"{name}.json").write_text("{}", "utf-8")
    assert offered("replay", "") == ["a-1", "a-2", "b-1"]
    assert offered("replay", "a") == ["a-1", "a-2"]
    assert items("replay", "./a") == [("./a", "file")]
    other = folder / "out" / "failures"
    other.mkdir(parents=True)
    (other / "c-1.json").write_text("{}", "utf-8")
    assert offered("replay", "--from", "out/failures", "") == ["c-1"]


def test_files_and_folders_where_they_are_due():
    assert items("run", "--decoder", "mi") == [("mi", "file")]
    assert items("run", "--decoder", "cmd:no") == []
    assert items("run", "--expect", "e") == [("e", "file")]
    assert items("corpus", "write", TICDC, "--out", "c") == [("c", "dir")]
    assert items("--config", "c") == [("c", "file")]


@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_wrong_offers_nothing_and_says_nothing(shell, folder, capsys):
    assert items("runn", "tic", shell=shell) == []
    (folder / "cdc-conformance.toml").write_text("sed = 1\n", "utf-8")
    assert ("smoke", "plain") in items("run", "--budget", "s", shell=shell)
    assert capsys.readouterr() == ("", "")


def test_an_error_on_the_way_offers_nothing(monkeypatch, capsys):
    def broken(_ctx, _param, _incomplete):
        raise ZeroDivisionError

    budget = next(p for p in cli.commands["run"].params if p.name == "budget")
    monkeypatch.setattr(budget.type, "shell_complete", broken)
    assert items("run", "--budget", "s") == []
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(shell, capfd):
    cli.main(["completion", shell], prog_name=PROGRAM, standalone_mode=False)
    out, err = capfd.readouterr()
    assert err == ""
    assert f"{VARIABLE}={shell}_complete" in out
    assert "_cdc_conformance_completion" in out
    if shell == "bash":
        assert "[[ $value == */ ]] && compopt -o nospace" in out
    if shell == "zsh":
        assert "compadd -U -V unsorted -S '' -- ${(M)completions:#*/}" in out
    if shell in HERE:
        subprocess.run([shell, "-n"], input=out, text=True, check=True)


def stub(folder):
    """A folder with the command in it, as a shell finds it."""
    program = folder / "bin" / PROGRAM
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m conformance "$@"\n', "utf-8")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize(
    ("words", "replies"),
    [
        (["run", "ticdc-s"], ["ticdc-simple-json", "ticdc-simple-avro"]),
        (["run", "--select", f"{TICDC}/v7.1.6/unsigned-b"], [f"{TICDC}/v7.1.6/unsigned-bigint/"]),
    ],
)
def test_bash_itself_gets_the_replies(folder, words, replies):
    if "bash" not in HERE:
        pytest.skip("no bash program on PATH")
    quoted = " ".join(f"'{word}'" for word in (PROGRAM, *words))
    script = f"""
        eval "$({PROGRAM} completion bash)"
        compopt() {{ echo "compopt $1 $2"; }}
        COMP_WORDS=({quoted}); COMP_CWORD={len(words)}
        _cdc_conformance_completion {PROGRAM}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script], env=stub(folder), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    *options, last = (line for line in done.stdout.splitlines() if line not in replies[:-1])
    assert last == replies[-1]
    assert options == (["compopt -o nospace"] if last.endswith("/") else [])


@pytest.mark.parametrize("words", ["run tic", f"run --select {TICDC}/v7.1.6/tinyint/"])
def test_an_answer_imports_nothing_heavy(words):
    start, end = (
        "import json, sys; from _cdc_conformance_pytest import main",
        "print(json.dumps(list(sys.modules)))",
    )
    code = f"{start}\ntry:\n    main()\nfinally:\n    {end}"
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        VARIABLE: "bash_complete",
        "COMP_WORDS": f"{PROGRAM} {words}",
    }
    env["COMP_CWORD"] = str(len(words.split()))
    done = subprocess.run(
        [sys.executable, "-c", code, words], env=env, capture_output=True, text=True, check=True
    )
    *values, modules = done.stdout.splitlines()
    assert len(values) >= 2
    assert {"pyspark", "pyarrow", "hypothesis", "confluent_kafka", "pandas", "rich"}.isdisjoint(
        json.loads(modules)
    )
