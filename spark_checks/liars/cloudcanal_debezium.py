"""Decoders of cloudcanal-debezium that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import cloudcanal_debezium as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, on_input

LIARS: Final[tuple[Liar, ...]] = (
    *law(reference.decode, "needs-a-record"),
    Liar(
        "ddl-without-op-refused",
        1,
        "ddl/op",
        "op is required, as in Debezium: the example's DDL, which has none, is an error.",
        on_input(reference.decode, """CASE WHEN t LIKE '%"ddl":%' AND t NOT LIKE '%"op":%' THEN '' ELSE t END"""),
    ),
)
