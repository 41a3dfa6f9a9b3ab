"""Decoders of debezium-avro that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import debezium_avro as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, latest_schema, on_bytes

LIARS: Final[tuple[Liar, ...]] = (
    latest_schema(reference.decode),
    Liar(
        "magic-passed-over",
        1,
        "framing/magic",
        "The first byte is skipped, as a recipe of substring(value, 6) does, whatever it is.",
        on_bytes(reference.decode, "CASE WHEN value IS NULL THEN NULL ELSE concat(X'00', substring(value, 2)) END"),
    ),
    *law(reference.decode, "offset-as-int"),
)
