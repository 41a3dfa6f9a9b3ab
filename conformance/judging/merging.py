"""What a mistake is, and which mistakes are one: those on the same cases, and those that follow
from another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from conformance.judging import deviations
from conformance.judging.findings import CELL, CaseResult, Finding
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.sentences import Statement, describe_statement
from conformance.judging.trait_sorts import Trait, Traits
from conformance.rules.rules import Aspect, Obligation

Place: TypeAlias = tuple[str, int, int, str, str | None]
"""Case, message, row, side and column of a finding."""


_EITHER_IMAGE: Final = "before or after"
"""The words for either image of a row."""
_ALIKE: Final = 0.95
"""Two mistakes are one if they have at least this share of their cases in common."""
_WIDE: Final = 3
"""A vague mistake may follow from one that has up to so many times its cases."""
MEMBERS: Final = frozenset({"null", "empty"})
"""Sorts of traits on a member of a message's JSON document: that it is null, or empty."""
MAJORITY: Final = 0.5
"""Share of the units of a family of types that must fail for a sentence to say "most" of them."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """What a decoder does wrong: the traits of the failing units, the statement, the ids of the
    broken rules and the most binding of their obligations, the ids of the cases that it explains,
    what is broken in them (case, message, row, side, column), and a finding of the smallest of them
    with its result, the traits that all have (`shared`).
    """

    traits: Traits
    statement: Statement
    rules: tuple[str, ...]
    obligation: Obligation
    cases: frozenset[str]
    broken: frozenset[Place]
    finding: Finding
    result: CaseResult
    shared: frozenset[Trait]

    @property
    def has_examples(self) -> bool:
        """Whether its cases are examples of it: the error of a plan has nothing to do with them."""
        return not self.statement.plan_error

    @property
    def sentence(self) -> str:
        """The statement in words."""
        return describe_statement(self.statement)


def merge_mistakes(mistakes_found: Iterable[Mistake]) -> list[Mistake]:
    """The mistakes, joined where they are on the same cases, or on the same member of messages. A
    mistake that no trait explains is joined to another that has all of its cases.
    """
    merged: list[Mistake] = []
    for mistake in sorted(mistakes_found, key=_merging_order):
        for index, earlier in enumerate(merged):
            if not _must_stay_apart(mistake, earlier) and _are_one(mistake, earlier):
                merged[index] = replace(
                    earlier,
                    statement=_join_statements(earlier, mistake),
                    rules=tuple(dict.fromkeys((*earlier.rules, *mistake.rules))),
                    cases=earlier.cases | mistake.cases,
                    broken=earlier.broken | mistake.broken,
                )
                break
        else:
            merged.append(mistake)
    return merged


def _join_statements(earlier: Mistake, mistake: Mistake) -> Statement:
    """The statement of two mistakes that are reported as one: the earlier one's. If the two are
    about different images of a row, it is widened to "either image".
    """
    statement, deviation, joined = earlier.statement, earlier.statement.deviation, mistake.statement
    if deviation is None or joined.deviation is None or deviation == joined.deviation:
        return statement
    if _is_of_bare_rows(earlier) and _is_of_bare_rows(mistake):
        of_any_image = replace(deviation, name="")
        return replace(
            statement, deviation=of_any_image, alternatives=((("bare", _EITHER_IMAGE),),)
        )
    if deviation.is_of_other_image and joined.deviation.is_of_other_image:
        relation = Relation(RelationKind.OTHER_IMAGE, name="other")
        return replace(statement, deviation=replace(deviation, relation=relation))
    return statement


def _merging_order(mistake: Mistake) -> tuple[bool, bool, bool, int]:
    """A sort key: the order in which mistakes are joined to earlier ones. First come those that
    make other values of a row wrong, then others with most cases first, then the law on the columns
    of a row, last those that no trait explains.
    """
    spoils = _spoils_whole_rows(mistake)
    return _is_vague(mistake), _is_law_of_columns(mistake), not spoils, -len(mistake.cases)


def _must_stay_apart(mistake: Mistake, earlier: Mistake) -> bool:
    """Whether two mistakes are reported as two even though they are on the same cases. The first
    condition keeps a wrong field of the envelope apart from a wrong cell, the second different
    unusual characters of names, the last a missing column or image apart from swapped columns.
    """
    aspects = {mistake.finding.aspect, earlier.finding.aspect}
    if Aspect.FIELD in aspects and not aspects.isdisjoint(CELL):
        return True
    sorts = {trait[0] for trait in (*mistake.traits, *earlier.traits)}
    if mistake.traits != earlier.traits and sorts == {"sign"}:
        return True
    deviation = earlier.statement.deviation
    is_swapped = (
        deviation is not None and deviation.kind is deviations.DeviationKind.COLUMNS_SWAPPED
    )
    return is_swapped and mistake.finding.aspect in (Aspect.PRESENCE, Aspect.IMAGE)


def _are_one(mistake: Mistake, earlier: Mistake) -> bool:
    """Whether two mistakes are one: they are on the same cases, or `mistake` is only a part of
    `earlier`.
    """
    earlier_spoils_rows = _spoils_whole_rows(earlier)
    may_follow = _is_vague(mistake) or earlier_spoils_rows
    too_wide = not earlier_spoils_rows and len(earlier.cases) > _WIDE * len(mistake.cases)
    if (
        may_follow
        and not too_wide
        and _have_same_cases(mistake.cases, mistake.cases & earlier.cases)
    ):
        return True
    if earlier.traits and all(
        trait[0] in MEMBERS and trait in mistake.traits for trait in earlier.traits
    ):
        return True
    if _is_of_bare_rows(mistake) and _is_of_bare_rows(earlier):
        return True
    deviation = earlier.statement.deviation
    is_shuffled = deviation is not None and deviation.kind is deviations.DeviationKind.ROWS_SHUFFLED
    if is_shuffled and mistake.traits == (("later",),):
        return True
    if _follows_from_kinds(mistake, earlier):
        return True
    # Of the same values it is one mistake, whatever the relations.
    are_values = all(
        compared.statement.deviation is not None and compared.statement.deviation.is_wrong_value
        for compared in (mistake, earlier)
    )
    if are_values and mistake.traits and earlier.traits and _has_same_values(mistake, earlier):
        return True
    return _have_same_cases(mistake.cases, earlier.cases)


def _follows_from_kinds(mistake: Mistake, earlier: Mistake) -> bool:
    """Whether a mistake is only a consequence of an earlier one: the earlier one gives rows another
    kind (or spells it otherwise), and most cases of this one break the law on the columns that a
    row of each kind has.
    """
    deviation = earlier.statement.deviation
    has_other_kinds = deviation is not None and deviation.is_of_kinds
    shared = len(mistake.cases & earlier.cases)
    return (
        _is_law_of_columns(mistake) and has_other_kinds and shared >= MAJORITY * len(mistake.cases)
    )


def _is_law_of_columns(mistake: Mistake) -> bool:
    """Whether the mistake is the law on which columns a row of a kind has."""
    return mistake.statement.deviation is None and mistake.finding.aspect is Aspect.FIELD


def _is_of_bare_rows(mistake: Mistake) -> bool:
    """Whether what explains the mistake is that all columns of an image are NULL or absent."""
    return len(mistake.traits) == 1 and mistake.traits[0][0] == "bare"


def _has_same_values(mistake: Mistake, earlier: Mistake) -> bool:
    """Whether two mistakes on wrong values are about the same values: they name the same traits
    (`traits`), or all units of one have (`shared`) the traits that the other names. The second is
    asked only if one of them names what values hold, or if `mistake` does not say what fails.
    """
    if mistake.traits == earlier.traits:
        return True
    of_contents = any(trait[0] == "held" for trait in mistake.traits + earlier.traits)
    if not (of_contents or mistake.statement.is_vague):
        return False
    return mistake.shared.issuperset(earlier.traits) or earlier.shared.issuperset(mistake.traits)


def _is_vague(mistake: Mistake) -> bool:
    """Whether no trait explains the mistake, so that its sentence does not say what fails."""
    return not mistake.traits and mistake.statement.is_vague


def _spoils_whole_rows(mistake: Mistake) -> bool:
    """Whether a mistake makes other values of the same rows wrong, such as that all columns have
    each other's values.
    """
    deviation = mistake.statement.deviation
    return deviation is not None and deviation.spoils_whole_rows


def _have_same_cases(first: Collection[str], second: Collection[str]) -> bool:
    """Whether two sets of cases are the same, but for a few."""
    return len(set(first) & set(second)) >= _ALIKE * len(set(first) | set(second))
