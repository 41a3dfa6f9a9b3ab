"""Watching: what is judged after a change, in which order, and which files count."""

import itertools
import shlex
import sys
from dataclasses import replace

from conformance.cases.catalogue import find_budget
from conformance.engines.command import CommandEngine
from conformance.running.prepared import Settings
from conformance.running.watching import FIRST, await_change, first_case_ids, sources, state, turns

TICDC = "ticdc-canal-json"
CASE = f"{TICDC}/v7.1.6/shape/insert"
SETTINGS = Settings(
    (TICDC,), find_budget("smoke"), 1, level="changes", writer_profile="v7.1.6", select=(CASE,)
)
COMMAND = replace(SETTINGS, decoder=f"cmd:{shlex.quote(sys.executable)} mine.py")


def summary(turn):
    """A turn in short."""
    broken = turn.result and sorted(
        {failure.rule.id.removeprefix(f"{TICDC}/") for failure in turn.result.failures}
    )
    return turn.again, broken if turn.result else turn.error.splitlines()[0]


def summaries(beside, count, *changes):
    """So many turns in short, with a change of the module beside the decoder before each turn that
    waits for one.
    """
    texts = iter(changes)
    with CommandEngine(fmt=TICDC) as engine:
        watched = turns(COMMAND, engine, wait=lambda _seen: beside(next(texts)))
        return [summary(turn) for turn in itertools.islice(watched, count)]


def test_failed_cases_come_first_and_all_cases_once_they_pass(beside):
    seen = summaries(beside, 6, "MORE = '_x'\n", "MORE = '_y'\n", "MORE = ''\n", "MORE = ''\n\n")
    wrong = ["envelope/names"]
    assert seen == [(0, []), (0, wrong), (1, wrong), (1, []), (0, []), (0, [])]


def test_a_decoder_that_cannot_be_loaded_is_a_turn(beside):
    seen = summaries(beside, 3, "MORE = (\n", "MORE = ''\n")
    assert (seen[0], seen[2]) == ((0, []), (0, []))
    assert seen[1][0] == 0 and "ended" in seen[1][1]


def test_the_files_of_a_command_are_those_that_it_names_and_their_like(beside, tmp_path):
    (tmp_path / "notes.txt").write_text("")
    with CommandEngine(fmt=TICDC) as engine:
        assert sources("cmd:python mine.py --fast", engine) == (
            tmp_path / "beside.py",
            tmp_path / "mine.py",
        )
        assert sources("cmd:decoder", engine, [tmp_path / "known"]) == (tmp_path / "known",)


def test_a_change_is_seen_once_it_is_complete(tmp_path):
    file, gone = tmp_path / "a.py", tmp_path / "b.py"
    file.write_text("1")
    gone.write_text("1")
    steps = iter(
        (
            lambda: None,
            gone.unlink,
            lambda: file.write_text("22"),
            lambda: file.write_text("333"),
            lambda: None,
        )
    )
    await_change(state((file, gone)), lambda _s: next(steps)())
    assert next(steps, None) is None
    assert state((file, gone)) == {file: (file.stat().st_mtime_ns, 3), gone: None}


def test_a_file_that_comes_is_a_change(tmp_path):
    file = tmp_path / "a.py"
    steps = iter((lambda: file.write_text("1"), lambda: None))
    await_change(state((file,)), lambda _s: next(steps)())
    assert file.exists()


def test_first_are_the_smallest_cases_of_each_rule(beside):
    settings = replace(COMMAND, select=(f"{TICDC}/v7.1.6/",))
    beside("MORE = '_x'\n")
    with CommandEngine(fmt=TICDC) as engine:
        result = next(turns(settings, engine, wait=None)).result
    chosen = first_case_ids(result)
    assert len(chosen) == FIRST == len(set(chosen))
    by_id = {case.case.id: case for fmt in result.formats for case in fmt.counting()}
    rules = {finding.rule for case in by_id.values() for finding in case.findings}
    assert {finding.rule for name in chosen for finding in by_id[name].findings} == rules


DECODER = """
from pyspark.sql import functions as F
from beside import TABLE

def decode(records):
    read = F.from_json(F.col("value").cast("string"), "type string, database string, `table` string")
    return records.select("topic", "partition", "offset", F.lit(0).alias("row"), F.lit("ROW").alias("kind"),
        read["type"].alias("op"), read["database"].alias("database"), F.expr(TABLE).alias("table"),
        F.lit(None).cast("array<string>").alias("keys"), F.lit(None).cast("map<string,string>").alias("before"),
        F.lit(None).cast("map<string,string>").alias("after"), F.lit(None).cast("string").alias("sql"),
        F.lit(None).cast("string").alias("error"))
"""


def test_a_module_that_the_decoder_imports_is_read_again(engine, beside, tmp_path):
    (tmp_path / "spark_mine.py").write_text(DECODER, "utf-8")
    right, wrong = (
        "TABLE = 'get_json_object(CAST(value AS string), \"$.table\")'\n",
        "TABLE = '\"other\"'\n",
    )
    beside(right)
    changes = iter((wrong, right))
    settings = replace(SETTINGS, decoder=f"{tmp_path}/spark_mine.py:decode", select=(CASE,))
    engine.sources(forget=True).result()  # those of other tests
    seen = list(
        itertools.islice(turns(settings, engine, wait=lambda _seen: beside(next(changes))), 3)
    )
    assert not [turn.error for turn in seen if turn.result is None]
    names = [
        any(f.rule.id.endswith("envelope/names") for f in turn.result.failures) for turn in seen
    ]
    assert (names, seen[-1].files) == (
        [False, True, False],
        (tmp_path / "beside.py", tmp_path / "spark_mine.py"),
    )
