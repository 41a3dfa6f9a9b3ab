"""Whether processes live."""

from __future__ import annotations

from pathlib import Path


def alive(pid: int | str) -> bool:
    """Whether there is such a process; a zombie, whose exit code nobody has asked for yet, is
    dead.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"
