"""Debezium in Confluent's framing: Avro of the registry's schemas as Connect's JSON, and then Debezium's envelope.

The schema says what Connect's says: `connect.name` is a column's semantic type, a DECIMAL is Avro's logical type. At level one a
decimal is its digits, bytes are base64. The address of the registry is in the environment (`families.confluent`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame

from generators.model import Deployment, Table
from spark_checks.decoders.baselines import ENVELOPE
from spark_checks.decoders.debezium_json import DIALECT
from spark_checks.decoders.families.confluent import as_connect_json
from spark_checks.decoders.families.connect import rows as _connect


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Changes of Debezium messages."""
    return _connect.decode(as_connect_json(records), DIALECT, deployment)


def decode_rows(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
    """Typed row changes of `table`; `before` is the wire's."""
    return _connect.decode_rows(as_connect_json(records), table, DIALECT, deployment)


@dataclass(frozen=True, slots=True)
class ConfluentBaseline:
    """JSON's baseline behind the same reading of Avro."""

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """Images as maps, and the envelope, of every message."""
        return ENVELOPE.decode(as_connect_json(records), deployment=deployment)

    def decode_rows(self, records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        """Typed before and after structs of every message."""
        return ENVELOPE.decode_rows(as_connect_json(records), table, deployment=deployment)


BASELINE: Final = ConfluentBaseline()
