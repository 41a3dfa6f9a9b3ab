"""Text that can be shown: nothing in it acts on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with everything escaped that a terminal would act on instead of showing."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
