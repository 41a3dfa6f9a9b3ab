"""What each profile's messages no longer hold of the source's values, and the cells that no column's type can hold.

Source: the facts that each loss cites.
"""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from generators.families.debezium import mysql as _debezium_mysql
from generators.families.debezium import postgresql as _debezium_postgresql
from generators.families.debezium.values import DebeziumCell, two_complement
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.garbage.faults import CellFault
from generators.model import Logical, SourceType, State, Value
from generators.sources import mysql
from generators.sources.boundaries import slug
from generators.sources.registry import source
from generators.wire_format import Loss


def wire_of(profile: DebeziumProfile, type: SourceType, value: Value) -> DebeziumCell:
    """A streamed value of a nullable column in that profile's form."""
    wire = _debezium_mysql.wire if profile.is_mysql else _debezium_postgresql.wire
    return wire(type, value, profile.modes)


def losses(profile: DebeziumProfile) -> tuple[Loss, ...]:
    """What is lost whoever decodes: rows of a MINIMAL binlog, digits of doubles, microseconds of Connect's logical types."""
    return tuple(_losses(profile))


def _losses(profile: DebeziumProfile) -> Iterator[Loss]:
    def left(type: SourceType, value: Value) -> Value:
        cell = wire_of(profile, type, value).cell
        return cell.options[0] if cell.state is State.ONE_OF else cell.value

    if profile.image == "minimal":
        statement = "UPDATE and DELETE of a MINIMAL row image are not emitted"
        yield Loss((), statement, "debezium#minimal-image", None)
    if profile.modes.decimal == "double":
        yield Loss((Logical.DECIMAL,), "DECIMAL as double keeps some 17 digits", "debezium#decimal-double", left)
    if profile.modes.money_digits < 2:

        def rounded(type: SourceType, value: Value) -> Value:
            return left(type, value) if type.name == "money" else value

        yield Loss((Logical.DECIMAL,), "money is rounded to money.fraction.digits", "debezium#money", rounded)
    if profile.modes.temporal == "connect":
        statement = "Connect's Timestamp and Time hold milliseconds, and a time of day alone"
        yield Loss((Logical.DATETIME, Logical.TIME), statement, "debezium#connect-times", left)
    if profile.modes.temporal == "isostring":
        yield Loss((Logical.TIME,), "IsoTime is a time of day alone", "debezium#time-of-day", left)
    if profile.is_mysql:
        yield Loss((Logical.DATE, Logical.YEAR), "zero dates are NULL, years 1 to 99 move", "debezium#dates-moved", left)


@dataclass(frozen=True, slots=True)
class _Unfit:
    """A value of a column, by its names in MySQL and PostgreSQL ("" where there is none), and the JSON of a value that the type
    cannot hold, by the last part of the schema's name, or by its type where it has none."""

    name: str
    mysql: str
    postgresql: str
    value: Value
    bad: Mapping[str, str]
    kept: Value | None = None


def _base64(raw: bytes) -> str:
    return f'"{base64.b64encode(raw).decode()}"'


_ELEVEN: Final = 12_345_678_925
_SECONDS: Final = (11 * 3600 + 12 * 60 + 13) * mysql.MICROS
_MOMENT: Final = mysql.wall("2021-07-19 11:12:13")

_UNFIT: Final = (
    _Unfit("cell-int", "int", "integer", 1234567891, {"int32": '"12x4"'}),
    _Unfit("cell-int-over", "int", "integer", 1234567892, {"int32": "2147483648"}),
    _Unfit("cell-smallint-over", "smallint", "smallint", 12345, {"int16": "32768"}),
    _Unfit("cell-int-fraction", "int", "integer", 1234567893, {"int32": "1234567893.5"}),
    _Unfit("cell-bigint-over", "bigint", "bigint", 1234567890123456789, {"int64": "9223372036854775808"}),
    _Unfit(
        "cell-unsigned-bigint-over",
        "unsigned-bigint",
        "",
        1234567890123456788,
        {"int64": str(1 << 64), "Decimal": _base64(two_complement(1 << 64))},
    ),
    _Unfit("cell-unsigned-bigint-negative", "unsigned-bigint", "", 1234567890123456787, {"Decimal": '"/w=="'}),
    _Unfit(
        "cell-decimal-digits",
        "decimal-10-2",
        "numeric-10-2",
        Decimal("7654321.25"),
        {"Decimal": _base64(two_complement(_ELEVEN)), "string": '"123456789.25"', "double": "123456789.25"},
        kept=Decimal("123456789.25"),
    ),
    _Unfit(
        "cell-decimal-text",
        "decimal-10-2",
        "numeric-10-2",
        Decimal("7654321.75"),
        {"Decimal": '"7654321.75"', "string": '"7,654,321.75"', "double": '"7654321x"'},
    ),
    _Unfit("cell-decimal-empty", "decimal-10-2", "numeric-10-2", Decimal("7654321.50"), {"Decimal": '""', "string": '""'}),
    _Unfit("cell-variable-scale", "", "numeric", Decimal("7654321.625"), {"VariableScaleDecimal": '{"scale":3}'}),
    _Unfit("cell-float", "float", "real", 12345.5, {"float": '"1.2.3"', "double": '"1.2.3"'}),
    _Unfit("cell-double", "double", "double-precision", 54321.25, {"double": '"5432x"'}),
    _Unfit("cell-bit", "bit-8", "bit-8", 173, {"Bits": _base64(b"\x00\x01")}),
    _Unfit("cell-bit-base64", "bit-8", "bit-8", 171, {"Bits": '"%%%%"'}),
    _Unfit("cell-boolean", "bit-1", "boolean", 1, {"boolean": '"yes"'}),
    _Unfit("cell-date", "date", "date", dt.date(2021, 7, 19), {"Date": '"18827x"', "IsoDate": '"2021-13-45Z"'}),
    _Unfit(
        "cell-datetime",
        "datetime-0",
        "timestamp-0",
        _MOMENT,
        {"Timestamp": '"2021-07-19 25:61:61"', "IsoTimestamp": '"2021-07-19T25:61:61Z"'},
    ),
    _Unfit("cell-timestamp", "timestamp-0", "timestamptz-0", _MOMENT + 1_000_000, {"ZonedTimestamp": '"2021-07-19T25:61:61Z"'}),
    _Unfit("cell-time", "time-0", "time-0", _SECONDS, {"MicroTime": '"99:99"', "Time": '"99:99"', "IsoTime": '"99:99:99Z"'}),
    _Unfit("cell-year", "year", "", 2019, {"Year": '"20x4"'}),
    _Unfit("cell-binary", "varbinary", "bytea", b"unfit cell", {"bytes": '"%%%%"', "string": '"%%%%"'}),
)


def cell_faults(profile: DebeziumProfile) -> tuple[CellFault, ...]:
    """The unfit cells of the profile's database, in the profile's forms; the column's name makes each fragment unique."""
    faults = []
    for unfit in _UNFIT:
        name = unfit.mysql if profile.is_mysql else unfit.postgresql
        if not name:
            continue
        wire = wire_of(profile, source(profile.source).types[name], unfit.value)
        bad = unfit.bad.get(wire.schema.name.rpartition(".")[2] or wire.schema.type)
        if bad is not None:
            member = f'"c_{slug(name)}":'
            faults.append(CellFault(unfit.name, f"c_{slug(name)}", unfit.value, member + wire.json, member + bad, unfit.kept))
    return tuple(faults)
