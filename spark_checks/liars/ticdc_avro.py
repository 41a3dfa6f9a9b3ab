"""Decoders of TiCDC's Avro protocol that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import ticdc_avro as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, deployed, latest_schema

LIARS: Final[tuple[Liar, ...]] = (
    latest_schema(reference.decode),
    Liar(
        "zone-of-the-host",
        2,
        "value/timestamp",
        "A TIMESTAMP is taken for UTC, since no message tells the zone of the TiCDC server.",
        deployed(reference.decode_rows, time_zone="UTC"),
    ),
    *law(reference.decode, "offset-as-int"),
)
