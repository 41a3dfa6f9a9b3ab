"""The judge of pipelines without Spark: tables that go back, types, claims, words, limits; what
`new-pipeline` writes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from command_lines import performed
from remembered import done

from conformance.brokers.lakehouses import lakehouse
from conformance.engines.engine import AnswerTimeout, DecodeRaised
from conformance.judging.compare import Typed
from conformance.pipelines import running
from conformance.pipelines.histories import KeptVersion
from conformance.pipelines.judging import judge
from conformance.pipelines.report import PipelineReport
from conformance.pipelines.results import PipelineResult
from conformance.pipelines.rows import OwnTypes, is_same
from conformance.pipelines.running import PipelineSettings, streams_of
from conformance.pipelines.sessions import session_conf
from conformance.pipelines.showing import render
from conformance.pipelines.snapshots import Snapshot, SnapshotFiles, read_snapshot
from conformance.pipelines.timeline import arrivals_of, is_spoiled, timelines_of
from conformance.pipelines.writing import pipeline_text
from conformance.rules.order import order_of
from conformance.rules.pipelines import rules
from conformance.selftest.folds import FOLDS, Fold, fold
from conformance.selftest.keeping import batches
from conformance.streams.recipes import Group, ReadStream
from generators.errors import HarnessError, UsageError
from generators.garbage.nemesis import STAGES
from generators.model import Cell, State
from generators.sources import mysql, postgresql
from generators.tables.reading import read_schema
from generators.tables.user_values import Values
from generators.wire_format import FORMATS, get

FORMAT = "ticdc-canal-json"
EXAMPLES = Path(__file__).parents[3] / "examples"


def stream_under(nemesis: str) -> ReadStream:
    (stream,), _ = streams_of(PipelineSettings(FORMAT, "mine.py", nemesis=nemesis))
    return stream


def right_snapshots(stream: ReadStream) -> list[Snapshot]:
    keeper = Fold(Group.of_streams(get(FORMAT), (stream,)))
    snapshots = []
    for records in batches(keeper.group):
        keeper.add(records)
        snapshots.append(keeper.snapshot())
    return snapshots


def broken(result: PipelineResult) -> dict[str, int]:
    return {rule.rpartition("/")[2]: count for rule, count in result.broken.items()}


def test_the_versions_of_a_row_end_with_the_rows_of_the_source() -> None:
    story = stream_under("none").story
    last = {key: versions[-1].image for key, versions in timelines_of(story).items()}
    assert {key for key, image in last.items() if image} == story.rows.keys()
    assert story.moved | story.gone <= {key for key, image in last.items() if image is None}


def test_no_batch_shows_a_row_as_it_was_before_what_an_earlier_one_showed() -> None:
    stream = stream_under("none")
    first, second, third, last = right_snapshots(stream)
    assert broken(judge(FORMAT, stream, (first, second, third, last), OwnTypes())) == {}
    result = judge(FORMAT, stream, (first, third, second, last), OwnTypes())
    assert broken(result).keys() == {"no-way-back"}
    assert " after batch 2, although the table had shown " in result.wrong[0][1]


def test_batches_that_change_nothing_are_told_of_a_wrong_table() -> None:
    stream = stream_under("none")
    first, *_, last = right_snapshots(stream)
    notes = judge(FORMAT, stream, (first, first, last, last), OwnTypes()).notes
    assert notes == []
    notes = judge(FORMAT, stream, (first, first, last, first), OwnTypes()).notes
    assert notes == [
        (
            "batch 1 has changes of rows, and behind it the table is as it was before: does the"
            " pipeline catch an error?"
        )
    ]


def test_a_table_that_never_has_a_row_is_told_first() -> None:
    stream = stream_under("none")
    empty = [replace(snapshot, rows=()) for snapshot in right_snapshots(stream)]
    assert judge(FORMAT, stream, empty, OwnTypes()).wrong[0] == (
        "ticdc-canal-json/pipeline/convergence",
        (
            "the table had no row after any batch: does the pipeline read the messages? A type that"
            " from_json does not find in them gives NULL"
        ),
    )


def test_a_row_whose_key_is_null_is_told_with_what_gives_one() -> None:
    stream = stream_under("none")
    *earlier, last = right_snapshots(stream)
    empty = dict.fromkeys(last.rows[0])
    result = judge(FORMAT, stream, [*earlier, replace(last, rows=(*last.rows, empty))], OwnTypes())
    assert result.wrong == [
        (
            "ticdc-canal-json/pipeline/convergence",
            (
                "a row is there that never was: id=NULL, as a tombstone, the missing image of a"
                " DELETE or an unreadable message gives"
            ),
        )
    ]


def test_a_column_of_another_type_is_named_once_and_a_claim_is_said() -> None:
    stream = stream_under("none")
    snapshots = right_snapshots(stream)

    def as_double(row: Mapping[str, Typed | None]) -> dict[str, Typed | None]:
        price = row["price"]
        return {**row, "price": price and Typed("double", float(price.value))}

    last = replace(snapshots[-1], rows=tuple(map(as_double, snapshots[-1].rows)))
    plain = judge(FORMAT, stream, [*snapshots[:-1], last], OwnTypes())
    assert plain.wrong == [
        (
            "ticdc-canal-json/pipeline/types",
            (
                "column price is kept as double, not as decimal(10,2); if that is on purpose, say"
                ' TYPES = {"price": "string"} (or "double")'
            ),
        )
    ]
    claimed = judge(FORMAT, stream, [last] * STAGES, OwnTypes.parse({"pri*": "double"}))
    assert not [rule for rule in broken(claimed) if rule != "no-way-back"]
    assert claimed.notes == ["column price is kept as double on purpose (TYPES)"]


@pytest.mark.parametrize(
    ("cell", "actual", "claim", "same"),
    [
        (Cell(State.VALUE, mysql.decimal(10, 2), Decimal("1.50"), "1.50"), Typed("string", "1.50"), "string", True),
        (Cell(State.VALUE, mysql.decimal(10, 2), Decimal("1.50"), "1.50"), Typed("string", "1.5"), "string", False),
        (Cell(State.VALUE, mysql.decimal(10, 2), Decimal("1.50"), "1.50"), Typed("double", 1.5), "double", True),
        (Cell(State.VALUE, mysql.decimal(10, 2), Decimal("1.50"), "1.50"), Typed("double", 1.5), "", False),
        (Cell(State.ONE_OF, mysql.integer("int"), options=(0, 1900)), Typed("double", 1900.0), "double", True),
        (Cell(State.ONE_OF, mysql.integer("int"), options=(0, 1900)), Typed("double", 1901.0), "double", False),
        (Cell(State.VALUE, postgresql.TYPES["numeric"], Decimal("NaN")), Typed("double", float("nan")), "double", True),
        (Cell(State.VALUE, postgresql.TYPES["real"], float("nan")), Typed("float", float("nan")), "double", True),
        (Cell(State.VALUE, postgresql.TYPES["real"], float("nan")), Typed("double", 1.5), "double", False),
        (Cell(State.NULL, mysql.decimal(10, 2)), None, "double", True),
        (Cell(State.VALUE, mysql.integer("int"), 0, "0"), None, "", False),
    ],
)  # fmt: skip
def test_a_claim_widens_what_a_cell_may_be(
    cell: Cell, actual: Typed | None, claim: str, same: bool
) -> None:
    assert is_same(cell, actual, claim) is same


@pytest.mark.parametrize(
    ("types", "words"),
    [([], "TYPES is list"), ({"price": "text"}, "TYPES says 'text' of price")],
)
def test_wrong_claims_are_told(types: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        OwnTypes.parse(types)


def test_an_unreadable_message_that_errors_does_not_tell_is_a_difference() -> None:
    stream = stream_under("corrupt")
    snapshots = right_snapshots(stream)
    spoiled = {(a.partition, a.offset) for a in arrivals_of(stream.stages) if is_spoiled(a.written)}
    silent = judge(FORMAT, stream, snapshots, OwnTypes())
    assert silent.converged and "the pipeline has no errors()" in silent.notes[0]
    told = replace(snapshots[-1], unreadable=frozenset(spoiled))
    assert judge(FORMAT, stream, [*snapshots[:-1], told], OwnTypes()).converged
    lost = replace(told, unreadable=frozenset(spoiled - {min(spoiled)}))
    assert broken(judge(FORMAT, stream, [*snapshots[:-1], lost], OwnTypes())) == {"unreadable": 1}


class Keeping:
    """An engine whose pipeline is a right fold, or what `answer` makes of a request."""

    def __init__(
        self, directory: Path, answer: Callable[[Mapping[str, Any]], Future[Any]] | None = None
    ) -> None:
        self.directory, self.answer = directory, answer
        self.requests: list[Mapping[str, Any]] = []

    def ask_service(self, service: str, request: Mapping[str, Any], limit_s: float) -> Future[Any]:
        assert (service, limit_s) == ("pipeline", 7.0)
        self.requests.append(request)
        if self.answer is not None:
            return self.answer(request)
        table = pa.table({"id": pa.array([1], pa.int64())})
        with pa.ipc.new_file(request["out"], table.schema) as file:
            file.write_table(table)
        return done({"refreshed": True, "key": ["id"], "types": {}})


def results_of(engine: Keeping, nemesis: str) -> list[PipelineResult]:
    settings = PipelineSettings(FORMAT, "mine.py", nemesis=nemesis, limit_s=7.0)
    return list(running.run_pipeline(settings, engine, None, lambda _: None))


def test_a_pipeline_reads_a_stage_at_a_time_into_a_table_of_its_own(tmp_path: Path) -> None:
    engine = Keeping(tmp_path)
    results = results_of(engine, "none")
    assert [r.nemesis for r in results] == ["none", "full-refresh"]
    assert "ticdc-canal-json/pipeline/columns" in results[0].broken
    assert results[1].lost == "the table was wrong before"
    run = Path(engine.requests[0]["directory"]).parent.name.removeprefix("pipeline-")
    assert {r["target"] for r in engine.requests} == {f"conformance.orders_none_{run}_s0"}
    released = Path(engine.requests[0]["source"]["kept"] + ".released")
    assert released.read_text("ascii") == str(STAGES)


def test_an_expired_limit_is_no_verdict(tmp_path: Path) -> None:
    engine = Keeping(tmp_path, lambda _: done(AnswerTimeout("did not end within 7 s")))
    with pytest.raises(HarnessError, match="a batch did not end within 7 s, before the first") as e:
        results_of(engine, "stale")
    assert e.value.exit_code == 3


def test_a_start_that_waits_for_its_query_is_told_when_the_limit_expires(tmp_path: Path) -> None:
    def wait(request: Mapping[str, Any]) -> Future[Any]:
        Path(request["under_way"]).touch()
        return done(AnswerTimeout("did not end within 7 s"))

    with pytest.raises(
        HarnessError,
        match=r"start did not return within 7 s: it must return its query, not wait for it"
        r" \(awaitTermination\), before the first batch: no verdict",
    ):
        results_of(Keeping(tmp_path, wait), "stale")


class Unkillable(Keeping):
    """An engine whose query shows no batch, so that nothing tells when it is to be killed."""

    pid = None

    @contextmanager
    def make_twin(self) -> Iterator[Unkillable]:
        yield self


def test_a_query_that_shows_no_batch_is_not_judged_by_a_restart(tmp_path: Path) -> None:
    settings = PipelineSettings(FORMAT, "mine.py", nemesis="none", restart=True, limit_s=7.0)
    *_, result = running.run_pipeline(settings, Unkillable(tmp_path), None, lambda _: None)
    assert (result.nemesis, result.word) == ("none+restart", "not judged")
    assert result.lost == "the query's checkpoint shows no batch 1 to kill it in"


def test_tables_of_a_user_are_judged_each_by_a_stream_of_its_own() -> None:
    shop = Values(read_schema([str(EXAMPLES / "tables" / "shop.sql")]))
    settings = PipelineSettings(FORMAT, "mine.py", nemesis="none", tables=shop)
    streams, lost = streams_of(settings)
    assert lost == []
    assert [stream.table for stream in streams] == ["customers", "orders"]
    assert [fold(stream).wrong for stream in streams] == [[], []]
    assert all("delete" in broken(fold(stream, FOLDS["no-delete"])) for stream in streams)


@pytest.mark.parametrize(
    ("dialect", "profile"),
    [("mysql", "3.5.0.Final"), ("postgresql", "3.5.0.Final+postgresql")],
)
def test_tables_are_judged_in_a_profile_of_their_database(
    tmp_path: Path, dialect: str, profile: str
) -> None:
    text = tmp_path / "shop.sql"
    text.write_text("CREATE TABLE orders (id INT PRIMARY KEY, note VARCHAR(10))", "utf-8")
    shop = Values(read_schema([str(text)], dialect))
    settings = PipelineSettings("debezium-json", "mine.py", nemesis="none", tables=shop)
    streams, _ = streams_of(settings)
    assert {stream.profile.name for stream in streams} == {profile}


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("[DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE] no", "one-per-batch"),
        ("[MERGE_CARDINALITY_VIOLATION] no", "one-per-batch"),
        ("ValueError: no", "unreadable"),
    ],
)
def test_a_query_that_ends_breaks_the_rule_of_its_reason(
    tmp_path: Path, words: str, rule: str
) -> None:
    (result,) = results_of(Keeping(tmp_path, lambda _: done(DecodeRaised(words))), "corrupt")
    assert result.wrong == [
        (f"ticdc-canal-json/pipeline/{rule}", f"the query ended in batch 0: {words}")
    ]


def test_the_end_of_a_query_has_its_cause_and_the_line_of_the_user() -> None:
    text = (
        "StreamingQueryException: ParseException: [PARSE_SYNTAX_ERROR] Syntax error\n"
        "[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred. Traceback (most recent call last):\n"
        '  File "/lib/py4j/clientserver.py", line 644, in _call_proxy\n'
        "at /srv/mine.py, line 12"
    )
    assert running.cause_line(DecodeRaised(text)) == (
        "StreamingQueryException: ParseException: [PARSE_SYNTAX_ERROR] Syntax error"
        " at /srv/mine.py, line 12"
    )
    assert running.cause_line(DecodeRaised("ValueError:\n no")) == "ValueError: no"


def test_the_line_of_the_user_stands_behind_a_long_stack() -> None:
    frames = '  File "/lib/py4j/clientserver.py", line 644, in _call_proxy\n' * 40
    text = f"ValueError: no\n{running.IN_FUNCTION} Traceback:\n{frames}at /srv/my jobs/mine.py, line 12"
    assert (
        running.cause_line(DecodeRaised(text)) == "ValueError: no at /srv/my jobs/mine.py, line 12"
    )


def test_a_table_without_its_key_is_a_wrong_usage(tmp_path: Path) -> None:
    def other(request: Mapping[str, Any]) -> Future[Any]:
        table = pa.table({"value": pa.array(["x"])})
        with pa.ipc.new_file(request["out"], table.schema) as file:
            file.write_table(table)
        return done({"refreshed": True, "key": [], "types": {}})

    with pytest.raises(UsageError, match="has no column id, the key of orders; it has value"):
        results_of(Keeping(tmp_path, other), "none")


def write_arrow(path: Path, columns: Mapping[str, Any]) -> None:
    table = pa.table(dict(columns))
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)


def test_a_snapshot_has_the_families_of_its_columns(tmp_path: Path) -> None:
    files = SnapshotFiles.of_stage(tmp_path, 0)
    write_arrow(files.rows, {"Id": pa.array([1], pa.int32()), "day": pa.array([None], pa.date32())})
    assert read_snapshot(files) == Snapshot(
        frozenset({"id", "day"}), ({"id": Typed("int", 1), "day": None},)
    )


def test_a_snapshot_has_what_errors_and_history_show(tmp_path: Path) -> None:
    files = SnapshotFiles.of_stage(tmp_path, 2)
    write_arrow(files.rows, {"id": pa.array([1], pa.int64())})
    write_arrow(files.errors, {"partition": [0], "offset": [7]})
    write_arrow(
        files.history,
        {
            "id": pa.array([1, 1], pa.int64()),
            "Valid_From": pa.array([[3, 1], [4, 0]]),
            "valid_to": pa.array([[4, 0], None]),
        },
    )
    snapshot = read_snapshot(files)
    assert snapshot.unreadable == {(0, 7)}
    row = {"id": Typed("int", 1)}
    assert snapshot.history == (
        KeptVersion(row, (3, 1), (4, 0)),
        KeptVersion(row, (4, 0), None),
    )


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"id": [1], "valid_from": [1]}, r"history\(\) shows no column valid_to; a version has"),
        ({"valid_from": pa.array([None], pa.int64()), "valid_to": [1]}, "whose valid_from is NULL"),
    ],
)
def test_a_history_without_its_interval_is_told(
    tmp_path: Path, columns: Mapping[str, Any], words: str
) -> None:
    files = SnapshotFiles.of_stage(tmp_path, 0)
    write_arrow(files.rows, {"id": [1]})
    write_arrow(files.history, columns)
    with pytest.raises(UsageError, match=words):
        read_snapshot(files)


def test_what_differs_is_told_by_rule_with_its_statement_and_citation() -> None:
    result = PipelineResult(FORMAT, "p", "stale", rows=3, messages=9)
    result.differ("tombstone", "row 7 was removed by DELETE at 5 (message 3), and is there")
    text = render([result, PipelineResult(FORMAT, "p", "none")], FORMAT, markdown=True)
    assert text.splitlines()[-6:-2] == [
        "ticdc-canal-json/pipeline/tombstone: 1 differences (stale 1)",
        (
            "  A change that is older than the removal of its row does not bring it back: what was"
            " removed, and when, is remembered."
        ),
        (
            "  Databricks, The AUTO CDC APIs: Simplify change data capture with pipelines, The AUTO CDC"
            " APIs [tables#out-of-sequence]"
        ),
        "  stale: row 7 was removed by DELETE at 5 (message 3), and is there",
    ]
    words = (
        "not judged, since nothing in this run could break them: order, no-way-back, at-least-once"
    )
    assert text.splitlines()[-2].startswith(words)
    assert text.splitlines()[-1] == "1 of 2 converged"


def test_a_run_says_which_rules_nothing_in_it_could_break() -> None:
    streams, _ = streams_of(PipelineSettings(FORMAT, "mine.py"))
    report = PipelineReport(FORMAT, tuple(map(fold, streams)))
    missed = {rule.id for rule in rules(FORMAT)} - report.reached
    assert {rule.rpartition("/")[2] for rule in missed} == {
        *("restart", "full-refresh", "one-open", "no-overlap", "no-gap", "versions")
    }
    plain = PipelineReport(FORMAT, (fold(stream_under("none")),))
    assert {"tombstone", "unreadable"} < {
        rule.id.rpartition("/")[2] for rule in rules(FORMAT) if rule.id not in plain.reached
    }
    assert (plain.exit_code, plain.failures) == (0, ())


def test_a_notebook_shows_a_report_as_a_table() -> None:
    report = PipelineReport(FORMAT, (fold(stream_under("none"), FOLDS["no-delete"]),))
    html = report._repr_html_()
    assert html.startswith("<table><tr><th>profile</th><th>nemesis</th>")
    assert "<td>differs</td>" in html and "ticdc-canal-json/pipeline/delete" in html
    assert (report.exit_code, str(report).splitlines()[-1]) == (1, "0 of 1 converged")


@pytest.mark.parametrize("name", [name for name in FORMATS if not order_of(name).arrival])
def test_a_written_pipeline_is_python_for_its_format_and_sink(name: str) -> None:
    text = pipeline_text(name, "iceberg", "mine.py")
    tree = ast.parse(text)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {"start", "table", "errors"} <= functions
    assert f"cdc-conformance pipeline {name} --pipeline mine.py --sink iceberg" in text
    assert "USING iceberg" in text and "$" not in text.replace("$'", "")
    assert len(text.splitlines()) < 210


def test_a_pipeline_is_written_once_and_never_where_messages_tell_no_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert performed("new-pipeline", "ticdc-canal-json").exit_code == 0
    assert "USING delta" in Path("pipeline.py").read_text("utf-8")
    again = performed("new-pipeline", "ticdc-canal-json").exception
    assert "pipeline.py is there already" in str(again)
    refused = performed("new-pipeline", "ticdc-avro", "--out", "other.py").exception
    assert "its messages do not tell their order" in str(refused)
    assert not Path("other.py").exists()


def test_the_settings_for_micro_batches_give_way_to_a_users() -> None:
    conf, catalogue = session_conf({}, {"spark.sql.shuffle.partitions": "7"}, None, "lake")
    assert catalogue == "lake"
    assert conf == {
        "spark.sql.shuffle.partitions": "7",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.kafka.consumer.cache.capacity": "1024",
    }


def test_a_lakehouse_is_known_for_a_spark() -> None:
    assert lakehouse("delta", "4.0.0").packages == "io.delta:delta-spark_4.0_2.13:4.4.0"
    assert lakehouse("delta", "4.2.0").packages == "io.delta:delta-spark_4.2_2.13:4.4.0"
    assert lakehouse("iceberg", "4.1.4").packages == (
        "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
    )
    with pytest.raises(
        UsageError, match=r"--sink iceberg is known for Spark 4\.0, 4\.1; Spark 4\.9\.1 is"
    ):
        lakehouse("iceberg", "4.9.1")
