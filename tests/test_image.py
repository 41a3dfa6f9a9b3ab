"""The Dockerfile: what it copies is there and is not ignored, what it calls is a command, and the documentation shows its use."""

import re
import shlex
import tomllib
from pathlib import Path

from conformance.commands.cli import cli

ROOT = Path(__file__).parents[1]
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


def test_the_base_is_named():
    assert (steps("ARG"), steps("FROM")) == (["BASE=python:3.12-slim-bookworm"], ["${BASE}"])


def test_what_is_copied_is_there():
    copied = [shlex.split(rest)[:-1] for rest in steps("COPY")]
    assert copied == [["requirements/run.txt"], ["."]]
    assert sent("requirements/run.txt")


def test_the_wheel_finds_all_that_it_is_made_of():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = [*wheel["only-include"], *wheel["force-include"], project["project"]["readme"], "pyproject.toml"]
    needed += project["project"]["license-files"]
    assert [path for path in needed if not sent(path)] == []


def test_it_prepares_and_stands_where_the_user_s_files_are():
    assert "cdc-conformance prepare" in steps("RUN") and "prepare" in cli.commands
    assert (steps("ENTRYPOINT"), steps("WORKDIR")) == (['["cdc-conformance"]'], ["/work"])
    assert "SPARK_LOCAL_IP=127.0.0.1" in steps("ENV")
    told = (ROOT / "docs" / "ci.md").read_text("utf-8")
    assert 'docker run --rm --network none -v "$PWD:/work" cdc-conformance run ticdc-canal-json' in told
