"""The baseline of TiCDC's Simple protocol in JSON."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import SAME, Baseline

BASELINE: Final = Baseline(op="type", database="database", table="table", before="old", after="data", sql="sql", ops=SAME)
