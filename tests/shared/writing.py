"""What a format's writer makes of events."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from generators.model import Event, History, Layout, Written


@dataclass(frozen=True)
class Writing:
    """A format's writer on three partitions: `writing(profile, *events)` are its messages."""

    write: Callable[..., list[Written]]
    layout: Layout = Layout("topic", 3)

    def __call__(self, profile: Any, *events: Event, seed: int = 0) -> list[Written]:
        return self.write(History(events, seed), profile, self.layout)

    def texts(self, profile: Any, *events: Event, seed: int = 0) -> list[str]:
        """The messages as text."""
        return [
            (record.message.value or b"").decode() for record in self(profile, *events, seed=seed)
        ]

    def bodies(self, profile: Any, *events: Event, seed: int = 0) -> list[Any]:
        """The messages as JSON."""
        return list(map(json.loads, self.texts(profile, *events, seed=seed)))

    def message(self, profile: Any, *events: Event, seed: int = 0) -> tuple[Any, Written]:
        """The only message as JSON, and as it was written."""
        (record,) = self(profile, *events, seed=seed)
        return json.loads(record.message.value or b""), record
