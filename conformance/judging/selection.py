"""Selects cases and rules by --select and --exclude, and cases by the decoder's claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any

from conformance.cases.catalogue import (
    Budget,
    matches_pattern,
    named_cases,
    recorded_cases,
    select_profiles,
)
from conformance.judging.judge import Capabilities, CaseResult, Verdict
from conformance.judging.output import ENVELOPE
from conformance.rules.rules import Rule, rules
from generators.drawing.cases import boundary_scenarios, case_id
from generators.errors import NothingSelected, UnknownName, did_you_mean, nearest_path
from generators.model import Case, Kind, Origin
from generators.sources.registry import SOURCES
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
        """Refuses a selection that cannot match a case or rule of any format; the rest is checked
        once cases are drawn.

        Raises NothingSelected with the nearest match.
        """
        known = {rule.id for name in formats for rule in rules(name)}
        for pattern in (*self.select, *self.exclude):
            head = re.split(r"[*?[/]", pattern)[0]
            whole = pattern == head or pattern[len(head)] == "/"
            if head not in FORMATS if whole else not any(name.startswith(head) for name in FORMATS):
                raise NothingSelected(str(UnknownName("case or rule", pattern, [*known, *FORMATS])))

    def check_cases(
        self, fmts: Iterable[Format[Any]], globs: str | Sequence[str], budget: Budget, seed: int
    ) -> None:
        """Refuses a --select that no rule and no case of the formats' profiles matches; of cases
        only those are made that match.

        Raises NothingSelected with the nearest match.
        """
        names: list[str] = []
        for fmt in fmts:
            chosen, ids = select_profiles(fmt, globs), [rule.id for rule in rules(fmt.name)]
            # One drawn case in a few is spoiled, too, and has a number of its own.
            drawn = (
                f"{fmt.name}/{p.name}/drawn/{seed}/{number}"
                for p in chosen
                for number in range(2 * budget.drawn)
            )
            if any(
                matches_pattern(name, pattern)
                for name in chain(ids, drawn)
                for pattern in self.select
            ):
                return
            if any(named_cases(fmt, chosen, self.select)) or any(
                matches_pattern(case.id, pattern)
                for case in recorded_cases(fmt, globs, None)
                for pattern in self.select
            ):
                return
            asked = [
                profile
                for profile in chosen
                if any(f"/{profile.name}/" in pattern for pattern in self.select)
            ]
            scenarios = (
                (p, scenario)
                for p in (*asked, *chosen[-1:])[:1]
                for scenario in boundary_scenarios(fmt, p)
            )
            names += [
                fmt.name,
                *ids,
                *(case_id(fmt, profile, scenario) for profile, scenario in scenarios),
                *(f"{fmt.name}/{p.name}/fault/{fault.name}" for p in asked for fault in fmt.faults),
            ]
        if self.select:
            near = did_you_mean(nearest_path(self.select[0], names))
            raise NothingSelected(f"no case matches --select {' '.join(self.select)}.{near}")

    def rule_patterns(self, known: Sequence[Rule], cases: Sequence[Case]) -> frozenset[str]:
        """The patterns of --select and --exclude that match a rule and no case."""
        return frozenset(
            pattern
            for pattern in (*self.select, *self.exclude)
            if any(matches_pattern(rule.id, pattern) for rule in known)
            and not any(matches_pattern(case.id, pattern) for case in cases)
        )

    def of_cases(self, known: Sequence[Rule]) -> tuple[str, ...]:
        """The patterns of --select, or none if some pattern matches a rule: `rule_patterns` then
        needs all cases.
        """
        patterns = (*self.select, *self.exclude)
        return (
            ()
            if any(matches_pattern(rule.id, pattern) for rule in known for pattern in patterns)
            else self.select
        )

    def cases(self, for_rules: frozenset[str], cases: Sequence[Case]) -> list[Case]:
        """The selected cases. A rule pattern does not narrow cases; it only filters findings."""
        chosen = [p for p in self.select if p not in for_rules]
        dropped = [p for p in self.exclude if p not in for_rules]
        kept = [c for c in cases if not chosen or any(matches_pattern(c.id, p) for p in chosen)]
        return [c for c in kept if not any(matches_pattern(c.id, p) for p in dropped)]

    def rules(self, for_rules: frozenset[str], known: Sequence[Rule]) -> frozenset[str]:
        """Ids of the rules whose findings count."""
        chosen = [p for p in self.select if p in for_rules]
        dropped = [p for p in self.exclude if p in for_rules]
        kept = [r.id for r in known if not chosen or any(matches_pattern(r.id, p) for p in chosen)]
        return frozenset(i for i in kept if not any(matches_pattern(i, p) for p in dropped))


def check_claims(fmt: Format[Any], claims: Capabilities, cases: Iterable[Case]) -> None:
    """Raises UnknownName, with the nearest name, for a claim that matches no profile, kind,
    envelope column or column type.
    """
    every = (
        type
        for source in SOURCES.values()
        for type in (*source.types.values(), *chain.from_iterable(source.families))
    )
    met = (column.type for case in cases for table in case.tables for column in table.columns)
    known = {
        "profile": [profile.name for each in (fmt, *formats()) for profile in each.profiles]
        if claims.profiles
        else [],
        "kind": [kind.value for kind in Kind],
        "column": ENVELOPE,
        "type": {type.key for type in (*every, *met)} if claims.types else [],
    }
    for what, names in known.items():
        for glob in getattr(claims, f"{what}s"):
            built = what == "profile" and glob in {case.profile for case in cases}
            if not built and not any(fnmatchcase(name, glob) for name in names):
                raise UnknownName(f"{what} in the decoder's CAPABILITIES", glob, names)


def claimed(
    cases: Sequence[Case], capabilities: Capabilities, levels: Sequence[int]
) -> tuple[list[Case], list[CaseResult]]:
    """The claimed cases, and a result for each that is unclaimed or that our writer does not match,
    which has failed; cases of a level that the decoder lacks are in neither.
    """
    kept, unsupported = [], []
    for case in cases:
        if case.level not in levels:
            continue
        kinds = {c.kind.value for w in case.written for c in w.changes} - {"CORRUPT"}
        types = {
            column.type.key
            for table in case.tables
            for column in table.columns
            if column.name != "id"
        }
        if case.unmatched:
            unsupported.append(CaseResult(case, Verdict.ERRORED, note=case.unmatched))
        elif not capabilities.claims("profiles", case.profile):
            unsupported.append(CaseResult(case, Verdict.UNSUPPORTED, note="profile not claimed"))
        elif not capabilities.claims("kinds", *kinds):
            unsupported.append(CaseResult(case, Verdict.UNSUPPORTED, note="kind not claimed"))
        elif (
            case.level == 1 or case.origin is Origin.RECORDED or TABLES_TAG in case.tags
        ) and not capabilities.claims("types", *types):
            unsupported.append(
                CaseResult(case, Verdict.UNSUPPORTED, note="column type not claimed")
            )
        else:
            kept.append(case)
    return kept, unsupported
