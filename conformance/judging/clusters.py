"""Failures of a format: its broken rules by cause, each with its smallest case, the number of
cases, profiles and faults.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from conformance.judging.causes import (
    DECODING,
    REFUSALS,
    Cause,
    cause,
    key_text,
    suspects_of_finding,
)
from conformance.judging.judge import CaseResult, Finding, Verdict
from conformance.judging.known import EntryTracker
from conformance.judging.results import Failure, FormatResult

SHOWN: Final = 8
"""Default limit of a rule's causes that are failures of their own; the other causes are one
failure.
"""
REDUCED: Final = 4
"""Limit of a rule's failures that are reduced: those with the most cases, since reduction has
limited calls and time.
"""
ALIKE: Final = "not reduced: every message ends so"
_ORDER: Final = {"MUST": 0, "SHOULD": 1, "MAY": 2, "UNSPECIFIED": 3}


def smallest_failures(
    result: FormatResult, record: EntryTracker, shown: int = SHOWN
) -> list[Failure]:
    """A failure for each broken rule and cause, by its smallest case; of its unknown cases, if any,
    and then of those that no other cause of the run may explain. Of a rule, `shown` causes are
    failures of their own.
    """
    by_id = {r.rule.id: r.rule for r in result.rules}
    named = {
        finding.cause
        for case in result.cases
        for finding in case.findings
        if not any(suspect[0] == "row" for suspect in finding.suspects[:1])
    }
    smallest: dict[tuple[str, str], tuple[tuple[bool, bool, bool, int], Finding, CaseResult]] = {}
    for case in result.cases:
        # Compressed messages are the smallest, but unreadable to people.
        packed = case.case.deployment.compression != "none"
        size = sum(w.message.size for w in case.case.written)
        for finding in case.findings:
            key = finding.rule, finding.cause
            doubtful = not named.isdisjoint(finding.causes[1:])
            rank = key in case.covered or finding.rule in case.known, packed, doubtful, size
            if key not in smallest or rank < smallest[key][0]:
                smallest[key] = rank, finding, case
    by_rule: dict[str, list[Failure]] = defaultdict(list)
    for rule, (_, finding, case) in ((rule, first) for (rule, _), first in smallest.items()):
        by_rule[rule].append(
            Failure(
                by_id[rule],
                finding,
                case,
                0,
                cause=find_cause(finding, case),
                keys=(finding.cause,),
            )
        )
    counted = CaseCounts.count(result.cases)
    failures = [
        f
        for some in by_rule.values()
        for f in _limit_failures([counted.fill(failure, record) for failure in some], shown)
    ]
    filled = [counted.fill(failure, record) for failure in failures]
    return sorted(
        filled,
        key=lambda f: (
            _ORDER[f.rule.obligation.value],
            -counted.broken[f.rule.id],
            f.rule.id,
            -f.cases,
        ),
    )


def find_cause(finding: Finding, case: CaseResult) -> Cause | None:
    """The cause that the format's blame chose for a finding; None before it."""
    if not finding.causes:
        return None
    return cause(finding, case.case, finding.suspects)


def _limit_failures(failures: Sequence[Failure], most: int) -> list[Failure]:
    """The failures of a rule by number of cases, unknown first; those beyond the limit as one."""
    ordered = sorted(failures, key=lambda f: (f.known, -f.cases))
    shown, rest = ordered[:most], ordered[most:]
    if len(rest) < 2:
        return ordered
    keys = tuple(key for failure in rest for key in failure.keys)
    return [*shown, replace(rest[0], keys=keys, others=len(rest) - 1)]


def raised_alike(failures: Sequence[Failure], result: FormatResult) -> list[Failure]:
    """The failures; one in place of several where decoding ended alike in all of them, with why it
    is not reduced if it did so on every case.
    """
    if not failures or {(f.finding.path, f.finding.actual) for f in failures} != {
        (DECODING, failures[0].finding.actual)
    }:
        return list(failures)
    every = all(
        any(f.path == DECODING for f in case.findings)
        for case in result.cases
        if case.verdict is not Verdict.UNSUPPORTED
    )
    keys = tuple(key for failure in failures for key in failure.keys)
    return [replace(failures[0], keys=keys, reduced=ALIKE if every else failures[0].reduced)]


def worth_reducing(failures: Sequence[Failure]) -> tuple[list[Failure], list[Failure]]:
    """The failures to reduce, and the others with the reason."""
    tried, left = list[Failure](), list[Failure]()
    for failure in failures:
        if failure.reduced == ALIKE:
            left.append(failure)
        elif sum(other.rule is failure.rule for other in tried) < REDUCED:
            tried.append(failure)
        else:
            left.append(
                replace(failure, reduced=f"not reduced: only {REDUCED} causes of a rule are")
            )
    return tried, left


def merged(
    failures: Sequence[Failure], result: FormatResult, record: EntryTracker
) -> list[Failure]:
    """Failures with the cause that their reduced cases show; those of one rule and cause are one,
    in the first's place.
    """
    together: dict[tuple[str, str], Failure] = {}
    for failure in failures:
        failure = _narrowed(failure)
        key = (
            failure.rule.id,
            _key_in_smallest_case(failure)
            if failure.cause and not failure.others
            else "|".join(failure.keys),
        )
        if key in together:
            first = together[key]
            small = min(
                first, failure, key=lambda f: sum(w.message.size for w in f.result.case.written)
            )
            failure = replace(small, keys=first.keys + failure.keys, cause=_common(first, failure))
        together[key] = failure
    counted = CaseCounts.count(result.cases)
    return [counted.fill(failure, record) for failure in together.values()]


def _key_in_smallest_case(failure: Failure) -> str:
    """The key of the cause in the reduced case: for a cell with the value class that it has
    there.
    """
    assert failure.cause is not None
    if failure.cause.symptom in REFUSALS or not failure.reduced:
        return failure.cause.key
    subject = suspects_of_finding(failure.finding, failure.result.case)[0]
    return key_text(failure.cause.symptom, [subject])


def _common(first: Failure, other: Failure) -> Cause | None:
    """The cause of both: if they name different value classes of a type, all values of the type."""
    if first.cause is None or other.cause is None or first.cause.subjects == other.cause.subjects:
        return first.cause
    wide = suspects_of_finding(first.finding, first.result.case)[1:2]
    return replace(first.cause, subjects=tuple(wide) or first.cause.subjects)


def _narrowed(failure: Failure) -> Failure:
    """The failure with the cause of its smallest case: of the suspects, those that are left in
    it.
    """
    if failure.cause is None:
        return failure
    return replace(
        failure, cause=cause(failure.finding, failure.result.case, failure.cause.subjects)
    )


@dataclass(slots=True)
class CaseCounts:
    """The cases of each rule and cause; `broken` counts those of each rule."""

    cases: dict[tuple[str, str], list[CaseResult]]
    broken: Counter[str]
    profiles: int

    @classmethod
    def count(cls, results: Iterable[CaseResult]) -> CaseCounts:
        """Counts the results of a format."""
        cases: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
        profiles, broken = set[str](), Counter[str]()
        for result in results:
            profiles.add(result.case.profile)
            broken.update({f.rule for f in result.findings})
            for key in dict.fromkeys((f.rule, f.cause) for f in result.findings):
                cases[key].append(result)
        return cls(cases, broken, len(profiles))

    def fill(self, failure: Failure, record: EntryTracker) -> Failure:
        """The failure with its counts, profiles and faults, and the record's reason if all of its
        cases are known.
        """
        rule = failure.rule.id
        pairs = [(key, case) for key in failure.keys for case in self.cases[rule, key]]
        every = {case.case.id: case for _, case in pairs}
        new = {
            case.case.id
            for key, case in pairs
            if (rule, key) not in case.covered and rule not in case.known
        }
        reason, link = ("", "") if new else record.reason(rule, failure.keys)
        return replace(
            failure,
            cases=len(every),
            on_record=len(every) - len(new),
            reason=reason,
            link=link,
            profiles=tuple(dict.fromkeys(case.case.profile for case in every.values())),
            judged=self.profiles,
            faults=tuple(sorted({case.case.fault for case in every.values() if case.case.fault})),
        )
