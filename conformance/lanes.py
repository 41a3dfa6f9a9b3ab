"""Lanes: the partitions of all topics that are read together, numbered one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

Lanes: TypeAlias = Mapping[tuple[str, int], int]
"""The lane of each partition, by topic and number."""


def lanes_of(places: Iterable[tuple[str, int]]) -> Lanes:
    """The lanes of partitions in this order."""
    return {place: lane for lane, place in enumerate(places)}


def by_name(lanes: Lanes) -> dict[str, int]:
    """The lanes by "TOPIC/NUMBER" of their partitions, in the form in which a request to Spark's
    side has them; {} if each lane has the number of its partition, so that nothing is to be
    translated.
    """
    apart = any(number != lane for (_, number), lane in lanes.items())
    return {f"{topic}/{number}": lane for (topic, number), lane in lanes.items()} if apart else {}
