"""Decoders of huawei-cdl-debezium that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from generators.model import Logical
from spark_checks.decoders import huawei_cdl_debezium as reference
from spark_checks.liars.liar import Liar, on_cells, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "other-source-refused",
        1,
        "rows/other-source",
        "PostgreSQL is the only source that the examples show, and any other is refused.",
        on_input(reference.decode, "CASE WHEN lower(t) LIKE '%opengauss%' THEN '' ELSE t END"),
    ),
    Liar(
        "zone-as-session",
        2,
        "law/environment-independence",
        "The Z of a ZonedTimestamp is cut off and the rest read in the session's zone: right only where that is UTC.",
        on_cells(
            reference.decode_rows,
            lambda type: type.logical is Logical.TIMESTAMP,
            lambda x, _: f"to_utc_timestamp({x}, current_timezone())",
        ),
    ),
)
