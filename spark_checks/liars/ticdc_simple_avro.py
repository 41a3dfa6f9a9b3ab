"""Decoders of ticdc-simple-avro that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import ticdc_simple_avro as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, deployed, on_bytes

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "compression-unknown",
        1,
        "framing/compression",
        "Nothing in a message says that it is compressed, and nobody told the reader.",
        deployed(reference.decode, compression="none"),
    ),
    Liar(
        "message-without-its-branch",
        1,
        "framing/union-index",
        "Message is read from the first byte on, as if the schema were that record: nothing is readable.",
        on_bytes(reference.decode, "concat(X'16', value)"),
    ),
    *law(reference.decode, "offset-as-int"),
)
