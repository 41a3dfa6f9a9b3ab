"""The lies that both encodings of TiCDC Simple share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.selftest.lies.altering import put, swap
from conformance.selftest.lies.lie import Alter, Lie
from generators.model import Deployment

_UNTOLD: Final = Deployment("Asia/Shanghai", compression="snappy")
_HANDLE: Final = "new-8.5.6+local-zone+handle-key-only"
_CLAIM: Final = "v8.5.7+claim-check+snappy"
_CHECKED: Final = "v8.5.7+tz+checksum"
_AUTO: Final = "v7.5.7+auto-bootstrap+one-partition"


def shared(timestamp: str, document: Callable[..., Alter], *body: str) -> tuple[Lie, ...]:
    """The lies for a format: `timestamp` is its rule that owns a TIMESTAMP at level one.

    `document` alters a message by edits; `body` is the path to the message in the document.
    """
    return (
        Lie("columns-in-table-order", "v8.5.7", None, "schema/add-column-first", "column_order", "table"),
        Lie("columns-by-id", "new-8.5.4", None, "schema/add-column-first", "column_order", "id"),
        Lie("checksum-added", "v8.5.7", None, "shape/*", "checksum", True),
        Lie("checksum-dropped", _CHECKED, None, "checksum/*", "checksum", False),
        Lie("checksum-corrupted", _CHECKED, None, "checksum/*", alter=document(put(True, *body, "checksum", "corrupted"))),
        Lie("new-as-classic", "new-8.5.4", None, "ddl/*", "new", False),
        Lie("claim-check-for-handle-key", _HANDLE, None, "reduced/insert", "reduce", "claim-check"),
        Lie("handle-key-for-claim-check", _CLAIM, None, "reduced/insert", "reduce", "handle-key-only"),
        Lie("pre-table-schema-dropped", "v8.5.7", "schema/pre-table-schema", "schema/only-new", "pre_table_schema", False),
        Lie("pre-table-schema-added", "new-8.5.4", "schema/none", "schema/only-new", "pre_table_schema", True),
        Lie("other-zone", "v8.5.7", timestamp, "timestamp-0/plain", "location", "UTC"),
        Lie("zone-for-local", _HANDLE, "value/timestamp-local", "timestamp-0/plain", "location", ""),
        Lie("bootstrap-unasked", "v8.5.7", "change/kind", "old/name-case", "auto_bootstrap", True),
        Lie("bootstrap-forgotten", _AUTO, "bootstrap/kind", "shape/insert", "auto_bootstrap", False),
        Lie("bootstrap-to-one", "v8.5.7", "bootstrap/not-dropped", "bootstrap/plain", "bootstrap_to_all", False),
        Lie(
            "columns-mixed-up",
            "v8.5.7",
            "value/integer",
            "schema/add-column-first",
            alter=document(swap("a", "n", *body, "data")),
        ),
        Lie("keys-whole", "v8.5.7", "op/key-update", "key-update/unique", "raw_change", True),
        Lie("doubles-by-mysql", "v8.5.7", "value/json", "json/doubles", "json_doubles", "mysql"),
        Lie("limit-raised", _HANDLE, "reduced/handle-key-only", "reduced/insert", "max_message_bytes", 1 << 24),
        Lie("reduction-off", _CLAIM, "reduced/claim-check", "reduced/insert", "reduce", ""),
        Lie("compressed-untold", "v8.5.7", "change/corrupt", "shape/insert", "deployment", _UNTOLD),
    )
