"""The differential check as a table, Markdown, JSON lines, or one self-contained HTML page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.files import put
from conformance.reports.markdown import code
from conformance.reports.page import environment
from conformance.running.differential import Comparison
from conformance.text import printable
from generators.drawing import shared_history as histories

COLUMNS = ("format", "profile", "rows", "cells", "differences", "lost by the format")


def _row(one: Comparison) -> tuple[str, ...]:
    lost = [f"{count} x {statement}" for statement, count in one.lost.items()]
    without = [f"no column {', '.join(one.columns)}"] if one.columns else []
    return (one.format, one.profile, str(one.rows), str(one.cells), str(one.differences), "; ".join([*lost, *without]))


def render(outcomes: Sequence[Comparison]) -> RenderableType:
    """A table for a terminal, and below it the first differences of each profile."""
    table = Table(*COLUMNS, header_style="bold")
    for one in outcomes:
        table.add_row(*map(Text, _row(one)), style="red" if one.differences else None)
    wrong = (Text(printable(f"{one.format}/{one.profile}: {what}"), style="red") for one in outcomes for what in one.wrong)
    return Group(table, *wrong)


def markdown(outcomes: Iterable[Comparison]) -> str:
    """A Markdown table, and below it the first differences of each profile."""
    held = list(outcomes)
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(_row, held)]
    table = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    wrong = [f"- {one.format}/{one.profile}: {code(what, 300)}" for one in held for what in one.wrong]
    return "\n".join([*table, *([""] if wrong else []), *wrong])


def lines(outcomes: Iterable[Comparison]) -> str:
    """One JSON object per profile."""
    return "\n".join(
        json.dumps(
            {
                "type": "differential",
                "format": one.format,
                "profile": one.profile,
                "changes": one.changes,
                "rows": one.rows,
                "cells": one.cells,
                "lost": dict(one.lost),
                "columns_left_out": list(one.columns),
                "differences": one.differences,
                "broken": dict(one.broken),
                "worn": dict(one.worn),
                "shown": one.wrong,
            },
            ensure_ascii=False,
        )
        for one in outcomes
    )


def write(outcomes: Sequence[Comparison], directory: Path, seed: int | None = None) -> list[Path]:
    """Writes differential.jsonl and differential.html. Raises HarnessError when the disk refuses."""
    return [
        put(directory / "differential.jsonl", lambda: [f"{lines(outcomes)}\n".encode("utf-8", "replace")]),
        put(directory / "differential.html", lambda: [page(outcomes, seed).encode("utf-8", "backslashreplace")]),
    ]


def page(outcomes: Sequence[Comparison], seed: int | None = None) -> str:
    """An HTML page: a row for each profile, a column for each column of the history's table."""
    columns = list(dict.fromkeys([*histories.COLUMNS, *(name for one in outcomes for name in (*one.broken, *one.worn))]))
    lost: dict[str, list[str]] = {}
    for one in outcomes:
        for statement, count in one.lost.items():
            lost.setdefault(statement, []).append(f"{one.format}/{one.profile} ({count:,})")
    differing = sum(1 for one in outcomes if one.differences)
    formats = len({one.format for one in outcomes})
    said = f"{differing} of {len(outcomes)} profiles leave another table" if differing else "the same table from every format"
    told = f"One history{'' if seed is None else f' of seed {seed}'} through {len(outcomes)} profiles of {formats} formats"
    found = {
        "headline": said,
        "about": f"{told}: what each decoder's changes leave behind, compared cell by cell with the source's own table.",
        "differences": differing,
        "columns": columns,
        "groups": [
            (name, [(one, [_mark(one, column) for column in columns]) for one in some])
            for name, some in groupby(outcomes, key=lambda one: one.format)
        ],
        "wrong": [one for one in outcomes if one.wrong],
        "lost": list(lost.items()),
    }
    return environment().get_template("differential.html.j2").render(page=found)


def _mark(one: Comparison, column: str) -> tuple[str, int, str, str]:
    """Sign, count, colour and title of one column."""
    if column in one.columns:
        return "-", 0, "soft", f"{column}: not carried"
    if one.broken[column]:
        return "✗", one.broken[column], "bad", f"{column}: {one.broken[column]} cells differ"
    if one.worn[column]:
        return "~", one.worn[column], "warn", f"{column}: {one.worn[column]} cells lost as documented"
    return ("✓", 0, "good", f"{column}: the same") if one.cells else ("-", 0, "soft", f"{column}: not compared")
