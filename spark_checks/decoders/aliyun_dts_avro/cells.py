"""Cells of Aliyun DTS's Record, structs of Avro branches, as texts and as typed values.

Like `families.mysql`, this module gives SQL text that never raises and does not depend on session
time zone, ANSI mode or case sensitivity. A cell's Avro branch decides how it is read: a column
takes the branches that its type can have, and any other gives no value. A cell without a value fits
only if it is SQL NULL, not captured, or a zero date.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from generators import model
from generators.model import Logical, SourceType, Table
from spark_checks.decoders.aliyun_dts_avro.charsets import UTF_8
from spark_checks.decoders.aliyun_dts_avro.record import BRANCHES, MEMBERS
from spark_checks.decoders.families import framing
from spark_checks.decoders.families.connect.decimals import from_text
from spark_checks.decoders.families.mysql import mysql_typed
from spark_checks.decoders.families.sql import LOWER, let, literal, name

_POSTGRESQL: Final = "postgresql"
_EPOCH: Final = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
_FIRST_SECOND: Final = -62_135_596_800
_LAST_SECOND: Final = 253_402_300_799
"""The first second of the year 1 and the last one of 9999, counted from 1970."""
_HOUR: Final = 3_600_000_000
_DAY: Final = 24 * _HOUR
"""The microseconds of an hour, and of a day."""


def _branch(cell: str, branch: str, field: str = "") -> str:
    """SQL of one branch of a cell (the union's record of that name), or of the field `field` in it.
    `cell` is the SQL of the cell, a struct of all branches.
    """
    return f"{cell}.{MEMBERS[branch]}" + (f".{name(field)}" if field else "")


def _as_json(branch: str) -> str:
    """SQL of the text of the cell `x` at level one if it has this branch of the Avro union: the
    branch as compact JSON, its bytes in hex.
    """
    value = _branch("x", branch)
    fields = BRANCHES[list(MEMBERS).index(branch)]["fields"]
    if any(f["type"] == "bytes" for f in fields):
        parts = {f["name"]: _branch("x", branch, f["name"]) for f in fields} | {
            "value": LOWER.format(f"hex({value}.value)")
        }
        value = f"struct({', '.join(f'{part} AS {name(n)}' for n, part in parts.items())})"
    return f"to_json({value}, map('ignoreNullFields', 'false'))"


_OFTEN_FIRST: Final = (
    "Character",
    "Integer",
    "Decimal",
    "DateTime",
    "Timestamp",
    "Float",
    "TextObject",
    "BinaryObject",
)
"""The branches that a cell often has, which are tried first."""
_WHENS: Final = (
    f"WHEN {_branch('x', branch)} IS NOT NULL THEN {_as_json(branch)}"
    for branch in dict.fromkeys((*_OFTEN_FIRST, *MEMBERS))
    if branch != "EmptyObject"
)
TEXT: Final = f"CASE {' '.join(_WHENS)} END"
"""SQL of the text of the cell `x` at level one."""


def in_nanoseconds(source: Column, position: Column) -> Column:
    """Whether `millis` of a DateTime holds nanoseconds and not microseconds: never from MySQL, from
    PostgreSQL if its physical log is read, always from other sources. `source` is the source's type
    in the message; a `position` of the physical log contains `<->` (aliyun#datetime-nanos).
    """
    is_physical = (source == "PostgreSQL") & F.contains(position, F.lit("<->"))
    return ~source.isin("MySQL", "PostgreSQL") | is_physical


def images(table: Table, cells: str, nanos: str) -> str:
    """SQL that types an array of rows, given as the SQL `cells`, whose rows are structs of cells.
    Each becomes a struct of `value`, the typed row, and `unfit`, whether a cell is not of its
    column's type. `nanos` is the SQL of whether times have nanoseconds (see `in_nanoseconds`).
    """
    return framing.with_unfit_marks(
        table, lambda c, image: _value(framing.cell(c, image), c.type, nanos), _unfit, cells
    )


def _unfit(c: model.Column) -> str:
    """SQL of the test whether the cell `i.t` is not of the column's type, or its value `i.value` is
    outside the type's domain. SQL NULL, a cell that was not captured and a zero date fit.
    """
    x, value = framing.cell(c, "i.t"), framing.cell(c, "i.value")
    zero = _zero(x, c.type)
    none = f"{value} IS NULL AND {x} IS NOT NULL AND {_branch(x, 'EmptyObject')} IS NULL"
    none = f"({none} AND NOT coalesce({zero}, false))" if zero else f"({none})"
    outside = _outside(value, c.type)
    return f"{none} OR {outside}" if outside else none


def _outside(value: str, type: SourceType) -> str | None:
    """SQL of whether a value, which has the column's Spark type, is outside of the source type's
    domain; None if no value can be.
    """
    low, high = type.low or 0, type.high or 0
    match type.logical:
        case Logical.YEAR:
            return f"({value} <> 0 AND {value} NOT BETWEEN 1901 AND {high})"
        case Logical.INT | Logical.BIT | Logical.ENUM | Logical.SET if type.spark != "boolean":
            return f"{value} NOT BETWEEN {low} AND {high}"
        case Logical.FLOAT | Logical.DOUBLE if type.source != _POSTGRESQL:
            special = f"(isnan({value}) OR abs({value}) = {type.spark}('Infinity'))"
            return f"{special} OR {value} < 0" if type.unsigned else special
        case Logical.DECIMAL if type.unsigned:
            return f"startswith({value}, '-')" if type.spark == "string" else f"{value} < 0"
        case _:
            return None


def _value(x: str, type: SourceType, nanos: str) -> str:
    """SQL of the value of the cell `x` in the column's Spark type, from the branches of the Avro
    union that a cell of the type may have; NULL for a cell with another branch. `nanos` is the SQL
    of whether times have nanoseconds.
    """
    integer, label = _branch(x, "Integer", "value"), _utf8_text(x)
    match type.logical:
        case Logical.TEXT:
            return label
        case Logical.JSON:
            return let(label, "text", mysql_typed("text", type))
        case Logical.BINARY:
            character = (
                f"CASE WHEN {_branch(x, 'Character', 'charset')} IN ('binary', '') THEN"
                f" {_branch(x, 'Character', 'value')} END"
            )
            return f"coalesce({character}, {_branch(x, 'BinaryObject', 'value')})"
        case Logical.DECIMAL:
            return from_text(
                f"coalesce({_branch(x, 'Decimal', 'value')}, {integer})",
                type.precision or 0,
                type.scale or 0,
            )
        case Logical.FLOAT | Logical.DOUBLE:
            return _float(_branch(x, "Float", "value"), type)
        case Logical.DATE | Logical.DATETIME:
            return _wall_clock(_branch(x, "DateTime"), type, nanos)
        case Logical.TIMESTAMP:
            return f"coalesce({_instant(x, type)}, {_zoned_sql(x, type, nanos)})"
        case Logical.TIME:
            return _time_sql(x, type, nanos)
        case Logical.YEAR:
            parts = _branch(x, "DateTime")
            alone = (
                f"coalesce({parts}.month, {parts}.day, {parts}.hour, {parts}.minute,"
                f" {parts}.second, {parts}.millis) IS NULL"
            )
            return f"coalesce(try_cast({integer} AS int), CASE WHEN {alone} THEN {parts}.year END)"
        case Logical.ENUM:
            return f"coalesce(try_cast({integer} AS int), {_index(label, type)})"
        case Logical.SET:
            return f"coalesce(try_cast({integer} AS decimal(20,0)), {_mask(label, type)})"
        case Logical.BIT if type.source == _POSTGRESQL:
            return f"coalesce({mysql_typed(integer, type)}, {_bits(label, type)})"
        case _:
            return mysql_typed(integer, type)


def _utf8_text(x: str) -> str:
    """SQL of the text of the cell `x` from the branches that may hold one: a Character in UTF-8, a
    TextObject, or a BinaryObject, which names no charset and is taken for UTF-8. NULL for bytes
    that are not UTF-8.
    """
    character = f"CAST({_branch(x, 'Character', 'value')} AS string)"
    without_charset = (
        f"coalesce({_branch(x, 'TextObject', 'value')}, CAST({_branch(x, 'BinaryObject', 'value')} AS"
        " string))"
    )
    by_branch = f"CASE WHEN {_branch(x, 'Character', 'charset')} IN {UTF_8} THEN {character} ELSE {without_charset} END"
    return f"try_validate_utf8({by_branch})"


def _float(value: str, type: SourceType) -> str:
    """SQL that turns the double of a FLOAT cell into a float; NULL where only the float would be
    infinite.
    """
    if type.logical is Logical.DOUBLE:
        return value
    overflown = f"abs(v) = float('Infinity') AND abs({value}) <> double('Infinity')"
    return let(f"CAST({value} AS float)", "v", f"CASE WHEN NOT ({overflown}) THEN v END")


def _fraction(parts: str, nanos: str) -> str:
    """SQL of the microseconds below a second of a DateTime (the SQL `parts`), from its field
    `millis`. That holds microseconds, or nanoseconds where the SQL condition `nanos` is true; NULL
    for nanoseconds that are no whole microsecond, 0 if the field is NULL.
    """
    millis = f"{parts}.millis"
    whole_millis = f"WHEN {millis} % 1000 = 0 THEN {millis} DIV 1000"
    return (
        f"CASE WHEN NOT {nanos} OR {millis} IS NULL THEN coalesce({millis}, 0) {whole_millis} END"
    )


def _wall_clock(parts: str, type: SourceType, nanos: str) -> str:
    """SQL of the date, or the date and time, of a DateTime (the SQL `parts`). NULL for a year
    outside 1 to 9999, which Spark and Python do not have, and for numbers that are no date and
    time. `nanos` is the SQL of whether the source's times have nanoseconds.
    """
    hour, minute, second = (f"coalesce({parts}.{part}, 0)" for part in ("hour", "minute", "second"))
    midnight = f"try_make_timestamp_ntz({parts}.year, {parts}.month, {parts}.day, 0, 0, 0)"
    dated = f"{parts}.year BETWEEN 1 AND 9999"
    if type.logical is Logical.DATE:
        timeless = " AND ".join(
            f"coalesce({parts}.{part}, 0) = 0" for part in ("hour", "minute", "second", "millis")
        )
        return f"CASE WHEN {dated} AND {timeless} THEN CAST({midnight} AS date) END"
    inside = f"{hour} BETWEEN 0 AND 23 AND {minute} BETWEEN 0 AND 59 AND {second} BETWEEN 0 AND 59"
    seconds = f"({hour} * 3600 + {minute} * 60 + {second}) * 1000000L"
    moved = (
        f"CASE WHEN f BETWEEN 0 AND 999999 THEN timestampadd(MICROSECOND, {seconds} + f,"
        f" {midnight}) END"
    )
    return f"CASE WHEN {dated} AND {inside} THEN {let(_fraction(parts, nanos), 'f', moved)} END"


def _zero(x: str, type: SourceType) -> str | None:
    """SQL of the test whether the cell `x` is one of MySQL's zero dates, which have a year, month
    or day of 0; None for types that are no dates, and for PostgreSQL.
    """
    if type.source == _POSTGRESQL:
        return None
    parts = _branch(x, "DateTime")
    date = (
        f"{parts}.year BETWEEN 0 AND 9999 AND {parts}.month BETWEEN 0 AND 12 AND {parts}.day"
        " BETWEEN 0 AND 31"
    )
    zero = f"{date} AND 0 IN ({parts}.year, {parts}.month, {parts}.day)"
    match type.logical:
        case Logical.DATE | Logical.DATETIME:
            return zero
        case Logical.TIMESTAMP:
            return (
                f"{zero} OR {_branch(x, 'Timestamp', 'timestamp')} = 0 AND"
                f" {_branch(x, 'Timestamp', 'millis')} = 0"
            )
        case _:
            return None


def _instant(x: str, type: SourceType) -> str:
    """SQL of the moment in the branch Timestamp of the cell `x`, whose field `millis` holds
    microseconds. NULL for other branches, and for MySQL's epoch, which stands for a zero date.
    """
    seconds, micros = _branch(x, "Timestamp", "timestamp"), _branch(x, "Timestamp", "millis")
    inside = (
        f"{seconds} BETWEEN {_FIRST_SECOND} AND {_LAST_SECOND} AND {micros} BETWEEN 0 AND 999999"
    )
    if type.source != _POSTGRESQL:
        inside += f" AND {seconds} + {micros} <> 0"
    return f"CASE WHEN {inside} THEN timestamp_micros({seconds} * 1000000L + {micros}) END"


def _zoned_sql(x: str, type: SourceType, nanos: str) -> str:
    """SQL of the moment in the branch TimestampWithTimeZone of the cell `x`: a wall clock and a
    zone, mostly a bare offset such as +08:00. NULL without a zone, for which the cast would take
    the session's, and for an unknown one. `nanos` is the SQL of whether the source's times have
    nanoseconds.
    """
    # `+` is the first character, in the order of their codes, with which a zone begins.
    zone = _branch(x, "TimestampWithTimeZone", "timezone")
    clock = _wall_clock(_branch(x, "TimestampWithTimeZone", "value"), type, nanos)
    return (
        f"CASE WHEN left({zone}, 1) >= '+' THEN try_cast(concat(CAST({clock} AS string), ' ',"
        f" {zone}) AS timestamp) END"
    )


def _time_sql(x: str, type: SourceType, nanos: str) -> str:
    """SQL of a TIME as text, `[-]HH:MM:SS[.ffffff]`, from the branch DateTime of the cell `x`, in
    which every part has the sign and a null part is 0. NULL for a time that the source cannot have.
    `nanos` is the SQL of whether the source's times have nanoseconds.
    """
    parts = _branch(x, "DateTime")
    hour, minute, second = (f"coalesce({parts}.{part}, 0)" for part in ("hour", "minute", "second"))
    undated = f"{parts} IS NOT NULL AND coalesce({parts}.year, {parts}.month, {parts}.day) IS NULL"
    has_part = f"coalesce({parts}.hour, {parts}.minute, {parts}.second, {parts}.millis) IS NOT NULL"
    one_sign = (
        f"least({hour}, {minute}, {second}, f) >= 0 OR greatest({hour}, {minute}, {second}, f) <= 0"
    )
    inside = f"abs({minute}) <= 59 AND abs({second}) <= 59 AND abs(f) <= 999999"
    total = f"(({hour} * 60L + {minute}) * 60 + {second}) * 1000000L + f"
    signed_total = f"CASE WHEN ({one_sign}) AND {inside} THEN {total} END"
    low, high = (
        (0, _DAY)
        if type.source == _POSTGRESQL
        else (-(839 * _HOUR - 1_000_000), 839 * _HOUR - 1_000_000)
    )
    hours = (
        "CASE WHEN a < 360000000000 THEN lpad(CAST(a DIV 3600000000 AS string), 2, '0') ELSE CAST(a"
        " DIV 3600000000 AS string) END"
    )
    minutes_and_seconds = (
        "lpad(CAST(a DIV 60000000 % 60 AS string), 2, '0'), ':', lpad(CAST(a DIV 1000000 % 60 AS"
        " string), 2, '0')"
    )
    fraction = (
        "CASE WHEN a % 1000000 = 0 THEN '' ELSE concat('.', lpad(CAST(a % 1000000 AS string), 6,"
        " '0')) END"
    )
    formatted = f"concat(CASE WHEN v < 0 THEN '-' ELSE '' END, {hours}, ':', {minutes_and_seconds}, {fraction})"
    in_range = let("abs(v)", "a", f"CASE WHEN v BETWEEN {low} AND {high} THEN {formatted} END")
    return (
        f"CASE WHEN {undated} AND {has_part} THEN"
        f" {let(let(_fraction(parts, nanos), 'f', signed_total), 'v', in_range)} END"
    )


def _index(label: str, type: SourceType) -> str:
    """SQL of the index of an ENUM's label; 0 for the empty text, which stands for invalid input;
    NULL for an unknown label.
    """
    labels = (
        f"array({', '.join(map(literal, type.members))})"
        if type.members
        else "CAST(array() AS array<string>)"
    )
    index = (
        f"coalesce(nullif(CAST(array_position({labels}, l) AS int), 0), CASE WHEN l = '' THEN 0"
        " END)"
    )
    return let(label, "l", index)


def _mask(label: str, type: SourceType) -> str:
    """SQL of a SET's bit mask from the text of its labels, which commas separate; NULL if one is
    unknown. No label holds a comma.
    """
    labels = (
        f"array({', '.join(map(literal, type.members))})"
        if type.members
        else "CAST(array() AS array<string>)"
    )
    bit = let(
        f"array_position({labels}, m)",
        "p",
        "CASE WHEN p > 0 THEN shiftleft(1L, CAST(p - 1 AS int)) END",
    )
    mask = let(
        f"aggregate(split(l, ','), 0L, (b, m) -> b | {bit})",
        "v",
        f"CAST(v AS decimal(20,0)) + CASE WHEN v < 0 THEN {1 << 64}BD ELSE 0BD END",
    )
    return let(label, "l", f"CAST(CASE WHEN l = '' THEN 0BD ELSE {mask} END AS decimal(20,0))")


def _bits(label: str, type: SourceType) -> str:
    """SQL of the value of a boolean's text, or of a BIT's text of binary digits; NULL for another
    text.
    """
    if type.name == "boolean":
        return let(
            LOWER.format(label),
            "l",
            "CASE WHEN l IN ('t', 'true') THEN true WHEN l IN ('f', 'false') THEN false END",
        )
    number = let(
        label, "l", f"CASE WHEN l RLIKE r'^[01]{{1,{type.length}}}\\z' THEN conv(l, 2, 10) END"
    )
    return (
        f"CAST(CAST({number} AS int) AS boolean)"
        if type.spark == "boolean"
        else f"try_cast({number} AS {type.spark})"
    )
