"""A pipeline's results for people: a line for each nemesis, then what differs, by rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final

from conformance.pipelines.results import PipelineResult, reached_ids
from conformance.rules.pipelines import rules
from conformance.sheets import sheet_of_results

_HEAD: Final = ("profile", "nemesis", "rows", "messages", "repeats", "s", "result")
"""The columns of the table of results."""


def render(results: Sequence[PipelineResult], fmt: str, *, markdown: bool = False) -> Any:
    """The results of a pipeline's run as a table with the differences below it: for a terminal, or
    as Markdown.
    """
    head, lines = _lines(results)
    return sheet_of_results(head, lines, list(_lines_below_table(results, fmt)), markdown=markdown)


def as_html(results: Sequence[PipelineResult], fmt: str) -> str:
    """The results of a pipeline's run as an HTML table with the differences below it, for a
    notebook.
    """
    head, lines = _lines(results)
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    rows = [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in lines]
    words = "\n".join(_lines_below_table(results, fmt))
    return f"<table><tr>{cells}</tr>{''.join(rows)}</table><pre>{escape(words)}</pre>"


def _lines(results: Sequence[PipelineResult]) -> tuple[tuple[str, ...], list[list[str]]]:
    """The column names and the lines of the table of results, a line for each nemesis."""
    has_tables = any(result.table for result in results)
    head = (*_HEAD[:1], *(("table",) if has_tables else ()), *_HEAD[1:])
    lines = [
        [
            result.profile,
            *([result.table] if has_tables else []),
            result.nemesis,
            *map(str, (result.rows, result.messages, result.repeats)),
            f"{result.seconds:.0f}",
            result.word,
        ]
        for result in results
    ]
    return head, lines


def _lines_below_table(results: Sequence[PipelineResult], fmt: str) -> Iterator[str]:
    """The lines below the table of results: for each broken rule the number of differences, its
    text and the first three; then what was not judged and why, notes, the time, and how many
    results converged. Rules come in the order in which the results first break them.
    """
    book = {rule.id: rule for rule in rules(fmt)}
    for rule in dict.fromkeys(rule for result in results for rule, _ in result.wrong):
        counts = [(r.nemesis, r.broken[rule]) for r in results if r.broken[rule]]
        total = sum(count for _, count in counts)
        yield f"{rule}: {total} differences ({', '.join(f'{n} {count}' for n, count in counts)})"
        if rule in book:
            yield f"  {' '.join(book[rule].statement.split())}"
            yield f"  {', '.join(str(citation) for citation in book[rule].citations)}"
        first = [(r, what) for r in results for name, what in r.wrong if name == rule]
        for result, what in first[:3]:
            yield f"  {result.nemesis}: {what}"
    for result in results:
        if result.lost:
            yield f"{result.nemesis}: not judged: {result.lost}"
    yield from dict.fromkeys(note for result in results for note in result.notes)
    judged = [result for result in results if not result.lost]
    converged = sum(result.converged for result in judged)
    reached = reached_ids(fmt, results)
    if missed := [rule.rpartition("/")[2] for rule in book if rule not in reached]:
        yield f"not judged, since nothing in this run could break them: {', '.join(missed)}"
    if any(result.cpu_seconds for result in results):
        seconds = sum(result.seconds for result in results)
        cpu = sum(result.cpu_seconds for result in results)
        yield f"{seconds:.0f} s, {cpu:.0f} CPU seconds of Spark and its Python, with their start"
    yield f"{converged} of {len(judged)} converged"
