"""Recipes of a reduction: how a smaller scenario becomes a case, which is written, spoiled or cut
from a recording as the failing one was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from conformance.reducing.candidates import smaller_scenarios
from conformance.reducing.hints import Hint
from conformance.reducing.orders import without_parts
from conformance.reducing.scenario_parts import with_events
from generators.drawing.cases import as_case
from generators.garbage import cell_faults, faults
from generators.model import (
    Case,
    Event,
    Heartbeat,
    History,
    Instant,
    Kind,
    Op,
    Origin,
    RowChange,
    Scenario,
    Written,
)
from generators.profiles import Profile
from generators.sources.boundaries import of_three
from generators.wire_format import Format


@dataclass(frozen=True, slots=True)
class Recipe:
    """Makes a case of a scenario: a profile writes it, and `spoil` then makes each row message
    malformed as it was in the failing fault case; None for a case without a fault.
    """

    fmt: Format[Any]
    profile: Profile
    spoil: Callable[[Written], Written] | None = None

    def case(self, scenario: Scenario) -> Case:
        """Writes the scenario as a case, spoiled as the failing case is. Raises Refused for a
        history that its source cannot have, or if the fault has no place in the messages.
        """
        case = as_case(self.fmt, self.profile, scenario)
        if self.spoil is None:
            return case
        spoil = self.spoil
        spoiled = (
            spoil(written) if any(c.kind is Kind.ROW for c in written.changes) else written
            for written in case.written
        )
        return replace(case, written=tuple(spoiled))

    def smaller_scenarios(self, scenario: Scenario, hint: Hint) -> Iterator[Scenario]:
        """Smaller scenarios, boldest first."""
        return smaller_scenarios(scenario, hint)


@dataclass(frozen=True, slots=True)
class RecordedRecipe:
    """Makes a case of some messages of a recorded case, as they are. Its scenarios have a heartbeat
    for each message, whose time in milliseconds is the message's number in the recording.
    """

    fmt: Format[Any]
    profile: Profile
    recording: Case

    @property
    def scenario(self) -> Scenario:
        """The recorded failing case as a scenario with one heartbeat a message: the reducer leaves
        out messages by leaving out heartbeats.
        """
        numbers = tuple(Heartbeat(Instant(number)) for number in range(len(self.recording.written)))
        return Scenario(
            self.recording.scenario, History(numbers), self.recording.level, self.recording.tags
        )

    def case(self, scenario: Scenario) -> Case:
        """The recorded case with only the messages of the events that the scenario still has."""
        return replace(
            self.recording,
            written=tuple(self.recording.written[event.at.ms] for event in scenario.history.events),
        )

    def smaller_scenarios(self, scenario: Scenario, hint: Hint) -> Iterator[Scenario]:
        """The scenario with the failing message and no other, then without some of the other
        messages. Messages that announce a schema stay while a row is left.
        """
        events = scenario.history.events
        failing = events[min(hint.message, len(events) - 1)]
        fixed = {event for event in events if self._kinds(event) & {Kind.BOOTSTRAP, Kind.DDL}}
        free = [event for event in events if event not in fixed and event is not failing]
        for others in ([], *without_parts(free)):
            selected = {failing, *others}
            if any(Kind.ROW in self._kinds(event) for event in selected):
                selected |= fixed
            yield with_events(scenario, (event for event in events if event in selected))

    def _kinds(self, event: Event) -> set[Kind]:
        """The kinds of changes in the recorded message for which an event stands."""
        return {change.kind for change in self.recording.written[event.at.ms].changes}


def _message_fault(fmt: Format[Any], profile: Profile, case: Case) -> faults.Fault | None:
    """The fault of the format's catalogue that spoils whole messages and was applied to this case;
    None for another case.
    """
    applicable = faults.applicable(fmt.faults, profile.deployment.compression)
    return next((fault for fault in applicable if fault.name == case.fault), None)


def make_recipe(fmt: Format[Any], profile: Profile, case: Case) -> Recipe:
    """The recipe (how a smaller scenario becomes a case) for a failing case: it is written in the
    same format and profile, and if the case's messages were made malformed as wholes, they are so
    in the same way.
    """
    fault = _message_fault(fmt, profile, case)
    return Recipe(fmt, profile, partial(faults.apply, fault=fault) if fault else None)


class ScenarioRecipe(NamedTuple):
    """A scenario, and the recipe that makes a case of it."""

    scenario: Scenario
    recipe: Recipe | RecordedRecipe


def fault_recipe(fmt: Format[Any], profile: Profile, case: Case) -> ScenarioRecipe | None:
    """The scenario of a fault case (one with messages malformed on purpose), found by its name, and
    the recipe that spoils smaller ones in the same way. None for a case without a fault of the
    catalogue.
    """
    if case.origin is not Origin.FAULT:
        return None
    if (fault := _message_fault(fmt, profile, case)) is not None:
        if case.level == 2:
            unreadable_row = faults.unreadable_row(fault, profile.source)
            return ScenarioRecipe(unreadable_row, make_recipe(fmt, profile, case))
        scenarios_of_fault = (
            scenario
            for _, scenario in faults.fault_scenarios(profile.database, profile.source, (fault,))
        )
        return next(
            (
                ScenarioRecipe(s, make_recipe(fmt, profile, case))
                for s in _with_three_row_variant(scenarios_of_fault)
                if s.name == case.scenario
            ),
            None,
        )
    for cell, scenario in cell_faults.cell_fault_scenarios(
        fmt.supports, fmt.unfit_cells(profile), profile.source
    ):
        for variant in _with_three_row_variant((scenario,), cell.column):
            if variant.name == case.scenario:
                spoil = partial(cell_faults.cell_fault, fault=cell)
                return ScenarioRecipe(variant, Recipe(fmt, profile, spoil))
    edited = cell_faults.edited_cells(fmt.unfit_cells(profile))
    for cell, scenario in cell_faults.cell_text_scenarios(
        profile.database, fmt.supports, profile.source, edited
    ):
        if scenario.name == case.scenario:
            spoil = partial(cell_faults.cell_text, fault=cell)
            return ScenarioRecipe(scenario, Recipe(fmt, profile, spoil))
    return None


def _with_three_row_variant(single: Iterable[Scenario], column: str = "") -> Iterator[Scenario]:
    """The scenarios, which have one row each, and after each single INSERT the same as a message of
    three rows, in which that row stands between two others.
    """
    for scenario in single:
        yield scenario
        (event,) = scenario.history.events[:1]
        if (
            isinstance(event, RowChange)
            and event.op is Op.INSERT
            and len(scenario.history.events) == 1
        ):
            yield of_three(scenario, column)
