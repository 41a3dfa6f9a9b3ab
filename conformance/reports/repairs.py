"""What to repair first, for every report: the mistakes of a format, each with the failure that
shows it best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.judging.deviation_of_finding import deviation_of
from conformance.judging.findings import Finding
from conformance.judging.merging import Mistake
from conformance.judging.mistakes import MOST, mistakes
from conformance.judging.results import Failure, FormatResult, RunResult
from conformance.reports.facts import count_words
from conformance.rules.rules import Obligation, Rule


@dataclass(frozen=True, slots=True)
class Repair:
    """A mistake in a sentence; `failure` is the new one that shows it best, `rules` are those that
    it breaks. `has_example` is false of a decoder that fails before it reads a message.
    """

    sentence: str
    binds: bool
    finding: Finding
    failure: Failure | None
    rules: tuple[Rule, ...]
    has_example: bool = True


@dataclass(frozen=True, slots=True)
class Repairs:
    """What is to be repaired in a format: the `first` mistakes, a line on the others, "" without
    others, and how many cases all mistakes explain; informational cases are none of them.
    """

    of: FormatResult
    headline: str
    first: tuple[Repair, ...]
    rest: str
    cases: int


def repairs(fmt: FormatResult, result: RunResult) -> Repairs:
    """The mistakes of a format in a run for the reports, those to repair first before the
    others.
    """
    all_mistakes = mistakes(fmt, strict=result.strict)
    failures = [
        failure
        for failure in result.failures
        if failure.result.case.format == fmt.format and not failure.known
    ]
    how_many = "one mistake" if len(all_mistakes) == 1 else f"{len(all_mistakes)} mistakes"
    explained = frozenset[str]().union(
        *(mistake.cases for mistake in all_mistakes if mistake.has_examples)
    )
    smaller_mistakes = (
        f"and {count_words(len(all_mistakes) - MOST, 'smaller one')}"
        if len(all_mistakes) > MOST
        else ""
    )
    first = tuple(_repair(mistake, fmt, failures, result.strict) for mistake in all_mistakes[:MOST])
    return Repairs(fmt, f"{fmt.format}: {how_many}", first, smaller_mistakes, len(explained))


def _shows_same_fault(failure: Failure, mistake: Mistake) -> bool:
    """Whether a failure may stand as the example of a mistake. Two failures on unreadable messages
    may share a cause and yet differ: one message gave no row, the other was accepted.
    """
    deviation = mistake.statement.deviation
    if deviation is None or not deviation.is_of_faults:
        return True
    return deviation_of(failure.finding, failure.result.case).kind is deviation.kind


def _repair(
    mistake: Mistake, fmt: FormatResult, failures: Sequence[Failure], strict: bool
) -> Repair:
    """A mistake in the form in which reports show it, with one of its failures as the example."""
    must = mistake.obligation is Obligation.MUST
    binding = "" if must else f" ({mistake.obligation}, counts with --strict)"
    candidates = [
        failure
        for failure in failures
        if failure.rule.id in mistake.rules and _shows_same_fault(failure, mistake)
    ]
    exact = [
        f
        for f in candidates
        if f.finding.rule == mistake.finding.rule and mistake.finding.cause in f.keys
    ]
    failure = next(iter(exact or candidates), None)
    rules = tuple(r.rule for r in fmt.rules if r.rule.id in mistake.rules)
    if not mistake.has_examples:
        sentence = f"{mistake.sentence}{binding}"
        return Repair(sentence, strict or must, mistake.finding, None, rules, has_example=False)
    return Repair(
        f"{mistake.sentence}: {count_words(len(mistake.cases), 'case')}{binding}",
        strict or must,
        failure.finding if failure else mistake.finding,
        failure,
        rules,
    )
