"""Statements of the drawn histories, what a server refuses of them, and the differences that are
explained.
"""

import datetime as dt
import sys
from decimal import Decimal

import pytest
from tables import keyed

from generators.errors import Refused, UsageError
from generators.model import (
    Column,
    History,
    Instant,
    Json,
    Op,
    RowChange,
    RowImages,
    SchemaChange,
    Table,
    ZeroDate,
)
from generators.sources import mysql, postgresql
from recorders import sql
from recorders.audit import Difference
from recorders.databases import Database
from recorders.explained import FILE, grouped, load

AT = Instant(1_700_000_000_000, 1)
MARIADB = keyed(
    "audit.a`b_s1",
    "id",
    id=mysql.integer("int"),
    v=mysql.text("varchar", 20),
    e=mysql.enum_of("x", "b\\c"),
)
POSTGRESQL = Table(
    "audit",
    't"_s2',
    (
        Column("id", postgresql.integer(), False),
        Column("e", postgresql.enum_of("it's")),
        Column("j", postgresql.json()),
    ),
    schema="public",
)


def change(table, op, *pairs):
    return RowChange(AT, table, op, tuple(RowImages(before, after) for before, after in pairs))


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        *(
            (mysql.integer("int"), None, "NULL"),
            (mysql.integer("bigint", unsigned=True), 2**64 - 1, "18446744073709551615"),
        ),
        *(
            (mysql.decimal(20, 10), Decimal("1E-10"), "0.0000000001"),
            (mysql.real("double"), 0.1, "0.1e0"),
        ),
        *(
            (mysql.real("double"), 5e-324, "5e-324"),
            (mysql.bit(8), 5, "b'101'"),
            (mysql.text(), "é'", "_utf8mb4 x'c3a927'"),
        ),
        *(
            (mysql.binary(), b"\x00\xff", "x'00ff'"),
            (mysql.temporal("date"), ZeroDate(2024, 2, 0), "'2024-02-00'"),
        ),
        (mysql.temporal("date"), dt.date(2024, 2, 29), "'2024-02-29'"),
        (
            mysql.temporal("datetime", 3),
            mysql.wall("2024-01-02 03:04:05.678"),
            "'2024-01-02 03:04:05.678'",
        ),
        *(
            (mysql.temporal("time"), -mysql.TIME_LIMIT, "'-838:59:59'"),
            (mysql.enum_of("a"), 0, "0"),
            (mysql.year(), 0, "0"),
        ),
    ],
)
def test_a_literal_of_mariadb_is_exact(kind, value, text):
    assert sql.MYSQL.literal(kind, value) == text


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        *(
            (postgresql.integer(), None, "NULL"),
            (postgresql.text(), "a\\'\n😀", r"E'a\\\'\U0000000a\U0001f600'"),
        ),
        *(
            (postgresql.real("double precision"), -0.0, "E'-0'"),
            (postgresql.real("double precision"), float("nan"), "E'NaN'"),
        ),
        *(
            (postgresql.bytea(), b"\x00", r"E'\\x00'"),
            (postgresql.boolean(), 1, "E't'"),
            (postgresql.bit(4), 5, "E'0101'"),
        ),
        (postgresql.json("jsonb"), Json({"bb": 1, "a": None}), """E'{"a": null, "bb": 1}'"""),
        (postgresql.array("text"), Json(["a b", None]), """E'{"a b",NULL}'"""),
    ],
)
def test_a_literal_of_postgresql_is_ascii_on_one_line(kind, value, text):
    assert sql.POSTGRESQL.literal(kind, value) == text


def test_a_table_is_created_and_its_rows_are_inserted_before_they_change():
    before, after = {"id": 1, "v": "x", "e": 2}, {"id": 1, "v": "y", "e": 2}
    plan = sql.plan_statements(
        History(
            (change(MARIADB, Op.UPDATE, (before, after)), change(MARIADB, Op.DELETE, (after, None)))
        )
    )
    assert plan.statements == (
        (
            "CREATE TABLE `audit`.`a``b_s1` (`id` int(11) NOT NULL, `v` varchar(20) NULL, `e` enum('x','b\\\\c') NULL, "
            "PRIMARY KEY (`id`)) DEFAULT CHARSET=utf8mb4"
        ),
        "INSERT INTO `audit`.`a``b_s1` (`id`, `v`, `e`) VALUES (1, _utf8mb4 x'78', 2)",
        "UPDATE `audit`.`a``b_s1` SET `v` = _utf8mb4 x'79' WHERE `id` = 1 LIMIT 1",
        "DELETE FROM `audit`.`a``b_s1` WHERE `id` = 1 LIMIT 1",
    )
    created, *rows = plan.history.events
    assert (
        isinstance(created, SchemaChange)
        and created.sql == plan.statements[0]
        and created.after is not None
    )
    assert [c.declared for c in created.after.columns] == [
        "int(11)",
        "varchar(20)",
        "enum('x','b\\\\c')",
    ]
    assert [row.op for row in rows] == [Op.INSERT, Op.UPDATE, Op.DELETE]


def test_each_updated_row_has_an_event_of_its_own_and_mariadb_logs_no_row_that_stays():
    rows = [
        ({"id": i, "v": "x", "e": None}, {"id": i, "v": "y" if i else "x", "e": None})
        for i in range(3)
    ]
    plan = sql.plan_statements(History((change(MARIADB, Op.UPDATE, *rows),)))
    assert [len(event.rows) for event in plan.history.events[1:]] == [3, 1, 1]
    assert len(plan.statements) == 5


def test_postgresql_has_an_enum_type_a_table_and_rows_that_are_found_without_a_key():
    row = {"id": 1, "e": "it's", "j": Json(1)}
    plan = sql.plan_statements(
        History((change(POSTGRESQL, Op.DELETE, (row, None)),)), identity="full"
    )
    kind, table, full, _, deleted = plan.statements
    assert kind == """CREATE TYPE "enum_1_t""_s2" AS ENUM (E'it\\'s')"""
    assert (
        table
        == 'CREATE TABLE "public"."t""_s2" ("id" integer NOT NULL, "e" "enum_1_t""_s2" NULL, "j" json NULL)'
    )
    assert full == 'ALTER TABLE "public"."t""_s2" REPLICA IDENTITY FULL'
    assert deleted == (
        'DELETE FROM "public"."t""_s2" WHERE ctid = (SELECT ctid FROM "public"."t""_s2" WHERE "id" = E\'1\' AND '
        "\"e\" = E'it\\'s' AND \"j\"::text = (E'1'::json)::text LIMIT 1)"
    )


def test_a_unique_key_without_nulls_is_the_replica_identity_under_the_name_of_its_index():
    """PostgreSQL takes no key with a nullable column; it cuts the index's name to 63 bytes."""
    long_name = "a_long_name_of_a_column_that_is_not_null"
    columns = (
        Column("n", postgresql.integer()),
        Column(long_name, postgresql.integer(), nullable=False),
    )
    table = Table("audit", "a" * 40, columns, unique=(("n",), (long_name,)), schema="public")
    history = History((change(table, Op.INSERT, (None, {"n": None, long_name: 1})),))
    identity = sql.plan_statements(history, identity="index").statements[1]
    assert identity == (
        f'ALTER TABLE "public"."{"a" * 40}" REPLICA IDENTITY USING INDEX'
        ' "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa_a_long_name_of_a_column_that__key"'
    )


def test_a_long_key_of_mysql_has_no_identity():
    name = "a_long_name_of_a_column"
    columns = (Column(name, mysql.integer("int"), nullable=False),)
    table = Table("audit", "a" * 45, columns, unique=((name,),))
    plan = sql.plan_statements(History((change(table, Op.INSERT, (None, {name: 1})),)))
    assert [statement.split(" ", 1)[0] for statement in plan.statements] == ["CREATE", "INSERT"]


def test_rows_follow_a_statement():
    renamed = Table("audit", "r_s1", MARIADB.columns, ("id",))
    row = {"id": 1, "v": None, "e": None}
    rename = SchemaChange(
        AT, "rename table", "RENAME TABLE x TO y", "audit", "r_s1", MARIADB, renamed, MARIADB.name
    )
    events = (
        change(MARIADB, Op.INSERT, (None, row)),
        rename,
        change(renamed, Op.DELETE, (row, None)),
    )
    plan = sql.plan_statements(History(events))
    assert [text.split(" ")[0] for text in plan.statements] == [
        "CREATE",
        "INSERT",
        "RENAME",
        "DELETE",
    ]


def test_a_snapshot_is_no_statement():
    with pytest.raises(Refused, match="a READ is no statement"):
        sql.plan_statements(
            History((change(MARIADB, Op.READ, (None, {"id": 1, "v": None, "e": None})),))
        )


def test_what_mariadb_cannot_have_is_left_out():
    assert not sql.storable(mysql.json()) and sql.storable(mysql.json(), real_mysql=True)
    assert not sql.storable(mysql.text("varchar", 16_383)) and sql.storable(
        mysql.text("varchar", 255)
    )
    assert sql.storable(postgresql.json())


class _Refusing(Database):
    """A client that refuses each line with `bad` in it, and names the line."""

    def _start(self) -> None:
        raise AssertionError

    def client(self) -> list[str]:
        program = (
            "[print(n, file=sys.stderr) for n, line in enumerate(sys.stdin, 1) if 'bad' in line]"
        )
        return [sys.executable, "-c", f"import sys; {program}"]

    def statement_error(self, line: str) -> tuple[int, str] | None:
        return int(line), "refused"


def test_a_name_with_an_end_of_a_line_in_it_moves_no_error_to_another_statement():
    statements = (
        "CREATE TABLE `a\nb` (x int)",
        "SELECT bad",
        "SELECT 1",
        "SELECT `\n\nbad`",
        "SELECT 2",
    )
    assert set(_Refusing(print, {}).run(statements)) == {1, 3}


ENTRY = """
[[difference]]
profile = "canal 1.1.7*"
path = 'value\\.x'
ours = '1'
reason = "known"
"""


def written(tmp_path, text):
    path = tmp_path / "explained.toml"
    path.write_text(f"version = 1\n{text}")
    return path


def test_an_entry_explains_by_whole_texts(tmp_path):
    explained = load(written(tmp_path, ENTRY), "canal 1.1.7 mariadb")
    assert explained.why(Difference("value.x", "", "1", "2")).reason == "known"
    assert explained.why(Difference("value.xx", "", "1", "2")) is None
    assert explained.why(Difference("value.x", "", "11", "2")) is None
    assert explained.idle == ()


def test_an_entry_that_explains_nothing_is_idle_unless_it_is_drawn(tmp_path):
    assert [entry.path for entry in load(written(tmp_path, ENTRY), "canal 1.1.7").idle] == [
        r"value\.x"
    ]
    assert load(written(tmp_path, ENTRY + "drawn = true\n"), "canal 1.1.7").idle == ()
    assert load(written(tmp_path, ENTRY), "canal 1.1.7").narrowed().idle == ()


def test_entries_of_other_profiles_do_not_apply(tmp_path):
    assert load(written(tmp_path, ENTRY), "canal 1.1.8").entries == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[[difference]]\nprofile = "x"\npath = "y"\n', "difference 1: it does not say reason"),
        *(
            (ENTRY + 'colour = "red"\n', "difference 1: unknown field 'colour'"),
            (ENTRY + "drawn = 1\n", "drawn is 1, not of type bool"),
        ),
        *(
            (ENTRY + "real = '('\n", "real is no regular expression"),
            ("other = 1\n", "unknown part 'other'"),
        ),
        ("=", r"explained.toml:2: Invalid"),
        ("version = 2", "version is there twice, first on line 1"),
    ],
)
def test_a_wrong_file_is_told(tmp_path, text, why):
    with pytest.raises(UsageError, match=why):
        load(written(tmp_path, text), "canal 1.1.7")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        load(tmp_path / "none.toml", "canal 1.1.7")


@pytest.mark.parametrize(
    "profile", ["debezium 3.5.0.Final+mariadb", "debezium 3.5.0.Final+postgresql"]
)
def test_the_package_s_own_file_has_entries_with_reasons(profile):
    entries = load(FILE, profile).entries
    assert bool(entries) != ("postgresql" in profile) and all(
        len(entry.reason) > 20 for entry in entries
    )


def test_the_most_frequent_differences_come_first():
    rare, frequent = Difference("a", "int", "1", "2"), Difference("b", "", "1", "2")
    assert list(grouped([rare, frequent, frequent])) == [("b", ""), ("a", "int")]


def test_an_update_sets_a_number_whose_sign_alone_changes():
    table = keyed("audit.a", "id", id=mysql.integer("int"), v=mysql.real("double"))
    images = RowImages({"id": 1, "v": 0.0}, {"id": 1, "v": -0.0})
    assert " SET `v` = " in sql.update_statement(table, images, sql.MYSQL)
