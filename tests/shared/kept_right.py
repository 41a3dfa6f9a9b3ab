"""The state that a keeper of tables without faults ends with: the one that stream checks compare a keeper's with."""

from __future__ import annotations

from collections import Counter

from conformance.streams.kept import Kept, expected
from conformance.streams.told import Group
from generators.garbage.nemesis import is_removed
from generators.model import Kind, State

Rows = dict[str, list[tuple[tuple[str, ...], dict[str, str | None]]]]


def right(group: Group) -> Kept:
    """The state that a keeper without faults ends with."""
    rows: Rows = {}
    corrupt, marks = set(), {}
    seen: dict[int, tuple[int, int]] = {}
    for stream in group.streams:
        story = stream.story
        for key, (number, image) in expected(story, compacted=stream.nemesis.compacted).items():
            cells = {name: cell.text for name, cell in image.items() if cell.state is not State.ABSENT}
            for name, when in story.added_after.items():
                if when > story.last[number]:
                    cells.pop(name, None)
            rows.setdefault(story.table.name, []).append((key, cells))
        counts: Counter[int] = Counter()
        for one in (one for stage in stream.stages for one in stage):
            partition = stream.first + one.message.partition
            counts[partition] += 1
            if is_removed(one.message):
                continue
            seen[partition] = seen.get(partition, (0, -1))[0] + 1, counts[partition] - 1
            for change in one.changes:
                if change.kind is Kind.CORRUPT:
                    corrupt.add((partition, counts[partition] - 1))
                if change.kind is Kind.WATERMARK and change.position is not None:
                    marks[partition] = max(marks.get(partition, 0), int(change.position))
    return Kept(rows, frozenset(corrupt), seen, marks)
