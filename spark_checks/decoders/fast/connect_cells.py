"""Connect JSON cells as typed Arrow columns, where they have their usual form.

A cell has a form (`families.connect.values`), which tells how it stands in JSON and how it is read. `cells` knows the forms that
kernels read, or that cost little for each distinct text. Everything else is left to the reference decoder: whole columns of other
forms, for which `cells` gives None, and single cells out of the usual, which `read` tells.
"""

from __future__ import annotations

import array
import binascii
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from generators.model import Logical, SourceType
from spark_checks.decoders.families.connect.values import BY_NAME, BY_TYPE, escaped
from spark_checks.decoders.fast.cells import arrow_type

__all__ = ["Cells", "cells", "form_of"]

Read: TypeAlias = Callable[[pa.Array], tuple[pa.Array, pa.Array | None]]
"""Values of cells, and which cells the reference decoder has to read (never null; None if none is). May raise ArrowInvalid."""

_WIRE: Final = {
    "text": pa.string(),
    "decimal": pa.string(),
    "bits": pa.string(),
    "base64": pa.string(),
    "number": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    **dict.fromkeys(BY_NAME.values(), pa.int64()),
}
_DAY: Final = 86_400_000_000
_FIRST_DAY: Final = -719_162
_LAST_DAY: Final = 2_932_896
_SECOND: Final = 1_000_000
_BASE64: Final = r"^[A-Za-z0-9+/]*={0,2}$"
_SHORT: Final = 12
"""Characters of base64 that hold at most nine bytes: numbers of eight bytes are read all at once."""
_DOCUMENT: Final = r'(?s)^(\{.*\}|\[.*\]|".*")$'
_STAMP: Final = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$"
_HALF: Final = 1 << 28
"""The last 29 bits of a double that lies in the middle between two floats."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a column: `wire` is how they stand in JSON, `type` is what `read` makes of them."""

    wire: pa.DataType
    type: pa.DataType
    read: Read


def form_of(kind: str, name: str | None) -> str:
    """The form that a field's schema tells; "" of a container, which `text` can be, too."""
    last = (name or "").rpartition(".")[2]
    if kind in ("array", "map", "struct"):
        return ""
    if kind == "bytes":
        return {"Decimal": "decimal", "Bits": "bits"}.get(last, "base64")
    return BY_TYPE.get(kind) or BY_NAME.get(last, "number")


def cells(kind: SourceType, form: str, scale: int, unsent: tuple[str, ...] = ()) -> Cells | None:
    """How a column's cells of a form are read. `scale` is that of `decimal`, `unsent` are texts in place of what was not sent."""
    read = _reader(kind, form, scale)
    if read is None:
        return None
    if unsent and kind.source == "postgresql" and kind.logical in (Logical.TEXT, Logical.BINARY, Logical.JSON):
        read = partial(_sent, read, unsent)
    return Cells(_WIRE[form], arrow_type(kind.spark), read)


def _reader(kind: SourceType, form: str, scale: int) -> Read | None:
    target = arrow_type(kind.spark)
    match kind.logical, form:
        case Logical.TEXT, "text":
            return lambda texts: (texts, None)
        case Logical.JSON, "text":
            return lambda texts: _unless(texts, pc.invert(pc.match_substring_regex(texts, _DOCUMENT)))
        case Logical.INT | Logical.YEAR, "number":
            return partial(_whole, kind)
        case Logical.INT | Logical.BIT, "boolean":
            return lambda truths: (truths.cast(pa.int8()).cast(target) if target != pa.bool_() else truths, None)
        case Logical.FLOAT | Logical.DOUBLE, "double":
            return partial(_real, kind)
        case Logical.DECIMAL | Logical.INT, "decimal" if scale == (kind.scale or 0) and pa.types.is_decimal(target):
            return partial(_decimal, kind)
        case Logical.BIT, "bits":
            return partial(_distinct, partial(_bits, kind), target)
        case Logical.BINARY, "base64":
            return lambda texts: _each(_bytes, target, texts.to_pylist())
        case Logical.DATE, "days":
            return _date
        case Logical.DATETIME | Logical.TIMESTAMP, "ms" | "us" | "ns":
            return partial(_moment, form, target)
        case Logical.TIMESTAMP, "text":
            return lambda texts: _instant(target, texts)
        case Logical.TIME, "ms" | "us" | "ns":
            return partial(_time, form)
        case Logical.ENUM, "text":
            return partial(_label, kind, target)
        case Logical.SET, "text":
            return partial(_distinct, partial(_labels, kind), target)
    return None


def _unless(values: pa.Array, unusual: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    """The values, null where unusual; a null in `unusual` is no."""
    unusual = unusual.fill_null(False)
    if not pc.any(unusual).as_py():
        return values, None
    return pc.if_else(unusual, pa.scalar(None, values.type), values), unusual


def _outside(values: pa.Array, low: int, high: int) -> pa.Array:
    return pc.or_(pc.less(values, low), pc.greater(values, high))


def _sent(read: Read, unsent: tuple[str, ...], texts: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    return read(pc.if_else(pc.is_in(texts, pa.array(unsent)), pa.scalar(None, texts.type), texts))


def _whole(kind: SourceType, values: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    low, high, target = kind.low or 0, kind.high or 0, arrow_type(kind.spark)
    if pa.types.is_decimal(target):
        # `long` mode prints 64 bits as signed.
        return values.view(pa.uint64()).cast(target), None
    unusual = _outside(values, low, high)
    if kind.logical is Logical.YEAR:
        unusual = pc.and_(pc.not_equal(values, 0), _outside(values, 1900, high))
    kept, unusual = _unless(values, unusual)
    return kept.cast(target), unusual


def _real(kind: SourceType, values: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    unusual = pc.invert(pc.is_finite(values))
    if kind.unsigned:
        unusual = pc.or_(unusual, pc.less(values, 0.0))
    if kind.spark == "float":
        # The digits, rounded to a double and then to a float, may give another float where the double lies in the middle.
        middle = pc.equal(pc.bit_wise_and(values.view(pa.int64()), 2 * _HALF - 1), _HALF)
        size = pc.abs(values)
        edge = pc.or_(pc.greater(size, 3.4e38), pc.and_(pc.greater(size, 0.0), pc.less(size, 1.2e-38)))
        unusual = pc.or_(unusual, pc.or_(middle, edge))
    kept, told = _unless(values, unusual)
    return kept.cast(arrow_type(kind.spark)), told


def _decimal(kind: SourceType, texts: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    """Numbers in base64, all at once where each has at most eight bytes."""
    target = arrow_type(kind.spark)
    lengths = pc.binary_length(texts)
    if (pc.max(lengths).as_py() or 0) > _SHORT:
        return _distinct(partial(_number, kind), target, texts)
    wrong = pc.or_(pc.invert(pc.match_substring_regex(texts, _BASE64)), pc.not_equal(pc.bit_wise_and(lengths, 3), 0))
    wrong = pc.or_(wrong, pc.equal(lengths, 0)).fill_null(True)
    plain = pc.utf8_rtrim(texts, "=")
    count = pc.divide(pc.multiply(pc.binary_length(plain), 3), 4)
    # Eight bytes of the nine; what pads them is zero.
    padded = pc.utf8_rpad(pc.if_else(wrong, "", plain), _SHORT, "A")
    joined = binascii.a2b_base64(padded.cast(pa.binary()).buffers()[2])
    nine = pa.FixedSizeBinaryArray.from_buffers(pa.binary(9), len(texts), [None, pa.py_buffer(joined)])
    eight = array.array("q", b"".join(pc.binary_slice(nine, 0, 8).to_pylist()))
    if sys.byteorder == "little":
        eight.byteswap()
    high = pa.Array.from_buffers(pa.int64(), len(texts), [None, pa.py_buffer(eight)])
    shift = pc.multiply(pc.subtract(8, pc.min_element_wise(count, 8)), 8).cast(pa.int64()).fill_null(0)
    values = pc.shift_right(high, shift)
    wrong = pc.or_(wrong, pc.greater(count, 8).fill_null(False))
    # Bits behind the last byte.
    wrong = pc.or_(wrong, pc.not_equal(pc.shift_left(values, shift), high))
    if target.precision <= 18:
        wrong = pc.or_(wrong, _outside(values, 1 - 10**target.precision, 10**target.precision - 1))
    if kind.unsigned:
        wrong = pc.or_(wrong, pc.less(values, 0))
    values = pc.if_else(pc.or_(wrong, texts.is_null()), pa.scalar(None, pa.int64()), values)
    told = pc.and_(wrong, texts.is_valid())
    return values.cast(pa.decimal128(19, 0)).view(target), told if pc.any(told).as_py() else None


def _number(kind: SourceType, text: str) -> Decimal | None:
    value = _bytes(text)
    number = int.from_bytes(value or b"", "big", signed=True)
    target = arrow_type(kind.spark)
    fits = abs(number) < 10**target.precision and not (kind.unsigned and number < 0)
    if not value or not fits or (kind.logical is Logical.INT and number > (kind.high or 0)):
        return None
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -target.scale))


def _bits(kind: SourceType, text: str) -> int | bool | None:
    """Little-endian."""
    value = _bytes(text)
    if value is None or len(value) > 8:
        return None
    number = int.from_bytes(value, "little")
    if kind.spark == "boolean":
        return bool(number) if number < 2 else None
    return number if number <= (kind.high or 0) else None


def _bytes(text: str) -> bytes | None:
    """Of a text in standard base64 with its padding and no bits too many."""
    try:
        value = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        return None
    return value if binascii.b2a_base64(value, newline=False) == text.encode() else None


def _date(days: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    kept, unusual = _unless(days, _outside(days, _FIRST_DAY, _LAST_DAY))
    return kept.cast(pa.int32()).cast(pa.date32()), unusual


def _micros(form: str, values: pa.Array, low: int, high: int) -> tuple[pa.Array, pa.Array]:
    """Microseconds of units, and which are outside or between two of them."""
    if form == "ms":
        return pc.multiply(values, 1000), _outside(values, low // 1000, high // 1000)
    if form == "us":
        return values, _outside(values, low, high)
    micros = pc.divide(values, 1000)
    between = pc.not_equal(pc.multiply(micros, 1000), values)
    return micros, pc.or_(between, _outside(micros, low, high))


def _moment(form: str, target: pa.DataType, values: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    micros, unusual = _micros(form, values, _FIRST_DAY * _DAY, (_LAST_DAY + 1) * _DAY - 1)
    kept, told = _unless(micros, unusual)
    return kept.cast(target), told


def _instant(target: pa.DataType, texts: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    """Texts with an offset."""
    unusual = pc.or_(pc.invert(pc.match_substring_regex(texts, _STAMP)), pc.less(texts, "0002"))
    kept, told = _unless(texts, pc.or_(unusual, pc.greater(texts, "9999")))
    return kept.cast(target), told


def _time(form: str, values: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    """`HH:MM:SS[.ffffff]` of times of a day."""
    micros, unusual = _micros(form, values, 0, _DAY - 1)
    kept, told = _unless(micros, unusual)
    texts = kept.cast(pa.time64("us")).cast(pa.string())
    whole = pc.equal(pc.multiply(pc.divide(kept, _SECOND), _SECOND), kept)
    return pc.if_else(whole, pc.utf8_slice_codeunits(texts, 0, 8), texts), told


def _label(kind: SourceType, target: pa.DataType, texts: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    """Indexes of labels, escaped or plain; 0 is the empty text of invalid input."""
    places: dict[str, int] = {}
    for labels in (escaped(kind.members), kind.members):
        for number, label in enumerate(labels, start=1):
            places.setdefault(label, number)
    places.setdefault("", 0)
    at = pc.index_in(texts, pa.array(list(places), pa.string()))
    _, unusual = _unless(at, pc.and_(at.is_null(), texts.is_valid()))
    return pa.array(places.values(), target).take(at), unusual


def _labels(kind: SourceType, text: str) -> int | None:
    """The bit mask of a SET's labels."""
    places = {label: number for labels in (kind.members, escaped(kind.members)) for number, label in enumerate(labels)}
    numbers = [places.get(label) for label in text.split(",")] if text else []
    known = {number for number in numbers if number is not None}
    return None if None in numbers else sum(1 << number for number in known)


def _distinct(read: Callable[[str], Any], target: pa.DataType, texts: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    encoded = texts.dictionary_encode()
    values, unusual = _each(read, target, encoded.dictionary.to_pylist())
    told = unusual.take(encoded.indices).fill_null(False) if unusual is not None else None
    return values.take(encoded.indices), told


def _each(read: Callable[[str], Any], target: pa.DataType, texts: Iterable[str | None]) -> tuple[pa.Array, pa.Array | None]:
    """Values of texts; a text of which `read` makes None is unusual."""
    values, unusual = [], []
    for text in texts:
        value = None if text is None else read(text)
        values.append(value)
        unusual.append(text is not None and value is None)
    return pa.array(values, target), pa.array(unusual) if any(unusual) else None
