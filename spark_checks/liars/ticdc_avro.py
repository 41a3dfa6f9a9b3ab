"""Decoders of TiCDC's Avro protocol that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

LIARS: Final = ()
