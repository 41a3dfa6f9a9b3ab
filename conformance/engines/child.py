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
from conformance.engines.asking import RequestingEngine, convert_result, error_of_reply
from conformance.engines.engine import AnswerTimeout, ChildDied, DecodeTimeout, ProcessLost
from conformance.engines.memory import bound_memory, memory_remark, session_bound_mb
from conformance.engines.spark_conf import (
    BOUND,
    FIRST_OFFSET,
    IN_PARTITION,
    JARS,
    OTHER,
    PACKAGES,
    cluster_url,
    hide_in_text,
    hide_in_urls,
)
from conformance.engines.specs import DECODERS, LIAR, SERVICES
from generators.errors import HarnessError, UsageError
from generators.wire_format import get

WORKER = "spark_checks.services.worker"
"""The module that the child process runs."""
QUEUES = 2
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


def required_packages(formats: Iterable[str], *, kafka: bool = False) -> tuple[str, ...]:
    """The Maven packages that a session needs beside pyspark: `kafka` to read from a broker, `avro`
    for formats in Avro. Also makes sure that there is a schema registry, if a format's messages
    name schemas. Raises UnknownName for an unknown format.
    """
    names = tuple(formats)
    registry.ensure_registry(names)
    packages = ["kafka"] if kafka else []
    if any(get(name).container == "avro" for name in names):
        packages.append("avro")
    return tuple(packages)


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


class ChildEngine(RequestingEngine):
    """The Engine whose Spark session lives in a child process.

    `packages` names what Spark needs beside pyspark (`required_packages`), fetched before the child
    starts; `note` receives progress. `conf` may name a master, a server and packages
    (`conformance.engines.spark_conf`); a server has all that it needs. `pickled_decoders` are
    pickled decoders by the name that stands for their specification
    (`conformance.engines.live.pickle_decoder`). A bound of memory (`conf`'s BOUND, in MB, else a
    default) holds for each process here, beside the JVM's heap. `timeout_s` bounds each decode
    call, `start_s` the session's start and each read. Requests are answered in order, and up to
    `QUEUES` calls of our own decoders run at once. If the child dies or a call times out while
    several run, each is retried alone. Raises HarnessError if Java, a package or a writable
    temporary folder is missing (`conformance.brokers.spark.prepare_jars`), or a master or server
    does not answer.
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
        pickled_decoders: Mapping[str, str] = {},
    ) -> None:
        settings = {
            name: value for name, value in conf.items() if name not in (JARS, PACKAGES, BOUND)
        } | cluster.driver_address(conf)
        self._cluster_url = hide_in_urls(cluster_url(conf))
        self._memory_mb, self._settings = session_bound_mb(conf), dict(conf)
        jars = cluster.session_jars(packages, conf, note)
        self._make_twin = partial(
            ChildEngine,
            packages=packages,
            cores=cores,
            timeout_s=timeout_s,
            start_s=start_s,
            conf=conf,
            note=note,
            pickled_decoders=pickled_decoders,
        )
        self._start_request = {
            "op": "start",
            "jars": jars,
            "cores": cores,
            "conf": settings,
            "given": dict(pickled_decoders),
        }
        self._timeout_s, self._start_s, self._note = timeout_s, start_s, note
        self.directory = Path(tempfile.mkdtemp(prefix="cdc-conformance-"))
        # A signal may end the construction, or the closing.
        self._remove_directory = weakref.finalize(
            self, shutil.rmtree, self.directory, ignore_errors=True
        )
        self._guardian = Guarded(None, remove=self.directory)
        self._waiting: deque[_PendingRequest] = deque()
        self._running: dict[int, _PendingRequest] = {}
        self._replay: list[dict[str, Any]] = []
        self._unopened: dict[str, BaseException] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._replies = -1
        self._buffer = b""
        self._numbers = itertools.count(1)
        self._log, self._home = ChildLog(), self.directory
        self._log.close_writing_end()
        self._closed = self._released = self._on_old_jvm = False
        self._wake_end, self._wake = os.pipe()
        self._closing = threading.Lock()
        self._thread = threading.Thread(target=self._loop, name="cdc-engine", daemon=True)
        self._thread.start()
        self.started: Future[Any] = self.put(self._start_request)

    def make_twin(self) -> ChildEngine:
        """Another engine with the same settings, which starts a child process of its own."""
        return self._make_twin()

    def sources(self, *, forget: bool) -> Future[list[str]]:
        """The files, below the working directory, from which the loaded decoders were imported.
        With `forget` the next call imports them again.
        """
        return convert_result(
            self.put({"op": "sources", "forget": forget}), lambda reply: list(reply["files"])
        )

    def liars(self, fmt: str) -> Future[list[dict[str, Any]]]:
        """The liars of a format (decoders that are wrong on purpose) as objects: name, level, the
        id of the rule that must convict it (`convicts`), why, and a glob of the scenarios to try it
        on.
        """
        return convert_result(
            self.put({"op": "liars", "format": fmt}), lambda reply: list(reply["liars"])
        )

    def ask_service(
        self, service: str, request: Mapping[str, Any], limit_s: float
    ) -> Future[Mapping[str, Any]]:
        """The answer of one of `SERVICES`, a module of spark_checks, in the child's session.

        The future raises DecodeRaised when the service raises, ChildDied when the child ends,
        AnswerTimeout when the limit expires, UsageError for a decoder that cannot be loaded. State
        of a service in the child (a streaming query) lasts between requests.
        """
        return convert_result(
            self.put({"op": service, "limit_s": limit_s, **request}), lambda reply: reply["answer"]
        )

    def end(self, limit_s: float) -> Future[Any]:
        """Lets the session's JVM exit normally. The child takes no requests afterwards."""
        return self.put({"op": "end", "limit_s": limit_s})

    @property
    def pid(self) -> int | None:
        """The id of the child's process group, None if it does not run, for tests that kill it. The
        next request starts another child.
        """
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def close(self) -> None:
        """Ends the child process and all processes that it started, and removes the engine's
        directory. Does nothing a second time.
        """
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
        self._remove_directory()

    def put(self, request: dict[str, Any]) -> Future[Any]:
        """Queues a request for the child process; the future has the reply."""
        pending = _PendingRequest(request)
        with self._closing:
            if self._closed:
                pending.future.set_exception(HarnessError("the engine is closed"))
            else:
                self._waiting.append(pending)
                os.write(self._wake, b"x")
        return pending.future

    def _loop(self) -> None:
        """The thread that talks to the child process: sends requests and takes replies, until the
        engine is closed.
        """
        try:
            while not self._closed:
                while (pending := self._take_next()) is not None:
                    self._begin_request(pending)
                self._listen()
        finally:
            with self._closing:
                self._closed = True
            for pending in (*self._running.values(), *self._waiting):
                if not pending.future.cancel():
                    pending.future.set_exception(HarnessError("the engine is closed"))
            self._kill(grace_s=3)
            os.close(self._wake_end)

    def _take_next(self) -> _PendingRequest | None:
        """Takes the oldest waiting request off the queue, if it may start now: if none runs, or if
        it may run beside those that do. Returns None if it must wait.
        """
        if self._closed or not self._waiting:
            return None
        pending, running = self._waiting[0], self._running.values()
        if running and (
            len(running) == QUEUES
            or not all(_may_overlap(pending, running_request) for running_request in running)
        ):
            return None
        return self._waiting.popleft()

    def _begin_request(self, pending: _PendingRequest) -> None:
        """Sends a request to the child process. If no child runs it starts one, and first repeats
        the requests that a new child needs: the start of the session and the opened records. Errors
        go into the request's future.
        """
        op, handle = pending.request["op"], pending.request.get("handle", "")
        if not pending.future.running() and not pending.future.set_running_or_notify_cancel():
            return
        try:
            if op == "renew" and (self._cluster_url or self.pid is None):
                self._finish_renewal(pending)
                return
            if op in ("open", "release"):
                self._replay = [r for r in self._replay if r.get("handle") != handle]
            # A failed start or opening fails again, with its reason, in every request that needs
            # it.
            if failed := self._unopened.get("") or (
                self._unopened.get(handle) if op == "decode" else None
            ):
                raise failed
            if not self._running and self._ensure_child() and self._replay:
                self._replay_before(pending)
                return
            self._send(pending)
        except BaseException as error:
            self._fail_request(pending, error)

    def _ensure_child(self) -> bool:
        """Starts a child if none runs. Returns whether it started one."""
        if self._child is not None and self._child.poll() is None:
            return False
        self._kill()
        # Nothing would stop a child that starts after closing.
        if self._closed:
            raise HarnessError("the engine is closed")
        self._spawn()
        return True

    def _spawn(self) -> None:
        """Starts a child process, with a pipe for its replies and a temporary folder of its own."""
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
            stdout=self._log.writing_end,
            stderr=self._log.writing_end,
            env=environment,
            pass_fds=(write_end,),
            start_new_session=True,
        )
        bound_memory(self._child.pid, self._memory_mb)
        self._log.close_writing_end()
        os.close(write_end)
        self._replies, self._buffer = read_end, b""

    def _send(self, pending: _PendingRequest) -> None:
        """Writes a request to the child, and notes it as running: with the number of one of the
        child's threads that is free, and its deadline.
        """
        child = self._child
        assert child is not None and child.stdin is not None
        number = next(self._numbers)
        used_queues = {running_request.queue for running_request in self._running.values()}
        pending.queue = min(set(range(QUEUES)) - used_queues)
        limits = {"decode": self._timeout_s, "load": self._timeout_s, "renew": RENEWAL_S}
        pending.limit_s = float(
            pending.request.get("limit_s", limits.get(pending.request["op"], self._start_s))
        )
        pending.deadline = time.monotonic() + pending.limit_s
        self._running[number] = pending
        if used_queues:
            for sharing in self._running.values():
                sharing.shared = True
        # The end of its replies shows a lost child.
        with contextlib.suppress(OSError):
            child.stdin.write(
                json.dumps({**pending.request, "id": number, "queue": pending.queue}).encode()
                + b"\n"
            )
            child.stdin.flush()

    def _listen(self) -> None:
        """Waits for the next event (a reply, the child's end, an expired time limit, or a new
        request) and handles it.
        """
        left_s = (
            min((pending.deadline for pending in self._running.values()), default=math.inf)
            - time.monotonic()
        )
        descriptors = [self._wake_end, self._replies] if self._running else [self._wake_end]
        ready, _, _ = select.select(
            descriptors, [], [], None if left_s == math.inf else max(0.0, left_s)
        )
        if self._wake_end in ready:
            os.read(self._wake_end, 1 << 16)
        if self._replies in ready:
            chunk = os.read(self._replies, 1 << 16)
            *lines, self._buffer = (self._buffer + chunk).split(b"\n")
            try:
                for line in lines:
                    self._settle(json.loads(line))
            except (ValueError, KeyError, TypeError):
                self._drop_child("wrote to the descriptor of the harness's answers")
                return
            if not chunk:
                assert self._child is not None
                self._drop_child(f"the Spark process ended with exit code {self._child.wait()}")
        overdue = [
            pending for pending in self._running.values() if pending.deadline <= time.monotonic()
        ]
        if overdue:
            self._drop_child(f"did not end within {overdue[0].limit_s:g} s", timed_out=True)

    def _finish_renewal(self, pending: _PendingRequest) -> None:
        """Ends a `renew` request whose child could not go on as a new process on its JVM: kills the
        child, so that the next request starts another one.
        """
        self._kill()
        pending.future.set_result(None)

    def _replay_before(self, *next_requests: _PendingRequest) -> None:
        """Queues, in front of all other requests, those that start the session and open the records
        again, and then `next_requests`.
        """
        replayed, self._replay = self._replay, []
        self._waiting.extendleft(
            (*next_requests, *(_PendingRequest(r) for r in reversed(replayed)))
        )

    def _settle(self, reply: dict[str, Any]) -> None:
        """Ends the request that a reply answers, with its result or its error."""
        pending = self._running.pop(reply["id"])
        request, op = pending.request, pending.request["op"]
        match reply.get("error"):
            case None if op == "renew":
                self._on_old_jvm = True
                self._replay_before()
                pending.future.set_result(None)
            case None:
                self._on_old_jvm &= op != "start"
                if op in ("start", "open"):
                    self._unopened.pop(request.get("handle", ""), None)
                    self._replay.append(request)
                for line in reply.get("lines", ()):
                    getattr(self._note, "line", self._note)(line)
                pending.future.set_result(reply)
            case "harness" if op == "start":
                self._fail_request(pending, self._error_of_end(request, self._message(reply)))
            case kind:
                self._fail_request(pending, error_of_reply(kind, self._message(reply)))

    def _message(self, reply: Mapping[str, Any]) -> str:
        """The error text in a reply of the child, without the secrets of the session's settings."""
        return hide_in_text(reply["message"], self._settings)

    def _tail(self, *, before_traceback: bool = False) -> str:
        """The last lines of the child's log, without the secrets of the session's settings; with
        `before_traceback` the last ones before Python's traceback.
        """
        return hide_in_text(self._log.tail(before_traceback=before_traceback), self._settings)

    def _drop_child(self, event: str, timed_out: bool = False) -> None:
        """Gives up the child after `event`. A request that ran alone fails; if several ran, each is
        tried again.
        """
        self._kill()
        lost, self._running = list(self._running.values()), {}
        for pending in reversed(lost):
            if pending.shared:
                pending.shared, pending.alone = False, True
                self._waiting.appendleft(pending)
            elif timed_out and pending.request["op"] == "decode":
                self._fail_request(pending, DecodeTimeout(f"{pending.request['decoder']} {event}"))
            elif timed_out and pending.request["op"] in SERVICES:
                self._fail_request(pending, AnswerTimeout(f"{event}:\n{self._tail()}"))
            else:
                self._fail_request(pending, self._error_of_end(pending.request, event))

    def _fail_request(self, pending: _PendingRequest, error: BaseException) -> None:
        """Ends a request with an error. Two are not failures: a renewal, after which the next
        request starts a new child; and a session that does not start in a new process on an old
        JVM, which is tried once more on a new JVM.
        """
        if isinstance(error, ProcessLost):
            error.lost_s = time.monotonic() - (pending.deadline - pending.limit_s)
        op = pending.request["op"]
        if op == "renew":
            self._finish_renewal(pending)
            return
        # The new process has taken over an old JVM, which may be at fault.
        if op == "start" and self._on_old_jvm:
            self._on_old_jvm = False
            self._kill()
            self._waiting.appendleft(pending)
            return
        if op in ("start", "open"):
            self._unopened[pending.request.get("handle", "")] = error
        pending.future.set_exception(error)

    def _error_of_end(self, request: Mapping[str, Any], event: str) -> Exception:
        """The error of a request whose child ended or did not answer in time. It is ChildDied, a
        verdict on the decoder, for decode calls and services only.
        """
        tail = self._tail(before_traceback=request["op"] == "start")
        match request["op"]:
            case "start":
                place = f" on {self._cluster_url}" if self._cluster_url else ""
                hint = (
                    "Are its workers there, with free cores and memory?"
                    if place
                    else "Try `cdc-conformance doctor`."
                )
                return HarnessError(f"Spark did not start{place}: {event}. {hint}\n{tail}")
            case "load":
                return UsageError(
                    f"decoder {request['decoder']} cannot be loaded: {event}:\n{tail}"
                )
            case op if op == "decode" or op in SERVICES:
                return ChildDied(f"{event}:\n{tail}{memory_remark(tail, self._memory_mb)}")
            case op:
                return HarnessError(f"Spark, {op}: {event}:\n{tail}")

    def _kill(self, grace_s: float = 0) -> None:
        """Ends the child, all processes that it started, and its temporary folder."""
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
class _PendingRequest:
    """A request that waits or runs, with its state. `queue` is the number of the child's thread
    that runs it. `shared` says that another request ran at the same time, so that a lost child may
    be the other's fault; `alone` that it is tried again, and no other may run beside it.
    """

    request: dict[str, Any]
    future: Future[Any] = field(default_factory=Future)
    queue: int = 0
    limit_s: float = 0.0
    deadline: float = math.inf
    shared: bool = False
    alone: bool = False


def _may_overlap(first_pending: _PendingRequest, second_pending: _PendingRequest) -> bool:
    """Whether two requests may run at the same time: calls of the project's own decoders, which
    keep no state, with equal session settings; and reading other records beside such calls.
    """
    first, second = first_pending.request, second_pending.request
    if (
        first_pending.alone
        or second_pending.alone
        or not (_is_stateless(first) and _is_stateless(second))
    ):
        return False
    reading = "open" in (first["op"], second["op"])
    same_settings = bool(first.get("conf", {}) == second.get("conf", {}))
    return same_settings and not (reading and first["handle"] == second["handle"])


def _is_stateless(request: Mapping[str, Any]) -> bool:
    """Whether a request of the child may run beside others: it reads records, or decodes with a
    decoder or liar (a decoder that is wrong on purpose) of the harness, which keeps nothing between
    calls.
    """
    op, decoder = request["op"], str(request.get("decoder", ""))
    return op == "open" or (op == "decode" and decoder.startswith((f"{DECODERS}.", LIAR)))
