"""Partitions as TiCDC's own tests of its dispatchers have them (pingcap/tiflow,
dispatcher/partition/*_test.go), of 16.
"""

from dataclasses import replace

import pytest

from generators import model
from generators.errors import Refused
from generators.families.ticdc.sink import (
    handle_key,
    moved,
    pack,
    partition_of,
    row_hash,
    split_rows,
    statement,
    unpack,
)
from generators.model import (
    Bootstrap,
    Column,
    Heartbeat,
    History,
    Kind,
    Layout,
    Op,
    SchemaChange,
    State,
    Table,
    TransactionMark,
)
from generators.sources import mysql
from generators.sources.boundaries import START, change
from generators.wire_format import FORMATS, get

NUMBER = mysql.integer("int")
SINGLE = Table("test", "t1", (Column("a", NUMBER, False), Column("b", NUMBER)), ("a",))
COMPOSITE = Table("test", "t2", SINGLE.columns, ("a", "b"))


GENERATED = Table(
    "test",
    "t1",
    (
        Column("a", NUMBER),
        Column("b", NUMBER, False, generated="virtual"),
        Column("c", NUMBER, False),
        Column("d", NUMBER, False, generated="stored"),
    ),
    (),
    (("b",), ("c", "d"), ("_V$_idx_0",)),
)


def test_a_key_over_a_column_that_is_not_stored_identifies_no_row():
    """ticdc#handle-key: a VIRTUAL column, the hidden column of an expression."""
    assert handle_key(GENERATED) == ("c", "d")
    assert handle_key(replace(GENERATED, unique=(("b",), ("_V$_idx_0",)))) == ()
    assert handle_key(replace(GENERATED, primary_key=("a",))) == ("a",)


def test_an_update_of_a_virtual_key_stays_one():
    """ticdc#handle-key."""
    keyed = replace(GENERATED, primary_key=("a",))
    before = {"a": 1, "b": 2, "c": 3, "d": 4}
    for name, ops in (("b", [Op.UPDATE]), ("c", [Op.DELETE, Op.INSERT])):
        event = change(keyed, Op.UPDATE, (before, {**before, name: 9}))
        assert [row.op for row in split_rows(event, split_keys=True)] == ops


@pytest.mark.parametrize("name", ["ticdc-debezium-json", "ticdc-avro", "ticdc-open-protocol"])
def test_a_row_with_a_virtual_key_is_written(name):
    """ticdc#handle-key: rows have no VIRTUAL column."""
    fmt = get(name)
    event = change(GENERATED, Op.INSERT, (None, {"a": 1, "c": 3, "d": 4}))
    (row,) = fmt.write(History((event,)), fmt.profile("v8.5.7"), Layout())
    assert row.message.key is not None


@pytest.mark.parametrize(("name", "expected"), [("t1", 15), ("t2", 5), ("t3", 3)])
def test_default_dispatcher_takes_the_names(name, expected):
    table = Table("test", name, ())
    assert [partition_of("table", table, {}, tso, 16) for tso in (1, 2, 3)] == [expected] * 3


@pytest.mark.parametrize(
    ("table", "a", "b", "expected"),
    [
        *(
            (SINGLE, 11, 22, 2),
            (SINGLE, 22, 22, 11),
            (SINGLE, 11, 33, 2),
            (COMPOSITE, 11, 22, 5),
            (COMPOSITE, 11, 0, 14),
        ),
        (COMPOSITE, 11, 33, 2),
    ],
)
def test_index_value_dispatcher_takes_the_handle_key_too(table, a, b, expected):
    assert partition_of("index-value", table, {"a": a, "b": b}, 1, 16) == expected


@pytest.mark.parametrize(("names", "expected"), [(("col2", "col1"), 15), (("COL2", "Col1"), 5)])
def test_columns_dispatcher_takes_the_names_and_values_of_its_columns(names, expected):
    table = Table("test", "t1", tuple(Column(name, NUMBER) for name in (*names, "col3")))
    assert row_hash(table, {names[0]: 11, names[1]: 22, "col3": 33}, names) % 16 == expected


def test_columns_dispatcher_takes_the_last_column_that_is_sent():
    table = Table("test", "t1", (*SINGLE.columns, Column("c", NUMBER, generated="virtual")), ("a",))
    row = {"a": 11, "b": 22, "c": 33}
    assert partition_of("columns", table, row, 1, 16) == row_hash(table, row, ("b",)) % 16
    assert row_hash(table, row, ("b",)) != row_hash(table, {**row, "b": 23}, ("b",))
    bare = {**row, "b": None}
    assert row_hash(table, bare, ("b",), new_architecture=True) == row_hash(table, bare, ())
    assert row_hash(table, bare, ("b",)) == row_hash(
        Table("test", "t1", (Column("b", mysql.text()),)), {"b": "null"}, ("b",)
    )


def test_ts_dispatcher_takes_the_commit():
    assert [partition_of("ts", SINGLE, {}, tso, 16) for tso in (1, 2, 17)] == [1, 2, 1]


@pytest.mark.parametrize("compression", ["none", "snappy", "lz4"])
def test_what_is_packed_is_unpacked(compression):
    assert unpack(compression, pack(compression, b"value" * 9)) == b"value" * 9


NULLABLE = Table(
    "test",
    "uko",
    (Column("a", NUMBER), Column("b", NUMBER, False), Column("c", mysql.text())),
    (),
    (("a",), ("b",)),
)


@pytest.mark.parametrize(
    ("before", "after", "split"),
    [({"a": 1}, {"a": 9}, True), ({"a": None}, {"a": 1}, True), ({"c": "x"}, {"c": "y"}, False)],
)
@pytest.mark.parametrize("new", [False, True])
def test_update_of_a_nullable_unique_column_is_split(before, after, split, new):
    row = {"a": 1, "b": 1, "c": "z"}
    event = change(NULLABLE, Op.UPDATE, ({**row, **before}, {**row, **after}))
    ops = [op for op, _, _ in split_rows(event, split_keys=True, new_architecture=new)]
    assert ops == ([Op.DELETE, Op.INSERT] if split else [Op.UPDATE])


def test_classic_takes_null_for_the_text_null_where_it_looks_for_changed_keys():
    table = Table("test", "t", (Column("k", mysql.text()),), (), (("k",),))
    event = change(table, Op.UPDATE, ({"k": None}, {"k": "null"}))
    assert [
        len(split_rows(event, split_keys=True, new_architecture=new)) for new in (False, True)
    ] == [1, 2]


@pytest.mark.parametrize(
    ("collation", "after", "moves"),
    [("", "aa", True), ("utf8mb4_general_ci", "aa", False), ("", "Aa ", False)],
)
def test_tidb_moves_a_row_whose_clustered_key_is_another_by_its_collation(collation, after, moves):
    table = Table("test", "t", (Column("k", mysql.text(), False, collation=collation),), ("k",))
    assert moved(table, {"k": "Aa"}, {"k": after}) is moves


WIDE = Table(
    "shop",
    "t",
    (Column("id", NUMBER, False), Column("b", NUMBER), Column("hidden_a", mysql.text())),
    ("id",),
)
ROW = {"id": 1, "b": 2, "hidden_a": "x"}
SINKS = {
    "ticdc-canal-json": "extension",
    "ticdc-simple-json": "auto-bootstrap",
    "ticdc-simple-avro": "auto-bootstrap",
    "ticdc-open-protocol": "one-row",
    "ticdc-debezium-json": "extension",
}


@pytest.mark.parametrize(("name", "option"), SINKS.items())
def test_selected_columns_alone_are_in_rows(name, option):
    fmt = get(name)
    events = (change(WIDE, Op.INSERT, (None, ROW)), change(WIDE, Op.UPDATE, (ROW, {**ROW, "b": 3})))
    for options, there in (((option,), True), ((option, "selected"), False)):
        written = fmt.write(History(events), fmt.build("new-8.5.7", *options), Layout())
        rows = [record for record in written if record.changes[0].kind is Kind.ROW]
        assert len(rows) == 2 and all(
            (b"hidden_a" in record.message.value) is there for record in rows
        )
        states = {record.changes[0].after["hidden_a"].state for record in rows}
        assert states == ({State.VALUE} if there else {State.ABSENT})
    known = [record.message.value for record in written if record.changes[0].kind is Kind.BOOTSTRAP]
    assert all(b"hidden_a" in value for value in known) and bool(known) is name.startswith(
        "ticdc-simple"
    )
    cases = {
        scenario.name
        for scenario in fmt.scenarios(fmt.build("new-8.5.7", "selected"), "d")
        if "selected" in scenario.name
    }
    assert cases == {
        f"selected/{action}" for action in ("insert", "update", "update-hidden", "delete")
    }


@pytest.mark.parametrize("name", SINKS)
def test_routed_tables_have_the_partitions_of_their_sources(name):
    fmt = get(name)
    plain, routed = (fmt.build("new-8.5.7", *options) for options in ((), ("routed",)))
    history = History((change(WIDE, Op.INSERT, (None, ROW)),))
    places = [fmt.write(history, profile, Layout(partitions=16))[0] for profile in (plain, routed)]
    sources = (WIDE, replace(WIDE, database="source_shop"))
    assert [record.message.partition for record in places] == [
        partition_of("table", t, ROW, 1, 16, new_architecture=True) for t in sources
    ]
    assert (
        places[0].message.value == places[1].message.value
        and places[0].message.partition != places[1].message.partition
    )
    sql = "alter table t add column c char(3) default 'x'"
    event = SchemaChange(START, "add column", sql, "shop", "t")
    texts = [
        fmt.write(History((event,)), profile, Layout())[0].changes[0].sql
        for profile in (plain, routed)
    ]
    assert texts == [
        "ALTER TABLE `t` ADD COLUMN `c` CHAR(3) DEFAULT _UTF8MB4'x'",
        "ALTER TABLE `shop`.`t` ADD COLUMN `c` CHAR(3) DEFAULT 'x'",
    ]


def test_a_view_of_another_form_than_its_own_is_refused_by_the_newest_release_alone():
    def view(sql):
        return SchemaChange(START, "create view", sql, "d", "v")

    profile = get("ticdc-canal-json").profile
    for sql in ("create view v as select a from e.t", "create view v as select t.a from t"):
        with pytest.raises(Refused, match="stored SELECT"):
            statement(view(sql), profile("new-8.5.7"))
        assert statement(view(sql), profile("new-8.5.6")).startswith("CREATE ALGORITHM")
    assert statement(
        view("create view v as select a from t"), profile("new-8.5.7+extension+routed")
    ).endswith("VIEW `d`.`v` AS SELECT `a` FROM `d`.`t`")


@pytest.mark.parametrize("name", [name for name in FORMATS if name.startswith("ticdc-")])
def test_other_events_have_no_message(name):
    """Nor has a bootstrap, but in Simple, which sends schemas."""
    events = (
        model.SourceStatement(START, "rows-query", "select 1"),
        Heartbeat(START),
        TransactionMark(START, "BEGIN", "1"),
    )
    events += () if "simple" in name else (Bootstrap(START, SINGLE),)
    profiles = get(name).profiles
    assert [
        get(name).write(History(events), profile, Layout())
        for profile in (profiles[0], profiles[-1])
    ] == [[], []]
