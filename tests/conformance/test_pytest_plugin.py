"""`DecoderSuite` in a project of its own: first with runs made up here, then with Spark."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import lent
import pytest
from lent import Lent

from conformance import pytest_plugin
from conformance.cases.catalogue import BUDGETS, Budget
from conformance.judging.causes import Cause, Symptom
from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.results import Failure, FormatResult, Header, RuleResult, RunResult
from conformance.pytest_plugin import DecoderSuite as Suite
from conformance.pytest_plugin import outcomes, resolve
from conformance.rules.rules import Aspect, Obligation, rules
from conformance.running.run import run_formats
from generators.model import Case, Deployment, Message, Written

pytest_plugins = ["pytester"]

FORMAT = "ticdc-canal-json"
LENIENT = "ticdc-simple-json"
"""A format with a rule on which no source decides."""


def of_weight(name, obligation):
    return next(r.id for r in rules(name) if r.obligation is obligation and not r.law)


MUST, SHOULD = of_weight(FORMAT, Obligation.MUST), of_weight(FORMAT, Obligation.SHOULD)
UNSPECIFIED = of_weight(LENIENT, Obligation.UNSPECIFIED)
QUIET = (
    "-p",
    "no:randomly",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "--strict-markers",
    "--strict-config",
    "-Werror",
)

# What a run came to, made up: `broken` rules have a failure, `unreached` ones compared nothing,
# `verdicts` are the cases'.
MADE_UP = """
import pytest
from dataclasses import replace
from conformance import pytest_plugin
from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.known import Entry, EntryResult, State
from conformance.judging.results import Failure, FormatResult, Header, RuleResult, RunResult
from conformance.rules.rules import Aspect, rules
from generators.errors import NothingSelected
from generators.model import Case, Change, Deployment, Kind, Message, Written

RUNS = []

def made_up(cls, config, spark):
    RUNS.append(cls.__name__)
    if cls.profile == "nothing":
        raise NothingSelected("unknown profile 'nothing'")
    written = Written(Message("cdc", 0, None, b'{"type":"INSERT"}'), (Change(0, Kind.ROW),))
    case = Case(f"{cls.format}/v7.1.6/some/case", cls.format, "v7.1.6", Deployment(), 1, (), (written,))
    finding = lambda rule: Finding(case.id, rule.id, 0, 0, Aspect.VALUE, "after[c]", "18446744073709551615", "-1")
    every = rules(cls.format)
    failures = tuple(
        Failure(rule, finding(rule), CaseResult(case, Verdict.FAIL), 3, ".cdc-conformance/failures/x.json")
        for rule in every if rule.id in cls.broken
    )
    on_record = {"on_record": 3, "reason": "waits", "link": "example.org/1"}
    failures = tuple(replace(f, **on_record) if f.rule.id in cls.known else f for f in failures)
    entries = tuple(EntryResult(Entry(rule, Verdict.FAIL), State(state), 0, "a hint") for rule, state in cls.entries)
    results = tuple(RuleResult(r, int(r.id not in cls.unreached), int(r.id in cls.broken), cls.decoder is None) for r in every)
    cases = tuple(CaseResult(case, Verdict(v), note=f"why {v}") for v in cls.verdicts)
    fmt = FormatResult(cls.format, "mine.py:decode", (1,), cases, results, (), {}, 0, {})
    return RunResult(Header(7, "smoke", "mine.py:decode", "none", ""), (fmt,), failures, 1.0, entries=entries)

@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    monkeypatch.setattr(pytest_plugin, "perform", made_up)

def pytest_sessionfinish():
    print("RUNS", *RUNS)
"""

SUITE = """
from conformance.pytest_plugin import DecoderSuite

class TestMine(DecoderSuite):
    format = {format!r}
    decoder = "mine.py:decode"
    broken = ()
    known = ()
    entries = ()
    unreached = ()
    verdicts = ("pass", "unsupported")
{more}
"""


@pytest.fixture
def judged(pytester):
    """Runs a suite whose run is made up, with more class attributes, and gives pytest's result."""

    def judge(*options, format=FORMAT, **attributes):
        more = "\n".join(f"    {name} = {value!r}" for name, value in attributes.items())
        pytester.makeconftest(MADE_UP)
        pytester.makepyfile(SUITE.format(format=format, more=more))
        return pytester.runpytest_inprocess(*QUIET, "-s", *options)

    return judge


def test_a_decoder_that_keeps_every_rule_passes_one_item_per_rule(judged):
    result = judged()
    result.assert_outcomes(passed=len(rules(FORMAT)) + 1)
    line = f"cdc-conformance: TestMine: {FORMAT}, decoder mine.py:decode, profiles [*], budget smoke, seed 1, broker none; py*"
    result.stdout.fnmatch_lines([line, "*RUNS TestMine"])


def test_a_broken_must_fails_its_item_with_the_consoles_text(judged):
    result = judged("-v", broken=[MUST])
    result.assert_outcomes(passed=ALL, failed=1)
    rule = next(r for r in rules(FORMAT) if r.id == MUST)
    message = f"""TestMine::test_rule[{MUST}] FAILED
{rule.statement}
{rule.citations[0]}
case      {FORMAT}/v7.1.6/some/case
cases     3
at        after[c]
expected  18446744073709551615
actual    -1
message   {{"type":"INSERT"}}
replay    cdc-conformance replay .cdc-conformance/failures/x.json"""
    assert [part for part in message.splitlines() if part not in result.stdout.str()] == []
    assert "Traceback" not in result.stdout.str()


ALL, RUN = len(rules(FORMAT)), ("-k", "test_run")
ON_RECORD = {"broken": [MUST], "known": [MUST], "expect": "k"}
ONE_FAILS, IT_FAILS = {"passed": ALL, "failed": 1}, {"failed": 1, "deselected": ALL}
REASON = (
    "the decoder decodes only level 1; only profiles v7[*]; 1 cases unsupported: why unsupported"
)
NOTHING = (f"{FORMAT}/nothing", "matches nothing")
UNDECIDED = len(rules(LENIENT)) + 1


@pytest.mark.parametrize(
    ("options", "suite", "counts", "line"),
    [
        ("-rP", {"broken": [SHOULD]}, {"passed": ALL + 1}, "actual    -1"),
        ("-rP", {"broken": [SHOULD], "strict": True}, ONE_FAILS, "actual    -1"),
        (
            "-rP",
            {"format": LENIENT, "broken": [UNSPECIFIED], "strict": True},
            {"passed": UNDECIDED},
            "actual    -1",
        ),
        ("-rx", ON_RECORD, {"passed": ALL, "xfailed": 1}, "XFAIL*waits (3 cases) *1"),
        (
            "-v",
            {"entries": [(MUST, "unexpected pass")]},
            ONE_FAILS,
            f"[[]XPASS(strict)[]] {MUST}, fail: a hint",
        ),
        (RUN, {"entries": [NOTHING]}, IT_FAILS, f"{FORMAT}/nothing, fail: a hint"),
        (
            "-rs",
            {"unreached": [MUST], "profile": "v7*"},
            {"passed": ALL, "skipped": 1},
            f"SKIPPED*nothing to compare ({REASON})",
        ),
        ("-v", {"unreached": [MUST], "decoder": None}, ONE_FAILS, f"{MUST} was not exercised"),
        (
            RUN,
            {"verdicts": ("pass", "errored", "timeout")},
            IT_FAILS,
            "2 of 3 cases errored or timed out",
        ),
        (RUN, {"verdicts": ("unsupported",)}, IT_FAILS, "nothing was judged"),
        (
            "-v",
            {"profile": "nothing"},
            {"errors": ALL + 1},
            "the run did not come about: unknown profile 'nothing'",
        ),
        (
            "-v",
            {"format": "ticdc-canal-jsno"},
            {"errors": 1},
            "TestMine.format: unknown format 'ticdc-canal-jsno'. Did you m",
        ),
        *(
            (("-k", MUST), {}, {"passed": 1, "deselected": ALL}, ""),
            (("-m", "cdc"), {}, {"passed": ALL + 1}, ""),
        ),
        (
            ("-x", "-k", "test_rule"),
            {"broken": [r.id for r in rules(FORMAT)]},
            {"failed": 1, "deselected": 1},
            "",
        ),
    ],
)
def test_what_a_run_came_to_decides_each_item(judged, options, suite, counts, line):
    result = judged(*([options] if isinstance(options, str) else options), **suite)
    result.assert_outcomes(**counts)
    result.stdout.fnmatch_lines([f"*{line}*"])
    if suite.get("format", FORMAT) in (FORMAT, LENIENT):
        result.stdout.fnmatch_lines(["*RUNS TestMine"])


@pytest.mark.parametrize(
    ("on_record", "kind"), [((0, 0), "failed"), ((3, 0), "failed"), ((3, 3), "xfailed")]
)
def test_a_rule_fails_by_each_of_its_new_causes(on_record, kind):
    rule = next(r for r in rules(FORMAT) if r.id == MUST)
    case = Case(
        "c", FORMAT, "v7.1.6", Deployment(), 1, (), (Written(Message("t", 0, None, b"{}"), ()),)
    )
    finding = Finding("c", MUST, 0, 0, Aspect.VALUE, "after['c']", "1", "2")
    causes = [Cause(Symptom.REFUSED, (("fault", name),)) for name in ("one", "two")]
    failures = tuple(
        Failure(
            rule,
            finding,
            CaseResult(case, Verdict.FAIL, (finding,)),
            3,
            on_record=number,
            reason="waits",
            cause=cause,
        )
        for number, cause in zip(on_record, causes, strict=True)
    )
    judged = FormatResult(FORMAT, "mine", (1,), (), (RuleResult(rule, 9, 6),), (), {}, 0, {})
    item = outcomes(
        Suite, RunResult(Header(1, "smoke", "mine", "none", ""), (judged,), failures, 0.0)
    )[MUST]
    assert item.kind == kind
    assert [f"fault {name}" in item.text for name in ("one", "two")] == [
        number == 0 for number in on_record
    ]


def test_workers_of_xdist_share_one_run(judged, pytester):
    options = ("-n", "2", "--dist", "load")
    pytester.makeconftest(
        MADE_UP.replace(
            "RUNS.append(cls.__name__)", "open('runs.txt', 'a').write(cls.__name__ + ' ')"
        )
    )
    pytester.makepyfile(SUITE.format(format=FORMAT, more=f"    broken = [{MUST!r}]"))
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--strict-markers", *options)
    result.assert_outcomes(passed=len(rules(FORMAT)), failed=1)
    assert (pytester.path / "runs.txt").read_text() == "TestMine "


def test_attributes_win_over_options_and_those_over_the_configuration(judged, pytester):
    options = ("--cdc-seed=5", "--cdc-budget=ci")
    pytester.path.joinpath("cdc-conformance.toml").write_text(
        "seed = 9\n[pytest]\nbudget = 'nightly'\n", "utf-8"
    )
    result = judged(*options, seed=7, broker="embedded")
    result.stdout.fnmatch_lines(["cdc-conformance: *, budget ci, seed 7, broker embedded; *"])
    judged().stdout.fnmatch_lines(["cdc-conformance: *, budget nightly, seed 9, broker none; *"])
    pytester.path.joinpath("cdc-conformance.toml").write_text(
        "[pytest]\nbudget = 'smok'\n", "utf-8"
    )
    result = judged()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*unknown budget 'smok'. Did you mean 'smoke'?*"])


@pytest.mark.parametrize("option", [True, False])
def test_a_suite_names_a_cluster(pytester, option):
    more = (
        ""
        if option
        else '    master = "spark://127.0.0.1:1"\n    spark_conf = {"spark.executor.memory": "1g"}'
    )
    pytester.makepyfile(mine="def decode(records):\n    return records\n")
    pytester.makepyfile(SUITE.format(format=FORMAT, more=more))
    result = pytester.runpytest_inprocess(
        *QUIET, *(["--cdc-master=spark://127.0.0.1:1"] if option else [])
    )
    result.stdout.fnmatch_lines(["cdc-conformance: *, broker none, master spark://127.0.0.1:1; *"])
    assert (
        "the run did not come about: --master spark://127.0.0.1:1 does not answer: "
        in result.stdout.str()
    )


def test_a_decoders_file_is_found_beside_its_tests(tmp_path, monkeypatch):
    for name in ("tests", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "tests" / "mine.py").write_text("", encoding="utf-8")
    folders = [tmp_path / "work", tmp_path / "tests", tmp_path]
    monkeypatch.chdir(tmp_path)
    specs = [
        resolve(spec, folders) for spec in ("mine.py:decode", "mine.py", "tests/mine.py:decode")
    ]
    assert specs == ["tests/mine.py:decode", "tests/mine.py", "tests/mine.py:decode"]
    monkeypatch.chdir(tmp_path / "work")
    assert (
        resolve("mine.py:decode", folders) == f"{(tmp_path / 'tests' / 'mine.py').resolve()}:decode"
    )
    for spec in ("absent.py:decode", "package.module:decode", "package.module"):
        assert resolve(spec, folders) == spec


MINE = """
from pyspark.sql import functions as F
from spark_checks.decoders import huawei_cdl_json

CAPABILITIES = {"profiles": ["1.0"]}


def decode(records, deployment=None):
    right = huawei_cdl_json.decode(records, deployment=deployment)
    return right.withColumn("op", F.when(F.col("op") == "DELETE", "INSERT").otherwise(F.col("op")))
"""

SUITES = """
from conformance.engines.child import SMALL
from conformance.pytest_plugin import DecoderSuite


class TestMine(DecoderSuite):
    format = "huawei-cdl-json"
    decoder = "mine.py:decode"
    profile = "1.0"
    spark_conf = SMALL


class TestAgain(TestMine):
    strict = True
"""


def test_a_wrong_decoder_fails_some_rules_and_keeps_the_others(pytester, engine, monkeypatch):
    """Two suites of one decoder share a Spark, which ends with pytest; of few cases, and failures
    stay as they are.
    """
    said = []
    monkeypatch.setitem(BUDGETS, "smoke", Budget("smoke", 0, 4, covering=True))
    monkeypatch.setattr(
        "conformance.running.run.run_formats",
        lambda settings, engine: run_formats(replace(settings, reduce=False), engine),
    )
    monkeypatch.setattr(
        "conformance.engines.command.ChildEngine", lambda **_given: Lent(engine, said.append)
    )
    pytester.makepyfile(test_one=SUITES, mine=MINE)
    result = pytester.runpytest_inprocess(*QUIET, "-rA")
    text = result.stdout.str()
    assert said == ["started", "closed"]
    lines = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR", "PASSED"))]
    failed = [line for line in lines if not line.startswith("PASSED")]
    assert failed and len(lines) > len(failed)
    assert {line.split("::")[1] for line in failed} == {"TestMine", "TestAgain"}
    assert all("::test_rule" in line for line in failed)
    assert any("TestMine::test_run" in line for line in lines)
    assert "DELETE" in text
    replay = next(line for line in text.splitlines() if line.startswith("replay "))
    (saved,) = (word for word in replay.split() if word.endswith(".json"))
    assert (pytester.path / saved).is_file()


ON_SESSION = """
from conformance import DecoderSuite
from spark_checks.decoders import huawei_cdl_json

def decode(records, deployment=None):
    right = huawei_cdl_json.decode(records, deployment=deployment)
    return right.where("op IS NULL OR op <> 'DELETE'")

class TestMine(DecoderSuite):
    format = "huawei-cdl-json"
    decoder = decode
    spark = "given"
    profile = "1.0"
    level = "changes"
"""


def test_a_suite_judges_on_a_session_which_stays_as_it_was(pytester, spark, monkeypatch):
    monkeypatch.setitem(BUDGETS, "smoke", Budget("smoke", 0, 4, covering=True))
    monkeypatch.setattr(lent, "SESSION", spark, raising=False)
    before = spark.conf.getAll
    pytester.makeconftest(
        "import lent, pytest\n\n@pytest.fixture(scope='session')\ndef given():\n    return lent.SESSION\n"
    )
    pytester.makepyfile(test_one=ON_SESSION)
    # PySpark leaves sockets to the garbage collector.
    result = pytester.runpytest_inprocess(*(word for word in QUIET if word != "-Werror"), "-rf")
    counts = result.parseoutcomes()
    assert counts["failed"] < counts["passed"] and "errors" not in counts
    result.stdout.fnmatch_lines(
        ["cdc-conformance: *, decoder test_one:decode, *", "FAILED *rows/*"]
    )
    assert (spark.range(2).count(), spark.conf.getAll) == (2, before)


def test_a_suite_s_access_to_a_broker_wins_over_the_option_s(tmp_path):
    class Mine(Suite):
        broker = "kafka:9093"
        broker_properties: ClassVar = {"client.id": "mine"}
        topic = "theirs"

    (tmp_path / "client.properties").write_text("security.protocol=SSL\nclient.id=file\n", "utf-8")
    given = {"cdc_broker_config": "client.properties"}
    config = SimpleNamespace(
        getoption=lambda name, default=None: given.get(name, default), rootpath=tmp_path
    )
    asked = pytest_plugin._suite_broker(Mine, config, [Path("elsewhere"), tmp_path])
    assert (asked.spec, asked.topic, asked.prefix) == ("kafka:9093", "theirs", "cdc-conformance")
    assert asked.properties == {"security.protocol": "SSL", "client.id": "mine"}
