"""The labels of PostgreSQL's enums that a running Debezium knows, against what 1.9.7, 2.5.4 and
3.5.0 wrote; debezium#added-labels.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from generators.formats.debezium_json import FORMAT, write
from generators.formats.debezium_json.known_labels import KnownLabels
from generators.model import (
    Column,
    Default,
    Event,
    History,
    Layout,
    Op,
    RowChange,
    SchemaChange,
    Table,
)
from generators.sources import boundaries, postgresql


def _orders(*labels: str) -> Table:
    key = Column("id", postgresql.TYPES["integer"], nullable=False)
    state = Column("state", postgresql.enum_of(*labels))
    return Table("audit", "orders", (key, state), ("id",), schema="public")


def _rows(release: str, *rows: tuple[Table, str]) -> list[tuple[str, str]]:
    """The labels of the schema and the label of the row of each insert."""
    events = tuple(boundaries.insert(table, {"id": 1, "state": label}) for table, label in rows)
    records = write(History(events), FORMAT.build(release, "postgresql"), Layout("cdc"))
    bodies = [json.loads(record.message.value or b"") for record in records]
    return [
        (
            body["schema"]["fields"][1]["fields"][1]["parameters"]["allowed"],
            body["payload"]["after"]["state"],
        )
        for body in bodies
    ]


@pytest.mark.parametrize("release", ["1.9.7.Final", "2.5.4.Final", "3.5.0.Final"])
def test_a_label_that_alter_type_adds_is_written_and_not_listed(release: str) -> None:
    old, new = _orders("open", "paid", "sent"), _orders("open", "paid", "sent", "returned")
    assert _rows(release, (old, "sent"), (new, "returned")) == [
        ("open,paid,sent", "sent"),
        ("open,paid,sent", "returned"),
    ]


def test_the_labels_of_another_enum_are_listed() -> None:
    old, new = _orders("open", "paid"), _orders("paid", "open", "sent")
    assert _rows("3.5.0.Final", (old, "open"), (new, "sent")) == [
        ("open,paid", "open"),
        ("paid,open,sent", "sent"),
    ]


def test_labels_in_another_order_are_another_enums() -> None:
    old, new = _orders("a", "b", "c"), _orders("c", "b", "a")
    assert _rows("3.5.0.Final", (old, "a"), (new, "a")) == [("a,b,c", "a"), ("c,b,a", "a")]


def test_a_table_in_another_schema_keeps_the_labels_that_are_known() -> None:
    old, grown = _orders("a", "b"), replace(_orders("a", "b", "c"), schema="s2")
    moved = SchemaChange(
        boundaries.START,
        "alter table",
        "ALTER TABLE orders SET SCHEMA s2",
        "audit",
        "orders",
        _orders("a", "b", "c"),
        grown,
    )
    known = KnownLabels()
    known.table(old)
    known.follow_statement(moved)
    assert known.table(grown).column("state").type.members == ("a", "b")


def test_a_table_that_is_met_later_has_the_labels_of_its_first_row() -> None:
    new = _orders("open", "paid", "returned")
    assert _rows("3.5.0.Final", (new, "returned")) == [("open,paid,returned", "returned")]


def test_another_column_of_an_enum_that_has_grown_is_known_alike() -> None:
    old, new = _orders("open", "paid"), _orders("open", "returned", "paid")
    later = replace(new, name="refunds")
    assert _rows("3.5.0.Final", (old, "open"), (new, "paid"), (later, "returned")) == [
        ("open,paid", "open"),
        ("open,paid", "paid"),
        ("open,paid", "returned"),
    ]


def test_a_label_that_alter_type_renames_is_written_and_not_listed() -> None:
    """As 3.5.0 wrote them after ALTER TYPE ... RENAME VALUE 'void' TO 'dropped'."""
    old, new = _orders("open", "done", "void"), _orders("open", "done", "dropped")
    later = replace(new, name="refunds")
    assert _rows("3.5.0.Final", (old, "void"), (new, "dropped"), (later, "dropped")) == [
        ("open,done,void", "void"),
        ("open,done,void", "dropped"),
        ("open,done,void", "dropped"),
    ]


def test_labels_of_an_enum_that_was_altered_twice_are_those_of_the_first_row() -> None:
    versions = (
        _orders("open", "done", "void"),
        _orders("open", "done", "void", "held"),
        _orders("open", "done", "held", "dropped"),
    )
    allowed = [allowed for allowed, _ in _rows("3.5.0.Final", *((v, "open") for v in versions))]
    assert allowed == ["open,done,void"] * 3


@pytest.mark.parametrize("release", ["2.5.4.Final", "3.5.0.Final"])
@pytest.mark.parametrize(
    "clauses",
    [
        'ALTER COLUMN "state" TYPE "Plan_new" USING ("state"::text::"Plan_new")',
        "alter state set data type plan_new using state::text::plan_new",
        "DROP COLUMN state, ADD COLUMN state plan_new",
    ],
)
def test_a_column_that_gets_another_enum_has_its_labels(release: str, clauses: str) -> None:
    """As 2.5.4 and 3.5.0 wrote them after the usual replacing of an enum by one without a label."""
    old, new = _orders("free", "pro", "legacy"), _orders("free", "pro", "enterprise")
    events: tuple[Event, ...] = (
        boundaries.insert(old, {"id": 1, "state": "pro"}),
        SchemaChange(
            boundaries.START,
            "modify column",
            f"ALTER TABLE orders {clauses}",
            "audit",
            "orders",
            old,
            new,
        ),
        boundaries.insert(new, {"id": 1, "state": "enterprise"}),
    )
    records = write(History(events), FORMAT.build(release, "postgresql"), Layout("cdc"))
    fields = json.loads(records[-1].message.value or b"")["schema"]["fields"][1]["fields"]
    assert fields[1]["parameters"]["allowed"] == "free,pro,enterprise"


def test_a_renamed_table_and_column_keep_the_labels_that_the_connector_knows() -> None:
    old, new = _orders("open", "done"), _orders("open", "done", "void")
    key, state = new.columns
    renamed = replace(new, name="sales", columns=(key, replace(state, name="phase")))
    rename = boundaries.START, "rename", "ALTER TABLE orders RENAME state TO phase", "audit"
    events: tuple[Event, ...] = (
        boundaries.insert(old, {"id": 1, "state": "open"}),
        SchemaChange(*rename, "orders", new, replace(renamed, name="orders")),
        SchemaChange(
            boundaries.START,
            "rename table",
            "ALTER TABLE orders RENAME TO sales",
            "audit",
            "sales",
            replace(renamed, name="orders"),
            renamed,
            "orders",
        ),
        boundaries.insert(renamed, {"id": 1, "phase": "void"}),
    )
    records = write(History(events), FORMAT.build("3.5.0.Final", "postgresql"), Layout("cdc"))
    fields = json.loads(records[-1].message.value or b"")["schema"]["fields"][1]["fields"]
    assert (fields[1]["field"], fields[1]["parameters"]["allowed"]) == ("phase", "open,done")


def test_labels_that_were_added_and_one_renamed_before_the_next_row_are_not_listed() -> None:
    """As 3.5.0 and 3.6.1 wrote them after two ADD VALUE and a RENAME VALUE in a row."""
    old = _orders("OPEN", "BLOCKED", "CLOSED")
    new = _orders("OPEN", "BLOCKED", "FROZEN", "DORMANT", "TERMINATED")
    assert _rows("3.5.0.Final", (old, "OPEN"), (new, "TERMINATED")) == [
        ("OPEN,BLOCKED,CLOSED", "OPEN"),
        ("OPEN,BLOCKED,CLOSED", "TERMINATED"),
    ]


@pytest.mark.parametrize("release", ["2.5.4.Final", "3.5.0.Final", "3.6.1.Final"])
def test_a_default_that_alter_type_renames_keeps_its_name_until_its_table_is_altered(
    release: str,
) -> None:
    """As all three wrote it while ALTER TYPE ... RENAME VALUE 'ok' TO 'fine' went on
    (debezium#added-labels).
    """
    old, new = _orders("ok", "bad"), _orders("bad", "fine")
    old, new = (
        replace(
            table,
            columns=(table.columns[0], replace(table.columns[1], default=Default(text, label))),
        )
        for table, text, label in (
            (old, "'ok'::mood", "ok"),
            (new, "'fine'::mood", "fine"),
        )
    )
    added = replace(new, columns=(*new.columns, Column("z", postgresql.TYPES["integer"])))
    statement = boundaries.START, "add column", "ALTER TABLE orders ADD z int", "audit", "orders"
    events: tuple[Event, ...] = (
        boundaries.insert(old, {"id": 1, "state": None}),
        boundaries.insert(new, {"id": 3, "state": None}),
        boundaries.insert(new, {"id": 5, "state": "fine"}),
        SchemaChange(*statement, new, added),
        boundaries.insert(added, {"id": 4, "state": None, "z": None}),
        boundaries.insert(replace(new, name="refunds"), {"id": 1, "state": None}),
    )
    records = write(History(events), FORMAT.build(release, "postgresql"), Layout("cdc"))
    bodies = [json.loads(record.message.value or b"") for record in records]
    fields = [body["schema"]["fields"][1]["fields"][1] for body in bodies]
    assert [field["parameters"]["allowed"] for field in fields] == ["ok,bad"] * 5
    assert [field["default"] for field in fields] == ["ok", "ok", "ok", "fine", "fine"]
    states = [body["payload"]["after"]["state"] for body in bodies]
    assert states == ["ok", "ok", "fine", "fine", "fine"]


@pytest.mark.parametrize(
    ("release", "read_again"), [("3.6.1.Final", "ok,bad"), ("3.7.0.Final", "ok,bad,new")]
)
def test_a_label_that_is_not_known_makes_3_7_read_the_enum_again(
    release: str, read_again: str
) -> None:
    """debezium#refreshed-labels: as both wrote it while ALTER TYPE ... ADD VALUE 'new' went on."""
    old, new = _orders("ok", "bad"), _orders("ok", "bad", "new")
    m1, m2, m4, m5 = (replace(new, name=name) for name in ("m1", "m2", "m4", "m5"))
    labels = ("bad", "new", "ok")
    met = [boundaries.insert(replace(old, name=name), {"id": 1, "state": "ok"}) for name in MET]
    added = replace(m5, columns=(*m5.columns, Column("z", postgresql.TYPES["integer"])))
    statement = boundaries.START, "add column", "ALTER TABLE m5 ADD z int", "audit", "m5"
    later: tuple[Event, ...] = (
        boundaries.change(
            m1,
            Op.INSERT,
            *((None, {"id": number, "state": label}) for number, label in enumerate(labels)),
        ),
        boundaries.insert(m2, {"id": 3, "state": "new"}),
        boundaries.insert(m4, {"id": 1, "state": "ok"}),
        SchemaChange(*statement, m5, added),
        boundaries.insert(added, {"id": 2, "state": "ok", "z": None}),
    )
    profile = FORMAT.build(release, "postgresql")
    records = write(History((*met, *later)), profile, Layout("cdc"))
    bodies = [json.loads(record.message.value or b"") for record in records]
    allowed = [
        body["schema"]["fields"][1]["fields"][1]["parameters"]["allowed"] for body in bodies[3:]
    ]
    assert allowed == ["ok,bad", read_again, read_again, "ok,bad", read_again, read_again]


@pytest.mark.parametrize("release", ["2.5.4.Final", "3.5.0.Final", "3.6.1.Final", "3.7.0.Final"])
def test_rows_come_under_the_old_name_of_a_schema_until_their_table_is_altered(
    release: str,
) -> None:
    """debezium#renamed-schemas: as the four wrote it while ALTER SCHEMA ... RENAME TO went on."""
    number = postgresql.TYPES["integer"]
    t, u, v = (
        Table("d", name, (Column("id", number, False),), ("id",), schema="s2") for name in NEW
    )
    added = replace(t, columns=(*t.columns, Column("z", number)))
    rename = boundaries.START, "alter schema", 'ALTER SCHEMA s1 RENAME TO "s2"', "d", ""
    add = boundaries.START, "add column", "ALTER TABLE s2.t ADD z int", "d", "t"
    events: tuple[Event, ...] = (
        boundaries.insert(replace(t, schema="s1"), {"id": 1}),
        boundaries.insert(replace(u, schema="s1"), {"id": 1}),
        SchemaChange(*rename),
        boundaries.insert(t, {"id": 2}),
        boundaries.insert(v, {"id": 1}),
        SchemaChange(*add, t, added),
        boundaries.insert(added, {"id": 4, "z": None}),
        boundaries.insert(u, {"id": 2}),
        RowChange(boundaries.START, u, Op.TRUNCATE, ()),
        boundaries.insert(u, {"id": 3}),
    )
    records = write(History(events), FORMAT.build(release, "postgresql"), Layout("cdc"))
    topics = [record.message.topic for record in records]
    assert topics == [
        *("cdc.s1.t", "cdc.s1.u", "cdc.s1.t", "cdc.s2.v", "cdc.s2.t"),
        *("cdc.s1.u", "cdc.s2.u", "cdc.s2.u"),
    ]
    sources = [json.loads(record.message.value or b"")["payload"]["source"] for record in records]
    assert [f"cdc.{source['schema']}.{source['table']}" for source in sources] == topics


NEW = ("t", "u", "v")
MET = ("m1", "m2", "m5")
