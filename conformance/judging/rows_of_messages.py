"""What came in a row beside what other rows of its message, or its other image, owe.

A decoder that keeps one row of several, or that has the values of the last one for all, shows it in
all rows of a message together.
"""

from __future__ import annotations

from collections.abc import Iterable

from conformance.judging.compared_units import change_of, changes_of_message
from conformance.judging.findings import NOT_THERE
from conformance.judging.index import Failing
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.relations_of_cells import is_value_of
from conformance.rules.rules import Aspect
from generators.model import OTHER_SIDE, Change, State


def find_last_row_for_others(failings: Iterable[Failing]) -> Relation | None:
    """Whether what the last row of their message owes came in all of these cells or rows: LAST_ROW
    where each row has its values, LAST_ROW_ALONE where all other rows are lost; else None.
    """
    listed = list(failings)
    if not all(map(_came_as_in_last_row, listed)):
        return None
    all_others_are_lost = all(map(_is_only_row_of_message, listed))
    return Relation(RelationKind.LAST_ROW_ALONE if all_others_are_lost else RelationKind.LAST_ROW)


def came_as_in_other_row(failing: Failing) -> bool:
    """Whether what came in a cell is what some other row of its message owes there, be it NULL or
    nothing.
    """
    return any(
        change.row != failing.finding.row and _came_as_owed_by(change, failing)
        for change in changes_of_message(failing.finding, failing.result.case)
    )


def _came_as_in_last_row(failing: Failing) -> bool:
    """Whether what came is what the last of several rows of the message owes there."""
    changes = changes_of_message(failing.finding, failing.result.case)
    return len(changes) > 1 and _came_as_owed_by(changes[-1], failing)


def _came_as_owed_by(change: Change, failing: Failing) -> bool:
    """Whether what came in a cell, or as the kind of a row, is what a change owes there."""
    finding, level = failing.finding, failing.result.case.level
    if finding.aspect is Aspect.KIND:
        return bool(finding.came == change.kind)
    cell = (change.image(finding.side, level) or {}).get(finding.column or "")
    if cell is None:
        return finding.came is NOT_THERE
    match cell.state:
        case State.VALUE:
            return is_value_of(cell, finding.came)
        case State.ANY:
            return True
        case State.ABSENT if level == 1:
            return finding.came is NOT_THERE
    return finding.came is None


def _is_only_row_of_message(failing: Failing) -> bool:
    """Whether one row came for the message of a unit, and all its others are lost."""
    case, message = failing.result.case, failing.finding.message
    lost_rows = {
        finding.row
        for finding in failing.result.findings
        if finding.message == message and finding.aspect is Aspect.MISSING
    }
    return len(lost_rows) == len(changes_of_message(failing.finding, case)) - 1


def is_other_value_unknown(failing: Failing) -> bool:
    """Whether anything is right in the row's other image where a cell fails."""
    finding, case = failing.finding, failing.result.case
    change = change_of(finding, case)
    image = change.image(OTHER_SIDE[finding.side], case.level) if change and finding.side else None
    cell = (image or {}).get(finding.column or "")
    return cell is not None and cell.state is State.ANY


def came_as_in_other_image(failing: Failing) -> bool:
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
