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
from itertools import islice
from typing import Final, TypeAlias

from conformance.judging.mistakes import Mistake, Place, mistakes, place
from conformance.judging.results import FormatResult, RuleResult
from conformance.rules.rules import Obligation
from conformance.selftest.bench import Answered, Bench
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.operator import Operator, Rows

STACKS: Final = 5
"""Stacks of a format."""
CASES: Final = 400
"""Cases of a level, evenly spread, that a stack answers: with all of them as many are named
rightly.
"""
TRIES: Final = 20
"""Draws for one stack, most of which do not count where a format has few operators."""
SIZES: Final = (2, 2, 3, 3, 4)
"""Mistakes of each."""
OWN: Final = 0.9
"""Share of a named mistake's units that one operator must break alone for the mistake to be that
operator's.
"""
_LEAST: Final = 3
"""Cases that an operator must break to be seen as a mistake of its own."""

Broken: TypeAlias = frozenset[Place]


@dataclass(frozen=True, slots=True)
class Stack:
    """Operators on a level's rows, and how each is named: the sentences of its mistakes; `false`
    are those of no operator.
    """

    level: int
    operators: tuple[str, ...]
    named: tuple[tuple[str, ...], ...]
    false: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether every mistake is named once, and nothing else."""
        return not self.false and all(len(sentences) == 1 for sentences in self.named)

    def __str__(self) -> str:
        pairs = zip(self.operators, self.named, strict=True)
        lines = [
            f"{operator}: {' AND '.join(sentences) or 'NOT NAMED'}" for operator, sentences in pairs
        ]
        return "; ".join([*lines, *(f"FALSE: {sentence}" for sentence in self.false)])


@dataclass(frozen=True, slots=True)
class _Stage:
    """The cases of a level, and what operators break alone there."""

    tried: Bench
    level: int
    cover: Sequence[Answered]
    broken: dict[str, Broken] = field(default_factory=dict)

    def alone(self, name: str) -> Broken:
        """What an operator alone breaks: nothing if what it does to a message depends on the one
        before it.
        """
        if name not in self.broken:
            operator = OPERATORS[name]
            neighbours = any(
                operator.alter(rows, seen) != operator.alter(rows, replace(seen, before=()))
                for answered in self.cover
                for rows, seen in zip(answered.rows, answered.seen, strict=True)
                if seen.before
            )
            self.broken[name] = frozenset() if neighbours else _broken(self.judged([operator]))
        return self.broken[name]

    def judged(self, operators: Iterable[Operator]) -> FormatResult:
        """The verdict on the operators, one after the other."""
        altered = ((answered, _rows(answered, operators)) for answered in self.cover)
        _, results = self.tried.ruled(
            self.cover, (rows if answered.differs(rows) else None for answered, rows in altered)
        )
        rules = tuple(RuleResult(rule, 1, 0) for rule in self.tried.judge.rules)
        return FormatResult(
            self.tried.fmt.name, "stack", (self.level,), tuple(results), rules, (), {}, 0, {}
        )


def _broken(result: FormatResult) -> Broken:
    """What binds and is broken."""
    must = {
        rule_result.rule.id
        for rule_result in result.rules
        if rule_result.rule.obligation is Obligation.MUST
    }
    return frozenset(
        place(finding) for case in result.cases for finding in case.findings if finding.rule in must
    )


def _rows(answered: Answered, operators: Iterable[Operator]) -> Sequence[Rows]:
    rows = answered.rows
    for operator in operators:
        rows = tuple(
            operator.alter(some, seen) for some, seen in zip(rows, answered.seen, strict=True)
        )
    return rows


def stacks(
    tried: Bench, convicted: Mapping[int, Sequence[str]], seed: int, number: int = STACKS
) -> Iterator[Stack]:
    """Stacks of operators, of which `convicted` names those that a MUST rule convicts, by level."""
    chance = random.Random(f"stacks {tried.fmt.name} {seed}")
    stages = {level: _Stage(tried, level, tried.spread(level, CASES)) for level in (1, 2)}
    for index in range(number):
        level = 1 + index % 2
        size = SIZES[index % len(SIZES)]
        tries = (_drawn(stages[level], convicted[level], size, chance) for _ in range(TRIES))
        yield from islice((stack for stack in tries if stack), 1)


def _drawn(stage: _Stage, names: Sequence[str], size: int, chance: random.Random) -> Stack | None:
    """A stack of that size; None if too few operators are apart, one cannot read what another left,
    or the verdict hides one.
    """
    drawn: dict[str, Broken] = {}
    for name in chance.sample(sorted(names), len(names)):
        if len(drawn) == size:
            break
        mine = stage.alone(name)
        if all(_apart(mine, other) for other in (frozenset(), *drawn.values())):
            drawn[name] = mine
    if len(drawn) < size:
        return None
    try:
        result = stage.judged([OPERATORS[name] for name in drawn])
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
        return None
    if not all(_shown(drawn, name, _broken(result)) for name in drawn):
        return None
    return _stack(stage.level, tuple(drawn), tuple(drawn.values()), mistakes(result))


def _shown(alone: Mapping[str, Broken], name: str, together: Broken) -> bool:
    """Whether a verdict on all shows what that operator alone breaks, and no other."""
    others = frozenset[Place]().union(*(broken for other, broken in alone.items() if other != name))
    return len({case for case, *_ in (alone[name] - others) & together}) >= _LEAST


def _apart(some: Broken, other: Broken) -> bool:
    """Whether each breaks cases that the other does not: the same mistake twice is one."""
    return len({case for case, *_ in some - other}) >= _LEAST and (
        not other or len({case for case, *_ in other - some}) >= _LEAST
    )


def _stack(
    level: int, names: Sequence[str], alone: Sequence[Broken], reported: Iterable[Mistake]
) -> Stack:
    named: list[list[str]] = [[] for _ in names]
    false = []
    for mistake in reported:
        share = [len(mistake.broken & mine) / len(mistake.broken) for mine in alone]
        best = max(range(len(names)), key=lambda number: share[number])
        if share[best] >= OWN and not mistake.statement.is_vague:
            named[best].append(mistake.sentence)
        else:
            false.append(mistake.sentence)
    return Stack(level, tuple(names), tuple(map(tuple, named)), tuple(false))
