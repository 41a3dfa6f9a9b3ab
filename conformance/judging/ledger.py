"""Which rule owns each comparison, and how many comparisons each rule has had.

For each (field, aspect) the owner is the first rule that matches; it is looked up once.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

from conformance.judging.capabilities import Capabilities
from conformance.rules.rule import RuleViews, View
from conformance.rules.rules import Aspect, Rule, Subject, owner
from generators.model import Case, Kind, Op, SideOrRow, State


class HarnessFault(AssertionError):
    """A fault of the harness: a comparison without an owner."""


@dataclass(frozen=True, slots=True)
class Site:
    """A comparison that a rule owns, where `selftest` may alter a correct output: the case's id,
    the message's and the row's number, the aspect, the field or column (`name`) and the image.
    """

    case: str
    message: int
    row: int
    aspect: Aspect
    name: str
    side: SideOrRow = ""


Key: TypeAlias = tuple[Kind, Op | None, str, str | Aspect, str, str | State]
"""The key of an owner, beside view and level: kind, op; for a field its name, aspect and side; for
a cell its side, type, value class and state.
"""
SITES = 3
"""Comparisons that are remembered for each rule."""
CASES = 150
"""Cases remembered per rule and level: a seeded sample, and every case whose messages hold several
changes.
"""


@dataclass(slots=True)
class RuleLedger:
    """The rules of one format, and how many comparisons each has owned (`compared`) and found wrong
    (`broken`). `cells` counts expected cells by state, `refused` by rule the cells that could not
    be compared. With `remembers` it also keeps, for the self test, comparisons (`sites`) and case
    ids (`seen`) of each rule. `plans` are the owners of comparisons, shared by all cases that
    selectors do not tell apart.
    """

    rules: tuple[Rule, ...]
    capabilities: Capabilities = Capabilities()
    remembers: bool = False
    compared: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    cells: Counter[State] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    sites: dict[str, list[Site]] = field(default_factory=dict)
    seen: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    _owned: Counter[tuple[str, int]] = field(default_factory=Counter)
    _random: random.Random = field(default_factory=lambda: random.Random(0))
    _owners: dict[tuple[object, ...], Rule | None] = field(default_factory=dict)
    _about: dict[tuple[str, Aspect, int] | None, RuleViews] = field(default_factory=dict)
    _laws: dict[str, Rule | None] = field(default_factory=dict)
    plans: dict[tuple[View, int], dict[Key, tuple[Rule, ...]]] = field(default_factory=dict)

    def find_owner(self, subject: Subject) -> Rule:
        """The rule that owns a comparison. Raises HarnessFault when there is none."""
        if rule := self.find(subject):
            return rule
        raise HarnessFault(f"no rule owns {subject}")

    def find(self, subject: Subject) -> Rule | None:
        """The rule that owns a comparison, which `subject` describes. Answers are cached. None only
        for the digits of a time, which not every format compares by themselves.
        """
        rule_views = self._rules_on(about := (subject.field, subject.aspect, subject.level))
        key = (
            *(about, rule_views.view(subject.profile, subject.tags), subject.kind, subject.op),
            *(subject.side, subject.type, subject.logical, subject.cls, subject.state),
        )
        if key not in self._owners:
            self._owners[key] = owner(rule_views.rules, subject)
        return self._owners[key]

    def empty(self) -> Self:
        """A ledger (or judge) with the same rules and with all counts at zero. It shares with this
        one the lookup tables, and what is remembered for the self test.
        """
        return replace(
            self, compared=Counter(), broken=Counter(), cells=Counter(), refused=Counter()
        )

    def add(self, counted_ledger: RuleLedger) -> None:
        """Adds the counts of another ledger with the same rules, such as that of a part of the run
        which was judged by itself.
        """
        self.compared += counted_ledger.compared
        self.broken += counted_ledger.broken
        self.cells += counted_ledger.cells
        self.refused += counted_ledger.refused

    def law(self, name: str) -> Rule | None:
        """The rule that is checked by the law of this name (a check of its own, such as
        `row-shape`); None if the format has no such rule.
        """
        if name not in self._laws:
            self._laws[name] = next((rule for rule in self.rules if rule.law == name), None)
        return self._laws[name]

    def remember(self, rule: Rule, case: Case, site: Site, has_several_changes: bool) -> None:
        """Keeps for the self test the first SITES places at which the rule owned a comparison, and
        the ids of cases in which it did: all that have several changes, and of the others a random
        sample of about CASES for each level.
        """
        sites = self.sites.setdefault(rule.id, [])
        if len(sites) < SITES:
            sites.append(site)
        key = (rule.id, case.level)
        case_ids = self.seen.setdefault(key, [])
        self._owned[key] += 1
        if len(case_ids) < CASES or has_several_changes:
            case_ids.append(case.id)
        elif (slot := self._random.randrange(self._owned[key])) < CASES:
            case_ids[slot] = case.id

    def seen_by_selectors(self, case: Case) -> View:
        """The case's profile and tags as selectors see them."""
        return self._rules_on(None).view(case.profile, case.tags)

    def _rules_on(self, about: tuple[str, Aspect, int] | None) -> RuleViews:
        """The rules that concern a field, an aspect and a level (`about`, in this order), made
        ready for look-up and kept; with None all rules of the format.
        """
        if about not in self._about:
            concerned_rules = (
                self.rules
                if about is None
                else tuple(rule for rule in self.rules if rule.selector.concerns(*about))
            )
            self._about[about] = RuleViews(concerned_rules)
        return self._about[about]
