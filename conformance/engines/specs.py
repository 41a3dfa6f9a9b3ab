"""Decoder specifications: `module:function`, `path/file.py:function`, `cmd:COMMAND` or, in the self test, `liar:NAME`."""

from __future__ import annotations

from typing import Final

COMMAND: Final = "cmd:"
"""Prefix of the specification of a command."""
LIAR: Final = "liar:"
"""Prefix of the specification of a liar."""


def is_command(decoder: str | None) -> bool:
    """Whether a decoder's specification names a command."""
    return decoder is not None and decoder.startswith(COMMAND)
