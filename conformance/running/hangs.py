"""Finds the items on which a call hangs or ends its process.

Each failure costs a time limit or a start, so there are few steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, Lost

HANGS: Final = 3.0
"""Limit of the time lost in calls that hang or end the process, as a multiple of the time limit of a call."""
PROBE_S: Final = 10.0
"""Least time limit of a part of a call that hung; an item alone has the whole time limit."""
DEATHS: Final = 16
"""Limit of the calls that end their process: each costs a start, which is not the decoder's time."""
PARTS: Final = 8
"""Parts of a call that hung or ended the process."""

T = TypeVar("T")


def lost(error: Lost, began: float) -> float:
    """The decoder's time in a call that began then and lost its process."""
    return time.monotonic() - began if error.lost_s is None else error.lost_s


def parts(items: Sequence[T], number: int = PARTS) -> list[Sequence[T]]:
    """The items in parts of about one size, the first part last."""
    size = -(-len(items) // number)
    return [items[start : start + size] for start in reversed(range(0, len(items), size))]


def probe_s(timeout_s: float) -> float:
    """The time limit of a part of a call that hung."""
    return min(timeout_s, max(PROBE_S, timeout_s / PARTS))


class Search(Generic[T]):
    """The parts still to ask. `cold`: the next call is the first of its process.

    An item alone that does not end in such a call is not convicted at once, since a busy machine may be guilty: it is asked again
    at the end, in a process that has answered other calls, if any of them is answered.
    """

    def __init__(self, waiting: Sequence[Sequence[T]], cold: bool) -> None:
        self.waiting, self.cold, self.doubted = list(waiting), cold, list[tuple[T, Exception]]()
        self._again = False

    def __bool__(self) -> bool:
        return bool(self.waiting or self.doubted)

    def pop(self) -> Sequence[T]:
        """The part to ask next."""
        self._again = not self.waiting
        return [self.doubted.pop(0)[0]] if self._again else self.waiting.pop()

    def convicts(self, item: T, error: Exception) -> bool:
        """Whether an unanswered call with this item alone convicts it."""
        if isinstance(error, DecodeTimeout) and self.cold and not self._again:
            self.doubted.append((item, error))
            return False
        return True


def guilty(ask: Callable[[Sequence[T], float], object], items: Sequence[T], timeout_s: float) -> dict[T, Exception]:
    """The items on which `ask` hangs or ends the process, alone, with its error; those that the budget leaves are missing.

    `ask` is given items and their time limit, 0 for the engine's own.
    """
    convicted: dict[T, Exception] = {}
    search, lost_s, deaths = Search(parts(items), cold=True), 0.0, 0
    while search and lost_s < HANGS * timeout_s and deaths < DEATHS:
        some, began = search.pop(), time.monotonic()
        try:
            ask(some, probe_s(timeout_s) if len(some) > 1 else 0.0)
            search.cold = False
        except DecodeRaised:
            search.cold = False
        except (DecodeTimeout, ChildDied) as error:
            lost_s, deaths = lost_s + lost(error, began), deaths + isinstance(error, ChildDied)
            if len(some) > 1:
                search.waiting += parts(some)
            elif search.convicts(some[0], error):
                convicted[some[0]] = error
            search.cold = True
    return convicted | dict(search.doubted)
