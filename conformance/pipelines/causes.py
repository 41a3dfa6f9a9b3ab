"""Why a row of a pipeline's table differs: the rule that it breaks, the event that it lost or
undid, and the message that told it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from conformance.pipelines.missed import MissedChanges
from conformance.pipelines.rows import TypedRow, cell_text, value_text
from conformance.pipelines.timeline import (
    PLACEHOLDER,
    Arrival,
    Reader,
    Version,
    has_image_of,
    key_text,
)
from generators.drawing.streams import Key, Streamed
from generators.model import Op, RowChange, SchemaChange, State

MOMENT = "both are of one millisecond: only their position tells which is newer"
"""The reason of a difference between two changes that were made in one millisecond."""


CHOSEN = "an older change of the batch counted, or WHEN NOT MATCHED inserted the row of a DELETE"
"""The reason of a difference of a row that came and was removed in one batch."""


class Difference(NamedTuple):
    """A difference of a pipeline's table from the source: the rule that it breaks (the last part of
    the rule's id, such as `order`), and what differs, in words.
    """

    rule: str
    what: str


class Judged(Protocol):
    """The stream that was judged, and what the pipeline's table showed of it: in this the causes of
    a difference are found.
    """

    story: Streamed
    reader: Reader
    missed_changes: MissedChanges

    @property
    def displayed(self) -> list[dict[Key, list[TypedRow]]]:
        """The rows that the table had after each stage, by key; one entry a stage."""

    def shows(self, row: TypedRow, version: Version) -> bool:
        """Whether a row of the table has the values that a version of the source's row had."""


@dataclass(frozen=True, slots=True)
class Causes:
    """The causes of the differences of the row with the primary key `key`; `versions` are all that
    the source's row ever was, the oldest first.
    """

    judged: Judged
    key: Key
    versions: list[Version]

    def of_removed(self) -> Difference:
        """The difference of a row that the table still has although its last event removed it:
        which rule is broken, and which message brought the row back, if one did.
        """
        removal = self.versions[-1]
        text = f"row {key_text(self.key)} was removed by {self._version_name(removal)}"
        if shared := self._missed.shared_cause(removal, self.key):
            return Difference("convergence", f"{text}, and is there; {shared}")
        gone = self._gone_since(removal)
        if gone is not None and (again := self._removal_again(removal, gone)) is not None:
            return Difference(
                self._rule_of(removal),
                f"{text} and was gone after batch {gone}; {again.name}, which tells it once more,"
                f" brought it back: WHEN NOT MATCHED inserted the row of a DELETE",
            )
        if (culprit := self._undone_by(removal)) is not None:
            if gone is not None and culprit.stage > gone:
                return Difference(
                    "tombstone",
                    f"{text} and was gone after batch {gone}; {culprit.name}, which is older,"
                    " brought it back",
                )
            return Difference("order", f"{text}, and is there; {culprit.name} is older")
        in_one_moment = len(self.versions) > 1 and self._in_one_moment(self.versions[-2], removal)
        if in_one_moment and not self._missed.has_clear_removal:
            return Difference("order", f"{text}, and is there; {MOMENT}")
        text = f"{text}, and is there"
        if self._came_with_row(removal):
            text = f"{text}; the row and its removal came in one batch: {CHOSEN}"
        return Difference(self._rule_of(removal), text)

    def of_missing(self) -> Difference:
        """The difference of a row that the source has and the table lacks: which rule is broken,
        and by which messages, if these explain it.
        """
        life = self._life()
        last = life[-1] if life else self.versions[-1]
        text = f"row {key_text(self.key)} is missing: {self._version_name(last)} is not there"
        if shared := self._missed.shared_cause(last, self.key):
            return Difference("convergence", f"{text}; {shared}")
        if (culprit := self._removed_again_by(last)) is not None:
            return Difference("order", f"{text}; {culprit.name}, which is older, removed it")
        if self._was_there(life) and (culprit := self._undone_by(last)) is not None:
            return Difference("order", f"{text}; {culprit.name}, which is older, came behind it")
        stages = [self._stage(version) for version in life]
        removals = [v for v in self.versions if v.image is None]
        last_removal = removals[-1] if removals else None
        if len(life) > 1 and stages[0] == stages[1]:
            first, second = (self._version_name(version) for version in life[:2])
            return Difference(
                "one-per-batch",
                f"row {key_text(self.key)} is missing: {first} and {second} came in one batch",
            )
        if last_removal is not None and self._stage(last_removal) == stages[0]:
            rule = self._rule_of_one_batch(last_removal)
            return Difference(
                rule, f"{text}; {self._version_name(last_removal)} came in the same batch"
            )
        if life and life[0].cause == Op.UPDATE:
            return Difference(
                "key-change", f"{text}; {self._version_name(life[0])} gave the row this key"
            )
        return Difference("convergence", self._with_way(text, last))

    def of_cells(self, row: TypedRow, wrong: list[str]) -> list[Difference]:
        """The differences of a row whose cells in the columns `wrong` are not those of its last
        version: one, if the whole row is as an older version, else one for each cell.
        """
        special = [self._of_telling_value(row, name) for name in wrong]
        if all(special):
            return [difference for difference in special if difference]
        last = self.versions[-1]
        older = next(
            (
                version
                for version in reversed(self.versions[:-1])
                if version.image and self.judged.shows(row, version)
            ),
            None,
        )
        if older is not None:
            return [self._of_older(older, last)]
        image = last.image or {}
        return [
            difference
            or Difference(
                "convergence",
                f"row {key_text(self.key)}, {name}: {value_text(row.get(name.lower()))} is not"
                f" {cell_text(image[name])} of {self._version_name(self._telling_version(name))}",
            )
            for name, difference in zip(wrong, special, strict=True)
        ]

    def _of_older(self, older: Version, last: Version) -> Difference:
        """The difference of a row that the table shows as an older version, with the first of these
        reasons that holds: a cause that all missed changes share; a later message that undid the
        last version; both versions are of one millisecond; both came in one batch; no reason is
        known.
        """
        changes = self.versions[self.versions.index(older) + 1 :]
        changes = [v for v in changes if isinstance(self._event(v), RowChange)]
        missed = changes[-1] if changes else last
        text = (
            f"row {key_text(self.key)} is as {self._version_name(older)} left it;"
            f" {self._version_name(missed)} is newer"
        )
        if shared := self._missed.shared_cause(missed, self.key):
            return Difference("convergence", f"{text}; {shared}")
        if (culprit := self._undone_by(last, older)) is not None:
            return Difference("order", f"{text}, and {culprit.name} undid it")
        # If the table also misses a change whose time is clearly later, its order is not to blame.
        if self._in_one_moment(older, missed) and not self._missed.has_clear_update:
            return Difference("order", f"{text}; {MOMENT}")
        if self._stage(older) == self._stage(missed):
            return Difference("one-per-batch", f"{text}, and both came in one batch")
        gone = [v for v in self.versions[self.versions.index(older) :] if v.image is None]
        if gone and self._stage(gone[-1]) == self._stage(missed):
            return Difference(
                self._rule_of_one_batch(gone[-1]),
                f"{text}, and {self._version_name(gone[-1])} came with it",
            )
        return Difference("convergence", self._with_way(text, missed))

    def _with_way(self, text: str, missed: Version) -> str:
        """The words on a difference, with what is unusual in how the missed change came: in which
        row of its message it stands, or that it came behind newer changes.
        """
        missed_changes = self._missed
        ways = (
            missed_changes.words_for_place(missed, self.key),
            missed_changes.words_for_lateness(missed, self.key),
        )
        return "; ".join((text, *filter(None, ways)))

    @property
    def _missed(self) -> MissedChanges:
        """The changes that the table misses, of all rows."""
        return self.judged.missed_changes

    def _in_one_moment(self, older: Version, newer: Version) -> bool:
        """Whether the source made both changes of the row within one millisecond, so that their
        times do not tell which is newer.
        """
        first, second = self._event(older), self._event(newer)
        if not isinstance(first, RowChange) or not isinstance(second, RowChange):
            return False
        return first.at.ms == second.at.ms

    def _of_telling_value(self, row: TypedRow, name: str) -> Difference | None:
        """The difference of a wrong cell whose value shows the cause: a placeholder for a value
        that was not sent, no value in an added column, or an old value where the column was dropped
        or set to NULL. None if the value shows none of these.
        """
        actual, image = row.get(name.lower()), self.versions[-1].image or {}
        text = f"row {key_text(self.key)}, {name}: {value_text(actual)} is not {cell_text(image[name])}"
        by = self._version_name(self._telling_version(name))
        if actual is not None and PLACEHOLDER in str(actual.value):
            return Difference(
                "unsent", f"{text}; {by} says that the value did not change, and did not send it"
            )
        if actual is None and name in self.judged.story.added_after:
            return Difference("new-column", f"{text} of {by}: the column was added")
        if image[name].state is not State.NULL or actual is None:
            return None
        if self._was_dropped(name) and self._had_value(row, name):
            return Difference("dropped-column", f"{text}; the column was dropped: {by}")
        if isinstance(self._event(self._telling_version(name)), RowChange) and self._had_value(
            row, name
        ):
            return Difference("null-overwrites", f"{text} of {by}, which set it to NULL")
        return None

    def _had_value(self, row: TypedRow, name: str) -> bool:
        """Whether a column of the kept row has the value that one of the row's older versions
        had.
        """
        for version in self.versions[:-1]:
            if version.image and name in version.image:
                only = Version(version.event, version.cause, {name: version.image[name]})
                if self.judged.shows(row, only):
                    return True
        return False

    def _was_dropped(self, name: str) -> bool:
        """Whether a later version of the row lacks a column that an earlier one had, because a
        statement dropped the column.
        """
        there = [name in version.image for version in self.versions if version.image]
        return False in there[there.index(True) :] if True in there else False

    def _telling_version(self, name: str) -> Version:
        """The version whose change gave a column the value that it still has in the last
        version.
        """
        last = self.versions[-1]
        for version in reversed(self.versions[:-1]):
            if version.image is None or version.image.get(name) != (last.image or {}).get(name):
                break
            last = version
        return last

    def _life(self) -> list[Version]:
        """The versions that row changes (no statements) made of the row since it was last removed,
        the oldest first; [] if it is removed.
        """
        life: list[Version] = []
        for version in reversed(self.versions):
            if version.image is None:
                break
            if isinstance(self._event(version), RowChange):
                life.insert(0, version)
        return life

    def _was_there(self, life: list[Version]) -> bool:
        """Whether a table after some stage showed the row, counted from the stage of the first
        version in `life` (the versions since the row was last removed).
        """
        first = self._stage(life[0])
        displayed = self.judged.displayed
        return first is not None and any(self.key in rows for rows in displayed[first:])

    def _rule_of_one_batch(self, removal: Version) -> str:
        """The rule that is broken if a batch both removes a row and inserts it again, and the table
        is wrong after the batch: `truncate` if a statement removed the row, else `one-per-batch`
        (several changes of one row come in one batch).
        """
        return "truncate" if self._rule_of(removal) == "truncate" else "one-per-batch"

    def _rule_of(self, removal: Version) -> str:
        """The rule that is broken if a row is there after its `removal`: truncate for a statement,
        key-change for an UPDATE of its key, else delete.
        """
        match self._event(removal):
            case SchemaChange():
                return "truncate"
            case RowChange() if removal.cause != "DELETE":
                return "key-change"
        return "delete"

    def _event(self, version: Version) -> object:
        """The event of the history that made a version of the row."""
        return self.judged.story.history.events[version.event]

    def _version_name(self, version: Version) -> str:
        """A version in words for a difference: its cause, its position and its first message."""
        return self.judged.reader.name(version, self.key)

    def _stage(self, version: Version) -> int | None:
        """The stage in which the first message of a version came; None if the version has no
        message.
        """
        return self.judged.reader.first_stage(version.event, self.key)

    def _gone_since(self, removal: Version) -> int | None:
        """The first stage, from the removal's own on, after which the table did not have the row;
        None if it always had it.
        """
        stage = self._stage(removal)
        for number, displayed in enumerate(self.judged.displayed):
            if stage is not None and number >= stage and self.key not in displayed:
                return number
        return None

    def _undone_by(self, version: Version, displayed: Version | None = None) -> Arrival | None:
        """The last message that arrived after this version's own message although it is of an older
        version of the row (if given, of `displayed`), and so may have undone this version; None if
        there is none.
        """
        older = {v.event for v in self.versions if v.event < version.event and v.image}
        if displayed is not None:
            older &= {displayed.event}
        return self._last_behind(version, older)

    def _removal_again(self, removal: Version, gone: int) -> Arrival | None:
        """The repeated message of a DELETE that brought the row back, which was gone after the
        stage `gone`: the last message on the row in the stage in which it is there again. None if
        that message is an older change, or if the row did not come back.
        """
        displayed = self.judged.displayed
        stage_of_return = next(
            (n for n in range(gone + 1, len(displayed)) if self.key in displayed[n]), None
        )
        events = {v.event for v in self.versions if v.event <= removal.event}
        arrivals = [a for a in self._arrivals(events) if a.stage == stage_of_return]
        is_again = bool(arrivals) and arrivals[-1].written.message.event == removal.event
        return arrivals[-1] if is_again and self._is_sent_as_delete(removal) else None

    def _is_sent_as_delete(self, removal: Version) -> bool:
        """Whether the first message that holds the row at its `removal` (the version at which it is
        gone) has a DELETE among its changes. Some writers send an UPDATE of the key as a DELETE and
        an INSERT, so that its message has one, too. False if there is no such message.
        """
        message = self.judged.reader.first_of(removal.event, self.key)
        return message is not None and any(
            change.op is Op.DELETE for change in message.written.changes
        )

    def _came_with_row(self, removal: Version) -> bool:
        """Whether the row came in the batch of its removal, and was not there before. Only a
        removal that its message tells as a DELETE counts, not that by a TRUNCATE.
        """
        stage = self._stage(removal)
        if stage is None or not self._is_sent_as_delete(removal) or len(self.versions) < 2:
            return False
        # The last version is the removal, the one before it the row as it came.
        was_there = stage > 0 and self.key in self.judged.displayed[stage - 1]
        return not was_there and self._stage(self.versions[-2]) == stage

    def _removed_again_by(self, version: Version) -> Arrival | None:
        """The last message that arrived after this version's own message although it is of an older
        removal of the row, and so may have removed the row again; None if there is none.
        """
        older = {v.event for v in self.versions if v.event < version.event and not v.image}
        return self._last_behind(version, older)

    def _last_behind(self, version: Version, events: set[int]) -> Arrival | None:
        """The last of the messages of `events` that arrived behind this version's own first
        message, if it may have undone the version. None if none did, or if the table did not show
        the version even before they came.
        """
        reader = self.judged.reader
        first = reader.first_of(version.event, self.key) or reader.first_of(version.event)
        if first is None:
            return None
        later_arrivals = [a for a in self._arrivals(events) if a.number > first.number]
        if not later_arrivals or self._is_missed(version, first.stage, later_arrivals[0].stage):
            return None
        return later_arrivals[-1]

    def _is_missed(self, version: Version, first_stage: int, next_stage: int) -> bool:
        """Whether, after some stage from `first_stage` (that of the version's own message) on and
        before `next_stage`, the table did not show the version.
        """
        between = self.judged.displayed[first_stage:next_stage]
        return any(
            not self._displays(displayed.get(self.key, []), version) for displayed in between
        )

    def _displays(self, rows: list[TypedRow], version: Version) -> bool:
        """Whether these rows of a table (all that have the key) are as the version left the row:
        none for a removal, else one of them with its values.
        """
        if version.image is None:
            return not rows
        return any(self.judged.shows(row, version) for row in rows)

    def _arrivals(self, events: set[int]) -> Iterator[Arrival]:
        """The messages of some events (by their numbers) that concern this row, in order of
        arrival: all messages of statements, and those of row changes that have an image with its
        key.
        """
        story = self.judged.story
        for arrival in self.judged.reader.arrivals:
            written = arrival.written
            if written.message.event not in events:
                continue
            event = story.history.events[written.message.event]
            if not isinstance(event, RowChange) or has_image_of(
                written, self.key, story.table.primary_key
            ):
                yield arrival
