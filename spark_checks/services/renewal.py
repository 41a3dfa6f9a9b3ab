"""Replaces this Python process by a new one, with the same parent and the same JVM, and with a new
Spark context.

Whatever a decoder keeps in modules, in workers or in the session is gone, and no other JVM has to
start.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from io import FileIO
from typing import Any, Final, NoReturn

from pyspark import SparkContext
from pyspark.sql import SparkSession

_REQUEST: Final = "CDC_CONFORMANCE_RENEWAL"
"""The environment variable with the id of the request that the new process answers."""
_JVM: Final = "CDC_CONFORMANCE_JVM"
"""The environment variable with the JVM's process id and the descriptor of its standard input."""
_GATEWAY: Final = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET")
"""The environment variables by which PySpark finds a running JVM."""
_ENVIRONMENT: Final = dict(os.environ)
_DIRECTORY: Final = os.getcwd()
"""The environment and the working directory that this process had at its start."""
_POLL_S: Final = 0.02
"""Seconds between two looks at whether the JVM has ended."""


@dataclass(frozen=True, slots=True)
class Jvm:
    """The Java process that an earlier Python process started, with the methods of Popen that are
    needed.
    """

    pid: int
    stdin: FileIO

    def wait(self, timeout: float) -> int:
        """The exit code of the JVM once it ends. Raises TimeoutExpired after `timeout` seconds."""
        until = time.monotonic() + timeout
        while True:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= until:
                raise subprocess.TimeoutExpired("java", timeout)
            time.sleep(_POLL_S)


def renew(spark: SparkSession, request: int) -> NoReturn:
    """Replaces this process by a new one with the environment and the directory that it had at its
    start; does not return. The new process answers `request` (`answer`), and starts its session
    when asked to.
    """
    gateway: Any = SparkContext._gateway
    if home := os.environ.get("TMPDIR"):
        gateway.jvm.java.lang.System.setProperty("user.dir", home)
    spark.stop()
    stdin = gateway.proc.stdin.fileno()
    os.set_inheritable(stdin, True)
    parameters = gateway.gateway_parameters
    inherited = {
        _REQUEST: str(request),
        _JVM: f"{gateway.proc.pid} {stdin}",
        **dict(zip(_GATEWAY, (str(parameters.port), parameters.auth_token), strict=True)),
    }
    sys.stdout.flush()
    sys.stderr.flush()
    os.chdir(_DIRECTORY)
    os.execve(sys.executable, sys.orig_argv, {**_ENVIRONMENT, **inherited})  # noqa: S606 - this process, anew


def answer() -> dict[str, Any] | None:
    """The answer to the request by which this process replaced an earlier one; None in a process
    that replaced none.
    """
    request = os.environ.pop(_REQUEST, None)
    return None if request is None else {"id": int(request)}


def take_over() -> bool:
    """Takes the JVM that an earlier process left to this one as its own child, to be ended by it.
    Returns False if no process left one, and the session has started a JVM of its own.
    """
    address = os.environ.pop(_JVM, None)
    if address is None:
        return False
    for name in _GATEWAY:
        del os.environ[name]
    pid, stdin = map(int, address.split())
    gateway: Any = SparkContext._gateway
    gateway.proc = Jvm(pid, FileIO(stdin, "w"))
    return True
