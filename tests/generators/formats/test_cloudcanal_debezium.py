"""CloudCanal's Debezium Envelope: the vendor's examples, made JSON, and what it leaves open."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
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
    assert other.deployment == PROFILES[0].deployment
    assert payload(alter(), other)["op"] == "a"
    assert payload(change(TABLE, Op.INSERT, (None, ROW)), other)["before"] is None
    assert payload(change(TABLE, Op.DELETE, (ROW, None)), other)["after"] is None
    assert payload(change(TABLE, Op.DELETE, (ROW, None)))["after"] == {}


SAMPLE = (
    '{"payload":{"after":{"column_1":"3"},"before":null,"op":"c","source":{"connector":"MySQL","db":"kafka_test",'
    '"file":"mysql-bin.000003","gtid":null,"pos":%d,"server_id":223344,"table":"new_table","ts_ms":1659614884026},'
    '"ts_ms":1659614884026},"schema":{"fields":[{"field":"after","fields":[{"field":"column_1","isPK":true,"jdbType":4,'
    '"type":"int(11)"}],"type":"struct"},{"field":"before","fields":[{"field":"column_1","isPK":true,"jdbType":4,'
    '"type":"int(11)"}],"type":"struct"}],"type":"struct"}}'
)


def test_the_message_of_the_vendors_article() -> None:
    """cloudcanal-envelope#values-as-text: what the article leaves out of source and schema is filled in."""
    table = Table("kafka_test", "new_table", (Column("column_1", mysql.integer("int"), nullable=False),), ("column_1",))
    event = change(table, Op.INSERT, (None, {"column_1": 3}), at=Instant(1_659_614_884_026, 0))
    one = written(event, profile("sample"))
    (expected,) = one.changes
    pos = int((expected.position or "").partition(":")[2])
    assert (one.message.value or b"").decode() == SAMPLE % pos
    assert expected.after is not None and expected.after["column_1"].text == "3"


def test_typed_values_are_debeziums() -> None:
    table = Table("d", "t", (Column("n", mysql.integer("int")), Column("d", mysql.decimal(10, 2))))
    event = change(table, Op.INSERT, (None, {"n": 3, "d": Decimal("1.50")}))
    assert payload(event)["after"] == {"n": "3", "d": "1.50"}
    assert payload(event, profile("typed"))["after"] == {"n": 3, "d": "AJY="}
    assert profile("typed").deployment.decimal == "precise"


def test_a_later_commit_may_be_in_the_next_file() -> None:
    one = written(change(TABLE, Op.INSERT, (None, ROW), at=Instant(1_669_796_261_933, 1000)))
    assert (one.changes[0].position or "").startswith("mysql-bin.000004:")


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

    typed = profile("typed")
    for scenario in boundary_scenarios(FORMAT, typed):
        for one in as_case(FORMAT, typed, scenario).written:
            message = json.loads(one.message.value or b"")
            check(message["schema"], message["payload"])


def test_every_profile_has_every_case_and_one_change_a_message() -> None:
    for one in PROFILES:
        cases = [as_case(FORMAT, one, scenario) for scenario in boundary_scenarios(FORMAT, one)]
        plain = [case for case in cases if not case.id.endswith("/same-name-elsewhere")]
        assert len(plain) == len(cases) - 1
        assert all(len(w.changes) == 1 for case in plain for w in case.written)
        assert sum(bool(case.written) for case in cases) > 300


def test_options_are_checked() -> None:
    with pytest.raises(UnknownName, match="schemaless"):
        profile("schemales")
    with pytest.raises(UsageError, match="once"):
        profile("op-a", "op-a")
    with pytest.raises(UsageError, match="exclude"):
        profile("sample", "typed")
