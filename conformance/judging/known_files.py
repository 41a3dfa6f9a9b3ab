"""Updates the record of known failures (`--update`): entries that a finished run adds and
removes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.files import put
from conformance.judging.clusters import CaseCounts
from conformance.judging.findings import Verdict
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
    """An update of a decoder's record of known failures: the entries that stay, those that are
    added, and those that are removed, with the reason.
    """

    kept: tuple[Entry, ...]
    added: tuple[Entry, ...]
    removed: tuple[EntryResult, ...]


def updated(result: RunResult) -> Update:
    """The update that makes the record of known failures match this run.

    Each cause of a broken rule gets an entry, under the name that it has in the reduced case. A
    cause that occurs in every judged profile gets an entry without profiles, which covers future
    profiles too. A failure of drawn cases alone is entered as such: a run with another seed or a
    smaller budget need not show it.
    """
    reduced_causes: dict[tuple[str, str], str] = {}
    for failure in result.failures:
        if failure.cause and not failure.others:
            for cause_key in failure.keys:
                reduced_causes[failure.rule.id, cause_key] = failure.cause.key
    binding = {Obligation.MUST, Obligation.SHOULD} if result.strict else {Obligation.MUST}
    added: list[Entry] = []
    for fmt in result.formats:
        by_id = {r.rule.id: r.rule for r in fmt.rules}
        judged = list(fmt.by_profile())
        all_profiles_judged = len(judged) == len(get(fmt.format).profiles)
        broken: dict[tuple[str, Verdict, str], dict[str, list[Origin]]] = {}
        for case in fmt.cases:
            for finding in case.findings:
                rule = by_id[finding.rule]
                covered = rule.id in case.known or (rule.id, finding.cause) in case.covered
                if not covered and rule.obligation in binding:
                    cause = reduced_causes.get((rule.id, finding.cause), finding.cause)
                    breach_key = rule.id, breach(rule, finding, case.verdict), cause
                    broken.setdefault(breach_key, {}).setdefault(case.case.profile, []).append(
                        case.case.origin
                    )
        for (rule_id, verdict, cause), cases in sorted(broken.items()):
            drawn = {
                profile for profile, origins in cases.items() if set(origins) == {Origin.DRAWN}
            }
            for only in (False, True):
                profiles_with_cause = [
                    profile for profile in judged if profile in cases and (profile in drawn) is only
                ]
                if profiles_with_cause:
                    entry_profiles = (
                        EVERY
                        if profiles_with_cause == judged and all_profiles_judged
                        else tuple(profiles_with_cause)
                    )
                    added.append(
                        Entry(
                            rule_id,
                            verdict,
                            entry_profiles,
                            drawn=only,
                            causes=(cause,) if cause else EVERY,
                        )
                    )
    kept_entries = tuple(
        entry_result.entry for entry_result in result.entries if not entry_result.wrong
    )
    return Update(
        kept_entries,
        tuple(added),
        tuple(entry_result for entry_result in result.entries if entry_result.wrong),
    )


def mark_by_record(result: RunResult, expectations: Expectations) -> RunResult:
    """The result of a finished run with another record of known failures in the place of its own:
    which findings of each case the record covers, the failures' reasons and links, and the state of
    each entry.
    """
    tracker = EntryTracker(expectations)
    formats = []
    for fmt in result.formats:
        cases = [replace(case, known=frozenset(), covered=frozenset()) for case in fmt.cases]
        marked = tracker.mark(
            cases, [r.rule for r in fmt.rules], {r.rule.id: r.compared for r in fmt.rules}
        )
        formats.append(replace(fmt, cases=tuple(marked)))
    counts_by_format = {fmt.format: CaseCounts.count(fmt.cases) for fmt in formats}
    failures = [
        counts_by_format[failure.result.case.format].fill(failure, tracker)
        for failure in result.failures
    ]
    ids: list[str] = []
    for fmt in formats:
        ids += (rule_result.rule.id for rule_result in fmt.rules)
    # As of a run that left cases out: only entries that name their cases can count as repaired.
    entries = tracker.results([fmt.format for fmt in formats], ids, narrowed=True)
    return replace(result, formats=tuple(formats), failures=tuple(failures), entries=entries)


def write(path: Path, update: Update) -> None:
    """Writes the record; kept entries and their comments stay unchanged in the file.

    Raises HarnessError when writing fails.
    """
    import tomlkit
    from tomlkit.items import AoT

    gone = [entry_result.entry for entry_result in update.removed]
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
    known_tables = document.get("known")
    if not isinstance(known_tables, AoT):
        document.pop("known", None)
        known_tables = tomlkit.aot()
        document.add("known", known_tables)
    for number in reversed(range(len(known_tables))):
        if entry_of(known_tables[number].unwrap(), str(path)) in gone:
            del known_tables[number]
    for entry in update.added:
        known_tables.append(_toml_table(entry))
    if not known_tables:
        del document["known"]
    put(path, lambda: [tomlkit.dumps(document).encode()], "the record of known failures")


def _toml_table(entry: Entry) -> Any:
    """The entry as a table [[known]] of TOML. What has its default value is left out. Globs are an
    array, with one on each line if they are more than two; a single cause is a text.
    """
    import tomlkit

    table = tomlkit.table()
    table.add("rule", entry.rule)
    table.add("verdict", entry.verdict.value)
    for key, globs in (("profile", entry.profiles), ("case", entry.cases), ("cause", entry.causes)):
        if globs != EVERY:
            if key == "cause" and len(globs) == 1:
                table.add(key, globs[0])
            else:
                glob_array = tomlkit.array()
                glob_array.extend(globs)
                table.add(key, glob_array.multiline(len(globs) > 2))
    if entry.drawn:
        table.add("drawn", True)
    table.add("reason", entry.reason)
    if entry.link:
        table.add("link", entry.link)
    return table
