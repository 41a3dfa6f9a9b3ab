"""How each source type fares in a run: right, lossy, wrong or refused, format by format."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from conformance.judging.findings import CaseResult, Verdict
from conformance.judging.results import FormatResult
from conformance.rules.rules import Aspect
from generators.model import SIDES, Cell, Kind, State


class TypeStanding(enum.StrEnum):
    """The result of the cells of a source type in a run, the worst last."""

    RIGHT = "right"
    LOSSY = "lossy"
    REFUSED = "refused"
    WRONG = "wrong"


TYPE_SIGNS: Final = {
    TypeStanding.RIGHT: "✓",
    TypeStanding.LOSSY: "~",
    TypeStanding.REFUSED: "-",
    TypeStanding.WRONG: "✗",
}
"""A sign for each standing: colours alone are not enough."""
TYPE_TONES: Final = {
    TypeStanding.RIGHT: "good",
    TypeStanding.LOSSY: "warn",
    TypeStanding.REFUSED: "warn",
    TypeStanding.WRONG: "bad",
}
"""The colour of each standing on a page."""
MEANINGS: Final = {
    TypeStanding.RIGHT: "every cell that was compared is right",
    TypeStanding.LOSSY: "right, as far as the messages tell the values: of some they do not",
    TypeStanding.REFUSED: "the decoder gave no row for some messages that hold it",
    TypeStanding.WRONG: "some cells are wrong",
}
"""What each standing says."""
_LOSSY: Final = frozenset({State.ANY, State.ONE_OF})
"""States of cells whose value the message does not tell for certain."""
_NO_ROW: Final = frozenset({Aspect.MISSING, Aspect.CORRUPT})
"""Aspects of findings on messages for which the decoder gave no row, or a CORRUPT one."""
_NO_ANSWER: Final = frozenset({Verdict.ERRORED, Verdict.TIMEOUT})
"""Verdicts on cases for which the decoder gave no rows at all."""
_IN_CELL: Final = frozenset({Aspect.PRESENCE, Aspect.NULL, Aspect.VALUE, Aspect.DIGITS})
"""Aspects of findings on a single cell."""


@dataclass(slots=True)
class TypeCount:
    """The cells of a source type in a format: how many were expected (`cells`), of how many the
    messages leave the value open (`lossy`), how many are `wrong`, and how many stand in messages
    for which the decoder gave no row (`refused`).
    """

    cells: int = 0
    lossy: int = 0
    wrong: int = 0
    refused: int = 0

    @property
    def standing(self) -> TypeStanding:
        """The worst result among the cells of the type, such as wrong or lossy."""
        if self.wrong:
            return TypeStanding.WRONG
        if self.refused:
            return TypeStanding.REFUSED
        return TypeStanding.LOSSY if self.lossy else TypeStanding.RIGHT

    @property
    def figures(self) -> str:
        """The sign of the type's worst result and how many of its cells have it, such as `✗ 3 of
        120`; of a right type only the number of cells.
        """
        standing = self.standing
        number = {
            TypeStanding.WRONG: self.wrong,
            TypeStanding.REFUSED: self.refused,
            TypeStanding.LOSSY: self.lossy,
        }.get(standing)
        total = f"{self.cells:,}"
        return f"{TYPE_SIGNS[standing]} {total if number is None else f'{number:,} of {total}'}"


@dataclass(frozen=True, slots=True)
class TypeRow:
    """A source type with its counts, one for each of a run's formats, in their order; None where no
    cell of the format has the type.
    """

    key: str
    counts: tuple[TypeCount | None, ...]

    @property
    def standing(self) -> TypeStanding:
        """The worst result that the type has in any format of the run, such as wrong or lossy."""
        standings = [count.standing for count in self.counts if count]
        return max(standings, key=list(TypeStanding).index)


_COUNTS: Final[WeakKeyDictionary[FormatResult, Mapping[str, TypeCount]]] = WeakKeyDictionary()
"""The counts of each format's result, which are made once for all reports."""


def count_types(fmt: FormatResult) -> Mapping[str, TypeCount]:
    """The counts of a format's cells by the key of their source type. They are cached as long as
    the format's result lives.
    """
    if fmt not in _COUNTS:
        counts: dict[str, TypeCount] = {}
        for result in fmt.cases:
            if result.verdict is not Verdict.UNSUPPORTED:
                _add_case(counts, result)
        _COUNTS[fmt] = counts
    return _COUNTS[fmt]


def _add_case(counts: dict[str, TypeCount], result: CaseResult) -> None:
    """Counts each expected cell of a case under its source type. A cell is refused if the case
    errored or timed out or the cell's message got no row or a CORRUPT one; otherwise wrong if a
    finding is on it.
    """
    has_no_answer = result.verdict in _NO_ANSWER
    without_row = {finding.message for finding in result.findings if finding.aspect in _NO_ROW}
    wrong_cells = {
        (finding.message, finding.row, finding.side, finding.column)
        for finding in result.findings
        if finding.aspect in _IN_CELL and finding.column is not None
    }
    for place, cell in _cells(result):
        count = counts.setdefault(cell.type.key, TypeCount())
        count.cells += 1
        count.lossy += cell.state in _LOSSY
        if has_no_answer or place.message in without_row:
            count.refused += 1
        elif place in wrong_cells:
            count.wrong += 1


class _CellPlace(NamedTuple):
    """Where an expected cell stands: the index of its message in the case, the row of the message,
    the image (before or after) and the column.
    """

    message: int
    row: int
    side: str
    column: str


def _cells(result: CaseResult) -> Iterator[tuple[_CellPlace, Cell]]:
    """The expected cells in the row changes of a case, each with its place. Left out are cells that
    the messages do not hold, and changes for which any rows are right (`anything`).
    """
    for number, written in enumerate(result.case.written):
        for change in written.changes:
            if change.kind is not Kind.ROW or change.anything:
                continue
            for side in SIDES:
                image = change.image(side, result.case.level) or {}
                for column, cell in image.items():
                    if cell.state is not State.ABSENT:
                        yield _CellPlace(number, change.row, side, column), cell


def type_matrix(formats: Sequence[FormatResult]) -> list[TypeRow]:
    """A row for each source type of a run: the types with the worst results first, then by name."""
    by_format = [count_types(fmt) for fmt in formats]
    keys = sorted(set[str]().union(*by_format))
    type_rows: list[TypeRow] = []
    for key in keys:
        type_rows.append(TypeRow(key, tuple(counts.get(key) for counts in by_format)))
    worst_first = list(reversed(TypeStanding))
    return sorted(type_rows, key=lambda type_row: worst_first.index(type_row.standing))


def summarize_types(type_rows: Iterable[TypeRow]) -> str:
    """In words: the column types whose cells are not all right, by their result (lossy, refused,
    wrong), and how many types are right; "" if all are.
    """
    by_standing: dict[TypeStanding, list[str]] = {}
    for type_row in type_rows:
        by_standing.setdefault(type_row.standing, []).append(type_row.key)
    parts = [
        f"{TYPE_SIGNS[standing]} {standing}: {', '.join(keys)}"
        for standing, keys in by_standing.items()
        if standing is not TypeStanding.RIGHT
    ]
    if not parts:
        return ""
    right_types = len(by_standing.get(TypeStanding.RIGHT, ()))
    return "; ".join([*parts, f"{TYPE_SIGNS[TypeStanding.RIGHT]} right: {right_types} types"])
