"""Cells that do not fit their columns: a case's unfit cell in words, and whether a row nevertheless
keeps its value.
"""

from __future__ import annotations

from conformance.judging.compare import Typed, same_value
from conformance.judging.output import BEYOND, OutputRow
from conformance.judging.wording import clip
from generators.garbage.cell_faults import CellFault
from generators.model import Case, Cell, SourceType, State
from generators.wire_format import get


def bad_cell(case: Case) -> CellFault | None:
    """The fault that put an unfit value (one that the column's type cannot hold) into a cell of the
    case; None for a case with another fault or none.
    """
    if not case.fault.startswith("cell-"):
        return None
    fmt = get(case.format)
    return next(
        (cell for cell in fmt.unfit_cells(fmt.profile(case.profile)) if cell.name == case.fault),
        None,
    )


def holds_kept_value(case: Case, cell: CellFault, output_row: OutputRow) -> bool:
    """Whether the decoder's row holds exactly the unfit value (one that the column's type cannot
    hold) that the fault put into the cell. A number too large for what reads it has come as a cell
    of the family "wrong form", whose text is the number, BEYOND and the type; any other value is
    compared as one of the column's type.
    """
    type, got = _spoiled_type(case, cell), (output_row.after or {}).get(cell.column)
    if cell.kept_value is None or type is None or not isinstance(got, Typed):
        return False
    number, beyond, _ = str(got.value).partition(f" {BEYOND} ")
    if got.family == "wrong form":
        return bool(beyond) and number == str(cell.kept_value)
    return same_value(Cell(State.VALUE, type, cell.kept_value), got)


def describe_unfit_cell(case: Case, cell: CellFault) -> str:
    """The words of a finding for a value that a column cannot hold (a fault put it there): which
    column cannot hold which value.
    """
    type = _spoiled_type(case, cell)
    where = "a cell" if type is None else f"column {cell.column!r} ({type.key})"
    return (
        f"{where} cannot hold"
        f" {clip(cell.spoiled_form if isinstance(cell.spoiled_form, str) else f'bytes {cell.spoiled_form.hex()}')}"
    )


def _spoiled_type(case: Case, cell: CellFault) -> SourceType | None:
    """The type of the column whose value the fault has spoiled, from the tables of the case; None
    if no table has that column.
    """
    for table in case.tables:
        for column in table.columns:
            if column.name == cell.column:
                return column.type
    return None
