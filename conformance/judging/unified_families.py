"""Deviations of the values of one family of types that are one fault: with one relation that nearly
all values have, or may have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from conformance.judging.compared_units import cell_of
from conformance.judging.deviations import (
    FAMILIES,
    REST,
    SEVERAL,
    WRONG,
    ByDeviation,
    Deviation,
    DeviationKind,
)
from conformance.judging.index import (
    NEARLY,
    Failing,
    Unit,
)
from conformance.judging.relations import (
    Relation,
    RelationKind,
    generalize_relation,
    widen_relation,
)
from conformance.judging.relations_of_cells import possible_relations
from conformance.judging.relations_of_numbers import read_number


def unify_families(by_deviation: ByDeviation) -> dict[Deviation, dict[Unit, Failing]]:
    """The failing units (compared rows, cells or fields) by deviation, where the wrong values of
    one family of types, or of one envelope column, share a deviation. Its relation (how the wrong
    value comes from the right one) is the one that nearly all of these values have; if there is
    none, it has no relation.

    Two sorts of wrong values keep their own deviation: those whose relation is a mistake of its own
    (such as lost characters), and value classes that are wrong in another way than the rest. Units
    of all other deviations, such as lost rows, stay as they are.
    """
    families: dict[str, dict[Deviation, list[Failing]]] = defaultdict(lambda: defaultdict(list))
    unified: dict[Deviation, dict[Unit, Failing]] = defaultdict(dict)
    for deviation, units in by_deviation.items():
        if deviation.is_wrong_value or deviation.kind is DeviationKind.FIELD_WRONG:
            common = _widen_as_far(deviation, by_deviation)
            for failing in units.values():
                families[failing.family][common].append(failing)
        else:
            unified[deviation] = units
    for of_family in map(_unify_possible, map(_join_signs_of_zero, families.values())):
        for deviation, failing in _unify_family(_generalize(of_family), families):
            unified[deviation][failing.unit] = failing
    return unified


def _join_signs_of_zero(
    of_family: Mapping[Deviation, list[Failing]],
) -> Mapping[Deviation, list[Failing]]:
    """The wrong values of one family by deviation. Where only zeros have lost their sign, and
    nearly all other values have one relation, the zeros are counted to that one: whatever makes
    integers of numbers makes 0 of -0.
    """
    joined: dict[Deviation, list[Failing]] = {}
    without_sign: list[Failing] = []
    for deviation, failings in of_family.items():
        if deviation.relation_kind is RelationKind.SIGN:
            without_sign += failings
        else:
            joined[deviation] = failings
    if not joined or not all(map(_is_zero, without_sign)):
        return of_family
    commonest = max(joined, key=lambda deviation: len(joined[deviation]))
    is_common = len(joined[commonest]) >= NEARLY * sum(map(len, joined.values()))
    if commonest.relation is None or not is_common:
        return of_family
    return {**joined, commonest: [*joined[commonest], *without_sign]}


def _is_zero(failing: Failing) -> bool:
    """Whether the number 0 is owed, with any sign."""
    cell = cell_of(failing.finding, failing.result.case)
    return cell is not None and read_number(cell.value) == 0


def _unify_possible(
    of_family: Mapping[Deviation, list[Failing]],
) -> Mapping[Deviation, list[Failing]]:
    """The wrong values of one family of types by deviation, with one common relation if possible. A
    value may fit several relations with a number (the lowest 8 or 16 bits, a thousandth): if one
    fits nearly all values, they all get it.
    """
    likeliest = {deviation.relation for deviation in of_family}
    kinds = {deviation.relation_kind for deviation in of_family} & _UNIFIED_KINDS
    common: frozenset[Relation] | None = None
    explained: list[Failing] = []
    unified: dict[Deviation, list[Failing]] = defaultdict(list)
    for deviation, failings in of_family.items():
        for failing in failings:
            possible = frozenset(
                relation
                for relation in _possible_relations(deviation, failing)
                if relation.kind in kinds
            )
            if possible:
                explained.append(failing)
                common = possible if common is None else common & possible
            else:
                unified[deviation].append(failing)
    if not common or len(explained) < NEARLY * sum(map(len, of_family.values())):
        return of_family
    relation = max(common, key=lambda each: (each in likeliest, each.number))
    unified[replace(WRONG, relation=relation)] = explained
    return unified


_UNIFIED_KINDS: Final = frozenset(
    {
        RelationKind.LOW_BITS,
        RelationKind.FACTOR,
        RelationKind.FLOAT,
        RelationKind.CUT,
        RelationKind.ENCODED_TWICE,
        RelationKind.WITHIN_DOCUMENT,
    }
)
"""Kinds of relations of which several values tell more than each alone."""


def _possible_relations(deviation: Deviation, failing: Failing) -> frozenset[Relation]:
    """Every relation, such as "a thousandth" or "the lowest 32 bits", that the wrong value of a
    unit may have to the right one; empty if the deviation is not of a wrong value.
    """
    cell = cell_of(failing.finding, failing.result.case)
    if cell is None or not deviation.is_wrong_value:
        return frozenset()
    return possible_relations(cell, failing.finding.came)


def _generalize(of_family: Mapping[Deviation, list[Failing]]) -> Mapping[Deviation, list[Failing]]:
    """The failures of one family by deviation, with more general relations (a cut at any length,
    any shift) if nearly all failures then share one. If nearly all share one deviation as it
    stands, or share none even then, the argument is returned as it is.
    """
    total = sum(map(len, of_family.values()))
    if max(map(len, of_family.values())) >= NEARLY * total:
        return of_family
    general: dict[Deviation, list[Failing]] = defaultdict(list)
    for deviation, failings in of_family.items():
        general[_generalize_deviation(deviation)] += failings
    most = max(general, key=lambda deviation: len(general[deviation]))
    is_one = most.relation is not None and len(general[most]) >= NEARLY * total
    return general if is_one else of_family


def _generalize_deviation(deviation: Deviation) -> Deviation:
    """The deviation with a more general relation of the wrong value to the right one, such as a cut
    at any place for one after 255 characters; one without a relation stays.
    """
    if deviation.relation is None:
        return deviation
    return replace(deviation, relation=generalize_relation(deviation.relation))


def _unify_family(
    of_family: Mapping[Deviation, list[Failing]],
    families: Mapping[str, Collection[Deviation]],
) -> Iterator[tuple[Deviation, Failing]]:
    """Yields the failing units of one family, each with its deviation after joining: the commonest
    one if nearly all have it, their own if it is a mistake of its own, else one without a relation.
    `families` are the deviations of all families.
    """
    most = max(of_family, key=lambda deviation: len(of_family[deviation]))
    total = sum(
        len(failings)
        for deviation, failings in of_family.items()
        if deviation.relation_kind is not RelationKind.OTHER_IMAGE
    )
    separate_deviations = {
        deviation
        for deviation, failings in of_family.items()
        if most not in (deviation, _generalize_deviation(deviation))
        if _is_apart(deviation, failings, total, families)
    }
    together = sum(
        len(failings)
        for deviation, failings in of_family.items()
        if deviation not in separate_deviations
    )
    one_relation = len(of_family[most]) >= NEARLY * together
    for deviation, failings in of_family.items():
        for failing in failings:
            if deviation != most and _generalize_deviation(deviation) == most:
                yield most, failing
            elif deviation in separate_deviations or (
                deviation == most and (one_relation or most.explains_alone)
            ):
                yield deviation, failing
            elif one_relation and not _is_class_of_its_own(failing, of_family[most], failings):
                yield most, failing
            else:
                yield replace(deviation, relation=None), failing


def _widen_as_far(deviation: Deviation, by_deviation: ByDeviation) -> Deviation:
    """The widest deviation, among those that occur in the run, that is this one with its relation
    widened once or more (`widen_relation`); the deviation itself if none occurs.
    """
    common, relation = deviation, deviation.relation
    while relation is not None and (wider := widen_relation(relation)) != relation:
        relation = wider
        if replace(deviation, relation=wider) in by_deviation:
            common = replace(deviation, relation=wider)
    return common


def _is_apart(
    deviation: Deviation,
    failings: Sequence[Failing],
    total: int,
    families: Mapping[str, Collection[Deviation]],
) -> bool:
    """Whether a deviation within a family of types is a mistake of its own, and no chance. Its
    relation must be one that explains values alone. Then it must have several cases and a good
    share of the family's `total` wrong values, or it is a value of the other image in several
    families.
    """
    if not deviation.explains_alone:
        return False
    with_it = sum(deviation in deviations_of_family for deviations_of_family in families.values())
    if with_it >= FAMILIES and deviation.relation_kind is RelationKind.OTHER_IMAGE:
        return True
    cases = len({failing.result.case.id for failing in failings})
    return cases >= SEVERAL and len(failings) >= REST * total


def _is_class_of_its_own(
    failing: Failing, most: Sequence[Failing], failings: Sequence[Failing]
) -> bool:
    """Whether a failing value's class (its trait of the sort "kin") is a mistake of its own. Among
    `failings`, which share a deviation, the class must fail in several cases, and none of it may
    fail in the way of most other values (`most`).
    """
    kin = next((trait for trait in failing.traits if trait[0] == "kin"), None)
    cases = {
        failing_value.result.case.id for failing_value in failings if kin in failing_value.traits
    }
    return (
        kin is not None
        and len(cases) >= SEVERAL
        and not any(kin in failing_value.traits for failing_value in most)
    )
