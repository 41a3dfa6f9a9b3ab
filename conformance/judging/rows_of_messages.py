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
    """The relation that says that in all of these cells or rows came what the last row of their
    message owes: LAST_ROW_ALONE if the other rows are also lost, LAST_ROW if each row came with its
    values. None if that is not so of all.
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
    """Whether just one row came for the message of a failing unit: all other rows of the message
    are lost.
    """
    case, message = failing.result.case, failing.finding.message
    lost_rows = {
        finding.row
        for finding in failing.result.findings
        if finding.message == message and finding.aspect is Aspect.MISSING
    }
    return len(lost_rows) == len(changes_of_message(failing.finding, case)) - 1


def is_other_value_unknown(failing: Failing) -> bool:
    """Whether the row's other image may have any value in the column of a failing cell, so that
    nothing can be told from it.
    """
    finding, case = failing.finding, failing.result.case
    change = change_of(finding, case)
    image = change.image(OTHER_SIDE[finding.side], case.level) if change and finding.side else None
    cell = (image or {}).get(finding.column or "")
    return cell is not None and cell.state is State.ANY


def came_as_in_other_image(failing: Failing) -> bool:
    """Whether what came where a unit fails (a cell, or a whole image) fits what the row's other
    image owes there: NULL if that is NULL, a value if it has one, not there if it is absent.
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
