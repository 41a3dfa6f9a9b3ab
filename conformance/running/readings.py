"""The laws of readings: where no source tells a form, a zone or an image, a decoder may choose a
reading, and keeps it.

A rule that does not bind leaves the reading of a value open. No reading makes one value of two,
moves two moments of one clock by the rules of two zones, or takes a row from another message. That
is seen over a run alone, so these laws look at all judged rows of a format.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from conformance.judging.compare import Typed, same_text, same_value
from conformance.judging.findings import Finding
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.judging.wording import describe_cell, image, instant, typed
from conformance.rules.rules import Aspect, Obligation, Rule, Subject
from conformance.running.clocks import Clock, Reading, fitting, readings_of
from generators.model import (
    OTHER_SIDE,
    Case,
    Cell,
    Change,
    Deployment,
    Kind,
    Logical,
    Side,
    SideOrRow,
    SourceType,
    State,
    Value,
)

ONE_FORM: Final = "one-form"
"""The law that a decoder reads the values of a column type in one form."""
ONE_ZONE: Final = "one-zone"
"""The law that a decoder reads all moments of a server in one time zone."""
OWN_ROW: Final = "own-row"
"""The law that an image which a decoder need not give is not taken from another message."""
LAWS: Final = (ONE_FORM, ONE_ZONE, OWN_ROW)
"""The laws of this module."""
_MOMENTS: Final = frozenset({Logical.DATETIME, Logical.TIMESTAMP})
"""Types whose values are moments, to which ONE_ZONE applies; ONE_FORM applies to the others."""
_SPELT: Final = frozenset({Logical.FLOAT, Logical.DOUBLE, Logical.JSON})
"""Types of which one value has several spellings on a wire, so that ONE_FORM says nothing on them.
"""
_SIDES: Final = ("before", "after")
"""The images of a row."""
_FIRST: Final = 0
"""The first moment, in microseconds, from which on every copy of the tz database has the same
rules: the beginning of 1970.
"""
_LAST: Final = 2_145_916_800_000_000
"""The moment, in microseconds, up to which every copy of the tz database has the same rules: the
end of 2037.
"""


class Spot(NamedTuple):
    """Where a decoder read something: the case, its message, the row of the message, the image
    (`side`, "" for a field of the envelope) and the column.
    """

    case: str
    message: int
    row_number: int
    side: SideOrRow
    column: str

    @property
    def path(self) -> str:
        """The place as findings write it."""
        return f"{self.side}[{self.column!r}]" if self.side else self.column


class FormKey(NamedTuple):
    """What cells must share to be compared by ONE_FORM: profile, deployment and column type."""

    profile: str
    deployment: Deployment
    type: SourceType


class ClockKey(NamedTuple):
    """What moments must share to be compared by ONE_ZONE: profile, deployment and the rule that
    owns them.
    """

    profile: str
    deployment: Deployment
    rule: str


class ReadCell(NamedTuple):
    """A cell of a row with what a decoder made of it; `wire_text` is what stands on the wire."""

    spot: Spot
    wire_text: str
    cell: Cell
    value: Typed | None


class ReadMoment(NamedTuple):
    """A moment as a decoder gave it (`micros`, in microseconds since 1970), and the moments that
    would be right (`options`).
    """

    spot: Spot
    options: tuple[int, ...]
    micros: int


@dataclass(slots=True)
class Readings:
    """What a decoder made of the values, moments and images of a format for which no rule
    prescribes one reading.

    `take` is given the rows of each judged case; `findings` says what contradicts one reading.
    """

    judge: Judge
    _cells: dict[FormKey, list[ReadCell]] = field(default_factory=lambda: defaultdict(list))
    _moments: dict[ClockKey, list[ReadMoment]] = field(default_factory=lambda: defaultdict(list))
    _images: list[Finding] = field(default_factory=list)
    _compared: Counter[str] = field(default_factory=Counter)

    def take(self, case: Case, outputs: Sequence[Sequence[OutputRow]]) -> None:
        """Takes a case, with the rows that the decoder returned for each of its messages, into
        account for the laws of readings (a decoder reads a column in one way, wherever the sources
        leave several open).
        """
        if not any(map(self.judge.law, LAWS)):
            return
        table = next((table.name for table in case.tables), None)
        for number, (written, output_rows) in enumerate(zip(case.written, outputs, strict=True)):
            by_row = {
                output_row.row: output_row
                for output_row in output_rows
                if output_row.kind == Kind.ROW
            }
            for change in written.changes:
                if change.kind is not Kind.ROW or (case.level == 2 and not change.is_row_of(table)):
                    continue
                if (output_row := by_row.get(change.row)) is not None:
                    self._take_row(case, number, change, output_row)

    def findings(self) -> list[Finding]:
        """The findings on all cases taken so far: images, cells and moments that contradict one
        reading. Adds them, and the number of comparisons, to the judge's counts.
        """
        findings = [*self._images]
        if form_law := self.judge.law(ONE_FORM):
            for cells in self._cells.values():
                findings += (_form_finding(form_law.id, *pair) for pair in _conflicts(cells))
        if zone_law := self.judge.law(ONE_ZONE):
            for key, moments in self._moments.items():
                findings += _zone_findings(zone_law.id, key.deployment.time_zone, moments)
        self.judge.compared.update(self._compared)
        self.judge.broken.update(finding.rule for finding in findings)
        return findings

    def _take_row(self, case: Case, number: int, change: Change, output_row: OutputRow) -> None:
        """Keeps for the laws of readings what a decoder made of one expected row: at level one its
        commit time, at level two its cells; at both levels an image that the rules do not require.
        """
        if case.level == 1:
            self._take_commit_time(case, number, change, output_row)
        for side in _SIDES:
            expected, actual = change.image(side, case.level), getattr(output_row, side)
            if expected is None:
                self._take_image(case, number, change, output_row, side)
            elif actual is None:
                continue
            elif case.level == 2:
                # The text on the wire stands in level one's cell, or else in the typed one.
                wire = change.image(side, 1) or {}
                for column, cell in expected.items():
                    spot = Spot(case.id, number, change.row, side, column)
                    wire_text = wire[column].text if column in wire else cell.text
                    if column in actual and wire_text is not None:
                        self._take_cell(
                            case, change, ReadCell(spot, wire_text, cell, actual[column])
                        )

    def _take_cell(self, case: Case, change: Change, read: ReadCell) -> None:
        """Keeps a cell that a decoder read for the law on it: a moment for ONE_ZONE, any other for
        ONE_FORM. Only if the reading is open (the rule on the cell's value does not bind), the
        decoder claims the type, and the type has one spelling on the wire.
        """
        cell, logical, side = read.cell, read.cell.type.logical, read.spot.side
        moment = logical in _MOMENTS
        law = self.judge.law(ONE_ZONE if moment else ONE_FORM)
        states = (State.VALUE, State.ONE_OF) if moment else (State.VALUE,)
        claimed = self.judge.capabilities.claims("types", cell.type.key)
        if law is None or logical in _SPELT or cell.state not in states or not claimed:
            return
        owner = self._open_rule(case, change, Aspect.VALUE, side, cell)
        if owner is None:
            return
        if read.value is None and not self._open_rule(case, change, Aspect.NULL, side, cell):
            return
        if not moment:
            self._compared[law.id] += 1
            self._cells[FormKey(case.profile, case.deployment, cell.type)].append(read)
            return
        options = tuple(option for option in _options(cell) if isinstance(option, int))
        if options and read.value is not None and type(read.value.value) is int:
            self._take_moment(case, law, owner, ReadMoment(read.spot, options, read.value.value))

    def _take_commit_time(
        self, case: Case, number: int, change: Change, output_row: OutputRow
    ) -> None:
        """Keeps a row's commit time as a moment for the law ONE_ZONE. Only if the decoder claims
        the column and gave a moment, and the rule on it does not bind.
        """
        expected, actual = change.commit_time_us, output_row.fields.get("commit_time")
        law = self.judge.law(ONE_ZONE)
        if law is None or expected is None or not isinstance(actual, int):
            return
        if not self.judge.capabilities.claims("columns", "commit_time"):
            return
        subject = self._subject(case, change, "commit_time", Aspect.FIELD)
        if (owner := self.judge.find_owner(subject)).obligation is not Obligation.MUST:
            spot = Spot(case.id, number, change.row, "", "commit_time")
            self._take_moment(case, law, owner, ReadMoment(spot, (expected,), actual))

    def _take_moment(self, case: Case, law: Rule, owner: Rule, moment: ReadMoment) -> None:
        """Keeps a moment for the law ONE_ZONE, by its profile, its deployment and the rule that
        owns it. It is left out if one of the moments that would be right (`options`) lies outside
        1970 to 2037, where copies of the tz database differ.
        """
        if all(_FIRST <= option < _LAST for option in moment.options):
            self._compared[law.id] += 1
            key = ClockKey(case.profile, case.deployment, owner.id)
            self._moments[key].append(moment)

    def _take_image(
        self, case: Case, number: int, change: Change, output_row: OutputRow, side: Side
    ) -> None:
        """Checks for the law OWN_ROW an image that the decoder does not owe (no MUST rule owns it):
        each of its values must be NULL, or the value of the same column in the message's other
        image (the decoder's or the expected one). Keeps a finding on the first other value.
        """
        law = self.judge.law(OWN_ROW)
        owner = self.judge.find_owner(self._subject(case, change, "image", Aspect.IMAGE, side=side))
        if law is None or owner.obligation is Obligation.MUST:
            return
        self._compared[law.id] += 1
        opposite = OTHER_SIDE[side]
        expected_opposite = change.image(opposite, case.level) or {}
        actual_opposite = getattr(output_row, opposite) or {}
        for column, value in (getattr(output_row, side) or {}).items():
            if value is None or actual_opposite.get(column) == value:
                continue
            if column in expected_opposite and _is_same(
                expected_opposite[column], case.level, value
            ):
                continue
            spot = Spot(case.id, number, change.row, side, column)
            expected = f"NULL, or what the message has: {image(actual_opposite)}"
            self._images.append(_finding(law.id, spot, expected, typed(value)))
            return

    def _open_rule(
        self, case: Case, change: Change, aspect: Aspect, side: SideOrRow, cell: Cell
    ) -> Rule | None:
        """The rule that owns this aspect of an expected cell, if it leaves the decoder a choice;
        None if it is a MUST rule.
        """
        more = {
            "type": cell.type.key,
            "logical": cell.type.logical.value,
            "cls": cell.cls,
            "state": cell.state.value,
        }
        rule = self.judge.find_owner(self._subject(case, change, "cell", aspect, side=side, **more))
        return None if rule.obligation is Obligation.MUST else rule

    def _subject(
        self, case: Case, change: Change, name: str, aspect: Aspect, **more: str
    ) -> Subject:
        """A part of a change (such as an image or a cell) as the object by which the judge finds
        the rule that owns it; `more` are facts on a cell, such as its type.
        """
        return Subject(
            case.profile,
            case.level,
            change.kind.value,
            change.op or "",
            name,
            aspect,
            tags=case.tags,
            **more,
        )


def _is_same(cell: Cell, level: int, value: Any) -> bool:
    """Whether a decoder's value is the cell's, as text at level one, as a typed value at level two;
    false for a cell without a certain value.
    """
    if cell.state not in (State.VALUE, State.ONE_OF):
        return False
    return same_text(cell, value) if level == 1 else same_value(cell, value)


def _options(cell: Cell) -> tuple[Value, ...]:
    """The values that are right for a cell: several where its state is ONE_OF, else its one value."""
    return cell.options if cell.state is State.ONE_OF else (cell.value,)


def _finding(rule: str, spot: Spot, expected: str, actual: str) -> Finding:
    """The finding that something read at `spot` breaks the law `rule`: on the value of a cell, or,
    if the spot is in neither image, on the envelope field that `spot.column` names.
    """
    aspect = Aspect.VALUE if spot.side else Aspect.FIELD
    place = (spot.case, rule, spot.message, spot.row_number, aspect, spot.path)
    return Finding(*place, expected, actual, spot.side, spot.column if spot.side else None)


class Conflict(NamedTuple):
    """A cell that breaks ONE_FORM, and why: it contradicts an earlier cell of its type
    (`conflicting`), or its value is cut off (then `conflicting` is None).
    """

    cell: ReadCell
    why: str
    conflicting: ReadCell | None = None


def _form_finding(rule: str, cell: ReadCell, why: str, conflicting: ReadCell | None) -> Finding:
    """The finding on a cell that breaks the law ONE_FORM, with `why` in words: beside the earlier
    cell that it contradicts, or without one, if its value is cut off.
    """
    words = typed(cell.value)
    if conflicting is not None:
        words = f"{words}, {why} {describe_cell(conflicting.cell, 2)} of {conflicting.spot.case}"
    return _finding(
        rule, cell.spot, describe_cell(cell.cell, 2), words if conflicting else f"{words}, {why}"
    )


def _conflicts(cells: Iterable[ReadCell]) -> Iterator[Conflict]:
    """Of the cells of one type in one deployment those that contradict an earlier one (one text
    read as two values, or two values read as one), and those that the decoder cut off.
    """
    by_text: dict[str, ReadCell] = {}
    by_value: dict[Any, ReadCell] = {}
    for read in sorted(cells, key=lambda cell: cell.spot):
        value = comparable(read.value)
        if _is_cut(read):
            yield Conflict(read, "cut")
            continue
        first = by_text.setdefault(read.wire_text, read)
        if comparable(first.value) != value:
            yield Conflict(read, "another value than the same text has in", first)
            continue
        same_value = by_value.setdefault(value, read)
        if same_value.wire_text != read.wire_text and _differs(same_value.cell, read.cell):
            yield Conflict(read, "the value of another,", same_value)


def comparable(value: Typed | None) -> Any:
    """A decoded value as a dictionary key: a list becomes a tuple. The Spark type is left out, so
    that numbers are equal by value.
    """
    if value is None:
        return None
    plain = value.value
    return tuple(plain) if isinstance(plain, list) else plain


def _differs(left_cell: Cell, right_cell: Cell) -> bool:
    """Whether two cells hold different values in every reading: a BINARY(n) is filled up with zero
    bytes, and two members of an ENUM may have one label.
    """
    first, second = left_cell.value, right_cell.value
    if left_cell.type.name == "binary" and isinstance(first, bytes) and isinstance(second, bytes):
        return first.rstrip(b"\0") != second.rstrip(b"\0")
    if left_cell.type.logical is Logical.ENUM:
        return _label(left_cell) != _label(right_cell)
    return first != second


def _label(cell: Cell) -> str:
    """The label of an ENUM cell; "" for the number 0, which has no label."""
    assert isinstance(cell.value, int)
    return cell.type.members[cell.value - 1] if cell.value else ""


def _is_cut(read: ReadCell) -> bool:
    """Whether the decoder's text or bytes are only the beginning of the right value; zero bytes
    that BINARY(n) is padded with may be missing.
    """
    expected, part = read.cell.value, read.value and read.value.value
    if isinstance(expected, str) and isinstance(part, str):
        return part != expected and expected.startswith(part)
    if isinstance(expected, bytes) and isinstance(part, bytes) and expected.startswith(part):
        cut_off = expected[len(part) :]
        return bool(cut_off.strip(b"\0")) or (bool(cut_off) and read.cell.type.name != "binary")
    return False


def _zone_findings(rule: str, time_zone: str, moments: Sequence[ReadMoment]) -> Iterator[Finding]:
    """A finding for each moment that does not fit the one reading (a time zone, read or shown)
    which fits most moments of a deployment; none if all moments are right, or one reading fits all.
    `time_zone` is the server's.
    """
    if all(moment.micros in moment.options for moment in moments):
        return
    clock = Clock(time_zone)
    pairs = dict.fromkeys((moment.options, moment.micros) for moment in moments)
    best_reading: Reading | None = None
    best_fit: frozenset[Any] = frozenset()
    for reading in readings_of(time_zone):
        fit = fitting(clock, reading, pairs)
        if best_reading is None or len(fit) > len(best_fit):
            best_reading, best_fit = reading, fit
        if len(fit) == len(pairs):
            return
    assert best_reading is not None
    for moment in moments:
        if (moment.options, moment.micros) not in best_fit:
            expected = f"{instant(moment.options[0])}, or as {best_reading} has the others"
            yield _finding(rule, moment.spot, expected, instant(moment.micros))
