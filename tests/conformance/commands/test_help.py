"""Help: every command has an example that parses, every option a text, and the list of commands is
in sections that fit.
"""

import re
import shlex

import click
import pytest
from command_lines import parsed, performed

from conformance.commands.cli import cli
from conformance.commands.config import Main

EXAMPLE = re.compile(r"^\s*Example: (.*)$", re.MULTILINE)


def walked(command, *above):
    """Every command with the words that lead to it."""
    yield above, command
    if isinstance(command, click.Group):
        for name, subcommand in command.commands.items():
            yield from walked(subcommand, *above, name)


COMMANDS = dict(walked(cli))
NAMES = [" ".join(words) for words in COMMANDS]


def texts(words, width=200):
    done = performed(*words, "--help", width=width)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("words", COMMANDS, ids=NAMES)
def test_every_command_has_a_line_of_example_that_parses_and_options_that_say_what_they_are_for(
    words, folder
):
    # The folder that examples name.
    (folder / "corpora" / "ticdc-canal-json" / "v7.1.6").mkdir(parents=True)
    examples = EXAMPLE.findall(texts(words))
    assert examples and examples == EXAMPLE.findall(texts(words, 80)), "an example stays one line"
    for line in examples:
        program, *rest = shlex.split(line)
        assert parsed("--no-config", *rest).command_path.startswith(" ".join((program, *words))), (
            line
        )
    options = [p for p in COMMANDS[words].params if isinstance(p, click.Option)]
    assert [p.opts for p in options if not (p.help or "").endswith((".", ")"))] == []
    assert COMMANDS[words].help


def test_every_command_is_in_a_section_and_told_in_whole():
    placed = [name for names in Main.headings.values() for name in names]
    assert sorted(placed) == sorted(cli.commands)
    shown = texts((), 80)
    assert all(f"\n{heading}:\n" in shown for heading in Main.headings)
    assert "..." not in shown.partition("Judge a decoder:")[2]
    assert "\nCommands:" not in shown and "130 interrupted" in shown
    assert performed("--version").output.startswith("cdc-conformance")
