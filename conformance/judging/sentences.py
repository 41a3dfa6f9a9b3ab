"""The words of relations and mistakes: every sentence on what a decoder does wrong is made here,
from values, and nothing reads it back.

The words themselves stand in wording.toml.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from conformance.judging.contents import merge_family
from conformance.judging.deviations import Deviation, DeviationKind
from conformance.judging.findings import ColumnOfKind
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.trait_sorts import SORTS, Trait, Traits
from conformance.judging.wording import describe_shift, words_of


class Quantity(enum.StrEnum):
    """How many of the units with the traits fail."""

    EVERY = "every "
    NEARLY_EVERY = "nearly every "
    MOST = "most "
    SOME = "some "
    NOT_TOLD = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """What is told of a mistake.

    `quantity` says how many of the `unit`s with any of `alternatives` (sets of traits) deviate;
    `others` is true if units without these traits do, too. A mistake that no trait explains has no
    alternatives, but maybe the `families` of types in which alone it occurs; with `by_company` it
    occurs only among certain other messages. Of messages that cannot be read the `faults` are told
    instead of traits, of a law its `law`, with the `places` where it is not kept, of a decoder that
    fails before it reads a message its `plan_error`.
    """

    deviation: Deviation | None
    quantity: Quantity = Quantity.NOT_TOLD
    unit: str = ""
    alternatives: tuple[Traits, ...] = ()
    others: bool = False
    families: tuple[str, ...] = ()
    by_company: bool = False
    faults: tuple[str, ...] = ()
    more_faults: int = 0
    ops_that_came: tuple[str, ...] = ()
    law: str = ""
    places: tuple[ColumnOfKind, ...] = ()
    plan_error: str = ""

    @property
    def is_vague(self) -> bool:
        """Whether it does not say what fails."""
        return self.quantity is Quantity.SOME


_SORTS_OF_UNITS: Final[Mapping[str, Mapping[str, str]]] = {
    "row": words_of("sorts_of_rows"),
    **dict.fromkeys(("unreadable message", "doubtful message"), words_of("sorts_of_messages")),
    **dict.fromkeys(("value", "values", "NULL", "NULLs"), words_of("sorts_of_values")),
}
"""How a trait is said of a unit, where that is not as `sorts` has it."""
_WITH_ARTICLES: Final[Mapping[str, str]] = {
    "unreadable message": "an unreadable message",
    "doubtful message": "a doubtful message",
}
"""Nouns of units with their article."""
_CLASSES: Final = words_of("classes")
"""What a value class says of a value, by its name, or by type family and name."""
_RELATIONS: Final = words_of("relations")
"""The words of a relation, by its kind."""
_DEVIATIONS: Final = words_of("deviations")
"""The sentence on a deviation, by its kind."""
_VERBS_OF_ONE: Final = {"is": "is", "comes": "comes", "vanishes": "vanishes"}
"""The verbs of a sentence whose subject is singular."""
_VERBS_OF_MANY: Final = {"is": "are", "comes": "come", "vanishes": "vanish"}
"""The verbs of a sentence whose subject is plural."""
_NAMES_OF_FACTORS: Final = {
    2: "a hundred times as large",
    -2: "a hundredth",
    3: "a thousand times as large",
    -3: "a thousandth",
    6: "a million times as large",
    -6: "a millionth",
}
"""The words for a factor, by its power of ten."""
_SAID_AFTER_UNIT: Final = frozenset(
    sort for sort, words in SORTS.items() if words.startswith("{unit} ")
)
"""Sorts of traits whose words follow the unit, which is told once for several of them."""
_CLAUSES: Final = frozenset(
    {"unchanged", "changed", "new-column", "other-columns-before", "column-not-before"}
)
"""Sorts of traits whose words are a clause that follows the noun without `and`."""
_CIRCUMSTANCES: Final = frozenset({"level", "option", "options"})
"""Sorts of traits that go on without `and` after any other."""
_CONTINUED_SORTS: Final = frozenset({"op", "kind"})
"""Sorts of traits after which a noun goes on without `and`."""


def describe_relation(relation: Relation) -> str:
    """The relation in words, such as `cut after 255 of 900 characters`."""
    number, name = relation.number, relation.name
    match relation.kind:
        case RelationKind.SHIFT if not number:
            return "earlier or later by different times"
        case RelationKind.SHIFT:
            return describe_shift(number)
        case RelationKind.WRAP if not number:
            return "differs by a power of 2"
        case RelationKind.LOW_BITS if not number:
            return "without its highest bits"
        case RelationKind.FACTOR:
            return _NAMES_OF_FACTORS.get(number, f"10^{number} times as large")
        case RelationKind.CUT:
            return _describe_cut(relation)
        case RelationKind.CUT_TO_PLACES | RelationKind.ROUNDED_TO_PLACES if not number:
            return (
                "without its fraction"
                if relation.kind.startswith("cut")
                else "rounded to a whole number"
            )
        case RelationKind.FRACTION_ROUNDED if not number:
            return "rounded to whole seconds"
        case RelationKind.MONTHS if abs(number) == 1:
            return "in the next month" if number > 0 else "in the month before"
        case RelationKind.LOST_BEGINNING if relation.before:
            return f"{_RELATIONS[relation.kind]} up to {relation.before}"
    return _RELATIONS[relation.kind].format(number=number, name=name, before=relation.before)


def _describe_cut(relation: Relation) -> str:
    """The words for a value that lacks its end, as far as the relation knows: after how many
    characters or bytes of how many, and before what.
    """
    words = "cut"
    if relation.number:
        of_total = f" of {relation.total:,}" if relation.total else ""
        words += f" after {relation.number:,}{of_total} {relation.name}"
    return f"{words} before {relation.before}" if relation.before else words


def describe_statement(statement: Statement) -> str:
    """A mistake as a sentence: which rows, columns or values are wrong, and how."""
    deviation = statement.deviation
    if statement.plan_error:
        return f"the decoder fails before it reads a message: {statement.plan_error}"
    if deviation is None:
        places = ", ".join(f"{column} of {kind} rows" for kind, column in statement.places)
        law = statement.law.rstrip(".")
        if not places:
            return f"not kept: {law}"
        columns = "columns" if len(statement.places) > 1 else "column"
        verb = "break" if len(statement.places) > 1 else "breaks"
        return f"the {columns} {places} {verb} the rule: {law}"
    sentence = _DEVIATIONS[deviation.kind].format(
        units=_describe_units(statement),
        name=_describe_name(deviation, statement),
        **(_VERBS_OF_MANY if statement.quantity is Quantity.MOST else _VERBS_OF_ONE),
    )
    relation = f": {describe_relation(deviation.relation)}" if deviation.relation else ""
    company = " only among certain other messages" if statement.by_company else ""
    return f"{sentence}{relation}{company}"


def describe_traits(traits: Traits, unit: str, *, is_unit_told: bool = False) -> str:
    """A noun for the units with all of the traits, such as `row of DELETE under the option x`.

    With `is_unit_told` it goes on after a noun that named the unit: `of DELETE`. The trait that
    something is a row is told only if it is the only one. The words of traits are joined by `and`,
    or by a blank where one goes on after the other (`_CONTINUED_SORTS`, `_CLAUSES`,
    `_CIRCUMSTANCES`). Of two traits on values of one family only the first names the family.
    """
    described = _name_families_once(tuple(trait for trait in traits if trait != ("row",)) or traits)
    phrase = _describe_trait(described[0], unit, "" if is_unit_told else unit)
    for (sort, *words), trait in itertools.pairwise(described):
        noun = _describe_trait(trait, unit, "" if trait[0] in _SAID_AFTER_UNIT else unit)
        if {sort, trait[0]} <= _SORTS_OF_VALUES and words[0] == trait[1]:
            # The family of types has been named.
            noun = _describe_classes(trait[2], trait[1]) if trait[0] == "kin" else trait[2]
        is_clause = (trait[0] in _CLAUSES and sort not in _CLAUSES) or trait[0] in _CIRCUMSTANCES
        joint = " " if sort in _CONTINUED_SORTS or is_clause else " and "
        phrase += f"{joint}{noun}"
    return phrase


def _name_families_once(traits: Traits) -> Traits:
    """The traits without the trait ("family", F) where another trait begins with the same family.
    That trait then names F: by itself it would name `float` for `double`, since traits have one
    name for families that decoders read alike (`merge_family`).
    """
    families = {merge_family(trait[1]): trait for trait in traits if trait[0] == "family"}
    named: list[Trait] = []
    named_twice: set[Trait] = set()
    for trait in traits:
        family = families.get(merge_family(trait[1])) if trait[0] in _SORTS_OF_FAMILIES else None
        if family is None:
            named.append(trait)
        else:
            named_twice.add(family)
            named.append((trait[0], family[1], *trait[2:]))
    return tuple(trait for trait in named if trait not in named_twice)


_SORTS_OF_VALUES: Final = frozenset({"held", "spelled", "kin"})
"""Sorts of traits on a value, whose first word is a family of types and the second what it is."""
_SORTS_OF_FAMILIES: Final = frozenset({"held", "spelled", "kin", "negative", "day"})
"""Sorts of traits whose first word is a family of types."""


def _describe_trait(trait: Trait, unit: str, first_word: str) -> str:
    """A trait in words. `unit` is the noun for what has the trait (such as row): some traits have
    other words for some units. `first_word` goes where the words name the unit; "" if the sentence
    has named it.
    """
    sort, *words = trait
    of_unit = _SORTS_OF_UNITS.get(unit, {})
    sentence = of_unit.get(sort, SORTS[sort])
    of_class = _describe_classes(words[-1], words[0]) if words else ""
    return sentence.format(*words, **{"unit": first_word, "class": of_class}).strip()


def _describe_classes(classes: str, family: str) -> str:
    """What value classes (a sort of values of a type, such as its negative ones) say of values of a
    family of types, in words; several classes, between commas in `classes`, are joined by `or`.
    """
    return " or ".join(
        _CLASSES.get(f"{family} {name}") or _CLASSES.get(name, f"in the class {name}")
        for name in classes.split(", ")
    )


def merge_alternatives(alternatives: Iterable[Traits]) -> list[Traits]:
    """Joins sets of traits that differ only in the last word of one trait (such as the class of a
    value): one set with all such words takes their place.
    """
    merged: list[Traits] = []
    for traits in alternatives:
        for index, merged_traits in enumerate(merged):
            joined = _join_traits(merged_traits, traits)
            if joined:
                merged[index] = joined
                break
        else:
            merged.append(traits)
    return merged


def _join_traits(first: Traits, second: Traits) -> Traits:
    """Two sets of traits as one, if they differ only in the last word of one trait: that trait then
    has both words, joined by a comma. () if they differ in more, or not at all.
    """
    if len(first) != len(second):
        return ()
    pairs = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
    if len(pairs) != 1:
        return ()
    first_trait, second_trait = pairs[0]
    if not first_trait[:-1] or first_trait[:-1] != second_trait[:-1]:
        return ()
    joined: Trait = (*first_trait[:-1], f"{first_trait[-1]}, {second_trait[-1]}")
    return tuple(joined if trait == first_trait else trait for trait in first)


def _describe_units(statement: Statement) -> str:
    """The subject of a mistake's sentence: how many of which rows, columns or values, and what they
    have. A quantity is its own word with a blank, such as "every ", or "". Units with faults (ways
    to spoil a message) are told by these; units of a mistake that no trait explains (it has no
    `alternatives`) by families of types, if it occurs in these alone.
    """
    unit, quantity = statement.unit, statement.quantity
    if quantity is Quantity.MOST:
        unit = f"{unit}s"
    if statement.faults:
        more = f" and {statement.more_faults} more" if statement.more_faults else ""
        return f"{_WITH_ARTICLES[unit]} with {', '.join(statement.faults)}{more}"
    if not statement.alternatives:
        families = f" of the {', '.join(statement.families)} types" if statement.families else ""
        return f"{quantity}{unit}{families}"
    first, *further_alternatives = statement.alternatives
    nouns = [
        describe_traits(first, unit),
        *(_continue_noun(traits, unit) for traits in further_alternatives),
    ]
    return f"{quantity}{', '.join(nouns)}{' and others' if statement.others else ''}"


def _continue_noun(traits: Traits, unit: str) -> str:
    """The words for a further set of traits in a sentence's subject, after the first one: `of
    DELETE`, or `every row with ...` where the words need the noun.
    """
    first = next((trait for trait in traits if trait != ("row",)), traits[0])
    if first[0] in _SAID_AFTER_UNIT:
        return describe_traits(traits, unit, is_unit_told=True)
    return f"every {describe_traits(traits, unit)}"


def _describe_name(deviation: Deviation, statement: Statement) -> str:
    """What a mistake's sentence names as wrong: the ops that came, an image with its article, else
    the name in the deviation, such as a column of the envelope. A missing image without a name is
    either image: the mistakes on both were joined.
    """
    if deviation.kind is DeviationKind.OTHER_OP:
        return ", ".join(statement.ops_that_came)
    if deviation.kind is DeviationKind.IMAGE_SURPLUS:
        return f"{'an' if deviation.name == 'after' else 'a'} {deviation.name} image"
    if deviation.kind is DeviationKind.IMAGE_ON_OTHER_SIDE:
        other_side = "before" if deviation.name == "after" else "after"
        return f"its {deviation.name} image in {other_side}"
    if deviation.kind is DeviationKind.IMAGE_MISSING and not deviation.name:
        return "that image"
    if deviation.kind is DeviationKind.IMAGE_MISSING:
        return f"its {deviation.name} image"
    return deviation.name
