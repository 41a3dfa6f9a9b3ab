"""Plays the writers of change-data-capture messages.

Public: the Hypothesis strategies `messages`, `histories`, `tables`, `rows`, and `write`
(docs/api.md); `generators.formats.<name>` holds each format's `FORMAT`. Everything else is private
to the project, and may change between releases. Names are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from generators.drawing.strategies import histories, messages, rows, tables
    from generators.drawing.write import write

__all__ = ["histories", "messages", "rows", "tables", "write"]

_HOMES = dict.fromkeys(
    ("histories", "messages", "rows", "tables"), "generators.drawing.strategies"
) | {"write": "generators.drawing.write"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
