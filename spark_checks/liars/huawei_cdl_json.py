"""Decoders of Huawei CDL's JSON, message_version 1.0, that are wrong on purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from generators.model import Logical
from spark_checks.decoders import huawei_cdl_json as reference
from spark_checks.liars.base import Decode, Liar, on_cells, on_columns
from spark_checks.liars.families.cdl import as_kind, common, of_dialect, scaled, where

_FORMAT: Final = "huawei-cdl-json"

_CONVICTS: Final = {
    "integers-through-double": "value/integer-64",
    "integers-of-two-bytes": "value/integer",
    "decimal-through-double": "value/decimal-long",
    "text-null-as-null": "value/text-null",
    "corrupt-dropped": "fault/must-reject",
    "truncated-as-nulls": "fault/must-reject",
    "second-document-dropped": "fault/after-the-document",
    "updates-as-inserts": "rows/op",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
    "deleted-row-in-after": "image/deleted-row",
    "no-image-as-nulls": "image/no-before",
    "nulls-as-absent": "image/columns",
    "before-lost": "image/before",
    "keys-from-record": "envelope/keys",
    "keys-from-all-columns": "envelope/keys",
    "keyless-by-whole-row": "envelope/no-keys",
    "position-through-double": "envelope/position",
    "message-type-refused": "rows/readable",
    "other-source-refused": "rows/other-source",
    "deletes-without-images": "image/deleted-row",
    "package-by-its-name": "value/null",
    "days-as-milliseconds": "value/date",
    "base64-as-text": "value/bytes",
    "numbers-of-json-as-doubles": "value/json",
    "times-cut-to-minutes": "value/time",
}

_EMPTY_INSERT: Final = '{"OPERATION":"INSERT","SEG_OWNER":"","TABLE_NAME":"","data":{}}'


def _last_entry(p: Column) -> Column:
    return F.try_element_at(p["transaction"]["properties"], F.lit(-1))["value"].cast("string")


def _liar(name: str, level: int, convicts: str, why: str, decode: Decode) -> Liar:
    return Liar(name, _FORMAT, level, f"{_FORMAT}/{convicts}", why, decode)


LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, reference, _CONVICTS, empty=_EMPTY_INSERT),
    _liar(
        "identified-as-heartbeat",
        1,
        "rows/heartbeat-identifier",
        "A message with HEARTBEAT_IDENTIFIER is taken for a heartbeat, and the document's own INSERT has one.",
        where(
            'contains(t, \'"HEARTBEAT_IDENTIFIER":"\')',
            reference.decode,
            as_kind(reference.decode, "HEARTBEAT"),
        ),
    ),
    _liar(
        "owner-as-database",
        1,
        "envelope/database",
        "SEG_OWNER is taken for the database, as an owner's schema is one in MySQL.",
        on_columns(reference.decode, database="schema"),
    ),
    _liar(
        "owner-unread",
        1,
        "envelope/names",
        "TABLE_NAME alone names the table: tables of the same name in two schemas become one.",
        on_columns(reference.decode, schema="CAST(NULL AS string)"),
    ),
    _liar(
        "position-by-place",
        1,
        "envelope/position",
        "The properties of a transaction are told by their place, not by their names: txId is taken for lsn.",
        of_dialect(replace(reference.DIALECT, position=_last_entry)),
    ),
    _liar(
        "position-by-path",
        1,
        "envelope/position",
        "The table's path transaction.properties.lsn is believed, and the array has no such member.",
        on_columns(reference.decode, position="CASE WHEN kind <> 'ROW' THEN position ELSE '' END"),
    ),
    _liar(
        "after-for-data",
        1,
        "image/after",
        "The row is looked for in after, its name in version 2.0.",
        on_columns(reference.decode, after="CAST(NULL AS map<string, string>)"),
    ),
    _liar(
        "milliseconds-as-microseconds",
        2,
        "value/timestamp",
        "A timestamp is read as Debezium's MicroTimestamp, PostgreSQL's usual one: every one is in January 1970.",
        on_cells(reference.decode_rows, lambda kind: kind.logical is Logical.DATETIME, lambda x, _: scaled(x, 1000)),
    ),
    _liar(
        "commit-in-microseconds",
        1,
        "envelope/commit-time",
        "TIMESTAMP is read in microseconds: every change is of January 1970.",
        on_columns(reference.decode, commit_time="timestamp_micros(unix_millis(commit_time))"),
    ),
)
