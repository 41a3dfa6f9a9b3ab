"""The reference decoder of Debezium's JSON against literals of the releases, and against what breaks naive readers."""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from decoded import DOCUMENT_004, RECORDS, Records, assert_corrupt, assert_typed, by_offset, cells
from pyspark.sql import Row, SparkSession

from generators.model import Column, Deployment, Table
from generators.sources import mysql, postgresql
from spark_checks.decoders import debezium_json as decoder

Value = str | bytes | None

MYSQL_SOURCE = json.loads(
    '{"version":"1.9.7.Final","connector":"mysql","name":"dbserver1","ts_ms":1669796261000,"snapshot":"false","db":"db","sequence":null,'
    '"table":"t","server_id":223344,"gtid":null,"file":"mysql-bin.000003","pos":154,"row":2,"thread":null,"query":null}'
)
POSTGRESQL_SOURCE = json.loads(
    '{"version":"1.4.0.Final","connector":"postgresql","name":"cdl","ts_ms":1707048891235,"snapshot":"false","db":"db",'
    '"schema":"public","table":"t","txId":57227663,"lsn":163955586912,"xmin":null}'
)

KEY = (
    '{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],"optional":false,'
    '"name":"dbserver1.inventory.customers.Key"},"payload":{"id":1004}}'
)
"""debezium#record-key."""
LEGACY_TOMBSTONE = '{"schema":null,"payload":null}'
HEARTBEAT = '{"ts_ms":1669796261933}'
BEGIN = '{"status":"BEGIN","id":"571","event_count":null,"data_collections":null,"ts_ms":1669796261933}'
END = (
    '{"status":"END","id":"571:53195832","event_count":2,"data_collections":'
    '[{"data_collection":"public.t","event_count":2}],"ts_ms":1669796261933}'
)

PG = postgresql


def envelope(op: object, before: object = None, after: object = None, *, source: object = None, **more: object) -> dict[str, Any]:
    """The payload of a row change of `db`.`t`."""
    told = {"before": before, "after": after, "source": MYSQL_SOURCE if source is None else source, "op": op}
    return {**told, "ts_ms": 1669796261933, "transaction": None, **more}


def text(document: object) -> str:
    """A value without schema."""
    return json.dumps(document, ensure_ascii=False)


def with_schema(payload: object, *fields: Mapping[str, object]) -> str:
    """A value with a schema whose rows have these fields."""
    row = {"type": "struct", "fields": list(fields), "optional": True, "name": "s.db.t.Value"}
    both = [{**row, "field": "before"}, {**row, "field": "after"}]
    schema = {"type": "struct", "fields": both, "optional": False, "name": "s.db.t.Envelope"}
    return text({"schema": schema, "payload": payload})


def b64(number: int) -> str:
    """BigInteger.toByteArray in base64."""
    size = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return base64.b64encode(number.to_bytes(size, "big", signed=True)).decode()


def test_sample_of_document_004(records: Records) -> None:
    """The vendor's envelope has members more and a schema of other names, which are no reason to refuse it."""
    out = by_offset(decoder.decode(records((KEY, DOCUMENT_004))))[0]
    assert (out.kind, out.op, out.database, out.schema, out.table) == ("ROW", "INSERT", "cdl", "public", "ct_pg2hudi")
    assert (out["keys"], out.position, out.before) == (["id"], "163955586912", None)
    assert out.commit_time.astimezone(dt.UTC) == dt.datetime(2024, 2, 4, 12, 14, 51, 235000, dt.UTC)
    assert out.after == {"count1": "14", "id": "35", "time1": None, "decimalNum": None}
    columns = (Column("count1", PG.integer("bigint")), Column("id", PG.integer()), Column("time1", PG.temporal("timestamp")))
    table = Table("cdl", "ct_pg2hudi", (*columns, Column("decimalNum", PG.numeric(10, 2))), ("id",), schema="public")
    filled = DOCUMENT_004.replace('"time1":null,"decimalNum":null', '"time1":"2024-02-04 12:00:00.5","decimalNum":"12.30"')
    rows = by_offset(decoder.decode_rows(records(DOCUMENT_004, filled), table))
    assert tuple(rows[0].after) == (14, 35, None, None)
    assert tuple(rows[1].after) == (14, 35, dt.datetime(2024, 2, 4, 12, 0, 0, 500000), Decimal("12.30"))


def test_images_are_exactly_what_the_wire_carries(records: Records) -> None:
    wire = {"a": 5, "b": 1.5, "c": True, "d": None, "e": {"scale": 4, "value": "AY/J"}, "f": [1, None], "g": "AY/J", "h": 2**64}
    read = {"a": "5", "b": "1.5", "c": "true", "d": None, "e": '{"scale":4,"value":"AY/J"}', "f": "[1,null]", "g": "AY/J"}
    read |= {"h": str(2**64)}
    part = {"a": 4}
    vectors = (envelope("c", {}, wire), envelope("u", part, wire), envelope("u", {}, wire), envelope("d", wire, {}))
    out = by_offset(decoder.decode(records(*map(text, vectors))))
    assert [(r.before, r.after) for r in out.values()] == [(None, read), ({"a": "4"}, read), ({}, read), (read, None)]


def test_keys_are_the_record_keys_columns(records: Records) -> None:
    row, composite = text(envelope("c", None, {"id": 1})), '{"b \\"q\\"":"x","a":null}'
    vectors: tuple[tuple[Value, Value, list[str] | None], ...] = (
        *((KEY, row, ["id"]), (composite, row, ['b "q"', "a"])),
        (f'{{"schema":{{"fields":[]}},"payload":{composite}}}', row, ['b "q"', "a"]),
        ('{"schema":"x","payload":"y"}', row, ["schema", "payload"]),
        ('{"schema":1,"payload":"{}"}', row, ["schema", "payload"]),
        *(('{"schema":"{}","payload":{"scale":0,"value":"AQ=="}}', row, ["schema", "payload"]), (None, row, None)),
        *(('{"schema":null,"payload":null}', row, None), ("no json", row, None), (KEY, None, ["id"])),
        *((KEY, LEGACY_TOMBSTONE, ["id"]), ('{"serverName":"s"}', HEARTBEAT, None), ('{"id":"571"}', BEGIN, None)),
    )
    out = by_offset(decoder.decode(records(*((key, value) for key, value, _ in vectors))))
    assert [r["keys"] for r in out.values()] == [wanted for _, _, wanted in vectors]


def test_position_and_commit_time(records: Records) -> None:
    pg, incremental = {**POSTGRESQL_SOURCE, "lsn": 2**53 + 1, "ts_ms": -1}, {**POSTGRESQL_SOURCE, "lsn": None, "ts_ms": 2**62}
    vectors = [envelope("c", None, {"id": 1}, source=source) for source in (MYSQL_SOURCE, pg, incremental)]
    out = by_offset(decoder.decode(records(*map(text, vectors))))
    assert [r.position for r in out.values()] == ["mysql-bin.000003:154:2", "9007199254740993", None]
    assert [r.commit_time is None for r in out.values()] == [False, True, True]
    assert [r.schema for r in out.values()] == [None, "public", "public"]


GOOD = text(envelope("c", None, {"a": 1}))
UNREADABLE: tuple[Value, ...] = (
    *(LEGACY_TOMBSTONE * 2, LEGACY_TOMBSTONE + "x", '{"schema":{"type":"struct"}}', '{"schema":{"type":"struct"},"payload":[]}'),
    *('{"schema":{"type":"struct"},"payload":{}}', '{"schema":[],"payload":' + GOOD + "}", '{"payload":"null}"}'),
    *(text(envelope("x", None, {"a": 1})), text(envelope("a", None, {"a": 1})), text(envelope("", None, {"a": 1}))),
    *(text(envelope(5, None, {"a": 1})), text(envelope(None, None, {"a": 1})), text(envelope({"c": 1}, None, {"a": 1}))),
    *(text(envelope("c", {"a": 1})), text(envelope("r")), text(envelope("u", {"a": 1})), text(envelope("c", None, []))),
    *(text(envelope("c", None, "row")), text(envelope("u", [], {"a": 1})), text(envelope("c", None, {"a": 1}, source="db"))),
    *(text({"op": "c", "after": {"a": 1}}), text({"op": "m", "source": POSTGRESQL_SOURCE})),
    *(text({"status": "PAUSED", "id": "5"}), text({"status": "BEGIN"}), text({"ddl": "drop table t"}), text({"ts_ms": "soon"})),
    '{"before":null,"after":{"a":' + "[" * 2000 + "]" * 2000 + "}}",
)


def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records: Records) -> None:
    table = Table("db", "t", (Column("a", mysql.integer("int")),))
    for frame in (decoder.decode(records(*UNREADABLE)), decoder.decode_rows(records(*UNREADABLE), table)):
        assert_corrupt(frame, len(UNREADABLE))


def test_a_time_beyond_all_times_never_raises_and_never_vanishes(records: Records) -> None:
    far = text(envelope("c", None, {"a": "x"})).replace("1669796261000", "9223372036854775807")
    table = Table("db", "t", (Column("a", mysql.text()),))
    for frame in (decoder.decode(records(far)), decoder.decode_rows(records(far), table)):
        assert set(by_offset(frame)) == {0}


FLAT = {"id": 1, "a": "x", "__deleted": "false", "__op": "c", "__table": "t", "__lsn": 7, "__source_ts_ms": 1669796261000}


def test_flattened_rows_are_the_row_that_their_operation_leaves(spark: SparkSession) -> None:
    """debezium#flattened."""
    headers = [("__op", b"c"), ("__db", b"db")]
    schema = {"type": "struct", "fields": [{"type": "int32", "optional": False, "field": "id"}], "optional": False}
    values = (text(FLAT), text({**FLAT, "__op": "d", "__deleted": "true"}), "null", text({"schema": schema, "payload": FLAT}))
    rows = [(b'{"id":1}', value.encode(), "cdc", 1, i, None, 0, headers) for i, value in enumerate(values)]
    frame = spark.createDataFrame(rows, RECORDS)
    new, old, gone, wrapped = (row.asDict(recursive=True) for _, row in sorted(by_offset(decoder.decode(frame)).items()))
    assert (new["kind"], new["op"], new["database"], new["table"], new["position"]) == ("ROW", "INSERT", "db", "t", "7")
    assert (new["before"], new["after"], new["keys"]) == (None, {"id": "1", "a": "x"}, ["id"])
    assert (old["op"], old["before"], old["after"]) == ("DELETE", {"id": "1", "a": "x"}, None)
    assert (gone["kind"], gone["keys"], wrapped["after"]) == ("TOMBSTONE", ["id"], {"id": "1", "a": "x"})
    table = Table("db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text())), ("id",))
    typed = by_offset(decoder.decode_rows(frame, table))
    assert [(typed[i].op, typed[i].before, typed[i].after) for i in (0, 1, 3)] == [
        *(("INSERT", None, Row(id=1, a="x")), ("DELETE", Row(id=1, a="x"), None), ("INSERT", None, Row(id=1, a="x"))),
    ]
    assert by_offset(decoder.decode_rows(frame, Table("other", "t", table.columns, ("id",)))) == {}


def test_a_cell_longer_than_the_parsers_default_limit_is_read(records: Records) -> None:
    out = by_offset(decoder.decode(records(text(envelope("c", None, {"a": "x" * 25_000_000})))))
    assert len(out[0].after["a"]) == 25_000_000


def field(kind: str, name: str | None = None, **parameters: str) -> dict[str, object]:
    """A field's schema."""
    return {"type": kind, "optional": True, **({"name": name, "version": 1} if name else {}), "parameters": parameters}


CELLS = cells(__file__, "debezium_cells.txt")


DEPLOYMENTS = list(dict.fromkeys(Deployment(**of) for _, of, *_ in CELLS))


@pytest.mark.parametrize("deployment", DEPLOYMENTS)
def test_cells_are_typed_exactly(records: Records, spark: SparkSession, deployment: Deployment) -> None:
    def write(name: str, cell: Any) -> str:
        schema, payload = cell[0], envelope("d", {name: cell[1]})
        return with_schema(payload, {**field(**schema), "field": name}) if schema else text(payload)

    chosen = [(kind, (schema, wire), wanted) for kind, of, schema, wire, wanted in CELLS if Deployment(**of) == deployment]
    assert_typed(spark, records, decoder, chosen, write, deployment)


def test_a_number_of_many_thousand_digits(records: Records) -> None:
    number, table = 7**6_000, Table("db", "t", (Column("n", PG.numeric()),), schema="public")
    cells = [{"scale": scale, "value": b64(sign * number)} for scale, sign in ((0, 1), (4_000, -1))]
    out = by_offset(
        decoder.decode_rows(records(*(text(envelope("c", None, {"n": c}, source=POSTGRESQL_SOURCE)) for c in cells)), table)
    )
    with_digits = out[1].after.n.replace(".", "").lstrip("-")
    assert (out[0].after.n, with_digits) == (_digits(number), _digits(number))


def _digits(number: int) -> str:
    """Python refuses to print so many digits at once."""
    parts: list[str] = []
    while number:
        number, low = divmod(number, 10**1000)
        parts.append(f"{low:01000d}")
    return "".join(reversed(parts)).lstrip("0")


def test_each_kind_of_message(records: Records) -> None:
    row = {"id": 1}
    logical = {"op": "m", "ts_ms": 1, "source": POSTGRESQL_SOURCE, "message": {"prefix": "p", "content": "aGk="}}
    ddl_1_4 = {"source": {**MYSQL_SOURCE, "table": None}, "databaseName": "db", "ddl": "create table t (id int)"}
    change = {"type": "ALTER", "id": '"db"."with""quote"', "table": {"columns": []}}
    ddl_2_0 = {"source": {**MYSQL_SOURCE, "table": ""}, "ts_ms": 5, "databaseName": "db", "schemaName": None}
    ddl_2_0 |= {"ddl": "alter table t add c int", "tableChanges": [change]}
    heartbeat = {"schema": {"type": "struct", "name": "io.debezium.connector.common.Heartbeat"}, "payload": {"ts_ms": 1}}
    vectors: dict[str, tuple[str, str | None]] = {
        text(envelope("c", None, row)): ("ROW", "INSERT"),
        text(envelope("r", None, row)): ("ROW", "READ"),
        text(envelope("u", row, row)): ("ROW", "UPDATE"),
        text(envelope("u", None, row)): ("ROW", "UPDATE"),
        text(envelope("U", row, row)): ("ROW", "UPDATE"),
        text(envelope("d", row)): ("ROW", "DELETE"),
        text(envelope("d", None)): ("ROW", "DELETE"),
        text(envelope("t")): ("ROW", "TRUNCATE"),
        with_schema(envelope("c", None, row)): ("ROW", "INSERT"),
        text({"schema": None, "payload": envelope("c", None, row)}): ("ROW", "INSERT"),
        text({**envelope("c", None, row), "LOB_COLUMNS": None, "unique": {"id": 1}}): ("ROW", "INSERT"),
        text(logical): ("CONTROL", None),
        HEARTBEAT: ("HEARTBEAT", None),
        text(heartbeat): ("HEARTBEAT", None),
        BEGIN: ("TRANSACTION", None),
        END: ("TRANSACTION", None),
        text(ddl_1_4): ("DDL", None),
        text(ddl_2_0): ("DDL", None),
        LEGACY_TOMBSTONE: ("TOMBSTONE", None),
        text({"schema": {"type": "struct", "optional": True}, "payload": None}): ("TOMBSTONE", None),
    }
    out = by_offset(decoder.decode(records(*vectors, None)))
    assert [(r.kind, r.op) for r in out.values()] == [*vectors.values(), ("TOMBSTONE", None)]
    assert all((r.error is None) and (r.row == 0) for r in out.values())
    first, second = (r for r in out.values() if r.kind == "DDL")
    assert (first.database, first.table, first.sql) == ("db", None, "create table t (id int)")
    assert (second.database, second.table, second.sql) == ("db", 'with"quote', "alter table t add c int")
    assert second.position == "mysql-bin.000003:154:2"
    assert [(r.before, r.after) for r in out.values() if r.kind != "ROW"] == [(None, None)] * 10
