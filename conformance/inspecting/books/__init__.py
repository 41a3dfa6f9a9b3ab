"""The evidence of every format: a table, and the facts that it asks for in a module of its name;
similar formats share both.
"""

from __future__ import annotations

from typing import Final

from conformance.inspecting.books import (
    canal,
    debezium,
    dms,
    dts,
    envelopes,
    flat,
    flink,
    simple,
    ticdc,
)
from conformance.inspecting.evidence import EvidenceBook
from conformance.inspecting.table import books

BOOKS: Final[tuple[EvidenceBook, ...]] = books(
    (canal, dts, simple, debezium, envelopes, flat, ticdc, dms, flink)
)
