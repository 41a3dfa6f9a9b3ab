"""Command lines: read alone, and performed."""

from __future__ import annotations

import click
from click.testing import CliRunner, Result

from conformance.commands.cli import cli


def parsed(*words: object) -> click.Context:
    """The context of the command that the words end in; nothing is performed. Raises click's
    errors.
    """
    context, command = cli.make_context("cdc-conformance", list(map(str, words))), cli
    while isinstance(command, click.Group):
        name, command, rest = command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
        context = command.make_context(name, rest, parent=context)
    return context


def performed(*words: object, width: int | None = None) -> Result:
    """What a command line comes to in this process, without a configuration."""
    options = {} if width is None else {"terminal_width": width}
    return CliRunner().invoke(
        cli, ["--no-config", *map(str, words)], prog_name="cdc-conformance", **options
    )
