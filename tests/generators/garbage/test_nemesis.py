"""Nemeses: what they keep (everything arrives, partitions stay in order), what they add, and the histories that they befall."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from generators.drawing import shared_history as differential
from generators.drawing.shared_history import KEY, streamed
from generators.drawing.streams import STATEMENTS
from generators.errors import NothingSelected
from generators.garbage.nemesis import NEMESES, STAGES, Nemesis, Stages, Stream, is_removed, named
from generators.model import Change, Kind, Message, Op, RowChange, SchemaChange, Written
from generators.wire_format import FORMATS, get

KINDS = (Kind.ROW, Kind.ROW, Kind.ROW, Kind.WATERMARK, Kind.DDL, Kind.BOOTSTRAP)


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """Messages of up to three partitions, each recognisable by its value."""
    return stream_of(draw(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 2)), max_size=30)))


def stream_of(drawn: list[tuple[Kind, int]]) -> Stream:
    """A message of each kind and partition."""
    written = []
    for number, (kind, partition) in enumerate(drawn):
        message = Message("t", partition, None, b'{"n":"%d"}' % number, event=number // 2, timestamp_ms=number)
        written.append(Written(message, (Change(0, kind),)))
    return Stream(tuple(written))


def by_partition(stages: Stages, stream: Stream) -> dict[int, list[bytes | None]]:
    """The first arrivals of the stream's own messages, by partition."""
    own = {one.message.value for one in stream.written}
    found: dict[int, list[bytes | None]] = {}
    for one in (one for stage in stages for one in stage):
        values = found.setdefault(one.message.partition, [])
        if one.message.value in own and one.message.value not in values:
            values.append(one.message.value)
    return {partition: values for partition, values in found.items() if values}


@pytest.mark.parametrize("nemesis", NEMESES, ids=lambda one: one.name)
@given(stream=streams(), seed=st.integers(0, 1000))
@example(stream=stream_of([(Kind.ROW, 0)] * 8 + [(Kind.WATERMARK, 0)] * 4), seed=1)
@settings(max_examples=40, deadline=None)
def test_every_message_arrives_and_first_arrivals_keep_the_order_of_their_partition(
    nemesis: Nemesis, stream: Stream, seed: int
) -> None:
    stages = nemesis(stream, seed)
    assert len(stages) == STAGES
    wanted: dict[int, list[bytes | None]] = {}
    for one in stream.written:
        wanted.setdefault(one.message.partition, []).append(one.message.value)
    if nemesis.compacted:
        half = [one.message.partition for one in stream.written[: len(stream.written) // 2] if one.message.topic == "t"]
        assert all(values[-1:] == wanted[partition][-1:] for partition, values in by_partition(stages, stream).items())
        assert sum(is_removed(one.message) for stage in stages for one in stage) <= max(0, len(half) - 1)
        return
    assert by_partition(stages, stream) == wanted


@pytest.mark.parametrize("nemesis", NEMESES, ids=lambda one: one.name)
@given(stream=streams())
@settings(max_examples=10, deadline=None)
def test_the_same_seed_gives_the_same_stages(nemesis: Nemesis, stream: Stream) -> None:
    assert nemesis(stream, 7) == nemesis(stream, 7)


@given(stream=streams(), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_only_the_nemeses_of_garbage_make_garbage(stream: Stream, seed: int) -> None:
    first_is_row = any(c.kind is Kind.ROW for one in stream.written[:1] for c in one.changes)
    for nemesis in NEMESES:
        flat = [one for stage in nemesis(stream, seed) for one in stage]
        spoiled = [one for one in flat if any(c.kind is Kind.CORRUPT for c in one.changes)]
        if nemesis.name not in ("corrupt", "all"):
            assert not spoiled, nemesis.name
        elif first_is_row:
            assert spoiled, nemesis.name


@pytest.fixture(scope="module")
def told() -> Stream:
    fmt = get("ticdc-canal-json")
    return Stream(streamed(fmt, fmt.profile("v7.1.6+extension"), 3, "t").written)


def test_repeats_have_the_bytes_of_the_first_and_a_later_timestamp(told: Stream) -> None:
    for name in ("duplicate", "replay", "late-watermarks", "all"):
        (nemesis,) = named(name)
        first: dict[tuple[int, bytes | None, int], int] = {}
        repeats = 0
        for one in (one for stage in nemesis(told, 1) for one in stage):
            if any(c.kind is Kind.CORRUPT for c in one.changes):
                continue
            key = (one.message.partition, one.message.value, one.message.event)
            if key in first:
                repeats += 1
                assert one.message.timestamp_ms > first[key]
            else:
                first[key] = one.message.timestamp_ms
        assert repeats > 20, name


def test_copies_have_the_timestamp_of_the_first(told: Stream) -> None:
    (nemesis,) = named("copied")
    times: dict[tuple[int, bytes | None, int], set[int]] = {}
    flat = [one.message for stage in nemesis(told, 1) for one in stage]
    for one in flat:
        times.setdefault((one.partition, one.value, one.event), set()).add(one.timestamp_ms)
    assert len(flat) > len(times) + 20
    assert {len(each) for each in times.values()} == {1}


def test_compaction_leaves_the_last_record_of_each_key_and_some_tombstones() -> None:
    fmt = get("debezium-json")
    written = streamed(fmt, fmt.profile("3.5.0.Final"), 3, "t", statements=()).written
    (nemesis,) = named("compacted")
    stages = nemesis(Stream(written), 1)
    flat = [one for stage in stages for one in stage]
    first, head = flat[: len(written) // 2], flat[len(written) // 2 :]
    assert head == list(written[len(written) // 2 :])
    assert [(one.message.key, one.message.event) for one in first] == [
        (one.message.key, one.message.event) for one in written[: len(written) // 2]
    ]
    rows = [
        (now.message, was.message) for now, was in zip(first, written, strict=False) if was.message.topic == "cdc.differential.t"
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
    (nemesis,) = named("compacted")
    ops: dict[bytes | None, list[Op]] = {}
    for one in itertools.chain(*nemesis(Stream(written), seed)):
        if not is_removed(one.message):
            ops.setdefault(one.message.key, []).extend(change.op for change in one.changes if change.op)
    assert {Op.UPDATE} in map(set, ops.values())


def test_late_watermarks_brings_lower_watermarks_behind_higher_ones(told: Stream) -> None:
    (nemesis,) = named("late-watermarks")
    marks = [
        int(c.position or 0)
        for stage in nemesis(told, 1)
        for one in stage
        for c in one.changes
        if c.kind is Kind.WATERMARK and one.message.partition == 0
    ]
    assert marks[-1] < max(marks)


def test_split_ends_every_stage_within_an_event(told: Stream) -> None:
    stages = named("split")[0](told, 1)
    borders = [(one[-1], other[0]) for one, other in itertools.pairwise(stages)]
    assert [low.message.event for low, _ in borders] == [high.message.event for _, high in borders]


def test_control_lags_reads_the_partition_of_statements_last(told: Stream) -> None:
    stages = named("control-lags")[0](told, 1)
    first = next(n for n, stage in enumerate(stages) if any(one.message.partition == 0 for one in stage))
    assert first > 0
    assert all(one.message.partition == 0 for stage in stages[first + 1 :] for one in stage)


def test_a_glob_selects_and_matching_nothing_is_an_error() -> None:
    assert [one.name for one in named("re*")] == ["replay", "reorder", "rebatch"]
    with pytest.raises(NothingSelected, match="late-watermarks"):
        named("earthquake")


@pytest.mark.parametrize("name", FORMATS)
def test_a_streamed_history_leaves_the_rows_that_it_says(name: str) -> None:
    fmt = get(name)
    for profile in {fmt.profiles[0], fmt.profiles[-1]}:
        one = streamed(fmt, profile, 5, "t_1")
        rows: dict[object, object] = {}
        for event in one.history.events:
            match event:
                case RowChange(rows=images):
                    for image in images:
                        if image.before is not None:
                            del rows[(image.before[KEY],)]
                    for image in images:
                        if image.after is not None:
                            assert (image.after[KEY],) not in rows
                            rows[(image.after[KEY],)] = image.after
                case SchemaChange(action="truncate table" | "drop table"):
                    rows.clear()
        assert rows.keys() == one.rows.keys()
        assert one.last.keys() == one.rows.keys()
        assert not one.moved & one.gone and not (one.moved | one.gone) & one.rows.keys()
        columns = {column.name for column in one.table.columns}
        assert all(row.keys() == columns for row in one.rows.values())
        ops = Counter(event.op for event in one.history.events if isinstance(event, RowChange))
        assert set(ops) == {Op.INSERT, Op.UPDATE, Op.DELETE}
        assert len(one.rows) > 3 and one.moved and one.gone


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
        one = streamed(fmt, fmt.profiles[0], seed, "t")
        for key, number in one.last.items():
            if number < one.added_after[differential.DROPPED]:
                seen += 1
                assert one.rows[key][differential.DROPPED] is None
    assert seen > 10
