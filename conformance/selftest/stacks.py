"""Decoders with several mistakes at once: whether a verdict names each of them, once, and nothing
else.

A stack is a few operators of the catalogue, drawn by seed among those that a MUST rule convicts,
one after the other on right rows. It counts only if the verdict shows each of them: what an
operator alone breaks, and none of the others does, is still broken in some cases of the stack. A
decoder whose rows all lack their op, say, has no cell that is compared. Operators that answer by
the message before are left out: a law tells these, and no law is judged here. A named mistake is an
operator's if nearly all that it explains is what the operator alone breaks, too.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Final, TypeAlias

from conformance.judging.merging import Mistake, Place
from conformance.judging.mistakes import mistakes, place
from conformance.judging.results import FormatResult, RuleResult
from conformance.rules.rules import Obligation
from conformance.selftest.bench import AnsweredCase, Bench
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.operator import Operator, Rows

STACKS: Final = 5
"""Stacks (decoders with several mistakes at once) that are drawn for a format."""
CASES: Final = 400
"""Cases of a level, evenly spread, on which a stack is judged: with all cases as many stacks are
named rightly.
"""
TRIES: Final = 20
"""Draws for one stack; where a format has few operators, most of them do not count."""
SIZES: Final = (2, 2, 3, 3, 4)
"""The numbers of mistakes that the stacks have, in turn."""
OWN_SHARE: Final = 0.9
"""Share of a named mistake's units that one operator must break alone for the mistake to be that
operator's.
"""
_LEAST: Final = 3
"""Cases that an operator must break to be seen as a mistake of its own."""

Broken: TypeAlias = frozenset[Place]
"""The places (case, message, row ...) at which a decoder breaks MUST rules."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A decoder with several imitated mistakes (`operators`) at once, and how the verdict on it
    names them: `sentences` are, for each operator, the named mistakes that are its own, `false`
    those that are no operator's.
    """

    level: int
    operators: tuple[str, ...]
    sentences: tuple[tuple[str, ...], ...]
    false: tuple[str, ...]

    @property
    def is_rightly_named(self) -> bool:
        """Whether every operator is named once, and nothing else."""
        return not self.false and all(len(sentences) == 1 for sentences in self.sentences)

    def __str__(self) -> str:
        """Each operator with the sentences that name it, or NOT NAMED; then, as FALSE, the
        sentences that name no operator.
        """
        pairs = zip(self.operators, self.sentences, strict=True)
        lines = [
            f"{operator}: {' AND '.join(sentences) or 'NOT NAMED'}" for operator, sentences in pairs
        ]
        return "; ".join([*lines, *(f"FALSE: {sentence}" for sentence in self.false)])


@dataclass(frozen=True, slots=True)
class _Stage:
    """The cases of a level on which stacks (decoders with several mistakes at once) are tried.
    `broken` remembers where a decoder with one operator's mistake alone breaks rules.
    """

    bench: Bench
    level: int
    cover: Sequence[AnsweredCase]
    broken: dict[str, Broken] = field(default_factory=dict)

    def broken_alone(self, name: str) -> Broken:
        """Where a decoder with the fault of the operator `name` alone breaks rules. Nothing if the
        operator depends on the message before, since the laws which notice that are not judged
        here.
        """
        if name not in self.broken:
            operator = OPERATORS[name]
            if any(_depends_on_message_before(operator, answered) for answered in self.cover):
                self.broken[name] = frozenset()
            else:
                self.broken[name] = _broken_places(self.judge_operators([operator]))
        return self.broken[name]

    def judge_operators(self, operators: Iterable[Operator]) -> FormatResult:
        """The result of a decoder that has the faults of all these operators at once."""
        altered: list[Sequence[Rows] | None] = []
        for answered in self.cover:
            rows_of_messages = _apply_operators(answered, operators)
            altered.append(rows_of_messages if answered.differs(rows_of_messages) else None)
        _, results = self.bench.judge_altered(self.cover, altered)
        rules = tuple(RuleResult(rule, 1, 0) for rule in self.bench.judge.rules)
        return FormatResult(
            self.bench.fmt.name, "stack", (self.level,), tuple(results), rules, (), {}, 0, {}
        )


def _depends_on_message_before(operator: Operator, answered: AnsweredCase) -> bool:
    """Whether an operator (an imitated mistake of a decoder) alters the rows of a message of the
    case in another way if the message before it is taken away.
    """
    for output_rows, context in zip(answered.rows, answered.contexts, strict=True):
        if context.before:
            without_before = replace(context, before=())
            if operator.alter(output_rows, context) != operator.alter(output_rows, without_before):
                return True
    return False


def _broken_places(result: FormatResult) -> Broken:
    """The places (case, message, row ...) at which the result has findings on MUST rules."""
    must = {
        rule_result.rule.id
        for rule_result in result.rules
        if rule_result.rule.obligation is Obligation.MUST
    }
    findings = chain.from_iterable(case.findings for case in result.cases)
    return frozenset(place(finding) for finding in findings if finding.rule in must)


def _apply_operators(answered: AnsweredCase, operators: Iterable[Operator]) -> Sequence[Rows]:
    """The rows of each message of a case after all operators (imitated mistakes of a decoder), one
    after the other.
    """
    rows_of_messages: Sequence[Rows] = answered.rows
    for operator in operators:
        pairs = zip(rows_of_messages, answered.contexts, strict=True)
        rows_of_messages = [operator.alter(output_rows, context) for output_rows, context in pairs]
    return rows_of_messages


def draw_stacks(
    bench: Bench, convicted: Mapping[int, Sequence[str]], seed: int, number: int = STACKS
) -> Iterator[Stack]:
    """Draws `number` stacks of operators (decoders with several imitated mistakes), half of them at
    each level, from those that a MUST rule convicts (`convicted` has their names by level). A stack
    for which TRIES draws are not enough is left out.
    """
    chance = random.Random(f"stacks {bench.fmt.name} {seed}")
    stages = {level: _Stage(bench, level, bench.spread_cases(level, CASES)) for level in (1, 2)}
    for index in range(number):
        level = 1 + index % 2
        size = SIZES[index % len(SIZES)]
        tries = (_draw_stack(stages[level], convicted[level], size, chance) for _ in range(TRIES))
        yield from islice((stack for stack in tries if stack), 1)


def _draw_stack(
    stage: _Stage, convicted_names: Sequence[str], size: int, chance: random.Random
) -> Stack | None:
    """Draws one stack of `size` operators (a decoder with so many imitated mistakes) that can be
    told apart; None if too few break different cases, one cannot read the rows that another
    altered, or the verdict hides one.
    """
    drawn: dict[str, Broken] = {}
    for name in chance.sample(sorted(convicted_names), len(convicted_names)):
        if len(drawn) == size:
            break
        broken_alone = stage.broken_alone(name)
        breaks_enough = len(_case_ids(broken_alone)) >= _LEAST
        if breaks_enough and all(_differ(broken_alone, drawn_one) for drawn_one in drawn.values()):
            drawn[name] = broken_alone
    if len(drawn) < size:
        return None
    try:
        result = stage.judge_operators([OPERATORS[name] for name in drawn])
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
        return None
    if not all(_shows_operator(drawn, name, _broken_places(result)) for name in drawn):
        return None
    return _assign_mistakes(stage.level, drawn, mistakes(result))


def _shows_operator(alone: Mapping[str, Broken], name: str, together: Broken) -> bool:
    """Whether the verdict on all operators `together` still shows what the named one breaks and
    none of the others breaks alone.
    """
    broken_by_others = frozenset[Place]().union(
        *(broken for other_name, broken in alone.items() if other_name != name)
    )
    return len(_case_ids((alone[name] - broken_by_others) & together)) >= _LEAST


def _differ(broken: Broken, other_broken: Broken) -> bool:
    """Whether two operators (imitated mistakes of decoders) are different enough for one stack:
    each breaks cases that the other does not break.
    """
    return (
        len(_case_ids(broken - other_broken)) >= _LEAST
        and len(_case_ids(other_broken - broken)) >= _LEAST
    )


def _case_ids(broken: Broken) -> set[str]:
    """The cases in which rules are broken, by id."""
    return {case for case, *_ in broken}


def _assign_mistakes(level: int, alone: Mapping[str, Broken], reported: Iterable[Mistake]) -> Stack:
    """The stack of the operators in `alone`, which has where each breaks rules alone. Each mistake
    that the verdict names is given to the operator that breaks most of its places; if that is less
    than OWN_SHARE of them, or the mistake is vague, it is false.
    """
    sentences: dict[str, list[str]] = {name: [] for name in alone}
    false = []
    for mistake in reported:
        shares = {
            name: len(mistake.broken & broken_alone) / len(mistake.broken)
            for name, broken_alone in alone.items()
        }
        best = max(shares, key=lambda name: shares[name])
        if shares[best] >= OWN_SHARE and not mistake.statement.is_vague:
            sentences[best].append(mistake.sentence)
        else:
            false.append(mistake.sentence)
    return Stack(level, tuple(alone), tuple(map(tuple, sentences.values())), tuple(false))
