"""Decoders of TiCDC Canal-JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import ticdc_canal_json as reference
from spark_checks.liars.base import Liar, on_columns, on_input
from spark_checks.liars.families.canal import common

_FORMAT: Final = "ticdc-canal-json"

_CONVICTS: Final = {
    "unsigned-wraps": "value/unsigned-bigint",
    "integers-through-double": "value/integer-beyond-double",
    "decimal-through-double": "value/decimal-long",
    "binary-as-utf-8": "value/binary-latin-1",
    "binary-as-base64": "value/binary-not-base64",
    "microseconds-cut": "value/microseconds",
    "timestamp-as-utc": "value/timestamp-zone",
    "enum-as-label": "value/enum-index",
    "old-null-as-unchanged": "old/null-value",
    "old-ignored": "cell/value",
    "old-absent-as-null": "old/partial",
    "delete-from-old": "op/delete-row-in-data",
    "text-null-as-null": "value/literal-null",
    "zero-date-as-date": "value/zero-date-text",
    "ddl-dropped": "ddl/not-dropped",
    "corrupt-dropped": "fault/unreadable",
    "truncated-as-nulls": "fault/unreadable",
    "second-document-dropped": "fault/trailing-content",
    "carriage-return-refused": "framing/crlf",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}

LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, reference, _CONVICTS),
    Liar(
        "watermark-as-row",
        _FORMAT,
        1,
        f"{_FORMAT}/watermark/kind",
        "isDdl false is taken for a row change: TIDB_WATERMARK becomes a row without columns.",
        on_columns(
            reference.decode,
            kind="CASE WHEN kind = 'WATERMARK' THEN 'ROW' ELSE kind END",
            op="CASE WHEN kind = 'WATERMARK' THEN 'INSERT' ELSE op END",
            after="CASE WHEN kind = 'WATERMARK' THEN CAST(map() AS map<string, string>) ELSE after END",
        ),
    ),
    Liar(
        "zero-date-as-epoch",
        _FORMAT,
        2,
        f"{_FORMAT}/value/zero-date-typed",
        "A calendar has no year 0, so 1970-01-01 stands in for 0000-00-00.",
        on_input(reference.decode_rows, "replace(t, '\"0000-00-00', '\"1970-01-01')"),
    ),
    Liar(
        "position-through-double",
        _FORMAT,
        1,
        f"{_FORMAT}/envelope/position",
        "commitTs, a number beyond 2^53, is read by a JSON library that knows only doubles.",
        on_columns(reference.decode, position="CAST(CAST(CAST(position AS double) AS decimal(20,0)) AS string)"),
    ),
)
