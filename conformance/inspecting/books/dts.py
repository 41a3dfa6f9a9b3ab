"""Facts of CloudCanal Json, Tencent DTS JSON and Aliyun DTS Avro."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.inspecting.books.connect import member_object
from conformance.inspecting.evidence import TableDescription, json_objects, names, texts
from conformance.inspecting.opening import OpenedRecord

# CloudCanal Json


def images_with_rows(opened: OpenedRecord) -> set[str]:
    """Which of the message's members `before` and `data` hold rows."""
    return {name for name in ("before", "data") if json_objects(opened.members.get(name))}


def _pairs(opened: OpenedRecord) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The old and the new row of each change in an UPDATE message of CloudCanal Json, from its
    members `before` and `data`; nothing for any other message, or if the two have different numbers
    of rows.
    """
    before = json_objects(opened.members.get("before"))
    data = json_objects(opened.members.get("data"))
    update = (
        opened.members.get("action") == "UPDATE" and opened.members.get("entryType") == "ROWDATA"
    )
    if update and len(before) == len(data):
        yield from zip(before, data, strict=True)


def partial(opened: OpenedRecord) -> bool:
    """Whether `before` of an UPDATE lacks a column of `data`."""
    return any(not new.keys() <= old.keys() for old, new in _pairs(opened))


def same(opened: OpenedRecord) -> bool:
    """Whether `before` of an UPDATE repeats a value of `data`."""
    return any(not old.items().isdisjoint(new.items()) for old, new in _pairs(opened))


def milliseconds(opened: OpenedRecord) -> int:
    """The milliseconds within a second of the message's `execTs` (when the change was made), 0 to
    999; 0 for one that is no number. A writer of whole seconds always has 0.
    """
    exec_ts = opened.members.get("execTs")
    return exec_ts % 1000 if isinstance(exec_ts, int) else 0


def describe_by_cloudcanal(opened: OpenedRecord) -> TableDescription | None:
    """The table that a CloudCanal Json message is of (database, name, columns with types, key
    columns); None for a message without types.
    """
    members, types = opened.members, texts(opened.members.get("dbValType"))
    keys = names(members.get("pks"))
    return (
        TableDescription(str(members.get("db")), str(members.get("table")), types, keys)
        if types
        else None
    )


# Tencent DTS JSON

_FIELDS: Final = (
    "id version messageType fileName position safePosition timestamp gtid transactionId serverId"
    " threadId sourceType sourceVersion schemaName tableName objectName columns oldColumns"
    " newColumns sql executionTime heartbeatTimestamp syncedGtid fakeGtid pkNames readerTimestamp"
    " tags total index"
)
"""The members of Tencent DTS's messages."""


def is_whole(opened: OpenedRecord) -> bool:
    """Whether a Tencent DTS message has all members of `_FIELDS` except `heartbeatTimestamp` and
    `pkNames`, which only some messages have.
    """
    return {*_FIELDS.split()} - {"heartbeatTimestamp", "pkNames"} <= opened.members.keys()


def _cells(opened: OpenedRecord, type_pattern: str) -> Iterator[str]:
    """The values in both images of a Tencent DTS message that are texts, of the columns whose type
    at the source matches the regular expression `type_pattern`.
    """
    columns = json_objects(opened.members.get("columns"))
    for side in ("oldColumns", "newColumns"):
        values = opened.members.get(side)
        for column, value in zip(columns, values if isinstance(values, list) else (), strict=False):
            kind = column.get("originalType")
            if (
                isinstance(kind, str)
                and isinstance(value, str)
                and re.match(type_pattern, kind, re.IGNORECASE)
            ):
                yield value


def binaries(opened: OpenedRecord) -> list[str]:
    """The values that are texts of binary and BLOB columns in a Tencent DTS message."""
    return list(_cells(opened, r"(?:var)?binary|\w*blob"))


def times(opened: OpenedRecord) -> list[str]:
    """The values that are texts of TIME columns with fewer than six fraction digits in a Tencent
    DTS message.
    """
    return list(_cells(opened, r"time(?:\([0-5]\))?$"))


def stamps(opened: OpenedRecord) -> list[str]:
    """The values that are texts of TIMESTAMP columns in a Tencent DTS message."""
    return list(_cells(opened, "timestamp"))


def short_stamps(opened: OpenedRecord) -> list[str]:
    """The values that are texts of TIMESTAMP columns with fewer than three fraction digits in a
    Tencent DTS message.
    """
    return list(_cells(opened, r"timestamp(?:\([0-2]\))?$"))


def describe_by_tencent(opened: OpenedRecord) -> TableDescription | None:
    """The table that a Tencent DTS message is of (schema, name, columns with types, key columns);
    None for a message without columns.
    """
    columns = json_objects(opened.members.get("columns"))
    if not columns:
        return None
    types = {str(column.get("name")): str(column.get("originalType")) for column in columns}
    members = opened.members
    return TableDescription(
        str(members.get("schemaName")),
        str(members.get("tableName")),
        types,
        names(members.get("pkNames")),
    )


# Aliyun DTS Avro

_NAMESPACE: Final = "com.alibaba.dts.formats.avro."
"""The package in the names of Aliyun DTS's Avro records."""
_TEXT_NUMBERS: Final = (249, 250, 251, 252)
"""The type numbers (`dataTypeNumber`) of TEXT columns of every size; BLOB columns have the same."""


def fields(opened: OpenedRecord) -> list[tuple[str, int]]:
    """The name and the type number (`dataTypeNumber`) of each column that an Aliyun DTS record
    lists; [] if it lists none.
    """
    columns = opened.members.get("fields")
    return (
        [(column["name"], column["dataTypeNumber"]) for column in columns]
        if isinstance(columns, list)
        else []
    )


def _values(opened: OpenedRecord, side: str) -> list[Any]:
    """The values of an image (`beforeImages` or `afterImages`) of a DTS record in Avro, in the
    order of `fields`; [] if it has none.
    """
    values = opened.members.get(side)
    return values if isinstance(values, list) else []


def _branches(opened: OpenedRecord) -> Iterator[tuple[int, str, Any]]:
    """For each value in both images of an Aliyun DTS record: the type number of its column, the
    name of the Avro record that holds it (the branch of the union), and the content.
    """
    for side in ("beforeImages", "afterImages"):
        for (_, number), value in zip(fields(opened), _values(opened, side), strict=False):
            if isinstance(value, tuple):
                yield number, value[0].removeprefix(_NAMESPACE), value[1]


def kinds_of_text(opened: OpenedRecord) -> set[str]:
    """The names of the Avro records in which an Aliyun DTS message holds values of TEXT columns. A
    BLOB column has the same type number, and is left out if its value names the type.
    """
    return {
        name
        for number, name, value in _branches(opened)
        if number in _TEXT_NUMBERS
        and (not isinstance(value, dict) or "BLOB" not in str(value.get("type")).upper())
    }


def before(opened: OpenedRecord) -> list[Any]:
    """The values of the before image of an Aliyun DTS record, in the order of its columns; []
    without.
    """
    return _values(opened, "beforeImages")


def after(opened: OpenedRecord) -> list[Any]:
    """The values of the after image of an Aliyun DTS record, in the order of its columns; []
    without.
    """
    return _values(opened, "afterImages")


def describe_by_aliyun(opened: OpenedRecord) -> TableDescription | None:
    """The table that an Aliyun DTS record is of: its name, columns with type number and Avro
    record, and the primary key from the tag `pk_uk_info`. None for a record without columns.
    """
    columns, name = fields(opened), opened.members.get("objectName")
    if not columns or not isinstance(name, str):
        return None
    *above, table = name.split(".")
    try:
        keys = names(
            json.loads(member_object(opened.members.get("tags")).get("pk_uk_info", "{}")).get(
                "PRIMARY"
            )
        )
    except (ValueError, AttributeError):
        keys = ()
    branches = {number: branch for number, branch, _ in _branches(opened)}
    return TableDescription(
        ".".join(above), table, {n: f"{k} {branches.get(k, '')}".strip() for n, k in columns}, keys
    )
