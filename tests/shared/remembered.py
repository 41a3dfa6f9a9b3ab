"""An engine that answers from memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, Request

Place = tuple[str, int, int]


class Memory:
    """Gives what `answer` makes of a request and its places, or raises of a decoder; keeps what it was asked."""

    def __init__(self, answer: Callable[[Request, list[Place]], Any], environments: dict[str, dict[str, str]] | None = None):
        self.answer, self.environments, self.asked = answer, environments or {}, list[Request]()

    def decode(self, request: Request) -> Future[Any]:
        """A future that is done."""
        self.asked.append(request)
        future, places = Future[Any](), [(t, p, at) for t, p, low, high in request.ranges for at in range(low, high + 1)]
        try:
            future.set_result(self.answer(request, places))
        except (DecodeRaised, DecodeTimeout, ChildDied) as error:
            future.set_exception(error)
        return future
