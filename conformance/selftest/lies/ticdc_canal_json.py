"""The lies about TiCDC Canal-JSON: every fact of a profile, the other way round."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._ticdc import HTML_RAW
from conformance.selftest.lies.base import Lie
from generators.model import Deployment

_NAME: Final = "ticdc-canal-json"
_COMPATIBLE: Final = "v6.5.11+content-compatible"
_UNTOLD: Final = Deployment("Asia/Shanghai", compression="snappy")
_HANDLE: Final = "v7.1.6+extension+handle-key-only"
_CLAIM: Final = "v8.5.7+extension+claim-check"

LIES: Final = (
    Lie("terminator-dropped", "v6.5.11", None, field="terminator", value=b""),
    Lie("terminator-added", "v8.5.7", None, field="terminator", value=b"\r\n"),
    Lie("ts-zero", "v7.1.6", None, field="ts_filled", value=False),
    Lie("ts-filled", "v5.3.4", None, field="ts_filled", value=True),
    Lie("html-raw", "v8.5.7", None, "*/html", alter=HTML_RAW),
    Lie("insert-old-null-array", "v5.4.3", None, "old/insert", field="insert_old", value="[null]"),
    Lie("insert-old-null", "v5.3.4", None, "old/insert", field="insert_old", value="null"),
    Lie("delete-old-data", "v5.4.3", None, "old/delete", field="delete_old", value="data"),
    Lie("delete-old-null", "v5.3.4", None, "old/delete", field="delete_old", value="null"),
    Lie("data-before-old", "v7.1.6", None, field="dml_key_order", value=("data", "old")),
    Lie("old-before-data", "v5.4.3", None, field="dml_key_order", value=("old", "data")),
    Lie("columns-sorted", "v7.1.6", None, "shape/awkward-names", field="column_order", value="sorted"),
    Lie("columns-in-table-order", "v5.4.3", None, "shape/awkward-names", field="column_order", value="table"),
    Lie("mysql-type-in-table-order", "v8.5.7", None, "shape/many-columns", field="mysql_type_order", value="table"),
    Lie("sql-types-legacy", "v5.4.3", None, "bigint/*", field="legacy_sql_types", value=True),
    Lie("sql-types-promoted", "v5.3.4", None, "bigint/*", field="legacy_sql_types", value=False),
    Lie("claim-check-for-handle-key", _HANDLE, None, "reduced/insert", field="reduce", value="claim-check"),
    Lie("handle-key-for-claim-check", _CLAIM, None, "reduced/insert", field="reduce", value="handle-key-only"),
    Lie("new-as-classic", "new-8.5.6+extension+handle-key-only", None, "reduced/keyless", field="new", value=False),
    Lie("unsigned-suffix-dropped", "v5.4.3", f"{_NAME}/types/bare", "unsigned-bigint/*", field="unsigned_suffix", value=False),
    Lie("zerofill-suffix-dropped", "v7.1.6", f"{_NAME}/types/bare", "int-zerofill/*", field="zerofill_suffix", value=False),
    Lie("parameters-added", "v7.1.6", f"{_NAME}/types/bare", "decimal-10-4/*", field="params_in_mysql_type", value=True),
    Lie(
        "parameters-dropped",
        _COMPATIBLE,
        f"{_NAME}/types/content-compatible",
        "varchar/*",
        field="params_in_mysql_type",
        value=False,
    ),
    Lie("float-as-double", "v7.1.6", f"{_NAME}/value/float", "float/noise", field="float_via_double", value=True),
    Lie(
        "float-as-float", "v5.4.3", f"{_NAME}/value/float-printed-as-double", "float/noise", field="float_via_double", value=False
    ),
    Lie("binary-lossy", "v8.5.7", f"{_NAME}/value/binary-latin-1", "varbinary/not-utf-8", field="binary_lossy", value=True),
    Lie("binary-not-lossy", "v5.3.4", f"{_NAME}/value/binary-lossy", "varbinary/not-utf-8", field="binary_lossy", value=False),
    Lie(
        "null-for-null-text",
        "new-8.5.6",
        f"{_NAME}/value/literal-null",
        "varchar/literal-null",
        field="null_text_bug",
        value=True,
    ),
    Lie(
        "null-text-kept", "new-8.5.4", f"{_NAME}/value/null-text-bug", "varchar/literal-null", field="null_text_bug", value=False
    ),
    Lie("old-partial", "v7.1.6", f"{_NAME}/old/all-columns", "shape/update-one-column", field="old_updated_only", value=True),
    Lie(
        "old-complete",
        "v7.1.6+only-updated",
        f"{_NAME}/old/partial",
        "shape/update-one-column",
        field="old_updated_only",
        value=False,
    ),
    Lie("limit-raised", _HANDLE, f"{_NAME}/reduced/handle-key-only", "reduced/insert", field="max_message_bytes", value=1 << 24),
    Lie("reduction-off", _CLAIM, f"{_NAME}/reduced/claim-check", "reduced/insert", field="reduce", value=""),
    Lie("extension-off", "v7.1.6+extension", f"{_NAME}/envelope/position", "old/update", field="extension", value=False),
    Lie("keys-not-split", "v7.1.6", f"{_NAME}/op/key-update", "key-update/varchar", field="split_keys", value=False),
    Lie("keys-split", "v5.4.3", f"{_NAME}/op/key-update", "key-update/varchar", field="split_keys", value=True),
    Lie("ddl-to-one-partition", "v5.3.4", f"{_NAME}/ddl/not-dropped", "ddl/add-column", field="ddl_broadcast", value=False),
    Lie(
        "other-zone", "v7.1.6", f"{_NAME}/value/timestamp-zone", "timestamp-0/plain", field="deployment", value=Deployment("UTC")
    ),
    Lie("compressed-untold", "v8.5.7", f"{_NAME}/change/corrupt", "shape/insert", field="deployment", value=_UNTOLD),
)
