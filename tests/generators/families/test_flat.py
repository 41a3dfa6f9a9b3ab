"""Messages of a table of members: literal texts, and what is owed for them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from generators.families.flat import OLD, ROW, Flat
from generators.families.mysql_texts import TextForms
from generators.families.wire_messages import ABSENT
from generators.model import (
    Cell,
    Column,
    Heartbeat,
    History,
    Instant,
    Layout,
    Logical,
    Op,
    State,
    Table,
)
from generators.sources import boundaries, mysql

TABLE = Table(
    "db",
    't"',
    (
        Column("id", mysql.integer("int")),
        Column("d", mysql.decimal(4, 2)),
        Column("é", mysql.text()),
    ),
    ("id",),
)
ROW_1, ROW_2 = {"id": 1, "d": Decimal("1.50"), "é": None}, {"id": 1, "d": Decimal("1.50"), "é": "x"}
AT = Instant(1_700_000_000_987, 1)
HISTORY = History(
    (
        *(Heartbeat(AT), boundaries.change(TABLE, Op.INSERT, (None, ROW_1), at=AT)),
        *(
            boundaries.change(TABLE, Op.UPDATE, (ROW_1, ROW_2), at=AT),
            boundaries.change(TABLE, Op.READ, (None, ROW_1), at=AT),
        ),
        boundaries.change(TABLE, Op.DELETE, (ROW_2, None), at=AT),
    )
)
FLAT = Flat(
    members=(
        *(
            ("op", lambda event, _: event.op),
            ("late", lambda event, _: True if event.op is Op.DELETE else ABSENT),
        ),
        *(("t", lambda event, _: event.table.name), ("row", ROW), ("old", OLD)),
    ),
    forms=TextForms("UTC"),
    more_fields=lambda event: {"database": event.table.database},
    time_unit_ms=1000,
    numbers=frozenset({Logical.INT, Logical.DECIMAL}),
)


def texts(flat: Flat) -> list[str]:
    return [(sent.message.value or b"").decode() for sent in flat.write(HISTORY, Layout())]


def test_members_stand_in_their_order_and_numbers_are_numbers() -> None:
    assert texts(FLAT) == [
        '{"op":"INSERT","t":"t\\"","row":{"id":1,"d":1.50,"é":null}}',
        '{"op":"UPDATE","t":"t\\"","row":{"id":1,"d":1.50,"é":"x"},"old":{"é":null}}',
        '{"op":"DELETE","late":true,"t":"t\\"","row":{"id":1,"d":1.50,"é":"x"}}',
    ]


def test_a_number_has_no_zeros_before_it() -> None:
    table = Table("db", "t", (Column("y", mysql.TYPES["year"]),))
    flat = replace(FLAT, members=(("row", ROW),), numbers=frozenset({Logical.YEAR}))
    (sent,) = flat.write(
        History((boundaries.change(table, Op.INSERT, (None, {"y": 0})),)), Layout()
    )
    assert sent.message.value == b'{"row":{"y":0}}'
    assert sent.changes[0].after == {
        "y": Cell(State.VALUE, mysql.TYPES["year"], 0, "0", "zero", json=True)
    }


def test_values_are_texts_and_old_may_be_whole() -> None:
    written = texts(replace(FLAT, numbers=frozenset(), complete_before=True))
    assert (
        written[1]
        == '{"op":"UPDATE","t":"t\\"","row":{"id":"1","d":"1.50","é":"x"},"old":{"id":"1","d":"1.50","é":null}}'
    )


def test_what_is_owed() -> None:
    insert, update, delete = (
        change for sent in FLAT.write(HISTORY, Layout()) for change in sent.changes
    )
    assert insert.after is not None and insert.before is None
    assert insert.after["d"] == Cell(
        State.VALUE, mysql.decimal(4, 2), Decimal("1.50"), "1.50", insert.after["d"].cls, json=True
    )
    assert (insert.database, insert.table, insert.commit_time_us) == (
        "db",
        None,
        1_700_000_000_000_000,
    )
    assert update.before is not None and update.full_before is not None
    assert [cell.state for cell in update.before.values()] == [
        State.ABSENT,
        State.ABSENT,
        State.NULL,
    ]
    assert [cell.value for cell in update.full_before.values()] == [1, Decimal("1.50"), None]
    assert delete.before is not None and delete.after is None
    assert [
        (sent.message.event, sent.message.timestamp_ms) for sent in FLAT.write(HISTORY, Layout())
    ] == [(n, 1_700_000_002_716) for n in (1, 2, 4)]
