"""Writes tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def table(head: tuple[str, ...], cell_rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """The lines of a table. A bar or a line break in a cell is escaped."""
    yield f"|{'|'.join(head)}|"
    yield "|" + "---|" * len(head)
    for cells in cell_rows:
        yield (
            "|" + "|".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + "|"
        )
