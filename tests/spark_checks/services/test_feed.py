"""The data source `cdc`: the rows of Kafka's source without a broker, the messages of `publish`,
made by tasks.
"""

import json
import pickle
from collections import Counter
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException

from conformance.load.feed import Feed, Options
from conformance.streams.recipes import group_of
from generators.bulk import traffic
from generators.drawing.cases import LAYOUT
from generators.drawing.streams import START_MS
from generators.errors import NothingSelected, UsageError
from generators.garbage import faults, nemesis
from generators.storage import bulk, records
from generators.wire_format import get
from spark_checks import ChangeFeed

ORDERS = Path(__file__).parents[3] / "examples" / "tables" / "shop.sql"
TICDC = "ticdc-canal-json"


@pytest.fixture(scope="module")
def cdc(spark):
    spark.dataSource.register(ChangeFeed)
    return spark


def rows(batches):
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("name", "profile"), [(TICDC, "v8.5.7"), ("ticdc-simple-avro", "v8.5.7"), ("debezium-json", "")]
)
def test_the_messages_are_those_of_publish(name, profile):
    feed, fmt = Feed.make_feed(Options(name, profile, seed="7")), get(name)
    chosen = fmt.profile(profile) if profile else fmt.profiles[-1]
    published = list(traffic.messages(fmt, chosen, 7, 0, 300, layout=LAYOUT))
    made = rows(feed.batches(0, 120)) + rows(feed.batches(120, 300))
    offsets = [offset for offset, _ in bulk.numbered_messages(fmt, chosen, 7, 0, 300)]
    assert made == rows([records.batch(published, offsets)])
    slow = rows(Feed.make_feed(Options(name, profile, seed="7", expected="true")).batches(0, 300))
    assert [{key: value for key, value in row.items() if key != "expected"} for row in slow] == made
    owed = [change for row in slow for change in map(json.loads, row["expected"])]
    assert len(owed) >= 300


def test_faults_stand_between_the_messages_and_nothing_else_changes():
    plain = Feed.make_feed(Options(TICDC, "v8.5.7"))
    spoiled = Feed.make_feed(Options(TICDC, "v8.5.7", faults="truncated", expected="true"))
    made = rows(spoiled.batches(0, 256))
    corrupt = [row for row in made if json.loads(row["expected"][0])["kind"] == "CORRUPT"]
    assert len(corrupt) > 256 / 6
    assert {row["value"] for row in corrupt}.isdisjoint(
        {row["value"] for row in rows(plain.batches(0, 256))}
    )
    assert [r["value"] for r in made if r not in corrupt] == [
        r["value"] for r in rows(plain.batches(0, 256))
    ]
    assert rows(spoiled.batches(64, 128)) == [
        row for row in made if 64 * 32 <= row["offset"] < 128 * 32
    ]
    places = [(row["partition"], row["offset"]) for row in made]
    assert places == sorted(places, key=lambda place: place[1])
    assert len(set(places)) == len(places)


def test_nemeses_repeat_and_reorder_but_keep_every_message():
    plain = {row["value"] for row in rows(Feed.make_feed(Options(TICDC, "v8.5.7")).batches(0, 128))}
    made = rows(
        Feed.make_feed(Options(TICDC, "v8.5.7", nemeses="duplicate,reorder")).batches(0, 128)
    )
    assert {row["value"] for row in made} == plain
    assert len(made) > 150
    with pytest.raises(UsageError, match="nemesis compacted needs a broker"):
        Feed.make_feed(Options(TICDC, nemeses="compacted"))
    doubtful = next(fault.name for fault in faults.FAULTS if fault.obligation != faults.MUST)
    for name in ("nothing", doubtful):
        with pytest.raises(
            NothingSelected,
            match=f"no fault of ticdc-canal-json matches '{name}'; there are .*truncated",
        ):
            Feed.make_feed(Options(TICDC, faults=name))


@pytest.mark.parametrize("number", ["", "x", "0", "1.5", "\u0663", "9" * 5000])
def test_a_number_of_the_source_is_a_whole_one(number):
    with pytest.raises(
        UsageError, match=r"option slices is '.*'; it must be a whole number from 1"
    ):
        Options(TICDC, slices=number).number("slices")


@pytest.mark.parametrize("rate", ["x", "0", "-1", "nan", "inf", "1e400"])
def test_a_rate_of_the_source_is_a_number_above_0(rate):
    with pytest.raises(UsageError, match=r"option rate is '.*'; it must be a number above 0"):
        Options(TICDC, rate=rate).units_per_second()
    assert Options(TICDC).units_per_second() is None
    assert Options(TICDC, rate="0.5").units_per_second() == 0.5


def test_a_batch_comes_from_tasks_in_kafka_s_columns(cdc):
    asked = (
        cdc.read.format("cdc")
        .option("format", TICDC)
        .option("tables", str(ORDERS))
        .option("expected", "true")
    )
    frame = asked.option("count", 100).option("slices", 2).option("topic", "mine").load()
    assert frame.rdd.getNumPartitions() == 2
    collected = frame.collect()
    assert {row.topic for row in collected} == {"mine"}
    assert {json.loads(row.expected[0])["table"] for row in collected} > {"orders"}
    assert frame.columns[:8] == [
        "key",
        "value",
        "topic",
        "partition",
        "offset",
        "timestamp",
        "timestampType",
        "headers",
    ]
    wanted = rows(
        Feed.make_feed(Options(TICDC, tables=str(ORDERS), expected="true", topic="mine")).batches(
            0, 100
        )
    )
    assert [bytes(row.value) for row in collected] == [row["value"] for row in wanted]
    with pytest.raises(AnalysisException, match=r"unknown option 'sed'.*seed"):
        cdc.read.format("cdc").option("format", TICDC).option("sed", 1).load()


def test_a_stream_goes_on_from_its_checkpoint(cdc, tmp_path):
    seen = []

    def note(batch, number):
        seen.append((number, [bytes(row.value) for row in batch.collect()]))

    def read(**options):
        source = (
            cdc.readStream.format("cdc")
            .options(format=TICDC, profile="v8.5.7", batch="100", **options)
            .load()
        )
        query = (
            source.writeStream.foreachBatch(note)
            .option("checkpointLocation", str(tmp_path))
            .start()
        )
        try:
            query.processAllAvailable()
        finally:
            query.stop()

    read(count="150")
    assert [len(values) for _, values in seen] == [100, 50]
    read(count="250", rate="100000")
    assert [number for number, _ in seen] == list(range(len(seen)))
    published = [
        message.value
        for message in traffic.messages(get(TICDC), get(TICDC).profile("v8.5.7"), 1, 0, 250)
    ]
    assert [value for _, values in seen for value in values] == published


def test_a_stage_of_streams_is_made_anywhere_as_it_was_told():
    fmt, nemeses = (
        get("debezium-json"),
        [
            nemesis.select_nemeses(name)[0]
            for name in ("all", "append-time", "compacted", "schema-lags")
        ],
    )
    group = group_of(fmt, fmt.profiles[:2], nemeses, 3)
    staged = pickle.loads(pickle.dumps(group.staged))
    count, ends = len(group.streams), Counter()
    for stage in range(nemesis.STAGES):
        made = rows(staged.batches(stage * count, (stage + 1) * count))
        there = [(m, ends[m.topic, m.partition] + n) for m, n in numbered(group.messages(stage))]
        wanted = [records.kafka_row(m, offset) for m, offset in there if not nemesis.is_removed(m)]
        late = {"timestamp": (START_MS + stage) * 1000, "timestampType": 1}
        wanted = [row | late if row["topic"] == "append-time" else row for row in wanted]
        assert [
            row | {"timestamp": int(row["timestamp"].timestamp() * 1e6)} for row in made
        ] == wanted
        ends.update((m.topic, m.partition) for m in group.messages(stage))
    assert set(ends) == {place for stream in group.streams for place in stream.places}


def numbered(messages):
    """Each message and its number in its partition."""
    seen = Counter()
    for message in messages:
        yield message, seen[message.topic, message.partition]
        seen[message.topic, message.partition] += 1
