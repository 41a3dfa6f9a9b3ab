"""How what came in a cell is related to what is owed there: by what values of the column's type
mean, or since it is the value of another image, row or column.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from conformance.judging.compare import Typed, is_accepted, same_value
from conformance.judging.relations import Relation, RelationKind, widen_relation
from conformance.judging.relations_of_documents import (
    find_relations_of_documents,
    relate_documents,
)
from conformance.judging.relations_of_numbers import (
    find_reversal,
    find_widths,
    has_two_digits,
    is_through_float,
    read_number,
    relate_numbers,
)
from conformance.judging.relations_of_texts import (
    find_cut_of_bytes,
    find_encoding,
    relate_bytes,
    relate_texts,
)
from conformance.judging.relations_of_times import (
    find_parts,
    micros_of,
    micros_of_wire_text,
    relate_times,
)
from conformance.judging.wording import of_type
from generators.model import OTHER_SIDE, Case, Cell, Change, Json, Logical, SideOrRow, State

_CLOCKS: Final = frozenset({Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME})
"""Types of dates and times."""
_NUMBERS: Final = frozenset(
    {
        Logical.INT,
        Logical.YEAR,
        Logical.DECIMAL,
        Logical.FLOAT,
        Logical.DOUBLE,
        Logical.BIT,
        Logical.ENUM,
        Logical.SET,
    }
)
"""Types whose values are numbers, at least in Spark."""
_SPELLED_AS_TEXT: Final = frozenset({Logical.BINARY, Logical.JSON, Logical.ENUM, Logical.SET})
"""Types of values that are no texts, but are texts on the wire."""
_CLOCK_FAMILIES: Final = frozenset({"date", "timestamp", "timestamp_ntz", "interval"})
"""Families of Spark types of dates and times."""
_ZEROS: Final = re.compile(r"[ T]00:00:00(\.0+)?Z?$|\.0+Z?$|(?<=\.\d)0+Z?$|Z$|(?<=\d)[ T](?=\d)")
"""What two spellings of one time may differ in: a midnight, zeros that end a fraction, a Z at the
end, and the sign between date and time of day.
"""


def relate_cell(
    case: Case,
    message: int,
    change: Change,
    side: SideOrRow,
    column: str,
    came: Any,
    elsewhere: bool,
) -> Relation | None:
    """The relation of what came in a cell to what the case expects there, or to another cell that
    holds it; None if no relation is known, or if the value expected or that came is missing.

    `elsewhere` allows the answer that another image or row holds the value. Callers set it to false
    where few cells do so by chance.
    """
    cell = (change.image(side, case.level) or {}).get(column)
    if cell is None or came is None:
        return None
    if elsewhere and not _is_spelled_alike(cell, came):
        relation_to_image = _find_in_other_images(case, message, change, side, column, came)
        if relation_to_image is not None:
            return relation_to_image
    if elsewhere and cell.state is State.NULL:
        earlier_row = _find_in_earlier_rows(case, message, change, column, came)
        if earlier_row is not None:
            return earlier_row
    return relate(cell, came) or _find_in_other_columns(case, change, side, column, came)


def relate(cell: Cell, came: Any) -> Relation | None:
    """How the value that came is related to the expected cell: at level one a text, at level two a
    `Typed` value. None if no relation is known, or if the cell has not exactly one right value. (A
    number at level one is compared with its text in the message even then.)
    """
    is_number_on_wire = cell.type.logical in _NUMBERS and not isinstance(came, Typed)
    if cell.state is not State.VALUE and not is_number_on_wire:
        return None
    if isinstance(came, Typed):
        return _relate_typed(cell, came)
    if cell.text is None or not isinstance(came, str):
        return None
    return _relate_wire_texts(cell, cell.text, came)


def is_value_of(cell: Cell, came: Any) -> bool:
    """Whether what came is the value of the cell, in whatever Spark type it came."""
    if cell.state is not State.VALUE:
        return False
    if not isinstance(came, Typed):
        return cell.text is not None and cell.text == came
    if same_value(cell, came):
        return True
    if isinstance(came.value, str):
        return came.value == of_type(cell.type, cell.value)
    # A number of microseconds is no number of an INT column.
    if (came.family in _CLOCK_FAMILIES) != (cell.type.logical in _CLOCKS):
        return False
    return not isinstance(came.value, bool) and bool(came.value == cell.value)


def _is_spelled_alike(cell: Cell, came: Any) -> bool:
    """Whether what came is the cell's own value in a wrong Spark type, so that it cannot come from
    another cell.
    """
    relation = relate(cell, came)
    return relation is not None and relation.kind is RelationKind.SPARK_TYPE


def _find_in_other_images(
    case: Case, message: int, change: Change, side: SideOrRow, column: str, came: Any
) -> Relation | None:
    """The relation OTHER_IMAGE or OTHER_ROW if the row's other image, or the same image of another
    row of the message, holds what came in this column; None if neither does.
    """
    other_side = OTHER_SIDE[side]
    other_cell = (change.image(other_side, case.level) or {}).get(column)
    if other_cell is not None and is_value_of(other_cell, came):
        return Relation(RelationKind.OTHER_IMAGE, name=other_side)
    for other_change in case.written[message].changes:
        if other_change.row == change.row:
            continue
        cell = (other_change.image(side, case.level) or {}).get(column)
        if cell is not None and is_value_of(cell, came):
            return Relation(RelationKind.OTHER_ROW, other_change.row)
    return None


def _find_in_earlier_rows(
    case: Case, message: int, change: Change, column: str, came: Any
) -> Relation | None:
    """The relation to an earlier message of the case that has a row of the same table with what
    came; None if none has.
    """
    for written in case.written[:message]:
        for earlier in written.changes:
            for side in ("after", "before"):
                cell = (earlier.image(side, case.level) or {}).get(column)
                if earlier.table == change.table and cell is not None and is_value_of(cell, came):
                    return Relation(RelationKind.EARLIER_ROW)
    return None


def _find_in_other_columns(
    case: Case, change: Change, side: SideOrRow, column: str, came: Any
) -> Relation | None:
    """The relation OTHER_COLUMN with the name of the image's first other column that holds what
    came; None if none does.
    """
    for name, cell in (change.image(side, case.level) or {}).items():
        if name != column and is_value_of(cell, came):
            return Relation(RelationKind.OTHER_COLUMN, name=name)
    return None


def _relate_wire_texts(cell: Cell, expected: str, actual: str) -> Relation | None:
    """How a wrong text of level one is related to the right one, by what texts of the column's type
    mean; None if no relation is known.
    """
    if expected == actual:
        return Relation(RelationKind.SPARK_TYPE)
    if cell.type.logical in _CLOCKS:
        want, got = micros_of_wire_text(cell, expected), micros_of_wire_text(cell, actual)
        relation = relate_times(want, got, cell.type.logical)
        if relation is not None:
            return relation
        if want is not None and want == got:
            return Relation(RelationKind.SPELLING)
        if _ZEROS.sub("", expected) == _ZEROS.sub("", actual):
            return Relation(RelationKind.SPELLING)
        return relate_numbers(read_number(expected), read_number(actual))
    if isinstance(cell.value, str):
        return relate_texts(expected, actual)
    want_number, got_number = read_number(expected), read_number(actual)
    if want_number is not None and got_number is not None:
        if cell.type.logical is Logical.YEAR and has_two_digits(want_number, got_number):
            return Relation(RelationKind.TWO_DIGITS)
        reversal = find_reversal(cell.type, want_number, got_number)
        if want_number != got_number and reversal is not None:
            return reversal
        relation = relate_numbers(want_number, got_number)
        are_equal = want_number == got_number
        return relation or (Relation(RelationKind.SPELLING) if are_equal else None)
    if cell.type.logical not in _SPELLED_AS_TEXT:
        return None
    if cell.type.logical is Logical.JSON:
        return relate_documents(expected, actual) or relate_texts(expected, actual)
    labels = sorted(expected.split(","))
    if cell.type.logical is Logical.SET and labels == sorted(actual.split(",")):
        return Relation(RelationKind.OTHER_ORDER)
    return relate_texts(expected, actual)


def _relate_typed(cell: Cell, came: Typed) -> Relation | None:
    """How a wrong value at level two (typed columns) is related to the right one; None if no
    relation is known. If both mean the same, it is the Spark type that is wrong (SPARK_TYPE), or,
    where that is accepted for the column, the spelling (SPELLING).
    """
    wrong_type = not is_accepted(cell, came.family)
    relation = _relate_typed_values(cell, came)
    if relation is None and _are_equal(cell, came):
        kind = RelationKind.SPARK_TYPE if wrong_type else RelationKind.SPELLING
        return Relation(kind)
    return relation


def _relate_typed_values(cell: Cell, came: Typed) -> Relation | None:
    """The relation of two typed values that differ, by the type of the owed one. None if they are
    equal, or no relation is known.
    """
    expected, actual = cell.value, came.value
    if isinstance(expected, bytes):
        if isinstance(actual, str):
            return find_encoding(expected, actual)
        return relate_bytes(expected, actual) if isinstance(actual, bytes) else None
    if isinstance(expected, str):
        return (
            relate_texts(expected, actual)
            if isinstance(actual, str) and actual != expected
            else None
        )
    if isinstance(expected, Json) and isinstance(actual, str):
        document_text = expected.text or json.dumps(expected.value, default=str, ensure_ascii=False)
        return relate_documents(document_text, actual)
    if cell.type.logical in _CLOCKS:
        return relate_times(micros_of(expected), micros_of(actual), cell.type.logical)
    if cell.type.logical in _NUMBERS:
        if cell.type.logical is Logical.YEAR and has_two_digits(expected, read_number(actual)):
            return Relation(RelationKind.TWO_DIGITS)
        reversal = find_reversal(cell.type, read_number(expected), read_number(actual))
        if actual != expected and reversal is not None:
            return reversal
        return relate_numbers(read_number(expected), read_number(actual))
    return None


def _are_equal(cell: Cell, came: Typed) -> bool:
    """Whether what came means the owed value, also in another Spark type or spelling."""
    if is_value_of(cell, came):
        return True
    if cell.type.logical in _CLOCKS:
        expected_micros = micros_of(cell.value)
        return expected_micros is not None and expected_micros == micros_of(came.value)
    if cell.type.logical in _NUMBERS:
        number = read_number(cell.value)
        return number is not None and number == read_number(came.value)
    return False


def possible_relations(cell: Cell, came: Any) -> frozenset[Relation]:
    """All relations with a number (the lowest bits, a thousandth ...), or of a type with fewer
    digits, that a wrong number or time may have to the right one; of bytes those of a cut, of
    documents those of their parts. `relate` gives the likeliest: that a second comes as 0 says
    little, but with others it may be that all come as a thousandth.
    """
    if cell.state is not State.VALUE:
        return frozenset()
    if cell.type.logical in _CLOCKS:
        expected_micros = owed_micros(cell, as_text=isinstance(came, str))
        actual_micros = micros_that_came(cell, came)
        if expected_micros is None or actual_micros is None:
            return frozenset()
        return frozenset(find_parts(expected_micros, actual_micros))
    if isinstance(cell.value, Json):
        expected_text = cell.text if isinstance(came, str) else None
        return _possible_relations_of_documents(cell.value, expected_text, came)
    if isinstance(cell.value, bytes) and isinstance(came, Typed) and isinstance(came.value, bytes):
        cut = find_cut_of_bytes(cell.value, came.value)
        # Zero bytes that are lost at the end may be cut before the first of them.
        is_before_sign = cut is not None and bool(cut.before)
        return frozenset({widen_relation(cut)}) if cut and is_before_sign else frozenset()
    if cell.type.logical not in _NUMBERS:
        return frozenset()
    expected = read_number(cell.text if isinstance(came, str) else cell.value)
    actual = read_number(came.value if isinstance(came, Typed) else came)
    if expected is None or actual is None or expected == actual:
        return frozenset()
    possible = {Relation(RelationKind.LOW_BITS, width) for width in find_widths(expected, actual)}
    if is_through_float(expected, actual):
        possible.add(Relation(RelationKind.FLOAT))
    return frozenset(possible)


def _possible_relations_of_documents(
    document: Json, text_on_wire: str | None, came: Any
) -> frozenset[Relation]:
    """All relations that a JSON document that came may have to the owed one: those of the parts
    that differ, and that it is encoded twice. They may be several: if `true` came as a text, either
    may be the reason.
    """
    actual = came.value if isinstance(came, Typed) else came
    if not isinstance(actual, str):
        return frozenset()
    expected = text_on_wire or document.text or json.dumps(document.value, default=str)
    return find_relations_of_documents(expected, actual)


def owed_micros(cell: Cell, *, as_text: bool) -> int | None:
    """The microseconds of an owed date or time: with `as_text` as its text in the message has it,
    else by its value. None if they cannot be told.
    """
    if as_text:
        return None if cell.text is None else micros_of_wire_text(cell, cell.text)
    return micros_of(cell.value)


def micros_that_came(cell: Cell, came: Any) -> int | None:
    """The microseconds of what came for an owed date or time; None for what is no time."""
    if isinstance(came, str):
        return micros_of_wire_text(cell, came)
    return micros_of(came.value) if isinstance(came, Typed) else None
