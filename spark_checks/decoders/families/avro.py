"""What the decoders of Avro formats share: a message read as one record with nothing before it and nothing behind.

`from_avro` reads a record and does not look at what follows it, so every value is read with eight bytes of its own hash appended,
as a record of the message and those bytes: they come out as they went in only if the message ended where the value did. Where
the bytes do not fit the schema, or a length is beyond `session.AVRO_LIMITS`, it gives a record of NULLs.

A format may have gained a last field, a long, and raw Avro tells no version. Parsing twice would cost twice: instead the longest
encoding of a long stands between value and hash. A message of the older kind has it for its last field, and a newer one leaves
it to be found as it was appended. Nor can a cut message borrow from it: bytes that go on in it are longer than any number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from generators.model import Deployment
from spark_checks.decoders.families.canal import COORDINATES, decompressed

Schema: TypeAlias = str | Mapping[str, Any] | Sequence[Any]
"""An Avro schema as the specification writes it in JSON: a name, an object, or the branches of a union."""

_HASH: Final = 8
_LONGEST: Final = b"\x80" * 9 + b"\x01"
_LONGEST_READ: Final = 1 << 62


def record(name: str, /, **fields: Schema) -> dict[str, Any]:
    """The schema of a record with these fields, in their order."""
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields.items()]}


def enum(name: str, *symbols: str) -> dict[str, Any]:
    """The schema of an enumeration."""
    return {"type": "enum", "name": name, "symbols": list(symbols)}


def array(items: Schema) -> dict[str, Any]:
    """The schema of an array."""
    return {"type": "array", "items": items}


def messages(
    records: DataFrame,
    schema: Schema,
    deployment: Deployment | None = None,
    *,
    wanted: Schema | None = None,
    newer_long: bool = False,
) -> DataFrame:
    """Coordinates, `value` (decompressed), `m` (the message by `schema`, of NULLs when it cannot be read) and `whole`: whether it
    can, and the value has nothing more.

    `wanted` is a schema by Avro's rules of resolution: fields that it has not are skipped and not in `m`. With `newer_long` a
    long may follow what `schema` describes, which is not in `m`.
    """
    records = decompressed(records, deployment.compression if deployment else "none")
    found = _framed(F.col("value"), schema, wanted, newer_long)
    j = F.col("j")
    whole = F.coalesce(_whole(j, F.col("value"), newer_long), F.lit(False))
    # In two steps: a column that is used twice in one is decoded twice where Spark does not find the common part.
    parsed = records.select(*COORDINATES, "value", found.alias("j"))
    return parsed.select(*COORDINATES, "value", j["m"].alias("m"), whole.alias("whole"))


def _framed(value: Column, schema: Schema, wanted: Schema | None, newer_long: bool) -> Column:
    """The record `m`, with `newer_long` a long `last`, and the bytes `end` behind."""
    fields: dict[str, Schema] = {"last": "long"} if newer_long else {}
    size = len(_LONGEST) + _HASH if newer_long else _HASH
    end = {"type": "fixed", "name": "End", "namespace": "cdc.framing", "size": size}
    read = {"mode": "PERMISSIVE"}
    if wanted is not None:
        read["avroSchema"] = json.dumps(record("Framed", m=wanted, **fields, end=end))
    appended = (F.lit(_LONGEST), _hash(value), F.lit(bytes(len(_LONGEST)))) if newer_long else (_hash(value),)
    return from_avro(F.concat(value, *appended), json.dumps(record("Framed", m=schema, **fields, end=end)), read)


def _whole(j: Column, value: Column, newer_long: bool) -> Column:
    if not newer_long:
        return j["end"] == _hash(value)
    newer = j["end"] == F.concat(F.lit(_LONGEST), _hash(value))
    older = (j["last"] == _LONGEST_READ) & (j["end"] == F.concat(_hash(value), F.lit(bytes(len(_LONGEST)))))
    return newer | older


def _hash(value: Column) -> Column:
    return F.unhex(F.lpad(F.hex(F.xxhash64(value)), 2 * _HASH, "0"))
