"""Runs decoders: the Engine protocol, and the child process in which Spark lives.

The child answers one JSON line per request; bulk data goes through Arrow files in a shared
directory. A decoder that hangs is killed after its time limit; if it ends its process, that call
fails. The next request starts a new child, which reopens the open records. Of `conformance`, only
this module and `live` know `spark_checks`, and only by name.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from conformance.brokers import registry
from conformance.brokers.guarded import Guarded, kill_strays
from conformance.brokers.jars import Note
from conformance.engines import cluster
from conformance.engines._child_log import ChildLog
from conformance.engines.asking import Asking, failed, then
from conformance.engines.engine import AnswerTimeout, ChildDied, DecodeTimeout, Lost
from conformance.engines.memory import bounded, of_session, remark
from conformance.engines.spark_conf import (
    BOUND,
    FIRST_OFFSET,
    IN_PARTITION,
    JARS,
    OTHER,
    PACKAGES,
    away,
)
from conformance.engines.specs import DECODERS, LIAR, SERVICES
from generators.errors import HarnessError, UsageError
from generators.wire_format import get

WORKER = "spark_checks.services.worker"
LANES = 2
"""Limit of concurrent decode calls. A small job leaves a core idle during planning and scheduling.
"""

RENEWAL_S = 30.0
"""Time limit of a new process on a running JVM; later a new JVM is started."""

QUICK: Mapping[str, str] = {
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseParallelGC -Xms1g -Xmn512m"
    ),
}
"""For short runs, where the JVM's optimising compiler and concurrent collector cost more than they
save. Java's own room for the code of one compiler, 48 MB, is full after some formats: code is
dropped and compiled again. Throughput is measured without it.
"""

UNTRACED: Mapping[str, str] = {"spark.python.sql.dataFrameDebugging.enabled": "false"}
"""For our own decoders: PySpark does not record the source line of each expression."""

OURS: Mapping[str, str] = {
    **QUICK,
    **UNTRACED,
    "spark.sql.optimizer.excludedRules": (
        "org.apache.spark.sql.catalyst.optimizer.SimplifyConditionals"
    ),
}
"""For short runs of our own decoders: the rule compares the branches of each CASE with one another,
which takes nearly half of the time in which their plans are optimised. Throughput is measured
without it.
"""

SMALL: Mapping[str, str] = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""For calls and micro-batches of few messages, whose compilation would cost more than their
execution. A run judges decoders without it, as their users run them.
"""


def needed(formats: Iterable[str], *, kafka: bool = False) -> tuple[str, ...]:
    """Packages of a session beside pyspark: `kafka` to read a broker, `avro` for formats in Avro. A
    format whose messages name schemas has a registry from then on. Raises UnknownName.
    """
    registry.ensure(formats := tuple(formats))
    return (
        *(("kafka",) if kafka else ()),
        *(("avro",) if any(get(name).container == "avro" for name in formats) else ()),
    )


ENVIRONMENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "time zone America/St_Johns, other ANSI mode, other case sensitivity, 7 shuffle partitions, 2 records an Arrow batch, offsets from 2^33 + 2^31, 2 in a partition": {
        "spark.sql.session.timeZone": "America/St_Johns",
        "spark.sql.ansi.enabled": OTHER,
        "spark.sql.caseSensitive": OTHER,
        "spark.sql.shuffle.partitions": "7",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "2",
        FIRST_OFFSET: str((1 << 33) + (1 << 31)),
        IN_PARTITION: "2",
    },
}
"""Spark sessions for the law of environment independence. One differs from a run's in all, since
each costs calls: St John's is west of Greenwich, by hours that are not whole, and its clocks are
changed; offsets have more than 32 bits, and are negative if they are cut to them.
"""


class ChildEngine(Asking):
    """The Engine whose Spark session lives in a child process.

    `packages` names what Spark needs beside pyspark (`needed`), fetched before the child starts;
    `note` receives progress. `conf` may name a master, a server and packages
    (`conformance.engines.spark_conf`); a server has all that it needs. `given` are pickled decoders
    by the name that stands for their specification (`conformance.engines.live.pickled`). A bound of
    memory (`conf`'s BOUND, in MB, else a default) holds for each process here, beside the JVM's
    heap. `timeout_s` bounds each decode call, `start_s` the session's start and each read. Requests
    are answered in order, and up to `LANES` calls of our own decoders run at once. If the child
    dies or a call times out while several run, each is retried alone. Raises HarnessError if Java,
    a package or a writable temporary folder is missing (`conformance.brokers.spark.ready`), or a
    master or server does not answer.
    """

    environments: Mapping[str, Mapping[str, str]] = ENVIRONMENTS

    def __init__(
        self,
        *,
        packages: Collection[str] = (),
        cores: int = 2,
        timeout_s: float = 120,
        start_s: float = 240,
        conf: Mapping[str, str] = QUICK,
        note: Note = lambda _line: None,
        given: Mapping[str, str] = {},
    ) -> None:
        settings = {
            name: value for name, value in conf.items() if name not in (JARS, PACKAGES, BOUND)
        } | cluster.settings(conf)
        self._place, self._memory_mb = away(conf), of_session(conf)
        jars = cluster.jars(packages, conf, note)
        self._again = partial(
            ChildEngine,
            packages=packages,
            cores=cores,
            timeout_s=timeout_s,
            start_s=start_s,
            conf=conf,
            note=note,
            given=given,
        )
        self._start = {
            "op": "start",
            "jars": jars,
            "cores": cores,
            "conf": settings,
            "given": dict(given),
        }
        self._timeout_s, self._start_s = timeout_s, start_s
        self.directory = Path(tempfile.mkdtemp(prefix="cdc-conformance-"))
        # A signal may end the construction, or the closing.
        self._tidy = weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)
        self._guardian = Guarded(None, remove=self.directory)
        self._waiting: deque[_Asked] = deque()
        self._under_way: dict[int, _Asked] = {}
        self._replay: list[dict[str, Any]] = []
        self._unopened: dict[str, BaseException] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._replies = -1
        self._buffer = b""
        self._numbers = itertools.count(1)
        self._log, self._home = ChildLog(), self.directory
        self._log.started()
        self._closed = self._released = self._on_old_jvm = False
        self._woken, self._wake = os.pipe()
        self._closing = threading.Lock()
        self._thread = threading.Thread(target=self._loop, name="cdc-engine", daemon=True)
        self._thread.start()
        self.started: Future[Any] = self.put(self._start)

    def twin(self) -> ChildEngine:
        """Another child with the same settings."""
        return self._again()

    def sources(self, *, forget: bool) -> Future[list[str]]:
        """The files below the working directory that the loaded decoders are made of; with `forget`
        they are read again by the next call.
        """
        return then(
            self.put({"op": "sources", "forget": forget}), lambda reply: list(reply["files"])
        )

    def liars(self, fmt: str) -> Future[list[dict[str, Any]]]:
        """The liars of a format: name, level, convicts, why."""
        return then(self.put({"op": "liars", "format": fmt}), lambda reply: list(reply["liars"]))

    def ask(
        self, service: str, request: Mapping[str, Any], limit_s: float
    ) -> Future[Mapping[str, Any]]:
        """The answer of one of `SERVICES`, a module of spark_checks, in the child's session.

        The future raises DecodeRaised when the service raises, ChildDied when the child ends,
        AnswerTimeout when the limit expires, UsageError for a decoder that cannot be loaded. State of a service in the
        child (a streaming query) lasts between requests.
        """
        return then(
            self.put({"op": service, "limit_s": limit_s, **request}), lambda reply: reply["answer"]
        )

    def end(self, limit_s: float) -> Future[Any]:
        """Stops the session's JVM in an orderly way; the child takes no requests afterwards."""
        return self.put({"op": "end", "limit_s": limit_s})

    @property
    def pid(self) -> int | None:
        """The child's process group while it runs, for tests that kill it. The next request starts
        another child.
        """
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def close(self) -> None:
        """Stops the child and its child processes; removes the directory."""
        with self._closing:
            if self._released:
                return
            self._released = True
            if not self._closed:
                self._closed = True
                os.write(self._wake, b"x")
        self._thread.join(timeout=10)
        self._kill()
        os.close(self._wake)
        self._guardian.stop()
        self._tidy()

    def put(self, request: dict[str, Any]) -> Future[Any]:
        """See Asking."""
        asked = _Asked(request)
        with self._closing:
            if self._closed:
                asked.future.set_exception(HarnessError("the engine is closed"))
            else:
                self._waiting.append(asked)
                os.write(self._wake, b"x")
        return asked.future

    def _loop(self) -> None:
        try:
            while not self._closed:
                while (asked := self._next()) is not None:
                    self._begin(asked)
                self._listen()
        finally:
            with self._closing:
                self._closed = True
            for asked in (*self._under_way.values(), *self._waiting):
                if not asked.future.cancel():
                    asked.future.set_exception(HarnessError("the engine is closed"))
            self._kill(grace_s=3)
            os.close(self._woken)

    def _next(self) -> _Asked | None:
        """The next request if it may start now, alone or beside running requests."""
        if self._closed or not self._waiting:
            return None
        asked, others = self._waiting[0], self._under_way.values()
        if others and (
            len(others) == LANES or not all(_together(asked, other) for other in others)
        ):
            return None
        return self._waiting.popleft()

    def _begin(self, asked: _Asked) -> None:
        op, handle = asked.request["op"], asked.request.get("handle", "")
        if not asked.future.running() and not asked.future.set_running_or_notify_cancel():
            return
        try:
            if op == "renew" and (self._place or self.pid is None):
                self._renewed(asked)
                return
            if op in ("open", "release"):
                self._replay = [r for r in self._replay if r.get("handle") != handle]
            # A failed start or opening fails again, with its reason, in every request that needs
            # it.
            if failed := self._unopened.get("") or (
                self._unopened.get(handle) if op == "decode" else None
            ):
                raise failed
            if not self._under_way and self._ensure() and self._replay:
                self._again_first(asked)
                return
            self._send(asked)
        except BaseException as error:
            self._fail(asked, error)

    def _ensure(self) -> bool:
        """Starts a child if none runs; true if it started."""
        if self._child is not None and self._child.poll() is None:
            return False
        self._kill()
        # Nothing would stop a child that starts after closing.
        if self._closed:
            raise HarnessError("the engine is closed")
        self._spawn()
        return True

    def _spawn(self) -> None:
        read_end, write_end = os.pipe()
        # What Python, Java and decoders leave in the temporary folder goes with the child.
        self._home = Path(tempfile.mkdtemp(prefix="child-", dir=self.directory))
        environment = {
            **os.environ,
            "CDC_CONFORMANCE_REPLY_FD": str(write_end),
            "TMPDIR": str(self._home),
        }
        self._log = ChildLog()
        # -P keeps the working directory off sys.path: a folder there must not shadow our packages.
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", WORKER],
            stdin=subprocess.PIPE,
            stdout=self._log.writing,
            stderr=self._log.writing,
            env=environment,
            pass_fds=(write_end,),
            start_new_session=True,
        )
        bounded(self._child.pid, self._memory_mb)
        self._log.started()
        os.close(write_end)
        self._replies, self._buffer = read_end, b""

    def _send(self, asked: _Asked) -> None:
        child = self._child
        assert child is not None and child.stdin is not None
        number, taken = next(self._numbers), {other.lane for other in self._under_way.values()}
        asked.lane = min(set(range(LANES)) - taken)
        limits = {"decode": self._timeout_s, "load": self._timeout_s, "renew": RENEWAL_S}
        asked.limit_s = float(
            asked.request.get("limit_s", limits.get(asked.request["op"], self._start_s))
        )
        asked.deadline = time.monotonic() + asked.limit_s
        self._under_way[number] = asked
        if taken:
            for running in self._under_way.values():
                running.shared = True
        # The end of its replies shows a lost child.
        with contextlib.suppress(OSError):
            child.stdin.write(
                json.dumps({**asked.request, "id": number, "lane": asked.lane}).encode() + b"\n"
            )
            child.stdin.flush()

    def _listen(self) -> None:
        """Waits for a reply, the child's end, an expired time limit or a new request, and acts on
        it.
        """
        left = (
            min((asked.deadline for asked in self._under_way.values()), default=math.inf)
            - time.monotonic()
        )
        watched = [self._woken, self._replies] if self._under_way else [self._woken]
        ready, _, _ = select.select(watched, [], [], None if left == math.inf else max(0.0, left))
        if self._woken in ready:
            os.read(self._woken, 1 << 16)
        if self._replies in ready:
            chunk = os.read(self._replies, 1 << 16)
            *lines, self._buffer = (self._buffer + chunk).split(b"\n")
            try:
                for line in lines:
                    self._answer(json.loads(line))
            except (ValueError, KeyError, TypeError):
                self._lose("wrote to the descriptor of the harness's answers")
                return
            if not chunk:
                assert self._child is not None
                self._lose(f"the Spark process ended with exit code {self._child.wait()}")
        overdue = [
            asked for asked in self._under_way.values() if asked.deadline <= time.monotonic()
        ]
        if overdue:
            self._lose(f"did not end within {overdue[0].limit_s:g} s", late=True)

    def _renewed(self, asked: _Asked) -> None:
        """Ends a child that does not go on as a new process on its JVM: the next request starts
        another.
        """
        self._kill()
        asked.future.set_result(None)

    def _again_first(self, *others: _Asked) -> None:
        """Starts the session and opens what was open before any other request."""
        again, self._replay = self._replay, []
        self._waiting.extendleft((*others, *(_Asked(r) for r in reversed(again))))

    def _answer(self, reply: dict[str, Any]) -> None:
        asked = self._under_way.pop(reply["id"])
        request, op = asked.request, asked.request["op"]
        match reply.get("error"):
            case None if op == "renew":
                self._on_old_jvm = True
                self._again_first()
                asked.future.set_result(None)
            case None:
                self._on_old_jvm &= op != "start"
                if op in ("start", "open"):
                    self._unopened.pop(request.get("handle", ""), None)
                    self._replay.append(request)
                asked.future.set_result(reply)
            case "harness" if op == "start":
                self._fail(asked, self._ended(request, reply["message"]))
            case kind:
                self._fail(asked, failed(kind, reply["message"]))

    def _lose(self, what: str, late: bool = False) -> None:
        """Drops the child. A request that ran alone fails; of several, each is retried."""
        self._kill()
        lost, self._under_way = list(self._under_way.values()), {}
        for asked in reversed(lost):
            if asked.shared:
                asked.shared, asked.alone = False, True
                self._waiting.appendleft(asked)
            elif late and asked.request["op"] == "decode":
                self._fail(asked, DecodeTimeout(f"{asked.request['decoder']} {what}"))
            elif late and asked.request["op"] in SERVICES:
                self._fail(asked, AnswerTimeout(f"{what}:\n{self._log.tail()}"))
            else:
                self._fail(asked, self._ended(asked.request, what))

    def _fail(self, asked: _Asked, error: BaseException) -> None:
        if isinstance(error, Lost):
            error.lost_s = time.monotonic() - (asked.deadline - asked.limit_s)
        op = asked.request["op"]
        if op == "renew":
            self._renewed(asked)
            return
        # What a new process cannot do on the old JVM a new one may do.
        if op == "start" and self._on_old_jvm:
            self._on_old_jvm = False
            self._kill()
            self._waiting.appendleft(asked)
            return
        if op in ("start", "open"):
            self._unopened[asked.request.get("handle", "")] = error
        asked.future.set_exception(error)

    def _ended(self, request: Mapping[str, Any], what: str) -> Exception:
        """The error of a request whose child ended or does not answer; a verdict only for decode
        calls.
        """
        tail = self._log.tail(words=request["op"] == "start")
        match request["op"]:
            case "start":
                where = f" on {self._place}" if self._place else ""
                hint = (
                    "Are its workers there, with free cores and memory?"
                    if where
                    else "Try `cdc-conformance doctor`."
                )
                return HarnessError(f"Spark did not start{where}: {what}. {hint}\n{tail}")
            case "load":
                return UsageError(f"decoder {request['decoder']} cannot be loaded: {what}:\n{tail}")
            case op if op == "decode" or op in SERVICES:
                return ChildDied(f"{what}:\n{tail}{remark(tail, self._memory_mb)}")
            case op:
                return HarnessError(f"Spark, {op}: {what}:\n{tail}")

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
        kill_strays(self._home)
        shutil.rmtree(self._home, ignore_errors=True)
        if self._replies >= 0:
            os.close(self._replies)
            self._replies = -1


@dataclass(slots=True, eq=False)
class _Asked:
    """A request and its state: `shared` once another ran at the same time, `alone` if none may."""

    request: dict[str, Any]
    future: Future[Any] = field(default_factory=Future)
    lane: int = 0
    limit_s: float = 0.0
    deadline: float = math.inf
    shared: bool = False
    alone: bool = False


def _together(first: _Asked, other: _Asked) -> bool:
    """Whether two requests may run at once: calls of our own decoders, which keep no state, under
    equal session settings; and reading other records beside them.
    """
    mine, its = first.request, other.request
    if first.alone or other.alone or not (_stateless(mine) and _stateless(its)):
        return False
    reading = "open" in (mine["op"], its["op"])
    alike = bool(mine.get("conf", {}) == its.get("conf", {}))
    return alike and not (reading and mine["handle"] == its["handle"])


def _stateless(request: Mapping[str, Any]) -> bool:
    op, decoder = request["op"], str(request.get("decoder", ""))
    return op == "open" or (op == "decode" and decoder.startswith((f"{DECODERS}.", LIAR)))
