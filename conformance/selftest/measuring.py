"""What becomes of every operator in a format, level by level: convicted, and by which rule, or not,
or without any effect.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Final

from conformance.judging.judge import Judge
from conformance.rules.rules import Obligation
from conformance.rules.tables import TableFile, checked, ours
from conformance.running.readings import Readings
from conformance.selftest.bench import Answered, Bench, judged
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.operator import Operator
from generators.model import Origin

ENOUGH: Final = 2
"""Cases convicted by a rule that names the fault, after which no more are tried."""


class Answer(enum.StrEnum):
    """What becomes of an operator in a format at a level."""

    CONVICTED = "convicted"
    MISLED = "convicted by a rule that misleads"
    LOOSE = "convicted only with --strict"
    OPEN = "left open: no source says what is right"
    RIGHT = "right here"
    MISSED = "not convicted"
    UNDECIDED = "convicted by no MUST rule, and no reason says why"
    IMPOSSIBLE = "without effect: impossible in the format"
    UNTRIED = "without effect: no case has it"


WEAK: Final = (Answer.MISLED, Answer.LOOSE, Answer.UNTRIED)
"""The answers that are printed one by one."""
HOLES: Final = (Answer.MISSED, Answer.UNDECIDED)
"""The answers that fail the self test."""


@cache
def reasons(table: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Why operators are right (`right`), without effect (`impossible`) or convicted by no MUST rule
    (`loose`), and globs of `FORMAT/OPERATOR/LEVEL`.
    """
    file = TableFile(
        *ours(__package__, "reasons"), dict.fromkeys(("right", "impossible", "loose"), list)
    )
    entries = (
        checked(given, {"why": str, "where": str}, ("why", "where"))
        for _, _, given in file.entries(table)
    )
    return tuple((each["why"], tuple(each["where"].split())) for each in entries)


def reason(table: str, place: str) -> str:
    """The reason for `FORMAT/OPERATOR/LEVEL` in a table, or ""."""
    return next(
        (why for why, globs in reasons(table) if any(fnmatchcase(place, glob) for glob in globs)),
        "",
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """An operator in a format at a level: how many cases it changed, and the broken rules, without
    their format, with counts: of the MUST rules those that named cases broke, those that drawn
    cases broke, of the SHOULD rules, and of the others.
    """

    format: str
    level: int
    operator: Operator
    tried: int
    named: Counter[str]
    drawn: Counter[str]
    loose: Counter[str]
    open: Counter[str]
    example: str

    def why(self, table: str) -> str:
        """Why it is right or impossible here; "" if it is neither."""
        return reason(table, f"{self.format}/{self.operator.name}/{self.level}")

    @property
    def answer(self) -> Answer:
        """What became of it."""
        strict = self.named + self.drawn
        if not self.tried:
            return Answer.IMPOSSIBLE if self.why("impossible") else Answer.UNTRIED
        if any(self.operator.names(rule) for rule in strict):
            return Answer.CONVICTED
        if strict:
            return Answer.MISLED
        if (self.loose or self.open) and not self.why("loose"):
            return Answer.UNDECIDED
        if self.loose or self.open:
            return Answer.LOOSE if self.loose else Answer.OPEN
        return Answer.RIGHT if self.why("right") else Answer.MISSED

    def __str__(self) -> str:
        broken = (self.named + self.drawn + self.loose + self.open).most_common(3)
        rules = ", ".join(f"{rule} ({count})" for rule, count in broken)
        decided = (
            f"{rules}: {self.why('loose')}" if self.answer in (Answer.LOOSE, Answer.OPEN) else rules
        )
        remark = (
            decided
            or (self.why("right") if self.tried else self.why("impossible"))
            or f"for example {self.example or 'nowhere'}"
        )
        return (
            f"{self.operator.name} at level {self.level}: {self.answer} in {self.tried} cases;"
            f" {remark}"
        )


def measure(
    tried: Bench, chosen: Sequence[Operator] = tuple(OPERATORS.values())
) -> Iterator[Measured]:
    """Every operator at its levels, on the cases that cover a format; on all, where those do not
    convict it.
    """
    judge = tried.fresh()
    obligations = {rule.id: rule.obligation for rule in judge.rules}
    for level in (1, 2):
        cover, every = (
            tried.cover(level),
            [answered for answered in tried.cases.values() if answered.case.level == level],
        )
        for operator in chosen:
            if level in operator.levels:
                measured = _measured(tried.fmt.name, level, operator, cover, judge, obligations)
                if measured.answer in HOLES:
                    measured = _measured(tried.fmt.name, level, operator, every, judge, obligations)
                yield measured


def _measured(
    fmt: str,
    level: int,
    operator: Operator,
    cover: Sequence[Answered],
    judge: Judge,
    obligations: Mapping[str, Obligation],
) -> Measured:
    named, drawn, loose, open_ = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    tried, example, enough = 0, "", 0
    for answered in cover:
        if (altered := answered.altered(operator)) is None:
            continue
        tried, example = tried + 1, example or answered.case.id
        by_weight: dict[int, list[str]] = {obligation.binds: [] for obligation in Obligation}
        for rule in dict.fromkeys(
            finding.rule for finding in judged(judge, answered.case, altered).findings
        ):
            by_weight[obligations[rule].binds].append(rule.partition("/")[2])
        must = by_weight[Obligation.MUST.binds]
        (drawn if answered.case.origin is Origin.DRAWN else named).update(must)
        loose.update(by_weight[Obligation.SHOULD.binds])
        open_.update(by_weight[Obligation.MAY.binds])
        enough += any(operator.names(rule) for rule in must)
        if enough == ENOUGH:
            break
    if tried and not named and not drawn:
        for answered, law in _broken_laws(judge, operator, cover):
            (drawn if answered.case.origin is Origin.DRAWN else named).update([law])
    return Measured(fmt, level, operator, tried, named, drawn, loose, open_, example)


def _broken_laws(
    judge: Judge, operator: Operator, cover: Sequence[Answered]
) -> Iterator[tuple[Answered, str]]:
    """The laws of readings that the operator breaks on these cases, each with a case of it."""
    by_id = {answered.case.id: answered for answered in cover}
    read = Readings(judge)
    for answered in cover:
        read.take(answered.case, answered.altered(operator) or answered.rows)
    for case, rule in dict.fromkeys((found.case, found.rule) for found in read.findings()):
        yield by_id[case], rule.partition("/")[2]


def rate(measured: Sequence[Measured]) -> str:
    """The conviction rate in words."""
    counts = Counter(m.answer for m in measured)
    convicted = sum(counts[answer] for answer in (Answer.CONVICTED, Answer.MISLED, Answer.LOOSE))
    alone = sum(not m.named and bool(m.drawn) for m in measured)
    faults = convicted + counts[Answer.MISSED] + counts[Answer.UNDECIDED]
    return (
        f"{faults} pairs of operator and level, {convicted} convicted"
        f" ({convicted / max(faults, 1):.1%}): {counts[Answer.CONVICTED]} by a rule that names the"
        f" fault, {counts[Answer.MISLED]} by one that misleads, {counts[Answer.LOOSE]} only with"
        f" --strict, {alone} by drawn cases alone; {counts[Answer.UNDECIDED]} without a reason for"
        f" that; {counts[Answer.MISSED]} not at all. Beside them {counts[Answer.OPEN]} on which no"
        f" source decides, {counts[Answer.RIGHT]} that are right here, {counts[Answer.IMPOSSIBLE]}"
        f" that the format makes impossible, {counts[Answer.UNTRIED]} that no case has"
    )
