"""Writes tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def table(head: tuple[str, ...], cell_rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """A table in Markdown, line by line. In cells, bars are escaped and line breaks become
    blanks.
    """
    yield f"|{'|'.join(head)}|"
    yield "|" + "---|" * len(head)
    for cells in cell_rows:
        yield (
            "|" + "|".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + "|"
        )
