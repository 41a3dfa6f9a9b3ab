"""Judges decoders of change-data-capture messages.

Public: `run`, `RunResult`, `Verdict`, `DecoderSuite` (docs/api.md). Everything else is private to
the project, and may change between releases. Names are imported when they are first used: the
command line starts without Spark and Hypothesis.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.api import run
    from conformance.judging.judge import Verdict
    from conformance.judging.results import RunResult
    from conformance.pytest_plugin import DecoderSuite

__all__ = ["DecoderSuite", "RunResult", "Verdict", "run"]

_HOMES = {
    "DecoderSuite": "conformance.pytest_plugin",
    "RunResult": "conformance.judging.results",
    "Verdict": "conformance.judging.judge",
    "run": "conformance.api",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
