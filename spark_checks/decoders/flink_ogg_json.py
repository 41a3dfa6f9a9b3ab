"""Flink SQL's ogg-json of a sink as native Spark expressions (page flink of the sources).

One message is one row: `op_type` I is an INSERT of `after`, D the DELETE of `before`. Nothing names
the table.
"""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.families.flink import baseline_of_images, read_images

_OPS: Final = {"I": "INSERT", "D": "DELETE"}
FLAT: Final = read_images("op_type", _OPS)
BASELINE: Final = baseline_of_images("op_type", _OPS)
decode, decode_rows = FLAT.decode, FLAT.decode_rows
