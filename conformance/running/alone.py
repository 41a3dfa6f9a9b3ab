"""Judges failing cases by themselves: each in a decode call of its own, of a process that has
answered no other case.

What a case shows only among other messages is a fault of its own, and a replay of the case must not
acquit of it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa

from conformance.cases.catalogue import Call
from conformance.engines.engine import DecodeRaised, Engine, Lost, Request, lay_out
from conformance.engines.specs import is_command
from conformance.judging.judge import BAD, CaseResult, Finding, Judge, Verdict
from conformance.judging.output import Place, read
from conformance.judging.results import Failure, FormatResult
from conformance.rules.rules import Aspect, Rule
from conformance.running import laws, readings
from conformance.running.isolating import AGAIN, stray_finding
from conformance.running.prepared import Prepared, request
from generators.errors import HarnessError
from generators.model import Case, Origin

LIMIT_S: Final = 30.0
"""Limit of the time in which failures are judged alone."""
SAMPLED: Final = 12
"""Failures that are judged alone first: if all of them fail alone, the others are taken to do so.
"""
SEARCH_S: Final = 10.0
"""Limit of the time in which the neighbours that failures need are searched for."""
NEIGHBOURS: Final = 1000
"""Neighbours that are saved with a failure at most."""
TURNS: Final = 3
"""How often a failure must fail alone once another has passed alone: it may have failed by chance.
"""
_NUMBERS: Final = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Alone:
    """A case that is decoded alone, or behind `beside`, with its pending answer; `own`: no other
    case uses its handle.
    """

    case: Case
    request: Request
    places: tuple[Place, ...]
    future: Future[pa.Table]
    own: bool = False
    beside: tuple[Place, ...] = ()

    @classmethod
    def laid_out(
        cls,
        engine: Engine,
        case: Case,
        decoder: str,
        mapping: Mapping[str, str],
        neighbours: Sequence[Case] = (),
    ) -> Alone:
        """Asks for a case whose messages are the only ones of a table, but for those of its
        neighbours, which are before them.
        """
        handle = f"alone-{next(_NUMBERS)}"
        laid, source = lay_out(
            engine.directory, handle, [w.message for c in (*neighbours, case) for w in c.written]
        )
        engine.open(handle, source)
        beside, places = tuple(laid[: -len(case.written)]), tuple(laid[-len(case.written) :])
        table = case.tables[0] if case.level == 2 else None
        asked = Request(
            handle,
            source.ranges,
            decoder,
            case.level,
            case.deployment,
            table,
            mapping=mapping,
            tables=case.tables,
        )
        return cls(case, asked, places, engine.decode(asked), True, beside)

    def findings(self, engine: Engine, judge: Judge, rule: Rule) -> list[Finding]:
        """The case's findings; of a law that concerns surroundings, with those of other ones.
        Raises DecodeRaised, DecodeTimeout, ChildDied and HarnessError.
        """
        try:
            outputs = read(self.future.result(), self.case.level)
            rows = [outputs.get(place, ()) for place in self.places]
            findings = list(judge.judge(self.case, rows).findings)
            if (
                stray := stray_finding(judge, self.case.id, outputs, (*self.beside, *self.places))
            ) is not None:
                findings.append(stray)
            if rule.law in ("batch", "environment") and not self.beside:
                owners = {place: (self.case, number) for number, place in enumerate(self.places)}
                findings += laws.again(engine, self.request, owners, judge)
            if rule.law in readings.LAWS:
                of_case = readings.Readings(judge)
                of_case.take(self.case, rows)
                findings += of_case.findings()
            return findings
        finally:
            if self.own:
                engine.release(self.request.handle)


def convicts(judge: Judge, case: Case, findings: Sequence[Finding], *owners: str) -> bool:
    """Whether the findings show one of the rules broken, or any other that counts."""
    verdict = judge.verdict(case, findings)
    return (
        any(finding.rule in owners for finding in findings)
        or verdict in BAD
        or verdict is Verdict.NON_STRICT
    )


def move(
    engine: Engine, prepared: Prepared, result: FormatResult, failures: Sequence[Failure]
) -> FormatResult:
    """The result with the findings moved to batch independence whose failure's case, among the same
    published records, passes alone.
    """
    trial = _Trial(engine, prepared)

    def published(case: Case) -> Alone:
        table = case.tables[0] if case.level == 2 else None
        asked = request(
            prepared, Call(case.format, case.deployment, case.level, (case,), table), (case,)
        )
        return Alone(
            case,
            asked,
            tuple(prepared.place(written.message) for written in case.written),
            engine.decode(asked),
        )

    asked = [
        f
        for f in failures
        if not f.rule.law and not f.known and f.result.case.origin is not Origin.FOREIGN
    ]
    tried = trial.turns(asked, published, SAMPLED)
    prepared.alone += [
        (failure.rule.id, failure.result.case) for failure in asked if tried.get(id(failure))
    ]
    gone = {
        (failure.rule.id, key)
        for failure in asked
        if not tried.get(id(failure), True)
        for key in failure.keys
    }
    return _moved(trial.judge, result, gone) if gone else result


def shown(
    engine: Engine, prepared: Prepared, small: Sequence[Failure], whole: Sequence[Failure]
) -> list[Failure]:
    """The failures, each with whether its case was seen to fail alone; in place of a reduced one
    that passes alone its `whole` one, with the neighbours that it needs, if they were found.
    """
    trial = _Trial(engine, prepared)

    def asked(some: Iterable[Failure]) -> list[Failure]:
        return [
            f
            for f in some
            if f.rule.law != "batch" and f.result.alone and f.result.verdict is not Verdict.TIMEOUT
        ]

    tried = trial.turns(asked(small), trial.laid_out)
    chosen = [
        f if tried.get(id(f), True) else origin for f, origin in zip(small, whole, strict=True)
    ]
    tried |= trial.turns(
        asked(failure for failure in chosen if id(failure) not in tried), trial.laid_out
    )
    until = time.monotonic() + SEARCH_S

    def outcome(failure: Failure, origin: Failure) -> Failure:
        seen = tried.get(id(failure), False)
        hidden = id(failure) in tried and not seen and failure.rule.law not in readings.LAWS
        among = failure.rule.law == "batch" or hidden
        needed = trial.needed(origin, until) if among and not origin.known else ()
        why = f"passes alone, fails behind {len(needed)} other cases, which are saved with it"
        return (
            replace(origin, neighbours=needed, reduced=why)
            if needed
            else replace(failure, alone=seen)
        )

    return [outcome(failure, origin) for failure, origin in zip(chosen, whole, strict=True)]


class _Trial:
    """Decodes failing cases alone."""

    def __init__(self, engine: Engine, prepared: Prepared) -> None:
        self.engine, self.prepared = engine, prepared
        self.judge = Judge(prepared.rules, prepared.loaded.capabilities)

    def laid_out(self, case: Case, neighbours: Sequence[Case] = ()) -> Alone:
        """See Alone."""
        return Alone.laid_out(
            self.engine, case, self.prepared.decoder, self.prepared.settings.mapping, neighbours
        )

    def turns(
        self, failures: Sequence[Failure], ask: Callable[[Case], Alone], sampled: int = 0
    ) -> dict[int, bool]:
        """By identity of a failure whether its case fails alone; those for which no time is left
        are missing. With `sampled` no more are asked if all of so many fail. Those that were seen
        to fail alone are asked again only if another passes.
        """
        alone = {
            id(failure): True
            for failure in failures
            if (failure.rule.id, failure.result.case) in self.prepared.alone
        }
        until = time.monotonic() + LIMIT_S
        if not is_command(self.prepared.decoder) and len(alone) < len(failures):
            self.engine.renew()

        def turn(some: Iterable[Failure]) -> None:
            for failure in some:
                if time.monotonic() > until:
                    return
                fails = self._fails(failure, partial(ask, failure.result.case))
                alone[id(failure)] = fails and alone.get(id(failure), True)

        with suppress(HarnessError):  # the engine is at its end; what is known stands
            if sampled:
                turn(failures[:: max(1, len(failures) // sampled)])
                if all(alone.values()):
                    return alone
            turn(failure for failure in failures if id(failure) not in alone)
            for _ in range(TURNS - 1):
                if all(alone.values()):
                    break
                turn([failure for failure in failures if alone.get(id(failure))])
        return alone

    def _fails(self, failure: Failure, ask: Callable[[], Alone]) -> bool:
        """Whether a case of the failure, in a new process, fails."""
        if is_command(self.prepared.decoder):
            self.engine.renew()
        asked, judge = ask(), self.judge.empty()
        try:
            findings = asked.findings(self.engine, judge, failure.rule)
        except (DecodeRaised, Lost):
            return True
        return convicts(
            judge,
            asked.case,
            findings,
            failure.rule.id,
            failure.finding.rule,
            failure.finding.instead,
        )

    def needed(self, failure: Failure, until: float) -> tuple[Case, ...]:
        """Cases of its call behind which the failure's case always fails, as few as are found until
        then; none if there are none.
        """
        case = failure.result.case
        first = case.id.removesuffix(AGAIN)
        call = next(
            (
                call
                for call in self.prepared.calls
                if any(other.id == first for other in call.cases)
            ),
            None,
        )
        others = [other for other in call.cases if other.id != case.id] if call else []

        def fails(some: Sequence[Case]) -> bool:
            return self._fails(failure, partial(self.laid_out, case, some))

        with suppress(HarnessError):
            if not others or time.monotonic() > until or not fails(others):
                return ()
            size = -(-len(others) // 2)
            while size and time.monotonic() < until:
                for start in range(len(others) - size, -1, -size):
                    left = [*others[:start], *others[start + size :]]
                    if left and time.monotonic() < until and fails(left):
                        others = left
                size //= 2
            if len(others) <= NEIGHBOURS and all(fails(others) for _ in range(TURNS)):
                return tuple(others)
        return ()


def _moved(judge: Judge, result: FormatResult, gone: set[tuple[str, str]]) -> FormatResult:
    law = laws.rule_of(judge, "batch")
    taken: dict[str, int] = {}

    def finding(old: Finding) -> Iterator[Finding]:
        if (old.rule, old.cause) not in gone:
            yield old
            return
        taken[old.rule] = taken.get(old.rule, 0) + 1
        circumstance = "among other messages"
        text = f"{circumstance}: {old.path}: {old.actual}"
        yield Finding(
            old.case,
            law,
            old.message,
            old.row,
            Aspect.VALUE,
            "message",
            "the rows that come alone",
            text,
            circumstance=circumstance,
        )

    def case(old: CaseResult) -> CaseResult:
        return judge.with_findings(
            old, tuple(new for each in old.findings for new in finding(each))
        )

    cases, total = tuple(map(case, result.cases)), sum(taken.values())
    counts: dict[str, Any] = {name: -number for name, number in taken.items()} | {law: total}
    rules = tuple(
        replace(
            r,
            broken=r.broken + counts.get(r.rule.id, 0),
            compared=r.compared + (total if r.rule.id == law else 0),
        )
        for r in result.rules
    )
    return replace(result, cases=cases, rules=rules)
