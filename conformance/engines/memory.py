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
_WORDS: Final = re.compile(
    r"memory ?error|out ?of ?(heap )?memory|heap limit|bad_alloc|insufficient memory|allocat\w+"
    r" .*(memory|failed)",
    re.IGNORECASE,
)
"""Last words of a process that got no memory."""


def bound_mb(conf: Mapping[str, str]) -> int:
    """The bound of `--memory` in a session's settings, or the default; 0: none."""
    return int(conf.get(BOUND, DEFAULT_MB))


def of_session(conf: Mapping[str, str]) -> int:
    """The bound of the processes of Spark here: to a JVM its heap is added."""
    bound, given = (
        bound_mb(conf),
        re.fullmatch(r"(\d+)([kmgt]?)b?", conf.get(MEMORY, f"{_HEAP_MB}m").strip().lower()),
    )
    heap = int(given[1]) * _UNITS[given[2] or "m"] if given and REMOTE not in conf else 0
    return bound and bound + int(heap)


def bounded(process: int, mb: int) -> None:
    """Bounds a process that has just begun, and all that it will start; nothing on other systems,
    and for 0.
    """
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import resource

        if mb:
            resource.prlimit(process, resource.RLIMIT_DATA, (mb << 20, mb << 20))


def remark(text: str, mb: int) -> str:
    """A line on the bound behind last words that tell of memory; else ""."""
    return (
        f"\nEach process of the decoder may have {mb:,} MB (--memory)."
        if mb and _WORDS.search(text)
        else ""
    )
