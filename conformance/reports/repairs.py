"""What to repair first, for every report: the mistakes of a format, each with the failure that
shows it best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.judging.judge import Finding
from conformance.judging.mistakes import MOST, Mistake, mistakes
from conformance.judging.results import Failure, FormatResult, RunResult
from conformance.reports.facts import counted
from conformance.rules.rules import Obligation, Rule


@dataclass(frozen=True, slots=True)
class Repair:
    """A mistake in a sentence; `failure` is the new one that shows it best, `rules` are those that
    it breaks.
    """

    sentence: str
    binds: bool
    finding: Finding
    failure: Failure | None
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Repairs:
    """What is to be repaired in a format: the `first` mistakes, and a line on the others, ""
    without others.
    """

    of: FormatResult
    headline: str
    first: tuple[Repair, ...]
    rest: str


def repairs(fmt: FormatResult, result: RunResult) -> Repairs:
    """The mistakes of a format of a run, what to repair first before the rest."""
    named = mistakes(fmt, strict=result.strict)
    failures = [
        failure
        for failure in result.failures
        if failure.result.case.format == fmt.format and not failure.known
    ]
    several = "one mistake" if len(named) == 1 else f"{len(named)} mistakes"
    rest = f"and {counted(len(named) - MOST, 'smaller one')}" if len(named) > MOST else ""
    first = tuple(_repair(mistake, fmt, failures, result.strict) for mistake in named[:MOST])
    return Repairs(fmt, f"{fmt.format}: {several}", first, rest)


def _repair(
    mistake: Mistake, fmt: FormatResult, failures: Sequence[Failure], strict: bool
) -> Repair:
    must = mistake.obligation is Obligation.MUST
    binding = "" if must else f" ({mistake.obligation}, counts with --strict)"
    alike = [f for f in failures if f.rule.id in mistake.rules]
    exact = [
        f
        for f in alike
        if f.finding.rule == mistake.finding.rule and mistake.finding.cause in f.keys
    ]
    failure = next(iter(exact or alike), None)
    return Repair(
        f"{mistake.sentence}: {counted(len(mistake.cases), 'case')}{binding}",
        strict or must,
        failure.finding if failure else mistake.finding,
        failure,
        tuple(r.rule for r in fmt.rules if r.rule.id in mistake.rules),
    )
