"""Huawei CDL's own JSON, message_version 1.0, as native Spark expressions (the page huawei of the
sources).

One message is one row change of PostgreSQL: `OPERATION` INSERT, UPDATE, DELETE. The row after is
`data`, the row before `before`, where a DELETE has its row (the vendor shows none). No member names
the database; `SEG_OWNER` is the schema. `position` is the property called `lsn` of
`transaction.properties`, an array of names and values in whatever order, `commit_time` is
`TIMESTAMP`, in milliseconds. A row of `cdc_cdl.cdc_heartbeat` is a row like any other.

Level two reads a cell by its logical type in the message's schema, known by its last part, since
the vendor's package is blacked out: a decimal is text, timestamps and times are milliseconds, dates
are days. Without a schema the same is assumed.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families import cdl as _cdl
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families.connect import rows as _connect

_PROPERTIES: Final = ArrayType(_framing.struct("name:string value:long"))
MEMBERS: Final = (
    *_framing.struct(
        "SEG_OWNER:string TABLE_NAME:string TIMESTAMP:long transaction",
        transaction=_framing.struct("properties", properties=_PROPERTIES),
    ),
    _cdl.UNIQUE,
)
"""The payload's members that are read, beside the images and `OPERATION`."""


def _kind(p: Column) -> Column:
    """ROW for a payload of a row change, else NULL."""
    return F.when(p["TABLE_NAME"].isNotNull() & DIALECT.has_row(p), "ROW")


def _position(p: Column) -> Column:
    """The LSN of a row change, from the properties of its transaction; NULL if it has none."""
    entries = F.filter(p["transaction"]["properties"], lambda entry: entry["name"] == "lsn")
    return F.get(entries, F.lit(0))["value"].cast("string")


DIALECT: Final = _connect.ConnectDialect(
    kind=_kind,
    members=MEMBERS,
    ops={"insert": "INSERT", "update": "UPDATE", "delete": "DELETE"},
    schema=lambda p: p["SEG_OWNER"],
    table=lambda p: p["TABLE_NAME"],
    position=_position,
    commit_ms=lambda p: p["TIMESTAMP"],
    keys=_cdl.keys,
    op="OPERATION",
    after="data",
    form=lambda type, _deployment: _cdl.schemaless_form(type, stamp="ms", time="ms"),
)

BASELINE: Final = Baseline(
    op="payload.OPERATION",
    database="",
    schema="payload.SEG_OWNER",
    table="payload.TABLE_NAME",
    before="payload.before",
    after="payload.data",
    committed="payload.TIMESTAMP",
)
decode, decode_rows = DIALECT.decode, DIALECT.decode_rows
