"""What is wrong in each place of a format's findings, as one of a closed list of deviations.

A deviation has a kind (the row is lost, the image is missing, the value is wrong ...), the name
that it needs (a side, a column, a kind) and, for a wrong value, its relation to the right one. What
is one fault in several cells of a row, or of a family of types, becomes one deviation here;
`conformance.judging.mistakes` looks for what the units with a deviation share.
"""

from __future__ import annotations

import enum
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from conformance.judging.causes import relation_of
from conformance.judging.compare import ACCEPTED, Typed
from conformance.judging.compared_units import cell_of, change_of
from conformance.judging.findings import NOT_THERE, CaseResult, Finding
from conformance.judging.index import (
    NEARLY,
    POPULATIONS_OF_FIELDS,
    Failing,
    PopulationName,
    RunIndex,
    Unit,
)
from conformance.judging.relations import (
    Relation,
    RelationKind,
    generalize_relation,
    widen_relation,
)
from conformance.judging.relations_of_cells import possible_relations
from conformance.judging.relations_of_fields import relate_fields
from conformance.judging.trait_sorts import Trait
from conformance.judging.wording import of_type, value
from conformance.rules.rules import Aspect
from generators.model import OTHER_SIDE, Case, Cell, Change, Kind, Logical, Op, State


class DeviationKind(enum.StrEnum):
    """What is wrong in one place. The values are the keys of [deviations] in wording.toml."""

    ROW_LOST = "row-lost"
    ROW_REFUSED = "row-refused"
    ROW_SURPLUS = "row-surplus"
    ROW_REPEATED = "row-repeated"
    ROW_NUMBER_NULL = "row-number-null"
    ROW_NUMBER_WRONG = "row-number-wrong"
    OTHER_OP = "other-op"
    OTHER_KIND = "other-kind"
    OP_IN_OTHER_LETTERS = "op-in-other-letters"
    FIELD_WRONG = "field-wrong"
    IMAGE_SURPLUS = "image-surplus"
    IMAGE_MISSING = "image-missing"
    IMAGE_ON_OTHER_SIDE = "image-on-other-side"
    IMAGE_WITHOUT_COLUMNS = "image-without-columns"
    COLUMN_MISSING = "column-missing"
    COLUMN_SURPLUS = "column-surplus"
    VALUE_WRONG = "value-wrong"
    VALUE_NULL = "value-null"
    VALUE_FOR_NULL = "value-for-null"
    ROWS_SHUFFLED = "rows-shuffled"
    COLUMNS_SWAPPED = "columns-swapped"
    MESSAGE_VANISHES = "message-vanishes"
    DOUBTFUL_VANISHES = "doubtful-vanishes"
    MESSAGE_ACCEPTED = "message-accepted"
    ROWS_BESIDE_REFUSAL = "rows-beside-refusal"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A kind of deviation; `name` is the image's side, the envelope's column, or the kind that
    came, `relation` that of a wrong value or envelope column.
    """

    kind: DeviationKind
    name: str = ""
    relation: Relation | None = None

    @property
    def relation_kind(self) -> RelationKind | None:
        """The kind of the relation, if there is one."""
        return self.relation.kind if self.relation else None

    @property
    def is_of_cells(self) -> bool:
        """Whether its units are cells."""
        return self.kind in _OF_CELLS

    @property
    def is_of_faults(self) -> bool:
        """Whether its units are messages that cannot be read."""
        return self.kind in _OF_FAULTS

    @property
    def is_of_images(self) -> bool:
        """Whether an image as a whole is wrong."""
        return self.kind in _OF_IMAGES

    @property
    def is_of_kinds(self) -> bool:
        """Whether the kind of a row is another, or is spelled otherwise."""
        in_other_letters = self.kind is DeviationKind.OP_IN_OTHER_LETTERS and self.name == "kind"
        return self.kind is DeviationKind.OTHER_KIND or in_other_letters

    @property
    def is_of_presence(self) -> bool:
        """Whether a column is missing or too many."""
        return self.kind in (DeviationKind.COLUMN_MISSING, DeviationKind.COLUMN_SURPLUS)

    @property
    def is_of_values(self) -> bool:
        """Whether a value is wrong, NULL, or in the place of a NULL."""
        return self.kind in _OF_VALUES

    @property
    def is_wrong_value(self) -> bool:
        """Whether a value is wrong, and neither it nor what is owed is NULL."""
        return self.kind is DeviationKind.VALUE_WRONG

    @property
    def is_for_null(self) -> bool:
        """Whether a value is in the place of a NULL."""
        return self.kind is DeviationKind.VALUE_FOR_NULL

    @property
    def is_of_other_image(self) -> bool:
        """Whether values are those of the row's other image."""
        return self.is_wrong_value and self.relation_kind is RelationKind.OTHER_IMAGE

    @property
    def other_image(self) -> str:
        """The image whose values came in place of its own; "" if it is not of another image."""
        return self.relation.name if self.relation and self.is_of_other_image else ""

    @property
    def spoils_whole_rows(self) -> bool:
        """Whether a row with this deviation has other wrong cells as a consequence."""
        return self.is_of_other_image or self.kind in (
            DeviationKind.ROWS_SHUFFLED,
            DeviationKind.COLUMNS_SWAPPED,
        )

    @property
    def explains_alone(self) -> bool:
        """Whether its relation leaves nothing to explain."""
        return self.relation is not None and self.relation.explains_alone


_OF_CELLS: Final = frozenset(
    {
        DeviationKind.COLUMN_MISSING,
        DeviationKind.COLUMN_SURPLUS,
        DeviationKind.VALUE_WRONG,
        DeviationKind.VALUE_NULL,
        DeviationKind.VALUE_FOR_NULL,
        DeviationKind.ROWS_SHUFFLED,
        DeviationKind.COLUMNS_SWAPPED,
    }
)
_OF_VALUES: Final = frozenset(
    {DeviationKind.VALUE_WRONG, DeviationKind.VALUE_NULL, DeviationKind.VALUE_FOR_NULL}
)
_OF_FAULTS: Final = frozenset(
    {
        DeviationKind.MESSAGE_VANISHES,
        DeviationKind.DOUBTFUL_VANISHES,
        DeviationKind.MESSAGE_ACCEPTED,
        DeviationKind.ROWS_BESIDE_REFUSAL,
    }
)
_OF_IMAGES: Final = frozenset(
    {
        DeviationKind.IMAGE_MISSING,
        DeviationKind.IMAGE_SURPLUS,
        DeviationKind.IMAGE_WITHOUT_COLUMNS,
    }
)
OF_OPS: Final = frozenset(
    {DeviationKind.OTHER_OP, DeviationKind.OTHER_KIND, DeviationKind.OP_IN_OTHER_LETTERS}
)
"""Deviations of a row's kind or op."""
WRONG: Final = Deviation(DeviationKind.VALUE_WRONG)
SHUFFLED: Final = Deviation(DeviationKind.ROWS_SHUFFLED)
SWAPPED: Final = Deviation(DeviationKind.COLUMNS_SWAPPED)
NULL: Final = Deviation(DeviationKind.VALUE_NULL)
NOT_NULL: Final = Deviation(DeviationKind.VALUE_FOR_NULL)
"""A value for NULL that is not known to be the other image's."""
MISSING_COLUMN: Final = Deviation(DeviationKind.COLUMN_MISSING)
SURPLUS_COLUMN: Final = Deviation(DeviationKind.COLUMN_SURPLUS)
OTHER_OP: Final = Deviation(DeviationKind.OTHER_OP)
_KIND_IN_OTHER_LETTERS: Final = Deviation(DeviationKind.OP_IN_OTHER_LETTERS, "kind")
_OP_IN_OTHER_LETTERS: Final = Deviation(DeviationKind.OP_IN_OTHER_LETTERS, "op")
_AS_TEXT: Final = Deviation(
    DeviationKind.VALUE_WRONG, relation=Relation(RelationKind.COMES_AS, name="string")
)
_OF_ROWS: Final = {
    Aspect.MISSING: Deviation(DeviationKind.ROW_LOST),
    Aspect.EXTRA: Deviation(DeviationKind.ROW_SURPLUS),
    Aspect.CORRUPT: Deviation(DeviationKind.ROW_REFUSED),
}

ByDeviation: TypeAlias = Mapping[Deviation, dict[Unit, Failing]]

FAMILIES: Final = 3
"""Families of types of which a relation is no chance."""
SEVERAL: Final = 3
"""Cases of which what they have in common is no chance."""
REST: Final = 0.1
"""Share of a mistake's units that what no trait explains has at most, to be its rest."""
_TEXTS: Final = frozenset({Logical.TEXT.value, Logical.JSON.value})


def deviation_of(finding: Finding, case: Case, *, elsewhere: bool = True) -> Deviation:
    """What is wrong; `elsewhere` is false where it is by chance that another image or row holds the
    value.
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
    """How the wrong kind or op of a row differs from those that are accepted: in the case of its
    letters alone, a kind (with the one that came), or another op.
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


def spell_op(came: object) -> str:
    """The op or kind that came, as a sentence tells it."""
    return "NULL" if came is None else str(came)


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
    """The family of the Spark type that came, if no value of the column's type may be of it; else
    "".
    """
    family = _family_that_came(finding)
    return family if family and family not in ACCEPTED[cell.type.logical] else ""


def _family_that_came(finding: Finding) -> str:
    return finding.came.family if isinstance(finding.came, Typed) else ""


def _without_lengths(relation: Relation | None) -> Relation | None:
    """The relation without the length of a cut, so that cuts after different numbers of characters
    are the same; other relations stay.
    """
    if relation is not None and relation.kind is RelationKind.CUT:
        return widen_relation(relation)
    return relation


def without_chance(
    failings: Sequence[tuple[Deviation, Failing]], index: RunIndex
) -> list[tuple[Deviation, Failing]]:
    """The failing units with their deviations, corrected where a relation is mere chance: few wrong
    values equal a value of another image or row. Where values of several families come as texts,
    all that come as texts get that deviation.
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
        came_as_in_other = deviation == NULL and _came_as_in_other_image(failing)
        if image in families and (came_as_in_other or _is_other_value_unknown(failing)):
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
    """Whether it is by chance that values of so few families, and few of those that are wrong, are
    another image's, row's or column's.
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
    return deviation in (SHUFFLED, SWAPPED) or deviation.is_of_other_image


def population_of(deviation: Deviation) -> PopulationName:
    """The population (values, NULLs, rows, unreadable messages ...) among whose units a deviation
    is explained.
    """
    if deviation.is_of_other_image:
        return "there-before" if deviation.other_image == "after" else "there-after"
    if deviation.is_of_values:
        return "nulls" if deviation.is_for_null else "values"
    if deviation == SURPLUS_COLUMN:
        return "absent"
    if deviation.is_of_faults:
        return "faults"
    if deviation.kind is DeviationKind.IMAGE_MISSING:
        return "rows-with-before" if deviation.name == "before" else "rows-with-after"
    if deviation.kind is DeviationKind.FIELD_WRONG:
        comes_as_null = deviation.relation_kind is RelationKind.COMES_AS
        of_fields = POPULATIONS_OF_FIELDS if comes_as_null else {}
        return of_fields.get(deviation.name, "rows-with-fields")
    return "there" if deviation.is_of_cells else "rows"


def unify_row_numbers(
    failings: Sequence[tuple[Deviation, Failing]],
) -> Iterator[tuple[Deviation, Failing]]:
    """The deviations, where a message lacks rows and has as many others, whose numbers none of its
    rows has: these are its rows, with wrong numbers.
    """
    lost_by_message: dict[Unit, list[Failing]] = defaultdict(list)
    surplus_numbers: dict[Unit, tuple[int | None, ...]] = {}
    for deviation, failing in failings:
        if deviation.kind is DeviationKind.ROW_LOST:
            lost_by_message[failing.unit[:2]].append(failing)
            surplus_numbers |= _surplus_numbers(failing.result)
    for deviation, failing in failings:
        message = failing.unit[:2]
        lost_rows = lost_by_message.get(message, [])
        numbers = surplus_numbers.get(message, ())
        is_renumbered = bool(lost_rows) and len(lost_rows) == len(numbers)
        if not is_renumbered or deviation.kind not in _OF_ROW_NUMBERS:
            yield deviation, failing
            continue
        is_null = set(numbers) == {None}
        kind = DeviationKind.ROW_NUMBER_NULL if is_null else DeviationKind.ROW_NUMBER_WRONG
        # No change is owed for a surplus row: it has the traits of a row that it stands for.
        is_owed = deviation.kind is DeviationKind.ROW_LOST
        traits = failing.traits if is_owed else lost_rows[0].traits
        yield Deviation(kind), replace(failing, traits=traits)


def _surplus_numbers(result: CaseResult) -> Mapping[Unit, tuple[int | None, ...]]:
    """The numbers of the rows that nobody owes, by case and message, whatever the rule that they
    break binds.
    """
    return {
        (result.case.id, finding.message): finding.came
        for finding in result.findings
        if finding.aspect is Aspect.EXTRA and finding.came
    }


_OF_ROW_NUMBERS: Final = frozenset({DeviationKind.ROW_LOST, DeviationKind.ROW_SURPLUS})
"""What rows with wrong numbers look like: rows that are lost, and others that nobody owes."""


def unify_rows(
    failings: Sequence[tuple[Deviation, Failing]],
) -> Iterator[tuple[Deviation, Failing]]:
    """The deviations, where what is wrong in an image as a whole is one: a column under another
    name, cells of other columns, cells of other rows.
    """
    images: dict[Unit, dict[Deviation, list[Failing]]] = defaultdict(lambda: defaultdict(list))
    for deviation, failing in failings:
        images[failing.unit[:4]][deviation].append(failing)
    swapped = {
        unit
        for unit, by_deviation in images.items()
        if by_deviation[SWAPPED] and _are_swapped(by_deviation)
    }
    in_several_cases = len({unit[0] for unit in swapped}) >= SEVERAL
    with_wrong_values = {
        failing.unit[:4]
        for deviation, failing in failings
        if deviation.is_of_values or deviation == SWAPPED
    }
    most = in_several_cases and len(swapped) >= NEARLY * len(with_wrong_values)
    # Of 1 and -1 under each other's names each may seem to have lost its sign.
    alike_swapped = {
        unit for unit, by_deviation in images.items() if most and _are_swapped(by_deviation)
    }
    shuffled = {failing.unit[:2] for deviation, failing in failings if deviation == SHUFFLED}
    for deviation, failing in failings:
        by_deviation = images[failing.unit[:4]]
        is_swapped = in_several_cases and failing.unit[:4] in swapped
        may_be_swapped = most and (
            bool(by_deviation[SWAPPED])
            or not deviation.explains_alone
            or failing.unit[:4] in alike_swapped
        )
        if deviation == SURPLUS_COLUMN and by_deviation[MISSING_COLUMN]:
            yield MISSING_COLUMN, replace(failing, traits=by_deviation[MISSING_COLUMN][0].traits)
        elif deviation.is_of_values and (is_swapped or may_be_swapped):
            yield SWAPPED, failing
        elif failing.unit[:2] in shuffled and (
            deviation in _IN_SHUFFLED_ROWS or deviation.is_for_null
        ):
            yield SHUFFLED, failing
        elif deviation == SWAPPED and not is_swapped:
            yield (NOT_NULL if failing.finding.aspect is Aspect.NULL else WRONG), failing
        else:
            yield deviation, failing


def unify_doubtful(
    failings: Iterable[tuple[Deviation, Failing]],
) -> list[tuple[Deviation, Failing]]:
    """The deviations, where messages that may be read or refused vanish as unreadable ones do: it
    is one mistake.
    """
    vanishes = Deviation(DeviationKind.MESSAGE_VANISHES)
    listed = list(failings)
    if not any(deviation == vanishes for deviation, _ in listed):
        return listed
    return [
        (vanishes if deviation.kind is DeviationKind.DOUBTFUL_VANISHES else deviation, failing)
        for deviation, failing in listed
    ]


_IN_SHUFFLED_ROWS: Final = (NULL, WRONG, MISSING_COLUMN)
"""How cells are wrong in rows that have each other's values, beside those with another row's and
those with a value for NULL.
"""


def _are_swapped(by_deviation: Mapping[Deviation, Sequence[Failing]]) -> bool:
    """Whether of an image's cells with other values, which are several, half hold what others of
    them should.
    """
    expected_counts, actual_counts = Counter[str](), Counter[str]()
    for deviation, failings in by_deviation.items():
        for failing in failings if deviation.is_of_cells else ():
            owed_value, value_that_came = spell_owed(failing), spell_came(failing)
            if owed_value != value_that_came:
                expected_counts[owed_value] += 1
                actual_counts[value_that_came] += 1
    return (
        expected_counts.total() > 1
        and 2 * (expected_counts & actual_counts).total() >= expected_counts.total()
    )


def spell_owed(failing: Failing) -> str:
    """What is owed, spelled as a decoder's value would be: equal values have equal spellings."""
    cell = cell_of(failing.finding, failing.result.case)
    return value(None) if cell is None else spell_cell(cell, failing.result.case.level)


def spell_cell(cell: Cell, level: int) -> str:
    """An owed cell, spelled as a decoder's value would be; without a value as NULL."""
    if cell.state is not State.VALUE:
        return value(None)
    return value(cell.text) if level == 1 else of_type(cell.type, cell.value)


def spell_came(failing: Failing) -> str:
    """The decoder's wrong value as text; a missing column is spelled as NULL."""
    came = failing.finding.came
    return value(None if came is NOT_THERE else came)


def unify_other_images(by_deviation: ByDeviation) -> dict[Deviation, dict[Unit, Failing]]:
    """The failing units by deviation, after some have moved: a wrong NULL, value or missing column
    that is just what the row's other image has counts as "the other image's", if the run has that
    deviation on the same side of the same operation. None moves where columns are shuffled.
    """
    sides: dict[tuple[str, Op | None], Deviation] = {}
    places: dict[Deviation, frozenset[Trait]] = {}
    if SHUFFLED not in by_deviation:
        for deviation, units in by_deviation.items():
            if deviation.is_of_other_image and units:
                shared = frozenset.intersection(*(failing.traits for failing in units.values()))
                places[deviation] = shared & _OF_KEYS
                sides |= {_side_and_op(failing): deviation for failing in units.values()}
    unified: dict[Deviation, dict[Unit, Failing]] = defaultdict(dict)
    for deviation, units in by_deviation.items():
        may_move = (
            deviation.is_of_cells or deviation.is_of_images
        ) and not deviation.is_wrong_value
        is_unrelated = deviation.is_wrong_value and deviation.relation is None
        for unit, failing in units.items():
            of_image = sides.get(_side_and_op(failing))
            if of_image and (may_move or is_unrelated) and _is_other_value_unknown(failing):
                # Whatever came may be the other image's, if that is so of such columns.
                traits = failing.traits | places[of_image]
                is_at_place = bool(places[of_image] & failing.traits)
                moved = replace(failing, traits=traits) if is_at_place else failing
                unified[of_image if is_at_place else deviation][unit] = moved
            elif of_image and may_move and _came_as_in_other_image(failing):
                unified[of_image][unit] = failing
            else:
                unified[deviation][unit] = failing
    return unified


_OF_KEYS: Final = frozenset({("key",), ("changed-key",), ("plain",)})
"""Traits on whether a column is one of the key."""


def _is_other_value_unknown(failing: Failing) -> bool:
    """Whether anything is right in the row's other image where a cell fails."""
    finding, case = failing.finding, failing.result.case
    change = change_of(finding, case)
    image = change.image(OTHER_SIDE[finding.side], case.level) if change and finding.side else None
    cell = (image or {}).get(finding.column or "")
    return cell is not None and cell.state is State.ANY


def _side_and_op(failing: Failing) -> tuple[str, Op | None]:
    """The image (before or after) that a finding is on, and the operation of its row."""
    change = change_of(failing.finding, failing.result.case)
    return failing.finding.side, change.op if change else None


def _came_as_in_other_image(failing: Failing) -> bool:
    """Whether what came where a unit fails (a cell, or the whole image) is NULL, a value or not
    there, just as what the row's other image owes.
    """
    finding, case = failing.finding, failing.result.case
    change = change_of(finding, case)
    image = change.image(OTHER_SIDE[finding.side], case.level) if change else None
    cell = (image or {}).get(finding.column or "")
    if finding.aspect is Aspect.IMAGE:
        return (image is None) == (finding.came is None)
    if finding.aspect is Aspect.PRESENCE:
        return (cell is None or cell.state is State.ABSENT) == (finding.came is NOT_THERE)
    voids = (State.NULL, State.ABSENT) if case.level == 2 else (State.NULL,)
    return cell is not None and (cell.state in voids) == (finding.came is None)


def unify_families(by_deviation: ByDeviation) -> dict[Deviation, dict[Unit, Failing]]:
    """The failing units by deviation, with the deviations of one family of types (or of one
    envelope column) made one: with the relation that nearly all of them have, or else with none.
    Relations that are mistakes of their own (such as lost characters) and value classes that are
    wrong in another way stay apart.
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
    for of_family in map(_unify_possible, families.values()):
        for deviation, failing in _unify_family(_generalize(of_family), families):
            unified[deviation][failing.unit] = failing
    return unified


def _unify_possible(
    of_family: Mapping[Deviation, list[Failing]],
) -> Mapping[Deviation, list[Failing]]:
    """The deviations of one family's values; with one relation that has a number (the lowest bits,
    a thousandth ...) for nearly all of them, if it is possible for all these, and the likeliest one
    for some: that all bits of a value are set, or none is, shows no width.
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
    """Every relation, such as "a thousandth" or "the lowest 32 bits", that a wrong value may have
    to the right one; none for a deviation of another kind.
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
    """The deviations of one family's values, each with its failing units."""
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
    """The widest deviation that others have, too, of those with its relation widened once or more
    (`widen_relation`); the deviation itself if there is none.
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
    """Whether so many values of a family have the deviation's relation that it is a mistake of its
    own and no chance.
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
    """Whether the value class of a failing value is a mistake of its own: values of it fail in
    several cases, and none of them fails as most other values (`most`) do.
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
