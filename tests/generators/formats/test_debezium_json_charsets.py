"""Texts of MySQL that Debezium reads by the character set that statements told it, against what the
connectors wrote on MariaDB 10.11; debezium#converted-tables, debezium#column-charsets.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from generators.formats.debezium_json import FORMAT, write
from generators.formats.debezium_json.column_definitions import (
    StatedCharset,
    TableCharsets,
    TextDefinition,
    text_definitions,
)
from generators.model import Column, Default, Event, History, Layout, SchemaChange, Table
from generators.sources import boundaries, mysql
from generators.sources.boundaries import START

RELEASES = {
    "1.9.7.Final": (),
    "2.5.4.Final": (),
    "3.5.0.Final": ("mariadb",),
}


def _table(*columns: Column, name: str = "conv") -> Table:
    key = Column("id", mysql.integer("int"), nullable=False)
    return Table("audit", name, (key, *columns), ("id",))


def _text(name: str, default: str = "") -> Column:
    given = Default(f"'{default}'", default) if default else None
    return Column(name, mysql.text("varchar", 20), default=given)


def _change(action: str, sql: str, table: Table, before: Table | None = None) -> SchemaChange:
    return SchemaChange(START, action, sql, "audit", table.name, before, table)


def _payloads(release: str, *events: Event) -> list[dict[str, Any]]:
    """The payloads of the messages that the release writes of the events."""
    profile = FORMAT.build(release, "schemaless", *RELEASES[release])
    records = write(History(events), profile, Layout("cdc"))
    return [json.loads(record.message.value or b"null") for record in records]


CONV = _table(_text("a"))
CREATE = _change(
    "create table",
    "CREATE TABLE conv (id INT PRIMARY KEY, a VARCHAR(20)) DEFAULT CHARSET=latin1",
    CONV,
)
CONVERT = _change(
    "table charset", "ALTER TABLE conv CONVERT TO CHARACTER SET utf8mb4", CONV, before=CONV
)
BACK = _change(
    "table charset",
    "ALTER TABLE conv CONVERT TO CHARACTER SET latin1 COLLATE latin1_swedish_ci",
    CONV,
    before=CONV,
)


@pytest.mark.parametrize(
    ("release", "text", "charset"),
    [
        ("1.9.7.Final", "Ã¤â‚¬", "latin1"),
        ("2.5.4.Final", "Ã¤â‚¬", "latin1"),
        ("3.5.0.Final", "ä€", "utf8mb4"),
    ],
)
def test_a_row_after_a_conversion_is_read_by_the_character_set_before_it_up_to_2_5(
    release: str, text: str, charset: str
) -> None:
    insert = boundaries.insert(CONV, {"id": 2, "a": "ä€"})
    _, _, statement, row = _payloads(
        release, CREATE, boundaries.insert(CONV, {"id": 1, "a": "ä"}), CONVERT, insert
    )
    assert row["after"] == {"id": 2, "a": text}
    (described,) = statement["tableChanges"]
    assert [column["charsetName"] for column in described["table"]["columns"]] == [None, charset]
    assert described["table"]["defaultCharsetName"] == charset


@pytest.mark.parametrize("release", RELEASES)
def test_a_table_converted_back_is_read_right_again(release: str) -> None:
    insert = boundaries.insert(CONV, {"id": 4, "a": "ü"})
    *_, row = _payloads(release, CREATE, CONVERT, BACK, insert)
    assert row["after"] == {"id": 4, "a": "ü"}


@pytest.mark.parametrize("release", RELEASES)
def test_a_column_of_its_own_character_set_is_read_by_it_after_a_conversion(release: str) -> None:
    own = "ALTER TABLE conv MODIFY a VARCHAR(30) CHARACTER SET utf8mb4 NOT NULL"
    insert = boundaries.insert(CONV, {"id": 5, "a": "ß"})
    *_, row = _payloads(
        release, CREATE, CONVERT, _change("modify column", own, CONV, before=CONV), insert
    )
    assert row["after"] == {"id": 5, "a": "ß"}


def test_a_renamed_table_keeps_what_was_known_of_its_columns() -> None:
    renamed = _table(_text("b"), name="texts")
    rename_column = _change(
        "rename column",
        "ALTER TABLE conv RENAME COLUMN a TO b",
        _table(_text("b")),
        before=CONV,
    )
    rename = SchemaChange(
        START,
        "rename table",
        "RENAME TABLE conv TO texts",
        "audit",
        "texts",
        _table(_text("b")),
        renamed,
        "conv",
    )
    insert = boundaries.insert(renamed, {"id": 1, "b": "é"})
    *_, row = _payloads("2.5.4.Final", CREATE, CONVERT, rename_column, rename, insert)
    assert row["after"] == {"id": 1, "b": "Ã©"}


@pytest.mark.parametrize(
    ("charset", "source", "read"), [("latin1", "é", "\ufffd"), ("cp866", "ж", "\ufffd")]
)
@pytest.mark.parametrize("release", RELEASES)
def test_no_release_follows_the_table_s_new_default_character_set(
    release: str, charset: str, source: str, read: str
) -> None:
    before = _table(name="coll")
    after = _table(_text("g"), name="coll")
    create = _change("create table", "CREATE TABLE coll (id INT PRIMARY KEY)", before)
    default = f"ALTER TABLE coll DEFAULT CHARACTER SET {charset}"
    add = "ALTER TABLE coll ADD COLUMN g VARCHAR(5)"
    *_, row = _payloads(
        release,
        create,
        _change("table charset", default, before, before=before),
        _change("add column", add, after, before=before),
        boundaries.insert(after, {"id": 3, "g": source}),
    )
    assert row["after"] == {"id": 3, "g": read}


@pytest.mark.parametrize(
    ("release", "default"),
    [
        ("1.4.0.Final", "'de'COLLATEutf8mb4_bin"),
        ("1.9.7.Final", "'de'COLLATEutf8mb4_bin"),
        ("2.5.4.Final", "de"),
        ("3.5.0.Final", "de"),
    ],
)
def test_a_collation_behind_a_default_is_read_with_it_up_to_1_9(release: str, default: str) -> None:
    """debezium#collated-defaults."""
    after = _table(_text("lang", "de"))
    sql = "ALTER TABLE conv ADD COLUMN lang VARCHAR(20) DEFAULT 'de' COLLATE utf8mb4_bin"
    events = (
        _change("add column", sql, after, before=_table()),
        boundaries.insert(after, {"id": 1, "lang": None}),
    )
    record = write(History(events), FORMAT.build(release), Layout("cdc"))[-1]
    body = json.loads(record.message.value or b"")
    (schema,) = (field for field in body["schema"]["fields"] if field["field"] == "after")
    assert schema["fields"][1]["default"] == default
    assert body["payload"]["after"] == {"id": 1, "lang": default}


def test_a_later_definition_takes_an_earlier_default_s_place() -> None:
    after, later = _table(_text("lang", "de")), _table(_text("lang", "en"))
    add = "ALTER TABLE conv ADD COLUMN lang VARCHAR(20) DEFAULT 'de' COLLATE utf8mb4_bin"
    modify = "ALTER TABLE conv MODIFY lang VARCHAR(20) DEFAULT 'en'"
    *_, row = _payloads(
        "1.9.7.Final",
        _change("add column", add, after, before=_table()),
        _change("modify column", modify, later, before=after),
        boundaries.insert(later, {"id": 1, "lang": None}),
    )
    assert row["after"] == {"id": 1, "lang": "en"}


@pytest.mark.parametrize(
    ("definition", "charset", "read"),
    [
        ("VARCHAR(20)", "", ""),
        ("varchar(20) character set latin1 not null", "latin1", "latin1"),
        ("CHAR(3) CHARSET gbk COLLATE gbk_bin DEFAULT 'x y'", "gbk", "gbk"),
        ("TEXT COLLATE latin1_bin", "latin1", "latin1"),
        ("VARCHAR(5) NOT NULL COLLATE latin1_bin", "latin1", ""),
        ("VARCHAR(5) DEFAULT 'CHARACTER SET gbk'", "", ""),
        ("ENUM('a','b) CHARSET gbk') COLLATE latin1_bin", "latin1", ""),
        ("ENUM('a','b') CHARACTER SET latin1", "latin1", "latin1"),
        ("NVARCHAR(5)", "utf8", "utf8"),
        ("CHAR(5) ASCII", "latin1", ""),
    ],
)
def test_the_character_set_of_a_definition(definition: str, charset: str, read: str) -> None:
    """debezium#column-charsets: the connector reads a collation right behind the type alone."""
    assert TextDefinition.parse(definition) == TextDefinition(charset, read)


def test_definitions_of_a_statement_are_found_by_their_columns() -> None:
    columns = (_text("a"), _text("b"), _text("end"), _text("c d"), Column("n", mysql.year()))
    sql = (
        "ALTER TABLE t ADD COLUMN a TEXT COMMENT 'b text, end text', CHANGE x `c d` CHAR(2)"
        " CHARSET latin1, ALTER COLUMN b SET DEFAULT 'x', MODIFY COLUMN n YEAR"
    )
    assert text_definitions(sql, columns) == {
        "a": TextDefinition("", ""),
        "c d": TextDefinition("latin1", "latin1"),
    }


def test_the_character_set_behind_the_labels_of_an_enum_is_found() -> None:
    """As 3.5.0 describes the column: charsetName is latin1."""
    method = Column("method", mysql.enum_of("card", "sepa"))
    sql = "CREATE TABLE p (id INT, method ENUM('card','sepa') CHARACTER SET latin1 NOT NULL, b INT)"
    assert text_definitions(sql, (method,)) == {"method": TextDefinition("latin1", "latin1")}


@pytest.mark.parametrize(
    ("sql", "converted", "default"),
    [
        ("ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "utf8mb4", ""),
        ("ALTER TABLE `d`.`t` DEFAULT CHARACTER SET = gbk", "", "gbk"),
        ("ALTER TABLE t ADD w VARCHAR(3), CHARSET latin1", "", "latin1"),
        ("ALTER TABLE t COLLATE latin1_bin", "", "latin1"),
        ("ALTER TABLE t ADD w VARCHAR(3) CHARACTER SET gbk", "", ""),
        ("CREATE TABLE t (a INT) CHARSET latin1", "", ""),
    ],
)
def test_the_character_sets_of_an_alter_table(sql: str, converted: str, default: str) -> None:
    assert TableCharsets.parse(sql) == TableCharsets(converted, default)


UNIQUE = Table(
    "audit",
    "rates",
    tuple(Column(name, mysql.integer("int"), nullable=False) for name in ("base", "day")),
    (),
    (("base", "day"),),
)


@pytest.mark.parametrize("release", RELEASES)
def test_a_unique_index_that_is_not_the_record_key_changes_no_table(release: str) -> None:
    """debezium#table-changes: of the second unique index the connector makes nothing."""
    sql = "CREATE UNIQUE INDEX uq2 ON rates (day, base)"
    bare = Table("audit", "rates", UNIQUE.columns)
    second = Table("audit", "rates", UNIQUE.columns, (), (*UNIQUE.unique, ("day", "base")))
    (first,) = _payloads(release, _change("create index", sql, UNIQUE, before=bare))
    assert first["source"]["table"] == "rates"
    assert len(first["tableChanges"]) == 1
    (later,) = _payloads(release, _change("create index", sql, second, before=UNIQUE))
    assert (later["source"]["table"], later["tableChanges"]) == ("", [])


DATED = Column("at", mysql.temporal("datetime", 6), declared="DATETIME(6)")
WHOLE = Column("at", mysql.temporal("datetime"), declared="DATETIME")


@pytest.mark.parametrize("clause", ["MODIFY at DATETIME", "CHANGE COLUMN at at DATETIME"])
@pytest.mark.parametrize(
    ("release", "written", "length"),
    [
        ("1.9.7.Final", 1704164645000000, 6),
        ("2.5.4.Final", 1704164645000, None),
        ("3.5.0.Final", 1704164645000, None),
    ],
)
def test_the_length_of_a_column_that_a_statement_changes_stays_up_to_1_9(
    release: str, written: int, length: int | None, clause: str
) -> None:
    """debezium#kept-lengths."""
    before, after = _table(DATED, name="mods"), _table(WHOLE, name="mods")
    create = _change("create table", "CREATE TABLE mods (id INT, at DATETIME(6))", before)
    alter = _change("modify column", f"ALTER TABLE mods {clause}", after, before=before)
    insert = boundaries.insert(after, {"id": 1, "at": 1704164645000000})
    _, statement, row = _payloads(release, create, alter, insert)
    assert row["after"] == {"id": 1, "at": written}
    assert statement["tableChanges"][0]["table"]["columns"][1]["length"] == length


def test_the_schema_of_a_column_whose_length_stays_is_that_of_its_values() -> None:
    before, after = _table(DATED, name="mods"), _table(WHOLE, name="mods")
    create = _change("create table", "CREATE TABLE mods (id INT, at DATETIME(6))", before)
    alter = _change("modify column", "ALTER TABLE mods MODIFY at DATETIME", after, before=before)
    insert = boundaries.insert(after, {"id": 1, "at": 1704164645000000})
    events = History((create, alter, insert))
    record = write(events, FORMAT.build("1.9.7.Final"), Layout("cdc"))[-1]
    assert b"io.debezium.time.MicroTimestamp" in (record.message.value or b"")


@pytest.mark.parametrize("release", RELEASES)
def test_a_table_whose_primary_key_is_dropped_has_no_record_key(release: str) -> None:
    """debezium#unique-keys: the unique key was made beside the primary key."""
    columns = tuple(Column(name, mysql.integer("int"), nullable=False) for name in ("id", "owner"))
    keyed = Table("audit", "accounts", columns, ("id",), (("owner",),))
    dropped = Table("audit", "accounts", columns, (), (("owner",),))
    events = (
        _change("drop key", "ALTER TABLE accounts DROP PRIMARY KEY", dropped, before=keyed),
        boundaries.insert(dropped, {"id": 1, "owner": 2}),
    )
    profile = FORMAT.build(release, "schemaless", *RELEASES[release])
    statement, row = write(History(events), profile, Layout("cdc"))
    assert row.message.key is None
    (change,) = json.loads(statement.message.value or b"")["tableChanges"]
    assert change["table"]["primaryKeyColumnNames"] == []


@pytest.mark.parametrize("release", RELEASES)
def test_a_function_of_mariadb_s_is_no_default(release: str) -> None:
    """debezium#defaults: MariaDB's defaults are expressions without parentheses about them."""
    table = _table(
        Column("opened", mysql.temporal("date"), False, default=Default("CURRENT_DATE")),
        Column("token", mysql.text("char", 36), default=Default("UUID()")),
        Column("made", mysql.temporal("datetime"), False, default=Default("NOW()")),
    )
    create = _change("create table", "CREATE TABLE conv (...)", table)
    insert = boundaries.insert(table, {"id": 1, "opened": None, "token": None, "made": 0})
    profile = FORMAT.build(release, *RELEASES[release])
    statement, row = write(History((create, insert)), profile, Layout("cdc"))
    body = json.loads(row.message.value or b"")
    (schema,) = (field for field in body["schema"]["fields"] if field["field"] == "after")
    assert [field.get("default") for field in schema["fields"]] == [None, None, None, 0]
    described = json.loads(statement.message.value or b"")["payload"]["tableChanges"][0]["table"]
    shown = [column.get("defaultValueExpression") for column in described["columns"]]
    made = None if release == "1.9.7.Final" else "1970-01-01 00:00:00"  # has no such member
    assert shown == [None, None, None, made]


def test_the_quote_of_a_comment_ends_no_definition() -> None:
    sql = (
        r"CREATE TABLE t (a varchar(10) COMMENT 'it\'s a b',"
        " b varchar(5) CHARACTER SET latin1 COMMENT 'x y')"
    )
    definitions = text_definitions(sql, (_text("a"), _text("b")))
    assert {name: found.charset for name, found in definitions.items()} == {"a": "", "b": "latin1"}


@pytest.mark.parametrize(
    ("options", "stated"),
    [
        ("CHARSET=latin1", ("latin1", "")),
        ("COMMENT='x' CHARSET=latin1", ("latin1", "")),
        ("CHARSET=latin1 COMMENT='x (y)'", ("latin1", "")),
        ("DEFAULT CHARACTER SET 'gbk' COLLATE gbk_bin", ("gbk", "gbk_bin")),
        ("COLLATE=latin1_bin PARTITION BY HASH (id)", ("", "latin1_bin")),
        ("COMMENT='CHARSET = latin1'", ("", "")),
        ("ENGINE=InnoDB", ("", "")),
    ],
)
def test_the_character_set_of_a_table_stands_behind_its_columns(
    options: str, stated: tuple[str, str]
) -> None:
    columns = "`id` int PRIMARY KEY, a varchar(5) CHARACTER SET utf16 DEFAULT ')', CHECK (id > (1))"
    assert StatedCharset.of_table(f"CREATE TABLE t ({columns}) {options}") == stated


@pytest.mark.parametrize(
    ("sql", "stated"),
    [
        ("CREATE DATABASE d CHARACTER SET = latin1", ("latin1", "")),
        ("CREATE DATABASE d CHARSET=latin1", ("latin1", "")),
        ("CREATE DATABASE d COLLATE latin1_swedish_ci", ("", "latin1_swedish_ci")),
        ("CREATE DATABASE d", ("", "")),
    ],
)
def test_the_character_set_of_a_database(sql: str, stated: tuple[str, str]) -> None:
    assert StatedCharset.of_options(sql) == stated
