"""Tencent DTS JSON against the rules of the vendor's page, an illustrative record made from its
field table, and each contradiction of the page as the writer decides it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from literals import literal
from tables import keyed
from writing import Writing

from generators import model
from generators.families.mysql_texts import cell
from generators.formats.tencent_dts_json import FIELDS, FORMAT, write
from generators.formats.tencent_dts_json.rows import type_number
from generators.model import (
    Column,
    Heartbeat,
    Instant,
    Kind,
    Op,
    Row,
    State,
    Table,
    TransactionMark,
    Value,
    Watermark,
    ZeroDate,
)
from generators.sources import mysql
from generators.sources.boundaries import START, change, insert

PLAIN, SPARSE, OWN_DIGITS, OLDER = FORMAT.profiles
ILLUSTRATED = Table(
    "db",
    "t",
    (Column("id", mysql.integer("int"), nullable=False), Column("b", mysql.binary("blob"))),
    ("id",),
)
ABC = keyed(
    "db.abc", "id", id=mysql.integer("int"), a=mysql.text("varchar", 8), b=mysql.text("varchar", 8)
)


written = Writing(write)
message = written.message
ILLUSTRATION = json.loads(literal("tencent-dts-update.json"))


def test_the_illustrative_record() -> None:
    """The illustrative record leaves out what does not apply; id and gtid are the history's, every
    record here has fakeGtid and tags.
    """
    event = change(
        ILLUSTRATED,
        Op.UPDATE,
        ({"id": 1, "b": None}, {"id": 1, "b": b"\x0f\xff"}),
        at=Instant(1729744496000),
    )
    wired, record = message(replace(PLAIN, absent=True), event)
    assert wired.pop("fakeGtid") is False
    assert wired.pop("tags") is None
    assert wired["gtid"].startswith("c7c98333-6006-11ed-bfc9-b8cef6e1a231:")
    assert {**wired, "id": 16, "gtid": ILLUSTRATION["gtid"]} == ILLUSTRATION
    (row,) = record.changes
    assert (row.keys, row.commit_time_us) == (("id",), 1729744496_000_000)
    assert row.after is not None and row.after["b"].value == b"\x0f\xff"
    assert (record.message.key, record.message.headers) == (None, ())


def test_fields_are_the_documents_in_its_order_and_null_or_absent() -> None:
    """tencent#absent-fields; oldColumns of an INSERT is documented as null, so it is there in
    either style.
    """
    wired, _ = message(PLAIN, insert(ABC, {"id": 1, "a": "x", "b": None}))
    assert tuple(wired) == tuple(name for name in FIELDS if name != "heartbeatTimestamp")
    assert [n for n, v in wired.items() if v is None] == [
        *("transactionId", "oldColumns", "sql", "executionTime", "syncedGtid", "tags")
    ]
    sparse, _ = message(SPARSE, insert(ABC, {"id": 1, "a": "x", "b": None}))
    assert [n for n, v in sparse.items() if v is None] == ["oldColumns", "tags"]
    assert set(sparse) == set(FIELDS) - {
        "transactionId",
        "sql",
        "executionTime",
        "heartbeatTimestamp",
        "syncedGtid",
    }


def test_every_row_of_an_event_is_a_record_at_one_position() -> None:
    rows: list[tuple[Row | None, Row | None]] = [
        (None, {"id": i, "a": "x", "b": None}) for i in (1, 2, 3)
    ]
    records = written(PLAIN, change(ABC, Op.INSERT, *rows))
    assert [c.row for w in records for c in w.changes] == [0, 0, 0]
    assert len({c.position for w in records for c in w.changes}) == 1
    ids = [json.loads(w.message.value or b"")["id"] for w in records]
    assert ids == [ids[0], ids[0] + 1, ids[0] + 2]


def test_a_table_without_primary_key_has_no_pk_names() -> None:
    keyless = replace(ABC, primary_key=())
    for p in FORMAT.profiles:
        wired, record = message(p, insert(keyless, {"id": 1, "a": "x", "b": None}))
        assert "pkNames" not in wired
        assert record.changes[0].keys is None
        assert not any(column["isKey"] for column in wired["columns"])


@pytest.mark.parametrize(
    ("row", "texts"),
    [
        ({"id": 1, "a": "x", "b": None}, ["1", "x"]),
        ({"id": 1, "a": None, "b": None}, ["1"]),
        ({"id": 1, "a": None, "b": "y"}, ["1", None, "y"]),
    ],
)
def test_short_lists_end_after_the_last_value_and_mean_null(
    row: Row, texts: list[str | None]
) -> None:
    """tencent#pairing: a list that is too short reads as null."""
    wired, record = message(SPARSE, insert(ABC, row))
    assert wired["newColumns"] == texts
    image = record.changes[0].after
    assert image is not None
    assert {n: c.text for n, c in image.items()} == {
        n: None if v is None else str(v) for n, v in row.items()
    }
    assert [n for n, c in image.items() if c.cls == "trimmed"] == ["id", "a", "b"][len(texts) :]
    whole, _ = message(PLAIN, insert(ABC, row))
    assert len(whole["newColumns"]) == 3


@pytest.mark.parametrize(
    ("event", "kind", "carries"),
    [
        (
            TransactionMark(START, "BEGIN", "85"),
            Kind.TRANSACTION,
            {"messageType": "BEGIN", "transactionId": None},
        ),
        (
            TransactionMark(START, "COMMIT", "85"),
            Kind.TRANSACTION,
            {"messageType": "COMMIT", "transactionId": "85"},
        ),
        (
            Heartbeat(START),
            Kind.HEARTBEAT,
            {"messageType": "HEARTBEAT", "heartbeatTimestamp": 1_700_000_000, "timestamp": None},
        ),
        (
            Watermark(START),
            Kind.CONTROL,
            {"messageType": "CHECKPOINT", "position": "2196@4", "timestamp": None},
        ),
        (
            model.SchemaChange(START, "drop table", "DROP TABLE t", "db", "t"),
            Kind.DDL,
            {
                "messageType": "DDL",
                "sql": "DROP TABLE t",
                "executionTime": 0,
                "schemaName": "db",
                "tableName": None,
            },
        ),
    ],
)
def test_messages_without_rows(event: model.Event, kind: Kind, carries: dict[str, Any]) -> None:
    """tencent#timestamp, tencent#reader-timestamp: seconds but for readerTimestamp."""
    wired, record = message(PLAIN, event)
    assert {name: wired[name] for name in carries} == carries
    assert (wired["columns"], wired["oldColumns"], wired["newColumns"]) == (None, None, None)
    assert wired["readerTimestamp"] == 1_700_000_000_789
    assert [c.kind for c in record.changes] == [kind]
    assert ("heartbeatTimestamp" in wired) is (kind is Kind.HEARTBEAT)


def test_a_transaction_has_one_gtid_and_one_start() -> None:
    """tencent#safe-position: safePosition is where the transaction begins."""
    rows = [insert(ABC, {"id": i, "a": "x", "b": None}, Instant(START.ms, i)) for i in (1, 2, 3)]
    begin, commit = (TransactionMark(START, mark, "85") for mark in ("BEGIN", "COMMIT"))
    bodies = [
        json.loads(w.message.value or b"")
        for w in written(PLAIN, begin, rows[0], rows[1], commit, rows[2])
    ]
    assert len({wired["gtid"] for wired in bodies[:4]}) == 1
    assert [wired["safePosition"] for wired in bodies] == ["2001@4"] * 4 + ["4001@4"]
    assert bodies[4]["gtid"] != bodies[3]["gtid"]
    assert len({wired["position"] for wired in bodies}) == 5


def test_a_record_that_is_delivered_twice_is_the_same_bytes() -> None:
    """tencent#at-least-once."""
    event = insert(ABC, {"id": 1, "a": "x", "b": None})
    first, again, other = written(PLAIN, event, event, insert(ABC, {"id": 2, "a": "x", "b": None}))
    assert first.message.value == again.message.value != other.message.value
    assert first.changes == again.changes
    assert (first.message.event, again.message.event) == (0, 1)
    assert (
        json.loads(other.message.value or b"")["id"]
        == json.loads(first.message.value or b"")["id"] + 2
    )


@pytest.mark.parametrize(("fsp", "text"), [(0, ""), (2, ".12"), (3, ".123"), (6, ".123")])
def test_a_timestamp_may_have_its_columns_digits(fsp: int, text: str) -> None:
    """tencent#fraction-digits: a consumer accepts none to six."""
    kind = mysql.temporal("timestamp", fsp)
    value = mysql.wall("2024-10-24 04:34:56.123456") // 10 ** (6 - fsp) * 10 ** (6 - fsp)
    assert cell(kind, value, OWN_DIGITS.forms).text == f"2024-10-24 10:04:56{text}"


def test_a_checkpoint_may_be_read_in_three_ways() -> None:
    wired, record = message(PLAIN, Watermark(START))
    assert wired["syncedGtid"].startswith("c7c98333-6006-11ed-bfc9-b8cef6e1a231:1-")
    assert {kind for kind, _ in record.changes[0].accept} == {Kind.WATERMARK, Kind.HEARTBEAT}


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        *((mysql.decimal(2, 1), Decimal("3.0"), "3.0"), (mysql.text("varchar"), "汉", "汉")),
        *(
            (mysql.integer("tinyint"), -128, "-128"),
            (mysql.binary("varbinary", 4), b"\x0f\xff", "0x0fff"),
        ),
        (mysql.binary("blob"), b"", "0x"),
        (
            mysql.temporal("datetime", 6),
            mysql.wall("2024-10-24 12:34:56.123456"),
            "2024-10-24 12:34:56.123456",
        ),
        (mysql.temporal("datetime"), mysql.wall("2024-10-25 12:34:56"), "2024-10-25 12:34:56"),
        (mysql.temporal("time"), 3_723 * mysql.MICROS, "01:02:03"),
        *(
            (mysql.temporal("timestamp"), ZeroDate(), "0000-00-00 00:00:00.000"),
            (mysql.enum_of("a", "b"), 2, "b"),
        ),
        *(
            (mysql.set_of("a", "b", "c"), 6, "b,c"),
            (mysql.bit(8), 200, "200"),
            (mysql.year(), 2024, "2024"),
        ),
    ],
)
def test_value_texts(type: model.SourceType, value: Value, text: str | None) -> None:
    """The page's examples (tencent#datetime-example: the day that the second one loses is kept;
    tencent#binary: whole bytes), and what it does not cover, assumed.
    """
    value_cell = cell(type, value, PLAIN.forms)
    assert (value_cell.text, value_cell.value) == (text, value)


def test_timestamp_is_cut_to_milliseconds_as_the_document_shows() -> None:
    kind = mysql.temporal("timestamp", 6)
    value_cell = cell(kind, mysql.wall("2024-10-24 04:34:56.123456"), PLAIN.forms)
    assert (value_cell.text, value_cell.value) == (
        "2024-10-24 12:34:56.123",
        mysql.wall("2024-10-24 04:34:56.123"),
    )
    assert value_cell.reason
    late = cell(kind, mysql.wall("2024-10-24 04:34:56.999999"), PLAIN.forms)
    assert late.text == "2024-10-24 12:34:56.999"


def test_the_older_editions_timestamp_is_milliseconds() -> None:
    """tencent#timestamp-epoch; 0 is the zero value or the epoch itself."""
    kind = mysql.temporal("timestamp", 3)
    assert cell(kind, 1729744496_123_000, OLDER.forms).text == "1729744496123"
    zero = cell(kind, ZeroDate(), OLDER.forms)
    assert (zero.text, zero.state, zero.options) == ("0", State.ONE_OF, (ZeroDate(), 0))


def test_the_older_editions_datetime_keeps_the_month_before_the_day() -> None:
    """tencent#day-first."""
    assert (
        cell(mysql.temporal("datetime", 3), mysql.wall("2024-03-04 05:06:07.089"), OLDER.forms).text
        == "2024-03-04 05:06:07.089"
    )


def test_time_may_be_padded_and_hex_in_capitals() -> None:
    """tencent#time; the letter case is not covered."""
    kind = mysql.temporal("time", 3)
    assert cell(kind, -1000, SPARSE.forms).text == "-00:00:00.001000"
    assert cell(kind, -1000, PLAIN.forms).text == "-00:00:00.001"
    assert cell(mysql.binary("blob"), b"\xab", SPARSE.forms).text == "0xAB"


def test_index_is_the_current_one_or_the_total_and_tags_differ_by_edition() -> None:
    """tencent#fragments, tencent#tags."""
    event = insert(ABC, {"id": 1, "a": "x", "b": None})
    bodies = [message(p, event)[0] for p in FORMAT.profiles]
    assert [(body["total"], body["index"]) for body in bodies] == [(1, 0), (1, 0), (1, 0), (1, 1)]
    assert message(OLDER, event)[0]["tags"] == {"lowerCaseTableNames": "0"}


def test_source_types_beside_mysql_are_written() -> None:
    """tencent#source-type."""
    types = [message(p, Heartbeat(START))[0]["sourceType"] for p in FORMAT.profiles]
    assert types == ["MySQL", "TDSQL-C MySQL", "MySQL", "MySQL"]


def test_positions_have_the_files_number_without_padding() -> None:
    """tencent#position-number."""
    wired, record = message(
        PLAIN, insert(ABC, {"id": 1, "a": "x", "b": None}, Instant(START.ms, 1))
    )
    assert (wired["fileName"], wired["position"]) == ("mysql-bin.000004", "2196@4")
    wired, record = message(
        PLAIN, insert(ABC, {"id": 1, "a": "x", "b": None}, Instant(START.ms, 1_000_000_000))
    )
    assert (wired["fileName"], wired["position"]) == ("mysql-bin.1000004", "2196@1000004")
    assert record.changes[0].position == "2196@1000004"


def test_type_numbers_have_two_readings() -> None:
    """tencent#type-numbers."""
    kinds = (
        mysql.enum_of("a"),
        mysql.set_of("a"),
        mysql.temporal("datetime"),
        mysql.temporal("timestamp"),
        mysql.integer("int"),
    )
    assert [type_number(kind, True) for kind in kinds] == [254, 254, 18, 17, 3]
    assert [type_number(kind, False) for kind in kinds] == [247, 248, 12, 7, 3]


def test_placement_by_table_or_by_key() -> None:
    """tencent#order; the hash itself is assumed."""
    rows: list[tuple[Row | None, Row | None]] = [
        (None, {"id": i, "a": "x", "b": None}) for i in range(12)
    ]
    assert len({w.message.partition for w in written(PLAIN, change(ABC, Op.INSERT, *rows))}) == 1
    spread = written(SPARSE, change(ABC, Op.INSERT, *rows))
    assert {w.message.partition for w in spread} == {0, 1, 2}
    again = written(SPARSE, *(change(ABC, Op.DELETE, (row, None)) for _, row in rows))
    assert [w.message.partition for w in again] == [w.message.partition for w in spread]
