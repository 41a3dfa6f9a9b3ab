"""A format's findings as few mistakes: what all failing messages share and no passing one has, in the order of repair.

A symptom (rows lost, an image where none is owed, another value that differs by 8 h, ...) is looked at in its population
(`conformance.judging.traits`): the few traits that the most failing units have, and no unit without the symptom has, are the
mistake; what they do not explain goes on to the next. Nothing here moves a verdict.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final, TypeAlias

from conformance.judging.causes import cell_of, change_of
from conformance.judging.compare import ACCEPTED
from conformance.judging.hints import CASE, COLUMN, OF_TEXTS, SIGN, WIDER, held_text, hint, kind_of, owed_text, texts
from conformance.judging.judge import CELL, NO_OUTPUT, CaseResult, Finding
from conformance.judging.results import FormatResult
from conformance.judging.traits import NEARLY, SORTS, Failing, Population, Trait, Traits, Unit
from conformance.rules.rules import Aspect, Obligation, Rule
from generators.model import Case, Kind, Logical, Op, State

Place: TypeAlias = tuple[str, int, int, str, str | None]
"""Case, message, row, side and column of a finding."""
BySymptom: TypeAlias = Mapping[Trait, dict[Unit, Failing]]

MOST: Final = 10
"""Mistakes that are named."""
_ALIKE: Final = 0.95
"""Share of the cases of two mistakes that they must have in common to be one."""
_FAMILIES: Final = 3
"""Families of types of which a hint is no chance."""
_SEVERAL: Final = 3
"""Cases of which what they have in common is no chance."""
_REST: Final = 0.1
"""Share of a mistake's units that what no trait explains has at most, to be its rest."""
_WIDE: Final = 3
"""How many times the cases of a vague mistake another may have to be its explanation."""
_OPS: Final = frozenset({"op", "kind"})
_OF_VALUES: Final = frozenset({"kin", "class", "type", "family", "negative", "unsigned", "held", "like"})
"""Sorts of traits on what a value is."""
_OF_ROWS: Final = frozenset({"op", "image", "side", "changed", "unchanged"})
"""Sorts of traits on where a value stands."""
_OF_NAMES: Final = frozenset({"sign", "long", "capital", "small"})
"""Sorts of traits on a column's name."""
_COMMON: Final = _OF_VALUES | {"op", "image", "bare"}
"""Sorts of traits of which a common one makes one mistake."""
_ZEROS: Final = frozenset((*of, cls) for of in ((), ("date",), ("datetime",), ("timestamp",)) for cls in ("zero", "partial-zero"))
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
LARGE: Final = 0.15
"""Share of a mistake's units that is told by a noun of its own."""
_CLASS: Final = " in the class "


@dataclass(frozen=True, slots=True)
class Mistake:
    """What a decoder does wrong: the traits of the failing units, the sentence, the ids of the broken rules and the most binding
    of their obligations, the ids of the cases that it explains, what is broken in them (case, message, row, side, column), and a
    finding of the smallest of them with its result."""

    traits: Traits
    sentence: str
    rules: tuple[str, ...]
    obligation: Obligation
    cases: frozenset[str]
    broken: frozenset[Place]
    finding: Finding
    result: CaseResult
    shared: frozenset[Trait]


def mistakes(result: FormatResult, *, strict: bool = False) -> list[Mistake]:
    """The mistakes of a format's failing cases, what to repair first before the rest; with `strict` those of SHOULD rules too."""
    rules = {one.rule.id: one.rule for one in result.rules}
    asked = {Obligation.MUST, Obligation.SHOULD} if strict else {Obligation.MUST}
    population = Population(result.cases, {id_ for id_, rule in rules.items() if rule.obligation in asked})
    found: list[tuple[Trait, Failing]] = []
    by_law: dict[str, list[Failing]] = defaultdict(list)
    for case in result.cases:
        for finding in case.findings:
            rule = rules[finding.rule]
            if finding.rule in case.known or rule.obligation not in asked:
                continue
            symptom = _symptom(finding, case.case)
            unit = place(finding) if symptom[0] in _OF_CELLS else place(finding)[:3]
            failing = Failing(unit, population.traits(_which(symptom), finding, case.case), finding, case)
            if rule.law:
                by_law[rule.id].append(failing)
            else:
                found.append((symptom, failing))
    by_symptom: dict[Trait, dict[Unit, Failing]] = defaultdict(dict)
    for symptom, failing in _of_rows(_by_no_chance(found, population)):
        by_symptom[symptom].setdefault(failing.unit, failing)
    by_symptom = _differing(_of_the_other_image(by_symptom))
    chance = next((some for id_, some in by_law.items() if rules[id_].law == "batch"), [])
    named = [
        _mistake(traits, sentence, some, rules)
        for symptom in by_symptom
        for traits, sentence, some in _explained(symptom, by_symptom, population, bool(chance))
    ]
    named += [_mistake((), f"not kept: {rules[id_].statement.rstrip('.')}", some, rules) for id_, some in by_law.items()]
    return sorted(_merged(named), key=lambda one: (one.obligation is not Obligation.MUST, -len(one.cases), one.sentence))


def place(finding: Finding) -> Place:
    """Where a finding is."""
    return finding.case, finding.message, finding.row, finding.side, finding.column


_CUT: Final = "cut"
_EMPTY: Final = ("{}", "{...}")
_NO_COLUMNS: Final = "an image of no columns where it has none"
_OTHER_LETTERS: Final = "the same word in capital or small letters"
_IMAGES: Final = "image's"
"""How a hint ends that finds a value in the row's other image."""
_OTHER: Final = {"before": "after", "after": "before"}
_COMES_AS: Final = "it comes as "
"""How a hint begins on a value of another Spark type."""
_WRONG: Final[Trait] = ("value", "is wrong")
_AS_TEXT: Final[Trait] = ("value", f"is wrong: {_COMES_AS}string")
_TEXTS: Final = frozenset({Logical.TEXT.value, Logical.JSON.value})
_OFF: Final = re.compile(r", ([^,]+ (?:later|earlier)); the deployment's")
"""How far an instant is off, which an actual value tells where no hint does."""
_OF_CELLS: Final = frozenset({"presence", "value", "shuffled", "swapped"})
_SHUFFLED: Final[Trait] = ("shuffled",)
"""The symptom of a value that is another row's: the row's other cells are wrong in other ways."""
_SWAPPED: Final[Trait] = ("swapped",)
"""The same for a value of another column of the row."""
_HIDING: Final = frozenset({"missing", "corrupt"})
"""Symptoms of rows that did not come out: nothing else is known of them."""
_NULL: Final[Trait] = ("value", "is NULL")
_NOT_NULL: Final[Trait] = ("value", "is not NULL")
_NOT_THERE: Final[Trait] = ("presence", "is not there")
_UNOWED: Final[Trait] = ("presence", "comes out though the message does not have it")
_OP: Final[Trait] = ("op", "")
_ROW: Final[Trait] = ("row",)
_SHORT: Final = frozenset({"op", "kind"})
"""Sorts of traits whose noun goes on without `and`."""
_OF_FAULTS: Final = frozenset({"vanishes", "accepted"})
_UNITS: Final = {**dict.fromkeys(_OF_FAULTS, "message"), **dict.fromkeys(_OF_CELLS, "value"), "presence": "column"}
_SAID: Final[Mapping[str, str]] = {
    "missing": "{0} is lost",
    "corrupt": "{0} is refused",
    "extra": "{0} comes out more than once, or from nothing",
    "op": "{0} comes out as {1}",
    "field": "the column {1} is wrong for {0}{2}",
    "image": "{0} comes out {2} {1}",
    "presence": "{0} {1}",
    "value": "{0} {1}",
    "shuffled": "the rows of a message have each other's values",
    "swapped": "the columns of a row have each other's values",
    "vanishes": "{0}, which cannot be read, vanishes without a CORRUPT row",
    "accepted": "{0}, which cannot be read, is accepted",
}
"""What is said of units with a symptom, by its sort."""


def _symptom(finding: Finding, case: Case, *, elsewhere: bool = True) -> Trait:
    """What is wrong, and where it matters how."""
    change, cell = change_of(finding, case), cell_of(finding, case)
    unreadable = bool(case.fault) if change is None else change.kind is Kind.CORRUPT
    match finding.aspect:
        case Aspect.ACCEPTED | Aspect.MISSING | Aspect.KIND if unreadable:
            rows = finding.actual.split("; ")
            if len(rows) > 1 and all(row.startswith(Kind.CORRUPT) for row in rows):
                return (Aspect.EXTRA.value,)
            return ("vanishes",) if finding.actual == NO_OUTPUT else ("accepted",)
        case Aspect.MISSING | Aspect.EXTRA | Aspect.CORRUPT:
            return (finding.aspect.value,)
        case Aspect.KIND | Aspect.OP:
            kind = finding.actual if finding.aspect is Aspect.KIND else ""
            letters = any(texts(one, finding.actual) == CASE for one in finding.expected.split(" or "))
            return "op", _OTHER_LETTERS if letters else kind
        case Aspect.FIELD:
            said = _short(texts(finding.expected, finding.actual))
            return "field", finding.path, f": {said}" if said else ""
        case Aspect.IMAGE:
            article = "an" if finding.side == "after" else "a"
            other = change.image("before" if finding.side == "after" else "after", case.level) if change else None
            if finding.expected == "NULL" and finding.actual in _EMPTY and other != {}:
                return "image", _NO_COLUMNS, "with"
            return "image", f"{finding.side} image", f"with {article}" if finding.expected == "NULL" else "without its"
        case Aspect.PRESENCE if finding.expected == "present":
            return _NOT_THERE
        case Aspect.PRESENCE:
            return _NOT_NULL if case.level == 2 else _UNOWED
        case Aspect.NULL:
            if cell is None or cell.state is not State.NULL:
                return _NULL
            said = hint(finding, case, change, cell)
            return _SWAPPED if said.startswith(COLUMN) else _NOT_NULL
    said = hint(finding, case, change, cell, elsewhere=elsewhere)
    if not said and (off := _OFF.search(finding.actual)):
        said = off[1]
    if said.startswith("the actual value is row "):
        return _SHUFFLED
    if said.startswith(COLUMN):
        return _SWAPPED
    kind = kind_of(finding.actual) if case.level == 2 and not said.endswith(_IMAGES) else ""
    if kind and cell is not None and kind not in ACCEPTED[cell.type.logical]:
        said = f"{_COMES_AS}{kind}"
    return "value", f"is wrong: {_short(said)}" if said else "is wrong"


def _short(said: str) -> str:
    return _CUT if said.startswith(_CUT) else said


def _by_no_chance(found: Sequence[tuple[Trait, Failing]], population: Population) -> list[tuple[Trait, Failing]]:
    """The symptoms, where few families of types have a value of another image or row by chance; and where several
    families come as texts, all texts of other types do."""
    families: dict[Trait, Counter[str]] = defaultdict(Counter)
    for symptom, one in found:
        families[symptom][one.family] += 1
    wrong = sum((some for symptom, some in families.items() if _wrong(symptom) or _is_elsewhere(symptom)), Counter[str]())
    for symptom, one in found:
        image = (
            ("value", f"{_WRONG[1]}: the actual value is the {_OTHER[one.finding.side]} {_IMAGES}") if symptom == _NULL else ()
        )
        if image in families and _as_in_the_other_image(one):
            families[image][one.family] += 1
    chance = {symptom for symptom, some in families.items() if _are_few(symptom, some, wrong, population)}
    as_text = len(families[_AS_TEXT]) >= _FAMILIES
    out: list[tuple[Trait, Failing]] = []
    for symptom, one in found:
        if symptom in chance:
            symptom = _symptom(one.finding, one.result.case, elsewhere=False)
        if as_text and _wrong(symptom) and one.family not in _TEXTS and kind_of(one.finding.actual) == "string":
            symptom = _AS_TEXT
        out.append((symptom, one))
    return out


def _are_few(symptom: Trait, some: Mapping[str, int], wrong: Mapping[str, int], population: Population) -> bool:
    """Whether it is by chance that values of so few families, and few of those that are wrong, are another image's, row's or
    column's."""
    if not _is_elsewhere(symptom) or any(number >= NEARLY * wrong[family] for family, number in some.items()):
        return False
    trait, least = {_SHUFFLED: (("several",), 2), _SWAPPED: (("any",), 2)}.get(symptom, (("op", Op.UPDATE.value), _FAMILIES))
    return len(some) < min(least, len(population.families(trait)))


def _is_elsewhere(symptom: Trait) -> bool:
    return symptom in (_SHUFFLED, _SWAPPED) or (symptom[0] == "value" and symptom[1].endswith(_IMAGES))


def _which(symptom: Trait) -> str:
    """The population of a symptom."""
    if symptom[0] == "value" and not symptom[1].endswith(_IMAGES):
        return "nulls" if symptom == _NOT_NULL else "values"
    if symptom == _UNOWED:
        return "absent"
    return "faults" if symptom[0] in _OF_FAULTS else "there" if symptom[0] in _OF_CELLS else "rows"


def _of_rows(found: Sequence[tuple[Trait, Failing]]) -> Iterator[tuple[Trait, Failing]]:
    """The symptoms, where what is wrong in an image as a whole is one: a column under another name, cells of other columns."""
    images: dict[Unit, dict[Trait, list[Failing]]] = defaultdict(lambda: defaultdict(list))
    for symptom, one in found:
        images[one.unit[:4]][symptom].append(one)
    swapped = {unit for unit, here in images.items() if here[_SWAPPED] and _are_swapped(here)}
    several = len({unit[0] for unit in swapped}) >= _SEVERAL
    cells = [one.unit[:4] in swapped for symptom, one in found if symptom[0] == "value"]
    most = several and sum(cells) >= NEARLY * len(cells)
    shuffled = {one.unit[:2] for symptom, one in found if symptom == _SHUFFLED}
    for symptom, one in found:
        here, spoilt = images[one.unit[:4]], several and one.unit[:4] in swapped
        if symptom == _UNOWED and here[_NOT_THERE]:
            yield _NOT_THERE, replace(one, traits=here[_NOT_THERE][0].traits)
        elif symptom[0] == "value" and (spoilt or (most and (here[_SWAPPED] or not _tells(symptom)))):
            yield _SWAPPED, one
        elif one.unit[:2] in shuffled and symptom in (_NULL, _NOT_NULL, _WRONG, _NOT_THERE):
            yield _SHUFFLED, one
        elif symptom == _SWAPPED and not spoilt:
            yield (_NOT_NULL if one.finding.aspect is Aspect.NULL else _WRONG), one
        else:
            yield symptom, one


def _are_swapped(here: Mapping[Trait, Sequence[Failing]]) -> bool:
    """Whether of an image's cells with other values, which are several, half hold what others of them should."""
    wrong = [_owed_and_held(one) for symptom, some in here.items() if symptom[0] in _OF_CELLS for one in some]
    owed, held = (Counter(pair[number] for pair in wrong if pair[0] != pair[1]) for number in (0, 1))
    return owed.total() > 1 and 2 * (owed & held).total() >= owed.total()


def _owed_and_held(one: Failing) -> tuple[str, str]:
    case = one.result.case
    return owed_text(cell_of(one.finding, case), case.level), held_text(one.finding.actual, case.level)


def _of_the_other_image(by_symptom: BySymptom) -> dict[Trait, dict[Unit, Failing]]:
    """The symptoms, where a NULL, a value or a column that its row's other image has, too, goes with values that are the other
    image's, if the run has such values on that side of that op."""
    found = {symptom: some for symptom, some in by_symptom.items() if _wrong(symptom) and symptom[1].endswith(_IMAGES)}
    sides = {_side(one): symptom for symptom, some in found.items() for one in some.values() if _SHUFFLED not in by_symptom}
    out: dict[Trait, dict[Unit, Failing]] = defaultdict(dict)
    for symptom, some in by_symptom.items():
        for unit, one in some.items():
            other = sides.get(_side(one)) if symptom[0] in (*_OF_CELLS, "image") and not _wrong(symptom) else None
            out[other if other and _as_in_the_other_image(one) else symptom][unit] = one
    return out


def _side(one: Failing) -> tuple[str, Op | None]:
    change = change_of(one.finding, one.result.case)
    return one.finding.side, change.op if change else None


def _as_in_the_other_image(one: Failing) -> bool:
    """Whether the actual cell is NULL, a value, or not there, as that of the other image is."""
    finding, case = one.finding, one.result.case
    change = change_of(finding, case)
    image = change.image("before" if finding.side == "after" else "after", case.level) if change else None
    cell = (image or {}).get(finding.column or "")
    if finding.aspect is Aspect.IMAGE:
        return (image is None) == (finding.expected != "NULL")
    if finding.aspect is Aspect.PRESENCE:
        return (cell is None or cell.state is State.ABSENT) == (finding.expected == "present")
    return cell is not None and (cell.state is State.NULL) == (finding.actual == "NULL")


def _wrong(symptom: Trait) -> bool:
    return symptom[0] == "value" and symptom[1].startswith(_WRONG[1])


def _said(symptom: Trait) -> str:
    return symptom[-1].partition(": ")[2]


def _tells(symptom: Trait) -> bool:
    """Whether a hint on wrong values leaves nothing to explain."""
    said = _said(symptom)
    return said.endswith(_IMAGES) or said.startswith((SIGN, _CUT, _COMES_AS, *OF_TEXTS))


def _plain(symptom: Trait) -> Trait:
    """The symptom without its hint."""
    return _WRONG if symptom[0] == "value" else (*symptom[:-1], "")


def _differing(by_symptom: BySymptom) -> dict[Trait, dict[Unit, Failing]]:
    """The symptoms, where wrong values of one family of types (or of one field) are one: with the hint that nearly all have, or
    with none. What a hint explains as a whole (characters that are lost, the other image's value) stays apart, unless it is said
    of few of them: of values of the other image that are of several families it is no chance. So does a class of values that
    are all wrong otherwise."""
    families: dict[str, dict[Trait, list[Failing]]] = defaultdict(lambda: defaultdict(list))
    out: dict[Trait, dict[Unit, Failing]] = defaultdict(dict)
    for symptom, some in by_symptom.items():
        if _wrong(symptom) or symptom[0] == "field":
            wider = (*symptom[:-1], symptom[-1].replace(_said(symptom), WIDER.get(_said(symptom), "")))
            told = wider if wider in by_symptom else symptom
            for one in some.values():
                families[one.family][told].append(one)
        else:
            out[symptom] = some
    for found in families.values():
        most = max(found, key=lambda told: len(found[told]))
        total = sum(len(some) for symptom, some in found.items() if not symptom[-1].endswith(_IMAGES))
        apart = {symptom for symptom, some in found.items() if symptom != most and _is_apart(symptom, some, total, families)}
        one_hint = len(found[most]) >= NEARLY * sum(len(mine) for symptom, mine in found.items() if symptom not in apart)
        for symptom, mine in found.items():
            for one in mine:
                if symptom in apart or (symptom == most and (one_hint or _tells(most))):
                    named = symptom
                else:
                    named = most if one_hint and not _own_class(one, found[most], mine) else _plain(symptom)
                out[named][one.unit] = one
    return out


def _is_apart(symptom: Trait, some: Sequence[Failing], total: int, families: Mapping[str, Collection[Trait]]) -> bool:
    """Whether what is told of some values of a family is no chance."""
    several = sum(symptom in other for other in families.values()) >= _FAMILIES and symptom[-1].endswith(_IMAGES)
    cases = len({one.result.case.id for one in some})
    return _tells(symptom) and (several or (cases >= _SEVERAL and len(some) >= _REST * total))


def _own_class(one: Failing, most: Sequence[Failing], some: Sequence[Failing]) -> bool:
    """Whether values of the class are wrong in several cases, and none as most others are."""
    kin = next((trait for trait in one.traits if trait[0] == "kin"), None)
    cases = {other.result.case.id for other in some if kin in other.traits}
    return kin is not None and len(cases) >= _SEVERAL and not any(kin in other.traits for other in most)


@dataclass(frozen=True, slots=True)
class _Named:
    """Units that fail with a symptom, and the traits that they share; () for those that nothing tells from others."""

    traits: Traits
    some: list[Failing]
    sure: bool

    @property
    def families(self) -> frozenset[str]:
        """The types' families of the units."""
        return frozenset(one.family for one in self.some if one.family)

    def shared(self, sorts: Collection[str]) -> frozenset[Trait]:
        """The traits of these sorts that all of them have."""
        return frozenset(trait for trait in self.everywhere if trait[0] in sorts)

    @property
    def everywhere(self) -> frozenset[Trait]:
        """The traits that all of them have."""
        return frozenset.intersection(*(one.traits for one in self.some))

    def noun(self, unit: str) -> str:
        """What is told of."""
        traits = [trait for trait in self.traits if trait != _ROW] or self.traits
        told, *rest = [SORTS[sort].format(*words, unit=unit) for sort, *words in traits] or [""]
        for (sort, *_), noun in zip(traits, rest, strict=False):
            told += f"{' ' if sort in _SHORT else ' and '}{noun.removeprefix(f'{unit} ')}"
        return told or f"{_SOME} {unit}" + (f" of the {' and '.join(self.families)} types" if len(self.families) == 1 else "")


def _explained(
    symptom: Trait, by_symptom: BySymptom, population: Population, by_chance: bool
) -> Iterator[tuple[Traits, str, list[Failing]]]:
    """Traits and sentences on a symptom with what each explains: greedily the traits of the most failing units."""
    left, named = list(by_symptom[symptom].values()), list[_Named]()
    verb, unit = partial(_told, symptom), _UNITS.get(symptom[0], "row")
    if symptom in (_SHUFFLED, _SWAPPED):
        yield (symptom,), verb(""), left
        return
    bad = _bad(symptom, by_symptom)
    while left and len(named) < MOST:
        traits, sure = population.guilty(_which(symptom), bad, left)
        some = [one for one in left if one.traits.issuperset(traits)]
        if symptom[0] in _OF_FAULTS and (not traits or traits[0][0] == "fault" or len(some) < NEARLY * len(left)):
            shared = frozenset.intersection(*(one.traits for one in left))
            yield tuple(sorted(trait for trait in shared if trait[0] in _MEMBERS)), verb(f"a message with {_faults(left)}"), left
            return
        if symptom[0] in _OF_FAULTS:
            some = left
        if not traits and by_chance:
            yield (), f"{verb(f'{_SOME} {unit}')} only among certain other messages", some
            return
        parts = _by_family(some) if symptom[0] in _OF_CELLS and not traits else {"": some}
        named += [_Named(traits, part, sure) for part in parts.values()]
        left = (
            [one for one in left if one not in some]
            if symptom[0] in _OF_FAULTS
            else [one for one in left if not one.traits.issuperset(traits)]
        )
    for group in _together(symptom, named):
        whole = [one for one in group if one.traits[:1] and one.traits[0][0] == "family"]
        told_of = [one for one in whole or group if one.traits]
        total = sum(len(one.some) for one in told_of)
        large = [one for one in told_of if len(one.some) >= LARGE * total] or told_of[:1]
        each = ("every " if large[0].sure else "nearly every ") if large else ""
        first, *rest = _by_class([one.noun(unit) for one in large] or [group[0].noun(unit)])
        others = " and others" if len(large) < len(told_of) or len(rest) >= NOUNS else ""
        if symptom[0] == "field" or _IMAGES in symptom[-1]:
            others, rest = " and others" if rest or others else "", []
        also = (noun.removeprefix(f"{unit} ") if noun.startswith(unit) else f"every {noun}" for noun in rest[: NOUNS - 1])
        told = each + ", ".join((first, *also)) + others
        traits = group[0].traits or tuple(("family", one) for one in group[0].families if len(group[0].families) == 1)
        some = [failing for one in group for failing in one.some]
        ops = ", ".join(dict.fromkeys(one.finding.actual for one in some))
        yield traits, _told(("op", ops), told) if symptom == _OP else verb(told), some


def _by_class(nouns: Sequence[str]) -> list[str]:
    """The nouns, where those that differ in a class alone are one."""
    classes: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for noun in nouns:
        head, _, told = noun.partition(_CLASS)
        classes[(head, True) if told and " " not in told else (noun, False)].append(told)
    return [head + _CLASS + ", ".join(some) if of_class else head for (head, of_class), some in classes.items()]


def _told(symptom: Trait, noun: str) -> str:
    return _SAID[symptom[0]].format(noun, *symptom[1:])


def _bad(symptom: Trait, by_symptom: BySymptom) -> Sequence[frozenset[Trait]]:
    """The traits of the units that fail with the symptom, or so that they show nothing of a trait's innocence: a value that is
    wrong otherwise, a row that did not come out."""
    bad: dict[Unit, frozenset[Trait]] = {}
    for other, some in by_symptom.items():
        hides = _which(symptom) != "rows" or other[0] in _HIDING or (other[0] == "op" and symptom[0] == "image")
        alike = {_which(other), _which(symptom)} <= {"there", "values"}
        if other == symptom or (hides and (alike or _which(other) == _which(symptom))):
            bad |= {unit: one.traits for unit, one in some.items()}
    return tuple(bad.values())


def _faults(left: Iterable[Failing]) -> str:
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for case in (one.result.case for one in left):
        names[min((tag for tag in case.tags if tag.startswith(_FAULT)), default="")][case.fault or _DRAWN] = None
    faults = [tag.removeprefix(_FAULT) if len(some) > NAMES else name for tag, some in names.items() for name in some]
    faults = list(dict.fromkeys(faults))
    return ", ".join(islice(faults, FAULTS)) + (f" and {len(faults) - FAULTS} more" if len(faults) > FAULTS else "")


def _by_family(some: Iterable[Failing]) -> dict[str, list[Failing]]:
    out: dict[str, list[Failing]] = defaultdict(list)
    for one in some:
        out[one.family].append(one)
    return out


def _is_one(symptom: Trait) -> bool:
    """Whether all that has the symptom is one mistake: a field's, values of the other image, values for NULLs."""
    return (
        symptom[0] == "field"
        or _NO_COLUMNS in symptom
        or symptom == _NOT_NULL
        or (symptom[0] == "op" and symptom[1] in (_OTHER_LETTERS, *Kind))
        or (symptom[0] == "value" and (symptom[1].endswith(_IMAGES) or _COMES_AS in symptom[1]))
    )


def _together(symptom: Trait, named: Sequence[_Named]) -> Iterator[list[_Named]]:
    """What is one mistake: a field's; what has a trait of another in common; rows of one op or kind, columns of an image of one
    op, values of one family of types, unless two traits tell them apart; what no trait tells goes to what has its families."""
    groups: list[list[_Named]] = []
    for one in named:
        first = groups[:1] if _is_one(symptom) else [group for group in groups if one.shared(_COMMON) & set(group[0].traits)]
        alike = _alike_cells if symptom[0] in _OF_CELLS else _alike_rows
        for group in first or [group for group in groups if alike(symptom, group[0], one)]:
            group.append(one)
            break
        else:
            groups.append([one])
    return iter(groups)


def _alike_rows(_symptom: Trait, first: _Named, one: _Named) -> bool:
    mine, theirs = one.shared(_OPS), first.shared(_OPS)
    rest = not one.traits and len(one.some) <= _REST * len(first.some)
    return rest or (bool(mine & theirs) and (mine <= theirs or theirs <= mine))


def _alike_cells(symptom: Trait, first: _Named, one: _Named) -> bool:
    if not one.traits or (symptom == _NOT_THERE and one.shared(("image",)) & first.shared(("image",))):
        return bool(one.families & first.families) or bool(one.traits)
    alike = one.families <= first.families or first.families <= one.families
    return alike and (bool(_said(symptom)) or not _are_apart(one.traits, first.traits, symptom == _NOT_THERE))


def _are_apart(some: Traits, others: Traits, of_names: bool) -> bool:
    """Whether the traits are of two mistakes: signs of a name, what texts hold, a zero date, a value and its row."""
    sorts, theirs = ({trait[0] for trait in traits} for traits in (some, others))
    if sorts | theirs <= _OF_NAMES:
        return some != others
    zero, other = (any(trait[0] in ("like", "kin") and trait[1:] in _ZEROS for trait in traits) for traits in (some, others))
    plain = [each & (_OF_VALUES | _OF_ROWS) for each in (sorts, theirs)]
    of_row = any(each and each <= _OF_ROWS for each in plain) and any(each & _OF_VALUES for each in plain)
    if zero is not other or (of_row and not of_names):
        return True
    large = all(words[-1].startswith("of over") for sort, *words in (*some, *others) if sort == "held")
    held = {"held"} in (sorts, theirs) and (sorts == theirs or {some[0][1], others[0][1]} <= _CONTENTS)
    words = sorts == theirs == {"kin"} and some[0][1] == others[0][1] == Logical.TEXT.value
    return some != others and (words or (held and not large))


def _mistake(traits: Traits, sentence: str, some: Sequence[Failing], rules: Mapping[str, Rule]) -> Mistake:
    """The mistake with the smallest of its cases."""
    small = min(some, key=lambda one: (one.result.case.deployment.compression != "none", _size(one.result.case)))
    broken = tuple(dict.fromkeys(one.finding.rule for one in some))
    must = any(rules[rule].obligation is Obligation.MUST for rule in broken)
    cases = frozenset(one.result.case.id for one in some)
    places = frozenset(place(one.finding) for one in some)
    obligation = Obligation.MUST if must else Obligation.SHOULD
    shared = frozenset.intersection(*(one.traits for one in some))
    return Mistake(traits, sentence, broken, obligation, cases, places, small.finding, small.result, shared)


def _size(case: Case) -> int:
    return sum(written.message.size for written in case.written)


def _merged(named: Iterable[Mistake]) -> list[Mistake]:
    """Mistakes on the same cases, or messages of the same member, are one; one that nothing explains belongs to another that has
    its cases, too."""
    kept: list[Mistake] = []
    for one in sorted(named, key=_leading):
        for number, other in enumerate(kept):
            leads = _leads(other)
            follows = _vague(one) or leads
            wide = not leads and len(other.cases) > _WIDE * len(one.cases)
            vague = follows and not wide and _alike(one.cases, one.cases & other.cases)
            member = bool(other.traits) and all(trait[0] in _MEMBERS and trait in one.traits for trait in other.traits)
            member |= all(len(each) == 1 and each[0][0] == "bare" for each in (one.traits, other.traits))
            member |= (other.traits, one.traits) == ((_SHUFFLED,), (("later",),))
            # Of the same values it is one mistake, whatever the hints.
            wrong = all(f" {_WRONG[1]}" in each.sentence for each in (one, other))
            member |= wrong and bool(one.traits and other.traits) and _holds(one, other)
            aspects = {one.finding.aspect, other.finding.aspect}
            apart = Aspect.FIELD in aspects and not aspects.isdisjoint(CELL)
            apart |= one.traits != other.traits and {trait[0] for trait in (*one.traits, *other.traits)} == {"sign"}
            apart |= other.traits == (_SWAPPED,) and one.finding.aspect is Aspect.PRESENCE
            if not apart and (vague or member or _alike(one.cases, other.cases)):
                rules = tuple(dict.fromkeys((*other.rules, *one.rules)))
                kept[number] = replace(other, rules=rules, cases=other.cases | one.cases, broken=other.broken | one.broken)
                break
        else:
            kept.append(one)
    return kept


def _holds(one: Mistake, other: Mistake) -> bool:
    """Whether all units of one have the other's traits, which tell what the values hold, or nothing but a family is told."""
    pairs = (one, other), (other, one)
    told = any(trait[0] == "held" for trait in one.traits + other.traits) or one.sentence.startswith(_SOME)
    return one.traits == other.traits or (told and any(each.shared.issuperset(theirs.traits) for each, theirs in pairs))


def _vague(one: Mistake) -> bool:
    return not one.traits and one.sentence.startswith(_SOME)


def _leads(one: Mistake) -> bool:
    """Whether it spoils a row's other values, too."""
    return one.traits in ((_SHUFFLED,), (_SWAPPED,)) or one.sentence.endswith(_IMAGES)


def _leading(one: Mistake) -> tuple[bool, bool, int]:
    """The vague ones last, those that spoil a row's other values first."""
    return _vague(one), not _leads(one), -len(one.cases)


def _alike(some: Collection[str], others: Collection[str]) -> bool:
    return len(set(some) & set(others)) >= _ALIKE * len(set(some) | set(others))
