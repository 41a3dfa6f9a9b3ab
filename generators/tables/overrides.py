"""The file that overrides how values of a user's columns are made: TOML, a table for each
`table.column`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from itertools import chain
from pathlib import Path
from typing import Any, Final

from generators.errors import UnknownName, UsageError
from generators.model import Column, Json, Logical, Table, Value
from generators.sources import databases
from generators.sources.mysql import DAY, EPOCH, MICROS, to_float32
from generators.tables.schema import Schema, TableName, table_name

DISTRIBUTIONS: Final = ("uniform", "normal", "zipf")
"""How values may be drawn from a range or from choices."""
STRICT: Final = "strict"
"""The key of the file, beside tables, that leaves out what MySQL keeps only without strict mode."""
RANGED: Final = (
    *(Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE, Logical.BIT, Logical.YEAR),
    *(Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME),
)
"""Logical types whose values have an order that `range` can name."""


@dataclass(frozen=True, slots=True)
class Override:
    """How the file says that a column's values are made; "" or None where it says nothing. `low`
    and `high` are canonical, both included; `null` is the share of NULLs from 0 to 1.
    """

    provider: str = ""
    low: Value = None
    high: Value = None
    distribution: str = ""
    null: float | None = None
    choices: tuple[Value, ...] = ()
    regex: str = ""

    def allows(self, value: Value) -> bool:
        """Whether the column may hold the value as far as the user's file says: one of its choices,
        a text that matches its pattern, or a value within its bounds; NULL unless its share is 0.
        """
        if value is None:
            return self.null != 0
        if self.choices:
            return value in self.choices
        if self.regex:
            return isinstance(value, str) and re.fullmatch(self.regex, value) is not None
        return is_between(value, self.low, self.high)


def is_between(value: Any, low: Any, high: Any) -> bool:
    """Whether the value is between the bounds, both included; None is no bound. A zero date is
    within no bounds.
    """
    try:
        return (low is None or low <= value) and (high is None or value <= high)
    except TypeError:
        return False


@dataclass(frozen=True, slots=True)
class Overrides:
    """The overrides by table and column. `strict` leaves out what MySQL keeps only without strict
    mode: zero dates and the empty value of ENUM.
    """

    columns: Mapping[tuple[TableName, str], Override] = field(default_factory=dict, hash=False)
    strict: bool = False

    def find(self, table: Table, column: Column) -> Override:
        """The override that the user's file has for a column; NOTHING, which overrides nothing, if
        it has none.
        """
        return self.columns.get((table_name(table), column.name), NOTHING)


NOTHING: Final = Override()
"""The override of a column of which the file says nothing."""
NO_OVERRIDES: Final = Overrides()
"""The overrides of a run without a file."""


def load_overrides(path: Path, schema: Schema) -> Overrides:
    """Reads the user's overrides file. Raises UsageError, which names the file, the key, the value
    and what is legal.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"--values {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--values {path}: {error}") from error
    return parse_overrides(data, schema, str(path))


def parse_overrides(data: Mapping[str, Any], schema: Schema, file: str = "values") -> Overrides:
    """The overrides in the parsed TOML of the user's file. Raises UsageError, which names the file,
    for an unknown or wrong key or value.
    """
    strict = data.get(STRICT, False)
    if not isinstance(strict, bool):
        raise _value_error(file, STRICT, strict, "true or false")
    tables = dict(_tables_by_name(schema))
    columns: dict[tuple[TableName, str], Override] = {}
    for name, by_column in data.items():
        if name == STRICT:
            continue
        if name not in tables:
            raise UsageError(f"{file}: {UnknownName('table', name, (*tables, STRICT))}")
        if not isinstance(by_column, dict):
            raise _value_error(
                file,
                name,
                by_column,
                f"a table for each column, such as [{name}.{tables[name].columns[0].name}]",
            )
        table = tables[name]
        for column, settings in by_column.items():
            if column not in {defined.name for defined in table.columns}:
                raise UsageError(
                    f"{file}:"
                    f" {UnknownName('column', column, [c.name for c in table.columns], of=name)}"
                )
            columns[table_name(table), column] = _override(
                file, f"{name}.{column}", table.column(column), settings
            )
    return Overrides(columns, strict)


def _tables_by_name(schema: Schema) -> Iterable[tuple[str, Table]]:
    """Every table with each name by which the overrides file may refer to it: bare, with its
    schema, with its database, and with both; without names that several tables share.
    """
    tables = [user.table for user in schema.tables]
    counts = Counter(chain.from_iterable(map(_names_of_table, tables)))
    for table in tables:
        yield from ((name, table) for name in _names_of_table(table) if counts[name] == 1)


def _names_of_table(table: Table) -> Iterable[str]:
    """The names of a table, each once: bare, with its schema, with its database, and with both."""
    names = [table.name, f"{table.database}.{table.name}"]
    if table.schema:
        names[1:1] = [f"{table.schema}.{table.name}"]
        names.append(f"{table.database}.{table.schema}.{table.name}")
    return dict.fromkeys(names)


def _override(file: str, at: str, column: Column, settings: Any) -> Override:
    """The override of one column, from the settings that the user's file gives it. `at` is the
    column's place in the file, such as `orders.price`. Raises UsageError for an unknown or wrong
    setting.
    """
    if not isinstance(settings, dict):
        raise _value_error(file, at, settings, f"a table with keys of {', '.join(KEYS)}")
    for key in settings:
        if key not in KEYS:
            raise UsageError(f"{file}: {UnknownName('key', key, KEYS, of=at)}")
    exclusive_keys = [key for key in ("provider", "range", "choices", "regex") if key in settings]
    if len(exclusive_keys) > 1 and exclusive_keys != ["provider", "range"]:
        raise UsageError(f"{file}: {at}: {' and '.join(exclusive_keys)} exclude each other")
    override_fields = {
        key: _READ[key](file, f"{at}.{key}", column, value) for key, value in settings.items()
    }
    low, high = override_fields.pop("range", (None, None))
    return Override(low=low, high=high, **override_fields)


def _value_error(file: str, at: str, value: Any, legal: str) -> UsageError:
    """The UsageError for a value at the place `at` of the file; `legal` says what is expected
    there.
    """
    return UsageError(f"{file}: {at} = {value!r}: expected {legal}")


def _provider(file: str, at: str, _column: Column, value: Any) -> str:
    """The name of the Faker method that the overrides file names for a column. Raises UsageError if
    Faker has no such method.
    """
    from faker import Faker

    fake = Faker()
    methods = {
        name
        for name in dir(fake)
        if not name.startswith("_")
        and name.islower()
        and name not in _NO_PROVIDERS
        and callable(getattr(fake, name, None))
    }
    return _name(file, at, value, methods, "the name of a Faker method, such as 'city'")


_NO_PROVIDERS: Final = frozenset(
    {"add_provider", "seed_instance", "del_arguments", "set_arguments", "get_providers", "seed"}
    | {"enum", "format", "parse", "provider", "seed_locale"}
    | {"get_arguments", "get_formatter", "set_formatter"}
    | {"image", "xml", "pytimezone"}
)
"""Methods of Faker that give no value, need arguments or a package that is no dependency (`image`,
`xml`), or fail in some locales (`pytimezone`).
"""


def _distribution(file: str, at: str, _column: Column, value: Any) -> str:
    """The word by which the overrides file says how a column's values are drawn. Raises UsageError
    for one that is not among DISTRIBUTIONS.
    """
    return _name(file, at, value, DISTRIBUTIONS, f"one of {', '.join(DISTRIBUTIONS)}")


def _name(file: str, at: str, value: Any, legal_names: Iterable[str], legal: str) -> str:
    """Returns a word of the overrides file if it is one of the legal names, which `legal`
    describes. Raises UsageError, with the nearest name, if not.
    """
    if not isinstance(value, str):
        raise _value_error(file, at, value, legal)
    if value not in legal_names:
        raise UsageError(f"{file}: {at}: {UnknownName(at.rpartition('.')[2], value, legal_names)}")
    return value


def _null(file: str, at: str, column: Column, value: Any) -> float:
    """The share of NULLs that the overrides file gives a column, from 0 to 1. Raises UsageError for
    another value, and for a share above 0 of a NOT NULL column.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _value_error(file, at, value, "a share from 0 to 1")
    if value and not column.nullable:
        raise _value_error(file, at, value, "0: the column is NOT NULL")
    return float(value)


def _range(file: str, at: str, column: Column, value: Any) -> tuple[Value, Value]:
    """The lowest and the highest value of a column, from its `range` in the overrides file, [low,
    high]. `file` and `at` say where that stands, for error texts. Raises UsageError for a column
    whose type has no ranges, and for anything but two values in order that the column can hold.
    """
    if column.type.logical not in RANGED:
        raise UsageError(
            f"{file}: {at}: a {column.type.key} column has no range; numbers, dates and times have,"
            " others take choices"
        )
    if not isinstance(value, list) or len(value) != 2:
        raise _value_error(file, at, value, "[low, high], both included")
    low, high = (_fitting_value(file, at, column, bound) for bound in value)
    if not is_between(low, None, high):
        raise _value_error(file, at, value, "the lower bound first")
    return low, high


def _choices(file: str, at: str, column: Column, value: Any) -> tuple[Value, ...]:
    """The values that the overrides file allows a column. Raises UsageError for an empty list, and
    for a value that the column cannot hold.
    """
    if not isinstance(value, list) or not value:
        raise _value_error(file, at, value, "an array of values")
    return tuple(_fitting_value(file, at, column, choice) for choice in value)


def _regex(file: str, at: str, column: Column, value: Any) -> str:
    """The regular expression of a column's `regex`. Raises UsageError for a wrong one, and for a
    column that holds no text.
    """
    if column.type.logical is not Logical.TEXT:
        raise UsageError(
            f"{file}: {at}: a {column.type.key} column takes no regex; texts do, others take"
            " choices"
        )
    from hypothesis import errors
    from hypothesis import strategies as st

    try:
        st.from_regex(re.compile(value), fullmatch=True).validate()
    except (re.error, TypeError, RecursionError, OverflowError, errors.InvalidArgument) as error:
        raise _value_error(file, at, value, f"a regular expression ({error})") from error
    return str(value)


_READ: Final[Mapping[str, Callable[[str, str, Column, Any], Any]]] = {
    "provider": _provider,
    "range": _range,
    "distribution": _distribution,
    "null": _null,
    "choices": _choices,
    "regex": _regex,
}
"""By key of a column's settings: the function that checks the value and gives it as a field of
Override. Its arguments are the file, the place in it, the column and the value.
"""
KEYS: Final = tuple(_READ)
"""The keys that a column's settings may have."""


def _fitting_value(file: str, at: str, column: Column, value: Any) -> Value:
    """A value of the overrides file (a bound or a choice) as the value of the column's type. Raises
    UsageError if the column cannot hold it.
    """
    try:
        converted = canonical_value(column, value)
    except (ValueError, TypeError, ArithmeticError):
        converted = None
    if converted is None or not databases.fits(column.type, converted):
        members = f": {', '.join(column.type.members)}" if column.type.members else ""
        raise _value_error(file, at, value, f"a value of {column.type.key}{members}")
    return converted


def canonical_value(column: Column, value: Any) -> Value:
    """A value of TOML (or of Faker) as `generators.model` holds it in a column of that type. Raises
    ValueError, TypeError or ArithmeticError if it cannot be one.
    """
    type = column.type
    match type.logical:
        case Logical.INT | Logical.BIT | Logical.YEAR:
            if int(value) != value:
                raise ValueError(value)
            return int(value)
        case Logical.DECIMAL:
            exact = Decimal(str(value))
            scale = max(type.scale or 0, 0)
            return (
                exact
                if type.name == "numeric" and scale > 100
                else exact.quantize(Decimal((0, (1,), -scale)), context=_WIDE)
            )
        case Logical.FLOAT | Logical.DOUBLE:
            return to_float32(float(value)) if type.logical is Logical.FLOAT else float(value)
        case Logical.TEXT | Logical.BINARY | Logical.SET if not isinstance(value, str):
            raise TypeError(value)
        case Logical.TEXT:
            return databases.source_of(type).as_stored(type, value)
        case Logical.BINARY:
            return bytes.fromhex(value[2:]) if value.startswith("0x") else value.encode()
        case Logical.DATE:
            if isinstance(value, datetime):
                raise TypeError(value)
            return value if isinstance(value, date) else date.fromisoformat(value)
        case Logical.DATETIME | Logical.TIMESTAMP:
            return _micros(value)
        case Logical.TIME:
            clock = value if isinstance(value, time) else time.fromisoformat(value)
            return (
                (clock.hour * 60 + clock.minute) * 60 + clock.second
            ) * MICROS + clock.microsecond
        case Logical.ENUM:
            return type.members.index(value) + 1
        case Logical.SET:
            return sum(1 << type.members.index(member) for member in value.split(",") if member)
        case Logical.JSON:
            json.dumps(value, allow_nan=False)  # a date or NaN of TOML is no JSON
            return Json(value)


_WIDE: Final = Context(prec=1200)
"""Arithmetic that rounds no DECIMAL or numeric, which have 1000 digits at most."""


def _micros(value: Any) -> int:
    """Microseconds since 1970 of a date, a date with time or ISO text, in UTC if it has a zone."""
    moment = value if isinstance(value, date) else datetime.fromisoformat(value)
    if not isinstance(moment, datetime):
        return (moment - EPOCH.date()).days * DAY
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return (moment - EPOCH) // timedelta(microseconds=1)
