"""What becomes of every operator in a format, level by level: convicted, and by which rule, or not,
or without any effect.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from conformance.judging.judge import Judge
from conformance.rules.rules import Obligation
from conformance.rules.tables import TableFile, check_fields, read_package_toml
from conformance.running.readings import Readings
from conformance.selftest.bench import AnsweredCase, Bench, judge_rows
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.operator import Operator
from generators.model import Origin

ENOUGH_CASES: Final = 2
"""Cases in which a rule that names the fault is broken, after which an operator (an imitated
mistake of a decoder) is tried on no more.
"""


class Answer(enum.StrEnum):
    """What becomes of an operator (an imitated mistake of a decoder) in a format at a level."""

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


ReasonTable: TypeAlias = Literal["right", "impossible", "loose"]
"""The tables of reasons.toml, which says why operators are not convicted."""


class Reason(NamedTuple):
    """A reason and the globs of `FORMAT/OPERATOR/LEVEL` to which it applies."""

    why: str
    globs: tuple[str, ...]


@cache
def reasons(table: ReasonTable) -> tuple[Reason, ...]:
    """The entries of a table of reasons.toml: why operators are right (table `right`), without
    effect (`impossible`) or convicted by no MUST rule (`loose`), each with the globs of
    `FORMAT/OPERATOR/LEVEL` for which it says so.
    """
    file = TableFile(
        *read_package_toml(__package__, "reasons"), dict.fromkeys(get_args(ReasonTable), list)
    )
    entries = (
        check_fields(entry, {"why": str, "where": str}, ("why", "where"))
        for _, _, entry in file.entries(table)
    )
    return tuple(Reason(entry["why"], tuple(entry["where"].split())) for entry in entries)


def find_reason(table: ReasonTable, place: str) -> str:
    """The reason that a table of reasons.toml gives for an operator (an imitated mistake of a
    decoder) in a format at a level (`FORMAT/OPERATOR/LEVEL`); "" if it gives none.
    """
    for reason in reasons(table):
        if any(fnmatchcase(place, glob) for glob in reason.globs):
            return reason.why
    return ""


@dataclass(frozen=True, slots=True)
class Measured:
    """What became of an operator in a format at a level: how many cases it changed, one of them as
    an example, and how often it broke which rules.

    The rules, without their format, are counted apart: MUST rules broken in named cases, MUST rules
    broken in drawn cases, SHOULD rules, and all others.
    """

    format: str
    level: int
    operator: Operator
    changed_cases: int
    must_in_named_cases: Counter[str]
    must_in_drawn_cases: Counter[str]
    should_rules: Counter[str]
    may_rules: Counter[str]
    example: str

    def reason(self, table: ReasonTable) -> str:
        """Why the operator is not convicted by a MUST rule here, as reasons.toml says in its table
        `table` (right, impossible or loose); "" if it says nothing there.
        """
        return find_reason(table, f"{self.format}/{self.operator.name}/{self.level}")

    @property
    def must_rules(self) -> Counter[str]:
        """How often each MUST rule was broken, in named and drawn cases together."""
        return self.must_in_named_cases + self.must_in_drawn_cases

    @property
    def by_drawn_cases_alone(self) -> bool:
        """Whether a drawn case breaks a MUST rule, and no named case does."""
        return bool(self.must_in_drawn_cases) and not self.must_in_named_cases

    @property
    def answer(self) -> Answer:
        """What became of the operator: convicted by a MUST rule that names its fault, by one that
        misleads, by weaker rules, by none, or without any effect; and whether a reason explains
        that.
        """
        must_rules = self.must_rules
        if not self.changed_cases:
            return Answer.IMPOSSIBLE if self.reason("impossible") else Answer.UNTRIED
        if any(self.operator.names(rule) for rule in must_rules):
            return Answer.CONVICTED
        if must_rules:
            return Answer.MISLED
        if (self.should_rules or self.may_rules) and not self.reason("loose"):
            return Answer.UNDECIDED
        if self.should_rules or self.may_rules:
            return Answer.LOOSE if self.should_rules else Answer.OPEN
        return Answer.RIGHT if self.reason("right") else Answer.MISSED

    def as_json(self) -> dict[str, Any]:
        """The measurement as JSON; `answer` is the name of a member of `Answer` in lower case."""
        return {
            "operator": self.operator.name,
            "level": self.level,
            "answer": self.answer.name.lower(),
            "changed_cases": self.changed_cases,
            "by_drawn_cases_alone": self.by_drawn_cases_alone,
            "must_rules": dict(self.must_rules),
            "should_rules": dict(self.should_rules),
            "may_rules": dict(self.may_rules),
        }

    def __str__(self) -> str:
        return (
            f"{self.operator.name} at level {self.level}: {self.answer} in"
            f" {self.changed_cases} cases; {self._remark()}"
        )

    def _remark(self) -> str:
        """The end of the measurement's line of text: the rules that were broken most often, with
        the reason if none of them is a MUST rule; or, if none was broken, the reason for that or an
        example.
        """
        broken = (self.must_rules + self.should_rules + self.may_rules).most_common(3)
        if broken:
            counts = ", ".join(f"{rule} ({count})" for rule, count in broken)
            is_weak = self.answer in (Answer.LOOSE, Answer.OPEN)
            return f"{counts}: {self.reason('loose')}" if is_weak else counts
        reason = self.reason("right" if self.changed_cases else "impossible")
        return reason or f"for example {self.example or 'nowhere'}"


def measure(
    bench: Bench, operators: Sequence[Operator] = tuple(OPERATORS.values())
) -> Iterator[Measured]:
    """What becomes of every operator (an imitated mistake of a decoder) at its levels, on the cases
    that cover the format. Where no rule convicts it there that should (HOLES), or only drawn cases
    of them do, it is tried on all cases, the named ones first.
    """
    judge = bench.empty_judge()
    obligations = {rule.id: rule.obligation for rule in judge.rules}
    for level in (1, 2):
        cover = bench.cover(level)
        cases_of_level = [
            answered for answered in bench.cases.values() if answered.case.level == level
        ]
        for operator in operators:
            if level in operator.levels:
                measured = _measure_operator(
                    bench.fmt.name, level, operator, cover, judge, obligations
                )
                if measured.answer in HOLES or measured.by_drawn_cases_alone:
                    measured = _measure_operator(
                        bench.fmt.name, level, operator, cases_of_level, judge, obligations
                    )
                yield measured


def _measure_operator(
    fmt: str,
    level: int,
    operator: Operator,
    cover: Sequence[AnsweredCase],
    judge: Judge,
    obligations: Mapping[str, Obligation],
) -> Measured:
    """What becomes of an operator on some cases, up to ENOUGH_CASES that a rule which names the
    fault convicts. If no case breaks a MUST rule, the laws of readings are tried.
    """
    must_in_named_cases, must_in_drawn_cases = Counter[str](), Counter[str]()
    should_rules, may_rules = Counter[str](), Counter[str]()
    changed_cases, example, convicted_cases = 0, "", 0

    def must_rules_of(answered: AnsweredCase) -> Counter[str]:
        """The counter of broken MUST rules for a case: that of drawn or of named cases."""
        is_drawn = answered.case.origin is Origin.DRAWN
        return must_in_drawn_cases if is_drawn else must_in_named_cases

    for answered in cover:
        altered = answered.apply_operator(operator)
        if altered is None:
            continue
        changed_cases += 1
        example = example or answered.case.id
        broken: dict[int, list[str]] = {obligation.binds: [] for obligation in Obligation}
        findings = judge_rows(judge, answered.case, altered).findings
        for rule_id in dict.fromkeys(finding.rule for finding in findings):
            broken[obligations[rule_id].binds].append(rule_id.partition("/")[2])
        must_rules_of(answered).update(broken[Obligation.MUST.binds])
        should_rules.update(broken[Obligation.SHOULD.binds])
        may_rules.update(broken[Obligation.MAY.binds])
        convicted_cases += any(map(operator.names, broken[Obligation.MUST.binds]))
        if convicted_cases == ENOUGH_CASES:
            break
    if changed_cases and not must_in_named_cases and not must_in_drawn_cases:
        for answered, law in _broken_laws(judge, operator, cover):
            must_rules_of(answered)[law] += 1
    return Measured(
        fmt,
        level,
        operator,
        changed_cases,
        must_in_named_cases,
        must_in_drawn_cases,
        should_rules,
        may_rules,
        example,
    )


def _broken_laws(
    judge: Judge, operator: Operator, cover: Sequence[AnsweredCase]
) -> Iterator[tuple[AnsweredCase, str]]:
    """The laws of readings (a column is read in one way in all messages) that a decoder with the
    operator's fault breaks on these cases, each with one of the cases.
    """
    by_id = {answered.case.id: answered for answered in cover}
    readings = Readings(judge)
    for answered in cover:
        readings.take(answered.case, answered.apply_operator(operator) or answered.rows)
    for case, rule in dict.fromkeys(
        (finding.case, finding.rule) for finding in readings.findings()
    ):
        yield by_id[case], rule.partition("/")[2]


@dataclass(frozen=True, slots=True)
class Rate:
    """How many pairs of an operator (an imitated mistake of a decoder) and a level were convicted
    in a format, and how: `named` by a MUST rule that names the fault, `misled` by another MUST
    rule, `strict` by a SHOULD rule; `undecided` and `missed` are not convicted and should be; the
    rest need not be. `drawn` counts pairs that only drawn cases convict, which are counted
    elsewhere too.
    """

    named: int
    misled: int
    strict: int
    drawn: int
    undecided: int
    missed: int
    open: int
    right: int
    impossible: int
    untried: int

    @property
    def convicted(self) -> int:
        """The pairs that are convicted, including those that only `--strict` convicts."""
        return self.named + self.misled + self.strict

    @property
    def pairs(self) -> int:
        """The number of pairs of operator and level that a rule should convict: the convicted ones,
        the `missed` ones, and the `undecided` ones, which no MUST rule convicts and for which no
        reason is noted. Not counted are `open`, `right`, `impossible` and `untried` ones.
        """
        return self.convicted + self.missed + self.undecided

    def as_json(self) -> dict[str, int]:
        """The counts as JSON, for programs."""
        return {"pairs": self.pairs, "convicted": self.convicted, **asdict(self)}

    def __str__(self) -> str:
        """The counts in one line of text, with the share of the pairs that are convicted."""
        return (
            f"{self.pairs} pairs of operator and level, {self.convicted} convicted"
            f" ({self.convicted / max(self.pairs, 1):.1%}): {self.named} by a rule that names the"
            f" fault, {self.misled} by one that misleads, {self.strict} only with --strict,"
            f" {self.drawn} by drawn cases alone; {self.undecided} without a reason for that;"
            f" {self.missed} not at all. Beside them {self.open} on which no source decides,"
            f" {self.right} that are right here, {self.impossible} that the format makes"
            f" impossible, {self.untried} that no case has"
        )


def count_answers(measured: Sequence[Measured]) -> Rate:
    """How many pairs of an operator (an imitated mistake of a decoder) and a level have each answer
    in a format. In the Rate `named` counts the answer CONVICTED (by a MUST rule that names the
    fault), and `strict` counts LOOSE (only with --strict).
    """
    counts = Counter(operator_measure.answer for operator_measure in measured)
    return Rate(
        named=counts[Answer.CONVICTED],
        misled=counts[Answer.MISLED],
        strict=counts[Answer.LOOSE],
        drawn=sum(operator_measure.by_drawn_cases_alone for operator_measure in measured),
        undecided=counts[Answer.UNDECIDED],
        missed=counts[Answer.MISSED],
        open=counts[Answer.OPEN],
        right=counts[Answer.RIGHT],
        impossible=counts[Answer.IMPOSSIBLE],
        untried=counts[Answer.UNTRIED],
    )
