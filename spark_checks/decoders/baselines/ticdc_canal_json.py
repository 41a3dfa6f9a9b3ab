"""The baseline of TiCDC Canal-JSON."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import ROWS, Baseline

BASELINE: Final = Baseline(
    op="type",
    database="database",
    table="table",
    before="old",
    after="data",
    images=ROWS,
    committed="es",
    keys="pkNames",
    sql="sql",
    types="mysqlType",
)
