"""The baseline of Sample's JSON. To write: where things stand in its messages."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import Baseline

BASELINE: Final = Baseline(op="op", database="", table="table", before="before", after="after")
