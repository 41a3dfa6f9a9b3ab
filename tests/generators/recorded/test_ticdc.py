"""The recordings of TiCDC: every message belongs to an episode."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from generators.errors import Refused
from generators.families.ticdc.sink import partition_of
from generators.model import History, Instant, Op, Origin, RowChange, SchemaChange
from generators.recorded import apart, store, ticdc
from generators.recorded.episodes import cases, written_for
from generators.wire_format import get

RECORDINGS = [recording.name for recording in store.recordings("ticdc")]


@cache
def _all():
    return tuple(ticdc.episodes())


def episodes(name):
    return [episode for episode in _all() if episode.recording.name == name]


def episode(recording, name):
    (chosen,) = (e for e in episodes(recording) if e.name == name)
    return chosen


def test_every_message_is_in_an_episode_or_apart_with_a_reason():
    assert len(RECORDINGS) == 51
    for recording in store.recordings("ticdc"):
        found = episodes(recording.name)
        in_episodes = Counter(m.value or m.key for e in found for m in e.messages)
        recorded = Counter(m.value or m.key for m in store.messages(recording))
        assert not in_episodes - recorded
        left_over = recorded - in_episodes
        assert not left_over or recording.name.startswith("v857-")
        for message in store.messages(recording):
            if (message.value or message.key) in left_over:
                assert apart.reason_without_episode(recording, message)
        assert len({e.name for e in found}) == len(found)


def test_schema_versions_change_when_the_recorded_ones_do():
    fmt = get("ticdc-simple-json")
    for life in episodes("simple-json-main"):
        ours = [
            json.loads(w.message.value)
            for w in written_for(fmt, fmt.profile(life.recording.profile), life)
        ]
        pairs = set(
            zip(
                versions(map(json.loads, (m.value for m in life.messages))),
                versions(ours),
                strict=True,
            )
        )
        assert len({theirs for theirs, _ in pairs}) == len({own for _, own in pairs}) == len(pairs)


def versions(bodies):
    for body in bodies:
        yield from (
            body[key]["version"] for key in ("tableSchema", "preTableSchema") if key in body
        )
        if "schemaVersion" in body:
            yield body["schemaVersion"]


def test_a_split_update_of_a_key_is_one_update_of_the_history():
    (key,) = (
        event
        for event in episode("canal-json-ext", "test.t_vpk").history.events
        if isinstance(event, RowChange)
        and event.op is Op.UPDATE
        and event.rows[0].before["id"] != event.rows[0].after["id"]
    )
    assert len(key.rows) == 1


def test_a_life_goes_on_under_other_names():
    events = episode("simple-json-main", "test.t_ddl").history.events
    statements = [event for event in events if isinstance(event, SchemaChange)]
    assert [event.table for event in statements if event.action == "rename table"] == [
        "t_ddl2",
        "t_ddl3",
    ]
    assert [event.action for event in statements][-2:] == ["drop table", "recover table"]


def test_statements_that_a_run_left_out_are_in_the_history_and_not_owed():
    life = episode("simple-json-snappy", "test.t_ddl")
    assert life.unrecorded
    assert all(isinstance(life.history.events[number], SchemaChange) for number in life.unrecorded)


def test_commit_times_of_the_truth_are_judged_at_both_levels():
    life = episode("canal-json-ext", "test.t_dates")
    fmt = get("ticdc-canal-json")
    first, second = cases(fmt, fmt.profile(life.recording.profile), life)
    assert (first.level, second.level, first.deployment.time_zone) == (1, 2, "Asia/Shanghai")
    assert all(
        change.position and change.commit_time_us for w in first.written for change in w.changes
    )


@pytest.mark.parametrize(
    "name", ["canal-json-ext", "simple-json-main", "simple-avro-main", "canal-json-ext-lz4"]
)
def test_blanking_leaves_what_is_told(name):
    life = episode(name, "test.t_ints")
    blank = life.recording.volatile
    blanked = [blank(message.value) for message in life.messages]
    assert len(set(blanked)) == len(blanked)
    spoiled = life.messages[-1].value[:-3] + b"x" + life.messages[-1].value[-2:]
    if name in ("canal-json-ext", "simple-json-main"):
        assert blank(spoiled) != blanked[-1]


def test_an_episode_that_our_writer_does_not_match_is_one_failed_case():
    fmt = get("ticdc-canal-json")
    life = episode("canal-json-ext", "test.t_ints")
    for spoiled, why in (
        (replace(life, messages=life.messages[1:]), "messages, "),
        (
            replace(
                life,
                history=History(
                    (SchemaChange(Instant(1), "flashback", "FLUSH TABLES", "test", "t"),)
                ),
            ),
            "not known",
        ),
    ):
        (case,) = cases(fmt, fmt.profile(life.recording.profile), spoiled)
        assert (case.written, case.origin, case.id) == ((), Origin.RECORDED, life.case_id)
        assert "our writer does not match" in case.unmatched and why in case.unmatched


def test_partitions_are_those_of_ticdcs_dispatchers():
    """The truth tells, for each row, the partition of each dispatcher of 3 and of 16; columns takes
    the table's last column.
    """
    compared = 0
    for step in ticdc._steps("truth-v855"):
        for name, partition in step.truth.get("partitions", {}).items():
            dispatcher, _, count = name.partition("/")
            images = ticdc._row_images(step, step.table)
            row = images.after if images.after is not None else images.before
            arguments = (dispatcher, step.table, row, step.at.tso, int(count), ticdc.ZONE)
            if isinstance(partition, str):
                with pytest.raises(Refused, match="behind virtual g"):
                    partition_of(*arguments)
            else:
                assert partition_of(*arguments) == partition, (step.number, name)
            compared += 1
    assert compared == 928
