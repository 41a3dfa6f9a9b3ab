"""Literal messages: the documentation's samples, and every fact of the JSON encoding with an
example.
"""

import json
import re

import pytest
from literals import literal
from tables import keyed

from generators import model
from generators.drawing.cases import boundary_scenarios
from generators.errors import Refused
from generators.formats.ticdc_simple_json import FORMAT, go_shortest, write
from generators.model import (
    Bootstrap,
    Column,
    History,
    Instant,
    Json,
    Kind,
    Op,
    SchemaChange,
    State,
    Table,
    Watermark,
    ZeroDate,
)
from generators.sources import mysql
from generators.sources.boundaries import change, insert

LAYOUT = model.Layout("topic", 3)


def at(tso):
    return Instant(tso >> 18, tso & 0x3FFFF)


SAMPLES = literal("ticdc-simple-samples.jsonl").splitlines()
"""Document 002's samples without white space: INSERT, UPDATE, DELETE, WATERMARK, ALTER, BOOTSTRAP.
"""
USER = keyed(
    "simple.user",
    "id",
    id=mysql.integer("int"),
    name=mysql.text("varchar", 255),
    age=mysql.integer("int"),
    score=mysql.real("float"),
)
CREATED = SchemaChange(
    at(447984074911121430),
    "create table",
    "CREATE TABLE `user` (`id` int)",
    "simple",
    "user",
    after=USER,
)
DOE = {"id": 1, "name": "John Doe", "age": 25, "score": 90.5}
BETTER = {**DOE, "score": 95.0}


def messages(name, *events, seed=1):
    """Distinct values in the order of publication: what goes to several partitions is there
    once.
    """
    written = write(History(events, seed), FORMAT.profile(name), LAYOUT)
    return list(dict.fromkeys(record.message.value.decode() for record in written))


def message(name, *events, seed=0):
    """The last message, and its expectation."""
    record = write(History(events, seed), FORMAT.profile(name), LAYOUT)[-1]
    (expected,) = record.changes
    return json.loads(record.message.value), expected


def table_of(*columns, key=("id",), unique=(), name="t"):
    return Table("d", name, (Column("id", mysql.integer("bigint"), False), *columns), key, unique)


def cell(kind, value, name="v8.5.7"):
    body, expected = message(name, insert(table_of(Column("c", kind)), {"id": 1, "c": value}))
    return body["data"]["c"], expected.after["c"]


def as_printed_there(value, sample):
    """Our message with the table id and the buildTs of the document's sample."""
    value = re.sub(r'"tableID":\d+', '"tableID":148', value)
    return re.sub(r'"buildTs":\d+', re.search(r'"buildTs":\d+', sample).group(), value)


def test_samples_of_document_002_byte_for_byte():
    wide = Table(
        "simple",
        "user",
        (*USER.columns, Column("createTime", mysql.temporal("timestamp"))),
        ("id",),
    )
    renamed = Table("simple", "new_user", USER.columns, ("id",))
    sql = "ALTER TABLE `user` ADD COLUMN `createTime` TIMESTAMP"
    added = SchemaChange(at(447987408682614795), "add column", sql, "simple", "user", USER, wide)
    moved = SchemaChange(
        at(447984128000000000),
        "rename table",
        "RENAME TABLE `user` TO `new_user`",
        "simple",
        "new_user",
        USER,
        renamed,
        "user",
    )
    rows = (
        *(
            insert(USER, DOE, at(447984084414103554)),
            change(USER, Op.UPDATE, (DOE, BETTER), at=at(447984099186180098)),
        ),
        *(
            change(USER, Op.DELETE, (BETTER, None), at=at(447984114259722243)),
            Watermark(at(447984124732375041)),
        ),
    )
    values = messages("v8.5.7", CREATED, *rows, added)
    values += messages("v8.5.7", CREATED, moved, Bootstrap(at(447984140000000000), renamed))[2:]
    assert [as_printed_there(v, s) for v, s in zip(values[1:], SAMPLES, strict=True)] == SAMPLES


def test_ddl_goes_to_every_partition_bootstraps_to_every_or_the_first_rows_to_their_tables():
    events = (
        CREATED,
        Bootstrap(at(447984080000000000), USER),
        insert(USER, DOE, at(447984084414103554)),
    )
    placed = [
        (w.message.partition, w.message.key)
        for w in write(History(events), FORMAT.profile("v8.5.7"), LAYOUT)
    ]
    assert placed[:6] == [(0, None), (1, None), (2, None), (0, b""), (1, b""), (2, b"")]
    assert placed[6][1] == b""
    marks = write(History((Watermark(at(447984124732375041)),)), FORMAT.profile("v8.5.7"), LAYOUT)
    assert [(w.message.partition, w.message.key, w.message.headers) for w in marks] == [
        (i, None, ()) for i in range(3)
    ]
    one_partition = "v7.5.7+auto-bootstrap+one-partition"
    written = write(History(events[1:2]), FORMAT.profile(one_partition), LAYOUT)
    assert [(w.message.partition, w.changes[0].kind) for w in written] == [(0, Kind.BOOTSTRAP)]


def test_auto_bootstrap_precedes_a_tables_first_row_and_comes_again_after_120_seconds_or_10000_rows():
    name = "v7.5.7+auto-bootstrap+one-partition"
    rows = [
        insert(USER, {**DOE, "id": i}, Instant(1_700_000_000_000 + ms))
        for i, ms in enumerate((0, 119_999, 120_000))
    ]
    kinds = [w.changes[0].kind for w in write(History(tuple(rows)), FORMAT.profile(name), LAYOUT)]
    assert kinds == [Kind.BOOTSTRAP, Kind.ROW, Kind.ROW, Kind.BOOTSTRAP, Kind.ROW]
    many = change(
        USER,
        Op.INSERT,
        *((None, {**DOE, "id": i}) for i in range(10_000)),
        at=Instant(1_700_000_000_000),
    )
    written = write(History((many, rows[1])), FORMAT.profile(name), LAYOUT)
    assert [i for i, w in enumerate(written) if w.changes[0].kind is Kind.BOOTSTRAP] == [0, 10_001]
    assert {
        w.changes[0].kind for w in write(History(tuple(rows)), FORMAT.profile("v8.5.7"), LAYOUT)
    } == {Kind.ROW}


@pytest.mark.parametrize(
    ("action", "classic", "new"),
    [
        *(
            ("create table", "CREATE", "CREATE"),
            ("create tables", "QUERY", "CREATE"),
            ("rename table", "RENAME", "RENAME"),
        ),
        *(
            ("create index", "CINDEX", "CINDEX"),
            ("add primary key", "CINDEX", "CINDEX"),
            ("drop index", "DINDEX", "DINDEX"),
        ),
        *(
            ("drop foreign key", "DINDEX", "DINDEX"),
            ("drop table", "ERASE", "ERASE"),
            ("truncate table", "TRUNCATE", "TRUNCATE"),
        ),
        *(
            ("add column", "ALTER", "ALTER"),
            ("table charset", "ALTER", "ALTER"),
            ("multi schema change", "ALTER", "ALTER"),
        ),
        *(
            ("exchange partition", "QUERY", "ALTER"),
            ("create view", "QUERY", "QUERY"),
            ("recover table", "QUERY", "QUERY"),
        ),
    ],
)
def test_ddl_types(action, classic, new):
    event = SchemaChange(
        Instant(5, 9), action, "ALTER TABLE `user` COMMENT = 'c'", "simple", "user", USER, USER
    )
    assert message("v8.5.7", event)[0]["type"] == classic
    assert message("new-8.5.4", event)[0]["type"] == new


def test_rename_and_truncate_keep_the_version_and_truncate_changes_the_id():
    other = Table("simple", "other", USER.columns, ("id",))
    rename, truncate, drop = (
        "RENAME TABLE `user` TO `other`",
        "TRUNCATE TABLE `user`",
        "DROP TABLE `user`",
    )
    moved, _ = message(
        "v8.5.7",
        CREATED,
        SchemaChange(
            at(447984128000000000), "rename table", rename, "simple", "other", USER, other
        ),
    )
    assert (
        moved["tableSchema"]["version"] == moved["preTableSchema"]["version"] == 447984074911121426
    )
    assert moved["tableSchema"]["tableID"] == moved["preTableSchema"]["tableID"]
    cut, _ = message(
        "v8.5.7",
        CREATED,
        SchemaChange(
            at(447984128000000000), "truncate table", truncate, "simple", "user", USER, USER
        ),
    )
    assert cut["tableSchema"]["version"] == cut["preTableSchema"]["version"] == 447984074911121426
    assert cut["tableSchema"]["tableID"] != cut["preTableSchema"]["tableID"]
    erased, _ = message(
        "v8.5.7",
        CREATED,
        SchemaChange(at(447984128000000000), "drop table", drop, "simple", "user", USER),
    )
    assert erased["tableSchema"] == erased["preTableSchema"]


def test_rows_find_types_by_their_own_version_before_and_after():
    text = Table(
        "simple", "user", (USER.columns[0], Column("age", mysql.text("varchar", 9))), ("id",)
    )
    row, changed = {"id": 1, "age": 5}, {"id": 1, "age": "five"}
    number = Table("simple", "user", (USER.columns[0], USER.columns[2]), ("id",))
    sql = "ALTER TABLE `user` MODIFY COLUMN `age` varchar(9)"
    events = (
        insert(number, row, Instant(10, 9)),
        SchemaChange(Instant(20, 9), "modify column", sql, "simple", "user", number, text),
        insert(text, changed, Instant(30, 9)),
    )
    for name, first in (("v8.5.7", {"id": "int", "age": "int"}), ("new-8.5.4", None)):
        written = write(History(events), FORMAT.profile(name), LAYOUT)
        assert (written[0].changes[0].types, written[-1].changes[0].types) == (
            first,
            {"id": "int", "age": "varchar"},
        )
        late = write(
            History((*events[:1], Bootstrap(Instant(11), number))), FORMAT.profile(name), LAYOUT
        )
        assert late[0].changes[0].types == {"id": "int", "age": "int"}
        assert write(History(events[:1]), FORMAT.profile(name), LAYOUT)[0].changes[0].types is None


def test_partitioned_tables_rows_have_their_partitions_id():
    parts = "(PARTITION p0 VALUES LESS THAN (9), PARTITION p1 VALUES LESS THAN (99))"
    sql = f"CREATE TABLE `user` (`id` int) PARTITION BY RANGE (`id`) {parts}"
    created = SchemaChange(Instant(5, 9), "create table", sql, "simple", "user", after=USER)
    rows = (insert(USER, {**DOE, "id": i}, Instant(10 + i)) for i in range(20))
    bodies = list(map(json.loads, messages("v8.5.7", created, *rows)))
    logical = bodies[0]["tableSchema"]["tableID"]
    assert {body["tableID"] for body in bodies[1:]} == {logical + 1, logical + 2}
    assert {body["schemaVersion"] for body in bodies[1:]} == {bodies[0]["tableSchema"]["version"]}


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        (mysql.binary("varbinary", 8), b"\x00\xff", "AP8="),
        *((mysql.binary("binary", 4), b"ab", "YWIAAA=="), (mysql.binary("blob"), b"", "")),
        *(
            (mysql.text("varchar", 9), "<&>\u2028", "<&>\u2028"),
            (mysql.real("double"), 12345.678901234567, "12345.678901234567"),
        ),
        (mysql.json(), Json(None), "null"),
        (mysql.text("varchar", 9), None, None),
    ],
)
def test_values_are_strings_or_null(kind, value, shown):
    """But for binaries they are those of TiCDC's Canal-JSON, which the tests of its texts have."""
    for name in ("v8.5.7", "new-8.5.4"):
        wire, expected = cell(kind, value, name)
        assert wire == shown == expected.text
        assert expected.state is (State.NULL if value is None else State.VALUE)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *(
            (1000000.0, "1e+06"),
            (1234567.0, "1.234567e+06"),
            (0.00001, "1e-05"),
            (0.0001, "0.0001"),
            (999999.0, "999999"),
        ),
        *((-2.5e300, "-2.5e+300"), (5e-324, "5e-324"), (0.0, "0")),
    ],
)
def test_floats_of_the_new_architectures_v8_5_4_are_by_gos_default_verb(value, shown):
    assert (
        cell(mysql.real("double"), value, "new-8.5.4")[0]
        == shown
        == go_shortest(value, single=False)
    )
    assert "e" not in cell(mysql.real("double"), value, "new-8.5.6+local-zone+handle-key-only")[0]
    assert "e" not in cell(mysql.real("double"), value)[0]


def test_single_precision_keeps_its_own_shortest_digits():
    assert (
        cell(mysql.real("float"), mysql.to_float32(3.4028234663852886e38), "new-8.5.4")[0]
        == "3.4028235e+38"
    )
    assert cell(mysql.real("float"), mysql.to_float32(1e-45), "new-8.5.4")[0] == "1e-45"


def test_timestamps_are_objects_with_their_location():
    micros = mysql.wall("2024-01-01 00:00:00.500000")
    for name, location, wall in (
        ("v8.5.7", "Asia/Shanghai", "2024-01-01 08:00:00.500"),
        ("v8.5.7+tz+checksum", "America/New_York", "2023-12-31 19:00:00.500"),
        ("new-8.5.6+local-zone+handle-key-only", "Local", "2024-01-01 08:00:00.500"),
    ):
        wire, expected = cell(mysql.temporal("timestamp", 3), micros, name)
        assert list(wire.items()) == [("location", location), ("value", wall)]
        assert (expected.json, expected.value, expected.text) == (
            True,
            micros,
            json.dumps(wire, separators=(",", ":")),
        )
    wire, expected = cell(mysql.temporal("timestamp"), ZeroDate())
    assert wire == {"location": "Asia/Shanghai", "value": "0000-00-00 00:00:00"}
    assert expected.value == ZeroDate()
    assert cell(mysql.temporal("timestamp"), None)[0] is None


def test_escapes_are_gos():
    table = Table("d", "t", (Column("c", mysql.text("varchar", 64)),))
    event = insert(table, {"c": '<a&b>"\\/\b\x7f\u2028汉😀'})
    assert '"c":"\\u003ca\\u0026b\\u003e\\"\\\\/\\b\x7f\\u2028汉😀"' in messages("v8.5.7", event)[0]
    old = messages("v7.5.7+auto-bootstrap+one-partition", event)[-1]
    assert '"c":"\\u003ca\\u0026b\\u003e\\"\\\\/\\u0008\x7f\\u2028汉😀"' in old
    backslashes = insert(table, {"c": "\\u0008\\\f\\b"})
    assert '"c":"\\\\u0008\\\\\\f\\\\b"' in messages("v8.5.7", backslashes)[0]
    named = Table("d<", "t&", (Column('a"', mysql.integer("int")),))
    (value,) = messages("v8.5.7", insert(named, {'a"': 1}))
    assert '"database":"d\\u003c","table":"t\\u0026",' in value
    assert value.endswith('"data":{"a\\"":"1"}}')


def indexes(table):
    body, expected = message("v8.5.7", Bootstrap(Instant(1), table))
    return [
        (i["name"], i["unique"], i["primary"], i["nullable"], i["columns"])
        for i in body["tableSchema"]["indexes"]
    ], expected


def test_indexes():
    number, string = mysql.integer("int"), mysql.text("varchar", 9)
    u, n = Column("U", number, False), Column("n", string)
    entries, expected = indexes(table_of(u, n, unique=(("U",), ("n", "U"))))
    assert entries == [
        ("U", True, False, False, ["U"]),
        ("n", True, False, True, ["n", "U"]),
        ("primary", True, True, False, ["id"]),
    ]
    assert expected.keys == ("id",)
    entries, expected = indexes(table_of(u, n, key=("U", "id"), unique=(("n",),)))
    assert entries == [("PRIMARY", True, True, False, ["U", "id"]), ("n", True, False, True, ["n"])]
    assert expected.keys == ("U", "id")
    assert indexes(table_of(u, n, key=())) == ([], indexes(table_of(u, n, key=()))[1])


def test_labels_count_in_bytes_and_a_year_has_a_default() -> None:
    """As TiCDC v8.5.7 wrote it of an in-memory TiDB."""
    columns = (
        Column("y", mysql.TYPES["year"], False),
        Column("a", mysql.enum_of("😀", "a")),
        Column("b", mysql.enum_of("汉字", "a")),
        Column("d", mysql.set_of("汉字", "é")),
    )
    body, _ = message("v8.5.7", Bootstrap(Instant(1), table_of(*columns)))
    listed = {
        c["name"]: (c["dataType"]["length"], c["default"]) for c in body["tableSchema"]["columns"]
    }
    assert listed == {
        "id": (20, None),
        "y": (4, "0000"),
        "a": (4, None),
        "b": (6, None),
        "d": (9, None),
    }


@pytest.mark.parametrize(
    ("definition", "default"),
    [
        *(
            ("`y` year not null", "0000"),
            ("`y` year primary key", "0000"),
            ("`y` year not null default 1999", "1999"),
        ),
        *(
            ("`y` year", None),
            ("`y` year, primary key (`y`)", None),
            ("`y` year not null unique", "0000"),
        ),
    ],
)
def test_the_default_of_a_year_is_that_of_its_definition(
    definition: str, default: str | None
) -> None:
    table = Table("d", "t", (Column("y", mysql.TYPES["year"], "null" not in definition),))
    event = SchemaChange(
        Instant(1), "create table", f"create table `d`.`t` ({definition})", "d", "t", None, table
    )
    body, _ = message("v8.5.7", event)
    assert body["tableSchema"]["columns"][0]["default"] == default


@pytest.mark.parametrize(
    ("definition", "type", "default"),
    [
        ("`c` date default (curdate())", "date", "CURRENT_DATE"),
        ("`c` date default (current_date)", "date", "CURRENT_DATE"),
        ("`c` datetime(3) default now(3)", "datetime-3", "CURRENT_TIMESTAMP"),
        ("`c` json default (json_object('A',1))", "json", "json_object(_utf8mb4'A', 1)"),
    ],
)
def test_the_default_of_an_expression_is_the_text_that_tidb_stores(
    definition: str, type: str, default: str
) -> None:
    """As TiCDC v8.5.7 wrote the table `seq_user` of an in-memory TiDB."""
    table = Table("d", "t", (Column("c", mysql.TYPES[type]),))
    event = SchemaChange(
        Instant(1), "create table", f"create table `d`.`t` ({definition})", "d", "t", None, table
    )
    body, _ = message("v8.5.7", event)
    assert body["tableSchema"]["columns"][0]["default"] == default


def test_a_table_without_a_primary_key_has_an_index_primary_over_its_first_unique_key_without_nulls():
    number, string = mysql.integer("int"), mysql.text("varchar", 9)
    a, b, c = Column("a", number), Column("b", number, False), Column("c", string, False)
    entries, expected = indexes(table_of(a, b, c, key=(), unique=(("a",), ("b", "c"), ("c",))))
    assert entries == [
        *(
            ("a", True, False, True, ["a"]),
            ("b", True, False, False, ["b", "c"]),
            ("c", True, False, False, ["c"]),
        ),
        ("primary", True, True, False, ["b", "c"]),
    ]
    assert expected.keys == ("b", "c")


def test_a_primary_key_that_a_statement_added_has_an_index_of_its_own():
    bare, keyed = table_of(key=()), table_of()
    event = SchemaChange(
        Instant(5, 9),
        "add primary key",
        "ALTER TABLE `t` ADD PRIMARY KEY (`id`)",
        "d",
        "t",
        bare,
        keyed,
    )
    body, _ = message("v8.5.7", event)
    assert [i["name"] for i in body["tableSchema"]["indexes"]] == ["PRIMARY"]
    assert body["preTableSchema"]["indexes"] == []


def test_secondary_index_of_a_statement_is_listed_until_it_is_dropped():
    table = table_of(Column("n", mysql.integer("int")))
    made = SchemaChange(
        Instant(5, 9), "create index", "CREATE INDEX `I` ON `t` (`n`, `id`)", "d", "t", table, table
    )
    body, expected = message("v8.5.7", made)
    assert body["tableSchema"]["indexes"] == [
        {"name": "I", "unique": False, "primary": False, "nullable": True, "columns": ["n", "id"]},
        {"name": "primary", "unique": True, "primary": True, "nullable": False, "columns": ["id"]},
    ]
    assert [i["name"] for i in body["preTableSchema"]["indexes"]] == ["primary"]
    assert expected.keys == ("id",)
    dropped = SchemaChange(
        Instant(6, 9), "drop index", "DROP INDEX `I` ON `t`", "d", "t", table, table
    )
    assert [i["name"] for i in message("v8.5.7", made, dropped)[0]["tableSchema"]["indexes"]] == [
        "primary"
    ]


def test_an_index_over_a_column_that_the_table_has_not_is_refused():
    table = table_of(Column("n", mysql.integer("int")))
    made = SchemaChange(
        Instant(5, 9),
        "create index",
        "CREATE INDEX `I` ON `t` (`n`, `gone`)",
        "d",
        "t",
        table,
        table,
    )
    with pytest.raises(Refused, match="index I over n, gone, of which the table has not all"):
        message("v8.5.7", made)


@pytest.mark.parametrize(
    ("kind", "declared", "expected"),
    [
        (mysql.integer("int"), "int DEFAULT 100", "100"),
        (mysql.text("varchar", 9), "varchar(9) DEFAULT 'null'", "null"),
        (mysql.text("varchar", 9), "varchar(9) DEFAULT 'it''s'", "it's"),
        (mysql.text("varchar", 9), "varchar(9) DEFAULT 'a\\\\b'", "a\\b"),
        (mysql.integer("int"), "int DEFAULT NULL", None),
        (mysql.bit(8), "bit(8) DEFAULT b'101'", 5),
        (mysql.temporal("timestamp"), "timestamp DEFAULT CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP"),
        (
            mysql.temporal("timestamp"),
            "timestamp DEFAULT '2024-01-01 08:00:00'",
            "2024-01-01 00:00:00",
        ),
    ],
)
def test_defaults_are_strings_but_those_of_bit_numbers_and_those_of_timestamp_in_utc(
    kind, declared, expected
):
    table = table_of(Column("c", kind))
    sql = f"CREATE TABLE `t` (`id` bigint NOT NULL, `c` {declared}, PRIMARY KEY (`id`))"
    event = SchemaChange(Instant(5, 9), "create table", sql, "d", "t", after=table)
    for name in ("v8.5.7", "new-8.5.4"):
        assert message(name, event)[0]["tableSchema"]["columns"][1]["default"] == expected
    literal = declared.partition(" DEFAULT ")[2]
    modelled = table_of(
        Column("c", kind, default=None if literal == "NULL" else model.Default(literal))
    )
    assert (
        message("v8.5.7", Bootstrap(Instant(9), modelled))[0]["tableSchema"]["columns"][1][
            "default"
        ]
        == expected
    )


def test_set_default_and_later_schemas_keep_it():
    table = table_of(Column("c", mysql.integer("int")))
    sql = "ALTER TABLE `t` ALTER COLUMN `c` SET DEFAULT 5"
    given = SchemaChange(Instant(5, 9), "set default", sql, "d", "t", table, table)
    body, _ = message("v8.5.7", given, Bootstrap(Instant(9), table))
    assert [c["default"] for c in body["tableSchema"]["columns"]] == [None, "5"]


def test_classic_sorts_columns_by_id_and_the_new_architecture_does_not():
    table = table_of(Column("c", mysql.integer("int")))
    first = Table("d", "t", (Column("a", mysql.integer("int")), *table.columns), ("id",))
    sql = "ALTER TABLE `t` ADD COLUMN `a` int FIRST"
    event = SchemaChange(Instant(5, 9), "add column", sql, "d", "t", table, first)
    assert [c["name"] for c in message("v8.5.7", event)[0]["tableSchema"]["columns"]] == [
        "id",
        "c",
        "a",
    ]
    assert [c["name"] for c in message("new-8.5.4", event)[0]["tableSchema"]["columns"]] == [
        "a",
        "id",
        "c",
    ]


def test_virtual_columns_are_in_the_schema_and_not_in_rows():
    table = table_of(
        Column("n", mysql.integer("int")), Column("v", mysql.integer("int"), generated="virtual")
    )
    sql = "CREATE TABLE `t` (`id` bigint, `n` int, `v` int GENERATED ALWAYS AS (`n` + 1) VIRTUAL, PRIMARY KEY (`id`))"
    created = SchemaChange(Instant(5, 9), "create table", sql, "d", "t", after=table)
    body, expected = message(
        "v8.5.7", created, insert(table, {"id": 1, "n": 1, "v": 2}, Instant(6))
    )
    assert body["data"] == {"id": "1", "n": "1"}
    assert (expected.after["v"].state, expected.types["v"]) == (State.ABSENT, "int")


def test_old_of_an_update_is_complete():
    table = table_of(*(Column(n, mysql.text("varchar", 9)) for n in ("b", "a", "C")))
    x = {"id": 1, "a": "x", "b": None, "C": "z"}
    (value,) = messages("v8.5.7", change(table, Op.UPDATE, (x, {**x, "a": "y"})))
    assert value.endswith(
        '"data":{"C":"z","a":"y","b":null,"id":"1"},"old":{"C":"z","a":"x","b":null,"id":"1"}}'
    )


def test_a_statement_has_a_key_in_another_order_than_its_table_and_a_watermark_follows_a_row():
    for each in FORMAT.profiles:
        scenarios = {scenario.name: scenario for scenario in boundary_scenarios(FORMAT, each)}
        stated = [
            c
            for w in write(scenarios["ddl/composite-key"].history, each, LAYOUT)
            for c in w.changes
        ]
        assert {c.keys for c in stated} == {("a", "b")}
        assert {tuple(c.types) for c in stated} == {("b", "a", "c")}
        last: dict[int, Kind] = {}
        behind = set()
        for record in write(scenarios["control/watermark-after-a-row"].history, each, LAYOUT):
            (change,) = record.changes
            partition = record.message.partition
            if change.kind is Kind.WATERMARK:
                behind.add(last.get(partition))
            last[partition] = change.kind
        assert Kind.ROW in behind


@pytest.mark.parametrize(
    ("options", "hours"), [((), 2), (("snappy",), 2), (("lz4",), 0), (("lz4", "tz"), 2)]
)
def test_a_zone_without_equal_hours_has_no_case_of_them(options, hours):
    """The host of lz4 has UTC."""
    names = [
        scenario.name
        for scenario in FORMAT.scenarios(
            FORMAT.profile("+".join(("v8.5.7", *options))), "level_one"
        )
    ]
    assert len([name for name in names if name.startswith("ambiguous-hour/rows/")]) == hours
