"""Evidence of TiCDC's protocols beside Canal-JSON and Simple."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.inspecting.books.connect import (
    column_type,
    columns,
    images,
    is_row,
    key_names,
    kind_of,
    member_object,
    source,
)
from conformance.inspecting.evidence import Described, EvidenceBook, Sign, having, releases_of, shape
from conformance.inspecting.opening import Seen
from generators.families.ticdc.sink import NEWEST

DEBEZIUM: Final = "ticdc-debezium-json"
_OLD, _CLASSIC, *_LATER = releases_of(DEBEZIUM)
_NEW: Final = tuple(_LATER)
_QUOTED: Final = re.compile(r"'(?:[^']|'')*'")
_UNQUALIFIED: Final = re.compile(r"(?:CREATE TABLE(?: IF NOT EXISTS)?|ALTER TABLE|TRUNCATE TABLE) `(?:[^`]|``)+` ")


def routing(sql: Callable[[Seen], object]) -> tuple[Sign, ...]:
    """What the statement of a DDL says of routed tables; `sql` finds it in a message."""

    def text(seen: Seen) -> str:
        found = sql(seen)
        return _QUOTED.sub("''", found) if isinstance(found, str) else ""

    of = "ticdc#table-routing"
    return (
        Sign(
            "a statement has a table without its database", lambda s: bool(_UNQUALIFIED.match(text(s))), of, without=("routed",)
        ),
        Sign("a default has _UTF8MB4 before its text", lambda s: "DEFAULT _UTF8MB4''" in text(s), of, without=("routed",)),
        Sign("a default has no _UTF8MB4 before its text", lambda s: "DEFAULT ''" in text(s), of, (NEWEST,), ("routed",)),
    )


def _described(seen: Seen) -> Described | None:
    if not is_row(seen):
        return None
    types = {str(one["field"]): column_type(one) for one in columns(seen) if "field" in one}
    types = types or {name: kind_of(value) for image in images(seen) for name, value in image.items()}
    return Described(str(source(seen).get("db")), str(source(seen).get("table")), types, key_names(seen))


def _watermark(seen: Seen) -> bool:
    return seen.payload.get("op") == "m"


def _update(seen: Seen, *, before: bool) -> bool:
    return seen.payload.get("op") == "u" and ("before" in seen.payload) is before


_SIGNS: Final = (
    Sign("the key has no bytes", lambda s: is_row(s) and s.record.key == b"", "ticdc-debezium#key", (_OLD,)),
    Sign("the key has a payload", lambda s: bool(s.key_document), "ticdc-debezium#key", (_CLASSIC, *_NEW)),
    Sign("the message is a statement or a watermark", lambda s: not is_row(s), "ticdc-debezium#kinds", _NEW),
    Sign("op is m", _watermark, "ticdc-debezium#kinds", _NEW, ("extension",)),
    Sign("a column has a tidb_type", lambda s: any("tidb_type" in c for c in columns(s)), "", _NEW, ("extension",)),
    Sign("a column has no tidb_type", lambda s: any("tidb_type" not in c for c in columns(s)), "", without=("extension",)),
    Sign("the value has no schema", lambda s: not s.has_schema, "ticdc-debezium#envelope", given=("schemaless",)),
    Sign("the value has a schema", lambda s: s.has_schema, "ticdc-debezium#envelope", without=("schemaless",)),
    Sign("an UPDATE has no before", lambda s: _update(s, before=False), "ticdc-debezium#images", given=("without-before",)),
    Sign("an UPDATE has before", lambda s: _update(s, before=True), "ticdc-debezium#images", without=("without-before",)),
    *routing(lambda s: s.payload.get("ddl")),
)

_DEBEZIUM: Final = EvidenceBook(
    DEBEZIUM,
    "TiCDC (PingCAP), protocol debezium",
    lambda s: s.container == "json" and {"commit_ts", "cluster_id"} <= source(s).keys(),
    (
        shape("source ts_ms transaction op before after", "before"),
        shape("source ts_ms transaction op after before"),
        shape("source ts_ms transaction op"),
        shape("source ts_ms databaseName schemaName ddl tableChanges"),
    ),
    _SIGNS,
    members=lambda seen: seen.payload,
    describe=_described,
)

# The Open Protocol

OPEN: Final = "ticdc-open-protocol"
_WITH_ROW_ID: Final = tuple(one for one in releases_of(OPEN) if not one.startswith("new"))
_OPEN_NEW: Final = tuple(one for one in releases_of(OPEN) if one.startswith("new"))
_CODES: Final = {
    1: "tinyint",
    2: "smallint",
    3: "int",
    4: "float",
    5: "double",
    7: "timestamp",
    8: "bigint",
    9: "mediumint",
    10: "date",
    11: "time",
    12: "datetime",
    13: "year",
    15: "varchar",
    16: "bit",
    225: "vector",
    245: "json",
    246: "decimal",
    247: "enum",
    248: "set",
    249: "tinyblob",
    250: "mediumblob",
    251: "longblob",
    252: "blob",
    254: "char",
}


def _head(seen: Seen) -> Mapping[str, Any]:
    return member_object(seen.members.get("key"))


def _cells(seen: Seen, *names: str) -> Mapping[str, Any]:
    """The columns of the first image of those that the value has."""
    value = member_object(seen.members.get("value"))
    return next((member_object(value[name]) for name in names if name in value), {})


def _reduced(seen: Seen) -> bool:
    return "ohk" in _head(seen) or "ccl" in _head(seen)


def _partial(seen: Seen) -> bool:
    value = member_object(seen.members.get("value"))
    return "p" in value and _cells(seen, "p").keys() < _cells(seen, "u").keys()


def _same(seen: Seen) -> bool:
    new = _cells(seen, "u")
    return any(new.get(name) == one for name, one in _cells(seen, "p").items())


def _unsorted(seen: Seen) -> bool:
    names = [name.encode() for name in _cells(seen, "d", "u")]
    return names != sorted(names)


def _without_handle(seen: Seen) -> bool:
    return any(not one.get("h") for one in _cells(seen, "d").values()) and any(one.get("h") for one in _cells(seen, "d").values())


def _open_described(seen: Seen) -> Described | None:
    cells = _cells(seen, "u", "d")
    if not cells:
        return None
    keys = tuple(name for name, one in cells.items() if one.get("h"))
    types = {name: _CODES.get(one.get("t"), str(one.get("t"))) for name, one in cells.items()}
    return Described(str(_head(seen).get("scm")), str(_head(seen).get("tbl")), types, keys)


_OPEN_SIGNS: Final = (
    Sign("the key of an event has rid", lambda s: "rid" in _head(s), "ticdc-open#keys", _WITH_ROW_ID),
    Sign("a name is empty", lambda s: "" in (_head(s).get("scm"), _head(s).get("tbl")), "ticdc-open#keys", _OPEN_NEW),
    Sign("columns are not sorted", _unsorted, "ticdc-open#escapes", _OPEN_NEW),
    Sign("a key has ohk true", lambda s: _head(s).get("ohk") is True, "ticdc-open#reduced", given=("handle-key-only",)),
    Sign("a key has ccl", lambda s: "ccl" in _head(s), "ticdc-open#reduced", having(OPEN, "claim-check"), ("claim-check",)),
    Sign("p lacks columns of u", lambda s: _partial(s) and not _reduced(s), "ticdc-open#old-partial", given=("only-updated",)),
    Sign("p repeats a value of u", _same, "ticdc-open#old-partial", without=("only-updated",)),
    Sign("a row has p", lambda s: bool(_cells(s, "p")), "ticdc-open#images", without=("without-before",)),
    Sign("d has a column without h", _without_handle, "ticdc-open#reduced", without=("delete-handle-key",)),
    Sign("a record has several events", lambda s: s.members["events"] > 1, "ticdc-open#framing", without=("one-row",)),
    *routing(lambda s: member_object(s.members.get("value")).get("q")),
)

_OPEN: Final = EvidenceBook(
    OPEN,
    "TiCDC (PingCAP), protocol open-protocol",
    lambda s: s.container == "json" and s.members.keys() == {"key", "value", "events"} and {"ts", "t"} <= _head(s).keys(),
    (
        shape("ts scm tbl rid ptn t ohk ccl u p d", "rid ptn ohk ccl u p d"),
        shape("ts scm tbl t ohk ccl ptn u p d", "ohk ccl ptn u p d"),
        shape("ts scm tbl t q", "scm tbl"),
        shape("ts t"),
    ),
    _OPEN_SIGNS,
    members=lambda seen: (*_head(seen), *(name for name in member_object(seen.members.get("value")) if name != "t")),
    describe=_open_described,
)

BOOKS: Final = (_DEBEZIUM, _OPEN)
