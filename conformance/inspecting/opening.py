"""Opens messages: decompresses them, and reads them as JSON, as Avro of a published schema, or as
Protobuf of published fields.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, Final

import cramjam
import fastavro
import orjson

from conformance.brokers import registry
from generators import wire_format
from generators.families import confluent
from generators.garbage.wellformed import physical

LIMIT: Final = 64 * 1024 * 1024
"""Limit of a decompressed value, in bytes."""


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """A record of the input. `offset` is -1 where the input lacks it; `exact`: the value is the
    record's to the last byte, so that its end is evidence; `place` names the record in the input.
    """

    value: bytes | None
    key: bytes | None = None
    topic: str = ""
    partition: int = 0
    offset: int = -1
    place: str = ""
    exact: bool = True


@dataclass(frozen=True, eq=False)
class OpenedRecord:
    """A record that was opened. `container` is json, avro, protobuf, confluent (of a registry's
    schema, which the document has as `schema`, with the datum as `payload`), null (no value, or the
    JSON null), or unreadable: `problem` says why.

    `document` is the value of the JSON text or of the Avro datum, `text` the JSON text. `schema` is
    the format whose published Avro schema reads the value to its end, `edition` the schema's
    number.
    """

    record: ReadRecord
    container: str
    document: Any = None
    text: str = ""
    compression: str = "none"
    schema: str = ""
    edition: int = 0
    problem: str = ""

    @cached_property
    def members(self) -> Mapping[str, Any]:
        """The document if it is a JSON object, else {}."""
        return self.document if isinstance(self.document, dict) else {}

    @cached_property
    def payload(self) -> Mapping[str, Any]:
        """The object at `payload` if the document has the members `schema` and `payload`, or
        `payload` alone; else the document itself.
        """
        if is_enveloped(self.members):
            inner = self.members["payload"]
            return inner if isinstance(inner, dict) else {}
        return self.members

    @cached_property
    def has_schema(self) -> bool:
        """Whether the document has the two members schema and payload."""
        return "schema" in self.members and is_enveloped(self.members)

    @cached_property
    def key_document(self) -> Any:
        """The record's key as JSON, None if there is none or it is no JSON."""
        try:
            return orjson.loads(self.record.key) if self.record.key else None
        except ValueError:
            return None


def is_enveloped(document: Mapping[str, Any]) -> bool:
    """Whether an object is Kafka Connect's pair of `schema` and `payload`, or TiCDC's `payload`
    without a schema, and not a row that has columns of these names.
    """
    if document.keys() == {"payload"}:
        return isinstance(document["payload"], dict)
    return document.keys() == {"schema", "payload"} and isinstance(document["schema"], dict | None)


def open_record(record: ReadRecord) -> OpenedRecord:
    """Reads a record as JSON or Avro, decompressed where necessary. Never raises: a record that
    cannot be read has the container "unreadable" and the reason.
    """
    value = record.value
    if value is None or value == b"null":
        return OpenedRecord(record, "null")
    if not value:
        return OpenedRecord(record, "unreadable", problem="the value has no bytes")
    if (framed := _open_frames(record.key or b"", value)) is not None:
        return OpenedRecord(record, "json", framed)
    plain = _open_value(record, value, "none")
    if plain.container != "unreadable":
        return plain
    for name, body in _decompress_each(value):
        if body is None:
            problem = f"begins as {name}, and is damaged, cut, or longer than {LIMIT >> 20} MiB"
            return OpenedRecord(record, "unreadable", compression=name, problem=problem)
        opened = _open_value(record, body, name)
        if opened.container != "unreadable":
            return opened
        if name != "snappy":
            return OpenedRecord(
                record, "unreadable", compression=name, problem=f"behind {name}: {opened.problem}"
            )
    return plain


_VERSION: Final = (1).to_bytes(8, "big")
"""The version with which the key of an Open Protocol record begins."""


def _open_frames(key: bytes, value: bytes) -> Any:
    """A record of TiCDC's Open Protocol, whose events stand behind their lengths, as an object: the
    `key` and `value` of its first event, and its number of `events`. None for any other record.
    """
    # A key of the version alone is another record's, such as the integer 1.
    if key[:8] != _VERSION or len(key) < 16 or len(value) < 8:
        return None
    first_event = []
    for half in (key[8:], value):
        first_event.append(half[8 : 8 + int.from_bytes(half[:8], "big")] or b"{}")
    events, position = 0, 8
    while position < len(key):
        events, position = (
            events + 1,
            position + 8 + int.from_bytes(key[position : position + 8], "big"),
        )
    try:
        return {
            "key": orjson.loads(first_event[0]),
            "value": orjson.loads(first_event[1]),
            "events": events,
        }
    except ValueError:
        return None


def _open_value(record: ReadRecord, body: bytes, compression: str) -> OpenedRecord:
    """Opens a decompressed value: as JSON if it begins as such; by the schema whose id it names if
    it has Confluent's framing; else as Protobuf or Avro, by trying the published schemas of all
    formats. Its container is "unreadable" if none of them fits; only then `problem` counts.
    """
    if body.lstrip()[:1] in (b"{", b"["):
        return _open_json(record, body, compression)
    if (
        body[:1] == confluent.MAGIC
        and (schema := _registered_schema(body[: confluent.HEAD])) is not None
    ):
        datum = _read_datum(schema, body[confluent.HEAD :])
        return OpenedRecord(
            record,
            "unreadable" if datum is None else "confluent",
            {"schema": schema, "payload": datum},
            compression=compression,
            problem="not of the schema that it names in the registry",
        )
    for name, codec in _codecs():
        try:
            return OpenedRecord(record, "protobuf", codec.read(body), "", compression, name)
        except ValueError:
            continue
    for name, edition, schema in _schemas():
        # Each value of TiCDC's Simple protocol begins with 0x16: branch 11 of its union, Message.
        if (name == "ticdc-simple-avro") == (body[:1] == b"\x16") and (
            datum := _read_datum(schema, body)
        ) is not None:
            return OpenedRecord(record, "avro", datum, "", compression, name, edition)
    return OpenedRecord(record, "unreadable", compression=compression, problem=_describe_head(body))


def _open_json(record: ReadRecord, body: bytes, compression: str) -> OpenedRecord:
    """Opens a value that begins as JSON. Its container is "unreadable", with the reason, if it is
    no UTF-8 or no JSON. Python's parser reads what orjson refuses: control characters in strings,
    and NaN.
    """
    try:
        json_text = body.decode()
    except UnicodeDecodeError as error:
        return OpenedRecord(
            record, "unreadable", compression=compression, problem=f"no UTF-8 at byte {error.start}"
        )
    try:
        document = orjson.loads(body)
    except ValueError:
        try:
            document = json.loads(json_text, strict=False)
        except (ValueError, RecursionError) as error:
            return OpenedRecord(
                record,
                "unreadable",
                compression=compression,
                problem=f"begins as JSON and is none: {error}",
            )
    return OpenedRecord(record, "json", document, json_text, compression)


_HEADS: Final = (
    (b"Obj\x01", "an Avro file: no known writer puts one into a message"),
    (b"\xc3\x01", "Avro's single-object encoding: no known writer uses it"),
    (
        b"\x00",
        (
            "a schema registry's header: name the registry that has its schema in"
            " CDC_CONFORMANCE_REGISTRY"
        ),
    ),
)
"""The first bytes of values that cannot be read, with what they mean."""


def _describe_head(body: bytes) -> str:
    """Why a value that is neither JSON nor Avro of a published schema cannot be read, in words, as
    far as its first bytes tell.
    """
    return next(
        (problem for head, problem in _HEADS if body.startswith(head)),
        "neither JSON nor Avro of a published schema",
    )


@cache
def _registered_schema(head: bytes) -> Any:
    """The Avro schema whose number stands in the first bytes of a message (`head`), parsed: from
    the schemas that this process registered, else from the schema registry. None if there is none
    with that number.
    """
    number = int.from_bytes(head[1:])
    registered = confluent.SCHEMAS.get(number)
    schema_text = None
    if registered:
        schema_text = registered[1]
    elif len(head) == confluent.HEAD:
        schema_text = registry.read_schema(number)
    return None if schema_text is None else fastavro.parse_schema(physical(json.loads(schema_text)))


@cache
def _codecs() -> tuple[tuple[str, wire_format.Codec], ...]:
    """The name and the codec (reader of Protobuf messages) of each format that has one."""
    return tuple((fmt.name, fmt.codec) for fmt in wire_format.formats() if fmt.codec is not None)


@cache
def _schemas() -> tuple[tuple[str, int, Any], ...]:
    """Every Avro schema that the products publish, parsed, each with its format and its number
    among those of the format.
    """
    parsed: list[tuple[str, int, Any]] = []
    for fmt in wire_format.formats():
        if fmt.container == "avro":
            for number, schema in enumerate(fmt.schemas(fmt.profiles[0])):
                parsed.append((fmt.name, number, fastavro.parse_schema(schema)))
    return tuple(parsed)


def _read_datum(schema: Any, body: bytes) -> Any:
    """Reads the body as one Avro value of the schema; None if that fails, or leaves bytes."""
    source = io.BytesIO(body)
    try:
        datum = fastavro.schemaless_reader(source, schema, None, return_record_name=True)
    except Exception:  # noqa: BLE001 - fastavro raises what its parts raise on bytes that are no such datum
        return None
    return datum if source.tell() == len(body) else None


def _inflate(value: bytes) -> bytes:
    """The decompressed content of a value in gzip, which may have several parts. Raises zlib.error
    if the value is cut or damaged, or the content longer than LIMIT.
    """
    with gzip.GzipFile(fileobj=io.BytesIO(value)) as stream:
        try:
            content = stream.read(LIMIT + 1)
        except (EOFError, gzip.BadGzipFile) as error:
            raise zlib.error("cut, or damaged") from error
    if len(content) > LIMIT:
        raise zlib.error("longer than the limit")
    return content


def _decompress_within(unpack: Callable[[bytes, bytearray], int], value: bytes) -> bytes:
    """Decompresses a value with `unpack` (which writes into a buffer and returns the length) into a
    buffer of limited size, so that no message can exhaust the memory: a small buffer first, then
    one of LIMIT bytes if that is too small.
    """
    small = bytearray(min(LIMIT, 64 * len(value) + 65_536))
    try:
        return bytes(small[: unpack(value, small)])
    except cramjam.DecompressionError:
        if len(small) == LIMIT:
            raise
    large = bytearray(LIMIT)
    return bytes(large[: unpack(value, large)])


_PACKERS: Final[tuple[tuple[str, bytes, Callable[[bytes], Any]], ...]] = (
    ("gzip", b"\x1f\x8b", _inflate),
    ("zstd", b"\x28\xb5\x2f\xfd", partial(_decompress_within, cramjam.zstd.decompress_into)),
    ("lz4", b"\x04\x22\x4d\x18", partial(_decompress_within, cramjam.lz4.decompress_into)),
    ("snappy", b"", cramjam.snappy.decompress_raw),
)
"""For each compression its name, the first bytes of its values (none for snappy), and the function
that decompresses them.
"""


def _decompress_each(value: bytes) -> list[tuple[str, bytes | None]]:
    """The value decompressed by each compression whose first bytes it has, as (name of the
    compression, bytes, or None if it is damaged or too long). Snappy has no such bytes: it is tried
    on every value, and left out if it fails.
    """
    unpacked: list[tuple[str, bytes | None]] = []
    for name, magic, unpack in _PACKERS:
        if value.startswith(magic) and (name != "snappy" or _snappy_length(value) <= LIMIT):
            try:
                unpacked.append((name, bytes(unpack(value))))
            except (zlib.error, cramjam.DecompressionError, MemoryError, OverflowError):
                if magic:
                    unpacked.append((name, None))
    return unpacked


def _snappy_length(value: bytes) -> int:
    """The decompressed length that a snappy block states in its first bytes; LIMIT + 1 if these
    state none.
    """
    length = 0
    for i, byte in enumerate(value[:5]):
        length |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return length
    return LIMIT + 1
