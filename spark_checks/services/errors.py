"""Errors in words: the first lines and the deepest causes, without the stack."""

from __future__ import annotations

from typing import Final

LINES: Final = 12
"""First lines of an error that are kept."""
CAUSES: Final = 3
"""Deepest causes that are kept."""
LENGTH: Final = 3_000
"""Characters of the first lines, and of the causes."""


def told(error: BaseException) -> str:
    """The first lines of an error and its deepest causes; the lines of its stack are left out."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith(("\tat ", "  at "))]
    causes = [line for line in lines[LINES:] if line.startswith("Caused by:")]
    # PySpark keeps the causes of a Java error beside its text.
    cause = getattr(error, "cause", None)
    while isinstance(cause, BaseException):
        causes.append(f"Caused by: {type(cause).__name__}: {(str(cause).splitlines() or [''])[0]}")
        cause = getattr(cause, "cause", None)
    shown = "\n".join(lines[:LINES])[:LENGTH]
    return "\n".join((shown, "\n".join(causes[-CAUSES:])[:LENGTH])).rstrip("\n")
