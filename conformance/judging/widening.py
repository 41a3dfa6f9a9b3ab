"""Wider traits for a mistake whose narrow ones leave failing units unexplained: the op, the
families of types, or the place in a row in which most units fail.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from conformance.judging import deviations
from conformance.judging.deviations import Deviation, DeviationKind
from conformance.judging.index import NEARLY, Failing, RunIndex
from conformance.judging.merging import MAJORITY
from conformance.judging.parts import OPS, Part, failings_of, share_with
from conformance.judging.sentences import merge_alternatives
from conformance.judging.trait_sorts import Trait, Traits

LARGE: Final = 0.15
"""Share of a mistake's units from which on a part of it is told by a noun of its own."""
NEARLY_ALL: Final = 0.95
"""Share of a mistake's units that must have the traits that are told of all of it."""
ABOUT: Final = 0.1
"""Share of units by which what fails is about as much."""
ANY: Final = ("any",)
"""The trait that every unit has."""
_WIDENED_TO_OPS: Final = frozenset({DeviationKind.ROW_LOST, DeviationKind.FIELD_WRONG})
"""Deviations of rows that are told of all rows, or of those of an op or kind, if narrower traits
leave some unexplained.
"""
_PLACES: Final = ("op", "changed-key", "key", "plain", "changed", "unchanged", "side", "behind")
"""Sorts of traits on where a value stands, those first that say most of what a decoder does."""
_OUTSIDE_KEYS: Final = ("plain",)
"""The trait of a column that is none of the key."""
_ALTERNATIVES: Final = 2
"""Traits of which two sorts of values that fail alike may have one each."""


def explain_by_place(
    deviation: Deviation,
    index: RunIndex,
    traits_of_failures: Sequence[frozenset[Trait]],
    unexplained: Sequence[Failing],
) -> Part | None:
    """The failing values that no trait explains, as one part of a mistake, if NULL came for all of
    them, in many families of types, and they stand in rows of one op: a decoder that loses values
    whatever their type does so for what their row does. None otherwise. At least the share LARGE
    of all values in such places must fail.
    """
    families = {failing.family for failing in unexplained}
    if deviation != deviations.NULL or len(families) < deviations.FAMILIES:
        return None
    parts = _widen_to_places(unexplained, traits_of_failures, index, deviation, least=LARGE)
    is_of_op = bool(parts) and any(trait[0] == "op" for trait in parts[0].traits)
    return parts[0] if is_of_op else None


def widen_group(
    group: list[Part],
    traits_of_failures: Sequence[frozenset[Trait]],
    index: RunIndex,
    deviation: Deviation,
) -> list[Part]:
    """The parts of a mistake as they are told: if the traits leave units unexplained and most
    values of their families fail, one part for each family of types; else one part with traits on
    where the values stand, if there are any; else the parts as they are. A narrower trait would be
    false of some units.
    """
    failings = failings_of(group)
    if deviation.kind in _WIDENED_TO_OPS:
        return _widen_to_op(group, traits_of_failures, index, deviation) or group
    if not deviation.is_of_cells or not _are_scattered(group):
        return group
    of_families = _widen_to_families(failings, traits_of_failures, index, deviation)
    if of_families and of_families[0].share < NEARLY and _are_exact(group):
        return group
    return of_families or _widen_to_places(failings, traits_of_failures, index, deviation) or group


def _widen_to_op(
    group: Sequence[Part],
    traits_of_failures: Sequence[frozenset[Trait]],
    index: RunIndex,
    deviation: Deviation,
) -> list[Part]:
    """One part with the op or kind of all failing rows, or with the trait that every row has, if
    most rows with it fail and no narrower traits explain nearly all failures; else none.
    """
    failings = failings_of(group)
    explained = (len(part.failings) for part in group if part.traits)
    if max(explained, default=0) >= NEARLY_ALL * len(failings) or _are_exact(group):
        return []
    if all(part.traits and part.traits[0][0] in OPS for part in group):
        return []
    shared = frozenset.intersection(*(failing.traits for failing in failings))
    population = deviations.population_of(deviation)
    for trait in (*sorted(trait for trait in shared if trait[0] in OPS), ANY):
        share = index.share_that_fails(population, traits_of_failures, [(trait,)])
        if share >= MAJORITY:
            return [Part((trait,), failings, share)]
    return []


def _widen_to_families(
    failings: Sequence[Failing],
    traits_of_failures: Sequence[frozenset[Trait]],
    index: RunIndex,
    deviation: Deviation,
) -> list[Part]:
    """A part for each family of types of the failing values, if most values of these families fail;
    else none. Several families are only told where values came for NULL (`is_for_null`); otherwise
    the failing values must be of one family. A failing cell without the trait of a family, which is
    the family "" here, ends the attempt.
    """
    by_family: dict[Trait, list[Failing]] = defaultdict(list)
    for failing in failings:
        by_family[next((t for t in failing.traits if t[0] == "family"), ("family", ""))] += [
            failing
        ]
    is_of_one_family = len({failing.family for failing in failings}) == 1
    if ("family", "") in by_family or not (is_of_one_family or deviation.is_for_null):
        return []
    population_name = deviations.population_of(deviation)
    share = index.share_that_fails(
        population_name, traits_of_failures, [(family,) for family in by_family]
    )
    if share < MAJORITY:
        return []
    return [Part((family,), of_family, share) for family, of_family in sorted(by_family.items())]


def _widen_to_places(
    failings: Sequence[Failing],
    traits_of_failures: Sequence[frozenset[Trait]],
    index: RunIndex,
    deviation: Deviation,
    least: float = MAJORITY,
) -> list[Part]:
    """One part with the traits on where a value stands that nearly all failing values share, if
    at least this share of the values with them fails; else none. Of traits with which about as many
    fail, those come first that say most of what a decoder does.
    """
    population_name = deviations.population_of(deviation)
    every_trait = frozenset[Trait]().union(*(failing.traits for failing in failings))
    of_places = sorted(
        (trait for trait in every_trait if trait[0] in _PLACES),
        key=lambda trait: (_PLACES.index(trait[0]), trait),
    )
    common = [trait for trait in of_places if share_with(failings, (trait,)) >= NEARLY_ALL]
    worth: dict[Traits, float] = {}
    for traits in (*((trait,) for trait in common), *itertools.combinations(common, 2)):
        share = index.share_that_fails(population_name, traits_of_failures, [traits])
        if share >= least and share_with(failings, traits) >= NEARLY_ALL:
            worth[traits] = share
    about_best = [traits for traits, share in worth.items() if share >= max(worth.values()) - ABOUT]
    if not about_best:
        return []
    best = about_best[0]
    for with_place in about_best:
        # That no column of the key fails is worth a word, however few they are.
        is_told_more = set(best) < set(with_place) and worth[with_place] > worth[best]
        if is_told_more and _OUTSIDE_KEYS in with_place and share_with(failings, with_place) == 1:
            best = with_place
    return [Part(best, list(failings), worth[best])]


def _are_scattered(group: Sequence[Part]) -> bool:
    """Whether traits do not explain a mistake well: they explain less than nearly all of it, or
    several separate sets of traits are needed.
    """
    sizes = [len(part.failings) for part in group if part.traits]
    total = len(failings_of(group))
    if sum(sizes) < NEARLY * total:
        return True
    if max(sizes) >= NEARLY_ALL * total:
        return False
    return len(merge_alternatives(part.traits for part in group if part.traits)) > 1


def _are_exact(group: Sequence[Part]) -> bool:
    """Whether the parts of a mistake are _ALTERNATIVES ones that one trait each explains, and all
    units with these traits fail: for example values below zero, and values of over a day.
    """
    return len(group) == _ALTERNATIVES and all(
        len(part.traits) == 1 and part.share == 1 for part in group
    )
