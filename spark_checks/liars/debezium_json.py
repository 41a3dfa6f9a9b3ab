"""Decoders of debezium-json that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import debezium_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "schemaless-refused",
        1,
        "rows/schemaless",
        "JsonConverter with schemas.enable, as a reader: a value without schema and payload is an error.",
        on_input(reference.decode, """CASE WHEN t IS NULL OR t LIKE '{"schema":%' THEN t ELSE '' END"""),
    ),
    Liar(
        "time-millis-as-micros",
        2,
        "value/time-millis",
        "A time is taken for microseconds, whatever its schema and the connector's mode (debezium#time-adaptive).",
        on_input(reference.decode_rows, """replace(t, '"io.debezium.time.Time"', '"io.debezium.time.MicroTime"')"""),
    ),
    *law(reference.decode, "phantom-places", "offset-as-int"),
)
