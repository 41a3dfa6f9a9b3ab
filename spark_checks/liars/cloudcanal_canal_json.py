"""Decoders of CloudCanal's Canal Json that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import cloudcanal_canal_json as reference
from spark_checks.liars.base import Liar, on_input
from spark_checks.liars.families import canal as _canal
from spark_checks.liars.families import cloudcanal as _cloudcanal

_FORMAT: Final = "cloudcanal-canal-json"

_OF_CANAL: Final = {
    "unsigned-wraps": "value/unsigned",
    "integers-through-double": "value/integer-64",
    "decimal-through-double": "value/decimal-long",
    "binary-as-utf-8": "value/binary",
    "binary-as-base64": "value/binary",
    "microseconds-cut": "value/datetime-fraction",
    "timestamp-as-utc": "value/timestamp",
    "old-null-as-unchanged": "value/null",
    "delete-from-old": "image/delete-in-data",
    "first-row-only": "rows/batch",
    "text-null-as-null": "value/text-null",
    "zero-date-as-date": "value/zero-date",
    "ddl-dropped": "ddl/kind",
    "corrupt-dropped": "fault/must-reject",
    "truncated-as-nulls": "fault/must-reject",
    "second-document-dropped": "fault/must-reject",
    "updates-as-inserts": "rows/op",
    "sql-cut": "ddl/sql",
    "labels-padded": "value/wire",
    "table-with-its-database": "envelope/names",
    "first-column-as-key": "envelope/keys",
    "nulls-left-out": "image/columns",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}

_OF_CLOUDCANAL: Final = {
    "ddl-refused": "ddl/document",
    "only-alter": "ddl/unlisted-type",
    "ddl-without-types": "ddl/types-after",
    "old-of-first-row": "rows/pairing",
    "empty-old-as-row": "image/sides",
    "types-without-length": "envelope/types",
    "sent-as-committed": "envelope/commit-time",
    "milliseconds-cut": "envelope/commit-time",
    "old-ignored": "value/text",
    "unchanged-not-kept": "image/whole-old",
    "absent-old-as-null": "image/partial-old",
    "deletes-dropped": "rows/deleted-in-both",
}

LIARS: Final[tuple[Liar, ...]] = (
    *_canal.common(_FORMAT, reference, _OF_CANAL),
    *_cloudcanal.common(_FORMAT, reference, _OF_CLOUDCANAL, op="type", committed="es", sent="ts"),
    Liar(
        "short-old-refused",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/readable",
        "data and old are read in pairs: a message whose old is [], as an INSERT's is, has none for its rows and is refused.",
        on_input(reference.decode, """CASE WHEN t LIKE '%"isDdl":false%' AND t LIKE '%"old":[]%' THEN '' ELSE t END"""),
    ),
    Liar(
        "old-required",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/old-absent",
        "The page has old in the example of all three operations: an INSERT or DELETE without it is refused.",
        on_input(reference.decode, "CASE WHEN t NOT LIKE '%\"old\":%' THEN NULL ELSE t END"),
    ),
    Liar(
        "old-null-refused",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/old-null",
        "old is a List in the page's table: null in its place is an error (Flink does that on old null).",
        on_input(reference.decode, "CASE WHEN t RLIKE r'\"old\": ?null' THEN NULL ELSE t END"),
    ),
)
