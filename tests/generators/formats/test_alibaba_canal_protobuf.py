"""alibaba-canal-protobuf's writer writes the bytes of Canal's own classes.

The packets below were built with the setters that LogEventConvert calls, on the classes of
canal.protocol 1.1.8 and protobuf-java 3.6.1, and serialized by CanalMessageSerializerUtil of
connector.core 1.1.7.
"""

from __future__ import annotations

from typing import Any

import pytest
from literals import literal

from conformance.rules.rules import rules
from conformance.rules.sources import pages
from generators.families.protobuf import NotProtobuf
from generators.formats.alibaba_canal_protobuf import FORMAT, write
from generators.formats.alibaba_canal_protobuf.messages import (
    packet_bytes,
    read_packet,
    remains_of_value,
)
from generators.garbage.wellformed import State
from generators.model import Column, History, Kind, Layout, Op, Row, Table, Written
from generators.sources import boundaries, mysql
from generators.sources.boundaries import change

TABLE = Table("db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text())), ("id",))
EMPTY: Row = {"id": 1, "a": ""}
NONE: Row = {"id": 1, "a": None}
HISTORY = History(
    (
        change(TABLE, Op.INSERT, (None, EMPTY)),
        change(TABLE, Op.UPDATE, (EMPTY, NONE)),
        change(TABLE, Op.DELETE, (NONE, None)),
    )
)
CANAL_PACKETS = literal("alibaba-canal-packets.hex").split()
"""The INSERT of an empty text, its UPDATE to NULL and the DELETE, in hex, without marks."""
PARSED_CANAL_PACKET = literal("alibaba-canal-packet-of-parsed-entries.hex")
"""The INSERT from a batch that keeps no bytes, with the marks of its transaction."""


def written(profile: str, history: History = HISTORY, partitions: int = 1) -> list[Written]:
    return write(history, FORMAT.profile(profile), Layout(partitions=partitions))


def values(profile: str) -> list[str]:
    return [(record.message.value or b"").hex() for record in written(profile)]


def test_packets_are_the_bytes_of_canal_s_classes() -> None:
    assert values("1.1.7+filtered") == CANAL_PACKETS
    assert values("1.1.7+parsed")[0] == PARSED_CANAL_PACKET


def columns(profile: str, event: int, side: str) -> list[dict[str, Any]]:
    document = read_packet(written(profile)[event].message.value or b"")
    (entry,) = document["body"]["messages"]
    (row,) = entry["storeValue"]["rowDatas"]
    found: list[dict[str, Any]] = row.get(side, [])
    return found


def test_an_empty_text_has_no_bytes_and_null_has_no_value() -> None:
    empty, null = (
        columns("1.1.7+filtered", 1, "beforeColumns"),
        columns("1.1.7+filtered", 1, "afterColumns"),
    )
    assert (empty[1]["isNull"], empty[1]["value"]) == (False, "")
    assert (null[1]["isNull"], null[1].get("value")) == (True, None)


def test_updated_marks_what_changed_and_of_an_insert_every_column() -> None:
    updated = [
        [column["updated"] for column in columns("1.1.7+filtered", event, "afterColumns")]
        for event in (0, 1, 2)
    ]
    assert updated == [[True, True], [False, True], []]


@pytest.mark.parametrize(
    ("profile", "version", "batch", "types"),
    [
        ("1.1.4", 1, False, ["TRANSACTIONBEGIN", "ROWDATA", "TRANSACTIONEND"]),
        ("1.1.5", None, True, ["TRANSACTIONBEGIN", "ROWDATA", "TRANSACTIONEND"]),
        ("1.1.8+parsed", 1, False, ["TRANSACTIONBEGIN", "ROWDATA", "TRANSACTIONEND"]),
        ("1.1.8+filtered", None, True, ["ROWDATA"]),
        ("1.1.8+table-hash", 1, False, ["ROWDATA"]),
        ("1.1.8+dynamic-topic", 1, False, ["ROWDATA"]),
    ],
)
def test_a_packet_of_kept_bytes_has_a_number_and_another_one_a_version(
    profile: str, version: int | None, batch: bool, types: list[str]
) -> None:
    document = read_packet(written(profile)[0].message.value or b"")
    body = document["body"]
    assert (document.get("version"), "batch_id" in body) == (version, batch)
    assert [entry["entryType"] for entry in body["messages"]] == types


def test_rows_that_are_spread_have_an_entry_each() -> None:
    rows: list[tuple[None, Row]] = [(None, {"id": number, "a": "x"}) for number in range(6)]
    spread = written("1.1.8+pk-hash", History((change(TABLE, Op.INSERT, *rows),)), 2)
    counts = [
        [len(entry["storeValue"]["rowDatas"]) for entry in document["body"]["messages"]]
        for record in spread
        if (document := read_packet(record.message.value or b""))
    ]
    assert [record.message.partition for record in spread] == [0, 1]
    assert counts == [[1] * len(record.changes) for record in spread]
    assert sum(map(len, counts)) == 6


def test_the_marks_are_numbered_behind_the_rows() -> None:
    changes = written("1.1.8")[0].changes
    assert [(c.row, c.kind) for c in changes] == [
        (0, Kind.ROW),
        (1, Kind.TRANSACTION),
        (2, Kind.TRANSACTION),
    ]


def test_a_packet_is_read_and_written_again() -> None:
    for value in map(bytes.fromhex, (*CANAL_PACKETS, PARSED_CANAL_PACKET)):
        assert packet_bytes(read_packet(value)) == value


@pytest.mark.parametrize(
    ("value", "state", "reason"),
    [
        (bytes.fromhex(CANAL_PACKETS[0]), State.READABLE, ""),
        (bytes.fromhex(CANAL_PACKETS[0])[:-1], State.UNREADABLE, "truncated"),
        (bytes.fromhex(CANAL_PACKETS[0]) + b"\xff", State.UNREADABLE, "truncated"),
        (b"\x00" + bytes.fromhex(CANAL_PACKETS[0]), State.UNREADABLE, "syntax"),
        (bytes.fromhex(CANAL_PACKETS[0]) * 2, State.DOUBTFUL, "duplicate-key"),
        (bytes.fromhex(CANAL_PACKETS[0]) + b"\x98\x06\x01", State.DOUBTFUL, "unknown-field"),
        (b"\x18\x03", State.DOUBTFUL, "no-such-message"),
        (b"\x18\x07", State.DOUBTFUL, "no-such-message"),
        (b"", State.UNREADABLE, "empty"),
        (None, State.DOUBTFUL, "null"),
    ],
)
def test_what_is_left_of_a_value(value: bytes | None, state: State, reason: str) -> None:
    remains = remains_of_value(value)
    assert (remains.state, remains.reason) == (state, reason)


def test_another_packet_is_refused() -> None:
    with pytest.raises(NotProtobuf, match="no-such-message"):
        read_packet(b"\x18\x03")


def test_every_fact_is_cited() -> None:
    cited = {citation.where for rule in rules(FORMAT.name) for citation in rule.citations}
    facts = [fact.id for fact in pages()["canal-protobuf"].facts.values()]
    assert [fact for fact in facts if fact not in cited] == []
    assert len(facts) > 10


def test_the_first_event_of_a_table_without_a_key_has_no_key() -> None:
    keyless = boundaries.keyless()
    row = dict.fromkeys(column.name for column in keyless.columns)
    (record,) = written("1.1.8", History((change(keyless, Op.INSERT, (None, row)),)))
    assert record.changes[0].keys is None


def test_a_key_that_a_columns_definition_no_longer_says_is_lost() -> None:
    """As in Canal's flat messages (canal#dropped-key)."""
    column = Column("id", mysql.integer("int"), inline_primary=False)
    table = Table("d", "t", (column,), ("id",))
    (record,) = written("1.1.7", History((change(table, Op.INSERT, (None, {"id": 1})),)))
    assert record.changes[0].keys is None
