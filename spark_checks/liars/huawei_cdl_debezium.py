"""Decoders of Huawei CDL's Debezium JSON, message_version 2.0, that are wrong on purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql.types import LongType, StringType, StructField, StructType

from generators.model import Logical
from spark_checks.decoders import huawei_cdl_debezium as reference
from spark_checks.decoders.families.connect import rows as _connect
from spark_checks.liars.base import Decode, Liar, on_cells, on_columns
from spark_checks.liars.families.cdl import as_kind, common, of_dialect, where

_FORMAT: Final = "huawei-cdl-debezium"

_CONVICTS: Final = {
    "integers-through-double": "value/integer-64",
    "integers-of-two-bytes": "value/integer",
    "decimal-through-double": "value/decimal-long",
    "microseconds-cut": "value/timestamp-text",
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

_EMPTY_INSERT: Final = '{"op":"c","source":{"db":"","schema":"","table":""},"after":{}}'


def _with_members(dialect: _connect.Dialect) -> _connect.Dialect:
    """The dialect with the members that a misled reader looks at: `source.name`, `source.txId` and the payload's `ts_ms`."""
    source, *others = dialect.members
    assert isinstance(source.dataType, StructType)
    wider = StructType([*source.dataType, StructField("name", StringType()), StructField("txId", LongType())])
    return replace(dialect, members=(StructField("source", wider), StructField("ts_ms", LongType()), *others))


_WIDER: Final = _with_members(reference.DIALECT)


def _liar(name: str, level: int, convicts: str, why: str, decode: Decode) -> Liar:
    return Liar(name, _FORMAT, level, f"{_FORMAT}/{convicts}", why, decode)


LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, reference, _CONVICTS, empty=_EMPTY_INSERT),
    _liar(
        "envelope-by-its-name",
        1,
        "rows/envelope-name",
        "Debezium's own transformations pass on what is not called *.Envelope as no change of a row.",
        where(
            """t LIKE '{"schema":%' AND NOT t RLIKE '"name":"[^"]*[.]Envelope"'""",
            reference.decode,
            as_kind(reference.decode, "CONTROL"),
        ),
    ),
    _liar(
        "images-by-struct-name",
        1,
        "image/after",
        "The images are looked for by the name of their struct, and that of after is data.",
        on_columns(reference.decode, after="CAST(NULL AS map<string, string>)"),
    ),
    _liar(
        "connector-as-database",
        1,
        "envelope/database",
        "source.name, which is the database's in the document's example too, is taken for the database.",
        of_dialect(replace(_WIDER, database=lambda p: p["source"]["name"])),
    ),
    _liar(
        "schema-in-the-table",
        1,
        "envelope/names",
        "The envelope's name, schema.table, is taken for the table's.",
        on_columns(reference.decode, table="concat(schema, '.', table)"),
    ),
    _liar(
        "sent-as-committed",
        1,
        "envelope/commit-time",
        "The payload's ts_ms is taken for the commit's: 93 s late in the document's example.",
        of_dialect(replace(_WIDER, commit_ms=lambda p: p["ts_ms"])),
    ),
    _liar(
        "position-by-transaction",
        1,
        "envelope/position",
        "source.txId, which all changes of a transaction share, is taken for the position.",
        of_dialect(replace(_WIDER, position=lambda p: p["source"]["txId"].cast("string"))),
    ),
    _liar(
        "timestamp-as-number",
        2,
        "value/null",
        "A timestamp is read as a number of milliseconds, as in version 1.0: its text is none, and becomes NULL.",
        on_cells(
            reference.decode_rows, lambda kind: kind.logical is Logical.DATETIME, lambda _, kind: f"CAST(NULL AS {kind.spark})"
        ),
    ),
    _liar(
        "zone-as-session",
        2,
        "law/environment-independence",
        "The Z of a ZonedTimestamp is cut off and the rest read in the session's zone: right only where that is UTC.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.logical is Logical.TIMESTAMP,
            lambda x, _: f"to_utc_timestamp({x}, current_timezone())",
        ),
    ),
)
