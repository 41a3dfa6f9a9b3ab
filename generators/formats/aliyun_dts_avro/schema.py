"""Aliyun DTS's Avro schema as one self-contained record, and encoders of its parts.

Source: the vendor's Record.avsc, an array of named schemas of which the wire holds the last alone
(aliyun#bare-record). Parts are encoded one by one, because the specification leaves it to the
writer how many blocks an array or a map has.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeAlias

from generators.families.avro import LONG, Encoder, blocks

NAMESPACE: Final = "com.alibaba.dts.formats.avro"

BRANCHES: Final = (
    *(
        "null",
        "Integer",
        "Character",
        "Decimal",
        "Float",
        "Timestamp",
        "DateTime",
        "TimestampWithTimeZone",
        "BinaryGeometry",
    ),
    *("TextGeometry", "BinaryObject", "TextObject", "EmptyObject"),
)
"""The branches of a value in the order of the union: a branch's place is its number on the wire."""

OPERATIONS: Final = (
    *(
        "INSERT",
        "UPDATE",
        "DELETE",
        "DDL",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "ABORT",
        "HEARTBEAT",
        "CHECKPOINT",
        "COMMAND",
    ),
    *("FILL", "FINISH", "CONTROL", "RDB", "NOOP", "INIT"),
)
"""The operations of a record, in the order of the enumeration."""

SOURCE_TYPES: Final = (
    *(
        "MySQL",
        "Oracle",
        "SQLServer",
        "PostgreSQL",
        "MongoDB",
        "Redis",
        "DB2",
        "PPAS",
        "DRDS",
        "HBASE",
        "HDFS",
        "FILE",
        "OTHER",
    ),
)
"""The kinds of sources, in the order of the enumeration."""

DATE_PARTS: Final = ("year", "month", "day", "hour", "minute", "second", "millis")
"""The fields of the record DateTime."""


def _record(name: str, /, **fields: Any) -> dict[str, Any]:
    """The Avro schema of a record in the vendor's namespace: the type of each field by its name."""
    members = [{"name": n, "type": t} for n, t in fields.items()]
    return {"type": "record", "namespace": NAMESPACE, "name": name, "fields": members}


def _enum(name: str, symbols: Sequence[str]) -> dict[str, Any]:
    """The Avro schema of an enumeration in the vendor's namespace."""
    return {"type": "enum", "namespace": NAMESPACE, "name": name, "symbols": list(symbols)}


_DATE_TIME: Final = _record("DateTime", **{name: ["null", "int"] for name in DATE_PARTS})

_VALUES: Final[Mapping[str, dict[str, Any]]] = {
    "Integer": _record("Integer", precision="int", value="string"),
    "Character": _record("Character", charset="string", value="bytes"),
    "Decimal": _record("Decimal", value="string", precision="int", scale="int"),
    "Float": _record("Float", value="double", precision="int", scale="int"),
    "Timestamp": _record("Timestamp", timestamp="long", millis="int"),
    "DateTime": _DATE_TIME,
    "TimestampWithTimeZone": _record(
        "TimestampWithTimeZone", value=f"{NAMESPACE}.DateTime", timezone="string"
    ),
    "BinaryGeometry": _record("BinaryGeometry", type="string", value="bytes"),
    "TextGeometry": _record("TextGeometry", type="string", value="string"),
    "BinaryObject": _record("BinaryObject", type="string", value="bytes"),
    "TextObject": _record("TextObject", type="string", value="string"),
    "EmptyObject": _enum("EmptyObject", ("NULL", "NONE")),
}
"""The schema of each branch of a value but null, by its name."""

_FIELD: Final = _record("Field", name="string", dataTypeNumber="int")

_HEAD: Final[Mapping[str, Any]] = {
    "version": "int",
    "id": "long",
    "sourceTimestamp": "long",
    "sourcePosition": "string",
    "safeSourcePosition": "string",
    "sourceTxid": "string",
    "source": _record("Source", sourceType=_enum("SourceType", SOURCE_TYPES), version="string"),
    "operation": _enum("Operation", OPERATIONS),
    "objectName": ["null", "string"],
    "processTimestamps": ["null", {"type": "array", "items": "long"}],
}
"""The fields of a record up to `processTimestamps`, with their types."""


def record_schema(born: bool = True) -> dict[str, Any]:
    """The Avro schema of a whole Record, with each named type where it occurs first. Without
    bornTimestamp (`born` false) it is the edition of 2019.
    """
    value: list[Any] = ["null", *_VALUES.values()]
    value_types: list[Any] = ["null", *(f"{NAMESPACE}.{name}" for name in _VALUES)]
    return _record(
        "Record",
        **_HEAD,
        tags={"type": "map", "values": "string"},
        fields=["null", "string", {"type": "array", "items": _FIELD}],
        beforeImages=["null", "string", {"type": "array", "items": value}],
        afterImages=["null", "string", {"type": "array", "items": value_types}],
        **({"bornTimestamp": "long"} if born else {}),
    )


@cache
def record_encoder(born: bool = True) -> Encoder:
    """The Avro encoder of whole records, which can decode them, too. `born` says whether the
    edition of the schema has the field bornTimestamp.
    """
    return Encoder(record_schema(born))


HEAD: Final = Encoder(_record("Head", **_HEAD))
"""A record's fields up to `processTimestamps`."""

STRING: Final = Encoder("string")
FIELD: Final = Encoder(_FIELD)


def _value_encoder(name: str) -> Encoder:
    """The encoder of the values of one branch of an image's union. TimestampWithTimeZone names the
    record DateTime, which the schema of a whole record has defined before it; here, alone, it needs
    the definition.
    """
    if name != "TimestampWithTimeZone":
        return Encoder(_VALUES[name])
    return Encoder(_record(name, value=_DATE_TIME, timezone="string"))


_ENCODERS: Final = {name: (LONG(BRANCHES.index(name)), _value_encoder(name)) for name in _VALUES}
"""By branch of a value: the bytes of its number, and the encoder of what follows it."""

Datum: TypeAlias = tuple[str, Any] | None
"""A value on the wire: its branch and what the branch's schema holds; None is the branch null."""

NULL_CELL: Final = LONG(0)
"""The bytes of a NULL: the number of the branch null."""

_AS_TEXT: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=bytes.hex
).encode
"""Prints what a branch's record holds as compact JSON, with bytes in hexadecimal digits."""


def cell_bytes(datum: Datum) -> bytes:
    """The bytes of a value of an image: the number of its branch, then its content."""
    if datum is None:
        return NULL_CELL
    branch, encoder = _ENCODERS[datum[0]]
    return branch + encoder(datum[1])


def cell_text(datum: Datum) -> str | None:
    """The text of a value at level one (values as texts): the JSON of its record without the
    branch's name, members in the schema's order, bytes in hexadecimal digits; None for null.
    """
    return None if datum is None else _AS_TEXT(datum[1])


@dataclass(frozen=True, slots=True)
class Framing:
    """How arrays and maps are put into blocks: the items of all blocks but the last, and whether
    each tells its size in bytes.
    """

    sizes: tuple[int, ...] = ()
    sized: bool = False

    def __call__(self, items: Sequence[bytes]) -> bytes:
        """The encoded items of an array or map in blocks, with the end behind them."""
        return blocks(items, self.sizes, sized=self.sized)


ONE_BLOCK: Final = Framing()


@dataclass(frozen=True, slots=True)
class AvroRecord:
    """A record before it is encoded. `fields` and the images are None, a text, or encoded items;
    `born` None leaves it out.
    """

    head: Mapping[str, Any]
    tags: Mapping[str, str] = dataclasses.field(default_factory=dict)
    fields: str | Sequence[bytes] | None = None
    before: str | Sequence[bytes] | None = None
    after: str | Sequence[bytes] | None = None
    born: int | None = None
    framing: Framing = field(default=ONE_BLOCK)

    def encoded(self) -> bytes:
        """The Avro bytes of the record: head, tags, fields, both images, and `born` if it has one."""
        tags = self.framing([STRING(name) + STRING(value) for name, value in self.tags.items()])
        parts = [
            HEAD(self.head),
            tags,
            *(self._part(part) for part in (self.fields, self.before, self.after)),
        ]
        return b"".join(parts) + (b"" if self.born is None else LONG(self.born))

    def _part(self, part: str | Sequence[bytes] | None) -> bytes:
        """Encodes `fields` or an image as a value of its union: branch 0 for None, 1 for a text, 2
        for an array of items that are encoded already.
        """
        if part is None:
            return LONG(0)
        if isinstance(part, str):
            return LONG(1) + STRING(part)
        return LONG(2) + self.framing(part)
