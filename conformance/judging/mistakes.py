"""A format's findings as few mistakes: what all failing messages share and no passing one has, in the order of repair.

A symptom (rows lost, an image where none is owed, another value that differs by 8 h, ...) is looked at in its population: the
owed rows, their compared cells, or the unreadable messages. Each unit has traits: its op, its place in the message, types, value
classes, members of the document that are null or empty, the release, its options. The trait that the most failing units have, and
no unit without the symptom has, is the mistake; what it does not explain goes on to the next. Nothing here moves a verdict.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from itertools import combinations, islice
from typing import Any, Final, TypeAlias

from conformance.judging.causes import cell_of, cells, change_of, declared
from conformance.judging.hints import SIGN, WITH, WITHOUT, hint
from conformance.judging.judge import CaseResult, Finding, Verdict
from conformance.judging.results import FormatResult
from conformance.rules.rules import Aspect, Obligation, Rule
from generators.model import Case, Cell, Change, Kind, Logical, Message, Op, State

Trait: TypeAlias = tuple[str, ...]
"""A sort and its words, such as ("op", "DELETE") or ("null", "old")."""
Place: TypeAlias = tuple[str, int, int, str, str | None]
"""Case, message, row, side and column of a finding."""
Unit: TypeAlias = tuple[Hashable, ...]
"""A message and row of a case, at cells also a side and a column."""

MOST: Final = 10
"""Mistakes that are named."""
_NEARLY: Final = 0.75
"""Share of the units with a trait that must fail: some of them have nothing that the mistake can spoil."""
_ALIKE: Final = 0.95
"""Share of the cases of two mistakes that they must have in common to be one."""
_FAMILIES: Final = 3
"""Families of types of which a hint is no chance."""
_REST: Final = 0.1
"""Share of a mistake's units that what no trait explains has at most, to be its rest."""
_WIDE: Final = 3
"""How many times the cases of a vague mistake another may have to be its explanation."""
_PAIRED: Final = 8
"""Traits that are tried in pairs, where none alone tells failing from passing."""
_SORTS: Final[Mapping[str, str]] = {
    "any": "{unit}",
    "later": "{unit} after the first row of its message",
    "equal": "{unit} that equals an earlier row of its message",
    "same": "{unit} of an UPDATE that changes nothing",
    "rekeyed": "{unit} of an UPDATE that changes the key",
    "bare": "{unit} with nothing but NULLs in the {0} image",
    "op": "{unit} of {0}",
    "kind": "{0} message",
    "null": "{unit} of a document whose `{0}` is null",
    "empty": "{unit} of a document whose `{0}` is empty",
    "several": "{unit} of a message with several rows",
    "image": "{unit} in the {0} image of {1}",
    "side": "{unit} in the {0} image",
    "key": "{unit} of the key",
    "unchanged": "{unit} that the UPDATE does not change",
    "unsigned": "{unit} of an unsigned type",
    "negative": "negative {unit} of the {0} types",
    "family": "{unit} of the {0} types",
    "kin": "{unit} of the {0} types in the class {1}",
    "like": "{unit} of any type with a date, in the class {0}",
    "type": "{unit} of {0}",
    "void": "{unit} that is NULL",
    "nothing": "NULL of {0}",
    "capital": "{unit} whose name has capital letters",
    "small": "{unit} whose name has small letters",
    "sign": "{unit} with {0} in its name",
    "quoted": "{unit} whose name needs quotes",
    "class": "{unit} of {0} in the class {1}",
    "fault": "message with the fault {0}",
    "packed": "{unit} of a message compressed with {0}",
    "option": "{unit} under the option {0}",
    "trait": "{unit} with the trait {0}",
    "release": "{unit} of release {0}",
}
"""How a trait is said, by its sort; of traits that explain as much, the first sort here is taken."""
_RANK: Final = {sort: number for number, sort in enumerate(_SORTS)}
_MEMBERS: Final = frozenset({"null", "empty"})
"""Sorts of traits on a document's members."""
_SOME: Final = "some"
"""The word for what no trait explains."""
FAULTS: Final = 6
"""Faults that are named in a sentence."""
_UNSAID: Final = frozenset({"boundary", "drawn"})


@dataclass(frozen=True, slots=True)
class Mistake:
    """What a decoder does wrong: the traits of the failing units, the sentence, the ids of the broken rules and the most binding
    of their obligations, the ids of the cases that it explains, what is broken in them (case, message, row, side, column), and a
    finding of the smallest of them with its result."""

    traits: tuple[Trait, ...]
    sentence: str
    rules: tuple[str, ...]
    obligation: Obligation
    cases: frozenset[str]
    broken: frozenset[Place]
    finding: Finding
    result: CaseResult


@dataclass(frozen=True, slots=True)
class _Failing:
    """A unit that fails with a symptom."""

    unit: Unit
    traits: frozenset[Trait]
    finding: Finding
    result: CaseResult


def mistakes(result: FormatResult, *, strict: bool = False) -> list[Mistake]:
    """The mistakes of a format's failing cases, what to repair first before the rest; with `strict` those of SHOULD rules too."""
    rules = {one.rule.id: one.rule for one in result.rules}
    asked = {Obligation.MUST, Obligation.SHOULD} if strict else {Obligation.MUST}
    population = _Population(result.cases)
    by_symptom: dict[Trait, dict[Unit, _Failing]] = defaultdict(dict)
    by_law: dict[str, list[_Failing]] = defaultdict(list)
    for case in result.cases:
        for finding in case.findings:
            rule = rules[finding.rule]
            if finding.rule in case.known or rule.obligation not in asked:
                continue
            symptom = _symptom(finding, case.case)
            failing = _Failing(_unit(symptom, finding), population.traits(symptom, finding, case.case), finding, case)
            if rule.law:
                by_law[rule.id].append(failing)
            else:
                by_symptom[symptom].setdefault(failing.unit, failing)
    by_symptom = _differing(_of_the_other_image(by_symptom))
    population.failing(by_symptom)
    chance = next((some for id_, some in by_law.items() if rules[id_].law == "batch"), [])
    named = [
        _mistake(traits, sentence, some, rules)
        for symptom, failing in by_symptom.items()
        for traits, sentence, some in _explained(symptom, list(failing.values()), population, bool(chance))
    ]
    named += [_mistake((), f"not kept: {rules[id_].statement.rstrip('.')}", some, rules) for id_, some in by_law.items()]
    return sorted(_merged(named), key=lambda one: (one.obligation is not Obligation.MUST, -len(one.cases), one.sentence))


def _symptom(finding: Finding, case: Case) -> Trait:
    """What is wrong, and where it matters how."""
    match finding.aspect:
        case Aspect.ACCEPTED | Aspect.MISSING if _unreadable(finding, case):
            return ("vanishes",) if finding.actual == "no output row" else ("accepted",)
        case Aspect.MISSING | Aspect.EXTRA | Aspect.CORRUPT:
            return (finding.aspect.value,)
        case Aspect.KIND if _unreadable(finding, case):
            return ("accepted",)
        case Aspect.KIND | Aspect.OP:
            return ("op",)
        case Aspect.FIELD:
            return "field", finding.path
        case Aspect.IMAGE:
            article = "an" if finding.side == "after" else "a"
            if finding.expected == "NULL" and finding.actual in _EMPTY:
                return "image", _NO_COLUMNS, "with"
            return "image", f"{finding.side} image", f"with {article}" if finding.expected == "NULL" else "without its"
        case Aspect.PRESENCE:
            there = finding.expected == "present"
            return "presence", "is not there" if there else "comes out though the message does not have it"
        case Aspect.NULL:
            cell = cell_of(finding, case)
            return ("value", _NOT_NULL) if cell is not None and cell.state is State.NULL else ("value", "is NULL")
    said = hint(finding, case, change_of(finding, case), cell_of(finding, case))
    if not said and (off := _OFF.search(finding.actual)):
        said = off[1]
    if said.startswith("the actual value is row "):
        return _SHUFFLED
    if said.startswith(_CUT):
        said = _CUT
    return "value", f"is wrong: {said}" if said else "is wrong"


def _unreadable(finding: Finding, case: Case) -> bool:
    """Whether the message is one that cannot be read: what level one reads of an unfit cell can."""
    change = change_of(finding, case)
    return bool(case.fault) and (change is None or change.kind is Kind.CORRUPT)


_CUT: Final = "cut"
_EMPTY: Final = ("{}", "{...}")
_NO_COLUMNS: Final = "an image of no columns where it has none"
_IMAGES: Final = "image's"
"""How a hint ends that finds a value in the row's other image."""
_WRONG: Final[Trait] = ("value", "is wrong")
_WORDS: Final = f" {_WRONG[1]}"
_OFF: Final = re.compile(r", ([^,]+ (?:later|earlier)); the deployment's")
"""How far an instant is off, which an actual value tells where no hint does."""
_SIGNED: Final = (Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE, Logical.TIME)
_CALENDARS: Final = (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP)
_REAL: Final = {"double": "float"}
"""Families that decoders read alike."""
_OF_PLACES: Final = frozenset({"image", "side", "void", "small", "key", "unchanged"})
"""Sorts of traits that say nothing of a row as a whole."""
_OF_CELLS: Final = frozenset({"presence", "value", "shuffled"})
_SHUFFLED: Final[Trait] = ("shuffled",)
"""The symptom of a value that is another row's: the row's other cells are wrong in other ways."""
_HIDING: Final = frozenset({"missing", "corrupt"})
"""Symptoms of rows that did not come out: nothing else is known of them."""
_NOT_NULL: Final = "is not NULL"
_OWED: Final = {"nulls": True, "values": False}
"""Whether the cells of a population are owed as NULL."""
_OF_FAULTS: Final = frozenset({"vanishes", "accepted"})
_UNITS: Final = {"presence": "column", "value": "value", "shuffled": "value", "vanishes": "message", "accepted": "message"}


def _unit(symptom: Trait, finding: Finding) -> Unit:
    row = finding.case, finding.message, finding.row
    return (*row, finding.side, finding.column) if symptom[0] in _OF_CELLS else row


def _of_the_other_image(by_symptom: Mapping[Trait, dict[Unit, _Failing]]) -> dict[Trait, dict[Unit, _Failing]]:
    """The symptoms, where a NULL, a value or a column that its row's other image has, too, goes with values that are the other
    image's, if the run has such values on that side of that op."""
    found = {symptom: some for symptom, some in by_symptom.items() if _wrong(symptom) and symptom[1].endswith(_IMAGES)}
    sides = {_side(one): symptom for symptom, some in found.items() for one in some.values() if _SHUFFLED not in by_symptom}
    out: dict[Trait, dict[Unit, _Failing]] = defaultdict(dict)
    for symptom, some in by_symptom.items():
        for unit, one in some.items():
            other = sides.get(_side(one)) if symptom[0] in _OF_CELLS and not _wrong(symptom) else None
            out[other if other and _as_in_the_other_image(one) else symptom][unit] = one
    return out


def _side(one: _Failing) -> tuple[str, Op | None]:
    change = change_of(one.finding, one.result.case)
    return one.finding.side, change.op if change else None


def _as_in_the_other_image(one: _Failing) -> bool:
    """Whether the actual cell is NULL, a value, or not there, as that of the other image is."""
    finding, case = one.finding, one.result.case
    change = change_of(finding, case)
    cell = ((change and change.image("before" if finding.side == "after" else "after", case.level)) or {}).get(
        finding.column or ""
    )
    if finding.aspect is Aspect.PRESENCE:
        return (cell is None or cell.state is State.ABSENT) == (finding.expected == "present")
    return cell is not None and (cell.state is State.NULL) == (finding.actual == "NULL")


def _differing(by_symptom: Mapping[Trait, dict[Unit, _Failing]]) -> dict[Trait, dict[Unit, _Failing]]:
    """The symptoms, where wrong values of one family of types are one: with the hint that nearly all have, or with none. What a
    hint explains as a whole (characters that are lost, the other image's value) stays apart, unless it is said of few of them: of
    values of the other image that are of several families it is no chance."""
    amounts: dict[str, Counter[Trait]] = defaultdict(Counter)
    for symptom, some in by_symptom.items():
        if _wrong(symptom):
            for one in some.values():
                amounts[_family(one)][symptom] += 1
    out: dict[Trait, dict[Unit, _Failing]] = defaultdict(dict)
    for symptom, some in by_symptom.items():
        for unit, one in some.items():
            counts = amounts[_family(one)] if _wrong(symptom) else Counter[Trait]()
            most = max(counts, key=counts.__getitem__, default=symptom)
            several = sum(symptom in other for other in amounts.values()) >= _FAMILIES and symptom[-1].endswith(_IMAGES)
            apart = _tells(symptom) and (several or counts[symptom] >= (1 - _NEARLY) * counts.total())
            out[symptom if apart else most if counts[most] >= _NEARLY * counts.total() else _WRONG][unit] = one
    return out


def _wrong(symptom: Trait) -> bool:
    return symptom[0] == "value" and symptom[1].startswith(_WRONG[1])


def _tells(symptom: Trait) -> bool:
    """Whether a hint on wrong values leaves nothing to explain."""
    said = symptom[-1].partition(": ")[2]
    return said.endswith(_IMAGES) or said.startswith((WITHOUT, WITH, SIGN, _CUT))


def _family(one: _Failing) -> str:
    return next((_REAL.get(trait[1], trait[1]) for trait in one.traits if trait[0] == "family"), "")


@dataclass(slots=True)
class _Population:
    """All units of a format's cases, counted by trait on first use."""

    results: Sequence[CaseResult]
    _members: dict[int, frozenset[Trait]] = field(default_factory=dict)
    _counts: dict[str, Counter[frozenset[Trait]]] = field(default_factory=dict)
    _shares: dict[tuple[Trait, tuple[Trait, ...]], float] = field(default_factory=dict)
    _bad: dict[Trait, tuple[frozenset[Trait], ...]] = field(default_factory=dict)

    def traits(self, symptom: Trait, finding: Finding, case: Case) -> frozenset[Trait]:
        """The traits of a failing unit."""
        if symptom[0] in _OF_FAULTS:
            return self._of_fault(case, finding.message)
        change = change_of(finding, case)
        if change is None:
            return frozenset({("any",)})
        cell = cell_of(finding, case) if symptom[0] in _OF_CELLS else None
        if cell is not None:
            return self._of_row(case, finding.message, change) | _of_cell(finding.side, finding.column or "", change, cell)
        if symptom[0] in _OF_CELLS:
            return self._of_row(case, finding.message, change) | _of_name(finding.side, finding.column or "", change)
        return self._of_row(case, finding.message, change) | _of_cells(change, case.level)

    def units(self, which: str) -> Iterator[frozenset[Trait]]:
        """The traits of each unit: of the owed rows, of the cells that were compared, or of the unreadable messages."""
        for result in self.results:
            if result.verdict in (Verdict.UNSUPPORTED, Verdict.ERRORED, Verdict.TIMEOUT):
                continue
            case, wrong = result.case, (Aspect.MISSING, Aspect.CORRUPT, Aspect.KIND, Aspect.OP, Aspect.IMAGE)
            lost = {(f.message, f.row) for f in result.findings if f.aspect in wrong}
            for number, written in enumerate(case.written):
                for change in written.changes:
                    if (change.kind is Kind.CORRUPT) != (which == "faults"):
                        continue
                    if which == "faults":
                        yield self._of_fault(case, number)
                    elif which == "rows":
                        yield self._of_row(case, number, change) | _of_cells(change, case.level)
                    elif (number, change.row) not in lost:
                        row = self._of_row(case, number, change)
                        for side, column, cell in cells(change, case.level):
                            if cell.state is not State.ABSENT and (
                                which == "cells" or _OWED.get(which) is (cell.state is State.NULL)
                            ):
                                yield row | _of_cell(side, column, change, cell)

    def failing(self, by_symptom: Mapping[Trait, Mapping[Unit, _Failing]]) -> None:
        """Notes the units that fail with each symptom, or so that they show nothing of a trait's innocence: a value that is wrong
        otherwise, a row that did not come out."""
        for symptom in by_symptom:
            bad: dict[Unit, frozenset[Trait]] = {}
            for other, some in by_symptom.items():
                hides = self.which(symptom) != "rows" or other[0] in _HIDING or (other[0] == "op" and symptom[0] == "image")
                alike = other[0] in _OF_CELLS and symptom[0] in _OF_CELLS
                if other == symptom or (hides and (alike or self.which(other) == self.which(symptom))):
                    bad |= {unit: one.traits for unit, one in some.items()}
            self._bad[symptom] = tuple(bad.values())

    def guilty(self, symptom: Trait, left: Sequence[_Failing]) -> tuple[Trait, ...]:
        """The trait, or pair of traits, of the most failing units that nearly no other unit has; () if there is none."""
        held = Counter(trait for one in left for trait in one.traits)
        singles = [(trait,) for trait in held]
        best = self._best(symptom, singles, left)
        if best and self._held(best, left) > len(left) / 2:
            return best
        common = [trait for trait, _ in held.most_common(_PAIRED + 1) if trait != ("any",)]
        return max((best, self._best(symptom, list(combinations(common, 2)), left)), key=lambda traits: self._held(traits, left))

    def _best(self, symptom: Trait, several: Sequence[tuple[Trait, ...]], left: Sequence[_Failing]) -> tuple[Trait, ...]:
        fine = [traits for traits in several if self._share(symptom, traits) >= _NEARLY]

        def rank(traits: tuple[Trait, ...]) -> tuple[float, list[int]]:
            return -self._held(traits, left) * self._share(symptom, traits) ** 2, [_RANK[sort] for sort, *_ in traits]

        return min(fine, key=rank, default=())

    def sure(self, symptom: Trait, traits: tuple[Trait, ...]) -> bool:
        """Whether every unit with the traits fails."""
        return self._share(symptom, traits) == 1

    @staticmethod
    def _held(traits: tuple[Trait, ...], left: Sequence[_Failing]) -> int:
        return sum(one.traits.issuperset(traits) for one in left) if traits else 0

    def _share(self, symptom: Trait, traits: tuple[Trait, ...]) -> float:
        """The share of the units with the traits that fail."""
        which = self.which(symptom)
        if which not in self._counts:
            self._counts[which] = Counter(self.units(which))
        if (symptom, traits) not in self._shares:
            every = sum(count for unit, count in self._counts[which].items() if unit.issuperset(traits))
            bad = sum(unit.issuperset(traits) for unit in self._bad[symptom])
            self._shares[symptom, traits] = min(1.0, bad / every) if every else 1.0
        return self._shares[symptom, traits]

    @staticmethod
    def which(symptom: Trait) -> str:
        """The population of a symptom."""
        if symptom[0] == "value" and not symptom[1].endswith(_IMAGES):
            return "nulls" if symptom[1] == _NOT_NULL else "values"
        return "faults" if symptom[0] in _OF_FAULTS else "cells" if symptom[0] in _OF_CELLS else "rows"

    def _of_fault(self, case: Case, number: int) -> frozenset[Trait]:
        members = self._of_message(case.written[number].message)
        return frozenset({("any",), ("fault", case.fault or "none"), *_of_profile(case), *members})

    def _of_row(self, case: Case, number: int, change: Change) -> frozenset[Trait]:
        written = case.written[number]
        traits = {("any",), *_of_profile(case), *self._of_message(written.message)}
        traits.add(("op", change.op or "") if change.kind is Kind.ROW else ("kind", change.kind.value))
        traits.update(("trait", tag) for tag in case.tags - _UNSAID)
        if sum(one.kind is Kind.ROW for one in written.changes) > 1:
            traits.update({("several",), *([("later",)] if change.row else [])})
            images = change.op, change.before, change.after
            if any((one.op, one.before, one.after) == images for one in written.changes if one.row < change.row):
                traits.add(("equal",))
        before, after = (change.image(side, case.level) or {} for side in ("before", "after"))
        for side, image in (("before", before), ("after", after)):
            traits.update([("bare", side)] if {cell.state for cell in image.values()} - {State.ABSENT} == {State.NULL} else [])
        if change.op is Op.UPDATE and before and after:
            traits.update([("same",)] if before == after else [])
            traits.update([("rekeyed",)] if any(before.get(key) != after.get(key) for key in change.keys or ()) else [])
        return frozenset(traits)

    def _of_message(self, message: Message) -> frozenset[Trait]:
        """The members of a JSON document that are null, or empty: such words lead a reader to the line that is wrong."""
        if id(message) not in self._members:
            try:
                document = json.loads(message.value or b"")
            except ValueError:
                document = None
            self._members[id(message)] = frozenset(_members(document))
        return self._members[id(message)]


def _members(document: Any, within: str = "") -> Iterator[Trait]:
    for name, value in document.items() if isinstance(document, dict) else ():
        if value is None or value == [] or value == {}:
            yield ("null" if value is None else "empty", f"{within}{name}")
        elif name == "payload":
            yield from _members(value, "payload.")


def _of_profile(case: Case) -> Iterator[Trait]:
    release, *options = case.profile.split("+")
    yield "release", release
    yield from (("option", option) for option in options)
    if case.deployment.compression != "none":
        yield "packed", case.deployment.compression


def _of_cells(change: Change, level: int) -> frozenset[Trait]:
    """The traits of a row's cells, without those of their place."""
    return frozenset(
        trait
        for side, column, cell in cells(change, level)
        for trait in _of_cell(side, column, change, cell)
        if trait[0] not in _OF_PLACES
    )


_SIGNS: Final = {" ": "a blank", "\n": "a line feed", "\t": "a tab"}
_BEYOND: Final = "characters beyond ASCII"


def _of_name(side: str, column: str, change: Change) -> set[Trait]:
    traits: set[Trait] = {("side", side), ("image", side, change.op or "")}
    traits.update([("capital",)] if column != column.lower() else [])
    traits.update([("small",)] if column != column.upper() else [])
    traits.update([("key",)] if column in (change.keys or ()) else [])
    old, new = (change.before or {}).get(column), (change.after or {}).get(column)
    traits.update([("unchanged",)] if old is not None and old == new else [])
    traits.update([("quoted",)] if not column.isidentifier() else [])
    traits.update(
        ("sign", _SIGNS.get(c, c) if c.isascii() else _BEYOND) for c in column if not (c.isascii() and (c.isalnum() or c == "_"))
    )
    return traits


def _of_cell(side: str, column: str, change: Change, cell: Cell) -> frozenset[Trait]:
    name, traits = declared(cell.type), _of_name(side, column, change)
    if cell.state is State.NULL:
        return frozenset({*traits, ("nothing", name), ("void",)})
    if cell.state is State.ABSENT:
        return frozenset(traits)
    traits |= {("type", name), ("family", cell.type.logical.value)}
    traits.update([("class", name, cell.cls), ("kin", cell.type.logical.value, cell.cls)] if cell.cls else [])
    traits.update([("like", cell.cls)] if cell.cls and cell.type.logical in _CALENDARS else [])
    traits.update([("unsigned",)] if cell.type.unsigned else [])
    signed = isinstance(cell.value, int | float | Decimal) and cell.type.logical in _SIGNED
    traits.update([("negative", cell.type.logical.value)] if signed and str(cell.value).startswith("-") else [])
    return frozenset(traits)


@dataclass(frozen=True, slots=True)
class _Named:
    """Units that fail with a symptom, and the traits that they share; () for those that nothing tells from others."""

    traits: tuple[Trait, ...]
    some: list[_Failing]
    sure: bool

    @property
    def families(self) -> frozenset[str]:
        """The types' families of the units."""
        return frozenset(_REAL.get(trait[1], trait[1]) for one in self.some for trait in one.traits if trait[0] == "family")

    def noun(self, unit: str) -> str:
        """What is told of."""
        told = " and ".join(_SORTS[sort].format(*words, unit=unit) for sort, *words in self.traits)
        if told:
            return f"{'every' if self.sure else 'nearly every'} {told}"
        return f"{_SOME} {unit}" + (f" of the {' and '.join(self.families)} types" if len(self.families) == 1 else "")


def _explained(
    symptom: Trait, failing: Sequence[_Failing], population: _Population, by_chance: bool
) -> Iterator[tuple[tuple[Trait, ...], str, list[_Failing]]]:
    """Traits and sentences on a symptom with what each explains: greedily the traits of the most failing units."""
    left, named = list(failing), list[_Named]()
    actual = ", ".join(islice(dict.fromkeys(one.finding.actual for one in failing), FAULTS))
    verb, unit = partial(_SAID[symptom[0]].format, *symptom[1:], actual=actual), _UNITS.get(symptom[0], "row")
    while left and len(named) < MOST:
        traits = population.guilty(symptom, left)
        if symptom == _SHUFFLED:
            yield (symptom,), "the rows of a message have each other's values", left
            return
        if symptom[0] in _OF_FAULTS and (len(traits) != 1 or traits[0][0] == "fault"):
            faults = dict.fromkeys(one.result.case.fault for one in left)
            shown = ", ".join(islice(faults, FAULTS)) + (f" and {len(faults) - FAULTS} more" if len(faults) > FAULTS else "")
            shared = frozenset.intersection(*(one.traits for one in left))
            members = tuple(sorted(trait for trait in shared if trait[0] in _MEMBERS))
            yield members, verb(f"a message with {shown}"), left
            return
        some = [one for one in left if one.traits.issuperset(traits)]
        if not traits and by_chance:
            yield (), f"{verb(f'{_SOME} {unit}')} only among certain other messages", some
            return
        parts = _by_family(some) if symptom[0] in _OF_CELLS and not traits else {"": some}
        named += [_Named(traits, part, population.sure(symptom, traits)) for part in parts.values()]
        left = [one for one in left if not one.traits.issuperset(traits)]
    for group in _together(symptom, named):
        whole = [one for one in group if one.traits[:1] and one.traits[0][0] == "family"]
        nouns = [one.noun(unit) for one in whole or group if one.traits] or [group[0].noun(unit)]
        more = f" and {len(nouns) - NOUNS} more" if len(nouns) > NOUNS else ""
        first, *rest = nouns[:NOUNS]
        if symptom[0] == "field" or _IMAGES in symptom[-1]:
            told = f"{first} and others" if rest else first
        else:
            told = ", ".join((first, *(noun.removeprefix("nearly ").removeprefix(f"every {unit} ") for noun in rest))) + more
        traits = group[0].traits or tuple(("family", one) for one in group[0].families if len(group[0].families) == 1)
        yield traits, verb(told), [failing for one in group for failing in one.some]


def _by_family(some: Iterable[_Failing]) -> dict[str, list[_Failing]]:
    out: dict[str, list[_Failing]] = defaultdict(list)
    for one in some:
        out[_family(one)].append(one)
    return out


def _is_one(symptom: Trait) -> bool:
    """Whether all that has the symptom is one mistake: a field's, values of the other image, values for NULLs."""
    return (
        symptom[0] == "field"
        or _NO_COLUMNS in symptom
        or symptom[1:] == (_NOT_NULL,)
        or (symptom[0] == "value" and symptom[1].endswith(_IMAGES))
    )


def _together(symptom: Trait, named: Sequence[_Named]) -> Iterator[list[_Named]]:
    """What is one mistake: a field's, and values of one family of types, whichever types and classes of it; what no trait
    tells goes to what has its families."""
    groups: list[list[_Named]] = []
    for one in named:
        mine = one.families if symptom[0] in _OF_CELLS else frozenset()
        for group in groups:
            theirs = group[0].families
            rest = not one.traits and (mine & theirs if symptom[0] in _OF_CELLS else len(one.some) <= _REST * len(group[0].some))
            if _is_one(symptom) or (mine and (mine <= theirs or theirs <= mine)) or rest:
                group.append(one)
                break
        else:
            groups.append([one])
    return iter(groups)


NOUNS: Final = 3
"""Types and classes that a sentence on a family names."""
_SAID: Final[Mapping[str, str]] = {
    "missing": "{0} is lost",
    "corrupt": "{0} is refused",
    "extra": "{0} comes out more than once, or from nothing",
    "op": "{0} comes out as {actual}",
    "field": "the column {0} is wrong for {1}",
    "image": "{2} comes out {1} {0}",
    "presence": "{1} {0}",
    "value": "{1} {0}",
    "shuffled": "{0}",
    "vanishes": "{0}, which cannot be read, vanishes without a CORRUPT row",
    "accepted": "{0}, which cannot be read, is accepted",
}


def _mistake(traits: tuple[Trait, ...], sentence: str, some: Sequence[_Failing], rules: Mapping[str, Rule]) -> Mistake:
    """The mistake with the smallest of its cases."""
    small = min(some, key=lambda one: (one.result.case.deployment.compression != "none", _size(one.result.case)))
    broken = tuple(dict.fromkeys(one.finding.rule for one in some))
    must = any(rules[rule].obligation is Obligation.MUST for rule in broken)
    cases = frozenset(one.result.case.id for one in some)
    places = frozenset(place(one.finding) for one in some)
    obligation = Obligation.MUST if must else Obligation.SHOULD
    return Mistake(traits, sentence, broken, obligation, cases, places, small.finding, small.result)


def place(finding: Finding) -> Place:
    """Where a finding is."""
    return finding.case, finding.message, finding.row, finding.side, finding.column


def _size(case: Case) -> int:
    return sum(written.message.size for written in case.written)


def _merged(named: Iterable[Mistake]) -> list[Mistake]:
    """Mistakes on the same cases, or messages of the same member, are one; one that nothing explains belongs to another that has
    its cases, too."""
    kept: list[Mistake] = []
    for one in sorted(named, key=_leading):
        for number, other in enumerate(kept):
            leads = other.traits == (_SHUFFLED,) or other.sentence.endswith(_IMAGES)
            follows = _vague(one) or leads
            wide = not leads and len(other.cases) > _WIDE * len(one.cases)
            vague = follows and not wide and _alike(one.cases, one.cases & other.cases)
            member = bool(other.traits) and all(trait[0] in _MEMBERS and trait in one.traits for trait in other.traits)
            member |= all(len(each) == 1 and each[0][0] == "bare" for each in (one.traits, other.traits))
            # Of the same values it is one mistake, whatever the hints.
            member |= bool(one.traits) and one.traits == other.traits and _WORDS in one.sentence and _WORDS in other.sentence
            if vague or member or _alike(one.cases, other.cases):
                rules = tuple(dict.fromkeys((*other.rules, *one.rules)))
                kept[number] = replace(other, rules=rules, cases=other.cases | one.cases, broken=other.broken | one.broken)
                break
        else:
            kept.append(one)
    return kept


def _vague(one: Mistake) -> bool:
    return not one.traits and one.sentence.startswith(_SOME)


def _leading(one: Mistake) -> tuple[bool, bool, int]:
    """The vague ones last, those that spoil a row's other values first."""
    return _vague(one), one.traits != (_SHUFFLED,) and not one.sentence.endswith(_IMAGES), -len(one.cases)


def _alike(some: Collection[str], others: Collection[str]) -> bool:
    return len(set(some) & set(others)) >= _ALIKE * len(set(some) | set(others))
