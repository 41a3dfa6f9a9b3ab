"""Finds the items on which a call hangs or ends its process.

Each failure costs a time limit or a start, so there are few steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from conformance.engines.base import ChildDied, DecodeRaised, DecodeTimeout

HANGS: Final = 3.0
"""Limit of the time lost in calls that hang or end the process, as a multiple of the time limit of a call."""
PROBE_S: Final = 10.0
"""Least time limit of a part of a call that hung; an item alone has the whole time limit."""
PARTS: Final = 8
"""Parts of a call that hung or ended the process."""

T = TypeVar("T")


def parts(items: Sequence[T], number: int = PARTS) -> list[Sequence[T]]:
    """The items in parts of about one size, the first part last."""
    size = -(-len(items) // number)
    return [items[start : start + size] for start in reversed(range(0, len(items), size))]


def probe_s(timeout_s: float) -> float:
    """The time limit of a part of a call that hung."""
    return min(timeout_s, max(PROBE_S, timeout_s / PARTS))


def guilty(ask: Callable[[Sequence[T], float], object], items: Sequence[T], timeout_s: float) -> dict[T, Exception]:
    """The items on which `ask` hangs or ends the process, alone, with its error; those that the budget leaves are missing.

    `ask` is given items and their time limit, 0 for the engine's own.
    """
    found: dict[T, Exception] = {}
    waiting, lost_s = parts(items), 0.0
    while waiting and lost_s < HANGS * timeout_s:
        some, began = waiting.pop(), time.monotonic()
        try:
            ask(some, probe_s(timeout_s) if len(some) > 1 else 0.0)
        except DecodeRaised:
            continue
        except (DecodeTimeout, ChildDied) as error:
            lost_s += time.monotonic() - began
            if len(some) == 1:
                found[some[0]] = error
            else:
                waiting += parts(some)
    return found
