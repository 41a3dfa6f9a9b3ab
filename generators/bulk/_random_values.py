"""Random values of source types: boundary values, realistic ones, and any of the domain."""

from __future__ import annotations

import random
import struct
from datetime import date
from decimal import Decimal
from functools import cache
from math import isfinite
from typing import Any, Final

from generators.model import Json, Logical, SourceType, Value
from generators.sources import databases, mysql, oracle, postgresql, postgresql_values, sqlserver
from generators.sources.pools import pools

ALPHABET: Final = (
    "abcdefghijklmnopqrstuvwxyz ABC 0123456789"
    " \"\\/'`<>&{}[],:;%_\t\n\r\x01\x7fÄéßñ汉字かなкفא😀𝄞\u2028\u2029\ufeff\u0301"
)
"""Characters of random text: plain ones and those that escapers treat specially."""

_FIRST_DATE: Final = date(1000, 1, 1).toordinal()
_LAST_DATE: Final = date(9999, 12, 31).toordinal()
_RECENT: Final = mysql.wall("2000-01-01"), mysql.wall("2037-01-01")
"""The first and the last moment, in microseconds since 1970, of times that are drawn more often."""
_KEYS: Final = ("a", "b", "id", "name", "汉", "a b", "x.y", 'q"', "", "longer key")
"""Names of members in random JSON objects."""


def rng(seed: int, format: str, profile: str, ordinal: int | str) -> random.Random:
    """The random generator of one case, or of one block of load; `ordinal` is its number or name.
    It is the same in every process: it is seeded by a text, which Python hashes with SHA-512
    whatever the hash seed is.
    """
    return random.Random(f"{seed}/{format}/{profile}/{ordinal}")


@cache
def _boundaries(type: SourceType) -> tuple[Value, ...]:
    """The boundary values of a type, if it is one of the named types of its source
    (`Source.types`); () for any other type.
    """
    source = databases.source_of(type)
    name = next((slug for slug, known_type in source.types.items() if known_type == type), None)
    return tuple(source.boundary_values(name).values()) if name else ()


class Drawer:
    """Draws values from the random stream `random_`. `null_rate` is the share of NULL in nullable
    columns, `boundary_rate` that of boundary values, both from 0 to 1.
    """

    def __init__(
        self, random_: random.Random, null_rate: float = 0.0, boundary_rate: float = 0.0
    ) -> None:
        self._random, self._null_rate, self._boundary_rate = random_, null_rate, boundary_rate

    def chance(self, rate: float) -> bool:
        """True with probability `rate`."""
        return self._random.random() < rate

    def value(self, type: SourceType, *, nullable: bool = False) -> Value:
        """A random value of the type: NULL where `nullable` and the rate of NULL allow it, a
        boundary value, or any value that the type can hold.
        """
        if nullable and self.chance(self._null_rate):
            return None
        if self.chance(self._boundary_rate) and (boundaries := _boundaries(type)):
            return self._random.choice(boundaries)
        return self._any_value(type)

    def _any_value(self, type: SourceType) -> Value:
        """A value from the whole domain of a type; recent moments, and times shorter than a day,
        are more frequent.
        """
        random_ = self._random
        if sqlserver.is_sampled(type):
            return random_.choice(sqlserver.candidates_that_fit(type))
        if oracle.is_sampled(type):
            return random_.choice(oracle.candidates_that_fit(type))
        step: int = 10 ** (6 - type.fsp)
        match type.logical:
            case Logical.INT | Logical.BIT | Logical.SET:
                return self._integer(type.low or 0, type.high or 0)
            case Logical.ENUM:
                return random_.randint(1, type.high or 1)
            case Logical.YEAR:
                return random_.randint(1901, 2155)
            case Logical.DECIMAL:
                if type.low is not None and type.high is not None:
                    return Decimal(self._integer(type.low, type.high)).scaleb(-(type.scale or 0))
                if postgresql_values.unconstrained(type):
                    type = postgresql.numeric(40, random_.randint(0, 20))
                digits = random_.randint(1, type.precision or 1)
                sign = int(not type.unsigned and self.chance(0.5))
                # scaleb() would round to the context's 28 digits
                return Decimal(
                    (sign, tuple(map(int, str(random_.randrange(10**digits)))), -(type.scale or 0))
                )
            case Logical.FLOAT | Logical.DOUBLE:
                return self._real(type)
            case Logical.TEXT:
                return self._random_text(type)
            case Logical.BINARY:
                limit = type.length or 0
                least = 1 if type.name == "raw" else 0
                size = limit if type.name == "binary" else random_.randint(least, min(limit, 24))
                # The binary log drops the zero bytes that end a BINARY(n).
                return (
                    random_.randbytes(size - 1) + bytes([random_.randint(1, 255)]) if size else b""
                )
            case Logical.DATE:
                return date.fromordinal(random_.randint(_FIRST_DATE, _LAST_DATE))
            case Logical.DATETIME:
                first, last = (
                    _RECENT
                    if self.chance(0.7)
                    else (mysql.wall("1000-01-01"), mysql.wall("9999-12-31"))
                )
                return random_.randrange(first, last) // step * step
            case Logical.TIMESTAMP:
                whole_part = (mysql.MICROS, mysql.TIMESTAMP_MAX)
                if type.source == "postgresql":
                    whole_part = (mysql.wall("1000-01-01"), postgresql_values.TIMESTAMPTZ_MAX)
                first, last = _RECENT if self.chance(0.7) else whole_part
                return random_.randrange(first, last) // step * step
            case Logical.TIME:
                if type.source == "postgresql":
                    return random_.randint(0, mysql.DAY // step) * step
                if type.source == "sqlserver":
                    return random_.randrange(mysql.DAY // step) * step
                limit = mysql.DAY if self.chance(0.7) else mysql.TIME_LIMIT
                return random_.randint(-limit // step, limit // step) * step
            case Logical.JSON:
                return Json(self._composite(type))

    def _integer(self, low: int, high: int) -> int:
        """An integer from `low` to `high`: half of the time uniformly drawn, else with a uniformly
        drawn number of bits. `low` must not be above 2, the smallest limit of a number of bits.
        """
        if self.chance(0.5):
            return self._random.randint(low, high)
        limit = 1 << self._random.randint(1, high.bit_length())
        return self._random.randint(max(low, -limit), min(high, limit))

    def _real(self, type: SourceType) -> float:
        """A random FLOAT or DOUBLE: with two decimals, whole, or any bit pattern; 0.0 in place of
        NaN and infinity.
        """
        random_ = self._random
        way = random_.randrange(3)
        if way == 0:
            value = random_.randrange(-(10**6), 10**6) / 100
        elif way == 1:
            value = float(random_.randrange(-(10**9), 10**9))
        else:
            value = float(struct.unpack("<d", random_.randbytes(8))[0])
            if type.logical is Logical.FLOAT:
                value = float(struct.unpack("<f", random_.randbytes(4))[0])
        value = mysql.to_float32(value) if type.logical is Logical.FLOAT else value
        value = abs(value) if type.unsigned else value
        return value if isfinite(value) and value else 0.0

    def _random_text(self, type: SourceType) -> str:
        """A random text that the type can hold, from the pools of awkward texts or of random
        letters.
        """
        random_ = self._random
        if databases.spelled(type):
            return databases.text_at(type, random_.getrandbits(128))
        if self.chance(0.6):
            texts = pools()
            characters = random_.choice(texts[random_.choice(tuple(texts))])
        else:
            characters = "".join(random_.choices(ALPHABET, k=random_.randint(1, 24)))
        if type.name in ("char", "varchar"):
            characters = characters[: type.length]
        source = databases.source_of(type)
        characters = source.as_stored(type, characters)
        while not source.fits(type, characters):
            characters = source.as_stored(type, characters[:-1])
        return characters

    def _composite(self, type: SourceType) -> Any:
        """A random JSON document; for PostgreSQL's hstore an object of texts, for its arrays a
        list; for MongoDB's object an object, for its array a list.
        """
        random_ = self._random
        texts: tuple[str | None, ...] = (None, "", "NULL", "a", 'q"\\', "汉", "a,b", "{}")
        match type.name:
            case "hstore":
                return {
                    key: random_.choice(texts)
                    for key in random_.sample(_KEYS, random_.randint(0, 3))
                }
            case "text[]":
                return random_.choices(texts, k=random_.randint(0, 3))
            case "object":
                names = random_.sample(_KEYS, random_.randint(0, 3))
                return {name: self._document(2) for name in names}
            case "array":
                return [self._document(2) for _ in range(random_.randint(0, 3))]
            case "integer[]":
                items = [
                    self._integer(-(1 << 31), (1 << 31) - 1) for _ in range(random_.randint(0, 3))
                ]
                return [None if item == 0 else item for item in items]
        return self._document(3)

    def _document(self, depth: int) -> Any:
        """A random JSON document; arrays and objects at most `depth` levels deep."""
        random_ = self._random
        way = random_.randrange(8 if depth else 6)
        match way:
            case 0:
                return random_.choice((None, True, False))
            case 1:
                return self._integer(-(1 << 63), (1 << 63) - 1)
            case 2:
                return random_.randrange(-(10**6), 10**6) / 64
            case 3 | 4:
                return "".join(random_.choices(ALPHABET, k=random_.randint(0, 8)))
            case 5:
                return self._integer(0, 100)
            case 6:
                return [self._document(depth - 1) for _ in range(random_.randint(0, 3))]
        return {
            key: self._document(depth - 1) for key in random_.sample(_KEYS, random_.randint(0, 3))
        }
