"""MySQL's text forms as typed Arrow columns: `column` types many texts, `cell` types a single one and decides.

`column` uses a kernel of Arrow where it takes the usual spelling alone (for numbers: the spelling that Arrow itself would write).
If it meets any other text it gives way to `cell`, which reads each distinct text. A text that is not of its type is a
misfit; SQL NULL and the zero dates, which no calendar type holds, are null and fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from generators.model import Logical, SourceType
from spark_checks.decoders.families.mysql import PLAIN_STRING_CODES

__all__ = ["MISFIT", "Cells", "arrow_type"]

_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_CLOCK: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?", re.ASCII)
_TIME: Final = re.compile(r"-?([0-7]?\d\d|8[0-2]\d|83[0-8]):[0-5]\d:[0-5]\d(\.\d{1,6})?", re.ASCII)
_JSON: Final = re.compile(r"\{.*\}|\[.*\]|\".*\"|-?\d[0-9.eE+-]*|true|false|null|", re.ASCII | re.DOTALL)
_ZONE: Final = re.compile(r"([+-])(\d\d):(\d\d)", re.ASCII)
_BOOLEANS: Final = {"1": True, "0": False, "true": True, "false": False}
_LOST: Final = "\ufffd"
"""What a writer puts for a byte that it could not decode; it stays visible in a binary, as UTF-8."""


class _Misfit(Exception):
    """The text is not of the column's type."""


MISFIT: Final = _Misfit

_PLAIN: Final = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def arrow_type(spark: str) -> pa.DataType:
    """The Arrow type of a Spark type's DDL text, as Spark's own conversion has it."""
    if spark.startswith("decimal"):
        precision, scale = spark[len("decimal(") : -1].split(",")
        return pa.decimal128(int(precision), int(scale))
    return _PLAIN[spark]


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a column. `zone` is the zone of TIMESTAMP texts: an IANA name or an offset."""

    kind: SourceType
    zone: str = "UTC"

    @property
    def type(self) -> pa.DataType:
        """The Arrow type of the values."""
        return arrow_type(self.kind.spark)

    def column(self, texts: pa.Array, codes: pa.Array | None = None) -> tuple[pa.Array, pa.Array | None]:
        """Values of the texts (null for a misfit), and which are misfits, None if none is. `codes` are the cells' sqlType."""
        if self.kind.logical is Logical.TEXT:
            return texts, None
        try:
            values = self._kernel(texts)
        except pa.ArrowInvalid:
            values = None
        if values is not None:
            return values, None
        return self._coded(texts, codes) if self.kind.logical is Logical.BINARY else self._distinct(texts)

    def cell(self, text: str, code: int | None = None) -> Any:
        """The value of a text. Raises MISFIT."""
        kind = self.kind
        match kind.logical:
            case Logical.TEXT:
                return text
            case Logical.TIME:
                return _matching(_TIME, text)
            case Logical.JSON:
                return _matching(_JSON, text)
            case Logical.BINARY:
                return _bytes(text, code)
            case Logical.DATE:
                found = _DATE.fullmatch(text)
                moment = _moment(found.groups() if found else None)
                return moment and moment.date()
            case Logical.DATETIME:
                found = _CLOCK.fullmatch(text)
                return _moment(found.groups() if found else None)
            case Logical.TIMESTAMP:
                found = _CLOCK.fullmatch(text)
                return _instant(_moment(found.groups() if found else None), _zone(self.zone))
            case Logical.BIT if kind.spark == "boolean":
                if text not in _BOOLEANS:
                    raise MISFIT
                return _BOOLEANS[text]
            case _:
                return self._number(text)

    def _number(self, text: str) -> Any:
        kind = self.kind
        if not _NUMBER.fullmatch(text):
            raise MISFIT
        if kind.logical in (Logical.FLOAT, Logical.DOUBLE):
            # Through Arrow's own parser: a double rounded to a float would be rounded twice.
            real = pa.scalar(text).cast(self.type).as_py()
            if math.isinf(real) or (kind.unsigned and real < 0):
                raise MISFIT
            return real
        value = Decimal(text)
        if value.is_signed() and value and kind.unsigned:
            raise MISFIT
        if kind.logical is Logical.DECIMAL:
            precision, scale = kind.precision or 0, kind.scale or 0
            if value and (_places(value) > scale or value.adjusted() >= precision - scale):
                raise MISFIT
            return text if kind.spark == "string" else value
        if _places(value) > 0 or not self._inside(int(value)):
            raise MISFIT
        return value if kind.spark.startswith("decimal") else int(value)

    def _inside(self, number: int) -> bool:
        low, high = self.kind.low or 0, self.kind.high or 0
        if self.kind.logical is Logical.YEAR:
            return number == 0 or 1901 <= number <= high
        return low <= number <= high

    def _kernel(self, texts: pa.Array) -> pa.Array | None:
        """Values of texts that all have the usual spelling; None, or ArrowInvalid, if any has not."""
        kind = self.kind
        match kind.logical:
            case Logical.TIME:
                return texts if _all(pc.match_substring_regex(texts, f"^(?:{_TIME.pattern})$")) else None
            case Logical.JSON:
                return None
            case Logical.BINARY:
                return texts.cast(pa.binary()) if _all(pc.string_is_ascii(texts)) else None
            case Logical.DATE:
                return self._calendar(texts, 10)
            case Logical.DATETIME | Logical.TIMESTAMP:
                return self._calendar(texts, 20 + kind.fsp if kind.fsp else 19)
            case Logical.FLOAT | Logical.DOUBLE:
                values = texts.cast(self.type)
                return values if _all(pc.is_finite(values)) and not (kind.unsigned and _any(pc.less(values, 0))) else None
            case Logical.DECIMAL if kind.spark != "string" and (kind.scale or 0) >= 0:
                # The scale of the text would tell more places than the type has: the cast raises.
                values = texts.cast(self.type)
                return None if kind.unsigned and _any(pc.less(values, pa.scalar(0).cast(self.type))) else values
            case Logical.INT | Logical.YEAR | Logical.ENUM | Logical.SET | Logical.BIT if pa.types.is_integer(self.type):
                return self._integers(texts)
            case _:
                return None

    def _integers(self, texts: pa.Array) -> pa.Array | None:
        values = texts.cast(self.type)
        if not _all(pc.equal(values.cast(pa.string()), texts)):
            return None
        ends = pc.min_max(values)
        low, high = ends["min"].as_py(), ends["max"].as_py()
        if low is None:
            return values
        whole = low >= (self.kind.low or 0) and high <= (self.kind.high or 0)
        return values if whole and (self.kind.logical is not Logical.YEAR or low >= 1901) else None

    def _calendar(self, texts: pa.Array, length: int) -> pa.Array | None:
        lengths = pc.min_max(pc.binary_length(texts))
        if lengths["min"].as_py() is None:
            return pa.nulls(len(texts), self.type)
        if lengths["min"].as_py() != length or lengths["max"].as_py() != length:
            return None
        if length > 10 and _any(pc.not_equal(pc.utf8_slice_codeunits(texts, 10, 11), " ")):
            return None
        values = texts.cast(pa.date32() if length == 10 else pa.timestamp("us"))
        # Year 0, which Arrow knows, is MySQL's zero.
        if _any(pc.less(values, pa.scalar(date.min).cast(values.type))):
            return None
        if self.kind.logical is not Logical.TIMESTAMP:
            return values
        if self.zone == "UTC" or _ZONE.fullmatch(self.zone):
            shift = _zone(self.zone).utcoffset(None) or timedelta()
            return pc.subtract(values, pa.scalar(shift, pa.duration("us"))).cast(self.type)
        return pc.assume_timezone(values, self.zone, ambiguous="earliest", nonexistent="raise").cast(self.type)

    def _distinct(self, texts: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        encoded = texts.dictionary_encode()
        values, wrong = self._read(encoded.dictionary.to_pylist(), self.cell)
        misfits = wrong.take(encoded.indices).fill_null(False) if wrong is not None else None
        return values.take(encoded.indices), misfits

    def _coded(self, texts: pa.Array, codes: pa.Array | None) -> tuple[pa.Array, pa.Array | None]:
        each = codes.to_pylist() if codes is not None else [None] * len(texts)
        pairs = list(zip(texts.to_pylist(), each, strict=True))
        return self._read(pairs, lambda pair: None if pair[0] is None else self.cell(*pair))

    def _read(self, items: list[Any], read: Callable[[Any], Any]) -> tuple[pa.Array, pa.Array | None]:
        values, wrong = [], []
        for item in items:
            try:
                values.append(None if item is None else read(item))
                wrong.append(False)
            except MISFIT:
                values.append(None)
                wrong.append(True)
        return pa.array(values, self.type), pa.array(wrong) if any(wrong) else None


def _all(mask: pa.Array) -> bool:
    return pc.all(mask).as_py() is not False


def _any(mask: pa.Array) -> bool:
    return pc.any(mask).as_py() is True


def _matching(pattern: re.Pattern[str], text: str) -> str:
    if not pattern.fullmatch(text):
        raise MISFIT
    return text


def _places(value: Decimal) -> int:
    """Digits behind the point that are not zeros at its end."""
    exponent = value.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, -exponent)


def _bytes(text: str, code: int | None) -> bytes:
    if text.isascii() or code in PLAIN_STRING_CODES:
        return text.encode("utf-8", "surrogatepass")
    try:
        return b"\xef\xbf\xbd".join(part.encode("latin-1") for part in text.split(_LOST))
    except UnicodeEncodeError:
        raise MISFIT from None


def _moment(parts: tuple[str | None, ...] | None) -> datetime | None:
    """The moment of year, month, day and clock, None for a zero date. Raises MISFIT."""
    if parts is None:
        raise MISFIT
    year, month, day = (int(part or 0) for part in parts[:3])
    hour, minute, second = (int(part or 0) for part in parts[3:6]) if len(parts) > 3 else (0, 0, 0)
    fraction = int((parts[6] or "").ljust(6, "0")) if len(parts) > 6 else 0
    zero = not (year and month and day)
    try:
        moment = datetime(year or 1, month or 1, day or 1, hour, minute, second, fraction)
    except ValueError:
        # A zero date is a zero date whatever else is wrong with it.
        if zero:
            return None
        raise MISFIT from None
    return None if zero else moment


def _instant(moment: datetime | None, zone: tzinfo) -> datetime | None:
    """The instant of a moment in a zone: the earlier of two, and a moment in a gap counts from the offset before it."""
    if moment is None:
        return None
    try:
        return moment.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        raise MISFIT from None


def _zone(name: str) -> tzinfo:
    found = _ZONE.fullmatch(name)
    if name == "UTC" or not found:
        return UTC if name == "UTC" else ZoneInfo(name)
    shift = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return timezone(shift if found[1] == "+" else -shift)
