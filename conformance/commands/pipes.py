"""Standard output and standard error that outlive their readers.

`run ... | head -1` closes the pipe early. The command goes on, so that its exit code stays the
verdict's; what nobody reads is dropped.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO


class UnreadPipe(io.FileIO):
    """A file over a descriptor that drops what is written once nobody reads the pipe any more."""

    def write(self, data: Any) -> int:
        """Writes the bytes and returns their number. Once nobody reads the pipe any more, these and
        all later bytes are dropped without an error: the descriptor becomes /dev/null.
        """
        try:
            return super().write(data)
        except BrokenPipeError:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self.fileno())
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Replaces standard output and standard error by streams that drop what nobody reads, so that
    the command goes on after `| head -1`.
    """
    sys.stdout, sys.stderr = _outliving(sys.stdout), _outliving(sys.stderr)


def _outliving(stream: TextIO) -> TextIO:
    """A text stream over the same file descriptor that drops what nobody reads any more; the stream
    itself if it has no descriptor, as in tests.
    """
    try:
        descriptor = stream.fileno()
    except (OSError, AttributeError):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(UnreadPipe(descriptor, "w", closefd=False)),
        stream.encoding,
        stream.errors,
        line_buffering=stream.isatty() or stream is sys.stderr,
        write_through=stream is sys.stderr,
    )
