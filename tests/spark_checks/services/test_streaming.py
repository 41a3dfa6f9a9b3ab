"""Keyed tables kept from changes: order, repeats, keys, statements, waiting rows, watermarks; a
query that dies and goes on.
"""

import datetime as dt
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from conformance.brokers.spark_options import spark_options
from conformance.engines.specs import decoder_spec
from conformance.lanes import by_name
from conformance.rules.order import order_of
from conformance.streams import reading as streams
from conformance.streams.kept import judge, read_state
from conformance.streams.recipes import Group
from conformance.streams.written import WrittenTopics
from generators.garbage.nemesis import STAGES, select_nemeses
from generators.model import Column, Message, Table
from generators.publishing.cluster import Cluster
from generators.publishing.kafka import publish, run_topic, run_topics
from generators.publishing.topics import ends
from generators.sources.mysql import TYPES
from generators.storage import codec
from generators.wire_format import get
from spark_checks.keepers import Keeper, Materialiser
from spark_checks.services import streaming
from spark_checks.services.engine import load, read_kafka

CHANGES = (
    "partition int, offset bigint, row int, kind string, op string, database string, schema string, "
    "table string, keys array<string>, "
    "position string, commit_time timestamp, before map<string,string>, after map<string,string>, schema_version string, "
    "sql string, error string"
)
START = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)

Row = dict[str, Any]


def change(offset: int, position: int | str | None = None, **rest: Any) -> Row:
    """A row change of table d.t with key id; `after` and `before` are dicts."""
    op = (
        "UPDATE"
        if "before" in rest and "after" in rest
        else "DELETE"
        if "before" in rest
        else "INSERT"
    )
    text = None if position is None else str(position)
    at = START + dt.timedelta(seconds=offset)
    base: Row = {
        "partition": 0,
        "offset": offset,
        "row": 0,
        "kind": "ROW",
        "op": op,
        "database": "d",
        "table": "t",
    }
    return {**base, "keys": ["id"], "position": text, "commit_time": at, **rest}


def frame(spark: SparkSession, rows: list[Row]) -> DataFrame:
    names = [part.split()[0] for part in CHANGES.split(", ")]
    # Or every branch of the merge would start Python workers of its own.
    return spark.createDataFrame(
        [tuple(row.get(name) for name in names) for row in rows], CHANGES
    ).localCheckpoint()


def kept(
    spark: SparkSession,
    path: Path,
    fmt: str,
    *batches: list[Row],
    tables: tuple[Table, ...] = (),
    first: int = 0,
) -> list[Row]:
    """Every row of the state after the batches, of which the first has this number."""
    keeper = Keeper(spark, str(path), Materialiser(order_of(fmt), tables))
    for number, batch in enumerate(batches, first):
        keeper.add(frame(spark, batch), number)
    return [row.asDict() for row in keeper.before(first + len(batches)).collect()]


def there(state: list[Row]) -> dict[str, dict[str, str]]:
    """The rows by their key."""
    rows = [row for row in state if row["part"] == "row" and not row["deleted"]]
    images = {row["key"][0]: row["image"] for row in rows}
    assert len(images) == len(rows)
    return images


def test_the_newer_position_wins_statements_reach_what_is_older_and_a_batch_may_come_again(
    spark, tmp_path
):
    """Of table n the newest, whatever arrives last, and of one commit of TiDB the delete is the
    older; statements of t and another reach rows older than they are; a batch that is run again
    gives the same state, and states of long ago go.
    """

    def ddl(offset: int, position: int, sql: str, table: str | None = "t") -> Row:
        return {
            **change(offset, position),
            "kind": "DDL",
            "op": None,
            "sql": sql,
            "table": table,
            "keys": None,
        }

    first = change(0, 9, after={"id": "n1", "v": "first"}, table="n")
    two = change(
        1, 10, before={"id": "n1", "v": "first"}, after={"id": "n1", "v": "second"}, table="n"
    )
    late = change(3, 8, after={"id": "n2", "v": "x"}, table="n")
    moved = (
        change(4, 10, after={"id": "n3", "v": "new"}, table="n"),
        change(5, 10, before={"id": "n3", "v": "old"}, table="n"),
    )
    batches = (
        [
            first,
            two,
            late,
            change(2, 11, before={"id": "n2"}, table="n"),
            *moved,
            change(6, 1, after={"id": "1", "c": "x"}),
        ],
        [change(7, 5, after={"id": "2", "c": "x"}), {**first, "offset": 8}, {**late, "offset": 9}],
        [
            *(
                ddl(10, 3, "/* by hand */ truncate `d`.`t`"),
                ddl(11, 6, "ALTER TABLE `t` DROP COLUMN `c`"),
            ),
            *(
                ddl(12, 9, "DROP TABLE IF EXISTS other", "other"),
                change(13, 7, after={"id": "3", "c": "again"}),
            ),
            change(14, 8, after={"id": "1"}, table="other"),
        ],
        [change(15, 2, after={"id": "4"}), change(16, 4, after={"id": "5", "c": "late"})],
    )
    keeper = Keeper(spark, str(tmp_path), Materialiser(order_of("ticdc-canal-json")))
    for number, batch in enumerate(batches):
        keeper.add(frame(spark, batch), number)
    state = [row.asDict() for row in keeper.before(4).collect()]
    assert there(state) == {
        "n1": {"id": "n1", "v": "second"},
        "n3": {"id": "n3", "v": "new"},
        "2": {"id": "2"},
        "3": {"id": "3", "c": "again"},
        "5": {"id": "5"},
    }
    assert ["n2"] in [row["key"] for row in state if row["part"] == "row" and row["deleted"]]
    assert [
        (row["partition"], row["count"], row["offset"]) for row in state if row["part"] == "seen"
    ] == [(0, 17, 16)]
    keeper.add(frame(spark, batches[3]), 3)
    again = [row.asDict() for row in keeper.before(4).collect()]
    assert (sorted(map(str, again)), keeper.ids()) == (sorted(map(str, state)), [1, 2, 3])


def test_file_names_come_first_keys_move_rows_and_unsent_values_are_those_before(spark, tmp_path):
    unsent, head = "__debezium_unavailable_value", "mysql-bin.0000"
    rows = [
        change(0, f"{head}10:4:0", after={"id": "1", "v": "newest"}),
        *(change(n, f"{head}09:800:{2 - n}", after={"id": "1", "v": f"old {n}"}) for n in (1, 2)),
        change(3, f"{head}10:5:0", after={"id": "2", "long": "text", "v": None}),
        change(4, f"{head}10:5:0", after={"id": "3", "v": "x"}),
    ]
    moved = change(5, f"{head}10:6:0", before={"id": "3"}, after={"id": "4", "v": "x"})
    newer = change(6, f"{head}10:7:0", before={}, after={"id": "2", "long": unsent, "v": "2"})
    late = change(7, f"{head}10:6:0", before={}, after={"id": "2", "long": unsent, "v": "late"})
    state = there(kept(spark, tmp_path, "debezium-json", rows, [moved, newer], [late]))
    assert (state["1"]["v"], state["2"], state["4"]) == (
        "newest",
        {"id": "2", "long": "text", "v": "2"},
        {"id": "4", "v": "x"},
    )
    assert set(state) == {"1", "2", "4"}


def test_offsets_of_files_count_as_numbers_and_the_table_of_a_statement_is_in_its_text(
    spark, tmp_path
):
    rows = [
        change(0, "4@10", after={"id": "1", "v": "newest"}),
        change(1, "800@9", after={"id": "1", "v": "old"}),
    ]
    sql = {
        **change(2, "9@11"),
        "kind": "DDL",
        "op": None,
        "sql": "TRUNCATE TABLE `d`.`u`",
        "table": None,
        "keys": None,
    }
    gone = change(3, "4@1", after={"id": "2"}, table="u")
    assert there(kept(spark, tmp_path, "tencent-dts-json", [*rows, gone, sql])) == {
        "1": {"id": "1", "v": "newest"}
    }


def test_each_dropped_column_of_a_statement_goes(spark, tmp_path):
    """With and without the word COLUMN, any number of them, and nothing else that DROP stands
    before.
    """
    kept_names = {
        "ALTER TABLE t DROP c": "d k",
        "ALTER TABLE t DROP COLUMN c, DROP COLUMN `d`": "k",
        "alter table t add x decimal(5,2) default 1, drop c, add index (k, d), drop d": "k",
        "ALTER TABLE IF EXISTS `t` DROP COLUMN IF EXISTS `C`, DROP IF EXISTS d": "k",
        "ALTER TABLE t COMMENT 'a, DROP c', DROP `d`, ALGORITHM=INPLACE": "c k",
        "ALTER TABLE t /* , DROP c */ ADD CHECK ((k > 1), (c in (1, 2))), DROP d": "c k",
        "ALTER TABLE t DROP INDEX c, DROP PRIMARY KEY, DROP KEY d, DROP CONSTRAINT k": "c d k",
        "ALTER TABLE t DROP FOREIGN KEY c, DROP CHECK d, DROP PARTITION k": "c d k",
        "ALTER TABLE t ADD `x, DROP c` int, ALTER k DROP DEFAULT": "c d k",
    }
    rows = []
    for n, sql in enumerate(kept_names):
        there_before = {"id": str(n), "c": "x", "d": "y", "k": "z"}
        rows.append(change(2 * n, 5, after=there_before, table=f"t{n}"))
        statement = change(2 * n + 1, 6, sql=sql, table=f"t{n}", kind="DDL", op=None, keys=None)
        rows.append(statement)
    state = there(kept(spark, tmp_path, "ticdc-canal-json", rows))
    names = [" ".join(sorted(state[str(n)].keys() - {"id"})) for n in range(len(kept_names))]
    assert names == list(kept_names.values())


def test_a_truncate_reaches_the_table_of_its_own_schema(spark, tmp_path):
    """Two schemas of a PostgreSQL database have a table of one name."""
    rows = [
        change(0, 5, after={"id": "1"}, schema="s1"),
        change(1, 6, after={"id": "2"}, schema="s2"),
        {**change(2, 7), "op": "TRUNCATE", "schema": "s1", "keys": None},
    ]
    assert set(there(kept(spark, tmp_path, "debezium-json", rows))) == {"2"}


def test_rows_wait_for_their_schema(spark, tmp_path):
    early = {**change(0, 5, after={"k": "1", "v": "x"}), "keys": None, "schema_version": "77"}
    schema = {
        **change(0, 0),
        "partition": 1,
        "kind": "BOOTSTRAP",
        "op": None,
        "keys": ["k"],
        "schema_version": "77",
    }
    other = {**schema, "offset": 1, "schema_version": "78", "keys": ["v"]}
    waiting = kept(spark, tmp_path, "ticdc-simple-json", [early, other])
    assert (there(waiting), [row["image"] for row in waiting if row["part"] == "pending"]) == (
        {},
        [{"k": "1", "v": "x"}],
    )
    state = kept(spark, tmp_path, "ticdc-simple-json", [schema], first=1)
    assert there(state) == {"1": {"k": "1", "v": "x"}}
    assert not [row for row in state if row["part"] == "pending"]


def test_tombstones_end_at_the_watermark_and_late_rows_stay_out(spark, tmp_path):
    def mark(offset: int, position: int) -> Row:
        return {**change(offset, position), "kind": "WATERMARK", "op": None, "keys": None}

    made, gone = change(0, 5, after={"id": "1"}), change(1, 6, before={"id": "1"})
    state = kept(
        spark,
        tmp_path,
        "ticdc-canal-json",
        [made, gone, mark(2, 7), mark(3, 4)],
        [mark(4, 6), {**made, "offset": 5}, change(6, 7, after={"id": "2"})],
    )
    assert there(state) == {"2": {"id": "2"}}
    assert not [row for row in state if row["part"] == "row" and row["deleted"]]
    assert [row["version"] for row in state if row["part"] == "watermark"] == [[7]]


def test_tables_tell_the_keys_that_messages_do_not(spark, tmp_path):
    table = Table("d", "t", (Column("k", TYPES["int"]), Column("id", TYPES["int"])), ("k",))
    rows = [
        {**change(n, f"bin.1:{n}", after={"k": "1", "id": str(n)}), "keys": None} for n in range(2)
    ]
    assert there(kept(spark, tmp_path, "cloudcanal-debezium", rows, tables=(table,))) == {
        "1": {"k": "1", "id": "1"}
    }


@pytest.fixture
def asked(tmp_path: Path) -> Callable[..., tuple[Group, dict[str, Any]]]:
    """A group of streams that tasks make, and the request to read it."""

    def make(
        name: str, profile: str, nemeses: str, pattern: str = ""
    ) -> tuple[Group, dict[str, Any]]:
        fmt, chosen = (
            get(name),
            [nemesis for glob in nemeses.split() for nemesis in select_nemeses(glob)],
        )
        group = streams.group_of(fmt, (fmt.profile(profile),), chosen, 1, pattern=pattern)
        request = {
            "source": streams.feed_options(group, tmp_path / "streams"),
            "format": name,
            "decoder": decoder_spec(fmt.name, None),
            "parts": [
                (codec.dump_deployment(deployment), *span) for deployment, *span in group.parts
            ],
            "tables": [codec.dump_table(stream.story.table) for stream in group.streams],
            "directory": str(tmp_path / "tables"),
            "makers": ["reference"],
        }
        return group, request

    return make


def kind_of_time(spark: SparkSession, topics: WrittenTopics, name: str) -> set[int]:
    """The kinds of timestamps of a topic's records."""
    reader = spark.read.format("kafka").options(**topics.options).option("subscribe", name)
    return {
        row["timestampType"] for row in reader.load().select("timestampType").distinct().collect()
    }


@pytest.mark.parametrize(
    ("level", "streams_of"),
    [
        (
            "read_committed",
            ("debezium-json", "3.5.0.Final", "corrupt append-time compacted", "{topic}"),
        ),
        ("read_uncommitted", ("huawei-cdl-json", "1.0", "corrupt")),
    ],
)
def test_of_used_topics_only_committed_messages_count(
    spark, kafka, tmp_path, asked, level, streams_of
):
    group, request = asked(*streams_of)
    with run_topics(kafka.cluster, group.topics, append_time=group.append_time) as names:
        used = WrittenTopics(kafka.cluster, group, names, used=True)
        for stage in range(STAGES):
            used.publish(group.messages(stage))
        options = {**used.options, "kafka.isolation.level": level}
        source = {"kafka": options, "topic": ",".join(names.values())}
        request |= {"source": source, "lanes": by_name(group.lanes(names))}
        streaming.handle(spark, request, load)
        firsts = {
            first for name in names.values() for first, _ in ends(kafka.cluster, name).values()
        }
        kinds = [
            kind_of_time(spark, used, names[topic])
            for topic in (*group.topics, *sorted(group.append_time))[:: len(names)]
        ]
    outcomes = judge(
        group, used.with_message_numbers(read_state(tmp_path / "tables" / "reference"))
    )
    outcome = next(outcome for outcome in outcomes if outcome.nemesis == "corrupt")
    assert firsts == {1}
    assert outcome.corrupt > 0
    if level == "read_committed":
        assert (kinds, [outcome.wrong for outcome in outcomes]) == ([{0}, {1}], [[], [], []])
    else:
        broken = {f"huawei-cdl-json/stream/{rule}" for rule in ("corrupt-kept", "every-offset")}
        assert {rule for rule, _ in outcome.wrong} == broken


def test_batches_in_every_compression_are_read(spark, kafka):
    values = [b"%d" % number * 40 for number in range(500)]
    with run_topic(kafka.cluster, 1) as topic:
        for at, kind in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
            some = [
                Message("", 0, None, value, timestamp_ms=1)
                for value in values[100 * at : 100 * (at + 1)]
            ]
            publish(Cluster(kafka.bootstrap, {"compression.type": kind}), topic, some)
        read = read_kafka(
            spark, spark_options(kafka.cluster), topic, [(topic, 0, 0, 499)]
        ).collect()
    assert [bytes(row["value"]) for row in sorted(read, key=lambda row: row["offset"])] == values


def materialise(changes: DataFrame, tables: Sequence[Table], checkpoint: str) -> StreamingQuery:
    keeper = Keeper(
        changes.sparkSession,
        f"{checkpoint}/state",
        Materialiser(order_of("ticdc-canal-json"), tuple(tables)),
    )
    return (
        changes.writeStream.foreachBatch(keeper.add)
        .option("checkpointLocation", f"{checkpoint}/query")
        .start()
    )


def materialised(spark: SparkSession, checkpoint: str) -> DataFrame:
    keeper = Keeper(spark, f"{checkpoint}/state", Materialiser(order_of("ticdc-canal-json")))
    state = keeper.before(keeper.ids()[-1] + 1)
    return state.where("part = 'row' AND NOT deleted").select(
        "database", "schema", "table", "key", "image"
    )


def test_a_level_three_of_ones_own_is_judged_by_its_rows(spark, tmp_path, asked, monkeypatch):
    group, request = asked("ticdc-canal-json", "v7.1.6+extension", "none")
    own, ours = (
        ModuleType("own_tables"),
        importlib.import_module("spark_checks.decoders.ticdc_canal_json"),
    )
    monkeypatch.setattr(own, "decode", ours.decode, raising=False)
    monkeypatch.setattr(own, "materialise", materialise, raising=False)
    monkeypatch.setattr(own, "materialised", materialised, raising=False)
    monkeypatch.setitem(sys.modules, "own_tables", own)
    streaming.handle(spark, {**request, "decoder": "own_tables"}, load)
    state = read_state(tmp_path / "tables" / "reference")
    assert state.rows_alone
    assert [outcome.wrong for outcome in judge(group, state)] == [[]]
