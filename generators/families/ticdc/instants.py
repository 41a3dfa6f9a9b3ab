"""What the cases of TiCDC's formats are made of: instants from TSOs, text that does not compress."""

from __future__ import annotations

import random

from generators.model import Instant


def at(tso: int) -> Instant:
    """The instant of a TSO."""
    return Instant(tso >> 18, tso & 0x3FFFF)


def noise(size: int, seed: int = 1) -> str:
    """Text of that many characters that does not compress well."""
    return "".join(random.Random(seed).choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-", k=size))
