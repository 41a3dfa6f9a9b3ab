"""Kafka Connect's JSON: schemas and payloads as `JsonConverter` writes them, for every format that
goes through it.

Source: apache/kafka connect/json `JsonConverter`, `JsonSchema` (the page connect of the sources).
Bytes are base64 (RFC 4648, padded), a struct has every field of its schema in order, nulls
included; text is UTF-8 as Jackson escapes it.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

from generators.errors import UnknownName
from generators.families.java_text import double_text, float_text
from generators.families.wire_messages import Raw, print_json


@dataclass(frozen=True, slots=True)
class Schema:
    """A Connect schema. `type` is JsonConverter's name for the type (`int64`, `double`, `bytes`,
    `struct`, `array`, `map` ...).

    `name` is that of a logical type, such as `org.apache.kafka.connect.data.Date`, "" for none.
    `fields` are those of a struct, by name in order. `items` is the schema of an array's elements,
    or of a map's values, whose keys are strings. `default` is JSON text, "" for none; `parameters`
    are texts by name. Raises UnknownName for an unknown type.
    """

    type: str
    optional: bool = False
    name: str = ""
    version: int | None = None
    doc: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    default: str = ""
    fields: tuple[tuple[str, Schema], ...] = ()
    items: Schema | None = None

    def __post_init__(self) -> None:
        if self.type not in _WRITE:
            raise UnknownName("type", self.type, _WRITE)


def fields(declared: str, **schemas: Schema) -> tuple[tuple[str, Schema], ...]:
    """The fields of a struct's schema, from a text of words `name:type` in order; `?` behind the
    type says that the field may be null. A word without a type is a field whose schema is the
    argument of that name in `schemas`.
    """
    pairs = []
    for name, _, kind in (word.partition(":") for word in declared.split()):
        pairs.append(
            (name, Schema(kind.removesuffix("?"), kind.endswith("?")) if kind else schemas[name])
        )
    return tuple(pairs)


def members_of_struct(schema: Schema, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a struct's JSON: every field of the schema, in its order."""
    return {name: Raw(payload_text(inner, payload.get(name))) for name, inner in schema.fields}


def message_members(
    schema: Schema, payload: Mapping[str, Any], *, has_schema: bool = True
) -> dict[str, Any]:
    """The members of a key or a value: its schema and its payload, or, without `has_schema` (the
    converter's option `schemas.enable`), those of the payload alone.
    """
    members = members_of_struct(schema, payload)
    return {"schema": Raw(schema_text(schema)), "payload": members} if has_schema else members


@lru_cache(maxsize=4096)
def schema_text(schema: Schema, field: str = "") -> str:
    """The JSON of a Connect schema, with its members in JsonConverter's order. `field` is the name
    of the struct's field that has the schema, "" for a schema that is no field.
    """
    parts = [f'"type":{string(schema.type)}']
    if schema.type == "array":
        assert schema.items is not None
        parts.append(f'"items":{schema_text(schema.items)}')
    elif schema.type == "map":
        assert schema.items is not None
        parts.append(f'"keys":{schema_text(Schema("string"))},"values":{schema_text(schema.items)}')
    elif schema.type == "struct":
        parts.append(
            f'"fields":[{",".join(schema_text(inner, name) for name, inner in schema.fields)}]'
        )
    parts.append(f'"optional":{"true" if schema.optional else "false"}')
    if schema.name:
        parts.append(f'"name":{string(schema.name)}')
    if schema.version is not None:
        parts.append(f'"version":{schema.version}')
    if schema.doc is not None:
        parts.append(f'"doc":{string(schema.doc)}')
    if schema.parameters:
        parts.append(
            f'"parameters":{{{",".join(f"{string(k)}:{string(v)}" for k, v in schema.parameters)}}}'
        )
    if schema.default:
        parts.append(f'"default":{schema.default}')
    if field:
        parts.append(f'"field":{string(field)}')
    return f"{{{','.join(parts)}}}"


def payload_text(schema: Schema, value: Any) -> str:
    """A value of that schema as JSON.

    int and bool for the integer types and boolean, float for float and double (non-finite ones
    become quoted names), bytes, str, mappings for structs (every field is written, a missing one as
    null) and maps, sequences for arrays, None for null, `Raw` for anything that is JSON already. A
    null of a schema with a default is written as the default (`replace.null.with.default`). Raises
    TypeError for a value that the type does not take.
    """
    if isinstance(value, Raw):
        return value.text
    if value is None:
        return schema.default or "null"
    return _WRITE[schema.type](schema, value)


def _struct(schema: Schema, value: Mapping[str, Any]) -> str:
    """The JSON object of a struct: every field of its schema, in order."""
    return f"{{{','.join([f'{_member(name)}{payload_text(inner, value.get(name))}' for name, inner in schema.fields])}}}"


@lru_cache(maxsize=4096)
def _member(name: str) -> str:
    """The beginning of a member of a JSON object: its name and a colon; cached."""
    return f"{string(name)}:"


def _array(schema: Schema, value: Any) -> str:
    """The JSON array of a sequence, by the schema of its items."""
    assert schema.items is not None
    items = schema.items
    return f"[{','.join([payload_text(items, item) for item in value])}]"


def _map(schema: Schema, value: Mapping[str, Any]) -> str:
    """The JSON object of a mapping, by the schema of its values."""
    assert schema.items is not None
    items = schema.items
    return f"{{{','.join([f'{string(key)}:{payload_text(items, item)}' for key, item in value.items()])}}}"


def _float(schema: Schema, value: float) -> str:
    """The JSON number of a float or double as Java prints it; NaN and infinities as quoted
    names.
    """
    if value != value or value in (float("inf"), float("-inf")):
        return '"NaN"' if value != value else '"Infinity"' if value > 0 else '"-Infinity"'
    return float_text(value) if schema.type == "float" else double_text(value)


def _bytes(_schema: Schema, value: bytes) -> str:
    """The JSON string of bytes: base64."""
    return f'"{base64.b64encode(value).decode()}"'


def _integer(_schema: Schema, value: int) -> str:
    """The JSON number of an integer. Raises TypeError for anything else, also for a truth value."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is no integer")
    return str(value)


_WRITE: Final[Mapping[str, Callable[[Schema, Any], str]]] = {
    "boolean": lambda _schema, value: "true" if value else "false",
    "int8": _integer,
    "int16": _integer,
    "int32": _integer,
    "int64": _integer,
    "float": _float,
    "double": _float,
    "string": lambda _schema, value: string(value),
    "bytes": _bytes,
    "struct": _struct,
    "array": _array,
    "map": _map,
}
"""The function that makes the JSON of a value that is not null, by the schema's type."""

_ESCAPES: Final = {
    **{code: f"\\u{code:04X}" for code in range(0x20)},
    **{
        ord(k): v
        for k, v in {
            '"': '\\"',
            "\\": "\\\\",
            "\b": "\\b",
            "\f": "\\f",
            "\n": "\\n",
            "\r": "\\r",
            "\t": "\\t",
        }.items()
    },
}
"""What Jackson writes for characters that JSON does not allow in a string, by code point."""


def string(value: str) -> str:
    """A JSON string as Jackson writes it in UTF-8: control characters and what is beyond the basic
    plane are escaped (upper-case hex, surrogates), everything else is as it is (connect#text).
    """
    return _BEYOND.sub(_surrogates, quoted(value))


_BEYOND: Final = re.compile("[\U00010000-\U0010ffff]")


def _surrogates(match: re.Match[str]) -> str:
    """The escapes of a character beyond U+FFFF, one for each half of its surrogate pair."""
    high, low = struct.unpack(">2H", match[0].encode("utf-16-be"))
    return f"\\u{high:04X}\\u{low:04X}"


def quoted(value: str) -> str:
    """The text as a JSON string: quotes, backslashes and control characters escaped, all others as
    they are.
    """
    return f'"{value.translate(_ESCAPES)}"'


def murmur2(data: bytes) -> int:
    """The hash by which Kafka's producer chooses a key's partition (`Utils.murmur2`), as a signed
    32-bit number.
    """
    length = len(data)
    h = (0x9747B28C ^ length) & 0xFFFFFFFF
    complete_length = length & ~3
    for (k,) in struct.iter_unpack("<I", data[:complete_length]):
        k = k * _MIX & 0xFFFFFFFF
        h = (h * _MIX & 0xFFFFFFFF) ^ ((k ^ k >> 24) * _MIX & 0xFFFFFFFF)
    if length > complete_length:
        h = (h ^ int.from_bytes(data[complete_length:], "little")) * _MIX & 0xFFFFFFFF
    h = (h ^ h >> 13) * _MIX & 0xFFFFFFFF
    h ^= h >> 15
    return h - (1 << 32) if h >> 31 else h


_MIX: Final = 0x5BD1E995
"""The factor of murmur2."""


@lru_cache(maxsize=4096)
def partition_of(key: bytes, partitions: int) -> int:
    """The partition that Kafka's default partitioner chooses for a record with that key."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


print_as_jackson: Final = partial(print_json, quote=string)
"""Prints the members of a message as Jackson does, with which Kafka Connect and others write
JSON.
"""
