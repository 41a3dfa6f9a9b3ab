"""Decoders of aliyun-dts-avro that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import aliyun_dts_avro as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, on_bytes

_LOGICAL: Final = b"\x12l_db_name"
_OTHER: Final = b"\x12x_db_name"

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "born-timestamp-unknown",
        1,
        "rows/edition-changes",
        "A reader with the SDK's schema that checks where a record ends refuses every record with bornTimestamp.",
        on_bytes(reference.decode, "concat(value, X'00')"),
    ),
    Liar(
        "physical-names",
        1,
        "names/logical",
        "The SDK does not look at l_db_name and l_tb_name: rows go to tables that are shards.",
        on_bytes(
            reference.decode,
            f"unhex(replace(hex(value), '{_LOGICAL.hex().upper()}', '{_OTHER.hex().upper()}'))",
        ),
    ),
    *law(reference.decode, "session-zone"),
)
