"""Flink SQL's ogg-json of a sink as native Spark expressions (page flink of the sources).

One message is one row: `op_type` I is an INSERT of `after`, D the DELETE of `before`. Nothing names
the table.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families import flink
from spark_checks.decoders.families.flat import Flat
from spark_checks.decoders.families.framing import name_of_code

_OPS: Final = {"I": "INSERT", "D": "DELETE"}


def _op(m: Column) -> Column:
    """The operation of a message whose image it needs is there; NULL for any other, which is
    CORRUPT: there are no updates.
    """
    op = name_of_code(m["op_type"], _OPS)
    has_row = F.when(op == "INSERT", m["after"].isNotNull()).otherwise(m["before"].isNotNull())
    return F.when(has_row, op)


FLAT: Final = Flat(
    members={"op_type": StringType()},
    op=_op,
    columns=lambda _m: {},
    row="after",
    old="before",
    deleted="before",
    typed=flink.typed,
    text=flink.mysql_text,
    exact=flink.exact,
)
BASELINE: Final = Baseline(
    op="op_type",
    database="",
    table="",
    before="before",
    after="after",
    ops=_OPS,
)
decode, decode_rows = FLAT.decode, FLAT.decode_rows
