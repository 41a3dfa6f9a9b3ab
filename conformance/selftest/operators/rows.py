"""Faults in rows, images and envelopes that no words say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from conformance.selftest.operators.operator import (
    Alter,
    Image,
    Rows,
    Seen,
    changed,
    of_field,
    of_update,
    on_images,
    on_rows,
)
from generators.model import Cell, Kind, Op, State

Cells: TypeAlias = Mapping[str, Cell]

_ROW, _DDL = Kind.ROW.value, Kind.DDL.value
_INSERT, _UPDATE, _DELETE = (op.value for op in (Op.INSERT, Op.UPDATE, Op.DELETE))


def _split_update(rows: Rows, _seen: Seen) -> Rows:
    """An UPDATE as a DELETE and an INSERT."""
    out: list[OutputRow] = []
    for row in rows:
        if row.kind == _ROW and row.op == _UPDATE and row.before is not None:
            out += [replace(row, op=_DELETE, after=None), replace(row, op=_INSERT, before=None)]
        else:
            out.append(row)
    return out if len(out) == len(rows) else _renumbered(out)


def _key_of(row: OutputRow) -> tuple[str, ...]:
    return tuple(row.fields.get("keys") or ()) or tuple(
        name for name in ("id", "ID") if name in (row.after or {})
    )


def _with_key(held: Image, other: Image, row: OutputRow) -> Image:
    return {
        name: other.get(name, value) if name in _key_of(row) else value
        for name, value in held.items()
    }


_only_changed: Final = of_update("after", lambda old, new, _row: changed(new, old))
_whole_before: Final = on_rows(of_update("before", lambda old, new, _row: {**new, **old}))


def _keys_only(row: OutputRow) -> OutputRow:
    if row.op != _DELETE or not row.before:
        return row
    keys = _key_of(replace(row, after=row.before))
    return replace(
        row, before={c: v if c in keys or len(keys) == 0 else None for c, v in row.before.items()}
    )


def _reversed_images(rows: Rows, _seen: Seen) -> Rows:
    """The rows of a message in the opposite order."""
    numbers = [row.row for row in rows]
    return [replace(row, row=number) for row, number in zip(reversed(rows), numbers, strict=True)]


def _renumbered(rows: list[OutputRow]) -> Rows:
    return [replace(row, row=i) for i, row in enumerate(rows)]


def _no_equal_rows(rows: Rows, _seen: Seen) -> Rows:
    kept: dict[str, OutputRow] = {}
    for row in rows:
        kept.setdefault(repr(replace(row, row=0)), row)
    return rows if len(kept) == len(rows) else _renumbered(list(kept.values()))


def _other_image_rows(rows: Rows, _seen: Seen) -> Rows:
    """The first row's before image in every row."""
    if len(rows) < 2 or rows[0].before is None:
        return rows
    return [replace(row, before=rows[0].before) if row.before is not None else row for row in rows]


def _upserted(rows: Rows, _seen: Seen) -> Rows:
    """Of rows with one key the last alone."""
    last: dict[str, OutputRow] = {}
    for row in rows:
        image = row.after if row.after is not None else row.before
        keys = _key_of(replace(row, after=image))
        last[repr([image.get(k) for k in keys]) if image and keys else repr(row.row)] = row
    return rows if len(last) == len(rows) else _renumbered(list(last.values()))


def _as_one(held: Image, _cells: Cells, _seen: Seen) -> Image:
    """Columns whose names differ in case alone all hold the last one's value."""
    last = {name.lower(): value for name, value in held.items()}
    return {name: last[name.lower()] for name in held}


def _without_nulls(held: Image, _cells: Cells, _seen: Seen) -> Image:
    return {name: value for name, value in held.items() if value is not None}


def _zero_for_null(held: Image, cells: Cells, seen: Seen) -> Image:
    zero = "0" if seen.case.level == 1 else Typed("int", 0)
    numbers = {
        name for name, cell in cells.items() if cell.type.logical in ("int", "decimal", "bit")
    }
    return {
        name: zero if value is None and name in numbers else value for name, value in held.items()
    }


def _absent_as_null(held: Image, cells: Cells, seen: Seen) -> Image:
    return dict.fromkeys(cells, None) | dict(held) if seen.case.level == 1 else held


def _absent_from_other(rows: Rows, seen: Seen) -> Rows:
    """Columns that an UPDATE's before image has not, from its after image."""
    return _whole_before(rows, seen) if seen.case.level == 1 else rows


def _shifted_columns(held: Image, _cells: Cells, _seen: Seen) -> Image:
    values = list(held.values())
    return dict(zip(held, [*values[1:], *values[:1]], strict=True))


def _carried(held: Image, _cells: Cells, seen: Seen) -> Image:
    """NULL becomes the value that the message before had in that column."""
    earlier = (
        next(
            (row.after or row.before for row in reversed(seen.before) if row.after or row.before),
            None,
        )
        or {}
    )
    return {name: earlier.get(name) if value is None else value for name, value in held.items()}


def _before_from_the_past(rows: Rows, seen: Seen) -> Rows:
    """An UPDATE or DELETE without a before image has the last image of the message before."""
    images = (row.after or row.before for row in reversed(seen.before))
    last = next((image for image in images if image), None)
    return [
        replace(row, before=last)
        if row.op in (_UPDATE, _DELETE) and row.before is None and last is not None
        else row
        for row in rows
    ]


def _same_as_before_dropped(rows: Rows, seen: Seen) -> Rows:
    """A message whose rows equal those of the message before is taken for a redelivery."""
    return [] if rows and repr(list(rows)) == repr(list(seen.before)) else rows


def _placeholder(held: Image, cells: Cells, seen: Seen) -> Image:
    """Debezium's placeholder as the value of a cell that nobody knows."""
    text = "__debezium_unavailable_value"
    unknown = {
        name
        for name, cell in cells.items()
        if name in held and cell.state is State.ANY and cell.cls == "unavailable"
    }
    value = text if seen.case.level == 1 else Typed("string", text)
    return {**held, **dict.fromkeys(unknown, value)} if unknown else held


def _namesake(rows: Rows, seen: Seen) -> Rows:
    """Rows of a table of that name elsewhere, as those of the message before."""
    return seen.before if seen.case.level == 2 and not rows and not seen.changes else rows


def _swapped(row: OutputRow) -> OutputRow:
    return replace(row, before=row.after, after=row.before) if row.op == _UPDATE else row


def _unless_nothing_changed(row: OutputRow) -> OutputRow | None:
    return None if row.op == _UPDATE and not _only_changed(row).after else row


def _keys(change: Callable[[list[str]], list[str]]) -> Alter:
    """Another list of a key's columns."""
    return on_rows(of_field("keys", lambda keys, _row: change(keys)))


def _of_32_bits(position: str, _row: OutputRow) -> str:
    return str(int(position) & 0xFFFFFFFF) if position.isdigit() else position


def _every_column_a_key(row: OutputRow) -> OutputRow:
    image = row.after if row.after is not None else row.before
    if row.kind != _ROW or not image or row.fields.get("keys"):
        return row
    return replace(row, fields={**row.fields, "keys": list(image)})


def _split_sql(rows: Rows, _seen: Seen) -> Rows:
    if len(rows) != 1 or rows[0].kind != _DDL or ";" not in (rows[0].fields.get("sql") or ""):
        return rows
    row = rows[0]
    parts = [part for part in row.fields["sql"].split(";") if part.strip()]
    return _renumbered([replace(row, fields={**row.fields, "sql": part}) for part in parts])


def _no_doubtful_rows(rows: Rows, seen: Seen) -> Rows:
    """No answer to a message that is spoiled, but may be read."""
    return [] if any(change.anything for change in seen.changes) else rows


ALTERS: Final[Mapping[str, Alter]] = {
    "update-as-two": _split_update,
    "update-of-nothing-lost": on_rows(_unless_nothing_changed),
    "delete-with-key-alone": on_rows(_keys_only),
    "images-swapped": on_rows(_swapped),
    "changed-columns-alone": on_rows(_only_changed),
    "new-key-in-before": on_rows(of_update("before", _with_key)),
    "old-key-in-after": on_rows(of_update("after", lambda old, new, row: _with_key(new, old, row))),
    "rows-reversed": _reversed_images,
    "first-row-alone": lambda rows, _: rows[:1],
    "first-hundred-rows": lambda rows, _: rows[:100],
    "last-row-alone": lambda rows, _: _renumbered(list(rows[-1:])) if len(rows) > 1 else rows,
    "equal-rows-as-one": _no_equal_rows,
    "rows-of-a-key-as-one": _upserted,
    "first-before-in-every-row": _other_image_rows,
    "rows-twice": lambda rows, _: [*rows, *rows],
    "before-from-the-message-before": _before_from_the_past,
    "equal-message-lost": _same_as_before_dropped,
    "null-as-zero": on_images(_zero_for_null),
    "null-left-out": on_images(_without_nulls),
    "null-from-the-message-before": on_images(_carried),
    "absent-as-null": on_images(_absent_as_null),
    "absent-from-after": _absent_from_other,
    "values-of-the-next-column": on_images(_shifted_columns),
    "columns-alike-but-for-case": on_images(_as_one),
    "placeholder-as-a-value": on_images(_placeholder),
    "namesake-as-the-table": _namesake,
    "statement-split": _split_sql,
    "doubtful-lost": _no_doubtful_rows,
    "keys-sorted": _keys(sorted),
    "keys-reversed": _keys(lambda keys: keys[::-1]),
    "keys-first-alone": _keys(lambda keys: keys[:1]),
    "keys-split-at-commas": _keys(lambda keys: ",".join(keys).split(",")),
    "keys-of-every-column": on_rows(_every_column_a_key),
    "keys-twice": _keys(lambda keys: [*keys, *keys]),
    "position-of-32-bits": on_rows(of_field("position", _of_32_bits)),
}
"""Faults in rows that no words say."""
