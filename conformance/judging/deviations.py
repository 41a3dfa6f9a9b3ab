"""What may be wrong in one place of a format's findings: a closed list of deviations.

A deviation has a kind (the row is lost, the image is missing, the value is wrong ...), the name
that it needs (a side, a column, a kind) and, for a wrong value, its relation to the right one.
`conformance.judging.deviation_of_finding` tells it of a finding, `conformance.judging.mistakes`
looks for what the units with a deviation share.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from conformance.judging.compared_units import cell_of
from conformance.judging.findings import NOT_THERE
from conformance.judging.index import (
    POPULATIONS_OF_FIELDS,
    Failing,
    PopulationName,
    Unit,
)
from conformance.judging.relations import (
    Relation,
    RelationKind,
)
from conformance.judging.wording import of_type, value
from generators.model import Cell, State


class DeviationKind(enum.StrEnum):
    """What is wrong in one place. The values are the keys of [deviations] in wording.toml."""

    ROW_LOST = "row-lost"
    ROW_REFUSED = "row-refused"
    ROW_SURPLUS = "row-surplus"
    ROW_REPEATED = "row-repeated"
    ROW_NUMBER_NULL = "row-number-null"
    ROW_NUMBER_WRONG = "row-number-wrong"
    OTHER_OP = "other-op"
    OTHER_KIND = "other-kind"
    OP_IN_OTHER_LETTERS = "op-in-other-letters"
    FIELD_WRONG = "field-wrong"
    IMAGE_SURPLUS = "image-surplus"
    IMAGE_MISSING = "image-missing"
    IMAGE_ON_OTHER_SIDE = "image-on-other-side"
    IMAGE_WITHOUT_COLUMNS = "image-without-columns"
    COLUMN_MISSING = "column-missing"
    COLUMN_SURPLUS = "column-surplus"
    VALUE_WRONG = "value-wrong"
    VALUE_NULL = "value-null"
    VALUE_FOR_NULL = "value-for-null"
    ROWS_SHUFFLED = "rows-shuffled"
    COLUMNS_SWAPPED = "columns-swapped"
    MESSAGE_VANISHES = "message-vanishes"
    DOUBTFUL_VANISHES = "doubtful-vanishes"
    MESSAGE_ACCEPTED = "message-accepted"
    ROWS_BESIDE_REFUSAL = "rows-beside-refusal"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A kind of deviation; `name` is the image's side, the envelope's column, or the kind that
    came, `relation` that of a wrong value or envelope column.
    """

    kind: DeviationKind
    name: str = ""
    relation: Relation | None = None

    @property
    def relation_kind(self) -> RelationKind | None:
        """The kind of the relation, if there is one."""
        return self.relation.kind if self.relation else None

    @property
    def is_of_cells(self) -> bool:
        """Whether its units are cells."""
        return self.kind in _OF_CELLS

    @property
    def is_of_faults(self) -> bool:
        """Whether its units are messages that cannot be read."""
        return self.kind in _OF_FAULTS

    @property
    def is_of_images(self) -> bool:
        """Whether an image as a whole is wrong."""
        return self.kind in _OF_IMAGES

    @property
    def is_of_kinds(self) -> bool:
        """Whether the kind of a row is another, or is spelled otherwise."""
        in_other_letters = self.kind is DeviationKind.OP_IN_OTHER_LETTERS and self.name == "kind"
        return self.kind is DeviationKind.OTHER_KIND or in_other_letters

    @property
    def is_of_presence(self) -> bool:
        """Whether a column is missing or too many."""
        return self.kind in (DeviationKind.COLUMN_MISSING, DeviationKind.COLUMN_SURPLUS)

    @property
    def is_of_values(self) -> bool:
        """Whether a value is wrong, NULL, or in the place of a NULL."""
        return self.kind in _OF_VALUES

    @property
    def is_wrong_value(self) -> bool:
        """Whether a value is wrong, and neither it nor what is owed is NULL."""
        return self.kind is DeviationKind.VALUE_WRONG

    @property
    def is_for_null(self) -> bool:
        """Whether a value is in the place of a NULL."""
        return self.kind is DeviationKind.VALUE_FOR_NULL

    @property
    def is_of_other_image(self) -> bool:
        """Whether values are those of the row's other image."""
        return self.is_wrong_value and self.relation_kind is RelationKind.OTHER_IMAGE

    @property
    def other_image(self) -> str:
        """The image whose values came in place of its own; "" if it is not of another image."""
        return self.relation.name if self.relation and self.is_of_other_image else ""

    @property
    def spoils_whole_rows(self) -> bool:
        """Whether a row with this deviation has other wrong cells as a consequence."""
        return self.is_of_other_image or self.kind in (
            DeviationKind.ROWS_SHUFFLED,
            DeviationKind.COLUMNS_SWAPPED,
        )

    @property
    def explains_alone(self) -> bool:
        """Whether its relation alone says what a decoder does wrong, whatever the value holds."""
        return self.relation is not None and self.relation.explains_alone


_OF_CELLS: Final = frozenset(
    {
        DeviationKind.COLUMN_MISSING,
        DeviationKind.COLUMN_SURPLUS,
        DeviationKind.VALUE_WRONG,
        DeviationKind.VALUE_NULL,
        DeviationKind.VALUE_FOR_NULL,
        DeviationKind.ROWS_SHUFFLED,
        DeviationKind.COLUMNS_SWAPPED,
    }
)
"""Deviations whose units are cells."""
_OF_VALUES: Final = frozenset(
    {DeviationKind.VALUE_WRONG, DeviationKind.VALUE_NULL, DeviationKind.VALUE_FOR_NULL}
)
"""Deviations of cells in which a value or a NULL is wrong."""
_OF_FAULTS: Final = frozenset(
    {
        DeviationKind.MESSAGE_VANISHES,
        DeviationKind.DOUBTFUL_VANISHES,
        DeviationKind.MESSAGE_ACCEPTED,
        DeviationKind.ROWS_BESIDE_REFUSAL,
    }
)
"""Deviations whose units are messages that cannot be read."""
_OF_IMAGES: Final = frozenset(
    {
        DeviationKind.IMAGE_MISSING,
        DeviationKind.IMAGE_SURPLUS,
        DeviationKind.IMAGE_WITHOUT_COLUMNS,
    }
)
"""Deviations in which an image as a whole is wrong."""
OF_OPS: Final = frozenset(
    {DeviationKind.OTHER_OP, DeviationKind.OTHER_KIND, DeviationKind.OP_IN_OTHER_LETTERS}
)
"""Deviations of a row's kind or op."""
WRONG: Final = Deviation(DeviationKind.VALUE_WRONG)
"""A wrong value that has no known relation to the right one."""
SHUFFLED: Final = Deviation(DeviationKind.ROWS_SHUFFLED)
"""The value of another row of the message."""
SWAPPED: Final = Deviation(DeviationKind.COLUMNS_SWAPPED)
"""The value of another column of the image."""
NULL: Final = Deviation(DeviationKind.VALUE_NULL)
"""NULL in the place of a value."""
NOT_NULL: Final = Deviation(DeviationKind.VALUE_FOR_NULL)
"""A value in the place of NULL, which is not known to be that of the row's other image."""
MISSING_COLUMN: Final = Deviation(DeviationKind.COLUMN_MISSING)
"""A column that an image lacks."""
SURPLUS_COLUMN: Final = Deviation(DeviationKind.COLUMN_SURPLUS)
"""A column that an image has and should not have."""
OTHER_OP: Final = Deviation(DeviationKind.OTHER_OP)
"""Another op of a row."""

ByDeviation: TypeAlias = Mapping[Deviation, dict[Unit, Failing]]
"""The units that fail with each deviation, with what tells them from others."""

FAMILIES: Final = 3
"""Families of types in which a relation must occur to be no chance."""
SEVERAL: Final = 3
"""Cases that must have something in common for it to be no chance."""
REST: Final = 0.1
"""The largest share of a mistake's units that may be its rest, which no trait explains."""


def population_of(deviation: Deviation) -> PopulationName:
    """The name of the set of expected things (values, NULLs, rows, unreadable messages ...) that a
    deviation (a way of being wrong) is compared with: its failing units are explained by what the
    other units of that set do not have.

    Values of the after image in the place of others stand in the before image, and are compared
    with its cells, and the other way round. A field of the envelope that came as NULL (COMES_AS) is
    compared with the rows that owe a value in it, any other wrong field with all rows with fields.
    """
    if deviation.is_of_other_image:
        return "there-before" if deviation.other_image == "after" else "there-after"
    if deviation.is_of_values:
        return "nulls" if deviation.is_for_null else "values"
    if deviation == SURPLUS_COLUMN:
        return "absent"
    if deviation.is_of_faults:
        return "faults"
    if deviation.kind is DeviationKind.IMAGE_MISSING:
        return "rows-with-before" if deviation.name == "before" else "rows-with-after"
    if deviation.kind is DeviationKind.FIELD_WRONG:
        comes_as_null = deviation.relation_kind is RelationKind.COMES_AS
        of_fields = POPULATIONS_OF_FIELDS if comes_as_null else {}
        return of_fields.get(deviation.name, "rows-with-fields")
    return "there" if deviation.is_of_cells else "rows"


def spell_op(came: object) -> str:
    """The op or kind that came, as a sentence tells it."""
    return "NULL" if came is None else str(came)


def spell_owed(failing: Failing) -> str:
    """The expected value of the cell that fails, in the spelling that a decoder's value would have,
    so that the two can be compared as texts. The spelling of NULL if the failure is not one of a
    cell.
    """
    cell = cell_of(failing.finding, failing.result.case)
    return value(None) if cell is None else spell_cell(cell, failing.result.case.level)


def spell_cell(cell: Cell, level: int) -> str:
    """An expected cell, spelled as a decoder's value would be: at level one by its text in the
    message, at level two by its typed value as the source prints it. The spelling of NULL for a
    cell that is not owed one certain value.
    """
    if cell.state is not State.VALUE:
        return value(None)
    return value(cell.text) if level == 1 else of_type(cell.type, cell.value)


def spell_came(failing: Failing) -> str:
    """The decoder's wrong value, spelled as text. The spelling of NULL for a column that the
    decoder left out.
    """
    came = failing.finding.came
    return value(None if came is NOT_THERE else came)
