"""The producer's process of `load`, as its parent sees it: commands go in, events come out (`_producer`)."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final, Self

from generators.errors import HarnessError

MODULE: Final = "conformance.load._producer"


class Producer:
    """The process that publishes. A thread reads its events; the current `step`, if any, takes them."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._events: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self.samples: dict[tuple[int, int], tuple[int, int]] = {}
        self.acked = self.owed = self.places = 0
        self.ends: dict[int, int] = {}
        # A separate session: on Ctrl-C we stop it, after its last events.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
            encoding="utf-8",
        )
        self._thread = threading.Thread(target=self._read, name="cdc-producer", daemon=True)
        self._thread.start()
        # Not an argument, which other users see: it may have a password.
        self.tell(request)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            with self._lock:
                self._events.append(event)
        with self._lock:
            self._events.append({"ended": True})

    def tell(self, command: Mapping[str, Any]) -> None:
        """Sends a command. Raises HarnessError if the process has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise HarnessError(f"the producer ended with exit code {self._process.wait()}") from None

    def take(self) -> list[dict[str, Any]]:
        """The events since the last call. Raises HarnessError if publishing failed or the process has ended."""
        with self._lock:
            events, self._events = self._events, []
        for event in events:
            if "failed" in event:
                raise HarnessError(event["failed"])
            if "ended" in event:
                raise HarnessError(f"the producer ended with exit code {self._process.wait()}")
            for lane, offset, _ in event.get("marks", ()):
                self.ends[lane] = max(self.ends.get(lane, 0), offset + 1)
            self.samples.update(((p, o), (unit, place)) for p, o, unit, place in event.get("samples", ()))
            if "done" in event:
                self.acked += event["done"]["acked"]
                self.owed += event["done"]["owed"]
                self.places += event["done"]["places"]
        return events

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join(5)
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
