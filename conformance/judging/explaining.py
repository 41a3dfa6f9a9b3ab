"""Which traits may explain a deviation, and which of them are tried first.

No cell of a row makes its envelope wrong; a text that loses line feeds does not lose them since it
holds a comma. What the relation of wrong values names is the first that is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Final

from conformance.judging import deviations
from conformance.judging.causes import relation_of
from conformance.judging.contents import (
    AT_MIDNIGHT,
    BASE64_LIKE_A_WORD,
    BYTES_OTHER_BACKWARDS,
    DAY_MAY_BE_MONTH,
    FORMS,
    IN_FIRST_SECOND,
    LENGTHS,
    LETTERS_IN_TEXT,
    NO_DOUBLE,
    NO_FLOAT,
    NOT_EMPTY,
    OTHER_BACKWARDS,
    SEASONS,
    SEVERAL_MEMBERS,
    TIME_OF_DAY,
    WITH_SECONDS,
)
from conformance.judging.deviations import Deviation, DeviationKind
from conformance.judging.effects_on_numbers import find_effect_on_numbers
from conformance.judging.effects_on_texts import name_letters
from conformance.judging.findings import NOT_THERE
from conformance.judging.index import Failing
from conformance.judging.relations import (
    BLANKS_AT_BOTH_ENDS,
    CHARACTER_SORTS,
    Relation,
    RelationKind,
    contents_of_lost_characters,
    signs_before_a_cut,
)
from conformance.judging.trait_sorts import Trait
from conformance.judging.wrong_values import WrongValues
from generators.model import Logical

OF_NAMES: Final = frozenset({"sign", "long", "capital", "small", "envelope-name", "alike"})
"""Sorts of traits on a column's name."""
OF_MESSAGES: Final = frozenset(
    {
        *("any", "row", "op", "kind", "several", "later", "equal", "same", "rekeyed", "bare"),
        *("repeated", "same-rows", "same-as-before", "same-row-as-before", "foreign"),
        *("behind-rows", "before-image"),
        *("keys", "keyless", "changed-later", "changed-earlier", "other-schema", "null", "empty"),
    }
)
"""Sorts of traits for which a decoder loses rows whatever is in their cells. Where rows depend on
other messages, all others are chance: the cases of a type, a name or an option stand together.
"""
_OF_CONTENTS: Final = frozenset({"day", "held", "spelled", "kin", "class", "like", "negative"})
"""Sorts of traits on the value itself, on which neither a column's Spark type nor whether it is
there depends.
"""
_OF_VOIDS: Final = frozenset({"void", "nothing"})
"""Sorts of traits of cells that are NULL or may come as NULL."""
_MAY_BE_NULL: Final = frozenset({("like", "zero"), ("like", "partial-zero")})
"""Traits of dates that no calendar has: a decoder that leaves out NULL may leave out these."""
_OF_OPS: Final = frozenset({"op", "cells"})
"""Sorts of traits on what a row does."""
_OF_CASES: Final = frozenset({"packed", "option", "options", "trait", "release", "level"})
"""Sorts of traits of a case as a whole."""
_OF_CHANGED_KEYS: Final = _OF_CASES | {"changed-key"}
"""Sorts of traits that may explain why keys alone are the other image's."""
_SORTS_OF_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "table": frozenset({"table-sign", "table-capital"}),
    "database": frozenset({"database-sign", "database-capital"}),
    "commit_time": frozenset({"commit-fraction"}),
    "keys": frozenset({"key-sign", "key-capital", "untold-key"}),
    "types": frozenset({"declared", "type", "family", "unsigned", *OF_NAMES}),
    "sql": frozenset({"sql"}),
}
"""Sorts of traits, beside those of messages, that may explain a wrong column of the envelope."""
_OF_NAMES_OF_TABLES: Final = frozenset().union(
    *(_SORTS_OF_FIELDS[field] for field in ("table", "database", "keys"))
)
"""Sorts of traits on the names of a table, its database and its key."""
_CONTENTS_OF_NAMES: Final = {
    "a line end": "line ends",
    "a quote": "quotes",
    "numbers": "a number",
    "nulls": "null in an object or array",
    "objects and arrays": "an empty object or array",
    "names of members": "members",
    "true and false": "true or false",
    "blanks at the beginning": "a blank at the beginning",
    "blanks at the end": "a blank at the end",
    BLANKS_AT_BOTH_ENDS: "a blank at an end",
}
"""What a value holds, in the words of the traits, by the name that a relation has for it, where the
two differ.
"""
_CONTENTS_OF_PARTS: Final[Mapping[str, frozenset[str]]] = {
    "names of members": frozenset(
        {"small letters in a member's name", "capital letters in a member's name"}
    ),
    "objects and arrays": frozenset({"an item in an array"}),
    BLANKS_AT_BOTH_ENDS: frozenset({"white space at an end"}),
}
"""What a value also holds, in the words of the traits, by the name that a relation has for a part
of it.
"""
_CONTENTS_OF_RELATIONS: Final = {
    RelationKind.FRACTION: frozenset({"a fraction"}),
    RelationKind.ROUNDED: frozenset({"a fraction"}),
    RelationKind.TIME_OF_DAY: frozenset({"a time of day"}),
    RelationKind.LAST_DIGITS: frozenset({"a fraction"}),
}
"""What a value holds that comes out in such a relation."""
_PRECISION_OF_RELATIONS: Final = {
    RelationKind.FLOAT: NO_FLOAT,
    RelationKind.LAST_DIGITS: NO_FLOAT,
    RelationKind.DOUBLE: NO_DOUBLE,
}
"""What a number is that comes out with other last digits."""


def favoured_traits(deviation: Deviation, failings: Sequence[Failing]) -> frozenset[Trait]:
    """The traits that are tried first to explain a deviation, since they say what its relation
    says: lost line ends are lost of values with line ends.
    """
    if deviation.kind is DeviationKind.ROW_SURPLUS:
        return frozenset({("sql", "a semicolon")})
    if deviation == deviations.MISSING_COLUMN:
        return _traits_of_renamed_columns(failings)
    relation = deviation.relation
    if relation is None:
        return frozenset()
    relation_names = {relation.name, relation.before}
    names = {_CONTENTS_OF_NAMES.get(name, name) for name in relation_names}
    names |= _CONTENTS_OF_RELATIONS.get(relation.kind, frozenset())
    letters = frozenset[str]()
    if relation.kind is RelationKind.LETTER_CASE:
        letters = _letters_that_change(failings)
    names |= letters
    names |= _CONTENTS_OF_PARTS.get(relation.name, frozenset())
    families = {failing.family for failing in failings}
    contents: set[Trait] = {
        ("held", family, f"with {name}") for family, name in product(families, names)
    }
    contents |= _letters_of_bytes(letters)
    if relation.kind in _PRECISION_OF_RELATIONS:
        precisions = _digits_of_rounding(relation, failings) or {
            _PRECISION_OF_RELATIONS[relation.kind]
        }
        contents |= {("held", family, words) for family, words in product(families, precisions)}
    contents |= {("sql", name) for name in names}
    if relation.kind is RelationKind.SHIFT:
        shared = frozenset.intersection(*(failing.traits for failing in failings))
        contents |= {trait for trait in shared if trait[0] == "day"}
    is_changed = relation.kind not in (RelationKind.COMES_AS, RelationKind.WHERE_NONE)
    is_of_sql = deviation.name == "sql" and is_changed
    if is_of_sql and not any(contents & failing.traits for failing in failings):
        every_trait = frozenset[Trait]().union(*(failing.traits for failing in failings))
        contents = {trait for trait in every_trait if trait[0] == "sql"}
    keys = _TRAITS_OF_RELATIONS.get(relation.kind, frozenset())
    signs = {("table-sign", sign) for sign in signs_before_a_cut(relation)}
    return frozenset(contents | signs | keys | _sizes_of_relation(relation, failings))


def _traits_of_renamed_columns(failings: Iterable[Failing]) -> frozenset[Trait]:
    """The traits on the names of missing columns whose images have other columns in their place: a
    column comes under another name for what its name has, not for its type.
    """
    renamed = (failing.traits for failing in failings if failing.finding.came is not NOT_THERE)
    every_trait = frozenset[Trait]().union(*renamed)
    return frozenset(trait for trait in every_trait if trait[0] in OF_NAMES)


def _letters_that_change(failings: Sequence[Failing]) -> frozenset[str]:
    """The sorts of letters that the owed values have and lose: "small letters" if all values came
    in capitals, "capital letters" if all came in small letters, else both.
    """
    letters = name_letters(failing.finding.came for failing in failings)
    return _LETTERS_BEFORE.get(letters, frozenset({"capital letters", "small letters"}))


def _letters_of_bytes(letters: Iterable[str]) -> set[Trait]:
    """The traits of bytes in whose text these letters are."""
    return {("held", Logical.BINARY.value, LETTERS_IN_TEXT.format(name)) for name in letters}


_LETTERS_BEFORE: Final[Mapping[str, frozenset[str]]] = {
    "capital": frozenset({"small letters"}),
    "small": frozenset({"capital letters"}),
}
"""The letters that values have before they come in other letters: small ones where they come in
capitals.
"""


def _sizes_of_relation(relation: Relation, failings: Sequence[Failing]) -> set[Trait]:
    """The traits on the size of values that fit a relation: over the number of bits that are left
    of all values (LOW_BITS), or over the length after which all are cut, in the characters or bytes
    that the relation names. Traits know only the lengths in LENGTHS, so that it is the next lower
    one. Empty if the values are not cut after one length.
    """
    families = {failing.family for failing in failings}
    if relation.kind is RelationKind.LOW_BITS:
        # Of a variable with a sign the highest bit is the sign.
        sizes = [f"of over {width} bits" for width in (relation.number - 1, relation.number)]
        return {("held", family, size) for family, size in product(families, sizes)}
    length = length_of_cuts(relation, failings)
    limit = max((limit for limit in LENGTHS if limit <= length), default=0)
    size = f"of over {limit:,} {relation.name}"
    return {("held", family, size) for family in families} if length else set()


def _digits_of_rounding(relation: Relation, failings: Sequence[Failing]) -> set[str]:
    """If all of these numbers came rounded to the same number N of digits, the words of the traits
    that explain it, "of over N digits" and "of over N significant digits": numbers with fewer
    digits come out right. Else an empty set.
    """
    effect = find_effect_on_numbers(WrongValues.gather(relation, failings))
    if effect is None or effect.kind is not RelationKind.ROUNDED_TO_DIGITS:
        return set()
    return {f"of over {effect.number} significant digits", f"of over {effect.number} digits"}


_REVERSALS: Final[Mapping[str, RelationKind]] = {
    OTHER_BACKWARDS: RelationKind.BITS_REVERSED,
    BYTES_OTHER_BACKWARDS: RelationKind.BYTES_REVERSED,
}
"""The relation of the bit strings that come otherwise in reverse order."""
_TRAITS_OF_RELATIONS: Final[Mapping[RelationKind, frozenset[Trait]]] = {
    RelationKind.OTHER_ORDER: frozenset(
        {("keys", "with a key of several columns"), ("held", Logical.SET.value, SEVERAL_MEMBERS)}
    ),
    RelationKind.OTHER_IMAGE: frozenset({("changed-key",)}),
    **{kind: frozenset({("held", Logical.BIT.value, words)}) for words, kind in _REVERSALS.items()},
    RelationKind.LETTER_CASE: frozenset({("held", Logical.SET.value, NOT_EMPTY)}),
    RelationKind.MONTH_AND_DAY: frozenset({("held", Logical.DATE.value, DAY_MAY_BE_MONTH)}),
    RelationKind.ENCODED: frozenset({("held", Logical.BINARY.value, BASE64_LIKE_A_WORD)}),
    RelationKind.UNICODE_FORM: frozenset(
        ("held", Logical.TEXT.value, f"with characters that the Unicode form {name} changes")
        for name in FORMS
    ),
    RelationKind.BLANKS_AT_ENDS: frozenset(
        {("held", Logical.JSON.value, "with white space at an end of a text")}
    ),
}
"""The traits that values have which come in such a relation to what is owed: a list in another
order has several members.
"""


def length_of_cuts(relation: Relation, failings: Iterable[Failing]) -> int:
    """The one length after which all of these values are cut. 0 if they are cut at different
    lengths or before a character, or if a single short length may be chance.
    """
    if relation.kind is not RelationKind.CUT or relation.before:
        return 0
    cuts = {relation_of(failing.finding, failing.result.case) for failing in failings}
    lengths = {cut.number for cut in cuts if cut and cut.kind is RelationKind.CUT}
    if None in cuts or len(lengths) != 1:
        return 0
    (length,) = lengths
    return length if len(cuts) > 1 or length >= min(LENGTHS) else 0


def choose_candidates(deviation: Deviation, failings: Sequence[Failing]) -> Callable[[Trait], bool]:
    """Returns a test of whether a trait may explain why these units deviate. The test excludes a
    season (summer or winter time) unless all units have it, and what texts hold beside the very
    characters that they lose.
    """
    shared = frozenset.intersection(*(failing.traits for failing in failings))
    foreign_contents = _contents_of_other_reasons(deviation, failings)
    is_of_changed_keys = deviation.is_of_other_image and ("changed-key",) in shared

    def is_candidate(trait: Trait) -> bool:
        """Whether a trait may explain the deviation of all units, or of some."""
        is_season = trait[0] == "held" and trait[-1] in SEASONS
        if is_season and trait not in shared:
            return False
        if trait in foreign_contents:
            return False
        if is_of_changed_keys and trait[0] not in _OF_CHANGED_KEYS:
            return False
        return may_explain(deviation, trait)

    return is_candidate


def _contents_of_other_reasons(
    deviation: Deviation, failings: Sequence[Failing]
) -> frozenset[Trait]:
    """The traits on what values hold that are no reason for the deviation, since its relation names
    another one. Of texts and documents that lose characters, or have others in their place:
    whatever they hold beside such characters, and of texts their class. Of bytes whose text comes
    in other letters: all but its letters.
    """
    relation = deviation.relation
    if deviation.relation_kind is RelationKind.LETTER_CASE and all(
        failing.family == Logical.BINARY for failing in failings
    ):
        every_trait = frozenset[Trait]().union(*(failing.traits for failing in failings))
        contents_of_bytes = {trait for trait in every_trait if trait[0] in _OF_CONTENTS}
        return frozenset(contents_of_bytes - _LETTERS_OF_BYTES)
    contents = contents_of_lost_characters(relation) if relation else None
    if contents is None:
        return frozenset()
    every_trait = frozenset[Trait]().union(*(failing.traits for failing in failings))
    of_reason = {f"with {name}" for name in contents}
    of_documents = {f"with {name}" for name, _ in CHARACTER_SORTS}
    others = set[Trait]()
    for trait in every_trait:
        if trait[:2] == ("held", Logical.TEXT.value) and trait[2] not in of_reason:
            others.add(trait)
        if trait[:2] == ("held", Logical.JSON.value) and trait[2] in of_documents - of_reason:
            others.add(trait)
    if all(("family", Logical.TEXT.value) in failing.traits for failing in failings):
        others |= {trait for trait in every_trait if trait[0] in ("kin", "class")}
    return frozenset(others)


_LETTERS_OF_BYTES: Final = frozenset(_letters_of_bytes(("capital letters", "small letters")))
"""The traits of bytes whose text, such as base64, has letters."""


def may_explain(deviation: Deviation, trait: Trait) -> bool:
    """Whether a decoder could deviate so because of the trait. No cell of a row, for instance,
    makes its envelope wrong, or is the reason for an image that is not owed.
    """
    sort = trait[0]
    if deviation.kind is DeviationKind.FIELD_WRONG:
        of_field = _SORTS_OF_FIELDS.get(deviation.name, frozenset())
        return sort in OF_MESSAGES | _OF_CASES | of_field
    if sort in ("commit-fraction", "declared"):
        return False
    if deviation.is_of_images:
        return sort in OF_MESSAGES | _OF_CASES
    if deviation.is_of_other_image and sort in _OF_CONTENTS | OF_NAMES | _OF_VOIDS:
        return False
    if sort in _OF_VOIDS and deviation.is_of_values and not deviation.is_for_null:
        return False
    has_no_content = deviation.is_of_presence or deviation.relation_kind is RelationKind.COMES_AS
    if has_no_content and sort in _OF_CONTENTS and trait not in _MAY_BE_NULL:
        return False
    if sort == "no-text":
        return deviation.relation_kind is RelationKind.COMES_AS and deviation.is_wrong_value
    if deviation.relation_kind is RelationKind.COMES_AS and sort in OF_NAMES:
        return False
    if deviation.is_of_presence and sort == "trait":
        return False
    if sort in _OF_OPS and deviation.relation is not None:
        # Characters are lost of a text, whatever its row does.
        return contents_of_lost_characters(deviation.relation) is None
    if sort == "day" or (sort == "held" and trait[-1] in SEASONS):
        return deviation.relation_kind is RelationKind.SHIFT
    if sort == "held" and trait[-1] in _REVERSALS:
        return deviation.relation_kind is _REVERSALS[trait[-1]]
    if trait in _LETTERS_OF_BYTES:
        return deviation.relation_kind is RelationKind.LETTER_CASE
    if sort == "held" and trait[-1] == WITH_SECONDS:
        return deviation.relation_kind in (None, RelationKind.SHIFT)
    if sort == "held" and trait[-1] == TIME_OF_DAY:
        return deviation.relation_kind is RelationKind.TIME_OF_DAY
    if sort == "held" and trait[-1] in (AT_MIDNIGHT, IN_FIRST_SECOND):
        return deviation == deviations.NULL
    if sort == "value-before":
        return deviation.is_for_null
    if sort in ("other-columns-before", "column-not-before"):
        return deviation.is_of_presence or deviation == deviations.NULL
    return sort not in _OF_NAMES_OF_TABLES or not deviation.is_of_cells
