"""Rows of Alibaba Canal's flat message, a batch at a time: `fast.canal`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import DataFrame

from generators.model import Deployment, Table
from spark_checks.decoders.families.canal import DDL_TYPES
from spark_checks.decoders.fast import canal

__all__ = ["decode_rows"]

_TRANSACTION_ENDS: Final = ("XACOMMIT", "XAROLLBACK")


def _other(m: Mapping[str, Any]) -> bool:
    """A statement, also one of statement-format DML, which has the type of a row change and no `data`; an end of XA."""
    kind = m.get("type")
    if kind in canal.ROW_TYPES:
        return not m.get("isDdl") and m.get("data") is None and bool(m.get("sql"))
    return kind in (*DDL_TYPES, *_TRANSACTION_ENDS)


DIALECT: Final = canal.Dialect(_other, {"gtid": "string"})


def decode_rows(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
    """Typed row changes of `table`; `before` is `old[i]` over `data[i]`."""
    return canal.decode_rows(records, table, DIALECT, deployment)
