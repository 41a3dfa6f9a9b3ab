"""The suite as pytest items: a decoder's author writes one class and gets an item per rule.

    class TestMine(DecoderSuite):
        format = "ticdc-canal-json"
        decoder = "mine.py:decode"

`_cdc_conformance_pytest` declares the options and calls the two `cdc_...` hooks below. Under
pytest-xdist one worker runs the suite of a class, and the others wait for its results. Imports
`brokers`, `rules`, `cases`, `judging`, `engines`, `running` and `reports`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import pytest

from conformance.shadow import check_shadowing

# Before the other imports, which a folder of the user's could shadow.
check_shadowing()

from rich.text import Text  # noqa: E402

from conformance.cases.catalogue import matches_pattern  # noqa: E402
from conformance.judging.findings import Verdict  # noqa: E402
from conformance.judging.known import Expectations, State, load  # noqa: E402
from conformance.judging.results import Failure, FormatResult, RuleResult, RunResult  # noqa: E402
from conformance.reports import console  # noqa: E402
from conformance.rules.rules import Obligation, Rule, rules  # noqa: E402
from conformance.text import printable  # noqa: E402
from generators.errors import HarnessError, UsageError  # noqa: E402
from generators.tables.user_values import Values  # noqa: E402

if TYPE_CHECKING:
    from conformance.brokers.asked import BrokerOptions
    from conformance.running.prepared import Settings

DEFAULTS = {
    "budget": "smoke",
    "seed": 1,
    "broker": "none",
    "broker_config": None,
    "broker_property": (),
    "master": "",
    "remote": "",
}
"""The values of a suite's settings that neither its class nor an option of pytest gives."""
SHOWN = 10
"""How many cases that errored or timed out are listed in a failure of the run's item."""
RUN = "run"
"""The key of the outcome of the run as a whole, beside the ids of rules."""

_RUNS: pytest.StashKey[dict[type, Outcomes | str]] = pytest.StashKey()
"""Where pytest's session keeps the outcomes of each suite class that has run; a text if its run
failed.
"""
_KEPT: pytest.StashKey[Kept] = pytest.StashKey()
"""Where pytest's session keeps the engine for the next suite."""


@dataclass(slots=True)
class Kept:
    """The engine (a Spark session with a decoder) of the last suite. `key` holds all that another
    suite must share to use it: the decoder's file and the settings.
    """

    key: object = None
    engine: Any = None

    def end(self) -> None:
        """Stops the engine that is kept for the next suite, if there is one."""
        if self.engine is not None:
            self.engine.close()
        self.key = self.engine = None


class RuleSuite:
    """Base of a suite with an item for each rule of a format, and `test_run` for the run as a
    whole; one run per class.
    """

    __cdc_suite__: ClassVar[bool] = True
    pytestmark: ClassVar[list[pytest.MarkDecorator]] = [pytest.mark.cdc_spark]

    format: ClassVar[str] = ""

    @classmethod
    def cdc_rules(cls) -> Sequence[Rule]:
        """The rules that get an item of pytest. Raises HarnessError for an unknown format."""
        raise NotImplementedError

    @classmethod
    def cdc_perform(cls, request: pytest.FixtureRequest) -> Outcomes:
        """Performs the run and returns the outcome of each item. Raises HarnessError."""
        raise NotImplementedError

    @classmethod
    def cdc_generate_tests(cls, metafunc: pytest.Metafunc) -> None:
        """Makes one pytest item for each rule, with the rule's id. Raises CollectError when the
        class names no known format.
        """
        if "rule" in metafunc.fixturenames:
            try:
                suite_rules = cls.cdc_rules()
            except HarnessError as error:
                raise pytest.Collector.CollectError(f"{cls.__name__}.format: {error}") from None
            metafunc.parametrize("rule", suite_rules, ids=[rule.id for rule in suite_rules])

    @pytest.fixture
    def cdc_outcomes(
        self, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
    ) -> Outcomes:
        """The fixture that gives the outcome of each item of the class; the first item that asks
        for it performs the run.
        """
        runs = request.config.stash.setdefault(_RUNS, {})
        cls = type(self)
        if cls not in runs:
            runs[cls] = shared(cls, request, tmp_path_factory.getbasetemp().parent)
        run = runs[cls]
        if isinstance(run, str):
            pytest.fail(f"the run did not come about: {run}", pytrace=False)
        return run

    def test_rule(self, rule: Rule, cdc_outcomes: Outcomes, request: pytest.FixtureRequest) -> None:
        """Passes if the decoder or pipeline keeps the rule."""
        settle(cdc_outcomes[rule.id], request)

    def test_run(self, cdc_outcomes: Outcomes, request: pytest.FixtureRequest) -> None:
        """Passes if the run as a whole could be judged: no case errored or timed out, every entry
        on known failures matched something, or, for a pipeline, some stream was judged.
        """
        settle(cdc_outcomes[RUN], request)


class DecoderSuite(RuleSuite):
    """Base of a decoder's suite: one run per class, one item per rule, and `test_run` for cases
    that errored or timed out.

    `decoder` is what `--decoder` takes, None the format's reference decoder; a `.py` path is looked
    for below the working directory, beside the test module and below pytest's root directory.
    Modules are imported by another process, from what is installed or lies in the working
    directory. It may also be a function, or an object with decode functions. `spark` names a
    fixture that gives a SparkSession: the decoder runs on it, in this process, as with
    `conformance.run(..., spark=...)`; the session is not stopped and keeps its settings. `profile`
    is a glob of writer profiles, `level` changes, rows or both, `mapping` what `--map` says,
    `timeout` seconds for each decode call. `strict` makes a broken SHOULD fail. `budget`,
    `seed`, `broker`, `master` and `remote`, when not None, win over their options; `spark_packages`
    and `spark_conf` are what the options of `run` of these names take. A broken MAY or UNSPECIFIED
    rule never fails; it is shown in the item's report section (`-rP`). `expect` is a record of
    known failures (docs/known-failures.md), looked for where a decoder's file is: a rule whose
    failures are all on record is an expected failure (xfail), and fails as soon as it passes;
    `test_run` fails for entries that match nothing. `tables` are your own tables, as `--tables`
    takes them: files, looked for where a decoder's is, or URLs; `dialect`, `database` and `values`
    are as the options of these names. So are `broker_config`, a file looked for where a decoder's
    is, `topic` and `topic_prefix`; `broker_properties` are properties of the Kafka client by name.
    """

    decoder: ClassVar[Any] = None
    spark: ClassVar[str | None] = None
    mapping: ClassVar[Mapping[str, str]] = {}
    level: ClassVar[str] = "both"
    profile: ClassVar[str] = "*"
    strict: ClassVar[bool] = False
    timeout: ClassVar[float] = 120
    budget: ClassVar[str | None] = None
    seed: ClassVar[int | None] = None
    broker: ClassVar[str | None] = None
    broker_config: ClassVar[str | None] = None
    broker_properties: ClassVar[Mapping[str, str]] = {}
    topic: ClassVar[str | None] = None
    topic_prefix: ClassVar[str | None] = None
    master: ClassVar[str | None] = None
    remote: ClassVar[str | None] = None
    spark_packages: ClassVar[tuple[str, ...]] = ()
    spark_conf: ClassVar[Mapping[str, str]] = {}
    expect: ClassVar[str | None] = None
    tables: ClassVar[tuple[str, ...]] = ()
    dialect: ClassVar[str | None] = None
    database: ClassVar[str | None] = None
    values: ClassVar[str | None] = None

    @classmethod
    def cdc_rules(cls) -> Sequence[Rule]:
        """The rules of the format, each an item of the suite."""
        return rules(cls.format)

    @classmethod
    def cdc_perform(cls, request: pytest.FixtureRequest) -> Outcomes:
        """Judges the suite's decoder, once for all items of the class, and returns the outcome of
        each item. Every case must be decoded, at least one must be judged, and no entry of the
        record of known failures may match nothing.
        """
        # A suite may have a fixture of its own that is named spark.
        spark = request.getfixturevalue(cls.spark) if isinstance(cls.spark, str) else None
        return outcomes(cls, perform(cls, request.config, spark))

    @classmethod
    def cdc_report_header(cls, config: pytest.Config) -> str:
        """The lines of pytest's header that name the suite's decoder, its settings and the
        versions.
        """
        from conformance.judging.results import versions

        where = "".join(f", {name} {url}" for name, url in _spark_addresses(cls, config) if url)
        version_list = ", ".join(f"{name} {version}" for name, version in versions().items())
        return (
            f"{cls.__name__}: {cls.format}, decoder {decoder_label(cls)}, profiles {cls.profile}, "
            f"budget {suite_option(cls, config, 'budget')}, seed {suite_option(cls, config, 'seed')}, "
            f"broker {suite_option(cls, config, 'broker')}{where}; {version_list}"
        )


def decoder_label(cls: type[DecoderSuite]) -> str:
    """The name of a suite's decoder for pytest's header; "reference" if the suite names none."""
    from conformance.engines.live import decoder_name

    return "reference" if cls.decoder is None else decoder_name(cls.decoder)


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """The outcome of one pytest item: `kind` is passed, failed, xfailed or skipped; `text` is its
    message or report section, "" for none.
    """

    kind: str
    text: str = ""


Outcomes: TypeAlias = Mapping[str, SuiteRun]
"""The outcome of each item of a suite, by rule id; under `RUN` that of the run as a whole."""


def settle(outcome: SuiteRun, request: pytest.FixtureRequest) -> None:
    """Ends a pytest item with the outcome of its rule (passed, failed, skipped, xfailed); the text
    of a passed item goes into its report section.
    """
    match outcome.kind:
        case "failed":
            pytest.fail(outcome.text, pytrace=False)
        case "xfailed":
            pytest.xfail(outcome.text)
        case "skipped":
            pytest.skip(outcome.text)
    if outcome.text:
        request.node.add_report_section("call", "cdc-conformance", outcome.text)


def outcomes(cls: type[DecoderSuite], result: RunResult) -> dict[str, SuiteRun]:
    """The outcome of each pytest item of a decoder's suite: one for each rule of the format, and
    one for the run.
    """
    judged = result.formats[0]
    return {
        **{rule.rule.id: _outcome_of_rule(cls, result, rule) for rule in judged.rules},
        RUN: _outcome_of_run(cls, result),
    }


def _outcome_of_rule(cls: type[DecoderSuite], result: RunResult, tally: RuleResult) -> SuiteRun:
    """The outcome of a rule's item. Failed for a new failure of a binding rule, for a known failure
    that did not occur again, or if the run could exercise the rule but did not; xfailed if every
    failure is on record as known, skipped if nothing could exercise the rule, else passed. `tally`
    counts the rule's comparisons.
    """
    rule, judged = tally.rule, result.formats[0]
    failures = result.failures_of(rule.id)
    new = [f for f in failures if not f.known]
    if new:
        binding = rule.obligation is Obligation.MUST or (
            cls.strict and rule.obligation is Obligation.SHOULD
        )
        return SuiteRun("failed" if binding else "passed", explain_failures(new))
    if failures:
        reasons = (
            f"{f.reason or 'on record'} ({f.cases} cases) {f.link}".rstrip() for f in failures
        )
        return SuiteRun("xfailed", "; ".join(dict.fromkeys(reasons)))
    passed = [
        e
        for e in result.entries
        if e.state is State.UNEXPECTED_PASS and matches_pattern(rule.id, e.entry.rule)
    ]
    if passed:
        return SuiteRun("failed", "\n".join(f"[XPASS(strict)] {e.entry}: {e.hint}" for e in passed))
    if not tally.compared:
        reason = unreached(tally, judged, cls.profile)
        return (
            SuiteRun("failed", f"{rule.id} was not exercised: {reason}")
            if tally.reachable
            else SuiteRun("skipped", reason)
        )
    return SuiteRun("passed")


def _outcome_of_run(cls: type[DecoderSuite], result: RunResult) -> SuiteRun:
    """The outcome of the item for the run: failed if cases errored or timed out, the decoder claims
    no case, or an entry of the known failures matches nothing; else passed with the verdicts.
    """
    judged = result.formats[0]
    undecoded_cases = [
        c for c in judged.counting(cls.strict) if c.verdict in (Verdict.ERRORED, Verdict.TIMEOUT)
    ]
    if undecoded_cases:
        lines = [
            f"{c.case.id}: {c.verdict}: {c.note.splitlines()[0] if c.note else ''}"
            for c in undecoded_cases[:SHOWN]
        ]
        more = (
            [f"... and {len(undecoded_cases) - SHOWN} more"] if len(undecoded_cases) > SHOWN else []
        )
        return SuiteRun(
            "failed",
            "\n".join(
                [
                    f"{len(undecoded_cases)} of {len(judged.cases)} cases errored or timed out",
                    *lines,
                    *more,
                ]
            ),
        )
    if all(c.verdict is Verdict.UNSUPPORTED for c in judged.cases):
        return SuiteRun("failed", "nothing was judged: the decoder claims none of the cases")
    useless_entries = [e for e in result.entries if e.state is State.MATCHES_NOTHING]
    if useless_entries:
        return SuiteRun("failed", "\n".join(f"{e.entry}: {e.hint}" for e in useless_entries))
    counts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(judged.verdicts.items()))
    return SuiteRun("passed", f"{len(judged.cases)} cases: {counts}")


def shared(cls: type[RuleSuite], request: pytest.FixtureRequest, folder: Path) -> Outcomes | str:
    """The outcomes of the suite's items, or why its run failed. The workers of pytest-xdist share
    one run: the first that needs it performs it and writes the outcomes into a file in `folder`,
    which all workers see; the others wait for that file.
    """
    if not hasattr(request.config, "workerinput"):
        return _run_suite(cls, request)
    import fcntl

    name = hashlib.sha256(f"{cls.__module__}.{cls.__qualname__}".encode()).hexdigest()[:24]
    with open(folder / f"cdc-conformance-{name}.json", "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if saved_text := file.read():
            saved = json.loads(saved_text)
            return (
                saved
                if isinstance(saved, str)
                else {key: SuiteRun(*value) for key, value in saved.items()}
            )
        performed = _run_suite(cls, request)
        json.dump(
            (
                performed
                if isinstance(performed, str)
                else {key: (outcome.kind, outcome.text) for key, outcome in performed.items()}
            ),
            file,
        )
    return performed


def _run_suite(cls: type[RuleSuite], request: pytest.FixtureRequest) -> Outcomes | str:
    """Performs a suite's run: the outcomes by item, or the text of the HarnessError, with which
    each item then fails.
    """
    try:
        return cls.cdc_perform(request)
    except HarnessError as error:
        return str(error)


def suite_option(cls: type[RuleSuite], config: pytest.Config, name: str) -> Any:
    """A setting of a suite: the class attribute `name`, else the option of pytest (from the command
    line or its configuration file), else the default.
    """
    class_value = getattr(cls, name, None)
    value = config.getoption(f"cdc_{name}", None) if class_value is None else class_value
    return DEFAULTS[name] if value is None else value


def _spark_addresses(cls: type[DecoderSuite], config: pytest.Config) -> list[tuple[str, str]]:
    """The addresses of the suite's Spark as (setting, address) pairs: the cluster's `master` and
    the server of Spark Connect, `remote`; "" where there is none.
    """
    return [(name, suite_option(cls, config, name)) for name in ("master", "remote")]


def perform(cls: type[DecoderSuite], config: pytest.Config, spark: Any = None) -> RunResult:
    """Runs a suite from start to end and saves its failures where `cdc-conformance replay` finds
    them. `spark` is a session of the caller's, None to start one. Raises HarnessError.
    """
    from conformance.cases.catalogue import find_budget
    from conformance.engines.child import QUICK
    from conformance.engines.live import decoder_name
    from conformance.engines.spark_conf import merge_settings, settings_of_options
    from conformance.engines.specs import is_command
    from conformance.files import FAILURES
    from conformance.running import replay
    from conformance.running.prepared import Settings
    from conformance.running.run import run_formats
    from conformance.running.started import start_run

    folders = suite_folders(cls, config)
    decoder = resolve(cls.decoder, folders) if isinstance(cls.decoder, str) else cls.decoder
    record = (
        next((folder / cls.expect for folder in folders if (folder / cls.expect).is_file()), None)
        if cls.expect
        else None
    )
    if cls.expect and record is None:
        raise UsageError(
            f"{cls.__name__}.expect: there is no file {cls.expect} in"
            f" {', '.join(map(str, folders))}"
        )
    seed = suite_option(cls, config, "seed")
    settings = Settings(
        formats=(cls.format,),
        budget=find_budget(suite_option(cls, config, "budget")),
        seed=seed,
        decoder=None if decoder is None else decoder_name(decoder),
        mapping=cls.mapping,
        level=cls.level,
        writer_profile=cls.profile,
        strict=cls.strict,
        timeout_s=cls.timeout,
        expect=load(record) if record else Expectations(),
        tables=_tables(cls, folders, seed),
    )
    broker_options = _suite_broker(cls, config, folders)
    suite_conf = settings_of_options(
        cls.spark_conf, **dict(_spark_addresses(cls, config)), added_packages=cls.spark_packages
    )
    conf = suite_conf if spark is not None else merge_settings(QUICK, suite_conf)
    lasting = (
        spark is None and (decoder is None or isinstance(decoder, str)) and not is_command(decoder)
    )
    engine = (
        partial(_kept_engine, config, decoder, settings, broker_options.kafka, conf)
        if lasting
        else None
    )
    with start_run(settings, broker_options, conf, decoder=decoder, spark=spark, engine=engine) as (
        ready,
        given_engine,
    ):
        result = run_formats(ready, given_engine)
    result, unsaved = replay.save_all(replay.with_crash_files(result, FAILURES, settings), settings)
    if unsaved is not None:
        warnings.warn(str(unsaved), stacklevel=2)
    return result


@contextlib.contextmanager
def _kept_engine(
    config: pytest.Config,
    decoder: str | None,
    settings: Settings,
    kafka: bool,
    conf: Mapping[str, str],
) -> Iterator[Any]:
    """A context that gives an engine whose Spark stays for the next suite of the same decoder's
    file and settings, until pytest ends; an error in the context ends it.
    """
    from conformance.brokers import registry
    from conformance.engines.child import required_packages
    from conformance.engines.command import engine_for

    engine_options: dict[str, Any] = {"kafka": kafka, "timeout_s": settings.timeout_s, "conf": conf}
    registry_address = os.environ.get(registry.ADDRESS)
    engine_key = (
        (decoder or "").rpartition(":")[0],
        required_packages(settings.formats, kafka=kafka),
        engine_options,
        registry_address,
    )
    if _KEPT not in config.stash:
        config.stash[_KEPT] = Kept()
        config.add_cleanup(config.stash[_KEPT].end)
    kept_engine = config.stash[_KEPT]
    if kept_engine.key != engine_key:
        kept_engine.end()
    engine = kept_engine.engine or engine_for(decoder, settings.formats, **engine_options)
    kept_engine.key, kept_engine.engine = engine_key, engine
    try:
        yield engine
    except BaseException:
        kept_engine.end()
        raise


def _suite_broker(
    cls: type[DecoderSuite], config: pytest.Config, folders: list[Path]
) -> BrokerOptions:
    """The broker that the suite's class or pytest's options name, with its settings. Raises
    UsageError.
    """
    from conformance.brokers.asked import broker_options
    from generators.publishing.properties import parse_property

    file = suite_option(cls, config, "broker_config")
    pairs = [
        *map(parse_property, suite_option(cls, config, "broker_property")),
        *cls.broker_properties.items(),
    ]
    broker = suite_option(cls, config, "broker")
    return broker_options(
        broker, place_file(file, folders) if file else None, pairs, cls.topic, cls.topic_prefix
    )


def _tables(cls: type[DecoderSuite], folders: list[Path], seed: int) -> Values | None:
    """The user's own tables that the suite's class names, with values drawn for them; None if it
    names none. Raises UsageError.
    """
    from conformance.cases.tables import formats_for_tables, profiles_matching, read_tables

    if not cls.tables:
        return None
    sources = [
        source if "://" in source else str(place_file(source, folders)) for source in cls.tables
    ]
    overrides = place_file(cls.values, folders) if cls.values else None
    values = read_tables(
        sources,
        cls.dialect,
        cls.database,
        overrides,
        seed,
        profiles_matching((cls.format,), cls.profile),
    )
    formats_for_tables((cls.format,), (cls.format,), (cls.profile,), values.schema, _print_notes)
    return values


def _print_notes(notes: Sequence[str]) -> None:
    """Prints notes on the user's tables to stderr, a line each."""
    sys.stderr.write("".join(f"{printable(note)}\n" for note in notes))


def place_file(name: str, folders: list[Path]) -> Path:
    """The path of the file `name`: in the first of the folders that has it, else the name itself."""
    return next((folder / name for folder in folders if (folder / name).is_file()), Path(name))


def suite_folders(cls: type[RuleSuite], config: pytest.Config) -> list[Path]:
    """The folders in which files that a suite names are looked for: the working directory, the
    folder of the test file, pytest's root directory.
    """
    module = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return [Path(), *([Path(module).parent] if module else []), config.rootpath]


def resolve(spec: str, folders: list[Path]) -> str:
    """A decoder's specification in which the Python file is replaced by the first file that exists
    in one of the folders, with a path relative to the working directory if it is below it;
    unchanged if it names no Python file, or none exists.
    """
    file, colon, function = (
        spec.partition(".py:") if ".py:" in spec else (spec.removesuffix(".py"), "", "")
    )
    if not colon and file == spec:
        return spec
    for folder in folders:
        path = folder / f"{file}.py"
        if path.is_file():
            path_text = (
                os.path.relpath(path)
                if path.resolve().is_relative_to(Path.cwd())
                else str(path.resolve())
            )
            return f"{path_text}:{function}" if colon else path_text
    return spec


def explain_failures(failures: Iterable[Failure]) -> str:
    """The causes of a broken rule as the console shows them, without box and colours. Lines stay
    whole, so that the commands can be copied; the sentence of the rule stands above the first.
    """
    texts: list[str] = []
    for failure in failures:
        panel = console.failure(failure, states_rule=not texts)
        assert isinstance(panel.title, Text) and isinstance(panel.renderable, Text)
        texts.append(f"{panel.title.plain}\n{panel.renderable.plain}")
    return "\n\n".join(texts)


def unreached(result: RuleResult, judged: FormatResult, profile: str) -> str:
    """Why a rule of a suite was compared with nothing in the run, in words: levels, profiles,
    unsupported cases or errors.
    """
    levels = result.rule.selector.levels
    because = []
    if levels and not set(levels) & set(judged.levels):
        because.append(
            f"it is of level {_join(levels)}, the decoder decodes level {_join(judged.levels)}"
        )
    elif len(judged.levels) == 1:
        because.append(f"the decoder decodes only level {judged.levels[0]}")
    if profile != "*":
        because.append(f"only profiles {profile}")
    notes = Counter(c.note for c in judged.cases if c.verdict is Verdict.UNSUPPORTED)
    because += [f"{count} cases unsupported: {note}" for note, count in notes.most_common(3)]
    lost = judged.verdicts[Verdict.ERRORED] + judged.verdicts[Verdict.TIMEOUT]
    if lost:
        because.append(f"{lost} cases errored or timed out")
    return f"nothing to compare ({'; '.join(because) or 'no case of this run reaches it'})"


def _join(levels: tuple[int, ...]) -> str:
    """Levels as text, such as `1 and 2`."""
    return " and ".join(map(str, levels))
