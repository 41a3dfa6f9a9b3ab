"""Completion in bash, zsh and fish: click's, with ids completed segment by segment; the command
that prints the script.

The options' types (`conformance.commands.shell`) know the values. Nothing here starts Spark or
contacts a broker.
"""

from __future__ import annotations

from typing import Any, Final

import click
from click import shell_completion
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
)

PROGRAM: Final = "cdc-conformance"
"""The name of the command that is completed."""
VARIABLE: Final = "_CDC_CONFORMANCE_COMPLETE"
"""The environment variable by which the shell's script asks for completions."""


class _Quiet(ShellComplete):
    """Completion that offers nothing after an error: the error's text would only disturb the
    command line.
    """

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """The completions for the shell; none where finding them raises, since the command itself
        reports the error when it runs.
        """
        try:
            return super().get_completions(args, incomplete)
        except Exception:  # noqa: BLE001 - the command itself reports the error when it runs
            return []


# Click's scripts with our change; unchanged if a later click words them differently.
class Bash(_Quiet, BashComplete):
    """Completion in bash: no space follows a partial value, which ends in a slash."""

    source_template = BashComplete.source_template.replace(
        "            COMPREPLY+=($value)\n",
        "            COMPREPLY+=($value)\n            [[ $value == */ ]] && compopt -o nospace\n",
    )


class Zsh(_Quiet, ZshComplete):
    """Completion in zsh: no space follows a partial value, which ends in a slash."""

    source_template = ZshComplete.source_template.replace(
        "        compadd -U -V unsorted -a completions\n",
        "        compadd -U -V unsorted -S '' -- ${(M)completions:#*/}\n        compadd -U -V"
        " unsorted -- ${completions:#*/}\n",
    )


class Fish(_Quiet, FishComplete):
    """Completion in fish, which by itself adds no space after a slash."""


SHELLS: Final[dict[str, type[ShellComplete]]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}
"""The completion of each shell, by its name."""
for _name, _class in SHELLS.items():
    shell_completion.add_completion_class(_class, _name)


@click.command(short_help="Prints the shell completion script.")
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Prints the script that completes commands, options, formats, profiles, case and rule ids, and saved failures.

    \b
    bash: put this line into ~/.bashrc
        eval "$(cdc-conformance completion bash)"
    zsh: put this line into ~/.zshrc, after compinit
        eval "$(cdc-conformance completion zsh)"
    fish: write the script where fish looks for it
        cdc-conformance completion fish > ~/.config/fish/completions/cdc-conformance.fish

    \b
    Example: cdc-conformance completion bash
    """
    root: Any = ctx.find_root().command
    click.echo(SHELLS[shell](root, {}, PROGRAM, VARIABLE).source())


COMMANDS = (completion,)
"""Commands for `cli`."""
