"""Literal vectors of values, types and DDL types, and the type tables of PingCAP's
documentation.
"""

import json
from pathlib import Path

import pytest
from text_tables import rows

from generators.errors import Refused
from generators.families.ticdc import ddl, text
from generators.model import Column, History, Layout, State, Table
from generators.sources import mysql
from generators.sources.boundaries import insert
from generators.wire_format import get


def test_easyjson_escapes_what_ticdc_escapes():
    assert text.escape('"\\/\t\r\n') == r'"\"\\/\t\r\n"'
    assert text.escape("\b\f\x01\x1f") == r'"\u0008\u000c\u0001\u001f"'
    assert text.escape("<a&b>") == r'"\u003ca\u0026b\u003e"'
    assert text.escape("\u2028\u2029") == r'"\u2028\u2029"'
    assert text.escape("\x7f\x80é汉😀") == '"\x7f\x80é汉😀"'
    assert text.escape(text.go_utf8(b"a\xff\xfe\xc3")) == r'"a\ufffd\ufffd\ufffd"'


def test_binary_worked_example_of_section_1_7():
    raw = bytes([5, 7, 10, 15, 36, 50, 43, 99, 120, 60, 38, 255, 254, 45, 55, 70])
    shown = text.value_text(mysql.binary("varbinary"), raw)
    assert text.escape(shown) == '"\\u0005\\u0007\\n\\u000f$2+cx\\u003c\\u0026ÿþ-7F"'
    assert shown.encode("latin-1") == raw


def test_hour_that_occurs_twice_has_two_instants():
    first, second = mysql.wall("2024-11-03 05:30:00"), mysql.wall("2024-11-03 06:30:00")
    expected = ("2024-11-03 01:30:00", (first, second))
    assert text.timestamp_text_and_instants(first, 0, "America/New_York") == expected
    assert text.timestamp_text_and_instants(second, 0, "America/New_York") == expected
    assert text.timestamp_text_and_instants(first, 0, "UTC") == ("2024-11-03 05:30:00", (first,))


@pytest.mark.parametrize(
    ("name", "profile"),
    [("ticdc-canal-json", "v8.5.7+extension+snappy"), ("ticdc-simple-json", "v8.5.7+tz+checksum")],
)
def test_timestamp_of_an_hour_that_occurs_twice_is_one_of_two(name, profile):
    fmt, instant = get(name), mysql.wall("2024-11-03 05:30:00")
    history = History(
        (insert(Table("d", "t", (Column("c", mysql.temporal("timestamp")),)), {"c": instant}),)
    )
    written = [
        fmt.write(history, fmt.profile(chosen), Layout())[0] for chosen in ("v8.5.7", profile)
    ]
    plain, twice = (record.changes[0].after["c"] for record in written)
    assert (plain.state, "2024-11-03 13:30:00" in plain.text) == (State.VALUE, True)
    assert (twice.state, twice.options) == (State.ONE_OF, (instant, instant + 3600 * mysql.MICROS))
    assert "2024-11-03 01:30:00" in twice.text and "America/New_York" in twice.reason


SQL_TYPES = dict(
    [
        *(
            ("bool", (-6, 5)),
            ("float", (7, 7)),
            ("double", (8, 8)),
            ("decimal-10-2", (3, 3)),
            ("char", (1, 1)),
        ),
        *(
            ("varchar", (12, 12)),
            ("binary", (2004, 1)),
            ("varbinary", (2004, 12)),
            ("tinytext", (2005, 12)),
        ),
        *(
            ("text", (2005, 12)),
            ("mediumtext", (2005, 12)),
            ("longtext", (2005, 12)),
            ("tinyblob", (2004, 2004)),
        ),
        *(
            ("blob", (2004, 2004)),
            ("mediumblob", (2004, 2004)),
            ("longblob", (2004, 2004)),
            ("date", (91, 91)),
        ),
        *(
            ("datetime-0", (93, 93)),
            ("timestamp-6", (93, 93)),
            ("time-0", (92, 92)),
            ("year", (12, 91)),
            ("enum", (4, 1)),
        ),
        *(
            ("set", (-7, 1)),
            ("bit-64", (-7, -7)),
            ("json", (12, -1)),
            ("bigint", (-5, 3)),
            ("tinyint", (-6, 5)),
        ),
        *(
            ("smallint", (5, 4)),
            ("mediumint", (4, 4)),
            ("int", (4, -5)),
            ("unsigned-double", (8, 8)),
        ),
    ]
)


@pytest.mark.parametrize(("name", "codes"), SQL_TYPES.items())
def test_sql_type_tables_of_document_000_and_of_v5_3(name, codes):
    value = list(mysql.boundary_values(name).values())[-1]
    kind = mysql.TYPES[name]
    assert (text.sql_type(kind, value), text.sql_type(kind, value, legacy=True)) == codes


DDL = {action: (kind, sql) for action, kind, sql in rows(__file__, "ticdc_actions.txt")}


def test_every_ddl_action_is_pinned():
    assert set(DDL) == set(mysql.DDL_ACTIONS)


@pytest.mark.parametrize(("action", "expected"), DDL.items())
def test_ddl_type_and_restored_statement(action, expected):
    source = mysql.DDL_ACTIONS[action].sql.format(db="`d`", table="`t`", other="`o`")
    assert (text.ddl_type(action, new_architecture=False), ddl.restored(source)) == expected


def test_batch_create_tables_differs_by_architecture():
    assert text.ddl_type("create tables", new_architecture=False) == "QUERY"
    assert text.ddl_type("create tables", new_architecture=True) == "CREATE"


def test_type_of_an_unknown_action_is_refused():
    with pytest.raises(Refused, match="'flashback' is not known"):
        text.ddl_type("flashback", new_architecture=False)


# What TiDB's parser (the Go module pingcap/tidb/pkg/parser at d51e00e5bbf0, with TiCDC's flags and
# the value driver's doubled backslashes) made of statements that a grammar drew, and of some that
# users write; and statements of the recorded run, with what TiCDC sent for them.
STATEMENTS = [
    json.loads(line)
    for line in (Path(__file__).parent / "ticdc_ddl.jsonl").read_text("utf-8").splitlines()
]


def test_statements_of_a_grammar_are_restored_as_tidbs_parser_does():
    assert len(STATEMENTS) >= 300
    wrong = [
        (source, ddl.restored(source), expected)
        for source, expected in STATEMENTS
        if ddl.restored(source) != expected
    ]
    assert wrong == []


# What the same parser made of restored statements with the database d before each bare table, with
# the flags of TiCDC's router; null for one that it does not read.
ROUTED = [
    json.loads(line)
    for line in (Path(__file__).parent / "ticdc_ddl_routed.jsonl").read_text("utf-8").splitlines()
]


def test_routed_statements_are_restored_once_more_as_tidbs_parser_does():
    def routed(text):
        try:
            return ddl.parse(text, ttl_off=False, routed="d").text
        except Refused:
            return None

    assert len(ROUTED) >= 100
    assert [
        (text, routed(text), expected) for text, expected in ROUTED if routed(text) != expected
    ] == []


def test_a_name_with_a_point_in_back_quotes_is_not_qualified():
    routed = ddl.parse("drop table `a``.``b`", routed="d").text
    assert routed == "DROP TABLE `d`.`a``.``b`"


VIEW = "CREATE ALGORITHM = UNDEFINED DEFINER = CURRENT_USER SQL SECURITY DEFINER VIEW `v` AS "
"""What stands before the SELECT of a view."""


@pytest.mark.parametrize(
    ("select", "restored"),
    [
        # TiCDC's own test has this join and the next (ticdc#ddl-restored).
        (
            "select t.id as id from db1.t, db2.t",
            "SELECT `t`.`id` AS `id` FROM (`db1`.`t`) JOIN `db2`.`t`",
        ),
        (
            "select id from a inner join b on a.id = b.id",
            "SELECT `id` FROM `a` JOIN `b` ON `a`.`id`=`b`.`id`",
        ),
        (
            "select x.*, y.b z from a x left outer join b as y using (id) cross join c on true",
            "SELECT `x`.*,`y`.`b` AS `z` FROM (`a` AS `x` LEFT JOIN `b` AS `y` USING (`id`)) JOIN `c` ON TRUE",
        ),
        (
            (
                "select a, count(*), sum(distinct b) 'total' from t where c in (select id from s) group by"
                " a, 2 having count(*) > 1 order by a desc, b asc limit 5 offset 2"
            ),
            (
                "SELECT `a`,COUNT(1),SUM(DISTINCT `b`) AS `total` FROM `t` WHERE `c` IN (SELECT `id` FROM"
                " `s`) GROUP BY `a`,2 HAVING COUNT(1)>1 ORDER BY `a` DESC,`b` LIMIT 2,5"
            ),
        ),
        (
            "select (select max(a) from s) m from (select a from t) q with check option",
            "SELECT (SELECT MAX(`a`) FROM `s`) AS `m` FROM (SELECT `a` FROM `t`) AS `q`",
        ),
        (
            "select a from t union select a from s union all select 1 with local check option",
            "SELECT `a` FROM `t` UNION SELECT `a` FROM `s` UNION ALL SELECT 1 WITH LOCAL CHECK OPTION",
        ),
        (
            "select a from (select a from t) q, s",
            "SELECT `a` FROM (SELECT `a` FROM `t`) AS `q`, `s`",
        ),
        (
            "select a from t a, t b, t c",
            "SELECT `a` FROM ((`t` AS `a`) JOIN `t` AS `b`) JOIN `t` AS `c`",
        ),
        ("select a from t limit 3, 4", "SELECT `a` FROM `t` LIMIT 3,4"),
    ],
)
def test_select_of_a_view_is_restored(select, restored):
    assert ddl.restored(f"create view v as {select}") == VIEW + restored


@pytest.mark.parametrize(
    ("source", "restored"),
    [
        ("id serial", "`id` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE KEY"),
        (
            "id serial primary key",
            "`id` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE KEY PRIMARY KEY",
        ),
        ("id int serial default value", "`id` INT NOT NULL AUTO_INCREMENT UNIQUE KEY"),
        ("a nchar(5)", "`a` CHAR(5)"),
        ("a national character(5)", "`a` CHAR(5)"),
        ("a nvarchar(5) not null", "`a` VARCHAR(5) NOT NULL"),
        ("a national varchar(5)", "`a` VARCHAR(5)"),
        ("a national character varying(5)", "`a` VARCHAR(5)"),
        ("a nchar varying(5)", "`a` VARCHAR(5)"),
        ("a varchar(5) default 'b' 'c'", "`a` VARCHAR(5) DEFAULT _UTF8MB4'bc'"),
    ],
)
def test_synonyms_of_types_and_options_are_restored(source, restored):
    assert ddl.restored(f"create table t ({source})") == f"CREATE TABLE `t` ({restored})"


def test_like_in_brackets_and_alter_ignore_are_restored_without_them():
    assert ddl.restored("create table a (like b.c)") == "CREATE TABLE `a` LIKE `b`.`c`"
    assert ddl.restored("alter ignore table t drop a") == "ALTER TABLE `t` DROP COLUMN `a`"


@pytest.mark.parametrize(
    ("select", "resolved"),
    [
        ("select t.a from t", True),
        ("select a from e.t", True),
        ("select a from t", False),
        ("select `a``.``b` from t", False),
        ("select '`.`' from t", False),
        ("select 1.5 from t", False),
    ],
)
def test_only_names_of_two_parts_in_a_view_are_resolved(select, resolved):
    assert ddl.parse(f"create view v as {select}").resolved is resolved


@pytest.mark.parametrize("tables", ["", "from dual "])
def test_a_select_without_tables_has_dual_before_where(tables):
    sql = f"create view v as select 1 {tables}where 1 = 0"
    assert ddl.restored(sql).endswith(" AS SELECT 1 FROM DUAL WHERE 1=0")


def test_placement_and_ttl_are_kept_where_a_release_keeps_them():
    sql = "create table t (a int, c date) placement policy=p ttl = c + interval 1 day ttl_enable = 'ON'"
    assert ddl.restored(sql) == (
        "CREATE TABLE `t` (`a` INT,`c` DATE)  /*T![ttl] TTL = `c` + INTERVAL 1 DAY */ /*T![ttl] TTL_ENABLE = 'OFF' */"
    )
    assert ddl.restored(sql, placement=True, ttl_off=False) == (
        "CREATE TABLE `t` (`a` INT,`c` DATE) /*T![placement] PLACEMENT POLICY = `p` */ "
        "/*T![ttl] TTL = `c` + INTERVAL 1 DAY */ /*T![ttl] TTL_ENABLE = 'ON' */"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "FLUSH TABLES",
        "CREATE TABLE `t` (...)",
        "create table t (a int default 1e400)",
        "create table t (a geometry)",
        "create view v as select row_number() over (order by a) from t",
        "create view v as select all a from t",
        "create view v as select distinct sql_no_cache a from t",
        "create view v as select a from t join s join u on t.id = u.id",
        "create view v as select a from (t join s)",
        "create view v as select a from t left join s",
        "create table t (a int check (a in (select b from s where)))",
        "alter table t order by a",
        "DROP TABLE `a` `b`",
        "ALTER TABLE `t` ADD `c`",
    ],
)
def test_unknown_statement_is_refused(sql):
    with pytest.raises(Refused, match="TiDB's form of this statement is not known here"):
        ddl.restored(sql)


@pytest.mark.parametrize(
    ("value", "single", "double"),
    [
        *(
            (123.99, "123.99", "123.98999786376953"),
            (3.14, "3.14", "3.140000104904175"),
            (0.0, "0", "0"),
            (1.0, "1", "1"),
        ),
        *((1e10, "10000000000", "10000000000"), (-2.5, "-2.5", "-2.5")),
        (
            3.4028234663852886e38,
            "340282350000000000000000000000000000000",
            "340282346638528860000000000000000000000",
        ),
    ],
)
def test_floats_have_no_exponent(value, single, double):
    stored = mysql.to_float32(value)
    assert text.value_text(mysql.real("float"), stored) == single
    assert text.value_text(mysql.real("float"), stored, float_via_double=True) == double


def test_old_releases_have_no_suffixes():
    kind = mysql.integer("int", zerofill=True)
    assert text.mysql_type(kind, zerofill=False) == "int unsigned"
    assert text.mysql_type(kind, unsigned=False, zerofill=False) == "int"


@pytest.mark.parametrize(
    ("action", "type"),
    [
        *((action, "ALTER") for action in ("alter index visibility", "alter table partition by")),
        *((action, "QUERY") for action in ("alter table cache", "alter table nocache")),
    ],
)
def test_types_of_actions_under_tidbs_names(action, type):
    assert text.ddl_type(action, new_architecture=False) == type


@pytest.mark.parametrize(
    ("value", "shortest"),
    [
        (2.0**87, "154742510000000000000000000"),
        (2.0**90, "1237940100000000000000000000"),
        (2.0**-96, "0.000000000000000000000000000012621775"),
        (1124815.75, "1124815.8"),
        (-0.0, "-0"),
    ],
)
def test_a_binary32_has_gos_shortest_digits_also_at_powers_of_two(value, shortest):
    assert text.fixed32(value) == shortest
