"""Places of a record where a value stands, whatever the format: the topic's name, the timestamp,
the headers, and every member of key and value.

A place is a path (`value.source.db`), `{}` behind it for the names of an object's members,
`[-2]` for a part of a text that dots part, `[].isKey` for a member of each of a list's named
objects.
"""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import fastavro

from conformance.inspecting.opening import ReadRecord, open_record
from generators.families import confluent
from generators.garbage.wellformed import physical
from generators.model import Change, Message

Told: TypeAlias = str | int | tuple[str, ...] | Mapping[str, str]
"""A scalar, names, or a text by name."""
OPS = {
    **dict.fromkeys(("c", "i", "insert"), "INSERT"),
    **dict.fromkeys(("u", "update"), "UPDATE"),
    **dict.fromkeys(("d", "delete"), "DELETE"),
    **dict.fromkeys(("r", "init", "bootstrap-insert", "load"), "READ"),
    **dict.fromkeys(("t", "truncate"), "TRUNCATE"),
}
"""Operations by the words of the products, in lower case."""
DEEPEST = 8
"""Levels of objects in objects that are looked at."""
PARTS = 3
"""Parts at the end of a text with dots that are places of their own."""
KEY_PREFIX = "pk."
"""What Maxwell puts before the names of columns in the record's key."""


def places_of(message: Message) -> dict[str, Told]:
    """What the record tells, by place."""
    places: dict[str, Told] = {"timestamp": message.timestamp_ms}
    places |= _places_in("topic", message.topic, 0)
    for name, value in message.headers:
        places[f"header {name}"] = value.decode("utf-8", "replace")
    for side, document in (("key", _key_document(message)), ("value", _value_document(message))):
        places |= _places_in(side, document, 0)
    return places


def _value_document(message: Message) -> Any:
    opened = open_record(ReadRecord(message.value, message.key, message.topic, message.partition))
    is_whole_document = opened.container in ("json", "avro", "protobuf")
    return opened.document if is_whole_document else _registered(message.value)


def _key_document(message: Message) -> Any:
    opened = open_record(ReadRecord(message.value, message.key))
    if opened.key_document is not None:
        return opened.key_document
    return _registered(message.key)


def _registered(framed: bytes | None) -> Any:
    """The names and the datum of bytes that name a registry's schema; None of others."""
    if not framed or framed[:1] != confluent.MAGIC:
        return None
    registered = confluent.SCHEMAS.get(int.from_bytes(framed[1 : confluent.HEAD]))
    if registered is None:
        return None
    schema = json.loads(registered[1])
    datum = fastavro.schemaless_reader(
        io.BytesIO(framed[confluent.HEAD :]), fastavro.parse_schema(physical(schema)), None
    )
    names = {name: schema[name] for name in ("name", "namespace") if name in schema}
    return {"schema": names, "payload": datum}


def _places_in(path: str, value: Any, depth: int) -> dict[str, Told]:
    """The places at and below a path."""
    if depth > DEEPEST or value is None or isinstance(value, bool):
        return {}
    if isinstance(value, tuple) and len(value) == 2:  # a union's branch, with its record's name
        value = value[1]
    match value:
        case str():
            return dict(_text_places(path, value, depth))
        case int():
            return {path: value}
        case dict():
            return dict(_object_places(path, value, depth))
        case list():
            return dict(_list_places(path, value, depth))
    return {}


def _text_places(path: str, text: str, depth: int) -> Iterator[tuple[str, Told]]:
    yield path, text
    if text[:1] in ("{", "["):
        try:
            document = json.loads(text)
        except ValueError:
            return
        yield from _places_in(path, document, depth + 1).items()
    elif "." in text:
        parts = text.split(".")
        for number in range(1, min(PARTS, len(parts)) + 1):
            yield f"{path}[-{number}]", parts[-number]


def _object_places(path: str, members: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Told]]:
    yield f"{path}{{}}", tuple(members)
    prefixed = tuple(name.removeprefix(KEY_PREFIX) for name in members if KEY_PREFIX in name)
    if prefixed:
        yield f"{path}{{{KEY_PREFIX}}}", prefixed
    yield from _named_places(path, members)
    for name, member in members.items():
        yield from _places_in(f"{path}.{name}", member, depth + 1).items()


def _list_places(path: str, items: list[Any], depth: int) -> Iterator[tuple[str, Told]]:
    if items and all(isinstance(item, str) for item in items):
        yield path, tuple(items)
        return
    label = next((name for name in ("name", "field") if _all_have(items, name)), None)
    if label is None:
        yield from (_places_in(f"{path}[0]", items[0], depth + 1) if items else {}).items()
        return
    by_name = {item[label]: item for item in items}
    yield from _named_places(f"{path}[]", by_name)
    for name, item in by_name.items():
        for inner, member in item.items():
            if isinstance(member, dict | list):
                yield from _places_in(f"{path}[{name}].{inner}", member, depth + 1).items()
            elif inner == "value":
                yield f"{path}[{name}]", member


def _all_have(items: list[Any], name: str) -> bool:
    return bool(items) and all(
        isinstance(item, dict) and isinstance(item.get(name), str) for item in items
    )


def _named_places(path: str, by_name: Mapping[str, Any]) -> Iterator[tuple[str, Told]]:
    """Members of named objects: the names of those in which one is true, or its texts by name."""
    if by_name and all(isinstance(each, str) for each in by_name.values()):
        yield f"{path}.*", dict(by_name)
    if not by_name or not all(isinstance(each, dict) for each in by_name.values()):
        return
    for member in dict.fromkeys(name for each in by_name.values() for name in each):
        values = {name: each.get(member) for name, each in by_name.items()}
        if all(value is None or isinstance(value, bool) for value in values.values()):
            yield f"{path}.{member}", tuple(name for name, value in values.items() if value)
        elif all(isinstance(value, str | int) for value in values.values()):
            yield f"{path}.{member}", {name: str(value) for name, value in values.items()}


def field_from(field: str, told: Told, owed: Any) -> Any:
    """The field's value as a decoder reads it from what a place tells, None if it is none. A time
    is read in the unit that gives the year of the owed one.
    """
    match field, told:
        case "commit_time_us", int() | str() if owed is not None:
            return min(_instants(told), key=lambda micros: abs(micros - owed), default=None)
        case "keys", tuple():
            return told
        case "op", str():
            return OPS.get(told.lower())
        case "types", Mapping():
            return dict(told)
        case "database" | "schema" | "table" | "position" | "schema_version" | "sql", str() | int():
            return str(told)
    return None


def _instants(told: str | int) -> Iterator[int]:
    """The microseconds since 1970 that a number or a text may mean."""
    if isinstance(told, int):
        yield from (told * 1_000_000, told * 1000, told, told // 1000, (told >> 18) * 1000)
        return
    try:
        moment = dt.datetime.fromisoformat(told)
    except ValueError:
        return
    yield int(moment.replace(tzinfo=dt.UTC).timestamp()) * 1_000_000 + moment.microsecond


def is_same(field: str, value: Any, change: Change) -> bool:
    """Whether a value is the one that a change owes, or one that it takes for as good."""
    owed = getattr(change, field)
    if field == "op":
        return value == owed or any(op == value for _, op in change.accept)
    if field == "keys":
        keys = (owed or (), *change.other_keys)
        return tuple(value) in keys or frozenset(value) in change.key_sets
    return bool(value == (dict(owed or {}) if field == "types" else owed))
