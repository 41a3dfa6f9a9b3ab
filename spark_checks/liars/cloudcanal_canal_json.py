"""Decoders of cloudcanal-canal-json that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import cloudcanal_canal_json as reference
from spark_checks.liars.liar import Liar, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "old-null-refused",
        1,
        "rows/old-null",
        "old is a List in the page's table: null in its place is an error (Flink does that on old null).",
        on_input(reference.decode, "CASE WHEN t RLIKE r'\"old\": ?null' THEN NULL ELSE t END"),
    ),
)
