"""Documents of a change as their texts in a message, and what a decoder recovers from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from generators.families.debezium.extended_json import (
    Style,
    field_json,
    part_json,
    print_extended,
)
from generators.model import Cell, Column, Image, Json, Logical, Row, State, Table, Value
from generators.sources.mongodb import ID
from generators.sources.postgresql import value_class

_IN_PART: Final = "the message has a part of the field's new value"
"""Why any value is right in a field of which an update sends a part."""
_NOT_JSON: Final = "the document's text has NaN or Infinity as it stands, which JSON has not"
"""Why any value is right in a document whose text JSON does not allow."""
_AMBIGUOUS: Final = "a name with a point in updatedFields is a path or a field's name"
"""Why any value is right in a field whose name has a point."""


def document_json(table: Table, document: Row, style: Style) -> dict[str, Any]:
    """The JSON of a document: its fields in their order."""
    types = {column.name: column.type for column in table.columns}
    return {name: field_json(types[name], value, style) for name, value in document.items()}


def document_text(table: Table, document: Row) -> str:
    """The text of a document in `before` or `after`."""
    return print_extended(document_json(table, document, Style.IMAGE), Style.IMAGE)


def key_text(table: Table, document: Row) -> str:
    """The text of a document's `_id` in the record key."""
    return print_extended(field_json(table.column(ID).type, document[ID], Style.KEY), Style.KEY)


def is_not_json(value: Value) -> bool:
    """Whether a value makes the text of its document invalid JSON: NaN and infinities are printed
    as Java does (JsonMode STRICT).
    """
    return isinstance(value, float) and not math.isfinite(value)


def cell_of(column: Column, value: Value, style: Style) -> Cell:
    """What a decoder recovers of a field's value, which the message has as Extended JSON of this
    style (where the document is printed: `before` or `after`, the record key, or an update's
    description). NaN and infinities make `before` and `after` no JSON: any value is right. The
    class of a decimal with an exponent is `exponent`.
    """
    if value is None:
        return Cell(State.NULL, column.type)
    if is_not_json(value) and style is Style.IMAGE:
        return Cell(State.ANY, column.type, reason=_NOT_JSON)
    wire = field_json(column.type, value, style)
    content = Json(wire) if column.type.logical is Logical.JSON else value
    cls = value_class(column.type, value)
    if isinstance(value, Decimal) and "E" in str(value):
        cls = "exponent"
    if isinstance(wire, str):
        return Cell(State.VALUE, column.type, content, wire, cls)
    return Cell(State.VALUE, column.type, content, print_extended(wire, style), cls, json=True)


@dataclass(frozen=True, slots=True)
class Images:
    """What a decoder owes for a document: `wire` at level one, with the fields and paths that stand
    in the message, and `full` at level two (typed rows), with a cell for each field of the
    collection. None where the message has nothing of it.
    """

    wire: Image | None
    full: Image | None

    @property
    def has_no_json(self) -> bool:
        """Whether the text of the document is invalid JSON, because a value in it is."""
        return any(cell.reason == _NOT_JSON for cell in (self.wire or {}).values())


NO_IMAGES: Final = Images(None, None)
"""Where a message has no document, and no other word of it."""


def images_of_document(table: Table, document: Row) -> Images:
    """The images of a whole document. A field that it does not have is absent at level one
    (`wire`), and NULL at level two (`full`), where a row has a cell for each field of the
    collection.
    """
    cells = {
        column.name: cell_of(column, document[column.name], Style.IMAGE)
        for column in table.columns
        if column.name in document
    }
    missing = {
        column.name: Cell(State.NULL, column.type)
        for column in table.columns
        if column.name not in document
    }
    return Images(table.image(cells), {**table.image(cells), **missing})


def images_of_key(table: Table, document: Row) -> Images:
    """The images of a document of which the message has only the record key: its `_id`. The other
    fields are absent at both levels.
    """
    cells = {ID: cell_of(table.column(ID), document[ID], Style.KEY)}
    return Images(table.image(cells), table.image(cells))


@dataclass(frozen=True, slots=True)
class Update:
    """What an update does to a document, as a change stream describes it.

    `fields` are new values by the names of fields, `values_by_path` those of what stands within
    them by its path (`field.member`), in JSON of the model; `removed` are the names and paths of
    what is no longer there, `truncated` new sizes of arrays.
    """

    fields: Mapping[str, Value]
    values_by_path: Mapping[str, Any]
    removed: tuple[str, ...]
    truncated: Mapping[str, int]

    def is_part_of(self, name: str) -> bool:
        """Whether the update changes a part of the field, such as a member of its object, and does
        not set the field as a whole.
        """
        paths = (*self.values_by_path, *self.removed)
        return name in self.truncated or any(path.startswith(f"{name}.") for path in paths)


def describe_update(table: Table, before: Row, after: Row) -> Update:
    """The update that makes one document of another: fields that differ, and within an object or
    an array what differs there, if something stays as it is.
    """
    fields: dict[str, Value] = {}
    values_by_path: dict[str, Any] = {}
    removed = [name for name in before if name not in after]
    truncated: dict[str, int] = {}
    for name, value in after.items():
        old = before.get(name)
        if name in before and _same(old, value):
            continue
        match old, value:
            case Json(value=dict() as old_part), Json(value=dict() as new_part) if _shares_members(
                old_part, new_part
            ):
                values_by_path |= dict(_changed_members(name, old_part, new_part))
                removed += [f"{name}.{key}" for key in old_part if key not in new_part]
            case Json(value=list() as old_items), Json(value=list() as new_items) if (
                new_items
                and repr(new_items) == repr(old_items[: len(new_items)])
                and len(new_items) < len(old_items)
            ):
                truncated[name] = len(new_items)
            case _:
                fields[name] = value
    return Update(fields, values_by_path, tuple(removed), truncated)


def _same(old: Value, new: Value) -> bool:
    """Whether two values of a field are equal to MongoDB, to which the integer 1 and the double 1.0
    are different.
    """
    return repr(old) == repr(new)


def _shares_members(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether at least one member of an object stays as it is, so that the update names only paths
    of the others; False if a name has a point, a dollar in front, or is empty, since paths would be
    ambiguous.
    """
    if any("." in name or name.startswith("$") or not name for name in (*old, *new)):
        return False
    return any(repr(old[name]) == repr(new[name]) for name in old if name in new)


def _changed_members(
    field: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The paths of the members of an object that are new or have another value."""
    for name, value in new.items():
        if name not in old or repr(old[name]) != repr(value):
            yield f"{field}.{name}", value


def images_of_update(table: Table, before: Row, update: Update, *, pre_image: bool) -> Images:
    """The images of a document after an update without the document: `_id` of the record key, the
    fields and paths of `updatedFields`, and those of `removedFields` as NULL. With a pre-image the
    typed row has the old document's other fields.
    """
    wire: dict[str, Cell] = {ID: cell_of(table.column(ID), before[ID], Style.KEY)}
    for name, value in update.fields.items():
        wire[name] = cell_of(table.column(name), value, Style.UPDATE)
    full = dict(wire)
    for column in table.columns:
        name = column.name
        if name in wire:
            continue
        if update.is_part_of(name):
            full[name] = Cell(State.ANY, column.type, reason=_IN_PART)
        elif name in update.removed:
            full[name] = Cell(State.NULL, column.type)
        elif pre_image:
            full[name] = (
                cell_of(column, before[name], Style.IMAGE)
                if name in before
                else Cell(State.NULL, column.type)
            )
    for path, value in update.values_by_path.items():
        wire[path] = _cell_of_path(table.column(path.partition(".")[0]), value)
    for name in update.removed:
        wire[name] = Cell(State.NULL, table.column(_field_of(table, name)).type)
    for name in update.fields:
        if "." in name:
            full[name] = Cell(State.ANY, table.column(name).type, reason=_AMBIGUOUS)
    return Images({**table.image(wire), **wire}, table.image(full))


def _field_of(table: Table, path: str) -> str:
    """The field in which a path of `removedFields` lies."""
    return path if any(column.name == path for column in table.columns) else path.partition(".")[0]


def _cell_of_path(column: Column, value: Any) -> Cell:
    """What a decoder recovers at level one of the value of a path of `updatedFields`, which stands
    within the field that is the column: a string as it is, another value as Extended JSON.
    """
    wire = part_json(value, Style.UPDATE)
    if wire is None:
        return Cell(State.NULL, column.type)
    if isinstance(wire, str):
        return Cell(State.VALUE, column.type, Json(wire), wire)
    return Cell(State.VALUE, column.type, Json(wire), print_extended(wire, Style.UPDATE), json=True)


def is_replacement(before: Row, after: Row) -> bool:
    """Whether an update is a replacement of the document: each of its fields, two at least, has
    another value.
    """
    names = [name for name in {**before, **after} if name != ID]
    return len(names) > 1 and all(
        name not in before or name not in after or not _same(before[name], after[name])
        for name in names
    )


def description_members(table: Table, update: Update) -> dict[str, Any]:
    """The members of `updateDescription`; a list without items is null."""
    types = {column.name: column.type for column in table.columns}
    updated = {
        **{
            name: field_json(types[name], value, Style.UPDATE)
            for name, value in update.fields.items()
        },
        **{path: part_json(value, Style.UPDATE) for path, value in update.values_by_path.items()},
    }
    truncated = [{"field": name, "size": size} for name, size in update.truncated.items()]
    return {
        "removedFields": update.removed or None,
        "updatedFields": print_extended(updated, Style.UPDATE),
        "truncatedArrays": truncated or None,
    }
