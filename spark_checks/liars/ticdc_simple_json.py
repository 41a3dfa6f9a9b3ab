"""Decoders of TiCDC Simple in JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Logical
from spark_checks.decoders import ticdc_simple_json as reference
from spark_checks.decoders.families.canal import COORDINATES, decompressed
from spark_checks.liars.base import Decode, Liar, on_cells, on_columns, on_input
from spark_checks.liars.families.ticdc_simple import Encoding, as_row, common
from spark_checks.liars.families.ticdc_simple_values import binary, of_64_bits, on_texts

_FORMAT: Final = "ticdc-simple-json"

_EMPTY_INSERT: Final = '{"version":1,"database":"","table":"","type":"INSERT","schemaVersion":0,"data":{}}'
_UNCLOSED: Final = "length(replace(t, '{', '')) < length(replace(t, '}', ''))"
_FLAT: Final = "CASE WHEN v LIKE '{%\"location\":%' THEN coalesce(get_json_object(v, '$.value'), v) ELSE v END"
_SCHEMA: Final = (
    "struct<table string, tableID bigint, "
    "columns array<struct<name string, dataType struct<mysqlType string, unsigned boolean>, default string>>, "
    "indexes array<struct<unique boolean, primary boolean, columns array<string>>>>"
)
_TOLD: Final = (
    "buildTs bigint, tableID bigint, claimCheckLocation string, handleKeyOnly boolean, checksum string, "
    f"tableSchema {_SCHEMA}, preTableSchema {_SCHEMA}"
)


def _told(records: DataFrame, deployment: Deployment | None) -> DataFrame:
    m = F.col("m")
    values = decompressed(records, (deployment or Deployment()).compression)
    return values.select(*COORDINATES, F.from_json(F.col("value").cast("string"), _TOLD).alias("m")).select(
        *COORDINATES,
        m["buildTs"].alias("build_ts"),
        m["tableID"].alias("table_id"),
        m["claimCheckLocation"].alias("claim_check"),
        m["handleKeyOnly"].alias("reduced"),
        m["checksum"].isNotNull().alias("checksum"),
        m["tableSchema"].alias("own"),
        m["preTableSchema"].alias("former"),
    )


def _located(zone: str, *, of: str = '[^"]*') -> str:
    return f"""regexp_replace(t, '"location":"{of}"', '"location":"{zone}"')"""


def _liar(name: str, level: int, convicts: str, why: str, decode: Decode) -> Liar:
    return Liar(name, _FORMAT, level, f"{_FORMAT}/{convicts}", why, decode)


LIARS: Final[tuple[Liar, ...]] = (
    *common(
        _FORMAT,
        Encoding(reference.decode, reference.decode_rows, _told),
        {"second-document-dropped": "fault/must-reject"},
    ),
    _liar(
        "truncated-as-nulls",
        1,
        "fault/must-reject",
        "from_json in PERMISSIVE mode without a corrupt-record column: a truncated message is a row of NULLs.",
        on_input(reference.decode, f"CASE WHEN t LIKE '{{%' AND {_UNCLOSED} THEN '{_EMPTY_INSERT}' ELSE t END"),
    ),
    _liar(
        "zero-date-as-epoch",
        2,
        "value/zero-date-typed",
        "A calendar has no year 0, so 1970-01-01 stands in for 0000-00-00.",
        on_input(reference.decode_rows, "replace(t, '\"0000-00-00', '\"1970-01-01')"),
    ),
    _liar(
        "timestamp-without-its-zone",
        2,
        "value/timestamp-location",
        "Of a TIMESTAMP's object only value is read, as Canal-JSON has it, and taken for UTC.",
        on_input(reference.decode_rows, _located("UTC")),
    ),
    _liar(
        "local-as-utc",
        2,
        "value/timestamp-local",
        "No zone database knows Local, and a reader falls back to UTC.",
        on_input(reference.decode_rows, _located("UTC", of="Local")),
    ),
    _liar(
        "timestamp-flattened",
        1,
        "value/timestamp-object",
        "A TIMESTAMP's object is flattened to its value: the zone is lost to whoever types the cells.",
        on_texts(reference.decode, _FLAT),
    ),
    _liar(
        "pre-table-schema-ignored",
        1,
        "schema/pre-table-schema",
        "Only tableSchema goes into the cache: rows of the version that a DDL ends have no types.",
        on_input(reference.decode, """replace(t, '"preTableSchema":', '"before":')"""),
    ),
    _liar(
        "base64-as-latin-1",
        2,
        "value/base64",
        "A binary is decoded as Canal-JSON's: the bytes are those of the base64 text.",
        on_cells(reference.decode_rows, binary, lambda x, _: f"CAST(base64({x}) AS binary)"),
    ),
    _liar(
        "base64-undone-twice",
        2,
        "value/base64-once",
        "Whatever looks like base64 is decoded, as Flink does, bytes that spell base64 themselves too.",
        on_cells(reference.decode_rows, binary, lambda x, _: f"coalesce(try_to_binary(CAST({x} AS string), 'base64'), {x})"),
    ),
    _liar(
        "bootstrap-as-row",
        1,
        "bootstrap/kind",
        "What is neither WATERMARK nor DDL is taken for a row: a BOOTSTRAP becomes a row without columns.",
        as_row(reference.decode, "BOOTSTRAP"),
    ),
    _liar(
        "ddl-names-at-the-top",
        1,
        "ddl/names",
        "A DDL's database and table are looked for where a row has them.",
        on_columns(reference.decode, **{c: f"CASE WHEN kind = 'DDL' THEN NULL ELSE {c} END" for c in ("database", "table")}),
    ),
    _liar(
        "bootstrap-of-1970",
        1,
        "bootstrap/commit-time",
        "A BOOTSTRAP's commitTs 0 is taken for an instant.",
        on_columns(reference.decode, commit_time="CASE WHEN kind = 'BOOTSTRAP' THEN timestamp_seconds(0) ELSE commit_time END"),
    ),
    _liar(
        "markup-escaped-again",
        1,
        "value/html-escape",
        "The escapes of <, > and & are left as they are, since only HTML needs them.",
        on_input(reference.decode, r"regexp_replace(t, r'\\u00(3c|3e|26)', r'\\\\u00$1')"),
    ),
    _liar(
        "padding-cut",
        1,
        "value/binary-text",
        "Base64 is passed on without its padding, as URLs have it.",
        on_texts(reference.decode, "rtrim('=', v)", of=("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")),
    ),
    _liar(
        "words-are-no-base64",
        2,
        "value/base64-digits",
        "What is a number or a word is taken for text, and not decoded.",
        on_cells(
            reference.decode_rows,
            binary,
            lambda x, _: f"CASE WHEN base64({x}) RLIKE '^([0-9]+|[a-z]+)$' THEN CAST(base64({x}) AS binary) ELSE {x} END",
        ),
    ),
    _liar(
        "exponent-unread",
        2,
        "value/float-exponent",
        "A number is read up to the first character that is no digit, point or sign.",
        on_input(reference.decode_rows, r"""regexp_replace(t, r':"(-?[0-9.]+)e[+-]?[0-9]+"', r':"$1"')"""),
    ),
    _liar(
        "bits-64-negative",
        2,
        "value/bit-64",
        "A BIT(64) is read into a signed 64-bit integer, and so is a SET: the first bit becomes a sign.",
        of_64_bits(reference.decode_rows, Logical.BIT, Logical.SET),
    ),
)
