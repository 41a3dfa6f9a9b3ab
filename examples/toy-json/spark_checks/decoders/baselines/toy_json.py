"""The baseline of Toy CDC's JSON."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import Baseline

BASELINE: Final = Baseline(
    op="op",
    database="",
    table="table",
    before="old",
    after="row",
    committed="ts",
    ops={"insert": "INSERT", "update": "UPDATE", "delete": "DELETE"},
)
