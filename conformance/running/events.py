"""Typed events of a run, and a listener that collects them.

The order of one run: Started; Working at any time; for each format Drawn, then Decoded for each
call and Broken when a rule is broken for the first time, which may be before the first Decoded,
then Judged; Reduced for each failure (a rule and a cause); Finished. A run that is interrupted, or
in which the harness fails, ends without Finished: `Collected.unfinished_result` is the result until
then, marked as unfinished.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from conformance.judging.findings import CaseResult, Finding
from conformance.judging.results import CallResult, Failure, FormatResult, Header, RunResult
from conformance.rules.rules import Rule


@dataclass(frozen=True, slots=True)
class Started:
    """The run begins; `formats` in the order of the request."""

    header: Header
    formats: tuple[str, ...]
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Working:
    """A stage of long work, in words for the user."""

    stage: str


@dataclass(frozen=True, slots=True)
class Failing:
    """A decode call hung, or ended the decoder's process; `failure` says how. Which messages
    cause it is not known yet.
    """

    failure: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A format's cases are drawn, its messages published, its decode calls submitted. The numbers
    count these; `drawn` counts the cases that are drawn at random, the others are named or
    recorded.
    """

    format: str
    cases: int
    drawn: int
    messages: int
    calls: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decode call is judged; `call.note` is its problem, "" for none."""

    format: str
    call: CallResult


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule is broken for the first time in this run, by this case."""

    format: str
    rule: Rule
    finding: Finding
    result: CaseResult


@dataclass(frozen=True, slots=True)
class Judged:
    """A format is judged."""

    result: FormatResult


@dataclass(frozen=True, slots=True)
class Reduced:
    """A failure (a rule and a cause) is final, with its smallest case."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Finished:
    """The run ended."""

    result: RunResult


Event: TypeAlias = (
    Started | Working | Failing | Drawn | Decoded | Broken | Judged | Reduced | Finished
)
"""What a run tells while it goes on."""
Listener: TypeAlias = Callable[[Event], None]
"""A function that is given each event of a run."""


def ignore(_event: Event) -> None:
    """A listener that does nothing."""


def working(listen: Listener) -> Callable[[str], None]:
    """A function that passes a text on to the listener, as the event Working."""
    return lambda stage: listen(Working(stage))


def failing(listen: Listener, call: str, error: Exception) -> None:
    """Sends the listener the event that the decode call named `call` failed, with the first line of
    the error.
    """
    listen(
        Failing(f"{call}: {str(error).partition(chr(10))[0]}; looking for the messages that do it")
    )


def noting(
    note: Callable[[str], None],
    judged: Callable[[FormatResult], None] = lambda _result: None,
    line: Callable[[str], None] | None = None,
) -> Listener:
    """A listener that passes texts on a run's progress to `note`, failing calls to `line` (None: to
    `note`, too), and each format's result to `judged`.
    """

    def listen(event: Event) -> None:
        """Turns an event of a run into a text for `note`, and passes on the result of a format;
        other events are left out.
        """
        match event:
            case Working(stage=stage):
                note(stage)
            case Failing(failure=failure):
                (line or note)(failure)
            case Drawn():
                note(
                    f"{event.format}: {event.messages:,} messages of {event.cases:,} cases;"
                    f" {event.calls} decode calls"
                )
            case Decoded(call=call):
                note(f"{event.format}: {call.name} judged{f': {call.note}' if call.note else ''}")
            case Judged(result=result):
                judged(result)
                note(f"{result.format}: {len(result.cases):,} cases judged")

    return listen


def together(*listeners: Listener) -> Listener:
    """A listener that passes each event to all listeners, in order."""

    def listen(event: Event) -> None:
        """Passes the event to all listeners, in order."""
        for listener in listeners:
            listener(event)

    return listen


@dataclass(slots=True)
class Collected:
    """A listener that keeps the results and failures of a run, for the result of one that is not
    finished. `failures` are by rule and cause; the cause is "" until the failure is reduced.
    """

    began: float = field(default_factory=time.monotonic)
    started: Started | None = None
    formats: list[FormatResult] = field(default_factory=list)
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)

    def __call__(self, event: Event) -> None:
        """Keeps what the event adds to the result; a reduced failure replaces the first finding on
        its rule.
        """
        match event:
            case Started():
                self.started = event
            case Broken(rule=rule, finding=finding, result=result):
                self.failures.setdefault((rule.id, ""), Failure(rule, finding, result, 1))
            case Judged(result=judged):
                self.formats.append(judged)
            case Reduced(failure=failure):
                self.failures.pop((failure.rule.id, ""), None)
                self.failures[failure.rule.id, failure.cause.key if failure.cause else ""] = failure

    def unfinished_result(self, why: str) -> RunResult | None:
        """The result so far; `why` says what ended the run. None when no format was judged and no
        rule broken.
        """
        if self.started is None or not (self.formats or self.failures):
            return None
        judged, order = {result.format for result in self.formats}, self.started.formats
        return RunResult(
            self.started.header,
            tuple(sorted(self.formats, key=lambda result: order.index(result.format))),
            tuple(self.failures.values()),
            time.monotonic() - self.began,
            self.started.strict,
            ended=why,
            unjudged=tuple(name for name in order if name not in judged),
        )
