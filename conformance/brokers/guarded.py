"""Child processes that never outlive their parent: the parent's side of `_guardian.py`."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from conformance.brokers._guardian import kill_strays
from generators.errors import HarnessError

__all__ = ["Guarded", "kill_strays"]

_GUARDIAN = Path(__file__).with_name("_guardian.py")


class Guarded:
    """A command under a guardian: it ends at `stop`, and when this process ends in any way, SIGKILL
    included.

    `output` receives its standard output and error. If this process dies, the guardian kills the
    processes whose temporary folder is in the directory `remove`, removes that, and runs the
    command `afterwards`; after `stop` it does none of it. With `command` None the guardian does
    only that. Raises HarnessError on an operating system without POSIX processes.
    """

    def __init__(
        self,
        command: Sequence[str] | None,
        *,
        output: IO[bytes] | int = subprocess.DEVNULL,
        pid_file: Path | None = None,
        remove: Path | None = None,
        afterwards: Sequence[str] | None = None,
    ) -> None:
        if os.name != "posix":
            raise HarnessError(
                "child processes are guarded on Linux and macOS only; use --broker HOST:PORT here"
            )
        self.pid_file = pid_file
        if pid_file is not None:
            # A former child's id would be read as this child's.
            pid_file.unlink(missing_ok=True)
        spec = {
            "parent": os.getpid(),
            "command": list(command) if command is not None else None,
            "pid_file": str(pid_file) if pid_file else None,
            "remove": str(remove) if remove else None,
            "afterwards": list(afterwards) if afterwards is not None else None,
        }
        # A separate session: else Ctrl-C on the terminal would kill the child before we stop it.
        self._guardian = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_GUARDIAN), json.dumps(spec)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,
            cwd="/",
        )

    @property
    def pid(self) -> int | None:
        """The child's process id; None until the guardian has written it."""
        try:
            return int(self.pid_file.read_text(encoding="ascii")) if self.pid_file else None
        except (OSError, ValueError):
            return None

    def exit_code(self) -> int | None:
        """The child's exit code, or None while it runs."""
        return self._guardian.poll()

    def wait(self, timeout_s: float) -> int | None:
        """The child's exit code once it ends, or None after `timeout_s` seconds."""
        try:
            return self._guardian.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, timeout_s: float = 10) -> None:
        """Kills the child and waits for its end. Does nothing if it has ended."""
        stdin = self._guardian.stdin
        assert stdin is not None
        deadline = time.monotonic() + timeout_s
        with contextlib.suppress(OSError, ValueError):
            stdin.write(b"s")
            stdin.flush()
        try:
            self._guardian.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            # The kernel kills the child with its guardian.
            self._guardian.kill()
            self._guardian.wait()
        finally:
            with contextlib.suppress(OSError):
                stdin.close()
