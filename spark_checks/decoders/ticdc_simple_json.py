"""TiCDC Simple in JSON as native Spark expressions.

One message is one row change, a DDL statement, a watermark or a table's schema (BOOTSTRAP); `type`
tells which. A row change names its table and `schemaVersion` but no types: those come from the
schemas that the BOOTSTRAP and DDL messages of the same batch carry, wherever in the batch they
stand. Where a message was too large (`handleKeyOnly`, `claimCheckLocation`), the images hold the
handle key, or there are none.

Cells are MySQL's texts but for TIMESTAMP, an object of a wall clock and its zone, and binaries, in
base64. `old` is complete, so that nothing of `data` is laid under it. `position` is `commitTs`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from generators import model
from generators.model import Deployment, Logical, Table
from spark_checks.decoders.baselines import SAME, Baseline
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families import ticdc_simple as _ticdc_simple
from spark_checks.decoders.families.canal import DDL_TYPES, ROW_TYPES
from spark_checks.decoders.families.framing import COORDINATES, OPTIONS, decompressed
from spark_checks.decoders.families.mysql import mysql_typed
from spark_checks.decoders.families.sql import let_column, name

_TSO: Final = DecimalType(20, 0)
_TEXTS: Final = MapType(StringType(), StringType())
_LISTS: Final = {
    "columns": ArrayType(
        _framing.struct("name:string dataType", dataType=_framing.struct("mysqlType:string"))
    ),
    "indexes": ArrayType(_framing.struct("primary:boolean columns:strings")),
}
"""What is read of the lists in a table schema."""
_TABLE_SCHEMA: Final = _framing.struct(
    "schema:string table:string version columns indexes corrupt:string", version=_TSO, **_LISTS
)


def _envelope(image: DataType) -> StructType:
    """The type as which a TiCDC Simple message is parsed, with its rows as `image`. Table schemas
    stay texts: if they were parsed, every row change, which has none, would pay for them.
    """
    return _framing.struct(
        "type:string database:string table:string sql:string commitTs schemaVersion"
        " claimCheckLocation:string handleKeyOnly:boolean data old tableSchema:string"
        " preTableSchema:string",
        commitTs=_TSO,
        schemaVersion=_TSO,
        data=image,
        old=image,
    )


BASELINE: Final = Baseline(
    op="type", database="database", table="table", before="old", after="data", sql="sql", ops=SAME
)


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Level one: the changes that TiCDC Simple messages in JSON carry. `types` of a row change are
    NULL when its table's schema is not in the batch.
    """

    def change(m: Column, own_schema: Column, _former: Column, kind: Column) -> Column:
        """The row of level one for a message `m` of some kind, NULL where another kind has no such
        part. `own_schema` is the table's schema that the message itself carries; keys and types
        come from it alone. A row change carries none: it has no keys, and `with_types` adds its
        types.
        """
        is_row = kind == "ROW"
        readable = F.when(kind != "CORRUPT", m)
        own_schema = F.when(kind.isin("DDL", "BOOTSTRAP"), own_schema)
        op = F.when(is_row, m["type"])
        return F.struct(
            *_framing.change(
                kind,
                op=op,
                database=F.when(is_row, m["database"]).otherwise(own_schema["schema"]),
                table=F.when(is_row, m["table"]).otherwise(own_schema["table"]),
                keys=_ticdc_simple.keys(own_schema),
                position=readable["commitTs"].cast("string"),
                commit_time=_ticdc_simple.committed(readable["commitTs"]),
                before=_framing.before(op, m["old"]),
                after=_framing.after(op, m["data"]),
                types=_ticdc_simple.types(own_schema),
                schema_version=F.when(is_row, m["schemaVersion"])
                .otherwise(own_schema["version"])
                .cast("string"),
                sql=F.when(kind == "DDL", m["sql"]),
            )
        )

    records = decompressed(records, deployment.compression if deployment else "none")
    changes = _framing.changes(records, F.array(_parse_message(_TEXTS, change)))
    return _ticdc_simple.with_types(changes, _carried_schemas(records), "schema")


def decode_rows(
    records: DataFrame, table: Table, *, deployment: Deployment | None = None
) -> DataFrame:
    """Level two: typed row changes of `table` from TiCDC Simple in JSON, and CORRUPT rows."""
    deployment = deployment or Deployment()
    texts = StructType([StructField(c.name, StringType()) for c in table.columns])
    split_images = (
        "transform(part.images, t -> CASE WHEN t IS NOT NULL THEN"
        f" struct({', '.join(map(_split, table.columns))}) END)"
    )
    # Only the cell of a TIMESTAMP may be an object, which has to be split.
    has_timestamps = any(c.type.logical is Logical.TIMESTAMP for c in table.columns)
    images_sql = split_images if has_timestamps else "part.images"

    def part(m: Column, _own_schema: Column, _former: Column, kind: Column) -> Column:
        """What level two needs of a message: its operation and images if it is a row of the table,
        or that it is CORRUPT. The table schemas that a message may carry are not needed: `table`
        has the types.
        """
        of_table = (kind == "ROW") & (m["database"] == table.database) & (m["table"] == table.name)
        return _framing.needed_part(kind, of_table, m["type"], m["old"], m["data"])

    images = _framing.images(
        table, _cell_sql, lambda c, image: _value(c, image, deployment), images_sql
    )
    return _framing.typed_rows(
        records, _parse_message(texts, part), _framing.row_array(images), deployment
    )


def _parse_message(
    image: DataType, extract: Callable[[Column, Column, Column, Column], Column]
) -> Column:
    """Parses a record's value as a TiCDC Simple message, and returns what `extract` makes of four
    columns: the message, its table's schema after the statement (or of a BOOTSTRAP), the schema
    before it, and the kind.
    """

    def extract_judged(m: Column, is_whole: Column) -> Column:
        """What `extract` makes of the message `m`, of its table schemas, which only a DDL or
        BOOTSTRAP has, and of its kind.
        """
        carries = m["type"].isin("BOOTSTRAP", *DDL_TYPES)
        schema_texts = (F.when(carries, m[member]) for member in ("tableSchema", "preTableSchema"))
        own_schema, former = (
            F.from_json(member, _TABLE_SCHEMA, OPTIONS) for member in schema_texts
        )

        def extract_with_kind(own_schema: Column, former: Column) -> Column:
            """What `extract` makes of the message, with its table's schema after and before a
            statement, and the kind that follows from them.
            """
            return let_column(
                _framing.kind(is_whole, _kind(m, own_schema, former)),
                lambda kind: extract(m, own_schema, former, kind),
            )

        return let_column(
            own_schema,
            lambda own_schema: let_column(
                former, lambda former: extract_with_kind(own_schema, former)
            ),
        )

    return _framing.message_of(_envelope(image), extract_judged)


def _kind(m: Column, own_schema: Column, former: Column) -> Column:
    """The kind of a message, by its `type`; NULL, which is CORRUPT, for an unknown one and for a
    message without what its kind needs.
    """
    is_reduced = F.coalesce(m["handleKeyOnly"], F.lit(False)) | m["claimCheckLocation"].isNotNull()
    image = F.when(m["type"] == "DELETE", m["old"].isNotNull()).otherwise(m["data"].isNotNull())
    is_row = (
        m["type"].isin(*ROW_TYPES)
        & m["database"].isNotNull()
        & m["table"].isNotNull()
        & (image | is_reduced)
    )
    objects = F.concat_ws(
        "", F.left(m["tableSchema"], F.lit(1)), F.left(m["preTableSchema"], F.lit(1))
    )
    broken = (
        ~objects.isin("", "{", "{{")
        | F.coalesce(own_schema["corrupt"], former["corrupt"]).isNotNull()
    )
    schema = _ticdc_simple.is_schema(own_schema, "schema")
    return (
        F.when(broken, None)
        .when(is_row, "ROW")
        .when((m["type"] == "WATERMARK") & m["commitTs"].isNotNull(), "WATERMARK")
        .when((m["type"] == "BOOTSTRAP") & schema, "BOOTSTRAP")
        .when(
            m["type"].isin(*DDL_TYPES)
            & m["sql"].isNotNull()
            & (m["tableSchema"].isNull() | schema),
            "DDL",
        )
    )


def _carried_schemas(records: DataFrame) -> DataFrame:
    """The table schemas that messages carry: the coordinates of each message and an array
    `schemas`. That is a table's schema after a statement, and `preTableSchema`, the one before it.
    """

    def schemas(_m: Column, own_schema: Column, former: Column, kind: Column) -> Column:
        """The array of both schemas of a BOOTSTRAP or DDL; NULL for any other message."""
        return F.when(kind.isin("BOOTSTRAP", "DDL"), F.array(own_schema, former))

    with_schemas = records.where(F.contains(F.col("value").cast("string"), F.lit('"tableSchema"')))
    return with_schemas.select(
        *COORDINATES, _parse_message(StructType([]), schemas).alias("schemas")
    )


def _split(c: model.Column) -> str:
    """SQL of a column of an image of texts: its text, or, for a TIMESTAMP, whose cell may be a JSON
    object, a struct of the text as `whole` and of its `parts` (value and zone).
    """
    cell_text = f"t.{name(c.name)}"
    if c.type.logical is not Logical.TIMESTAMP:
        return f"{cell_text} AS {name(c.name)}"
    return (
        f"struct({cell_text} AS whole, from_json({cell_text}, 'location STRING, value STRING') AS parts) AS"
        f" {name(c.name)}"
    )


def _cell_sql(c: model.Column, image: str) -> str:
    """SQL of a cell's text in an image. A TIMESTAMP may be an object with its zone: then it is the
    text of the value in that object.
    """
    cell = f"{image}.{name(c.name)}"
    return (
        f"coalesce({cell}.parts.value, {cell}.whole)"
        if c.type.logical is Logical.TIMESTAMP
        else cell
    )


def _value(c: model.Column, image: str, deployment: Deployment) -> str:
    """SQL that reads a column's cell in the image as a value of its type."""
    cell = f"{image}.{name(c.name)}"
    match c.type.logical:
        case Logical.BINARY:
            # TiCDC always writes the padding, and Spark's function accepts a text without it.
            return f"CASE WHEN length({cell}) % 4 = 0 THEN try_to_binary({cell}, 'base64') END"
        case Logical.TIMESTAMP:
            clock, location = f"{cell}.parts.value", f"{cell}.parts.location"
            return _ticdc_simple.instant(clock, location, c.type, deployment.time_zone)
        case _:
            return mysql_typed(cell, c.type, deployment.time_zone)
