"""Makes text safe to show: on a terminal, on a page, in the log of a CI service."""

from __future__ import annotations

import re
from typing import Final

_COMMAND: Final = re.compile(r"^(\s*):(?=:)")
"""What begins a line that a CI service takes as a command."""


def printable(text: str) -> str:
    """The text with all characters escaped on which a terminal would act, or a reader of CI logs
    if the text begins a line.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    # The older form of such a command may stand anywhere in a line.
    return _COMMAND.sub(r"\1\\x3a", text).replace("##[", r"#\x23[")


def printable_lines(text: str) -> str:
    """The same text in lines: their ends stay."""
    return "\n".join(map(printable, text.split("\n")))
