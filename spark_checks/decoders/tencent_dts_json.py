"""Tencent DTS's FlatRecord in JSON as native Spark expressions.

One message is one row change, a DDL statement, BEGIN or COMMIT, a heartbeat or a checkpoint. `oldColumns` and `newColumns` are
lists of texts that belong to `columns` by position; a list that is too short ends in NULLs. A member that does not apply is null
or absent. A `messageType` that the page does not list, as sibling formats have some, becomes CONTROL. So does a checkpoint: it
says how far DTS has read, not that everything before was sent.

The decoder accepts each likely form of what the page leaves open: numbers as JSON numbers or strings, hex digits in either case,
TIMESTAMP as text in the deployment's zone or as epoch milliseconds, ENUM and SET as labels or as numbers. `position` is
`position`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from generators.model import Column as ColumnOf
from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families.canal import COORDINATES, ROW_TYPES, decompressed
from spark_checks.decoders.families.mysql import typed
from spark_checks.decoders.families.sql import given, literal, name

_TEXTS: Final = ArrayType(StringType())
_COLUMN: Final = StructType(
    [StructField("name", StringType()), StructField("isKey", StringType()), StructField("originalType", StringType())]
)
_ENVELOPE: Final = StructType(
    [
        StructField("messageType", StringType()),
        StructField("position", StringType()),
        StructField("timestamp", StringType()),
        StructField("schemaName", StringType()),
        StructField("tableName", StringType()),
        StructField("columns", ArrayType(_COLUMN)),
        StructField("oldColumns", _TEXTS),
        StructField("newColumns", _TEXTS),
        StructField("sql", StringType()),
        StructField("pkNames", _TEXTS),
    ]
)
_TRANSACTIONS: Final = ("BEGIN", "COMMIT", "ROLLBACK")
_WORD: Final = "^[A-Z][A-Z_]*$"
_LAST_SECOND: Final = 253_402_300_799


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Changes of FlatRecords."""

    def change(m: Column, kind: Column) -> Column:
        told, row = F.when(kind != "CORRUPT", m), F.when(kind == "ROW", m)
        op, names = row["messageType"], row["columns"]["name"]
        own_keys = F.filter(row["columns"], lambda c: F.lower(c["isKey"]) == "true")["name"]
        committed = told["timestamp"].try_cast("bigint")
        return F.struct(
            F.lit(0).alias("row"),
            kind.alias("kind"),
            op.alias("op"),
            told["schemaName"].alias("database"),
            F.lit(None).cast("string").alias("schema"),
            told["tableName"].alias("table"),
            F.coalesce(told["pkNames"], own_keys).alias("keys"),
            told["position"].alias("position"),
            F.when(committed.between(0, _LAST_SECOND), F.timestamp_seconds(committed)).alias("commit_time"),
            F.map_from_arrays(names, _padded(_framing.before(op, m["oldColumns"]), names)).alias("before"),
            F.map_from_arrays(names, _padded(_framing.after(op, m["newColumns"]), names)).alias("after"),
            F.map_from_arrays(names, row["columns"]["originalType"]).alias("types"),
            F.lit(None).cast("string").alias("schema_version"),
            F.when(kind.isin("DDL", "CONTROL") & (m["sql"] != ""), m["sql"]).alias("sql"),
            _framing.error(kind).alias("error"),
        )

    records = decompressed(records, deployment.compression if deployment else "none")
    return records.select(*COORDINATES, F.inline_outer(F.array(_message(change))))


def decode_rows(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
    """Typed row changes of `table`."""
    deployment = deployment or Deployment()
    cells = ", ".join(f"{_placed(i, c)} AS {name(c.name)}" for i, c in enumerate(table.columns))
    placed = f"transform(told.images, v -> CASE WHEN v IS NOT NULL THEN struct({cells}) END)"

    def told(m: Column, kind: Column) -> Column:
        mine = (kind == "ROW") & (m["schemaName"] == table.database) & (m["tableName"] == table.name)

        def row(op: Column) -> Column:
            images = F.array(_framing.before(op, m["oldColumns"]), _framing.after(op, m["newColumns"]))
            return F.struct(op.alias("op"), m["columns"]["name"].alias("names"), images.alias("images"))

        return given(F.when(kind == "CORRUPT", kind).when(mine, m["messageType"]), row)

    typed_images = _framing.images(table, _text, lambda c, image: _value(c, image, deployment), placed)
    return _framing.rows(decompressed(records, deployment.compression), _message(told), typed_images)


def _message(told: Callable[[Column, Column], Column]) -> Column:
    """What `told` makes of a message and of its kind."""

    def judged(m: Column, whole: Column) -> Column:
        kind = F.when(whole, F.coalesce(_kind(m), F.lit("CORRUPT"))).otherwise("CORRUPT")
        return given(kind, lambda kind: told(m, kind))

    return _framing.message_of(_ENVELOPE, judged)


def _kind(m: Column) -> Column:
    """`messageType` decides; a row change must have its columns and its row."""
    of = m["messageType"]
    needed = F.when(of == "DELETE", m["oldColumns"]).otherwise(m["newColumns"])
    return (
        F.when(of.isin(*ROW_TYPES), F.when(needed.isNotNull() & _fits(m), "ROW"))
        .when(of == "DDL", F.when(m["sql"].isNotNull(), "DDL"))
        .when(of.isin(*_TRANSACTIONS), "TRANSACTION")
        .when(of == "HEARTBEAT", "HEARTBEAT")
        .when(of.rlike(_WORD), "CONTROL")
    )


def _fits(m: Column) -> Column:
    """Whether column names are unique and every value has a column."""
    names = m["columns"]["name"]
    unique = (F.size(F.array_distinct(names)) == F.size(names)) & ~F.exists(names, lambda n: n.isNull())
    longest = F.greatest(F.size(m["oldColumns"]), F.size(m["newColumns"]))
    return m["schemaName"].isNotNull() & m["tableName"].isNotNull() & unique & (longest <= F.size(names))


def _padded(values: Column, names: Column) -> Column:
    """As many values as there are names: NULLs behind a list that is too short (tencent#pairing)."""
    nulls = F.array_repeat(F.lit(None).cast("string"), F.size(names) - F.size(values))
    return F.when(F.size(values) == F.size(names), values).when(values.isNotNull(), F.concat(values, nulls))


def _placed(i: int, c: ColumnOf) -> str:
    """A column's value of a list `v`, by its place in the table; only if another column stands there is it searched for."""
    key = literal(c.name)
    at = f"CAST(array_position(told.names, {key}) AS int) - 1"
    return f"CASE WHEN get(told.names, {i}) = {key} THEN get(v, {i}) ELSE get(v, {at}) END"


def _text(c: ColumnOf, image: str) -> str:
    """MySQL has no TIMESTAMP at the epoch: as milliseconds that is its zero date."""
    cell = f"{image}.{name(c.name)}"
    return f"nullif({cell}, '0')" if c.type.logical is Logical.TIMESTAMP else cell


def _value(c: ColumnOf, image: str, deployment: Deployment) -> str:
    cell = f"{image}.{name(c.name)}"
    match c.type.logical:
        case Logical.BINARY:
            digits = f"left({cell}, 2) IN ('0x', '0X') AND length({cell}) % 2 = 0"
            return f"CASE WHEN {digits} THEN try_to_binary(substring({cell}, 3), 'hex') WHEN {cell} = '' THEN X'' END"
        case Logical.TIMESTAMP:
            millis = f"try_cast(CASE WHEN substring({cell}, 5, 1) <> '-' THEN {cell} END AS bigint)"
            instant = f"CASE WHEN {millis} BETWEEN 1 AND {_LAST_SECOND}999 THEN timestamp_millis({millis}) END"
            return f"coalesce({typed(cell, c.type, deployment.time_zone)}, {instant})"
        case Logical.ENUM | Logical.SET if c.type.members:
            return _labelled(cell, c.type)
        case _:
            return typed(cell, c.type, deployment.time_zone)


def _labelled(cell: str, kind: SourceType) -> str:
    """An ENUM's index or a SET's mask from labels, or from the number itself where the text is no label."""
    labels = f"array({', '.join(map(literal, kind.members))})"
    if kind.logical is Logical.ENUM:
        index = f"nullif(CAST(array_position({labels}, {cell}) AS int), 0)"
        return f"coalesce({index}, CASE WHEN {cell} = '' THEN 0 END, {typed(cell, kind)})"
    weights = f"array({', '.join(f'CAST({1 << i} AS decimal(20,0))' for i in range(len(kind.members)))})"
    weight = f"get({weights}, CAST(array_position({labels}, x) AS int) - 1)"
    zero = "CAST(0 AS decimal(20,0))"
    mask = f"aggregate(array_distinct(split({cell}, ',')), {zero}, (a, x) -> CAST(a + {weight} AS decimal(20,0)))"
    return f"CASE WHEN {cell} = '' THEN {zero} ELSE coalesce({mask}, {typed(cell, kind)}) END"
