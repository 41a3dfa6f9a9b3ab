"""Faults on literal messages, byte for byte, and what Python's json says about each."""

import json
from dataclasses import replace
from typing import Any

import pytest

from conformance.cases.catalogue import write_named_cases
from generators.errors import Refused
from generators.garbage import cell_faults, faults
from generators.garbage.cell_faults import CELL_FAULTS, SAMPLES, CellFault, Way
from generators.garbage.faults import FAULTS, Fault
from generators.garbage.wellformed import Remains, json_remains
from generators.garbage.wellformed import State as Remaining
from generators.model import Cell, Change, Kind, Logical, Message, Op, RowChange, State, Written
from generators.sources import boundaries, mysql
from generators.wire_format import FORMATS, get

PLAIN = b'{"id":0,"table":"t","data":[{"a":"x"}],"type":"INSERT"}'
BY_NAME = {fault.name: fault for fault in FAULTS}
NO_GRAMMAR = {
    "nan": PLAIN[:-1] + b',"unheard-of":NaN}',
    "infinity": PLAIN[:-1] + b',"unheard-of":Infinity}',
    "minus-infinity": PLAIN[:-1] + b',"unheard-of":-Infinity}',
    "apostrophes-around-name": PLAIN[:-1] + b",'unheard-of':null}",
    "apostrophes-around-text": PLAIN.replace(b'"t"', b"'t'"),
    "escaped-apostrophe-in-name": PLAIN[:-1] + rb""","unheard\'of":null}""",
    "escaped-apostrophe-in-text": PLAIN[:-1] + rb""","unheard-of":"\'"}""",
    "escaped-letter": PLAIN[:-1] + rb',"unheard-of":"\q"}',
    "name-without-quotes": PLAIN[:-1] + b",unheard:null}",
    "leading-zero": PLAIN[:-1] + b',"unheard-of":01}',
    "trailing-comma": PLAIN[:-1] + b",}",
    "comment": PLAIN[:-1] + b"/**/}",
}
CONNECT = b'{"schema":{"type":"struct","optional":false},"payload":{"op":"c"}}'


def written(value: bytes | None) -> Written:
    return Written(
        Message("cdc", 1, b"", value, timestamp_ms=5, event=2), (Change(0, Kind.ROW, Op.INSERT),)
    )


@pytest.mark.parametrize(
    ("name", "tag", "plain", "terminated"),
    [
        ("truncated", "truncated", PLAIN[:27], PLAIN[:28]),
        ("truncated-last", "truncated", PLAIN[:-1], PLAIN[:-1]),
        ("wrong-container", "wrapped", b"[" + PLAIN + b"]", b"[" + PLAIN + b"]\r\n"),
        ("scalar", "wrong-container", b"42", b"42\r\n"),
        ("trailing-content", "trailing-content", PLAIN + b"x", PLAIN + b"x\r\n"),
        ("trailing-brace", "trailing-content", PLAIN + b"}", PLAIN + b"}\r\n"),
        ("closing-tail", "trailing-content", PLAIN + b",{}]}", PLAIN + b",{}]}\r\n"),
        ("trailing-member", "trailing-content", PLAIN + b',"x":1', PLAIN + b',"x":1\r\n'),
        (
            "joined",
            "second-document",
            PLAIN + b'],"m":[' + PLAIN,
            PLAIN + b'\r\n],"m":[' + PLAIN + b"\r\n",
        ),
        ("second-document", "second-document", PLAIN + PLAIN, PLAIN + b"\r\n" + PLAIN + b"\r\n"),
        ("empty", "empty", b"", b""),
        ("null", "null", None, None),
        ("no-message", "no-message", b"{}", b"{}\r\n"),
        ("no-type", "no-such-message", PLAIN[:-17] + b"}", PLAIN[:-17] + b"}\r\n"),
        (
            "unknown-type",
            "no-such-message",
            PLAIN.replace(b"INSERT", b"UNHEARD"),
            PLAIN.replace(b"INSERT", b"UNHEARD") + b"\r\n",
        ),
        (
            *(
                "rows-reshaped",
                "no-such-message",
                b'{"id":0,"table":"t","data":{"a":"x"},"type":"INSERT"}',
            ),
            b'{"id":0,"table":"t","data":{"a":"x"},"type":"INSERT"}\r\n',
        ),
        (
            *("rows-gone", "no-such-message", b'{"id":0,"table":"t","type":"INSERT"}'),
            b'{"id":0,"table":"t","type":"INSERT"}\r\n',
        ),
        (
            "duplicate-key",
            "duplicate-key",
            PLAIN[:-1] + b',"id":null}',
            PLAIN[:-1] + b',"id":null}\r\n',
        ),
        ("bom", "bom", b"\xef\xbb\xbf" + PLAIN, b"\xef\xbb\xbf" + PLAIN + b"\r\n"),
        (
            "invalid-utf-8",
            "invalid-utf-8",
            PLAIN.replace(b'"t"', b'"\xfft"'),
            PLAIN.replace(b'"t"', b'"\xfft"') + b"\r\n",
        ),
        (
            "lone-surrogate",
            "lone-surrogate",
            PLAIN.replace(b'"t"', rb'"\ud800t"'),
            PLAIN.replace(b'"t"', rb'"\ud800t"') + b"\r\n",
        ),
        (
            "raw-control",
            "raw-control",
            PLAIN.replace(b'"t"', b'"\x01t"'),
            PLAIN.replace(b'"t"', b'"\x01t"') + b"\r\n",
        ),
        *((name, "syntax", spoiled, spoiled + b"\r\n") for name, spoiled in NO_GRAMMAR.items()),
    ],
)
def test_bytes(name: str, tag: str, plain: bytes | None, terminated: bytes | None) -> None:
    fault = BY_NAME[name]
    assert fault.tag == tag
    assert faults.apply(written(PLAIN), fault).message.value == plain
    assert faults.apply(written(PLAIN + b"\r\n"), fault).message.value == terminated


def test_every_fault_has_its_bytes_tested() -> None:
    assert len(FAULTS) == len(BY_NAME) == 34


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_expectation(fault: Fault) -> None:
    spoiled = faults.apply(written(PLAIN), fault)
    control = (Kind.CONTROL,) if fault.tag in ("no-message", "no-such-message") else ()
    kinds = {"null": (Kind.TOMBSTONE,), "rows-gone": (Kind.CONTROL, Kind.DDL)}.get(
        fault.name, control
    )
    accept = tuple((kind, None) for kind in kinds)
    assert spoiled.changes == (
        Change(0, Kind.CORRUPT, accept=accept, anything=fault.obligation == faults.UNSPECIFIED),
    )
    message = spoiled.message
    assert (message.topic, message.partition, message.key, message.timestamp_ms, message.event) == (
        "cdc",
        1,
        b"",
        5,
        2,
    )


@pytest.mark.parametrize("name", [*NO_GRAMMAR, faults.SCHEMA_NO_GRAMMAR.name])
def test_what_the_grammar_does_not_have_is_all_that_is_wrong(name: str) -> None:
    fault = {**BY_NAME, faults.SCHEMA_NO_GRAMMAR.name: faults.SCHEMA_NO_GRAMMAR}[name]
    value = faults.apply(written(CONNECT), fault).message.value
    assert value is not None
    assert json_remains(CONNECT) == Remains(Remaining.READABLE)
    assert json_remains(value) == Remains(Remaining.UNREADABLE, "syntax")


def test_a_schema_has_a_number_that_is_none() -> None:
    fault = faults.SCHEMA_NO_GRAMMAR
    assert faults.apply(written(CONNECT), fault).message.value == CONNECT.replace(
        b'"schema":{', b'"schema":{"unheard-of":-Infinity,'
    )
    # PostgreSQL's schema of a table is a text under the same name.
    for value in (PLAIN, b'{"payload":{"source":{"schema":"public"}}}'):
        with pytest.raises(Refused, match="fault minus-infinity-in-schema: no place"):
            faults.apply(written(value), fault)


def test_obligations() -> None:
    lenient = {fault.tag for fault in FAULTS if fault.obligation == faults.UNSPECIFIED}
    assert lenient == {
        "duplicate-key",
        "bom",
        "invalid-utf-8",
        "lone-surrogate",
        "raw-control",
        "wrapped",
    }
    assert {fault.obligation for fault in FAULTS} == {"MUST", "UNSPECIFIED"}


@pytest.mark.parametrize(
    ("name", "value", "spoiled"),
    [
        ("no-type", b'{"payload":{"op":"c","after":{"a":1}}}', b'{"payload":{"after":{"a":1}}}'),
        (
            "unknown-type",
            b'{"type":"t","messageType":"DDL"}',
            b'{"type":"t","messageType":"UNHEARD"}',
        ),
        (
            "rows-reshaped",
            b'{"payload":{"op":"c","after":{"a":1}}}',
            b'{"payload":{"op":"c","after":[{"a":1}]}}',
        ),
        ("rows-reshaped", b'{"newColumns":["1",null]}', b'{"newColumns":{"0":"1","1":null}}'),
    ],
)
def test_the_members_of_each_family_of_formats(name: str, value: bytes, spoiled: bytes) -> None:
    assert faults.apply(written(value), BY_NAME[name]).message.value == spoiled


@pytest.mark.parametrize(
    ("value", "spoiled"),
    [
        (
            b'{"data":[{"b":"x","a":null},{"a":"y"}]}',
            b'{"data":[{"b":"x","a":{"k":"1"}},{"a":"y"}]}',
        ),
        (b'{"newColumns":["1","x"]}', b'{"newColumns":[{"k":"1"},"x"]}'),
    ],
)
def test_a_nested_cell(value: bytes, spoiled: bytes) -> None:
    assert faults.apply(written(value), faults.NESTED_CELL).message.value == spoiled


def test_lone_surrogate_stays_alone() -> None:
    value = faults.apply(written(b'{"a":"\\udc00"}'), BY_NAME["invalid-utf-8"]).message.value
    assert value == b'{"a":"\xff\\udc00"}'
    parsed = json.loads(
        faults.apply(written(b'{"a":"x"}'), BY_NAME["lone-surrogate"]).message.value or b""
    )
    assert parsed == {"a": "\ud800x"}


def test_strings_are_found_past_escapes_and_names() -> None:
    value = faults.apply(
        written(rb'{"a:\"":1,"b" : "q\"","c":"d"}'), BY_NAME["raw-control"]
    ).message.value
    assert value == b'{"a:\\"":1,"b" : "\x01q\\"","c":"d"}'


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("truncated", None),
            ("truncated", b""),
            ("truncated-last", b"{"),
            ("raw-control", b'{"a":1}'),
        ),
        *(("duplicate-key", b"{}"), ("duplicate-key", b"[]")),
        *(("comment", b"{}"), ("apostrophes-around-text", b'{"a":"it\'s"}')),
    ],
)
def test_no_place_for_the_fault(name: str, value: bytes | None) -> None:
    with pytest.raises(Refused, match=f"fault {name}: no place"):
        faults.apply(written(value), BY_NAME[name])


def test_applicable() -> None:
    assert faults.applicable(FAULTS, "none") == FAULTS
    assert [fault.name for fault in faults.applicable(FAULTS, "lz4")] == [
        "truncated",
        "empty",
        "null",
    ]


def test_scenarios_have_a_table_each() -> None:
    pairs = list(faults.fault_scenarios("db"))
    assert len(pairs) == 2 * len(FAULTS)
    fault, scenario = pairs[0]
    assert (fault.name, scenario.name, scenario.level) == ("truncated", "fault/truncated/insert", 1)
    assert scenario.tags == {"boundary", "fault:truncated"}
    assert pairs[3][1].name == "fault/truncated-last/update"
    assert "fault:truncated" in pairs[3][1].tags
    events = [event for _, scenario in pairs for event in scenario.history.events]
    assert {event.table.database for event in events if isinstance(event, RowChange)} == {"db"}
    assert len({event.table.name for event in events if isinstance(event, RowChange)}) == len(pairs)


def test_scenarios_of_postgresql() -> None:
    pairs = list(faults.fault_scenarios("db", "postgresql"))
    assert [scenario.name for _, scenario in pairs] == [
        scenario.name for _, scenario in faults.fault_scenarios("db")
    ]
    tables = [
        event.table
        for _, scenario in pairs
        for event in scenario.history.events
        if isinstance(event, RowChange)
    ]
    assert {(table.schema, column.type.source) for table in tables for column in table.columns} == {
        ("public", "postgresql")
    }
    fault = CellFault("cell-integer", "c_integer", 1234567891, "1234567891", '"12x4"')
    ((_, scenario),) = cell_faults.cell_fault_scenarios(
        _every, (fault, CELL_FAULTS[0]), "postgresql"
    )
    (event,) = scenario.history.events
    assert isinstance(event, RowChange)
    assert event.table == boundaries.every_type(_every, "postgresql")
    assert event.rows[0].after == dict.fromkeys(c.name for c in event.table.columns) | {
        "id": 1,
        "c_integer": 1234567891,
    }


def test_cell_fault_replaces_the_one_string() -> None:
    fault = CellFault("cell-int", "c_int", 1234567891, '"1234567891"', '"12x4"')
    spoiled = cell_faults.cell_fault(
        written(b'{"es":1234567891,"data":[{"c":"1234567891"}]}\r\n'), fault
    )
    assert spoiled.message.value == b'{"es":1234567891,"data":[{"c":"12x4"}]}\r\n'
    assert spoiled.changes == (Change(0, Kind.CORRUPT),)


@pytest.mark.parametrize(
    ("name", "cell", "value", "spoiled"),
    [
        (
            "cell-int",
            Cell(State.VALUE, mysql.integer("int"), 1234567891, "1234567891", json=True),
            b"1234567891",
            b'"12x4"',
        ),
        (
            "cell-bigint-over",
            Cell(
                State.VALUE,
                mysql.integer("bigint"),
                1234567890123456789,
                "1234567890123456789",
                json=True,
            ),
            b"1234567890123456789",
            b"9223372036854775808",
        ),
        (
            "cell-time",
            Cell(State.VALUE, mysql.temporal("time"), 40_333_000_000, "11:12:13.000000"),
            b'"11:12:13.000000"',
            b'"99:99:99"',
        ),
    ],
)
def test_cell_fault_replaces_the_cell_s_own_json(
    name: str, cell: Cell, value: bytes, spoiled: bytes
) -> None:
    fault = next(fault for fault in CELL_FAULTS if fault.name == name)
    other = Change(0, Kind.ROW, Op.INSERT, after={fault.column: Cell(State.NULL, cell.type)})
    sent = Written(
        Message("cdc", 0, None, b'{"c":' + value + b"}"),
        (other, replace(other, after={fault.column: cell})),
    )
    assert cell_faults.cell_fault(sent, fault).message.value == b'{"c":' + spoiled + b"}"


@pytest.mark.parametrize("value", [b"{}", b'{"a":"1234567891","b":"1234567891"}', None])
def test_cell_fault_needs_exactly_one_place(value: bytes | None) -> None:
    with pytest.raises(Refused, match=r"fault cell-int: .* times"):
        cell_faults.cell_fault(written(value), CELL_FAULTS[0])


def _every(_kind: object) -> bool:
    return True


def _no_floats(kind: Any) -> bool:
    return kind.name != "float"


def test_cell_scenarios() -> None:
    scenarios = {
        fault.name: scenario for fault, scenario in cell_faults.cell_fault_scenarios(_every)
    }
    assert list(scenarios) == [fault.name for fault in CELL_FAULTS]
    scenario = scenarios["cell-int"]
    assert (scenario.name, scenario.level, scenario.tags) == (
        "fault/cell-int",
        2,
        {"boundary", "fault:cell-int"},
    )
    (event,) = scenario.history.events
    assert isinstance(event, RowChange)
    row = event.rows[0].after
    assert row is not None
    assert {name: value for name, value in row.items() if value is not None} == {
        "id": 1,
        "c_int": 1234567891,
    }
    assert "cell-float" not in {
        fault.name for fault, _ in cell_faults.cell_fault_scenarios(_no_floats)
    }


def _columns(fmt: Any, profile: Any) -> dict[str, Logical]:
    table = boundaries.every_type(fmt.supports, profile.source)
    return {column.name: column.type.logical for column in table.columns}


BOOLEANS_OF_AVRO = {("debezium-avro", "sqlserver", Logical.BIT)}
"""Kinds of a source that Avro writes as a boolean, which holds the two values of the type alone."""


@pytest.mark.parametrize("name", FORMATS)
def test_every_kind_of_types_is_unfit_in_every_way_that_the_format_does_not_excuse(
    name: str,
) -> None:
    """Complete by construction: a kind of types, or a format, that leaves a way out must say why,
    or which own fault has it.
    """
    fmt = get(name)
    by_profile = {
        profile.name: {fault.name: fault for fault in fmt.unfit_cells(profile)}
        for profile in fmt.profiles
    }
    excused = {**cell_faults.FITS, **fmt.fits}
    for source in {profile.source for profile in fmt.profiles}:
        mine = {
            n: f for p in fmt.profiles if p.source == source for n, f in by_profile[p.name].items()
        }
        columns = next(_columns(fmt, p) for p in fmt.profiles if p.source == source)
        for logical in {*columns.values()} - {Logical.TEXT}:
            for way in Way:
                fault, why = mine.get(f"cell-{logical}-{way}"), excused.get(f"{logical}/{way}", "")
                assert (fault is None) != (not why), (logical, way)
                assert fault is None or columns[fault.column] is logical
                if (name, source, logical) not in BOOLEANS_OF_AVRO:
                    assert not why.startswith("cell-") or why in mine


@pytest.mark.parametrize(
    ("way", "json_", "text", "bad", "state"),
    [
        (Way.LETTERS, False, "?€", '"?€"', State.VALUE),
        (Way.EMPTY, False, "", '""', State.VALUE),
        (Way.OUTSIDE, False, "2147483648", '"2147483648"', State.VALUE),
        (Way.OUTSIDE, True, "2147483648", "2147483648", State.VALUE),
        (Way.SHAPE, False, None, '{"x":"y"}', State.ANY),
    ],
)
def test_level_one_owes_an_unfit_cell_as_it_stands(
    way: Way, json_: bool, text: str, bad: str, state: State
) -> None:
    fault = next(
        fault for fault in cell_faults.unfit_cells("mysql", {}) if fault.name == f"cell-int-{way}"
    )
    cell = Cell(State.VALUE, mysql.TYPES["int"], fault.value, str(fault.value), json=json_)
    good = str(fault.value) if json_ else json.dumps(str(fault.value))
    value = f'{{"data":{{"id":"1","c_int":{good}}}}}'.encode()
    record = replace(
        written(value), changes=(Change(0, Kind.ROW, Op.INSERT, after={"c_int": cell}),)
    )
    spoiled = cell_faults.cell_text(record, fault)
    (change,) = spoiled.changes
    assert spoiled.message.value == value.replace(good.encode(), bad.encode())
    assert (change.kind, change.accept) == (Kind.ROW, ((Kind.CORRUPT, None),))
    assert change.after is not None
    assert (change.after["c_int"].state, change.after["c_int"].text) == (state, text)
    other = replace(
        record,
        changes=(replace(record.changes[0], after={"c_int": replace(cell, text="7", json=False)}),),
    )
    with pytest.raises(Refused, match="occurs 0 times"):
        cell_faults.cell_text(other, fault)


@pytest.mark.parametrize(
    "name", [name for name in FORMATS if get(name).container in ("json", "frames")]
)
def test_level_one_has_every_kind_of_types_in_every_way(name: str) -> None:
    fmt = get(name)
    for source in {profile.source for profile in fmt.profiles}:
        profile = next(profile for profile in fmt.profiles if profile.source == source)
        columns = _columns(fmt, profile)
        without_sample = {
            kind
            for kind, (mysql_column, *_) in SAMPLES.items()
            if source == "mysql" and mysql_column not in columns
        }
        kinds = {*columns.values()} - {Logical.TEXT} - without_sample
        wanted = {
            f"cell-{kind}-{way}"
            for kind in kinds
            for way in Way
            if f"{kind}/{way}" not in cell_faults.FITS
        }
        cases = write_named_cases(fmt, profile, ("*/fault/text/*",))
        assert {case.fault for case in cases} == wanted
        assert {case.level for case in cases} == {1}
