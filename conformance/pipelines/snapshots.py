"""What a user's table shows after a stage of its stream."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from conformance.judging.output import typed_rows
from conformance.pipelines.histories import KeptVersion, parse_history
from conformance.pipelines.rows import TypedRow, read_arrow


@dataclass(frozen=True, slots=True)
class SnapshotFiles:
    """The Arrow files that the child writes of a pipeline's table after a stage: its rows, and, if
    the pipeline has such functions, what its `history` and `errors` return.
    """

    rows: Path
    history: Path
    errors: Path

    @classmethod
    def of_stage(cls, folder: Path, stage: int) -> SnapshotFiles:
        """The files of a stage, in a run's folder."""
        return cls(*(folder / f"{part}-{stage}.arrow" for part in ("rows", "history", "errors")))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A pipeline's table after a stage: its columns' names in lower case, and its rows.
    `unreadable` are the (partition, offset) of the messages that its `errors` reports, `history`
    the versions that its `history` returns; None if the pipeline has no such function.
    """

    columns: frozenset[str]
    rows: tuple[TypedRow, ...]
    unreadable: frozenset[tuple[int, int]] | None = None
    history: tuple[KeptVersion, ...] | None = None


def read_snapshot(files: SnapshotFiles) -> Snapshot:
    """Reads the files that the child wrote of the user's table after a stage: rows, and, if the
    pipeline has such functions, history and errors. Raises UsageError for a history without its
    interval.
    """
    table = read_arrow(files.rows)
    unreadable: frozenset[tuple[int, int]] | None = None
    if files.errors.exists():
        error_rows = read_arrow(files.errors).to_pylist()
        unreadable = frozenset((row["partition"], row["offset"]) for row in error_rows)
    history = parse_history(read_arrow(files.history)) if files.history.exists() else None
    return Snapshot(frozenset(table.column_names), tuple(typed_rows(table)), unreadable, history)
