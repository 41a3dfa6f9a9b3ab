"""Decoders of TiCDC's Open Protocol that are wrong on purpose in what they read."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from generators.model import Deployment
from spark_checks.decoders import ticdc_open_protocol as reference
from spark_checks.liars.liar import Liar, on_cells

_TEXTS: Final = ("tinytext", "text", "mediumtext", "longtext")


def _first(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    return reference.decode(records, deployment=deployment).where("row = 0")


LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "first-event-only",
        1,
        "batch/every-row",
        "One event is cut out of a record, which holds one wherever rows are rare: the others of a batch are lost.",
        _first,
    ),
    Liar(
        "base64-kept",
        2,
        "value/text-base64",
        "A TEXT is passed on as it stands, as a VARCHAR is.",
        on_cells(reference.decode_rows, lambda type: type.name in _TEXTS, lambda x, _: f"base64(CAST({x} AS binary))"),
    ),
)
