"""What no decoder looks at: the order of members, what a message says twice, schemas that describe
their payloads, keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import cramjam

from generators.families.connect import murmur2
from generators.model import Kind, Origin

UNPACK = {"none": bytes, "snappy": cramjam.snappy.decompress_raw, "lz4": cramjam.lz4.decompress}
CANAL = [
    "id",
    "database",
    "table",
    "pkNames",
    "isDdl",
    "type",
    "es",
    "ts",
    "sql",
    "sqlType",
    "mysqlType",
]
FLAT = [
    "data",
    "database",
    "es",
    "gtid",
    "id",
    "isDdl",
    "mysqlType",
    "old",
    "pkNames",
    "sql",
    "sqlType",
    "table",
    "ts",
    "type",
]
SIMPLE = [
    *(
        "version",
        "database",
        "table",
        "tableID",
        "type",
        "sql",
        "commitTs",
        "buildTs",
        "schemaVersion",
        "claimCheckLocation",
    ),
    *("handleKeyOnly", "checksum", "data", "old", "tableSchema", "preTableSchema"),
]
DATA_TYPE = [
    "mysqlType",
    "charset",
    "collate",
    "length",
    "decimal",
    "elements",
    "unsigned",
    "zerofill",
]


def ticdc_canal(profile: Any, raw: bytes, body: Any) -> None:
    row, marks = not body["isDdl"] and body["type"] != "TIDB_WATERMARK", body.get("_tidb", {})
    assert raw.endswith(b"\r\n") is (row and profile.release.startswith("v6.5."))
    dml = ["data", "old"] if profile.release in ("v5.3.4", "v5.4.3") else ["old", "data"]
    assert list(body) == [
        *CANAL,
        *(dml if row else ["data", "old"]),
        *(["_tidb"] if profile.extension else []),
    ]
    assert (body["id"], body["ts"] == 0) == (0, profile.release == "v5.3.4")
    assert all(marks[name] >> 18 == body["es"] for name in {"commitTs", "watermarkTs"} & set(marks))
    if row:
        assert set(body["sqlType"] or {}) == set(body["mysqlType"] or {}) == set(body["data"][0])
    else:
        assert [body[name] for name in ("pkNames", "sqlType", "mysqlType", "data", "old")] == [
            None
        ] * 5


def alibaba(profile: Any, _raw: bytes, body: Any) -> None:
    assert list(body) == [name for name in FLAT if name != "gtid" or profile.gtid is not None]


def simple(profile: Any, _raw: bytes, body: Any) -> None:
    assert (list(body), body["version"]) == ([name for name in SIMPLE if name in body], 1)
    assert None not in body.values()
    for schema in (body[name] for name in ("tableSchema", "preTableSchema") if name in body):
        assert list(schema) == ["schema", "table", "tableID", "version", "columns", "indexes"]
        for column in schema["columns"]:
            kind = column["dataType"]
            assert list(column) == ["name", "dataType", "nullable", "default"]
            assert list(kind) == [name for name in DATA_TYPE if name in kind]
            assert all(kind.values()) or kind == {
                "mysqlType": "unspecified",
                "charset": "",
                "collate": "",
            }
    if "schemaVersion" in body:
        held = any(
            value is not None
            for name in ("data", "old")
            for value in (body.get(name) or {}).values()
        )
        assert ("checksum" in body) is (held and "checksum" in profile.options)
        assert ("claimCheckLocation" in body) <= ("handleKeyOnly" in body)
        assert all(
            list(body[name]) == sorted(body[name], key=str.encode)
            for name in {"data", "old"} & set(body)
        )
    if "checksum" in body:
        assert list(body["checksum"]) == ["version", "corrupted", "current", "previous"]
        assert (body["checksum"]["previous"] == 0) >= (body["type"] == "INSERT")
        assert (body["checksum"]["current"] == 0) >= (body["type"] == "DELETE")


def connect(profile: Any, _raw: bytes, body: Any) -> None:
    if (
        getattr(profile, "schemas", True)
        and getattr(profile, "typed", True)
        and body != {"schema": None, "payload": None}
    ):
        assert list(body) == ["schema", "payload"]
        described(body["schema"], body["payload"])


def described(schema: Any, value: Any) -> None:
    if value is None or (value == {} and schema["fields"]):
        assert schema["optional"] or "default" in schema
        return
    match schema["type"]:
        case "struct":
            assert [field["field"] for field in schema["fields"]] == list(value)
            for field in schema["fields"]:
                described(field, value[field["field"]])
        case "array":
            for item in value:
                described(schema["items"], item)
        case "int16" | "int32" | "int64":
            assert type(value) is int
            assert -(1 << int(schema["type"][3:]) - 1) <= value < 1 << int(schema["type"][3:]) - 1
        case "float" | "double":
            assert isinstance(value, float) or value in ("NaN", "Infinity", "-Infinity")
        case "boolean":
            assert isinstance(value, bool)
        case kind:
            assert kind in ("string", "bytes")
            assert isinstance(value, str)


def ticdc_debezium(profile: Any, _raw: bytes, body: Any) -> None:
    assert list(body) == (["payload"] if profile.schemaless else ["payload", "schema"])
    source = body["payload"]["source"]
    assert (source["ts_ms"], source["file"], source["pos"]) == (source["commit_ts"] >> 18, "", 0)


SHAPES: dict[str, Callable[[Any, bytes, Any], None]] = {
    "ticdc-canal-json": ticdc_canal,
    "alibaba-canal-json": alibaba,
    "ticdc-simple-json": simple,
    **dict.fromkeys(
        ("debezium-json", "cloudcanal-debezium", "huawei-cdl-json", "huawei-cdl-debezium"), connect
    ),
    "ticdc-debezium-json": ticdc_debezium,
}


def test_a_message_has_the_shape_of_its_profile(named: Any) -> None:
    look = SHAPES.get(named.fmt.name)
    for record in (
        record
        for case in named.cases
        if case.origin is Origin.NAMED and not case.fault
        for record in case.written
    ):
        if look and record.message.value is not None:
            raw = bytes(UNPACK[named.profile.deployment.compression](record.message.value))
            body = json.loads(raw, strict=named.profile.name != "1.1.6+minimal")
            look(named.profile, raw, body)


def test_keys_and_headers_of_ticdc(named: Any) -> None:
    if named.fmt.name.startswith(("ticdc-canal", "ticdc-simple")):
        for w in (
            w
            for case in named.cases
            if case.origin is Origin.NAMED
            for w in case.written
            if w.changes
        ):
            row = any(change.kind in (Kind.ROW, Kind.BOOTSTRAP) for change in w.changes)
            assert (w.message.key, w.message.headers) == (b"" if row else None, ()), w.message.case


def test_keyed_records_lie_where_the_default_partitioner_puts_them(named: Any) -> None:
    if named.fmt.name in ("debezium-json", "debezium-avro"):
        records = [
            record.message
            for case in named.cases
            for record in case.written
            if case.origin is Origin.NAMED
        ]
        keyed = {(message.key, message.partition) for message in records if message.key is not None}
        assert {partition for _, partition in keyed} == {0, 1, 2}
        assert all(partition == (murmur2(key) & 0x7FFFFFFF) % 3 for key, partition in keyed)
