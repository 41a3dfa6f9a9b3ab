"""Rows with a head for people: as lines of Markdown, or on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from conformance.text import printable

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def cell(text: object) -> str:
    """A text made fit for a cell of a Markdown table: on one line, with bars, backslashes and `<`
    escaped.
    """
    line = printable(str(text).replace("\n", " "))
    return line.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[object]], written: Callable[[object], str] = cell
) -> list[str]:
    """A table in Markdown, line by line, from the columns' names and the rows; `written` turns a
    value into the text of a cell.
    """
    lines = (f"| {' | '.join(map(written, row))} |" for row in rows)
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines]


def grid(
    head: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    left: Collection[str] | None = None,
    caption: str | None = None,
) -> Table:
    """A table on a terminal. If `left` is given, it names the columns of texts; all other columns
    hold numbers and are aligned at the right.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold", pad_edge=False, caption=caption)
    for name in head:
        table.add_column(
            name,
            justify="left" if left is None or name in left else "right",
            no_wrap=name == "format",
        )
    for row in rows:
        table.add_row(*(Text(printable(cell)) if isinstance(cell, str) else cell for cell in row))
    return table


RESULT_COLOURS: Final = {"converged": "green", "differs": "red"}
"""The colour of a result of a table on a terminal; any other is yellow."""


def sheet_of_results(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    sentences: Sequence[str],
    *,
    markdown: bool = False,
) -> Any:
    """A table whose last column is a result, coloured by it, and sentences below: as an object for
    a terminal, or, with `markdown`, as a text.
    """
    from rich.console import Group
    from rich.text import Text

    if markdown:
        return "\n".join([*markdown_table(head, rows), "", *sentences])
    coloured: list[list[str | Text]] = [
        [*row[:-1], Text(row[-1], RESULT_COLOURS.get(row[-1], "yellow"))] for row in rows
    ]
    return Group(grid(head, coloured), *map(Text, sentences))
