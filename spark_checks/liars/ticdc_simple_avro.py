"""Decoders of TiCDC Simple in Avro that are wrong on purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders import ticdc_simple_avro as reference
from spark_checks.liars.base import Decode, Liar, on_cells, on_columns, on_rows
from spark_checks.liars.families.canal import common

_FORMAT: Final = "ticdc-simple-avro"

_CONVICTS: Final = {
    "unsigned-wraps": "value/unsigned-bigint",
    "integers-through-double": "value/integer-beyond-double",
    "narrow-unsigned-wraps": "value/unsigned",
    "decimal-through-double": "value/decimal",
    "microseconds-cut": "value/microseconds",
    "enum-as-label": "value/enum-index",
    "text-null-as-null": "value/literal-null",
    "zero-date-as-date": "value/zero-date-text",
    "ddl-dropped": "ddl/not-dropped",
    "corrupt-dropped": "fault/must-reject",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}

_SIDES: Final = ("before", "after")
_OF_TABLE: Final = "PARTITION BY database, table"
_OF_SCHEMA: Final = "PARTITION BY topic, partition, database, table, schema_version"
_CHARACTER: Final = "[2-7][0-9A-F]"
_DIGITS: Final = "(?:3[0-9])"
_LOCATION: Final = f"0C[0-9A-F]{{2}}(?:{_CHARACTER})+?([0-9A-F]{{2}}{_DIGITS}{{4}}2D{_DIGITS}{{2}}2D{_DIGITS}{{2}}20)"
"""In hex: the branch of a Timestamp, its location with its length, and in a group its value's length and date."""


def on_bytes(decode: Decode, sql: str) -> Decode:
    """The decoder on other bytes: `sql` gives the value as binary, from the value as binary `v`; other columns stay."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        told = records.withColumn("v", F.col("value")).withColumn("value", F.expr(sql))
        return decode(told.drop("v"), *args, deployment=deployment)

    return lie


def _hex(pattern: str, replacement: str) -> str:
    """SQL of the value with a pattern of its upper-case hex digits replaced."""
    return f"unhex(regexp_replace(hex(v), r'{pattern}', '{replacement}'))"


def _uncompressed(records: DataFrame, deployment: Deployment | None = None) -> DataFrame:
    return reference.decode(records, deployment=replace(deployment or Deployment(), compression="none"))


def _cells(sql: str, *, of: tuple[str, ...] = ()) -> Decode:
    """Level one with the texts `v` of cells replaced; `of` are the mysqlTypes concerned, of the columns whose schema is known."""
    which = f"try_element_at(types, k) IN ({', '.join(map(repr, of))})" if of else "true"
    one = f"(k, v) -> CASE WHEN {which} THEN {sql} ELSE v END"
    return on_columns(reference.decode, **{side: f"transform_values({side}, {one})" for side in _SIDES})


def _as_row(kind: str) -> Decode:
    return on_columns(
        reference.decode,
        op=f"CASE WHEN kind = '{kind}' THEN 'INSERT' ELSE op END",
        after=f"CASE WHEN kind = '{kind}' THEN CAST(map() AS map<string, string>) ELSE after END",
        error=f"CASE WHEN kind <> '{kind}' THEN error END",
        kind=f"CASE WHEN kind = '{kind}' THEN 'ROW' ELSE kind END",
    )


def _binary(kind: SourceType) -> bool:
    return kind.logical is Logical.BINARY


def _of_64_bits(logical: Logical) -> Decode:
    def which(kind: SourceType) -> bool:
        return kind.logical is logical and kind.high == (1 << 64) - 1

    signed = "CAST(CASE WHEN {x} > 9223372036854775807 THEN {x} - 18446744073709551616 ELSE {x} END AS decimal(20,0))"
    return on_cells(reference.decode_rows, which, lambda x, _: signed.format(x=x))


def _liar(name: str, level: int, convicts: str, why: str, decode: Decode) -> Liar:
    return Liar(name, _FORMAT, level, f"{_FORMAT}/{convicts}", why, decode)


_FRAMING: Final = (
    _liar(
        "message-without-its-branch",
        1,
        "framing/union-index",
        "Message is read from the first byte on, as if the schema were that record: nothing is readable.",
        on_bytes(reference.decode, "concat(X'16', v)"),
    ),
    _liar(
        "branch-skipped-unread",
        1,
        "fault/must-reject",
        "The first byte is skipped without a look: another record of the schema is read as a Message.",
        on_bytes(reference.decode, "CASE WHEN length(v) > 0 THEN concat(X'16', substring(v, 2)) ELSE v END"),
    ),
    _liar(
        "payload-without-its-type",
        1,
        "fault/contradiction",
        "The payload's branch decides, and the type beside it is not compared.",
        on_bytes(reference.decode, "concat(substring(v, 1, 1), substring(v, 3, 1), substring(v, 3))"),
    ),
    _liar(
        "trailing-bytes-unseen",
        1,
        "fault/must-reject",
        "from_avro reads a record and does not look behind it: a second one in the same value is lost.",
        on_bytes(
            reference.decode,
            "CASE WHEN v = concat(substring(v, 1, length(v) div 2), substring(v, 1, length(v) div 2)) "
            "THEN substring(v, 1, length(v) div 2) ELSE v END",
        ),
    ),
    _liar(
        "unreadable-as-nulls",
        1,
        "fault/must-reject",
        "from_avro in PERMISSIVE mode gives a record of NULLs for what it cannot read, and that is taken for a row.",
        _as_row("CORRUPT"),
    ),
    _liar(
        "compression-unknown",
        1,
        "framing/compression",
        "Nothing in a message says that it is compressed, and nobody told the reader.",
        _uncompressed,
    ),
)
_CELLS: Final = (
    _liar(
        "zero-date-as-epoch",
        2,
        "value/zero-date-typed",
        "A calendar has no year 0, so 1970-01-01 stands in for 0000-00-00.",
        on_bytes(reference.decode_rows, _hex(b"0000-00-00".hex().upper(), b"1970-01-01".hex().upper())),
    ),
    _liar(
        "unsigned-bigint-flattened",
        1,
        "value/unsigned-bigint-record",
        "An UnsignedBigint is flattened to its value, a long as any other: nobody can tell any more that it is unsigned.",
        _cells("""regexp_replace(v, r'^\\{"value":(-?[0-9]+)\\}$', '$1')"""),
    ),
    _liar(
        "timestamp-flattened",
        1,
        "value/timestamp-record",
        "A Timestamp is flattened to its value: the zone is lost to whoever types the cells.",
        _cells("""CASE WHEN v LIKE '{"location":%' THEN coalesce(get_json_object(v, '$.value'), v) ELSE v END"""),
    ),
    _liar(
        "timestamp-without-its-zone",
        2,
        "value/timestamp-location",
        "Of a Timestamp only value is read, as the documentation has it, and taken for UTC.",
        on_bytes(reference.decode_rows, _hex(_LOCATION, "0C06555443$1")),
    ),
    _liar(
        "local-as-utc",
        2,
        "value/timestamp-local",
        "No zone database knows Local, and a reader falls back to UTC.",
        on_bytes(reference.decode_rows, _hex("0C0A4C6F63616C", "0C06555443")),
    ),
    _liar(
        "bit-64-as-it-stands",
        2,
        "value/bit-64",
        "The long of a BIT(64) is passed on without a look at the type: its first bit becomes a sign.",
        _of_64_bits(Logical.BIT),
    ),
    _liar(
        "set-64-as-it-stands",
        2,
        "value/set-64",
        "The long of a SET is passed on without a look at the type: the 64th member becomes a sign.",
        _of_64_bits(Logical.SET),
    ),
    _liar(
        "float-widened",
        1,
        "value/float",
        "A float is printed by a library that has only doubles: 0.1 becomes 0.10000000149011612.",
        _cells("CAST(CAST(CAST(v AS float) AS double) AS string)", of=("float",)),
    ),
    _liar(
        "bytes-as-text",
        2,
        "value/binary",
        "Bytes are taken for UTF-8, and those that are none become U+FFFD.",
        on_cells(reference.decode_rows, _binary, lambda x, _: f"CAST(make_valid_utf8(CAST({x} AS string)) AS binary)"),
    ),
    _liar(
        "base64-undone",
        2,
        "value/binary-plain",
        "Binaries are decoded as Simple JSON's: bytes that happen to spell base64 become others.",
        on_cells(reference.decode_rows, _binary, lambda x, _: f"coalesce(try_to_binary(CAST({x} AS string), 'base64'), {x})"),
    ),
    _liar(
        "cells-by-place",
        1,
        "value/map-order",
        "The values of a map, whose order is random, are laid beside the columns of the schema in their order.",
        on_columns(
            reference.decode,
            **{
                side: f"CASE WHEN size({side}) = size(types) AND array_size(array_except(map_keys({side}), map_keys(types))) = 0 "
                f"THEN map_from_arrays(map_keys(types), reverse(map_values({side}))) ELSE {side} END"
                for side in _SIDES
            },
        ),
    ),
)
_SCHEMAS: Final = (
    _liar(
        "newest-schema",
        1,
        "schema/version",
        "schemaVersion is not looked at: a row has the types of its table's newest schema.",
        on_columns(
            reference.decode,
            types=f"CASE WHEN kind = 'ROW' THEN max_by(types, CAST(schema_version AS decimal(20,0))) OVER ({_OF_TABLE}) "
            "ELSE types END",
        ),
    ),
    _liar(
        "schema-of-another-version",
        1,
        "schema/none",
        "A row whose schema never came is given whichever its table has.",
        on_columns(
            reference.decode,
            types=f"coalesce(types, CASE WHEN kind = 'ROW' THEN max_by(types, offset) OVER ({_OF_TABLE}) END)",
        ),
    ),
    _liar(
        "schema-must-come-first",
        1,
        "schema/late",
        "The cache is looked up once: a row that comes before its BOOTSTRAP never has types.",
        on_columns(
            reference.decode,
            types="CASE WHEN kind = 'ROW' AND offset < "
            f"min(CASE WHEN kind <> 'ROW' THEN offset END) OVER ({_OF_SCHEMA}) THEN NULL ELSE types END",
        ),
    ),
    _liar(
        "row-before-its-schema-dropped",
        1,
        "change/one-each",
        "A row that waits for its schema is forgotten when the batch ends.",
        on_rows(reference.decode, "kind <> 'ROW' OR types IS NOT NULL"),
    ),
    _liar(
        "pre-table-schema-ignored",
        1,
        "schema/pre-table-schema",
        "Only tableSchema goes into the cache: rows of the version that a DDL ends have no types.",
        on_columns(
            reference.decode,
            types="CASE WHEN kind <> 'ROW' OR count_if(kind <> 'ROW') OVER "
            "(PARTITION BY database, table, schema_version) > 0 THEN types END",
        ),
    ),
    _liar(
        "keys-of-all-columns",
        1,
        "envelope/keys",
        "All columns of a row are taken for its key, because its message has none.",
        on_columns(reference.decode, keys="CASE WHEN kind = 'ROW' THEN map_keys(coalesce(after, before)) ELSE keys END"),
    ),
)
_ENVELOPE: Final = (
    _liar(
        "bootstrap-as-row",
        1,
        "bootstrap/kind",
        "What is neither WATERMARK nor DDL is taken for a row: a BOOTSTRAP becomes a row without columns.",
        _as_row("BOOTSTRAP"),
    ),
    _liar(
        "bootstrap-of-1970",
        1,
        "bootstrap/commit-time",
        "The commitTs that a BOOTSTRAP has not is read as 0, and 0 taken for an instant.",
        on_columns(reference.decode, commit_time="CASE WHEN kind = 'BOOTSTRAP' THEN timestamp_seconds(0) ELSE commit_time END"),
    ),
    _liar(
        "watermark-dropped",
        1,
        "watermark/not-dropped",
        "Messages without a table are filtered out, and nothing tells any more what is complete.",
        on_rows(reference.decode, "kind <> 'WATERMARK'"),
    ),
    _liar(
        "position-through-double",
        1,
        "envelope/position",
        "commitTs, a number beyond 2^53, is kept as a double.",
        on_columns(reference.decode, position="CAST(CAST(CAST(position AS double) AS decimal(20,0)) AS string)"),
    ),
    _liar(
        "ddl-names-as-in-json",
        1,
        "ddl/names",
        "A DDL's database is looked for in tableSchema.schema, as JSON calls it.",
        on_columns(reference.decode, database="CASE WHEN kind = 'DDL' THEN NULL ELSE database END"),
    ),
    _liar(
        "delete-from-data",
        1,
        "op/delete-row-in-old",
        "A DELETE's row is looked for in data, where Canal-JSON has it.",
        on_columns(reference.decode, before="CASE WHEN op = 'DELETE' THEN NULL ELSE before END"),
    ),
    _liar(
        "absent-as-null",
        1,
        "reduced/handle-key-only",
        "The table's columns are laid over data: what a reduced message leaves out becomes NULL.",
        on_columns(
            reference.decode,
            after="CASE WHEN types IS NOT NULL AND after IS NOT NULL THEN map_from_entries(transform(map_keys(types), "
            "k -> struct(k, try_element_at(after, k)))) ELSE after END",
        ),
    ),
)

LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, reference, _CONVICTS),
    *_FRAMING,
    *_CELLS,
    *_SCHEMAS,
    *_ENVELOPE,
)
