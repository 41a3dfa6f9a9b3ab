"""What is wrong in each place of a format's findings: its symptom, which is one where several of a
row or a family are one fault.

A symptom is a trait: a sort (rows lost, an image, a column, a value ...) and what is told of it,
such as a hint that the value is 8 h later. `conformance.judging.mistakes` looks for what the places
with a symptom share.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from conformance.judging.causes import cell_of, change_of
from conformance.judging.compare import ACCEPTED
from conformance.judging.hints import (
    CASE,
    COLUMN,
    OF_TEXTS,
    SIGN,
    WIDER,
    held_text,
    hint,
    kind_of,
    owed_text,
    texts,
)
from conformance.judging.judge import NO_OUTPUT, Finding
from conformance.judging.traits import NEARLY, Failing, Population, Trait, Unit
from conformance.rules.rules import Aspect
from generators.model import Case, Kind, Logical, Op, State

BySymptom: TypeAlias = Mapping[Trait, dict[Unit, Failing]]

FAMILIES: Final = 3
"""Families of types of which a hint is no chance."""
SEVERAL: Final = 3
"""Cases of which what they have in common is no chance."""
REST: Final = 0.1
"""Share of a mistake's units that what no trait explains has at most, to be its rest."""
_CUT: Final = "cut"
_EMPTY: Final = ("{}", "{...}")
NO_COLUMNS: Final = "an image of no columns where it has none"
OTHER_LETTERS: Final = "the same word in capital or small letters"
OF_THE_OTHER: Final = "image's"
"""How a hint ends that finds a value in the row's other image."""
_OTHER: Final = {"before": "after", "after": "before"}
COMES_AS: Final = "it comes as "
"""How a hint begins on a value of another Spark type."""
WRONG: Final[Trait] = ("value", "is wrong")
_AS_TEXT: Final[Trait] = ("value", f"is wrong: {COMES_AS}string")
_TEXTS: Final = frozenset({Logical.TEXT.value, Logical.JSON.value})
_OFF: Final = re.compile(r", ([^,]+ (?:later|earlier)); the deployment's")
"""How far an instant is off, which an actual value tells where no hint does."""
OF_CELLS: Final = frozenset({"presence", "value", "shuffled", "swapped"})
SHUFFLED: Final[Trait] = ("shuffled",)
"""The symptom of a value that is another row's: the row's other cells are wrong in other ways."""
SWAPPED: Final[Trait] = ("swapped",)
"""The same for a value of another column of the row."""
NULL: Final[Trait] = ("value", "is NULL")
NOT_NULL: Final[Trait] = ("value", "is not NULL")
NOT_THERE: Final[Trait] = ("presence", "is not there")
_UNOWED: Final[Trait] = ("presence", "comes out though the message does not have it")
OF_FAULTS: Final = frozenset({"vanishes", "accepted"})


def symptom_of(finding: Finding, case: Case, *, elsewhere: bool = True) -> Trait:
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
            letters = any(
                texts(op, finding.actual) == CASE for op in finding.expected.split(" or ")
            )
            return "op", OTHER_LETTERS if letters else kind
        case Aspect.FIELD:
            said = _short(texts(finding.expected, finding.actual))
            return "field", finding.path, f": {said}" if said else ""
        case Aspect.IMAGE:
            article = "an" if finding.side == "after" else "a"
            other = (
                change.image("before" if finding.side == "after" else "after", case.level)
                if change
                else None
            )
            if finding.expected == "NULL" and finding.actual in _EMPTY and other != {}:
                return "image", NO_COLUMNS, "with"
            return (
                "image",
                f"{finding.side} image",
                f"with {article}" if finding.expected == "NULL" else "without its",
            )
        case Aspect.PRESENCE if finding.expected == "present":
            return NOT_THERE
        case Aspect.PRESENCE:
            return NOT_NULL if case.level == 2 else _UNOWED
        case Aspect.NULL:
            if cell is None or cell.state is not State.NULL:
                return NULL
            said = hint(finding, case, change, cell)
            return SWAPPED if said.startswith(COLUMN) else NOT_NULL
    said = hint(finding, case, change, cell, elsewhere=elsewhere)
    if not said and (off := _OFF.search(finding.actual)):
        said = off[1]
    if said.startswith("the actual value is row "):
        return SHUFFLED
    if said.startswith(COLUMN):
        return SWAPPED
    kind = kind_of(finding.actual) if case.level == 2 and not said.endswith(OF_THE_OTHER) else ""
    if kind and cell is not None and kind not in ACCEPTED[cell.type.logical]:
        said = f"{COMES_AS}{kind}"
    return "value", f"is wrong: {_short(said)}" if said else "is wrong"


def _short(said: str) -> str:
    return _CUT if said.startswith(_CUT) else said


def by_no_chance(
    failings: Sequence[tuple[Trait, Failing]], population: Population
) -> list[tuple[Trait, Failing]]:
    """The symptoms, where few families of types have a value of another image or row by chance; and
    where several families come as texts, all texts of other types do.
    """
    families: dict[Trait, Counter[str]] = defaultdict(Counter)
    for symptom, failing in failings:
        families[symptom][failing.family] += 1
    wrong = sum(
        (some for symptom, some in families.items() if _wrong(symptom) or _is_elsewhere(symptom)),
        Counter[str](),
    )
    for symptom, failing in failings:
        image: Trait = ()
        if symptom == NULL:
            image = (
                "value",
                (
                    f"{WRONG[1]}: the actual value is the {_OTHER[failing.finding.side]}"
                    f" {OF_THE_OTHER}"
                ),
            )
        if image in families and _as_in_the_other_image(failing):
            families[image][failing.family] += 1
    chance = {
        symptom for symptom, some in families.items() if _are_few(symptom, some, wrong, population)
    }
    as_text = len(families[_AS_TEXT]) >= FAMILIES
    out: list[tuple[Trait, Failing]] = []
    for symptom, failing in failings:
        if symptom in chance:
            symptom = symptom_of(failing.finding, failing.result.case, elsewhere=False)
        if (
            as_text
            and _wrong(symptom)
            and failing.family not in _TEXTS
            and kind_of(failing.finding.actual) == "string"
        ):
            symptom = _AS_TEXT
        out.append((symptom, failing))
    return out


def _are_few(
    symptom: Trait, some: Mapping[str, int], wrong: Mapping[str, int], population: Population
) -> bool:
    """Whether it is by chance that values of so few families, and few of those that are wrong, are
    another image's, row's or column's.
    """
    if not _is_elsewhere(symptom) or any(
        number >= NEARLY * wrong[family] for family, number in some.items()
    ):
        return False
    trait, least = {SHUFFLED: (("several",), 2), SWAPPED: (("any",), 2)}.get(
        symptom, (("op", Op.UPDATE.value), FAMILIES)
    )
    return len(some) < min(least, len(population.families(trait)))


def _is_elsewhere(symptom: Trait) -> bool:
    return symptom in (SHUFFLED, SWAPPED) or (
        symptom[0] == "value" and symptom[1].endswith(OF_THE_OTHER)
    )


def population_of(symptom: Trait) -> str:
    """The population of a symptom."""
    if symptom[0] == "value" and not symptom[1].endswith(OF_THE_OTHER):
        return "nulls" if symptom == NOT_NULL else "values"
    if symptom == _UNOWED:
        return "absent"
    return "faults" if symptom[0] in OF_FAULTS else "there" if symptom[0] in OF_CELLS else "rows"


def of_rows(failings: Sequence[tuple[Trait, Failing]]) -> Iterator[tuple[Trait, Failing]]:
    """The symptoms, where what is wrong in an image as a whole is one: a column under another name,
    cells of other columns.
    """
    images: dict[Unit, dict[Trait, list[Failing]]] = defaultdict(lambda: defaultdict(list))
    for symptom, failing in failings:
        images[failing.unit[:4]][symptom].append(failing)
    swapped = {unit for unit, here in images.items() if here[SWAPPED] and _are_swapped(here)}
    several = len({unit[0] for unit in swapped}) >= SEVERAL
    cells = [failing.unit[:4] in swapped for symptom, failing in failings if symptom[0] == "value"]
    most = several and sum(cells) >= NEARLY * len(cells)
    shuffled = {failing.unit[:2] for symptom, failing in failings if symptom == SHUFFLED}
    for symptom, failing in failings:
        here, spoilt = images[failing.unit[:4]], several and failing.unit[:4] in swapped
        if symptom == _UNOWED and here[NOT_THERE]:
            yield NOT_THERE, replace(failing, traits=here[NOT_THERE][0].traits)
        elif symptom[0] == "value" and (
            spoilt or (most and (here[SWAPPED] or not _tells(symptom)))
        ):
            yield SWAPPED, failing
        elif failing.unit[:2] in shuffled and symptom in (NULL, NOT_NULL, WRONG, NOT_THERE):
            yield SHUFFLED, failing
        elif symptom == SWAPPED and not spoilt:
            yield (NOT_NULL if failing.finding.aspect is Aspect.NULL else WRONG), failing
        else:
            yield symptom, failing


def _are_swapped(here: Mapping[Trait, Sequence[Failing]]) -> bool:
    """Whether of an image's cells with other values, which are several, half hold what others of
    them should.
    """
    wrong = [
        _owed_and_held(failing)
        for symptom, some in here.items()
        if symptom[0] in OF_CELLS
        for failing in some
    ]
    owed, held = (
        Counter(pair[number] for pair in wrong if pair[0] != pair[1]) for number in (0, 1)
    )
    return owed.total() > 1 and 2 * (owed & held).total() >= owed.total()


def _owed_and_held(failing: Failing) -> tuple[str, str]:
    case = failing.result.case
    return owed_text(cell_of(failing.finding, case), case.level), held_text(
        failing.finding.actual, case.level
    )


def of_the_other_image(by_symptom: BySymptom) -> dict[Trait, dict[Unit, Failing]]:
    """The symptoms, where a NULL, a value or a column that its row's other image has, too, goes
    with values that are the other image's, if the run has such values on that side of that op.
    """
    images = {
        symptom: some
        for symptom, some in by_symptom.items()
        if _wrong(symptom) and symptom[1].endswith(OF_THE_OTHER)
    }
    sides = {
        _side(f): symptom
        for symptom, some in images.items()
        for f in some.values()
        if SHUFFLED not in by_symptom
    }
    out: dict[Trait, dict[Unit, Failing]] = defaultdict(dict)
    for symptom, some in by_symptom.items():
        for unit, failing in some.items():
            other = (
                sides.get(_side(failing))
                if symptom[0] in (*OF_CELLS, "image") and not _wrong(symptom)
                else None
            )
            out[other if other and _as_in_the_other_image(failing) else symptom][unit] = failing
    return out


def _side(failing: Failing) -> tuple[str, Op | None]:
    change = change_of(failing.finding, failing.result.case)
    return failing.finding.side, change.op if change else None


def _as_in_the_other_image(failing: Failing) -> bool:
    """Whether the actual cell is NULL, a value, or not there, as that of the other image is."""
    finding, case = failing.finding, failing.result.case
    change = change_of(finding, case)
    image = (
        change.image("before" if finding.side == "after" else "after", case.level)
        if change
        else None
    )
    cell = (image or {}).get(finding.column or "")
    if finding.aspect is Aspect.IMAGE:
        return (image is None) == (finding.expected != "NULL")
    if finding.aspect is Aspect.PRESENCE:
        return (cell is None or cell.state is State.ABSENT) == (finding.expected == "present")
    return cell is not None and (cell.state is State.NULL) == (finding.actual == "NULL")


def _wrong(symptom: Trait) -> bool:
    return symptom[0] == "value" and symptom[1].startswith(WRONG[1])


def hint_of(symptom: Trait) -> str:
    """What a symptom says of how a value differs, or ""."""
    return symptom[-1].partition(": ")[2]


def _tells(symptom: Trait) -> bool:
    """Whether a hint on wrong values leaves nothing to explain."""
    said = hint_of(symptom)
    return said.endswith(OF_THE_OTHER) or said.startswith((SIGN, _CUT, COMES_AS, *OF_TEXTS))


def _plain(symptom: Trait) -> Trait:
    """The symptom without its hint."""
    return WRONG if symptom[0] == "value" else (*symptom[:-1], "")


def differing(by_symptom: BySymptom) -> dict[Trait, dict[Unit, Failing]]:
    """The symptoms, where wrong values of one family of types (or of one field) are one: with the
    hint that nearly all have, or with none. What a hint explains as a whole (characters that are
    lost, the other image's value) stays apart, unless it is said of few of them: of values of the
    other image that are of several families it is no chance. So does a class of values that are all
    wrong otherwise.
    """
    families: dict[str, dict[Trait, list[Failing]]] = defaultdict(lambda: defaultdict(list))
    out: dict[Trait, dict[Unit, Failing]] = defaultdict(dict)
    for symptom, some in by_symptom.items():
        if _wrong(symptom) or symptom[0] == "field":
            wider = (
                *symptom[:-1],
                symptom[-1].replace(hint_of(symptom), WIDER.get(hint_of(symptom), "")),
            )
            common = wider if wider in by_symptom else symptom
            for failing in some.values():
                families[failing.family][common].append(failing)
        else:
            out[symptom] = some
    for of_family in families.values():
        most = max(of_family, key=lambda symptom: len(of_family[symptom]))
        total = sum(
            len(some)
            for symptom, some in of_family.items()
            if not symptom[-1].endswith(OF_THE_OTHER)
        )
        apart = {
            symptom
            for symptom, some in of_family.items()
            if symptom != most and _is_apart(symptom, some, total, families)
        }
        one_hint = len(of_family[most]) >= NEARLY * sum(
            len(mine) for symptom, mine in of_family.items() if symptom not in apart
        )
        for symptom, mine in of_family.items():
            for failing in mine:
                if symptom in apart or (symptom == most and (one_hint or _tells(most))):
                    named = symptom
                else:
                    named = (
                        most
                        if one_hint and not _own_class(failing, of_family[most], mine)
                        else _plain(symptom)
                    )
                out[named][failing.unit] = failing
    return out


def _is_apart(
    symptom: Trait, some: Sequence[Failing], total: int, families: Mapping[str, Collection[Trait]]
) -> bool:
    """Whether what is told of some values of a family is no chance."""
    several = sum(symptom in other for other in families.values()) >= FAMILIES and symptom[
        -1
    ].endswith(OF_THE_OTHER)
    cases = len({failing.result.case.id for failing in some})
    return _tells(symptom) and (several or (cases >= SEVERAL and len(some) >= REST * total))


def _own_class(failing: Failing, most: Sequence[Failing], some: Sequence[Failing]) -> bool:
    """Whether values of the class are wrong in several cases, and none as most others are."""
    kin = next((trait for trait in failing.traits if trait[0] == "kin"), None)
    cases = {other.result.case.id for other in some if kin in other.traits}
    return (
        kin is not None and len(cases) >= SEVERAL and not any(kin in other.traits for other in most)
    )
