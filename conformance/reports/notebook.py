"""A run's result as a notebook shows it: the mistakes with an example each, and the counts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from conformance.judging.results import RunResult
from conformance.reports.console import HEADS
from conformance.reports.facts import headline, sums
from conformance.reports.page import environment
from conformance.reports.repairs import repairs


@dataclass(frozen=True, slots=True)
class NotebookResult(RunResult):
    """The result of a run that a notebook shows as HTML. `page` is the path of the report's page,
    to which it links; "" if none was written.
    """

    page: str = ""

    @classmethod
    def of_result(cls, result: RunResult, page: Path | None) -> NotebookResult:
        """The result of a run as an object that a notebook shows; `page` is the path of its page,
        None if none was written.
        """
        field_values = {field.name: getattr(result, field.name) for field in fields(result)}
        return cls(**field_values, page=page.as_posix() if page else "")

    def _repr_html_(self) -> str:
        """The hook by which a notebook asks for the result as HTML."""
        return html(self)


def html(result: NotebookResult) -> str:
    """The HTML by which a notebook shows a run's result: the mistakes, each with its smallest
    message, and the cases by verdict.
    """
    occurring = {case.verdict for case in result.cases}
    return (
        environment()
        .get_template("notebook.html.j2")
        .render(
            headline=headline(result),
            sums=sums(result),
            formats=[repairs(fmt, result) for fmt in result.formats],
            verdicts=[verdict for verdict in HEADS if verdict in occurring],
            page=result.page,
        )
    )
