"""TiCDC's Avro protocol in Confluent's framing (sources: the page ticdc-avro).

Key and value are records of the registry's schemas, which `families.confluent` reads as JSON. A
record's name is the table's, its namespace ends with the database's. Fields with a `tidb_type` are
columns; those behind them, of TiDB's extension, are not: `_tidb_op` c or u, else an INSERT;
`_tidb_commit_ts` is the position. A record without a value is a DELETE: its key's columns.

Level two undoes a BIT's bytes (big-endian), base64, labels of ENUM and SET, and the sign of a
BIGINT UNSIGNED that wrapped; a TIMESTAMP is wall clock of the deployment's zone. Names of tables
and columns are compared as Avro's allow them.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, MapType, StringType, StructField, StructType

from generators import model
from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders.baselines import cast_columns, level_one, level_two
from spark_checks.decoders.families import framing, mysql
from spark_checks.decoders.families.confluent import as_connect_json
from spark_checks.decoders.families.connect.decimals import base64_bytes
from spark_checks.decoders.families.sql import let, literal, name

_STRING: Final = StringType()
_FIELD: Final = framing.struct(
    "field:string type:string parameters", parameters=framing.struct("tidb_type:string")
)
_SCHEMA: Final = framing.struct("record:string fields", fields=ArrayType(_FIELD))
_OPS: Final = {"c": "INSERT", "u": "UPDATE"}


def _avro_name(column_name: str) -> str:
    """A column's name as TiCDC spells it in Avro schemas: other characters than ASCII letters,
    digits and `_` become `_`, and a digit does not stand first.
    """
    return "".join(
        c if c.isascii() and (c.isalnum() or c == "_") else "_"
        for c in ("_" + column_name if column_name[:1] in "0123456789" else column_name)
    )


def _records(records: DataFrame) -> DataFrame:
    """The records with the message as JSON in the column `value`, from the Avro of their value or,
    for a DELETE, which has no value, from that of their key. The column `gone` is true for a
    DELETE.
    """
    converted = as_connect_json(records, whole_keys=True)
    return converted.withColumns(
        {"gone": F.col("value").isNull(), "value": F.coalesce("value", "key")}
    )


def _envelope(payload: MapType | StructType) -> StructType:
    """The type of a message as JSON: its schema, and its payload of that type."""
    return StructType([StructField("schema", _SCHEMA), StructField("payload", payload)])


def _op(m: Column) -> Column:
    """The operation of a message as the output's column `op` names it; NULL for one that TiCDC does
    not write. It uses the column `gone`: whether the record has no value, which is a DELETE. A
    message without `_tidb_op`, which TiCDC adds with its extension only, counts as an INSERT.
    """
    letter = m["payload"]["_tidb_op"]
    return (
        F.when(F.col("gone"), "DELETE")
        .when(letter.isNull(), "INSERT")
        .otherwise(framing.name_of_code(letter, _OPS))
    )


def _name_part(m: Column, place: int) -> Column:
    """The database (`place` 0) or the table (1) in the schema's name `namespace.database.table`."""
    return F.get(F.slice(F.split(m["schema"]["record"], r"\."), -2, 2), F.lit(place))


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Level one: the changes that records with TiCDC's Avro messages carry."""

    def change(m: Column, is_whole: Column) -> Column:
        """The level-one row of a message: a row change, or CORRUPT if it could not be read whole or
        has an unknown operation.
        """
        op = _op(m)
        kind = framing.kind(is_whole, F.when(op.isNotNull(), "ROW"))
        is_row = kind == "ROW"
        columns = F.filter(
            m["schema"]["fields"], lambda f: f["parameters"]["tidb_type"].isNotNull()
        )
        entries = F.transform(columns, lambda f: F.struct(f["field"], f["parameters"]["tidb_type"]))
        types = F.when(is_row, F.map_from_entries(entries))
        image = F.when(
            is_row, F.map_filter(m["payload"], lambda k, _: F.map_contains_key(types, k))
        )
        return F.struct(
            *framing.change(
                kind,
                op=F.when(is_row, op),
                database=F.when(is_row, _name_part(m, 0)),
                table=F.when(is_row, _name_part(m, 1)),
                keys=F.when(
                    is_row,
                    F.expr("json_object_keys(get_json_object(CAST(key AS string), '$.payload'))"),
                ),
                position=F.when(is_row, m["payload"]["_tidb_commit_ts"]),
                commit_time=F.when(
                    is_row,
                    framing.instant(m["payload"]["_tidb_commit_physical_time"].cast("bigint")),
                ),
                before=F.when(op == "DELETE", image),
                after=F.when(op != "DELETE", image),
                types=types,
            )
        )

    message = framing.message_of(_envelope(MapType(_STRING, _STRING)), change)
    return framing.changes(_records(records), F.array(message), deployment)


def decode_rows(
    records: DataFrame, table: Table, *, deployment: Deployment | None = None
) -> DataFrame:
    """Level two: typed row changes of `table`, and CORRUPT rows. The before image of a DELETE has
    only the key's columns, which are all that its message has.
    """
    zone = deployment.time_zone if deployment else "UTC"
    fields_of_payload = [*dict.fromkeys(_avro_name(c.name) for c in table.columns), "_tidb_op"]
    # Two of Avro's names may differ in upper and lower case alone (`a-b` is a_b, `A.B` is A_B),
    # which Spark's names must not: cells are found by their place.
    by_place = StructType(
        [StructField(f"cell_{i}", _STRING) for i, _ in enumerate(fields_of_payload)]
    )

    def part(m: Column, is_whole: Column) -> Column:
        """What level two needs of a message: `op`, which is CORRUPT for an unreadable message and
        NULL for one of another table, the schema's `fields`, and `images`: the message's cells, by
        their place, as the before image if it is a DELETE (`gone`), else as the after image.
        """
        kind = framing.kind(is_whole, F.when(_op(m).isNotNull(), "ROW"))
        of_table = (_name_part(m, 0) == _avro_name(table.database)) & (
            _name_part(m, 1) == _avro_name(table.name)
        )
        cells = m["payload"].cast(by_place)
        images = F.array(F.when(F.col("gone"), cells), F.when(~F.col("gone"), cells)).alias(
            "images"
        )
        fields = m["schema"]["fields"].alias("fields")
        return F.struct(
            F.when(kind == "CORRUPT", kind).when(of_table, _op(m)).alias("op"), fields, images
        )

    def cell_text(c: model.Column, image: str) -> str:
        """SQL of a cell of the image: columns are found by their place in the schema."""
        return f"{image}.cell_{fields_of_payload.index(_avro_name(c.name))}"

    def value(c: model.Column, image: str) -> str:
        """SQL that reads a cell; Avro's long wraps an unsigned BIGINT beyond 63 bits around to a
        negative number.
        """
        cell = _typed_sql(cell_text(c, image), c.type, zone)
        if c.type.name != "bigint" or not c.type.unsigned:
            return cell
        wraps = (
            f"exists(part.fields, f -> f.field = {literal(_avro_name(c.name))} AND f.type ="
            " 'int64')"
        )
        return let(
            cell,
            "n",
            f"CAST(CASE WHEN n < 0 AND {wraps} THEN n + {1 << 64}BD ELSE n END AS decimal(20,0))",
        )

    payload = StructType([StructField(member, _STRING) for member in fields_of_payload])
    message = framing.message_of(_envelope(payload), part)
    return framing.typed_rows(
        _records(records),
        message,
        framing.row_array(framing.images(table, cell_text, value)),
        deployment,
    )


def _typed_sql(cell_text: str, type: SourceType, zone: str) -> str:
    """SQL that reads a cell's text in TiCDC's Avro as a value of the type: base64 for bytes and
    BIT, a label for ENUM, labels for SET, other types as MySQL's text.
    """
    match type.logical:
        case Logical.BINARY:
            return base64_bytes(cell_text)
        case Logical.BIT:
            number = let(
                base64_bytes(cell_text),
                "b",
                "CASE WHEN length(b) > 0 THEN CAST(conv(hex(b), 16, 10) AS decimal(20,0)) END",
            )
            return (
                f"CASE {number} WHEN 1 THEN true WHEN 0 THEN false END"
                if type.spark == "boolean"
                else f"CAST({number} AS {type.spark})"
            )
        case Logical.ENUM:
            return mysql.index(cell_text, type)
        case Logical.SET:
            return mysql.mask(cell_text, type)
    return mysql.mysql_typed(cell_text, type, zone)


class _Baseline:
    """The throughput baseline, a decoder without checks. It turns Avro into JSON as the decoder
    does; the fields of TiDB's extension stay among the columns.
    """

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """The baseline of level one: every message with its images as maps of texts, and its
        envelope, without any check.
        """
        messages = _parse_messages(records, "map<string, string>")
        p = F.col("m.payload")
        return level_one(
            messages,
            F.lit("ROW"),
            op=_op(F.col("m")),
            database=_name_part(F.col("m"), 0),
            table=_name_part(F.col("m"), 1),
            position=p["_tidb_commit_ts"],
            before=F.when(F.col("gone"), p),
            after=F.when(~F.col("gone"), p),
        )

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """The baseline of level two: every message with its images as structs of the table's
        columns, without any check.
        """
        columns = ", ".join(
            f"{name(member)}: string" for member in [*(c.name for c in table.columns), "_tidb_op"]
        )
        messages, gone = _parse_messages(records, f"struct<{columns}>"), F.col("gone")
        typed_row = cast_columns(table, lambda c: F.col("m.payload")[c])
        return level_two(
            messages,
            F.lit("ROW"),
            _op(F.col("m")),
            F.when(gone, typed_row),
            F.when(~gone, typed_row),
        )


def _parse_messages(records: DataFrame, image: str) -> DataFrame:
    """The records with their messages `m` parsed, whose payloads are read as the type `image`."""
    schema = f"schema struct<record: string>, payload {image}"
    return _records(records).withColumn("m", F.from_json(F.col("value").cast("string"), schema))


BASELINE: Final = _Baseline()
