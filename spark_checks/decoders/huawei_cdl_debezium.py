"""Huawei CDL's "open-source Debezium JSON", message_version 2.0, as native Spark expressions (the
page huawei of the sources).

Debezium 1.4's envelope of PostgreSQL with deviations: the envelope's schema is called
`schema.table` and that of `after` `data`, so the decoder finds nothing by a schema's name; `unique`
has the key, and the record's own key is not needed. `op` is c, u, d; r is Debezium's, and taken as
such. `position` is `source.lsn`, `commit_time` is `source.ts_ms`, not the payload's.

Level two reads a cell by its logical type in the message's schema, known by its last part, since
the vendor's package is blacked out: decimals are text, timestamps text in SQL's or ISO's form (the
document has only nulls), times microseconds, dates days. Without a schema the same is assumed.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StructField

from spark_checks.decoders.baselines import ENVELOPE
from spark_checks.decoders.families import cdl as _cdl
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families.connect import rows as _connect

_SOURCE: Final = _framing.struct("ts_ms:long db:string schema:string table:string lsn:long")
MEMBERS: Final = (StructField("source", _SOURCE), _cdl.UNIQUE)
"""The payload's members that are read, beside the images and `op`."""


def _kind(p: Column) -> Column:
    """ROW for a payload of a row change, else NULL."""
    return F.when(p["source"]["table"].isNotNull() & DIALECT.has_row(p), "ROW")


DIALECT: Final = _connect.ConnectDialect(
    kind=_kind,
    members=MEMBERS,
    ops={"c": "INSERT", "u": "UPDATE", "d": "DELETE", "r": "READ"},
    database=lambda p: p["source"]["db"],
    schema=lambda p: p["source"]["schema"],
    table=lambda p: p["source"]["table"],
    position=lambda p: p["source"]["lsn"].cast("string"),
    commit_ms=lambda p: p["source"]["ts_ms"],
    keys=_cdl.keys,
    form=lambda type, _deployment: _cdl.schemaless_form(type, stamp="text", time="us"),
)
BASELINE: Final = ENVELOPE
decode, decode_rows = DIALECT.decode, DIALECT.decode_rows
