"""Failures of a format: its broken rules by cause, each with its smallest case, the number of
cases, profiles and faults.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, NamedTuple

from conformance.judging.causes import REFUSALS, Cause, cause, key_text
from conformance.judging.findings import DECODING, CaseResult, Finding, Verdict
from conformance.judging.known import EntryTracker
from conformance.judging.results import Failure, FormatResult
from conformance.judging.suspects import suspects_of_finding

SHOWN: Final = 8
"""Default limit of a rule's causes that are failures of their own; the other causes are one
failure.
"""
REDUCED: Final = 4
"""Limit of a rule's failures that are reduced: those with the most cases, since reduction has
limited calls and time.
"""
ALIKE: Final = "not reduced: every message ends so"
"""`reduced` of the one failure of a decoder that ends with the same error on every case."""
_ORDER: Final = {"MUST": 0, "SHOULD": 1, "MAY": 2, "UNSPECIFIED": 3}
"""The order of obligations in a list of failures."""


def smallest_failures(
    result: FormatResult, record: EntryTracker, limit: int = SHOWN
) -> list[Failure]:
    """A failure for each broken rule and cause, with the smallest failing case as its example: one
    that is not on record, if there is any, and preferably one that no other cause of the run may
    explain. At most `limit` causes of a rule are failures of their own; the others become one.
    """
    by_id = {r.rule.id: r.rule for r in result.rules}
    named_causes: set[str] = set()
    for case in result.cases:
        for finding in case.findings:
            blames_row = bool(finding.suspects) and finding.suspects[0][0] == "op"
            if not blames_row:
                named_causes.add(finding.cause)
    smallest: dict[tuple[str, str], _Example] = {}
    for case in result.cases:
        # Compressed messages are the smallest, but unreadable to people.
        packed = case.case.deployment.compression != "none"
        size = sum(w.message.size for w in case.case.written)
        for finding in case.findings:
            key = finding.rule, finding.cause
            doubtful = not named_causes.isdisjoint(finding.causes[1:])
            rank = key in case.covered or finding.rule in case.known, packed, doubtful, size
            if key not in smallest or rank < smallest[key].rank:
                smallest[key] = _Example(rank, finding, case)
    by_rule: dict[str, list[Failure]] = defaultdict(list)
    for (rule, cause_key), example in smallest.items():
        by_rule[rule].append(
            Failure(
                by_id[rule],
                example.finding,
                example.result,
                0,
                cause=find_cause(example.finding, example.result),
                keys=(cause_key,),
            )
        )
    case_counts = CaseCounts.count(result.cases)
    failures: list[Failure] = []
    for failures_of_rule in by_rule.values():
        counted_of_rule = [case_counts.fill(failure, record) for failure in failures_of_rule]
        failures += _limit_failures(counted_of_rule, limit)
    counted_failures = [case_counts.fill(failure, record) for failure in failures]
    return sorted(
        counted_failures,
        key=lambda f: (
            _ORDER[f.rule.obligation.value],
            -case_counts.broken[f.rule.id],
            f.rule.id,
            -f.cases,
        ),
    )


class _Example(NamedTuple):
    """A finding that shows a cause of a broken rule, with its case. Of several, the one of the
    lowest rank is taken: not on record, not compressed, explained by no other cause, small.
    """

    rank: tuple[bool, bool, bool, int]
    finding: Finding
    result: CaseResult


def find_cause(finding: Finding, case: CaseResult) -> Cause | None:
    """The cause of a finding, with the suspects that were chosen once all cases of the format were
    judged (`conformance.judging.blame`); None before that.
    """
    if not finding.causes:
        return None
    return cause(finding, case.case, finding.suspects)


def _limit_failures(failures: Sequence[Failure], most: int) -> list[Failure]:
    """The failures of a rule: first those that the record of known failures does not cover, then by
    number of cases. If two or more are beyond the first `most`, they become one failure.
    """
    ordered = sorted(failures, key=lambda f: (f.known, -f.cases))
    separate, beyond_limit = ordered[:most], ordered[most:]
    if len(beyond_limit) < 2:
        return ordered
    joined = replace(beyond_limit[0], keys=_all_keys(beyond_limit), others=len(beyond_limit) - 1)
    return [*separate, joined]


def _all_keys(failures: Iterable[Failure]) -> tuple[str, ...]:
    """The keys of the causes of all failures."""
    return tuple(chain.from_iterable(failure.keys for failure in failures))


def raised_alike(failures: Sequence[Failure], result: FormatResult) -> list[Failure]:
    """If decoding ended with the same error in all failures, only the first one, with the cause
    keys of all; else the failures as they are. If decoding ended on every case of the format, that
    failure says in `reduced` why it is not made smaller (ALIKE): every message ends so.
    """
    if not failures or {(f.finding.path, f.finding.actual) for f in failures} != {
        (DECODING, failures[0].finding.actual)
    }:
        return list(failures)
    reduction = ALIKE if _ends_on_every_case(result) else failures[0].reduced
    return [replace(failures[0], keys=_all_keys(failures), reduced=reduction)]


def _ends_on_every_case(result: FormatResult) -> bool:
    """Whether decoding ended, with an error or for want of time, on every case that the decoder
    claims.
    """
    for case in result.cases:
        is_ended = any(finding.path == DECODING for finding in case.findings)
        if case.verdict is not Verdict.UNSUPPORTED and not is_ended:
            return False
    return True


def worth_reducing(failures: Sequence[Failure]) -> tuple[list[Failure], list[Failure]]:
    """Two lists: the failures whose cases are to be reduced (made smaller), at most REDUCED of a
    rule, and the others, which say why they are not.
    """
    to_reduce, not_reduced = list[Failure](), list[Failure]()
    for failure in failures:
        if failure.reduced == ALIKE:
            not_reduced.append(failure)
        elif sum(chosen_failure.rule is failure.rule for chosen_failure in to_reduce) < REDUCED:
            to_reduce.append(failure)
        else:
            not_reduced.append(
                replace(failure, reduced=f"not reduced: only {REDUCED} causes of a rule are")
            )
    return to_reduce, not_reduced


def merged(
    failures: Sequence[Failure], result: FormatResult, record: EntryTracker
) -> list[Failure]:
    """The failures after their cases were reduced, with the cause that each smaller case shows.
    Failures of one rule that now have the same cause become one, in the place of the first, with
    the smallest case as example. A failure without a cause, or that stands for several causes
    (`others`), becomes one only with one of the very same keys. `record` is that of known failures.
    """
    together: dict[tuple[str, str], Failure] = {}
    for failure in failures:
        failure = _narrowed(failure)
        if failure.cause and not failure.others:
            cause_key = _key_in_smallest_case(failure)
        else:
            cause_key = "|".join(failure.keys)
        key = failure.rule.id, cause_key
        if key in together:
            first = together[key]
            small = min(
                first, failure, key=lambda f: sum(w.message.size for w in f.result.case.written)
            )
            failure = replace(small, keys=first.keys + failure.keys, cause=_common(first, failure))
        together[key] = failure
    case_counts = CaseCounts.count(result.cases)
    return [case_counts.fill(failure, record) for failure in together.values()]


def _key_in_smallest_case(failure: Failure) -> str:
    """The key that is the same for failures of one cause. If the case was reduced, it is made anew
    of the narrowest suspect that is left there: for a wrong cell, of the class of the value that
    stands in it now. It is the key of the failure's cause for a case that was not reduced, and for
    a refused or lost message, of which each cell is a suspect.
    """
    assert failure.cause is not None
    if failure.cause.symptom in REFUSALS or not failure.reduced:
        return failure.cause.key
    subject = suspects_of_finding(failure.finding, failure.result.case)[0]
    return key_text(failure.cause.symptom, [subject])


def _common(first: Failure, second: Failure) -> Cause | None:
    """The cause of two failures that became one: that of the first. If the two have different
    subjects (such as two value classes of a type), it names all values of the type.
    """
    if first.cause is None or second.cause is None or first.cause.subjects == second.cause.subjects:
        return first.cause
    wide = suspects_of_finding(first.finding, first.result.case)[1:2]
    return replace(first.cause, subjects=tuple(wide) or first.cause.subjects)


def _narrowed(failure: Failure) -> Failure:
    """The failure with its cause named anew from its reduced case: only subjects (traits found
    guilty) that this smaller case still has count.
    """
    if failure.cause is None:
        return failure
    return replace(
        failure, cause=cause(failure.finding, failure.result.case, failure.cause.subjects)
    )


@dataclass(slots=True)
class CaseCounts:
    """The failing cases of a format by rule and key of the cause, the number of cases that break
    each rule (`broken`), and the number of profiles.
    """

    cases: dict[tuple[str, str], list[CaseResult]]
    broken: Counter[str]
    profiles: int

    @classmethod
    def count(cls, results: Iterable[CaseResult]) -> CaseCounts:
        """Collects the cases of a format's results by rule and cause, and counts the cases that
        break each rule and the profiles.
        """
        cases: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
        profiles, broken = set[str](), Counter[str]()
        for result in results:
            profiles.add(result.case.profile)
            broken.update({f.rule for f in result.findings})
            for key in dict.fromkeys((f.rule, f.cause) for f in result.findings):
                cases[key].append(result)
        return cls(cases, broken, len(profiles))

    def fill(self, failure: Failure, record: EntryTracker) -> Failure:
        """The failure with the number of its cases, their profiles and faults. If the record of
        known failures (`record`) covers all of them, it has the record's reason and link.
        """
        rule = failure.rule.id
        every: dict[str, CaseResult] = {}
        new: set[str] = set()
        for key in failure.keys:
            for case in self.cases[rule, key]:
                every[case.case.id] = case
                if (rule, key) not in case.covered and rule not in case.known:
                    new.add(case.case.id)
        reason, link = ("", "") if new else record.find_reason(rule, failure.keys)
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
