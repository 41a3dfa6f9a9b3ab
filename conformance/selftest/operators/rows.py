"""Faults in rows, images and envelopes that the words of catalogue.toml cannot describe."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from conformance.selftest.operators.operator import (
    Alter,
    Image,
    MessageContext,
    Rows,
    changed_columns,
    field_change,
    on_images,
    on_rows,
    update_image_change,
)
from generators.model import Cell, Kind, Op, State

Cells: TypeAlias = Mapping[str, Cell]
"""The expected cells of an image, by column."""

_ROW, _DDL = Kind.ROW.value, Kind.DDL.value
_INSERT, _UPDATE, _DELETE = (op.value for op in (Op.INSERT, Op.UPDATE, Op.DELETE))
"""The kinds and ops that these operators look for, as rows have them."""


def _split_update(output_rows: Rows, _context: MessageContext) -> Rows:
    """The rows of a decoder that returns a DELETE and an INSERT, with numbers of their own, for an
    UPDATE; an UPDATE without a before image stays, since there is nothing to delete.
    """
    altered: list[OutputRow] = []
    for output_row in output_rows:
        if output_row.kind == _ROW and output_row.op == _UPDATE and output_row.before is not None:
            altered.append(replace(output_row, op=_DELETE, after=None))
            altered.append(replace(output_row, op=_INSERT, before=None))
        else:
            altered.append(output_row)
    return output_rows if len(altered) == len(output_rows) else _renumber(altered)


def _key_columns_of(output_row: OutputRow, image: Image | None) -> tuple[str, ...]:
    """The names of a row's key columns: the row's field `keys`, or else the column `id` or `ID` if
    this image of it has one.
    """
    if output_row.fields.get("keys"):
        return tuple(output_row.fields["keys"])
    return tuple(name for name in ("id", "ID") if name in (image or {}))


def _newest_image(output_row: OutputRow) -> Image | None:
    """The after image, or the before image of a row without one; None if it has neither."""
    return output_row.after if output_row.after is not None else output_row.before


def _with_key_values_of(image: Image, other_image: Image, output_row: OutputRow) -> Image:
    """The image with the other image's values in the row's key columns."""
    keys = _key_columns_of(output_row, output_row.after)
    return {
        name: other_image.get(name, value) if name in keys else value
        for name, value in image.items()
    }


_changed_columns_alone: Final = update_image_change(
    "after", lambda before, after, _output_row: changed_columns(after, before)
)
"""A change of rows: the after image of an UPDATE has only the columns that differ from the before
image.
"""
_complete_before: Final = on_rows(
    update_image_change("before", lambda before, after, _output_row: {**after, **before})
)
"""The operator that completes the before image of an UPDATE by the columns that only the after
image has, with its values.
"""


def _delete_with_key_alone(output_row: OutputRow) -> OutputRow:
    """The row of a decoder that gives a DELETE only the values of the key, and NULL elsewhere; a
    row without a key stays.
    """
    if output_row.op != _DELETE or not output_row.before:
        return output_row
    keys = _key_columns_of(output_row, output_row.before)
    if not keys:
        return output_row
    image = {name: value if name in keys else None for name, value in output_row.before.items()}
    return replace(output_row, before=image)


def _reverse_rows(output_rows: Rows, _context: MessageContext) -> Rows:
    """The rows of a decoder that returns the rows of a message in the opposite order."""
    numbers = [output_row.row for output_row in output_rows]
    return [
        replace(output_row, row=number)
        for output_row, number in zip(reversed(output_rows), numbers, strict=True)
    ]


def _renumber(output_rows: Iterable[OutputRow]) -> Rows:
    """The rows with the numbers from 0 on, in their order."""
    return [replace(output_row, row=number) for number, output_row in enumerate(output_rows)]


def _first_of_equal_rows(output_rows: Rows, _context: MessageContext) -> Rows:
    """The rows of a decoder that drops duplicates: of rows of a message that differ only in their
    number, the first stays.
    """
    first_of_equal: dict[str, OutputRow] = {}
    for output_row in output_rows:
        first_of_equal.setdefault(repr(replace(output_row, row=0)), output_row)
    return _renumber_if_fewer(output_rows, first_of_equal.values())


def _renumber_if_fewer(output_rows: Rows, altered: Collection[OutputRow]) -> Rows:
    """The altered rows, numbered from zero; the right ones if none of them was dropped."""
    return output_rows if len(altered) == len(output_rows) else _renumber(altered)


def _first_before_in_every_row(output_rows: Rows, _context: MessageContext) -> Rows:
    """The rows of a decoder that gives every row of a message the before image of the first."""
    if len(output_rows) < 2 or output_rows[0].before is None:
        return output_rows
    first_before = output_rows[0].before
    return [
        replace(output_row, before=first_before) if output_row.before is not None else output_row
        for output_row in output_rows
    ]


def _last_row_of_each_key(output_rows: Rows, _context: MessageContext) -> Rows:
    """The rows of a decoder that keeps only the last row of each key in a message; rows without a
    key stay.
    """
    last: dict[str, OutputRow] = {}
    for output_row in output_rows:
        image = _newest_image(output_row)
        keys = _key_columns_of(output_row, image)
        if image and keys:
            last[repr([image.get(key) for key in keys])] = output_row
        else:
            last[repr(output_row.row)] = output_row
    return _renumber_if_fewer(output_rows, last.values())


def _merge_names_by_case(image: Image, _cells: Cells, _context: MessageContext) -> Image:
    """The image of a decoder that ignores the case of column names: columns that differ in case
    alone all hold the last one's value.
    """
    last = {name.lower(): value for name, value in image.items()}
    return {name: last[name.lower()] for name in image}


def _without_nulls(image: Image, _cells: Cells, _context: MessageContext) -> Image:
    """The image of a decoder that leaves out columns which are NULL."""
    return {name: value for name, value in image.items() if value is not None}


def _zero_for_null(image: Image, cells: Cells, context: MessageContext) -> Image:
    """The image of a decoder that reads NULL as 0 in columns of whole numbers, decimals and bits:
    as text at level one, typed at level two.
    """
    zero = "0" if context.case.level == 1 else Typed("int", 0)
    numbers = {
        name for name, cell in cells.items() if cell.type.logical in ("int", "decimal", "bit")
    }
    return {
        name: zero if value is None and name in numbers else value for name, value in image.items()
    }


def _absent_as_null(image: Image, cells: Cells, context: MessageContext) -> Image:
    """The image of a decoder of level one (values as texts) that gives NULL for columns of which
    the message has no value; at level two it stays.
    """
    return dict.fromkeys(cells, None) | dict(image) if context.case.level == 1 else image


def _absent_from_after(output_rows: Rows, context: MessageContext) -> Rows:
    """The rows of a decoder of level one (values as texts) that completes the before image of an
    UPDATE by the columns that only the after image has, with its values; at level two they stay.
    """
    return _complete_before(output_rows, context) if context.case.level == 1 else output_rows


def _values_of_next_column(image: Image, _cells: Cells, _context: MessageContext) -> Image:
    """The image of a decoder that is off by one: each column has the value of the next, the last
    one that of the first.
    """
    values = list(image.values())
    return dict(zip(image, [*values[1:], *values[:1]], strict=True))


def _nulls_from_message_before(image: Image, _cells: Cells, context: MessageContext) -> Image:
    """The image of a decoder that fills NULL with the value that the message before had in the
    column.
    """
    image_before = _last_image(context.before) or {}
    return {
        name: image_before.get(name) if value is None else value for name, value in image.items()
    }


def _last_image(output_rows: Rows) -> Image | None:
    """The last image with columns in these rows (of the two images of a row, the after image); None
    if no image has a column.
    """
    for output_row in reversed(output_rows):
        image = output_row.after or output_row.before
        if image:
            return image
    return None


def _before_from_message_before(output_rows: Rows, context: MessageContext) -> Rows:
    """The rows of a decoder that takes the last image of the message before for the missing before
    image of an UPDATE or DELETE.
    """
    image_before = _last_image(context.before)
    if image_before is None:
        return output_rows
    return [
        replace(output_row, before=image_before)
        if output_row.op in (_UPDATE, _DELETE) and output_row.before is None
        else output_row
        for output_row in output_rows
    ]


def _drop_equal_message(output_rows: Rows, context: MessageContext) -> Rows:
    """The rows of a decoder that takes a message for a redelivery, and drops it, if its rows equal
    those of the message before.
    """
    is_repeat = repr(list(output_rows)) == repr(list(context.before))
    return [] if output_rows and is_repeat else output_rows


def _placeholder_as_value(image: Image, cells: Cells, context: MessageContext) -> Image:
    """The image of a decoder that passes on Debezium's placeholder as the value of each cell that
    the server did not send: its class is "unavailable", and any answer (ANY) is right for it. The
    placeholder is a plain text at level one, a typed text at level two. An image without such cells
    is returned as the same object, which says that it is unchanged.
    """
    placeholder = "__debezium_unavailable_value"
    unknown = {
        name
        for name, cell in cells.items()
        if name in image and cell.state is State.ANY and cell.cls == "unavailable"
    }
    value = placeholder if context.case.level == 1 else Typed("string", placeholder)
    return {**image, **dict.fromkeys(unknown, value)} if unknown else image


def _namesake_as_the_table(output_rows: Rows, context: MessageContext) -> Rows:
    """The rows of a decoder that takes a table of the same name in another database for the
    requested one: at level two, a foreign message gets the rows of the message before it. A message
    is foreign (of another table) if it owes no change and no rows came for it.
    """
    is_of_another_table = not output_rows and not context.changes
    return context.before if context.case.level == 2 and is_of_another_table else output_rows


def _swap_images(output_row: OutputRow) -> OutputRow:
    """The row of a decoder that mixes up the images of an UPDATE; other rows stay."""
    if output_row.op != _UPDATE:
        return output_row
    return replace(output_row, before=output_row.after, after=output_row.before)


def _drop_unchanged_update(output_row: OutputRow) -> OutputRow | None:
    """The row of a decoder that drops an UPDATE which changes no column (None drops the row); other
    rows stay.
    """
    changes_nothing = not _changed_columns_alone(output_row).after
    return None if output_row.op == _UPDATE and changes_nothing else output_row


def _on_key_columns(change: Callable[[list[str]], list[str]]) -> Alter:
    """The operator (an imitated mistake of a decoder) that applies `change` to the field `keys` of
    each row, the names of the key columns.
    """
    return on_rows(field_change("keys", lambda keys, _output_row: change(keys)))


def _position_of_32_bits(position: str, _output_row: OutputRow) -> str:
    """The position as a decoder gives it that keeps only the lowest 32 bits of the number; a
    position that is no number stays.
    """
    return str(int(position) & 0xFFFFFFFF) if position.isdigit() else position


def _every_column_a_key(output_row: OutputRow) -> OutputRow:
    """The row of a decoder that takes all columns for the key where the message names none."""
    image = _newest_image(output_row)
    if output_row.kind != _ROW or not image or output_row.fields.get("keys"):
        return output_row
    return replace(output_row, fields={**output_row.fields, "keys": list(image)})


def _split_sql(output_rows: Rows, _context: MessageContext) -> Rows:
    """The rows of a decoder that returns a row for each part of a statement between semicolons."""
    if len(output_rows) != 1 or output_rows[0].kind != _DDL:
        return output_rows
    output_row = output_rows[0]
    statement = output_row.fields.get("sql") or ""
    if ";" not in statement:
        return output_rows
    parts = [part for part in statement.split(";") if part.strip()]
    return _renumber(
        replace(output_row, fields={**output_row.fields, "sql": part}) for part in parts
    )


def _last_row_alone(output_rows: Rows, _context: MessageContext) -> Rows:
    """The rows of a decoder that returns only the last row of a message."""
    return _renumber(output_rows[-1:]) if len(output_rows) > 1 else output_rows


def _drop_doubtful_rows(output_rows: Rows, context: MessageContext) -> Rows:
    """The rows of a decoder that returns none for a damaged message for which any rows would be
    right, as long as there is one.
    """
    return [] if any(change.anything for change in context.changes) else output_rows


ALTERS: Final[Mapping[str, Alter]] = {
    "update-as-two": _split_update,
    "update-of-nothing-lost": on_rows(_drop_unchanged_update),
    "delete-with-key-alone": on_rows(_delete_with_key_alone),
    "images-swapped": on_rows(_swap_images),
    "changed-columns-alone": on_rows(_changed_columns_alone),
    "new-key-in-before": on_rows(update_image_change("before", _with_key_values_of)),
    "old-key-in-after": on_rows(
        update_image_change(
            "after",
            lambda before, after, output_row: _with_key_values_of(after, before, output_row),
        )
    ),
    "rows-reversed": _reverse_rows,
    "first-row-alone": lambda output_rows, _: output_rows[:1],
    "first-hundred-rows": lambda output_rows, _: output_rows[:100],
    "last-row-alone": _last_row_alone,
    "equal-rows-as-one": _first_of_equal_rows,
    "rows-of-a-key-as-one": _last_row_of_each_key,
    "first-before-in-every-row": _first_before_in_every_row,
    "rows-twice": lambda output_rows, _: [*output_rows, *output_rows],
    "before-from-the-message-before": _before_from_message_before,
    "equal-message-lost": _drop_equal_message,
    "null-as-zero": on_images(_zero_for_null),
    "null-left-out": on_images(_without_nulls),
    "null-from-the-message-before": on_images(_nulls_from_message_before),
    "absent-as-null": on_images(_absent_as_null),
    "absent-from-after": _absent_from_after,
    "values-of-the-next-column": on_images(_values_of_next_column),
    "columns-alike-but-for-case": on_images(_merge_names_by_case),
    "placeholder-as-a-value": on_images(_placeholder_as_value),
    "namesake-as-the-table": _namesake_as_the_table,
    "statement-split": _split_sql,
    "doubtful-lost": _drop_doubtful_rows,
    "keys-sorted": _on_key_columns(sorted),
    "keys-reversed": _on_key_columns(lambda keys: keys[::-1]),
    "keys-first-alone": _on_key_columns(lambda keys: keys[:1]),
    "keys-split-at-commas": _on_key_columns(lambda keys: ",".join(keys).split(",")),
    "keys-of-every-column": on_rows(_every_column_a_key),
    "keys-twice": _on_key_columns(lambda keys: [*keys, *keys]),
    "position-of-32-bits": on_rows(field_change("position", _position_of_32_bits)),
}
"""The operators on rows that are written here and not in catalogue.toml, by name."""
