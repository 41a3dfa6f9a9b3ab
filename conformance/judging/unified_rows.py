"""Deviations that are one fault in a row or message as a whole: rows under other numbers, cells of
other columns or rows, values of the other image.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from conformance.judging.compared_units import change_of
from conformance.judging.deviations import (
    MISSING_COLUMN,
    NOT_NULL,
    NULL,
    SEVERAL,
    SHUFFLED,
    SURPLUS_COLUMN,
    SWAPPED,
    WRONG,
    ByDeviation,
    Deviation,
    DeviationKind,
    spell_came,
    spell_owed,
)
from conformance.judging.findings import CaseResult
from conformance.judging.index import (
    NEARLY,
    Failing,
    Unit,
)
from conformance.judging.rows_of_messages import (
    came_as_in_other_image,
    came_as_in_other_row,
    is_other_value_unknown,
)
from conformance.judging.trait_sorts import Trait
from conformance.rules.rules import Aspect
from generators.model import Op


def unify_row_numbers(
    failings: Sequence[tuple[Deviation, Failing]],
) -> Iterator[tuple[Deviation, Failing]]:
    """Yields the failing units with their deviations. Where a message lacks rows, and as many rows
    came under numbers that it does not owe, these are its rows: all of them then have the deviation
    that their row number is wrong, or NULL.
    """
    lost_by_message: dict[Unit, list[Failing]] = defaultdict(list)
    surplus_numbers: dict[Unit, tuple[int | None, ...]] = {}
    for deviation, failing in failings:
        if deviation.kind is DeviationKind.ROW_LOST:
            lost_by_message[failing.message_unit].append(failing)
            surplus_numbers |= _surplus_numbers(failing.result)
    for deviation, failing in failings:
        message = failing.message_unit
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
    """The row numbers (in their message) of the rows that came but are not owed, by case and
    message. Findings of rules that do not bind count too.
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
    """Yields the failing units with their deviations, where those of one image that come from one
    fault become one: a column under another name, values of other columns, values of other rows.
    """
    images: dict[Unit, dict[Deviation, list[Failing]]] = defaultdict(lambda: defaultdict(list))
    for deviation, failing in failings:
        images[failing.image_unit][deviation].append(failing)
    swapped = {
        unit
        for unit, by_deviation in images.items()
        if by_deviation[SWAPPED] and _are_swapped(by_deviation)
    }
    in_several_cases = len({case_id for case_id, *_ in swapped}) >= SEVERAL
    with_wrong_values = {
        failing.image_unit
        for deviation, failing in failings
        if deviation.is_of_values or deviation == SWAPPED
    }
    nearly_all_swapped = in_several_cases and len(swapped) >= NEARLY * len(with_wrong_values)
    # Of 1 and -1 under each other's names each may seem to have lost its sign.
    alike_swapped = {
        unit
        for unit, by_deviation in images.items()
        if nearly_all_swapped and _are_swapped(by_deviation)
    }
    shuffled = {failing.message_unit for deviation, failing in failings if deviation == SHUFFLED}
    for deviation, failing in failings:
        by_deviation = images[failing.image_unit]
        is_swapped = in_several_cases and failing.image_unit in swapped
        may_be_swapped = nearly_all_swapped and (
            bool(by_deviation[SWAPPED])
            or not deviation.explains_alone
            or failing.image_unit in alike_swapped
        )
        if deviation == SURPLUS_COLUMN and by_deviation[MISSING_COLUMN]:
            yield MISSING_COLUMN, replace(failing, traits=by_deviation[MISSING_COLUMN][0].traits)
        elif deviation.is_of_values and (is_swapped or may_be_swapped):
            yield SWAPPED, failing
        elif (
            failing.message_unit in shuffled or (shuffled and came_as_in_other_row(failing))
        ) and (deviation in _IN_SHUFFLED_ROWS or deviation.is_for_null):
            yield SHUFFLED, failing
        elif deviation == SWAPPED and not is_swapped:
            yield (NOT_NULL if failing.finding.aspect is Aspect.NULL else WRONG), failing
        else:
            yield deviation, failing


def unify_doubtful(
    failings: Iterable[tuple[Deviation, Failing]],
) -> list[tuple[Deviation, Failing]]:
    """The failing units with their deviations. If unreadable messages vanish without a row,
    messages that may be read or refused (`doubtful`) and vanish too have the same deviation.
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
"""How cells may be wrong in a message whose rows have each other's values, beside those that have
another row's value, or a value for NULL.
"""


def _are_swapped(by_deviation: Mapping[Deviation, Sequence[Failing]]) -> bool:
    """Whether the columns of an image have each other's values: several cells are wrong, and at
    least half of the wrong values are owed in others of these cells.
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
            if of_image and (may_move or is_unrelated) and is_other_value_unknown(failing):
                # Whatever came may be the other image's, if that is so of such columns.
                traits = failing.traits | places[of_image]
                is_at_place = bool(places[of_image] & failing.traits)
                moved = replace(failing, traits=traits) if is_at_place else failing
                unified[of_image if is_at_place else deviation][unit] = moved
            elif of_image and may_move and came_as_in_other_image(failing):
                unified[of_image][unit] = failing
            else:
                unified[deviation][unit] = failing
    return unified


_OF_KEYS: Final = frozenset({("key",), ("changed-key",), ("plain",)})
"""Traits on whether a column is one of the key."""


def _side_and_op(failing: Failing) -> tuple[str, Op | None]:
    """The side ("before", "after", or "" for none) of a failing unit, and the operation of its row,
    None if no row is expected.
    """
    change = change_of(failing.finding, failing.result.case)
    return failing.finding.side, change.op if change else None
