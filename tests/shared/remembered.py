"""An engine that answers from memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, Request

Place = tuple[str, int, int]


def done(value: Any = None) -> Future[Any]:
    """A future that has its value, or its error."""
    future = Future[Any]()
    if isinstance(value, Exception):
        future.set_exception(value)
    else:
        future.set_result(value)
    return future


class Memory:
    """Gives what `answer` makes of a request and its places, or raises of a decoder; keeps what it
    was asked.
    """

    def __init__(
        self,
        answer: Callable[[Request, list[Place]], Any],
        environments: dict[str, dict[str, str]] | None = None,
    ):
        self.answer, self.environments, self.asked = answer, environments or {}, list[Request]()

    def decode(self, request: Request) -> Future[Any]:
        """A future that is done."""
        self.asked.append(request)
        places = [(t, p, at) for t, p, low, high in request.ranges for at in range(low, high + 1)]
        try:
            return done(self.answer(request, places))
        except (DecodeRaised, DecodeTimeout, ChildDied) as error:
            return done(error)
