"""CloudCanal's Canal Json against the examples of the vendor's page, made JSON where they are not
(comments, a merged type), and its deviations from Canal.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from literals import literal
from writing import Writing

from generators.formats.cloudcanal_canal_json import FORMAT, CanalJsonProfile, write
from generators.model import (
    Column,
    History,
    Instant,
    Layout,
    Op,
    Row,
    SchemaChange,
    State,
    Table,
    TransactionMark,
)
from generators.sources import mysql
from generators.sources.boundaries import START, change, insert

PLAIN, NULL_OLD, WITHOUT_OLD, PARTIAL = FORMAT.profiles
STRING = mysql.text("varchar", 22)
DOCUMENTED = Table(
    "db_test",
    "table_test",
    tuple(Column(c, STRING) for c in ("col1", "col2", "col_pk")),
    ("col_pk",),
)
ELEVEN: Row = {"col1": "11", "col2": "11", "col_pk": "11"}
TWENTY_TWO: Row = {"col1": "22", "col2": "22", "col_pk": "22"}

written = Writing(write)
message = written.message
UPDATE = literal("cloudcanal-canal-update.json")
DDL = literal("cloudcanal-canal-ddl.json")


def alter() -> SchemaChange:
    """The document's DDL."""
    sql = "alter table table_test add col2 varchar(22) null"
    before = replace(DOCUMENTED, columns=(DOCUMENTED.columns[0], DOCUMENTED.columns[2]))
    return SchemaChange(
        Instant(1669790951000), "add column", sql, "db_test", "table_test", before, DOCUMENTED
    )


def test_the_documents_row_message() -> None:
    """The example runs three types together and has comments. old is a whole row, the key in it."""
    event = change(DOCUMENTED, Op.UPDATE, (TWENTY_TWO, ELEVEN), at=Instant(1669790847000))
    (record,) = written(PLAIN, event)
    assert (record.message.value or b"").decode() == UPDATE.replace(
        "1669790848072", "1669790848377"
    )  # the time of sending
    assert [(row.schema, row.commit_time_us) for row in record.changes] == [
        (None, 1669790847_000_000)
    ]


def test_the_documents_ddl_message() -> None:
    """[] and whole type maps where Canal has null; tableChanges is one object."""
    (record,) = written(PLAIN, alter())
    assert (record.message.value or b"").decode() == DDL.replace(
        "1669790952584", "1669790952377"
    )  # the time of sending


@pytest.mark.parametrize(("p", "old"), [(PLAIN, []), (NULL_OLD, None), (WITHOUT_OLD, "absent")])
def test_old_of_insert_and_delete_has_three_readings(p: CanalJsonProfile, old: Any) -> None:
    """canal.md 5: not stated."""
    for event in (insert(DOCUMENTED, ELEVEN), change(DOCUMENTED, Op.DELETE, (ELEVEN, None))):
        wired, record = message(p, event)
        assert wired.get("old", "absent") == old
        assert wired["data"] == [ELEVEN]
        (row,) = record.changes
        assert (row.before is None, row.after is None) == (
            (True, False) if row.op is Op.INSERT else (False, True)
        )


def test_a_partial_old_row_is_filled_from_data_at_level_two() -> None:
    changed = {**ELEVEN, "col2": "22"}
    wired, record = message(
        PARTIAL, change(DOCUMENTED, Op.UPDATE, (ELEVEN, changed), (ELEVEN, ELEVEN))
    )
    assert wired["old"] == [{"col2": "11"}, {}]
    first, second = record.changes
    assert first.before is not None and first.full_before is not None
    assert [c.state for c in first.before.values()] == [State.ABSENT, State.VALUE, State.ABSENT]
    assert [(c.text, c.cls) for c in first.full_before.values()] == [
        ("11", "left-out"),
        ("11", "plain"),
        ("11", "left-out"),
    ]
    assert [c.state for c in (second.before or {}).values()] == [State.ABSENT] * 3


def test_a_deleted_row_may_stand_in_both_lists() -> None:
    wired, record = message(PARTIAL, change(DOCUMENTED, Op.DELETE, (ELEVEN, None)))
    assert (wired["data"], wired["old"]) == ([ELEVEN], [ELEVEN])
    assert [(c.before is None, c.after is None) for c in record.changes] == [(False, True)]


def test_es_may_have_milliseconds() -> None:
    for p, es in ((PLAIN, 1669790847000), (PARTIAL, 1669790847987)):
        wired, record = message(p, insert(DOCUMENTED, ELEVEN, Instant(1669790847987)))
        assert wired["es"] == es
        assert [c.commit_time_us for c in record.changes] == [es * 1000]


def test_ddl_goes_to_partition_0() -> None:
    """cloudcanal#ddl-partition."""
    partitions = [
        write(History((alter(),)), p, Layout("topic", 64))[0].message.partition
        for p in FORMAT.profiles
    ]
    assert partitions == [0] * len(FORMAT.profiles)
    assert (
        write(History((insert(DOCUMENTED, ELEVEN),)), PLAIN, Layout("topic", 64))[
            0
        ].message.partition
        != 0
    )


def test_there_is_no_gtid_and_keys_are_alphabetical() -> None:
    for p in FORMAT.profiles:
        for event in (insert(DOCUMENTED, ELEVEN), alter()):
            wired, _ = message(p, event)
            assert "gtid" not in wired
            assert list(wired) == sorted(wired)
            assert ("tableChanges" in wired) is wired["isDdl"]


def test_ids_are_0_or_numbered() -> None:
    """cloudcanal#canal-id."""
    for p, numbered in ((PLAIN, False), (WITHOUT_OLD, True)):
        records = written(p, insert(DOCUMENTED, ELEVEN), insert(DOCUMENTED, TWENTY_TWO))
        ids = [json.loads(w.message.value or b"")["id"] for w in records]
        assert (ids[1] - ids[0], ids[0] > 0) == ((1, True) if numbered else (0, False))
        assert [c.position for w in records for c in w.changes] == [str(i) for i in ids]


def test_values_are_those_of_canal() -> None:
    """Assumed: the format is offered for readers of Canal."""
    columns = (
        *(Column("e", mysql.enum_of("a", "b")), Column("s", mysql.set_of("a", "b", "c"))),
        *(Column("v", mysql.binary("varbinary", 8)), Column("n", mysql.integer("int"))),
    )
    wired, _ = message(
        PLAIN, insert(Table("d", "t", columns), {"e": 2, "s": 5, "v": b"\x00\xff", "n": None})
    )
    assert wired["data"] == [{"e": "2", "s": "5", "v": "\x00ÿ", "n": None}]
    assert wired["sqlType"] == {"e": 4, "s": -7, "v": 2004, "n": 4}
    assert wired["pkNames"] == []


def test_marks_and_statements_on_databases_have_no_message() -> None:
    assert written(PLAIN, TransactionMark(START, "COMMIT", "1")) == []
    assert written(PLAIN, SchemaChange(START, "drop database", "DROP DATABASE d", "d")) == []
