"""What people see."""

from __future__ import annotations

from rich.console import Console, RenderableType


def shown(what: RenderableType, width: int = 150) -> str:
    """The text that a file gets of it, without blanks at the ends of lines."""
    console = Console(width=width, color_system=None, force_terminal=False, highlight=False)
    with console.capture() as capture:
        console.print(what)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())
