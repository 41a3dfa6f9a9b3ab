"""The output of a child process: its last lines are kept, whatever it prints."""

from __future__ import annotations

import os
import threading
from typing import Final

TAIL: Final = 64 << 10
"""Bytes that are kept."""
LINES: Final = 15
"""Lines that are shown."""
PATIENCE_S: Final = 1.0
"""Time limit of reading what an ended child has printed; a process of its own may keep the pipe
open.
"""


class ChildLog:
    """Reads a pipe in a thread until every writer has closed it."""

    def __init__(self) -> None:
        reading, self.writing = os.pipe()
        self._held = bytearray()
        self._thread = threading.Thread(
            target=self._read, args=(reading,), name="cdc-child-log", daemon=True
        )
        self._thread.start()

    def started(self) -> None:
        """Closes this process's end for writing, once the child has it."""
        os.close(self.writing)

    def text(self, wait_s: float = 0.0) -> str:
        """What is kept; after that time, or the end of its writers, to which an ended child's last
        words may still come.
        """
        self._thread.join(wait_s)
        return bytes(self._held).decode("utf-8", "replace")

    def tail(self, *, words: bool = False) -> str:
        """An ended child's last lines; with `words` those before Python's traceback, where a JVM
        that did not start says why.
        """
        text = self.text(PATIENCE_S)
        before = text.partition("Traceback (most recent call last):")[0].strip() if words else ""
        return "\n".join((before or text).splitlines()[-LINES:])

    def _read(self, pipe: int) -> None:
        while chunk := os.read(pipe, 1 << 16):
            self._held += chunk
            del self._held[:-TAIL]
        os.close(pipe)
