"""The changes that a pipeline's last table does not show, and what all of them have in common: one
row tells that a change is missing, all wrong rows together tell why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final, Protocol

from conformance.pipelines.rows import TypedRow
from conformance.pipelines.timeline import Reader, Version
from generators.drawing.streams import Key, Streamed
from generators.model import RowChange

SECOND_MS: Final = 1_000
"""Milliseconds of a second: a pipeline that orders changes by any of their times cannot confuse two
that were made in different seconds.
"""


class Tables(Protocol):
    """The tables that a pipeline showed of a stream after each stage, and what the source's rows
    were.
    """

    story: Streamed
    reader: Reader
    doubtful: set[Key]

    @property
    def timelines(self) -> Mapping[Key, list[Version]]:
        """What each row of the source ever was, by its key, the oldest version first."""

    @property
    def displayed(self) -> list[dict[Key, list[TypedRow]]]:
        """The rows that the table had after each stage, by key; one entry a stage."""

    def shows(self, row: TypedRow, version: Version) -> bool:
        """Whether a row of the table has the values of a version of the source's row."""


@dataclass(frozen=True)
class MissedChanges:
    """The row changes that the last table does not show, one of each wrong row, and what they have
    in common. Effects of statements (TRUNCATE, ADD COLUMN ...) are left out.
    """

    tables: Tables

    @cached_property
    def by_key(self) -> dict[Key, Version]:
        """For each wrong row of the last table, by its key, the newest row change that the table
        does not show. Left out are keys with several rows, and doubtful ones (a message of their
        row may rightly be reported as unreadable).
        """
        missed_by_key: dict[Key, Version] = {}
        for key, versions in self.tables.timelines.items():
            rows = self.tables.displayed[-1].get(key, [])
            if key in self.tables.doubtful or len(rows) > 1:
                continue
            missed = self._newest_missed(rows[0] if rows else None, versions)
            if missed is not None:
                missed_by_key[key] = missed
        return missed_by_key

    def _newest_missed(self, row: TypedRow | None, versions: Sequence[Version]) -> Version | None:
        """The newest change of this row that the table does not show, among those later than the
        version that it shows. None if the row is right, equals no version, or lacks only the effect
        of a statement such as TRUNCATE.
        """
        last = versions[-1]
        if row is None:
            missed_versions = [] if last.image is None else _life_of(versions)
        elif last.image is not None and self.tables.shows(row, last):
            missed_versions = []
        elif last.image is None:
            missed_versions = [last]
        else:
            missed_versions = self._behind_displayed(row, versions)
        changes = [v for v in missed_versions if self._row_change(v) is not None]
        return changes[-1] if changes else None

    def _behind_displayed(self, row: TypedRow, versions: Sequence[Version]) -> list[Version]:
        """The versions of a source row that are newer than the newest version which the table's row
        shows; [] if the table's row shows no version.
        """
        numbers = [n for n, v in enumerate(versions) if v.image and self.tables.shows(row, v)]
        return list(versions[numbers[-1] + 1 :]) if numbers else []

    def _row_change(self, version: Version) -> RowChange | None:
        """The row change of the source that made a version; None if a statement made it."""
        event = self.tables.story.history.events[version.event]
        return event if isinstance(event, RowChange) else None

    @cached_property
    def all_came_late(self) -> bool:
        """Whether several rows miss a change, and each of these changes came in a later batch than
        newer changes.
        """
        return len(self.by_key) > 1 and all(
            self.tables.reader.came_late(version.event, key) for key, version in self.by_key.items()
        )

    @cached_property
    def all_behind_first_row(self) -> bool:
        """Whether several rows miss a change, and each of these changes stands in its message
        behind the message's first row.
        """
        places = [
            self.tables.reader.place_in_message(v.event, key) for key, v in self.by_key.items()
        ]
        return len(places) > 1 and all(place is not None and place.number > 1 for place in places)

    @cached_property
    def has_clear_removal(self) -> bool:
        """Whether the table misses the removal of a row although it is clearly newer than all
        before it (`_is_clear`), so that it is not the order by a time that is wrong.
        """
        return any(v.image is None and self._is_clear(key, v) for key, v in self.by_key.items())

    @cached_property
    def has_clear_update(self) -> bool:
        """Whether the table misses a change that is no removal although it is clearly newer than
        all before it (`_is_clear`), so that it is not the order by a time that is wrong.
        """
        return any(v.image is not None and self._is_clear(key, v) for key, v in self.by_key.items())

    def _is_clear(self, key: Key, missed: Version) -> bool:
        """Whether a missed change was made in a later second than the row's change before it, no
        table ever showed it, and no older change of the row came behind it in its batch.
        """
        older = [v for v in self.tables.timelines[key] if v.event < missed.event]
        change = self._row_change(missed)
        changes = [c for v in older if (c := self._row_change(v)) is not None]
        first = self.tables.reader.first_of(missed.event, key)
        if change is None or not changes or first is None:
            return False
        if change.at.ms // SECOND_MS == changes[-1].at.ms // SECOND_MS:
            return False
        if any(
            self._displays(rows.get(key), missed) for rows in self.tables.displayed[first.stage :]
        ):
            return False
        reader = self.tables.reader
        messages = chain.from_iterable(reader.messages_of(v.event, key) for v in older)
        return all(m.number < first.number or m.stage > first.stage for m in messages)

    def _displays(self, rows: Sequence[TypedRow] | None, version: Version) -> bool:
        """Whether the rows that a table has of a key are as a version left the row: none for a
        removal, else one of them has its values.
        """
        if version.image is None:
            return not rows
        return any(self.tables.shows(row, version) for row in rows or ())

    def shared_cause(self, version: Version, key: Key) -> str:
        """Words for the one cause that explains all missed changes, to be said of `version`, a
        change of the row `key`; "" if no one cause does, or if `version` is not the newest change
        that the table misses of that row.
        """
        if self.by_key.get(key) != version:
            return ""
        if self.all_behind_first_row:
            return f"{self.words_for_place(version, key)}, as every change that the table misses"
        if self.all_came_late:
            return (
                f"{self.words_for_lateness(version, key)}, as every change that the table misses:"
                " does a high-water mark or a watermark drop it?"
            )
        return ""

    def words_for_place(self, version: Version, key: Key) -> str:
        """The words for a change that stands behind the first row of its message, such as "it is
        row 2 of 3 of its message"; "" for the first row, and for a change without a message.
        """
        place = self.tables.reader.place_in_message(version.event, key)
        if place is None or place.number == 1:
            return ""
        return f"it is row {place.number} of {place.rows} of its message"

    def words_for_lateness(self, version: Version, key: Key) -> str:
        """That a change came late, in words; "" if it did not."""
        if not self.tables.reader.came_late(version.event, key):
            return ""
        return "it came in a later batch than newer changes of other rows"


def _life_of(versions: Sequence[Version]) -> list[Version]:
    """The versions of a row since its last removal, the oldest first; [] if the row is removed
    now.
    """
    life: list[Version] = []
    for version in reversed(versions):
        if version.image is None:
            break
        life.insert(0, version)
    return life
