"""The bound of a decoder's memory: each of its processes may have so much of its own (RLIMIT_DATA
of Linux, which what a process only reserves does not fill).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Final

from conformance.engines.spark_conf import BOUND, MEMORY, REMOTE

DEFAULT_MB: Final = 4096
_HEAP_MB: Final = 1024
"""Spark's default of the driver's memory."""
_UNITS: Final = {"k": 1 / 1024, "m": 1, "g": 1 << 10, "t": 1 << 20}
_MEMORY_WORDS: Final = re.compile(
    r"memory ?error|out ?of ?(heap )?memory|heap limit|bad_alloc|insufficient memory|allocat\w+"
    r" .*(memory|failed)",
    re.IGNORECASE,
)
"""Last words of a process that got no memory."""


def bound_mb(conf: Mapping[str, str]) -> int:
    """The bound of `--memory` in a session's settings, or the default; 0: none."""
    return int(conf.get(BOUND, DEFAULT_MB))


def session_bound_mb(conf: Mapping[str, str]) -> int:
    """The bound of Spark's processes on this machine: the decoder's, and the heap of the JVM."""
    bound = bound_mb(conf)
    if not bound:
        return 0
    memory = conf.get(MEMORY, f"{_HEAP_MB}m").strip().lower()
    heap_setting = re.fullmatch(r"(\d+)([kmgt]?)b?", memory)
    # With Spark Connect the JVM is on the server.
    if heap_setting is None or REMOTE in conf:
        return bound
    return bound + int(int(heap_setting[1]) * _UNITS[heap_setting[2] or "m"])


def bound_memory(process: int, mb: int) -> None:
    """Bounds a process that has just begun, and all that it will start; nothing on other systems,
    and for 0.
    """
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import resource

        if mb:
            resource.prlimit(process, resource.RLIMIT_DATA, (mb << 20, mb << 20))


def memory_remark(output: str, mb: int) -> str:
    """A line that names the bound, if a process's output speaks of memory; else ""."""
    return (
        f"\nEach process of the decoder may have {mb:,} MB (--memory)."
        if mb and _MEMORY_WORDS.search(output)
        else ""
    )
