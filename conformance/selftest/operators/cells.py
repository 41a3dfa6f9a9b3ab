"""Faults in the values of cells."""

from __future__ import annotations

import base64
import html
import json
import re
import struct
import unicodedata
import zlib
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, Final, NamedTuple

from conformance.judging.compare import Typed
from conformance.rules.tables import compile_pattern
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

_MAX_DIGITS: Final = 4_000
"""Digits of a number: Python refuses to convert many more."""
_SECOND: Final = 1_000_000
"""The microseconds of a second."""
_HOUR: Final = 3_600 * _SECOND
"""The microseconds of an hour."""
_DAY: Final = 24 * _HOUR
"""The microseconds of a day."""


def _change_of_python_type(python_type: type, change: Callable[[Any], Any]) -> CellChange:
    """Changes values of this very Python type, no subclass, and returns others as they are."""
    return lambda _type, value: change(value) if type(value) is python_type else value


text_change: Final = partial(_change_of_python_type, str)
"""Changes texts: all values of level one, and those that Spark keeps as strings at level two."""
micros_change: Final = partial(_change_of_python_type, int)
"""Changes the microseconds of a typed time or timestamp (level two)."""
bytes_change: Final = partial(_change_of_python_type, bytes)
"""Changes the bytes of a typed binary (level two)."""


def _change_of_whole_matches(expression: str, change: Callable[[str], str | None]) -> CellChange:
    """A change of cells that are texts which the expression matches as a whole; a `change` that
    returns None makes them NULL.
    """
    regex = compile_pattern(expression, flags=re.DOTALL)
    return text_change(lambda value: change(value) if regex.fullmatch(value) else value)


def number_change(change: Callable[[SourceType, Any], Any]) -> CellChange:
    """A change of cells that are numbers, as typed values or as texts of numbers; Infinity and NaN
    stay.
    """

    def apply(type: SourceType, value: Any) -> Any:
        """The changed number; a cell that is no finite number stays."""
        if isinstance(value, str):
            return apply_to_text(type, value)
        is_number = isinstance(value, int | Decimal | float) and not isinstance(value, bool)
        return change(type, value) if is_number and Decimal(value).is_finite() else value

    def apply_to_text(type: SourceType, digits: str) -> str | None:
        """The changed number as text, None where `change` gives NULL. The text itself if it is no
        number or too large a one, or if the change keeps its value.
        """
        if len(digits) > _MAX_DIGITS:
            return digits
        try:
            number = int(digits) if re.fullmatch(r"-?\d+", digits) else Decimal(digits)
        except InvalidOperation:
            return digits
        if not Decimal(number).is_finite() or Decimal(number).adjusted() > _MAX_DIGITS:
            return digits
        changed = change(type, number)
        if changed == number:
            return digits
        return None if changed is None else str(changed)

    return apply


def _change_of_typed_values(change: Callable[[Any], Any], *kinds: type) -> CellChange:
    """A change of typed cells (level two) whose values are of these Python types; texts stay."""
    return lambda _type, value: (
        change(value) if isinstance(value, kinds) and not isinstance(value, str) else value
    )


def _wrap_to_bits(bits: int) -> Callable[[SourceType, Any], Any]:
    """A change of integers: each becomes its value in a signed variable of so many bits, as 255 of
    8 bits becomes -1. Numbers with a fraction stay.
    """
    half = 1 << bits - 1
    return lambda _type, number: (
        (int(number) + half) % (2 * half) - half if number == int(number) else number
    )


_WIDTHS: Final = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
"""The bits of the integer types."""


def _read_as_signed(type: SourceType, number: Any) -> Any:
    """The number that the bits of an UNSIGNED integer are in a signed one; other numbers stay."""
    if not type.unsigned or type.name not in _WIDTHS:
        return number
    return _wrap_to_bits(_WIDTHS[type.name])(type, number)


def _read_as_unsigned(type: SourceType, number: Any) -> Any:
    """The number that the bits of an integer are in an UNSIGNED one, as 255 for the -1 of 8 bits; a
    number of a type that is no integer stays.
    """
    return number % (1 << _WIDTHS[type.name]) if type.name in _WIDTHS else number


def round_to_single(number: float) -> float:
    """The nearest float of 32 bits; a number beyond them stays."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return number


def _round_to_digits(count: int) -> Callable[[SourceType, Any], Any]:
    """A change of numbers: each is rounded to `count` significant digits."""

    def round_number(_type: SourceType, number: Any) -> Any:
        """The number rounded to `count` significant digits, of the same Python type; a Decimal that
        loses nothing stays.
        """
        if isinstance(number, float):
            return type(number)(f"{number:.{count}g}")
        # An integer would be formatted as a double.
        rounded = Decimal(f"{Decimal(number):.{count}g}")
        return rounded if rounded != number else number

    return round_number


def _cut_decimal_places(places: int) -> Callable[[SourceType, Any], Any]:
    """A change of DECIMAL cells: digits behind so many decimal places are cut off."""

    def cut(_type: SourceType, number: Any) -> Any:
        """The Decimal without its digits behind `places` places; a number of another Python type,
        or with no more places, as it is.
        """
        if not isinstance(number, Decimal) or -int(number.as_tuple().exponent) <= places:
            return number
        sign, digits, exponent = number.as_tuple()
        keep = len(digits) + int(exponent) + places
        return Decimal((sign, digits[: max(keep, 0)] or (0,), -places))

    return cut


_MOMENT: Final = r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(\.\d+)?"
"""A regular expression of dates with a time, as texts."""


def _moment_change(change: Callable[[datetime], datetime]) -> CellChange:
    """A change of cells that are dates with a time, as texts or as microseconds. What Python's
    datetime cannot hold, such as a zero date, stays.
    """

    def apply(_type: SourceType, value: Any) -> Any:
        """The changed text or microseconds; a value of another Python type, or one that a datetime
        cannot hold, as it is.
        """
        try:
            if isinstance(value, str):
                return apply_to_text(value)
            return apply_to_micros(value) if type(value) is int else value
        except (OverflowError, ValueError):
            return value

    def apply_to_text(moment: str) -> str:
        """The changed moment in the form of the given text: with its separator (`T` or a blank) and
        its number of fraction digits. A text that is no moment comes back as it is.
        """
        if not re.fullmatch(_MOMENT, moment):
            return moment
        changed = change(datetime.fromisoformat(moment))
        separator = moment[10]
        fraction_digits = len(moment.partition(".")[2])
        length = len("HH:MM:SS") + (len(".") + fraction_digits if fraction_digits else 0)
        clock = changed.strftime("%H:%M:%S.%f")[:length]
        # strftime("%Y") has fewer than four digits for early years.
        return f"{changed.year:04d}-{changed.month:02d}-{changed.day:02d}{separator}{clock}"

    def apply_to_micros(micros: int) -> int:
        """The changed moment in microseconds since 1970-01-01."""
        epoch = datetime(1970, 1, 1)
        changed = change(epoch + timedelta(microseconds=micros))
        return (changed - epoch) // timedelta(microseconds=1)

    return apply


def _late_in_the_spring_gap(moment: datetime) -> datetime:
    """The moment as a decoder in the USA may read it that takes it for local time: an hour later
    between 2 and 3 o'clock on 10 March, the hour that clocks left out in 2024.
    """
    in_gap = (moment.month, moment.day, moment.hour) == (3, 10, 2)
    return moment + timedelta(hours=1) if in_gap else moment


def _late_in_summer(moment: datetime) -> datetime:
    """The moment as a decoder may read it that adds summer time: an hour later from April to
    October.
    """
    return moment + timedelta(hours=1) if 4 <= moment.month <= 10 else moment


def _late_on_the_autumn_day(moment: datetime) -> datetime:
    """The moment as a decoder may read it that is wrong on one day: an hour later on 3 November,
    when clocks in the USA were put back in 2024.
    """
    return moment + timedelta(hours=1) if (moment.month, moment.day) == (11, 3) else moment


def date_change(change: Callable[[date], date | None]) -> CellChange:
    """A change of cells that are dates, as texts or typed values. What Python's date cannot hold
    stays.
    """

    def apply(_type: SourceType, value: Any) -> Any:
        """The changed text or date, None for NULL; a value of another Python type, or one that a
        date cannot hold, as it is.
        """
        try:
            if isinstance(value, str):
                return apply_to_text(value)
            return change(value) if type(value) is date else value
        except (OverflowError, ValueError):
            return value

    def apply_to_text(date_text: str) -> str | None:
        """The changed date as text YYYY-MM-DD, None for NULL; a text in another form comes back as
        it is.
        """
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date_text):
            return date_text
        changed = change(date.fromisoformat(date_text))
        if changed is None:
            return None
        return f"{changed.year:04d}-{changed.month:02d}-{changed.day:02d}"

    return apply


def clock_change(change: Callable[[int], int | None]) -> CellChange:
    """A change of cells that are TIMEs, as microseconds or as texts; a text keeps its number of
    fraction digits, of which it has at most six.
    """

    def apply(_type: SourceType, value: Any) -> Any:
        """The changed TIME; a cell that is neither a text nor an integer stays."""
        if isinstance(value, str):
            return apply_to_text(value)
        return change(value) if type(value) is int else value

    def apply_to_text(time: str) -> str | None:
        """The changed TIME as text with as many fraction digits as before, None for NULL; a text
        that is no time, or whose time stays, comes back as it is.
        """
        match = re.fullmatch(r"(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?", time)
        if not match:
            return time
        sign, hours, minutes, seconds, fraction = match.groups()
        whole_seconds = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
        fraction_micros = int((fraction or "").ljust(6, "0")[:6])
        micros = whole_seconds * _SECOND + fraction_micros
        signed_micros = -micros if sign else micros
        changed = change(signed_micros)
        if changed is None:
            return None
        return time if changed == signed_micros else _time_text(changed, len(fraction or ""))

    return apply


def _time_text(micros: int, fraction_digits: int) -> str:
    """A TIME such as -100:00:00.5, its fraction cut to so many digits."""
    seconds, fraction = divmod(abs(micros), _SECOND)
    sign = "-" if micros < 0 else ""
    clock = f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{clock}.{f'{fraction:06d}'[:fraction_digits]}" if fraction_digits else clock


def toward_zero(micros: int, unit: int) -> int:
    """A time cut to a multiple of the unit, toward zero: -1.7 s cut to seconds is -1 s."""
    magnitude = abs(micros) // unit * unit
    return magnitude if micros >= 0 else -magnitude


def _document_change(change: Callable[[Any], Any]) -> CellChange:
    """A change of cells that are texts of JSON: of the parsed document. A text that is no JSON
    stays, and so does the spelling of a document that the change leaves alone.
    """

    def apply(_type: SourceType, value: Any) -> Any:
        """The text of the changed JSON document; a text that is no JSON, or whose document stays,
        and a value that is no text come back as they are.
        """
        if not isinstance(value, str):
            return value
        try:
            document = json.loads(value, parse_float=Decimal)
        except ValueError:
            return value
        changed = change(document)
        # 1 == True and 1 == Decimal("1.0"): their texts tell them apart.
        if changed == document and repr(changed) == repr(document):
            return value
        return json.dumps(changed, default=float, ensure_ascii=False)

    return apply


def _document_part_change(change: Callable[[Any], Any]) -> CellChange:
    """A change of cells that are texts of JSON: `change` is applied to every part of the document,
    the innermost first.
    """

    def walk(value: Any) -> Any:
        """The document with `change` applied to each member and item, then to the whole."""
        match value:
            case dict():
                return change({key: walk(member) for key, member in value.items()})
            case list():
                return change([walk(item) for item in value])
        return change(value)

    return _document_change(walk)


def _decimal_through_a_double(_type: SourceType, number: Any) -> Any:
    """The DECIMAL that is left after it was a double, with as many decimal places as before if it
    has fewer than 28 digits (`quantize` raises for a result of more than 28); an integer stays.
    """
    if isinstance(number, int):
        return number
    through_a_double = Decimal(repr(float(number)))
    if len(number.as_tuple().digits) < 28:
        return through_a_double.quantize(number)
    return through_a_double


def _negative_zero_as_zero(_type: SourceType, value: Any) -> Any:
    """A FLOAT or DOUBLE, as text or typed, with 0 in place of -0; other values stay."""
    if isinstance(value, str) and re.fullmatch(r"-0(\.0*)?", value):
        return value.removeprefix("-")
    if isinstance(value, float) and value == 0:
        return 0.0
    return value


def _first_member_of_set(_type: SourceType, value: Any) -> Any:
    """A SET with only its first member: of a text of labels the first label, of a number the lowest
    bit that is set.
    """
    if isinstance(value, str) and not value.isdigit():
        return value.partition(",")[0]
    if isinstance(value, str):
        return str(int(value) & -int(value))
    return value & -value if type(value) is int else value


def _drop_nulls(part: Any) -> Any:
    """A part of a JSON document without the members, or elements, that are null."""
    if isinstance(part, dict):
        return {name: member for name, member in part.items() if member is not None}
    if isinstance(part, list):
        return [item for item in part if item is not None]
    return part


def _lossy_json(value: Any) -> Any:
    """A number of a JSON document as a decoder leaves it that reads integers as doubles; other
    values stay.
    """
    return int(float(value)) if isinstance(value, int) and not isinstance(value, bool) else value


def _unescape(value: str) -> str:
    """The text as a decoder leaves it that unescapes JSON once too often."""
    character_of = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "/": "/"}
    value = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), value)
    return re.sub(r'\\([ntr\\"/])', lambda match: character_of[match[1]], value)


def _mojibake(value: str) -> str:
    """The text as a decoder reads it that takes its UTF-8 for Latin-1."""
    return value.encode("utf-8", "replace").decode("latin-1")


_ON_TEXT: Final[Mapping[str, CellChange]] = {
    "unescaped-twice": text_change(_unescape),
    "composed": text_change(lambda t: unicodedata.normalize("NFC", t)),
    "compatible": text_change(lambda t: unicodedata.normalize("NFKC", t)),
    "mojibake": text_change(_mojibake),
    "html-escaped": text_change(lambda t: html.escape(t, quote=False)),
    "html-as-escapes": text_change(
        lambda t: t.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    ),
    "boolean-words-as-digits": _change_of_whole_matches(
        "true|false", lambda t: str(int(t == "true"))
    ),
}
"""How wrong decoders change texts, by the names of the operators."""

_ON_INT: Final[Mapping[str, CellChange]] = {
    "unsigned-as-signed": number_change(_read_as_signed),
    "signed-as-unsigned": number_change(_read_as_unsigned),
    "through-a-float": number_change(lambda _type, n: int(round_to_single(float(n)))),
}
"""How wrong decoders change integers, by the names of the operators."""
_ON_DECIMAL: Final[Mapping[str, CellChange]] = {
    "through-a-double": number_change(_decimal_through_a_double),
    "below-one-as-zero": number_change(lambda _type, n: n * 0 if abs(n) < 1 else n),
}
"""How wrong decoders change DECIMALs, by the names of the operators."""
_ON_REAL: Final[Mapping[str, CellChange]] = {
    "negative-zero-as-zero": _negative_zero_as_zero,
    "subnormals-as-zero": number_change(lambda _type, n: n * 0 if 0 < abs(n) < 1e-37 else n),
    "large-as-null": number_change(lambda _type, n: None if abs(n) > 1e38 else n),
    "integral-part": number_change(lambda _type, n: type(n)(int(n)) if abs(n) < 1e15 else n),
    "infinite-as-null": lambda _type, value: (
        None if str(value).strip("-") in ("inf", "Infinity") else value
    ),
    "not-a-number-as-null": lambda _type, value: None if str(value) in ("nan", "NaN") else value,
}
"""How wrong decoders change FLOATs and DOUBLEs, by the names of the operators."""
_ON_DOUBLE: Final[Mapping[str, CellChange]] = {
    "through-a-float": number_change(lambda _type, n: type(n)(round_to_single(float(n))))
}
"""How wrong decoders change DOUBLEs alone, by the names of the operators."""
_ON_BIT: Final[Mapping[str, CellChange]] = {
    "as-a-truth": number_change(lambda _type, n: int(bool(n))),
    "bits-reversed": number_change(
        lambda source_type, n: int(f"{abs(n):0{source_type.length or 1}b}"[::-1], 2)
    ),
    "one-as-true": lambda _type, value: (
        {"1": "true", "0": "false"}.get(value, value) if isinstance(value, str) else value
    ),
}
"""How wrong decoders change BITs, by the names of the operators."""
_ON_YEAR: Final[Mapping[str, CellChange]] = {
    "two-digits": number_change(lambda _type, n: n % 100),
    "zero-as-2000": number_change(lambda _type, n: n or 2000),
    "as-a-date": lambda _type, value: (
        f"{value}-01-01"
        if isinstance(value, str)
        else Typed("date", date(max(int(value), 1), 1, 1))
    ),
    "offset-from-1900": number_change(lambda _type, n: n - 1900 if n else n),
}
"""How wrong decoders change YEARs, by the names of the operators."""
_ON_DATE: Final[Mapping[str, CellChange]] = {
    "a-day-early": date_change(lambda d: d - timedelta(days=1)),
    "a-day-late": date_change(lambda d: d + timedelta(days=1)),
    "julian": date_change(lambda d: d + timedelta(days=10) if d < date(1582, 10, 15) else d),
    "before-1970-as-1970": date_change(lambda d: max(d, date(1970, 1, 1))),
    "last-year-as-null": date_change(lambda d: None if d.year == 9999 else d),
    "leap-day-as-march": date_change(
        lambda d: date(d.year, 3, 1) if (d.month, d.day) == (2, 29) else d
    ),
    "month-and-day-swapped": date_change(
        lambda d: d.replace(month=d.day, day=d.month) if d.day <= 12 else d
    ),
}
"""How wrong decoders change dates, by the names of the operators."""
_ON_MOMENT: Final[Mapping[str, CellChange]] = {
    "an-hour-late-in-summer": _moment_change(_late_in_summer),
    "an-hour-late-in-the-spring-gap": _moment_change(_late_in_the_spring_gap),
    "an-hour-late-on-the-autumn-day": _moment_change(_late_on_the_autumn_day),
    "fraction-cut": _moment_change(lambda m: m.replace(microsecond=0)),
    "milliseconds": _moment_change(lambda m: m.replace(microsecond=m.microsecond // 1000 * 1000)),
    "milliseconds-rounded": _moment_change(
        lambda m: m.replace(microsecond=0) + timedelta(milliseconds=round(m.microsecond / 1000))
    ),
    "fraction-as-an-integer": _moment_change(
        lambda m: m.replace(microsecond=int(str(m.microsecond).rstrip("0") or "0"))
    ),
    "time-of-day-lost": _moment_change(
        lambda m: m.replace(hour=0, minute=0, second=0, microsecond=0)
    ),
    "before-1970-as-1970": _moment_change(lambda m: max(m, datetime(1970, 1, 1))),
    "32-bit-seconds": micros_change(
        lambda m: (
            (m // _SECOND + (1 << 31)) % (1 << 32) * _SECOND - (1 << 31) * _SECOND + m % _SECOND
        )
    ),
}
"""How wrong decoders change dates with a time, by the names of the operators."""
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
"""How wrong decoders change TIMEs, by the names of the operators."""
_ON_ENUM: Final[Mapping[str, CellChange]] = {
    "from-zero": number_change(lambda _type, n: n - 1),
    "label-for-index": lambda source_type, value: (
        source_type.members[int(value) - 1]
        if isinstance(value, str) and value.isdigit() and 0 < int(value) <= len(source_type.members)
        else value
    ),
    "index-for-label": lambda source_type, value: (
        str(source_type.members.index(value) + 1)
        if isinstance(value, str) and value in source_type.members
        else value
    ),
    "first-member": lambda source_type, value: (
        source_type.members[0]
        if isinstance(value, str) and source_type.members and value in source_type.members
        else value
    ),
}
"""How wrong decoders change ENUMs, by the names of the operators."""
_ON_SET: Final[Mapping[str, CellChange]] = {
    "first-member-only": _first_member_of_set,
    "members-reversed": text_change(lambda t: ",".join(reversed(t.split(",")))),
    "index-for-mask": number_change(lambda _type, n: n.bit_length()),
}
"""How wrong decoders change SETs, by the names of the operators."""
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
    "empty-as-null": lambda _type, value: None if value in ("", b"") else value,
}
"""How wrong decoders change binary values, by the names of the operators."""
_ON_JSON: Final[Mapping[str, CellChange]] = {
    "integers-through-a-double": _document_part_change(_lossy_json),
    "keys-lower-case": _document_part_change(
        lambda v: {k.lower(): member for k, member in v.items()} if isinstance(v, dict) else v
    ),
    "keys-upper-case": _document_part_change(
        lambda v: {k.upper(): member for k, member in v.items()} if isinstance(v, dict) else v
    ),
    "nulls-dropped": _document_part_change(_drop_nulls),
    "booleans-as-texts": _document_part_change(
        lambda v: str(v).lower() if isinstance(v, bool) else v
    ),
    "booleans-as-numbers": _document_part_change(lambda v: int(v) if isinstance(v, bool) else v),
    "numbers-as-texts": _document_part_change(
        lambda v: str(v) if isinstance(v, int | Decimal) and not isinstance(v, bool) else v
    ),
    "nested-as-text": _document_change(
        lambda v: (
            {
                k: json.dumps(i, default=float) if isinstance(i, dict | list) else i
                for k, i in v.items()
            }
            if isinstance(v, dict)
            else v
        )
    ),
    "texts-ascii-only": _document_part_change(
        lambda v: v.encode("ascii", "replace").decode() if isinstance(v, str) else v
    ),
    "texts-html-escaped": _document_part_change(
        lambda v: html.escape(v, quote=False) if isinstance(v, str) else v
    ),
    "texts-trimmed": _document_part_change(lambda v: v.strip() if isinstance(v, str) else v),
    "empty-containers-as-null": _document_part_change(
        lambda v: None if v in ({}, []) and v is not False else v
    ),
    "first-element": _document_change(lambda v: v[0] if isinstance(v, list) and v else v),
    "encoded-twice": _document_change(lambda v: json.dumps(v, default=float)),
    "six-digits": _document_part_change(
        lambda v: float(f"{v:.6g}") if isinstance(v, Decimal) else v
    ),
    "fractions-cut": _document_part_change(
        lambda v: int(v) if isinstance(v, Decimal) and v != int(v) else v
    ),
    "unescaped-twice": text_change(lambda t: t.replace('\\"', '"').replace("\\n", "\n")),
}
"""How wrong decoders change JSON documents, by the names of the operators."""


def _scatter_hours(micros: int) -> int:
    """A moment, later by 0 to 23 hours: as many as a hash of the moment itself says."""
    return micros + zlib.crc32(str(micros).encode()) % 24 * _HOUR


_ANY: Final = tuple(Logical)
"""All types."""
LEVEL_TWO: Final[Mapping[str, tuple[tuple[Logical, ...], CellChange]]] = {
    "every-value-as-text": (
        _ANY,
        lambda _type, value: value if isinstance(value, str) else Typed("string", str(value)),
    ),
    "integers-as-doubles": (
        (_INT,),
        _change_of_typed_values(lambda n: Typed("double", float(n)), int),
    ),
    "decimals-as-doubles": (
        (_DECIMAL,),
        _change_of_typed_values(lambda n: Typed("double", float(n)), int, Decimal),
    ),
    "doubles-as-decimals": (
        (_DOUBLE, _FLOAT),
        _change_of_typed_values(lambda n: Typed("decimal", n), float),
    ),
    "instants-as-wall-clocks": (
        (_TIMESTAMP,),
        _change_of_typed_values(lambda n: Typed("timestamp_ntz", n), int),
    ),
    "wall-clocks-as-instants": (
        (_DATETIME,),
        _change_of_typed_values(lambda n: Typed("timestamp", n), int),
    ),
    "dates-as-moments": (
        (_DATE,),
        _change_of_typed_values(
            lambda d: Typed("timestamp_ntz", (d - date(1970, 1, 1)).days * _DAY), date
        ),
    ),
    "times-as-numbers": ((_TIME,), lambda _type, value: Typed("int", 0)),
    "years-as-texts": ((_YEAR,), _change_of_typed_values(lambda n: Typed("string", str(n)), int)),
    "bytes-as-text": (
        (_BINARY,),
        _change_of_typed_values(lambda b: Typed("string", b.decode("latin-1")), bytes),
    ),
    "labels-as-bytes": ((_ENUM, _SET), lambda _type, value: Typed("binary", str(value).encode())),
    "bit-as-one": (
        (_BIT,),
        _change_of_typed_values(lambda value: True if value is False else 1, int, Decimal),
    ),
    "enum-as-one": ((_ENUM,), _change_of_typed_values(lambda _value: 1, int)),
    "set-as-one": ((_SET,), _change_of_typed_values(lambda _value: 1, int, Decimal)),
    "binary-as-x": ((_BINARY,), _change_of_typed_values(lambda _value: b"x", bytes)),
    "timestamp-scattered": ((_TIMESTAMP,), _change_of_typed_values(_scatter_hours, int)),
    "datetime-scattered": ((_DATETIME,), _change_of_typed_values(_scatter_hours, int)),
    "bits-as-bytes": ((_BIT,), lambda _type, value: Typed("binary", bytes([int(value) & 255]))),
}
"""Changes that only typed values (level two) can have, most of them of a value's type, by name: the
types whose values change, and the change.
"""


class ChangeGroup(NamedTuple):
    """Changes of the values of some types, by name; `name` is that of the group, with which the
    names of its operators begin.
    """

    name: str
    logicals: tuple[Logical, ...]
    changes: Mapping[str, CellChange]


GROUPS: Final = (
    ChangeGroup("text", (_TEXT,), _ON_TEXT),
    ChangeGroup("integer", (_INT,), _ON_INT),
    ChangeGroup("decimal", (_DECIMAL,), _ON_DECIMAL),
    ChangeGroup("real", (_FLOAT, _DOUBLE), _ON_REAL),
    ChangeGroup("double", (_DOUBLE,), _ON_DOUBLE),
    ChangeGroup("bit", (_BIT,), _ON_BIT),
    ChangeGroup("year", (_YEAR,), _ON_YEAR),
    ChangeGroup("date", (_DATE,), _ON_DATE),
    ChangeGroup("datetime", (_DATETIME,), _ON_MOMENT),
    ChangeGroup("timestamp", (_TIMESTAMP,), _ON_MOMENT),
    ChangeGroup("time", (_TIME,), _ON_TIME),
    ChangeGroup("enum", (_ENUM,), _ON_ENUM),
    ChangeGroup("set", (_SET,), _ON_SET),
    ChangeGroup("binary", (_BINARY,), _ON_BINARY),
    ChangeGroup("json", (_JSON,), _ON_JSON),
)
"""The changes of cells that are written here and not in catalogue.toml."""
NUMBERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "absolute": lambda n: n.copy_abs() if isinstance(n, Decimal) else abs(n),
    "null-for-zero": lambda n: None if n == 0 else n,
    "null-for-negative": lambda n: None if n < 0 else n,
    "through-a-double": lambda n: int(float(n)),
}
"""The changes of numbers that catalogue.toml may name as arguments of its word `number`."""
WORDS: Final[Mapping[str, Callable[..., CellChange]]] = {
    "sub": lambda expression, replacement: text_change(
        partial(compile_pattern(expression, replacement).sub, replacement)
    ),
    "null": lambda expression: _change_of_whole_matches(expression, lambda _text: None),
    "null-for": lambda *values: lambda _type, value: None if value in values else value,
    "spelt": lambda spelling: text_change(general.SPELLINGS[spelling]),
    "number": lambda number: number_change(lambda _type, value: NUMBERS[number](value)),
    "wrap": lambda bits: number_change(_wrap_to_bits(bits)),
    "mask": lambda bits: number_change(lambda _type, number: number & (1 << bits) - 1),
    "digits": lambda count: number_change(_round_to_digits(count)),
    "places": lambda count: number_change(_cut_decimal_places(count)),
    "minutes": lambda count: _moment_change(lambda moment: moment + timedelta(minutes=count)),
}
"""The changes that catalogue.toml may name, each with its arguments: of what matches in a text, of
a whole text or value to NULL, of a text's spelling, of a number, of a date with its time.
"""
ARGUMENTS: Final = {
    **general.ARGUMENTS,
    "bits": int,
    "count": int,
    "values": object,
    "number": tuple(NUMBERS),
}
"""The legal arguments of WORDS, by the names of parameters."""
