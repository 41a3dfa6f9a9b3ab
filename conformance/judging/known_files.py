"""Updates the record of known failures (`--update`): entries that a finished run adds and removes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.files import put
from conformance.judging.judge import Verdict
from conformance.judging.known import EVERY, VERSION, Entry, EntryResult, Expectations, Record, breach, entry_of
from conformance.judging.results import RunResult
from conformance.rules.base import Obligation
from generators.model import Origin
from generators.wire_format import get


@dataclass(frozen=True, slots=True)
class Update:
    """An update of a record: entries kept, added, and removed with the reason."""

    kept: tuple[Entry, ...]
    added: tuple[Entry, ...]
    removed: tuple[EntryResult, ...]


def updated(result: RunResult) -> Update:
    """The update that makes the record match this run.

    A rule that is broken in every judged profile gets an entry without profiles, to cover future profiles. A failure of
    drawn cases only is entered as such: another seed or smaller budget need not show it.
    """
    binding = {Obligation.MUST, Obligation.SHOULD} if result.strict else {Obligation.MUST}
    added: list[Entry] = []
    for fmt in result.formats:
        by_id = {r.rule.id: r.rule for r in fmt.rules}
        judged = list(fmt.by_profile())
        whole = len(judged) == len(get(fmt.format).profiles)
        broken: dict[tuple[str, Verdict], dict[str, list[Origin]]] = {}
        for case in fmt.cases:
            for finding in case.findings:
                rule = by_id[finding.rule]
                if rule.id not in case.known and rule.obligation in binding:
                    key = rule.id, breach(rule, finding, case.verdict)
                    broken.setdefault(key, {}).setdefault(case.case.profile, []).append(case.case.origin)
        for (rule_id, verdict), cases in sorted(broken.items()):
            drawn = {profile for profile, origins in cases.items() if set(origins) == {Origin.DRAWN}}
            for only in (False, True):
                some = [profile for profile in judged if profile in cases and (profile in drawn) is only]
                if some:
                    added.append(Entry(rule_id, verdict, EVERY if some == judged and whole else tuple(some), drawn=only))
    kept = tuple(one.entry for one in result.entries if not one.wrong)
    return Update(kept, tuple(added), tuple(one for one in result.entries if one.wrong))


def under(result: RunResult, expectations: Expectations) -> RunResult:
    """A finished run, marked by another record."""
    record = Record(expectations)
    formats = []
    for fmt in result.formats:
        cases = [replace(case, known=frozenset()) for case in fmt.cases]
        marked = record.mark(cases, [r.rule for r in fmt.rules], {r.rule.id: r.compared for r in fmt.rules})
        formats.append(replace(fmt, cases=tuple(marked)))
    left = Counter(rule for fmt in formats for case in fmt.cases for rule in {f.rule for f in case.findings} - case.known)
    failures = []
    for failure in result.failures:
        reason, link = ("", "") if left[failure.rule.id] else record.reason(failure.rule.id)
        failures.append(replace(failure, on_record=failure.cases - left[failure.rule.id], reason=reason, link=link))
    ids = [r.rule.id for fmt in formats for r in fmt.rules]
    entries = record.results([fmt.format for fmt in formats], ids, narrowed=True)
    return replace(result, formats=tuple(formats), failures=tuple(failures), entries=entries)


def write(path: Path, made: Update) -> None:
    """Writes the record; kept entries and their comments stay unchanged in the file.

    Raises HarnessError when writing fails.
    """
    import tomlkit
    from tomlkit.items import AoT

    gone = [one.entry for one in made.removed]
    document = tomlkit.parse(path.read_text("utf-8")) if path.exists() else tomlkit.document()
    if "version" not in document:
        document.add(
            tomlkit.comment("What this decoder is known to break. An entry that passes, or matches nothing, fails the run.")
        )
        document.add("version", VERSION)
        document.add(tomlkit.nl())
    known = document.get("known")
    if not isinstance(known, AoT):
        document.pop("known", None)
        known = tomlkit.aot()
        document.add("known", known)
    for number in reversed(range(len(known))):
        if entry_of(known[number].unwrap(), str(path)) in gone:
            del known[number]
    for entry in made.added:
        known.append(_as_table(entry))
    if not known:
        del document["known"]
    put(path, lambda: [tomlkit.dumps(document).encode()], "the record of known failures")


def _as_table(entry: Entry) -> Any:
    import tomlkit

    table = tomlkit.table()
    table.add("rule", entry.rule)
    table.add("verdict", entry.verdict.value)
    for key, globs in (("profile", entry.profiles), ("case", entry.cases)):
        if globs != EVERY:
            listed = tomlkit.array()
            listed.extend(globs)
            table.add(key, listed.multiline(len(globs) > 2))
    if entry.drawn:
        table.add("drawn", True)
    table.add("reason", entry.reason)
    if entry.link:
        table.add("link", entry.link)
    return table
