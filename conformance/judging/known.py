"""A decoder's record of known failures: a recorded failure is known, a pass in spite of the record
fails the run.

A record is a TOML file, kept beside the decoder:

    version = 1

    [[known]]
    rule = "ticdc-canal-json/value/unsigned-bigint"   # a rule's id: prefix or glob, as --select
    takes it
    verdict = "fail"                                   # fail, accepted-silently, pass-non-strict,
    errored or timeout
    profile = ["v5.3.4", "v5.4*"]                      # globs; every profile when left out
    case = "*"                                         # prefix or glob; every case when left out
    cause = "wrong: cell bigint-unsigned value"        # causes (conformance.judging.causes); every
    cause when left out
    drawn = true                                       # only drawn cases show it: its absence
    proves nothing
    reason = "..."
    link = "..."

Entries match findings: a case counts as known if every binding rule that it breaks is on record for
it.
"""

from __future__ import annotations

import enum
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain, product, starmap
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.cases.catalogue import matches_any_pattern, matches_pattern
from conformance.judging.causes import covers
from conformance.judging.findings import UNDECODED, CaseResult, Finding, Verdict
from conformance.rules.rules import Aspect, Obligation, Rule
from generators.errors import UnknownName, UsageError
from generators.wire_format import FORMATS, get

VERSION: Final = 1
VERDICTS: Final = (
    Verdict.FAIL,
    Verdict.ACCEPTED,
    Verdict.NON_STRICT,
    Verdict.INFORMATIONAL,
    Verdict.ERRORED,
    Verdict.TIMEOUT,
)
"""Verdicts that can be on record."""
EVERY: Final = ("*",)
"""The globs of an entry that limits nothing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One known failure: the findings that it covers, by rule (a prefix or glob of ids), verdict
    and globs of profiles, case ids and causes, and the reason. `drawn` tells that only drawn cases,
    which another seed does not have, show it.
    """

    rule: str
    verdict: Verdict
    profiles: tuple[str, ...] = EVERY
    cases: tuple[str, ...] = EVERY
    drawn: bool = False
    reason: str = ""
    link: str = ""
    causes: tuple[str, ...] = EVERY

    @property
    def format(self) -> str | None:
        """The format to whose rules the entry is limited: the first part of its rule pattern,
        FORMAT/AREA/NAME. None if that may match several formats.
        """
        head = self.rule.split("/")[0]
        return head if head in FORMATS else None

    def holds_for(self, case: CaseResult) -> bool:
        """Whether the entry of the record of known failures covers this case, by its profiles and
        case ids.
        """
        if not self.names_profile(case.case.profile):
            return False
        return self.cases == EVERY or matches_any_pattern(case.case.id, self.cases)

    def names_profile(self, profile: str) -> bool:
        """Whether the entry covers cases of the profile."""
        return any(fnmatchcase(profile, glob) for glob in self.profiles)

    def knows(
        self, case: CaseResult, rule: str, verdict: Verdict, causes: Sequence[str] = ()
    ) -> bool:
        """Whether the entry of the record of known failures covers the breach of a rule in a case:
        the verdict, the rule and the case must fit. `causes` are the keys of the breach's possible
        causes, of which one must fit.
        """
        return (
            self.verdict is verdict
            and matches_pattern(rule, self.rule)
            and self.holds_for(case)
            and self.explains(causes)
        )

    def explains(self, causes: Sequence[str]) -> bool:
        """Whether the entry covers one of the causes."""
        return self.causes == EVERY or any(starmap(covers, product(self.causes, causes)))

    def __str__(self) -> str:
        """The entry in one line, for reports."""
        return f"{self.rule}, {self.scope}"

    @property
    def scope(self) -> str:
        """What the entry of the record of known failures covers of its rule, in words: the verdict,
        and the profiles, cases and causes to which it is limited.
        """
        parts = [self.verdict.value]
        parts += [f"profile {' '.join(self.profiles)}"] if self.profiles != EVERY else []
        parts += [f"case {' '.join(self.cases)}"] if self.cases != EVERY else []
        parts += [f"cause {', '.join(self.causes)}"] if self.causes != EVERY else []
        return ", ".join(parts)


class State(enum.StrEnum):
    """An entry's state after a run."""

    KNOWN = "known"
    UNEXPECTED_PASS = "unexpected pass"
    MATCHES_NOTHING = "matches nothing"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class EntryResult:
    """An entry after a run: `cases` counts covered cases; `hint` is the repair."""

    entry: Entry
    state: State
    cases: int = 0
    hint: str = ""

    @property
    def wrong(self) -> bool:
        """Whether the entry is out of date, which fails the run (exit code 5)."""
        return self.state in (State.UNEXPECTED_PASS, State.MATCHES_NOTHING)


@dataclass(frozen=True, slots=True)
class Expectations:
    """The entries of a decoder's record of known failures, and its file; no entries and None
    without a record.
    """

    entries: tuple[Entry, ...] = ()
    path: Path | None = None


def breach(rule: Rule, finding: Finding, case: Verdict) -> Verdict:
    """The verdict that a single finding on this rule would give. `case` is the verdict on the whole
    case: it is returned if the case has no rows (it errored or timed out). A finding of the aspect
    ACCEPTED is on a message that must be refused and gave ordinary rows.
    """
    if case in UNDECODED:
        return case
    if rule.obligation is Obligation.MUST:
        return Verdict.ACCEPTED if finding.aspect is Aspect.ACCEPTED else Verdict.FAIL
    return Verdict.NON_STRICT if rule.obligation is Obligation.SHOULD else Verdict.INFORMATIONAL


class Reason(NamedTuple):
    """Why a failure is known, and the address of its report; "" for what is not recorded."""

    why: str
    link: str


@dataclass(slots=True)
class EntryTracker:
    """Tracks the entries of a record of known failures during a run: marks case results, then gives
    the state of each entry. By the entry's number, `covered` counts the cases that it covers,
    `held` are the entries that some judged case fits, `reached` those of them whose rule was
    compared. `profiles` are the judged ones, by format; `named` the ids of judged cases that an
    entry names.
    """

    expectations: Expectations
    covered: Counter[int] = field(default_factory=Counter)
    held: set[int] = field(default_factory=set)
    reached: set[int] = field(default_factory=set)
    profiles: set[tuple[str, str]] = field(default_factory=set)
    named: set[str] = field(default_factory=set)

    def mark(
        self, results: Sequence[CaseResult], rules: Iterable[Rule], compared: Mapping[str, int]
    ) -> list[CaseResult]:
        """Marks, in the results of a format, what the record of known failures covers. Notes which
        entries hold for a judged case, and which were reached: their rule was compared, too.
        `compared` is how often each rule was compared.
        """
        by_id = {rule.id: rule for rule in rules}
        ids = set(chain.from_iterable(entry.cases for entry in self.expectations.entries))
        self.profiles |= {(r.case.format, r.case.profile) for r in results}
        self.named |= {r.case.id for r in results if r.case.id in ids}
        for number, entry in enumerate(self.expectations.entries):
            alive = any(compared.get(rule) and matches_pattern(rule, entry.rule) for rule in by_id)
            judged = (r for r in results if r.verdict is not Verdict.UNSUPPORTED)
            if entry.format in (None, *(r.case.format for r in results[:1])) and any(
                entry.holds_for(r) for r in judged
            ):
                self.held.add(number)
                if alive:
                    self.reached.add(number)
        return [self._marked(result, by_id) if result.findings else result for result in results]

    def _marked(self, result: CaseResult, by_id: Mapping[str, Rule]) -> CaseResult:
        """The result of a case on which the rules, and the pairs of rule and cause, that entries of
        the record of known failures cover are marked. A rule is marked if all of its causes are
        covered. Counts for each entry the cases that it covers.
        """
        unexplained, explained, covering = (
            set[tuple[str, str]](),
            set[tuple[str, str]](),
            set[int](),
        )
        for rule, verdict, causes in {
            (f.rule, breach(by_id[f.rule], f, result.verdict), f.causes) for f in result.findings
        }:
            numbers = [
                n
                for n, entry in enumerate(self.expectations.entries)
                if entry.knows(result, rule, verdict, causes)
            ]
            (explained if numbers else unexplained).add((rule, causes[0] if causes else ""))
            covering.update(numbers)
        self.covered.update(covering)
        if not explained:
            return result
        rules = {rule for rule, _ in explained} - {rule for rule, _ in unexplained}
        return replace(result, known=frozenset(rules), covered=frozenset(explained - unexplained))

    def find_reason(self, rule: str, causes: Sequence[str] = ()) -> Reason:
        """The reason and the link of the first entry of the record of known failures that covered
        any case of this run and that covers this rule and one of the causes; both "" without one.
        """
        entries = (
            (n, e)
            for n, e in enumerate(self.expectations.entries)
            if self.covered[n] and matches_pattern(rule, e.rule)
        )
        entry = next((e for _, e in entries if e.explains(causes)), None)
        return Reason(entry.reason, entry.link) if entry else Reason("", "")

    def results(
        self, formats: Sequence[str], rules: Iterable[str], narrowed: bool
    ) -> tuple[EntryResult, ...]:
        """The state of each entry after a run over these formats and rules.

        `narrowed`: cases, rules or levels were left out on purpose. An unbroken entry then counts
        as repaired only if it names its cases and all of them were judged.
        """
        ids = sorted(rules)
        return tuple(
            self._result(n, e, formats, ids, narrowed)
            for n, e in enumerate(self.expectations.entries)
        )

    def _is_judged_wholly(self, entry: Entry, formats: Sequence[str], narrowed: bool) -> bool:
        """Whether the run has judged all cases that an entry of the record of known failures
        covers: all that it names by id, or all of its profiles. `narrowed` tells that something was
        left out on purpose; then only ids count.
        """
        if entry.cases != EVERY and set(entry.cases) <= self.named:
            return True
        fmts = (get(name) for name in formats if entry.format in (None, name))
        needed_profiles: set[tuple[str, str]] = set()
        for fmt in fmts:
            needed_profiles |= {
                (fmt.name, profile.name)
                for profile in fmt.profiles
                if entry.names_profile(profile.name)
            }
        return not narrowed and needed_profiles <= self.profiles

    def _result(
        self, number: int, entry: Entry, formats: Sequence[str], rules: list[str], narrowed: bool
    ) -> EntryResult:
        """The state of one entry of the record of known failures after a run: KNOWN if it covered
        findings, UNEXPECTED_PASS if its rule was exercised and all its cases were judged without
        one, else NOT_REACHED or MATCHES_NOTHING with the reason as a hint. `rules` are the ids of
        the run's rules.
        """
        if self.covered[number]:
            return EntryResult(entry, State.KNOWN, self.covered[number])
        if entry.format is not None and entry.format not in formats:
            return EntryResult(
                entry, State.NOT_REACHED, hint="its format is not judged in this run"
            )
        if not any(matches_pattern(rule, entry.rule) for rule in rules):
            near = UnknownName("rule", entry.rule, rules).near
            return EntryResult(
                entry,
                State.MATCHES_NOTHING,
                hint=f"no such rule{f'; did you mean {near!r}?' if near else ''}",
            )
        judged_wholly = self._is_judged_wholly(entry, formats, narrowed)
        if number not in self.held:
            if not judged_wholly:
                return EntryResult(entry, State.NOT_REACHED, hint="its cases are not selected")
            return EntryResult(
                entry, State.MATCHES_NOTHING, hint="no case of this run is of its profile and case"
            )
        if number not in self.reached:
            return EntryResult(entry, State.NOT_REACHED, hint="its rule was not exercised")
        if entry.drawn or not judged_wholly:
            why = (
                "only drawn cases show it" if entry.drawn else "not all of its cases were selected"
            )
            return EntryResult(entry, State.NOT_REACHED, hint=f"nothing broke it, but {why}")
        return EntryResult(
            entry,
            State.UNEXPECTED_PASS,
            hint=f"it no longer has the verdict {entry.verdict}; remove the entry",
        )


_KINDS: Final = {"rule": str, "verdict": str, "drawn": bool, "reason": str, "link": str}
"""The keys of an entry that hold one value, with its type."""
_KEYS: Final = ("profile", "case", "cause", *_KINDS)
"""All legal keys of an entry."""


def load(path: Path) -> Expectations:
    """Reads a record. Raises UsageError that names the file, the entry, the key, the value and what
    is legal.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the record of known failures {path}: {error}; write one with --update"
        ) from None
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else error
        raise UsageError(f"{path} is not TOML: {what}") from None
    _check_key(data, ("version", "known"), f"{path}")
    if data.get("version") != VERSION:
        raise UsageError(
            f"{path}: version is {data.get('version')!r}; this release reads version = {VERSION}"
        )
    tables = data.get("known", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{path}: known must be an array of tables, [[known]]")
    return Expectations(
        tuple(
            entry_of(table, f"{path}, [[known]] number {n}") for n, table in enumerate(tables, 1)
        ),
        path,
    )


def _check_key(data: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    """Raises UsageError for a key of a TOML table that is not among the legal `keys`; `where` names
    the table in the message.
    """
    for key in data:
        if key not in keys:
            raise UsageError(f"{where}: {UnknownName('key', key, keys)}")


def entry_of(data: Mapping[str, Any], where: str) -> Entry:
    """An entry of a record from its TOML table; `where` names the table in errors. Raises
    UsageError for an illegal key or value.
    """
    _check_key(data, _KEYS, where)
    entry: dict[str, Any] = {key: data.get(key, kind()) for key, kind in _KINDS.items()}
    for key, value in entry.items():
        if not isinstance(value, _KINDS[key]):
            raise UsageError(
                f"{where}: {key} = {value!r} must be"
                f" {'a text' if _KINDS[key] is str else 'true or false'}"
            )
    for key in ("rule", "verdict"):
        if not entry[key]:
            raise UsageError(f"{where}: {key} is missing")
    if data["verdict"] not in VERDICTS:
        raise UsageError(f"{where}: {UnknownName('verdict', data['verdict'], map(str, VERDICTS))}")
    head = data["rule"].split("/")[0]
    if not set(head) & set("*?[") and head not in FORMATS:
        raise UsageError(f"{where}: rule {data['rule']!r}: {UnknownName('format', head, FORMATS)}")
    profiles, cases, causes = (_globs(data, key, where) for key in ("profile", "case", "cause"))
    return Entry(
        data["rule"],
        Verdict(data["verdict"]),
        profiles,
        cases,
        entry["drawn"],
        entry["reason"],
        entry["link"],
        causes,
    )


def _globs(data: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """The globs under `key` of an entry: a list of texts, or one text; ("*",) without the key.
    Raises UsageError, in which `where` names the entry.
    """
    value = data.get(key, "*")
    globs = [value] if isinstance(value, str) else value
    if (
        not isinstance(globs, list)
        or not globs
        or not all(isinstance(glob, str) and glob for glob in globs)
    ):
        raise UsageError(
            f"{where}: {key} = {value!r} must be a text or a list of texts, none empty"
        )
    return tuple(globs)
