"""Writes `tests/shared/literals/debezium-sqlserver.txt`: what the value converters of Debezium's SQL
Server connector make of each type's boundary values in each mode, release by release. No database
is needed: dates and times go through the driver's own reader of them.

    python -m recorders.debezium_sqlserver           writes the file again
    python -m recorders.debezium_sqlserver --check   exit 1 if it would change

Needs a JDK, and the Maven registry for the connector's jars the first time.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import click

from conformance.brokers.jars import Note, jars_of
from generators.families.debezium.sqlserver import is_large, read_nanos
from generators.families.debezium.values import BINARY_MODES, DECIMAL_MODES, Modes, TemporalMode
from generators.formats.debezium_json.envelope import sqlserver_size
from generators.model import Logical, SourceType, Value
from generators.sources import sqlserver
from generators.sources.sqlserver_types import sqlserver_types
from recorders.debezium_types import run_program
from recorders.products import debezium_bundle

FILE: Final = "tests/shared/literals/debezium-sqlserver.txt"
RELEASES: Final = ("2.5.4.Final", "3.6.1.Final")
_NANOS_OF_DAY: Final = 86_400 * 10**9
_FIRST_DAY: Final = 719_162
"""Days from 0001-01-01 to 1970-01-01."""
_FIRST_DAY_OF_1900: Final = 25_567
"""Days from 1900-01-01 to 1970-01-01."""


@dataclass(frozen=True, slots=True)
class Request:
    """A value of a type in some modes, of which the connector is asked what it makes of it.
    `streamed`: the value is of a change that was read, else of a snapshot's row.
    """

    type_name: str
    value_name: str
    value: Value
    modes: Modes
    streamed: bool = True

    @property
    def type(self) -> SourceType:
        """The type of the value."""
        return sqlserver.TYPES[self.type_name]

    @property
    def name(self) -> str:
        """The request as the file of recorded values names it, in one word: type, value, modes."""
        modes = self.modes
        where = "streamed" if self.streamed else "snapshot"
        parts = (
            self.type_name,
            self.value_name,
            where,
            modes.decimal,
            modes.temporal,
            modes.binary,
        )
        return "/".join(parts)


class Sent(NamedTuple):
    """A value as the driver gives it to the connector: `word` names the Java class for the program,
    `text` is its text.
    """

    word: str
    text: str


SEVENTH_DIGITS: Final = {
    "datetime2-7": "2024-01-02 03:04:05.1234567",
    "time-7": "03:04:05.1234567",
    "datetimeoffset-7": "1969-12-31 23:59:59.9999999 +05:30",
}
"""Values with a seventh fraction digit, or with an offset."""
_TEMPORALS: Final[tuple[TemporalMode, ...]] = (
    "adaptive",
    "connect",
    "adaptive_time_microseconds",
    "isostring",
    "microseconds",
)
_SINCE_3: Final = ("isostring", "microseconds")
"""The temporal modes that releases before 3 do not have."""


def requests(release: str) -> Iterator[Request]:
    """Yields each type's boundary values, and one with a seventh fraction digit, in every mode that
    changes what is written of the type. A TIME comes as a change and as a snapshot's row, since the
    connector may read it in two ways (`sent_value`).
    """
    for type_name, type in sqlserver.TYPES.items():
        named_values = dict(sqlserver.boundary_values(type_name))
        if type_name in SEVENTH_DIGITS:
            named_values["seventh-digit"] = SEVENTH_DIGITS[type_name]
        for value_name, value in named_values.items():
            for modes in modes_of(type, release):
                yield Request(type_name, value_name, value, modes)
                if type.logical is Logical.TIME:
                    yield Request(type_name, value_name, value, modes, streamed=False)


def modes_of(type: SourceType, release: str) -> Iterator[Modes]:
    """Yields the modes that make a difference for the type; each mode that makes none has its
    default.
    """
    plain = release_modes(release)
    match type.logical:
        case Logical.DECIMAL:
            for decimal in DECIMAL_MODES:
                yield replace(plain, decimal=decimal)
        case Logical.BINARY:
            for binary in BINARY_MODES:
                yield replace(plain, binary=binary)
        case Logical.DATE | Logical.DATETIME | Logical.TIME:
            for temporal in _TEMPORALS:
                if release.startswith("3") or temporal not in _SINCE_3:
                    yield replace(plain, temporal=temporal)
        case _:
            yield plain


def release_modes(release: str) -> Modes:
    """What a release of Debezium's SQL Server connector does by default with times and large
    values.
    """
    is_new = release.startswith("3")
    return Modes(
        temporal="adaptive",
        checks_nanos=is_new,
        unavailable_large_values=is_new,
        streams_time_in_millis=not is_new,
    )


def sent_value(request: Request) -> Sent:
    """The value of a request as SQL Server's driver gives it to the connector: a word for its Java
    type, and its text.
    """
    type, value = request.type, request.value
    match type.logical, value:
        case Logical.INT, int():
            word = {"tinyint": "short", "smallint": "short", "bigint": "long"}.get(type.name, "int")
            return Sent(word, str(value))
        case Logical.BIT, int():
            return Sent("boolean", str(bool(value)).lower())
        case Logical.DECIMAL, Decimal():
            return Sent("decimal", f"{value:f}")
        case Logical.FLOAT, float():
            return Sent("float", repr(value))
        case Logical.DOUBLE, float():
            return Sent("double", repr(value))
        case Logical.TEXT, str():
            return Sent("string", escaped(value))
        case Logical.BINARY, bytes():
            return Sent("bytes", value.hex())
        case Logical.DATE, date():
            return Sent("DATE", f"{value.toordinal() - 1},0,0")
    return _sent_moment(request)


def _sent_moment(request: Request) -> Sent:
    """A time, or a date and time, as the driver makes it from the numbers that the server sends:
    the text has the days, the nanoseconds (or, of a datetime, milliseconds) of the day, and the
    scale or the offset in minutes, with commas between them.
    """
    type, value = request.type, request.value
    minutes = 0
    if isinstance(value, str):
        moment = f"1970-01-01 {value}" if type.logical is Logical.TIME else value
        moment, _, offset = moment.partition(" +") if " +" in moment else (moment, "", "")
        minutes = int(offset[:2] or 0) * 60 + int(offset[3:5] or 0)
        nanos = read_nanos(moment) - minutes * 60 * 10**9
    else:
        assert isinstance(value, int)
        nanos = value * 1000
    days, nanos_of_day = divmod(nanos, _NANOS_OF_DAY)
    if type.name in ("datetime", "smalldatetime"):
        # The driver reads both as datetime.
        return Sent("DATETIME", f"{days + _FIRST_DAY_OF_1900},{nanos_of_day // 10**6},3")
    if type.logical is Logical.TIME:
        # Up to release 2.5 a streamed time goes through java.sql.Time, which has milliseconds.
        in_millis = request.streamed and request.modes.streams_time_in_millis
        return Sent("STREAMED_TIME" if in_millis else "TIME", f"0,{nanos_of_day},{type.scale}")
    last = minutes if type.logical is Logical.TIMESTAMP else type.scale
    return Sent(type.name.upper(), f"{days + _FIRST_DAY},{nanos_of_day},{last}")


def escaped(value_text: str) -> str:
    """A text with the UTF-16 units that are not plain ASCII as a back-slash and four digits."""
    units = memoryview(value_text.encode("utf-16-le")).cast("H")
    plain = (0x20 <= unit < 0x7F and unit != 0x5C for unit in units)
    return "".join(
        chr(unit) if is_plain else f"\\{unit:04x}"
        for unit, is_plain in zip(units, plain, strict=True)
    )


def request_line(request: Request) -> str:
    """The line of the Java program DebeziumSqlServer that asks for a value. It has, with tabs
    between: `value`, the column's type as the driver reports it, its JDBC number, length and scale
    (`-` for none), whether it is nullable (it always is), the modes, and the value as the driver
    gives it.
    """
    type_row = sqlserver_types()[request.type.name]
    length, scale = sqlserver_size(request.type)
    size = ["-" if number is None else str(number) for number in (length, scale)]
    modes, driver_value = request.modes, sent_value(request)
    column = ("value", type_row.reported or type_row.name, str(type_row.jdbc), *size, "true")
    options = (modes.decimal, modes.temporal, modes.binary)
    return "\t".join((*column, *options, *driver_value))


def unavailable_lines() -> Iterator[tuple[str, str]]:
    """Yields, for each large type, the name of a request and the program's line for the placeholder
    of a value that the source did not send.
    """
    for type_name, type in sqlserver.TYPES.items():
        if is_large(type):
            type_row = sqlserver_types()[type.name]
            options = "-\t-\ttrue\tprecise\tadaptive\tbytes\tunavailable\t"
            yield (
                f"{type_name}/unavailable",
                f"value\t{type_row.reported or type_row.name}\t{type_row.jdbc}\t{options}",
            )


def read_release(release: str, note: Note) -> tuple[str, ...]:
    """What one release of Debezium's SQL Server connector makes of each requested value, as lines
    of the recorded file, by running the connector's own converters. Raises HarnessError.
    """
    all_requests = list(requests(release))
    lines = {request.name: request_line(request) for request in all_requests}
    if release.startswith("3"):
        lines |= dict(unavailable_lines())
    jars = jars_of(debezium_bundle("sqlserver", release), note)
    results = run_program(
        "DebeziumSqlServer", jars, "".join(f"{line}\n" for line in lines.values())
    )
    return tuple(
        f"{release} {name} {json.dumps(json.loads(result), separators=(',', ':'))}"
        for name, result in zip(lines, results, strict=True)
    )


def file_text(releases: Sequence[str], note: Note) -> str:
    """The text of the recorded file: what each of these releases of Debezium's SQL Server connector
    makes of each requested value. Raises HarnessError.
    """
    with ThreadPoolExecutor(1) as pool:
        parts = list(pool.map(partial(read_release, note=note), releases))
    return "".join(f"{line}\n" for line in itertools.chain.from_iterable(parts))


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the file would change.")
def main(check: bool) -> None:
    """Writes, or checks with --check, what the connector's classes make of values."""
    file = Path(__file__).parents[1] / FILE
    new_text = file_text(RELEASES, partial(click.echo, err=True))
    if check:
        sys.exit(0 if file.read_text("utf-8") == new_text else 1)
    file.write_text(new_text, "utf-8")


if __name__ == "__main__":
    main()
