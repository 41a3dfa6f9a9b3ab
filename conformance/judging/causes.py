"""Causes of failures: what a decoder does wrong and on what, named from a finding and its case.

A cause has a key, a stable text without drawn values (`refused: cell bit value plain`), and words
that hold the values of a case (`refuses a row whose bit(1) cell is '1'`). Its subjects are traits
(`conformance.judging.trait_sorts`); how each stands in a key is in wording.toml under `keys`.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from conformance.judging.compared_units import (
    cell_of,
    cells,
    change_of,
    declared,
    find_refused_rows,
)
from conformance.judging.findings import DECODING, NOT_THERE, Finding
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.relations_of_cells import relate_cell
from conformance.judging.suspects import (
    NO_ROW,
    cell_suspects,
    rank_suspects,
    suspects_of_finding,
    suspects_of_rows,
    without_class,
)
from conformance.judging.trait_sorts import Trait, Traits, is_within, key_of_trait
from conformance.judging.wording import of_type, shift, words_of
from conformance.rules.rules import Aspect
from conformance.text import printable
from generators.model import (
    Case,
    Cell,
    Change,
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
_VERBS: Final = words_of("verbs")
"""The verb of a cause in words, by its symptom."""
_SHOWN: Final = 60
"""Characters of a cell's value that are shown."""
_NAMED: Final = 4
"""Suspects, or cells, of a cause that are named one by one."""
_OTHER_KINDS: Final = frozenset({"op", "kind", "statement"})
"""Sorts of suspects on a message's kind or op: where these are wrong, another kind or op came."""


@dataclass(frozen=True, slots=True)
class Cause:
    """What a decoder does wrong, and its subjects (traits of cells, rows or messages on which it
    does so): several if the run cannot tell which of them it is.

    `type` and `value` are those of the guilty cell in the case, if it is known; `relation` is that
    of the actual value to it. `vanished` tells that no row came for an unreadable message, where
    other causes with the symptom ACCEPTED are about messages that came as ordinary rows.
    """

    symptom: Symptom
    subjects: Traits
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
        verb = _VERBS[Symptom.LOST if self.vanished else self.symptom]
        if self.symptom is Symptom.WRONG:
            sort, *_subject_words = self.subjects[0]
            if sort in _OTHER_KINDS:
                verb = "gives another kind or op for"
        return f"{verb} {self._describe_object()}"

    def _describe_object(self) -> str:
        """For a report: the cells, row or message that the decoder treats wrongly. Several suspects
        are listed, the first _NAMED of them. One is told by its sort: a cell (of a refused row, as
        the row with it), an op with the guilty cell's value if it is known, and any other in the
        words that wording.toml has for its sort.
        """
        is_refusal = self.symptom in REFUSALS
        if len(self.subjects) != 1:
            first = ", ".join(map(key_of_trait, self.subjects[:_NAMED]))
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
        if sort == "op" and self.value:
            return f"a row of {subject_words[0]} with {self.value}"
        words_of_subject = " ".join(subject_words)
        if is_refusal and sort in _WITH:
            return f"a row {_WITH[sort].format(words_of_subject)}"
        return _ALONE.get(sort, "{}").format(words_of_subject)

    def _describe_row(self, subject_words: Sequence[str]) -> str:
        """For a report: the rows that are refused because of a cell. `subject_words` are the cell's
        type, then "null", "absent" or "value", then its value class; later words may be left out.
        """
        type_of_subject, *state_words = subject_words
        kind = self.type or type_of_subject
        value_words = f", here {self.value}" if self.value else ""
        match state_words:
            case []:
                return f"every row with a column of {kind}{value_words}"
            case ["null"]:
                return f"a row with NULL in a {kind} cell"
            case ["absent"]:
                return f"a row that lacks its {kind} column"
            case ["value"]:
                return f"every row with a value in a {kind} cell{value_words}"
        _state, *class_words = state_words
        return f"a row whose {kind} cell is {self.value or ' '.join(class_words)}"

    def _describe_cell(self, subject_words: Sequence[str]) -> str:
        """For a report: the cells that are decoded wrongly. `subject_words` are the cell's type,
        then "null", "absent" or "value", then its value class; later words may be left out.
        """
        type_of_subject, *state_words = subject_words
        kind = self.type or type_of_subject
        phrase = f"{kind} cells" if state_words == ["value"] else f"a {kind} cell"
        is_null = subject_words[-1] == "null"
        return f"{phrase}, here {self.value}" if self.value and not is_null else phrase


_WITH, _ALONE = words_of("with"), words_of("alone")
"""The words for a suspect of a refused row (`with`), and for a subject that is named alone, by its
sort.
"""


def key_text(symptom: Symptom, suspects: Iterable[Trait]) -> str:
    """The stable text of a cause, as records of known failures hold it."""
    return f"{symptom}: {' | '.join(map(key_of_trait, suspects))}"


def cause(finding: Finding, case: Case, suspects: Iterable[Trait] = ()) -> Cause:
    """The cause of a finding: what the decoder does wrong there, and on what. `suspects` are the
    traits that may have made it refuse a row and that no row of the run cleared; without any, all
    traits of the refused rows are suspects.
    """
    kind, subjects = symptom(finding, case), tuple(suspects)
    if kind in REFUSALS and (refused_changes := find_refused_rows(finding, case)):
        possible = suspects_of_rows(case, refused_changes)
        remaining = [
            subject
            for subject in subjects or rank_suspects(possible)
            if subject in possible or subject[0] == "op"
        ]
        subjects = tuple(remaining) or subjects
        return Cause(kind, subjects, *_show_guilty_cell(subjects, refused_changes, case.level))
    cell = cell_of(finding, case)
    guilty_cell = _NO_CELL
    if cell is not None:
        guilty_cell = _GuiltyCell(declared(cell.type), _spell_literal(cell, case.level))
    vanished = kind is Symptom.ACCEPTED and finding.came == ()
    return Cause(
        kind,
        subjects or tuple(suspects_of_finding(finding, case)[:1]),
        *guilty_cell,
        _relation_to_tell(finding, case),
        vanished,
    )


def relation_of(finding: Finding, case: Case, *, elsewhere: bool = True) -> Relation | None:
    """The relation of what came in a wrong cell to the right value: that of the cell itself or, if
    `elsewhere`, that of another image, row or column of the message. None if no relation is known.
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
    """The relation of the wrong value to the right one (such as "cut after 255 characters") that a
    cause has to say. None if there is none, or if the finding's own words say it already, as of an
    instant that is shifted.
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


def covers(pattern: str, key: str) -> bool:
    """Whether the cause in a record of known failures (`pattern`) covers the key of a cause: it is
    the key, the key's beginning up to a blank, or a glob. In the pattern ` | ` separates
    alternatives.
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
    failure_cause: Cause, finding: Finding, case: Case, other_subjects: Collection[Trait] = ()
) -> bool:
    """Whether a smaller case still fails for the cause of the failure that is being reduced: its
    finding has the cause's symptom, and may be due to one of the cause's subjects (what was found
    guilty, such as a type's NULL).

    `other_subjects` are the subjects of all causes for which the run broke the same rule.
    """
    if symptom(finding, case) is not failure_cause.symptom:
        return False
    if failure_cause.symptom in REFUSALS:
        return _may_be_refused_for(failure_cause, finding, case)
    return _shares_subject(failure_cause, finding, case, other_subjects)


def _may_be_refused_for(failure_cause: Cause, finding: Finding, case: Case) -> bool:
    """Whether a refused row has a subject of the cause (a trait found guilty) as its trait. True if
    the refusal hit no expected row: it may then have any cause.
    """
    refused_changes = find_refused_rows(finding, case)
    traits = suspects_of_rows(case, refused_changes)
    return not refused_changes or any(subject in traits for subject in failure_cause.subjects)


def _shares_subject(
    failure_cause: Cause, finding: Finding, case: Case, other_subjects: Collection[Trait]
) -> bool:
    """Whether the wrong cell of a finding has one of the cause's subjects (the traits found
    guilty), or one of those `other_subjects` that are about the same types and states as the
    cause's, such as another value class of the type.
    """
    types = {without_class(subject) for subject in failure_cause.subjects}
    eligible = {subject for subject in other_subjects if without_class(subject) in types}
    traits = suspects_of_finding(finding, case)
    return not eligible.union(failure_cause.subjects).isdisjoint(traits)


class _GuiltyCell(NamedTuple):
    """The type and the value of the cell that a cause is about, in words for a report; "" for what
    is not known.
    """

    type: str
    value: str


_NO_CELL: Final = _GuiltyCell("", "")
"""Stands for the cell of a cause that is about no one cell."""


def _show_guilty_cell(
    subjects: Traits, refused_changes: Iterable[Change], level: int
) -> _GuiltyCell:
    """Type and value, for a report, of the cell for which rows were refused: the one in these rows
    that a subject (a trait that was found guilty) names; _NO_CELL if there are several, or none. If
    all subjects are ops, which name no cell: no type, and the rows' cells in words.
    """
    present_cells: list[Cell] = []
    for refused_change in refused_changes:
        row_cells = (cell for _, _, cell in cells(refused_change, level))
        present_cells += (cell for cell in row_cells if cell.state is not State.ABSENT)
    if all(subject[0] == "op" for subject in subjects):
        return _GuiltyCell("", _spell_cells(present_cells, level))
    guilty_cells: set[_GuiltyCell] = set()
    for cell in present_cells:
        narrowest, *_wider_suspects = cell_suspects(cell)
        if any(is_within(narrowest, subject) for subject in subjects):
            guilty_cells.add(_GuiltyCell(declared(cell.type), _spell_literal(cell, level)))
    return guilty_cells.pop() if len(guilty_cells) == 1 else _NO_CELL


def _spell_cells(row_cells: Sequence[Cell], level: int) -> str:
    """Different cells in words, each with its type and value; the types alone if they are more than
    _NAMED.
    """
    spelled_cells = dict.fromkeys(
        f"{declared(cell.type)} {_spell_literal(cell, level)}" for cell in row_cells
    )
    if len(spelled_cells) <= _NAMED:
        return ", ".join(spelled_cells)
    types = dict.fromkeys(declared(cell.type) for cell in row_cells)
    return f"columns of {', '.join(types)}"


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
