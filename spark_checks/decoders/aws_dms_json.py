"""AWS DMS's JSON as native Spark expressions (page aws-dms of the sources).

One message is one record. `metadata` says what it is: `record-type` data with the `operation` load,
insert, update or delete is a row, control is none. `schema-name` is MySQL's database. `data` is the
row after the change, of a delete the deleted one; with before imaging `before-image` is what an
update's row was. A column that is left out is NULL. `commit-timestamp` is the time of the commit,
where there is one: `timestamp` is not.

Numbers are parsed again as decimals; the T and the Z of a DATETIME are no part of its wall clock.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from generators.model import Deployment, Logical, SourceType
from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families.connect.decimals import from_numeric
from spark_checks.decoders.families.flat import Flat, decimal_again
from spark_checks.decoders.families.framing import name_of_code
from spark_checks.decoders.families.mysql import mysql_typed

_OPERATIONS: Final = {
    "load": "READ",
    "insert": "INSERT",
    "update": "UPDATE",
    "delete": "DELETE",
}
_METADATA: Final = (
    "record-type",
    "operation",
    "schema-name",
    "table-name",
    "commit-timestamp",
    "stream-position",
)
"""The members of `metadata` that are read."""
_MOMENT: Final = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z\z"


def _op(m: Column) -> Column:
    """The operation of an AWS DMS record that names its table and has a row; NULL for any other
    record.
    """
    metadata = m["metadata"]
    is_row = (
        (metadata["record-type"] == "data")
        & metadata["schema-name"].isNotNull()
        & metadata["table-name"].isNotNull()
        & m["data"].isNotNull()
    )
    return F.when(is_row, name_of_code(metadata["operation"], _OPERATIONS))


def _kind_without_row(m: Column) -> Column:
    """CONTROL for an AWS DMS control record; NULL for any other message that is no row, which is
    CORRUPT.
    """
    metadata = m["metadata"]
    is_control = (metadata["record-type"] == "control") & metadata["operation"].isNotNull()
    return F.when(is_control, "CONTROL")


def _columns(m: Column) -> dict[str, Column]:
    """The level-one columns of an AWS DMS message that its `metadata` gives; `commit_time` is NULL
    for a text that is no moment.
    """
    metadata = m["metadata"]
    committed = metadata["commit-timestamp"]
    return {
        "database": metadata["schema-name"],
        "table": metadata["table-name"],
        "position": metadata["stream-position"],
        "commit_time": F.when(committed.rlike(_MOMENT), committed.try_cast("timestamp")),
    }


def _mysql_text(cell_text: str, type: SourceType) -> str:
    """SQL of a date and time as MySQL spells it, from AWS DMS's spelling with T and Z; the texts of
    other types stay.
    """
    if type.logical not in (Logical.DATETIME, Logical.TIMESTAMP):
        return cell_text
    return (
        f"CASE WHEN {cell_text} RLIKE r'{_MOMENT}'"
        f" THEN overlay(left({cell_text}, length({cell_text}) - 1) PLACING ' ' FROM 11)"
        f" ELSE {cell_text} END"
    )


def _typed_sql(cell_text: str, type: SourceType, deployment: Deployment) -> str:
    """SQL that reads a cell's text in AWS DMS's spelling as a value of the type: DECIMAL from a
    JSON number, others as MySQL's.
    """
    if type.logical is Logical.DECIMAL:
        return from_numeric(cell_text, type.precision or 0, type.scale or 0)
    return mysql_typed(cell_text, type, deployment.time_zone)


FLAT: Final = Flat(
    members={"metadata": StructType([StructField(name, StringType()) for name in _METADATA])},
    op=_op,
    columns=_columns,
    row="data",
    old="before-image",
    old_is_whole=True,
    other=_kind_without_row,
    typed=_typed_sql,
    text=_mysql_text,
    exact=decimal_again,
)
BASELINE: Final = Baseline(
    op="metadata.operation",
    database="metadata.schema-name",
    table="metadata.table-name",
    before="before-image",
    after="data",
    ops=_OPERATIONS,
)
decode, decode_rows = FLAT.decode, FLAT.decode_rows
