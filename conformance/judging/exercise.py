"""Finds a named case that exercises a rule, for `rules --explain`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.cases.catalogue import named_cases
from conformance.judging.compare import Typed
from conformance.judging.judge import Judge
from conformance.judging.output import ENVELOPE, OutputRow
from conformance.rules.rules import Rule, rules
from generators.model import Case, Change, Image, Kind, Message, State
from generators.wire_format import Format


def exercising(fmt: Format[Any], rule: Rule) -> tuple[Case, Message] | None:
    """The smallest case that exercises the rule, in the first profile that has such a case, and its message.

    None for a law, and for a rule that no named case exercises.
    """
    if rule.law:
        return None
    for profile in fmt.profiles:
        owned = [(case, sites[rule.id]) for case in named_cases(fmt, [profile]) if rule.id in (sites := _owned(case))]
        if owned:
            return min(owned, key=lambda pair: (pair[0].deployment.compression != "none", pair[1].size))
    return None


def exercised(fmt: Format[Any]) -> set[str]:
    """The ids of all rules that a named case exercises."""
    return {rule for case in named_cases(fmt, fmt.profiles) for rule in _owned(case)}


def _owned(case: Case) -> dict[str, Message]:
    """The rules that own a comparison of the case, each with its first message."""
    judge = Judge(rules(case.format), remembers=True)
    table = case.tables[0].name if case.level == 2 and case.tables else None
    judge.judge(case, [[_shaped(change, case.level) for change in written.changes] for written in case.written], table)
    return {rule: case.written[sites[0].message].message for rule, sites in judge.sites.items() if sites}


def _shaped(change: Change, level: int) -> OutputRow:
    """A row with all required fields; owners do not depend on the values."""
    op = change.op.value if change.op else None
    if change.kind is not Kind.ROW:
        return OutputRow(change.row, change.kind.value, op, dict.fromkeys(ENVELOPE))
    before, after = (_image(change.image(side, level), level) for side in ("before", "after"))
    return OutputRow(change.row, change.kind.value, op, dict.fromkeys(ENVELOPE), before=before, after=after)


def _image(expected: Image | None, level: int) -> Mapping[str, Any] | None:
    if expected is None:
        return None
    value = "" if level == 1 else Typed("string", "")
    return {
        name: None if cell.state is State.NULL else value for name, cell in expected.items() if cell.state is not State.ABSENT
    }
