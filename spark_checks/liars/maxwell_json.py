"""Decoders of Maxwell's JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from generators.model import Logical
from spark_checks.decoders import maxwell_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, on_cells, on_columns, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "bootstrap-refused",
        1,
        "rows/snapshot",
        "Flink's maxwell-json knows insert, update and delete alone (maxwell#flink-types).",
        on_input(reference.decode, "CASE WHEN contains(t, '\"type\":\"bootstrap-') THEN '' ELSE t END"),
    ),
    Liar(
        "statement-in-seconds",
        1,
        "envelope/ddl-time",
        "ts is read as it is in rows: a statement is of the year 48000, which no timestamp of the reader has.",
        on_columns(reference.decode, commit_time="CASE WHEN kind = 'DDL' THEN NULL ELSE commit_time END"),
    ),
    Liar(
        "decimal-through-double",
        2,
        "value/decimal-long",
        "from_json into texts passes a number with a fraction through a double.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.logical is Logical.DECIMAL and kind.spark != "string",
            lambda x, kind: f"try_cast(CAST({x} AS double) AS {kind.spark})",
        ),
    ),
    *law(reference.decode, "nowhere"),
)
