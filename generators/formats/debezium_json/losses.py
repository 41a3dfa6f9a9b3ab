"""What each profile's messages no longer hold of the source's values, and the cells that no
column's type can hold.

Source: the facts that each loss cites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial

from generators.families.debezium import mysql as _debezium_mysql
from generators.families.debezium import oracle, sqlserver, unfit
from generators.families.debezium import postgresql as _debezium_postgresql
from generators.families.debezium.values import DebeziumCell, wire_values
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.garbage.cell_faults import CellFault
from generators.model import Logical, SourceType, Value
from generators.wire_format import Loss


def value_writer(profile: DebeziumProfile) -> Callable[..., DebeziumCell]:
    """The function of the profile's connector that writes a value of a column."""
    if profile.is_sqlserver:
        return sqlserver.wire
    if profile.is_oracle:
        return oracle.wire
    return _debezium_mysql.wire if profile.is_mysql else _debezium_postgresql.wire


def wire_of(profile: DebeziumProfile, type: SourceType, value: Value) -> DebeziumCell:
    """A value of a nullable column, read from the log, as the profile's connector writes it."""
    return value_writer(profile)(type, value, profile.modes)


def losses(profile: DebeziumProfile) -> tuple[Loss, ...]:
    """What the profile's messages lose, whoever decodes them: rows of a MINIMAL binlog, digits of
    doubles, microseconds under Connect's logical types.
    """
    return tuple(_losses(profile))


def _losses(profile: DebeziumProfile) -> Iterator[Loss]:
    """Yields each way in which the profile's messages hold less than the source's values, with its
    citation and, where it concerns values, the function that gives the value left of one.
    """
    remaining_value = wire_values(partial(wire_of, profile))
    if profile.image == "minimal":
        statement = "UPDATE and DELETE of a MINIMAL row image are not emitted"
        yield Loss((), statement, "debezium#minimal-image", None)
    if profile.modes.decimal == "double":
        yield Loss(
            (Logical.DECIMAL,),
            "DECIMAL as double keeps some 17 digits",
            "debezium#decimal-double",
            remaining_value,
        )
        if profile.is_oracle:

            def integer_left(type: SourceType, value: Value) -> Value:
                """The value that is left of a NUMBER of integers in the message: the integer
                nearest to its double.
                """
                left_value = remaining_value(type, value)
                return int(left_value) if isinstance(left_value, Decimal) else left_value

            yield Loss(
                (Logical.INT,),
                "NUMBER as double keeps some 17 digits: keys beyond them meet",
                "debezium#decimal-double",
                integer_left,
            )
    if profile.modes.money_digits < 2:

        def rounded(type: SourceType, value: Value) -> Value:
            """The value that is left of an amount of money in the message; a value of any other
            type unchanged.
            """
            return remaining_value(type, value) if type.name == "money" else value

        yield Loss(
            (Logical.DECIMAL,),
            "money is rounded to money.fraction.digits",
            "debezium#money",
            rounded,
        )
    if profile.modes.temporal == "connect":
        statement = "Connect's Timestamp and Time hold milliseconds, and a time of day alone"
        yield Loss(
            (Logical.DATETIME, Logical.TIME), statement, "debezium#connect-times", remaining_value
        )
    if profile.modes.temporal == "isostring":
        yield Loss(
            (Logical.TIME,),
            "IsoTime is a time of day alone",
            "debezium#time-of-day",
            remaining_value,
        )
    if profile.is_sqlserver:
        statement = "a datetime2(7) beyond 64 bits of nanoseconds is null, or overflows up to 2.5"
        yield Loss((Logical.DATETIME,), statement, "debezium#sqlserver-nanos", remaining_value)
        statement = "a datetimeoffset before 1970 with a fraction is a second late"
        yield Loss(
            (Logical.TIMESTAMP,), statement, "debezium#sqlserver-datetimeoffset", remaining_value
        )
        if profile.modes.streams_time_in_millis:
            statement = "a streamed time has milliseconds up to 2.5"
            yield Loss((Logical.TIME,), statement, "debezium#sqlserver-time", remaining_value)
    if profile.is_oracle:
        statement = "a TIMESTAMP(9) beyond 64 bits of nanoseconds is null, or overflows up to 2.5"
        yield Loss((Logical.DATETIME,), statement, "debezium#oracle-nanos", remaining_value)
        statement = "an empty large value is null, and so is a text that reads EMPTY_CLOB()"
        yield Loss(
            (Logical.TEXT, Logical.BINARY),
            statement,
            "debezium#oracle-large-values",
            remaining_value,
        )
    if profile.is_mysql:
        yield Loss(
            (Logical.DATE, Logical.YEAR),
            "zero dates are NULL, years 1 to 99 move",
            "debezium#dates-moved",
            remaining_value,
        )


def cell_faults(profile: DebeziumProfile) -> tuple[CellFault, ...]:
    """The faults of cells (JSON that a column's type cannot hold) of the profile's database, in the
    form in which the profile writes values.
    """
    return unfit.cell_faults(partial(wire_of, profile), profile.source)
