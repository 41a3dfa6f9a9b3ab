"""TiCDC Simple in JSON as native Spark expressions (document 002; reference/ticdc.md 00, 3, 5).

One message is one row change, a DDL statement, a watermark or a table's schema (BOOTSTRAP); `type` tells which. A row change
names its table and `schemaVersion` but no types: those come from the schemas that the BOOTSTRAP and DDL messages of the same
batch carry, wherever in the batch they stand. Where a message was too large (`handleKeyOnly`, `claimCheckLocation`), the images
hold the handle key, or there are none.

Cells are MySQL's texts but for TIMESTAMP, an object of a wall clock and its zone, and binaries, in base64. `old` is complete
(reference/ticdc.md 3.1), so that nothing of `data` is laid under it. `position` is `commitTs`.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BooleanType, DataType, DecimalType, MapType, StringType, StructField, StructType

from generators.model import Column as ColumnOf
from generators.model import Deployment, Logical, Table
from spark_checks.decoders import _framing
from spark_checks.decoders._canal import COORDINATES, DDL_TYPES, ROW_TYPES
from spark_checks.decoders._framing import name
from spark_checks.decoders._mysql import typed

LOCAL: Final = "Local"
"""Go's name for the zone of the machine (reference/ticdc.md 3.2): the deployment's."""

_TSO: Final = DecimalType(20, 0)
_TEXTS: Final = MapType(StringType(), StringType())
_COLUMN: Final = StructType(
    [StructField("name", StringType()), StructField("dataType", StructType([StructField("mysqlType", StringType())]))]
)
_INDEX: Final = StructType([StructField("primary", BooleanType()), StructField("columns", ArrayType(StringType()))])
_TABLE_SCHEMA: Final = StructType(
    [
        StructField("schema", StringType()),
        StructField("table", StringType()),
        StructField("version", _TSO),
        StructField("columns", ArrayType(_COLUMN)),
        StructField("indexes", ArrayType(_INDEX)),
    ]
)


def _envelope(image: DataType) -> StructType:
    return StructType(
        [
            StructField("type", StringType()),
            StructField("database", StringType()),
            StructField("table", StringType()),
            StructField("sql", StringType()),
            StructField("commitTs", _TSO),
            StructField("schemaVersion", _TSO),
            StructField("claimCheckLocation", StringType()),
            StructField("handleKeyOnly", BooleanType()),
            StructField("data", image),
            StructField("old", image),
            StructField("tableSchema", _TABLE_SCHEMA),
            StructField("preTableSchema", _TABLE_SCHEMA),
        ]
    )


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Changes of Simple messages (DESIGN 3.3). `types` of a row change are NULL when its schema is not in the batch."""
    m, kind = F.col("m"), F.col("kind")
    told, is_row = F.when(kind != "CORRUPT", m), kind == "ROW"
    own = F.when(kind.isin("DDL", "BOOTSTRAP"), m["tableSchema"])
    op = F.when(is_row, m["type"])
    changes = _messages(records, _TEXTS, deployment).select(
        *COORDINATES,
        F.lit(0).alias("row"),
        "kind",
        op.alias("op"),
        F.when(is_row, m["database"]).otherwise(own["schema"]).alias("database"),
        F.lit(None).cast("string").alias("schema"),
        F.when(is_row, m["table"]).otherwise(own["table"]).alias("table"),
        F.get(F.filter(own["indexes"], lambda i: i["primary"]), F.lit(0))["columns"].alias("keys"),
        told["commitTs"].cast("string").alias("position"),
        F.when(told["commitTs"] > 0, _committed(told["commitTs"])).alias("commit_time"),
        _framing.before(op, m["old"]).alias("before"),
        _framing.after(op, m["data"]).alias("after"),
        _types(own).alias("types"),
        F.when(is_row, m["schemaVersion"]).otherwise(own["version"]).cast("string").alias("schema_version"),
        F.when(kind == "DDL", m["sql"]).alias("sql"),
        _framing.error(kind).alias("error"),
    )
    known = F.broadcast(_schemas(records, deployment))
    key = ("database", "table", "schema_version")
    same = F.struct(*key) == F.struct(*(f"of_{part}" for part in key))
    joined = changes.join(known, is_row & same, "left").withColumn("types", F.coalesce("types", "of_types"))
    return joined.select(*changes.columns)


def decode_rows(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
    """Typed row changes of `table` (DESIGN 3.4)."""
    deployment = deployment or Deployment()
    texts = StructType([StructField(c.name, StringType()) for c in table.columns])
    m, kind, op = F.col("m"), F.col("kind"), F.col("op")
    mine = (kind == "ROW") & (m["database"] == table.database) & (m["table"] == table.name)
    cells = ", ".join(_split(c) for c in table.columns)
    typed_images = _framing.images(table, _text, lambda c, image: _value(c, image, deployment))
    return _framing.rows(
        _messages(records, texts, deployment)
        .select(*COORDINATES, "m", F.when(kind == "CORRUPT", kind).when(mine, m["type"]).alias("op"))
        .select(*COORDINATES, "op", F.array(_framing.before(op, m["old"]), _framing.after(op, m["data"])).alias("images"))
        .withColumn("images", F.expr(f"transform(images, t -> CASE WHEN t IS NOT NULL THEN struct({cells}) END)"))
        .select(*COORDINATES, "op", typed_images.alias("typed"))
    )


def _messages(records: DataFrame, image: DataType, deployment: Deployment | None) -> DataFrame:
    """Coordinates, `m` and `kind` of every message."""
    kind = F.when(F.col("whole"), F.coalesce(_kind(F.col("m")), F.lit("CORRUPT"))).otherwise("CORRUPT")
    return _framing.messages(records, _envelope(image), deployment).select(*COORDINATES, "m", kind.alias("kind"))


def _kind(m: Column) -> Column:
    """`type` decides, and must have with it what its kind cannot be without."""
    reduced = F.coalesce(m["handleKeyOnly"], F.lit(False)) | m["claimCheckLocation"].isNotNull()
    image = F.when(m["type"] == "DELETE", m["old"].isNotNull()).otherwise(m["data"].isNotNull())
    is_row = m["type"].isin(*ROW_TYPES) & m["database"].isNotNull() & m["table"].isNotNull() & (image | reduced)
    schema = m["tableSchema"]
    return (
        F.when(is_row, "ROW")
        .when((m["type"] == "WATERMARK") & m["commitTs"].isNotNull(), "WATERMARK")
        .when((m["type"] == "BOOTSTRAP") & _is_schema(schema), "BOOTSTRAP")
        .when(m["type"].isin(*DDL_TYPES) & m["sql"].isNotNull() & (schema.isNull() | _is_schema(schema)), "DDL")
    )


def _is_schema(schema: Column) -> Column:
    """Whether it names its table, its version and every column once, so that a map of its columns can be made."""
    names = schema["columns"]["name"]
    unique = (F.size(F.array_distinct(names)) == F.size(names)) & ~F.exists(names, lambda n: n.isNull())
    named = schema["schema"].isNotNull() & schema["table"].isNotNull() & schema["version"].isNotNull()
    return F.coalesce(named & unique, F.lit(False))


def _types(schema: Column) -> Column:
    """The mysqlType of each column of a schema that `_is_schema`."""
    return F.map_from_arrays(schema["columns"]["name"], schema["columns"]["dataType"]["mysqlType"])


def _committed(tso: Column) -> Column:
    """Milliseconds stand above 18 bits of a counter (reference/ticdc.md 1.3)."""
    return F.timestamp_millis(F.shiftright(tso.try_cast("bigint"), 18))


def _schemas(records: DataFrame, deployment: Deployment | None) -> DataFrame:
    """`of_types` of every table schema that the records carry, by `of_database`, `of_table` and `of_schema_version`; of several
    under one key the first of a partition. `preTableSchema` is one as well: that of rows before the statement."""
    if deployment is None or deployment.compression == "none":
        records = records.where(F.contains(F.col("value").cast("string"), F.lit('"tableSchema"')))
    m, s = F.col("m"), F.col("s")
    carried = F.when(F.col("kind").isin("BOOTSTRAP", "DDL"), F.array(m["tableSchema"], m["preTableSchema"]))
    each = _messages(records, StructType([]), deployment).select(*COORDINATES, F.posexplode_outer(carried).alias("n", "s"))
    first = F.min_by("types", F.when(F.col("types").isNotNull(), F.struct("topic", "partition", "offset", "n")))
    return (
        each.select(
            *(*COORDINATES, "n"),
            s["schema"].alias("of_database"),
            s["table"].alias("of_table"),
            s["version"].cast("string").alias("of_schema_version"),
            F.when(_is_schema(s), _types(s)).alias("types"),
        )
        .groupBy("of_database", "of_table", "of_schema_version")
        .agg(first.alias("of_types"))
    )


def _split(c: ColumnOf) -> str:
    """A cell of an image of texts; a TIMESTAMP's with its object read."""
    text = f"t.{name(c.name)}"
    if c.type.logical is not Logical.TIMESTAMP:
        return f"{text} AS {name(c.name)}"
    return f"struct({text} AS whole, from_json({text}, 'location STRING, value STRING') AS parts) AS {name(c.name)}"


def _text(c: ColumnOf, image: str) -> str:
    cell = f"{image}.{name(c.name)}"
    return f"coalesce({cell}.parts.value, {cell}.whole)" if c.type.logical is Logical.TIMESTAMP else cell


def _value(c: ColumnOf, image: str, deployment: Deployment) -> str:
    cell = f"{image}.{name(c.name)}"
    match c.type.logical:
        case Logical.BINARY:
            # Padding is always written; the function does without.
            return f"CASE WHEN length({cell}) % 4 = 0 THEN try_to_binary({cell}, 'base64') END"
        case Logical.TIMESTAMP:
            clock, location = f"{cell}.parts.value", f"{cell}.parts.location"
            zone = f"CASE {location} WHEN '{LOCAL}' THEN '{deployment.time_zone}' ELSE {location} END"
            # For a zone that does not exist the cast gives NULL, where to_utc_timestamp raises; for none it takes the session's.
            instant = f"CASE WHEN left({zone}, 1) >= '+' THEN try_cast(concat({clock}, ' ', {zone}) AS timestamp) END"
            return f"CASE WHEN {typed(clock, c.type)} IS NOT NULL THEN {instant} END"
        case _:
            return typed(cell, c.type, deployment.time_zone)
