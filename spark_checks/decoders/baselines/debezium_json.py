"""The baseline of Debezium's JSON."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import huawei_cdl_debezium as same

BASELINE: Final = same.BASELINE
