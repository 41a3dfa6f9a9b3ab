"""Decoders of Maxwell's JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import maxwell_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "bootstrap-refused",
        1,
        "rows/snapshot",
        "Flink's maxwell-json knows insert, update and delete alone (maxwell#flink-types).",
        on_input(reference.decode, "CASE WHEN contains(t, '\"type\":\"bootstrap-') THEN '' ELSE t END"),
    ),
    *law(reference.decode, "nowhere"),
)
