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
    """Lanes by TOPIC/NUMBER, as Spark's side takes them; empty where each is the number of its
    partition.
    """
    apart = any(number != lane for (_, number), lane in lanes.items())
    return {f"{topic}/{number}": lane for (topic, number), lane in lanes.items()} if apart else {}
