"""What the failing and the other units of a run have: owed rows, their compared cells, and the
messages that cannot be read.

Each unit has traits: its op, its place in the message, types, value classes, members of the
document that are null or empty, the release, its options. `Population` finds the few traits that
the most failing units have, and nearly no other unit.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from typing import Any, Final, Literal, TypeAlias

from conformance.judging.causes import cell_of, cells, change_of, declared
from conformance.judging.counted import Counted, counted
from conformance.judging.judge import CaseResult, Finding, Verdict
from conformance.judging.output import ENVELOPE
from conformance.judging.relations import CHARACTER_SORTS
from conformance.judging.wording import instant, said
from conformance.rules.rules import Aspect
from generators.model import Case, Cell, Change, Json, Kind, Logical, Op, State, Value

Trait: TypeAlias = tuple[str, ...]
"""A sort and its words, such as ("op", "DELETE") or ("null", "old")."""
Traits: TypeAlias = tuple[Trait, ...]
Unit: TypeAlias = tuple[Hashable, ...]
"""A message and row of a case, at cells also a side and a column."""

PopulationName: TypeAlias = Literal["rows", "faults", "there", "nulls", "values", "absent"]
"""Names of populations: rows, unreadable messages, and cells by what is owed."""

NEARLY: Final = 0.75
"""Share of the units with some traits that must fail: some of them have nothing that a mistake can
spoil.
"""
_SURELY: Final = 0.9
"""The same where they tell what a value holds."""
_MOST: Final = 3
"""Traits that are tried together, where fewer do not tell failing from passing."""
_IN_NUMBER: Final = 3
"""Passing units that each of several traits must shut out: by fewer, it may be there by chance."""
_TRIED: Final = 12
"""The commonest traits, of which some together are tried."""
SORTS: Final = said("sorts")
"""How a trait is said, by its sort."""
_RANKED: Final = (
    *("any", "row", "later", "equal", "same", "rekeyed", "repeated"),
    *("table-sign", "table-capital", "database-sign", "database-capital"),
    *(
        "key-sign",
        "key-capital",
        "untold-key",
        "keys",
        "bare",
        "op",
        "kind",
        "null",
        "empty",
        "several",
    ),
    *(
        "image",
        "side",
        "changed-key",
        "key",
        "behind",
        "unchanged",
        "changed",
        "unsigned",
        "negative",
        "family",
    ),
    *("held", "kin", "like", "type", "keyless", "other-schema"),
    *(
        "changed-later",
        "changed-earlier",
        "void",
        "nothing",
        "envelope-name",
        "capital",
        "small",
        "sign",
        "long",
    ),
    *("quoted", "class", "fault", "packed", "option", "options", "trait", "release"),
    *("plain", "level", "day"),
)
"""Sorts of traits: of those that explain as much, the first is taken."""
_RANK: Final = {sort: number for number, sort in enumerate(_RANKED)}
_OF_PLACES: Final = frozenset(
    {
        "image",
        "side",
        "void",
        "small",
        "key",
        "plain",
        "unchanged",
        "changed",
        "changed-key",
        "behind",
    }
)
"""Sorts of traits that say nothing of a row as a whole."""
_UNSAID: Final = frozenset({"boundary", "drawn"})
_SIGNED: Final = (Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE, Logical.TIME)
_CALENDARS: Final = (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP)
_SECOND: Final = 1_000_000
_HOUR: Final = 3_600 * _SECOND
_DAY: Final = 24 * _HOUR
_EPOCH: Final = dt.date(1970, 1, 1)
_LAST_YEAR: Final = (dt.date(9999, 1, 1) - _EPOCH).days * _DAY
_SIGNS: Final = {" ": "a blank", "\n": "a line feed", "\t": "a tab"}
_WORD_NULL: Final = "literal-null"
"""The class of a text that any scenario may have."""
_OF_ENVELOPES: Final = frozenset({("keys", "with a key")})
"""Traits that explain what is wrong in a row's envelope, but never in its cells."""
_NAMES_OF_ENVELOPES: Final = frozenset(
    {
        *ENVELOPE,
        *("after", "before", "data", "es", "kind", "old", "payload", "row", "schema", "source"),
        *("ts", "type"),
    }
)
"""Names that columns share with members of documents, or with columns of the output."""
_LONG_NAME: Final = 30
"""Characters of a name that older databases keep."""
_BEYOND: Final = "characters beyond ASCII"
_LENGTHS: Final = (16, 200, 255, 32_767, 65_535, 1_000_000)
"""Characters, or bytes, at which decoders cut."""
_WIDTHS: Final = (7, 8, 15, 16, 31, 32, 53, 63)
"""Bits of the integers that decoders hold."""
_DIGITS: Final = (15, 18, 28, 38)
"""Digits of the decimals that decoders hold."""
_PLACES: Final = (2, 6, 10, 18)
"""Digits behind the point that decoders keep."""
_LARGE: Final = (9, 18, 36)
_SMALL: Final = (6, 36)
"""Powers of ten at which decoders lose numbers, or spell them otherwise."""
SIZES: Final = frozenset(
    f"of over {limit:,} {unit}"
    for limits, units in (
        (_LENGTHS, ("characters", "bytes")),
        (_WIDTHS, ("bits",)),
        (_DIGITS, ("digits",)),
        (_PLACES, ("places",)),
    )
    for limit in limits
    for unit in units
)
"""The words of `held` traits on how large a value is."""
_IN_JSON: Final = (
    *(
        ("true or false", r"\b(true|false)\b"),
        ("null", r"\bnull\b"),
        ("a fraction", r"\d[.]\d|\d[eE]-\d"),
    ),
    *(
        ("an object", r"\{"),
        ("an array", r"\["),
        ("an empty object or array", r"\{\}|\[\]"),
        ("over 15 digits", r"\d{16}"),
    ),
)
_IN_TEXTS: Final = (
    *(
        *CHARACTER_SORTS,
        ("a blank at an end", r"\A\s|\s\Z"),
        ("a tab", r"\t"),
        ("double quotes", r'"'),
        ("several blanks together", r"\S[ \t]{2,}\S"),
        ("capital letters", r"[A-Z]"),
        ("small letters", r"[a-z]"),
        ("a colon", r":"),
        ("a comma", r","),
    ),
    *(
        ("characters beyond Latin-1", r"[^\x00-\xff]"),
        ("nothing but true or false", r"\A(true|false)\Z"),
        ("nothing but digits", r"\A\d+\Z"),
        ("leading zeros", r"\A0\d+\Z"),
    ),
)
_IN_BYTES: Final = (
    ("a zero byte", r"\x00"),
    ("leading zero bytes", r"\A\x00"),
    ("zero bytes at the end", r"\x00\Z"),
    ("bytes beyond ASCII", r"[\x80-\xff]"),
    ("line ends", r"[\r\n]"),
    ("control characters", r"[\x00-\x1f\x7f]"),
    ("quotes", r"[\"'`]"),
    ("backslashes", r"\\"),
)
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
    """All units of a format's cases, counted by traits on first use: `rows`, `faults`, and cells
    that are owed as `there`, `nulls`, `values` or `absent`. Units that break none of the `rules`,
    but another, are left out.
    """

    results: Sequence[CaseResult]
    rules: Container[str]
    _options: dict[str, Trait] = field(default_factory=dict)
    _values: dict[int, frozenset[Trait]] = field(default_factory=dict)
    _has_both_levels: bool = False
    _of_company: dict[str, Mapping[tuple[int, int], frozenset[Trait]]] = field(default_factory=dict)
    _counts: dict[PopulationName, Counted[Trait]] = field(default_factory=dict)
    _repeated: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        messages = set[tuple[bytes | None, bytes | None]]()
        for result in self.results:
            for number, written in enumerate(result.case.written):
                message = written.message.key, written.message.value
                if message in messages:
                    self._repeated.add((result.case.id, number))
                messages.add(message)
        self._has_both_levels = len({result.case.level for result in self.results}) > 1
        having: dict[str, list[str]] = defaultdict(list)
        for profile in sorted({result.case.profile for result in self.results}):
            for option in profile.split("+")[1:]:
                having[option].append(profile)
        for option, profiles in having.items():
            alike = [other for other, some in having.items() if some == profiles]
            self._options[option] = (
                ("options", ", ".join(alike)) if alike[1:] else ("option", option)
            )

    def guilty(
        self,
        which: PopulationName,
        bad: Sequence[frozenset[Trait]],
        left: Sequence[Failing],
        may_explain: Callable[[Trait], bool] = lambda _trait: True,
        favoured: Container[Trait] = (),
    ) -> tuple[Traits, bool]:
        """The few traits of the most of these failing units that nearly no other unit has, () if
        there are none, and whether no other has them at all. `bad` are the traits of all units that
        fail so, or show nothing of a trait's innocence. Only traits that `may_explain` the
        deviation are tried; of those that explain as much, the `favoured` are taken first.
        """
        every, failing, failed = (
            self._counted(which),
            counted(filter(may_explain, unit.traits) for unit in left),
            counted(bad),
        )

        def share(traits: Traits) -> float:
            number = every.number(traits)
            return min(1.0, failed.number(traits) / number) if number else 1.0

        def held(traits: Traits) -> int:
            return failing.number(traits) if traits else 0

        def is_needed(traits: Traits) -> bool:
            """Whether every trait of several shuts out units that pass: without it, the others
            would not explain the failures.
            """
            if len(traits) == 1:
                return True
            for index in range(len(traits)):
                others = (*traits[:index], *traits[index + 1 :])
                if every.number(others) - failed.number(others) < _IN_NUMBER:
                    return False
            return True

        def best(several: Iterable[Traits]) -> Traits:
            least = (
                (traits, _SURELY if any(trait[0] == "held" for trait in traits) else NEARLY)
                for traits in several
            )
            fine = [
                (traits, part)
                for traits, enough in least
                if (part := share(traits)) >= enough and is_needed(traits)
            ]
            worth = [
                (
                    -held(traits) * part**2,
                    not any(trait in favoured for trait in traits),
                    [_RANK[sort] for sort, *_ in traits],
                    traits,
                )
                for traits, part in fine
            ]
            return min(worth, default=(0.0, True, [], ()))[3]

        chosen = best((trait,) for trait in failing.having)
        most = sorted(failing.having, key=lambda trait: (-held((trait,)), trait))[: _TRIED + 1]
        common = sorted(
            (trait for trait in most if trait != ("any",)),
            key=lambda trait: (_RANK[trait[0]], trait),
        )
        for size in range(2, _MOST + 1):
            # Of one or two units nearly any two traits together are theirs alone.
            if held(chosen) > len(left) / 2 or len(left) < _IN_NUMBER:
                break
            chosen = max((chosen, best(filter(held, combinations(common, size)))), key=held)
        return chosen, share(chosen) == 1

    def failing_share(
        self,
        which: PopulationName,
        bad: Sequence[frozenset[Trait]],
        alternatives: Iterable[Traits],
    ) -> float:
        """The share of the units with any of these sets of traits, which exclude each other, that
        fail; `bad` are the traits of those.
        """
        every, failed, units, failing = self._counted(which), counted(bad), 0, 0
        for traits in alternatives:
            units += every.number(traits)
            failing += failed.number(traits)
        return min(1.0, failing / units) if units else 1.0

    def _counted(self, which: PopulationName) -> Counted[Trait]:
        if which not in self._counts:
            self._counts[which] = counted(self._units(which))
        return self._counts[which]

    def families(self, trait: Trait) -> frozenset[str]:
        """The families of types of the values that have the trait."""
        values = self._counted("values")
        return frozenset(
            _REAL.get(t[1], t[1])
            for t in values.having
            if t[0] == "family" and values.number((trait, t))
        )

    def traits(self, which: PopulationName, finding: Finding, case: Case) -> frozenset[Trait]:
        """The traits of a failing unit."""
        if which == "faults":
            return self._of_fault(case, finding.message)
        change, cell = change_of(finding, case), cell_of(finding, case)
        if change is None:
            return frozenset({("any",)})
        row = self._of_row(case, finding.message, change)
        if which == "rows":
            return row | self._of_cells(change, case.level)
        side, column = finding.side, finding.column or ""
        row -= _OF_ENVELOPES
        if cell is None:
            return row | _of_name(side, column, change)
        return row | self._of_cell(side, column, change, cell) | _of_null(which, cell)

    def _units(self, which: PopulationName) -> Iterator[frozenset[Trait]]:
        for result in self.results:
            if result.verdict in (Verdict.UNSUPPORTED, Verdict.ERRORED, Verdict.TIMEOUT):
                continue
            case = result.case
            lost = {
                (f.message, f.row, f.side * (f.aspect is Aspect.IMAGE))
                for f in result.findings
                if f.aspect in _HIDING
            }
            unbound_rows = {
                (f.message, f.row)
                for f in result.findings
                if f.aspect in _HIDING and f.rule not in self.rules
            }
            open_ = {
                (f.message, f.row, f.side, f.column)
                for f in result.findings
                if f.rule not in self.rules
            }
            for number, written in enumerate(case.written):
                for change in written.changes:
                    if which in ("rows", "faults"):
                        is_unbound = which == "rows" and (number, change.row) in unbound_rows
                        if (change.kind is Kind.CORRUPT) == (which == "faults") and not is_unbound:
                            of_all = (
                                self._of_fault(case, number)
                                if which == "faults"
                                else self._of_row(case, number, change)
                            )
                            yield (
                                of_all
                                if which == "faults"
                                else of_all | self._of_cells(change, case.level)
                            )
                    elif (number, change.row, "") not in lost:
                        row = self._of_row(case, number, change) - _OF_ENVELOPES
                        for side, column, cell in cells(change, case.level):
                            unit = number, change.row, side, column
                            if (
                                unit not in open_
                                and unit[:3] not in lost
                                and _OWED[which](cell.state, case.level)
                            ):
                                of_cell = self._of_cell(side, column, change, cell)
                                yield row | of_cell | _of_null(which, cell)

    def _of_fault(self, case: Case, number: int) -> frozenset[Trait]:
        members = _of_message(case.written[number].message.value)
        return frozenset(
            {
                ("any",),
                ("fault", case.fault or "none"),
                *self._of_profile(case),
                *self._of_level(case),
                *self._of_repetition(case, number),
                *members,
            }
        )

    def _of_row(self, case: Case, number: int, change: Change) -> frozenset[Trait]:
        written = case.written[number]
        traits = {
            ("any",),
            *self._of_profile(case),
            *self._of_level(case),
            *self._of_repetition(case, number),
            *_of_message(written.message.value),
            *_of_record(case, number),
            *_of_key(change),
            *_of_table(change),
            *self._of_other_changes(case, number, change),
        }
        traits.add(
            ("op", change.op or "") if change.kind is Kind.ROW else ("kind", change.kind.value)
        )
        traits.update(("trait", tag) for tag in case.tags - _UNSAID)
        if sum(other.kind is Kind.ROW for other in written.changes) > 1:
            traits.update({("several",), *([("later",)] if change.row else [])})
            images = change.op, change.before, change.after
            if any(
                (other.op, other.before, other.after) == images
                for other in written.changes
                if other.row < change.row
            ):
                traits.add(("equal",))
        before, after = (change.image(side, case.level) or {} for side in ("before", "after"))
        for side, image in (("before", before), ("after", after)):
            states = {cell.state for cell in image.values()}
            if states and states <= {State.NULL, State.ABSENT}:
                traits.add(("bare", side))
        if change.op is Op.UPDATE and before and after:
            traits.update([("same",)] if before == after else [])
            traits.update(
                [("rekeyed",)]
                if any(before.get(key) != after.get(key) for key in change.keys or ())
                else []
            )
        return frozenset(traits)

    def _of_cells(self, change: Change, level: int) -> frozenset[Trait]:
        """The traits of a row's cells, without those of their place, and that it is a row."""
        return frozenset([("row",)] if change.kind is Kind.ROW else []) | frozenset(
            trait
            for side, column, cell in cells(change, level)
            for trait in self._of_cell(side, column, change, cell)
            if trait[0] not in _OF_PLACES
        )

    def _of_cell(self, side: str, column: str, change: Change, cell: Cell) -> frozenset[Trait]:
        if id(cell) not in self._values:
            self._values[id(cell)] = frozenset(_of_value(cell))
        return self._values[id(cell)] | _of_name(side, column, change)

    def _of_level(self, case: Case) -> Iterator[Trait]:
        """The level, if the run has both."""
        if self._has_both_levels:
            yield "level", "two" if case.level == 2 else "one"

    def _of_repetition(self, case: Case, number: int) -> Iterator[Trait]:
        """Whether an earlier message of the run has the same key and value."""
        if (case.id, number) in self._repeated:
            yield ("repeated",)

    def _of_other_changes(self, case: Case, number: int, change: Change) -> frozenset[Trait]:
        """Whether earlier or later rows of the case change the same key."""
        if case.id not in self._of_company:
            self._of_company[case.id] = _find_changes_of_same_keys(case)
        return self._of_company[case.id].get((number, change.row), frozenset())

    def _of_profile(self, case: Case) -> Iterator[Trait]:
        release, *options = case.profile.split("+")
        yield "release", release
        yield from (self._options[option] for option in options)
        if case.deployment.compression != "none":
            yield "packed", case.deployment.compression


_OWED: Final[dict[PopulationName, Callable[[State, int], bool]]] = {
    "there": lambda state, level: (
        state is not State.ABSENT and (level == 1 or state is not State.NULL)
    ),
    "absent": lambda state, level: state is State.ABSENT,
    "nulls": lambda state, level: state is State.NULL or (level == 2 and state is State.ABSENT),
    "values": lambda state, level: state not in (State.NULL, State.ABSENT),
}
"""Whether a cell is of a population, by what is owed: level two has NULL for what is absent."""


def _of_null(which: PopulationName, cell: Cell) -> frozenset[Trait]:
    """The family of a NULL's type, where NULLs alone are looked at: elsewhere it has no value that
    could be of one.
    """
    is_null = which == "nulls" and cell.state in (State.NULL, State.ABSENT)
    return frozenset([("family", cell.type.logical.value)]) if is_null else frozenset()


def _of_record(case: Case, number: int) -> Iterator[Trait]:
    """The traits of a record beside its value's content: no key, the schema under another id."""
    message = case.written[number].message
    if message.key is None:
        yield ("keyless",)
    if case.deployment.schemas != "registry":
        return
    earlier = {
        _schema_id(written.message.value)
        for written in case.written[:number]
        if written.message.topic == message.topic
    }
    if earlier - {_schema_id(message.value), b""}:
        yield ("other-schema",)


def _schema_id(value: bytes | None) -> bytes:
    """The magic byte and the schema's id in front of a message from a registry; else b""."""
    return value[:5] if value and value[0] == 0 and len(value) > 5 else b""


def _find_changes_of_same_keys(case: Case) -> Mapping[tuple[int, int], frozenset[Trait]]:
    """The traits of each row, by message and row, on earlier and later rows with its key."""
    rows_of_keys: dict[tuple[object, ...], list[tuple[int, int]]] = defaultdict(list)
    for number, written in enumerate(case.written):
        for change in written.changes:
            for key in _key_values(change):
                rows_of_keys[key].append((number, change.row))
    traits: dict[tuple[int, int], set[Trait]] = defaultdict(set)
    for rows in rows_of_keys.values():
        for row in rows:
            if row > rows[0]:
                traits[row].add(("changed-earlier",))
            if row < rows[-1]:
                traits[row].add(("changed-later",))
    return {row: frozenset(of_row) for row, of_row in traits.items()}


def _key_values(change: Change) -> set[tuple[object, ...]]:
    """The table and the key values of a row, before and after an UPDATE of the key; nothing for a
    row without a key.
    """
    found: set[tuple[object, ...]] = set()
    if change.kind is not Kind.ROW or not change.keys:
        return found
    for image in (change.before, change.after):
        cells_of_key = [(image or {}).get(name) for name in change.keys]
        values = [repr(cell.value) for cell in cells_of_key if cell and cell.state is State.VALUE]
        if len(values) == len(change.keys):
            found.add((change.database, change.table, *values))
    return found


@lru_cache(maxsize=1 << 14)
def _of_message(value: bytes | None) -> frozenset[Trait]:
    """A trait for each member of a message's JSON document, and of its `payload`, that is null or
    empty: in a report their names lead to the decoder's line that misreads them. None if the
    message is no JSON.
    """
    try:
        return frozenset(_members(json.loads(value or b"")))
    except ValueError:
        return frozenset()


def _members(document: Any, within: str = "") -> Iterator[Trait]:
    for name, value in document.items() if isinstance(document, dict) else ():
        if value is None or value == [] or value == {}:
            yield ("null" if value is None else "empty", f"{within}{name}")
        elif name == "payload":
            yield from _members(value, "payload.")


def _of_key(change: Change) -> Iterator[Trait]:
    keys, columns = change.keys, list(change.after or change.before or ())
    if keys is None and change.kind is Kind.ROW:
        yield ("untold-key",)
    if keys is not None and change.kind is Kind.ROW:
        yield "keys", "with a key" if keys else "without a key"
        if len(keys) > 1:
            yield "keys", "with a key of several columns"
        if keys and list(keys) != columns[: len(keys)]:
            yield "keys", "whose first columns are not its key"


def _of_table(change: Change) -> Iterator[Trait]:
    """The traits of the names of a row's table and database, and of its key's columns."""
    names: dict[str, tuple[str, ...]] = {
        "table": (change.table or "",),
        "database": (change.database or "",),
    }
    if change.kind is Kind.ROW:
        names["key"] = change.keys or ()
    for sort, of_sort in names.items():
        for name in of_sort:
            if name != name.lower():
                yield (f"{sort}-capital",)
            for sign in _signs_of(name):
                yield f"{sort}-sign", sign


def _of_name(side: str, column: str, change: Change) -> set[Trait]:
    traits: set[Trait] = {("side", side), ("image", side, change.op or ""), *_of_column(column)}
    image = (change.before if side == "before" else change.after) or {}
    if column != next(iter(image), column):
        traits.add(("behind",))
    is_of_key = column in (change.keys or ())
    traits.add(("key",) if is_of_key else ("plain",))
    old, new = (change.before or {}).get(column), (change.after or {}).get(column)
    traits.update(
        [("unchanged" if old == new else "changed",)] if old is not None and new is not None else []
    )
    if is_of_key and ("changed",) in traits:
        traits.add(("changed-key",))
    return traits


def _signs_of(name: str) -> frozenset[str]:
    """The characters of a name that are no letters, digits or low lines of ASCII, in words."""
    signs = (sign for sign in name if not (sign.isascii() and (sign.isalnum() or sign == "_")))
    return frozenset(_SIGNS.get(sign, sign) if sign.isascii() else _BEYOND for sign in signs)


@lru_cache(maxsize=1 << 14)
def _of_column(name: str) -> frozenset[Trait]:
    traits: set[Trait] = {("sign", sign) for sign in _signs_of(name)}
    traits.update([("capital",)] if name != name.lower() else [])
    traits.update([("small",)] if name != name.upper() else [])
    traits.update([("long", str(_LONG_NAME))] if len(name) > _LONG_NAME else [])
    traits.update([("quoted",)] if not name.isidentifier() else [])
    traits.update([("envelope-name",)] if name in _NAMES_OF_ENVELOPES else [])
    return frozenset(traits)


def _of_value(cell: Cell) -> Iterator[Trait]:
    """The traits of a cell, whatever its name and row."""
    name, family = declared(cell.type), cell.type.logical
    if cell.state is State.NULL:
        yield from (("nothing", name), ("void",))
    if cell.state in (State.NULL, State.ABSENT):
        return
    yield from (("type", name), ("family", family.value))
    cls = (
        _WORD_NULL if isinstance(cell.value, str) and cell.value.casefold() == "null" else cell.cls
    )
    if cls:
        yield from (("class", name, cls), ("kin", family.value, cls))
    if cls and family in _CALENDARS:
        yield "like", cls
    if cell.type.unsigned:
        yield ("unsigned",)
    if (
        isinstance(cell.value, int | float | Decimal)
        and family in _SIGNED
        and str(cell.value).startswith("-")
    ):
        yield "negative", family.value
    value = cell.value
    if isinstance(value, Json):
        if _is_nested(value.value):
            yield "held", family.value, "with an object or array within another"
        value = value.text or json.dumps(value.value, default=str, ensure_ascii=False)
    yield from (
        ("held", _REAL.get(family.value, family.value), words) for words in _held(value, family)
    )
    if family in (Logical.DATETIME, Logical.TIMESTAMP) and isinstance(value, int):
        yield "day", family.value, instant(value).partition("T")[0]


def _is_nested(document: Any) -> bool:
    """Whether a document has an object or array within another."""
    members = document.values() if isinstance(document, dict) else document
    return isinstance(document, dict | list) and any(
        isinstance(member, dict | list) for member in members
    )


@lru_cache(maxsize=1 << 14)
def _held(value: Value, family: Logical) -> tuple[str, ...]:
    """What a value holds that decoders lose."""
    text, unit = (
        (value.decode("latin-1"), "bytes") if isinstance(value, bytes) else (value, "characters")
    )
    if isinstance(text, str):
        patterns: tuple[tuple[str, str], ...] = _IN_BYTES if isinstance(value, bytes) else _IN_TEXTS
        if family is Logical.JSON:
            patterns += _IN_JSON
        matches = {f"with {sort}": re.search(pattern, text) for sort, pattern in patterns}
        return *(words for words, match in matches.items() if match), *_over(
            len(text), _LENGTHS, unit
        )
    if family in _CALENDARS or family is Logical.TIME:
        micros = (
            (value - _EPOCH).days * _DAY
            if isinstance(value, dt.date)
            else value
            if isinstance(value, int)
            else 0
        )
        of_date = family is not Logical.TIME
        those = {
            "before 1970": of_date and micros < 0,
            "beyond 32 bits of seconds": of_date and not -(1 << 31) <= micros // _SECOND < 1 << 31,
            "of over a day": not of_date and abs(micros) >= _DAY,
            "of over 100 hours": not of_date and abs(micros) >= 100 * _HOUR,
            "between -01:00:00 and 0": not of_date and -_HOUR < micros < 0,
            "between -00:00:01 and 0": not of_date and -_SECOND < micros < 0,
            "with a fraction": micros % _SECOND,
            "with a time of day": of_date and micros % _DAY,
            "at midnight": of_date and family is not Logical.DATE and not micros % _DAY,
            "that is 0": not of_date and not micros,
            "of the year 9999": of_date and micros >= _LAST_YEAR,
        }
        return tuple(words for words, is_so in those.items() if is_so)
    if isinstance(value, int):
        return *_over(value.bit_length(), _WIDTHS, "bits"), *(["that is 0"] if value == 0 else [])
    if isinstance(value, Decimal | float):
        return tuple(_held_by_number(Decimal(str(value))))
    return ()


def _held_by_number(number: Decimal) -> Iterator[str]:
    """What a number holds that decoders lose: digits, digits of a fraction."""
    yield from _over(len(number.as_tuple().digits), _DIGITS, "digits")
    if number == 0:
        yield "that is 0"
        return
    if not number.is_finite():
        return
    digits = "".join(map(str, number.as_tuple().digits))
    places = -int(number.as_tuple().exponent) - (len(digits) - len(digits.rstrip("0")))
    if places > 0:
        yield "with a fraction"
    yield from (f"of over 10^{power}" for power in _LARGE if abs(number) > Decimal(10) ** power)
    yield from (f"of under 10^-{power}" for power in _SMALL if abs(number) < Decimal(10) ** -power)
    yield from _over(places, _PLACES, "places")


def _over(size: int, limits: Iterable[int], unit: str) -> Iterator[str]:
    return (f"of over {limit:,} {unit}" for limit in limits if size > limit)
