"""Runs decoders: the Engine protocol, and the child process in which Spark lives.

The child answers one JSON line per request; bulk goes through Arrow files in a directory that both see. A decoder that hangs is
killed after its time limit, one that kills its process costs that call: the next request starts a fresh child and opens again
what was open. This is the one module of `conformance` that knows `spark_checks`, and only by name.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from conformance.judge import Capabilities
from conformance.output import check_columns
from generators import codec
from generators.errors import HarnessError, UsageError
from generators.model import Deployment, Message, Table

WORKER = "spark_checks.worker"
DECODERS = "spark_checks.decoders"
LIAR = "liar:"

Ranges = tuple[tuple[int, int, int], ...]
"""(partition, first offset, last offset), both inclusive."""


class DecodeRaised(Exception):
    """The decoder raised; the message is the error as the decoder gave it."""


class DecodeTimeout(Exception):
    """The decoder did not end within its time limit; the child was killed."""


class ChildDied(Exception):
    """The child process ended while it decoded."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where records are: a Kafka topic with its ranges, or a Parquet file in the shape of DESIGN 3.2."""

    ranges: Ranges
    bootstrap: str = ""
    topic: str = ""
    parquet: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One decode call on opened records. `conf` are session settings for this call only; `table` None means level one."""

    handle: str
    ranges: Ranges
    decoder: str
    level: int
    deployment: Deployment
    table: Table | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    repartition: int = 0
    mapping: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A decoder that could be loaded: the levels it has and what it claims."""

    levels: tuple[int, ...]
    capabilities: Capabilities


class Engine(Protocol):
    """Records in, Arrow table of changes out."""

    def load(self, decoder: str, level: str) -> Future[Loaded]:
        """Loads a decoder. The future raises UsageError when it cannot be loaded."""
        ...

    def open(self, handle: str, source: Source) -> Future[int]:
        """Reads records once and keeps them under a name; gives their number."""
        ...

    def decode(self, request: Request) -> Future[pa.Table]:
        """Decodes. The future raises DecodeRaised, DecodeTimeout, ChildDied or UsageError."""
        ...

    def close(self) -> None:
        """Stops everything."""
        ...


def write_records(path: Path, messages: Sequence[Message], offsets: Sequence[int]) -> None:
    """Writes messages as Parquet in the shape of Spark's Kafka source with headers (DESIGN 3.2)."""
    import pyarrow.parquet as pq

    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    columns = {
        "key": pa.array([m.key for m in messages], pa.binary()),
        "value": pa.array([m.value for m in messages], pa.binary()),
        "topic": pa.array([m.topic for m in messages], pa.string()),
        "partition": pa.array([m.partition for m in messages], pa.int32()),
        "offset": pa.array(list(offsets), pa.int64()),
        "timestamp": pa.array([m.timestamp_ms * 1000 for m in messages], pa.timestamp("us", "UTC")),
        "timestampType": pa.array([0] * len(messages), pa.int32()),
        "headers": pa.array(
            [[{"key": k, "value": v} for k, v in m.headers] or None for m in messages],
            pa.list_(header),
        ),
    }
    pq.write_table(pa.table(columns), path)


QUICK: Mapping[str, str] = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
"""For runs of seconds: the JVM's optimising compiler would cost more than it saves. Throughput is measured without it."""


class ChildEngine:
    """The Engine whose Spark session lives in a child process.

    `packages` loads the Kafka source; `timeout_s` bounds each decode call, `start_s` the session's start and each read.
    """

    def __init__(
        self,
        *,
        packages: bool = False,
        cores: int = 2,
        timeout_s: float = 120,
        start_s: float = 240,
        conf: Mapping[str, str] = QUICK,
    ) -> None:
        self._start = {"op": "start", "packages": packages, "cores": cores, "conf": dict(conf)}
        self._timeout_s, self._start_s = timeout_s, start_s
        self.directory = Path(tempfile.mkdtemp(prefix="cdc-conformance-"))
        self._queue: queue.Queue[tuple[dict[str, Any], Future[Any]] | None] = queue.Queue()
        self._replay: list[dict[str, Any]] = []
        self._unopened: dict[str, BaseException] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._replies = -1
        self._buffer = b""
        self._sequence = 0
        self._closed = False
        self._spawning = threading.Lock()
        self._thread = threading.Thread(target=self._loop, name="cdc-engine", daemon=True)
        self._thread.start()
        self.started: Future[Any] = self._put(self._start)

    def load(self, decoder: str, level: str) -> Future[Loaded]:
        """See Engine."""
        return _then(self._put({"op": "load", "decoder": decoder, "level": level}), _loaded)

    def open(self, handle: str, source: Source) -> Future[int]:
        """See Engine."""
        request = {
            "op": "open",
            "handle": handle,
            "ranges": source.ranges,
            "bootstrap": source.bootstrap,
            "topic": source.topic,
            "parquet": source.parquet,
        }
        return _then(self._put(request), lambda reply: int(reply["rows"]))

    def release(self, handle: str) -> None:
        """Forgets opened records."""
        self._put({"op": "release", "handle": handle})

    def decode(self, request: Request) -> Future[pa.Table]:
        """See Engine."""
        self._sequence += 1
        out = self.directory / f"out-{self._sequence}.arrow"
        asked = {
            "op": "decode",
            "handle": request.handle,
            "ranges": request.ranges,
            "decoder": request.decoder,
            "level": request.level,
            "table": None if request.table is None else codec.dump_table(request.table),
            "deployment": codec.dump_deployment(request.deployment),
            "conf": dict(request.conf),
            "repartition": request.repartition,
            "mapping": dict(request.mapping),
            "out": str(out),
        }

        def read(_reply: Mapping[str, Any]) -> pa.Table:
            with pa.memory_map(str(out)) as file:
                table = pa.ipc.open_file(file).read_all()
            out.unlink()
            check_columns(table.schema, request.level, request.decoder)
            return table

        return _then(self._put(asked), read)

    def liars(self, fmt: str) -> Future[list[dict[str, Any]]]:
        """The liars of a format: name, level, convicts, why."""
        return _then(self._put({"op": "liars", "format": fmt}), lambda reply: list(reply["liars"]))

    def bench(self, request: Mapping[str, Any]) -> Future[Mapping[str, Any]]:
        """Runs a timed comparison in the child (spark_checks.throughput)."""
        return self._put({"op": "bench", **request})

    def close(self) -> None:
        """Stops the child and everything below it; removes the directory."""
        with self._spawning:
            if self._closed:
                return
            self._closed = True
        with contextlib.suppress(queue.Empty):
            while True:
                item = self._queue.get_nowait()
                if item is not None:
                    item[1].cancel()
        self._queue.put(None)
        self._kill(grace_s=3)
        self._thread.join(timeout=10)
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> ChildEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _put(self, request: dict[str, Any]) -> Future[Any]:
        future: Future[Any] = Future()
        self._queue.put((request, future))
        return future

    def _loop(self) -> None:
        while (item := self._queue.get()) is not None:
            request, future = item
            if not future.set_running_or_notify_cancel():
                continue
            op, handle = request["op"], request.get("handle", "")
            try:
                if op in ("open", "release"):
                    self._replay = [r for r in self._replay if r.get("handle") != handle]
                # What could not be started or opened fails again, with its reason, in every request that needs it.
                if failed := self._unopened.get("") or (self._unopened.get(handle) if op == "decode" else None):
                    raise failed
                self._ensure()
                reply = self._ask(request)
                if op in ("start", "open"):
                    self._unopened.pop(handle, None)
                    self._replay.append(request)
                future.set_result(reply)
            except BaseException as error:
                if op in ("start", "open"):
                    self._unopened[handle] = error
                future.set_exception(error)

    def _ensure(self) -> None:
        if self._child is not None and self._child.poll() is None:
            return
        self._kill()
        with self._spawning:
            # A child that is started after the closing would be nobody's.
            if self._closed:
                raise HarnessError("the engine is closed")
            self._spawn()
        try:
            for request in self._replay:
                self._ask(request)
        except BaseException:
            # Half of what was open is not good enough for the next request.
            self._kill()
            raise

    def _spawn(self) -> None:
        read_end, write_end = os.pipe()
        environment = {**os.environ, "CDC_CONFORMANCE_REPLY_FD": str(write_end)}
        with open(self.directory / "child.log", "ab") as log:
            # -P keeps the working directory off sys.path: a folder there must not shadow our packages.
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", WORKER],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                pass_fds=(write_end,),
                start_new_session=True,
            )
        os.close(write_end)
        self._replies, self._buffer = read_end, b""

    def _ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        child, op = self._child, request["op"]
        assert child is not None and child.stdin is not None
        try:
            child.stdin.write(json.dumps(request).encode() + b"\n")
            child.stdin.flush()
        except OSError:
            raise self._ended(request, "the Spark process ended") from None
        limit = {"decode": self._timeout_s, "load": self._timeout_s, "bench": 3600.0}.get(op, self._start_s)
        line = self._line(time.monotonic() + limit)
        if line is None:
            self._kill()
            what = f"did not end within {limit:g} s"
            if op == "decode":
                raise DecodeTimeout(f"{request['decoder']} {what}")
            raise self._ended(request, what)
        if not line:
            raise self._ended(request, f"the Spark process ended with exit code {child.wait()}")
        reply: dict[str, Any] = json.loads(line)
        match reply.get("error"):
            case None:
                return reply
            case "raised":
                raise DecodeRaised(reply["message"])
            case "usage":
                raise UsageError(reply["message"])
            case _ if op == "start":
                raise self._ended(request, reply["message"])
            case _:
                raise HarnessError(f"Spark: {reply['message']}")

    def _ended(self, request: Mapping[str, Any], what: str) -> Exception:
        """What a request comes to whose child is gone or does not answer: only a decode call has a verdict of its own."""
        tail = self._log_tail()
        match request["op"]:
            case "start":
                return HarnessError(f"Spark did not start: {what}. Is Java 17 or 21 there? Try `cdc-conformance doctor`.\n{tail}")
            case "load":
                return UsageError(f"decoder {request['decoder']} cannot be loaded: {what}:\n{tail}")
            case "decode" | "bench":
                return ChildDied(f"{what}:\n{tail}")
            case op:
                return HarnessError(f"Spark, {op}: {what}:\n{tail}")

    def _line(self, deadline: float) -> bytes | None:
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            ready, _, _ = select.select([self._replies], [], [], min(left, 0.5))
            if ready:
                chunk = os.read(self._replies, 1 << 16)
                if not chunk:
                    return b""
                self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _log_tail(self) -> str:
        with contextlib.suppress(OSError):
            lines = (self.directory / "child.log").read_text("utf-8", "replace").splitlines()
            return "\n".join(lines[-15:])
        return ""

    def _kill(self, grace_s: float = 0) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        if child.stdin is not None:
            with contextlib.suppress(OSError):
                child.stdin.close()
        if grace_s:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(grace_s)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        if self._replies >= 0:
            os.close(self._replies)
            self._replies = -1


def _then(future: Future[Any], convert: Any) -> Future[Any]:
    """A future of the converted result."""
    out: Future[Any] = Future()

    def done(finished: Future[Any]) -> None:
        if finished.cancelled():
            out.cancel()
            return
        try:
            out.set_result(convert(finished.result()))
        except BaseException as error:
            out.set_exception(error)

    future.add_done_callback(done)
    return out


def _loaded(reply: Mapping[str, Any]) -> Loaded:
    claims = {k: tuple(v) for k, v in reply["capabilities"].items()}
    return Loaded(tuple(reply["levels"]), Capabilities(**claims))
