"""Dates, times and intervals as structs (time.precision.mode=structured): the values and schemas are
those that PostgreSQL's connector of Debezium 3.7.0.Final wrote for the same statements on PostgreSQL
15 (debezium#structured-times).
"""

from __future__ import annotations

import json
from datetime import date

import pytest
from debezium_rows import written

from generators.errors import UsageError
from generators.families.debezium import postgresql as debezium_postgresql
from generators.formats.debezium_json.rows import defaults_of, stand_in
from generators.model import Column, Default, Json, Op, SourceType, State, Table, Value
from generators.sources import boundaries, mysql, postgresql
from generators.wire_format import get

FORMAT = get("debezium-json")
PROFILE = FORMAT.build("3.7.0.Final", "postgresql", "structured")
MODES = PROFILE.modes
DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ, INTERVAL = (
    postgresql.temporal(name)
    for name in ("date", "time", "timetz", "timestamp", "timestamptz", "interval")
)
MOMENT = mysql.wall("2023-11-14 22:13:20.123456")
EVENING = '"hour":22,"minute":13,"second":20,"nanos":123456000'
INFINITE = (
    '{"year":null,"month":null,"day":null,"hour":null,"minute":null,"second":null,"nanos":null,'
)


def wire_text(type: SourceType, value: Value) -> str:
    """The JSON of a cell as the connector writes it."""
    return debezium_postgresql.wire(type, value, MODES).json


@pytest.mark.parametrize(
    ("type", "value", "shown"),
    [
        (DATE, date(1500, 3, 1), '{"year":1500,"month":3,"day":1,"specialValue":null}'),
        (DATE, 3_000_000, '{"year":10183,"month":9,"day":21,"specialValue":null}'),
        (
            DATE,
            "-infinity",
            '{"year":null,"month":null,"day":null,"specialValue":"NEGATIVE_INFINITY"}',
        ),
        (TIME, MOMENT % mysql.DAY, f'{{{EVENING},"precision":6}}'),
        (TIME, mysql.DAY, "null"),
        (
            postgresql.temporal("time", 0),
            80_000 * mysql.MICROS,
            '{"hour":22,"minute":13,"second":20,"nanos":0,"precision":0}',
        ),
        (
            TIMESTAMP,
            MOMENT,
            f'{{"year":2023,"month":11,"day":14,{EVENING},"specialValue":null,"precision":6}}',
        ),
        (TIMESTAMP, "infinity", f'{INFINITE}"specialValue":"POSITIVE_INFINITY","precision":6}}'),
        (
            TIMESTAMPTZ,
            MOMENT,
            (
                f'{{"year":2023,"month":11,"day":14,{EVENING},"offsetSeconds":0,"zoneId":"Z",'
                '"specialValue":null,"precision":6}'
            ),
        ),
        (
            TIMESTAMPTZ,
            "infinity",
            (
                f'{INFINITE}"offsetSeconds":null,"zoneId":null,"specialValue":"POSITIVE_INFINITY",'
                '"precision":6}'
            ),
        ),
        (
            TIMETZ,
            "24:00:00+00",
            '{"hour":24,"minute":0,"second":0,"nanos":0,"offsetSeconds":0,"precision":6}',
        ),
        (
            TIMETZ,
            "22:13:20.123456-03:30",
            f'{{{EVENING},"offsetSeconds":-12600,"precision":6}}',
        ),
        (
            INTERVAL,
            "1 year 2 mons -3 days +04:05:06.789",
            (
                '{"years":1,"months":2,"days":-3,"hours":4,"minutes":5,"seconds":6,"nanos":789000000,'
                '"precision":6}'
            ),
        ),
        (
            INTERVAL,
            "-00:00:00.000001",
            (
                '{"years":0,"months":0,"days":0,"hours":0,"minutes":0,"seconds":0,"nanos":-1000,'
                '"precision":6}'
            ),
        ),
        (
            postgresql.array_of(TIMETZ),
            Json(["22:13:20.123456+02", None]),
            f'[{{{EVENING},"offsetSeconds":7200,"precision":6}},null]',
        ),
    ],
)
def test_a_value_is_a_struct_of_its_parts(type: SourceType, value: Value, shown: str) -> None:
    assert wire_text(type, value) == shown


@pytest.mark.parametrize(
    ("type", "value", "returned"),
    [
        (DATE, date(1500, 3, 1), date(1500, 3, 1)),
        (TIMESTAMPTZ, MOMENT, MOMENT),
        (
            TIMETZ,
            "24:00:00+00",
            Json(
                {
                    "hour": 24,
                    "minute": 0,
                    "second": 0,
                    "nanos": 0,
                    "offsetSeconds": 0,
                    "precision": 6,
                }
            ),
        ),
    ],
)
def test_a_decoder_returns_the_value_or_of_a_text_the_struct(
    type: SourceType, value: Value, returned: Value
) -> None:
    cell = debezium_postgresql.wire(type, value, MODES).cell
    assert (cell.state, cell.value) == (State.VALUE, returned)


def test_an_infinite_moment_leaves_any_value() -> None:
    wire = debezium_postgresql.wire(TIMESTAMP, "infinity", MODES)
    assert (wire.cell.state, wire.cell.cls, wire.corrupt) == (State.ANY, "beyond", True)


def test_the_connector_stops_at_the_end_of_a_day_in_a_not_null_column() -> None:
    for nullable, count in ((True, 2), (False, 1)):
        table = Table("d", "t", (Column("c", TIME, nullable),), (), (), "public")
        rows = ({"c": 0}, {"c": mysql.DAY}, {"c": 1})
        events = [boundaries.insert(table, row) for row in rows]
        assert len(written(PROFILE, *events[:2])) == count
        assert len(written(PROFILE, *events)) == (3 if nullable else 1)


@pytest.mark.parametrize(
    ("array", "shown"),
    [
        (["1500-03-01", "1582-10-10", None], "1500-3-1 1582-10-20 -"),
        (["infinity", "-infinity"], "POSITIVE_INFINITY NEGATIVE_INFINITY"),
    ],
)
def test_a_date_in_an_array_is_a_struct_of_the_day_that_java_sql_shows(
    array: list[str | None], shown: str
) -> None:
    items = json.loads(wire_text(postgresql.array_of(DATE), Json(array)))
    texts = [
        "-" if item is None else item["specialValue"] or "{year}-{month}-{day}".format(**item)
        for item in items
    ]
    assert " ".join(texts) == shown


@pytest.mark.parametrize("release", ["2.5.4.Final", "3.5.0.Final", "3.7.0.Final"])
def test_times_in_an_array_have_six_digits_whatever_the_column_declares(release: str) -> None:
    """debezium#arrays: timestamp(3)[]."""
    array = postgresql.array_of(postgresql.temporal("timestamp", 3))
    modes = FORMAT.build(release, "postgresql").modes
    cell = debezium_postgresql.wire(array, Json(["2024-02-29 00:00:00.123"]), modes)
    assert cell.schema.items is not None
    assert (cell.schema.items.name, cell.json) == (
        "io.debezium.time.MicroTimestamp",
        "[1709164800123000]",
    )


@pytest.mark.parametrize(
    ("type", "shown"),
    [
        (DATE, '{"year":1970,"month":1,"day":1,"specialValue":null}'),
        (TIME, '{"hour":0,"minute":0,"second":0,"nanos":0,"precision":6}'),
        (
            TIMESTAMPTZ,
            (
                '{"year":1970,"month":1,"day":1,"hour":0,"minute":0,"second":0,"nanos":0,'
                '"offsetSeconds":0,"zoneId":null,"specialValue":null,"precision":6}'
            ),
        ),
        (
            TIMETZ,
            '{"hour":0,"minute":0,"second":0,"nanos":0,"offsetSeconds":0,"precision":6}',
        ),
        (
            INTERVAL,
            (
                '{"years":0,"months":0,"days":0,"hours":0,"minutes":0,"seconds":0,"nanos":0,'
                '"precision":6}'
            ),
        ),
    ],
)
def test_a_value_that_was_not_sent_has_a_fallback(type: SourceType, shown: str) -> None:
    cell = debezium_postgresql.not_sent(type, MODES, nullable=False)
    assert (cell.json, cell.cell.state) == (shown, State.ANY)


@pytest.mark.parametrize(
    ("type", "default"),
    [
        (DATE, Default("'2020-01-02'::date", date(2020, 1, 2))),
        (TIMESTAMPTZ, Default("now()")),
        (INTERVAL, Default("'1 day'::interval", "1 day")),
    ],
)
def test_a_struct_is_no_default(type: SourceType, default: Default) -> None:
    table = Table("d", "t", (Column("c", type, default=default),), (), (), "public")
    assert defaults_of(table, PROFILE, {}, False) == {}
    adaptive = FORMAT.build("3.7.0.Final", "postgresql")
    assert list(defaults_of(table, adaptive, {}, False)) == ["c"]


def test_the_schema_of_a_date() -> None:
    table = Table("d", "t", (Column("c", DATE),), (), (), "public")
    (record,) = written(PROFILE, boundaries.change(table, Op.INSERT, (None, {"c": None})))
    value = json.loads(record.message.value or b"")
    (field,) = value["schema"]["fields"][1]["fields"]
    assert field == {
        "type": "struct",
        "fields": [
            {"type": "int32", "optional": True, "field": "year"},
            {"type": "int8", "optional": True, "field": "month"},
            {"type": "int8", "optional": True, "field": "day"},
            {"type": "string", "optional": True, "field": "specialValue"},
        ],
        "optional": True,
        "name": "io.debezium.time.StructuredDate",
        "version": 1,
        "field": "c",
    }


@pytest.mark.parametrize("options", [(), ("mariadb",)])
def test_other_connectors_have_none(options: tuple[str, ...]) -> None:
    release = "3.5.0.Final" if options else "3.7.0.Final"
    with pytest.raises(UsageError, match=r"came with 3\.7"):
        FORMAT.build(release, "structured", *options)


@pytest.mark.parametrize(
    ("type", "text", "value", "options", "shown"),
    [
        (DATE, "'infinity'::date", "infinity", ("isostring",), '"+999999999-12-31Z"'),
        (
            TIMESTAMP,
            "'infinity'::timestamp without time zone",
            "infinity",
            ("isostring",),
            '"+999999999-12-31T23:59:59.999999999Z"',
        ),
        (
            TIME,
            "'24:00:00'::time without time zone",
            mysql.DAY,
            ("isostring",),
            '"23:59:59.999999999Z"',
        ),
        (
            postgresql.temporal("timestamp", 3),
            "'infinity'::timestamp without time zone",
            "infinity",
            ("microseconds",),
            "-9223372036853775810",
        ),
        (
            postgresql.temporal("timestamp", 3),
            "'infinity'::timestamp without time zone",
            "infinity",
            (),
            "",
        ),
        (TIMESTAMP, "'-infinity'::timestamp without time zone", "-infinity", ("connect",), ""),
    ],
)
@pytest.mark.parametrize("release", ["3.5.0.Final", "3.7.0.Final"])
def test_an_infinite_default_is_the_last_value_of_java_time(
    type: SourceType,
    text: str,
    value: Value,
    options: tuple[str, ...],
    shown: str,
    release: str,
) -> None:
    """debezium#defaults: none where it is milliseconds, which are beyond 64 bits."""
    table = Table("d", "t", (Column("c", type, default=Default(text, value)),), (), (), "public")
    profile = FORMAT.build(release, "postgresql", *options)
    known = defaults_of(table, profile, {}, False)
    column = table.columns[0]
    assert (stand_in(column, known["c"], profile, False).json if known else "") == shown
