import pytest

from generators.errors import UnknownName, UsageError
from generators.tables.reading import detect_dialect, read_schema
from generators.tables.schema import Note

PLAIN = "CREATE TABLE t (id integer, v varchar(10));"


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("-- MySQL dump 10.13\n-- Server version\t8.0.36\nCREATE TABLE t (a int);", "mysql"),
        ("-- MySQL dump 10.19  Distrib 10.6.12-MariaDB\nCREATE TABLE t (a int);", "mariadb"),
        ("-- Server version\t8.0.11-TiDB-v8.5.0\nCREATE TABLE t (a int);", "tidb"),
        ("-- Server version: 10.4.27-MariaDB\nCREATE TABLE t (a int);", "mariadb"),
        ("--\n-- PostgreSQL database dump\n--\nCREATE TABLE t (a int);", "postgresql"),
        ("CREATE TABLE `t` (`a` int)", "mysql"),
        ("create table t (a int) engine=InnoDB", "mysql"),
        ("CREATE TABLE t (a int unsigned)", "mysql"),
        ("CREATE TABLE t (a datetime DEFAULT CURRENT_TIMESTAMP())", "mysql"),
        ("CREATE TABLE `t` (a timestamp DEFAULT current_timestamp())", "mariadb"),
        ("CREATE TABLE `t` (`id` bigint NOT NULL /*T![auto_rand] AUTO_RANDOM(5) */)", "tidb"),
        ("CREATE TABLE t (a serial)", "postgresql"),
        ("CREATE TABLE t (a text DEFAULT 'x'::text)", "postgresql"),
        ("CREATE TABLE t (a timestamp with time zone)", "postgresql"),
        ("CREATE TABLE t (`a` int COMMENT 'a::b with time zone') -- it's a serial", "mysql"),
        ("CREATE TABLE t (a int);\nINSERT INTO t VALUES ('`');", None),
        ("CREATE TABLE [dbo].[t] ([a] [tinyint] NULL)", "sqlserver"),
        ("CREATE TABLE t (a int IDENTITY (1, 1), b datetime, c tinyint)", "sqlserver"),
        ("CREATE TABLE t (a nvarchar(max))", "sqlserver"),
        ("CREATE TABLE t (a datetime)\nGO\n", "sqlserver"),
        ("CREATE TABLE t (a nvarchar(10))", None),
        ("CREATE TABLE t (a VARCHAR2(10 CHAR))", "oracle"),
        ("PROMPT it's\nCREATE TABLE t (a timestamp with local time zone)", "oracle"),
        ("CREATE TABLE t (a NUMBER(*,2), b DATE DEFAULT SYSDATE)", "oracle"),
        (PLAIN, None),
    ],
)
def test_the_text_tells_its_dialect(text, dialect):
    assert detect_dialect(text) == dialect


def test_a_dialect_that_the_text_does_not_tell_is_asked_for(tmp_path):
    path = write(tmp_path, "plain.sql", PLAIN)
    with pytest.raises(UsageError) as raised:
        read_schema([path])
    assert (
        str(raised.value)
        == f"{path}: the text does not tell its dialect; name it: mysql, mariadb, tidb, postgresql,"
        " sqlserver, oracle"
    )
    assert {
        dialect: read_schema([path], dialect).source for dialect in ("mysql", "tidb", "postgresql")
    } == {
        "mysql": "mysql",
        "tidb": "mysql",
        "postgresql": "postgresql",
    }
    with pytest.raises(UnknownName, match="unknown dialect 'db2'"):
        read_schema([path], "db2")


def test_files_are_read_together_in_their_order(tmp_path):
    first = write(
        tmp_path,
        "a.sql",
        "CREATE TABLE child (id int PRIMARY KEY, p int, FOREIGN KEY (p) REFERENCES parent (id));",
    )
    second = write(
        tmp_path,
        "b.sql",
        "CREATE TABLE `parent` (`id` int /*T![auto_rand] AUTO_RANDOM */, PRIMARY KEY (id));",
    )
    schema = read_schema([first, second], database="d")
    assert (schema.dialect, schema.notes) == ("tidb", ())
    assert [user.table.name for user in schema.tables] == ["child", "parent"]
    assert [user.table.name for user in schema.parents_first()] == ["parent", "child"]
    assert schema.tables[0].foreign_keys[0].parent == ("d", None, "parent")


def test_files_of_several_dialects_are_refused(tmp_path):
    first = write(tmp_path, "a.sql", "CREATE TABLE `t` (id int);")
    second = write(tmp_path, "b.sql", "CREATE TABLE u (id serial);")
    with pytest.raises(UsageError) as raised:
        read_schema([first, second])
    assert str(raised.value) == (
        f"the files are of several dialects ({first}: mysql, {second}: postgresql); name the dialect of all: "
        "mysql, mariadb, tidb, postgresql, sqlserver, oracle"
    )


def test_a_table_of_two_files_is_refused(tmp_path):
    first, second = (
        write(tmp_path, name, "CREATE TABLE `t` (id int);") for name in ("a.sql", "b.sql")
    )
    with pytest.raises(UsageError, match=r"b.sql:1:14: table d\.t was read at .*a\.sql:1:14"):
        read_schema([first, second], database="d")


@pytest.mark.parametrize(
    ("text", "given", "database"),
    [
        (PLAIN, None, "app"),
        (PLAIN, "shop", "shop"),
        (f"-- Host: localhost    Database: header\n{PLAIN}", None, "header"),
        (f"-- Host: localhost    Database: header\n{PLAIN}", "shop", "shop"),
        (f"-- Database: `header`\n{PLAIN}", None, "header"),
        (f"-- Host: localhost    Database: header\nUSE `its own`;{PLAIN}", "shop", "its own"),
        ("CREATE TABLE `a``b`.t (id integer);", "shop", "a`b"),
        (f"-- Database: `header`\r\n{PLAIN}", None, "header"),
        (f"-- Database: `its``own`\n{PLAIN}", None, "its`own"),
        (f"-- Host: localhost    Database: header\r\n{PLAIN}", None, "header"),
    ],
)
def test_the_database_of_a_table(tmp_path, text, given, database):
    path = write(tmp_path, "a.sql", text)
    schema = read_schema([path], "mysql", given)
    assert schema.tables[0].table.database == database
    unnamed = Note(path, 0, 0, "no database is named", "its tables are taken as those of app")
    assert schema.notes == ((unnamed,) if database == "app" else ())


@pytest.mark.parametrize(
    ("statement", "database"),
    [
        (r"\connect shop", "shop"),
        (r"\c Shop", "Shop"),
        ('\\connect "Its Own"', "Its Own"),
        ("\\connect -reuse-previous=on \"dbname='my-shop'\"", "my-shop"),
        ('\\connect -reuse-previous=on "dbname=\'o\\\'neil \\\\ ""x""\'"', 'o\'neil \\ "x"'),
        ("CREATE DATABASE Shop;", "shop"),
        ('CREATE DATABASE "Shop";', "Shop"),
    ],
)
def test_the_database_that_a_script_of_psql_connects_to(tmp_path, statement, database):
    path = write(tmp_path, "a.sql", f"{statement}\n{PLAIN}")
    (user,) = read_schema([path], "postgresql").tables
    assert user.table.database == database


@pytest.mark.parametrize(
    ("statement", "schema_name"),
    [
        ("SET search_path = sales, pg_catalog;", "sales"),
        ("SET search_path TO Shop;", "shop"),
        ("SET search_path TO 'Shop';", "Shop"),
        ('SET search_path = "my-schema", public;', "my-schema"),
        ('SET search_path = "a""b";', 'a"b'),
        ("SET SESSION search_path TO shop;", "shop"),
        ("SET LOCAL search_path = shop;", "shop"),
        ("SELECT pg_catalog.set_config('search_path', 'Shop', false);", "shop"),
        ("SELECT set_config('search_path', '\"Shop\", public', false);", "Shop"),
        ("SELECT pg_catalog.set_config('search_path', '', false);", "public"),
        ('SET search_path = "$user", public;', "public"),
    ],
)
def test_the_schema_that_a_search_path_names(tmp_path, statement, schema_name):
    path = write(tmp_path, "a.sql", f"{statement}\n{PLAIN}")
    (user,) = read_schema([path], "postgresql", "d").tables
    assert user.table.schema == schema_name


def test_what_is_no_ddl_is_refused(tmp_path):
    empty, missing = write(tmp_path, "a.sql", "SELECT 1;"), str(tmp_path / "none.sql")
    with pytest.raises(UsageError, match=r"^no CREATE TABLE in .*a\.sql$"):
        read_schema([empty])
    with pytest.raises(UsageError, match=r"none\.sql: cannot be read: No such file or directory$"):
        read_schema([missing])
    with pytest.raises(UsageError, match=r"^no file of DDL and no database to read tables from$"):
        read_schema([])


def test_files_have_many_encodings(tmp_path):
    path = tmp_path / "a.sql"
    text = "CREATE TABLE `t` (\r\n  `id` int COMMENT 'é'\r\n) COMMENT='汉';\r\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_bytes(text.encode(encoding))
        (user,) = read_schema([str(path)], database="d").tables
        assert (user.table.comment, user.table.columns[0].comment) == ("汉", "é")
    path.write_bytes(text.encode("latin-1", "replace"))
    schema = read_schema([str(path)], database="d")
    assert schema.tables[0].table.columns[0].comment == "\ufffd"
    assert [str(note).removeprefix(f"{path}:") for note in schema.notes] == [
        "2:21: \ufffd: bytes that are not UTF-8, taken as U+FFFD"
    ]
