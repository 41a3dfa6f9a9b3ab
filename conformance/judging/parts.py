"""Parts of mistakes: units that fail alike and the traits that explain them, and which parts are
one mistake.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.judging import deviations
from conformance.judging.contents import SIZES
from conformance.judging.deviations import Deviation, DeviationKind
from conformance.judging.explaining import OF_NAMES
from conformance.judging.index import Failing
from conformance.judging.relations import RelationKind
from conformance.judging.trait_sorts import Trait, Traits
from generators.model import Logical

OPS: Final = frozenset({"op", "kind"})
"""Sorts of traits on the op or kind of a row."""
_OF_VALUES: Final = frozenset(
    {"kin", "class", "type", "family", "negative", "unsigned", "held", "spelled", "like"}
)
"""Sorts of traits on what a value is."""
_OF_ROWS: Final = frozenset({"op", "cells", "side", "changed", "unchanged"})
"""Sorts of traits on where a value stands."""
_COMMON: Final = _OF_VALUES | {"op", "cells", "bare"}
"""Sorts of traits by which parts are joined to one mistake: all units of one part have the trait,
and it explains the other part.
"""
_ZEROS: Final = frozenset(
    {
        ("zero",),
        ("partial-zero",),
        ("date", "zero"),
        ("date", "partial-zero"),
        ("datetime", "zero"),
        ("datetime", "partial-zero"),
        ("timestamp", "zero"),
        ("timestamp", "partial-zero"),
    }
)
"""Words of the traits on dates that no calendar has, which decoders treat apart."""
_CONTENTS: Final = frozenset({Logical.TEXT.value, Logical.JSON.value, Logical.BINARY.value})
"""Families of types whose traits say what a value contains, not how large it is."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some units that fail with one deviation, and the traits that explain them; () for units that
    no trait explains. `share` is the share that fails of all units with the traits.
    """

    traits: Traits
    failings: list[Failing]
    share: float

    @property
    def families(self) -> frozenset[str]:
        """The families of types, such as `int`, of the failing units' columns."""
        return frozenset(failing.family for failing in self.failings if failing.family)

    def shared(self, sorts: Collection[str]) -> frozenset[Trait]:
        """The traits of these sorts (a trait's first word) that all units of the part have."""
        everywhere = frozenset.intersection(*(failing.traits for failing in self.failings))
        return frozenset(trait for trait in everywhere if trait[0] in sorts)


def failings_of(parts: Iterable[Part]) -> list[Failing]:
    """The failing units (rows, cells or fields that were compared and are wrong) of all these parts
    of a mistake.
    """
    failings: list[Failing] = []
    for part in parts:
        failings += part.failings
    return failings


def share_with(failings: Sequence[Failing], traits: Traits) -> float:
    """The share of failing units that have all of these traits."""
    return sum(failing.traits.issuperset(traits) for failing in failings) / len(failings)


def group_parts(deviation: Deviation, parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Groups parts that are one mistake: those of which one has the trait that explains the other;
    else those of one envelope column, of rows of one op or kind, of columns of one image, of values
    of one family of types, unless their traits are of different sorts. A part that no trait
    explains goes to a group of the same families.
    """
    groups: list[list[Part]] = []
    are_alike = _are_alike_cells if deviation.is_of_cells else _are_alike_rows
    for part in parts:
        if _is_single(deviation):
            candidates = groups[:1]
        else:
            common = part.shared(_COMMON)
            candidates = [group for group in groups if common & set(group[0].traits)]
        if not candidates:
            candidates = [group for group in groups if are_alike(deviation, group[0], part)]
        if candidates:
            candidates[0].append(part)
        else:
            groups.append([part])
    return iter(groups)


_SINGLE: Final = frozenset(
    {
        DeviationKind.FIELD_WRONG,
        DeviationKind.IMAGE_WITHOUT_COLUMNS,
        DeviationKind.VALUE_FOR_NULL,
        DeviationKind.OP_IN_OTHER_LETTERS,
        DeviationKind.OTHER_KIND,
    }
)
"""Deviations of which all units are one mistake."""


def _is_single(deviation: Deviation) -> bool:
    """Whether all units (compared rows, cells or fields) with this deviation count as one mistake
    of the decoder, even if they have no trait in common. Of wrong values these are the values of
    the row's other image, and values that come as something else (COMES_AS), such as a text.
    """
    return deviation.kind in _SINGLE or (
        deviation.is_wrong_value
        and deviation.relation_kind in (RelationKind.OTHER_IMAGE, RelationKind.COMES_AS)
    )


def _are_alike_rows(_deviation: Deviation, first: Part, part: Part) -> bool:
    """Whether the failing rows of `part` are of one mistake with those of `first`: the ops and
    kinds that all rows of one have are among the other's, or no trait explains `part` and it is
    small beside `first`.
    """
    part_ops, first_ops = part.shared(OPS), first.shared(OPS)
    is_rest = not part.traits and len(part.failings) <= deviations.REST * len(first.failings)
    return is_rest or (
        bool(part_ops & first_ops) and (part_ops <= first_ops or first_ops <= part_ops)
    )


def _are_alike_cells(deviation: Deviation, first: Part, part: Part) -> bool:
    """Whether the failing cells of `part` are of one mistake with those of `first`: one has the
    families of types of the other, and their values have one relation or no traits tell the two
    apart. Missing columns of one image are alike if they have traits; a part without traits needs
    one common family.
    """
    is_of_names = deviation == deviations.MISSING_COLUMN
    one_image = is_of_names and part.shared(("cells",)) & first.shared(("cells",))
    if not part.traits or one_image:
        return bool(part.families & first.families) or bool(part.traits)
    if not (part.families <= first.families or first.families <= part.families):
        return False
    return deviation.relation is not None or not _are_apart(part.traits, first.traits, is_of_names)


def _are_apart(first: Traits, second: Traits, of_names: bool) -> bool:
    """Whether two sets of traits show two mistakes, because one names what the other does not.

    They do so in this order: both are on names of columns and differ; only one is on names; only
    one names a date that no calendar has; one is on the row alone and another on what values are;
    they name different classes of texts, or different contents that are no sizes. With `of_names`
    (columns are missing) the second and the fourth do not count.
    """
    first_sorts, second_sorts = {trait[0] for trait in first}, {trait[0] for trait in second}
    if first_sorts | second_sorts <= OF_NAMES:
        return first != second
    if (first_sorts <= OF_NAMES) is not (second_sorts <= OF_NAMES) and not of_names:
        return True
    if _has_zero_date(first) is not _has_zero_date(second):
        return True
    plain = [kinds & (_OF_VALUES | _OF_ROWS) for kinds in (first_sorts, second_sorts)]
    is_of_row = any(kinds and kinds <= _OF_ROWS for kinds in plain)
    if is_of_row and any(kinds & _OF_VALUES for kinds in plain) and not of_names:
        return True
    contents = [trait for trait in (*first, *second) if trait[0] == "held"]
    are_sizes = all(trait[-1] in SIZES for trait in contents)
    families = {traits[0][1] for traits in (first, second) if traits and len(traits[0]) > 1}
    tells_contents = {"held"} in (first_sorts, second_sorts) and (
        first_sorts == second_sorts or families <= _CONTENTS
    )
    are_classes_of_texts = first_sorts == second_sorts == {"kin"} and families == {
        Logical.TEXT.value
    }
    return first != second and (are_classes_of_texts or (tells_contents and not are_sizes))


def _has_zero_date(traits: Traits) -> bool:
    """Whether one of the traits is the class of dates that no calendar has."""
    return any(trait[0] in ("like", "kin") and trait[1:] in _ZEROS for trait in traits)
