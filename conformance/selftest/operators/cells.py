"""Faults in the values of cells."""

from __future__ import annotations

import base64
import datetime as dt
import html
import json
import re
import struct
import unicodedata
import zlib
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, Final

from conformance.judging.compare import Typed
from conformance.rules.tables import pattern
from conformance.selftest.operators import general
from conformance.selftest.operators.operator import CellChange
from generators.model import Logical, SourceType

_INT, _DECIMAL, _FLOAT, _DOUBLE, _BIT = (
    Logical.INT,
    Logical.DECIMAL,
    Logical.FLOAT,
    Logical.DOUBLE,
    Logical.BIT,
)
_TEXT, _BINARY, _JSON, _ENUM, _SET = (
    Logical.TEXT,
    Logical.BINARY,
    Logical.JSON,
    Logical.ENUM,
    Logical.SET,
)
_DATE, _DATETIME, _TIMESTAMP, _TIME, _YEAR = (
    Logical.DATE,
    Logical.DATETIME,
    Logical.TIMESTAMP,
    Logical.TIME,
    Logical.YEAR,
)

_LONGEST: Final = 4_000
"""Digits of a number: Python refuses to convert many more."""
_SECOND: Final = 1_000_000
_HOUR: Final = 3_600 * _SECOND
_DAY: Final = 24 * _HOUR


def _of_kind(kind: type, change: Callable[[Any], Any]) -> CellChange:
    """A change of what is of this very type; nothing else is changed."""
    return lambda _type, held: change(held) if type(held) is kind else held


text_change: Final = partial(_of_kind, str)
"""A change of texts, which level two has for the types that Spark keeps as strings."""
micros_change: Final = partial(_of_kind, int)
"""A change of a typed time, in microseconds."""
bytes_change: Final = partial(_of_kind, bytes)
"""A change of a typed binary."""


def _if(whole: str, change: Callable[[str], str | None]) -> CellChange:
    """A change of the texts that match a pattern as a whole."""
    regex = pattern(whole, flags=re.DOTALL)
    return text_change(lambda text: change(text) if regex.fullmatch(text) else text)


def number_change(change: Callable[[SourceType, Any], Any]) -> CellChange:
    """A change of numbers: of typed values, and of texts that are numbers."""

    def apply(type: SourceType, held: Any) -> Any:
        if not isinstance(held, str):
            fits = isinstance(held, int | Decimal | float) and not isinstance(held, bool)
            return change(type, held) if fits and Decimal(held).is_finite() else held
        if len(held) > _LONGEST:
            return held
        try:
            number = int(held) if re.fullmatch(r"-?\d+", held) else Decimal(held)
        except InvalidOperation:
            return held
        if not Decimal(number).is_finite() or Decimal(number).adjusted() > _LONGEST:
            return held
        other = change(type, number)
        return held if other == number else None if other is None else str(other)

    return apply


def _typed(change: Callable[[Any], Any], *kinds: type) -> CellChange:
    """A change of typed values alone."""
    return lambda _kind, held: (
        change(held) if isinstance(held, kinds) and not isinstance(held, str) else held
    )


def _wrapped(bits: int) -> Callable[[SourceType, Any], Any]:
    half = 1 << bits - 1
    return lambda _kind, number: (
        (int(number) + half) % (2 * half) - half if number == int(number) else number
    )


_WIDTHS: Final = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}


def _as_signed(type: SourceType, number: Any) -> Any:
    return (
        _wrapped(_WIDTHS[type.name])(type, number)
        if type.unsigned and type.name in _WIDTHS
        else number
    )


def _as_unsigned(type: SourceType, number: Any) -> Any:
    return number % (1 << _WIDTHS[type.name]) if type.name in _WIDTHS else number


def single(number: float) -> float:
    """The nearest float of 32 bits; a number beyond them stays."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return number


def _digits(count: int) -> Callable[[SourceType, Any], Any]:
    def cut(_kind: SourceType, number: Any) -> Any:
        other = f"{number:.{count}g}"
        return (
            type(number)(other)
            if isinstance(number, float)
            else Decimal(other)
            if float(other) != number
            else number
        )

    return cut


def _scaled(places: int) -> Callable[[SourceType, Any], Any]:
    """Digits behind the point that are cut off."""

    def cut(_kind: SourceType, number: Any) -> Any:
        if not isinstance(number, Decimal) or -int(number.as_tuple().exponent) <= places:
            return number
        sign, digits, exponent = number.as_tuple()
        keep = len(digits) + int(exponent) + places
        return Decimal((sign, digits[: max(keep, 0)] or (0,), -places))

    return cut


_MOMENT: Final = r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(\.\d+)?"


def _wall(change: Callable[[dt.datetime], dt.datetime]) -> CellChange:
    """A change of a text that is a date and time, or of the typed value."""

    def apply(_kind: SourceType, held: Any) -> Any:
        try:
            if isinstance(held, str):
                if not re.fullmatch(_MOMENT, held):
                    return held
                other = change(dt.datetime.fromisoformat(held))
                digits = len(held.partition(".")[2])
                text = other.strftime("%H:%M:%S.%f")[: 8 + (digits and digits + 1)]
                return f"{other.year:04d}-{other.month:02d}-{other.day:02d}{held[10]}{text}"
            if type(held) is int:
                epoch = dt.datetime(1970, 1, 1)
                return (change(epoch + dt.timedelta(microseconds=held)) - epoch) // dt.timedelta(
                    microseconds=1
                )
        except (OverflowError, ValueError):
            pass
        return held

    return apply


def _spring(moment: dt.datetime) -> dt.datetime:
    return (
        moment + dt.timedelta(hours=1)
        if (moment.month, moment.day, moment.hour) == (3, 10, 2)
        else moment
    )


def _summer(moment: dt.datetime) -> dt.datetime:
    return moment + dt.timedelta(hours=1) if 4 <= moment.month <= 10 else moment


def _autumn(moment: dt.datetime) -> dt.datetime:
    return moment + dt.timedelta(hours=1) if (moment.month, moment.day) == (11, 3) else moment


def date_change(change: Callable[[dt.date], dt.date | None]) -> CellChange:
    """A change of a date, in the text's own form."""

    def apply(_kind: SourceType, held: Any) -> Any:
        try:
            if isinstance(held, str):
                if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", held):
                    return held
                other = change(dt.date.fromisoformat(held))
                return (
                    None if other is None else f"{other.year:04d}-{other.month:02d}-{other.day:02d}"
                )
            return change(held) if type(held) is dt.date else held
        except (OverflowError, ValueError):
            return held

    return apply


def clock_change(change: Callable[[int], int | None]) -> CellChange:
    """A change of a TIME as microseconds, in the text's own form."""

    def apply(_kind: SourceType, held: Any) -> Any:
        if not isinstance(held, str):
            return change(held) if type(held) is int else held
        match = re.fullmatch(r"(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?", held)
        if not match:
            return held
        sign, hours, minutes, seconds, fraction = match.groups()
        micros = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * _SECOND + int(
            (fraction or "").ljust(6, "0")[:6]
        )
        other = change(-micros if sign else micros)
        if other is None or other == (-micros if sign else micros):
            return None if other is None else held
        rest, part = divmod(abs(other), _SECOND)
        text = f"{'-' if other < 0 else ''}{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
        return text + (f".{part:06d}"[: 1 + len(fraction)] if fraction else "")

    return apply


def toward_zero(micros: int, unit: int) -> int:
    """A time in whole units, as if it had no sign."""
    return (1 if micros >= 0 else -1) * (abs(micros) // unit * unit)


def _document(change: Callable[[Any], Any]) -> CellChange:
    """A change of a JSON document, by its text at both levels; None for no document at all."""

    def apply(_kind: SourceType, held: Any) -> Any:
        if not isinstance(held, str):
            return held
        try:
            document = json.loads(held, parse_float=Decimal)
        except ValueError:
            return held
        other = change(document)
        return (
            held
            if other == document and repr(other) == repr(document)
            else json.dumps(other, default=float, ensure_ascii=False)
        )

    return apply


def _deep(change: Callable[[Any], Any]) -> CellChange:
    def walk(value: Any) -> Any:
        match value:
            case dict():
                return change({key: walk(member) for key, member in value.items()})
            case list():
                return change([walk(item) for item in value])
        return change(value)

    return _document(walk)


def _lossy_json(value: Any) -> Any:
    return int(float(value)) if isinstance(value, int) and not isinstance(value, bool) else value


def _unescaped(text: str) -> str:
    plain = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "/": "/"}
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r'\\([ntr\\"/])', lambda match: plain[match[1]], text)


def _mojibake(text: str) -> str:
    return text.encode("utf-8", "replace").decode("latin-1")


_ON_TEXT: Final[Mapping[str, CellChange]] = {
    "unescaped-twice": text_change(_unescaped),
    "composed": text_change(lambda t: unicodedata.normalize("NFC", t)),
    "compatible": text_change(lambda t: unicodedata.normalize("NFKC", t)),
    "mojibake": text_change(_mojibake),
    "html-escaped": text_change(lambda t: html.escape(t, quote=False)),
    "html-as-escapes": text_change(
        lambda t: t.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    ),
    "boolean-words-as-digits": _if("true|false", lambda t: str(int(t == "true"))),
}

_ON_INT: Final[Mapping[str, CellChange]] = {
    "unsigned-as-signed": number_change(_as_signed),
    "signed-as-unsigned": number_change(_as_unsigned),
    "through-a-float": number_change(lambda _k, n: int(single(float(n)))),
}
_ON_DECIMAL: Final[Mapping[str, CellChange]] = {
    "through-a-double": number_change(lambda _k, n: n if isinstance(n, int) else Decimal(repr(float(n))).quantize(n)
                                if len(n.as_tuple().digits) < 28 else Decimal(repr(float(n)))),
    "below-one-as-zero": number_change(lambda _k, n: n * 0 if abs(n) < 1 else n),
}  # fmt: skip
_ON_REAL: Final[Mapping[str, CellChange]] = {
    "negative-zero-as-zero": lambda _k, held: (
        held.removeprefix("-") if isinstance(held, str) and re.fullmatch(r"-0(\.0*)?", held)
        else 0.0 if isinstance(held, float) and held == 0 else held
    ),
    "subnormals-as-zero": number_change(lambda _k, n: n * 0 if 0 < abs(n) < 1e-37 else n),
    "large-as-null": number_change(lambda _k, n: None if abs(n) > 1e38 else n),
    "integral-part": number_change(lambda _k, n: type(n)(int(n)) if abs(n) < 1e15 else n),
    "infinite-as-null": lambda _k, held: None if str(held).strip("-") in ("inf", "Infinity") else held,
    "not-a-number-as-null": lambda _k, held: None if str(held) in ("nan", "NaN") else held,
}  # fmt: skip
_ON_DOUBLE: Final[Mapping[str, CellChange]] = {
    "through-a-float": number_change(lambda _k, n: type(n)(single(float(n))))
}
_ON_BIT: Final[Mapping[str, CellChange]] = {
    "as-a-truth": number_change(lambda _k, n: int(bool(n))),
    "bits-reversed": number_change(lambda k, n: int(f"{abs(n):0{k.length or 1}b}"[::-1], 2)),
    "one-as-true": lambda _k, held: (
        {"1": "true", "0": "false"}.get(held, held) if isinstance(held, str) else held
    ),
}
_ON_YEAR: Final[Mapping[str, CellChange]] = {
    "two-digits": number_change(lambda _k, n: n % 100),
    "zero-as-2000": number_change(lambda _k, n: n or 2000),
    "as-a-date": lambda _k, held: (
        f"{held}-01-01"
        if isinstance(held, str)
        else Typed("date", dt.date(max(int(held), 1), 1, 1))
    ),
    "offset-from-1900": number_change(lambda _k, n: n - 1900 if n else n),
}
_ON_DATE: Final[Mapping[str, CellChange]] = {
    "a-day-early": date_change(lambda d: d - dt.timedelta(days=1)),
    "a-day-late": date_change(lambda d: d + dt.timedelta(days=1)),
    "julian": date_change(lambda d: d + dt.timedelta(days=10) if d < dt.date(1582, 10, 15) else d),
    "before-1970-as-1970": date_change(lambda d: max(d, dt.date(1970, 1, 1))),
    "last-year-as-null": date_change(lambda d: None if d.year == 9999 else d),
    "leap-day-as-march": date_change(
        lambda d: dt.date(d.year, 3, 1) if (d.month, d.day) == (2, 29) else d
    ),
    "month-and-day-swapped": date_change(
        lambda d: d.replace(month=d.day, day=d.month) if d.day <= 12 else d
    ),
}
_ON_MOMENT: Final[Mapping[str, CellChange]] = {
    "an-hour-late-in-summer": _wall(_summer),
    "an-hour-late-in-the-spring-gap": _wall(_spring),
    "an-hour-late-on-the-autumn-day": _wall(_autumn),
    "fraction-cut": _wall(lambda m: m.replace(microsecond=0)),
    "milliseconds": _wall(lambda m: m.replace(microsecond=m.microsecond // 1000 * 1000)),
    "milliseconds-rounded": _wall(
        lambda m: m.replace(microsecond=0) + dt.timedelta(milliseconds=round(m.microsecond / 1000))
    ),
    "fraction-as-an-integer": _wall(
        lambda m: m.replace(microsecond=int(str(m.microsecond).rstrip("0") or "0"))
    ),
    "time-of-day-lost": _wall(lambda m: m.replace(hour=0, minute=0, second=0, microsecond=0)),
    "before-1970-as-1970": _wall(lambda m: max(m, dt.datetime(1970, 1, 1))),
    "32-bit-seconds": micros_change(
        lambda m: (
            (m // _SECOND + (1 << 31)) % (1 << 32) * _SECOND - (1 << 31) * _SECOND + m % _SECOND
        )
    ),
}
_ON_TIME: Final[Mapping[str, CellChange]] = {
    "sign-lost": clock_change(abs),
    "small-sign-lost": clock_change(lambda m: -m if -_HOUR < m < 0 else m),
    "within-a-day": clock_change(lambda m: m % _DAY),
    "over-a-day-as-null": clock_change(lambda m: None if abs(m) >= _DAY else m),
    "negative-as-null": clock_change(lambda m: None if m < 0 else m),
    "at-most-a-day": clock_change(lambda m: max(-_DAY + _SECOND, min(m, _DAY - _SECOND))),
    "two-digit-hours": clock_change(lambda m: m - toward_zero(m, 100 * _HOUR)),
    "fraction-cut": clock_change(lambda m: toward_zero(m, _SECOND)),
    "milliseconds": clock_change(lambda m: toward_zero(m, 1000)),
    "eight-hours-late": clock_change(lambda m: m + 8 * _HOUR),
    "midnight-as-null": clock_change(lambda m: m or None),
}
_ON_ENUM: Final[Mapping[str, CellChange]] = {
    "from-zero": number_change(lambda _k, n: n - 1),
    "label-for-index": lambda k, held: (
        k.members[int(held) - 1]
        if isinstance(held, str) and held.isdigit() and 0 < int(held) <= len(k.members)
        else held
    ),
    "index-for-label": lambda k, held: (
        str(k.members.index(held) + 1) if isinstance(held, str) and held in k.members else held
    ),
    "first-member": lambda k, held: (
        k.members[0] if isinstance(held, str) and k.members and held in k.members else held
    ),
}
_ON_SET: Final[Mapping[str, CellChange]] = {
    "first-member-only": lambda k, held: (
        held.partition(",")[0] if isinstance(held, str) and not held.isdigit()
        else str(int(held) & -int(held)) if isinstance(held, str) else held & -held if type(held) is int else held
    ),
    "members-reversed": text_change(lambda t: ",".join(reversed(t.split(",")))),
    "index-for-mask": number_change(lambda _k, n: n.bit_length()),
}  # fmt: skip
_ON_BINARY: Final[Mapping[str, CellChange]] = {
    "as-utf-8": bytes_change(lambda b: b.decode("utf-8", "replace").encode()),
    "latin-as-utf-8": bytes_change(lambda b: b.decode("latin-1").encode()),
    "trailing-zeros-cut": bytes_change(lambda b: b.rstrip(b"\0")),
    "cut-at-zero": bytes_change(lambda b: b.partition(b"\0")[0]),
    "seven-bits": bytes_change(lambda b: bytes(x & 127 for x in b)),
    "question-marks": bytes_change(lambda b: bytes(x if x < 128 else 63 for x in b)),
    "hexadecimal": bytes_change(lambda b: b.hex().encode()),
    "base64": bytes_change(base64.b64encode),
    "base64-undone": bytes_change(
        lambda b: base64.b64decode(b) if re.fullmatch(rb"([A-Za-z0-9+/]{4})+", b) else b
    ),
    "backslash-undone": bytes_change(
        lambda b: b.decode("latin-1").replace("\\x41", "A").encode("latin-1")
    ),
    "cut-at-16": bytes_change(lambda b: b[:16]),
    "cut-at-200": bytes_change(lambda b: b[:200]),
    "trimmed": bytes_change(bytes.strip),
    "reversed": bytes_change(lambda b: b[::-1]),
    "empty-as-null": lambda _k, held: None if held in ("", b"") else held,
}
_ON_JSON: Final[Mapping[str, CellChange]] = {
    "integers-through-a-double": _deep(_lossy_json),
    "keys-lower-case": _deep(lambda v: {k.lower(): member for k, member in v.items()} if isinstance(v, dict) else v),
    "keys-upper-case": _deep(lambda v: {k.upper(): member for k, member in v.items()} if isinstance(v, dict) else v),
    "nulls-dropped": _deep(
        lambda v: {k: member for k, member in v.items() if member is not None} if isinstance(v, dict)
        else [item for item in v if item is not None] if isinstance(v, list) else v
    ),
    "booleans-as-texts": _deep(lambda v: str(v).lower() if isinstance(v, bool) else v),
    "booleans-as-numbers": _deep(lambda v: int(v) if isinstance(v, bool) else v),
    "numbers-as-texts": _deep(lambda v: str(v) if isinstance(v, int | Decimal) and not isinstance(v, bool) else v),
    "nested-as-text": _document(
        lambda v: {k: json.dumps(i, default=float) if isinstance(i, dict | list) else i for k, i in v.items()}
        if isinstance(v, dict) else v
    ),
    "texts-ascii-only": _deep(lambda v: v.encode("ascii", "replace").decode() if isinstance(v, str) else v),
    "texts-html-escaped": _deep(lambda v: html.escape(v, quote=False) if isinstance(v, str) else v),
    "texts-trimmed": _deep(lambda v: v.strip() if isinstance(v, str) else v),
    "empty-containers-as-null": _deep(lambda v: None if v in ({}, []) and v is not False else v),
    "first-element": _document(lambda v: v[0] if isinstance(v, list) and v else v),
    "encoded-twice": _document(lambda v: json.dumps(v, default=float)),
    "six-digits": _deep(lambda v: float(f"{v:.6g}") if isinstance(v, Decimal) else v),
    "fractions-cut": _deep(lambda v: int(v) if isinstance(v, Decimal) and v != int(v) else v),
    "unescaped-twice": text_change(lambda t: t.replace('\\"', '"').replace("\\n", "\n")),
}  # fmt: skip


def _scattered(micros: int) -> int:
    """A moment later by hours that depend on nothing but itself."""
    return micros + zlib.crc32(str(micros).encode()) % 24 * _HOUR


_ANY: Final = tuple(Logical)
LEVEL_TWO: Final[Mapping[str, tuple[tuple[Logical, ...], CellChange]]] = {
    "every-value-as-text": (
        _ANY,
        lambda _k, held: held if isinstance(held, str) else Typed("string", str(held)),
    ),
    "integers-as-doubles": ((_INT,), _typed(lambda n: Typed("double", float(n)), int)),
    "decimals-as-doubles": ((_DECIMAL,), _typed(lambda n: Typed("double", float(n)), int, Decimal)),
    "doubles-as-decimals": ((_DOUBLE, _FLOAT), _typed(lambda n: Typed("decimal", n), float)),
    "instants-as-wall-clocks": ((_TIMESTAMP,), _typed(lambda n: Typed("timestamp_ntz", n), int)),
    "wall-clocks-as-instants": ((_DATETIME,), _typed(lambda n: Typed("timestamp", n), int)),
    "dates-as-moments": (
        (_DATE,),
        _typed(lambda d: Typed("timestamp_ntz", (d - dt.date(1970, 1, 1)).days * _DAY), dt.date),
    ),
    "times-as-numbers": ((_TIME,), lambda _k, held: Typed("int", 0)),
    "years-as-texts": ((_YEAR,), _typed(lambda n: Typed("string", str(n)), int)),
    "bytes-as-text": ((_BINARY,), _typed(lambda b: Typed("string", b.decode("latin-1")), bytes)),
    "labels-as-bytes": ((_ENUM, _SET), lambda _k, held: Typed("binary", str(held).encode())),
    "bit-as-one": ((_BIT,), _typed(lambda held: True if held is False else 1, int, Decimal)),
    "enum-as-one": ((_ENUM,), _typed(lambda _held: 1, int)),
    "set-as-one": ((_SET,), _typed(lambda _held: 1, int, Decimal)),
    "binary-as-x": ((_BINARY,), _typed(lambda _held: b"x", bytes)),
    "timestamp-scattered": ((_TIMESTAMP,), _typed(_scattered, int)),
    "datetime-scattered": ((_DATETIME,), _typed(_scattered, int)),
    "bits-as-bytes": ((_BIT,), lambda _k, held: Typed("binary", bytes([int(held) & 255]))),
}

GROUPS: Final = (
    ("text", (_TEXT,), _ON_TEXT),
    ("integer", (_INT,), _ON_INT),
    ("decimal", (_DECIMAL,), _ON_DECIMAL),
    ("real", (_FLOAT, _DOUBLE), _ON_REAL),
    ("double", (_DOUBLE,), _ON_DOUBLE),
    ("bit", (_BIT,), _ON_BIT),
    ("year", (_YEAR,), _ON_YEAR),
    ("date", (_DATE,), _ON_DATE),
    ("datetime", (_DATETIME,), _ON_MOMENT),
    ("timestamp", (_TIMESTAMP,), _ON_MOMENT),
    ("time", (_TIME,), _ON_TIME),
    ("enum", (_ENUM,), _ON_ENUM),
    ("set", (_SET,), _ON_SET),
    ("binary", (_BINARY,), _ON_BINARY),
    ("json", (_JSON,), _ON_JSON),
)
"""The operators on cells that no words say, by a group of types."""
NUMBERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "absolute": lambda n: n.copy_abs() if isinstance(n, Decimal) else abs(n),
    "null-for-zero": lambda n: None if n == 0 else n,
    "null-for-negative": lambda n: None if n < 0 else n,
    "through-a-double": lambda n: int(float(n)),
}
WORDS: Final[Mapping[str, Callable[..., CellChange]]] = {
    "sub": lambda text, other: text_change(partial(pattern(text, other).sub, other)),
    "null": lambda text: _if(text, lambda _held: None),
    "null-for": lambda *values: lambda _kind, held: None if held in values else held,
    "spelt": lambda spelling: text_change(general.SPELLINGS[spelling]),
    "number": lambda number: number_change(lambda _kind, held: NUMBERS[number](held)),
    "wrap": lambda bits: number_change(_wrapped(bits)),
    "mask": lambda bits: number_change(lambda _kind, number: number & (1 << bits) - 1),
    "digits": lambda count: number_change(_digits(count)),
    "places": lambda count: number_change(_scaled(count)),
    "minutes": lambda count: _wall(lambda moment: moment + dt.timedelta(minutes=count)),
}
"""The changes that words say: of what matches in a text, of a whole text or value to NULL, of a
text's spelling, of a number, of a date with its time.
"""
ARGUMENTS: Final = {
    **general.ARGUMENTS,
    "bits": int,
    "count": int,
    "values": object,
    "number": tuple(NUMBERS),
}
"""What the words may be given."""
