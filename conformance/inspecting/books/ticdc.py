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
        Sign("a statement has a table without its database", lambda s: bool(_UNQUALIFIED.match(text(s))), of, "-routed"),
        Sign("a default has _UTF8MB4 before its text", lambda s: "DEFAULT _UTF8MB4''" in text(s), of, "-routed"),
        Sign("a default has no _UTF8MB4 before its text", lambda s: "DEFAULT ''" in text(s), of, "+routed", releases=(NEWEST,)),
    )


def packed(fmt: str = "") -> tuple[Sign, ...]:
    """How values are compressed; `fmt` is a format of which not every release can."""

    def sign(how: str, says: str, options: str) -> Sign:
        releases = having(fmt, how) if fmt and how != "none" else ()
        return Sign(f"values are {says}", lambda s: s.compression == how, "ticdc#compression", options, releases)

    kinds = (sign(how, f"compressed with {how}", f"+{how}") for how in ("snappy", "lz4"))
    return (*kinds, sign("none", "not compressed", "-snappy -lz4"))


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
    Sign("the key has no bytes", lambda s: is_row(s) and s.record.key == b"", "ticdc-debezium#key", releases=(_OLD,)),
    Sign("the key has a payload", lambda s: bool(s.key_document), "ticdc-debezium#key", releases=(_CLASSIC, *_NEW)),
    Sign("the message is a statement or a watermark", lambda s: not is_row(s), "ticdc-debezium#kinds", releases=_NEW),
    Sign("op is m", _watermark, "ticdc-debezium#kinds", "+extension", releases=_NEW),
    Sign("a column has a tidb_type", lambda s: any("tidb_type" in c for c in columns(s)), "", "+extension", releases=_NEW),
    Sign("a column has no tidb_type", lambda s: any("tidb_type" not in c for c in columns(s)), "", "-extension"),
    Sign("the value has no schema", lambda s: not s.has_schema, "ticdc-debezium#envelope", "+schemaless"),
    Sign("the value has a schema", lambda s: s.has_schema, "ticdc-debezium#envelope", "-schemaless"),
    Sign("an UPDATE has no before", lambda s: _update(s, before=False), "ticdc-debezium#images", "+without-before"),
    Sign("an UPDATE has before", lambda s: _update(s, before=True), "ticdc-debezium#images", "-without-before"),
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
    Sign("the key of an event has rid", lambda s: "rid" in _head(s), "ticdc-open#keys", releases=_WITH_ROW_ID),
    Sign("a name is empty", lambda s: "" in (_head(s).get("scm"), _head(s).get("tbl")), "ticdc-open#keys", releases=_OPEN_NEW),
    Sign("columns are not sorted", _unsorted, "ticdc-open#escapes", releases=_OPEN_NEW),
    Sign("a key has ohk true", lambda s: _head(s).get("ohk") is True, "ticdc-open#reduced", "+handle-key-only"),
    Sign(
        "a key has ccl", lambda s: "ccl" in _head(s), "ticdc-open#reduced", "+claim-check", releases=having(OPEN, "claim-check")
    ),
    Sign("p lacks columns of u", lambda s: _partial(s) and not _reduced(s), "ticdc-open#old-partial", "+only-updated"),
    Sign("p repeats a value of u", _same, "ticdc-open#old-partial", "-only-updated"),
    Sign("a row has p", lambda s: bool(_cells(s, "p")), "ticdc-open#images", "-without-before"),
    Sign("d has a column without h", _without_handle, "ticdc-open#reduced", "-delete-handle-key"),
    Sign("a record has several events", lambda s: s.members["events"] > 1, "ticdc-open#framing", "-one-row"),
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

# Avro of a schema registry

AVRO: Final = "ticdc-avro"
_BIG: Final = "BIGINT UNSIGNED"


def _fields(seen: Seen) -> Mapping[str, Mapping[str, Any]]:
    """The type of each field of the value that has a TiDB type."""
    found = {}
    for field in member_object(seen.members.get("schema")).get("fields", ()):
        kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
        kind = next((one for one in kinds if isinstance(one, dict)), {})
        if "tidb_type" in member_object(kind.get("connect.parameters")):
            found[field["name"]] = kind
    return found


def _written_as(seen: Seen, tidb_type: str) -> set[str]:
    """The types of Avro that the columns of a TiDB type have."""
    return {one["type"] for one in _fields(seen).values() if one["connect.parameters"]["tidb_type"] == tidb_type}


def _padded(seen: Seen) -> bool:
    """Whether a BIT has more bytes than its number needs."""
    names = (name for name, one in _fields(seen).items() if one["connect.parameters"]["tidb_type"] == "BIT")
    return any(len(seen.payload[name] or b"") > 1 and not seen.payload[name][0] for name in names)


def _avro_described(seen: Seen) -> Described:
    *_, database, table = str(seen.members["schema"]["name"]).split(".")
    types = {name: one["connect.parameters"]["tidb_type"].lower() for name, one in _fields(seen).items()}
    return Described(database, table, types)


_AVRO_SIGNS: Final = (
    Sign("the record has no key", lambda s: s.record.key is None, "ticdc-avro#key", "+force-replicate"),
    Sign("a row has _tidb_op", lambda s: "_tidb_op" in s.payload, "ticdc-avro#extension", "+extension"),
    Sign("a row has no _tidb_op", lambda s: "_tidb_op" not in s.payload, "ticdc-avro#extension", "-extension"),
    Sign("a row has a checksum", lambda s: "_tidb_corrupted" in s.payload, "ticdc-avro#checksum", "+checksum"),
    Sign("a row has no checksum", lambda s: "_tidb_corrupted" not in s.payload, "", "-checksum"),
    Sign("a DECIMAL is a string", lambda s: "string" in _written_as(s, "DECIMAL"), "ticdc-avro#decimal", "+decimal-string"),
    Sign("a DECIMAL is bytes", lambda s: "bytes" in _written_as(s, "DECIMAL"), "", "-decimal-string"),
    Sign("a BIGINT UNSIGNED is a string", lambda s: "string" in _written_as(s, _BIG), "ticdc-avro#numbers", "+bigint-string"),
    Sign("a BIGINT UNSIGNED is a long", lambda s: "long" in _written_as(s, _BIG), "", "-bigint-string"),
    Sign(
        "a BIT has zero bytes in front",
        _padded,
        "ticdc-avro#bits",
        releases=tuple(one for one in releases_of(AVRO) if "new" in one),
    ),
)

_AVRO: Final = EvidenceBook(
    AVRO,
    "TiCDC (PingCAP), protocol avro",
    lambda s: s.container == "confluent" and bool(_fields(s)),
    (),
    _AVRO_SIGNS,
    describe=_avro_described,
)

BOOKS: Final = (_DEBEZIUM, _OPEN, _AVRO)
