"""Debezium's semantic types: how the connectors hand a database value to Kafka Connect, whatever
the database.

Source: the pages debezium and connect of the sources. Option values are Debezium's own: `decimal`
is `decimal.handling.mode` (precise, double, string; numeric is precise with
`decimal.format=NUMERIC` of the converter), `temporal` is `time.precision.mode` (adaptive,
adaptive_time_microseconds, connect, isostring, microseconds, nanoseconds, structured), `binary` is
`binary.handling.mode` (bytes, base64, base64-url-safe, hex), `bigint_unsigned` is
`bigint.unsigned.handling.mode` (long, precise), `interval` is `interval.handling.mode` (numeric,
string), `hstore` is `hstore.handling.mode` (json, map), `money_digits` `money.fraction.digits`.
"""

from __future__ import annotations

import base64
import json as jsons
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any, Final, Literal, TypeAlias

from generators.families.connect import Schema, payload_text
from generators.families.java_text import double_text, java_decimal, two_complement, unscaled
from generators.families.wire_messages import Raw
from generators.model import Cell, Deployment, Logical, SourceType, State, Value
from generators.sources.mysql import to_float32

MICROS: Final = 1_000_000
DAY: Final = 86_400 * MICROS

DECIMALS: Final = ("precise", "double", "string", "numeric")
"""The values of `decimal.handling.mode`, and `numeric`."""
TEMPORALS: Final = (
    "adaptive_time_microseconds",
    "adaptive",
    "connect",
    "isostring",
    "microseconds",
    "nanoseconds",
    "structured",
)
"""The values of `time.precision.mode`."""
BINARIES: Final = ("bytes", "base64", "base64-url-safe", "hex")
"""The values of `binary.handling.mode`."""
UNSIGNEDS: Final = ("long", "precise")
"""The values of `bigint.unsigned.handling.mode`."""


DecimalMode: TypeAlias = Literal["precise", "double", "string", "numeric"]
"""`decimal.handling.mode`, or `numeric`: the JSON converter's `decimal.format=NUMERIC`."""
DECIMAL_MODES: Final[tuple[DecimalMode, ...]] = ("precise", "double", "string")
"""The values of `decimal.handling.mode`."""
TemporalMode: TypeAlias = Literal[
    "adaptive",
    "adaptive_time_microseconds",
    "connect",
    "isostring",
    "microseconds",
    "nanoseconds",
    "structured",
]
"""`time.precision.mode`."""
BinaryMode: TypeAlias = Literal["bytes", "base64", "base64-url-safe", "hex"]
"""`binary.handling.mode`."""
BINARY_MODES: Final[tuple[BinaryMode, ...]] = ("bytes", "base64", "base64-url-safe", "hex")
IntervalMode: TypeAlias = Literal["numeric", "string"]
"""`interval.handling.mode`."""
INTERVAL_MODES: Final[tuple[IntervalMode, ...]] = ("numeric", "string")


@dataclass(frozen=True, slots=True)
class Modes:
    """What decides how a connector writes values: its options, and what its releases do
    differently. The defaults are those of release 3.5.
    """

    decimal: DecimalMode = "precise"
    temporal: TemporalMode = "adaptive_time_microseconds"
    binary: BinaryMode = "bytes"
    bigint_unsigned: Literal["long", "precise"] = "long"
    interval: IntervalMode = "numeric"
    hstore: Literal["json", "map"] = "json"
    money_digits: int = 2
    escapes_labels: bool = True
    """Commas in labels of streamed ENUM values are escaped."""
    escapes_commas: bool = True
    """A label of the DDL parser has its commas escaped; since 3.7 only the list of labels in a
    schema has, and its backslashes, too."""
    signed_tinyint: Literal["int8", "int16"] = "int16"
    """The type of a signed TINYINT; int8 since 3.7."""
    year_zero: int = 1900
    """The year that a streamed YEAR 0 becomes."""
    adjusts_years: bool = True
    """`enable.time.adjuster`."""
    avro: bool = False
    """The converter is Avro's, of which level one has a decimal's digits and the shortest of a
    float."""
    plain_decimals: bool = True
    """A decimal as text has no exponent (since 1.9)."""
    unsigned_precision: int = 20
    """The precision in the schema of a BIGINT UNSIGNED as Decimal, 0 for none (before 2.4)."""
    float_schema: Literal["float", "double"] = "float"
    """The type of MySQL's FLOAT; before 2.0 it is widened to a double."""
    columns: str = "3.5.0.Final"
    """The connector whose readings of columns' definitions these are (mysql_columns.toml)."""
    misreads_time: bool = False
    """A streamed TIME is read wrongly from the binlog (before 2.0)."""
    pads_timestamps: bool = True
    """A streamed TIMESTAMP has the fraction digits that its column declares (since 2.2), else as
    many as needed."""
    zero_timestamp_is_epoch: bool = True
    """A streamed zero TIMESTAMP is 1970-01-01T00:00:00Z (before 3.6), else null."""
    money_follows_decimal: bool = True
    """`money` follows `decimal.handling.mode` (since 1.8)."""
    money_is_double: bool = False
    """`money` is read as a double (before 2.0)."""
    snapshot_money_is_double: bool = True
    """`money` is read as a double in snapshots (before 3.6)."""
    snapshot_loses_varbit: bool = True
    """varbit(1) is lost in snapshots (before 3.6)."""
    loses_streamed_ltree: bool = False
    """A streamed ltree is lost (before 2.0)."""
    has_tsvector: bool = True
    """tsvector has a schema; up to 2.5 it is a type that the connector does not know."""
    has_bytea_arrays: bool = True
    """bytea[] and oid[] have a schema (since 2.0)."""
    unavailable_arrays: bool = True
    """An array that was not sent has the placeholder (since 2.1), else it is null."""
    unavailable_hstore_is_object: bool = True
    """An hstore that was not sent is an object of the placeholder (since 2.5), else the placeholder
    alone."""
    checks_nanos: bool = False
    """A moment beyond 64 bits of nanoseconds is null (since 3.6), else they overflow."""
    streams_time_in_millis: bool = False
    """A streamed `time` of SQL Server has milliseconds (2.5)."""
    unavailable_large_values: bool = False
    """A NULL of SQL Server's text, ntext, image and xml that an UPDATE did not change is written as
    the placeholder (3.6), else as null."""
    keeps_end_of_day: bool = False
    """A time with zone of 24:00:00 at UTC stays that, and elements of timetz[] keep their fraction
    digits (3.7), else it is 00:00:00."""
    infinities_are_millis: bool = False
    """An infinite timestamp is the driver's number as milliseconds (3.7), else as microseconds."""
    infinite_day: int = -2_147_472_692
    """The days since 1970 of a streamed date that is infinite; others from 3.7 on."""
    knows_shapes: bool = False
    """box and circle have schemas of their own (3.7), else their types are unknown."""
    extended_geometry: bool = False
    """A geometry has the field extensions (3.7)."""
    integers_follow_decimal: bool = False
    """A NUMBER(p) of Oracle is written as `decimal.handling.mode` says where that is not precise
    (3.6), else as an integer."""

    @property
    def precise(self) -> bool:
        """Whether `decimal.handling.mode` is precise as the connector sees it: `numeric` is, since
        it is an option of the converter, which writes such numbers otherwise.
        """
        return self.decimal in ("precise", "numeric")

    @property
    def deployment(self) -> Deployment:
        """The options of the connector that a decoder must know and that messages without schema do
        not show, as a Deployment.
        """
        return Deployment(
            binary=self.binary,
            decimal=self.decimal,
            temporal=self.temporal,
            bigint_unsigned=self.bigint_unsigned,
        )


@dataclass(frozen=True, slots=True)
class Meaning:
    """A Connect value (`value`), and what a reader of it gets. `canonical` is the source's value,
    or `options` are several that the bytes leave open. `reason` says why a reader does not get the
    source's value, "" if it does. `lost` says that the source's value cannot be recovered at all: a
    reader may return anything but `options`. `corrupt` says that the value no longer fits the
    column, so that a reader may refuse the message.
    """

    value: Any
    canonical: Value = None
    reason: str = ""
    options: tuple[Value, ...] = ()
    lost: bool = False
    corrupt: bool = False


@dataclass(frozen=True, slots=True)
class DebeziumCell:
    """A column of a row as a message has it: its Connect schema, its Connect value and the JSON of
    that, and the cell that a decoder must return for it.

    `corrupt` says that a decoder may refuse the message, since the value does not fit the column's
    type.
    """

    schema: Schema
    value: Any
    json: str
    cell: Cell
    corrupt: bool = False


CellWriter: TypeAlias = Callable[[SourceType, Value], DebeziumCell]
"""The function that writes a value of a column of this type: it gives the column as a message has
it, with the cell that a decoder must return.
"""


def wire_values(write_cell: CellWriter) -> Callable[[SourceType, Value], Value]:
    """The function that gives, for a value of a column of a type, the value that a reader of its
    message gets: the same, or another one if the message loses some of it. `write_cell` writes the
    cells.
    """

    def wire_value(type: SourceType, value: Value) -> Value:
        """The value that a reader gets; the first one if there are several."""
        cell = write_cell(type, value).cell
        return cell.options[0] if cell.state is State.ONE_OF else cell.value

    return wire_value


def wired(
    schema: Schema, type: SourceType, cls: str, meaning: Meaning, modes: Modes
) -> DebeziumCell:
    """The cell of a column with this schema, type and class of values (`cls`), for what the
    connector writes (`meaning`). A null under an optional schema is a cell that is NULL, with the
    reason if there is one.
    """
    value = meaning.value
    json = payload_text(schema, value)
    if json == "null":
        return DebeziumCell(
            schema,
            None,
            json,
            Cell(State.NULL, type, cls=cls, reason=meaning.reason),
            meaning.corrupt,
        )
    cell_text, is_json = (modes.avro and _avro_text(schema, value)) or wire_text(value, json)
    state = State.ONE_OF if meaning.options else State.VALUE
    cell = Cell(
        State.ANY if meaning.lost else state,
        type,
        meaning.canonical,
        cell_text,
        cls,
        is_json,
        meaning.options,
        meaning.reason,
    )
    return DebeziumCell(schema, value, json, cell, meaning.corrupt)


def wire_text(value: Any, json: str) -> tuple[str, bool]:
    """The text that a decoder returns at level one for a Connect value, and whether that text is a
    JSON value other than a string. `json` is the value's JSON.
    """
    if not json.startswith('"'):
        return json, True
    if isinstance(value, str):
        return value, False
    return (
        json[1:-1],
        False,
    )  # base64, and the names of the numbers that JSON has not: nothing to unescape


def _avro_text(schema: Schema, value: Any) -> tuple[str, bool] | None:
    """The text that a decoder returns at level one, and whether that text is JSON, for a value that
    AvroConverter does not write as JSON is written: a decimal, an array of decimals, or a float.
    None for any other value. A decimal is its digits, an array the JSON of its decimals' texts.
    """
    if schema.type == "float" and math.isfinite(value):
        return shortest(value), True
    item = schema.items if schema.items and schema.type == "array" else schema
    if not item.name.endswith("data.Decimal"):
        return None
    scale = int(dict(item.parameters)["scale"])
    numbers = value if item is not schema else [value]
    texts = [
        raw and java_decimal(int.from_bytes(raw, signed=True), scale, plain=True) for raw in numbers
    ]
    return (
        (texts[0], False) if item is schema else (jsons.dumps(texts, separators=(",", ":")), True)
    )


def shortest(value: float) -> str:
    """The text of a binary32 with the fewest digits that identify it, such as `1e+00`; Java prints
    other digits.
    """
    single = to_float32(value)
    texts = (f"{single:.{digits}e}" for digits in range(9))
    return next(digits_text for digits_text in texts if to_float32(float(digits_text)) == single)


def semantic(type_: str, name: str, optional: bool, *parameters: tuple[str, str]) -> Schema:
    """The Connect schema with the name of a Debezium semantic type, in version 1."""
    return Schema(type_, optional, name, 1, parameters=parameters)


_WKB: Final = Schema("bytes")
_SRID: Final = Schema("int32", True)
_XY: Final = (("x", Schema("double")), ("y", Schema("double")))


def point_schema(optional: bool) -> Schema:
    """The Connect schema of a point: a struct of its coordinates, its well-known binary and the
    number of its reference system.
    """
    fields = (*_XY, ("wkb", Schema("bytes", True)), ("srid", _SRID))
    return Schema(
        "struct", optional, "io.debezium.data.geometry.Point", 1, "Geometry (POINT)", fields=fields
    )


def geometry_schema(modes: Modes) -> Schema:
    """The Connect schema of any spatial value but a point: a struct of its well-known binary and
    the number of its reference system; since 3.7 also of texts by name, such as the source's type
    (debezium#shapes). It is optional in a NOT NULL column, too.
    """
    fields: tuple[tuple[str, Schema], ...] = (("wkb", _WKB), ("srid", _SRID))
    if modes.extended_geometry:
        fields = (*fields, ("extensions", Schema("map", True, items=Schema("string"))))
    version = 2 if modes.extended_geometry else 1
    return Schema(
        "struct", True, "io.debezium.data.geometry.Geometry", version, "Geometry", fields=fields
    )


def circle_schema() -> Schema:
    """The Connect schema of a circle: a struct of its center, a point, and its radius. It is
    optional in a NOT NULL column, too.
    """
    fields = (("center", point_schema(False)), ("radius", Schema("double")))
    return Schema(
        "struct",
        True,
        "io.debezium.data.geometry.Circle",
        1,
        "Geometry (CIRCLE)",
        fields=fields,
    )


# Decimals


def decimal_schema(
    precision: int | None, scale: int, modes: Modes, optional: bool, *, mode: str = ""
) -> Schema:
    """The Connect schema of a decimal of fixed scale, by the mode in which decimals are written;
    `mode` overrides `modes.decimal`. `precision` None leaves out that parameter.
    """
    match mode or modes.decimal:
        case "double":
            return Schema("double", optional)
        case "string":
            return Schema("string", optional)
    parameters = [("scale", str(scale))]
    if precision is not None:
        parameters.append(("connect.decimal.precision", str(precision)))
    return semantic("bytes", "org.apache.kafka.connect.data.Decimal", optional, *parameters)


def decimal_value(
    value: Decimal, precision: int, scale: int, modes: Modes, *, mode: str = ""
) -> Meaning:
    """What the connector writes for a decimal of a fixed scale, and what a reader gets of it, by
    the mode in which decimals are written; `mode` overrides `modes.decimal`, "" does not. The value
    is padded to the scale, as the database has it. A decoder may refuse a JSON number (mode
    numeric) of a column with more than 38 digits, which no Spark type holds (`corrupt`).
    """
    number = unscaled(value, scale)
    match mode or modes.decimal:
        case "double":
            return double_of(value, precision, scale)
        case "string":
            return Meaning(java_decimal(number, scale, plain=modes.plain_decimals), value)
    wide = modes.decimal == "numeric" and max(precision, scale) > 38
    return Meaning(
        connect_decimal(number, scale, modes), value, _WIDE if wide else "", corrupt=wide
    )


_WIDE: Final = "a JSON number of more than 38 digits has no Spark type"
"""Why a decoder may refuse a decimal that stands as a JSON number."""


def zero_decimal(schema: Schema, modes: Modes) -> bytes | Raw:
    """The number 0 as a value of this Connect Decimal schema."""
    return connect_decimal(0, int(dict(schema.parameters)["scale"]), modes)


def connect_decimal(number: int, scale: int, modes: Modes) -> bytes | Raw:
    """The Connect Decimal of an unscaled number: its two's complement in bytes, or a JSON number
    where the converter's option decimal.format is NUMERIC (connect#decimal-numeric).
    """
    return (
        Raw(java_decimal(number, scale, plain=False))
        if modes.decimal == "numeric"
        else two_complement(number)
    )


_DOUBLE: Final = "decimal.handling.mode double keeps some 17 digits"
"""Why a decimal that is written as a double is not the source's."""


def double_of(
    value: Decimal, precision: int, scale: int, print_double: Callable[[float], str] = double_text
) -> Meaning:
    """What the connector writes for a decimal as a double, and what a reader gets of it. If that is
    not the decimal itself, it is one of two numbers, rounded to the column's scale: the double's
    exact number, or that of the text which `print_double` makes of the double.
    """
    double = float(value)
    if math.isinf(double):
        return Meaning(
            double, value, f"{_DOUBLE}: this one is beyond a double", lost=True, corrupt=True
        )
    with localcontext() as context:
        context.prec = 1100 + max(scale, 0)
        quantum = Decimal(1).scaleb(-scale)
        printed_number, binary = Decimal(print_double(double)), Decimal(double)
        near = tuple(
            dict.fromkeys(n.quantize(quantum, ROUND_HALF_UP) for n in (printed_number, binary))
        )
        if near == (value,):
            return Meaning(double, value)
        if any(abs(n) >= Decimal(10) ** (precision - scale) for n in near):
            return Meaning(
                double,
                value,
                f"{_DOUBLE}: this one no longer fits the column",
                lost=True,
                corrupt=True,
            )
        return Meaning(
            double, value, _DOUBLE, options=(*near, printed_number) if precision > 38 else near
        )


# Dates and times


_CONNECT: Final = "org.apache.kafka.connect.data"
_OWN: Final = "io.debezium.time"
_SCHEMAS: Final = {
    "connect": {
        "Date": ("int32", f"{_CONNECT}.Date"),
        "Timestamp": ("int64", f"{_CONNECT}.Timestamp"),
        "Time": ("int32", f"{_CONNECT}.Time"),
    },
    "isostring": {kind: ("string", f"{_OWN}.Iso{kind}") for kind in ("Date", "Timestamp", "Time")},
    "microseconds": {"Timestamp": ("int64", f"{_OWN}.MicroTimestamp")},
    "nanoseconds": {kind: ("int64", f"{_OWN}.Nano{kind}") for kind in ("Timestamp", "Time")},
}
"""Types and names by time.precision.mode, where they are not those of the adaptive modes."""


def _temporal_schema(kind: str, modes: Modes, optional: bool, type: str, name: str) -> Schema:
    """The Connect schema of a `Date`, `Time` or `Timestamp` (`kind`) in the mode of times; `type`
    and `name` are those of the adaptive modes.
    """
    type, name = _SCHEMAS.get(modes.temporal, {}).get(kind, (type, f"{_OWN}.{name}"))
    return semantic(type, name, optional)


def date_schema(modes: Modes, optional: bool) -> Schema:
    """The Connect schema of a DATE: a number of days since 1970, or in mode isostring a text."""
    return _temporal_schema("Date", modes, optional, "int32", "Date")


def date_value(days: int, modes: Modes) -> int | str:
    """The Connect value of a DATE, from its days since 1970-01-01: the days, or in mode isostring a
    text.
    """
    return f"{iso_date(days)}Z" if modes.temporal == "isostring" else days


def datetime_schema(fsp: int, modes: Modes, optional: bool) -> Schema:
    """The Connect schema of a date and time without zone of `fsp` fraction digits."""
    return _temporal_schema(
        "Timestamp", modes, optional, "int64", "Timestamp" if fsp <= 3 else "MicroTimestamp"
    )


def counts_milliseconds(fsp: int, modes: Modes) -> bool:
    """Whether a date and time without zone of `fsp` fraction digits is written as milliseconds."""
    return datetime_schema(fsp, modes, True).name.rpartition(".")[2] == "Timestamp"


_NO_MICROS: Final = "milliseconds are all that Connect's logical types hold"
_OVERFLOW: Final = "nanoseconds overflow 64 bits silently"


def datetime_value(micros: int, fsp: int, modes: Modes) -> Meaning:
    """What the connector writes for a date and time without zone of `fsp` fraction digits, and what
    a reader gets of it; `micros` are the microseconds of its wall clock since 1970-01-01.
    """
    match modes.temporal:
        case "connect":
            millis = micros // 1000
            return Meaning(millis, millis * 1000, _NO_MICROS if micros % 1000 else "")
        case "isostring":
            return Meaning(f"{iso_datetime(micros)}Z", micros)
        case "nanoseconds":
            nanos = micros * 1000
            wrapped = wrap(nanos)
            if wrapped == nanos:
                return Meaning(wrapped, micros)
            # Mostly the other value has more digits than the column.
            return Meaning(
                wrapped, micros, _OVERFLOW, lost=True, corrupt=bool(wrapped % 10 ** (9 - fsp))
            )
    millis = fsp <= 3 and modes.temporal != "microseconds"
    return Meaning(micros // 1000 if millis else epoch_micros(micros), micros)


def epoch_micros(micros: int) -> int:
    """Microseconds since 1970 as Java computes them in a long: the seconds stop at the long's
    limits, the fraction that is added then wraps around (debezium#beyond-micros).
    """
    seconds, fraction = divmod(micros, MICROS)
    saturated = min(max(seconds * MICROS, -(1 << 63)), (1 << 63) - 1)
    return wrap(saturated + fraction)


def time_schema(fsp: int, modes: Modes, optional: bool) -> Schema:
    """The Connect schema of a time of `fsp` fraction digits."""
    millis = modes.temporal == "adaptive" and fsp <= 3
    return _temporal_schema(
        "Time", modes, optional, *(("int32", "Time") if millis else ("int64", "MicroTime"))
    )


_NO_DAY: Final = (
    "connect and isostring hold a time of day alone: outside 0 to 24 hours the value is null"
)
_MIDNIGHT: Final = "24:00:00 is written as midnight"


def time_value(micros: int, fsp: int, modes: Modes) -> Meaning:
    """What the connector writes for a time of `fsp` fraction digits, and what a reader gets of it;
    `micros` may be negative or more than a day. In the modes connect and isostring a time outside
    of a day is null, but 24:00:00 is still written: as 24 hours by connect, as midnight by
    isostring. The mode decides the unit, too: milliseconds, nanoseconds or microseconds.
    """
    match modes.temporal:
        case "connect" | "isostring" if not 0 <= micros <= DAY:
            return Meaning(None, None, _NO_DAY)
        case "connect":
            millis = micros // 1000
            return Meaning(millis, millis * 1000, _NO_MICROS if micros % 1000 else "")
        case "isostring":
            return Meaning(
                f"{iso_time(micros % DAY)}Z", micros % DAY, _MIDNIGHT if micros == DAY else ""
            )
        case "nanoseconds":
            return Meaning(micros * 1000, micros)
        case "adaptive" if fsp <= 3:
            return Meaning(micros // 1000, micros)
    return Meaning(micros, micros)


def zoned_text(micros: int, digits: int | None) -> str:
    """A moment in UTC, in microseconds since 1970, as `io.debezium.time.ZonedTimestamp` prints it:
    with exactly `digits` fraction digits, or with as many as needed if `digits` is None or 0.
    """
    instant_text = iso_datetime(micros)
    if digits:
        fraction = f"{micros % MICROS:06d}".ljust(digits, "0")[:digits]
        instant_text = f"{instant_text.partition('.')[0]}.{fraction}"
    return f"{instant_text}Z"


def iso_datetime(micros: int) -> str:
    """Microseconds since 1970 as `DateTimeFormatter.ISO_LOCAL_DATE_TIME` prints them: with as many
    fraction digits as needed.
    """
    days, micros_of_day = divmod(micros, DAY)
    return f"{iso_date(days)}T{iso_time(micros_of_day)}"


def iso_time(micros: int) -> str:
    """Microseconds of a day as `DateTimeFormatter.ISO_LOCAL_TIME` prints them: with as many
    fraction digits as needed.
    """
    seconds, fraction = divmod(micros, MICROS)
    time_text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{time_text}.{fraction:06d}".rstrip("0") if fraction else time_text


def iso_date(days: int) -> str:
    """Days since 1970, of any year, as `DateTimeFormatter.ISO_LOCAL_DATE` prints them: a sign
    beyond 9999, four digits at least, 0000 is 1 BC.
    """
    year, month, day = civil(days)
    year_text = f"+{year}" if year > 9999 else f"{year:04d}" if year >= 0 else f"-{-year:04d}"
    return f"{year_text}-{month:02d}-{day:02d}"


def civil(days: int) -> tuple[int, int, int]:
    """The year, month and day of the proleptic Gregorian calendar, from days since 1970-01-01."""
    # Days are counted from 0000-03-01, so that a leap day ends its year, in eras of 400 years.
    era, of_era = divmod(days + 719_468, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def wrap(number: int) -> int:
    """The number that a Java long holds after overflow."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


# Binaries


def binary_schema(modes: Modes, optional: bool) -> Schema:
    """The Connect schema of a binary column: `bytes`, or `string` in the modes that write text."""
    return Schema("bytes" if modes.binary == "bytes" else "string", optional)


def binary_value(value: bytes, modes: Modes) -> bytes | str:
    """The Connect value of a binary column: its bytes, or their text in the mode."""
    match modes.binary:
        case "base64":
            return base64.b64encode(value).decode()
        case "base64-url-safe":
            return base64.urlsafe_b64encode(value).decode()
        case "hex":
            return value.hex()
    return value


# Headers


def header_text(schema: Schema, value: Any) -> str:
    """A value inside of a struct as Connect's `SimpleHeaderConverter` writes it into a record's
    header: in strings only backslashes and quotes are escaped, a date or time is a text, a decimal
    has its digits (connect#header-values).
    """
    match value:
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case int() if schema.name in _DATES:
            return _date_text(value * _DATES[schema.name])
        case bytes() if schema.name.endswith(".Decimal"):
            return java_decimal(
                int.from_bytes(value, signed=True),
                int(dict(schema.parameters)["scale"]),
                plain=False,
            )
        case float() if value != value or value in (float("inf"), float("-inf")):
            return payload_text(schema, value).strip('"')
    return payload_text(schema, value)


_DAY_MS: Final = 86_400_000
_DATES: Final = {
    f"org.apache.kafka.connect.data.{name}": ms
    for name, ms in (("Date", _DAY_MS), ("Time", 1), ("Timestamp", 1))
}
"""How many milliseconds a number stands for, by the name of the schema: Connect's types of dates
and times.
"""


def _date_text(ms: int) -> str:
    """A `java.util.Date` as Connect prints it in UTC: a moment before 1970-01-02 as its time alone,
    a midnight as its date alone.
    """
    days, ms_of_day = divmod(ms, _DAY_MS)
    date = iso_date(days).lstrip("+")
    seconds, milliseconds = divmod(ms_of_day, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    time = f"{hour:02d}:{minute:02d}:{second:02d}.{milliseconds:03d}Z"
    if ms < _DAY_MS:
        return time
    return f"{date}T{time}" if ms_of_day else date


def common_schema(type: SourceType, modes: Modes, optional: bool) -> Schema | None:
    """The Connect schema of a type that the connectors write in the same way whatever the database
    is; None for any other type.
    """
    match type.logical:
        case Logical.DOUBLE:
            return Schema("double", optional)
        case Logical.BIT if type.length == 1:
            return Schema("boolean", optional)
        case Logical.BIT:
            return semantic(
                "bytes", "io.debezium.data.Bits", optional, ("length", str(type.length))
            )
        case Logical.BINARY:
            return binary_schema(modes, optional)
        case Logical.DATE:
            return date_schema(modes, optional)
        case Logical.DATETIME:
            return datetime_schema(type.fsp, modes, optional)
        case Logical.TIME:
            return time_schema(type.fsp, modes, optional)
        case Logical.TIMESTAMP:
            return semantic("string", "io.debezium.time.ZonedTimestamp", optional)
        case Logical.JSON:
            return semantic("string", "io.debezium.data.Json", optional)
        case _:
            return None
