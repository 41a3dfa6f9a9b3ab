"""CloudCanal's Debezium Envelope as native Spark expressions (the page cloudcanal-envelope of the
sources).

One message is one row change or one statement, in the same stream; their members, in any order,
tell them apart. `op` c, u, d are documented; r and t are Debezium's, and taken as such. A payload
with `ddl` is a statement, be its `op` a, as the page's table says, or missing, as in its example.
`after` is the row after the change: the table describes the two images the wrong way round, the
example has them right. An INSERT has only `after` and a DELETE only `before`, whether the other is
null or `{}`: it is no image, whereas the `{}` that an UPDATE may have is one of no columns. The
decoder ignores `tableChanges`, one object, and `source.connector`. `commit_time` is `source.ts_ms`,
which on a statement may be far from the payload's; `position` is `file:pos` of the binlog. The page
shows VARCHAR as text and the vendor's article an INT too, under a schema of its own, so cells are
texts (`families.cloudcanal`), and the schema is ignored. Where the deployment states Debezium's
options, cells are as Debezium writes them (`families.connect.values`), by the message's schema if
it has one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from generators import model
from generators.model import Deployment, Table
from spark_checks.decoders.baselines import ENVELOPE
from spark_checks.decoders.families import cloudcanal as _cloudcanal
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families.connect import rows as _connect
from spark_checks.decoders.families.mysql import mysql_typed

_STRING: Final = StringType()

_SOURCE: Final = _framing.struct("ts_ms:long db:string table:string file:string pos:long")
MEMBERS: Final = tuple(
    _framing.struct("source ts_ms:long databaseName:string ddl:string", source=_SOURCE)
)
"""The members of both kinds of payload, beside the images and `op`."""


def _kind(p: Column) -> Column:
    """The kind of a payload: DDL if it has `ddl` and no row's `op`, ROW for a row change with
    source and images; NULL for any other, which is CORRUPT.
    """
    statement = p["ddl"].isNotNull() & (p["op"].isNull() | p["op"].isin("a", "A"))
    return F.when(statement, "DDL").when(p["source"].isNotNull() & DIALECT.has_row(p), "ROW")


def _position(p: Column) -> Column:
    """The binlog's file and offset of a row change; NULL if the message has no file."""
    source = p["source"]
    return F.when(source["file"].isNotNull(), F.concat_ws(":", source["file"], source["pos"]))


DIALECT: Final = _connect.ConnectDialect(
    kind=_kind,
    members=MEMBERS,
    ops={"c": "INSERT", "u": "UPDATE", "d": "DELETE", "r": "READ", "t": "TRUNCATE"},
    database=lambda p: F.coalesce(p["source"]["db"], p["databaseName"]),
    table=lambda p: p["source"]["table"],
    position=_position,
    commit_ms=lambda p: p["source"]["ts_ms"],
    sql=lambda p: p["ddl"],
)

BASELINE: Final = replace(ENVELOPE, schema="")


decode = DIALECT.decode


def decode_rows(
    records: DataFrame, table: Table, *, deployment: Deployment | None = None
) -> DataFrame:
    """Level two: typed row changes of `table`, and CORRUPT rows. A before image has only the
    columns that the message gives.
    """
    if deployment and (deployment.decimal or deployment.temporal):
        return DIALECT.decode_rows(records, table, deployment=deployment)
    texts = StructType([StructField(c.name, _STRING) for c in table.columns])
    setting, zone = deployment or Deployment(), deployment.time_zone if deployment else "UTC"

    def value(c: model.Column, image: str) -> str:
        """SQL of a column's value in an image: CloudCanal's own reading if it has one for the type,
        else MySQL's.
        """
        cell_text = _framing.cell(c, image)
        return _cloudcanal.typed(cell_text, c.type, setting) or mysql_typed(cell_text, c.type, zone)

    def part(m: _connect.Message) -> Column:
        """What level two needs of a message: its operation and images if it is a row of the table,
        NULL if it is another message, or that it is CORRUPT.
        """
        p = m.payload
        of_table = (
            (m.kind == "ROW")
            & (p["source"]["db"] == table.database)
            & (p["source"]["table"] == table.name)
        )
        return _framing.needed_part(m.kind, of_table, m.op, p["before"], p["after"])

    message = _connect.message_of(DIALECT, StructType([]), texts, part)
    return _framing.typed_rows(
        records, message, _framing.row_array(_framing.images(table, _framing.cell, value))
    )
