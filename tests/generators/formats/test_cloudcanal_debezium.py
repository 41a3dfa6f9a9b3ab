"""CloudCanal's Debezium Envelope: the vendor's examples, made JSON, and what it leaves open."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

from literals import literal
from tables import keyed

from generators.formats.cloudcanal_debezium import FORMAT, EnvelopeProfile
from generators.model import (
    Column,
    Event,
    History,
    Instant,
    Kind,
    Layout,
    Op,
    SchemaChange,
    Table,
    Written,
)
from generators.sources import mysql
from generators.sources.boundaries import change

STRING = mysql.text("varchar", 22)
AT = Instant(1_669_796_261_933, 0)
TABLE = keyed("db_test.table_test", "col_pk", col1=STRING, col2=STRING, col_pk=STRING)
ROW = {"col1": "11", "col2": "11", "col_pk": "11"}

DML = literal("cloudcanal-debezium-row.txt")
DDL = literal("cloudcanal-debezium-ddl.txt")


def written(event: Event, profile: EnvelopeProfile = FORMAT.profiles[0]) -> Written:
    (record,) = FORMAT.write(History((event,), 5), profile, Layout())
    return record


def payload(event: Event, profile: EnvelopeProfile = FORMAT.profiles[0]) -> dict[str, Any]:
    document = json.loads(written(event, profile).message.value or b"")
    body: dict[str, Any] = document["payload"] if profile.schemas else document
    return body


def alter() -> SchemaChange:
    sql = "alter table table_test add col2 varchar(22) null"
    return SchemaChange(
        AT,
        "add column",
        sql,
        "db_test",
        "table_test",
        replace(TABLE, columns=TABLE.columns[::2]),
        TABLE,
    )


def test_the_documents_insert() -> None:
    event = change(TABLE, Op.INSERT, (None, ROW), at=AT)
    record = written(event, FORMAT.build("2022", "schemaless"))
    pos = payload(event)["source"]["pos"]
    assert record.message.value == (DML % pos).encode()
    with_schema = json.loads(written(event).message.value or b"")
    assert list(with_schema) == ["schema", "payload"]
    assert with_schema["payload"] == json.loads(DML % pos)
    assert [change.commit_time_us for change in record.changes] == [1_669_796_261_933_000]


def test_the_documents_statement() -> None:
    record = written(alter(), FORMAT.build("2022", "schemaless"))
    assert record.message.value == (DDL % payload(alter())["source"]["pos"]).encode()


def test_what_the_field_table_says_instead() -> None:
    other = FORMAT.build("2022", "op-a", "null-images")
    assert other.name == "2022+null-images+op-a"
    assert other.deployment == FORMAT.profiles[0].deployment
    assert payload(alter(), other)["op"] == "a"
    assert payload(change(TABLE, Op.INSERT, (None, ROW)), other)["before"] is None
    assert payload(change(TABLE, Op.DELETE, (ROW, None)), other)["after"] is None
    assert payload(change(TABLE, Op.DELETE, (ROW, None)))["after"] == {}


SAMPLE = literal("cloudcanal-debezium-sample.txt")


def test_the_message_of_the_vendors_article() -> None:
    """cloudcanal-envelope#values-as-text: what the article leaves out of source and schema is
    filled in.
    """
    table = Table(
        "kafka_test",
        "new_table",
        (Column("column_1", mysql.integer("int"), nullable=False),),
        ("column_1",),
    )
    event = change(table, Op.INSERT, (None, {"column_1": 3}), at=Instant(1_659_614_884_026, 0))
    record = written(event, FORMAT.build("2022", "sample"))
    (expected,) = record.changes
    pos = int((expected.position or "").partition(":")[2])
    assert (record.message.value or b"").decode() == SAMPLE % pos
    assert expected.after is not None and expected.after["column_1"].text == "3"


def test_typed_values_are_debeziums() -> None:
    table = Table("d", "t", (Column("n", mysql.integer("int")), Column("d", mysql.decimal(10, 2))))
    event = change(table, Op.INSERT, (None, {"n": 3, "d": Decimal("1.50")}))
    assert payload(event)["after"] == {"n": "3", "d": "1.50"}
    assert payload(event, FORMAT.build("2022", "typed"))["after"] == {"n": 3, "d": "AJY="}
    assert FORMAT.build("2022", "typed").deployment.decimal == "precise"


def test_a_later_commit_may_be_in_the_next_file() -> None:
    record = written(change(TABLE, Op.INSERT, (None, ROW), at=Instant(1_669_796_261_933, 1000)))
    assert (record.changes[0].position or "").startswith("mysql-bin.000004:")


def test_full_load_rows_are_inserts() -> None:
    event = change(TABLE, Op.READ, (None, ROW))
    assert payload(event)["op"] == "c"
    assert written(event).changes[0].accept == ((Kind.ROW, Op.READ),)
