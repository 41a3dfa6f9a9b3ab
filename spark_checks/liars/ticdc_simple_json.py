"""Decoders of TiCDC Simple in JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from generators.model import Logical, SourceType
from spark_checks.decoders import ticdc_simple_json as reference
from spark_checks.liars.base import Decode, Liar, on_cells, on_columns, on_input, on_rows
from spark_checks.liars.families.canal import common

_FORMAT: Final = "ticdc-simple-json"

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
    "second-document-dropped": "fault/must-reject",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}

_EMPTY_INSERT: Final = '{"version":1,"database":"","table":"","type":"INSERT","schemaVersion":0,"data":{}}'
_UNCLOSED: Final = "length(replace(t, '{', '')) < length(replace(t, '}', ''))"
_SIDES: Final = ("before", "after")
_OF_TABLE: Final = "PARTITION BY database, table"
_OF_SCHEMA: Final = "PARTITION BY topic, partition, database, table, schema_version"
_FLAT: Final = "CASE WHEN v LIKE '{%\"location\":%' THEN coalesce(get_json_object(v, '$.value'), v) ELSE v END"


def _binary(kind: SourceType) -> bool:
    return kind.logical is Logical.BINARY


def _located(zone: str, *, of: str = '[^"]*') -> str:
    return f"""regexp_replace(t, '"location":"{of}"', '"location":"{zone}"')"""


def _as_row(kind: str) -> Decode:
    return on_columns(
        reference.decode,
        op=f"CASE WHEN kind = '{kind}' THEN 'INSERT' ELSE op END",
        after=f"CASE WHEN kind = '{kind}' THEN CAST(map() AS map<string, string>) ELSE after END",
        kind=f"CASE WHEN kind = '{kind}' THEN 'ROW' ELSE kind END",
    )


def _liar(name: str, level: int, convicts: str, why: str, decode: Decode) -> Liar:
    return Liar(name, _FORMAT, level, f"{_FORMAT}/{convicts}", why, decode)


LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, reference, _CONVICTS),
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
        on_columns(reference.decode, **{side: f"transform_values({side}, (k, v) -> {_FLAT})" for side in _SIDES}),
    ),
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
        on_input(reference.decode, """replace(t, '"preTableSchema":', '"before":')"""),
    ),
    _liar(
        "base64-as-latin-1",
        2,
        "value/base64",
        "A binary is decoded as Canal-JSON's: the bytes are those of the base64 text.",
        on_cells(reference.decode_rows, _binary, lambda x, _: f"CAST(base64({x}) AS binary)"),
    ),
    _liar(
        "base64-undone-twice",
        2,
        "value/base64-once",
        "Whatever looks like base64 is decoded, as Flink does, bytes that spell base64 themselves too.",
        on_cells(reference.decode_rows, _binary, lambda x, _: f"coalesce(try_to_binary(CAST({x} AS string), 'base64'), {x})"),
    ),
    _liar(
        "bootstrap-as-row",
        1,
        "bootstrap/kind",
        "What is neither WATERMARK nor DDL is taken for a row: a BOOTSTRAP becomes a row without columns.",
        _as_row("BOOTSTRAP"),
    ),
    _liar(
        "watermark-dropped",
        1,
        "watermark/not-dropped",
        "Messages without a table are filtered out, and nothing tells any more what is complete.",
        on_rows(reference.decode, "kind <> 'WATERMARK'"),
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
    _liar(
        "keys-of-all-columns",
        1,
        "envelope/keys",
        "All columns of a row are taken for its key, because its message has none.",
        on_columns(reference.decode, keys="CASE WHEN kind = 'ROW' THEN map_keys(coalesce(after, before)) ELSE keys END"),
    ),
    _liar(
        "position-through-double",
        1,
        "envelope/position",
        "commitTs, a number beyond 2^53, is read by a JSON library that knows only doubles.",
        on_columns(reference.decode, position="CAST(CAST(CAST(position AS double) AS decimal(20,0)) AS string)"),
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
)
