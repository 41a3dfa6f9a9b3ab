"""Judges the history that a pipeline keeps of its rows (SCD type 2): a row of the history is a
version of a row, with the interval in which it was the current one.

The ends of intervals may be times, numbers, or arrays of them: only their order counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Protocol

import pyarrow as pa

from conformance.judging.output import typed_rows
from conformance.pipelines.causes import Difference
from conformance.pipelines.rows import TypedRow
from conformance.pipelines.timeline import Reader, Version, key_text
from generators.drawing.streams import Key, Streamed
from generators.errors import UsageError
from generators.model import Image, RowChange, State

INTERVAL: Final = ("valid_from", "valid_to")
"""The columns of a history that tell when a version was current; without its end it still is."""


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A row of the history that a pipeline keeps: the values of a source row, and the interval from
    `start` to `end` in which it had them. `end` None: it still has them, the version is open.
    """

    row: TypedRow
    start: Any
    end: Any

    @property
    def place(self) -> tuple[Any, ...]:
        """What the versions of a row are sorted by: their beginning, then their end. Of two that
        begin together the open one is last.
        """
        return (self.start, self.end is None, () if self.end is None else self.end)


def parse_history(table: pa.Table) -> tuple[KeptVersion, ...]:
    """The rows that a pipeline's `history` returned, as versions with their intervals; `table` has
    its columns in lower case. Raises UsageError if a column of the interval is missing, a
    beginning is NULL, or the ends cannot be ordered.
    """
    if missing := [name for name in INTERVAL if name not in table.column_names]:
        raise UsageError(
            f"history() shows no column {', '.join(missing)}; a version has {' and '.join(INTERVAL)},"
            " NULL where it is the current one"
        )
    starts, ends = ([*map(_orderable, table.column(name).to_pylist())] for name in INTERVAL)
    rows = typed_rows(table.drop_columns(list(INTERVAL)))
    versions = tuple(KeptVersion(*fields) for fields in zip(rows, starts, ends, strict=True))
    if any(version.start is None for version in versions):
        raise UsageError(f"history() shows a version whose {INTERVAL[0]} is NULL")
    try:
        sorted(end for end in (*starts, *ends) if end is not None)
    except TypeError as error:
        types = " and ".join(f"{name} of {table.column(name).type}" for name in INTERVAL)
        raise UsageError(
            f"history() shows ends of intervals without an order: {types}; both must be of one"
            " type, and an array in them without NULL"
        ) from error
    return versions


def _orderable(value: Any) -> Any:
    """An end of an interval as a value that Python can compare: arrays and structs become
    tuples.
    """
    if isinstance(value, list):
        return tuple(map(_orderable, value))
    if isinstance(value, dict):
        return tuple(map(_orderable, value.values()))
    return value


class Judged(Protocol):
    """The stream whose rows' history is judged, and how its versions are compared."""

    story: Streamed
    reader: Reader

    @property
    def compared(self) -> frozenset[str]:
        """The columns whose cells are compared, in lower case."""

    @property
    def dropped(self) -> frozenset[str]:
        """The columns that a statement dropped: no source says what old versions show there."""

    def wrong_columns(self, row: TypedRow, version: Version) -> list[str]:
        """The columns in which a row of the history does not have the values of a version of the
        source's row.
        """


@dataclass(frozen=True, slots=True)
class RowHistory:
    """The history of one row: `kept` are the versions that the pipeline's history has, `expected`
    those that the source's row had, the oldest first. `compacted`: the topic was compacted, so that
    versions in between may be missing.
    """

    judged: Judged
    key: Key
    expected: Sequence[Version]
    kept: Sequence[KeptVersion]
    compacted: bool

    @property
    def kept_in_order(self) -> list[KeptVersion]:
        """The kept versions by their intervals."""
        return sorted(self.kept, key=lambda version: version.place)

    def differences(self) -> Iterator[Difference]:
        """The rules that the kept history of one row breaks, at most one difference of each."""
        if (open_versions := self._check_open()) is not None:
            yield open_versions
        if (overlap := self._check_overlap()) is not None:
            yield overlap
        indices = self._matching_indices()
        if (joined := self._check_gaps(indices)) is not None:
            yield joined
        if (versions := self._check_versions(indices)) is not None:
            yield versions

    def _check_open(self) -> Difference | None:
        """Checks that exactly one kept version has no end if the row exists, and none if it was
        removed. Returns the difference, or None.
        """
        count = sum(version.end is None for version in self.kept)
        last = self.expected[-1]
        if count > 1:
            return Difference("one-open", f"{self._row_name}: {count} versions are open")
        if last.image is None and count:
            return Difference(
                "one-open",
                f"{self._row_name} was removed by {self._cause_text(last)},"
                " and a version of it is open",
            )
        if last.image is not None and not count:
            return Difference(
                "one-open",
                f"{self._row_name} is there by {self._cause_text(last)}, and no version is open",
            )
        return None

    def _check_overlap(self) -> Difference | None:
        """Checks that no kept version ends before it begins, or after the next one begins. Returns
        the first difference, or None.
        """
        for version in self.kept_in_order:
            if version.end is not None and version.end < version.start:
                return Difference(
                    "no-overlap",
                    f"{self._row_name}: a version begins at {version.start} and ends before, at"
                    f" {version.end}",
                )
        for older, newer in pairwise(self.kept_in_order):
            # Two open versions break the rule one-open, not this one.
            ends_late = newer.end is not None if older.end is None else older.end > newer.start
            if ends_late:
                end = "has no end" if older.end is None else f"ends at {older.end}"
                return Difference(
                    "no-overlap",
                    f"{self._row_name}: the version from {older.start} {end}, and the next one"
                    f" begins at {newer.start}",
                )
        return None

    def _check_gaps(self, numbers: Sequence[int | None]) -> Difference | None:
        """Checks that each version in the pipeline's history ends exactly where the next one
        begins, except where the row was removed between them; returns the first difference, or
        None. `numbers` has for each version of the history the index in `expected` of the version
        with its values, or None.
        """
        for (older, newer), (low, high) in zip(
            pairwise(self.kept_in_order), pairwise(numbers), strict=True
        ):
            if older.end is None or low is None or high is None or self.compacted:
                continue
            between = [v for v in self.expected[low + 1 : high] if v.image is None]
            if older.end < newer.start and not between:
                return Difference(
                    "no-gap",
                    f"{self._row_name}: a version ends at {older.end}, and the next one,"
                    f" {self._cause_text(self.expected[high])}, begins at {newer.start};"
                    " nothing removed the row between",
                )
            if (
                older.end == newer.start
                and between
                and self._is_apart(between[0], self.expected[high])
            ):
                return Difference(
                    "no-gap",
                    f"{self._row_name} was removed by {self._cause_text(between[0])},"
                    f" and the version before lasts until {self._cause_text(self.expected[high])}",
                )
        return None

    def _check_versions(self, numbers: Sequence[int | None]) -> Difference | None:
        """Checks that the pipeline's history has each version that the row had, in the order of the
        source, and no other. Returns the first difference, or None.

        `numbers` has for each version of the history the index in `expected` of the version with
        its values; None if the row never had these values, or only before those that an earlier
        version of the history shows (`_matching_indices`).
        """
        for version, number in zip(self.kept_in_order, numbers, strict=True):
            if number is not None:
                continue
            shown_before = [
                n for n, expected in enumerate(self.expected) if self._shows(version, expected)
            ]
            what = "that the row never was"
            if shown_before:
                what = f"of {self._cause_text(self.expected[shown_before[-1]])} behind a newer one"
            return Difference(
                "versions", f"{self._row_name}: from {version.start} a version {what}"
            )
        if self.compacted:
            # The messages of the versions that are missing may be gone.
            return None
        numbers_of_kept = set(numbers)
        for number in self._distinct():
            if number not in numbers_of_kept:
                name = self._cause_text(self.expected[number])
                return Difference("versions", f"{self._row_name}: the version of {name} is missing")
        return None

    def _matching_indices(self) -> list[int | None]:
        """For each version in the pipeline's history the index in `expected` of the version with
        its values; None if no expected version has them, or only one that is older than what an
        earlier version of the history shows.
        """
        numbers: list[int | None] = []
        last = -1
        for version in self.kept_in_order:
            # A change that changes nothing may have a version of its own.
            later = range(last + 2, len(self.expected))
            candidates = [n for n in (last + 1, last, *later) if 0 <= n < len(self.expected)]
            number = next((n for n in candidates if self._shows(version, self.expected[n])), None)
            numbers.append(number)
            last = last if number is None else number
        return numbers

    def _distinct(self) -> Iterator[int]:
        """The indices in `expected` of the versions that a history must have: those that a row
        change made, and that differ in a compared column from the version before.
        """
        for number, version in enumerate(self.expected):
            if version.image is None or not isinstance(self._event(version), RowChange):
                continue
            before = self.expected[number - 1].image if number else None
            names = self.judged.compared - self.judged.dropped
            compared = {n: cell for n, cell in version.image.items() if n.lower() in names}
            if before is None or _differ(before, compared):
                yield number

    def _shows(self, kept: KeptVersion, expected: Version) -> bool:
        """Whether a kept version has the values of an expected one; columns that a statement
        dropped may have others.
        """
        if expected.image is None:
            return False
        differing = self.judged.wrong_columns(kept.row, expected)
        return {name.lower() for name in differing} <= self.judged.dropped

    def _is_apart(self, removal: Version, later: Version) -> bool:
        """Whether the removal and the later change are of different milliseconds. If not, a history
        by times cannot show a gap between them.
        """
        first, second = self._event(removal), self._event(later)
        return getattr(first, "at", None) is not None and first.at.ms != second.at.ms  # type: ignore[attr-defined]

    def _event(self, version: Version) -> object:
        """The event of the source's history that made an expected version."""
        return self.judged.story.history.events[version.event]

    def _cause_text(self, version: Version) -> str:
        """An expected version in words for a difference: its cause, its position and its first
        message.
        """
        return self.judged.reader.name(version, self.key)

    @property
    def _row_name(self) -> str:
        """The row in words for a difference."""
        return f"row {key_text(self.key)}"


def _differ(before: Image, after: Image) -> bool:
    """Whether two images of a row have different values in a column that both have. A cell that may
    have any value does not differ.
    """
    for name, cell in after.items():
        cell_before = before.get(name)
        if cell_before is None or State.ANY in (cell.state, cell_before.state):
            continue
        if (cell.state, cell.value, cell.text) != (
            cell_before.state,
            cell_before.value,
            cell_before.text,
        ):
            return True
    return False
