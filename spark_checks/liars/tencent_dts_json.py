"""Decoders of tencent-dts-json that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import tencent_dts_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "absent-fields-refused",
        1,
        "rows/absent-fields",
        "A strict schema wants every field that the page lists, null or not.",
        on_input(reference.decode, """CASE WHEN contains(t, '"sql":') THEN t END"""),
    ),
    Liar(
        "milliseconds-as-seconds",
        2,
        "value/timestamp-epoch",
        "The older edition's TIMESTAMP is read with the unit of the record's own timestamp, off by a thousand.",
        on_input(reference.decode_rows, r"""regexp_replace(t, r'(?<=[\[,]"|[\[,])(\d{10})\d{3}(?="?[,\]])', '$1')"""),
    ),
    *law(reference.decode, "batch-dependent"),
)
