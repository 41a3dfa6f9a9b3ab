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
        reading_end, self.writing_end = os.pipe()
        self._tail_bytes = bytearray()
        self._thread = threading.Thread(
            target=self._read, args=(reading_end,), name="cdc-child-log", daemon=True
        )
        self._thread.start()

    def close_writing_end(self) -> None:
        """Closes this process's end for writing, once the child has it."""
        os.close(self.writing_end)

    def read_text(self, wait_s: float = 0.0) -> str:
        """The last `TAIL` bytes of the output. Waits up to `wait_s` for the writers to close the
        pipe: the last lines of an ended child may still be in it.
        """
        self._thread.join(wait_s)
        return bytes(self._tail_bytes).decode("utf-8", "replace")

    def tail(self, *, before_traceback: bool = False) -> str:
        """The last lines of an ended child; with `before_traceback` those before Python's
        traceback, where a JVM that did not start says why.
        """
        output = self.read_text(PATIENCE_S)
        beginning = (
            output.partition("Traceback (most recent call last):")[0].strip()
            if before_traceback
            else ""
        )
        return "\n".join((beginning or output).splitlines()[-LINES:])

    def _read(self, pipe: int) -> None:
        """Reads the pipe until all writers have closed it, and keeps only the last TAIL bytes."""
        while chunk := os.read(pipe, 1 << 16):
            self._tail_bytes += chunk
            del self._tail_bytes[:-TAIL]
        os.close(pipe)
