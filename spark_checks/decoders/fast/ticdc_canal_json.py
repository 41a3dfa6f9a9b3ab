"""Rows of TiCDC Canal-JSON, a batch at a time: `fast.canal`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import DataFrame

from generators.model import Deployment, Table
from spark_checks.decoders.families.canal import DDL_TYPES
from spark_checks.decoders.fast import canal

__all__ = ["decode_rows"]


def _other(m: Mapping[str, Any]) -> bool:
    """A statement with `isDdl`, or a watermark without."""
    ddl, kind = m.get("isDdl"), m.get("type")
    return kind in DDL_TYPES if ddl else ddl is False and kind == "TIDB_WATERMARK"


DIALECT: Final = canal.Dialect(_other, {"_tidb": {"commitTs": "long", "watermarkTs": "long"}}, states_ddl=True, binary_codes=True)


def decode_rows(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
    """Typed row changes of `table`; a partial `old` is completed from `data`."""
    return canal.decode_rows(records, table, DIALECT, deployment)
