"""Where a case failed, which decides what the reduction tries first."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from conformance.judging.findings import Finding
from generators.model import Case


@dataclass(frozen=True, slots=True)
class Hint:
    """Where a case failed, by its finding: the event's number, the row in it, the column, the
    message. It decides what is tried first.
    """

    event: int = 0
    row_number: int = 0
    column: str | None = None
    message: int = 0


def find_hint(finding: Finding, case: Case) -> Hint:
    """Where the finding of a failing case lies (message, row, column), so that the reducer keeps
    that and drops the rest first.
    """
    column = finding.column
    all_columns = itertools.chain.from_iterable(table.columns for table in case.tables)
    is_column = column in {candidate.name for candidate in all_columns}
    if finding.message >= len(case.written):
        return Hint(column=column if is_column else None, message=finding.message)
    event = case.written[finding.message].message.event
    earlier_changes = sum(
        len(w.changes) for w in case.written[: finding.message] if w.message.event == event
    )
    return Hint(
        event, earlier_changes + finding.row, column if is_column else None, finding.message
    )
