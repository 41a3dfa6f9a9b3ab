"""What a lie is, what its messages are, and the registry that finds a format's lies by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from generators.drawing.cases import LAYOUT
from generators.model import History, Message, Written
from generators.wire_format import Format, module_name

Alter: TypeAlias = Callable[[Message], Message]
"""What becomes of an honest message: another one, or the same."""


@dataclass(frozen=True, slots=True)
class Lie:
    """A writer's messages changed without telling it to the judge.

    `profile` names the honest profile. The lie sets a fact of that profile to another value (`field`, `value`), or alters what
    the honest profile writes (`alter`). `convicts` is the rule that must answer, in the tables without the format's name; None
    says that the lie changes bytes and no verdict. `scenario` is a glob of the scenario names in which the lie shows.
    """

    name: str
    profile: str
    convicts: str | None
    scenario: str = "*"
    field: str = ""
    value: Any = None
    alter: Alter | None = None

    def messages(self, fmt: Format[Any], history: History, truth: Sequence[Written]) -> list[Message | None]:
        """A message or None (not sent) for each honest one, and those that the lie sends beside them."""
        if self.alter is not None:
            return [self.alter(written.message) for written in truth]
        flipped = replace(fmt.profile(self.profile), **{self.field: self.value})
        found = [written.message for written in fmt.write(history, flipped, LAYOUT)]
        return [*found, *[None] * (len(truth) - len(found))]


def lies(name: str) -> tuple[Lie, ...]:
    """The lies of a format."""
    found: tuple[Lie, ...] = importlib.import_module(f"conformance.selftest.lies.{module_name(name)}").LIES
    return tuple(replace(lie, convicts=lie.convicts and f"{name}/{lie.convicts}") for lie in found)
