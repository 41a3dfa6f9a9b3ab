"""The traits of a unit that a cause may name: what a refused row may have been refused for, and
what a wrong cell, image or message has. A trait is a suspect as long as no row that came out clears
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from conformance.judging.compared_units import ORDINARY_TAGS, cell_of, cells, change_of, op_of
from conformance.judging.findings import CELL, CIRCUMSTANCE, NOT_THERE, Finding
from conformance.judging.trait_sorts import Trait, key_of_trait
from conformance.rules.rules import Aspect
from generators.model import UNPAIRED, Case, Cell, Change, Kind, Op, Origin, State

SHAPES: Final = frozenset(
    {"several", "keys", "no-before", "unknown-before", "quoted", "long-text", "many-columns"}
)
"""Sorts of suspects on how a row is made, whatever its values are."""
_LONG: Final = 65_536
"""Characters of a text beyond which a decoder may refuse its row."""


_WIDE: Final = 100
"""Columns of an image beyond which a decoder may refuse its row."""


NO_ROW: Final[Trait] = ("kind", "none")
"""The suspect of a message from which no change is expected."""


def suspects_of_finding(finding: Finding, case: Case) -> list[Trait]:
    """The suspects (traits that a decoder may fail on) of a finding that is no refusal of a row:
    what it is about, each a sort and its words, such as ("cell", "int", "value"). The narrowest is
    first; for a cell or a statement wider ones follow, which include it.

    A column that the image should not have is no cell, so that its image is the suspect. Of a
    message that must be refused it is the fault, of a message of another table that gave rows
    ("foreign",), of a law that compares calls what the law changed about the call. What nothing
    here fits has the suspect of its message.
    """
    change, cell = change_of(finding, case), cell_of(finding, case)
    of_message = _suspect_of_message(case, change)
    if finding.aspect is Aspect.PRESENCE and finding.came is not NOT_THERE:
        return [_of_side("image", finding, change)]
    if finding.aspect in CELL and cell is not None:
        return [*cell_suspects(cell), _of_side("cells", finding, change)]
    match finding.aspect:
        case Aspect.FIELD:
            if change is None or change.kind is Kind.ROW:
                return [("member", finding.path)]
            return [("member", finding.path, "of", change.kind.value)]
        case Aspect.IMAGE:
            return [_of_side("image", finding, change)]
        case Aspect.ACCEPTED | Aspect.KIND if case.fault:
            return [("fault", case.fault)]
        case Aspect.EXTRA if case.origin is Origin.FOREIGN:
            return [("foreign",)]
        case Aspect.VALUE if finding.path == CIRCUMSTANCE:
            return [("circumstance", finding.circumstance)]
    if change is not None and of_message[0] == "statement":
        return [of_message, ("kind", change.kind.value)]
    return [of_message]


def _of_side(sort: str, finding: Finding, change: Change | None) -> Trait:
    """The suspect (a trait that may be why a decoder fails) of an image (`sort` "image"), or of all
    cells of an image (`sort` "cells"), with its side and the op of its row, such as ("cells",
    "before", "UPDATE"). What is empty is left out.
    """
    return tuple(filter(None, (sort, finding.side, op_of(change))))


def row_suspects(case: Case, message: Iterable[Change], change: Change) -> set[Trait]:
    """What a refused row may have been refused for, as suspects: its cells, its op, its shape (such
    as many columns), and the tags, release and options of the case. `message` are all changes of
    the row's message.
    """
    release, *options = case.profile.split("+")
    suspects: set[Trait] = {("release", release), ("op", op_of(change))}
    suspects |= {("option", option) for option in options}
    suspects |= {("trait", tag) for tag in case.tags - ORDINARY_TAGS}
    if sum(other_change.kind is Kind.ROW for other_change in message) > 1:
        suspects.add(("several",))
    if not change.keys and change.keys is not None:
        suspects.add(("keys", "without a key"))
    before = change.image("before", case.level)
    if change.op is Op.UPDATE and before is None:
        suspects.add(("no-before",))
    if before and any(cell.reason == UNPAIRED for cell in before.values()):
        suspects.add(("unknown-before",))
    for _, column, cell in cells(change, case.level):
        of_cell = cell_suspects(cell)
        of_type = of_cell[0][:2]
        suspects.update((*of_cell, of_type))
        if not column.isidentifier():
            suspects.add(("quoted",))
        if cell.text is not None and len(cell.text) > _LONG:
            suspects.add(("long-text",))
    if (
        max((len(image) for image in (change.before, change.after) if image is not None), default=0)
        > _WIDE
    ):
        suspects.add(("many-columns",))
    return suspects


def suspects_of_rows(case: Case, refused_changes: Iterable[Change]) -> set[Trait]:
    """The suspects (traits that a decoder may have refused a row for) of these refused rows of the
    case. Some of a row's suspects follow from the other changes of its message, so each row is
    looked at among them.
    """
    identities = {id(change) for change in refused_changes}
    suspects: set[Trait] = set()
    for written in case.written:
        for change in written.changes:
            if id(change) in identities:
                suspects |= row_suspects(case, written.changes, change)
    return suspects


def cell_suspects(cell: Cell) -> tuple[Trait, ...]:
    """The suspects (traits that may be why a decoder fails) of a cell, from narrow to wide: its
    value class, then any value of its type, such as ("cell", "int", "value"). Of NULL or an absent
    column there is one suspect.
    """
    return _suspects_by_state(cell.type.key, cell.state, cell.cls)


@cache
def _suspects_by_state(key: str, state: State, cls: str) -> tuple[Trait, ...]:
    """The suspects (traits that may be why a decoder fails) of a cell with this type, state and
    value class, from narrow to wide: for a value ("cell", TYPE, "value", CLASS) and ("cell", TYPE,
    "value"), for NULL or an absent column ("cell", TYPE, "null" or "absent") alone. `key` is the
    type's name, `cls` the value's class, "" for none.
    """
    name = key.replace(" ", "-")
    if state in (State.NULL, State.ABSENT):
        return (("cell", name, state.lower()),)
    wide = ("cell", name, "value")
    return ((*wide, cls), wide) if cls else (wide,)


def rank_suspects(subjects: Iterable[Trait]) -> list[Trait]:
    """Suspects (traits that may be why a decoder fails) in the order in which a report names them:
    cells among the first, whole rows last.
    """
    return sorted(subjects, key=lambda subject: (_RANKS.get(subject[0], 0), key_of_trait(subject)))


_RANKS: Final[Mapping[str, int]] = {
    "option": 1,
    "trait": 2,
    **dict.fromkeys(SHAPES, 3),
    "release": 4,
    "op": 5,
}
"""The rank of a suspect in a report, by its sort; cells, and sorts that are not named here, come
first.
"""


def without_class(subject: Trait) -> Trait:
    """A suspect that names a cell by type, state and value class, without the value class; any
    other suspect as it is.
    """
    return subject[:3] if subject[0] == "cell" else subject


def _suspect_of_message(case: Case, change: Change | None) -> Trait:
    """The suspect (a trait that may be why a decoder fails) for the message as a whole: ("op", OP)
    of a row; ("statement", NAME) if a tag `ddl:NAME` or `control:NAME` of the case names the
    statement; else ("kind", KIND), or NO_ROW if the message owes no change.
    """
    if change is not None and change.kind is Kind.ROW:
        return "op", op_of(change)
    statements = sorted(
        tag.partition(":")[2] for tag in case.tags if tag.startswith(("ddl:", "control:"))
    )
    if statements:
        return "statement", statements[0]
    return ("kind", change.kind.value) if change is not None else NO_ROW
