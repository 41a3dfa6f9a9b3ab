"""Maxwell's writer prints what Maxwell's documentation, its own tests and its code print."""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal

import pytest

from generators import model
from generators.formats.maxwell_json import FORMAT, write
from generators.model import (
    Column,
    Default,
    History,
    Instant,
    Json,
    Layout,
    Op,
    SchemaChange,
    SourceType,
    Table,
    Value,
    ZeroDate,
)
from generators.sources import boundaries, mysql

ALL = FORMAT.build("1.45.0", "position", "primary-keys", "ids", "ddl")
COLUMNS = (
    Column("id", mysql.integer("int"), nullable=False),
    Column("m", mysql.TYPES["double"]),
    Column("c", mysql.temporal("timestamp", 6)),
    Column("comment", mysql.text(), charset="latin1", default=Default("")),
)
TABLE = Table("test", "e", COLUMNS, ("id", "c"))
CHANGING = re.compile(r'"xid":\d+|"position":"[^"]+"')
"""Numbers of the transaction and of the binlog, which are the server's."""


def texts(*events: object, of: object = ALL) -> list[str]:
    return [
        (record.message.value or b"").decode() for record in write(History(events), of, Layout())
    ]  # type: ignore[arg-type]


def test_the_documents_row_changes() -> None:
    row = {
        "id": 1,
        "m": 4.2341,
        "c": mysql.wall("2016-10-21 05:33:37.523"),
        "comment": "I am a creature of light.",
    }
    changed = {**row, "m": 5.444, "c": mysql.wall("2016-10-21 05:33:54.631")}
    lines = texts(
        boundaries.insert(TABLE, row, Instant(1477053217000)),
        boundaries.change(TABLE, Op.UPDATE, (row, changed), at=Instant(1477053234000)),
        boundaries.change(TABLE, Op.DELETE, (changed, None)),
    )
    documented = (
        '{"database":"test","table":"e","type":"insert","ts":1477053217,"xid":23396,"commit":true,"position":"master.000006:800911",'
        '"server_id":23042,"thread_id":108,"primary_key":[1,"2016-10-21 05:33:37.523000"],"primary_key_columns":["id","c"],'
        '"data":{"id":1,"m":4.2341,"c":"2016-10-21 05:33:37.523000","comment":"I am a creature of light."}}'
    )
    assert CHANGING.sub("", lines[0]) == CHANGING.sub("", documented)
    assert '"type":"update","ts":1477053234,' in lines[1]
    assert lines[1].endswith(
        '"data":{"id":1,"m":5.444,"c":"2016-10-21 05:33:54.631000","comment":"I am a creature of light."},'
        '"old":{"m":4.2341,"c":"2016-10-21 05:33:37.523000"}}'
    )
    assert lines[2].endswith(
        '"data":{"id":1,"m":5.444,"c":"2016-10-21 05:33:54.631000","comment":"I am a creature of light."}}'
    )


def test_the_documents_bounds_of_a_bootstrap() -> None:
    at = Instant(1450557598000)
    start, end = texts(model.Bootstrap(at, TABLE), model.Bootstrap(at, TABLE, over=True))
    assert (
        start
        == '{"database":"test","table":"e","type":"bootstrap-start","ts":1450557598,"data":{}}'
    )
    assert (
        end
        == '{"database":"test","table":"e","type":"bootstrap-complete","ts":1450557598,"data":{}}'
    )


def test_the_documents_statement() -> None:
    table = Table("test", "e", COLUMNS, ("id",))
    sql = "create table test.e ( id int(10) not null primary key auto_increment, m double, c timestamp(6), "
    sql += "comment varchar(255) charset 'latin1' )"
    messages = texts(
        SchemaChange(Instant(1477053126000), "create table", sql, "test", "e", after=table)
    )
    documented = {
        "type": "table-create",
        "database": "test",
        "table": "e",
        "def": {
            "database": "test",
            "charset": "utf8mb4",
            "table": "e",
            "columns": [
                {"type": "int", "name": "id", "signed": True},
                {"type": "double", "name": "m"},
                {"type": "timestamp", "name": "c", "column-length": 6},
                {"type": "varchar", "name": "comment", "charset": "latin1"},
            ],
            "primary-key": ["id"],
        },
        "ts": 1477053126000,
        "sql": sql,
        "position": "master.000006:800050",
    }
    assert [CHANGING.sub("", text) for text in messages] == [
        CHANGING.sub("", json.dumps(documented, separators=(",", ":")))
    ]


def cell(type: SourceType, value: Value) -> str:
    table = Table("d", "t", (Column("c", type),))
    (text,) = texts(boundaries.insert(table, {"c": value}), of=FORMAT.profiles[0])
    return text.partition('"data":{"c":')[2].removesuffix("}}")


OF_ITS_TESTS: tuple[tuple[SourceType, Value, str], ...] = (
    (mysql.integer("bigint", unsigned=True), 18446744073709551615, "18446744073709551615"),
    (mysql.bit(64), 0b00011, "3"),
    (mysql.bit(64), 409832983, "409832983"),
    (mysql.bit(64), 18446744073709551615, "18446744073709551615"),
    (mysql.bit(24), 0b111000111000111001010110, "14913110"),
    (mysql.binary("blob"), b"\x00\x01\x02\x03", '"AAECAw=="'),
    (mysql.binary("binary", 10), b"\x00\x01\x02\x03" + bytes(6), '"AAECAw=="'),
    (mysql.enum_of("foo", "bar", "baz"), 2, '"bar"'),
    (mysql.set_of("foo", "bar", "baz"), 0b101, '["foo","baz"]'),
    (mysql.set_of("foo", "bar", "baz"), 0, "[]"),
    (mysql.temporal("time", 6), 0, '"00:00:00.000000"'),
    (mysql.temporal("datetime", 3), ZeroDate(), '"0000-00-00 00:00:00.000"'),
    (mysql.temporal("timestamp", 4), ZeroDate(), '"0000-00-00 00:00:00.0000"'),
    (mysql.TYPES["date"], ZeroDate(), '"0000-00-00"'),
    (mysql.temporal("datetime"), ZeroDate(3, 0, 0, mysql.MICROS), '"0000-00-00 00:00:00"'),
    (mysql.temporal("time", 3), mysql.wall("1970-01-01 12:23:33.345"), '"12:23:33.345"'),
    (
        mysql.temporal("timestamp", 4),
        mysql.wall("2012-01-01 22:32:34.1234"),
        '"2012-01-01 22:32:34.1234"',
    ),
)
"""Of src/test/resources/sql/json: test_bignum, test_bit, test_blob, test_enum, test_set, test_time,
test_invalid_time, test_zero_created_at.
"""


OF_A_RUN: tuple[tuple[SourceType, Value, str], ...] = (
    (mysql.decimal(10, 2), Decimal("1.10"), "1.10"),
    (mysql.decimal(20, 10), Decimal(0), "0E-10"),
    (mysql.decimal(20, 10), Decimal("0.0000001"), "1.000E-7"),
    (mysql.bit(32), 1 << 31, "-2147483648"),
    (mysql.bit(32), (1 << 32) - 1, "-1"),
    (mysql.bit(40), 1 << 32, "1"),
    (mysql.bit(40), (1 << 40) - 1, "254"),
    (mysql.bit(64), (1 << 63) - 1, "2147483646"),
    (mysql.bit(64), 1 << 63, "9223372036854775808"),
    (mysql.temporal("time"), -mysql.MICROS, '"23:59:59"'),
    (mysql.temporal("time"), mysql.DAY, '"00:00:00"'),
    (mysql.temporal("time"), (100 * 3600 + 62) * mysql.MICROS, '"04:01:02"'),
    (mysql.temporal("time"), mysql.TIME_LIMIT, '"22:59:59"'),
    (mysql.temporal("time"), -mysql.TIME_LIMIT, '"01:00:01"'),
    (mysql.temporal("time", 6), -1, '"00:00:00.0000-1"'),
    (mysql.temporal("time", 6), -100_000, '"23:59:59.-100000"'),
    (mysql.temporal("time", 6), -1_500_000, '"23:59:58.-500000"'),
    (mysql.temporal("time", 3), -1_000, '"23:59:59.0-1"'),
    (mysql.temporal("time", 1), -100_000, '"23:59:59.-1"'),
    (mysql.enum_of("a", "b"), 0, "null"),
    (mysql.TYPES["float"], 16777216.0, "1.6777216E7"),
    (mysql.TYPES["double"], 5e-324, "4.9E-324"),
    (mysql.TYPES["double"], -0.0, "-0.0"),
    (mysql.year(), 0, "1900"),
    (mysql.json(), Json(None), "null"),
    (
        mysql.text(),
        'a\x01\x7f\u2028<\x1f\U0001f601"/\\',
        '"a\\u0001\x7f\u2028<\\u001F\\uD83D\\uDE01\\"/\\\\"',
    ),
    (mysql.TYPES["date"], dt.date(1970, 1, 1), '"1970-01-01"'),
)
"""What com.zendesk:maxwell:1.22.6 printed (maxwell#decimal and after)."""


@pytest.mark.parametrize(("type", "value", "text"), [*OF_ITS_TESTS, *OF_A_RUN])
def test_a_value_as_maxwell_prints_it(type: SourceType, value: Value, text: str) -> None:
    assert cell(type, value) == text


def test_a_document_is_no_text() -> None:
    document = {"foo": "bar", "baz": [1, 2, 3, {"hello": "inside an array"}], "bar": 123.4321}
    assert json.loads(cell(mysql.json(), Json(document))) == document


def test_old_of_the_products_own_test() -> None:
    table = Table(
        "test_db_1",
        "test_table",
        (Column("id", mysql.integer("bigint")), Column("datecol", mysql.temporal("datetime"))),
    )
    row: dict[str, Value] = {"id": 1, "datecol": mysql.wall("1979-10-01 00:00:00")}
    (text,) = texts(
        boundaries.change(table, Op.UPDATE, ({**row, "datecol": None}, row)), of=FORMAT.profiles[0]
    )
    assert text.endswith('"data":{"id":1,"datecol":"1979-10-01 00:00:00"},"old":{"datecol":null}}')


def test_the_records_key_is_a_document_of_its_own() -> None:
    table = Table("db1", "users", (Column("Id", mysql.integer("int")),), ("Id",))
    (record,) = write(
        History((boundaries.insert(table, {"Id": 123}),)), FORMAT.profiles[0], Layout()
    )
    assert record.message.key == b'{"database":"db1","table":"users","pk.id":123}'
    assert FORMAT.profile("1.45.0") is FORMAT.profiles[0]


def test_of_a_rename_table_and_old_are_the_table_before_and_def_the_one_after() -> None:
    narrow = Table("test", "new_e", COLUMNS[:1], ("id",))
    event = SchemaChange(
        *(Instant(1477053126000), "rename table", "RENAME TABLE test.e TO test.new_e"),
        *("test", "new_e", narrow, narrow, "e"),
    )
    message = json.loads(texts(event)[0])
    assert message["type"] == "table-alter"
    assert (message["table"], message["old"]["table"]) == ("e", "e")
    assert message["def"]["table"] == "new_e"
    (record,) = write(History((event,)), ALL, Layout())
    assert record.changes[0].table == "e"


def test_a_drop_of_two_tables_is_a_message_for_each_with_the_whole_statement() -> None:
    """MysqlParserListener.exitDrop_table, BinlogConnectorReplicator.processQueryEvent."""
    sql = "DROP TABLE `e`,`other`.`f` /* generated by server */"
    event = SchemaChange(Instant(1477053126000), "drop table", sql, "test", "e", TABLE)
    messages = [json.loads(message) for message in texts(event)]
    assert [(m["type"], m["database"], m["table"], m["sql"]) for m in messages] == [
        ("table-drop", "test", "e", sql),
        ("table-drop", "other", "f", sql),
    ]
    assert messages[0]["position"] == messages[1]["position"]


@pytest.mark.parametrize("options", [(), ("primary-keys",)])
def test_a_decoder_may_take_the_keys_from_the_record_s_key(options: tuple[str, ...]) -> None:
    loud = Table("test", "e", (Column("ID", mysql.integer("int")),), ("ID",))
    (record,) = write(
        History((boundaries.insert(loud, {"ID": 1}),)), FORMAT.build("1.45.0", *options), Layout()
    )
    assert record.message.key == b'{"database":"test","table":"e","pk.id":1}'
    change = record.changes[0]
    assert change.keys == (("ID",) if options else None)
    assert change.key_sets == (frozenset({"ID"}), frozenset({"id"}))
