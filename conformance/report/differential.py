"""The differential check as a table, Markdown or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.differential import Outcome

COLUMNS = ("format", "profile", "rows", "cells", "differences", "lost by the format")


def _row(one: Outcome) -> tuple[str, ...]:
    lost = [f"{count} x {statement}" for statement, count in one.lost.items()]
    without = [f"no column {', '.join(one.columns)}"] if one.columns else []
    return (one.format, one.profile, str(one.rows), str(one.cells), str(one.differences), "; ".join([*lost, *without]))


def render(outcomes: Sequence[Outcome]) -> RenderableType:
    """A table for a terminal, and below it the first differences of each profile."""
    table = Table(*COLUMNS, header_style="bold")
    for one in outcomes:
        table.add_row(*map(Text, _row(one)), style="red" if one.differences else None)
    wrong = (Text(f"{one.format}/{one.profile}: {what}", style="red") for one in outcomes for what in one.wrong)
    return Group(table, *wrong)


def markdown(outcomes: Iterable[Outcome]) -> str:
    """A Markdown table."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(_row, outcomes)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def lines(outcomes: Iterable[Outcome]) -> str:
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
                "shown": one.wrong,
            },
            ensure_ascii=False,
        )
        for one in outcomes
    )
