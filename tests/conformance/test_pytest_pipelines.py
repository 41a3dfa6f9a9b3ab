"""`PipelineSuite` in a project of its own, with runs that are made up here."""

import pytest

# Imported before pytester, which forgets what is imported in its runs.
from conformance import pytest_pipelines  # noqa: F401
from conformance.rules.pipelines import rules

pytest_plugins = ["pytester"]

FORMAT = "ticdc-canal-json"
QUIET = (
    *("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("--strict-markers", "--strict-config", "-Werror"),
)

MADE_UP = """
import pytest
from conformance import pytest_pipelines
from conformance.pipelines.report import PipelineReport
from conformance.pipelines.results import PipelineResult
from generators.errors import HarnessError

def made_up(cls, config, spark):
    if cls.nemesis == "nothing":
        raise HarnessError("a batch did not end within 300 s")
    results = []
    for nemesis, lost in cls.seen.items():
        result = PipelineResult(cls.format, "p", nemesis, lost=lost, reached=frozenset(cls.reached))
        for rule in cls.broken:
            result.differ(rule, f"row 7 is not right: {rule}")
        results.append(result)
    return PipelineReport(cls.format, tuple(results))

@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    monkeypatch.setattr(pytest_pipelines, "judge_suite", made_up)
"""

SUITE = """
from conformance import PipelineSuite

class TestMine(PipelineSuite):
    format = {format!r}
    pipeline = "mine.py"
    seen = {{"none": ""}}
    broken = ()
    reached = {reached!r}
{more}
"""

NAMES = [rule.id.rpartition("/")[2] for rule in rules(FORMAT)]


@pytest.fixture
def judged(pytester):
    """Runs a suite whose run is made up, with more class attributes, and gives pytest's result."""

    def judge(*options, format=FORMAT, reached=tuple(NAMES), **attributes):
        more = "\n".join(f"    {name} = {value!r}" for name, value in attributes.items())
        pytester.makeconftest(MADE_UP)
        pytester.makepyfile(SUITE.format(format=format, reached=reached, more=more))
        return pytester.runpytest_inprocess(*QUIET, *options)

    return judge


def test_a_right_pipeline_passes_an_item_for_each_rule(judged):
    result = judged()
    result.assert_outcomes(passed=len(NAMES) + 1)
    line = f"cdc-conformance: TestMine: {FORMAT}, pipeline mine.py, seed 1, broker none"
    result.stdout.fnmatch_lines([line])


def test_a_broken_rule_fails_its_item_with_its_statement_and_citation(judged):
    result = judged("-v", broken=["tombstone"])
    result.assert_outcomes(passed=len(NAMES), failed=1)
    said = result.stdout.str()
    for line in (
        f"TestMine::test_rule[{FORMAT}/pipeline/tombstone] FAILED",
        "A change that is older than the removal of its row does not bring it back:",
        "[tables#out-of-sequence]",
        "1 differences",
        "none: row 7 is not right: tombstone",
    ):
        assert line in said


def test_a_rule_that_nothing_reached_is_skipped(judged):
    result = judged("-rs", reached=("convergence",))
    result.assert_outcomes(passed=2, skipped=len(NAMES) - 1)
    result.stdout.fnmatch_lines(["*nothing in this run could break it"])


def test_a_run_of_which_nothing_is_judged_fails(judged):
    result = judged("-k", "test_run", seen={"none": "no order", "stale": "no order"})
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["none: not judged: no order", "stale: not judged: no order"])


def test_what_was_not_judged_is_shown(judged):
    result = judged("-rP", "-k", "test_run", seen={"none": "", "full-refresh": "no checkpoint"})
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["judged: none", "full-refresh: not judged: no checkpoint"])


def test_a_limit_that_expires_ends_every_item_with_its_words(judged):
    result = judged(nemesis="nothing")
    result.assert_outcomes(errors=len(NAMES) + 1)
    result.stdout.fnmatch_lines(["*the run did not come about: a batch did not end within 300 s*"])


def test_an_unknown_format_is_told_with_the_nearest_one(judged):
    result = judged(format="ticdc-canal")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*TestMine.format: unknown format 'ticdc-canal'*"])
