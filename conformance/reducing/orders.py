"""The orders in which candidates are tried: alternating, one first, without ever smaller parts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from generators.model import Scenario


def interleave(*kinds: Iterator[Scenario]) -> Iterator[Scenario]:
    """Yields from several iterators of scenarios in turn, one of each, so that a limit cuts all of
    them alike.
    """
    for group in itertools.zip_longest(*kinds):
        yield from (candidate for candidate in group if candidate is not None)


def put_first(items: Sequence[Any], number: int) -> list[Any]:
    """The items, with item `number` first."""
    return [*items[number : number + 1], *items[:number], *items[number + 1 :]]


def without_parts(items: Sequence[Any]) -> Iterator[list[Any]]:
    """The items without a part: halves first, then ever smaller parts; never empty."""
    size = len(items) // 2
    while size:
        for start in range(0, len(items), size):
            remaining = [*items[:start], *items[start + size :]]
            if remaining:
                yield remaining
        size //= 2
