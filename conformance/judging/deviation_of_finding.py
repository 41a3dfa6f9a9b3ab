"""Which deviation a finding is, by itself and beside the others of a run: few values that equal
another cell's do so by chance.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from conformance.judging.causes import relation_of
from conformance.judging.compare import ACCEPTED, Typed
from conformance.judging.compared_units import cell_of, change_of
from conformance.judging.deviations import (
    FAMILIES,
    MISSING_COLUMN,
    NOT_NULL,
    NULL,
    OTHER_OP,
    SHUFFLED,
    SURPLUS_COLUMN,
    SWAPPED,
    WRONG,
    Deviation,
    DeviationKind,
    spell_op,
)
from conformance.judging.findings import NOT_THERE, Finding
from conformance.judging.index import (
    NEARLY,
    Failing,
    RunIndex,
)
from conformance.judging.relations import (
    Relation,
    RelationKind,
    widen_relation,
)
from conformance.judging.relations_of_fields import relate_fields
from conformance.judging.rows_of_messages import (
    came_as_in_other_image,
    is_other_value_unknown,
)
from conformance.rules.rules import Aspect
from generators.model import OTHER_SIDE, Case, Cell, Change, Kind, Logical, Op, State

_KIND_IN_OTHER_LETTERS: Final = Deviation(DeviationKind.OP_IN_OTHER_LETTERS, "kind")
"""A kind of row that is right but for its capital or small letters."""
_OP_IN_OTHER_LETTERS: Final = Deviation(DeviationKind.OP_IN_OTHER_LETTERS, "op")
"""An op that is right but for its capital or small letters."""
_AS_TEXT: Final = Deviation(
    DeviationKind.VALUE_WRONG, relation=Relation(RelationKind.COMES_AS, name="string")
)
"""A value that came as a text, where its type has another Spark type."""
_OF_ROWS: Final = {
    Aspect.MISSING: Deviation(DeviationKind.ROW_LOST),
    Aspect.EXTRA: Deviation(DeviationKind.ROW_SURPLUS),
    Aspect.CORRUPT: Deviation(DeviationKind.ROW_REFUSED),
}
"""The deviations of rows that are not there, one too many, or refused, by the aspect of the
finding.
"""
_TEXTS: Final = frozenset({Logical.TEXT.value, Logical.JSON.value})
"""Families of types whose right values are texts in Spark."""


def deviation_of(finding: Finding, case: Case, *, elsewhere: bool = True) -> Deviation:
    """The deviation (way of being wrong) of one finding, whatever other findings say. `elsewhere`
    allows the answer that the value is that of another image, row or column; callers set it to
    false where that is chance.

    A finding is on an unreadable message if it is on its CORRUPT change, or on no change of a case
    with a fault. It is doubtful where any rows are right (`anything`). A column that an image
    should not have is a value for NULL at level two, where all columns are there.
    """
    change = change_of(finding, case)
    unreadable = bool(case.fault) if change is None else change.kind is Kind.CORRUPT
    match finding.aspect:
        case Aspect.ACCEPTED | Aspect.MISSING | Aspect.KIND if unreadable:
            return _deviation_of_fault(finding, is_doubtful=change is not None and change.anything)
        case Aspect.MISSING | Aspect.EXTRA | Aspect.CORRUPT:
            return _OF_ROWS[finding.aspect]
        case Aspect.KIND | Aspect.OP:
            return _deviation_of_op(finding)
        case Aspect.FIELD:
            relation = relate_fields(finding.path, finding.owed, finding.came)
            return Deviation(DeviationKind.FIELD_WRONG, finding.path, _without_lengths(relation))
        case Aspect.IMAGE:
            return _deviation_of_image(finding, case, change)
        case Aspect.PRESENCE if finding.came is NOT_THERE:
            return MISSING_COLUMN
        case Aspect.PRESENCE:
            return NOT_NULL if case.level == 2 else SURPLUS_COLUMN
    return _deviation_of_value(finding, case, elsewhere)


def _deviation_of_fault(finding: Finding, *, is_doubtful: bool) -> Deviation:
    """How the rows of an unreadable message differ from the one CORRUPT row that it owes: none
    came, one whose kind is `Corrupt` or `corrupt`, several CORRUPT rows, other rows beside a
    CORRUPT one, or other rows alone.

    A doubtful message (no source says whether it can be read) owes any row, CORRUPT or not.
    """
    if is_doubtful:
        return Deviation(DeviationKind.DOUBTFUL_VANISHES)
    if finding.came == ():
        return Deviation(DeviationKind.MESSAGE_VANISHES)
    # The kinds of the rows that came; None in a finding that says nothing of rows.
    kinds: tuple[str, ...] = finding.came or ()
    if len(kinds) == 1 and _is_in_other_letters(kinds[0], (Kind.CORRUPT,)):
        return _KIND_IN_OTHER_LETTERS
    if len(kinds) > 1 and set(kinds) == {Kind.CORRUPT}:
        return _OF_ROWS[Aspect.EXTRA]
    if len(kinds) > 1 and Kind.CORRUPT in kinds:
        return Deviation(DeviationKind.ROWS_BESIDE_REFUSAL)
    return Deviation(DeviationKind.MESSAGE_ACCEPTED)


def _deviation_of_op(finding: Finding) -> Deviation:
    """The deviation of a wrong kind or op of a row: spelled in other letters (small, capital),
    another kind (its name is the kind that came), or another op.
    """
    came = finding.came
    is_of_kind = finding.aspect is Aspect.KIND
    if _is_in_other_letters(came, finding.owed or ()):
        return _KIND_IN_OTHER_LETTERS if is_of_kind else _OP_IN_OTHER_LETTERS
    if is_of_kind:
        return Deviation(DeviationKind.OTHER_KIND, spell_op(came))
    return OTHER_OP


def _is_in_other_letters(came: object, accepted: Collection[str]) -> bool:
    """Whether a kind or op that is not accepted is an accepted one but for capital letters."""
    return isinstance(came, str) and came.casefold() in {word.casefold() for word in accepted}


def _deviation_of_image(finding: Finding, case: Case, change: Change | None) -> Deviation:
    """How a whole image of a row is wrong: it is missing, or there although it is not owed.
    IMAGE_WITHOUT_COLUMNS is an image that is not owed and empty, unless the owed other image is
    empty too.
    """
    side = finding.side
    if finding.owed is not None:
        return Deviation(DeviationKind.IMAGE_MISSING, side)
    other_image = change.image(OTHER_SIDE[side], case.level) if change else None
    if finding.came == {} and other_image != {}:
        return Deviation(DeviationKind.IMAGE_WITHOUT_COLUMNS)
    return Deviation(DeviationKind.IMAGE_SURPLUS, side)


def _deviation_of_value(finding: Finding, case: Case, elsewhere: bool) -> Deviation:
    """How a wrong value or a wrong NULL deviates: by its relation to what is expected in the cell,
    or elsewhere in the message.
    """
    cell = cell_of(finding, case)
    relation = relation_of(finding, case, elsewhere=elsewhere)
    kind = relation.kind if relation else None
    if finding.aspect is Aspect.NULL:
        if cell is None or cell.state is not State.NULL:
            return NULL
        if kind in (RelationKind.OTHER_IMAGE, RelationKind.EARLIER_ROW):
            return replace(NOT_NULL, relation=relation)
        return SWAPPED if kind is RelationKind.OTHER_COLUMN else NOT_NULL
    if kind is RelationKind.OTHER_ROW:
        return SHUFFLED
    if kind is RelationKind.OTHER_COLUMN:
        return SWAPPED
    if kind is not RelationKind.OTHER_IMAGE and cell is not None:
        family = _wrong_family(finding, cell)
        if family:
            relation = Relation(RelationKind.COMES_AS, name=family)
    return Deviation(DeviationKind.VALUE_WRONG, relation=_without_lengths(relation))


def _wrong_family(finding: Finding, cell: Cell) -> str:
    """The family of the Spark type that came, if values of the column's type are not accepted in
    it; "" if they are, or no typed value came.
    """
    family = _family_that_came(finding)
    return family if family and family not in ACCEPTED[cell.type.logical] else ""


def _family_that_came(finding: Finding) -> str:
    """The family of the Spark type of the value that came; "" at level one (cells as texts without
    a type), and for NULL.
    """
    return finding.came.family if isinstance(finding.came, Typed) else ""


def _without_lengths(relation: Relation | None) -> Relation | None:
    """A CUT relation without its length, so that cuts after different numbers of characters count
    as the same deviation; any other relation as it is.
    """
    if relation is not None and relation.kind is RelationKind.CUT:
        return widen_relation(relation)
    return relation


def without_chance(
    failings: Sequence[tuple[Deviation, Failing]], index: RunIndex
) -> list[tuple[Deviation, Failing]]:
    """The failing units with their deviations, corrected where it is chance that a wrong value is
    that of another image, row or column: too few values are. Where values of several families come
    as texts, all wrong values that are texts get that deviation.
    """
    families: dict[Deviation, Counter[str]] = defaultdict(Counter)
    for deviation, failing in failings:
        families[deviation][failing.family] += 1
    wrong_by_family = Counter[str]()
    for deviation, counts in families.items():
        if deviation.is_wrong_value or _is_elsewhere(deviation):
            wrong_by_family.update(counts)
    for deviation, failing in failings:
        if deviation not in (NULL, WRONG):
            continue
        image = Deviation(
            DeviationKind.VALUE_WRONG,
            relation=Relation(RelationKind.OTHER_IMAGE, name=OTHER_SIDE[failing.finding.side]),
        )
        came_as_in_other = deviation == NULL and came_as_in_other_image(failing)
        if image in families and (came_as_in_other or is_other_value_unknown(failing)):
            families[image][failing.family] += 1
    by_chance = {
        deviation
        for deviation, counts in families.items()
        if _is_by_chance(deviation, counts, wrong_by_family, index)
    }
    all_as_text = len(families[_AS_TEXT]) >= FAMILIES
    decided: list[tuple[Deviation, Failing]] = []
    for_null = sum((counts for each, counts in families.items() if each.is_for_null), Counter())
    by_chance |= {
        deviation
        for deviation, counts in families.items()
        if deviation.is_for_null and counts.total() < NEARLY * for_null.total()
    }
    for deviation, failing in failings:
        if deviation in by_chance:
            deviation = deviation_of(failing.finding, failing.result.case, elsewhere=False)
        is_other_type = deviation.is_wrong_value and failing.family not in _TEXTS
        if all_as_text and is_other_type and _family_that_came(failing.finding) == "string":
            deviation = _AS_TEXT
        decided.append((deviation, failing))
    return decided


def _is_by_chance(
    deviation: Deviation,
    counts: Mapping[str, int],
    wrong_by_family: Mapping[str, int],
    index: RunIndex,
) -> bool:
    """Whether values that seem to be those of another image, row or column are so by chance.
    `counts` are the units with the deviation by family of types, `wrong_by_family` all wrong ones.

    It is no chance if they are nearly all wrong values of some family, or if they are of enough
    families: FAMILIES for another image, 2 for another row or column, or, if the run has fewer, all
    families that can show it (those in UPDATEs, in messages of several rows, in any row).
    """
    if not _is_elsewhere(deviation):
        return False
    if any(number >= NEARLY * wrong_by_family[family] for family, number in counts.items()):
        return False
    if deviation == SHUFFLED:
        return len(counts) < min(2, len(index.families_with(("several",))))
    if deviation == SWAPPED:
        return len(counts) < min(2, len(index.families_with(("any",))))
    return len(counts) < min(FAMILIES, len(index.families_with(("op", Op.UPDATE.value))))


def _is_elsewhere(deviation: Deviation) -> bool:
    """Whether the deviation says that a value is the right one of another row, column or image."""
    return deviation in (SHUFFLED, SWAPPED) or deviation.is_of_other_image
