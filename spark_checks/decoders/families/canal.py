"""The Canal flat message: what its dialects share when read with native Spark expressions.

They are TiCDC's, Alibaba Canal's, and both of CloudCanal's, one of which has its own names for the same members.

A message is parsed once, inside `{"S":[VALUE,{"S":1}]}`: a truncated value breaks the wrapping, a second document or trailing
text adds an element or breaks it, white space (the CRLF of TiCDC v6.5) does neither. S is a name that no value can know: one
that closed the array itself, `{...},{}]}` or `{...}],"S":[{...}`, would pass for whole, since from_json takes the last of equal
names and reads nothing behind the object. Spark's corrupt-record column shows containers of the wrong type, which from_json
would otherwise turn into NULLs.

No filter uses from_json's result, and the generators are outer ones: Spark would push such filters, its own inferred
ones too, below the projection and parse every message twice.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import cramjam
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from generators.model import Column as ColumnOf
from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders.families.mysql import misfit, typed
from spark_checks.decoders.families.sql import given, let, literal, name

OPTIONS: Final = {
    "columnNameOfCorruptRecord": "corrupt",
    "allowUnquotedControlChars": "true",
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
    "maxStringLen": str((1 << 31) - 1),
}
"""Canal 1.1.6 writes raw control characters (canal#raw-controls); a LONGTEXT may pass Jackson's 20 MB limit."""

ROW_TYPES: Final = ("INSERT", "UPDATE", "DELETE")
DDL_TYPES: Final = ("CREATE", "ALTER", "ERASE", "TRUNCATE", "RENAME", "CINDEX", "DINDEX", "QUERY")
COORDINATES: Final = ("topic", "partition", "offset")
DECOMPRESSED_LIMIT: Final = 256 << 20

UNREADABLE: Final = "not one well-formed message of this format"
MISFIT: Final = "a cell does not fit its column's type"

_ANY_OBJECT: Final = StructType([])
_TEXTS: Final = MapType(StringType(), StringType())
_LAST_MILLISECOND: Final = 253_402_300_799_999


@dataclass(frozen=True, slots=True)
class Names:
    """A dialect's names of the common members. `schema` is "" where there is none."""

    id: str = "id"
    database: str = "database"
    schema: str = ""
    table: str = "table"
    keys: str = "pkNames"
    op: str = "type"
    committed: str = "es"
    sent: str = "ts"
    codes: str = "sqlType"
    types: str = "mysqlType"
    data: str = "data"
    old: str = "old"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the formats differ. `kind` is the kind of a whole message, given `m`; `position` its ordering value as text;
    `extra` are fields of the envelope beside the common ones; `binary_codes`: sqlType tells how a binary is written;
    `deletes_in_old`: a deleted row may stand in `old` while `data` holds none; `typed` gives the SQL of a cell's value from the
    SQL of its text where the deployment has it differ from `_mysql.typed`, else None."""

    kind: Callable[[Column], Column]
    position: Callable[[Column], Column]
    extra: tuple[StructField, ...]
    names: Names = Names()
    binary_codes: bool = False
    deletes_in_old: bool = False
    typed: Callable[[str, SourceType, Deployment], str | None] = lambda _text, _kind, _deployment: None


def decode(records: DataFrame, dialect: Dialect, deployment: Deployment | None = None) -> DataFrame:
    """Level one."""
    names = dialect.names

    def changes(m: Column, kind: Column) -> Column:
        data = m[names.data]
        if dialect.deletes_in_old:
            data = F.when(_deleted_in_old(m, names), m[names.old]).otherwise(data)
        op, told = F.when(kind == "ROW", m[names.op]), F.when(kind != "CORRUPT", m)
        committed = told[names.committed]

        def change(image: Column, row: Column) -> Column:
            return F.struct(
                row.alias("row"),
                kind.alias("kind"),
                op.alias("op"),
                told[names.database].alias("database"),
                (told[names.schema] if names.schema else F.lit(None).cast("string")).alias("schema"),
                told[names.table].alias("table"),
                told[names.keys].alias("keys"),
                F.when(kind != "CORRUPT", dialect.position(m)).alias("position"),
                F.when(committed.between(0, _LAST_MILLISECOND), F.timestamp_millis(committed)).alias("commit_time"),
                F.when(op == "DELETE", image).when(op == "UPDATE", _old(m, names, row)).alias("before"),
                F.when(op.isin("INSERT", "UPDATE"), image).alias("after"),
                told[names.types].alias("types"),
                F.lit(None).cast("string").alias("schema_version"),
                F.when(kind.isin("DDL", "CONTROL", "TRANSACTION") & (m["sql"] != ""), m["sql"]).alias("sql"),
                F.when(kind == "CORRUPT", UNREADABLE).alias("error"),
            )

        return F.transform(F.when(kind == "ROW", data).otherwise(F.array(F.lit(None).cast(_TEXTS))), change)

    records = decompressed(records, deployment.compression if deployment else "none")
    return records.select(*COORDINATES, F.inline_outer(_message(dialect, changes, _TEXTS, types=_TEXTS)))


def decode_rows(records: DataFrame, table: Table, dialect: Dialect, deployment: Deployment | None = None) -> DataFrame:
    """Level two: typed rows of `table`, and CORRUPT rows."""
    deployment = deployment or Deployment()
    images = StructType([StructField(c.name, StringType()) for c in table.columns])
    binaries = [c.name for c in table.columns if c.type.logical is Logical.BINARY] if dialect.binary_codes else []
    codes = StructType([StructField(column, IntegerType()) for column in binaries])
    sql = _RowSql(table, deployment, frozenset(binaries), dialect)
    names = dialect.names

    def told(m: Column, kind: Column) -> Column:
        mine = (kind == "ROW") & (m[names.database] == table.database) & (m[names.table] == table.name)
        data, paired = m[names.data], F.size(m[names.old]) == F.size(m[names.data])
        if dialect.deletes_in_old:
            data = F.when(_deleted_in_old(m, names), _structs(m[names.old], table)).otherwise(data)
        return F.struct(
            F.when(kind == "CORRUPT", "CORRUPT").when(mine, m[names.op]).alias("op"),
            F.when(mine, data).alias("data"),
            F.when(mine & (m[names.op] == "UPDATE") & paired, m[names.old]).alias("old"),
            *([m[names.codes].alias("codes")] if binaries else []),
        )

    records = decompressed(records, deployment.compression)
    found = records.select(*COORDINATES, _message(dialect, told, images, codes=codes).alias("told"))
    return found.select(*COORDINATES, F.inline_outer(F.expr(sql.result))).where(F.col("kind").isNotNull())


def _structs(maps: Column, table: Table) -> Column:
    """Rows in the message's `old` as `data` has them: structs in the place of maps."""

    def struct(row: Column) -> Column:
        return F.struct(*(F.try_element_at(row, F.lit(c.name)).alias(c.name) for c in table.columns))

    return F.transform(maps, lambda row: F.when(row.isNotNull(), struct(row)))


@dataclass(frozen=True, slots=True)
class _RowSql:
    """SQL over `told`, what level two takes of a message: `op` (CORRUPT for what cannot be read, NULL for what is not the
    table's), `data` (structs of texts), `old` (maps, or NULL) and `codes` (sqlType).

    It uses only lambdas: they are interpreted, while generated code for a wide table exceeds the size up to which the JVM
    compiles a method, and is then slower by an order of magnitude.
    """

    table: Table
    deployment: Deployment
    coded: frozenset[str]
    dialect: Dialect

    @property
    def result(self) -> str:
        """The rows, NULL without one. One cell that does not fit makes one CORRUPT row of the message."""
        # NULL, which a comparison with a NULL cell gives, is no misfit.
        unfit = " OR ".join(f"coalesce(array_contains({side}.unfit, true), false)" for side in ("now", "was"))
        members = {
            "row": "r",
            "kind": "CASE WHEN fits THEN 'ROW' ELSE 'CORRUPT' END",
            "op": "CASE WHEN fits THEN told.op END",
            "before": "CASE WHEN told.op = 'DELETE' THEN i.value WHEN fits THEN get(was, r).value END",
            "after": "CASE WHEN told.op <> 'DELETE' THEN i.value END",
            "error": f"CASE WHEN told.op = 'CORRUPT' THEN {literal(UNREADABLE)} WHEN NOT fits THEN {literal(MISFIT)} END",
        }
        row = f"struct({', '.join(f'{value} AS {member}' for member, value in members.items())})"
        # A place that no array has gives a NULL of the images' type.
        rows = f"transform(CASE WHEN fits THEN now ELSE array(get(now, -1)) END, (i, r) -> {row})"
        rows = let(f"told.op <> 'CORRUPT' AND NOT ({unfit})", "fits", rows)
        return f"CASE WHEN told.op IS NOT NULL THEN {let(self._now, 'now', let(self._was, 'was', rows))} END"

    @property
    def _now(self) -> str:
        """`data`, typed: structs `value` and `unfit`."""
        return self._judged("told.data")

    @property
    def _was(self) -> str:
        """The before images of an UPDATE, typed: `old`, and from `data` what it does not name."""
        cells = ", ".join(self._overlaid(i, c) for i, c in enumerate(self.table.columns))
        return self._judged(f"transform(told.old, (o, r) -> CASE WHEN o IS NOT NULL THEN struct({cells}) END)")

    def _judged(self, texts: str) -> str:
        values = ", ".join(f"{self._typed(c)} AS {name(c.name)}" for c in self.table.columns)
        tests = (misfit(f"i.t.{name(c.name)}", f"i.value.{name(c.name)}", c.type) for c in self.table.columns)
        unfit = " OR ".join(filter(None, tests)) or "false"
        pairs = f"transform({texts}, t -> struct(t, CASE WHEN t IS NOT NULL THEN struct({values}) END AS value))"
        return f"transform({pairs}, i -> struct(i.value AS value, i.t IS NOT NULL AND ({unfit}) AS unfit))"

    def _overlaid(self, i: int, c: ColumnOf) -> str:
        """The old text, else NULL if `old` names the column, else the text of `data`. A complete `old` has the columns in the
        table's order, so that none has to be searched for."""
        column, key = name(c.name), literal(c.name)
        searched = f"coalesce(o[{key}], CASE WHEN NOT map_contains_key(o, {key}) THEN get(told.data, r).{column} END)"
        return f"CASE WHEN get(map_keys(o), {i}) = {key} THEN get(map_values(o), {i}) ELSE {searched} END AS {column}"

    def _typed(self, c: ColumnOf) -> str:
        text, code = f"t.{name(c.name)}", f"told.codes.{name(c.name)}" if c.name in self.coded else None
        return self.dialect.typed(text, c.type, self.deployment) or typed(text, c.type, self.deployment.time_zone, code)


def decompressed(records: DataFrame, compression: str) -> DataFrame:
    """Records with their values decompressed: snappy blocks or LZ4 frames, NULL for other bytes.

    Spark SQL has no function for it, hence Arrow batches. Raises ValueError for another `compression`.
    """
    if compression == "none":
        return records
    undo = _DECOMPRESS.get(compression)
    if undo is None:
        raise ValueError(f"compression {compression!r}: none, {', '.join(_DECOMPRESS)}")

    def batches(source: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in source:
            at = batch.schema.get_field_index("value")
            values = pa.array([_undone(undo, value.as_py()) for value in batch.column(at)], batch.schema.field(at).type)
            yield batch.set_column(at, batch.schema.field(at).with_nullable(True), values)

    return records.mapInArrow(batches, records.schema)


def _undone(undo: Callable[[bytes], bytes], value: bytes | None) -> bytes | None:
    try:
        return None if value is None else undo(value)
    except (cramjam.DecompressionError, ValueError, OverflowError, MemoryError):
        return None


def _snappy(value: bytes) -> bytes:
    if cramjam.snappy.decompress_raw_len(value) > DECOMPRESSED_LIMIT:
        raise ValueError("the block announces more than the limit")
    return bytes(cramjam.snappy.decompress_raw(value))


def _lz4(value: bytes) -> bytes:
    return bytes(cramjam.lz4.decompress(value))


_DECOMPRESS: Final[dict[str, Callable[[bytes], bytes]]] = {"snappy": _snappy, "lz4": _lz4}


_MARK: Final = f"m{secrets.token_hex(8)}"
"""The name S of the wrapping, of this process alone."""


def read(text: Column, envelope: StructType) -> Column:
    """A message's text parsed inside the wrapping; `message` and `whole` take it."""
    element = StructType([*envelope, StructField(_MARK, IntegerType())])
    schema = StructType([StructField(_MARK, ArrayType(element)), StructField("corrupt", StringType())])
    wrapped = F.concat(F.lit(f'{{"{_MARK}":['), text, F.lit(f',{{"{_MARK}":1}}]}}'))
    return F.from_json(wrapped, schema, OPTIONS)


def message(parsed: Column) -> Column:
    """The message in what `read` gives: a struct, NULL where there is none."""
    return F.get(parsed[_MARK], F.lit(0))


def whole(parsed: Column) -> Column:
    """Whether it is one JSON object, and its declared members have their kinds of JSON value; never NULL."""
    elements = parsed[_MARK]
    last = F.get(elements, F.lit(1))[_MARK]
    is_one = parsed["corrupt"].isNull() & (F.size(elements) == 2) & (last == 1) & F.get(elements, F.lit(0)).isNotNull()
    return F.coalesce(is_one, F.lit(False))


def _message(
    dialect: Dialect,
    told: Callable[[Column, Column], Column],
    image: DataType,
    *,
    types: DataType = _ANY_OBJECT,
    codes: StructType = _ANY_OBJECT,
) -> Column:
    """What `told` makes of a record's message, NULL when it is not one JSON object, and of the kind of the whole message.

    `image`, `types` and `codes` are the types of what it has of them."""
    names = dialect.names
    envelope = StructType(
        [
            StructField(names.id, LongType()),
            StructField(names.database, StringType()),
            *([StructField(names.schema, StringType())] if names.schema else []),
            StructField(names.table, StringType()),
            StructField(names.keys, ArrayType(StringType())),
            StructField("isDdl", BooleanType()),
            StructField(names.op, StringType()),
            StructField(names.committed, LongType()),
            StructField(names.sent, LongType()),
            StructField("sql", StringType()),
            StructField(names.codes, codes),
            StructField(names.types, types),
            StructField(names.data, ArrayType(image)),
            StructField(names.old, ArrayType(_TEXTS)),
            *dialect.extra,
        ]
    )

    def judged(j: Column, m: Column) -> Column:
        kind = F.when(whole(j), F.coalesce(dialect.kind(m), F.lit("CORRUPT"))).otherwise("CORRUPT")
        return given(kind, lambda kind: told(m, kind))

    return given(read(F.col("value").cast("string"), envelope), lambda j: given(message(j), lambda m: judged(j, m)))


def has_rows(rows: Column) -> Column:
    """Whether the array holds rows and nothing else."""
    first = F.get(rows, F.lit(0)).isNotNull()
    return first & ((F.size(rows) == 1) | F.forall(rows, lambda row: row.isNotNull()))


def _deleted_in_old(m: Column, names: Names) -> Column:
    return (m[names.op] == "DELETE") & F.get(m[names.data], F.lit(0)).isNull()


def _old(m: Column, names: Names, row: Column) -> Column:
    """The row's own element of `old`; up to Canal 1.1.6 `old` may be shorter than `data`, and then its rows are
    unknown (canal#old-left-out)."""
    return F.when(F.size(m[names.old]) == F.size(m[names.data]), F.get(m[names.old], row))
