"""Sample's JSON as native Spark expressions. To write: what one message is, read in the document
and not in the writer.

As laid out, it takes every message for CORRUPT: right for none of the format's messages, and safe.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families.flat import Flat


def _op(message: Column) -> Column:
    """INSERT, UPDATE or DELETE of a message that has what its operation needs; NULL makes it
    CORRUPT. To write.
    """
    return F.lit(None).cast("string")


FLAT: Final = Flat(members={}, op=_op, columns=lambda message: {}, row="row", old="old")
"""To write: the members that are read, what they tell (the columns of docs/writing-a-decoder.md),
and where rows stand.
"""
BASELINE: Final = Baseline(op="op", database="", table="table", before="before", after="after")
"""To write: where the same things stand, for a decoder that checks nothing."""
decode, decode_rows = FLAT.decode, FLAT.decode_rows
