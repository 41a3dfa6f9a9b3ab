"""Toy CDC's JSON as native Spark expressions (Toy CDC, Message format).

One message is one row change. `row` is the row after it, of a delete the deleted one; `old` has the
columns of an update that changed, and level two completes it from `row`.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType

from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families.flat import Flat
from spark_checks.decoders.families.framing import instant


def _op(m: Column) -> Column:
    """INSERT, UPDATE or DELETE of a message that has what its operation needs; NULL makes it
    CORRUPT.
    """
    told = m["ts"].isNotNull() & m["table"].isNotNull() & m["row"].isNotNull()
    legal = m["op"].isin("insert", "delete") | ((m["op"] == "update") & m["old"].isNotNull())
    return F.when(told & legal, F.upper(m["op"]))


FLAT: Final = Flat(
    members={"op": StringType(), "ts": LongType(), "table": StringType()},
    op=_op,
    columns=lambda m: {"table": m["table"], "commit_time": instant(m["ts"])},
    row="row",
    old="old",
)
BASELINE: Final = Baseline(
    op="op",
    database="",
    table="table",
    before="old",
    after="row",
    committed="ts",
    ops={"insert": "INSERT", "update": "UPDATE", "delete": "DELETE"},
)
"""Where the same things stand, for a decoder that checks nothing."""
decode, decode_rows = FLAT.decode, FLAT.decode_rows
