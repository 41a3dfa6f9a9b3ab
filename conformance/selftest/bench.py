"""The cases of a format with the rows that a right decoder returns, and which rule owns comparisons
in which case. Operators (imitated faults of a decoder) are tried on them.
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
from conformance.judging.blame import replace_rules
from conformance.judging.findings import CaseResult
from conformance.judging.index import ExpectedRows
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.rules.rules import rules
from conformance.selftest.operators.operator import Image, MessageContext, Operator, Rows
from generators.model import SIDES, Case, Logical
from generators.wire_format import Format

TRIED: Final = 15
"""Cases of a rule and level on which operators are tried, beside a case of every scenario."""


@dataclass(frozen=True, slots=True)
class AnsweredCase:
    """A case with the rows that a right decoder returns: for each message its rows and its context
    (what a decoder could know of it), and the logical types of all cells in them.
    """

    case: Case
    rows: tuple[Rows, ...]
    contexts: tuple[MessageContext, ...]
    logicals: frozenset[Logical]

    def apply_operator(self, operator: Operator) -> list[Rows] | None:
        """The rows of each message after the operator (an imitated mistake of a decoder) was
        applied; None if it changes nothing.
        """
        if operator.logicals and self.logicals.isdisjoint(operator.logicals):
            return None
        altered_rows = list(map(operator.alter, self.rows, self.contexts))
        return altered_rows if self.differs(altered_rows) else None

    def differs(self, altered: Sequence[Rows]) -> bool:
        """Whether a wrong decoder's rows of the messages differ from the right ones. -0.0 and 0.0
        count as different.
        """
        return any(map(_differ_from, self.rows, altered))


def _differ_from(right_output: Rows, altered_output: Rows) -> bool:
    """Whether a wrong decoder's rows of one message differ from the right ones, by value or by
    `repr` (which tells -0.0 from 0.0); rows of the same objects are equal without a comparison.
    """
    if right_output is altered_output:
        return False
    if len(right_output) != len(altered_output):
        return True
    return any(
        not _has_same_objects(right, altered) and (right != altered or repr(right) != repr(altered))
        for right, altered in zip(right_output, altered_output, strict=True)
    )


def _has_same_objects(output_row: OutputRow, altered_row: OutputRow) -> bool:
    """Whether both rows have the identical Python objects as cells and fields, and are equal in the
    rest. A fast test: an operator (an imitated fault of a decoder) leaves most rows alone.
    """
    if output_row is altered_row:
        return True
    outside_images = (output_row.row, output_row.kind, output_row.op, output_row.error) == (
        altered_row.row,
        altered_row.kind,
        altered_row.op,
        altered_row.error,
    ) and output_row.fields is altered_row.fields
    return (
        outside_images
        and _image_has_same_objects(output_row.before, altered_row.before)
        and _image_has_same_objects(output_row.after, altered_row.after)
    )


def _image_has_same_objects(image: Image | None, other_image: Image | None) -> bool:
    """Whether two images have the same names and values in the same order, as identical objects: a
    fast test before they are compared by value.
    """
    if image is None or other_image is None:
        return image is other_image
    columns_and_values = (*image, *image.values())
    other_columns_and_values = (*other_image, *other_image.values())
    return len(image) == len(other_image) and all(
        map(is_, columns_and_values, other_columns_and_values)
    )


@dataclass(frozen=True, slots=True)
class Bench:
    """The cases of a format by id, with right answers. `judge` has judged these; `right` are its
    results. The judge remembers in which cases a rule compared something.
    """

    fmt: Format[Any]
    judge: Judge
    cases: dict[str, AnsweredCase]
    right: dict[str, CaseResult]
    expected_rows: ExpectedRows = field(default_factory=dict)

    def likely_cases(self, rule: str, level: int, scenario: str = "") -> Iterator[AnsweredCase]:
        """The cases of a level on which a liar (a decoder that is wrong on purpose) is tried: first
        those in which the judge saw `rule` decide a comparison (a sample), then all others. With
        `scenario`, a glob of scenarios, only the cases of these, in the bench's order.
        """
        owning_cases = () if scenario else self.judge.seen.get((rule, level), ())
        for case_id in owning_cases:
            yield self.cases[case_id]
        passed_over = frozenset(owning_cases)
        for case_id, answered in self.cases.items():
            case = answered.case
            matches = not scenario or fnmatchcase(case.scenario, scenario)
            if case.level == level and case_id not in passed_over and matches:
                yield answered

    def cover(self, level: int) -> list[AnsweredCase]:
        """The cases of a level on which every operator (an imitated mistake of a decoder) is tried:
        of each rule up to TRIED of those in which the judge saw it decide a comparison, and the
        first case of each scenario.
        """
        covering: set[str] = set()
        for (_, case_level), case_ids in self.judge.seen.items():
            if case_level == level:
                covering.update(case_ids[:TRIED])
        scenarios: set[str] = set()
        for case_id, answered in self.cases.items():
            case = answered.case
            if case.level == level and case.scenario not in scenarios:
                scenarios.add(case.scenario)
                covering.add(case_id)
        return [answered for case_id, answered in self.cases.items() if case_id in covering]

    def spread_cases(self, level: int, number: int) -> list[AnsweredCase]:
        """At most `number` of the cases of a level on which every operator (an imitated mistake of
        a decoder) is tried (`cover`), at equal distances.
        """
        cover = self.cover(level)
        return cover[:: len(cover) // number + 1]

    def empty_judge(self) -> Judge:
        """A new judge with the same rules, which has counted nothing, and does not remember
        cases.
        """
        return replace(self.judge.empty(), remembers=False)

    def judge_altered(
        self, cover: Sequence[AnsweredCase], altered: Iterable[Sequence[Rows] | None]
    ) -> tuple[list[CaseResult], list[CaseResult]]:
        """Judges cases (`cover`: those on which operators are tried) with the rows of a wrong
        decoder, None for a case that it gets right. Returns the results twice: as the judge gives
        them, and after `blame.replace_rules`, which moves a finding to the rule that explains it
        across cases.
        """
        judge = self.empty_judge()
        results = [
            self.right[answered.case.id]
            if rows_of_messages is None
            else judge_rows(judge, answered.case, rows_of_messages)
            for answered, rows_of_messages in zip(cover, altered, strict=True)
        ]
        return results, replace_rules(judge, results, self.expected_rows)


def judge_rows(judge: Judge, case: Case, rows_of_messages: Iterable[Rows]) -> CaseResult:
    """Judges one case by the rows that a decoder returned for each of its messages, in their
    order.
    """
    return judge.judge(case, list(rows_of_messages))


def make_bench(fmt: Format[Any], seed: int) -> Bench:
    """The cases of a run with budget smoke, with the rows that a right decoder returns for them and
    the rules that own their comparisons.
    """
    covering = select_covering(list(named_cases(fmt, fmt.profiles)), seed)
    return bench_of_cases(
        fmt, (*covering, *drawn_cases(fmt, fmt.profiles, BUDGETS["smoke"].drawn, seed))
    )


def bench_of_cases(fmt: Format[Any], cases: Iterable[Case]) -> Bench:
    """A Bench of these cases: each with the rows that a right decoder returns for it and the
    judge's result on them. Its judge remembers in which cases a rule owns a comparison.
    """
    judge = Judge(rules(fmt.name), remembers=True)
    answered_cases = {answered.case.id: answered for answered in _answer(cases)}
    results = {
        case_id: judge_rows(judge, answered.case, answered.rows)
        for case_id, answered in answered_cases.items()
    }
    return Bench(fmt, judge, answered_cases, results)


def _answer(cases: Iterable[Case]) -> Iterator[AnsweredCase]:
    """Each case with the rows that a right decoder returns. The context of a message has the rows
    of the message before it that had any, even if that belongs to the case before.
    """
    before: Rows = ()
    for case in cases:
        rows_of_messages, contexts, logicals = list[Rows](), list[MessageContext](), set[Logical]()
        for written in case.written:
            changes = perfect.owed_changes(case, written)
            rows_of_messages.append(
                [perfect.row_of_change(change, case.level) for change in changes]
            )
            contexts.append(MessageContext(case, changes, before, written.message))
            before = rows_of_messages[-1] or before
            for change in changes:
                for side in SIDES:
                    image = change.image(side, case.level) or {}
                    logicals.update(cell.type.logical for cell in image.values())
        yield AnsweredCase(case, tuple(rows_of_messages), tuple(contexts), frozenset(logicals))
