"""The producers of a load, as the load controls them: it gives commands and takes events."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any, Final

from conformance.closing import Closing
from conformance.engines.child import ChildEngine
from conformance.engines.engine import ChildDied, DecodeRaised
from conformance.load.source import (
    COMMITTED_S,
    LAGS,
    TICK_S,
    TICKS,
    Lag,
    MessageId,
    ProducerSource,
    Routes,
    Tally,
    Task,
    publish,
)
from generators.errors import HarnessError
from generators.model import Message
from generators.publishing.cluster import Cluster
from generators.publishing.pacing import add_up
from generators.publishing.transactions import ABORTED, Transactions

OPEN_S: Final = 120.0
"""Time limit of preparing the producers in Spark's tasks, in seconds."""
ANSWER_S: Final = 30.0
"""Time limit of an answer of a Spark service, in seconds."""
LAST_S: Final = 15.0
"""Time limit of a thread's end, once it is to stop: longer than what is in flight gets
(generators.publishing.pacing).
"""


class Publisher(Closing):
    """What all kinds of producers have in common: sums over all commands until now. `acked` counts
    acknowledged messages, `owed` those of them for which a decoder must return a row; `places` is
    the sum of the hashes of the latter (`place_hash`). `ends` has, by lane (a partition's number
    among those of all topics), the offset after the last message. `samples` has, by (lane, offset),
    which message a sampled one is.
    """

    def __init__(self) -> None:
        self.acked = self.owed = self.places = 0
        self.ends: dict[int, int] = {}
        self.samples: dict[tuple[int, int], MessageId] = {}
        self._base = self._width = 0.0
        self._acks_reported = self._lags_reported = 0

    def _command_with_account(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """The command with three members by which producers report their counts: `base`, the time
        at which it begins; `width`, the seconds of an interval; `thin`, of how many messages one is
        in `lags`.
        """
        self._base, self._width = time.time(), max(TICK_S, command.get("duration_s", 0.0) / TICKS)
        self._acks_reported = self._lags_reported = 0
        thin = max(1, math.ceil(command["count"] / LAGS))
        return {**command, "base": self._base, "width": self._width, "thin": thin}

    def _progress_events(
        self, counts: Mapping[int, int], lags: Sequence[Lag], first: float, ended: float
    ) -> list[dict[str, Any]]:
        """The events of what was counted since the last call: `tick`, a time and the number of
        messages that were acknowledged until then; `sent`, when messages of the sample `lags` were
        due. `counts` are acknowledged messages by the number of the interval; `first` is the time
        of the first acknowledgement, and no event is later than `ended`.
        """
        ticks = [{"tick": [first, 0]}] if counts and not self._acks_reported else []
        total = 0
        for interval in sorted(counts):
            total += counts[interval]
            if total > self._acks_reported:
                self._acks_reported = total
                interval_end = self._base + (interval + 1) * self._width
                ticks.append({"tick": [min(max(first, interval_end), ended), total]})
        new_lags, self._lags_reported = lags[self._lags_reported :], len(lags)
        return [*ticks, {"sent": new_lags}]

    def _final_events(self, figures: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The last events of a command, from the figures of all of its producers, which are added
        to those of earlier commands. Raises HarnessError if one stopped early.
        """
        if stopped := [producer["stopped"] for producer in figures if producer["stopped"]]:
            raise HarnessError(stopped[0])
        counts: dict[int, int] = {}
        for producer in figures:
            for interval, count in producer["ticks"]:
                counts[interval] = counts.get(interval, 0) + count
            self.samples.update(
                ((lane, offset), MessageId(unit, ordinal))
                for lane, offset, unit, ordinal in producer["samples"]
            )
            self.ends.update(
                (lane, max(end, self.ends.get(lane, 0))) for lane, end in producer["ends"]
            )
        busy = [producer for producer in figures if producer["acknowledged"]]
        began = min((producer["began"] for producer in busy), default=0.0)
        first = min((producer["first"] for producer in busy), default=0.0)
        ended = max((producer["ended"] for producer in busy), default=0.0)
        done = add_up(figures)
        done["owed"] = sum(producer["owed"] for producer in figures)
        done["places"] = sum(producer["places"] for producer in figures)
        done |= {"acked": done["acknowledged"], "seconds": ended - began}
        done["per_second"] = done["acked"] / (ended - began) if ended > began else 0.0
        self.acked += done["acked"]
        self.owed += done["owed"]
        self.places += done["places"]
        lags = [Lag(*lag) for lag in chain.from_iterable(producer["lags"] for producer in figures)]
        return [*self._progress_events(counts, lags, first, ended), {"done": done}]


class Producer(Publisher):
    """Producers in threads of this process: one publishes; for `used` topics a second one publishes
    messages in transactions that it aborts.
    """

    def __init__(self, task: Task) -> None:
        super().__init__()
        self._task, self._routes, self._stopping = task, task.routes, threading.Event()
        self._source: ProducerSource | None = None
        self._tally: Tally | None = None
        self._running: Future[dict[str, Any]] | None = None
        self._making: Future[ProducerSource] | None = _start_job(task.source)
        self._aborting = (
            _start_job(partial(_abort_transactions, task.cluster, self._routes, self._stopping))
            if task.used
            else None
        )

    def begin_command(self, command: Mapping[str, Any]) -> None:
        """Starts to publish in a thread; the command says how many messages (`count`), how fast
        (`rate`) and how long at most (`duration_s`). `take` gives the events. The Tally counts what
        is acknowledged, in the intervals that `_command_with_account` adds to the command; this one
        producer (1) has the limits of its samples alone.
        """
        assert self._source is not None
        with_intervals = self._command_with_account(command)
        self._tally = tally = Tally(
            self._source, 1, with_intervals, self._task.every, self._routes.lanes
        )
        self._running = _start_job(
            partial(
                publish,
                self._task,
                self._source,
                with_intervals,
                stop=self._stopping.is_set,
                tally=tally,
            )
        )

    def take(self) -> list[dict[str, Any]]:
        """The events since the last call, as dictionaries with one entry: `ready`, `tick` (time and
        number of acknowledged messages), `sent` (when sampled messages were due) or `done` (the
        final figures). Raises HarnessError if publishing failed.
        """
        if self._making is not None:
            if not self._making.done():
                return []
            self._source, self._making = self._making.result(), None
            return [{"ready": True}]
        if self._running is None or self._tally is None:
            return []
        if self._running.done():
            running, self._running = self._running, None
            return self._final_events([running.result()])
        now = time.time()
        # The thread goes on counting: so the counts are copied, and a running interval is left out.
        counts_of_past_intervals = {
            interval: count
            for interval, count in self._tally.ticks.copy().items()
            if self._base + (interval + 1) * self._width < now
        }
        return self._progress_events(
            counts_of_past_intervals, self._tally.lags.copy(), self._tally.first_s, now
        )

    def close(self) -> None:
        """Stops publishing and waits for the threads of the producer to end."""
        self._stopping.set()
        for thread in filter(None, (self._running, self._aborting)):
            # A broker that is gone answers later, or never: the thread ends with the process.
            with contextlib.suppress(Exception):
                thread.result(LAST_S)


def _start_job(job: Callable[[], Any]) -> Future[Any]:
    """Runs a job in a new daemon thread; the future has its result or its error."""
    future: Future[Any] = Future()

    def run() -> None:
        """Runs the job, and puts its result or error into the future."""
        try:
            future.set_result(job())
        except Exception as error:  # noqa: BLE001 - the future carries it
            future.set_exception(error)

    threading.Thread(target=run, name="cdc-producer", daemon=True).start()
    return future


def _abort_transactions(cluster: Cluster, routes: Routes, stopping: threading.Event) -> None:
    """Publishes unreadable messages to every partition in transactions that it aborts, again and
    again until `stopping`: a reader must not see them. Ends silently if the broker is gone, because
    the other thread reports that.
    """
    writer = Transactions(cluster)
    while not stopping.wait(COMMITTED_S):
        writer.send(Message(topic, number, None, ABORTED) for topic, number in routes.lanes)
        writer.end(commit=False)


class Executors(Publisher):
    """Producers that are tasks of Spark, in an engine's session. Raises UsageError if the session
    has no cores for them beside the decoder.

    A command has no events before it is done, since only Spark knows until then what its tasks have
    published.
    """

    def __init__(self, engine: ChildEngine, task: Task) -> None:
        super().__init__()
        self._engine, self._first, self._busy = engine, 0, False
        self._events: list[dict[str, Any]] = [{"ready": True}]
        self._request("open", OPEN_S, task=asdict(task))

    def _request(self, what: str, limit_s: float = ANSWER_S, **request: Any) -> Mapping[str, Any]:
        """Sends a request to the Spark service that publishes on executors, and returns its answer.
        Raises HarnessError if publishing fails.
        """
        try:
            return self._engine.ask_service("produce", {"do": what, **request}, limit_s).result()
        except DecodeRaised as error:
            raise HarnessError(f"publishing on executors failed: {error}") from None

    def begin_command(self, command: Mapping[str, Any]) -> None:
        """Tells the producers in Spark's tasks to publish the messages of a command. These follow
        the messages of the commands before it: `first` is the number of the first one, counted
        from 0 over all commands. Raises HarnessError.
        """
        self._request("begin", **self._command_with_account(command), first=self._first)
        self._first, self._busy = self._first + command["count"], True

    def take(self) -> list[dict[str, Any]]:
        """The events since the last call, as dictionaries with one entry, such as `ready` or `done`
        (the final figures). Producers in Spark's tasks report their figures only at the end: then
        all events of the command come at once. Raises HarnessError if publishing failed, ChildDied
        if the session has ended.
        """
        events, self._events = self._events, []
        if self._busy and (answer := self._request("status"))["done"]:
            self._busy = False
            events += self._final_events(answer["figures"])
            events[-1]["done"]["cpu_s"] = sum(producer["cpu_s"] for producer in answer["figures"])
        return events

    def close(self) -> None:
        """Ends the tasks that publish."""
        stop_service(self._engine, "produce")


def stop_service(engine: ChildEngine, service: str) -> None:
    """Stops what a service has started in the child process, such as a streaming query; does
    nothing if the child has ended.
    """
    # A dead child has nothing; a request would start another child.
    if engine.pid is not None:
        stopping = engine.ask_service(service, {"do": "stop"}, ANSWER_S)
        with contextlib.suppress(DecodeRaised, ChildDied, HarnessError, TimeoutError):
            stopping.result(ANSWER_S)
