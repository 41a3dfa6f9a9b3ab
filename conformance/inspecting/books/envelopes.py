"""Evidence of the formats that follow Debezium's: CloudCanal's Debezium Envelope, Huawei CDL's two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.inspecting.books.connect import (
    column_type,
    columns,
    connector,
    field,
    images,
    is_row,
    kind_of,
    member_object,
    schema,
    source,
)
from conformance.inspecting.evidence import Described, EvidenceBook, Sign, names, rows, shape
from conformance.inspecting.opening import Seen

ENVELOPE: Final = "cloudcanal-debezium"
CDL: Final = "huawei-cdl-json"
CDL_DEBEZIUM: Final = "huawei-cdl-debezium"


def _payload_members(seen: Seen) -> Iterable[str]:
    return seen.payload


# CloudCanal's Debezium Envelope

_SOURCE: Final = {"ts_ms", "db", "table", "connector", "gtid", "file", "pos", "server_id"}


def _sorted(seen: Seen) -> bool:
    return list(seen.payload) == sorted(seen.payload)


def _own_schema(seen: Seen) -> bool | None:
    """Whether the schema is CloudCanal's own and not Connect's; None without one."""
    return "optional" not in schema(seen) if seen.has_schema else None


def _typed_cell(seen: Seen) -> bool:
    return any(one is not None and not isinstance(one, str) for image in images(seen) for one in image.values())


def _missing_image(seen: Seen) -> Any:
    """The value of the image that an INSERT or a DELETE lacks; `seen` without such a member, and of other messages."""
    side = {"c": "before", "d": "after"}.get(str(seen.payload.get("op")))
    return seen.payload.get(side, seen) if side and is_row(seen) else seen


_ENVELOPE_SIGNS: Final = (
    Sign("connector is not MySQL", lambda s: connector(s) != "MySQL", "cloudcanal-envelope#connector-name", never=True),
    Sign(
        "source names a version of Debezium", lambda s: "version" in source(s), "cloudcanal-envelope#insert-example", never=True
    ),
    Sign("the value has no schema", lambda s: not s.has_schema, "cloudcanal-envelope#schema-optional", "+schemaless"),
    Sign("the value has a schema", lambda s: s.has_schema, "cloudcanal-envelope#schema-optional", "-schemaless"),
    Sign(
        "members are in alphabetical order",
        lambda s: is_row(s) and _sorted(s),
        "cloudcanal-envelope#before-null",
        "+sample -typed",
    ),
    Sign(
        "members are not in alphabetical order",
        lambda s: is_row(s) and not _sorted(s),
        "cloudcanal-envelope#before-null",
        "-sample",
    ),
    Sign(
        "the schema is CloudCanal's own",
        lambda s: is_row(s) and _own_schema(s) is True,
        "cloudcanal-envelope#values-as-text",
        "-typed",
    ),
    Sign(
        "the schema is Connect's", lambda s: is_row(s) and _own_schema(s) is False, "cloudcanal-envelope#values-as-text", "+typed"
    ),
    Sign("a value is no text", _typed_cell, "cloudcanal-envelope#values-as-text", "+typed"),
    Sign(
        "the missing image is {}", lambda s: _missing_image(s) == {}, "cloudcanal-envelope#insert-example", "-null-images -sample"
    ),
    Sign(
        "the missing image is null, and members are not in alphabetical order",
        lambda s: _missing_image(s) is None and not _sorted(s),
        "cloudcanal-envelope#before-null",
        "+null-images",
    ),
    Sign(
        "a DDL has the op a",
        lambda s: "ddl" in s.payload and s.payload.get("op") == "a",
        "cloudcanal-envelope#operations",
        "+op-a",
    ),
    Sign("a DDL has no op", lambda s: "ddl" in s.payload and "op" not in s.payload, "cloudcanal-envelope#ddl-example", "-op-a"),
)


def _envelope_marks(seen: Seen) -> bool:
    found = source(seen)
    return seen.container == "json" and {"file", "pos", "db", "table"} <= found.keys() and "name" not in found


def _envelope_table(seen: Seen) -> Described | None:
    if not is_row(seen):
        return None
    image = member_object(seen.payload.get("after") or seen.payload.get("before"))
    types = {str(one.get("field")): str(one.get("type")) for one in columns(seen)}
    keys = tuple(str(one.get("field")) for one in columns(seen) if one.get("isPK"))
    types = types or {name: kind_of(value) for name, value in image.items()}
    return Described(str(source(seen).get("db")), str(source(seen).get("table")), types, keys)


_ENVELOPE: Final = EvidenceBook(
    ENVELOPE,
    "CloudCanal (ClouGence), Debezium Envelope",
    _envelope_marks,
    (
        shape("op ts_ms after before source"),
        shape("after before op source ts_ms"),
        shape("op databaseName ddl ts_ms source tableChanges", "op"),
        shape("databaseName ddl op source tableChanges ts_ms", "op"),
    ),
    _ENVELOPE_SIGNS,
    members=_payload_members,
    describe=_envelope_table,
)

# Huawei CDL

_VENDOR: Final = ("Decimal", "timestamp")


def _packages(seen: Seen) -> set[str]:
    """The packages of the vendor's own logical types."""
    names = [str(one.get("name", "")) for one in _cdl_columns(seen)]
    return {name.removesuffix(f".cdc.data.{kind}") for name in names for kind in _VENDOR if name.endswith(f".cdc.data.{kind}")}


def _cdl_columns(seen: Seen) -> list[Mapping[str, Any]]:
    found = (field(schema(seen), side).get("fields") for side in ("data", "after", "before"))
    return next((rows(one) for one in found if one), [])


def _store(seen: Seen) -> str:
    return str(seen.payload.get("DATA_STORE", connector(seen))).lower()


def _update(seen: Seen) -> bool:
    return seen.payload.get("OPERATION", seen.payload.get("op")) in ("UPDATE", "u")


def _beyond_key(seen: Seen) -> bool:
    key = member_object(seen.payload.get("unique"))
    return any(value is not None and name not in key for name, value in member_object(seen.payload.get("before")).items())


def _properties(seen: Seen) -> list[Any]:
    return [one.get("name") for one in rows(member_object(seen.payload.get("transaction")).get("properties"))]


def _cdl_table(seen: Seen) -> Described | None:
    types = {str(one.get("field")): column_type(one) for one in _cdl_columns(seen)}
    origin, found = source(seen), seen.payload
    database = ".".join(str(one) for one in (origin.get("db"), origin.get("schema", found.get("SEG_OWNER"))) if one)
    keys = names([one.get("field") for one in rows(field(schema(seen), "unique").get("fields"))])
    return Described(database, str(origin.get("table", found.get("TABLE_NAME"))), types, keys)


def _cdl_signs(identity: str) -> tuple[Sign, ...]:
    return (
        Sign(
            "an UPDATE has no before image",
            lambda s: _update(s) and s.payload.get("before") is None,
            identity,
            "+default-identity",
        ),
        Sign(
            "an UPDATE has more than the key in its before image",
            lambda s: _update(s) and _beyond_key(s),
            identity,
            "-default-identity",
        ),
        Sign(
            "a logical type is of the package com.xxx",
            lambda s: "com.xxx" in _packages(s),
            "huawei#decimal-type",
            "-other-package",
        ),
        Sign(
            "a logical type is of another package than com.xxx",
            lambda s: bool(_packages(s) - {"com.xxx"}),
            "huawei#decimal-type",
            "+other-package",
        ),
        Sign("the source is openGauss", lambda s: "opengauss" in _store(s), "huawei#sources", "+opengauss"),
        Sign("the source is PostgreSQL", lambda s: _store(s) == "postgresql", "huawei#sources", "-opengauss"),
    )


_CDL: Final = EvidenceBook(
    CDL,
    "Huawei MRS CDL, CDL JSON (message_version 1.0)",
    lambda s: s.container == "json" and {"OPERATION", "SEG_OWNER", "TABLE_NAME"} <= s.payload.keys(),
    (
        shape(
            "DATA_STORE SEG_OWNER TABLE_NAME TIMESTAMP OPERATION LOB_COLUMNS transaction unique data before message_version "
            "message_type HEARTBEAT_IDENTIFIER"
        ),
    ),
    (
        *_cdl_signs("huawei#images"),
        Sign(
            "properties have txId before lsn", lambda s: _properties(s) == ["txId", "lsn"], "huawei#log-position", "+txid-first"
        ),
        Sign(
            "properties have lsn before txId", lambda s: _properties(s) == ["lsn", "txId"], "huawei#log-position", "-txid-first"
        ),
    ),
    members=_payload_members,
    describe=_cdl_table,
)

_CDL_DEBEZIUM: Final = EvidenceBook(
    CDL_DEBEZIUM,
    "Huawei MRS CDL, Debezium JSON (message_version 2.0)",
    lambda s: s.container == "json" and {"source", "op", "message_version", "message_type"} <= s.payload.keys(),
    (
        shape(
            "before after source op ts_ms message_version message_type LOB_COLUMNS unique HEARTBEAT_IDENTIFIER",
            "HEARTBEAT_IDENTIFIER",
        ),
    ),
    (
        *_cdl_signs("huawei#images"),
        Sign(
            "HEARTBEAT_IDENTIFIER is there",
            lambda s: "HEARTBEAT_IDENTIFIER" in s.payload,
            "huawei#heartbeat-identifier",
            "+heartbeat-identifier",
        ),
        Sign(
            "HEARTBEAT_IDENTIFIER is not there",
            lambda s: "HEARTBEAT_IDENTIFIER" not in s.payload,
            "huawei#heartbeat-identifier",
            "-heartbeat-identifier",
        ),
    ),
    members=_payload_members,
    describe=_cdl_table,
)

BOOKS: Final = (_ENVELOPE, _CDL, _CDL_DEBEZIUM)
