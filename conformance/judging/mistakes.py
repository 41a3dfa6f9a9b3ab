"""A format's findings as few mistakes: what all failing messages share and no passing one has, in
the order of repair.

A deviation (rows lost, an image where none is owed, another value that differs by 8 h, ...) is
looked at in its population (`conformance.judging.index`): the few traits that the most failing
units have, and no unit without the deviation has, are the mistake; what they do not explain goes on
to the next. Nothing here moves a verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

from conformance.judging import deviations
from conformance.judging.contents import merge_family
from conformance.judging.deviation_of_finding import deviation_of, without_chance
from conformance.judging.deviations import ByDeviation, Deviation, DeviationKind
from conformance.judging.effects import with_effect
from conformance.judging.explaining import (
    OF_MESSAGES,
    choose_candidates,
    favoured_traits,
    length_of_cuts,
)
from conformance.judging.findings import CaseResult, ColumnOfKind, Finding
from conformance.judging.index import (
    NEARLY,
    OF_CELLS_THERE,
    Failing,
    RunIndex,
    Unit,
    is_of_rows,
    may_belong_to,
)
from conformance.judging.merging import MAJORITY, MEMBERS, Mistake, Place, merge_mistakes
from conformance.judging.parts import Part, failings_of, group_parts, share_with
from conformance.judging.results import FormatResult
from conformance.judging.sentences import Quantity, Statement, merge_alternatives
from conformance.judging.trait_sorts import Trait, Traits
from conformance.judging.unified_families import unify_families
from conformance.judging.unified_rows import (
    unify_doubtful,
    unify_other_images,
    unify_row_numbers,
    unify_rows,
)
from conformance.judging.widening import ANY, LARGE, NEARLY_ALL, explain_by_place, widen_group
from conformance.rules.rules import Obligation, Rule
from generators.model import Case

LAWS_OF_CALLS: Final = frozenset({"batch", "environment"})
"""Laws on what a message's rows may not depend on: other messages of the call, another call."""
MOST: Final = 10
"""Mistakes that are named."""
_OF_OTHER_MESSAGES: Final = frozenset(
    {
        *("repeated", "same-rows", "same-as-before", "same-row-as-before"),
        *(
            "value-before",
            "other-columns-before",
            "column-not-before",
            "new-column",
            "other-schema",
            "changed-earlier",
            "changed-later",
        ),
    }
)
"""Sorts of traits on other messages, on which a row depends: they say more than the law that rows
depend on no other message.
"""
_DRAWN: Final = "a fault that was drawn"
"""The name of a malformed message in a case that was drawn at random."""
_FAULT: Final = "fault:"
"""The beginning of a case's tag that tells the sort of its malformed messages."""
NAMES: Final = 2
"""Names of faults of one sort that are told one by one."""
FAULTS: Final = 6
"""Faults that are named in a sentence."""
NOUNS: Final = 3
"""Nouns that a sentence has."""
RARE: Final = 0.05
"""Share of the units that traits must explain where other messages may be the reason: a few of many
agree by chance.
"""


_KEPT: Final[WeakKeyDictionary[FormatResult, dict[bool, list[Mistake]]]] = WeakKeyDictionary()
"""The mistakes of each result that were asked for, by `strict`."""


def mistakes(result: FormatResult, *, strict: bool = False) -> list[Mistake]:
    """The mistakes of a format's failing cases, what to repair first before the rest; with `strict`
    those of SHOULD rules too. They are kept as long as the result is, since every report tells
    them.
    """
    by_strictness = _KEPT.setdefault(result, {})
    if strict not in by_strictness:
        by_strictness[strict] = _find_mistakes(result, strict)
    return by_strictness[strict]


def _find_mistakes(result: FormatResult, strict: bool) -> list[Mistake]:
    """The mistakes that explain a format's findings of MUST rules (with `strict` also of SHOULD),
    the most binding first. Findings that the record of known failures covers are left out.
    """
    rules = {rule_result.rule.id: rule_result.rule for rule_result in result.rules}
    obligations = {Obligation.MUST, Obligation.SHOULD} if strict else {Obligation.MUST}
    counting = {id_ for id_, rule in rules.items() if rule.obligation in obligations}
    index = RunIndex.build(result.cases, counting)
    failings: list[tuple[Deviation, Failing]] = []
    by_law: dict[str, list[Failing]] = defaultdict(list)
    by_plan_error: dict[str, list[Failing]] = defaultdict(list)
    for case in result.cases:
        for finding in case.findings:
            if finding.rule in case.known or finding.rule not in counting:
                continue
            deviation = deviation_of(finding, case.case)
            failing = _failing_unit(deviation, finding, case, index)
            if finding.plan_failed:
                by_plan_error[finding.actual].append(failing)
            elif rules[finding.rule].law:
                by_law[finding.rule].append(failing)
            else:
                failings.append((deviation, failing))
    by_deviation = _group_by_deviation(failings, index)
    depends_on_other_messages = any(rules[id_].law == "batch" for id_ in by_law)
    mistakes_found: list[Mistake] = []
    for deviation in by_deviation:
        accounts = _explain(deviation, by_deviation, index, depends_on_other_messages)
        mistakes_found += (_mistake(account, units, rules) for account, units in accounts)
    mistakes_found += [
        _mistake(_Account((), _tell_law(rules[id_], unit_failings)), unit_failings, rules)
        for id_, unit_failings in by_law.items()
    ]
    mistakes_found += [
        _mistake(_Account((), Statement(None, plan_error=plan_error)), unit_failings, rules)
        for plan_error, unit_failings in by_plan_error.items()
    ]
    laws_of_calls = {id_ for id_ in by_law if rules[id_].law in LAWS_OF_CALLS}

    def order(mistake: Mistake) -> tuple[bool, int, int, str]:
        """The key by which mistakes are sorted: those of MUST rules first. If a law of calls is
        broken (a row depends on other messages, or on another call), the mistakes that say on which
        messages come first, then the law, then all others, which may only follow from it. Then
        those of more cases.
        """
        is_law = mistake.statement.deviation is None and not laws_of_calls.isdisjoint(mistake.rules)
        names_other_messages = bool(laws_of_calls) and any(
            trait[0] in _OF_OTHER_MESSAGES for trait in mistake.traits
        )
        rank = 0 if names_other_messages else 1 if is_law else 2
        is_binding = mistake.obligation is Obligation.MUST
        return not is_binding, rank, -len(mistake.cases), mistake.sentence

    return sorted(merge_mistakes(mistakes_found), key=order)


def _tell_law(law: Rule, failings: Iterable[Failing]) -> Statement:
    """The statement on a broken law, such as that a row has no error unless it is CORRUPT; of the
    law on the columns of a row with the kinds of rows and the columns that break it.
    """
    owed = [failing.finding.owed for failing in failings]
    places = {place for place in owed if isinstance(place, ColumnOfKind)}
    return Statement(None, law=law.statement, places=tuple(sorted(places)))


def _failing_unit(
    deviation: Deviation, finding: Finding, case: CaseResult, index: RunIndex
) -> Failing:
    """A finding as a unit that fails: for a deviation of cells the cell, else the row. Its traits
    are those of the set of units in which the deviation is looked at.
    """
    case_id, message, row_number, side, column = place(finding)
    unit: Unit = (case_id, message, row_number)
    if deviation.is_of_cells:
        unit = (case_id, message, row_number, side, column)
    traits = index.traits_of_finding(deviations.population_of(deviation), finding, case.case)
    return Failing(unit, traits, finding, case)


def _group_by_deviation(
    failings: Sequence[tuple[Deviation, Failing]], index: RunIndex
) -> dict[Deviation, dict[Unit, Failing]]:
    """The failing units by deviation, after deviations that are one fault (such as shuffled
    columns) were joined.
    """
    by_deviation: dict[Deviation, dict[Unit, Failing]] = defaultdict(dict)
    decided = without_chance(failings, index)
    renumbered = list(unify_row_numbers(decided))
    for deviation, failing in unify_doubtful(unify_rows(renumbered)):
        by_deviation[deviation].setdefault(failing.unit, failing)
    return unify_families(unify_other_images(by_deviation))


def place(finding: Finding) -> Place:
    """Where a finding is: the case's id, message, row, image and column."""
    return finding.case, finding.message, finding.row, finding.side, finding.column


@dataclass(frozen=True, slots=True)
class _Account:
    """What is told of some failing units (cells, rows or messages): the traits that explain why
    they fail, and the statement of the mistake.
    """

    traits: Traits
    statement: Statement


def _unit_name(deviation: Deviation) -> str:
    """The noun by which a sentence calls what has the deviation: unreadable message, column, NULL,
    value or row.
    """
    if deviation.kind is DeviationKind.DOUBTFUL_VANISHES:
        return "doubtful message"
    if deviation.is_of_faults:
        return "unreadable message"
    if deviation.is_of_presence:
        return "column"
    if deviation.is_for_null:
        return "NULL"
    return "value" if deviation.is_of_cells else "row"


def _explain(
    deviation: Deviation,
    by_deviation: ByDeviation,
    index: RunIndex,
    depends_on_other_messages: bool,
) -> Iterator[tuple[_Account, list[Failing]]]:
    """Divides the units that fail with a deviation into mistakes, and yields for each what is told
    of it and its units. Again and again the traits that explain the most unexplained units are
    taken; parts that belong together are then one mistake. `depends_on_other_messages` tells that
    the law is broken that rows do not depend on other messages.
    """
    unexplained = list(by_deviation[deviation].values())
    parts = list[Part]()
    unit = _unit_name(deviation)
    if deviation in (deviations.SHUFFLED, deviations.SWAPPED):
        yield _Account((), Statement(deviation)), unexplained
        return
    traits_of_failures = _bad_traits(deviation, by_deviation)
    favoured = favoured_traits(deviation, list(by_deviation[deviation].values()))
    while unexplained and len(parts) < MOST:
        candidates = choose_candidates(deviation, unexplained)
        if deviation.is_of_faults and _fails_nearly_everywhere(
            deviation, index, traits_of_failures
        ):
            candidates = _is_of_any_or_of_repetition
        traits, is_sure = index.find_guilty_traits(
            deviations.population_of(deviation),
            traits_of_failures,
            unexplained,
            candidates,
            favoured,
            [part.traits for part in parts if part.traits],
        )
        if not traits:
            part = _explain_by_content(deviation, index, traits_of_failures, unexplained, favoured)
            if part is None and not depends_on_other_messages:
                part = explain_by_place(deviation, index, traits_of_failures, unexplained)
            if part is not None:
                parts.append(part)
                unexplained = []
                break
        explained = [failing for failing in unexplained if failing.traits.issuperset(traits)]
        if deviation.is_of_faults:
            by_faults = not traits or traits[0][0] == "fault"
            if by_faults or len(explained) < NEARLY * len(unexplained):
                yield _tell_faults(deviation, unexplained), unexplained
                return
            explained = unexplained
        by_chance = not traits or len(explained) < RARE * len(unexplained)
        if deviation.kind is DeviationKind.ROW_LOST:
            by_chance |= any(trait[0] not in OF_MESSAGES for trait in traits)
        if depends_on_other_messages and by_chance:
            statement = Statement(deviation, Quantity.SOME, unit, by_company=True)
            yield _Account((), statement), unexplained
            unexplained = []
            break
        groups = {"": explained}
        if deviation.is_of_cells and not traits:
            groups = _group_by_family(explained)
        share = 1.0 if is_sure else NEARLY
        parts += [Part(traits, group, share) for group in groups.values()]
        if deviation.is_of_faults:
            unexplained = []
        unexplained = [failing for failing in unexplained if not failing.traits.issuperset(traits)]
    unexplained_groups: dict[str, list[Failing]] = {}
    if deviation.is_of_cells:
        unexplained_groups = _group_by_family(unexplained)
    elif unexplained:
        unexplained_groups = {"": unexplained}
    parts += [Part((), group, 0.0) for group in unexplained_groups.values()]
    for group in group_parts(deviation, parts):
        parts_to_tell = widen_group(group, traits_of_failures, index, deviation)
        yield _tell_parts(deviation, unit, parts_to_tell), failings_of(group)


def _fails_nearly_everywhere(
    deviation: Deviation, index: RunIndex, traits_of_failures: Sequence[frozenset[Trait]]
) -> bool:
    """Whether nearly all units fail in the set in which the deviation is looked at. What the few
    others lack is then chance and explains nothing.
    """
    population = deviations.population_of(deviation)
    return index.share_that_fails(population, traits_of_failures, [(ANY,)]) >= NEARLY


def _is_of_any_or_of_repetition(trait: Trait) -> bool:
    """Whether a trait is that of every unit, or says that a message repeats another one."""
    return trait == ANY or trait[0] in _OF_REPETITION


_OF_REPETITION: Final = frozenset({"repeated", "same-rows", "same-as-before"})
"""Sorts of traits that say that a message repeats another one, or its rows."""


def _with_length(deviation: Deviation, failings: Iterable[Failing]) -> Deviation:
    """A deviation (a way of being wrong) whose relation tells after which length values are cut
    off, if all of these values are cut at the same one; else the deviation as it is.
    """
    relation = deviation.relation
    length = length_of_cuts(relation, failings) if relation and deviation.is_wrong_value else 0
    if relation is None or not length:
        return deviation
    return replace(deviation, relation=replace(relation, number=length))


def _explain_by_content(
    deviation: Deviation,
    index: RunIndex,
    traits_of_failures: Sequence[frozenset[Trait]],
    unexplained: Sequence[Failing],
    favoured: Collection[Trait],
) -> Part | None:
    """The units that no trait explains as one part of a mistake, if all of them have a trait that
    the deviation's relation names (`favoured`); None if they have none. Many units with the trait
    may pass.
    """
    shared = frozenset.intersection(*(failing.traits for failing in unexplained))
    name = deviations.population_of(deviation)
    shares = [
        (index.share_that_fails(name, traits_of_failures, [(trait,)]), trait)
        for trait in sorted(shared.intersection(favoured))
    ]
    if not shares:
        return None
    share, trait = max(shares)
    return Part((trait,), list(unexplained), share)


def _tell_faults(deviation: Deviation, failings: Sequence[Failing]) -> _Account:
    """The account of malformed messages that the decoder treats wrongly: its statement names the
    ways in which they are malformed, at most FAULTS of them, and counts the rest.
    """
    shared = frozenset.intersection(*(failing.traits for failing in failings))
    traits = tuple(sorted(trait for trait in shared if trait[0] in MEMBERS))
    names = _fault_names(failings)
    more = max(0, len(names) - FAULTS)
    statement = Statement(
        deviation, unit=_unit_name(deviation), faults=tuple(names[:FAULTS]), more_faults=more
    )
    return _Account(traits, statement)


def _tell_parts(deviation: Deviation, unit: str, group: Sequence[Part]) -> _Account:
    """The statement of a mistake that consists of these parts: which units fail (`unit` is their
    noun), how many, and what they have.
    """
    explained = _without_parts_of_others([part for part in group if part.traits])
    total = sum(len(part.failings) for part in explained)
    large = [part for part in explained if len(part.failings) >= LARGE * total] or explained[:1]
    large += [part for part in explained if part not in large and _adds_no_noun(part, large)]
    if all(len(part.traits) == 1 and part.traits[0][0] == "family" for part in explained):
        # Families of types are one noun, however many they are.
        large = explained
    if unit == "row":
        kinds = frozenset.intersection(*(part.shared(("kind",)) for part in group))
        for _, kind in kinds:
            unit = f"{kind} message"
    of_all = frozenset[str]().union(*(part.families for part in group))
    families = tuple(of_all) if len(of_all) == 1 else ()
    told_deviation = _with_length(deviation, failings_of(group))
    if not deviation.is_of_cells:
        families = ()
    traits = group[0].traits or tuple(("family", name) for name in families)
    ops = tuple(dict.fromkeys(deviations.spell_op(f.finding.came) for f in failings_of(group)))
    if deviation.kind is not DeviationKind.OTHER_OP:
        ops = ()
    if not large:
        statement = Statement(
            told_deviation, Quantity.SOME, unit, families=families, ops_that_came=ops
        )
        return _Account(traits, statement)
    alternatives = merge_alternatives(_without_narrower(part.traits for part in large))
    all_traits = frozenset[Trait]().union(*(failing.traits for failing in failings_of(group)))
    own_families = [trait[1] for trait in all_traits if trait[0] == "family"]
    if len(own_families) == 1:
        alternatives = [_name_family(traits, own_families[0]) for traits in alternatives]
    # Units that no trait explains are part of the mistake, too: the sentence must not say that all
    # have the traits.
    has_rest = any(not part.traits for part in group)
    has_others = has_rest or len(large) < len(explained) or len(alternatives) > NOUNS
    if deviation.kind is DeviationKind.FIELD_WRONG or deviation.is_of_other_image:
        has_others |= len(alternatives) > 1
        alternatives = alternatives[:1]
    quantity = _quantity_of(large[0].share)
    statement = Statement(
        told_deviation, quantity, unit, tuple(alternatives[:NOUNS]), has_others, ops_that_came=ops
    )
    return _Account(traits, statement)


def _adds_no_noun(small: Part, large: Iterable[Part]) -> bool:
    """Whether a small part of a mistake can be told within the noun of a large part, as in "rows of
    INSERT and DELETE": their traits differ only in the last word of one.
    """
    return any(len(merge_alternatives((part.traits, small.traits))) == 1 for part in large)


def _without_parts_of_others(parts: Sequence[Part]) -> list[Part]:
    """The parts of a mistake without those whose units nearly all have the traits of another part,
    such as a family of types as a whole.
    """
    remaining_parts = list(parts)
    for part in sorted(parts, key=lambda part: len(part.failings)):
        further_parts = [further for further in remaining_parts if further is not part]
        if any(share_with(part.failings, wide.traits) >= NEARLY_ALL for wide in further_parts):
            remaining_parts = further_parts
    return remaining_parts


def _name_family(traits: Traits, family: str) -> Traits:
    """The traits of a mistake with the real family of types, where a ("held", FAMILY, ...) trait
    names the family that stands for several which decoders read alike. `family` is that of all
    units of the mistake.
    """
    return tuple(
        ("held", family, *trait[2:])
        if trait[0] == "held" and trait[1] == merge_family(family)
        else trait
        for trait in traits
    )


def _without_narrower(alternatives: Iterable[Traits]) -> list[Traits]:
    """The sets of traits without those that are narrower than another: a set that has all traits of
    another one, and more, selects fewer units.
    """
    all_traits = list(dict.fromkeys(alternatives))

    def has_wider(traits: Traits) -> bool:
        """Whether another set has only some of these traits, and so more units."""
        return any(set(wider) < set(traits) for wider in all_traits)

    return [traits for traits in all_traits if not has_wider(traits)]


def _quantity_of(share: float) -> Quantity:
    """The word for the share of units that fail: every, nearly every, most or some."""
    if share == 1:
        return Quantity.EVERY
    if share >= NEARLY:
        return Quantity.NEARLY_EVERY
    return Quantity.MOST if share >= MAJORITY else Quantity.SOME


def _bad_traits(deviation: Deviation, by_deviation: ByDeviation) -> Sequence[frozenset[Trait]]:
    """The traits of the units that fail with the deviation, and of those that fail otherwise, so
    that they cannot show a trait to be innocent: a value that is wrong in another way, a row that
    did not come out.
    """
    population = deviations.population_of(deviation)
    traits_by_unit: dict[Unit, frozenset[Trait]] = {}
    for other_deviation, units in by_deviation.items():
        other_population = deviations.population_of(other_deviation)
        are_rows = is_of_rows(population) and is_of_rows(other_population)
        hides = (
            not is_of_rows(population)
            or other_deviation.kind in _HIDING
            or (other_deviation.kind in deviations.OF_OPS and deviation.is_of_images)
        )
        are_cells_there = {other_population, population} <= OF_CELLS_THERE
        same_population = other_population == population or are_cells_there or are_rows
        if other_deviation == deviation or (hides and same_population):
            traits_by_unit |= {
                unit: failing.traits
                for unit, failing in units.items()
                if may_belong_to(population, failing.finding, failing.result.case)
            }
    return tuple(traits_by_unit.values())


_HIDING: Final = frozenset(
    {
        DeviationKind.ROW_LOST,
        DeviationKind.ROW_REFUSED,
        DeviationKind.ROW_NUMBER_NULL,
        DeviationKind.ROW_NUMBER_WRONG,
    }
)
"""Deviations of rows that did not come out: nothing else is known of them."""


def _fault_names(failings: Iterable[Failing]) -> list[str]:
    """The names of the ways in which the failing messages are malformed. Of more than NAMES of one
    sort, which a case's tag `fault:SORT` tells, the sort is named instead; messages of drawn cases
    are named _DRAWN.
    """
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for case in (failing.result.case for failing in failings):
        sort = min((tag for tag in case.tags if tag.startswith(_FAULT)), default="")
        names[sort][case.fault or _DRAWN] = None
    shown_names: dict[str, None] = {}
    for sort, faults in names.items():
        shown_names |= dict.fromkeys([sort.removeprefix(_FAULT)] if len(faults) > NAMES else faults)
    return list(shown_names)


def _group_by_family(failings: Iterable[Failing]) -> dict[str, list[Failing]]:
    """The failing units (rows, cells or fields that are wrong) by the family of their column's
    type, such as "decimal"; "" for units without one.
    """
    families: dict[str, list[Failing]] = defaultdict(list)
    for failing in failings:
        families[failing.family].append(failing)
    return families


def _mistake(account: _Account, failings: Sequence[Failing], rules: Mapping[str, Rule]) -> Mistake:
    """The mistake that an account (a statement and the traits it is about) tells of these failing
    units. The statement's deviation is made more exact by what all units show together (such as
    that all are cut after 255 characters). The example is the failing unit in the smallest case; an
    uncompressed case is preferred, since a reader can read its bytes.
    """
    small = min(
        failings,
        key=lambda failing: (
            failing.result.case.deployment.compression != "none",
            _size(failing.result.case),
        ),
    )
    broken = tuple(dict.fromkeys(failing.finding.rule for failing in failings))
    must = any(rules[rule].obligation is Obligation.MUST for rule in broken)
    statement = account.statement
    if statement.deviation is not None:
        statement = replace(statement, deviation=with_effect(statement.deviation, failings))
    return Mistake(
        account.traits,
        statement,
        broken,
        Obligation.MUST if must else Obligation.SHOULD,
        frozenset(failing.result.case.id for failing in failings),
        frozenset(place(failing.finding) for failing in failings),
        small.finding,
        small.result,
        frozenset.intersection(*(failing.traits for failing in failings)),
    )


def _size(case: Case) -> int:
    """The bytes of all messages of a case."""
    return sum(written.message.size for written in case.written)
