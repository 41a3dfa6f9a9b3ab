"""Lanes: the partitions of all topics that are read together, numbered one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

Lanes: TypeAlias = Mapping[tuple[str, int], int]
"""The lane (running number) of each partition, by topic and partition number."""


def lanes_of(places: Iterable[tuple[str, int]]) -> Lanes:
    """Numbers the partitions, given as (topic, partition number), in this order."""
    return {place: lane for lane, place in enumerate(places)}


def by_name(lanes: Lanes) -> dict[str, int]:
    """The lanes under the names `TOPIC/NUMBER` of their partitions, for a request to the process
    that runs Spark; {} if each partition's number is its lane, so that nothing must be translated.
    """
    apart = any(number != lane for (_, number), lane in lanes.items())
    return {f"{topic}/{number}": lane for (topic, number), lane in lanes.items()} if apart else {}
