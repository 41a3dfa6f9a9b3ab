"""How many of the ideas are convicted: each is applied to a right decoder's outputs of a format, level by level."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from conformance.cases.catalogue import BUDGETS, drawn_cases, named_cases
from conformance.judging.judge import Judge
from conformance.rules.base import Obligation, rules
from conformance.selftest.ideas import perfect
from conformance.selftest.ideas.base import Idea, Rows, Seen
from conformance.selftest.ideas.cells import CELLS
from conformance.selftest.ideas.rows import ROWS
from generators.model import Case, Logical, Origin
from generators.wire_format import Format

IDEAS: Final = (*CELLS, *ROWS)
ENOUGH: Final = 5
"""Cases convicted by a rule that names the fault, after which no more are tried."""


RIGHT: Final[Mapping[str, str]] = {
    "ticdc-canal-json/keys-sorted/1": "no source fixes the order of pkNames",
    "ticdc-canal-json/keys-reversed/1": "no source fixes the order of pkNames",
    "huawei-*/real-negative-zero-as-zero/1": "level one compares numbers of JSON by value; level two tells -0.0 from 0.0",
    "debezium-json/real-negative-zero-as-zero/1": "level one compares numbers of JSON by value; level two tells -0.0 from 0.0",
    "aliyun-dts-avro/text-html-as-escapes/1": "the cell is shown as JSON, in which the escape is the character",
}
"""Where an idea is no fault, by globs of `FORMAT/IDEA/LEVEL`, and why."""


class Answer(enum.StrEnum):
    """What becomes of an idea in a format at a level."""

    CONVICTED = "convicted"
    MISLED = "convicted by a rule that misleads"
    LOOSE = "convicted only with --strict"
    OPEN = "left open: no source says what is right"
    RIGHT = "right here"
    MISSED = "not convicted"


@dataclass(frozen=True, slots=True)
class Measured:
    """An idea in a format at a level: how many cases it changed, and the broken rules, without their format, with their counts:
    of the MUST rules those that named cases broke, those that drawn cases broke, of the SHOULD rules, and of the others."""

    format: str
    level: int
    idea: Idea
    tried: int
    named: Counter[str]
    drawn: Counter[str]
    loose: Counter[str]
    open: Counter[str]
    example: str

    @property
    def why_right(self) -> str:
        """Why it is no fault here; "" if it is one."""
        place = f"{self.format}/{self.idea.name}/{self.level}"
        return next((why for glob, why in RIGHT.items() if fnmatchcase(place, glob)), "")

    @property
    def answer(self) -> Answer:
        """What became of it."""
        strict = self.named + self.drawn
        if any(_names(self.idea, rule) for rule in strict):
            return Answer.CONVICTED
        if strict:
            return Answer.MISLED
        if self.loose:
            return Answer.LOOSE
        if self.open:
            return Answer.OPEN
        return Answer.RIGHT if self.why_right else Answer.MISSED

    def __str__(self) -> str:
        rules = ", ".join(
            f"{rule} ({count})" for rule, count in (self.named + self.drawn + self.loose + self.open).most_common(3)
        )
        told = rules or self.why_right or f"for example {self.example}"
        return f"{self.idea.name} at level {self.level}: {self.answer} in {self.tried} cases; {told}"


def _names(idea: Idea, rule: str) -> bool:
    return any(fnmatchcase(rule, glob) for glob in idea.apt)


@dataclass(frozen=True, slots=True)
class _Told:
    """A case with a right decoder's rows of each message."""

    case: Case
    rows: tuple[Rows, ...]
    seen: tuple[Seen, ...]
    logicals: frozenset[Logical]


def measure(fmt: Format[Any], seed: int, ideas: Sequence[Idea] = IDEAS) -> Iterator[Measured]:
    """The ideas that apply to the cases of a run with budget smoke, by level."""
    drawn = drawn_cases(fmt, fmt.profiles, BUDGETS["smoke"].drawn, seed)
    cases = [*named_cases(fmt, fmt.profiles), *drawn]
    judge = Judge(rules(fmt.name))
    obligations = {rule.id: rule.obligation for rule in judge.rules}
    for level in (1, 2):
        told = list(_told(case for case in cases if case.level == level))
        for idea in ideas:
            if level in idea.levels and (measured := _measured(fmt.name, level, idea, told, judge, obligations)):
                yield measured


def _told(cases: Iterable[Case]) -> Iterator[_Told]:
    before: Rows = ()
    for case in cases:
        rows, seen, logicals = list[Rows](), list[Seen](), set[Logical]()
        for written in case.written:
            changes = perfect.owed(case, written)
            rows.append([perfect.row(change, case.level) for change in changes])
            seen.append(Seen(case, changes, before))
            before = rows[-1] or before
            images = (change.image(side, case.level) or {} for change in changes for side in ("before", "after"))
            logicals |= {cell.type.logical for image in images for cell in image.values()}
        yield _Told(case, tuple(rows), tuple(seen), frozenset(logicals))


def _measured(
    fmt: str, level: int, idea: Idea, told: Sequence[_Told], judge: Judge, obligations: Mapping[str, Obligation]
) -> Measured | None:
    named, drawn, loose, open_ = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    tried, example, enough = 0, "", 0
    wanted = frozenset(idea.logicals)
    for one in told:
        if wanted and not wanted & one.logicals:
            continue
        altered = [list(idea.alter(rows, seen)) for rows, seen in zip(one.rows, one.seen, strict=True)]
        if repr(altered) == repr([list(rows) for rows in one.rows]):
            continue
        tried, example = tried + 1, example or one.case.id
        broken = {
            finding.rule for finding in judge.judge(one.case, altered, one.case.tables[0].name if level == 2 else None).findings
        }
        must = {rule.partition("/")[2] for rule in broken if obligations[rule] is Obligation.MUST}
        (drawn if one.case.origin is Origin.DRAWN else named).update(must)
        loose.update(rule.partition("/")[2] for rule in broken if obligations[rule] is Obligation.SHOULD)
        open_.update(rule.partition("/")[2] for rule in broken if obligations[rule] in (Obligation.UNSPECIFIED, Obligation.MAY))
        enough += any(_names(idea, rule) for rule in must)
        if enough == ENOUGH:
            break
    return Measured(fmt, level, idea, tried, named, drawn, loose, open_, example) if tried else None


def rate(measured: Sequence[Measured]) -> str:
    """The conviction rate in words."""
    counts = Counter(one.answer for one in measured)
    convicted = sum(counts[answer] for answer in (Answer.CONVICTED, Answer.MISLED, Answer.LOOSE))
    alone = sum(not one.named and bool(one.drawn) for one in measured)
    faults = convicted + counts[Answer.MISSED]
    return (
        f"{faults} pairs of fault and level, {convicted} convicted ({convicted / max(faults, 1):.1%}): "
        f"{counts[Answer.CONVICTED]} by a rule that names the fault, {counts[Answer.MISLED]} by one that misleads, "
        f"{counts[Answer.LOOSE]} only with --strict, {alone} by drawn cases alone; {counts[Answer.MISSED]} not at all. "
        f"Beside them {counts[Answer.OPEN]} on which no source decides, {counts[Answer.RIGHT]} that are right here"
    )
