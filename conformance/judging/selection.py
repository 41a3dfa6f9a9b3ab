"""Selects cases and rules by --select and --exclude, and cases by the decoder's claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any

from conformance.cases.catalogue import (
    Budget,
    matches_any_pattern,
    matches_pattern,
    named_cases,
    recorded_cases,
    select_profiles,
)
from conformance.judging.capabilities import Capabilities
from conformance.judging.findings import CaseResult, Verdict
from conformance.judging.output import ENVELOPE
from conformance.rules.rules import Rule, rules
from generators.drawing.cases import boundary_scenarios, case_id
from generators.errors import NothingSelected, UnknownName, did_you_mean, nearest_path
from generators.model import Case, Kind, Origin, SourceType
from generators.profiles import Profile
from generators.sources.databases import SOURCES
from generators.tables.scenarios import TABLES_TAG
from generators.wire_format import FORMATS, Format, formats


@dataclass(frozen=True, slots=True)
class Selection:
    """The patterns of --select and --exclude: prefixes or globs of case and rule ids."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.select or self.exclude)

    def check(self, formats: Sequence[str]) -> None:
        """Raises NothingSelected, with the nearest match, for a pattern that does not begin as the
        ids of cases and rules do, with the name of a format (`debezium-json/...`). Whether any of
        the format's cases or rules matches is checked later (`check_cases`).
        """
        rule_ids = {rule.id for rule in chain.from_iterable(map(rules, formats))}
        for pattern in (*self.select, *self.exclude):
            fixed_beginning = re.split(r"[*?[/]", pattern)[0]
            is_complete_name = pattern == fixed_beginning or pattern[len(fixed_beginning)] == "/"
            if is_complete_name:
                may_match = fixed_beginning in FORMATS
            else:
                may_match = any(name.startswith(fixed_beginning) for name in FORMATS)
            if not may_match:
                raise NothingSelected(
                    str(UnknownName("case or rule", pattern, [*rule_ids, *FORMATS]))
                )

    def check_cases(
        self, fmts: Iterable[Format[Any]], globs: str | Sequence[str], budget: Budget, seed: int
    ) -> None:
        """Raises NothingSelected, with the nearest match, for a --select that matches no rule and
        no case of the formats' profiles. Only cases that may match are made for this.
        """
        names: list[str] = []
        for fmt in fmts:
            selected_profiles = select_profiles(fmt, globs)
            ids = [rule.id for rule in rules(fmt.name)]
            drawn_ids = _ids_of_drawn_cases(fmt, selected_profiles, seed, budget)
            if any(self._selects(name) for name in chain(ids, drawn_ids)):
                return
            if any(named_cases(fmt, selected_profiles, self.select)):
                return
            if any(self._selects(case.id) for case in recorded_cases(fmt, globs, None)):
                return
            names += [fmt.name, *ids, *self._ids_to_suggest(fmt, selected_profiles)]
        if self.select:
            near = did_you_mean(nearest_path(self.select[0], names))
            raise NothingSelected(f"no case matches --select {' '.join(self.select)}.{near}")

    def _selects(self, name: str) -> bool:
        """Whether a pattern of --select matches the id of a rule or case."""
        return matches_any_pattern(name, self.select)

    def _ids_to_suggest(
        self, fmt: Format[Any], selected_profiles: Sequence[Profile]
    ) -> Iterator[str]:
        """When a pattern of --select matches nothing: the case ids among which the nearest match is
        looked for. They are those of the first profile that a pattern names, or else of the last
        selected profile.
        """
        named_profiles: list[Profile] = []
        for profile in selected_profiles:
            if any(f"/{profile.name}/" in pattern for pattern in self.select):
                named_profiles.append(profile)
        for profile in (*named_profiles, *selected_profiles[-1:])[:1]:
            for scenario in boundary_scenarios(fmt, profile):
                yield case_id(fmt, profile, scenario)
        for profile in named_profiles:
            for fault in fmt.faults:
                yield f"{fmt.name}/{profile.name}/fault/{fault.name}"

    def rule_patterns(self, judged_rules: Sequence[Rule], cases: Sequence[Case]) -> frozenset[str]:
        """Those patterns of --select and --exclude that are about rules: they match a rule and no
        case.
        """
        patterns: set[str] = set()
        for pattern in (*self.select, *self.exclude):
            has_rule = any(matches_pattern(rule.id, pattern) for rule in judged_rules)
            if has_rule and not any(matches_pattern(case.id, pattern) for case in cases):
                patterns.add(pattern)
        return frozenset(patterns)

    def of_cases(self, judged_rules: Sequence[Rule]) -> tuple[str, ...]:
        """The patterns of --select, if cases that they do not match need not even be made. () if
        all cases are needed: there is no --select, or a pattern of --select or --exclude matches
        the id of a rule. Whether such a pattern is about rules or cases shows only once all cases
        are made (`rule_patterns`).
        """
        patterns = (*self.select, *self.exclude)
        names_rule = any(matches_any_pattern(rule.id, patterns) for rule in judged_rules)
        return () if names_rule else self.select

    def cases(self, for_rules: frozenset[str], cases: Sequence[Case]) -> list[Case]:
        """The cases that the patterns select. Patterns about rules (`for_rules`) leave all cases
        in: they narrow what `rules` gives.
        """
        case_patterns = [p for p in self.select if p not in for_rules]
        dropped = [p for p in self.exclude if p not in for_rules]
        return [case for case in cases if _is_selected(case.id, case_patterns, dropped)]

    def rules(self, for_rules: frozenset[str], judged_rules: Sequence[Rule]) -> frozenset[str]:
        """The ids of the rules whose findings count, by the patterns about rules (`for_rules`)."""
        rule_patterns = [p for p in self.select if p in for_rules]
        dropped = [p for p in self.exclude if p in for_rules]
        ids = (rule.id for rule in judged_rules)
        return frozenset(id_ for id_ in ids if _is_selected(id_, rule_patterns, dropped))


def _is_selected(id_: str, patterns: Sequence[str], dropped: Sequence[str]) -> bool:
    """Whether an id is selected: it matches one of the patterns (any, if there are none) and none
    of those in `dropped`.
    """
    if matches_any_pattern(id_, dropped):
        return False
    return not patterns or matches_any_pattern(id_, patterns)


def _ids_of_drawn_cases(
    fmt: Format[Any], profiles: Iterable[Profile], seed: int, budget: Budget
) -> Iterator[str]:
    """The ids that drawn cases (random cases, from the run's seed) of these profiles may have."""
    for profile in profiles:
        # One drawn case in a few is spoiled, too, and has a number of its own.
        for number in range(2 * budget.drawn):
            yield f"{fmt.name}/{profile.name}/drawn/{seed}/{number}"


def check_claims(fmt: Format[Any], claims: Capabilities, cases: Iterable[Case]) -> None:
    """Checks the decoder's CAPABILITIES (what it claims to support). Raises UnknownName, with the
    nearest name, for a pattern that matches no profile, kind, envelope column or column type.
    Profiles of all formats count, and types of all sources and of the cases' tables. The name of a
    profile that the cases have is right even if no format lists it.
    """
    every: list[SourceType] = []
    for source in SOURCES.values():
        every += (*source.types.values(), *chain.from_iterable(source.families))
    met: list[SourceType] = []
    for table in chain.from_iterable(case.tables for case in cases):
        met += (column.type for column in table.columns)
    profiles: list[str] = []
    for some_format in (fmt, *formats()):
        profiles += (profile.name for profile in some_format.profiles)
    names_by_claim = {
        "profile": profiles if claims.profiles else [],
        "kind": [kind.value for kind in Kind],
        "column": ENVELOPE,
        "type": {type.key for type in (*every, *met)} if claims.types else [],
    }
    for what, names in names_by_claim.items():
        for glob in getattr(claims, f"{what}s"):
            built = what == "profile" and glob in {case.profile for case in cases}
            if not built and not any(fnmatchcase(name, glob) for name in names):
                raise UnknownName(f"{what} in the decoder's CAPABILITIES", glob, names)


def split_by_claims(
    cases: Sequence[Case], capabilities: Capabilities, levels: Sequence[int]
) -> tuple[list[Case], list[CaseResult]]:
    """Divides a run's cases by the decoder's capabilities (what it claims to support): the cases to
    judge, and a result for each other one: UNSUPPORTED if the decoder does not claim the case,
    ERRORED if our own writer does not match a recording (`case.unmatched`). Cases of a level that
    the decoder lacks are in neither.

    Types are not looked at in our own cases of level two: they are written of the claimed types
    alone. Tables of recordings and of users have the types that they have.
    """
    claimed_cases, other_results = [], []
    for case in cases:
        if case.level not in levels:
            continue
        kinds = {change.kind.value for change in case.changes} - {"CORRUPT"}
        columns = chain.from_iterable(table.columns for table in case.tables)
        types = {column.type.key for column in columns if column.name != "id"}
        if case.unmatched:
            other_results.append(CaseResult(case, Verdict.ERRORED, note=case.unmatched))
        elif not capabilities.claims("profiles", case.profile):
            other_results.append(CaseResult(case, Verdict.UNSUPPORTED, note="profile not claimed"))
        elif not capabilities.claims("kinds", *kinds):
            other_results.append(CaseResult(case, Verdict.UNSUPPORTED, note="kind not claimed"))
        elif (
            case.level == 1 or case.origin is Origin.RECORDED or TABLES_TAG in case.tags
        ) and not capabilities.claims("types", *types):
            other_results.append(
                CaseResult(case, Verdict.UNSUPPORTED, note="column type not claimed")
            )
        else:
            claimed_cases.append(case)
    return claimed_cases, other_results
