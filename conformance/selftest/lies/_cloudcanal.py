"""The lies that CloudCanal's two JSON formats of its own share."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.base import Lie
from generators.families.java_text import Escapes
from generators.model import Deployment

_ZONE: Final = Deployment(time_zone="Asia/Tokyo")


def shared(name: str, numbered: str, old: str) -> tuple[Lie, ...]:
    """The lies for the format of that name; `numbered` is a profile with numbers, `old` the rule of an UPDATE's old row."""
    return (
        Lie("other escapes", "2022", None, "varchar/*", field="escapes", value=Escapes.FASTJSON2),
        Lie("one partition", "2022", None, "envelope/*", field="by_table", value=False),
        Lie("later send time", "2022", None, "envelope/*", field="send_lag_ms", value=3_600_000),
        Lie(
            "commit time in milliseconds",
            "2022",
            f"{name}/envelope/commit-time",
            "envelope/commit-time-*",
            field="exec_step_ms",
            value=1,
        ),
        Lie("numbered", "2022", f"{name}/envelope/position", "envelope/three-messages", field="numbered", value=True),
        Lie("not numbered", numbered, f"{name}/envelope/position", "envelope/three-messages", field="numbered", value=False),
        Lie("partial old row", "2022", f"{name}/image/{old}", "shape/update-one-column", field="whole_before", value=False),
        Lie("another zone", "2022", f"{name}/value/timestamp", "timestamp-0/plain", field="deployment", value=_ZONE),
        Lie("decimal scale dropped", "2022", f"{name}/value/decimal", "decimal-10-2/zero", field="keeps_scale", value=False),
        Lie("zeros kept", "2022", f"{name}/value/binary-stripped", "binary/trailing-zeros", field="strips_binary", value=False),
    )
