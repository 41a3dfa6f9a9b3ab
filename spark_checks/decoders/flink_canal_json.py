"""Flink SQL's canal-json of a sink as native Spark expressions (page flink of the sources).

One message is one row: `data` is a list of it, `type` INSERT or DELETE. Nothing names the table.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from spark_checks.decoders.baselines import ROWS, Baseline
from spark_checks.decoders.families import flink
from spark_checks.decoders.families.flat import Flat
from spark_checks.decoders.families.framing import name_of_code

_OPS: Final = {"INSERT": "INSERT", "DELETE": "DELETE"}


def _op(m: Column) -> Column:
    """The operation of a message with exactly one row; NULL for any other, which is CORRUPT: there
    are no updates.
    """
    has_row = (F.size(m["data"]) == 1) & F.get(m["data"], F.lit(0)).isNotNull()
    return F.when(has_row, name_of_code(m["type"], _OPS))


FLAT: Final = Flat(
    members={"type": StringType()},
    op=_op,
    columns=lambda _m: {},
    row="data",
    old="old",
    listed=True,
    typed=flink.typed,
    text=flink.mysql_text,
    exact=flink.exact,
)
BASELINE: Final = Baseline(
    op="type",
    database="",
    table="",
    before="old",
    after="data",
    images=ROWS,
    ops=_OPS,
)
decode, decode_rows = FLAT.decode, FLAT.decode_rows
