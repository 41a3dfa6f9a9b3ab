"""The baseline of CloudCanal's Debezium Envelope."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import CODES, Baseline

BASELINE: Final = Baseline(
    op="payload.op",
    database="payload.source.db",
    table="payload.source.table",
    before="payload.before",
    after="payload.after",
    committed="payload.source.ts_ms",
    ops=CODES,
)
