"""CloudCanal Json against the examples of the vendor's page, made JSON where they are not
(comments, a merged action), and what the page leaves open as the writer decides it.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from literals import literal
from writing import Writing

from generators import model
from generators.families.cloudcanal.messages import type_of
from generators.families.mysql_texts import TextForms, binary_text, cell
from generators.formats.cloudcanal_json import FORMAT, write
from generators.model import (
    Column,
    Instant,
    Kind,
    Op,
    Row,
    SchemaChange,
    SourceType,
    State,
    Table,
    TransactionMark,
    Value,
)
from generators.sources import mysql
from generators.sources.boundaries import START, change, insert

PLAIN, OLDER, DESCRIBED, PARTIAL = FORMAT.profiles
STRING = mysql.text("varchar", 22)
DOCUMENTED = Table(
    "db_test",
    "table_test",
    tuple(Column(c, STRING) for c in ("col1", "col2", "col_pk")),
    ("col_pk",),
)
ELEVEN: Row = {"col1": "11", "col2": "11", "col_pk": "11"}
TWENTY_TWO: Row = {"col1": "22", "col2": "22", "col_pk": "22"}
AT = Instant(1669789152000, 1)
written = Writing(write)
message = written.message

NEW = '[{"col1":"11","col2":"11","col_pk":"11"}]'
OLD = '[{"col1":"22","col2":"22","col_pk":"22"}]'
DML = literal("cloudcanal-row.txt")
DDL = literal("cloudcanal-ddl.json")


def alter() -> SchemaChange:
    """The document's DDL."""
    sql = "alter table table_test add col2 varchar(22) null"
    before = replace(DOCUMENTED, columns=(DOCUMENTED.columns[0], DOCUMENTED.columns[2]))
    return SchemaChange(
        Instant(1669789188000), "add column", sql, "db_test", "table_test", before, DOCUMENTED
    )


@pytest.mark.parametrize(
    ("op", "pair", "before", "data"),
    [
        (Op.INSERT, (None, ELEVEN), "[]", NEW),
        (Op.UPDATE, (TWENTY_TWO, ELEVEN), OLD, NEW),
        (Op.DELETE, (ELEVEN, None), "[]", NEW),
    ],
)
def test_the_documents_row_message(
    op: Op, pair: tuple[Row | None, Row | None], before: str, data: str
) -> None:
    """The example's action is one of three words, its comments are left out; pks is [] although
    there is a key.
    """
    (record,) = written(PLAIN, change(DOCUMENTED, op, pair, at=AT))
    text = DML.replace("ACTION", op.value).replace("BEFORE", before).replace("DATA", data, 1)
    assert (record.message.value or b"").decode() == text
    assert (record.message.key, record.message.headers) == (None, ())
    (row,) = record.changes
    assert (row.schema, row.commit_time_us) == ("db_test", 1669789152000_000)


def test_the_documents_ddl_message() -> None:
    """One object in tableChanges, positions from 0; the type maps hold the new column; entryType is
    ROWDATA.
    """
    (record,) = written(PLAIN, alter())
    assert (record.message.value or b"").decode() == DDL.replace(
        "1669789189533", "1669789189377"
    )  # the time of sending


def test_the_older_edition_has_ddl_and_so_alphabetical_keys() -> None:
    """cloudcanal#ddl-key."""
    for event, flag in ((insert(DOCUMENTED, ELEVEN, AT), False), (alter(), True)):
        older, _ = message(OLDER, event)
        newer, _ = message(PLAIN, event)
        assert older["ddl"] is newer["isDdl"] is flag
        assert "isDdl" not in older
        assert list(older) == sorted(older)
        assert list(newer) != sorted(newer)


def test_pks_and_bid_as_the_field_table_describes_them() -> None:
    """cloudcanal#keys and cloudcanal#bid; a DDL's pks stays empty, as its example shows."""
    keyed = replace(DOCUMENTED, primary_key=("col_pk", "col1"))
    first, second = written(DESCRIBED, insert(keyed, ELEVEN), insert(keyed, TWENTY_TWO))
    bids = [json.loads(w.message.value or b"")["bid"] for w in (first, second)]
    assert bids[0] > 0 and bids[1] == bids[0] + 1
    assert [w.changes[0].position for w in (first, second)] == [str(bid) for bid in bids]
    assert first.changes[0].keys == ("col_pk", "col1")
    assert json.loads(first.message.value or b"")["pks"] == ["col_pk", "col1"]
    wired, record = message(DESCRIBED, alter())
    assert wired["pks"] == [] and record.changes[0].keys == ()


def test_a_deleted_row_stands_in_data_or_by_the_other_reading_in_before() -> None:
    rows = ((ELEVEN, None), (TWENTY_TWO, None))
    for p, data, before in ((PLAIN, 2, 0), (DESCRIBED, 0, 2), (PARTIAL, 2, 2)):
        wired, record = message(p, change(DOCUMENTED, Op.DELETE, *rows))
        assert (len(wired["data"]), len(wired["before"])) == (data, before)
        assert [c.after for c in record.changes] == [None, None]
        assert [c.before["col1"].text for c in record.changes if c.before] == ["11", "22"]


CONSUMED = literal("cloudcanal-consumed.json")


def test_the_message_that_the_vendor_consumed() -> None:
    """cloudcanal#ddl-key, but for the time of sending."""
    table = Table("alltype_mysql", "aaa", tuple(Column(c, mysql.integer("int")) for c in "abc"))
    sql = "alter table aaa add c int null"
    (record,) = written(
        OLDER,
        SchemaChange(
            Instant(1669880624000), "add column", sql, "alltype_mysql", "aaa", None, table
        ),
    )
    assert (record.message.value or b"").decode() == CONSUMED


@pytest.mark.parametrize(
    ("type", "text"),
    [
        *(
            (mysql.integer("bigint", unsigned=True), "bigint unsigned"),
            (mysql.TYPES["bool"], "tinyint(1)"),
        ),
        *(
            (mysql.TYPES["int-zerofill"], "int(10) unsigned zerofill"),
            (mysql.decimal(10, 2), "decimal(10,2)"),
        ),
    ],
)
def test_mysql_8_shows_no_width_of_integers(type: SourceType, text: str) -> None:
    assert type_of(type, OLDER) == text


def test_a_schema_need_not_be_the_database() -> None:
    wired, record = message(PLAIN, insert(replace(DOCUMENTED, schema="other"), ELEVEN))
    assert (wired["db"], wired["schema"]) == ("db_test", "other")
    assert [(c.database, c.schema) for c in record.changes] == [("db_test", "other")]


def test_a_commit_is_a_transaction_end_without_rows() -> None:
    """Documented as an entryType, without an example."""
    events = (
        TransactionMark(START, "BEGIN", "7"),
        insert(DOCUMENTED, ELEVEN),
        TransactionMark(START, "COMMIT", "7"),
    )
    _, end = written(PLAIN, *events)
    wired = json.loads(end.message.value or b"")
    assert (wired["entryType"], wired["data"], wired["before"], wired["table"]) == (
        "TRANSACTIONEND",
        [],
        [],
        None,
    )
    assert [c.kind for c in end.changes] == [Kind.TRANSACTION]


def test_statements_without_a_table_of_their_own_are_not_sent() -> None:
    assert written(PLAIN, SchemaChange(START, "create database", "CREATE DATABASE d", "d")) == []


def test_times_are_milliseconds_and_the_commit_time_ends_in_seconds() -> None:
    wired, record = message(PLAIN, insert(DOCUMENTED, ELEVEN, Instant(1669789152987)))
    assert (wired["execTs"], wired["sendTs"]) == (1669789152000, 1669789154364)
    assert record.changes[0].commit_time_us == 1669789152_000_000


FORMS = TextForms("America/New_York", "hex", labels=True)


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        (mysql.integer("bigint", unsigned=True), (1 << 64) - 1, "18446744073709551615"),
        (mysql.decimal(10, 2), mysql.boundary_values("decimal-10-2")["integral"], "123.00"),
        *(
            (mysql.real("double"), 1e7, "1.0E7"),
            (mysql.bit(8), 173, "173"),
            (mysql.enum_of("a", "b"), 2, "b"),
        ),
        *((mysql.set_of("a", "b", "c"), 5, "a,c"), (mysql.set_of("a"), 0, "")),
        (mysql.binary("varbinary", 4), b"\x00\xff", "00ff"),
        (mysql.temporal("timestamp"), mysql.wall("2024-06-15 12:34:56"), "2024-06-15 08:34:56"),
        (mysql.temporal("datetime", 3), model.ZeroDate(), "0000-00-00 00:00:00.000"),
        *((mysql.temporal("time"), -mysql.MICROS, "-00:00:01"), (mysql.year(), 0, "0000")),
    ],
)
def test_value_texts_are_mysqls_own(type: SourceType, value: Value, text: str) -> None:
    """Assumed: the document shows strings alone."""
    value_cell = cell(type, value, FORMS)
    assert (value_cell.text, value_cell.value) == (text, value)
    assert value_cell.state is State.VALUE


@pytest.mark.parametrize(
    ("form", "text"), [("", "\x00a\xff"), ("hex", "0061ff"), ("base64", "AGH/"), ("0x", "0x0061ff")]
)
def test_binary_forms(form: str, text: str) -> None:
    assert binary_text(b"\x00a\xff", form) == text


@pytest.mark.parametrize(
    ("type", "value", "options"),
    [
        *(
            (mysql.bit(8), 11, (11, 3)),
            (mysql.bit(8), 101, (101, 5)),
            (mysql.enum_of("2", "1", "x"), 1, (1, 2)),
        ),
        *((mysql.enum_of("x", ""), 0, (0, 2)), (mysql.set_of("4", "x", "1"), 4, (1, 4))),
        (
            mysql.temporal("timestamp"),
            mysql.wall("2024-11-03 05:30:00"),
            (1730611800000000, 1730615400000000),
        ),
    ],
)
def test_texts_that_say_two_things_allow_both(
    type: SourceType, value: Value, options: tuple[Value, ...]
) -> None:
    value_cell = cell(type, value, FORMS)
    assert (value_cell.state, value_cell.options) == (State.ONE_OF, options)
    assert value_cell.reason


@pytest.mark.parametrize(
    ("type", "value"),
    [(mysql.bit(1), 1), (mysql.bit(2), 2), (mysql.bit(8), 222), (mysql.bit(3), 0)],
)
def test_bits_that_say_one_thing_are_certain(type: SourceType, value: Value) -> None:
    assert cell(type, value, FORMS).state is State.VALUE
