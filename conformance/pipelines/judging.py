"""Judges the tables that a pipeline left after each stage of a stream: the last one is the
source's, and none shows a row as it was before what an earlier one showed.

`conformance.pipelines.causes` says which rule a difference breaks, and which message tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from conformance.pipelines.causes import Causes, Difference
from conformance.pipelines.histories import KeptVersion, RowHistory
from conformance.pipelines.missed import MissedChanges
from conformance.pipelines.reach import reached_rules
from conformance.pipelines.results import PipelineResult
from conformance.pipelines.rows import OwnTypes, TypedRow, is_same, unaccepted, value_text
from conformance.pipelines.snapshots import Snapshot
from conformance.pipelines.timeline import (
    Reader,
    Version,
    arrivals_of,
    doubtful_keys,
    is_spoiled,
    key_text,
    timelines_of,
)
from conformance.streams.recipes import ReadStream
from generators.drawing.streams import Key
from generators.model import Cell, RowChange, SchemaChange

NEVER_FILLED: Final = (
    "the table had no row after any batch: does the pipeline read the messages? A type that"
    " from_json does not find in them gives NULL"
)
"""The difference of a pipeline whose table never had a row."""


class _SortedRows(NamedTuple):
    """The rows of a snapshot by their key, and those whose key no row of the source ever had."""

    by_key: dict[Key, list[TypedRow]]
    unknown: list[TypedRow]


class Judge:
    """Judges a pipeline on one stream. `snapshots` are its table after each stage of the stream;
    `claims` are the types in which it keeps columns on purpose (its TYPES).
    """

    def __init__(
        self, fmt: str, stream: ReadStream, snapshots: Sequence[Snapshot], claims: OwnTypes
    ) -> None:
        self.fmt, self.stream, self.snapshots, self.claims = fmt, stream, snapshots, claims
        self.story = stream.story
        self.timelines = timelines_of(self.story, compacted=stream.nemesis.compacted)
        self.reader = Reader(self.story, tuple(arrivals_of(stream.stages)))
        self.doubtful = doubtful_keys(self.story)
        self.missed_changes = MissedChanges(self)

    def judge(self) -> PipelineResult:
        """Compares the tables after all stages, and the history that the pipeline keeps, with the
        source, and returns the result with all differences.
        """
        result = PipelineResult(
            self.fmt,
            self.stream.profile.name,
            self.stream.nemesis.name,
            self.stream.table,
            rows=len(self.story.rows),
            messages=len(self.reader.arrivals),
            repeats=sum(arrival.repeated for arrival in self.reader.arrivals),
            reached=reached_rules(
                self.stream,
                self.timelines,
                self.reader.arrivals,
                has_history=self.snapshots[-1].history is not None,
            ),
        )
        if self.story.rows and not any(snapshot.rows for snapshot in self.snapshots):
            result.differ("convergence", NEVER_FILLED)
        for difference in self._column_differences():
            result.differ(*difference)
        wrong: set[Key] = set()
        for key, versions in self.timelines.items():
            if key in self.doubtful:
                continue
            for difference in self._row_differences(key, versions):
                result.differ(*difference)
                wrong.add(key)
        for row in self.unknown:
            what = f"a row is there that never was: {self._key_text(row)}"
            result.differ("convergence", what)
        for key, versions in self.timelines.items():
            if key not in wrong and key not in self.doubtful:
                for difference in self._way_back(key, versions):
                    result.differ(*difference)
        for difference in self._histories():
            result.differ(*difference)
        self._check_unreadable(result)
        if result.broken:
            result.notes += self._idle_batches()
        for column, kind in self.claimed.items():
            result.notes.append(f"column {column} is kept as {kind} on purpose (TYPES)")
        return result

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """The columns of the key, in lower case."""
        return tuple(name.lower() for name in self.story.table.primary_key)

    @cached_property
    def claimed(self) -> dict[str, str]:
        """The columns that the pipeline says, in its constant TYPES, to keep in another type on
        purpose, each with that type.
        """
        kinds = {c.name: self.claims.kind_of(c.name) for c in self.story.table.columns}
        return {name: kind for name, kind in kinds.items() if kind}

    @cached_property
    def families(self) -> dict[str, str]:
        """The columns whose values in the last table are of a type that no right value has, each
        with that type; types that the pipeline claims on purpose are accepted.
        """
        return unaccepted(self.story.table, self.snapshots[-1].rows, self.claims)

    @cached_property
    def compared(self) -> frozenset[str]:
        """The columns whose cells are compared, in lower case."""
        there = self.snapshots[-1].columns
        names = (c.name for c in self.story.table.columns if c.name not in self.families)
        return frozenset(name.lower() for name in names if name.lower() in there)

    @cached_property
    def dropped(self) -> frozenset[str]:
        """The columns that a statement dropped, in lower case."""
        names: set[str] = set()
        for event in self.story.history.events:
            if isinstance(event, SchemaChange) and event.before and event.after:
                remaining = {column.name for column in event.after.columns}
                names |= {c.name.lower() for c in event.before.columns if c.name not in remaining}
        return frozenset(names)

    def _column_differences(self) -> list[Difference]:
        """The differences of the table's columns: columns that are missing, and columns that are
        kept in a type which cannot hold right values.
        """
        differences: list[Difference] = []
        for column in self.story.table.columns:
            if column.name.lower() in self.snapshots[-1].columns:
                continue
            rule = "new-column" if column.name in self.story.added_after else "columns"
            added = ", which a statement added" if rule == "new-column" else ""
            differences.append(Difference(rule, f"the table has no column {column.name}{added}"))
        for name, family in self.families.items():
            right_type = self.story.table.column(name).type.spark
            differences.append(
                Difference(
                    "types",
                    f"column {name} is kept as {family}, not as {right_type}; if that is on"
                    f' purpose, say TYPES = {{"{name}": "string"}} (or "double")',
                )
            )
        return differences

    @cached_property
    def displayed(self) -> list[dict[Key, list[TypedRow]]]:
        """The rows that the table had after each stage, by key; one entry a stage."""
        return [self._sort_by_key(snapshot.rows).by_key for snapshot in self.snapshots]

    def _idle_batches(self) -> Iterator[str]:
        """Notes on the batches that had row changes and yet left the table as it was: the pipeline
        may catch an error.
        """
        before: dict[Key, list[TypedRow]] = {}
        for stage, displayed in enumerate(self.displayed):
            has_changes = any(
                isinstance(self.story.history.events[arrival.written.message.event], RowChange)
                for arrival in self.reader.arrivals
                if arrival.stage == stage and not arrival.repeated
            )
            if has_changes and displayed == before:
                yield (
                    f"batch {stage} has changes of rows, and behind it the table is as it was"
                    " before: does the pipeline catch an error?"
                )
            before = displayed

    @cached_property
    def unknown(self) -> list[TypedRow]:
        """The rows of the last table whose key no row of the source ever had."""
        return self._sort_by_key(self.snapshots[-1].rows).unknown

    @cached_property
    def _key_cells(self) -> dict[Key, list[Cell]]:
        """The expected cells of each row's primary key, from the first version that has an image; a
        key without one is left out.
        """
        cells: dict[Key, list[Cell]] = {}
        for key, versions in self.timelines.items():
            image = next((v.image for v in versions if v.image), None)
            if image is not None:
                cells[key] = [image[name] for name in self.story.table.primary_key]
        return cells

    def _sort_by_key(self, table_rows: Iterable[TypedRow]) -> _SortedRows:
        """Sorts the rows of a snapshot by the key that they show."""
        rows: dict[Key, list[TypedRow]] = {}
        unknown: list[TypedRow] = []
        for row in table_rows:
            key = self._key_of(row)
            if key is None:
                unknown.append(row)
            else:
                rows.setdefault(key, []).append(row)
        return _SortedRows(rows, unknown)

    def _key_of(self, row: TypedRow) -> Key | None:
        """The primary key that a kept row shows, as the source has it; None if no row of the source
        ever had such a key.
        """
        return next((key for key in self._key_cells if self._has_key(row, key)), None)

    def _has_key(self, row: TypedRow, key: Key) -> bool:
        """Whether a row of the table has the values of this key in its key columns; a column that
        the pipeline keeps in another type on purpose is compared in that type.
        """
        pairs = zip(self.key_names, self._key_cells[key], strict=True)
        return all(is_same(cell, row.get(n), self.claims.kind_of(n)) for n, cell in pairs)

    def shows(self, row: TypedRow, version: Version) -> bool:
        """Whether a row of the table has the values of a version of the source's row, in the
        columns that both have.
        """
        return not self.wrong_columns(row, version)

    def wrong_columns(self, row: TypedRow, version: Version) -> list[str]:
        """The columns in which a kept row does not have the right value of a version. Columns that
        the table lacks, or keeps in a wrong type, do not count.
        """
        image = version.image or {}
        return [
            name
            for name, cell in image.items()
            if name.lower() in self.compared
            and not is_same(cell, row.get(name.lower()), self.claims.kind_of(name))
        ]

    def _row_differences(self, key: Key, versions: list[Version]) -> list[Difference]:
        """The differences of the row with this key in the last table: it is there twice, there
        although removed, missing, or has wrong cells. [] if it is right.
        """
        rows = self.displayed[-1].get(key, [])
        causes = Causes(self, key, versions)
        if len(rows) > 1:
            return [
                Difference("at-least-once", f"there are {len(rows)} rows of key {key_text(key)}")
            ]
        if versions[-1].image is None:
            return [causes.of_removed()] if rows else []
        if not rows:
            return [causes.of_missing()]
        wrong = self.wrong_columns(rows[0], versions[-1])
        return causes.of_cells(rows[0], wrong) if wrong else []

    def _way_back(self, key: Key, versions: list[Version]) -> list[Difference]:
        """The difference of the rule no-way-back: the first table that shows the row in an older
        version than an earlier table did; [] if there is none. A table without the row shows a
        removal, or -1: the row before its first version.
        """
        newest_shown = -1
        for stage, displayed in enumerate(self.displayed):
            rows = displayed.get(key, [])
            if len(rows) > 1:
                continue
            possible = [-1] if not rows else []
            possible += [
                number
                for number, version in enumerate(versions)
                if (version.image is None) is not bool(rows)
                and (not rows or self.shows(rows[0], version))
            ]
            not_older = [number for number in possible if number >= newest_shown]
            if not_older:
                newest_shown = min(not_older)
            elif possible:
                newer = self.reader.name(versions[newest_shown], key)
                older = max(possible)
                what = "not there" if older < 0 else f"as {self.reader.name(versions[older], key)}"
                return [
                    Difference(
                        "no-way-back",
                        f"row {key_text(key)} is {what} after batch {stage}, although the table had"
                        f" shown {newer}",
                    )
                ]
        return []

    def _histories(self) -> Iterator[Difference]:
        """The differences of the history that the pipeline keeps of its rows (its function
        `history`), as it is after the last stage; none if the pipeline keeps no history.
        """
        kept = self.snapshots[-1].history
        if kept is None:
            return
        by_key: dict[Key | None, list[KeptVersion]] = {}
        for version in kept:
            by_key.setdefault(self._key_of(version.row), []).append(version)
        for version in by_key.pop(None, []):
            yield Difference(
                "versions",
                f"a version is there of a row that never was: {self._key_text(version.row)}",
            )
        for key, versions in self.timelines.items():
            if key not in self.doubtful and key in self._key_cells:
                yield from RowHistory(
                    self, key, versions, by_key.get(key, []), self.stream.nemesis.compacted
                ).differences()

    def _key_text(self, row: TypedRow) -> str:
        """The key of a row of the table in words for a difference. If a part of it is NULL, the
        words name the messages that may have given such a row.
        """
        values = {name: row.get(name) for name in self.key_names}
        key_text = ", ".join(f"{name}={value_text(value)}" for name, value in values.items())
        if None in values.values():
            key_text += (
                ", as a tombstone, the missing image of a DELETE or an unreadable message gives"
            )
        return key_text

    def _check_unreadable(self, result: PipelineResult) -> None:
        """Checks that the pipeline's `errors` names each unreadable message of the stream; if the
        pipeline has no `errors`, notes how many messages nobody can account for.
        """
        spoiled = {(a.partition, a.offset) for a in self.reader.arrivals if is_spoiled(a.written)}
        reported = self.snapshots[-1].unreadable
        if not spoiled:
            return
        if reported is None:
            result.notes.append(
                f"{len(spoiled)} unreadable messages ended nothing; the pipeline has no errors(),"
                " so that nobody can say where they went"
            )
            return
        for partition, offset in sorted(spoiled - reported):
            result.differ(
                "unreadable",
                f"partition {partition}, offset {offset} is unreadable, and errors() does not"
                " tell of it",
            )


def judge(
    fmt: str, stream: ReadStream, snapshots: Sequence[Snapshot], claims: OwnTypes
) -> PipelineResult:
    """Judges the table that a pipeline kept from one stream, by the snapshots that were taken of it
    after each stage. `claims` are the columns that the pipeline keeps as another type on purpose.
    """
    return Judge(fmt, stream, snapshots, claims).judge()
