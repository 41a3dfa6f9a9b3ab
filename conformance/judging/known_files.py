"""Updates the record of known failures (`--update`): entries that a finished run adds and
removes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.files import put
from conformance.judging.clusters import CaseCounts
from conformance.judging.judge import Verdict
from conformance.judging.known import (
    EVERY,
    VERSION,
    Entry,
    EntryResult,
    EntryTracker,
    Expectations,
    breach,
    entry_of,
)
from conformance.judging.results import RunResult
from conformance.rules.rules import Obligation
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

    Each cause of a broken rule gets an entry, by the name that reduction left it. A cause that is
    there in every judged profile gets an entry without profiles, to cover future profiles. A
    failure of drawn cases only is entered as such: another seed or smaller budget need not show it.
    """
    shown = {
        (f.rule.id, key): f.cause.key
        for f in result.failures
        if f.cause and not f.others
        for key in f.keys
    }
    binding = {Obligation.MUST, Obligation.SHOULD} if result.strict else {Obligation.MUST}
    added: list[Entry] = []
    for fmt in result.formats:
        by_id = {r.rule.id: r.rule for r in fmt.rules}
        judged = list(fmt.by_profile())
        whole = len(judged) == len(get(fmt.format).profiles)
        broken: dict[tuple[str, Verdict, str], dict[str, list[Origin]]] = {}
        for case in fmt.cases:
            for finding in case.findings:
                rule = by_id[finding.rule]
                covered = rule.id in case.known or (rule.id, finding.cause) in case.covered
                if not covered and rule.obligation in binding:
                    cause = shown.get((rule.id, finding.cause), finding.cause)
                    key = rule.id, breach(rule, finding, case.verdict), cause
                    broken.setdefault(key, {}).setdefault(case.case.profile, []).append(
                        case.case.origin
                    )
        for (rule_id, verdict, cause), cases in sorted(broken.items()):
            drawn = {
                profile for profile, origins in cases.items() if set(origins) == {Origin.DRAWN}
            }
            for only in (False, True):
                some = [
                    profile for profile in judged if profile in cases and (profile in drawn) is only
                ]
                if some:
                    named = EVERY if some == judged and whole else tuple(some)
                    added.append(
                        Entry(
                            rule_id, verdict, named, drawn=only, causes=(cause,) if cause else EVERY
                        )
                    )
    kept = tuple(entry_result.entry for entry_result in result.entries if not entry_result.wrong)
    return Update(
        kept,
        tuple(added),
        tuple(entry_result for entry_result in result.entries if entry_result.wrong),
    )


def mark_by_record(result: RunResult, expectations: Expectations) -> RunResult:
    """A finished run, marked by another record."""
    record = EntryTracker(expectations)
    formats = []
    for fmt in result.formats:
        cases = [replace(case, known=frozenset(), covered=frozenset()) for case in fmt.cases]
        marked = record.mark(
            cases, [r.rule for r in fmt.rules], {r.rule.id: r.compared for r in fmt.rules}
        )
        formats.append(replace(fmt, cases=tuple(marked)))
    counted = {fmt.format: CaseCounts.count(fmt.cases) for fmt in formats}
    failures = [
        counted[failure.result.case.format].fill(failure, record) for failure in result.failures
    ]
    ids = [r.rule.id for fmt in formats for r in fmt.rules]
    entries = record.results([fmt.format for fmt in formats], ids, narrowed=True)
    return replace(result, formats=tuple(formats), failures=tuple(failures), entries=entries)


def write(path: Path, made: Update) -> None:
    """Writes the record; kept entries and their comments stay unchanged in the file.

    Raises HarnessError when writing fails.
    """
    import tomlkit
    from tomlkit.items import AoT

    gone = [entry_result.entry for entry_result in made.removed]
    document = tomlkit.parse(path.read_text("utf-8")) if path.exists() else tomlkit.document()
    if "version" not in document:
        document.add(
            tomlkit.comment(
                "What this decoder is known to break. An entry that passes, or matches nothing,"
                " fails the run."
            )
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
    for key, globs in (("profile", entry.profiles), ("case", entry.cases), ("cause", entry.causes)):
        if globs != EVERY:
            listed = tomlkit.array()
            listed.extend(globs)
            table.add(
                key,
                (
                    globs[0]
                    if key == "cause" and len(globs) == 1
                    else listed.multiline(len(globs) > 2)
                ),
            )
    if entry.drawn:
        table.add("drawn", True)
    table.add("reason", entry.reason)
    if entry.link:
        table.add("link", entry.link)
    return table
