"""Confluent's framing of Avro: a zero byte, four bytes of a schema's id, one datum; and Kafka
Connect's values as such data.

Source: confluentinc/schema-registry, `AvroData.fromConnectSchema` and `AbstractKafkaAvroSerializer`
(the page confluent of the sources). The id of a schema is made of its text, so that a schema has
one id in every process; `SCHEMAS` are those that the writers of this process named. What else holds
messages (kept cases, corpora) holds their schemas too (`named_in`), and `recall`s them.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import fastavro

from generators.errors import HarnessError
from generators.families.avro import FAULTS as AVRO_FAULTS
from generators.families.avro import LONG, Encoder
from generators.families.connect import partition_of
from generators.garbage.cell_faults import CellFault, Way, matrix
from generators.garbage.faults import Fault
from generators.garbage.wellformed import NULL, Remains, State, avro_remains, physical
from generators.model import (
    Case,
    Column,
    Logical,
    Message,
    Op,
    Row,
    Scenario,
    SchemaChange,
    Table,
    Value,
    Written,
)
from generators.sources.boundaries import START, change, id_column, insert, neutral
from generators.sources.boundaries import named as scenario
from generators.sources.databases import source

MAGIC: Final = b"\x00"
HEAD: Final = 5
"""Bytes of the framing."""

Schemas: TypeAlias = dict[int, tuple[tuple[str, ...], str]]
"""The subjects under which a schema is registered, in order, and the schema's text, by its id."""
SCHEMAS: Final[Schemas] = {}
"""The schemas that the writers of this process have put into messages."""
SchemaOf: TypeAlias = Callable[[int], tuple[tuple[str, ...], str]]
"""The function that gives the subjects of a schema and its text, by its id."""

Subject: TypeAlias = Callable[[str, str, str], str]
"""The function that gives the subject under which a schema is registered, from the topic, the full
name of the schema's record, and `key` or `value`.
"""
STRATEGIES: Final[Mapping[str, Subject]] = {
    "": lambda topic, _record, side: f"{topic}-{side}",
    "record-name": lambda _topic, record, _side: record,
    "topic-record-name": lambda topic, record, _side: f"{topic}-{record}",
}
"""The ways to name a schema's subject, by the word of a profile's option: TopicNameStrategy (""),
RecordNameStrategy and TopicRecordNameStrategy.
"""


def strategy(options: Iterable[str]) -> Subject:
    """The way to name a schema's subject that a profile's options choose; the default one if they
    choose none.
    """
    return STRATEGIES[next((option for option in options if option in STRATEGIES), "")]


def frame_schema(subject: str, schema_json: str) -> bytes:
    """The five bytes before a datum of the schema: a zero byte and the schema's id. It puts the
    schema into SCHEMAS under `subject`. Raises HarnessError if another schema has the same id.
    """
    number = _number_of(schema_json)
    subjects, known_json = SCHEMAS.get(number, ((), ""))
    if subject not in subjects or known_json != schema_json:
        recall({number: ((subject,), schema_json)})
    return MAGIC + number.to_bytes(4)


@lru_cache(maxsize=8192)
def _number_of(schema_json: str) -> int:
    """The id of a schema, which follows from its text: 31 bits of the text's SHA-256."""
    return int.from_bytes(hashlib.sha256(schema_json.encode()).digest()[:4]) & 0x7FFFFFFF


def recall(schemas: Schemas, into: Schemas | None = None) -> None:
    """Adds schemas by id to SCHEMAS, or to `into`. Raises HarnessError if two schemas have one
    id.
    """
    into = SCHEMAS if into is None else into
    for number, (subjects, schema_json) in schemas.items():
        known_subjects, known_json = into.get(number, ((), schema_json))
        if known_json != schema_json:
            raise HarnessError(f"two schemas have the id {number}: take another --seed")
        into[number] = tuple(sorted({*known_subjects, *subjects})), schema_json


def schemas_of_cases(cases: Iterable[Case]) -> Schemas:
    """The schemas whose ids stand in keys and values of the cases' messages, by id in order, with
    the subjects that the cases' profiles give them, or their own names where the writer registers
    them under these alone. Bytes whose first byte is wrong count, too. Schemas that only other
    cases of this process have are left out.
    """
    schemas: Schemas = {}
    for case in cases:
        subject_of = strategy(case.profile.split("+"))
        for number, topic, side in _named_schemas(w.message for w in case.written):
            subjects, schema_json = SCHEMAS[number]
            record = _record_name(schema_json)
            subject = subject_of(topic, record, side)
            # TiCDC registers the schemas of DDL and watermarks under their own names alone.
            own_subject = subject if subject in subjects or record not in subjects else record
            recall({number: ((own_subject,), schema_json)}, schemas)
    return dict(sorted(schemas.items()))


def schema_versions(messages: Iterable[Message]) -> dict[tuple[str, int], str]:
    """The texts of the schemas whose ids stand in the messages, by subject and id. A subject is one
    under which a writer registered the schema, and that belongs to the message's topic.
    """
    texts: dict[tuple[str, int], str] = {}
    for number, topic, side in dict.fromkeys(_named_schemas(messages)):
        subjects, schema_json = SCHEMAS[number]
        subjects_of_message = {
            subject(topic, _record_name(schema_json), side) for subject in STRATEGIES.values()
        }
        texts |= {
            (subject, number): schema_json for subject in subjects if subject in subjects_of_message
        }
    return texts


class _NamedSchema(NamedTuple):
    """The id of a schema that stands in a message, the message's topic, and which part of the
    message it stands in: `key` or `value`.
    """

    number: int
    topic: str
    side: str


def _named_schemas(messages: Iterable[Message]) -> Iterator[_NamedSchema]:
    """The ids of schemas that stand in keys and values of the messages, as far as SCHEMAS has
    them.
    """
    for message in messages:
        for side, part in (("key", message.key), ("value", message.value)):
            number = int.from_bytes(part[1:HEAD]) if part and len(part) >= HEAD else 0
            if number in SCHEMAS:
                yield _NamedSchema(number, message.topic, side)


@lru_cache(maxsize=8192)
def _record_name(schema_json: str) -> str:
    """The full name of the record that an Avro schema defines; `_UNNAMED` for a schema that is no
    record. A name with dots is a full name, whatever the schema's namespace (Avro's specification,
    "Names").
    """
    schema = json.loads(schema_json)
    if not isinstance(schema, dict) or schema["type"] != "record":
        return _UNNAMED
    if "." in schema["name"]:
        return str(schema["name"])
    return ".".join(filter(None, (schema.get("namespace"), schema["name"])))


def readable(data: bytes, schema_of: SchemaOf = SCHEMAS.__getitem__) -> bytes:
    """A key or value in Confluent's framing as JSON that shows its schema and its datum; any other
    bytes as they are. Bytes in the datum, also those of decimals, are base64. If Avro would encode
    the datum with other bytes, these are there, too.
    """
    if data[: len(MAGIC)] != MAGIC:
        return data
    subjects, schema_json = schema_of(int.from_bytes(data[1:HEAD]))
    schema, source, again = json.loads(schema_json), io.BytesIO(data[HEAD:]), io.BytesIO()
    plain = physical(schema)
    payload = fastavro.schemaless_reader(source, plain, None)
    fastavro.schemaless_writer(again, plain, payload)
    document = {"subjects": subjects, "schema": schema, "payload": payload}
    if again.getvalue() != data[HEAD:]:
        document["datum"] = data[HEAD:]
    readable_json = json.dumps(
        document,
        ensure_ascii=False,
        separators=(",", ":"),
        default=lambda raw: base64.b64encode(raw).decode(),
    )
    return readable_json.encode()


# Connect's schemas as Avro's

_TYPES: Final = {"int8": "int", "int16": "int", "int32": "int", "int64": "long"}
"""The type in Avro of Connect's integers."""
_LOGICAL: Final = {
    "Decimal": "decimal",
    "Date": "date",
    "Time": "time-millis",
    "Timestamp": "timestamp-millis",
}
"""Avro's logical type for each of Connect's own types."""
_DATA: Final = "org.apache.kafka.connect.data."
"""How the names of Connect's own logical types begin."""
_UNNAMED: Final = "io.confluent.connect.avro.ConnectDefault"
"""The name of the record for a struct without a name."""
_PRECISION: Final = 64
"""The precision of a Decimal whose schema names none."""


def avro_schema(schema: Mapping[str, Any]) -> str:
    """The text of the Avro schema that Confluent's converter makes of a Connect schema, which is
    given as JsonConverter writes it.
    """
    return json.dumps(_avro(schema, "", {}), ensure_ascii=False, separators=(",", ":"))


def _avro(schema: Mapping[str, Any], space: str, records_before: dict[str, int]) -> Any:
    """The Avro schema that Confluent's converter makes of a Connect schema, inside the namespace
    `space`. An optional schema becomes a union with null. Null comes first in it, unless the schema
    has a default that Avro's field takes over.

    `records_before` has, by full name, how many records stand before this schema, those without a
    name under _UNNAMED; the records of this schema are added to it.
    """
    base = _base(schema, space, records_before)
    if not schema["optional"]:
        return base
    return [base, "null"] if _is_default(schema) else ["null", base]


def _is_default(schema: Mapping[str, Any]) -> bool:
    """Whether Avro's field takes over the default of its schema, which it does not for a struct."""
    return "default" in schema and schema["type"] != "struct"


def _base(schema: Mapping[str, Any], space: str, records_before: dict[str, int]) -> Any:
    """The Avro schema of a Connect schema, without the union with null that an optional one gets. A
    struct whose name is in `records_before` is given by its name alone.
    """
    name, kind = schema.get("name", ""), schema["type"]
    avro: dict[str, Any] = {"type": _TYPES.get(kind, kind)}
    match kind:
        case "array":
            avro["items"] = _avro(schema["items"], space, records_before)
        case "map":
            avro["values"] = _avro(schema["values"], space, records_before)
        case "struct":
            full_name = name or _UNNAMED + (
                str(records_before[_UNNAMED] + 1) if _UNNAMED in records_before else ""
            )
            namespace, _, last = full_name.rpartition(".")
            if name in records_before:
                return last if namespace == space else full_name
            records_before[name or _UNNAMED] = records_before.get(name or _UNNAMED, 0) + 1
            avro = {
                "type": "record",
                "name": last,
                **({"namespace": namespace} if namespace != space else {}),
            }
            avro["fields"] = [
                _field(field, namespace, records_before) for field in schema["fields"]
            ]
    parameters = schema.get("parameters", {})
    decimal = name == f"{_DATA}Decimal"
    if decimal:
        avro |= {
            "scale": int(parameters["scale"]),
            "precision": int(parameters.get("connect.decimal.precision", _PRECISION)),
        }
    for property_ in ("doc", "version", "parameters"):
        if property_ in schema:
            avro[f"connect.{property_}"] = schema[property_]
    if "default" in schema:
        avro["connect.default"] = _default(schema)
    if name:
        avro["connect.name"] = name
    if kind in ("int8", "int16"):
        avro["connect.type"] = kind
    if name.startswith(_DATA):
        avro["logicalType"] = _LOGICAL[name.removeprefix(_DATA)]
    return avro["type"] if len(avro) == 1 else avro


def _field(schema: Mapping[str, Any], space: str, records_before: dict[str, int]) -> dict[str, Any]:
    """A field of a Connect struct as a field of Avro's record; its default is the schema's own, or
    null for an optional field. `space` is the namespace of the record; `records_before` counts, by
    name, the records that stand before the field, and is updated (see `_avro`).
    """
    field = {"name": schema["field"], "type": _avro(schema, space, records_before)}
    if _is_default(schema):
        field["default"] = _default(schema)
    elif schema["optional"]:
        field["default"] = None
    return field


def _default(schema: Mapping[str, Any]) -> Any:
    """The default of a Connect schema as the JSON of an Avro schema has it: bytes, which are base64
    there, become characters of Latin-1.
    """
    value = schema["default"]
    return base64.b64decode(value).decode("latin-1") if schema["type"] == "bytes" else value


# Connect's values as data


def sized(raw: bytes) -> bytes:
    """The bytes of a string or of bytes as Avro encodes them: the length, then the bytes."""
    return LONG(len(raw)) + raw


def _value(schema: Mapping[str, Any], value: Any) -> Any:
    """The value that fastavro encodes for a value of JsonConverter's JSON, by the value's Connect
    schema in that converter's form. A lone surrogate in a text becomes `?`, since Avro's texts are
    UTF-8.
    """
    match schema["type"]:
        case _ if value is None:
            return None
        case "float" | "double":
            return float(value)
        case "string":
            return value.encode("utf-8", "replace").decode()
        case "bytes":
            return base64.b64decode(value)
        case "array":
            return [_value(schema["items"], item) for item in value]
        case "map":
            return {name: _value(schema["values"], item) for name, item in value.items()}
        case "struct":
            return {
                field["field"]: _value(field, value[field["field"]]) for field in schema["fields"]
            }
    return value


@lru_cache(maxsize=8192)
def _parse_converter_schema(connect_json: str) -> tuple[Any, str]:
    """A Connect schema, parsed from JsonConverter's JSON, and the text of the Avro schema that
    Confluent's converter makes of it.
    """
    parsed = json.loads(connect_json)
    return parsed, avro_schema(parsed)


@lru_cache(maxsize=8192)
def encoder_of_schema(schema_json: str) -> Encoder:
    """The encoder of an Avro schema, without logical types."""
    return Encoder(physical(json.loads(schema_json)))


def encode_payload(schema: str, payload: str) -> bytes:
    """The Avro datum, without framing, of a payload in JsonConverter's JSON; `schema` is the
    payload's schema in the same form.
    """
    parsed, schema_json = _parse_converter_schema(schema)
    return encoder_of_schema(schema_json)(_value(parsed, json.loads(payload)))


def convert_message(message_json: str, topic: str, side: str, subject: Subject) -> bytes:
    """A key or value with its schema, in JsonConverter's JSON, as AvroConverter writes it: in
    Confluent's framing. `subject` names the schema's subject; `side` says whether it is a `key` or
    a `value`. The schema's text is taken from the message as it stands: from behind _OPENING to the
    payload (_BETWEEN).
    """
    _, end = json.JSONDecoder().raw_decode(message_json, len(_OPENING))
    schema = message_json[len(_OPENING) : end]
    parsed, avro = _parse_converter_schema(schema)
    return frame_schema(subject(topic, parsed.get("name", _UNNAMED), side), avro) + encode_payload(
        schema, message_json[end + len(_BETWEEN) : -1]
    )


def convert_record(written: Written, subject_strategy: str, partitions: int) -> Written:
    """A record in JsonConverter's JSON with schemas as AvroConverter writes it. The new bytes of
    the key choose the partition; without a key it stays. `subject_strategy` is a name of
    STRATEGIES.
    """
    message, subject = written.message, STRATEGIES[subject_strategy]
    key, value = (
        part and convert_message(part.decode(), message.topic, side, subject)
        for side, part in (("key", message.key), ("value", message.value))
    )
    place = message.partition if key is None else partition_of(key, partitions)
    return Written(replace(message, key=key, value=value, partition=place), written.changes)


_OPENING: Final = '{"schema":'
"""How a message of JsonConverter begins; the schema follows."""
_BETWEEN: Final = ',"payload":'
"""What stands between schema and payload in a message of JsonConverter."""


# Cases


def evolving_scenario(source_name: str, database: str) -> Scenario:
    """The scenario of a table of the source that between its rows gets a column by DDL, and loses
    another one. The message of each row must name the schema that the table had then.
    """
    origin = source(source_name)
    name, quote = "schema/evolved", origin.quote
    columns = (id_column(source_name), Column("a", origin.string))
    first = Table(database, neutral(name), columns, ("id",), schema=origin.schema)
    second = replace(first, columns=(*columns, Column("b", origin.number)))
    third = replace(first, columns=(columns[0], second.columns[2]))
    wider: Row = {"id": 2, "a": "y", "b": 5}

    def altered(action: str, tail: str, before: Table, after: Table) -> SchemaChange:
        """The event of an ALTER TABLE, whose SQL ends in `tail`."""
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

SOME: Final = b"\x02"
"""The index of the branch that has a value, in a union whose first branch is null, as Avro encodes
it.
"""
_BAD: Final = {Way.LETTERS: "?€", Way.EMPTY: "", Way.SHAPE: '{"x":"y"}'}
"""The text of an unfit cell by the way in which it is unfit: letters, nothing, or a value of
another shape.
"""
_OUTSIDE: Final = {
    **dict.fromkeys((Logical.DATETIME, Logical.TIMESTAMP), "2021-07-18 25:61:61"),
    Logical.DATE: "2021-13-45",
    Logical.TIME: "99:99:99",
}
"""The text of an unfit cell with a date or time outside of the calendar or the clock."""


def unfit_cells(
    source_name: str, fits: Mapping[str, str], datum_of: Callable[[str, Value], bytes | None]
) -> Iterator[CellFault]:
    """Yields faults that put an unfit text (one that the column's type cannot hold) in the place of
    a column's value, for columns that are nullable strings or bytes in Avro.

    There is one for each kind of types (`logical`) and each way (`Way`) of being unfit. `datum_of`
    gives the Avro bytes of a column's value, None for a column of another schema. `fits` are the
    combinations `LOGICAL/WAY` that are left out, since a decoder may read them, with the reason.
    """
    for logical, way, column, value in matrix(source_name, fits):
        if (datum := datum_of(column, value)) is not None:
            unfit_text = _OUTSIDE[logical] if way is Way.OUTSIDE else _BAD[way]
            yield CellFault(
                f"cell-{logical}-{way}", column, value, datum, SOME + sized(unfit_text.encode())
            )


def change_record(
    change: Callable[[dict[str, Any]], bool],
) -> Callable[[bytes], bytes | None]:
    """The function that applies `change` to the record of a value in Confluent's framing, whose
    schema is in SCHEMAS. It gives None if `change` returns False, because the record has no place
    for the change.
    """

    def apply(value: bytes) -> bytes | None:
        """The value with its record changed and written again by the same schema; None if `change`
        returns False. The first HEAD bytes, magic byte and schema id, stay.
        """
        # `physical` is the schema without logical types: members are read as they are encoded.
        _, schema_json = SCHEMAS[int.from_bytes(value[1:HEAD])]
        plain = physical(json.loads(schema_json))
        members: Any = fastavro.schemaless_reader(io.BytesIO(value[HEAD:]), plain, None)
        if not change(members):
            return None
        return value[:HEAD] + encoder_of_schema(schema_json)(members)

    return apply


def _headed(head: bytes) -> Callable[[bytes], bytes]:
    """The function that replaces the first bytes of a value by `head`."""
    return lambda value: head + value[len(head) :]


def _as_text(value: bytes) -> bytes:
    """A JSON object with the id of the value's schema, in the value's place."""
    return b'{"id":' + str(int.from_bytes(value[1:HEAD])).encode() + b"}"


UNKNOWN: Final = b"\x7f\xff\xff\xfe"
"""The id of a schema that no registry has."""

FAULTS: Final[tuple[Fault, ...]] = (
    *(fault for fault in AVRO_FAULTS if fault.tag != "foreign-framing"),
    Fault("magic-one", "wrong-magic", "The magic byte is 1.", _headed(b"\x01")),
    Fault("magic-minus-one", "wrong-magic", "The magic byte is FF.", _headed(b"\xff")),
    Fault(
        "unknown-id",
        "unknown-schema",
        "The registry has no schema of the id.",
        lambda v: v[:1] + UNKNOWN + v[HEAD:],
    ),
    Fault(
        "negative-id", "unknown-schema", "The id is -1.", lambda v: v[:1] + b"\xff" * 4 + v[HEAD:]
    ),
    Fault("id-cut", "truncated", "The value ends within the schema's id.", lambda v: v[:3]),
    Fault("head-alone", "truncated", "Nothing follows the schema's id.", lambda v: v[:HEAD]),
    Fault(
        "head-missing",
        "foreign-framing",
        "The datum stands without its framing.",
        lambda v: v[HEAD:],
    ),
    Fault(
        "head-twice", "foreign-framing", "The framing stands there twice.", lambda v: v[:HEAD] + v
    ),
    Fault(
        "json-alone",
        "wrong-container",
        "JSON with the schema's id stands in the datum's place.",
        _as_text,
    ),
)
"""Ways to spoil a value of Confluent's framing."""


@lru_cache(maxsize=8192)
def _oracle(schema_json: str) -> Callable[[bytes | None], Remains]:
    """The function that says what can be read in a datum of the schema, without Spark."""
    return avro_remains([json.loads(schema_json)])


def remains_of_datum(value: bytes | None) -> Remains:
    """What a reader without Spark can read in a value in Confluent's framing, by the schema in
    SCHEMAS whose id it has; nothing where it has no such id.
    """
    if value is None:
        return NULL
    entry = (
        SCHEMAS.get(int.from_bytes(value[1:HEAD]))
        if len(value) >= HEAD and value[:1] == MAGIC
        else None
    )
    if entry is None:
        return Remains(State.UNREADABLE, "empty" if not value else "syntax")
    _, schema_json = entry
    judged = _oracle(schema_json)(value[HEAD:])
    return Remains(State.UNREADABLE, "truncated") if judged.reason == "empty" else judged
