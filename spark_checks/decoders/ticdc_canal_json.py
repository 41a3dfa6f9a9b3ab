"""TiCDC Canal-JSON as native Spark expressions.

One message is one row change, a DDL statement or a watermark. Every release since v4.0.10 is read
alike: a DELETE's row is in `data` (before v5.4 `old` repeats it), an INSERT's `old` is ignored
(before v5.4 it is `[null]`), the CRLF that v6.5 puts behind a row change is white space. `position`
is `_tidb.commitTs` or `_tidb.watermarkTs`, NULL without the extension.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType, StructField, StructType

from spark_checks.decoders.baselines import CANAL
from spark_checks.decoders.families import canal as _canal

_TSO: Final = DecimalType(20, 0)


def _kind(m: Column) -> Column:
    """The kind of a message, by `isDdl` first, then by its type: DDL, ROW or WATERMARK; NULL for
    any other, which is CORRUPT.
    """
    ddl = m["isDdl"] & m["type"].isin(*_canal.DDL_TYPES)
    dml = ~m["isDdl"]
    return (
        F.when(ddl, "DDL")
        .when(dml & m["type"].isin(*_canal.ROW_TYPES) & _canal.has_rows(m["data"]), "ROW")
        .when(dml & (m["type"] == "TIDB_WATERMARK"), "WATERMARK")
    )


def _position(m: Column) -> Column:
    """The position of a message as text: that of its commit, or the one that a watermark names."""
    return F.coalesce(m["_tidb"]["commitTs"], m["_tidb"]["watermarkTs"]).cast("string")


DIALECT: Final = _canal.CanalDialect(
    kind=_kind,
    position=_position,
    extra=(
        StructField(
            "_tidb", StructType([StructField("commitTs", _TSO), StructField("watermarkTs", _TSO)])
        ),
    ),
    binary_codes=True,
)
BASELINE: Final = CANAL
decode, decode_rows = DIALECT.decode, DIALECT.decode_rows
