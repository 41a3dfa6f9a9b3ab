"""What PostgreSQL's connector of Debezium 3.7.0.Final writes otherwise than that of 3.6.1.Final: the
values are those that both wrote for the same statements on PostgreSQL 15.
"""

from __future__ import annotations

import json

import pytest
from debezium_rows import written

from generators.errors import UsageError
from generators.families.debezium import postgresql as debezium_postgresql
from generators.formats.debezium_json import envelope
from generators.formats.debezium_json.rows import defaults_of, stand_in
from generators.model import (
    Column,
    Default,
    Json,
    Logical,
    Op,
    Row,
    SourceType,
    State,
    Table,
    Value,
)
from generators.sources import boundaries, postgresql
from generators.wire_format import get

OLD, NEW = "3.6.1.Final", "3.7.0.Final"
FORMAT = get("debezium-json")
BOX = (
    '{"wkb":"AQMAAAABAAAABQAAAAAAAAAAAPA/AAAAAAAA+D8AAAAAAADwPwAAAAAAAAAAAAAAAAAA0L8AAAAAAAAAAAAAAAAAANC/'
    'AAAAAAAA+D8AAAAAAADwPwAAAAAAAPg/","srid":null,"extensions":{"type":"box"}}'
)
CIRCLE = '{"center":{"x":10.0,"y":20.0,"wkb":"AQEAAAAAAAAAAAAkQAAAAAAAADRA","srid":null},"radius":1.0E300}'
NOT_SENT = {
    "box": (
        '{"wkb":"AQMAAAABAAAABQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAA8D8AAAAAAADwPwAAAAAAAPA/'
        'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","srid":null,"extensions":{"type":"box"}}'
    ),
    "circle": (
        '{"center":{"x":0.0,"y":0.0,"wkb":"AQEAAAAAAAAAAAAAAAAAAAAAAAAA","srid":null},"radius":0.0}'
    ),
}


def wire_text(
    release: str, type: SourceType, value: str | Json, *options: str, snapshot: bool = False
) -> str:
    """The JSON of a cell as the connector of that release writes it."""
    modes = FORMAT.build(release, "postgresql", *options).modes
    return debezium_postgresql.wire(type, value, modes, snapshot=snapshot).json


@pytest.mark.parametrize(
    ("value", "old", "new"),
    [
        ("24:00:00+00", '"00:00:00Z"', '"24:00:00Z"'),
        ("24:00:00-03:30", '"03:30:00Z"', '"03:30:00Z"'),
        ("04:05:06.789+05:30", '"22:35:06.789Z"', '"22:35:06.789Z"'),
    ],
)
def test_the_end_of_a_day_at_utc_stays_one(value: str, old: str, new: str) -> None:
    """debezium#timetz."""
    timetz = postgresql.temporal("timetz")
    assert [wire_text(release, timetz, value) for release in (OLD, NEW)] == [old, new]


@pytest.mark.parametrize(
    ("items", "old", "new"),
    [
        (
            ["04:05:06.789+05:30", "24:00:00+00", "24:00:00-03:30", None],
            '["22:35:06Z","00:00:00Z","03:30:00Z",null]',
            '["22:35:06.789Z","24:00:00Z","03:30:00Z",null]',
        ),
        ([["04:05:06.789+05:30"], ["24:00:00+00"]], "[null,null]", "null"),
    ],
)
def test_times_in_an_array_are_as_in_a_column(items: list[object], old: str, new: str) -> None:
    """debezium#arrays."""
    array = postgresql.array_of(postgresql.temporal("timetz"))
    assert [wire_text(release, array, Json(items)) for release in (OLD, NEW)] == [old, new]


@pytest.mark.parametrize(
    ("option", "old", "new"),
    [
        (
            "adaptive",
            ("-2147472692", "9223372036825200000", "9223372036825200"),
            ("2146033979", "9223372036854775807", "9223372036825200000"),
        ),
        (
            "connect",
            ("-2147472692", "9223372036825200", "9223372036825200"),
            ("2146033979", "9223372036825200000", "9223372036825200000"),
        ),
        (
            "microseconds",
            ("-2147472692", "9223372036825200000", "9223372036825200000"),
            ("2146033979", "9223372036854775807", "9223372036854775807"),
        ),
        (
            "isostring",
            ('"-5877611-06-21Z"', *['"+294247-01-10T04:00:25.2Z"'] * 2),
            ('"+5877611-06-21Z"', *['"+292278994-08-16T23:00:00Z"'] * 2),
        ),
    ],
)
def test_infinite_dates_are_other_numbers(
    option: str, old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    """debezium#infinite-dates."""
    types = [
        postgresql.temporal("date"),
        *(postgresql.temporal("timestamp", n) for n in (6, 3)),
    ]
    for release, texts in ((OLD, old), (NEW, new)):
        assert tuple(wire_text(release, type, "infinity", option) for type in types) == texts
    assert [wire_text(NEW, type, "infinity", option, snapshot=True) for type in types[1:]] == [
        *new[1:]
    ]


def test_minus_infinity_stops_at_the_limits_of_64_bits() -> None:
    """debezium#infinite-dates."""
    types = [postgresql.temporal("date"), *(postgresql.temporal("timestamp", n) for n in (6, 3))]
    assert [wire_text(NEW, type, "-infinity") for type in types] == [
        "-2147472691",
        "-9223372036854775808",
        "-9223372036832400000",
    ]
    assert wire_text(NEW, types[0], "infinity", snapshot=True) == "-622191234"


@pytest.mark.parametrize(
    ("name", "text", "new"),
    [("box", "(1,1.5),(-0.25,0)", BOX), ("circle", "<(10,20),1e+300>", CIRCLE)],
)
def test_shapes_are_structs(name: str, text: str, new: str) -> None:
    """debezium#shapes: with and without include.unknown.datatypes."""
    type = postgresql.other(name)
    for options in ((), ("include-unknown",)):
        modes = FORMAT.build(NEW, "postgresql", *options).modes
        cell = debezium_postgresql.wire(type, text, modes)
        assert (cell.json, cell.cell.cls) == (new, "spatial")
        assert cell.cell.value == Json(json.loads(new))
        assert cell.cell.type.logical is Logical.JSON
    assert wire_text(OLD, type, text, "include-unknown").startswith('"')


@pytest.mark.parametrize("name", ["box", "circle"])
def test_a_shape_that_was_not_sent_has_a_fallback(name: str) -> None:
    """debezium#shapes."""
    modes = FORMAT.build(NEW, "postgresql").modes
    cell = debezium_postgresql.not_sent(postgresql.other(name), modes, nullable=False)
    assert (cell.json, cell.schema.optional) == (NOT_SENT[name], True)
    assert cell.cell.state is State.ANY


def test_a_geometry_has_extensions_in_its_schema() -> None:
    """debezium#shapes: the schema of a box as 3.7.0.Final wrote it."""
    table = Table("d", "t", (Column("b", postgresql.other("box")),), (), (), "public")
    row: Row = {"b": "(1,1.5),(-0.25,0)"}
    profile = FORMAT.build(NEW, "postgresql")
    (record,) = written(profile, boundaries.change(table, Op.INSERT, (None, row)))
    value = json.loads(record.message.value or b"")
    (field,) = value["schema"]["fields"][1]["fields"]
    text = '{"type":"string","optional":false}'
    assert field == {
        "type": "struct",
        "fields": [
            {"type": "bytes", "optional": False, "field": "wkb"},
            {"type": "int32", "optional": True, "field": "srid"},
            {
                "type": "map",
                "keys": json.loads(text),
                "values": json.loads(text),
                "optional": True,
                "field": "extensions",
            },
        ],
        "optional": True,
        "name": "io.debezium.data.geometry.Geometry",
        "version": 2,
        "doc": "Geometry",
        "field": "b",
    }


@pytest.mark.parametrize(
    ("type", "text", "value", "old", "new"),
    [
        (postgresql.TYPES["text"], "'it''s'::text", "it's", '"it"', '"it\'s"'),
        (postgresql.TYPES["text"], "''''::text", "'", '""', '"\'"'),
        (postgresql.TYPES["text"], "('it''s'::text || 'z'::text)", None, '"it"', '"it\'s"'),
        (postgresql.TYPES["text"], "'x\ny'::text", "x\ny", "", '"x\\ny"'),
        (
            postgresql.TYPES["json"],
            "'{\"a\":\"it''s\"}'::json",
            Json({"a": "it's"}, '{"a":"it\'s"}'),
            '"{\\"a\\":\\"it"',
            '"{\\"a\\":\\"it\'s\\"}"',
        ),
    ],
)
def test_a_default_has_its_quotes_and_ends_of_lines(
    type: SourceType, text: str, value: Value, old: str, new: str
) -> None:
    """debezium#defaults."""
    default = Default(text, value)
    table = Table("d", "t", (Column("c", type, default=default),), (), (), "public")
    shown = []
    for release in (OLD, NEW):
        profile = FORMAT.build(release, "postgresql")
        known = defaults_of(table, profile, {}, False)
        shown.append(
            stand_in(table.columns[0], known["c"], profile, False).json if "c" in known else ""
        )
    assert shown == [old, new]


@pytest.mark.parametrize(
    ("op", "release", "name"),
    [
        (Op.INSERT, OLD, "INT8"),
        (Op.INSERT, NEW, "BIGSERIAL"),
        (Op.READ, OLD, "BIGSERIAL"),
        (Op.READ, NEW, "BIGSERIAL"),
    ],
)
def test_a_serial_column_has_the_drivers_name(op: Op, release: str, name: str) -> None:
    """debezium#source-type."""
    default = Default("nextval('t_id_seq'::regclass)")
    column = Column("id", postgresql.integer("bigint"), False, default=default)
    table = Table("d", "t", (column,), ("id",), (), "public")
    profile = FORMAT.build(release, "postgresql", "source-type")
    (record,) = written(profile, boundaries.change(table, op, (None, {"id": 1})))
    value = json.loads(record.message.value or b"")
    (field,) = value["schema"]["fields"][1]["fields"]
    assert field["parameters"]["__debezium.source.column.type"] == name


@pytest.mark.parametrize(
    ("kind", "default", "name"),
    [
        (postgresql.integer("bigint"), "(nextval('s'::regclass) + 100)", "BIGSERIAL"),
        (postgresql.TYPES["numeric"], "nextval('s'::regclass)", "NUMERIC"),
        (postgresql.TYPES["text"], "nextval('s'::regclass)", "TEXT"),
    ],
)
def test_only_integers_of_sequences_are_serial(kind: SourceType, default: str, name: str) -> None:
    """debezium#source-type."""
    column = Column("c", kind, default=Default(default))
    assert envelope._postgresql_name(column, names_serials=True) == name


def test_no_row_of_mysql_s_connector_of_an_alpha_is_postgresql_s() -> None:
    with pytest.raises(UsageError, match=r"is not known of 3\.7\.0\.Alpha2"):
        FORMAT.build("3.7.0.Alpha2", "postgresql")
