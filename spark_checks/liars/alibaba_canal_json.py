"""Decoders of alibaba-canal-json that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import alibaba_canal_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, deployed, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "timestamp-as-utc",
        2,
        "value/timestamp-zone",
        "TIMESTAMP is taken for UTC whatever the server's zone (pingcap/tiflow#10581, alibaba/canal#2522).",
        deployed(reference.decode_rows, time_zone="UTC"),
    ),
    Liar(
        "second-document-dropped",
        1,
        "fault/must-reject",
        "Flink, Paimon, SeaTunnel and plain from_json: what follows the first JSON document is not looked at.",
        on_input(
            reference.decode,
            r"CASE WHEN t LIKE '{%}%' AND t RLIKE r'\}\s*[^\s,\]}\"]' THEN to_json(try_parse_json(t)) ELSE t END",
        ),
    ),
    *law(reference.decode, "failfast"),
)
