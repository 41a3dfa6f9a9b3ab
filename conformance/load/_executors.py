"""The producers of `load` that are tasks of Spark; their commands and events are those of `_process`.

Events come when a command is done: before that, only Spark knows what its tasks have published.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping
from typing import Any, Final, Self

from conformance.engines.child import ChildEngine
from conformance.engines.engine import ChildDied, DecodeRaised
from conformance.load.source import LAGS, TICK_S, TICKS
from generators.errors import HarnessError
from generators.publishing.pacing import Histogram

OPEN_S: Final = 120.0
ANSWER_S: Final = 30.0


class Executors:
    """Producers in the session of an engine. Raises UsageError if the session has no room for them beside the decoder."""

    def __init__(self, engine: ChildEngine, asked: Mapping[str, Any], producers: int) -> None:
        self._engine, self._first, self._busy = engine, 0, False
        self._width = TICK_S
        self._base = 0.0
        self._events: list[dict[str, Any]] = [{"ready": True}]
        self.samples: dict[tuple[int, int], tuple[int, int]] = {}
        self.acked = self.owed = self.places = 0
        self.ends: dict[int, int] = {}
        self._ask("open", OPEN_S, **asked, producers=producers)

    def _ask(self, what: str, limit_s: float = ANSWER_S, **request: Any) -> Mapping[str, Any]:
        try:
            return self._engine.ask("produce", {"do": what, **request}, limit_s).result()
        except DecodeRaised as error:
            raise HarnessError(f"publishing on executors failed: {error}") from None

    def tell(self, command: Mapping[str, Any]) -> None:
        """Begins a command. Raises HarnessError."""
        self._base = time.time()
        self._width = max(TICK_S, command.get("duration_s", 0.0) / TICKS)
        thin = max(1, math.ceil(command["count"] / LAGS))
        self._ask("begin", **command, first=self._first, base=self._base, width=self._width, thin=thin)
        self._first, self._busy = self._first + command["count"], True

    def take(self) -> list[dict[str, Any]]:
        """The events since the last call. Raises HarnessError if publishing failed, ChildDied if the session has ended."""
        events, self._events = self._events, []
        if self._busy and (answer := self._ask("status"))["done"]:
            self._busy = False
            events += self._told(answer["entries"])
        return events

    def _told(self, entries: list[list[Any]]) -> list[dict[str, Any]]:
        """The events of a command from the sums of its entries."""
        found: dict[str, list[list[Any]]] = {}
        for name, *entry in entries:
            found.setdefault(name, []).append(entry)
        if "stopped" in found:
            raise HarnessError(found["stopped"][0][2])
        sums = {name: found[name][0][3] for name in ("sent", "acknowledged", "failed", "owed", "places", "cpu")}
        began, first, ended = (
            found[name][0][at] if name in found else 0.0 for name, at in (("began", 4), ("first", 4), ("ended", 5))
        )
        latencies = Histogram()
        for place, _, _, count, *_ in found.get("latency", ()):
            latencies.merge(Histogram({place: count}, count, found["largest"][0][5]))
        ticks, acked = [{"tick": [first, 0]}], 0
        for place, _, _, count, *_ in sorted(found.get("tick", ())):
            acked += count
            ticks.append({"tick": [min(max(first, self._base + (place + 1) * self._width), ended), acked]})
        self.acked += sums["acknowledged"]
        self.owed += sums["owed"]
        self.places += sums["places"]
        self.samples.update(((p, o), (unit, int(place))) for p, o, _, unit, place, _ in found.get("sample", ()))
        seconds = ended - began
        done = {
            **{name: sums[name] for name in ("sent", "acknowledged", "failed", "owed", "places")},
            "acked": sums["acknowledged"],
            "cpu_s": sums["cpu"] / 1e6,
            "seconds": seconds,
            "per_second": sums["acknowledged"] / seconds if seconds > 0 else 0.0,
            **{name: latencies.quantile_ms(share) for name, share in (("p50_ms", 0.5), ("p99_ms", 0.99))},
            "max_ms": latencies.max_ms,
            "errors": [text for _, _, text, *_ in found.get("error", ())],
        }
        sent = [(p, o, at, weight) for p, o, _, weight, at, _ in found.get("lag", ())]
        return [*ticks, {"sent": sent}, {"done": done}]

    def close(self) -> None:
        """Ends the tasks."""
        # A dead child has none; a request would start another child.
        if self._engine.pid is not None:
            asked = self._engine.ask("produce", {"do": "stop"}, ANSWER_S)
            with contextlib.suppress(DecodeRaised, ChildDied, HarnessError, TimeoutError):
                asked.result(ANSWER_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
