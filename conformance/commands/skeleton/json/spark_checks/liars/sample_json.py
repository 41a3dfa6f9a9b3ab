"""Decoders of Sample's JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from spark_checks.liars.liar import Liar

LIARS: Final[tuple[Liar, ...]] = ()
"""To write: one for each mistake that the document invites, out of the reference decoder (`spark_checks.liars.liar`)."""
