"""A command's options as one frozen value, which its callback gets in place of keywords."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Options = TypeVar("Options")


def pass_options(
    make_options: Callable[..., Options],
) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Decorates the callback of a command so that it gets one value, which `make_options` makes of
    all parameters: a frozen dataclass with a field for each parameter. It stands below all
    decorators that add parameters.
    """

    def decorate(command: Callable[[Options], None]) -> Callable[..., None]:
        """The callback with the parameters of the command, which calls `command` with the one
        value.
        """

        @functools.wraps(command)
        def run_with_options(**parameters: Any) -> None:
            """Calls the command with one value that has all its parameters."""
            command(make_options(**parameters))

        return run_with_options

    return decorate


@dataclass(frozen=True, slots=True)
class TableOptions:
    """The options of a user's own tables, which `user_tables` adds to a command."""

    tables: tuple[str, ...]
    dialect: str | None
    database: str | None
    values_file: Path | None
    verbose: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """What selects the formats, profiles and tables of a command: the parameters of FORMATS_GIVEN,
    ALL, PROFILES, SEED and `user_tables`.
    """

    formats: tuple[str, ...]
    everything: bool
    writer_profile: tuple[str, ...]
    seed: int
    table_options: TableOptions
