"""Avro in Confluent's framing as Kafka Connect's JSON: what `connect` reads.

Spark's `from_avro` takes one schema for a column and knows no registry: users strip five bytes, and
read every message by the schema that they looked up once, which misreads the first message of
another one. Here each message is read by the schema that it names: the tasks ask the registry for
ids that their process has not seen. A record of Python's is slower than Spark's reader, and right
for any mixture of tables and versions.

The address is a setting of the environment on the driver, which sends it with the plan:

- `CDC_CONFORMANCE_REGISTRY`: the registry's URL, below which `/schemas/ids/N` stands;
- `CDC_CONFORMANCE_REGISTRY_USER`: `NAME:PASSWORD`, if it asks for one;
- `CDC_CONFORMANCE_REGISTRY_CA`: a file of certificates in PEM, for a registry with TLS.

An id that the registry does not have makes its message unreadable; the next batch asks again. A
registry that does not answer is asked again for WAIT_S seconds, and then raises: what it would have
told is not lost.
"""

from __future__ import annotations

import base64
import http.client
import json
import math
import os
import ssl
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, TypeAlias
from urllib.parse import urlsplit

import pyarrow as pa
from pyspark.sql import DataFrame

from generators.model import Deployment, Table

WAIT_S: Final = 60.0
"""How long a registry that does not answer is asked again."""
ANSWER_TIMEOUT_S: Final = 10.0
"""How long a registry may take for one answer."""


@dataclass(frozen=True, slots=True)
class Registry:
    """The address of a schema registry. `user` is the NAME:PASSWORD that it asks for, `ca` the path
    of the certificates by which its own is checked; each is "" for none.
    """

    url: str
    user: str = ""
    ca: str = ""

    def schema(self, number: int) -> Any:
        """The Avro schema with this id, parsed from its JSON; None if the registry has none. A
        registry that does not answer, or fails, is asked again for WAIT_S seconds. Raises
        ConnectionError if it does not answer by then, refuses the request, or answers without a
        schema.
        """
        connection, path = _registry_connection(self)
        authorization = (
            {"Authorization": f"Basic {base64.b64encode(self.user.encode()).decode()}"}
            if self.user
            else {}
        )
        end, pause = time.monotonic() + WAIT_S, 0.1
        while True:
            status = None
            try:
                connection.request("GET", f"{path}/schemas/ids/{number}", headers=authorization)
                answer = connection.getresponse()
                body, status = answer.read(), answer.status
                if status in (200, 404):
                    return json.loads(json.loads(body)["schema"]) if status == 200 else None
                why = f"status {status}"
            except (OSError, http.client.HTTPException, ValueError) as error:
                why = str(error)
                connection.close()
            except (KeyError, TypeError):
                why = "its answer has no text `schema`"
            if (status and 300 <= status < 500 and status != 429) or time.monotonic() + pause > end:
                raise ConnectionError(
                    f"the schema registry at {self.url} does not tell schema {number}: {why}"
                )
            time.sleep(pause)
            pause = min(2 * pause, 5)


class RegistryConnection(NamedTuple):
    """The connection to a registry, and the path of its address, behind which its own paths go."""

    http: http.client.HTTPConnection
    path: str


@cache
def _registry_connection(address: Registry) -> RegistryConnection:
    """The HTTP connection to a registry, which the process makes once and keeps."""
    url = urlsplit(address.url)
    host = url.hostname or ""
    if url.scheme == "https":
        context = ssl.create_default_context(cafile=address.ca or None)
        secured = http.client.HTTPSConnection(
            host, url.port, timeout=ANSWER_TIMEOUT_S, context=context
        )
        return RegistryConnection(secured, url.path)
    plain = http.client.HTTPConnection(host, url.port, timeout=ANSWER_TIMEOUT_S)
    return RegistryConnection(plain, url.path)


def registry() -> Registry:
    """The schema registry that the environment variables name. Raises RuntimeError if they name
    none.
    """
    name = "CDC_CONFORMANCE_REGISTRY"
    if not os.environ.get(name):
        raise RuntimeError(
            f"the environment variable {name} must name the schema registry: http://HOST:PORT"
        )
    return Registry(
        os.environ[name].rstrip("/"),
        os.environ.get(f"{name}_USER", ""),
        os.environ.get(f"{name}_CA", ""),
    )


def as_connect_json(
    records: DataFrame, *, whole_keys: bool = False, source_names: bool = False
) -> DataFrame:
    """The records with their Avro turned into Kafka Connect's JSON. A value becomes an object of
    schema and payload, a key the payload alone or, with `whole_keys`, such an object, too. A value
    that cannot be read becomes empty bytes, a key NULL. With `source_names` a member has the name
    that the schema's field tells in `connect.field`, as TiCDC's does, if it tells one.
    """
    schema_registry = registry()

    def batches(source: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The Arrow batches with keys and values turned into JSON."""
        for batch in source:
            yield _convert_batch(
                batch,
                schema_registry,
                ("key", "value") if whole_keys else ("value",),
                source_names=source_names,
            )

    return records.mapInArrow(batches, records.schema)


class Decoder(Protocol):
    """A decoder of Kafka Connect's JSON, at both levels."""

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """Level one: a row for each change, with its images as maps of texts."""
        ...

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """Level two: a row for each change of the table, with its images typed for it."""
        ...


@dataclass(frozen=True, slots=True)
class Behind:
    """A decoder of Confluent's Avro: turns the messages into Connect's JSON and passes them to
    `of`, a decoder of that. With `whole_keys` a record's key gets its schema beside its payload;
    with `source_names` level two has the names of `connect.field`.
    """

    of: Decoder
    whole_keys: bool = False
    source_names: bool = False

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """Level one: the changes of records in Confluent's Avro, read as Connect's JSON."""
        in_json = as_connect_json(records, whole_keys=self.whole_keys)
        return self.of.decode(in_json, deployment=deployment)

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """Level two: typed row changes of `table` from records in Confluent's Avro, read as
        Connect's JSON.
        """
        in_json = as_connect_json(
            records, whole_keys=self.whole_keys, source_names=self.source_names
        )
        return self.of.decode_rows(in_json, table, deployment=deployment)


def _convert_batch(
    batch: pa.RecordBatch,
    schema_registry: Registry,
    with_schema: Iterable[str] = ("value",),
    *,
    source_names: bool = False,
) -> pa.RecordBatch:
    """An Arrow batch of records with their keys and values, which are Avro, turned into Kafka
    Connect's JSON. `with_schema` names the columns (key, value) whose JSON has the schema beside
    the payload; `source_names` is that of `as_connect_json`.
    """
    shape_of_head: dict[bytes, Shape | None] = {}

    def convert(raw: bytes | None, name: str) -> bytes | None:
        """The Avro of a record's column `name` (key or value) as Connect's JSON; None for a NULL.
        Avro that cannot be read becomes, as a value, empty bytes, which are no tombstone, and as a
        key None.
        """
        if raw is None:
            return None
        head = raw[:_HEAD]
        if head not in shape_of_head:
            shape_of_head[head] = _shape(head, schema_registry, source_names)
        shape = shape_of_head[head]
        try:
            json_text = shape and shape.to_json(raw, name in with_schema)
        except (ValueError, IndexError, struct.error, RecursionError):
            json_text = None
        if json_text:
            return json_text.encode()
        return b"" if name == "value" else None

    for name in ("key", "value"):
        at = batch.schema.get_field_index(name)
        if at >= 0:
            field = batch.schema.field(at).with_nullable(True)
            texts = [convert(raw, name) for raw in batch.column(at).to_pylist()]
            batch = batch.set_column(at, field, pa.array(texts, field.type))
    return batch


_HEAD: Final = 5
"""The number of bytes before the Avro data of a message: a zero, and four of the schema's id."""
_SHAPES: Final[dict[tuple[Registry, int, bool], Shape]] = {}
"""The schemas that this process has fetched, by registry, id, and whether members have the names of
`connect.field`.
"""


def _shape(head: bytes, schema_registry: Registry, source_names: bool) -> Shape | None:
    """The compiled schema that a message's first five bytes name; None for other bytes, and for an
    id that the registry does not know.
    """
    number = int.from_bytes(head[1:], signed=True)
    if len(head) < _HEAD or head[0] or number < 0:
        return None
    cached = (schema_registry, number, source_names)
    if cached not in _SHAPES and (schema := schema_registry.schema(number)) is not None:
        _SHAPES[cached] = Shape(schema, source_names)
    return _SHAPES.get(cached)


Read: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
"""A function that reads one Avro value from a message's bytes, at an offset. It returns the value
as JSON has it, and the offset behind the value.
"""


class _Compiled(NamedTuple):
    """A compiled Avro schema: `read` reads its data, `spec` describes it in Connect's JSON."""

    read: Read
    spec: dict[str, Any]


class Shape:
    """An Avro schema, compiled to functions that read its data as JSON. With `source_names` a
    member of a record has the name that its field tells in `connect.field`, if it tells one.
    """

    def __init__(self, schema: Any, source_names: bool = False) -> None:
        self._source_names = source_names
        self._named: dict[str, _Compiled] = {}
        self._read, spec = self._compile(schema, "")
        self._schema = json.dumps(spec)

    def to_json(self, raw: bytes, with_schema: bool) -> str | None:
        """A message in Avro as JSON text, with its schema if `with_schema`. None if the Avro value
        does not end where the message ends. Raises ValueError, IndexError, struct.error or
        RecursionError for bytes that are no such value.
        """
        payload, end = self._read(raw, _HEAD)
        if end != len(raw):
            return None
        payload_json = json.dumps(payload, ensure_ascii=False)
        return (
            f'{{"schema":{self._schema},"payload":{payload_json}}}' if with_schema else payload_json
        )

    def _compile(self, schema: Any, space: str) -> _Compiled:
        """Compiles a schema, parsed from its JSON; `space` is the namespace that it stands in."""
        if isinstance(schema, list):
            branches = [self._compile(branch, space) for branch in schema]
            spec = next(branch.spec for branch in branches if branch.spec["type"] != "null")
            return _Compiled(_union([branch.read for branch in branches]), spec)
        if isinstance(schema, str):
            named_schema = self._named.get(schema) or self._named.get(f"{space}.{schema}")
            primitive_spec = {"type": _CONNECT.get(schema, schema)}
            return named_schema or _Compiled(_PRIMITIVES[schema], primitive_spec)
        match schema["type"]:
            case "record":
                namespace = schema.get("namespace", space)
                readers: list[tuple[str, Read]] = []
                field_specs = []
                for field in schema["fields"]:
                    read, spec = self._compile(field["type"], namespace)
                    source_name = field.get("connect.field") if self._source_names else None
                    readers.append((source_name or field["name"], read))
                    field_specs.append({**spec, "field": source_name or field["name"]})
                record_spec = {
                    "type": "struct",
                    "fields": field_specs,
                    "name": schema.get("connect.name"),
                    "record": f"{namespace}.{schema['name']}",
                }
                compiled = _Compiled(_record(readers), record_spec)
                self._named[f"{namespace}.{schema['name']}"] = self._named[schema["name"]] = (
                    compiled
                )
                return compiled
            case "array":
                items = self._compile(schema["items"], space)
                return _Compiled(_blocks(items.read, list), {"type": "array"})
            case "map":
                values = self._compile(schema["values"], space)
                entry = _record([("name", _read_string), ("value", values.read)])
                entries_by_name = _blocks(
                    entry, lambda entries: {item["name"]: item["value"] for item in entries}
                )
                return _Compiled(entries_by_name, {"type": "map"})
            case "bytes" if schema.get("logicalType") == "decimal":
                decimal_spec = {"type": "string", "parameters": schema.get("connect.parameters")}
                return _Compiled(_decimal(schema["scale"]), decimal_spec)
            case str() as kind:
                read, spec = self._compile(kind, space)
                semantic_spec = {
                    **spec,
                    "name": schema.get("connect.name"),
                    "parameters": schema.get("connect.parameters"),
                }
                return _Compiled(read, semantic_spec)
        return self._compile(schema["type"], space)


_CONNECT: Final = {"int": "int32", "long": "int64"}
"""Connect's names of Avro's types, where they differ."""


def _union(branches: list[Read]) -> Read:
    """The function that reads a union's value: the number of its branch, then the value of that
    branch. It raises ValueError for a branch that does not exist.
    """

    def read(raw: bytes, at: int) -> tuple[Any, int]:
        """The value of the branch that the bytes at `at` name, and the place behind it. Raises
        ValueError for a branch that does not exist.
        """
        branch, at = _long(raw, at)
        if not 0 <= branch < len(branches):
            raise ValueError("no such branch")
        return branches[branch](raw, at)

    return read


def _record(fields: list[tuple[str, Read]]) -> Read:
    """The function that reads a record: its fields in order, as a dict by name."""

    def read(raw: bytes, at: int) -> tuple[dict[str, Any], int]:
        """The record at `at` as a dict of its fields, and the place behind it."""
        datum = {}
        for name, field in fields:
            datum[name], at = field(raw, at)
        return datum, at

    return read


def _blocks(item: Read, collect: Callable[[list[Any]], Any]) -> Read:
    """The function that reads an array, or the entries of a map: blocks of items behind their
    number. `item` reads one item, `collect` makes the value of the list of all.
    """

    def read(raw: bytes, at: int) -> tuple[Any, int]:
        """The items of an array or map that begins at a place of the bytes, and the place behind
        it. Raises ValueError for more items than bytes.
        """
        items: list[Any] = []
        while True:
            count, at = _long(raw, at)
            if count < 0:
                # Avro: behind a negative number of items stands the block's size in bytes.
                count = -count
                _, at = _long(raw, at)
            if count > len(raw):
                raise ValueError("more items than bytes")
            if not count:
                return collect(items), at
            for _ in range(count):
                value, at = item(raw, at)
                items.append(value)

    return read


def _decimal(scale: int) -> Read:
    """The function that reads a decimal of that scale, big-endian bytes behind their length, as
    plain text. It raises ValueError for no bytes.
    """

    def read(raw: bytes, at: int) -> tuple[str, int]:
        """The decimal at `at` as plain text, and the place behind it. Raises ValueError for a
        decimal without bytes.
        """
        data, at = _read_raw(raw, at)
        if not data:
            raise ValueError("a decimal without bytes")
        return format(Decimal(f"{int.from_bytes(data, signed=True)}E{-scale}"), "f"), at

    return read


def _long(raw: bytes, at: int) -> tuple[int, int]:
    """An Avro long that begins at an offset, and the place behind it. Raises ValueError for a
    number of more than 64 bits, and IndexError if the bytes end within it.
    """
    number = shift = 0
    while True:
        byte = raw[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than ten bytes")
    if number >> 64:
        raise ValueError("a number of more than 64 bits")
    return (number >> 1) ^ -(number & 1), at


def _read_raw(raw: bytes, at: int) -> tuple[bytes, int]:
    """The bytes behind their length in Avro's data, and the place behind them. Raises ValueError if
    the data end before.
    """
    size, at = _long(raw, at)
    if not 0 <= size <= len(raw) - at:
        raise ValueError("bytes beyond the end")
    return raw[at : at + size], at + size


def _int(raw: bytes, at: int) -> tuple[int, int]:
    """An Avro int, and the place behind it. Raises ValueError for a number of more than 32 bits."""
    number, at = _long(raw, at)
    if not -(1 << 31) <= number < 1 << 31:
        raise ValueError("an int of more than 32 bits")
    return number, at


def _bytes(raw: bytes, at: int) -> tuple[str, int]:
    """Avro's bytes as base64, as Kafka Connect's JSON spells them, and the place behind them.
    Raises ValueError if the data end before.
    """
    data, at = _read_raw(raw, at)
    return base64.b64encode(data).decode(), at


def _read_string(raw: bytes, at: int) -> tuple[str, int]:
    """An Avro string, and the place behind it. Raises ValueError for bytes that are not UTF-8, and
    if the data end before.
    """
    data, at = _read_raw(raw, at)
    return data.decode(), at


def _read_float(raw: bytes, at: int) -> tuple[float | str, int]:
    """A binary32 number at an offset, as the number with the fewest digits that rounds to it, and
    the place behind it. Raises struct.error if the bytes end within it.
    """
    four = raw[at : at + 4]
    number = struct.unpack("<f", four)[0]
    # Nine digits tell all 32-bit floats apart.
    rounded_numbers = (float(format(number, f".{digits}g")) for digits in range(1, 10))
    shortest = next((rounded for rounded in rounded_numbers if _packs(rounded, four)), number)
    return _in_json(shortest), at + 4


def _packs(value: float, four: bytes) -> bool:
    """Whether a number, packed as a 32-bit float, gives exactly these four bytes; false for a
    number that no such float holds.
    """
    try:
        return struct.pack("<f", value) == four
    except OverflowError:
        return False


def _double(raw: bytes, at: int) -> tuple[float | str, int]:
    """A binary64 number at an offset, and the place behind it. Raises struct.error if the bytes end
    within it.
    """
    return _in_json(struct.unpack("<d", raw[at : at + 8])[0]), at + 8


def _in_json(value: float) -> float | str:
    """A floating-point number as a value that JSON can hold: NaN and the infinities become texts of
    their names.
    """
    return (
        value
        if math.isfinite(value)
        else {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    )


_PRIMITIVES: Final[Mapping[str, Read]] = {
    "null": lambda _raw, at: (None, at),
    "boolean": lambda raw, at: ((False, True)[raw[at]], at + 1),
    "int": _int,
    "long": _long,
    "float": _read_float,
    "double": _double,
    "bytes": _bytes,
    "string": _read_string,
}
"""The functions that read Avro's primitive types, by the names of these."""
