"""PostgreSQL column types: domains, value classes, boundary values and the text forms that
PostgreSQL itself uses.

Sources: PostgreSQL 15 documentation, chapter 8 "Data Types" (numeric 8.1, monetary 8.2, character
8.3, binary 8.4, date and time 8.5, boolean 8.6, enumerated 8.7, network address 8.9, bit string
8.10, UUID 8.12, JSON 8.14, arrays 8.15), F.18 "hstore"; float texts as printed since PostgreSQL 12.

Canonical values beside MySQL's:

- `boolean` is 0 or 1, `bit` and `varbit` an int without regard to leading zero bits.
- `char(n)` is padded with spaces to n characters, as PostgreSQL gives it back; `numeric` keeps its
  scale, compared numerically.
- `uuid`, `inet`, `interval`, `timetz` and enums are PostgreSQL's text. If a writer spells such a
  value otherwise (an ISO
  duration, microseconds, a time in UTC), its text is expected: the column alone determines no Spark
  type.
- `json`, `jsonb`, `hstore` and arrays are `Json`.

Left out: NaN and infinities of numeric, which no Decimal comparison holds; NaN among the boundary
values of real and double precision (it fits, and compares equal to itself); infinite dates and
timestamps, BC and years past 9999, which Python's dates and Spark's texts do not hold; arrays of
more than one dimension.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any, Final, Literal

from generators.model import Json, Logical, SourceType, Value
from generators.sources import mysql
from generators.sources.mysql import DAY, DdlAction, micros_step, to_float32
from generators.sources.postgresql_text import (
    bytea_text,
    inet_text,
    interval_parts,
    interval_text,
    timestamp_text,
    timetz_parts,
    timetz_text,
)
from generators.sources.postgresql_types import postgresql_types
from generators.sources.postgresql_values import (
    NUMERIC_DIGITS,
    NUMERIC_SCALE,
    TIMESTAMP_MAX,
    TIMESTAMP_MIN,
    TIMESTAMPTZ_MAX,
    TIMESTAMPTZ_MIN,
    candidates,
    unconstrained,
)

SCHEMA: Final = "public"
"""The schema of every table that cases are made of."""

SIZE_LIMIT: Final = 1_073_741_823
"""Bytes of a text, bytea or json value."""

NAME_LIMIT: Final = 63
"""Bytes of an identifier."""

UNBOUNDED: Final = 2_147_483_647
"""The length of a varbit without one."""

_INTEGERS: Final = ("smallint", "integer", "bigint")


def _type(name: str, logical: Logical, **parameters: Any) -> SourceType:
    return SourceType(name, logical, source="postgresql", **parameters)


def integer(name: str = "integer") -> SourceType:
    """The type smallint, integer or bigint. Raises ValueError for a type whose values have no fixed
    size.
    """
    size = postgresql_types()[name].bytes
    if size is None:
        raise ValueError(f"{name}: not among {', '.join(_INTEGERS)}")
    limit = 1 << 8 * size - 1
    return _type(name, Logical.INT, low=-limit, high=limit - 1)


def oid() -> SourceType:
    """oid: an unsigned integer of 32 bits."""
    return _type("oid", Logical.INT, low=0, high=(1 << 32) - 1)


def point() -> SourceType:
    """point: `Json` of its `x` and `y`."""
    return _type("point", Logical.JSON)


def other(name: str) -> SourceType:
    """A type whose values this project keeps as PostgreSQL's texts of them. Raises ValueError for a
    name that is none of `OTHERS`.
    """
    if name not in OTHERS:
        raise ValueError(f"{name}: not among {', '.join(OTHERS)}")
    return _type(name, Logical.TEXT)


UNKNOWN: Final = tuple(name for name, row in postgresql_types().items() if row.debezium_unknown)
"""Types that change data capture may have no name for; a composite type is called `composite` here.
"""

OTHERS: Final = tuple(name for name, row in postgresql_types().items() if row.recorded)
"""Types that named and drawn cases do not have, but recorded tables."""


def numeric(precision: int | None = None, scale: int = 0) -> SourceType:
    """The type numeric of `precision` digits, up to 1000, `scale` of them behind the point. A
    negative scale is that many zeros before it; one above the precision says how many of the
    digits behind the point are zeros. Raises ValueError outside of these limits.

    Without precision it is `unconstrained`: up to 131072 digits before and 16383 after the point.
    """
    if precision is None:
        return _type(
            "numeric",
            Logical.DECIMAL,
            precision=NUMERIC_DIGITS + NUMERIC_SCALE,
            scale=NUMERIC_SCALE,
        )
    if not (1 <= precision <= 1000 and -1000 <= scale <= 1000):
        raise ValueError(
            f"numeric({precision},{scale}): precision is 1 to 1000, scale -1000 to 1000"
        )
    return _type("numeric", Logical.DECIMAL, precision=precision, scale=scale)


def money() -> SourceType:
    """The type money of a locale with two fraction digits, an amount in 64 bits of cents; `low` and
    `high` are in cents.
    """
    return _type(
        "money", Logical.DECIMAL, precision=19, scale=2, low=-(1 << 63), high=(1 << 63) - 1
    )


def real(name: str = "real") -> SourceType:
    """The type real, a float of 32 bits, or double precision, of 64."""
    return _type(name, Logical.FLOAT if name == "real" else Logical.DOUBLE)


def boolean() -> SourceType:
    """boolean: 0 or 1."""
    return _type("boolean", Logical.BIT, length=1, low=0, high=1)


def bit(length: int | None = 1, *, varying: bool = False) -> SourceType:
    """The type of bit strings of `length` bits, 1 to 64 here. With `varying` it is bit varying, of
    up to `length` bits, or of any number if `length` is None. Raises ValueError for another length.
    """
    if length is None and varying:
        return _type("varbit", Logical.BIT, length=UNBOUNDED)
    if length is None or not 1 <= length <= 64:
        raise ValueError(f"bit({length}): length is 1 to 64")
    return _type(
        "varbit" if varying else "bit", Logical.BIT, length=length, low=0, high=(1 << length) - 1
    )


def text(name: str = "varchar", length: int | None = None) -> SourceType:
    """The type char(n) or varchar(n) with n in characters, or text, whose length is a limit in
    bytes.
    """
    return _type(name, Logical.TEXT, length=length or (SIZE_LIMIT if name == "text" else 255))


def bytea() -> SourceType:
    """The type bytea, whose values are bytes."""
    return _type("bytea", Logical.BINARY, length=SIZE_LIMIT)


def temporal(name: str, fsp: int = 6) -> SourceType:
    """The type date, or time(f), timetz(f), timestamp(f), timestamptz(f) or interval(f), f 0 to 6
    and by default 6. Raises ValueError for another f.
    """
    if not 0 <= fsp <= 6:
        raise ValueError(f"{name}({fsp}): fractional digits are 0 to 6")
    return _type(name, postgresql_types()[name].logical, fsp=0 if name == "date" else fsp)


def enum_of(*labels: str) -> SourceType:
    """An enum type of these labels; values are labels."""
    return _type("enum", Logical.TEXT, members=labels)


def uuid() -> SourceType:
    """A uuid."""
    return _type("uuid", Logical.TEXT)


def inet() -> SourceType:
    """inet: an IPv4 or IPv6 address with an optional prefix length."""
    return _type("inet", Logical.TEXT)


def json(name: str = "json") -> SourceType:
    """A document: json or jsonb."""
    return _type(name, Logical.JSON)


def hstore() -> SourceType:
    """hstore: an object of texts and nulls."""
    return _type("hstore", Logical.JSON)


def array(element: str = "integer") -> SourceType:
    """The type integer[] or text[], of one dimension."""
    return _type(f"{element}[]", Logical.JSON)


def array_of(type: SourceType) -> SourceType:
    """The array type of any element type: it has the element's parameters, and its name with `[]`.
    Its values are `Json` lists of the elements' values; dates, timestamps and bytes are
    PostgreSQL's texts there.
    """
    return replace(type, name=f"{type.name}[]", logical=Logical.JSON)


def element(type: SourceType) -> SourceType:
    """The type of an array's elements. Raises UsageError for a type that the table of types does
    not have.
    """
    name = type.name.removesuffix("[]")
    return replace(type, name=name, logical=postgresql_types()[name].logical)


TYPES: Final[Mapping[str, SourceType]] = {
    **{name: integer(name) for name in _INTEGERS},
    **{f"numeric-{p}-{s}": numeric(p, s) for p, s in ((10, 2), (20, 0), (38, 10), (65, 30))},
    "numeric": numeric(),
    "money": money(),
    "real": real("real"),
    "double-precision": real("double precision"),
    "boolean": boolean(),
    **{f"bit-{length}": bit(length) for length in (1, 8, 64)},
    "varbit-63": bit(63, varying=True),
    "char": text("char", 16),
    "varchar": text("varchar", 255),
    "text": text("text"),
    "bytea": bytea(),
    "date": temporal("date"),
    **{f"time-{fsp}": temporal("time", fsp) for fsp in (0, 3, 6)},
    "timetz": temporal("timetz"),
    **{f"timestamp-{fsp}": temporal("timestamp", fsp) for fsp in (0, 3, 6)},
    **{f"timestamptz-{fsp}": temporal("timestamptz", fsp) for fsp in (0, 6)},
    "interval": temporal("interval"),
    "enum": enum_of("sad", "ok", "happy"),
    "enum-quoted": enum_of("it's", "a,b", 'say "hi"', "back\\slash", "汉字", "MixedCase"),
    "uuid": uuid(),
    "inet": inet(),
    "json": json("json"),
    "jsonb": json("jsonb"),
    "hstore": hstore(),
    "integer-array": array("integer"),
    "text-array": array("text"),
}
"""Every column type that cases are made of, by the name that case ids use."""

for _source_type in TYPES.values():
    if not _source_type.name.endswith("[]"):
        postgresql_types().check_type(_source_type)


def fits(source_type: SourceType, value: Value) -> bool:
    """Whether PostgreSQL can store the value in the type and returns it unchanged (ranges, lengths,
    fractions, padding).
    """
    if value is None:
        return True
    match source_type.logical:
        case Logical.DECIMAL:
            return _fits_numeric(source_type, value)
        case Logical.FLOAT | Logical.DOUBLE:
            return isinstance(value, float) and (
                source_type.logical is Logical.DOUBLE or math.isnan(value) or _is_float32(value)
            )
        case Logical.TEXT:
            return (
                isinstance(value, str)
                and _storable(value)
                and _TEXT_FITS.get(source_type.name, _fits_text)(source_type, value)
            )
        case Logical.DATE:
            return isinstance(value, date)
        case Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME:
            low, high = _TEMPORAL_RANGE[source_type.logical]
            return (
                type(value) is int
                and low <= value <= high
                and value % micros_step(source_type.fsp) == 0
            )
        case Logical.JSON:
            return isinstance(value, Json) and _fits_json(source_type, value.value)
        case _:
            return mysql.fits(source_type, value)


_TEMPORAL_RANGE: Final = {
    Logical.DATETIME: (TIMESTAMP_MIN, TIMESTAMP_MAX),
    Logical.TIMESTAMP: (TIMESTAMPTZ_MIN, TIMESTAMPTZ_MAX),
    Logical.TIME: (0, DAY),
}
"""The least and the greatest value of each type of times, in microseconds."""


def _is_float32(value: float) -> bool:
    """Whether a float has no more digits than 32 bits hold."""
    return to_float32(value) == value


def _is_multiple(value: Decimal, power: int) -> bool:
    """Whether a finite number is a multiple of ten to the power. By its digits, since arithmetic
    with more of them than the context has raises an error.
    """
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    missing_zeros = max(power - exponent, 0)
    return not any(digits[max(len(digits) - missing_zeros, 0) :])


def _fits_numeric(type: SourceType, value: Value) -> bool:
    """Whether a NUMERIC of this precision and scale holds the value with all fraction digits that
    it is spelled with, also zeros. The type's `low` and `high` bound it in hundredths (money).
    """
    if not isinstance(value, Decimal) or not value.is_finite():
        return False
    exponent = value.as_tuple().exponent
    scale, precision = type.scale or 0, type.precision or 0
    assert isinstance(exponent, int)
    if scale < 0 and not _is_multiple(value, -scale):
        return False
    if -exponent > max(scale, 0) or (value and value.adjusted() >= precision - scale):
        return False
    return (
        type.low is None
        or type.high is None
        or Decimal(type.low) <= value * 100 <= Decimal(type.high)
    )


def _storable(value: str) -> bool:
    """Whether a text has no NUL and no surrogate, both of which PostgreSQL refuses."""
    return not _UNSTORABLE.search(value)


_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_UUID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _fits_text(type: SourceType, value: str) -> bool:
    """Whether a text fits the length of its PostgreSQL type: exact characters of a char, at most so
    many of a varchar, at most so many bytes of any other.
    """
    if type.name == "char":
        return len(value) == type.length
    return (len(value) if type.name == "varchar" else len(value.encode())) <= (type.length or 0)


def _fits_inet(type: SourceType, value: str) -> bool:
    """Whether a text is a network address, spelled as PostgreSQL prints it."""
    try:
        return inet_text(ipaddress.ip_interface(value)) == value
    except ValueError:
        return False


def _fits_interval(type: SourceType, value: str) -> bool:
    """Whether a text is an interval in range, in whole units of the type's precision, and spelled
    as PostgreSQL prints it.
    """
    try:
        months, days, micros = interval_parts(value)
    except ValueError:
        return False
    in_range = max(abs(months), abs(days)) < 1 << 31 and abs(micros) < 1 << 63
    return (
        in_range
        and micros % micros_step(type.fsp) == 0
        and interval_text(months, days, micros) == value
    )


def _fits_timetz(type: SourceType, value: str) -> bool:
    """Whether a text is a time with an offset of less than 16 hours, in whole units of the type's
    precision, and spelled as PostgreSQL prints it.
    """
    try:
        micros, offset = timetz_parts(value)
    except ValueError:
        return False
    in_range = 0 <= micros <= DAY and abs(offset) < 16 * 3600
    return in_range and micros % micros_step(type.fsp) == 0 and timetz_text(micros, offset) == value


_TEXT_FITS: Final[Mapping[str, Callable[[SourceType, str], bool]]] = {
    "enum": lambda type, value: value in type.members,
    "uuid": lambda _kind, value: bool(_UUID.fullmatch(value)),
    "inet": _fits_inet,
    "interval": _fits_interval,
    "timetz": _fits_timetz,
}
"""By type whose texts have a grammar: whether a text is a value of the type."""


def _fits_document(value: Any) -> bool:
    """Whether PostgreSQL can store the JSON value: no NaN, no infinity, no NUL in a text."""
    match value:
        case str():
            return _storable(value)
        case dict():
            return all(
                isinstance(key, str) and _storable(key) and _fits_document(item)
                for key, item in value.items()
            )
        case list():
            return all(map(_fits_document, value))
        case float():
            return math.isfinite(value)
        case _:
            return value is None or isinstance(value, int | Decimal)


def _is_int4(value: Any) -> bool:
    """Whether a value of JSON is an integer of 32 bits, the elements of integer[]."""
    return type(value) is int and -(1 << 31) <= value < 1 << 31


_JSON_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "json": _fits_document,
    "jsonb": _fits_document,
    "hstore": lambda value: (
        isinstance(value, dict)
        and _fits_document(value)
        and all(item is None or isinstance(item, str) for item in value.values())
    ),
    "integer[]": lambda value: (
        isinstance(value, list) and all(item is None or _is_int4(item) for item in value)
    ),
    "text[]": lambda value: (
        isinstance(value, list)
        and all(item is None or (isinstance(item, str) and _storable(item)) for item in value)
    ),
}
"""By type whose values are `Json`: whether such a value can be one."""


def _fits_json(type: SourceType, value: Any) -> bool:
    """Whether a type whose values this project keeps as JSON (json, hstore, point, arrays) holds
    the value.
    """
    if type.name in _JSON_FITS or not type.name.endswith("[]"):
        return _JSON_FITS.get(type.name, _fits_document)(value)
    if not isinstance(value, list):
        return False
    inner = element(type)
    try:
        return all(
            item is None
            or fits(inner, item_value(inner, item))
            or (inner.name in OTHERS and isinstance(item, str) and _storable(item))
            or (isinstance(item, list) and _fits_json(type, item))
            for item in value
        )
    except (ValueError, TypeError):
        return False


def array_item(element: SourceType, value: Value) -> Any:
    """The value of an array's element as the array's `Json` list holds it: of dates, timestamps and
    bytes PostgreSQL's text, of a boolean a truth value, else the value itself.
    """
    match element.logical, value:
        case _, None:
            return None
        case Logical.DATE, date():
            return value.isoformat()
        case ((Logical.DATETIME | Logical.TIMESTAMP), int()):
            zone = "+00" if element.logical is Logical.TIMESTAMP else ""
            return timestamp_text(value) + zone
        case Logical.BINARY, bytes():
            return bytea_text(value)
        case Logical.BIT, int() if element.name == "boolean":
            return bool(value)
        case Logical.JSON, Json():
            return value.value
    return value


def item_value(element: SourceType, item: Any) -> Value:
    """An item of an array's `Json` list, which is not null, as the value of the element's type.
    Raises ValueError or TypeError for a text that is none of the type's.
    """
    match element.logical, item:
        case Logical.DATE, str() if not item.endswith("infinity"):
            return date.fromisoformat(item)
        case ((Logical.DATETIME | Logical.TIMESTAMP), str()) if not item.endswith("infinity"):
            return mysql.wall(item.removesuffix("+00"))
        case Logical.BINARY, str():
            return bytes.fromhex(item.removeprefix("\\x"))
        case Logical.JSON, _:
            return item if isinstance(item, Json) else Json(item)
        case Logical.BIT, bool():
            return int(item)
        case Logical.FLOAT, float():
            return to_float32(item)
    value: Value = item
    return value


def value_class(type: SourceType, value: Value) -> str:
    """The class of a value, by which rules select: that of `mysql.value_class`, or `not-finite` for
    NaN and infinities of float, double and numeric. It takes types of both sources.
    """
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        return "not-finite"
    return mysql.value_class(type, value)


def boundary_values(slug: str) -> Mapping[str, Value]:
    """The named boundary values of the type with the key `slug` in `TYPES`, such as
    `numeric-10-2`, without NULL. Named cases are made of them. Raises KeyError.
    """
    type = TYPES[slug]
    return {name: value for name, value in candidates(type).items() if fits(type, value)}


def declared(type: SourceType) -> str:
    """The spelling of a type as PostgreSQL's format_type() prints it: `character varying(64)`,
    `timestamp(3) without time zone`, `numeric(10,2)`.
    """
    fsp = "" if type.fsp == 6 else f"({type.fsp})"
    match type.name:
        case "char":
            return f"character({type.length})"
        case "varchar":
            return f"character varying({type.length})"
        case "bit":
            return f"bit({type.length})"
        case "varbit":
            return "bit varying" if type.length == UNBOUNDED else f"bit varying({type.length})"
        case "numeric" if not unconstrained(type):
            return f"numeric({type.precision},{type.scale})"
        case "time" | "timestamp":
            return f"{type.name}{fsp} without time zone"
        case "timetz" | "timestamptz":
            return f"{type.name.removesuffix('tz')}{fsp} with time zone"
        case "interval":
            return f"interval{fsp}"
    return type.name


def quote(name: str) -> str:
    """A double-quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def index_name(
    table: str, columns: Sequence[str], label: Literal["key", "idx"], used: Collection[str] = ()
) -> str:
    """The name that PostgreSQL gives an index without one: `key` ends that of a unique constraint,
    `idx` others, with the first number that makes it none of the `used` names. The longer of the
    table's name and the columns' names is cut until all have 63 bytes (PostgreSQL's
    src/backend/commands/indexcmds.c:makeObjectName, ChooseIndexName).
    """
    number = 0
    while (name := _object_name(table, "_".join(columns), f"{label}{number or ''}")) in used:
        number += 1
    return name


def primary_key_name(table: str) -> str:
    """The name that PostgreSQL gives a primary key without one: TABLE_pkey, in 63 bytes."""
    label = "_pkey"
    return table.encode()[: NAME_LIMIT - len(label)].decode(errors="ignore") + label


def _object_name(first: str, second: str, label: str) -> str:
    """`first_second_label` in 63 bytes; `first` and `second` are cut between characters."""
    free = NAME_LIMIT - len(label) - 2
    first_size, second_size = len(first.encode()), len(second.encode())
    while first_size + second_size > free:
        if first_size > second_size:
            first_size -= 1
        else:
            second_size -= 1
    cut_first = first.encode()[:first_size].decode(errors="ignore")
    cut_second = second.encode()[:second_size].decode(errors="ignore")
    return f"{cut_first}_{cut_second}_{label}"


DDL_ACTIONS: Final[Mapping[str, DdlAction]] = {
    "create table": DdlAction(
        'CREATE TABLE "public".{table} ("id" bigint PRIMARY KEY, "c" integer)'
    ),
    "drop table": DdlAction('DROP TABLE "public".{table}'),
    "truncate table": DdlAction('TRUNCATE TABLE "public".{table}'),
    "rename table": DdlAction('ALTER TABLE "public".{other} RENAME TO {table}', renames=True),
    "add column": DdlAction('ALTER TABLE "public".{table} ADD COLUMN "added" integer DEFAULT 1'),
    "drop column": DdlAction('ALTER TABLE "public".{table} DROP COLUMN "c"'),
    "modify column": DdlAction('ALTER TABLE "public".{table} ALTER COLUMN "c" TYPE bigint'),
    "set default": DdlAction('ALTER TABLE "public".{table} ALTER COLUMN "c" SET DEFAULT 5'),
    "table comment": DdlAction("COMMENT ON TABLE \"public\".{table} IS 'it''s \"new\"'"),
    "create index": DdlAction('CREATE INDEX "i" ON "public".{table} ("c")'),
    "drop index": DdlAction('DROP INDEX "public"."i"'),
    "add primary key": DdlAction('ALTER TABLE "public".{table} ADD PRIMARY KEY ("id")'),
    "replica identity": DdlAction('ALTER TABLE "public".{table} REPLICA IDENTITY FULL'),
}
"""DDL statements of a PostgreSQL source, as `mysql.DDL_ACTIONS`."""
