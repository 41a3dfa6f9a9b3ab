import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest

from generators.errors import UsageError
from generators.model import Column, Default, Index, Table
from generators.sources import mysql
from generators.tables.schema import Check, ForeignKey

DUMPS = Path(__file__).with_name("dumps")

MYSQL_8 = (DUMPS / "mysql-8.sql").read_text("utf-8")


def test_a_dump_of_mysql_8(reads, notes, noted):
    schema = reads(MYSQL_8)
    customers, orders = schema.tables
    assert schema.dialect == "mysql"
    assert customers.table == Table(
        "shop",
        "customers",
        (
            Column(
                "id",
                mysql.integer("int", unsigned=True),
                False,
                declared="int unsigned",
                is_counter=True,
            ),
            Column(
                "email",
                mysql.text("varchar", 120),
                False,
                charset="latin1",
                collation="latin1_swedish_ci",
                comment="it's; here",
            ),
            Column(
                "kind",
                mysql.enum_of("new", "it's", "a,b"),
                False,
                default=Default("'it''s'", 2),
                collation="utf8mb4_unicode_ci",
            ),
        ),
        ("id",),
        (("email",),),
        indexes=(Index("email", ("email",), True), Index("kind", ("kind",))),
        comment="who; buys",
    )
    assert orders.table == Table(
        "shop",
        "orders",
        (
            Column("id", mysql.integer("bigint"), False, declared="bigint"),
            Column("customer", mysql.integer("int", unsigned=True), False, declared="int unsigned"),
            Column("amount", mysql.decimal(10, 2), default=Default("'0.00'", Decimal("0.00"))),
            Column(
                "due", mysql.temporal("date"), default=Default("'2024-01-31'", dt.date(2024, 1, 31))
            ),
            Column(
                "made",
                mysql.temporal("datetime", 3),
                default=Default("CURRENT_TIMESTAMP(3)"),
                has_on_update=True,
            ),
            Column(
                "flags",
                mysql.set_of("a", "b"),
                default=Default("'a,b'", 3),
                collation="utf8mb4_0900_ai_ci",
            ),
            Column("bits", mysql.bit(4), default=Default("b'101'", 5)),
            Column("raw", mysql.binary("binary", 4), default=Default(r"'ab\0\0'", b"ab\0\0")),
            Column("old", mysql.real("float", precision=7, scale=3), declared="float(7,3)"),
            Column("zip", orders.table.column("zip").type, declared="int(5) unsigned zerofill"),
            Column("doc", mysql.json(), default=Default("(json_object())")),
            Column("twice", mysql.decimal(12, 2), generated="stored"),
            Column("half", mysql.integer("int"), declared="int", generated="virtual", comment="h"),
        ),
        ("id", "customer"),
        indexes=(Index("fk", ("customer",)),),
    )
    zip_code = orders.table.column("zip").type
    assert (zip_code.key, zip_code.length, zip_code.zerofill) == ("int unsigned", 5, True)
    assert orders.foreign_keys == (ForeignKey(("customer",), ("shop", None, "customers"), ("id",)),)
    assert orders.computed == (("twice", "(`amount` * 2)"),)
    assert orders.checks == (Check("amount", "(`amount` > 0)", low=Decimal("0.01")),)
    assert notes(schema) == noted("mysql-8")


def test_a_national_text_has_its_own_character_set(reads):
    """Canal reads NATIONAL VARCHAR in a table of latin1 as UTF-8."""
    sql = "CREATE TABLE t (a NCHAR(4), b national varchar(9), c varchar(9)) CHARSET latin1;"
    columns = reads(sql, dialect="mysql").tables[0].table.columns
    assert [column.charset for column in columns] == ["utf8mb3", "utf8mb3", "latin1"]


MYSQL_5 = (DUMPS / "mysql-5.7.sql").read_text("utf-8")


def test_a_dump_of_mysql_5_7(reads, notes, noted):
    schema = reads(MYSQL_5)
    (user,) = schema.tables
    assert (schema.dialect, user.table.database) == ("mysql", "old shop")
    assert [
        (c.name, c.type.key, c.type.length, c.charset, c.collation) for c in user.table.columns
    ] == [
        *(
            ("id", "int", 11, "", ""),
            ("flag", "tinyint", 1, "", ""),
            ("name", "varchar", 20, "gbk", ""),
        ),
        *(
            ("big", "varchar", 20, "", ""),
            ("ts", "timestamp", None, "", ""),
            ("year", "year", 4, "", ""),
        ),
    ]
    assert notes(schema) == noted("mysql-5.7")


TIDB = (DUMPS / "tidb.sql").read_text("utf-8")


def test_show_create_table_of_tidb(reads, notes):
    schema = reads(TIDB, database="test")
    clustered, other = (user.table for user in schema.tables)
    assert schema.dialect == "tidb"
    assert clustered == Table(
        "test",
        "t",
        (
            Column("id", mysql.integer("bigint"), False, declared="bigint"),
            Column("v", mysql.vector(3)),
            Column("a", mysql.text("varchar", 10)),
        ),
        ("id",),
        (("a",),),
        indexes=(Index("u", ("a",), True),),
    )
    assert (other.primary_key, other.unique, other.indexes) == (
        ("a",),
        (),
        (Index("PRIMARY", ("a",), True),),
    )
    assert notes(schema) == [
        "a.sql:13:59: TTL=`b` + INTERVAL 1 YEAR: left out: no history deletes by age"
    ]
    # another database takes its comments for comments
    assert reads(TIDB, dialect="mariadb").tables[0].table.indexes == ()


MARIADB = (DUMPS / "mariadb.sql").read_text("utf-8")


def test_a_dump_of_mariadb(reads, notes, noted):
    schema = reads(MARIADB)
    (user,) = schema.tables
    assert schema.dialect == "mariadb"
    assert user.table == Table(
        "crm",
        "t",
        (
            Column(
                "id",
                mysql.integer("int"),
                False,
                default=Default("nextval(`crm`.`s`)"),
                declared="int(11)",
            ),
            Column("j", mysql.text("longtext")),
            Column("n", mysql.integer("int"), default=Default("5", 5), declared="int(11)"),
            Column(
                "at",
                mysql.temporal("timestamp"),
                False,
                default=Default("current_timestamp()"),
                has_on_update=True,
            ),
            Column("c", mysql.text("text"), charset="utf8mb3", collation="utf8mb3_general_ci"),
            Column(
                "p", mysql.text("varchar", 40), charset="utf8mb3", collation="utf8mb3_general_ci"
            ),
        ),
        unique=(("p",),),
        indexes=(Index("p", ("p",), True),),
    )
    assert user.checks == (Check("n", "`n` between 1 and 9", low=1, high=9),)
    assert notes(schema) == noted("mariadb")


SHOWN = (DUMPS / "shown.sql").read_text("utf-8")


def test_show_create_table_as_clients_print_it(reads, notes):
    schema = reads(SHOWN, database="d")
    assert [user.table.name for user in schema.tables] == ["t", "u", "w", "x"]
    assert notes(schema) == ["a.sql:9:12: FOO: left out: not understood"]


@pytest.mark.parametrize(
    ("spelled", "key", "facts", "declared"),
    [
        ("bigint(20) unsigned", "bigint unsigned", {"length": 20}, "bigint(20) unsigned"),
        ("smallint(4) unsigned zerofill", "smallint unsigned", {}, "smallint(4) unsigned zerofill"),
        *(("int(3)", "int", {}, "int(3)"), ("year(4)", "year", {}, "year(4)")),
        *(("int", "int", {}, "int"), ("tinyint(1)", "tinyint", {}, "")),
        *(("bit", "bit", {"length": 1}, "bit"), ("bit(1)", "bit", {"length": 1}, "")),
        ("decimal", "decimal", {"precision": 10, "scale": 0}, "decimal"),
        ("char(4)    binary", "char", {"length": 4}, "char(4) BINARY"),
        *(
            ("varchar(9) byte", "varbinary", {"length": 9}, "varchar(9) byte"),
            ("text(63)", "tinytext", {}, "text(63)"),
        ),
        *(("text(64)", "text", {}, "text(64)"), ("blob(65536)", "mediumblob", {}, "blob(65536)")),
        *(
            ("serial", "bigint unsigned", {}, "serial"),
            ("datetime(6)", "datetime", {"fsp": 6}, ""),
        ),
        ("varcharacter(9)", "varchar", {"length": 9}, ""),
        ("enum('a)','b''','c\\\\')", "enum", {"members": ("a)", "b'", "c\\")}, ""),
    ],
)
def test_a_type_has_many_spellings(reads, spelled, key, facts, declared):
    (column,) = reads(f"CREATE TABLE t (c {spelled});", dialect="mysql").tables[0].table.columns
    assert (column.type.key, column.declared) == (key, declared)
    assert {name: getattr(column.type, name) for name in facts} == facts


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        *(
            ("int DEFAULT -5", -5),
            ("int DEFAULT '7'", 7),
            ("decimal(5,2) DEFAULT .5", Decimal("0.5")),
            (
                "decimal(40,2) DEFAULT 12345678901234567890123456789012345.678",
                Decimal("12345678901234567890123456789012345.68"),
            ),
        ),
        *(
            ("tinyint(1) DEFAULT TRUE", 1),
            ("bit(4) DEFAULT 0b101", 5),
            ("varbinary(4) DEFAULT 0x00ff", b"\x00\xff"),
        ),
        *(
            ("varchar(4) DEFAULT _utf8mb4'x\\n'", "x\n"),
            ("time(1) DEFAULT '-10:00:00.5'", -36_000_500_000),
        ),
        *(
            ("enum('a','b') DEFAULT 'b'", 2),
            ("datetime DEFAULT '2024-01-01'", mysql.wall("2024-01-01")),
        ),
        *(
            ("time DEFAULT '15:00'", 54_000_000_000),
            ("datetime DEFAULT '2024-01-01 15:00'", mysql.wall("2024-01-01") + 54_000_000_000),
            (
                "decimal(30,10) DEFAULT 12345678901234567890.0123456789",
                Decimal("12345678901234567890.0123456789"),
            ),
        ),
        *(("int DEFAULT (1 + 1)", None), ("varchar(36) DEFAULT (uuid())", None)),
        ("datetime DEFAULT now() ON UPDATE now()", None),
    ],
)
def test_a_default_has_a_value_unless_it_is_an_expression(reads, definition, value):
    schema = reads(f"CREATE TABLE t (c {definition} NOT NULL);", dialect="mysql", database="d")
    (column,) = schema.tables[0].table.columns
    assert column.default is not None
    assert (column.default.value, type(column.default.value), column.nullable) == (
        value,
        type(value),
        False,
    )
    assert schema.notes == ()


@pytest.mark.parametrize(
    ("own", "tables", "expected"),
    [
        ("", "", ("", "")),
        ("", "CHARSET=utf8mb4 COLLATE=utf8mb4_bin", ("", "")),
        ("", "CHARSET=latin1", ("latin1", "")),
        ("", "COLLATE=latin1_bin", ("latin1", "latin1_bin")),
        ("CHARACTER SET utf8mb4", "CHARSET=latin1 COLLATE=latin1_bin", ("", "")),
        ("CHARACTER SET gbk", "CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci", ("gbk", "")),
        (
            "COLLATE latin1_general_cs",
            "CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci",
            ("latin1", "latin1_general_cs"),
        ),
        ("BINARY", "CHARSET=latin1 COLLATE=latin1_swedish_ci", ("latin1", "latin1_bin")),
    ],
)
def test_a_column_has_its_tables_character_set_unless_it_has_its_own(reads, own, tables, expected):
    (text, number) = (
        reads(f"CREATE TABLE t (c varchar(5) {own}, i int) {tables};", dialect="mysql")
        .tables[0]
        .table.columns
    )
    assert (text.charset, text.collation) == expected
    assert (number.charset, number.collation) == ("", "")


def test_a_column_of_any_character_set_keeps_it(reads):
    schema = reads(
        "CREATE TABLE t (a char(5) CHARACTER SET sjis, b text COLLATE latin2_bin);",
        dialect="mysql",
        database="d",
    )
    assert [column.charset for column in schema.tables[0].table.columns] == ["sjis", "latin2"]
    assert schema.notes == ()


def test_a_table_is_renamed_behind_other_clauses(reads):
    schema = reads(
        "CREATE TABLE t (a int, b int); ALTER TABLE t DROP COLUMN b, RENAME TO u;", dialect="mysql"
    )
    ((table),) = (user.table for user in schema.tables)
    assert (table.name, [column.name for column in table.columns]) == ("u", ["a"])


@pytest.mark.parametrize(
    "clause",
    [
        "REORGANIZE PARTITION p, q INTO (PARTITION p VALUES LESS THAN (9))",
        "DROP PARTITION p, q",
        "TRUNCATE PARTITION p, q",
        "ORDER BY a, b",
    ],
)
def test_the_names_behind_a_partition_are_no_actions(reads, clause):
    schema = reads(f"CREATE TABLE t (a int, b int); ALTER TABLE t {clause};", dialect="mysql")
    assert [user.table.name for user in schema.tables] == ["t"]


def test_serial_default_value_is_a_counter_with_a_key(reads):
    schema = reads("CREATE TABLE t (a int SERIAL DEFAULT VALUE);", dialect="mysql", database="d")
    (table,) = (user.table for user in schema.tables)
    column = table.column("a")
    assert (column.nullable, column.inline_unique, column.is_counter) == (False, True, True)
    assert (table.unique, schema.notes) == ((("a",),), ())


@pytest.mark.parametrize(
    ("statements", "states"),
    [
        ("", [True, None]),
        ("ALTER TABLE t MODIFY id bigint;", [False, None]),
        ("ALTER TABLE t MODIFY id bigint PRIMARY KEY;", [True, None]),
        ("ALTER TABLE t CHANGE id k bigint; ALTER TABLE t MODIFY k int;", [False, None]),
        ("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a);", [True, None]),
        ("ALTER TABLE t MODIFY id bigint, DROP PRIMARY KEY, ADD PRIMARY KEY (id);", [None, None]),
    ],
)
def test_a_column_knows_whether_its_definition_says_primary_key(reads, statements, states):
    created = "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL); "
    schema = reads(created + statements, dialect="mysql")
    columns = schema.tables[0].table.columns
    assert [column.inline_primary for column in columns] == states


def test_the_columns_of_a_dropped_key_stay_not_null(reads):
    schema = reads(
        "CREATE TABLE t (code char(2) PRIMARY KEY, name varchar(9));"
        "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (name);",
        dialect="mysql",
    )
    table = schema.tables[0].table
    assert table.primary_key == ("name",)
    assert [(c.name, c.nullable) for c in table.columns] == [("code", False), ("name", False)]


def test_a_default_that_no_column_can_have_is_noted(reads, notes):
    schema = reads(
        "CREATE TABLE t (c enum('a') DEFAULT 'b', d int DEFAULT NULL);",
        dialect="mysql",
        database="d",
    )
    assert [c.default for c in schema.tables[0].table.columns] == [Default("'b'"), None]
    assert notes(schema) == [
        "a.sql:1:29: DEFAULT 'b': taken as an expression: no value of the column's type"
    ]


def test_clauses_that_stand_seldom(reads, notes):
    """MariaDB's versions of rows, TiDB's vectors, and what MySQL takes beside a definition."""
    schema = reads(
        """CREATE TABLE t (
  id int PRIMARY KEY,
  a varchar(9) COMPRESSED=zlib INVISIBLE,
  b int DEFAULT NEXT VALUE FOR s STORAGE DISK,
  c binary(4) DEFAULT 0x6162,
  d bit(8) DEFAULT 'a',
  e decimal(3,1) DEFAULT .5 WITHOUT SYSTEM VERSIONING,
  s timestamp(6) GENERATED ALWAYS AS ROW START,
  f timestamp(6) GENERATED ALWAYS AS ROW END,
  PERIOD FOR SYSTEM_TIME (s, f),
  VECTOR KEY v (c),
  FOREIGN KEY k (b) REFERENCES t (id) MATCH FULL ON DELETE SET NULL
) UNION=(x, y) WITH SYSTEM VERSIONING;
CREATE TABLE g (id int) AS SELECT 1;
CREATE TABLE h LIKE elsewhere;""",
        dialect="mariadb",
        database="d",
    )
    (user,) = schema.tables
    assert [(c.name, c.type.name, c.nullable, c.default) for c in user.table.columns] == [
        *(
            ("id", "int", False, None),
            ("a", "varchar", True, None),
            ("b", "int", True, Default("NEXT VALUE FOR s")),
        ),
        *(
            ("c", "binary", True, Default("0x6162", b"ab\0\0")),
            ("d", "bit", True, Default("'a'", 97)),
        ),
        *(
            ("e", "decimal", True, Default(".5", Decimal("0.5"))),
            ("s", "timestamp", False, None),
            ("f", "timestamp", False, None),
        ),
    ]
    assert user.foreign_keys == (ForeignKey(("b",), ("d", None, "t"), ("id",)),)
    without = "left out: the table is taken without system versions"
    assert notes(schema) == [
        "a.sql:3:32: INVISIBLE: taken as a visible column, since row events hold it",
        f"a.sql:7:29: WITHOUT SYSTEM VERSIONING: {without}",
        f"a.sql:8:18: GENERATED ALWAYS AS ROW START: {without}",
        f"a.sql:9:18: GENERATED ALWAYS AS ROW END: {without}",
        f"a.sql:10:3: PERIOD FOR SYSTEM_TIME (s, f): {without}",
        "a.sql:11:3: VECTOR KEY v (c): left out: the model has no such index",
        "a.sql:12:39: MATCH FULL ON DELETE SET NULL: left out: no history relies on it",
        f"a.sql:13:16: WITH SYSTEM VERSIONING: {without}",
        "a.sql:14:25: AS SELECT 1: table g left out: its columns come from a query",
        "a.sql:15:1: CREATE TABLE h LIKE elsewhere: table h left out: its columns are another table's or a query's",
    ]


def test_a_table_made_like_another_has_its_definition_and_follows_it_no_longer(reads, notes):
    schema = reads(
        """CREATE TABLE t (id INT PRIMARY KEY, n DEC(5,1) DEFAULT 2, UNIQUE u (n)) COMMENT='c';
CREATE TABLE a LIKE t;
CREATE TABLE b (LIKE a);
ALTER TABLE t DROP COLUMN n;
ALTER TABLE b ADD COLUMN m INT;""",
        dialect="mysql",
        database="d",
    )
    tables = {user.table.name: user.table for user in schema.tables}
    assert {name: [c.name for c in table.columns] for name, table in tables.items()} == {
        "t": ["id"],
        "a": ["id", "n"],
        "b": ["id", "n", "m"],
    }
    copied = tables["b"]
    assert (copied.primary_key, copied.unique, copied.comment) == (("id",), (("n",),), "c")
    assert copied.column("n").default == Default("2", Decimal("2.0"))
    assert notes(schema) == ["a.sql:1:39: DEC(5,1): taken as decimal, as the database shows it"]


def test_an_index_that_was_not_read_is_passed_over(reads, notes):
    schema = reads(
        "CREATE TABLE t (a INT, b TEXT, CONSTRAINT f FOREIGN KEY (a) REFERENCES p (a), FULLTEXT g (b));"
        "ALTER TABLE t DROP INDEX f, DROP KEY g, RENAME INDEX h TO i;",
        dialect="mysql",
    )
    assert [user.table.name for user in schema.tables] == ["t"]
    assert not [note for note in notes(schema) if "not understood" in note]


def test_an_added_list_may_have_a_key_among_its_columns(reads):
    (user,) = reads(
        "CREATE TABLE t (v INT); ALTER TABLE t ADD COLUMN (a INT NOT NULL, b INT, UNIQUE (b), KEY (a));",
        dialect="mysql",
    ).tables
    assert [c.name for c in user.table.columns] == ["v", "a", "b"]
    assert user.table.unique == (("b",),)


def test_statements_change_the_tables_before_them(reads, notes):
    schema = reads(
        """-- phpMyAdmin SQL Dump
-- Server version: 10.4.27-MariaDB
-- Database: `shop`
CREATE TABLE `t` (`id` int(11) NOT NULL, `n` varchar(10) NOT NULL) ENGINE=InnoDB;
CREATE TABLE `gone` (`id` int(11));
ALTER TABLE `t` ADD PRIMARY KEY (`ID`), ADD UNIQUE KEY `u` (`n`), ADD COLUMN z int AFTER id, ADD (y int, x int),
  CHANGE n m varchar(20) NOT NULL FIRST, DROP COLUMN z, ADD CONSTRAINT fk FOREIGN KEY (x) REFERENCES T2 (id);
ALTER TABLE `t` MODIFY `id` int(11) NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=5;
CREATE UNIQUE INDEX i2 ON t (y DESC);
CREATE INDEX i3 USING BTREE ON t (x) COMMENT 'y';
ALTER TABLE nope ADD COLUMN a int;
DROP TABLE IF EXISTS `gone`, `never`;
CREATE TABLE u (a int);
ALTER TABLE u RENAME TO w;
"""
    )
    user, renamed = schema.tables
    assert (schema.dialect, user.table.database, user.table.name) == ("mariadb", "shop", "t")
    assert renamed.table.name == "w"
    assert [c.name for c in user.table.columns] == ["m", "id", "y", "x"]
    assert user.table.primary_key == ("id",)
    assert user.table.indexes == (
        Index("u", ("m",), True),
        Index("i2", ("y",), True),
        Index("i3", ("x",)),
    )
    assert notes(schema) == [
        (
            "a.sql:7:61: CONSTRAINT fk FOREIGN KEY (x) REFERENCES T2 (id): "
            "left out: table shop.T2 is not among the tables that are taken"
        ),
        "a.sql:11:1: ALTER TABLE nope ADD COLUMN a int: left out: the table is not among the tables that are read",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE `t` (a int", "a.sql:1:18: this parenthesis does not end"),
        ("CREATE TABLE `t` (\n  a int,\n  b)", "a.sql:3:4: a name expected"),
        ("CREATE TABLE `t` (a int, A int)", "a.sql:1:26: column A is defined twice"),
        ("CREATE TABLE `t` (a int, PRIMARY KEY (b))", "a.sql:1:39: table t has no column b"),
        ("CREATE TABLE `t` (a int COMMENT 'x)", "a.sql:1:33: the quote ' does not end"),
        ("CREATE TABLE [t] (a int) ENGINE=InnoDB", "a.sql:1:14: a name expected, not '['"),
        (
            "CREATE TABLE `t` (a decimal(70,2))",
            "a.sql:1:21: decimal(70,2): precision is 1 to 65, scale 0 to 30 and at most the precision",
        ),
        (
            "CREATE TABLE `t` (a int); CREATE TABLE d.`t` (b int);",
            "a.sql:1:40: table d.t was read at {0}/a.sql:1:14",
        ),
    ],
)
def test_a_mistake_is_said_with_its_place(reads, tmp_path, text, message):
    with pytest.raises(UsageError) as raised:
        reads(text, database="d")
    assert str(raised.value) == f"{tmp_path}/{message.format(tmp_path)}"


@pytest.mark.parametrize("name", ["float", "text"])
def test_a_length_that_is_no_number_of_mysql_ends_no_run(reads, name):
    (user,) = reads(f"CREATE TABLE `t` (a {name}(²))", database="d").tables
    assert user.table.column("a").type.name == name
    with pytest.raises(UsageError, match=r"a\.sql:1:21: "):
        reads(f"CREATE TABLE `t` (a {name}({'9' * 5000}))", database="d")


def test_what_is_not_understood_is_noted(reads, notes):
    schema = reads(
        "CREATE TABLE t (a int FOO(1) NOT NULL BAR, KEY k (a) BAZ) QUX=5, ENGINE=InnoDB;\nCALL p();",
        dialect="mysql",
        database="d",
    )
    assert schema.tables[0].table == Table(
        "d",
        "t",
        (Column("a", mysql.integer("int"), False, declared="int"),),
        indexes=(Index("k", ("a",)),),
    )
    assert notes(schema) == [
        *(
            "a.sql:1:23: FOO(1): left out: not understood",
            "a.sql:1:39: BAR: left out: not understood",
        ),
        *(
            "a.sql:1:54: BAZ: left out: not understood",
            "a.sql:1:59: QUX=5: left out: not understood",
        ),
        "a.sql:2:1: CALL p(): statement left out: not understood",
    ]


@pytest.mark.parametrize(
    ("dialect", "clause", "note"),
    [
        *(
            ("tidb", clause, "it changes no column")
            for clause in ("SET TIFLASH REPLICA 2", "CACHE", "NOCACHE", "REMOVE TTL")
        ),
        *(
            ("tidb", clause, "it changes no column")
            for clause in ("ATTRIBUTES='merge_option=deny'", "ALTER INDEX k INVISIBLE")
        ),
        ("mariadb", "ALTER KEY k IGNORED", "it changes no column"),
        *(
            ("mysql", f"ALTER {kind} c NOT ENFORCED", "the check stays as it was defined")
            for kind in ("CHECK", "CONSTRAINT")
        ),
        *(("mysql", clause, None) for clause in ("DISABLE KEYS", "FORCE", "AUTO_INCREMENT = 5")),
    ],
)
def test_clauses_that_change_no_column(reads, notes, dialect, clause, note):
    schema = reads(
        f"CREATE TABLE t (a int, KEY k (a), CHECK (a > 0));\nALTER TABLE t {clause};",
        dialect=dialect,
        database="d",
    )
    assert [(c.column, c.low) for c in schema.tables[0].checks] == [("a", 1)]
    assert notes(schema) == ([f"a.sql:2:15: {clause}: left out: {note}"] if note else [])


def test_tables_columns_and_keys_have_new_names(reads, notes):
    """A reference follows the table and the columns to which it refers."""
    schema = reads(
        """CREATE TABLE p (id int PRIMARY KEY, a varchar(9), KEY k (a), KEY l (id));
CREATE TABLE c (id int, p int, FOREIGN KEY (p) REFERENCES p (id));
ALTER TABLE p RENAME COLUMN a TO b, RENAME INDEX k TO m, DROP KEY l, DROP PRIMARY KEY;
ALTER TABLE c RENAME COLUMN p TO parent;
RENAME TABLE p TO q, c TO d;
ALTER TABLE d RENAME AS e;
ALTER TABLE q CONVERT TO CHARACTER SET latin1;""",
        dialect="mysql",
        database="d",
    )
    parent, child = (user.table for user in schema.tables)
    assert (parent.name, [c.name for c in parent.columns]) == ("q", ["id", "b"])
    assert (parent.primary_key, parent.column("b").charset) == ((), "latin1")
    assert parent.indexes == (Index("m", ("b",)),)
    assert (child.name, [c.name for c in child.columns]) == ("e", ["id", "parent"])
    (reference,) = schema.tables[1].foreign_keys
    assert (reference.columns, reference.parent.name) == (("parent",), "q")
    assert notes(schema) == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("RENAME TABLE t TO u", "a.sql:3:14: table d.u is there"),
        ("ALTER TABLE t RENAME COLUMN a TO b", "a.sql:3:34: table t has a column b"),
        ("ALTER TABLE t RENAME COLUMN z TO y", "a.sql:3:29: table t has no column z"),
    ],
)
def test_a_new_name_that_is_there_is_a_mistake(reads, tmp_path, statement, message):
    text = f"CREATE TABLE t (a int, b int);\nCREATE TABLE u (a int);\n{statement};"
    with pytest.raises(UsageError) as raised:
        reads(text, dialect="mysql", database="d")
    assert str(raised.value) == f"{tmp_path}/{message}"


@pytest.mark.parametrize(
    "clause",
    [
        *("ADD PARTITION (PARTITION p VALUES LESS THAN (9))", "DROP PARTITION p"),
        *("REORGANIZE PARTITION p INTO (PARTITION q VALUES LESS THAN (9))", "REMOVE PARTITIONING"),
    ],
)
def test_statements_on_partitions_are_left_out(reads, notes, clause):
    """ADD PARTITION (...) was read as a column."""
    schema = reads(
        f"CREATE TABLE t (a int);\nALTER TABLE t {clause};", dialect="mysql", database="d"
    )
    assert [c.name for c in schema.tables[0].table.columns] == ["a"]
    assert notes(schema) == [
        f"a.sql:2:15: {clause}: left out: the table is taken without partitions"
    ]


@pytest.mark.parametrize(
    "clause",
    [
        "SET foo",
        "ENABLE TRIGGER x",
        "OWNER TO me",
    ],
)
def test_a_clause_that_is_not_understood_leaves_the_table_out(reads, notes, clause):
    given = f"CREATE TABLE t (a int, `index` int, `key` int, KEY k (a));\nALTER TABLE t {clause};\nCREATE TABLE u (a int);"
    schema = reads(given, dialect="mysql", database="d")
    assert [user.table.name for user in schema.tables] == ["u"]
    assert notes(schema) == [f"a.sql:2:15: {clause}: table t left out: not understood"]


@pytest.mark.parametrize(
    ("query", "construct"),
    [
        *(
            (query, query)
            for query in (
                "WITH c AS (SELECT 1) SELECT * FROM c",
                "AS SELECT 1",
                "(SELECT 1)",
                "TABLE x",
            )
        ),
        *(
            ("VALUES ROW(1)", "VALUES ROW(1)"),
            ("PARTITION BY HASH (a) PARTITIONS 2 SELECT 1", "SELECT 1"),
        ),
    ],
)
def test_a_table_of_a_query_beside_its_columns_is_left_out(reads, notes, query, construct):
    schema = reads(
        f"CREATE TABLE t (a int) {query};\nCREATE TABLE u (a int);", dialect="mysql", database="d"
    )
    assert [user.table.name for user in schema.tables] == ["u"]
    assert notes(schema)[-1].endswith(
        f": {construct}: table t left out: its columns come from a query"
    )


def test_a_table_of_nothing_but_a_query_is_left_out(reads, notes):
    schema = reads(
        "CREATE TABLE t (SELECT 1 AS a);\nCREATE TABLE u (a int);", dialect="mysql", database="d"
    )
    assert [user.table.name for user in schema.tables] == ["u"]
    assert notes(schema) == [
        "a.sql:1:1: CREATE TABLE t (SELECT 1 AS a): table t left out: its columns are another table's or a query's"
    ]


def test_columns_are_changed_if_they_exist(reads, notes):
    clauses = "MODIFY COLUMN IF EXISTS a bigint, CHANGE IF EXISTS b c int, ALTER COLUMN IF EXISTS c SET DEFAULT 4, DROP IF EXISTS d"
    schema = reads(
        f"CREATE TABLE t (a int, b int, d int);\nALTER TABLE t {clauses};",
        dialect="mariadb",
        database="d",
    )
    assert schema.tables[0].table.columns == (
        Column("a", mysql.integer("bigint"), declared="bigint"),
        Column("c", mysql.integer("int"), declared="int", default=Default("4", 4)),
    )
    assert notes(schema) == []


def test_a_line_of_dashes_swallows_no_statement(reads):
    schema = reads(
        "-- Server version\t8.0.36\n-----------\nCREATE TABLE a (id INT PRIMARY KEY);\n"
        "  ---- b --\nCREATE TABLE b (id INT PRIMARY KEY);\n"
    )
    assert [user.table.name for user in schema.tables] == ["a", "b"]


def test_mysql_takes_a_dropped_column_out_of_its_keys(reads):
    schema = reads(
        "CREATE TABLE t (id int, a int, b int, g int AS (a + 1), PRIMARY KEY (id, a),"
        " UNIQUE u (a, b), KEY k (a)); ALTER TABLE t DROP COLUMN g, DROP COLUMN a;",
        dialect="mysql",
        database="d",
    )
    table = schema.tables[0].table
    assert (table.primary_key, table.unique, [index.name for index in table.indexes]) == (
        ("id",),
        (("b",),),
        ["u"],
    )
    assert schema.notes == ()


def test_a_foreign_key_follows_its_parents_column_through_two_names(reads):
    schema = reads(
        "CREATE TABLE p (id int PRIMARY KEY);"
        "CREATE TABLE c (x int, FOREIGN KEY (x) REFERENCES p (ID));"
        "ALTER TABLE p RENAME COLUMN id TO pk; ALTER TABLE p CHANGE pk number int;",
        dialect="mysql",
        database="d",
    )
    (key,) = schema.tables[1].foreign_keys
    assert (key.columns, key.parent_columns) == (("x",), ("number",))
    assert schema.notes == ()


def test_drop_index_drops_the_index_of_the_table(reads):
    schema = reads(
        "CREATE TABLE t (a int, b int, UNIQUE u (b), KEY k (a), PRIMARY KEY (a));"
        "CREATE TABLE o (b int, UNIQUE u (b));"
        "DROP INDEX `U` ON t ALGORITHM = INPLACE; DROP INDEX `PRIMARY` ON t;",
        dialect="mysql",
        database="d",
    )
    table, other = (user.table for user in schema.tables)
    assert (table.primary_key, [index.name for index in table.indexes]) == ((), ["k"])
    assert other.unique == (("b",),)
    assert schema.notes == ()


@pytest.mark.parametrize(
    ("definition", "counted"),
    [
        ("INT AUTO_INCREMENT", True),
        ("TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP DEFAULT NULL", True),
        ("TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP", True),
        ("TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)", False),
        ("DATETIME DEFAULT NOW() ON UPDATE NOW()", False),
        ("INT DEFAULT 1", False),
    ],
)
def test_what_a_writer_takes_for_a_counter(reads, definition, counted):
    schema = reads(f"CREATE TABLE `t` (`k` INT PRIMARY KEY, `c` {definition});")
    (user,) = schema.tables
    assert user.table.column("c").is_counter is counted


@pytest.mark.parametrize(
    "clause", ["DROP PRIMARY KEY", "DROP INDEX `PRIMARY`", "DROP KEY `PRIMARY`"]
)
@pytest.mark.parametrize("clustering", ["", " NONCLUSTERED"])
def test_a_primary_key_is_dropped_with_its_index(reads, notes, clause, clustering):
    made = f"CREATE TABLE t (id int NOT NULL, a int NOT NULL, PRIMARY KEY (id){clustering});"
    schema = reads(f"{made} ALTER TABLE t {clause};", dialect="tidb", database="d")
    table = schema.tables[0].table
    assert (table.primary_key, table.indexes, notes(schema)) == ((), (), [])


@pytest.mark.parametrize("clause", ["RENAME TO u", "RENAME AS u", "RENAME u", "RENAME = u"])
def test_a_table_is_renamed_among_other_actions(reads, notes, clause):
    schema = reads(
        f"CREATE TABLE t (k int PRIMARY KEY, a int, b int); ALTER TABLE t DROP a, {clause}, ADD c int;"
        " ALTER TABLE u DROP b;",
        dialect="mysql",
        database="d",
    )
    (user,) = schema.tables
    assert (user.table.name, [c.name for c in user.table.columns]) == ("u", ["k", "c"])
    assert notes(schema) == []


def test_a_column_that_is_there_is_not_added_if_not_exists(reads, notes):
    schema = reads(
        "CREATE TABLE t (k int PRIMARY KEY, a int);"
        "ALTER TABLE t ADD COLUMN IF NOT EXISTS A text, ADD IF NOT EXISTS b int;",
        dialect="mariadb",
        database="d",
    )
    (user,) = schema.tables
    assert [(c.name, c.type.key) for c in user.table.columns] == [
        ("k", "int"),
        ("a", "int"),
        ("b", "int"),
    ]
    assert "left out: the column is there" in notes(schema)[0]


def test_a_column_says_that_it_updates_itself(reads):
    schema = reads(
        "CREATE TABLE t (k int PRIMARY KEY, a timestamp DEFAULT current_timestamp ON UPDATE"
        " current_timestamp, b timestamp NULL ON UPDATE current_timestamp, c timestamp DEFAULT now());",
        dialect="mysql",
        database="d",
    )
    (user,) = schema.tables
    assert [c.has_on_update for c in user.table.columns] == [False, True, True, False]
