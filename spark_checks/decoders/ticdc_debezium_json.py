"""TiCDC's Debezium protocol as native Spark expressions (sources: the page ticdc-debezium).

Debezium's envelope, with the payload before its schema or without one, and then still in an object
of its own. `op` is c, u, d; m is a watermark, where Debezium's m is a logical decoding message; a
payload without op and with ddl is a statement. No tombstone follows a DELETE: a record without
value is none of TiCDC's. `position` is `source.commit_ts`, since file, pos and row are empty;
`source.version` is Debezium's, and `source.connector` TiCDC. The record's key is an object with the
key in payload; releases before v8.5 have none.

Level two reads a cell by its schema, else by the options that TiCDC cannot change: DECIMAL is a
double, BIGINT UNSIGNED a long, binaries are base64 under a schema that says string.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_checks.decoders.baselines import ENVELOPE
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families.connect import rows as _connect

_SOURCE: Final = _framing.struct("ts_ms:long db:string table:string commit_ts:long")
MEMBERS: Final = tuple(_framing.struct("source ddl:string", source=_SOURCE))
"""The members of every kind of payload, beside the images and `op`."""


def _kind(p: Column) -> Column:
    """The kind of a payload that has TiCDC's commit timestamp: ROW, WATERMARK or DDL; NULL for any
    other, which is CORRUPT.
    """
    sourced = p["source"]["commit_ts"].isNotNull()
    return (
        F.when(sourced & DIALECT.has_row(p), "ROW")
        .when(sourced & (p["op"] == "m"), "WATERMARK")
        .when(sourced & p["op"].isNull() & p["ddl"].isNotNull(), "DDL")
    )


DIALECT: Final = _connect.ConnectDialect(
    kind=_kind,
    members=MEMBERS,
    ops={"c": "INSERT", "u": "UPDATE", "d": "DELETE"},
    database=lambda p: p["source"]["db"],
    table=lambda p: p["source"]["table"],
    position=lambda p: p["source"]["commit_ts"].cast("string"),
    commit_ms=lambda p: p["source"]["ts_ms"],
    sql=lambda p: p["ddl"],
    keys=lambda _p: F.expr("json_object_keys(get_json_object(CAST(key AS string), '$.payload'))"),
    fixed={
        "decimal": "double",
        "temporal": "adaptive_time_microseconds",
        "binary": "base64",
        "bigint_unsigned": "long",
    },
)
BASELINE: Final = replace(ENVELOPE, schema="")
decode, decode_rows = DIALECT.decode, DIALECT.decode_rows
