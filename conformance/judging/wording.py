"""Words for values in findings: instants as ISO times with their difference, texts that would be
invisible in quotes, errors with their root cause.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from conformance.judging.compare import Typed
from conformance.rules.tables import TableFile, read_package_toml
from generators.model import Cell, Json, Logical, SourceType, State, Value, ZeroDate
from generators.sources import mysql

LIMIT: Final = 400
"""Characters of a value."""
ERROR: Final = 1_000
"""Characters of an error."""
_COLUMNS: Final = 8
"""Columns of an image that are shown."""
CAUSE: Final = "Caused by:"
"""The beginning of a line of a Java error that names a deeper cause."""
_PLACE: Final = re.compile(r"at .+, line \d+")
"""The line of a traceback that names a place in the user's code."""
_EPOCH: Final = datetime(1970, 1, 1)
_WORDS: Final = frozenset({"NULL", "None", "absent", "present", "an image", "no such column"})
"""Words that stand for no text."""
_UNITS: Final = (("day", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000))
"""Units of a time difference in words, with their microseconds, from large to small."""


_SENTENCES: Final = TableFile(
    *read_package_toml(__package__, "wording"),
    dict.fromkeys(
        (
            "sorts",
            "sorts_of_rows",
            "sorts_of_values",
            "sorts_of_messages",
            "keys",
            "classes",
            "deviations",
            "relations",
            "verbs",
            "with",
            "alone",
        ),
        dict,
    ),
)
"""The parsed wording.toml."""


def words_of(part: str) -> Mapping[str, str]:
    """The texts of one table of wording.toml by name, such as the verbs of causes (`verbs`)."""
    return {name: str(sentence) for name, sentence in _SENTENCES.data[part].items()}


def clip(text: str, limit: int = LIMIT) -> str:
    """The text, or its beginning and its length if it is longer than `limit` characters."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


def quoted(text: str) -> str:
    """A text; quoted if it is empty, begins or ends with a blank, or equals one of our words."""
    return f"'{text}'" if not text or text != text.strip() or text in _WORDS else text


def instant(micros: int, zone: str = "Z") -> str:
    """Microseconds since 1970 as an ISO time; `zone` is "" for a wall clock."""
    try:
        return f"{(_EPOCH + timedelta(microseconds=micros)).isoformat()}{zone}"
    except OverflowError:
        return f"{micros} microseconds from 1970-01-01T00:00:00{zone}"


def describe_difference(expected: int, actual: int) -> str:
    """How much later or earlier an actual instant is, such as `5 h 30 min earlier`."""
    return describe_shift(actual - expected) if actual != expected else "the same instant"


def describe_shift(micros: int) -> str:
    """A time difference in words, such as `5 h 30 min earlier`; a positive one is later."""
    remaining, parts = abs(micros), []
    for unit, size in _UNITS:
        count, remaining = divmod(remaining, size)
        if count:
            parts.append(f"{count:,} {unit}{'s' if unit == 'day' and count != 1 else ''}")
    if remaining:
        parts.append(f"{Decimal(remaining) / 1_000_000:f} s")
    return f"{' '.join(parts)} {'later' if micros > 0 else 'earlier'}"


def value(value_to_show: Any) -> str:
    """A value in words, for a finding: of a decoder's cell, or of a column of the envelope."""
    match value_to_show:
        case Typed(family="timestamp" | "timestamp_ntz" | "interval" as family, value=int(micros)):
            return (
                mysql.time_text(micros, 6)
                if family == "interval"
                else instant(micros, "Z" if family == "timestamp" else "")
            )
        case Typed():
            return value(value_to_show.value)
        case None:
            return "NULL"
        case bool():
            return str(value_to_show).lower()
        case str():
            return quoted(value_to_show)
        case Json():
            return json.dumps(value_to_show.value, ensure_ascii=False, default=str)
        case date() | Decimal():
            return str(value_to_show)
        case ZeroDate():
            return (
                mysql.datetime_text(value_to_show, 6)
                if value_to_show.micros
                else mysql.date_text(value_to_show)
            )
        case Mapping():
            return (
                "{"
                + ", ".join(f"{name}: {value(member)}" for name, member in value_to_show.items())
                + "}"
            )
        case list() | tuple():
            return "[" + ", ".join(map(value, value_to_show)) + "]"
    return repr(value_to_show)


def typed(decoded: Any) -> str:
    """A value that a decoder returned, in words for a finding; a typed one (level two) with the
    family of its Spark type.
    """
    return (
        f"{clip(value(decoded))} ({decoded.family})"
        if isinstance(decoded, Typed)
        else clip(value(decoded))
    )


def image(cells: Mapping[str, Any]) -> str:
    """The first _COLUMNS cells of an image in words, for a finding; `...` stands for the rest."""
    members = [f"{name}: {value(member)}" for name, member in cells.items()]
    more = ["..."] if len(members) > _COLUMNS else []
    return f"{{{', '.join([*members[:_COLUMNS], *more])}}}"


def of_type(type: SourceType, expected: Value) -> str:
    """An expected value in words for a finding, as the column's source would print it."""
    match type.logical, expected:
        case Logical.TIMESTAMP, int():
            return instant(expected)
        case Logical.DATETIME, int():
            return instant(expected, "")
        case Logical.TIME, int():
            return mysql.time_text(expected, type.fsp)
        case Logical.ENUM, int() if 0 < expected <= len(type.members):
            return f"{quoted(type.members[expected - 1])}, number {expected}"
    return value(expected)


def describe_cell(expected: Cell, level: int) -> str:
    """An expected cell in words, for a finding: at level one its text on the wire, at level two its
    right values with the source's type.
    """
    if level == 1:
        return clip(value(expected.text))
    options = expected.options if expected.state is State.ONE_OF else (expected.value,)
    words = ", ".join(clip(of_type(expected.type, option)) for option in options)
    return f"one of {words}" if expected.state is State.ONE_OF else f"{words} ({expected.type.key})"


def shift(expected: Cell, decoded: Any, time_zone: str) -> str:
    """Words for a finding on how far a wrong instant or wall clock is off, and on the deployment's
    time zone, since a wrong zone may be the cause. "" for what is off by less than a minute, or is
    no such time.
    """
    if expected.type.logical not in (Logical.TIMESTAMP, Logical.DATETIME) or not isinstance(
        decoded, Typed
    ):
        return ""
    if not isinstance(expected.value, int) or not decoded.family.startswith("timestamp"):
        return ""
    _name, micros_of_minute = _UNITS[-1]
    is_far = abs(decoded.value - expected.value) >= micros_of_minute
    return f", {off(expected.value, decoded.value, time_zone)}" if is_far else ""


def off(expected: int, actual: int, time_zone: str) -> str:
    """The difference of two instants, beside the deployment's time zone."""
    return f"{describe_difference(expected, actual)}; the deployment's time zone is {time_zone}"


def error(text: str, limit: int = ERROR) -> str:
    """An error in one line, for a report: its first line, the line of the user's code that raised
    it, and its deepest cause.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    causes = [line for line in lines[1:] if line.startswith(CAUSE)][-1:]
    places = [line for line in lines[1:] if _PLACE.fullmatch(line)][-1:]
    return "; ".join(
        (
            clip(lines[0], limit if not causes else limit // 2),
            *(clip(line, limit // 2) for line in (*places, *causes)),
        )
    )
