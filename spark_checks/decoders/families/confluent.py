"""Avro in Confluent's framing as Kafka Connect's JSON: what `connect` reads.

Spark's `from_avro` takes one schema for a column and knows no registry: users strip five bytes, and read every message by the
schema that they looked up once, which misreads the first message of another one. Here each message is read by the schema that it
names: the tasks ask the registry for ids that their process has not seen. A record of Python's is slower than Spark's reader, and
right for any mixture of tables and versions.

The address is a setting of the environment on the driver, which sends it with the plan:

- `CDC_CONFORMANCE_REGISTRY`: the registry's URL, below which `/schemas/ids/N` stands;
- `CDC_CONFORMANCE_REGISTRY_USER`: `NAME:PASSWORD`, if it asks for one;
- `CDC_CONFORMANCE_REGISTRY_CA`: a file of certificates in PEM, for a registry with TLS.

An id that the registry does not have makes its message unreadable; the next batch asks again. A registry that does not answer is
asked again for WAIT_S seconds, and then raises: what it would have told is not lost.
"""

from __future__ import annotations

import base64
import io
import json
import math
import os
import ssl
import struct
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import fastavro
import pyarrow as pa
from pyspark.sql import DataFrame

from generators.model import Deployment, Table
from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families.connect.rows import ConnectDialect

WAIT_S: Final = 60.0
ASKED_S: Final = 10.0
"""How long a registry that does not answer is asked, and how long it may take for one answer."""


@dataclass(frozen=True, slots=True)
class Registry:
    """A registry's address, and what it asks of its clients."""

    url: str
    user: str = ""
    ca: str = ""

    def schema(self, number: int) -> Any:
        """The schema of an id, None if the registry has none. Raises ConnectionError if it does not answer."""
        request = urllib.request.Request(f"{self.url}/schemas/ids/{number}")  # noqa: S310 - the user's own address
        if self.user:
            request.add_header("Authorization", f"Basic {base64.b64encode(self.user.encode()).decode()}")
        context = ssl.create_default_context(cafile=self.ca) if self.ca else None
        end, pause, why = time.monotonic() + WAIT_S, 0.1, ""
        while True:
            try:
                with urllib.request.urlopen(request, timeout=ASKED_S, context=context) as answer:  # noqa: S310
                    return json.loads(json.loads(answer.read())["schema"])
            except urllib.error.HTTPError as error:
                if error.code == 404:
                    return None
                why = f"status {error.code}"
                if error.code < 500 and error.code != 429:
                    break
            except (OSError, ValueError) as error:
                why = str(error)
            if time.monotonic() + pause > end:
                break
            time.sleep(pause)
            pause = min(2 * pause, 5)
        raise ConnectionError(f"the schema registry at {self.url} does not tell schema {number}: {why}")


def registry() -> Registry:
    """The registry of the environment. Raises RuntimeError if none is named."""
    name = "CDC_CONFORMANCE_REGISTRY"
    if not os.environ.get(name):
        raise RuntimeError(f"the environment variable {name} must name the schema registry: http://HOST:PORT")
    return Registry(os.environ[name].rstrip("/"), os.environ.get(f"{name}_USER", ""), os.environ.get(f"{name}_CA", ""))


def as_connect_json(records: DataFrame, *, whole_keys: bool = False) -> DataFrame:
    """The records with values as JSON of schema and payload, and keys as JSON of the payload alone, or `whole_keys`. What cannot
    be read has no bytes, in a key it is NULL."""
    asked = registry()

    def batches(source: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in source:
            yield _converted(batch, asked, ("key", "value") if whole_keys else ("value",))

    return records.mapInArrow(batches, records.schema)


@dataclass(frozen=True, slots=True)
class Behind:
    """A decoder of Connect's JSON behind this reading of Avro."""

    of: ConnectDialect | Baseline

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """Level one."""
        return self.of.decode(as_connect_json(records), deployment=deployment)

    def decode_rows(self, records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        """Level two."""
        return self.of.decode_rows(as_connect_json(records), table, deployment=deployment)


def _converted(batch: pa.RecordBatch, asked: Registry, whole: Iterable[str] = ("value",)) -> pa.RecordBatch:
    unknown: set[int] = set()

    def text(raw: bytes | None, name: str) -> bytes | None:
        if raw is None:
            return None
        found = _shape(raw, asked, unknown)
        try:
            told = found and found.text(raw, name in whole)
        # The library raises any exception on bytes that are no Avro.
        except Exception:  # noqa: BLE001
            told = None
        return told.encode() if told else b"" if name == "value" else None

    for name in ("key", "value"):
        at = batch.schema.get_field_index(name)
        if at >= 0:
            field = batch.schema.field(at).with_nullable(True)
            texts = [text(raw, name) for raw in batch.column(at).to_pylist()]
            batch = batch.set_column(at, field, pa.array(texts, field.type))
    return batch


_HEAD: Final = 5
_SHAPES: Final[dict[tuple[Registry, int], Shape]] = {}
"""The schemas that this process has asked for."""


def _shape(raw: bytes, asked: Registry, unknown: set[int]) -> Shape | None:
    """The schema that the bytes name; None for another framing or an id that the registry does not know."""
    if len(raw) < _HEAD or raw[0]:
        return None
    number = int.from_bytes(raw[1:_HEAD], signed=True)
    if number < 0 or number in unknown:
        return None
    key = asked, number
    if key not in _SHAPES:
        schema = asked.schema(number)
        if schema is None:
            unknown.add(number)
            return None
        _SHAPES[key] = Shape(schema)
    return _SHAPES[key]


Convert: TypeAlias = Callable[[Any], Any]
"""A datum of a schema, as fastavro gives it, as what its JSON is printed from."""


class Shape:
    """A schema, compiled."""

    def __init__(self, schema: Any) -> None:
        self._named: dict[str, tuple[Convert, dict[str, Any]]] = {}
        self._avro = fastavro.parse_schema(_physical(schema))
        self._convert, told = self._compiled(schema, "")
        self._schema = json.dumps(told)

    def text(self, raw: bytes, whole: bool) -> str | None:
        """The message as JSON, with its schema if `whole`; None if it does not end where the datum does."""
        source = io.BytesIO(raw[_HEAD:])
        datum = self._convert(fastavro.schemaless_reader(source, self._avro, None))
        if source.read(1):
            return None
        payload = json.dumps(datum, ensure_ascii=False, separators=(",", ":"))
        return f'{{"schema":{self._schema},"payload":{payload}}}' if whole else payload

    def _compiled(self, schema: Any, space: str) -> tuple[Convert, dict[str, Any]]:
        """How data of the schema are converted, and what of it Connect's schema says. A union is one of null and another type."""
        if isinstance(schema, list):
            (found,) = (branch for branch in schema if branch != "null")
            convert, told = self._compiled(found, space)
            return lambda value: None if value is None else convert(value), told
        if isinstance(schema, str):
            known = self._named.get(schema) or self._named.get(f"{space}.{schema}")
            return known or (_PRIMITIVES.get(schema, _same), {"type": _CONNECT.get(schema, schema)})
        match schema["type"]:
            case "record":
                own = schema.get("namespace", space)
                fields = [(field["name"], *self._compiled(field["type"], own)) for field in schema["fields"]]
                shape = {"type": "struct", "fields": [{**told, "field": name} for name, _, told in fields]}
                shape |= {"name": schema.get("connect.name"), "record": f"{own}.{schema['name']}"}
                found = (lambda value: {name: convert(value[name]) for name, convert, _ in fields}), shape
                self._named[f"{own}.{schema['name']}"] = self._named[schema["name"]] = found
                return found
            case "array":
                item, _ = self._compiled(schema["items"], space)
                return lambda value: [item(one) for one in value], {"type": "array"}
            case "map":
                one, _ = self._compiled(schema["values"], space)
                return lambda value: {name: one(inner) for name, inner in value.items()}, {"type": "map"}
            case "bytes" if schema.get("logicalType") == "decimal":
                told = {"type": "string", "parameters": schema.get("connect.parameters")}
                return partial(_decimal, schema["scale"]), told
            case str() as kind:
                convert, told = self._compiled(kind, space)
                return convert, {**told, "name": schema.get("connect.name"), "parameters": schema.get("connect.parameters")}
        return self._compiled(schema["type"], space)


_CONNECT: Final = {"int": "int32", "long": "int64"}


def _physical(schema: Any) -> Any:
    """The schema without logical types: data are as they are encoded."""
    if isinstance(schema, list):
        return [_physical(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {name: schema[name] if name == "name" else _physical(schema[name]) for name in schema if name in _PHYSICAL}


_PHYSICAL: Final = ("type", "name", "namespace", "fields", "items", "values", "symbols", "size")


def _same(value: Any) -> Any:
    return value


def _decimal(scale: int, raw: bytes) -> str:
    if not raw:
        raise ValueError("a decimal without bytes")
    number = int.from_bytes(raw, signed=True)
    digits = str(abs(number)).rjust(scale + 1, "0")
    return f"{'-' if number < 0 else ''}{f'{digits[:-scale]}.{digits[-scale:]}' if scale else digits}"


def _float(value: float) -> float | str:
    """The shortest number that is the same binary32."""
    texts = (format(value, f".{digits}g") for digits in range(1, 10))
    return _double(next((float(text) for text in texts if _packed(float(text)) == _packed(value)), value))


def _packed(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return b""


def _double(value: float) -> float | str:
    """A number, or the name of one that JSON has not."""
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _int(value: int) -> int:
    if not -(1 << 31) <= value < 1 << 31:
        raise ValueError("an int of more than 32 bits")
    return value


_PRIMITIVES: Final[Mapping[str, Convert]] = {
    "int": _int,
    "float": _float,
    "double": _double,
    "bytes": lambda raw: base64.b64encode(raw).decode(),
}
