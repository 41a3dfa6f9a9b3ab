"""The suite of pipelines as pytest items: a pipeline's author writes one class and gets an item per
rule.

    class TestMine(PipelineSuite):
        format = "ticdc-canal-json"
        pipeline = "mine.py"
        sink = "delta"

Imports `rules`, `pipelines`, `api` and `pytest_plugin`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from conformance.pipelines.report import PipelineReport
from conformance.pytest_plugin import (
    RUN,
    Outcomes,
    RuleSuite,
    SuiteRun,
    place_file,
    resolve,
    suite_folders,
    suite_option,
)
from conformance.rules.pipelines import rules
from conformance.rules.rule import Obligation, Rule


class PipelineSuite(RuleSuite):
    """Base of a pipeline's suite: one run per class, one item per pipeline rule, and `test_run` for
    what could not be judged.

    `pipeline` is a file, looked for below the working directory, beside the test module and below
    pytest's root directory; or the function `start`, or an object or module that has it, which need
    a session. `spark` names a fixture that gives a SparkSession: the pipeline runs on it, in this
    process, as with `conformance.pipeline(..., spark=...)`. The others are the arguments of
    `conformance.pipeline`; `profile` is a glob of writer profiles. `seed`, `broker` and `master`,
    when not None, win over their options.

    A rule that nothing in the run could break is skipped.
    """

    pipeline: ClassVar[Any] = None
    spark: ClassVar[str | None] = None
    sink: ClassVar[Any] = None
    catalog: ClassVar[str] = ""
    profile: ClassVar[str] = ""
    nemesis: ClassVar[str] = ""
    restart: ClassVar[bool] = False
    limit: ClassVar[float] = 300
    seed: ClassVar[int | None] = None
    broker: ClassVar[str | None] = None
    master: ClassVar[str | None] = None
    tables: ClassVar[tuple[str, ...]] = ()
    dialect: ClassVar[str | None] = None
    database: ClassVar[str | None] = None
    values: ClassVar[str | None] = None
    spark_packages: ClassVar[tuple[str, ...]] = ()
    spark_conf: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def cdc_rules(cls) -> Sequence[Rule]:
        """The rules of the format, each an item of the suite."""
        return rules(cls.format)

    @classmethod
    def cdc_perform(cls, request: pytest.FixtureRequest) -> Outcomes:
        """Judges the suite's pipeline once for all its items, and returns the outcome of each item.
        The base class calls it.
        """
        spark = request.getfixturevalue(cls.spark) if isinstance(cls.spark, str) else None
        return outcomes_of(judge_suite(cls, request.config, spark))

    @classmethod
    def cdc_report_header(cls, config: pytest.Config) -> str:
        """The line of pytest's header that names the suite's pipeline and its settings."""
        name = (
            cls.pipeline if isinstance(cls.pipeline, str) else getattr(cls.pipeline, "__name__", "")
        )
        return (
            f"{cls.__name__}: {cls.format}, pipeline {name}, seed {suite_option(cls, config, 'seed')},"
            f" broker {suite_option(cls, config, 'broker')}"
        )


def judge_suite(
    cls: type[PipelineSuite], config: pytest.Config, spark: Any = None
) -> PipelineReport:
    """Judges the suite's pipeline and returns the report. `spark` is a session of the caller's,
    None to start one. Raises HarnessError.
    """
    from conformance.api import pipeline

    folders = suite_folders(cls, config)
    is_file = isinstance(cls.pipeline, str)
    return pipeline(
        resolve(cls.pipeline, folders) if is_file else cls.pipeline,
        format=cls.format,
        spark=spark,
        sink=cls.sink,
        catalog=cls.catalog,
        writer_profile=cls.profile or (),
        nemesis=cls.nemesis,
        restart=cls.restart,
        limit_s=cls.limit,
        seed=suite_option(cls, config, "seed"),
        broker=suite_option(cls, config, "broker"),
        tables=[t if "://" in t else str(place_file(t, folders)) for t in cls.tables],
        dialect=cls.dialect,
        database=cls.database,
        values=place_file(cls.values, folders) if cls.values else None,
        master=suite_option(cls, config, "master"),
        spark_packages=cls.spark_packages,
        spark_conf=cls.spark_conf,
    )


def outcomes_of(report: PipelineReport) -> dict[str, SuiteRun]:
    """The outcome of each pytest item of a pipeline's suite: one for each rule of pipelines, and
    one for the run.
    """
    return {
        **{rule.id: _outcome_of_rule(report, rule) for rule in rules(report.format)},
        RUN: _outcome_of_run(report),
    }


def _outcome_of_rule(report: PipelineReport, rule: Rule) -> SuiteRun:
    """The outcome of a rule's item: failed if a MUST rule was broken, passed with the differences
    as its text if another rule was, skipped if no nemesis of the run (a way to disturb a stream)
    could break it.
    """
    counts = {r.nemesis: r.broken[rule.id] for r in report.results if r.broken[rule.id]}
    if counts:
        difference_lines = [
            f"{result.nemesis}: {what}"
            for result in report.results
            for name, what in result.wrong
            if name == rule.id
        ]
        lines = [
            " ".join(rule.statement.split()),
            ", ".join(map(str, rule.citations)),
            f"{sum(counts.values())} differences",
            *difference_lines,
        ]
        binding = rule.obligation is Obligation.MUST
        return SuiteRun("failed" if binding else "passed", "\n".join(lines))
    if rule.id not in report.reached:
        return SuiteRun("skipped", "nothing in this run could break it")
    return SuiteRun("passed")


def _outcome_of_run(report: PipelineReport) -> SuiteRun:
    """The outcome of the item for the run: failed if no stream was judged, else passed. Its text
    names the judged nemeses (ways to disturb a stream), those that were not judged and why, and
    notes.
    """
    lost = [f"{r.nemesis}: not judged: {r.lost}" for r in report.results if r.lost]
    if len(lost) == len(report.results):
        return SuiteRun("failed", "\n".join(lost or ["nothing was judged"]))
    notes = dict.fromkeys(note for result in report.results for note in result.notes)
    judged = [result.nemesis for result in report.results if not result.lost]
    return SuiteRun("passed", "\n".join([f"judged: {', '.join(judged)}", *lost, *notes]))
