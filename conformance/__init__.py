"""Judges decoders of change-data-capture messages, and tables that are kept from them.

Public: `run`, `RunResult`, `Verdict`, `DecoderSuite`, `pipeline`, `PipelineReport`, `PipelineSuite`
(docs/api.md). Everything else is private to the project, and may change between releases. Names are
imported when they are first used: the command line starts without Spark and Hypothesis.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.api import pipeline, run
    from conformance.judging.findings import Verdict
    from conformance.judging.results import RunResult
    from conformance.pipelines.report import PipelineReport
    from conformance.pytest_pipelines import PipelineSuite
    from conformance.pytest_plugin import DecoderSuite

__all__ = [
    "DecoderSuite",
    "PipelineReport",
    "PipelineSuite",
    "RunResult",
    "Verdict",
    "pipeline",
    "run",
]

_HOMES = {
    "DecoderSuite": "conformance.pytest_plugin",
    "PipelineReport": "conformance.pipelines.report",
    "PipelineSuite": "conformance.pytest_pipelines",
    "RunResult": "conformance.judging.results",
    "Verdict": "conformance.judging.findings",
    "pipeline": "conformance.api",
    "run": "conformance.api",
}
"""The module that defines each public name."""


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used. Raises AttributeError for any other name."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
