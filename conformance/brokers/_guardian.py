"""A watchdog that ends a child process when the parent process ends, in any way.

Runs as a script, by path, without imports of ours; standard input is a pipe from the parent. Fields
of its JSON argument:

- `parent`: process id of the parent;
- `command`: the child's command (it shares the guardian's output), or null for the last two fields
  only;
- `pid_file`: the file for the child's process id, or null;
- `remove`: a directory to remove if the parent dies, or null, after the processes whose temporary
  folder is in it are killed;
- `afterwards`: a command to run if the parent dies, or null.

A byte on standard input means "stop": the guardian only kills the child, and the parent cleans up.
End of file, a new parent process id, or SIGTERM mean that the parent died. If the child ends by
itself, the guardian exits with the child's code. Needs POSIX; on Linux the kernel also kills the
child if the guardian itself is killed.
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
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_POLL_S = 0.2
_EXEC_S = 2
"""The time for which strays are looked for again while a process is in its exec."""
_PR_SET_PDEATHSIG = 1


def _dies_with(guardian: int) -> Callable[[], None] | None:
    """The function that a child process calls before exec, so that the kernel kills it when the
    guardian ends; None on systems other than Linux.
    """
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None

    def before_exec() -> None:
        """Has the kernel kill this process when the guardian ends, and ends it at once if the
        guardian has died before that.
        """
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guardian:
            os._exit(1)

    return before_exec


def _wait(parent: int, child: subprocess.Popen[bytes] | None) -> str:
    """Waits for the first event: `stop` (the parent asks for it), `orphaned` (the parent died) or
    `ended` (the child ended).
    """
    while child is None or child.poll() is None:
        # A forked sibling may keep the pipe open after the parent's death, so the parent's id is
        # checked too.
        if os.getppid() != parent:
            return "orphaned"
        if select.select([0], [], [], _POLL_S)[0]:
            return "stop" if os.read(0, 1) else "orphaned"
    return "ended"


def kill_strays(home: Path, processes: Path = Path("/proc")) -> int:
    """Kills the processes whose temporary folder is `home` or below it, even in other sessions.
    Linux only. Returns the number of killed processes.
    """
    variable, killed, deadline = f"TMPDIR={home}/".encode(), set[int](), time.monotonic() + _EXEC_S
    while True:
        count_before, starting = len(killed), False
        for process in processes.glob("[0-9]*"):
            with contextlib.suppress(OSError):
                variables = (process / "environ").read_bytes().split(b"\0")
                if any((variable_text + b"/").startswith(variable) for variable_text in variables):
                    os.kill(int(process.name), signal.SIGKILL)
                    killed.add(int(process.name))
                elif variables == [b""]:
                    starting = starting or _is_in_exec(process)
        # One that was killed may have forked after the list of processes was read.
        if (len(killed) == count_before and not starting) or time.monotonic() > deadline:
            return len(killed)
        time.sleep(0.01)


def _is_in_exec(process: Path) -> bool:
    """Whether a process (its folder in /proc) is just executing a new program, so that its
    arguments and environment cannot be read yet. False for kernel threads and zombies, which have
    no program.
    """
    return bool((process / "exe").readlink()) and not (process / "cmdline").read_bytes()


def _terminated(number: int, frame: object) -> None:
    """The handler of SIGTERM: raises SystemExit, so that `main` cleans up."""
    raise SystemExit(128 + number)


def main(spec: dict[str, Any]) -> int:
    """Runs the guardian: starts the child process of `spec` (the fields are in the module's
    docstring) and watches over it until the child or the parent ends, or the parent asks to stop;
    then cleans up. Returns the exit code.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _terminated)
    child: subprocess.Popen[bytes] | None = None
    outcome = "orphaned"
    try:
        if spec["command"]:
            before_exec = _dies_with(os.getpid())
            child = subprocess.Popen(
                spec["command"],
                stdin=subprocess.DEVNULL,
                preexec_fn=before_exec,  # noqa: PLW1509 - no threads
            )
            if spec["pid_file"]:
                Path(spec["pid_file"]).write_text(str(child.pid), encoding="ascii")
        outcome = _wait(spec["parent"], child)
    finally:
        if child is not None and child.poll() is None:
            child.kill()
            child.wait()
        if outcome == "orphaned":
            if spec["remove"]:
                kill_strays(Path(spec["remove"]))
                shutil.rmtree(spec["remove"], ignore_errors=True)
            if spec["afterwards"]:
                with contextlib.suppress(OSError):
                    subprocess.run(spec["afterwards"], stdin=subprocess.DEVNULL, check=False)
    return child.returncode if child is not None and outcome == "ended" else 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
