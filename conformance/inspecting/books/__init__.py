"""The evidence of every format, a module for those that resemble each other."""

from __future__ import annotations

from typing import Final

from conformance.inspecting.books import canal, debezium, dts, envelopes, simple
from conformance.inspecting.evidence import Book

BOOKS: Final[tuple[Book, ...]] = (*canal.BOOKS, *dts.BOOKS, *simple.BOOKS, *debezium.BOOKS, *envelopes.BOOKS)
