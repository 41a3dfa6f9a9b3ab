"""The cases of a format with the rows of a right decoder, and which rule owns something in which:
what operators are tried on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from operator import is_
from typing import Any, Final

from conformance.cases.catalogue import BUDGETS, drawn_cases, named_cases
from conformance.cases.covering import select_covering
from conformance.judging import perfect
from conformance.judging.blame import Known, ruled
from conformance.judging.judge import CaseResult, Judge
from conformance.judging.output import OutputRow
from conformance.rules.rules import rules
from conformance.selftest.operators.operator import Operator, Rows, Seen
from generators.model import Case, Logical
from generators.wire_format import Format

TRIED: Final = 15
"""Cases of a rule and level on which operators are tried, beside a case of every scenario."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A case with a right decoder's rows of each message, and what could be known of each."""

    case: Case
    rows: tuple[Rows, ...]
    seen: tuple[Seen, ...]
    logicals: frozenset[Logical]

    def altered(self, operator: Operator) -> list[Rows] | None:
        """The rows of each message after the operator; None if it changes nothing."""
        if operator.logicals and self.logicals.isdisjoint(operator.logicals):
            return None
        altered = [
            operator.alter(rows, seen) for rows, seen in zip(self.rows, self.seen, strict=True)
        ]
        return altered if self.differs(altered) else None

    def differs(self, altered: Sequence[Rows]) -> bool:
        """Whether these rows are others than the right ones: a negative zero, too, is another than
        zero.
        """
        return any(map(_differ, self.rows, altered))


def _differ(right: Rows, other: Rows) -> bool:
    pairs = zip(right, other, strict=False)
    return right is not other and (
        len(right) != len(other)
        or any(not _same(a, b) and (a != b or repr(a) != repr(b)) for a, b in pairs)
    )


def _same(row: OutputRow, other: OutputRow) -> bool:
    """Whether a row has the very objects of another: most that an operator leaves alone have, and
    are compared by that.
    """
    if row is other:
        return True
    rest = (row.row, row.kind, row.op, row.error) == (
        other.row,
        other.kind,
        other.op,
        other.error,
    ) and row.fields is other.fields
    return rest and all(
        a is b
        or (
            a is not None
            and b is not None
            and len(a) == len(b)
            and all(map(is_, (*a, *a.values()), (*b, *b.values())))
        )
        for a, b in ((row.before, other.before), (row.after, other.after))
    )


@dataclass(frozen=True, slots=True)
class Bench:
    """The cases of a format. `judge` has judged their right rows, which gave `right`: which rule
    compared what, and where.
    """

    fmt: Format[Any]
    judge: Judge
    cases: dict[str, Answered]
    right: dict[str, CaseResult]
    known: Known = field(default_factory=dict)

    def owning(self, rule: str, level: int, scenario: str = "") -> Iterator[Answered]:
        """The cases of the level, or of a scenario, a glob; at first a sample of those in which the
        rule owns something.
        """
        known = () if scenario else self.judge.seen.get((rule, level), ())
        yield from (self.cases[case] for case in known)
        tried = frozenset(known)
        rest = (
            answered
            for case, answered in self.cases.items()
            if answered.case.level == level and case not in tried
        )
        yield from (
            answered
            for answered in rest
            if not scenario or fnmatchcase(answered.case.scenario, scenario)
        )

    def cover(self, level: int) -> list[Answered]:
        """The cases on which every operator is tried: those drawn, the first of each scenario, and
        some of each rule.
        """
        chosen = {
            case: None
            for (_, at), some in self.judge.seen.items()
            if at == level
            for case in some[:TRIED]
        }
        first = {
            answered.case.scenario: case
            for case, answered in reversed(self.cases.items())
            if answered.case.level == level
        }
        chosen |= dict.fromkeys(first.values())
        return [answered for case, answered in self.cases.items() if case in chosen]

    def spread(self, level: int, number: int) -> list[Answered]:
        """At most so many cases of the cover, evenly spread."""
        cover = self.cover(level)
        return cover[:: len(cover) // number + 1]

    def fresh(self) -> Judge:
        """A judge that has counted nothing and remembers nothing, but knows which rule owns
        what.
        """
        return replace(self.judge.empty(), remembers=False)

    def ruled(
        self, cover: Sequence[Answered], altered: Iterable[Sequence[Rows] | None]
    ) -> tuple[list[CaseResult], list[CaseResult]]:
        """The results of cases whose messages have these rows, None for the right ones: as judged,
        and after blame.
        """
        judge = self.fresh()
        results = [
            self.right[answered.case.id] if rows is None else judged(judge, answered.case, rows)
            for answered, rows in zip(cover, altered, strict=True)
        ]
        return results, ruled(judge, results, self.known)


def judged(judge: Judge, case: Case, rows: Iterable[Rows]) -> CaseResult:
    """The verdict of a case whose messages have these rows."""
    return judge.judge(case, list(rows))


def bench(fmt: Format[Any], seed: int) -> Bench:
    """The cases of a run with budget smoke, answered rightly."""
    named = select_covering(list(named_cases(fmt, fmt.profiles)), seed)
    return of_cases(fmt, (*named, *drawn_cases(fmt, fmt.profiles, BUDGETS["smoke"].drawn, seed)))


def of_cases(fmt: Format[Any], cases: Iterable[Case]) -> Bench:
    """These cases, answered rightly."""
    judge = Judge(rules(fmt.name), remembers=True)
    answers = {answered.case.id: answered for answered in _answered(cases)}
    return Bench(
        fmt,
        judge,
        answers,
        {case: judged(judge, answered.case, answered.rows) for case, answered in answers.items()},
    )


def _answered(cases: Iterable[Case]) -> Iterator[Answered]:
    before: Rows = ()
    for case in cases:
        rows, seen, logicals = list[Rows](), list[Seen](), set[Logical]()
        for written in case.written:
            changes = perfect.owed(case, written)
            rows.append([perfect.row(change, case.level) for change in changes])
            seen.append(Seen(case, changes, before, written.message))
            before = rows[-1] or before
            images = (
                change.image(side, case.level) or {}
                for change in changes
                for side in ("before", "after")
            )
            logicals |= {cell.type.logical for image in images for cell in image.values()}
        yield Answered(case, tuple(rows), tuple(seen), frozenset(logicals))
