"""The baseline of CloudCanal Json."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import ROWS, Baseline

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
