"""The baseline of Huawei CDL JSON."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import Baseline

BASELINE: Final = Baseline(
    op="payload.OPERATION",
    database="",
    schema="payload.SEG_OWNER",
    table="payload.TABLE_NAME",
    before="payload.before",
    after="payload.data",
    committed="payload.TIMESTAMP",
)
