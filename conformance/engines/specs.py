"""How a decoder is named: `module:function`, `path/file.py:function`, `cmd:COMMAND` or, in the self test, `liar:NAME`."""

from __future__ import annotations

from typing import Final

COMMAND: Final = "cmd:"
"""What the specification of a decoder that is a process begins with."""
LIAR: Final = "liar:"
"""What the specification of a liar begins with."""


def is_command(decoder: str | None) -> bool:
    """Whether a decoder's specification names a command."""
    return decoder is not None and decoder.startswith(COMMAND)
