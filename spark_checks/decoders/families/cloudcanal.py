"""What the vendor's page leaves open (cloudcanal#values-open), decided for CloudCanal's
Canal-shaped formats.

Every value of the examples is a string; the form of a binary, a bit, a label, a decimal or a time
is not documented. CloudCanal reads the binlog as Canal does and offers Canal's format, so Canal's
texts are taken: MySQL's own texts, decimal numbers for bits, TIMESTAMP in the deployment's zone,
binaries as ISO-8859-1. A deployment that states the form of its binaries is followed instead. An
ENUM's text is its index as in Canal, else one of its labels, the empty text the empty value unless
that is a label; a SET's is its mask, else labels between commas. Values are indices and masks in
any case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from generators.model import Deployment, Logical, SourceType
from spark_checks.decoders.families.mysql import index, mask


def typed(cell_text: str, type: SourceType, deployment: Deployment) -> str | None:
    """SQL of a cell's value from the SQL of its text, for the types that CloudCanal may write
    differently from Canal (BINARY, ENUM, SET); None for all other types. Raises ValueError if the
    deployment names an unknown form of binaries.
    """
    match type.logical:
        case Logical.BINARY:
            decode_binary = _FORMS.get(deployment.binary)
            if decode_binary is None:
                raise ValueError(
                    f"binary {deployment.binary!r}: one of {', '.join(filter(None, _FORMS))}, or ''"
                    " for ISO-8859-1"
                )
            return decode_binary(cell_text)
        case Logical.ENUM:
            return f"coalesce({_number(cell_text, type)}, {index(cell_text, type)})"
        case Logical.SET:
            return f"coalesce({_number(cell_text, type)}, {mask(cell_text, type)})"
        case _:
            return None


def _number(cell_text: str, type: SourceType) -> str:
    """SQL of the number of a text of digits, an ENUM's index or a SET's mask; NULL for another
    text.
    """
    return rf"CASE WHEN {cell_text} RLIKE r'^\d+\z' THEN try_cast({cell_text} AS {type.spark}) END"


def _hex(cell_text: str) -> str:
    """SQL of the bytes of a text of hex digits, in either case, with or without `0x` in front; NULL
    for another text.
    """
    digits = f"CASE WHEN left({cell_text}, 2) IN ('0x', '0X') THEN substring({cell_text}, 3) ELSE {cell_text} END"
    return f"CASE WHEN length({cell_text}) % 2 = 0 THEN try_to_binary({digits}, 'hex') END"


def _base64(cell_text: str) -> str:
    """SQL of the bytes of a text in base64; NULL for another text."""
    return f"try_to_binary({cell_text}, 'base64')"


_FORMS: Final[dict[str, Callable[[str], str | None]]] = {
    "": lambda _text: None,
    "latin-1": lambda _text: None,
    "iso-8859-1": lambda _text: None,
    "hex": _hex,
    "base64": _base64,
}
"""How a binary's text is read, by the form that the deployment states; None: as Canal's."""
