"""The baseline of CloudCanal's Canal Json."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import ticdc_canal_json as same

BASELINE: Final = same.BASELINE
