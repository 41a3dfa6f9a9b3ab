"""Decoders of TiCDC Canal-JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment
from spark_checks.decoders import ticdc_canal_json as reference
from spark_checks.liars.base import Decode, Liar, on_columns, on_input, on_rows
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
    "narrow-unsigned-wraps": "value/unsigned",
    "updates-as-inserts": "change/op",
    "table-with-its-database": "envelope/names",
    "first-column-as-key": "envelope/keys",
    "no-image-as-empty": "image/sides",
    "nulls-left-out": "cell/presence",
}


def _twice(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    decoded = reference.decode(records, deployment=deployment)
    return decoded.unionByName(decoded.where("kind = 'DDL'").withColumn("row", F.col("row") + 1))


def _update_as_two(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    decoded = reference.decode(records, deployment=deployment)
    return decoded.unionByName(decoded.where("op = 'UPDATE'").withColumn("row", F.col("row") + 1))


def _liar(name: str, convicts: str, why: str, decode: Decode, scenario: str = "") -> Liar:
    return Liar(name, _FORMAT, 1, f"{_FORMAT}/{convicts}", why, decode, scenario)


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
    _liar(
        "update-as-two-rows",
        "change/extra",
        "An update is told twice, by its row before and its row after, as Flink's changelog is: a message has two changes.",
        _update_as_two,
    ),
    _liar(
        "delete-with-old-as-update",
        "old/delete-before-v5.4",
        "A row with data and old is an update: a DELETE of v5.3 has both.",
        on_input(
            reference.decode,
            """CASE WHEN t LIKE '%"old":[{%' THEN replace(t, '"type":"DELETE"', '"type":"UPDATE"') ELSE t END""",
        ),
    ),
    _liar(
        "unchanged-not-kept",
        "old/all-columns",
        "What is equal in both images is taken out of the old one, as Canal would have it.",
        on_columns(
            reference.decode,
            before="IF(op <> 'UPDATE', before, map_filter(before, (k, v) -> NOT v <=> try_element_at(after, k)))",
        ),
        "shape/update-one-column",
    ),
    _liar(
        "statements-by-their-commit",
        "ddl/not-dropped",
        "A statement with the commitTs of one before it is taken for its repeat: of two tables renamed at once one is lost.",
        lambda records, *, deployment=None: (
            on_columns(reference.decode, twin="row_number() OVER (PARTITION BY kind, position, partition ORDER BY offset)")(
                records, deployment=deployment
            )
            .where("twin = 1 OR kind <> 'DDL' OR position IS NULL")
            .drop("twin")
        ),
        "ddl/rename-two-tables",
    ),
    _liar(
        "statements-as-control",
        "ddl/kind",
        "isDdl is not read, and a message without data is taken for a mark of the source.",
        on_columns(reference.decode, kind="CASE WHEN kind = 'DDL' THEN 'CONTROL' ELSE kind END"),
    ),
    _liar(
        "statements-twice",
        "ddl/one-change",
        "A statement is passed on as two changes, of the schema before it and of the one after it.",
        _twice,
    ),
    _liar(
        "database-as-table",
        "ddl/database-level",
        "Where the table's name is empty the database's stands in for it.",
        on_columns(reference.decode, table="CASE WHEN kind = 'DDL' THEN coalesce(nullif(table, ''), database) ELSE table END"),
    ),
    _liar(
        "watermarks-dropped",
        "watermark/not-dropped",
        "Messages without a table are filtered out, and nothing tells any more what is complete.",
        on_rows(reference.decode, "kind <> 'WATERMARK'"),
    ),
    _liar(
        "watermark-without-position",
        "watermark/position",
        "Of _tidb only commitTs is read, which a watermark has not.",
        on_columns(reference.decode, position="CASE WHEN kind <> 'WATERMARK' THEN position END"),
    ),
    _liar(
        "types-cut-at-the-blank",
        "types/bare",
        "A type is its first word: bigint unsigned becomes bigint.",
        on_columns(reference.decode, types="transform_values(types, (k, v) -> split_part(v, ' ', 1))"),
    ),
    _liar(
        "sent-as-committed",
        "envelope/commit-time",
        "ts, when the message was made, is taken for the time of the commit.",
        on_input(reference.decode, """replace(replace(t, '"es":', '"was":'), '"ts":', '"es":')"""),
        "shape/composite-key",
    ),
    _liar(
        "deletes-as-tombstones",
        "change/kind",
        "A DELETE is taken for the tombstone of its key.",
        on_columns(reference.decode, kind="CASE WHEN op = 'DELETE' THEN 'TOMBSTONE' ELSE kind END"),
        "shape/composite-key",
    ),
)
