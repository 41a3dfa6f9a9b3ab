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
from conformance.engines.engine import DecodeRaised, Engine, ProcessLost, Request, write_table
from conformance.engines.specs import is_command
from conformance.judging.findings import BAD, CIRCUMSTANCE, CaseResult, Finding, Verdict
from conformance.judging.judge import Judge
from conformance.judging.output import Place, read
from conformance.judging.results import Failure, FormatResult
from conformance.rules.rules import Aspect, Rule
from conformance.running import laws, readings
from conformance.running.isolating import AGAIN, stray_finding
from conformance.running.prepared import Prepared, decode_request
from generators.errors import HarnessError
from generators.model import Case, Origin, messages_of

LIMIT_S: Final = 30.0
"""Limit of the time in which failing cases are decoded alone, in seconds."""
SAMPLED: Final = 12
"""Failures that are decoded alone first, evenly spread over all. If each of them fails alone, all
others are taken to fail alone, too, and are not tried.
"""
SEARCH_S: Final = 10.0
"""Limit of the time in which the other cases are searched for behind which a case fails, in
seconds.
"""
NEIGHBOURS: Final = 1000
"""How many other cases of its call are saved with a failure at most, if it fails only behind their
messages.
"""
TURNS: Final = 3
"""How often a case must fail alone once some other case has passed alone: then it may have failed
by chance.
"""
_NUMBERS: Final = itertools.count(1)
"""Numbers for the handles (names of kept records) of cases that are decoded from a file."""


@dataclass(frozen=True, slots=True)
class Alone:
    """A case that is being decoded by itself, or behind the messages of other cases (its
    neighbours). `places` are the coordinates of the case's messages (topic, partition, offset),
    `neighbour_places` those of the neighbours' messages. `has_own_handle`: the engine keeps the
    records for this decoding alone, and may forget them after it.
    """

    case: Case
    request: Request
    places: tuple[Place, ...]
    future: Future[pa.Table]
    has_own_handle: bool = False
    neighbour_places: tuple[Place, ...] = ()

    @classmethod
    def decode_among(
        cls,
        engine: Engine,
        case: Case,
        decoder: str,
        mapping: Mapping[str, str],
        neighbours: Sequence[Case] = (),
    ) -> Alone:
        """Writes the messages of the neighbours (other cases, none for ()), and behind them those
        of the case, into a Parquet file of their own, and begins to decode that file: no further
        message can disturb the case.
        """
        handle = f"alone-{next(_NUMBERS)}"
        all_messages = list(messages_of((*neighbours, case)))
        all_places, source = write_table(engine.directory, handle, all_messages)
        engine.keep_records(handle, source)
        neighbour_places = tuple(all_places[: -len(case.written)])
        places = tuple(all_places[-len(case.written) :])
        table = case.tables[0] if case.level == 2 else None
        request = Request(
            handle,
            source.ranges,
            decoder,
            case.level,
            case.deployment,
            table,
            mapping=mapping,
            tables=case.tables,
        )
        return cls(
            case,
            request,
            places,
            engine.decode(request),
            has_own_handle=True,
            neighbour_places=neighbour_places,
        )

    def findings(self, engine: Engine, judge: Judge, rule: Rule) -> list[Finding]:
        """Waits for the decoding, and returns the findings of the judge on the case; `rule` is the
        rule that the case broke in the run. For the laws of batches and of environments (a message
        decodes alike in every batch and session) it also decodes the same messages in other batches
        and sessions, unless the case was decoded behind neighbours; for a law of readings (a
        decoder reads a column in one way) it compares the readings within this case. At the end
        the engine forgets records that it kept for this decoding alone (`has_own_handle`). Raises
        DecodeRaised, DecodeTimeout, ChildDied and HarnessError.
        """
        try:
            outputs = read(self.future.result(), self.case.level)
            output_rows = [outputs.get(place, ()) for place in self.places]
            findings = list(judge.judge(self.case, output_rows).findings)
            if (
                stray := stray_finding(
                    judge, self.case.id, outputs, (*self.neighbour_places, *self.places)
                )
            ) is not None:
                findings.append(stray)
            if rule.law in ("batch", "environment") and not self.neighbour_places:
                owners = {place: (self.case, number) for number, place in enumerate(self.places)}
                findings += laws.try_each_circumstance(engine, self.request, owners, judge)
            if rule.law in readings.LAWS:
                of_case = readings.Readings(judge)
                of_case.take(self.case, output_rows)
                findings += of_case.findings()
            return findings
        finally:
            if self.has_own_handle:
                engine.release(self.request.handle)


def still_fails(judge: Judge, case: Case, findings: Sequence[Finding], *rule_ids: str) -> bool:
    """Whether a case that was decoded and judged once more still fails: with a finding on one of
    the given rules, or, on whichever rule, with a verdict that makes a run fail, if only with
    --strict.
    """
    verdict = judge.verdict(case, findings)
    return (
        any(finding.rule in rule_ids for finding in findings)
        or verdict in BAD
        or verdict is Verdict.NON_STRICT
    )


def move_to_batch_law(
    engine: Engine, prepared: Prepared, result: FormatResult, failures: Sequence[Failure]
) -> FormatResult:
    """Decodes the failing cases alone, from the records that are already published. Returns the
    result, in which findings on cases that pass alone are findings on the law that a message
    decodes alike in every batch. Cases that fail alone are noted in `prepared.alone`. Failures of
    laws, known failures and foreign messages are left as they are.
    """
    trial = _Trial(engine, prepared)

    def start_decoding(case: Case) -> Alone:
        """Begins to decode the case alone, from its records on the topic."""
        table = case.tables[0] if case.level == 2 else None
        request = decode_request(
            prepared, Call(case.format, case.deployment, case.level, (case,), table), (case,)
        )
        return Alone(
            case,
            request,
            tuple(prepared.place(written.message) for written in case.written),
            engine.decode(request),
        )

    eligible = [
        f
        for f in failures
        if not f.rule.law and not f.known and f.result.case.origin is not Origin.FOREIGN
    ]
    fails_alone = trial.try_in_turns(eligible, start_decoding, SAMPLED)
    prepared.alone += [
        (failure.rule.id, failure.result.case)
        for failure in eligible
        if fails_alone.get(id(failure))
    ]
    acquitted: set[tuple[str, str]] = set()
    for failure in eligible:
        if not fails_alone.get(id(failure), True):
            acquitted.update((failure.rule.id, key) for key in failure.keys)
    return _move_findings(trial.judge, result, acquitted) if acquitted else result


def choose_displayed(
    engine: Engine, prepared: Prepared, small: Sequence[Failure], originals: Sequence[Failure]
) -> list[Failure]:
    """The failures that reports show, each with whether its case fails when it is decoded alone.
    `small` are the failures with reduced cases, `originals` the same ones before the reduction, in
    the same order. Where a reduced case passes alone, its original is shown instead, with the other
    cases behind which it fails, if these were found.
    """
    trial = _Trial(engine, prepared)

    def eligible(failures: Iterable[Failure]) -> list[Failure]:
        """The failures whose cases are decoded alone: cases that errored together with others,
        timeouts and failures of the law of batches are left out.
        """
        return [
            f
            for f in failures
            if f.rule.law != "batch" and f.result.alone and f.result.verdict is not Verdict.TIMEOUT
        ]

    fails_alone = trial.try_in_turns(eligible(small), trial.decode_from_file)
    displayed = [
        f if fails_alone.get(id(f), True) else origin
        for f, origin in zip(small, originals, strict=True)
    ]
    fails_alone |= trial.try_in_turns(
        eligible(failure for failure in displayed if id(failure) not in fails_alone),
        trial.decode_from_file,
    )
    deadline = time.monotonic() + SEARCH_S

    def outcome(failure: Failure, origin: Failure) -> Failure:
        """The failure as reports show it: with whether its case fails when it is decoded alone, or,
        if it does not, the original (`origin`, before its case was reduced) with the other cases
        behind which it fails. These are not searched for a known failure. The laws of readings
        compare several cases, so that one which passes alone says nothing (`hidden` is False).
        """
        fails = fails_alone.get(id(failure), False)
        hidden = id(failure) in fails_alone and not fails and failure.rule.law not in readings.LAWS
        needs_others = failure.rule.law == "batch" or hidden
        neighbours = (
            trial.find_neighbours(origin, deadline) if needs_others and not origin.known else ()
        )
        description = (
            f"passes alone, fails behind {len(neighbours)} other cases, which are saved with it"
        )
        return (
            replace(origin, neighbours=neighbours, reduced=description)
            if neighbours
            else replace(failure, alone=fails)
        )

    return [outcome(failure, origin) for failure, origin in zip(displayed, originals, strict=True)]


class _Trial:
    """Decodes failing cases of one format alone, to see whether they fail without the messages of
    other cases.
    """

    def __init__(self, engine: Engine, prepared: Prepared) -> None:
        self.engine, self.prepared = engine, prepared
        self.judge = Judge(prepared.rules, prepared.loaded.capabilities)

    def decode_from_file(self, case: Case, neighbours: Sequence[Case] = ()) -> Alone:
        """Begins to decode the case alone, or behind the messages of `neighbours`, from a new
        Parquet file; nothing is published to a broker.
        """
        return Alone.decode_among(
            self.engine, case, self.prepared.decoder, self.prepared.settings.mapping, neighbours
        )

    def try_in_turns(
        self, failures: Sequence[Failure], decode_alone: Callable[[Case], Alone], sampled: int = 0
    ) -> dict[int, bool]:
        """Decodes the failures' cases alone, each up to TURNS times, and returns for each failure
        (by its `id()`) whether it failed each time; failures for which no time was left are
        missing. `decode_alone` begins the decoding of a case. With `sampled`, about so many
        failures are tried first, and the others are not tried if all of these fail.
        """
        alone = {
            id(failure): True
            for failure in failures
            if (failure.rule.id, failure.result.case) in self.prepared.alone
        }
        deadline = time.monotonic() + LIMIT_S
        if not is_command(self.prepared.decoder) and len(alone) < len(failures):
            self.engine.renew()

        def turn(group: Iterable[Failure]) -> None:
            """Decodes the case of each failure alone, and notes in `alone` whether it fails; a case
            that has passed once counts as passing. Stops at the deadline.
            """
            for failure in group:
                if time.monotonic() > deadline:
                    return
                fails = self._fails(failure, partial(decode_alone, failure.result.case))
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

    def _fails(self, failure: Failure, decode_alone: Callable[[], Alone]) -> bool:
        """Whether the failure's case still fails when it is decoded alone. An error of the decoder
        counts as failing. A decoder that is a command (an external program) gets a new process
        first.
        """
        if is_command(self.prepared.decoder):
            self.engine.renew()
        decoded, judge = decode_alone(), self.judge.empty()
        try:
            findings = decoded.findings(self.engine, judge, failure.rule)
        except (DecodeRaised, ProcessLost):
            return True
        return still_fails(
            judge,
            decoded.case,
            findings,
            failure.rule.id,
            failure.finding.rule,
            failure.finding.instead,
        )

    def find_neighbours(self, failure: Failure, deadline: float) -> tuple[Case, ...]:
        """Other cases of the failure's call behind whose messages its case always fails: as few as
        can be found until the deadline, by leaving out smaller and smaller parts of them. () if
        none are found.
        """
        case = failure.result.case
        call = next((call for call in self.prepared.calls if is_in_call(case, call)), None)
        neighbours = (
            [neighbour for neighbour in call.cases if neighbour.id != case.id] if call else []
        )

        def fails(before: Sequence[Case]) -> bool:
            """Whether the case fails behind the messages of the cases `before`."""
            return self._fails(failure, partial(self.decode_from_file, case, before))

        with suppress(HarnessError):
            if not neighbours or time.monotonic() > deadline or not fails(neighbours):
                return ()
            size = -(-len(neighbours) // 2)
            while size and time.monotonic() < deadline:
                for start in range(len(neighbours) - size, -1, -size):
                    fewer = [*neighbours[:start], *neighbours[start + size :]]
                    if fewer and time.monotonic() < deadline and fails(fewer):
                        neighbours = fewer
                size //= 2
            if len(neighbours) <= NEIGHBOURS and all(fails(neighbours) for _ in range(TURNS)):
                return tuple(neighbours)
        return ()


def is_in_call(case: Case, call: Call) -> bool:
    """Whether the case's messages are decoded in this call: as one of its cases or, for a repeated
    message (`ID#again`) and one of another table (`ID#in-TABLE`), as one of its foreign messages.
    """
    if call.table is not None and case.origin is Origin.FOREIGN:
        is_of_the_table = case.tables == (call.table,)
        return is_of_the_table and case.written[0].message in call.foreign
    original_id = case.id.removesuffix(AGAIN)
    return any(neighbour.id == original_id for neighbour in call.cases)


def _move_findings(
    judge: Judge, result: FormatResult, acquitted: set[tuple[str, str]]
) -> FormatResult:
    """The result in which each finding whose pair (rule, cause) is in `acquitted` is a finding on
    the law of batches instead, because its case passes alone. The rules' counts of broken
    comparisons change with it.
    """
    law = laws.rule_of(judge, "batch")
    moved_counts: dict[str, int] = {}

    def finding(finding_before: Finding) -> Iterator[Finding]:
        """The finding unchanged, or, if its pair (rule, cause) is acquitted, a finding of the law
        of batches in its place; counts the latter.
        """
        if (finding_before.rule, finding_before.cause) not in acquitted:
            yield finding_before
            return
        moved_counts[finding_before.rule] = moved_counts.get(finding_before.rule, 0) + 1
        circumstance = "among other messages"
        description = f"{circumstance}: {finding_before.path}: {finding_before.actual}"
        yield Finding(
            finding_before.case,
            law,
            finding_before.message,
            finding_before.row,
            Aspect.VALUE,
            CIRCUMSTANCE,
            "the rows that come alone",
            description,
            circumstance=circumstance,
        )

    def case(old: CaseResult) -> CaseResult:
        """The result of a case with its findings moved, and the verdict that they give."""
        return judge.with_findings(
            old, tuple(itertools.chain.from_iterable(map(finding, old.findings)))
        )

    cases, total = tuple(map(case, result.cases)), sum(moved_counts.values())
    counts: dict[str, Any] = {name: -number for name, number in moved_counts.items()} | {law: total}
    rules = tuple(
        replace(
            r,
            broken=r.broken + counts.get(r.rule.id, 0),
            compared=r.compared + (total if r.rule.id == law else 0),
        )
        for r in result.rules
    )
    return replace(result, cases=cases, rules=rules)
