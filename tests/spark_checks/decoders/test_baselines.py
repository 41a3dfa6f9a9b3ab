"""Each format has a baseline, which reads a plain message of that format: op, place, images, typed
cells.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from conformance.load.bench import baseline, plain_profile
from generators.model import Column, Deployment, History, Kind, Layout, Message, Op, State, Table
from generators.sources import boundaries, mysql
from generators.sources.databases import source
from generators.wire_format import FORMATS, get
from spark_checks.services.engine import load

TABLE = Table(
    "db",
    "t",
    (
        Column("id", mysql.integer("int")),
        Column("a", mysql.decimal(5, 2)),
        Column("b", mysql.text()),
    ),
    ("id",),
)
OLD, NEW = {"id": "1", "a": "0.50", "b": None}, {"id": "1", "a": "1.25", "b": "y"}


def _connect(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"schema": {"type": "struct", "fields": []}, "payload": payload}


_ENVELOPE = _connect(
    {
        "before": OLD,
        "after": NEW,
        "source": {"db": "db", "schema": "s", "table": "t", "ts_ms": 1},
        "op": "u",
    }
)


@pytest.mark.parametrize("name", FORMATS)
def test_a_baseline_reads_an_update_as_its_format_s_writer_writes_it(records, name):
    fmt = get(name)
    profile = plain_profile(fmt)
    origin = source(profile.source)
    key = origin.key_name
    columns = (Column(key, origin.key, nullable=False), Column("s", origin.string))
    table = Table("db", "t", columns, (key,), schema=origin.schema)
    change = boundaries.change(table, Op.UPDATE, ({key: 7, "s": "was"}, {key: 7, "s": "is"}))
    *_, written = (  # Flink writes the DELETE of the old row before the INSERT of the new one
        w
        for w in fmt.write(History((change,)), profile, Layout())
        if any(c.kind is Kind.ROW for c in w.changes)
    )
    (owed,) = (change for change in written.changes if change.kind is Kind.ROW)
    frame = records((written.message.key, written.message.value))
    decoder = load(baseline(name, written.message))
    changes, typed = (decoder(level, frame, table, Deployment()) for level in (1, 2))
    shown = changes.where("kind = 'ROW'").selectExpr(
        "kind", "op", f"after['{key}']", "after['s']", "before['s']", f"typeof(after['{key}'])"
    )
    both = shown.union(
        typed.selectExpr(
            *("kind", "op", f"string(after.{key})", "after.s", "before.s", f"typeof(after.{key})")
        )
    ).collect()
    was = "was" if owed.before and owed.before["s"].state is State.VALUE else None
    assert owed.after is not None
    owed_text = (owed.after[key].text or "").replace(": ", ":")
    # A document's number says its type, too.
    key_text = owed_text if profile.source == "mongodb" else "7"
    assert {tuple(row) for row in both} == {
        ("ROW", owed.op, key_text, "is", was, "string"),
        ("ROW", owed.op, "7", "is", was, origin.key.spark),
    }


def _message(value: str) -> Message:
    return Message("cdc", 0, None, value.encode())


def test_a_baseline_reads_every_row_of_a_message_at_both_levels(records):
    rows = {"type": "UPDATE", "database": "db", "table": "t", "old": [OLD] * 2, "data": [NEW] * 2}
    value = json.dumps(rows, separators=(",", ":"))
    decoder, frame = load(baseline("ticdc-canal-json", _message(value))), records(value)
    changes, typed = (
        decoder(1, frame, None, Deployment()).collect(),
        decoder(2, frame, TABLE, Deployment()).collect(),
    )
    assert [r.row for r in changes] == [r.row for r in typed] == [0, 1]
    for change, row in zip(changes, typed, strict=True):
        assert (change.kind, change.op, change.database, change.table) == (
            "ROW",
            "UPDATE",
            "db",
            "t",
        )
        assert (row.kind, row.op, change.before, change.after) == ("ROW", "UPDATE", OLD, NEW)
        assert (tuple(row.before), tuple(row.after)) == (
            (1, Decimal("0.50"), None),
            (1, Decimal("1.25"), "y"),
        )


def test_a_message_without_connects_schema_is_read_by_the_bare_one(records):
    value = json.dumps(_ENVELOPE["payload"], separators=(",", ":"))
    spec = baseline("debezium-json", _message(value))
    assert spec.endswith(".debezium_json:BASELINE.bare")
    (row,) = load(spec)(2, records(value), TABLE, Deployment()).collect()
    assert (row.kind, row.op, row.after.id, row.before.b) == ("ROW", "UPDATE", 1, None)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cloudcanal-debezium", _connect({"ddl": "drop table t", "databaseName": "db"})),
        *(
            ("ticdc-simple-json", {"type": "WATERMARK", "commitTs": 1}),
            ("tencent-dts-json", {"messageType": "BEGIN"}),
        ),
    ],
)
def test_messages_without_a_row_operation_count_as_no_row(records, name, message):
    value = json.dumps(message, separators=(",", ":"))
    decoder = load(baseline(name, _message(value)))
    for level in (1, 2):
        assert (
            decoder(level, records(value), TABLE, Deployment()).where("kind = 'ROW'").count() == 0
        )
