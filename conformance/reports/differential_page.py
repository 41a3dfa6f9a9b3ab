"""The differential check as a table, Markdown, JSON lines, or one self-contained HTML page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from conformance.files import put
from conformance.reports.markdown import code
from conformance.reports.page import environment
from conformance.running.differential import Comparison
from conformance.sheets import grid, markdown_table
from conformance.text import printable
from generators.drawing import shared_history

COLUMNS = ("format", "profile", "rows", "cells", "differences", "lost by the format")
"""The heads of the table of profiles."""


def _outcome_cells(outcome: Comparison) -> tuple[str, ...]:
    """The cells of a profile's row in the table of the differential check: its counts, and in words
    what the format loses (as documented) or cannot carry.
    """
    lost = [f"{count} x {statement}" for statement, count in outcome.lost.items()]
    without = [f"no column {', '.join(outcome.columns)}"] if outcome.columns else []
    return (
        outcome.format,
        outcome.profile,
        str(outcome.row_count),
        str(outcome.cells),
        str(outcome.differences),
        "; ".join([*lost, *without]),
    )


def render(outcomes: Sequence[Comparison]) -> RenderableType:
    """The results of the differential check as a table for a terminal, and below it the first
    differences of each profile.
    """
    outcome_rows: list[list[Text]] = []
    difference_lines: list[Text] = []
    for outcome in outcomes:
        style = "red" if outcome.differences else ""
        outcome_rows.append([Text(cell, style) for cell in _outcome_cells(outcome)])
        for difference in outcome.difference_texts:
            line = f"{outcome.format}/{outcome.profile}: {difference}"
            difference_lines.append(Text(printable(line), style="red"))
    return Group(grid(COLUMNS, outcome_rows), *difference_lines)


def markdown(outcomes: Iterable[Comparison]) -> str:
    """The results of the differential check as a Markdown table, and below it the first differences
    of each profile.
    """
    all_outcomes = list(outcomes)
    difference_lines: list[str] = []
    for outcome in all_outcomes:
        profile = f"{outcome.format}/{outcome.profile}"
        difference_lines += (f"- {profile}: {code(what, 300)}" for what in outcome.difference_texts)
    return "\n".join(
        [
            *markdown_table(COLUMNS, map(_outcome_cells, all_outcomes)),
            *([""] if difference_lines else []),
            *difference_lines,
        ]
    )


def lines(outcomes: Iterable[Comparison]) -> str:
    """The results of the differential check as text, one JSON object a line for each profile."""
    return "\n".join(
        json.dumps(
            {
                "type": "differential",
                "format": outcome.format,
                "profile": outcome.profile,
                "changes": outcome.changes,
                "rows": outcome.row_count,
                "cells": outcome.cells,
                "lost": dict(outcome.lost),
                "columns_left_out": list(outcome.columns),
                "differences": outcome.differences,
                "broken": dict(outcome.broken),
                "worn": dict(outcome.worn),
                "shown": outcome.difference_texts,
            },
            ensure_ascii=False,
        )
        for outcome in outcomes
    )


def write(outcomes: Sequence[Comparison], directory: Path, seed: int | None = None) -> list[Path]:
    """Writes differential.jsonl and differential.html. Raises HarnessError if writing fails."""
    return [
        put(
            directory / "differential.jsonl",
            lambda: [f"{lines(outcomes)}\n".encode("utf-8", "replace")],
        ),
        put(
            directory / "differential.html",
            lambda: [page(outcomes, seed).encode("utf-8", "backslashreplace")],
        ),
    ]


def page(outcomes: Sequence[Comparison], seed: int | None = None) -> str:
    """The results of the differential check as an HTML page with a table: a row for each profile, a
    column for each column of the history's table. `seed` is that of the history, None to leave it
    out.
    """
    column_set = dict.fromkeys(shared_history.COLUMNS)
    lost: dict[str, list[str]] = {}
    for outcome in outcomes:
        column_set |= dict.fromkeys((*outcome.broken, *outcome.worn))
        for statement, count in outcome.lost.items():
            lost.setdefault(statement, []).append(f"{outcome.format}/{outcome.profile} ({count:,})")
    columns = list(column_set)
    marks = [(outcome, _marks(outcome, columns)) for outcome in outcomes]
    groups = groupby(marks, key=lambda marked_outcome: marked_outcome[0].format)
    differing = sum(1 for outcome in outcomes if outcome.differences)
    formats = len({outcome.format for outcome in outcomes})
    headline = (
        f"{differing} of {len(outcomes)} profiles leave another table"
        if differing
        else "the same table from every format"
    )
    subject = (
        f"One history{'' if seed is None else f' of seed {seed}'} through {len(outcomes)} profiles"
        f" of {formats} formats"
    )
    content = {
        "headline": headline,
        "about": (
            f"{subject}: what each decoder's changes leave behind, compared cell by cell with the"
            " source's own table."
        ),
        "differences": differing,
        "columns": columns,
        "groups": [(name, list(marked_outcomes)) for name, marked_outcomes in groups],
        "wrong": [outcome for outcome in outcomes if outcome.difference_texts],
        "lost": list(lost.items()),
    }
    return environment().get_template("differential.html.j2").render(page=content)


class Mark(NamedTuple):
    """A cell of the page's table, for a profile and a column of the history's table: its sign, how
    many cells of the data it is about, its colour (a CSS class), and the title that appears over
    it.
    """

    sign: str
    cells: int
    colour: str
    title: str


def _marks(outcome: Comparison, columns: Iterable[str]) -> list[Mark]:
    """The marks of a profile's row, one for each column of the page's table."""
    return [_mark(outcome, column) for column in columns]


def _mark(outcome: Comparison, column: str) -> Mark:
    """The mark for one column of a profile in the differential check: not carried by the format,
    different, lost as documented, the same, or not compared.
    """
    if column in outcome.columns:
        return Mark("-", 0, "soft", f"{column}: not carried")
    if outcome.broken[column]:
        return Mark(
            "✗",
            outcome.broken[column],
            "bad",
            f"{column}: {outcome.broken[column]} cells differ",
        )
    if outcome.worn[column]:
        return Mark(
            "~",
            outcome.worn[column],
            "warn",
            f"{column}: {outcome.worn[column]} cells lost as documented",
        )
    if outcome.cells:
        return Mark("✓", 0, "good", f"{column}: the same")
    return Mark("-", 0, "soft", f"{column}: not compared")
