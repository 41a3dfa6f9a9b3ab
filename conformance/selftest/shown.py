"""The self test as a table of counts, and what failed as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.selftest import measuring
from conformance.selftest.checks import Check

WHAT: Final = {
    "reference": "right answers, and reference decoders, not accused",
    "altered": "altered outputs answered by exactly their rule",
    "liar": "liars convicted by the rule they name",
    "non-strict": "liars convicted by a SHOULD rule: only with --strict",
    "blame": "liars and operators that blame lets off no more lightly",
    "spark": "liars in Spark convicted by the rule they name",
    "writer": "lying writers seen",
    "stream": "streams converge, and their liars are convicted",
    "operator": "operators convicted, right in that format, or impossible in it",
}
"""The kinds of checks, in words."""


def render(checks: Sequence[Check]) -> RenderableType:
    """The self-test's result for the terminal: a table of counts; a line for each passed check of
    Spark, streams, rates and stacks (decoders with several mistakes at once), of an operator that
    is convicted weakly or by drawn cases alone, and of a lie (a change of a writer's messages that
    the judge is not told of) that breaks other rules, too; and a line for each failed check.
    """
    table = Table("format", "what", "shown", "of", header_style="bold")
    for name in dict.fromkeys(c.format for c in checks):
        for kind, what in WHAT.items():
            matching = [c for c in checks if c.format == name and c.kind == kind]
            if matching:
                passed = sum(c.ok for c in matching)
                colour = "green" if passed == len(matching) else "red"
                table.add_row(name, what, Text(str(passed), style=colour), str(len(matching)))
    parts: list[RenderableType] = [table]
    for check in checks:
        is_weak = check.measured is not None and (
            check.measured.answer in measuring.WEAK or check.measured.by_drawn_cases_alone
        )
        if check.ok and (
            check.kind in ("spark", "stream", "rate", "stacks") or is_weak or check.also_broken
        ):
            parts.append(Text(f"ok   {check.kind} {check.format} {check.name}: {check.detail}"))
    for check in checks:
        if not check.ok:
            parts.append(
                Text(f"FAIL {check.kind} {check.format} {check.name}: {check.detail}", style="red")
            )
    return Group(*parts)
