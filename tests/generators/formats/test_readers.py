"""What level one expects is what an independent reader of JSON or Avro sees: of named cases, and of drawn histories."""

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Context, Decimal
from typing import Any, NamedTuple

import avro.io
import avro.schema
import cramjam
import fastavro
import pytest
from avro_reading import AnyBytes, Branches
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.drawing import strategies
from generators.drawing.cases import LAYOUT
from generators.families import confluent
from generators.families.connect import murmur2
from generators.formats.aliyun_dts_avro.schema import record_schema
from generators.formats.ticdc_simple_avro.schema import SCHEMA
from generators.model import Cell, Change, Image, Kind, Logical, Op, Origin, State, Written
from generators.sources import mysql
from generators.wire_format import FORMATS, Format, Profile, get

UNPACK = {
    "none": bytes,
    "snappy": lambda value: bytes(cramjam.snappy.decompress_raw(value)),
    "lz4": lambda value: bytes(cramjam.lz4.decompress(value)),
}
UNKNOWN: Any = {"not": "told"}
"""An image of which the message tells nothing."""


class Told(NamedTuple):
    """What a reader makes of a row or a control message: what it may be, fields of the change by name, and both images."""

    kind: tuple[Kind, ...]
    fields: Mapping[str, Any] = {}
    before: Any = None
    after: Any = None


def seen(image: Image | None) -> Any:
    """The image as its message has it: None for NULL, a parsed value where the message has no text."""
    if image is None:
        return None
    there = {name: cell for name, cell in image.items() if cell.state is not State.ABSENT}
    assert all((cell.state is State.NULL) is (cell.text is None) or untold(cell) for cell in there.values())
    return {n: json.loads(c.text) if c.json and c.text is not None else c.text for n, c in there.items()}


def untold(cell: Cell) -> bool:
    """Whether there is a value, and no text of it."""
    return cell.state is State.ANY or cell.cls == "not-finite"


def agrees(change: Change, told: Told) -> None:
    assert change.kind in told.kind
    assert {name: getattr(change, name) for name in told.fields} == told.fields
    for image, wire in ((change.before, told.before), (change.after, told.after)):
        if wire is UNKNOWN:
            assert image is not None and {cell.state for cell in image.values()} == {State.ANY}
        else:
            assert seen(image) == wire


def keys(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


CANAL = ["id", "database", "table", "pkNames", "isDdl", "type", "es", "ts", "sql", "sqlType", "mysqlType"]


def ticdc_canal(profile: Any, raw: bytes, body: Any) -> Iterator[Told]:
    ddl, row = body["isDdl"], not body["isDdl"] and body["type"] != "TIDB_WATERMARK"
    assert raw.endswith(b"\r\n") is (row and profile.release.startswith("v6.5."))
    dml = ["data", "old"] if profile.release in ("v5.3.4", "v5.4.3") else ["old", "data"]
    assert list(body) == [*CANAL, *(dml if row else ["data", "old"]), *(["_tidb"] if profile.extension else [])]
    assert (body["id"], body["ts"] == 0) == (0, profile.release == "v5.3.4")
    tso = body.get("_tidb", {}).get("commitTs" if ddl or row else "watermarkTs")
    assert tso is None or tso >> 18 == body["es"]
    fields = {name: body[name] for name in ("database", "table")}
    fields |= {"position": tso and str(tso), "commit_time_us": body["es"] * 1000}
    if not row:
        assert [body[name] for name in ("pkNames", "sqlType", "mysqlType", "data", "old")] == [None] * 5
        yield Told((Kind.DDL if ddl else Kind.WATERMARK,), fields | ({"sql": body["sql"]} if ddl else {}))
        return
    (data,), (old,) = body["data"], body["old"] or [None]
    assert set(body["sqlType"] or {}) == set(body["mysqlType"] or {}) == set(data)
    fields |= {"op": Op(body["type"]), "keys": keys(body["pkNames"]), "types": body["mysqlType"]}
    yield Told((Kind.ROW,), fields, *((data, None) if body["type"] == "DELETE" else (old, data)))


FLAT = ["data", "database", "es", "gtid", "id", "isDdl", "mysqlType", "old", "pkNames", "sql", "sqlType", "table", "ts", "type"]


def alibaba(profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    assert list(body) == [name for name in FLAT if name != "gtid" or profile.gtid is not None]
    data, old = body["data"], body["old"]
    fields = {"position": str(body["id"]), "keys": keys(body["pkNames"]), "types": body["mysqlType"]}
    fields |= {name: body[name] for name in ("database", "table")}
    if data is None:
        yield Told((Kind.DDL, Kind.CONTROL, Kind.TRANSACTION), fields | {"sql": body["sql"]})
        return
    for i, row in enumerate(data):
        pre = None if body["type"] != "UPDATE" else UNKNOWN if old is None or len(old) < len(data) else old[i]
        yield Told(
            (Kind.ROW,), fields | {"row": i, "op": body["type"]}, *((row, None) if body["type"] == "DELETE" else (pre, row))
        )


CLOUDCANAL = {
    "json": ("action", "before", "db", "bid", "dbValType"),
    "canal-json": ("type", "old", "database", "id", "mysqlType"),
}


def cloudcanal(profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    action, before, database, number, types = CLOUDCANAL["json" if "bid" in body else "canal-json"]
    fields = {"database": body[database], "table": body["table"], "position": str(body[number])}
    if body.get("entryType") == "TRANSACTIONEND":
        yield Told((Kind.TRANSACTION,), fields)
        return
    fields |= {"types": body[types] or None, "keys": keys(body["pks" if "bid" in body else "pkNames"])}
    if body["isDdl" if "isDdl" in body else "ddl"]:
        yield Told((Kind.DDL,), fields | {"sql": body["sql"]})
        return
    for i, row in enumerate(body["data"] or body[before]):
        pre = body[before][i] if body[action] == "UPDATE" else None
        yield Told(
            (Kind.ROW,), fields | {"row": i, "op": body[action]}, *((row, None) if body[action] == "DELETE" else (pre, row))
        )


def tencent(_profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    fields = {"position": body.get("position")}
    if body["messageType"] not in ("INSERT", "UPDATE", "DELETE"):
        kinds = {"DDL": Kind.DDL, "HEARTBEAT": Kind.HEARTBEAT, "CHECKPOINT": Kind.CONTROL}
        yield Told((kinds.get(body["messageType"], Kind.TRANSACTION),), fields)
        return
    names = [column["name"] for column in body["columns"]]
    fields |= {"op": body["messageType"], "database": body["schemaName"], "table": body["tableName"]}
    fields |= {"types": {column["name"]: column["originalType"] for column in body["columns"]}}
    assert body["objectName"] == f"{body['schemaName']}.{body['tableName']}"
    lists = (body["oldColumns"], body["newColumns"])
    padded = (texts if texts is None else [*texts, *[None] * (len(names) - len(texts))] for texts in lists)
    yield Told((Kind.ROW,), fields, *(texts and dict(zip(names, texts, strict=True)) for texts in padded))


CODES = {"c": Op.INSERT, "r": Op.READ, "u": Op.UPDATE, "d": Op.DELETE, "t": Op.TRUNCATE}
LEGACY = b'{"schema":null,"payload":null}'


def debezium(profile: Any, raw: bytes, body: Any) -> Iterator[Told]:
    if raw == LEGACY:
        yield Told((Kind.TOMBSTONE,))
        return
    body = unwrapped(body, profile.schemas)
    if list(body) == ["ts_ms"]:
        yield Told((Kind.HEARTBEAT,))
    elif "status" in body:
        assert body["status"] in ("BEGIN", "END")
        yield Told((Kind.TRANSACTION,))
    elif "ddl" in body:
        fields = {"sql": body["ddl"], "database": body["databaseName"], "table": body["source"]["table"] or None}
        yield Told((Kind.DDL,), fields)
    elif body["op"] == "m":
        yield Told((Kind.CONTROL,))
    else:
        source = body["source"]
        place = source["lsn"] and str(source["lsn"]) if "lsn" in source else f"{source['file']}:{source['pos']}:{source['row']}"
        fields = {"op": CODES[body["op"]], "database": source["db"], "table": source["table"], "schema": source.get("schema")}
        fields |= {"position": place, "commit_time_us": source["ts_ms"] * 1000}
        yield Told((Kind.ROW,), fields, body["before"], body["after"])


def unwrapped(body: Any, schemas: bool) -> Any:
    """The payload, which has the shape that its schema tells."""
    if not schemas:
        return body
    assert list(body) == ["schema", "payload"]
    described(body["schema"], body["payload"])
    return body["payload"]


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


def cloudcanal_debezium(profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    if profile.schemas:
        body = unwrapped(body, schemas=True) if profile.typed else body["payload"]
    source = body["source"]
    fields = {"database": source["db"], "table": source["table"], "position": f"{source['file']}:{source['pos']}"}
    if "ddl" in body:
        yield Told((Kind.DDL,), fields | {"sql": body["ddl"]})
    else:
        yield Told((Kind.ROW,), fields | {"op": CODES[body["op"]]}, *(body[side] or None for side in ("before", "after")))


def huawei(_profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    body = unwrapped(body, schemas=True)
    if "OPERATION" in body:
        fields = {"op": body["OPERATION"], "schema": body["SEG_OWNER"], "table": body["TABLE_NAME"]}
        yield Told((Kind.ROW,), fields | {"commit_time_us": body["TIMESTAMP"] * 1000}, body["before"], body["data"])
    else:
        source = body["source"]
        fields = {"op": CODES[body["op"]], "database": source["db"], "schema": source["schema"], "table": source["table"]}
        yield Told((Kind.ROW,), fields | {"position": str(source["lsn"])}, body["before"], body["after"])


SIMPLE = [
    *("version", "database", "table", "tableID", "type", "sql", "commitTs", "buildTs", "schemaVersion", "claimCheckLocation"),
    *("handleKeyOnly", "checksum", "data", "old", "tableSchema", "preTableSchema"),
]
STATEMENTS = {"CREATE", "RENAME", "CINDEX", "DINDEX", "ERASE", "TRUNCATE", "ALTER", "QUERY"}
DATA_TYPE = ["mysqlType", "charset", "collate", "length", "decimal", "elements", "unsigned", "zerofill"]


def simple(profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    assert list(body) == [name for name in SIMPLE if name in body]
    assert None not in body.values()
    assert body["version"] == 1
    if body["type"] == "BOOTSTRAP":
        assert (set(body), body["commitTs"]) == ({"version", "type", "commitTs", "buildTs", "tableSchema"}, 0)
        yield Told((Kind.BOOTSTRAP,), {"position": "0", "commit_time_us": None} | schema_of(body["tableSchema"]))
        return
    fields = {"position": str(body["commitTs"]), "commit_time_us": (body["commitTs"] >> 18) * 1000}
    if body["type"] == "WATERMARK":
        assert set(body) == {"version", "type", "commitTs", "buildTs"}
        yield Told((Kind.WATERMARK,), fields)
    elif "sql" in body:
        assert set(body) <= {"version", "type", "sql", "commitTs", "buildTs", "tableSchema", "preTableSchema"}
        assert body["type"] in STATEMENTS
        yield Told((Kind.DDL,), fields | {"sql": body["sql"]} | schema_of(body.get("tableSchema")))
    else:
        held = any(value is not None for name in ("data", "old") for value in (body.get(name) or {}).values())
        assert ("checksum" in body) is (held and "checksum" in profile.options)
        assert ("claimCheckLocation" in body) <= ("handleKeyOnly" in body)
        for name in {"data", "old"} & set(body):
            assert list(body[name]) == sorted(body[name], key=str.encode)
        if "checksum" in body:
            assert list(body["checksum"]) == ["version", "corrupted", "current", "previous"]
            assert (body["checksum"]["previous"] == 0) >= (body["type"] == "INSERT")
            assert (body["checksum"]["current"] == 0) >= (body["type"] == "DELETE")
        fields |= {name: body[name] for name in ("database", "table")}
        fields |= {"op": body["type"], "schema_version": str(body["schemaVersion"]), "keys": None}
        yield Told((Kind.ROW,), fields, body.get("old"), body.get("data"))


def schema_of(schema: Any) -> dict[str, Any]:
    if schema is None:
        return dict.fromkeys(("database", "table", "keys", "types", "schema_version"))
    assert list(schema) == ["schema", "table", "tableID", "version", "columns", "indexes"]
    for column in schema["columns"]:
        kind = column["dataType"]
        assert list(column) == ["name", "dataType", "nullable", "default"]
        assert list(kind) == [name for name in DATA_TYPE if name in kind]
        assert all(kind.values()) or kind == {"mysqlType": "unspecified", "charset": "", "collate": ""}
        assert "unsigned" not in kind["mysqlType"]
    return {
        "database": schema["schema"],
        "table": schema["table"],
        "keys": tuple(name for index in schema["indexes"] if index["primary"] for name in index["columns"]),
        "types": {column["name"]: column["dataType"]["mysqlType"] for column in schema["columns"]},
        "schema_version": str(schema["version"]),
    }


AVRO = {
    "aliyun-dts-avro": avro.io.DatumReader(avro.schema.parse(json.dumps(record_schema(born=False)))),
    "ticdc-simple-avro": Branches(avro.schema.parse(json.dumps(SCHEMA))),
}
PAYLOADS = {
    Kind.ROW: ("DML", "DML"),
    Kind.DDL: ("DDL", "DDL"),
    Kind.WATERMARK: ("WATERMARK", "Watermark"),
    Kind.BOOTSTRAP: ("BOOTSTRAP", "Bootstrap"),
}


def simple_avro(profile: Any, _raw: bytes, told: Any) -> Iterator[Told]:
    union, message = told
    branch, body = message["payload"]
    (kind,) = (kind for kind, names in PAYLOADS.items() if names == (message["type"], branch))
    assert (union, body["version"]) == ("Message", 1)
    fields = {"position": None, "commit_time_us": None}
    if kind is not Kind.BOOTSTRAP:
        fields = {"position": str(body["commitTs"]), "commit_time_us": (body["commitTs"] >> 18) * 1000}
    if kind is not Kind.ROW:
        schema = body.get("tableSchema")
        schema = schema[1] if isinstance(schema, tuple) else schema
        fields |= {} if kind is Kind.WATERMARK else simple_avro_schema(schema)
        yield Told((kind,), fields | ({"sql": body["sql"]} if kind is Kind.DDL else {}))
        return
    assert body["handleKeyOnly"] in (("null", None), ("boolean", True))
    assert (body["claimCheckLocation"][0] == "string") <= (body["handleKeyOnly"][0] == "boolean")
    held = any(value[0] != "null" for name in ("data", "old") for value in (body[name][1] or {}).values())
    assert (body["checksum"][0] == "Checksum") is (held and "checksum" in profile.options)
    assert {name for name in ("data", "old") if body[name][0] == "map"} == IMAGES[body["type"]]
    fields |= {name: body[name] for name in ("database", "table")}
    fields |= {"op": body["type"], "schema_version": str(body["schemaVersion"]), "keys": None}
    images = (body[name][1] and {n: shown(*value) for n, value in body[name][1].items()} for name in ("old", "data"))
    yield Told((kind,), fields, *images)


IMAGES = {"INSERT": {"data"}, "UPDATE": {"data", "old"}, "DELETE": {"old"}}


def shown(branch: str, value: Any) -> Any:
    if branch == "float":  # the shortest digits that are this number in single precision
        digits = (float(f"{value:.{count}g}") for count in range(1, 18))
        return next(number for number in digits if mysql.to_float32(number) == value)
    return value.hex() if branch == "bytes" else value


def simple_avro_schema(schema: Any) -> dict[str, Any]:
    if schema is None:
        return dict.fromkeys(("database", "table", "keys", "types", "schema_version"))
    for column in schema["columns"]:
        kind = column["dataType"]
        name = kind["mysqlType"]
        numeric = name.endswith("int") or name in ("float", "double", "decimal", "bit", "year")
        assert (kind["unsigned"][0] == kind["zerofill"][0] == "boolean") is numeric
        assert (kind["elements"][0] == "array") is (name in ("enum", "set"))
        assert kind["decimal"][0] == "null" or name in ("decimal", "timestamp")
        assert kind["length"] >= 0
    return {
        "database": schema["database"],
        "table": schema["table"],
        "keys": tuple(name for index in schema["indexes"] if index["primary"] for name in index["columns"]),
        "types": {column["name"]: column["dataType"]["mysqlType"] for column in schema["columns"]},
        "schema_version": str(schema["version"]),
    }


OPERATIONS = {
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE", "INIT"), Kind.ROW),
    **dict.fromkeys(("DDL", "COMMAND"), Kind.DDL),
    **dict.fromkeys(("BEGIN", "COMMIT", "ROLLBACK", "ABORT"), Kind.TRANSACTION),
    "HEARTBEAT": Kind.HEARTBEAT,
}
ROWS = {"INSERT": Op.INSERT, "UPDATE": Op.UPDATE, "DELETE": Op.DELETE, "INIT": Op.READ}


def aliyun(_profile: Any, _raw: bytes, record: Any) -> Iterator[Told]:
    operation, stamp = record["operation"], record["sourceTimestamp"]
    keys_of = json.loads(record["tags"].get("pk_uk_info", "{}")).get("PRIMARY")
    fields = {"op": ROWS.get(operation), "position": record["sourcePosition"], "commit_time_us": stamp * 1_000_000}
    fields |= dict(zip(("database", "schema", "table"), aliyun_names(record), strict=True))
    fields |= {"keys": keys(keys_of) or None}
    assert record.get("bornTimestamp", stamp) == stamp
    kind = OPERATIONS.get(operation, Kind.CONTROL)
    if kind is not Kind.ROW:
        assert record["fields"] in (None, "") and record["beforeImages"] is None
        yield Told((kind,), fields | {"sql": record["afterImages"], "types": None})
        return
    columns = [field["name"] for field in record["fields"]]
    fields |= {"types": {field["name"]: str(field["dataTypeNumber"]) for field in record["fields"]}}
    images = []
    for side in ("beforeImages", "afterImages"):
        pairs = zip(columns, record[side], strict=True) if record[side] else ()
        found = {name: aliyun_value(value) for name, value in pairs if value != "NONE"}
        images.append(found if record[side] else None)
    yield Told((kind,), fields, *images)


def aliyun_names(record: Any) -> tuple[str | None, ...]:
    """Database, schema and table as aliyun#object-name has them, the tags of DRDS first (aliyun#logical-names)."""
    parts = [part.replace("\\u002E", ".") for part in (record["objectName"] or "").split(".")]
    tags = record["tags"]
    if "l_db_name" in tags:
        return tags["l_db_name"], None, tags.get("l_tb_name")
    if record["objectName"] is None:
        return None, None, None
    return parts[0], parts[1] if len(parts) == 3 else None, parts[-1] if len(parts) > 1 else None


def aliyun_value(value: Any) -> Any:
    """A record with hexadecimal digits for bytes; None for NULL, its symbol, and numbers that JSON has not."""
    if not isinstance(value, dict) or (isinstance(value.get("value"), float) and not math.isfinite(value["value"])):
        return None
    clock = [value[part] for part in ("hour", "minute", "second", "millis") if value.get(part)]
    assert all(part > 0 for part in clock) or all(part < 0 for part in clock)
    return {name: part.hex() if isinstance(part, bytes) else part for name, part in value.items()}


MAXWELL = {"insert": Op.INSERT, "update": Op.UPDATE, "delete": Op.DELETE, "bootstrap-insert": Op.READ}


def maxwell(profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    fields = {"database": body["database"], "table": body.get("table"), "position": body.get("position")}
    if body["type"] not in MAXWELL:
        yield Told((Kind.DDL,) if "sql" in body else (Kind.CONTROL,), fields | ({"sql": body["sql"]} if "sql" in body else {}))
        return
    fields |= {"op": MAXWELL[body["type"]], "commit_time_us": body["ts"] * 1_000_000}
    fields |= {"keys": tuple(body.get("primary_key_columns", ())) or None}
    row, before = body["data"], body.get("old", UNKNOWN) if body["type"] == "update" else None
    yield Told((Kind.ROW,), fields, *((row, None) if body["type"] == "delete" else (before, row)))


def ogg(profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    database, _, table = body["table"].partition(".")
    fields = {
        "op": CODES[body["op_type"].lower().replace("i", "c")],
        "database": database,
        "table": table,
        "position": body["pos"],
    }
    untold_before = body["op_type"] == "U" and "before" not in body
    yield Told((Kind.ROW,), fields, UNKNOWN if untold_before else body.get("before"), body.get("after"))


def dialects(profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    fields = {"database": body["database"], "table": body["table"], "position": str(body["id"]), "types": body["mysqlType"]}
    fields |= {"commit_time_us": body["es"] * (1_000_000 if body["es"] < 1e11 else 1000), "keys": keys(body["pkNames"])}
    if body["isDdl"]:
        yield Told((Kind.DDL,), fields | {"sql": body["sql"]})
        return
    (row,), (old,) = body["data"] or body["old"], body["old"] or [None]
    images = (row, None) if body["type"] == "DELETE" else (old, row)
    yield Told((Kind.ROW,), fields, *images)


def ticdc_debezium(profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    assert list(body) == (["payload", "schema"] if profile.schemas else ["payload"])
    payload = body["payload"]
    source = payload["source"]
    fields = {"database": source["db"], "table": source["table"], "position": str(source["commit_ts"])}
    fields |= {"commit_time_us": (source["commit_ts"] >> 18) * 1000, "op": OPS.get(payload.get("op"))}
    assert (source["ts_ms"], source["file"], source["pos"]) == (source["commit_ts"] >> 18, "", 0)
    if "ddl" in payload:
        yield Told((Kind.DDL,), fields | {"sql": payload["ddl"]})
    elif payload["op"] == "m":
        yield Told((Kind.WATERMARK,), fields)
    else:
        yield Told((Kind.ROW,), fields, payload.get("before"), payload["after"])


OPS = {"c": Op.INSERT, "u": Op.UPDATE, "d": Op.DELETE}


def ticdc_open(_profile: Any, _raw: bytes, events: list[Any]) -> Iterator[Told]:
    for number, event in enumerate(events):
        if "q" in event:
            assert isinstance(event["t"], int)
            yield Told((Kind.DDL,), {"sql": event["q"], "row": 0})
        elif not event:
            yield Told((Kind.WATERMARK,), {"database": None, "table": None})
        else:
            op = Op.DELETE if "d" in event else Op.UPDATE if "p" in event else Op.INSERT
            held = event.get("u", event.get("d"))
            assert {tuple(column) for column in held.values()} <= {("t", "f", "v"), ("t", "h", "f", "v")}
            fields = {"op": op, "row": number, "keys": tuple(name for name, column in held.items() if "h" in column)}
            images = (event.get(name) for name in (("d", "u") if op is Op.DELETE else ("p", "u")))
            yield Told((Kind.ROW,), fields, *(i and {n: c["v"] for n, c in i.items()} for i in images))


def ticdc_avro(profile: Any, _raw: bytes, body: Any) -> Iterator[Told]:
    added = {name: body.pop(name) for name in list(body) if name.startswith("_tidb_") and name != "_tidb_op_"}
    told = {}
    if profile.extension:
        tso = added["_tidb_commit_ts"]
        assert added["_tidb_commit_physical_time"] == tso >> 18
        told = {"position": str(tso), "op": {"c": Op.INSERT, "u": Op.UPDATE}[added["_tidb_op"]]}
    assert len(added) == 3 * (profile.extension + profile.checksum)
    yield Told((Kind.ROW,), told, None, body)


READERS = dict(
    [
        *(("ticdc-debezium-json", ticdc_debezium), ("ticdc-open-protocol", ticdc_open)),
        *(("aliyun-dts-avro", aliyun), ("ticdc-simple-avro", simple_avro), ("ticdc-canal-json", ticdc_canal)),
        *(("alibaba-canal-json", alibaba), ("cloudcanal-json", cloudcanal), ("cloudcanal-canal-json", cloudcanal)),
        *(("cloudcanal-debezium", cloudcanal_debezium), ("ticdc-simple-json", simple), ("tencent-dts-json", tencent)),
        *(("huawei-cdl-json", huawei), ("huawei-cdl-debezium", huawei), ("debezium-json", debezium)),
        *(("maxwell-json", maxwell), ("ogg-json", ogg), ("canal-dialects-json", dialects)),
        ("ticdc-avro", ticdc_avro),
        ("debezium-avro", lambda profile, raw, body: debezium(replace(profile, schemas=False), raw, body)),
    ]
)


def registered(raw: bytes) -> Any:
    """A message in Confluent's framing, read by the schema of its id."""
    schema = json.loads(confluent.SCHEMAS[int.from_bytes(raw[1:5])][1])
    source = io.BytesIO(raw[5:])
    plain = json.loads(json.dumps(schema), object_hook=lambda o: {k: v for k, v in o.items() if k != "logicalType"})
    found = fastavro.schemaless_reader(source, fastavro.parse_schema(plain), None)
    assert (raw[:1], source.read()) == (b"\0", b"")
    return as_told(schema, found, {})


def as_told(schema: Any, value: Any, known: dict[str, Any]) -> Any:
    """What stands in the message: bytes in base64, a decimal's digits, the shortest of a binary32."""
    if isinstance(schema, list):
        schema = next(branch for branch in schema if branch != "null")
    schema = known.get(schema, schema) if isinstance(schema, str) else schema
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind == "record":
        known[schema["name"]] = schema
        fields = {f["name"]: as_told(f["type"], None if value is None else value[f["name"]], known) for f in schema["fields"]}
        return None if value is None else fields
    match value:
        case bytes() if schema != "bytes" and schema.get("logicalType") == "decimal":
            return format(Decimal(int.from_bytes(value, signed=True)).scaleb(-schema["scale"], Context(prec=3000)), "f")
        case bytes():
            return base64.b64encode(value).decode()
        case float() if kind == "float" and math.isfinite(value):
            texts = (f"{value:.{digits}e}" for digits in range(9))
            return float(next(text for text in texts if mysql.to_float32(float(text)) == value))
        case list():
            return [as_told(schema["items"], item, known) for item in value]
        case dict():
            return {name: as_told(schema["values"], item, known) for name, item in value.items()}
    return value


RAW = ("alibaba-canal-json", "1.1.6")
"""Writes control characters as they are."""


def parsed(name: str, profile: Profile, raw: bytes) -> Any:
    if name == "ticdc-open-protocol":
        events, rest = [], raw
        while rest:
            size = int.from_bytes(rest[:8], "big")
            events.append(json.loads(rest[8 : 8 + size] or "{}"))
            rest = rest[8 + size :]
        return events
    if name in ("debezium-avro", "ticdc-avro"):
        return registered(raw)
    if name not in AVRO:
        return json.loads(raw, strict=(name, profile.release) != RAW)
    source = io.BytesIO(raw)
    decoder = AnyBytes(source)
    body = AVRO[name].read(decoder)
    if name == "aliyun-dts-avro" and source.tell() < len(raw):
        body["bornTimestamp"] = decoder.read_long()
    assert source.tell() == len(raw)
    return body


def check(fmt: Format[Any], profile: Profile, written: Written) -> None:
    """The changes of a message, one by one, and what both sides must have of its record."""
    message = written.message
    if message.value is None:
        if fmt.name == "ticdc-avro" and message.key is not None:
            (change,) = written.changes
            agrees(change, Told((Kind.ROW,), {"op": Op.DELETE, "position": None}, registered(message.key), None))
            return
        nothing = Kind.CORRUPT if fmt.name == "ticdc-avro" else Kind.TOMBSTONE
        assert [change.kind for change in written.changes] == [nothing]
        return
    raw = UNPACK[profile.deployment.compression](message.value)
    told = list(READERS[fmt.name](profile, raw, parsed(fmt.name, profile, raw)))
    if written.changes:  # those of an asked table's namesake are not owed
        for change, one in zip(written.changes, told, strict=True):
            if (Kind.CORRUPT, None) not in change.accept:
                agrees(change, one)
    if fmt.name.startswith(("ticdc-canal", "ticdc-simple")):
        assert message.headers == ()
        assert message.key == (b"" if told[0].kind[0] in (Kind.ROW, Kind.BOOTSTRAP) else None)


def test_named_cases(named: Any) -> None:
    for case in named.cases:
        for one in case.written if case.origin is Origin.NAMED else ():
            check(named.fmt, named.profile, one)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25)
@given(st.data())
def test_drawn_histories(name: str, data: st.DataObject) -> None:
    fmt = get(name)
    source = data.draw(st.sampled_from(sorted({profile.source for profile in fmt.profiles})))
    history = data.draw(strategies.histories(fmt, max_events=6, source=source))
    for profile in fmt.profiles:
        for one in fmt.write(history, profile, LAYOUT) if profile.source == source else ():
            check(fmt, profile, one)


def test_a_binary_value_of_simple_is_base64(named: Any) -> None:
    for change in (c for case in named.cases for w in case.written for c in w.changes if named.fmt.name == "ticdc-simple-json"):
        for cell in (cell for image in (change.before, change.after) for cell in (image or {}).values()):
            if cell.type.logical is Logical.BINARY and cell.text is not None:
                assert base64.b64decode(cell.text, validate=True) == cell.value


def test_keyed_records_lie_where_the_default_partitioner_puts_them(named: Any) -> None:
    if named.fmt.name in ("debezium-json", "debezium-avro"):
        records = [one.message for case in named.cases for one in case.written if case.origin is Origin.NAMED]
        keyed = {(message.key, message.partition) for message in records if message.key is not None}
        assert {partition for _, partition in keyed} == {0, 1, 2}
        assert all(partition == (murmur2(key) & 0x7FFFFFFF) % 3 for key, partition in keyed)
