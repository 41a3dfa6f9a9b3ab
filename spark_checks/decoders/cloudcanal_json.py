"""CloudCanal Json as native Spark expressions (cloudcanal#members and what follows it).

A message holds any number of rows of one action; `before[i]` belongs to `data[i]` of an UPDATE,
complete or not: what it lacks is as in `data`. A DELETE's rows are in `data`, as in Canal, or in
`before` when `data` holds none: the page does not say. An INSERT's `before` is ignored. `entryType`
TRANSACTIONEND, and its sibling TRANSACTIONBEGIN, bear no rows. `isDdl`, in an older edition `ddl`,
marks a DDL: its entryType is ROWDATA too, the page does not list its actions, and any but a row
operation is accepted. A message with neither key is a row change by its action. `keys` are `pks`,
empty in the examples; `position` is `bid`, the batch, shared by all of it and 0 in the examples;
`commit_time` is `execTs`, `types` are `dbValType`, which on a DDL is as after the change. Values:
`families.cloudcanal`.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, StringType, StructField

from spark_checks.decoders.baselines import ROWS, Baseline
from spark_checks.decoders.families import canal as _canal
from spark_checks.decoders.families import cloudcanal as _cloudcanal

NAMES: Final = _canal.Names(
    id="bid",
    database="db",
    schema="schema",
    keys="pks",
    op="action",
    committed="execTs",
    sent="sendTs",
    codes="jdbcType",
    types="dbValType",
    old="before",
)


def _kind(m: Column) -> Column:
    """The kind of a message: TRANSACTION by `entryType`, then DDL or ROW by `action` and `isDdl`,
    in an older edition `ddl` (a message with neither is no DDL); NULL for any other, which is
    CORRUPT.
    """
    is_row = m["action"].isin(*_canal.ROW_TYPES)
    is_ddl = F.coalesce(m["isDdl"], m["ddl"], F.lit(False))
    deleted = (
        (m["action"] == "DELETE")
        & F.get(m["data"], F.lit(0)).isNull()
        & _canal.has_rows(m["before"])
    )
    return (
        F.when(m["entryType"].isin("TRANSACTIONEND", "TRANSACTIONBEGIN"), "TRANSACTION")
        .when(is_ddl & ~is_row, "DDL")
        .when(~is_ddl & is_row & (_canal.has_rows(m["data"]) | deleted), "ROW")
    )


def _position(m: Column) -> Column:
    """The position of a message as text: its batch, `bid`."""
    return m["bid"].cast("string")


DIALECT: Final = _canal.CanalDialect(
    kind=_kind,
    position=_position,
    extra=(StructField("ddl", BooleanType()), StructField("entryType", StringType())),
    names=NAMES,
    deletes_in_old=True,
    typed=_cloudcanal.typed,
)

BASELINE: Final = Baseline(
    op="action",
    database="db",
    schema="schema",
    table="table",
    before="before",
    after="data",
    images=ROWS,
    committed="execTs",
    keys="pks",
    sql="sql",
    types="dbValType",
)
decode, decode_rows = DIALECT.decode, DIALECT.decode_rows
