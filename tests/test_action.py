"""What CI systems and containers run: action.yml's own step, the job of GitLab, and what the
Dockerfile copies and calls.
"""

import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

from conformance.commands.cli import cli

ROOT = Path(__file__).parents[1]
COMMAND = """#!/bin/sh
for word; do printf '<%s>' "$word"; done
mkdir -p "$FOLDER"
echo "### a verdict" > "$FOLDER/report.md"
exit ${STATUS:-0}
"""


@pytest.fixture
def step(tmp_path):
    """Runs the step with a command that prints its arguments; returns its exit code, output, and
    what it wrote.
    """
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "cdc-conformance"
    command.write_text(COMMAND)
    command.chmod(0o755)
    (tmp_path / "known.toml").write_text("")

    def run(**inputs):
        given = {
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "PACKAGE": "",
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "FOLDER": inputs.get("REPORT", "conformance-report"),
            **inputs,
        }
        command = [ROOT / ".ci" / "action.sh"]
        ended = subprocess.run(
            command,
            check=False,
            cwd=tmp_path,
            env=given,
            capture_output=True,
            text=True,
            timeout=30,
        )
        written = [
            path.read_text() if path.exists() else ""
            for path in (tmp_path / "output", tmp_path / "summary")
        ]
        return ended.returncode, ended.stdout, *written

    return run


def test_the_least_inputs(step):
    assert step(FORMATS="ticdc-canal-json", ARGUMENTS="") == (
        *(
            0,
            "<run><ticdc-canal-json><--budget><ci><--broker><none><--report><conformance-report>",
        ),
        *("name=conformance-report-job-0\nexit-code=0\n", "### a verdict\n"),
    )


def test_every_input_arrives(step):
    _, said, _, _ = step(
        FORMATS="debezium-json alibaba-canal-json",
        DECODER="cmd:node my decoder.js",
        BUDGET="smoke",
        BROKER="localhost:9092",
        EXPECT="known.toml",
        REPORT="a report",
        ARGUMENTS="--select '*/value/*' --strict",
    )
    assert said == (
        "<run><debezium-json><alibaba-canal-json><--decoder><cmd:node my decoder.js><--budget><smoke><--broker><localhost:9092>"
        "<--expect><known.toml><--report><a report><--select><*/value/*><--strict>"
    )


@pytest.mark.parametrize("status", ["1", "5"])
def test_the_verdict_is_the_steps_and_the_summary_is_written_all_the_same(step, status):
    code, _, output, _ = step(FORMATS="--all", STATUS=status)
    assert (code, output.splitlines()[-1]) == (int(status), f"exit-code={status}")
    assert step(FORMATS="--all", STATUS=status)[3].startswith("### a verdict")


@pytest.mark.parametrize(
    ("inputs", "name"),
    [
        ({"REPORT": "out/mine", "JOB": "decoder", "INDEX": "1"}, "out-mine-decoder-1"),
        ({"REPORT": "out", "JOB": "decoder", "INDEX": "0"}, "out-decoder-0"),
        ({"NAME": "a name: of mine/2"}, "a-name--of-mine-2"),
    ],
)
def test_the_artifact_has_a_name_of_its_own_that_is_legal(step, inputs, name):
    assert step(FORMATS="--all", **inputs)[2].startswith(f"name={name}\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--strict", "<--strict>"),
        ("--select 'a b' --map \"x=y z\"", "<--select><a b><--map><x=y z>"),
        (
            "$(touch pwned) `touch pwned` ; touch pwned",
            "<$(touch><pwned)><`touch><pwned`><;><touch><pwned>",
        ),
        ("a\nb", "<a><b>"),
        ("'a\nb'", "<a\nb>"),
        ("", ""),
    ],
)
def test_no_shell_reads_the_arguments(step, tmp_path, arguments, words):
    code, said, _, _ = step(FORMATS="--all", ARGUMENTS=arguments)
    assert (code, said.partition("<conformance-report>")[2]) == (0, words)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"FORMATS": "x", "ARGUMENTS": "'open"}, "::error::arguments: a quote is not closed\n"),
        ({}, "::error::formats: name at least one format, or --all\n"),
        ({"FORMATS": "x", "EXPECT": "no.toml"}, "::error::expect: there is no file no.toml\n"),
        (
            {"FORMATS": "x", "REQUIREMENTS": "no.txt"},
            "::error::requirements: there is no file no.txt\n",
        ),
    ],
)
def test_a_wrong_input_is_told(step, inputs, said):
    assert step(**inputs)[:2] == (2, said)


def test_the_action_hands_over_each_of_its_inputs_that_the_step_reads():
    action, script = (ROOT / "action.yml").read_text(), (ROOT / ".ci" / "action.sh").read_text()
    handed = dict(
        re.findall(r"^ {8}([A-Z]+): \$\{\{ inputs\.([a-z-]+) \}\}$", action, re.MULTILINE)
    )
    # The runner's own words for the job and its place in a matrix.
    told = dict(re.findall(r"^ {8}([A-Z]+): \$\{\{ ((?!inputs)\S+) \}\}$", action, re.MULTILINE))
    assert told == {"JOB": "github.job", "INDEX": "strategy.job-index"}
    read = {*re.findall(r"\$\{([A-Z]+)\b", script), "ARGUMENTS"}
    assert {*handed, *told} == read - {"PACKAGE", "BASH"}
    declared = set(
        re.findall(r"^ {2}([a-z-]+):$", action[: action.index("outputs:")], re.MULTILINE)
    )
    assert declared == set(handed.values()) | {"python-version", "java-version", "sarif"}


def test_actions_images_and_packages_are_named_by_their_digest():
    """A tag or a range names something else tomorrow."""
    action, script = (ROOT / "action.yml").read_text(), (ROOT / ".ci" / "action.sh").read_text()
    uses = re.findall(r"uses: (\S+)(.*)", action)
    assert len(uses) == 5
    assert [use for use, _ in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", use)] == []
    assert [use for use, release in uses if not re.fullmatch(r" # v\d+\.\d+\.\d+", release)] == []
    (base,) = (rest for rest in steps("ARG") if rest.startswith("BASE="))
    assert re.fullmatch(r"BASE=[\w.:-]+@sha256:[0-9a-f]{64}", base)
    installs = re.findall(r"pip install ([^&\n]*)", f"{script}\n{TEXT}")
    assert len(installs) == 7
    for words in map(shlex.split, installs):
        is_locked = "--require-hashes" in words
        is_own = {"--no-deps", "--no-build-isolation"} <= set(words)
        assert is_locked or is_own or words[-1] == "$REQUIREMENTS", words
    for lock in ("run", "build"):
        text = re.sub(r"\\\n\s*", "", (ROOT / "requirements" / f"{lock}.txt").read_text("utf-8"))
        lines = [line for line in text.splitlines() if line[:1].isalnum()]
        assert lines
        assert [line for line in lines if "==" not in line or "--hash=sha256:" not in line] == []
    assert "hatchling==" in (ROOT / "requirements" / "build.txt").read_text("utf-8")


def test_the_job_of_gitlab_hands_over_its_inputs_and_the_example_has_no_other(tmp_path):
    spec, job = (ROOT / ".ci" / "gitlab.yml").read_text("utf-8").split("\n---\n")
    inputs = re.findall(r"^    (\w+):$", spec, re.MULTILINE)
    defaults = dict(
        re.findall(
            r'^    (\w+):\n(?:      (?!default).*\n)*      default: "?([^"\n]*)"?$',
            spec,
            re.MULTILINE,
        )
    )
    assert set(inputs) - set(defaults) == {"formats", "decoder"}
    assert set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", job)) == set(inputs)
    (example,) = re.findall(r"inputs: \{(.*)\}", (ROOT / "docs" / "ci.md").read_text("utf-8"))
    given = {
        name: value.strip('"') for name, value in re.findall(r'(\w+): ("[^"]*"|[^,]+)', example)
    }
    assert given.keys() <= set(inputs)
    (script,) = re.findall(r"^  script:\n    - >-\n((?:      .*\n)+)", job, re.MULTILINE)
    line = re.sub(
        r"\$\[\[ inputs\.(\w+) \]\]",
        lambda match: {**defaults, **given}[match[1]],
        " ".join(script.split()),
    )
    command = tmp_path / ".cdc-conformance" / "bin" / "cdc-conformance"
    command.parent.mkdir(parents=True)
    command.write_text(COMMAND)
    command.chmod(0o755)
    output = subprocess.run(
        ["sh", "-c", line],
        cwd=tmp_path,
        env={"FOLDER": "r"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    said = "<run><ticdc-canal-json><--decoder><mine.py:decode><--budget><ci><--broker><none><--report><conformance-report>"
    assert output == said
    assert "junit: conformance-report/junit.xml" in job and "paths: [conformance-report]" in job


TEXT = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text("utf-8"))
STEPS = [line.split(maxsplit=1) for line in TEXT.splitlines() if line and not line.startswith("#")]
IGNORE = (ROOT / ".dockerignore").read_text("utf-8").split()


def steps(name):
    return [rest for step, rest in STEPS if step == name]


def sent(path):
    """Whether the engine gets a file of the repository."""
    return f"!{path.split('/')[0]}" in IGNORE and (ROOT / path).exists()


def test_everything_is_ignored_but_what_is_named():
    assert IGNORE[0] == "*"
    assert all((ROOT / name[1:]).exists() for name in IGNORE if name.startswith("!"))


def test_what_is_copied_is_there():
    copied = [shlex.split(rest)[:-1] for rest in steps("COPY")]
    assert copied == [["requirements/run.txt", "requirements/build.txt"], ["."]]
    assert sent("requirements/run.txt") and sent("requirements/build.txt")


def test_the_wheel_finds_all_that_it_is_made_of():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = [
        *wheel["only-include"],
        *wheel["force-include"],
        project["project"]["readme"],
        "pyproject.toml",
    ]
    needed += project["project"]["license-files"]
    assert [path for path in needed if not sent(path)] == []


def test_it_prepares_and_stands_where_the_user_s_files_are():
    assert "cdc-conformance prepare" in steps("RUN") and "prepare" in cli.commands
    assert (steps("ENTRYPOINT"), steps("WORKDIR")) == (['["cdc-conformance"]'], ["/work"])
    assert "SPARK_LOCAL_IP=127.0.0.1" in steps("ENV")
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    assert (
        'docker run --rm --network none -v "$PWD:/work" cdc-conformance run ticdc-canal-json'
        in page
    )
