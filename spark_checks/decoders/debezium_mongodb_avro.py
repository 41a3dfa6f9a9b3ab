"""Debezium's MongoDB connector in Confluent's framing: Avro of the registry's schemas as Connect's
JSON, and then the connector's envelope, whose documents are texts of Extended JSON.

The address of the registry is in the environment (`families.confluent`).
"""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import debezium_mongodb_json
from spark_checks.decoders.families.confluent import Behind

_DECODER: Final = Behind(debezium_mongodb_json, whole_keys=True)
decode, decode_rows = _DECODER.decode, _DECODER.decode_rows
BASELINE: Final = Behind(debezium_mongodb_json.BASELINE)
