"""A failure under reduction: its smallest failing case so far, and how its reduction begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, TypeAlias

from conformance.judging.causes import may_have_cause
from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.results import Failure
from conformance.judging.trait_sorts import Trait
from conformance.reducing.measure import Measure, measure_scenario
from conformance.reducing.recipes import (
    Recipe,
    RecordedRecipe,
    ScenarioRecipe,
    fault_recipe,
    make_recipe,
)
from generators.model import Case, Origin, Scenario
from generators.wire_format import Format

RETURNS: Final = "returns"
"""The law that decoding never raises; a case that breaks it is reduced without judging."""


ScenarioOf: TypeAlias = Callable[[Case], Scenario | None]
"""Gives the scenario of which a case was written; None for a case without one."""


@dataclass(frozen=True, slots=True)
class Step:
    """A failing case on the way to the smallest one, with its scenario, the finding that it still
    has, its result and its size.
    """

    scenario: Scenario
    case: Case
    finding: Finding
    result: CaseResult
    size: Measure


@dataclass(slots=True, eq=False)
class Track:
    """A failure under reduction: its smallest failing case so far, the candidates tried, and
    whether more are left (`deferred`).

    `recipe` makes cases of smaller scenarios; `size` is that of the smallest case, `origin` that of
    the failure's own. `broken_subjects` are the subjects of all causes for which the run broke the
    failure's rule; `earlier_steps` are the larger failing cases, the first of which is the
    failure's own. `rounds`, `calls` and `ended` (when the last smaller case was found) tell what it
    cost. `fault` is the harness's error on a candidate, which ends the reduction of this failure.
    """

    failure: Failure
    recipe: Recipe | RecordedRecipe
    scenario: Scenario
    case: Case
    finding: Finding
    result: CaseResult
    size: Measure
    origin: Measure
    broken_subjects: frozenset[Trait] = frozenset()
    earlier_steps: list[Step] = field(default_factory=list)
    tried_hashes: set[int] = field(default_factory=set)
    deferred: bool = False
    rounds: int = 0
    calls: int = 0
    ended: float = 0.0
    fault: str = ""

    @property
    def raising(self) -> bool:
        """Whether the failure is a decoder that raises."""
        return self.failure.rule.law == RETURNS

    def accepts_finding(self, finding: Finding, case: Case) -> bool:
        """Whether a finding of a smaller case is the failure that this track reduces: it breaks the
        same rule, and may be for the same cause.
        """
        cause, finding_before = self.failure.cause, self.failure.finding
        same_rule = finding.rule in (self.failure.rule.id, finding_before.instead)
        return same_rule and (
            cause is None or may_have_cause(cause, finding, case, self.broken_subjects)
        )

    def accept(self, smaller: Step) -> None:
        """Makes a smaller failing case the one to reduce further. The case before it is kept, to go
        back to.
        """
        self.earlier_steps.append(
            Step(self.scenario, self.case, self.finding, self.result, self.size)
        )
        self._set_step(smaller)
        self.ended = time.monotonic()

    def start_again(self) -> None:
        """Goes back to the failure's own case, and forgets which smaller cases were tried."""
        self._set_step(self.earlier_steps[0])
        self.earlier_steps.clear()
        self.tried_hashes.clear()

    def _set_step(self, step: Step) -> None:
        """Makes the case of a step (a failing case with its scenario, finding, result and size) the
        one from which smaller cases are proposed.
        """
        self.scenario, self.case, self.size = step.scenario, step.case, step.size
        self.finding, self.result = step.finding, step.result


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A smaller case to try in place of a failure's: its scenario, the case that was written of it,
    and its size.
    """

    track: Track
    scenario: Scenario
    case: Case
    size: Measure


def start_track(
    fmt: Format[Any],
    failure: Failure,
    scenario_of: ScenarioOf,
    failures: Iterable[Failure] = (),
) -> Track | None:
    """A failure prepared for reduction: its scenario, and the recipe by which smaller scenarios are
    written as cases. None if it cannot be reduced. `failures` are all failures of the run, for the
    causes that share its rule and symptom.
    """
    case, law = failure.result.case, failure.rule.law
    if (
        case.origin is Origin.FOREIGN
        or law not in ("", RETURNS)
        or failure.result.verdict is Verdict.TIMEOUT
    ):
        return None
    profile = fmt.profile(case.profile)
    scenario = scenario_of(case)
    start: ScenarioRecipe | None
    if case.origin is Origin.RECORDED:
        recorded = RecordedRecipe(fmt, profile, case)
        start = ScenarioRecipe(recorded.scenario, recorded)
    elif scenario is not None:
        start = ScenarioRecipe(scenario, make_recipe(fmt, profile, case))
    else:
        start = fault_recipe(fmt, profile, case)
    if start is None:
        return None
    size = measure_scenario(start.scenario, count_message_bytes(case))
    broken_subjects = frozenset(
        chain.from_iterable(
            known_failure.cause.subjects
            for known_failure in failures
            if known_failure.rule.id == failure.rule.id
            and failure.cause is not None
            and known_failure.cause is not None
            and known_failure.cause.symptom is failure.cause.symptom
        )
    )
    return Track(
        failure,
        start.recipe,
        start.scenario,
        case,
        failure.finding,
        failure.result,
        size,
        size,
        broken_subjects,
    )


def accept_candidate(candidate: Candidate, result: CaseResult, finding: Finding) -> None:
    """Makes a candidate, whose case still fails with this finding, the smallest case so far of the
    failure that its track reduces.
    """
    candidate.track.accept(
        Step(candidate.scenario, candidate.case, finding, result, candidate.size)
    )


def count_message_bytes(case: Case) -> int:
    """The bytes of all messages of a case."""
    return sum(w.message.size for w in case.written)
