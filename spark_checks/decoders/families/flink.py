"""What the decoders of Flink SQL's four changelog formats share: how a value of a MySQL column is
read that Flink's sink wrote (page flink of the sources).

A message has a row and whether it is inserted or deleted; the table is the one of the topic.
DECIMAL and BIGINT UNSIGNED are JSON numbers, which may have an exponent (`1E+2`), and are parsed
again as decimals. BIT(1) is true or false, a binary base64, an ENUM its label. A blank or a T
stands between date and time; an instant ends in Z. A column that is left out is NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType, StringType

from generators.model import Deployment, Logical, SourceType
from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families.connect.decimals import base64_bytes, from_numeric
from spark_checks.decoders.families.flat import Flat, SecondReading, decimal_again
from spark_checks.decoders.families.framing import name_of_code
from spark_checks.decoders.families.mysql import index, mysql_typed

_CLOCK: Final = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,9})?"


def read_images(op_member: str, ops: Mapping[str, str]) -> Flat:
    """Reads messages with the members `before` and `after`, and their operation in the member
    `op_member`. `ops` are the operations by their codes in the message, such as INSERT by `c`.
    """

    def find_op(m: Column) -> Column:
        """The operation of a message that has the image it needs; NULL for any other message, which
        is CORRUPT. Flink's sink writes an UPDATE as a DELETE and an INSERT.
        """
        op = name_of_code(m[op_member], ops)
        has_row = F.when(op == "INSERT", m["after"].isNotNull()).otherwise(m["before"].isNotNull())
        return F.when(has_row, op)

    return Flat(
        members={op_member: StringType()},
        op=find_op,
        columns=lambda _m: {},
        row="after",
        old="before",
        deleted=("before",),
        typed=typed,
        text=mysql_text,
        exact=exact,
    )


def baseline_of_images(op_member: str, ops: Mapping[str, str]) -> Baseline:
    """The throughput baseline (the decoder without checks whose speed is the yardstick) for
    messages with the members `before` and `after`, and their operation in the member `op_member`.
    `ops` are the operations by their codes in the message, such as INSERT by `c`.
    """
    return Baseline(op=op_member, database="", table="", before="before", after="after", ops=ops)


def typed(cell_text: str, type: SourceType, deployment: Deployment) -> str:
    """SQL that reads the text of a cell, in which a date and time is spelled as MySQL does, as a
    value of the type.
    """
    match type.logical:
        case Logical.DECIMAL:
            return from_numeric(cell_text, type.precision or 0, type.scale or 0)
        case Logical.BINARY:
            return base64_bytes(cell_text)
        case Logical.ENUM:
            return index(cell_text, type)
    return mysql_typed(cell_text, type)


def mysql_text(cell_text: str, type: SourceType) -> str:
    """SQL of a cell's text as MySQL spells it: of a DATETIME, or of a TIMESTAMP in UTC, with a
    blank between date and time. A text of another form gets a `?`, so that it is no value of the
    type; texts of other types stay.
    """
    match type.logical:
        case Logical.DATETIME:
            pattern, clock = rf"{_CLOCK}\z", cell_text
        case Logical.TIMESTAMP:
            pattern, clock = rf"{_CLOCK}Z\z", f"left({cell_text}, length({cell_text}) - 1)"
        case _:
            return cell_text
    spelled = f"overlay({clock} PLACING ' ' FROM 11)"
    return (
        f"CASE WHEN {cell_text} RLIKE r'{pattern}' THEN {spelled} ELSE concat({cell_text}, '?') END"
    )


def exact(type: SourceType) -> SecondReading | None:
    """How a number of the type (DECIMAL, BIGINT UNSIGNED) is parsed a second time to be exact; None
    for a type whose numbers a double holds, or that is no number.
    """
    if type.logical is Logical.INT and type.spark.startswith("decimal"):
        return SecondReading(DecimalType(38, 18), "CAST({} AS string)")
    return decimal_again(type)
