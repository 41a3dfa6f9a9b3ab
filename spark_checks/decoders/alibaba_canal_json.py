"""Alibaba Canal's flat message as native Spark expressions (page canal of the sources).

One message is a binlog rows event with all its rows, or a statement. `isDdl` false does not mean
rows: the text of a rows event's query, statement-format DML and XA ends come without `data`.
`old[i]` belongs to `data[i]` and to no other row; a column that it lacks is unchanged in that row,
one that it gives as null was NULL. `position` is `id`, the batch.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField

from spark_checks.decoders.baselines import CANAL
from spark_checks.decoders.families import canal as _canal


def _kind(m: Column) -> Column:
    """The kind of message m, NULL if none is known. A QUERY with `isDdl` false is DDL if it names
    a database (CREATE DATABASE up to Canal 1.1.4), else CONTROL: the SQL text of a rows event.
    """
    is_ddl = F.coalesce(m["isDdl"], F.lit(False))
    is_query = m["type"] == "QUERY"
    is_row = m["type"].isin(*_canal.ROW_TYPES) & ~is_ddl
    return (
        F.when(
            m["type"].isin(*_canal.DDL_TYPES) & (~is_query | is_ddl | (m["database"] != "")), "DDL"
        )
        .when(is_query, "CONTROL")
        .when(is_row & _canal.has_rows(m["data"]), "ROW")
        .when(is_row & m["data"].isNull() & (m["sql"] != ""), "CONTROL")
        .when(m["type"].isin("XACOMMIT", "XAROLLBACK"), "TRANSACTION")
    )


DIALECT: Final = _canal.CanalDialect(kind=_kind, extra=(StructField("gtid", StringType()),))
BASELINE: Final = CANAL
decode, decode_rows = DIALECT.decode, DIALECT.decode_rows
