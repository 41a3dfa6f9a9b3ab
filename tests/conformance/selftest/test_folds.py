"""Each habit of wrong pipelines is convicted in each format by the rule that it breaks, and a right
pipeline by none.
"""

from __future__ import annotations

import pytest

from conformance.pipelines.results import PipelineResult
from conformance.pipelines.running import PipelineSettings, streams_of
from conformance.rules.order import order_of
from conformance.rules.pipelines import rules
from conformance.selftest.folds import FOLDS, HABITS, Fold, fold, shows
from generators.wire_format import FORMATS

TRIED = [
    *((name, "") for name in FORMATS if not order_of(name).arrival),
    ("debezium-json", "3.5.0.Final+postgresql"),
    ("debezium-avro", "3.5.0.Final+postgresql"),
]


@pytest.mark.parametrize(("name", "profile"), TRIED, ids=[" ".join(pair) for pair in TRIED])
def test_each_habit_is_convicted_by_its_rule_and_the_right_pipeline_by_none(
    name: str, profile: str
) -> None:
    streams, lost = streams_of(PipelineSettings(name, "mine.py", profile))
    assert not lost
    assert {s.nemesis.name: r.wrong for s in streams if (r := fold(s)).broken} == {}
    missed = {}
    for habit in HABITS.values():
        trapped = [stream for stream in streams if shows(habit, stream)]
        results = [fold(stream, FOLDS[habit.name]) for stream in trapped]
        broken = {rule.rpartition("/")[2] for result in results for rule in result.broken}
        if trapped and habit.convicts not in broken:
            missed[habit.name] = broken
    assert missed == {}


def test_a_format_whose_updates_are_two_messages_is_left_out() -> None:
    """A batch may end between the DELETE and the INSERT: the right table lacks the row then, and a
    law would call it a step back.
    """
    streams, lost = streams_of(PipelineSettings("flink-ogg-json", "mine.py", "1.20.3"))
    assert streams == []
    assert [result.lost for result in lost] == [
        "an UPDATE is a DELETE and an INSERT: between them a right table lacks the row"
    ]


def test_every_fold_has_a_habit_and_every_habit_a_rule() -> None:
    assert FOLDS.keys() == HABITS.keys()
    assert len(FOLDS) == 18
    known = {rule.id.rpartition("/")[2] for rule in rules("debezium-json")}
    assert {habit.convicts for habit in HABITS.values()} <= known


def test_words_name_the_event_and_the_message() -> None:
    streams, _ = streams_of(PipelineSettings("ticdc-canal-json", "mine.py"))
    by_nemesis = {stream.nemesis.name: stream for stream in streams}
    told = {
        habit: fold(by_nemesis[nemesis], FOLDS[habit]).wrong[0]
        for habit, nemesis in (
            ("no-truncate", "none"),
            ("hard-delete", "behind-deletes"),
            ("by-op", "none"),
        )
    }
    assert told["no-truncate"][0] == "ticdc-canal-json/pipeline/truncate"
    assert told["no-truncate"][1] == (
        "row 2 was removed by DROP TABLE `differential`.`orders` at 445644813631488001"
        " (message 95: partition 0, offset 10), and is there"
    )
    rule, words = told["hard-delete"]
    assert rule == "ticdc-canal-json/pipeline/tombstone"
    assert " was removed by DELETE at " in words
    assert words.endswith(", which is older, brought it back")
    assert told["by-op"][0] == "ticdc-canal-json/pipeline/one-per-batch"
    assert told["by-op"][1] == (
        "row 34 is missing: INSERT at 445644815466496001 (message 104: partition 1, offset 82) and"
        " UPDATE at 445644815466496002 (message 105: partition 1, offset 83) came in one batch"
    )
    assert issubclass(FOLDS["no-guard"], Fold)


@pytest.mark.parametrize(
    ("habit", "rule"),
    [("no-truncate", "truncate"), ("old-key-left", "key-change"), ("by-op", "one-per-batch")],
)
def test_what_was_wrong_before_a_replay_is_not_blamed_on_it(habit: str, rule: str) -> None:
    (stream,), _ = streams_of(PipelineSettings("debezium-json", "mine.py", nemesis="replay"))
    assert fold(stream, FOLDS[habit]).wrong[0][0] == f"debezium-json/pipeline/{rule}"


@pytest.mark.parametrize(
    ("name", "nemesis", "habit", "first"),
    [
        (
            "alibaba-canal-json",
            "none",
            "first-row",
            (
                "alibaba-canal-json/pipeline/convergence",
                (
                    "row 29 is missing: INSERT at 230050 (message 51: partition 0, offset 50) is not"
                    " there; it is row 2 of 2 of its message, as every change that the table misses"
                ),
            ),
        ),
        (
            "debezium-json",
            "reorder",
            "high-water",
            (
                "debezium-json/pipeline/convergence",
                (
                    "row 18 is missing: INSERT at mysql-bin.999999:813:1 (message 147: partition 2,"
                    " offset 42) is not there; it came in a later batch than newer changes of other"
                    " rows, as every change that the table misses: does a high-water mark or a"
                    " watermark drop it?"
                ),
            ),
        ),
        (
            "maxwell-json",
            "none",
            "deleted-inserted",
            (
                "maxwell-json/pipeline/delete",
                (
                    "row 2 was removed by DELETE at binlog.999999:1064960005 (message 91: partition 0,"
                    " offset 90), and is there; the row and its removal came in one batch: an older"
                    " change of the batch counted, or WHEN NOT MATCHED inserted the row of a DELETE"
                ),
            ),
        ),
        (
            "maxwell-json",
            "replay",
            "deleted-inserted",
            (
                "maxwell-json/pipeline/delete",
                (
                    "row 8 was removed by DELETE at binlog.999999:1064960005 (message 96: partition 0,"
                    " offset 95) and was gone after batch 2; message 312, a repeat: partition 0, offset"
                    " 311, which tells it once more, brought it back: WHEN NOT MATCHED inserted the"
                    " row of a DELETE"
                ),
            ),
        ),
    ],
)
def test_what_all_wrong_rows_have_in_common_is_told_first(
    name: str, nemesis: str, habit: str, first: tuple[str, str]
) -> None:
    (stream,), _ = streams_of(PipelineSettings(name, "mine.py", nemesis=nemesis))
    assert fold(stream, FOLDS[habit]).wrong[0] == first


def test_a_change_that_no_time_mistakes_acquits_the_order() -> None:
    (stream,), _ = streams_of(PipelineSettings("maxwell-json", "mine.py", nemesis="none"))
    assert broken(fold(stream, FOLDS["deleted-inserted"])) == {"delete": 10}
    (stream,), _ = streams_of(PipelineSettings("maxwell-json", "mine.py", nemesis="stale"))
    assert broken(fold(stream, FOLDS["first-of-batch"])) == {
        "one-per-batch": 4,
        "delete": 12,
        "key-change": 1,
    }
    assert broken(fold(stream, FOLDS["by-millisecond"])) == {"order": 2, "tombstone": 8}


def broken(result: PipelineResult) -> dict[str, int]:
    return {rule.rpartition("/")[2]: count for rule, count in result.broken.items()}
