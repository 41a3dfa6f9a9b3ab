"""What a run of a pipeline came to, for whoever judges one from Python."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.pipelines.results import PipelineResult, reached_ids
from conformance.pipelines.showing import as_html, render
from conformance.streams.differences import RuleDifference


@dataclass(frozen=True, slots=True)
class PipelineReport:
    """What a run of a pipeline came to: a result for each nemesis. A notebook shows it as a
    table, `str` gives it as Markdown.
    """

    format: str
    results: tuple[PipelineResult, ...]

    @property
    def exit_code(self) -> int:
        """The exit code that the command `pipeline` would have: 0 if every table that was judged is
        right, else 1.
        """
        return 0 if all(result.converged or result.lost for result in self.results) else 1

    @property
    def failures(self) -> tuple[RuleDifference, ...]:
        """The first differences of each result, each with the id of the broken rule."""
        return tuple(each for result in self.results for each in result.wrong)

    @property
    def reached(self) -> frozenset[str]:
        """The ids of the rules that could have been broken, or were."""
        return reached_ids(self.format, self.results)

    def __str__(self) -> str:
        return str(render(self.results, self.format, markdown=True))

    def _repr_html_(self) -> str:
        """The report as HTML, as a notebook shows it."""
        return as_html(self.results, self.format)
