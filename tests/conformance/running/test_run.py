"""The main job without a broker: reference and faulty decoders, what a selection leaves, and
failures judged again.
"""

import textwrap
from dataclasses import replace

import pytest

from conformance.cases.catalogue import Budget
from conformance.engines.engine import ranges_of
from conformance.engines.specs import DECODERS
from conformance.judging.findings import Verdict
from conformance.judging.known import Entry, Expectations
from conformance.judging.known_files import mark_by_record
from conformance.rules.rules import Aspect
from conformance.running import replay
from conformance.running.prepared import Settings, seeded_sample
from conformance.running.run import run_formats
from generators.errors import HarnessError

NAME = "ticdc-canal-json"
REFERENCE = f"{DECODERS}.ticdc_canal_json"
PROFILE = f"{NAME}/v7.1.6"
SETTINGS = Settings((NAME,), Budget("tiny", 0, 12), 7, writer_profile="v7.1.6")
SHAPES = (f"{PROFILE}/shape",)
LEVEL_TWO = (f"{PROFILE}/rows/keyless", f"{PROFILE}/rows/composite")
HEAD = """
from pyspark.sql import Window
from pyspark.sql import functions as F
from spark_checks.decoders import ticdc_canal_json as reference
PLACE = ["topic", "partition", "offset"]

"""


@pytest.fixture
def decoder(tmp_path):
    """A function that writes a decoder around the reference and gives its specification."""

    def write(text, name="decode"):
        (tmp_path / "mine.py").write_text(HEAD + textwrap.dedent(text), "utf-8")
        return f"{tmp_path / 'mine.py'}:{name}"

    return write


def replayed(tmp_path, engine, result, fixed):
    """Saves every failure, and judges each again with its decoder and with another: the
    outcomes.
    """
    outcomes = []
    for failure in result.failures:
        path = tmp_path / "failures" / f"{replay.crash_id(failure)}.json"
        crash = replay.load(replay.save(path, failure, result.header.decoder, "both", {}, {}))
        assert crash.case.id == failure.result.case.id
        assert [w.message.value for w in crash.case.written] == [
            w.message.value for w in failure.result.case.written
        ]
        assert [w.changes for w in crash.case.written] == [
            w.changes for w in failure.result.case.written
        ]
        outcomes.append((replay.replay(crash, engine)[0], replay.replay(crash, engine, fixed)[0]))
    return outcomes


FAILED_THEN_FIXED = (replay.ReplayOutcome.FAILED, replay.ReplayOutcome.FIXED)


def test_messages_of_other_tables_are_to_be_left_out(engine, decoder, tmp_path):
    spec = decoder(
        """
        def decode_rows(records, table, *, deployment=None):
            rows = reference.decode_rows(records, table, deployment=deployment)
            others = records.join(rows, PLACE, "left_anti").select(*PLACE, F.lit(0).alias("row"), F.lit("ROW").alias("kind"))
            return rows.unionByName(others, allowMissingColumns=True)
    """,
        "decode_rows",
    )
    result = run_formats(replace(SETTINGS, decoder=spec, select=LEVEL_TWO, causes=1), engine)
    assert {failure.finding.aspect for failure in result.failures} == {Aspect.EXTRA}
    named = {finding.case for case in result.formats[0].cases for finding in case.findings}
    assert any("#in-" in name for name in named) and any(
        name.endswith("/same-name-elsewhere") for name in named
    )
    assert (
        result.exit_code,
        set(replayed(tmp_path, engine, result, f"{REFERENCE}:decode_rows")),
    ) == (1, {FAILED_THEN_FIXED})


def test_only_the_messages_that_raise_are_errored(engine, decoder, tmp_path):
    spec = decoder("""
        def decode(records, *, deployment=None):
            bad = F.col("table") == "t0650015747"
            rows = reference.decode(records, deployment=deployment)
            return rows.withColumn("database", F.when(bad, F.raise_error("no such table")).otherwise(F.col("database")))
    """)
    result = run_formats(replace(SETTINGS, decoder=spec, select=SHAPES), engine)
    (fmt,) = result.formats
    assert [c.case.id for c in fmt.cases if c.verdict is Verdict.ERRORED] == [
        f"{PROFILE}/shape/delete"
    ]
    assert {c.verdict for c in fmt.cases if c.case.id != f"{PROFILE}/shape/delete"} == {
        Verdict.PASS
    }
    assert "no such table" in next(c.note for c in fmt.cases if c.verdict is Verdict.ERRORED)
    assert "raised on 1 cases" in fmt.calls[0].note
    assert result.exit_code == 1
    (failure,) = result.failures
    assert (failure.rule.id, failure.cases) == (f"{NAME}/law/returns", 1)
    assert "no such table" in failure.finding.actual
    law = next(rule for rule in fmt.rules if rule.rule.law == "returns")
    assert (law.compared, law.broken) == (len(fmt.cases), 1)
    assert set(replayed(tmp_path, engine, result, f"{REFERENCE}:decode")) == {FAILED_THEN_FIXED}
    on_record = Entry(f"{NAME}/law/returns", Verdict.ERRORED, cases=(f"{PROFILE}/shape/delete",))
    assert mark_by_record(result, Expectations((on_record,))).exit_code == 0


def test_records_that_cannot_be_read_are_no_verdict(fake):
    engine = fake[0]()
    opened = engine.keep_records
    engine.keep_records = lambda handle, source: opened(handle, replace(source, parquet="harness"))
    with pytest.raises(HarnessError, match="told so"):
        run_formats(replace(SETTINGS, decoder="fine", select=SHAPES), engine)


@pytest.mark.parametrize(
    ("places", "ranges"),
    [
        *(
            ([], ()),
            ([("t", 0, 5)], (("t", 0, 5, 5),)),
            ([("t", 0, 2), ("t", 0, 1), ("t", 0, 2)], (("t", 0, 1, 2),)),
        ),
        ([("t", 1, 0), ("t", 0, 0), ("t", 0, 2)], (("t", 0, 0, 0), ("t", 0, 2, 2), ("t", 1, 0, 0))),
        ([("u", 0, 1), ("t", 0, 0), ("u", 0, 0)], (("t", 0, 0, 0), ("u", 0, 0, 1))),
    ],
)
def test_ranges(places, ranges):
    assert ranges_of(places) == ranges


def test_a_sample_is_seeded_and_in_order():
    items = list(range(100))
    assert (
        seeded_sample(1, "a", items, 10)
        == seeded_sample(1, "a", items, 10)
        == sorted(seeded_sample(1, "a", items, 10))
    )
    assert seeded_sample(1, "a", items, 10) != seeded_sample(2, "a", items, 10)
    assert (seeded_sample(1, "a", items, 1000), seeded_sample(1, "a", [], 5)) == (items, [])
