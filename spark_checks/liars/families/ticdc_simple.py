"""The traps that both encodings of TiCDC's Simple protocol set: messages, schemas and what is told beside the rows.

What a message says and no change repeats (`buildTs`, the tables' ids, the indexes of a schema) an encoding gives as `told`, so
that one wrong reading of it is one liar of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Table
from spark_checks.decoders.families.canal import COORDINATES
from spark_checks.liars.base import IMAGES, Decode, Liar, on_columns, on_input, on_rows, refused_as_nulls
from spark_checks.liars.families import canal
from spark_checks.liars.families.ticdc_simple_values import values

CONVICTS: Final = {
    "unsigned-wraps": "value/unsigned-bigint",
    "integers-through-double": "value/integer-beyond-double",
    "integers-of-two-bytes": "value/integer",
    "narrow-unsigned-wraps": "value/unsigned",
    "decimal-through-double": "value/decimal",
    "double-through-float": "value/double",
    "microseconds-cut": "value/microseconds",
    "times-to-the-minute": "value/date-and-time",
    "enum-as-label": "value/enum-index",
    "text-null-as-null": "value/literal-null",
    "zero-date-as-date": "value/zero-date-text",
    "ddl-dropped": "ddl/not-dropped",
    "sql-cut": "ddl/sql",
    "corrupt-dropped": "fault/must-reject",
    "updates-as-inserts": "change/op",
    "table-with-its-database": "envelope/names",
    "no-image-as-empty": "image/sides",
    "nulls-left-out": "image/presence",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}
"""The rules that convict the liars of `families.canal`."""

Told = Callable[[DataFrame, Deployment | None], DataFrame]
"""Coordinates and, of each message, `build_ts`, `table_id`, `claim_check` (its location), `reduced` (its flag), `checksum`
(whether it has one), `own` and `former`: its tableSchema and preTableSchema as structs, of which `table`, `tableID`, `columns`
and `indexes` have the names of JSON."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """The reference decoders of an encoding, and what its messages say beside the changes."""

    decode: Decode
    decode_rows: Decode
    told: Told


_Trap = tuple[str, str, str, Decode] | tuple[str, str, str, Decode, str]
"""Name, the rule's name, why, the decoder of level one, and a scenario."""

_PLAIN: Final = "shape/composite-key"
_OF_TABLE: Final = "PARTITION BY database, table"
_OF_SCHEMA: Final = "PARTITION BY topic, partition, database, table, schema_version"
_TEXTS: Final = "concat_ws('', database, table, map_values(coalesce(after, before)))"
_FORMER: Final = "map_from_entries(transform(former.columns, c -> struct(c.name, c.dataType.mysqlType)))"
_UNSIGNED: Final = (
    "map_from_entries(transform(own.columns, c -> "
    "struct(c.name, concat(c.dataType.mysqlType, IF(coalesce(c.dataType.unsigned, false), ' unsigned', '')))))"
)
_DOUBLE: Final = "CAST(CAST(CAST({} AS double) AS decimal(20,0)) AS string)"
_LAID_OVER_TYPES: Final = (
    "CASE WHEN types IS NOT NULL AND {side} IS NOT NULL THEN map_from_entries(transform(map_keys(types), "
    "k -> struct(k, try_element_at({side}, k)))) ELSE {side} END"
)


def common(fmt: str, encoding: Encoding, convicts: Mapping[str, str]) -> Iterator[Liar]:
    """The liars of both encodings; `convicts` names the rules of those of `families.canal` that only this one has."""
    yield from canal.common(fmt, encoding, {**CONVICTS, **convicts})
    for traps in (_framing, _control, _of_schemas, _of_rows):
        for name, rule, why, decode, *scenario in traps(encoding):
            yield Liar(name, fmt, 1, f"{fmt}/{rule}", why, decode, *scenario)
    why = "try_cast gives NULL for a cell that is none of its column's type, and the row goes on."
    yield Liar("unfit-cell-as-null", fmt, 2, f"{fmt}/fault/cell-type", why, refused_as_nulls(encoding.decode_rows))
    why = "A date that no calendar has spoils its row: java.time raises, and the row is refused."
    lie = on_input(encoding.decode_rows, "CASE WHEN NOT contains(t, '0000-00-00') THEN t END")
    yield Liar("zero-date-refused", fmt, 2, f"{fmt}/change/zero-date-not-corrupt", why, lie)
    yield from values(fmt, encoding.decode, encoding.decode_rows)


def refused(which: str) -> dict[str, str]:
    """The columns of a decoder that refuses the changes for which the SQL `which` is true."""
    return {
        "kind": f"IF({which}, 'CORRUPT', kind)",
        "error": f"IF({which}, 'not of the expected shape', error)",
        **{name: f"IF({which}, NULL, {name})" for name in ("op", *IMAGES)},
    }


def beside(encoding: Encoding, **sql: str) -> Decode:
    """Level one with columns replaced by SQL over its output and over what the messages say beside it."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        decoded = encoding.decode(records, *args, deployment=deployment)
        both = decoded.join(encoding.told(records, deployment), list(COORDINATES), "left")
        return both.withColumns({name: F.expr(text) for name, text in sql.items()}).select(*decoded.columns)

    return lie


def _without(encoding: Encoding, lost: str) -> Decode:
    """Level one without the changes for which the SQL `lost`, which may have windows and what messages say, is true."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        decoded = encoding.decode(records, *args, deployment=deployment)
        both = decoded.join(encoding.told(records, deployment), list(COORDINATES), "left")
        return both.withColumn("lost", F.expr(f"coalesce({lost}, false)")).where("NOT lost").select(*decoded.columns)

    return lie


def as_row(decode: Decode, kind: str) -> Decode:
    """The decoder that takes changes of a kind for rows without columns."""
    return on_columns(
        decode,
        op=f"CASE WHEN kind = '{kind}' THEN 'INSERT' ELSE op END",
        after=f"CASE WHEN kind = '{kind}' THEN CAST(map() AS map<string, string>) ELSE after END",
        error=f"CASE WHEN kind <> '{kind}' THEN error END",
        kind=f"CASE WHEN kind = '{kind}' THEN 'ROW' ELSE kind END",
    )


def _framing(encoding: Encoding) -> Iterator[_Trap]:
    def uncompressed(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        return encoding.decode(records, deployment=replace(deployment or Deployment(), compression="none"))

    yield (
        "compression-unknown",
        "framing/compression",
        "Nothing in a message says that it is compressed, and nobody told the reader.",
        uncompressed,
    )
    yield (
        "not-utf-8-dropped",
        "fault/never-lost",
        "A message with a text that is no UTF-8 is left out, whether it can be read or not.",
        on_rows(encoding.decode, f"kind <> 'CORRUPT' AND is_valid_utf8({_TEXTS}) AND NOT contains({_TEXTS}, '\\uFFFD')"),
        "fault/invalid-utf-8*",
    )


def _statement(sql: str, otherwise: str) -> str:
    return f"CASE WHEN kind = 'DDL' THEN {sql} ELSE {otherwise} END"


def _twice(decode: Decode) -> Decode:
    def lie(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        decoded = decode(records, deployment=deployment)
        return decoded.unionByName(decoded.where("kind = 'DDL'").withColumn("row", F.col("row") + 1))

    return lie


def _control(encoding: Encoding) -> Iterator[_Trap]:
    decode = encoding.decode
    by_former = beside(encoding, table=_statement("coalesce(former.table, table)", "table"))
    yield (
        "defaults-are-texts",
        "ddl/bit-default",
        "A BIT column's default is none of the texts that the schema has: the statement is refused.",
        beside(encoding, **refused("exists(own.columns, c -> c.dataType.mysqlType LIKE 'bit%' AND c.default IS NOT NULL)")),
    )
    yield (
        "statement-without-schema-dropped",
        "ddl/without-table-schema",
        "A statement that tells no table's schema changes none, and is left out.",
        on_rows(decode, "kind <> 'DDL' OR types IS NOT NULL"),
    )
    yield (
        "former-schema-required",
        "ddl/without-pre-table-schema",
        "preTableSchema is a required member of a statement: without one it is refused.",
        beside(encoding, **refused("kind = 'DDL' AND former IS NULL")),
    )
    yield (
        "statements-by-their-first-words",
        "ddl/query",
        "Statements are known by their first words, and others are left out: those of views, and what TiCDC calls QUERY.",
        on_rows(decode, r"kind <> 'DDL' OR sql RLIKE '(?i)^(CREATE|ALTER|DROP|RENAME|TRUNCATE) (TABLE|DATABASE|INDEX)\\b'"),
    )
    yield (
        "statements-as-control",
        "ddl/kind",
        "No type says DDL: what is neither a row nor a schema is taken for a mark of the source.",
        on_columns(decode, kind="CASE WHEN kind = 'DDL' THEN 'CONTROL' ELSE kind END"),
    )
    yield (
        "statements-twice",
        "ddl/one-change",
        "A statement is passed on as two changes, of the schema before it and of the one after it.",
        _twice(decode),
    )
    yield (
        "renamed-by-the-old-name",
        "ddl/rename-new-name",
        "A statement is of the table that it changes, preTableSchema's: a RENAME is of the old name.",
        by_former,
    )
    yield (
        "exchange-of-the-other-table",
        "ddl/exchange-partition",
        "A statement is of the table that it changes, preTableSchema's: EXCHANGE PARTITION is of the other one.",
        by_former,
    )
    yield (
        "key-in-the-tables-order",
        "ddl/keys",
        "Columns are asked whether they are of the key, so that it has the order of the table.",
        on_columns(decode, keys=_statement("filter(map_keys(types), c -> array_contains(keys, c))", "keys")),
    )
    yield (
        "types-of-before",
        "ddl/types",
        "The types of a statement are those of the schema which it changes.",
        beside(encoding, types=_statement(f"IF(former IS NULL, types, {_FORMER})", "types")),
    )
    yield (
        "protocol-version",
        "ddl/schema-version",
        "version at the top, which is the protocol's, is taken for the schema's.",
        on_columns(decode, schema_version=_statement("'1'", "schema_version")),
    )
    yield (
        "statement-of-its-encoding",
        "ddl/position",
        "A statement is dated by buildTs, when its message was made.",
        beside(encoding, commit_time=_statement("timestamp_millis(build_ts)", "commit_time")),
    )
    yield (
        "watermark-dropped",
        "watermark/not-dropped",
        "Messages without a table are filtered out, and nothing tells any more what is complete.",
        on_rows(decode, "kind <> 'WATERMARK'"),
    )
    yield (
        "watermark-as-statement",
        "watermark/kind",
        "What is no row is taken for a statement: a WATERMARK becomes one without sql.",
        on_columns(decode, kind="CASE WHEN kind = 'WATERMARK' THEN 'DDL' ELSE kind END"),
    )
    yield (
        "watermark-without-position",
        "watermark/position",
        "A watermark is kept for its time, and its commitTs left out.",
        on_columns(decode, position="CASE WHEN kind <> 'WATERMARK' THEN position END"),
    )
    yield (
        "watermark-of-the-last-table",
        "watermark/no-table",
        "The table is a state of the reader, and a message that names none does not reset it.",
        on_columns(
            decode,
            table="CASE WHEN kind = 'WATERMARK' "
            "THEN last_value(table, true) OVER (PARTITION BY topic, partition ORDER BY offset) ELSE table END",
        ),
    )
    yield (
        "bootstrap-into-the-cache-alone",
        "bootstrap/not-dropped",
        "A BOOTSTRAP is put into the cache of schemas and is no change.",
        on_rows(decode, "kind <> 'BOOTSTRAP'"),
    )
    yield (
        "bootstrap-names-at-the-top",
        "bootstrap/names",
        "A BOOTSTRAP's database and table are looked for where a row has them.",
        on_columns(decode, **{name: f"CASE WHEN kind <> 'BOOTSTRAP' THEN {name} END" for name in ("database", "table")}),
    )
    yield (
        "unique-index-as-key",
        "bootstrap/keys",
        "The first unique index is the key: of a table without a primary one too.",
        beside(
            encoding,
            keys="CASE WHEN kind = 'BOOTSTRAP' THEN try_element_at(filter(own.indexes, i -> i.unique), 1).columns ELSE keys END",
        ),
    )
    yield (
        "unsigned-joined-to-the-type",
        "bootstrap/types",
        "The flag unsigned is joined to mysqlType, as the document's table of types has it.",
        beside(encoding, types=f"CASE WHEN kind = 'BOOTSTRAP' THEN {_UNSIGNED} ELSE types END"),
    )
    yield (
        "bootstrap-without-version",
        "bootstrap/schema-version",
        "schemaVersion is looked for at the top, where a row has it.",
        on_columns(decode, schema_version="CASE WHEN kind <> 'BOOTSTRAP' THEN schema_version END"),
    )


def _of_schemas(encoding: Encoding) -> Iterator[_Trap]:
    decode = encoding.decode
    yield (
        "newest-schema",
        "schema/version",
        "schemaVersion is not looked at: a row has the types of its table's newest schema.",
        on_columns(
            decode,
            types=f"CASE WHEN kind = 'ROW' THEN max_by(types, CAST(schema_version AS decimal(20,0))) OVER ({_OF_TABLE}) "
            "ELSE types END",
        ),
    )
    yield (
        "schema-of-another-version",
        "schema/none",
        "A row whose schema never came is given whichever its table has.",
        on_columns(decode, types=f"coalesce(types, CASE WHEN kind = 'ROW' THEN max_by(types, offset) OVER ({_OF_TABLE}) END)"),
    )
    yield (
        "schema-must-come-first",
        "schema/late",
        "The cache is looked up once: a row that comes before its BOOTSTRAP never has types.",
        on_columns(
            decode,
            types="CASE WHEN kind = 'ROW' AND offset < "
            f"min(CASE WHEN kind <> 'ROW' THEN offset END) OVER ({_OF_SCHEMA}) THEN NULL ELSE types END",
        ),
    )
    yield (
        "row-before-its-schema-dropped",
        "change/one-each",
        "A row that waits for its schema is forgotten when the batch ends.",
        on_rows(decode, "kind <> 'ROW' OR types IS NOT NULL"),
    )
    yield (
        "rename-not-cached",
        "schema/rename",
        "A RENAME changes no column, so that its schema is not put into the cache: rows of the new name have no types.",
        on_columns(
            decode,
            types="CASE WHEN kind = 'ROW' AND count_if(kind <> 'ROW' AND NOT coalesce(sql, '') LIKE '%RENAME%') "
            f"OVER ({_OF_SCHEMA}) = 0 THEN NULL ELSE types END",
        ),
        "schema/rename*",
    )
    yield (
        "schema-by-table-id",
        "schema/partitioned",
        "The cache is keyed by tableID: a partition's rows, which have an id of their own, find no schema.",
        beside(
            encoding,
            types="CASE WHEN kind <> 'ROW' OR array_contains(collect_set(own.tableID) OVER (PARTITION BY database), table_id) "
            "THEN types END",
        ),
    )
    yield (
        "types-of-the-cells",
        "schema/virtual-column",
        "A row has the types of the cells that it has, and a virtual column's is left out.",
        on_columns(
            decode,
            types="IF(kind = 'ROW', map_filter(types, (k, v) -> map_contains_key(coalesce(after, before), k)), types)",
        ),
    )
    yield (
        "types-in-capitals",
        "schema/types",
        "Types are named in capitals, as JDBC's metadata names them.",
        on_columns(decode, types="IF(kind = 'ROW', transform_values(types, (k, v) -> upper(v)), types)"),
        "schema/every-type",
    )
    yield (
        "version-through-double",
        "schema/schema-version",
        "schemaVersion, a number beyond 2^53, is kept as a double.",
        on_columns(
            decode,
            schema_version=f"IF(kind = 'ROW', {_DOUBLE.format('schema_version')}, schema_version)",
        ),
        _PLAIN,
    )
    yield (
        "keys-of-all-columns",
        "envelope/keys",
        "All columns of a row are taken for its key, because its message has none.",
        on_columns(decode, keys="CASE WHEN kind = 'ROW' THEN map_keys(coalesce(after, before)) ELSE keys END"),
    )


def _of_rows(encoding: Encoding) -> Iterator[_Trap]:
    decode = encoding.decode
    yield (
        "claim-check-as-nulls",
        "reduced/claim-check",
        "Until the claim check is redeemed, NULL stands in for every cell of its row.",
        beside(
            encoding,
            **{
                side: f"IF(claim_check IS NULL, {side}, transform_values({side}, (k, v) -> CAST(NULL AS string)))"
                for side in IMAGES
            },
        ),
    )
    yield (
        "reduced-skipped",
        "reduced/readable",
        "A message that is not the whole row is skipped with a line in the log.",
        _without(encoding, "reduced"),
    )
    yield (
        "absent-as-null",
        "reduced/handle-key-only",
        "The table's columns are laid over data: what a reduced message leaves out becomes NULL.",
        on_columns(decode, after=_LAID_OVER_TYPES.format(side="after")),
    )
    yield (
        "virtual-as-null",
        "image/virtual-column",
        "The table's columns are laid over old: a virtual column, which no message has, becomes NULL.",
        on_columns(decode, before=_LAID_OVER_TYPES.format(side="before")),
    )
    yield (
        "delete-forgotten-beside-its-insert",
        "op/key-update",
        "Of the changes of one transaction to a table the inserted rows win: the key that an UPDATE leaves stays.",
        _without(encoding, "op = 'DELETE' AND count_if(op = 'INSERT') OVER (PARTITION BY database, table, position) > 0"),
    )
    yield (
        "delete-from-data",
        "op/delete-row-in-old",
        "A DELETE's row is looked for in data, where Canal-JSON has it.",
        on_columns(decode, before="CASE WHEN op = 'DELETE' THEN NULL ELSE before END"),
    )
    yield (
        "unverified-refused",
        "checksum/ignored",
        "A row with a checksum, which the reader cannot verify, is refused.",
        beside(encoding, **refused("checksum")),
    )
    yield (
        "unchanged-not-kept",
        "old/complete",
        "What is equal in both images is taken out of the old one, as Canal would have it.",
        on_columns(
            decode,
            before="IF(op <> 'UPDATE', before, map_filter(before, (k, v) -> NOT v <=> try_element_at(after, k)))",
        ),
        "shape/update-one-column",
    )
    yield (
        "position-through-double",
        "envelope/position",
        "commitTs, a number beyond 2^53, is kept as a double.",
        on_columns(decode, position=_DOUBLE.format("position")),
        _PLAIN,
    )
    yield (
        "row-of-its-encoding",
        "envelope/commit-time",
        "buildTs, when the message was made, is taken for the time of the commit.",
        beside(encoding, commit_time="IF(kind = 'ROW', timestamp_millis(build_ts), commit_time)"),
        _PLAIN,
    )
    yield (
        "row-without-schema-as-control",
        "change/kind",
        "A row whose schema has not come is no row yet, and passed on as a mark.",
        on_columns(decode, kind="IF(kind = 'ROW' AND types IS NULL, 'CONTROL', kind)"),
        "schema/none",
    )
    yield (
        "old-required",
        "change/corrupt",
        "old is a required member of the reader's schema: an INSERT, which has none, is refused.",
        on_columns(decode, **refused("op = 'INSERT'")),
        _PLAIN,
    )
