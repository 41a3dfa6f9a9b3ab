"""How a wrong column of a row's envelope (its position, keys, types ...) is related to the right
one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from conformance.judging.relations import Relation, RelationKind, widen_relation
from conformance.judging.relations_of_numbers import read_number, relate_numbers
from conformance.judging.relations_of_texts import relate_texts
from conformance.judging.relations_of_times import relate_times


def relate_fields(name: str, expected: Any, actual: Any) -> Relation | None:
    """How a wrong envelope column, `name`, is related to the right one; None if no relation is
    known.

    That NULL came, or a value where none is owed, is a relation, too. Lists and mappings have the
    relation that all of their wrong members have.
    """
    if expected in (None, (), [], {}) and actual:
        return Relation(RelationKind.WHERE_NONE)
    if actual is None and expected is not None:
        return Relation(RelationKind.COMES_AS, name="NULL")
    if isinstance(expected, str) and isinstance(actual, str):
        if name == "types" and (lost_word := _find_lost_word(expected, actual)):
            return Relation(RelationKind.CHANGED_PARTS, name=f"without the word `{lost_word}`")
        numbers = relate_numbers(read_number(expected), read_number(actual))
        return numbers or relate_texts(expected, actual)
    if isinstance(expected, int) and isinstance(actual, int):
        clock = relate_times(expected, actual) if name == "commit_time" else None
        return clock or relate_numbers(Decimal(expected), Decimal(actual))
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        if expected != actual and sorted(map(repr, expected)) == sorted(map(repr, actual)):
            return Relation(RelationKind.OTHER_ORDER)
        relation = _relate_members(name, list(expected), list(actual))
        return relation or _relate_sets(Counter(expected), Counter(actual))
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        if expected.keys() != actual.keys():
            return _relate_sets(Counter(expected.items()), Counter(actual.items()))
        return _relate_members(name, list(expected.values()), [actual[key] for key in expected])
    return None


def _find_lost_word(declaration: str, actual: str) -> str:
    """A word of a declared type, such as `unsigned`, without which the declaration came; "" if it
    did not come so. The first word, the type's name, does not count.
    """
    words = declaration.split()
    for index, word in enumerate(words[1:], start=1):
        if actual == " ".join((*words[:index], *words[index + 1 :])):
            return word
    return ""


def _without_lengths(relation: Relation | None) -> Relation | None:
    """The relation without the length of a cut, so that cuts after different numbers of characters
    are the same.
    """
    is_cut = relation is not None and relation.kind is RelationKind.CUT
    return widen_relation(relation) if relation and is_cut else relation


def _relate_sets(expected: Counter[Any], actual: Counter[Any]) -> Relation | None:
    """The relation of two lists or mappings, as counts of their members: what came has all owed
    members and more, or only some of them. None for any others.
    """
    if expected != actual and expected <= actual:
        return Relation(RelationKind.ADDED_MEMBERS)
    return Relation(RelationKind.LOST_MEMBERS) if actual and expected >= actual else None


def _relate_members(name: str, expected: list[Any], actual: list[Any]) -> Relation | None:
    """The one relation that all wrong members of a list have to the right ones at their places;
    None if there are several relations or the lists differ in length.
    """
    if len(expected) != len(actual):
        return None
    relations = {
        _without_lengths(relate_fields(name, want, got))
        for want, got in zip(expected, actual, strict=True)
        if want != got
    }
    return relations.pop() if len(relations) == 1 else None
