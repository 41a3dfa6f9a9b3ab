"""SeaTunnel's canal_json of a Kafka sink as native Spark expressions (page seatunnel of the
sources).

One message is one row: `data` is the row, `type` INSERT or DELETE. Nothing names the table. A
TIMESTAMP is a wall clock in the zone of the deployment.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from generators.model import Deployment, Logical, SourceType
from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families import flink
from spark_checks.decoders.families.flat import Flat
from spark_checks.decoders.families.framing import name_of_code
from spark_checks.decoders.families.mysql import mysql_typed

_OPS: Final = {"INSERT": "INSERT", "DELETE": "DELETE"}
_CLOCK: Final = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?\z"


def _op(m: Column) -> Column:
    """The operation of a message with a row; NULL for any other, which is CORRUPT: there are no
    updates.
    """
    return F.when(m["data"].isNotNull(), name_of_code(m["type"], _OPS))


def _typed(cell_text: str, type: SourceType, deployment: Deployment) -> str:
    """SQL that reads the text of a cell, in which a date and time is spelled as MySQL does, as a
    value of the type.
    """
    if type.logical is Logical.TIMESTAMP:
        return mysql_typed(cell_text, type, deployment.time_zone)
    return flink.typed(cell_text, type, deployment)


def _mysql_text(cell_text: str, type: SourceType) -> str:
    """SQL of the text of a date and time as MySQL spells it: with a blank for the T. A text of
    another form becomes one that is no value of the type.
    """
    if type.logical not in (Logical.DATETIME, Logical.TIMESTAMP):
        return cell_text
    spelled = f"overlay({cell_text} PLACING ' ' FROM 11)"
    return (
        f"CASE WHEN {cell_text} RLIKE r'{_CLOCK}' THEN {spelled} ELSE concat({cell_text}, '?') END"
    )


FLAT: Final = Flat(
    members={"type": StringType()},
    op=_op,
    columns=lambda _m: {},
    row="data",
    old="old",
    typed=_typed,
    text=_mysql_text,
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
