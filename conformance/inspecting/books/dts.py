"""Facts of CloudCanal Json, Tencent DTS JSON and Aliyun DTS Avro."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.inspecting.books.connect import member_object
from conformance.inspecting.evidence import Described, names, rows, texts
from conformance.inspecting.opening import Seen

# CloudCanal Json


def filled(seen: Seen) -> set[str]:
    """The images that have rows."""
    return {name for name in ("before", "data") if rows(seen.members.get(name))}


def _pairs(seen: Seen) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    before, data = rows(seen.members.get("before")), rows(seen.members.get("data"))
    update = seen.members.get("action") == "UPDATE" and seen.members.get("entryType") == "ROWDATA"
    if update and len(before) == len(data):
        yield from zip(before, data, strict=True)


def partial(seen: Seen) -> bool:
    """Whether `before` of an UPDATE lacks a column of `data`."""
    return any(not new.keys() <= old.keys() for old, new in _pairs(seen))


def same(seen: Seen) -> bool:
    """Whether `before` of an UPDATE repeats a value of `data`."""
    return any(
        new.get(name, seen) == value for old, new in _pairs(seen) for name, value in old.items()
    )


def milliseconds(seen: Seen) -> int:
    """How far `execTs` is from a whole second."""
    exec_ts = seen.members.get("execTs")
    return exec_ts % 1000 if isinstance(exec_ts, int) else 0


def described_by_cloudcanal(seen: Seen) -> Described | None:
    """The table of a message with types."""
    members, types = seen.members, texts(seen.members.get("dbValType"))
    keys = names(members.get("pks"))
    return (
        Described(str(members.get("db")), str(members.get("table")), types, keys) if types else None
    )


# Tencent DTS JSON

_FIELDS: Final = (
    "id version messageType fileName position safePosition timestamp gtid transactionId serverId"
    " threadId sourceType sourceVersion schemaName tableName objectName columns oldColumns"
    " newColumns sql executionTime heartbeatTimestamp syncedGtid fakeGtid pkNames readerTimestamp"
    " tags total index"
)


def is_whole(seen: Seen) -> bool:
    """Whether the message has every member but those that only some messages carry."""
    return {*_FIELDS.split()} - {"heartbeatTimestamp", "pkNames"} <= seen.members.keys()


def _cells(seen: Seen, kinds: str) -> Iterator[str]:
    """The texts of columns whose type matches a pattern."""
    columns = rows(seen.members.get("columns"))
    for side in ("oldColumns", "newColumns"):
        values = seen.members.get(side)
        for column, value in zip(columns, values if isinstance(values, list) else (), strict=False):
            kind = column.get("originalType")
            if (
                isinstance(kind, str)
                and isinstance(value, str)
                and re.match(kinds, kind, re.IGNORECASE)
            ):
                yield value


def binaries(seen: Seen) -> list[str]:
    """The texts of binary columns."""
    return list(_cells(seen, r"(?:var)?binary|\w*blob"))


def times(seen: Seen) -> list[str]:
    """The texts of TIME columns that declare fewer than six digits."""
    return list(_cells(seen, r"time(?:\([0-5]\))?$"))


def stamps(seen: Seen) -> list[str]:
    """The texts of TIMESTAMP columns."""
    return list(_cells(seen, "timestamp"))


def short_stamps(seen: Seen) -> list[str]:
    """The texts of TIMESTAMP columns that declare fewer than three digits."""
    return list(_cells(seen, r"timestamp(?:\([0-2]\))?$"))


def described_by_tencent(seen: Seen) -> Described | None:
    """The table of a message with columns."""
    columns = rows(seen.members.get("columns"))
    if not columns:
        return None
    types = {str(column.get("name")): str(column.get("originalType")) for column in columns}
    members = seen.members
    return Described(
        str(members.get("schemaName")),
        str(members.get("tableName")),
        types,
        names(members.get("pkNames")),
    )


# Aliyun DTS Avro

_NAMESPACE: Final = "com.alibaba.dts.formats.avro."
_TEXT_NUMBERS: Final = (249, 250, 251, 252)


def fields(seen: Seen) -> list[tuple[str, int]]:
    """Name and type number of each column."""
    columns = seen.members.get("fields")
    return (
        [(column["name"], column["dataTypeNumber"]) for column in columns]
        if isinstance(columns, list)
        else []
    )


def _values(seen: Seen, side: str) -> list[Any]:
    values = seen.members.get(side)
    return values if isinstance(values, list) else []


def _branches(seen: Seen) -> Iterator[tuple[int, str, Any]]:
    """Type number, branch and content of each value of a row."""
    for side in ("beforeImages", "afterImages"):
        for (_, number), value in zip(fields(seen), _values(seen, side), strict=False):
            if isinstance(value, tuple):
                yield number, value[0].removeprefix(_NAMESPACE), value[1]


def kinds_of_text(seen: Seen) -> set[str]:
    """The branches that texts of the TEXT family have; an object of BLOB has the same number."""
    return {
        name
        for number, name, value in _branches(seen)
        if number in _TEXT_NUMBERS
        and (not isinstance(value, dict) or "BLOB" not in str(value.get("type")).upper())
    }


def before(seen: Seen) -> list[Any]:
    """The values of the before image."""
    return _values(seen, "beforeImages")


def after(seen: Seen) -> list[Any]:
    """The values of the after image."""
    return _values(seen, "afterImages")


def described_by_aliyun(seen: Seen) -> Described | None:
    """The table of a message with fields."""
    columns, name = fields(seen), seen.members.get("objectName")
    if not columns or not isinstance(name, str):
        return None
    *above, table = name.split(".")
    try:
        keys = names(
            json.loads(member_object(seen.members.get("tags")).get("pk_uk_info", "{}")).get(
                "PRIMARY"
            )
        )
    except (ValueError, AttributeError):
        keys = ()
    branches = {number: branch for number, branch, _ in _branches(seen)}
    return Described(
        ".".join(above), table, {n: f"{k} {branches.get(k, '')}".strip() for n, k in columns}, keys
    )
