"""Runs an engine's jobs in a thread of their own, one after the other."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from generators.errors import HarnessError

T = TypeVar("T")


class Jobs:
    """A thread that runs jobs in order, within the context manager `around`. `close` lets the
    running job finish and cancels those that have not begun; `closed` says that it was called.
    """

    def __init__(self, name: str, around: AbstractContextManager[object]) -> None:
        self.closed = False
        self._around, self._closing = around, threading.Lock()
        self._waiting: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = (
            queue.SimpleQueue()
        )
        self.thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self.thread.start()

    def put(self, job: Callable[[], T]) -> Future[T]:
        """Queues a job and returns a future of its result."""
        future: Future[T] = Future()
        with self._closing:
            if self.closed:
                future.set_exception(HarnessError("the engine is closed"))
            else:
                self._waiting.put((future, job))
        return future

    def close(self) -> bool:
        """Lets the running job finish, and cancels those that have not begun. Returns False if it
        was called before.
        """
        with self._closing:
            was_closed, self.closed = self.closed, True
            self._waiting.put(None)
        return not was_closed

    def _serve(self) -> None:
        """Runs the jobs of the queue one after the other, until there comes None."""
        with self._around:
            while (entry := self._waiting.get()) is not None:
                future, job = entry
                if self.closed:
                    future.cancel()
                elif future.set_running_or_notify_cancel():
                    try:
                        future.set_result(job())
                    except BaseException as error:  # noqa: BLE001 - the future carries it
                        future.set_exception(error)
