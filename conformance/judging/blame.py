"""Names the cause of each finding of a format, once all of its cases are judged, and decides
whether a trait is guilty.

A row that comes out clears all that is in it: its value classes, exact values, options, traits. A
refused message keeps the suspects that no row clears, then those that no row of its own profile
clears. The suspect that explains many messages and occurs in few rows that came out is chosen
first. A rule on a trait (a selector with tags or profiles, for a refusal also with ops) is blamed
for a row only if such rows are fine without the trait, and no cell of it is refused without the
trait too; else the first rule without a trait is. A negative or long time that lost its fraction
alone is the affair of the rule on fractions.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log2
from typing import Final, NamedTuple, TypeAlias

from conformance.judging import causes
from conformance.judging.compared_units import cell_of, cells, change_of, find_refused_rows
from conformance.judging.findings import CELL, DECODING, UNDECODED, CaseResult, Finding, Verdict
from conformance.judging.index import (
    STATEMENTS,
    CellGroup,
    Cleared,
    ExpectedRows,
    RunIndex,
    expect_rows,
    spell_exactly,
)
from conformance.judging.judge import Judge
from conformance.judging.relations import RelationKind
from conformance.judging.suspects import rank_suspects, row_suspects, suspects_of_finding
from conformance.judging.trait_sorts import Trait, is_within
from conformance.rules.rules import Aspect, Rule, Subject, owner
from generators.model import Case, Change, Kind, Logical, Origin

_ROWS: Final = frozenset(
    {Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT, Aspect.OP, Aspect.KIND, Aspect.IMAGE}
)
"""Aspects whose mismatch may be the fault of a trait of the message."""
_TIMES: Final = frozenset({"negative", "over-24h"})
"""Value classes of times that may also have a fraction."""
_SORTS_OF_TRAITS: Final = frozenset({"option", "trait", "release"})
"""Sorts of suspects that are the trait on which a rule is, not what rows hold."""


def name_causes(judge: Judge, results: Sequence[CaseResult]) -> list[CaseResult]:
    """The results of a format, whose findings now have their causes and suspects. First each
    finding moves to the rule that is to blame: if its rule is only for messages with a trait (a
    tag, a profile), and rows without the trait fail just so, that is another rule.
    """
    if not any(result.findings for result in results):
        return list(results)
    index = RunIndex.build(results)
    namer = _CauseNamer(index.cleared)
    for result in results:
        namer.add(result)
    namer.choose_suspects()
    return [_with_named_causes(result, namer) for result in _replace_rules(judge, index)]


class Blamed(NamedTuple):
    """The suspects that are blamed for a finding, and the keys of its causes, as a record of known
    failures may name them: the key of the blamed suspects first, then one for each other suspect.
    """

    suspects: tuple[Trait, ...]
    keys: tuple[str, ...]


def _with_named_causes(result: CaseResult, namer: _CauseNamer) -> CaseResult:
    """The result of a case whose findings have their causes named, and the suspects of each, as
    `namer` has found them over all cases of the format.
    """
    findings: list[Finding] = []
    for finding in result.findings:
        blamed = namer.blame(result, finding)
        findings.append(replace(finding, causes=blamed.keys, suspects=blamed.suspects))
    return replace(result, findings=tuple(findings))


def replace_rules(
    judge: Judge, results: Sequence[CaseResult], expected_rows: ExpectedRows
) -> list[CaseResult]:
    """The results of a format with findings moved to the rule that explains them, as `name_causes`
    does, but without named causes: for callers that judge the same cases again and again.
    `expected_rows` caches what the cases' rows hold.
    """
    if not any(result.findings for result in results):
        return list(results)
    return _replace_rules(judge, RunIndex.build(results, expected_rows=expected_rows))


def _replace_rules(judge: Judge, index: RunIndex) -> list[CaseResult]:
    """The results of the index, in which each finding moves to the rule that is to blame for it,
    if that is another one and binds as much.
    """
    blame = _TraitBlame(judge.rules, index)
    binding = {rule.id: rule.obligation.binds for rule in judge.rules}
    return [
        _replace_rules_of(judge, binding, result, blame) if result.findings else result
        for result in index.results
    ]


def _replace_rules_of(
    judge: Judge, binding: Mapping[str, int], result: CaseResult, blame: _TraitBlame
) -> CaseResult:
    """The result of a case in which each finding is moved to the rule that is to blame. A finding
    moves only to a rule that binds as much, so that blame never acquits.
    """
    findings = []
    for finding in result.findings:
        rule = blame.rule_without_trait(result, finding) or _rule_on_fractions(
            judge, result.case, finding
        )
        if rule is not None and rule.obligation.binds >= binding[finding.rule]:
            judge.broken[finding.rule] -= 1
            judge.broken[rule.id] += 1
            judge.compared[rule.id] += 1
            finding = replace(finding, rule=rule.id, instead=finding.rule)
        findings.append(finding)
    verdict = (
        result.verdict
        if result.verdict in UNDECODED
        else judge.verdict(result.case, findings, result.nulled)
    )
    return replace(result, verdict=verdict, findings=tuple(findings))


def _rule_on_fractions(judge: Judge, case: Case, finding: Finding) -> Rule | None:
    """The rule on fractions of a TIME, if a finding of a wrong value breaks that one instead of its
    own rule on negative or long TIMEs: the time came right but for its fraction. None for any other
    finding, or if the finding's own rule is that rule.
    """
    change, cell = change_of(finding, case), cell_of(finding, case)
    if (
        finding.aspect is not Aspect.VALUE
        or change is None
        or cell is None
        or cell.cls not in _TIMES
    ):
        return None
    if cell.type.logical is not Logical.TIME or not isinstance(cell.value, int):
        return None
    relation = causes.relation_of(finding, case)
    if relation is None or relation.kind is not RelationKind.FRACTION:
        return None
    row_subject = _subject(case, change, finding)
    cls, logical = "micros" if cell.value % 1000 else "millis", cell.type.logical.value
    rule = judge.find_owner(
        replace(
            row_subject,
            field="cell",
            type=cell.type.key,
            logical=logical,
            cls=cls,
            state=cell.state.value,
        )
    )
    return rule if rule.id != finding.rule else None


class _TraitBlame:
    """Decides whether a rule that is only for messages with a trait (a tag, a profile, an op) is
    rightly blamed for a finding.
    """

    def __init__(self, rules: tuple[Rule, ...], index: RunIndex) -> None:
        self._by_id = {rule.id: rule for rule in rules}
        self._without_traits = tuple(rule for rule in rules if not _is_narrow(rule, refusal=True))
        self._index = index
        self._siblings: dict[tuple[str, int], list[CaseResult]] = defaultdict(list)
        for result in index.results:
            if result.case.origin is Origin.NAMED and result.verdict is not Verdict.UNSUPPORTED:
                self._siblings[result.case.scenario, result.case.level].append(result)
        self._evidence: dict[tuple[str, int], _Evidence] = {}

    def rule_without_trait(self, result: CaseResult, finding: Finding) -> Rule | None:
        """The rule to blame for a finding on a row in place of its own one; None if its own rule is
        right. A rule that is only for messages with a trait (a tag, a profile, or of refused rows
        an op) is right if that trait explains the finding (`_is_guilty`). Else the finding goes to
        the rule that owns the comparison once all rules of this sort are left out. Every other rule
        is right.
        """
        rule, change = self._by_id[finding.rule], change_of(finding, result.case)
        if finding.aspect not in _ROWS or not _is_narrow(
            rule, causes.symptom(finding, result.case) in causes.REFUSALS
        ):
            return None
        if (
            change is None
            or change.kind is not Kind.ROW
            or self._is_guilty(rule, result, finding, change)
        ):
            return None
        return owner(self._without_traits, _subject(result.case, change, finding))

    def _is_guilty(self, rule: Rule, result: CaseResult, finding: Finding, change: Change) -> bool:
        """Whether the trait on which a rule is explains a finding: the same rows are right in all
        other profiles, in which they lack the trait. Where no other profile has the rows, it does,
        but for a refused row only if nothing else in the row, as far as rows that came out have not
        cleared it, may be the reason.
        """
        case = result.case
        passes_elsewhere: list[bool] = []
        for sibling in self._siblings[case.scenario, case.level]:
            without = {
                (expected_row.message, expected_row.change.row)
                for expected_row in expect_rows(sibling.case, self._index.expected_rows)
                if expected_row.shows_a_row
                and not rule.selector.matches(_subject(sibling.case, expected_row.change, finding))
            }
            if without:
                same_findings = (
                    f
                    for f in sibling.findings
                    if f.aspect is finding.aspect and f.side == finding.side
                )
                passes_elsewhere.append(
                    not any((f.message, f.row) in without for f in same_findings)
                )
        if passes_elsewhere:
            return all(passes_elsewhere)
        if causes.symptom(finding, case) not in causes.REFUSALS:
            return True
        evidence = self._gather_evidence(rule, finding, case.level)
        cleared = self._index.cleared.suspects
        message = case.written[finding.message].changes
        suspects = {
            suspect
            for suspect in row_suspects(case, message, change)
            if suspect[0] not in _SORTS_OF_TRAITS
        }
        uncleared_here = suspects - cleared[case.level, case.profile]
        if any(suspect[0] == "cell" for suspect in uncleared_here & evidence.refused_suspects):
            return False
        if evidence.row_with_trait_came:
            return not suspects - cleared[case.level, ""]
        return not suspects & evidence.uncleared

    def _gather_evidence(self, rule: Rule, finding: Finding, level: int) -> _Evidence:
        """What rows without the rule's trait show of the suspects of refusals (what a row may have
        been refused for). Kept for each rule and level.
        """
        key = rule.id, level
        if key in self._evidence:
            return self._evidence[key]
        by_profile: dict[str, set[Trait]] = defaultdict(set)
        cleared_by_profile: dict[str, set[Trait]] = defaultdict(set)
        row_with_trait_came = False
        for outcome in self._index.outcomes:
            expected_row, case = outcome.row, outcome.row.case
            if case.level != level or not expected_row.shows_a_row:
                continue
            came_out = outcome.came_out
            if rule.selector.matches(_subject(case, expected_row.change, finding)):
                row_with_trait_came = row_with_trait_came or came_out
                continue
            by_profile[case.profile] |= expected_row.suspects
            if came_out:
                cleared_by_profile[case.profile] |= expected_row.suspects
        every = set[Trait]().union(*by_profile.values())
        cleared = set[Trait]().union(*cleared_by_profile.values())
        refused_suspects = set[Trait]()
        for profile, suspects in by_profile.items():
            refused_suspects |= suspects - cleared_by_profile[profile]
        self._evidence[key] = _Evidence(every - cleared, refused_suspects, row_with_trait_came)
        return self._evidence[key]


class _Evidence(NamedTuple):
    """What the rows without a trait show of suspects: `uncleared` are those with which no row came
    out in any profile, `refused_suspects` those with which none came out in some profile that has
    them. `row_with_trait_came` tells whether a row with the trait came out.
    """

    uncleared: set[Trait]
    refused_suspects: set[Trait]
    row_with_trait_came: bool


def _is_narrow(rule: Rule, refusal: bool) -> bool:
    """Whether the rule holds only for messages with a certain trait: a tag or a profile, or of a
    rule on refusals also an operation. A law (a rule with a check of its own in place of a
    selector) is never narrow.
    """
    selector = rule.selector
    return not rule.law and bool(selector.tags or selector.profiles or (refusal and selector.ops))


def _subject(case: Case, change: Change, finding: Finding) -> Subject:
    """What rules are selected by (a Subject) for a finding on a row change: the case's profile,
    level and tags, the change's kind and operation, and the aspect and side of the comparison that
    failed.
    """
    name = "image" if finding.aspect is Aspect.IMAGE else "change"
    op = change.op or ""
    return Subject(
        case.profile,
        case.level,
        change.kind.value,
        op,
        name,
        finding.aspect,
        finding.side,
        tags=case.tags,
    )


_MessageKey: TypeAlias = tuple[str, int]
"""Case and number of a message; -1 for all messages of a case that was not decoded."""


@dataclass(frozen=True, slots=True)
class _OpenSuspects:
    """The suspects of a refused message that no row that came out clears, in three stages, of which
    a later one is asked where the stages before do not explain the message.

    First the traits that came out in no profile; second the traits that came out in others but not
    in the message's own profile, and the exact values that came out in none; third the exact values
    that did not come out in its own profile.
    """

    stages: tuple[set[Trait], ...] = field(default_factory=lambda: (set(), set(), set()))

    @property
    def first(self) -> set[Trait]:
        """The suspects of the first stage that has any; none if all are empty."""
        return next((stage for stage in self.stages if stage), set())


@dataclass(slots=True)
class _CauseNamer:
    """Names the causes of findings. Refused messages are explained together, before any other
    finding, so that the suspect that explains most of them is chosen.

    `_open_suspects` are the suspects of each refused message, `_row_suspects` the suspect that
    stands for its row as a whole (the op), `_chosen_suspects` those that were chosen to explain it;
    `_recorded` are the messages of recorded cases.
    """

    cleared: Cleared
    _open_suspects: dict[_MessageKey, _OpenSuspects] = field(default_factory=dict)
    _row_suspects: dict[_MessageKey, Trait] = field(default_factory=dict)
    _chosen_suspects: dict[_MessageKey, tuple[Trait, ...]] = field(default_factory=dict)
    _recorded: set[_MessageKey] = field(default_factory=set)
    _narrower: dict[tuple[int, Trait], set[Trait]] = field(default_factory=lambda: defaultdict(set))
    """The suspects of wrong cells that a level's wide suspects hold."""

    def add(self, result: CaseResult) -> None:
        """Takes the findings of a case into account: which rows were refused, and what each may
        have been refused for.
        """
        case, level = result.case, result.case.level
        for finding in result.findings:
            subjects = suspects_of_finding(finding, case)
            if finding.aspect in CELL and len(subjects) > 1:
                self._narrower[level, subjects[-1]].add(subjects[-2])
            if causes.symptom(finding, case) not in causes.REFUSALS:
                continue
            refused_changes, key = (
                find_refused_rows(finding, case),
                _message_key(result, finding),
            )
            if case.origin is Origin.RECORDED:
                self._recorded.add(key)
            if (
                finding.aspect is Aspect.MISSING
                and len(refused_changes) > 1
                and not _is_whole_message_lost(result, finding, refused_changes)
            ):
                refused_changes = [
                    refused_change
                    for refused_change in refused_changes
                    if refused_change.row == finding.row
                ]
            elif key in self._row_suspects:
                continue
            is_undecoded = result.verdict in UNDECODED
            message = refused_changes if is_undecoded else case.written[finding.message].changes
            for refused_change in refused_changes:
                self._add_row(case, message, refused_change, key)

    def _add_row(
        self, case: Case, message: Sequence[Change], refused_change: Change, key: _MessageKey
    ) -> None:
        """Adds what a refused row may have been refused for (its suspects) to those of its message,
        each to the stage of `_OpenSuspects` in which no row that came out clears it. `message` has
        all changes of the row's message, `key` stands for the message.
        """
        level, cleared = case.level, self.cleared
        suspects = row_suspects(case, message, refused_change)
        values = {spell_exactly(cell) for _, _, cell in cells(refused_change, level)}
        in_no_profile, in_own_profile, by_value_in_own_profile = self._open_suspects.setdefault(
            key, _OpenSuspects()
        ).stages
        in_no_profile |= suspects - cleared.suspects[level, ""]
        in_own_profile |= suspects - cleared.suspects[level, case.profile]
        in_own_profile |= {value.suspect for value in values - cleared.exact_values[level, ""]}
        by_value_in_own_profile |= {
            value.suspect for value in values - cleared.exact_values[level, case.profile]
        }
        self._row_suspects[key] = "op", refused_change.op or ""

    def choose_suspects(self) -> None:
        """Chooses for each refused message the suspects that explain it, stage by stage
        (`_OpenSuspects`), each stage for the messages that are unexplained so far. A suspect that
        was chosen for a message also explains later ones that have it.
        """
        used_suspects = set[Trait]()
        for stage in range(3):
            unexplained = {
                key: suspects.stages[stage]
                for key, suspects in self._open_suspects.items()
                if suspects.stages[stage] and key not in self._chosen_suspects
            }
            for key, suspects in list(unexplained.items()):
                if suspects & used_suspects:
                    ranked = rank_suspects(suspects & used_suspects)
                    self._chosen_suspects[key] = tuple(
                        ranked if key in self._recorded else ranked[:1]
                    )
                    del unexplained[key]
            unsure = self._recorded if stage else frozenset[_MessageKey]()
            _explain_messages(
                unexplained, self._chosen_suspects, self.cleared.rows_that_came, unsure
            )
            for key in unexplained:
                if len(self._chosen_suspects[key]) == 1 or key not in unsure:
                    used_suspects.update(self._chosen_suspects[key])

    def blame(self, result: CaseResult, finding: Finding) -> Blamed:
        """The suspects to blame for a finding, with the keys of its causes. For a refused message
        they are those that were chosen for it, without any the operation of its row. For a wrong
        cell it is the widest of its suspects (such as all cells of the image) that stands for
        several sorts of wrong cells and that no right cell of that image clears, else the
        narrowest.
        """
        case, level = result.case, result.case.level
        of_right_cells = self.cleared.of_right_cells
        symptom = causes.symptom(finding, case)
        subjects = suspects_of_finding(finding, case)
        blamed_suspects: tuple[Trait, ...] = tuple(subjects[:1])
        if (
            symptom in causes.REFUSALS
            and (key := _message_key(result, finding)) in self._row_suspects
        ):
            blamed_suspects = self._chosen_suspects.get(key, (self._row_suspects[key],))
            subjects = [
                *rank_suspects(self._open_suspects[key].first),
                self._row_suspects[key],
            ]
        elif finding.aspect in CELL and len(subjects) > 1:
            _sort, _type, *state = subjects[0]
            group = CellGroup(finding.side, state == ["null"])
            for wider in subjects[1:]:
                has_several_cells = wider[0] != "cells" or len(self._narrower[level, wider]) > 1
                if has_several_cells and wider not in of_right_cells[level, group]:
                    blamed_suspects = (wider,)
        elif len(subjects) > 1 and subjects[1] not in of_right_cells[level, STATEMENTS]:
            blamed_suspects = (subjects[1],)
        first = causes.key_text(symptom, blamed_suspects)
        keys = [causes.key_text(symptom, [subject]) for subject in subjects]
        return Blamed(blamed_suspects, (first, *(key for key in keys if key != first)))


def _message_key(result: CaseResult, finding: Finding) -> _MessageKey:
    """The key of a finding's message among those of a run: the case's id and the message's number,
    which is -1 (all messages) if the case was not decoded.
    """
    return result.case.id, -1 if result.verdict in UNDECODED else finding.message


def _is_whole_message_lost(
    result: CaseResult, finding: Finding, refused_changes: Sequence[Change]
) -> bool:
    """Whether none of the finding's refused rows came out: the message has a finding of the same
    aspect for each of `refused_changes`, or decoding it as a whole failed.
    """
    lost = {
        f.row
        for f in result.findings
        if f.message == finding.message and f.aspect is finding.aspect
    }
    return (
        lost >= {refused_change.row for refused_change in refused_changes}
        or finding.path == DECODING
    )


def _explain_messages(
    open_suspects: Mapping[_MessageKey, set[Trait]],
    chosen_suspects: dict[_MessageKey, tuple[Trait, ...]],
    rows_that_came: Mapping[Trait, int],
    unsure: Collection[_MessageKey],
) -> None:
    """Chooses for each refused message what it was refused for, of its suspects in `open_suspects`,
    and puts it into `chosen_suspects`. Again and again it takes the suspect that explains the most
    messages left while the fewest rows with it came out, together with suspects of just the same
    messages that are about as likely. Recorded messages cannot be made smaller to clear a suspect:
    those in `unsure` keep all suspects that the messages explained together share.
    """
    unexplained = dict(open_suspects)
    while unexplained:
        tally = Counter(itertools.chain.from_iterable(unexplained.values()))
        likely = {
            subject: count / (count + rows_that_came[subject]) * log2(1 + count)
            for subject, count in tally.items()
        }
        most = max(likely.values())
        likeliest = [subject for subject, score in likely.items() if score == most]
        first = rank_suspects(likeliest)[0]
        group = {key: suspects for key, suspects in unexplained.items() if first in suspects}
        shared = set.intersection(*group.values())
        together = {s for s in shared if tally[s] == len(group) and 2 * likely[s] >= most}
        for key in group:
            chosen_suspects[key] = _drop_narrower(shared if key in unsure else together)
            del unexplained[key]


def _drop_narrower(subjects: set[Trait]) -> tuple[Trait, ...]:
    """The suspects that lie within no other one of them, in the order in which reports name them:
    of a type's values and one of its value classes only the type's values stay.
    """

    def lies_within_another(subject: Trait) -> bool:
        return any(wider != subject and is_within(subject, wider) for wider in subjects)

    return tuple(rank_suspects(itertools.filterfalse(lies_within_another, subjects)))
