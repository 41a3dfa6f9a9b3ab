"""Decoders of Canal flat messages that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from generators.model import Deployment
from spark_checks.decoders import alibaba_canal_json as reference
from spark_checks.liars.base import Liar
from spark_checks.liars.families.canal import common

_FORMAT: Final = "alibaba-canal-json"

_CONVICTS: Final = {
    "unsigned-wraps": "value/unsigned",
    "integers-through-double": "value/integer-64",
    "decimal-through-double": "value/decimal-long",
    "binary-as-utf-8": "value/binary-latin-1",
    "binary-as-base64": "value/binary-base64-like",
    "microseconds-cut": "value/datetime-fraction",
    "timestamp-as-utc": "value/timestamp-zone",
    "enum-as-label": "value/enum-index",
    "old-null-as-unchanged": "old/null-is-a-value",
    "old-ignored": "old/absent",
    "old-absent-as-null": "old/absent",
    "delete-from-old": "image/delete-in-data",
    "first-row-only": "rows/every-row",
    "text-null-as-null": "value/text-null",
    "zero-date-as-date": "value/zero-date",
    "ddl-dropped": "ddl/kind",
    "statements-dropped": "control/rows-query",
    "corrupt-dropped": "fault/must-reject",
    "truncated-as-nulls": "fault/must-reject",
    "second-document-dropped": "fault/must-reject",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}


def _old_of_any_row(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Each before image has the names of all elements of the message's old, NULL where its own element has none."""
    message = Window.partitionBy("topic", "partition", "offset")
    names = F.array_distinct(F.flatten(F.collect_list(F.map_keys("before")).over(message)))
    image = "map_from_arrays(names, transform(names, name -> try_element_at(before, name)))"
    before = F.expr(f"CASE WHEN op = 'UPDATE' AND before IS NOT NULL THEN {image} ELSE before END")
    return reference.decode(records, deployment=deployment).withColumn("names", names).withColumn("before", before).drop("names")


def _distinct(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Each message's rows without those that equal another."""
    decoded = reference.decode(records, deployment=deployment)
    same = ["topic", "partition", "offset", "kind", "op", "images"]
    return decoded.withColumn("images", F.to_json(F.struct("before", "after"))).dropDuplicates(same).drop("images")


LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, reference, _CONVICTS),
    Liar(
        "old-of-any-row",
        _FORMAT,
        1,
        f"{_FORMAT}/old/cumulative",
        "Flink and SeaTunnel look a name up in the whole array old, so that a row gets NULL for a column that only another row's "
        "element names (canal#flink-old-by-name).",
        _old_of_any_row,
    ),
    Liar(
        "equal-rows-as-one",
        _FORMAT,
        1,
        f"{_FORMAT}/rows/every-row",
        "dropDuplicates makes reading idempotent, and a table without a key may have the same row twice.",
        _distinct,
        "shape/equal-rows",
    ),
)
