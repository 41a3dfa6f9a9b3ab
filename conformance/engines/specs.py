"""Decoder specifications: `module:function`, `path/file.py:function`, `cmd:COMMAND`, `fast` or, in the self test, `liar:NAME`."""

from __future__ import annotations

from typing import Final

from generators.errors import UsageError
from generators.wire_format import module_name

DECODERS: Final = "spark_checks.decoders"
"""The package of the reference decoders, each a module with its format's name."""
FAST: Final = "fast"
"""The specification of the format's fast decoder, and the package of these in DECODERS."""
FAST_FORMATS: Final = ("ticdc-canal-json", "alibaba-canal-json", "debezium-json")
"""The formats that have a fast decoder."""

COMMAND: Final = "cmd:"
"""Prefix of the specification of a command."""
LIAR: Final = "liar:"
"""Prefix of the specification of a liar."""


def decoder_of(fmt: str, decoder: str | None) -> str:
    """The specification with which a format's decoder is loaded; None is the reference decoder. Raises UsageError for `fast`
    where the format has no such decoder."""
    if decoder == FAST:
        if fmt not in FAST_FORMATS:
            raise UsageError(f"--decoder {FAST}: {fmt} has no fast decoder; these have: {', '.join(FAST_FORMATS)}")
        return f"{DECODERS}.{FAST}.{module_name(fmt)}"
    return decoder or f"{DECODERS}.{module_name(fmt)}"


def is_command(decoder: str | None) -> bool:
    """Whether a decoder's specification names a command."""
    return decoder is not None and decoder.startswith(COMMAND)
