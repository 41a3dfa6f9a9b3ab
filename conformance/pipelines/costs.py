"""The CPU time of the processes that a run started: Spark's, and the Python beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class _Process(NamedTuple):
    """The parent of a process, and its CPU seconds with those of children that it has buried."""

    parent: int
    seconds: float


def cpu_seconds(processes: Path = Path("/proc")) -> float:
    """The CPU time that this process's descendants have taken; 0 without /proc."""
    tick = os.sysconf("SC_CLK_TCK")
    by_pid: dict[int, _Process] = {}
    for path in processes.glob("[0-9]*/stat"):
        try:
            # Behind the name, which may have blanks: the state, the parent ... (proc(5)).
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            seconds = sum(map(int, fields[11:15])) / tick
            by_pid[int(path.parent.name)] = _Process(int(fields[1]), seconds)
        except (OSError, IndexError, ValueError):
            # It ended meanwhile.
            continue
    total, generation = 0.0, {os.getpid()}
    while generation:
        generation = {pid for pid, process in by_pid.items() if process.parent in generation}
        total += sum(by_pid[pid].seconds for pid in generation)
    return total
