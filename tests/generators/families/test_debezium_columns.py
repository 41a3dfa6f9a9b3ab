"""The writer of Debezium's messages against the table of what Debezium's own classes make of columns'
definitions (`generators/families/debezium/mysql_columns.toml`): the schema with its default, and a
value of the binlog, by connector.
"""

import json

import pytest

from generators.errors import Refused, UsageError
from generators.families.connect import schema_text
from generators.families.debezium import mysql as debezium_mysql
from generators.families.debezium.mysql_columns import (
    column_readings,
    parse_readings,
    spelling_words,
)
from generators.formats.debezium_json.rows import _column_schema, defaults_of
from generators.model import Logical, Table
from generators.sources import mysql
from generators.wire_format import get
from recorders.debezium_types import model_column

TABLE = column_readings()
FIVE = b"a\xff\0\xc3\xa9"


def written_schema(definition, connector):
    """The JSON schema that the writer has for the column, or why it has none."""
    column = model_column(definition)
    if column is None:
        return "not in the model"
    profile = get("debezium-json").profile(connector)
    defaults = defaults_of(Table("shop", "t", (column,), ()), profile, {}, False)
    try:
        schema = json.loads(schema_text(_column_schema(column, profile, defaults.get("c"), False)))
        schema.pop("doc", None)  # of include.schema.comments
        return schema
    except Refused:
        return "refused"


def read_schema(reading):
    return "refused" if reading.refused else dict(reading.members)


def written_value(definition, connector):
    """The JSON that the writer has for the value of the binlog that Debezium was tried with."""
    column = model_column(definition)
    type, modes = column.type, get("debezium-json").profile(connector).modes
    value = {
        Logical.INT: type.high if type.unsigned else -1,
        Logical.FLOAT: mysql.to_float32(0.1),
        Logical.DOUBLE: 0.1,
        Logical.BINARY: FIVE,
    }.get(type.logical)
    return debezium_mysql.wire(type, value, modes, declared=column.declared).json


INTEGER = mysql.integer("int", unsigned=True)


@pytest.mark.parametrize(
    ("connector", "declared", "type", "value", "schema", "written"),
    [
        ("3.5.0.Final", "INTEGER UNSIGNED", INTEGER, 4294967295, "int32", "-1"),
        (
            "3.5.0.Final+mariadb",
            "Integer(10) unsigned",
            INTEGER,
            2147483648,
            "int32",
            "-2147483648",
        ),
        ("3.6.1.Final", "INTEGER UNSIGNED", INTEGER, 4294967295, "int64", "4294967295"),
        ("3.5.0.Final", "INT UNSIGNED", INTEGER, 4294967295, "int64", "4294967295"),
        ("1.9.7.Final", "INT ZEROFILL", INTEGER, 4294967295, "int32", "-1"),
        (
            "1.9.7.Final",
            "TINYINT ZEROFILL",
            mysql.integer("tinyint", zerofill=True),
            255,
            "int16",
            "-1",
        ),
        ("2.5.4.Final", "INT ZEROFILL", INTEGER, 4294967295, "int64", "4294967295"),
        ("3.5.0.Final", "FLOAT4", mysql.real("float"), 0.5, "double", "null"),
        ("1.9.7.Final", "FLOAT4", mysql.real("float"), 0.5, "double", "0.5"),
        (
            "3.5.0.Final",
            "VARCHAR(5) CHARSET binary",
            mysql.binary("varbinary", 5),
            b"a\xff",
            "string",
            '"a\xff"',
        ),
        ("3.5.0.Final", "VARBINARY(5)", mysql.binary("varbinary", 5), b"a\xff", "bytes", '"Yf8="'),
    ],
)
def test_a_value_by_its_spelling(connector, declared, type, value, schema, written):
    modes = get("debezium-json").profile(connector).modes
    cell = debezium_mysql.wire(type, value, modes, declared=declared)
    assert (cell.schema.type, cell.json) == (schema, written)


def test_a_snapshot_reads_the_spelling_of_the_database():
    modes = get("debezium-json").profile("3.5.0.Final").modes
    cell = debezium_mysql.wire(
        INTEGER, 4294967295, modes, declared="INTEGER UNSIGNED", snapshot=True
    )
    assert (cell.schema.type, cell.json) == ("int64", "4294967295")


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("int(10) unsigned", "INT UNSIGNED"),
        ("Varchar(5)  charset binary", "VARCHAR CHARACTER SET BINARY"),
        ("FLOAT(7, 3) DEFAULT 0.1", "FLOAT(M,D)"),
        ("FLOAT(24)", "FLOAT"),
        ("FLOAT(25)", "FLOAT(25)"),
        ("BINARY", "BINARY"),
        ("BINARY(16) NOT NULL", "BINARY(N)"),
        ("datetime(3)", "DATETIME(3)"),
        ("INTEGER UNSIGNED AUTO_INCREMENT PRIMARY KEY", "INTEGER UNSIGNED"),
    ],
)
def test_words_that_decide(declared, words):
    assert spelling_words(declared) == words


def test_a_spelling_at_which_the_connector_stops():
    modes = get("debezium-json").profile("3.5.0.Final").modes
    with pytest.raises(
        Refused, match=r"Debezium 3\.5\.0\.Final cannot read the column type 'CHAR\(5\) BYTE'"
    ):
        debezium_mysql.wire(mysql.binary("binary", 5), b"a", modes, declared="CHAR(5) BYTE")
    with pytest.raises(
        Refused, match=r"Debezium 3\.5\.0\.Final stops at a value of FLOAT4 NOT NULL"
    ):
        debezium_mysql.wire(mysql.real("float"), 0.5, modes, declared="FLOAT4", nullable=False)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("[{ schema = 'x' }, { schema = 'y' }]", "'INT' has two rows of 'a'"),
        ("[{ in = ['a'], schema = 'x' }]", "'INT' has no row of 'b'"),
        ("[{ in = ['c'], schema = 'x' }]", "'INT' has two rows of 'c', or the file does not name"),
    ],
)
def test_a_table_that_is_not_whole(rows, message):
    with pytest.raises(UsageError, match=message):
        parse_readings(f"connectors = ['a', 'b']\n[columns]\nINT = {rows}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x =", "no TOML: "),
        ("[columns]", "connectors is not a list of releases"),
        ("connectors = ['a']", "columns is not a table of definitions"),
        ("connectors = ['a']\n[columns]\nINT = []", "'INT' has no row of 'a'"),
        (
            "connectors = ['a']\n[columns]\nINT = [{ shema = 'x' }]",
            "unknown field of 'INT' in .*mysql_columns.toml 'shema'. Did you mean 'schema'",
        ),
    ],
)
def test_a_text_that_is_no_table_of_readings(text, message):
    with pytest.raises(UsageError, match=message):
        parse_readings(text)


OUTSIDE = ("GEOMETRY", "POINT")
"""Types whose values named cases alone have."""
UNSPELLED = {"VARCHARACTER(5)"}
"""What some connectors refuse, and the writer's own statement spells as the database shows it."""
UNLIKE = {
    "1.4.0.Final": {
        # The parser converts defaults, and the connector stops at these.
        "BIGINT UNSIGNED DEFAULT 18446744073709551615",
        "BIGINT UNSIGNED NOT NULL DEFAULT 9223372036854775808",
        "BIT(8) DEFAULT 5",
        "BIT(8) NOT NULL DEFAULT 5",
        "DATE DEFAULT '2020-1-1'",
        "DATE DEFAULT (CURRENT_DATE)",
        "DATE NOT NULL DEFAULT (CURRENT_DATE)",
        "DATETIME NOT NULL DEFAULT (NOW())",
        "DECIMAL(8,2) NOT NULL DEFAULT (9.99)",
        "INT NOT NULL DEFAULT (1 + 1)",
        "TIME DEFAULT '1 10:00:00'",
        "TIME DEFAULT '15:00'",
        "TIME NOT NULL DEFAULT '8:05'",
        "TIMESTAMP NOT NULL DEFAULT (CURRENT_TIMESTAMP)",
        "VARCHAR(36) NOT NULL DEFAULT (uuid())",
        "DATE DEFAULT 20240229",
        "DATE NOT NULL DEFAULT 20240229",
        "DATETIME DEFAULT LOCALTIMESTAMP",
        "INT DEFAULT '1.5'",
        "INT DEFAULT (1 + 1)",
        "INT DEFAULT 1.5",
        "INTEGER UNSIGNED DEFAULT 4294967295",
        "TIME DEFAULT 101112",
        "VARCHAR(36) DEFAULT (uuid())",
        # The sign is lost.
        "DECIMAL(5,0) DEFAULT -2.5",
        "DOUBLE NOT NULL DEFAULT -2.5e-3",
    }
}
"""Definitions that the writer does not write as the connector reads them, each with its reason."""


@pytest.mark.parametrize("connector", TABLE.connectors)
def test_schemas_and_defaults_are_those_that_debezium_reads(connector):
    different = {
        definition
        for definition, readings in TABLE.columns.items()
        if written_schema(definition, connector) != read_schema(readings[connector])
    }
    refused = {name for name in UNSPELLED if TABLE.columns[name][connector].refused}
    assert different == {*OUTSIDE, *refused, *UNLIKE.get(connector, ())}


@pytest.mark.parametrize("connector", TABLE.connectors)
def test_values_are_those_that_debezium_converts(connector):
    different = {}
    for definition, readings in TABLE.columns.items():
        reading = readings[connector]
        expected = "null" if reading.unfit else reading.value
        column = model_column(definition)
        if expected is None or column.type.logical is Logical.TEXT or " DEFAULT " in definition:
            continue  # texts are tried with bytes that are no text
        written = json.loads(written_value(definition, connector))
        if written != json.loads(expected):
            different[definition] = (written, json.loads(expected))
    assert different == {}
