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
    """A mistake of the decoder in a sentence, as reports show it. `failure` is the new failure that
    shows it best, None if there is none; `rules` are those that it breaks; `binds` says whether it
    makes the run fail. `has_example` is false for a decoder that fails before it reads a message.
    """

    sentence: str
    binds: bool
    finding: Finding
    failure: Failure | None
    rules: tuple[Rule, ...]
    has_example: bool = True


@dataclass(frozen=True, slots=True)
class Repairs:
    """The mistakes of a decoder in one format: those to repair `first`, a line on the `rest` ("" if
    there is none), and the number of cases that all of them explain.
    """

    of: FormatResult
    headline: str
    first: tuple[Repair, ...]
    rest: str
    cases: int


def repairs(fmt: FormatResult, result: RunResult) -> Repairs:
    """The mistakes of a decoder in one format of a run, for the reports: the MOST most important
    ones in full, and a line with the number of the others.
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
    """Whether a failure may stand as the example of a mistake. For a mistake on unreadable messages
    the failure must deviate alike: one message gave no row, another was accepted, though both may
    have one cause.
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
