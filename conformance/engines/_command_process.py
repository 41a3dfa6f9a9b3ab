"""A decoder's process: it runs in its own session, talks over pipes, and ends with all its child
processes.

Reading and writing run concurrently, so that no side blocks on a full pipe.
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from conformance.engines._child_log import LINES, ChildLog
from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout
from conformance.engines.memory import bound_memory, memory_remark
from generators.errors import HarnessError, UsageError

CHUNK: Final = 1 << 20
"""Bytes of a decoder's output that are read at once."""
PIPE: Final = 1 << 20
"""Bytes per pipe, if the system allows it."""

POLL_S: Final = 0.5
"""Seconds between checks of a silent process's standard input."""

GRACE_S: Final = 1.0
"""Seconds for a process to end after its pipes are closed, and again after SIGTERM."""


class ProtocolBreak(DecodeRaised):
    """An unknown or misplaced message of the decoder's process. Later output is ignored."""


def split_command(command: str) -> list[str]:
    """A command's words, split as by a shell, without expansions. Raises UsageError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"cmd:{command}: {error}") from None
    if not words:
        raise UsageError("it names no program; expected is cmd:PROGRAM ARGUMENT...")
    return words


class Process:
    """A running decoder. Raises UsageError when its program cannot be started.

    `variables` are added to the environment, with `home` as the temporary folder; `wake_end` is a
    file descriptor that becomes readable when all work must stop; `memory_mb` bounds the memory of
    each of its processes, if not 0.
    """

    def __init__(
        self,
        command: str,
        variables: Mapping[str, str],
        wake_end: int,
        line_limit: int,
        home: Path,
        memory_mb: int = 0,
    ) -> None:
        command_words, self._log = split_command(command), ChildLog()
        self.variables, self.home, self._memory_mb = dict(variables), home, memory_mb
        try:
            self._child = subprocess.Popen(
                command_words,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log.writing_end,
                env={**os.environ, "TMPDIR": str(home), **variables},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise UsageError(_describe_start_failure(command_words, error)) from None
        finally:
            self._log.close_writing_end()
        child = self._child
        bound_memory(child.pid, memory_mb)
        assert child.stdin is not None and child.stdout is not None
        self._stdin, self._stdout = child.stdin, child.stdout
        os.set_blocking(self._stdin.fileno(), False)
        for pipe in (self._stdin, self._stdout):
            _widen(pipe.fileno())
        self._wake_end, self._line_limit = wake_end, line_limit
        self._unfinished_line: list[bytes] = []

    @property
    def pid(self) -> int:
        """The process id, also of its session and process group."""
        return self._child.pid

    def converse(
        self,
        chunks: Iterator[bytes],
        take_line: Callable[[bytes, bool], bool],
        deadline: float,
        task: str,
    ) -> None:
        """Sends the chunks and passes each answer line to `take_line`, with whether all chunks are
        sent, until `take_line` returns true. Raises ProtocolBreak, DecodeTimeout ("did not `task`
        in time"), ChildDied and HarnessError.
        """
        pending, sending = memoryview(b""), True
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_end, selectors.EVENT_READ)
            selector.register(self._stdout, selectors.EVENT_READ)
            selector.register(self._stdin, selectors.EVENT_WRITE)
            while True:
                if sending and not pending:
                    pending = memoryview(next(chunks, b""))
                    if not pending:
                        sending = False
                        selector.unregister(self._stdin)
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise DecodeTimeout(self.describe_failure(f"did not {task} in time"))
                ready = {key.fd for key, _ in selector.select(min(left_s, POLL_S))}
                if self._wake_end in ready:
                    raise HarnessError("the engine is closed")
                if self._stdout.fileno() in ready and self._read(take_line, not sending):
                    return
                if not ready and not sending and self._input_is_closed():
                    self._read_rest(take_line)
                    raise self._broken_pipe_error(
                        "closed its standard input before it ended the batch"
                    )
                if sending and self._stdin.fileno() in ready:
                    try:
                        pending = pending[os.write(self._stdin.fileno(), pending[:PIPE]) :]
                    except BlockingIOError:
                        continue
                    except BrokenPipeError:
                        self._read_rest(take_line)
                        raise self._broken_pipe_error(
                            "closed its standard input before it had read everything"
                        ) from None

    def check_silence(self) -> ProtocolBreak | None:
        """For use between two calls, when a decoder must say nothing: the error if its process has
        written something or has closed its output, else None.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            if not selector.select(0):
                return None
        chunk = os.read(self._stdout.fileno(), CHUNK)
        if chunk:
            return ProtocolBreak(
                self.describe_failure(f"spoke between two calls: {shorten_line(chunk)}")
            )
        return ProtocolBreak(
            str(self._broken_pipe_error("closed its standard output between two calls"))
        )

    def _read(self, take_line: Callable[[bytes, bool], bool], all_sent: bool) -> bool:
        """Reads what the process has written so far and passes each complete line to `take_line`;
        returns true once that returns true, for the last line of an answer. Raises ProtocolBreak
        for a line that is too long and for output after the last line, and another error if the
        pipe is closed.
        """
        chunk = os.read(self._stdout.fileno(), CHUNK)
        if not chunk:
            line_beginning_on_end = b"".join(self._unfinished_line)
            raise self._broken_pipe_error(
                "closed its standard"
                f" output{f' in the middle of a line, {shorten_line(line_beginning_on_end)}' if line_beginning_on_end else ''}"
            )
        self._unfinished_line.append(chunk)
        if b"\n" not in chunk:
            if sum(map(len, self._unfinished_line)) > self._line_limit:
                raise ProtocolBreak(
                    self.describe_failure(f"wrote a line of more than {self._line_limit} bytes")
                )
            return False
        *lines, line_beginning = b"".join(self._unfinished_line).split(b"\n")
        self._unfinished_line = [line_beginning] if line_beginning else []
        for number, line in enumerate(lines):
            if take_line(line.removesuffix(b"\r"), all_sent):
                if number + 1 < len(lines) or line_beginning:
                    extra_bytes = lines[number + 1] if number + 1 < len(lines) else line_beginning
                    raise ProtocolBreak(
                        self.describe_failure(
                            f"went on after its last answer: {shorten_line(extra_bytes)}"
                        )
                    )
                return True
        return False

    def _input_is_closed(self) -> bool:
        """Whether the process has closed its standard input, so that nobody reads what is sent to
        it.
        """
        poll = select.poll()
        poll.register(self._stdin.fileno(), 0)
        return bool(poll.poll(0))

    def _read_rest(self, take_line: Callable[[bytes, bool], bool]) -> None:
        """Reads the output that a process still has after it closed its input, since its last lines
        may say why; gives up after GRACE_S seconds.
        """
        deadline = time.monotonic() + GRACE_S
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while time.monotonic() < deadline and selector.select(
                max(0.0, deadline - time.monotonic())
            ):
                self._read(take_line, False)

    def _broken_pipe_error(self, deed: str) -> Exception:
        """The error that says why a pipe to the process broke: ChildDied if the process has ended,
        ProtocolBreak if it still runs. `deed` is what it did, such as "closed its standard output
        between two calls".
        """
        if not self._ends_within(GRACE_S):
            return ProtocolBreak(self.describe_failure(f"{deed}, and went on running"))
        code = self._child.wait()
        ending = (
            f"was killed by {signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        )
        output_lines = self._log.read_text(GRACE_S).split("\n")
        last_words = next(
            (
                f", its last words {output_line.strip()[:200]!r}"
                for output_line in reversed(output_lines)
                if output_line.strip()
            ),
            "",
        )
        return ChildDied(self.describe_failure(f"{ending}{last_words}; it {deed}"))

    def _ends_within(self, within_s: float) -> bool:
        """Whether the process ends in that time. It is not reaped, so that its group's id is not
        reused.
        """
        deadline = time.monotonic() + within_s
        while True:
            if self._child.returncode is not None or _has_ended(self._child):
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.01)

    def describe_failure(self, deed: str) -> str:
        """An error text: the decoder and what it did wrong (`deed`), the last lines of its standard
        error, and the memory limit if these speak of memory.
        """
        lines = self._log.read_text().splitlines()[-LINES:]
        message = "\n".join(
            [f"the decoder {deed}", *(f"  its standard error: {line}" for line in lines)]
        )
        return message + memory_remark(message, self._memory_mb)

    def end(self, *, gently: bool = False) -> None:
        """Ends the process and its group: at once, or after a grace period to end by itself."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        if gently and self._child.returncode is None and not self._ends_within(GRACE_S):
            self._signal(signal.SIGTERM)
            self._ends_within(GRACE_S)
        self._signal(signal.SIGKILL)
        self._child.wait()
        self._stdout.close()

    def _signal(self, number: signal.Signals) -> None:
        """Sends a signal to the decoder's process group, if it is still there."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether a child process has ended; it is not reaped, so that its id stays its own."""
    if not hasattr(os, "waitid"):
        return child.poll() is not None
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def shorten_line(line: bytes) -> str:
    """A line of a decoder as text for an error message: its first 120 bytes, and its length if that
    is not all.
    """
    beginning = line[:120].decode("utf-8", "backslashreplace")
    return repr(beginning) + (f" ... ({len(line)} bytes)" if len(line) > 120 else "")


def signal_name(number: int) -> str:
    """The name of a signal by its number, such as SIGKILL for 9."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _widen(pipe: int) -> None:
    """Makes a pipe hold PIPE bytes, where the system can do that."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)


def _describe_start_failure(words: list[str], error: OSError | ValueError) -> str:
    """Why a command could not be started, in words."""
    program = words[0]
    match error:
        case FileNotFoundError() if "/" in program:
            why = f"there is no file {program}"
        case FileNotFoundError():
            why = f"there is no program {program!r} on PATH ({os.environ.get('PATH', '')})"
        case PermissionError():
            why = f"{program} is not executable"
        case OSError(errno=8):
            why = (
                f"{program} is no program: a script needs a first line such as #!/usr/bin/env node"
            )
        case _:
            why = str(error)
    return f"{why}. Tried, without a shell: {words!r}"
