"""Nemeses: what they keep (everything arrives, partitions stay in order), what they add, and the
histories that they befall.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from generators.drawing import shared_history as differential
from generators.drawing.shared_history import KEY, streamed
from generators.drawing.streams import STATEMENTS
from generators.errors import NothingSelected
from generators.garbage.nemesis import (
    NEMESES,
    STAGES,
    Nemesis,
    Stages,
    Stream,
    is_removed,
    select_nemeses,
)
from generators.model import Change, Kind, Message, Op, RowChange, SchemaChange, Written
from generators.wire_format import FORMATS, get

KINDS = (Kind.ROW, Kind.ROW, Kind.ROW, Kind.WATERMARK, Kind.DDL, Kind.BOOTSTRAP)


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """Messages of up to three partitions, each recognisable by its value."""
    return stream_of(
        draw(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 2)), max_size=30))
    )


def stream_of(drawn: list[tuple[Kind, int]]) -> Stream:
    """A message of each kind and partition."""
    written = []
    for number, (kind, partition) in enumerate(drawn):
        message = Message(
            "t", partition, None, b'{"n":"%d"}' % number, event=number // 2, timestamp_ms=number
        )
        written.append(Written(message, (Change(0, kind),)))
    return Stream(tuple(written))


def by_partition(stages: Stages, stream: Stream) -> dict[int, list[bytes | None]]:
    """The first arrivals of the stream's own messages, by partition."""
    own = {record.message.value for record in stream.written}
    arrivals: dict[int, list[bytes | None]] = {}
    for record in (record for stage in stages for record in stage):
        values = arrivals.setdefault(record.message.partition, [])
        if record.message.value in own and record.message.value not in values:
            values.append(record.message.value)
    return {partition: values for partition, values in arrivals.items() if values}


@pytest.mark.parametrize("nemesis", NEMESES, ids=lambda nemesis: nemesis.name)
@given(stream=streams(), seed=st.integers(0, 1000))
@example(stream=stream_of([(Kind.ROW, 0)] * 8 + [(Kind.WATERMARK, 0)] * 4), seed=1)
@settings(max_examples=40, deadline=None)
def test_every_message_arrives_and_first_arrivals_keep_the_order_of_their_partition(
    nemesis: Nemesis, stream: Stream, seed: int
) -> None:
    stages = nemesis(stream, seed)
    assert len(stages) == STAGES
    wanted: dict[int, list[bytes | None]] = {}
    for record in stream.written:
        wanted.setdefault(record.message.partition, []).append(record.message.value)
    if nemesis.compacted:
        half = [
            record.message.partition
            for record in stream.written[: len(stream.written) // 2]
            if record.message.topic == "t"
        ]
        assert all(
            values[-1:] == wanted[partition][-1:]
            for partition, values in by_partition(stages, stream).items()
        )
        assert sum(is_removed(record.message) for stage in stages for record in stage) <= max(
            0, len(half) - 1
        )
        return
    assert by_partition(stages, stream) == wanted


@pytest.mark.parametrize("nemesis", NEMESES, ids=lambda nemesis: nemesis.name)
@given(stream=streams())
@settings(max_examples=10, deadline=None)
def test_the_same_seed_gives_the_same_stages(nemesis: Nemesis, stream: Stream) -> None:
    assert nemesis(stream, 7) == nemesis(stream, 7)


@given(stream=streams(), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_only_the_nemeses_of_garbage_make_garbage(stream: Stream, seed: int) -> None:
    first_is_row = any(c.kind is Kind.ROW for record in stream.written[:1] for c in record.changes)
    for nemesis in NEMESES:
        flat = [record for stage in nemesis(stream, seed) for record in stage]
        spoiled = [record for record in flat if any(c.kind is Kind.CORRUPT for c in record.changes)]
        if nemesis.name not in ("corrupt", "all"):
            assert not spoiled, nemesis.name
        elif first_is_row:
            assert spoiled, nemesis.name


@pytest.fixture(scope="module")
def canal_stream() -> Stream:
    fmt = get("ticdc-canal-json")
    return Stream(streamed(fmt, fmt.profile("v7.1.6+extension"), 3, "t").written)


def test_repeats_have_the_bytes_of_the_first_and_a_later_timestamp(canal_stream: Stream) -> None:
    for name in ("duplicate", "replay", "late-watermarks", "all"):
        (nemesis,) = select_nemeses(name)
        first: dict[tuple[int, bytes | None, int], int] = {}
        repeats = 0
        for record in (record for stage in nemesis(canal_stream, 1) for record in stage):
            if any(c.kind is Kind.CORRUPT for c in record.changes):
                continue
            key = (record.message.partition, record.message.value, record.message.event)
            if key in first:
                repeats += 1
                assert record.message.timestamp_ms > first[key]
            else:
                first[key] = record.message.timestamp_ms
        assert repeats > 20, name


def test_copies_have_the_timestamp_of_the_first(canal_stream: Stream) -> None:
    (nemesis,) = select_nemeses("copied")
    times: dict[tuple[int, bytes | None, int], set[int]] = {}
    flat = [record.message for stage in nemesis(canal_stream, 1) for record in stage]
    for message in flat:
        times.setdefault((message.partition, message.value, message.event), set()).add(
            message.timestamp_ms
        )
    assert len(flat) > len(times) + 20
    assert {len(each) for each in times.values()} == {1}


def test_compaction_leaves_the_last_record_of_each_key_and_some_tombstones() -> None:
    fmt = get("debezium-json")
    written = streamed(fmt, fmt.profile("3.5.0.Final"), 3, "t", statements=()).written
    (nemesis,) = select_nemeses("compacted")
    stages = nemesis(Stream(written), 1)
    flat = [record for stage in stages for record in stage]
    first, head = flat[: len(written) // 2], flat[len(written) // 2 :]
    assert head == list(written[len(written) // 2 :])
    assert [(record.message.key, record.message.event) for record in first] == [
        (record.message.key, record.message.event) for record in written[: len(written) // 2]
    ]
    rows = [
        (now.message, was.message)
        for now, was in zip(first, written, strict=False)
        if was.message.topic == "cdc.differential.t"
    ]
    last = {was.key: was for _, was in rows}
    left = [now for now, _ in rows if not is_removed(now)]
    assert len({now.key for now in left}) == len(left) < len(last)
    assert all(now is last[now.key] for now in left)
    assert {last[key].value for key in last.keys() - {now.key for now in left}} == {None}
    assert None in {now.value for now in left}


@pytest.mark.parametrize("seed", range(8))
def test_compaction_removes_the_insert_of_a_row_that_only_updates_tell_of(seed) -> None:
    fmt = get("ticdc-avro")
    written = streamed(fmt, fmt.profiles[0], seed, "t", statements=()).written
    (nemesis,) = select_nemeses("compacted")
    ops: dict[bytes | None, list[Op]] = {}
    for record in itertools.chain(*nemesis(Stream(written), seed)):
        if not is_removed(record.message):
            ops.setdefault(record.message.key, []).extend(
                change.op for change in record.changes if change.op
            )
    assert {Op.UPDATE} in map(set, ops.values())


def test_late_watermarks_brings_lower_watermarks_behind_higher_ones(canal_stream: Stream) -> None:
    (nemesis,) = select_nemeses("late-watermarks")
    records = [
        record
        for stage in nemesis(canal_stream, 1)
        for record in stage
        if record.message.partition == 0
    ]
    marks = [
        int(c.position or 0)
        for record in records
        for c in record.changes
        if c.kind is Kind.WATERMARK
    ]
    assert marks[-1] < max(marks)


def test_split_ends_every_stage_within_an_event(canal_stream: Stream) -> None:
    stages = select_nemeses("split")[0](canal_stream, 1)
    borders = [(stage[-1], following[0]) for stage, following in itertools.pairwise(stages)]
    assert [low.message.event for low, _ in borders] == [high.message.event for _, high in borders]


def test_control_lags_reads_the_partition_of_statements_last(canal_stream: Stream) -> None:
    stages = select_nemeses("control-lags")[0](canal_stream, 1)
    first = next(
        n
        for n, stage in enumerate(stages)
        if any(record.message.partition == 0 for record in stage)
    )
    assert first > 0
    assert all(record.message.partition == 0 for stage in stages[first + 1 :] for record in stage)


def test_a_glob_selects_and_matching_nothing_is_an_error() -> None:
    assert [nemesis.name for nemesis in select_nemeses("re*")] == ["replay", "reorder", "rebatch"]
    with pytest.raises(NothingSelected, match="late-watermarks"):
        select_nemeses("earthquake")


@pytest.mark.parametrize("name", FORMATS)
def test_a_streamed_history_leaves_the_rows_that_it_says(name: str) -> None:
    fmt = get(name)
    for profile in {fmt.profiles[0], fmt.profiles[-1]}:
        story = streamed(fmt, profile, 5, "t_1")
        (key,) = story.table.primary_key
        rows: dict[object, object] = {}
        for event in story.history.events:
            match event:
                case RowChange(rows=images):
                    for image in images:
                        if image.before is not None:
                            del rows[(image.before[key],)]
                    for image in images:
                        if image.after is not None:
                            assert (image.after[key],) not in rows
                            rows[(image.after[key],)] = image.after
                case SchemaChange(action="truncate table" | "drop table"):
                    rows.clear()
        assert rows.keys() == story.rows.keys()
        assert story.last.keys() == story.rows.keys()
        assert not story.moved & story.gone and not (story.moved | story.gone) & story.rows.keys()
        columns = {column.name for column in story.table.columns}
        assert all(row.keys() == columns for row in story.rows.values())
        ops = Counter(event.op for event in story.history.events if isinstance(event, RowChange))
        assert set(ops) == {Op.INSERT, Op.UPDATE, Op.DELETE}
        assert len(story.rows) > 3 and story.moved and story.gone


def test_statements_happen_only_where_the_profile_tells_of_them() -> None:
    canal, cdl = get("alibaba-canal-json"), get("huawei-cdl-json")
    assert streamed(canal, canal.profiles[0], 1, "t").statements == STATEMENTS
    assert streamed(cdl, cdl.profiles[0], 1, "t").statements == ()
    quiet = streamed(canal, canal.profiles[0], 1, "t", statements=())
    assert not any(isinstance(event, SchemaChange) for event in quiet.history.events)


def test_a_column_that_comes_back_is_empty_in_rows_that_nobody_touched() -> None:
    fmt = get("alibaba-canal-json")
    seen = 0
    for seed in range(20):
        story = streamed(fmt, fmt.profiles[0], seed, "t")
        for key, number in story.last.items():
            if number < story.added_after[differential.DROPPED]:
                seen += 1
                assert story.rows[key][differential.DROPPED] is None
    assert seen > 10


def told(written: Written) -> list[tuple[str, str]]:
    """The op and key of each row change of a message."""
    return [
        (change.op.value, str(image[KEY].value))
        for change in written.changes
        if change.op and (image := change.before if change.op is Op.DELETE else change.after)
    ]


def rows_of(*ops: str) -> Stream:
    """A message for each `I 1`, `U 1`, `D 1`: an op and a key."""
    fmt = get("ticdc-canal-json")
    kinds = {"I": Op.INSERT, "U": Op.UPDATE, "D": Op.DELETE}
    template = next(
        w
        for w in streamed(fmt, fmt.profile("v7.1.6+extension"), 3, "t").written
        if w.changes[0].op is Op.INSERT
    )
    written = []
    for number, text in enumerate(ops):
        op, key = kinds[text[0]], int(text[2:])
        image = {
            **template.changes[0].after,
            KEY: replace(template.changes[0].after[KEY], value=key),
        }
        sides = (
            {"before": image, "after": None}
            if op is Op.DELETE
            else {"before": None, "after": image}
        )
        change = replace(template.changes[0], op=op, **sides)
        message = replace(template.message, value=b"%d" % number, event=number, timestamp_ms=number)
        written.append(Written(message, (change,)))
    return Stream(tuple(written))


def test_stale_brings_the_change_before_the_last_of_each_row_again_alone_and_late() -> None:
    stream = rows_of("I 1", "I 2", "U 1", "D 2", "U 1", "I 3")
    *_, last = select_nemeses("stale")[0](stream, 1)
    assert [(told(w), w.message.value, w.message.timestamp_ms) for w in last] == [
        ([("UPDATE", "1")], b"2", 2 + 3_600_000),
        ([("INSERT", "2")], b"1", 1 + 3_600_000),
    ]


def test_behind_deletes_ends_a_batch_with_a_delete_and_begins_the_next_with_what_was_before() -> (
    None
):
    stream = rows_of("I 1", "I 2", "U 1", "D 1", "I 4", "D 2", "I 3")
    stages = select_nemeses("behind-deletes")[0](stream, 1)
    assert [[text for w in stage for text in told(w)] for stage in stages] == [
        [("INSERT", "1"), ("INSERT", "2"), ("UPDATE", "1"), ("DELETE", "1")],
        [("INSERT", "1"), ("UPDATE", "1"), ("INSERT", "4"), ("DELETE", "2")],
        [("INSERT", "2"), ("INSERT", "3")],
        [],
    ]


def test_a_dropped_column_comes_back_empty_in_rows_that_nothing_touched_or_cleared() -> None:
    fmt = get("ticdc-canal-json")
    story = streamed(fmt, fmt.profiles[-1], 1, "t", statements=("drop column", "add column again"))
    drop, add = (
        number
        for number, event in enumerate(story.history.events)
        if isinstance(event, SchemaChange)
    )
    left = [key for key, last in story.last.items() if last < drop]
    assert len(left) >= 3
    assert {story.rows[key][differential.DROPPED] for key in left} == {None}
    assert story.added_after == {differential.DROPPED: add}


def test_updates_leave_long_values_as_they_are_and_the_placeholder_stands_for_them() -> None:
    fmt = get("debezium-json")
    story = streamed(fmt, fmt.profile("3.5.0.Final+postgresql"), 1, "t", unsent=True)
    sent = [
        change.after[differential.LONG].text
        for written in story.written
        for change in written.changes
        if change.op is Op.UPDATE and change.after
    ]
    unsent = [text for text in sent if text == "__debezium_unavailable_value"]
    assert len(unsent) > len(sent) / 2 > 5
    assert all(len(str(row[differential.LONG])) > 2_000 for row in story.rows.values())
