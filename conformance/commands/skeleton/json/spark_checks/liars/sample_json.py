"""Decoders of Sample's JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from spark_checks.liars.liar import Decode, Liar

_FORMAT: Final = "sample-json"


def _liar(name: str, level: int, convicts: str, why: str, decode: Decode) -> Liar:
    return Liar(name, _FORMAT, level, f"{_FORMAT}/{convicts}", why, decode)


LIARS: Final[tuple[Liar, ...]] = ()
"""To write: one for each mistake that the document invites, out of the reference decoder (`spark_checks.liars.liar`)."""
