"""Faults that come of one wrong reading of a format: of its units, its types, its old images."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import MAX_PREC, Context, Decimal
from itertools import chain
from typing import Any, Final

from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from conformance.selftest.operators.cells import (
    bytes_change,
    clock_change,
    date_change,
    micros_change,
    number_change,
    round_to_single,
    text_change,
    toward_zero,
)
from conformance.selftest.operators.operator import (
    Alter,
    CellChange,
    Image,
    MessageContext,
    Rows,
    changed_columns,
    field_change,
    on_images,
    on_rows,
    update_image_change,
)
from generators.model import Cell, Kind, Logical, Op, SourceType, ZeroDate

_DIGITS: Final = 100
"""Limit of digits up to which a DECIMAL is altered."""
_SECOND: Final = 1_000_000
"""The microseconds of a second."""
_EXACT: Final = Context(prec=MAX_PREC)
"""Arithmetic of decimals that loses no digit."""
_EPOCH: Final = date(1970, 1, 1)
"""The date that stands for 0 days."""
_ROW, _UPDATE = Kind.ROW.value, Op.UPDATE.value
"""The kind of a row change, and the op of an UPDATE, as rows have them."""


def _drop_decimal_point(type: SourceType, number: Any) -> Any:
    """A DECIMAL as a decoder reads it that forgets the scale: 150 for 1.50 in a decimal(5,2). What
    would have more than about _DIGITS digits before the point stays. The result is an int, or a
    Decimal if it still has a fraction.
    """
    unscaled = Decimal(number).scaleb(type.scale or 0, _EXACT)
    if unscaled.adjusted() > _DIGITS:
        return number
    return int(unscaled) if unscaled == unscaled.to_integral_value() else unscaled


def _digits_of_base64(type: SourceType, number: Any) -> Any:
    """A DECIMAL as a decoder reads it that takes the base64 of its bytes for a number where it
    consists of digits; any other stays. The bytes are those of the number without its decimal
    point, in two's complement, as few as hold it.
    """
    unscaled = int(_drop_decimal_point(type, number))
    size = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    encoded = base64.b64encode(unscaled.to_bytes(size, "big", signed=True)).decode()
    return int(encoded) if encoded.isdigit() else number


def _guess_unit(micros: int) -> int:
    """A moment, in microseconds since 1970, as a decoder reads it that guesses the unit of a number
    by its size: milliseconds of fewer than 12 digits are taken for seconds, so that the moment
    becomes a thousand times as far from 1970.
    """
    return micros * 1000 if abs(micros) // 1000 < 100_000_000_000 else micros


def _a_month_late(day: date) -> date:
    """A date as a decoder reads it that counts months from zero: a month later."""
    year = day.year + 1 if day.month == 12 else day.year
    return day.replace(year=year, month=day.month % 12 + 1, day=min(day.day, 28))


def _reverse_bytes(type: SourceType, number: Any) -> Any:
    """A BIT as a decoder reads it that takes the bytes in little-endian order."""
    size = ((type.length or 1) + 7) // 8
    # Some releases show the bits of a BIT(64) as a negative number.
    return int.from_bytes((int(number) % (1 << 8 * size)).to_bytes(size, "big"), "little")


def _digits_as_bits(_type: SourceType, number: Any) -> Any:
    """A BIT as a decoder reads it that takes the leading digits 0 and 1 of the number for bits: 5
    for 101, and 0 for a number such as 255 that begins with another digit.
    """
    digits = re.match("[01]*", str(number))
    return int(digits[0] or "0", 2) if digits else number


def _escape_label(type: SourceType, value: Any) -> Any:
    """The label of an ENUM as a decoder gives it that escapes commas and backslashes with a
    backslash; a text, or a number without a label, stays.
    """
    if isinstance(value, str) or not 0 < int(value) <= len(type.members):
        return value
    return Typed("string", type.members[int(value) - 1].replace("\\", "\\\\").replace(",", "\\,"))


def _widen_float_text(digits: str) -> str:
    """The text of a FLOAT as a decoder gives it that makes a double of it: 1.1 becomes
    1.100000023841858. A number that is the same as a double, or is beyond 32 bits, keeps its text.
    """
    try:
        number = float(digits)
    except ValueError:
        return digits
    single = round_to_single(number)
    return digits if single == number or math.isnan(single) else repr(single)


def _mantissa_alone(_type: SourceType, number: Any) -> Any:
    """A float as a decoder reads it that stops at the exponent: 1.5 for 1.5e+300."""
    if not isinstance(number, float) or "e" not in repr(number):
        return number
    return float(f"{number:e}".partition("e")[0])


def _keep_encoded_words(value: bytes) -> bytes:
    """The bytes as a decoder gives them that does not decode base64 if the encoded text looks like
    a number or a word in lower case: then the bytes of the text itself.
    """
    encoded = base64.b64encode(value)
    return encoded if re.fullmatch(rb"[0-9]+|[a-z]+", encoded) else value


CELLS: Final[Mapping[str, tuple[Logical, CellChange]]] = {
    "enum-as-zero": (Logical.ENUM, lambda _type, value: "0" if isinstance(value, str) else 0),
    "enum-label-escaped": (Logical.ENUM, _escape_label),
    "decimal-point-dropped": (Logical.DECIMAL, number_change(_drop_decimal_point)),
    "decimal-of-base64-digits": (Logical.DECIMAL, number_change(_digits_of_base64)),
    "date-days-as-milliseconds": (
        Logical.DATE,
        date_change(lambda d: _EPOCH + timedelta((d - _EPOCH).days // 86_400_000)),
    ),
    "date-a-month-late": (Logical.DATE, date_change(_a_month_late)),
    "datetime-a-thousandth": (Logical.DATETIME, micros_change(lambda m: m // 1000)),
    "datetime-unit-guessed": (Logical.DATETIME, micros_change(_guess_unit)),
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
    "bit-as-false": (Logical.BIT, lambda _type, value: False if isinstance(value, bool) else value),
    "bit-bytes-reversed": (Logical.BIT, number_change(_reverse_bytes)),
    "bit-digits-as-bits": (Logical.BIT, number_change(_digits_as_bits)),
    "set-members-counted": (Logical.SET, number_change(lambda _type, n: int(n).bit_count())),
    "real-widened": (Logical.FLOAT, text_change(_widen_float_text)),
    "real-mantissa-alone": (Logical.FLOAT, number_change(_mantissa_alone)),
    "double-mantissa-alone": (Logical.DOUBLE, number_change(_mantissa_alone)),
    "binary-empty-as-zero": (Logical.BINARY, bytes_change(lambda b: b or b"\0")),
    "binary-words-not-decoded": (Logical.BINARY, bytes_change(_keep_encoded_words)),
    "binary-with-0x": (Logical.BINARY, bytes_change(lambda b: b"0x" + b.hex().encode())),
    "json-hexadecimal": (Logical.JSON, text_change(lambda t: t.encode().hex())),
    "text-gbk-as-latin": (
        Logical.TEXT,
        text_change(lambda t: t.encode("gbk", "replace").decode("latin-1")),
    ),
}
"""Faults in the values of one type, by name: the type, and the change of its values."""


def _zero_date_as_epoch(image: Image, cells: Mapping[str, Cell], _context: MessageContext) -> Image:
    """The typed image of a decoder that reads each zero date as 1970-01-01 (at 00:00 where the
    column has a time).
    """
    zeros = {name: cell.type for name, cell in cells.items() if isinstance(cell.value, ZeroDate)}
    first = {
        name: Typed("date", _EPOCH) if kind.logical is Logical.DATE else Typed(kind.spark, 0)
        for name, kind in zeros.items()
    }
    return {**image, **first} if first else image


def _before_columns_of_all_rows(output_rows: Rows, _context: MessageContext) -> Rows:
    """The rows of a decoder that gives each before image the columns of all before images in the
    message, with NULL for columns of other rows.
    """
    befores = [output_row.before or {} for output_row in output_rows if output_row.op == _UPDATE]
    columns = tuple(dict.fromkeys(chain.from_iterable(befores)))

    def widen(output_row: OutputRow) -> OutputRow:
        """The UPDATE with the columns of all before images in its own before image; other rows
        stay.
        """
        before = output_row.before
        if output_row.op != _UPDATE or before is None:
            return output_row
        return replace(output_row, before={column: before.get(column) for column in columns})

    return list(map(widen, output_rows))


def _missing_as_empty(output_row: OutputRow) -> OutputRow:
    """The row of a decoder that gives an image without columns where a row change has none."""
    if output_row.kind != _ROW:
        return output_row
    return replace(output_row, before=output_row.before or {}, after=output_row.after or {})


def _missing_as_nulls(output_row: OutputRow) -> OutputRow:
    """The row of a decoder that gives an UPDATE without a before image one of nothing but NULL."""
    if output_row.op != _UPDATE or output_row.before is not None or not output_row.after:
        return output_row
    return replace(output_row, before=dict.fromkeys(output_row.after))


def _null_row_as_no_image(output_row: OutputRow) -> OutputRow:
    """The row of a decoder that gives no image in place of one with nothing but NULL."""
    if output_row.kind != _ROW:
        return output_row
    return replace(
        output_row,
        before=_unless_all_null(output_row.before),
        after=_unless_all_null(output_row.after),
    )


def _unless_all_null(image: Image | None) -> Image | None:
    """The image; None in place of one with nothing but NULL."""
    if image is None or all(value is None for value in image.values()):
        return None
    return image


def _on_each_image(change: Callable[[Image], Image]) -> Alter:
    """The operator (an imitated mistake of a decoder) that applies `change` to each image of each
    row.
    """
    return on_images(lambda image, _cells, _context: change(image))


def _columns_of_message_before(output_rows: Rows, context: MessageContext) -> Rows:
    """The rows of a decoder that keeps the column names of the message before, if that had as many
    columns.
    """
    columns = next(
        (tuple(row_before.after) for row_before in context.before if row_before.after), ()
    )

    def rename_columns(output_row: OutputRow) -> OutputRow:
        """The row with its values under the column names of the message before; a row with another
        number of columns stays.
        """
        if not output_row.after or len(output_row.after) != len(columns):
            return output_row
        return replace(output_row, after=dict(zip(columns, output_row.after.values(), strict=True)))

    return list(map(rename_columns, output_rows))


def _columns_known_before(output_rows: Rows, context: MessageContext) -> Rows:
    """The rows of a decoder that knows only the columns of the message before, if that is of the
    same table.
    """
    columns_before: set[str] = set()
    for row_before in context.before:
        columns_before |= {*(row_before.before or ()), *(row_before.after or ())}
    tables = {output_row.fields.get("table") for output_row in (*output_rows, *context.before)}
    if not columns_before or len(tables) > 1:
        return output_rows

    def drop_new_columns(output_row: OutputRow) -> OutputRow:
        """The row, whose after image has lost the columns that the message before did not have."""
        if not output_row.after:
            return output_row
        image = {
            column: value for column, value in output_row.after.items() if column in columns_before
        }
        return replace(output_row, after=image)

    return list(map(drop_new_columns, output_rows))


def _types_of_image_columns(types: Mapping[str, str], output_row: OutputRow) -> Mapping[str, str]:
    """The field `types` of a decoder that gives only the types of columns which the row's image
    has.
    """
    if output_row.kind != _ROW:
        return types
    image = output_row.after or output_row.before or ()
    return {column: type for column, type in types.items() if column in image}


def _columns_as_keys(output_row: OutputRow) -> OutputRow:
    """The row of a decoder that takes every column for a key column."""
    image = output_row.after if output_row.after is not None else output_row.before
    columns = list(image) if image else list(output_row.fields.get("types") or ())
    return (
        replace(output_row, fields={**output_row.fields, "keys": columns})
        if columns
        else output_row
    )


def _first_column_as_key(output_row: OutputRow) -> OutputRow:
    """The row of a decoder that takes the first column for the key, where the row has none."""
    columns: Sequence[str] = list(output_row.fields.get("types") or ())
    if output_row.fields.get("keys") or not columns:
        return output_row
    return replace(output_row, fields={**output_row.fields, "keys": [columns[0]]})


def _row_beside_the_refusal(output_rows: Rows, context: MessageContext) -> Rows:
    """The rows of a decoder that, for an unreadable message, returns an INSERT whose columns are
    all NULL, beside the CORRUPT row that it owes.
    """
    if not output_rows or output_rows[0].kind != Kind.CORRUPT.value:
        return output_rows
    columns = context.case.tables[0].columns if context.case.tables else ()
    image = dict.fromkeys(column.name for column in columns)
    insert = replace(output_rows[0], kind=_ROW, op=Op.INSERT.value, after=image, error=None)
    return [*output_rows, insert]


def _drop_repeated_rows(output_rows: Rows, context: MessageContext) -> Rows:
    """The rows of a decoder that drops rows whose op, table and images equal those of a row of the
    message before.
    """
    changes_before = set(map(_change_text, context.before))
    return [
        output_row
        for output_row in output_rows
        if output_row.kind != _ROW or _change_text(output_row) not in changes_before
    ]


def _change_text(output_row: OutputRow) -> str:
    """The op, table and images of a row as a text that tells -0.0 from 0.0."""
    database, table = output_row.fields.get("database"), output_row.fields.get("table")
    return repr((output_row.op, database, table, output_row.before, output_row.after))


def _values_in_alphabetical_order(image: Image) -> Image:
    """The values of an image under its column names in alphabetical order."""
    return dict(zip(sorted(image), image.values(), strict=True))


ALTERS: Final[Mapping[str, Alter]] = {
    "zero-date-as-epoch": on_images(_zero_date_as_epoch),
    "null-before-as-after": on_rows(
        update_image_change(
            "before",
            lambda before, after, _output_row: {
                column: after.get(column) if value is None else value
                for column, value in before.items()
            },
        )
    ),
    "before-of-changed-columns": on_rows(
        update_image_change(
            "before", lambda before, after, _output_row: changed_columns(before, after)
        )
    ),
    "before-of-any-row": _before_columns_of_all_rows,
    "missing-image-as-empty": on_rows(_missing_as_empty),
    "missing-before-as-nulls": on_rows(_missing_as_nulls),
    "null-row-as-no-image": on_rows(_null_row_as_no_image),
    "values-in-alphabetical-order": _on_each_image(_values_in_alphabetical_order),
    "columns-of-the-message-before": _columns_of_message_before,
    "columns-known-before": _columns_known_before,
    "first-column-alone": _on_each_image(lambda image: dict(list(image.items())[:1])),
    "types-of-the-cells": on_rows(field_change("types", _types_of_image_columns)),
    "types-with-one-more": on_rows(
        field_change("types", lambda types, _output_row: {**types, "one_more": "int"})
    ),
    "columns-as-keys": on_rows(_columns_as_keys),
    "first-column-as-key": on_rows(_first_column_as_key),
    "repeated-row-lost": _drop_repeated_rows,
    "row-beside-the-refusal": _row_beside_the_refusal,
}
"""Faults in rows that come of one wrong reading of the format, by name."""
