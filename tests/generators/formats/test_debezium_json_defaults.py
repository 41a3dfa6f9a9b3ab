"""Defaults of MySQL's columns in Debezium's schemas, as MySqlAntlrDdlParser and
MySqlDefaultValueConverter of debezium-connector-mysql 3.5.0.Final say them; 3.6.1.Final is held to
the same, since no change of these classes is known.
"""

import json

import pytest

from generators.families.connect import schema_text
from generators.formats.debezium_json.rows import _column_schema, defaults_of
from generators.model import Column, Default, Table, ZeroDate
from generators.sources import mysql
from generators.wire_format import get

NOW = Default("CURRENT_TIMESTAMP")
ZERO = Default("'0000-00-00 00:00:00'", ZeroDate())
ZONED = '{"type":"string","optional":%s,"name":"io.debezium.time.ZonedTimestamp","version":1%s}'
DAYS = '{"type":"int32","optional":false,"name":"io.debezium.time.Date","version":1,"default":0}'
MILLIS = (
    '{"type":"int64","optional":%s,"name":"io.debezium.time.Timestamp","version":1,"default":0}'
)
YEAR = '{"type":"int32","optional":true,"name":"io.debezium.time.Year","version":1,"default":2000}'
EPOCH = ',"default":"1970-01-01T00:00:00Z"'


@pytest.mark.parametrize("release", ["3.5.0.Final", "3.6.1.Final"])
@pytest.mark.parametrize(
    ("type", "nullable", "default", "shown"),
    [
        (mysql.temporal("timestamp"), True, NOW, ZONED % ("true", "")),
        (mysql.temporal("timestamp", 3), True, NOW, ZONED % ("true", "")),
        (mysql.temporal("timestamp"), True, ZERO, ZONED % ("true", "")),
        (mysql.temporal("timestamp"), False, NOW, ZONED % ("false", EPOCH)),
        (mysql.temporal("timestamp", 6), False, NOW, ZONED % ("false", EPOCH)),
        (mysql.temporal("timestamp"), False, ZERO, ZONED % ("false", EPOCH)),
        (
            mysql.temporal("timestamp"),
            True,
            Default("'1970-01-01 00:00:01'", mysql.MICROS),
            ZONED % ("true", ',"default":"1970-01-01T00:00:01Z"'),
        ),
        (mysql.temporal("datetime"), True, NOW, MILLIS % "true"),
        (mysql.temporal("datetime"), False, ZERO, MILLIS % "false"),
        (mysql.temporal("date"), False, Default("'0000-00-00'", ZeroDate()), DAYS),
        (mysql.year(), True, Default("0", 0), YEAR),
    ],
)
def test_a_default_in_the_schema(release, type, nullable, default, shown):
    table = Table("shop", "t", (Column("c", type, nullable, default=default),), ())
    mysql_profile = get("debezium-json").profile(release)
    defaults = defaults_of(table, mysql_profile, {}, False)
    column = table.columns[0]
    schema = _column_schema(column, mysql_profile, defaults.get("c"), False)
    assert json.loads(schema_text(schema)) == json.loads(shown)


BITS = (
    '{"type":"bytes","optional":false,"name":"io.debezium.data.Bits","version":1'
    ',"parameters":{"length":"16"},"default":"AAA="}'
)
DATE = '{"type":"int32","optional":false,"name":"io.debezium.time.Date","version":1}'
BYTES = '{"type":"bytes","optional":true,"default":"XDBcMFwwXDA="}'


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        (Column("b16", mysql.bit(16), False, default=Default("0", 0)), BITS),
        (Column("d", mysql.temporal("date"), False, default=Default("(CURRENT_DATE)")), DATE),
        (
            Column("h", mysql.binary("binary", 4), default=Default(r"'\0\0\0\0'", bytes(4))),
            BYTES,
        ),
    ],
    ids=["bits", "expression", "back-slashes"],
)
def test_a_default_as_mariadb_s_connector_streams_it(column: Column, shown: str) -> None:
    """debezium#defaults: the fields of rows that 3.5.0 streamed from MariaDB 10.11."""
    profile = get("debezium-json").build("3.5.0.Final", "mariadb")
    known = defaults_of(Table("audit", "t", (column,)), profile, {}, False)
    assert schema_text(_column_schema(column, profile, known.get(column.name), False)) == shown
