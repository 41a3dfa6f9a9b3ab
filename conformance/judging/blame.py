"""Names the cause of each finding of a format, once all of its cases are judged, and decides
whether a trait is guilty.

A row that comes out clears all that is in it: its value classes, exact values, options, traits. A
refused message keeps the suspects that no row clears, then those that no row of its own profile
clears. The suspect that explains many messages and occurs in few rows that came out is chosen
first. A rule on a trait (a selector with tags or profiles, for a refusal also with ops) is blamed
for a row only if such rows are fine without the trait, and no cell of it is refused without the
trait too; else the first rule without a trait is. A negative or long time that lost its fraction
alone is the affair of the rule on fractions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log2
from typing import Final, NamedTuple, TypeAlias

from conformance.judging import causes
from conformance.judging.judge import CELL, UNDECODED, CaseResult, Finding, Judge, Verdict
from conformance.judging.relations import RelationKind
from conformance.rules.rules import Aspect, Rule, Subject, owner
from generators.model import Case, Cell, Change, Kind, Logical, Origin, State

_UNCOMPARED: Final = frozenset({Aspect.KIND, Aspect.OP, Aspect.IMAGE})
"""Aspects whose mismatch leaves the cells of a row uncompared."""
_ROWS: Final = frozenset(
    {Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT, Aspect.OP, Aspect.KIND, Aspect.IMAGE}
)
"""Aspects whose mismatch may be the fault of a trait of the message."""
_TIMES: Final = frozenset({"negative", "over-24h"})
"""Value classes of times that may also have a fraction."""
_OWN: Final = frozenset({"option", "trait", "release"})
"""Subjects that may be a trait themselves."""


def blamed(judge: Judge, results: Sequence[CaseResult]) -> list[CaseResult]:
    """The results of a format with causes on every finding, and rules on traits replaced where the
    trait is not guilty.
    """
    if not any(result.findings for result in results):
        return list(results)
    seen = _Seen.of(results)
    named = _Named(seen)
    for result in results:
        named.add(result)
    named.settle()
    return [
        replace(
            result,
            findings=tuple(
                _with_causes(finding, named.blame(result, finding)) for finding in result.findings
            ),
        )
        for result in _moved(judge, results, seen)
    ]


class Blamed(NamedTuple):
    """The suspects that are blamed for a finding, and the keys of all its causes."""

    suspects: tuple[causes.Suspect, ...]
    keys: tuple[str, ...]


def _with_causes(finding: Finding, blamed: Blamed) -> Finding:
    return replace(finding, causes=blamed.keys, suspects=blamed.suspects)


def ruled(judge: Judge, results: Sequence[CaseResult], known: Known) -> list[CaseResult]:
    """The same without causes, for who asks again and again about the same cases: `known` keeps
    what their rows hold.
    """
    return (
        _moved(judge, results, _Seen.of(results, known))
        if any(result.findings for result in results)
        else list(results)
    )


def _moved(judge: Judge, results: Sequence[CaseResult], seen: _Seen) -> list[CaseResult]:
    traits = _Traits(judge.rules, results, seen)
    binding = {rule.id: rule.obligation.binds for rule in judge.rules}
    return [
        _result(judge, binding, result, traits) if result.findings else result for result in results
    ]


def _result(
    judge: Judge, binding: Mapping[str, int], result: CaseResult, traits: _Traits
) -> CaseResult:
    """The result; a finding moves to another rule only if that one binds as much: blame never
    acquits.
    """
    findings = []
    for finding in result.findings:
        rule = traits.plain(result, finding) or _fraction(judge, result.case, finding)
        if rule is not None and rule.obligation.binds >= binding[finding.rule]:
            judge.broken[finding.rule] -= 1
            judge.broken[rule.id] += 1
            judge.compared[rule.id] += 1
            finding = replace(finding, rule=rule.id, instead=finding.rule)
        findings.append(finding)
    verdict = (
        result.verdict
        if result.verdict in UNDECODED
        else judge.verdict(result.case, findings, result.nulled)
    )
    return replace(result, verdict=verdict, findings=tuple(findings))


def _fraction(judge: Judge, case: Case, finding: Finding) -> Rule | None:
    """The rule on fractions for a time of a special sign or size that has lost its fraction
    alone.
    """
    change, cell = causes.change_of(finding, case), causes.cell_of(finding, case)
    if (
        finding.aspect is not Aspect.VALUE
        or change is None
        or cell is None
        or cell.cls not in _TIMES
    ):
        return None
    if cell.type.logical is not Logical.TIME or not isinstance(cell.value, int):
        return None
    relation = causes.relation_of(finding, case)
    if relation is None or relation.kind is not RelationKind.FRACTION:
        return None
    row = _subject(case, change, finding)
    cls, logical = "micros" if cell.value % 1000 else "millis", cell.type.logical.value
    rule = judge.own(
        replace(
            row, field="cell", type=cell.type.key, logical=logical, cls=cls, state=cell.state.value
        )
    )
    return rule if rule.id != finding.rule else None


def _message(result: CaseResult, finding: Finding) -> tuple[str, int]:
    return result.case.id, -1 if result.verdict in UNDECODED else finding.message


def _rows(case: Case) -> Iterator[tuple[int, Change]]:
    """The expected rows; a row that may be refused shows nothing if no finding names it."""
    for number, written in enumerate(case.written):
        for change in written.changes:
            if change.kind is Kind.ROW and (Kind.CORRUPT, None) not in change.accept:
                yield number, change


@dataclass(frozen=True)
class _Held:
    """A row of a message of a case, and what is in it, once it is asked for."""

    case: Case
    number: int
    change: Change

    @cached_property
    def tokens(self) -> set[causes.Suspect]:
        """What it holds."""
        return causes.tokens(self.case, self.case.written[self.number].changes, self.change)

    @cached_property
    def exact(self) -> set[tuple[causes.Suspect, str]]:
        """Its exact values."""
        return {_exact(cell) for _, _, cell in causes.cells(self.change, self.case.level)}

    @cached_property
    def right(self) -> Mapping[tuple[str, bool], set[causes.Suspect]]:
        """What its cells show if all are right, by side and whether they are NULL."""
        return _right(self.case, self.change)


Known: TypeAlias = dict[int, tuple[_Held, ...]]
"""The rows of cases, by the identity of the case."""


def _cells_of(side: str, change: Change) -> causes.Suspect:
    """All cells of an image of an op."""
    return "cells", side, str(change.op)


def _right(
    case: Case, change: Change, wrong: Collection[tuple[str, str | None]] = ()
) -> Mapping[tuple[str, bool], set[causes.Suspect]]:
    """What the cells of a row show but for those that are wrong."""
    right: dict[tuple[str, bool], set[causes.Suspect]] = defaultdict(set)
    for side, column, cell in causes.cells(change, case.level):
        if (side, column) not in wrong:
            right[side, cell.state is State.NULL].update(
                (*causes.cell_tokens(cell), _cells_of(side, change))
            )
    return right


@dataclass(slots=True)
class _Seen:
    """Subjects and exact values of rows that came out, by level and profile ("" for all); right
    cells by level, side, state; and how many rows with a subject came out.
    """

    cleared: dict[tuple[int, str], set[causes.Suspect]] = field(
        default_factory=lambda: defaultdict(set)
    )
    exact: dict[tuple[int, str], set[tuple[causes.Suspect, str]]] = field(
        default_factory=lambda: defaultdict(set)
    )
    right: dict[tuple[int, str, bool], set[causes.Suspect]] = field(
        default_factory=lambda: defaultdict(set)
    )
    came: Counter[causes.Suspect] = field(default_factory=Counter)

    @classmethod
    def of(cls, results: Iterable[CaseResult], known: Known | None = None) -> _Seen:
        """What the rows that came out show."""
        seen = cls()
        for result in results:
            if (
                result.verdict in (*UNDECODED, Verdict.UNSUPPORTED)
                or result.case.origin is Origin.FOREIGN
            ):
                continue
            lost = {
                (f.message, f.row)
                for f in result.findings
                if causes.symptom(f, result.case) in causes.REFUSALS
            }
            uncompared = {(f.message, f.row) for f in result.findings if f.aspect in _UNCOMPARED}
            wrong: dict[tuple[int, int], set[tuple[str, str | None]]] = defaultdict(set)
            for finding in result.findings:
                if finding.aspect in CELL:
                    wrong[finding.message, finding.row].add((finding.side, finding.column))
            case, level = result.case, result.case.level
            touched = {(f.message, f.row) for f in result.findings}
            for number, written in enumerate(result.case.written):
                right = {
                    ("kind", c.kind.value)
                    for c in written.changes
                    if c.kind is not Kind.ROW and (number, c.row) not in touched
                }
                seen.right[level, "", False] |= right
            rows: Iterable[_Held] = (known or {}).get(id(case)) or (
                _Held(case, *row) for row in _rows(case)
            )
            if known is not None:
                rows = known.setdefault(id(case), tuple(rows))
            for held in rows:
                place = held.number, held.change.row
                if place in lost:
                    continue
                seen.came.update(held.tokens)
                for profile in ("", case.profile):
                    seen.cleared[level, profile] |= held.tokens
                    seen.exact[level, profile] |= held.exact
                if place not in uncompared:
                    shown = (
                        _right(case, held.change, wrong[place]) if place in wrong else held.right
                    )
                    for (side, null), tokens in shown.items():
                        seen.right[level, side, null] |= tokens
        return seen


def _exact(cell: Cell) -> tuple[causes.Suspect, str]:
    """A cell's narrow subject, and its type and value."""
    value = (
        hex(cell.value) if isinstance(cell.value, int) else repr(cell.value)
    )  # bit strings have too many decimal digits
    return causes.cell_tokens(cell)[0], f"{cell.type.length} {cell.type.scale} {value}"


class _Traits:
    """Decides whether a rule on a trait is rightly blamed."""

    def __init__(self, known: tuple[Rule, ...], results: Sequence[CaseResult], seen: _Seen) -> None:
        self._known = {rule.id: rule for rule in known}
        self._plain = tuple(rule for rule in known if not _narrow(rule, refusal=True))
        self._seen = seen
        self._results = results
        self._siblings: dict[tuple[str, int], list[CaseResult]] = defaultdict(list)
        for result in results:
            if result.case.origin is Origin.NAMED and result.verdict is not Verdict.UNSUPPORTED:
                self._siblings[result.case.scenario, result.case.level].append(result)
        self._without: dict[
            tuple[str, int], tuple[set[causes.Suspect], set[causes.Suspect], bool]
        ] = {}

    def plain(self, result: CaseResult, finding: Finding) -> Rule | None:
        """The rule to blame in place of the finding's; None if the finding's is right."""
        rule, change = self._known[finding.rule], causes.change_of(finding, result.case)
        if finding.aspect not in _ROWS or not _narrow(
            rule, causes.symptom(finding, result.case) in causes.REFUSALS
        ):
            return None
        if (
            change is None
            or change.kind is not Kind.ROW
            or self._guilty(rule, result, finding, change)
        ):
            return None
        return owner(self._plain, _subject(result.case, change, finding))

    def _guilty(self, rule: Rule, result: CaseResult, finding: Finding, change: Change) -> bool:
        """Whether the same rows are fine without the trait: in another profile; else, of a refusal,
        whatever is in them.
        """
        case = result.case
        fine = []
        for other in self._siblings[case.scenario, case.level]:
            without = {
                (number, row.row)
                for number, row in _rows(other.case)
                if not rule.selector.matches(_subject(other.case, row, finding))
            }
            if without:
                alike = (
                    f
                    for f in other.findings
                    if f.aspect is finding.aspect and f.side == finding.side
                )
                fine.append(not any((f.message, f.row) in without for f in alike))
        if fine:
            return all(fine)
        if causes.symptom(finding, case) not in causes.REFUSALS:
            return True
        uncleared, refused_there, passes = self._evidence(rule, finding, case.level)
        held = {
            s
            for s in causes.tokens(case, case.written[finding.message].changes, change)
            if s[0] not in _OWN
        }
        if any(
            s[0] == "cell"
            for s in (held - self._seen.cleared[case.level, case.profile]) & refused_there
        ):
            return False
        if passes:
            return not held - self._seen.cleared[case.level, ""]
        return not held & uncleared

    def _evidence(
        self, rule: Rule, finding: Finding, level: int
    ) -> tuple[set[causes.Suspect], set[causes.Suspect], bool]:
        """What rows without the trait show: subjects that came out in no profile, those that did
        not in one of the profiles that have them; and whether a row with the trait came out.
        """
        key = rule.id, level
        if key not in self._without:
            held_by, cleared_by, passes = (
                defaultdict[str, set[causes.Suspect]](set),
                defaultdict[str, set[causes.Suspect]](set),
                False,
            )
            for result in self._results:
                if result.case.level != level or result.verdict in (
                    *UNDECODED,
                    Verdict.UNSUPPORTED,
                ):
                    continue
                lost = {
                    (f.message, f.row)
                    for f in result.findings
                    if causes.symptom(f, result.case) in causes.REFUSALS
                }
                for number, change in _rows(result.case):
                    there = (number, change.row) not in lost
                    if rule.selector.matches(_subject(result.case, change, finding)):
                        passes = passes or there
                        continue
                    held = causes.tokens(result.case, result.case.written[number].changes, change)
                    held_by[result.case.profile] |= held
                    cleared_by[result.case.profile] |= held if there else set()
            uncleared = set().union(*held_by.values()) - set().union(*cleared_by.values())
            refused_by = (held - cleared_by[profile] for profile, held in held_by.items())
            self._without[key] = uncleared, set().union(*refused_by), passes
        return self._without[key]


def _narrow(rule: Rule, refusal: bool) -> bool:
    """Whether the rule is on a trait of messages; for refusals an op is a trait too."""
    selector = rule.selector
    return not rule.law and bool(selector.tags or selector.profiles or (refusal and selector.ops))


def _subject(case: Case, change: Change, finding: Finding) -> Subject:
    name = "image" if finding.aspect is Aspect.IMAGE else "change"
    op = change.op or ""
    return Subject(
        case.profile,
        case.level,
        change.kind.value,
        op,
        name,
        finding.aspect,
        finding.side,
        tags=case.tags,
    )


@dataclass(slots=True)
class _Named:
    """Names the causes. Refused messages come first and together, so that the suspect that explains
    most of them is chosen.
    """

    seen: _Seen
    _held: dict[tuple[str, int], list[set[causes.Suspect]]] = field(default_factory=dict)
    _rows: dict[tuple[str, int], causes.Suspect] = field(default_factory=dict)
    _chosen: dict[tuple[str, int], tuple[causes.Suspect, ...]] = field(default_factory=dict)
    _recorded: set[tuple[str, int]] = field(default_factory=set)
    _kinds: dict[tuple[int, causes.Suspect], set[causes.Suspect]] = field(
        default_factory=lambda: defaultdict(set)
    )

    def add(self, result: CaseResult) -> None:
        """Takes the findings of a case."""
        case, level = result.case, result.case.level
        for finding in result.findings:
            subjects = causes.chain(finding, case)
            if finding.aspect in CELL and len(subjects) > 1:
                self._kinds[level, subjects[-1]].add(subjects[-2])
            if causes.symptom(finding, case) not in causes.REFUSALS:
                continue
            rows, key = causes.refused(finding, case), _message(result, finding)
            if case.origin is Origin.RECORDED:
                self._recorded.add(key)
            if (
                finding.aspect is Aspect.MISSING
                and len(rows) > 1
                and not self._whole(result, finding, rows)
            ):
                rows = [row for row in rows if row.row == finding.row]
            elif key in self._rows:
                continue
            for row in rows:
                message = (
                    rows if result.verdict in UNDECODED else case.written[finding.message].changes
                )
                held, values = (
                    causes.tokens(case, message, row),
                    {_exact(cell) for _, _, cell in causes.cells(row, level)},
                )
                stages = self._held.setdefault(key, [set(), set(), set()])
                stages[0] |= held - self.seen.cleared[level, ""]
                stages[1] |= held - self.seen.cleared[level, case.profile]
                for stage, profile in ((1, ""), (2, case.profile)):
                    stages[stage] |= {
                        subject for subject, _ in values - self.seen.exact[level, profile]
                    }
                self._rows[key] = "row", row.op or ""

    @staticmethod
    def _whole(result: CaseResult, finding: Finding, rows: Sequence[Change]) -> bool:
        """Whether no row of the message came out."""
        lost = {
            f.row
            for f in result.findings
            if f.message == finding.message and f.aspect is finding.aspect
        }
        return lost >= {row.row for row in rows} or finding.path == "decoding"

    def settle(self) -> None:
        """Chooses the suspects of each refused message: subjects that came out nowhere; then exact
        values that did not, and subjects that did not in its own profile; then exact values by the
        rows of its own profile. A suspect that is taken already explains later messages too.
        """
        taken = set[causes.Suspect]()
        for stage in range(3):
            open_ = {
                key: stages[stage]
                for key, stages in self._held.items()
                if stages[stage] and key not in self._chosen
            }
            for key, held in list(open_.items()):
                if held & taken:
                    known = causes.ranked(held & taken)
                    self._chosen[key] = tuple(known if key in self._recorded else known[:1])
                    del open_[key]
            unsure = self._recorded if stage else frozenset[tuple[str, int]]()
            _cover(open_, self._chosen, self.seen.came, unsure)
            taken |= {
                subject
                for key in open_
                if len(self._chosen[key]) == 1 or key not in unsure
                for subject in self._chosen[key]
            }

    def blame(self, result: CaseResult, finding: Finding) -> Blamed:
        """The suspects to blame for a finding, and the keys of its causes: the chosen, then all
        others that a record may name.
        """
        case, level = result.case, result.case.level
        kind = causes.symptom(finding, case)
        subjects = causes.chain(finding, case)
        chosen: tuple[causes.Suspect, ...] = tuple(subjects[:1])
        if kind in causes.REFUSALS and (key := _message(result, finding)) in self._rows:
            chosen = self._chosen.get(key, (self._rows[key],))
            subjects = [
                *causes.ranked(next((held for held in self._held[key] if held), ())),
                self._rows[key],
            ]
        elif finding.aspect in CELL and len(subjects) > 1:
            state = subjects[0][2:] == ("null",)
            for wider in subjects[1:]:
                several = wider[0] != "cells" or len(self._kinds[level, wider]) > 1
                if several and wider not in self.seen.right[level, finding.side, state]:
                    chosen = (wider,)
        elif len(subjects) > 1 and subjects[1] not in self.seen.right[level, "", False]:
            chosen = (subjects[1],)
        first = causes.key_text(kind, chosen)
        keys = [causes.key_text(kind, [subject]) for subject in subjects]
        return Blamed(chosen, (first, *(key for key in keys if key != first)))


def _cover(
    open_: Mapping[tuple[str, int], set[causes.Suspect]],
    chosen: dict[tuple[str, int], tuple[causes.Suspect, ...]],
    came: Mapping[causes.Suspect, int],
    unsure: Collection[tuple[str, int]],
) -> None:
    """Explains each message by the suspects that explain most of those left, and with which fewest
    rows came out: a key's value is new in every row, and innocent. Suspects of just the same
    messages that are about as likely stay together.

    A recorded row cannot be made smaller, so that none of its suspects can be cleared: those that
    are `unsure` keep all that their group shares.
    """
    left = dict(open_)
    while left:
        tally = Counter(subject for held in left.values() for subject in held)
        likely = {
            subject: count / (count + came[subject]) * log2(1 + count)
            for subject, count in tally.items()
        }
        most = max(likely.values())
        first = causes.ranked(subject for subject, score in likely.items() if score == most)[0]
        group = {key: held for key, held in left.items() if first in held}
        shared = set.intersection(*group.values())
        together = {s for s in shared if tally[s] == len(group) and 2 * likely[s] >= most}
        for key in group:
            chosen[key] = _narrowest(shared if key in unsure else together)
            del left[key]


def _narrowest(subjects: set[causes.Suspect]) -> tuple[causes.Suspect, ...]:
    """The subjects that hold no other, in order."""
    return tuple(
        causes.ranked(
            subject
            for subject in subjects
            if not any(other != subject and causes.is_within(subject, other) for other in subjects)
        )
    )
