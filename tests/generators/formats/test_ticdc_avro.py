"""TiCDC's Avro protocol: schemas that its document and its tests print, and bytes by the
specification's rules, by hand.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from generators.families import confluent
from generators.families.ticdc.avro_names import adjusted
from generators.formats.ticdc_avro import FORMAT, write
from generators.model import (
    Column,
    Default,
    History,
    Instant,
    Kind,
    Layout,
    Message,
    Op,
    Row,
    SchemaChange,
    SourceType,
    Table,
)
from generators.sources import mysql
from generators.sources.boundaries import change, insert
from tests.shared import ticdc_avro_bytes

DOCUMENTED: tuple[tuple[SourceType, str], ...] = (
    (mysql.bit(64), '{"connect.parameters":{"length":"64","tidb_type":"BIT"},"type":"bytes"}'),
    (
        mysql.enum_of("a", "b", "c"),
        '{"connect.parameters":{"allowed":"a,b,c","tidb_type":"ENUM"},"type":"string"}',
    ),
    (
        mysql.set_of("a", "b", "c"),
        '{"connect.parameters":{"allowed":"a,b,c","tidb_type":"SET"},"type":"string"}',
    ),
    (
        mysql.decimal(10, 4),
        '{"connect.parameters":{"tidb_type":"DECIMAL"},"logicalType":"decimal","precision":10,"scale":4,"type":"bytes"}',
    ),
)
"""The blocks of the document's "Column data format", without its trailing comma."""
TESTED: tuple[tuple[SourceType, str], ...] = (
    (mysql.integer("tinyint"), '{"type":"int","connect.parameters":{"tidb_type":"INT"}}'),
    (mysql.integer("bigint"), '{"type":"long","connect.parameters":{"tidb_type":"BIGINT"}}'),
    (
        mysql.integer("mediumint", unsigned=True),
        '{"type":"int","connect.parameters":{"tidb_type":"INT UNSIGNED"}}',
    ),
    (
        mysql.integer("int", unsigned=True),
        '{"type":"long","connect.parameters":{"tidb_type":"INT UNSIGNED"}}',
    ),
    (
        mysql.integer("bigint", unsigned=True),
        '{"type":"long","connect.parameters":{"tidb_type":"BIGINT UNSIGNED"}}',
    ),
    (mysql.real("float"), '{"type":"float","connect.parameters":{"tidb_type":"FLOAT"}}'),
    (mysql.real("double"), '{"type":"double","connect.parameters":{"tidb_type":"DOUBLE"}}'),
    (mysql.bit(1), '{"type":"bytes","connect.parameters":{"length":"1","tidb_type":"BIT"}}'),
    (mysql.text("text"), '{"type":"string","connect.parameters":{"tidb_type":"TEXT"}}'),
    (mysql.binary("varbinary", 8), '{"type":"bytes","connect.parameters":{"tidb_type":"BLOB"}}'),
)
"""Of pingcap/tiflow v8.1.2, pkg/sink/codec/avro/avro_test.go, avroTestColumns."""


def messages(table: Table, *rows: Row) -> list[Message]:
    events = tuple(insert(table, row) for row in rows)
    return [record.message for record in write(History(events), FORMAT.build("v7.1.6"), Layout())]


def schema(half: bytes | None) -> Any:
    assert half is not None
    return json.loads(confluent.SCHEMAS[int.from_bytes(half[1:5])][1])


@pytest.mark.parametrize(
    ("kind", "block"),
    [*DOCUMENTED, *TESTED],
    ids=lambda v: v.key if isinstance(v, SourceType) else "",
)
def test_a_column_s_type_is_the_documented_block(kind: SourceType, block: str) -> None:
    table = Table(
        "testdb", "t", (Column("id", mysql.integer("int"), False), Column("c", kind)), ("id",)
    )
    (message,) = messages(table, {"id": 1, "c": None})
    assert schema(message.value)["fields"][1] == {
        "name": "c",
        "type": ["null", json.loads(block)],
        "default": None,
    }
    assert {name: schema(message.key)[name] for name in ("type", "name", "namespace")} == {
        "type": "record",
        "name": "t",
        "namespace": "default.testdb",
    }
    named = [
        confluent.SCHEMAS[int.from_bytes((half or b"")[1:5])][0]
        for half in (message.key, message.value)
    ]
    assert named == [("cdc-key",), ("cdc-value",)]


ROW: Row = {"id": 1, "s": "ab", "d": Decimal("1.50"), "b": 683, "u": (1 << 64) - 1, "e": 2}
TABLE = Table(
    "testdb",
    "t",
    (
        Column("id", mysql.integer("int"), False),
        Column("s", mysql.text("varchar", 8), default=Default("'x'", "x")),
        Column("d", mysql.decimal(10, 2), False),
        Column("b", mysql.bit(32)),
        Column("u", mysql.integer("bigint", unsigned=True)),
        Column("e", mysql.enum_of("x", "y")),
    ),
    ("id",),
)


def test_a_row_is_the_bytes_of_the_specification() -> None:
    (message,) = messages(TABLE, ROW)
    assert message.value is not None and message.key is not None
    assert message.value[5:] == bytes.fromhex("02 00 04 6162 04 0096 02 04 02ab 02 01 02 02 79")
    assert message.key[5:] == b"\x02"


@pytest.mark.parametrize("of", ticdc_avro_bytes.VALUES)
def test_a_row_is_the_bytes_of_ticdc_s_own_encoder(of: str) -> None:
    release, *options = of.split("+")
    table, row, empty = ticdc_avro_bytes.TABLE, ticdc_avro_bytes.ROW, ticdc_avro_bytes.EMPTY
    history = History(
        (
            insert(table, row),
            change(table, Op.UPDATE, (row, empty)),
            change(table, Op.DELETE, (empty, None)),
        )
    )
    sent = [record.message for record in write(history, FORMAT.build(release, *options), Layout())]
    assert [(message.value or b"")[5:].hex() for message in sent] == [
        *ticdc_avro_bytes.VALUES[of],
        "",
    ]
    assert [(message.key or b"")[5:].hex() for message in sent] == [ticdc_avro_bytes.KEY] * 3
    if not options:
        assert schema(sent[0].value) == json.loads(ticdc_avro_bytes.SCHEMA)


def test_a_delete_is_a_key_alone_whatever_the_extension() -> None:
    (record,) = write(
        History((change(TABLE, Op.DELETE, (ROW, None)),)), FORMAT.profiles[0], Layout()
    )
    (row,) = record.changes
    assert (record.message.value, record.message.key and record.message.key[5:]) == (None, b"\x02")
    assert (row.kind, row.op, row.position, row.commit_time_us, row.keys) == (
        Kind.ROW,
        Op.DELETE,
        None,
        None,
        ("id",),
    )


def test_names_are_those_of_ticdc_s_own_test() -> None:
    """pingcap/tiflow v8.5.7, pkg/sink/codec/avro/avro_test.go, TestSanitizeName and
    TestGetAvroNamespace.
    """
    names = (
        "normalColumnName123",
        "1ColumnNameStartWithNumber",
        "A.B",
        "columnNameWith中文",
        "N-amespace",
    )
    assert [adjusted(name) for name in names] == [
        "normalColumnName123",
        "_1ColumnNameStartWithNumber",
        "A_B",
        "columnNameWith__",
        "N_amespace",
    ]


@pytest.mark.parametrize("mark", ["'", ""])
@pytest.mark.parametrize(
    ("stored", "value"), [("0", "0"), ("1.5", "1.5000"), ("100.5000", "100.5")]
)
def test_the_default_of_a_decimal_as_text_is_the_stored_text(
    stored: str, value: str, mark: str
) -> None:
    """As TiCDC v8.5.7 wrote `decimal(14,4) default 0` of an in-memory TiDB."""
    default = Default(f"{mark}{stored}{mark}", Decimal(value))
    columns = (
        Column("id", mysql.integer("int"), False),
        Column("c", mysql.decimal(14, 4), False, default=default),
    )
    row = insert(Table("d", "t", columns, ("id",)), {"id": 1, "c": Decimal("2.5")})
    (record,) = write(History((row,)), FORMAT.build("v8.5.7", "decimal-string"), Layout())
    assert schema(record.message.value)["fields"][1]["default"] == stored


def test_an_expression_as_the_default_of_a_number_ends_the_messages() -> None:
    columns = (
        Column("id", mysql.integer("int"), False),
        Column("c", mysql.real("double"), default=Default("(rand())", None)),
    )
    assert messages(Table("d", "t", columns, ("id",)), {"id": 1, "c": 0.5}) == []


def test_the_checksum_of_half_an_update_that_ticdc_split_is_zero() -> None:
    """As TiCDC v8.5.7 wrote an UPDATE of a unique key of an in-memory TiDB."""
    columns = (
        Column("id", mysql.integer("int"), False),
        Column("u", mysql.integer("int"), False),
    )
    table = Table("d", "t", columns, ("id",), (("u",),))
    update = change(table, Op.UPDATE, ({"id": 1, "u": 2}, {"id": 1, "u": 3}))
    layout, options = Layout(), ("extension", "checksum")
    for release, is_zero in (("v8.5.7", True), ("new-8.5.7", False)):
        _, inserted = write(History((update,)), FORMAT.build(release, *options), layout)
        datum = fastavro.schemaless_reader(
            io.BytesIO((inserted.message.value or b"")[5:]), schema(inserted.message.value), None
        )
        assert isinstance(datum, dict)
        assert (datum["_tidb_row_level_checksum"] == "0") is is_zero
        assert datum["_tidb_corrupted"] is False


def test_an_enum_s_empty_value_ends_the_messages() -> None:
    assert len(messages(TABLE, ROW, {**ROW, "id": 2, "e": 0}, {**ROW, "id": 3})) == 1


@pytest.mark.parametrize(
    ("type", "default", "shown"),
    [
        (mysql.real("float"), Default("3.14", mysql.to_float32(3.14)), "3.140000104904175"),
        *(
            (mysql.real("double"), Default("0", 0.0), "0"),
            (mysql.bit(63), Default("b'0'", 0), '"AA=="'),
        ),
        (
            mysql.temporal("timestamp"),
            Default("'1970-01-01 00:00:01'", mysql.MICROS),
            '"1970-01-01 00:00:01"',
        ),
        (mysql.TYPES["year"], None, "0"),
        (
            mysql.temporal("datetime", 6),
            Default("CURRENT_TIMESTAMP(6)", None),
            '"CURRENT_TIMESTAMP"',
        ),
        (mysql.text("varchar", 36), Default("(uuid())", None), '"uuid()"'),
    ],
)
@pytest.mark.parametrize("release", ["v8.5.7", "new-8.5.7"])
def test_defaults_as_the_encoders_wrote_them(
    release: str, type: SourceType, default: Default | None, shown: str
) -> None:
    """As both architectures wrote them with an in-memory TiDB."""
    columns = (Column("id", mysql.integer("int"), False), Column("c", type, False, default=default))
    row = {
        "id": 1,
        "c": {"float": 1.0, "double": 1.0, "year": 2000, "varchar": "x"}.get(type.name, 1),
    }
    (record,) = FORMAT.write(
        History((insert(Table("d", "t", columns, ("id",)), row),)),
        FORMAT.profile(release),
        Layout(),
    )
    value = record.message.value or b""
    text = confluent.SCHEMAS[int.from_bytes(value[1:5])][1]
    assert f'{{"default":{shown},"name":"c",' in text


def test_with_a_checksum_columns_stand_in_the_order_in_which_tidb_numbered_them() -> None:
    """ticdc-avro#checksum; recorded: `add column nick ... first` leaves id the first field."""
    number = mysql.integer("int")
    before = Table("shop", "users", (Column("id", number, False),), ("id",))
    after = replace(before, columns=(Column("nick", number), *before.columns))
    added = SchemaChange(
        Instant(0, 0),
        "add column",
        "alter table users add column nick int first",
        "shop",
        "users",
        before,
        after,
    )
    history = History((added, insert(after, {"id": 1, "nick": 2})), 1)
    names: dict[tuple[str, ...], list[str]] = {}
    for options in (("extension",), ("extension", "checksum")):
        (record,) = write(history, FORMAT.build("v8.5.7", *options), Layout())
        value = record.message.value or b""
        datum = fastavro.schemaless_reader(io.BytesIO(value[5:]), schema(value), None)
        assert isinstance(datum, dict)
        names[options] = [field["name"] for field in schema(value)["fields"]][:2]
        assert (datum["id"], datum["nick"]) == (1, 2)
    assert names == {
        ("extension",): ["nick", "id"],
        ("extension", "checksum"): ["id", "nick"],
    }
