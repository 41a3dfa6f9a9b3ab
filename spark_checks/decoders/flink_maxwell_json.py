"""Flink SQL's maxwell-json of a sink as native Spark expressions (page flink of the sources).

One message is one row: `data`, and `type` insert or delete. Nothing names the table.
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

_OPS: Final = {"insert": "INSERT", "delete": "DELETE"}


def _op(m: Column) -> Column:
    """The operation of a message with a row; NULL for any other, which is CORRUPT: there are no
    updates.
    """
    return F.when(m["data"].isNotNull(), name_of_code(m["type"], _OPS))


FLAT: Final = Flat(
    members={"type": StringType()},
    op=_op,
    columns=lambda _m: {},
    row="data",
    old="old",
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
    ops=_OPS,
)
decode, decode_rows = FLAT.decode, FLAT.decode_rows
