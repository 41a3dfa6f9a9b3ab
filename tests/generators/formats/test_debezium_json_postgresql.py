"""Tables of PostgreSQL's statements in Debezium's messages, against the bytes that the connector of
each release wrote for the same statements.
"""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from hashlib import md5
from typing import Any

import pytest

from generators.errors import Refused
from generators.formats.debezium_json import FORMAT, write
from generators.model import History, Json, Layout, Message, Op, Row, Table
from generators.sources import boundaries
from generators.tables.ddl import DdlReader
from generators.tables.ddl_text import Script

RELEASES = ["1.9.7.Final", "2.5.4.Final", "3.5.0.Final"]


def _table(statements: str) -> Table:
    """The table that the statements make."""
    reader = DdlReader("postgresql", "shop", "shop")
    reader.read_script(Script("statements", statements, "postgresql"))
    (user_table,) = reader.schema().tables
    return user_table.table


def _messages(
    release: str, table: Table, op: Op, before: Row | None, after: Row | None
) -> list[Message]:
    """The messages of one change of a row with REPLICA IDENTITY DEFAULT."""
    event = boundaries.change(table, op, (before, after))
    profile = FORMAT.build(release, "postgresql")
    return [record.message for record in write(History((event,)), profile, Layout("cdc"))]


def _schema_key(fields: str, table: str, payload: str) -> bytes:
    """A record key with its schema."""
    return (
        f'{{"schema":{{"type":"struct","fields":[{fields}],"optional":false,'
        f'"name":"cdc.public.{table}.Key"}},"payload":{payload}}}'
    ).encode()


A = '{"type":"int32","optional":false,"field":"a"}'
B = '{"type":"int32","optional":true,"field":"b"}'
C = '{"type":"string","optional":true,"field":"c"}'
INCLUDED = (
    "CREATE TABLE inc1 (a integer, b integer, c text, n text, PRIMARY KEY (a) INCLUDE (b, c))"
)
OLD: Row = {"a": 1, "b": 9, "c": "c", "n": "y"}


@pytest.mark.parametrize(
    ("release", "fields", "payload"),
    [
        ("1.9.7.Final", f"{A},{B},{C}", '{"a":1,"b":9,"c":"c"}'),
        ("2.5.4.Final", f"{A},{B},{C}", '{"a":1,"b":9,"c":"c"}'),
        ("3.5.0.Final", A, '{"a":1}'),
    ],
)
def test_up_to_2_5_a_key_has_the_columns_that_include_adds(
    release: str, fields: str, payload: str
) -> None:
    (insert,) = _messages(release, _table(INCLUDED), Op.INSERT, None, OLD)
    assert insert.key == _schema_key(fields, "inc1", payload)


def test_an_included_column_of_an_old_key_is_null_and_its_change_is_none_of_the_key() -> None:
    table = _table(INCLUDED)
    (update,) = _messages("2.5.4.Final", table, Op.UPDATE, OLD, {**OLD, "b": 10})
    assert json.loads(update.value or b"")["payload"]["op"] == "u"
    delete, _, insert = _messages("2.5.4.Final", table, Op.UPDATE, OLD, {**OLD, "a": 11})
    assert delete.key == _schema_key(f"{A},{B},{C}", "inc1", '{"a":1,"b":null,"c":null}')
    assert ("__debezium.newkey", b'{"a":11,"b":9,"c":"c"}') in delete.headers
    assert ("__debezium.oldkey", b'{"a":1,"b":null,"c":null}') in insert.headers
    delete, _ = _messages("2.5.4.Final", table, Op.DELETE, OLD, None)
    assert json.loads(delete.value or b"")["payload"]["before"] == {
        "a": 1,
        "b": None,
        "c": None,
        "n": None,
    }


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "key",
    [
        ", UNIQUE (a) INCLUDE (b))",
        "); CREATE UNIQUE INDEX inc5_a ON inc5 (a) INCLUDE (b)",
        "); ALTER TABLE inc5 ADD CONSTRAINT inc5_a UNIQUE (a) INCLUDE (b)",
    ],
)
def test_a_unique_index_that_is_the_key_has_the_columns_that_include_adds(
    release: str, key: str
) -> None:
    table = _table(f"CREATE TABLE inc5 (a integer NOT NULL, b integer, n text{key}")
    assert (table.unique, table.included) == ((("a",),), ())
    (insert,) = _messages(release, table, Op.INSERT, None, {"a": 1, "b": 2, "n": "x"})
    assert insert.key == _schema_key(f"{A},{B}", "inc5", '{"a":1,"b":2}')


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ("RENAME COLUMN b TO z", '{"a":1,"z":9,"c":"c"}'),
        ("DROP CONSTRAINT inc1_pkey", None),
        ("DROP COLUMN b", None),
        ("DROP COLUMN n", '{"a":1,"b":9,"c":"c"}'),
    ],
)
def test_statements_change_the_columns_that_include_adds(change: str, key: str | None) -> None:
    table = _table(f"{INCLUDED}; ALTER TABLE inc1 {change}")
    row: dict[str, Any] = {"a": 1, "b": 9, "z": 9, "c": "c", "n": "y"}
    after = {column.name: row[column.name] for column in table.columns}
    (insert,) = _messages("2.5.4.Final", table, Op.INSERT, None, after)
    assert json.loads(insert.key or b'{"payload": null}')["payload"] == (
        None if key is None else json.loads(key)
    )


def test_a_primary_key_of_an_index_has_the_columns_that_include_adds() -> None:
    table = _table(
        "CREATE TABLE inc1 (a integer NOT NULL, b integer);"
        " CREATE UNIQUE INDEX i ON inc1 (a) INCLUDE (b);"
        " ALTER TABLE inc1 ADD PRIMARY KEY USING INDEX i"
    )
    assert (table.primary_key, table.included) == (("a",), ("b",))


BITS = '{{"type":"bytes","optional":true,"name":"io.debezium.data.Bits","version":1,"parameters":{{"length":"{}"}},"default":"{}","field":"c"}}'


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("definition", "length", "shown"),
    [
        ("bit(3) DEFAULT (5)::bit(3)", 3, ""),
        ("bit(16) DEFAULT (300)::bit(16)", 16, "BA=="),
        ("bit varying(8) DEFAULT (B'101'::\"bit\")::bit varying(8)", 8, "BQ=="),
        ("bit(8) DEFAULT (B'11'::\"bit\")::bit(8)", 8, "Aw=="),
    ],
)
def test_a_default_that_is_cast_to_bits_is_read_digit_by_digit(
    release: str, definition: str, length: int, shown: str
) -> None:
    table = _table(f"CREATE TABLE bits (id integer PRIMARY KEY, c {definition})")
    (insert,) = _messages(release, table, Op.INSERT, None, {"id": 1, "c": None})
    assert f'"field":"id"}},{BITS.format(length, shown)}]'.encode() in (insert.value or b"")
    assert json.loads(insert.value or b"")["payload"]["after"]["c"] == shown


def test_one_bit_has_no_default_that_is_cast() -> None:
    table = _table("CREATE TABLE bits (id integer PRIMARY KEY, c bit(1) DEFAULT (1)::bit(1))")
    (insert,) = _messages("3.5.0.Final", table, Op.INSERT, None, {"id": 1, "c": None})
    assert b'{"type":"boolean","optional":true,"field":"c"}' in (insert.value or b"")


PROSE = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. " * 100
DIGESTS = "".join(md5(str(number).encode()).hexdigest() for number in range(1, 301))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ({"a": PROSE, "b": None}, {"a": PROSE, "b": None}),
        ({"a": PROSE, "b": DIGESTS}, {"a": PROSE, "b": "__debezium_unavailable_value"}),
        ({"a": DIGESTS[:1280], "b": DIGESTS[1280:2560]}, {"b": DIGESTS[1280:2560]}),
    ],
)
def test_an_unchanged_value_that_the_server_compresses_into_the_row_is_sent(
    release: str, row: Row, shown: Row
) -> None:
    table = _table("CREATE TABLE toast (id integer PRIMARY KEY, n integer, a text, b text)")
    old: Row = {"id": 4, "n": None, **row}
    (update,) = _messages(release, table, Op.UPDATE, old, {**old, "n": 1})
    after = json.loads(update.value or b"")["payload"]["after"]
    assert after == {"id": 4, "n": 1, "a": "__debezium_unavailable_value", **shown}


UNAVAILABLE = "__debezium_unavailable_value"
REPEATED = "a" * 5000


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("statements", "column", "text", "shown"),
    [
        ("ALTER TABLE e ALTER COLUMN t SET STORAGE EXTERNAL", "t", REPEATED, UNAVAILABLE),
        ("ALTER TABLE e ALTER t SET STORAGE External", "t", "a" * 2100, UNAVAILABLE),
        ("ALTER TABLE e ALTER COLUMN t SET STORAGE EXTERNAL", "t", "a" * 1900, "a" * 1900),
        ("ALTER TABLE e ALTER t SET STORAGE MAIN", "t", DIGESTS[:6400], DIGESTS[:6400]),
        ("ALTER TABLE e ALTER t SET STORAGE MAIN", "t", DIGESTS, UNAVAILABLE),
        ("ALTER TABLE e ALTER t SET STORAGE PLAIN", "t", REPEATED, REPEATED),
        (
            """ALTER TABLE e ALTER t SET STORAGE EXTERNAL; ALTER TABLE e RENAME t TO u;
            ALTER TABLE e ALTER u TYPE varchar(9000)""",
            "u",
            REPEATED,
            REPEATED,
        ),
    ],
)
def test_the_storage_of_a_column_decides_whether_an_unchanged_value_is_sent(
    release: str, statements: str, column: str, text: str, shown: str
) -> None:
    """debezium#unavailable-value: what five releases wrote of rows that were inserted after these
    statements.
    """
    table = _table(f"CREATE TABLE e (id integer PRIMARY KEY, n integer, t text); {statements}")
    old: Row = {"id": 1, "n": 1, column: text}
    (update,) = _messages(release, table, Op.UPDATE, old, {**old, "n": 2})
    after = json.loads(update.value or b"")["payload"]["after"]
    assert after == {"id": 1, "n": 2, column: shown}


ZEROS_AND_BITS = """CREATE TABLE n1 (id int PRIMARY KEY, a numeric(2,5) NOT NULL DEFAULT 0.00012,
  c numeric(3,7) DEFAULT -0.0000999, k bit(4)[], l bit[])"""


@pytest.mark.parametrize("release", ["2.5.4.Final", "3.5.0.Final"])
def test_an_array_of_bits_is_null_in_a_column_of_one_value(release: str) -> None:
    """As both wrote it (debezium#bit-arrays), beside numbers with zeros behind the point."""
    row: Row = {
        "id": 1,
        "a": Decimal("0.00099"),
        "c": Decimal("0.0000001"),
        "k": Json([10, None]),
        "l": Json([1]),
    }
    (insert,) = _messages(release, _table(ZEROS_AND_BITS), Op.INSERT, None, row)
    body = json.loads(insert.value or b"")
    _, a, c, bits, bit = body["schema"]["fields"][1]["fields"]
    assert (a["parameters"], a["default"]) == (
        {"scale": "5", "connect.decimal.precision": "2"},
        "DA==",
    )
    assert c["parameters"] == {"scale": "7", "connect.decimal.precision": "3"}
    assert (bits["type"], bits["name"], bits["parameters"]) == (
        "bytes",
        "io.debezium.data.Bits",
        {"length": "4"},
    )
    assert bit == {"type": "boolean", "optional": True, "field": "l"}
    assert body["payload"]["after"] == {"id": 1, "a": "Yw==", "c": "AQ==", "k": None, "l": None}


def test_an_array_of_bits_that_is_not_null_stops_the_connector() -> None:
    table = _table(ZEROS_AND_BITS)
    columns = tuple(replace(c, nullable=c.nullable and c.name != "l") for c in table.columns)
    row: Row = {**dict.fromkeys(c.name for c in columns), "id": 1, "a": Decimal(0), "l": Json([1])}
    with pytest.raises(Refused, match=r"NOT NULL column of bit\[\]"):
        _messages("3.5.0.Final", replace(table, columns=columns), Op.INSERT, None, row)
