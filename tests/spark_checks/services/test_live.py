"""A decoder as a Python function, on the session of the tests, which stays as it was."""

import functools
import sys
import tempfile
import time
import types
from pathlib import Path

import parquet_keeper
import pytest
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

import conformance
from conformance.engines.live import decoder_name, pickle_decoder
from conformance.judging.findings import Verdict
from generators.errors import HarnessError, UsageError
from spark_checks import reference
from spark_checks.services.engine import DecoderError, SparkEngine
from spark_checks.services.live import LiveSession

TICDC = "ticdc-canal-json"
SOME = {
    "format": TICDC,
    "writer_profile": "v8.5.7",
    "select": [f"{TICDC}/v8.5.7/{kind}*" for kind in ("int/", "rows/every-type/alone-int")],
}


def state(spark):
    """All that a run could leave behind in the session and in this process."""
    return {
        "settings": {row.key: row.value for row in spark.sql("SET").collect()},
        "views": {row.viewName for row in spark.sql("SHOW VIEWS").collect()},
        "tables": {row.tableName for row in spark.sql("SHOW TABLES").collect()},
        "kept": spark.sparkContext._jsc.getPersistentRDDs().size(),
        "folders": set(Path(tempfile.gettempdir()).glob("cdc-conformance-*")),
        "path": list(sys.path),
        # Tests in other processes import modules from here.
        "here": {path for path in Path.cwd().iterdir() if path.name != "__pycache__"},
    }


@pytest.fixture
def untouched(spark, tmp_path, monkeypatch):
    """The session, in a time zone of the user's; whatever the test does, it must be as it was."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    spark.range(1).createOrReplaceTempView("mine")
    before = state(spark)
    yield spark
    after = state(spark)
    spark.catalog.dropTempView("mine")
    spark.conf.set("spark.sql.session.timeZone", zone)
    assert {name: (old, after[name]) for name, old in before.items() if old != after[name]} == {}
    assert spark.range(3).count() == 3


def test_a_closure_is_judged_on_both_levels_and_the_session_stays_as_it_was(untouched):
    right, zones = reference("huawei-cdl-json"), []

    class Mine:
        def decode(self, records: DataFrame, *, deployment: object) -> DataFrame:
            zones.append(untouched.conf.get("spark.sql.session.timeZone"))
            records.createOrReplaceTempView("own")
            return right.decode(untouched.table("own"), deployment=deployment)

        decode_rows = staticmethod(right.decode_rows)

    result = conformance.run(
        Mine(), format="huawei-cdl-json", spark=untouched, writer_profile="1.0"
    )
    assert (result.exit_code, result.failures) == (0, ())
    assert {case.case.level for case in result.formats[0].cases} == {1, 2}
    assert {"UTC", "America/St_Johns"} == set(zones)
    assert "conforms" in result._repr_html_()  # type: ignore[attr-defined]


def test_a_mistake_is_shown_with_an_example_and_a_link_to_its_page(untouched, tmp_path):
    deletes = "DELETE"

    def decode(records: DataFrame) -> DataFrame:
        decoded = reference(TICDC).decode(records)
        return decoded.withColumn("before", F.when(F.col("op") != deletes, F.col("before")))

    folder = tmp_path / "report"
    result = conformance.run(decode, spark=untouched, level="changes", report=folder, **SOME)
    assert result.exit_code == 1
    assert result.header.decoder.endswith("<locals>.decode")
    shown = result._repr_html_()  # type: ignore[attr-defined]
    assert "every row of DELETE comes out without its before image" in shown
    assert "&#34;type&#34;:&#34;DELETE&#34;" in shown
    assert f'href="{folder}/report.html"' in shown
    assert "<script" not in shown
    assert (folder / "report.html").is_file()


def test_what_hangs_in_spark_is_interrupted_and_what_raises_is_told(untouched):
    wait = F.udf(lambda offset: time.sleep(600) or offset, "bigint")

    def hangs(records: DataFrame) -> DataFrame:
        return reference(TICDC).decode(records.withColumn("offset", wait("offset")))

    options = {**SOME, "select": [f"{TICDC}/v8.5.7/int/one"], "level": "changes"}
    began = time.monotonic()
    result = conformance.run(hangs, spark=untouched, timeout_s=2, **options)
    assert {case.verdict for case in result.formats[0].cases} == {Verdict.TIMEOUT}
    assert time.monotonic() - began < 100

    def raises(records: DataFrame) -> DataFrame:
        return records.select("nothing")

    result = conformance.run(raises, spark=untouched, **options)
    assert {case.verdict for case in result.formats[0].cases} == {Verdict.ERRORED}
    assert "nothing" in result.formats[0].cases[0].note


def test_what_a_session_does_not_take_is_refused_at_once(untouched):
    right = reference(TICDC)
    environment = {
        "op": "decode",
        "conf": {"spark.sql.caseSensitive": "true", "spark.driver.memory": "4g"},
    }
    refused = LiveSession(untouched, {}, {})
    answer = refused.answer(environment, 60)
    refused.restore()
    assert answer["error"] == "usage", "no verdict on the decoder"
    assert answer["message"].startswith("the session does not take spark.driver.memory=4g: ")
    with pytest.raises(UsageError, match=r"does not take spark.driver.memory=4g: "):
        conformance.run(
            right.decode, spark=untouched, spark_conf={"spark.driver.memory": "4g"}, **SOME
        )
    with pytest.raises(UsageError, match=r"spark.master: the given session has its own"):
        conformance.run(right.decode, spark=untouched, master="local[2]", **SOME)
    with pytest.raises(UsageError, match=r"give one decoder"):
        conformance.run(right.decode, decoder="mine.py", spark=untouched, **SOME)
    with pytest.raises(UsageError, match=r"does not run on a session of Spark"):
        conformance.run(decoder="cmd:cat", spark=untouched, **SOME)


class Unpicklable:
    """A decoder whose pickling fails with an exception that has no text."""

    def __call__(self, records: DataFrame) -> DataFrame:
        return records

    def __reduce__(self) -> str:
        raise AssertionError


def test_a_decoder_that_cannot_be_pickled_without_a_word_is_named():
    with pytest.raises(UsageError, match="cannot be sent to another process: AssertionError"):
        pickle_decoder(Unpicklable())


@pytest.mark.spark
def test_a_closure_goes_to_another_process_with_its_capabilities(monkeypatch):
    word, claims = "own", {"kinds": ["ROW"]}
    monkeypatch.setitem(globals(), "CAPABILITIES", claims)

    def decode(records: DataFrame) -> str:
        return word

    given = pickle_decoder(decode)
    (name,) = given
    monkeypatch.delitem(globals(), "CAPABILITIES")
    assert name.endswith(
        ":test_a_closure_goes_to_another_process_with_its_capabilities.<locals>.decode"
    )
    session = SparkEngine()
    session.take(given)
    assert session.handle({"op": "load", "decoder": name, "level": "auto"}) == {
        "levels": [1],
        "capabilities": claims,
    }
    with pytest.raises(DecoderError, match="decoder x cannot be made in another process: "):
        session.take({"x": "eA=="})


@pytest.mark.spark
def test_a_partial_has_the_name_the_level_and_the_capabilities_of_its_function(monkeypatch):
    monkeypatch.setitem(globals(), "CAPABILITIES", {"kinds": ["ROW"]})
    decoder = functools.partial(decode_rows_in, zone="UTC")
    given = pickle_decoder(decoder)
    assert list(given) == [f"{__name__}:decode_rows_in"] == [decoder_name(decoder)]
    session = SparkEngine()
    session.take(given)
    assert session.handle({"op": "load", "decoder": next(iter(given)), "level": "auto"}) == {
        "levels": [2],
        "capabilities": {"kinds": ["ROW"]},
    }


def decode_rows_in(records: DataFrame, table: object, *, zone: str) -> DataFrame:
    return records


def test_a_closure_over_the_session_cannot_go_to_another_process(spark):
    def decode(records: DataFrame) -> DataFrame:
        return spark.createDataFrame([], records.schema)

    with pytest.raises(
        UsageError,
        match=r"<locals>.decode cannot be sent to another process: .*CONTEXT_ONLY_VALID_ON_DRIVER",
    ):
        conformance.run(decode, spark=spark, isolated=True, **SOME)


def test_a_pipeline_is_judged_and_the_session_stays_as_it_was(untouched):
    report = conformance.pipeline(
        parquet_keeper, format="huawei-cdl-json", spark=untouched, nemesis="none"
    )
    assert {result.nemesis: (result.word, result.wrong) for result in report.results} == {
        "none": ("converged", []),
        "full-refresh": ("converged", []),
    }
    assert report.exit_code == 0
    assert "huawei-cdl-json/pipeline/versions" in report.reached
    assert untouched.streams.active == []


def test_a_function_is_a_pipeline_with_what_stands_beside_it(untouched):
    def start(spark, records, target, table, checkpoint, deployment):
        return parquet_keeper.start(spark, records, target, table, checkpoint, deployment)

    beside = {**globals(), "history": "mine"}
    function = types.FunctionType(start.__code__, beside, "start")
    with pytest.raises(UsageError, match=r"pipeline .*start: history is str, not a function"):
        conformance.pipeline(function, format="huawei-cdl-json", spark=untouched, nemesis="none")
    assert untouched.streams.active == []


def test_a_pipeline_that_loses_deletes_is_convicted_of_it(untouched):
    class NoDeletes:
        start = staticmethod(parquet_keeper.start)

        @staticmethod
        def table(spark, target):
            rows = parquet_keeper.changes_of(spark, target).where("NOT gone")
            newest = Window.partitionBy("id").orderBy(F.desc("place"))
            return rows.withColumn("n", F.row_number().over(newest)).where("n = 1")

    report = conformance.pipeline(
        NoDeletes(), format="huawei-cdl-json", spark=untouched, nemesis="none"
    )
    broken = {rule.rpartition("/")[2] for rule, _ in report.failures}
    assert (report.exit_code, {"delete", "key-change"} <= broken) == (1, True)


def test_a_batch_that_does_not_end_is_no_verdict_and_its_query_is_stopped(untouched):
    def start(spark, records, target, table, checkpoint, deployment):
        sink = records.writeStream.foreachBatch(lambda batch, number: time.sleep(30))
        return sink.option("checkpointLocation", checkpoint).start()

    with pytest.raises(HarnessError, match="a batch did not end within 3 s"):
        conformance.pipeline(
            start, format="huawei-cdl-json", spark=untouched, nemesis="none", limit_s=3
        )
    assert untouched.streams.active == []


def test_a_start_that_keeps_its_query_to_itself_is_told_and_its_query_is_stopped(untouched):
    def start(spark, records, target, table, checkpoint, deployment):
        parquet_keeper.start(spark, records, target, table, checkpoint, deployment)

    with pytest.raises(UsageError, match="start began a streaming query and returned None"):
        conformance.pipeline(start, format="huawei-cdl-json", spark=untouched, nemesis="none")
    assert untouched.streams.active == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"restart": True}, "a session of yours is not killed"),
        ({"sink": "delta"}, "a session of yours has its own lakehouse"),
        ({"spark": None}, "needs spark=, the session that it runs on"),
    ],
)
def test_what_a_session_cannot_do_for_a_pipeline_is_told(untouched, options, words):
    given = {"spark": untouched, **options}
    with pytest.raises(UsageError, match=words):
        conformance.pipeline(parquet_keeper, format="huawei-cdl-json", **given)
