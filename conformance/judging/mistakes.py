"""A format's findings as few mistakes: what all failing messages share and no passing one has, in
the order of repair.

A symptom (rows lost, an image where none is owed, another value that differs by 8 h, ...) is looked
at in its population (`conformance.judging.traits`): the few traits that the most failing units
have, and no unit without the symptom has, are the mistake; what they do not explain goes on to the
next. Nothing here moves a verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from conformance.judging import symptoms
from conformance.judging.judge import CELL, CaseResult, Finding
from conformance.judging.results import FormatResult
from conformance.judging.symptoms import BySymptom
from conformance.judging.traits import NEARLY, SORTS, Failing, Population, Trait, Traits, Unit
from conformance.judging.wording import said
from conformance.rules.rules import Aspect, Obligation, Rule
from generators.model import Case, Kind, Logical

Place: TypeAlias = tuple[str, int, int, str, str | None]
"""Case, message, row, side and column of a finding."""

MOST: Final = 10
"""Mistakes that are named."""
_ALIKE: Final = 0.95
"""Share of the cases of two mistakes that they must have in common to be one."""
_WIDE: Final = 3
"""How many times the cases of a vague mistake another may have to be its explanation."""
_OPS: Final = frozenset({"op", "kind"})
_OF_VALUES: Final = frozenset(
    {"kin", "class", "type", "family", "negative", "unsigned", "held", "like"}
)
"""Sorts of traits on what a value is."""
_OF_ROWS: Final = frozenset({"op", "image", "side", "changed", "unchanged"})
"""Sorts of traits on where a value stands."""
_OF_NAMES: Final = frozenset({"sign", "long", "capital", "small"})
"""Sorts of traits on a column's name."""
_COMMON: Final = _OF_VALUES | {"op", "image", "bare"}
"""Sorts of traits of which a common one makes one mistake."""
_ZEROS: Final = frozenset(
    (*of, cls)
    for of in ((), ("date",), ("datetime",), ("timestamp",))
    for cls in ("zero", "partial-zero")
)
"""Words of the traits on dates that no calendar has, which decoders treat apart."""
_CONTENTS: Final = frozenset({Logical.TEXT.value, Logical.JSON.value, Logical.BINARY.value})
"""Families whose classes are no ranges, but what a value holds."""
_MEMBERS: Final = frozenset({"null", "empty"})
"""Sorts of traits on a document's members."""
_SOME: Final = "some"
"""The word for what no trait explains."""
_DRAWN: Final = "a fault that was drawn"
_FAULT: Final = "fault:"
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
LARGE: Final = 0.15
"""Share of a mistake's units that is told by a noun of its own."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """What a decoder does wrong: the traits of the failing units, the sentence, the ids of the
    broken rules and the most binding of their obligations, the ids of the cases that it explains,
    what is broken in them (case, message, row, side, column), and a finding of the smallest of them
    with its result, the traits that all have (`shared`).
    """

    traits: Traits
    sentence: str
    rules: tuple[str, ...]
    obligation: Obligation
    cases: frozenset[str]
    broken: frozenset[Place]
    finding: Finding
    result: CaseResult
    shared: frozenset[Trait]


_KEPT: Final[WeakKeyDictionary[FormatResult, dict[bool, list[Mistake]]]] = WeakKeyDictionary()


def mistakes(result: FormatResult, *, strict: bool = False) -> list[Mistake]:
    """The mistakes of a format's failing cases, what to repair first before the rest; with `strict`
    those of SHOULD rules too. They are kept as long as the result is, since every report tells
    them.
    """
    kept = _KEPT.setdefault(result, {})
    if strict not in kept:
        kept[strict] = _mistakes(result, strict)
    return kept[strict]


def _mistakes(result: FormatResult, strict: bool) -> list[Mistake]:
    rules = {rule_result.rule.id: rule_result.rule for rule_result in result.rules}
    asked = {Obligation.MUST, Obligation.SHOULD} if strict else {Obligation.MUST}
    population = Population(
        result.cases, {id_ for id_, rule in rules.items() if rule.obligation in asked}
    )
    failings: list[tuple[Trait, Failing]] = []
    by_law: dict[str, list[Failing]] = defaultdict(list)
    for case in result.cases:
        for finding in case.findings:
            rule = rules[finding.rule]
            if finding.rule in case.known or rule.obligation not in asked:
                continue
            symptom = symptoms.symptom_of(finding, case.case)
            unit = place(finding) if symptom[0] in symptoms.OF_CELLS else place(finding)[:3]
            failing = Failing(
                unit,
                population.traits(symptoms.population_of(symptom), finding, case.case),
                finding,
                case,
            )
            if rule.law:
                by_law[rule.id].append(failing)
            else:
                failings.append((symptom, failing))
    by_symptom: dict[Trait, dict[Unit, Failing]] = defaultdict(dict)
    for symptom, failing in symptoms.of_rows(symptoms.by_no_chance(failings, population)):
        by_symptom[symptom].setdefault(failing.unit, failing)
    by_symptom = symptoms.differing(symptoms.of_the_other_image(by_symptom))
    chance = next((some for id_, some in by_law.items() if rules[id_].law == "batch"), [])
    named = [
        _mistake(traits, sentence, some, rules)
        for symptom in by_symptom
        for traits, sentence, some in _explained(symptom, by_symptom, population, bool(chance))
    ]
    named += [
        _mistake((), f"not kept: {rules[id_].statement.rstrip('.')}", some, rules)
        for id_, some in by_law.items()
    ]
    return sorted(
        _merged(named),
        key=lambda m: (m.obligation is not Obligation.MUST, -len(m.cases), m.sentence),
    )


def place(finding: Finding) -> Place:
    """Where a finding is."""
    return finding.case, finding.message, finding.row, finding.side, finding.column


_HIDING: Final = frozenset({"missing", "corrupt"})
"""Symptoms of rows that did not come out: nothing else is known of them."""
_OP: Final[Trait] = ("op", "")
_ROW: Final[Trait] = ("row",)
_SHORT: Final = frozenset({"op", "kind"})
"""Sorts of traits whose noun goes on without `and`."""
_UNITS: Final = (
    dict.fromkeys(symptoms.OF_FAULTS, "message")
    | dict.fromkeys(symptoms.OF_CELLS, "value")
    | {"presence": "column"}
)
_SAID: Final = said("said")
"""What is said of units with a symptom, by its sort."""


@dataclass(frozen=True, slots=True)
class _Named:
    """Units that fail with a symptom, and the traits that they share; () for those that nothing
    tells from others.
    """

    traits: Traits
    some: list[Failing]
    sure: bool

    @property
    def families(self) -> frozenset[str]:
        """The types' families of the units."""
        return frozenset(failing.family for failing in self.some if failing.family)

    def shared(self, sorts: Collection[str]) -> frozenset[Trait]:
        """The traits of these sorts that all of them have."""
        return frozenset(trait for trait in self.everywhere if trait[0] in sorts)

    @property
    def everywhere(self) -> frozenset[Trait]:
        """The traits that all of them have."""
        return frozenset.intersection(*(failing.traits for failing in self.some))


def _explained(
    symptom: Trait, by_symptom: BySymptom, population: Population, by_chance: bool
) -> Iterator[tuple[Traits, str, list[Failing]]]:
    """Traits and sentences on a symptom with what each explains: greedily the traits of the most
    failing units.
    """
    left, named = list(by_symptom[symptom].values()), list[_Named]()
    verb, unit = partial(_sentence, symptom), _UNITS.get(symptom[0], "row")
    if symptom in (symptoms.SHUFFLED, symptoms.SWAPPED):
        yield (symptom,), verb(""), left
        return
    bad = _bad(symptom, by_symptom)
    while left and len(named) < MOST:
        traits, sure = population.guilty(symptoms.population_of(symptom), bad, left)
        some = [failing for failing in left if failing.traits.issuperset(traits)]
        if symptom[0] in symptoms.OF_FAULTS and (
            not traits or traits[0][0] == "fault" or len(some) < NEARLY * len(left)
        ):
            shared = frozenset.intersection(*(failing.traits for failing in left))
            yield (
                tuple(sorted(trait for trait in shared if trait[0] in _MEMBERS)),
                verb(f"a message with {_faults(left)}"),
                left,
            )
            return
        if symptom[0] in symptoms.OF_FAULTS:
            some = left
        if by_chance and (not traits or len(some) < RARE * len(left)):
            yield (), f"{verb(f'{_SOME} {unit}')} only among certain other messages", left
            left = []
            break
        parts = _by_family(some) if symptom[0] in symptoms.OF_CELLS and not traits else {"": some}
        named += [_Named(traits, part, sure) for part in parts.values()]
        left = (
            []
            if symptom[0] in symptoms.OF_FAULTS
            else [failing for failing in left if not failing.traits.issuperset(traits)]
        )
    unnamed = _by_family(left) if symptom[0] in symptoms.OF_CELLS else {"": left} if left else {}
    named += [_Named((), part, False) for part in unnamed.values()]
    for group in _together(symptom, named):
        whole = [units for units in group if units.traits[:1] and units.traits[0][0] == "family"]
        shown = [units for units in whole or group if units.traits]
        total = sum(len(units.some) for units in shown)
        large = [units for units in shown if len(units.some) >= LARGE * total] or shown[:1]
        each = ("every " if large[0].sure else "nearly every ") if large else ""
        of_kind = (
            frozenset.intersection(*(units.shared(("kind",)) for units in group))
            if unit == "row"
            else ()
        )
        what = next((f"{kind} message" for _, kind in of_kind), unit)
        family = group[0].families if len(group[0].families) == 1 else ()
        rest_of = f"{_SOME} {what}" + "".join(f" of the {name} types" for name in family)
        first, *rest = [
            _noun(traits, what) for traits in _alternatives(units.traits for units in large)
        ] or [rest_of]
        others = " and others" if len(large) < len(shown) or len(rest) >= NOUNS else ""
        if symptom[0] == "field" or symptoms.OF_THE_OTHER in symptom[-1]:
            others, rest = " and others" if rest or others else "", []
        also = (
            noun.removeprefix(f"{what} ") if noun.startswith(what) else f"every {noun}"
            for noun in rest[: NOUNS - 1]
        )
        nouns = each + ", ".join((first, *also)) + others
        traits = group[0].traits or tuple(("family", name) for name in family)
        some = [failing for units in group for failing in units.some]
        ops = ", ".join(dict.fromkeys(failing.finding.actual for failing in some))
        yield traits, _sentence(("op", ops), nouns) if symptom == _OP else verb(nouns), some


def _alternatives(several: Iterable[Traits]) -> list[Traits]:
    """The traits, where those that differ in the last word of one alone are one, with all such
    words.
    """
    out: list[Traits] = []
    for traits in several:
        for number, others in enumerate(out):
            apart = [pair for pair in zip(traits, others, strict=False) if pair[0] != pair[1]]
            mine, theirs = apart[0] if len(apart) == 1 and len(traits) == len(others) else ((), ())
            if mine[:-1] == theirs[:-1] != ():
                joined = (*mine[:-1], f"{theirs[-1]}, {mine[-1]}")
                out[number] = tuple(joined if trait == theirs else trait for trait in others)
                break
        else:
            out.append(traits)
    return out


def _noun(traits: Traits, unit: str) -> str:
    """What is told of."""
    traits = tuple(trait for trait in traits if trait != _ROW) or traits
    phrase, *rest = [SORTS[sort].format(*words, unit=unit) for sort, *words in traits]
    for (sort, *_), noun in zip(traits, rest, strict=False):
        phrase += f"{' ' if sort in _SHORT else ' and '}{noun.removeprefix(f'{unit} ')}"
    return phrase


def _sentence(symptom: Trait, noun: str) -> str:
    return _SAID[symptom[0]].format(noun, *symptom[1:])


def _bad(symptom: Trait, by_symptom: BySymptom) -> Sequence[frozenset[Trait]]:
    """The traits of the units that fail with the symptom, or so that they show nothing of a trait's
    innocence: a value that is wrong otherwise, a row that did not come out.
    """
    bad: dict[Unit, frozenset[Trait]] = {}
    for other, some in by_symptom.items():
        hides = (
            symptoms.population_of(symptom) != "rows"
            or other[0] in _HIDING
            or (other[0] == "op" and symptom[0] == "image")
        )
        alike = {symptoms.population_of(other), symptoms.population_of(symptom)} <= {
            "there",
            "values",
        }
        if other == symptom or (
            hides and (alike or symptoms.population_of(other) == symptoms.population_of(symptom))
        ):
            bad |= {unit: failing.traits for unit, failing in some.items()}
    return tuple(bad.values())


def _faults(left: Iterable[Failing]) -> str:
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for case in (failing.result.case for failing in left):
        names[min((tag for tag in case.tags if tag.startswith(_FAULT)), default="")][
            case.fault or _DRAWN
        ] = None
    faults = [
        tag.removeprefix(_FAULT) if len(some) > NAMES else name
        for tag, some in names.items()
        for name in some
    ]
    faults = list(dict.fromkeys(faults))
    return ", ".join(islice(faults, FAULTS)) + (
        f" and {len(faults) - FAULTS} more" if len(faults) > FAULTS else ""
    )


def _by_family(some: Iterable[Failing]) -> dict[str, list[Failing]]:
    out: dict[str, list[Failing]] = defaultdict(list)
    for failing in some:
        out[failing.family].append(failing)
    return out


def _is_single(symptom: Trait) -> bool:
    """Whether all that has the symptom is one mistake: a field's, values of the other image, values
    for NULLs.
    """
    return (
        symptom[0] == "field"
        or symptoms.NO_COLUMNS in symptom
        or symptom == symptoms.NOT_NULL
        or (symptom[0] == "op" and symptom[1] in (symptoms.OTHER_LETTERS, *Kind))
        or (
            symptom[0] == "value"
            and (symptom[1].endswith(symptoms.OF_THE_OTHER) or symptoms.COMES_AS in symptom[1])
        )
    )


def _together(symptom: Trait, named: Sequence[_Named]) -> Iterator[list[_Named]]:
    """What is one mistake: a field's; what has a trait of another in common; rows of one op or
    kind, columns of an image of one op, values of one family of types, unless two traits tell them
    apart; what no trait tells goes to what has its families.
    """
    groups: list[list[_Named]] = []
    for part in named:
        first = (
            groups[:1]
            if _is_single(symptom)
            else [group for group in groups if part.shared(_COMMON) & set(group[0].traits)]
        )
        alike = _alike_cells if symptom[0] in symptoms.OF_CELLS else _alike_rows
        for group in first or [group for group in groups if alike(symptom, group[0], part)]:
            group.append(part)
            break
        else:
            groups.append([part])
    return iter(groups)


def _alike_rows(_symptom: Trait, first: _Named, part: _Named) -> bool:
    mine, theirs = part.shared(_OPS), first.shared(_OPS)
    rest = not part.traits and len(part.some) <= symptoms.REST * len(first.some)
    return rest or (bool(mine & theirs) and (mine <= theirs or theirs <= mine))


def _alike_cells(symptom: Trait, first: _Named, part: _Named) -> bool:
    if not part.traits or (
        symptom == symptoms.NOT_THERE and part.shared(("image",)) & first.shared(("image",))
    ):
        return bool(part.families & first.families) or bool(part.traits)
    alike = part.families <= first.families or first.families <= part.families
    return alike and (
        bool(symptoms.hint_of(symptom))
        or not _are_apart(part.traits, first.traits, symptom == symptoms.NOT_THERE)
    )


def _are_apart(some: Traits, others: Traits, of_names: bool) -> bool:
    """Whether the traits are of two mistakes: signs of a name, what texts hold, a zero date, a
    value and its row.
    """
    sorts, theirs = ({trait[0] for trait in traits} for traits in (some, others))
    if sorts | theirs <= _OF_NAMES:
        return some != others
    zero, other = (
        any(trait[0] in ("like", "kin") and trait[1:] in _ZEROS for trait in traits)
        for traits in (some, others)
    )
    plain = [each & (_OF_VALUES | _OF_ROWS) for each in (sorts, theirs)]
    of_row = any(each and each <= _OF_ROWS for each in plain) and any(
        each & _OF_VALUES for each in plain
    )
    if zero is not other or (of_row and not of_names):
        return True
    large = all(
        words[-1].startswith("of over") for sort, *words in (*some, *others) if sort == "held"
    )
    families = {word for each in (some, others) for trait in each[:1] for word in trait[1:2]}
    held = {"held"} in (sorts, theirs) and (sorts == theirs or families <= _CONTENTS)
    words = sorts == theirs == {"kin"} and some[0][1] == others[0][1] == Logical.TEXT.value
    return some != others and (words or (held and not large))


def _mistake(
    traits: Traits, sentence: str, some: Sequence[Failing], rules: Mapping[str, Rule]
) -> Mistake:
    """The mistake with the smallest of its cases."""
    small = min(
        some,
        key=lambda failing: (
            failing.result.case.deployment.compression != "none",
            _size(failing.result.case),
        ),
    )
    broken = tuple(dict.fromkeys(failing.finding.rule for failing in some))
    must = any(rules[rule].obligation is Obligation.MUST for rule in broken)
    cases = frozenset(failing.result.case.id for failing in some)
    places = frozenset(place(failing.finding) for failing in some)
    obligation = Obligation.MUST if must else Obligation.SHOULD
    shared = frozenset.intersection(*(failing.traits for failing in some))
    return Mistake(
        traits, sentence, broken, obligation, cases, places, small.finding, small.result, shared
    )


def _size(case: Case) -> int:
    return sum(written.message.size for written in case.written)


def _merged(named: Iterable[Mistake]) -> list[Mistake]:
    """Mistakes on the same cases, or messages of the same member, are one; one that nothing
    explains belongs to another that has its cases, too.
    """
    kept: list[Mistake] = []
    for mistake in sorted(named, key=_leading):
        for number, other in enumerate(kept):
            leads = _leads(other)
            follows = _vague(mistake) or leads
            wide = not leads and len(other.cases) > _WIDE * len(mistake.cases)
            vague = follows and not wide and _alike(mistake.cases, mistake.cases & other.cases)
            member = bool(other.traits) and all(
                trait[0] in _MEMBERS and trait in mistake.traits for trait in other.traits
            )
            member |= all(
                len(each) == 1 and each[0][0] == "bare" for each in (mistake.traits, other.traits)
            )
            member |= (other.traits, mistake.traits) == ((symptoms.SHUFFLED,), (("later",),))
            # Of the same values it is one mistake, whatever the hints.
            wrong = all(f" {symptoms.WRONG[1]}" in each.sentence for each in (mistake, other))
            member |= wrong and bool(mistake.traits and other.traits) and _holds(mistake, other)
            aspects = {mistake.finding.aspect, other.finding.aspect}
            apart = Aspect.FIELD in aspects and not aspects.isdisjoint(CELL)
            apart |= mistake.traits != other.traits and {
                trait[0] for trait in (*mistake.traits, *other.traits)
            } == {"sign"}
            apart |= (
                other.traits == (symptoms.SWAPPED,) and mistake.finding.aspect is Aspect.PRESENCE
            )
            if not apart and (vague or member or _alike(mistake.cases, other.cases)):
                rules, cases = (
                    tuple(dict.fromkeys((*other.rules, *mistake.rules))),
                    other.cases | mistake.cases,
                )
                kept[number] = replace(
                    other, rules=rules, cases=cases, broken=other.broken | mistake.broken
                )
                break
        else:
            kept.append(mistake)
    return kept


def _holds(mistake: Mistake, other: Mistake) -> bool:
    """Whether all units of one have the other's traits, which tell what the values hold, or nothing
    but a family is told.
    """
    pairs = (mistake, other), (other, mistake)
    contents = any(
        trait[0] == "held" for trait in mistake.traits + other.traits
    ) or mistake.sentence.startswith(_SOME)
    return mistake.traits == other.traits or (
        contents and any(each.shared.issuperset(theirs.traits) for each, theirs in pairs)
    )


def _vague(mistake: Mistake) -> bool:
    return not mistake.traits and mistake.sentence.startswith(_SOME)


def _leads(mistake: Mistake) -> bool:
    """Whether it spoils a row's other values, too."""
    return mistake.traits in (
        (symptoms.SHUFFLED,),
        (symptoms.SWAPPED,),
    ) or mistake.sentence.endswith(symptoms.OF_THE_OTHER)


def _leading(mistake: Mistake) -> tuple[bool, bool, int]:
    """The vague ones last, those that spoil a row's other values first."""
    return _vague(mistake), not _leads(mistake), -len(mistake.cases)


def _alike(some: Collection[str], others: Collection[str]) -> bool:
    return len(set(some) & set(others)) >= _ALIKE * len(set(some) | set(others))
