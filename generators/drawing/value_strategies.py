"""Types of each source and their values as Hypothesis strategies, in few draws each.

A value is drawn from a pool of its type's boundaries or from its whole range. Pools are ordered
from plain to odd, since Hypothesis shrinks towards the first element.
`generators.drawing.strategies` is the public face.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Final, Literal, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from generators.model import Json, Logical, SourceType, Value, ZeroDate
from generators.sources import databases, mysql, oracle, sqlserver
from generators.sources import postgresql as _postgresql
from generators.sources import postgresql_values as _postgresql_values

AWKWARD_TEXTS: Final = (
    "0",
    " lead",
    "trail ",
    "NULL",
    "\\N",
    '"',
    "\\",
    "it's",
    "a\tb\r\nc",
    "\x00",
    "\x01\x1f\x7f",
    "\x80\x9f\xff",
    "</script><!--",
    "&amp;",
    "\u2028",
    "\u2029x",
    "\ufeff",
    "\ufffe",
    "\u200b\u202e",
    "e\u0301",
    "ÿþ",
    "漢字かな",
    "𝄞😀",
    "👨\u200d👩\u200d👧",
    '{"a":[1]}',
    "\\u0041\\ud800",
    "${x}%s{0}",
    "-1",
    "1e5",
    "0000-00-00",
)
"""Texts that some escaper, parser or guesser gets wrong; none has a surrogate."""

AWKWARD_BYTES: Final = (
    b"\x00",
    b'"\\\r\n',
    b"\xed\xa0\x80",
    b"\xc3",
    "😀".encode(),
    b"\x80\x9f",
    b"\xef\xbf\xbd",
)
"""Bytes that are no UTF-8, are a surrogate's or the replacement character's, or differ between
Latin-1 and Windows-1252.
"""

ALPHABET: Final = (
    "abcxyz019 AZ_-\"\\/'`<>&{}[]:,\x00\t\n\r\x01\x1f\x7f\x80éÿ汉字\u2028\u2029\ufeff\ufffd😀𝄞"
)
"""Characters of drawn texts: a few of each kind that a wire format treats in its own way."""

_STORABLE: Final = ALPHABET.replace("\0", "")
"""The characters of ALPHABET that PostgreSQL's texts can hold: all but NUL."""

_DAY_MIN: Final = (date(1000, 1, 1) - date(1970, 1, 1)).days
"""1000-01-01 as a number of days since 1970: the first day of drawn dates."""
_DAY_MAX: Final = (date(9999, 12, 31) - date(1970, 1, 1)).days
"""9999-12-31 as a number of days since 1970: the last day of drawn dates."""
_EPOCH_DATE: Final = date(1970, 1, 1)

DATES: Final[tuple[Value, ...]] = (
    *map(
        date.fromisoformat,
        ("2000-02-29", "1900-03-01", "1969-12-31", "1582-10-15", "2038-01-19", "2024-12-31"),
    ),
    ZeroDate(2024, 0, 15),
    ZeroDate(1970, 12, 0),
)
"""Days that a calendar gets wrong, and zero dates."""

WALLS: Final = tuple(
    map(
        mysql.wall,
        (
            "1970-01-01 00:00:00",
            "1969-12-31 23:59:59.999999",
            "1900-01-01 00:00:00",
            "2000-02-29 12:34:56.120000",
            "2038-01-19 03:14:08",
            "2024-11-03 01:30:00",  # twice in New York
            "2024-10-27 02:30:00.5",  # twice in Berlin
            "2024-03-31 02:30:00",  # never in Berlin
            "1986-05-04 00:30:00",  # around China's first summer time
            "2016-12-31 23:59:59.999999",
        ),
    )
)
"""Wall clocks that a zone, a calendar or a width of seconds gets wrong."""

EPOCH_TIMES: Final = tuple(
    map(
        mysql.wall,
        (
            "1970-01-02 00:00:00",
            "2001-09-09 01:46:40",
            "2024-03-10 06:59:59.999999",  # last before New York's spring gap
            "2024-03-10 07:00:00",
            "2024-11-03 05:59:59.999999",  # New York's hour that occurs twice, both times
            "2024-11-03 06:00:00",
            "2024-10-27 00:30:00",
            "2024-10-27 01:30:00",
            "1991-09-14 15:30:00",  # China's last autumn change, both times
            "1991-09-14 16:30:00",
            "2024-04-06 14:45:00",  # Lord Howe's half hour that occurs twice
            "2037-12-31 23:59:59.999999",
        ),
    )
)
"""Moments in UTC that a zone or a width of seconds gets wrong."""

_JSON_TEXTS: Final = ("", "a", 'q"\\/', "<&>", "\t\n\x01", "é汉字", "😀", "\u2028", "null", "1")
_JSON_KEYS: Final = ("a", "b", "", "aa", "A", "a b", "a.b", "$", 'q"', "汉", "<&>")
_JSON_INTEGERS: Final = (0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1)
_JSON_DOUBLES: Final = (
    0.5,
    -2.25,
    1.0,
    1e20,
    1e21,
    1e-7,
    5e-324,
    1.7976931348623157e308,
    0.1 + 0.2,
)
_JSON_PARTS: Final[tuple[Any, ...]] = ({}, [], "", 0, False, [[[]]], {"a": {"a": [{"a": None}]}})
"""Whole JSON documents that are empty, nested or a mere scalar."""


def signed_decimal(units: int, scale: int) -> Decimal:
    """The decimal `units * 10**-scale`, exact whatever the decimal context."""
    return Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -scale))


@cache
def _boundaries_of_logical(source: str, logical: Logical) -> tuple[Value, ...]:
    """The distinct boundary values of all types of the source `source` that have this logical type,
    such as INT.
    """
    origin = databases.source(source)
    slugs = [slug for slug, known_type in origin.types.items() if known_type.logical is logical]
    distinct = {
        repr(value): value for slug in slugs for value in origin.boundary_values(slug).values()
    }
    return tuple(distinct.values())


def _related_boundaries(type: SourceType) -> tuple[Value, ...]:
    """The boundary values of all types of the same source and the same logical type (such as INT)
    as this one; some of them may not fit this type.
    """
    return _boundaries_of_logical(type.source, type.logical)


def _digits(type: SourceType) -> tuple[int, int]:
    """The precision and scale of decimals that are drawn for a type: its own, or 40 and 12 for
    PostgreSQL's numeric without precision.
    """
    return (
        (40, 12)
        if _postgresql_values.unconstrained(type)
        else (type.precision or 1, type.scale or 0)
    )


_AWKWARD_NUMBERS: Final = (
    2,
    -2,
    10,
    99,
    100,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    2**24,
    2**31,
    2**32,
    2**53,
    2**62,
    10**15,
)
"""Integers at which a narrower type, a base or a double's digits end."""


def _candidates(source_type: SourceType) -> Iterable[Value]:
    """Values to draw for a type, some of which the type may not hold and some of which come twice:
    boundaries, and values that decoders get wrong.
    """
    low, high, step = source_type.low or 0, source_type.high or 0, 10 ** (6 - source_type.fsp)
    match source_type.logical:
        case Logical.INT | Logical.BIT | Logical.SET:
            yield from (
                0,
                1,
                -1,
                low,
                low + 1,
                high,
                high - 1,
                high >> 1,
                (high >> 1) + 1,
                *_AWKWARD_NUMBERS,
            )
            yield from _related_boundaries(source_type)
        case Logical.DECIMAL:
            precision, scale = _digits(source_type)
            largest = int("9" * precision)
            tens = (10**n for n in range(precision))
            for units in (
                0,
                1,
                12345,
                10 ** max(scale, 0),
                15 * 10 ** max(scale, 0) // 10,
                largest,
                largest // 2,
                (1 << 53) + 1,
                *tens,
            ):
                yield signed_decimal(units, scale)
                yield signed_decimal(-units, scale)
            for boundary in _related_boundaries(source_type):
                assert isinstance(boundary, Decimal)
                if _postgresql_values.unconstrained(source_type):
                    yield boundary
                exact = Fraction(boundary) * Fraction(10) ** scale
                if exact.denominator == 1:
                    yield signed_decimal(exact.numerator, scale)
        case Logical.FLOAT | Logical.DOUBLE:
            yield from (
                0.0,
                0.5,
                -0.5,
                100.0,
                1e6,
                1e15,
                1e16,
                1e21,
                1e-3,
                1e-7,
                123456.79,
                16777216.0,
                9007199254740992.0,
            )
            yield from _related_boundaries(source_type)
        case Logical.TEXT:
            yield from _related_boundaries(source_type)
            yield from source_type.members
            yield from (
                *AWKWARD_TEXTS,
                "a" * min(source_type.length or 1, 255),
                "\\" * min(source_type.length or 1, 40),
            )
        case Logical.BINARY:
            yield from _related_boundaries(source_type)
            if sqlserver.is_sampled(source_type):
                # Of a fixed length: values of other types do not fit.
                yield from sqlserver.candidates(source_type).values()
            yield from (*AWKWARD_BYTES, b"\xff" * min(source_type.length or 1, 40))
        case Logical.DATE:
            yield from _related_boundaries(source_type)
            yield from DATES
        case Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME:
            temporal_values = {Logical.DATETIME: WALLS, Logical.TIMESTAMP: EPOCH_TIMES}.get(
                source_type.logical, (3_599_999_999, -1)
            )
            for value in (*_related_boundaries(source_type), *temporal_values):
                yield value - value % step if type(value) is int else value
        case Logical.YEAR:
            yield from (*_related_boundaries(source_type), 1999, 2000)
        case Logical.ENUM:
            yield from (*range(1, high + 1), 0)
        case Logical.JSON:
            yield from [Json(value) for value in (*_JSON_PARTS, *_JSON_INTEGERS, *_JSON_DOUBLES)]
            yield from _related_boundaries(source_type)


def _oddness(value: Value) -> tuple[Any, ...]:
    """The sort key by which values go from plain to odd, as Hypothesis shrinks: values near zero,
    short or alphanumeric come first.
    """
    match value:
        case int():
            return (0, abs(value), value < 0)
        case Decimal():
            return (0, value.copy_abs(), value < 0)
        case float():
            return (0, len(repr(abs(value))), abs(value), value < 0)
        case str():
            return (
                0 if not value or (value.isascii() and value.isalnum()) else 1,
                len(value),
                value,
            )
        case bytes():
            return (0, len(value), value)
        case date():
            return (0, abs((value - _EPOCH_DATE).days))
        case ZeroDate():
            return (1, value.year, value.month, value.day)
        case _:
            return (0, len(repr(value)), repr(value))


@lru_cache(maxsize=8192)
def pool(type: SourceType) -> tuple[Value, ...]:
    """The boundary values of a type, and values that decoders get wrong; plain ones first. All of
    them fit the type (`databases.fits`).
    """
    source = databases.source_of(type)
    distinct: dict[str, Value] = {}
    for candidate in _candidates(type):
        value = source.as_stored(type, candidate) if isinstance(candidate, str) else candidate
        if source.fits(type, value):
            distinct.setdefault(repr(value), value)
    values = list(distinct.values())
    return tuple(values if type.logical is Logical.ENUM else sorted(values, key=_oddness))


@lru_cache(maxsize=16)
def _fractions(fsp: int) -> SearchStrategy[int]:
    """A strategy that draws the microseconds of a fraction of a second from a short list of
    fractions that often go wrong, such as 10, 120,000 and 999,999, cut to `fsp` digits behind the
    point.
    """
    step = 10 ** (6 - fsp)
    fractions = (0, 1, 10, 1000, 999_000, 120_000, 500_000, 123_456, 999_999)
    return st.sampled_from(
        sorted({step if 0 < f < step else f - f % step for f in fractions} - {1_000_000})
    )


def _wall_clock(type: SourceType, low: int, high: int) -> SearchStrategy[int]:
    """The strategy that draws moments, in microseconds since 1970, from the beginning of day `low`
    to the end of day `high` (days since 1970), with no finer fraction of a second than the type
    holds.
    """

    def join(parts: tuple[int, int, int]) -> int:
        """The microseconds since 1970 from a day since 1970, a second of the day and the
        microseconds of a fraction.
        """
        days, seconds, fraction = parts
        return days * mysql.DAY + seconds * mysql.MICROS + fraction

    return st.tuples(st.integers(low, high), st.integers(0, 86_399), _fractions(type.fsp)).map(join)


def _duration(type: SourceType) -> SearchStrategy[int]:
    """A strategy of TIME values in microseconds; MySQL's may be negative and longer than a day."""
    if type.source != "mysql":
        return st.tuples(st.integers(0, 86_399), _fractions(type.fsp)).map(
            lambda parts: parts[0] * mysql.MICROS + parts[1]
        )

    def join(parts: tuple[int, int]) -> int:
        """The microseconds of a duration from its whole seconds, which may be negative, and the
        microseconds of a fraction, which gets the same sign.
        """
        seconds, fraction = parts
        return seconds * mysql.MICROS + (fraction if seconds >= 0 else -fraction)

    limit = mysql.TIME_LIMIT // mysql.MICROS - 1
    return st.tuples(st.integers(-limit, limit), _fractions(type.fsp)).map(join)


def _documents() -> SearchStrategy[Any]:
    """A strategy of the contents of JSON documents: numbers, texts, and small lists and objects of
    them.
    """
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from(_JSON_INTEGERS),
        st.sampled_from(_JSON_TEXTS),
        st.integers(-(2**63), 2**64 - 1),
        st.sampled_from(_JSON_DOUBLES),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
    )
    keys = st.sampled_from(_JSON_KEYS)
    return st.recursive(
        leaves,
        lambda c: st.lists(c, max_size=3) | st.dictionaries(keys, c, max_size=3),
        max_leaves=4,
    )


def _composite(type: SourceType) -> SearchStrategy[Any]:
    """A strategy for the contents of a JSON value: for PostgreSQL's hstore an object of texts, for
    its arrays a list of items, for MongoDB's object and array an object and a list, for any other
    type any JSON document.
    """
    texts = st.none() | st.sampled_from(_JSON_TEXTS) | st.text(_STORABLE, max_size=6)
    match type.name:
        case "hstore":
            return st.dictionaries(st.sampled_from(_JSON_KEYS), texts, max_size=3)
        case "text[]":
            return st.lists(texts, max_size=3)
        case "object":
            return st.dictionaries(st.sampled_from(_JSON_KEYS), _documents(), max_size=3)
        case "array":
            return st.lists(_documents(), max_size=3)
        case "integer[]":
            return st.lists(st.none() | st.integers(-(1 << 31), (1 << 31) - 1), max_size=3)
    if type.name.endswith("[]"):
        inner = _postgresql.element(type)
        items = [_postgresql.array_item(inner, value) for value in pool(inner)]
        return st.lists(st.sampled_from([None, *items]), max_size=3)
    return _documents()


def _range(type: SourceType) -> SearchStrategy[Value]:
    """A strategy for every value of the type that fits into a row of reasonable size."""
    if sqlserver.is_sampled(type) or oracle.is_sampled(type):
        return st.sampled_from(pool(type))
    low, high, length = type.low or 0, type.high or 0, type.length or 1
    match type.logical:
        case Logical.INT | Logical.BIT | Logical.SET:
            return st.integers(low, high)
        case Logical.DECIMAL:
            precision, scale = _digits(type)
            if type.low is None:
                high = int("9" * precision)
                low = 0 if type.unsigned else -high
            return st.integers(low, high).map(lambda units: signed_decimal(units, scale))
        case Logical.FLOAT | Logical.DOUBLE:
            width: Literal[32, 64] = 32 if type.logical is Logical.FLOAT else 64
            least = 0.0 if type.unsigned else None
            # adding 0.0 makes 0.0 of -0.0
            return st.floats(
                min_value=least, allow_nan=False, allow_infinity=False, width=width
            ).map(lambda x: x + 0.0)
        case Logical.TEXT:
            if databases.spelled(type):
                return st.integers(0, (1 << 128) - 1).map(
                    lambda number: databases.text_at(type, number)
                )
            source = databases.source_of(type)
            drawn = st.text(
                ALPHABET if source is databases.MYSQL else _STORABLE, max_size=min(length, 12)
            )
            if source is databases.SQLSERVER:
                return drawn.map(lambda s: sqlserver.shortened_text(type, s))
            if source is databases.ORACLE:
                return drawn.map(lambda s: oracle.shortened_text(type, s))
            return drawn.map(lambda s: source.as_stored(type, s)) if type.name == "char" else drawn
        case Logical.BINARY:
            least = 1 if type.name == "raw" else 0
            return st.binary(min_size=least, max_size=min(length, 16))
        case Logical.DATE:
            return st.integers(_DAY_MIN, _DAY_MAX).map(
                lambda days: _EPOCH_DATE + timedelta(days=days)
            )
        case Logical.DATETIME:
            return _wall_clock(type, _DAY_MIN, _DAY_MAX)
        case Logical.TIMESTAMP:
            if type.source == "postgresql":
                return _wall_clock(type, _DAY_MIN, _DAY_MAX - 2)
            return _wall_clock(type, 1, mysql.TIMESTAMP_MAX // mysql.DAY - 1)
        case Logical.TIME:
            return _duration(type)
        case Logical.YEAR:
            return st.sampled_from((0, *range(1901, 2156)))
        case Logical.ENUM:
            return st.sampled_from((*range(1, high + 1), 0))
        case Logical.JSON:
            return _composite(type).map(Json)


class _Choices(NamedTuple):
    """What `pick` draws values of a type from: the pool of boundary values, a strategy for any
    value, and the strategies for an index in a NOT NULL and in a nullable column.
    """

    pool_values: tuple[Value, ...]
    any_value: SearchStrategy[Value]
    indexes: SearchStrategy[int]
    nullable_indexes: SearchStrategy[int]


@lru_cache(maxsize=8192)
def _choices(type: SourceType) -> _Choices:
    """What `pick` draws values of a type from.

    An index below the pool's size means that value of the pool. As many indexes follow behind, and
    mean any value (`_range`). For a nullable column a fifth of the indexes are there for NULL,
    `(size + 1) // 2` of them: `pick` takes that number off, so that they are below 0.
    """
    values = pool(type)
    size = len(values)
    return _Choices(
        values,
        _range(type),
        between(0, 2 * size - 1),
        between(0, 2 * size + (size + 1) // 2 - 1),
    )


def pick(draw: DrawFn, type: SourceType, nullable: bool) -> Value:
    """Draws a value of the type: half of the time one of its pool of boundary values, in a single
    draw, else any value. With `nullable` every fifth value is NULL.
    """
    choices = _choices(type)
    size = len(choices.pool_values)
    if nullable:
        index = draw(choices.nullable_indexes) - (size + 1) // 2
        if index < 0:
            return None
    else:
        index = draw(choices.indexes)
    return choices.pool_values[index] if index < size else draw(choices.any_value)


@st.composite
def value_strategy(draw: DrawFn, type: SourceType, nullable: bool) -> Value:
    """A strategy for values of the type, drawn by `pick`."""
    return pick(draw, type, nullable)


@lru_cache(maxsize=1024)
def between(low: int, high: int) -> SearchStrategy[int]:
    """A strategy for the integers from `low` to `high`; cached."""
    return st.integers(low, high)


FAMILIES: Final = databases.MYSQL.families
"""MySQL's families of types."""


def keyable(type: SourceType) -> bool:
    """Whether a column of the type can be in a key (`databases.Source.keyable`)."""
    return databases.source_of(type).keyable(type)


@lru_cache(maxsize=64)
def type_groups(
    supports: Callable[[SourceType], bool], keys: bool, source: str = "mysql"
) -> tuple[tuple[SourceType, ...], ...]:
    """The source's types in groups of related ones, such as integers or texts, reduced to types
    that `supports` accepts, with `keys` to types that a key may have. Groups without such a type
    are left out.
    """
    groups = (
        tuple(k for k in family if supports(k) and (not keys or keyable(k)))
        for family in databases.source(source).families
    )
    return tuple(group for group in groups if group)


STEPS: Final = 4096
"""How many numbers `type_at` has for each group of types: more than a group has types, so that each
type has a number.
"""


def type_at(groups: tuple[tuple[SourceType, ...], ...], number: int) -> SourceType:
    """The type that a drawn number from 0 to `STEPS * len(groups) - 1` stands for: its quotient by
    STEPS chooses the group, its remainder the type in the group, so that one draw is enough.
    """
    family, position = divmod(number, STEPS)
    group = groups[family]
    return group[position * len(group) // STEPS]
