"""What the failing and the other units of a run have: owed rows, their compared cells, and the messages that cannot be read.

Each unit has traits: its op, its place in the message, types, value classes, members of the document that are null or empty, the
release, its options. `Population` finds the few traits that the most failing units have, and nearly no other unit.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations
from typing import Any, Final, TypeAlias

from conformance.judging.causes import cell_of, cells, change_of, declared
from conformance.judging.counted import Counted, counted
from conformance.judging.judge import CaseResult, Finding, Verdict
from conformance.rules.rules import Aspect
from generators.model import Case, Cell, Change, Kind, Logical, Message, Op, State

Trait: TypeAlias = tuple[str, ...]
"""A sort and its words, such as ("op", "DELETE") or ("null", "old")."""
Traits: TypeAlias = tuple[Trait, ...]
Unit: TypeAlias = tuple[Hashable, ...]
"""A message and row of a case, at cells also a side and a column."""

NEARLY: Final = 0.75
"""Share of the units with some traits that must fail: some of them have nothing that a mistake can spoil."""
_MOST: Final = 3
"""Traits that are tried together, where fewer do not tell failing from passing."""
_TRIED: Final = 12
"""The commonest traits, of which some together are tried."""
SORTS: Final = {
    "any": "{unit}",
    "row": "{unit} of any op",
    "later": "{unit} after the first row of its message",
    "equal": "{unit} that equals an earlier row of its message",
    "same": "{unit} of an UPDATE that changes nothing",
    "rekeyed": "{unit} of an UPDATE that changes the key",
    "bare": "{unit} with nothing but NULLs in the {0} image",
    "op": "{unit} of {0}",
    "kind": "{0} message",
    "keys": "{unit} of a table {0}",
    "null": "{unit} of a document whose `{0}` is null",
    "empty": "{unit} of a document whose `{0}` is empty",
    "several": "{unit} of a message with several rows",
    "image": "{unit} in the {0} image of {1}",
    "side": "{unit} in the {0} image",
    "key": "{unit} of the key",
    "unchanged": "{unit} that the UPDATE does not change",
    "changed": "{unit} that the UPDATE changes",
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
    "long": "{unit} whose name has over {0} characters",
    "quoted": "{unit} whose name needs quotes",
    "class": "{unit} of {0} in the class {1}",
    "fault": "message with the fault {0}",
    "packed": "{unit} of a message compressed with {0}",
    "option": "{unit} under the option {0}",
    "options": "{unit} under the options {0}, which no profile has apart",
    "trait": "{unit} with the trait {0}",
    "release": "{unit} of release {0}",
    "plain": "{unit} that is not of the key",
}
"""How a trait is said, by its sort; of traits that explain as much, the first sort here is taken."""
_RANK: Final = {sort: number for number, sort in enumerate(SORTS)}
_OF_PLACES: Final = frozenset({"image", "side", "void", "small", "key", "plain", "unchanged", "changed"})
"""Sorts of traits that say nothing of a row as a whole."""
_UNSAID: Final = frozenset({"boundary", "drawn"})
_SIGNED: Final = (Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE, Logical.TIME)
_CALENDARS: Final = (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP)
_SIGNS: Final = {" ": "a blank", "\n": "a line feed", "\t": "a tab"}
_WORD_NULL: Final = "literal-null"
"""The class of a text that any scenario may have."""
_LONG_NAME: Final = 30
"""Characters of a name that older databases keep."""
_BEYOND: Final = "characters beyond ASCII"
_REAL: Final = {"double": "float"}
"""Families that decoders read alike."""
_HIDING: Final = (Aspect.MISSING, Aspect.CORRUPT, Aspect.KIND, Aspect.OP, Aspect.IMAGE)
"""What is wrong with a row, or with its image, whose cells are not compared."""


@dataclass(frozen=True, slots=True)
class Failing:
    """A unit that fails."""

    unit: Unit
    traits: frozenset[Trait]
    finding: Finding
    result: CaseResult

    @property
    def family(self) -> str:
        """The family of the cell's type, or the envelope's field."""
        named = (_REAL.get(trait[1], trait[1]) for trait in self.traits if trait[0] == "family")
        return self.finding.path if self.finding.aspect is Aspect.FIELD else next(named, "")


@dataclass(slots=True)
class Population:
    """All units of a format's cases, counted by traits on first use: `rows`, `faults`, and cells that are owed as `there`,
    `nulls`, `values` or `absent`. Units that break none of the `rules`, but another, are left out."""

    results: Sequence[CaseResult]
    rules: Container[str]
    _options: dict[str, Trait] = field(default_factory=dict)
    _members: dict[int, frozenset[Trait]] = field(default_factory=dict)
    _counts: dict[str, Counted[Trait]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        having: dict[str, list[str]] = defaultdict(list)
        for profile in sorted({result.case.profile for result in self.results}):
            for option in profile.split("+")[1:]:
                having[option].append(profile)
        for option, profiles in having.items():
            alike = [other for other, some in having.items() if some == profiles]
            self._options[option] = ("options", ", ".join(alike)) if alike[1:] else ("option", option)

    def guilty(self, which: str, bad: Sequence[frozenset[Trait]], left: Sequence[Failing]) -> tuple[Traits, bool]:
        """The few traits of the most of these failing units that nearly no other unit has, () if there are none, and whether no
        other has them at all. `bad` are the traits of all units that fail so, or show nothing of a trait's innocence."""
        every, failing, failed = self._counted(which), counted(one.traits for one in left), counted(bad)

        def share(traits: Traits) -> float:
            number = every.number(traits)
            return min(1.0, failed.number(traits) / number) if number else 1.0

        def held(traits: Traits) -> int:
            return failing.number(traits) if traits else 0

        def best(several: Iterable[Traits]) -> Traits:
            fine = [(traits, part) for traits in several if (part := share(traits)) >= NEARLY]
            worth = [(-held(traits) * part**2, [_RANK[sort] for sort, *_ in traits], traits) for traits, part in fine]
            return min(worth, default=(0, [], ()))[2]

        found = best((trait,) for trait in failing.having)
        most = sorted(failing.having, key=lambda trait: (-held((trait,)), trait))[: _TRIED + 1]
        common = sorted((trait for trait in most if trait != ("any",)), key=lambda trait: (_RANK[trait[0]], trait))
        for size in range(2, _MOST + 1):
            if held(found) > len(left) / 2:
                break
            found = max((found, best(filter(held, combinations(common, size)))), key=held)
        return found, share(found) == 1

    def _counted(self, which: str) -> Counted[Trait]:
        if which not in self._counts:
            self._counts[which] = counted(self._units(which))
        return self._counts[which]

    def families(self, trait: Trait) -> frozenset[str]:
        """The families of types of the values that have the trait."""
        values = self._counted("values")
        return frozenset(_REAL.get(one[1], one[1]) for one in values.having if one[0] == "family" and values.number((trait, one)))

    def traits(self, which: str, finding: Finding, case: Case) -> frozenset[Trait]:
        """The traits of a failing unit."""
        if which == "faults":
            return self._of_fault(case, finding.message)
        change, cell = change_of(finding, case), cell_of(finding, case)
        if change is None:
            return frozenset({("any",)})
        row = self._of_row(case, finding.message, change)
        if which == "rows":
            return row | _of_cells(change, case.level)
        side, column = finding.side, finding.column or ""
        return row | (_of_cell(side, column, change, cell) if cell is not None else _of_name(side, column, change))

    def _units(self, which: str) -> Iterator[frozenset[Trait]]:
        for result in self.results:
            if result.verdict in (Verdict.UNSUPPORTED, Verdict.ERRORED, Verdict.TIMEOUT):
                continue
            case = result.case
            lost = {(f.message, f.row, f.side * (f.aspect is Aspect.IMAGE)) for f in result.findings if f.aspect in _HIDING}
            open_ = {(f.message, f.row, f.side, f.column) for f in result.findings if f.rule not in self.rules}
            for number, written in enumerate(case.written):
                for change in written.changes:
                    if which in ("rows", "faults"):
                        if (change.kind is Kind.CORRUPT) == (which == "faults"):
                            of_all = self._of_fault(case, number) if which == "faults" else self._of_row(case, number, change)
                            yield of_all if which == "faults" else of_all | _of_cells(change, case.level)
                    elif (number, change.row, "") not in lost:
                        row = self._of_row(case, number, change)
                        for side, column, cell in cells(change, case.level):
                            unit = number, change.row, side, column
                            if unit not in open_ and unit[:3] not in lost and _OWED[which](cell.state, case.level):
                                yield row | _of_cell(side, column, change, cell)

    def _of_fault(self, case: Case, number: int) -> frozenset[Trait]:
        members = self._of_message(case.written[number].message)
        return frozenset({("any",), ("fault", case.fault or "none"), *self._of_profile(case), *members})

    def _of_row(self, case: Case, number: int, change: Change) -> frozenset[Trait]:
        written = case.written[number]
        traits = {("any",), *self._of_profile(case), *self._of_message(written.message), *_of_key(change)}
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

    def _of_profile(self, case: Case) -> Iterator[Trait]:
        release, *options = case.profile.split("+")
        yield "release", release
        yield from (self._options[option] for option in options)
        if case.deployment.compression != "none":
            yield "packed", case.deployment.compression

    def _of_message(self, message: Message) -> frozenset[Trait]:
        """The members of a JSON document that are null, or empty: such words lead a reader to the line that is wrong."""
        if id(message) not in self._members:
            try:
                document = json.loads(message.value or b"")
            except ValueError:
                document = None
            self._members[id(message)] = frozenset(_members(document))
        return self._members[id(message)]


_OWED: Final[dict[str, Callable[[State, int], bool]]] = {
    "there": lambda state, level: state is not State.ABSENT and (level == 1 or state is not State.NULL),
    "absent": lambda state, level: state is State.ABSENT,
    "nulls": lambda state, level: state is State.NULL or (level == 2 and state is State.ABSENT),
    "values": lambda state, level: state not in (State.NULL, State.ABSENT),
}
"""Whether a cell is of a population, by what is owed: level two has NULL for what is absent."""


def _members(document: Any, within: str = "") -> Iterator[Trait]:
    for name, value in document.items() if isinstance(document, dict) else ():
        if value is None or value == [] or value == {}:
            yield ("null" if value is None else "empty", f"{within}{name}")
        elif name == "payload":
            yield from _members(value, "payload.")


def _of_key(change: Change) -> Iterator[Trait]:
    keys, columns = change.keys, list(change.after or change.before or ())
    if keys is not None and change.kind is Kind.ROW:
        if len(keys) != 1:
            yield "keys", "with a key of several columns" if keys else "without a key"
        if keys and list(keys) != columns[: len(keys)]:
            yield "keys", "whose first columns are not its key"


def _of_cells(change: Change, level: int) -> frozenset[Trait]:
    """The traits of a row's cells, without those of their place, and that it is a row."""
    return frozenset([("row",)] if change.kind is Kind.ROW else []) | frozenset(
        trait
        for side, column, cell in cells(change, level)
        for trait in _of_cell(side, column, change, cell)
        if trait[0] not in _OF_PLACES
    )


def _of_name(side: str, column: str, change: Change) -> set[Trait]:
    traits: set[Trait] = {("side", side), ("image", side, change.op or "")}
    traits.update([("capital",)] if column != column.lower() else [])
    traits.update([("small",)] if column != column.upper() else [])
    traits.add(("key",) if column in (change.keys or ()) else ("plain",))
    old, new = (change.before or {}).get(column), (change.after or {}).get(column)
    traits.update([("unchanged" if old == new else "changed",)] if old is not None and new is not None else [])
    traits.update([("long", str(_LONG_NAME))] if len(column) > _LONG_NAME else [])
    traits.update([("quoted",)] if not column.isidentifier() else [])
    traits.update(
        ("sign", _SIGNS.get(c, c) if c.isascii() else _BEYOND) for c in column if not (c.isascii() and (c.isalnum() or c == "_"))
    )
    return traits


def _of_cell(side: str, column: str, change: Change, cell: Cell) -> frozenset[Trait]:
    name, traits = declared(cell.type), _of_name(side, column, change)
    if cell.state in (State.NULL, State.ABSENT):
        return frozenset({*traits, *([("nothing", name), ("void",)] if cell.state is State.NULL else [])})
    traits |= {("type", name), ("family", cell.type.logical.value)}
    cls = _WORD_NULL if isinstance(cell.value, str) and cell.value.casefold() == "null" else cell.cls
    traits.update([("class", name, cls), ("kin", cell.type.logical.value, cls)] if cls else [])
    traits.update([("like", cls)] if cls and cell.type.logical in _CALENDARS else [])
    traits.update([("unsigned",)] if cell.type.unsigned else [])
    signed = isinstance(cell.value, int | float | Decimal) and cell.type.logical in _SIGNED
    traits.update([("negative", cell.type.logical.value)] if signed and str(cell.value).startswith("-") else [])
    return frozenset(traits)
