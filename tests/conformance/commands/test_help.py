"""Help: every command has an example that parses, every option a text, and the list of commands is in sections that fit."""

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from conformance.commands.cli import cli
from conformance.commands.config import Main

EXAMPLE = re.compile(r"^\s*Example: (.*)$", re.MULTILINE)
README = Path(__file__).parents[3] / "README.md"


def walked(command, *above):
    """Every command with the words that lead to it."""
    yield above, command
    if isinstance(command, click.Group):
        for name, one in command.commands.items():
            yield from walked(one, *above, name)


COMMANDS = dict(walked(cli))
NAMES = [" ".join(words) for words in COMMANDS]


def texts(words, width=200):
    done = CliRunner().invoke(cli, ["--no-config", *words, "--help"], prog_name="cdc-conformance", terminal_width=width)
    assert done.exit_code == 0
    return done.output


def performed(line, folder):
    """Parses a command line to its end, and performs nothing."""
    program, *words = shlex.split(line)
    assert program == "cdc-conformance"
    ctx, command = cli.make_context(program, ["--no-config", *words]), cli
    while isinstance(command, click.Group):
        name, command, rest = command.resolve_command(ctx, [*ctx._protected_args, *ctx.args])
        ctx = command.make_context(name, rest, parent=ctx)
    return ctx


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that examples name."""
    (tmp_path / "corpora" / "ticdc-canal-json" / "v7.1.6").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS, ids=NAMES)
def test_every_command_has_a_line_of_example_that_parses_and_options_that_say_what_they_are_for(words, folder):
    examples = EXAMPLE.findall(texts(words))
    assert examples and examples == EXAMPLE.findall(texts(words, 80)), "an example stays one line"
    for line in examples:
        assert performed(line, folder).command_path.startswith(" ".join(("cdc-conformance", *words))), line
    options = [p for p in COMMANDS[words].params if isinstance(p, click.Option)]
    assert [p.opts for p in options if not (p.help or "").endswith((".", ")"))] == []
    assert COMMANDS[words].help


@pytest.mark.parametrize(
    "line",
    [
        "cdc-conformance run ticdc-canal-json --bugdet ci",
        "cdc-conformance run ticdc-canal --budget ci",
        "cdc-conformance corpus write ticdc-canal-json",
        "cdc-conformance decode ticdc-canal-json no-such-folder",
        "cdc-conformance runn",
        "cdc-conformance config shw",
    ],
)
def test_an_example_that_does_not_parse_is_seen(line, folder):
    from generators.errors import UsageError

    with pytest.raises((click.UsageError, UsageError)):
        performed(line, folder)


def test_every_command_is_in_a_section_and_told_in_whole():
    placed = [name for names in Main.headings.values() for name in names]
    assert sorted(placed) == sorted(cli.commands)
    shown = texts((), 80)
    assert all(f"\n{heading}:\n" in shown for heading in Main.headings)
    assert "..." not in shown.partition("Judge a decoder:")[2]
    assert "\nCommands:" not in shown and "130 interrupted" in shown
    assert CliRunner().invoke(cli, ["--version"], prog_name="cdc-conformance").output.startswith("cdc-conformance")


def test_the_readme_names_no_command_that_is_not_there(folder):
    for line in re.findall(r"^(cdc-conformance .*)$", README.read_text("utf-8"), re.MULTILINE):
        assert performed(line, folder).command_path.startswith("cdc-conformance ")
