"""Oracle GoldenGate's JSON as native Spark expressions (page ogg of the sources).

One message is one row operation: `op_type` I, U, D or T for a TRUNCATE, `before` the row before it
and `after` the row after it. `table` is the qualified name: what stands before its first dot is the
database's, the rest the table's. `op_ts` is when the database changed, wall clock in UTC; `pos`
orders operations and keeps its leading zeros; keys are `primary_keys`.

Numbers may be JSON numbers or texts, a date may stand before its time with a blank, a colon or a T.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType

from generators.model import Deployment, Logical, SourceType
from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families.connect.decimals import base64_bytes, from_numeric, from_text
from spark_checks.decoders.families.flat import Flat, decimal_again
from spark_checks.decoders.families.framing import name_of_code
from spark_checks.decoders.families.mysql import mysql_typed

_OPS: Final = {"I": "INSERT", "U": "UPDATE", "D": "DELETE", "T": "TRUNCATE"}
_QUALIFIED: Final = r"(?s)^(.+?)\.(.+)\z"
"""A qualified name: what stands before its first dot (group 1), and the rest (group 2)."""
_OP_TS: Final = r"^\d{4}-\d\d-\d\d[ :T]\d\d:\d\d:\d\d(\.\d{1,9})?\z"


def _op(m: Column) -> Column:
    """The operation of an Oracle GoldenGate message with a qualified table, a time and the images
    that it needs; NULL for any other, which is CORRUPT.
    """
    op = name_of_code(m["op_type"], _OPS)
    needed = F.when(op.isin("INSERT", "UPDATE"), m["after"].isNotNull()).when(
        op == "DELETE", m["before"].isNotNull()
    )
    has_row = m["table"].rlike(_QUALIFIED) & _instant(m).isNotNull()
    return F.when(has_row & F.coalesce(needed, F.lit(True)), op)


def _instant(m: Column) -> Column:
    """The commit time of a message from `op_ts`, a wall clock in UTC; NULL for another text."""
    clock = F.concat(
        F.left(m["op_ts"], F.lit(10)), F.lit(" "), F.substring(m["op_ts"], 12, 15), F.lit("Z")
    )
    return F.when(m["op_ts"].rlike(_OP_TS), clock.try_cast("timestamp"))


def _columns(m: Column) -> dict[str, Column]:
    """The level-one columns of an Oracle GoldenGate message beside operation and images; `table` is
    split into database and table at its first dot.
    """
    return {
        "database": F.regexp_extract(m["table"], _QUALIFIED, 1),
        "table": F.regexp_extract(m["table"], _QUALIFIED, 2),
        "keys": m["primary_keys"],
        "position": m["pos"],
        "commit_time": _instant(m),
    }


def _typed_sql(cell_text: str, type: SourceType, deployment: Deployment) -> str:
    """SQL that reads a cell's text in Oracle GoldenGate's spelling as a value of the type: base64
    for bytes, a JSON number for a short DECIMAL.
    """
    match type.logical:
        case Logical.BINARY:
            return base64_bytes(cell_text)
        case Logical.DECIMAL:
            precision, scale = type.precision or 0, type.scale or 0
            number = from_numeric(cell_text, precision, scale)
            # No double has so many digits: what has them is a text.
            return (
                f"CASE WHEN length({cell_text}) > 24 THEN {from_text(cell_text, precision, scale)} ELSE"
                f" {number} END"
            )
    return mysql_typed(cell_text, type, deployment.time_zone)


def _with_blank(cell_text: str, type: SourceType) -> str:
    """SQL of a cell's text as MySQL spells it: the date and the time of DATETIME and TIMESTAMP are
    separated by a blank.
    """
    return (
        f"overlay({cell_text} PLACING ' ' FROM 11)"
        if type.logical in (Logical.DATETIME, Logical.TIMESTAMP)
        else cell_text
    )


_TEXTS: Final = ("op_type", "table", "op_ts", "pos")
FLAT: Final = Flat(
    members={**dict.fromkeys(_TEXTS, StringType()), "primary_keys": ArrayType(StringType())},
    op=_op,
    columns=_columns,
    row="after",
    old="before",
    deleted=("before",),
    typed=_typed_sql,
    text=_with_blank,
    exact=decimal_again,
)
BASELINE: Final = Baseline(
    op="op_type",
    database="",
    table="table",
    before="before",
    after="after",
    keys="primary_keys",
    ops=_OPS,
)
decode, decode_rows = FLAT.decode, FLAT.decode_rows
