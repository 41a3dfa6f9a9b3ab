"""Writes `tests/shared/literals/debezium-oracle.txt`: what the value converters of Debezium's
Oracle connector make of each type's boundary values in each mode, release by release. No database is
needed: a streamed value is the text that LogMiner has, a value of a snapshot an object of Oracle's
driver.

    python -m recorders.debezium_oracle           writes the file again
    python -m recorders.debezium_oracle --check   exit 1 if it would change

Needs a JDK, and the Maven registry for the connector's jars the first time.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import click

from conformance.brokers.jars import LOGGING, Bundle, Note, jars_of
from generators.families.debezium.oracle import column_size
from generators.families.debezium.sqlserver import iso_datetime, read_nanos
from generators.families.debezium.values import (
    BINARY_MODES,
    DECIMAL_MODES,
    INTERVAL_MODES,
    Modes,
    TemporalMode,
    civil,
)
from generators.model import Logical, SourceType, Value
from generators.sources import oracle
from generators.sources.oracle_types import oracle_types
from recorders.debezium_sqlserver import escaped
from recorders.debezium_types import run_program

FILE: Final = "tests/shared/literals/debezium-oracle.txt"
RELEASES: Final = ("2.5.4.Final", "3.6.1.Final")
_DRIVERS: Final = {"2.5.4.Final": ("ojdbc8", "21.6.0.0"), "3.6.1.Final": ("ojdbc11", "23.26.1.0.0")}
"""The driver that the pom of each release names."""
_SECOND: Final = 10**9
_DAY: Final = 86_400 * _SECOND
"""The nanoseconds of a second, and of a day."""


@dataclass(frozen=True, slots=True)
class Request:
    """A value of a type in some modes, of which the connector is asked what it makes of it.
    `streamed`: the value is of a change that was read from the log, else of a snapshot's row.
    """

    type_name: str
    value_name: str
    value: Value
    modes: Modes
    streamed: bool = True

    @property
    def type(self) -> SourceType:
        """The type of the value."""
        return oracle.TYPES[self.type_name]

    @property
    def name(self) -> str:
        """The request in one word: type, value, how it is read, modes."""
        modes = self.modes
        where = "streamed" if self.streamed else "snapshot"
        options = (modes.decimal, modes.temporal, modes.binary, modes.interval)
        return "/".join((self.type_name, self.value_name, where, *options))


class Sent(NamedTuple):
    """A value as the connector gets it from LogMiner or the driver: `word` names the Java class for
    the program, `spelling` is its text.
    """

    word: str
    spelling: str


FINE: Final = {
    "timestamp-9": "2024-01-02 03:04:05.123456789",
    "timestamptz-9": "1969-12-31 23:59:59.999999999 +05:30",
}
"""Values with nine fraction digits, or with an offset."""
_TEMPORALS: Final[tuple[TemporalMode, ...]] = (
    "adaptive",
    "connect",
    "adaptive_time_microseconds",
    "isostring",
    "microseconds",
    "nanoseconds",
)
_SINCE_3: Final = ("isostring", "microseconds", "nanoseconds")
"""The temporal modes that releases before 3 do not have."""


def requests(release: str) -> Iterator[Request]:
    """Yields the requests to a release: each type's boundary values in every mode that changes what
    is written of the type, as a change and, if that differs, as a snapshot's row.
    """
    for type_name, type in oracle.TYPES.items():
        named_values = dict(oracle.boundary_values(type_name))
        if type_name in FINE:
            named_values["fine"] = FINE[type_name]
        for value_name, value in named_values.items():
            for modes in modes_of(type, release):
                yield Request(type_name, value_name, value, modes)
                if has_snapshot_form(type):
                    yield Request(type_name, value_name, value, modes, streamed=False)


def has_snapshot_form(type: SourceType) -> bool:
    """Whether a snapshot hands the connector an object of the driver, not a text or bytes."""
    return type.logical is not Logical.TEXT or type.name.startswith("interval")


def modes_of(type: SourceType, release: str) -> Iterator[Modes]:
    """Yields the modes that make a difference for the type; each mode that makes none has its
    default.
    """
    plain = release_modes(release)
    match type.logical:
        case Logical.DECIMAL | Logical.INT:
            for decimal in DECIMAL_MODES:
                yield replace(plain, decimal=decimal)
        case Logical.BINARY:
            for binary in BINARY_MODES:
                yield replace(plain, binary=binary)
        case Logical.DATETIME:
            for temporal in _TEMPORALS:
                if release.startswith("3") or temporal not in _SINCE_3:
                    yield replace(plain, temporal=temporal)
        case Logical.TEXT if type.name.startswith("interval"):
            for interval in INTERVAL_MODES:
                yield replace(plain, interval=interval)
        case _:
            yield plain


def release_modes(release: str) -> Modes:
    """The default modes of a release of the connector."""
    is_new = release.startswith("3")
    return Modes(temporal="adaptive", checks_nanos=is_new, integers_follow_decimal=is_new)


def sent_value(request: Request) -> Sent:
    """The value of a request as LogMiner, or the driver, gives it."""
    type, value = request.type, request.value
    match type.logical, value:
        case ((Logical.DATETIME | Logical.TIMESTAMP), (int() | str())):
            return _sent_moment(request)
        case Logical.TEXT, str():
            return _log_string(request, value)
        case Logical.BINARY, bytes():
            if request.streamed and type.name == "raw":
                return Sent("log", f"HEXTORAW('{value.hex()}')")
            if request.streamed and not value:
                return Sent("log", "EMPTY_BLOB()")
            return Sent("raw" if type.name == "raw" else "bytes", value.hex())
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return Sent("log" if request.streamed else type.name, repr(value))
    number = Decimal(value) if isinstance(value, int) else value
    assert isinstance(number, Decimal)
    plain = f"{number:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return Sent("log" if request.streamed else "number", plain)


def _log_string(request: Request, value: str) -> Sent:
    """A text, or an interval, as LogMiner gives it, such as `UNISTR('...')`; an interval of a
    snapshot as the driver gives it. An empty text is that of a CLOB: of other types it is NULL to
    Oracle.
    """
    if request.type.name.startswith("interval"):
        function = "TO_YMINTERVAL" if request.type.name == "interval-year" else "TO_DSINTERVAL"
        return (
            Sent("log", f"{function}('{value}')")
            if request.streamed
            else Sent(request.type.name, value)
        )
    if not value:
        return Sent("log", "EMPTY_CLOB()")
    if request.type.name.startswith("nvar") and not value.isascii():
        units = memoryview(value.encode("utf-16-le")).cast("H")
        return Sent("log", escaped("UNISTR('" + "".join(f"\\{unit:04X}" for unit in units) + "')"))
    return Sent("log", escaped(value))


def _sent_moment(request: Request) -> Sent:
    """A date and time as LogMiner's function, such as `TO_DATE('...')`, or, in a snapshot, as the
    bytes that Oracle stores. The request's value is a number of microseconds since 1970, or a text
    that may end in an offset (` +05:30`).
    """
    type, value = request.type, request.value
    minutes = 0
    if isinstance(value, str):
        moment, _, offset = value.partition(" +")
        minutes = int(offset[:2] or 0) * 60 + int(offset[3:5] or 0)
        local = read_nanos(moment)
    else:
        assert isinstance(value, int)
        local = value * 1000
    if not request.streamed:
        return _stored_moment(type, local, minutes)
    digits = type.scale or 0
    wall = iso_datetime(local).replace("T", " ")
    second_text, _, fraction = wall.partition(".")
    wall = f"{second_text}.{fraction.ljust(digits, '0')}" if digits else second_text
    if type.name == "date":
        return Sent("log", f"TO_DATE('{wall}', 'YYYY-MM-DD HH24:MI:SS')")
    if type.logical is Logical.DATETIME:
        return Sent("log", f"TO_TIMESTAMP('{wall}')")
    return Sent("log", f"TO_TIMESTAMP_TZ('{wall} +{minutes // 60:02d}:{minutes % 60:02d}')")


def _stored_moment(type: SourceType, local: int, minutes: int) -> Sent:
    """A date and time as the bytes that Oracle stores: century, year, month, day, hour, minute and
    second, then nanoseconds; of a moment with an offset (`minutes`) in UTC, and the offset. `local`
    is the wall clock in nanoseconds since 1970.
    """
    nanos = local - minutes * 60 * _SECOND
    if type.name == "timestampltz":
        # The driver needs its connection's zone: a moment in UTC stands for what it gives.
        return Sent("local", f"{iso_datetime(nanos)}Z")
    days, of_day = divmod(nanos, _DAY)
    year, month, day = civil(days)
    seconds, fraction = divmod(of_day, _SECOND)
    # Oracle adds 100 to century and year, 1 to hour, minute and second, 20 to the offset's hours
    # and 60 to its minutes.
    parts = [year // 100 + 100, year % 100 + 100, month, day]
    parts += [seconds // 3600 + 1, seconds // 60 % 60 + 1, seconds % 60 + 1]
    stored_bytes = bytes(parts)
    if type.name == "date":
        return Sent("date", stored_bytes.hex())
    stored_bytes += fraction.to_bytes(4, "big")
    if type.logical is Logical.DATETIME:
        return Sent("timestamp", stored_bytes.hex())
    return Sent("zoned", (stored_bytes + bytes((minutes // 60 + 20, minutes % 60 + 60))).hex())


def request_line(request: Request) -> str:
    """The line of the Java program DebeziumOracle that asks for a value. It has, with tabs between:
    `value`, the column's type, its JDBC number, length and scale (`-` for none), whether it is
    nullable (it always is), the modes, and the value as the driver gives it.
    """
    type_row = oracle_types()[request.type.name]
    size = column_size(request.type)
    numbers = ["-" if number is None else str(number) for number in (size.length, size.scale)]
    modes, driver_value = request.modes, sent_value(request)
    column = ("value", request.type.name.upper(), str(type_row.jdbc), *numbers, "true")
    options = (modes.decimal, modes.temporal, modes.binary, modes.interval)
    return "\t".join((*column, *options, *driver_value))


def unavailable_lines() -> Iterator[tuple[str, str]]:
    """Yields, for each large type, the name of a request and the program's line for the placeholder
    of a value that is not in the log.
    """
    for type_name, type in oracle.TYPES.items():
        type_row = oracle_types()[type.name]
        if type_row.lob:
            options = "-\t-\ttrue\tprecise\tadaptive\tbytes\tnumeric\tunavailable\t"
            yield (
                f"{type_name}/unavailable",
                f"value\t{type.name.upper()}\t{type_row.jdbc}\t{options}",
            )


SOURCES: Final = {
    "source/streamed": "FALSE",
    "source/snapshot": "TRUE",
    "source/last": "LAST",
}


def source_lines() -> Iterator[tuple[str, str]]:
    """Yields, for each kind of block `source` (of a change, of a snapshot, of its last row), the
    name of a request and the program's line for it.
    """
    for name, snapshot in SOURCES.items():
        facts = ("0a00140037090000", "2868546", "2868548", "0x00002b.00001c30.0010", "1", "SHOP")
        row_facts = ("AAASdqAAEAAAAInAAA", "2868540", "ORCL", "SHOP", "t", "1700000000000")
        yield name, "\t".join(("source", snapshot, *facts, *row_facts))


def oracle_bundle(release: str) -> Bundle:
    """The jars of the connector's classes of values with Oracle's driver: without the caches of
    transactions and the parsers of XML, of which not all are in every registry.
    """
    module, version = _DRIVERS[release]
    return Bundle(
        f"debezium-oracle-values-{release}",
        "Debezium's Oracle connector",
        (
            ("io.debezium", "debezium-embedded", release),
            ("io.debezium", "debezium-connector-oracle", release),
            ("com.oracle.database.jdbc", module, version),
            LOGGING,
        ),
        main="debezium-connector-oracle",
        download="up to 100 jars",
        without=(
            *("slf4j-log4j12", "infinispan-client-hotrod", "infinispan-core", "ehcache"),
            *("xdb", "xmlparserv2", "orai18n"),
        ),
    )


def read_release(release: str, note: Note) -> tuple[str, ...]:
    """The lines of the file of one release. Raises HarnessError."""
    lines = {request.name: request_line(request) for request in requests(release)}
    lines |= dict(unavailable_lines()) | dict(source_lines())
    jars = jars_of(oracle_bundle(release), note)
    results = run_program("DebeziumOracle", jars, "".join(f"{line}\n" for line in lines.values()))
    return tuple(
        f"{release} {name} {json.dumps(json.loads(result), separators=(',', ':'))}"
        for name, result in zip(lines, results, strict=True)
    )


def file_text(releases: Sequence[str], note: Note) -> str:
    """The text of the recorded file: what each of these releases of Debezium's Oracle connector
    makes of each requested value. Raises HarnessError.
    """
    parts = [read_release(release, note) for release in releases]
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
