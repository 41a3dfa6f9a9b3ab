"""Pipelines in Spark: what `new-pipeline` writes is right in Delta Lake and Iceberg, and three
pipelines that differ from it in a line are wrong; a plain keeper of Parquet files is right, killed
three times. The jars of a lakehouse are downloaded once, and kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import parquet_keeper
import pytest

from conformance.brokers.lakehouses import LAKEHOUSES, Sink
from conformance.brokers.spark import installed_spark
from conformance.engines.child import QUICK, ChildEngine
from conformance.pipelines.running import PipelineSettings, run_pipeline
from conformance.pipelines.sessions import session_conf
from conformance.pipelines.writing import pipeline_text

FORMAT = "ticdc-canal-json"
"""Its messages tell of statements, which a pipeline may miss."""
SERIES = ".".join(installed_spark()[0].split(".")[:2])

pytestmark = [pytest.mark.slow, pytest.mark.spark]


class Lake(NamedTuple):
    """A lakehouse, the catalogue of its tables, and a process with it."""

    sink: Sink
    catalogue: str
    engine: ChildEngine


class Habit(NamedTuple):
    """A line of the right pipeline and what stands in its place; `rule` convicts it under
    `nemesis`.
    """

    nemesis: str
    rule: str
    right: str
    wrong: str


WRONG = {
    "no guard": Habit("stale", "order", "WHEN MATCHED AND {guard} THEN", "WHEN MATCHED THEN"),
    "no tombstone": Habit(
        "behind-deletes",
        "tombstone",
        "        if is_new:\n",
        '        spark.sql(f"DELETE FROM {target} WHERE cdc_gone")\n        if is_new:\n',
    ),
    "no statements": Habit(
        "none",
        "truncate",
        "statements = statements_of(changes)",
        'statements = statements_of(changes).where("false")',
    ),
}


@pytest.fixture(scope="module", params=LAKEHOUSES)
def lake(request: pytest.FixtureRequest) -> Iterator[Lake]:
    if SERIES not in LAKEHOUSES[request.param]:
        pytest.skip(f"no jars of {request.param} are pinned for Spark {SERIES}")
    conf, catalogue = session_conf(QUICK, {}, request.param, "")
    with ChildEngine(conf=conf) as engine:
        yield Lake(request.param, catalogue, engine)


def rules_broken(lake: Lake, path: Path, nemesis: str) -> dict[str, list[str]]:
    """The last parts of the ids of the rules that each result breaks."""
    settings = PipelineSettings(FORMAT, str(path), nemesis=nemesis, catalogue=lake.catalogue)
    results = list(run_pipeline(settings, lake.engine, None, lambda _: None))
    assert {result.lost for result in results} <= {"", "the table was wrong before"}
    return {r.nemesis: [rule.rpartition("/")[2] for rule in r.broken] for r in results}


def test_what_new_pipeline_writes_is_right(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "right.py"
    path.write_text(pipeline_text(FORMAT, lake.sink, "right.py"), "utf-8")
    assert rules_broken(lake, path, "none") == {"none": [], "full-refresh": []}
    assert rules_broken(lake, path, "behind-deletes") == {"behind-deletes": []}


@pytest.mark.parametrize("name", WRONG)
def test_a_pipeline_that_is_wrong_in_a_line_is_convicted(
    lake: Lake, tmp_path: Path, name: str
) -> None:
    habit = WRONG[name]
    text = pipeline_text(FORMAT, lake.sink, "wrong.py")
    assert text.count(habit.right) == 1
    path = tmp_path / f"{name.replace(' ', '_')}.py"
    path.write_text(text.replace(habit.right, habit.wrong), "utf-8")
    assert habit.rule in rules_broken(lake, path, habit.nemesis)[habit.nemesis]


def test_a_plain_keeper_of_parquet_files_is_right_and_killed_three_times() -> None:
    conf, _ = session_conf(QUICK, {}, None, "")
    keeper = str(Path(parquet_keeper.__file__))
    settings = PipelineSettings("huawei-cdl-json", keeper, nemesis="none", restart=True)
    with ChildEngine(conf=conf) as engine:
        results = list(run_pipeline(settings, engine, None, lambda _: None))
    assert {r.nemesis: (r.wrong, r.lost) for r in results} == {
        "none": ([], ""),
        "full-refresh": ([], ""),
        "none+restart": ([], ""),
    }
    killed = [note for note in results[-1].notes if " was killed " in note]
    assert len({note.split()[1] for note in killed}) == len(killed) == 3
