"""The lies about TiCDC's Open Protocol."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.lie import Lie

_CLAIM: Final = "v8.5.7+without-before+claim-check"
_HANDLE: Final = "new-8.5.6+only-updated+delete-handle-key+handle-key-only"

LIES: Final = (
    Lie("another-architecture", "v8.5.7", None, "shape/awkward-names", "new", True),
    Lie("long-escapes", "v8.5.7", None, "varchar/*", "short_escapes", False),
    Lie("before-left-out", "v8.5.7", "change/op", "shape/update-one-column", "before", False),
    Lie("before-partial", "v8.5.7", "old/complete", "shape/update-one-column", "only_updated", True),
    Lie("one-row", "v8.5.7", "batch/every-row", "batch/full", "batch", 1),
    Lie("reduction-off", _CLAIM, "reduced/claim-check", "reduced/insert", "reduce", ""),
    Lie("limit-raised", _HANDLE, "reduced/handle-key-only", "reduced/insert", "max_message_bytes", 1 << 24),
    Lie("delete-whole", _HANDLE, "reduced/delete-handle-key", "shape/delete", "delete_handle_key", False),
)
