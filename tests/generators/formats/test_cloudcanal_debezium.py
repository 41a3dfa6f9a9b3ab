"""CloudCanal's Debezium Envelope: the vendor's examples, made JSON, and what it leaves open."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from generators.drawing.cases import as_case, boundary_scenarios
from generators.errors import UnknownName, UsageError
from generators.formats.cloudcanal_debezium import FORMAT, PROFILES, EnvelopeProfile, profile
from generators.model import Column, Event, History, Instant, Kind, Layout, Op, SchemaChange, Table, Written
from generators.sources import mysql
from generators.sources.boundaries import change

STRING = mysql.text("varchar", 22)
AT = Instant(1_669_796_261_933, 0)
TABLE = Table(
    "db_test",
    "table_test",
    (Column("col1", STRING), Column("col2", STRING), Column("col_pk", STRING, nullable=False)),
    ("col_pk",),
)
ROW = {"col1": "11", "col2": "11", "col_pk": "11"}

DML = (
    '{"op":"c","ts_ms":1669796261933,"after":{"col1":"11","col2":"11","col_pk":"11"},"before":{},'
    '"source":{"ts_ms":1669796261933,"db":"db_test","table":"table_test","connector":"MySQL","gtid":null,'
    '"file":"mysql-bin.000003","pos":%d,"server_id":223344}}'
)
DDL = (
    '{"databaseName":"db_test","ddl":"alter table table_test add col2 varchar(22) null","ts_ms":1669797213247,'
    '"source":{"ts_ms":1669796261933,"db":"db_test","table":"table_test","connector":"MySQL","gtid":null,'
    '"file":"mysql-bin.000003","pos":%d,"server_id":223344},'
    '"tableChanges":{"type":"ALTER","table":{"columns":['
    '{"jdbcType":12,"name":"col1","position":0,"typeExpression":"varchar(22)","typeName":"varchar"},'
    '{"jdbcType":12,"name":"col2","position":1,"typeExpression":"varchar(22)","typeName":"varchar"},'
    '{"jdbcType":12,"name":"col_pk","position":2,"typeExpression":"varchar(22)","typeName":"varchar"}],'
    '"primaryKeyColumnNames":["col_pk"]}}}'
)


def written(event: Event, profile: EnvelopeProfile = PROFILES[0]) -> Written:
    (one,) = FORMAT.write(History((event,), 5), profile, Layout())
    return one


def payload(event: Event, profile: EnvelopeProfile = PROFILES[0]) -> dict[str, Any]:
    found = json.loads(written(event, profile).message.value or b"")
    told: dict[str, Any] = found["payload"] if profile.schemas else found
    return told


def alter() -> SchemaChange:
    sql = "alter table table_test add col2 varchar(22) null"
    return SchemaChange(AT, "add column", sql, "db_test", "table_test", replace(TABLE, columns=TABLE.columns[::2]), TABLE)


def test_the_documents_insert() -> None:
    event = change(TABLE, Op.INSERT, (None, ROW), at=AT)
    one = written(event, profile("schemaless"))
    pos = payload(event)["source"]["pos"]
    assert one.message.value == (DML % pos).encode()
    with_schema = json.loads(written(event).message.value or b"")
    assert list(with_schema) == ["schema", "payload"]
    assert with_schema["payload"] == json.loads(DML % pos)
    (expected,) = one.changes
    assert (expected.kind, expected.op, expected.database, expected.table) == (Kind.ROW, Op.INSERT, "db_test", "table_test")
    assert expected.before is None and expected.after is not None
    assert {name: cell.text for name, cell in expected.after.items()} == ROW
    assert (expected.position, expected.commit_time_us) == (f"mysql-bin.000003:{pos}", 1_669_796_261_933_000)


def test_the_documents_statement() -> None:
    one = written(alter(), profile("schemaless"))
    assert one.message.value == (DDL % payload(alter())["source"]["pos"]).encode()
    (expected,) = one.changes
    assert (expected.kind, expected.op, expected.sql) == (Kind.DDL, None, "alter table table_test add col2 varchar(22) null")
    assert "op" not in payload(alter())


def test_what_the_field_table_says_instead() -> None:
    other = profile("op-a", "null-images")
    assert other.name == "2022+null-images+op-a"
    assert payload(alter(), other)["op"] == "a"
    assert payload(change(TABLE, Op.INSERT, (None, ROW)), other)["before"] is None
    assert payload(change(TABLE, Op.DELETE, (ROW, None)), other)["after"] is None
    assert payload(change(TABLE, Op.DELETE, (ROW, None)))["after"] == {}


def test_after_is_after() -> None:
    told = payload(change(TABLE, Op.UPDATE, (ROW, {**ROW, "col1": "22"})))
    assert (told["before"]["col1"], told["after"]["col1"]) == ("11", "22")


def test_full_load_rows_are_inserts() -> None:
    event = change(TABLE, Op.READ, (None, ROW))
    assert payload(event)["op"] == "c"
    assert written(event).changes[0].accept == ((Kind.ROW, Op.READ),)


def test_the_schema_describes_the_payload() -> None:
    """Every member of a struct in the payload is a field of its schema, in that order."""

    def check(schema: dict[str, Any], value: Any) -> None:
        if value is None or value == {}:
            assert schema["optional"]
        elif schema["type"] == "struct":
            assert [field["field"] for field in schema["fields"]] == list(value)
            for field in schema["fields"]:
                check(field, value[field["field"]])
        elif schema["type"] == "array":
            for item in value:
                check(schema["items"], item)

    for scenario in boundary_scenarios(FORMAT, PROFILES[0]):
        for one in as_case(FORMAT, PROFILES[0], scenario).written:
            message = json.loads(one.message.value or b"")
            check(message["schema"], message["payload"])


def test_every_profile_has_every_case_and_one_change_a_message() -> None:
    for one in PROFILES:
        cases = [as_case(FORMAT, one, scenario) for scenario in boundary_scenarios(FORMAT, one)]
        assert all(len(w.changes) == 1 for case in cases for w in case.written)
        assert sum(bool(case.written) for case in cases) > 300


def test_options_are_checked() -> None:
    with pytest.raises(UnknownName, match="schemaless"):
        profile("schemales")
    with pytest.raises(UsageError, match="once"):
        profile("op-a", "op-a")
