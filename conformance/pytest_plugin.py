"""The suite as pytest items: a decoder's author writes one class and gets an item per rule.

    class TestMine(DecoderSuite):
        format = "ticdc-canal-json"
        decoder = "mine.py:decode"

`_cdc_conformance_pytest` declares the options and calls the two `cdc_...` hooks below. Under pytest-xdist every worker that has
items of a class runs the suite for itself; `--dist loadscope` gives a class to one worker.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conformance.shadow import check_shadowing

# Before anything of ours is imported that a folder of the user's could hide.
check_shadowing()

from rich.text import Text  # noqa: E402

from conformance.judge import Verdict  # noqa: E402
from conformance.report import console  # noqa: E402
from conformance.results import Failure, FormatResult, RuleResult, RunResult  # noqa: E402
from conformance.rules.base import Obligation, Rule, rules  # noqa: E402
from generators.errors import HarnessError  # noqa: E402

SEED = 1
SHOWN = 10
"""How many errored cases are listed."""

_RUNS: pytest.StashKey[dict[type, RunResult | HarnessError]] = pytest.StashKey()


class DecoderSuite:
    """Base of a conformance suite: one run per class, one item per rule, and `test_run` for cases that errored or timed out.

    `decoder` is what `--decoder` takes, None the format's reference decoder; a `.py` path is looked for below the working
    directory, beside the test module and below pytest's root directory. Modules are imported by another process, from what is
    installed or lies in the working directory. `profile` is a glob of writer profiles, `level` changes, rows or both, `mapping`
    what `--map` says, `timeout` seconds for each decode call. `strict` makes a broken SHOULD fail. `budget`, `seed` and `broker`,
    when not None, win over their options. A broken MAY or UNSPECIFIED rule never fails; it is told in the item's report section
    (`-rP`).
    """

    __cdc_suite__: ClassVar[bool] = True
    pytestmark: ClassVar[list[pytest.MarkDecorator]] = [pytest.mark.cdc_spark]

    format: ClassVar[str] = ""
    decoder: ClassVar[str | None] = None
    mapping: ClassVar[Mapping[str, str]] = {}
    level: ClassVar[str] = "both"
    profile: ClassVar[str] = "*"
    strict: ClassVar[bool] = False
    timeout: ClassVar[float] = 120
    budget: ClassVar[str | None] = None
    seed: ClassVar[int | None] = None
    broker: ClassVar[str | None] = None

    @classmethod
    def cdc_generate_tests(cls, metafunc: pytest.Metafunc) -> None:
        """One item per rule, under the rule's id. Raises CollectError when the class names no known format."""
        if "rule" in metafunc.fixturenames:
            try:
                found = rules(cls.format)
            except HarnessError as error:
                raise pytest.Collector.CollectError(f"{cls.__name__}.format: {error}") from None
            metafunc.parametrize("rule", found, ids=[rule.id for rule in found])

    @classmethod
    def cdc_report_header(cls, config: pytest.Config) -> str:
        """What is judged, and with which seed."""
        return (
            f"{cls.__name__}: {cls.format}, decoder {cls.decoder or 'reference'}, profiles {cls.profile}, "
            f"budget {_option(cls, config, 'budget')}, seed {_option(cls, config, 'seed')}, "
            f"broker {_option(cls, config, 'broker')}"
        )

    @pytest.fixture
    def cdc_result(self, request: pytest.FixtureRequest) -> RunResult:
        """The class's run, performed when the first of its items asks for it."""
        runs = request.config.stash.setdefault(_RUNS, {})
        cls = type(self)
        if cls not in runs:
            try:
                runs[cls] = perform(cls, request.config)
            except HarnessError as error:
                runs[cls] = error
        result = runs[cls]
        if isinstance(result, HarnessError):
            pytest.fail(f"the run did not come about: {result}", pytrace=False)
        return result

    def test_rule(self, rule: Rule, cdc_result: RunResult, request: pytest.FixtureRequest) -> None:
        """The decoder keeps the rule."""
        found = cdc_result.formats[0]
        result = next(r for r in found.rules if r.rule.id == rule.id)
        failure = next((f for f in cdc_result.failures if f.rule.id == rule.id), None)
        if failure is not None:
            text = explain(failure)
            if rule.obligation is Obligation.MUST or (self.strict and rule.obligation is Obligation.SHOULD):
                pytest.fail(text, pytrace=False)
            request.node.add_report_section("call", "cdc-conformance", text)
        elif not result.compared:
            reason = unreached(result, found, self.profile)
            if result.reachable:
                pytest.fail(f"{rule.id} was not exercised: {reason}", pytrace=False)
            pytest.skip(reason)

    def test_run(self, cdc_result: RunResult, request: pytest.FixtureRequest) -> None:
        """Every case was decoded, and at least one was judged."""
        found = cdc_result.formats[0]
        bad = [c for c in found.cases if c.verdict in (Verdict.ERRORED, Verdict.TIMEOUT)]
        if bad:
            lines = [f"{c.case.id}: {c.verdict}: {c.note.splitlines()[0] if c.note else ''}" for c in bad[:SHOWN]]
            more = [f"... and {len(bad) - SHOWN} more"] if len(bad) > SHOWN else []
            pytest.fail("\n".join([f"{len(bad)} of {len(found.cases)} cases errored or timed out", *lines, *more]), pytrace=False)
        if all(c.verdict is Verdict.UNSUPPORTED for c in found.cases):
            pytest.fail("nothing was judged: the decoder claims none of the cases", pytrace=False)
        counts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(found.verdicts.items()))
        request.node.add_report_section("call", "cdc-conformance", f"{len(found.cases)} cases: {counts}")


def _option(cls: type[DecoderSuite], config: pytest.Config, name: str) -> Any:
    """A class attribute, else the option of the same name, else the default."""
    own = getattr(cls, name)
    if own is not None:
        return own
    asked = config.getoption(f"--cdc-{name}")
    return SEED if name == "seed" and asked is None else asked


def perform(cls: type[DecoderSuite], config: pytest.Config) -> RunResult:
    """Runs a suite from start to end, and saves its failures where `cdc-conformance replay` finds them. Raises HarnessError."""
    from conformance import replay
    from conformance.cases import budget
    from conformance.engine import ChildEngine, needed
    from conformance.run import Settings, run
    from conformance.shell import transport

    spec = resolve(cls.decoder, _folders(cls, config)) if cls.decoder else None
    settings = Settings(
        formats=(cls.format,),
        budget=budget(_option(cls, config, "budget")),
        seed=_option(cls, config, "seed"),
        decoder=spec,
        mapping=cls.mapping,
        level=cls.level,
        writer_profile=cls.profile,
        strict=cls.strict,
        timeout_s=cls.timeout,
    )
    broker = _option(cls, config, "broker")
    with (
        ChildEngine(packages=needed((cls.format,), kafka=broker != "none"), timeout_s=cls.timeout) as engine,
        transport(broker, lambda _text: None) as (bootstrap, described, topic),
    ):
        result = run(replace(settings, bootstrap=bootstrap, broker=described, topic=topic), engine)
    decoder = result.formats[0].decoder
    saved = []
    for failure in result.failures:
        path = replay.save(replay.HOME, failure, decoder, settings.level, settings.mapping, result.header.versions)
        saved.append(replace(failure, file=str(path)))
    return replace(result, failures=tuple(saved))


def _folders(cls: type[DecoderSuite], config: pytest.Config) -> list[Path]:
    module = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return [Path(), *([Path(module).parent] if module else []), config.rootpath]


def resolve(spec: str, folders: list[Path]) -> str:
    """A decoder's spec with the first existing file that it can mean, told from the working directory; else as it is."""
    file, colon, function = spec.partition(".py:") if ".py:" in spec else (spec.removesuffix(".py"), "", "")
    if not colon and file == spec:
        return spec
    for folder in folders:
        path = folder / f"{file}.py"
        if path.is_file():
            shown = os.path.relpath(path) if path.resolve().is_relative_to(Path.cwd()) else str(path.resolve())
            return f"{shown}:{function}" if colon else shown
    return spec


def explain(failure: Failure) -> str:
    """A broken rule as the console shows it, without box and colours: lines stay whole, so that the command can be copied."""
    panel = console.failure(failure)
    assert isinstance(panel.title, Text) and isinstance(panel.renderable, Text)
    return f"{panel.title.plain}\n{panel.renderable.plain}"


def unreached(result: RuleResult, found: FormatResult, profile: str) -> str:
    """Why a rule owned no comparison."""
    levels = result.rule.selector.levels
    because = []
    if levels and not set(levels) & set(found.levels):
        because.append(f"it is of level {_join(levels)}, the decoder decodes level {_join(found.levels)}")
    elif len(found.levels) == 1:
        because.append(f"the decoder decodes only level {found.levels[0]}")
    if profile != "*":
        because.append(f"only profiles {profile}")
    notes = Counter(c.note for c in found.cases if c.verdict is Verdict.UNSUPPORTED)
    because += [f"{count} cases unsupported: {note}" for note, count in notes.most_common(3)]
    lost = found.verdicts[Verdict.ERRORED] + found.verdicts[Verdict.TIMEOUT]
    if lost:
        because.append(f"{lost} cases errored or timed out")
    return f"nothing to compare ({'; '.join(because) or 'no case of this run reaches it'})"


def _join(levels: tuple[int, ...]) -> str:
    return " and ".join(map(str, levels))
