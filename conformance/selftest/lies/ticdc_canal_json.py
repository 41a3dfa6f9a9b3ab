"""The lies about TiCDC Canal-JSON: every fact of a profile, the other way round."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._ticdc import HTML_RAW
from conformance.selftest.lies.lie import Lie
from generators.model import Deployment

_COMPATIBLE: Final = "v6.5.11+content-compatible"
_UNTOLD: Final = Deployment("Asia/Shanghai", compression="snappy")
_HANDLE: Final = "v7.1.6+extension+handle-key-only"
_CLAIM: Final = "v8.5.7+extension+claim-check"

LIES: Final = (
    Lie("terminator-dropped", "v6.5.11", None, "*", "terminator", b""),
    Lie("terminator-added", "v8.5.7", None, "*", "terminator", b"\r\n"),
    Lie("ts-zero", "v7.1.6", None, "*", "ts_filled", False),
    Lie("ts-filled", "v5.3.4", None, "*", "ts_filled", True),
    Lie("html-raw", "v8.5.7", None, "*/html", alter=HTML_RAW),
    Lie("insert-old-null-array", "v5.4.3", None, "old/insert", "insert_old", "[null]"),
    Lie("insert-old-null", "v5.3.4", None, "old/insert", "insert_old", "null"),
    Lie("delete-old-data", "v5.4.3", None, "old/delete", "delete_old", "data"),
    Lie("delete-old-null", "v5.3.4", None, "old/delete", "delete_old", "null"),
    Lie("data-before-old", "v7.1.6", None, "*", "dml_key_order", ("data", "old")),
    Lie("old-before-data", "v5.4.3", None, "*", "dml_key_order", ("old", "data")),
    Lie("columns-sorted", "v7.1.6", None, "shape/awkward-names", "column_order", "sorted"),
    Lie("columns-in-table-order", "v5.4.3", None, "shape/awkward-names", "column_order", "table"),
    Lie("mysql-type-in-table-order", "v8.5.7", None, "shape/many-columns", "mysql_type_order", "table"),
    Lie("sql-types-legacy", "v5.4.3", None, "bigint/*", "legacy_sql_types", True),
    Lie("sql-types-promoted", "v5.3.4", None, "bigint/*", "legacy_sql_types", False),
    Lie("claim-check-for-handle-key", _HANDLE, None, "reduced/insert", "reduce", "claim-check"),
    Lie("handle-key-for-claim-check", _CLAIM, None, "reduced/insert", "reduce", "handle-key-only"),
    Lie("new-as-classic", "new-8.5.6+extension+handle-key-only", None, "reduced/keyless", "new", False),
    Lie("unsigned-suffix-dropped", "v5.4.3", "types/bare", "unsigned-bigint/*", "unsigned_suffix", False),
    Lie("zerofill-suffix-dropped", "v7.1.6", "types/bare", "int-zerofill/*", "zerofill_suffix", False),
    Lie("parameters-added", "v7.1.6", "types/bare", "decimal-10-4/*", "params_in_mysql_type", True),
    Lie("parameters-dropped", _COMPATIBLE, "types/content-compatible", "varchar/*", "params_in_mysql_type", False),
    Lie("float-as-double", "v7.1.6", "value/float", "float/noise", "float_via_double", True),
    Lie("float-as-float", "v5.4.3", "value/float-printed-as-double", "float/noise", "float_via_double", False),
    Lie("binary-lossy", "v8.5.7", "value/binary-latin-1", "varbinary/not-utf-8", "binary_lossy", True),
    Lie("binary-not-lossy", "v5.3.4", "value/binary-lossy", "varbinary/not-utf-8", "binary_lossy", False),
    Lie("null-for-null-text", "new-8.5.6", "value/literal-null", "varchar/literal-null", "null_text_bug", True),
    Lie("null-text-kept", "new-8.5.4", "value/null-text-bug", "varchar/literal-null", "null_text_bug", False),
    Lie("old-partial", "v7.1.6", "old/all-columns", "shape/update-one-column", "old_updated_only", True),
    Lie("old-complete", "v7.1.6+only-updated", "old/partial", "shape/update-one-column", "old_updated_only", False),
    Lie("limit-raised", _HANDLE, "reduced/handle-key-only", "reduced/insert", "max_message_bytes", 1 << 24),
    Lie("reduction-off", _CLAIM, "reduced/claim-check", "reduced/insert", "reduce", ""),
    Lie(
        "delete-whole",
        "v8.5.7+extension+delete-handle-key",
        "reduced/delete-handle-key",
        "old/delete",
        "delete_handle_key",
        False,
    ),
    Lie("row-key-added", "new-8.5.6+extension", None, "shape/insert", "row_key", True),
    Lie("extension-off", "v7.1.6+extension", "envelope/position", "old/update", "extension", False),
    Lie("keys-not-split", "v7.1.6", "op/key-update", "key-update/varchar", "split_keys", False),
    Lie("keys-split", "v5.4.3", "op/key-update", "key-update/varchar", "split_keys", True),
    Lie("keys-whole", "v8.5.7", "op/key-update", "key-update/unique", "raw_change", True),
    Lie("doubles-by-mysql", "v8.5.7", "value/json", "json/doubles", "json_doubles", "mysql"),
    Lie("ddl-to-one-partition", "v5.3.4", "ddl/not-dropped", "ddl/add-column", "ddl_broadcast", False),
    Lie("other-zone", "v7.1.6", "value/timestamp-zone", "timestamp-0/plain", "deployment", Deployment("UTC")),
    Lie("compressed-untold", "v8.5.7", "change/corrupt", "shape/insert", "deployment", _UNTOLD),
)
