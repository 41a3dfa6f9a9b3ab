"""What the decoders of Avro formats share: a message read as one record with nothing before it and nothing behind.

`from_avro` reads a record and does not look at what follows it, so every value is read with eight bytes of its own hash appended,
as a record of the message and those bytes: they come out as they went in only if the message ended where the value did. Where
the bytes do not fit the schema, or a length is beyond `session.AVRO_LIMITS`, it gives a record of NULLs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from generators.model import Deployment
from spark_checks.decoders._canal import COORDINATES, decompressed

Schema: TypeAlias = str | Mapping[str, Any] | Sequence[Any]
"""An Avro schema as the specification writes it in JSON: a name, an object, or the branches of a union."""

_END: Final = {"type": "fixed", "name": "End", "namespace": "cdc.framing", "size": 8}


def record(name: str, /, **fields: Schema) -> dict[str, Any]:
    """The schema of a record with these fields, in their order."""
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields.items()]}


def enum(name: str, *symbols: str) -> dict[str, Any]:
    """The schema of an enumeration."""
    return {"type": "enum", "name": name, "symbols": list(symbols)}


def array(items: Schema) -> dict[str, Any]:
    """The schema of an array."""
    return {"type": "array", "items": items}


def messages(records: DataFrame, schema: Schema, deployment: Deployment | None = None) -> DataFrame:
    """Coordinates, `value` (decompressed), `m` (the message by `schema`, of NULLs when it cannot be read) and `whole`: whether it
    can, and the value has nothing more."""
    records = decompressed(records, deployment.compression if deployment else "none")
    m, whole = read(F.col("value"), schema)
    return records.select(*COORDINATES, "value", m.alias("m"), whole.alias("whole"))


def read(value: Column, schema: Schema) -> tuple[Column, Column]:
    """The message in `value` by `schema`, and whether it is all of it, which is never NULL."""
    end = F.unhex(F.lpad(F.hex(F.xxhash64(value)), 16, "0"))
    framed = json.dumps(record("Framed", m=schema, end=_END))
    found = from_avro(F.concat(value, end), framed, {"mode": "PERMISSIVE"})
    return found["m"], F.coalesce(found["end"] == end, F.lit(False))
