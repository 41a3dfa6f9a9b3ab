"""Decoders of Aliyun DTS's Avro Record that are wrong on purpose."""

from __future__ import annotations

import json
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders import aliyun_dts_avro as reference
from spark_checks.decoders.aliyun_dts_avro.record import WIRE
from spark_checks.decoders.families.avro import record
from spark_checks.decoders.families.canal import COORDINATES
from spark_checks.liars.base import Decode, Liar, on_cells, on_columns, on_rows
from spark_checks.liars.families.canal import common

_FORMAT: Final = "aliyun-dts-avro"

_CONVICTS: Final = {
    "unsigned-wraps": "value/unsigned",
    "integers-through-double": "value/integer-64",
    "decimal-through-double": "value/decimal-long",
    "ddl-dropped": "ddl/kind",
    "corrupt-dropped": "fault/must-reject",
    "updates-as-inserts": "rows/op",
    "sql-cut": "ddl/sql",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}

_SIDES: Final = ("before", "after")
_FRACTION: Final = "CAST(date_format({x}, 'SSSSSS') AS bigint)"
_ZERO: Final = '"year":0,"month":0,"day":0'
_LENIENT: Final = '"year":2,"month":11,"day":30'


def _images(sql: str) -> Decode:
    """Images replaced by SQL over the image `{i}`."""
    return on_columns(
        reference.decode, **{side: f"CASE WHEN {side} IS NOT NULL THEN {sql.format(i=side)} END" for side in _SIDES}
    )


def _cells(logical: Logical, sql: str) -> Decode:
    """Cells of a type replaced by SQL over the typed cell `{x}`, cast to its type."""

    def concerned(kind: SourceType) -> bool:
        return kind.logical is logical

    return on_cells(reference.decode_rows, concerned, lambda x, kind: f"CAST({sql.format(x=x)} AS {kind.spark})")


def _on_bytes(decode: Decode, sql: str) -> Decode:
    """The decoder on other bytes: SQL over `value`; other columns stay."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        return decode(records.withColumn("value", F.expr(sql)), *args, deployment=deployment)

    return lie


def _replaced(old: bytes, new: bytes) -> str:
    """Bytes put for others wherever these stand in `value`."""
    return f"unhex(replace(hex(value), '{old.hex().upper()}', '{new.hex().upper()}'))"


def _text(value: str) -> bytes:
    """A short text in Avro: its length, then its bytes."""
    return bytes([2 * len(value)]) + value.encode()


def _newer_only(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Behind a record of 2019 there is room for the zero that is bornTimestamp's default, behind another there is not."""
    lengthened = _on_bytes(reference.decode, "concat(value, X'00')")(records, deployment=deployment)
    older = lengthened.where("kind <> 'CORRUPT'").select(*COORDINATES, F.lit(True).alias("older"))
    found = reference.decode(records, deployment=deployment).join(older, list(COORDINATES), "left")
    return found.withColumn("kind", F.expr("CASE WHEN older THEN 'CORRUPT' ELSE kind END")).drop("older")


_TAGS: Final = [field["name"] for field in WIRE["fields"]].index("tags")
_FIRST_BLOCK: Final = {"name": "tags", "type": record("Block", count="long")}
_COUNTED: Final = json.dumps({**WIRE, "fields": [*WIRE["fields"][:_TAGS], _FIRST_BLOCK]})
_TAGGED: Final = json.dumps({**WIRE, "fields": WIRE["fields"][: _TAGS + 1]})
"""A Record up to the count of the first block of its tags, and up to all of them."""


def _on_blocks(decode: Decode) -> Decode:
    """The decoder for records whose tags' first block does not count all of them, the right one for all others."""

    def lie(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        first, whole = (from_avro("value", schema, {"mode": "PERMISSIVE"})["tags"] for schema in (_COUNTED, _TAGGED))
        told = records.withColumn("several", F.coalesce(first["count"] != F.size(whole), F.lit(False)))
        true, false = (told.where(which).drop("several") for which in ("several", "NOT several"))
        return decode(true, deployment=deployment).unionAll(reference.decode(false, deployment=deployment))

    return lie


def _typed(name: str, sql: str) -> Decode:
    """Cells of the types of this name replaced by SQL over the typed cell `{x}`."""
    return on_cells(reference.decode_rows, lambda kind: kind.name == name, lambda x, _: sql.format(x=x))


def _of_64_bits(kind: SourceType) -> bool:
    return kind.logical is Logical.BIT and kind.high == (1 << 64) - 1


def _liar(name: str, level: int, convicts: str, why: str, decode: Decode) -> Liar:
    return Liar(name, _FORMAT, level, f"{_FORMAT}/{convicts}", why, decode)


_CONTROL: Final = (
    _liar(
        "checkpoints-dropped",
        1,
        "control/checkpoint",
        "Only rows, statements and marks are passed on: the offset of a CHECKPOINT is never answered.",
        on_rows(reference.decode, "kind <> 'CONTROL'"),
    ),
    _liar(
        "null-as-a-name",
        1,
        "control/names",
        "String.valueOf makes a text of objectName null: a heartbeat is of the database null.",
        on_columns(
            reference.decode,
            database="CASE WHEN kind IN ('TRANSACTION', 'HEARTBEAT', 'CONTROL') THEN 'null' ELSE database END",
        ),
    ),
    _liar(
        "database-as-table",
        1,
        "ddl/names",
        "The last part of objectName is the table's name, of a statement too: its database becomes a table.",
        on_columns(reference.decode, table="CASE WHEN kind = 'DDL' THEN coalesce(table, database) ELSE table END"),
    ),
    _liar(
        "blocks-refused",
        1,
        "rows/blocks",
        "The count of an array's first block is taken for the array's: what follows it is read as the next field, and fails.",
        _on_blocks(
            on_columns(
                reference.decode,
                kind="'CORRUPT'",
                op="CAST(NULL AS string)",
                error="'block'",
                **dict.fromkeys(_SIDES, "CAST(NULL AS map<string,string>)"),
            )
        ),
    ),
    _liar(
        "other-source-unknown",
        1,
        "rows/source-type",
        "The enum of sources is an older one, which ends before OTHER.",
        _on_bytes(reference.decode, _replaced(bytes([2 * 12]) + _text("8.0.28"), bytes([2 * 13]) + _text("8.0.28"))),
    ),
)
_NAMES: Final = (
    _liar(
        "two-parts-alone",
        1,
        "names/three-parts",
        "objectName is split at its first dot, as it is enough for MySQL: schema and table are one name.",
        on_columns(reference.decode, table="concat_ws('.', schema, table)", schema="CAST(NULL AS string)"),
    ),
    _liar(
        "schema-from-database",
        1,
        "names/two-parts",
        "A schema is filled with the database, since MySQL calls the two the same.",
        on_columns(reference.decode, schema="CASE WHEN kind = 'ROW' THEN coalesce(schema, database) ELSE schema END"),
    ),
    _liar(
        "operation-as-sql",
        1,
        "envelope/fields",
        "The text of a row's operation stands where a statement would.",
        on_columns(reference.decode, sql="coalesce(sql, op)"),
    ),
)
_NO_COLUMNS: Final = "CAST(map() AS map<string, string>)"
_IMAGES: Final = (
    _liar(
        "empty-array-as-image",
        1,
        "image/empty-array",
        "An array is an image, the empty one that of a row without columns.",
        on_columns(
            reference.decode,
            before=f"CASE WHEN op IN ('INSERT', 'READ') THEN {_NO_COLUMNS} ELSE before END",
            after=f"CASE WHEN op = 'DELETE' THEN {_NO_COLUMNS} ELSE after END",
        ),
    ),
    _liar(
        "before-of-the-empty-row",
        1,
        "image/sides",
        "An INSERT is an update of the row without columns.",
        on_columns(reference.decode, before=f"CASE WHEN op = 'INSERT' THEN {_NO_COLUMNS} ELSE before END"),
    ),
    _liar(
        "first-block-alone",
        1,
        "image/blocks",
        "Of an array of several blocks the first is read: an image is its first columns.",
        _on_blocks(_images("map_from_arrays(slice(map_keys({i}), 1, 1), slice(map_values({i}), 1, 1))")),
    ),
    _liar(
        "nulls-left-out",
        1,
        "image/columns",
        "A column whose value is NULL is left out of its image, as if it had not been captured.",
        _images("map_filter({i}, (k, v) -> v IS NOT NULL)"),
    ),
)
_VALUES: Final = (
    _liar(
        "not-a-number-as-zero",
        1,
        "value/special-numeric",
        "NaN and Infinity are no numbers to BigDecimal: 0 stands in for them.",
        _images(r"""transform_values({i}, (k, v) -> regexp_replace(v, r'"value":"(NaN|-?Infinity|~)"', '"value":"0"'))"""),
    ),
    _liar(
        "value-as-unscaled",
        2,
        "value/decimal",
        "A Decimal's value is taken for the unscaled number, since scale stands beside it, and its point is dropped.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.logical is Logical.DECIMAL and kind.spark != "string",
            lambda x, kind: f"coalesce(try_cast(replace(CAST({x} AS string), '.', '') AS {kind.spark}), {x})",
        ),
    ),
    _liar(
        "double-through-float",
        2,
        "value/double",
        "DOUBLE has the branch of FLOAT, and both are read as a binary32.",
        _cells(Logical.DOUBLE, "CAST(CAST({x} AS float) AS double)"),
    ),
    _liar(
        "boolean-of-java",
        2,
        "value/boolean",
        "Boolean.parseBoolean knows true alone: t is false.",
        _typed("boolean", "CASE WHEN {x} IS NOT NULL THEN false END"),
    ),
    _liar(
        "bits-64-negative",
        2,
        "value/bits-64",
        "A BIT(64) is read into a signed 64-bit integer: its first bit becomes a sign.",
        on_cells(
            reference.decode_rows,
            _of_64_bits,
            lambda x, kind: f"CAST(CASE WHEN {x} > {(1 << 63) - 1} THEN {x} - {1 << 64} ELSE {x} END AS {kind.spark})",
        ),
    ),
    _liar(
        "bits-as-boolean",
        2,
        "value/bits",
        "A BIT is true or false: what is not 0 becomes 1.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.logical is Logical.BIT and kind.spark != "boolean",
            lambda x, kind: f"CAST(least({x}, 1) AS {kind.spark})",
        ),
    ),
    _liar(
        "geometry-without-its-srid",
        1,
        "value/geometry",
        "MySQL's SRID, the four bytes before the WKB, is cut off.",
        _images(r"""transform_values({i}, (k, v) -> regexp_replace(v, r'("type":"GEOMETRY","value":")[0-9a-f]{{8}}', '$1'))"""),
    ),
    _liar(
        "jsonb-as-hex",
        2,
        "value/jsonb",
        "A BinaryObject is bytes, of jsonb too, and shown in hex.",
        _typed("jsonb", "hex({x})"),
    ),
    _liar(
        "document-as-text",
        2,
        "value/json",
        "A document is encoded once more: it becomes a text of JSON.",
        _typed("json", r"""concat('"', replace(replace({x}, '\\', '\\\\'), '"', '\\"'), '"')"""),
    ),
    _liar(
        "empty-as-a-zero-byte",
        2,
        "value/binary-empty",
        "The empty text of hex digits is read as the number 0, a byte.",
        _cells(Logical.BINARY, "CASE WHEN octet_length({x}) = 0 THEN X'00' ELSE {x} END"),
    ),
    _liar(
        "characters-as-text",
        2,
        "value/binary-character",
        "A Character is text: bytes that are no UTF-8 become U+FFFD.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.name in ("binary", "varbinary"),
            lambda x, _: f"CAST(make_valid_utf8(CAST({x} AS string)) AS binary)",
        ),
    ),
    _liar(
        "offset-not-read",
        2,
        "value/timestamp-zone",
        "A TimestampWithTimeZone is read like a DateTime, without its offset, and taken for UTC.",
        _on_bytes(reference.decode_rows, _replaced(_text("+08:00"), _text("+00:00"))),
    ),
    _liar(
        "timestamp-as-wall-clock",
        2,
        "value/timestamp",
        "A Timestamp is shown as the vendor's wall clock, and that is taken for UTC.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.name == "timestamp" and kind.logical is Logical.TIMESTAMP,
            lambda x, _: f"from_utc_timestamp({x}, 'Asia/Shanghai')",
        ),
    ),
    _liar(
        "months-from-zero",
        2,
        "value/date",
        "Months are counted from 0, as java.util.Calendar does: every date is a month late.",
        _cells(Logical.DATE, "least(add_months({x}, 1), DATE'9999-12-31')"),
    ),
    _liar(
        "times-cut-to-minutes",
        2,
        "value/time",
        "A TIME is formatted as hours and minutes.",
        _cells(Logical.TIME, r"regexp_replace({x}, r':\d\d([.]\d+)?$', ':00')"),
    ),
    _liar(
        "year-zero-as-2000",
        2,
        "value/year-zero",
        "A year of one digit is short for one of this century.",
        _cells(Logical.YEAR, "CASE WHEN {x} = 0 THEN 2000 ELSE {x} END"),
    ),
    _liar(
        "years-since-1900",
        2,
        "value/year",
        "Years are counted from 1900, as java.util.Date does.",
        _cells(Logical.YEAR, "CASE WHEN {x} > 1900 THEN {x} - 1900 ELSE {x} END"),
    ),
    _liar(
        "legacy-charset-as-latin-1",
        2,
        "charset/legacy",
        "Bytes that are no UTF-8 are Latin-1: Chinese texts in gbk are mojibake.",
        _on_bytes(reference.decode_rows, _replaced(_text("gbk"), _text("latin1"))),
    ),
)

LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, reference, _CONVICTS),
    _liar(
        "truncated-as-nulls",
        1,
        "fault/must-reject",
        "from_avro in PERMISSIVE mode gives a record of NULLs, which is passed on as a row.",
        on_columns(
            reference.decode,
            op="CASE WHEN kind = 'CORRUPT' THEN 'INSERT' ELSE op END",
            after="CASE WHEN kind = 'CORRUPT' THEN CAST(map() AS map<string, string>) ELSE after END",
            kind="CASE WHEN kind = 'CORRUPT' THEN 'ROW' ELSE kind END",
        ),
    ),
    _liar(
        "init-dropped",
        1,
        "rows/init",
        "The SDK does not know INIT: the rows of a full load vanish.",
        on_rows(reference.decode, "op IS NULL OR op <> 'READ'"),
    ),
    _liar(
        "short-as-filler",
        1,
        "control/short",
        "The demo skips values of 48 bytes and less, which it takes for fillers.",
        lambda records, *, deployment=None: reference.decode(
            records.where("value IS NULL OR length(value) > 48"), deployment=deployment
        ),
    ),
    _liar(
        "born-timestamp-required",
        1,
        "rows/edition-2019",
        "A reader by the published schema runs into the end of a record of 2019, which has no bornTimestamp.",
        _newer_only,
    ),
    _liar(
        "born-timestamp-unknown",
        1,
        "rows/edition-changes",
        "A reader with the SDK's schema that checks where a record ends refuses every record with bornTimestamp.",
        _on_bytes(reference.decode, "concat(value, X'00')"),
    ),
    _liar(
        "seconds-as-milliseconds",
        1,
        "envelope/commit-time",
        "sourceTimestamp is taken for milliseconds, as the schema says of bornTimestamp: every change is of January 1970.",
        on_columns(reference.decode, commit_time="timestamp_millis(unix_seconds(commit_time))"),
    ),
    _liar(
        "not-captured-as-null",
        1,
        "image/not-captured",
        "EmptyObject becomes null: a column that was not captured is set to NULL downstream.",
        _images("map_from_arrays(map_keys(types), transform(map_keys(types), c -> {i}[c]))"),
    ),
    _liar(
        "columns-in-order",
        1,
        "value/integer",
        "Values are assigned to the columns in alphabetical order instead of the order of fields.",
        _images("map_from_arrays(array_sort(map_keys({i})), map_values({i}))"),
    ),
    _liar(
        "columns-of-another-record",
        1,
        "image/own-fields",
        "The SDK's fast branch keeps a table's fields from its first record, and assigns the values of all others to them.",
        on_columns(
            reference.decode,
            after="CASE WHEN size(after) = size(min_by(after, offset) OVER (PARTITION BY database, table)) THEN map_from_arrays("
            "map_keys(min_by(after, offset) OVER (PARTITION BY database, table)), map_values(after)) ELSE after END",
        ),
    ),
    _liar(
        "dots-kept",
        1,
        "names/dots",
        "The six characters that stand for a dot are left in names.",
        on_columns(
            reference.decode,
            **{part: f"replace({part}, '.', concat(chr(92), 'u002E'))" for part in ("database", "schema", "table")},
        ),
    ),
    _liar(
        "physical-names",
        1,
        "names/logical",
        "The SDK does not look at l_db_name and l_tb_name: rows go to tables that are shards.",
        _on_bytes(reference.decode, _replaced(_text("l_db_name"), _text("x_db_name"))),
    ),
    _liar(
        "unique-key-as-primary",
        1,
        "envelope/no-keys",
        "Without PRIMARY every column is taken for a key.",
        on_columns(reference.decode, keys="CASE WHEN kind = 'ROW' THEN coalesce(keys, map_keys(types)) ELSE keys END"),
    ),
    _liar(
        "position-without-its-file",
        1,
        "envelope/position",
        "sourcePosition is read as a number, the offset alone: it starts anew in every binlog file.",
        on_columns(reference.decode, position="split_part(position, '@', 1)"),
    ),
    _liar(
        "delete-from-after-images",
        1,
        "image/delete",
        "The row of a DELETE is read from afterImages, which is null.",
        on_columns(reference.decode, before="CASE WHEN op = 'DELETE' THEN NULL ELSE before END"),
    ),
    _liar(
        "heartbeat-as-row",
        1,
        "control/heartbeat",
        "Every message but a DDL is taken for a row: a heartbeat becomes a row without columns.",
        on_columns(
            reference.decode,
            op="CASE WHEN kind = 'HEARTBEAT' THEN 'INSERT' ELSE op END",
            after="CASE WHEN kind = 'HEARTBEAT' THEN CAST(map() AS map<string, string>) ELSE after END",
            kind="CASE WHEN kind = 'HEARTBEAT' THEN 'ROW' ELSE kind END",
        ),
    ),
    _liar(
        "transactions-dropped",
        1,
        "control/transaction",
        "BEGIN and COMMIT are filtered out: their offsets are never answered.",
        on_rows(reference.decode, "kind <> 'TRANSACTION'"),
    ),
    _liar(
        "zero-date-as-date",
        1,
        "value/zero-date",
        "Java's lenient calendar reads 0000-00-00 as 0002-11-30.",
        _images(f"transform_values({{i}}, (c, v) -> replace(v, '{_ZERO}', '{_LENIENT}'))"),
    ),
    _liar(
        "other-charsets-as-latin-1",
        2,
        "charset/by-value",
        "Bytes that are not in UTF-8 are taken for Latin-1, whatever charset they name.",
        _on_bytes(reference.decode_rows, _replaced(_text("gbk"), _text("latin1"))),
    ),
    _liar(
        "microseconds-as-nanoseconds",
        2,
        "value/fraction",
        "DateTime.millis is taken for nanoseconds of every source, as it is of Oracle.",
        _cells(Logical.DATETIME, f"timestampadd(MICROSECOND, {_FRACTION} DIV 1000 - {_FRACTION}, {{x}})"),
    ),
    _liar(
        "timestamp-in-milliseconds",
        2,
        "value/timestamp-fraction",
        "Timestamp.millis is taken for what its name says: up to a quarter of an hour is added.",
        _cells(Logical.TIMESTAMP, "timestamp_micros(unix_micros({x}) + unix_micros({x}) % 1000000 * 999)"),
    ),
    _liar(
        "sign-of-the-hour",
        2,
        "value/time-negative",
        "The sign of a TIME is read from its hour, which is 0 below one hour.",
        _cells(Logical.TIME, "regexp_replace({x}, '^-00:', '00:')"),
    ),
    _liar(
        "time-of-day",
        2,
        "value/time-over-24h",
        "TIME is read as a time of day: whole days of it are lost.",
        _cells(
            Logical.TIME,
            "concat(regexp_extract({x}, '^-?', 0), "
            "lpad(CAST(CAST(regexp_extract({x}, '[0-9]+', 0) AS int) % 24 AS string), 2, '0'), regexp_extract({x}, ':.*', 0))",
        ),
    ),
    _liar(
        "text-null-as-null",
        2,
        "value/text-null",
        "The text null is taken for SQL NULL.",
        _cells(Logical.TEXT, "nullif({x}, 'null')"),
    ),
    _liar(
        "hex-as-bytes",
        2,
        "value/binary",
        "A binary's hex digits, as the SDK prints them, are taken for its bytes.",
        _cells(Logical.BINARY, "CAST(lower(hex({x})) AS binary)"),
    ),
    _liar(
        "objects-without-type",
        1,
        "value/wire",
        "Level one drops the type of an ENUM's object, which stands on the wire.",
        on_columns(
            reference.decode, after="transform_values(after, (k, v) -> CASE WHEN v LIKE '%\"ENUM\"%' THEN '{}' ELSE v END)"
        ),
    ),
    _liar(
        "no-key-from-unique",
        1,
        "envelope/keys",
        "pk_uk_info is not read: no record has a key.",
        on_columns(reference.decode, keys="CAST(NULL AS array<string>)"),
    ),
    _liar(
        "init-refused",
        1,
        "rows/init",
        "INIT is an operation that the SDK does not know: rows of the full load are errors.",
        on_columns(
            reference.decode,
            kind="CASE WHEN op = 'READ' THEN 'CORRUPT' ELSE kind END",
            error="CASE WHEN op = 'READ' THEN 'operation' ELSE error END",
        ),
    ),
    _liar(
        "label-as-empty",
        2,
        "value/enum",
        "An ENUM's text is read as its index, which a label is not.",
        _cells(Logical.ENUM, "CASE WHEN {x} IS NOT NULL THEN 0 END"),
    ),
    _liar(
        "equal-rows-dropped",
        1,
        "rows/delivered-twice",
        "id is taken for unique, as the schema says: a record with the id of one before it is dropped.",
        lambda records, *, deployment=None: (
            on_columns(
                reference.decode,
                twin="row_number() OVER (PARTITION BY op, database, table, to_json(before), to_json(after) ORDER BY offset)",
            )(records, deployment=deployment)
            .where("twin = 1 OR kind <> 'ROW'")
            .drop("twin")
        ),
    ),
    *_CONTROL,
    *_NAMES,
    *_IMAGES,
    *_VALUES,
)
