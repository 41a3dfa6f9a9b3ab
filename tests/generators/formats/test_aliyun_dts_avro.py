"""Aliyun DTS Avro against vectors that an independent Avro library encoded, printed messages, and
each choice of the writer.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from fastavro.schema import fingerprint, to_parsing_canonical_form
from literals import literal
from tables import keyed

from generators import model
from generators.drawing.cases import boundary_scenarios
from generators.formats.aliyun_dts_avro import FORMAT, object_name, schema, write
from generators.formats.aliyun_dts_avro.cells import (
    NONE,
    supports,
    type_number,
    wire_type,
    writer_of,
)
from generators.formats.aliyun_dts_avro.profiles import AliyunProfile, followed
from generators.formats.aliyun_dts_avro.scenarios import operation, setting
from generators.formats.aliyun_dts_avro.schema import (
    BRANCHES,
    FIELD,
    Framing,
    cell_bytes,
    cell_text,
    record_encoder,
    record_schema,
)
from generators.model import (
    Column,
    Event,
    Kind,
    Layout,
    Logical,
    Op,
    SchemaChange,
    SourceType,
    State,
    Value,
    Written,
    ZeroDate,
)
from generators.sources import mysql, postgresql
from generators.sources.boundaries import START, change, insert

PLAIN, OLD = FORMAT.profile("2020-06"), FORMAT.profile("2019")
DRDS, PARTIAL = FORMAT.profile("2020-06+drds"), FORMAT.profile("2020-06+partial+blocks")
LEGACY = FORMAT.profile("2020-06+text-object+legacy-charsets")
POSTGRESQL, PHYSICAL = (
    FORMAT.profile("2020-06+postgresql"),
    FORMAT.profile("2020-06+postgresql+physical-log"),
)

ABC = keyed(
    "db.abc", "id", id=mysql.integer("int"), a=mysql.text("varchar", 8), b=mysql.text("varchar", 8)
)
ROW: model.Row = {"id": 1, "a": "x", "b": None}

VECTOR = bytes.fromhex(literal("aliyun-dts-insert.hex"))
"""An INSERT in the shape of one that a consumer printed (aliyun#images), encoded by an independent
Avro library.
"""

SMALLEST = bytes.fromhex("00000000000000001e00000000000000")
"""The smallest legal record (aliyun#short-records)."""

HEAD = dict(
    [
        *(
            ("version", 0),
            ("id", 1_700_382),
            ("sourceTimestamp", 1_696_984_408),
            ("sourcePosition", "72469@78"),
        ),
        *(
            ("safeSourcePosition", "72347@78"),
            ("sourceTxid", "0"),
            ("source", {"sourceType": "MySQL", "version": "8.0.28"}),
        ),
        *(("operation", "INSERT"), ("objectName", "mydb.t1"), ("processTimestamps", None)),
    ]
)


def written(p: AliyunProfile, *events: Event, seed: int = 0) -> list[Written]:
    return write(model.History(events, seed), p, Layout("topic", 3))


def message(p: AliyunProfile, *events: Event, seed: int = 0) -> tuple[dict[str, Any], Written]:
    """The only record, read as its edition."""
    (sent,) = written(p, *events, seed=seed)
    assert sent.message.value is not None
    record, size = record_encoder(p.born).read(sent.message.value)
    assert size == len(sent.message.value)
    return record, sent


def wire(type: SourceType, value: Value, p: AliyunProfile = PLAIN) -> tuple[str, Any]:
    """A value's branch and record."""
    datum, _ = writer_of(type, p)(value)
    assert datum is not None
    return datum


def clock(*parts: int | None) -> dict[str, int | None]:
    return dict(
        zip(("year", "month", "day", "hour", "minute", "second", "millis"), parts, strict=True)
    )


def test_the_schema_is_the_published_one_with_its_types_inlined() -> None:
    """Fingerprints of the published file's Record, its named types put in at their first use; 2019
    is without bornTimestamp.
    """
    canonical = to_parsing_canonical_form(record_schema())
    assert fingerprint(canonical, "CRC-64-AVRO") == "78c4c4796716ebae"
    assert (
        fingerprint(canonical, "sha256")
        == "d57f6ce464e631aa7f6438633ce499bac5c59a91bda494dceef980d25663060d"
    )
    names = [field["name"] for field in record_schema()["fields"]]
    assert names[-1] == "bornTimestamp"
    assert [field["name"] for field in record_schema(born=False)["fields"]] == names[:-1]


def test_the_computed_vector() -> None:
    cells = [
        ("Integer", {"precision": 8, "value": "123456789"}),
        ("Character", {"charset": "utf8mb4", "value": b"test"}),
    ]
    fields = [
        FIELD({"name": "a", "dataTypeNumber": 8}),
        FIELD({"name": "b", "dataTypeNumber": 253}),
    ]
    record = schema.AvroRecord(
        HEAD,
        {"pk_uk_info": '{"PRIMARY":["a"]}'},
        fields,
        None,
        [cell_bytes(c) for c in cells],
        1_696_984_408,
    )
    assert record.encoded() == VECTOR
    assert len(VECTOR) == 125


def test_the_writer_writes_the_vectors_fields_images_and_key() -> None:
    table = model.Table(
        "mydb",
        "t1",
        (Column("a", mysql.integer("bigint")), Column("b", mysql.text("varchar"))),
        ("a",),
    )
    plain = replace(followed(PLAIN), table_order=True)
    _, sent = message(
        plain, insert(table, {"a": 123456789, "b": "test"}, model.Instant(1_696_984_408_000))
    )
    assert sent.message.value is not None
    fields, source = VECTOR.index(b"\x04\x04\x02a"), VECTOR.index(b"\xb0\xb5\xaf\xd2\x0c\x10")
    assert sent.message.value.endswith(VECTOR[fields:])
    assert VECTOR[source : VECTOR.index(b"mydb.t1") + 7] in sent.message.value
    assert b'\x14pk_uk_info\x22{"PRIMARY":["a"]}' in sent.message.value


def test_the_smallest_record() -> None:
    """A NOOP with everything empty; the edition of 2019 has one byte less."""
    bare = setting(bare=True)
    for p, expected in ((PLAIN, SMALLEST), (OLD, SMALLEST[:-1])):
        (sent,) = written(p, bare, operation("NOOP"))
        assert sent.message.value == expected
        (change_,) = sent.changes
        assert (change_.kind, change_.position, change_.commit_time_us) == (Kind.CONTROL, "", 0)
        assert change_.accept == ((Kind.HEARTBEAT, None),)


@pytest.mark.parametrize(
    ("type", "value", "branch", "record"),
    [
        (mysql.integer("bigint"), -1, "Integer", {"precision": 8, "value": "-1"}),
        (
            mysql.integer("bigint", unsigned=True),
            (1 << 64) - 1,
            "Integer",
            {"precision": 8, "value": "18446744073709551615"},
        ),
        (mysql.integer("tinyint"), 1, "Integer", {"precision": 1, "value": "1"}),
        (mysql.integer("mediumint"), 1, "Integer", {"precision": 3, "value": "1"}),
        (
            mysql.decimal(10, 2),
            Decimal("348.00"),
            "Decimal",
            {"value": "348.00", "precision": 5, "scale": 2},
        ),
        (
            mysql.decimal(10, 2),
            Decimal("1050.00"),
            "Decimal",
            {"value": "1050.00", "precision": 6, "scale": 2},
        ),
        (
            mysql.decimal(10, 2),
            Decimal("1.00"),
            "Decimal",
            {"value": "1.00", "precision": 3, "scale": 2},
        ),
        (
            mysql.decimal(10, 2),
            Decimal("-0.05"),
            "Decimal",
            {"value": "-0.05", "precision": 1, "scale": 2},
        ),
        (
            mysql.decimal(10, 2),
            Decimal("0.00"),
            "Decimal",
            {"value": "0.00", "precision": 1, "scale": 2},
        ),
        (
            mysql.decimal(10, 0),
            Decimal(123),
            "Decimal",
            {"value": "123", "precision": 3, "scale": 0},
        ),
        (
            mysql.decimal(20, 2),
            Decimal("1E+3"),
            "Decimal",
            {"value": "1000.00", "precision": 6, "scale": 2},
        ),
        (
            mysql.real("float"),
            mysql.to_float32(0.1),
            "Float",
            {"value": 0.10000000149011612, "precision": 0, "scale": 0},
        ),
        (
            mysql.bit(64),
            (1 << 64) - 1,
            "Integer",
            {"precision": 8, "value": "18446744073709551615"},
        ),
        (mysql.bit(9), 256, "Integer", {"precision": 2, "value": "256"}),
        (
            mysql.text("varchar"),
            "汉",
            "Character",
            {"charset": "utf8mb4", "value": b"\xe6\xb1\x89"},
        ),
        (mysql.text("text"), "汉", "BinaryObject", {"type": "TEXT", "value": b"\xe6\xb1\x89"}),
        (
            mysql.binary("varbinary", 4),
            b"\xff\x00",
            "Character",
            {"charset": "binary", "value": b"\xff\x00"},
        ),
        (mysql.binary("blob"), b"\xff", "BinaryObject", {"type": "BLOB", "value": b"\xff"}),
        (
            mysql.temporal("date"),
            dt.date(2024, 2, 29),
            "DateTime",
            clock(2024, 2, 29, None, None, None, None),
        ),
        (mysql.temporal("date"), ZeroDate(), "DateTime", clock(0, 0, 0, None, None, None, None)),
        (
            mysql.temporal("datetime", 6),
            mysql.wall("1969-12-31 23:59:59.999999"),
            "DateTime",
            clock(1969, 12, 31, 23, 59, 59, 999999),
        ),
        (mysql.temporal("datetime"), ZeroDate(2024), "DateTime", clock(2024, 0, 0, 0, 0, 0, 0)),
        (mysql.temporal("time"), -mysql.MICROS, "DateTime", clock(None, None, None, 0, 0, -1, 0)),
        (
            mysql.temporal("time", 6),
            -3_723_000_004,
            "DateTime",
            clock(None, None, None, -1, -2, -3, -4),
        ),
        (
            mysql.temporal("time"),
            mysql.TIME_LIMIT,
            "DateTime",
            clock(None, None, None, 838, 59, 59, 0),
        ),
        (mysql.year(), 0, "DateTime", clock(0, None, None, None, None, None, None)),
        (
            mysql.temporal("timestamp", 6),
            1_700_000_000_000_007,
            "Timestamp",
            {"timestamp": 1_700_000_000, "millis": 7},
        ),
        (mysql.temporal("timestamp"), ZeroDate(), "Timestamp", {"timestamp": 0, "millis": 0}),
        (mysql.enum_of("a", "b"), 2, "TextObject", {"type": "ENUM", "value": "b"}),
        (mysql.set_of("a", "b", "c"), 6, "TextObject", {"type": "SET", "value": "b,c"}),
        (
            wire_type("geometry", Logical.BINARY),
            b"\x01",
            "BinaryGeometry",
            {"type": "GEOMETRY", "value": b"\x01"},
        ),
        (
            wire_type("geometry-text", Logical.TEXT),
            "POINT(1 2)",
            "TextGeometry",
            {"type": "GEOMETRY", "value": "POINT(1 2)"},
        ),
        (wire_type("empty-none", Logical.TEXT), "-", "EmptyObject", "NONE"),
        (wire_type("empty-null", Logical.TEXT), "-", "EmptyObject", "NULL"),
    ],
)
def test_mysqls_values(type: SourceType, value: Value, branch: str, record: Any) -> None:
    """aliyun#decimal and the other facts on values, printed decimals among them."""
    assert wire(type, value) == (branch, record)


@pytest.mark.parametrize(
    ("type", "value", "branch", "record"),
    [
        (postgresql.integer("smallint"), 5, "Integer", {"precision": 2, "value": "5"}),
        (
            postgresql.numeric(),
            Decimal("1.50"),
            "Decimal",
            {"value": "1.50", "precision": 3, "scale": 2},
        ),
        (
            postgresql.numeric(),
            Decimal("1E+2"),
            "Decimal",
            {"value": "100", "precision": 3, "scale": 0},
        ),
        (postgresql.boolean(), 1, "TextObject", {"type": "BOOL", "value": "t"}),
        (
            postgresql.json("jsonb"),
            postgresql.Json({"a": 1}),
            "BinaryObject",
            {"type": "JSON", "value": b'{"a": 1}'},
        ),
        (
            postgresql.json("json"),
            postgresql.Json([1]),
            "TextObject",
            {"type": "JSON", "value": "[1]"},
        ),
        (postgresql.bytea(), b"\x00", "BinaryObject", {"type": "BYTEA", "value": b"\x00"}),
        (postgresql.text("text"), "é", "Character", {"charset": "utf8", "value": b"\xc3\xa9"}),
        (
            postgresql.temporal("timestamp"),
            mysql.wall("2024-01-02 03:04:05.000007"),
            "DateTime",
            clock(2024, 1, 2, 3, 4, 5, 7),
        ),
    ],
)
def test_postgresqls_values(type: SourceType, value: Value, branch: str, record: Any) -> None:
    assert wire(type, value, POSTGRESQL) == (branch, record)


def test_an_instant_of_postgresql_is_wall_clock_and_a_bare_offset() -> None:
    kind, value = postgresql.temporal("timestamptz"), mysql.wall("2024-01-02 20:00:00.25")
    branch, record = wire(kind, value, POSTGRESQL)
    assert branch == "TimestampWithTimeZone"
    assert record == {"value": clock(2024, 1, 3, 4, 0, 0, 250_000), "timezone": "+08:00"}
    assert wire(kind, value, PHYSICAL)[1] == {
        "value": clock(2024, 1, 2, 16, 30, 0, 250_000_000),
        "timezone": "-03:30",
    }
    last = mysql.wall("9999-12-31 23:00:00")
    assert wire(kind, last, POSTGRESQL)[1] == {
        "value": clock(9999, 12, 31, 23, 0, 0, 0),
        "timezone": "+00:00",
    }


def test_millis_are_micros_for_mysql_and_postgresql_and_nanos_for_others() -> None:
    """aliyun#datetime-nanos; Timestamp's are microseconds everywhere."""
    kind, value = mysql.temporal("datetime", 6), mysql.wall("2024-01-02 03:04:05.678901")
    assert [wire(kind, value, p)[1]["millis"] for p in (PLAIN, OLD, DRDS)] == [
        678_901,
        678_901,
        678_901_000,
    ]
    moment = mysql.temporal("timestamp", 6)
    assert [wire(moment, 1_678_901, p)[1] for p in (PLAIN, DRDS)] == [
        {"timestamp": 1, "millis": 678_901}
    ] * 2
    stamp = postgresql.temporal("timestamp", 6)
    assert [wire(stamp, value, p)[1]["millis"] for p in (POSTGRESQL, PHYSICAL)] == [
        678_901,
        678_901_000,
    ]
    assert wire(mysql.temporal("time", 6), -1, DRDS)[1] == clock(None, None, None, 0, 0, 0, -1000)


def test_text_has_one_of_three_branches() -> None:
    kind = mysql.text("text")
    branches = [
        wire(kind, "x", p)[0]
        for p in (PLAIN, LEGACY, FORMAT.profile("2019+text-character+sized-blocks"))
    ]
    assert branches == ["BinaryObject", "TextObject", "Character"]


@pytest.mark.parametrize(
    ("name", "text", "charset", "raw"),
    [
        *(("latin1", "€é", "latin1", b"\x80\xe9"), ("latin1", "汉", "utf8mb4", b"\xe6\xb1\x89")),
        *(
            ("gbk", "汉字", "gbk", b"\xba\xba\xd7\xd6"),
            ("utf8mb3", "😀", "utf8mb4", b"\xf0\x9f\x98\x80"),
        ),
        *(
            ("ucs2", "a", "ucs2", b"\x00a"),
            ("utf16", "😀", "utf16", b"\xd8\x3d\xde\x00"),
            ("sjis", "か", "sjis", b"\x82\xa9"),
        ),
        ("gbk", "", "gbk", b""),
    ],
)
def test_characters_are_in_their_columns_charset(
    name: str, text: str, charset: str, raw: bytes
) -> None:
    """aliyun#charset-names: latin1 is Windows-1252. A column that cannot hold a text is one in
    utf8mb4.
    """
    assert wire(wire_type(f"charset:{name}", Logical.TEXT), text)[1] == {
        "charset": charset,
        "value": raw,
    }


def test_an_unknown_charset_leaves_its_value_open_but_not_its_bytes() -> None:
    table = replace(
        ABC, columns=(*ABC.columns, Column("c", wire_type("charset:unheard_of", Logical.TEXT)))
    )
    _, sent = message(PLAIN, insert(table, {**ROW, "c": "hi"}))
    (row,) = sent.changes
    assert row.after is not None
    assert (row.after["c"].state, row.after["c"].text) == (
        State.ANY,
        '{"charset":"unheard_of","value":"6869"}',
    )
    assert row.accept == ((Kind.CORRUPT, None),)


def test_level_one_shows_records_as_json_in_the_schemas_order() -> None:
    """Level one, with bytes as hexadecimal digits."""
    assert (
        cell_text(("Character", {"charset": "gbk", "value": b"\xff"}))
        == '{"charset":"gbk","value":"ff"}'
    )
    assert cell_text(("DateTime", clock(2024, None, None, None, None, None, None))) == (
        '{"year":2024,"month":null,"day":null,"hour":null,"minute":null,"second":null,"millis":null}'
    )
    assert cell_text(None) is None


def test_a_zero_timestamp_is_zero_or_the_epoch() -> None:
    _, cell = writer_of(mysql.temporal("timestamp"), PLAIN)(ZeroDate())
    assert (cell.state, cell.options) == (State.ONE_OF, (ZeroDate(), 0))
    assert cell.reason


def test_a_numeric_label_may_be_an_index() -> None:
    _, cell = writer_of(mysql.enum_of("2", "1", "x"), PLAIN)(1)
    assert (cell.state, cell.options, cell.text) == (
        State.ONE_OF,
        (1, 2),
        '{"type":"ENUM","value":"2"}',
    )


def test_not_a_number_has_no_text_in_json() -> None:
    _, cell = writer_of(postgresql.real("double precision"), POSTGRESQL)(float("-inf"))
    assert (cell.state, cell.text, cell.value) == (State.VALUE, None, float("-inf"))


def test_a_rows_record() -> None:
    """aliyun#born-timestamp, aliyun#keys."""
    record, sent = message(
        PLAIN,
        change(ABC, Op.UPDATE, (ROW, {**ROW, "b": "y"}), at=model.Instant(1_700_000_000_987, 3)),
    )
    assert record["sourceTimestamp"] == record["bornTimestamp"] == 1_700_000_000
    assert (record["sourcePosition"], record["safeSourcePosition"]) == ("72469@78", "72347@78")
    assert record["processTimestamps"] is None
    assert set(record["tags"]) == {
        "pk_uk_info",
        "readerThroughoutTime",
        "thread_id",
        "server_id",
        "metaVersion",
    }
    assert (record["tags"]["pk_uk_info"], record["tags"]["readerThroughoutTime"]) == (
        '{"PRIMARY":["id"]}',
        "1700000001418",
    )
    assert (sent.message.key, sent.message.partition, sent.message.timestamp_ms) == (
        None,
        0,
        1_700_000_001_418,
    )


def test_columns_come_in_an_order_of_chance_with_their_values() -> None:
    orders = set()
    for seed in range(12):
        record, _ = message(PLAIN, insert(ABC, {"id": 7, "a": "x", "b": "y"}), seed=seed)
        names = [field["name"] for field in record["fields"]]
        values = [value["value"] for _, value in record["afterImages"]]
        assert dict(zip(names, values, strict=True)) == {"id": "7", "a": b"x", "b": b"y"}
        orders.add(tuple(names))
        assert record == message(PLAIN, insert(ABC, {"id": 7, "a": "x", "b": "y"}), seed=seed)[0]
    assert len(orders) > 3


def test_keys_are_primary_in_a_tag_whose_order_is_of_chance() -> None:
    table = replace(ABC, primary_key=("id", "a"), unique=(("b",), ("a", "b")))
    texts = {
        message(PLAIN, insert(table, ROW), seed=seed)[0]["tags"]["pk_uk_info"] for seed in range(20)
    }
    assert len(texts) > 3
    assert all(
        json.loads(t) == {"PRIMARY": ["id", "a"], "uk_b": ["b"], "uk_a_b": ["a", "b"]}
        for t in texts
    )
    keyless = replace(ABC, primary_key=())
    tags = [
        message(PLAIN, insert(keyless, ROW), seed=seed)[0]["tags"].get("pk_uk_info")
        for seed in range(20)
    ]
    assert set(tags) == {None, "{}"}
    assert message(PLAIN, insert(keyless, ROW))[1].changes[0].keys is None


def test_a_filtered_key_column_is_told_by_the_tag_alone() -> None:
    record, sent = written_with(setting(hidden=("id",)))
    assert sorted(field["name"] for field in record["fields"]) == ["a", "b"]
    (row,) = sent.changes
    assert row.keys == ("id",)
    assert row.after is not None and row.after["id"].state is State.ABSENT
    assert row.types is not None and "id" not in row.types


def written_with(*settings: Event) -> tuple[dict[str, Any], Written]:
    """The INSERT behind settings."""
    return message(PLAIN, *settings, insert(ABC, ROW))


def test_images_that_there_are_not_are_null_or_empty_arrays() -> None:
    for empty, expected in ((False, None), (True, [])):
        record, sent = written_with(setting(empty_images=empty))
        assert record["beforeImages"] == expected
        assert sent.changes[0].before is None


def test_what_was_not_captured_is_neither_key_nor_changed() -> None:
    event = change(ABC, Op.UPDATE, ({"id": 1, "a": "x", "b": "k"}, {"id": 1, "a": "y", "b": "k"}))
    _, sent = message(PARTIAL, event)
    (row,) = sent.changes
    assert row.before is not None and row.after is not None
    assert {n: c.state for n, c in row.before.items()} == {
        "id": State.VALUE,
        "a": State.VALUE,
        "b": State.ABSENT,
    }
    assert {c.state for c in row.after.values()} == {State.VALUE}
    _, sent = message(PARTIAL, change(ABC, Op.DELETE, (ROW, None)))
    assert {n: c.state for n, c in (sent.changes[0].before or {}).items()} == {
        "id": State.VALUE,
        "a": State.ABSENT,
        "b": State.ABSENT,
    }
    assert cell_bytes(NONE) == b"\x18\x02"


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("db", "t"), "db.t"),
        (("d.b", "t"), "d\\u002Eb.t"),
        (("db", "public", ".."), "db.public.\\u002E\\u002E"),
        (("db",), "db"),
    ],
)
def test_object_names(parts: tuple[str, ...], name: str) -> None:
    """aliyun#object-name, aliyun#dots, aliyun#logical-names."""
    assert object_name(*parts) == name


def test_names_of_postgresql_have_three_parts_and_those_of_drds_are_physical() -> None:
    table = replace(
        ABC,
        schema="public",
        columns=tuple(Column(c.name, postgresql.integer()) for c in ABC.columns),
    )
    record, sent = message(POSTGRESQL, insert(table, {"id": 1, "a": 2, "b": None}))
    assert (record["objectName"], sent.changes[0].schema) == ("db.public.abc", "public")
    assert record["source"] == {"sourceType": "PostgreSQL", "version": "13.4"}
    record, sent = message(DRDS, insert(ABC, ROW))
    assert record["objectName"] == "db_pyii_0005.abc_aeje_11"
    assert (record["tags"]["l_db_name"], record["tags"]["l_tb_name"]) == ("db", "abc")
    assert (sent.changes[0].database, sent.changes[0].table) == ("db", "abc")
    mysql_behind, _ = message(FORMAT.profile("2020-06+logical-names"), insert(ABC, ROW))
    assert mysql_behind["source"] == {"sourceType": "MySQL", "version": "8.0.34"}
    assert [mysql_behind[name] for name in ("objectName", "operation")] == [
        record[name] for name in ("objectName", "operation")
    ]
    assert mysql_behind["tags"]["l_tb_name"] == "abc"


def test_a_statement_has_the_tags_of_its_transaction() -> None:
    """aliyun#ddl-tags: those of the DDL record that a consumer printed."""
    events = [
        SchemaChange(START, "create table", f"CREATE TABLE t{i} (id int)", "mydb", f"t{i}")
        for i in (1, 2)
    ]
    first, second = (
        record_encoder(True).read(w.message.value or b"")[0]["tags"]
        for w in written(PLAIN, *events)
    )
    assert set(first) == {
        *(
            "GTID",
            "GTID_SET",
            "Q_CHARSET_CODE",
            "Q_FLAGS2_CODE",
            "Q_SQL_MODE_CODE",
            "commitTimestamp",
        ),
        *("lowerCaseTableNames", "readerThroughoutTime", "server_id", "thread_id"),
    }
    assert (first["commitTimestamp"], first["lowerCaseTableNames"]) == ("1700000000", "true")
    assert int(second["GTID"].rpartition(":")[2]) == int(first["GTID"].rpartition(":")[2]) + 1
    assert first["GTID_SET"].replace(":1-", ":") == first["GTID"]


def test_ddl_is_the_string_branch_of_the_after_image_and_names_its_database() -> None:
    event = SchemaChange(START, "create table", "CREATE TABLE t (id int)", "mydb", "t")
    record, sent = message(PLAIN, event)
    assert (record["operation"], record["objectName"], record["afterImages"]) == (
        "DDL",
        "mydb",
        "CREATE TABLE t (id int)",
    )
    assert (record["fields"], record["beforeImages"]) == (None, None)
    (ddl,) = sent.changes
    assert (ddl.kind, ddl.database, ddl.table, ddl.sql) == (
        Kind.DDL,
        "mydb",
        None,
        "CREATE TABLE t (id int)",
    )


@pytest.mark.parametrize(
    ("event", "name", "kind", "accept"),
    [
        (model.TransactionMark(START, "BEGIN", "1"), "BEGIN", Kind.TRANSACTION, ()),
        (model.TransactionMark(START, "ABORT", "1"), "ABORT", Kind.TRANSACTION, ()),
        (model.Heartbeat(START), "HEARTBEAT", Kind.HEARTBEAT, ()),
        (model.Watermark(START), "CHECKPOINT", Kind.CONTROL, ((Kind.HEARTBEAT, None),)),
        (operation("NOOP"), "NOOP", Kind.CONTROL, ((Kind.HEARTBEAT, None),)),
        (operation("RDB"), "RDB", Kind.CONTROL, ()),
        (operation("COMMAND", "{}", "db"), "COMMAND", Kind.DDL, ((Kind.CONTROL, None),)),
        (change(ABC, Op.READ, (None, ROW)), "INIT", Kind.ROW, ()),
    ],
)
def test_operations(event: Event, name: str, kind: Kind, accept: tuple[Any, ...]) -> None:
    """aliyun#operations."""
    record, sent = message(PLAIN, event)
    assert record["operation"] == name
    (change_,) = sent.changes
    assert (change_.kind, change_.accept) == (kind, accept)
    if kind in (Kind.TRANSACTION, Kind.HEARTBEAT, Kind.CONTROL):
        assert record["objectName"] is None


def test_an_operation_that_there_is_not_is_refused() -> None:
    with pytest.raises(KeyError, match="EOF"):
        written(PLAIN, operation("EOF"))


def test_meta_version_grows_with_ddl_and_is_not_of_2019() -> None:
    ddl = SchemaChange(START, "add column", "ALTER TABLE abc ADD c int", "db", "abc")
    first, _, second = written(PLAIN, insert(ABC, ROW), ddl, insert(ABC, ROW))
    versions = [
        int(record_encoder().read(w.message.value or b"")[0]["tags"]["metaVersion"])
        for w in (first, second)
    ]
    assert versions[1] == versions[0] + 1
    assert "metaVersion" not in message(OLD, insert(ABC, ROW))[0]["tags"]


def test_blocks_hold_the_same_record() -> None:
    honest, _ = message(PLAIN, insert(ABC, ROW))
    values = {}
    for framing in (Framing(), Framing((1,)), Framing((1, 1)), Framing((2,), sized=True)):
        record, raw = message(replace(PLAIN, framing=framing), insert(ABC, ROW))
        assert record == honest
        values[framing] = raw.message.value
    assert len(set(values.values())) == 4


def test_ids_grow_or_are_all_the_same() -> None:
    """aliyun#id."""
    event = insert(ABC, ROW)
    ids = [
        record_encoder().read(w.message.value or b"")[0]["id"]
        for w in written(PLAIN, event, event, setting(one_id=True), event, event)
    ]
    assert ids[1] == ids[0] + 1 == ids[2] == ids[3]


def test_type_numbers() -> None:
    """aliyun#type-numbers: MySQL's protocol numbers, never those that the demo has no adapter for,
    and PostgreSQL's OIDs.
    """
    numbers = {name: type_number(kind) for name, kind in mysql.TYPES.items()}
    assert not {17, 18, 19} & set(numbers.values())
    expected = dict(
        [
            *(
                ("datetime-6", 12),
                ("timestamp-0", 7),
                ("time-3", 11),
                ("year", 13),
                ("json", 245),
                ("enum", 247),
                ("set", 248),
            ),
            ("varchar", 253),
        ]
    )
    assert {name: numbers[name] for name in expected} == expected
    spatial = [*map(mysql.spatial, mysql.SPATIAL), wire_type("geometry-text", Logical.TEXT)]
    assert {type_number(kind) for kind in spatial} == {255}
    oids = {
        name: type_number(postgresql.TYPES[name])
        for name in ("boolean", "jsonb", "timestamptz-0", "numeric", "text")
    }
    assert oids == {
        "boolean": 16,
        "jsonb": 3802,
        "timestamptz-0": 1184,
        "numeric": 1700,
        "text": 25,
    }


def test_types_of_postgresql_that_no_source_tells_of_are_left_out() -> None:
    left_out = {name for name, kind in postgresql.TYPES.items() if not supports(kind)}
    assert left_out == {
        *("money", "bit-1", "bit-8", "bit-64", "varbit-63", "timetz", "interval", "inet", "hstore"),
        *("integer-array", "text-array"),
    }
    assert all(supports(kind) for kind in mysql.TYPES.values())


def test_branches_are_numbered_in_the_unions_order() -> None:
    """aliyun#null: the order of the union counts; that of the file's list of types differs."""
    assert [
        BRANCHES.index(name) for name in ("null", "Character", "Decimal", "Float", "EmptyObject")
    ] == [0, 2, 3, 4, 12]
    assert cell_bytes(("Decimal", {"value": "", "precision": 0, "scale": 0})) == b"\x06\x00\x00\x00"


def test_every_branch_and_every_operation_occurs_in_a_case() -> None:
    branches, operations = set(), set()
    for p in (PLAIN, POSTGRESQL):
        for scenario in boundary_scenarios(FORMAT, p):
            for record in (
                record_encoder(False).read(w.message.value or b"")[0]
                for w in write(scenario.history, p, Layout())
            ):
                operations.add(record["operation"])
                for value in (
                    v
                    for side in ("beforeImages", "afterImages")
                    for v in record[side] or ()
                    if record["fields"]
                ):
                    branches.add(
                        value[0].rpartition(".")[2]
                        if isinstance(value, tuple)
                        else value and "EmptyObject"
                    )
    assert branches == {None, *BRANCHES[1:]}
    assert operations == set(schema.OPERATIONS)


def test_real_marks_are_shorter_than_the_demos_filler() -> None:
    """aliyun#filler: the demo leaves out what has 48 bytes or less."""
    for p in FORMAT.profiles:
        for scenario in (
            scenario
            for scenario in boundary_scenarios(FORMAT, p)
            if "control:short" in scenario.tags
        ):
            (sent,) = write(scenario.history, p, Layout())
            assert len(sent.message.value or b"") <= 48
            assert sent.changes[0].kind in (Kind.TRANSACTION, Kind.HEARTBEAT)
