"""The result of a run. Reports and the exit code use nothing else."""

from __future__ import annotations

import contextlib
import platform
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import metadata
from typing import Final

from conformance.judging.causes import Cause
from conformance.judging.findings import BAD, CaseResult, Finding, Verdict
from conformance.judging.known import EntryResult
from conformance.judging.output import Place
from conformance.rules.rules import Obligation, Rule
from generators.model import Case, State
from generators.tables.schema import Note, Schema, table_name

INTERRUPTED: Final = "interrupted"
"""`RunResult.ended` of a run that the user interrupted."""
_LAX: Final = frozenset({Verdict.NON_STRICT, Verdict.INFORMATIONAL})
"""Verdicts that fail a run only with --strict."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """How often a rule was compared and broken. `reachable` is False when selection, level or
    capability kept it out; `refused` counts the cells that were not compared because the decoder
    gave no row for them.
    """

    rule: Rule
    compared: int
    broken: int
    reachable: bool = True
    refused: int = 0


@dataclass(frozen=True, slots=True)
class CallResult:
    """One decode call: its size, time and problem."""

    name: str
    level: int
    cases: int
    messages: int
    seconds: float
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class FormatResult:
    """The result of one format, which equals itself alone.

    `rules` and `calls` are what each rule and each decode call came to; `places` are topic,
    partition and offset of each case's messages, by case id; `drawn` counts drawn cases, `cells`
    the expected cells by their state.
    """

    format: str
    decoder: str
    levels: tuple[int, ...]
    cases: tuple[CaseResult, ...]
    rules: tuple[RuleResult, ...]
    calls: tuple[CallResult, ...]
    places: Mapping[str, tuple[Place, ...]]
    drawn: int
    cells: Mapping[State, int]
    notes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> Counter[Verdict]:
        """Cases by verdict."""
        return Counter(result.verdict for result in self.cases)

    @property
    def unexercised(self) -> tuple[str, ...]:
        """Ids of reachable rules that owned no comparison."""
        return tuple(r.rule.id for r in self.rules if r.reachable and not r.compared)

    @property
    def nulled(self) -> Counter[str]:
        """For each profile the number of its cases with a typed cell that is NULL only because the
        message does not hold its column.
        """
        return Counter(result.case.profile for result in self.cases if result.nulled)

    def counting(self, strict: bool = False) -> Iterator[CaseResult]:
        """The cases that make the run fail: those with a failing verdict (with `strict` also those
        that only break rules that are not MUST), unless the record of known failures covers all
        rules that cause it.
        """
        obligations = {r.rule.id: r.rule.obligation for r in self.rules}
        for result in self.cases:
            broken = {f.rule for f in result.findings}
            if result.verdict in BAD:
                binding = {rule for rule in broken if obligations[rule] is Obligation.MUST}
                if not binding or binding - result.known:
                    yield result
            elif strict and result.verdict in _LAX and broken - result.known:
                yield result

    @property
    def certain(self) -> float:
        """The share of expected cells that have exactly one right answer; 1.0 without cells."""
        total = sum(self.cells.values())
        sure = sum(self.cells.get(s, 0) for s in (State.VALUE, State.NULL, State.ABSENT))
        return sure / total if total else 1.0

    def by_profile(self) -> dict[str, list[CaseResult]]:
        """Case results by profile, in order of appearance."""
        grouped: dict[str, list[CaseResult]] = {}
        for result in self.cases:
            grouped.setdefault(result.case.profile, []).append(result)
        return grouped


@dataclass(frozen=True, slots=True)
class Failure:
    """A broken rule and a cause, shown by its smallest case.

    `cases` counts all cases with this cause, `on_record` the known cases among them; `reason` is
    the record's if all are known. `file` is the saved crash file, `naming` the options of `replay`
    that name again what a file alone may not run, `reduced` describes the case before reduction.
    `keys` are the findings' keys that the cause stands for, and `others` counts the rule's further
    causes that are not failures of their own. `alone`: its case was seen to fail without any other
    message; `neighbours` are cases behind which it was seen to fail. `profiles` are those that
    fail, of `judged`, `faults` the kinds of faults.
    """

    rule: Rule
    finding: Finding
    result: CaseResult
    cases: int
    file: str = ""
    on_record: int = 0
    reason: str = ""
    link: str = ""
    reduced: str = ""
    naming: tuple[str, ...] = ()
    cause: Cause | None = None
    keys: tuple[str, ...] = ("",)
    others: int = 0
    alone: bool = False
    neighbours: tuple[Case, ...] = ()
    profiles: tuple[str, ...] = ()
    judged: int = 0
    faults: tuple[str, ...] = ()

    @property
    def new(self) -> int:
        """Cases with this cause that are not on record."""
        return self.cases - self.on_record

    @property
    def known(self) -> bool:
        """Whether every case with this cause is on record."""
        return self.new == 0


@dataclass(frozen=True, slots=True)
class OwnTables:
    """A user's tables that a run is on. `notes` are the constructs that were not taken as they
    stand; `left_out` says which tables a format cannot write. Of a database's URL only its kind is
    told.
    """

    dialect: str
    names: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, schema: Schema, left_out: tuple[str, ...] = ()) -> OwnTables:
        """The description, for reports, of the user's tables in this schema: names, dialect and
        notes, without passwords of databases.
        """
        kind = {
            note.file: note.file.partition("://")[0] + "://..."
            for note in schema.notes
            if "://" in note.file
        }
        notes = tuple(replace(note, file=kind.get(note.file, note.file)) for note in schema.notes)
        return cls(
            schema.dialect,
            tuple(".".join(filter(None, table_name(user.table))) for user in schema.tables),
            notes,
            left_out,
        )


@dataclass(frozen=True, slots=True)
class Header:
    """A run's settings and versions."""

    seed: int
    budget: str
    decoder: str
    broker: str
    topic: str
    versions: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    tables: OwnTables | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run. `ended` says why the run stopped early (else ""), `unjudged` names the
    formats left then; `spent` are the seconds of its parts, by what they are.
    """

    header: Header
    formats: tuple[FormatResult, ...]
    failures: tuple[Failure, ...]
    seconds: float
    strict: bool = False
    stopped_early: bool = False
    entries: tuple[EntryResult, ...] = ()
    ended: str = ""
    unjudged: tuple[str, ...] = ()
    spent: Mapping[str, float] = field(default_factory=dict)

    @property
    def cases(self) -> Iterator[CaseResult]:
        """The results of the cases of all formats."""
        for fmt in self.formats:
            yield from fmt.cases

    def failures_of(self, rule: str) -> list[Failure]:
        """The failures of a rule; those that the record of known failures covers come last."""
        return sorted(
            (failure for failure in self.failures if failure.rule.id == rule),
            key=lambda failure: failure.known,
        )

    @property
    def exit_code(self) -> int:
        """0 conforms, 1 does not, 3 the harness failed, 4 nothing judged, 5 the record of known
        failures is out of date, 130 interrupted.
        """
        if not self.ended:
            return self.verdict
        return 130 if self.ended == INTERRUPTED else 3

    @property
    def verdict(self) -> int:
        """The exit code that follows from what was judged: 0, 1, 4 or 5 (see `exit_code`)."""
        for fmt in self.formats:
            if any(True for _ in fmt.counting(self.strict)) or fmt.unexercised:
                return 1
        if any(entry.wrong for entry in self.entries):
            return 5
        if all(case.verdict is Verdict.UNSUPPORTED for case in self.cases):
            return 4
        return 0


def circumstances(java: str) -> dict[str, str]:
    """When and where a run began, and the versions of Java, if there is one, and of the installed
    packages; for the report's header.
    """
    began = datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "date": began,
        "os": platform.platform(),
        **({"java": java} if java else {}),
        **versions(),
    }


def versions() -> dict[str, str]:
    """The versions of what may affect a verdict, by name: the harness, Python, Spark and other
    packages.
    """
    installed = {"python": platform.python_version()}
    for name in ("cdc-conformance", "pyspark", "hypothesis", "confluent-kafka", "pyarrow"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return installed
