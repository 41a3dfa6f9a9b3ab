"""Limits the memory of a decoder: the private memory of each of its processes (RLIMIT_DATA of
Linux; memory that is only reserved does not count).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Final

from conformance.engines.spark_conf import BOUND, MEMORY, REMOTE

DEFAULT_MB: Final = 4096
"""The memory limit of each process of a decoder without `--memory`."""
_HEAP_MB: Final = 1024
"""Spark's default of the driver's memory."""
_UNITS: Final = {"k": 1 / 1024, "m": 1, "g": 1 << 10, "t": 1 << 20}
"""The units of Spark's setting of memory, in MB."""
_MEMORY_WORDS: Final = re.compile(
    r"memory ?error|out ?of ?(heap )?memory|heap limit|bad_alloc|insufficient memory|allocat\w+"
    r" .*(memory|failed)",
    re.IGNORECASE,
)
"""What a process that got no memory may say last."""


def bound_mb(conf: Mapping[str, str]) -> int:
    """The memory limit of a session in MB: that of `--memory` in its settings, or the default. 0 is
    no limit.
    """
    return int(conf.get(BOUND, DEFAULT_MB))


def session_bound_mb(conf: Mapping[str, str]) -> int:
    """The memory limit in MB of Spark's processes on this machine: the decoder's limit plus the
    JVM's heap.
    """
    bound = bound_mb(conf)
    if not bound:
        return 0
    memory = conf.get(MEMORY, f"{_HEAP_MB}m").strip().lower()
    heap_setting = re.fullmatch(r"([0-9]{1,9})([kmgt]?)b?", memory)
    # With Spark Connect the JVM is on the server. Spark itself refuses what is no size.
    if heap_setting is None or REMOTE in conf:
        return bound
    return bound + int(int(heap_setting[1]) * _UNITS[heap_setting[2] or "m"])


def bound_memory(process: int, mb: int) -> None:
    """Limits the memory of a process that has just started, and of all that it starts later. Does
    nothing for 0, or on other systems than Linux.
    """
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import resource

        if mb:
            resource.prlimit(process, resource.RLIMIT_DATA, (mb << 20, mb << 20))


def memory_remark(output: str, mb: int) -> str:
    """A line that names the memory limit, if the output of a process that failed speaks of memory;
    else "".
    """
    return (
        f"\nEach process of the decoder may have {mb:,} MB (--memory)."
        if mb and _MEMORY_WORDS.search(output)
        else ""
    )
