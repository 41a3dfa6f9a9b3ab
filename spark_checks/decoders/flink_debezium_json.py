"""Flink SQL's debezium-json of a sink as native Spark expressions (page flink of the sources).

One message is one row: `op` c is an INSERT of `after`, d the DELETE of `before`. Nothing names the
table.
"""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.families.flink import baseline_of_images, read_images

_OPS: Final = {"c": "INSERT", "d": "DELETE"}
FLAT: Final = read_images("op", _OPS)
BASELINE: Final = baseline_of_images("op", _OPS)
decode, decode_rows = FLAT.decode, FLAT.decode_rows
