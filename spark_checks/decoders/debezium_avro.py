"""Debezium in Confluent's framing: Avro of the registry's schemas as Connect's JSON, and then
Debezium's envelope.

The schema says what Connect's says: `connect.name` is a column's semantic type, a DECIMAL is Avro's
logical type. At level one a decimal is its digits, bytes are base64. The address of the registry is
in the environment (`families.confluent`).
"""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import ENVELOPE
from spark_checks.decoders.debezium_json import DIALECT
from spark_checks.decoders.families.confluent import Behind

decode, decode_rows = Behind(DIALECT).decode, Behind(DIALECT).decode_rows
BASELINE: Final = Behind(ENVELOPE)
