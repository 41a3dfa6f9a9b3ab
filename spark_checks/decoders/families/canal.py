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
    parsed = _messages(records, dialect, deployment, _TEXTS, _TEXTS, types=_TEXTS)
    name, m, kind = dialect.names, F.col("m"), F.col("kind")
    data = m[name.data]
    if dialect.deletes_in_old:
        data = F.when(_deleted_in_old(m, name), m[name.old]).otherwise(data)
    none = F.array(F.lit(None).cast(_TEXTS))
    out = parsed.select(
        *COORDINATES, "kind", "m", F.posexplode_outer(F.when(kind == "ROW", data).otherwise(none)).alias("row", "image")
    )
    op = F.when(kind == "ROW", m[name.op])
    told = F.when(kind != "CORRUPT", m)
    return out.select(
        *COORDINATES,
        "row",
        "kind",
        op.alias("op"),
        told[name.database].alias("database"),
        (told[name.schema] if name.schema else F.lit(None).cast("string")).alias("schema"),
        told[name.table].alias("table"),
        told[name.keys].alias("keys"),
        F.when(kind != "CORRUPT", dialect.position(m)).alias("position"),
        F.when(told[name.committed].between(0, _LAST_MILLISECOND), F.timestamp_millis(told[name.committed])).alias("commit_time"),
        F.when(op == "DELETE", F.col("image")).when(op == "UPDATE", _old(m, name, F.col("row"))).alias("before"),
        F.when(op.isin("INSERT", "UPDATE"), F.col("image")).alias("after"),
        told[name.types].alias("types"),
        F.lit(None).cast("string").alias("schema_version"),
        F.when(kind.isin("DDL", "CONTROL", "TRANSACTION") & (m["sql"] != ""), m["sql"]).alias("sql"),
        _error(kind).alias("error"),
    )


def decode_rows(records: DataFrame, table: Table, dialect: Dialect, deployment: Deployment | None = None) -> DataFrame:
    """Level two: typed rows of `table`, and CORRUPT rows."""
    deployment = deployment or Deployment()
    images = StructType([StructField(c.name, StringType()) for c in table.columns])
    binaries = [c.name for c in table.columns if c.type.logical is Logical.BINARY] if dialect.binary_codes else []
    codes = StructType([StructField(name, IntegerType()) for name in binaries])
    sql = _RowSql(table, deployment, frozenset(binaries), dialect)
    m, kind, op, n, name = F.col("m"), F.col("kind"), F.col("op"), F.col("n"), dialect.names
    mine = (kind == "ROW") & (m[name.database] == table.database) & (m[name.table] == table.name)
    data, paired = m[name.data], F.size(m[name.old]) == F.size(m[name.data])
    if dialect.deletes_in_old:
        data = F.when(_deleted_in_old(m, name), F.expr(sql.deleted)).otherwise(data)
    typed_rows = (
        _messages(records, dialect, deployment, images, _TEXTS, codes=codes)
        .select(
            *COORDINATES,
            F.when(kind == "CORRUPT", "CORRUPT").when(mine, m[name.op]).alias("op"),
            F.when(mine, data).alias("data"),
            F.when(mine & (m[name.op] == "UPDATE") & paired, m[name.old]).alias("old"),
            *([m[name.codes].alias("codes")] if binaries else []),
        )
        .select(*COORDINATES, "op", F.size("data").alias("n"), F.expr(sql.now).alias("now"), F.expr(sql.was).alias("was"))
    )
    now, was = F.col("now"), F.col("was")
    # NULL, which a comparison with a NULL cell gives, is no misfit.
    unfit = [F.coalesce(F.array_contains(side["unfit"], True), F.lit(False)) for side in (now, was)]
    broken = (op == "CORRUPT") | unfit[0] | unfit[1]

    def at(number: Column, fits: bool) -> Column:
        return F.struct(number.alias("row"), F.lit(fits).alias("read"))

    # Out of the generator: Spark would push a filter on it down to where the cells are made, and make them once for each name.
    numbered = F.transform(F.sequence(F.lit(0), n - 1), lambda number: at(number, True))
    each = F.when(broken, F.array(at(F.lit(0), False))).when(op.isNotNull(), numbered)
    row, read = F.col("at.row"), F.col("at.read")
    image = F.get(now, row)["value"]
    return (
        typed_rows.select(*COORDINATES, "op", "now", "was", F.explode_outer(each).alias("at"))
        .where(F.col("at").isNotNull())
        .select(
            *COORDINATES,
            row,
            F.when(read, "ROW").otherwise("CORRUPT").alias("kind"),
            F.when(read, op).alias("op"),
            F.when(read & (op == "DELETE"), image).when(read, F.get(was, row)["value"]).alias("before"),
            F.when(read & (op != "DELETE"), image).alias("after"),
            F.when(op == "CORRUPT", UNREADABLE).when(~read, MISFIT).alias("error"),
        )
    )


@dataclass(frozen=True, slots=True)
class _RowSql:
    """SQL over `data` (structs of texts), `old` (maps, or NULL) and `codes` (sqlType): arrays of structs `value` and `unfit`.

    It uses only lambdas: they are interpreted, while generated code for a wide table exceeds the size up to which the JVM
    compiles a method, and is then slower by an order of magnitude.
    """

    table: Table
    deployment: Deployment
    coded: frozenset[str]
    dialect: Dialect

    @property
    def now(self) -> str:
        """`data`, typed."""
        return self._judged("data")

    @property
    def was(self) -> str:
        """The before images of an UPDATE, typed: `old`, and from `data` what it does not name."""
        cells = ", ".join(self._overlaid(i, c) for i, c in enumerate(self.table.columns))
        return self._judged(f"transform(old, (o, r) -> CASE WHEN o IS NOT NULL THEN struct({cells}) END)")

    @property
    def deleted(self) -> str:
        """The message's `old` as `data`: structs in the place of maps."""
        cells = ", ".join(f"o[{literal(c.name)}] AS {_name(c.name)}" for c in self.table.columns)
        return f"transform(m.{_name(self.dialect.names.old)}, o -> CASE WHEN o IS NOT NULL THEN struct({cells}) END)"

    def _judged(self, texts: str) -> str:
        values = ", ".join(f"{self._typed(c)} AS {_name(c.name)}" for c in self.table.columns)
        tests = (misfit(f"i.t.{_name(c.name)}", f"i.value.{_name(c.name)}", c.type) for c in self.table.columns)
        unfit = " OR ".join(filter(None, tests)) or "false"
        pairs = f"transform({texts}, t -> struct(t, CASE WHEN t IS NOT NULL THEN struct({values}) END AS value))"
        return f"transform({pairs}, i -> struct(i.value AS value, i.t IS NOT NULL AND ({unfit}) AS unfit))"

    def _overlaid(self, i: int, c: ColumnOf) -> str:
        """The old text, else NULL if `old` names the column, else the text of `data`. A complete `old` has the columns in the
        table's order, so that none has to be searched for."""
        name, key = _name(c.name), literal(c.name)
        searched = f"coalesce(o[{key}], CASE WHEN NOT map_contains_key(o, {key}) THEN data[r].{name} END)"
        return f"CASE WHEN get(map_keys(o), {i}) = {key} THEN get(map_values(o), {i}) ELSE {searched} END AS {name}"

    def _typed(self, c: ColumnOf) -> str:
        text, code = f"t.{_name(c.name)}", f"codes.{_name(c.name)}" if c.name in self.coded else None
        return self.dialect.typed(text, c.type, self.deployment) or typed(text, c.type, self.deployment.time_zone, code)


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A literal that no setting reads differently."""
    return f"CAST(X'{text.encode().hex()}' AS string)"


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


def _messages(
    records: DataFrame,
    dialect: Dialect,
    deployment: Deployment | None,
    image: DataType,
    old: DataType,
    *,
    types: DataType = _ANY_OBJECT,
    codes: StructType = _ANY_OBJECT,
) -> DataFrame:
    """Coordinates, `m` (the message, NULL when it is not one JSON object) and `kind` (of the whole message)."""
    name = dialect.names
    envelope = StructType(
        [
            StructField(name.id, LongType()),
            StructField(name.database, StringType()),
            *([StructField(name.schema, StringType())] if name.schema else []),
            StructField(name.table, StringType()),
            StructField(name.keys, ArrayType(StringType())),
            StructField("isDdl", BooleanType()),
            StructField(name.op, StringType()),
            StructField(name.committed, LongType()),
            StructField(name.sent, LongType()),
            StructField("sql", StringType()),
            StructField(name.codes, codes),
            StructField(name.types, types),
            StructField(name.data, ArrayType(image)),
            StructField(name.old, ArrayType(old)),
            *dialect.extra,
        ]
    )
    records = decompressed(records, deployment.compression if deployment else "none")
    parsed = records.select(*COORDINATES, read(F.col("value").cast("string"), envelope).alias("j"))
    m, j = F.col("m"), F.col("j")
    return parsed.select(*COORDINATES, "j", message(j).alias("m")).select(
        *COORDINATES, "m", F.when(whole(j), F.coalesce(dialect.kind(m), F.lit("CORRUPT"))).otherwise("CORRUPT").alias("kind")
    )


def has_rows(rows: Column) -> Column:
    """Whether the array holds rows and nothing else."""
    first = F.get(rows, F.lit(0)).isNotNull()
    return first & ((F.size(rows) == 1) | F.forall(rows, lambda row: row.isNotNull()))


def _deleted_in_old(m: Column, name: Names) -> Column:
    return (m[name.op] == "DELETE") & F.get(m[name.data], F.lit(0)).isNull()


def _old(m: Column, name: Names, row: Column) -> Column:
    """The row's own element of `old`; up to Canal 1.1.6 `old` may be shorter than `data`, and then its rows are
    unknown (canal#old-left-out)."""
    return F.when(F.size(m[name.old]) == F.size(m[name.data]), F.get(m[name.old], row))


def _error(kind: Column) -> Column:
    return F.when(kind == "CORRUPT", UNREADABLE)
