from types import SimpleNamespace

import pytest

from conformance.load.source import place_hash
from spark_checks.services import sustained


def test_without_a_query_there_is_nothing_to_tell_and_stopping_does_nothing():
    for what in ("status", "sample"):
        with pytest.raises(RuntimeError, match="no query runs"):
            sustained.handle(None, {"do": what, "out": ""}, None)
    assert sustained.handle(None, {"do": "stop"}, None) == {}
    with pytest.raises(RuntimeError, match="unknown request 'go'"):
        sustained.handle(None, {"do": "go"}, None)


def test_offsets_are_those_of_the_partitions_of_one_topic_or_of_the_lanes_of_several():
    assert sustained._offsets('{"cdc":{"0":5,"1":7}}', {}) == {"0": 5, "1": 7}
    lanes = {"cdc/0": 0, "cdc/1": 1, "other/0": 2}
    assert sustained._offsets('{"cdc":{"0":5,"1":7},"other":{"0":1}}', lanes) == {
        "0": 5,
        "1": 7,
        "2": 1,
    }
    assert sustained._offsets(None, {}) == {}


def test_the_sum_of_places_is_the_producers(spark):
    places = [(0, 0), (1, 0), (2, 3), (1, 123_456_789), (7, 3_000_000_000)]
    frame = spark.createDataFrame(places, "partition int, offset long")
    hashes = frame.selectExpr(f"{sustained.PLACE_HASH} AS h").toArrow().column("h").to_pylist()
    assert hashes == [place_hash(*place) for place in places]


def test_what_is_observed_counts_messages_by_their_first_row_and_samples_whole_rows(spark):
    rows = [
        (0, 8, 0, "ROW", {"a": "1"}),
        (0, 8, 1, "ROW", None),
        (0, 9, 0, "CORRUPT", None),
        (1, 12, 0, "ROW", {"b": None}),
    ]
    frame = spark.createDataFrame(
        rows, "partition int, offset long, row int, kind string, after map<string,string>"
    )
    observed = frame.agg(*sustained.metrics(frame, 4)).collect()[0]
    assert (
        observed["rows"],
        observed["messages"],
        observed["ROW"],
        observed["CORRUPT"],
        observed["DDL"],
    ) == (4, 3, 3, 1, 0)
    assert observed["places"] == sum(place_hash(*place) for place in ((0, 8), (0, 9), (1, 12)))
    assert sorted((row.offset, row.row) for row in observed["sample"]) == [(8, 0), (8, 1), (12, 0)]


def test_the_sample_is_bounded(monkeypatch):
    held = []
    rows, query = (
        SimpleNamespace(size=lambda: len(held), add=held.append),
        object.__new__(sustained._Query),
    )
    query._rows, query._until, query._full = rows, {}, False
    monkeypatch.setattr(sustained, "LARGEST_SAMPLE", 5)
    query._keep([1, 2, 3], {"0": 10})
    query._keep([4, 5, 6], {"0": 20})
    query._keep([7], {"0": 30})
    assert (held, query._until) == ([1, 2, 3], {"0": 10})


def test_a_first_batch_with_data_starts_where_the_query_did():
    observed = SimpleNamespace(getList=lambda _: [], get=lambda _: 0)

    def progress(number, start, end):
        offsets = [
            None if offset is None else f'{{"cdc":{{"0":{offset},"1":4}}}}'
            for offset in (start, end)
        ]
        source = SimpleNamespace(startOffset=lambda: offsets[0], endOffset=lambda: offsets[1])
        facts = {
            "batchId": number,
            "sources": [source],
            "durationMs": {},
            "timestamp": "2024-01-01T00:00:00.000Z",
        }
        facts |= {"numInputRows": 9, "observedMetrics": {sustained.METRICS: observed}}
        return SimpleNamespace(**{name: lambda fact=fact: fact for name, fact in facts.items()})

    query = object.__new__(sustained._Query)
    query.mode, query._lanes, query._reached = "stream", sustained.Lanes({}), {"0": 31, "1": 4}
    query._rows, query._until, query._full = SimpleNamespace(size=lambda: 0), {}, False
    batches = [query._batch(progress(*facts)) for facts in ((0, None, 40), (1, 40, 49))]
    assert [batch["offsets"] for batch in batches] == [
        {"0": [31, 40], "1": [4, 4]},
        {"0": [40, 49], "1": [4, 4]},
    ]


@pytest.mark.parametrize(("active", "asked"), [([2, 1, 0, 5], 3), ([1] * 1000, None)])
def test_a_query_is_stopped_when_its_tasks_have_ended_or_do_not_end(
    monkeypatch, tmp_path, active, asked
):
    """A task that reads Kafka cannot be interrupted, and its topic is deleted next."""
    calls, left = [], iter(active)
    tracker = SimpleNamespace(
        getJobIdsForGroup=lambda group: [7, 3] if group == "run" else [],
        getJobInfo={3: None, 7: SimpleNamespace(stageIds=[11, 12])}.get,
        getStageInfo=lambda stage: (
            None
            if stage == 12
            else calls.append("asked") or SimpleNamespace(numActiveTasks=next(left))
        ),
    )
    query = object.__new__(sustained._Query)
    query._spark = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: tracker))
    query._query, query._checkpoint = (
        SimpleNamespace(runId="run", stop=lambda: calls.append("stopped")),
        str(tmp_path / "gone"),
    )
    monkeypatch.setattr(sustained, "TRACKED_S", 0.001)
    monkeypatch.setattr(sustained, "TASKS_S", 10 if asked else 0.05)
    query.stop()
    assert calls[:2] == ["stopped", "asked"]
    assert len(calls) == 1 + asked if asked else len(calls) < 1000
