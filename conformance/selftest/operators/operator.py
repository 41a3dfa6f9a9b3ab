"""What an operator on a right decoder's rows is, and how one for cells becomes one for rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from generators.model import SIDES, Case, Cell, Change, Logical, Message, Op, Side, SourceType

Rows: TypeAlias = Sequence[OutputRow]
"""A decoder's rows of one message."""
Image: TypeAlias = Mapping[str, Any]
"""The cells of a row before or after a change, by column: texts at level one, typed values at level
two.
"""


@dataclass(frozen=True, slots=True)
class MessageContext:
    """What a decoder could know of a message: its case, the changes in it, the rows of the message
    that it read `before`, and the message itself.

    `changes` are those that have rows at the case's level.
    """

    case: Case
    changes: tuple[Change, ...]
    before: Rows = ()
    message: Message | None = None

    @property
    def value_text(self) -> str:
        """The message's value, a character for each byte; "" for none."""
        return ((self.message and self.message.value) or b"").decode("latin-1")

    def cells(self, output_row: OutputRow, side: Side) -> Mapping[str, Cell]:
        """The expected cells of the row's image on this side; an operator looks only at their
        types.
        """
        for change in self.changes:
            if change.row == output_row.row:
                return change.image(side, self.case.level) or {}
        return {}


Alter: TypeAlias = Callable[[Rows, MessageContext], Rows]
"""What a wrong decoder makes of the rows that a right one has of a message."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A fault: `alter` makes a wrong decoder's rows of a right decoder's rows of one message; equal
    rows mean that the fault does not apply.

    `apt` are globs of the rules, without their format, that name the fault; another rule misleads.
    `logicals` are the types of the cells that it changes, () for rows as a whole.
    """

    name: str
    apt: tuple[str, ...]
    alter: Alter
    logicals: tuple[Logical, ...] = ()
    levels: tuple[int, ...] = (1, 2)

    def names(self, rule: str) -> bool:
        """Whether the rule names the fault."""
        return any(fnmatchcase(rule, glob) for glob in self.apt)


ImageChange: TypeAlias = Callable[[Image, Mapping[str, Cell], MessageContext], Image]
"""A wrong image for a right one, its owed cells and the message's context."""
CellChange: TypeAlias = Callable[[SourceType, Any], Any]
"""A wrong text (level one) or value (level two) for a right one of a type: None for NULL, the same
for no change. Never called for NULL.
"""
RowChange: TypeAlias = Callable[[OutputRow], OutputRow]
"""A wrong row for a right one."""


def on_cells(change: CellChange, logicals: tuple[Logical, ...]) -> Alter:
    """Makes an operator on images of a change of cells: `change` is applied to each value of the
    types `logicals`.
    """

    def alter(image: Image, cells: Mapping[str, Cell], _context: MessageContext) -> Image:
        """The image with the changed values of the columns of the types `logicals`; the same object
        if none changes.
        """
        changed_values: dict[str, Any] = {}
        for column, cell in cells.items():
            value = image.get(column)
            if value is not None and cell.type.logical in logicals:
                changed = change_value(cell.type, value)
                # By text, since 0.0 == -0.0 and 1 == True.
                if repr(changed) != repr(value):
                    changed_values[column] = changed
        return {**image, **changed_values} if changed_values else image

    def change_value(type: SourceType, value: Any) -> Any:
        """The value changed: of a Typed its inner value, which keeps the family unless `change`
        returns NULL or a Typed of its own.
        """
        if not isinstance(value, Typed):
            return change(type, value)
        changed = change(type, value.value)
        if changed is None or isinstance(changed, Typed):
            return changed
        return Typed(value.family, changed)

    return on_images(alter)


def with_image(output_row: OutputRow, side: Side, image: Image | None) -> OutputRow:
    """The row with another image on that side."""
    if side == "before":
        return replace(output_row, before=image)
    return replace(output_row, after=image)


def on_images(change: ImageChange) -> Alter:
    """Makes an operator (an imitated mistake of a decoder, which changes the right rows of
    messages) of a change of images: each image of each row is changed by itself. `change` returns
    the very same object for an image that stays.
    """

    def alter_row(output_row: OutputRow, context: MessageContext) -> OutputRow:
        """The row, each of whose images is replaced by what `change` makes of it with the image's
        owed cells.
        """
        for side in SIDES:
            image: Image | None = getattr(output_row, side)
            if image is None:
                continue
            changed = change(image, context.cells(output_row, side), context)
            if changed is not image:
                output_row = with_image(output_row, side, changed)
        return output_row

    def alter(output_rows: Rows, context: MessageContext) -> Rows:
        """The rows of a message, each with its changed images."""
        return [alter_row(output_row, context) for output_row in output_rows]

    return alter


def update_image_change(
    side: Side, change: Callable[[Image, Image, OutputRow], Image]
) -> RowChange:
    """Replaces one image of the UPDATEs that have both: `change(before, after, output_row)` returns
    the image for that side. Other rows stay.
    """

    def alter_row(output_row: OutputRow) -> OutputRow:
        """The UPDATE with the changed image on that side; a row of another op, or without both
        images, stays.
        """
        before, after = output_row.before, output_row.after
        if output_row.op != Op.UPDATE.value or before is None or after is None:
            return output_row
        return with_image(output_row, side, change(before, after, output_row))

    return alter_row


def changed_columns(image: Image, other_image: Image) -> Image:
    """The columns of an image that the other image lacks, or has with another value."""
    return {
        name: value
        for name, value in image.items()
        if name not in other_image or repr(other_image[name]) != repr(value)
    }


def field_change(name: str, change: Callable[[Any, OutputRow], Any]) -> RowChange:
    """A change of rows that changes one field of the envelope, unless it is NULL or empty."""

    def alter_row(output_row: OutputRow) -> OutputRow:
        """The row with the changed field; a row in which the field is NULL or empty stays."""
        value = output_row.fields.get(name)
        if not value:
            return output_row
        return replace(output_row, fields={**output_row.fields, name: change(value, output_row)})

    return alter_row


def on_rows(change: Callable[[OutputRow], OutputRow | None]) -> Alter:
    """Makes an operator (an imitated mistake of a decoder, which changes the right rows of
    messages) of a change of rows: each row is changed by itself; a row for which `change` returns
    None is dropped.
    """

    def alter(output_rows: Rows, _context: MessageContext) -> Rows:
        """The changed rows of a message, without those that `change` drops."""
        return [changed for changed in map(change, output_rows) if changed is not None]

    return alter
