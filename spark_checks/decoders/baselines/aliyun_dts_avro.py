"""Aliyun DTS's Avro Record, its baseline: `from_avro` with the plain schema, the text of a cell whatever its branch, try_cast.

As every baseline it does nothing that costs: it notices nothing malformed, ignores what follows `afterImages`, takes every
Character for UTF-8, gives NULL for what was not captured, and drops fractions of times; operations and names stay as written.
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
_ROWS: Final = ("INSERT", "UPDATE", "DELETE")


def _record(name: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields.items()]}


def _enum(name: str, symbols: str) -> dict[str, Any]:
    return {"type": "enum", "name": name, "symbols": symbols.split()}


_CELLS: Final = [
    "null",
    _record("Integer", precision="int", value="string"),
    _record("Character", charset="string", value="bytes"),
    _record("Decimal", value="string", precision="int", scale="int"),
    _record("Float", value="double", precision="int", scale="int"),
    _record("Timestamp", timestamp="long", millis="int"),
    _record("DateTime", **dict.fromkeys(("year", "month", "day", "hour", "minute", "second", "millis"), ("null", "int"))),
    _record("TimestampWithTimeZone", value="DateTime", timezone="string"),
    _record("BinaryGeometry", type="string", value="bytes"),
    _record("TextGeometry", type="string", value="string"),
    _record("BinaryObject", type="string", value="bytes"),
    _record("TextObject", type="string", value="string"),
    _enum("EmptyObject", "NULL NONE"),
]
_NAMES: Final = ["null", *(cell["name"] for cell in _CELLS if isinstance(cell, dict))]
_SCHEMA: Final = json.dumps(
    _record(
        "Record",
        version="int",
        id="long",
        sourceTimestamp="long",
        sourcePosition="string",
        safeSourcePosition="string",
        sourceTxid="string",
        source=_record(
            "Source",
            sourceType=_enum("SourceType", "MySQL Oracle SQLServer PostgreSQL MongoDB Redis DB2 PPAS DRDS HBASE HDFS FILE OTHER"),
            version="string",
        ),
        operation=_enum(
            "Operation",
            "INSERT UPDATE DELETE DDL BEGIN COMMIT ROLLBACK ABORT HEARTBEAT CHECKPOINT COMMAND FILL FINISH CONTROL RDB NOOP INIT",
        ),
        objectName=["null", "string"],
        processTimestamps=["null", {"type": "array", "items": "long"}],
        tags={"type": "map", "values": "string"},
        fields=["null", "string", {"type": "array", "items": _record("Field", name="string", dataTypeNumber="int")}],
        beforeImages=["null", "string", {"type": "array", "items": _CELLS}],
        afterImages=["null", "string", {"type": "array", "items": _NAMES}],
    )
)


@dataclass(frozen=True, slots=True)
class AvroBaseline:
    """The baseline at both levels."""

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """Images as maps, and the envelope, of every row change."""
        m, none = F.col("m"), F.lit(None).cast("string")
        fields = m["fields"]["member1"]

        return _records(records).select(
            *_COORDINATES,
            F.lit(0).alias("row"),
            _kind(m),
            _op(m),
            F.split_part(m["objectName"], F.lit("."), F.lit(1)).alias("database"),
            none.alias("schema"),
            F.split_part(m["objectName"], F.lit("."), F.lit(2)).alias("table"),
            F.from_json(m["tags"]["pk_uk_info"], "PRIMARY array<string>")["PRIMARY"].alias("keys"),
            m["sourcePosition"].alias("position"),
            F.timestamp_seconds(m["sourceTimestamp"]).alias("commit_time"),
            _image(m, "beforeImages").alias("before"),
            _image(m, "afterImages").alias("after"),
            F.map_from_arrays(fields["name"], fields["dataTypeNumber"].cast("array<string>")).alias("types"),
            none.alias("schema_version"),
            m["afterImages"]["member0"].alias("sql"),
            none.alias("error"),
        )

    def decode_rows(self, records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        """Typed before and after structs of every row change."""
        m = F.col("m")

        def typed(side: str) -> Column:
            image = _image(m, side)
            return F.struct(*(image[c.name].try_cast(c.type.spark).alias(c.name) for c in table.columns))

        return _records(records).select(
            *_COORDINATES,
            F.lit(0).alias("row"),
            _kind(m),
            _op(m),
            typed("beforeImages").alias("before"),
            typed("afterImages").alias("after"),
            F.lit(None).cast("string").alias("error"),
        )


def _records(records: DataFrame) -> DataFrame:
    return records.select(*_COORDINATES, from_avro(F.col("value"), _SCHEMA, {"mode": "PERMISSIVE"}).alias("m"))


def _kind(m: Column) -> Column:
    return F.when(m["operation"].isin(*_ROWS), "ROW").alias("kind")


def _op(m: Column) -> Column:
    return F.when(m["operation"].isin(*_ROWS), m["operation"]).alias("op")


def _image(m: Column, side: str) -> Column:
    return F.map_from_arrays(m["fields"]["member1"]["name"], F.transform(m[side]["member1"], _text))


def _text(cell: Column) -> Column:
    """The cell's branch as text."""
    clock = cell["member5"]
    date = F.concat_ws("-", clock["year"], clock["month"], clock["day"])
    time = F.concat_ws(":", clock["hour"], clock["minute"], clock["second"])
    return F.coalesce(
        cell["member0"]["value"],
        cell["member1"]["value"].cast("string"),
        cell["member2"]["value"],
        cell["member3"]["value"].cast("string"),
        F.timestamp_seconds(cell["member4"]["timestamp"]).cast("string"),
        F.when(clock.isNotNull(), F.concat_ws(" ", date, time)),
        cell["member9"]["value"].cast("string"),
        cell["member10"]["value"],
    )


BASELINE: Final = AvroBaseline()
