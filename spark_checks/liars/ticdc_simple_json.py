"""Decoders of ticdc-simple-json that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import ticdc_simple_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, deployed, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "compression-unknown",
        1,
        "framing/compression",
        "Nothing in a message says that it is compressed, and nobody told the reader.",
        deployed(reference.decode, compression="none"),
    ),
    Liar(
        "pre-table-schema-ignored",
        1,
        "schema/pre-table-schema",
        "Only tableSchema goes into the cache: rows of the version that a DDL ends have no types.",
        on_input(reference.decode, """replace(t, '"preTableSchema":', '"before":')"""),
    ),
    *law(reference.decode, "failfast"),
)
