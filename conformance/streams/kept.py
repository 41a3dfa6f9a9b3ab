"""Compares the tables built from a stream with the model's: their rows and cells.

The history determines the rows; the writer's expectation of a row's last change determines its
cells. Each difference belongs to one stream rule (conformance.rules.streams).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal, DecimalException
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import pyarrow as pa

from conformance.judging.compare import same_text
from conformance.rules.order import order_of
from conformance.streams.recipes import RESTART, SHOWN, Group, ReadStream, StreamResult
from generators.drawing.streams import Key, Streamed
from generators.errors import HarnessError
from generators.garbage.nemesis import NEMESES, is_removed
from generators.model import Cell, Change, Image, Kind, State, Written

Text: TypeAlias = tuple[str, ...]
"""The key of a row as texts, spelled as in messages, one for each key column."""


@dataclass(frozen=True, slots=True)
class KeptTables:
    """The last state of the tables kept from a stream (`spark_checks.keepers`), as it was read from
    disk. `rows` has (key, image) of each row by table, `corrupt` the (partition, offset) of
    unreadable messages, `seen` the (number, last offset) of the messages read by partition,
    `watermarks` the highest watermark by partition. `rows_alone`: a decoder that keeps its own
    tables (level three) wrote it, so that it only has `rows`.
    """

    rows: Mapping[str, Sequence[tuple[tuple[str, ...], Mapping[str, str | None]]]]
    corrupt: frozenset[tuple[int, int]]
    seen: Mapping[int, tuple[int, int]]
    watermarks: Mapping[int, int]
    rows_alone: bool = False


def read_state(directory: Path) -> KeptTables:
    """Reads the newest state that the keeper of tables has written below a directory: rows by
    table, unreadable messages, last offsets and watermarks. Raises HarnessError if there is none.
    """
    import pyarrow.parquet as pq

    ids = sorted(int(p.name) for p in directory.glob("*") if p.name.isdigit())
    if not ids:
        raise HarnessError(f"the query left no state in {directory}")
    table: pa.Table = pq.read_table(directory / str(ids[-1]))
    rows_by_table: dict[str, list[tuple[tuple[str, ...], Mapping[str, str | None]]]] = {}
    corrupt: list[tuple[int, int]] = []
    last_by_partition: dict[int, tuple[int, int]] = {}
    watermarks: dict[int, int] = {}
    rows_alone = False
    for entry in table.to_pylist():
        match entry["part"]:
            case "row" if not entry["deleted"]:
                rows_by_table.setdefault(entry["table"], []).append(
                    (tuple(entry["key"]), dict(entry["image"] or ()))
                )
            case "corrupt":
                corrupt.append((entry["partition"], entry["offset"]))
            case "seen":
                last_by_partition[entry["partition"]] = (entry["count"], entry["offset"])
            case "own":
                rows_alone = True
            case "watermark":
                watermarks[entry["partition"]] = int(entry["version"][0])
            case _:
                pass
    return KeptTables(rows_by_table, frozenset(corrupt), last_by_partition, watermarks, rows_alone)


@dataclass(frozen=True, slots=True)
class Keys:
    """Makes comparable texts of the keys of a history's table. `names` are the key's columns;
    `numbers` those that messages hold as JSON numbers, which are compared by value (1.0 equals 1).
    """

    names: tuple[str, ...]
    numbers: frozenset[str]

    @classmethod
    def of_history(cls, story: Streamed) -> Keys:
        """The key columns of a history's table, and which of them its messages hold as JSON
        numbers.
        """
        names = story.table.primary_key
        numeric_names: set[str] = set()
        for image in _images_of_history(story):
            numeric_names.update(name for name in names if name in image and image[name].json)
        return cls(names, frozenset(numeric_names))

    def key_text(self, texts: Mapping[str, str | None]) -> Text:
        """The key of a row as a tuple of texts, from the texts of its columns. Columns that are
        JSON numbers in messages are spelled in one way.
        """
        return tuple(
            _canonical_number(texts.get(name) or "")
            if name in self.numbers
            else str(texts.get(name))
            for name in self.names
        )

    def image_key(self, image: Image) -> Text:
        """The key of a row, given an expected image."""
        return self.key_text({name: image[name].text for name in self.names if name in image})

    def former_keys(self, story: Streamed) -> tuple[set[Text], set[Text]]:
        """Two sets of keys that must not be in the final table: the keys that an UPDATE replaced by
        others, and the keys of deleted rows.
        """
        texts: dict[Key, Text] = {}
        for image in _images_of_history(story):
            if image.keys() >= set(self.names):
                texts[_key_values(image, self.names)] = self.image_key(image)
        moved = {texts[key] for key in story.moved if key in texts}
        gone = {texts[key] for key in story.gone if key in texts}
        return moved, gone

    def row_key(self, key: Sequence[str], image: Mapping[str, str | None]) -> Text:
        """The key of a row that a keeper of tables kept, as comparable texts. A keeper may have a
        key's columns in another order: so the texts come from the row's image, if it has the same
        ones in its key columns, else from `key` as it is.
        """
        texts_of_image = [image.get(name) for name in self.names]
        is_same_key = None not in texts_of_image and sorted(map(str, texts_of_image)) == sorted(key)
        return self.key_text(image if is_same_key else dict(zip(self.names, key, strict=False)))


def _images(changes: Iterable[Change]) -> Iterator[Image]:
    """The before and after images of changes, as far as they have them."""
    for change in changes:
        yield from (image for image in (change.before, change.after) if image is not None)


def _images_of_history(story: Streamed) -> Iterator[Image]:
    """The before and after images of all changes in a history's messages."""
    for written in story.written:
        yield from _images(written.changes)


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
"""A decimal number in ASCII digits, perhaps with a sign, a fraction or an exponent."""


def _canonical_number(number_text: str) -> str:
    """The text by which a number is compared: equal for texts of equal numbers (`1`, `1.0`, `1E0`).
    A text that is no number stays as it is.
    """
    # Python reads 1_0 as 10, and digits of any script.
    if not _NUMBER.fullmatch(number_text):
        return number_text
    # Not the default context: it would round to 28 digits, and DECIMAL has up to 65.
    context = Context(prec=len(number_text))
    try:
        # The sum with 0 makes -0 to 0.
        return str(context.plus(Decimal(number_text).normalize(context)))
    except DecimalException:
        return number_text


def _key_values(image: Mapping[str, Cell], names: Iterable[str]) -> Key:
    """The values of an image's key columns `names`, as the model's key."""
    return tuple(image[name].value for name in names)


def expected_rows(story: Streamed, *, compacted: bool = False) -> dict[Text, tuple[Key, Image]]:
    """The rows that the table must have at the end of the stream. The key is the text of the row's
    key; the value has the model's key and the expected cells.

    An event without a message does not change the row. A placeholder for a value that was not sent
    stands for the cell of the row's older image; if the topic was `compacted`, that image may be
    gone, and any value is right. Raises HarnessError if no message has a row of the model, which is
    a bug of the writer.
    """
    keys = Keys.of_history(story)
    names = keys.names
    images: dict[Key, dict[str, Cell]] = {}
    images_by_event: dict[int, dict[Key, Image]] = {}
    for written in story.written:
        for change in written.changes:
            if change.kind is Kind.ROW and change.after is not None:
                images_by_event.setdefault(written.message.event, {})[
                    _key_values(change.after, names)
                ] = change.after
    for number, event in enumerate(story.history.events):
        for images_of in getattr(event, "rows", ()):
            before, after = (
                {} if event_row is None else event_row
                for event_row in (images_of.before, images_of.after)
            )
            old = images.pop(tuple(before[name] for name in names), None) if before else None
            if not after:
                continue
            key = tuple(after[name] for name in names)
            new = images_by_event.get(number, {}).get(key)
            if new is None:
                images[key] = old or {}
            else:
                images[key] = {
                    name: _expected_cell(name, cell, old, compacted) for name, cell in new.items()
                }
    result: dict[Text, tuple[Key, Image]] = {}
    for key in story.rows:
        image = images.get(key)
        if not image:
            raise HarnessError(f"no message has row {_key_repr(key)} of {story.table.name}")
        result[keys.image_key(image)] = (key, image)
    return result


def _key_repr(key: Sequence[object]) -> str:
    """A key in words for a difference, as Python prints it: one value, or a tuple of several."""
    return repr(key[0]) if len(key) == 1 else repr(tuple(key))


def _expected_cell(name: str, cell: Cell, old: Mapping[str, Cell] | None, compacted: bool) -> Cell:
    """The cell that the table must hold after an image with this `cell`. A placeholder of
    Debezium's for a value that was not sent is replaced by the cell of the row's older image `old`;
    if the topic was compacted, any value is right there.
    """
    if (
        cell.text is None
        or "__debezium_unavailable_value" not in cell.text
        or old is None
        or name not in old
    ):
        return cell
    if compacted:
        return Cell(State.ANY, cell.type, reason="compaction may have removed the value")
    return old[name]


def judge(group: Group, kept_tables: KeptTables, how: str = "") -> list[StreamResult]:
    """Compares the kept tables with what each stream of the group must leave, and returns the
    results by profile. `how` names what was killed while reading ("restart" ...), "" for nothing.
    """
    outcomes: list[StreamResult] = []
    diverged_streams: set[tuple[str, str, str]] = set()
    for stream in group.streams:
        nemesis = stream.nemesis
        diverged_twins = [
            n
            for n in NEMESES
            if n.name == nemesis.twin
            and (n.name, stream.profile.name, stream.table) in diverged_streams
        ]
        # A table that is wrong without this disturbance, too, breaks the rule of the twin, the
        # nemesis that lacks it.
        outcome = _judge_stream(
            group,
            stream,
            kept_tables,
            how,
            diverged_twins[0].rule if diverged_twins else nemesis.rule,
        )
        outcomes.append(outcome)
        if not outcome.converged:
            diverged_streams.add((nemesis.name, stream.profile.name, stream.table))
    return by_profile(group, outcomes)


def by_profile(group: Group, outcomes: Iterable[StreamResult]) -> list[StreamResult]:
    """The results of a group's streams, in the order of the format's profiles. A stream whose
    messages several profiles write alike gives a result for each of them.
    """
    order = [profile.name for profile in group.fmt.profiles]
    repeated = [
        replace(outcome, profile=profile.name)
        for stream, outcome in zip(group.streams, outcomes, strict=True)
        for profile in (stream.profile, *stream.also)
    ]
    return sorted(repeated, key=lambda outcome: order.index(outcome.profile))


def _judge_stream(
    group: Group, stream: ReadStream, kept_tables: KeptTables, how: str, rule: str
) -> StreamResult:
    """Compares the kept table of one stream with its expected rows. A difference that no special
    rule explains is a difference of `rule`, or of the restart if `how` names a killed process.
    """
    story, order = stream.story, order_of(group.fmt.name)
    name = stream.nemesis.name + (f"+{how}" if how else "")
    outcome = StreamResult(
        group.fmt.name, stream.profile.name, name, rows=len(story.rows), table=stream.table
    )
    keys = Keys.of_history(story)
    written_messages = list(itertools.chain.from_iterable(stream.stages))
    outcome.messages = sum(not is_removed(w.message) for w in written_messages)
    refused_keys = _check_coverage(stream, keys, written_messages, kept_tables, outcome, how)
    if order.watermarks and not kept_tables.rows_alone:
        _check_watermarks(stream, written_messages, kept_tables, outcome)
    expected = expected_rows(story, compacted=stream.nemesis.compacted)
    images_by_key: dict[Text, list[Mapping[str, str | None]]] = {}
    for key_texts, image in kept_tables.rows.get(story.table.name, ()):
        images_by_key.setdefault(keys.row_key(key_texts, image), []).append(image)
    moved_keys, deleted_keys = keys.former_keys(story)
    default_rule = RESTART if how else rule
    schemas_late = order.keys == "schema" and _schemas_late(stream)
    rule_of_late_rows = (
        "watermark"
        if order.watermarks and stream.nemesis.name == "late-watermarks"
        else default_rule
    )
    for key_text, images in images_by_key.items():
        if key_text in refused_keys:
            continue
        if len(images) > 1:
            outcome.differ(
                "at-least-once", f"there are {len(images)} rows of key {', '.join(key_text)}"
            )
        if key_text not in expected:
            key_words = ", ".join(key_text)
            if key_text in moved_keys and rule not in ("order", "record-time"):
                outcome.differ(
                    "key-change", f"row {key_words} is still there, although its key was changed"
                )
            else:
                outcome.differ(
                    rule_of_late_rows,
                    f"row {key_words} is there, although it"
                    f" {'was deleted' if key_text in deleted_keys | moved_keys else 'never was'}",
                )
    for key_text, (key, expected_image) in expected.items():
        if key_text in refused_keys:
            continue
        if key_text not in images_by_key:
            outcome.differ(
                "schema-cache" if schemas_late and not how else default_rule,
                f"row {', '.join(key_text)} is missing",
            )
            continue
        _check_cells(story, key, expected_image, images_by_key[key_text][0], outcome, default_rule)
    return outcome


def _schemas_late(stream: ReadStream) -> bool:
    """Whether rows come before schemas: the first batch of the stream that has a row has no message
    with a schema (bootstrap or DDL), and no batch before it has one.
    """
    for stage in stream.stages:
        kinds: set[Kind] = set()
        for written in stage:
            kinds.update(change.kind for change in written.changes)
        if Kind.BOOTSTRAP in kinds or Kind.DDL in kinds:
            return False
        if Kind.ROW in kinds:
            return True
    return False


class _Sent(NamedTuple):
    """How many messages a partition has, and the offset of the last one."""

    messages: int
    last_offset: int


_NOTHING_SENT: Final = _Sent(0, -1)
"""The state of a partition without messages."""


def _check_coverage(
    stream: ReadStream,
    keys: Keys,
    written_messages: Sequence[Written],
    kept_tables: KeptTables,
    outcome: StreamResult,
    how: str,
) -> set[Text]:
    """Checks that the reader saw every message of the stream's partitions, and recorded every
    unreadable one and no other; differences belong to the restart if `how` names a killed process.

    Returns the keys of rows of which nothing more is known, because a message of theirs was refused
    that may be refused or read.
    """
    counts: Counter[int] = Counter()
    sent_by_partition: dict[int, _Sent] = {}
    spoiled: set[tuple[int, int]] = set()
    doubtful: dict[tuple[int, int], set[Text]] = {}
    first_seen: set[object] = set()
    for written in written_messages:
        partition = stream.first + written.message.partition
        if is_removed(written.message):
            counts[partition] += 1
            continue
        sent_before = sent_by_partition.get(partition, _NOTHING_SENT)
        sent_by_partition[partition] = _Sent(sent_before.messages + 1, counts[partition])
        if any(c.kind is Kind.CORRUPT for c in written.changes):
            spoiled.add((partition, counts[partition]))
        elif any((Kind.CORRUPT, None) in c.accept for c in written.changes):
            images = _images(written.changes)
            doubtful[partition, counts[partition]] = {
                keys.image_key(image) for image in images if image.keys() >= set(keys.names)
            }
        counts[partition] += 1
        content = (
            written.message.partition,
            written.message.key,
            written.message.value,
            written.message.event,
        )
        outcome.repeats += content in first_seen
        first_seen.add(content)
    outcome.corrupt = len(spoiled)
    if kept_tables.rows_alone:
        return set().union(*doubtful.values())
    partitions = range(stream.first, stream.first + len(stream.places))

    def where(lane: int) -> str:
        """Names a lane in an error text: its partition, and its topic if there are several."""
        topic, number = stream.places[lane - stream.first]
        return f"{f'topic {topic}, ' if topic else ''}partition {number}"

    for partition in partitions:
        count, last = kept_tables.seen.get(partition, (0, -1))
        sent_count, end = sent_by_partition.get(partition, _NOTHING_SENT)
        if (count, last) != (sent_count, end):
            words = (
                f"{where(partition)}: {count} messages were seen, the last at {last}; there are"
                f" {sent_count}, the last at {end}"
            )
            outcome.differ(RESTART if how else "every-offset", words)
    marked = {place for place in kept_tables.corrupt if place[0] in partitions}
    for place in sorted(spoiled - marked)[:SHOWN]:
        outcome.differ(
            RESTART if how else "corrupt-kept",
            f"{where(place[0])}, offset {place[1]} is unreadable, and nothing tells of it",
        )
    for place in sorted(marked - spoiled - doubtful.keys())[:SHOWN]:
        outcome.differ(
            "corrupt-kept",
            f"{where(place[0])}, offset {place[1]} can be read, and is told to be unreadable",
        )
    return set().union(*(keys for place, keys in doubtful.items() if place in marked))


def _check_watermarks(
    stream: ReadStream,
    written_messages: Sequence[Written],
    kept_tables: KeptTables,
    outcome: StreamResult,
) -> None:
    """Checks that the keeper of tables kept the highest watermark of each partition's messages;
    records a difference in `outcome` for each partition with another one.
    """
    highest: dict[int, int] = {}
    for written in written_messages:
        for change in written.changes:
            if change.kind is Kind.WATERMARK and change.position is not None:
                # The keeper numbers partitions over all streams that were read with this one.
                partition = stream.first + written.message.partition
                highest[partition] = max(highest.get(partition, 0), int(change.position))
    for partition, mark in highest.items():
        if kept_tables.watermarks.get(partition) != mark:
            outcome.differ(
                "watermark",
                f"partition {partition} is known up to {kept_tables.watermarks.get(partition)}, not"
                f" {mark}",
            )


def _check_cells(
    story: Streamed,
    key: Key,
    image: Image,
    cells_in_table: Mapping[str, str | None],
    outcome: StreamResult,
    rule: str,
) -> None:
    """Compares the cells of one kept row, `cells_in_table`, with the expected `image`, and records
    differences in `outcome` under `rule`.
    """
    source_row, last_event = story.rows[key], story.last[key]
    for column in story.table.columns:
        outcome.cells += 1
        name, actual_text = column.name, cells_in_table.get(column.name)
        cell = image.get(name)
        if story.added_after.get(name, -1) > last_event or cell is None:
            # The statement that gave the table this column sends no row: what is not there is the
            # column's default.
            if actual_text is not None:
                outcome.differ(
                    rule,
                    f"row {_key_repr(key)}, {name}: {actual_text!r}, but the column came later and"
                    f" holds {source_row[name]!r}",
                )
        elif not _fits_cell(cell, actual_text, name in cells_in_table):
            outcome.differ(
                rule,
                f"row {_key_repr(key)}, {name}: {actual_text!r} is not"
                f" {cell.text if cell.text is not None else cell.value!r}",
            )


def _fits_cell(cell: Cell, actual_text: str | None, is_present: bool) -> bool:
    """Whether a kept text is right for the expected cell. `is_present`: the kept row has the
    column, perhaps with NULL.
    """
    match cell.state:
        case State.NULL:
            return actual_text is None and is_present
        case State.ABSENT:
            return not is_present
        case State.ANY | State.ONE_OF if cell.text is None:
            return True
        case _:
            return actual_text is not None and same_text(cell, actual_text)
