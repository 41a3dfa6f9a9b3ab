"""debezium-json of Flink CDC's Kafka sink as native Spark expressions (page flink-cdc of the
sources).

One message is one row change: `op` c is an INSERT of `after`, u an UPDATE of `before` to `after`, d
the DELETE of `before`. `source` names the database, `db`, and the table.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families.flink_cdc import read_changes
from spark_checks.decoders.families.framing import name_of_code, struct

_OPS: Final = {"c": "INSERT", "u": "UPDATE", "d": "DELETE"}


def _op(m: Column) -> Column:
    """The operation of a message that names its table and has exactly the rows that the operation
    needs; NULL for any other, which is CORRUPT.
    """
    op = name_of_code(m["op"], _OPS)
    has_names = m["source"]["db"].isNotNull() & m["source"]["table"].isNotNull()
    has_before = m["before"].isNotNull() == (op != "INSERT")
    has_after = m["after"].isNotNull() == (op != "DELETE")
    return F.when(has_names & has_before & has_after, op)


FLAT: Final = read_changes(
    {"op": StringType(), "source": struct("db:string table:string")},
    _op,
    lambda m: {"database": m["source"]["db"], "table": m["source"]["table"]},
    row_member="after",
    old_member="before",
    deleted=("before",),
)
BASELINE: Final = Baseline(
    op="op",
    database="source.db",
    table="source.table",
    before="before",
    after="after",
    ops=_OPS,
)
decode, decode_rows = FLAT.decode, FLAT.decode_rows
