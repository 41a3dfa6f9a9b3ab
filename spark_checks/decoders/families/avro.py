"""What the decoders of Avro formats share: they read a message as one record, with nothing before
and nothing behind it.

`from_avro` ignores bytes after a record. So eight bytes of the value's own hash are appended, and
the value is read as a record of the message and these bytes: they come out unchanged only if the
message ends where the value does. Where the bytes do not fit the schema, or a length is beyond
`session.AVRO_LIMITS`, `from_avro` gives a record of NULLs.

A newer edition of a format may have one more field, a long at the end, and raw Avro shows no
version. Parsing twice would cost double; instead the longest encoding of a long stands between
value and hash. It is the last field of an older message, and comes out unchanged behind a newer
one. A truncated message cannot use it either: a number that continues into it is too long.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from generators.model import Deployment
from spark_checks.decoders.families.framing import COORDINATES, decompressed

Schema: TypeAlias = str | Mapping[str, Any] | Sequence[Any]
"""An Avro schema as the specification writes it in JSON: a name, an object, or the branches of a
union.
"""

_HASH: Final = 8
"""The number of bytes of a value's hash."""
_LONGEST: Final = b"\x80" * 9 + b"\x01"
"""The longest encoding of an Avro long, ten bytes, which stands between value and hash."""
_LONGEST_READ: Final = 1 << 62
"""The number that `_LONGEST` encodes."""


def record(name: str, /, **fields: Schema) -> dict[str, Any]:
    """The Avro schema of a record of this name, with the fields in the given order."""
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": n, "type": kind} for n, kind in fields.items()],
    }


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
    reader_schema: Schema | None = None,
    newer_long: bool = False,
) -> DataFrame:
    """Reads the Avro messages of records: coordinates, `value` (decompressed), `m` (the message by
    `schema`, NULLs if it cannot be read) and `whole`, whether it can be read and nothing follows
    it. `reader_schema` is the reader's schema in Avro's schema resolution: fields that it lacks are
    skipped and not in `m`. With `newer_long` a long may follow what `schema` describes; it is not
    in `m`.
    """
    records = decompressed(records, deployment.compression if deployment else "none")
    framed = _read_frame(F.col("value"), schema, reader_schema, newer_long)
    j = F.col("j")
    is_whole = F.coalesce(_is_whole_datum(j, F.col("value"), newer_long), F.lit(False))
    # Two steps, since Spark decodes a column twice that one step uses twice, unless it finds the
    # common part.
    parsed = records.select(*COORDINATES, "value", framed.alias("j"))
    return parsed.select(*COORDINATES, "value", j["m"].alias("m"), is_whole.alias("whole"))


def _read_frame(
    value: Column, schema: Schema, reader_schema: Schema | None, newer_long: bool
) -> Column:
    """Reads a value, to which its own hash is appended, as an Avro record with the message `m`,
    with `newer_long` a long `last`, and the remaining bytes `end`. Only if the message fills the
    value exactly does `end` equal what was appended.

    With `newer_long` the longest encoding of a long stands before the hash and as many zero bytes
    behind it: `last` is that long if the message ends before it, else the message's own last long.
    """
    fields: dict[str, Schema] = {"last": "long"} if newer_long else {}
    size = len(_LONGEST) + _HASH if newer_long else _HASH
    end = {"type": "fixed", "name": "End", "namespace": "cdc.framing", "size": size}
    read = {"mode": "PERMISSIVE"}
    if reader_schema is not None:
        read["avroSchema"] = json.dumps(record("Framed", m=reader_schema, **fields, end=end))
    appended = (
        (F.lit(_LONGEST), _hash(value), F.lit(bytes(len(_LONGEST))))
        if newer_long
        else (_hash(value),)
    )
    return from_avro(
        F.concat(value, *appended), json.dumps(record("Framed", m=schema, **fields, end=end)), read
    )


def _is_whole_datum(j: Column, value: Column, newer_long: bool) -> Column:
    """Whether the message fills the value exactly. `j` is the record that `_read_frame` read: what
    was appended to the value must have come out unchanged behind the message, in `last` and `end`.
    With `newer_long` one more long may follow the message in the value.
    """
    if not newer_long:
        return j["end"] == _hash(value)
    # With a long of its own, the message leaves the appended one to `end`; else that is `last`.
    newer = j["end"] == F.concat(F.lit(_LONGEST), _hash(value))
    older = (j["last"] == _LONGEST_READ) & (
        j["end"] == F.concat(_hash(value), F.lit(bytes(len(_LONGEST))))
    )
    return newer | older


def _hash(value: Column) -> Column:
    """The 64-bit hash of a value as bytes, which is appended to the value to find its end."""
    return F.unhex(F.lpad(F.hex(F.xxhash64(value)), 2 * _HASH, "0"))
