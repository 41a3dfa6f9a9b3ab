"""The evidence of every format; similar formats share a module."""

from __future__ import annotations

from typing import Final

from conformance.inspecting.books import canal, debezium, dts, envelopes, simple, ticdc
from conformance.inspecting.evidence import EvidenceBook

BOOKS: Final[tuple[EvidenceBook, ...]] = (
    *canal.BOOKS,
    *dts.BOOKS,
    *simple.BOOKS,
    *debezium.BOOKS,
    *envelopes.BOOKS,
    *ticdc.BOOKS,
)
