"""Compares what a product published with what our writer writes for the same history: records, and
JSON inside them by path.

A difference has a path: `value.payload.after.{}` (a column's name is `{}`, an array's index `#`, a
member of a Connect schema the name of its field), the column's type, and both texts. Fields that no
two runs share (ids, positions, clocks) are masked by declared paths, but their kind of JSON value
is compared.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from generators.model import Message, RowChange, SchemaChange, SourceType, Table
from recorders.running import ProducedRecord
from recorders.sql import Plan

ABSENT: Final = "(absent)"
COLUMN: Final = "{}"
INDEX: Final = "#"
"""What stands in a difference's path for a missing value, for a column's name, and for an array's
index.
"""


@dataclass(frozen=True, slots=True)
class JsonShape:
    """What the comparison must know of a format's JSON. Paths, such as `value.payload.op`, are
    matched as a whole by regular expressions.

    `volatile` are the paths of values that differ in every run (ids, positions, clocks). `columns`
    are the paths of objects whose members are the table's columns. `kind` are the members, as paths
    of names, that tell the kinds of messages apart; the first that a message has counts.
    `unpartitioned`: Kafka's producer chooses the partition, which is then not compared.
    """

    volatile: re.Pattern[str]
    columns: re.Pattern[str]
    kind: tuple[tuple[str, ...], ...]
    unpartitioned: bool = False


_DEBEZIUM_SOURCE: Final = "ts_ms|ts_us|ts_ns|server_id|gtid|file|pos|thread|txId|lsn|xmin|sequence"
"""The members of Debezium's block `source` that differ in every run."""
_DEBEZIUM: Final = JsonShape(
    re.compile(
        rf"value\.(payload\.)?(ts_ms|ts_us|ts_ns|source\.({_DEBEZIUM_SOURCE})|__lsn|__source_ts_ms)|headers\.__debezium\.context\.runId"
    ),
    re.compile(
        r"value\.schema\.fields\.(before|after)\.fields|value(\.payload)?\.(before|after)|key(\.payload|\.schema\.fields)?"
    ),
    (("payload", "op"), ("op",), ("payload", "ddl"), ("ddl",), ("payload", "__op"), ("__op",)),
    unpartitioned=True,
)
_AVRO: Final = r"value\.schema\.fields\.before\.type\.#\.fields|value\.payload\.(before|after)|key\.(payload|schema\.fields)"
"""The objects of Debezium's Avro whose members are columns."""

SHAPES: Final[Mapping[str, JsonShape]] = {
    "debezium-json": _DEBEZIUM,
    "debezium-avro": replace(_DEBEZIUM, columns=re.compile(_AVRO)),
    "alibaba-canal-json": JsonShape(
        re.compile(r"value\.(id|es|ts)"),
        re.compile(r"value\.((data|old)\.#|mysqlType|sqlType)"),
        (("type",),),
    ),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One place in which the product's record (`real`) and ours differ. `path` is the place, `type`
    the type of the column that it belongs to ("" outside of columns), `ours` and `real` are both
    texts.
    """

    path: str
    type: str
    ours: str
    real: str
    scenario: str = field(compare=False, default="")


@dataclass(frozen=True, slots=True)
class Compared:
    """The product's record (`real`) and our message (`ours`), side by side. One is None if the
    other has no counterpart.
    """

    scenario: str
    ours: Message | None
    real: ProducedRecord | None
    differences: tuple[Difference, ...]

    @property
    def identical(self) -> bool:
        """Whether the records are equal except in fields that differ in every run."""
        return not self.differences


class _Members(list[tuple[str, Any]]):
    """A JSON object as a list of its members, name and value, in their order."""


class _Number(str):
    """A JSON number as its text, so that its spelling can be compared."""

    __slots__ = ()


def parse_json(data: bytes | None) -> Any:
    """Parses JSON, keeping the order of members and the text of numbers. A text that is no JSON is
    returned as it is, None as None.
    """
    if data is None:
        return None
    json_text = data.decode("utf-8", "backslashreplace")
    try:
        return json.loads(
            json_text,
            object_pairs_hook=_Members,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_Number,
            strict=False,
        )
    except ValueError:
        return json_text


_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


def _spellings_by_meaning(data: bytes) -> dict[str, str]:
    """How the strings in a JSON text are spelled there, with quotes and escapes, by the text that
    each means.
    """
    return {
        json.loads(spelling, strict=False): spelling
        for spelling in set(_STRING.findall(data.decode("utf-8", "backslashreplace")))
    }


@dataclass(frozen=True, slots=True)
class _Walk:
    """Walks through the product's record and ours at the same time, and yields where they differ.
    `types` are the columns' types by column name.
    """

    shape: JsonShape
    types: Mapping[str, SourceType]
    scenario: str

    def records(self, ours: Message, real: ProducedRecord) -> Iterator[Difference]:
        """Compares our message with the product's record: topic, key, value and headers, and the
        partition unless the product's shape is `unpartitioned`.
        """
        yield from self.leaf("topic", "", ours.topic, real.topic)
        if not self.shape.unpartitioned:
            yield from self.leaf("partition", "", _Number(ours.partition), _Number(real.partition))
        yield from self.data("key", ours.key, real.key)
        yield from self.data("value", ours.value, real.value)
        yield from self.node("headers", "", _header_texts(ours), _header_texts(real))

    def data(self, part: str, ours: bytes | None, real: bytes | None) -> Iterator[Difference]:
        """Compares the keys, or the values (`part` says which), of our message and the product's
        record. If both are JSON arrays or objects, the escapes in their strings are compared, too.
        """
        if ours == real:
            return
        our_document, real_document = parse_json(ours), parse_json(real)
        yield from self.node(part, "", our_document, real_document)
        if (
            ours is not None
            and real is not None
            and isinstance(our_document, list)
            and isinstance(real_document, list)
        ):
            yield from self.spelling(part, ours, real)

    def spelling(self, part: str, ours: bytes, real: bytes) -> Iterator[Difference]:
        """Yields a difference for each string that both JSON texts have and escape differently."""
        our_spellings, real_spellings = _spellings_by_meaning(ours), _spellings_by_meaning(real)
        for meaning, real_spelling in real_spellings.items():
            if our_spellings.get(meaning, real_spelling) != real_spelling:
                yield Difference(
                    f"{part} (escapes)", "", our_spellings[meaning], real_spelling, self.scenario
                )

    def node(self, path: str, column: str, ours: Any, real: Any) -> Iterator[Difference]:
        """Compares a part of our JSON document with the same part of the product's: objects by
        member, arrays by item, other values as they are. `column` is the type of the column that
        the part belongs to, its name if the type is unknown, "" outside of columns.
        """
        if isinstance(ours, _Members) and isinstance(real, _Members):
            yield from self.members(path, column, ours, real)
        elif (
            isinstance(ours, _Members | list)
            and isinstance(real, list)
            and not isinstance(real, _Members)
        ):
            yield from self.items(path, column, ours, real)
        else:
            yield from self.leaf(path, column, ours, real)

    def members(
        self, path: str, column: str, ours: _Members, real: _Members
    ) -> Iterator[Difference]:
        """Compares two objects: the order of the members that both have, then each member. `column`
        is the type of the column that the objects belong to, its name if the type is unknown, ""
        outside of columns.
        """
        our_members, real_members = dict(ours), dict(real)
        common = [name for name, _ in real if name in our_members]
        order = [name for name, _ in ours if name in real_members]
        if common != order:
            yield Difference(
                f"{path} (order)", column, " ".join(order), " ".join(common), self.scenario
            )
        for name in dict.fromkeys([*our_members, *real_members]):
            yield from self.member(
                path, column, name, our_members.get(name, ABSENT), real_members.get(name, ABSENT)
            )

    def member(
        self, path: str, column: str, name: str, ours: Any, real: Any
    ) -> Iterator[Difference]:
        """Compares the member `name` of two objects; `ours` or `real` is ABSENT if that object
        lacks it. If the members are the table's columns, the path gets `{}` in place of the name,
        and all below it belongs to the column.
        """
        schemas = path == "key" and name in ("schema", "payload")
        if not column and not schemas and self.shape.columns.fullmatch(path):
            type = self.types.get(name)
            yield from self.node(f"{path}.{COLUMN}", type.key if type else name, ours, real)
        else:
            yield from self.node(f"{path}.{name}", column, ours, real)

    def items(
        self, path: str, column: str, ours: list[Any], real: list[Any]
    ) -> Iterator[Difference]:
        """Compares two arrays. Fields of a schema are compared by name; of other arrays first the
        lengths, then one item after the other.
        """
        our_fields, real_fields = _by_field(ours), _by_field(real)
        if our_fields is not None and real_fields is not None:
            # A Connect schema: its fields have names, and stand for members of the payload.
            yield from self.members(path, column, our_fields, real_fields)
            return
        if len(ours) != len(real):
            yield Difference(
                f"{path} (length)", column, str(len(ours)), str(len(real)), self.scenario
            )
        for our_item, real_item in zip(ours, real, strict=False):
            yield from self.node(f"{path}.{INDEX}", column, our_item, real_item)

    def leaf(self, path: str, column: str, ours: Any, real: Any) -> Iterator[Difference]:
        """Compares two values that are not compared part by part. Where the path is one of
        `volatile` they need only be of the same JSON type. `column` is the type of the column that
        the values belong to, its name if the type is unknown, "" outside of columns.
        """
        if ours == real and type(ours) is type(real):
            return
        if (
            self.shape.volatile.fullmatch(path)
            and type(ours) is type(real)
            and ours is not ABSENT
            and real is not ABSENT
        ):
            return
        yield Difference(path, column, _node_text(ours), _node_text(real), self.scenario)


def _header_texts(message: Message | ProducedRecord) -> _Members:
    """A record's headers as an object that an audit can compare and print: by name, the bytes as
    text.
    """
    return _Members(
        (name, value.decode("utf-8", "backslashreplace")) for name, value in message.headers
    )


def _by_field(items: list[Any]) -> _Members | None:
    """An array of the fields of a Connect or Avro schema as an object by their names, so that it is
    compared by name; None if an item of the array has no name.
    """
    # Connect's schemas say `field`, Avro's `name`.
    fields = (
        dict(item).get("field", dict(item).get("name"))
        for item in items
        if isinstance(item, _Members)
    )
    field_names = [name for name in fields if isinstance(name, str)]
    if not field_names or len(field_names) < len(items):
        return None
    return _Members(zip(field_names, items, strict=True))


def _node_text(node: Any) -> str:
    """A part of a JSON document as text for a difference; a number as it is spelled."""
    if node is ABSENT:
        return ABSENT
    if isinstance(node, _Number):
        return str(node)
    return json.dumps(_plain(node), ensure_ascii=False)


def _plain(node: Any) -> Any:
    """A parsed document with a dict in place of each object, which the parser keeps as a list of
    members.
    """
    if isinstance(node, _Members):
        return {name: _plain(value) for name, value in node}
    return [_plain(item) for item in node] if isinstance(node, list) else node


def _at(node: Any, path: Iterable[str]) -> Any:
    """The part of a JSON document to which a path of member names leads; None if there is none."""
    for name in path:
        node = dict(node).get(name) if isinstance(node, _Members) else None
    return node


def kind_of(shape: JsonShape, topic: str, value: bytes | None) -> tuple[str, str]:
    """The topic of a record, and the kind of its message, by which our messages and the product's
    records are paired: the text of the member that tells kinds apart, `ddl` for a statement, `none`
    for a record without a value, `other` for any other.
    """
    document = parse_json(value)
    for path in shape.kind:
        kind_value = _at(document, path)
        if isinstance(kind_value, str):
            return topic, path[-1] if path[-1] == "ddl" else kind_value
    return topic, "none" if value is None else "other"


def types_of(plan: Plan) -> dict[str, SourceType]:
    """The columns' types by column name, of all tables that the plan's events have."""
    types: dict[str, SourceType] = {}
    for event in plan.history.events:
        tables: list[Table | None] = []
        match event:
            case RowChange():
                tables = [event.table]
            case SchemaChange():
                tables = [event.before, event.after]
        for table in filter(None, tables):
            types |= {column.name: column.type for column in table.columns}
    return types


def compare(
    shape: JsonShape,
    scenario: str,
    types: Mapping[str, SourceType],
    ours: Sequence[Message],
    real: Sequence[ProducedRecord],
) -> Iterator[Compared]:
    """Pairs the product's records of one scenario with our messages, in the order of publication
    and so that both agree in topic and kind of message, and compares each pair. A record without a
    counterpart counts as a difference.
    """
    walk = _Walk(shape, types, scenario)
    kinds = (
        [kind_of(shape, m.topic, m.value) for m in ours],
        [kind_of(shape, r.topic, r.value) for r in real],
    )
    for tag, a0, a1, b0, b1 in difflib.SequenceMatcher(None, *kinds, autojunk=False).get_opcodes():
        if tag == "equal":
            for our_message, real_record in zip(ours[a0:a1], real[b0:b1], strict=True):
                yield Compared(
                    scenario,
                    our_message,
                    real_record,
                    tuple(dict.fromkeys(walk.records(our_message, real_record))),
                )
            continue
        for our_message, (_, kind) in zip(ours[a0:a1], kinds[0][a0:a1], strict=True):
            yield Compared(
                scenario, our_message, None, (Difference("record", "", kind, ABSENT, scenario),)
            )
        for real_record, (_, kind) in zip(real[b0:b1], kinds[1][b0:b1], strict=True):
            yield Compared(
                scenario, None, real_record, (Difference("record", "", ABSENT, kind, scenario),)
            )


_SUFFIX: Final = re.compile(r"_s(\d+)$")
_QUOTED_SUFFIX: Final = re.compile(r"_s(\d+)`")
"""The end of a table's name, with the scenario's number; and the same before a closing quote."""
_TABLE_PATHS: Final = (("payload", "source", "table"), ("source", "table"), ("table",))
"""The members of a message that may have the table's name."""


def scenario_number_in(table_text: str) -> int | None:
    """The number of a scenario, which the names of its tables end with, in a text that holds such a
    name; of several, the last. None if there is none.
    """
    numbers = re.findall(r"_s(\d+)\b", table_text)
    return int(numbers[-1]) if numbers else None


def suffix(number: int) -> str:
    """The end of the name of each table of the scenario of that number."""
    return f"_s{number}"


def scenario_number_in_sql(document: Any) -> int | None:
    """The number of a scenario in the SQL text of a record that names no table; None if there is
    none.
    """
    texts = (_at(document, ("payload", "ddl")), _at(document, ("ddl",)))
    hits = (_QUOTED_SUFFIX.search(statement) for statement in texts if isinstance(statement, str))
    return next((int(hit[1]) for hit in hits if hit), None)


def number_of(record: ProducedRecord) -> int | None:
    """The number of the scenario to which a record belongs, from the name of its table; None if the
    record has no such table.
    """
    document = parse_json(record.value)
    names = [
        record.topic,
        *(name for path in _TABLE_PATHS if isinstance(name := _at(document, path), str)),
    ]
    hits: Iterable[re.Match[str]] = filter(None, map(_SUFFIX.search, names))
    number = next((int(hit[1]) for hit in hits), None)
    # A statement that the product does not take to pieces names its table in its text alone.
    return scenario_number_in_sql(document) if number is None else number
