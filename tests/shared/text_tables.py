"""Tables of texts that stand beside their tests."""

from __future__ import annotations

from pathlib import Path


def rows(test: str, name: str, mark: str = "  =>  ") -> list[list[str]]:
    """The lines of a file beside a test, each parted at the mark; a line that begins with # is a
    comment.
    """
    lines = Path(test).with_name(name).read_text("utf-8").splitlines()
    return [line.split(mark) for line in lines if not line.startswith("#")]


def of_lines(test: str, name: str) -> list[list[str]]:
    """The same of texts of several lines, with `\\n` between them."""
    return [[text.replace(r"\n", "\n") for text in row] for row in rows(test, name)]
