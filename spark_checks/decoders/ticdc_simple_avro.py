"""TiCDC Simple in Avro as native Spark expressions.

A value is raw Avro binary of a union of twelve records, of which messages are the last: every one
begins with the byte 16, the branch 11. A reader of that byte and a Message reads all of them, and
refuses what stands under another branch. A message's `type` and the branch of its payload tell the
same, and must agree.

Cells are a union too. A BIGINT UNSIGNED is a record of its two's complement, a TIMESTAMP a record
of a wall clock and its zone (the documentation says numbers and text), a BIT a number in the
classic architecture and a decimal text in the new one. TSOs are unsigned numbers in longs. A
BOOTSTRAP has no `commitTs`. `position` is `commitTs`.
"""

from __future__ import annotations

import json
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from generators import model
from generators.model import Deployment, Logical, Table
from spark_checks.decoders.baselines import cast_columns, level_one, level_two
from spark_checks.decoders.families import avro as _avro
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families import ticdc_simple as _ticdc_simple
from spark_checks.decoders.families.avro import array, enum, record
from spark_checks.decoders.families.canal import ROW_TYPES
from spark_checks.decoders.families.framing import COORDINATES
from spark_checks.decoders.families.mysql import misfit, mysql_typed
from spark_checks.decoders.families.sql import LOWER, literal, name

MESSAGE: Final = b"\x16"
"""The branch of Message in the union of all records, 11, as Avro writes it."""

LONG, FLOAT, DOUBLE, STRING, BYTES, TIMESTAMP, UNSIGNED = (f"member{i}" for i in range(7))
"""What Spark calls the branches of a cell."""

_TABLE_SCHEMA: Final = record(
    "TableSchema",
    database="string",
    table="string",
    tableID="long",
    version="long",
    columns=array(
        record(
            "ColumnSchema",
            name="string",
            dataType=record(
                "DataType",
                mysqlType="string",
                charset="string",
                collate="string",
                length="long",
                decimal=["null", "int"],
                elements=["null", array("string")],
                unsigned=["null", "boolean"],
                zerofill=["null", "boolean"],
            ),
            nullable="boolean",
            default=["null", "string"],
        )
    ),
    indexes=array(
        record(
            "IndexSchema",
            name="string",
            unique="boolean",
            primary="boolean",
            nullable="boolean",
            columns=array("string"),
        )
    ),
)
_TIMESTAMP: Final = record("Timestamp", location="string", value="string")
_UNSIGNED: Final = record("UnsignedBigint", value="long")
"""How a message spells a BIGINT UNSIGNED: its two's complement in a long."""
_SCALARS: Final = ("null", "long", "float", "double", "string", "bytes")
_PAYLOAD: Final = (
    record("Watermark", version="int", commitTs="long", buildTs="long"),
    record("Bootstrap", version="int", buildTs="long", tableSchema=_TABLE_SCHEMA),
    record(
        "DDL",
        version="int",
        type=enum(
            "DDLType", "CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY"
        ),
        sql="string",
        commitTs="long",
        buildTs="long",
        tableSchema=["null", "TableSchema"],
        preTableSchema=["null", "TableSchema"],
    ),
    record(
        "DML",
        version="int",
        database="string",
        table="string",
        tableID="long",
        type=enum("DMLType", *ROW_TYPES),
        commitTs="long",
        buildTs="long",
        schemaVersion="long",
        claimCheckLocation=["null", "string"],
        handleKeyOnly=["null", "boolean"],
        checksum=[
            "null",
            record("Checksum", version="int", corrupted="boolean", current="long", previous="long"),
        ],
        data=["null", {"type": "map", "values": [*_SCALARS, _TIMESTAMP, _UNSIGNED]}],
        old=["null", {"type": "map", "values": [*_SCALARS, "Timestamp", "UnsignedBigint"]}],
    ),
)
WIRE: Final = record(
    "Wire",
    index={"type": "fixed", "name": "Index", "size": 1},
    message=record(
        "Message",
        type=enum("MessageType", "WATERMARK", "BOOTSTRAP", "DDL", "DML"),
        payload=list(_PAYLOAD),
    ),
)
"""The byte of the branch and a Message, which is all that a topic holds."""

_PARTS: Final = ("watermark", "bootstrap", "ddl", "dml")
"""The branches of a message's payload, in their order."""

_SHORT: Final = f"CAST(x.{FLOAT} AS string)"
"""SQL of the text that Java gives a FLOAT."""
_UNIQUE: Final = f"length({_SHORT}) <= 7 AND (abs(x.{FLOAT}) >= 1.17549435E-38F OR x.{FLOAT} = 0)"
"""SQL of whether that text is surely the shortest: of up to six digits no two texts are the same
number, unless it is subnormal.
"""
_DIGITS: Final = f"transform(sequence(0, 8), n -> format_string(concat('%.', n, 'e'), x.{FLOAT}))"
"""SQL of the FLOAT's texts with one to nine digits."""
_SHORTEST: Final = f"try_element_at(filter({_DIGITS}, s -> try_cast(s AS float) = x.{FLOAT}), 1)"
"""SQL of a FLOAT's shortest text that reads as the same binary32: Java before 19 gives one digit
more of some, and always two.
"""

_HEX: Final = LOWER.format(f"hex(x.{BYTES})")
"""SQL of the hex digits of a cell's bytes."""
_TEXT: Final = (
    f"coalesce(x.{STRING}, CAST(x.{LONG} AS string), to_json(x.{TIMESTAMP}), {_HEX},"
    f" CAST(x.{DOUBLE} AS string), to_json(x.{UNSIGNED}), CASE WHEN {_UNIQUE} THEN {_SHORT} ELSE"
    f" coalesce({_SHORTEST}, {_SHORT}) END)"
)
"""SQL of the text of a cell `x`, the usual branches first."""


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Level one: the changes that TiCDC Simple messages in Avro carry. `types` of a row change are
    NULL when its table's schema is not in the batch.
    """
    kind, watermark, bootstrap, ddl, dml = (F.col(part) for part in ("kind", *_PARTS))
    own_schema = F.coalesce(
        F.when(kind == "DDL", ddl["tableSchema"]),
        F.when(kind == "BOOTSTRAP", bootstrap["tableSchema"]),
    )
    change_record = F.when(kind == "ROW", dml)
    op = change_record["type"]
    position = F.when(
        kind != "CORRUPT", F.coalesce(watermark["commitTs"], ddl["commitTs"], dml["commitTs"])
    )
    version = F.coalesce(change_record["schemaVersion"], own_schema["version"])
    change = _framing.change(
        kind,
        op=op,
        database=F.coalesce(change_record["database"], own_schema["database"]),
        table=F.coalesce(change_record["table"], own_schema["table"]),
        keys=_ticdc_simple.keys(own_schema),
        position=_ticdc_simple.tso_text(position),
        commit_time=_ticdc_simple.committed(position),
        before=_framing.before(op, _texts("dml.old")),
        after=_framing.after(op, _texts("dml.data")),
        types=_ticdc_simple.types(own_schema),
        schema_version=_ticdc_simple.tso_text(version),
        sql=F.when(kind == "DDL", ddl["sql"]),
    )
    changes = _messages(records, deployment).select(*COORDINATES, *change)
    return _ticdc_simple.with_types(changes, _carried_schemas(records, deployment), "database")


def _messages(records: DataFrame, deployment: Deployment | None) -> DataFrame:
    """The coordinates and the `kind` of each message, and its payload, which is one of `watermark`,
    `bootstrap`, `ddl` and `dml`, or none. A record that is not exactly one datum (`whole`), or not
    of the branch Message in the union of all records, is CORRUPT.
    """
    m = F.col("m")
    message = F.when(F.col("whole") & (m["index"] == F.lit(MESSAGE)), m["message"])
    parts = (message["payload"][f"member{i}"].alias(part) for i, part in enumerate(_PARTS))
    messages = _avro.messages(records, WIRE, deployment).select(
        *COORDINATES, message["type"].alias("type"), *parts
    )
    return messages.select(
        *COORDINATES, F.coalesce(_kind(), F.lit("CORRUPT")).alias("kind"), *_PARTS
    )


def _kind() -> Column:
    """The kind of a message, by its `type`; NULL, which is CORRUPT, if the payload is not of that
    type or lacks what the kind requires.
    """
    kind, watermark, bootstrap, ddl, dml = (F.col(part) for part in ("type", *_PARTS))
    is_reduced = (
        F.coalesce(dml["handleKeyOnly"], F.lit(False)) | dml["claimCheckLocation"].isNotNull()
    )
    image = F.when(dml["type"] == "DELETE", dml["old"].isNotNull()).otherwise(
        dml["data"].isNotNull()
    )
    schema = ddl["tableSchema"]
    return (
        F.when((kind == "DML") & (image | is_reduced), "ROW")
        .when((kind == "WATERMARK") & watermark.isNotNull(), "WATERMARK")
        .when(
            (kind == "BOOTSTRAP") & _ticdc_simple.is_schema(bootstrap["tableSchema"], "database"),
            "BOOTSTRAP",
        )
        .when(
            (kind == "DDL")
            & ddl.isNotNull()
            & (schema.isNull() | _ticdc_simple.is_schema(schema, "database")),
            "DDL",
        )
    )


def _carried_schemas(records: DataFrame, deployment: Deployment | None) -> DataFrame:
    """The table schemas that messages carry: the coordinates of each message and an array
    `schemas`. That is a table's schema after a statement, and `preTableSchema`, the one before it.
    """
    if deployment is None or deployment.compression == "none":
        # Behind the union's branch stands the type: 00 is WATERMARK, 06 is DML.
        records = records.where(~F.substring("value", 2, 1).isin(F.lit(b"\x00"), F.lit(b"\x06")))
    bootstrap, ddl = F.col("bootstrap"), F.col("ddl")
    schemas = F.when(F.col("kind") == "BOOTSTRAP", F.array(bootstrap["tableSchema"])).when(
        F.col("kind") == "DDL", F.array(ddl["tableSchema"], ddl["preTableSchema"])
    )
    return _messages(records, deployment).select(*COORDINATES, schemas.alias("schemas"))


def _texts(image: str) -> Column:
    """The cells of an image as a map of texts; `image` is the SQL of the image, whose cells are
    Avro unions. Numbers and texts are plain, bytes in hex, records in JSON.
    """
    return F.expr(f"transform_values({image}, (k, x) -> CASE WHEN x IS NOT NULL THEN {_TEXT} END)")


def decode_rows(
    records: DataFrame, table: Table, *, deployment: Deployment | None = None
) -> DataFrame:
    """Level two: typed row changes of `table` from TiCDC Simple in Avro, and CORRUPT rows."""
    kind, dml = F.col("kind"), F.col("dml")
    of_table = (kind == "ROW") & (dml["database"] == table.database) & (dml["table"] == table.name)
    row_change = _framing.needed_part(kind, of_table, dml["type"], dml["old"], dml["data"])
    members = ", ".join(
        f"try_element_at(t, {literal(c.name)}) AS {name(c.name)}" for c in table.columns
    )
    images_as_structs = (
        f"transform(part.images, t -> CASE WHEN t IS NOT NULL THEN struct({members}) END)"
    )
    images = _framing.with_unfit_marks(
        table,
        lambda c, image: _value(c, image, deployment or Deployment()),
        _unfit,
        images_as_structs,
    )
    # Without the deployment: `_messages` has decompressed the values.
    return _framing.typed_rows(
        _messages(records, deployment), row_change, _framing.row_array(images)
    )


def _value(c: model.Column, image: str, deployment: Deployment) -> str:
    """SQL of the value of a column's cell in its Spark type, from the branch of the Avro union that
    the cell has (`LONG`, `STRING`, ...); NULL for a branch that a cell of the type cannot have.
    """
    cell = _framing.cell(c, image)
    type, number, text_branch = c.type, f"{cell}.{LONG}", f"{cell}.{STRING}"
    match type.logical:
        case Logical.INT if type.spark.startswith("decimal"):
            # Document 002 has a long up to 2^63-1 and text above it.
            natural = f"CASE WHEN {number} >= 0 THEN CAST({number} AS decimal(20,0)) END"
            return (
                f"coalesce({_ticdc_simple.unsigned(f'{cell}.{UNSIGNED}.value')}, {natural},"
                f" {mysql_typed(text_branch, type)})"
            )
        case Logical.BIT if type.spark == "boolean":
            return f"CASE {number} WHEN 1 THEN true WHEN 0 THEN false ELSE {mysql_typed(text_branch, type)} END"
        case Logical.BIT if type.spark.startswith("decimal"):
            return f"coalesce({_ticdc_simple.unsigned(number)}, {mysql_typed(text_branch, type)})"
        case Logical.BIT:
            return f"coalesce({number}, {mysql_typed(text_branch, type)})"
        case Logical.SET:
            return _ticdc_simple.unsigned(number)
        case Logical.INT | Logical.YEAR | Logical.ENUM:
            return f"try_cast({number} AS {type.spark})"
        case Logical.FLOAT:
            return f"{cell}.{FLOAT}"
        case Logical.DOUBLE:
            return f"{cell}.{DOUBLE}"
        case Logical.BINARY:
            return f"{cell}.{BYTES}"
        case Logical.TIMESTAMP:
            clock, location = (f"{cell}.{TIMESTAMP}.{part}" for part in ("value", "location"))
            return _ticdc_simple.instant(clock, location, type, deployment.time_zone)
        case _:
            return mysql_typed(text_branch, type, deployment.time_zone)


def _unfit(c: model.Column) -> str:
    """SQL of the test whether a cell (`i.t`) is not of its column's type, from its typed value
    (`i.value`); NULL counts as no.
    """
    cell, value = _framing.cell(c, "i.t"), _framing.cell(c, "i.value")
    match c.type.logical:
        case Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP:
            branch = f"{TIMESTAMP}.value" if c.type.logical is Logical.TIMESTAMP else STRING
            judged = f"CASE WHEN {cell} IS NOT NULL THEN coalesce({cell}.{branch}, '') END"
        case _:
            judged = cell
    unfit = misfit(judged, value, c.type) or f"({value} IS NULL AND {cell} IS NOT NULL)"
    return (
        f"{unfit} OR isnan({value})" if c.type.logical in (Logical.FLOAT, Logical.DOUBLE) else unfit
    )


class SimpleBaseline:
    """The throughput baseline, a decoder without checks: it reads every message by the plain
    schema, takes every row change for one of the table, and casts the text of whatever branch a
    cell has.
    """

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """The baseline of level one: every row change with its images as maps of texts, and its
        envelope, without any check.
        """
        dml = F.col("p")["member3"]
        return level_one(
            _payloads(records),
            F.when(dml["type"].isNotNull(), "ROW"),
            op=dml["type"],
            database=dml["database"],
            table=dml["table"],
            before=F.transform_values(dml["old"], lambda _, cell: _plain(cell)),
            after=F.transform_values(dml["data"], lambda _, cell: _plain(cell)),
            sql=F.col("p")["member2"]["sql"],
        )

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """The baseline of level two: every row change with its images as structs of the table's
        columns, without any check.
        """
        # Branch 3 of the payload's union (`_PARTS`).
        dml = F.col("p")["member3"]

        def image(side: str) -> Column:
            """The image of a side (`old` or `data`), as a struct of the table's columns."""
            return cast_columns(table, lambda column: _plain(dml[side][column]))

        kind = F.when(dml["type"].isNotNull(), "ROW")
        return level_two(_payloads(records), kind, dml["type"], image("old"), image("data"))


def _payloads(records: DataFrame) -> DataFrame:
    """The records with the payloads `p` of their messages, read without checks."""
    message = from_avro(F.col("value"), json.dumps(WIRE), {"mode": "PERMISSIVE"})["message"]
    return records.select(*COORDINATES, message["payload"].alias("p"))


def _plain(cell: Column) -> Column:
    """A cell's text at level one, from the one member of the Avro union that is not NULL; bytes are
    hex digits.
    """
    scalars = (cell[member].cast("string") for member in (LONG, FLOAT, DOUBLE, STRING))
    return F.coalesce(
        *scalars,
        F.hex(cell[BYTES]),
        cell[TIMESTAMP]["value"],
        cell[UNSIGNED]["value"].cast("string"),
    )


BASELINE: Final = SimpleBaseline()
