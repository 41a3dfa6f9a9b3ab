"""Confluent's framing of Avro: a zero byte, four bytes of a schema's id, one datum; and Kafka Connect's values as such data.

Source: confluentinc/schema-registry, `AvroData.fromConnectSchema` and `AbstractKafkaAvroSerializer` (the page confluent of the
sources). The id of a schema is made of its text, so that a schema has one id in every process; `SCHEMAS` are those that the
writers of this process named. What else holds messages (kept cases, corpora) holds their schemas too (`named_in`), and `recall`s
them.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeAlias

import fastavro

from generators.errors import HarnessError
from generators.families.avro import FAULTS as AVRO_FAULTS
from generators.garbage.faults import MUST, Fault
from generators.garbage.wellformed import NULL, Left, State, avro_left, physical
from generators.model import Case, Column, Message, Op, Row, Scenario, SchemaChange, Table
from generators.sources.boundaries import START, change, id_column, insert, neutral
from generators.sources.boundaries import named as scenario
from generators.sources.registry import source

MAGIC: Final = b"\x00"
HEAD: Final = 5
"""Bytes of the framing."""

Schemas: TypeAlias = dict[int, tuple[tuple[str, ...], str]]
"""The subjects of a schema, in order, and its text, by its id."""
SCHEMAS: Final[Schemas] = {}
Told: TypeAlias = Callable[[int], tuple[tuple[str, ...], str]]
"""The subjects of a schema and its text, by its id."""

STRATEGIES: Final[Mapping[str, Callable[[str, str, str], str]]] = {
    "": lambda topic, _record, side: f"{topic}-{side}",
    "record-name": lambda _topic, record, _side: record,
    "topic-record-name": lambda topic, record, _side: f"{topic}-{record}",
}
"""The subject of a schema by the strategy's option: TopicNameStrategy, RecordNameStrategy, TopicRecordNameStrategy."""


def named(subject: str, text: str) -> bytes:
    """The framing of a datum of the schema, which is in SCHEMAS from then on. Raises HarnessError if two schemas have one id."""
    number = _number_of(text)
    subjects, known = SCHEMAS.get(number, ((), ""))
    if subject not in subjects or known != text:
        recall({number: ((subject,), text)})
    return MAGIC + number.to_bytes(4)


@lru_cache(maxsize=8192)
def _number_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) & 0x7FFFFFFF


def recall(schemas: Schemas, into: Schemas | None = None) -> None:
    """Adds schemas to SCHEMAS, or to others. Raises HarnessError if two have one id."""
    into = SCHEMAS if into is None else into
    for number, (subjects, text) in schemas.items():
        known = into.get(number, ((), text))
        if known[1] != text:
            raise HarnessError(f"two schemas have the id {number}: take another --seed")
        into[number] = tuple(sorted({*known[0], *subjects})), text


def named_in(cases: Iterable[Case]) -> Schemas:
    """The schemas that keys and values of the cases name, behind a wrong magic byte too, in the order of their ids, with the
    subjects that the cases' profiles give them: whatever else this process has written."""
    found: Schemas = {}
    for case in cases:
        subject = STRATEGIES[next((option for option in case.profile.split("+") if option in STRATEGIES), "")]
        for number, topic, side in _named(one.message for one in case.written):
            text = SCHEMAS[number][1]
            recall({number: ((subject(topic, _record(text), side),), text)}, found)
    return dict(sorted(found.items()))


def versions(messages: Iterable[Message]) -> dict[tuple[str, int], str]:
    """The texts of the schemas that messages name, by subject and id; a subject is one that a writer gave and the message's
    topic has."""
    found: dict[tuple[str, int], str] = {}
    for number, topic, side in dict.fromkeys(_named(messages)):
        subjects, text = SCHEMAS[number]
        of = {strategy(topic, _record(text), side) for strategy in STRATEGIES.values()}
        found |= {(subject, number): text for subject in subjects if subject in of}
    return found


def _named(messages: Iterable[Message]) -> Iterator[tuple[int, str, str]]:
    """The ids of SCHEMAS that messages name, with topic and side."""
    for message in messages:
        for side, part in (("key", message.key), ("value", message.value)):
            number = int.from_bytes(part[1:HEAD]) if part and len(part) >= HEAD else 0
            if number in SCHEMAS:
                yield number, message.topic, side


@lru_cache(maxsize=8192)
def _record(text: str) -> str:
    """The full name of a schema's record."""
    found = json.loads(text)
    if not isinstance(found, dict) or found["type"] != "record":
        return _UNNAMED
    return ".".join(filter(None, (found.get("namespace"), found["name"])))


def readable(data: bytes, told: Told = SCHEMAS.__getitem__) -> bytes:
    """A key or value of this framing as JSON of its schema and its datum; other bytes as they are.

    Values are as they are encoded: a decimal is bytes, which are base64. A datum that Avro would encode otherwise stands there
    as it is, too.
    """
    if data[: len(MAGIC)] != MAGIC:
        return data
    subjects, text = told(int.from_bytes(data[1:HEAD]))
    schema, source, again = json.loads(text), io.BytesIO(data[HEAD:]), io.BytesIO()
    plain = physical(schema)
    payload = fastavro.schemaless_reader(source, plain, None)
    fastavro.schemaless_writer(again, plain, payload)
    found = {"subjects": subjects, "schema": schema, "payload": payload}
    if again.getvalue() != data[HEAD:]:
        found["datum"] = data[HEAD:]
    shown = json.dumps(found, ensure_ascii=False, separators=(",", ":"), default=lambda raw: base64.b64encode(raw).decode())
    return shown.encode()


# Connect's schemas as Avro's

_TYPES: Final = {"int8": "int", "int16": "int", "int32": "int", "int64": "long"}
_LOGICAL: Final = {"Decimal": "decimal", "Date": "date", "Time": "time-millis", "Timestamp": "timestamp-millis"}
_DATA: Final = "org.apache.kafka.connect.data."
_UNNAMED: Final = "io.confluent.connect.avro.ConnectDefault"
_PRECISION: Final = 64
"""The precision of a Decimal whose schema names none."""


def avro_schema(found: Mapping[str, Any]) -> str:
    """A schema of Connect, as JsonConverter prints it, as the text of Avro's."""
    return json.dumps(_avro(found, "", {}), ensure_ascii=False, separators=(",", ":"))


def _avro(found: Mapping[str, Any], space: str, known: dict[str, int]) -> Any:
    """The schema within a namespace; `known` are the full names of records that stand before it, and how many have none."""
    base = _base(found, space, known)
    if not found["optional"]:
        return base
    return [base, "null"] if _is_default(found) else ["null", base]


def _is_default(found: Mapping[str, Any]) -> bool:
    return "default" in found and found["type"] != "struct"


def _base(found: Mapping[str, Any], space: str, known: dict[str, int]) -> Any:
    name, kind = found.get("name", ""), found["type"]
    told: dict[str, Any] = {"type": _TYPES.get(kind, kind)}
    match kind:
        case "array":
            told["items"] = _avro(found["items"], space, known)
        case "map":
            told["values"] = _avro(found["values"], space, known)
        case "struct":
            whole = name or _UNNAMED + (str(known[_UNNAMED] + 1) if _UNNAMED in known else "")
            own, _, last = whole.rpartition(".")
            if name in known:
                return last if own == space else whole
            known[name or _UNNAMED] = known.get(name or _UNNAMED, 0) + 1
            told = {"type": "record", "name": last, **({"namespace": own} if own != space else {})}
            told["fields"] = [_field(field, own, known) for field in found["fields"]]
    parameters = found.get("parameters", {})
    decimal = name == f"{_DATA}Decimal"
    if decimal:
        told |= {"scale": int(parameters["scale"]), "precision": int(parameters.get("connect.decimal.precision", _PRECISION))}
    for property_ in ("doc", "version", "parameters"):
        if property_ in found:
            told[f"connect.{property_}"] = found[property_]
    if "default" in found:
        told["connect.default"] = _default(found)
    if name:
        told["connect.name"] = name
    if kind in ("int8", "int16"):
        told["connect.type"] = kind
    if name.startswith(_DATA):
        told["logicalType"] = _LOGICAL[name.removeprefix(_DATA)]
    return told["type"] if len(told) == 1 else told


def _field(found: Mapping[str, Any], space: str, known: dict[str, int]) -> dict[str, Any]:
    field = {"name": found["field"], "type": _avro(found, space, known)}
    if _is_default(found):
        field["default"] = _default(found)
    elif found["optional"]:
        field["default"] = None
    return field


def _default(found: Mapping[str, Any]) -> Any:
    """A default in Avro's JSON: bytes are characters of Latin-1."""
    value = found["default"]
    return base64.b64decode(value).decode("latin-1") if found["type"] == "bytes" else value


# Connect's values as data

Encode: TypeAlias = Callable[[Any], bytes]
"""Makes a datum of a value of JsonConverter's JSON, read."""


def number(value: int) -> bytes:
    """An int or a long, a length, a block's count."""
    rest, found = (value << 1) ^ (value >> 63), bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes((*found, rest))


def sized(raw: bytes) -> bytes:
    """Bytes, or a string's."""
    return number(len(raw)) + raw


def encoder(found: Mapping[str, Any]) -> Encode:
    """What makes data of a schema of Connect."""
    inner = _encoder(found)
    if not found["optional"]:
        return inner
    null, some = (b"\x02", b"\x00") if _is_default(found) else (b"\x00", b"\x02")
    return lambda value: null if value is None else some + inner(value)


def _encoder(found: Mapping[str, Any]) -> Encode:
    match found["type"]:
        case "boolean":
            return lambda value: b"\x01" if value else b"\x00"
        case "float":
            return lambda value: struct.pack("<f", float(value))
        case "double":
            return lambda value: struct.pack("<d", float(value))
        case "string":
            return lambda value: sized(value.encode("utf-8", "replace"))
        case "bytes":
            return lambda value: sized(base64.b64decode(value))
        case "array":
            item = encoder(found["items"])
            return lambda value: b"".join((*((number(len(value)), *map(item, value)) if value else ()), b"\x00"))
        case "map":
            one = encoder(found["values"])
            return lambda value: b"".join(
                (*((number(len(value)), *(sized(k.encode()) + one(v) for k, v in value.items())) if value else ()), b"\x00")
            )
        case "struct":
            fields = [(field["field"], encoder(field)) for field in found["fields"]]
            return lambda value: b"".join([encode(value[name]) for name, encode in fields])
    return number


@lru_cache(maxsize=8192)
def _converter(text: str) -> tuple[str, str, Encode]:
    """The name of a schema of Connect, in JSON, its text as Avro's, and what makes data of it."""
    found = json.loads(text)
    return found.get("name", _UNNAMED), avro_schema(found), encoder(found)


def converted(text: str, subject: Callable[[str], str]) -> tuple[bytes, Any]:
    """A message of JsonConverter with its schema as AvroConverter writes it, and its schema; `subject` makes that of a record's
    name."""
    found, end = json.JSONDecoder().raw_decode(text, len(_OPENING))
    name, schema, encode = _converter(text[len(_OPENING) : end])
    return named(subject(name), schema) + encode(json.loads(text[end + len(_BETWEEN) : -1])), found


_OPENING: Final = '{"schema":'
_BETWEEN: Final = ',"payload":'


# Cases


def evolved(of: str, database: str) -> Scenario:
    """A table of the source that changes between its rows: each message names the schema of its time."""
    origin = source(of)
    name, quote = "schema/evolved", origin.quote
    columns = (id_column(of), Column("a", origin.string))
    first = Table(database, neutral(name), columns, ("id",), schema=origin.schema)
    second = replace(first, columns=(*columns, Column("b", origin.number)))
    third = replace(first, columns=(columns[0], second.columns[2]))
    wider: Row = {"id": 2, "a": "y", "b": 5}

    def altered(action: str, tail: str, before: Table, after: Table) -> SchemaChange:
        sql = f"ALTER TABLE {quote(first.name)} {tail}"
        return SchemaChange(START, action, sql, database, first.name, before, after)

    return scenario(
        name,
        insert(first, {"id": 1, "a": "x"}),
        altered("add column", f"ADD COLUMN {quote('b')} int", first, second),
        insert(second, wider),
        change(second, Op.UPDATE, (wider, {**wider, "b": None})),
        altered("drop column", f"DROP COLUMN {quote('a')}", second, third),
        insert(third, {"id": 4, "b": None}),
        tags={"schema-evolved"},
    )


# Faults


def _headed(head: bytes) -> Callable[[bytes], bytes]:
    return lambda value: head + value[len(head) :]


def _as_text(value: bytes) -> bytes:
    return b'{"id":' + str(int.from_bytes(value[1:HEAD])).encode() + b"}"


UNKNOWN: Final = b"\x7f\xff\xff\xfe"
"""The id of a schema that no registry has."""

FAULTS: Final[tuple[Fault, ...]] = (
    *(fault for fault in AVRO_FAULTS if fault.tag != "foreign-framing"),
    Fault("magic-one", "wrong-magic", MUST, "The magic byte is 1.", _headed(b"\x01")),
    Fault("magic-minus-one", "wrong-magic", MUST, "The magic byte is FF.", _headed(b"\xff")),
    Fault("unknown-id", "unknown-schema", MUST, "The registry has no schema of the id.", lambda v: v[:1] + UNKNOWN + v[HEAD:]),
    Fault("negative-id", "unknown-schema", MUST, "The id is -1.", lambda v: v[:1] + b"\xff" * 4 + v[HEAD:]),
    Fault("id-cut", "truncated", MUST, "The value ends within the schema's id.", lambda v: v[:3]),
    Fault("head-alone", "truncated", MUST, "Nothing follows the schema's id.", lambda v: v[:HEAD]),
    Fault("head-missing", "foreign-framing", MUST, "The datum stands without its framing.", lambda v: v[HEAD:]),
    Fault("head-twice", "foreign-framing", MUST, "The framing stands there twice.", lambda v: v[:HEAD] + v),
    Fault("json-alone", "wrong-container", MUST, "JSON with the schema's id stands in the datum's place.", _as_text),
)
"""Ways to spoil a value of Confluent's framing."""


@lru_cache(maxsize=8192)
def _oracle(text: str) -> Callable[[bytes | None], Left]:
    return avro_left([json.loads(text)])


def left(value: bytes | None) -> Left:
    """What is left of a value, by the schema that it names."""
    if value is None:
        return NULL
    found = SCHEMAS.get(int.from_bytes(value[1:HEAD])) if len(value) >= HEAD and value[:1] == MAGIC else None
    if found is None:
        return Left(State.UNREADABLE, "empty" if not value else "syntax")
    judged = _oracle(found[1])(value[HEAD:])
    return Left(State.UNREADABLE, "truncated") if judged.reason == "empty" else judged
