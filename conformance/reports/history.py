"""The runs whose reports one folder has had: a line for each, from which the page shows the trend
of kept rules.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from conformance.judging.results import RunResult
from conformance.reports import facts
from conformance.reports.facts import Standing

NAME: Final = "history.jsonl"
"""The name of the history file in a report's folder."""
LONGEST: Final = 200
"""Runs that the file keeps."""
SHOWN: Final = 20
"""Runs that the page shows."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run of a decoder on a format: when it was, how many rules were kept (`kept`) of those that
    it could reach (`reached`), and its exit code.
    """

    date: str
    decoder: str
    format: str
    budget: str
    kept: int
    reached: int
    cases: int
    exit_code: int

    @property
    def share(self) -> float:
        """The share of kept rules."""
        return self.kept / self.reached if self.reached else 0.0


@dataclass(frozen=True, slots=True)
class Trend:
    """The runs of one decoder on one format, the oldest first."""

    format: str
    runs: tuple[PastRun, ...]

    @property
    def polyline(self) -> str:
        """The points of an SVG polyline in a box of 200 by 40 units, one for each run, higher for a
        larger share of kept rules.
        """
        step = 200 / max(1, len(self.runs) - 1)
        points = (
            f"{number * step:.1f},{38 - 36 * run.share:.1f}" for number, run in enumerate(self.runs)
        )
        return " ".join(points)


def past_runs(result: RunResult) -> list[PastRun]:
    """The run as entries of the history file, one for each format."""
    date = result.header.versions.get("date", "")
    runs = []
    for fmt in result.formats:
        counts = facts.counts(facts.standings(fmt, result.strict))
        runs.append(
            PastRun(
                date,
                result.header.decoder,
                fmt.format,
                result.header.budget,
                counts[Standing.KEPT],
                facts.reached(counts),
                len(fmt.cases),
                result.exit_code,
            )
        )
    return runs


def read_history(directory: Path) -> list[PastRun]:
    """The past runs in the history file of a report's folder, the oldest first; [] if there is no
    such file. Lines that are no runs are left out.
    """
    try:
        lines = (directory / NAME).read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return []
    return [run for line in lines if (run := _read_run(line)) is not None]


def _read_run(line: str) -> PastRun | None:
    """A past run from its line of the history file; None for a line that holds no run."""
    try:
        data: Any = json.loads(line)
        run = PastRun(**data)
    except (TypeError, ValueError, RecursionError):
        return None
    texts = (run.date, run.decoder, run.format, run.budget)
    numbers = (run.kept, run.reached, run.cases, run.exit_code)
    is_sound = all(isinstance(field_text, str) for field_text in texts) and all(
        type(number) is int and number >= 0 for number in numbers
    )
    return run if is_sound and run.kept <= run.reached else None


def add_run(directory: Path, result: RunResult) -> list[PastRun]:
    """The past runs of a report's folder, with this one last; the oldest are left out beyond
    LONGEST.
    """
    return [*read_history(directory), *past_runs(result)][-LONGEST:]


def history_lines(runs: Sequence[PastRun]) -> list[bytes]:
    """The lines of the history file, as bytes."""
    return [json.dumps(asdict(run), ensure_ascii=True).encode() + b"\n" for run in runs]


def trends(runs: Sequence[PastRun], result: RunResult) -> list[Trend]:
    """For each format of the run its last runs with the same decoder, as a trend; no trend for a
    format with a single run.
    """
    by_format: Mapping[str, list[PastRun]] = {fmt.format: [] for fmt in result.formats}
    for run in runs:
        if run.decoder == result.header.decoder and run.format in by_format:
            by_format[run.format].append(run)
    return [
        Trend(name, tuple(runs_of_format[-SHOWN:]))
        for name, runs_of_format in by_format.items()
        if len(runs_of_format) > 1
    ]
