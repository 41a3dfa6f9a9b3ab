"""Decoders of TiCDC Simple in Avro that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders import ticdc_simple_avro as reference
from spark_checks.decoders.families import avro
from spark_checks.decoders.families.canal import COORDINATES
from spark_checks.liars.base import IMAGES, Decode, Liar, on_cells, on_columns
from spark_checks.liars.families.ticdc_simple import Encoding, as_row, beside, common, refused
from spark_checks.liars.families.ticdc_simple_values import binary, of_64_bits, on_texts

_FORMAT: Final = "ticdc-simple-avro"

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


def _told(records: DataFrame, deployment: Deployment | None) -> DataFrame:
    payload = F.col("m")["message"]["payload"]
    watermark, bootstrap, ddl, row = (payload[f"member{i}"] for i in range(4))
    return avro.messages(records, reference.WIRE, deployment).select(
        *COORDINATES,
        F.coalesce(watermark["buildTs"], bootstrap["buildTs"], ddl["buildTs"], row["buildTs"]).alias("build_ts"),
        row["tableID"].alias("table_id"),
        row["claimCheckLocation"].alias("claim_check"),
        row["handleKeyOnly"].alias("reduced"),
        row["checksum"].isNotNull().alias("checksum"),
        F.coalesce(bootstrap["tableSchema"], ddl["tableSchema"]).alias("own"),
        ddl["preTableSchema"].alias("former"),
    )


_ENCODING: Final = Encoding(reference.decode, reference.decode_rows, _told)


def _is_bits(kind: SourceType) -> bool:
    return kind.logical is Logical.BIT and kind.spark != "boolean"


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
        as_row(reference.decode, "CORRUPT"),
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
        on_texts(reference.decode, """regexp_replace(v, r'^\\{"value":(-?[0-9]+)\\}$', '$1')"""),
    ),
    _liar(
        "timestamp-flattened",
        1,
        "value/timestamp-record",
        "A Timestamp is flattened to its value: the zone is lost to whoever types the cells.",
        on_texts(
            reference.decode, """CASE WHEN v LIKE '{"location":%' THEN coalesce(get_json_object(v, '$.value'), v) ELSE v END"""
        ),
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
        of_64_bits(reference.decode_rows, Logical.BIT),
    ),
    _liar(
        "set-64-as-it-stands",
        2,
        "value/set-64",
        "The long of a SET is passed on without a look at the type: the 64th member becomes a sign.",
        of_64_bits(reference.decode_rows, Logical.SET),
    ),
    _liar(
        "bytes-as-text",
        2,
        "value/binary",
        "Bytes are taken for UTF-8, and those that are none become U+FFFD.",
        on_cells(reference.decode_rows, binary, lambda x, _: f"CAST(make_valid_utf8(CAST({x} AS string)) AS binary)"),
    ),
    _liar(
        "bits-of-digits",
        2,
        "value/bit-string",
        "The digits of a BIT are taken for its bits: 10 is two.",
        on_cells(
            reference.decode_rows,
            _is_bits,
            lambda x, kind: f"CASE WHEN {x} IS NOT NULL THEN CAST(conv(CAST({x} AS string), 2, 10) AS {kind.spark}) END",
        ),
    ),
    _liar(
        "bytes-as-they-print",
        1,
        "value/binary-hex",
        "Bytes are shown as a log shows them, in capitals.",
        on_texts(reference.decode, "upper(v)", of=("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")),
    ),
    _liar(
        "base64-undone",
        2,
        "value/binary-plain",
        "Binaries are decoded as Simple JSON's: bytes that happen to spell base64 become others.",
        on_cells(reference.decode_rows, binary, lambda x, _: f"coalesce(try_to_binary(CAST({x} AS string), 'base64'), {x})"),
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
                for side in IMAGES
            },
        ),
    ),
)
_SCHEMAS: Final = (
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
)
_ENVELOPE: Final = (
    _liar(
        "bootstrap-as-row",
        1,
        "bootstrap/kind",
        "What is neither WATERMARK nor DDL is taken for a row: a BOOTSTRAP becomes a row without columns.",
        as_row(reference.decode, "BOOTSTRAP"),
    ),
    _liar(
        "bootstrap-of-1970",
        1,
        "bootstrap/commit-time",
        "The commitTs that a BOOTSTRAP has not is read as 0, and 0 taken for an instant.",
        on_columns(reference.decode, commit_time="CASE WHEN kind = 'BOOTSTRAP' THEN timestamp_seconds(0) ELSE commit_time END"),
    ),
    _liar(
        "bootstrap-at-zero",
        1,
        "bootstrap/position",
        "The commitTs that a BOOTSTRAP has not is 0, as JSON has it, and its position.",
        on_columns(reference.decode, position="CASE WHEN kind = 'BOOTSTRAP' THEN '0' ELSE position END"),
    ),
    _liar(
        "defaults-are-utf-8",
        1,
        "ddl/bit-default-not-utf-8",
        "Strings are checked, and a statement with a default that is no UTF-8 is refused.",
        beside(_ENCODING, **refused("exists(own.columns, c -> contains(c.default, '\\uFFFD') OR NOT is_valid_utf8(c.default))")),
    ),
    _liar(
        "ddl-names-as-in-json",
        1,
        "ddl/names",
        "A DDL's database is looked for in tableSchema.schema, as JSON calls it.",
        on_columns(reference.decode, database="CASE WHEN kind = 'DDL' THEN NULL ELSE database END"),
    ),
)

LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, _ENCODING, {}),
    *_FRAMING,
    *_CELLS,
    *_SCHEMAS,
    *_ENVELOPE,
)
