"""Clocks: what a wall clock of a zone makes of a moment, and which readings of a moment there are.

A reader of a time whose zone no source tells takes it for the wall clock of some zone, or shows a
moment on such a clock. `readings_of` lists these readings; `fitting` says which moments one of them
explains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from typing import Final, Literal, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo, available_timezones

_EPOCH: Final = datetime(1970, 1, 1)
"""The moment from which microseconds are counted."""
_MICRO: Final = timedelta(microseconds=1)
"""A microsecond, the unit of instants and wall times."""
_QUARTERS: Final = 72
"""Quarters of an hour between UTC and the furthest zone of Spark, to each side."""

Pair: TypeAlias = tuple[tuple[int, ...], int]
"""The moments that a value may be, and the moment that a decoder gave, in microseconds."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The wall clock of a zone (such as `Europe/Berlin` or `+05:45`). Instants and wall times are
    in microseconds since 1970.
    """

    zone: str
    _info: tzinfo = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_info", _zone_info(self.zone))

    def to_wall(self, instant: int) -> int:
        """What the clock shows at an instant, both in microseconds since 1970."""
        utc = (_EPOCH + instant * _MICRO).replace(tzinfo=UTC)
        return (utc.astimezone(self._info).replace(tzinfo=None) - _EPOCH) // _MICRO

    def to_instants(self, wall: int) -> tuple[int, int]:
        """The two instants at which the clock shows the wall time `wall`, all in microseconds since
        1970. They are equal but where the clock is put back (it shows the time twice) or forward
        (it leaves the time out): there Python's `fold` chooses between two offsets.
        """
        wall_time = (_EPOCH + wall * _MICRO).replace(tzinfo=self._info)
        first, second = wall_time.utcoffset(), wall_time.replace(fold=1).utcoffset()
        assert first is not None and second is not None
        return wall - first // _MICRO, wall - second // _MICRO


@cache
def _zone_info(name: str) -> tzinfo:
    """The zone of a name: a fixed offset such as `+05:45`, else one of the tz database."""
    if name.startswith(("+", "-")):
        hours, minutes = name[1:].split(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-offset if name[0] == "-" else offset)
    return ZoneInfo(name)


class Reading(NamedTuple):
    """A way to read moments: as the wall clock of a zone, or shown on such a clock.

    `wire` is the zone whose clock the digits on the wire are taken from.
    """

    direction: Literal["read as", "shown as"]
    zone: str
    wire: str

    def __str__(self) -> str:
        return f"the wall clock of {self.zone}"


@cache
def zones() -> tuple[str, ...]:
    """The names of every zone that a decoder may use: UTC, the offsets up to 18 hours in steps of a
    quarter of an hour, and the zones of the tz database.
    """
    database_zones = sorted(available_timezones() - {"localtime", "Factory"})
    fixed = (
        f"{'-' if quarter < 0 else '+'}{abs(quarter) // 4:02}:{abs(quarter) % 4 * 15:02}"
        for quarter in range(-_QUARTERS, _QUARTERS + 1)
    )
    return ("UTC", *fixed, *database_zones)


def readings_of(time_zone: str) -> Iterator[Reading]:
    """Every way in which a decoder may read moments of a server in `time_zone`. The digits on the
    wire are of a clock in that zone or in UTC. A decoder takes them for the wall clock of some zone
    ("read as"), or shows the moment on the wall clock of some zone ("shown as").
    """
    for wire in dict.fromkeys((time_zone, "UTC")):
        for zone in (time_zone, *zones()):
            yield Reading("read as", zone, wire)
            yield Reading("shown as", zone, wire)


def fitting(clock: Clock, reading: Reading, pairs: Iterable[Pair]) -> frozenset[Pair]:
    """Those of the pairs (possible moments, decoded moment) that the reading explains; `clock` is
    that of the server's zone.
    """
    return frozenset(pair for pair in pairs if _explains(clock, reading, *pair))


def _explains(clock: Clock, reading: Reading, options: tuple[int, ...], decoded: int) -> bool:
    """Whether a decoder that reads times as `reading` says makes `decoded` of one of the instants
    that a value may be (`options`); `clock` is that of the server's zone.
    """
    read = Clock(reading.zone)
    for option in options:
        try:
            digits = option if reading.wire == "UTC" else clock.to_wall(option)
            if reading.direction == "shown as" and read.to_wall(digits) == decoded:
                return True
            if reading.direction == "read as" and decoded in read.to_instants(digits):
                return True
        except OverflowError:  # this zone has no such clock: it is before year 1 or after 9999
            continue
    return False
