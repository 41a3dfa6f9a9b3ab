"""Makes text safe to show: on a terminal, on a page, in the log of a CI service."""

from __future__ import annotations

import re
from typing import Final

_COMMAND: Final = re.compile(r"^(\s*):(?=:)")
"""The beginning of a line that a CI service takes for a command, such as `::error`."""


def printable(text: str) -> str:
    """The text made safe to print: characters on which a terminal would act are escaped, and so are
    the beginnings of commands to a CI service (`::error`, `##[error]`), as far as they could stand
    at the beginning of a line.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    # The older form of such a command may stand anywhere in a line.
    return _COMMAND.sub(r"\1\\x3a", text).replace("##[", r"#\x23[")


def printable_lines(text: str) -> str:
    """A text of several lines made safe to print, line by line, so that the line ends stay."""
    return "\n".join(map(printable, text.split("\n")))
