"""An INSERT, an UPDATE and a DELETE of a small table as a format's writer writes them, laid out for
people to read.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

from generators.drawing.cases import LAYOUT
from generators.families import confluent
from generators.model import (
    Bootstrap,
    Change,
    Column,
    History,
    Instant,
    Message,
    Op,
    RowChange,
    RowImages,
    SourceType,
    Table,
    Value,
    Written,
)
from generators.sources import databases, mongodb, mysql, oracle, postgresql, sqlserver
from generators.wire_format import Format

WIDTH: Final = 110
"""The longest line of a message that is laid out."""
SEED: Final = 1
_START_MS: Final = 1_700_000_000_000
"""The time of the first event of the sample history, in milliseconds of Unix time."""
_TOKEN: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:,"\s]+)')
"""A token of JSON: a text with its quotes, a bracket, colon or comma, or a number or word."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A message for readers. `kind` is its change (`INSERT`, `TOMBSTONE` ...), `text` its value,
    laid out; Avro as its schema reads it, Protobuf by the names of its fields. `changes` are what a
    perfect decoder returns.
    """

    kind: str
    message: Message
    text: str
    changes: tuple[Change, ...]


def plain(fmt: Format[Any]) -> Any:
    """The profile of a format in which its samples are written: the last one without options, and
    of TiCDC not one of the new architecture where there is another.
    """
    plain_profiles = [p for p in fmt.profiles if not p.options]
    classic_profiles = [p for p in plain_profiles if not p.release.startswith("new-")]
    return (classic_profiles or plain_profiles)[-1]


def samples(fmt: Format[Any]) -> Iterator[Sample]:
    """The sample messages in the order of publication. Of a message for several partitions only the
    first is there.
    """
    profile = plain(fmt)
    shown_before = set()
    for written in fmt.write(_history(profile.source), profile, LAYOUT):
        place = written.message.event, written.message.value
        if place not in shown_before:
            shown_before.add(place)
            yield _sample(fmt, profile, written)


class _SampleTypes(NamedTuple):
    """The types of the sample table's columns in a source, beside its key."""

    name: SourceType
    price: SourceType
    moment: SourceType


_SAMPLE_TYPES: Final[Mapping[str, _SampleTypes]] = {
    "mysql": _SampleTypes(
        mysql.text("varchar", 20), mysql.decimal(8, 2), mysql.temporal("timestamp", 3)
    ),
    "postgresql": _SampleTypes(
        postgresql.text("varchar", 20),
        postgresql.numeric(8, 2),
        postgresql.temporal("timestamptz", 3),
    ),
    "sqlserver": _SampleTypes(
        sqlserver.text("nvarchar", 20),
        sqlserver.money(),
        sqlserver.temporal("datetimeoffset", 3),
    ),
    "oracle": _SampleTypes(
        oracle.string("varchar2", 20),
        oracle.number(),
        oracle.temporal("timestamptz", 3),
    ),
    "mongodb": _SampleTypes(
        mongodb.TYPES["string"], mongodb.TYPES["decimal"], mongodb.TYPES["date"]
    ),
}
"""The types of the sample table's columns by the database."""


def _history(source: str) -> History:
    """The history behind the sample messages: a table of four columns, its bootstrap, and an
    INSERT, an UPDATE and a DELETE of one row, with types of the database `source`.
    """
    types = _SAMPLE_TYPES[source]
    columns = (
        Column("id", databases.source(source).key, False),
        Column("name", types.name),
        Column("price", types.price),
        Column("sold", types.moment),
    )
    table = Table("shop", "orders", columns, ("id",), schema=databases.source(source).schema)
    sold = int(datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC).timestamp()) * 1_000_000 + 125_000
    row_before: dict[str, Value] = {
        "id": 1,
        "name": "Ünal",
        "price": Decimal("19.90"),
        "sold": sold,
    }
    row_after: dict[str, Value] = row_before | {"price": Decimal("7.00"), "sold": None}
    instants = [Instant(_START_MS + 1000 * n, 1) for n in range(4)]
    return History(
        (
            Bootstrap(instants[0], table),
            RowChange(instants[1], table, Op.INSERT, (RowImages(None, row_before),)),
            RowChange(instants[2], table, Op.UPDATE, (RowImages(row_before, row_after),)),
            RowChange(instants[3], table, Op.DELETE, (RowImages(row_after, None),)),
        ),
        SEED,
    )


def _sample(fmt: Format[Any], profile: Any, written: Written) -> Sample:
    """A written message as a sample: named after its first change's operation or kind, its value
    laid out as text (Avro and Protobuf as decoded by their schemas).
    """
    change = written.changes[0]
    name = str(change.op or change.kind)
    value = written.message.value
    message = written.message
    if fmt.container == "confluent":
        message = replace(message, key=_registry_datum_text(message.key).encode())
        text = _registry_datum_text(value) or "null"
    elif value is None:
        text = "null"
    elif fmt.codec is not None:
        text = pretty(json.dumps(fmt.codec.read(value), ensure_ascii=False))
    elif fmt.container == "avro":
        text = _layout(_tree_of(_decode_avro(value, fmt.schemas(profile)[-1])), WIDTH)
    else:
        length_bytes = 8 if fmt.container == "frames" else 0
        text = pretty(value[length_bytes:].decode())
    return Sample(name, message, text, written.changes)


def _registry_datum_text(value: bytes | None) -> str:
    """A message's key or value in Avro behind the number of its schema (Confluent's framing),
    decoded and laid out as text; "" if there is none.
    """
    if not value:
        return ""
    schema = json.loads(confluent.SCHEMAS[int.from_bytes(value[1 : confluent.HEAD])][1])
    return _layout(_tree_of(_decode_avro(value[confluent.HEAD :], schema)), WIDTH)


def pretty(json_text: str, width: int = WIDTH) -> str:
    """A JSON text laid out in lines of `width`; names, numbers and strings stay as they are
    spelled. Raises ValueError if it is no JSON.
    """
    json.loads(json_text)
    return _layout(_tree(iter(_TOKEN.findall(json_text))), width)


def _tree(tokens: Iterator[str], first: str = "") -> Any:
    """Takes the tokens of one JSON value: a scalar is its token; an object or array is its bracket
    with a list of (name, value), the names empty in an array. `first` is a token already taken.
    """
    token = first or next(tokens)
    if token not in ("{", "["):
        return token
    items: list[tuple[str, Any]] = []
    while (item := next(tokens)) not in ("}", "]"):
        if item == ",":
            continue
        name = ""
        if token == "{":
            name, _, item = item, next(tokens), next(tokens)
        items.append((name, _tree(tokens, item)))
    return token, items


def _layout(node: Any, width: int, indent: int = 0, before: int = 0) -> str:
    """A tree made by `_tree` or `_tree_of` as text: on one line, if that fits into `width` together
    with the `before` characters that stand in front of it; else with each item on a line of its
    own, indented.
    """
    if isinstance(node, str):
        return node
    bracket, items = node
    close = {"{": "}", "[": "]"}[bracket]
    line = _line(node)
    if indent + before + len(line) <= width:
        return line
    inner = " " * (indent + 2)
    parts = []
    for name, item in items:
        head = f"{name}:" if name else ""
        parts.append(inner + head + _layout(item, width, indent + 2, len(head)))
    return str(bracket) + "\n" + ",\n".join(parts) + "\n" + " " * indent + close


def _line(node: Any) -> str:
    """A tree made by `_tree` or `_tree_of` as JSON-like text on one line without spaces."""
    if isinstance(node, str):
        return node
    bracket, items = node
    inside: str = ",".join((f"{name}:" if name else "") + _line(item) for name, item in items)
    return f"{{{inside}}}" if bracket == "{" else f"[{inside}]"


def _decode_avro(value: bytes, schema: Any) -> Any:
    """Decodes Avro bytes by their schema. A value of a named type in a union comes as (name,
    value), so that the page can show the name.
    """
    import fastavro

    return fastavro.schemaless_reader(
        io.BytesIO(value), fastavro.parse_schema(schema), None, return_named_type=True
    )


def _tree_of(value: Any) -> Any:
    """The tree that `_layout` prints, of a decoded Avro value: records and maps are objects; a
    named branch of a union is shown as `Name {...}`.
    """
    match value:
        case dict():
            return "{", [(json.dumps(name), _tree_of(item)) for name, item in value.items()]
        case list():
            return "[", [("", _tree_of(item)) for item in value]
        case (str() as name, dict() as record):
            return "{", [(json.dumps(name.rpartition(".")[2]), _tree_of(record))]
        case tuple():
            return _tree_of(value[1])
        case bytes():
            return json.dumps(f"0x{value.hex()}")
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)
