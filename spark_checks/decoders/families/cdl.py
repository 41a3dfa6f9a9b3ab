"""What both versions of Huawei CDL's messages share beyond the Connect family (the page huawei of
the sources).

`unique` has the primary key's columns, null for a table without one. `HEARTBEAT_IDENTIFIER` stands
in ordinary rows and `message_type` in all of them: neither is read.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import MapType, StringType, StructField

from generators.model import Logical, SourceType

UNIQUE: Final = StructField("unique", MapType(StringType(), StringType()))
"""The member of both payloads that has the primary key."""


def keys(payload: Column) -> Column:
    """Names of the primary key's columns, in the message's order; NULL without a key."""
    return F.map_keys(payload["unique"])


def schemaless_form(type: SourceType, *, stamp: str, time: str) -> str:
    """The form (how a cell is written, such as `text` or `days`; see `connect.values`) of a
    column's cells in a message of Huawei CDL that has no schema. `stamp` is the form of timestamps
    and `time` that of times, in which CDL's two versions differ; decimals are texts in both.
    """
    match type.logical:
        case Logical.INT:
            return "number"
        case Logical.FLOAT | Logical.DOUBLE:
            return "double"
        case Logical.BIT:
            return "boolean" if type.length == 1 else "bits"
        case Logical.BINARY:
            return "base64"
        case Logical.DATE:
            return "days"
        case Logical.DATETIME | Logical.TIMESTAMP:
            return stamp
        case Logical.TIME:
            return time
        case _:
            return "text"
