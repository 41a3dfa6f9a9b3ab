"""Crash files: saves failures and judges their cases again.

A file holds the case (messages and expectations), the rule, the cause, the decoder and the
versions, as JSON. A replay gives FIXED, FAILED, NOT REPRODUCED (WITHOUT ITS NEIGHBOURS) or ERROR.
FIXED requires that the run saw the case fail alone, and that its rule compared something.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.engines.child import QUICK
from conformance.engines.command import engine_for
from conformance.engines.engine import DecodeRaised, Engine, ProcessLost
from conformance.engines.spark_conf import merge_settings
from conformance.engines.specs import LIAR, decoder_spec, find_place
from conformance.files import FAILURES, put
from conformance.judging.findings import Finding
from conformance.judging.judge import Judge
from conformance.judging.results import Failure, RunResult, versions
from conformance.rules.rules import rules
from conformance.running.alone import Alone, still_fails
from conformance.running.prepared import Settings
from conformance.text import printable
from generators.errors import HarnessError, UnknownName, UsageError
from generators.model import Case
from generators.storage import codec
from generators.wire_format import FORMATS

VERSION: Final = 1
"""The version of the form of crash files."""
TOGETHER: Final = (
    "the run saw this failure only among other messages, which the file does not hold; run it again"
)
"""Why a case that passes in a replay is not fixed: the run never saw it fail alone."""
BEHIND: Final = "the case fails behind the messages of {} other cases, which the file holds"
"""A note on a case that fails in a replay together with the other cases in its file."""
UNCOMPARED: Final = "the case passes, but nothing was compared for the rule"
"""Why a case that passes in a replay is not fixed: the saved rule was not put to the test."""


class ReplayOutcome(enum.StrEnum):
    """What came of judging a saved failure again."""

    FIXED = "FIXED"
    FAILED = "FAILED"
    NOT_REPRODUCED = "NOT REPRODUCED"
    NOT_ALONE = "NOT REPRODUCED WITHOUT ITS NEIGHBOURS"
    ERROR = "ERROR"


EXIT: Final = {
    ReplayOutcome.FIXED: 0,
    ReplayOutcome.NOT_REPRODUCED: 4,
    ReplayOutcome.NOT_ALONE: 4,
    ReplayOutcome.FAILED: 1,
    ReplayOutcome.ERROR: 3,
}
"""The exit code of the command for each outcome, mildest first; of several outcomes the last in
this order decides.
"""


def exit_code(outcomes: Iterable[ReplayOutcome]) -> int:
    """The exit code of several replays: that of the worst outcome, 0 if there are none."""
    return EXIT[max(outcomes, key=list(EXIT).index, default=ReplayOutcome.FIXED)]


@dataclass(frozen=True, slots=True)
class Crash:
    """A saved failure; `versions` are those of the software of its run. `alone`: the run saw its
    case fail without other messages; `neighbours` are the cases behind whose messages it fails, if
    it needs them. `instead` is the rule on a trait (such as a type) that the judge blames in place
    of `rule`, "" for none.
    """

    id: str
    rule: str
    decoder: str
    level: str
    mapping: Mapping[str, str]
    case: Case
    versions: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False
    instead: str = ""
    neighbours: tuple[Case, ...] = ()


@dataclass(frozen=True, slots=True)
class Replayed:
    """A saved failure that was judged again. `problem` says in words why it could not be judged, or
    what the outcome depends on; `changed` lists the versions of software that changed since it was
    saved (`spark 3.5.1 -> 3.5.3`). Both are "" if there is nothing to say.
    """

    path: Path
    crash: Crash
    outcome: ReplayOutcome
    findings: tuple[Finding, ...]
    problem: str
    changed: str


def crash_id(failure: Failure) -> str:
    """A short name for a failure's file, such as `ticdc-canal-json-row-op-1a2b3c4d`, which depends
    only on its rule, case and cause.
    """
    cause = f"\0{failure.cause.key}" if failure.cause else ""
    digest = hashlib.sha256(
        f"{failure.rule.id}\0{failure.result.case.id}{cause}".encode()
    ).hexdigest()[:8]
    return f"{re.sub(r'[^a-z0-9]+', '-', failure.rule.id)}-{digest}"


def save(
    path: Path,
    failure: Failure,
    decoder: str,
    level: str,
    mapping: Mapping[str, str],
    versions: Mapping[str, str],
) -> Path:
    """Writes a failure into a crash file, with all that a replay needs. Raises HarnessError when
    writing fails.
    """
    finding, rule = failure.finding, failure.rule
    data = {
        "version": VERSION,
        "id": crash_id(failure),
        "rule": rule.id,
        "statement": rule.statement,
        "obligation": rule.obligation.value,
        "citations": [str(c) for c in rule.citations],
        "effect": rule.effect.value,
        "finding": {
            "path": finding.path,
            "expected": finding.expected,
            "actual": finding.actual,
            "message": finding.message,
        },
        "cause": failure.cause.key if failure.cause else "",
        "cause_in_words": failure.cause.words if failure.cause else "",
        "shown_alone": failure.alone,
        "instead": finding.instead,
        "decoder": decoder,
        "level": level,
        "mapping": dict(mapping),
        "versions": dict(versions),
        "case": codec.dump_case(failure.result.case),
        **(
            {"neighbours": [codec.dump_case(case) for case in failure.neighbours]}
            if failure.neighbours
            else {}
        ),
    }
    return put(
        path,
        lambda: [
            json.dumps(data, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace"),
            b"\n",
        ],
        "the failure",
    )


def with_crash_files(result: RunResult, directory: Path, settings: Settings) -> RunResult:
    """The result in which each failure that the record of known failures does not cover names its
    crash file, and the options that `replay` needs beside it (decoder, mapping); saves nothing.
    """
    options = (
        ["--decoder", settings.decoder]
        if settings.decoder and not trusted(settings.decoder)
        else []
    )
    for name, expression in settings.mapping.items():
        options += ["--map", f"{name}={expression}"]
    failures = (
        failure
        if failure.known
        else replace(
            failure, file=str(directory / f"{crash_id(failure)}.json"), naming=tuple(options)
        )
        for failure in result.failures
    )
    return replace(result, failures=tuple(failures))


def save_all(result: RunResult, settings: Settings) -> tuple[RunResult, HarnessError | None]:
    """Saves each failure that names a crash file. Returns the result, in which failures that could
    not be saved name no file, and the first error of saving; None if there was none.
    """
    decoders = {fmt.format: fmt.decoder for fmt in result.formats}
    failures, first = [], None
    for failure in result.failures:
        try:
            if failure.file:
                # Of an unfinished run not every format has a result.
                fmt = failure.result.case.format
                decoder = decoder_spec(fmt, settings.decoder or decoders.get(fmt))
                save(
                    Path(failure.file),
                    failure,
                    decoder,
                    settings.level,
                    settings.mapping,
                    result.header.versions,
                )
            failures.append(failure)
        except HarnessError as error:
            first = first or error
            failures.append(replace(failure, file="", naming=()))
    return replace(result, failures=tuple(failures)), first


_LIAR_NAME: Final = re.compile("[a-z0-9-]+")
"""The form of the name of a liar (a decoder with one deliberate mistake, for the self test)."""


def trusted(decoder: str) -> bool:
    """Whether a decoder that a crash file names is one of ours, which a replay runs without the
    user's consent: the reference decoder of a format, spelled exactly, or a liar of a format (a
    decoder with one deliberate mistake). Of a liar only the form of the name is checked; the
    process that decodes refuses names that do not exist.
    """
    if decoder.startswith(LIAR):
        fmt, _, name = decoder.removeprefix(LIAR).partition("/")
        return fmt in FORMATS and bool(_LIAR_NAME.fullmatch(name))
    return decoder in {decoder_spec(fmt, None) for fmt in FORMATS}


def find(name: str, home: Path = FAILURES) -> Path:
    """The path of a crash file: `name` itself if it is a file, else the file with that id in
    `home`. Raises UnknownName for an id that `home` does not have, UsageError if `home` has no
    crash file at all.
    """
    path = Path(name)
    if path.is_file():
        return path
    by_id = home / f"{name}.json"
    if by_id.is_file():
        return by_id
    if not (saved := [p.stem for p in home.glob("*.json")]):
        raise UsageError(f"there is no file {name}, and no failure is saved in {home}")
    raise UnknownName("failure", name, saved)


def load(path: Path) -> Crash:
    """Reads the failure that a crash file holds. Raises UsageError for a file of another form."""
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if data.get("version") != VERSION:
            raise UsageError(
                f"{path}: crash file version {data.get('version')!r}, this release reads {VERSION}"
            )
        case = codec.load_case(data["case"], str(path))
        crash = Crash(
            data["id"],
            data["rule"],
            data["decoder"],
            data["level"],
            data["mapping"],
            case,
            data["versions"],
        )
        crash = replace(
            crash, alone=data.get("shown_alone", False), instead=data.get("instead", "")
        )
        crash = replace(
            crash,
            neighbours=tuple(
                codec.load_case(neighbour, str(path)) for neighbour in data.get("neighbours", ())
            ),
        )
        texts = (
            crash.id,
            crash.rule,
            crash.decoder,
            crash.level,
            *crash.mapping.values(),
            *crash.versions.values(),
        )
        if not all(isinstance(fact, str) for fact in (*texts, crash.instead)):
            raise TypeError("id, rule, instead, decoder, level, mapping and versions must be texts")
        if not isinstance(crash.alone, bool):
            raise TypeError("shown_alone must be true or false")
        if not case.written:
            raise ValueError("a case needs a message")
        if case.level == 2 and not case.tables:
            raise ValueError("a level-two case needs a table")
        return crash
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} is not a crash file: {type(error).__name__}: {error}") from error


def failures_of_decoder(
    crashes: Mapping[Path, Crash], decoder: str | None, level: str = "both"
) -> dict[Path, Crash]:
    """The saved failures of one decoder whose case is of the level: `changes` (level one), `rows`
    (level two) or `both`. `decoder` None takes the failures of every decoder.
    """
    levels = {"changes": {1}, "rows": {2}, "both": {1, 2}}[level]
    return {
        path: crash
        for path, crash in crashes.items()
        if crash.case.level in levels and (decoder is None or _is_same(crash.decoder, decoder))
    }


def _is_same(spec: str, other_spec: str) -> bool:
    """Whether two specifications name one decoder: they are equal, or give the same file and
    function in different spellings.
    """
    return spec == other_spec or _resolve_decoder(spec) == _resolve_decoder(other_spec)


def _resolve_decoder(decoder: str) -> tuple[Path, str]:
    """The absolute path and the function of a decoder that is given as FILE:FUNCTION."""
    place = find_place(decoder)
    return Path(place.source).resolve(), place.function


def failed_cases(directory: Path, settings: Settings) -> tuple[str, ...]:
    """The ids of the cases that failed in earlier runs of the settings' decoder, from the crash
    files in the directory; only cases of the settings' formats and level. Files that cannot be read
    are left out: a run judges all cases anyway. The case of a foreign message (`ID#again` of a
    repeated one, `ID#in-TABLE` of one in another table's call) stands for the case ID.
    """
    crashes: dict[Path, Crash] = {}
    for path in sorted(directory.glob("*.json")):
        with contextlib.suppress(UsageError):
            crashes[path] = load(path)
    decoders = [decoder_spec(fmt, settings.decoder) for fmt in settings.formats]
    cases: list[Case] = []
    for decoder in dict.fromkeys(decoders):
        cases += [
            crash.case
            for crash in failures_of_decoder(crashes, decoder, settings.level).values()
            if crash.case.format in settings.formats
        ]
    return tuple(dict.fromkeys(case.id.partition("#")[0] for case in cases))


def code_of_files(
    crashes: Iterable[Crash], decoder: str | None, mapping: Mapping[str, str]
) -> list[str]:
    """The code that a replay would run because a crash file names it, as texts for a warning
    (`decoder 'x.py:f'`, `--map 'value=...'`): a file may come from a stranger. Left out are our own
    decoders, and what the user has given on the command line himself: `decoder` and `mapping`.
    """
    code_in_files = [
        f"decoder {crash.decoder!r}"
        for crash in crashes
        if not decoder and not trusted(crash.decoder)
    ]
    for crash in crashes:
        for column, expression in crash.mapping.items():
            if mapping.get(column) != expression:
                code_in_files.append(f"--map {f'{column}={expression}'!r}")
    return list(dict.fromkeys(code_in_files))


def replay_all(
    crashes: Mapping[Path, Crash],
    decoder: str | None,
    timeout_s: float,
    note: Callable[[str], None],
    spark_conf: Mapping[str, str] = {},
) -> Iterator[Replayed]:
    """Judges saved failures again, one after another, with one engine for each decoder. `decoder`
    None takes each failure's own; `spark_conf` are further settings of Spark; `note` receives a
    text on each step. Raises what loading a decoder raises.
    """
    now = versions()
    by_decoder: dict[str, list[Path]] = {}
    for path, crash in crashes.items():
        by_decoder.setdefault(decoder or crash.decoder, []).append(path)
    for spec, paths in by_decoder.items():
        formats = sorted({crashes[path].case.format for path in paths})
        with engine_for(
            spec, formats, timeout_s=timeout_s, conf=merge_settings(QUICK, spark_conf), note=note
        ) as engine:
            for path in paths:
                crash = crashes[path]
                note(f"replaying {crash.case.id}")
                outcome, findings, problem = replay(crash, engine, spec)
                changed = ", ".join(
                    f"{k} {v} -> {now[k]}" for k, v in crash.versions.items() if now.get(k, v) != v
                )
                yield Replayed(path, crash, outcome, tuple(findings), problem, changed)


def render(result: Replayed, style: str) -> str:
    """The result of a replayed failure as text: one line of JSON for the style "json", else lines
    for a person.
    """
    if style == "json":
        return json.dumps(
            {
                "outcome": result.outcome.value,
                "rule": result.crash.rule,
                "case": result.crash.case.id,
                "file": str(result.path),
                "findings": [
                    {"rule": f.rule, "path": f.path, "expected": f.expected, "actual": f.actual}
                    for f in result.findings
                ],
                "problem": result.problem,
                "versions_changed": result.changed,
            }
        )
    lines = [f"{result.outcome} {result.crash.rule} {result.crash.case.id}"]
    lines += [
        f"  {f.rule} at {f.path}: expected {f.expected}, actual {f.actual}"
        for f in result.findings[:5]
    ]
    lines += [f"  {result.problem}"] if result.problem else []
    lines += [f"  saved under other versions: {result.changed}"] if result.changed else []
    return "\n".join(map(printable, lines))


class SavedCaseVerdict(NamedTuple):
    """What came of a saved case that was judged again: its outcome, its findings, and in words why
    it could not be judged, or what the outcome depends on ("" if there is nothing to say).
    """

    outcome: ReplayOutcome
    findings: list[Finding]
    problem: str


def replay(crash: Crash, engine: Engine, decoder: str | None = None) -> SavedCaseVerdict:
    """Judges the saved case again, with the saved decoder or with `decoder`. Raises UnknownName if
    the format no longer has the saved rule.
    """
    format_rules = rules(crash.case.format)
    rule = next((r for r in format_rules if r.id == crash.rule), None)
    if rule is None:
        raise UnknownName("rule", crash.rule, [r.id for r in format_rules])
    spec = decoder or crash.decoder
    level = crash.level if crash.level in ("changes", "rows") else "auto"
    loaded = engine.load(spec, level).result()
    if crash.case.level not in loaded.levels:
        return SavedCaseVerdict(
            ReplayOutcome.ERROR,
            [],
            f"the case is of level {crash.case.level}; {spec} decodes level {loaded.levels[0]}",
        )
    judge = Judge(format_rules, loaded.capabilities)
    owners = [rule.id, *([crash.instead] if crash.instead else [])]
    try:
        pending = Alone.decode_among(engine, crash.case, spec, crash.mapping, crash.neighbours)
        findings = pending.findings(engine, judge, rule)
    except (DecodeRaised, ProcessLost) as error:
        # A decoder that fails shows nothing about another rule.
        return SavedCaseVerdict(
            (ReplayOutcome.FAILED if rule.law == "returns" else ReplayOutcome.ERROR),
            [],
            str(error),
        )
    if still_fails(judge, crash.case, findings, *owners):
        return SavedCaseVerdict(
            ReplayOutcome.FAILED,
            findings,
            BEHIND.format(len(crash.neighbours)) if crash.neighbours else "",
        )
    if not crash.alone and not crash.neighbours:
        return SavedCaseVerdict(ReplayOutcome.NOT_ALONE, findings, TOGETHER)
    # Behind other cases a law is broken by whatever the case breaks.
    compared = judge.compared if rule.law and crash.neighbours else owners
    if rule.law != "returns" and not any(judge.compared[name] for name in compared):
        return SavedCaseVerdict(ReplayOutcome.NOT_REPRODUCED, findings, UNCOMPARED)
    return SavedCaseVerdict(ReplayOutcome.FIXED, findings, "")
