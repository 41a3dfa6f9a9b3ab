"""Decoders of Oracle GoldenGate's JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import ogg_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "truncate-refused",
        1,
        "rows/truncate",
        "Flink's ogg-json knows I, U and D alone (ogg#truncate).",
        on_input(reference.decode, "CASE WHEN contains(t, '\"op_type\":\"T\"') THEN '' ELSE t END"),
    ),
    Liar(
        "update-without-before-refused",
        1,
        "rows/without-before",
        "Flink's ogg-json raises an IllegalStateException for an UPDATE without before (ogg#no-before).",
        on_input(
            reference.decode,
            "CASE WHEN contains(t, '\"op_type\":\"U\"') AND NOT contains(t, '\"before\":') THEN '' ELSE t END",
        ),
    ),
    *law(reference.decode, "nowhere", "one-of-an-offset"),
)
