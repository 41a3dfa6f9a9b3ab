"""Faults that come of one wrong reading of a format: of its units, its types, its old images."""

from __future__ import annotations

import base64
import datetime as dt
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from conformance.selftest.operators.cells import (
    bytes_change,
    clock_change,
    date_change,
    micros_change,
    number_change,
    single,
    text_change,
    toward_zero,
)
from conformance.selftest.operators.operator import (
    Alter,
    CellChange,
    Image,
    Rows,
    Seen,
    changed,
    of_field,
    of_update,
    on_images,
    on_rows,
)
from generators.model import Cell, Kind, Logical, Op, SourceType, ZeroDate

_DIGITS: Final = 100
_SECOND: Final = 1_000_000
_EPOCH: Final = dt.date(1970, 1, 1)
_ROW, _UPDATE = Kind.ROW.value, Op.UPDATE.value


def _unscaled(type: SourceType, number: Any) -> Any:
    moved = Decimal(number).scaleb(type.scale or 0)
    if moved.adjusted() > _DIGITS:
        return number
    return int(moved) if moved == moved.to_integral_value() else moved


def _digits_of_base64(type: SourceType, number: Any) -> Any:
    unscaled = int(_unscaled(type, number))
    size = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    text = base64.b64encode(unscaled.to_bytes(size, "big", signed=True)).decode()
    return int(text) if text.isdigit() else number


def _guessed(micros: int) -> int:
    return micros * 1000 if abs(micros) // 1000 < 100_000_000_000 else micros


def _a_month_late(day: dt.date) -> dt.date:
    return day.replace(
        year=day.year + day.month // 12, month=day.month % 12 + 1, day=min(day.day, 28)
    )


def _other_end(type: SourceType, number: Any) -> Any:
    size = ((type.length or 1) + 7) // 8
    # Some releases show the bits of a BIT(64) as a negative number.
    return int.from_bytes((int(number) % (1 << 8 * size)).to_bytes(size, "big"), "little")


def _digits_as_bits(_kind: SourceType, number: Any) -> Any:
    digits = re.match("[01]*", str(number))
    return int(digits[0] or "0", 2) if digits else number


def _escaped_label(type: SourceType, held: Any) -> Any:
    if isinstance(held, str) or not 0 < int(held) <= len(type.members):
        return held
    return Typed("string", type.members[int(held) - 1].replace("\\", "\\\\").replace(",", "\\,"))


def _widened(text: str) -> str:
    """The digits of the double that a number of 32 bits is; a number that is its own double, or
    beyond them, keeps its text.
    """
    try:
        number = float(text)
    except ValueError:
        return text
    wide = single(number)
    return text if wide == number or math.isnan(wide) else repr(wide)


def _mantissa(_kind: SourceType, number: Any) -> Any:
    return (
        float(f"{number:e}".partition("e")[0])
        if isinstance(number, float) and "e" in repr(number)
        else number
    )


def _wordlike(value: bytes) -> bytes:
    text = base64.b64encode(value)
    return text if re.fullmatch(rb"[0-9]+|[a-z]+", text) else value


CELLS: Final[Mapping[str, tuple[Logical, CellChange]]] = {
    "enum-as-zero": (Logical.ENUM, lambda _k, held: "0" if isinstance(held, str) else 0),
    "enum-label-escaped": (Logical.ENUM, _escaped_label),
    "decimal-point-dropped": (Logical.DECIMAL, number_change(_unscaled)),
    "decimal-of-base64-digits": (Logical.DECIMAL, number_change(_digits_of_base64)),
    "date-days-as-milliseconds": (
        Logical.DATE,
        date_change(lambda d: _EPOCH + dt.timedelta((d - _EPOCH).days // 86_400_000)),
    ),
    "date-a-month-late": (Logical.DATE, date_change(_a_month_late)),
    "datetime-a-thousandth": (Logical.DATETIME, micros_change(lambda m: m // 1000)),
    "datetime-unit-guessed": (Logical.DATETIME, micros_change(_guessed)),
    "datetime-fraction-a-thousandth": (
        Logical.DATETIME,
        micros_change(lambda m: m - m % _SECOND + m % _SECOND // 1000),
    ),
    "timestamp-a-thousandth": (Logical.TIMESTAMP, micros_change(lambda m: m // 1000)),
    "timestamp-fraction-a-thousandfold": (
        Logical.TIMESTAMP,
        micros_change(lambda m: m + m % _SECOND * 999),
    ),
    "time-to-the-minute": (Logical.TIME, clock_change(lambda m: toward_zero(m, 60 * _SECOND))),
    "time-a-thousandth": (Logical.TIME, clock_change(lambda m: m // 1000)),
    "time-hours-of-a-day": (
        Logical.TIME,
        clock_change(lambda m: m - toward_zero(m, 86_400 * _SECOND)),
    ),
    "bit-as-false": (Logical.BIT, lambda _k, held: False if isinstance(held, bool) else held),
    "bit-bytes-reversed": (Logical.BIT, number_change(_other_end)),
    "bit-digits-as-bits": (Logical.BIT, number_change(_digits_as_bits)),
    "set-members-counted": (Logical.SET, number_change(lambda _k, n: int(n).bit_count())),
    "real-widened": (Logical.FLOAT, text_change(_widened)),
    "real-mantissa-alone": (Logical.FLOAT, number_change(_mantissa)),
    "double-mantissa-alone": (Logical.DOUBLE, number_change(_mantissa)),
    "binary-empty-as-zero": (Logical.BINARY, bytes_change(lambda b: b or b"\0")),
    "binary-words-not-decoded": (Logical.BINARY, bytes_change(_wordlike)),
    "binary-with-0x": (Logical.BINARY, bytes_change(lambda b: b"0x" + b.hex().encode())),
    "json-hexadecimal": (Logical.JSON, text_change(lambda t: t.encode().hex())),
    "text-gbk-as-latin": (
        Logical.TEXT,
        text_change(lambda t: t.encode("gbk", "replace").decode("latin-1")),
    ),
}


def _zero_date_as_epoch(image: Image, cells: Mapping[str, Cell], _seen: Seen) -> Image:
    zeros = {name: cell.type for name, cell in cells.items() if isinstance(cell.value, ZeroDate)}
    first = {
        name: Typed("date", _EPOCH) if kind.logical is Logical.DATE else Typed(kind.spark, 0)
        for name, kind in zeros.items()
    }
    return {**image, **first} if first else image


def _old_of_any_row(rows: Rows, _seen: Seen) -> Rows:
    """Each before image has the columns of all the message's before images, NULL where it has none
    of its own.
    """
    names = dict.fromkeys(name for row in rows if row.op == _UPDATE for name in row.before or ())
    changes = (row.op == _UPDATE and row.before is not None for row in rows)
    return [
        replace(row, before={name: (row.before or {}).get(name) for name in names})
        if changed
        else row
        for row, changed in zip(rows, changes, strict=True)
    ]


def _missing_as_empty(row: OutputRow) -> OutputRow:
    return row if row.kind != _ROW else replace(row, before=row.before or {}, after=row.after or {})


def _missing_as_nulls(row: OutputRow) -> OutputRow:
    return (
        replace(row, before=dict.fromkeys(row.after))
        if row.op == _UPDATE and row.before is None and row.after
        else row
    )


def _null_row_as_no_image(row: OutputRow) -> OutputRow:
    def image(held: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        return held if held is None or any(value is not None for value in held.values()) else None

    return (
        replace(row, before=image(row.before), after=image(row.after)) if row.kind == _ROW else row
    )


def _images(change: Callable[[Image], Image]) -> Alter:
    return on_images(lambda image, _cells, _seen: change(image))


def _columns_before(rows: Rows, seen: Seen) -> Rows:
    """The values of an image under the columns that the message before had, if it had as many."""
    names = next((tuple(row.after) for row in seen.before if row.after), ())
    return [
        replace(row, after=dict(zip(names, row.after.values(), strict=True)))
        if row.after and len(row.after) == len(names)
        else row
        for row in rows
    ]


def _known_columns(rows: Rows, seen: Seen) -> Rows:
    """The columns that the table's message before had, and no others."""
    known = {
        column
        for row in seen.before
        for image in (row.before, row.after)
        if image
        for column in image
    }
    tables = {row.fields.get("table") for row in (*rows, *seen.before)}
    if not known or len(tables) > 1:
        return rows
    return [
        replace(row, after={c: held for c, held in row.after.items() if c in known})
        if row.after
        else row
        for row in rows
    ]


def _of_the_cells(types: Mapping[str, str], row: OutputRow) -> Mapping[str, str]:
    held = row.after or row.before or ()
    return {name: kind for name, kind in types.items() if row.kind != _ROW or name in held}


def _columns_as_keys(row: OutputRow) -> OutputRow:
    image = row.after if row.after is not None else row.before
    columns = list(image) if image else list(row.fields.get("types") or ())
    return replace(row, fields={**row.fields, "keys": columns}) if columns else row


def _first_column_as_key(row: OutputRow) -> OutputRow:
    columns: Sequence[str] = list(row.fields.get("types") or ())
    return (
        row
        if row.fields.get("keys") or not columns
        else replace(row, fields={**row.fields, "keys": [*columns[:1]]})
    )


def _row_beside_the_refusal(rows: Rows, seen: Seen) -> Rows:
    if not rows or rows[0].kind != Kind.CORRUPT.value:
        return rows
    columns = (
        dict.fromkeys(column.name for column in seen.case.tables[0].columns)
        if seen.case.tables
        else {}
    )
    return [*rows, replace(rows[0], kind=_ROW, op=Op.INSERT.value, after=columns, error=None)]


def _repeats_lost(rows: Rows, seen: Seen) -> Rows:
    """Without the rows whose change is that of a row of the message before."""

    def content(row: OutputRow) -> str:
        return repr(
            (row.op, row.fields.get("database"), row.fields.get("table"), row.before, row.after)
        )

    known = {content(row) for row in seen.before}
    return [row for row in rows if row.kind != _ROW or content(row) not in known]


def _values_in_order(image: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(zip(sorted(image), image.values(), strict=True))


ALTERS: Final[Mapping[str, Alter]] = {
    "zero-date-as-epoch": on_images(_zero_date_as_epoch),
    "null-before-as-after": on_rows(
        of_update(
            "before",
            lambda old, new, _: {n: new.get(n) if v is None else v for n, v in old.items()},
        )
    ),
    "before-of-changed-columns": on_rows(
        of_update("before", lambda old, new, _row: changed(old, new))
    ),
    "before-of-any-row": _old_of_any_row,
    "missing-image-as-empty": on_rows(_missing_as_empty),
    "missing-before-as-nulls": on_rows(_missing_as_nulls),
    "null-row-as-no-image": on_rows(_null_row_as_no_image),
    "values-in-alphabetical-order": _images(_values_in_order),
    "columns-of-the-message-before": _columns_before,
    "columns-known-before": _known_columns,
    "first-column-alone": _images(lambda image: dict(list(image.items())[:1])),
    "types-of-the-cells": on_rows(of_field("types", _of_the_cells)),
    "types-with-one-more": on_rows(
        of_field("types", lambda types, _row: {**types, "one_more": "int"})
    ),
    "columns-as-keys": on_rows(_columns_as_keys),
    "first-column-as-key": on_rows(_first_column_as_key),
    "repeated-row-lost": _repeats_lost,
    "row-beside-the-refusal": _row_beside_the_refusal,
}
"""Faults in rows that come of one wrong reading."""
