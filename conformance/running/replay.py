"""Crash files: saves failures and judges their cases again.

A file holds the case (messages and expectations), the rule, the decoder and the versions, as JSON. A replay gives FIXED, FAILED
or ERROR.
"""

from __future__ import annotations

import enum
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from conformance.engines.base import ChildDied, DecodeRaised, DecodeTimeout, Engine, Request, lay_out
from conformance.engines.command import engine_for
from conformance.files import FAILURES
from conformance.judging.judge import BAD, Finding, Judge, Verdict
from conformance.judging.output import read
from conformance.judging.results import Failure, RunResult, versions
from conformance.rules.base import Rule, rules
from conformance.running import laws
from conformance.running.isolating import stray_finding
from conformance.running.prepared import Settings
from conformance.text import printable
from generators.errors import HarnessError, UnknownName, UsageError
from generators.model import Case
from generators.storage import codec

VERSION: Final = 1


class ReplayOutcome(enum.StrEnum):
    """A replay's outcome."""

    FIXED = "FIXED"
    FAILED = "FAILED"
    ERROR = "ERROR"


EXIT: Final = {ReplayOutcome.FIXED: 0, ReplayOutcome.FAILED: 1, ReplayOutcome.ERROR: 3}
"""Exit codes of the command."""


@dataclass(frozen=True, slots=True)
class Crash:
    """A saved failure; `versions` are those of its run."""

    id: str
    rule: str
    decoder: str
    level: str
    mapping: Mapping[str, str]
    case: Case
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replayed:
    """A saved failure judged again. `problem` is the error, `changed` names the versions that changed since."""

    path: Path
    crash: Crash
    outcome: ReplayOutcome
    findings: tuple[Finding, ...]
    problem: str
    changed: str


def crash_id(failure: Failure) -> str:
    """A short name, fixed by rule and case."""
    digest = hashlib.sha256(f"{failure.rule.id}\0{failure.result.case.id}".encode()).hexdigest()[:8]
    return f"{re.sub(r'[^a-z0-9]+', '-', failure.rule.id)}-{digest}"


def save(
    directory: Path, failure: Failure, decoder: str, level: str, mapping: Mapping[str, str], seen: Mapping[str, str]
) -> Path:
    """Writes a crash file and returns its path. Raises HarnessError when writing fails."""
    finding, rule = failure.finding, failure.rule
    data = {
        "version": VERSION,
        "id": crash_id(failure),
        "rule": rule.id,
        "statement": rule.statement,
        "obligation": rule.obligation.value,
        "citations": [str(c) for c in rule.citations],
        "effect": rule.effect.value,
        "finding": {"path": finding.path, "expected": finding.expected, "actual": finding.actual, "message": finding.message},
        "decoder": decoder,
        "level": level,
        "mapping": dict(mapping),
        "versions": dict(seen),
        "case": codec.dump_case(failure.result.case),
    }
    path = directory / f"{crash_id(failure)}.json"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise HarnessError(f"cannot save the failure to {path}: {error.strerror or error}") from error
    return path


def save_all(result: RunResult, directory: Path, settings: Settings) -> RunResult:
    """Saves every failure that is not on record as known and sets its `file`. Raises HarnessError."""
    decoders = {fmt.format: fmt.decoder for fmt in result.formats}
    saved = []
    for failure in result.failures:
        if not failure.known:
            decoder = settings.decoder or decoders[failure.result.case.format]
            path = save(directory, failure, decoder, settings.level, settings.mapping, result.header.versions)
            failure = replace(failure, file=str(path))
        saved.append(failure)
    return replace(result, failures=tuple(saved))


def find(name: str, home: Path = FAILURES) -> Path:
    """A crash file by path, or by id below `home`. Raises UnknownName."""
    path = Path(name)
    if path.is_file():
        return path
    by_id = home / f"{name}.json"
    if by_id.is_file():
        return by_id
    raise UnknownName("failure", name, [p.stem for p in home.glob("*.json")])


def load(path: Path) -> Crash:
    """Reads a crash file. Raises UsageError."""
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if data.get("version") != VERSION:
            raise UsageError(f"{path}: crash file version {data.get('version')!r}, this release reads {VERSION}")
        case = codec.load_case(data["case"], str(path))
        crash = Crash(data["id"], data["rule"], data["decoder"], data["level"], data["mapping"], case, data["versions"])
        texts = (crash.id, crash.rule, crash.decoder, crash.level, *crash.mapping.values(), *crash.versions.values())
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("id, rule, decoder, level, mapping and versions must be texts")
        if case.level == 2 and not case.tables:
            raise ValueError("a level-two case needs a table")
        return crash
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} is not a crash file: {type(error).__name__}: {error}") from error


def replay_all(
    crashes: Mapping[Path, Crash], decoder: str | None, timeout_s: float, note: Callable[[str], None]
) -> Iterator[Replayed]:
    """Judges saved failures again, in one session per decoder. Raises what loading a decoder raises."""
    now = versions()
    by_decoder: dict[str, list[Path]] = {}
    for path, crash in crashes.items():
        by_decoder.setdefault(decoder or crash.decoder, []).append(path)
    for spec, paths in by_decoder.items():
        formats = sorted({crashes[path].case.format for path in paths})
        with engine_for(spec, formats, timeout_s=timeout_s) as engine:
            for path in paths:
                crash = crashes[path]
                note(f"replaying {crash.case.id}")
                outcome, findings, problem = replay(crash, engine, spec)
                changed = ", ".join(f"{k} {v} -> {now[k]}" for k, v in crash.versions.items() if now.get(k, v) != v)
                yield Replayed(path, crash, outcome, tuple(findings), problem, changed)


def told(result: Replayed, style: str) -> str:
    """A replay for a person, or as a JSON line."""
    if style == "json":
        return json.dumps(
            {
                "outcome": result.outcome.value,
                "rule": result.crash.rule,
                "case": result.crash.case.id,
                "file": str(result.path),
                "findings": [
                    {"rule": f.rule, "path": f.path, "expected": f.expected, "actual": f.actual} for f in result.findings
                ],
                "problem": result.problem,
                "versions_changed": result.changed,
            },
            ensure_ascii=False,
        )
    lines = [f"{result.outcome} {result.crash.rule} {result.crash.case.id}"]
    lines += [f"  {f.rule} at {f.path}: expected {f.expected}, actual {f.actual}" for f in result.findings[:5]]
    lines += [f"  {result.problem}"] if result.problem else []
    lines += [f"  saved under other versions: {result.changed}"] if result.changed else []
    return "\n".join(map(printable, lines))


def replay(crash: Crash, engine: Engine, decoder: str | None = None) -> tuple[ReplayOutcome, list[Finding], str]:
    """Judges the saved case again, with the saved decoder or another; returns outcome, findings and error."""
    format_rules = rules(crash.case.format)
    rule = next((r for r in format_rules if r.id == crash.rule), None)
    if rule is None:
        raise UnknownName("rule", crash.rule, [r.id for r in format_rules])
    spec = decoder or crash.decoder
    level = crash.level if crash.level in ("changes", "rows") else "auto"
    loaded = engine.load(spec, level).result()
    if crash.case.level not in loaded.levels:
        return ReplayOutcome.ERROR, [], f"the case is of level {crash.case.level}; {spec} decodes level {loaded.levels[0]}"
    messages = [w.message for w in crash.case.written]
    places, source = lay_out(engine.directory, "replay", messages)
    engine.open("replay", source)
    table = crash.case.tables[0] if crash.case.level == 2 else None
    asked = Request("replay", source.ranges, spec, crash.case.level, crash.case.deployment, table, mapping=crash.mapping)
    judge = Judge(format_rules, loaded.capabilities)
    try:
        outputs = read(engine.decode(asked).result(), crash.case.level)
        findings = list(judge.judge(crash.case, [outputs.get(p, ()) for p in places], table.name if table else None).findings)
        if (stray := stray_finding(judge, crash.case.id, outputs, places)) is not None:
            findings.append(stray)
        if rule.law in ("batch", "environment"):
            findings += laws.again(engine, asked, {place: (crash.case, i) for i, place in enumerate(places)}, judge)
    except (DecodeRaised, DecodeTimeout, ChildDied) as error:
        # A decoder that fails shows nothing about another rule.
        return (ReplayOutcome.FAILED if rule.law == "returns" else ReplayOutcome.ERROR), [], str(error)
    return _outcome(judge, crash.case, rule, findings), findings, ""


def _outcome(judge: Judge, case: Case, rule: Rule, findings: list[Finding]) -> ReplayOutcome:
    still = any(f.rule == rule.id for f in findings)
    verdict = judge.verdict(case, findings)
    return ReplayOutcome.FAILED if still or verdict in BAD or verdict is Verdict.NON_STRICT else ReplayOutcome.FIXED
