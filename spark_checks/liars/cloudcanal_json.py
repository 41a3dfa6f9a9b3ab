"""Decoders of CloudCanal Json that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import cloudcanal_json as reference
from spark_checks.liars.base import Liar, on_columns, on_input
from spark_checks.liars.families import canal as _canal
from spark_checks.liars.families import cloudcanal as _cloudcanal

_FORMAT: Final = "cloudcanal-json"

_OF_CANAL: Final = {
    "unsigned-wraps": "value/unsigned",
    "integers-through-double": "value/integer-64",
    "decimal-through-double": "value/decimal-long",
    "binary-as-utf-8": "value/binary",
    "microseconds-cut": "value/datetime-fraction",
    "timestamp-as-utc": "value/timestamp",
    "old-null-as-unchanged": "value/null",
    "delete-from-old": "image/delete-in-data",
    "first-row-only": "rows/batch",
    "text-null-as-null": "value/text-null",
    "zero-date-as-date": "value/zero-date",
    "ddl-dropped": "ddl/kind",
    "corrupt-dropped": "fault/must-reject",
    "second-document-dropped": "fault/must-reject",
    "updates-as-inserts": "rows/op",
    "sql-cut": "ddl/sql",
    "labels-padded": "value/wire",
    "table-with-its-database": "envelope/names",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}

_OF_CLOUDCANAL: Final = {
    "only-alter": "ddl/unlisted-action",
    "ddl-without-types": "ddl/types-after",
    "old-of-first-row": "rows/pairing",
    "empty-old-as-row": "image/sides",
    "types-without-length": "envelope/types",
    "sent-as-committed": "envelope/commit-time",
    "milliseconds-cut": "envelope/commit-time",
    "old-ignored": "value/text",
    "unchanged-not-kept": "image/columns",
    "absent-old-as-null": "image/partial-old",
    "deletes-dropped": "rows/deleted-in-both",
}

_DELETE: Final = "get_json_object(t, '$.action') = 'DELETE'"

LIARS: Final[tuple[Liar, ...]] = (
    *_canal.common(_FORMAT, reference, _OF_CANAL),
    *_cloudcanal.common(_FORMAT, reference, _OF_CLOUDCANAL, op="action", committed="execTs", sent="sendTs"),
    Liar(
        "keyless-refused",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/readable",
        "A row is to be written under its key: one whose pks is empty, as in every example, is refused (cloudcanal#keys-empty).",
        on_input(
            reference.decode,
            """CASE WHEN t LIKE '%"isDdl":false%' AND t LIKE '%"ROWDATA"%' AND t LIKE '%"pks":[]%' THEN '' ELSE t END""",
        ),
    ),
    Liar(
        "rowdata-is-rows",
        _FORMAT,
        1,
        f"{_FORMAT}/ddl/document",
        "entryType decides: ROWDATA is rows, and a DDL, which has none, is refused (cloudcanal#ddl-example).",
        on_columns(
            reference.decode,
            kind="CASE WHEN kind = 'DDL' THEN 'CORRUPT' ELSE kind END",
            error="CASE WHEN kind = 'DDL' THEN 'no rows' ELSE error END",
        ),
    ),
    Liar(
        "older-key-ignored",
        _FORMAT,
        1,
        f"{_FORMAT}/ddl/older-key",
        "Only isDdl is read: under the older edition's ddl a statement is a row change of an unknown action.",
        on_input(reference.decode, "regexp_replace(t, r'\"ddl\": ?true', '\"ddl\":false')"),
    ),
    Liar(
        "older-key-refused",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/older-key",
        "A message without isDdl is none of the format's, whatever it holds.",
        on_input(reference.decode, "CASE WHEN t RLIKE '\"ddl\": ?(true|false)' AND t NOT LIKE '%\"isDdl\"%' THEN '' ELSE t END"),
    ),
    Liar(
        "transaction-end-as-row",
        _FORMAT,
        1,
        f"{_FORMAT}/control/transaction-end",
        "entryType is not read: the end of a transaction becomes a row without columns.",
        on_columns(
            reference.decode,
            kind="CASE WHEN kind = 'TRANSACTION' THEN 'ROW' ELSE kind END",
            op="CASE WHEN kind = 'TRANSACTION' THEN 'INSERT' ELSE op END",
            after="CASE WHEN kind = 'TRANSACTION' THEN CAST(map() AS map<string, string>) ELSE after END",
        ),
    ),
    Liar(
        "deleted-in-data-only",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/deleted-in-before",
        "A deleted row is looked for in data alone, as in Canal: one in before is lost.",
        on_input(reference.decode, f"CASE WHEN {_DELETE} AND t RLIKE r'\"data\": ?\\[\\]' THEN NULL ELSE t END"),
    ),
    Liar(
        "schema-not-read",
        _FORMAT,
        1,
        f"{_FORMAT}/envelope/schema",
        "Canal has no schema, and none is read here.",
        on_columns(reference.decode, schema="CAST(NULL AS string)"),
    ),
    Liar(
        "schema-from-db",
        _FORMAT,
        1,
        f"{_FORMAT}/envelope/schema",
        "schema is filled with db, since the two are equal in every example.",
        on_columns(reference.decode, schema="database"),
        "envelope/other-schema",
    ),
    Liar(
        "whole-row-as-key",
        _FORMAT,
        1,
        f"{_FORMAT}/envelope/keys-left-empty",
        "pks [] is taken for a table without key, whose rows are found by all their columns.",
        on_columns(
            reference.decode,
            keys="CASE WHEN kind = 'ROW' AND size(keys) = 0 THEN map_keys(coalesce(after, before)) ELSE keys END",
        ),
    ),
    Liar(
        "truncated-as-nulls",
        _FORMAT,
        1,
        f"{_FORMAT}/fault/must-reject",
        "from_json in PERMISSIVE mode without a corrupt-record column: a truncated message is a row of NULLs.",
        on_input(
            reference.decode,
            "CASE WHEN t LIKE '{%' AND length(replace(t, '{', '')) < length(replace(t, '}', '')) "
            'THEN \'{"action":"INSERT","db":"","table":"","isDdl":false,"data":[{}]}\' ELSE t END',
        ),
    ),
)
