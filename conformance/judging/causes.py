"""Causes of failures: what a decoder does wrong and on what, named from a finding and its case.

A cause has a key, a stable text without drawn values (`refused: cell bit value plain`), and words
that hold the values of a case (`refuses a row whose bit(1) cell is '1'`). Subjects are suspects, a
sort and its words: `cell <type>`, `cell <type> value`, `cell <type> value <class>`, `cell <type>
null`, `cell <type> absent`; or `cells <side> <op>` for all of an image, `image <side> <op>`,
`option`, `release`, `trait`, `shape`, `member`, `fault`, `statement`, `kind`, `row <op>`.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Final, TypeAlias

from conformance.judging.findings import CELL, NOT_THERE, Finding
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.relations_of_cells import relate_cell
from conformance.judging.wording import of_type, shift, words_of
from conformance.rules.rules import Aspect
from conformance.text import printable
from generators.model import (
    UNPAIRED,
    Case,
    Cell,
    Change,
    Kind,
    Logical,
    Op,
    Origin,
    SourceType,
    State,
)


class Symptom(enum.StrEnum):
    """What a decoder does wrong."""

    RAISED = "raised"
    REFUSED = "refused"
    LOST = "lost"
    EXTRA = "extra"
    ACCEPTED = "accepted"
    NULL = "null"
    VALUE = "value"
    ABSENT = "absent"
    PRESENT = "present"
    WRONG = "wrong"


REFUSALS: Final = frozenset({Symptom.RAISED, Symptom.REFUSED, Symptom.LOST})
"""Symptoms of a whole message: each of its cells, its options and its shape are suspects."""
DECODING: Final = "decoding"
"""The path of a finding of the law that decoding ends."""
CIRCUMSTANCE: Final = "message"
"""The path of a finding of the other laws."""
_VERBS: Final = words_of("verbs")
_LONG: Final = 65_536
_WIDE: Final = 100
_SHOWN: Final = 60
_NAMED: Final = 4
Suspect: TypeAlias = tuple[str, ...]
"""What a decoder may fail on: a sort and its words, from wide to narrow. Each beginning of a cell's
suspect is a wider suspect: ("cell", "int", "value") holds ("cell", "int", "value", "plain").
"""
NO_ROW: Final[Suspect] = ("kind", "none")
"""The suspect of a message from which no change is expected."""
_OTHER_KINDS: Final = frozenset({"row", "kind", "statement"})
"""Sorts of suspects of which a wrong value is another kind or op."""
ORDINARY_TAGS: Final = frozenset({"boundary", "drawn"})
"""Tags that say nothing of a message."""


@dataclass(frozen=True, slots=True)
class Cause:
    """What a decoder does wrong, and its subjects: several if the run cannot tell which of them it
    is.

    `type` and `value` are those of the guilty cell in the case, if it is known; `relation` is that
    of the actual value to it. Of an unreadable message that has no row, `vanished` is true: it is
    not accepted.
    """

    symptom: Symptom
    subjects: tuple[Suspect, ...]
    type: str = ""
    value: str = ""
    relation: Relation | None = None
    vanished: bool = False

    @property
    def key(self) -> str:
        """The stable text of the cause."""
        return key_text(self.symptom, self.subjects)

    @property
    def words(self) -> str:
        """The cause in one line of words: what the decoder does wrong, and on what."""
        is_other_kind = self.symptom is Symptom.WRONG and self.subjects[0][0] in _OTHER_KINDS
        verb = _VERBS[Symptom.LOST if self.vanished else self.symptom]
        return (
            f"{'gives another kind or op for' if is_other_kind else verb} {self._describe_object()}"
        )

    def _describe_object(self) -> str:
        """The cells, row or message that the cause is about, in words."""
        is_refusal = self.symptom in REFUSALS
        if len(self.subjects) != 1:
            first = ", ".join(map(suspect_text, self.subjects[:_NAMED]))
            more = " ..." if len(self.subjects) > _NAMED else ""
            return f"a row with one of {len(self.subjects)} suspects: {first}{more}"
        if self.subjects[0] == NO_ROW:
            return "a message that gives no row"
        sort, *subject_words = self.subjects[0]
        if sort == "cell":
            return (
                self._describe_row(subject_words)
                if is_refusal
                else self._describe_cell(subject_words)
            )
        if sort == "row" and self.value:
            return f"a row of {subject_words[0]} with {self.value}"
        words = _WITH if is_refusal and sort in _WITH else _ALONE
        return ("a row " if words is _WITH else "") + words.get(sort, "{}").format(
            " ".join(subject_words)
        )

    def _describe_row(self, subject_words: Sequence[str]) -> str:
        """The rows that are refused because of a cell, in words: `subject_words` are the type, the
        state and the value class of the cell.
        """
        kind, value_words = (
            self.type or subject_words[0],
            f", here {self.value}" if self.value else "",
        )
        match subject_words[1:]:
            case []:
                return f"every row with a column of {kind}{value_words}"
            case ["null"]:
                return f"a row with NULL in a {kind} cell"
            case ["absent"]:
                return f"a row that lacks its {kind} column"
            case ["value"]:
                return f"every row with a value in a {kind} cell{value_words}"
        return (
            f"a row whose {kind} cell is {self.value}"
            if self.value
            else f"a row whose {kind} cell is {' '.join(subject_words[2:])}"
        )

    def _describe_cell(self, subject_words: Sequence[str]) -> str:
        """The cells that are decoded wrongly, in words; `subject_words` are the type, the state and
        the value class of the cell.
        """
        template = (
            "{} cells" if len(subject_words) == 2 and subject_words[1] == "value" else "a {} cell"
        )
        return template.format(self.type or subject_words[0]) + (
            f", here {self.value}" if self.value and subject_words[-1] != "null" else ""
        )


_WITH, _ALONE = words_of("with"), words_of("alone")


def suspect_text(suspect: Suspect) -> str:
    """The suspect as it stands in a key."""
    return " ".join(suspect)


def key_text(symptom: Symptom, suspects: Iterable[Suspect]) -> str:
    """The stable text of a cause, as records of known failures hold it."""
    return f"{symptom}: {' | '.join(map(suspect_text, suspects))}"


def is_within(suspect: Suspect, wider: Suspect) -> bool:
    """Whether a suspect is another, or a narrower one that the other holds."""
    return suspect[: len(wider)] == wider


def cause(finding: Finding, case: Case, suspects: Iterable[Suspect] = ()) -> Cause:
    """The cause of a finding. `suspects` are the subjects of a refusal that the run did not clear;
    if empty, all are suspects.
    """
    kind, subjects = symptom(finding, case), tuple(suspects)
    if kind in REFUSALS and (refused_changes := find_refused_rows(finding, case)):
        possible = _possible_suspects(case, refused_changes)
        remaining = [
            subject
            for subject in subjects or rank_suspects(possible)
            if subject in possible or subject[0] == "row"
        ]
        subjects = tuple(remaining) or subjects
        return Cause(kind, subjects, *_show_guilty_cell(subjects, refused_changes, case.level))
    cell = cell_of(finding, case)
    type_and_value = (
        (declared(cell.type), _spell_literal(cell, case.level)) if cell is not None else ("", "")
    )
    vanished = kind is Symptom.ACCEPTED and finding.came == ()
    return Cause(
        kind,
        subjects or tuple(suspects_of_finding(finding, case)[:1]),
        *type_and_value,
        _relation_to_tell(finding, case),
        vanished,
    )


def relation_of(finding: Finding, case: Case, *, elsewhere: bool = True) -> Relation | None:
    """The relation of what came in a wrong cell to what is owed there, or elsewhere in the message;
    None if it shows none.
    """
    change = change_of(finding, case)
    is_of_cell = finding.aspect in (Aspect.VALUE, Aspect.NULL) and finding.column is not None
    if change is None or not is_of_cell or finding.side not in ("before", "after"):
        return None
    return relate_cell(
        case,
        finding.message,
        change,
        finding.side,
        finding.column or "",
        finding.came,
        elsewhere,
    )


def _relation_to_tell(finding: Finding, case: Case) -> Relation | None:
    """How the wrong value is related to the right one, if a cause should say it; None if the
    finding's own words do, as of an instant that is shifted.
    """
    relation = relation_of(finding, case)
    cell = cell_of(finding, case)
    if relation is None or cell is None:
        return relation
    shows = relation.kind is RelationKind.SHIFT and bool(
        shift(cell, finding.came, case.deployment.time_zone)
    )
    return None if shows else relation


def symptom(finding: Finding, case: Case) -> Symptom:
    """What the decoder does wrong in a finding, as one of a closed list: it refuses, loses, raises,
    returns NULL, a wrong value, too many rows ...
    """
    match finding.aspect:
        case Aspect.MISSING:
            return Symptom.RAISED if finding.path == DECODING else Symptom.LOST
        case Aspect.CORRUPT:
            return Symptom.REFUSED
        case Aspect.EXTRA:
            return Symptom.EXTRA
        case Aspect.ACCEPTED:
            return Symptom.ACCEPTED
        case Aspect.KIND if case.fault:
            return Symptom.ACCEPTED
        case Aspect.IMAGE:
            return Symptom.VALUE if finding.owed is None else Symptom.NULL
        case Aspect.PRESENCE:
            return Symptom.ABSENT if finding.came is NOT_THERE else Symptom.PRESENT
        case Aspect.NULL:
            cell = cell_of(finding, case)
            return Symptom.VALUE if cell is not None and cell.state is State.NULL else Symptom.NULL
    return Symptom.WRONG


def suspects_of_finding(finding: Finding, case: Case) -> list[Suspect]:
    """What a finding that is no refusal is about, as subjects of a cause: the narrowest first,
    then, for a cell or a statement, wider ones that include it.
    """
    change, cell = change_of(finding, case), cell_of(finding, case)
    what = _suspect_of_message(case, change)
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
    if change is not None and what[0] == "statement":
        return [what, ("kind", change.kind.value)]
    return [what]


def _of_side(sort: str, finding: Finding, change: Change | None) -> Suspect:
    """The suspect of an image, or of all its cells."""
    return tuple(filter(None, (sort, finding.side, _op(change))))


def find_refused_rows(finding: Finding, case: Case) -> list[Change]:
    """The row changes that a refusal is about: of the message, or of the whole case if decoding
    raised; [] if it has none.
    """
    whole_case = finding.path == DECODING
    changes = tuple(case.changes) if whole_case else _changes(finding, case)
    return [change for change in changes if change.kind is Kind.ROW]


def row_suspects(case: Case, message: Iterable[Change], change: Change) -> set[Suspect]:
    """What a refused row may have been refused for, as suspects: its cells, its op, its shape (such
    as many columns), and the tags, release and options of the case.
    """
    release, *options = case.profile.split("+")
    suspects: set[Suspect] = {("release", release), ("row", _op(change))}
    suspects |= {("option", option) for option in options}
    suspects |= {("trait", tag) for tag in case.tags - ORDINARY_TAGS}
    if sum(1 for _ in message) > 1:
        suspects.add(("shape", "several rows in a message"))
    if not change.keys and change.keys is not None:
        suspects.add(("shape", "no key"))
    before = change.image("before", case.level)
    if change.op is Op.UPDATE and before is None:
        suspects.add(("shape", "no before image"))
    if before and any(cell.reason == UNPAIRED for cell in before.values()):
        suspects.add(("shape", "a before image that cannot be told"))
    for _, column, cell in cells(change, case.level):
        narrow = cell_suspects(cell)
        suspects.update((*narrow, narrow[0][:2]))
        if not column.isidentifier():
            suspects.add(("shape", "a column name that needs quotes"))
        if cell.text is not None and len(cell.text) > _LONG:
            suspects.add(("shape", "a long value"))
    if (
        max((len(image) for image in (change.before, change.after) if image is not None), default=0)
        > _WIDE
    ):
        suspects.add(("shape", "many columns"))
    return suspects


def _possible_suspects(case: Case, refused_changes: Iterable[Change]) -> set[Suspect]:
    """The suspects of refused rows, each among the changes of its own message."""
    identities = {id(change) for change in refused_changes}
    suspects: set[Suspect] = set()
    for written in case.written:
        for change in written.changes:
            if id(change) in identities:
                suspects |= row_suspects(case, written.changes, change)
    return suspects


def cells(change: Change, level: int) -> Iterator[tuple[str, str, Cell]]:
    """The expected cells of a row, each with its image ("before" or "after") and column."""
    for side in ("before", "after"):
        for column, cell in (change.image(side, level) or {}).items():
            yield side, column, cell


def cell_suspects(cell: Cell) -> tuple[Suspect, ...]:
    """The subjects of a cell, from narrow to wide."""
    return _suspects_by_state(cell.type.key, cell.state, cell.cls)


@cache
def _suspects_by_state(key: str, state: State, cls: str) -> tuple[Suspect, ...]:
    """What may be wrong with a cell, as suspects, the narrower before the wider: that it is NULL or
    absent, or, for a value, its value class and then its type. `key` is that of the type.
    """
    name = key.replace(" ", "-")
    if state in (State.NULL, State.ABSENT):
        return (("cell", name, state.lower()),)
    wide = ("cell", name, "value")
    return ((*wide, cls), wide) if cls else (wide,)


def rank_suspects(subjects: Iterable[Suspect]) -> list[Suspect]:
    """Suspects in the order in which a report names them: cells among the first, whole rows
    last.
    """
    return sorted(subjects, key=lambda subject: (_RANK.get(subject[0], 0), suspect_text(subject)))


_RANK: Final = {"cell": 0, "option": 1, "trait": 2, "shape": 3, "release": 4, "row": 5}


def covers(pattern: str, key: str) -> bool:
    """Whether a recorded cause (a key, its beginning up to a blank, or a glob) covers a key; ` | `
    separates alternatives.
    """
    kind, _, subjects = pattern.partition(": ")
    alternatives = (
        [f"{kind}: {subject}" for subject in subjects.split(" | ")] if subjects else [pattern]
    )
    return any(
        key == subject or key.startswith(f"{subject} ") or fnmatchcase(key, subject)
        for subject in alternatives
    )


def may_have_cause(
    recorded_cause: Cause, finding: Finding, case: Case, other_subjects: Collection[Suspect] = ()
) -> bool:
    """Whether a finding may have the cause: it has the cause's symptom, and one of the cause's
    subjects (what was found guilty, such as a type's NULL) is among its suspects. Of a wrong cell,
    the suspect may also be another class of values of the same type, if it is among the
    `other_subjects`. A refusal that hit no expected row may have any cause of its symptom.
    """
    if symptom(finding, case) is not recorded_cause.symptom:
        return False
    if recorded_cause.symptom not in REFUSALS:
        types = {_without_class(subject) for subject in recorded_cause.subjects}
        eligible = {subject for subject in other_subjects if _without_class(subject) in types}
        return not eligible.union(recorded_cause.subjects).isdisjoint(
            suspects_of_finding(finding, case)
        )
    refused_changes = find_refused_rows(finding, case)
    possible_suspects = _possible_suspects(case, refused_changes)
    return not refused_changes or any(
        subject in possible_suspects for subject in recorded_cause.subjects
    )


def _without_class(subject: Suspect) -> Suspect:
    """A cell's subject (its type, state and value class) without the value class; any other subject
    as it is.
    """
    return subject[:3] if subject[0] == "cell" else subject


def change_of(finding: Finding, case: Case) -> Change | None:
    """The expected change whose row a finding is about; the message's first change if no change has
    that row's number, None if it owes nothing.
    """
    changes = _changes(finding, case)
    return next(
        (change for change in changes if change.row == finding.row), changes[0] if changes else None
    )


def cell_of(finding: Finding, case: Case) -> Cell | None:
    """The expected cell that a finding is about; None for a finding on something else."""
    change = change_of(finding, case)
    if change is None or finding.column is None or finding.side not in ("before", "after"):
        return None
    return (change.image(finding.side, case.level) or {}).get(finding.column)


def declared(type: SourceType) -> str:
    """A column's type as a statement declares it, with length, precision or fraction digits, and
    `unsigned`.
    """
    if type.logical is Logical.DECIMAL and type.precision is not None:
        declaration = f"{type.name}({type.precision},{type.scale})"
    elif type.logical in (Logical.BIT, Logical.TEXT, Logical.BINARY) and type.length is not None:
        declaration = f"{type.name}({type.length})"
    else:
        declaration = f"{type.name}({type.fsp})" if type.fsp else type.name
    return f"{declaration} unsigned" if type.unsigned else declaration


def _changes(finding: Finding, case: Case) -> tuple[Change, ...]:
    """The expected changes of the message that a finding is about; none if the case has no such
    message.
    """
    return case.written[finding.message].changes if finding.message < len(case.written) else ()


def _op(change: Change | None) -> str:
    """The op of a change, "" if it has none or there is no change."""
    return (change.op or "") if change is not None else ""


def _suspect_of_message(case: Case, change: Change | None) -> Suspect:
    """The suspect (a sort and its words) for the message as a whole: the op of a row, the statement
    that the case's tags name (`ddl:`, `control:`), else the kind.
    """
    if change is not None and change.kind is Kind.ROW:
        return "row", _op(change)
    statements = sorted(
        tag.partition(":")[2] for tag in case.tags if tag.startswith(("ddl:", "control:"))
    )
    if statements:
        return "statement", statements[0]
    return ("kind", change.kind.value) if change is not None else NO_ROW


def _show_guilty_cell(
    subjects: tuple[Suspect, ...], refused_changes: Iterable[Change], level: int
) -> tuple[str, str]:
    """For a report, type and value of the cell that the subjects (what was found guilty) name, if
    it is the only one in the refused rows, else two empty texts. If the subjects only name whole
    rows: no type, and all their cells in words, or their types if there are many.
    """
    present_cells: list[Cell] = []
    for refused_change in refused_changes:
        row_cells = (cell for _, _, cell in cells(refused_change, level))
        present_cells += (cell for cell in row_cells if cell.state is not State.ABSENT)
    if all(subject[0] == "row" for subject in subjects):
        spelled_cells = list(
            dict.fromkeys(
                f"{declared(cell.type)} {_spell_literal(cell, level)}" for cell in present_cells
            )
        )
        if len(spelled_cells) > _NAMED:
            spelled_cells = [
                "columns of",
                ", ".join(dict.fromkeys(declared(cell.type) for cell in present_cells)),
            ]
            return "", " ".join(spelled_cells)
        return "", ", ".join(spelled_cells)
    guilty_cells: set[tuple[str, str]] = set()
    for cell in present_cells:
        narrowest = cell_suspects(cell)[0]
        if any(is_within(narrowest, subject) for subject in subjects):
            guilty_cells.add((declared(cell.type), _spell_literal(cell, level)))
    return guilty_cells.pop() if len(guilty_cells) == 1 else ("", "")


def _spell_literal(cell: Cell, level: int) -> str:
    """A cell's value for people: at level one its text in the message, else its value; cut if it is
    long.
    """
    if cell.state is State.NULL:
        return "NULL"
    if level == 1 and cell.text is not None:
        literal = printable(repr(cell.text))
    else:
        literal = printable(
            repr(cell.value)
            if isinstance(cell.value, str | bytes)
            else of_type(cell.type, cell.value)
        )
    return literal if len(literal) <= _SHOWN else f"{literal[:_SHOWN]}..."
