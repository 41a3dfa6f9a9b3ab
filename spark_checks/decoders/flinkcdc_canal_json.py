"""canal-json of Flink CDC's Kafka sink as native Spark expressions (page flink-cdc of the sources).

One message is one row change. `data` is a list of the row after it, `old` one of the whole row
before an UPDATE. The row of a DELETE stands in `data`, before Flink CDC 3.3 in `old`.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType

from spark_checks.decoders.baselines import ROWS, Baseline
from spark_checks.decoders.families.flink_cdc import read_changes
from spark_checks.decoders.families.framing import name_of_code

_OPS: Final = {"INSERT": "INSERT", "UPDATE": "UPDATE", "DELETE": "DELETE"}


def _op(m: Column) -> Column:
    """The operation of a message that names its table and its key and has exactly the rows that the
    operation needs; NULL for any other, which is CORRUPT. A DELETE has its row in `data`, or,
    before Flink CDC 3.3, in `old`.
    """
    op = name_of_code(m["type"], _OPS)
    has_names = m["database"].isNotNull() & m["table"].isNotNull() & m["pkNames"].isNotNull()
    has_rows = (
        F.when(op == "UPDATE", _has_row(m["old"]) & _has_row(m["data"]))
        .when(op == "INSERT", m["old"].isNull() & _has_row(m["data"]))
        .when(m["old"].isNull(), _has_row(m["data"]))
        .otherwise(m["data"].isNull() & _has_row(m["old"]))
    )
    return F.when(has_names & has_rows, op)


def _has_row(row_list: Column) -> Column:
    """Whether a list has one row, and nothing else."""
    return row_list.isNotNull() & (F.size(row_list) == 1) & F.get(row_list, F.lit(0)).isNotNull()


FLAT: Final = read_changes(
    {
        **dict.fromkeys(("type", "database", "table"), StringType()),
        "pkNames": ArrayType(StringType()),
    },
    _op,
    lambda m: {"database": m["database"], "table": m["table"], "keys": m["pkNames"]},
    row_member="data",
    old_member="old",
    deleted=("old", "data"),
    listed=True,
)
BASELINE: Final = Baseline(
    op="type",
    database="database",
    table="table",
    before="old",
    after="data",
    images=ROWS,
    keys="pkNames",
    ops=_OPS,
)
decode, decode_rows = FLAT.decode, FLAT.decode_rows
