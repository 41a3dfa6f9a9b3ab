"""The evidence of every format; similar formats share a module."""

from __future__ import annotations

from typing import Final

from conformance.inspecting.books import canal, debezium, dts, envelopes, flat, simple, ticdc
from conformance.inspecting.evidence import EvidenceBook

BOOKS: Final[tuple[EvidenceBook, ...]] = tuple(
    book for module in (canal, dts, simple, debezium, envelopes, flat, ticdc) for book in module.BOOKS
)
