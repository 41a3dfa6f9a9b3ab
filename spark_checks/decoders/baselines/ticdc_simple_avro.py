"""TiCDC Simple in Avro, its baseline: `from_avro` with the plain schema, the text of a cell whatever its branch, try_cast.

As every baseline it does nothing that costs: it notices nothing malformed, takes every DML for the table's, casts the text of a
branch whatever the number or instant, reads times in the session's zone, and looks up no schema.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from generators.model import Deployment, Table

_COORDINATES: Final = ("topic", "partition", "offset")


def _record(name: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields.items()]}


def _enum(name: str, symbols: str) -> dict[str, Any]:
    return {"type": "enum", "name": name, "symbols": symbols.split()}


def _array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _image(*records: Any) -> list[Any]:
    return ["null", {"type": "map", "values": ["null", "long", "float", "double", "string", "bytes", *records]}]


_DATA_TYPE: Final = _record(
    "DataType",
    mysqlType="string",
    charset="string",
    collate="string",
    length="long",
    decimal=["null", "int"],
    elements=["null", _array("string")],
    unsigned=["null", "boolean"],
    zerofill=["null", "boolean"],
)
_COLUMN: Final = _record("ColumnSchema", name="string", dataType=_DATA_TYPE, nullable="boolean", default=["null", "string"])
_INDEX: Final = _record(
    "IndexSchema", name="string", unique="boolean", primary="boolean", nullable="boolean", columns=_array("string")
)
_TABLE: Final = _record(
    "TableSchema",
    database="string",
    table="string",
    tableID="long",
    version="long",
    columns=_array(_COLUMN),
    indexes=_array(_INDEX),
)
_PAYLOAD: Final = [
    _record("Watermark", version="int", commitTs="long", buildTs="long"),
    _record("Bootstrap", version="int", buildTs="long", tableSchema=_TABLE),
    _record(
        "DDL",
        version="int",
        type=_enum("DDLType", "CREATE ALTER ERASE RENAME TRUNCATE CINDEX DINDEX QUERY"),
        sql="string",
        commitTs="long",
        buildTs="long",
        tableSchema=["null", "TableSchema"],
        preTableSchema=["null", "TableSchema"],
    ),
    _record(
        "DML",
        version="int",
        database="string",
        table="string",
        tableID="long",
        type=_enum("DMLType", "INSERT UPDATE DELETE"),
        commitTs="long",
        buildTs="long",
        schemaVersion="long",
        claimCheckLocation=["null", "string"],
        handleKeyOnly=["null", "boolean"],
        checksum=["null", _record("Checksum", version="int", corrupted="boolean", current="long", previous="long")],
        data=_image(_record("Timestamp", location="string", value="string"), _record("UnsignedBigint", value="long")),
        old=_image("Timestamp", "UnsignedBigint"),
    ),
]
_SCHEMA: Final = json.dumps(
    _record(
        "Wire",
        index={"type": "fixed", "name": "Index", "size": 1},
        message=_record("Message", type=_enum("MessageType", "WATERMARK BOOTSTRAP DDL DML"), payload=_PAYLOAD),
    )
)


@dataclass(frozen=True, slots=True)
class AvroBaseline:
    """The baseline at both levels."""

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """Images as maps, and the envelope, of every row change."""
        p, null = F.col("p"), F.lit(None)
        none = null.cast("string")
        dml = p["member3"]
        return _payloads(records).select(
            *_COORDINATES,
            F.lit(0).alias("row"),
            F.when(dml["type"].isNotNull(), "ROW").alias("kind"),
            dml["type"].alias("op"),
            dml["database"].alias("database"),
            none.alias("schema"),
            dml["table"].alias("table"),
            null.cast("array<string>").alias("keys"),
            none.alias("position"),
            null.cast("timestamp").alias("commit_time"),
            F.transform_values(dml["old"], lambda _, cell: _text(cell)).alias("before"),
            F.transform_values(dml["data"], lambda _, cell: _text(cell)).alias("after"),
            null.cast("map<string, string>").alias("types"),
            none.alias("schema_version"),
            p["member2"]["sql"].alias("sql"),
            none.alias("error"),
        )

    def decode_rows(self, records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        """Typed before and after structs of every row change."""
        dml = F.col("p")["member3"]

        def typed(image: Column) -> Column:
            cells = ((_text(image[c.name]), c) for c in table.columns)
            return F.struct(*(text.try_cast(c.type.spark).alias(c.name) for text, c in cells))

        return _payloads(records).select(
            *_COORDINATES,
            F.lit(0).alias("row"),
            F.when(dml["type"].isNotNull(), "ROW").alias("kind"),
            dml["type"].alias("op"),
            typed(dml["old"]).alias("before"),
            typed(dml["data"]).alias("after"),
            F.lit(None).cast("string").alias("error"),
        )


def _payloads(records: DataFrame) -> DataFrame:
    message = from_avro(F.col("value"), _SCHEMA, {"mode": "PERMISSIVE"})["message"]
    return records.select(*_COORDINATES, message["payload"].alias("p"))


def _text(cell: Column) -> Column:
    scalars = (cell[f"member{i}"].cast("string") for i in range(4))
    return F.coalesce(*scalars, F.hex(cell["member4"]), cell["member5"]["value"], cell["member6"]["value"].cast("string"))


BASELINE: Final = AvroBaseline()
