"""Decoders of TiCDC's Debezium protocol that are wrong on purpose in what they read."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import debezium_json
from spark_checks.decoders import ticdc_debezium_json as reference
from spark_checks.liars.liar import Liar, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "as-debezium",
        1,
        "envelope/position",
        "The decoder of Debezium's own messages: the position of every change is that of an empty file.",
        debezium_json.decode,
        "shape/insert",
    ),
    Liar(
        "schema-required",
        2,
        "rows/schemaless",
        "JsonConverter with schemas.enable, as a reader: a value of payload alone is an error.",
        on_input(reference.decode_rows, """CASE WHEN t LIKE '%"schema":{"type"%' THEN t ELSE '' END"""),
    ),
)
