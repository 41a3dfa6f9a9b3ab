"""Realistic values of a column, by its name and type: Faker's texts, and everyday numbers, dates
and times.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Context, Decimal
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final
from uuid import UUID

from generators.model import Column, Json, Logical, SourceType, Value
from generators.sources import databases, oracle, postgresql_values
from generators.sources.mysql import DAY, MICROS, TIME_LIMIT, to_float32, wall
from generators.sources.pools import LOCALES
from generators.sources.postgresql import array_item, element
from generators.sources.postgresql_types import postgresql_types
from generators.tables.overrides import Override, canonical_value

SIZE: Final = 64
"""How many values a column's pool has at most."""

PROVIDERS: Final = tuple(
    (re.compile(pattern), method)
    for pattern, method in (
        ("e_?mail", "ascii_safe_email"),
        ("phone|mobile|(^|_)tel|fax", "phone_number"),
        ("first_?name|given_?name", "first_name"),
        ("last_?name|sur_?name|family_?name", "last_name"),
        ("user_?name|login|nick|handle", "user_name"),
        ("company|employer|vendor|supplier|organi[sz]ation|merchant", "company"),
        ("file_?name|(^|_)path", "file_path"),
        ("host|domain", "domain_name"),
        ("country_?code|(^|_)iso", "country_code"),
        ("country|nation", "country"),
        ("city|town", "city"),
        ("street", "street_address"),
        ("zip|post_?code|postal", "postcode"),
        ("state_|province|region|(^|_)state$", "word"),
        ("address|(^|_)addr", "address"),
        ("user_?agent", "user_agent"),
        ("(^|_)ip(_|v|$)", "ipv4"),
        ("(^|_)mac(_|$)", "mac_address"),
        ("url|website|(^|_)link|(^|_)uri", "url"),
        ("currency", "currency_code"),
        ("iban", "iban"),
        ("locale|language|(^|_)lang$", "locale"),
        ("time_?zone", "timezone"),
        ("colou?r", "color_name"),
        ("uuid|guid", "uuid4"),
        ("token|hash|digest|checksum|secret|password", "sha1"),
        ("barcode|(^|_)ean", "ean13"),
        ("isbn", "isbn13"),
        ("sku|(^|_)code|serial|reference|(^|_)ref$|(^|_)no$|number", "bothify"),
        ("job|occupation|profession", "job"),
        ("mime|content_?type", "mime_type"),
        ("status|(^|_)type|kind|category|(^|_)tag|gender|level|unit", "word"),
        ("name|author|owner|contact|customer|person", "name"),
        ("title|subject|headline|product|item", "catch_phrase"),
        ("description|comment|note|remark|body|content|text|message|summary|reason", "paragraph"),
    )
)
"""Patterns of column names, and the Faker method of the first that matches; others are sentences.
"""

_EXACT: Final = Context(prec=2000)
"""Arithmetic that rounds no DECIMAL or NUMERIC: the default context has 28 digits."""
_MONEY: Final = re.compile("price|amount|total|cost|fee|balance|tax|salary|revenue|discount|paid")
"""Names of columns of decimals whose everyday values are amounts of money, below 10,000."""
_FEW: Final = re.compile(
    "quantity|qty|(^|_)count|stock|version|position|rank|priority|level|line|attempts"
)
"""Names of columns of integers whose everyday values are counts, 1 to 100."""
_SHARE: Final = re.compile("percent|(^|_)pct|ratio|score|rating|(^|_)rate")
"""Names of columns of numbers whose everyday values are shares or ratings, up to 100."""
_BIRTH: Final = re.compile("birth|(^|_)dob|born")
"""Names of columns whose dates are decades ago."""
_LATER: Final = re.compile("expir|due|valid_?(to|until)|until|end(s|ed)?_|deadline")
"""Names of columns whose dates are ahead."""

_EPOCH: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Axis:
    """The values of an ordered type as integers from `low` to `high`; `plain` are the first and the
    last everyday value. `value` gives the value of an integer, `number` the integer of a value.
    """

    low: int
    high: int
    plain: tuple[int, int]
    value: Callable[[int], Value]
    number: Callable[[Any], int]

    def window(self, low: Value, high: Value) -> tuple[int, int]:
        """The range of integers from which a column's values are drawn, as (first, last). `low` and
        `high` are the column's own bounds, such as those of a CHECK; None is no bound. The range
        holds the everyday values (`plain`) within the bounds; if there are none, all values within
        the bounds.
        """
        least = self.low if low is None else max(self.low, self.number(low))
        most = self.high if high is None else min(self.high, self.number(high))
        everyday = max(least, self.plain[0]), min(most, self.plain[1])
        return everyday if everyday[0] <= everyday[1] else (least, max(least, most))


_SQLSERVER_UNITS: Final = {"datetime": 10_000, "smalldatetime": 60 * MICROS}
"""Microseconds between values of SQL Server's types that are coarser than their digits."""


def axis(column: Column) -> Axis | None:
    """The numbers on which a column's values lie in order, with the everyday range of the column's
    name and type; None for types without order.
    """
    from generators.drawing.value_strategies import signed_decimal

    type, name = column.type, column.name.lower()
    low, high = type.low or 0, type.high or 0
    unit = int(10 ** (6 - type.fsp))
    if type.source == "sqlserver":
        unit = _SQLSERVER_UNITS.get(type.name, unit)
    match type.logical:
        case Logical.INT | Logical.BIT | Logical.YEAR:
            if type.logical is Logical.YEAR:
                plain = (1990, 2024)
            elif (
                high <= 1
                or (type.length == 1 and type.name == "tinyint")
                or re.match("(is|has)_", name)
            ):
                plain = (0, 1)
            else:
                plain = (1, 100 if _FEW.search(name) or _SHARE.search(name) else 100_000)
            return Axis(1901 if type.logical is Logical.YEAR else low, high, plain, int, int)
        case Logical.DECIMAL:
            precision, scale = (
                (15, 2)
                if postgresql_values.unconstrained(type) or oracle.is_free(type)
                else (type.precision or 1, type.scale or 0)
            )
            most = int("9" * precision)
            least = 0 if type.unsigned else -most
            if type.low is not None and type.high is not None:
                least, most = type.low, type.high
            top = 100 if _SHARE.search(name) else 10_000 if _MONEY.search(name) else 1000
            plain = (0, max(0, int(top * Decimal(10) ** scale) - 1))
            return Axis(
                least,
                most,
                plain,
                lambda units: signed_decimal(units, scale),
                lambda value: int(Decimal(value).scaleb(scale, _EXACT)),
            )
        case Logical.FLOAT | Logical.DOUBLE:
            narrow, scale = type.logical is Logical.FLOAT, type.scale or 2
            whole_digits = 6
            if type.precision and type.scale is not None:
                whole_digits = min(15, max(0, type.precision - scale))
            top = 10**whole_digits * 10**scale - 1
            return Axis(
                0 if type.unsigned else -top,
                top,
                (0, 1000 * 10**scale - 1),
                lambda units: (to_float32 if narrow else float)(units / 10**scale),
                lambda value: int(value * 10**scale),
            )
        case Logical.DATE:
            first, last = _everyday_window(name)
            days = (date(1000, 1, 1) - _EPOCH).days, (date(9999, 12, 31) - _EPOCH).days
            plain = first // DAY, last // DAY
            return Axis(
                *days,
                plain,
                lambda day: _EPOCH + timedelta(days=day),
                lambda value: (value - _EPOCH).days,
            )
        case Logical.DATETIME | Logical.TIMESTAMP:
            first, last = _everyday_window(name)
            least, most = wall("1000-01-01"), wall("9999-12-30")
            if type.logical is Logical.TIMESTAMP and type.source == "mysql":
                least, most = MICROS, wall("2038-01-19")
            return Axis(
                least // unit,
                most // unit,
                (first // unit, last // unit),
                lambda step: step * unit,
                lambda value: int(value) // unit,
            )
        case Logical.TIME:
            most = DAY - 1 if type.source != "mysql" else TIME_LIMIT
            least = 0 if type.source != "mysql" else -TIME_LIMIT
            return Axis(
                least // unit,
                most // unit,
                (0, (DAY - 1) // unit),
                lambda step: step * unit,
                lambda value: int(value) // unit,
            )
    return None


def _everyday_window(name: str) -> tuple[int, int]:
    """The first and last wall clock from which values are drawn for a column of that name if the
    user gives no bounds: births lie decades back, expiries and deadlines ahead, all others in
    recent years.
    """
    if _BIRTH.search(name):
        return wall("1950-01-01"), wall("2006-01-01")
    if _LATER.search(name):
        return wall("2024-01-01"), wall("2031-01-01")
    return wall("2022-01-01"), wall("2025-01-01")


def candidate_values(
    column: Column, override: Override, seed: str, low: Value = None, high: Value = None
) -> Iterator[Value]:
    """Values of the column without end, some of which it may not hold; the same for the same seed
    and release of Faker.

    `low` and `high` are the table's own bounds. A list of choices, or a type of few values, comes
    in turn.
    """
    chance = random.Random(seed)
    if override.choices:
        yield from _pick(override.choices, override.distribution, chance)
    if override.regex:
        yield from _cycle(_draw_matching(override.regex, seed))
    if override.provider:
        yield from (
            _canonical_or_none(column, fake_value)
            for fake_value in _cycle(_fake_values(override.provider, seed))
        )
    type, value_axis = column.type, axis(column)
    if value_axis is not None:
        least, most = value_axis.window(
            low if override.low is None else override.low,
            high if override.high is None else override.high,
        )
        if override.low is not None and override.high is not None:
            least, most = value_axis.number(override.low), value_axis.number(override.high)
        while True:
            yield value_axis.value(_draw_number(least, most, override.distribution, chance))
    match type.logical:
        case Logical.ENUM:
            yield from _pick(tuple(range(1, len(type.members) + 1)), override.distribution, chance)
        case Logical.SET:
            while True:
                yield chance.randrange(1 << min(len(type.members), 64))
        case Logical.BINARY:
            while True:
                yield chance.randbytes(min(type.length or 16, 16))
        case Logical.TEXT if not has_grammar(type):
            yield from (
                _shorten(type, fake_value)
                for fake_value in _cycle(_fake_values(_faker_method(column.name), seed))
            )
    yield from _cycle(_grammar_values(type, chance))


def _shorten(type: SourceType, fake_value: Any) -> str:
    """A value that Faker made, as a text of the type: cut to the column's length, and to 200
    characters.
    """
    shortened = str(fake_value)[: min(type.length or 200, 200)].strip()
    return databases.source_of(type).as_stored(type, shortened)


def has_grammar(type: SourceType) -> bool:
    """Whether values of the type are texts that must obey a grammar (JSON, uuid, interval ...)."""
    return (
        bool(type.members)
        or bool(_examples(type))
        or type.name in ("vector", "uniqueidentifier", "rowid", "interval-year", "interval-day")
        or (type.name == "xml" and type.source == "sqlserver")
        or databases.spelled(type)
    )


def _examples(type: SourceType) -> tuple[str, ...]:
    """The example texts that the table of types has for a PostgreSQL type with a grammar; of any
    other type none.
    """
    if type.source == "postgresql" and type.name in postgresql_types():
        return postgresql_types()[type.name].examples
    return ()


def boundaries(type: SourceType) -> Mapping[str, Value]:
    """The named boundary values of the type of a column in a user's table, which may be a type that
    no drawn table has.
    """
    if examples := _examples(type):
        return {f"value-{number}": example for number, example in enumerate(examples, 1)}
    if type.name == "vector":
        size = type.length or 3
        return {
            "zeros": f"[{','.join('0' * size)}]",
            "fractions": f"[{','.join(['0.5', *'1' * (size - 1)])}]",
        }
    if type.name == "point":
        return {"origin": Json({"x": 0.0, "y": 0.0}), "fractions": Json({"x": -1.5, "y": 2.25})}
    if type.name.endswith("[]") and type.name not in ("integer[]", "text[]"):
        return _arrays(element(type))
    return databases.source_of(type).candidates(type)


_OLD: Final = ("min", "before-gregorian", "end-of-day")
"""Names of boundary values that drivers shift within an array."""


def _arrays(inner: SourceType) -> Mapping[str, Value]:
    """Named boundary values of an array type: an array without items, one of a null, and one of
    each boundary value of its elements, without the dates and times that drivers shift (_OLD).
    """
    items = {
        f"item-{name}": array_item(inner, value)
        for name, value in boundaries(inner).items()
        if value is not None
        # Example texts are right as they are; a candidate may be too long for the type.
        if _examples(inner) or databases.source_of(inner).fits(inner, value)
        if not (inner.logical in _MOMENTS and name in _OLD)
    }
    arrays: dict[str, Value] = {name: Json([item]) for name, item in items.items()}
    return {"empty": Json([]), "null-item": Json([None]), **arrays, "all": Json([*items.values()])}


_MOMENTS: Final = (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME)
"""The logical types of dates and times."""


def _grammar_values(type: SourceType, chance: random.Random) -> Sequence[Value]:
    """A pool of values for a column whose texts must obey a grammar, such as JSON, uuid or
    interval; of other types the boundary values, also of those whose values are JSON here but no
    document at the source: arrays, hstore and point.
    """
    if (
        type.logical is Logical.JSON
        and not type.name.endswith("]")
        and type.name not in ("hstore", "point")
    ):
        return [
            Json({"id": chance.randrange(1000), "tags": ["a", "b"], "ok": True, "note": None})
            for _ in range(16)
        ]
    if type.name == "uniqueidentifier":
        return [str(UUID(int=chance.getrandbits(128))).upper() for _ in range(SIZE)]
    if databases.spelled(type):
        return [databases.text_at(type, chance.getrandbits(127)) for _ in range(SIZE)]
    return [value for value in boundaries(type).values() if value is not None]


def _cycle(values: Sequence[Value]) -> Iterator[Value]:
    """The values again and again, without end; nothing if there are none."""
    while values:
        yield from values


def _pick(choices: Sequence[Value], distribution: str, chance: random.Random) -> Iterator[Value]:
    """Endless values from the choices: each in turn, or with a `distribution` drawn by it; `zipf`
    makes the first the most frequent.
    """
    while not distribution:
        yield from choices
    while True:
        yield choices[_draw_number(0, len(choices) - 1, distribution, chance)]


def _draw_number(low: int, high: int, distribution: str, chance: random.Random) -> int:
    """A number from `low` to `high`, both included, drawn by the distribution: `normal` around the
    middle, `zipf` mostly near `low`, any other word evenly.
    """
    match distribution:
        case "normal":
            middle, deviation = (low + high) / 2, max((high - low) / 6, 0.5)
            return min(high, max(low, round(chance.gauss(middle, deviation))))
        case "zipf":
            return low + min(high - low, int((high - low + 1) ** chance.random()) - 1)
    return chance.randint(low, high)


def _faker_method(name: str) -> str:
    """The Faker method for a text column, by words in the column's name; `sentence` if none is
    known.
    """
    return next(
        (method for pattern, method in PROVIDERS if pattern.search(name.lower())), "sentence"
    )


@cache
def _fakers() -> tuple[Any, ...]:
    """One Faker for each locale, made once because that takes long."""
    from faker import Faker

    return tuple(Faker(locale) for locale in LOCALES)


@lru_cache(maxsize=1024)
def _fake_values(method: str, seed: str) -> tuple[Any, ...]:
    """SIZE // 4 texts or values of one of Faker's methods in each locale that has it; the same for
    the same seed and release of Faker.
    """
    values_by_locale = []
    for number, faker in enumerate(_fakers()):
        faker.seed_instance(f"{seed}/{method}/{number}")
        call = getattr(faker, method, None)  # not every locale has a `zipcode`
        if call is None:
            continue
        with suppress(NotImplementedError):  # of `bank` where a locale has no list
            values_by_locale.append(
                [call("??-#####") if method == "bothify" else call() for _ in range(SIZE // 4)]
            )
    # The locales take turns, so that a short pool has texts of each.
    return tuple(chain.from_iterable(zip(*values_by_locale, strict=True)))


def _draw_matching(regex: str, seed: str) -> tuple[str, ...]:
    """SIZE texts that match a regular expression of the overrides file, drawn by Hypothesis; the
    same for the same seed.
    """
    from hypothesis import strategies as st

    from generators.drawing import strategies

    return tuple(
        strategies.draw(
            st.from_regex(regex, fullmatch=True), SIZE, int.from_bytes(seed.encode()) % (1 << 60)
        )
    )


def _canonical_or_none(column: Column, value: Any) -> Value:
    """A value that Faker made, as `generators.model` holds it in a column; None if the column
    cannot hold it.
    """
    type = column.type
    try:
        return canonical_value(column, str(value) if type.logical is Logical.TEXT else value)
    except (ValueError, TypeError, ArithmeticError, AttributeError):
        return None
