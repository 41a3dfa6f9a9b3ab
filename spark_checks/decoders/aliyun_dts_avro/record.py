"""Aliyun DTS's Record as Avro schemas (aliyun#bare-record, aliyun#editions): the writer's, and
those of what we read.

The published file is an array of 14 schemas, which reads no Record; here each named type stands
where it first occurs. Both schemas end before `bornTimestamp`, which only newer writers have. Spark
gives a union as a struct of its branches `member0`, `member1` ... without null, which is a NULL
struct; `MEMBERS` names those of a cell.
"""

from __future__ import annotations

from typing import Any, Final

from spark_checks.decoders.families.avro import Schema, array, enum, record

_NAMESPACE: Final = "com.alibaba.dts.formats.avro"
_MAYBE_INT: Final = ("null", "int")
_DATE_TIME_PARTS: Final = ("year", "month", "day", "hour", "minute", "second", "millis")

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
        "FILL",
    ),
    *("FINISH", "CONTROL", "RDB", "NOOP", "INIT"),
)
SOURCES: Final = (
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
    ),
    "OTHER",
)
BRANCHES: Final[tuple[dict[str, Any], ...]] = (
    record("Integer", precision="int", value="string"),
    record("Character", charset="string", value="bytes"),
    record("Decimal", value="string", precision="int", scale="int"),
    record("Float", value="double", precision="int", scale="int"),
    record("Timestamp", timestamp="long", millis="int"),
    record("DateTime", **dict.fromkeys(_DATE_TIME_PARTS, _MAYBE_INT)),
    record("TimestampWithTimeZone", value="DateTime", timezone="string"),
    record("BinaryGeometry", type="string", value="bytes"),
    record("TextGeometry", type="string", value="string"),
    record("BinaryObject", type="string", value="bytes"),
    record("TextObject", type="string", value="string"),
    enum("EmptyObject", "NULL", "NONE"),
)
"""The branches of a cell's Avro union, in their order, without null."""
MEMBERS: Final = {branch["name"]: f"member{i}" for i, branch in enumerate(BRANCHES)}
"""Spark's names of a cell's branches, such as `member0` of Integer."""

_FIELD: Final = record("Field", name="string", dataTypeNumber="int")
"""The description of a column."""
_HEAD: Final[dict[str, Schema]] = {
    "version": "int",
    "id": "long",
    "sourceTimestamp": "long",
    "sourcePosition": "string",
    "safeSourcePosition": "string",
    "sourceTxid": "string",
    "source": record("Source", sourceType=enum("SourceType", *SOURCES), version="string"),
    "operation": enum("Operation", *OPERATIONS),
    "objectName": ("null", "string"),
    "processTimestamps": ("null", array("long")),
    "tags": {"type": "map", "values": "string"},
}
"""The members of a Record before `fields`."""
_SKIPPED: Final = ("version", "id")
"""Only numbers: Avro does not advance over a skipped string or block of negative length."""


def _record(head: dict[str, Schema], field: Schema, branches: tuple[Schema, ...]) -> dict[str, Any]:
    """The Avro schema of Aliyun's Record: `head` are its members before `fields`, `field` is the
    schema of a column's description, `branches` are those of a cell's union.
    """
    # Avro defines a named type once: `afterImages` has the branches by their names.
    names = tuple(branch["name"] for branch in BRANCHES)
    images = {
        "beforeImages": ("null", "string", array(("null", *branches))),
        "afterImages": ("null", "string", array(("null", *names))),
    }
    return record("Record", **head, fields=("null", "string", array(field)), **images) | {
        "namespace": _NAMESPACE
    }


WIRE: Final = _record(_HEAD, _FIELD, BRANCHES)
"""Everything that the older edition has."""

_READ: Final[dict[str, Schema]] = {
    name: kind for name, kind in _HEAD.items() if name not in _SKIPPED
}
CHANGE: Final = _record(_READ, _FIELD, BRANCHES)
"""What level one reads."""

_NARROW: Final = {
    "Integer": record("Integer", value="string"),
    "Decimal": record("Decimal", value="string"),
    "Float": record("Float", value="double"),
}
"""The branches of which level two (typed rows) reads fewer fields."""
ROW: Final = _record(
    {name: kind for name, kind in _READ.items() if name != "sourceTimestamp"},
    record("Field", name="string"),
    tuple(_NARROW.get(branch["name"], branch) for branch in BRANCHES),
)
"""What level two reads."""
