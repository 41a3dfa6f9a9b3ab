"""The CPU time of descendants."""

from __future__ import annotations

import os
from pathlib import Path

from conformance.pipelines.costs import cpu_seconds


def write_stat(folder: Path, pid: int, parent: int, ticks: str) -> None:
    (folder / str(pid)).mkdir()
    text = f"{pid} (a ) name) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 20 0 1\n"
    (folder / str(pid) / "stat").write_text(text, "utf-8")


def test_the_time_is_that_of_all_descendants_with_the_children_that_they_buried(
    tmp_path: Path,
) -> None:
    tick = os.sysconf("SC_CLK_TCK")
    own = os.getpid()
    write_stat(tmp_path, own, 1, f"{9 * tick} 0 {9 * tick} 0")
    write_stat(tmp_path, own + 1, own, f"{tick} {2 * tick} {3 * tick} {4 * tick}")
    write_stat(tmp_path, own + 2, own + 1, f"{5 * tick} 0 0 0")
    write_stat(tmp_path, own + 3, 1, f"{7 * tick} 0 0 0")
    (tmp_path / "99" / "stat").mkdir(parents=True)
    assert cpu_seconds(tmp_path) == 15.0


def test_without_such_files_it_is_not_known(tmp_path: Path) -> None:
    assert cpu_seconds(tmp_path / "none") == 0.0
