"""Finds the items on which a call hangs or ends its process.

Each failure costs a time limit or a start, so there are few steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, ProcessLost

HANGS: Final = 3.0
"""Limit of the time that a search loses in calls that hang or end the process, as a multiple of the
time limit of one call.
"""
PROBE_S: Final = 10.0
"""The least time limit, in seconds, of a part of a call that hung; an item alone has the whole time
limit.
"""
DEATHS: Final = 16
"""Limit of the calls of a search that end the decoder's process: each costs the start of a new one,
which HANGS does not count.
"""
PARTS: Final = 8
"""The number of parts into which the items of a call are divided that hung or ended the process."""

T = TypeVar("T")
"""An item on which calls may fail, such as a case or a message's place."""


def parts(items: Sequence[T], number: int = PARTS) -> list[Sequence[T]]:
    """Divides the items into at most `number` parts of about one size. The last part comes first:
    the caller takes parts from the end.
    """
    size = -(-len(items) // number)
    return [items[start : start + size] for start in reversed(range(0, len(items), size))]


def probe_s(timeout_s: float) -> float:
    """The time limit, in seconds, of a part of a call that hung: its share of `timeout_s`, at least
    PROBE_S, at most `timeout_s`.
    """
    return min(timeout_s, max(PROBE_S, timeout_s / PARTS))


class Search(Generic[T]):
    """A search for the items on which calls fail. `waiting` are the parts of the items that are
    still to be decoded. The search is over (false) when none is left, or when calls that hung or
    ended the process have cost too much. `cold`: the next call is the first one of its process.

    An item whose call times out in a cold process is not convicted at once, since a busy machine
    may be to blame: it goes to `doubted`, and is decoded again at the end, in a process that has
    answered other calls, if there is one.
    """

    def __init__(self, waiting: Sequence[Sequence[T]], timeout_s: float, cold: bool) -> None:
        self.waiting, self.cold, self.doubted = list(waiting), cold, list[tuple[T, Exception]]()
        self._again, self._left_s, self._deaths = False, HANGS * timeout_s, 0

    def __bool__(self) -> bool:
        """Whether a further call is worth its time: items are left, and the limits of lost time and
        of ended processes are not reached.
        """
        return bool(self.waiting or self.doubted) and self._left_s > 0 and self._deaths < DEATHS

    def pop(self) -> Sequence[T]:
        """The items of the next call: a waiting part; once no part waits, one doubted item, which
        is decoded a second time.
        """
        self._again = not self.waiting
        if not self._again:
            return self.waiting.pop()
        item, _ = self.doubted.pop(0)
        return [item]

    def convicts(self, suspects: Sequence[T], error: Exception, began: float) -> bool:
        """Takes into account that the call on `suspects`, which began at `began`, failed with
        `error`. Returns whether the failure shows that its only item is to blame. Several items are
        divided into new parts; an item whose call timed out in a cold process is doubted, and
        decoded again later.
        """
        if isinstance(error, ProcessLost):
            self._left_s -= time.monotonic() - began if error.lost_s is None else error.lost_s
            self._deaths += isinstance(error, ChildDied)
        doubtful = isinstance(error, DecodeTimeout) and self.cold and not self._again
        self.cold = isinstance(error, ProcessLost)
        if len(suspects) > 1:
            self.waiting += divided(suspects, error)
        elif doubtful:
            self.doubted.append((suspects[0], error))
        return len(suspects) == 1 and not doubtful


def divided(items: Sequence[T], error: Exception) -> list[Sequence[T]]:
    """The items of a call that failed with `error`, in parts for the next calls: two halves if the
    decoder raised, which costs little time, else PARTS parts.
    """
    return parts(items, 2 if isinstance(error, DecodeRaised) else PARTS)


def find_culprits(
    decode: Callable[[Sequence[T], float], object], items: Sequence[T], timeout_s: float
) -> dict[T, Exception]:
    """The items on which `decode` hangs or ends the process when it is given them alone, each with
    its error. Items that the limits of the search leave out are missing. Items that timed out in
    a process's first call, and for whose second try no time was left, are among them (`doubted`).

    `decode` is given items and their time limit in seconds, 0 for the engine's own. A call that
    only raises has answered: its items are not searched further.
    """
    convicted: dict[T, Exception] = {}
    search = Search(parts(items), timeout_s, cold=True)
    while search:
        suspects, began = search.pop(), time.monotonic()
        try:
            decode(suspects, probe_s(timeout_s) if len(suspects) > 1 else 0.0)
            search.cold = False
        except DecodeRaised:
            search.cold = False
        except ProcessLost as error:
            if search.convicts(suspects, error, began):
                convicted[suspects[0]] = error
    return convicted | dict(search.doubted)
