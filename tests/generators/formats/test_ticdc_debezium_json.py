"""Literal messages of TiCDC's Debezium protocol: those of PingCAP's document and of the encoder's
own tests.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final

import pytest

from generators.families.ticdc.text import iterator_string, json_number
from generators.formats.ticdc_debezium_json import FORMAT
from generators.model import (
    Column,
    Default,
    Event,
    History,
    Index,
    Instant,
    Layout,
    Op,
    Row,
    SchemaChange,
    State,
    Table,
    Value,
    Watermark,
    ZeroDate,
)
from generators.sources import mysql
from generators.sources.boundaries import change, insert

TINY: Final = Table("test", "table1", (Column("tiny", mysql.integer("tinyint")),), ("tiny",))
SOURCE: Final = (
    '"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"test_cluster","ts_ms":0,"snapshot":"false","db":"test",'
    '"table":"table1","server_id":0,"gtid":null,"file":"","pos":0,"row":0,"thread":0,"query":null,"commit_ts":1,'
    '"cluster_id":"test_cluster"},"ts_ms":1701326309000,"transaction":null'
)
KEY: Final = (
    '{"payload":{"tiny":1},"schema":{"type":"struct","name":"test_cluster.test.table1.Key","optional":false,'
    '"fields":[{"type":"int16","optional":true,"field":"tiny"}]}}'
)
TINY_FIELD: Final = '[{"type":"int16","optional":true,"field":"tiny"}]'
TAIL: Final = (
    '{"type":"struct","fields":[{"type":"string","optional":false,"field":"version"},{"type":"string","optional":false,"field":'
    '"connector"},{"type":"string","optional":false,"field":"name"},{"type":"int64","optional":false,"field":"ts_ms"},'
    '{"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,"parameters":{"allowed":'
    '"true,last,false,incremental"},"default":"false","field":"snapshot"},{"type":"string","optional":false,"field":"db"},'
    '{"type":"string","optional":true,"field":"sequence"},{"type":"string","optional":true,"field":"table"},{"type":"int64",'
    '"optional":false,"field":"server_id"},{"type":"string","optional":true,"field":"gtid"},{"type":"string","optional":false,'
    '"field":"file"},{"type":"int64","optional":false,"field":"pos"},{"type":"int32","optional":false,"field":"row"},'
    '{"type":"int64","optional":true,"field":"thread"},{"type":"string","optional":true,"field":"query"}],"optional":false,'
    '"name":"io.debezium.connector.mysql.Source","field":"source"},{"type":"string","optional":false,"field":"op"},'
    '{"type":"int64","optional":true,"field":"ts_ms"},{"type":"struct","fields":[{"type":"string","optional":false,"field":'
    '"id"},{"type":"int64","optional":false,"field":"total_order"},{"type":"int64","optional":false,"field":'
    '"data_collection_order"}],"optional":true,"name":"event.block","version":1,"field":"transaction"}]}}'
)
ENVELOPE: Final = (
    '"schema":{"type":"struct","optional":false,"name":"test_cluster.test.table1.Envelope","version":1,"fields":[{"type":'
    f'"struct","optional":true,"name":"test_cluster.test.table1.Value","field":"before","fields":{TINY_FIELD}}},{{"type":'
    f'"struct","optional":true,"name":"test_cluster.test.table1.Value","field":"after","fields":{TINY_FIELD}}},{TAIL}'
)
UPDATE: Final = (
    f'{{"payload":{{{SOURCE},"op":"u","before":{{"tiny":2}},"after":{{"tiny":1}}}},{ENVELOPE}'
)
"""The value of PingCAP's document, section DML event."""
WATERMARK: Final = (
    '{"payload":{'
    + SOURCE.replace('"db":"test","table":"table1"', '"db":"","table":""').replace(
        '"commit_ts":1', '"commit_ts":3'
    )
    + ',"op":"m"},"schema":{"type":"struct","optional":false,"name":"test_cluster.watermark.Envelope","version":1,"fields":['
    + TAIL
)
"""The document's, section WATERMARK event."""


def messages(name: str, *events: Event) -> list[tuple[Any, Any]]:
    """Key and value of each message, with the document's cluster and clock."""
    pairs = []
    for record in FORMAT.write(History(events), FORMAT.profile(name), Layout(partitions=1)):
        parts = (record.message.key or b"", record.message.value or b"")
        key, value = (
            json.loads(part.replace(b'"default', b'"test_cluster')) if part else part
            for part in parts
        )
        for part in (key, value):
            if part and "ts_ms" in part["payload"]:
                part["payload"]["ts_ms"] = 1701326309000
        pairs.append(
            (
                key,
                json.loads(
                    json.dumps(value).replace('"test_cluster": "false"', '"default": "false"')
                ),
            )
        )
    return pairs


def written(name: str, *events: Event) -> list[tuple[str, str]]:
    """Key and value of each message as they stand on the wire."""
    records = FORMAT.write(History(events), FORMAT.profile(name), Layout(partitions=1))
    return [
        ((record.message.key or b"").decode(), (record.message.value or b"").decode())
        for record in records
    ]


def test_the_document_s_update_and_key() -> None:
    event = change(TINY, Op.UPDATE, ({"tiny": 2}, {"tiny": 1}), at=Instant(0, 1))
    deleted, inserted = messages("v8.5.7", event)
    assert (deleted[1]["payload"]["op"], inserted[1]["payload"]["op"], inserted[0]) == (
        "d",
        "c",
        json.loads(KEY),
    )
    wide = Table(
        "test", "table1", (*TINY.columns, Column("k", mysql.integer("int"), False)), ("k",)
    )
    whole = json.loads(UPDATE)
    ((_, value),) = messages(
        "v8.5.7",
        change(wide, Op.UPDATE, ({"tiny": 2, "k": 1}, {"tiny": 1, "k": 1}), at=Instant(0, 1)),
    )
    for side in ("before", "after"):
        assert value["payload"][side].pop("k") == 1
    for struct in value["schema"]["fields"][:2]:
        assert struct["fields"].pop() == {"type": "int32", "optional": False, "field": "k"}
    assert value == whole


def test_the_encoder_s_insert_and_delete_without_schema() -> None:
    row = {"tiny": 1}
    events = (
        insert(TINY, row, Instant(0, 1)),
        change(TINY, Op.DELETE, (row, None), at=Instant(0, 1)),
    )
    key = {"payload": {"tiny": 1}}
    assert messages("v8.5.7+schemaless+without-before", *events) == [
        (
            key,
            json.loads(f'{{"payload":{{{SOURCE},"op":"c","before":null,"after":{{"tiny":1}}}}}}'),
        ),
        (
            key,
            json.loads(f'{{"payload":{{{SOURCE},"op":"d","after":null,"before":{{"tiny":1}}}}}}'),
        ),
    ]


def test_members_stand_in_the_encoder_s_order() -> None:
    (record,) = FORMAT.write(
        History((insert(TINY, {"tiny": 1}, Instant(0, 1)),)), FORMAT.profile("v8.5.7"), Layout()
    )
    value = json.loads(record.message.value or b"")
    assert list(value) == ["payload", "schema"]
    assert list(value["payload"]) == ["source", "ts_ms", "transaction", "op", "before", "after"]
    assert [list(part) for part in value["schema"]["fields"][2]["fields"][4:5]] == [
        ["type", "optional", "name", "version", "parameters", "default", "field"]
    ]


def test_names_of_schemas_and_their_members_as_the_encoder_wrote_them() -> None:
    """As TiCDC v8.5.7 wrote it of an in-memory TiDB; up to v8.1 a name stands as it is (codec.go of
    v8.1.2).
    """
    table = Table("1-d.b", "1d-x.y", (Column("id", mysql.integer("int"), False),), ("id",))
    records = {
        name: written(name, insert(table, {"id": 1}))[0]
        for name in ("v8.1.2", "v8.5.7", "new-8.5.7")
    }
    key = (
        '"schema":{"type":"struct","name":"default._1_d_b.1d_x.y.Key","optional":false,'
        '"fields":[{"type":"int32","optional":false,"field":"id"}]}}'
    )
    assert records["v8.5.7"][0].endswith(key)
    assert records["new-8.5.7"][0].endswith(key)
    assert records["v8.5.7"][1].endswith(TAIL)
    assert '"name":"default._1_d_b.1d_x.y.Envelope"' in records["v8.5.7"][1]
    assert '"name":"default.1-d.b.1d-x.y.Envelope"' in records["v8.1.2"][1]


DEFAULTS: Final[tuple[tuple[str, bool, str, Value, str], ...]] = (
    *(("bigint", True, "", (1 << 63) - 1, "9223372036854776000"), ("bigint", True, "", 5, "5")),
    *(
        ("binary", True, "", b"a", '"a\\u0000\\u0000\\u0000"'),
        ("year", True, "", 2069, "2069"),
        ("year", True, "", 0, "2000"),
    ),
    *(
        ("date", True, "", ZeroDate(), ""),
        ("date", False, "", ZeroDate(), "0"),
        ("datetime-0", True, "", ZeroDate(), ""),
    ),
    *(
        ("datetime-0", True, "", ZeroDate(2024, 0, 1), "0"),
        ("datetime-0", False, "", ZeroDate(), "0"),
    ),
    *(
        ("datetime-0", nullable, "", ZeroDate(micros=mysql.MICROS), "" if nullable else "0")
        for nullable in (True, False)
    ),
    *(
        ("timestamp-0", True, "", ZeroDate(), ""),
        ("timestamp-0", False, "", ZeroDate(), '"1970-01-01T00:00:00Z"'),
    ),
    *(
        ("datetime-0", True, "CURRENT_TIMESTAMP", None, "0"),
        ("timestamp-0", True, "CURRENT_TIMESTAMP", None, ""),
    ),
    *(
        ("datetime-0", True, "now()", None, "0"),
        ("timestamp-3", False, "LOCALTIMESTAMP(3)", None, '"1970-01-01T00:00:00Z"'),
    ),
    *(("double", True, "", 1e-7, "1e-07"), ("date", True, "(CURRENT_DATE())", None, "")),
    *(
        ("varchar", True, "(uuid())", None, '"uuid()"'),
        ("json", True, "(json_object(_utf8mb4'a', 1))", None, "\"json_object(_utf8mb4'a', 1)\""),
        ("datetime-0", True, "(CURRENT_DATE())", None, ""),
    ),
)
"""Defaults as TiCDC v8.5.7 wrote them in schemas, of an in-memory TiDB."""


@pytest.mark.parametrize(("name", "nullable", "expression", "value", "shown"), DEFAULTS)
def test_the_default_in_a_column_s_schema(
    name: str, nullable: bool, expression: str, value: Value, shown: str
) -> None:
    type = mysql.TYPES[name] if name != "binary" else mysql.binary("binary", 4)
    columns = (
        Column("id", mysql.integer("int"), False),
        Column("c", type, nullable, default=Default(expression or "x", value)),
    )
    given: Value = {
        "date": date(2024, 1, 1),
        "year": 2024,
        "binary": b"abcd",
        "double": 1.0,
        "varchar": "x",
        "json": mysql.Json({}),
    }.get(name, 1)
    (_, text), *_ = written(
        "v8.5.7", insert(Table("d", "t", columns, ("id",)), {"id": 1, "c": given})
    )
    block = text.partition('"field":"c"')[2].partition("}")[0]
    assert block == (f',"default":{shown}' if shown else "")


def test_a_year_that_cannot_be_null_has_a_default() -> None:
    columns = (Column("id", mysql.integer("int"), False), Column("y", mysql.TYPES["year"], False))
    (_, text), *_ = written(
        "v8.5.7", insert(Table("d", "t", columns, ("id",)), {"id": 1, "y": 2000})
    )
    assert '"name":"io.debezium.time.Year","version":1,"field":"y","default":2000}' in text


def test_what_the_encoders_refuse_and_what_they_write_wrong() -> None:
    """As both architectures did with an in-memory TiDB: "Incorrect datetime value"; "y":"1999"; a
    member twice; 0; "interface {} is nil".
    """
    id_ = Column("id", mysql.integer("int"), False)

    def sent(
        name: str, type: mysql.SourceType, value: Value, default: Default | None = None
    ) -> list[tuple[str, str]]:
        return written(
            name,
            insert(
                Table("d", "t", (id_, Column("c", type, default=default)), ("id",)),
                {"id": 1, "c": value},
            ),
        )

    partial = ZeroDate(2024, 0, 1)
    assert [
        bool(sent(name, mysql.temporal("datetime"), partial))
        for name in ("v8.1.2", "v8.5.7", "new-8.5.7")
    ] == [
        True,
        False,
        True,
    ]
    second = ZeroDate(micros=mysql.MICROS)
    assert '"c":null}' in sent("v8.5.7", mysql.temporal("datetime"), second)[0][1]
    for release in ("v8.5.7", "new-8.5.7"):
        assert sent(release, mysql.temporal("datetime"), None, Default("x", partial)) == []
    stamp = mysql.temporal("timestamp")
    assert (
        '"c":null}'
        in sent("v8.5.7", stamp, None, Default("'0000-00-00 00:00:00'", ZeroDate()))[0][1]
    )
    shown = {
        "v8.5.7": {
            "year": '"1999"',
            "varbinary": '"YWI=","c":"ab"',
            "time-0": "1",
            "unsigned-bigint": "-9223372036854775808",
        },
        "new-8.5.7": {"year": "1999", "varbinary": '"YWI="', "time-0": "0", "unsigned-bigint": "0"},
    }
    defaults: dict[str, Default] = {
        "year": Default("1999", 1999),
        "varbinary": Default("'ab'", b"ab"),
        "time-0": Default("'00:00:00.000001'", 1),
        "unsigned-bigint": Default("'9223372036854775808'", 1 << 63),
    }
    for release, cells in shown.items():
        for name, written_ in cells.items():
            ((_, text),) = sent(release, mysql.TYPES[name], None, defaults[name])
            assert f'"after":{{"id":1,"c":{written_}}}' in text


YEARS: Final = {"99": 1999, "'70'": 1970, "'0000'": 0, "0": 0, "2020": 2020}
"""Defaults of YEAR by their spelling, which TiDB keeps."""


@pytest.mark.parametrize(
    ("release", "years"),
    [
        (
            "v8.5.7",
            {"99": '"99"', "'70'": '"70"', "'0000'": '"0000"', "0": '"0"', "2020": '"2020"'},
        ),
        ("new-8.5.7", {"99": "99", "'70'": "70", "'0000'": "0", "0": "0", "2020": "2020"}),
    ],
)
def test_null_of_a_year_is_the_default_as_it_is_spelled(
    release: str, years: Mapping[str, str]
) -> None:
    """The default is a text, which the classic architecture writes as it is (WriteAnyField), and the
    new one reads as a number (ParseInt).

    https://github.com/pingcap/tiflow/blob/v8.5.7/pkg/sink/codec/debezium/codec.go#L510-L863
    https://github.com/pingcap/ticdc/blob/v8.5.7/pkg/sink/codec/debezium/helper.go#L138-L180
    """
    for literal, shown in years.items():
        default = Default(literal, YEARS[literal])
        assert null_of(release, mysql.TYPES["year"], default) == shown, literal


DATES: Final = (
    Default("'2020-01-05'", date(2020, 1, 5)),
    Default("'0000-00-00'", ZeroDate()),
    Default("(CURRENT_DATE)"),
)


@pytest.mark.parametrize(
    ("release", "shown"), [("v8.5.7", ["18266", "null", "null"]), ("new-8.5.7", [""] * 3)]
)
def test_null_of_a_date_with_a_default_ends_the_new_architecture(
    release: str, shown: list[str]
) -> None:
    """GetMysqlTime panics on the default's text: "interface conversion: interface {} is nil, not types.Time".

    https://github.com/pingcap/ticdc/blob/v8.5.7/pkg/sink/codec/debezium/codec.go#L490-L567
    """
    assert [null_of(release, mysql.TYPES["date"], default) for default in DATES] == shown


STOPS: Final = ""
NULLS_OF_EXPRESSIONS: Final = {
    ("varchar", "(UUID())"): ('"uuid()"', '"uuid()"'),
    ("varbinary", "(UUID())"): ('"dXVpZCgp","c":"uuid()"', '"dXVpZCgp"'),
    ("json", "(JSON_ARRAY(1, 2))"): ('"json_array(1, 2)"', '"json_array(1, 2)"'),
    ("enum", "(UUID())"): ('"uuid()"', '""'),
    ("set", "(UUID())"): ('"uuid()"', '""'),
    ("int", "(RAND())"): (STOPS, "0"),
    ("double", "(RAND())"): (STOPS, "0"),
    ("decimal", "(RAND())"): (STOPS, STOPS),
    ("year", "(RAND())"): ('"rand()"', "0"),
    ("time", "(UUID())"): (STOPS, "0"),
    ("datetime", "CURRENT_TIMESTAMP"): ("0", "0"),
    ("datetime", "(STR_TO_DATE('1980-01-01','%Y-%m-%d'))"): (STOPS, STOPS),
    ("timestamp", "CURRENT_TIMESTAMP"): ("null", "null"),
    ("timestamp", "(STR_TO_DATE('1980-01-01','%Y-%m-%d'))"): (STOPS, STOPS),
}
"""What the classic and the new architecture write for a NULL, by type and default."""
TYPES_OF_EXPRESSIONS: Final = {
    "varchar": mysql.text("varchar", 36),
    "varbinary": mysql.binary("varbinary", 36),
    "json": mysql.json(),
    "enum": mysql.enum_of("a", "b"),
    "set": mysql.set_of("a", "b"),
    "int": mysql.integer("int"),
    "double": mysql.TYPES["double"],
    "decimal": mysql.decimal(10, 2),
    "year": mysql.TYPES["year"],
    "time": mysql.temporal("time"),
    "datetime": mysql.temporal("datetime"),
    "timestamp": mysql.temporal("timestamp"),
}


@pytest.mark.parametrize(("name", "literal"), NULLS_OF_EXPRESSIONS)
def test_null_of_a_column_whose_default_is_an_expression_is_its_text(
    name: str, literal: str
) -> None:
    """The default is the expression's text, which the encoders take for a value; as both wrote these
    rows over an in-memory TiDB. For a DECIMAL the new one panics (NewDecFromStringForTest).

    https://github.com/pingcap/tiflow/blob/v8.5.7/pkg/sink/codec/debezium/codec.go#L510-L863
    https://github.com/pingcap/ticdc/blob/v8.5.7/pkg/sink/codec/debezium/codec.go#L490-L501
    https://github.com/pingcap/ticdc/blob/v8.5.7/pkg/sink/codec/debezium/helper.go#L138-L180
    """
    type, default = TYPES_OF_EXPRESSIONS[name], Default(literal)
    releases = ("v8.5.7", "new-8.5.7")
    shown = tuple(null_of(release, type, default) for release in releases)
    assert shown == NULLS_OF_EXPRESSIONS[name, literal]


def test_a_text_that_is_no_value_of_its_column_leaves_open_what_a_decoder_returns() -> None:
    for release, name, literal, state in (
        ("v8.5.7", "enum", "(UUID())", State.ANY),
        ("new-8.5.7", "json", "(JSON_ARRAY(1, 2))", State.ANY),
        ("new-8.5.7", "varchar", "(UUID())", State.VALUE),
        ("new-8.5.7", "year", "99", State.VALUE),
    ):
        type = mysql.TYPES["year"] if name == "year" else TYPES_OF_EXPRESSIONS[name]
        default = Default(literal, 1999 if name == "year" else None)
        columns = (Column("id", mysql.integer("int"), False), Column("c", type, default=default))
        event = insert(Table("d", "t", columns, ("id",)), {"id": 1, "c": None})
        (one,) = FORMAT.write(History((event,), 1), FORMAT.build(release), Layout())
        after = one.changes[0].after
        assert after is not None
        assert after["c"].state is state, name
        assert bool(one.changes[0].accept) is (state is State.ANY), name


def null_of(release: str, type: mysql.SourceType, default: Default) -> str:
    """The JSON of a NULL in a column with this default, "" if TiCDC stops at the row."""
    columns = (Column("id", mysql.integer("int"), False), Column("c", type, default=default))
    texts = written(release, insert(Table("d", "t", columns, ("id",)), {"id": 1, "c": None}))
    (row,) = (text.partition('"after":{"id":1,"c":')[2] for _, text in texts[:1] or [("", "")])
    return row.partition("}")[0]


def test_no_blank_stands_between_members() -> None:
    """json-iterator's stream has none, in the parameters of a column either (codec.go,
    writer.WriteObjectField).
    """
    columns = (*TINY.columns, Column("e", mysql.enum_of("a", "b")), Column("t", mysql.bit(10)))
    event = insert(Table("test", "table1", columns, ("tiny",)), {"tiny": 1, "e": 1, "t": 5})
    (record,) = FORMAT.write(History((event,)), FORMAT.profile("v8.5.7"), Layout())
    value = (record.message.value or b"").decode()
    assert (
        '"name":"io.debezium.data.Enum","version":1,"parameters":{"allowed":"a,b"},"field":"e"}'
        in value
    )
    assert (
        '"name":"io.debezium.data.Bits","version":1,"parameters":{"length":"10"},"field":"t"}'
        in value
    )
    assert " " not in value


def test_the_document_s_watermark() -> None:
    name = "test_cluster.watermark.Key"
    key = {
        "payload": {},
        "schema": {"fields": [], "optional": False, "name": name, "type": "struct"},
    }
    assert messages("new-8.5.6+extension", Watermark(Instant(0, 3))) == [
        (key, json.loads(WATERMARK))
    ]
    assert (
        messages("new-8.5.6", Watermark(Instant(0, 3)))
        == messages("v8.5.7", Watermark(Instant(0, 3)))
        == []
    )


def test_the_schema_of_source_has_the_commit_from_v26_3() -> None:
    """ticdc-debezium#source-schema: with the extension, in rows and watermarks."""
    query = '{"type":"string","optional":true,"field":"query"}'
    commit = (
        f'{query},{{"type":"int64","optional":false,"field":"commit_ts"}},'
        '{"type":"string","optional":false,"field":"cluster_id"}'
    )
    for event in (insert(TINY, {"tiny": 1}), Watermark(Instant(0, 3))):
        before, after = (
            written(f"{release}+extension", event)[0][1] for release in ("new-8.5.6", "new-26.3.4")
        )
        assert before.count(query) == 1
        assert after == before.replace(query, commit)
    row = insert(TINY, {"tiny": 1})
    assert written("new-26.3.4", row) == written("new-8.5.6", row)


DATATYPES: Final[tuple[tuple[str, Value, str], ...]] = (
    *(
        ("date", date(2023, 11, 30), "19691"),
        ("date", date(1000, 1, 1), "-354285"),
    ),
    *(
        ("date", date(9999, 12, 31), "2932896"),
        ("date", ZeroDate(), "null"),
        ("datetime-6", ZeroDate(), "null"),
    ),
    ("datetime-0", mysql.wall("2023-11-30 12:34:56"), "1701347696000"),
    ("datetime-6", mysql.wall("2023-11-30 12:34:56.123456"), "1701347696123456"),
    ("time-6", -45296123456, "-45296123456"),
    ("timestamp-0", mysql.wall("2023-11-30 12:34:56"), '"2023-11-30T12:34:56Z"'),
    ("timestamp-6", mysql.wall("2023-11-30 12:34:56.123456"), '"2023-11-30T12:34:56.123456Z"'),
    *(
        ("year", 2023, "2023"),
        ("bit-1", 1, "true"),
        ("varbinary", b"foo", '"Zm9v"'),
        ("blob", b"foo", '"Zm9v"'),
    ),
    *(
        ("float", mysql.to_float32(12345.12345), "12345.123"),
        ("double", 12345.12345, "12345.12345"),
    ),
    *(("int", -2147483648, "-2147483648"), ("unsigned-int", 4294967295, "4294967295")),
    *(
        ("bigint", -9223372036854775808, "-9223372036854775808"),
        ("unsigned-bigint", (1 << 64) - 1, "-1"),
    ),
    ("json", mysql.Json(["foo"]), '"[\\"foo\\"]"'),
)
"""Of pkg/sink/codec/debezium/testdata/datatype.dbz.json, which Debezium wrote and TiCDC's encoder
has to equal.
"""


@pytest.mark.parametrize(("name", "value", "shown"), DATATYPES)
def test_the_encoder_s_data_types(name: str, value: Value, shown: str) -> None:
    table = Table(
        "test",
        "foo",
        (Column("pk", mysql.integer("int"), False), Column("c", mysql.TYPES[name])),
        ("pk",),
    )
    (record,) = FORMAT.write(
        History((insert(table, {"pk": 1, "c": value}),)), FORMAT.profile("v8.5.7"), Layout()
    )
    assert f'"after":{{"pk":1,"c":{shown}}}'.encode() in (record.message.value or b"")


@pytest.mark.parametrize(
    ("value", "single", "shown"),
    [
        *(
            (1e-7, False, "1e-07"),
            (1.5e-10, False, "1.5e-10"),
            (0.000001, False, "0.000001"),
            (1e21, False, "1e+21"),
        ),
        *(
            (1e20, False, "100000000000000000000"),
            (-2.5e300, False, "-2.5e+300"),
            (0.0, False, "0"),
        ),
        *((mysql.to_float32(1e-6), True, "0.000001"), (mysql.to_float32(1e-7), True, "1e-07")),
        (mysql.to_float32(3.4028235e38), True, "3.4028235e+38"),
    ],
)
def test_floats_are_json_iterator_s(value: float, single: bool, shown: str) -> None:
    """Those below 1e-6 as v8.5.7 wrote them; encoding/json leaves out the first digit of such an
    exponent.
    """
    table = Table("d", "t", (Column("c", mysql.real("float" if single else "double")),))
    assert f'"after":{{"c":{shown}}}' in written("v8.5.7", insert(table, {"c": value}))[0][1]
    assert json_number(value, single=single) == shown.replace("e-07", "e-7")


def test_texts_are_json_iterator_s() -> None:
    assert iterator_string("\\u2028") == '"\\\\u2028"'
    assert iterator_string('<&>"\\\n\x01\x7f\u2028é') == '"<&>\\"\\\\\\n\\u0001\x7f\u2028é"'


def test_a_default_stands_for_null_from_v8_5_on() -> None:
    columns = (
        Column("id", mysql.integer("int"), False),
        Column("c", mysql.integer("int"), default=Default("5", 5)),
    )
    event = insert(Table("test", "t", columns, ("id",)), {"id": 1, "c": None})
    cells = [
        messages(name, event)[0][1]["payload"]["after"]["c"]
        for name in ("v8.1.2", "v8.5.7", "new-8.5.6")
    ]
    assert cells == [None, 5, 5]
    assert messages("v8.1.2", event)[0][0] == b""


def row_fields(profile_name: str, *events: Event) -> list[str]:
    """The fields of a row in the schema of the last message of these events, each as its JSON."""
    *_, written = FORMAT.write(History(events, 1), FORMAT.build(*profile_name.split("+")), Layout())
    row_schema = json.loads(written.message.value or b"")["schema"]["fields"][0]
    return [json.dumps(field, separators=(",", ":")) for field in row_schema["fields"]]


LOGINS: Final = Table(
    "shop",
    "users",
    (
        Column("nick", mysql.text("varchar", 20), nullable=False),
        Column("login", mysql.text("varchar", 15)),
        Column("attrs", mysql.json()),
        Column("n", mysql.integer("int")),
    ),
    ("nick",),
    indexes=(
        Index("uq3", ("_V$_uq3_0", "nick"), unique=True),
        Index("k_attr", ("_V$_k_attr_0",)),
        Index("k_n", ("_V$_k_n_0",)),
    ),
)
CREATES_LOGINS: Final = SchemaChange(
    Instant(0, 0),
    "create table",
    "create table users (nick varchar(20) primary key, login varchar(15), attrs json, n int,"
    " key k_attr ((cast(attrs->'$.tags' as char(20) array))), key k_n ((n + 1)))",
    "shop",
    "users",
    after=LOGINS,
)
ADDS_INDEX: Final = SchemaChange(
    Instant(0, 0),
    "create index",
    "alter table users add unique index uq3 ((lower(login)), nick)",
    "shop",
    "users",
    LOGINS,
    LOGINS,
)
ROW_OF_LOGINS: Final[Row] = {"nick": "a", "login": "B", "attrs": None, "n": 1}
INSERTS_LOGIN: Final = insert(LOGINS, ROW_OF_LOGINS)
TAGS_FIELD: Final = (
    '{"type":"string","optional":true,"name":"io.debezium.data.Json","version":1,"field":'
    '"_V$_k_attr_0"}'
)
SUM_FIELD: Final = '{"type":"int64","optional":true,"field":"_V$_k_n_0"}'
LOWER_FIELD: Final = '{"type":"string","optional":true,"field":"_V$_uq3_0"}'


@pytest.mark.parametrize(
    ("profile_name", "hidden_fields"),
    [
        ("v8.5.7", [TAGS_FIELD, SUM_FIELD, LOWER_FIELD]),
        ("new-8.5.7", [TAGS_FIELD, SUM_FIELD, LOWER_FIELD] * 2),
    ],
)
def test_the_schema_lists_hidden_columns_of_indexes_in_the_order_of_their_statements(
    profile_name: str, hidden_fields: list[str]
) -> None:
    fields = row_fields(profile_name, CREATES_LOGINS, ADDS_INDEX, INSERTS_LOGIN)
    assert [json.loads(field)["field"] for field in fields[:4]] == ["nick", "login", "attrs", "n"]
    assert fields[4:] == hidden_fields


def test_no_row_has_a_hidden_column_and_a_dropped_index_takes_its_own_along() -> None:
    table = replace(LOGINS, indexes=LOGINS.indexes[1:2])
    assert row_fields("v8.5.7", CREATES_LOGINS, insert(table, ROW_OF_LOGINS))[4:] == [TAGS_FIELD]
    *_, written = FORMAT.write(
        History((CREATES_LOGINS, INSERTS_LOGIN), 1), FORMAT.build("v8.5.7"), Layout()
    )
    after = json.loads(written.message.value or b"")["payload"]["after"]
    assert list(after) == ["nick", "login", "attrs", "n"]
