"""Ways in which Spark jobs read a format."""

from __future__ import annotations

from typing import Final

from scoreboard.readers.reader import Reader

_SPARK: Final = "4.0.0"
_SPARK_SOURCE: Final = "https://github.com/apache/spark/tree/v4.0.0"


def _spark(way: str, title: str, module: str, *formats: str) -> Reader:
    return Reader(
        f"spark-{way}",
        f"Spark on {way.partition('-')[0].capitalize()}: {title}",
        _SPARK,
        {fmt: {} for fmt in formats},
        f"scoreboard/spark/{module.replace(':', ', ')}: written by this project",
        _SPARK_SOURCE,
        "A few lines of PySpark with the table's types that the harness offers and try_cast."
        + (" ENUM and SET are STRING." if way.startswith("debezium") else ""),
        module=module,
        faults=f"spark-{way.partition('-')[0]}",
    )


_CANALS: Final = ("alibaba-canal-json", "ticdc-canal-json")

SPARK: Final = (
    _spark("canal-explode", "from_json and posexplode", "canal.py:decode_rows_explode", *_CANALS),
    _spark("canal-zip", "from_json, arrays_zip and posexplode", "canal.py:decode_rows_zip", *_CANALS),
    _spark("canal-get-json-object", "get_json_object", "canal.py:decode_rows_get_json_object", *_CANALS),
    _spark("canal-variant", "VARIANT", "canal.py:decode_rows_variant", *_CANALS),
    _spark("debezium-typed", "from_json with the table's types", "debezium.py:decode_rows_typed", "debezium-json"),
    _spark("debezium-get-json-object", "get_json_object", "debezium.py:decode_rows_get_json_object", "debezium-json"),
)
