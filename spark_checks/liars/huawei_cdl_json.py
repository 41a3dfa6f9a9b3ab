"""Decoders of huawei-cdl-json that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import huawei_cdl_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "message-type-refused",
        1,
        "rows/readable",
        "message_type 0 is not in the table of fields, hence no type of message that is known.",
        on_input(reference.decode, "CASE WHEN t LIKE '%\"message_type\":\"0\"%' THEN '' ELSE t END"),
    ),
    *law(reference.decode, "nowhere"),
)
