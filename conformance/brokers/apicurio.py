"""Apicurio's schema registry as a Java child process on loopback, in memory, from the Maven registry."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from conformance.brokers.embedded import free_ports
from conformance.brokers.guarded import Guarded
from conformance.brokers.jars import Bundle, Note, jars_of, require_java
from generators.errors import HarnessError

CONFLUENT_API: Final = "/apis/ccompat/v7"
"""Where Apicurio answers as Confluent's registry does."""
VERSION: Final = "2.6.13.Final"
_APP: Final = "apicurio-registry-app"
BUNDLE: Final = Bundle(
    f"{_APP}-{VERSION}",
    "Apicurio registry",
    (("io.apicurio", _APP, VERSION),),
    _APP,
    "136 MB",
    archive="all",
    remedy="or use a running registry (--registry URL), or no broker (--broker none). ",
)
_FLAGS: Final = ("-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djava.awt.headless=true")
_ATTEMPTS: Final = 4
_LOG_LINES: Final = 15


class EmbeddedRegistry:
    """A context manager that starts a registry and removes it afterwards, as its guardian does if this process dies.

    Raises HarnessError with the end of its log if it does not answer within `timeout_s` seconds, and the errors of `jars_of`.
    """

    def __init__(self, note: Note, *, timeout_s: float = 120) -> None:
        self._note, self._timeout_s, self._port = note, timeout_s, 0
        self._dir: Path | None = None
        self._process: Guarded | None = None

    @property
    def url(self) -> str:
        """Where it answers as Confluent's registry does."""
        return f"http://127.0.0.1:{self._port}{CONFLUENT_API}"

    @property
    def api(self) -> str:
        """Where it answers as itself."""
        return f"http://127.0.0.1:{self._port}/apis/registry/v2"

    @property
    def pid(self) -> int | None:
        """The Java process."""
        return self._process.pid if self._process else None

    def __enter__(self) -> Self:
        java = require_java()
        (runner, *_), told = jars_of(BUNDLE, self._note), ""
        for attempt in range(1, _ATTEMPTS + 1):
            self._dir, (self._port,) = Path(tempfile.mkdtemp(prefix="cdc-conformance-registry-")), free_ports(1)
            place = (f"-Djava.io.tmpdir={self._dir}", "-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={self._port}")
            with (self._dir / "registry.log").open("ab") as log:
                command = [java.path, *_FLAGS, *place, "-jar", str(runner)]
                self._process = Guarded(command, output=log, pid_file=self._dir / "pid", remove=self._dir)
            try:
                if self._answers(self._process):
                    self._note(f"schema registry at {self.url}: Apicurio {VERSION} on Java {java.version}")
                    return self
                told = self._tail()
            except BaseException:
                self.close()
                raise
            self.close()
            if "already in use" not in told or attempt == _ATTEMPTS:
                break
        raise HarnessError(f"the schema registry did not start in {self._timeout_s:.0f} s. The end of its log:\n{told}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stops it and removes its directory."""
        if self._process is not None:
            self._process.stop()
        if self._dir is not None:
            shutil.rmtree(self._dir, ignore_errors=True)

    def _answers(self, process: Guarded) -> bool:
        end = time.monotonic() + self._timeout_s
        while process.exit_code() is None and time.monotonic() < end:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/subjects", timeout=5):  # noqa: S310
                return True
            time.sleep(0.2)
        return False

    def _tail(self) -> str:
        assert self._dir is not None
        lines = (self._dir / "registry.log").read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"  {line[:400]}" for line in lines[-_LOG_LINES:]) or "  (its log is empty)"
