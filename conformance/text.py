"""Makes text safe to show on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with all characters escaped on which a terminal would act."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable_lines(text: str) -> str:
    """The same text in lines: their ends stay."""
    return "\n".join(map(printable, text.split("\n")))
