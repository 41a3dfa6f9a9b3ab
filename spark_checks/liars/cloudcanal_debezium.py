"""Decoders of CloudCanal's Debezium Envelope that are wrong on purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import DataFrame

from generators.model import Deployment, Logical
from spark_checks.decoders import cloudcanal_debezium as reference
from spark_checks.decoders.families.connect import rows as _connect
from spark_checks.liars.base import Liar, on_cells, on_columns, on_input
from spark_checks.liars.families.canal import common

_FORMAT: Final = "cloudcanal-debezium"

_OF_CANAL: Final = {
    "unsigned-wraps": "value/unsigned",
    "integers-through-double": "value/integer",
    "decimal-through-double": "value/decimal",
    "binary-as-utf-8": "value/binary",
    "microseconds-cut": "value/datetime",
    "old-null-as-unchanged": "value/null",
    "texts-trimmed": "value/text",
    "text-null-as-null": "value/text-null",
    "ddl-dropped": "ddl/op",
    "corrupt-dropped": "fault/must-reject",
    "second-document-dropped": "fault/after-the-document",
    "updates-as-inserts": "rows/op",
    "sql-cut": "ddl/sql",
    "table-with-its-database": "envelope/names",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}

_MEMBER: Final = "coalesce(get_json_object(t, '$.payload.{0}'), get_json_object(t, '$.{0}'))"
_OP, _DDL = _MEMBER.format("op"), _MEMBER.format("ddl")


def _millis(member: str) -> str:
    return f"try_cast({_MEMBER.format(member)} AS bigint)"


_NO_COLUMNS: Final = "CAST(map() AS map<string, string>)"


def _sent_as_committed(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    dialect = replace(reference.DIALECT, commit_ms=lambda payload: payload["ts_ms"])
    return _connect.decode(records, dialect, deployment)


def _all_null(side: str) -> str:
    return f"CASE WHEN NOT forall(map_values({side}), v -> v IS NULL) THEN {side} END"


LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, reference, _OF_CANAL),
    Liar(
        "ddl-without-op-refused",
        _FORMAT,
        1,
        f"{_FORMAT}/ddl/op",
        "op is required, as in Debezium: the example's DDL, which has none, is an error.",
        on_input(reference.decode, f"CASE WHEN {_DDL} IS NOT NULL AND {_OP} IS NULL THEN '' ELSE t END"),
    ),
    Liar(
        "op-a-refused",
        _FORMAT,
        1,
        f"{_FORMAT}/ddl/op",
        "Debezium has no op a: Flink, Paimon and SeaTunnel stop at it.",
        on_input(reference.decode, f"CASE WHEN {_OP} = 'a' THEN '' ELSE t END"),
    ),
    Liar(
        "times-apart-refused",
        _FORMAT,
        1,
        f"{_FORMAT}/ddl/document",
        "A statement whose two times lie minutes apart is taken for a broken message: the document's own ALTER is.",
        on_input(
            reference.decode,
            f"CASE WHEN {_DDL} IS NOT NULL AND abs({_millis('ts_ms')} - {_millis('source.ts_ms')}) > 600000 THEN '' ELSE t END",
        ),
    ),
    Liar(
        "table-from-the-list",
        _FORMAT,
        1,
        f"{_FORMAT}/ddl/names",
        "A statement's table is looked for in tableChanges, a list in Debezium: of an object nothing is found.",
        on_columns(reference.decode, table="CASE WHEN kind <> 'DDL' THEN table END"),
    ),
    Liar(
        "images-swapped",
        _FORMAT,
        1,
        f"{_FORMAT}/image/orientation",
        "The field table is believed: after is the data before the change.",
        on_columns(
            reference.decode,
            before="CASE WHEN op = 'UPDATE' THEN after ELSE before END",
            after="CASE WHEN op = 'UPDATE' THEN before ELSE after END",
        ),
    ),
    Liar(
        "empty-image-as-row",
        _FORMAT,
        1,
        f"{_FORMAT}/image/empty",
        "Flink: before {} is not null, hence an image.",
        on_columns(reference.decode, before=f"CASE WHEN op = 'INSERT' THEN {_NO_COLUMNS} ELSE before END"),
    ),
    Liar(
        "deleted-row-in-after",
        _FORMAT,
        1,
        f"{_FORMAT}/image/deleted-row",
        "A deleted row is looked for in after, which is {} or null.",
        on_columns(reference.decode, before="CASE WHEN op <> 'DELETE' THEN before END"),
    ),
    Liar(
        "null-row-as-no-image",
        _FORMAT,
        1,
        f"{_FORMAT}/image/null-row",
        "A struct whose fields are all NULL is taken for the {} of a missing image.",
        on_columns(reference.decode, before=_all_null("before"), after=_all_null("after")),
    ),
    Liar(
        "ddl-by-any-name",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/column-names",
        'The text is searched for "ddl": a row with a column of that name is taken for a statement.',
        on_columns(
            reference.decode,
            kind="CASE WHEN map_contains_key(coalesce(after, before), 'ddl') THEN 'DDL' ELSE kind END",
            op="CASE WHEN NOT coalesce(map_contains_key(coalesce(after, before), 'ddl'), false) THEN op END",
        ),
    ),
    Liar(
        "connector-refused",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/schemaless",
        "source.connector selects the reader, and there is none for MySQL in capitals.",
        on_input(reference.decode, f"CASE WHEN {_DDL} IS NULL AND t LIKE '%\"connector\":\"MySQL\"%' THEN '' ELSE t END"),
    ),
    Liar(
        "schema-required",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/schemaless",
        "A row without the schema block is refused, though the product writes none by default.",
        on_input(reference.decode, f"CASE WHEN {_DDL} IS NULL AND t NOT LIKE '%\"schema\":%' THEN '' ELSE t END"),
    ),
    Liar(
        "connect-schema-required",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/readable",
        "The schema is taken for Connect's, which has no isPK, and any other is refused.",
        on_input(reference.decode, "CASE WHEN t LIKE '%\"isPK\":%' THEN '' ELSE t END"),
    ),
    Liar(
        "typed-refused",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/typed",
        "Cells are texts as in the vendor's article, and a message with Connect's schema is refused.",
        on_input(reference.decode, "CASE WHEN t LIKE '%\"optional\":%' THEN '' ELSE t END"),
    ),
    Liar(
        "codes-normalised",
        _FORMAT,
        1,
        f"{_FORMAT}/value/wire",
        "A binary's hexadecimal digits are made upper-case at level one.",
        on_columns(
            reference.decode, after="transform_values(after, (k, v) -> CASE WHEN v RLIKE '^[0-9a-f]+$' THEN upper(v) ELSE v END)"
        ),
    ),
    Liar(
        "sent-as-committed",
        _FORMAT,
        1,
        f"{_FORMAT}/envelope/commit-time",
        "The payload's ts_ms is taken for the commit's: 951 s late in the document's DDL.",
        _sent_as_committed,
    ),
    Liar(
        "position-without-file",
        _FORMAT,
        1,
        f"{_FORMAT}/envelope/position",
        "pos alone is the position, and starts again with each file.",
        on_columns(reference.decode, position="substring_index(position, ':', -1)"),
    ),
    Liar(
        "days-as-milliseconds",
        _FORMAT,
        2,
        f"{_FORMAT}/value/date",
        "A DATE's days are read as milliseconds: every date is in January 1970.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.logical is Logical.DATE,
            lambda x, _: f"date_from_unix_date(CAST(floor(unix_date({x}) / 86400000) AS int))",
        ),
    ),
    Liar(
        "scale-dropped",
        _FORMAT,
        2,
        f"{_FORMAT}/value/decimal",
        "The bytes of a DECIMAL are read as an integer, without the scale that stands in the schema or nowhere.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.logical is Logical.DECIMAL and kind.spark != "string",
            lambda x, kind: f"coalesce(try_cast(replace(CAST({x} AS string), '.', '') AS {kind.spark}), {x})",
        ),
    ),
)
