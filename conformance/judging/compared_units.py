"""What a finding is about, looked up in its case: the change, the cell, the rows that were refused,
and the cells that a row owes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from conformance.judging.findings import DECODING, Finding
from generators.model import SIDES, Case, Cell, Change, Kind, Logical, Side, SourceType

ORDINARY_TAGS: Final = frozenset({"boundary", "drawn"})
"""Tags that say nothing of a message."""


class ExpectedCell(NamedTuple):
    """A cell that a row should have, with its image and column."""

    side: Side
    column: str
    cell: Cell


def cells(change: Change, level: int) -> Iterator[ExpectedCell]:
    """The expected cells of both images of a row, as a decoder owes them at the level: texts at
    level one, typed values at level two.
    """
    for side in SIDES:
        for column, cell in (change.image(side, level) or {}).items():
            yield ExpectedCell(side, column, cell)


def change_of(finding: Finding, case: Case) -> Change | None:
    """The expected change whose row a finding is about; the message's first change if no change has
    that row's number, None if it owes nothing.
    """
    changes = changes_of_message(finding, case)
    return next(
        (change for change in changes if change.row == finding.row), changes[0] if changes else None
    )


def cell_of(finding: Finding, case: Case) -> Cell | None:
    """The expected cell that a finding is about; None for a finding on something else."""
    change = change_of(finding, case)
    if change is None or finding.column is None or finding.side not in ("before", "after"):
        return None
    return (change.image(finding.side, case.level) or {}).get(finding.column)


def changes_of_message(finding: Finding, case: Case) -> tuple[Change, ...]:
    """The expected changes of the message that a finding is about; none if the case has no such
    message.
    """
    return case.written[finding.message].changes if finding.message < len(case.written) else ()


def op_of(change: Change | None) -> str:
    """The op of a change, "" if it has none or there is no change."""
    return (change.op or "") if change is not None else ""


def find_refused_rows(finding: Finding, case: Case) -> list[Change]:
    """The row changes that a refusal is about: of the message, or of the whole case if decoding
    raised; [] if it has none.
    """
    whole_case = finding.path == DECODING
    changes = tuple(case.changes) if whole_case else changes_of_message(finding, case)
    return [change for change in changes if change.kind is Kind.ROW]


def declared(type: SourceType) -> str:
    """A column's type as a statement declares it, with length, precision or fraction digits, and
    `unsigned`.
    """
    if type.logical is Logical.DECIMAL and type.precision is not None:
        declaration = f"{type.name}({type.precision},{type.scale})"
    elif type.logical in (Logical.BIT, Logical.TEXT, Logical.BINARY) and type.length is not None:
        declaration = f"{type.name}({type.length})"
    else:
        declaration = f"{type.name}({type.fsp})" if type.fsp else type.name
    return f"{declaration} unsigned" if type.unsigned else declaration
