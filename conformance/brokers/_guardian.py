"""A watchdog that ends a child process when the process that asked for it is gone, however it went.

Run as a script, by path, with one JSON argument and a pipe from the parent as standard input; it imports nothing of ours. Fields:

- `parent`: process id of the parent;
- `command`: what to run as a child (its output goes where the guardian's goes), or null for the last two fields alone;
- `pid_file`: where the child's process id is written, or null;
- `remove`: a directory to remove when the parent is gone, or null;
- `afterwards`: a command to run when the parent is gone, or null.

A byte on standard input means "stop": the child is killed and nothing else happens, for the parent cleans up itself. End of file,
another parent process id, or SIGTERM mean that the parent is gone. Exits with the child's code when the child ends by itself.
Needs POSIX; on Linux the kernel also kills the child if the guardian itself is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_POLL_S = 0.2
_PR_SET_PDEATHSIG = 1


def _dies_with(guardian: int) -> Callable[[], None] | None:
    """What a Linux child calls before exec, so that the kernel kills it with the guardian; None where there is no such call."""
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None

    def before_exec() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guardian:
            os._exit(1)

    return before_exec


def _wait(parent: int, child: subprocess.Popen[bytes] | None) -> str:
    """Which comes first: `stop` (the parent said so), `orphaned` (the parent is gone) or `ended` (the child is)."""
    while child is None or child.poll() is None:
        # A forked sibling may hold the other end of the pipe open after the parent's death, so the parent's id is looked at too.
        if os.getppid() != parent:
            return "orphaned"
        if select.select([0], [], [], _POLL_S)[0]:
            return "stop" if os.read(0, 1) else "orphaned"
    return "ended"


def _terminated(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def main(spec: dict[str, Any]) -> int:
    """Guards until something happens; returns the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _terminated)
    child: subprocess.Popen[bytes] | None = None
    outcome = "orphaned"
    try:
        if spec["command"]:
            before_exec = _dies_with(os.getpid())
            child = subprocess.Popen(spec["command"], stdin=subprocess.DEVNULL, preexec_fn=before_exec)  # noqa: PLW1509 - no threads
            if spec["pid_file"]:
                Path(spec["pid_file"]).write_text(str(child.pid), encoding="ascii")
        outcome = _wait(spec["parent"], child)
    finally:
        if child is not None and child.poll() is None:
            child.kill()
            child.wait()
        if outcome == "orphaned":
            if spec["remove"]:
                shutil.rmtree(spec["remove"], ignore_errors=True)
            if spec["afterwards"]:
                with contextlib.suppress(OSError):
                    subprocess.run(spec["afterwards"], stdin=subprocess.DEVNULL, check=False)
    return child.returncode if child is not None and outcome == "ended" else 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
