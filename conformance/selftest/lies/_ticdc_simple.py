"""The lies that both encodings of TiCDC Simple share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.selftest.lies.altering import put, swap
from conformance.selftest.lies.base import Alter, Lie
from generators.model import Deployment

_UNTOLD: Final = Deployment("Asia/Shanghai", compression="snappy")
_HANDLE: Final = "new-8.5.6+local-zone+handle-key-only"
_CLAIM: Final = "v8.5.7+claim-check+snappy"
_CHECKED: Final = "v8.5.7+tz+checksum"
_AUTO: Final = "v7.5.7+auto-bootstrap+one-partition"


def shared(fmt: str, timestamp: str, document: Callable[..., Alter], *body: str) -> tuple[Lie, ...]:
    """The lies for the format of that name; `timestamp` is its rule that owns a TIMESTAMP at level one.

    `document` alters a message by edits; `body` is the path to the message in the document.
    """
    return (
        Lie("columns-in-table-order", "v8.5.7", None, "schema/add-column-first", field="column_order", value="table"),
        Lie("columns-by-id", "new-8.5.4", None, "schema/add-column-first", field="column_order", value="id"),
        Lie("checksum-added", "v8.5.7", None, "shape/*", field="checksum", value=True),
        Lie("checksum-dropped", _CHECKED, None, "checksum/*", field="checksum", value=False),
        Lie("checksum-corrupted", _CHECKED, None, "checksum/*", alter=document(put(True, *body, "checksum", "corrupted"))),
        Lie("default-in-server-zone", "v8.5.7", None, "default/timestamp", field="default_utc", value=False),
        Lie("new-as-classic", "new-8.5.4", None, "ddl/*", field="new", value=False),
        Lie("claim-check-for-handle-key", _HANDLE, None, "reduced/insert", field="reduce", value="claim-check"),
        Lie("handle-key-for-claim-check", _CLAIM, None, "reduced/insert", field="reduce", value="handle-key-only"),
        Lie(
            "pre-table-schema-dropped",
            "v8.5.7",
            f"{fmt}/schema/pre-table-schema",
            "schema/only-new",
            field="pre_table_schema",
            value=False,
        ),
        Lie("pre-table-schema-added", "new-8.5.4", f"{fmt}/schema/none", "schema/only-new", field="pre_table_schema", value=True),
        Lie("other-zone", "v8.5.7", f"{fmt}/{timestamp}", "timestamp-0/plain", field="location", value="UTC"),
        Lie("zone-for-local", _HANDLE, f"{fmt}/value/timestamp-local", "timestamp-0/plain", field="location", value=""),
        Lie("bootstrap-unasked", "v8.5.7", f"{fmt}/change/kind", "old/name-case", field="auto_bootstrap", value=True),
        Lie("bootstrap-forgotten", _AUTO, f"{fmt}/bootstrap/kind", "shape/insert", field="auto_bootstrap", value=False),
        Lie(
            "bootstrap-to-one", "v8.5.7", f"{fmt}/bootstrap/not-dropped", "bootstrap/plain", field="bootstrap_to_all", value=False
        ),
        Lie(
            "columns-mixed-up",
            "v8.5.7",
            f"{fmt}/value/integer",
            "schema/add-column-first",
            alter=document(swap("a", "n", *body, "data")),
        ),
        Lie(
            "limit-raised", _HANDLE, f"{fmt}/reduced/handle-key-only", "reduced/insert", field="max_message_bytes", value=1 << 24
        ),
        Lie("reduction-off", _CLAIM, f"{fmt}/reduced/claim-check", "reduced/insert", field="reduce", value=""),
        Lie("compressed-untold", "v8.5.7", f"{fmt}/change/corrupt", "shape/insert", field="deployment", value=_UNTOLD),
    )
