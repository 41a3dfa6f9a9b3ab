"""A run's result as a notebook shows it: the mistakes with an example each, and the counts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from conformance.judging.mistakes import MOST, Mistake, mistakes
from conformance.judging.results import Failure, FormatResult, RunResult
from conformance.reports.console import BRIEF, HEADS, example, several, told, wire_of
from conformance.reports.facts import headline, sums
from conformance.reports.page import environment


@dataclass(frozen=True, slots=True)
class NotebookResult(RunResult):
    """A result that a notebook shows as HTML, with a link to its page if one was written."""

    page: str = ""

    @classmethod
    def of(cls, result: RunResult, page: Path | None) -> NotebookResult:
        """The same result."""
        own = {field.name: getattr(result, field.name) for field in fields(result)}
        return cls(**own, page=page.as_posix() if page else "")

    def _repr_html_(self) -> str:
        return html(self)


def html(result: NotebookResult) -> str:
    """The mistakes, each with its smallest message, and the cases by verdict."""
    return (
        environment()
        .get_template("notebook.html.j2")
        .render(
            headline=headline(result),
            sums=sums(result),
            formats=[_format(fmt, result) for fmt in result.formats],
            verdicts=[verdict for verdict in HEADS if any(fmt.verdicts[verdict] for fmt in result.formats)],
            page=result.page,
        )
    )


def _format(fmt: FormatResult, result: RunResult) -> dict[str, Any]:
    named = mistakes(fmt, strict=result.strict)
    failures = [one for one in result.failures if one.result.case.format == fmt.format]
    return {
        "name": fmt.format,
        "cases": len(fmt.cases),
        "verdicts": fmt.verdicts,
        "several": several(named),
        "mistakes": [_mistake(one, fmt, failures) for one in named[:MOST]],
    }


def _mistake(one: Mistake, fmt: FormatResult, failures: list[Failure]) -> dict[str, Any]:
    broken = example(one, failures)
    return {
        "told": told(one),
        "finding": broken.finding if broken else one.finding,
        "wire": wire_of(broken, BRIEF) if broken else None,
        "rules": [judged.rule for judged in fmt.rules if judged.rule.id in one.rules],
    }
